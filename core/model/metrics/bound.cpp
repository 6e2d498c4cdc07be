// The rules, first that holds: a launch of a few thousand cycles is its start; what is busy six tenths of the time bounds
// it, the busiest first, unless that is shared memory with atomics; then what its warps wait for.
#include "core/model/metrics/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace lockstep::model {
namespace {

constexpr int64_t settled_cycles = 6000;  // some ten times a load from DRAM
constexpr double busy = 60, fairly_busy = 40, much_waiting = 20, many_atomics = 0.25;

struct BoundRow {
    std::string_view name, words;
};
constexpr std::array<BoundRow, static_cast<size_t>(Bound::count)> bound_rows = {{{"start", "that are over at once"},
                                                                                 {"dram", "bound by DRAM"},
                                                                                 {"l2", "bound by L2"},
                                                                                 {"l1", "bound by L1 or shared memory"},
                                                                                 {"tensor", "bound by tensor cores"},
                                                                                 {"fp64", "bound by FP64"},
                                                                                 {"arithmetic", "bound by arithmetic"},
                                                                                 {"atomics", "bound by atomics"},
                                                                                 {"barriers", "bound by barriers"},
                                                                                 {"latency", "bound by latency"}}};

double metric(const TimedResult& result, std::string_view name) {
    for (const Metric& it : result.metrics)
        if (it.name == name) return it.value;
    return 0;
}

}  // namespace

std::string_view name_of(Bound bound) {
    return bound_rows[static_cast<size_t>(bound)].name;
}

std::string_view words_for(Bound bound) {
    return bound_rows[static_cast<size_t>(bound)].words;
}

Bound bound_of(const TimedResult& result) {
    if (result.cycles < settled_cycles) return Bound::start;
    const auto get = [&](std::string_view name) { return metric(result, name); };
    const double arithmetic =
        std::max({get("issue_slot_utilization"), get("pipe_fma"), get("pipe_alu"), get("pipe_xu"), get("pipe_uniform")});
    const std::pair<double, Bound> parts[] = {{get("dram_throughput"), Bound::dram}, {get("l2_throughput"), Bound::l2},
                                              {get("l1_throughput"), Bound::l1},     {get("pipe_tensor"), Bound::tensor},
                                              {get("pipe_fp64"), Bound::fp64},       {arithmetic, Bound::arithmetic}};
    const auto busiest = *std::max_element(std::begin(parts), std::end(parts),
                                           [](const auto& a, const auto& b) { return a.first < b.first; });
    const double shared = get("shared_load_passes") + get("shared_store_passes") + get("shared_atomic_passes");
    const bool shared_atomics = get("shared_atomic_passes") > 0.5 * shared;
    if (busiest.first >= busy) return busiest.second == Bound::l1 && shared_atomics ? Bound::atomics : busiest.second;
    const double accesses = get("global_load_requests") + get("global_store_requests") + get("global_copy_requests") +
                            get("global_atomic_requests");
    if (shared_atomics || get("global_atomic_requests") > many_atomics * accesses) return Bound::atomics;
    if (get("stall_barrier") >= much_waiting) return Bound::barriers;
    return busiest.first >= fairly_busy ? busiest.second : Bound::latency;
}

BoundError error_of(Bound bound, std::span<const KnownError> errors) {
    BoundError sum;
    std::vector<double> sizes;
    for (const KnownError& known : errors) {
        if (known.bound != bound || !known.predicted) continue;
        sizes.push_back(std::abs(known.error));
        sum.mean += std::abs(known.error);
        if (!(std::abs(known.error) <= std::abs(sum.worst))) sum.worst = known.error;
    }
    sum.kernels = sizes.size();
    if (sizes.empty()) return sum;
    sum.mean /= static_cast<double>(sizes.size());
    std::sort(sizes.begin(), sizes.end());
    const size_t half = sizes.size() / 2;
    sum.median = sizes.size() % 2 == 1 ? sizes[half] : (sizes[half - 1] + sizes[half]) / 2;
    return sum;
}

std::string trust_in(Bound bound, std::span<const KnownError> errors) {
    const BoundError error = error_of(bound, errors);
    if (error.kernels == 0)
        return fmt::format("kernels {}: no published measurement to hold them against", words_for(bound));
    if (error.kernels == 1)
        return fmt::format("kernels {}: {:+.0f} % on the one published measurement", words_for(bound), 100 * error.worst);
    return fmt::format("kernels {}: {:.0f} % off on average, {:+.0f} % at worst ({} published)", words_for(bound),
                       100 * error.mean, 100 * error.worst, error.kernels);
}

}  // namespace lockstep::model
