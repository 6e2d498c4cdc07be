// A policy-gradient agent (REINFORCE, Williams 1992) in a small maze: a network says how likely each action is in each cell;
// episodes are drawn from it, and each action's log-probability is pushed by how much better it went than what other visits
// of the same cell got. A little entropy keeps it trying.
#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/data/made/grid_world.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
constexpr double entropy_weight = 0.01;

struct Agent {
    GridWorld world;
    Linear first, second;
    DType dtype = DType::f32;

    // Log-probabilities of the actions in every cell, [states, actions].
    Variable operator()(Pass& pass) const {
        tensor::Tape& tape = pass.tape;
        const auto states = static_cast<size_t>(world.states());
        std::vector<float> seen(states * states);
        for (size_t s = 0; s < states; ++s) world.observe(static_cast<int>(s), std::span(seen).subspan(s * states, states));
        const std::vector<double> wide(seen.begin(), seen.end());
        const Variable x = tape.input(
            tensor::tensor_from(tape.heap(), {world.states(), world.states()}, wide, "cells", tensor::Purpose::data, dtype),
            "cells");
        const Variable h = tensor::unary(tape, "tanh", first(pass, x), "tanh");
        return tensor::log_softmax(tape, second(pass, h), 1, "log policy");
    }
};

struct Visit {
    int state = 0, action = 0, episode = 0;
    double reward = 0, to_go = 0;
};

// Episodes by the policy, and the mean of their returns.
double play(const GridWorld& world, const std::vector<double>& log_policy, int64_t episodes, Rng& rng,
            std::vector<Visit>* visits) {
    double total = 0;
    for (int64_t e = 0; e < episodes; ++e) {
        int state = world.start;
        const size_t begin = visits ? visits->size() : 0;
        for (int t = 0; t < world.horizon; ++t) {
            double left = rng.uniform();
            int action = 0;
            while (action + 1 < GridWorld::actions &&
                   (left -= std::exp(log_policy[static_cast<size_t>(state * GridWorld::actions + action)])) >= 0)
                ++action;
            const GridWorld::Outcome next = world.step(state, action, rng);
            if (visits) visits->push_back({state, action, static_cast<int>(e), next.reward, 0});
            total += next.reward;
            if (next.done) break;
            state = next.state;
        }
        double to_go = 0;
        for (size_t i = visits ? visits->size() : 0; i-- > begin;) (*visits)[i].to_go = to_go += (*visits)[i].reward;
    }
    return total / double(episodes);
}
}  // namespace

std::unique_ptr<Task> make_policy(const TaskOptions& options, tensor::Heap& heap) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Agent>();
    it->world = grid_world();
    it->dtype = options.dtype;
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    it->first = Linear(build, "fc1", it->world.states(), 64);
    it->second = Linear(build, "fc2", 64, GridWorld::actions);
    task->model = "policy";
    task->data = "grid world";
    task->forward = [it, batch = options.batch, seed = options.seed](Pass& pass, const Batch&, size_t) {
        tensor::Tape& tape = pass.tape;
        const Variable log_policy = (*it)(pass);
        std::vector<Visit> visits;
        Rng draws(seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(pass.step) * 0x2545f4914f6cdd1du);
        play(it->world, tensor::values_of(tape.heap(), log_policy.value), batch, draws, &visits);
        const auto states = static_cast<size_t>(it->world.states());
        std::vector<double> sum(states), count(states), weight(states * GridWorld::actions), often(weight.size());
        for (const Visit& visit : visits) {
            sum[static_cast<size_t>(visit.state)] += visit.to_go;
            count[static_cast<size_t>(visit.state)] += 1;
        }
        for (const Visit& visit : visits) {  // beside the mean of the cell's other visits
            const auto s = static_cast<size_t>(visit.state);
            const double others = count[s] > 1 ? (sum[s] - visit.to_go) / (count[s] - 1) : visit.to_go;
            weight[s * GridWorld::actions + static_cast<size_t>(visit.action)] += (visit.to_go - others) / double(batch);
            for (int a = 0; a < GridWorld::actions; ++a)
                often[s * GridWorld::actions + static_cast<size_t>(a)] += 1.0 / double(visits.size());
        }
        const auto on = [&](const std::vector<double>& values, const char* name) {
            return tape.input(tensor::tensor_from(tape.heap(), {it->world.states(), GridWorld::actions}, values, name,
                                                  tensor::Purpose::data, it->dtype),
                              name);
        };
        // loss = -sum(advantage log p) + entropy_weight sum(visits p log p)
        const Variable gain = tensor::sum(tape, tensor::mul(tape, log_policy, on(weight, "advantages"), "gains"), "gain");
        const Variable order = tensor::sum(
            tape,
            tensor::mul(tape, tensor::mul(tape, tensor::unary(tape, "exp", log_policy, "policy"), log_policy, "p log p"),
                        on(often, "visits"), "p log p of visits"),
            "negative entropy");
        Forward result;
        result.output = log_policy;
        result.loss = tensor::sub(tape, tensor::affine(tape, order, entropy_weight, 0, "entropy loss"), gain, "loss");
        return result;
    };
    task->evaluate = [it](tensor::Heap& on, int64_t examples, const std::stop_token&) {
        on.recycle();
        tensor::Tape tape(on);
        const tensor::NoGrad no_gradients(tape);
        Pass pass{tape, false};
        Rng draws(99);
        const double mean =
            play(it->world, tensor::values_of(on, (*it)(pass).value), examples > 0 ? examples : 5000, draws, nullptr);
        const double best = best_return(it->world);
        Evaluation result;
        result.accuracy = mean / best;
        result.measures = {{"mean return", "", mean}, {"of the best policy", "", best}, {"their ratio", "", mean / best}};
        return result;
    };
    return task;
}

}  // namespace lockstep::nn
