// Many ranks in a scene: pipeline schedules, collectives, parallel training, plans, meshes. Each kind reads rows of
// settings, runs every row, and leaves its figures by name, and what ran as plain data for the views.
//
//   schedule="gpipe ranks=4 microbatches=8; 1f1b; zb-h1 name=zero"       or the name of a file, a row a line: "own.schedule"
//   text = row { ( ";" | newline ) row }                                    "#" begins a comment
//   row  = HEAD { key "=" value }       later rows say only what differs from the first; without a HEAD they keep its HEAD
//   own  = "own ranks=2 microbatches=3" newline { "rank" N ":" { ( "F" | "B" | "I" | "W" ) MICROBATCH } newline }
// A row is called by its name=, otherwise by its HEAD. What each kind takes and which figures it leaves stands in its file
// (schedule_scene.cpp, ...).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/parallel/plan.h"
#include "core/scene/figures/figure_row.h"

namespace lockstep::parallel {
struct ScheduleRun;
struct ParallelStepRecord;
struct PlanResult;
}  // namespace lockstep::parallel
namespace lockstep::comm {
struct CollectiveRun;
}  // namespace lockstep::comm

namespace lockstep::scene {

struct WorkerLanes;  // worker_lanes.h
struct MeshProduct;  // mesh_product.h

struct ListFault {                            // in a list of one's own that was read and is wrong
    Diagnostic what;                          // with its place
    std::string advice;                       // what most likely mends it, a sentence; "" none
    std::vector<int> ranks = {};              // where it shows
    int chunk = -1, round = -1;               // of a collective; the round from 1
    std::vector<int> lacks = {}, twice = {};  // of a collective: whose parts
};

struct ParallelRow {
    std::string name, title;                                   // "zb-h1", "ZB-H1"
    std::map<std::string, std::string> settings;               // as written, the first row's too
    std::map<std::string, double> figures;                     // "bubble_of_total", "peak_activations@rank:0"
    std::shared_ptr<const parallel::ScheduleRun> schedule;     // of a schedule, or of training in a pipeline
    std::shared_ptr<const comm::CollectiveRun> collective;     // of a collective
    std::shared_ptr<const parallel::ParallelStepRecord> step;  // of training: the last step
    std::vector<double> losses;                                // of training, by step
    std::vector<double> parameters;                            // of training, after the last step: all of them, whole
    std::shared_ptr<const WorkerLanes> lanes;                  // of training by data parallelism alone; null: none
    std::shared_ptr<const parallel::PlanResult> plan;          // of a plan
    std::shared_ptr<const MeshProduct> product;                // of a product on a mesh
    parallel::ParallelPlan split;                              // of training and of plans: how the step is split
    std::string problem;                                       // why it ended early, where the row may: a dead-lock
    std::vector<ListFault> wrong;                              // of a list of one's own
};
struct ParallelScene {
    std::string kind;  // "schedule"
    std::vector<ParallelRow> rows;
};
struct ParallelSceneOptions {
    uint64_t seed = 1;
    std::stop_token stop = {};
    std::function<void(double)> progress = {};  // 0..1
    // A schedule of one's own that cannot run leaves a row without a run, whose `wrong` says why; otherwise a Diagnostic.
    bool keep_wrong = false;
};

struct ParallelList {  // a "rank N:" or "round N:" line
    int number = 0;
    std::string text;      // behind the colon
    SourceLocation where;  // of the text
    std::string line;      // the whole line
    // Throws Failure at `offset` of the text.
    [[noreturn]] void refuse(const std::string& message, size_t offset = 0) const;
    SourceLocation at(size_t offset) const { return {where.file, where.line, where.column + static_cast<int>(offset)}; }
};
struct ListWord {
    std::string text;
    size_t offset = 0;  // in the list's text
};
std::vector<ListWord> words_of(const ParallelList& list);

struct ParallelText {  // one row as it was written
    std::string head, name;
    std::map<std::string, std::string> settings;
    std::vector<ParallelList> lists;  // in order
    SourceLocation where;
    std::string line;

    // Each takes a setting that has not been asked for yet; a Failure says what it would have to be.
    int64_t whole(const std::string& key, int64_t otherwise, int64_t least, int64_t most);
    double real(const std::string& key, double otherwise, double least, double most);
    std::string word(const std::string& key, const std::string& otherwise);
    void done() const;  // throws Failure: a setting that nobody asked for
    std::vector<std::string> asked;
};
Result<std::vector<ParallelText>> parse_parallel(const std::string& text, const SourceLocation& where);

struct ParallelKind {
    std::string_view name;  // of the scene's attribute, and of files' ends: "schedule"
    ParallelRow (*run)(ParallelText& row, const ParallelSceneOptions& options) = nullptr;  // throws Failure
    std::vector<FigureText> (*figures)() = nullptr;                                        // that rows leave
};
std::span<const ParallelKind> parallel_kinds();
const ParallelKind* parallel_kind_of(const std::string& file);  // by the end of a file's name; null: none

// A Diagnostic has the row's line. Throws Cancelled.
Result<std::shared_ptr<const ParallelScene>> run_parallel_scene(const std::string& kind, const std::string& text,
                                                                const SourceLocation& where,
                                                                const ParallelSceneOptions& options);
// Of every kind's scenes: how many rows there are.
std::vector<FigureText> shared_row_figures();

// The kinds, two functions each.
ParallelRow run_parallel_row(ParallelText& row, const ParallelSceneOptions& options);  // parallel_runs.cpp
std::vector<FigureText> parallel_row_figures();
ParallelRow run_schedule_row(ParallelText& row, const ParallelSceneOptions& options);  // schedule_scene.cpp
std::vector<FigureText> schedule_row_figures();
ParallelRow run_collective_row(ParallelText& row, const ParallelSceneOptions& options);  // collective_scene.cpp
std::vector<FigureText> collective_row_figures();
ParallelRow run_mesh_row(ParallelText& row, const ParallelSceneOptions& options);  // mesh_scene.cpp
std::vector<FigureText> mesh_row_figures();
ParallelRow run_plan_row(ParallelText& row, const ParallelSceneOptions& options);  // plan_scene.cpp
std::vector<FigureText> plan_row_figures();
// dp= tp= pp= cp= zero= ... of a row. Throws Failure.
parallel::ParallelPlan parallel_plan_of(ParallelText& row, int64_t most_ranks);  // plan_settings.cpp

}  // namespace lockstep::scene
