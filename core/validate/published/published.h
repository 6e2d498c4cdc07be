// Published measurements of whole kernels beside the model's time for kernels of the same shape (kernels/published, and the
// ladder of kernels/sgemm). One row a figure, in the files *_cases.cpp by kind; `lockstep validate kernels`.
//
// A row is run small enough: a large uniform launch at two lengths, whose difference is what more of it costs; a product of
// matrices as one wave of blocks at two depths; either on a part of the GPU with its share of L2 and DRAM where the row says
// so. Errors are those of the time, whatever was published: +0.5 is half as long again as on silicon.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metrics/bound.h"
#include "core/validate/probe.h"

namespace lockstep::validate {

constexpr uint64_t Mi = 1024 * 1024;

// An argument of a kernel: a number, or a buffer of zeros or of bytes drawn at random.
struct Argument {
    enum class Kind : uint8_t { i32, i64, f32, f64, zeros, random } kind = Kind::i32;
    int64_t whole = 0;  // the number; a buffer's bytes
    double real = 0;
};
Argument number(int64_t value);
Argument wide(int64_t value);
Argument real(double value);
Argument real64(double value);
Argument zeros(uint64_t bytes);
Argument random_bytes(uint64_t bytes);

struct Launch {
    std::string_view file, kernel;  // kernels/published/FILE.cu
    simt::Dim3 grid{1, 1, 1}, block{1, 1, 1};
    uint32_t shared = 0;         // dynamic, bytes a block
    uint32_t blocks_per_sm = 0;  // at most; 0: what fits
    std::vector<Argument> arguments;
};

// A product of matrices C[m,n] = A[m,k] B[k,n]: a tile of C a block.
struct Product {
    std::string_view folder, file, kernel;  // "kernels/published"
    uint32_t m = 0, n = 0, k = 0;
    uint32_t tile_rows = 0, tile_columns = 0;
    simt::Dim3 block{1, 1, 1};
    bool rows_first = false;  // blockIdx.x counts tiles of rows
    uint32_t depth = 0;       // of the first of the two runs
    bool halves = false;
};

enum class Unit : uint8_t { microseconds, gigabytes, gigaflops, cycles };  // gigabytes and gigaflops: a second
std::string_view name_of(Unit unit);

struct KernelCase {
    std::string_view kind;  // "stream", "reduction": what the report sums up by
    std::string name, gpu;  // "v100/read_256"
    std::string ladder;     // rows of one ladder have the published order; empty: none
    Unit unit = Unit::microseconds;
    double expected = 0;
    double work = 0;  // bytes, operations or requests of the whole, where the unit is a rate or cycles of one request
    Kind figure = Kind::predicted;
    bool quick = false;
    std::string_view source;  // repository, file, what of it
    double clock_mhz = 0;     // at which the GPU ran; 0: the row's boost clock
    // How it is run: the launches of `length` on so many SMs (they follow each other), at `at` and twice that; or a product.
    std::function<std::vector<Launch>(uint64_t length, uint32_t sms)> launches;
    uint64_t length = 1, at = 1;
    bool rounds = false;  // the length is that of each block, not their number: all of it on a part of the GPU, too
    uint32_t sms = 0;     // on so many SMs; 0: all
    std::optional<Product> product;
    // One of many in a queue, or in a graph: the gap to the next belongs to its time.
    enum class Behind : uint8_t { nothing, queue, graph } behind = Behind::nothing;
};
std::span<const KernelCase> kernel_cases();
std::vector<KernelCase> stream_cases();     // stream_cases.cpp: streams, stencils, elementwise kernels, copies
std::vector<KernelCase> cache_cases();      // cache_cases.cpp: strides, caches, tiny kernels, barriers, rooflines, FP64
std::vector<KernelCase> reduction_cases();  // reduction_cases.cpp: sums, rows, scans, atomics, transposes
std::vector<KernelCase> product_cases();    // product_cases.cpp: ladders of matrix products
std::string_view kernel_of(const KernelCase& row);
// Half of the kernels are never used to fit anything: the list is in report.cpp.
bool only_judges(const KernelCase& row);

struct KernelRow {
    const KernelCase* of = nullptr;
    double got = 0;  // in the row's unit
    double error = 0;
    model::Bound bound = model::Bound::latency;
};
KernelRow measure_kernel(const KernelCase& row, Programs& programs);

struct KernelOptions {
    bool quick = false;
    std::string only;                                    // rows whose kind or name contains it; empty: all
    std::function<void(const KernelCase& row)> started;  // progress
    std::stop_token stop;                                // no further row, and those so far are the result
};
std::vector<KernelRow> validate_kernels(const KernelOptions& options);

// Over the predicted rows, or those of them that only judge; of a kind or, with "", of all.
struct KernelTotal {
    size_t rows = 0;
    double mean = 0, median = 0, worst = 0;  // of |error|; the worst with its sign
    std::string worst_row;
};
KernelTotal total_of_kernels(std::span<const KernelRow> rows, std::string_view kind, bool judging = false);
std::vector<std::string_view> kinds_of(std::span<const KernelRow> rows);

// Pairs of rows in one ladder, and those of them that the model has the other way round.
struct LadderOrder {
    size_t pairs = 0;
    std::vector<std::string> wrong;  // "ladder: a before b"
};
LadderOrder order_of(std::span<const KernelRow> rows);

// What is aimed at, on rows that only judge.
constexpr double aim_mean = 0.15, aim_median = 0.10, aim_kind = 0.30;

// The text of core/model/metrics/known_errors.cpp.
std::string known_errors_text(std::span<const KernelRow> rows);

}  // namespace lockstep::validate
