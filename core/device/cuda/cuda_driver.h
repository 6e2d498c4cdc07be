// The CUDA driver as a table of functions, found at run time in the driver's own library: nothing of CUDA is needed to
// build. Names and signatures are those of the CUDA Driver API (cuda.h); handles stay opaque.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

namespace lockstep::device {

struct CudaKernelNode {  // CUDA_KERNEL_NODE_PARAMS_v1
    void* function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    void** parameters;
    void** extra;
};

struct CudaArrayShape {           // CUDA_ARRAY3D_DESCRIPTOR
    size_t width, height, depth;  // 0: there is no such axis
    int format;
    unsigned channels, flags;
};
struct CudaCopyEnd {  // of a copy: its source or its target
    size_t x_bytes, y, z, level;
    int kind;  // 2: memory of the device, 3: an array
    void* host;
    uint64_t device;
    void* array;
    void* reserved;
    size_t pitch, height;
};
struct CudaCopy {  // CUDA_MEMCPY3D
    CudaCopyEnd from, to;
    size_t width_bytes, height, depth;
};
struct CudaResource {  // CUDA_RESOURCE_DESC of an array
    int kind = 0;
    void* array = nullptr;
    int others[30] = {};
    unsigned flags = 0;
};
struct CudaSampling {  // CUDA_TEXTURE_DESC
    int modes[3] = {1, 1, 1};
    int filter = 0;
    unsigned flags = 0, anisotropy = 0;
    int mip_filter = 0;
    float level_bias = 0, least_level = 0, most_level = 0, border[4] = {};
    int reserved[12] = {};
};

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
    // Of a grid whose blocks wait for each other; no driver since CUDA 9 lacks it.
    Status (*launch_cooperative)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared, Handle stream,
                                 void** parameters) = nullptr;
    Status (*create_stream)(Handle* stream, unsigned flags) = nullptr;
    Status (*destroy_stream)(Handle stream) = nullptr;
    Status (*wait_stream)(Handle stream) = nullptr;
    Status (*create_event)(Handle* event, unsigned flags) = nullptr;
    Status (*destroy_event)(Handle event) = nullptr;
    Status (*record_event)(Handle event, Handle stream) = nullptr;
    Status (*wait_event)(Handle event) = nullptr;
    Status (*stream_waits)(Handle stream, Handle event, unsigned flags) = nullptr;
    Status (*elapsed)(float* milliseconds, Handle begin, Handle end) = nullptr;
    // Of drivers for CUDA 12 and later: else null.
    Status (*encode_tiled)(void* map, int type, unsigned rank, void* tensor, const uint64_t* dims, const uint64_t* strides,
                           const unsigned* box, const unsigned* element_strides, int interleave, int swizzle, int promotion,
                           int fill) = nullptr;
    Status (*error_text)(Status error, const char** text) = nullptr;
    Status (*total_memory)(size_t* bytes, int device) = nullptr;
    Status (*copy_within)(uint64_t to, uint64_t from, size_t bytes, Handle stream) = nullptr;
    Status (*pin)(void** memory, size_t bytes, unsigned flags) = nullptr;  // page-locked memory of the host
    Status (*unpin)(void* memory) = nullptr;
    Status (*module_variable)(uint64_t* address, size_t* bytes, Handle module, const char* name) = nullptr;
    // Textures and surfaces.
    Status (*create_array)(Handle* array, const CudaArrayShape* shape) = nullptr;
    Status (*destroy_array)(Handle array) = nullptr;
    Status (*copy_array)(const CudaCopy* copy) = nullptr;
    Status (*create_texture)(uint64_t* object, const CudaResource* texels, const CudaSampling* sampling,
                             const void* view) = nullptr;
    Status (*destroy_texture)(uint64_t object) = nullptr;
    Status (*create_surface)(uint64_t* object, const CudaResource* texels) = nullptr;
    Status (*destroy_surface)(uint64_t object) = nullptr;
    // Graphs: all of these or none are there (CUDA 11.4).
    Status (*create_graph)(Handle* graph, unsigned flags) = nullptr;
    Status (*destroy_graph)(Handle graph) = nullptr;
    Status (*add_kernel_node)(Handle* node, Handle graph, const Handle* dependencies, size_t count,
                              const CudaKernelNode* parameters) = nullptr;
    Status (*instantiate_graph)(Handle* ready, Handle graph, unsigned long long flags) = nullptr;
    Status (*change_kernel_node)(Handle ready, Handle node, const CudaKernelNode* parameters) = nullptr;
    Status (*launch_graph)(Handle ready, Handle stream) = nullptr;
    Status (*destroy_ready_graph)(Handle ready) = nullptr;
    bool has_graphs() const { return destroy_ready_graph != nullptr; }

    int devices = 0;
    std::string version;  // "13.0"
};

// The driver, or why there is none, with what would help. LOCKSTEP_LIBCUDA names another library than libcuda.so.1.
// Looked for once a process.
const std::variant<CudaDriver, std::string>& cuda_driver();

}  // namespace lockstep::device
