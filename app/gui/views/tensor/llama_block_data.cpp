#include "app/gui/views/tensor/llama_block_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/tensor/op.h"

namespace lockstep::gui {

using nn::GraphNode;

int64_t LlamaBlock::parameters(bool feeds_forward) const {
    int64_t sum = 0;
    for (const BlockPart& part : parts) sum += part.feeds_forward == feeds_forward ? part.parameters : 0;
    return sum;
}
double LlamaBlock::operations() const {
    double sum = 0;
    for (const BlockPart& part : parts) sum += part.operations;
    return sum;
}
double LlamaBlock::cache_bytes() const {
    return 2.0 * 2 * static_cast<double>(shape.layers * shape.kv_heads * shape.head_size());
}

namespace {

std::string grouped(int64_t number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
    return text;
}

}  // namespace

LlamaBlock llama_block(const nn::ModelShape& of, int64_t places) {
    LlamaBlock block{.shape = of, .places = places, .parts = {}};
    nn::ModelShape one = of;  // all layers are alike
    one.layers = 1;
    const auto counted = [&](std::string_view prefix) { return nn::parameters_of(one, prefix); };
    const auto t = static_cast<double>(places), width = static_cast<double>(of.width),
               keys = static_cast<double>(of.kv_heads * of.head_size()), ffn = static_cast<double>(of.ffn);
    constexpr double number = 2;  // bytes
    using Kind = BlockPart::Kind;
    const auto product = [&](std::string title, std::string shapes, double in, double out, double extra, int64_t parameters,
                             bool feeds_forward) {
        block.parts.push_back({Kind::product, std::move(title), std::move(shapes), parameters, 2 * t * in * out,
                               number * (t * in + in * out + t * out + extra), feeds_forward});
    };
    const auto elementwise = [&](std::string title, std::string shapes, double operations, double numbers,
                                 int64_t parameters, bool feeds_forward) {
        block.parts.push_back({Kind::elementwise, std::move(title), std::move(shapes), parameters, operations,
                               number * numbers, feeds_forward});
    };
    const std::string tokens = fmt::format("{} × {}", grouped(places), grouped(of.width));
    elementwise("RMSNorm", tokens, 4 * t * width, 2 * t * width, counted("layers.0.norm1"), false);
    product("Wq, Wk, Wv",
            fmt::format("{} → {} + 2 × {}", grouped(of.width), grouped(of.width), grouped(of.kv_heads * of.head_size())),
            width, width + 2 * keys, 0,
            counted("layers.0.attention.q") + counted("layers.0.attention.k") + counted("layers.0.attention.v"), false);
    elementwise("RoPE: turn q and k", fmt::format("{} + {} heads of {}", of.heads, of.kv_heads, of.head_size()),
                3 * t * (width + keys), 2 * t * (width + keys), 0, false);
    block.parts.push_back({Kind::attention, "Attention, causal half",
                           fmt::format("{} heads of q, {} of k and v", of.heads, of.kv_heads), 0, 2 * t * (t + 1) * width,
                           number * t * (2 * width + 2 * keys), false});
    product("Wo, then + x", fmt::format("{} → {}", grouped(of.width), grouped(of.width)), width, width, t * width,
            counted("layers.0.attention.out"), false);
    elementwise("RMSNorm", tokens, 4 * t * width, 2 * t * width, counted("layers.0.norm2"), true);
    product("Gate and up", fmt::format("{} → {}, twice", grouped(of.width), grouped(of.ffn)), width, 2 * ffn, 0,
            counted("layers.0.mlp.w1") + counted("layers.0.mlp.w3"), true);
    elementwise("silu(gate) · up", fmt::format("{} × {}", grouped(places), grouped(of.ffn)), 5 * t * ffn, 3 * t * ffn, 0,
                true);
    product("Down, then + h", fmt::format("{} → {}", grouped(of.ffn), grouped(of.width)), ffn, width, t * width,
            counted("layers.0.mlp.w2"), true);
    block.parts[1].products = 3, block.parts[4].products = 1, block.parts[6].products = 2, block.parts[8].products = 1;
    block.block_parameters = counted("layers.0.");
    block.table_parameters = of.vocabulary > 0 ? counted("") - block.block_parameters : 0;
    return block;
}

std::optional<RecordedBlock> recorded_block(const nn::StepRecord& step) {
    const GraphNode *attention = nullptr, *gate = nullptr, *norm = nullptr;
    for (const GraphNode& node : step.nodes) {
        if (node.op == "attention") attention = &node;
        if (node.op == "swiglu") gate = &node;
        if (node.op == "rms_norm" && norm == nullptr) norm = &node;
    }
    if (!attention || !gate || !norm || attention->inputs.size() < 2 || attention->shape.size() != 4 || norm->shape.empty())
        return std::nullopt;
    const GraphNode& keys = step.nodes[static_cast<size_t>(attention->inputs[1])];
    const size_t axis = attention->attributes && attention->attributes->mode == 1 ? 2 : 1;
    RecordedBlock found;
    found.shape.name = step.model;
    found.shape.kind = nn::ModelShape::Kind::llama;
    found.shape.layers = 1;
    found.shape.width = norm->shape.back();
    found.shape.heads = attention->shape[axis];
    found.shape.kv_heads = keys.shape[axis];
    found.shape.ffn = gate->shape.back();
    found.shape.vocabulary = 0;
    found.places = attention->shape[3 - axis];
    if (found.shape.head_size() != attention->shape[3]) return std::nullopt;
    return found;
}

double turn_of(int64_t pair, int64_t size, double base, double place) {
    return place * std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(size));
}

