// What a host program does with a GPU, as plain data, and when each piece of it happens: copies, kernels, events and waits
// on streams. The host issues operations in order and spends time on each; a stream's operations run one after the other;
// the copy engines and the SMs take what is ready. Kernels of different streams share the SMs block by block, each block
// for as long as it took in its kernel's own timed run.
//   schedule(gpu, program) -> Schedule: times, figures, the critical path;  trace_of() the same as tracks and spans
//   StreamClock            the same one operation at a time, for a device that is told what to do as it goes
#pragma once
#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "core/model/launch/launch.h"
#include "core/trace/trace.h"

namespace lockstep::model {

// Of the gap between two kernels of a stream, that between two of a graph: RTX 3090 0.66 of 1.37 us (225 empty kernels),
// A100 1.1 of 2.2, A40 0.8 of 1.7, L40 0.8 of 1.4 (gpu-benches, gpu-small-kernels); on H200 graphs gain little.
constexpr double gap_in_graph = 0.5;

constexpr uint32_t usual_connections = 8;  // hardware queues, where CUDA_DEVICE_MAX_CONNECTIONS says nothing
constexpr uint32_t queue_depth = 1024;     // operations under way, beyond which a call waits (estimate)

// A kernel as its own timed run found it, alone on the GPU.
struct KernelTime {
    struct Block {  // cycles from the kernel's first
        uint32_t sm = 0;
        int64_t begin = 0, end = 0;
    };
    int64_t cycles = 0;
    double mhz = 1000;
    uint32_t warps = 1, registers = 0, shared = 0;  // that a block takes of its SM, in allocation units
    uint32_t blocks_per_sm = 1;                     // by the occupancy rules
    std::vector<Block> blocks;                      // by begin; none: it has the whole GPU for itself
    double us() const { return static_cast<double>(cycles) / mhz; }
    int64_t picoseconds(int64_t cycles) const;
    int64_t last_end() const;  // of its blocks
};
KernelTime kernel_time(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, const TimedResult&);

enum class HostVerb : uint8_t {
    allocate,
    release,  // waits for the device, as cudaFree does
    work,     // the host computes for `us`
    copy_in,
    copy_out,
    copy_within,
    launch,
    record,       // an event
    wait,         // the stream, for an event
    synchronize,  // the host: with the device, one stream or one event
};
enum class SyncWith : uint8_t { device, stream, event };

struct Touch {  // bytes [begin, end) of a buffer
    uint32_t buffer = 0;
    uint64_t begin = 0, end = 0;
    bool writes = false;
};

struct HostOperation {
    HostVerb verb = HostVerb::work;
    uint32_t stream = 0;  // 0: the default stream, which waits for all others and makes them wait, but for independent ones
    std::string name;     // "scale(y)": what the timeline shows
    uint64_t bytes = 0;
    bool pinned = true;     // copies: pageable memory is staged, slower, and the host waits
    bool blocking = false;  // copies: cudaMemcpy instead of cudaMemcpyAsync
    double us = 0;          // work; launch: the host's time where it is not the GPU's launch_us
    bool in_graph = false;  // brought by a graph's launch: it takes `us` of the host's time, which does not wait for it
    uint32_t event = 0;
    SyncWith with = SyncWith::device;
    std::shared_ptr<const KernelTime> kernel;
    std::vector<Touch> touches;  // for hazards()
    int line = 0;                // of the text that it comes from
};

enum class HostLink : uint8_t { pcie, nvlink };  // nvlink: half of the row's figure each way

struct HostProgram {
    std::vector<HostOperation> operations;
    HostLink link = HostLink::pcie;
    uint32_t connections = usual_connections;
};

// What a copy of `bytes` takes on its engine alone, in us: its start, and its bytes at the speed of what they pass through.
// The starts and the speeds within a GPU are an H200's, from 4 KiB to 256 MiB (assets/silicon).
double copy_us(const GpuSpec& gpu, HostVerb verb, uint64_t bytes, bool pinned, HostLink link = HostLink::pcie);

enum class Engine : uint8_t { none, copy_in, copy_out, copy_within, compute };
constexpr size_t engines = 5;
// "copy engine H2D"; with a single copy engine all copies are on Engine::copy_in, "copy engine".
std::string name_of(Engine engine, const GpuSpec& gpu);

struct OperationTime {
    double call_begin_us = 0, busy_end_us = 0, call_end_us = 0;  // the host's: it works until busy_end, then it waits
    Engine engine = Engine::none;
    double begin_us = 0, end_us = 0;  // on the device. A wait: from when its stream came to it until it went on
    double alone_us = 0;              // what it takes when nothing else runs
    int cause = -1;                   // the operation whose end let it begin; -1: its own call
    int awaited = -1;                 // the operation whose end let the host's call return; -1: it did not wait
    std::vector<int> after;           // operations that must have ended before it begins: stream order, events
    std::vector<int> seen;            // operations that the host knows to have ended when the call returns
    bool on_device = false;
};

struct PathStep {
    int operation = 0;
    bool on_host = false;
};
struct BusySpan {  // how many engines work
    double begin_us = 0, end_us = 0;
    int engines = 0;
};

struct Schedule {
    std::vector<OperationTime> operations;  // as the program's
    double total_us = 0;                    // from the first call to the end of everything
    double work_us = 0;                     // all copies, kernels and host work one after the other, without overheads
    double serial_us = 0;                   // the same calls, the host waiting for each before the next
    double copy_us = 0, kernel_us = 0, host_work_us = 0;  // its parts
    double busy_us[engines] = {};
    double overlap = 0;              // of the time in which an engine works, the share in which two or more do
    std::vector<BusySpan> busy;      // gap-free from 0 to total_us
    std::vector<PathStep> critical;  // in order of time
    double speedup() const { return total_us > 0 ? serial_us / total_us : 1; }
};
Schedule schedule(const GpuSpec& gpu, const HostProgram& program);
int kernels_at_once(const Schedule& schedule);  // at most, of those that the GPU runs

// Tracks: host, every stream, every engine that is used. A span's detail is the operation's index; arrows go from a
// record to the waits for it. Nanoseconds.
Trace trace_of(const GpuSpec& gpu, const HostProgram& program, const Schedule& schedule);

// Two operations that touch the same bytes, one of them writing, and nothing orders them.
struct Hazard {
    int first = 0, second = 0;  // in issue order
    uint32_t buffer = 0;
    bool first_writes = false, second_writes = false;
};
std::vector<Hazard> hazards(const HostProgram& program, const Schedule& schedule);

class StreamClock {
  public:
    StreamClock(const GpuSpec& gpu, HostLink link = HostLink::pcie, uint32_t connections = usual_connections);
    size_t issue(const HostOperation& operation);  // its index
    void spend(double us);                         // the host works for so long, without an operation
    void finish();                                 // runs until nothing is under way
    void catch_up();                               // the same, and the host waits for it
    // From here on the stream and the default stream do not wait for each other.
    void set_independent(uint32_t stream) { independent_.push_back(stream); }
    double host_us() const;
    OperationTime time_of(size_t operation) const;  // once it has ended; calls are known at once
    bool idle() const { return unfinished_ == 0; }
    // Runs what happens before the host's now, where nothing that is asked for later can change it.
    void advance();
    bool has_ended(size_t operation) const { return ended(operation); }
    // Advances, and lets go of what has ended: time_of() may no longer know it. Indices go on, events stay.
    void forget();

