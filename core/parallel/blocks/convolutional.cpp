// lenet5 and resnet8 as blocks, as core/nn/models/lenet5.cpp makes them: over dp and pp, never cut themselves. Batch norm
// takes the statistics of this rank's pictures or, synchronised, those of all dp ranks: means and variances are all-reduced
// forward, and backward the two sums that dx needs.
#include <fmt/format.h>

#include "core/parallel/blocks/models.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/layer.h"

namespace lockstep::parallel {

using tensor::BackwardCall;
using tensor::elementwise;
using tensor::ForwardCall;
using tensor::scalar_argument;
using tensor::size_argument;
using tensor::Tensor;
using tensor::Variable;

namespace {
constexpr double batch_norm_epsilon = 1e-5, batch_norm_momentum = 0.1;

tensor::Arguments picture_sizes(tensor::Arguments arguments, const tensor::Shape& x) {  // batch, channels, inner, groups
    for (const int64_t value : {x[0], x[1], count_of(x) / (x[0] * x[1]), int64_t{1}})
        arguments.push_back(size_argument(value));
    return arguments;
}

template <class Call>
void mean_over_ranks(Call& call, const Crossing& dp, const Tensor& sums, const auto& launch) {
    all_reduce(*dp.group, call.tape.heap().device(), sums);
    tensor::Launch scale =
        elementwise("scale_add", sums.count(),
                    {sums.pointer(), sums.pointer(), size_argument(sums.count()),
                     scalar_argument(1.0 / dp.group->size(), sums.dtype), scalar_argument(0, sums.dtype)});
    scale.type = sums.dtype;
    launch(scale);
}

// The ranks' parts are equal: mean = mean of means, variance = mean of (variance + (mean here - mean)^2).
void synchronised_forward(ForwardCall& call) {
    const Crossing& dp = *static_cast<const Crossing*>(call.attributes.context);
    dp.rank->forward_took(call.tape);
    const Tensor &x = call.inputs[0], &weight = call.inputs[1], &bias = call.inputs[2];
    const int64_t channels = x.shape[1], here = x.count() / channels;
    const DType sums = tensor::sum_type(call.dtype);
    const auto launch = [&](const tensor::Launch& one) { call.launch(one, "statistics"); };
    const auto each = [&](std::string_view kernel, const Tensor& a, const Tensor& b, const Tensor& y) {
        tensor::Launch one = elementwise(kernel, channels, {a.pointer(), b.pointer(), y.pointer(), size_argument(channels)});
        one.type = sums;
        launch(one);
    };
    const Tensor mean = call.temporary({channels}, "mean", sums), variance = call.temporary({channels}, "variance", sums),
                 apart = call.temporary({channels}, "apart", sums);
    launch(tensor::block_each("batch_norm_statistics", channels,
                              picture_sizes({x.pointer(), mean.pointer(), variance.pointer()}, x.shape)));
    tensor::Launch copy = elementwise(
        "scale_add", channels,
        {mean.pointer(), apart.pointer(), size_argument(channels), scalar_argument(1, sums), scalar_argument(0, sums)});
    copy.type = sums;
    launch(copy);
    mean_over_ranks(call, dp, mean, launch);
    each("sub", apart, mean, apart);
    each("mul", apart, apart, apart);
    each("add", variance, apart, variance);
    mean_over_ranks(call, dp, variance, launch);
    call.launch(elementwise("batch_norm_running", channels,
                            {mean.pointer(), variance.pointer(), call.inputs[3].pointer(), call.inputs[4].pointer(),
                             size_argument(channels), size_argument(1), size_argument(here * dp.group->size()),
                             scalar_argument(batch_norm_momentum, call.dtype)}),
                "running");
    tensor::Arguments arguments = picture_sizes({x.pointer(), mean.pointer(), variance.pointer(), weight.pointer(),
                                                 bias.pointer(), call.output.pointer(), int32_t{2}},
                                                x.shape);
    arguments.push_back(scalar_argument(batch_norm_epsilon, call.dtype));
    call.launch(elementwise("batch_norm", x.count(), arguments));
    call.save_input(0);
    call.save("mean", mean);
    call.save("variance", variance);
    call.save_input(1);
}

void synchronised_backward(BackwardCall& call) {
    const Crossing& dp = *static_cast<const Crossing*>(call.attributes.context);
    const Tensor &x = call.kept(0), &mean = call.kept(1), &variance = call.kept(2), &weight = call.kept(3);
    const Tensor& dy = call.upstream;
    const int64_t channels = x.shape[1];
    const DType sums = tensor::sum_type(call.dtype);
    const auto launch = [&](const tensor::Launch& one) { call.launch(0, one); };
    const Tensor both = call.temporary({2, channels}, "sums", sums);
    const Tensor dy_sum = sliced(both, 0, 0, 1), along = sliced(both, 0, 1, 2);
    tensor::Arguments arguments = picture_sizes(
        {x.pointer(), dy.pointer(), mean.pointer(), variance.pointer(), dy_sum.pointer(), along.pointer()}, x.shape);
    arguments.push_back(scalar_argument(batch_norm_epsilon, call.dtype));
    launch(tensor::block_each("batch_norm_sums", channels, arguments));
    if (call.wants(1) || call.wants(2)) {
        const Tensor &dweight = call.allocate(1), &dbias = call.allocate(2);
        call.launch(1, elementwise("batch_norm_weight_grad", channels,
                                   {dy_sum.pointer(), along.pointer(), dweight.pointer(), dbias.pointer(),
                                    size_argument(channels), size_argument(1)}));
        call.ready[2] = call.ready[1];
    }
    if (!call.wants(0)) return;
    mean_over_ranks(call, dp, both, launch);
    const Tensor& dx = call.allocate(0);
    arguments = picture_sizes({x.pointer(), dy.pointer(), mean.pointer(), variance.pointer(), weight.pointer(),
                               dy_sum.pointer(), along.pointer(), dx.pointer(), int32_t{2}, int32_t{1}},
                              x.shape);
    arguments.push_back(scalar_argument(batch_norm_epsilon, call.dtype));
    launch(elementwise("batch_norm_backward", dx.count(), arguments));
}

const tensor::OpRow synchronised_row = {
    .name = "batch_norm_synchronised",
    .inputs = 5,
    .constant_inputs = 1u << 3 | 1u << 4,
    .gradient_names = {"dx", "dW", "db"},
    .kernels = {"batch_norm_statistics", "scale_add", "sub", "mul", "add", "batch_norm_running", "batch_norm",
                "batch_norm_sums", "batch_norm_weight_grad", "batch_norm_backward"},
    .shape = [](tensor::Types in, const tensor::Attributes&) { return in[0].shape; },
    .forward = synchronised_forward,
    .backward = synchronised_backward,
    .cost =
        [](tensor::Types in, const tensor::Attributes&) {
            const double n = double(in[0].count()), bytes = in[0].bytes();  // as batch_norm's, the pictures alone
            return tensor::OpCost{{8 * n, 3 * bytes}, {13 * n, 5 * bytes}};
        },
};

struct PictureLayers {  // layers of one block, by name
    ShardedBuild& build;

