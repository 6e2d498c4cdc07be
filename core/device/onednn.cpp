// Matrix products by oneDNN's row-major sgemm. Its threads are OpenMP's; the count is set where that library is loaded.
#include <dlfcn.h>
#include <dnnl.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/base/diagnostic.h"
#include "core/device/matmul.h"

namespace lockstep::device {

namespace {
void set_threads(int threads) {
    using Set = void (*)(int);
    static const Set set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    if (set) set(std::max(threads, 1));  // of the calling thread's parallel regions
}
}  // namespace

void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c, int threads) {
    if (m <= 0 || n <= 0) return;
    if (k <= 0) {
        std::fill_n(c, static_cast<size_t>(m) * static_cast<size_t>(n), 0.0f);
        return;
    }
    set_threads(threads);
    const auto status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a, transpose_a ? m : k,
                                   b, transpose_b ? k : n, 0.0f, c, n);
    if (status != dnnl_success)
        throw Failure(
            fmt::format("oneDNN refused a {} x {} x {} matrix product (status {})", m, n, k, static_cast<int>(status)));
}

const char* matmul_library() {
    static const std::string name = [] {
        const auto* version = dnnl_version();
        return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
    }();
    return name.c_str();
}

}  // namespace lockstep::device
