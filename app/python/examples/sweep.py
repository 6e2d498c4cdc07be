"""A sweep over block sizes and GPUs, spread over cores (joblib) or a cluster (Dask): results pickle, so nothing else is needed.

    python sweep.py            as many processes as there are cores
    python sweep.py dask       Dask's local cluster; with Client("tcp://...") any other
"""
import sys

import numpy as np

import lockstep

SOURCE = """
__global__ void transpose(const float* in, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
"""


def run(kernel, gpu, block, n=256):
    """One launch; the arrays are made where it runs."""
    source, target = np.random.default_rng(0).random((n, n), np.float32), np.zeros((n, n), np.float32)
    grid = (-(-n // block[0]), -(-n // block[1]))
    result = kernel[grid, block](source, target, n, gpu=gpu, trace=False)
    assert np.array_equal(target, source.T)
    return result


def main():
    kernel = lockstep.compile(SOURCE)
    asked = [(gpu, block) for gpu in ("v100", "a100", "h100") for block in ((32, 8), (16, 16), (8, 32))]
    if "dask" in sys.argv[1:]:
        from distributed import Client, LocalCluster

        with LocalCluster(dashboard_address=None) as cluster, Client(cluster) as client:
            results = client.gather([client.submit(run, kernel, *one) for one in asked])
    else:
        from joblib import Parallel, delayed

        results = Parallel(n_jobs=-1)(delayed(run)(kernel, *one) for one in asked)
    for (gpu, block), r in zip(asked, results):
        print(f"{gpu:6} block {block[0]:2} x {block[1]:2}: {r.time_us:7.2f} µs, {r.metrics['sectors_per_request']:4.1f} sectors a load")


if __name__ == "__main__":
    main()
