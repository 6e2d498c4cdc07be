// The machine at the stop of a cluster: nodes by replica and stage, what their GPUs do, packets of activations and gradients
// between them, rings that sum the gradients over the replicas, and who waits for whom. Below it the step over time.
#include "app/gui/views/machine/many/cluster_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/cluster/collective_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float cluster_legend = 28;
constexpr double least_on_screen = 0.25;  // seconds of a packet

struct ClusterView {  // of one frame
    const MachineFrame& frame;
    const ClusterStep& step;
    ClusterPlaces places;
    double now = 0, least = 0;  // least: of a packet's way, in the step's time
    int picked = 0;
    Ui& ui() const { return frame.ui; }
    const Theme& theme() const { return *frame.ui.theme; }
};

ClusterPlaces places_of(const ClusterStep& step, const Rect& body) {
    return place_cluster({body.x, body.y, body.w, body.h - cluster_legend}, step.replicas, step.stages, step.group);
}

std::string node_name(const ClusterStep& step, int replica, int stage) {
    const int first = step.rank_of(replica, stage, 0);
    if (step.group % step.node_gpus == 0)
        return step.group == step.node_gpus
                   ? fmt::format("node {}", with_commas(first / step.node_gpus))
                   : fmt::format("nodes {}-{}", first / step.node_gpus, (first + step.group - 1) / step.node_gpus);
    return step.group == 1 ? fmt::format("GPU {}", first) : fmt::format("GPUs {}-{}", first, first + step.group - 1);
}

void draw_heads(const ClusterView& v) {
    Ui& ui = v.ui();
    const ClusterPlaces& p = v.places;
    const Theme& t = v.theme();
    if (p.wide > 0) return;
    for (int stage = 0; stage < p.stages; ++stage) {
        const Rect tile = p.tile(0, stage);
        const std::string text = fmt::format("stage {}", stage);
        const float w = ui.text_width(text, {.size = 13, .weight = 600});
        const float room = std::max(tile.w, p.pitch_x - 4);
        if (w > room) {
            if (stage % 8 == 0 || p.pitch_x > 20)
                ui.text(tile.x + tile.w / 2, p.top - 12, std::to_string(stage),
                        {.size = 12, .color = t.ink2, .align = Align::center});
            continue;
        }
        ui.text(tile.x, p.top - 12, text, {.size = 13, .weight = 600});
        const auto s = static_cast<size_t>(stage);
        if (s >= v.step.layers.size() || v.step.layers[s].empty()) continue;
        const std::string layers = "layers " + v.step.layers[s];
        if (w + 6 + ui.text_width(layers, {.size = 12}) <= tile.w)
            ui.text(tile.right(), p.top - 12, layers, {.size = 12, .color = t.quiet, .align = Align::right});
    }
    const Rect grid = p.grid();
    if (p.pitch_y >= 34) {
        for (int replica = 0; replica < p.replicas; ++replica) {
            const Rect tile = p.tile(replica, 0);
            const float y = tile.y + tile.h / 2;
            if (p.pitch_y >= 50) {
                ui.text(p.all.x + 12, y - 4, "replica", {.size = 13, .color = t.ink2});
                ui.text(p.all.x + 12, y + 18, std::to_string(replica), {.size = 18, .weight = 600});
            } else {
                ui.text(p.all.x + 12, y + 5, fmt::format("replica {}", replica), {.size = 13, .color = t.ink2});
            }
        }
    } else {
        ui.text(p.all.x + 12, grid.y + 20, with_commas(p.replicas), {.size = 18, .weight = 600});
        ui.text(p.all.x + 12, grid.y + 38, "replicas", {.size = 13, .color = t.ink2});
    }
}

void draw_links(const ClusterView& v) {
    const ClusterPlaces& p = v.places;
    if (p.pitch_x - p.tile_w < 14 || p.wide > 0 || p.detail == TileDetail::texture) return;
    const Color line = v.theme().line, head = v.theme().ink3;
    for (int replica = 0; replica < p.replicas; ++replica)
        for (int stage = 0; stage + 1 < p.stages; ++stage)
            for (const bool gradient : {false, true}) {
                const auto way = gradient ? packet_way(p, replica, stage + 1, stage, true)
                                          : packet_way(p, replica, stage, stage + 1, false);
                v.ui().line(way[0], way[1], line, 1.5f);
                v.ui().arrow_head(way[1], gradient ? Way::left : Way::right, head, 5);
            }
}

