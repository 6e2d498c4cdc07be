// The CUDA runtime of one process over modelled GPUs. cudart/ is its C interface; other interfaces (the driver's) can stand
// on the same object. Kernels run when they are launched, in the order of the calls, which every stream allows; streams and
// events decide when they run on the model's clock. All calls may come from any thread, one at a time is served.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/model/memory/memory_system.h"
#include "core/model/streams/streams.h"
#include "core/ptx/link/link.h"
#include "core/runtime/arrays.h"
#include "core/runtime/fatbin.h"
#include "core/runtime/graphs.h"
#include "core/runtime/guards.h"
#include "core/runtime/order.h"
#include "core/runtime/report/report.h"
#include "core/runtime/report/settings.h"
#include "core/runtime/report/snapshots.h"
#include "core/simt/apart/apart.h"
#include "core/simt/device_runtime.h"
#include "core/simt/launch.h"
#include "core/system/callers.h"

namespace lockstep::runtime {

constexpr size_t most_records = 200'000;  // of launches, of copies, of calls ..., that the report keeps

// What went wrong in a call: a cudaError (kernels/include/program/driver_types.h), and a sentence about it.
struct CallFailure {
    int error = 0;
    std::string message;
};

struct Module;

struct Kernel {
    std::string name;  // as PTX has it
    Module* module = nullptr;
    size_t part = 0;                                            // of a module of several, which it is from
    const void* host = nullptr;                                 // the function that stands for it in the program
    int64_t most_dynamic_shared = -1;                           // cudaFuncSetAttribute; -1: the GPU's default
    bool any_cluster = false;                                   // clusters of more than 8 blocks, likewise
    std::vector<std::shared_ptr<const ptx::Program>> programs;  // by device, decoded when needed
};

constexpr uint64_t portable_cluster = 8;      // blocks of a cluster that every GPU with clusters has
bool& in_host_function();                     // this thread runs a function of cudaLaunchHostFunc: nothing may be called
CallFailure no_kernel(const void* function);  // it is none of the program's kernels

struct ModuleVariable {
    std::string name;
    Module* module = nullptr;
    size_t part = 0;  // see Kernel
    uint64_t bytes = 0;
    void** managed = nullptr;         // of a __managed__ one: the host's pointer to it
    std::byte* in_place = nullptr;    // of a __managed__ one that is the host's variable itself
    std::vector<uint64_t> addresses;  // by device; 0: not placed yet
    bool is_texture = false;          // a texture or surface reference: it holds a handle
    bool reads_normalized = false;
};

class Children;

struct Module {  // one fat binary, or those of several files that are linked together
    std::string name;
    std::vector<FatBinary> parts;
    size_t registering = 0;                                  // the part whose kernels and variables are being registered
    std::string problem;                                     // why it cannot be used
    std::vector<std::shared_ptr<const ptx::Linked>> linked;  // by device
    std::map<uint64_t, Kernel*> at_address;                  // that kernels launch
    std::vector<std::unique_ptr<Kernel>> unregistered;       // of them, those that the host does not know
};

enum class MemoryKind : uint8_t { device, managed, pinned, registered, array };
std::string_view name_of(MemoryKind kind);

struct Block {  // of memory, that a program asked for
    uint64_t address = 0, bytes = 0;
    MemoryKind kind = MemoryKind::device;
    uint32_t device = 0;
    std::string name;
    CallSite site;
    bool freed = false;
    CallSite freed_at;
    int64_t record = -1;  // of the report's allocations
};

std::string described(const Block& block);  // "'d_out' (allocated at main.cu:41)"

struct StreamState {
    uint32_t number = 0, device = 0, flags = 0;
    int priority = 0;
    Capture* capture = nullptr;  // that records what it is asked for
};

struct EventState {
    uint32_t number = 0, device = 0, flags = 0;
    bool recorded = false;
    size_t operation = 0;  // of the clock
    std::optional<double> at_us;
    uint64_t capture = 0;      // recorded in this one last; 0: in a stream that was not capturing
    std::vector<Node*> front;  // what its stream had got to
};

struct LaunchAsked {
    const void* function = nullptr;
    simt::Dim3 grid, block, cluster{1, 1, 1};
    void** arguments = nullptr;  // one an argument, as compilers pass them
    uint64_t shared = 0;
    uint32_t stream = 0;
    bool cooperative = false;
};

struct Timed {  // the launches of one kernel and shape so far
    int64_t runs = 0;
    uint64_t warp_instructions = 0;  // of the one that was simulated last
    bool changed = false;            // a launch since then had another number: the next one is simulated
    std::shared_ptr<const model::KernelTime> time;
    std::string hot_file;
    int hot_line = 0;
    double hot_share = 0;
    std::string bound;
};

class Runtime {
  public:
    // The process's own; made by the first call. Its destructor, at the end of the process, writes the report.
    static Runtime& instance();
    explicit Runtime(Settings settings);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    // ---- A call's frame: calls.cpp
    std::recursive_mutex& mutex() { return mutex_; }
    void enter(const char* call);           // the host's own work since the last call goes onto the clock
    int leave(const CallFailure& failure);  // notes an error; what the call returns
    // The host has come to a launch: what the compiler's code does until the call is the launch's own cost.
    void begin_launch() { launch_began_ = std::chrono::steady_clock::now(); }
    void spend_call() { clock_.spend(gpu_.call_us); }  // of a call that starts nothing, such as a query
    void say_site(const char* file, int line, const char* arguments);
    void say_launch_site(const char* file, int line);  // of the <<<>>> whose launch comes next; null: unknown
    int begin_mark(std::string name);  // a range, which ends by end_mark: one in the other; how many are around it
    int end_mark();
    uint64_t begin_range(std::string name);  // which any thread ends
    void end_range(uint64_t range);
    void note_mark(std::string name);
    int last_error(bool clear);
    void saw_error(std::string_view name);  // the program asked for the name or the text of this error
    uint32_t device() const { return device_; }
    void set_device(uint32_t device) { device_ = device; }
    bool set_peer(uint32_t peer, bool enabled);  // false: it was so already
    uint32_t device_count() const { return settings_.gpus; }
    const model::GpuSpec& gpu() const { return gpu_; }
    const Settings& settings() const { return settings_; }

