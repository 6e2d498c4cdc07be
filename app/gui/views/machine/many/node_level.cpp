// The machine at the stop of a node: its GPUs, what each does now and how far it is, the switch that joins them with the
// parts of a layer's sum on their way, and the doors to the stages before and after.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/machine/many/cluster_level.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float node_legend = 28, door_width = 132;

struct NodeView {
    const MachineFrame& frame;
    const ClusterStep& step;
    NodePlaces places;
    Rect doors[2];  // from before, and to behind; no width: there is no room
    double now = 0;
    int picked = 0, first = 0, count = 0;  // ranks
    Lights lights = {};
    Ui& ui() const { return frame.ui; }
    const Theme& theme() const { return *frame.ui.theme; }
};

int first_of_node(const ClusterStep& step, int rank) {
    return rank / step.node_gpus * step.node_gpus;
}

std::string joined_by(const ClusterStep& step) {
    if (step.inside.empty()) return "links";
    if (step.inside.starts_with("PCI")) return "PCIe switch: " + step.inside;
    return step.node_gpus >= 8 && step.inside.starts_with("NVLink") ? "NVSwitch: " + step.inside : step.inside;
}

NodeView node_view(const MachineFrame& frame, const ClusterStep& step, const Rect& body) {
    NodeView v{frame, step, {}, {}, cluster_time(frame.session, step), picked_gpu(frame.session, step), 0, 0};
    v.lights = lights_of_step(frame, step);
    v.first = first_of_node(step, v.picked);
    v.count = std::min(step.node_gpus, step.gpus() - v.first);
    Rect middle{body.x + 14, body.y + 10, body.w - 28, body.h - node_legend - 18};
    if (body.w >= 1040 && step.stages > 1) {
        v.doors[0] = {middle.x, middle.y, door_width, middle.h};
        v.doors[1] = {middle.right() - door_width, middle.y, door_width, middle.h};
        middle.x += door_width + 20;
        middle.w -= 2 * door_width + 40;
    }
    v.places = place_node(middle, v.count);
    return v;
}

GpuNow rank_at(const NodeView& v, int rank) {
    return gpu_at(v.step, v.step.replica_of(rank), v.step.stage_of(rank), v.step.gpu_of(rank), v.now);
}

// How far a GPU is: of a pass a piece a layer, of anything else one bar.
void draw_progress(const NodeView& v, const Rect& box, const GpuNow& now, const SumNow& sum) {
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    if (now.span == nullptr) return draw_gpu_cell(ui, box, now, false);
    const Color fill = now.does == GpuDoes::late ? data::vermillion : color_of(now.span->work);
    const Color empty = t.dark ? rgb(0x2A3039) : rgb(0xDFE4EA);
    const bool layers = sum.of > 0 && box.w / static_cast<float>(sum.of) >= 4;
    const int n = layers ? sum.of : 1;
    const float pitch = box.w / static_cast<float>(n), w = pitch - (n > 1 ? 2.0f : 0.0f);
    const bool done = now.does == GpuDoes::held_up;
    const double end = now.span->late_from < 1e299 ? now.span->late_from : now.span->end;
    const double share = std::min(1.0, (v.now - now.span->begin) / std::max(1e-12, end - now.span->begin));
    const bool late = now.does == GpuDoes::late;
    const double at = (late ? 1 - 0.5 / n : share) * n;
    for (int k = 0; k < n; ++k) {
        const Rect piece{box.x + pitch * static_cast<float>(k), box.y, w, box.h};
        const auto filled = static_cast<float>(std::clamp(at - k, 0.0, 1.0));
        ui.rect(piece, empty);
        if (filled <= 0) continue;
        const Rect full{piece.x, piece.y, piece.w * filled, piece.h};
        if (filled < 1 && n > 1) {
            ui.rect(full, faded(fill, 0.35f));
            ui.hatch(full, fill, Hatch::diagonal);
        } else {
            ui.rect(full, done ? mix(empty, fill, 0.45f) : fill);
        }
    }
    if (done) ui.hatch(box, fill_of(now, t), Hatch::diagonal);
}

