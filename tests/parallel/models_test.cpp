// Models as blocks: with a plan of 1s they are the serial models, bit for bit; stages, shapes and what refuses a plan.
#include "core/nn/models/models.h"

#include "core/nn/models/language.h"
#include "core/parallel/blocks/recompute.h"
#include "core/tensor/ops.h"
#include "tests/parallel/support.h"

namespace parallel_models_test {

using Catch::Matchers::Contains;
using namespace parallel_test;

namespace {
ModelShape tiny(ModelShape::Kind kind) {
    const bool llama = kind == ModelShape::Kind::llama;
    return {.name = llama ? "tiny llama" : "tiny gpt",
            .kind = kind,
            .layers = 2,
            .width = 16,
            .heads = 4,
            .kv_heads = llama ? 2 : 4,
            .ffn = 24,
            .vocabulary = 16,
            .context = 8,
            .tied_head = !llama};
}

Serial serial_language(const ModelShape& shape, const Tokens& tokens, uint64_t seed, DType dtype,
                       std::optional<DType> compute = {}) {
    const auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    nn::ParameterList list;
    Rng rng(seed);
    nn::Build build{heap, rng, list, dtype, compute};
    const nn::Model model(build, shape);
    tensor::Tape tape(heap);
    nn::Pass pass{tape};
    const tensor::Tensor ids =
        tensor::reshaped(tensor::labels_from(heap, tokens.input, "x"), {tokens.batch, tokens.context});
    const tensor::Variable logits = nn::in_full(pass, model(pass, tape.label(ids, "tokens")), dtype);
    const tensor::Variable loss = tensor::softmax_cross_entropy(
        tape, logits, tape.label(tensor::labels_from(heap, tokens.target, "y"), "next"), "loss");
    tape.backward(loss);
    Serial serial{tensor::values_of(heap, loss.value)[0], {}, {}};
    for (const nn::Parameter& parameter : list.parameters()) {
        serial.values[parameter.name] = tensor::values_of(heap, parameter.value);
        serial.gradients[parameter.name] = tape.gradient_values(parameter.node);
    }
    return serial;
}

// What a plan of 1s does with a picture model and one batch of its own data, against the serial task.
void check_pictures(const std::string& name) {
    const auto device = device::open_device("host").value();
    tensor::Heap heap(*device);
    const auto task = nn::model_named(name).make({.batch = 8, .seed = 5}, heap);
    nn::Batch batch;
    task->make_batch(0, batch);
    tensor::Tape tape(heap);
    nn::Pass pass{tape};
    const tensor::Variable loss = task->forward(pass, batch, 0).loss;
    tape.backward(loss);
    run_ranks({}, [&](Rank& rank) {
        const ModelShape& shape = shape_named(name);
        const auto model = make_model(shape, rank.plan, rank, {{0, count_blocks(shape)}}, 5, DType::f32);
        CHECK(model->list.count() == parameters_of(shape));
        MicroBatch pictures;
        const int64_t side = name == "lenet5" ? 32 : 28;
        const tensor::Shape flat = {8, 784}, square = {8, 1, side, side};
        pictures.input = tensor::tensor_from(rank.heap, shape.widths.empty() ? square : flat, batch.values, "x");
        pictures.target = tensor::labels_from(rank.heap, batch.labels, "labels");
        pictures.examples = 8;
        const Step step = step_of(rank, *model, pictures);
        CHECK(step.loss == tensor::values_of(heap, loss.value)[0]);
        for (const nn::Parameter& parameter : task->list.parameters()) {
            INFO(parameter.name);
            CHECK(step.gradients.at(parameter.name) == tape.gradient_values(parameter.node));
        }
    });
}
}  // namespace

TEST_CASE("With a plan of 1s gpt and llama are the serial models, bit for bit") {
    for (const auto kind : {ModelShape::Kind::gpt, ModelShape::Kind::llama})
        for (const auto& [dtype, compute] :
             {std::pair{DType::f32, DType::f32}, {DType::f64, DType::f64}, {DType::f32, DType::bf16}}) {
            const ModelShape shape = tiny(kind);
            const Tokens tokens = tokens_of(2, shape.context, shape.vocabulary, 3);
            const Serial serial = serial_language(shape, tokens, 11, dtype, compute);
            const auto result = run_ranks({}, [&](Rank& rank) {
                const auto model = make_model(shape, rank.plan, rank, {{0, count_blocks(shape)}}, 11, dtype, compute);
                CHECK(model->list.count() == parameters_of(shape));
                CHECK(model->list.parameters().size() == serial.values.size());
                const Step step = step_of(rank, *model, micro_batch(rank, tokens));
                INFO(shape.name << " " << name_of(dtype) << " " << name_of(compute));
                CHECK(step.loss == serial.loss);
                for (const ShardedParameter& shard : model->shards) {
                    INFO(shard.parameter->name);
                    CHECK(tensor::values_of(rank.heap, shard.parameter->value) == serial.values.at(shard.parameter->name));
                    CHECK(step.gradients.at(shard.parameter->name) == serial.gradients.at(shard.parameter->name));
                }
                CHECK(rank.world.time_us() > 0);  // its ops took time on the clock
            });
            check_no_problem(result);
        }
}

TEST_CASE("With a plan of 1s the model that the Trainer trains loses what it does there, bit for bit") {
    for (const char* name : {"gpt", "llama"}) {
        const auto device = device::open_device("host").value();
        tensor::Heap heap(*device);
        const auto task = nn::model_named(name).make({.batch = 1, .seed = 5}, heap);
        nn::Batch batch;
        task->make_batch(0, batch);
        tensor::Tape tape(heap);
        nn::Pass pass{tape};
        const double loss = tensor::values_of(heap, task->forward(pass, batch, 0).loss.value)[0];
        run_ranks({}, [&](Rank& rank) {
            ModelShape shape = shape_named(name);
            shape.vocabulary = task->list.find("tokens.weight")->value.shape[0];
            const auto model = own_stage(rank, shape, 5, DType::f32);
            const std::span<const int32_t> all(batch.labels);
            MicroBatch micro;
            micro.input = tensor::reshaped(tensor::labels_from(rank.heap, all.first(all.size() / 2), "x"), {1, 128});
            micro.target = tensor::labels_from(rank.heap, all.last(all.size() / 2), "y");
            micro.examples = 128;
            CHECK(step_of(rank, *model, micro).loss == loss);
        });
    }
}

TEST_CASE("With a plan of 1s mlp, mlp512, lenet5 and resnet8 are the serial models, bit for bit") {
    for (const char* name : {"mlp", "mlp512", "lenet5", "resnet8"}) check_pictures(name);
}

namespace {
// How far the ranks of a plan are from the serial step: the loss, and the worst gradient by parameter.
struct Difference {
    double loss = 0, gradient = 0;
    std::string where;
};
Difference difference(const ModelShape& shape, const ParallelPlan& plan, const Tokens& tokens, const Serial& serial,
                      DType dtype, std::optional<DType> compute = {}) {
    std::mutex mutex;
    Difference worst;
    double least = 0;  // a bias of keys has no gradient but rounding: softmax does not see it
    for (const auto& [name, gradient] : serial.gradients)
        for (const double value : gradient) least = std::max(least, 1e-3 * std::abs(value));
    const auto result = run_ranks(plan, [&](Rank& rank) {
        const auto model = own_stage(rank, shape, 11, dtype, compute);
        const Step step = step_of(rank, *model, micro_batch(rank, tokens));
        const std::scoped_lock lock(mutex);
        if (model->blocks.back().forward) {
            const double loss = std::abs(step.loss - serial.loss) / serial.loss;
            if (!(loss <= worst.loss)) worst.loss = loss;
        }
        for (const ShardedParameter& shard : model->shards) {
            const std::string& name = shard.parameter->name;
            if (part_of(serial.values.at(name), shard) != tensor::values_of(rank.heap, shard.parameter->value))
                throw Failure(name + " does not begin as the serial one");
            const double off = apart(step.gradients.at(name), part_of(serial.gradients.at(name), shard), least);
            if (!(off <= worst.gradient)) worst.gradient = off, worst.where = name;
        }
    });
    check_no_problem(result);
    return worst;
}
std::string text_of_plan(const ParallelPlan& plan) {
    return "tp " + std::to_string(plan.tp) + " cp " + std::to_string(plan.cp) + " pp " + std::to_string(plan.pp) +
           (plan.sequence_parallel ? " sequence" : "") + " context " + std::to_string(int(plan.context)) + " recompute " +
           std::to_string(int(plan.recompute));
}
}  // namespace

TEST_CASE("Over tp, cp and pp a transformer's loss and every gradient are the serial ones") {
    int plans = 0;
    for (const auto kind : {ModelShape::Kind::gpt, ModelShape::Kind::llama}) {
        const ModelShape shape = tiny(kind);
        const Tokens tokens = tokens_of(2, shape.context, shape.vocabulary, 3);
        const Serial wide = serial_language(shape, tokens, 11, DType::f64);
        const Serial narrow = serial_language(shape, tokens, 11, DType::f32);
        for (const int tp : {1, 2, 4})
            for (const int cp : {1, 2, 4})
                for (const int pp : {1, 2})
                    for (const bool sequence : {false, true})
                        for (const Context context : {Context::ring, Context::balanced_ring, Context::all_to_all}) {
                            const ParallelPlan plan = {
                                .tp = tp, .pp = pp, .cp = cp, .sequence_parallel = sequence, .context = context};
                            if (plan.ranks() > 8 || (sequence && tp == 1) || (cp == 1 && context != Context::ring)) continue;
                            if (refusal(plan, shape, 2)) continue;
                            ++plans;
                            INFO(shape.name << " " << text_of_plan(plan));
                            const Difference one = difference(shape, plan, tokens, wide, DType::f64);
                            CHECK(one.loss < 1e-12);
                            INFO(one.where);
                            CHECK(one.gradient < 1e-10);
                            if (pp > 1) continue;
                            const Difference half = difference(shape, plan, tokens, narrow, DType::f32);
                            CHECK(half.loss < 1e-6);
                            INFO(half.where);
                            CHECK(half.gradient < 2e-5);
                        }
    }
    CHECK(plans > 50);
}

TEST_CASE("On eight ranks along one axis, or along two, a transformer is the serial one") {
    for (const auto kind : {ModelShape::Kind::gpt, ModelShape::Kind::llama}) {
        ModelShape shape = tiny(kind);
        shape.width = 32, shape.heads = 8, shape.context = 16;  // llama: two heads of keys, each on four of eight tp ranks
        if (kind == ModelShape::Kind::gpt) shape.kv_heads = 8;
        const Tokens tokens = tokens_of(1, shape.context, shape.vocabulary, 3);
        const Serial serial = serial_language(shape, tokens, 11, DType::f64);
        for (const Context context : {Context::ring, Context::balanced_ring, Context::all_to_all})
            for (const auto& [tp, cp] : {std::pair{8, 1}, {1, 8}, {2, 4}, {4, 2}})
                for (const bool sequence : {false, true}) {
                    const ParallelPlan plan = {.tp = tp, .cp = cp, .sequence_parallel = sequence, .context = context};
                    if (refusal(plan, shape, 1)) continue;
                    INFO(shape.name << " " << text_of_plan(plan));
                    const Difference one = difference(shape, plan, tokens, serial, DType::f64);
                    CHECK(one.loss < 1e-12);
                    INFO(one.where);
                    CHECK(one.gradient < 1e-10);
                }
    }
}

TEST_CASE("In half precision the ranks stay as near to the serial run as its rounding") {
    for (const auto kind : {ModelShape::Kind::gpt, ModelShape::Kind::llama}) {
        const ModelShape shape = tiny(kind);
        const Tokens tokens = tokens_of(2, shape.context, shape.vocabulary, 3);
        const Serial serial = serial_language(shape, tokens, 11, DType::f32);
        for (const DType half : {DType::bf16, DType::f16})
            for (const ParallelPlan& plan : {ParallelPlan{.tp = 2, .sequence_parallel = true},
                                             {.tp = 2, .cp = 2},
                                             {.cp = 2, .context = Context::balanced_ring}}) {
                INFO(shape.name << " " << name_of(half) << " " << text_of_plan(plan));
                const Difference one = difference(shape, plan, tokens, serial, DType::f32, half);
                const double bits = half == DType::bf16 ? 8 : 11;  // of a significand; some 25 roundings in a row
                CHECK(one.loss < 0.5 * std::exp2(-bits));
                INFO(one.where);
                CHECK(one.gradient < 25 * std::exp2(-bits));
            }
    }
}

TEST_CASE("Attention by products and a softmax is the fused one, serial and over tp, with its scores recomputed too") {
    ModelShape shape = tiny(ModelShape::Kind::gpt);
    const Tokens tokens = tokens_of(2, shape.context, shape.vocabulary, 3);
    const Serial serial = serial_language(shape, tokens, 11, DType::f64);
    shape.fused_attention = false;
    for (const int tp : {1, 2})
        for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
            const Difference one = difference(shape, {.tp = tp, .recompute = recompute}, tokens, serial, DType::f64);
            CHECK(one.loss < 1e-12);
            CHECK(one.gradient < 1e-10);
        }
}

