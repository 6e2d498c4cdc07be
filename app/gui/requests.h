// What a view or the transport asks of the worker: one small struct a wish. A request is posted to the session and handled
// by one function of worker.cpp; its `manner` says how it stands to the work under way and to what waits in the queue.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace lockstep::scene {
struct ClusterSetup;  // cluster.h
}

namespace lockstep::gui {

struct KernelJob;      // kernel_document.h
struct TrainingSetup;  // session.h

namespace ask {

struct Manner {
    bool interrupts = false;    // it makes the work under way pointless and stops it
    bool stops_step = false;    // and a training step that is under way
    bool replaces = false;      // of such requests only the newest counts: dragging, or stepping fast, posts many
    bool light = false;         // served between the steps of a long run
    bool keeps_replay = false;  // a replay under way goes on
};

struct OpenKernel {  // a launch of the training step on show, in SM
    static constexpr Manner manner = {.replaces = true};
    int64_t launch = 0;
};
struct Train {  // so many steps more; -1: until paused
    static constexpr Manner manner = {.interrupts = true};
    int64_t steps = -1;
};
struct Pause {
    static constexpr Manner manner = {};
};
struct ShowStep {  // of the training run, one that has been computed
    static constexpr Manner manner = {.interrupts = true, .replaces = true};
    int64_t step = 0;
};
struct FocusWarp {  // the history of this one of KernelTrace::warps
    static constexpr Manner manner = {.replaces = true, .light = true};
    int64_t track = 0;
};
struct LanesAt {  // the focused warp's values at an instruction of its history; cycle: as of that cycle, -1: the history's
    static constexpr Manner manner = {.replaces = true, .light = true, .keeps_replay = true};
    int64_t step = 0, cycle = -1;
};
struct FetchStretch {  // the trace around a cycle, where it was cut
    static constexpr Manner manner = {.replaces = true, .light = true};
    int64_t cycle = 0;
};
struct TraceSm {  // the trace of another SM around a cycle
    static constexpr Manner manner = {.replaces = true, .light = true};
    int64_t sm = 0, cycle = -1;
};
struct ShowLessonStep {
    static constexpr Manner manner = {.interrupts = true, .replaces = true};
    int step = 0;
};
struct LockPrediction {  // of the lesson step, by its number there
    static constexpr Manner manner = {};
    size_t prediction = 0;
};
struct CheckExercise {
    static constexpr Manner manner = {};
};
struct SetGpu {  // "a100", "teaching:4"
    static constexpr Manner manner = {.interrupts = true, .replaces = true};
    std::string name;
};
struct Reload {  // runs the scene again
    static constexpr Manner manner = {.interrupts = true, .stops_step = true};
};
struct OpenLesson {  // "A06"; step -1: where it was left
    static constexpr Manner manner = {.interrupts = true, .stops_step = true};
    std::string id;
    int step = -1;
};
struct CloseLesson {  // for the training scene
    static constexpr Manner manner = {.interrupts = true, .stops_step = true};
};
struct Dismiss {  // the problem has been read
    static constexpr Manner manner = {.light = true, .keeps_replay = true};
};
struct Tell {  // a sentence for the strip: something outside the engine went wrong
    static constexpr Manner manner = {.light = true};
    std::string sentence;
};
struct RunOwn {  // compiles the learner's kernel, runs it, or both
    static constexpr Manner manner = {.interrupts = true, .replaces = true};
    std::shared_ptr<const KernelJob> job;
};
struct ShowOwn {  // its last run in all pictures
    static constexpr Manner manner = {};
};
struct Cancel {  // whatever runs
    static constexpr Manner manner = {.interrupts = true, .stops_step = true};
};
struct LimitBlocks {  // the kernel on show again with at most so many blocks on an SM; 0: as many as fit
    static constexpr Manner manner = {.interrupts = true, .replaces = true};
    int64_t most = 0;
};
struct CarveOut {  // the kernel on show again with so many bytes of L1's memory for shared memory; -1: as the GPU does
    static constexpr Manner manner = {.interrupts = true};
    int64_t bytes = -1;
};
struct SetUpTraining {  // this instead, from the beginning
    static constexpr Manner manner = {.interrupts = true, .stops_step = true, .replaces = true};
    std::shared_ptr<const TrainingSetup> setup;
};
struct RunCluster {
    static constexpr Manner manner = {.replaces = true, .light = true};
    std::shared_ptr<const scene::ClusterSetup> setup;
};
struct CompareMeasured {  // what real GPUs measured with the model; run: first those that have not run, by their beginning
    static constexpr Manner manner = {.replaces = true};
    bool run = false;
    std::string beginning;
};

}  // namespace ask

using Request =
    std::variant<ask::OpenKernel, ask::Train, ask::Pause, ask::ShowStep, ask::FocusWarp, ask::LanesAt, ask::FetchStretch,
                 ask::TraceSm, ask::ShowLessonStep, ask::LockPrediction, ask::CheckExercise, ask::SetGpu, ask::Reload,
                 ask::OpenLesson, ask::CloseLesson, ask::Dismiss, ask::Tell, ask::RunOwn, ask::ShowOwn, ask::Cancel,
                 ask::LimitBlocks, ask::CarveOut, ask::SetUpTraining, ask::RunCluster, ask::CompareMeasured>;

inline const ask::Manner& manner_of(const Request& request) {
    return std::visit([](const auto& one) -> const ask::Manner& { return one.manner; }, request);
}

}  // namespace lockstep::gui
