// Ten kernels that can be run whole as well: how much faster sampling is, and how far off. On one thread, by the
// processor's time. Sampling includes looking at what blocks do.
#include "app/cli/measure/bench_sample.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "app/cli/measure/bench_kernels.h"
#include "core/base/units.h"
#include "core/model/sample/sample.h"

namespace lockstep::cli {
namespace {

// `inputs` and one output of n floats, then n.
BenchKernel by_element(const std::string& file, const std::string& kernel, size_t inputs, int n) {
    BenchKernel k(file, kernel, {bench_parts(n, bench_threads), 1, 1}, {bench_threads, 1, 1});
    for (size_t i = 0; i <= inputs; ++i) k.buffer(i, static_cast<size_t>(n));
    k.integer(inputs + 1, n);
    return k;
}
// The same for rows: a warp each.
BenchKernel by_row(const std::string& file, const std::string& kernel, size_t inputs, int rows, int columns) {
    BenchKernel k(file, kernel, {bench_parts(rows, 4), 1, 1}, {128, 1, 1});
    for (size_t i = 0; i <= inputs; ++i) k.buffer(i, static_cast<size_t>(rows) * static_cast<size_t>(columns));
    k.integer(inputs + 1, rows);
    k.integer(inputs + 2, columns);
    return k;
}

BenchKernel layer_norm(int rows, int columns) {
    BenchKernel k("norm_layer.ptx", "layer_norm_f32", {bench_parts(rows, 4), 1, 1}, {128, 1, 1});
    const auto all = static_cast<size_t>(rows) * static_cast<size_t>(columns);
    k.buffer(0, all);
    k.buffer(1, static_cast<size_t>(columns));
    k.buffer(2, static_cast<size_t>(columns));
    k.buffer(3, all);
    k.buffer(4, static_cast<size_t>(rows));
    k.buffer(5, static_cast<size_t>(rows));
    k.integer(6, 2);
    k.integer(7, rows);
    k.integer(8, columns);
    const float epsilon = 1e-5f;
    k.set(9, &epsilon, sizeof epsilon);
    return k;
}

BenchKernel gather(int n) {
    return bench_gather(n, 8, bench_parts(n, bench_threads), bench_threads);
}

BenchKernel divergent(int n) {
    return bench_of_array("divergent_f32", n, bench_parts(n, bench_threads), bench_threads);
}

// A rung of the ladder in kernels/sgemm, with blocks of `block` threads for tiles of `rows` x `columns`.
BenchKernel sgemm(const std::string& file, const std::string& kernel, int n, int rows, int columns, simt::Dim3 block) {
    BenchKernel k("../sgemm/ptx/" + file, kernel, {bench_parts(n, columns), bench_parts(n, rows), 1}, block);
    const size_t all = static_cast<size_t>(n) * static_cast<size_t>(n);
    const float one = 1, zero = 0;
    for (size_t i = 0; i < 3; ++i) k.integer(i, n);
    k.set(3, &one, sizeof one);
    k.buffer(4, all);
    k.integer(5, n);
    k.buffer(6, all);
    k.integer(7, n);
    k.set(8, &zero, sizeof zero);
    k.buffer(9, all);
    k.integer(10, n);
    return k;
}

// `large` is how often the size of the first row of `bench sample` goes into that of `bench sample/large`.
struct SampleCase {
    std::string name, gpu;
    BenchKernel (*make)(int times);
    int large;
    std::string (*what)(int times);
};

const std::vector<SampleCase>& cases() {
    static const auto elements = [](int times) { return fmt::format("{} elements", with_commas(int64_t{1 << 25} * times)); };
    static const auto rows_of_128 = [](int times) {
        return fmt::format("{} rows of 128", with_commas(int64_t{1 << 18} * times));
    };
    static const std::vector<SampleCase> rows{
        {"vector_add", "v100", [](int times) { return by_element("bench.ptx", "vector_add_f32", 2, (1 << 25) * times); }, 16,
         elements},
        {"sqrt", "a100", [](int times) { return by_element("unary.ptx", "sqrt_value_f32", 1, (1 << 25) * times); }, 16,
         elements},
        {"swiglu", "rtx4090", [](int times) { return by_element("glu.ptx", "swiglu_f32", 2, (1 << 25) * times); }, 16,
         elements},
        {"softmax", "v100", [](int times) { return by_row("softmax.ptx", "softmax_f32", 1, (1 << 18) * times, 128); }, 8,
         rows_of_128},
        {"softmax_backward", "h100",
         [](int times) { return by_row("softmax.ptx", "softmax_backward_f32", 2, (1 << 18) * times, 128); }, 8, rows_of_128},
        {"layer_norm", "v100", [](int times) { return layer_norm((1 << 17) * times, 256); }, 8,
         [](int times) { return fmt::format("{} rows of 256", with_commas(int64_t{1 << 17} * times)); }},
        {"gather", "v100", [](int times) { return gather((1 << 22) * times); }, 8,
         [](int times) {
             return fmt::format("{} threads, 8 loads 33 floats apart each", with_commas(int64_t{1 << 22} * times));
         }},
        {"divergent", "v100", [](int times) { return divergent((1 << 22) * times); }, 16,
         [](int times) { return fmt::format("{} threads, 0 to 63 rounds each", with_commas(int64_t{1 << 22} * times)); }},
        {"matmul", "v100", [](int times) { return bench_matmul("matmul_nn_f32", 1024 * times); }, 2,
         [](int times) { return fmt::format("{}^3, tiles of 16", 1024 * times); }},
        {"sgemm_autotuned", "a6000",
         [](int times) {
             return sgemm("7_autotuned.ptx", "sgemm_autotuned", 2048 * times, 128, 128, {256, 1, 1});
         },
         2, [](int times) { return fmt::format("{}^3", 2048 * times); }},
    };
    return rows;
}

double processor_seconds(const std::function<void()>& work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

model::SampledResult sampled(const model::GpuSpec& gpu, BenchKernel& k) {
    model::TimedOptions options;
    options.trace = false;
    options.max_instructions = uint64_t{1} << 40;
    return model::sampled_launch(gpu, *k.program, k.config, k.memory, options,
                                 {.time_only = true, .rounds_from = model::rounds_left_out_from});
}

BenchRow both_ways(const SampleCase& row, const std::string& name, int times) {
    const model::GpuSpec gpu = model::gpu_named(row.gpu).value();
    model::TimedOptions options;
    options.trace = false;
    options.max_instructions = uint64_t{1} << 40;
    int64_t whole = 0;
    const double whole_seconds = processor_seconds([&, again = row.make(times)]() mutable {
        const model::TimedResult result = model::launch(gpu, *again.program, again.config, again.memory, options);
        check_bench(result);
        whole = result.cycles;
    });
    BenchKernel k = row.make(times);
    model::SampledResult part;
    const double seconds = processor_seconds([&] { part = sampled(gpu, k); });
    check_bench(part.timed);
    std::string told = part.why;
    if (part.timed.sampling)
        told = fmt::format("{:+.2f} %, estimated within {:.1f} %",
                           100 * (static_cast<double>(part.timed.cycles) / static_cast<double>(whole) - 1),
                           std::max(0.1, 100 * part.timed.sampling->error));
    return {name, whole_seconds / seconds, "times as fast",
            fmt::format("{} on {}: {} cycles in {:.1f} s, sampled {} in {:.2f} s: {}", row.what(times), gpu.title, whole,
                        whole_seconds, part.timed.cycles, seconds, told)};
}

// What cannot be run whole within minutes.
BenchRow large_product(const std::string& gpu_name, const std::string& file, const std::string& kernel, int columns) {
    const model::GpuSpec gpu = model::gpu_named(gpu_name).value();
    BenchKernel k = sgemm(file, kernel, 4096, 128, columns, {256, 1, 1});
    model::SampledResult part;
    const double seconds = processor_seconds([&] { part = sampled(gpu, k); });
    check_bench(part.timed);
    const double error = part.timed.sampling ? part.timed.sampling->error : 0;
    return {"sample/4096/" + gpu_name, seconds, "s",
            fmt::format("{} 4096^3 on {}, time only: {} cycles, {:.1f} TFLOP/s, estimated within {:.1f} %{}", kernel,
                        gpu.title, part.timed.cycles, 2.0 * 4096 * 4096 * 4096 / part.timed.time_us / 1e6,
                        std::max(0.1, 100 * error), part.why.empty() ? "" : ": " + part.why)};
}

}  // namespace

void sample_bench(std::string_view wanted, const std::function<void(BenchRow)>& add) {
    for (const SampleCase& row : cases())
        if (const std::string name = "sample/" + row.name; name.starts_with(wanted)) add(both_ways(row, name, 1));
    for (const SampleCase& row : cases())  // by name alone: each takes minutes
        if (const std::string name = "sample/large/" + row.name; wanted.starts_with("sample/l") && name.starts_with(wanted))
            add(both_ways(row, name, row.large));
    if (std::string_view("sample/4096/a6000").starts_with(wanted))
        add(large_product("a6000", "7_autotuned.ptx", "sgemm_autotuned", 128));
    if (std::string_view("sample/4096/h100").starts_with(wanted))
        add(large_product("h100", "9_async.ptx", "sgemm_async", 256));
    if (std::string_view("sample/llama-8b").starts_with(wanted)) add(layer_bench());
}

}  // namespace lockstep::cli
