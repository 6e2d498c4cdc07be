#include "core/runtime/report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/model/gpus/gpu_spec.h"

namespace lockstep::runtime {
namespace {

constexpr double least_gain = 0.03;

struct Span {
    double begin = 0, end = 0;
};

double length_of(const std::vector<Span>& spans) {
    double sum = 0;
    for (const Span& span : spans) sum += span.end - span.begin;
    return sum;
}

// Without overlaps, ascending.
std::vector<Span> merged(std::vector<Span> spans) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    std::vector<Span> out;
    for (const Span& span : spans) {
        if (span.end <= span.begin) continue;
        if (!out.empty() && span.begin <= out.back().end)
            out.back().end = std::max(out.back().end, span.end);
        else
            out.push_back(span);
    }
    return out;
}

double overlap_of(const std::vector<Span>& a, const std::vector<Span>& b) {
    double sum = 0;
    for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
        sum += std::max(0.0, std::min(a[i].end, b[k].end) - std::max(a[i].begin, b[k].begin));
        (a[i].end < b[k].end ? i : k)++;
    }
    return sum;
}

struct Timeline {
    explicit Timeline(const Report& of) : report(of), total(of.total_us) {
        std::vector<Span> copying, running;
        for (const CopyRecord& copy : report.copies) {
            copying.push_back({copy.begin_us, copy.end_us});
            if (copy.direction != "device to device") bytes += copy.bytes;
        }
        for (const LaunchRecord& launch : report.launches) {
            running.push_back({launch.begin_us, launch.end_us});
            kernel_sum += launch.end_us - launch.begin_us;
        }
        copies = merged(std::move(copying));
        kernels = merged(std::move(running));
        both = overlap_of(copies, kernels);
    }
    const Report& report;
    double total, kernel_sum = 0, both = 0;
    uint64_t bytes = 0;  // between host and device
    std::vector<Span> copies, kernels;
    double share(double us) const { return total > 0 ? us / total : 0; }
};

std::string us(double time) {
    return time >= 1e6   ? fmt::format("{:.3g} s", 1e-6 * time)
           : time >= 1e3 ? fmt::format("{:.3g} ms", 1e-3 * time)
                         : fmt::format("{:.3g} µs", time);
}

const CopyRecord* longest_copy(const Report& report) {
    const auto longest = std::max_element(report.copies.begin(), report.copies.end(), [](const auto& a, const auto& b) {
        return a.end_us - a.begin_us < b.end_us - b.begin_us;
    });
    return longest == report.copies.end() ? nullptr : &*longest;
}

void find_copy_bound(const Timeline& time, std::vector<Advice>& found) {
    const double alone = length_of(time.copies) - time.both, kernels = length_of(time.kernels);
    if (time.share(alone) < 0.3 || alone < kernels) return;
    const CopyRecord* const copy = longest_copy(time.report);
    Advice advice{.rule = "copy-bound"};
    advice.sentence =
        fmt::format("Copies between host and device take {} of {} while no kernel runs; all kernels together take {}.",
                    us(alone), us(time.total), us(kernels));
    advice.evidence = fmt::format("{:.0f} % of the time in copies, {:.0f} % in kernels", 100 * time.share(alone),
                                  100 * time.share(kernels));
    advice.change =
        "Leave data on the device between kernels, copy only what changes, from pinned memory (cudaMallocHost), and "
        "give the device more to do for each byte that it gets.";
    if (copy != nullptr) advice.site = copy->site;
    advice.gain = time.share(alone);
    found.push_back(advice);
}

void find_no_overlap(const Timeline& time, std::vector<Advice>& found) {
    const double copies = length_of(time.copies), kernels = length_of(time.kernels), could = std::min(copies, kernels);
    if (time.share(copies) < 0.15 || time.share(kernels) < 0.15 || time.both > 0.2 * could || time.report.copies.size() < 2)
        return;
    std::set<uint32_t> streams;
    for (const LaunchRecord& launch : time.report.launches) streams.insert(launch.stream);
    Advice advice{.rule = "no-overlap"};
    advice.sentence = fmt::format(
        "Copies ({}) and kernels ({}) never run at the same time{}.", us(copies), us(kernels),
        streams.size() > 1 ? ", though there are several streams" : ": all are in one stream, one behind the other");
    advice.evidence = fmt::format("{} of overlap; up to {} could be", us(time.both), us(could));
    advice.change =
        "Cut the data in pieces, each with its copies and kernels in a stream of its own (cudaMemcpyAsync on pinned "
        "memory): one piece is copied while another is computed.";
    advice.gain = time.share(0.8 * (could - time.both));  // the first and the last piece have nothing beside them
    if (const CopyRecord* const copy = longest_copy(time.report); copy != nullptr) advice.site = copy->site;
    found.push_back(advice);
}

