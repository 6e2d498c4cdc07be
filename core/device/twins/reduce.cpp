// Sums and means of everything (kernels/reduce.cu).
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
Acc<T> sum_of(const T* x, int n) {
    Acc<T> partial[256] = {};
    int i = 0;
    for (; i + 256 <= n; i += 256)
        for (int j = 0; j < 256; ++j) partial[j] += Acc<T>(x[i + j]);
    for (int j = 0; i + j < n; ++j) partial[j] += Acc<T>(x[i + j]);
    return tree_sum(partial, 256);
}

template <class T>
void reduce_sum(ThreadPool&, const T* x, T* total, int n) {
    total[0] = sum_of(x, n);
}
template <class T>
void reduce_mean(ThreadPool&, const T* x, T* mean, int n) {
    mean[0] = sum_of(x, n) / static_cast<Acc<T>>(n);
}

static const Twin table[] = {TWIN_FLOATS(reduce_sum), TWIN_FLOATS(reduce_mean)};
std::span<const Twin> reduce() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