TEST_CASE("Recomputed activations give the same bits, and less is kept") {
    const ModelShape shape = tiny(ModelShape::Kind::llama);
    const Tokens tokens = tokens_of(2, shape.context, shape.vocabulary, 3);
    for (const ParallelPlan& base : {ParallelPlan{}, ParallelPlan{.tp = 2, .cp = 2}}) {
        std::vector<std::vector<Step>> steps;
        for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
            ParallelPlan plan = base;
            plan.recompute = recompute;
            steps.emplace_back(size_t(plan.ranks()));
            check_no_problem(run_ranks(plan, [&](Rank& rank) {
                const auto model = own_stage(rank, shape, 11, DType::f32);
                steps.back()[size_t(rank.world.rank())] = step_of(rank, *model, micro_batch(rank, tokens));
            }));
        }
        for (size_t rank = 0; rank < steps[0].size(); ++rank) {
            for (const auto& other : {steps[1], steps[2]}) {
                CHECK(other[rank].loss == steps[0][rank].loss);
                CHECK(other[rank].gradients == steps[0][rank].gradients);
                CHECK(other[rank].kept_bytes < steps[0][rank].kept_bytes);
            }
        }
    }
}

TEST_CASE("With the weights' backward later, a cut transformer's gradients keep their bits") {
    const ModelShape shape = tiny(ModelShape::Kind::llama);
    const Tokens tokens = tokens_of(2, shape.context, shape.vocabulary, 3);
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
        const ParallelPlan plan = {.tp = 2, .cp = 2, .sequence_parallel = true, .recompute = recompute};
        check_no_problem(run_ranks(plan, [&](Rank& rank) {
            const auto model = own_stage(rank, shape, 11, DType::f32);
            const MicroBatch batch = micro_batch(rank, tokens);
            if (step_of(rank, *model, batch, true).gradients != step_of(rank, *model, batch).gradients)
                throw Failure("other bits");
        }));
    }
}

