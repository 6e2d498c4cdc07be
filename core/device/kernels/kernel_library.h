// The bundled kernels by their whole names, a row of kernel.h for each element type that it has a twin for.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/device/device.h"
#include "core/device/kernels/kernel.h"

namespace lockstep::device {

struct KernelRow {
    std::string_view name;     // extern "C" name: "matmul_nn_f32"
    std::string_view base;     // "matmul_nn"
    DType type = DType::f32;   // of its elements
    std::string_view file;     // "matmul.cu", under kernels/; its PTX is kernels/ptx/matmul.ptx
    std::string_view summary;  // "C[M,N] = A[M,K] B[K,N]"
    const Kernel* kernel = nullptr;
    Run twin = nullptr;

    // Runs the kernel natively over whole buffers. Pointers in `arguments` are host addresses.
    void run(std::span<const Argument> arguments, ThreadPool& pool) const { twin(name, arguments, pool); }
    // How many elements a launch with these arguments may touch through the pointer that parameter `index` is; none where
    // the numbers do not say, as where an index in memory does.
    std::optional<int64_t> elements(size_t index, std::span<const Argument> arguments) const;
    // What such a launch moves when each of these elements is moved once; none where one of the counts is not known.
    std::optional<int64_t> bytes(std::span<const Argument> arguments) const;
};

std::span<const KernelRow> kernels();
const KernelRow& kernel_named(std::string_view name);  // throws Failure with the nearest name
// The name of the kernel for elements of a type, which lives as long as the program: ("relu", f64) is "relu_f64". Throws
// Failure that says for which types there is one.
std::string_view typed_kernel(std::string_view base, DType type);

// The decoded program of a bundled kernel, decoded once a process; the text of its CUDA source.
std::shared_ptr<const ptx::Program> program_of(std::string_view kernel);
const std::string& source_of(std::string_view kernel);

// Compilers, found at run time in this order: NVRTC (dlopen), nvcc, clang without a toolkit.
struct CompileOptions {
    std::string compiler;  // "" first found, "nvrtc", "nvcc", "clang"
    std::string arch;      // "sm_75": "" the lowest that the compiler has
    int least_arch = 0;    // 80: with arch "", the lowest that the compiler has from here on; 90 and above with its "a"
    std::vector<std::string> include = {};        // folders to look for headers in, behind the source file's own
    std::vector<std::string> define = {};         // macros: "N=16", "FAST"
    double seconds = 30;                          // after which a compiler is ended, and the next one tried
    double processor_seconds = 0;                 // the same of processor time; 0: as many
    std::vector<Diagnostic>* messages = nullptr;  // filled with all errors and warnings, in the compiler's order
};
struct Compiled {
    std::string ptx;
    std::string compiler;     // "NVRTC 13.0", "nvcc 13.0", "clang 14.0.6"
    std::string log;          // warnings
    bool from_cache = false;  // compiled before, by that compiler: no compiler ran now
};
// A compile error's Diagnostic has file, line, column and caret of the student's text. No compiler: Failure(missing).
Result<Compiled> compile(const std::string& cuda_source, const std::string& file, const CompileOptions& = {});
// The version of the compiler that compile() takes for this name, "NVRTC 13.0"; fails as it does where there is none.
std::string compiler_version(const std::string& name);
// What decode says of compiled PTX, at its place in the CUDA source where it names one.
Diagnostic in_source(Diagnostic problem, const std::string& source, const std::string& file);
std::vector<DeviceListing> list_compilers();

}  // namespace lockstep::device