std::string doing_words(const GpuNow& now, const SumNow& sum) {
    if (now.does == GpuDoes::late) return "late with " + now.span->text();
    if (now.does == GpuDoes::held_up && now.span) return "waits for the late one";
    if (now.span == nullptr) return now.does == GpuDoes::held_up && now.next == nullptr ? "waits" : words_of(now);
    if (now.span->microbatch < 0 || sum.of <= 0) return std::string(name_of(now.span->work));
    return fmt::format("{} of {}, layer {} of {}", now.span->text()[0] == 'F' ? "forward" : "backward",
                       now.span->microbatch + 1, sum.layer + 1, sum.of);
}

void draw_gpu_tile(const NodeView& v, int number) {
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    const Rect& tile = v.places.gpu[static_cast<size_t>(number)];
    const int rank = v.first + number;
    const GpuNow now = rank_at(v, rank);
    const SumNow sum = sum_at(v.step, v.step.stage_of(rank), now);
    const bool late = now.does == GpuDoes::late;
    if (late) glow(ui, tile);
    ui.rect(tile, t.panel2, 4);
    ui.frame(tile, late ? data::vermillion : t.line, late ? 1.5f : 1.0f, 4);
    if (const float flash = now.span != nullptr && now.does == GpuDoes::works ? v.lights.flash(v.now, now.span->begin) : 0;
        flash > 0)
        ui.frame({tile.x - 1, tile.y - 1, tile.w + 2, tile.h + 2}, faded(color_of(now.span->work), flash), 2.5f, 4);
    const float inset = std::min(14.0f, tile.w * 0.08f);
    const std::string name = fmt::format("GPU {}", number);
    float top = tile.y + 8;
    if (tile.w >= 46 && tile.h >= 34) {
        const float end = ui.text(tile.x + inset, tile.y + 21, name, {.size = 14, .weight = 600});
        std::string right = now.span ? now.span->text() : words_of(now);
        if (late) right = "late";
        const TextStyle style{.size = 13,
                              .color = late       ? t.wrong
                                       : now.span ? t.ink
                                                  : t.quiet,
                              .align = Align::right,
                              .weight = now.span ? 600 : 400};
        if (end + 8 + ui.text_width(right, style) <= tile.right() - inset)
            ui.text(tile.right() - inset, tile.y + 21, right, style);
        top = tile.y + 32;
    }
    float bottom = tile.bottom() - 10;
    if (bottom - top > 50 && tile.w >= 110) {
        const std::string words = doing_words(now, sum);
        if (ui.text_width(words, {.size = 12}) <= tile.w - 2 * inset)
            ui.text(tile.x + inset, bottom - 1, words, {.size = 12, .color = t.ink2});
        bottom -= 22;
    }
    if (bottom - top >= 4)
        draw_progress(v, {tile.x + inset, top, tile.w - 2 * inset, std::min(bottom - top, 250.0f)}, now, sum);
    if (v.frame.still) return;
    if (rank == v.picked) ui.outline(tile, -3);
    if (ui.hovered(tile)) {
        ui.tooltip(fmt::format("{}: replica {}, stage {}\n{}\n{}", name, v.step.replica_of(rank), v.step.stage_of(rank),
                               doing_words(now, sum), rank == v.picked ? "click to go in" : "click to look at it"));
        ui.frame(tile, t.ink, 1, 4);
    }
    if (!ui.clicked(tile)) return;
    if (rank == v.picked) zoom_to(v.frame.session, Stop::gpu);
    v.frame.session.machine.rank = rank;
}

// Of the sum that a GPU takes part in: how far its part is, there (to the half) and back. Below 0: none travels.
double sum_share(const NodeView& v, int rank) {
    const GpuNow now = rank_at(v, rank);
    if (now.span == nullptr || now.does != GpuDoes::works) return -1;
    const SumNow sum = sum_at(v.step, v.step.stage_of(rank), now);
    if (sum.on) return sum.share;
    const bool exchanges = now.span->work == StepWork::sum || now.span->work == StepWork::gather;
    if (!exchanges || v.step.group > 1) return -1;
    for (const StepRing& ring : v.step.rings) {
        if (ring.round_at(v.now) < 0) continue;
        const double rounds = (v.now - ring.begin) / (ring.end - ring.begin) * ring.rounds;
        return rounds - std::floor(rounds);
    }
    return now.share;
}

