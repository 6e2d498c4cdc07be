// What compilers call: a file's fat binary, kernels and variables at the program's start, and <<<>>>.
#include <vector>

#include "core/runtime/cudart/call.h"

using namespace lockstep::runtime;

namespace {
struct Configuration {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
    const char* file = nullptr;  // where <<<>>> stands; null: the compiler does not say it
    int line = 0;
};
thread_local std::vector<Configuration> configurations;  // of <<<>>> whose kernel is not called yet

template <class Work>
void register_quietly(Work&& work) {  // what cannot be used is told by the call that needs it
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    try {
        work(runtime);
    } catch (const CallFailure& failure) {
        runtime.note(failure.message);
    }
}
}  // namespace

LOCKSTEP_INTERFACE

void** __cudaRegisterFatBinary(void* wrapper) {
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    return reinterpret_cast<void**>(runtime.add_module(wrapper));
}
void __cudaRegisterFatBinaryEnd(void**) {}
// Of the link stub that core/device/compile writes: what is registered next is from this part.
void lockstepRegisterPart(void** handle, unsigned long part) {
    reinterpret_cast<Module*>(handle)->registering = part;
}
void __cudaUnregisterFatBinary(void** handle) {
    register_quietly([&](Runtime& r) { r.remove_module(reinterpret_cast<Module*>(handle)); });
}
void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
    register_quietly([&](Runtime& r) { r.add_kernel(reinterpret_cast<Module*>(handle), host, name); });
}
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int, int) {
    register_quietly([&](Runtime& r) { r.add_variable(reinterpret_cast<Module*>(handle), host, name, bytes, nullptr); });
}
void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t bytes, int, int) {
    register_quietly([&](Runtime& r) { r.add_variable(reinterpret_cast<Module*>(handle), host, name, bytes, host); });
}
void lockstepManaged(const char* begin, const char* end) {
    register_quietly([&](Runtime& r) { r.add_managed_range(begin, end); });
}
char __cudaInitModule(void**) {
    return 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
    Runtime::instance().begin_launch();
    configurations.push_back({grid, block, shared, stream});
    return 0;
}
unsigned lockstepPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream, const char* file,
                                       int line) {
    Runtime::instance().begin_launch();
    configurations.push_back({grid, block, shared, stream, file, line});
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
    if (configurations.empty()) return cudaErrorMissingConfiguration;
    const Configuration last = configurations.back();
    configurations.pop_back();
    *grid = last.grid;
    *block = last.block;
    *shared = last.shared;
    *static_cast<cudaStream_t*>(stream) = last.stream;
    Runtime& runtime = Runtime::instance();
    const std::scoped_lock lock(runtime.mutex());
    runtime.say_launch_site(last.file, last.line);
    return cudaSuccess;
}

// Since CUDA 12 a kernel has a handle; here it is the function that stands for it.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    return __cudaGetKernel(kernel, function);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream);
}
LOCKSTEP_ALIAS(__cudaLaunchKernel_ptsz, __cudaLaunchKernel)
LOCKSTEP_INTERFACE_END
