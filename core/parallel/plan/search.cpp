// All combinations in one list, then one after the other: a plan whose weights alone are too large is not measured.
#include "core/parallel/plan/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::parallel {

namespace {
std::vector<int> divisors_to(int number, int most) {
    std::vector<int> all;
    for (int i = 1; i <= std::min(number, most); ++i)
        if (number % i == 0) all.push_back(i);
    return all;
}
struct SearchCandidate {
    ParallelPlan plan;
    int64_t microbatch = 1;
};

// In the order of looking: those that communicate least come first, should the list be too long.
std::vector<SearchCandidate> candidates_of(const SearchRequest& request) {
    const PlanRequest& base = request.base;
    std::vector<SearchCandidate> all;
    const int most_cp = base.sequence >= 16384 ? 64 : 1;
    for (const int cp : divisors_to(request.gpus, most_cp))
        for (const int tp : divisors_to(request.gpus / cp, base.machine.gpus_per_node))
            for (const int pp : divisors_to(request.gpus / cp / tp, static_cast<int>(base.shape.layers))) {
                const int dp = request.gpus / cp / tp / pp;
                if (base.batch % dp || (cp & (cp - 1)) || (tp & (tp - 1))) continue;
                for (const int64_t microbatch : {1, 2, 4, 8}) {
                    if (base.batch / dp % microbatch) continue;
                    const int64_t m = base.batch / dp / microbatch;
                    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full})
                        for (const int chunks : {1, 2, 4, 8}) {
                            if (chunks > 1 && (pp == 1 || m % pp || int64_t{pp} * chunks > base.shape.layers + 2)) continue;
                            SearchCandidate one{base.plan, microbatch};
                            one.plan.dp = dp, one.plan.tp = tp, one.plan.pp = pp, one.plan.cp = cp;
                            one.plan.sequence_parallel = tp > 1 && base.sequence / cp % tp == 0;
                            one.plan.schedule = chunks > 1 ? "interleaved" : "1f1b";
                            one.plan.chunks = chunks;
                            one.plan.recompute = recompute;
                            all.push_back(one);
                        }
                }
            }
    return all;
}
}  // namespace

std::string text_of(const ParallelPlan& plan, int64_t microbatch) {
    std::string text = fmt::format("tp {}{}, pp {}, dp {}, micro-batches of {}", plan.tp,
                                   plan.cp > 1 ? fmt::format(", cp {}", plan.cp) : "", plan.pp, plan.dp, microbatch);
    if (plan.pp > 1) text += ", " + plan.schedule;
    if (plan.chunks > 1) text += fmt::format(" {} chunks", plan.chunks);
    if (plan.zero > 0) text += fmt::format(", ZeRO-{}", plan.zero);
    if (plan.recompute != Recompute::none)
        text += plan.recompute == Recompute::full ? ", recomputing all" : ", recomputing attention";
    return text;
}

SearchResult search_plans(Planner& planner, const SearchRequest& request) {
    const std::vector<SearchCandidate> candidates = candidates_of(request);
    if (candidates.empty())
        throw Failure(fmt::format("no split of {} GPUs divides a batch of {}: a batch of {} would", request.gpus,
                                  request.base.batch, request.gpus));
    const double limit = request.memory_limit_gb > 0 ? request.memory_limit_gb * 1e9 : memory_bytes(request.base.gpu);
    const double parameters = double(parameters_of(request.base.shape));
    SearchResult result;
    result.possible = candidates.size();
    // Where there are more than may be looked at, they are taken from all of the list.
    const size_t looked = std::min(candidates.size(), std::max<size_t>(1, request.most));
    for (size_t i = 0; i < looked && !request.stop.stop_requested(); ++i) {
        const SearchCandidate& one = candidates[i * candidates.size() / looked];
        ++result.tried;
        if (request.progress) request.progress(result.tried, looked);
        const auto out = [&](std::string reason) {
            result.fell_out.push_back({one.plan, one.microbatch, std::move(reason)});
        };
        PlanRequest plan = request.base;
        plan.plan = one.plan;
        plan.microbatch = one.microbatch;
        PlanMemory least = state_memory(parameters / (one.plan.tp * one.plan.pp), one.plan.zero, one.plan.dp * one.plan.cp,
                                        plan.compute, plan.gradients);
        if (one.plan.offload) least.optimizer = 0;
        if (least.total() > limit) {
            out(fmt::format("weights, gradients and optimiser alone need {:.1f} GB, and {:.1f} are allowed",
                            least.total() * 1e-9, limit * 1e-9));
            continue;
        }
        try {
            PlanResult planned = planner.plan(plan);
            if (planned.memory.total() > limit) {
                out(fmt::format("needs {:.1f} GB ({:.1f} of activations), and {:.1f} are allowed",
                                planned.memory.total() * 1e-9, planned.memory.activations * 1e-9, limit * 1e-9));
                continue;
            }
            result.best.push_back(std::move(planned));
        } catch (const Failure& failure) {
            out(failure.diagnostic.message);
            continue;
        }
    }
    std::stable_sort(result.best.begin(), result.best.end(),
                     [](const PlanResult& a, const PlanResult& b) { return a.tokens_per_second > b.tokens_per_second; });
    for (size_t i = request.keep; i < result.best.size(); ++i) {
        const PlanResult& slow = result.best[i];
        result.fell_out.push_back({slow.request.plan, slow.request.microbatch,
                                   fmt::format("fits, but is {:.1f} % slower than the best",
                                               100 * (1 - slow.tokens_per_second / result.best[0].tokens_per_second))});
    }
    if (result.best.size() > request.keep) result.best.resize(request.keep);
    return result;
}

}  // namespace lockstep::parallel
