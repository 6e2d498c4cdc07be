// `lockstep validate kernels`: the table is as wide as it says, its quick part stays as near to the measurements as it was,
// and what the program says of a launch's error is what that table gives. When the model has changed for the better, write
// core/model/metrics/known_errors.cpp again (`lockstep validate kernels --write-errors core/model/metrics/known_errors.cpp`)
// and tighten the three bounds below; nothing else holds figures.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "core/validate/published/published.h"
#include "tests/catch.h"

namespace validate_kernels_test {

using namespace lockstep;
using namespace lockstep::validate;

namespace {

// Of the quick part's predicted rows, as shares of the measured time.
constexpr double most_mean = 0.20, most_median = 0.145;
constexpr size_t most_wrong_pairs = 0;
// The stored table has three digits.
constexpr double stored_digits = 0.0011;

const model::KnownError* known(std::string_view name) {
    for (const model::KnownError& error : model::known_errors())
        if (error.name == name) return &error;
    return nullptr;
}

KernelRow row_of(const KernelCase& of, double got, double error) {
    return {.of = &of, .got = got, .error = error};
}

}  // namespace

TEST_CASE("whole kernels of the quick part stay as near to the measurements as they were", "[long]") {
    const std::vector<KernelRow> rows = validate_kernels({.quick = true});
    REQUIRE(rows.size() >= 30);
    for (const KernelRow& row : rows) {
        INFO(row.of->name << ": published " << row.of->expected << ", simulated " << row.got);
        CHECK(std::isfinite(row.error));
        const model::KnownError* const stored = known(row.of->name);
        INFO(
            "the stored table is another one: lockstep validate kernels --write-errors core/model/metrics/known_errors.cpp");
        REQUIRE(stored);
        CHECK(std::abs(stored->error - row.error) <= stored_digits);
        CHECK(stored->bound == row.bound);
        CHECK(stored->predicted == (row.of->figure == Kind::predicted));
    }
    const KernelTotal all = total_of_kernels(rows, "");
    INFO("mean " << all.mean << ", median " << all.median << ", worst " << all.worst_row);
    CHECK(all.mean <= most_mean);
    CHECK(all.median <= most_median);
    const LadderOrder order = order_of(rows);
    for (const std::string& wrong : order.wrong) INFO(wrong);
    CHECK(order.pairs > 0);
    CHECK(order.wrong.size() <= most_wrong_pairs);
}

TEST_CASE("the table of kernels is wide: rows, GPUs, kinds, and half of the kernels only judge") {
    std::set<std::string> names, gpus;
    std::set<std::string_view> kinds, kernels, judging;
    Programs programs;
    for (const KernelCase& row : kernel_cases()) {
        INFO(row.name);
        CHECK(names.insert(row.name).second);
        CHECK(row.expected > 0);
        CHECK(!row.source.empty());
        CHECK(row.at <= row.length);
        CHECK((row.work > 0) == (row.unit != Unit::microseconds || row.kind == "elementwise" || row.kind == "reduction"));
        REQUIRE(model::gpu_named(row.gpu).ok());
        CHECK(row.sms <= model::gpu_named(row.gpu).value().sms);
        CHECK((row.launches != nullptr) != row.product.has_value());
        gpus.insert(row.gpu);
        kinds.insert(row.kind);
        kernels.insert(kernel_of(row));
        if (only_judges(row)) judging.insert(kernel_of(row));
        if (row.product)
            CHECK(!programs.get(std::string(row.product->folder), row.product->file, row.product->kernel)
                       .instructions.empty());
        else
            for (const Launch& launch : row.launches(row.at, 1)) {
                const ptx::Program& program = programs.get("kernels/published", launch.file, launch.kernel);
                CHECK(program.parameters.size() == launch.arguments.size());
            }
        CHECK(known(row.name) != nullptr);
    }
    CHECK(names.size() >= 80);
    CHECK(gpus.size() >= 7);
    CHECK(kinds.size() >= 12);
    CHECK(2 * judging.size() >= kernels.size());
    CHECK(model::known_errors().size() == names.size());
}

TEST_CASE("totals count predicted rows, and a NaN is the worst of all") {
    KernelCase a{.kind = "k", .name = "a"}, b{.kind = "k", .name = "b"}, c{.kind = "l", .name = "c"};
    c.figure = Kind::calibrated;
    std::vector<KernelRow> rows = {row_of(a, 1, 0.1), row_of(b, 1, -0.3), row_of(c, 1, 2)};
    const KernelTotal total = total_of_kernels(rows, "");
    CHECK(total.rows == 2);
    CHECK(std::abs(total.mean - 0.2) < 1e-12);
    CHECK(std::abs(total.median - 0.2) < 1e-12);
    CHECK(total.worst == -0.3);
    CHECK(total.worst_row == "b");
    CHECK(total_of_kernels(rows, "l").rows == 0);
    rows[0].error = std::nan("");
    CHECK(total_of_kernels(rows, "").worst_row == "a");
}

TEST_CASE("a ladder's pairs are in the published order or they are named") {
    KernelCase a{.name = "a", .ladder = "x", .expected = 1}, b{.name = "b", .ladder = "x", .expected = 2},
        c{.name = "c", .ladder = "x", .expected = 3}, other{.name = "d", .expected = 9};
    const std::vector<KernelRow> rows = {row_of(a, 10, 0), row_of(b, 30, 0), row_of(c, 20, 0), row_of(other, 1, 0)};
    const LadderOrder order = order_of(rows);
    CHECK(order.pairs == 3);
    CHECK(order.wrong == std::vector<std::string>{"x: b and c"});
}

TEST_CASE("what bounds a launch is told from its counters") {
    const auto bound = [](int64_t cycles, std::vector<model::Metric> metrics) {
        model::TimedResult result;
        result.cycles = cycles;
        result.metrics = std::move(metrics);
        return model::bound_of(result);
    };
    using model::Bound;
    CHECK(bound(100, {{.name = "dram_throughput", .value = 99}}) == Bound::start);
    CHECK(bound(100000, {{.name = "dram_throughput", .value = 80}, {.name = "pipe_fma", .value = 70}}) == Bound::dram);
    CHECK(bound(100000, {{.name = "l2_throughput", .value = 65}}) == Bound::l2);
    CHECK(bound(100000, {{.name = "l1_throughput", .value = 90}}) == Bound::l1);
    CHECK(bound(100000, {{.name = "l1_throughput", .value = 90}, {.name = "shared_atomic_passes", .value = 5}}) ==
          Bound::atomics);
    CHECK(bound(100000, {{.name = "pipe_tensor", .value = 61}}) == Bound::tensor);
    CHECK(bound(100000, {{.name = "pipe_fp64", .value = 61}}) == Bound::fp64);
    CHECK(bound(100000, {{.name = "issue_slot_utilization", .value = 70}}) == Bound::arithmetic);
    CHECK(bound(100000, {{.name = "global_atomic_requests", .value = 5}, {.name = "global_load_requests", .value = 5}}) ==
          Bound::atomics);
    CHECK(bound(100000, {{.name = "stall_barrier", .value = 30}, {.name = "l1_throughput", .value = 50}}) ==
          Bound::barriers);
    CHECK(bound(100000, {{.name = "l1_throughput", .value = 50}}) == Bound::l1);
    CHECK(bound(100000, {{.name = "l1_throughput", .value = 30}}) == Bound::latency);
}

TEST_CASE("the error of a sort of kernels is said in one phrase, and its absence too") {
    using model::Bound;
    const std::vector<model::KnownError> errors = {{"a", Bound::dram, 0.1, true},
                                                   {"b", Bound::dram, -0.3, true},
                                                   {"c", Bound::dram, 5, false},
                                                   {"d", Bound::l2, 0.25, true}};
    CHECK(model::trust_in(Bound::dram, errors) ==
          "kernels bound by DRAM: 20 % off on average, -30 % at worst (2 published)");
    CHECK(model::trust_in(Bound::l2, errors) == "kernels bound by L2: +25 % on the one published measurement");
    CHECK(model::trust_in(Bound::tensor, errors) ==
          "kernels bound by tensor cores: no published measurement to hold them against");
    CHECK(model::error_of(Bound::dram, errors).median == 0.2);
}

TEST_CASE("published sums, scans and products compute what they are named after") {
    Programs programs;
    const model::GpuSpec gpu = model::gpu_named("v100").value();
    constexpr uint32_t n = 32768;
    std::vector<float> values(n);
    float sum = 0;
    for (uint32_t i = 0; i < n; ++i) sum += values[i] = static_cast<float>(i % 7) - 3;
    for (const KernelCase& row : kernel_cases()) {
        if (row.kind != "reduction") continue;
        INFO(row.name);
        const Launch launch = row.launches(n, 1).front();
        const ptx::Program& program = programs.get("kernels/published", launch.file, launch.kernel);
        simt::Memory memory;
        const uint64_t in = memory.allocate(n * 4, "in"), out = memory.allocate(n * 4, "out");
        std::memcpy(memory.write(in, n * 4), values.data(), n * 4);
        Arguments arguments(program);
        arguments.add(in);
        arguments.add(out);
        arguments.add(n / 4);
        simt::LaunchConfig config;
        config.grid = launch.grid;
        config.block = launch.block;
        config.dynamic_shared = launch.shared;
        config.parameters = arguments.block;
        run_kernel(gpu, program, config, memory);
        std::vector<float> parts(n);
        std::memcpy(parts.data(), memory.read(out, n * 4), n * 4);
        float got = 0;
        for (const float part : parts) got += part;
        CHECK(got == sum);  // small integers: exact in any order
    }
    for (const KernelCase& row : kernel_cases()) {
        if (!row.product || row.product->folder != "kernels/published" || row.product->halves) continue;
        INFO(row.name);
        const Product& product = *row.product;
        const ptx::Program& program = programs.get("kernels/published", product.file, product.kernel);
        constexpr uint32_t m = 128, k = 32;
        simt::Memory memory;
        const uint64_t a = memory.allocate(m * k * 4, "A"), b = memory.allocate(k * m * 4, "B"),
                       c = memory.allocate(m * m * 4, "C");
        std::vector<float> of_a(m * k), of_b(k * m), of_c(m * m);
        for (uint32_t i = 0; i < m * k; ++i)
            of_a[i] = static_cast<float>(i % 5) - 2, of_b[i] = static_cast<float>(i % 9) - 4;
        std::memcpy(memory.write(a, m * k * 4), of_a.data(), m * k * 4);
        std::memcpy(memory.write(b, m * k * 4), of_b.data(), m * k * 4);
        Arguments arguments(program);
        arguments.add(m);
        arguments.add(m);
        arguments.add(k);
        arguments.add(1.0f);
        arguments.add(a);
        arguments.add(k);
        arguments.add(b);
        arguments.add(m);
        arguments.add(0.0f);
        arguments.add(c);
        arguments.add(m);
        simt::LaunchConfig config;
        config.grid = product.rows_first ? simt::Dim3{m / product.tile_rows, m / product.tile_columns, 1}
                                         : simt::Dim3{m / product.tile_columns, m / product.tile_rows, 1};
        config.block = product.block;
        config.parameters = arguments.block;
        run_kernel(gpu, program, config, memory);
        std::memcpy(of_c.data(), memory.read(c, m * m * 4), m * m * 4);
        size_t wrong = 0;
        for (uint32_t i = 0; i < m; ++i)
            for (uint32_t j = 0; j < m; ++j) {
                float expected = 0;
                for (uint32_t x = 0; x < k; ++x) expected += of_a[i * k + x] * of_b[x * m + j];
                wrong += of_c[i * m + j] == expected ? 0 : 1;
            }
        CHECK(wrong == 0);
    }
}

}  // namespace validate_kernels_test
