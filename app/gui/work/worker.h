// The session's worker thread, its requests and what it keeps. It takes requests in order, runs the engine, and publishes
// snapshots. A request that makes the work under way pointless stops it; looking at another warp is served between two
// kernels. Whatever goes wrong becomes Snapshot::problem, and the worker goes on.
// worker.cpp: the loop; worker_training.cpp, worker_kernel.cpp, worker_lesson.cpp, worker_own.cpp, worker_learn.cpp,
// worker_host.cpp, worker_program.cpp, worker_tape.cpp, worker_cluster.cpp, worker_measured.cpp, worker_design.cpp: what it
// does.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

#include "app/gui/session.h"
#include "app/gui/work/training_run.h"
#include "core/model/launch/replay.h"
#include "core/scene/cluster/cluster_training.h"
#include "core/scene/run.h"

namespace lockstep::lessons {
struct Yardstick;  // exercise.h
}

namespace lockstep::gui {

struct Session::Worker {
    explicit Worker(SessionOptions chosen);
    ~Worker();

    const SessionOptions options;

    // Shared with the frame's thread, under `mutex`.
    mutable std::mutex mutex;
    std::condition_variable_any wake;
    std::condition_variable settled;
    std::deque<Request> queue;
    std::shared_ptr<const Snapshot> newest;
    bool closing = false;
    bool working = true;                                 // false: nothing queued, nothing under way
    bool checking = false;                               // an exercise, on a thread of its own
    int asked_below = -1;                                // the prediction above which a picture is to stand, or -1
    std::stop_source job;                                // of the work that a request may interrupt
    std::stop_source stepping;                           // of a training step under way
    std::stop_source looking;                            // of a replay: any other wish but for values ends it
    std::chrono::steady_clock::time_point design_asked;  // when the newest design was
    struct Results {                                     // what belongs to the interface
        std::optional<LessonState> lesson;
        bool lesson_closed = false;
        struct Truth {
            int step = 0;
            size_t predict = 0;
            std::optional<double> value;  // none: it could not be worked out, and the learner may lock again
            int right = -1;               // index of the answer
            std::shared_ptr<const lessons::SketchTruth> told = {};  // of a sketch
        };
        struct Board {  // of a sketch
            int step = 0;
            size_t predict = 0;
            std::shared_ptr<const lessons::SketchBoard> board;
        };
        std::vector<Truth> truths;
        std::vector<Board> boards;
        std::shared_ptr<const CheckedExercise> report;
        std::pair<std::shared_ptr<const lessons::Lesson>, std::shared_ptr<const lessons::Ending>> ending;
        std::optional<int32_t> launch;  // kernel of the training step to look at
        std::optional<std::string> gpu;
    } results;

    // Under `notifying`, which is held during the call: who unsets it knows that no call is under way.
    std::mutex notifying;
    std::shared_ptr<const model::KernelRun> judged;  // that draft.kernel.verdict is of
    std::function<void()> on_publish;

    // The worker's own.
    Snapshot draft;
    std::string gpu;
    std::unique_ptr<TrainingRun> training;
    TrainingSetup setup;
    std::vector<Curve> compared;  // runs that have ended, beside the live one
    int64_t steps_to_run = 0;     // -1: until paused
    bool wants_timing = false;
    std::chrono::steady_clock::time_point last_step, last_whole;
    int64_t shown_kernel = -1;  // that somebody picked
    // Time travel in the launch on show, made when first needed: the launch as it ran, the same without its trace (to give
    // it another), and the replay, which holds at most 48 MiB of checkpoints, of a long run more.
    std::shared_ptr<const model::KernelRun> launched, traceless;
    std::unique_ptr<model::Replay> replay;
    std::shared_ptr<const lessons::Lesson> lesson;
    std::map<const scene::Scene*, scene::SceneResult> scene_results;  // of the open lesson
    int lesson_step = 0;
    int lesson_asked = -1;        // the prediction of the step whose picture stands there; -1: the step's own scene does
    std::string lesson_gpu;       // chosen by hand; empty: the lesson's own
    scene::ClusterTrainer ranks;  // the Cluster workspace's training run
    std::shared_ptr<const scene::TapeRun> tape_run;  // the learner's own, while that is what was run last
    std::string shown_document;                      // its path and name: the learner's own that was asked for last
    struct Shelf {                                   // what is on show of one source, while another one is
        KernelState kernel;
        TrainingState training;
        std::shared_ptr<const scene::HostRun> host;
        std::shared_ptr<const scene::TapeRun> tape;
        std::shared_ptr<const model::KernelRun> judged;
        std::optional<Diagnostic> problem;
        std::string whose;
        int64_t shown_kernel = -1;
    };
    std::map<Source, Shelf> shelves;                // not of draft.source, whose are in the draft
    std::optional<ask::CheckExercise> next_check;   // once the one under way has ended
    std::shared_ptr<lessons::Yardstick> yardstick;  // of the exercise that was checked last
    const lessons::Exercise* measured_for = nullptr;
    // Of puzzles that were open, by their files: the task of then, and the designs of its medals.
    std::map<std::filesystem::path,
             std::pair<std::shared_ptr<const BuildTask>, std::map<lessons::Medal, std::shared_ptr<const BuiltDesign>>>>
        medals;
    // And their designs, with the time at which the file was written: who comes back finds them.
    std::map<std::filesystem::path, std::pair<std::filesystem::file_time_type, std::shared_ptr<const BuildState>>> left;
    std::map<std::string, lessons::Medal> kept_medals;  // in this window, by puzzle
    std::chrono::steady_clock::time_point note_since;   // of a draft.problem that says what went well

