// A real NVIDIA GPU as a device: the bundled kernels' PTX goes through the driver's own compiler, unchanged but for a newer
// .version than the driver's. Times are measured by events around each launch; with a listener on_launch every launch is
// waited for, so that its times are there.
#include "core/device/cuda/cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/base/hash.h"
#include "core/device/arguments.h"
#include "core/device/devices.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/decode/views.h"
#include "core/simt/async/tensor_map.h"

namespace lockstep::device {
namespace {

// grid.sync() asks for the workspace that a cooperative launch alone has.
bool waits_for_grid(const ptx::Program& program) {
    return std::any_of(program.instructions.begin(), program.instructions.end(), [](const ptx::DecodedInstruction& i) {
        return ptx::reads_special(i, ptx::SpecialRegister::envreg1) || ptx::reads_special(i, ptx::SpecialRegister::envreg2);
    });
}

// CUdevice_attribute, CUfunction_attribute and CUjit_option of cuda.h.
constexpr int attribute_sms = 16, attribute_clock_khz = 13, attribute_major = 75, attribute_minor = 76;
constexpr int attribute_dynamic_shared = 8;
constexpr uint32_t shared_without_asking = 48 * 1024;
constexpr int jit_error_log = 5, jit_error_log_bytes = 6;
constexpr size_t graphs_kept = 8;

bool same_extent(const simt::Dim3& a, const simt::Dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
bool same_but_arguments(const LaunchRequest& a, const LaunchRequest& b) {
    return a.kernel == b.kernel && a.generated == b.generated && same_extent(a.grid, b.grid) &&
           same_extent(a.block, b.block) && a.dynamic_shared == b.dynamic_shared;
}

}  // namespace

std::string ptx_for_driver(const std::string& text, int driver_version) {
    int major = 0, minor = 0, here_major = driver_version / 1000 - 4, here_minor = driver_version % 1000 / 10;
    if (here_major == 8 && here_minor >= 6) --here_minor;  // CUDA 12.6 stayed at 8.5
    size_t at = 0;                                         // of a line's begin
    while (!std::string_view(text).substr(at).starts_with(".version ")) {
        at = text.find('\n', at);
        if (at == std::string::npos) return text;
        ++at;
    }
    const size_t end = std::min(text.find('\n', at), text.size());
    const char* const last = text.data() + end;
    const auto [dot, error] = std::from_chars(text.data() + at + 9, last, major);
    if (error != std::errc() || dot == last || *dot != '.') return text;
    if (std::from_chars(dot + 1, last, minor).ec != std::errc()) return text;
    if (std::pair(major, minor) <= std::pair(here_major, here_minor)) return text;
    return text.substr(0, at) + fmt::format(".version {}.{}", here_major, here_minor) + text.substr(end);
}

std::string ptx_of_kernel(const std::string& text, const std::string& kernel) {
    constexpr std::string_view begin = "\n.visible .entry ";
    if (text.find("\n.const ") != std::string::npos || text.find("\n.visible .const ") != std::string::npos ||
        text.find(".global .align ") != std::string::npos)
        return text;  // kernels may share a variable
    std::string own;
    size_t kept = 0;  // of the text, so far
    bool found = false;
    for (size_t at = text.find(begin); at != std::string::npos;) {
        const size_t name = at + begin.size();
        size_t behind = text.find('{', name), depth = 0;
        for (; behind < text.size(); ++behind) {
            if (text.compare(behind, 2, "//") == 0) behind = std::min(text.find('\n', behind), text.size() - 1);
            depth += text[behind] == '{';
            if (text[behind] == '}' && --depth == 0) break;
        }
        if (behind >= text.size()) return text;
        ++behind;
        if (text.compare(name, kernel.size(), kernel) == 0 && text[name + kernel.size()] == '(') {
            found = true;
        } else {
            own.append(text, kept, at - kept);
            kept = behind;
        }
        at = text.find(begin, behind);
    }
    return found ? own.append(text, kept) : text;
}

Cuda::Cuda(const CudaDriver& driver, int ordinal, const DeviceOptions& options)
    : driver_(driver), ordinal_(ordinal), options_(options) {
    check(driver_.device_get(&device_, ordinal), "the device");
    check(driver_.retain_context(&context_, device_), "its context");
    check(driver_.set_context(context_), "its context");
    check(driver_.create_event(&origin_, 0), "an event");
    check(driver_.record_event(origin_, nullptr), "an event");
    check(driver_.wait_event(origin_), "an event");
    begun_ = Clock::now();
}
Cuda::~Cuda() {
    driver_.set_context(context_);
    driver_.synchronize();
    for (Graph& graph : graphs_) drop(graph);
    for (const auto& [handle, bound] : textures_) drop(handle, bound);
    for (Handle event : events_) driver_.destroy_event(event);
    for (Handle event : {origin_, begin_, end_})
        if (event) driver_.destroy_event(event);
    for (const auto& [number, stream] : streams_) driver_.destroy_stream(stream);
    for (const auto& [address, bytes] : buffers_)
        if (!module_variables_.contains(address)) driver_.release(address);
    for (const auto& [hash, module] : modules_) driver_.unload_module(module);
    driver_.release_context(device_);
}

std::string Cuda::name() const {
    return fmt::format("cuda:{}", ordinal_);
}
std::string Cuda::description() const {
    char title[256] = {};
    driver_.device_name(title, sizeof title - 1, device_);
    return fmt::format("{}, {} SMs at {} MHz, compute capability {}.{}, driver for CUDA {}", title, attribute(attribute_sms),
                       attribute(attribute_clock_khz) / 1000, attribute(attribute_major), attribute(attribute_minor),
                       driver_.version);
}

Pointer Cuda::allocate(size_t bytes, std::string_view buffer_name) {
    enter();
    uint64_t address = 0;
    const size_t whole = std::max<size_t>(bytes, 1);
    check(driver_.allocate(&address, whole), fmt::format("{} bytes for '{}'", bytes, buffer_name));
    check(driver_.clear(address, 0, whole), "clearing memory");
    buffers_.emplace(address, bytes);
    return {address};
}
void Cuda::release(Pointer pointer) {
    enter();
    if (module_variables_.contains(pointer.address) || buffers_.erase(pointer.address) == 0)
        throw Failure(fmt::format("release of {:#x}, which is no buffer's first byte on {}", pointer.address, name()));
    check(driver_.release(pointer.address), "releasing memory");
}
void Cuda::copy_in(Pointer to, const void* from, size_t bytes, Stream stream) {
    if (!bytes) return;
    enter();
    inside(to, bytes);
    check(driver_.copy_in(to.address, from, bytes, handle_of(stream)), "a copy to the GPU");
    check(driver_.wait_stream(handle_of(stream)), "a copy to the GPU");
}
void Cuda::copy_out(void* to, Pointer from, size_t bytes, Stream stream) {
    if (!bytes) return;
    enter();
    inside(from, bytes);
    check(driver_.copy_out(to, from.address, bytes, handle_of(stream)), "a copy from the GPU");
    check(driver_.wait_stream(handle_of(stream)), "a copy from the GPU");
}

CudaLaunch Cuda::prepare(const LaunchRequest& request) {
    enter();
    const auto program = program_for(request);
    const auto encode = [&](const TensorTile& tile) {
        encode_for_model(tile);  // says in words what the driver would refuse with a number
        if (!driver_.encode_tiled) throw Failure(name() + ": this driver has no tensor maps, which came with CUDA 12");
        uint64_t strides[5], bytes = size_of(tile.type);
        for (size_t d = 0; d < tile.dims.size(); ++d) strides[d] = bytes *= tile.dims[d];
        constexpr unsigned ones[] = {1, 1, 1, 1, 1};
        constexpr int promotion = 3;  // CU_TENSOR_MAP_L2_PROMOTION_L2_256B
        const int swizzle = tile.swizzle == 128 ? 3 : static_cast<int>(tile.swizzle / 32);
        struct alignas(128) {
            EncodedTile bytes{};
        } map;  // CUtensorMap, which cuda.h aligns to 128 since CUDA 13
        check(driver_.encode_tiled(&map, static_cast<int>(simt::tensor_type_of(tile.type)),
                                   static_cast<unsigned>(tile.dims.size()), reinterpret_cast<void*>(tile.tensor.address),
                                   tile.dims.data(), strides, tile.box.data(), ones, 0, swizzle, promotion, 0),
              "a tensor map");
        return map.bytes;
    };
    CudaLaunch launch{function_of(program),
                      request.grid,
                      request.block,
                      request.dynamic_shared,
                      waits_for_grid(*program),
                      pack(*program, request.arguments, encode),
                      {}};
    Function& known = functions_.at(program.get());
    if (request.dynamic_shared > known.shared && request.dynamic_shared + program->static_shared > shared_without_asking) {
        check(
            driver_.function_attribute(launch.function, attribute_dynamic_shared, static_cast<int>(request.dynamic_shared)),
            fmt::format("{} bytes of dynamic shared memory", request.dynamic_shared));
        known.shared = request.dynamic_shared;
    }
    for (const ptx::Parameter& parameter : program->parameters)
        launch.parameters.push_back(launch.bytes.data() + parameter.offset);
    return launch;
}
void Cuda::compile(const GeneratedKernel& kernel) {
    enter();
    function_of(program_for({.kernel = kernel.name, .generated = &kernel}));
}
void Cuda::enqueue(const CudaLaunch& it, Handle stream) const {
    check(start(it, stream), "a launch");
}
CudaDriver::Status Cuda::start(const CudaLaunch& it, Handle stream) const {
    void** const parameters = const_cast<void**>(it.parameters.data());
    if (it.cooperative)
        return driver_.launch_cooperative(it.function, it.grid.x, it.grid.y, it.grid.z, it.block.x, it.block.y, it.block.z,
                                          it.dynamic_shared, stream, parameters);
    return driver_.launch(it.function, it.grid.x, it.grid.y, it.grid.z, it.block.x, it.block.y, it.block.z,
                          it.dynamic_shared, stream, parameters, nullptr);
}

void Cuda::launch(const LaunchRequest& request) {
    throw_if_stopped(options_.stop);
    const CudaLaunch prepared = prepare(request);
    LaunchEvent event{.index = launches_++,
                      .kernel = std::string(request.kernel),
                      .label = request.label,
                      .phase = request.phase,
                      .grid = request.grid,
                      .block = request.block,
                      .stream = request.stream};
    Handle stream = handle_of(request.stream);
    if (on_launch && !begin_) {
        check(driver_.create_event(&begin_, 0), "an event");
        check(driver_.create_event(&end_, 0), "an event");
    }
    event.enqueue_begin_us = host_now();
    if (on_launch) check(driver_.record_event(begin_, stream), "an event");
    check(start(prepared, stream), fmt::format("the launch of {}", request.kernel));
    if (!on_launch) return;
    check(driver_.record_event(end_, stream), "an event");
    event.enqueue_end_us = host_now();
    check(driver_.wait_event(end_), request.kernel);
    event.begin_us = since_origin(begin_);
    event.end_us = since_origin(end_);
    on_launch(event);
}

void Cuda::launch_graph(std::span<const LaunchRequest> requests) {
    throw_if_stopped(options_.stop);
    if (on_launch || requests.empty() || !driver_.has_graphs()) return Device::launch_graph(requests);
    enter();
    const auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const Graph& it) {
        return std::equal(it.requests.begin(), it.requests.end(), requests.begin(), requests.end(), same_but_arguments);
    });
    Graph* graph = found == graphs_.end() ? nullptr : &*found;
    if (graph) {
        change_graph(*graph, requests);
    } else {
        if (graphs_.size() == graphs_kept) {
            const auto oldest = std::min_element(graphs_.begin(), graphs_.end(),
                                                 [](const Graph& a, const Graph& b) { return a.last_use < b.last_use; });
            check(driver_.synchronize(), "a graph");
            drop(*oldest);
            graphs_.erase(oldest);
        }
        Graph made;
        made.requests.assign(requests.begin(), requests.end());
        try {
            make_graph(made);
        } catch (...) {
            drop(made);
            throw;
        }
        graph = &graphs_.emplace_back(std::move(made));
    }
    graph->last_use = ++graph_launches_;
    check(driver_.launch_graph(graph->ready, handle_of(0)), "the launch of a graph");
    launches_ += requests.size();
}

