#include "core/model/roofline.h"

#include <algorithm>

#include "core/model/coalescer.h"
#include "core/model/metrics.h"

namespace lockstep::model {
namespace {

// The kind of memory stands in the sources of its figures: "HBM2: 4 stacks of 8 channels".
std::string_view memory_name(const GpuSpec& gpu) {
    for (const std::string_view kind : {"HBM", "LPDDR", "GDDR"})
        for (const std::string_view source : {gpu.dram_channels.source, gpu.dram_gb_per_second.source})
            if (source.find(kind) != std::string_view::npos) return kind;
    return "DRAM";
}

double over(double a, double b) {
    return b > 0 ? a / b : 0;
}

}  // namespace

const Roof& Roofline::roof(RoofLevel level) const {
    return roofs[static_cast<size_t>(level)];
}

const Peak* Roofline::peak(std::string_view name) const {
    for (const Peak& each : peaks)
        if (each.name == name) return &each;
    return nullptr;
}

Roofline roofline_of(const GpuSpec& gpu) {
    const double clock = gpu.boost_mhz * 1e6;
    Roofline roofline;
    roofline.roofs = {{RoofLevel::dram, memory_name(gpu), gpu.dram_gb_per_second * 1e9},
                      {RoofLevel::l2, "L2", gpu.l2_bytes_per_cycle * clock},
                      {RoofLevel::l1, "L1, shared", gpu.l1_bytes_per_cycle * gpu.sms * clock}};
    const auto peak = [&](std::string_view name, double teraflops) {
        if (teraflops > 0) roofline.peaks.push_back({name, teraflops * 1e12});
    };
    peak("tensor fp16", gpu.fp16_tensor_tflops);
    peak("fp32", gpu.fp32_tflops);
    peak("fp64", gpu.fp64_tflops);
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
    point.bytes[2] = static_cast<double>(sums.all.sectors * sector_bytes + sums.all.shared_bytes);
    point.seconds = seconds;
    const Roofline roofline = roofline_of(gpu);
    point.peak = "fp32";
    const uint64_t scalar = std::max({done.f16.flop, done.f32.flop, done.f64.flop});
    if (done.tensor_flop() > scalar && roofline.peak("tensor fp16") != nullptr)
        point.peak = "tensor fp16";
    else if (done.f64.flop > std::max(done.f16.flop, done.f32.flop) && roofline.peak("fp64") != nullptr)
        point.peak = "fp64";
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
    return std::max(1.0, attainable(roofline.roof(level), *peak, point.intensity(level)) / point.flop_per_second());
}

double memory_seconds(const Roofline& roofline, const RoofPoint& point, RoofLevel level) {
    return over(point.bytes[static_cast<size_t>(level)], roofline.roof(level).bytes_per_second);
}

double math_seconds(const Roofline& roofline, const RoofPoint& point) {
    const Peak* const peak = roofline.peak(point.peak);
    return peak == nullptr ? 0 : over(point.flop, peak->flop_per_second);
}

}  // namespace lockstep::model
