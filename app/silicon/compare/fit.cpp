// Each figure is tried twice on the fitting half; between the tries the logarithm of a kernel's cycles is taken as straight
// in the logarithm of the figure, and figures as acting one by one. On that, figure after figure is moved to where the mean
// error is least, until none helps; then the row so found really runs, on both halves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "app/silicon/compare/compare.h"
#include "core/base/nearest.h"

namespace lockstep::device {
namespace {
namespace fit_table {

using model::GpuSpec;
struct Row {
    std::string_view name;  // as figures_of() has it
    model::Count GpuSpec::*count;
    model::Figure GpuSpec::*figure;
    double most;
};
constexpr double any = 1e12;
constexpr Row rows[] = {
    {"sfu_latency", &GpuSpec::sfu_latency, nullptr, any},
    {"imad_latency", &GpuSpec::imad_latency, nullptr, any},
    {"fp64_latency", &GpuSpec::fp64_latency, nullptr, any},
    {"branch_latency", &GpuSpec::branch_latency, nullptr, any},
    {"barrier_latency", &GpuSpec::barrier_latency, nullptr, any},
    {"shuffle_latency", &GpuSpec::shuffle_latency, nullptr, any},
    {"l1_latency", &GpuSpec::l1_latency, nullptr, any},
    {"l2_latency", &GpuSpec::l2_latency, nullptr, any},
    {"dram_latency", &GpuSpec::dram_latency, nullptr, any},
    {"l1_mshrs", &GpuSpec::l1_mshrs, nullptr, any},
    {"l1_bytes_per_cycle", nullptr, &GpuSpec::l1_bytes_per_cycle, any},
    {"sm_read_bytes_per_cycle", nullptr, &GpuSpec::sm_read_bytes_per_cycle, any},
    {"sm_write_bytes_per_cycle", nullptr, &GpuSpec::sm_write_bytes_per_cycle, any},
    {"l2_bytes_per_cycle", nullptr, &GpuSpec::l2_bytes_per_cycle, any},
    {"tlb_miss_latency", &GpuSpec::tlb_miss_latency, nullptr, any},
    {"dram_efficiency", nullptr, &GpuSpec::dram_efficiency, 1},
    {"dram_row_cycle_ns", nullptr, &GpuSpec::dram_row_cycle_ns, any},
    {"dram_activate_ns", nullptr, &GpuSpec::dram_activate_ns, any},
    {"dram_turnaround_ns", nullptr, &GpuSpec::dram_turnaround_ns, any},
    {"dram_loaded_ns", nullptr, &GpuSpec::dram_loaded_ns, any},
    {"l1_code_latency", &GpuSpec::l1_code_latency, nullptr, any},
    {"blocks_per_cycle", nullptr, &GpuSpec::blocks_per_cycle, any},
    {"block_start_latency", &GpuSpec::block_start_latency, nullptr, any},
};
double value_of(const GpuSpec& gpu, const Row& row) {
    return row.count ? static_cast<double>((gpu.*row.count).value) : (gpu.*row.figure).value;
}
std::string_view source_of(const GpuSpec& gpu, const Row& row) {
    return row.count ? (gpu.*row.count).source : (gpu.*row.figure).source;
}
// The value that it can have nearest to the wanted one: counts are whole.
double nearest_to(const Row& row, double wanted) {
    return std::min(row.most, row.count ? std::max(1.0, std::round(wanted)) : wanted);
}
void set(GpuSpec& gpu, const Row& row, double value) {
    if (row.count)
        (gpu.*row.count).value = static_cast<uint32_t>(value);
    else
        (gpu.*row.figure).value = value;
}
bool may_be_fitted(const GpuSpec& gpu, const Row& row) {
    const std::string_view source = source_of(gpu, row);
    return value_of(gpu, row) > 0 &&
           (source.starts_with("estimate") || source.find("calibrated") != std::string_view::npos ||
            source.starts_with("Accel-Sim"));
}

}  // namespace fit_table

using FitRow = fit_table::Row;
constexpr double least_factor = 0.8, most_factor = 1.25;
constexpr int positions = 17;    // between the two, evenly in the logarithm
constexpr double worth = 0.002;  // of the mean error: a figure that helps less stays

struct FitFigure {
    const FitRow* row;
    double from = 0, to = 0;
    std::vector<double> below, above;  // by kernel: slope of log(cycles) by log(figure), down and up from `from`
    double change(size_t kernel, double value) const {
        const double by = std::log(value / from);
        return by * (by < 0 ? below : above)[kernel];
    }
};

// Slopes from one try; zero where the figure cannot be moved that way.
std::vector<double> slopes_of(const std::vector<SiliconRow>& base, const std::vector<SiliconRow>& moved, double by) {
    std::vector<double> slopes(base.size());
    for (size_t k = 0; k < base.size(); ++k) slopes[k] = std::log(moved[k].modelled / base[k].modelled) / std::log(by);
    return slopes;
}

double reckoned_error(const std::vector<SiliconRow>& base, const std::vector<double>& changes) {
    double sum = 0;
    for (size_t k = 0; k < base.size(); ++k) sum += std::abs(base[k].modelled * std::exp(changes[k]) / base[k].measured - 1);
    return sum / static_cast<double>(base.size());
}

}  // namespace

std::vector<std::string> fitted_figures(const model::GpuSpec& gpu) {
    std::vector<std::string> names;
    for (const FitRow& row : fit_table::rows)
        if (fit_table::may_be_fitted(gpu, row)) names.emplace_back(row.name);
    return names;
}

SiliconFit fit_silicon(const SiliconFile& file, const model::GpuSpec& gpu, const CompareOptions& options,
                       const std::vector<std::string>& wanted) {
    const std::vector<std::string> known = fitted_figures(gpu);
    for (const std::string& name : wanted)
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw Failure(fmt::format("'{}' is no figure of {} that may be fitted{}; there are {}", name, gpu.name,
                                      did_you_mean(name, known, ""), fmt::join(known, ", ")));
        }
    std::vector<FitFigure> figures;
    for (const FitRow& row : fit_table::rows)
        if (fit_table::may_be_fitted(gpu, row) &&
            (wanted.empty() || std::find(wanted.begin(), wanted.end(), row.name) != wanted.end()))
            figures.push_back({&row, fit_table::value_of(gpu, row), fit_table::value_of(gpu, row), {}, {}});

