// The report as JSON and as words. JSON is the contract between the two processes and for `--json`; one function each way.
#include "core/runtime/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/base/files.h"
#include "core/base/sizes.h"
#include "core/base/units.h"
#include "core/model/gpus/gpu_file.h"
#include "core/model/metrics/bound.h"
#include "core/runtime/report/advice.h"

namespace lockstep::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view timed_by_names[] = {"simulation", "same counts", "ratio", "functional"};

Json extent_json(const simt::Dim3& d) {
    return {d.x, d.y, d.z};
}
simt::Dim3 extent_of(const Json& json) {
    return {json.at(0).get<uint32_t>(), json.at(1).get<uint32_t>(), json.at(2).get<uint32_t>()};
}
CallSite site_of(const Json& json) {
    return {json.at("file").get<std::string>(), json.at("line").get<int>(), json.value("place", -1)};
}
void put_site(Json& json, const CallSite& site) {
    json["file"] = site.file;
    json["line"] = site.line;
    if (site.place >= 0) json["place"] = site.place;
}
Json with_site(Json json, const CallSite& site) {
    put_site(json, site);
    return json;
}

Json allocation_json(const AllocationRecord& allocation) {
    Json json = with_site(
        {{"name", allocation.name}, {"kind", allocation.kind}, {"address", allocation.address}, {"bytes", allocation.bytes}},
        allocation.site);
    json["freed"] = allocation.freed;
    json["freed_at"] = with_site(Json::object(), allocation.freed_at);
    json["call"] = allocation.call;
    json["freed_call"] = allocation.freed_call;
    json["begin_us"] = allocation.begin_us;
    json["end_us"] = allocation.end_us;
    return json;
}
AllocationRecord allocation_of(const Json& json) {
    return {.name = json.at("name"),
            .kind = json.at("kind"),
            .address = json.at("address"),
            .bytes = json.at("bytes"),
            .site = site_of(json),
            .freed = json.at("freed"),
            .freed_at = site_of(json.at("freed_at")),
            .call = json.at("call"),
            .freed_call = json.at("freed_call"),
            .begin_us = json.at("begin_us"),
            .end_us = json.at("end_us")};
}

Json frame_json(const CodePlace::Frame& frame) {
    return {{"module", frame.module}, {"address", frame.address}};
}
CodePlace::Frame frame_of(const Json& json) {
    return {json.at("module"), json.at("address")};
}
Json place_json(const CodePlace& place) {
    Json json = {{"frames", Json::array()}};
    if (place.has_stand_in) json["stand_in"] = frame_json(place.stand_in);
    for (const CodePlace::Frame& frame : place.frames) json["frames"].push_back(frame_json(frame));
    return json;
}
CodePlace place_of(const Json& json) {
    CodePlace place;
    place.has_stand_in = json.contains("stand_in");
    if (place.has_stand_in) place.stand_in = frame_of(json.at("stand_in"));
    for (const Json& frame : json.at("frames")) place.frames.push_back(frame_of(frame));
    return place;
}

Json fault_json(const simt::Fault& fault) {
    return {{"kind", fault.kind},
            {"message", fault.message},
            {"advice", fault.advice},
            {"kernel", fault.kernel},
            {"file", fault.file},
            {"line", fault.line},
            {"ptx_line", fault.ptx_line},
            {"block", extent_json(fault.block)},
            {"thread", extent_json(fault.thread)},
            {"address", fault.address},
            {"allocation", fault.allocation},
            {"offset", fault.offset},
            {"other_file", fault.other_file},
            {"other_line", fault.other_line},
            {"other_block", extent_json(fault.other_block)},
            {"other_thread", extent_json(fault.other_thread)}};
}
simt::Fault fault_of(const Json& json) {
    simt::Fault fault;
    fault.kind = json.at("kind");
    fault.message = json.at("message");
    fault.advice = json.value("advice", "");
    fault.kernel = json.at("kernel");
    fault.file = json.at("file");
    fault.line = json.at("line");
    fault.ptx_line = json.at("ptx_line");
    fault.block = extent_of(json.at("block"));
    fault.thread = extent_of(json.at("thread"));
    fault.address = json.at("address");
    fault.allocation = json.at("allocation");
    fault.offset = json.at("offset");
    fault.other_file = json.at("other_file");
    fault.other_line = json.at("other_line");
    fault.other_block = extent_of(json.at("other_block"));
    fault.other_thread = extent_of(json.at("other_thread"));
    return fault;
}

