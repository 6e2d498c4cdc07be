#include "app/gui/views/training/graph_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/training/training_data.h"
#include "app/gui/widgets/axis.h"

namespace lockstep::gui {

using nn::GraphNode;
using nn::Passing;

namespace {

// The lines under a box's title, from its top; gradient 0: there is no room for it.
struct BoxLines {
    float value = 22, gradient = 43, high = 20;
};
BoxLines lines_of(float box_height) {
    if (box_height >= 64) return {};
    return box_height >= 48 ? BoxLines{17, 32, 15} : BoxLines{22, 0, 20};
}

float followed_value(const GraphScene& scene, const nn::Values& values, int node) {
    const int64_t at = scene.followed && static_cast<size_t>(node) < scene.followed->element.size()
                           ? scene.followed->element[static_cast<size_t>(node)]
                           : -1;
    return values && at >= 0 && at < static_cast<int64_t>(values->size()) ? (*values)[static_cast<size_t>(at)] : NAN;
}

float wire_thickness(int64_t bytes) {
    return 1 + std::max(0.f, std::log2(static_cast<float>(std::max<int64_t>(bytes, 1)) / 1024.f)) * 0.55f;
}

bool holds_integers(const GraphNode& node) {
    return node.dtype == DType::i32 || node.dtype == DType::i64 || node.dtype == DType::u8;
}

}  // namespace

// All elements of a small tensor, as far as a box has room for them; "": there are more, or one of them is followed back.
static std::string few_values(const GraphScene& scene, const GraphNode& node) {
    constexpr size_t most_letters = 16;
    if (scene.went_back() || node.value->size() < 2 || node.value->size() > 4) return {};
    std::string text;
    for (const float value : *node.value)
        text += fmt::format("{}{:.3g}", text.empty() ? "" : " ", std::abs(value) < 5e-4f ? 0.0f : value);
    return text.size() <= most_letters ? text : std::string();
}

std::string value_text(const GraphScene& scene, const GraphNode& node) {
    if (!scene.value_known(node)) return scene.hidden ? "hidden" : "not yet";
    if (!node.value) return "not kept";
    if (const std::string all = few_values(scene, node); !all.empty()) return all;
    if (!scene.followed && node.value->size() > 1)
        return holds_integers(node) ? "whole numbers" : fmt::format("rms {:.4g}", scene.square_of(*node.value));
    const float v = scene.followed ? followed_value(scene, node.value, node.id) : node.value->at(0);
    if (std::isnan(v) && scene.followed && scene.followed->element[static_cast<size_t>(node.id)] < 0) return "not followed";
    return holds_integers(node) ? fmt::format("{:.0f}", v) : signed_text(v);
}

static std::string arrived_text(const GraphScene& scene, const GraphNode& node) {  // of a gradient that is not whole yet
    int arrived = 0;
    double sum = 0;
    if (scene.followed)
        for (const Passing& edge : scene.followed->edges)
            if (edge.from == node.id && scene.tape.freed(edge.node, scene.moment)) ++arrived, sum += edge.total;
    if (arrived == 0) return "not yet";
    return fmt::format("{} of {}: {}", arrived, scene.tape.parts[static_cast<size_t>(node.id)], signed_text(sum, 3));
}

std::string gradient_text(const GraphScene& scene, const GraphNode& node) {
    if (scene.hidden && !scene.gradient_known(node)) return "hidden";
    if (!node.requires_grad || scene.tape.complete_at[static_cast<size_t>(node.id)] < 0) return "none";
    if (scene.gradient_known(node)) {
        if (!node.gradient) return "not kept";
        if (!scene.followed && node.gradient->size() > 1) return fmt::format("rms {:.3g}", scene.square_of(*node.gradient));
        const float g = scene.followed ? followed_value(scene, node.gradient, node.id) : node.gradient->at(0);
        return std::isnan(g) && !scene.followed ? "NaN" : signed_text(g);
    }
    return arrived_text(scene, node);
}

std::string element_name(const GraphScene& scene, int node) {
    const GraphNode& of = scene.node(node);
    const std::string at =
        scene.followed ? element_text(of.shape, scene.followed->element[static_cast<size_t>(node)]) : std::string();
    return of.name.find(' ') == std::string::npos || at.empty() ? of.name + at : "(" + of.name + ")" + at;
}

std::vector<const Passing*> edges_now(const GraphScene& scene) {
    std::vector<const Passing*> edges;
    if (!scene.followed || !scene.goes_back()) return edges;
    for (const Passing& edge : scene.followed->edges)
        if (edge.node == scene.current()) edges.push_back(&edge);
    return edges;
}

namespace {

// How far a box's ops have run, forward and back: shares of them.
struct Progress {
    float ahead = 0, returned = 0;
};
Progress progress_of(const GraphScene& scene, const GraphBox& box) {
    size_t ran = 0, back = 0, goes_back = 0;
    for (const int id : box.nodes) {
        ran += scene.value_known(scene.node(id));
        goes_back += scene.tape.back_at[static_cast<size_t>(id)] >= 0;
        back += scene.tape.freed(id, scene.moment);
    }
    Progress progress{.ahead = static_cast<float>(ran) / static_cast<float>(box.nodes.size())};
    if (!box.folded())
        progress.returned = scene.gradient_known(scene.shown(box)) ? 1.f : 0.f;
    else if (goes_back > 0)
        progress.returned = static_cast<float>(back) / static_cast<float>(goes_back);
    return progress;
}

void draw_box_ground(Ui& ui, const GraphScene& scene, const GraphBox& box, const Rect& at, const BoxLines& lines) {
    const Theme& theme = *ui.theme;
    const Color forward = mix(theme.panel2, data::green, theme.dark ? 0.38f : 0.28f),
                backward = mix(theme.panel2, data::sky, theme.dark ? 0.42f : 0.36f);
    const bool here = std::find(box.nodes.begin(), box.nodes.end(), scene.current()) != box.nodes.end();
    const Progress progress = progress_of(scene, box);
    const float inner = at.w - 2;
    ui.rect(at, theme.panel2, 3);
    if (progress.ahead > 0)
        ui.rect({at.x + 1, at.y + lines.value, inner * progress.ahead, lines.high},
                scene.shown(box).kind == GraphNode::Kind::label ? mix(theme.panel2, theme.ink2, 0.18f) : forward);
    if (progress.returned > 0 && lines.gradient > 0)
        ui.rect({at.right() - 1 - inner * progress.returned, at.y + lines.gradient, inner * progress.returned, lines.high},
                backward);
    ui.frame(at, here ? theme.accent : theme.line, here ? 2.f : 1.f, 3);
    if (!box.folded()) return;
    ui.rect({at.x + 4, at.bottom() + 1, at.w - 8, 1}, theme.ink3);  // a second edge: there is more inside
    ui.rect({at.x + 8, at.bottom() + 3, at.w - 16, 1}, theme.ink3);
}

// What stands behind a box's title: its shape or its op, as much of it as there is room for.
std::string detail_of(const Ui& ui, const GraphNode& node, const GraphBox& box, float room) {
    const bool own_name = box.title == node.name && !node.op.empty();  // a program's own name, then what it does
    std::string detail = shape_text(node.shape);
    if (box.folded())
        detail = fmt::format("{} ops", box.nodes.size());
    else if (own_name)
        detail = graph_op_title(node) + (node.shape.empty() ? "" : " " + detail);
    return own_name && ui.text_width(detail, {.size = 12}) > room ? graph_op_title(node) : detail;
}

}  // namespace

void draw_box(Ui& ui, const GraphScene& scene, const GraphBox& box, const Rect& at, bool words) {
    const Theme& theme = *ui.theme;
    const GraphNode& node = scene.shown(box);
    const BoxLines lines = lines_of(at.h);
    draw_box_ground(ui, scene, box, at, lines);
    if (!words) return;
    const TextStyle heading{.size = 13, .weight = 600};
    if (at.w < box_with_numbers) {  // its name alone, of a loop's place the number
        const bool place = box.title.starts_with(loop_place);
        const std::string_view name = std::string_view(box.title).substr(place ? loop_place.size() : 0);
        ui.text(at.x + at.w / 2, at.y + lines.value - (lines.high < 20 ? 4.f : 6.f), name,
                {.size = 13, .align = Align::center, .weight = 600, .width = at.w - 2});
        if (ui.hovered(at))
            ui.tooltip(fmt::format("{}: value {}{}", box.title, value_text(scene, node),
                                   lines.gradient > 0 ? ", gradient " + gradient_text(scene, node) : std::string()));
        return;
    }
    const float room = at.w - 20 - ui.text_width(box.title, heading);
    const std::string detail = detail_of(ui, node, box, room);
    float detail_width = ui.text_width(detail, {.size = 12});
    if (detail_width > room) detail_width = 0;
    TextStyle style = heading;
    style.width = at.w - (detail_width > 0 ? detail_width + 20 : 14);
    const float title = at.y + lines.value - (lines.high < 20 ? 4.f : 6.f), down = lines.high < 20 ? 11.f : 14.f;
    ui.text(at.x + 8, title, box.title, style);
    if (detail_width > 0) ui.text(at.right() - 8, title, detail, {.size = 12, .color = theme.ink2, .align = Align::right});
    const auto line = [&](float baseline, const char* what, const std::string& number, bool on) {
        const bool named = ui.text_width(number, {.size = 12, .mono = on}) + ui.text_width(what, {.size = 12}) + 24 <= at.w;
        if (named) ui.text(at.x + 8, baseline, what, {.size = 12, .color = on ? theme.ink : theme.ink2});
        ui.text(at.right() - 8, baseline, number,
                {.size = 12, .color = on ? theme.ink : theme.quiet, .align = Align::right, .mono = on, .width = at.w - 14});
    };
    line(at.y + lines.value + down, "value", value_text(scene, node), scene.value_known(node));
    if (lines.gradient > 0)
        line(at.y + lines.gradient + down, "grad", gradient_text(scene, node), scene.gradient_known(node));
}

// How many of a box's nodes have saved something, how many of them still hold it, and the bytes of both.
struct SavedOfBox {
    int saved = 0, held = 0;
    int64_t bytes = 0, held_bytes = 0;
};
static SavedOfBox saved_of(const GraphScene& scene, const GraphBox& box) {
    SavedOfBox sum;
    for (const int id : box.nodes) {
        const GraphNode& node = scene.node(id);
        if (node.saved.empty() || !scene.value_known(node)) continue;
        ++sum.saved;
        sum.bytes += node.saved_bytes;
        if (scene.pinned(node)) ++sum.held, sum.held_bytes += node.saved_bytes;
    }
    return sum;
}

static std::string first_of(const std::string& names) {  // "x +2" of "x, mean, rstd"
    const auto more = std::count(names.begin(), names.end(), ',');
    return names.substr(0, names.find(',')) + (more > 0 ? fmt::format(" +{}", more) : "");
}

void draw_pin(Ui& ui, const GraphScene& scene, const GraphBox& box, const Rect& at, float room) {
    if (scene.hidden) return;
    const Theme& theme = *ui.theme;
    const auto [saved, held, bytes, held_bytes] = saved_of(scene, box);
    if (saved == 0) return;
    const float x = at.x + 12;
    ui.line({x, at.y}, {x, at.y - 8}, held > 0 ? data::yellow : theme.ink3, 2);
    held > 0 ? ui.circle({x, at.y - 11}, 4.5f, data::yellow) : ui.ring({x, at.y - 11}, 4.5f, theme.ink3, 1.5f);
    const std::string state = held > 0 ? " saved" : " freed";
    const int64_t pinned = held > 0 ? held_bytes : bytes;  // none of parameters, which live anyway
    const std::string size = pinned > 0 ? ", " + bytes_text(static_cast<double>(pinned)) : "";
    const std::string& names = scene.shown(box).saved;
    std::string few = first_of(names);
    if (box.folded()) few = held > 0 ? fmt::format("{} of {}", held, saved) : std::to_string(saved);
    const TextStyle style{.size = 12, .color = held > 0 ? theme.ink : theme.quiet, .width = room};
    const std::string all = box.folded() || names.empty() ? few : names;
    for (const std::string& text : {all + state + size, few + state + size, few + state, state.substr(1)}) {
        if (ui.text_width(text, {.size = 12}) > room) continue;
        ui.text(x + 10, at.y - 7, text, style);
        return;
    }
}

// What passes an edge, in numbers: beside the gradient that they add to, else beside the op that they come from.
static void draw_passing(Ui& ui, const Passing& edge, Point begin, Point end, std::vector<Rect>& taken) {
    const float room = end.x - begin.x - 20;
    if (room < 58) return;
    const std::string local = "×" + signed_text(edge.local).substr(edge.local > 0 ? 1 : 0),
                      sum = "=" + signed_text(edge.terms > 1 ? edge.total : edge.product);
    const TextStyle style{.size = 12, .mono = true};
    const float width = std::max(ui.text_width(local, style), ui.text_width(sum, style));
    if (width > room) return;
    for (const Point at : {Point{begin.x + 14, begin.y}, Point{end.x - 4 - width, end.y}}) {
        const Rect place{at.x, at.y - 34, width, 32};
        const bool clash = std::any_of(taken.begin(), taken.end(), [&](const Rect& other) {
            return place.x < other.right() && other.x < place.right() && place.y < other.bottom() &&
                   other.y < place.bottom();
        });
        if (clash) continue;
        taken.push_back(place);
        ui.text(at.x, at.y - 20, local, {.size = 12, .color = ui.theme->ink2, .mono = true});
        ui.text(at.x, at.y - 6, sum, style);
        return;
    }
}

// How far below a box's top its wires are: gradients beside the gradient's line.
static float wire_row(float height, bool back) {
    const BoxLines lines = lines_of(height);
    return (back && lines.gradient > 0 ? lines.gradient : lines.value) + lines.high / 2;
}

static float arrow_size(float thickness) {
    return std::max(5.f, thickness / 2 + 3);
}

// From a leaf to its reader, which stands above it.
static void draw_leaf_wire(Ui& ui, const Rect& from, const Rect& to, Color color, float t, bool back) {
    const float x = to.x + to.w / 2;
    ui.rect({x - t / 2, to.bottom(), t, from.y - to.bottom()}, color);
    ui.arrow_head({x, back ? from.y : to.bottom()}, back ? Way::down : Way::up, color, arrow_size(t));
}

// The line of a wire: straight, with one bend, or by a lane above the boxes (0: none).
static void draw_way(Ui& ui, Point begin, Point end, float lane, Color color, float t) {
    if (lane == 0 && std::abs(begin.y - end.y) < 1) {
        ui.rect({begin.x, begin.y - t / 2, end.x - begin.x, t}, color);
    } else if (lane == 0) {
        const float middle = std::max(begin.x + 6, (begin.x + end.x) / 2);
        const Point path[] = {begin, {middle, begin.y}, {middle, end.y}, end};
        ui.polyline(path, color, t);
    } else {
        const Point path[] = {begin, {begin.x + 8, begin.y}, {begin.x + 8, lane}, {end.x - 9, lane}, {end.x - 9, end.y},
                              end};
        ui.polyline(path, color, t);
    }
}

void draw_wire(Ui& ui, const GraphScene& scene, const GraphWire& wire, const Rect& from, const Rect& to, float lane,
               std::vector<Rect>* taken) {
    const GraphNode& node = scene.node(wire.node);
    const GraphNode& source = scene.node(node.inputs[static_cast<size_t>(wire.input)]);
    const bool back = source.requires_grad && scene.tape.freed(wire.node, scene.moment);
    const Color ahead = scene.value_known(node) ? data::green : ui.theme->ink3, color = back ? data::sky : ahead;
    const float t = std::min(wire_thickness(wire.bytes), 9.f);
    if (lane == 0 && std::abs(from.x - to.x) < 1) return draw_leaf_wire(ui, from, to, color, t, back);
    const float row = wire_row(from.h, back);
    const Point begin{from.right(), from.y + row}, end{to.x, to.y + row};
    draw_way(ui, begin, end, lane, color, t);
    if (!back) return ui.arrow_head(end, Way::right, color, arrow_size(t));
    ui.arrow_head(begin, Way::left, color, arrow_size(t));
    // Gradients that meet in one cell are added.
    if (scene.tape.parts[static_cast<size_t>(source.id)] > 1) ui.circle({begin.x + 7, begin.y}, 3.5f, ui.theme->ink);
    const bool one_edge = !wire.many && lane == 0;
    const Passing* edge = scene.followed ? scene.followed->edge(wire.node, wire.input) : nullptr;
    if (taken && one_edge && edge != nullptr) draw_passing(ui, *edge, begin, end, *taken);
}

// What becomes of a product: it arrives as it is, or as a term of a sum; a hook may have made another gradient of all terms.
static std::pair<std::string, std::string> arrival_text(const GraphScene& scene, const Passing& edge) {
    double brought = 0;
    for (const Passing& other : scene.followed->edges)
        if (other.from == edge.from) brought += other.total;
    const GraphNode& node = scene.node(edge.from);
    const double kept = scene.gradient_known(node) && node.gradient
                            ? static_cast<double>(followed_value(scene, node.gradient, edge.from))
                            : brought;
    const bool hooked = std::isfinite(kept) && std::abs(kept - brought) > 1e-3 * std::max(std::abs(kept), std::abs(brought));
    return {hooked           ? fmt::format("{:+.5g} came; a hook made", brought)
            : edge.terms > 1 ? fmt::format("term {} of {}; their sum is", edge.term + 1, edge.terms)
                             : std::string("arrives as"),
            fmt::format("d{} = {:+.5g}", element_name(scene, edge.from), hooked ? kept : edge.total)};
}

float draw_product(Ui& ui, const GraphScene& scene, const Passing& edge, float x, float y, float right, const Rect* target) {
    const Theme& theme = *ui.theme;
    const std::string local = fmt::format("{:+.5g}", edge.local);
    std::string up = fmt::format("d{} = {:+.5g}", element_name(scene, edge.node), edge.upstream);
    const std::string product = fmt::format("{:+.5g}", edge.product);
    const TextStyle mono{.size = 13, .align = Align::center, .mono = true},
        small{.size = 12, .color = theme.ink2, .align = Align::center};
    const auto fixed = std::max(ui.text_width(local, mono), 92.f) + std::max(ui.text_width(product, mono), 50.f) + 104;
    if (fixed + ui.text_width(up, mono) > right - x) up = fmt::format("{:+.5g}", edge.upstream);  // without its name
    const float widths[] = {std::max(ui.text_width(local, mono), 92.f) + 20, 22,
                            std::max(ui.text_width(up, mono), 60.f) + 20, 22,
                            std::max(ui.text_width(product, mono), 50.f) + 20};
    float total = 0;
    for (const float w : widths) total += w;
    if (total > right - x) return x;
    const auto [sum_head, sum] = arrival_text(scene, edge);
    const float after = 14 + std::max(ui.text_width(sum_head, {.size = 12}), ui.text_width(sum, {.size = 13, .mono = true}));
    const bool all = total + after <= right - x;
    const float tip_wish = target ? target->x - 12 : x;
    const float left = std::clamp(tip_wish - total / 2, x, std::max(x, right - total - (all ? after : 0)));
    const Rect box{left, y, total, 44};
    ui.rect(box, theme.code, 4);
    ui.frame(box, theme.accent, 1.5f, 4);
    if (target && target->y > y + 40) {
        const float tip = std::clamp(tip_wish, left + 8, left + total - 8);
        const BoxLines lines = lines_of(target->h);
        const float middle = (lines.gradient > 0 ? lines.gradient : lines.value) + lines.high / 2;
        const float bend = box.bottom() + 7;  // beside the box that the product goes to, wherever its own box has room
        ui.line({tip, box.bottom()}, {tip, bend}, theme.accent, 1.5f);
        ui.line({tip, bend}, {tip_wish, bend}, theme.accent, 1.5f);
        ui.line({tip_wish, bend}, {tip_wish, target->y + middle - 6}, theme.accent, 1.5f);
        ui.arrow_head({tip_wish, target->y + middle - 2}, Way::down, theme.accent, 5);
    }
    float at = left;
    const std::string_view heads[] = {"local derivative", "", "upstream", "", "product"};
    const std::string bodies[] = {local, "×", up, "=", product};
    for (int i = 0; i < 5; ++i) {
        if (i % 2 == 0) ui.text(at + widths[i] / 2, y + 17, heads[i], small);
        TextStyle style = mono;
        if (i % 2 != 0) style.mono = false, style.weight = 700, style.color = theme.accent;
        ui.text(at + widths[i] / 2, y + 35, bodies[i], style);
        at += widths[i];
    }
    if (!all) return at;
    ui.text(at + 14, y + 17, sum_head, {.size = 12, .color = theme.ink2});
    ui.text(at + 14, y + 35, sum, {.size = 13, .mono = true});
    return at + after;
}

namespace {

// The plot of what lives after each launch.
struct LivePlot {
    Rect plot;
    const std::vector<int64_t>& live;
    double base = 1, high = 1;  // bytes of the unit, and what the plot's height is in it
    const char* unit = "bytes";
    int launch = -1;  // on show
    float bar = 1;