TEST_CASE("A parallel step sends the same bytes, takes the same virtual time and gives the same bits twice") {
    const ModelShape shape = tiny(ModelShape::Kind::llama);
    const Tokens tokens = tokens_of(2, shape.context, shape.vocabulary, 3);
    const ParallelPlan plan = {.tp = 2, .pp = 2, .cp = 2, .sequence_parallel = true, .context = Context::balanced_ring};
    std::vector<std::vector<Step>> steps(2, std::vector<Step>(8));
    std::vector<comm::GroupResult> results;
    for (auto& run : steps)
        results.push_back(run_ranks(plan,
                                    [&](Rank& rank) {
                                        const auto model = own_stage(rank, shape, 11, DType::f32);
                                        run[size_t(rank.world.rank())] = step_of(rank, *model, micro_batch(rank, tokens));
                                    },
                                    "host", {.latency_us = 2, .bytes_per_us = 1000}));
    for (size_t rank = 0; rank < 8; ++rank) {
        CHECK(steps[0][rank].gradients == steps[1][rank].gradients);
        CHECK(results[0].ranks[rank].time_us == results[1].ranks[rank].time_us);
        CHECK(results[0].ranks[rank].time_us > 0);
        CHECK(results[0].ranks[rank].bytes_sent == results[1].ranks[rank].bytes_sent);
    }
}

