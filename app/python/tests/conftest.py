"""What the tests share: a kernel, and whether this machine has what a test needs."""
import numpy
import pytest

import lockstep

SAXPY = """
__global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""


@pytest.fixture(scope="session")
def saxpy():
    return lockstep.compile(SAXPY)


@pytest.fixture
def xy():
    return numpy.arange(1000, dtype=numpy.float32), numpy.ones(1000, numpy.float32)


@pytest.fixture
def result(saxpy, xy):
    x, y = xy
    return saxpy[4, 256](x, y, 2.0, 1000)
