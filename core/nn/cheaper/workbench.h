// What the comparisons share: a model trained as `lockstep train` trains it, evaluated in another form, and its cost
// counted.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/nn/cheaper/cheaper.h"
#include "core/nn/layers/layers.h"
#include "core/nn/train/trainer.h"
#include "core/tensor/op.h"

namespace lockstep::nn::cheaper {

using Weights = std::map<std::string, std::vector<float>>;  // of parameters and buffers by name
using Alter = std::function<void(Task& task, tensor::Heap& heap)>;

struct Outcome {
    Weights values;
    Evaluation test;
    StepRecord last;
    int64_t trained = 0;
    double state_bytes = 0;
};

TrainerOptions trainer_options(const CheaperRun& run, const std::string& model, int64_t steps);
int64_t steps_of(const CheaperRun& run);
// Trains, evaluates, hands back every parameter.
Outcome trained(const CheaperRun& run, const TrainerOptions& options, int64_t steps, const std::string& phase);
Evaluation evaluated(const CheaperRun& run, const TrainerOptions& options);  // without a step

void put(Task& task, tensor::Heap& heap, const Weights& values);  // overwrites what has a name in `values`
Alter then(Alter first, Alter second);

struct Layer {  // a parameter that a Linear or a Conv2d multiplies by
    std::string name;
    int64_t rows = 0, columns = 0;  // outputs; values of each
    bool convolution = false;
    bool tied = false;        // a head whose matrix is the embedding's too
    double operations = 0;    // of its product in one forward pass of a batch
    std::vector<float> seen;  // magnitudes of its inputs, where they were asked for
};
// In the order of use, from `batches` of training data on the host; values: what the parameters hold. Tied layers only when
// they are asked for: what becomes of them becomes of the embedding.
std::vector<Layer> layers_of(const TrainerOptions& options, const Weights& values, int64_t batches, bool keep_inputs,
                             bool tied = false);

struct PassCost {
    tensor::Cost cost;  // of one example's forward pass, loss included
    double bytes = 0;   // of the parameters
};
PassCost forward_cost(const TrainerOptions& options);  // on `meta`: nothing is computed

CheaperRow row_of(const std::string& method, const Comparison& comparison, const Evaluation& test, const PassCost& cost);
Comparison comparison_of(const std::string& method, const CheaperRun& run);
void add_row(const CheaperRun& run, Comparison& comparison, CheaperRow row, std::vector<Measure> more = {});

}  // namespace lockstep::nn::cheaper