void find_launch_bound(const Timeline& time, std::vector<Advice>& found) {
    const std::vector<LaunchRecord>& launches = time.report.launches;
    if (launches.size() < 20 || time.kernels.empty()) return;
    const double mean = time.kernel_sum / static_cast<double>(launches.size());
    const double span = time.kernels.back().end - time.kernels.front().begin,
                 copying = overlap_of(time.copies, {{time.kernels.front().begin, time.kernels.back().end}}),
                 idle = span - length_of(time.kernels) - (copying - time.both);
    if (mean > 20 || idle < 0.3 * (span - copying)) return;
    uint64_t waits = 0;
    for (const CallRecord& call : time.report.calls)
        waits += call.call == "cudaDeviceSynchronize" || call.call == "cudaStreamSynchronize";
    std::map<std::string, uint64_t> kernels;
    for (const LaunchRecord& launch : launches) ++kernels[launch.kernel];
    const auto most = std::max_element(kernels.begin(), kernels.end(), [](auto& a, auto& b) { return a.second < b.second; });
    Advice advice{.rule = "launch-bound"};
    advice.sentence = fmt::format("{} launches of {} each on average: between them the GPU stands idle for {} of {}.",
                                  launches.size(), us(mean), us(idle), us(span - copying));
    advice.evidence = fmt::format(
        "{:.0f} % idle between the first launch and the last, without copies; {} is launched {} times; the host waits {} "
        "times",
        100 * idle / (span - copying), most->first, most->second, waits);
    advice.change =
        waits * 2 > launches.size()
            ? "Leave out the waits between launches (a stream keeps their order), and do more in each kernel or put "
              "the launches into a graph (cudaGraphLaunch)."
            : "Do more in each kernel: fuse kernels that follow one another, loop inside, or put the launches into a "
              "graph (cudaGraphLaunch).";
    for (const LaunchRecord& launch : launches)
        if (launch.kernel == most->first) {
            advice.site = launch.site;
            break;
        }
    advice.gain = time.share(idle);
    found.push_back(advice);
}

void find_small_copies(const Timeline& time, std::vector<Advice>& found) {
    const auto gpu = model::gpu_named(time.report.gpu);
    if (!gpu || time.report.copies.size() < 20) return;
    double taken = 0, needed = 0;
    uint64_t bytes = 0, count = 0;
    std::map<std::pair<std::string, int>, uint64_t> sites;
    for (const CopyRecord& copy : time.report.copies) {
        if (copy.direction == "device to device" || copy.bytes > 64 << 10) continue;
        taken += copy.end_us - copy.begin_us;
        needed += 1e-3 * static_cast<double>(copy.bytes) / std::max(1.0, double(gpu.value().pinned_gb_per_second));
        bytes += copy.bytes;
        ++count;
        ++sites[{copy.site.file, copy.site.line}];
    }
    if (count < 20 || time.share(taken - needed) < 0.1) return;
    Advice advice{.rule = "small-copies"};
    advice.sentence =
        fmt::format("{} copies of {:.0f} bytes on average take {}: nearly all of it is what each costs to begin.", count,
                    static_cast<double>(bytes) / static_cast<double>(count), us(taken));
    advice.evidence = fmt::format("{} at the link's bandwidth", us(needed));
    advice.change =
        "Put the pieces side by side in one buffer and copy that, or let a kernel write what the next one reads.";
    const auto most = std::max_element(sites.begin(), sites.end(), [](auto& a, auto& b) { return a.second < b.second; });
    for (const CopyRecord& copy : time.report.copies)
        if (copy.site.file == most->first.first && copy.site.line == most->first.second) {
            advice.site = copy.site;
            break;
        }
    advice.gain = time.share(taken - needed);
    found.push_back(advice);
}

void find_allocations(const Timeline& time, std::vector<Advice>& found) {
    double taken = 0;
    uint64_t count = 0;
    std::map<std::pair<std::string, int>, std::pair<uint64_t, CallSite>> sites;
    for (const CallRecord& call : time.report.calls) {
        if (!call.call.starts_with("cudaMalloc") && !call.call.starts_with("cudaFree")) continue;
        taken += call.end_us - call.begin_us;
        ++count;
        auto& [times, site] = sites[{call.site.file, call.site.line}];
        ++times;
        site = call.site;
    }
    if (count < 20 || time.share(taken) < 0.1) return;
    const auto most =
        std::max_element(sites.begin(), sites.end(), [](auto& a, auto& b) { return a.second.first < b.second.first; });
    Advice advice{.rule = "allocations"};
    advice.sentence = fmt::format("{} calls allocate and free device memory and take {}.", count, us(taken));
    advice.evidence =
        fmt::format("{:.0f} % of the time; the busiest line calls {} times", 100 * time.share(taken), most->second.first);
    advice.change = "Allocate before the loop and use the memory again, or take it from a pool (cudaMallocAsync).";
    advice.site = most->second.second;
    advice.gain = time.share(taken);
    found.push_back(advice);
}

