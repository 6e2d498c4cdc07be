// What the stops of a cluster and of a node share: panels, the cells of GPUs, and the step of one replica over time.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/gui/views/machine/many/cluster_level.h"
#include "app/gui/widgets/axis.h"

namespace lockstep::gui {
namespace {

constexpr size_t most_bars = 640;  // of the strip: more of them become a texture
constexpr float future = 0.4f;

Color late_color() {
    return data::vermillion;
}

Color idle_color(const Theme& t) {
    return t.dark ? rgb(0x4A525E) : rgb(0xB4BBC5);
}

size_t spans_of(const ClusterStep& step, int replica) {
    size_t count = 0;
    for (const StepLane& lane : step.column(replica).lanes) count += lane.spans.size();
    return count;
}

struct StripPlot {
    Rect all;
    float pitch = 23, bar = 15;
    double end = 1;
    float x(double time) const { return all.x + all.w * static_cast<float>(std::clamp(time / end, 0.0, 1.0)); }
    float y(int stage) const { return all.y + pitch * static_cast<float>(stage); }
};

Color shade_of(const Theme& t, Color color, double from, double now) {
    return from <= now ? color : mix(t.panel, color, future);
}

void draw_bar(Ui& ui, const StripPlot& p, const Rect& row, const StepSpan& span, double now) {
    const Theme& t = *ui.theme;
    const float x0 = p.x(span.begin), x1 = p.x(std::min(span.end, span.late_from));
    const float gap = x1 - x0 > 4 ? 1.0f : 0.0f;
    const Color color = color_of(span.work);
    const bool splits = span.begin < now && now < span.end;
    const float cut = splits ? std::clamp(p.x(now), x0, x1) : span.begin <= now ? x1 : x0;
    if (cut > x0) ui.rect({x0, row.y, cut - x0 - (cut == x1 ? gap : 0), row.h}, color);
    if (x1 > cut) ui.rect({cut, row.y, x1 - cut - gap, row.h}, mix(t.panel, color, future));
    if (const Hatch twin = hatch_of(span.work); twin != Hatch::solid && x1 - x0 > 6)
        ui.hatch({x0, row.y, x1 - x0 - gap, row.h}, faded(text_on(color), 0.5f), twin);
    if (span.late_from < span.end) {
        const float end = p.x(span.end);
        ui.rect({x1, row.y - 1, std::max(2.0f, end - x1 - 1), row.h + 2}, shade_of(t, late_color(), span.late_from, now));
        const float cursor = std::clamp(p.x(now), x1, end);  // the word stands in the larger half beside it
        const float from = cursor - x1 >= end - cursor ? x1 : cursor, to = from == x1 && cursor > x1 ? cursor : end;
        if (row.h >= 13 && to - from > ui.text_width("late", {.size = 12, .weight = 600}) + 5)
            ui.text((from + to) / 2, row.y + row.h / 2 + 4.5f, "late",
                    {.size = 12, .color = data::white, .align = Align::center, .weight = 600});
    }
    if (row.h < 12) return;
    const std::string full = span.text(), brief(1, letter_of(span.work));
    const bool in_past = cut - x0 >= x1 - cut;
    const float from = in_past ? x0 : cut, to = in_past ? cut : x1;
    const float beside = 4;  // the cursor
    for (const std::string& text : {full, brief}) {
        const TextStyle style{.size = 12, .align = Align::center, .weight = in_past ? 600 : 400};
        if (ui.text_width(text, style) + 5 > to - from - (splits ? beside : 0)) continue;
        TextStyle colored = style;
        colored.color = text_on(in_past ? color : mix(t.panel, color, future));
        ui.text((from + to) / 2, row.y + row.h / 2 + 4.5f, text, colored);
        return;
    }
}

void draw_bars(const MachineFrame& frame, const ClusterStep& step, const StripPlot& p, int replica, double now) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    for (int stage = 0; stage < step.stages; ++stage) {
        const StepLane& lane = step.lane(replica, stage);
        const Rect row{p.all.x, p.y(stage), p.all.w, p.bar};
        ui.hatch({row.x, row.y, p.x(step.end) - row.x, row.h}, faded(idle_color(t), 0.8f), Hatch::dots);
        for (const StepWait& wait : lane.held_up) {
            const Rect box{p.x(wait.begin), row.y, std::max(1.0f, p.x(wait.end) - p.x(wait.begin) - 1), row.h};
            ui.rect(box, t.panel);
            ui.hatch(box, shade_of(t, late_color(), wait.begin, now), Hatch::diagonal);
        }
        for (const StepSpan& span : lane.spans) draw_bar(ui, p, row, span, now);
    }
    if (p.pitch - p.bar < 5) return;
    for (const StepRing& ring : step.rings)  // also where the last backward hides it
        ui.rect({p.x(ring.begin), p.y(ring.stage) + p.bar + 1.5f, std::max(2.0f, p.x(ring.end) - p.x(ring.begin)), 3},
                shade_of(t, data::blue, ring.begin, now));
}

// More actions than bars can show: a texture of what each pixel's time goes to.
void draw_bar_texture(const MachineFrame& frame, const ClusterStep& step, const StripPlot& p, int replica, double now) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const int w = std::clamp(static_cast<int>(p.all.w), 1, 2600),
              h = std::clamp(static_cast<int>(p.pitch * static_cast<float>(step.stages)), 1, 1200);
    const uint64_t version = std::bit_cast<uintptr_t>(&step) * 31 + static_cast<uint64_t>(replica) * 7 + (t.dark ? 1u : 0u) +
                             static_cast<uint64_t>(w) * 131 + t.panel;
    const Rect to{p.all.x, p.all.y, static_cast<float>(w), static_cast<float>(h)};
    ui.picture("step strip", version, w, h, to, [&](std::span<Color> pixels) {
        std::fill(pixels.begin(), pixels.end(), t.panel);
        for (int stage = 0; stage < step.stages; ++stage) {
            const int top = static_cast<int>(p.pitch * static_cast<float>(stage)),
                      bottom = std::min(h, top + std::max(1, static_cast<int>(p.bar)));
            for (int x = 0; x < w; ++x) {
                const GpuNow at = stage_at(step, replica, stage, p.end * (x + 0.5) / w);
                const bool late = at.does == GpuDoes::held_up && at.span;
                for (int y = top; y < bottom; ++y)
                    pixels[static_cast<size_t>(y) * static_cast<size_t>(w) + static_cast<size_t>(x)] =
                        late ? late_color() : texel_of(at, x, y, t);
            }
        }
    });
    const float cursor = p.x(now);
    ui.rect({cursor, p.all.y, p.all.right() - cursor, p.all.h}, faded(t.panel, 1 - future));
}

