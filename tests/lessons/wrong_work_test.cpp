// Work that has the right results and misses the point earns nothing, and an unusual way to the point earns its points.
// One row a submission; the clause of check= that fails, or none.
#include <algorithm>
#include <filesystem>

#include "lessons/player/check.h"
#include "tests/catch.h"
#include "tests/compilers_here.h"

namespace lessons_wrong_work_test {

using namespace lockstep;
using namespace lockstep::lessons;
using namespace lockstep::scene;

namespace {

struct Submission {
    const char *lesson, *exercise, *what, *fails;  // fails: how the clause begins, "" when all hold
    const char* text;
};

const Submission submissions[] = {
    {"A01", "scale", "one block of many", "cycles", R"(
__global__ void scale(const float *x, float *y, int n) {
    if (blockIdx.x > 0) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2.0f * x[i] + 1.0f;
})"},
    {"A03", "whole_trip", "nothing is freed", "operations == 8", R"(
kernels damp.cu
host x f32[65536 random]
host y f32[65536 random]
malloc dx f32[65536]
malloc dy f32[65536]
h2d dx x
h2d dy y
launch damp(dy, dx, 3, 65536) grid=256 block=256
d2h y dy
)"},
    {"A03", "whole_trip", "copies instead of frees", "copies == 3", R"(
kernels damp.cu
host x f32[65536 random]
host y f32[65536 random]
malloc dx f32[65536]
malloc dy f32[65536]
h2d dx x
h2d dx x
h2d dx x
h2d dy y
launch damp(dy, dx, 3, 65536) grid=256 block=256
d2h y dy
)"},
    {"A03", "whole_trip", "waits instead of frees", "still_allocated == 0", R"(
kernels damp.cu
host x f32[65536 random]
host y f32[65536 random]
malloc dx f32[65536]
malloc dy f32[65536]
h2d dx x
h2d dy y
launch damp(dy, dx, 3, 65536) grid=256 block=256
d2h y dy
sync
sync
)"},
    {"A07", "scratch", "half of the rounds", "outputs", R"(
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float kept[4], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; ++k) kept[k] = a[4 * i + (k + 4 - i % 4) % 4];
#pragma unroll
    for (int round = 8; round < 16; ++round)
#pragma unroll
        for (int k = 0; k < 4; ++k) sum = sum * 0.9f + kept[(round + k) % 4];
    out[i] = sum;
})"},
    {"A07", "scratch", "every round reads global memory again", "global_load_requests", R"(
__global__ void scratch(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int round = 0; round < 64; ++round) sum = sum * 0.9f + a[4 * i + ((round / 4 + round - i) & 3)];
    out[i] = sum;
})"},
    {"A08", "row_sums", "shared memory without a barrier", "races", R"(
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    __shared__ int part[32];
    for (int r = 0; r < 32; ++r) {
        int row = blockIdx.x * 32 + r, own = 0, total = 0;
        for (int k = threadIdx.x; k < columns; k += 32) own += matrix[row * columns + k];
        part[threadIdx.x] = own;
        if (threadIdx.x > 0) continue;
        for (int k = 0; k < 32; ++k) total += part[k];
        sum[row] = total;
    }
})"},
    {"A08", "row_sums", "four numbers a load", "", R"(
__global__ void row_sums(const int *matrix, int *sum, int columns) {
    for (int r = 0; r < 32; ++r) {
        int row = blockIdx.x * 32 + r, total = 0;
        for (int k = threadIdx.x; k < columns / 4; k += 32) {
            int4 v = reinterpret_cast<const int4 *>(matrix + row * columns)[k];
            total += v.x + v.y + v.z + v.w;
        }
        for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(0xffffffff, total, apart);
        if (threadIdx.x == 0) sum[row] = total;
    }
})"},
    {"A10", "transpose", "no tile, and columns loaded", "sectors_per_request", R"(
__global__ void transpose(const float *in, float *out) {
    out[32 * threadIdx.y + threadIdx.x] = in[32 * threadIdx.x + threadIdx.y];
})"},
    {"A10", "transpose", "no tile, and columns stored", "sectors_per_store_request", R"(
__global__ void transpose(const float *in, float *out) {
    out[32 * threadIdx.x + threadIdx.y] = in[32 * threadIdx.y + threadIdx.x];
})"},
    {"A10", "block_sum", "one thread adds all", "cycles", R"(
__global__ void block_sum(const int *in, int *out) {
    int total = 0;
    if (threadIdx.x > 0) return;
    for (int k = 0; k < 256; ++k) total += in[blockIdx.x * 256 + k];
    out[blockIdx.x] = total;
})"},
    {"A10", "block_sum", "the last steps without a barrier", "races", R"(
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[256];
    int i = threadIdx.x;
    part[i] = in[blockIdx.x * 256 + i];
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (i < s) part[i] += part[i + s];
        if (s > 32) __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = part[0];
})"},
    {"A10", "block_sum", "shuffles", "", R"(
__global__ void block_sum(const int *in, int *out) {
    __shared__ int part[8];
    int v = in[blockIdx.x * 256 + threadIdx.x];
    for (int apart = 16; apart > 0; apart /= 2) v += __shfl_xor_sync(0xffffffff, v, apart);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int k = 1; k < 8; ++k) v += part[k];
    out[blockIdx.x] = v;
})"},
    {"A15", "passes", "three passes with wide loads", "global_load_sectors", R"(
extern "C" __global__ void passes(const float *x, float *y, int n) {
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const float2 *from = reinterpret_cast<const float2 *>(x);
    float2 *to = reinterpret_cast<float2 *>(y);
    for (int i = first; i < n / 2; i += threads) to[i] = make_float2(0.5f * to[i].x, 0.5f * to[i].y);
    for (int i = first; i < n / 2; i += threads) to[i] = make_float2(to[i].x + from[i].x, to[i].y + from[i].y);
    for (int i = first; i < n / 2; i += threads) to[i] = make_float2(to[i].x * to[i].x, to[i].y * to[i].y);
})"},
};

}  // namespace

TEST_CASE("right results that miss an exercise's point fail by the clause that says so") {
    for (const Submission& one : submissions) {
        const Lesson lesson = lesson_named(one.lesson).value();
        const Exercise* exercise = nullptr;
        for (const Step& step : lesson.steps)
            for (const Exercise& each : step.exercises)
                if (each.id == one.exercise) exercise = &each;
        REQUIRE(exercise);
        if (std::filesystem::path(exercise->file).extension() == ".cu" && !compiler_here()) continue;
        INFO(one.lesson << " " << one.exercise << ": " << one.what);
        const auto report = check_submission(lesson, *exercise, one.text, exercise->file);
        REQUIRE(report.ok());
        for (const std::string& line : report.value().lines) UNSCOPED_INFO(line);
        CHECK(report.value().passed == (*one.fails == 0));
        const auto failed = std::find_if(report.value().clauses.begin(), report.value().clauses.end(),
                                         [](const auto& clause) { return !clause.holds; });
        if (*one.fails == 0 || report.value().passed) continue;
        REQUIRE(failed != report.value().clauses.end());
        CHECK(failed->text.starts_with(one.fails));
    }
}

}  // namespace lessons_wrong_work_test
