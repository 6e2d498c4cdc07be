#include "core/scene/designs/designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/cores.h"
#include "core/base/nearest.h"
#include "core/model/gpus/area.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/metrics/energy.h"

namespace lockstep::scene {
namespace {

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

// a..b doubles from a on, a..b:s goes on by s; b is the last in either case.
Result<std::vector<double>> range_in(std::string_view text, size_t dots) {
    const auto wrong = [&](std::string_view why) {
        return Diagnostic{fmt::format("'{}' {}: a range is 4..32, which doubles, or 4..32:4, which adds", text, why)};
    };
    std::string_view last = text.substr(dots + 2);
    const size_t colon = last.find(':');
    const auto step = colon == std::string_view::npos ? std::optional<double>(0) : number_in(last.substr(colon + 1));
    last = last.substr(0, colon);
    const auto from = number_in(text.substr(0, dots)), to = number_in(last);
    if (!from || !to || !step) return wrong("is no range of numbers");
    if (*to < *from) return wrong("ends before it begins");
    if (colon != std::string_view::npos && *step <= 0) return wrong("has no step above 0");
    if (colon == std::string_view::npos && *from <= 0) return wrong("cannot double from 0 on");
    std::vector<double> values;
    for (double value = *from;
         value<*to; value = *step> 0 ? *from + static_cast<double>(values.size()) * *step : 2 * value) {
        values.push_back(value);
        if (values.size() > most_designs) return wrong("has too many values");
    }
    values.push_back(*to);
    return values;
}

}  // namespace

Result<Vary> parse_vary(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size())
        return Diagnostic{fmt::format("'{}' is no figure with its values, as in sms=4..32 or l2_mb=1,2,4", text)};
    Vary vary{std::string(text.substr(0, equals)), {}};
    if (model::field_named(vary.field).first == nullptr && vary.field != "tensor_fmas")
        return Diagnostic{fmt::format(
            "unknown figure '{}' of a GPU{}", vary.field,
            did_you_mean(vary.field, model::gpu_field_names(), "; 'lockstep gpus v100 --json -' names them all"))};
    for (size_t begin = equals + 1; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        if (const size_t dots = part.find(".."); dots != std::string_view::npos) {
            const auto values = range_in(part, dots);
            if (!values) return values.error();
            vary.values.insert(vary.values.end(), values.value().begin(), values.value().end());
        } else if (const auto value = number_in(part)) {
            vary.values.push_back(*value);
        } else {
            return Diagnostic{fmt::format("'{}' is no number: {} takes numbers and ranges, as in sms=4..32 or l2_mb=1,2,4",
                                          part, vary.field)};
        }
        begin = end + 1;
    }
    return vary;
}

std::vector<DesignPart> DesignLaunch::parts() const {
    std::vector<DesignPart> all = {{program, config, memory, label, source}};
    all.insert(all.end(), then.begin(), then.end());
    return all;
}

DesignRun run_design(const model::GpuSpec& gpu, const DesignLaunch& launch, const std::stop_token& stop, bool keep_memory) {
    DesignRun run;
    run.mm2 = model::area_of(gpu, launch.process).mm2;
    for (const DesignPart& part : launch.parts()) {
        if (const auto refused = simt::check_launch(*part.program, part.config, model::limits_of(gpu))) {
            run.refused = refused->message;
            return run;
        }
        auto memory = std::make_shared<simt::Memory>(*part.memory);
        model::TimedOptions options;
        options.trace = false;
        options.max_instructions = launch.max_instructions;
        options.stop = stop;
        const model::TimedResult result = model::launch(gpu, *part.program, part.config, *memory, options);
        run.stopped = result.stopped;
        if (result.fault) run.refused = result.fault->message;
        if (run.stopped || result.fault) return run;
        run.cycles += result.cycles;
        run.time_us += result.time_us;
        run.joules += model::energy_of(gpu, *part.program, result, launch.process).joules;
        if (keep_memory) run.memory = std::move(memory);
    }
    run.watts = run.time_us > 0 ? run.joules / (run.time_us * 1e-6) : 0;
    return run;
}

