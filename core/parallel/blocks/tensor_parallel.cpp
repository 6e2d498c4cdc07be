#include "core/parallel/blocks/tensor_parallel.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"

namespace lockstep::parallel {

using tensor::Tensor;
using tensor::Variable;

namespace {
// Part `split` of values laid out as `full`.
std::vector<double> part_of_values(const std::vector<double>& values, const tensor::Shape& full, const Split& split) {
    int64_t outer = 1, inner = 1;
    const auto axis = static_cast<size_t>(split.axis);
    for (size_t i = 0; i < full.size(); ++i)
        if (i != axis) (i < axis ? outer : inner) *= full[i];
    const int64_t run = full[axis] / split.parts * inner, row = full[axis] * inner;
    std::vector<double> kept;
    kept.reserve(static_cast<size_t>(outer * run));
    for (int64_t o = 0; o < outer; ++o) {
        const auto first = values.begin() + o * row + split.part * run;
        kept.insert(kept.end(), first, first + run);
    }
    return kept;
}
}  // namespace

nn::Parameter* ShardedBuild::parameter(const std::string& name, const tensor::Shape& full, nn::Init init,
                                       const Split& split) {
    const bool meta = rank.device.name() == "meta";
    std::vector<double> values;
    if (!meta && (held || init.kind != nn::Init::Kind::constant)) {
        values.assign(static_cast<size_t>(tensor::count_of(full)), init.value);
        if (init.kind == nn::Init::Kind::uniform)
            for (double& value : values) value = rng.uniform(-init.value, init.value);
        if (init.kind == nn::Init::Kind::normal)
            for (double& value : values) value = init.value * rng.normal();
    }
    if (!held) return nullptr;
    tensor::Shape shape = full;
    if (split.axis >= 0) {
        int64_t& extent = shape[static_cast<size_t>(split.axis)];
        if (extent % split.parts)
            throw Failure(fmt::format("{}: axis {} of {} does not divide into {} parts", name, split.axis,
                                      tensor::text_of(full), split.parts));
        extent /= split.parts;
        if (!meta) values = part_of_values(values, full, split);
    }
    const auto purpose = tensor::Purpose::parameter;
    nn::Parameter made{.name = name,
                       .value = meta ? tensor::make_tensor(rank.heap, shape, name, purpose, dtype)
                                     : tensor::tensor_from(rank.heap, shape, values, name, purpose, dtype),
                       .compute = activations()};
    nn::Parameter* parameter = model.list.add(std::move(made));
    model.shards.push_back({parameter, full, split.axis, split.parts, split.part, split.add_over, split.counts});
    return parameter;
}

nn::Linear column_linear(ShardedBuild& build, const std::string& name, int64_t inputs, int64_t outputs, bool with_bias) {
    nn::Linear linear;
    linear.name = name;
    const nn::Init init = nn::Init::fan_in(inputs);
    const Split split = build.tp() > 1 ? build.cut(0) : build.whole();
    linear.weight = build.parameter(name + ".weight", {outputs, inputs}, init, split);
    if (with_bias) linear.bias = build.parameter(name + ".bias", {outputs}, init, split);
    return linear;
}

nn::Linear whole_linear(ShardedBuild& build, const std::string& name, int64_t inputs, int64_t outputs, bool with_bias) {
    nn::Linear linear;
    linear.name = name;
    const nn::Init init = nn::Init::fan_in(inputs);
    linear.weight = build.parameter(name + ".weight", {outputs, inputs}, init, build.whole());
    if (with_bias) linear.bias = build.parameter(name + ".bias", {outputs}, init, build.whole());
    return linear;
}

nn::LayerNorm layer_norm_of(ShardedBuild& build, const std::string& name, int64_t width, bool parts_of_places) {
    nn::LayerNorm norm;
    norm.name = name;
    const Split split = build.whole_of_parts(parts_of_places);
    norm.weight = build.parameter(name + ".weight", {width}, nn::Init::constant(1), split);
    norm.bias = build.parameter(name + ".bias", {width}, nn::Init::constant(0), split);
    return norm;
}

nn::RMSNorm rms_norm_of(ShardedBuild& build, const std::string& name, int64_t width, bool parts_of_places) {
    nn::RMSNorm norm;
    norm.name = name;
    norm.weight = build.parameter(name + ".weight", {width}, nn::Init::constant(1), build.whole_of_parts(parts_of_places));
    return norm;
}

Variable TensorCrossing::into(nn::Pass& pass, const Variable& x, const std::string& name) const {
    if (!tp) return x;
    return sequence ? gather_parts(pass.tape, x, 1, *tp, name + " gather_parts")
                    : spread_copy(pass.tape, x, *tp, name + " spread_copy");
}

Variable TensorCrossing::out_of(nn::Pass& pass, const Variable& x, const std::string& name) const {
    if (!tp) return x;
    return sequence ? sum_to_parts(pass.tape, x, 1, *tp, name + " sum_to_parts")
                    : sum_over(pass.tape, x, *tp, name + " sum_over");
}

void TensorCrossing::keep_part(nn::Pass& pass, const Variable& x, const Variable& gathered, const Variable& last,
                               const std::string& name) const {
    tensor::Tape& tape = pass.tape;
    if (!tp || !sequence || !tape.recording() || !tape.nodes()[size_t(last.node)].requires_grad) return;
    struct Kept {
        Tensor part;
        std::vector<tensor::Tape::SavedPlace> places;
    };
    const auto kept = std::make_shared<Kept>();
    kept->places = tape.let_go(*gathered.value.storage, gathered.node);
    kept->part = x.value;
    tape.on_gradient(last, [kept, &tape, crossing = tp, what = name + " gathered again"](const Tensor&) {
        tape.bring_back(kept->places, gathered_again(tape, kept->part, 1, *crossing, what).storage);
        kept->part = {};
        return Tensor{};
    });
}

RowParallelLinear::RowParallelLinear(ShardedBuild& build, const std::string& name, int64_t inputs, int64_t outputs,
                                     bool with_bias, const TensorCrossing& how)
    : crossing(how) {
    product.name = name;
    const nn::Init init = nn::Init::fan_in(inputs);
    product.weight =
        build.parameter(name + ".weight", {outputs, inputs}, init, build.tp() > 1 ? build.cut(1) : build.whole());
    if (with_bias) bias = build.parameter(name + ".bias", {outputs}, init, build.whole_of_parts(how.sequence));
}

Variable RowParallelLinear::operator()(nn::Pass& pass, const Variable& x) const {
    Variable y = crossing.out_of(pass, product(pass, x), product.name);
    if (bias) y = tensor::add_bias(pass.tape, y, pass(bias), product.name + " add");
    return y;
}

LocalLabels local_labels(tensor::Heap& heap, const Tensor& labels, int64_t classes, int64_t parts, int64_t part, DType type,
                         const std::string& name) {
    const int64_t count = labels.count(), here = classes / parts, first = part * here;
    if (heap.device().name() == "meta") {
        const auto make = [&](DType of) { return tensor::make_tensor(heap, {count}, name, tensor::Purpose::data, of); };
        return {make(DType::i32), make(DType::i32), make(type)};
    }
    std::vector<int32_t> row(static_cast<size_t>(count)), label(row.size());
    std::vector<double> mine(row.size());
    heap.device().copy_out(row.data(), labels.pointer(), row.size() * sizeof(int32_t));
    for (size_t i = 0; i < row.size(); ++i) {
        const int64_t given = row[i];
        if (given < 0 || given >= classes)
            throw Failure(fmt::format("{}: {} is outside of the {} rows of the vocabulary", name, given, classes));
        const bool inside = given >= first && given < first + here;
        row[i] = inside ? static_cast<int32_t>(given - first) : 0;
        label[i] = inside ? row[i] : -1;
        mine[i] = inside ? 1 : 0;
    }
    const Tensor others = tensor::make_tensor(heap, {count}, {name, "here"}, tensor::Purpose::data, DType::i32);
    heap.device().copy_in(others.pointer(), label.data(), label.size() * sizeof(int32_t));
    return {tensor::labels_from(heap, row, name), others,
            tensor::tensor_from(heap, {count}, mine, name + " mine", tensor::Purpose::data, type)};
}

VocabularyParallelEmbedding::VocabularyParallelEmbedding(ShardedBuild& build, const std::string& layer, int64_t words,
                                                         int64_t width, double deviation, const TensorCrossing& how)
    : name(layer), vocabulary(words), crossing(how) {
    weight = build.parameter(layer + ".weight", {vocabulary, width}, nn::Init::normal(deviation),
                             build.tp() > 1 ? build.cut(0) : build.whole());
}

Variable VocabularyParallelEmbedding::operator()(nn::Pass& pass, const Variable& tokens) const {
    tensor::Tape& tape = pass.tape;
    const Variable table = pass(weight);
    if (!crossing.tp) return tensor::embedding(tape, table, tokens, name + " embedding");
    const comm::Communicator& tp = *crossing.tp->group;
    const LocalLabels local = local_labels(tape.heap(), tokens.value, vocabulary, tp.size(), tp.rank(), table.dtype(), name);
    tensor::Shape places = tokens.shape();
    const Variable rows = tape.label(tensor::reshaped(local.row, places), name + " here");
    places.push_back(1);
    const Variable mine = tape.input(tensor::reshaped(local.mine, places), name + " mine");
    const Variable found = tensor::embedding(tape, table, rows, name + " embedding");
    return crossing.out_of(pass, tensor::mul(tape, found, mine, name + " masked"), name);
}

}  // namespace lockstep::parallel
