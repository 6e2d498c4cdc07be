// Multi-layer perceptrons over flat pictures.
#include "core/nn/layers/layers.h"
#include "core/nn/models/list.h"
#include "core/nn/models/pictures.h"

namespace lockstep::nn {

static std::unique_ptr<Task> perceptron(std::string_view name, const std::vector<int64_t>& widths,
                                        const TaskOptions& options, tensor::Heap& heap) {
    return picture_task(name, options, heap, "digits", [&](Build& build, const DataSet&) {
        return Network{.logits = Perceptron(build, widths), .shape = {widths.front()}, .classes = widths.back()};
    });
}

std::unique_ptr<Task> make_mlp(const TaskOptions& options, tensor::Heap& heap) {
    return perceptron("mlp", {784, 128, 10}, options, heap);
}
std::unique_ptr<Task> make_mlp512(const TaskOptions& options, tensor::Heap& heap) {
    return perceptron("mlp512", {784, 512, 512, 10}, options, heap);
}

}  // namespace lockstep::nn