namespace {
// What a rank sends with one and with two layers, forward and backward, without what is added up at the end of a step.
std::array<uint64_t, 2> bytes_of_layers(ModelShape shape, const ParallelPlan& plan, int64_t batch) {
    std::array<uint64_t, 2> sent = {};
    for (const int64_t layers : {1, 2}) {
        shape.layers = layers;
        const Tokens tokens = tokens_of(batch, shape.context, shape.vocabulary, 3);
        const auto result = run_ranks(plan, [&](Rank& rank) {
            const auto model = own_stage(rank, shape, 11, DType::f32);
            const MicroBatch micro = micro_batch(rank, tokens);
            tensor::Tape tape(rank.heap);
            nn::Pass pass{tape};
            tensor::Variable x;
            for (const Block& block : model->blocks) x = block.forward(pass, x, micro);
            tape.backward(x);
        });
        check_no_problem(result);
        for (const comm::RankResult& rank : result.ranks) CHECK(rank.bytes_sent == result.ranks[0].bytes_sent);
        sent[size_t(layers - 1)] = result.ranks[0].bytes_sent;
    }
    return sent;
}
double bytes_a_layer(const ModelShape& shape, const ParallelPlan& plan, int64_t batch) {
    const auto sent = bytes_of_layers(shape, plan, batch);
    return double(sent[1] - sent[0]);
}
}  // namespace