// The passes of the followed micro-batch, outlined, joined in order.
void draw_followed_bars(const MachineFrame& frame, const ClusterStep& step, const StripPlot& p, int replica) {
    const FollowedPacket& followed = frame.session.machine.packet;
    if (followed.replica != replica || followed.kind == FollowedPacket::Kind::chunk) return;
    const StepWay way = followed_way(frame, step);
    std::vector<Point> joined;
    for (const WayLeg& leg : way.legs) {
        if (leg.is != WayLeg::Is::works) continue;
        const float x = p.x(leg.begin), end = p.x(leg.end), y = p.y(leg.to);
        joined.push_back({x, y + p.bar / 2});
        joined.push_back({end, y + p.bar / 2});
        frame.ui.frame({x - 1, y - 1, std::max(3.0f, end - x + 1), p.bar + 2}, frame.ui.theme->ink, 2);
    }
    for (size_t i = 1; i + 1 < joined.size(); i += 2)
        frame.ui.line(joined[i], joined[i + 1], faded(frame.ui.theme->ink, 0.75f), 1.5f);
}

void draw_ruler(const MachineFrame& frame, const ClusterStep& step, const StripPlot& p, double now, float baseline) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const std::string text = step_time_text(step, now);
    const float half = ui.text_width(text, {.size = 12, .weight = 600}) / 2 + 8, cursor = p.x(now);
    const float middle = std::clamp(cursor, p.all.x + half - 40, p.all.right() - half);
    const double unit = step_of_time(p.end);
    float last = -1e9f;
    for (int i = 0; i * unit <= p.end; ++i) {
        const float x = p.x(i * unit);
        const std::string at = i == 0 ? "0" : step_time_text(step, i * unit);
        const float w = ui.text_width(at, {.size = 12}) / 2;
        const float from = i == 0 ? x : x - w, to = i == 0 ? x + 2 * w : x + w;
        if (from < last + 8 || to > p.all.right() + 12 || (to > middle - half - 5 && from < middle + half + 5)) continue;
        ui.text(x, baseline, at, {.size = 12, .color = t.quiet, .align = i == 0 ? Align::left : Align::center});
        last = to;
    }
    ui.cursor_line(cursor, p.all.y - 4, p.all.bottom() + 4);
    const Rect tag{middle - half, baseline - 13, 2 * half, 17};
    ui.rect(tag, t.ink, 3);
    ui.text(middle, baseline, text, {.size = 12, .color = t.panel, .align = Align::center, .weight = 600});
}

