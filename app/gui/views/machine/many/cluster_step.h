// The step of many GPUs that the machine shows, as plain data made once, from a step on several ranks, a training run or a
// plan: what every GPU does when, what travels between pipeline stages, when replicas sum their gradients, and who is late.
// Replicas that do the same at the same time share a column. What a moment looks like is told by pure functions.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"
#include "core/scene/cluster/cluster_plan.h"

namespace lockstep::gui {

enum class StepWork : uint8_t { forward, backward, input, weight, recompute, sum, update, gather, other };
char letter_of(StepWork work);  // F B I W r S U G
std::string_view name_of(StepWork work);
Color color_of(StepWork work);
Hatch hatch_of(StepWork work);  // the twin of its colour

struct StepSpan {  // of the GPUs of one stage of one replica
    StepWork work = StepWork::forward;
    int microbatch = -1, stage = 0;  // -1: it is of none
    double begin = 0, end = 0;
    double late_from = 1e300;  // from then on only the late GPU works
    std::string text() const;  // "B5"
};
struct StepWait {  // that a late GPU has caused
    double begin = 0, end = 0;
};
struct StepLane {
    std::vector<StepSpan> spans;  // in order, none over another
    std::vector<StepWait> held_up;
};
struct StepPacket {  // activations or their gradients, from one stage to the next
    int from = 0, to = 0;
    bool gradient = false;
    int microbatch = 0, stage = 0;  // that it leaves
    double sent = 0, arrives = 0, taken = 0;
    std::string text() const;  // "F11": what it is wanted for
};
struct StepColumn {
    std::vector<StepLane> lanes;      // by stage
    std::vector<StepPacket> packets;  // by sending
    double longest = 0;               // of a packet, from sending to taking
};
struct StepRing {  // a collective of all replicas of a stage, along their ring
    int stage = 0;
    double begin = 0, end = 0;
    int rounds = 0;
    bool gathers = false;
    int round_at(double time) const;  // from 0; -1: not under way
};
struct LateGpu {
    int replica = -1, stage = 0, gpu = 0;  // replica -1: nobody is
    double from = 0, until = 0;            // it should have ended; it does
    std::string what;                      // "B5"
    double lost = 0;                       // of the step
};

struct ClusterStep {
    enum class Source : uint8_t { ranks, trained, planned, units } source = Source::units;
    std::shared_ptr<const void> made_from;  // kept, so that it can be told whether it is still that
    std::string title, refusal;
    std::string unit;              // "ms", "µs", "units"
    double unit_us = 1;            // 0: units of no length
    double end = 0;                // of the step
    double pipeline = 0;           // where its last backward ends
    int replicas = 1, stages = 1;  // pipeline ranks
    int group = 1;                 // GPUs that share a stage of a replica
    int node_gpus = 8;
    int chunks = 1;
    std::vector<StepColumn> columns;
    std::vector<uint8_t> column_of;  // by replica
    std::vector<StepRing> rings;
    LateGpu late;
    std::vector<std::string> layers;  // by pipeline rank, "1-5"; empty: not known
    std::vector<int> layer_count;     // of one of its stages, by pipeline rank
    scene::TensorSums sums;
    std::string inside, between;  // links: "NVLink 3 (A100)"
    std::string gpu_title;        // "A100 SXM4 80 GB"; empty: not known

    int gpus() const { return replicas * stages * group; }
    int nodes() const { return (gpus() + node_gpus - 1) / node_gpus; }
    int rank_of(int replica, int stage, int gpu) const { return gpu + group * (replica + replicas * stage); }
    int gpu_of(int rank) const { return rank % group; }
    int replica_of(int rank) const { return rank / group % replicas; }
    int stage_of(int rank) const { return rank / group / replicas; }
    int node_of(int replica, int stage) const { return rank_of(replica, stage, 0) / node_gpus; }
    const StepColumn& column(int replica) const { return columns[column_of[static_cast<size_t>(replica)]]; }
    const StepLane& lane(int replica, int stage) const { return column(replica).lanes[static_cast<size_t>(stage)]; }
};
// Null: the snapshot has nothing of many GPUs.
std::shared_ptr<const ClusterStep> make_cluster_step(const Snapshot& snapshot);
const void* source_of(const Snapshot& snapshot);  // what it would be made from

enum class GpuDoes : uint8_t { idle, works, late, held_up };
struct GpuNow {
    GpuDoes does = GpuDoes::idle;
    const StepSpan* span = nullptr;  // that it is in; null: it is idle
    const StepSpan* next = nullptr;  // that begins next; null: none does
    double share = 0;                // of the span
};
GpuNow stage_at(const ClusterStep& step, int replica, int stage, double time);  // of those that are not late
GpuNow gpu_at(const ClusterStep& step, int replica, int stage, int gpu, double time);
std::string words_of(const GpuNow& now);  // "B5", "waits for F7", "done"

// Packets that were sent and not taken yet, of a replica: indices into its column's.
std::vector<uint32_t> packets_at(const ClusterStep& step, int replica, double time);
// How much of its way lies behind a packet: 1 where it waits at the door. Drawn slower than it travels where else nobody
// would see it: `least` of the step's time on its way, but never beyond where it is taken.
double way_of(const StepPacket& packet, double time, double least);

// The clock: Session's of the cluster, within the step; nothing chosen: while the late GPU holds up the others.
double cluster_time(const Session& session, const ClusterStep& step);
int picked_gpu(const Session& session, const ClusterStep& step);  // a rank of all
// A sum of a layer's parts over the GPUs that share it.
struct SumNow {
    bool on = false;        // parts travel
    double share = 0;       // of their way, there and back
    int layer = 0, of = 0;  // that the pass is in, from 0
};
SumNow sum_at(const ClusterStep& step, int stage, const GpuNow& now);

std::string step_time_text(const ClusterStep& step, double time);  // "777 ms", "11.3 s", "12 units"

}  // namespace lockstep::gui