void draw_wires(const NodeView& v) {
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    for (size_t i = 0; i < v.places.gpu.size(); ++i) {
        const Rect& tile = v.places.gpu[i];
        const bool above = v.places.above(i);
        const float gpu_end = above ? tile.bottom() : tile.y, bar_end = above ? v.places.bar.y : v.places.bar.bottom();
        const float out = tile.x + tile.w * 0.36f, back = tile.x + tile.w * 0.64f;
        for (const float x : {out, back}) ui.line({x, gpu_end}, {x, bar_end}, t.ink3, 1.5f);
        const double share = sum_share(v, v.first + static_cast<int>(i));
        const GpuNow now = rank_at(v, v.first + static_cast<int>(i));
        const bool parked = now.does == GpuDoes::held_up && now.span != nullptr;  // its part waits for the late one's
        if (share < 0 && !parked) continue;
        const float to_bar = bar_end - gpu_end;
        const float r = std::clamp(std::fabs(to_bar) * 0.14f, 3.0f, 6.0f), reach = std::fabs(to_bar) - 2 * r;
        const float sign = to_bar > 0 ? 1.0f : -1.0f;
        if (share < 0.5) {
            ui.circle({out, gpu_end + sign * (r + reach * static_cast<float>(parked ? 1 : share * 2))}, r, data::sky);
        } else {
            const Point at{back, bar_end - sign * (r + reach * static_cast<float>(share * 2 - 1))};
            ui.circle(at, r, t.panel);
            ui.ring(at, r, data::sky, 2);
        }
    }
}

std::string sum_words(const NodeView& v) {
    const ClusterStep& s = v.step;
    if (s.sums.a_layer > 0)
        return fmt::format("{} parts of {}, summed {} a layer", s.group, bytes_si(s.sums.part_bytes),
                           s.sums.a_layer == 2 ? "twice" : fmt::format("{} times", s.sums.a_layer));
    for (const StepRing& ring : s.rings)
        if (const int round = ring.round_at(v.now); round >= 0)
            return fmt::format("{} in a ring of {}, step {} of {}", ring.gathers ? "weights gathered" : "gradients summed",
                               s.replicas, round + 1, ring.rounds);
    return s.replicas > 1 && s.stages * s.group == 1 ? "gradients are summed here after backward" : "";
}

void draw_bar(const NodeView& v) {
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    const Rect& bar = v.places.bar;
    ui.rect(bar, mix(t.panel, data::sky, t.dark ? 0.12f : 0.16f), 4);
    ui.frame(bar, t.line, 1, 4);
    const float y = bar.y + bar.h / 2 + 5;
    const float end = ui.text(bar.x + 14, y, joined_by(v.step), {.size = 14, .weight = 600});
    const std::string words = sum_words(v);
    if (end + 16 + ui.text_width(words, {.size = 13}) < bar.right() - 12)
        ui.text(bar.right() - 12, y, words, {.size = 13, .color = t.ink2, .align = Align::right});
}

