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

struct KernelJob;             // kernel_document.h
struct TrainingSetup;         // session.h
struct DesignWish;            // build_desk.h
struct CheckedExercise;       // session.h
enum class Source : uint8_t;  // session.h

namespace ask {

struct Manner {
    bool interrupts = false;    // it makes the work under way pointless and stops it
    bool stops_step = false;    // and a training step that is under way
    bool replaces = false;      // of such requests only the newest counts: dragging, or stepping fast, posts many
    bool light = false;         // served between the steps of a long run
    bool keeps_replay = false;  // a replay under way goes on
};

inline constexpr Manner in_turn = {}, newest = {.replaces = true}, now = {.interrupts = true},
                        newest_now = {.interrupts = true, .replaces = true}, beside = {.light = true},
                        newest_beside = {.replaces = true, .light = true}, ending = {.interrupts = true, .stops_step = true};

// clang-format off
struct OpenKernel { static constexpr Manner manner = newest; int64_t launch = 0; };         // of the step on show, in SM
struct Train { static constexpr Manner manner = now; int64_t steps = -1; };                 // more; -1: until paused
struct Pause { static constexpr Manner manner = in_turn; };
struct ShowStep { static constexpr Manner manner = newest_now; int64_t step = 0; };         // of training, computed before
struct FocusWarp { static constexpr Manner manner = newest_beside; int64_t track = 0; };  // of KernelTrace::warps: its history
struct LanesAt {  // values at an instruction of the history; as of a cycle, -1: as the history has them
    static constexpr Manner manner = {.replaces = true, .light = true, .keeps_replay = true};
    int64_t step = 0, cycle = -1;
};
struct FetchStretch { static constexpr Manner manner = newest_beside; int64_t cycle = 0; };  // the trace around it
struct TraceSm { static constexpr Manner manner = newest_beside; int64_t sm = 0, cycle = -1; };
struct ShowLessonStep { static constexpr Manner manner = newest_now; int step = 0; };
struct LockPrediction { static constexpr Manner manner = in_turn; size_t prediction = 0; int step = -1; };  // -1: the one on show
struct WorkOutEnding { static constexpr Manner manner = newest; };  // the last page's medals, and the story's bars
// A text against an exercise of the open lesson: on a thread of its own, beside whatever else is done.
struct CheckExercise {
    static constexpr Manner manner = {.light = true, .keeps_replay = true};
    int step = 0;
    size_t exercise = 0;
    std::string text;
};
struct CancelCheck { static constexpr Manner manner = {.light = true, .keeps_replay = true}; };
struct TakeCheck { static constexpr Manner manner = {.light = true, .keeps_replay = true}; std::shared_ptr<const CheckedExercise> found; };  // it has ended
struct SetGpu { static constexpr Manner manner = newest_now; std::string name; };            // "a100", "teaching:4"
struct Reload { static constexpr Manner manner = ending; };                                    // runs the scene again
struct OpenLesson { static constexpr Manner manner = ending; std::string id; int step = -1; }; // -1: where it was left
struct CloseLesson { static constexpr Manner manner = ending; };                               // for the training scene
struct Dismiss { static constexpr Manner manner = {.light = true, .keeps_replay = true}; };  // the problem has been read
struct Tell {  // what went wrong outside, or went well
    static constexpr Manner manner = beside;
    std::string sentence;
    bool good = false;
    std::string file = {};  // that was written, by its whole path: it can be copied
};
struct RunOwn { static constexpr Manner manner = newest_now; std::shared_ptr<const KernelJob> job; };
struct OpenLaunch { static constexpr Manner manner = newest_now; int64_t launch = 0; };       // of the program that ran
struct Bring { static constexpr Manner manner = newest; Source source = Source{}; };       // its run into all pictures
struct Cancel { static constexpr Manner manner = ending; };                                    // whatever runs
struct LimitBlocks { static constexpr Manner manner = newest_now; int64_t most = 0; };       // on an SM; 0: as many as fit
struct SimulateGains { static constexpr Manner manner = newest_now; };                         // of the verdict on show
struct TryWhatIf { static constexpr Manner manner = newest_now; std::string name; };  // of a finding: KernelState::tried
struct CarveOut { static constexpr Manner manner = now; int64_t bytes = -1; };               // of L1; -1: as the GPU does
struct SetUpTraining {  // this instead, from the beginning
    static constexpr Manner manner = {.interrupts = true, .stops_step = true, .replaces = true};
    std::shared_ptr<const TrainingSetup> setup;
};
struct OpenBuild {  // a puzzle by its name; empty: the kernel on show, or a training step
    static constexpr Manner manner = newest_now;
    std::string puzzle = {};
    bool step = false;
};
struct OpenDesign { static constexpr Manner manner = newest_beside; int number = 0; int32_t sm = 0; };  // of Build, as the kernel on show
struct RunReal { static constexpr Manner manner = newest_beside; };  // what is built for, on real GPUs
struct RunDesign { static constexpr Manner manner = newest_now; std::shared_ptr<const DesignWish> wish; };
struct RunCluster { static constexpr Manner manner = newest_beside; std::shared_ptr<const scene::ClusterSetup> setup; };
struct CompareMeasured {  // what real GPUs measured with the model; run: first what has not run, of names that begin so
    static constexpr Manner manner = newest;
    bool run = false;
    std::string beginning;
};
// clang-format on

}  // namespace ask

using Request =
    std::variant<ask::OpenKernel, ask::Train, ask::Pause, ask::ShowStep, ask::FocusWarp, ask::LanesAt, ask::FetchStretch,
                 ask::TraceSm, ask::OpenLaunch, ask::ShowLessonStep, ask::LockPrediction, ask::WorkOutEnding,
                 ask::CheckExercise, ask::CancelCheck, ask::TakeCheck, ask::SetGpu, ask::Reload, ask::OpenLesson,
                 ask::CloseLesson, ask::Dismiss, ask::Tell, ask::RunOwn, ask::Bring, ask::Cancel, ask::LimitBlocks,
                 ask::SimulateGains, ask::TryWhatIf, ask::CarveOut, ask::SetUpTraining, ask::OpenBuild, ask::RunDesign,
                 ask::OpenDesign, ask::RunReal, ask::RunCluster, ask::CompareMeasured>;

inline const ask::Manner& manner_of(const Request& request) {
    return std::visit([](const auto& one) -> const ask::Manner& { return one.manner; }, request);
}

}  // namespace lockstep::gui
