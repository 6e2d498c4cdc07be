// Random arguments and a fitting launch for every row of the kernel library, made from the row (kernel.h), and running such
// a case on a device: what the tests of all rows and the comparison with a real GPU (app/silicon/measure/checks.cpp) share.
#pragma once
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::device::kernel_cases {

struct Shape {
    int m, n, k;  // rows, columns, inner size of products; elementwise kernels take m * n elements
};

struct Buffer {
    DType type = DType::f32;
    std::vector<double> values;
};

struct KernelCase {
    std::string kernel;
    simt::Dim3 grid, block;
    std::vector<Buffer> buffers;      // in the order of the pointers
    std::vector<Argument> arguments;  // a Pointer's address is an index into `buffers`
    bool exact = true;                // host and GPU agree to the last bit
    double tolerance = 0;             // else: of the largest value
};

KernelCase case_of(const KernelRow& row, Shape shape, uint64_t seed);

std::vector<std::byte> bytes_of(const Buffer& buffer);
std::vector<double> values_of(const std::vector<std::byte>& bytes, DType type);

// The buffers after the launch: as they lie in memory, and as numbers.
std::vector<std::vector<std::byte>> run_bytes(Device& device, const KernelCase& kernel_case);
using Values = std::vector<std::vector<double>>;  // by buffer
Values run_case(Device& device, const KernelCase& kernel_case);

// The largest difference of two buffers over the largest value; infinite when either holds a NaN that the other does not.
double difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace lockstep::device::kernel_cases
