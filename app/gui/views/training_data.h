// What the training views show, computed from a StepRecord without drawing: which numbers to follow through the graph,
// histograms, and how far the step has come at a launch. Tested without a window.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/step_record.h"

namespace lockstep::gui {

// One scalar followed through the whole graph: an image of the batch, and in every layer one feature of it.
struct Probe {
    int image = 0;
    bool wrong = false;            // the image is misread
    std::vector<int64_t> index;    // by node: flat index into its value and gradient; -1: nothing to follow
    std::vector<int64_t> feature;  // by node: the column followed in a [batch, width] value; -1
    int unit = -1;                 // feature of the first hidden layer
    int pixel = -1;
};
Probe probe_of(const nn::StepRecord& step);

// local derivative x upstream = product, with the numbers of the probe, for the gradient that `launch` writes: of the node's
// weight or bias where it writes that, else of its input.
struct ChainRule {
    std::string local_name, upstream_name, total_name;  // "W[3,100]", "dz[9,3]", "da[9,100]"
    double local = 0, upstream = 0, product = 0;
    int term = 0, terms = 1;  // the product is term `term` of `terms` of the sum
    double total = 0;         // the gradient that arrives
};
std::optional<ChainRule> chain_rule(const nn::StepRecord& step, const Probe& probe, int node, int launch);

// How far the step is once launch number `launch` has finished (-1: nothing yet).
bool value_known(const nn::GraphNode& node, int launch);
bool gradient_known(const nn::GraphNode& node, int launch);
int node_of_launch(const nn::StepRecord& step, int launch);  // the op whose forward or backward it is; -1

struct Histogram {
    double low = 0, high = 0;  // values outside are counted in the outer bins
    std::vector<int64_t> counts;
    int64_t total = 0, zeros = 0;
};
Histogram histogram_of(const std::vector<float>& values, int bins);

// The value that 99.7 % of magnitudes stay below: where a colour map clips.
float clip_of(const std::vector<float>& values);

std::string signed_text(double value, int digits = 4);      // "+0.0024", "-0.1543", "0"
std::string shape_text(const std::vector<int64_t>& shape);  // "64×784"

}  // namespace lockstep::gui
