// The roofline of a GPU and where a run stands under it (D7). A roof is a bandwidth: it lets bytes/s x FLOP/B operations
// happen a second. A peak is what a kind of unit can do at most. Their crossing is the ridge. Roofs and peaks are derived
// from the GPU's row; a run's point is simulated.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/model/launch/launch.h"

namespace lockstep::model {

enum class RoofLevel : uint8_t { dram, l2, l1 };

struct Roof {
    RoofLevel level = RoofLevel::dram;
    std::string_view name;  // "HBM", "GDDR", "LPDDR" or "DDR"; "L2"; "L1, shared"
    double bytes_per_second = 0;
};
struct Peak {
    std::string_view name;  // "tensor fp16", "fp32", "fp64"; "fp16", "tensor tf32", "tensor fp8", "tensor fp64"
    double flop_per_second = 0;
};
struct Roofline {
    std::vector<Roof> roofs;  // slowest first: DRAM, L2, L1
    std::vector<Peak> peaks;  // fastest first; only those that the GPU has
    std::vector<Peak> rare;   // of formats that few kernels use: of interest to those alone
    const Roof& roof(RoofLevel level) const;
    const Peak* peak(std::string_view name) const;  // null: the GPU has none
};
Roofline roofline_of(const GpuSpec& gpu);

// FLOP/B at which the roof meets the peak.
double ridge(const Roof& roof, const Peak& peak);
// FLOP/s that both allow at so many FLOP/B.
double attainable(const Roof& roof, const Peak& peak, double intensity);

struct RoofPoint {
    double flop = 0;       // a multiply-add two
    double bytes[3] = {};  // by RoofLevel: DRAM; sectors that reached L2; sectors of L1 and bytes of shared memory
    double seconds = 0;
    std::string_view peak;  // the peak of the units that did most of it: of Roofline::peaks or rare
    bool faulted = false;   // the run ended early: it stands nowhere

    double intensity(RoofLevel level) const;  // FLOP/B; 0 where nothing was computed or moved
    double flop_per_second() const;
    bool plotted(RoofLevel level = RoofLevel::dram) const;  // has operations, bytes and time: log axes know no zero
};
RoofPoint point_of(const KernelRun& run);

// How often faster the run could be below this roof and its own peak; 0 where it cannot be plotted. Below 1 it stands above
// one of the two: a model that lets it is wrong there.
double headroom(const Roofline& roofline, const RoofPoint& point, RoofLevel level = RoofLevel::dram);
// Seconds that the bytes and the operations need at least, each on its own: a run takes at least the larger.
double memory_seconds(const Roofline& roofline, const RoofPoint& point, RoofLevel level = RoofLevel::dram);
double math_seconds(const Roofline& roofline, const RoofPoint& point);

}  // namespace lockstep::model
