// One GPU of a planned machine and its groups: every node of the machine as a cell, a row a pipeline stage; the nodes with
// which it talks have the colour of the axis along which it does. Below, its own node GPU by GPU. At the right how many
// bytes it sends along each axis in a step, and how long nothing hides them. A click on a node, or on a GPU of its node,
// picks another GPU; so do A and D, Up and Down. Chips choose among a scene's plans.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/mesh_groups.h"
#include "app/gui/views/lesson/figure_stacks.h"
#include "core/base/units.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view groups_title = "Whom a GPU talks to";
constexpr std::string_view groups_hidden = "How much is said along each axis stays hidden until you lock an answer.";

std::vector<const scene::ParallelRow*> planned_rows(const scene::ClusterScene* scene) {
    std::vector<const scene::ParallelRow*> rows;
    if (scene == nullptr || !scene->ran) return rows;
    for (const scene::ParallelRow& row : scene->ran->rows)
        if (row.plan && row.split.ranks() > 1) rows.push_back(&row);
    return rows;
}

std::string spaced(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

// The axis whose bytes the step on show asks about: "cp" of bytes@axis:cp@row:ring; empty: it asks nothing of that kind.
std::string asked_axis(const LessonState& state) {
    constexpr std::string_view sent = "bytes";  // the figure, not the view
    const auto step = static_cast<size_t>(std::max(0, state.step));
    if (!state.lesson || step >= state.lesson->steps.size()) return {};
    for (const lessons::Predict& predict : state.lesson->steps[step].predicts)
        for (const scene::FigureName& name : predict.of.names())
            for (const scene::FigureName::Place& place : name.places)
                if (name.base == sent && place.kind == "axis") return place.value;
    return {};
}

bool asks_here(const LessonState& state) {
    const auto step = static_cast<size_t>(state.step);
    return state.lesson && state.step >= 0 && step < state.lesson->steps.size() &&
           !state.lesson->steps[step].predicts.empty();
}

// Of a plan that needs more memory than its GPU has: "tp 8 does not fit by 937.9 MB. "
std::string over_words(const scene::ClusterScene& scene, const scene::ParallelRow& row) {
    if (!scene.table) return {};
    for (size_t i = 0; i < scene.table->rows.size(); ++i)
        if (spaced(scene.table->rows[i].name) == spaced(row.name) && scene.table->over(i) > 0)
            return fmt::format("{} {}. ", spaced(row.name), over_text(*scene.table, i));
    return {};
}

// How long a GPU waits is told where nobody is asked: a later step may ask for it.
std::string caption_below(const Session& session, const scene::ClusterScene& scene, const scene::ParallelRow& row,
                          const GpuTalk& talk) {
    const std::string over = over_words(scene, row);
    return over + (asks_here(session.lesson) ? std::string("Bytes of a step, by the planner, of the busiest GPU.")
                                             : talk_caption(talk));
}

// Of one plan whose axes are to be put in order: "A GPU sends 601 GB for tensor, 31.4 GB for gradients, ...".
std::string all_axes(const GpuTalk& talk) {
    std::string text;
    for (const AxisTalk& axis : talk.axes)
        text += fmt::format("{} {} for {}", text.empty() ? "A GPU sends" : ",", bytes_si(axis.bytes), axis.title);
    return text + " in a step";
}

// Of a question about one axis, what each row sends along it: "For context a GPU sends 21.5 GB as ring, 16.1 GB as Ulysses".
std::string groups_headline(const LessonState& state, const std::vector<const scene::ParallelRow*>& rows,
                            const GpuTalk& talk) {
    if (rows.size() == 1 && asks_here(state) && talk.axes.size() > 1) return all_axes(talk);
    std::string asked = asked_axis(state);
    const bool about = !asked.empty();
    if (!about && rows.size() == 2 && !talk.axes.empty() && asks_here(state)) asked = talk.axes.front().axis;
    std::string text;
    for (const scene::ParallelRow* row : rows)
        for (const AxisTalk& axis : gpu_talk(*row->plan, middle_gpu(*row->plan)).axes)
            if (axis.axis == asked)
                text += fmt::format("{} {} as {}",
                                    text.empty() ? fmt::format("For {} a GPU sends", axis.title) : std::string(","),
                                    bytes_si(axis.bytes), spaced(row->name));
    if (text.empty()) return talk_headline(talk);
    if (!about) return talk.axes.front().in_node ? text : fmt::format("{}: {}", text, talk_way(talk.axes.front()));
    if (rows.size() == 2)
        text += fmt::format("; steps of {} and {}", time_text(rows[0]->plan->step_us, {.significant = 3}),
                            time_text(rows[1]->plan->step_us, {.significant = 3}));
    return text;
}

class GroupsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto rows = planned_rows(snapshot->cluster.get());
        if (rows.empty()) {
            const Rect body = ui.panel(area, {.title = groups_title});
            return ui.say_nothing_yet(body, "No machine of several GPUs has been planned here.", snapshot->busy);
        }
        adopt(snapshot->cluster, rows);
        const bool hidden = session.learn.reveal_steps >= 0;
        row_ = std::min(row_, rows.size() - 1);
        const GpuTalk talk = gpu_talk(*rows[row_]->plan, gpu_);
        const std::string caption =
            hidden ? std::string(groups_hidden) : caption_below(session, *snapshot->cluster, *rows[row_], talk);
        const Rect body =
            ui.panel(area, {.title = groups_title,
                            .right = fmt::format("{} in {}", counted(talk.gpus(), "GPU"), counted(talk.nodes(), "node")),
                            .badge = hidden ? Provenance::none : Provenance::derived,
                            .caption = caption});
        ui.push_scope("groups");
        move_by_keys(ui, talk, area);
        float y = body.y;
        const bool low = body.h < low_body;
        if (!hidden && low) {
            const std::string says = groups_headline(session.lesson, rows, talk);
            const bool fits = ui.text_width(says, {.size = 18, .weight = 700}) <= body.w;
            ui.text(body.x, y + 16, says, {.size = fits ? 18.0f : 15.0f, .weight = 700, .width = body.w});
            y += 28;
        } else if (!hidden) {
            const std::string says = groups_headline(session.lesson, rows, talk);
            const bool fits = ui.text_width(says, {.size = 24, .weight = 700}) <= body.w;
            ui.text(body.x, y + 22, says, {.size = fits ? 24.0f : 18.0f, .weight = 700, .width = body.w});
            ui.text(body.x, y + 44, talk_difference(talk), {.size = 14, .color = ui.theme->ink2, .width = body.w});
            y += 56;
        }
        if (rows.size() > 1) {
            float x = body.x;
            for (size_t i = 0; i < rows.size(); ++i)
                if (ui.chip(x, y, spaced(rows[i]->name), i == row_)) row_ = i, gpu_ = middle_gpu(*rows[i]->plan);
            y += 34;
        }
        constexpr float legend = 24;
        const Rect rest{body.x, y, body.w, body.bottom() - legend - y};
        const float amounts = std::clamp(rest.w * 0.36f, 220.0f, 430.0f);
        draw_machine(ui, talk, low, {rest.x, rest.y, rest.w - amounts - 24, rest.h});
        ui.line({rest.right() - amounts - 12, rest.y}, {rest.right() - amounts - 12, rest.bottom()}, ui.theme->line);
        draw_amounts(ui, talk, hidden, low, !asks_here(session.lesson), {rest.right() - amounts, rest.y, amounts, rest.h});
        draw_legend(ui, talk, body.x, body.bottom() - 6, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const auto rows = planned_rows(snapshot->cluster.get());
        if (rows.empty()) return std::string(groups_title) + ": no machine of several GPUs has been planned.\n";
        const scene::ParallelRow& row = *rows[std::min(row_, rows.size() - 1)];
        const GpuTalk talk = gpu_talk(*row.plan, gpu_ < 0 ? middle_gpu(*row.plan) : gpu_);
        std::string text = fmt::format("{} (derived): {}, GPU {} of {}, node {} of {}; {}\n", groups_title, spaced(row.name),
                                       talk.gpu, talk.gpus(), talk.node_of(talk.gpu), talk.nodes(), talk_place(talk));
        for (const AxisTalk& axis : talk.axes)
            text += fmt::format("  {} ({}): {}, {}\n", axis.title, axis.axis, talk_with(talk, axis), talk_way(axis));
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(groups_hidden) + "\n";
        for (const AxisTalk& axis : talk.axes) text += "  " + talk_words(talk, axis) + "\n";
        return text + "  " + groups_headline(session.lesson, rows, talk) + ". " + talk_difference(talk) + "\n  " +
               caption_below(session, *snapshot->cluster, row, talk) + "\n";
    }

  private:
    std::shared_ptr<const scene::ClusterScene> seen_;
    size_t row_ = 0;
    int gpu_ = -1;  // -1: one in the middle

    void adopt(const std::shared_ptr<const scene::ClusterScene>& scene, const std::vector<const scene::ParallelRow*>& rows) {
        if (scene == seen_) return;
        seen_ = scene;
        row_ = 0;
        for (size_t i = 0; i < rows.size(); ++i)
            if (!scene->asked.empty() && spaced(rows[i]->name) == spaced(scene->asked)) row_ = i;
        gpu_ = middle_gpu(*rows[row_]->plan);
    }

    void move_by_keys(Ui& ui, const GpuTalk& talk, const Rect& area) {
        const auto moved = [&](Key more, Key less) {
            return (ui.pressed(more, area) ? 1 : 0) - (ui.pressed(less, area) ? 1 : 0);
        };
        const int across = moved(Key::d, Key::a), down = moved(Key::down, Key::up);
        if (across == 0 && down == 0) return;
        const int to = talk.gpu + across + down * talk.gpus() / talk.mesh.size("pp");
        if (to >= 0 && to < talk.gpus()) gpu_ = to;
    }

    static void fill_of_axis(Ui& ui, const Rect& box, const AxisTalk& axis) { axis_fill(ui, box, axis.fill, axis.twin); }
    static void letter(Ui& ui, float x, float y, const AxisTalk& axis, float side = 17) {
        axis_letter(ui, x, y, axis.letter, axis.fill, axis.twin, side);
    }

    // `low`: without the GPU's own node, whose number the headline has.
    void draw_machine(Ui& ui, const GpuTalk& talk, bool low, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int stages = talk.nodes() % talk.mesh.size("pp") == 0 ? talk.mesh.size("pp") : 1;
        const int across = (talk.nodes() + stages - 1) / stages;
        const float end = ui.text(r.x, r.y + 14, "The machine", {.size = 14, .weight = 600});
        const std::string note =
            stages > 1 ? "a cell is a node, a row a pipeline stage; click one" : "a cell is a node; click one";
        if (end + 10 + ui.text_width(note, {.size = 13}) < r.right())
            ui.text(end + 10, r.y + 14, note, {.size = 13, .color = theme.ink2});
        const float below = low ? 0 : 176, names = 24;
        const Rect map{r.x + names, r.y + 26, r.w - names, std::max(60.0f, r.h - 26 - below)};
        const bool few = talk.nodes() <= 16;  // each as large as there is room, with its GPUs
        const float wide = std::min(few ? 110.0f : 64.0f, map.w / static_cast<float>(across)),
                    high = std::min(few ? 84.0f : 44.0f, map.h / static_cast<float>(stages));
        std::vector<const AxisTalk*> of_node(static_cast<size_t>(talk.nodes()));
        for (auto axis = talk.axes.rbegin(); axis != talk.axes.rend(); ++axis)  // most bytes last, on top
            for (const int other : axis->with) of_node[static_cast<size_t>(talk.node_of(other))] = &*axis;
        const float gap = wide > 6 && high > 6 ? 1.5f : 0.5f;
        for (int node = 0; node < talk.nodes(); ++node) {
            const Rect cell{map.x + wide * static_cast<float>(node % across),
                            map.y + high * static_cast<float>(node / across), wide - gap, high - gap};
            const bool here = node == talk.node_of(talk.gpu);
            const AxisTalk* axis = of_node[static_cast<size_t>(node)];
            if (axis != nullptr)
                fill_of_axis(ui, cell, *axis);
            else
                ui.rect(cell, theme.panel2);
            if (here) ui.outline(cell);
            if (few && cell.w >= 48 && cell.h >= 40)
                draw_gpus_in(ui, talk, node, cell);
            else if (axis != nullptr && cell.w >= 18 && cell.h >= 18)
                letter(ui, cell.x + cell.w / 2 - 8.5f, cell.y + cell.h / 2 - 8.5f, *axis);
            if (ui.hovered(cell))
                ui.tooltip(fmt::format("node {}: GPUs {} to {}{}", node, with_commas(node * talk.gpus_per_node),
                                       with_commas(std::min(talk.gpus(), (node + 1) * talk.gpus_per_node) - 1),
                                       here              ? ", the GPU's own"
                                       : axis != nullptr ? fmt::format(": {}", axis->title)
                                                         : std::string()));
            if (ui.clicked(cell))
                gpu_ = std::min(talk.gpus() - 1, node * talk.gpus_per_node + talk.gpu % talk.gpus_per_node);
        }
        if (stages > 1 && high >= 12)
            for (int stage = 0; stage < stages; ++stage)
                ui.text(map.x - 6, map.y + high * (static_cast<float>(stage) + 0.5f) + 4, std::to_string(stage),
                        {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        if (!low) draw_node(ui, talk, {r.x, r.bottom() - below + 8, r.w, below - 8});
    }

    // A node's GPUs, four a line, in the colour of the axis along which the picked one talks to them.
    static void draw_gpus_in(Ui& ui, const GpuTalk& talk, int node, const Rect& cell) {
        ui.rect(cell, ui.theme->panel2);
        const int count = std::min(talk.gpus_per_node, talk.gpus() - node * talk.gpus_per_node),
                  columns = std::min(4, count), lines = (count + columns - 1) / std::max(1, columns);
        const float wide = (cell.w - 4) / static_cast<float>(columns), high = (cell.h - 4) / static_cast<float>(lines);
        for (int i = 0; i < count; ++i) {
            const int gpu = node * talk.gpus_per_node + i;
            const Rect box{cell.x + 2 + wide * static_cast<float>(i % columns),
                           cell.y + 2 + high * static_cast<float>(i / columns), wide - 1, high - 1};
            const AxisTalk* axis = nullptr;  // of several the one with the fewest others
            for (const AxisTalk& one : talk.axes)
                if (std::find(one.with.begin(), one.with.end(), gpu) != one.with.end() &&
                    (axis == nullptr || one.with.size() < axis->with.size()))
                    axis = &one;
            if (gpu == talk.gpu)
                ui.rect(box, ui.theme->ink);
            else if (axis == nullptr)
                ui.rect(box, ui.theme->grid);
            else if (const float side = std::min(17.0f, std::min(box.w, box.h)); side >= 14) {
                fill_of_axis(ui, box, *axis);
                letter(ui, box.x + (box.w - side) / 2, box.y + (box.h - side) / 2, *axis, side);
            } else
                fill_of_axis(ui, box, *axis);
        }
        if (node == talk.node_of(talk.gpu)) ui.outline(cell);
    }

    void draw_node(Ui& ui, const GpuTalk& talk, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int node = talk.node_of(talk.gpu), first = node * talk.gpus_per_node;
        const int count = std::min(talk.gpus_per_node, talk.gpus() - first), columns = std::min(4, count);
        const float end = ui.text(r.x, r.y + 14, fmt::format("Node {}", with_commas(node)), {.size = 14, .weight = 600});
        ui.text(end + 10, r.y + 14, fmt::format("{} inside", talk.inside), {.size = 13, .color = theme.ink2});
        const float room = std::min(r.w * 0.52f, 330.0f);
        const float wide = room / static_cast<float>(std::max(1, columns));
        const int lines = (std::min(count, 16) + columns - 1) / std::max(1, columns);
        const float high = std::min(56.0f, (r.h - 30) / static_cast<float>(std::max(1, lines)));
        for (int i = 0; i < count && i < 16; ++i) {
            const int gpu = first + i;
            const Rect box{r.x + wide * static_cast<float>(i % columns), r.y + 24 + high * static_cast<float>(i / columns),
                           wide - 6, high - 6};
            const bool here = gpu == talk.gpu;
            ui.rect(box, here ? theme.ink : theme.panel2, 3);
            if (!here) ui.frame(box, theme.line, 1, 3);
            const std::string name = ui.text_width(with_commas(gpu), {.size = 13, .weight = 700}) + 12 < box.w
                                         ? with_commas(gpu)
                                         : std::to_string(i);
            ui.text(box.x + 6, box.y + 16, name, {.size = 13, .color = here ? theme.background : theme.ink, .weight = 700});
            float x = box.right() - 20;
            for (const AxisTalk& axis : talk.axes)
                if (std::find(axis.with.begin(), axis.with.end(), gpu) != axis.with.end() && x > box.x + 2) {
                    if (box.h >= 40) letter(ui, x, box.bottom() - 20, axis);
                    x -= 19;
                }
            if (ui.area(fmt::format("gpu {}", i), box)) gpu_ = gpu;
            if (ui.hovered(box))
                ui.tooltip(here ? "the GPU that is looked at" : fmt::format("GPU {}: click to look from it", gpu));
        }
        const float x = r.x + room + 14;
        if (r.right() - x < 150) return;
        ui.text(x, r.y + 14, fmt::format("Where GPU {} stands", with_commas(talk.gpu)),
                {.size = 14, .weight = 600, .width = r.right() - x});
        float y = r.y + 40;
        for (auto axis = talk.mesh.axes.rbegin(); axis != talk.mesh.axes.rend(); ++axis) {
            if (axis->size == 1) continue;
            const float at = ui.text(x, y, fmt::format("{} = {}", axis->name, talk.mesh.coordinate(talk.gpu, axis->name)),
                                     {.size = 14, .weight = 700, .mono = true});
            ui.text(at + 8, y, fmt::format("of {}", axis->size), {.size = 13, .color = theme.ink2});
            y += 22;
        }
        ui.text(x, y + 4, talk_number(talk), {.size = 12, .color = theme.ink2, .mono = true, .width = r.right() - x});
    }

    // `told`: how long each axis takes, too.
    static void draw_amounts(Ui& ui, const GpuTalk& talk, bool hidden, bool low, bool told, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, fmt::format("What GPU {} sends in a step", with_commas(talk.gpu)),
                {.size = 14, .weight = 600, .width = r.w});
        if (hidden) return draw_hidden_place(ui, {r.x, r.y + 26, r.w, r.h - 30});
        double most = 1e-9;
        for (const AxisTalk& axis : talk.axes) most = std::max(most, axis.bytes);
        const auto count = static_cast<float>(std::max<size_t>(1, talk.axes.size()));
        const float pitch = std::min(112.0f, (r.h - 26 - (low ? 0 : 74)) / count);
        for (size_t i = 0; i < talk.axes.size(); ++i) {
            const AxisTalk& axis = talk.axes[i];
            const float y = r.y + 28 + pitch * static_cast<float>(i);
            letter(ui, r.x, y, axis, 18);
            const float end = ui.text(r.x + 26, y + 14, axis.title, {.size = 15, .weight = 600});
            const std::string amount = bytes_si(axis.bytes), with = talk_with(talk, axis);
            const float from = ui.text(r.right(), y + 14, amount, {.size = 16, .align = Align::right, .weight = 700});
            if (end + 8 + ui.text_width(with, {.size = 13}) + 8 < from)
                ui.text(end + 8, y + 14, with, {.size = 13, .color = theme.ink2});
            const float high = std::clamp(pitch - 26, 6.0f, 18.0f);
            ui.rect({r.x, y + 23, r.w, high}, theme.panel2);
            const Rect bar{r.x, y + 23, std::max(2.0f, r.w * static_cast<float>(axis.bytes / most)), high};
            ui.rect(bar, axis.fill);
            if (axis.twin != Hatch::solid)
                for (float at = bar.x; at < bar.right(); at += 440)
                    ui.hatch({at, bar.y, std::min(440.0f, bar.right() - at), bar.h}, faded(data::black, 0.42f), axis.twin);
            if (ui.hovered({r.x, y, r.w, pitch - 4})) ui.tooltip(talk_words(talk, axis));
            if (pitch < 62 || !told) continue;
            const double speed = axis.in_node ? talk.inside_gigabytes : talk.between_gigabytes;
            const std::string time = axis.exposed_us > 0
                                         ? fmt::format("{}, {} exposed", time_text(axis.us), time_text(axis.exposed_us))
                                         : time_text(axis.us) + ", all of it hidden";
            const float left = ui.text(r.right(), y + 57, time, {.size = 13, .color = theme.ink2, .align = Align::right});
            const std::string link = fmt::format("{}, {:g} GB/s", axis.in_node ? talk.inside : talk.between, speed);
            const std::string_view title = axis.in_node ? talk.inside : talk.between;
            if (r.x + ui.text_width(link, {.size = 13}) + 10 < left)
                ui.text(r.x, y + 57, link, {.size = 13, .color = theme.ink2});
            else if (r.x + ui.text_width(title, {.size = 13}) + 10 < left)
                ui.text(r.x, y + 57, title, {.size = 13, .color = theme.ink2});
            if (pitch >= 80) ui.text(r.x, y + 74, axis.when, {.size = 13, .color = theme.quiet, .width = r.w});
        }
        const float y = r.bottom() - 62;
        if (low || y < r.y + 28 + pitch * count - 8) return;
        ui.text(r.x, y, fmt::format("All {}", bytes_si(talk.bytes())), {.size = 13, .color = theme.ink2});
        float x = r.x;
        for (const bool inside : {true, false})
            for (const AxisTalk& axis : talk.axes) {
                const double bytes = axis.bytes * (inside ? 1 - axis.leaving : axis.leaving);
                if (bytes <= 0) continue;
                const Rect part{x, y + 8, r.w * static_cast<float>(bytes / talk.bytes()), 22};
                fill_of_axis(ui, {part.x, part.y, std::max(1.0f, part.w - 1), part.h}, axis);
                const std::string words = fmt::format("{:.0f} %", 100 * bytes / talk.bytes());
                const float width = ui.text_width(words, {.size = 12, .weight = 700}) + 6;
                if (width + 4 < part.w) {
                    ui.rect({part.x + part.w / 2 - width / 2, part.y + 3, width, 16}, axis.fill);
                    ui.text(part.x + part.w / 2, part.y + 15, words,
                            {.size = 12, .color = text_on(axis.fill), .align = Align::center, .weight = 700});
                }
                x += part.w;
            }
        const float inside = r.w * static_cast<float>(talk.share_in_node());
        if (inside > 1) {
            const Point bracket[] = {{r.x, y + 34}, {r.x, y + 39}, {r.x + inside, y + 39}, {r.x + inside, y + 34}};
            ui.polyline(bracket, theme.ink2, 1);
        }
        ui.text(
            r.x, y + 55,
            inside > 1 ? fmt::format("{:.0f} % stays in the node", 100 * talk.share_in_node()) : "all of it leaves the node",
            {.size = 13, .weight = 600});
    }

    static void draw_legend(Ui& ui, const GpuTalk& talk, float x, float y, float right) {
        for (const AxisTalk& axis : talk.axes) {
            const std::string words = fmt::format("{} {}", axis.letter, axis.title);
            if (x + 40 + ui.text_width(words, {.size = 13}) > right) return;
            x = ui.legend(x, y, axis.fill, axis.twin, words);
        }
        if (x + 130 < right) {
            ui.frame({x, y - 10, 14, 12}, ui.theme->ink, 2);
            ui.text(x + 20, y, "the GPU's own node", {.size = 13, .color = ui.theme->ink2, .width = right - x - 20});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_groups_view() {
    return std::make_unique<GroupsView>();
}

}  // namespace lockstep::gui
