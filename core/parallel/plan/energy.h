// The machine room: what a training step draws and costs. Power is the board's limit, as under load; around it stand
// the node's share (processors, memory, fans, switches) and the building's (PUE).
#pragma once
#include <string>
#include <string_view>

#include "core/model/gpus/gpu_spec.h"

namespace lockstep::parallel {

struct BoardPower {
    std::string_view gpu;   // its row's name
    double watts = 0;       // of the board, at most
    double node_watts = 0;  // of the server besides, a GPU
    std::string_view source;
};
// Of a GPU of one's own an estimate. Throws Failure where there is no figure.
BoardPower board_power(const model::GpuSpec& gpu);

struct PowerOptions {
    double pue = 1.1;             // the building's power over the machines'
    double price_per_kwh = 0.10;  // in the currency of one's choice
    double price_per_gpu_hour = 2.0;
    double tokens = 0;  // of a whole run; 0: no run
};

struct StepPower {
    double watts = 0;          // a GPU with its share of all around it
    double megawatts = 0;      // all GPUs
    double kwh = 0, cost = 0;  // of a step: electricity
    double run_hours = 0, run_gpu_hours = 0, run_mwh = 0, run_electricity = 0, run_rent = 0;  // where tokens are given
    double tokens_per_kwh = 0;
};
StepPower step_power(const model::GpuSpec& gpu, int gpus, double step_us, double tokens_a_step, const PowerOptions& options);

}  // namespace lockstep::parallel
