// A CUDA driver whose only GPU is the modelled one: the functions that the cuda device calls, over ptx and simt. So the
// device, its parameter blocks, streams and messages are tested where there is no NVIDIA driver; only silicon is missing.
#include <chrono>
#include <cstring>
#include <map>
#include <string>

#include "core/ptx/ptx.h"
#include "core/simt/launch.h"

using namespace lockstep;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int out_of_memory = 2, invalid_image = 200, not_found = 500, launch_failed = 719;

struct LoadedModule {
    ptx::Module module;
};
struct Function {
    std::shared_ptr<const ptx::Program> program;
};

simt::Memory& memory() {
    static simt::Memory instance(uint64_t{64} << 20);
    return instance;
}

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
int cuCtxSetCurrent(void*) {
    return 0;
}
int cuCtxSynchronize() {
    return 0;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    try {
        *address = memory().allocate(bytes, "buffer");
    } catch (const Failure&) {
        return out_of_memory;
    }
    return 0;
}
int cuMemFree_v2(uint64_t address) {
    memory().release(address);
    return 0;
}
int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t bytes) {
    std::memset(memory().write(address, bytes), value, bytes);
    return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
    std::memcpy(memory().write(to, bytes), from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
    std::memcpy(to, memory().read(from, bytes), bytes);
    return 0;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
    auto parsed = ptx::parse(static_cast<const char*>(image), "module.ptx");
    if (parsed) {
        *module = new LoadedModule{std::move(parsed.value())};
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
    static std::map<std::string, Function> functions;
    auto program = ptx::decode(static_cast<LoadedModule*>(module)->module, name);
    if (!program) return not_found;
    Function& made = functions[name];
    made.program = program.value();
    *function = &made;
    return 0;
}
int cuFuncSetAttribute(void*, int, int) {
    return 0;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void*, void** parameters, void**) {
    const ptx::Program& program = *static_cast<Function*>(function)->program;
    simt::LaunchConfig config{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, {}};
    config.parameters.resize(program.parameter_bytes);
    for (size_t i = 0; i < program.parameters.size(); ++i)
        std::memcpy(config.parameters.data() + program.parameters[i].offset, parameters[i], program.parameters[i].bytes);
    if (simt::check_launch(program, config, {})) return 1;
    return simt::launch(program, config, memory()).fault ? launch_failed : 0;
}
int cuStreamCreate(void** stream, unsigned) {
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
    *event = new Clock::time_point{};
    return 0;
}
int cuEventDestroy_v2(void* event) {
    delete static_cast<Clock::time_point*>(event);
    return 0;
}
int cuEventRecord(void* event, void*) {
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
    *text = error == out_of_memory ? "out of memory" : error == launch_failed ? "unspecified launch failure" : "an error";
    return 0;
}

}  // extern "C"
