// The part ratios: kernels that are to show what the chip can do (kernels/top) against yardsticks on the same GPU, in turns,
// so that both find the same clock. Products against cuBLAS, whose results they are compared with first; attention against
// cuBLAS's rate in a product of f16; norms and their like against a plain copy. Without cuBLAS its rows are left out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "app/silicon/measure/cublas.h"
#include "app/silicon/measure/parts.h"
#include "core/device/cuda/cuda.h"

namespace lockstep::device {
namespace {

using enum PackArgument::Kind;

struct Pair {  // medians of times in turns
    double kernel_us = 0, yardstick_us = 0;
};
struct Bench {
    SiliconRun& run;
    Cuda& cuda;
    int repeats = run.options.quick ? 3 : 15;

    Pair time(const LaunchRequest& request, const std::function<void(void*)>& yardstick) const {
        const CudaLaunch launch = cuda.prepare(request);
        std::vector<double> kernel, other;
        for (int i = -2; i < repeats; ++i) {
            const double one = cuda.between_events_us(nullptr, [&](void* stream) { cuda.enqueue(launch, stream); });
            const double two = cuda.between_events_us(nullptr, yardstick);
            if (i < 0) continue;
            kernel.push_back(one);
            other.push_back(two);
        }
        return {median_of(std::move(kernel)), median_of(std::move(other))};
    }
    std::vector<std::byte> bytes_at(Pointer pointer, size_t bytes) const {
        std::vector<std::byte> values(bytes);
        cuda.copy_out(values.data(), pointer, bytes, 0);
        return values;
    }
};

float element_at(const std::vector<std::byte>& bytes, DType type, size_t i) {
    if (type == DType::f32) {
        float value;
        std::memcpy(&value, bytes.data() + 4 * i, 4);
        return value;
    }
    uint16_t half;
    std::memcpy(&half, bytes.data() + 2 * i, 2);
    return type == DType::f16 ? f16_to_f32(half) : bf16_to_f32(half);
}
// Throws where two results differ by more than rounding may explain.
void expect_same(const std::vector<std::byte>& a, const std::vector<std::byte>& b, DType type, double tolerance) {
    double largest = 0, apart = 0;
    for (size_t i = 0; i < a.size() / size_of(type); i += 61) {  // 61: every column comes
        const double x = static_cast<double>(element_at(a, type, i)), y = static_cast<double>(element_at(b, type, i));
        if (!std::isfinite(x)) throw Failure(fmt::format("element {} of the result is {}", i, x));
        largest = std::max(largest, std::abs(y));
        apart = std::max(apart, std::abs(x - y));
    }
    if (!(apart <= tolerance * largest)) throw Failure(fmt::format("the result is {} off, of {} at most", apart, largest));
}

PackArgument buffer(DType type, int64_t count, PackArgument::Kind kind = reals) {
    return {kind, type, count};
}
PackArgument map(PackArgument of, std::vector<uint64_t> dims, std::vector<uint32_t> box) {
    of.dims = std::move(dims);
    of.box = std::move(box);
    return of;
}
PackArgument scalar(int64_t value) {
    return {whole, DType::i32, value};
}
PackArgument scalar(double value) {
    return {real, DType::f32, 0, 0, value};
}
uint32_t small(int64_t value) {
    return static_cast<uint32_t>(value);
}
uint64_t size(int64_t value) {
    return static_cast<uint64_t>(value);
}

constexpr std::string_view sgemm_file = "kernels/sgemm/ptx/9_async.ptx", mma_file = "kernels/top/ptx/gemm_mma.ptx",
                           wgmma_file = "kernels/top/ptx/gemm_wgmma.ptx", rows_file = "kernels/top/ptx/rows.ptx";

// Buffers of every row: A, B, C in this order.
PackRow product_row(std::string_view file, std::string_view kernel, DType type, int64_t n, int sms) {
    PackRow row{.name = std::string(kernel), .file = file, .kernel = kernel};
    const PackArgument a = buffer(type, n * n), b = a, c = buffer(type, n * n, zeros);
    if (file == sgemm_file) {
        row.grid = {small(n / 256), small(n / 128)};
        row.block = {256};
        row.arguments = {scalar(n), scalar(n), scalar(n),   scalar(1.0), a,        scalar(n),
                         b,         scalar(n), scalar(0.0), c,           scalar(n)};
    } else if (file == mma_file) {
        row.grid = {small(n / 256), small(n / 128)};
        row.block = {256};
        row.dynamic_shared = 147456;
        row.arguments = {a, b, c, scalar(n), scalar(n), scalar(n)};
    } else {
        const std::vector<uint64_t> dims = {size(n), size(n)};
        row.grid = {small(sms / 2 * 2)};
        row.block = {384};
        row.dynamic_shared = 229440;
        row.arguments = {
            map(a, dims, {64, 128}), map(b, dims, {64, 64}), map(c, dims, {64, 64}), scalar(n), scalar(n), scalar(n)};
    }
    return row;
}

// Buffers: q, k, v, out, lse.
PackRow attention_row(bool by_wgmma, int64_t heads, int64_t t, int64_t d, bool causal) {
    PackRow row{.file = by_wgmma ? "kernels/top/ptx/attention_wgmma.ptx" : "kernels/top/ptx/attention_mma.ptx"};
    row.kernel = by_wgmma ? (d == 64 ? "attention_wgmma_f16_64" : "attention_wgmma_f16_128")
                          : (d == 64 ? "attention_mma_f16_64" : "attention_mma_f16_128");
    row.name = row.kernel;
    row.grid = {small(t / 128), small(heads)};
    row.block = {by_wgmma ? 384u : 128u};
    row.dynamic_shared = small(by_wgmma ? 1280 * d + 128 : 512 * d);
    const PackArgument in = buffer(DType::f16, heads * t * d), out = buffer(DType::f16, heads * t * d, zeros);
    const std::vector<uint64_t> dims = {size(d), size(t), size(heads)};
    if (by_wgmma)
        row.arguments = {map(in, dims, {64, 64, 1}), map(in, dims, {64, 128, 1}), map(in, dims, {64, 128, 1}),
                         map(out, dims, {64, 64, 1})};
    else
        row.arguments = {in, in, in, out};
    for (const PackArgument& argument : {buffer(DType::f32, heads * t, zeros), scalar(t), scalar(t), scalar(int64_t{causal}),
                                         scalar(1 / std::sqrt(static_cast<double>(d)))})
        row.arguments.push_back(argument);
    return row;
}

void measure_products(const Bench& bench, Cublas& cublas) {
    struct Product {
        std::string_view file, kernel;
        DType type;
    };
    static constexpr Product products[] = {{sgemm_file, "sgemm_async", DType::f32},
                                           {mma_file, "gemm_mma_f16", DType::f16},
                                           {mma_file, "gemm_mma_bf16", DType::bf16},
                                           {wgmma_file, "gemm_wgmma_f16", DType::f16},
                                           {wgmma_file, "gemm_wgmma_bf16", DType::bf16}};
    const int n = bench.run.options.quick ? 256 : 4096, sms = bench.cuda.attribute(16);
    for (const Product& product : products) {
        const std::string name = fmt::format("{} {}", product.kernel, n);
        bench.run.row(name, [&] {
            const PackLaunch launch(bench.cuda, product_row(product.file, product.kernel, product.type, n, sms));
            const PackRow other{
                .name = "c", .kernel = "relu_f32", .arguments = {buffer(product.type, int64_t{n} * n, zeros)}};
            const PackLaunch theirs(bench.cuda, other);
            const auto multiply = [&](void* stream) {
                cublas.multiply(product.type, launch.buffers()[0], launch.buffers()[1], theirs.buffers()[0], n, n, n,
                                stream);
            };
            const Pair times = bench.time(launch.request(), multiply);
            const size_t bytes = size(n) * size(n) * size_of(product.type);
            expect_same(bench.bytes_at(launch.buffers()[2], bytes), bench.bytes_at(theirs.buffers()[0], bytes), product.type,
                        product.type == DType::f32 ? 1e-5 : 1e-2);
            const double work = 2e-3 * n * n * n;  // GFLOP/s of us
            bench.run.add(SiliconRatio{name, work / times.kernel_us, work / times.yardstick_us, "GFLOP/s",
                                       fmt::format("cuBLAS {}, {}", cublas.version(), name_of(product.type))});
        });
    }
}

void measure_attention(const Bench& bench, Cublas& cublas) {
    const int n = bench.run.options.quick ? 256 : 4096, heads = bench.run.options.quick ? 2 : 32;
    std::optional<PackLaunch> matrices;
    for (const int d : {64, 128})
        for (const bool causal : {false, true})
            for (const bool by_wgmma : {false, true}) {
                const PackRow row = attention_row(by_wgmma, heads, n, d, causal);
                const std::string name = fmt::format("{} {} x {}{}", row.kernel, heads, n, causal ? ", causal" : "");
                bench.run.row(name, [&] {
                    const PackLaunch launch(bench.cuda, row);
                    if (!matrices) matrices.emplace(bench.cuda, product_row(mma_file, "gemm_mma_f16", DType::f16, n, 0));
                    const auto multiply = [&](void* stream) {
                        const auto at = matrices->buffers();
                        cublas.multiply(DType::f16, at[0], at[1], at[2], n, n, n, stream);
                    };
                    const Pair times = bench.time(launch.request(), multiply);
                    if (by_wgmma) {  // the other form is what the result is compared with
                        PackRow plain = attention_row(false, heads, n, d, causal);
                        plain.name = row.name;  // the same contents
                        const PackLaunch other(bench.cuda, plain);
                        bench.cuda.launch(other.request());
                        const size_t bytes = size(heads) * size(n) * size(d) * 2;
                        expect_same(bench.bytes_at(launch.buffers()[3], bytes), bench.bytes_at(other.buffers()[3], bytes),
                                    DType::f16, 1e-2);
                    }
                    const double work = 4e-3 * heads * n * n * d / (causal ? 2 : 1);
                    bench.run.add(SiliconRatio{name, work / times.kernel_us, 2e-3 * n * n * n / times.yardstick_us,
                                               "GFLOP/s", fmt::format("cuBLAS {}, product of f16", cublas.version())});
                });
            }
}

void measure_rows(const Bench& bench) {
    const int64_t rows = bench.run.options.quick ? 64 : 8192;
    for (const DType type : {DType::f16, DType::f32})
        for (const std::string_view kind : {"layer_norm_block", "rms_norm_block", "softmax_block", "bias_gelu_add"}) {
            const std::string kernel = fmt::format("{}_{}", kind, name_of(type));
            bench.run.row(kernel, [&] {
                const int64_t columns = 4096, count = rows * columns;  // f16: 64 MiB, which no L2 holds
                const PackArgument x = buffer(type, count), y = buffer(type, count, zeros), weight = buffer(type, columns);
                PackRow row{.name = kernel, .file = rows_file, .kernel = kernel, .grid = {small(rows)}, .block = {256}};
                if (kind == "layer_norm_block")
                    row.arguments = {x, weight, weight, y, scalar(rows), scalar(columns), scalar(1e-5)};
                else if (kind == "rms_norm_block")
                    row.arguments = {x, weight, y, scalar(rows), scalar(columns), scalar(1e-5)};
                else if (kind == "softmax_block")
                    row.arguments = {x, y, scalar(rows), scalar(columns)};
                else
                    row.arguments = {x, weight, x, y, scalar(rows), scalar(columns)};
                const auto vectors = count * static_cast<int64_t>(size_of(type)) / 16;
                const PackRow copy{
                    .name = "copy_vectors",
                    .file = rows_file,
                    .kernel = "copy_vectors",
                    .grid = {small(bench.cuda.attribute(16) * 8)},
                    .block = {256},
                    .arguments = {buffer(DType::f32, 4 * vectors), buffer(DType::f32, 4 * vectors, zeros), scalar(vectors)}};
                const PackLaunch launch(bench.cuda, row), other(bench.cuda, copy);
                const CudaLaunch copying = bench.cuda.prepare(other.request());
                const Pair times = bench.time(launch.request(), [&](void* s) { bench.cuda.enqueue(copying, s); });
                const double bytes = 16e-3 * static_cast<double>(vectors);  // GB/s of us
                bench.run.add(SiliconRatio{kernel, (kind == "bias_gelu_add" ? 3 : 2) * bytes / times.kernel_us,
                                           2 * bytes / times.yardstick_us, "GB/s", "a copy of 16 bytes a lane"});
            });
        }
}

}  // namespace

void measure_ratios(SiliconRun& run) {
    auto* const cuda = dynamic_cast<Cuda*>(&run.device);
    if (!cuda) return;
    const Bench bench{run, *cuda};
    measure_rows(bench);
    const std::unique_ptr<Cublas> cublas = Cublas::open();
    if (!cublas) return;
    measure_products(bench, *cublas);
    measure_attention(bench, *cublas);
}

}  // namespace lockstep::device