std::vector<RopeTurn> rope_turns(const nn::StepRecord& step) {
    std::vector<RopeTurn> turns;
    for (const GraphNode& node : step.nodes) {
        if (node.op != "rope" || node.inputs.empty() || !node.value || !node.attributes || node.shape.empty()) continue;
        const GraphNode& x = step.nodes[static_cast<size_t>(node.inputs.front())];
        const auto size = node.shape.back();
        if (!x.value || size < 2) continue;
        turns.push_back({x.name,
                         node.name,
                         node.id,
                         node.attributes->start,
                         node.attributes->mode == 1,
                         {x.value->begin(), x.value->begin() + size},
                         {node.value->begin(), node.value->begin() + size}});
    }
    return turns;
}

std::vector<RopeMeeting> rope_meetings(const nn::StepRecord& step) {
    const std::vector<RopeTurn> turns = rope_turns(step);
    const auto turn_at = [&](int node) {
        return std::find_if(turns.begin(), turns.end(), [&](const RopeTurn& turn) { return turn.node == node; });
    };
    std::vector<RopeMeeting> meetings;
    for (const GraphNode& node : step.nodes) {
        if (node.op != "mul" || node.inputs.size() != 2) continue;
        const auto query = turn_at(node.inputs[0]), key = turn_at(node.inputs[1]);
        if (query == turns.end() || key == turns.end() || query->in.size() != key->in.size()) continue;
        for (const GraphNode& sum : step.nodes)
            if (sum.value && sum.value->size() == 1 && sum.inputs.size() == 1 && sum.inputs[0] == node.id) {
                meetings.push_back({sum.name, sum.id, *query, *key, static_cast<double>(sum.value->front())});
                break;
            }
    }
    return meetings;
}

double rope_base(const nn::StepRecord& step, const RopeTurn& turn) {
    const GraphNode& node = step.nodes[static_cast<size_t>(turn.node)];
    if (node.inputs.size() < 2) return 0;
    const GraphNode& table = step.nodes[static_cast<size_t>(node.inputs[1])];
    const auto size = static_cast<size_t>(turn.in.size());
    // Of place 1, the second pair: its sine is that of base^(-2 / size).
    if (!table.value || table.value->size() < 2 * size || size < 4) return 0;
    const double angle =
        std::atan2(static_cast<double>((*table.value)[size + 3]), static_cast<double>((*table.value)[size + 2]));
    return angle > 0 ? std::pow(angle, -static_cast<double>(size) / 2) : 0;
}

}  // namespace lockstep::gui
