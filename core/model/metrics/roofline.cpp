#include "core/model/metrics/roofline.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/model/issue/timing.h"
#include "core/model/memory/coalescer.h"
#include "core/model/metrics/metrics.h"

namespace lockstep::model {
namespace {

double over(double a, double b) {
    return b > 0 ? a / b : 0;
}

}  // namespace

const Roof& Roofline::roof(RoofLevel level) const {
    return roofs[static_cast<size_t>(level)];
}

const Peak* Roofline::peak(std::string_view name) const {
    for (const std::vector<Peak>* list : {&peaks, &rare})
        for (const Peak& each : *list)
            if (each.name == name) return &each;
    return nullptr;
}

Roofline roofline_of(const GpuSpec& gpu) {
    const double clock = gpu.boost_mhz * 1e6;
    Roofline roofline;
    roofline.roofs = {{RoofLevel::dram, name_of(gpu.dram_kind.value), gpu.dram_gb_per_second * 1e9},
                      {RoofLevel::l2, "L2", gpu.l2_bytes_per_cycle * clock},
                      {RoofLevel::l1, "L1, shared", gpu.l1_bytes_per_cycle * gpu.sms * clock}};
    const auto peak = [](std::vector<Peak>& list, std::string_view name, double teraflops) {
        if (teraflops > 0) list.push_back({name, teraflops * 1e12});
    };
    peak(roofline.peaks, "tensor fp16", gpu.fp16_tensor_tflops);
    peak(roofline.peaks, "fp32", gpu.fp32_tflops);
    peak(roofline.peaks, "fp64", gpu.fp64_tflops);
    peak(roofline.rare, "fp16", gpu.fp16_tflops);
    for (const auto& [name, type] : {std::pair{"tensor tf32", ptx::Type::tf32}, std::pair{"tensor fp8", ptx::Type::e4m3},
                                     std::pair{"tensor fp64", ptx::Type::f64}})
        peak(roofline.rare, name, gpu.fp16_tensor_tflops * tensor_speed(gpu, type));
    std::stable_sort(roofline.peaks.begin(), roofline.peaks.end(),
                     [](const Peak& a, const Peak& b) { return a.flop_per_second > b.flop_per_second; });
    return roofline;
}

double ridge(const Roof& roof, const Peak& peak) {
    return over(peak.flop_per_second, roof.bytes_per_second);
}

double attainable(const Roof& roof, const Peak& peak, double intensity) {
    return std::min(peak.flop_per_second, roof.bytes_per_second * intensity);
}

double RoofPoint::intensity(RoofLevel level) const {
    return over(flop, bytes[static_cast<size_t>(level)]);
}

double RoofPoint::flop_per_second() const {
    return over(flop, seconds);
}

bool RoofPoint::plotted(RoofLevel level) const {
    return !faulted && flop > 0 && seconds > 0 && bytes[static_cast<size_t>(level)] > 0;
}

RoofPoint roof_point(const GpuSpec& gpu, const Sums& sums, const LaunchTotals& totals, double seconds) {
    const Operations& done = sums.operations;
    RoofPoint point;
    point.flop = static_cast<double>(done.flop());
    point.bytes[0] = static_cast<double>(totals.dram_read + totals.dram_written);
    point.bytes[1] = static_cast<double>(sums.all.l2_sectors * sector_bytes);
    point.bytes[2] = static_cast<double>(sums.all.sectors * sector_bytes + sums.all.shared_passes * line_bytes);
    point.seconds = seconds;
    // The units that did most of it; among tensor cores, the format.
    using Share = std::pair<uint64_t, std::string_view>;
    const auto most = [](std::initializer_list<Share> shares) {
        return *std::max_element(shares.begin(), shares.end(),
                                 [](const Share& a, const Share& b) { return a.first < b.first; });
    };
    const Share scalar = most({{done.f32.flop, "fp32"}, {done.f16.flop, "fp16"}, {done.f64.flop, "fp64"}});
    const Share tensor = most({{done.tensor_f16() + done.tensor_bf16, "tensor fp16"},
                               {done.tensor_tf32, "tensor tf32"},
                               {done.tensor_f8, "tensor fp8"},
                               {done.tensor_f64, "tensor fp64"}});
    const Roofline roofline = roofline_of(gpu);
    point.peak = done.tensor_flop() > scalar.first ? tensor.second : scalar.second;
    if (roofline.peak(point.peak) == nullptr) point.peak = "fp32";
    return point;
}

RoofPoint point_of(const KernelRun& run) {
    const TimedResult& result = run.result;
    const Sums sums = sums_of(*run.program, result.instructions, [](uint32_t) { return true; });
    RoofPoint point = roof_point(run.gpu, sums, result.totals, result.time_us * 1e-6);
    point.faulted = result.fault.has_value() || result.stopped;
    return point;
}

double headroom(const Roofline& roofline, const RoofPoint& point, RoofLevel level) {
    const Peak* const peak = roofline.peak(point.peak);
    if (peak == nullptr || !point.plotted(level)) return 0;
    return attainable(roofline.roof(level), *peak, point.intensity(level)) / point.flop_per_second();
}

double memory_seconds(const Roofline& roofline, const RoofPoint& point, RoofLevel level) {
    return over(point.bytes[static_cast<size_t>(level)], roofline.roof(level).bytes_per_second);
}

double math_seconds(const Roofline& roofline, const RoofPoint& point) {
    const Peak* const peak = roofline.peak(point.peak);
    return peak == nullptr ? 0 : over(point.flop, peak->flop_per_second);
}

}  // namespace lockstep::model