    double value(size_t i) const { return static_cast<double>(live[i]) / base; }
    float y_of(double v) const { return plot.bottom() - plot.h * static_cast<float>(v / high); }
    float x_of(size_t i) const { return plot.x + bar * static_cast<float>(i); }
    bool bars() const { return bar >= 4; }
    bool is_last(size_t i) const { return i + 1 == live.size(); }
    // The middle of a launch's number; the last one ends with its bar.
    float middle_of(size_t i) const { return bar * static_cast<float>(i) + (is_last(i) ? bar - 7 : bar / 2); }
    std::string text(size_t i) const { return fmt::format("{:.{}f}", value(i), value(i) < 10 ? 2 : 0); }
};

void draw_live_axis(Ui& ui, const LivePlot& at, double step) {
    for (int i = 0; i * step < at.high; ++i) {
        if (at.high / step > 5 && i % 2) continue;
        const float y = at.y_of(i * step);
        ui.line({at.plot.x, y}, {at.plot.right(), y}, ui.theme->grid);
        ui.text(at.plot.x - 8, y + 4, fmt::format("{:g}", i * step),
                {.size = 12, .color = ui.theme->ink2, .align = Align::right});
    }
}

// A launch that has run is filled; one that is still to come is dashed, or a step of the outline where bars are many.
void draw_live_bar(Ui& ui, const GraphScene& scene, const LivePlot& at, size_t i, std::vector<Point>& outline) {
    const float x = at.x_of(i), y = at.y_of(at.value(i));
    const bool forward = i >= scene.step.launches.size() || scene.step.launches[i].phase == "forward";
    if (static_cast<int>(i) <= at.launch)
        ui.rect({x + (at.bars() ? 0.5f : 0), y, at.bar - (at.bars() ? 1 : 0), at.plot.bottom() - y},
                mix(ui.theme->panel, forward ? data::green : data::sky, 0.55f));
    else if (at.bars() && at.live.size() <= 40)
        ui.dashed({x + 1.5f, y, at.bar - 3, at.plot.bottom() - y}, ui.theme->ink3, 3, 3);
    else
        outline.push_back({x, y}), outline.push_back({x + at.bar, y});
}

void draw_live_number(Ui& ui, const LivePlot& at, size_t i) {  // of the launch
    const size_t count = at.live.size(), every = count > 14 ? (count + 4) / 5 : at.bar < 20 ? 2 : 1;
    const bool here = static_cast<int>(i) == at.launch;
    // The launch on show keeps its number; its neighbours leave theirs where they would lie on it.
    const float apart = std::abs(at.middle_of(i) - at.middle_of(static_cast<size_t>(std::max(at.launch, 0))));
    if (!here && (i % every != 0 || (at.launch >= 0 && apart < 17))) return;
    ui.text(at.is_last(i) ? at.x_of(i) + at.bar : at.x_of(i) + at.bar / 2, at.plot.bottom() + 15, std::to_string(i + 1),
            {.size = 12,
             .color = here ? ui.theme->ink : ui.theme->ink2,
             .align = at.is_last(i) ? Align::right : Align::center,
             .weight = here ? 600 : 400});
}

void draw_live_now(Ui& ui, const LivePlot& at, size_t i) {
    const size_t count = at.live.size();
    const bool left = i > count / 2;
    // Above the bars that the words would lie on.
    const auto reach = static_cast<size_t>(64 / std::max(at.bar, 1.f)) + 1;
    float top = at.y_of(at.value(i));
    for (size_t j = left ? i - std::min(i, reach) : i; j < std::min(count, left ? i + 1 : i + reach); ++j)
        top = std::min(top, at.y_of(at.value(j)));
    ui.text(left ? at.x_of(i) + at.bar : at.x_of(i), top - 6, at.text(i) + " now",
            {.size = 12, .align = left ? Align::right : Align::left, .weight = 600});
}

}  // namespace

int draw_live_bytes(Ui& ui, const GraphScene& scene, const Rect& r) {
    const Theme& theme = *ui.theme;
    const std::vector<int64_t>& live = scene.step.live_bytes;
    ui.text(r.x, r.y + 12, "live on the device: saved tensors, gradients", {.size = 12, .color = theme.ink2, .width = r.w});
    if (live.empty()) return -1;
    LivePlot at{.plot = {r.x + 44, r.y + 36, r.w - 44, r.h - 36 - 38}, .live = live};
    const auto top = static_cast<double>(*std::max_element(live.begin(), live.end()));
    at.base = top >= 1 << 20 ? 1 << 20 : top >= 4096 ? 1024 : 1;
    at.unit = at.base > 1024 ? "MiB" : at.base > 1 ? "KiB" : "bytes";
    at.bar = at.plot.w / static_cast<float>(live.size());
    at.launch = scene.moment >= scene.tape.last() ? static_cast<int>(live.size()) - 1 : scene.launch();
    ui.text(r.x, r.y + 30, at.unit, {.size = 12, .color = theme.ink2});
    const double most = top / at.base, step = rounded(std::max(most, 1.0), {{below_two, 0.5}, {any_other, 1}});
    at.high = std::ceil(most / step) * step * 1.12;
    draw_live_axis(ui, at, step);
    std::vector<Point> outline;
    int clicked = -1;
    for (size_t i = 0; i < live.size(); ++i) {
        draw_live_bar(ui, scene, at, i, outline);
        const Rect column{at.x_of(i), at.plot.y, at.bar, at.plot.h};
        if (at.bars() && i < scene.step.launches.size()) {
            if (ui.hovered(column))
                ui.tooltip(fmt::format("{} {}: {} {} live", i + 1, scene.step.launches[i].label, at.text(i), at.unit));
            if (ui.area("live" + std::to_string(i + 1), column)) clicked = static_cast<int>(i);
        }
        draw_live_number(ui, at, i);
        if (static_cast<int>(i) == at.launch) draw_live_now(ui, at, i);
    }
    if (outline.size() > 1) ui.polyline(outline, theme.ink3, 1);
    ui.text(at.plot.x + at.plot.w / 2, r.bottom() - 4, "launch of the step",
            {.size = 12, .color = theme.ink2, .align = Align::center});
    return clicked;
}

}  // namespace lockstep::gui