// Of a tile: its frame, its head, its cells, and how far it is in what it does.
void draw_node_tile(const ClusterView& v, int replica, int stage) {
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    const ClusterPlaces& p = v.places;
    const Rect tile = p.tile(replica, stage);
    const GpuNow now = stage_at(v.step, replica, stage, v.now);
    const bool has_late = replica == v.step.late.replica && stage == v.step.late.stage && v.now >= v.step.late.from &&
                          v.now < v.step.late.until;
    const bool sums = std::any_of(v.step.rings.begin(), v.step.rings.end(), [&](const StepRing& ring) {
        return ring.stage == stage && v.now >= ring.begin && v.now < ring.end;
    });
    const Color warm = t.dark ? rgb(0xFF9A5C) : rgb(0xB34700);
    if (has_late) glow(ui, tile);
    ui.rect(tile, t.panel2, p.headed ? 4.0f : 0.0f);
    if (p.headed || has_late)
        ui.frame(tile,
                 has_late ? data::vermillion
                 : sums   ? data::blue
                          : t.line,
                 has_late || sums ? 1.5f : 1.0f, p.headed ? 4.0f : 0.0f);
    if (p.headed) {
        const float base = tile.y + 16 * p.scale;
        const float end =
            ui.text(tile.x + 8 * p.scale, base, node_name(v.step, replica, stage), {.size = 12, .weight = 600});
        std::string words = has_late ? "late with " + now.span->text() : words_of(now);
        const TextStyle style{.size = 12,
                              .color = has_late || now.does == GpuDoes::held_up ? warm
                                       : now.span                               ? t.ink
                                                                                : t.quiet,
                              .align = Align::right,
                              .weight = now.span ? 600 : 400};
        const float room = tile.right() - 8 * p.scale - end - 5;
        if (ui.text_width(words, style) > room)
            words = has_late ? "late" : now.next && !now.span ? "for " + now.next->text() : "";
        if (ui.text_width(words, style) <= room) ui.text(tile.right() - 8 * p.scale, base, words, style);
        const Rect bar{tile.x + 8 * p.scale, tile.bottom() - 6 * p.scale, tile.w - 16 * p.scale, 2};
        ui.rect(bar, t.line);
        if (now.span) ui.rect({bar.x, bar.y, bar.w * static_cast<float>(now.share), 2}, t.ink2);
    }
    const bool letters = p.detail >= TileDetail::letters;
    for (int gpu = 0; gpu < p.group; ++gpu) {
        const GpuNow cell = gpu_at(v.step, replica, stage, gpu, v.now);
        const Rect box = p.cell(replica, stage, gpu);
        if (cell.does == GpuDoes::late)
            for (const float g : {7.0f, 5.0f, 3.0f})
                ui.rect({box.x - g, box.y - g, box.w + 2 * g, box.h + 2 * g}, faded(data::vermillion, 0.22f), 5);
        draw_gpu_cell(ui, box, cell, letters);
    }
}

// Tiles that are too small: a line of pixels a row of them.
void draw_node_texture(const ClusterView& v) {
    const ClusterPlaces& p = v.places;
    const Theme& t = v.theme();
    const Rect grid = p.grid();
    const int w = std::clamp(static_cast<int>(grid.w), 1, 2600), h = std::clamp(p.rows(), 1, 4096);
    const uint64_t version = std::bit_cast<uint64_t>(v.now) ^ (static_cast<uint64_t>(w) << 40) ^
                             (static_cast<uint64_t>(h) << 20) ^ t.panel ^ std::bit_cast<uintptr_t>(&v.step);
    const auto line_of = [&](int row) {
        std::vector<Color> line(static_cast<size_t>(w), t.panel);
        for (int i = 0; i < p.across(); ++i) {
            const int replica = p.wide > 0 ? row * p.wide + i : row, stage = p.wide > 0 ? 0 : i;
            if (replica >= p.replicas) break;
            const Rect tile = p.tile(replica, stage);
            const int from = std::max(0, static_cast<int>(tile.x - grid.x)),
                      to = std::min(w, std::max(from + 1, static_cast<int>(tile.right() - grid.x)));
            for (int x = from; x < to; ++x) {
                const int gpu = std::min(p.group - 1, (x - from) * p.group / std::max(1, to - from));
                line[static_cast<size_t>(x)] = fill_of(gpu_at(v.step, replica, stage, gpu, v.now), t);
            }
        }
        return line;
    };
    v.ui().picture("nodes", version, w, h, grid, [&](std::span<Color> pixels) {
        std::vector<std::vector<Color>> known(v.step.columns.size());  // replicas of a column do the same
        for (int row = 0; row < h; ++row) {
            std::vector<Color> line;
            if (p.wide > 0) {
                line = line_of(row);
            } else {
                std::vector<Color>& column = known[v.step.column_of[static_cast<size_t>(row)]];
                if (column.empty()) column = line_of(row);
                line = column;
            }
            std::copy(line.begin(), line.end(), pixels.begin() + static_cast<std::ptrdiff_t>(row) * w);
        }
    });
}

