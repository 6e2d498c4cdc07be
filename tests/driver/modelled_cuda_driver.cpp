// A CUDA driver whose only GPU is the modelled one: the functions that the cuda device calls, over ptx and simt. So the
// device, its parameter blocks, streams and messages are tested where there is no NVIDIA driver; only silicon is missing.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/ptx/ptx.h"
#include "core/simt/launch.h"
#include "core/simt/tensor_map.h"

using namespace lockstep;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int invalid_value = 1, out_of_memory = 2, invalid_image = 200, not_found = 500, launch_failed = 719;

struct Function {
    std::shared_ptr<const ptx::Program> program;
};
struct LoadedModule {
    ptx::Module module;
    std::map<std::string, Function> functions;
};

simt::Memory& memory() {
    static simt::Memory instance(uint64_t{64} << 20);
    return instance;
}

// As in the driver, a thread that has set no context can do nothing.
thread_local void* current_context = nullptr;
constexpr int invalid_context = 201;

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v1
    void* function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
    void** parameters;
    void** extra;
};
struct Prepared {
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
};
Prepared prepared(const KernelNode& node) {  // with the values that the parameters have now
    Prepared it{static_cast<Function*>(node.function)->program,
                {{node.grid_x, node.grid_y, node.grid_z}, {node.block_x, node.block_y, node.block_z}, node.shared, {}}};
    it.config.parameters.resize(it.program->parameter_bytes);
    for (size_t i = 0; i < it.program->parameters.size(); ++i)
        std::memcpy(it.config.parameters.data() + it.program->parameters[i].offset, node.parameters[i],
                    it.program->parameters[i].bytes);
    return it;
}
int run(const Prepared& it) {
    if (simt::check_launch(*it.program, it.config, {.shared_per_block = 227 * 1024})) return 1;
    return simt::launch(*it.program, it.config, memory()).fault ? launch_failed : 0;
}
struct Graph {
    std::vector<std::unique_ptr<Prepared>> nodes;  // their addresses are their handles
};
struct ReadyGraph {
    std::vector<std::pair<const void*, Prepared>> nodes;  // of the graph, and as it is now
};

}  // namespace

