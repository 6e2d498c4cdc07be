// The driver as a library that is loaded at run time, one row a function.
#include "core/device/cuda/cuda_driver.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/system/system.h"

namespace lockstep::device {
namespace {

template <class Function>
bool find(const system::Library& library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(system::symbol_of(library, name));
    return function != nullptr;
}

std::variant<CudaDriver, std::string> open_driver() {
    const char* const chosen = std::getenv("LOCKSTEP_LIBCUDA");
    const std::string name = chosen && *chosen ? chosen : system::library_name("libcuda.so.1", "nvcuda.dll");
    const system::Library library = system::load_library({name});
    if (!library.handle) return fmt::format("no NVIDIA driver here ({} was not found): install the GPU's driver", name);
    CudaDriver d;
    const bool complete =
        find(library, "cuInit", d.init) && find(library, "cuDriverGetVersion", d.driver_version) &&
        find(library, "cuDeviceGetCount", d.device_count) && find(library, "cuDeviceGet", d.device_get) &&
        find(library, "cuDeviceGetName", d.device_name) && find(library, "cuDeviceGetAttribute", d.device_attribute) &&
        find(library, "cuDevicePrimaryCtxRetain", d.retain_context) &&
        find(library, "cuDevicePrimaryCtxRelease_v2", d.release_context) &&
        find(library, "cuCtxSetCurrent", d.set_context) && find(library, "cuCtxSynchronize", d.synchronize) &&
        find(library, "cuMemAlloc_v2", d.allocate) && find(library, "cuMemFree_v2", d.release) &&
        find(library, "cuMemsetD8_v2", d.clear) && find(library, "cuMemcpyHtoDAsync_v2", d.copy_in) &&
        find(library, "cuMemcpyDtoHAsync_v2", d.copy_out) && find(library, "cuModuleLoadDataEx", d.load_module) &&
        find(library, "cuModuleUnload", d.unload_module) && find(library, "cuModuleGetFunction", d.function) &&
        find(library, "cuFuncSetAttribute", d.function_attribute) && find(library, "cuLaunchKernel", d.launch) &&
        find(library, "cuLaunchCooperativeKernel", d.launch_cooperative) &&
        find(library, "cuStreamCreate", d.create_stream) && find(library, "cuStreamDestroy_v2", d.destroy_stream) &&
        find(library, "cuStreamSynchronize", d.wait_stream) && find(library, "cuEventCreate", d.create_event) &&
        find(library, "cuEventDestroy_v2", d.destroy_event) && find(library, "cuEventRecord", d.record_event) &&
        find(library, "cuEventSynchronize", d.wait_event) && find(library, "cuStreamWaitEvent", d.stream_waits) &&
        find(library, "cuEventElapsedTime", d.elapsed) && find(library, "cuGetErrorString", d.error_text) &&
        find(library, "cuDeviceTotalMem_v2", d.total_memory) && find(library, "cuMemcpyDtoDAsync_v2", d.copy_within) &&
        find(library, "cuMemHostAlloc", d.pin) && find(library, "cuMemFreeHost", d.unpin) &&
        find(library, "cuModuleGetGlobal_v2", d.module_variable) && find(library, "cuArray3DCreate_v2", d.create_array) &&
        find(library, "cuArrayDestroy", d.destroy_array) && find(library, "cuMemcpy3D_v2", d.copy_array) &&
        find(library, "cuTexObjectCreate", d.create_texture) && find(library, "cuTexObjectDestroy", d.destroy_texture) &&
        find(library, "cuSurfObjectCreate", d.create_surface) && find(library, "cuSurfObjectDestroy", d.destroy_surface);
    if (!complete) return fmt::format("{} is not a CUDA driver that can be used here: it lacks functions of CUDA 11", name);
    find(library, "cuTensorMapEncodeTiled", d.encode_tiled);
    // What an older driver may lack; of a name with versions the first, whose structs stay as they were.
    if (!(find(library, "cuGraphCreate", d.create_graph) && find(library, "cuGraphDestroy", d.destroy_graph) &&
          find(library, "cuGraphAddKernelNode", d.add_kernel_node) &&
          find(library, "cuGraphInstantiateWithFlags", d.instantiate_graph) &&
          find(library, "cuGraphExecKernelNodeSetParams", d.change_kernel_node) &&
          find(library, "cuGraphLaunch", d.launch_graph)))
        d.create_graph = nullptr;
    else
        find(library, "cuGraphExecDestroy", d.destroy_ready_graph);
    const auto text = [&](CudaDriver::Status status) {
        const char* words = nullptr;
        d.error_text(status, &words);
        return std::string(words ? words : "unknown error");
    };
    if (const auto status = d.init(0)) return fmt::format("the NVIDIA driver finds no GPU: {}", text(status));
    int version = 0;
    d.driver_version(&version);
    d.version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
    if (const auto status = d.device_count(&d.devices)) return fmt::format("the NVIDIA driver fails: {}", text(status));
    if (d.devices == 0) return std::string("the NVIDIA driver finds no GPU");
    return d;
}

}  // namespace

const std::variant<CudaDriver, std::string>& cuda_driver() {
    static const std::variant<CudaDriver, std::string> driver = open_driver();
    return driver;
}

}  // namespace lockstep::device
