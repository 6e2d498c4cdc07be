// What the training views show, computed from a StepRecord without drawing: which numbers to follow through the graph,
// histograms, and how far the step has come at a launch. Tested without a window.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/train/step_record.h"

namespace lockstep::gui {

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
