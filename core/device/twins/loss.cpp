// Losses (kernels/softmax_cross_entropy.cu, mse.cu).
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void softmax_cross_entropy(ThreadPool& pool, const T* logits, const int* labels, T* loss, T* probabilities, int rows,
                           int classes) {
    each_row(pool, rows, classes * 8, [=](int row) {
        const T* x = logits + int64_t{row} * classes;
        T* p = probabilities + int64_t{row} * classes;
        if (labels[row] < 0 || labels[row] >= classes)
            throw Failure(fmt::format("label {} of row {} is outside of the {} classes", labels[row], row, classes));
        Acc<T> largest = x[0];
        for (int i = 1; i < classes; ++i) {
            const Acc<T> value = x[i];
            largest = value > largest || largest != largest ? value : largest;
        }
        Acc<T>* power = scratch<Acc<T>>(0, static_cast<size_t>(classes));
        for (int i = 0; i < classes; ++i) power[i] = exp_of(Acc<T>(x[i]) - largest);
        Acc<T> lanes[32] = {};
        for (int i = 0; i < classes; ++i) lanes[i % 32] += power[i];
        const Acc<T> sum = tree_sum(lanes, 32);
        for (int i = 0; i < classes; ++i) p[i] = power[i] / sum;
        loss[row] = log_of(sum) - (Acc<T>(x[labels[row]]) - largest);
    });
}
template <class T>
void softmax_cross_entropy_backward(ThreadPool& pool, const T* probabilities, const int* labels, T* dlogits, int rows,
                                    int classes, Acc<T> scale) {
    each_row(pool, rows, classes, [=](int row) {
        const T* p = probabilities + int64_t{row} * classes;
        T* d = dlogits + int64_t{row} * classes;
        for (int i = 0; i < classes; ++i) d[i] = (Acc<T>(p[i]) - Acc<T>(i == labels[row] ? 1 : 0)) * scale;
    });
}

template <class T>
void mse(ThreadPool& pool, const T* prediction, const T* target, T* squared, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> error = Acc<T>(prediction[i]) - Acc<T>(target[i]);
            squared[i] = error * error;
        }
    });
}
template <class T>
void mse_backward(ThreadPool& pool, const T* prediction, const T* target, T* dprediction, int n, Acc<T> scale) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) dprediction[i] = 2 * (Acc<T>(prediction[i]) - Acc<T>(target[i])) * scale;
    });
}

static const Twin table[] = {TWIN_FLOATS(softmax_cross_entropy), TWIN_FLOATS(softmax_cross_entropy_backward),
                             TWIN_FLOATS(mse), TWIN_FLOATS(mse_backward)};
std::span<const Twin> loss() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
