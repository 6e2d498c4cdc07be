// Area factors were moved, within what is published of densities, until the table of area.cpp came near real dies. Energies
// scale as the foundries said of power at the same speed from one process to the next.
//
// Wafer prices: Khan and Mann, "AI Chips: What They Are and Why They Matter", CSET 2020, table 9. Defects: TSMC said 0.09 a
// cm2 of 7 nm in its third quarter of volume (VLSI Symposium 2019) and 0.10 to 0.11 of 5 nm (Technology Symposium 2020, both
// by AnandTech, 25 August 2020); older processes are taken to be as good as 7 nm.
//
// Static power, 0.08 W a mm2: what boards of GV100 and GA100 draw with a kernel that waits, some 60 W, over their dies
// (AccelWattch, MICRO 2021, recalled); spread half to twice.
#include "core/model/gpus/process.h"

#include <algorithm>

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
constexpr std::string_view dally =
    "Dally, Hot Chips 2023: some 30 pJ to fetch, decode and feed it at 45 nm (recalled), scaled";
constexpr std::string_view hbm = "O'Connor et al., Fine-Grained DRAM, MICRO 2017: HBM2 3.9 pJ a bit (recalled)";
constexpr std::string_view gddr = "Jouppi et al., ISCA 2021: GDDR6 350 to 480 pJ for 64 bits (recalled)";

constexpr Energies energies(OperationEnergy dram) {
    return {
        {"instruction", "a lane", 5, dally},
        {"integer operation", "a lane", 0.5, jouppi},
        {"FP32 multiply-add", "a lane", 1.69, jouppi},
        {"FP64 multiply-add", "a lane", 6.5, "Keckler et al., GPUs and the Future of Parallel Computing, 2011, scaled"},
        {"FP16 pair", "a lane", 1.0, jouppi},
        {"special function", "a lane", 4, "estimate: a table and two multiply-adds"},
        {"tensor multiply-add", "a product", 0.6,
         "Dally, Hot Chips 2023: HMMA 110 pJ for 128 operations (recalled), scaled"},
        {"shared memory", "a byte", 1.5, "Jouppi et al., ISCA 2021: 8.5 pJ for 64 bits of 32 KB, and the way to the lanes"},
        {"L1", "a byte", 2, "as shared memory, and its tags"},
        {"L2", "a byte", 8, "Jouppi et al., ISCA 2021: 14 pJ for 64 bits of 1 MB, and some 20 mm of wires (estimate)"},
        dram};
}
constexpr Energies with_hbm = energies({"DRAM, HBM", "a byte", 31, hbm});
constexpr Energies with_gddr = energies({"DRAM, GDDR", "a byte", 52, gddr});
constexpr Energies with_lpddr = energies({"DRAM, LPDDR", "a byte", 40, "estimate: LPDDR4, some 5 pJ a bit"});
constexpr Energies with_ddr = energies({"DRAM, DDR", "a byte", 160, "Jouppi et al., ISCA 2021: DDR4 1300 pJ for 64 bits"});

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
