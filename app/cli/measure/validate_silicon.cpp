// `lockstep validate silicon [--file F] [--gpu G] [--fit]`: the model against measurements of a real GPU, kernel by kernel;
// with --fit also what would bring it nearer. Figures are proposed, never changed.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/cli.h"
#include "app/cli/measure/silicon.h"
#include "app/silicon/compare/compare.h"
#include "app/silicon/measured.h"
#include "core/base/cores.h"
#include "core/base/files.h"
#include "core/base/tell.h"

namespace lockstep::cli {
namespace {

using device::SiliconHalf;
using nlohmann::ordered_json;

std::string correlation_text(double value) {
    return std::isnan(value) ? "too few or too equal for a correlation"
                             : fmt::format("correlation of the logarithms {:.3f}", value);
}

void print_report(const device::SiliconReport& report, const std::string& badge) {
    fmt::print("\n{}; simulated: {}; cycles of the SM", badge, report.model);
    if (report.overhead > 0) fmt::print(", less {:.0f} that the events around a kernel take", report.overhead);
    fmt::print("\n{:<36} {:<6} {:>12} {:>12} {:>8}\n", "kernel", "half", "measured", "simulated", "error");
    for (const device::SiliconRow& row : report.rows)
        fmt::print("{:<36} {:<6} {:>12.0f} {:>12.0f} {:>+7.1f}%\n", row.name, device::name_of(row.half), row.measured,
                   row.modelled, 100 * row.error());
    for (const auto half : {SiliconHalf::fit, SiliconHalf::judge}) {
        const device::SiliconTotal total = device::total_of(report.rows, half);
        if (total.rows == 0) continue;
        fmt::print("= {}: {} kernels, mean error {:.1f} %, {}\n", device::name_of(half), total.rows, 100 * total.mean_error,
                   correlation_text(total.correlation));
    }
    const device::SiliconTotal judge = device::total_of(report.rows, SiliconHalf::judge);
    const bool met = judge.mean_error < device::silicon_error_aim && judge.correlation > device::silicon_correlation_aim;
    fmt::print("aim, on the half that judges: mean error below {:.0f} %, correlation above {:.2f}: {}\n",
               100 * device::silicon_error_aim, device::silicon_correlation_aim, met ? "met" : "not met");
}

ordered_json json_of_total(const device::SiliconTotal& total) {
    return {{"kernels", total.rows},
            {"mean_error", json_number(total.mean_error)},
            {"correlation", json_number(total.correlation)}};
}

ordered_json json_of_report(const device::SiliconReport& report, const device::MeasuredGpu& measured) {
    ordered_json rows = ordered_json::array(), halves = ordered_json::object();
    for (const device::SiliconRow& row : report.rows)
        rows.push_back({{"name", row.name},
                        {"half", device::name_of(row.half)},
                        {"measured", json_number(row.measured)},
                        {"modelled", json_number(row.modelled)},
                        {"error", json_number(row.error())}});
    for (const auto half : {SiliconHalf::fit, SiliconHalf::judge})
        halves[std::string(device::name_of(half))] = json_of_total(device::total_of(report.rows, half));
    return {{"gpu", report.gpu},
            {"driver", measured.file.driver},
            {"made_up", measured.file.made_up},
            {"model", report.model},
            {"overhead_cycles", json_number(report.overhead)},
            {"rows", std::move(rows)},
            {"halves", std::move(halves)},
            {"aim", {{"mean_error", device::silicon_error_aim}, {"correlation", device::silicon_correlation_aim}}},
            {"remarks", report.remarks}};
}

void print_fit(const device::SiliconFit& fit) {
    fmt::print("\nfit of {} to {}: {} figures tried on the half '{}'; nothing is changed\n", fit.model, fit.gpu,
               fit.tried.size(), device::name_of(SiliconHalf::fit));
    if (fit.proposals.empty()) fmt::print("no figure that may be fitted brings the model nearer\n");
    for (const device::SiliconProposal& proposal : fit.proposals)
        fmt::print("  {:<26} {:>10.4g} -> {:<10.4g} {:<10} mean error {:.1f} % without it, {:.1f} % with it ({})\n",
                   proposal.figure, proposal.from, proposal.to, proposal.unit, 100 * proposal.error_without,
                   100 * proposal.error_with, proposal.source);
    const auto print_half = [](std::string_view name, const device::SiliconTotal& before,
                               const device::SiliconTotal& after) {
        fmt::print("= {}: {} kernels, mean error {:.1f} -> {:.1f} %, correlation {:.3f} -> {:.3f}\n", name, before.rows,
                   100 * before.mean_error, 100 * after.mean_error, before.correlation, after.correlation);
    };
    print_half("fit", fit.fit_before, fit.fit_after);
    print_half("judge", fit.judge_before, fit.judge_after);
}

ordered_json json_of_fit(const device::SiliconFit& fit) {
    ordered_json proposals = ordered_json::array();
    for (const device::SiliconProposal& proposal : fit.proposals)
        proposals.push_back({{"figure", proposal.figure},
                             {"unit", proposal.unit},
                             {"source", proposal.source},
                             {"from", json_number(proposal.from)},
                             {"to", json_number(proposal.to)},
                             {"fit_error_without", json_number(proposal.error_without)},
                             {"fit_error_with", json_number(proposal.error_with)}});
    return {{"tried", fit.tried},
            {"proposals", std::move(proposals)},
            {"fit", {{"before", json_of_total(fit.fit_before)}, {"after", json_of_total(fit.fit_after)}}},
            {"judge", {{"before", json_of_total(fit.judge_before)}, {"after", json_of_total(fit.judge_after)}}},
            {"remarks", fit.remarks}};
}

}  // namespace

bool validate_silicon(const SiliconChoice& choice) {
    device::MeasuredStore store;
    if (choice.file.empty()) {
        store = device::read_measured(device::measured_folder());
        for (const Diagnostic& problem : store.problems) complain(problem);
        if (store.gpus.empty() && !store.problems.empty()) throw Failure("no file of measurements could be read");
    } else {
        store.gpus.push_back(device::read_measured_file(choice.file).value());
    }
    if (store.gpus.empty()) return false;

    device::SiliconCache cache(choice.again ? std::filesystem::path() : device::silicon_cache_file());
    device::CompareOptions options;
    options.threads = choice.threads > 0 ? choice.threads : static_cast<int>(cores());
    if (!choice.again) options.cache = &cache;
    const auto begin = std::chrono::steady_clock::now();
    options.finished = [&](std::string_view name, size_t done, size_t of) {
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        tell("silicon {}/{} {}, {:.0f} s{}\n", done, of, name, seconds,
             done == 1 && !choice.again ? "; what is ready is kept: Ctrl-C, and the next run goes on" : "");
    };
    ordered_json reports = ordered_json::array();
    const auto print_remarks = [&](const std::vector<std::string>& remarks) {
        for (const std::string& remark : remarks) fmt::print(choice.json == "-" ? stderr : stdout, "{}\n", remark);
    };
    for (const device::MeasuredGpu& measured : store.gpus) {
        const device::SiliconReport report = device::compare_silicon(measured.file, choice.gpu, options);
        if (choice.json != "-") print_report(report, measured.badge());
        print_remarks(report.remarks);
        ordered_json json = json_of_report(report, measured);
        if (choice.fit) {
            const device::SiliconFit fit =
                device::fit_silicon(measured.file, model::gpu_named(report.model).value(), options, choice.figures);
            if (choice.json != "-") print_fit(fit);
            for (const std::string& remark : fit.remarks)
                if (std::find(report.remarks.begin(), report.remarks.end(), remark) == report.remarks.end())
                    print_remarks({remark});
            json["fit"] = json_of_fit(fit);
        }
        reports.push_back(std::move(json));
    }
    if (!choice.json.empty()) write_json(reports, choice.json);
    return true;
}

}  // namespace lockstep::cli
