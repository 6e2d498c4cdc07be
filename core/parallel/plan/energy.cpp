// Board limits from data sheets; the share of the server from whole systems' ratings: what is left of the system's power
// when its boards are taken off, divided by their number.
#include "core/parallel/plan/energy.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/model/gpus/area.h"
#include "core/model/gpus/gpu_file.h"

namespace lockstep::parallel {

namespace {
constexpr BoardPower power_table[] = {
    {"jetson-nano", 10, 0, "vendor's data sheet (recalled): the whole module"},
    {"p100", 300, 100, "vendor's data sheets (recalled): DGX-1, 3.2 kW with 8 boards"},
    {"v100", 300, 137.5, "vendor's data sheets (recalled): DGX-1, 3.5 kW with 8 boards"},
    {"a100", 400, 412.5, "vendor's data sheets (recalled): DGX A100, 6.5 kW with 8 boards"},
    {"a100-80", 400, 412.5, "vendor's data sheets (recalled): DGX A100, 6.5 kW with 8 boards"},
    {"h100", 700, 575, "vendor's data sheets (recalled): DGX H100, 10.2 kW with 8 boards"},
    {"h100-pcie", 350, 200, "vendor's data sheet (recalled); the server's share is an estimate"},
    {"h200", 700, 575, "vendor's data sheets (recalled): DGX H200, 10.2 kW with 8 boards"},
    {"rtx3090", 350, 100, "vendor's data sheet (recalled); the computer's share is an estimate"},
    {"a6000", 300, 100, "vendor's data sheet (recalled); the computer's share is an estimate"},
    {"rtx4090", 450, 100, "vendor's data sheet (recalled); the computer's share is an estimate"},
    {"teaching", 10, 0, "chosen for teaching"},
};
}  // namespace

BoardPower board_power(const model::GpuSpec& gpu) {
    if (model::is_gpu_file(gpu.name))
        return {gpu.name, model::area_of(gpu).watts, 100,
                "estimate: lockstep gpus FILE --area; the server's share is a guess"};
    for (const BoardPower& row : power_table)
        if (row.gpu == gpu.name) return row;
    throw Failure(fmt::format("there is no figure for the power of {}", gpu.title));
}

StepPower step_power(const model::GpuSpec& gpu, int gpus, double step_us, double tokens, const PowerOptions& options) {
    const BoardPower board = board_power(gpu);
    StepPower power;
    power.watts = (board.watts + board.node_watts) * options.pue;
    power.megawatts = power.watts * gpus * 1e-6;
    const double hours = step_us / 3.6e9;
    power.kwh = power.watts * gpus * hours * 1e-3;
    power.cost = power.kwh * options.price_per_kwh;
    power.tokens_per_kwh = power.kwh > 0 ? tokens / power.kwh : 0;
    if (options.tokens > 0 && tokens > 0) {
        const double steps = options.tokens / tokens;
        power.run_hours = steps * hours;
        power.run_gpu_hours = power.run_hours * gpus;
        power.run_mwh = steps * power.kwh * 1e-3;
        power.run_electricity = steps * power.cost;
        power.run_rent = power.run_gpu_hours * options.price_per_gpu_hour;
    }
    return power;
}

}  // namespace lockstep::parallel