void draw_packets(const ClusterView& v) {
    const ClusterPlaces& p = v.places;
    if (p.detail != TileDetail::packets || p.pitch_x - p.tile_w < 14) return;
    for (int replica = 0; replica < p.replicas; ++replica) {
        const StepColumn& column = v.step.column(replica);
        std::vector<std::pair<int, int>> seen;  // one a way: the one that is farthest
        for (const uint32_t i : packets_at(v.step, replica, v.now)) {
            const StepPacket& packet = column.packets[i];
            if (std::find(seen.begin(), seen.end(), std::pair(packet.from, packet.to)) != seen.end()) continue;
            seen.emplace_back(packet.from, packet.to);
            const auto way = packet_way(p, replica, packet.from, packet.to, packet.gradient);
            const double share = way_of(packet, v.now, v.least);
            const Color color = packet.gradient ? data::green : data::sky;
            const float half = 15;
            Point at = along(way, share);
            if (way.size() == 2) {  // whole between the doors
                const float low = std::min(way[0].x, way[1].x) + half + 1, high = std::max(way[0].x, way[1].x) - half - 1;
                at.x = low < high ? low + (high - low) * static_cast<float>(packet.gradient ? 1 - share : share)
                                  : (way[0].x + way[1].x) / 2;
                if (share < 1)
                    for (int q = 0; q < 2; ++q) {
                        const float x = packet.gradient ? at.x + half + 3 + 6 * static_cast<float>(q)
                                                        : at.x - half - 6 - 6 * static_cast<float>(q);
                        if (x > low - half && x < high + half - 3)
                            v.ui().rect({x, at.y - 1.5f, 4, 3}, faded(color, 0.5f - 0.2f * static_cast<float>(q)));
                    }
            }
            packet_tag(v.ui(), at, packet.text(), color);
            if (!v.frame.still && v.ui().hovered({at.x - half, at.y - 9, 2 * half, 18}))
                v.ui().tooltip(fmt::format("{} of {}, stage {} to {}: sent at {}, there at {}, taken at {}",
                                           packet.gradient ? "gradients" : "activations", packet.text(), packet.from,
                                           packet.to, step_time_text(v.step, packet.sent),
                                           step_time_text(v.step, packet.arrives), step_time_text(v.step, packet.taken)));
        }
    }
}

// In round k of a ring member r sends chunk r - k on.
void draw_rings(const ClusterView& v) {
    const ClusterPlaces& p = v.places;
    Ui& ui = v.ui();
    if (p.detail < TileDetail::letters || p.replicas < 2 || (p.wide == 0 && p.pitch_y - p.tile_h < 14)) return;
    for (const StepRing& ring : v.step.rings) {
        const int round = ring.round_at(v.now);
        if (round < 0) continue;
        const double each = (ring.end - ring.begin) / ring.rounds, share = (v.now - ring.begin) / each - round;
        for (int replica = 0; replica < p.replicas; ++replica) {
            const auto way = ring_way(p, ring.stage, replica);
            ui.polyline(way, data::blue, 2);
            const Point tip = way.back(), before = way[way.size() - 2];
            const Way to = std::fabs(tip.x - before.x) > std::fabs(tip.y - before.y)
                               ? (tip.x > before.x ? Way::right : Way::left)
                               : (tip.y > before.y ? Way::down : Way::up);
            ui.arrow_head(tip, to, data::blue, 5);
            const int n = p.replicas, chunk = ((replica - round) % n + n) % n;
            Point at = along(way, share);
            if (way.size() == 2 && p.wide == 0 && way[1].y - way[0].y > 18)
                at.y = way[0].y + 9 + (way[1].y - way[0].y - 18) * static_cast<float>(share);
            packet_tag(ui, at, chunk_name(chunk, n), data::blue);
        }
    }
}

