// What the machine (D16) draws of one kernel's run, as plain data made once: who is on the way at a cycle, which blocks
// wait, what each scheduler of each SM issues. Everything that moves is computed from the trace by the pure functions here
// and in gpu_places.h, for any moment, also between two cycles.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/views/timeline/timeline_data.h"
#include "core/trace/machine_trace.h"

namespace lockstep::gui {

enum class Stop : uint8_t { cluster, node, gpu, sm, sub_core, warp, lane, count };
constexpr size_t stop_count = static_cast<size_t>(Stop::count);

struct Rates {         // of the whole GPU over a stretch
    double issue = 0;  // instructions a scheduler and cycle
    double l2 = 0;     // share of the time in which L2's slices serve; not recorded: of the bytes that they can give
    double dram = 0;   // share of the vendor's peak
};

struct FaultPlace {      // that ended the launch
    int64_t cycle = -1;  // the launch's last; -1: none did
    int64_t sm = -1;     // on which; -1: not known
    int32_t warp = -1;   // index into KernelTrace::warps; -1: it was on another SM than the traced one
    std::string text;    // "invalid global write ..., at line 11, thread 40 of block 2"
};

struct MachineScene {
    std::shared_ptr<const model::KernelRun> run;
    std::shared_ptr<const Timeline> timeline;           // of the traced SM
    const MachineTrace* machine = nullptr;              // null: it was not recorded
    std::vector<std::vector<uint32_t>> blocks_in_slot;  // [sm * slots + slot]: indices into KernelTrace::blocks, by begin
    uint32_t slots = 1;                                 // of blocks, an SM
    std::vector<int64_t> begins;                        // of all blocks, sorted
    int64_t at_once = 1;                                // blocks of a wave: SMs x resident blocks
    int64_t blocks = 0;                                 // of the grid
    uint32_t drawn = 1;                                 // of the requests that are kept one in so many is drawn
    std::vector<int64_t> latest_end;                    // of every `group` requests the latest arrival
    std::vector<uint32_t> of_issues;                    // requests of the traced SM, by the issue that made them
    uint32_t reasons_seen = 0;                          // for which a warp waits at some time, a bit a StallReason
    std::vector<std::string> lines;                     // of the source; none: it is not at hand
    // "F", "float": of the instructions that the traced SM issues, the most frequent first.
    std::vector<std::pair<char, std::string_view>> letters;
    int64_t silent_until = 0;  // before this cycle nothing issues on the whole GPU
    FaultPlace fault;
    int64_t window = 0;  // cycles of each of `rates`; 0: they are not known
    std::vector<Rates> rates;

    static constexpr size_t group = 64;
    const KernelTrace& trace() const { return run->result.trace; }
    bool has_l2() const { return run->gpu.l2_bytes.value > 0; }
};

constexpr size_t most_marks = 160;      // requests on screen, about
constexpr size_t marks_in_a_burst = 3;  // times as many in the busiest moments

MachineScene make_machine_scene(std::shared_ptr<const model::KernelRun> run, std::shared_ptr<const Timeline> timeline);

// Requests on their way in the cycle, all that are kept, by begin: indices into MachineTrace::requests.
std::vector<uint32_t> requests_at(const MachineScene& scene, double cycle);
// Whether a request is one of those that are drawn.
bool is_drawn(const MachineScene& scene, uint32_t request);

struct TileState {                   // of an SM at a moment
    std::vector<uint32_t> resident;  // block by slot; none: UINT32_MAX
    static constexpr uint32_t nobody = UINT32_MAX;
};
TileState blocks_on(const MachineScene& scene, uint32_t sm, int64_t cycle);
// The instructions that SM `sm` issues in [begin, end).
std::span<const TileIssue> issues_of_sm(const MachineScene& scene, uint32_t sm, int64_t begin, int64_t end);
bool issues_kept(const MachineScene& scene, int64_t cycle);  // of all SMs, in that cycle; also where nothing issues
// Blocks that wait in the cycle, and the first of them; blocks start in order.
struct WaitingBlocks {
    int64_t begun = 0, waiting = 0;
};
WaitingBlocks blocks_waiting(const MachineScene& scene, int64_t cycle);

// "The launch ends here: ...", in the cycle of its fault; else "".
std::string fault_sentence(const MachineScene& scene, int64_t cycle);

Rates rates_in(const MachineScene& scene, int64_t begin, int64_t end);  // the mean of the windows that overlap

// "load at line 7, warp 10 of SM 17: L1 miss, L2 miss, 468 cycles"
std::string request_text(const MachineScene& scene, const RequestRecord& request);
std::string way_text(const MachineScene& scene, const RequestRecord& request);  // the same of the traced SM, shorter
// The request of the traced SM that a warp waits for in the cycle, that arrives last; -1: none is kept.
int64_t awaited_request(const MachineScene& scene, uint32_t warp, int64_t cycle);
// The first request of the traced SM from the cycle on that goes as far as any does: worth following. -1: there is none.
int64_t request_to_follow(const MachineScene& scene, int64_t cycle);

// Where a run that nobody has looked at opens: the cycle in which the traced SM issues while most requests are on their way,
// and the warp that issues then; {-1, -1}: it issues nothing that is kept.
struct LivelyMoment {
    int64_t cycle = -1;
    int32_t warp = -1;
};
LivelyMoment lively_moment(const MachineScene& scene);

// Whom one looks at once the clock has jumped to the cycle: the warp itself while it is resident, else the one in its slot,
// else the first that is there, else itself.
int32_t warp_to_look_at(const MachineScene& scene, int32_t warp, int64_t cycle);

// Moments that one jumps to.
enum class Landmark : uint8_t { fault, barrier, divergence, miss };
struct LandmarkAt {
    int64_t cycle = -1;    // -1: none comes
    int32_t warp = -1;     // whose it is; -1: nobody's
    int64_t request = -1;  // of a miss
};
LandmarkAt next_landmark(const MachineScene& scene, Landmark what, int64_t after);

}  // namespace lockstep::gui
