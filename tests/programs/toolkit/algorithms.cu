// thrust and cub with the toolkit's own headers: sort, reduce, scan, transform, and a block's own reduction and sort.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

#include "../whole/check.h"

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

template <int threads>
__global__ void of_block(const int* in, int* sum, int* sorted) {
    using Reduce = cub::BlockReduce<int, threads>;
    using Sort = cub::BlockRadixSort<int, threads, 2>;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Sort::TempStorage sort;
    } storage;
    int values[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
    const int total = Reduce(storage.reduce).Sum(values);
    if (threadIdx.x == 0) *sum = total;
    __syncthreads();
    Sort(storage.sort).Sort(values);
    sorted[2 * threadIdx.x] = values[0];
    sorted[2 * threadIdx.x + 1] = values[1];
}

__global__ void of_thread(int* data, int n, int* sum) {
    *sum = thrust::reduce(thrust::seq, data, data + n);
}

int main() {
    const int n = 3000;
    std::vector<int> h(n);
    unsigned state = 7;
    for (int& x : h) x = static_cast<int>((state = state * 1664525 + 1013904223) >> 18);
    const int total = std::accumulate(h.begin(), h.end(), 0);
    thrust::device_vector<int> d(h.begin(), h.end()), e(n);
    EXPECT(thrust::reduce(d.begin(), d.end()) == total);
    thrust::inclusive_scan(d.begin(), d.end(), e.begin());
    EXPECT(e[n - 1] == total && e[0] == h[0]);
    thrust::transform(d.begin(), d.end(), e.begin(), Square());
    EXPECT(e[42] == h[42] * h[42]);

    int* const in = thrust::raw_pointer_cast(d.data());
    int* const out = thrust::raw_pointer_cast(e.data());
    size_t bytes = 0;
    CHECK(cub::DeviceReduce::Max(nullptr, bytes, in, out, n));
    thrust::device_vector<char> room(bytes);
    CHECK(cub::DeviceReduce::Max(thrust::raw_pointer_cast(room.data()), bytes, in, out, n));
    EXPECT(e[0] == *std::max_element(h.begin(), h.end()));

    of_block<64><<<1, 64>>>(in, out, out + 1);
    CHECK(cudaDeviceSynchronize());
    std::vector<int> first(h.begin(), h.begin() + 128), sorted(128);
    std::sort(first.begin(), first.end());
    thrust::copy(e.begin() + 1, e.begin() + 129, sorted.begin());
    EXPECT(sorted == first && e[0] == std::accumulate(first.begin(), first.end(), 0));

    thrust::sort(d.begin(), d.end());
    std::sort(h.begin(), h.end());
    EXPECT(thrust::equal(d.begin(), d.end(), thrust::device_vector<int>(h.begin(), h.end()).begin()));
    of_thread<<<1, 1>>>(in, 100, out);
    EXPECT(e[0] == std::accumulate(h.begin(), h.begin() + 100, 0));
    return pass();
}