void draw_late_words(const ClusterView& v) {
    const LateGpu& late = v.step.late;
    if (late.replica < 0 || v.now < late.from || v.now >= late.until) return;
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    const Rect tile = v.places.tile(late.replica, late.stage);
    if (v.places.detail == TileDetail::texture)
        glow(ui, {tile.x, tile.y - 2, tile.w, tile.h + 4}), ui.rect(tile, data::vermillion);
    const std::string text =
        fmt::format("GPU {} is {} late with {}{}", late.gpu, step_time_text(v.step, v.now - late.from), late.what,
                    v.step.group > 1 ? fmt::format(", {} neighbour{} wait{}", v.step.group - 1, v.step.group == 2 ? "" : "s",
                                                   v.step.group == 2 ? "s" : "")
                                     : "");
    const float w = ui.text_width(text, {.size = 13, .weight = 600}) + 24;
    const float gap = v.places.pitch_y - v.places.tile_h;
    Rect box{std::clamp(tile.x + tile.w / 2 - w / 2, v.places.all.x + 4, v.places.all.right() - w - 4), tile.bottom() + 4, w,
             25};
    if (gap < 30 && v.places.detail != TileDetail::texture) return;  // the caption says it
    if (gap < 30) box.y = tile.bottom() + 14;
    if (box.bottom() > v.places.all.bottom()) box.y = tile.y - 29;
    const Color warm = t.dark ? rgb(0xFF9A5C) : rgb(0xB34700);
    ui.rect(box, t.dark ? rgb(0x33211A) : rgb(0xFFF4EC), 4);
    ui.frame(box, data::vermillion, 1.25f, 4);
    ui.text(box.x + 12, box.y + 17, text, {.size = 13, .color = warm, .weight = 600});
}

void offer_plans(const ClusterView& v, const Rect& r, float x) {
    if (v.step.source != ClusterStep::Source::planned && v.step.source != ClusterStep::Source::units) return;
    Ui& ui = v.ui();
    float w = ui.text_width("plan", {.size = 13}) + 10;
    for (const scene::PublishedPlan& plan : scene::published_plans()) w += ui.chip_width(plan.name) + 6;
    float at = r.right() - w - 8;
    if (at < x + 12) return;
    at = ui.text(at, r.y + 19, "plan", {.size = 13, .color = v.theme().quiet}) + 10;
    for (const scene::PublishedPlan& plan : scene::published_plans()) {
        const scene::PlanSetup setup = scene::within_limits(plan.setup());
        scene::ClusterSetup wanted = cluster_setup(v.frame.session);
        if (!ui.chip(at, r.y + 1, plan.name, wanted.plan == setup) || v.frame.still || wanted.plan == setup) continue;
        wanted.training.on = false;
        wanted.plan = setup;
        v.frame.session.cluster.time = -1;
        v.frame.session.machine.rank = -1;
        ask_cluster(v.frame.session, wanted);
    }
}

void draw_cluster_legend(const ClusterView& v, const Rect& r) {
    Ui& ui = v.ui();
    const float y = r.y + 19, room = r.right() - 12;
    float x = r.x + 12;
    const auto key = [&](const GpuNow& now, std::string_view words, bool letter) {
        if (x + 30 + ui.text_width(words, {.size = 13}) > room) return;
        draw_gpu_cell(ui, {x, y - 14, 18, 18}, now, letter);
        x = ui.text(x + 25, y, words, {.size = 13, .color = v.theme().ink2}) + 18;
    };
    bool used[16] = {};
    for (const StepColumn& column : v.step.columns)
        for (const StepLane& lane : column.lanes)
            for (const StepSpan& span : lane.spans) used[static_cast<size_t>(span.work)] = true;
    for (const StepWork work : {StepWork::forward, StepWork::backward, StepWork::input, StepWork::weight, StepWork::sum,
                                StepWork::update, StepWork::gather}) {
        if (!used[static_cast<size_t>(work)]) continue;
        const StepSpan span{work};
        key({GpuDoes::works, &span, nullptr, 0}, name_of(work), true);
    }
    if (v.step.late.replica >= 0) key({GpuDoes::held_up, nullptr, nullptr, 0}, "waits for the late one", false);
    key({}, "idle", false);
    if (v.places.detail == TileDetail::packets && v.step.stages > 1) {
        const auto tag = [&](std::string_view text, Color color, std::string_view words) {
            if (x + 40 + ui.text_width(words, {.size = 13}) > room) return;
            packet_tag(ui, {x + 15, y - 5}, text, color);
            x = ui.text(x + 37, y, words, {.size = 13, .color = v.theme().ink2}) + 16;
        };
        tag("F2", data::sky, "activations");
        tag("B1", data::green, "their gradients");
    }
    offer_plans(v, r, x);
}

