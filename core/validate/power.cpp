// Power of real boards. A kernel that reads two arrays and makes so many multiply-adds of each number was timed on them,
// with the power that the board says of itself (te42kyfo/gpu-benches, gpu-roofline, June 2024): from all bytes to nearly
// none. The three runs of the A100 are what the energies of core/model/gpus/process.cpp were found from; the other boards
// are predicted. Runs in which a board held its clock down for its limit of power are left out.
#include <algorithm>

#include "core/model/gpus/area.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/metrics/energy.h"
#include "core/validate/validate.h"

namespace lockstep::validate {
namespace {

constexpr std::string_view roofline = "te42kyfo/gpu-benches, gpu-roofline, 2024: the board's own figure";
constexpr std::string_view accelwattch =
    "AccelWattch, MICRO 2021: constant power and 80 SMs awake, from its file for GV100, which was fitted to measurements";

struct Measured {
    std::string_view name, die;  // die: of real_dies()
    double mhz, tera_multiply_adds, dram_gigabytes, watts;
    Kind kind;
    std::string_view source;
};
constexpr Measured measured[] = {
    {"a100/stream", "GA100", 1410, 0.17, 1372, 230, Kind::calibrated, roofline},
    {"a100/both", "GA100", 1410, 7.6, 1239, 296, Kind::calibrated, roofline},
    {"a100/fma", "GA100", 1410, 9.5, 148, 185, Kind::calibrated, roofline},
    {"h200/stream", "GH100", 1980, 0.47, 3759, 572, Kind::predicted, roofline},
    {"h200/both", "GH100", 1980, 11.34, 3629, 675, Kind::predicted, roofline},
    {"h200/fma", "GH100", 1980, 21.28, 425, 398, Kind::predicted, roofline},
    {"a40/stream", "GA102", 1740, 0.085, 679, 207, Kind::predicted, roofline},
    {"a40/both", "GA102", 1740, 5.5, 676, 273, Kind::predicted, roofline},
    {"l40/stream", "AD102", 2490, 0.106, 845, 199, Kind::predicted, roofline},
    {"l40/both", "AD102", 2490, 9.38, 844, 300, Kind::predicted, roofline},
    {"v100/waits", "GV100", 1417, 0, 0, 71, Kind::predicted, accelwattch},
};

}  // namespace

Report power_report() {
    Report report;
    for (const Measured& run : measured) {
        const auto die = std::ranges::find(model::real_dies(), run.die, &model::RealDie::name);
        model::GpuDesign board(die->gpu);
        if (const auto refused = board.set("boost_mhz", run.mhz, "as it was measured")) throw Failure(*refused);
        Row row{"power", std::string(run.name), run.watts, 0, run.kind, "W", std::string(run.source)};
        row.got = model::watts_at(board.gpu(), run.tera_multiply_adds * 1e12, run.dram_gigabytes * 1e9,
                                  &model::process_of(die->gpu));
        report.rows.push_back(std::move(row));
    }
    report.remarks.emplace_back(
        "Expected: what the board drew; got: the estimate of its die at the clock, the multiply-adds and the bytes of that "
        "run.");
    return report;
}

}  // namespace lockstep::validate
