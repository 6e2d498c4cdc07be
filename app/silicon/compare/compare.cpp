// Model against measurement, in cycles of the SM, on the modelled GPU at the clock at which the GPU ran. What the events
// around a kernel add is measured too (of a kernel that does nothing) and taken off, but for the cycles that the model has
// for that kernel, which are in each of its others too; the modelled launch starts with cold caches, the measured one is the
// median of many. Kernels run side by side, each on a modelled GPU of its own, so that its
// addresses and cycles do not depend on the others; the longest begin first.
#include "app/silicon/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>

#include "app/silicon/measure/parts.h"
#include "app/silicon/measured.h"
#include "core/base/cores.h"
#include "core/device/devices.h"
#include "core/device/kernels/thread_pool.h"
#include "core/validate/probe.h"

namespace lockstep::device {

std::optional<std::string> model_of(std::string_view gpu) {
    const auto plain = [](std::string_view text) {  // "GeForce RTX 3090" -> "geforcertx3090"
        std::string letters;
        for (const char c : text)
            if (std::isalnum(static_cast<unsigned char>(c)))
                letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return letters;
    };
    std::string_view best;
    for (const model::GpuSpec& spec : model::gpus())
        if (plain(gpu).find(plain(spec.name)) != std::string::npos && spec.name.size() > best.size()) best = spec.name;
    if (best.empty()) return std::nullopt;
    return std::string(best);
}

namespace {

double modelled_cycles(const model::GpuSpec& gpu, const PackRow& row, const CompareOptions& options) {
    const std::string key = options.cache ? silicon_key(gpu, row) : std::string();
    if (options.cache)
        if (const auto known = options.cache->find(key)) return static_cast<double>(*known);
    throw_if_stopped(options.stop);
    if (options.kept_only) return std::numeric_limits<double>::quiet_NaN();
    const std::unique_ptr<Device> device = make_sim(gpu, fmt::format("sim:{}", gpu.name), {.stop = options.stop});
    const PackLaunch launch(*device, row);
    int64_t cycles = 0;
    device->on_launch = [&](const LaunchEvent& event) { cycles = event.cycles; };
    device->launch(launch.request());
    if (options.cache) options.cache->keep(key, cycles);
    return static_cast<double>(cycles);
}

}  // namespace

SiliconReport compare_silicon(const SiliconFile& file, std::string model, const CompareOptions& options) {
    if (model.empty()) {
        const auto found = model_of(file.gpu);
        if (!found) throw Failure(fmt::format("no modelled GPU is known to be '{}': name one", file.gpu));
        model = *found;
    }
    SiliconReport report = compare_silicon(file, model::gpu_named(model).value(), options);
    report.model = model;  // "teaching:4" is no row's name
    return report;
}

SiliconReport compare_silicon(const SiliconFile& file, const model::GpuSpec& row_of_gpu, const CompareOptions& options,
                              std::optional<SiliconHalf> half) {
    SiliconReport report{.gpu = file.gpu, .model = std::string(row_of_gpu.name)};
    if (file.made_up) report.remarks.emplace_back("the file is made up: its figures were typed, nothing was measured");
    if (file.modelled) report.remarks.emplace_back("the file's GPU is a modelled one: nothing was measured on a real GPU");
    const SiliconPart* const kernels = file.part("kernels");
    if (!kernels) {
        report.remarks.emplace_back("the file holds no kernels");
        return report;
    }
    const double clock_mhz = (kernels->clock_before_mhz + kernels->clock_after_mhz) / 2;
    const model::GpuSpec gpu = file.modelled ? row_of_gpu : validate::at_clock(row_of_gpu, clock_mhz);
    if (const SiliconPart* const launch = file.part("launch"))
        report.overhead = event_time_us(file) * (launch->clock_before_mhz + launch->clock_after_mhz) / 2;
    if (report.overhead > 0)
        if (const double own = modelled_cycles(gpu, empty_row(), options); !std::isnan(own))
            report.overhead = std::max(1.0, report.overhead - own);
    std::vector<const PackRow*> rows;  // of report.rows
    for (const SiliconKernel& measured : kernels->kernels) {
        if (half && half_of(measured.name) != *half) continue;
        const auto row = std::find_if(options.pack.begin(), options.pack.end(),
                                      [&](const PackRow& it) { return it.name == measured.name; });
        if (row == options.pack.end()) {
            report.remarks.push_back(fmt::format("{}: the pack has no kernel of that name", measured.name));
            continue;
        }
        if (row->grid != measured.grid || row->block != measured.block) {
            report.remarks.push_back(fmt::format("{}: measured with another launch than the pack's", measured.name));
            continue;
        }
        const double cycles = measured.cycles - report.overhead;
        if (cycles < measured.cycles / 4) {
            report.remarks.push_back(fmt::format("{}: mostly what the events add, so it says nothing", measured.name));
            continue;
        }
        rows.push_back(&*row);
        report.rows.push_back({measured.name, half_of(measured.name), cycles, 0});
    }
    if (report.overhead == 0)
        report.remarks.emplace_back(
            "the file does not say what events add to a kernel's time: it is in every measured time");
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return report.rows[a].measured > report.rows[b].measured; });
    size_t done = 0;
    std::mutex telling;
    ThreadPool pool(std::max(1, options.threads));
    const unsigned share = cores() / static_cast<unsigned>(std::max(1, options.threads));
    pool.run(static_cast<int>(rows.size()), [&](int part) {
        const ShareOfCores mine(share);
        SiliconRow& row = report.rows[order[static_cast<size_t>(part)]];
        row.modelled = modelled_cycles(gpu, *rows[order[static_cast<size_t>(part)]], options);
        const std::lock_guard lock(telling);
        if (options.finished) options.finished(row.name, ++done, rows.size());
    });
    return report;
}

SiliconTotal total_of(std::span<const SiliconRow> rows, SiliconHalf half) {
    SiliconTotal total;
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (const SiliconRow& row : rows) {
        if (row.half != half) continue;
        ++total.rows;
        total.mean_error += std::abs(row.error());
        const double a = std::log(row.measured), b = std::log(row.modelled);
        x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    const auto count = static_cast<double>(total.rows);
    total.mean_error /= count;  // of no rows: not a number
    total.correlation = total.rows < 3 ? std::numeric_limits<double>::quiet_NaN()
                                       : (xy - x * y / count) / std::sqrt((xx - x * x / count) * (yy - y * y / count));
    return total;
}

}  // namespace lockstep::device
