// Rows functional/...: how fast the functional machine runs. A shared computer's speed changes from one second to the next,
// so the rows take turns: each round runs a slice of every row (some 20 to 200 ms), one after the other, and costs what it
// costs in the processor time of this thread. A row's value is its best slice; a ratio of two rows is the median over the
// rounds of a slice's cost over that of the slices of its base just before and just after it.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "app/cli/measure/bench_kernels.h"
#include "core/system/system.h"

namespace lockstep::cli {
namespace {

constexpr int bench_rounds = 9;
constexpr const char* bench_clock = "processor time of the thread";

constexpr size_t no_output = SIZE_MAX;

struct FunctionalRow {
    const char *name, *config;
    BenchKernel (*kernel)();
    bool checked = false;
    const char* base = nullptr;  // the row that it is held against
    const char* ratio = nullptr;
    size_t output = 2;    // its place among the parameters; no_output: none counts as unwritten
    bool native = false;  // by native code: the ratio says how many times as fast
};

// The first 128 rows of the product: a quarter of its blocks.
BenchKernel shared_matmul_slice(const std::string& prologue = "") {
    BenchKernel k = bench_matmul("matmul_nn_f32", 512, prologue);
    k.config.grid.y = 8;
    return k;
}
BenchKernel gather_slice(const std::string& prologue = "") {
    return bench_gather(1 << 18, 32, 256, 256, prologue);
}
// The same out of one half of a buffer into the other, so that the launch writes to the memory that it gathers from.
BenchKernel gather_beside_writes() {
    BenchKernel k = gather_slice();
    const size_t n = size_t{1} << 18;
    k.buffer(0, 2 * n);
    uint64_t address = 0;
    std::byte* const parameters = k.config.parameters.data();
    std::memcpy(&address, parameters + k.program->parameters.at(0).offset, sizeof address);
    address += n * sizeof(float);
    std::memcpy(parameters + k.program->parameters.at(1).offset, &address, sizeof address);
    return k;
}
BenchKernel divergent_slice() {
    return bench_of_array("divergent_f32", 1 << 16, 256);
}
// Lanes with an odd number leave at once.
const char* const every_second_lane =
    "{ .reg .pred %odd; .reg .b32 %lane; mov.u32 %lane, %tid.x; and.b32 %lane, %lane, 1;"
    " setp.ne.u32 %odd, %lane, 0; @%odd ret; }\n";

const FunctionalRow functional_rows[] = {
    {"functional/shared_matmul", "512^3, 16x16 tiles, 1 core", [] { return shared_matmul_slice(); }},
    {"functional/shared_matmul_checked", "512^3, memcheck, racecheck, initcheck and synccheck, 1 core",
     [] { return shared_matmul_slice(); }, true, "functional/shared_matmul", "functional/cost_of_checkers"},
    {"functional/shared_matmul_half", "the same, one lane in two active",
     [] { return shared_matmul_slice(every_second_lane); }, false, "functional/shared_matmul",
     "functional/cost_of_idle_lanes/shared_matmul"},
    {"functional/naive_matmul", "256^3, 1 core", [] { return bench_matmul("matmul_naive_f32", 256); }},
    {"functional/naive_matmul_half", "the same, one lane in two active",
     [] { return bench_matmul("matmul_naive_f32", 256, every_second_lane); }, false, "functional/naive_matmul",
     "functional/cost_of_idle_lanes/naive_matmul"},
    {"functional/strided_gather", "32 sectors a request, 1 core", [] { return gather_slice(); }},
    {"functional/strided_gather_checked", "the same, memcheck, racecheck, initcheck and synccheck, 1 core",
     [] { return gather_slice(); }, true, "functional/strided_gather", "functional/cost_of_checkers/strided_gather", 1},
    {"functional/gather_beside_writes", "the same, to the buffer that it reads, 1 core", gather_beside_writes},
    {"functional/gather_beside_writes_checked", "the same, memcheck, racecheck, initcheck and synccheck, 1 core",
     gather_beside_writes, true, "functional/gather_beside_writes", "functional/cost_of_checkers/gather_beside_writes",
     no_output},
    {"functional/strided_gather_half", "the same, one lane in two active", [] { return gather_slice(every_second_lane); },
     false, "functional/strided_gather", "functional/cost_of_idle_lanes/strided_gather"},
    {"functional/divergent", "trip count differs by lane, 1 core", divergent_slice},
    {"functional/shared_matmul_native", "512^3, 16x16 tiles, by native code, 1 core", [] { return shared_matmul_slice(); },
     false, "functional/shared_matmul", "functional/gain_of_native_code/shared_matmul", no_output, true},
    {"functional/shared_matmul_half_native", "the same, one lane in two active",
     [] { return shared_matmul_slice(every_second_lane); }, false, "functional/shared_matmul_half",
     "functional/gain_of_native_code/shared_matmul_half", no_output, true},
    {"functional/naive_matmul_native", "256^3, by native code, 1 core", [] { return bench_matmul("matmul_naive_f32", 256); },
     false, "functional/naive_matmul", "functional/gain_of_native_code/naive_matmul", no_output, true},
    {"functional/naive_matmul_half_native", "the same, one lane in two active",
     [] { return bench_matmul("matmul_naive_f32", 256, every_second_lane); }, false, "functional/naive_matmul_half",
     "functional/gain_of_native_code/naive_matmul_half", no_output, true},
    {"functional/strided_gather_native", "32 sectors a request, by native code, 1 core", [] { return gather_slice(); },
     false, "functional/strided_gather", "functional/gain_of_native_code/strided_gather", no_output, true},
    {"functional/gather_beside_writes_native", "the same, to the buffer that it reads, 1 core", gather_beside_writes, false,
     "functional/gather_beside_writes", "functional/gain_of_native_code/gather_beside_writes", no_output, true},
    {"functional/strided_gather_half_native", "the same, one lane in two active",
     [] { return gather_slice(every_second_lane); }, false, "functional/strided_gather_half",
     "functional/gain_of_native_code/strided_gather_half", no_output, true},
    {"functional/divergent_native", "trip count differs by lane, by native code, 1 core", divergent_slice, false,
     "functional/divergent", "functional/gain_of_native_code/divergent", no_output, true},
};

struct Slice {
    double instructions = 0, seconds = 0, wall = 0;
    double cost() const { return seconds / instructions; }
    double rate() const { return 1e-6 / cost(); }
};

// The product's buffer counts as unwritten before a launch with the checkers, as --arg out:... does.
Slice run_slice(BenchKernel& k, bool checked, size_t output, bool native) {
    uint64_t product = 0;
    if (checked && output != no_output) {
        std::memcpy(&product, k.config.parameters.data() + k.program->parameters.at(output).offset, sizeof product);
        k.memory.mark_unwritten(product);
    }
    simt::LaunchOptions options;
    options.racecheck = options.initcheck = checked;
    options.native = native;
    const auto wall = std::chrono::steady_clock::now();
    const double begin = system::thread_seconds();
    const simt::LaunchResult result = simt::launch(*k.program, k.config, k.memory, options);
    Slice slice;
    slice.seconds = system::thread_seconds() - begin;
    slice.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    slice.instructions = static_cast<double>(result.warp_instructions);
    check_bench(result);
    return slice;
}

BenchRow rate_row(const FunctionalRow& row, const std::vector<Slice>& slices) {
    BenchRow r{row.name, 0, "M warp instructions/s", row.config};
    const auto [slow, fast] = std::minmax_element(slices.begin(), slices.end(),
                                                  [](const Slice& a, const Slice& b) { return a.rate() < b.rate(); });
    r.value = r.highest = fast->rate();
    r.lowest = slow->rate();
    r.wall = fast->instructions / fast->wall / 1e6;
    r.slices = static_cast<int>(slices.size());
    r.clock = bench_clock;
    r.config += fmt::format(", the best of {} slices from {:.0f} up", r.slices, r.lowest);
    return r;
}

// Of an instruction's cost, so that programs that differ by some instructions can be held against one another.
BenchRow ratio_row(const FunctionalRow& row, const std::vector<Slice>& slices, const std::vector<Slice>& base) {
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(slices.size(), base.size() - 1); ++i)
        ratios.push_back(2 * slices[i].cost() / (base[i].cost() + base[i + 1].cost()));
    if (row.native)
        for (double& ratio : ratios) ratio = 1 / ratio;
    std::sort(ratios.begin(), ratios.end());
    BenchRow r{row.ratio, ratios[ratios.size() / 2], row.native ? "times as fast" : "times as long", ""};
    r.lowest = ratios.front();
    r.highest = ratios.back();
    r.slices = static_cast<int>(ratios.size());
    r.clock = bench_clock;
    r.config = fmt::format("{} over {}, median of {} pairs, {:.2f} to {:.2f}", std::string_view(row.name).substr(11),
                           std::string_view(row.base).substr(11), r.slices, r.lowest, r.highest);
    return r;
}

}  // namespace