TEST_CASE("Bytes sent a layer are the formulas of tensor and context parallelism") {
    const int64_t batch = 2;
    for (const auto kind : {ModelShape::Kind::gpt, ModelShape::Kind::llama}) {
        const ModelShape shape = tiny(kind);
        const double a = double(batch * shape.context * shape.width * 4);  // activations of a layer, f32
        const double kv = double(shape.kv_heads) / double(shape.heads);
        for (const double t : {2.0, 4.0})
            for (const bool sequence : {false, true})
                CHECK(bytes_a_layer(shape, {.tp = int(t), .sequence_parallel = sequence}, batch) ==
                      (sequence ? 8 + 2 : 8) * (t - 1) / t * a);  // two products gather their places once more in backward
        for (const double c : {2.0, 4.0}) {
            const double l = 2 * a / c * kv;  // keys and values of a rank
            for (const Context ring : {Context::ring, Context::balanced_ring})
                CHECK(bytes_a_layer(shape, {.cp = int(c), .context = ring}, batch) == 2 * (c - 1) * l + c * l);
        }
        const double c = 2;  // all-to-all: queries and results, keys and values, each way
        CHECK(bytes_a_layer(shape, {.cp = 2, .context = Context::all_to_all}, batch) ==
              2 * (2 + 2 * kv) * (c - 1) / c * a / c);
    }
}

TEST_CASE("Of a cut vocabulary rows and three numbers each cross, never the logits") {
    ModelShape shape = tiny(ModelShape::Kind::llama);
    const int64_t batch = 2, rows = batch * shape.context;
    const double a = double(rows * shape.width * 4);
    for (const double t : {2.0, 4.0}) {
        const auto sent = bytes_of_layers(shape, {.tp = int(t)}, batch);
        const double ends = double(sent[0]) - double(sent[1] - sent[0]);  // without the one layer
        // All-reduces: the embedding's rows, the gradient of what the head reads; of a row: maximum, sum, target's logit.
        CHECK(ends == 2 * (t - 1) / t * (2 * a + 3 * double(rows) * 4));
    }
}

