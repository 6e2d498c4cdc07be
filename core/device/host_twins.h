// The native twins of the bundled kernels: plain loops over whole buffers, with the kernels' own argument lists
// (kernels/*.cu) after the number of threads. Sums are added in the kernels' order, so they agree to the last bit but for
// the products of matrices and the exponentials.
#pragma once

namespace lockstep::device::twins {

void matmul_nn(int threads, const float* a, const float* b, float* c, int m, int n, int k);
void matmul_nt(int threads, const float* a, const float* b, float* c, int m, int n, int k);
void matmul_tn(int threads, const float* a, const float* b, float* c, int m, int n, int k);
void add_bias(int threads, const float* x, const float* bias, float* y, int rows, int columns);
void bias_grad(int threads, const float* dy, float* dbias, int rows, int columns);
void relu(int threads, const float* x, float* y, int n);
void relu_backward(int threads, const float* x, const float* dy, float* dx, int n);
void softmax_cross_entropy(int threads, const float* logits, const int* labels, float* loss, float* probabilities, int rows,
                           int classes);
void softmax_cross_entropy_backward(int threads, const float* probabilities, const int* labels, float* dlogits, int rows,
                                    int classes, float scale);
void mse(int threads, const float* prediction, const float* target, float* squared, int n);
void mse_backward(int threads, const float* prediction, const float* target, float* dprediction, int n, float scale);
void reduce_sum(int threads, const float* x, float* total, int n);
void reduce_mean(int threads, const float* x, float* mean, int n);
void sgd(int threads, float* w, const float* gradient, float lr, int n);
void fill(int threads, float* y, float value, int n);
void accumulate(int threads, float* y, const float* x, int n);
void vector_add(int threads, const float* a, const float* b, float* c, int n);
void strided_gather(int threads, const float* x, float* y, int n, int stride, int repeats);
void divergent(int threads, const float* x, float* y, int n);

}  // namespace lockstep::device::twins
