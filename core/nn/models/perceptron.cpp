// Multi-layer perceptrons over flat pictures, one block a linear layer: "fc1", "fc2", ...
#include <memory>

#include "core/nn/models/blocks.h"

namespace lockstep::nn {

std::vector<Block> perceptron_blocks(Build& build, const ModelShape& shape) {
    const auto network = std::make_shared<const Perceptron>(build, shape.widths);
    const size_t count = network->layers.size();
    std::vector<Block> blocks;
    for (size_t i = 0; i < count; ++i) {
        const std::string& name = network->layers[i].name;
        const int64_t outputs = shape.widths[i + 1] / (Perceptron::by_columns(i, count) ? build.sharding->tp : 1);
        blocks.push_back({name,
                          {name + "."},
                          [=](Pass& pass, const tensor::Variable& x) { return network->layer(pass, i, x); },
                          [=](const tensor::Shape& input) {
                              return tensor::Shape{input[0], outputs};
                          }});
    }
    return blocks;
}

}  // namespace lockstep::nn