std::string extent_text(const simt::Dim3& d) {
    if (d.y == 1 && d.z == 1) return fmt::format("{}", d.x);
    return d.z == 1 ? fmt::format("{}x{}", d.x, d.y) : fmt::format("{}x{}x{}", d.x, d.y, d.z);
}

}  // namespace

namespace {
// JSON as text, for the lists that may have a million entries: a tree of them takes ten times as long.
class JsonText {
  public:
    std::string text;

    void open(char bracket) {
        comma();
        text += bracket;
        first_ = true;
    }
    void close(char bracket) {
        text += bracket;
        first_ = false;
    }
    JsonText& key(std::string_view name) {
        comma();
        text += '"';
        text += name;
        text += "\":";
        first_ = true;  // no comma in front of the value
        return *this;
    }
    void value(std::string_view string) {
        comma();
        const bool plain =
            std::all_of(string.begin(), string.end(), [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; });
        if (plain)
            fmt::format_to(std::back_inserter(text), "\"{}\"", string);
        else
            text += Json(string).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    void value(double number) {
        comma();
        if (!std::isfinite(number)) {
            text += "null";
            return;
        }
        const size_t begin = text.size();
        fmt::format_to(std::back_inserter(text), "{}", number);
        if (text.find_first_of(".e", begin) == text.npos) text += ".0";
    }
    template <std::integral T>
    void value(T number) {
        comma();
        fmt::format_to(std::back_inserter(text), "{}", number);
    }
    void value(const simt::Dim3& d) {
        comma();
        fmt::format_to(std::back_inserter(text), "[{},{},{}]", d.x, d.y, d.z);
    }
    template <typename T>
    void put(std::string_view name, const T& it) {
        key(name).value(it);
    }
    void put_site(const CallSite& site) {
        put("file", std::string_view(site.file));
        put("line", site.line);
        if (site.place >= 0) put("place", site.place);
    }

  private:
    void comma() {
        if (!first_) text += ',';
        first_ = false;
    }
    bool first_ = true;
};

template <typename Record, typename Put>
std::string list_text(const std::vector<Record>& records, const Put& put) {
    JsonText json;
    json.open('[');
    for (const Record& record : records) {
        json.open('{');
        put(json, record);
        json.put_site(record.site);
        json.close('}');
    }
    json.close(']');
    return std::move(json.text);
}

std::string launches_text(const Report& report) {
    return list_text(report.launches, [](JsonText& json, const LaunchRecord& launch) {
        json.put("kernel", std::string_view(launch.kernel));
        json.put("grid", launch.grid);
        json.put("block", launch.block);
        json.put("shared", launch.shared);
        json.put("device", launch.device);
        json.put("stream", launch.stream);
        json.put("cycles", launch.cycles);
        json.put("time_us", launch.time_us);
        json.put("begin_us", launch.begin_us);
        json.put("end_us", launch.end_us);
        json.put("timed_by", timed_by_names[static_cast<size_t>(launch.timed_by)]);
        json.put("warp_instructions", launch.warp_instructions);
        json.put("hot_file", std::string_view(launch.hot_file));
        json.put("hot_line", launch.hot_line);
        json.put("hot_share", launch.hot_share);
        json.put("bound", std::string_view(launch.bound));
        json.key("findings").open('[');
        for (const LaunchFinding& finding : launch.findings) {
            json.open('{');
            json.put("rule", std::string_view(finding.rule));
            json.put("sentence", std::string_view(finding.sentence));
            json.put("evidence", std::string_view(finding.evidence));
            json.put("change", std::string_view(finding.change));
            json.put("file", std::string_view(finding.file));
            json.put("line", finding.line);
            json.put("gain", finding.gain);
            json.close('}');
        }
        json.close(']');
        json.put("call", launch.call);
    });
}
std::string copies_text(const Report& report) {
    return list_text(report.copies, [](JsonText& json, const CopyRecord& copy) {
        json.put("direction", std::string_view(copy.direction));
        json.put("bytes", copy.bytes);
        json.put("begin_us", copy.begin_us);
        json.put("end_us", copy.end_us);
        json.put("stream", copy.stream);
        json.put("call", copy.call);
    });
}
std::string calls_text(const Report& report) {
    return list_text(report.calls, [](JsonText& json, const CallRecord& call) {
        json.put("call", std::string_view(call.call));
        json.put("begin_us", call.begin_us);
        json.put("end_us", call.end_us);
        json.put("stream", call.stream);
    });
}

std::vector<LaunchFinding> findings_of(const Json& launch) {
    std::vector<LaunchFinding> findings;
    for (const Json& finding : launch.value("findings", Json::array()))
        findings.push_back({finding.at("rule"), finding.at("sentence"), finding.at("evidence"), finding.at("change"),
                            finding.at("file"), finding.at("line"), finding.at("gain")});
    return findings;
}
}  // namespace

namespace {
// `lists`: with launches, copies and calls.
Json json_of(const Report& report, bool lists) {
    Json json = {{"gpu", report.gpu},           {"gpus", report.gpus},       {"l2", report.warm_l2 ? "warm" : "cold"},
                 {"total_us", report.total_us}, {"host_us", report.host_us}, {"peak_bytes", report.peak_bytes},
                 {"dropped", report.dropped}};
    if (lists) json["launches"] = Json::parse(launches_text(report));
    json["advice"] = Json::array();  // of the program as a whole; worked out again by who reads the report
    for (const Advice& advice : advice_on(report))
        json["advice"].push_back(with_site({{"rule", advice.rule},
                                            {"sentence", advice.sentence},
                                            {"evidence", advice.evidence},
                                            {"change", advice.change},
                                            {"gain", advice.gain}},
                                           advice.site));
    if (lists) {
        json["copies"] = Json::parse(copies_text(report));
        json["calls"] = Json::parse(calls_text(report));
    }
    json["allocations"] = Json::array();
    for (const AllocationRecord& allocation : report.allocations) json["allocations"].push_back(allocation_json(allocation));
    json["leaks"] = Json::array();
    for (const AllocationRecord& leak : report.leaks) json["leaks"].push_back(allocation_json(leak));
    json["orders"] = Json::array();
    for (const OrderRecord& order : report.orders)
        json["orders"].push_back({{"kernel", order.kernel},
                                  {"threads", order.threads},
                                  {"apart", order.apart},
                                  {"in_order", order.in_order},
                                  {"why", order.why}});
    json["marks"] = Json::array();
    for (const MarkRecord& mark : report.marks)
        json["marks"].push_back({{"name", mark.name}, {"begin_us", mark.begin_us}, {"end_us", mark.end_us}});
    json["errors"] = Json::array();
    for (const ErrorRecord& error : report.errors)
        json["errors"].push_back(with_site(
            {{"call", error.call}, {"error", error.error}, {"message", error.message}, {"seen", error.seen}}, error.site));
    json["diagnostics"] = Json::array();
    for (const simt::Fault& fault : report.faults) json["diagnostics"].push_back(fault_json(fault));
    json["warnings"] = Json::array();
    for (const simt::Fault& warning : report.warnings) json["warnings"].push_back(fault_json(warning));
    json["races"] = report.races;
    json["touches"] = report.touches;
    json["notes"] = report.notes;
    for (const CodePlace& place : report.places) json["places"].push_back(place_json(place));
    return json;
}
}  // namespace

Json to_json(const Report& report) {
    return json_of(report, true);
}

Report report_of(const Json& json) {
    try {
        Report report;
        report.gpu = json.at("gpu");
        report.gpus = json.at("gpus");
        report.warm_l2 = json.at("l2") == "warm";
        report.total_us = json.at("total_us");
        report.host_us = json.at("host_us");
        report.peak_bytes = json.at("peak_bytes");
        report.dropped = json.at("dropped");
        for (const Json& launch : json.at("launches")) {
            const auto timed_by =
                std::find(std::begin(timed_by_names), std::end(timed_by_names), launch.at("timed_by").get<std::string>());
            report.launches.push_back({.kernel = launch.at("kernel"),
                                       .grid = extent_of(launch.at("grid")),
                                       .block = extent_of(launch.at("block")),
                                       .shared = launch.at("shared"),
                                       .device = launch.at("device"),
                                       .stream = launch.at("stream"),
                                       .cycles = launch.at("cycles"),
                                       .time_us = launch.at("time_us"),
                                       .begin_us = launch.at("begin_us"),
                                       .end_us = launch.at("end_us"),
                                       .timed_by = static_cast<TimedBy>(timed_by - std::begin(timed_by_names)),
                                       .warp_instructions = launch.at("warp_instructions"),
                                       .hot_file = launch.at("hot_file"),
                                       .hot_line = launch.at("hot_line"),
                                       .hot_share = launch.at("hot_share"),
                                       .bound = launch.value("bound", ""),
                                       .findings = findings_of(launch),
                                       .site = site_of(launch),
                                       .call = launch.at("call")});
        }
        for (const Json& copy : json.at("copies"))
            report.copies.push_back({copy.at("direction"), copy.at("bytes"), copy.at("begin_us"), copy.at("end_us"),
                                     copy.at("stream"), site_of(copy), copy.at("call")});
        for (const Json& call : json.at("calls"))
            report.calls.push_back(
                {call.at("call"), call.at("begin_us"), call.at("end_us"), call.at("stream"), site_of(call)});
        for (const Json& allocation : json.at("allocations")) report.allocations.push_back(allocation_of(allocation));
        for (const Json& leak : json.at("leaks")) report.leaks.push_back(allocation_of(leak));
        for (const Json& order : json.at("orders"))
            report.orders.push_back(
                {order.at("kernel"), order.at("threads"), order.at("apart"), order.at("in_order"), order.at("why")});
        for (const Json& mark : json.at("marks"))
            report.marks.push_back({mark.at("name"), mark.at("begin_us"), mark.at("end_us")});
        for (const Json& place : json.value("places", Json::array())) report.places.push_back(place_of(place));
        for (const Json& error : json.at("errors"))
            report.errors.push_back(
                {error.at("call"), error.at("error"), error.at("message"), site_of(error), error.at("seen")});
        for (const Json& fault : json.at("diagnostics")) report.faults.push_back(fault_of(fault));
        for (const Json& warning : json.value("warnings", Json::array())) {
            report.warnings.push_back(fault_of(warning));
            report.warnings.back().warning = true;
        }
        report.races = json.at("races").get<std::vector<std::string>>();
        report.touches = json.at("touches").get<std::vector<std::string>>();
        report.notes = json.at("notes").get<std::vector<std::string>>();
        return report;
    } catch (const Json::exception& problem) {
        throw Failure(fmt::format("this is no report of a program: {}", problem.what()));
    }
}

void write_report(const Report& report, const std::string& file) {
    std::string text = json_of(report, false).dump();
    text.pop_back();
    write_file(file, fmt::format("{},\"launches\":{},\"copies\":{},\"calls\":{}}}\n", text, launches_text(report),
                                 copies_text(report), calls_text(report)));
}

Result<Report> read_report(const std::string& file) {
    Result<std::string> text = read_file(file, size_t{1} << 30);
    if (!text) return text.error();
    try {
        return report_of(Json::parse(text.value()));
    } catch (const Json::exception&) {
        return Diagnostic{"the program's report is damaged", {file}};
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

namespace {

struct LaunchGroup {  // of one kernel and shape
    const LaunchRecord* first = nullptr;
    uint64_t count = 0, simulated = 0, scaled = 0;
    double time_us = 0;
};

// A name of a template of templates takes no more of a line than others.
std::string short_name(const std::string& name) {
    constexpr size_t most = 60;
    return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

std::string launch_words(const Report& report) {
    std::vector<LaunchGroup> groups;
    std::map<std::string, size_t> number_of;
    double total_us = 0;
    for (const LaunchRecord& launch : report.launches) {
        const std::string key =
            fmt::format("{} {} {} {}", launch.kernel, extent_text(launch.grid), extent_text(launch.block), launch.shared);
        const auto [found, fresh] = number_of.try_emplace(key, groups.size());
        if (fresh) groups.push_back({.first = &launch});
        LaunchGroup& group = groups[found->second];
        ++group.count;
        group.simulated += launch.timed_by == TimedBy::simulation;
        group.scaled += launch.timed_by == TimedBy::ratio;
        group.time_us += launch.time_us;
        total_us += launch.time_us;
    }
    std::stable_sort(groups.begin(), groups.end(), [](auto& a, auto& b) { return a.time_us > b.time_us; });
    std::string text;
    constexpr size_t most_rows = 20;
    size_t widest = 6;
    for (size_t k = 0; k < std::min(groups.size(), most_rows); ++k)
        widest = std::max(widest, short_name(groups[k].first->kernel).size());
    text += fmt::format("  {:<{}}  {:>14}  {:>10}  {:>6}  {:>11}  {:>6}  hot line\n", "kernel", widest, "grid", "block",
                        "count", "time", "share");
    for (size_t k = 0; k < std::min(groups.size(), most_rows); ++k) {
        const LaunchGroup& group = groups[k];
        const LaunchRecord& launch = *group.first;
        const std::string time = launch.timed_by == TimedBy::nothing ? "-" : time_text(group.time_us);
        const std::string share = total_us > 0 ? fmt::format("{:.1f} %", 100 * group.time_us / total_us) : "-";
        text += fmt::format("  {:<{}}  {:>14}  {:>10}  {:>6}  {:>11}  {:>6}  {}\n", short_name(launch.kernel), widest,
                            extent_text(launch.grid), extent_text(launch.block), group.count, time, share,
                            launch.hot_line > 0 ? fmt::format("{}:{} ({:.0f} % of the waiting)", launch.hot_file,
                                                              launch.hot_line, 100 * launch.hot_share)
                                                : "-");
        if (group.simulated < group.count && launch.timed_by != TimedBy::nothing)
            text += fmt::format("    {} simulated, {} with the time of those{}\n", group.simulated,
                                group.count - group.simulated,
                                group.scaled ? fmt::format(", {} of them scaled by their instructions", group.scaled) : "");
    }
    if (groups.size() > most_rows) text += fmt::format("  and {} more\n", groups.size() - most_rows);
    if (total_us > 0 && report.launches.size() > 1)  // the first finds an empty one
        text += report.warm_l2 ? "  L2 held what earlier launches had left there (--l2 warm)\n"
                               : "  L2 was empty where a launch began (--l2 cold)\n";
    return text;
}

// How far the times of such kernels were from measured ones, a line for each sort.
std::string trust_words(const Report& report) {
    std::string text;
    for (uint8_t i = 0; i < static_cast<uint8_t>(model::Bound::count); ++i) {
        const auto bound = static_cast<model::Bound>(i);
        if (std::any_of(report.launches.begin(), report.launches.end(),
                        [&](const LaunchRecord& launch) { return launch.bound == model::name_of(bound); }))
            text += "  " + model::trust_in(bound) + "\n";
    }
    return text.empty() ? text : "how far off such times were\n" + text;
}

// How the blocks of launches without timing ran, where that is not plain.
std::string order_words(const Report& report) {
    std::string text;
    for (const OrderRecord& order : report.orders) {
        if (order.apart > 0)
            text += fmt::format("  {}: {} on {} threads\n", short_name(order.kernel),
                                order.in_order == 0 ? "blocks" : fmt::format("blocks of {} launches", order.apart),
                                order.threads);
        if (!order.why.empty())
            text += fmt::format("  {}: blocks one after the other{}: {}\n", short_name(order.kernel),
                                order.apart == 0 ? "" : fmt::format(" in {} launches", order.in_order), order.why);
    }
    return text.empty() ? text : "order of blocks without timing\n" + text;
}

std::string copy_words(const Report& report) {
    struct Sum {
        uint64_t count = 0, bytes = 0;
        double us = 0;
    };
    std::map<std::string, Sum> sums;
    for (const CopyRecord& copy : report.copies) {
        Sum& sum = sums[copy.direction];
        ++sum.count;
        sum.bytes += copy.bytes;
        sum.us += copy.end_us - copy.begin_us;
    }
    std::string text;
    for (const auto& [direction, sum] : sums)
        text += fmt::format("  {}: {} {}, {}, {}\n", direction, sum.count, sum.count == 1 ? "copy" : "copies",
                            size_text(sum.bytes), time_text(sum.us));
    return text;
}

}  // namespace

std::vector<LeakGroup> leaks_by_line(const Report& report) {
    std::vector<LeakGroup> groups;
    std::map<std::tuple<std::string, std::string, std::string>, size_t> places;
    for (const AllocationRecord& leak : report.leaks) {
        const auto [known, fresh] = places.try_emplace({leak.name, leak.kind, text_of(leak.site)}, groups.size());
        if (fresh) groups.push_back({leak});
        ++groups[known->second].count;
        groups[known->second].bytes += leak.bytes;
    }
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return groups;
}

namespace {

// Each once, in the order in which they first came; of equal ones how many there were.
std::string error_words(const Report& report) {
    std::vector<std::pair<std::string, uint64_t>> sentences;
    for (const ErrorRecord& error : report.errors) {
        std::string sentence =
            fmt::format("{}{} returned {}: {}{}", text_of(error.site).empty() ? "" : text_of(error.site) + ": ", error.call,
                        error.error, error.message, error.seen ? "" : " (nobody looked at it)");
        const auto known =
            std::find_if(sentences.begin(), sentences.end(), [&](const auto& each) { return each.first == sentence; });
        if (known == sentences.end())
            sentences.emplace_back(std::move(sentence), 1);
        else
            ++known->second;
    }
    std::string text;
    for (const auto& [sentence, times] : sentences)
        text += fmt::format("  {}{}\n", sentence, times > 1 ? fmt::format(", {} times", times) : "");
    return text;
}

}  // namespace

std::string words_of(const Report& report) {
    const bool timed = std::any_of(report.launches.begin(), report.launches.end(),
                                   [](const LaunchRecord& launch) { return launch.timed_by != TimedBy::nothing; });
    std::string text = fmt::format("== {}{}: {} on the model's clock, of which the host worked {} (measured)\n",
                                   report.gpus > 1 ? fmt::format("{} x ", report.gpus) : "", model::short_name(report.gpu),
                                   time_text(report.total_us), time_text(report.host_us));
    if (report.launches.empty())
        text += "no kernel has ended\n";
    else
        text += fmt::format("launches ({}, {})\n{}", report.launches.size(),
                            timed ? "simulated" : "executed without timing: they took no time on the clock",
                            launch_words(report));
    text += trust_words(report);
    text += order_words(report);
    if (!report.copies.empty()) text += fmt::format("copies (simulated)\n{}", copy_words(report));
    if (!report.leaks.empty()) {
        text += "never freed\n";
        for (const auto& [leak, count, bytes] : leaks_by_line(report)) {
            const std::string site = leak.site.line ? ", allocated at " + text_of(leak.site) : "";
            text += fmt::format("  {} ({}, {}){}{}\n", leak.name, leak.kind, size_text(bytes), site,
                                count > 1 ? fmt::format(" by {} calls", count) : "");
        }
    }
    const auto unseen = std::count_if(report.errors.begin(), report.errors.end(), [](auto& error) { return !error.seen; });
    if (!report.errors.empty()) text += unseen > 0 ? "errors, of which the program never asked for some\n" : "errors\n";
    text += error_words(report);
    if (!report.faults.empty()) text += "faults\n";
    for (const simt::Fault& fault : report.faults) text += "  " + simt::render(fault) + "\n";
    if (!report.warnings.empty()) text += "warnings\n";
    for (const simt::Fault& warning : report.warnings) text += "  " + simt::render(warning) + "\n";
    if (!report.races.empty()) text += "races between streams\n";
    for (const std::string& sentence : report.races) text += "  " + sentence + "\n";
    if (!report.touches.empty()) text += "memory that the host touched too early or too late\n";
    for (const std::string& sentence : report.touches) text += "  " + sentence + "\n";
    text += advice_words(report);
    for (const std::string& sentence : report.notes) text += "note: " + sentence + "\n";
    if (report.dropped > 0)
        text += fmt::format("note: {} more launches, copies and calls are not in the report\n", report.dropped);
    return text;
}

}  // namespace lockstep::runtime
