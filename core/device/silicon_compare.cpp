// Model against measurement, in cycles of the SM: so the clock at which the GPU ran is no part of the error. The modelled
// launch starts with cold caches and no host, the measured one is the median of many and holds what starts it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "core/device/silicon.h"

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

SiliconReport compare_silicon(const SiliconFile& file, std::string model, std::span<const PackRow> pack,
                              const std::function<void(std::string_view)>& started) {
    SiliconReport report{.gpu = file.gpu};
    if (model.empty()) {
        const auto found = model_of(file.gpu);
        if (!found) throw Failure(fmt::format("no modelled GPU is known to be '{}': name one", file.gpu));
        model = *found;
    }
    report.model = model;
    if (file.made_up) report.remarks.emplace_back("the file is made up: its figures were typed, nothing was measured");
    if (file.modelled) report.remarks.emplace_back("the file's GPU is a modelled one: nothing was measured on a real GPU");
    const SiliconPart* const kernels = file.part("kernels");
    if (!kernels) {
        report.remarks.emplace_back("the file holds no kernels");
        return report;
    }
    const std::unique_ptr<Device> device = open_device("sim:" + model).value();
    for (const SiliconKernel& measured : kernels->kernels) {
        const auto row = std::find_if(pack.begin(), pack.end(), [&](const PackRow& it) { return it.name == measured.name; });
        if (row == pack.end()) {
            report.remarks.push_back(fmt::format("{}: the pack has no kernel of that name", measured.name));
            continue;
        }
        const auto same = [](const simt::Dim3& a, const simt::Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
        if (!same(row->grid, measured.grid) || !same(row->block, measured.block)) {
            report.remarks.push_back(fmt::format("{}: measured with another launch than the pack's", measured.name));
            continue;
        }
        if (started) started(measured.name);
        const PackLaunch launch(*device, *row);
        int64_t cycles = 0;
        device->on_launch = [&](const LaunchEvent& event) { cycles = event.cycles; };
        device->launch(launch.request());
        device->on_launch = nullptr;
        report.rows.push_back({measured.name, half_of(measured.name), measured.cycles, static_cast<double>(cycles)});
    }
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