    const SiliconReport before = compare_silicon(file, gpu, options);
    SiliconFit fit{.gpu = file.gpu, .model = std::string(gpu.name)};
    fit.remarks = before.remarks;
    fit.fit_before = total_of(before.rows, SiliconHalf::fit);
    fit.judge_before = total_of(before.rows, SiliconHalf::judge);
    for (const auto& [total, half] : {std::pair{fit.fit_before, SiliconHalf::fit}, {fit.judge_before, SiliconHalf::judge}})
        if (total.rows < 3)
            throw Failure(fmt::format("the half '{}' has {} kernels that the model can run: at least 3 are needed for a fit",
                                      name_of(half), total.rows));
    std::vector<SiliconRow> base;  // of the fitting half alone: nothing else is looked at until the end
    for (const SiliconRow& row : before.rows)
        if (row.half == SiliconHalf::fit) base.push_back(row);

    for (FitFigure& figure : figures) {
        fit.tried.emplace_back(figure.row->name);
        bool moves = true;
        for (const double factor : {most_factor, least_factor}) {
            std::vector<double>& slopes = factor < 1 ? figure.below : figure.above;
            const double value = fit_table::nearest_to(*figure.row, figure.from * factor);
            if (value == figure.from || !moves) {
                slopes.assign(base.size(), 0);
                continue;
            }
            model::GpuSpec moved = gpu;
            fit_table::set(moved, *figure.row, value);
            CompareOptions quiet = options;
            if (options.finished)
                quiet.finished = [&](std::string_view kernel, size_t done, size_t of) {
                    options.finished(fmt::format("{} {:.4g}: {}", figure.row->name, value, kernel), done, of);
                };
            slopes = slopes_of(base, compare_silicon(file, moved, quiet, SiliconHalf::fit).rows, value / figure.from);
            // A figure that changes no kernel upwards is not tried downwards: no kernel rests on it.
            moves = std::any_of(slopes.begin(), slopes.end(), [](double slope) { return !(std::abs(slope) < 1e-3); });
        }
    }

    std::vector<double> changes(base.size(), 0);
    const auto moved_to = [&](const FitFigure& figure, double value) {  // `changes` with the figure there
        std::vector<double> all = changes;
        for (size_t k = 0; k < all.size(); ++k) all[k] += figure.change(k, value) - figure.change(k, figure.to);
        return all;
    };
    const auto settle = [&](FitFigure& figure, double value) {
        changes = moved_to(figure, value);
        figure.to = value;
    };
    for (int round = 0; round < 50; ++round) {  // the figure that helps most, as long as one does
        FitFigure* best = nullptr;
        double best_value = 0, least = reckoned_error(base, changes) - worth;
        for (FitFigure& figure : figures)
            for (int i = 0; i < positions; ++i) {
                const double share = static_cast<double>(i) / (positions - 1);
                const double value = fit_table::nearest_to(
                    *figure.row, figure.from * least_factor * std::pow(most_factor / least_factor, share));
                if (value < figure.from * least_factor * 0.999 || value > figure.from * most_factor * 1.001) continue;
                if (const double error = reckoned_error(base, moved_to(figure, value)); error < least)
                    best = &figure, best_value = value, least = error;
            }
        if (!best) break;
        settle(*best, best_value);
    }
    for (FitFigure& figure : figures)  // what others have made superfluous
        if (figure.to != figure.from &&
            reckoned_error(base, moved_to(figure, figure.from)) < reckoned_error(base, changes) + worth)
            settle(figure, figure.from);

    model::GpuSpec fitted = gpu;
    for (const FitFigure& figure : figures) {
        if (figure.to == figure.from) continue;
        fit_table::set(fitted, *figure.row, figure.to);
        SiliconProposal proposal{.figure = std::string(figure.row->name), .from = figure.from, .to = figure.to};
        for (const model::SpecFigure& it : model::figures_of(gpu))
            if (it.name == figure.row->name) proposal.label = it.label, proposal.unit = it.unit, proposal.source = it.source;
        proposal.error_without = reckoned_error(base, moved_to(figure, figure.from));
        proposal.error_with = reckoned_error(base, changes);
        fit.proposals.push_back(std::move(proposal));
    }
    std::stable_sort(fit.proposals.begin(), fit.proposals.end(),
                     [](const auto& a, const auto& b) { return a.error_without > b.error_without; });
    fit.fit_after = fit.fit_before;
    fit.judge_after = fit.judge_before;
    if (!fit.proposals.empty()) {
        const SiliconReport after = compare_silicon(file, fitted, options);
        fit.fit_after = total_of(after.rows, SiliconHalf::fit);
        fit.judge_after = total_of(after.rows, SiliconHalf::judge);
        if (!(fit.fit_after.mean_error < fit.fit_before.mean_error))
            fit.remarks.emplace_back("run together, the proposals do not help: they should be left alone");
        else if (!(fit.judge_after.mean_error < fit.judge_before.mean_error))
            fit.remarks.emplace_back("the half that judges gains nothing: the proposals fit their own half alone");
    }
    return fit;
}

}  // namespace lockstep::device
