// What is open: a training run or a kernel or a lesson. The session's worker thread runs the engine and publishes immutable
// snapshots; the frame reads the newest one and never waits. Views call only the const getters and post requests.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/desk/build_desk.h"
#include "app/gui/desk/issue_trail.h"
#include "app/gui/desk/kernel_desk.h"
#include "app/gui/desk/program_run.h"
#include "app/gui/desk/progress.h"
#include "app/gui/desk/remembered.h"
#include "app/gui/desk/roof_trail.h"
#include "app/gui/requests.h"
#include "core/model/launch/launch.h"
#include "core/nn/train/cause.h"
#include "core/nn/train/step_record.h"
#include "core/scene/host/host_program.h"
#include "core/scene/run.h"
#include "core/simt/history/history.h"
#include "core/simt/history/history_memory.h"
#include "core/trace/focus.h"
#include "lessons/player/challenge/medal.h"
#include "lessons/player/lesson.h"
#include "lessons/player/sketch/sketch.h"

namespace lockstep::lessons {
struct ExerciseReport;  // lessons/player/exercise.h
struct Companion;       // lessons/player/companion/companion.h
struct Ending;          // lessons/player/story/story.h
}  // namespace lockstep::lessons

namespace lockstep::scene {
struct ClusterScene;  // cluster.h
}

namespace lockstep::model {
struct Verdict;  // core/model/advice/verdict.h
}

namespace lockstep::parallel {
struct ParallelStepRecord;  // trainer.h
}
namespace lockstep::device {
struct MeasuredStore;  // measured.h
struct SiliconReport;  // app/silicon/compare/compare.h
}  // namespace lockstep::device

