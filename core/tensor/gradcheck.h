// Compares the gradients that a function's backward gives with central differences, in double: (f(x + eps) - f(x - eps)) / 2
// eps. An output of several elements is weighted with random numbers first, so that every element takes part.
//
//     const GradcheckResult checked = gradcheck(heap, [](Tape& tape, std::span<const Variable> x) { ... }, {{"x", {2, 3},
//     values}}); if (!checked.ok()) puts(checked.text().c_str());
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/tape.h"

namespace lockstep::tensor {

struct GradcheckInput {
    std::string name;
    Shape shape;
    std::vector<double> values;
};

struct GradcheckOptions {
    double step = 1e-6, absolute = 1e-5, relative = 1e-3;
    size_t most = 64;  // elements of each input that are tried: all, or evenly spread ones
    uint64_t seed = 1;
};

struct GradcheckMismatch {
    std::string op, input;  // the last op recorded, "multiply (mul)"; the input's name
    Shape at;               // the element
    double backward = 0, numeric = 0;
};

struct GradcheckPair {  // one element that was tried
    std::string input;
    Shape at;
    double backward = 0, numeric = 0;
    double error = 0;  // disagreement in units of the tolerance; above 1, or no number: they differ
    bool agree() const { return error <= 1; }
};

struct GradcheckResult {
    std::vector<GradcheckPair> pairs;  // all that were compared, input by input
    std::vector<GradcheckMismatch> mismatches;
    int64_t compared = 0;
    double worst = 0;  // disagreement in units of the tolerance

    bool ok() const { return mismatches.empty() && compared > 0; }
    std::string text() const;  // one sentence: what was compared, or where the first mistake is and by how much
};

using GradcheckFunction = std::function<Variable(Tape& tape, std::span<const Variable> inputs)>;
GradcheckResult gradcheck(Heap& heap, const GradcheckFunction& function, const std::vector<GradcheckInput>& inputs,
                          const GradcheckOptions& options = {});

}  // namespace lockstep::tensor