    // worker.cpp
    bool note_is_up() const;
    void forget_note();
    void run(const std::stop_token& stop);
    void serve(const Request& request);
    void serve_light();  // what may be looked at while a long run is under way
    void publish();
    void bring(Source source);        // another one's run into all pictures; training that runs stops
    void clear_shown();               // nothing of the source on show
    void serve_bring(Source source);  // the same as somebody asked for it: what has not run yet begins
    bool own() const { return draft.source == Source::own; }
    void busy(std::string text, double progress = -1);
    void guarded(const std::function<void()>& work);
    std::stop_token job_token();
    bool superseded() const;  // a request that interrupts is waiting, or the end; under `mutex`
    template <typename Wish>
    bool waits() const {  // in the queue; under `mutex`
        return std::any_of(queue.begin(), queue.end(), [](const Request& r) { return std::holds_alternative<Wish>(r); });
    }

    // worker_training.cpp
    void open_training();
    void train(int64_t steps);
    void change_setup(const TrainingSetup& wanted);  // another run; the one before stays as a curve
    std::string run_name(bool running) const;
    void write_text();
    std::stop_token step_token();
    void renew_stopped();  // a run whose step was cancelled goes on from there
    void pause();
    void show_step(int64_t step);
    void train_one();
    void time_shown();
    void show_early(const device::LaunchEvent& launch, size_t number, size_t of);
    void show_curves();
    void set_gpu(const std::string& name);
    void reload();

    // worker_kernel.cpp
    void open_kernel(int64_t index, bool wish = false);
    void show_kernel(std::shared_ptr<const model::KernelRun> kernel, std::string label, const Focus& look_at = {});
    void run_resident(int64_t most_blocks);  // the kernel on show again
    void judge_kernel(bool wished);          // what limits the kernel on show
    void simulate_gains();
    void try_what_if(const std::string& name);
    void keep_judged();
    void run_carved(int64_t bytes);  // the same
    void run_again(const model::GpuSpec& on, uint32_t most_blocks, const std::string& what);
    void forget_warp();
    void forget_fault();  // of another kernel; what was said about a file stays until it is dismissed
    void focus_warp(int64_t index);
    void lanes_at(int64_t step, int64_t cycle);
    bool travels();  // whether the launch on show can be replayed; makes the replay ready
    bool values_at(int64_t step, int64_t cycle);
    void fetch_stretch(int64_t cycle);
    void trace_sm(int64_t sm, int64_t cycle);
    void show_trace(std::shared_ptr<const model::KernelRun> run);  // of the launch on show
    model::ReplayWatch watch(const std::string& what);

    // worker_own.cpp
    void own_kernel(const KernelJob& job);
    bool compile_own(const KernelJob& job);
    void run_own(const KernelJob& job);
    void launch_own(const KernelJob& job, model::KernelRun& run, simt::Memory& memory, KernelResult& result);
    bool learn_sizes(const KernelResult& result, const KernelEntry& entry, const CompiledKernel& compiled,
                     LaunchSettings& settings);  // of a launch whose guesses are blamed
    void learn_own(const KernelJob& job);        // what a first run tells of sizes that were guessed
    void show_own();

    // worker_cluster.cpp
    void show_cluster(const std::shared_ptr<const scene::ClusterSetup>& wanted);  // null: its own scene

    // worker_design.cpp
    void open_build(const ask::OpenBuild& wish);
    std::shared_ptr<const BuildTask> step_on_show();
    void show_design(const DesignWish& wish, std::shared_ptr<BuiltDesign> design);
    void record_newest(uint32_t sm);
    void open_design(int number, uint32_t sm);
    void run_real();
    void run_wish(const DesignWish& wish);
    void run_newest(const DesignWish& wish);
    double seconds_waited();  // by who asked for the newest design
    void end_samples();
    bool known_medals();
    void leave_puzzle();                         // keeps its designs
    void after_newest();                         // all that follows the run of the newest design
    void keep_medal(const BuiltDesign& design);  // in the learner's progress, where it is the best of its puzzle
    void judge_designs(std::map<lessons::Medal, std::shared_ptr<const BuiltDesign>> references);
    void put_changes_back();  // of the newest design, where it has gold
    void find_next();         // the change of the newest design that gains most

    // worker_measured.cpp
    // What is known of all; `run`: what is not known of those whose names begin so (the request's text) is run first.
    void run_measured(bool run, const std::string& beginning);

    // worker_host.cpp
    void own_host(const KernelJob& job);

    // worker_program.cpp
    void own_program(const KernelJob& job);
    std::shared_ptr<CompiledKernel> build_own(const KernelJob& job);
    void run_program(const KernelJob& job, const CompiledKernel& compiled);
    void open_launch(int64_t launch);

    // worker_tape.cpp
    void own_tape(const KernelJob& job);
    void show_tape(bool other);  // the learner's last run; other: of another file than the one on show before

    // worker_lesson.cpp
    scene::RunOptions run_options();
    void open_lesson(const std::string& id, int step);  // step -1: where it was left
    void close_lesson();
    void show_lesson_step(int step);
    int wish_below();  // the newest that the interface said
    void make_boards();
    void work_out_ending();
    void show_host(const scene::HostRun& host, const Focus& look_at);
    const scene::SceneResult& result_of(const scene::Scene& scene);  // runs it where it has not run yet
    void forget_far_scenes();  // of other steps, what takes much memory: it runs again when somebody comes back
    void show_training(const scene::SceneResult& shown, int32_t launch);
    void lock_prediction(size_t index, int step);
    void check_exercise(const ask::CheckExercise& wish);
    void begin_check(const ask::CheckExercise& wish);
    void take_check(const std::shared_ptr<const CheckedExercise>& found);

    std::jthread checker, thread;  // last: they use all of the above, and have ended before any of it is gone
};

// "A100" for "a100".
std::string upper(std::string text);

}  // namespace lockstep::gui
