// D12, the autograd graph of one step: boxes from left to right in layers, each leaf under the op that reads it; large
// models folded by layer, opened by a click. The picture stands at one moment of the tape: values fill as nodes run forward,
// a second colour sweeps back with the gradients. One element is followed through all of it (core/nn/train/follow.h), so
// that the numbers on neighbouring boxes belong together and those on an edge multiply.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/training/graph_picture.h"
#include "app/gui/views/training/training_data.h"
#include "core/base/units.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {

namespace {

using nn::GraphNode;

// A box has three lines; where rows would not fit, flatter ones, or without the gradient's line while that is hidden.
constexpr float box_high = 64, box_flat = 48, box_short = 43, box_least = 112, gap_least = 26, rows_least = 14;
// Columns that would not fit otherwise stand closer.
constexpr float box_close = 100, gap_close = 16;
// A long loop's places as narrow boxes without numbers, so that all of the chain is seen.
constexpr float box_narrow = 26, gap_narrow = 10;
constexpr size_t long_loop = 8;  // places
constexpr int unfollowed = -2;   // in place of a moment: the scroll has followed none yet

class GraphView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto step = session.snapshot()->training.step;
        if (!step || step->nodes.empty()) {
            const Rect body = ui.panel(
                area,
                {.title = "Autograd graph", .badge = Provenance::executed, .caption = "No graph has been recorded yet."});
            return ui.say_nothing_yet(body, "No graph has been recorded yet.", "It appears with the first step that runs.");
        }
        refresh(step);
        const bool hidden = session.learn.reveal_steps >= 0;
        const GraphScene scene = scene_of(*step, session, focus, hidden);
        const std::string sentence = hidden ? std::string(hidden_sentence(scene)) : caption(scene);
        const Rect body = ui.panel(area, {.title = "Autograd graph",
                                          .right = followed_text(scene, lost_at(*session.snapshot())),
                                          .badge = Provenance::executed,
                                          .caption = sentence});
        const bool memory_fits = body.w > 1000 && body.h > 150;
        const float memory_width = memory_fits ? 260.f : 0.f;
        const Rect room{body.x, body.y, body.w - (memory_fits ? memory_width + 40 : 0), body.h};
        arrange_for(*step, room.w);
        ui.push_scope("graph");
        picture(ui, session, focus, scene_of(*step, session, focus, hidden), room);
        ui.pop_scope();
        if (!memory_fits) return;
        const float x = body.right() - memory_width;
        ui.line({x - 20, body.y}, {x - 20, body.bottom()}, ui.theme->grid);
        const Rect plot{x, body.y, memory_width, body.h};
        if (!hidden) {
            ui.push_scope("live");
            const int launch = draw_live_bytes(ui, scene, plot);
            ui.pop_scope();
            return go_to(session, focus, *step, launch);
        }
        ui.text(plot.x, plot.y + 12, "saved tensors and gradients", {.size = 12, .color = ui.theme->ink2});
        ui.dashed({plot.x, plot.y + 24, plot.w, 44}, ui.theme->ink3);
        ui.text(plot.x + plot.w / 2, plot.y + 51, "Hidden until you lock an answer.",
                {.size = 13, .color = ui.theme->ink2, .align = Align::center});
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto step = session.snapshot()->training.step;
        if (!step || step->nodes.empty()) return "Autograd graph: nothing recorded yet.\n";
        GraphView fresh;
        fresh.refresh(step);
        const bool hidden = session.learn.reveal_steps >= 0;
        const GraphScene scene = fresh.scene_of(*step, session, focus, hidden);
        std::string text = fmt::format("Autograd graph (executed), step {}", step->step);
        if (!hidden)
            text += fmt::format(", {} nodes, moment {} of {}, after launch {} of {}{}", step->nodes.size(), scene.moment + 1,
                                scene.tape.moments.size(), scene.launch() + 1, step->launches.size(),
                                scene.launch() >= 0 && static_cast<size_t>(scene.launch()) < step->launches.size()
                                    ? ", " + step->launches[static_cast<size_t>(scene.launch())].label
                                    : "");
        text += "\n  " + followed_text(scene, lost_at(*session.snapshot())) + "\n";
        for (const GraphNode& node : step->nodes) text += "  " + node_text(scene, node) + "\n";
        if (hidden) return text + fmt::format("  {}\n", hidden_sentence(scene));
        if (const int launch = scene.launch(); launch >= 0 && static_cast<size_t>(launch) < step->live_bytes.size())
            text +=
                fmt::format("  live on the device: {}\n", counted(step->live_bytes[static_cast<size_t>(launch)], "byte"));
        for (const nn::Passing* edge : edges_now(scene))
            text +=
                fmt::format("  to {}: local {:+.6g} times d{} = {:+.6g} gives {:+.6g}, term {} of {}; all terms {:+.6g}\n",
                            element_name(scene, edge->from), edge->local, element_name(scene, edge->node), edge->upstream,
                            edge->product, edge->term + 1, edge->terms, edge->total);
        return text + "  " + caption(scene) + "\n";
    }

  private:
    static std::string node_text(const GraphScene& scene, const GraphNode& node) {
        std::string text = fmt::format("{:<22} {:<10} value {}", element_name(scene, node.id), shape_text(node.shape),
                                       value_text(scene, node));
        if (node.requires_grad && (!scene.hidden || scene.gradient_known(node)))
            text += ", grad " + gradient_text(scene, node);
        if (scene.hidden) return text;
        if (!node.saved.empty())
            text += fmt::format(", saves {} ({}){}", node.saved, bytes_text(static_cast<double>(node.saved_bytes)),
                                scene.tape.freed(node.id, scene.moment) ? ", freed" : "");
        return text;
    }

    static std::string_view hidden_sentence(const GraphScene& scene) {
        if (scene.step.model.ends_with(".tape") && scene.moment >= 0)
            return "What the steps before have told is shown; all that comes after it waits for your answer.";
        return scene.step.model.ends_with(".tape") || scene.moment < 0
                   ? "Only what goes in is shown; values, gradients and memory stay hidden until you lock an answer."
                   : "Only forward values are shown; gradients, launches and memory stay hidden until you lock an answer.";
    }

    std::shared_ptr<const nn::StepRecord> seen_;  // kept: no other one gets its address
    TapePlan tape_;
    mutable RootMeanSquares squares_;  // of seen_
    GraphPlan plan_;
    int level_ = -1, level_here_ = 0;  // chosen, -1 by the room; as it is
    int fits_ = -1;                    // columns, when plan_ was made
    bool stale_ = true;
    std::set<std::string> open_;
    int whole_ = -1;                    // narrow boxes, chosen: 1, or not: 0; -1: as the graph asks for
    int edge_ = 0;                      // of the node that runs back: which of its edges is written out
    float high_ = box_high;             // of a box, as there is room
    float pan_ = 0, fall_ = 0;          // layout units scrolled
    int followed_moment_ = unfollowed;  // that the scroll has followed

    static bool same_graph(const nn::StepRecord& a, const nn::StepRecord& b) {
        return a.model == b.model && std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                                                [](const GraphNode& one, const GraphNode& other) {
                                                    return one.name == other.name && one.op == other.op &&
                                                           one.inputs == other.inputs;
                                                });
    }
    void refresh(const std::shared_ptr<const nn::StepRecord>& step) {
        if (step == seen_) return;
        const bool other = !seen_ || !same_graph(*step, *seen_);
        seen_ = step;
        tape_ = plan_tape(*step);
        squares_.forget();
        followed_moment_ = unfollowed;
        if (!other) return;
        stale_ = true;
        level_ = whole_ = -1;
        open_.clear();
        pan_ = fall_ = 0;
    }
    void arrange_for(const nn::StepRecord& step, float width) {
        const int fits = std::max(2, static_cast<int>((width + gap_least) / (box_least + gap_least)));
        if (!stale_ && fits == fits_) return;
        stale_ = false;
        fits_ = fits;
        level_here_ = level_ >= 0 ? level_ : level_that_fits(step, fits);
        plan_ = arrange_graph(step, level_here_, open_);
    }

    // The moment that the picture shows; while a prediction is open, the end of the forward pass. Of a tensor program the
    // values may be what is asked for: then it is the last one that steps before have told. The values of a model that has
    // learned say how far it came, its loss first of all: then nothing has run yet.
    GraphScene scene_of(const nn::StepRecord& step, const Session& session, const Focus& focus, bool hidden) const {
        const int known = !hidden                         ? tape_position(session, focus, tape_)
                          : step.model.ends_with(".tape") ? told_moment(session, step, tape_)
                          : step.step > 0                 ? -1
                                                          : tape_.last_forward();
        const nn::Followed* followed =
            step.followed && step.followed->element.size() == step.nodes.size() ? step.followed.get() : nullptr;
        return {step, tape_, plan_, known, hidden, followed, &squares_};
    }

    // A program of one's own is followed where its first value arose that is no finite number: "the backward of u".
    static std::string lost_at(const Snapshot& snapshot) {
        if (!snapshot.tape || !snapshot.own.result || !snapshot.tape->anomaly) return {};
        const tensor::Anomaly& lost = *snapshot.tape->anomaly;
        return (lost.backward ? "the backward of " : "") + lost.name;
    }
    static std::string followed_text(const GraphScene& scene, const std::string& lost) {
        const bool scalars = std::all_of(scene.step.nodes.begin(), scene.step.nodes.end(),
                                         [](const GraphNode& n) { return !n.value || n.value->size() <= 1; });
        if (!lost.empty() && !scene.hidden)
            return fmt::format("step {}: the element in which {} lost its number", scene.step.step, lost);
        if (scalars) return fmt::format("{} nodes", scene.step.nodes.size());
        if (!scene.went_back())
            return scene.step.model.ends_with(".tape") ? "forward only: the program walks nothing back"
                                                       : "forward only: what is learned here needs no gradient";
        if (!scene.followed) return "root mean square of each tensor; paused, one element is followed";
        std::string text = "followed: ";
        if (!scene.step.labels.empty() && scene.step.images) text += fmt::format("image {}, ", scene.followed->example);
        return text + "in each tensor the element that the loss owes most to";
    }

    static std::string caption(const GraphScene& scene) {
        if (scene.moment < 0) return "Nothing has run yet.";
        const Moment& now = scene.tape.moments[static_cast<size_t>(scene.moment)];
        const GraphNode& node = scene.node(now.node);
        int held = 0;
        int64_t bytes = 0;
        std::string names;
        std::set<std::string> known;
        for (const GraphNode& one : scene.step.nodes)
            if (scene.pinned(one)) {
                ++held;
                bytes += one.saved_bytes;
                for (size_t at = 0; at < one.saved.size();) {  // each name once
                    const size_t end = std::min(one.saved.find(", ", at), one.saved.size());
                    known.insert(one.saved.substr(at, end - at));
                    at = end + 2;
                }
            }
        for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
        const std::string pins =
            held == 0   ? "no saved tensor is left"
            : held <= 3 ? names + (names.find(',') == std::string::npos ? " stays" : " stay") + " pinned for backward"
                        : fmt::format("{} ops hold {} for backward", held, bytes_text(static_cast<double>(bytes)));
        std::string what = now.kind == Moment::Kind::forward  ? fmt::format("{} has run forward", node.name)
                           : now.kind == Moment::Kind::update ? fmt::format("{} has been updated", node.name)
                                                              : fmt::format("Backward has passed {}", node.name);
        for (const int input : node.inputs)
            if (now.kind == Moment::Kind::backward && scene.tape.parts[static_cast<size_t>(input)] > 1) {
                what += fmt::format(", and {} adds (+=) what {} edges bring", scene.node(input).name,
                                    scene.tape.parts[static_cast<size_t>(input)]);
                break;
            }
        return fmt::format("{}: moment {} of {}; {}.", what, scene.moment + 1, scene.tape.moments.size(), pins);
    }

    // Where the boxes stand in the field: the size of one, what is between them, and how large all are together.
    struct GraphPlace {
        Rect field;
        float top = 0, width = 0, gap = 0, high = 0, between = 0;
        float whole = 0, deep = 0;
        float room_high = 0;  // of field, strip and what stands below

        bool holds(const Rect& box) const {
            return box.x >= field.x - 0.5f && box.right() <= field.right() + 0.5f && box.y >= top - 0.5f &&
                   box.bottom() <= field.bottom() + 0.5f;
        }
    };

    // Whether all columns stand side by side only as narrow boxes; and whether they do so: where a loop is long, or as
    // chosen.
    bool may_be_narrow(float width) const {
        const auto columns = static_cast<float>(std::max(1, plan_.columns));
        return columns * (box_close + gap_close) - gap_close > width &&
               columns * (box_narrow + gap_narrow) - gap_narrow <= width;
    }
    bool is_narrow(float width) const {
        if (!may_be_narrow(width)) return false;
        if (whole_ >= 0) return whole_ > 0;
        return std::count_if(plan_.boxes.begin(), plan_.boxes.end(), [](const GraphBox& box) {
                   return box.folded() && box.title.starts_with(loop_place);
               }) >= static_cast<ptrdiff_t>(long_loop);
    }

    GraphPlace place_graph(const GraphScene& scene, const Rect& r, float top, bool cramped) const {
        GraphPlace at{.field = {r.x, top, r.w, r.bottom() - top}, .top = top, .high = high_, .room_high = r.h};
        const auto rows = static_cast<float>(std::max(1, plan_.rows)),
                   columns = static_cast<float>(std::max(1, plan_.columns));
        const float least = scene.hidden ? rows_least : cramped ? 17.f : 20.f;  // shown pins stand between rows
        at.between = std::clamp((at.field.h - rows * high_) / std::max(1.f, rows - 1), least, 34.f);
        const bool close =
            columns * (box_least + gap_least) - gap_least > r.w && columns * (box_close + gap_close) - gap_close <= r.w;
        const bool narrow = is_narrow(r.w);
        const float gap_used = narrow ? gap_narrow : close ? gap_close : gap_least;
        at.width = std::clamp((r.w + gap_used) / columns - gap_used,
                              narrow  ? box_narrow
                              : close ? box_close
                                      : box_least,
                              140.f);
        at.gap = std::clamp((r.w - columns * at.width) / std::max(1.f, columns - 1), gap_used, 96.f);
        at.whole = columns * (at.width + at.gap) - at.gap;
        at.deep = rows * (high_ + at.between) - at.between;
        const bool all = at.deep <= at.field.h + 1 && at.whole <= at.field.w + 1;
        if (!all && at.field.h > high_ + 28) at.field.h -= 28;  // for the words of more()
        return at;
    }

    Rect box_at(const GraphPlace& at, int box) const {
        const GraphBox& b = plan_.boxes[static_cast<size_t>(box)];
        return {at.field.x + static_cast<float>(b.column) * (at.width + at.gap) - pan_,
                at.top + static_cast<float>(b.row) * (at.high + at.between) - fall_, at.width, at.high};
    }

    // Which level is shown, and folding what was opened. Returns where the words behind the chips begin.
    float level_chips(Ui& ui, float left, float y, float width) {
        const std::string_view labels[] = {"layers", "every op"};
        const int was = level_here_ > 0 ? 0 : 1, now = ui.segmented(left, y, labels, was);
        if (now != was)
            level_ = now == 1 ? 0 : -1, open_.clear(), stale_ = true, pan_ = 0, followed_moment_ = unfollowed, whole_ = -1;
        if (may_be_narrow(width)) {
            const bool narrow = is_narrow(width);
            if (ui.chip(left, y, "whole", narrow)) whole_ = narrow ? 0 : 1, pan_ = 0;
        }
        if (!open_.empty() && ui.chip(left, y, "fold")) open_.clear(), stale_ = true;
        return left + 8;
    }

    void draw_wires(Ui& ui, const GraphScene& scene, const GraphPlace& at) const {
        std::vector<Rect> numbers;
        for (const GraphWire& wire : plan_.wires) {
            const Rect from = box_at(at, wire.from), to = box_at(at, wire.to);
            if (std::max(from.right(), to.right()) < at.field.x || std::min(from.x, to.x) > at.field.right()) continue;
            const GraphBox &a = plan_.boxes[static_cast<size_t>(wire.from)], &b = plan_.boxes[static_cast<size_t>(wire.to)];
            const bool skips = b.column - a.column > 1 || (b.column == a.column && a.row != b.row + 1);
            const float lane = skips ? std::min(from.y, to.y) - 4 : 0;
            const bool with_number = at.holds(from) && at.holds(to) && at.gap >= 80;
            draw_wire(ui, scene, wire, from, to, lane, with_number ? &numbers : nullptr);
        }
    }

    void draw_boxes(Ui& ui, Session& session, Focus& focus, const GraphScene& scene, const GraphPlace& place) {
        const Rect& field = place.field;
        for (size_t i = 0; i < plan_.boxes.size(); ++i) {
            const Rect at = box_at(place, static_cast<int>(i));
            if (at.right() < field.x || at.x > field.right() || at.bottom() < place.top || at.y > field.bottom()) continue;
            const bool whole_box = place.holds(at);
            draw_box(ui, scene, plan_.boxes[i], at, whole_box);
            if (!whole_box) continue;
            if (!plan_.boxes[i].leaf)
                draw_pin(ui, scene, plan_.boxes[i], at, std::min(place.width + place.gap - 28, field.right() - at.x - 24));
            choose(ui, session, focus, scene, plan_.boxes[i], at);
        }
    }

    // The edge whose product is written out on top: Up and Down, or the chip, take the next one.
    void choose_edge(Ui& ui, int edges, float& left, const Rect& r) {
        edge_ = std::clamp(edge_, 0, edges - 1);
        if (ui.pressed(Key::up, r)) edge_ = std::max(0, edge_ - 1);
        if (ui.pressed(Key::down, r)) edge_ = std::min(edges - 1, edge_ + 1);
        if (edges > 1 && ui.chip(left, r.y + 8, fmt::format("edge {} of {}", edge_ + 1, edges), false))
            edge_ = (edge_ + 1) % edges;
    }

    bool can_fold() const { return level_here_ > 0 || level_ >= 0 || !open_.empty(); }

    // The strip on top. Where no product is written there its room goes to rows that else would not fit.
    bool has_strip(const GraphScene& scene, const Rect& r, bool cramped) const {
        if (r.h < 48 + 18 + box_high) return false;
        if (!cramped) return true;
        if (scene.hidden) return can_fold();
        const auto rows = static_cast<float>(std::max(1, plan_.rows));
        const float high = scene.tells_gradients() ? box_flat : box_short;
        const bool makes_room = rows * (high + 17) - 17 > r.h - 42 - 18 && rows * (high + 17) - 17 <= r.h - 18;
        return !(makes_room && open_.empty() && edges_now(scene).empty());
    }

    void picture(Ui& ui, Session& session, Focus& focus, const GraphScene& scene, const Rect& r) {
        // From the top: controls and the product on an edge, the pins, rows of boxes.
        const auto edges = edges_now(scene);
        const auto rows = static_cast<float>(std::max(1, plan_.rows));
        const bool cramped = rows * (box_high + rows_least) - rows_least > r.h - 48 - 18;
        const bool foldable = can_fold(), strip = has_strip(scene, r, cramped);
        high_ = !scene.went_back() ? box_short : !cramped ? box_high : scene.tells_gradients() ? box_flat : box_short;
        const float strip_high = cramped ? 42.f : 48.f;
        float left = strip && foldable ? level_chips(ui, r.x, r.y + 8, r.w) : r.x;
        const float right = r.right() - (strip && actions(ui, session, focus, scene, r) ? actions_width(ui) : 0.f);
        const GraphPlace at = place_graph(scene, r, r.y + (strip ? strip_high : 0.f) + 18, cramped);
        const int here = scene.current() >= 0 ? plan_.box_of[static_cast<size_t>(scene.current())] : -1;
        scroll(ui, scene, at.field, at.width, at.gap, at.between, at.whole, at.deep, here);
        ui.clip({r.x, at.top - 18, r.w, at.field.h + 18});
        draw_wires(ui, scene, at);
        draw_boxes(ui, session, focus, scene, at);
        ui.unclip();
        more(ui, at.field, r.bottom(), at.whole, at.deep, at.width + at.gap, high_ + at.between);
        if (!edges.empty() && strip) {
            choose_edge(ui, static_cast<int>(edges.size()), left, r);
            const std::optional<Rect> target = first_row_box(at, here);
            draw_product(ui, scene, *edges[static_cast<size_t>(edge_)], left, r.y, right, target ? &*target : nullptr);
        }
        legend(ui, scene, at, {left, r.y}, right, edges.empty() && strip);
    }

    // The box's place where it is seen as a whole in the first row, under the product that is written out.
    std::optional<Rect> first_row_box(const GraphPlace& at, int box) const {
        if (box < 0 || plan_.boxes[static_cast<size_t>(box)].row != 0) return std::nullopt;
        const Rect place = box_at(at, box);
        return at.holds(place) ? std::optional(place) : std::nullopt;
    }

    // Under the first column where nothing stands there, beside the last one, else on top while no product is written there.
    void legend(Ui& ui, const GraphScene& scene, const GraphPlace& at, Point above, float end, bool room_above) const {
        const float under = at.top + high_ + at.between;
        const bool beside = at.whole + 190 < at.field.w;
        if (room_under_first_column(at, under, above.y + at.room_high))
            legend_in_column(ui, scene, {at.field.x, under});
        else if (!room_above && beside)
            legend_in_column(ui, scene, {at.field.x + at.whole + 40, at.top});
        else if (room_above && end - above.x > 400)
            legend_in_row(ui, scene, above, end);
    }

    bool room_under_first_column(const GraphPlace& at, float under, float bottom) const {
        return pan_ == 0 && fall_ == 0 && under + 56 <= bottom && at.gap + box_least > 138 && first_column_is_free();
    }

    static Color forward_color(const Theme& theme) { return mix(theme.panel2, data::green, 0.5f); }
    static Color backward_color(const Theme& theme) { return mix(theme.panel2, data::sky, 0.5f); }

    static void legend_in_column(Ui& ui, const GraphScene& scene, Point at) {
        const Theme& theme = *ui.theme;
        ui.legend(at.x, at.y + 18, forward_color(theme), Hatch::solid, "forward value");
        const bool gradients = scene.tells_gradients();
        if (gradients) ui.legend(at.x, at.y + 36, backward_color(theme), Hatch::solid, "gradient");
        ui.legend(at.x, at.y + (gradients ? 54 : 36), theme.ink3, Hatch::solid, "edge: log bytes");
    }

    static void legend_in_row(Ui& ui, const GraphScene& scene, Point at, float end) {
        const Theme& theme = *ui.theme;
        float x = ui.legend(at.x, at.y + 26, forward_color(theme), Hatch::solid, "forward value");
        if (scene.tells_gradients()) x = ui.legend(x, at.y + 26, backward_color(theme), Hatch::solid, "gradient arrived");
        if (end - x > 150) ui.legend(x, at.y + 26, theme.ink3, Hatch::solid, "edge: log bytes");
    }

    bool first_column_is_free() const {
        return std::none_of(plan_.boxes.begin(), plan_.boxes.end(),
                            [](const GraphBox& box) { return box.column == 0 && box.row > 0; });
    }

    static float actions_width(const Ui& ui) { return ui.chip_width("open in SM") + ui.chip_width("open in Memory") + 28; }
    // As a click on the launch among the kernels does; -1: nothing.
    static void go_to(Session& session, Focus& focus, const nn::StepRecord& step, int launch) {
        if (launch < 0) return;
        focus.launch = launch;
        focus.op = node_of_launch(step, launch);
        session.training.tape_at = -1;
        if (step.launches[static_cast<size_t>(launch)].run) session.post(ask::OpenKernel{launch});
    }
    static void open_in(Session& session, int launch, Workspace workspace) {
        session.post(ask::OpenKernel{launch});
        session.workspace = workspace;
    }
    // Where the launch has a run of its own: its warps and its traffic. Whether there is room for that.
    static bool actions(Ui& ui, Session& session, const Focus& focus, const GraphScene& scene, const Rect& r) {
        if (scene.hidden || scene.launch() < 0 || focus.launch < 0 || r.w < 700) return false;
        const auto launch = static_cast<size_t>(scene.launch());
        if (launch >= scene.step.launches.size() || !scene.step.launches[launch].run) return false;
        float x = r.right() - actions_width(ui) + 16;
        if (ui.chip(x, r.y + 8, "open in SM")) open_in(session, scene.launch(), Workspace::sm);
        if (ui.chip(x, r.y + 8, "open in Memory")) open_in(session, scene.launch(), Workspace::memory);
        return true;
    }

    // The picture follows the node that runs; the wheel and a drag move it, A and D too.
    void scroll(Ui& ui, const GraphScene& scene, const Rect& field, float width, float gap, float between, float whole,
                float deep, int here) {
        const float most = std::max(0.f, whole - field.w), most_fall = std::max(0.f, deep - field.h);
        if (followed_moment_ != scene.moment && here >= 0) {
            const GraphBox& box = plan_.boxes[static_cast<size_t>(here)];
            const float x = static_cast<float>(box.column) * (width + gap),
                        y = static_cast<float>(box.row) * (high_ + between);
            // A graph opens at its first box, unless what runs then would be out of sight.
            const bool opens = followed_moment_ == unfollowed && pan_ == 0 && fall_ == 0;
            const bool in_sight = x + width / 2 <= field.w && y + high_ / 2 <= field.h;
            if (!opens || !(in_sight || scene.moment == scene.tape.last())) {
                if (x - (width + gap) < pan_) pan_ = x - (width + gap);
                if (x + 2 * width + gap > pan_ + field.w) pan_ = x + 2 * width + gap - field.w;
                if (y < fall_) fall_ = y;
                if (y + high_ > fall_ + field.h) fall_ = y + high_ - field.h;
            }
        }
        followed_moment_ = scene.moment;
        if (most > 0) {
            pan_ -= ui.wheel(field) * (width + gap) * 0.5f;
            if (ui.pressed(Key::a, field)) pan_ -= width + gap;
            if (ui.pressed(Key::d, field)) pan_ += width + gap;
        }
        if (most_fall > 0) {
            if (most <= 0) fall_ -= ui.wheel(field) * 48;
            if (ui.pressed(Key::w, field)) fall_ -= high_ + between;
            if (ui.pressed(Key::s, field)) fall_ += high_ + between;
        }
        pan_ = std::clamp(pan_, 0.f, most);
        fall_ = std::clamp(fall_, 0.f, most_fall);
    }
    // What does not fit: bars, and below the field a word for each way that is cut, which goes there.
    void more(Ui& ui, const Rect& field, float end, float whole, float deep, float column, float row) {
        const Theme& theme = *ui.theme;
        const float most = whole - field.w, most_fall = deep - field.h;
        struct Way {
            bool cut;
            const char* text;
            float& place;
            float by;
        };
        const Way ways[] = {{most_fall > 1 && fall_ > 1, "more above", fall_, -row},
                            {most_fall > 1 && fall_ < most_fall - 1, "more below", fall_, row},
                            {most > 1 && pan_ > 1, "more to the left", pan_, -column},
                            {most > 1 && pan_ < most - 1, "more to the right", pan_, column}};
        float wide = 0;
        for (const Way& way : ways)
            if (way.cut) wide += ui.chip_width(way.text) + 8;
        float x = field.right() - wide;
        for (const Way& way : ways)
            if (way.cut && field.bottom() + 28 <= end + 0.5f && ui.chip(x, field.bottom() + 8, way.text, false))
                way.place += way.by;
        if (whole > field.w + 1) {
            const float share = field.w / whole;
            ui.rect({field.x, field.bottom() + 3, field.w, 3}, theme.grid);
            ui.rect({field.x + field.w * pan_ / whole, field.bottom() + 3, field.w * share, 3}, theme.ink3);
        }
        if (deep > field.h + 1) {
            ui.rect({field.right() + 3, field.y, 3, field.h}, theme.grid);
            ui.rect({field.right() + 3, field.y + field.h * fall_ / deep, 3, field.h * field.h / deep}, theme.ink3);
        }
    }

    // The moment that a click on a node goes to; a second click goes from its forward run to its backward one.
    int moment_of_click(const GraphScene& scene, const GraphNode& node) const {
        const auto id = static_cast<size_t>(node.id);
        const int forward = tape_.forward_at[id], back = tape_.back_at[id];
        if (forward < 0) return tape_.update_at[id] >= 0 ? tape_.update_at[id] : tape_.complete_at[id];
        return scene.moment == forward && back >= 0 ? back : forward;
    }

    void go_to_moment(Session& session, Focus& focus, const GraphScene& scene, int moment, bool twice) const {
        session.training.tape_at = moment;
        focus.launch = tape_.moments[static_cast<size_t>(moment)].launch;
        const bool run = focus.launch >= 0 && static_cast<size_t>(focus.launch) < scene.step.launches.size() &&
                         scene.step.launches[static_cast<size_t>(focus.launch)].run;
        if (run && twice)
            open_in(session, focus.launch, Workspace::sm);
        else if (run)
            session.post(ask::OpenKernel{focus.launch});
    }

    void choose(Ui& ui, Session& session, Focus& focus, const GraphScene& scene, const GraphBox& box, const Rect& at) {
        const GraphNode& node = scene.shown(box);
        const bool twice = ui.double_clicked(at);
        if (ui.area(fmt::format("node{}", node.id), at)) {
            if (box.folded()) {
                open_.insert(box.key);
                stale_ = true;
            } else {
                const int to = moment_of_click(scene, node);
                if (to >= 0 && !scene.hidden) go_to_moment(session, focus, scene, to, twice);
                focus.op = node.id;
            }
        }
        if (ui.hovered(at)) ui.tooltip(tip_of(scene, box));
    }

    static std::string tip_of(const GraphScene& scene, const GraphBox& box) {
        const GraphNode& node = scene.shown(box);
        if (box.folded())
            return fmt::format("{}: {} ops, its last one is {}\nclick: op by op", box.title, box.nodes.size(), node.name);
        std::string text = fmt::format("{}\n{}, {}", element_name(scene, node.id), shape_text(node.shape),
                                       bytes_text(static_cast<double>(node.bytes)));
        if (scene.hidden) return text;
        if (!node.saved.empty())
            text += fmt::format("\nsaves {} ({})", node.saved,
                                node.saved_bytes > 0 ? bytes_text(static_cast<double>(node.saved_bytes))
                                                     : "no bytes: what is kept lives anyway");
        if (scene.followed)
            for (const nn::Passing& edge : scene.followed->edges)
                if (edge.from == node.id && scene.tape.freed(edge.node, scene.moment))
                    text += fmt::format("\nfrom {}: {:+.5g} × {:+.5g} = {:+.5g}{}", scene.node(edge.node).name, edge.local,
                                        edge.upstream, edge.product,
                                        edge.terms > 1 ? fmt::format(", {} terms: {:+.5g}", edge.terms, edge.total) : "");
        if (!node.forward_launches.empty()) text += "\nclick: its forward run, again: its backward run";
        return text;
    }
};

}  // namespace

std::unique_ptr<View> make_graph_view() {
    return std::make_unique<GraphView>();
}

}  // namespace lockstep::gui
