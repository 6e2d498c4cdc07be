// The table of scenes. A tree is written as it is seen: rows and columns with shares at 1600 x 1000, and of every view the
// least width and height at which it can be read.
#include "app/gui/scenes.h"

#include <algorithm>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/desk/work_file.h"
#include "app/gui/shell/panels.h"
#include "app/gui/view.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/tape/tape_program.h"
#include "lessons/player/sketch/picture.h"

namespace lockstep::gui {

namespace {

using Kind = LayoutNode::Kind;
using Nodes = std::vector<LayoutNode>;

LayoutNode slot(std::string_view view, float share, float least_w, float least_h) {
    return {Kind::slot, view, share, least_w, least_h, {}, {}};
}
LayoutNode row(float share, Nodes children) {
    return {Kind::row, {}, share, 0, 0, std::move(children), {}};
}
LayoutNode column(float share, Nodes children) {
    return {Kind::column, {}, share, 0, 0, std::move(children), {}};
}
LayoutNode pages(float share, Nodes children) {
    return {Kind::pages, {}, share, 0, 0, std::move(children), {}};
}
LayoutNode titled(std::string_view title, LayoutNode node) {
    node.title = title;
    return node;
}
LayoutNode scrolling(LayoutNode node) {
    node.scrolls = true;
    return node;
}
LayoutNode staying(LayoutNode node) {
    node.stays = true;
    return node;
}

// A lesson's text, and beside it the scene's pictures.
LayoutNode lesson(Nodes pictures) {
    return titled("lesson and pictures", row(1, {slot("lesson", 432, 380, 420), column(1144, std::move(pictures))}));
}
// Of many ranks: the picture, and below it the rows of its figures.
LayoutNode with_rows(std::string_view view) {
    return lesson({slot(view, 580, 560, 330), slot("rows", 260, 560, 200)});
}
LayoutNode with_source(float share, LayoutNode beside) {
    return row(share, {slot("source", 560, 400, 240), std::move(beside)});
}
LayoutNode lanes(std::string_view beside) {
    return lesson({with_source(440, slot(beside, 576, 400, 240)), slot("divergence", 436, 640, 300)});
}
LayoutNode one_request(float share, LayoutNode picture) {
    return lesson({with_source(share, slot("warp", 576, 400, 250)), std::move(picture)});
}

// The text, and below it what is wrong with it; of a lesson's exercise its task first.
LayoutNode own_text(float share, bool exercise) {
    LayoutNode reports = slot("reports", 240, 380, 110);
    if (!exercise) return column(share, {slot("editor", 636, 380, 250), std::move(reports)});
    return column(share, {slot("editor", 556, 380, 250), pages(320, {titled("Exercise", slot("task", 320, 380, 200)),
                                                                     titled("Reports", std::move(reports))})});
}
LayoutNode own_kernel(bool exercise) {
    LayoutNode launch = row(1, {slot("launch", 440, 350, 300), slot("results", 504, 350, 300)});
    LayoutNode state =
        column(1, {slot("watch", 330, 560, 190), slot("bytes", 330, 560, 200), slot("divergence", 260, 640, 220)});
    LayoutNode warps =
        column(1, {row(360, {slot("code", 520, 400, 180), slot("stack", 424, 300, 180)}), slot("warps", 480, 560, 300)});
    return row(
        1, {own_text(664, exercise),
            pages(912, {titled("Launch and results", std::move(launch)),
                        titled("Why is it slow?",
                               scrolling(column(1, {slot("verdict", 560, 420, 260), slot("before_after", 316, 420, 200)}))),
                        titled("Registers and memory", std::move(state)), titled("Warps and PTX", std::move(warps))})});
}
// The program's text, and beside it what it did; a launch that is open has the further pages of a kernel's run.
LayoutNode own_program() {
    LayoutNode program = row(1, {column(552, {slot("calls", 400, 380, 250),
                                              pages(250, {titled("Output", slot("output", 220, 340, 150)),
                                                          titled("Reports", slot("reports", 220, 340, 110))}),
                                              slot("allocations", 270, 360, 200)}),
                                 column(496, {slot("launches", 420, 340, 260), slot("blocks", 480, 400, 290)})});
    LayoutNode state =
        column(1, {slot("watch", 330, 560, 190), slot("bytes", 330, 560, 200), slot("divergence", 260, 640, 220)});
    LayoutNode warps =
        column(1, {row(360, {slot("code", 520, 400, 180), slot("warp", 424, 300, 250)}), slot("warps", 480, 560, 300)});
    return row(
        1, {slot("editor", 536, 380, 250),
            pages(1048, {titled("Program", std::move(program)), titled("Why is it slow?", slot("verdict", 876, 420, 260)),
                         titled("Registers and memory", std::move(state)), titled("Warps and PTX", std::move(warps))})});
}
LayoutNode own_host(bool exercise) {
    return row(
        1, {own_text(664, exercise), column(912, {slot("streams", 470, 560, 300),
                                                  row(406, {slot("code", 480, 400, 180), slot("blocks", 424, 400, 290)})})});
}
// A tensor program, with its curves where it takes several steps and its tensors where it has larger ones.
LayoutNode own_tape(bool steps, bool tensors, bool exercise) {
    Nodes beside;
    if (steps) beside.push_back(slot("curves", 548, 370, 290));
    if (!steps || !tensors) beside.push_back(slot("code", 548, 370, 180));
    if (tensors) beside.push_back(slot("weights", 548, 370, 250));
    return row(1, {own_text(480, exercise), column(1096, {slot("graph", 404, 760, 290), row(296, std::move(beside)),
                                                          staying(slot("kernels", 180, 640, 180))})});
}

bool always(const scene::ClusterScene&) {
    return true;
}
bool without_schedules(const scene::ClusterScene& scene) {
    return scene.schedules.empty();
}
bool without_messages(const scene::ClusterScene& scene) {
    return scene.collective.messages.empty();
}

std::vector<SceneRow> rows_of_learn() {
    constexpr Workspace learn = Workspace::learn;
    constexpr Grain cycle = Grain::cycle, instruction = Grain::instruction, node = Grain::node, kernel = Grain::kernel,
                    action = Grain::action;
    return {
        // lanes and warps
        {learn, "divergence", lanes("stack"), instruction, "divergence"},
        {learn, "threads", lanes("threads"), instruction, "threads"},
        {learn, "fragments",
         row(1, {slot("lesson", 432, 380, 420), column(424, {slot("source", 876, 320, 240)}),
                 column(720, {slot("fragments", 876, 400, 330)})}),
         instruction, "fragments"},
        {learn, "tensor_core", lesson({slot("tensor_core", 580, 560, 330), with_source(296, slot("warp", 576, 400, 250))}),
         instruction, "tensor_core"},
        {learn, "warps",
         lesson({row(320, {slot("code", 640, 400, 200), slot("warp", 496, 400, 250)}), slot("warps", 556, 560, 420)}), cycle,
         "warps"},
        {learn, "blocks", lesson({with_source(440, slot("blocks", 576, 400, 290)), slot("warps", 436, 560, 420)}), cycle,
         "blocks"},
        {learn, "compare",
         lesson({row(300, {slot("code", 560, 400, 180), slot("blocks", 576, 400, 290)}), slot("compare", 576, 560, 400)}),
         cycle, "compare"},
        {learn, "occupancy",
         lesson({row(504, {slot("occupancy", 640, 400, 400), slot("blocks", 496, 400, 290)}), slot("warps", 372, 560, 360)}),
         cycle, "occupancy"},
        {learn, "ladder", lesson({with_source(440, slot("ladder", 576, 400, 290)), slot("warps", 436, 560, 420)}), cycle,
         "ladder"},
        {learn, "funnel", lesson({slot("funnel", 880, 640, 430)}), cycle, "funnel"},
        {learn, "exchange", lesson({slot("exchange", 880, 640, 420)}), cycle, "exchange"},
        {learn, "cpu_gpu", lesson({slot("cpu_gpu", 880, 560, 330)}), cycle, "cpu_gpu"},
        {learn, "machine", lesson({slot("machine", 880, 760, 420)}), cycle, "machine"},
        // memory
        {learn, "coalesce", one_request(380, slot("coalesce", 496, 560, 340)), instruction, "coalesce"},
        {learn, "chart", one_request(380, slot("chart", 496, 560, 346)), cycle, "chart"},
        {learn, "banks", one_request(340, slot("banks", 536, 560, 340)), instruction, "banks"},
        {learn, "roofline", lesson({slot("roofline", 560, 560, 330), with_source(316, slot("blocks", 576, 400, 290))}),
         cycle, "roofline"},
        {learn, "streams",
         lesson({row(360, {slot("program", 560, 400, 220), slot("source", 576, 400, 220)}), slot("streams", 516, 640, 376)}),
         cycle, "streams"},
        {learn, "generations", lesson({slot("generations", 560, 760, 420), with_source(320, slot("blocks", 576, 400, 290))}),
         cycle, "generations"},
        {learn, "measured", lesson({slot("measured", 880, 560, 330)}), cycle, "measured"},
        {learn, "measured_ladder", lesson({slot("measured_ladder", 880, 560, 330)}), cycle, "measured_ladder"},
        // training steps, tensor programs, and what runs of them cost
        {learn, "training",
         lesson({row(400, {slot("curves", 560, 380, 300), slot("batch", 576, 380, 300)}), slot("graph", 328, 760, 300),
                 slot("kernels", 180, 640, 180)}),
         kernel, "curves"},
        {learn, "kernels", lesson({slot("kernels", 880, 640, 330)}), cycle, "kernels"},  // launch by launch
        {learn, "graph",
         lesson({slot("graph", 440, 760, 300), row(300, {slot("code", 560, 400, 200), slot("batch", 576, 380, 300)}),
                 slot("kernels", 180, 640, 180)}),
         node, "graph"},
        {learn, "tape",
         lesson({row(300, {slot("program", 560, 400, 220), slot("code", 576, 400, 200)}), slot("graph", 440, 760, 300),
                 slot("kernels", 170, 640, 180)}),
         node, "graph"},
        {learn, "program", lesson({slot("program", 400, 560, 230), slot("graph", 480, 760, 300)}), node, "program"},
        {learn, "descent",  // a tensor program of several steps
         lesson({row(340, {slot("program", 560, 400, 220), slot("curves", 576, 380, 290)}), slot("graph", 400, 760, 300),
                 slot("kernels", 170, 640, 180)}),
         kernel, "curves"},
        {learn, "exhibit",  // a training run, and what its model shows
         lesson({pages(880, {titled("What the model shows", slot("batch", 880, 560, 330)),
                             titled("Learning curves", slot("curves", 880, 560, 300)),
                             titled("Autograd graph", slot("graph", 880, 760, 300))})}),
         kernel, "batch"},
        {learn, "curves", lesson({slot("curves", 560, 560, 330), slot("graph", 360, 760, 300)}), kernel, "curves"},
        {learn, "ranks", lesson({slot("curves", 480, 560, 300), slot("rows", 360, 560, 220)}), cycle, "curves", always},
        {learn, "workers", lesson({slot("workers", 640, 640, 420), slot("rows", 200, 560, 190)}), cycle, "workers", always},
        {learn, "ring_attention", lesson({slot("ring_attention", 640, 640, 470), slot("rows", 200, 560, 190)}), cycle,
         "ring_attention", always},
        {learn, "data_parallel", lesson({slot("data_parallel", 620, 640, 440), slot("rows", 220, 560, 190)}), cycle,
         "data_parallel", always},
        {learn, "groups", lesson({slot("groups", 640, 640, 480), slot("rows", 200, 560, 190)}), cycle, "groups", always},
        {learn, "processes", lesson({slot("processes", 640, 640, 460), slot("rows", 200, 560, 190)}), cycle, "processes",
         always},
        {learn, "norms", lesson({slot("norms", 660, 560, 440), slot("program", 220, 400, 180)}), node, "norms"},
        {learn, "normalise", lesson({slot("normalise", 660, 560, 400), slot("program", 220, 400, 180)}), node, "normalise"},
        {learn, "modes",
         lesson({slot("modes", 600, 560, 420), row(280, {slot("program", 560, 400, 180), slot("code", 576, 400, 180)})}),
         node, "modes"},
        {learn, "formats", lesson({slot("formats", 700, 560, 380)}), instruction, "formats"},
        {learn, "scores",
         lesson({slot("scores", 560, 560, 400), row(316, {slot("program", 440, 400, 220), slot("kernels", 696, 640, 180)})}),
         node, "scores"},
        {learn, "joined",
         lesson({slot("joined", 560, 560, 420), row(316, {slot("program", 440, 400, 220), slot("kernels", 696, 640, 180)})}),
         node, "joined"},
        {learn, "convolution", lesson({slot("convolution", 580, 560, 400), with_source(296, slot("warp", 576, 400, 250))}),
         instruction, "convolution"},
        {learn, "convolution_layer",
         lesson({slot("convolution", 560, 560, 400),
                 row(316, {slot("program", 440, 400, 220), slot("kernels", 696, 640, 180)})}),
         node, "convolution"},
        {learn, "convolution_training",
         lesson(
             {row(330, {slot("curves", 560, 380, 290), slot("batch", 576, 380, 290)}), slot("convolution", 546, 560, 400)}),
         kernel, "convolution"},
        {learn, "products", lesson({slot("products", 580, 560, 400), with_source(296, slot("warp", 576, 400, 250))}),
         instruction, "products"},
        {learn, "products_layer",
         lesson(
             {slot("products", 560, 560, 400), row(316, {slot("program", 440, 400, 220), slot("kernels", 696, 640, 180)})}),
         node, "products"},
        {learn, "products_training", lesson({slot("products", 640, 560, 420), slot("kernels", 236, 640, 180)}), cycle,
         "products"},
        {learn, "llama_block", lesson({slot("llama_block", 640, 560, 440), slot("kernels", 236, 640, 180)}), node,
         "llama_block"},
        {learn, "layer_sizes", lesson({slot("layer_sizes", 640, 560, 400), slot("llama_block", 236, 560, 320)}), node,
         "layer_sizes"},
        {learn, "token_norm",
         lesson({slot("token_norm", 600, 560, 330),
                 row(276, {slot("program", 440, 400, 180), slot("kernels", 696, 640, 180)})}),
         node, "token_norm"},
        {learn, "dials",
         lesson({slot("dials", 560, 560, 400), row(316, {slot("program", 440, 400, 220), slot("kernels", 696, 640, 180)})}),
         node, "dials"},
        {learn, "slopes",
         lesson({row(480, {slot("program", 480, 400, 220), slot("slopes", 656, 480, 300)}), slot("graph", 400, 760, 300)}),
         node, "slopes"},
        {learn, "hessian",
         lesson({slot("hessian", 560, 560, 330), row(316, {slot("program", 440, 400, 220), slot("graph", 696, 640, 300)})}),
         node, "hessian"},
        {learn, "gate",
         lesson({slot("gate", 600, 560, 380), row(276, {slot("program", 440, 400, 180), slot("kernels", 696, 640, 180)})}),
         node, "gate"},
        {learn, "arithmetic",
         lesson({slot("arithmetic", 600, 560, 420),
                 row(276, {slot("program", 440, 400, 180), slot("kernels", 696, 640, 180)})}),
         node, "arithmetic"},
        {learn, "traffic",
         lesson(
             {slot("traffic", 600, 560, 420), row(276, {slot("program", 440, 400, 180), slot("kernels", 696, 640, 180)})}),
         node, "traffic"},
        {learn, "gradient_way",
         lesson({slot("gradient_way", 560, 560, 380),
                 row(316, {slot("program", 440, 400, 220), slot("graph", 696, 640, 300)})}),
         node, "gradient_way"},
        {learn, "made_wanted",
         lesson({slot("made_wanted", 580, 560, 360), with_source(296, slot("threads", 576, 400, 240))}), instruction,
         "made_wanted"},
        {learn, "int8_levels",
         lesson({slot("int8_levels", 580, 560, 400), with_source(296, slot("threads", 576, 400, 240))}), instruction,
         "int8_levels"},
        {learn, "trained_weights",
         lesson({slot("trained_weights", 560, 560, 400),
                 row(316, {slot("program", 440, 400, 220), slot("graph", 696, 640, 300)})}),
         node, "trained_weights"},
        {learn, "seeds", lesson({slot("seeds", 560, 560, 330), slot("graph", 320, 760, 300)}), kernel, "seeds"},
        {learn, "line_fit",
         lesson({row(470, {slot("program", 380, 380, 220), slot("line_fit", 756, 480, 300)}), slot("graph", 400, 760, 300)}),
         node, "line_fit"},
        {learn, "batch_sizes", lesson({slot("batch_sizes", 560, 560, 330), slot("curves", 320, 560, 280)}), kernel,
         "batch_sizes"},
        {learn, "layer_rates", lesson({slot("layer_rates", 460, 560, 330), slot("seeds", 420, 560, 300)}), kernel,
         "layer_rates", nullptr, "seeds"},
        {learn, "valleys", lesson({slot("valleys", 560, 560, 330), slot("graph", 320, 760, 300)}), node, "valleys"},
        {learn, "cheaper",
         lesson({pages(880, {titled("Cost and quality", slot("tradeoff", 880, 560, 300)),
                             titled("All figures", slot("rows", 880, 560, 240)),
                             titled("Learning curves", slot("curves", 880, 560, 300))})}),
         cycle, "tradeoff", always},
        {learn, "sketch", lesson({slot("sketch", 880, 560, 420)}), instruction, "sketch"},  // a prediction that is drawn
        // many ranks
        {learn, "rows", lesson({slot("rows", 560, 560, 260)}), cycle, "rows", always},
        {learn, "pipeline", with_rows("pipeline"), action, "pipeline", without_schedules},
        {learn, "collective", with_rows("collective"), action, "collective", without_messages},
        {learn, "rank_memory", lesson({slot("rank_memory", 640, 560, 460), slot("rows", 200, 560, 190)}), action,
         "rank_memory", always},
        {learn, "mesh", with_rows("mesh"), action, "mesh", always},
        {learn, "axes", lesson({slot("mesh", 640, 560, 460), slot("rows", 200, 560, 190)}), action, "mesh", always},
        {learn, "owners", lesson({slot("owners", 630, 560, 420), slot("rows", 210, 560, 200)}), action, "owners", always},
        {learn, "network", with_rows("network"), action, "network", always},
        {learn, "breakdowns", lesson({slot("breakdowns", 880, 560, 330)}), action, "breakdowns", always},
        {learn, "memory_wall", lesson({slot("memory_wall", 580, 560, 330)}), action, "memory_wall", always},
        {learn, "cluster",
         lesson({slot("pipeline", 520, 560, 330),
                 row(416, {slot("collective", 660, 480, 250), slot("rank_memory", 476, 400, 300)})}),
         action, "pipeline"},
    };
}

std::vector<SceneRow> rows_of_pages() {
    const LayoutNode blocks = slot("blocks", 320, 400, 290);
    return {
        {Workspace::home, "", row(1, {slot("home", 1584, 300, 200)}), Grain::cycle, "home"},
        {Workspace::machine, "", row(1, {slot("machine", 1584, 560, 420)}), Grain::cycle, "machine"},
        {Workspace::sm, "",
         row(1, {slot("warps", 1056, 560, 420),
                 column(520, {slot("code", 256, 400, 180), slot("warp", 292, 400, 250),
                              pages(320, {titled("Blocks on SMs", blocks),
                                          titled("Why is it slow?", slot("verdict", 320, 400, 260))})})}),
         Grain::cycle, "warps"},
        {Workspace::sm, "compare",
         row(1, {slot("compare", 1056, 560, 420), column(520, {slot("code", 576, 400, 180), blocks})}), Grain::cycle,
         "warps"},
        {Workspace::sm, "occupancy",
         row(1, {slot("warps", 1056, 560, 420), column(520, {slot("occupancy", 556, 400, 400), blocks})}), Grain::cycle,
         "warps"},
        {Workspace::memory, "",
         row(1, {column(912, {slot("coalesce", 456, 560, 340), slot("chart", 420, 560, 346)}),
                 column(664, {slot("roofline", 376, 440, 300), slot("banks", 500, 440, 330)})}),
         Grain::instruction, "coalesce"},
        {Workspace::training, "",
         column(1, {row(356, {slot("curves", 528, 380, 290), slot("batch", 536, 380, 290), slot("weights", 504, 380, 290)}),
                    slot("graph", 312, 760, 290),
                    staying(pages(200, {titled("Kernels", slot("kernels", 168, 640, 180)),
                                        titled("Copies and streams", slot("streams", 168, 640, 180))}))}),
         Grain::kernel, "curves"},
        {Workspace::kernel, "", own_kernel(false), Grain::instruction, "editor"},
        {Workspace::kernel, "kernel with task", own_kernel(true), Grain::instruction, "editor"},
        {Workspace::kernel, "text with task", own_text(1, true), Grain::instruction, "editor"},
        {Workspace::kernel, "whole program", own_program(), Grain::kernel, "editor"},
        {Workspace::kernel, "host program", own_host(false), Grain::instruction, "editor"},
        {Workspace::kernel, "host program with task", own_host(true), Grain::instruction, "editor"},
        {Workspace::kernel, "tape", own_tape(false, false, false), Grain::node, "editor"},
        {Workspace::kernel, "tape with task", own_tape(false, false, true), Grain::node, "editor"},
        {Workspace::kernel, "tape steps", own_tape(true, false, false), Grain::node, "editor"},
        {Workspace::kernel, "tape steps with task", own_tape(true, false, true), Grain::node, "editor"},
        {Workspace::kernel, "tape tensors", own_tape(false, true, false), Grain::node, "editor"},
        {Workspace::kernel, "tape tensors with task", own_tape(false, true, true), Grain::node, "editor"},
        {Workspace::kernel, "tape steps tensors", own_tape(true, true, false), Grain::node, "editor"},
        {Workspace::kernel, "tape steps tensors with task", own_tape(true, true, true), Grain::node, "editor"},
        {Workspace::cluster, "",
         row(1, {column(1064, {slot("pipeline", 556, 620, 440), slot("collective", 320, 620, 270)}),
                 column(512, {slot("rank_memory", 556, 400, 340),
                              pages(320, {titled("Devices", slot("mesh", 288, 400, 260)),
                                          titled("Network", slot("network", 288, 400, 260)),
                                          titled("Walls", slot("memory_wall", 288, 400, 260))})})}),
         Grain::action, "pipeline"},
        {Workspace::build, "",
         row(1, {slot("kit", 380, 350, 420), column(808, {slot("die", 622, 520, 360), slot("designs", 254, 520, 230)}),
                 slot("puzzle", 380, 350, 420)}),
         Grain::cycle, "die"},
    };
}

// What a scene is called while its picture stands above a sketch.
std::string below_name(std::string_view scene) {
    return "sketch below " + std::string(scene);
}

// The height that the view needs, as far as a window of 1280 x 720 has it beside a prediction.
float least_above(std::string_view view) {
    const ViewRow* const row = view_named(view);
    return std::clamp(row != nullptr ? row->least : 0.0f, 240.0f, 340.0f);
}

// Of every scene of Learn one more: the view that it is about, and below it the prediction.
std::vector<SceneRow> rows_below(const std::vector<SceneRow>& rows) {
    static std::list<std::string> names;  // the rows look into it
    std::vector<SceneRow> below;
    for (const SceneRow& row : rows)
        if (row.name != "sketch")
            below.push_back(
                {row.workspace, names.emplace_back(below_name(row.name)),
                 lesson({slot(row.presented, 470, 560, least_above(row.presented)), slot("sketch", 406, 560, 256)}),
                 row.grain, "sketch", row.still});
    return below;
}

// The scene of the case before that stands in place of the step's own while a question in words is open; null: none does.
const scene::Scene* picture_of_words(const LessonState& state) {
    const int at = asked_below_picture(state, state.step);
    if (at < 0) return nullptr;
    const auto step = static_cast<size_t>(state.step);
    const lessons::Predict& predict = state.lesson->steps[step].predicts[static_cast<size_t>(at)];
    return predict.is_sketch() ? nullptr : lessons::picture_before(*state.lesson, step, predict);
}

// The scene of the lesson's step, else of the nearest step before it; null: none has one.
const scene::Scene* scene_of(const LessonState& state) {
    if (!state.lesson) return nullptr;
    if (const scene::Scene* before = picture_of_words(state)) return before;
    for (int i = std::min(state.step, static_cast<int>(state.lesson->steps.size()) - 1); i >= 0; --i)
        if (const auto& scenes = state.lesson->steps[static_cast<size_t>(i)].scenes;
            !scenes.empty() && !scenes.front().view.empty())
            return &scenes.front();
    return nullptr;
}

std::string page_of_kernel(const Session& session) {
    const KernelDocument& document = session.desk.document();
    const std::string task = exercise_lesson(document.path).empty() ? "" : " with task";
    if (document.is_program()) return "whole program";
    if (document.is_lesson_text()) return "text with task";
    if (!document.is_tape()) return document.is_host() ? "host program" + task : task.empty() ? "" : "kernel with task";
    const std::shared_ptr<const scene::TapeRun> tape = session.snapshot()->tape;
    if (!tape) return "tape" + task;
    const auto& nodes = tape->step->nodes;
    const bool tensors = std::any_of(nodes.begin(), nodes.end(), [](const nn::GraphNode& n) { return n.shape.size() > 1; });
    return std::string("tape") + (tape->text.steps > 1 ? " steps" : "") + (tensors ? " tensors" : "") + task;
}

}  // namespace

std::optional<Workspace> workspace_named(std::string_view name) {
    for (const WorkspaceRow& row : workspaces)
        if (row.name == name) return static_cast<Workspace>(&row - workspaces);
    return std::nullopt;
}

std::span<const SceneRow> scenes() {
    static const std::vector<SceneRow> rows = [] {
        std::vector<SceneRow> all = rows_of_learn(), below = rows_below(all), pages = rows_of_pages();
        std::move(below.begin(), below.end(), std::back_inserter(all));
        std::move(pages.begin(), pages.end(), std::back_inserter(all));
        return all;
    }();
    return rows;
}

bool shows_run(std::string_view view) {
    static constexpr std::string_view of_text[] = {"home", "lesson", "editor", "task", "reports", "launch", "setup"};
    return std::find(std::begin(of_text), std::end(of_text), view) == std::end(of_text);
}

const SceneRow& scene_named(Workspace workspace, std::string_view name) {
    const SceneRow* first = nullptr;
    for (const SceneRow& row : scenes()) {
        if (row.workspace != workspace) continue;
        if (row.name == name) return row;
        if (first == nullptr) first = &row;
    }
    return *first;
}

int asked_below_picture(const LessonState& state, int step, int locked) {
    if (!state.lesson || step < 0) return -1;
    const auto at = static_cast<size_t>(step);
    if (at >= state.lesson->steps.size() || at >= state.predictions.size()) return -1;
    const auto& asked = state.lesson->steps[at].predicts;
    for (size_t i = 0; i < std::min(asked.size(), state.predictions[at].size()); ++i)
        if (!state.predictions[at][i].locked && static_cast<int>(i) != locked)
            return lessons::picture_before(*state.lesson, at, asked[i]) != nullptr ? static_cast<int>(i) : -1;
    return -1;
}

const scene::Scene* picture_above(const LessonState& state) {
    if (const scene::Scene* before = picture_of_words(state)) return before;
    const int at = sketch_on_show(state);
    if (at < 0) return nullptr;
    const auto step = static_cast<size_t>(state.step);
    const scene::Scene* const before =
        lessons::picture_before(*state.lesson, step, state.lesson->steps[step].predicts[static_cast<size_t>(at)]);
    const bool told = state.predictions[step][static_cast<size_t>(at)].locked;
    return before != nullptr && told ? lessons::scene_at(*state.lesson, step) : before;
}

bool shows_case_before(const LessonState& state) {
    const scene::Scene* const above =
        sketch_is_open(state) || picture_of_words(state) != nullptr ? picture_above(state) : nullptr;
    return above != nullptr && above != lessons::scene_at(*state.lesson, static_cast<size_t>(state.step));
}

const scene::Scene* drawn_scene(const Session& session) {
    const LessonState& state = session.lesson;
    if (session.workspace != Workspace::learn || !state.lesson) return nullptr;
    return shows_case_before(state) ? picture_above(state)
                                    : lessons::scene_at(*state.lesson, static_cast<size_t>(std::max(0, state.step)));
}

bool has_room_to_itself(const Session& session, float height) {
    return session.workspace == Workspace::learn &&
           (session.learn.reveal_steps >= 0 || shows_case_before(session.lesson) || (shows_sketch(session) && height < 300));
}

bool shows_sketch(const Session& session) {
    return sketch_on_show(session.lesson) >= 0 &&
           (session.learn.run_shown != session.lesson.step || sketch_is_open(session.lesson));
}

const SceneRow& scene_on_show(const Session& session, Workspace workspace) {
    static constexpr std::string_view sm_pages[] = {"", "compare", "occupancy"};
    switch (workspace) {
        case Workspace::learn: {
            if (shows_sketch(session)) {
                const scene::Scene* above = picture_above(session.lesson);
                return scene_named(workspace, above != nullptr ? below_name(above->view) : "sketch");
            }
            const scene::Scene* scene = scene_of(session.lesson);
            return scene_named(workspace, scene != nullptr ? std::string_view(scene->view) : std::string_view());
        }
        case Workspace::sm:
            return scene_named(workspace, sm_pages[static_cast<size_t>(session.sm.page)]);
        case Workspace::kernel:
            return scene_named(workspace, page_of_kernel(session));
        default:
            return scene_named(workspace, {});
    }
}

// The step asks something, and nothing of it is open.
static bool all_are_answered(const LessonState& state) {
    const auto at = static_cast<size_t>(std::max(0, state.step));
    return at < state.predictions.size() && !state.predictions[at].empty() &&
           std::all_of(state.predictions[at].begin(), state.predictions[at].end(),
                       [](const LessonState::Prediction& one) { return one.locked; });
}

std::string_view front_view_of(const Session& session) {
    const scene::Scene* scene = scene_of(session.lesson);
    const bool faults = scene != nullptr && (scene->expect == "memcheck" || scene->expect == "racecheck");
    if (shows_sketch(session)) return "sketch";
    if (faults) return "source";
    const SceneRow& row = scene_on_show(session, Workspace::learn);
    return !row.answered.empty() && all_are_answered(session.lesson) ? row.answered : row.name;
}

}  // namespace lockstep::gui
