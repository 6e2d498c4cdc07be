// A convolution of one picture as windows, as the matrix of patches that im2col copies, and as one matrix of weights with
// zeros. Read from a training step, a tensor program or a kernel's arguments; worked out without drawing, tested without a
// window.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/nn/train/step_record.h"
#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::gui {

struct Convolution {
    enum class Form : uint8_t { windows, patches, spread } form = Form::windows;  // what the run itself works with
    int64_t rows = 0, columns = 0;                                                // of the picture
    int64_t high = 0, wide = 0;                                                   // of the kernel
    int64_t pad_rows = 0, pad_columns = 0;                                        // zeros around the picture
    int64_t filters = 0;                                                          // 0: the run has no weights
    std::vector<float> picture = {};                                              // [rows, columns]
    std::vector<float> weights = {};                                              // [filters, high * wide]
    std::vector<float> bias = {};                                                 // [filters]; empty: none
    std::vector<float> made = {};  // [filters, windows]; as it ran where `ran`, else the sums of the windows
    bool ran = false;
    std::string name = {};  // of the layer: "conv1"; "" none

    int64_t windows_high() const { return rows + 2 * pad_rows - high + 1; }
    int64_t windows_wide() const { return columns + 2 * pad_columns - wide + 1; }
    int64_t windows() const { return windows_high() * windows_wide(); }
    int64_t elements() const { return high * wide; }  // of a window
    int64_t pixels() const { return rows * columns; }
    int64_t pixel(int64_t window, int64_t element) const;  // the place in the picture; -1: a zero around it
    float patch(int64_t window, int64_t element) const;    // the number that im2col writes there
    float spread(int64_t filter, int64_t window,
                 int64_t pixel) const;                 // the weight that the window gives the pixel; often 0
    int64_t zeros() const;                             // of the spread matrix of one filter, by its places alone
    int64_t copies(int64_t pixel) const;               // how many windows hold it
    double sum(int64_t filter, int64_t window) const;  // of the window's products, and the bias
};

// The first convolution of the step with one channel, stride 1 and no dilation, on its first picture.
std::optional<Convolution> convolution_of(const nn::StepRecord& step);
// Of a kernel that is given a picture [rows, columns] and either a kernel of weights, for an output of its windows' shape;
// or a matrix of weights with a row a window; or nothing else, for an output with a row a window.
// `seed`: of the launch, as bind_arguments has it.
std::optional<Convolution> convolution_of(std::span<const scene::KernelArgument> arguments, uint64_t seed);

}  // namespace lockstep::gui