    // ---- Memory: memory.cpp. Addresses of device memory are nobody's on the host; those of managed, pinned and registered
    // memory are the same on both sides.
    uint64_t allocate(uint64_t bytes, MemoryKind kind, const char* fallback_name);
    void adopt(void* host, uint64_t bytes);  // cudaHostRegister
    void release(uint64_t address, bool of_host);
    const Block* find(uint64_t address) const;  // that holds the address, freed or not; the live one first
    uint64_t live_bytes() const { return memory_.live_bytes(); }
    uint64_t memory_limit() const;
    simt::Memory& memory() { return memory_; }

    // A copy or fill in a stream; `asynchronous`: the host goes on where it can.
    void copy(const CopyWork& copy, uint32_t stream, bool asynchronous);
    void fill(const FillWork& fill, uint32_t stream, bool asynchronous);

    // ---- Arrays and textures: arrays.cpp
    Array* add_array(const ArrayShape& shape, uint32_t levels);
    Array* level_of(Array& array, uint32_t level);  // of a mipmapped one, as an array of its own
    Array* array_of(const void* handle);            // null: there is none
    void remove_array(Array* array);
    uint64_t add_texture(simt::Texture texture);
    std::map<uint64_t, TextureObject>& textures() { return textures_; }  // by handle

    // ---- Modules: modules.cpp
    Module* add_module(const void* wrapper);
    Module* load_module(
        const void* code);  // PTX or a fat binary, or what compilers wrap around one; throws where it is none
    std::vector<std::string> kernels_in(Module& module);
    uint64_t bytes_of_variable(Module& module, const std::string& name);  // throws where there is none
    void remove_module(Module* module);
    void add_kernel(Module* module, const void* host, const char* name);
    void add_variable(Module* module, const void* host, const char* name, uint64_t bytes, void** managed);
    void add_managed_range(const char* begin, const char* end);  // host variables there are the device's too
    void add_reference(Module* module, const void* host, const char* name, bool reads_normalized);
    void set_reference(ModuleVariable& reference, uint64_t texture);
    Kernel* kernel_of(const void* host);
    ModuleVariable* variable_of(const void* host);
    uint64_t address_of(ModuleVariable& variable);
    std::shared_ptr<const ptx::Program> program_of(Kernel& kernel);  // throws CallFailure

    // ---- Launches: launches.cpp
    void launch(const LaunchAsked& asked);
    simt::LaunchLimits limits_of(const Kernel& kernel) const;
    model::Occupancy occupancy_of(Kernel& kernel, uint32_t threads, uint64_t dynamic_shared);
    KernelWork kernel_work(const LaunchAsked& asked);  // throws where it cannot run
    bool has_faulted() const { return sticky_error_ != 0; }

    // ---- Launches from kernels: children.cpp
    Kernel* kernel_at(Module& module, uint64_t address);                 // null: none lies there
    int problem_of_child(Kernel& kernel, const simt::DeviceWork& work);  // an error of CUDA's
    std::shared_ptr<const model::KernelTime> run_child(Kernel& kernel, const simt::DeviceWork& work, Children& children,
                                                       LaunchRecord& record);