    nn::Conv2d conv(const std::string& name, int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride = 1,
                    int64_t padding = 0, bool with_bias = true) {
        nn::Conv2d layer;
        layer.name = name, layer.stride = stride, layer.padding = padding;
        const nn::Init init = nn::Init::fan_in(inputs * kernel * kernel);
        layer.weight = build.parameter(name + ".weight", {outputs, inputs, kernel, kernel}, init);
        if (with_bias) layer.bias = build.parameter(name + ".bias", {outputs}, init);
        return layer;
    }
    nn::BatchNorm2d norm(const std::string& name, int64_t channels) {
        nn::BatchNorm2d layer;
        layer.name = name;
        layer.weight = build.parameter(name + ".weight", {channels}, nn::Init::constant(1));
        layer.bias = build.parameter(name + ".bias", {channels}, nn::Init::constant(0));
        const auto statistics = [&](const std::string& what, double value) -> nn::Buffer* {
            if (!build.held) return nullptr;
            const std::vector<double> values(static_cast<size_t>(channels), value);
            return build.model.list.add(nn::Buffer{what, tensor::tensor_from(build.rank.heap, {channels}, values, what,
                                                                             tensor::Purpose::parameter, build.dtype)});
        };
        layer.running_mean = statistics(name + ".running_mean", 0);
        layer.running_variance = statistics(name + ".running_var", 1);
        return layer;
    }
};

struct PictureNorm {  // over this rank's pictures, or over all dp ranks'
    nn::BatchNorm2d layer;
    std::shared_ptr<const Crossing> dp;

