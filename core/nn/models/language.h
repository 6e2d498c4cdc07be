// Text sampled from a language model (transformer.cpp) with a cache of keys and values.
#pragma once
#include <functional>
#include <vector>

#include "core/nn/models/blocks.h"

namespace lockstep::nn {

struct Sampling {
    double temperature = 1;  // 0: always the likeliest
    int64_t top_k = 0;       // 0: all
    uint64_t seed = 1;
};
// `count` tokens that follow the prompt, which must not be empty; each_token hears of every one, false stops. One place a
// step, with a cache; beyond the context the text starts anew from its last half.
std::vector<int32_t> generate(const Model& model, tensor::Heap& heap, std::vector<int32_t> prompt, int64_t count,
                              const Sampling& sampling, const std::function<bool(int32_t)>& each_token = {});

}  // namespace lockstep::nn