    // ---- Work and graphs: graphs.cpp, capture.cpp
    void submit(uint32_t stream, Work work, bool blocking = false);  // runs it, or records it where the stream is capturing
    void check(const Work& work) const;                              // throws what running it would
    Handles& handles() { return handles_; }
    std::map<const void*, std::shared_ptr<Graph>>& graphs() { return graphs_; }
    std::map<const void*, std::unique_ptr<GraphExec>>& executables() { return executables_; }
    void run_graph(Graph& graph, uint32_t stream);
    Capture& begin_capture(StreamState& stream, int mode, std::shared_ptr<Graph> into);
    std::shared_ptr<Graph> end_capture(StreamState& stream);
    void need_no_capture();            // for calls that may wait for the device
    void need_default_stream_apart();  // it would wait for a stream that is capturing
    uint64_t allocate_for(Graph& graph, uint64_t bytes);

    // ---- Streams and events: time.cpp
    uint32_t add_stream(uint32_t flags, int priority);
    StreamState* stream_of(const void* handle);  // null: there is none
    void* handle_of(uint32_t stream);
    void remove_stream(uint32_t stream);
    EventState* add_event(uint32_t flags);
    bool is_event(const EventState* event) const;
    void remove_event(EventState* event);
    void record(EventState& event, uint32_t stream, bool as_node = false);  // as_node: a capture gets a node for it
    void wait(uint32_t stream, EventState& event, bool as_node = false);
    void synchronize(model::SyncWith with, uint32_t stream, const EventState* event);
    bool is_done(const EventState& event);
    bool is_done(uint32_t stream);
    StreamState& state_of(uint32_t stream) { return streams_.at(stream); }
    void reset_device();

    void note(std::string sentence);                    // once each, into the report
    bool touched(const system::RefusedAccess& access);  // the host, what it was to wait for; false: it is a crash
    void crashed(uint64_t address);
    void finish();  // writes the report, once

  private:
    struct Apart;
    size_t issue(model::HostOperation operation);
    void spend_since();  // the host's own work since the last call
    void warm_way_back() const;
    void note_call(const char* call);
    int32_t place_of_caller(bool by_brackets);
    int32_t place_of_code(uint64_t code);
    int32_t note_place(std::span<const system::CallerFrame> frames, bool has_stand_in);
    void name_place(const Kernel& kernel);
    void close_guards();
    void give_call_stream(uint32_t stream);
    double now_us() const;  // the host's clock with its work since the last call
    void keep(MarkRecord mark);
    void keep(Block block);
    void run(uint32_t stream, const Work& work, bool blocking);
    void run_kernel(uint32_t stream, const KernelWork& work);
    void place_launch(LaunchRecord record, std::shared_ptr<const model::KernelTime> time);
    void run_copy(uint32_t stream, const CopyWork& work, bool blocking);
    void run_fill(uint32_t stream, const FillWork& work, bool blocking);
    void run_on_host(uint32_t stream, const HostWork& work);
    void run_record(uint32_t stream, EventState& event);
    void run_wait(uint32_t stream, const EventState& event);
    void mark(model::HostVerb verb, uint32_t stream, uint32_t event);
    void check_copy(const CopyWork& work) const;
    void check_fill(const FillWork& work) const;
    void need_synchronizable(model::SyncWith with, uint32_t stream, const EventState* event);
    void invalidate_captures();
    void abandon(Capture& capture);  // its streams run again what they are asked for
    Capture* capture_of(uint64_t number);
    void tidy();
    void resolve();                             // times of operations that have ended, into their records
    const ptx::Linked& linked(Module& module);  // throws CallFailure
    void keep_snapshot(Kernel& kernel, const simt::LaunchConfig& config);
    void raise(const simt::Fault& fault);
    int sticky_error() const { return fault_is_new_ ? 0 : sticky_error_; }  // as a call returns it
    void mark_written(uint64_t address, uint64_t bytes);
    std::vector<Touch> touches_of(const ptx::Program& program, const simt::LaunchConfig& config, const simt::Memory& before);
    void watch_order(const std::string& name, uint32_t stream, std::span<const Touch> touches);
    bool watches_host() const { return settings_.racecheck || settings_.leakcheck; }
    void guard(const Block* block, uint64_t begin, uint64_t end, bool device_writes, const std::string& work,
               uint32_t stream);
    void guard_kernel(const ptx::Program& program, const simt::LaunchConfig& config, const std::string& name,
                      uint32_t stream);
    void keep_freed(const Block& block);
    void find_unset_constants(const ptx::Program& program);
    void settle(model::SyncWith with, uint32_t stream, const EventState* event);  // the clock alone
    std::shared_ptr<const model::KernelTime> run(const ptx::Program& program, const simt::LaunchConfig& config,
                                                 LaunchRecord& record);
    void keep_warnings(const std::vector<simt::Fault>& warnings);
    std::optional<simt::Fault> run_timed(const ptx::Program& program, const simt::LaunchConfig& config, struct Timed& timed,
                                         LaunchRecord& record);
    Apart& apart_of(const ptx::Program& program);
    std::optional<simt::Fault> run_functionally(const ptx::Program& program, const simt::LaunchConfig& config,
                                                LaunchRecord& record);
    void check_range(uint64_t address, uint64_t bytes, const char* what, bool writes) const;
    Report make_report();

