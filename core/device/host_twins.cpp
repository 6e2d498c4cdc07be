// Each function does what the kernel of its name does; kernels/*.cu say what that is. Loops are written so that a compiler
// vectorises them: no branches, no load that depends on one. Matrix products and long elementwise loops use threads.
#include "core/device/host_twins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/device/matmul.h"

namespace lockstep::device::twins {

namespace {
// A tree over 2^n partial sums, as shared memory and shuffles do it: halves are added until one is left.
float tree_sum(float* partial, int count) {
    for (int half = count / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) partial[i] += partial[i + half];
    return partial[0];
}

// loop(begin, end) over the elements, in ranges that stay in a core's cache.
template <class Loop>
void elements(ThreadPool& pool, int n, const Loop& loop) {
    constexpr int range = 1 << 15;
    if (n < 2 * range) return loop(0, n);
    pool.run((n - 1) / range + 1, [&](int part) {
        const int begin = part * range;
        loop(begin, begin + std::min(range, n - begin));
    });
}
}  // namespace

void matmul_nn(ThreadPool& pool, const float* a, const float* b, float* c, int m, int n, int k) {
    matmul(false, false, m, n, k, a, b, c, pool);
}
void matmul_nt(ThreadPool& pool, const float* a, const float* b, float* c, int m, int n, int k) {
    matmul(false, true, m, n, k, a, b, c, pool);
}
void matmul_tn(ThreadPool& pool, const float* a, const float* b, float* c, int m, int n, int k) {
    matmul(true, false, m, n, k, a, b, c, pool);
}

void add_bias(ThreadPool&, const float* x, const float* bias, float* y, int rows, int columns) {
    for (int row = 0; row < rows; ++row, x += columns, y += columns)
        for (int i = 0; i < columns; ++i) y[i] = x[i] + bias[i];
}

void bias_grad(ThreadPool&, const float* dy, float* dbias, int rows, int columns) {
    const auto width = static_cast<size_t>(std::max(columns, 0));
    std::vector<float> partial(8 * width, 0.0f);  // [8,C]: rows r, r + 8, ...
    for (int row = 0; row < rows; ++row, dy += columns) {
        float* sum = partial.data() + static_cast<size_t>(row % 8) * width;
        for (int i = 0; i < columns; ++i) sum[i] += dy[i];
    }
    for (size_t i = 0; i < width; ++i) {
        float sum = partial[i];
        for (size_t j = 1; j < 8; ++j) sum += partial[j * width + i];
        dbias[i] = sum;
    }
}

void relu(ThreadPool& pool, const float* x, float* y, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = x[i] < 0.0f ? 0.0f : x[i];
    });
}
void relu_backward(ThreadPool& pool, const float* x, const float* dy, float* dx, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const float through = dy[i];
            dx[i] = x[i] > 0.0f ? through : 0.0f;
        }
    });
}

void softmax_cross_entropy(ThreadPool&, const float* logits, const int* labels, float* loss, float* probabilities, int rows,
                           int classes) {
    for (int row = 0; row < rows; ++row, logits += classes, probabilities += classes) {
        if (labels[row] < 0 || labels[row] >= classes)
            throw Failure(fmt::format("label {} of row {} is outside of the {} classes", labels[row], row, classes));
        float largest = logits[0];
        for (int i = 1; i < classes; ++i) largest = std::fmax(largest, logits[i]);
        float lanes[32] = {};
        for (int i = 0; i < classes; ++i) lanes[i % 32] += probabilities[i] = std::exp(logits[i] - largest);
        const float sum = tree_sum(lanes, 32);
        for (int i = 0; i < classes; ++i) probabilities[i] /= sum;
        loss[row] = std::log(sum) - (logits[labels[row]] - largest);
    }
}
void softmax_cross_entropy_backward(ThreadPool&, const float* probabilities, const int* labels, float* dlogits, int rows,
                                    int classes, float scale) {
    for (int row = 0; row < rows; ++row, probabilities += classes, dlogits += classes)
        for (int i = 0; i < classes; ++i) dlogits[i] = (probabilities[i] - (i == labels[row] ? 1.0f : 0.0f)) * scale;
}

void mse(ThreadPool& pool, const float* prediction, const float* target, float* squared, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const float error = prediction[i] - target[i];
            squared[i] = error * error;
        }
    });
}
void mse_backward(ThreadPool& pool, const float* prediction, const float* target, float* dprediction, int n, float scale) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) dprediction[i] = 2.0f * (prediction[i] - target[i]) * scale;
    });
}

void reduce_sum(ThreadPool&, const float* x, float* total, int n) {
    float partial[256] = {};
    for (int i = 0; i < n; ++i) partial[i % 256] += x[i];
    total[0] = tree_sum(partial, 256);
}
void reduce_mean(ThreadPool& pool, const float* x, float* mean, int n) {
    reduce_sum(pool, x, mean, n);
    mean[0] /= static_cast<float>(n);
}

void sgd(ThreadPool& pool, float* w, const float* gradient, float lr, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) w[i] -= lr * gradient[i];
    });
}
void fill(ThreadPool&, float* y, float value, int n) {
    std::fill_n(y, std::max(n, 0), value);
}
void accumulate(ThreadPool& pool, float* y, const float* x, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] += x[i];
    });
}

void vector_add(ThreadPool& pool, const float* a, const float* b, float* c, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) c[i] = a[i] + b[i];
    });
}
void strided_gather(ThreadPool&, const float* x, float* y, int n, int stride, int repeats) {
    for (int i = 0; i < n; ++i) {
        float sum = 0.0f;
        for (int r = 0; r < repeats; ++r)
            sum += x[(static_cast<unsigned>(i) * static_cast<unsigned>(stride) + static_cast<unsigned>(r) * 7u) %
                     static_cast<unsigned>(n)];
        y[i] = sum;
    }
}
// The trip count depends on the thread's place in its block: as launched with blocks of 256.
void divergent(ThreadPool&, const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) {
        const int thread = i % 256, trips = (thread * 37) & 63;
        float value = x[i];
        for (int t = 0; t < trips; ++t) value = (thread + t) & 1 ? std::fma(value, 0.5f, 1.0f) : value - 0.25f;
        y[i] = value;
    }
}

}  // namespace lockstep::device::twins
