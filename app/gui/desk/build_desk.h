// The GPU that the learner builds, for a puzzle or for the kernel on show. What the worker publishes of it (BuildState): the
// task, and each design with what a run of it gave. What belongs to the interface (BuildDesk): the figures that the handles
// stand at, the way back, and what is looked at. Area, power and price are estimates everywhere; times are simulated.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/gpus/area.h"
#include "core/model/metrics/bound.h"
#include "core/scene/designs/designs.h"
#include "core/trace/focus.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::gui {

class Session;
struct Snapshot;

// What is built for: a puzzle, or a kernel or a training step with every figure of the kit free and no budget.
struct BuildTask {
    std::optional<lessons::Puzzle> puzzle;
    model::GpuSpec base;  // of a kernel: the GPU that it ran on
    std::string title, question;
    const model::Process* process = nullptr;
    std::vector<lessons::Puzzle::Free> free;
    double most_mm2 = 0, most_watts = 0;  // 0: any
    bool step = false;                    // a training step
    scene::DesignLaunch launch;

    // Throws Failure, with why such a GPU cannot be.
    model::GpuSpec design(const lessons::Figures& figures) const;
    const lessons::Puzzle::Free* free_named(std::string_view field) const;
    bool costs_the_medal(std::string_view field) const;  // a "what if": free to move, but not in the puzzle's rules
};
// Throws Failure. A kernel's run needs the memory that it began with.
std::shared_ptr<const BuildTask> task_of_puzzle(const std::string& id);
std::shared_ptr<const BuildTask> task_of_kernel(const model::KernelRun& run);
// The kernels of a step that ran on a GPU; their times add up.
std::shared_ptr<const BuildTask> task_of_step(scene::DesignLaunch step, const model::GpuSpec& base);

// A figure in the unit that `field` says: "l2_mb", "tensor_fmas".
double figure_of(const model::GpuSpec& gpu, std::string_view field);
// Where a handle stands still, from least to most; never empty.
std::vector<double> stops_of(const lessons::Puzzle::Free& free);
// Those of them that make a GPU with the other figures as they are, and the value that the task begins with.
std::vector<double> possible_stops(const BuildTask& task, const lessons::Figures& figures,
                                   const lessons::Puzzle::Free& free);

// What a run of a design was busy with, each a share from 0 to 1.
struct DesignUse {
    double issue = 0, fp32 = 0, l1 = 0, l2 = 0, memory = 0, tensor = 0, fp64 = 0;
    double l2_hits = 0, warps = 0;  // of reads; resident warps, of those that there is room for
    double port = 0;                // of what the SMs' ports let through from L2
};
struct KernelShare {
    std::string label;
    double time_us = 0;
};
// A design that ran, or why it did not.
struct BuiltDesign {
    int number = 0;  // from 1; while a handle is dragged it stays the same
    lessons::Figures figures;
    model::GpuSpec gpu;
    model::AreaEstimate area;
    std::string refused;  // empty: it ran
    int64_t cycles = 0;
    double time_us = 0, watts = 0;   // watts: an estimate of the run, on average
    std::vector<double> part_watts;  // the same of each row of `area`; they sum to `watts`
    uint64_t instructions = 0;       // of warps, of all kernels
    double sampled = 0;              // the figures are drawn out from so much of the instructions; 0: all of them ran
    DesignUse use;
    std::vector<KernelShare> kernels;  // one behind the other: several of a training step
    std::vector<float> issue, memory;  // by time: shares of the issue slots and of the memory's bandwidth
    model::Bound bound = model::Bound::latency;
    std::string_view limits;  // field of the kit that the busiest part hangs on: "dram_channels"
    std::string_view part;    // that part in a word: "memory"
    double busy = 0;          // how busy it is, 0 to 1
    lessons::Medal medal = lessons::Medal::none;
    std::string why;                              // there is no medal, or no better one
    std::shared_ptr<const model::KernelRun> run;  // its longest kernel, recorded for the die; null: it has not been

    size_t longest() const;                    // kernel
    double share_before(size_t kernel) const;  // of the whole time
    bool ran() const { return refused.empty(); }
    // Of the budgets the one that it is farthest over or nearest to, as a share: at most 1 is within both.
    double spent(const BuildTask& task) const {
        return std::max(task.most_mm2 > 0 ? area.mm2 / task.most_mm2 : 0, task.most_watts > 0 ? watts / task.most_watts : 0);
    }
    bool within(const BuildTask& task) const { return spent(task) <= 1; }
};
// Runs the task's kernels on it. Throws Cancelled where it was stopped.
// `like`: a whole run of another design, where there is one; then one that is stopped is a sample, and not thrown away.
BuiltDesign built(const BuildTask& task, const lessons::Figures& figures, const std::stop_token& stop = {},
                  const BuiltDesign* like = nullptr);
BuiltDesign built_on(const scene::DesignLaunch& launch, model::GpuSpec gpu, const std::stop_token& stop = {},
                     const BuiltDesign* like = nullptr);
// Its longest kernel once more, with all that the machine shows of it, that SM traced in full. Null: it faulted.
std::shared_ptr<const model::KernelRun> recorded(const BuildTask& task, const BuiltDesign& design, uint32_t sm,
                                                 const std::stop_token& stop = {});