namespace {

Design design_number(const model::GpuSpec& base, const std::vector<Vary>& varied, size_t number, const DesignLaunch& launch,
                     const std::stop_token& stop) {
    Design design;
    design.values.resize(varied.size());
    for (size_t k = varied.size(); k-- > 0; number /= varied[k].values.size())
        design.values[k] = varied[k].values[number % varied[k].values.size()];
    model::GpuDesign gpu(base);
    for (size_t k = 0; k < varied.size() && design.run.refused.empty(); ++k)
        if (const auto refused = gpu.set(varied[k].field, design.values[k], "varied")) design.run.refused = refused->message;
    if (design.run.refused.empty())
        if (const auto impossible = gpu.finish("follows from what is varied")) design.run.refused = impossible->message;
    if (design.run.refused.empty()) design.run = run_design(gpu.gpu(), launch, stop);
    design.done = !design.run.stopped;
    return design;
}

}  // namespace

Sweep run_sweep(const model::GpuSpec& base, const std::vector<Vary>& varied, const DesignLaunch& launch,
                const SweepOptions& options) {
    Sweep sweep;
    sweep.kernel = launch.shown_name();
    sweep.gpu = std::string(base.title);
    sweep.varied = varied;
    sweep.process = launch.process != nullptr ? launch.process : &model::process_of(base);
    sweep.asked = 1;
    for (size_t k = 0; k < varied.size(); ++k) {
        for (size_t other = 0; other < k; ++other)
            if (model::field_named(varied[k].field).first == model::field_named(varied[other].field).first)
                throw Failure(fmt::format("{} is varied twice", varied[k].field));
        sweep.asked *= varied[k].values.size();
        if (sweep.asked > most_designs)
            throw Failure(
                fmt::format("these are more than {} designs: vary fewer figures, or by larger steps", most_designs));
    }
    DesignLaunch same = launch;
    same.process = sweep.process;
    std::vector<Design> designs(sweep.asked);
    std::atomic<size_t> next = 0, done = 0;
    std::mutex mutex;
    std::condition_variable changed;
    const auto work = [&](unsigned share) {
        const ShareOfCores mine(share);
        for (size_t at = next++; at < designs.size() && !options.stop.stop_requested(); at = next++) {
            designs[at] = design_number(base, varied, at, same, options.stop);
            ++done;
        }
        const std::lock_guard lock(mutex);
        changed.notify_all();
    };
    const unsigned at_once = options.threads > 0 ? static_cast<unsigned>(options.threads) : cores();
    std::atomic<size_t> running = std::min<size_t>(at_once, designs.size());
    const unsigned share = cores() / std::max(1u, static_cast<unsigned>(running));
    std::vector<std::jthread> threads;
    for (size_t k = running; k > 0; --k)
        threads.emplace_back([&, share] {
            work(share);
            --running;
        });
    while (running > 0) {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; });
        if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(designs.size()));
    }
    threads.clear();
    for (Design& design : designs)
        if (design.done) sweep.designs.push_back(std::move(design));
    find_front(sweep.designs);
    return sweep;
}

void find_front(std::vector<Design>& designs) {
    std::vector<Design*> ran;
    for (Design& design : designs) {
        design.on_front = false;
        if (design.run.refused.empty()) ran.push_back(&design);
    }
    std::ranges::stable_sort(ran, [](const Design* a, const Design* b) {
        return std::pair(a->run.mm2, a->run.time_us) < std::pair(b->run.mm2, b->run.time_us);
    });
    double best = HUGE_VAL;
    for (Design* design : ran) {
        design->on_front = design->run.time_us < best;
        best = std::min(best, design->run.time_us);
    }
}

std::string sweep_csv(const Sweep& sweep) {
    std::string text = "design";
    for (const Vary& vary : sweep.varied) text += "," + vary.field;
    text += ",time_us,cycles,estimated_mm2,estimated_watts,estimated_joules,front,refused\n";
    for (size_t i = 0; i < sweep.designs.size(); ++i) {
        const Design& design = sweep.designs[i];
        text += std::to_string(i + 1);
        for (const double value : design.values) text += fmt::format(",{:.10g}", value);
        const DesignRun& run = design.run;
        if (run.refused.empty()) {
            text += fmt::format(",{:.6g},{},{:.6g},{:.6g},{:.6g},{},\n", run.time_us, run.cycles, run.mm2, run.watts,
                                run.joules, design.on_front ? 1 : 0);
            continue;
        }
        std::string why;
        for (const char letter : run.refused) why += letter == '"' ? "\"\"" : std::string(1, letter);
        text += fmt::format(",,,,,,0,\"{}\"\n", why);
    }
    return text;
}

}  // namespace lockstep::scene
