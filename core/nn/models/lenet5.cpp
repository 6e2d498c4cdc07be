// LeNet-5 in nine lines: 32x32x1, 6c3x3, relu, avgpool, 16c3x3, relu, avgpool, 120, 84, 10. And resnet8: a stem and three
// stages of one residual block each, 16, 32 and 64 channels, batch-normalised, for pictures of any size and planes.
#include "core/nn/layers/layers.h"
#include "core/nn/models/list.h"
#include "core/nn/models/pictures.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

std::unique_ptr<Task> make_lenet5(const TaskOptions& options, tensor::Heap& heap) {
    return picture_task("lenet5", options, heap, "digits32", [](Build& build, const DataSet&) {
        const Conv2d conv1(build, "conv1", 1, 6, 3), conv2(build, "conv2", 6, 16, 3);
        const Linear fc1(build, "fc1", 576, 120), fc2(build, "fc2", 120, 84), fc3(build, "fc3", 84, 10);
        const auto logits = [=](Pass& pass, Variable x) {
            tensor::Tape& tape = pass.tape;
            x = tensor::relu(tape, conv1(pass, x), "relu1");                       // [B,6,30,30]
            x = tensor::avg_pool2d(tape, x, {2, 2}, "pool1", {.stride = {2, 2}});  // [B,6,15,15]
            x = tensor::relu(tape, conv2(pass, x), "relu2");                       // [B,16,13,13]
            x = tensor::avg_pool2d(tape, x, {2, 2}, "pool2", {.stride = {2, 2}});  // [B,16,6,6]
            x = tensor::reshape(tape, x, {x.shape()[0], 576}, "flatten");          // [B,576]
            x = tensor::relu(tape, fc1(pass, x), "relu3");
            x = tensor::relu(tape, fc2(pass, x), "relu4");
            return fc3(pass, x);
        };
        return Network{.logits = logits, .shape = {1, 32, 32}, .classes = 10};
    });
}

namespace {
struct Block {  // relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x))
    Conv2d conv1, conv2, shortcut;
    BatchNorm2d bn1, bn2;
    std::string name;
    bool projects = false;

    Block(Build& build, const std::string& layer, int64_t inputs, int64_t outputs, int64_t stride)
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
}  // namespace

std::unique_ptr<Task> make_resnet8(const TaskOptions& options, tensor::Heap& heap) {
    return picture_task("resnet8", options, heap, "digits", [](Build& build, const DataSet& data) {
        const Conv2d stem(build, "stem", data.channels, 16, 3, 2, 1, false);
        const BatchNorm2d norm(build, "stem.bn", 16);
        const Block first(build, "layer1", 16, 16, 1), second(build, "layer2", 16, 32, 2), third(build, "layer3", 32, 64, 2);
        const Linear fc(build, "fc", 64, data.classes);
        const auto logits = [=](Pass& pass, Variable x) {
            x = tensor::relu(pass.tape, norm(pass, stem(pass, x)), "stem relu");  // [B,16,14,14] of 28 x 28
            x = third(pass, second(pass, first(pass, x)));                        // [B,64,4,4]
            x = tensor::mean(pass.tape, x, "global pool", {2, 3});                // [B,64]
            return fc(pass, x);
        };
        return Network{.logits = logits, .shape = {data.channels, data.rows, data.columns}, .classes = data.classes};
    });
}

}  // namespace lockstep::nn