TEST_CASE("A balanced ring's ranks attend to as many keys each, a plain ring's to more the later they come") {
    ModelShape shape = tiny(ModelShape::Kind::llama);
    shape.context = 16384;  // long: attention's time is that of its products
    for (const Context context : {Context::ring, Context::balanced_ring}) {
        const ParallelPlan plan = {.cp = 4, .context = context};
        const auto result = run_ranks(
            plan,
            [&](Rank& rank) {
                const auto model = make_model(shape, plan, rank, {{1, 2}}, 1, DType::bf16);
                MicroBatch batch;
                const auto data = tensor::Purpose::data;
                batch.input = tensor::make_tensor(rank.heap, {1, shape.context / 4}, "tokens", data, DType::i32);
                tensor::Tape tape(rank.heap);
                nn::Pass pass{tape};
                const tensor::Variable x = tape.input(
                    tensor::make_tensor(rank.heap, {1, shape.context / 4, shape.width}, "x", data, DType::bf16), "x");
                model->blocks[1].forward(pass, x, batch);
            },
            "meta");
        check_no_problem(result);
        const double first = result.ranks[0].time_us, last = result.ranks[3].time_us;
        if (context == Context::balanced_ring)
            CHECK(std::abs(last - first) < 1e-9 * first);
        else
            CHECK(last > 1.5 * first);
    }
}

TEST_CASE("A layer of Llama 3 405B runs on meta over 8 tp ranks: bytes of its parameters and of its messages") {
    const ModelShape& shape = shape_named("llama3-405b");
    CHECK(std::abs(double(parameters_of(shape)) / 405.85e9 - 1) < 1e-3);  // 405,853,388,800 as published with its weights
    const double d = 16384, ffn = 53248, kv = 1024;
    for (const bool sequence : {false, true}) {
        const ParallelPlan plan = {.tp = 8, .sequence_parallel = sequence};
        const auto result = run_ranks(
            plan,
            [&](Rank& rank) {
                const auto model = make_model(shape, plan, rank, {{1, 2}}, 1, DType::bf16);
                int64_t bytes = 0;
                for (const nn::Parameter& parameter : model->list.parameters()) bytes += parameter.value.bytes();
                if (double(bytes) != 2 * (2 * d + (2 * d * d + 2 * d * kv + 3 * d * ffn) / 8)) throw Failure("other bytes");
                MicroBatch batch;
                const auto data = tensor::Purpose::data;
                batch.input = tensor::make_tensor(rank.heap, {1, 8192}, "tokens", data, DType::i32);
                const tensor::TensorType type = model->blocks[0].output(batch);
                tensor::Tape tape(rank.heap);
                nn::Pass pass{tape};
                const tensor::Variable x =
                    tape.input(tensor::make_tensor(rank.heap, type.shape, "x", data, type.dtype), "x", true);
                const tensor::Variable y = model->blocks[1].forward(pass, x, batch);
                tape.backward(y, tensor::make_tensor(rank.heap, type.shape, "dy", data, type.dtype));
            },
            "meta");
        check_no_problem(result);
        for (const comm::RankResult& rank : result.ranks)
            CHECK(double(rank.bytes_sent) == (sequence ? 10 : 8) * 7.0 / 8 * 8192 * d * 2);
    }
}

