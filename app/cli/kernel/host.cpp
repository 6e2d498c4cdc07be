// `lockstep run FILE.host`: a host program (core/scene/host/host_program.h) on the modelled GPU: when each operation ran,
// and what the arrays hold in the end.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.h"
#include "app/cli/kernel/output_json.h"
#include "app/cli/kernel/run_options.h"
#include "app/cli/kernel/trace_file.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/model/streams/streams.h"
#include "core/scene/figures/figures.h"
#include "core/scene/host/host_program.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const scene::HostRun& run) {
    Json json;
    json["gpu"] = run.gpu.name;
    for (const char* figure : {"total_us", "work_us", "copy_us", "kernel_us", "host_work_us", "overlap", "speedup"})
        json[figure] = json_number(scene::figure_of(run, figure).value());
    json["operations"] = Json::array();
    for (size_t i = 0; i < run.program.operations.size(); ++i) {
        const model::HostOperation& asked = run.program.operations[i];
        const model::OperationTime& one = run.schedule.operations[i];
        Json row = {{"line", asked.line}, {"name", asked.name}, {"call_us", {one.call_begin_us, one.call_end_us}}};
        if (one.on_device) {
            row["stream"] = asked.stream;
            row["begin_us"] = json_number(one.begin_us);
            row["end_us"] = json_number(one.end_us);
        }
        if (one.engine != model::Engine::none) row["engine"] = model::name_of(one.engine, run.gpu);
        json["operations"].push_back(std::move(row));
    }
    json["hazards"] = run.hazards;
    json["reports"] = Json::array();
    for (const scene::HostRun::Report& report : run.reports)
        json["reports"].push_back({{"kind", report.fault.kind},
                                   {"warning", report.fault.warning},
                                   {"launched_at", run.program.operations[report.statement].line},
                                   {"message", report.fault.message},
                                   {"advice", report.fault.advice},
                                   {"file", report.fault.file},
                                   {"line", report.fault.line}});
    json["outputs"] = Json::object();
    for (size_t i = 0; i < run.outputs.size(); ++i) json["outputs"][run.output_names[i]] = output_json(run.outputs[i]);
    if (run.fault) json["diagnostics"] = Json::array({{{"kind", run.fault->kind}, {"message", run.fault->message}}});
    return json;
}

}  // namespace

int run_host_program(const std::string& file, const std::string& gpu, uint64_t seed, const std::string& json,
                     const std::string& trace, const std::string& check) {
    check_trace_name(trace);
    const scene::HostText text = scene::parse_host(read_text(file, 1 << 20).value(), file).value();
    scene::HostRunOptions options;
    options.seed = seed;
    simt::LaunchOptions checks;
    options.leakcheck = !check.empty() && choose_checkers(check, checks);
    options.synccheck = checks.synccheck;
    options.racecheck = checks.racecheck;
    options.initcheck = checks.initcheck;
    const auto run =
        scene::run_host(text, model::gpu_named(gpu).value(), std::filesystem::path(file).parent_path(), options).value();
    for (size_t i = 0; i < run->hazards.size(); ++i)
        tell("warning: {}\n    advice: {}\n", run->hazards[i], run->hazard_advice[i]);
    bool wrong = run->fault || !run->hazards.empty();
    for (const scene::HostRun::Report& report : run->reports) {
        tell("{}\n    launched at {}:{}\n", simt::render(report.fault), file,
             run->program.operations[report.statement].line);
        wrong = wrong || !report.fault.warning || is_strict(check);
    }
    if (run->fault) tell("{}\n", simt::render(*run->fault));
    if (!trace.empty()) write_trace(model::trace_of(run->gpu, run->program, run->schedule), trace);
    if (!json.empty()) write_json(to_json(*run), json);
    if (json != "-") {
        const model::Schedule& s = run->schedule;
        fmt::print("{} on {}: {:.2f} µs; one after the other, without the calls, {:.2f} µs; overlap {:.0f} % (simulated)\n",
                   file, run->gpu.title, s.total_us, s.work_us, 100 * s.overlap);
        for (size_t i = 0; i < run->program.operations.size(); ++i) {
            const model::HostOperation& asked = run->program.operations[i];
            const model::OperationTime& one = s.operations[i];
            const std::string stream = one.on_device ? fmt::format("stream {}", asked.stream) : "host";
            fmt::print("  {:>4} {:<10} {:>10.2f} to {:>10.2f} µs  {:<16} {}\n", asked.line, stream,
                       one.on_device ? one.begin_us : one.call_begin_us, one.on_device ? one.end_us : one.call_end_us,
                       model::name_of(one.engine, run->gpu), asked.name);
        }
    }
    return static_cast<int>(wrong ? ExitStatus::faulted : ExitStatus::done);
}

}  // namespace lockstep::cli