extern "C" {

int cuInit(unsigned) {
    return 0;
}
int cuDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}
int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
int cuDeviceGet(int* device, int) {
    *device = 0;
    return 0;
}
int cuDeviceGetName(char* name, int length, int) {
    std::strncpy(name, "Modelled GPU", static_cast<size_t>(length));
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 16 ? 80 : attribute == 13 ? 1'530'000 : attribute == 75 ? 7 : 0;
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    static int it;
    *context = &it;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    return 0;
}
int cuCtxSetCurrent(void* context) {
    current_context = context;
    return 0;
}
int cuCtxSynchronize() {
    if (!current_context) return invalid_context;
    return 0;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    if (!current_context) return invalid_context;
    try {
        *address = memory().allocate(bytes, "buffer");
    } catch (const Failure&) {
        return out_of_memory;
    }
    return 0;
}
int cuMemFree_v2(uint64_t address) {
    if (!current_context) return invalid_context;
    memory().release(address);
    return 0;
}
int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t bytes) {
    if (!current_context) return invalid_context;
    std::memset(memory().write(address, bytes), value, bytes);
    return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
    if (!current_context) return invalid_context;
    std::memcpy(memory().write(to, bytes), from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
    if (!current_context) return invalid_context;
    std::memcpy(to, memory().read(from, bytes), bytes);
    return 0;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
    if (!current_context) return invalid_context;
    if (const char* const refused =
            std::getenv("LOCKSTEP_MODELLED_REFUSES")) {  // every line that holds it, as NVIDIA's does
        std::istringstream lines(static_cast<const char*>(image));
        std::string log, line;
        for (int number = 1; std::getline(lines, line); ++number)
            if (line.find(refused) != std::string::npos)
                log += "ptxas application ptx input, line " + std::to_string(number) + "; error   : Illegal modifier\n";
        for (unsigned i = 0; i < count && !log.empty(); ++i)
            if (options[i] == 5) std::strncpy(static_cast<char*>(values[i]), log.c_str(), 4000);
        if (!log.empty()) return invalid_image;
    }
    static int modules = 0;  // each has variables of its own
    auto parsed = ptx::parse(static_cast<const char*>(image), "module" + std::to_string(++modules) + ".ptx");
    if (parsed) {
        *module = new LoadedModule{std::move(parsed.value()), {}};
        return 0;
    }
    for (unsigned i = 0; i < count; ++i)
        if (options[i] == 5) std::strncpy(static_cast<char*>(values[i]), parsed.error().message.c_str(), 1000);
    return invalid_image;
}
int cuModuleUnload(void* module) {
    delete static_cast<LoadedModule*>(module);
    return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto program = ptx::decode(static_cast<LoadedModule*>(module)->module, name);
    if (!program) return not_found;
    Function& made = static_cast<LoadedModule*>(module)->functions[name];
    made.program = program.value();
    *function = &made;
    return 0;
}
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* tensor, const uint64_t* dims, const uint64_t* strides,
                           const unsigned* box, const unsigned* element_strides, int interleave, int swizzle, int,
                           int fill) {
    const auto made = simt::make_tensor_map(reinterpret_cast<uint64_t>(tensor), static_cast<simt::TensorType>(type),
                                            {dims, rank}, {strides, rank - 1}, {box, rank}, {element_strides, rank},
                                            static_cast<simt::TensorInterleave>(interleave),
                                            static_cast<simt::TensorSwizzle>(swizzle), static_cast<simt::TensorFill>(fill));
    if (!made) return 1;
    std::memcpy(map, made.value().bytes.data(), made.value().bytes.size());
    return 0;
}
int cuFuncSetAttribute(void*, int, int) {
    return 0;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void*, void** parameters, void**) {
    if (!current_context) return invalid_context;
    return run(prepared({function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, parameters, nullptr}));
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
    *bytes = size_t{64} << 20;
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
    if (!current_context) return invalid_context;
    std::memmove(memory().write(to, bytes), memory().read(from, bytes), bytes);
    return 0;
}
int cuMemHostAlloc(void** at, size_t bytes, unsigned) {
    if (!current_context) return invalid_context;
    *at = std::malloc(bytes);
    return *at ? 0 : out_of_memory;
}
int cuMemFreeHost(void* at) {
    std::free(at);
    return 0;
}
int cuModuleGetGlobal_v2(uint64_t* address, size_t* bytes, void* module, const char* name) {
    const ptx::Module& it = static_cast<LoadedModule*>(module)->module;
    auto program = ptx::decode(it, std::string(it.entries.front().name));
    if (!program) return not_found;
    for (const ptx::GlobalVariable& variable : program.value()->variables)
        if (variable.name == name) {
            *address = memory().variable(program.value()->ptx_file, variable.name, variable.bytes, variable.initial);
            *bytes = variable.bytes;
            return 0;
        }
    return not_found;
}
// A graph is run at once, its nodes in the order in which they were added; each may only wait for nodes before it.
int cuGraphCreate(void** graph, unsigned) {
    *graph = new Graph;
    return 0;
}
int cuGraphDestroy(void* graph) {
    delete static_cast<Graph*>(graph);
    return 0;
}
int cuGraphAddKernelNode(void** node, void* graph, void* const* dependencies, size_t count, const KernelNode* parameters) {
    auto& nodes = static_cast<Graph*>(graph)->nodes;
    for (size_t i = 0; i < count; ++i)
        if (std::none_of(nodes.begin(), nodes.end(), [&](const auto& it) { return it.get() == dependencies[i]; }))
            return invalid_value;
    nodes.push_back(std::make_unique<Prepared>(prepared(*parameters)));
    *node = nodes.back().get();
    return 0;
}
int cuGraphInstantiateWithFlags(void** ready, void* graph, unsigned long long) {
    auto copy = std::make_unique<ReadyGraph>();
    for (const auto& node : static_cast<Graph*>(graph)->nodes) copy->nodes.emplace_back(node.get(), *node);
    *ready = copy.release();
    return 0;
}
int cuGraphExecKernelNodeSetParams(void* ready, void* node, const KernelNode* parameters) {
    for (auto& [original, own] : static_cast<ReadyGraph*>(ready)->nodes)
        if (original == node) {
            own = prepared(*parameters);
            return 0;
        }
    return invalid_value;
}
int cuGraphLaunch(void* ready, void*) {
    if (!current_context) return invalid_context;
    for (const auto& [original, own] : static_cast<ReadyGraph*>(ready)->nodes)
        if (const int status = run(own)) return status;
    return 0;
}
int cuGraphExecDestroy(void* ready) {
    delete static_cast<ReadyGraph*>(ready);
    return 0;
}
int cuStreamCreate(void** stream, unsigned) {
    if (!current_context) return invalid_context;
    *stream = new char;
    return 0;
}
int cuStreamDestroy_v2(void* stream) {
    delete static_cast<char*>(stream);
    return 0;
}
int cuStreamSynchronize(void*) {
    return 0;
}
int cuEventCreate(void** event, unsigned) {
    if (!current_context) return invalid_context;
    *event = new Clock::time_point{};
    return 0;
}
int cuEventDestroy_v2(void* event) {
    delete static_cast<Clock::time_point*>(event);
    return 0;
}
int cuEventRecord(void* event, void*) {
    if (!current_context) return invalid_context;
    *static_cast<Clock::time_point*>(event) = Clock::now();
    return 0;
}
int cuEventSynchronize(void*) {
    return 0;
}
int cuStreamWaitEvent(void*, void*, unsigned) {
    return 0;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    *milliseconds = std::chrono::duration<float, std::milli>(*static_cast<Clock::time_point*>(end) -
                                                             *static_cast<Clock::time_point*>(begin))
                        .count();
    return 0;
}
int cuGetErrorString(int error, const char** text) {
    *text = error == out_of_memory     ? "out of memory"
            : error == launch_failed   ? "unspecified launch failure"
            : error == invalid_context ? "invalid device context"
                                       : "an error";
    return 0;
}

}  // extern "C"