std::vector<BenchRow> functional_bench(std::string_view wanted) {
    const auto is_base = [](const FunctionalRow& row) {
        return std::any_of(std::begin(functional_rows), std::end(functional_rows),
                           [&](const FunctionalRow& r) { return r.base && std::string_view(r.base) == row.name; });
    };

    const auto asked = [&](const char* name) { return name && std::string_view(name).starts_with(wanted); };
    std::vector<const FunctionalRow*> runs;
    for (const FunctionalRow& row : functional_rows) {
        const bool is_wanted_base = std::any_of(
            std::begin(functional_rows), std::end(functional_rows),
            [&](const FunctionalRow& r) { return r.base && std::string_view(r.base) == row.name && asked(r.ratio); });
        if (asked(row.name) || asked(row.ratio) || is_wanted_base) runs.push_back(&row);
    }
    if (runs.empty()) return {};
    std::vector<BenchKernel> kernels;
    for (const FunctionalRow* row : runs) kernels.push_back(row->kernel());
    std::map<std::string_view, std::vector<Slice>> slices;
    for (int round = -1; round <= bench_rounds; ++round)  // the first warms up; the last is for the bases alone
        for (size_t i = 0; i < runs.size(); ++i) {
            if (round == bench_rounds && runs[i]->base && !is_base(*runs[i])) continue;
            const Slice slice = run_slice(kernels[i], runs[i]->checked, runs[i]->output, runs[i]->native);
            if (round >= 0) slices[runs[i]->name].push_back(slice);
        }
    std::vector<BenchRow> rows;
    for (const FunctionalRow* row : runs) {
        if (asked(row->name)) rows.push_back(rate_row(*row, slices[row->name]));
        if (asked(row->ratio)) rows.push_back(ratio_row(*row, slices[row->name], slices[row->base]));
    }
    return rows;
}

}  // namespace lockstep::cli
