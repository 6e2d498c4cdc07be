// The kernels of one layer of an 8-billion-parameter Llama, forward, each timed once by sampling. Halves throughout; the
// products and attention run on tensor cores (kernels/top), each of whose heads has keys and values of its own here.
#include <ctime>

#include "app/cli/measure/bench_kernels.h"
#include "app/cli/measure/bench_sample.h"
#include "core/base/dtype.h"
#include "core/model/sample/sample.h"

namespace lockstep::cli {
namespace {

constexpr int tokens = 2048, width = 4096, inner = 14336, heads = 32, key_heads = 8, head = 128;

void halves(BenchKernel& k, size_t parameter, int64_t count) {
    const auto bytes = static_cast<uint64_t>(count) * 2;
    const uint64_t address = k.memory.allocate(bytes, fmt::format("argument {}", parameter));
    std::byte* const to = k.memory.write(address, bytes);
    for (int64_t i = 0; i < count; ++i) {
        const uint16_t value = f32_to_f16(static_cast<float>(i % 97) * 0.01f);
        std::memcpy(to + 2 * i, &value, sizeof value);
    }
    k.set(parameter, &address, sizeof address);
}

BenchKernel product(int columns, int depth) {
    BenchKernel k("../top/ptx/gemm_mma.ptx", "gemm_mma_f16", {bench_parts(columns, 256), bench_parts(tokens, 128), 1},
                  {bench_threads, 1, 1});
    k.config.dynamic_shared = 147456;
    halves(k, 0, int64_t{tokens} * depth);
    halves(k, 1, int64_t{depth} * columns);
    halves(k, 2, int64_t{tokens} * columns);
    k.integer(3, tokens);
    k.integer(4, columns);
    k.integer(5, depth);
    return k;
}

BenchKernel attention() {
    BenchKernel k("../top/ptx/attention_mma.ptx", "attention_mma_f16_128", {bench_parts(tokens, 128), heads, 1},
                  {128, 1, 1});
    k.config.dynamic_shared = 512 * head;
    for (size_t i = 0; i < 4; ++i) halves(k, i, int64_t{heads} * tokens * head);
    k.buffer(4, size_t{heads} * tokens);
    k.integer(5, tokens);
    k.integer(6, tokens);
    k.integer(7, 1);                  // causal
    const float scale = 0.08838835f;  // 1 / sqrt(128)
    k.set(8, &scale, sizeof scale);
    return k;
}

BenchKernel norm() {
    BenchKernel k("../top/ptx/rows.ptx", "rms_norm_block_f16", {tokens, 1, 1}, {bench_threads, 1, 1});
    halves(k, 0, int64_t{tokens} * width);
    halves(k, 1, width);
    halves(k, 2, int64_t{tokens} * width);
    k.integer(3, tokens);
    k.integer(4, width);
    const float epsilon = 1e-5f;
    k.set(5, &epsilon, sizeof epsilon);
    return k;
}

BenchKernel positions(int of_heads) {
    const int64_t rows = int64_t{tokens} * of_heads;
    BenchKernel k("rope.ptx", "rope_f16", {bench_parts(rows * head / 2, bench_threads), 1, 1}, {bench_threads, 1, 1});
    halves(k, 0, rows * head);
    halves(k, 1, int64_t{tokens} * head);
    halves(k, 2, rows * head);
    const int32_t values[] = {static_cast<int32_t>(rows), head, of_heads, tokens, 0, 1, 1};
    for (size_t i = 0; i < std::size(values); ++i) k.integer(3 + i, values[i]);
    return k;
}

BenchKernel by_element(const std::string& file, const std::string& kernel, int64_t n) {
    BenchKernel k(file, kernel, {bench_parts(n, bench_threads), 1, 1}, {bench_threads, 1, 1});
    for (size_t i = 0; i < 3; ++i) halves(k, i, n);
    k.integer(3, static_cast<int32_t>(n));
    return k;
}

struct LayerKernel {
    const char* name;
    int times;  // in a layer
    BenchKernel (*make)();
};

constexpr LayerKernel layer[] = {
    {"norm", 2, norm},
    {"query and output", 2, [] { return product(width, width); }},
    {"key and value", 2, [] { return product(key_heads * head, width); }},
    {"rope of queries", 1, [] { return positions(heads); }},
    {"rope of keys", 1, [] { return positions(key_heads); }},
    {"attention", 1, attention},
    {"gate and up", 2, [] { return product(inner, width); }},
    {"swiglu", 1, [] { return by_element("glu.ptx", "swiglu_f16", int64_t{tokens} * inner); }},
    {"down", 1, [] { return product(width, inner); }},
    {"sum", 2, [] { return by_element("binary.ptx", "add_f16", int64_t{tokens} * width); }},
};

}  // namespace

BenchRow layer_bench() {
    const model::GpuSpec gpu = model::gpu_named("h100").value();
    double seconds = 0, us = 0;
    std::string each;
    for (const LayerKernel& kernel : layer) {
        BenchKernel k = kernel.make();
        model::TimedOptions options;
        options.trace = false;
        options.max_instructions = uint64_t{1} << 40;
        const std::clock_t begin = std::clock();
        const model::SampledResult result = model::sampled_launch(
            gpu, *k.program, k.config, k.memory, options, {.time_only = true, .rounds_from = model::rounds_left_out_from});
        const double own = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        check_bench(result.timed);
        seconds += own;
        us += kernel.times * result.timed.time_us;
        each += fmt::format("{}{} x {} {:.0f} us in {:.1f} s{}", each.empty() ? "" : ", ", kernel.times, kernel.name,
                            result.timed.time_us, own, result.timed.sampling ? "" : " (whole)");
    }
    return {"sample/llama-8b", seconds, "s",
            fmt::format("the kernels of one layer, {} tokens on {}: {:.2f} ms; {}", tokens, gpu.title, us / 1000, each)};
}

}  // namespace lockstep::cli
