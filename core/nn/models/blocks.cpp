// The table of models that are lists of blocks.
#include "core/nn/models/blocks.h"

#include "core/device/device.h"

namespace lockstep::nn {

static ModelShape llama3_shape(const char* name, int64_t layers, int64_t width, int64_t heads, int64_t ffn) {
    return {.name = name,  // Llama 3 herd of models, table 3: 8 heads of keys, 128,256 tokens, sequences of 8,192
            .kind = ModelShape::Kind::llama,
            .layers = layers,
            .width = width,
            .heads = heads,
            .kv_heads = 8,
            .ffn = ffn,
            .vocabulary = 128256,
            .context = 8192,
            .rope_base = 500000};
}

std::span<const ModelShape> model_shapes() {
    static const std::vector<ModelShape> table = {
        {.name = "gpt", .kind = ModelShape::Kind::gpt, .kv_heads = 4, .ffn = 512, .tied_head = true},
        {.name = "llama", .kind = ModelShape::Kind::llama, .kv_heads = 2, .ffn = 352},
        llama3_shape("llama3-8b", 32, 4096, 32, 14336),
        llama3_shape("llama3-70b", 80, 8192, 64, 28672),
        llama3_shape("llama3-405b", 126, 16384, 128, 53248),
        {.name = "mlp", .kind = ModelShape::Kind::perceptron, .widths = {784, 128, 10}},
        {.name = "mlp512", .kind = ModelShape::Kind::perceptron, .widths = {784, 512, 512, 10}},
        {.name = "lenet5", .kind = ModelShape::Kind::convolutional, .picture = {1, 32, 32}},
        {.name = "resnet8", .kind = ModelShape::Kind::convolutional, .picture = {1, 28, 28}, .any_picture = true},
    };
    return table;
}

const ModelShape* find_shape(std::string_view name) {
    for (const ModelShape& shape : model_shapes())
        if (shape.name == name) return &shape;
    return nullptr;
}

ModelShape megatron_shape(const std::string& name, int64_t layers, int64_t width, int64_t heads, int64_t vocabulary,
                          int64_t context) {
    return {.name = name,
            .kind = ModelShape::Kind::gpt,
            .layers = layers,
            .width = width,
            .heads = heads,
            .kv_heads = heads,
            .ffn = 4 * width,
            .vocabulary = vocabulary,
            .context = context,
            .tied_head = true,
            .fused_attention = false};
}

Model::Model(Build& build, const ModelShape& what)
    : shape(what),
      blocks(what.decodes()                              ? transformer_blocks(build, what)
             : what.kind == ModelShape::Kind::perceptron ? perceptron_blocks(build, what)
                                                         : convolutional_blocks(build, what)) {}

tensor::Variable Model::operator()(Pass& pass, tensor::Variable x) const {
    for (const Block& block : blocks) x = block.forward(pass, x);
    return x;
}

int64_t parameters_of(const ModelShape& shape, std::string_view prefix) {
    struct HoldsNothing final : Sharding {  // shapes alone: a model of any size is counted
        bool holds(size_t) const override { return false; }
    };
    const HoldsNothing nothing;
    const auto meta = device::open_device("meta").value();
    tensor::Heap heap(*meta);
    Rng rng(1);
    ParameterList list;
    Build build{heap, rng, list};
    build.sharding = &nothing;
    build.held = false;
    int64_t sum = 0;
    build.asked = [&](const std::string& name, const tensor::Shape& full) {
        const bool in_layers = name.starts_with("layers.") && shape.decodes() && prefix.empty();
        if (name.starts_with(prefix)) sum += tensor::count_of(full) * (in_layers ? shape.layers : 1);
    };
    ModelShape one = shape;  // layers are alike: one stands for all of them
    if (shape.decodes()) one.layers = std::min<int64_t>(1, shape.layers);
    const Model model(build, one);
    return sum;
}

}  // namespace lockstep::nn