void choose_in_cluster(const ClusterView& v) {
    if (v.frame.still) return;
    Ui& ui = v.ui();
    const int replica = v.places.replica_at(ui.mouse), stage = v.places.stage_at(ui.mouse);
    if (replica < 0 || stage < 0 || !ui.hovered(v.places.grid())) return;
    const Rect tile = v.places.tile(replica, stage);
    int gpu = v.step.gpu_of(v.picked);
    for (int g = 0; g < v.places.group; ++g)
        if (v.places.detail >= TileDetail::cells && v.places.cell(replica, stage, g).contains(ui.mouse)) gpu = g;
    const int rank = v.step.rank_of(replica, stage, gpu);
    const GpuNow now = gpu_at(v.step, replica, stage, gpu, v.now);
    ui.frame(tile, v.theme().ink, 1, v.places.headed ? 4.0f : 0.0f);
    const bool here = v.step.stage_of(v.picked) == stage && v.step.replica_of(v.picked) == replica;
    ui.tooltip(fmt::format("{}: replica {}, stage {}\nGPU {}: {}\n{}", node_name(v.step, replica, stage), replica, stage,
                           rank % v.step.node_gpus, words_of(now), here ? "click to go in" : "click to look at it"));
    if (!ui.clicked(tile)) return;
    if (here) zoom_to(v.frame.session, Stop::node);
    v.frame.session.machine.rank = rank;
}

ClusterView view_of(const MachineFrame& frame, const ClusterStep& step, const Rect& body) {
    return {frame,
            step,
            places_of(step, body),
            cluster_time(frame.session, step),
            frame.session.playing ? least_on_screen * cluster_speed(frame.session, step) : 0,
            picked_gpu(frame.session, step)};
}

struct ClusterCounts {
    int64_t works = 0, idle = 0, late = 0, held_up = 0;
    std::vector<int> stuck;  // stages of the late one's replica that wait for it, itself left out
};
ClusterCounts counts_of(const ClusterStep& step, double now) {
    ClusterCounts counts;
    for (int replica = 0; replica < step.replicas; ++replica)
        for (int stage = 0; stage < step.stages; ++stage) {
            const GpuNow at = stage_at(step, replica, stage, now);
            const bool late_here = at.span != nullptr && at.does == GpuDoes::held_up;
            (at.does == GpuDoes::works     ? counts.works
             : at.does == GpuDoes::held_up ? counts.held_up
                                           : counts.idle) += step.group;
            if (late_here) ++counts.late, --counts.held_up;
            if (at.does == GpuDoes::held_up && !at.span && replica == step.late.replica) counts.stuck.push_back(stage);
        }
    return counts;
}

std::string listed(const std::vector<int>& numbers) {
    std::string text;
    for (size_t i = 0; i < numbers.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ", numbers[i]);
    return text;
}

std::string what_happens(const ClusterStep& step, double now) {
    const ClusterCounts counts = counts_of(step, now);
    if (counts.late > 0) {
        std::string text =
            fmt::format("One late GPU of {} holds up its {} neighbours", with_commas(step.gpus()), step.group - 1);
        if (!counts.stuck.empty())
            text +=
                fmt::format(", then stage{} {} of its replica", counts.stuck.size() == 1 ? "" : "s", listed(counts.stuck));
        if (step.replicas > 1) text += ", and later the other replicas";
        return text + ".";
    }
    std::string text = fmt::format("{} of {} GPUs work, {} wait", with_commas(counts.works), with_commas(step.gpus()),
                                   with_commas(counts.idle + counts.held_up));
    if (counts.held_up > 0) text += fmt::format(", {} of them for the late one", with_commas(counts.held_up));
    for (const StepRing& ring : step.rings) {
        const int round = ring.round_at(now);
        if (round < 0) continue;
        return text + fmt::format("; the {} replicas of stage {} {} in a ring, step {} of {}.", step.replicas, ring.stage,
                                  ring.gathers ? "gather their weights" : "sum their gradients", round + 1, ring.rounds);
    }
    return text + ".";
}

}  // namespace

