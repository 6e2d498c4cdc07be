// The GPU that the learner builds, for a puzzle or for the kernel on show. What the worker publishes of it (BuildState): the
// task, and each design with what a run of it gave. What belongs to the interface (BuildDesk): the figures that the handles
// stand at, the way back, and what is looked at. Area, power and price are estimates everywhere; times are simulated.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/gpus/area.h"
#include "core/model/metrics/bound.h"
#include "core/scene/designs/designs.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::gui {

class Session;
struct Snapshot;

// What is built for: a puzzle, or a kernel with every figure of the kit free and no budget.
struct BuildTask {
    std::optional<lessons::Puzzle> puzzle;
    model::GpuSpec base;  // of a kernel: the GPU that it ran on
    std::string title, question;
    const model::Process* process = nullptr;
    std::vector<lessons::Puzzle::Free> free;
    double most_mm2 = 0, most_watts = 0;  // 0: any
    scene::DesignLaunch launch;

    // Throws Failure, with why such a GPU cannot be.
    model::GpuSpec design(const lessons::Figures& figures) const;
    const lessons::Puzzle::Free* free_named(std::string_view field) const;
};
// Throws Failure. A kernel's run needs the memory that it began with.
std::shared_ptr<const BuildTask> task_of_puzzle(const std::string& id);
std::shared_ptr<const BuildTask> task_of_kernel(const model::KernelRun& run);

// A figure in the unit that `field` says: "l2_mb", "tensor_fmas".
double figure_of(const model::GpuSpec& gpu, std::string_view field);
// Where a handle stands still, from least to most; never empty.
std::vector<double> stops_of(const lessons::Puzzle::Free& free);

// What a run of a design was busy with, each a share from 0 to 1.
struct DesignUse {
    double issue = 0, fp32 = 0, l1 = 0, l2 = 0, memory = 0, tensor = 0, fp64 = 0;
    double l2_hits = 0, warps = 0;  // resident warps, of those that there is room for
};
// A design that ran, or why it did not.
struct BuiltDesign {
    int number = 0;  // from 1; while a handle is dragged it stays the same
    lessons::Figures figures;
    model::GpuSpec gpu;
    model::AreaEstimate area;
    std::string refused;  // empty: it ran
    int64_t cycles = 0;
    double time_us = 0, watts = 0;  // watts: an estimate of the run, on average
    DesignUse use;
    std::vector<float> issue, memory;  // by time: shares of the issue slots and of the memory's bandwidth
    model::Bound bound = model::Bound::latency;
    std::string_view limits;  // field of the kit that the busiest part hangs on: "dram_channels"
    std::string_view part;    // that part in a word: "memory"
    double busy = 0;          // how busy it is, 0 to 1
    lessons::Medal medal = lessons::Medal::none;
    std::string why;  // there is no medal, or no better one

    bool ran() const { return refused.empty(); }
    bool within(const BuildTask& task) const {
        return (task.most_mm2 <= 0 || area.mm2 <= task.most_mm2) && (task.most_watts <= 0 || watts <= task.most_watts);
    }
};
// Runs the task's kernel on it. Throws Cancelled where it was stopped.
BuiltDesign built(const BuildTask& task, const lessons::Figures& figures, const std::stop_token& stop = {});
// The medal of one that ran.
void judge(const BuildTask& task, const lessons::Thresholds& thresholds, BuiltDesign& design);

// Changes that are worth a run: a figure up by about half or by one, and where the budget does not bear that, another down
// for it; those of the part that limits come first. All are within the budget of area.
std::vector<lessons::Figures> changes_of(const BuildTask& task, const BuiltDesign& design);

struct BuildState {  // published; immutable
    std::shared_ptr<const BuildTask> task;
    std::optional<lessons::Thresholds> thresholds;            // of a puzzle, once its reference designs have run
    std::vector<std::shared_ptr<const BuiltDesign>> designs;  // in the order of their numbers
    std::shared_ptr<const BuiltDesign> next;                  // the change of the newest that gains most; null: none does
    int next_of = 0;                                          // the design that it is a change of, or that was looked at
    const BuiltDesign* newest() const { return designs.empty() ? nullptr : designs.back().get(); }
    const BuiltDesign* numbered(int number) const;
};

struct DesignWish {
    std::shared_ptr<const BuildTask> task;
    lessons::Figures figures;
    int number = 1;
};

class BuildDesk {
  public:
    void open_first(Session& session);                       // puzzle
    void open(Session& session, const std::string& puzzle);  // empty: the kernel on show
    // Once a frame: takes the first design of a task that was opened.
    void adopt(const Snapshot& snapshot);

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
    std::string note;
    std::filesystem::path folder;  // of saved designs; empty: that of the user's state

    std::string title(const Snapshot& snapshot) const;
    std::string position(const Snapshot& snapshot) const;

    std::string row;  // field that is looked at, on the die or in the rows; empty: none
    double at = -1;   // share of the run that the parts show; -1: all of it

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
    bool dragging_ = false;
};

}  // namespace lockstep::gui