TEST_CASE("Perceptrons over tp and pp are the serial ones") {
    for (const std::vector<int64_t>& widths : {std::vector<int64_t>{12, 8, 5}, {12, 8, 8, 5}}) {
        const ModelShape shape = {.name = "mlp", .kind = ModelShape::Kind::perceptron, .widths = widths};
        Rng rng(4);
        std::vector<double> pictures;
        for (int i = 0; i < 6 * 12; ++i) pictures.push_back(rng.uniform(-1, 1));
        const std::vector<int32_t> labels = {0, 4, 1, 2, 3, 1};
        std::mutex mutex;
        Step serial;
        for (const ParallelPlan& plan :
             {ParallelPlan{}, {.tp = 2}, {.tp = 4}, {.pp = 2}, {.tp = 2, .pp = 2}, {.tp = 4, .pp = 2}})
            check_no_problem(run_ranks(plan, [&](Rank& rank) {
                const auto model = own_stage(rank, shape, 9, DType::f64);
                MicroBatch batch;
                batch.input = tensor::tensor_from(rank.heap, {6, 12}, std::span<const double>(pictures), "x");
                batch.target = tensor::labels_from(rank.heap, labels, "labels");
                batch.examples = 6;
                const Step step = step_of(rank, *model, batch);
                const std::scoped_lock lock(mutex);
                if (rank.world.size() == 1) serial = step;
                if (model->blocks.back().forward && !(std::abs(step.loss - serial.loss) < 1e-13))
                    throw Failure("another loss");
                for (const ShardedParameter& shard : model->shards) {
                    const std::string& name = shard.parameter->name;
                    if (!(apart(step.gradients.at(name), part_of(serial.gradients.at(name), shard)) < 1e-12))
                        throw Failure("another gradient of " + name);
                }
            }));
    }
}

TEST_CASE("Synchronised batch norm over two ranks is that of the whole batch") {
    Rng rng(4);
    std::vector<double> pictures;
    for (int i = 0; i < 4 * 784; ++i) pictures.push_back(rng.uniform(-1, 1));
    const std::vector<int32_t> labels = {3, 1, 4, 1};
    std::mutex mutex;
    Step serial;
    std::vector<std::vector<double>> statistics;
    for (const ParallelPlan& plan :
         {ParallelPlan{}, {.dp = 2, .sync_batch_norm = true}, {.dp = 2, .pp = 3, .sync_batch_norm = true}})
        check_no_problem(run_ranks(plan, [&](Rank& rank) {
            const auto model = own_stage(rank, shape_named("resnet8"), 9, DType::f64);
            const auto share = size_t(4 / plan.dp), first = size_t(rank.along("dp")) * share;
            MicroBatch batch;
            batch.input = tensor::tensor_from(rank.heap, {int64_t(share), 1, 28, 28},
                                              std::span<const double>(pictures).subspan(first * 784, share * 784), "x");
            batch.target = tensor::labels_from(rank.heap, std::span(labels).subspan(first, share), "labels");
            batch.examples = 4;
            const Step step = step_of(rank, *model, batch);
            const std::scoped_lock lock(mutex);
            if (rank.world.size() == 1) {
                serial = step;
                for (const nn::Buffer& buffer : model->list.buffers())
                    statistics.push_back(tensor::values_of(rank.heap, buffer.value));
            }
            if (model->blocks.back().forward && !(std::abs(step.loss - serial.loss) < 1e-12)) throw Failure("another loss");
            for (const auto& [name, gradient] : step.gradients)
                if (!(apart(gradient, serial.gradients.at(name)) < 1e-10)) throw Failure("another gradient of " + name);
            if (plan.pp > 1) return;
            for (size_t i = 0; i < statistics.size(); ++i)
                if (!(apart(tensor::values_of(rank.heap, model->list.buffers()[i].value), statistics[i]) < 1e-13))
                    throw Failure("other statistics");
        }));
}

TEST_CASE("Stages are as even as their operations allow") {
    const auto lengths = [](const ModelShape& shape, int stages) {
        std::vector<int> all;
        int at = 0;
        for (const BlockRange& range : cut_into_stages(shape, stages)) {
            CHECK(range.first == at);
            all.push_back((at = range.last) - range.first);
        }
        CHECK(at == count_blocks(shape));
        return all;
    };
    // Llama 3 405B as trained: 126 layers over 16 stages, the first and the last with one layer less.
    std::vector<int> expected(16, 8);
    CHECK(lengths(shape_named("llama3-405b"), 16) == expected);  // the first: tokens and 7; the last: 7 and the head
    CHECK(lengths(shape_named("gpt"), 1) == std::vector<int>{6});
    CHECK(lengths(shape_named("gpt"), 4) == std::vector<int>{2, 1, 1, 2});
    CHECK_THROWS_AS(cut_into_stages(shape_named("mlp"), 3), Failure);
}

