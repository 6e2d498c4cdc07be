// Published training runs on many GPUs, beside what the planner makes of them: Llama 3 405B (three rows), Megatron-LM (ten),
// the memory of ZeRO, the bubbles of zero-bubble schedules, the formulas for parameters and operations. What
// `lockstep validate cluster` prints, and where the numbers of Efficiencies were fitted.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel/plan/planner.h"
#include "core/validate/validate.h"

namespace lockstep::parallel {

struct MegatronRow {
    std::string_view name;  // "megatron-1.7b"
    double billions = 0;
    int64_t heads = 0, width = 0, layers = 0;
    int tp = 1, pp = 1, gpus = 1;
    int64_t batch = 1, microbatch = 1;  // sequences
    int chunks = 1;
    bool overlaps = false;  // gradients are reduced while backward goes on
    double tflops = 0;      // a GPU, as published: the formula F over time, with what is computed again
};
std::span<const MegatronRow> megatron_rows();
ModelShape shape_of(const MegatronRow& row);
PlanRequest request_of(const MegatronRow& row);
double megatron_parameters(const MegatronRow& row);  // P of the paper
double megatron_operations(const MegatronRow& row);  // F of the paper, a step

struct LlamaRow {
    std::string_view name;
    int gpus, cp, dp;
    int64_t sequence, batch;  // sequences a data-parallel rank
    double tflops;
};
std::span<const LlamaRow> llama_rows();
PlanRequest request_of(const LlamaRow& row);

// TFLOP/s per GPU as the source counts them, of all thirteen rows: Megatron-LM's, then Llama 3's.
struct Throughput {
    std::string name;
    double published = 0, planned = 0;
    double error() const { return (planned - published) / published; }
};
std::vector<Throughput> throughputs(Planner& planner, const Efficiencies& efficiencies);

struct Fit {
    Efficiencies best;                       // of all rows
    double mean_error = 0, worst_error = 0;  // with it
    std::vector<double> left_out;            // by row: its error with the numbers that suit the other twelve best
    double left_out_mean = 0, left_out_worst = 0;
};
// Tries a grid around the numbers in force, all rows and every twelve of them. `tried`: progress, 0 to 1.
Fit fit_efficiencies(Planner& planner, const std::function<void(double)>& tried = {});

// Quick: no fit, so no errors of rows left out.
validate::Report cluster_report(const validate::Options& options);

}  // namespace lockstep::parallel