void find_host_bound(const Timeline& time, std::vector<Advice>& found) {
    std::vector<Span> device = time.copies;
    device.insert(device.end(), time.kernels.begin(), time.kernels.end());
    const double idle = time.total - length_of(merged(std::move(device)));
    if (time.share(time.report.host_us) < 0.5 || time.share(idle) < 0.5) return;
    Advice advice{.rule = "host-bound"};
    advice.sentence =
        fmt::format("The host works for {} of {} (measured on this machine), and the GPU has nothing to do in {} of them.",
                    us(time.report.host_us), us(time.total), us(idle));
    advice.evidence = fmt::format("GPU idle {:.0f} %", 100 * time.share(idle));
    advice.change =
        "Move that work onto the device, do it while a kernel runs (before the wait, not behind it), or make it shorter.";
    advice.gain = time.share(std::min(idle, time.report.host_us));
    found.push_back(advice);
}

struct Row {
    ProgramRule rule;
    void (*find)(const Timeline&, std::vector<Advice>&);
};
constexpr Row rows[] = {
    {{"copy-bound", "Copies take most of the time", "30 % of the time in copies beside no kernel, and more than in kernels"},
     find_copy_bound},
    {{"no-overlap", "Copies and kernels take turns", "15 % of the time each, a fifth of what could overlap does"},
     find_no_overlap},
    {{"launch-bound", "Launches of tiny kernels", "20 launches of at most 20 µs on average, the GPU idle in 30 % between"},
     find_launch_bound},
    {{"small-copies", "Many small copies", "20 copies of at most 64 KiB, 10 % of the time beyond the link's"},
     find_small_copies},
    {{"allocations", "Allocations in a loop", "20 calls, 10 % of the time"}, find_allocations},
    {{"host-bound", "The host's own work", "half of the time, the GPU idle in half of it"}, find_host_bound},
};

}  // namespace

std::vector<ProgramRule> program_rules() {
    std::vector<ProgramRule> rules;
    for (const Row& row : rows) rules.push_back(row.rule);
    return rules;
}

std::string_view title_of_program_rule(std::string_view name) {
    for (const Row& row : rows)
        if (row.rule.name == name) return row.rule.title;
    return {};
}

std::vector<Advice> advice_on(const Report& report) {
    std::vector<Advice> found;
    const bool timed = std::any_of(report.launches.begin(), report.launches.end(),
                                   [](const LaunchRecord& launch) { return launch.timed_by != TimedBy::nothing; });
    if (report.total_us <= 0 || !timed) return found;  // no kernel ran, or they took no time on the clock
    const Timeline time(report);
    for (const Row& row : rows) row.find(time, found);
    std::erase_if(found, [](const Advice& advice) { return !(advice.gain >= least_gain); });
    std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
    return found;
}

std::vector<LimitedKernel> limited_kernels(const Report& report) {
    std::map<std::string, double> kernels;  // by time
    double all = 0;
    for (const LaunchRecord& launch : report.launches) {
        kernels[launch.kernel] += launch.end_us - launch.begin_us;
        all += launch.end_us - launch.begin_us;
    }
    std::vector<LimitedKernel> limited;
    for (const auto& [kernel, time] : kernels) {
        const auto launch = std::find_if(
            report.launches.begin(), report.launches.end(),
            [&, name = kernel](const LaunchRecord& each) { return each.kernel == name && !each.findings.empty(); });
        if (time >= 0.1 * all && launch != report.launches.end()) limited.push_back({kernel, time / all, &*launch});
    }
    std::stable_sort(limited.begin(), limited.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
    return limited;
}

std::string advice_words(const Report& report) {
    std::string text;
    size_t number = 0;
    for (const Advice& advice : advice_on(report)) {
        const std::string site = text_of(advice.site).empty() ? "" : text_of(advice.site) + ": ";
        text += fmt::format("  {}. {}{}\n     saves about {:.0f} % of the time (derived from the timeline); {}\n     {}\n",
                            ++number, site, advice.sentence, 100 * advice.gain, advice.evidence, advice.change);
    }
    for (const auto& [kernel, share, launch] : limited_kernels(report)) {
        text += fmt::format("  {} ({:.0f} % of the kernels' time)\n", kernel, 100 * share);
        for (const LaunchFinding& finding : launch->findings) {
            const std::string place = finding.line > 0 ? fmt::format("{}:{}: ", finding.file, finding.line) : "";
            text += fmt::format("  {}. {}{}\n     saves about {:.0f} % of the launch (derived from counters); {}\n     {}\n",
                                ++number, place, finding.sentence, 100 * finding.gain, finding.evidence, finding.change);
        }
    }
    return text.empty() ? text : "what limits it\n" + text;
}

}  // namespace lockstep::runtime
