// What the blocks of a model cost a rank: each run once on `meta`, on the ranks that a plan has, its launches timed, its
// bytes and messages counted. planner.cpp makes a step of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/device/meta.h"
#include "core/parallel/blocks/model.h"
#include "core/parallel/plan/cluster_tables.h"
#include "core/parallel/plan/planner.h"

namespace lockstep::parallel {

namespace {
// One rank of the mesh, on `meta`, with the groups that it would have.
struct PlannedRank {
    device::Meta device;
    tensor::Heap heap;
    std::shared_ptr<PlannedWorld> world;
    PlannedCommunicator everyone;
    OpTimes times;
    Rank rank;

    PlannedRank(const PlanRequest& request, int place)
        : device(device::DeviceOptions{}),
          heap(device),
          world(std::make_shared<PlannedWorld>(
              PlannedWorld{.machine = request.machine, .rank = place, .size = request.plan.ranks()})),
          everyone(world),
          times(request.gpu, request.efficiencies),
          rank(make_rank(request.plan, everyone, device, heap, times)) {
        world->machine.efficiency = request.efficiencies.network;
        const auto name = [](const std::unique_ptr<comm::Communicator>& group, const char* axis) {
            if (group) static_cast<PlannedCommunicator&>(*group).call_it(axis);
        };
        name(rank.tp, "tp");
        name(rank.cp, "cp");
    }
};

bool is_product(std::string_view op) {
    return op == "matmul" || op == "bmm" || op == "attention" || op == "ring_attention";
}

// Forward, then the gradients of activations, then those of weights: what is kept between the two, and how the time divides.
void measure_two_parts(PlannedRank& one, const Block& block, const tensor::TensorType* x_type, const MicroBatch& batch,
                       BlockCost& cost) {
    tensor::Heap& heap = one.heap;
    PlannedWorld& world = *one.world;
    heap.recycle();
    tensor::Tape tape(heap);
    nn::Pass pass{tape};
    one.rank.counted = {};
    const int64_t before = heap.live_bytes();
    tensor::Variable x =
        x_type ? tape.input(make_tensor(heap, x_type->shape, "x", tensor::Purpose::activation, x_type->dtype), "x", true)
               : tape.label(batch.input, "tokens");
    tensor::Variable y = block.forward(pass, x, batch);
    const bool loss = y.value.count() == 1;
    tensor::Root root{y, loss ? tensor::Tensor{} : make_tensor(heap, y.shape(), "dy", tensor::Purpose::gradient, y.dtype())};
    x.value = y.value = {};
    world.forward_us = world.other_us = 0;
    tape.begin_backward(std::span(&root, 1), {.defer_weights = true});
    root = {};
    while (const std::optional<int> node = tape.step_backward()) one.rank.backward_took(tape, *node, BackwardPart::inputs);
    tape.take_gradient(x.node);  // passed on
    const double input_us = world.other_us;
    cost.later_bytes = double(heap.live_bytes() - before);
    while (const std::optional<int> node = tape.step_backward_weights())
        one.rank.backward_took(tape, *node, BackwardPart::weights);
    if (world.other_us > 0) cost.input_share = input_us / world.other_us;
}

// The program's forward and backward of one block and micro-batch, with its messages.
BlockCost measure_block(PlannedRank& one, const Block& block, const tensor::TensorType* x_type, const MicroBatch& batch) {
    tensor::Heap& heap = one.heap;
    PlannedWorld& world = *one.world;
    heap.recycle();
    tensor::Tape tape(heap);
    nn::Pass pass{tape};
    const tensor::Variable x =
        x_type ? tape.input(make_tensor(heap, x_type->shape, "x", tensor::Purpose::activation, x_type->dtype), "x", true)
               : tape.label(batch.input, "tokens");
    world.clocks.clear();
    world.traffic.clear();
    world.forward_us = world.other_us = 0;
    one.rank.counted = {};
    const int64_t before = heap.live_bytes();
    BlockCost cost;
    const tensor::Variable y = block.forward(pass, x, batch);
    cost.forward_us = one.everyone.time_us();
    cost.forward_work_us = world.forward_us + world.other_us;
    const int64_t kept = heap.live_bytes();
    cost.saved_bytes = double(kept - before);
    cost.output_bytes = double(y.value.bytes());
    world.forward_us = world.other_us = 0;
    double input_us = 0, all_us = 0;
    for (const tensor::Node& node : tape.nodes()) {
        if (!node.op) continue;
        std::vector<tensor::TensorType> inputs;
        for (const int from : node.inputs)
            inputs.push_back({tape.nodes()[size_t(from)].shape, tape.nodes()[size_t(from)].dtype});
        if (is_product(node.op->name)) {
            const tensor::OpCost products = node.op->cost(inputs, node.attributes);
            cost.forward_operations += products.forward.operations;
            cost.backward_operations += products.backward.operations;
        }
        if (node.op->kernels.empty()) continue;
        const OpTime t = one.times.of(*node.op, inputs, node.attributes);
        input_us += t.backward_input_us;
        all_us += t.backward_us;
    }
    if (all_us > 0) cost.input_share = input_us / all_us;
    heap.recycle();
    const bool loss = y.value.count() == 1;
    tensor::Root root{y, loss ? tensor::Tensor{} : make_tensor(heap, y.shape(), "dy", tensor::Purpose::gradient, y.dtype())};
    tape.begin_backward(std::span(&root, 1));
    root = {};
    while (const std::optional<int> node = tape.step_backward()) one.rank.backward_took(tape, *node);
    cost.backward_us = one.everyone.time_us() - cost.forward_us;
    cost.recompute_us = world.forward_us;
    cost.backward_work_us = world.forward_us + world.other_us;
    cost.working_bytes = std::max(0.0, double(heap.peak_bytes() - kept));
    const PlannedTraffic &tp = world.traffic["tp"], &cp = world.traffic["cp"];
    cost.tensor_us = tp.us;
    cost.tensor_bytes = tp.bytes;
    cost.context_us = cp.us;
    cost.context_bytes = cp.bytes;
    cost.context_exposed_us =
        std::max(0.0, cost.forward_us + cost.backward_us - cost.forward_work_us - cost.backward_work_us - cost.tensor_us);
    return cost;
}

double parameters_of_block(ParallelModel& model, const Block& block, std::string_view without = {}) {
    double count = 0;
    for (const nn::Parameter& parameter : model.list.parameters())
        for (const std::string& prefix : block.prefixes)
            if (parameter.name.rfind(prefix, 0) == 0 && (without.empty() || parameter.name.rfind(without, 0) != 0)) {
                count += double(parameter.value.count());
                break;
            }
    return count;
}

bool splits_backward(const ParallelPlan& plan) {
    return plan.pp > 1 && schedule_named(plan.schedule).two_parts;
}

std::string key_of_blocks(const PlanRequest& r) {
    std::string key = fmt::format("{} {} {} {} tp{} cp{} pp{} sp{} c{} r{} b{} s{} {} {}/{}", r.shape.name, r.shape.layers,
                                  r.shape.width, r.gpu.name, r.plan.tp, r.plan.cp, r.plan.pp > 1, r.plan.sequence_parallel,
                                  int(r.plan.context), int(r.plan.recompute), r.microbatch, r.sequence, int(r.compute),
                                  r.machine.inside.name, r.machine.between.name);
    for (const EfficiencyRow& row : efficiency_rows()) key += fmt::format(" {}", r.efficiencies.*row.value);
    return key + fmt::format(" {} {}", r.machine.gpus_per_node, splits_backward(r.plan) ? "I W" : "B");
}
}  // namespace

const ModelCost& Planner::cost_of(const PlanRequest& whole) {
    const std::string key = key_of_blocks(whole);
    if (const auto found = blocks_.find(key); found != blocks_.end()) return found->second;
    PlanRequest request = whole;  // a block does not know how many there are on its rank
    request.plan.chunks = request.plan.microbatches = 1;
    ModelShape shape = request.shape;
    shape.context = request.sequence;
    const int last = count_blocks(shape) - 1;
    const Mesh mesh = mesh_of(request.plan);
    const ParallelPlan& plan = request.plan;
    // The last rank of cp: with plain runs of places it has the most keys to look at.
    const auto rank_of_stage = [&](int stage) { return mesh.rank_at({stage, 0, plan.cp - 1, 0}); };
    ModelCost made;
    const auto measure = [&](int stage, const std::vector<BlockRange>& held, bool tokens, bool layer, bool head) {
        PlannedRank one(request, rank_of_stage(stage));
        const auto model = make_model(shape, plan, one.rank, held, 0, request.compute);
        const int64_t places = request.sequence / plan.cp;
        const MicroBatch batch{
            .input = make_tensor(one.heap, {request.microbatch, places}, "tokens", tensor::Purpose::data, DType::i32),
            .target = make_tensor(one.heap, {request.microbatch * places}, "next", tensor::Purpose::data, DType::i32),
            .examples = request.batch * request.sequence};
        const tensor::TensorType between = model->blocks[0].output(batch);
        const auto measured = [&](int index, const tensor::TensorType* x_type, std::string_view without) {
            const Block& block = model->blocks[size_t(index)];
            BlockCost cost = measure_block(one, block, x_type, batch);
            if (splits_backward(plan)) measure_two_parts(one, block, x_type, batch, cost);
            cost.parameters = parameters_of_block(*model, block, without);
            return cost;
        };
        if (tokens) made.tokens = measured(0, nullptr, "");
        if (layer) made.layer = measured(1, &between, "");
        if (head) made.head = measured(last, &between, tokens ? "tokens." : "");
    };
    if (plan.pp == 1) {
        measure(0, {{0, 2}, {last, last + 1}}, true, true, true);
    } else {
        measure(0, {{0, 2}}, true, true, false);
        measure(plan.pp - 1, {{last, last + 1}}, false, false, true);
    }
    return blocks_.emplace(key, made).first->second;
}

}  // namespace lockstep::parallel