void Cuda::make_graph(Graph& graph) {
    check(driver_.create_graph(&graph.graph, 0), "a graph");
    Handle before = nullptr;
    for (const LaunchRequest& request : graph.requests) {
        CudaLaunch launch = prepare(request);
        const CudaKernelNode node{launch.function,          request.grid.x,  request.grid.y,  request.grid.z,
                                  request.block.x,          request.block.y, request.block.z, request.dynamic_shared,
                                  launch.parameters.data(), nullptr};
        Handle added = nullptr;
        check(driver_.add_kernel_node(&added, graph.graph, before ? &before : nullptr, before ? 1 : 0, &node),
              fmt::format("the node of {}", request.kernel));
        graph.nodes.push_back(before = added);
    }
    check(driver_.instantiate_graph(&graph.ready, graph.graph, 0), "making a graph ready");
}

void Cuda::change_graph(Graph& graph, std::span<const LaunchRequest> requests) {
    for (size_t i = 0; i < requests.size(); ++i) {
        if (graph.requests[i].arguments == requests[i].arguments) continue;
        graph.requests[i].arguments = requests[i].arguments;
        CudaLaunch launch = prepare(requests[i]);
        const CudaKernelNode node{launch.function,          launch.grid.x,  launch.grid.y,  launch.grid.z,
                                  launch.block.x,           launch.block.y, launch.block.z, launch.dynamic_shared,
                                  launch.parameters.data(), nullptr};
        check(driver_.change_kernel_node(graph.ready, graph.nodes[i], &node), "new arguments in a graph");
    }
}