  private:
    using Time = int64_t;  // picoseconds, so that equal times are equal
    struct Operation {
        OperationTime told;
        Time visible = 0, begin = 0, end = 0, duration = 0;
        uint32_t stream = 0;
        std::shared_ptr<const KernelTime> kernel;
        bool marker = false, started = false, done = false, in_graph = false;
        bool within = false;  // a copy within the device
    };
    struct Sm {
        uint32_t warps = 0, registers = 0, shared = 0, blocks = 0;  // taken
    };
    struct Running {  // a kernel that the block scheduler has
        size_t operation = 0;
        bool begun = false, whole = false;  // whole: alone so far, as in its own run
        Time came = 0, ends = -1;           // to the block scheduler; when it will end, as far as that is known
        Time lead = 0;                      // before its first block, of a kernel whose blocks were placed here
        size_t next = 0, live = 0;          // blocks
        std::vector<uint16_t> on_sm;
    };
    struct Happening {
        static constexpr int32_t whole_operation = -1, has_come = -2;  // instead of an SM
        Time time = 0;
        uint64_t order = 0;
        size_t operation = 0;
        int32_t sm = whole_operation;  // of a block that ends
        bool operator>(const Happening& other) const { return time != other.time ? time > other.time : order > other.order; }
    };
    struct Queue {  // of one connection, for one engine
        uint32_t connection = 0;
        Engine engine = Engine::none;
        std::vector<size_t> waiting;  // in issue order
        Time released = -1;           // when its last head left
        int cause = -1;               // what that had waited for
    };

