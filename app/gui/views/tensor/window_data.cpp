#include "app/gui/views/tensor/window_data.h"

#include <algorithm>
#include <cmath>

#include "core/tensor/op.h"

namespace lockstep::gui {

using scene::KernelArgument;

int64_t Convolution::pixel(int64_t window, int64_t element) const {
    const int64_t row = window / windows_wide() + element / wide - pad_rows,
                  column = window % windows_wide() + element % wide - pad_columns;
    return row < 0 || row >= rows || column < 0 || column >= columns ? -1 : row * columns + column;
}
float Convolution::patch(int64_t window, int64_t element) const {
    const int64_t at = pixel(window, element);
    return at < 0 ? 0 : picture[static_cast<size_t>(at)];
}
float Convolution::spread(int64_t filter, int64_t window, int64_t at) const {
    for (int64_t e = 0; e < elements(); ++e)
        if (pixel(window, e) == at) return weights[static_cast<size_t>(filter * elements() + e)];
    return 0;
}
int64_t Convolution::zeros() const {
    int64_t used = 0;
    for (int64_t w = 0; w < windows(); ++w)
        for (int64_t e = 0; e < elements(); ++e) used += pixel(w, e) >= 0;
    return windows() * pixels() - used;
}
int64_t Convolution::copies(int64_t at) const {
    int64_t count = 0;
    const int64_t row = at / columns + pad_rows, column = at % columns + pad_columns;
    for (int64_t y = std::max<int64_t>(0, row - high + 1); y <= std::min(row, windows_high() - 1); ++y)
        for (int64_t x = std::max<int64_t>(0, column - wide + 1); x <= std::min(column, windows_wide() - 1); ++x) ++count;
    return count;
}
double Convolution::sum(int64_t filter, int64_t window) const {
    double total = bias.empty() ? 0 : static_cast<double>(bias[static_cast<size_t>(filter)]);
    for (int64_t e = 0; e < elements(); ++e)
        total += static_cast<double>(patch(window, e)) *
                 static_cast<double>(weights[static_cast<size_t>(filter * elements() + e)]);
    return total;
}

namespace {

void fill_sums(Convolution& it) {
    for (int64_t f = 0; f < it.filters; ++f)
        for (int64_t w = 0; w < it.windows(); ++w) it.made.push_back(static_cast<float>(it.sum(f, w)));
}

std::vector<float> floats_of(const Array& array) {
    return {array.as<float>(), array.as<float>() + array.count()};
}

// The kernel of weights behind a matrix with a row a window; false: its rows are not one kernel that moves on.
bool gather(Convolution& it, const std::vector<float>& matrix) {
    it.filters = 1;
    it.weights.assign(static_cast<size_t>(it.elements()), 0);
    for (int64_t e = 0; e < it.elements(); ++e)
        it.weights[static_cast<size_t>(e)] = matrix[static_cast<size_t>(it.pixel(0, e))];
    for (int64_t w = 0; w < it.windows(); ++w)
        for (int64_t p = 0; p < it.pixels(); ++p)
            if (matrix[static_cast<size_t>(w * it.pixels() + p)] != it.spread(0, w, p)) return false;
    return true;
}

}  // namespace

std::optional<Convolution> convolution_of(const nn::StepRecord& step) {
    for (const nn::GraphNode& node : step.nodes) {
        if (node.op != "conv2d" || node.inputs.size() < 2 || !node.attributes || !node.value || node.shape.size() != 4)
            continue;
        const auto input = [&](size_t i) -> const nn::GraphNode& { return step.nodes[static_cast<size_t>(node.inputs[i])]; };
        const nn::GraphNode &x = input(0), &w = input(1);
        const tensor::Attributes& how = *node.attributes;
        if (x.shape.size() != 4 || w.shape.size() != 4 || x.shape[1] != 1 || !x.value || !w.value) continue;
        if (how.stride != std::array<int64_t, 2>{1, 1} || how.dilation != std::array<int64_t, 2>{1, 1} || how.groups != 1)
            continue;
        Convolution it{.form = how.mode == 1 ? Convolution::Form::patches : Convolution::Form::windows,
                       .rows = x.shape[2],
                       .columns = x.shape[3],
                       .high = w.shape[2],
                       .wide = w.shape[3],
                       .pad_rows = how.padding[0],
                       .pad_columns = how.padding[1],
                       .filters = w.shape[0]};
        if (node.shape[2] != it.windows_high() || node.shape[3] != it.windows_wide()) continue;
        it.picture.assign(x.value->begin(), x.value->begin() + it.pixels());
        it.weights = *w.value;
        if (node.inputs.size() > 2 && input(2).value) it.bias = *input(2).value;
        it.made.assign(node.value->begin(), node.value->begin() + it.filters * it.windows());
        it.ran = true;
        it.name = node.name;
        return it;
    }
    return std::nullopt;
}

std::optional<Convolution> convolution_of(std::span<const KernelArgument> arguments, uint64_t seed) {
    std::vector<Array> given;
    std::vector<float> numbers;
    const KernelArgument* out = nullptr;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument& one = arguments[i];
        if (one.kind != KernelArgument::Kind::plain || one.type != DType::f32) continue;
        if (one.role == KernelArgument::Role::scalar) numbers.push_back(*one.values.as<float>());
        if (one.role == KernelArgument::Role::out && out == nullptr) out = &one;
        if (one.role != KernelArgument::Role::in) continue;
        auto contents = scene::initial_contents(one, seed * 1000003u + i);
        if (!contents) return std::nullopt;
        given.push_back(std::move(contents.value()));
    }
    if (given.empty() || out == nullptr || given[0].shape.size() != 2 || out->shape.size() != 2) return std::nullopt;
    Convolution it{.rows = given[0].shape[0], .columns = given[0].shape[1]};
    it.picture = floats_of(given[0]);
    if (given.size() == 1) {  // patches alone: [windows, elements], of a square kernel
        it.form = Convolution::Form::patches;
        it.high = it.wide = std::lround(std::sqrt(static_cast<double>(out->shape[1])));
        return it.elements() == out->shape[1] && it.windows() == out->shape[0] ? std::optional(std::move(it)) : std::nullopt;
    }
    it.high = it.rows - out->shape[0] + 1;
    it.wide = it.columns - out->shape[1] + 1;
    const std::vector<int64_t>& shape = given[1].shape;
    if (it.high < 1 || it.wide < 1 || shape.size() != 2) return std::nullopt;
    if (!numbers.empty()) it.bias = {numbers.front()};
    if (shape[0] == it.windows() && shape[1] == it.pixels()) {
        it.form = Convolution::Form::spread;
        if (!gather(it, floats_of(given[1]))) return std::nullopt;
    } else if (shape[0] == it.high && shape[1] == it.wide) {
        it.filters = 1;
        it.weights = floats_of(given[1]);
    } else {
        return std::nullopt;
    }
    fill_sums(it);
    return it;
}

}  // namespace lockstep::gui