// The medal of one that ran.
void judge(const BuildTask& task, const lessons::Thresholds& thresholds, BuiltDesign& design);

// Changes that are worth a run: twice a figure, half as much again or one stop more, and where the budget does not bear
// that, another down for it; those of the part that limits come first. All are within the budget of area, but where
// the design is over one itself: then less of anything comes first.
std::vector<lessons::Figures> changes_of(const BuildTask& task, const BuiltDesign& design);

// What a design with gold takes where one of its changes is put back, by a run.
struct PutBack {
    std::string field;
    std::shared_ptr<const BuiltDesign> design;
};

struct RealChip {  // a real GPU that runs the same
    std::string name, process;
    double mm2 = 0;    // of its die, published
    BuiltDesign runs;  // time simulated on its row; its area is the die's
};
std::vector<RealChip> real_chips();  // that nothing has run on yet

struct BuildState {  // published; immutable
    std::shared_ptr<const BuildTask> task;
    std::optional<lessons::Thresholds> thresholds;  // of a puzzle, once its reference designs have run
    std::map<lessons::Medal, std::shared_ptr<const BuiltDesign>> references;
    std::vector<std::shared_ptr<const RealChip>> real;        // once they were asked for
    std::vector<std::shared_ptr<const BuiltDesign>> designs;  // in the order of their numbers
    std::shared_ptr<const BuiltDesign> next;                  // the change of the newest that gains most; null: none does
    int next_of = 0;                                          // the design that it is a change of, or that was looked at
    std::vector<PutBack> put_back;                            // of the newest, once it has gold
    const BuiltDesign* newest() const { return designs.empty() ? nullptr : designs.back().get(); }
    const BuiltDesign* numbered(int number) const;
};

struct DesignWish {
    std::shared_ptr<const BuildTask> task;
    lessons::Figures figures;
    int number = 1;
};

class BuildDesk;
// The cycle of the recorded kernel that `at` stands at; -1: it lies outside of it, or the whole run is looked at.
int64_t cycle_on_die(const BuildDesk& desk, const BuiltDesign& design);

class BuildDesk {
  public:
    void open_first(Session& session);                       // puzzle
    void open(Session& session, const std::string& puzzle);  // empty: the kernel on show
    void open_step(Session& session);                        // a training step
    // Once a frame: takes the first design of a task that was opened.
    void adopt(Session& session, const Snapshot& snapshot);

    const std::shared_ptr<const BuildTask>& task() const { return task_; }
    const lessons::Figures& figures() const { return figures_; }
    double value_of(std::string_view field) const;
    const model::GpuSpec& gpu() const { return gpu_; }
    const model::AreaEstimate& area() const { return area_; }
    const std::string& impossible() const { return impossible_; }  // why the figures make no GPU; empty: they do
    int number() const { return number_; }

    // Posts a run. `dragging`: the handle is still held, so the design keeps its number.
    void set(Session& session, std::string_view field, double value, bool dragging = false);
    void release() { dragging_ = false; }                          // the handle
    void take(Session& session, const lessons::Figures& figures);  // all of them, as a step of its own
    void undo(Session& session);
    bool can_undo() const { return !undo_.empty(); }
    void reset(Session& session);
    // As a file that `--gpu` takes; says where it is, or what went wrong, in `note`.
    void save(const Snapshot& snapshot);
    // The figures of a GPU's file, as a step of its own, once a task is open; what it may not have is said in `note`.
    void begin_with(const model::GpuSpec& gpu) { begins_with_ = gpu; }
    std::string note;
    std::filesystem::path folder;  // of saved designs; empty: that of the user's state

    // Into an SM of the die: the machine shows the design's run from the die's moment on.
    void look_into(Session& session, const Snapshot& snapshot, Focus& focus, int32_t sm);
    bool inside = false;      // the machine was entered so, and Escape leads back
    int64_t into_cycle = -1;  // where the machine opens, once it shows the run; -1: it has

    std::string title(const Snapshot& snapshot) const;
    std::string position(const Snapshot& snapshot) const;

    std::string row;           // field that is looked at, on the die or in the rows; empty: none
    double at = -1;            // share of the run that the parts show; -1: all of it
    int32_t sm = 0;            // of the die, that Enter goes into
    double speed = 100;        // cycles a second, while it plays
    bool shows_real = false;   // real chips in the plot
    bool shows_recap = false;  // below the die, where the medal is gold
    enum class Against : uint8_t { before, first, best } against = Against::before;  // what a design is compared with
    bool shows_hint = false;    // instead of what to change next, until the design is another one
    int hint = 0;               // which
    bool shows_values = false;  // of what to change next: first it says which part, and asked again how much

  private:
    void update();
    void post(Session& session);
    std::shared_ptr<const BuildTask> task_;
    lessons::Figures figures_;
    model::GpuSpec gpu_;
    model::AreaEstimate area_;
    std::string impossible_;
    std::vector<lessons::Figures> undo_;
    int number_ = 1;
    bool dragging_ = false, had_gold_ = false;
    std::optional<model::GpuSpec> begins_with_;
};

}  // namespace lockstep::gui