namespace lockstep::gui {

struct Timeline;     // views/timeline_data.h
struct ClusterStep;  // views/machine/many/cluster_step.h

struct TrainingSetup {          // what the Training workspace trains
    std::string model = "mlp";  // a row of nn::models()
    bool on_gpu = true;         // the modelled GPU that is chosen; else the host
    std::string optimizer;      // "" the model's own
    double learning_rate = 0.5;
    int64_t batch = 64;
    int ranks = 1;  // that the step on show is run on too, each with its part of the batch; 1: none
    bool operator==(const TrainingSetup&) const = default;
};
bool trains_on_ranks(const std::string& model);
TrainingSetup setup_of(const std::string& model);  // its own rate and batch, on the host; mlp: the opening scene
std::string text_of(const TrainingSetup& setup);   // "lr 0.5", "adam, lr 0.001, batch 32"

struct Written {  // by a language model as it learns
    int64_t step = 0;
    std::string text;
};

struct Curve {                             // one training run in the learning curves
    std::string name;                      // "lr 0.1, running"
    std::vector<double> loss;              // by step
    std::vector<nn::Evaluation> accuracy;  // on the test set, now and then
    std::string measure = "";              // what the second plot shows instead of the accuracy: "held-out loss"
    int64_t total_steps = 0;               // how many the run will take
    bool running = false;
    std::vector<nn::Cause> causes = {};  // why it fails, where it does
    int64_t batch = 0;                   // examples of a step; 0: not known
    double target = 0;                   // the loss that it was to reach; 0: none
    int64_t to_target = 0;               // steps until it did; 0: it did not
    int64_t resumed = 0;                 // the step at which it went on from a checkpoint; 0: it never stopped
    bool kept_back = false;              // of a picture: a question asks how it goes on
    int colour = -1;                     // of a run that stays beside later ones, for as long as it does; -1: by its place
};

struct LessonState {  // the player's part: which step, what was answered
    std::shared_ptr<const lessons::Lesson> lesson;
    std::shared_ptr<const lessons::Companion> companion;  // null: the lesson has none
    int step = 0;
    struct Prediction {
        int chosen = -1;      // index of the answer
        int confidence = 50;  // percent
        bool locked = false;
        std::optional<double> truth;  // by the engine, once locked
        bool right = false;
        bool by_class = false;  // told by hands in presenter mode: no progress of the learner's
        bool again = false;     // it was answered, and is being answered anew
        // Of a sketch: what is known, which the worker makes when the step is shown; what the learner put there; and once
        // locked what the engine has there, and how near the sketch came.
        std::shared_ptr<const lessons::SketchBoard> board;
        lessons::Sketch sketch;
        std::shared_ptr<const lessons::SketchTruth> told;
        lessons::SketchScore score;
    };
    std::vector<std::vector<Prediction>> predictions;           // by step, by predict
    std::vector<bool> done;                                     // by step
    struct Checked {                                            // an exercise
        std::shared_ptr<const lessons::ExerciseReport> report;  // of the last check that ended; null: there was none
        uint64_t text = 0;                                      // hash of the text that it is of
        std::string problem;  // why the last check told nothing: it was cancelled, or the lesson is wrong; "": it did
        int checks = 0;       // how often it was asked for
    };
    std::map<std::pair<int, size_t>, Checked> checked;  // by step and exercise
    lessons::Medal medal = lessons::Medal::none;        // the best of the lesson's challenge so far
    std::shared_ptr<const lessons::Ending> ending;      // null until the worker has worked it out
    bool handed_in = false;                             // of an exam: only now its answers are told
    bool holds_back() const;                            // an exam that is not handed in
    const Checked* last_check(int at, size_t exercise) const {
        const auto found = checked.find({at, exercise});
        return found == checked.end() ? nullptr : &found->second;
    }
};

// What a check found, one sentence a line: the source and its caret are in the learner's editor.
std::vector<std::string> lines_of(const LessonState::Checked& checked);

struct CheckedExercise {  // a check that has ended
    std::shared_ptr<const lessons::Lesson> lesson;
    int step = 0;
    size_t exercise = 0;
    uint64_t text = 0;
    std::shared_ptr<const lessons::ExerciseReport> report;
    std::string problem;
};

struct ExamResult {
    double points = 0, of_points = 0;
    bool passed = false;
    size_t answered = 0, tasks = 0;
    std::string words() const;  // "9 of 14 points: passed (60 % are needed)"
};
ExamResult exam_result(const LessonState& state);

LessonState state_of(std::shared_ptr<const lessons::Lesson> lesson);  // nothing is done or answered yet

// The sketch that the step on show is about: the first open prediction where that is one, else the last that was answered,
// if all are. -1: there is none.
int sketch_on_show(const LessonState& state);
// The same of a state that is to be changed; null: none, or its board is not there yet.
LessonState::Prediction* sketch_of(LessonState& state);
const LessonState::Prediction* sketch_of(const LessonState& state);
bool sketch_is_open(const LessonState& state);  // there is one, and it is not answered
// Takes a sketch, and what was said of it, back: it is asked once more.
void sketch_again(LessonState::Prediction& given);

// What the worker publishes, a struct for what each workspace shows.
// A run as numbers alone, to be held beside another one: without its trace, what it needs to be replayed, and its memory.
std::shared_ptr<const model::KernelRun> without_trace(const model::KernelRun& run);

struct TriedWhatIf {                              // the launch on show with one thing idealised
    std::string name;                             // "coalesced": of a row of core/model/advice/what_if.h
    std::string words;                            // "every request to global memory took as few sectors as its bytes fill"
    std::shared_ptr<const model::KernelRun> run;  // without_trace()
};
struct KernelState {  // of SM, Memory, Kernel and Learn: a run of a kernel, and what its focused warp does
    std::shared_ptr<const model::KernelRun> run;                    // null until one has run
    std::shared_ptr<const model::Verdict> verdict;                  // what limits it; null until a timed run has ended
    std::shared_ptr<const TriedWhatIf> tried;                       // of the run on show; null: none was
    std::string label;                                              // "matmul_dW1 (kernel 9 of 11)"
    std::shared_ptr<const std::vector<scene::GpuRun>> generations;  // the scene's kernel on the GPUs of gpus=, or null
    std::shared_ptr<const std::vector<Array>> outputs;              // of a lesson's scene: what it wrote; null: another's
    std::shared_ptr<const model::KernelRun> other;                  // the scene that this one is compared with; null: none
    Focus look_at;  // where this kernel's scene opens: warp (counted over the grid) and line; -1: nowhere in particular
    std::shared_ptr<const simt::WarpHistory> history;  // of the focused warp; may lag behind the focus
    std::shared_ptr<const std::vector<simt::LaneValues>>
        lanes;  // registers of the focused warp at history step `lanes_step`
    int64_t lanes_step = -1;
    bool lanes_timed = false;  // they, and the memory, are those of the timed run at its cycle; else of a replay (`history`)
    std::shared_ptr<const simt::MemoryAt> memory;  // of the focused warp's block at history step `lanes_step`
    std::shared_ptr<const std::vector<simt::StackEntry>>
        stack;  // of the focused warp at `lanes_step`, from the replay of the timed run; null: the history has it
};
// Of the findings' what-ifs the one behind the one that was tried last, else the first; "": none can be tried.
std::string what_to_try(const KernelState& kernel);
struct EarlierRun {  // of the learner's kernel, before the edit or the setting that the newest run has
    std::shared_ptr<const model::KernelRun> run;  // without_trace()
    std::string text;                             // that ran
};
struct OwnState {  // of Kernel: what the learner's newest text compiled to, the last text that compiled, and its last run
    std::shared_ptr<const CompiledKernel> compiled, runnable;
    std::shared_ptr<const KernelResult> result;
    std::shared_ptr<const KernelResult> run;       // the last that ran: what is stepped through
    std::shared_ptr<const LearnedLaunch> learned;  // of the newest text's guesses; null: nothing was guessed or tried
    std::shared_ptr<const EarlierRun> before;      // the timed run before `run`, of the same document and kernel; or null
};
struct ProgramState {  // of Kernel: a whole program's run, and which of its launches `kernel` shows
    std::shared_ptr<const ProgramRun> run;
    int64_t launch = -1;  // -1: none is open
    std::string refused;  // why the launch that was asked for last cannot be opened
};
struct StepBeside {  // a training step that a lesson's scene shows beside its own
    std::string gpu;
    std::shared_ptr<const nn::StepRecord> step;
};
struct TrainingState {  // of Training: a run, and the step of it that is on show
    TrainingSetup setup;
    bool open = false;                                             // the setup's run
    std::string gpu;                                               // that it is on, or would be
    std::shared_ptr<const nn::StepRecord> step;                    // on show
    std::shared_ptr<const nn::StepRecord> first_step;              // step 0's values, for "change since step 0"
    std::shared_ptr<const parallel::ParallelStepRecord> on_ranks;  // that step on setup.ranks ranks; null: one
    std::vector<StepBeside> beside;
    std::vector<Curve> curves;
    std::vector<Written> written;                             // the newest last; of a language model
    std::shared_ptr<const std::vector<std::string>> symbols;  // of a language model, by token
};

// Whose run the pictures show. Each keeps its own: who comes back to it finds it as it was.
enum class Source : uint8_t { none, training, lesson, own, design };

// Immutable once published. Memory: a training session holds step records of 48 MiB, checkpoints of 64 MiB and one timed
// step (every kernel's trace, about 30 MB in all); a lesson holds one run a scene. Time travel in the kernel on show holds
// one modelled GPU and at most 48 MiB of checkpoints, of a run of over two million warp instructions 256 MiB; a run of the
// learner's own leaves at most 128 MiB more.
struct Snapshot {
    Source source = Source::none;  // of kernel, training, host and tape
    std::string whose;             // the learner's file that they are of, where they are her own: "saxpy.cu"
    KernelState kernel;
    OwnState own;
    ProgramState program;
    TrainingState training;
    std::shared_ptr<const TrainingState> trained;  // the training run while another source is on show; null: none
    std::shared_ptr<const scene::HostRun> host;    // the host program shown; null: none is
    std::shared_ptr<const scene::TapeRun> tape;    // the tensor program shown, whose last step is on show; or null
    std::vector<std::shared_ptr<const scene::TapeRun>> beside;  // those that a lesson's scene shows beside it
    std::shared_ptr<const BuildState> build;                    // what the Build workspace shows; null until it was open
    std::shared_ptr<const scene::ClusterScene> cluster;         // what the Cluster workspace shows; null until it has run
    // Measurements with what the model gives for the same launches, a report a GPU; not a number: it has not run. Null: the
    // view that shows them has not been open.
    std::shared_ptr<const std::vector<device::SiliconReport>> silicon;
    std::string checking;               // "by_warp.cu": an exercise's text that is being checked; empty: none is
    std::string busy;                   // "timing kernel 3 of 11"; empty when idle
    double progress = -1;               // 0..1, -1 unknown
    std::optional<Diagnostic> problem;  // the last bad input or fault, shown in a strip until dismissed
    uint64_t version = 0;               // counts publications
};

enum class Workspace { home, learn, machine, sm, memory, training, kernel, cluster, build };  // rows of scenes.h
enum class SmPage { one_run, compare, occupancy };                                            // what the SM workspace shows

const TrainingState& training_run_of(const Snapshot& snapshot);  // the Training workspace's, whatever is on show
bool shows_own_run(const Snapshot& snapshot);                    // the kernel on show is the learner's own

// node: of the autograd tape; action: of a pipeline schedule, or a collective's round; call: of a whole program's host
enum class Grain { cycle, instruction, node, kernel, training_step, action, call };

// What is looked at, a struct for each workspace.
struct HomeLook {
    std::vector<std::shared_ptr<const lessons::Lesson>> course;  // by id
    std::map<std::string, LessonProgress> progress;              // by the lesson's id, as it is kept
    Remembered left;           // where one was before Home was opened: what Continue goes back to
    bool asks_search = false;  // its search field was pressed: the shell opens the search
    int64_t trains_until = 0;  // steps of the training run that its tile shows, once its first kernel is there
    enum class Own : uint8_t {
        wanted,
        asked,
        done
    } own = Own::wanted;  // whether the kernel on the desk has run for its tile
};
struct LearnLook {
    std::string last_lesson;    // the one that was worked on last, before this start; empty: none
    uint64_t placed = 0;        // how often a lesson has put the focus where its step begins
    int run_shown = -1;         // the step whose run stands where its answered sketch was; -1: none
    bool presented = false;     // in front of a class: statement and asked line stand outside of the picture
    uint64_t learner = 0;       // whose order of answers it is
    int64_t reveal_steps = -1;  // while a prediction is open: the warp's instructions from here on stay hidden everywhere
                                // (rows, totals, captions); -1: nothing is
};
struct SmLook {  // of every picture of a kernel
    SmPage page = SmPage::one_run;
    int64_t cycles_begin = 0, cycles_end = 0;  // cycles in view of the time pictures; equal: the view fits them
    int64_t history_step = 0;                  // instruction of the focused warp that the lane pictures show
    bool by_time = false;                      // at the grain of instructions the clock was set last: the step follows it
    struct WantedStep {     // an instruction of the focused warp that lies outside the stretch that the trace keeps
        int64_t step = -1;  // -1: none
        int64_t low = 0, high = INT64_MAX;  // its cycle lies in [low, high)
        int looks = 0;                      // stretches looked into so far
    } wanted;
    std::shared_ptr<const model::KernelRun> pinned;  // run A of the comparison, kept while B changes; null: none
    bool whole = false;         // numbers beside the time pictures are of the whole kernel, not of the cycles in view
    bool wants_whole = false;   // the time picture is to show all cycles once; it takes the wish
    std::string register_wish;  // that the picture of the registers is to show alone; it takes the wish
    IssueTrail issues;          // issue slots used by resident warps, of one launch
};
struct TrainingLook {
    int32_t tape_at = -1;  // moment of the tape that was stepped to (tape_data.h); -1: follows the launch
    struct SettingMenu {   // asked for by the training strip: the shell opens it
        enum class Kind { none, model, device, optimizer, rate, batch, ranks, more } kind = Kind::none;
        float x = 0, y = 0;
        struct Setting {
            Kind kind = Kind::none;
            std::string name, value;  // "batch", "64"
        };
        std::vector<Setting> others = {};  // of `more`: what the strip has no room for
    } setting_menu;
};
using TrainingSetting = TrainingLook::SettingMenu::Setting;
struct ClusterLook {
    double time = -1;  // of the schedules, in their unit; -1: where the picked micro-batch starts on the picked rank
    double collective_time = -1;                       // of the collective, microseconds; -1: in its middle
    int microbatch = -1;                               // picked; -1: one in the middle
    bool collective = false;                           // the transport moves the collective; else the schedules
    std::shared_ptr<const scene::ClusterSetup> asked;  // by hand, until the worker has run it; null: nothing is
};

struct ProgramLook {    // of a whole program's pictures
    int64_t call = -1;  // of its report, that is looked at; -1: none
    int32_t line = -1;  // of its text
};

// What is followed through a step of many GPUs: a micro-batch on its way through the stages of a replica, a message that has
// no number, or a chunk of the sum that goes round the replicas of a stage.
struct FollowedPacket {
    enum class Kind : uint8_t { none, microbatch, message, chunk } kind = Kind::none;
    int replica = 0;
    int number = -1;  // of the micro-batch, from 0; of the message in its column; of the ring in the step
    int chunk = -1;   // of the ring
    bool operator==(const FollowedPacket&) const = default;
};

struct MachineLook {    // of the machine: how deep one looks, and how fast the clock runs, in every workspace
    double zoom = 2;    // 0 the cluster, 1 a node, 2 a GPU, 3 an SM, 4 a sub-core, 5 a warp, 6 a lane; between: on the way
    double wanted = 2;  // where the zoom goes by itself
    double clock = -1;  // cycles of the kernel, with what has passed of the last one; -1: where the focus stands
    double speed = 0;   // cycles a second, at the grain of instructions these; 0: what the zoom, or the picture, says
    double filmed = 0;  // cycles a second of the recording that is made; 0: none is
    bool skip_waits = false;               // jumps over cycles in which the traced SM issues nothing, or GPUs wait
    bool follow = false;                   // the clock stops where what is followed arrives
    int64_t followed = -1;                 // index into MachineTrace::requests; -1: none
    double tour = -1;                      // seconds of the tour that lie behind; -1: there is none
    bool offers_tour = false;              // to who is here for the first time
    int64_t loop_from = -1, loop_to = -1;  // the clock stays within these cycles; -1: it does not
    int rank = -1;             // of the cluster: the GPU that is looked at, and its node; -1: the late one, else the first
    double cluster_speed = 0;  // microseconds of the step a second; 0: what the zoom says
    FollowedPacket packet;     // at a cluster or a node
    int64_t entering = -1;     // SM that is being traced and then gone into
    bool memory_side = false;  // of an SM, in the place of its units, where there is no room for both
};

class Session;
// Whether a question that is still open says so in its `of`: one of the step on show, or of a later step about the same
// scene, whose answer the pictures of a step before it must not give away. What was answered once about the scene is on
// show.
bool asks_for(const Session& session, std::string_view words);
// The same of what is no scene's own, a GPU's or a model's: any question of this step or a later one, while a lesson is on
// show.
bool waits_for(const Session& session, std::string_view words);
// That question's step, from 1, also while the case before is on show; 0: none waits.
int step_waiting_for(const Session& session, std::string_view words);

struct GpuChoice {  // of the menus: "teaching:4", "Teaching GPU, 4 SMs", "4 SMs, compute 7.0"
    std::string name, title, detail;
};
// Every row, the teaching GPU in a few more sizes, and `chosen` where that is a file of one's own.
std::vector<GpuChoice> gpu_choices(std::string_view chosen = {});

struct SessionOptions {
    std::string lesson = {};      // id; empty: the training scene
    int lesson_step = 0;          // from 0; -1: where it was left
    int64_t training_steps = -1;  // of the training scene: pause after so many; -1: run until paused
    int64_t steps_later = 0;      // that follow when the Training workspace is entered first
    std::string gpu = "v100";
    bool paced = false;                        // at most 11 training steps a second, so that a person can follow
    bool start = true;                         // false: an empty session without a worker (tests)
    bool first_time = false;                   // nobody has used the app here before
    std::filesystem::path progress_file = {};  // where the learner's progress is kept; empty: nowhere
    std::filesystem::path kernel_file = {};    // where the learner's kernels are kept; empty: nowhere
    uint64_t trace_limit = 2'000'000;          // of the learner's kernel: a longer run keeps a stretch, the rest is replayed
    TrainingSetup setup = {};                  // of the training scene
    bool own_kernel = false;                   // begin with the learner's kernel instead of a training scene
    bool cluster = false;                      // begin with the Cluster workspace's own scene
    bool build = false;                        // begin with a puzzle of the Build workspace
    int puzzle = 1;                            // which: its place in the list, from 1
};

class Session {
  public:
    explicit Session(SessionOptions options = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    std::shared_ptr<const Snapshot> snapshot() const;  // newest; never null
    void post(Request request);                        // returns at once
    bool wait_until_idle(double timeout_seconds);      // headless rendering and tests only; false: it ran out
    // The worker hands over what belongs to the interface (a lesson, the truth of a prediction); called once a frame.
    void adopt_results(Focus& focus);
    void hand_in();                               // the exam: every answer is locked, and the engine says what is right
    void take_again();                            // the exam, from its beginning
    std::string write_certificate() const;        // beside the progress file; where it is, or why it is not, in one sentence
    void on_publish(std::function<void()> wake);  // called on the worker's thread after every publication
    void publish_for_test(std::shared_ptr<const Snapshot> snapshot);

    void read_progress();  // into home.progress: of all lessons, as it is kept

    // What the time pictures draw of a run, made once for all of them and kept for as long as one holds it.
    std::shared_ptr<const Timeline> timeline(const std::shared_ptr<const model::KernelRun>& run) const;

    // The step of many GPUs that the machine shows, likewise: on several ranks, trained or planned. Null: there is none.
    std::shared_ptr<const ClusterStep> cluster_step(const Snapshot& snapshot) const;

    // State of the interface, owned by the frame's thread.
    Workspace workspace = Workspace::training;
    Grain grain = Grain::kernel;
    bool playing = false;
    bool less_motion = false;  // nothing flashes, and nothing grows on its way: what changes is there at once
    std::string gpu = "v100";
    int64_t steps_later = 0;  // see SessionOptions
    LessonState lesson;
    HomeLook home;
    LearnLook learn;
    SmLook sm;
    TrainingLook training;
    ClusterLook cluster;
    MachineLook machine;
    KernelDesk desk;         // the learner's own kernels
    BuildDesk build;         // the GPU that the learner builds
    RoofTrail roof;          // the runs that stand on the roofline
    int32_t host_line = -1;  // line of the host program that is looked at
    ProgramLook program;
    std::shared_ptr<const device::MeasuredStore> measured;  // of real GPUs, read once; never null, often empty

    struct Worker;  // worker.h

  private:
    std::filesystem::path progress_file_;
    mutable std::vector<std::weak_ptr<const Timeline>> timelines_;
    mutable std::shared_ptr<const ClusterStep> cluster_step_;
    ProgressLog progress_;
    std::unique_ptr<Worker> worker_;
};

}  // namespace lockstep::gui
