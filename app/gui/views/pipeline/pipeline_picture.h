// D9's picture: where the rows of up to two schedules stand, and what is drawn in them. Rows are ranks; a bar is an action;
// dots are idle; under a row, where it is high enough, how many micro-batches' activations are alive, with the limit.
#pragma once
#include <string>
#include <vector>

#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/cluster_data.h"

namespace lockstep::gui {

struct PipelineBlock {
    const scene::ScheduleShown* shown = nullptr;
    Rect head, rows;  // one line of facts; all rows' bars, curves and gaps
    float pitch = 0, bar = 0, curve = 0;
    int ranks = 0;
    float scrolled = 0;
    float row_y(int rank) const { return rows.y + pitch * static_cast<float>(rank) - scrolled; }
};

struct PipelinePlaces {
    Rect plot;  // x and width of the time axis; from the first block's head to the axis
    float label_x = 0, axis_y = 0;
    double begin = 0, end = 1;
    std::vector<PipelineBlock> blocks;
    bool coarse = false;  // too many actions for boxes: a texture of what each pixel's time went to
    double split = 0.5;   // of a backward in one piece, the input gradient's share
    int limit = 1, rank = 0, microbatch = 0;

    float x(double time) const { return plot.x + static_cast<float>((time - begin) / (end - begin)) * plot.w; }
    double time(float at) const { return begin + static_cast<double>((at - plot.x) / plot.w) * (end - begin); }
};

struct Why {  // one idle span explained
    int block = -1, rank = -1;
    size_t idle = 0;
    std::string text;
    std::vector<std::pair<double, int>> path;  // from its end back to what it waited for: time and rank
};

Color fill_of(parallel::ActionKind kind, int chunk, int chunks);
// `darker`: what the darker fills are; empty: there are none.
void draw_pipeline_legend(Ui& ui, float x, float baseline, float right, const PipelinePlaces& places,
                          std::string_view darker);
std::string_view darker_words(const scene::ClusterScene& scene);
void draw_pipeline_block(Ui& ui, const PipelinePlaces& places, const PipelineBlock& block, uint64_t version);
void draw_pipeline_axis(Ui& ui, const PipelinePlaces& places, const scene::ClusterScene& scene, double now);
void draw_saving(Ui& ui, const PipelinePlaces& places);  // the arrow from the shorter schedule's end to the longer's
void draw_why(Ui& ui, const PipelinePlaces& places, const Why& why);
Provenance provenance_of(const scene::ScheduleShown& shown);  // of its times
float legend_width(const Ui& ui, std::string_view darker);
// Of a training run: what every rank's streams did, on the schedule's axis.
void draw_rank_streams(Ui& ui, const PipelinePlaces& places, const scene::TrainingShown& shown, Focus& focus,
                       const Rect& area, double now);

struct StageMove {  // the boundary under a row, by so many layers: the row gets them, below 0 it loses them
    int row = -1, by = 0;
};
// The grips between rows, drawn and dragged; `parts`: layers by row, `what` one of them is called.
StageMove dragged_boundary(Ui& ui, const PipelinePlaces& places, const std::vector<int>& parts, std::string_view what);
// The same as a number in the controls, of the picked row.
StageMove turned_boundary(ControlRow& row, const std::vector<int>& parts, int rows, int picked, std::string_view what);

// As often as the move says, as far as there are parts to give; returns why it goes no further, empty: it went.
std::string move_stages(scene::ClusterSetup& wanted, const StageMove& move);
// The chips and numbers over the picture; `refused` is set by a move of a boundary. Returns their height.
float pipeline_controls(Ui& ui, Session& session, const Rect& body, int picked, std::string& refused, bool draw);

struct ScheduleSpot {  // where in which schedule; block -1: in none
    int block = -1, rank = -1;
    double time = 0;
};
struct HeldAction {  // an action under the pointer, or its end; `index` and `to`: places in its rank's order
    enum class What : uint8_t { nothing, action, end } what = What::nothing;
    int block = -1, rank = -1, index = -1, to = -1;
    parallel::ActionRun run;
};
ScheduleSpot spot_at(const PipelinePlaces& places, Point at);
HeldAction action_at(const PipelinePlaces& places, Point at);
int place_for(const PipelinePlaces& places, const HeldAction& held, float x);  // of the list without the held action
void move_action(Session& session, const PipelinePlaces& places, const HeldAction& held);
// The action that the clock stands in on the picked rank, one place on or back.
void move_by_key(Session& session, const scene::ClusterScene& scene, const PipelinePlaces& places, double now, int by);
// The end of a bar sets how long what it is of takes, in quarters of a unit.
void stretch_action(Session& session, const PipelinePlaces& places, const HeldAction& held, float by);
void draw_held(Ui& ui, const PipelinePlaces& places, const HeldAction& held);  // where it would go
void draw_action_tip(Ui& ui, const PipelinePlaces& places);                    // of what the pointer is on

// The facts in words.
std::string schedule_facts(const scene::ScheduleShown& shown);
std::string pipeline_caption(const scene::ClusterScene& scene);
double idle_of(const parallel::ScheduleRun& run, int rank);
double peak_of(const parallel::ScheduleRun& run, int rank);  // in whole micro-batches: chunks count their share
Why explain_idle(const scene::ScheduleShown& shown, int block, int rank, size_t idle);

}  // namespace lockstep::gui
