// A row a function; numbers are those of cublas_api.h and library_types.h. Its matrices lie by columns, so a
// row-major C = A B is its C' = B' A'.
#include "app/silicon/measure/cublas.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/device/cuda/nvidia_libraries.h"
#include "core/system/system.h"

namespace lockstep::device {

struct Cublas::Functions {
    int (*create)(void** handle) = nullptr;
    int (*destroy)(void* handle) = nullptr;
    int (*get_version)(void* handle, int* version) = nullptr;
    int (*set_stream)(void* handle, void* stream) = nullptr;
    int (*sgemm)(void* handle, int transposed_a, int transposed_b, int m, int n, int k, const float* alpha, const void* a,
                 int lda, const void* b, int ldb, const float* beta, void* c, int ldc) = nullptr;
    int (*gemm_ex)(void* handle, int transposed_a, int transposed_b, int m, int n, int k, const void* alpha, const void* a,
                   int type_a, int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc,
                   int compute, int algorithm) = nullptr;
};

Cublas::Cublas(std::unique_ptr<Functions> functions, void* handle) : functions_(std::move(functions)), handle_(handle) {}
Cublas::~Cublas() {
    functions_->destroy(handle_);
}

std::unique_ptr<Cublas> Cublas::open() {
    const char* const chosen = std::getenv("LOCKSTEP_LIBCUBLAS");
    system::Library library;
    if (chosen && *chosen) {
        library = system::load_library({chosen}, {});
    } else {
        const std::vector<std::filesystem::path> folders = nvidia_library_folders();
        for (const char* const version : {".13", ".12", ".11", ""})  // pip's finds its other half only where that is loaded
            if (!library.handle && system::load_library({fmt::format("libcublasLt.so{}", version)}, folders).handle)
                library = system::load_library({fmt::format("libcublas.so{}", version)}, folders);
    }
    if (!library.handle) return nullptr;
    auto f = std::make_unique<Functions>();
    const auto find = [&](const char* name, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(system::symbol_of(library, name));
        return function != nullptr;
    };
    void* handle = nullptr;
    if (!find("cublasCreate_v2", f->create) || !find("cublasDestroy_v2", f->destroy) ||
        !find("cublasGetVersion_v2", f->get_version) || !find("cublasSetStream_v2", f->set_stream) ||
        !find("cublasSgemm_v2", f->sgemm) || !find("cublasGemmEx", f->gemm_ex) || f->create(&handle) != 0)
        return nullptr;
    return std::unique_ptr<Cublas>(new Cublas(std::move(f), handle));
}

std::string Cublas::version() const {
    int version = 0;
    functions_->get_version(handle_, &version);  // 130002, before 12: 110902
    return fmt::format("{}.{}", version / 10000, version / 100 % 100);
}

void Cublas::multiply(DType type, Pointer a, Pointer b, Pointer c, int m, int n, int k, void* stream) {
    constexpr int f32 = 0, f16 = 2, bf16 = 14, compute_f32 = 68, any_algorithm = -1;
    const float one = 1, zero = 0;
    const auto at = [](Pointer pointer) { return reinterpret_cast<void*>(pointer.address); };
    const int number = type == DType::f32 ? f32 : type == DType::f16 ? f16 : bf16;
    int status = functions_->set_stream(handle_, stream);
    if (status == 0)
        status = type == DType::f32 ? functions_->sgemm(handle_, 0, 0, n, m, k, &one, at(b), n, at(a), k, &zero, at(c), n)
                                    : functions_->gemm_ex(handle_, 0, 0, n, m, k, &one, at(b), number, n, at(a), number, k,
                                                          &zero, at(c), number, n, compute_f32, any_algorithm);
    if (status != 0) throw Failure(fmt::format("cuBLAS fails with status {}", status));
}

}  // namespace lockstep::device
