// Matrix products on the host: C[M,N] = op(A) op(B), row-major, op(A) of M x K and op(B) of K x N. Two twin files:
// onednn.cpp calls oneDNN, no_onednn.cpp is plain blocked loops; the build takes one. Both cut C into parts by the shape
// alone and give the parts to the pool: the bits of C do not depend on the number of threads.
#pragma once
#include "core/device/kernels/thread_pool.h"

namespace lockstep::device {

// A transposed operand is stored [K,M] (A) or [N,K] (B). With `tell`, the pool's listener hears of rows of C when they are
// made, where C is cut by rows.
void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
            ThreadPool& pool, bool tell = false);
// The same on the calling thread alone, in one part: for use inside a pool's work.
void matmul_here(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c);

const char* matmul_library();  // "oneDNN 2.6.3", "plain loops"

}  // namespace lockstep::device
