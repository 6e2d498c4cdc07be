// Character language models: GPT-style and Llama-style decoders, their task, and text sampled from them with a cache of keys
// and values.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/nn/data/text.h"
#include "core/nn/layers/layers.h"
#include "core/nn/train/task.h"

namespace lockstep::nn {

struct LanguageShape {
    int64_t layers = 4, width = 128, heads = 4, kv_heads = 4, context = 128, vocabulary = 96;
    int64_t ffn = 512;   // width of the inner layer
    double dropout = 0;  // GPT-2's places: of the embedding, of attention's weights, behind both projections of a layer
    bool llama = false;  // RMSNorm, rotary positions, SwiGLU, no biases, a head of its own; else GPT-2's
};

class LanguageModel {
  public:
    LanguageModel(Build& build, const LanguageShape& shape);
    // tokens i32 [B,T] -> logits [B T, vocabulary]. caches: one a layer, or none; tokens then follow what they hold.
    tensor::Variable operator()(Pass& pass, const tensor::Variable& tokens, std::vector<Cache>* caches = nullptr) const;
    const LanguageShape& shape() const { return shape_; }

  private:
    struct Layer {
        LayerNorm layer_norm1, layer_norm2;
        RMSNorm rms_norm1, rms_norm2;
        SelfAttention attention;
        Linear up, down, gate;
    };
    LanguageShape shape_;
    Embedding tokens_, positions_;
    std::vector<Layer> layers_;
    LayerNorm layer_norm_;
    RMSNorm rms_norm_;
    Linear head_;
    tensor::Tensor rope_;
};

struct Sampling {
    double temperature = 1;  // 0: always the likeliest
    int64_t top_k = 0;       // 0: all
    uint64_t seed = 1;
};
// `count` tokens that follow the prompt, which must not be empty; each_token hears of every one, false stops. One place a
// step, with a cache; beyond the context the text starts anew from its last half.
std::vector<int32_t> generate(const LanguageModel& model, tensor::Heap& heap, std::vector<int32_t> prompt, int64_t count,
                              const Sampling& sampling, const std::function<bool(int32_t)>& each_token = {});

}  // namespace lockstep::nn
