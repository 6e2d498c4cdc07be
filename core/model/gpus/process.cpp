// Area factors were moved, within what is published of densities, until the table of area.cpp came near real dies.
//
// Energies are what a board draws for an operation, not what papers say of the circuit alone: the instruction, the way from
// L2 and static power were found from three runs of an A100 whose power, rate of multiply-adds and bytes are published
// (te42kyfo/gpu-benches, gpu-roofline, four A100s and more of FAU's cluster: 230 W at 1,372 GB/s, 296 W at 1,239 GB/s and
// 7.6 T multiply-adds a second, 185 W at 148 GB/s and 9.5 T). So they hold the clock's tree, wires, leakage when warm and
// the losses of the regulators. Other boards are predicted: `lockstep validate power`.
//
// A process scales them as the foundries said of power at the same speed. A clock above the A100's takes a higher voltage:
// energy goes with its square, and that about with the clock; below two thirds the voltage stays. The same H200, A40 and L40
// show it: a multiply-add takes them 11 to 13 pJ at 1.7 to 2.5 GHz, though their processes are as good or better.
//
// Wafer prices: Khan and Mann, "AI Chips: What They Are and Why They Matter", CSET 2020, table 9. Defects: TSMC said 0.09 a
// cm2 of 7 nm in its third quarter of volume (VLSI Symposium 2019) and 0.10 to 0.11 of 5 nm (Technology Symposium 2020, both
// by AnandTech, 25 August 2020); older processes are taken to be as good as 7 nm.
//
// Static power, 0.096 W a mm2: 79 W of the A100 are left where nothing moves. AccelWattch (MICRO 2021, its file for GV100)
// has 32 W for the board and 39 W for 80 SMs that are awake: 0.087 W a mm2. Spread half to twice.
#include "core/model/gpus/process.h"

#include <algorithm>
#include <cmath>