    Operation& at(size_t i) { return operations_[i - forgotten_]; }
    const Operation& at(size_t i) const { return operations_[i - forgotten_]; }
    bool ended(size_t i) const { return i < forgotten_ || at(i).done; }
    Queue& queue_of(uint32_t connection, Engine engine);
    Engine engine_of(HostVerb verb) const;
    Time copy_time(const HostOperation& operation) const;
    bool waits_for(uint32_t stream, uint32_t other) const;
    bool may_begin(const Operation& operation) const;
    void follow(Operation& operation, size_t index, HostVerb verb, uint32_t event);
    void begin(size_t index, int engine_cause, const Queue* queue);
    void end(size_t index);
    void hold_next(size_t index);
    bool start_what_can();
    bool start_copies();
    void share_link();
    bool start_kernels();
    bool start_markers();
    Running* running_at(size_t operation);
    void expand(Running& running);
    bool shares(const Operation& operation) const;
    bool fits(const Running& running, size_t sm) const;
    void take(const KernelTime& kernel, size_t sm, bool give_back);
    void place(Running& running, size_t sm);
    bool step();  // lets begin what can, or goes to the next happening; false: there is none
    void wait_for(size_t operation, Operation& caller);

    std::shared_ptr<const GpuSpec> gpu_;
    HostLink link_;
    uint32_t connections_;
    Time now_ = 0, host_ = 0;
    uint64_t happenings_ = 0;
    size_t forgotten_ = 0, unfinished_ = 0;
    size_t over_ = 0;  // of operations_, from the first, have ended and are not forgotten yet
    std::vector<Operation> operations_;
    std::vector<uint32_t> independent_;                        // streams
    std::vector<std::pair<uint32_t, size_t>> last_in_stream_;  // stream, its last operation
    std::vector<std::pair<uint32_t, size_t>> recorded_;        // event, the operation that recorded it last
    std::vector<Queue> queues_;
    std::vector<size_t> markers_;  // records and waits that have not come about
    struct CopyEngine {
        bool busy = false, over_link = false;  // over_link: its copy shares PCI Express with the other direction
        Time ended = -1;
        int last = -1;
        size_t operation = 0;      // that it copies for
        Time since = 0, left = 0;  // from when on `left` of its time alone is to be done, and at which speed
        double speed = 1;
        Time ends = -1;  // as far as that is known
    } copy_engines_[engines];
    std::vector<Running> running_;
    std::vector<Sm> sms_;
    Time room_since_ = -1;  // when a kernel last gave room, and which
    int room_from_ = -1;
    std::priority_queue<Happening, std::vector<Happening>, std::greater<>> next_;
};

}  // namespace lockstep::model
