// A cuBLAS over the modelled driver (modelled_cuda_driver.cpp): the functions that the yardstick calls, from their published
// meaning. What cuBLAS would refuse is refused with its status: an unknown handle, operation, type or leading dimension.
// Where NVIDIA's headers are, the compiler holds every signature and number here against them.
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/dtype.h"
#include "tests/driver/driver_function.h"

#if __has_include(<cublas_v2.h>) && __has_include(<cuda_runtime_api.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <cublas_v2.h>
#pragma GCC diagnostic pop
static_assert(CUBLAS_STATUS_SUCCESS == 0 && CUBLAS_STATUS_NOT_INITIALIZED == 1 && CUBLAS_STATUS_INVALID_VALUE == 7 &&
              CUBLAS_STATUS_NOT_SUPPORTED == 15);
static_assert(CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1 && CUBLAS_GEMM_DEFAULT == -1 && CUBLAS_COMPUTE_32F == 68);
static_assert(CUDA_R_32F == 0 && CUDA_R_16F == 2 && CUDA_R_16BF == 14);
#else
using cublasStatus_t = int;
using cublasHandle_t = struct cublasContext*;
using cudaStream_t = struct CUstream_st*;
using cublasOperation_t = int;
using cudaDataType = int;
using cublasComputeType_t = int;
using cublasGemmAlgo_t = int;
struct cublasContext;
struct CUstream_st;
#endif

namespace {

using lockstep::bf16_to_f32;
using lockstep::f16_to_f32;
using lockstep::f32_to_bf16;
using lockstep::f32_to_f16;

constexpr int not_initialised = 1, invalid_value = 7, execution_failed = 13, not_supported = 15;
struct ModelledHandle {
    uint64_t word = 0x6375424c4153;
    bool has_stream = false;
    void* stream = nullptr;
};
ModelledHandle* known(cublasHandle_t handle) {
    auto* const it = reinterpret_cast<ModelledHandle*>(handle);
    return it && it->word == ModelledHandle{}.word ? it : nullptr;
}
cublasStatus_t status(int value) {
    return static_cast<cublasStatus_t>(value);
}

bool copy_out(void* to, const void* from, size_t bytes, void* stream) {
    static const auto copy = driver_function<int (*)(void*, uint64_t, size_t, void*)>("cuMemcpyDtoHAsync_v2");
    return copy && copy(to, reinterpret_cast<uint64_t>(from), bytes, stream) == 0;
}
bool copy_in(void* to, const void* from, size_t bytes, void* stream) {
    static const auto copy = driver_function<int (*)(uint64_t, const void*, size_t, void*)>("cuMemcpyHtoDAsync_v2");
    return copy && copy(reinterpret_cast<uint64_t>(to), from, bytes, stream) == 0;
}

// Matrices by columns: `rows` of each column lie `leading` apart.
struct Columns {
    std::vector<float> values;
    size_t leading = 0;
    float at(size_t row, size_t column) const { return values[column * leading + row]; }
};
bool read(Columns& to, const void* from, int type, int leading, int columns, void* stream) {
    const size_t count = static_cast<size_t>(leading) * static_cast<size_t>(columns);
    to.leading = static_cast<size_t>(leading);
    to.values.resize(count);
    if (type == 0) return copy_out(to.values.data(), from, 4 * count, stream);
    std::vector<uint16_t> halves(count);
    if (!copy_out(halves.data(), from, 2 * count, stream)) return false;
    for (size_t i = 0; i < count; ++i) to.values[i] = type == 2 ? f16_to_f32(halves[i]) : bf16_to_f32(halves[i]);
    return true;
}

int multiply(cublasHandle_t handle, int transposed_a, int transposed_b, int m, int n, int k, float alpha, const void* a,
             int type_a, int lda, const void* b, int type_b, int ldb, float beta, void* c, int type_c, int ldc) {
    ModelledHandle* const it = known(handle);
    if (!it) return not_initialised;
    const int rows_a = transposed_a ? k : m, columns_a = transposed_a ? m : k, rows_b = transposed_b ? n : k,
              columns_b = transposed_b ? k : n;
    if (transposed_a < 0 || transposed_a > 1 || transposed_b < 0 || transposed_b > 1 || m < 1 || n < 1 || k < 1 ||
        lda < rows_a || ldb < rows_b || ldc < m || !it->has_stream)
        return invalid_value;
    for (const int type : {type_a, type_b, type_c})
        if ((type != 0 && type != 2 && type != 14) || type != type_a) return not_supported;
    Columns left, right, sum;
    if (!read(left, a, type_a, lda, columns_a, it->stream) || !read(right, b, type_b, ldb, columns_b, it->stream) ||
        !read(sum, c, type_c, ldc, n, it->stream))
        return execution_failed;
    std::vector<float> column(static_cast<size_t>(m));
    for (size_t j = 0; j < static_cast<size_t>(n); ++j) {
        std::fill(column.begin(), column.end(), 0.0f);
        for (size_t p = 0; p < static_cast<size_t>(k); ++p) {
            const float factor = transposed_b ? right.at(j, p) : right.at(p, j);
            for (size_t i = 0; i < static_cast<size_t>(m); ++i)
                column[i] += (transposed_a ? left.at(p, i) : left.at(i, p)) * factor;
        }
        for (size_t i = 0; i < static_cast<size_t>(m); ++i) {
            float& to = sum.values[j * sum.leading + i];
            to = alpha * column[i] + (beta == 0 ? 0 : beta * to);
        }
    }
    if (type_c == 0) return copy_in(c, sum.values.data(), 4 * sum.values.size(), it->stream) ? 0 : execution_failed;
    std::vector<uint16_t> halves(sum.values.size());
    for (size_t i = 0; i < halves.size(); ++i)
        halves[i] = type_c == 2 ? f32_to_f16(sum.values[i]) : f32_to_bf16(sum.values[i]);
    return copy_in(c, halves.data(), 2 * halves.size(), it->stream) ? 0 : execution_failed;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
    *handle = reinterpret_cast<cublasHandle_t>(new ModelledHandle);
    return status(0);
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    if (!known(handle)) return status(not_initialised);
    delete known(handle);
    return status(0);
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version) {
    *version = 130002;
    return status(known(handle) ? 0 : not_initialised);
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    ModelledHandle* const it = known(handle);
    if (!it) return status(not_initialised);
    it->has_stream = true;
    it->stream = stream;
    return status(0);
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transposed_a, cublasOperation_t transposed_b, int m,
                              int n, int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc) {
    return status(multiply(handle, static_cast<int>(transposed_a), static_cast<int>(transposed_b), m, n, k, *alpha, a, 0,
                           lda, b, 0, ldb, *beta, c, 0, ldc));
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transposed_a, cublasOperation_t transposed_b, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
    if (static_cast<int>(compute) != 68 || static_cast<int>(algorithm) != -1) return status(not_supported);
    float first = 0, second = 0;
    std::memcpy(&first, alpha, 4);
    std::memcpy(&second, beta, 4);
    return status(multiply(handle, static_cast<int>(transposed_a), static_cast<int>(transposed_b), m, n, k, first, a,
                           static_cast<int>(type_a), lda, b, static_cast<int>(type_b), ldb, second, c,
                           static_cast<int>(type_c), ldc));
}

}  // extern "C"
