// LeNet-5: 32x32x1, 6c3x3, relu, avgpool, 16c3x3, relu, avgpool, 120, 84, 10. And resnet8: a stem and three stages of one
// residual block each, 16, 32 and 64 channels, batch-normalised, for pictures of any size and planes.
#include <fmt/format.h>

#include "core/nn/models/blocks.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Shape;
using tensor::Variable;

namespace {
struct PictureBlocks {
    Build& build;
    std::vector<Block> blocks;

    void begin() { build.held = build.sharding->holds(blocks.size()); }  // the layers of the next block
    void end(const std::string& name, Shape picture, std::function<Variable(Pass&, const Variable&)> forward) {
        blocks.push_back({name, {name + "."}, std::move(forward), [picture = std::move(picture)](const Shape& input) {
                              Shape shape = {input[0]};
                              for (const int64_t extent : picture) shape.push_back(extent);
                              return shape;
                          }});
    }
};

std::vector<Block> lenet5(Build& build) {
    PictureBlocks model{build, {}};
    const tensor::Window two{.stride = {2, 2}};
    model.begin();
    const Conv2d conv1(build, "conv1", 1, 6, 3);
    model.end("conv1", {6, 15, 15}, [=](Pass& pass, const Variable& x) {
        const Variable y = tensor::relu(pass.tape, conv1(pass, x), "relu1");  // [B,6,30,30]
        return tensor::avg_pool2d(pass.tape, y, {2, 2}, "pool1", two);
    });
    model.begin();
    const Conv2d conv2(build, "conv2", 6, 16, 3);
    model.end("conv2", {576}, [=](Pass& pass, const Variable& x) {
        Variable y = tensor::relu(pass.tape, conv2(pass, x), "relu2");  // [B,16,13,13]
        y = tensor::avg_pool2d(pass.tape, y, {2, 2}, "pool2", two);     // [B,16,6,6]
        return tensor::reshape(pass.tape, y, {y.shape()[0], 576}, "flatten");
    });
    model.begin();
    const Linear fc1(build, "fc1", 576, 120);
    model.end("fc1", {120}, [=](Pass& pass, const Variable& x) { return tensor::relu(pass.tape, fc1(pass, x), "relu3"); });
    model.begin();
    const Linear fc2(build, "fc2", 120, 84);
    model.end("fc2", {84}, [=](Pass& pass, const Variable& x) { return tensor::relu(pass.tape, fc2(pass, x), "relu4"); });
    model.begin();
    const Linear fc3(build, "fc3", 84, 10);
    model.end("fc3", {10}, [=](Pass& pass, const Variable& x) { return fc3(pass, x); });
    return model.blocks;
}

struct Residual {  // relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x))
    Conv2d conv1, conv2, shortcut;
    BatchNorm2d bn1, bn2;
    std::string name;
    bool projects = false;

    Residual(Build& build, const std::string& layer, int64_t inputs, int64_t outputs, int64_t stride)
        : conv1(build, layer + ".conv1", inputs, outputs, 3, stride, 1, false),
          conv2(build, layer + ".conv2", outputs, outputs, 3, 1, 1, false),
          bn1(build, layer + ".bn1", outputs),
          bn2(build, layer + ".bn2", outputs),
          name(layer),
          projects(inputs != outputs) {
        if (projects) shortcut = Conv2d(build, layer + ".shortcut", inputs, outputs, 1, stride, 0);
    }
    Variable operator()(Pass& pass, const Variable& x) const {
        Variable y = tensor::relu(pass.tape, bn1(pass, conv1(pass, x)), name + " relu1");
        y = bn2(pass, conv2(pass, y));
        y = tensor::add(pass.tape, y, projects ? shortcut(pass, x) : x, name + " add");
        return tensor::relu(pass.tape, y, name + " relu2");
    }
};

std::vector<Block> resnet8(Build& build, const ModelShape& shape) {
    PictureBlocks model{build, {}};
    const auto halved = [](int64_t extent) { return (extent + 1) / 2; };
    int64_t rows = halved(shape.picture[1]), columns = halved(shape.picture[2]);
    model.begin();
    const Conv2d stem(build, "stem", shape.picture[0], 16, 3, 2, 1, false);
    const BatchNorm2d norm(build, "stem.bn", 16);
    model.end("stem", {16, rows, columns}, [=](Pass& pass, const Variable& x) {
        return tensor::relu(pass.tape, norm(pass, stem(pass, x)), "stem relu");  // [B,16,14,14] of 28 x 28
    });
    int64_t channels = 16;
    for (const int64_t outputs : {16, 32, 64}) {
        const bool first = outputs == channels;
        if (!first) rows = halved(rows), columns = halved(columns);
        const std::string name = fmt::format("layer{}", model.blocks.size());
        model.begin();
        model.end(name, {outputs, rows, columns}, Residual(build, name, channels, outputs, first ? 1 : 2));
        channels = outputs;
    }
    model.begin();
    const Linear fc(build, "fc", 64, shape.classes);
    model.end("fc", {shape.classes}, [=](Pass& pass, const Variable& x) {
        return fc(pass, tensor::mean(pass.tape, x, "global pool", {2, 3}));  // [B,64,4,4] -> [B,64]
    });
    return model.blocks;
}
}  // namespace

std::vector<Block> convolutional_blocks(Build& build, const ModelShape& shape) {
    return shape.any_picture ? resnet8(build, shape) : lenet5(build);
}

}  // namespace lockstep::nn
