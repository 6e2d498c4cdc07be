// The ladder of sums in shared memory: from divergent to strided to sequential, with half the threads, with the last warp apart, and with shuffles. Grid (n / (256 or 512)), block 256; out[block] unless the name says atomic, then all add to out[0]
constexpr int threads = 256;

__device__ void last_warp(volatile float* cache, int t) {
    cache[t] += cache[t + 32];
    cache[t] += cache[t + 16];
    cache[t] += cache[t + 8];
    cache[t] += cache[t + 4];
    cache[t] += cache[t + 2];
    cache[t] += cache[t + 1];
}

template <bool atomic> __device__ void deliver(float* out, float sum) {
    if (threadIdx.x != 0) return;
    if (atomic) atomicAdd(out, sum);
    else out[blockIdx.x] = sum;
}

// how: 0 divergent, 1 strided, 2 sequential, 3 two loads a thread, 4 the last warp without barriers as well; 5 that with one load.
template <int how, bool atomic> __device__ void tree(const float* in, float* out) {
    extern __shared__ float cache[];
    const unsigned t = threadIdx.x, width = blockDim.x;
    constexpr bool two = how == 3 || how == 4;
    const unsigned i = blockIdx.x * width * (two ? 2 : 1) + t;
    cache[t] = two ? in[i] + in[i + width] : in[i];
    __syncthreads();
    if (how == 0) {
        for (unsigned s = 1; s < width; s *= 2) {
            if (t % (2 * s) == 0) cache[t] += cache[t + s];
            __syncthreads();
        }
    } else if (how == 1) {
        for (unsigned s = 1; s < width; s *= 2) {
            const unsigned at = 2 * s * t;
            if (at < width) cache[at] += cache[at + s];
            __syncthreads();
        }
    } else {
        for (unsigned s = width / 2; s > (how >= 4 ? 32 : 0); s >>= 1) {
            if (t < s) cache[t] += cache[t + s];
            __syncthreads();
        }
        if (how >= 4 && t < 32) last_warp(cache, t);
    }
    deliver<atomic>(out, cache[0]);
}
#define TREE(NAME, HOW) \
    extern "C" __global__ void sum_##NAME(const float* in, float* out) { tree<HOW, false>(in, out); } \
    extern "C" __global__ void sum_##NAME##_atomic(const float* in, float* out) { tree<HOW, true>(in, out); }
TREE(divergent, 0)
TREE(strided, 1)
TREE(sequential, 2)
TREE(two_loads, 3)
TREE(last_warp, 4)
TREE(one_load_last_warp, 5)

// Four words a thread straight to one atomic.
extern "C" __global__ void sum_all_atomic(const float4* in, float* out) {
    const float4 v = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(out, v.x + v.y + v.z + v.w);
}

// Many loads a thread, summed in shared memory as its source has it, then unrolled steps of known size.
template <int loads> __device__ void many(const float* in, float* out) {
    __shared__ float cache[threads];
    const unsigned t = threadIdx.x, i = blockIdx.x * (threads * loads) + t;
    cache[t] = 0;
#pragma unroll
    for (int j = 0; j < loads; ++j) cache[t] += in[i + j * threads];
    __syncthreads();
    if (t < 128) cache[t] += cache[t + 128];
    __syncthreads();
    if (t < 64) cache[t] += cache[t + 64];
    __syncthreads();
    if (t < 32) last_warp(cache, t);
    deliver<false>(out, cache[0]);
}
extern "C" __global__ void sum_many(const float* in, float* out) { many<128>(in, out); }

__device__ float warp_sum(float v) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) v += __shfl_down_sync(~0u, v, apart);
    return v;
}
__device__ void deliver_by_shuffles(float sum, float* out) {
    __shared__ float parts[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    sum = warp_sum(sum);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / 32 ? parts[lane] : 0;
    if (warp == 0) sum = warp_sum(sum);
    deliver<false>(out, sum);
}
extern "C" __global__ void sum_shuffles(const float* in, float* out) {
    float sum = 0;
    const unsigned i = blockIdx.x * (threads * 128) + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 128; ++j) sum += in[i + j * threads];
    deliver_by_shuffles(sum, out);
}
// Blocks that fit at once go over packs of four in strides.
extern "C" __global__ void sum_packs(const float4* in, float* out, unsigned packs) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < packs; i += blockDim.x * gridDim.x) {
        const float4 v = in[i];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    deliver_by_shuffles(sum.x + sum.y + sum.z + sum.w, out);
}
