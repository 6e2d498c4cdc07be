// A CUDA driver whose only GPU is the modelled one: the functions that the cuda device calls, over ptx, simt and model. So
// the device, its parameter blocks, streams and messages are tested where there is no NVIDIA driver; only silicon is
// missing. Settings, read when they are needed:
//   LOCKSTEP_MODELLED_GPU="h200 l2_latency=300"  kernels run cycle by cycle on that GPU's row, some of its figures changed;
//                                                events, streams and %clock then go by its time, the host's by a rough one.
//                                                A kernel that reads no clock is simulated once, then it only runs.
//   LOCKSTEP_MODELLED_ONCE=1                     ... and does not run again either: times alone are wanted
//   LOCKSTEP_MODELLED_REFUSES=TEXT               modules with that text are not compiled
//   LOCKSTEP_MODELLED_FAILS="cuLaunchKernel:relu_f32=719!"  what fails: FUNCTION[:WORD]=STATUS, several apart by spaces; the
//                                                word: a kernel's name or the fewest bytes; "!": and every call after it, as
//                                                with an error that sticks; "hang", "crash", "pause" in place of a status
//   LOCKSTEP_MODELLED_MEMORY=2048                MiB; 64 where nothing is said, 2048 with a GPU
//   LOCKSTEP_MODELLED_VERSION=11040              what it is; newer PTX is then refused
// Compiled with LOCKSTEP_OLD_DRIVER it lacks what older drivers lack.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/device/cuda/cuda_driver.h"
#include "core/model/launch/launch.h"
#include "core/model/streams/streams.h"
#include "core/ptx/ptx.h"
#include "core/simt/async/tensor_map.h"
#include "core/simt/launch.h"

using namespace lockstep;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int invalid_value = 1, out_of_memory = 2, invalid_image = 200, unsupported_ptx = 222, not_found = 500,
              launch_failed = 719;

struct Function {
    std::shared_ptr<const ptx::Program> program;
};
struct LoadedModule {
    ptx::Module module;
    std::map<std::string, Function> functions;
};

// The row that LOCKSTEP_MODELLED_GPU names and changes; null where kernels only run.
const model::GpuSpec* timed_gpu() {
    static std::map<std::string, std::unique_ptr<model::GpuSpec>> known;
    const char* const setting = std::getenv("LOCKSTEP_MODELLED_GPU");
    if (!setting || !*setting) return nullptr;
    std::unique_ptr<model::GpuSpec>& gpu = known[setting];
    if (gpu) return gpu.get();
    std::istringstream words(setting);
    std::string name, change;
    words >> name;
    gpu = std::make_unique<model::GpuSpec>(model::gpu_named(name).value());
    const struct {
        std::string_view name;
        model::Count model::GpuSpec::*count;
        model::Figure model::GpuSpec::*figure;
    } rows[] = {{"sfu_latency", &model::GpuSpec::sfu_latency, nullptr},
                {"barrier_latency", &model::GpuSpec::barrier_latency, nullptr},
                {"shuffle_latency", &model::GpuSpec::shuffle_latency, nullptr},
                {"l1_latency", &model::GpuSpec::l1_latency, nullptr},
                {"l2_latency", &model::GpuSpec::l2_latency, nullptr},
                {"dram_latency", &model::GpuSpec::dram_latency, nullptr},
                {"l2_bytes_per_cycle", nullptr, &model::GpuSpec::l2_bytes_per_cycle},
                {"sm_read_bytes_per_cycle", nullptr, &model::GpuSpec::sm_read_bytes_per_cycle},
                {"sm_write_bytes_per_cycle", nullptr, &model::GpuSpec::sm_write_bytes_per_cycle},
                {"dram_efficiency", nullptr, &model::GpuSpec::dram_efficiency},
                {"dram_turnaround_ns", nullptr, &model::GpuSpec::dram_turnaround_ns},
                {"branch_latency", &model::GpuSpec::branch_latency, nullptr},
                {"block_start_latency", &model::GpuSpec::block_start_latency, nullptr},
                {"blocks_per_cycle", nullptr, &model::GpuSpec::blocks_per_cycle}};
    while (words >> change) {
        const std::string_view figure = std::string_view(change).substr(0, change.find('='));
        const double value = std::strtod(change.c_str() + std::min(figure.size() + 1, change.size()), nullptr);
        const auto row = std::find_if(std::begin(rows), std::end(rows), [&](const auto& it) { return it.name == figure; });
        if (row == std::end(rows) || !(value > 0)) std::abort();  // a mistake in the test
        if (row->count)
            (*gpu.*row->count).value = static_cast<uint32_t>(value);
        else
            (*gpu.*row->figure).value = value;
    }
    return gpu.get();
}