    Settings settings_;
    model::GpuSpec gpu_;
    std::recursive_mutex mutex_;
    simt::Memory memory_;
    model::StreamClock clock_;
    std::chrono::steady_clock::time_point left_;  // when the last call ended
    std::optional<std::chrono::steady_clock::time_point> launch_began_;
    std::vector<uint64_t> on_the_way_back_;  // addresses of code that runs when the call returns
    double host_work_us_ = 0;
    std::vector<std::pair<uint32_t, uint32_t>> peers_;  // enabled: device, peer
    uint32_t device_ = 0, next_stream_ = 1, next_event_ = 1;
    const char* call_ = "";
    bool by_brackets_ = false;  // the launch that comes next was written with <<<>>>
    int64_t call_number_ = -1;  // of the call that is under way; -1: it is not kept
    int depth_ = 0;
    CallSite site_;
    std::string site_arguments_;
    int last_error_ = 0, sticky_error_ = 0;
    bool fault_is_new_ = false;  // of the call that is under way or was the last: later ones return it
    std::deque<std::unique_ptr<Module>> modules_;
    std::unordered_map<const void*, Kernel> kernels_;
    std::unordered_map<const void*, ModuleVariable> variables_;
    std::vector<std::pair<uintptr_t, uintptr_t>> managed_ranges_;
    std::map<uint64_t, Block> blocks_;  // by address
    std::map<uint32_t, StreamState> streams_;
    std::map<const EventState*, std::unique_ptr<EventState>> events_;
    Handles handles_;
    std::map<const void*, std::shared_ptr<Graph>> graphs_;
    std::map<const void*, std::unique_ptr<GraphExec>> executables_;
    std::vector<std::unique_ptr<Capture>> captures_;
    uint64_t next_capture_ = 1;
    std::optional<double> node_us_;  // while a graph runs: what the next of its operations costs the host
    std::map<const void*, std::unique_ptr<Array>> arrays_;
    std::map<uint64_t, TextureObject> textures_;
    std::map<std::string, Timed> timed_;  // by kernel and shape
    struct Apart {                        // what is known of a kernel's blocks
        std::shared_ptr<const simt::ApartFacts> facts;
        bool touched = false;  // they touched the same bytes once: it is not tried again
        size_t order = 0;      // in the report
    };
    std::unordered_map<std::string, Apart> apart_;  // by module and kernel
    std::map<uint32_t, model::L2State> l2_;         // by device: what the last simulated launch left there
    std::map<uint32_t, size_t> last_in_stream_;     // stream -> its last operation
    struct Pending {
        size_t operation = 0;
        double* begin_us = nullptr;
        double* end_us = nullptr;
    };
    std::deque<Pending> pending_;
    std::vector<std::pair<uint32_t, size_t>> recorded_;  // events whose time is not known yet, and the operation
    HostGuards guards_;
    std::deque<Block> freed_;  // pinned and managed memory that was freed, and is kept for those who touch it still
    std::unordered_set<uint64_t> set_variables_;  // that a copy or a fill has written, by address
    std::unordered_set<std::string> unset_told_;
    WorkOrder order_;                            // kept where --check asks for races
    std::unique_ptr<SnapshotWriter> snapshots_;  // null: nobody asked for them
    Report report_;
    std::deque<LaunchRecord> launches_;  // a deque: records stay where they are
    std::deque<CopyRecord> copies_;
    std::vector<CallRecord> calls_;
    std::vector<AllocationRecord> allocations_;
    std::map<std::thread::id, std::vector<MarkRecord>> open_marks_;
    std::map<uint64_t, MarkRecord> open_ranges_;
    uint64_t next_range_ = 1;
    std::map<std::vector<uint64_t>, int32_t> places_;  // frames -> index into report_.places
    uint64_t peak_bytes_ = 0, dropped_ = 0;
    std::string running_;                            // the kernel that is running now
    simt::DeviceRuntime* device_runtime_ = nullptr;  // what it launches goes there
    bool finished_ = false, several_streams_ = false;
};

}  // namespace lockstep::runtime
