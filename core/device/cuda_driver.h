// The CUDA driver as a table of functions, found at run time in the driver's own library: nothing of CUDA is needed to
// build. Names and signatures are those of the CUDA Driver API (cuda.h); handles stay opaque.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace lockstep::device {

struct CudaDriver {
    using Status = int;  // CUresult
    using Handle = void*;

    Status (*init)(unsigned flags) = nullptr;
    Status (*driver_version)(int* version) = nullptr;
    Status (*device_count)(int* count) = nullptr;
    Status (*device_get)(int* device, int ordinal) = nullptr;
    Status (*device_name)(char* name, int length, int device) = nullptr;
    Status (*device_attribute)(int* value, int attribute, int device) = nullptr;
    Status (*retain_context)(Handle* context, int device) = nullptr;
    Status (*release_context)(int device) = nullptr;
    Status (*set_context)(Handle context) = nullptr;
    Status (*synchronize)() = nullptr;
    Status (*allocate)(uint64_t* address, size_t bytes) = nullptr;
    Status (*release)(uint64_t address) = nullptr;
    Status (*clear)(uint64_t address, unsigned char value, size_t bytes) = nullptr;
    Status (*copy_in)(uint64_t to, const void* from, size_t bytes, Handle stream) = nullptr;
    Status (*copy_out)(void* to, uint64_t from, size_t bytes, Handle stream) = nullptr;
    Status (*load_module)(Handle* module, const void* image, unsigned count, int* options, void** values) = nullptr;
    Status (*unload_module)(Handle module) = nullptr;
    Status (*function)(Handle* function, Handle module, const char* name) = nullptr;
    Status (*function_attribute)(Handle function, int attribute, int value) = nullptr;
    Status (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                     unsigned block_z, unsigned shared, Handle stream, void** parameters, void** extra) = nullptr;
    Status (*create_stream)(Handle* stream, unsigned flags) = nullptr;
    Status (*destroy_stream)(Handle stream) = nullptr;
    Status (*wait_stream)(Handle stream) = nullptr;
    Status (*create_event)(Handle* event, unsigned flags) = nullptr;
    Status (*destroy_event)(Handle event) = nullptr;
    Status (*record_event)(Handle event, Handle stream) = nullptr;
    Status (*wait_event)(Handle event) = nullptr;
    Status (*stream_waits)(Handle stream, Handle event, unsigned flags) = nullptr;
    Status (*elapsed)(float* milliseconds, Handle begin, Handle end) = nullptr;
    Status (*error_text)(Status error, const char** text) = nullptr;

    int devices = 0;
    std::string version;  // "13.0"
};

// The driver, or why there is none, with what would help. LOCKSTEP_LIBCUDA names another library than libcuda.so.1.
// Looked for once a process.
const std::variant<CudaDriver, std::string>& cuda_driver();

}  // namespace lockstep::device
