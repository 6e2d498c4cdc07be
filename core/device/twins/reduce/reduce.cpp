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

std::span<const Kernel> reduce() {
    static constexpr Kernel rows[] = {
        {"reduce_sum",
         "reduce.cu",
         "total[1] = sum of x[n]",
         "x[n] >total[1] n",
         FLOATS(reduce_sum),
         "blocks(1)",
         Agreement::to_the_bit,
         {.stored_once = {1}, .loaded_once = {0, {2}}}},
        {"reduce_mean",
         "reduce.cu",
         "mean[1] = sum of x[n] / n",
         "x[n] >mean[1] n",
         FLOATS(reduce_mean),
         "blocks(1)",
         Agreement::to_the_bit,
         {.stored_once = {1}, .loaded_once = {0, {2}}}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
