// The native twins of the bundled kernels: plain loops over whole buffers, with the kernels' own argument lists
// (kernels/*.cu) after the pool of threads. Sums are added in the kernels' order, so they agree to the last bit but for
// the products of matrices and the exponentials.
#pragma once
#include "core/device/thread_pool.h"

namespace lockstep::device::twins {

void matmul_nn(ThreadPool& pool, const float* a, const float* b, float* c, int m, int n, int k);
void matmul_nt(ThreadPool& pool, const float* a, const float* b, float* c, int m, int n, int k);
void matmul_tn(ThreadPool& pool, const float* a, const float* b, float* c, int m, int n, int k);
void add_bias(ThreadPool& pool, const float* x, const float* bias, float* y, int rows, int columns);
void bias_grad(ThreadPool& pool, const float* dy, float* dbias, int rows, int columns);
void relu(ThreadPool& pool, const float* x, float* y, int n);
void relu_backward(ThreadPool& pool, const float* x, const float* dy, float* dx, int n);
void softmax_cross_entropy(ThreadPool& pool, const float* logits, const int* labels, float* loss, float* probabilities,
                           int rows, int classes);
void softmax_cross_entropy_backward(ThreadPool& pool, const float* probabilities, const int* labels, float* dlogits,
                                    int rows, int classes, float scale);
void mse(ThreadPool& pool, const float* prediction, const float* target, float* squared, int n);
void mse_backward(ThreadPool& pool, const float* prediction, const float* target, float* dprediction, int n, float scale);
void reduce_sum(ThreadPool& pool, const float* x, float* total, int n);
void reduce_mean(ThreadPool& pool, const float* x, float* mean, int n);
void sgd(ThreadPool& pool, float* w, const float* gradient, float lr, int n);
void fill(ThreadPool& pool, float* y, float value, int n);
void accumulate(ThreadPool& pool, float* y, const float* x, int n);
void vector_add(ThreadPool& pool, const float* a, const float* b, float* c, int n);
void strided_gather(ThreadPool& pool, const float* x, float* y, int n, int stride, int repeats);
void divergent(ThreadPool& pool, const float* x, float* y, int n);

}  // namespace lockstep::device::twins