// What stands at the door to the stage before or behind, or travels there.
void draw_door(const NodeView& v, bool behind) {
    const Rect& r = v.doors[behind ? 1 : 0];
    if (r.w <= 0) return;
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    const int replica = v.step.replica_of(v.picked), stage = v.step.stage_of(v.picked), other = stage + (behind ? 1 : -1);
    const bool there = other >= 0 && other < v.step.stages;
    ui.text(r.x, r.y + 14,
            there    ? fmt::format("stage {}", other)
            : behind ? "the loss"
                     : "the data",
            {.size = 13, .weight = 600});
    if (there)
        ui.text(r.x, r.y + 32, v.step.between.empty() ? "" : v.step.between, {.size = 12, .color = t.quiet, .width = r.w});
    float y = r.y + 56;
    for (const uint32_t i : packets_at(v.step, replica, v.now)) {
        const StepPacket& packet = v.step.column(replica).packets[i];
        const bool comes = packet.from == other && packet.to == stage, leaves = packet.from == stage && packet.to == other;
        if ((!comes && !leaves) || y > r.bottom() - 30) continue;
        packet_tag(ui, {r.x + 16, y}, packet.text(), packet.gradient ? data::green : data::sky);
        const FollowedPacket here = packet.microbatch >= 0
                                        ? FollowedPacket{FollowedPacket::Kind::microbatch, replica, packet.microbatch, -1}
                                        : FollowedPacket{FollowedPacket::Kind::message, replica, static_cast<int>(i), -1};
        const Rect row{r.x - 2, y - 11, r.w + 4, 31};
        if (v.frame.session.machine.packet == here) ui.outline({r.x + 1, y - 9, 30, 18}, -3);
        if (!v.frame.still && ui.hovered(row)) {
            ui.tooltip("click to follow it");
            if (ui.clicked(row)) follow(v.frame, here);
        }
        const double share = way_of(packet, v.now, 0);
        const bool waits = share >= 1;
        ui.text(
            r.x + 38, y + 4.5f,
            waits ? (comes ? "is here" : "is there") : fmt::format("{} {:.0f} %", comes ? "comes" : "leaves", 100 * share),
            {.size = 12, .color = t.ink2});
        const Rect way{r.x, y + 14, r.w, 4};
        ui.rect(way, t.grid);
        const auto f = static_cast<float>(share) * way.w;
        const bool leftward = comes == behind;
        ui.rect({leftward ? way.right() - f : way.x, way.y, f, 4}, packet.gradient ? data::green : data::sky);
        y += 40;
    }
    if (y == r.y + 56 && there) ui.text(r.x, y + 4, "nothing on its way", {.size = 12, .color = t.quiet});
}

void draw_node_legend(const NodeView& v, const Rect& r) {
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    const float y = r.y + 19;
    float x = r.x + 14;
    const auto word = [&](std::string_view text) { x = ui.text(x, y, text, {.size = 13, .color = t.ink2}) + 18; };
    ui.circle({x + 5, y - 5}, 5, data::sky);
    x += 18;
    word("part of a sum going");
    ui.ring({x + 5, y - 5}, 5, data::sky, 2);
    x += 18;
    word("coming back summed");
    const auto box = [&](const GpuNow& now, std::string_view text, bool letter) {
        if (x + 26 + ui.text_width(text, {.size = 13}) > r.right() - 12) return;
        draw_gpu_cell(ui, {x, y - 14, 18, 18}, now, letter);
        x += 25;
        word(text);
    };
    const StepSpan forward{StepWork::forward}, backward{StepWork::backward};
    box({GpuDoes::works, &forward, nullptr, 0}, "forward", true);
    box({GpuDoes::works, &backward, nullptr, 0}, "backward", true);
    if (v.step.late.replica >= 0) box({GpuDoes::held_up, nullptr, nullptr, 0}, "waits for the late one", false);
    box({}, "idle", false);
    if (x + 22 + ui.text_width("the GPU below", {.size = 13}) > r.right() - 12) return;
    ui.outline({x + 2, y - 12, 14, 14}, 0);
    x += 25;
    word("the GPU below");
}

}  // namespace