    Variable operator()(nn::Pass& pass, const Variable& x) const {
        if (!dp || !pass.training) return layer(pass, x);
        const DType given = x.dtype(), full = layer.weight->value.dtype;
        const Variable wide =
            given == full ? x : tensor::cast(pass.tape, x, full, fmt::format("{} {}", layer.name, name_of(full)));
        const Variable inputs[] = {wide, pass.leaf(layer.weight), pass.leaf(layer.bias), pass(layer.running_mean),
                                   pass(layer.running_variance)};
        const Variable y = pass.tape.apply(synchronised_row, inputs, layer.name + " batch_norm", {.context = dp.get()});
        return given == full ? y : tensor::cast(pass.tape, y, given, fmt::format("{} {}", layer.name, name_of(given)));
    }
};

void add_lenet5(ShardedBuild& build, const std::vector<bool>& held, const auto& add) {
    PictureLayers pictures{build};
    const tensor::Window two{.stride = {2, 2}};
    build.held = held[0];
    const nn::Conv2d conv1 = pictures.conv("conv1", 1, 6, 3);
    add("conv1", {6, 15, 15}, [=](nn::Pass& pass, Variable x) {
        x = tensor::relu(pass.tape, conv1(pass, x), "relu1");  // [B,6,30,30]
        return tensor::avg_pool2d(pass.tape, x, {2, 2}, "pool1", two);
    });
    build.held = held[1];
    const nn::Conv2d conv2 = pictures.conv("conv2", 6, 16, 3);
    add("conv2", {576}, [=](nn::Pass& pass, Variable x) {
        x = tensor::relu(pass.tape, conv2(pass, x), "relu2");        // [B,16,13,13]
        x = tensor::avg_pool2d(pass.tape, x, {2, 2}, "pool2", two);  // [B,16,6,6]
        return tensor::reshape(pass.tape, x, {x.shape()[0], 576}, "flatten");
    });
    build.held = held[2];
    const nn::Linear fc1 = whole_linear(build, "fc1", 576, 120, true);
    add("fc1", {120}, [=](nn::Pass& pass, Variable x) { return tensor::relu(pass.tape, fc1(pass, x), "relu3"); });
    build.held = held[3];
    const nn::Linear fc2 = whole_linear(build, "fc2", 120, 84, true);
    add("fc2", {84}, [=](nn::Pass& pass, Variable x) { return tensor::relu(pass.tape, fc2(pass, x), "relu4"); });
    build.held = held[4];
    const nn::Linear fc3 = whole_linear(build, "fc3", 84, 10, true);
    add("fc3", {}, [=](nn::Pass& pass, Variable x) { return fc3(pass, x); });
}

void add_resnet8(ShardedBuild& build, const std::vector<bool>& held, const auto& add) {
    PictureLayers pictures{build};
    std::shared_ptr<const Crossing> dp;
    if (build.rank.plan.sync_batch_norm && build.rank.dp)
        dp = std::make_shared<const Crossing>(Crossing{&build.rank, build.rank.dp.get()});
    build.held = held[0];
    const nn::Conv2d stem = pictures.conv("stem", 1, 16, 3, 2, 1, false);
    const PictureNorm norm{pictures.norm("stem.bn", 16), dp};
    add("stem", {16, 14, 14},
        [=](nn::Pass& pass, Variable x) { return tensor::relu(pass.tape, norm(pass, stem(pass, x)), "stem relu"); });
    for (size_t i = 1; i <= 3; ++i) {
        const int64_t outputs = 8 << i, inputs = i == 1 ? 16 : outputs / 2, stride = i == 1 ? 1 : 2;
        const std::string name = fmt::format("layer{}", i);
        build.held = held[i];
        const nn::Conv2d conv1 = pictures.conv(name + ".conv1", inputs, outputs, 3, stride, 1, false),
                         conv2 = pictures.conv(name + ".conv2", outputs, outputs, 3, 1, 1, false);
        const PictureNorm bn1{pictures.norm(name + ".bn1", outputs), dp}, bn2{pictures.norm(name + ".bn2", outputs), dp};
        const bool projects = inputs != outputs;
        const nn::Conv2d shortcut =
            projects ? pictures.conv(name + ".shortcut", inputs, outputs, 1, stride, 0) : nn::Conv2d{};
        const int64_t side = 14 / (i == 1 ? 1 : i == 2 ? 2 : 3);  // 14, 7, 4
        add(name, {outputs, side, side}, [=](nn::Pass& pass, const Variable& x) {
            Variable y = tensor::relu(pass.tape, bn1(pass, conv1(pass, x)), name + " relu1");
            y = bn2(pass, conv2(pass, y));
            y = tensor::add(pass.tape, y, projects ? shortcut(pass, x) : x, name + " add");
            return tensor::relu(pass.tape, y, name + " relu2");
        });
    }
    build.held = held[4];
    const nn::Linear fc = whole_linear(build, "fc", 64, 10, true);
    add("fc", {}, [=](nn::Pass& pass, Variable x) { return fc(pass, tensor::mean(pass.tape, x, "global pool", {2, 3})); });
}
}  // namespace

void add_convolutional(ShardedBuild& build, const std::vector<bool>& held) {
    Rank& rank = build.rank;
    std::vector<Block>& blocks = build.model.blocks;
    // `inside`: without the batch; none: the block ends in logits, and so in the loss.
    const auto add = [&](const std::string& name, const tensor::Shape& inside, const auto& layers) {
        const bool last = inside.empty();
        const DType full = build.dtype;
        const auto forward = [=](nn::Pass& pass, const Variable& given, const MicroBatch& batch) {
            const Variable x = given.node >= 0 ? given : pass.tape.input(batch.input, "x");
            const Variable y = layers(pass, x);
            if (!last) return y;
            const Variable logits = nn::in_full(pass, y, full);
            const Variable loss =
                tensor::softmax_cross_entropy(pass.tape, logits, pass.tape.label(batch.target, "labels"), "loss");
            return share_of_loss(pass, loss, logits.shape()[0], batch);
        };
        const auto output = [=, type = build.activations()](const MicroBatch& batch) {
            if (last) return tensor::TensorType{{}, full};
            tensor::Shape extents = {batch.input.shape[0]};
            for (const int64_t extent : inside) extents.push_back(extent);
            return tensor::TensorType{extents, type};
        };
        blocks.push_back({name, {name + "."}, build.held ? timed(rank, forward) : BlockForward{}, output});
    };
    if (build.model.shape.name == "lenet5")
        add_lenet5(build, held, add);
    else
        add_resnet8(build, held, add);
}

}  // namespace lockstep::parallel