void Cuda::drop(Graph& graph) const {
    if (graph.ready) driver_.destroy_ready_graph(graph.ready);
    if (graph.graph) driver_.destroy_graph(graph.graph);
    graph.ready = graph.graph = nullptr;
}

Event Cuda::record(Stream stream) {
    enter();
    Handle event = nullptr;
    check(driver_.create_event(&event, 0), "an event");
    events_.push_back(event);
    check(driver_.record_event(event, handle_of(stream)), "an event");
    return static_cast<Event>(events_.size() - 1);
}
void Cuda::wait(Stream stream, Event event) {
    enter();
    if (event >= events_.size()) throw Failure(fmt::format("wait for event {}, which was never recorded", event));
    check(driver_.stream_waits(handle_of(stream), events_[event], 0), "waiting for an event");
}
void Cuda::synchronize() {
    enter();
    check(driver_.synchronize(), "the work that was under way");
}

double Cuda::between_events_us(const CudaLaunch* before, const std::function<void(Handle)>& work) {
    enter();
    if (!begin_) {
        check(driver_.create_event(&begin_, 0), "an event");
        check(driver_.create_event(&end_, 0), "an event");
    }
    Handle stream = handle_of(0);
    if (before) enqueue(*before, stream);
    check(driver_.record_event(begin_, stream), "an event");
    work(stream);
    check(driver_.record_event(end_, stream), "an event");
    check(driver_.wait_event(end_), "what was measured");
    float milliseconds = 0;
    check(driver_.elapsed(&milliseconds, begin_, end_), "a measurement");
    return 1e3 * static_cast<double>(milliseconds);
}