uint64_t memory_bytes() {
    const char* const mib = std::getenv("LOCKSTEP_MODELLED_MEMORY");
    return (mib ? std::strtoull(mib, nullptr, 10) : timed_gpu() ? 2048u : 64u) << 20;
}

simt::Memory& memory() {
    static simt::Memory instance(memory_bytes());
    return instance;
}

// What LOCKSTEP_MODELLED_FAILS has for this call: 0, or what the call gives back.
int planned_failure(std::string_view function, std::string_view word = {}, size_t bytes = 0) {
    static int for_ever = 0;
    if (for_ever != 0) return for_ever;
    const char* const setting = std::getenv("LOCKSTEP_MODELLED_FAILS");
    if (!setting) return 0;
    std::istringstream plans(setting);
    for (std::string plan; plans >> plan;) {
        const size_t equals = plan.find('='), colon = std::min(plan.find(':'), equals);
        if (equals == std::string::npos || plan.substr(0, colon) != function) continue;
        if (colon < equals) {
            const std::string which = plan.substr(colon + 1, equals - colon - 1);
            const size_t least = std::strtoull(which.c_str(), nullptr, 10);
            if (least > 0 ? bytes < least : word != which) continue;
        }
        const std::string what = plan.substr(equals + 1);
        if (what == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
        if (what == "crash") std::abort();
        if (what == "pause") {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            return 0;
        }
        const int status = std::atoi(what.c_str());
        if (what.back() == '!') for_ever = status;
        return status;
    }
    return 0;
}

int own_version() {
    const char* const setting = std::getenv("LOCKSTEP_MODELLED_VERSION");
    return setting ? std::atoi(setting) : 13000;
}

// With a timed GPU: when the host has come so far and each stream is ready, in microseconds. The null stream is the one that
// others wait for.
struct ModelledStream {
    double ready = 0;
};
struct ModelledTime {
    double host = 0;
    ModelledStream usual;
    std::vector<ModelledStream*> others;

    ModelledStream& of(void* stream) { return stream ? *static_cast<ModelledStream*>(stream) : usual; }
    void work(void* stream, double us) {
        ModelledStream& it = of(stream);
        double begin = std::max({host, it.ready, usual.ready});
        if (!stream)
            for (const ModelledStream* other : others) begin = std::max(begin, other->ready);
        it.ready = begin + us;
    }
    void wait_for(double us) { host = std::max(host, us); }
    void wait_for_all() {
        wait_for(usual.ready);
        for (const ModelledStream* other : others) wait_for(other->ready);
    }
};
ModelledTime& modelled_time() {
    static ModelledTime time;
    return time;
}
constexpr double call_us = 1.5, launch_gap_us = 1, copy_us = 4, host_gb_per_second = 25, own_gb_per_second = 1500;
void timed_copy(void* stream, size_t bytes, double gb_per_second) {
    if (!timed_gpu()) return;
    modelled_time().host += call_us;
    modelled_time().work(stream, copy_us + static_cast<double>(bytes) / gb_per_second / 1e3);
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
int run(const Prepared& it, void* stream = nullptr) {
    if (simt::check_launch(*it.program, it.config, {.shared_per_block = 227 * 1024})) return 1;
    if (const int status = planned_failure("cuLaunchKernel", it.program->kernel)) return status;
    const model::GpuSpec* const gpu = timed_gpu();
    if (!gpu) return simt::launch(*it.program, it.config, memory()).fault ? launch_failed : 0;
    // By what decides it but for the data: the text, the launch and the parameters.
    static std::map<std::string, double> known;
    const simt::LaunchConfig& c = it.config;
    std::ostringstream key;
    key << gpu << ' ' << it.program->ptx_file << ' ' << it.program->kernel << ' ' << c.grid.x << ' ' << c.grid.y << ' '
        << c.grid.z << ' ' << c.block.x << ' ' << c.block.y << ' ' << c.block.z << ' ' << c.dynamic_shared << ' ';
    key.write(reinterpret_cast<const char*>(c.parameters.data()), static_cast<std::streamsize>(c.parameters.size()));
    const bool reads_clock = it.program->ptx.find("%clock") != std::string::npos;
    const auto found = reads_clock ? known.end() : known.find(key.str());
    double us = 0;
    if (found != known.end()) {
        us = found->second;
        if (!std::getenv("LOCKSTEP_MODELLED_ONCE") && simt::launch(*it.program, it.config, memory()).fault)
            return launch_failed;
    } else {
        model::TimedOptions options;
        options.trace = false;
        const model::TimedResult result = model::launch(*gpu, *it.program, it.config, memory(), options);
        if (result.fault) return launch_failed;
        us = static_cast<double>(result.cycles) / gpu->boost_mhz;
        known[key.str()] = us;
    }
    modelled_time().host += call_us;
    modelled_time().work(stream, launch_gap_us + us);
    return 0;
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
    return planned_failure("cuInit");
}
int cuDriverGetVersion(int* version) {
    *version = own_version();
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
    const model::GpuSpec* const gpu = timed_gpu();
    const std::string title = gpu ? "Modelled " + std::string(gpu->name) : "Modelled GPU";
    std::strncpy(name, title.c_str(), static_cast<size_t>(length));
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    if (const model::GpuSpec* const gpu = timed_gpu()) {
        const auto compute = static_cast<int>(gpu->compute.number);
        *value = attribute == 16   ? static_cast<int>(gpu->sms.value)
                 : attribute == 13 ? static_cast<int>(1000 * gpu->boost_mhz.value)
                 : attribute == 75 ? compute / 10
                 : attribute == 76 ? compute % 10
                                   : 0;
        return 0;
    }
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
    if (timed_gpu()) modelled_time().wait_for_all();
    return planned_failure("cuCtxSynchronize");
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    if (!current_context) return invalid_context;
    if (const int status = planned_failure("cuMemAlloc", {}, bytes)) return status;
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
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
    if (!current_context) return invalid_context;
    if (const int status = planned_failure("cuMemcpyHtoDAsync", {}, bytes)) return status;
    timed_copy(stream, bytes, host_gb_per_second);
    std::memcpy(memory().write(to, bytes), from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
    if (!current_context) return invalid_context;
    if (const int status = planned_failure("cuMemcpyDtoHAsync", {}, bytes)) return status;
    timed_copy(stream, bytes, host_gb_per_second);
    std::memcpy(to, memory().read(from, bytes), bytes);
    return 0;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
    if (!current_context) return invalid_context;
    if (const int status = planned_failure("cuModuleLoadDataEx")) return status;
    const std::string_view text = static_cast<const char*>(image);
    int major = 0, minor = 0;
    if (const size_t at = text.find("\n.version ") + 1; at != 0 || text.starts_with(".version ")) {
        const auto dot = std::from_chars(text.data() + at + 9, text.data() + text.size(), major).ptr;
        std::from_chars(dot + 1, text.data() + text.size(), minor);
    }
    // PTX 7.0 came with CUDA 11.0, 8.0 with 12.0, 9.0 with 13.0.
    if (std::pair(major, minor) > std::pair(own_version() / 1000 - 4, own_version() % 1000 / 10)) {
        const std::string log = "ptxas application ptx input, line 1; fatal   : Unsupported .version " +
                                std::to_string(major) + "." + std::to_string(minor) + "\n";
        for (unsigned i = 0; i < count; ++i)
            if (options[i] == 5) std::strncpy(static_cast<char*>(values[i]), log.c_str(), 4000);
        return unsupported_ptx;
    }
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
#ifndef LOCKSTEP_OLD_DRIVER
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
#endif
int cuFuncSetAttribute(void*, int, int) {
    return 0;
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void* stream, void** parameters, void**) {
    if (!current_context) return invalid_context;
    const auto launch = prepared({function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, parameters, nullptr});
    if (launch.program->ptx.find("%envreg2") != std::string::npos) return launch_failed;  // the grid has no workspace
    return run(launch, stream);
}
int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** parameters) {
    if (!current_context) return invalid_context;
    return run(prepared({function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, parameters, nullptr}), stream);
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
    *bytes = memory_bytes();
    return 0;
}
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
    if (!current_context) return invalid_context;
    timed_copy(stream, bytes, own_gb_per_second);
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
#ifndef LOCKSTEP_OLD_DRIVER
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
int cuGraphLaunch(void* ready, void* stream) {
    if (!current_context) return invalid_context;
    if (const int status = planned_failure("cuGraphLaunch")) return status;
    for (const auto& [original, own] : static_cast<ReadyGraph*>(ready)->nodes)
        if (const int status = run(own, stream)) return status;
    return 0;
}
int cuGraphExecDestroy(void* ready) {
    delete static_cast<ReadyGraph*>(ready);
    return 0;
}
#endif
// An array lies in memory as linear texels do.
struct ModelledArray {
    device::CudaArrayShape shape;
    uint64_t address;
    simt::Texture texture;  // its extents and elements
};
int cuArray3DCreate_v2(void** array, const device::CudaArrayShape* shape) {
    using Shape = simt::Texture::Shape;
    constexpr int formats[] = {0x01, 0x08, 0x02, 0x09, 0x03, 0x0a, 0x10, 0x20};
    const auto format = std::find(std::begin(formats), std::end(formats), shape->format);
    const bool layered = shape->flags & 1, cube = shape->flags & 4;
    if (format == std::end(formats) || !shape->width || (cube && (shape->width != shape->height || shape->depth % 6)))
        return invalid_value;
    simt::Texture t;
    t.element = static_cast<simt::Texture::Element>(format - std::begin(formats));
    t.channels = static_cast<uint8_t>(shape->channels);
    t.width = static_cast<uint32_t>(shape->width);
    t.height = static_cast<uint32_t>(std::max<size_t>(shape->height, 1));
    const auto slices = static_cast<uint32_t>(std::max<size_t>(shape->depth, 1));
    t.shape = cube            ? layered ? Shape::cube_layered : Shape::cube
              : layered       ? shape->height ? Shape::d2_layered : Shape::d1_layered
              : shape->depth  ? Shape::d3
              : shape->height ? Shape::d2
                              : Shape::d1;
    if (cube)
        t.layers = slices / 6;
    else if (layered)
        t.layers = slices;
    else
        t.depth = slices;
    t.address = memory().allocate(t.bytes(), "array");
    *array = new ModelledArray{*shape, t.address, t};
    return 0;
}
int cuArrayDestroy(void* array) {
    auto* const it = static_cast<ModelledArray*>(array);
    memory().release(it->address);
    delete it;
    return 0;
}
int cuMemcpy3D_v2(const device::CudaCopy* copy) {
    const auto row_of = [](const device::CudaCopyEnd& end, size_t y, size_t z) {
        if (end.kind == 2) return end.device + ((end.z + z) * end.height + end.y + y) * end.pitch + end.x_bytes;
        const simt::Texture& t = static_cast<const ModelledArray*>(end.array)->texture;
        return t.address + ((end.z + z) * t.height + end.y + y) * t.row_bytes() + end.x_bytes;
    };
    for (const device::CudaCopyEnd* end : {&copy->from, &copy->to})
        if (end->kind != 2 && end->kind != 3) return invalid_value;
    for (size_t z = 0; z < copy->depth; ++z)
        for (size_t y = 0; y < copy->height; ++y) {
            std::byte* const to = memory().write(row_of(copy->to, y, z), copy->width_bytes);
            const std::byte* const from = memory().read(row_of(copy->from, y, z), copy->width_bytes);
            if (!to || !from) return invalid_value;
            std::memcpy(to, from, copy->width_bytes);
        }
    return 0;
}
int cuTexObjectCreate(uint64_t* object, const device::CudaResource* texels, const device::CudaSampling* sampling,
                      const void*) {
    using Mode = simt::Texture::Mode;
    constexpr Mode modes[] = {Mode::wrap, Mode::clamp, Mode::mirror, Mode::border};
    if (texels->kind != 0) return invalid_value;
    simt::Texture t = static_cast<const ModelledArray*>(texels->array)->texture;
    for (size_t i = 0; i < 3; ++i) t.modes[i] = modes[sampling->modes[i]];
    t.linear = sampling->filter == 1;
    t.normalized = sampling->flags & 2;
    t.normalized_float = t.element < simt::Texture::Element::u32 && !(sampling->flags & 1);
    std::copy(std::begin(sampling->border), std::end(sampling->border), t.border);
    *object = memory().texture(t);
    return 0;
}
int cuTexObjectDestroy(uint64_t object) {
    return memory().find_texture(object) ? 0 : invalid_value;
}
int cuSurfObjectCreate(uint64_t* object, const device::CudaResource* texels) {
    const auto* const array = static_cast<const ModelledArray*>(texels->array);
    if (texels->kind != 0 || !(array->shape.flags & 2)) return invalid_value;
    simt::Texture t = array->texture;
    t.surface = true;
    *object = memory().texture(t);
    return 0;
}
int cuSurfObjectDestroy(uint64_t object) {
    return memory().find_texture(object) ? 0 : invalid_value;
}

int cuStreamCreate(void** stream, unsigned) {
    if (!current_context) return invalid_context;
    auto* const made = new ModelledStream;
    modelled_time().others.push_back(made);
    *stream = made;
    return 0;
}
int cuStreamDestroy_v2(void* stream) {
    std::erase(modelled_time().others, static_cast<ModelledStream*>(stream));
    delete static_cast<ModelledStream*>(stream);
    return 0;
}
int cuStreamSynchronize(void* stream) {
    if (timed_gpu()) modelled_time().wait_for(modelled_time().of(stream).ready);
    return planned_failure("cuStreamSynchronize");
}
// An event is a point in time: of the timed GPU or of the host's clock.
int cuEventCreate(void** event, unsigned) {
    if (!current_context) return invalid_context;
    *event = new double(0);
    return 0;
}
int cuEventDestroy_v2(void* event) {
    delete static_cast<double*>(event);
    return 0;
}
int cuEventRecord(void* event, void* stream) {
    if (!current_context) return invalid_context;
    if (const int status = planned_failure("cuEventRecord")) return status;
    auto& at = *static_cast<double*>(event);
    if (!timed_gpu()) {
        at = std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
        return 0;
    }
    modelled_time().host += call_us;
    modelled_time().work(stream, 0.1);
    at = modelled_time().of(stream).ready;
    return 0;
}
int cuEventSynchronize(void* event) {
    if (timed_gpu()) modelled_time().wait_for(*static_cast<double*>(event));
    return planned_failure("cuEventSynchronize");
}
int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    ModelledStream& it = modelled_time().of(stream);
    if (timed_gpu()) it.ready = std::max(it.ready, *static_cast<double*>(event));
    return 0;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    *milliseconds = static_cast<float>((*static_cast<double*>(end) - *static_cast<double*>(begin)) / 1e3);
    return 0;
}
int cuGetErrorString(int error, const char** text) {
    *text = error == out_of_memory     ? "out of memory"
            : error == launch_failed   ? "unspecified launch failure"
            : error == 700             ? "an illegal memory access was encountered"
            : error == invalid_context ? "invalid device context"
                                       : "an error";
    return 0;
}

}  // extern "C"
