// The device `cuda:<n>` as measurements need it: what a Device has, and the driver beneath it, launches between two events
// and CUDA graphs. The engine above sees a Device alone.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "core/device/cuda/cuda_driver.h"
#include "core/device/device.h"
#include "core/simt/memory/texture.h"

namespace lockstep::device {

// A launch as the driver takes it. `parameters` points into `bytes`.
struct CudaLaunch {
    CudaDriver::Handle function = nullptr;
    simt::Dim3 grid, block;
    uint32_t dynamic_shared = 0;
    bool cooperative = false;  // the kernel waits for its whole grid
    std::vector<std::byte> bytes;
    std::vector<void*> parameters;
};

class Cuda final : public Device {
  public:
    using Handle = CudaDriver::Handle;

    Cuda(const CudaDriver& driver, int ordinal, const DeviceOptions& options);
    Cuda(const Cuda&) = delete;
    Cuda& operator=(const Cuda&) = delete;
    ~Cuda() override;

    std::string name() const override;
    std::string description() const override;
    std::string_view provenance() const override { return "measured"; }
    Pointer allocate(size_t bytes, std::string_view name) override;
    void release(Pointer pointer) override;
    void copy_in(Pointer to, const void* from, size_t bytes, Stream stream) override;
    void copy_out(void* to, Pointer from, size_t bytes, Stream stream) override;
    void launch(const LaunchRequest& request) override;
    // One CUDA graph, a launch behind the other, kept: the same launches again only change its arguments. With a listener
    // on_launch, whose times are those of single launches, they are launched one by one.
    void launch_graph(std::span<const LaunchRequest> requests) override;
    int64_t create_texture(const simt::Texture& texture) override;
    void release_texture(int64_t handle) override;
    Event record(Stream stream) override;
    void wait(Stream stream, Event event) override;
    void synchronize() override;

    // For measurements. Throw Failure.
    const CudaDriver& driver() const { return driver_; }
    void check(CudaDriver::Status status, std::string_view what) const;
    int attribute(int which) const;  // CUdevice_attribute of cuda.h
    Handle handle_of(Stream stream);
    CudaLaunch prepare(const LaunchRequest& request);
    void compile(const GeneratedKernel& kernel);  // so that a refusal comes before memory is taken
    void enqueue(const CudaLaunch& launch, Handle stream) const;
    CudaDriver::Status start(const CudaLaunch& launch, Handle stream) const;
    // Microseconds between an event before and one behind what `work` puts into the stream. `before`, where given, is
    // launched first and keeps the GPU busy until all is in the queue, so that no time of the host's counts.
    double between_events_us(const CudaLaunch* before, const std::function<void(Handle stream)>& work);
    // A module's variable; 0 where the kernel's module has none of that name.
    Pointer variable(const LaunchRequest& request, const std::string& name, size_t& bytes);

  private:
    using Clock = std::chrono::steady_clock;
    struct Graph {  // built from `requests`; nodes in their order
        std::vector<LaunchRequest> requests;
        Handle graph = nullptr, ready = nullptr;
        std::vector<Handle> nodes;
        uint64_t last_use = 0;
    };

    struct BoundTexture {
        simt::Texture texture;
        Handle array = nullptr;
    };

    void enter() const;  // a thread works in one context; the engine's threads change
    double host_now() const { return std::chrono::duration<double, std::micro>(Clock::now() - begun_).count(); }
    double since_origin(Handle event) const;
    void inside(Pointer pointer, size_t bytes) const;
    std::shared_ptr<const ptx::Program> program_for(const LaunchRequest& request) const;
    Handle module_of(const std::shared_ptr<const ptx::Program>& program);
    Handle function_of(const std::shared_ptr<const ptx::Program>& program);
    void make_graph(Graph& graph);
    void change_graph(Graph& graph, std::span<const LaunchRequest> requests);
    void drop(Graph& graph) const;
    void copy_texels(const BoundTexture& bound, bool to_array) const;
    void drop(int64_t handle, const BoundTexture& bound) const;

    const CudaDriver& driver_;
    int ordinal_, device_ = 0;
    DeviceOptions options_;
    Handle context_ = nullptr, origin_ = nullptr, begin_ = nullptr, end_ = nullptr;
    Clock::time_point begun_;
    std::map<uint64_t, size_t> buffers_;
    std::set<uint64_t> module_variables_;       // among buffers_; their modules release them
    std::map<int64_t, BoundTexture> textures_;  // by their objects
    std::map<Stream, Handle> streams_;
    std::unordered_map<uint64_t, Handle> modules_;  // by the hash of their text
    struct Function {
        std::shared_ptr<const ptx::Program> program;  // so that no other has its address
        Handle handle = nullptr;
        uint32_t shared = 0;  // dynamic, allowed so far
    };
    std::unordered_map<const ptx::Program*, Function> functions_;
    std::vector<Handle> events_;
    std::vector<Graph> graphs_;
    uint64_t launches_ = 0, graph_launches_ = 0;
};

// PTX whose .version is one that the driver knows: that of its own CUDA version at most.
std::string ptx_for_driver(const std::string& text, int driver_version);
// PTX without its other kernels, which the driver would compile too: a file of many takes it seconds. All of it where
// kernels may share a variable or where it is not written as compilers write it.
std::string ptx_of_kernel(const std::string& text, const std::string& kernel);

}  // namespace lockstep::device