TEST_CASE("What does not divide is refused with what would") {
    const ModelShape gpt = shape_named("gpt"), llama = shape_named("llama");
    const auto why = [](const ParallelPlan& plan, const ModelShape& shape, int64_t batch = 8) {
        return refusal(plan, shape, batch).value_or("");
    };
    CHECK(why({}, gpt) == "");
    CHECK(why({.dp = 2, .tp = 2, .pp = 2}, llama) == "");
    CHECK(why({.tp = 3}, gpt) == "--tp 3 does not divide 4 attention heads: 1, 2 or 4 would");
    CHECK(why({.tp = 4}, llama) == "");  // two ranks a head of keys
    CHECK(why({.cp = 3}, gpt) == "--cp 3 does not divide 128 places of a sequence: 1, 2, 4, 8, 16, 32, 64 or 128 would");
    CHECK(why({.cp = 4, .context = Context::all_to_all}, llama) ==
          "--cp 4 does not divide 2 heads of keys a tp rank, which all-to-all trades: 1 or 2 would");
    CHECK(why({.pp = 8}, gpt) == "--pp 8 makes 8 stages of 4 layers: 4 or fewer would do");
    CHECK(why({.pp = 2, .chunks = 4}, gpt) == "--pp 2 x --chunks 4 makes 8 stages of 4 layers: 4 or fewer would do");
    CHECK(why({.dp = 3}, gpt) == "--dp 3 does not divide a batch of 8: a batch of 9 would do");
    CHECK(why({.dp = 2, .microbatches = 3}, gpt) ==
          "--dp 2 x --microbatches 3 does not divide a batch of 8: a batch of 12 would do");
    CHECK(why({.tp = 2}, shape_named("lenet5")) ==
          "--tp 2 cuts linear layers, and lenet5 is convolutional: --dp and --pp split it");
    CHECK(why({.cp = 2}, shape_named("mlp")) == "--cp 2 cuts sequences, and mlp has none: gpt and llama do");
    CHECK(why({.tp = 3}, shape_named("mlp")) ==
          "--tp 3 does not divide 128 outputs of fc1: 1, 2, 4, 8, 16, 32, 64 or 128 would");
    CHECK(why({.tp = 0}, gpt) == "--tp 0 makes no ranks: 1 is the smallest");
    CHECK_THROWS_WITH(shape_named("lama"), Contains("did you mean 'llama'"));
}

TEST_CASE("A recomputed piece draws the same random numbers, and leaves the generator where it would have been") {
    run_ranks({}, [&](Rank& rank) {
        const std::vector<double> values(64, 1);
        std::vector<std::vector<double>> gradients;
        std::vector<uint64_t> offsets;
        for (const bool recomputes : {false, true}) {
            tensor::Tape tape(rank.heap);
            nn::Pass pass{tape, true, {7, 3}};
            const tensor::Variable x =
                tape.input(tensor::tensor_from(rank.heap, {64}, std::span<const double>(values), "x"), "x", true);
            const Rerun piece = {
                .rank = &rank, .parameters = {}, .inside = [](nn::Pass& inner, std::span<const tensor::Variable> in) {
                    return tensor::dropout(inner.tape, in[0], 0.5, inner.random, "dropout");
                }};
            const tensor::Variable y = recomputes ? rerun(pass, piece, std::span(&x, 1), {{64}, DType::f64}, "piece")
                                                  : piece.inside(pass, std::span(&x, 1));
            tape.backward(tensor::sum(tape, y, "sum"));
            gradients.push_back(tape.gradient_values(x.node));
            offsets.push_back(pass.random.offset);
        }
        CHECK(gradients[0] == gradients[1]);
        CHECK(std::count(gradients[0].begin(), gradients[0].end(), 0.0) > 0);
        CHECK(offsets[0] == offsets[1]);
    });
}

}  // namespace parallel_models_test