// What the stretches of a step are called, over the rows.
void draw_phases(Ui& ui, const ClusterStep& step, const StripPlot& p, int replica) {
    const Theme& t = *ui.theme;
    double first = step.end, last = 0;  // the first backward's begin, the last forward's end
    for (const StepLane& lane : step.column(replica).lanes)
        for (const StepSpan& span : lane.spans) {
            if (span.work == StepWork::backward || span.work == StepWork::input) first = std::min(first, span.begin);
            if (span.work == StepWork::forward) last = std::max(last, span.end);
        }
    struct Phase {
        double from, to;
        std::string_view name;
    };
    const Phase phases[] = {{0, first, "fill"},
                            {first, last, "steady: forward and backward"},
                            {std::max(first, last), step.pipeline, "drain"},
                            {step.pipeline, step.end, "sum, update"}};
    const float y = p.all.y - 10;
    for (const Phase& phase : phases) {
        const float a = p.x(phase.from) + 1, b = p.x(phase.to) - 1, w = ui.text_width(phase.name, {.size = 12}) + 10;
        if (b - a < 8) continue;
        const bool named = b - a > w + 14;
        const float mid = (a + b) / 2, left = named ? mid - w / 2 : b, right = named ? mid + w / 2 : b;
        const Point from[] = {{a, y + 4}, {a, y}, {left, y}}, to[] = {{right, y}, {b, y}, {b, y + 4}};
        ui.polyline(from, t.ink3, 1);
        if (named)
            ui.polyline(to, t.ink3, 1),
                ui.text(mid, y + 4, phase.name, {.size = 12, .color = t.ink2, .align = Align::center});
    }
}

}  // namespace

std::shared_ptr<const ClusterStep> step_of(const MachineFrame& frame) {
    auto step = frame.session.cluster_step(frame.snapshot);
    if (!step || !step->refusal.empty() || step->columns.empty()) return nullptr;
    return step;
}

Rect step_panel(const MachineFrame& frame, const Rect& area, Stop stop, std::string_view right, bool draw) {
    const StopRow& row = row_of(stop);
    const auto step = step_of(frame);
    const std::string sentence = row.sentence(frame), title = row.label(frame);
    const Provenance badge = step == nullptr                                ? Provenance::none
                             : step->source == ClusterStep::Source::planned ? Provenance::derived
                             : step->source == ClusterStep::Source::units   ? Provenance::simulated
                                                                            : Provenance::times_derived;
    const PanelText text{.title = title, .right = right, .badge = badge, .caption = sentence};
    if (!draw) return step ? frame.ui.panel_body(area, text) : Rect{};
    const Rect body = frame.ui.panel(area, text);
    if (step) return body;
    const auto whole = frame.session.cluster_step(frame.snapshot);
    if (whole && !whole->refusal.empty())
        frame.ui.say_nothing_yet(body, "This step cannot be.", whole->refusal);
    else
        frame.ui.say_nothing_yet(body, "No step of many GPUs yet.", "Its nodes, packets and sums stand here.");
    return {};
}

StepSplit split_step(const Rect& area, int stages) {
    StepSplit s{area, {}};
    if (area.h < 430) return s;
    const float wanted = 84 + 23 * static_cast<float>(std::clamp(stages, 2, 32));
    const float h = std::clamp(wanted, 128.0f, area.h * 0.36f);
    s.picture.h = area.h - h - 8;
    s.strip = {area.x, area.bottom() - h, area.w, h};
    return s;
}

