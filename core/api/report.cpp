#include "core/api/report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/model/metrics/bound.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json json_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Json indices(const simt::Dim3& d) {
    return {d.x, d.y, d.z};
}

Json diagnostic_json(const simt::Fault& fault) {
    Json json = {{"kind", fault.kind},
                 {"message", fault.message},
                 {"advice", fault.advice},
                 {"file", fault.file},
                 {"line", fault.line},
                 {"block", indices(fault.block)},
                 {"thread", indices(fault.thread)},
                 {"address", fmt::format("0x{:x}", fault.address)}};
    if (!fault.allocation.empty()) {
        json["allocation"] = fault.allocation;
        json["offset"] = fault.offset;
    }
    if (!fault.other_file.empty())
        json["other"] = {{"file", fault.other_file},
                         {"line", fault.other_line},
                         {"block", indices(fault.other_block)},
                         {"thread", indices(fault.other_thread)}};
    return json;
}

// What bounds the launch, and how far the times of such kernels were from published measurements.
Json time_error_json(const model::TimedResult& timed) {
    const model::Bound bound = model::bound_of(timed);
    const model::BoundError error = model::error_of(bound);
    Json json = {{"bound", model::name_of(bound)}, {"kernels", error.kernels}};
    json["mean"] = error.kernels > 0 ? json_number(error.mean) : Json();
    json["worst"] = error.kernels > 0 ? json_number(error.worst) : Json();
    return json;
}

Json verdict_json(const model::Verdict& verdict) {
    Json json = {{"bound", model::name_of(verdict.bound)}, {"limit", verdict.limit}};
    json["findings"] = Json::array();
    for (const model::Finding& finding : verdict.findings)
        json["findings"].push_back({{"rule", finding.rule},
                                    {"sentence", finding.sentence},
                                    {"evidence", finding.evidence},
                                    {"change", finding.change},
                                    {"file", finding.file},
                                    {"line", finding.line},
                                    {"more_lines", finding.more_lines},
                                    {"gain", finding.gain_unknown ? Json() : json_number(finding.gain)},
                                    {"gain_is", finding.simulated ? "simulated" : "derived"},
                                    {"what_if", finding.what_if}});
    json["what_if"] = Json::array();
    for (const model::WhatIfTime& time : verdict.what_ifs)
        json["what_if"].push_back({{"name", time.name}, {"cycles", time.cycles}, {"gain", json_number(time.gain)}});
    if (!verdict.note.empty()) json["note"] = verdict.note;
    return json;
}

Json report_of(const Launched& launched) {
    const model::KernelRun& run = *launched.run;
    const model::TimedResult& result = run.result;
    const bool timed = !launched.functional;
    Json json;
    json["gpu"] = run.gpu.name;
    json["gpu_title"] = run.gpu.title;
    json["kernel"] = run.program->shown_name();
    json["file"] = run.program->source_file.empty() ? launched.kernel->source().file : run.program->source_file;
    json["grid"] = indices(run.config.grid);
    json["block"] = indices(run.config.block);
    json["shared"] = run.config.dynamic_shared;
    json["cycles"] = timed ? Json(result.cycles) : Json();
    json["time_us"] = timed ? json_number(result.time_us) : Json();
    json["launch_us"] = timed ? json_number(result.launch_us) : Json();
    if (result.stopped) json["stopped"] = true;
    if (timed && !result.fault) {
        json["time_error"] = time_error_json(result);
        json["trust"] = model::trust_in(model::bound_of(result));
    }
    json["instructions"] = {{"warp", result.warp_instructions}, {"thread", result.thread_instructions}};
    json["registers"] = ptx::registers_on(*run.program, run.gpu.compute.number);
    if (timed)
        json["occupancy"] = {{"blocks", result.occupancy.blocks},
                             {"fraction", json_number(result.occupancy.fraction)},
                             {"limiter", result.occupancy.limiter}};
    json["metrics"] = Json::object();
    json["units"] = Json::object();
    json["names"] = Json::object();
    for (const model::Metric& metric : result.metrics) {
        json["metrics"][std::string(metric.nsight)] = json_number(metric.value);
        json["units"][std::string(metric.nsight)] = metric.unit;
        json["names"][std::string(metric.name)] = metric.nsight;
    }
    if (launched.verdict) json["verdict"] = verdict_json(*launched.verdict);
    json["diagnostics"] = Json::array();
    for (const simt::Fault& report : result.reports) json["diagnostics"].push_back(diagnostic_json(report));
    if (result.fault) json["diagnostics"].push_back(diagnostic_json(*result.fault));
    json["warnings"] = Json::array();
    for (const simt::Fault& warning : result.warnings) json["warnings"].push_back(diagnostic_json(warning));
    for (const char* const list : {"diagnostics", "warnings"}) {  // each with the words that people read
        const bool wrong = list[0] == 'd';
        const std::vector<simt::Fault>& faults = wrong ? result.reports : result.warnings;
        for (size_t i = 0; i < json[list].size(); ++i)
            json[list][i]["text"] = simt::render(i < faults.size() ? faults[i] : *result.fault);
    }
    json["notes"] = launched.refusals;
    for (const std::string& note : result.notes) json["notes"].push_back(note);
    return json;
}

}  // namespace lockstep::api
