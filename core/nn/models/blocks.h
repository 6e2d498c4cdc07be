// A model as a list of blocks: what the Trainer runs one after another on one rank, what the stages of a pipeline are runs
// of, and what plans measure on `meta`. One text serves them all: blocks ask Build::sharding how they are split, and one
// rank is the answer that leaves everything whole (core/nn/layers/sharding.h).
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/layers/layers.h"

namespace lockstep::nn {

struct ModelShape {    // one row a model
    std::string name;  // "llama", "llama3-405b", "mlp", "lenet5"
    enum class Kind : uint8_t { perceptron, convolutional, gpt, llama } kind = Kind::llama;
    int64_t layers = 4, width = 128, heads = 4, kv_heads = 4, ffn = 512, vocabulary = 96, context = 128;
    std::vector<int64_t> widths = {};  // perceptron: input first
    // convolutional: channels, rows and columns, as the model's own data has them; of any_picture as the data has them
    tensor::Shape picture = {};
    bool any_picture = false;
    int64_t classes = 10;
    bool tied_head = false;  // the last product takes the embedding's weight
    double rope_base = 10000;
    bool fused_attention = true;  // one kernel; otherwise products and a softmax with the matrix of scores between them
    double dropout = 0;           // GPT-2's places: of the embedding, of attention's weights, behind a layer's projections

    bool decodes() const { return kind == Kind::gpt || kind == Kind::llama; }
    int64_t head_size() const { return width / heads; }
};

std::span<const ModelShape> model_shapes();
const ModelShape* find_shape(std::string_view name);  // null: there is none
// GPT-3's form with learnt positions and a tied head, without a fused attention: what Megatron-LM's table was measured with.
ModelShape megatron_shape(const std::string& name, int64_t layers, int64_t width, int64_t heads, int64_t vocabulary,
                          int64_t context);

struct Block {
    std::string name;                   // "layers.3", "tokens", "head"
    std::vector<std::string> prefixes;  // of the parameters that it owns: "layers.3."
    // The first takes tokens i32 [B,T] or pictures [B, ...], the last gives logits [B T, vocabulary] or [B, classes].
    std::function<tensor::Variable(Pass& pass, const tensor::Variable& x)> forward;
    std::function<tensor::Shape(const tensor::Shape& input)> output;  // of an input of the model of this shape
};

struct Model {
    ModelShape shape;
    std::vector<Block> blocks;

    Model() = default;
    Model(Build& build, const ModelShape& shape);  // throws Failure
    tensor::Variable operator()(Pass& pass, tensor::Variable x) const;
};

// Elements of all parameters whose names begin so, of the whole model; counted from the blocks' shapes.
int64_t parameters_of(const ModelShape& shape, std::string_view prefix = "");

// Between blocks.cpp and the families of models.
std::vector<Block> transformer_blocks(Build& build, const ModelShape& shape);
std::vector<Block> perceptron_blocks(Build& build, const ModelShape& shape);
std::vector<Block> convolutional_blocks(Build& build, const ModelShape& shape);

}  // namespace lockstep::nn