float needs_cluster(const MachineFrame& frame, const Rect& room) {
    return step_of(frame) && room.w < 1000 ? 560 : 0;  // nodes, and the strip with its ruler
}

void draw_step_strip(const MachineFrame& frame, const ClusterStep& step, const Rect& area, int replica, int stage) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    ui.rect(area, t.panel, 4);
    ui.frame(area, t.line, 1, 4);
    const double now = cluster_time(frame.session, step);
    const float gutter = 100;
    StripPlot p;
    p.end = std::max(step.end, 1e-9);
    p.all = {area.x + gutter, area.y + 48, area.w - gutter - 16, area.h - 48 - 32};
    p.pitch = std::min(23.0f, p.all.h / static_cast<float>(step.stages));
    p.bar = p.pitch >= 20 ? 15.0f : p.pitch >= 14 ? p.pitch - 2 : std::max(1.0f, p.pitch - 1);
    p.all.h = p.pitch * static_cast<float>(step.stages);
    float x = ui.text(area.x + 12, area.y + 22,
                      step.replicas > 1 ? fmt::format("The step of replica {}", replica) : std::string("The step"),
                      {.size = 14, .weight = 600}) +
              24;
    if (!step.rings.empty() && area.w > 900) {
        ui.rect({x, area.y + 16, 20, 3}, data::blue);
        x = ui.text(x + 27, area.y + 22, "between the replicas: gradients summed, weights gathered",
                    {.size = 13, .color = t.ink2}) +
            24;
    }
    std::string right = step_time_text(step, step.end);
    if (step.late.replica >= 0) right += fmt::format(", {} of them lost to one GPU", step_time_text(step, step.late.lost));
    if (x + ui.text_width(right, {.size = 13}) < area.right() - 14)
        ui.text(area.right() - 14, area.y + 22, right, {.size = 13, .color = t.ink2, .align = Align::right});
    if (spans_of(step, replica) > most_bars)
        draw_bar_texture(frame, step, p, replica, now);
    else
        draw_bars(frame, step, p, replica, now);
    draw_followed_bars(frame, step, p, replica);
    if (step.stages > 1) draw_phases(ui, step, p, replica);
    const int every = p.pitch >= 13 ? 1 : static_cast<int>(std::ceil(14 / std::max(1.0f, p.pitch)));
    for (int s = 0; s < step.stages; s += every) {
        const bool here = s == stage;
        ui.text(area.x + 12, p.y(s) + std::min(p.pitch, p.bar) / 2 + 4.5f, fmt::format("stage {}", s),
                {.size = 12, .color = here ? t.ink : t.ink2, .weight = here ? 600 : 400});
    }
    draw_ruler(frame, step, p, now, p.all.bottom() + 20);
    if (frame.still) return;
    const Drag drag = ui.drag("step time", {p.all.x, area.y + 30, p.all.w, area.h - 30});
    if (drag.active)
        frame.session.cluster.time = std::clamp(static_cast<double>((drag.at.x - p.all.x) / p.all.w), 0.0, 1.0) * step.end;
}

Color fill_of(const GpuNow& now, const Theme& theme) {
    switch (now.does) {
        case GpuDoes::works:
            return color_of(now.span->work);
        case GpuDoes::late:
            return late_color();
        case GpuDoes::held_up:
            return theme.dark ? rgb(0x6B7480) : rgb(0x8A929E);
        default:
            return theme.dark ? rgb(0x2C3038) : rgb(0xDCE0E6);
    }
}

Hatch texture_hatch_of(StepWork work) {
    switch (work) {
        case StepWork::forward:
            return Hatch::solid;
        case StepWork::backward:
        case StepWork::input:
            return Hatch::vertical;
        case StepWork::weight:
        case StepWork::sum:
            return Hatch::cross;
        case StepWork::recompute:
            return Hatch::diagonal;
        case StepWork::update:
            return Hatch::dots;
        case StepWork::gather:
        case StepWork::other:
            return Hatch::horizontal;
    }
    return Hatch::solid;
}

