#include "core/graph/plan.h"

#include <algorithm>
#include <numeric>

namespace lockstep::graph {

namespace {
struct Lifetime {  // launches, both ends included
    int first = 0, last = -1;
    bool meets(const Lifetime& other) const { return first <= other.last && other.first <= last; }
};
}  // namespace

Plan plan_memory(const Graph& graph, int64_t alignment) {
    const auto launches = static_cast<int>(graph.launches.size());
    // Tensors of one size would lie a power of two apart, and the same places of all of them in the same few sets of a
    // cache: attention took up to a tenth longer.
    constexpr int64_t page = 4096, apart = 768;
    const auto aligned = [&](int64_t bytes) {
        return (bytes + (bytes >= page ? apart : 0) + alignment - 1) / alignment * alignment;
    };
    Plan plan;
    plan.place.assign(graph.buffers.size(), -1);
    plan.live.assign(graph.launches.size(), 0);
    std::vector<Lifetime> lives(graph.buffers.size());
    std::vector<size_t> order;
    for (size_t b = 0; b < graph.buffers.size(); ++b) {
        const Buffer& buffer = graph.buffers[b];
        if (buffer.role == Role::persistent || buffer.role == Role::constant) continue;
        if (buffer.first < 0 && !buffer.output) continue;
        Lifetime& life = lives[b];
        life = {buffer.role == Role::feed ? 0 : std::max(buffer.first, 0), buffer.output ? launches - 1 : buffer.last};
        for (int i = life.first; i <= life.last; ++i) plan.live[static_cast<size_t>(i)] += buffer.bytes;
        plan.unshared += buffer.bytes;
        order.push_back(b);
    }
    for (const int64_t bytes : plan.live) plan.live_peak = std::max(plan.live_peak, bytes);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return graph.buffers[a].bytes > graph.buffers[b].bytes; });

    std::vector<size_t> placed;  // by place
    for (const size_t b : order) {
        const int64_t bytes = aligned(std::max<int64_t>(graph.buffers[b].bytes, 1));
        int64_t best = -1, best_gap = 0, end = 0;  // end: of what lies below
        for (const size_t other : placed) {
            if (!lives[other].meets(lives[b])) continue;
            const int64_t gap = plan.place[other] - end;
            if (gap >= bytes && (best < 0 || gap < best_gap)) best = end, best_gap = gap;
            end = std::max(end, plan.place[other] + aligned(std::max<int64_t>(graph.buffers[other].bytes, 1)));
        }
        plan.place[b] = best >= 0 ? best : end;
        plan.arena = std::max(plan.arena, plan.place[b] + bytes);
        placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                       [&](size_t x, size_t y) { return plan.place[x] < plan.place[y]; }),
                      b);
    }
    return plan;
}

}  // namespace lockstep::graph