void draw_node(const MachineFrame& frame, const Rect& area) {
    const auto step = step_of(frame);
    const StepSplit parts = step ? split_step(area, step->stages) : StepSplit{area, {}};
    std::string right;
    if (step) {
        const int picked = picked_gpu(frame.session, *step), stage = step->stage_of(picked);
        right = fmt::format("replica {}, stage {}", step->replica_of(picked), stage);
        const auto s = static_cast<size_t>(stage);
        if (s < step->layers.size() && !step->layers[s].empty()) right += ", layers " + step->layers[s];
        if (!step->gpu_title.empty()) right += ", " + step->gpu_title;
    }
    const Rect body = step_panel(frame, parts.picture, Stop::node, right);
    if (!step || body.w <= 0) return;
    const NodeView v = node_view(frame, *step, body);
    draw_wires(v);
    draw_bar(v);
    for (int i = 0; i < v.count; ++i) draw_gpu_tile(v, i);
    draw_door(v, false);
    draw_door(v, true);
    draw_node_legend(v, {body.x, body.bottom() - node_legend, body.w, node_legend});
    if (parts.strip.h > 0) draw_step_foot(frame, *step, parts.strip, v.picked);
}

Rect inside_node(const MachineFrame& frame, const Rect& area) {
    const auto step = step_of(frame);
    if (!step) return area;
    const Rect body = step_panel(frame, split_step(area, step->stages).picture, Stop::node, "", false);
    const NodeView v = node_view(frame, *step, body);
    return v.places.gpu[static_cast<size_t>(v.picked - v.first)];
}

std::string node_label(const MachineFrame& frame) {
    const auto step = step_of(frame);
    return step ? fmt::format("node {}", with_commas(picked_gpu(frame.session, *step) / step->node_gpus)) : "node";
}
std::string node_detail(const MachineFrame& frame) {
    const auto step = step_of(frame);
    return step ? counted(step->node_gpus, "GPU") : "";
}

std::string node_sentence(const MachineFrame& frame) {
    const auto step = step_of(frame);
    if (!step) return "";
    const int picked = picked_gpu(frame.session, *step), first = first_of_node(*step, picked);
    const int count = std::min(step->node_gpus, step->gpus() - first);
    const double now = cluster_time(frame.session, *step);
    int works = 0, late = 0, waits = 0;
    for (int rank = first; rank < first + count; ++rank) {
        const GpuNow at = gpu_at(*step, step->replica_of(rank), step->stage_of(rank), step->gpu_of(rank), now);
        ++(at.does == GpuDoes::works ? works : at.does == GpuDoes::late ? late : waits);
    }
    std::string text;
    if (late > 0)
        text = fmt::format("GPU {} is late with {}, and the {} others wait: none can go on without its part of the sum.",
                           step->late.gpu, step->late.what, waits);
    else if (works == 0)
        text = fmt::format("All {} GPUs of this node wait.", count);
    else if (step->group > 1 && step->sums.a_layer == 2)
        text = fmt::format("{} GPUs share every layer and add up their parts, twice a layer in each pass.", step->group);
    else
        text = fmt::format("{} of {} GPUs of this node work.", works, count);
    if (const std::string followed = followed_sentence(*step, followed_way(frame, *step), now); !followed.empty())
        text = followed;
    const std::string below = kernel_below(frame, *step);
    return text + (below.empty() ? "" : " " + below);
}

std::string node_described(const MachineFrame& frame) {
    const auto step = step_of(frame);
    if (!step) return "no step of many GPUs yet\n";
    const int picked = picked_gpu(frame.session, *step), first = first_of_node(*step, picked);
    const double now = cluster_time(frame.session, *step);
    std::string text = fmt::format("{}\n{} of {}; joined by {}\n", step->title, step_time_text(*step, now),
                                   step_time_text(*step, step->end), joined_by(*step));
    for (int rank = first; rank < std::min(first + step->node_gpus, step->gpus()); ++rank) {
        const GpuNow at = gpu_at(*step, step->replica_of(rank), step->stage_of(rank), step->gpu_of(rank), now);
        const SumNow sum = sum_at(*step, step->stage_of(rank), at);
        text += fmt::format("GPU {}{}: {}{}\n", rank - first, rank == picked ? " (looked at)" : "", doing_words(at, sum),
                            sum.on ? fmt::format(", its part of the sum {}", sum.share < 0.5 ? "goes" : "comes back") : "");
    }
    if (const std::string followed = followed_sentence(*step, followed_way(frame, *step), now); !followed.empty())
        text += "followed: " + followed + "\n";
    return text;
}

}  // namespace lockstep::gui