namespace {

bool on_stroke(Hatch hatch, int x, int y) {
    const int u = x % texel_period, w = y % texel_period;
    switch (hatch) {
        case Hatch::diagonal:
            return (u + w) % texel_period == 0;
        case Hatch::dots:
            return u == 1 && w == 1;
        case Hatch::cross:
            return (u + w) % texel_period == 0 || u == w;
        case Hatch::horizontal:
            return w == 0;
        case Hatch::vertical:
            return u == 0;
        case Hatch::solid:
            return false;
    }
    return false;
}

}  // namespace

Color texel_of(const GpuNow& now, int x, int y, const Theme& theme) {
    const Color fill = fill_of(now, theme);
    if (now.does == GpuDoes::late) return fill;
    if (now.does == GpuDoes::works)
        return on_stroke(texture_hatch_of(now.span->work), x, y) ? mix(fill, data::black, 0.4f) : fill;
    const bool held = now.does == GpuDoes::held_up;
    const Color stroke = held ? fill : idle_color(theme);
    return on_stroke(held ? Hatch::diagonal : Hatch::dots, x, y) ? stroke : mix(theme.panel, stroke, 0.25f);
}

void draw_gpu_cell(Ui& ui, const Rect& cell, const GpuNow& now, bool letters) {
    const Theme& t = *ui.theme;
    const bool works = now.does == GpuDoes::works || now.does == GpuDoes::late;
    if (!works) {
        const bool held = now.does == GpuDoes::held_up;
        const Color color = held ? fill_of(now, t) : idle_color(t);
        if (cell.w < 6 || cell.h < 6) return ui.rect(cell, faded(color, held ? 1.0f : 0.5f));
        ui.rect(cell, faded(color, 0.25f));
        ui.hatch(cell, color, held ? Hatch::diagonal : Hatch::dots);
        return;
    }
    const Color fill = fill_of(now, t);
    ui.rect(cell, fill);
    if (const Hatch twin = hatch_of(now.span->work); twin != Hatch::solid && cell.w >= 6 && now.does == GpuDoes::works)
        ui.hatch(cell, faded(text_on(fill), 0.5f), twin);
    const char text[] = {letter_of(now.span->work), 0};
    if (letters && cell.w >= 11 && cell.h >= 13)
        ui.text(cell.x + cell.w / 2, cell.y + cell.h / 2 + 4.5f, text,
                {.size = 13, .color = text_on(fill), .align = Align::center, .weight = 600});
}

void glow(Ui& ui, const Rect& around) {
    for (const float g : {12.0f, 9.0f, 6.0f, 3.0f})
        ui.rect({around.x - g, around.y - g, around.w + 2 * g, around.h + 2 * g}, faded(late_color(), 0.09f), 8);
}

void packet_tag(Ui& ui, Point centre, std::string_view text, Color fill) {
    const float w = std::max(20.0f, ui.text_width(text, {.size = 12, .weight = 700}) + 9);
    ui.rect({centre.x - w / 2, centre.y - 9, w, 18}, fill, 3);
    ui.text(centre.x, centre.y + 4.5f, text, {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 700});
}

std::string kernel_below(const MachineFrame& frame, const ClusterStep& step) {
    if (frame.scene == nullptr) return "";
    const model::KernelRun& run = *frame.scene->run;
    std::string name = !frame.snapshot.kernel.label.empty() ? frame.snapshot.kernel.label
                       : run.program                        ? run.program->shown_name()
                                                            : std::string("kernel");
    name = name.substr(0, name.find(" ("));  // "fc1 dW (kernel 14 of 18)", "vadd  (your kernel)"
    while (name.ends_with(' ')) name.pop_back();
    if (step.source == ClusterStep::Source::ranks)
        return fmt::format("The kernel below is {}, on one {}.", name, run.gpu.title);
    return fmt::format("The step is {}; the kernel below is {} on {}.",
                       step.source == ClusterStep::Source::planned   ? "planned"
                       : step.source == ClusterStep::Source::trained ? "another run's"
                                                                     : "a schedule in units",
                       name, run.gpu.title);
}

}  // namespace lockstep::gui