namespace lockstep::model {
namespace {

constexpr std::string_view old_wafer = "wafer: CSET 2020, table 9; defects: those of 7 nm, 0.09 a cm2 (TSMC 2019)";
constexpr std::string_view wafer_10 = "wafer: CSET 2020, table 9, its 10 nm; defects: those of 7 nm, 0.09 a cm2 (TSMC 2019)";
constexpr std::string_view wafer_7 = "wafer: CSET 2020, table 9; defects: 0.09 a cm2 (TSMC, VLSI Symposium 2019)";
constexpr std::string_view wafer_5 =
    "wafer: CSET 2020, table 9, its 5 nm; defects: 0.10 to 0.11 a cm2 (TSMC, Technology Symposium 2020)";

constexpr Process rows[] = {
    {"20nm", 4.0, 3.6, 1.5, 2.6, 3'677, 0.09, "estimate: TSMC 20SoC has FinFETs neither, and twice the area of 16FF's cells",
     old_wafer},
    {"16nm", 2.8, 2.6, 1.32, 1.9, 3'984, 0.09,
     "GP100: 25 million transistors a mm2, GA100 66 (white papers); cells of SRAM of 0.070 and 0.027 um2 (TSMC, recalled)",
     old_wafer},
    {"12nm", 2.0, 2.4, 1.23, 1.8, 3'984, 0.09,
     "GV100 and TU102: 25 to 26 million transistors a mm2 with cells of fewer tracks (white papers)", old_wafer},
    {"8nm", 1.28, 1.48, 1.09, 1.25, 5'992, 0.09, "GA102: 45 million transistors a mm2 (white paper)", wafer_10},
    {"7nm", 1, 1, 1, 1, 9'346, 0.09, "the process of the table", wafer_7},
    {"4nm", 0.62, 0.76, 0.955, 0.75, 16'988, 0.105,
     "GH100 98 and AD102 125 million transistors a mm2 (white papers); SRAM shrinks little: 0.021 um2 (TSMC, recalled)",
     wafer_5},
};

constexpr std::string_view jouppi =
    "Jouppi et al., Ten Lessons From Three Generations, ISCA 2021: table of energies at 7 nm";
constexpr std::string_view fed =
    "measured: an A100 takes 9.2 pJ a multiply-add with its instruction (gpu-benches), less Jouppi's 1.69 of the lane";
constexpr std::string_view way =
    "measured: an A100 takes some 109 pJ a byte from DRAM to a lane (gpu-benches), less DRAM and L1: 40 of the 52 pJ left "
    "for "
    "wires as long as its die's side (estimate), less on a smaller die; Arunkumar et al., HPCA 2019: 124 pJ at 28 nm "
    "(recalled)";
constexpr std::string_view tensors =
    "measured: an A100 at its limit of 400 W makes 257 TFLOP/s of random numbers (He, thonking.ai, 2024), less static "
    "power, "
    "L2 and operands by this table";
constexpr std::string_view hbm =
    "O'Connor et al., Fine-Grained DRAM, MICRO 2017: HBM2 3.9 pJ a bit (recalled), and 3 pJ of interface and controllers "
    "(estimate)";
constexpr std::string_view gddr =
    "Jouppi et al., ISCA 2021: GDDR6 350 to 480 pJ for 64 bits (recalled), and 1 pJ a bit of controllers (estimate)";

constexpr Energies energies(OperationEnergy dram) {
    return {
        {"instruction", "a lane", 7.5, fed},
        {"integer operation", "a lane", 0.5, jouppi},
        {"FP32 multiply-add", "a lane", 1.69, jouppi},
        {"FP64 multiply-add", "a lane", 6.5, "Keckler et al., GPUs and the Future of Parallel Computing, 2011, scaled"},
        {"FP16 pair", "a lane", 1.0, jouppi},
        {"special function", "a lane", 4, "estimate: a table and two multiply-adds"},
        {"tensor multiply-add", "a product", 1.3, tensors},
        {"shared memory", "a byte", 1.5, "Jouppi et al., ISCA 2021: 8.5 pJ for 64 bits of 32 KB, and the way to the lanes"},
        {"L1", "a byte", 2, "as shared memory, and its tags"},
        {"L2 and the way to an SM", "a byte", 52, way},
        dram};
}
constexpr Energies with_hbm = energies({"DRAM, HBM", "a byte", 55, hbm});
constexpr Energies with_gddr = energies({"DRAM, GDDR", "a byte", 60, gddr});
constexpr Energies with_lpddr =
    energies({"DRAM, LPDDR", "a byte", 48, "estimate: LPDDR4, some 5 pJ a bit, and 1 pJ of controllers"});
constexpr Energies with_ddr = energies(
    {"DRAM, DDR", "a byte", 170, "Jouppi et al., ISCA 2021: DDR4 1300 pJ for 64 bits, and 1 pJ a bit of controllers"});

}  // namespace

std::span<const Process> processes() {
    return rows;
}

const Process* process_named(std::string_view name) {
    const auto row = std::ranges::find(rows, name, &Process::name);
    return row == std::end(rows) ? nullptr : row;
}

const Process& process_of(const GpuSpec& gpu) {
    const uint32_t compute = gpu.compute.number;
    return *process_named(compute < 60   ? "20nm"
                          : compute < 70 ? "16nm"
                          : compute < 80 ? "12nm"
                          : compute < 86 ? "7nm"
                          : compute < 89 ? "8nm"
                                         : "4nm");
}

namespace {
// Against the A100's clock, as the voltage follows it.
double clock_scale(double mhz) {
    constexpr double table_mhz = 1410, least = 2.0 / 3;
    return std::max(least, mhz / table_mhz);
}
}  // namespace

double energy_scale(const Process& process, double mhz) {
    return process.energy * clock_scale(mhz);
}

OperationEnergy l2_energy(const Energies& energies, double mm2) {
    constexpr double measured_on = 826, wires = 40;  // mm2, and pJ a byte there
    OperationEnergy l2 = energies.l2;
    l2.pj += wires * (std::sqrt(mm2 / measured_on) - 1);
    return l2;
}

double static_watts_a_mm2(double mhz) {
    return 0.096 * clock_scale(mhz);
}

const Energies& energies_of(DramKind kind) {
    switch (kind) {
        case DramKind::hbm:
            return with_hbm;
        case DramKind::gddr:
            return with_gddr;
        case DramKind::lpddr:
            return with_lpddr;
        case DramKind::ddr:
            break;
    }
    return with_ddr;
}

}  // namespace lockstep::model