Pointer Cuda::variable(const LaunchRequest& request, const std::string& variable_name, size_t& bytes) {
    enter();
    uint64_t address = 0;
    if (driver_.module_variable(&address, &bytes, module_of(program_for(request)), variable_name.c_str()) != 0) return {};
    buffers_.emplace(address, bytes);  // so that copies reach it
    module_variables_.insert(address);
    return {address};
}

void Cuda::enter() const {
    check(driver_.set_context(context_), "its context on this thread");
}
void Cuda::check(CudaDriver::Status status, std::string_view what) const {
    if (status == 0) return;
    const char* words = nullptr;
    driver_.error_text(status, &words);
    throw Failure(fmt::format("cuda:{}: {} failed: {}", ordinal_, what, words ? words : "unknown error"),
                  ExitStatus::missing);
}
int Cuda::attribute(int which) const {
    int value = 0;
    driver_.device_attribute(&value, which, device_);
    return value;
}
double Cuda::since_origin(Handle event) const {
    float milliseconds = 0;
    check(driver_.elapsed(&milliseconds, origin_, event), "a measurement");
    return 1e3 * static_cast<double>(milliseconds);
}
CudaDriver::Handle Cuda::handle_of(Stream stream) {
    enter();
    if (stream == 0) return nullptr;
    Handle& handle = streams_[stream];
    if (!handle) check(driver_.create_stream(&handle, 0), "a stream");
    return handle;
}
void Cuda::inside(Pointer pointer, size_t bytes) const {
    auto after = buffers_.upper_bound(pointer.address);
    if (after != buffers_.begin()) {
        const auto& [address, size] = *std::prev(after);
        if (pointer.address - address <= size && bytes <= size - (pointer.address - address)) return;
    }
    throw Failure(fmt::format("{} bytes at {:#x} are not inside one buffer on {}", bytes, pointer.address, name()));
}
std::shared_ptr<const ptx::Program> Cuda::program_for(const LaunchRequest& request) const {
    auto program = request.generated ? request.generated->program : program_of(request.kernel);
    if (!program) throw Failure(fmt::format("{} has no PTX, which {} runs", request.kernel, name()));
    return program;
}
CudaDriver::Handle Cuda::module_of(const std::shared_ptr<const ptx::Program>& program) {
    const std::string own = ptx_of_kernel(program->ptx, program->kernel);
    Handle& module = modules_[fnv1a64(own)];
    if (module) return module;
    std::vector<char> log(16384);
    int options[] = {jit_error_log, jit_error_log_bytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    int version = 0;
    driver_.driver_version(&version);
    const std::string text = ptx_for_driver(own, version);
    if (driver_.load_module(&module, text.c_str(), 2, options, values)) {
        modules_.erase(fnv1a64(own));
        throw Failure(fmt::format("{} refuses {}: {}", name(), program->ptx_file, log[0] ? log.data() : "no reason given"));
    }
    return module;
}
CudaDriver::Handle Cuda::function_of(const std::shared_ptr<const ptx::Program>& program) {
    Function& known = functions_[program.get()];
    if (known.handle) return known.handle;
    try {
        check(driver_.function(&known.handle, module_of(program), program->kernel.c_str()), program->kernel);
    } catch (...) {
        functions_.erase(program.get());
        throw;
    }
    known.program = program;
    return known.handle;
}

Result<std::unique_ptr<Device>> make_cuda(const std::string& ordinal, const DeviceOptions& options) {
    int number = 0;
    const auto [end, error] = std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), number);
    if (error != std::errc() || end != ordinal.data() + ordinal.size() || number < 0)
        return Diagnostic{fmt::format("cuda devices are cuda:0, cuda:1 and so on, not 'cuda:{}'", ordinal)};
    const auto& driver = cuda_driver();
    if (const auto* why = std::get_if<std::string>(&driver)) throw Failure("cuda: " + *why, ExitStatus::missing);
    const auto& found = std::get<CudaDriver>(driver);
    if (number >= found.devices)
        throw Failure(fmt::format("there is no cuda:{}: the driver finds {} GPU{}", number, found.devices,
                                  found.devices == 1 ? "" : "s"),
                      ExitStatus::missing);
    return std::unique_ptr<Device>(std::make_unique<Cuda>(found, number, options));
}

std::vector<DeviceListing> list_cuda() {
    const auto& driver = cuda_driver();
    if (const auto* why = std::get_if<std::string>(&driver)) return {{"cuda:0", *why, false}};
    std::vector<DeviceListing> listings;
    for (int i = 0; i < std::get<CudaDriver>(driver).devices; ++i) {
        const std::string name = fmt::format("cuda:{}", i);
        try {
            listings.push_back({name, Cuda(std::get<CudaDriver>(driver), i, {}).description(), true});
        } catch (const Failure& failure) {
            listings.push_back({name, failure.diagnostic.message, false});
        }
    }
    return listings;
}

}  // namespace lockstep::device