void draw_cluster(const MachineFrame& frame, const Rect& area) {
    const auto step = step_of(frame);
    const StepSplit parts = step ? split_step(area, step->stages) : StepSplit{area, {}};
    const Rect body = step_panel(frame, parts.picture, Stop::cluster, step ? std::string_view(step->title) : "");
    if (!step || body.w <= 0) return;
    const ClusterView v = view_of(frame, *step, body);
    draw_heads(v);
    draw_links(v);
    if (v.places.detail == TileDetail::texture)
        draw_node_texture(v);
    else
        for (int replica = 0; replica < v.places.replicas; ++replica)
            for (int stage = 0; stage < v.places.stages; ++stage) draw_node_tile(v, replica, stage);
    draw_packets(v);
    draw_rings(v);
    if (!frame.still)  // on its way the zoom outlines it
        frame.ui.outline(v.places.tile(step->replica_of(v.picked), step->stage_of(v.picked)), -2);
    draw_late_words(v);
    draw_cluster_legend(v, {body.x, body.bottom() - cluster_legend, body.w, cluster_legend});
    choose_in_cluster(v);
    if (parts.strip.h > 0) draw_step_strip(frame, *step, parts.strip, step->replica_of(v.picked), step->stage_of(v.picked));
}

Rect inside_cluster(const MachineFrame& frame, const Rect& area) {
    const auto step = step_of(frame);
    if (!step) return area;
    const Rect body = step_panel(frame, split_step(area, step->stages).picture, Stop::cluster, "", false);
    const int picked = picked_gpu(frame.session, *step);
    return places_of(*step, body).tile(step->replica_of(picked), step->stage_of(picked));
}

std::string cluster_label(const MachineFrame&) {
    return "cluster";
}
std::string cluster_detail(const MachineFrame& frame) {
    const auto step = frame.session.cluster_step(frame.snapshot);
    return step && step->refusal.empty() ? fmt::format("{} GPUs", with_commas(step->gpus())) : "";
}

std::string cluster_sentence(const MachineFrame& frame) {
    const auto step = step_of(frame);
    if (!step) return "";
    const std::string below = kernel_below(frame, *step);
    return what_happens(*step, cluster_time(frame.session, *step)) + (below.empty() ? "" : " " + below);
}

std::string cluster_described(const MachineFrame& frame) {
    const auto step = step_of(frame);
    if (!step) return "no step of many GPUs yet\n";
    const double now = cluster_time(frame.session, *step);
    const ClusterCounts counts = counts_of(*step, now);
    std::string text =
        fmt::format("{}\n{} of {}; {} replicas x {} stages x {} GPUs, {} nodes\n", step->title, step_time_text(*step, now),
                    step_time_text(*step, step->end), step->replicas, step->stages, step->group, with_commas(step->nodes()));
    text += fmt::format("{} GPUs work, {} idle, {} late, {} wait for the late one\n", with_commas(counts.works),
                        with_commas(counts.idle), counts.late, with_commas(counts.held_up));
    const int replica = step->replica_of(picked_gpu(frame.session, *step));
    for (int stage = 0; stage < step->stages; ++stage)
        text += fmt::format("replica {}, stage {}: {}\n", replica, stage, words_of(stage_at(*step, replica, stage, now)));
    for (const uint32_t i : packets_at(*step, replica, now)) {
        const StepPacket& packet = step->column(replica).packets[i];
        text += fmt::format("{} {} stage {} to {}: {}\n", packet.gradient ? "gradients" : "activations", packet.text(),
                            packet.from, packet.to,
                            now < packet.arrives ? fmt::format("{:.0f} % of the way", 100 * way_of(packet, now, 0))
                                                 : std::string("at the door"));
    }
    for (const StepRing& ring : step->rings)
        if (const int round = ring.round_at(now); round >= 0)
            text += fmt::format("stage {}: {}, step {} of {}\n", ring.stage,
                                ring.gathers ? "weights gathered" : "gradients summed", round + 1, ring.rounds);
    return text;
}

}  // namespace lockstep::gui
