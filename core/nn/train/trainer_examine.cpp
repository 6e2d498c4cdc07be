// Looking at a model beside its run: on the evaluator's host, with copies of the parameters, so that neither the run's
// values nor its times change.
#include <algorithm>
#include <cmath>

#include "core/nn/train/graph_record.h"
#include "core/nn/train/trainer_state.h"
#include "core/tensor/tape.h"

namespace lockstep::nn {

std::vector<double> Trainer::gradient_norms() const {
    std::vector<double> norms;
    for (const Parameter& parameter : state_->task->list.parameters()) {
        double sum = 0;
        if (!state_->tape.nodes().empty() && parameter.node >= 0)
            for (const double value : state_->tape.gradient_values(parameter.node)) sum += value * value;
        norms.push_back(std::sqrt(sum));
    }
    return norms;
}

bool Trainer::takes_batches_of_examples() const {
    return state_->task->make_batch && !state_->task->update && state_->players.size() == 1;
}

namespace {

// One forward and backward of a task on its heap.
struct Look {
    Task& task;
    tensor::Heap& heap;
    uint64_t seed;

    template <class Read>
    void at(int64_t step, Read read) {
        Batch batch;
        if (task.make_batch) task.make_batch(static_cast<uint64_t>(step), batch);
        heap.recycle();
        tensor::Tape tape(heap);
        Pass pass{.tape = tape, .training = true, .random = {seed, static_cast<uint64_t>(step) << 32}, .step = step};
        Forward made = task.forward(pass, batch, 0);
        tape.backward(made.loss);
        read(tape, made);
    }

    using Direction = std::vector<std::vector<double>>;  // by parameter
    Direction gradient(int64_t step) {
        Direction all;
        at(step, [&](tensor::Tape& tape, const Forward&) {
            for (const Parameter& parameter : task.list.parameters())
                all.push_back(parameter.node >= 0 && tape.nodes()[size_t(parameter.node)].has_gradient
                                  ? tape.gradient_values(parameter.node)
                                  : std::vector<double>(size_t(parameter.value.count()), 0.0));
        });
        return all;
    }
    Direction parameters() const {
        Direction all;
        for (const Parameter& parameter : task.list.parameters()) all.push_back(tensor::values_of(heap, parameter.value));
        return all;
    }
    void move(const Direction& from, const Direction& along, double by) {
        size_t i = 0;
        for (const Parameter& parameter : task.list.parameters()) {
            std::vector<double> to = from[i];
            for (size_t k = 0; k < to.size(); ++k) to[k] += by * along[i][k];
            tensor::write_values(heap, parameter.value, to, parameter.name);
            ++i;
        }
    }
};

double product(const Look::Direction& a, const Look::Direction& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i)
        for (size_t k = 0; k < a[i].size(); ++k) sum += a[i][k] * b[i][k];
    return sum;
}

}  // namespace

std::vector<GraphNode> Trainer::examine(int64_t step) {
    State::Evaluator& evaluator = *on_host().evaluator;
    std::vector<GraphNode> nodes;
    Look{*evaluator.task, evaluator.heap, state_->options.seed}.at(
        step, [&](tensor::Tape& tape, const Forward& made) { nodes = record_nodes(tape, made.loss.node, true); });
    evaluator.heap.recycle();
    for (GraphNode& node : nodes) node.row = nullptr;
    return nodes;
}

double Trainer::curvature_at_beginning(int64_t step) {
    constexpr int rounds = 6;  // of the power method; the largest eigenvalue is then known to some per cent
    auto host = device::open_device("host", {.threads = state_->options.threads, .stop = state_->options.stop}).value();
    tensor::Heap heap(*host);
    const std::unique_ptr<Task> task = state_->make_task(heap);
    Look look{*task, heap, state_->options.seed};
    const Look::Direction start = look.parameters();
    Look::Direction along = look.gradient(step);
    const double size = std::sqrt(product(start, start));
    double largest = 0;
    for (int round = 0; round < rounds; ++round) {
        const double norm = std::sqrt(product(along, along));
        if (!(norm > 0) || !std::isfinite(norm)) break;
        const double by = 1e-3 * std::max(size, 1.0) / norm;
        look.move(start, along, by);
        Look::Direction next = look.gradient(step);
        look.move(start, along, -by);
        const Look::Direction before = look.gradient(step);
        for (size_t i = 0; i < next.size(); ++i)
            for (size_t k = 0; k < next[i].size(); ++k) next[i][k] = (next[i][k] - before[i][k]) / (2 * by);
        largest = std::max(largest, product(along, next) / (norm * norm));
        along = std::move(next);
    }
    return largest;
}

}  // namespace lockstep::nn
