// The machine at the stop of a cluster: nodes by replica and stage, what their GPUs do, packets of activations and gradients
// between them, rings that sum the gradients over the replicas, and who waits for whom. Below it the step over time.
#include "app/gui/views/machine/many/cluster_level.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/collective/collective_data.h"
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
    StepWay way = {};  // of what is followed
    Lights lights = {};
    const FollowedPacket& followed() const { return frame.session.machine.packet; }
    bool is_followed(int replica, const StepPacket& packet, size_t number) const {
        const FollowedPacket& f = followed();
        if (way.empty() || f.replica != replica) return false;
        return f.kind == FollowedPacket::Kind::microbatch
                   ? packet.microbatch == f.number
                   : f.kind == FollowedPacket::Kind::message && f.number == static_cast<int>(number);
    }
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
        const float base = tile.y + 16 * p.margin();
        const float end =
            ui.text(tile.x + 8 * p.margin(), base, node_name(v.step, replica, stage), {.size = 12, .weight = 600});
        std::string words = has_late ? "late with " + now.span->text() : words_of(now);
        const TextStyle style{.size = 12,
                              .color = has_late || now.does == GpuDoes::held_up ? warm
                                       : now.span                               ? t.ink
                                                                                : t.quiet,
                              .align = Align::right,
                              .weight = now.span ? 600 : 400};
        const float room = tile.right() - 8 * p.margin() - end - 5;
        if (ui.text_width(words, style) > room)
            words = has_late ? "late" : now.next && !now.span ? "for " + now.next->text() : "";
        if (ui.text_width(words, style) <= room) ui.text(tile.right() - 8 * p.margin(), base, words, style);
        const Rect bar{tile.x + 8 * p.margin(), tile.bottom() - 6 * p.margin(), tile.w - 16 * p.margin(), 2};
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
        if (cell.span == nullptr || cell.does != GpuDoes::works) continue;
        if (const float flash = v.lights.flash(v.now, cell.span->begin); flash > 0) ui.frame(box, faded(t.ink, flash), 2);
    }
}

// Tiles that are too small for rectangles: a picture of what each pixel's GPU does, in its colour and with its stroke.
void draw_node_texture(const ClusterView& v) {
    const ClusterPlaces& p = v.places;
    const Theme& t = v.theme();
    const Rect grid = p.grid();
    const int w = std::clamp(static_cast<int>(grid.w), 1, 2600), h = std::clamp(static_cast<int>(grid.h), 1, 2000);
    const uint64_t version = std::bit_cast<uint64_t>(v.now) ^ (static_cast<uint64_t>(w) << 40) ^
                             (static_cast<uint64_t>(h) << 20) ^ t.panel ^ std::bit_cast<uintptr_t>(&v.step);
    using Line = std::vector<Color>;
    const auto line_of = [&](int row, int y) {
        Line line(static_cast<size_t>(w), t.panel);
        for (int i = 0; i < p.across(); ++i) {
            const int replica = p.wide > 0 ? row * p.wide + i : row, stage = p.wide > 0 ? 0 : i;
            if (replica >= p.replicas) break;
            const Rect tile = p.tile(replica, stage);
            const int from = std::max(0, static_cast<int>(tile.x - grid.x)),
                      to = std::min(w, std::max(from + 1, static_cast<int>(tile.right() - grid.x)));
            const int cells = std::max(1, std::min(p.group, to - from));
            for (int cell = 0; cell < cells; ++cell) {
                const GpuNow now = gpu_at(v.step, replica, stage, cell * p.group / cells, v.now);
                const int end = from + (to - from) * (cell + 1) / cells;
                for (int x = from + (to - from) * cell / cells; x < end; ++x)
                    line[static_cast<size_t>(x)] = texel_of(now, x, y, t);
            }
        }
        return line;
    };
    v.ui().picture("nodes", version, w, h, grid, [&](std::span<Color> pixels) {
        std::vector<Line> known(v.step.columns.size() * texel_period);  // replicas of a column do the same
        std::vector<Line> of_row(texel_period);
        int row_before = -1;
        for (int y = 0; y < h; ++y) {
            const int row = std::min(p.rows() - 1, static_cast<int>((static_cast<float>(y) + 0.5f) / p.pitch_y));
            const auto phase = static_cast<size_t>(y % texel_period);
            if (p.wide > 0 && row != std::exchange(row_before, row))
                for (Line& line : of_row) line.clear();
            Line& line =
                p.wide > 0 ? of_row[phase] : known[v.step.column_of[static_cast<size_t>(row)] * texel_period + phase];
            if (line.empty()) line = line_of(row, y);
            std::copy(line.begin(), line.end(), pixels.begin() + static_cast<std::ptrdiff_t>(y) * w);
        }
    });
}

std::string late_text(const ClusterView& v) {
    const LateGpu& late = v.step.late;
    const int others = v.step.group - 1;
    return fmt::format("GPU {} is {} late with {}{}", late.gpu, step_time_text(v.step, v.now - late.from), late.what,
                       others > 0 ? fmt::format(", {} wait{}", counted(others, "neighbour"), others == 1 ? "s" : "") : "");
}

// Where the words about the late GPU stand; no width: nobody is late now, or there is no room.
Rect late_box(const ClusterView& v) {
    const LateGpu& late = v.step.late;
    if (late.replica < 0 || v.now < late.from || v.now >= late.until) return {};
    const Rect tile = v.places.tile(late.replica, late.stage);
    const float w = v.ui().text_width(late_text(v), {.size = 13, .weight = 600}) + 24;
    const float gap = v.places.pitch_y - v.places.tile_h;
    Rect box{std::clamp(tile.x + tile.w / 2 - w / 2, v.places.all.x + 4, v.places.all.right() - w - 4), tile.bottom() + 4, w,
             25};
    if (gap < 30 && v.places.detail != TileDetail::texture) return {};
    if (gap < 30) box.y = tile.bottom() + 14;
    if (box.bottom() > v.places.all.bottom()) box.y = tile.y - 29;
    return box;
}

// Over the texture a letter on every stretch of replicas that do the same, where one fits.
void draw_texture_letters(const ClusterView& v) {
    const ClusterPlaces& p = v.places;
    if (p.wide > 0) return;
    for (int stage = 0; stage < p.stages; ++stage)
        for (int first = 0; first < p.replicas;) {
            const GpuNow now = stage_at(v.step, first, stage, v.now);
            int end = first + 1;
            for (; end < p.replicas; ++end)
                if (const GpuNow other = stage_at(v.step, end, stage, v.now);
                    other.does != now.does || (now.span != nullptr) != (other.span != nullptr) ||
                    (now.span != nullptr && other.span->work != now.span->work))
                    break;
            const Rect top = p.tile(first, stage), foot = p.tile(end - 1, stage);
            first = end;
            if (now.span == nullptr || now.does != GpuDoes::works || foot.bottom() - top.y < 26 || top.w < 16) continue;
            const Color fill = fill_of(now, v.theme());
            Point middle{top.x + top.w / 2, (top.y + foot.bottom()) / 2};
            const Rect words = late_box(v);
            if (words.w > 0 && middle.x + 10 > words.x && middle.x - 10 < words.right() && middle.y + 12 > words.y &&
                middle.y - 12 < words.bottom())
                middle.y = words.bottom() + 14;  // below them, or not at all
            if (middle.y + 12 > foot.bottom()) continue;
            const char letter[] = {letter_of(now.span->work), 0};
            v.ui().rect({middle.x - 8, middle.y - 10, 16, 20}, fill, 3);  // no stroke behind it
            v.ui().text(middle.x, middle.y + 5.5f, letter,
                        {.size = 15, .color = text_on(fill), .align = Align::center, .weight = 700});
        }
}

FollowedPacket followed_by(int replica, const StepPacket& packet, size_t number) {
    if (packet.microbatch >= 0) return {FollowedPacket::Kind::microbatch, replica, packet.microbatch, -1};
    return {FollowedPacket::Kind::message, replica, static_cast<int>(number), -1};
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
            if (const float came = v.lights.flash(v.now, packet.arrives); came > 0)
                v.ui().frame({at.x - half - 2, at.y - 11, 2 * half + 4, 22}, faded(v.theme().ink, came), 2, 4);
            packet_tag(v.ui(), at, packet.text(), color);
            const Rect tag{at.x - half, at.y - 9, 2 * half, 18};
            if (v.is_followed(replica, packet, i)) v.ui().outline(tag, -3);
            if (v.frame.still || !v.ui().hovered(tag)) continue;
            v.ui().tooltip(fmt::format("{} of {}, stage {} to {}: sent at {}, there at {}, taken at {}\nclick to follow it",
                                       packet.gradient ? "gradients" : "activations", packet.text(), packet.from, packet.to,
                                       step_time_text(v.step, packet.sent), step_time_text(v.step, packet.arrives),
                                       step_time_text(v.step, packet.taken)));
            if (v.ui().clicked(tag)) follow(v.frame, followed_by(replica, packet, i));
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
            const auto number = static_cast<int>(&ring - v.step.rings.data());
            const FollowedPacket& f = v.followed();
            const Rect tag{at.x - 10, at.y - 9, 20, 18};
            if (f.kind == FollowedPacket::Kind::chunk && f.number == number && f.chunk == chunk) ui.outline(tag, -3);
            if (v.frame.still || !ui.hovered(tag)) continue;
            ui.tooltip(fmt::format("chunk {} goes from replica {} to {}\nclick to follow it", chunk_name(chunk, n), replica,
                                   (replica + 1) % n));
            if (ui.clicked(tag)) follow(v.frame, {FollowedPacket::Kind::chunk, replica, number, chunk});
        }
    }
}

// What is followed: the node that works on it, or keeps it, and where nothing on its way is drawn, a tag where it is.
void draw_followed_mark(const ClusterView& v) {
    if (v.way.empty() || v.now < v.way.begin || v.now >= v.way.end) return;
    Ui& ui = v.ui();
    const WayLeg& leg = v.way.legs[static_cast<size_t>(v.way.leg_at(v.now))];
    const FollowedPacket& f = v.followed();
    const bool packets = v.places.detail == TileDetail::packets && v.places.pitch_x - v.places.tile_w >= 14;
    if (leg.sums) {
        if (v.places.detail >= TileDetail::letters) return;  // its ring is drawn
    } else if (packets) {
        for (const uint32_t i : packets_at(v.step, f.replica, v.now))
            if (v.is_followed(f.replica, v.step.column(f.replica).packets[i], i)) return;
    }
    const std::string text = f.kind == FollowedPacket::Kind::chunk ? chunk_name(f.chunk, v.step.replicas)
                             : f.number >= 0 && f.kind == FollowedPacket::Kind::microbatch
                                 ? fmt::format("{}{}", leg.gradient ? 'B' : 'F', f.number + 1)
                                 : std::string(leg.gradient ? "B" : "F");
    Point at = followed_at(v.places, f, v.way, v.now);
    if (!leg.sums && leg.is != WayLeg::Is::travels) {
        const Rect tile = v.places.tile(f.replica, leg.to);
        ui.outline(tile, -4);
        if (v.places.headed) return;              // its head says what it works on
        at = {tile.x + tile.w / 2, tile.y - 24};  // above the mark of where one looks
    }
    packet_tag(ui, at, text, leg.sums ? data::blue : leg.gradient ? data::green : data::sky);
    const float w = std::max(20.0f, ui.text_width(text, {.size = 12, .weight = 700}) + 9);
    ui.outline({at.x - w / 2, at.y - 9, w, 18}, -3);
}

void draw_late_words(const ClusterView& v) {
    const LateGpu& late = v.step.late;
    if (late.replica < 0 || v.now < late.from || v.now >= late.until) return;
    Ui& ui = v.ui();
    const Theme& t = v.theme();
    const Rect tile = v.places.tile(late.replica, late.stage);
    if (v.places.detail == TileDetail::texture)
        glow(ui, {tile.x, tile.y - 2, tile.w, tile.h + 4}), ui.rect(tile, data::vermillion);
    const Rect box = late_box(v);
    if (box.w <= 0) return;  // the caption says it
    const Color warm = t.dark ? rgb(0xFF9A5C) : rgb(0xB34700);
    ui.rect(box, t.dark ? rgb(0x33211A) : rgb(0xFFF4EC), 4);
    ui.frame(box, data::vermillion, 1.25f, 4);
    ui.text(box.x + 12, box.y + 17, late_text(v), {.size = 13, .color = warm, .weight = 600});
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
        v.frame.session.machine.packet = {};
        ask_cluster(v.frame.session, wanted);
    }
}

void draw_cluster_legend(const ClusterView& v, const Rect& r) {
    Ui& ui = v.ui();
    const float y = r.y + 19, room = r.right() - 12;
    float x = r.x + 12;
    const auto key = [&](const GpuNow& now, std::string_view words, bool letter) {
        if (x + 30 + ui.text_width(words, {.size = 13}) > room) return;
        const Rect cell{x, y - 14, 18, 18};
        draw_gpu_cell(ui, cell, now, letter);
        if (const Hatch stroke = now.span != nullptr ? texture_hatch_of(now.span->work) : Hatch::solid;
            v.places.detail == TileDetail::texture && stroke != Hatch::solid)
            ui.hatch(cell, faded(data::black, 0.4f), stroke);
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
    const bool moves = frame.session.playing || frame.session.machine.filmed > 0;
    const double filmed = frame.session.machine.filmed;
    const double speed = filmed > 0 ? filmed : cluster_speed(frame.session, step);
    return {frame,
            step,
            places_of(step, body),
            cluster_time(frame.session, step),
            moves ? least_on_screen * speed : 0,
            picked_gpu(frame.session, step),
            followed_way(frame, step),
            lights_of_step(frame, step)};
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
    std::string text = fmt::format("{} of {} work, {} wait", with_commas(counts.works), counted(step.gpus(), "GPU"),
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
        draw_node_texture(v), draw_texture_letters(v);
    else
        for (int replica = 0; replica < v.places.replicas; ++replica)
            for (int stage = 0; stage < v.places.stages; ++stage) draw_node_tile(v, replica, stage);
    draw_packets(v);
    draw_rings(v);
    draw_followed_mark(v);
    if (!frame.still)  // on its way the zoom outlines it
        frame.ui.outline(v.places.tile(step->replica_of(v.picked), step->stage_of(v.picked)), -2);
    draw_late_words(v);
    draw_cluster_legend(v, {body.x, body.bottom() - cluster_legend, body.w, cluster_legend});
    choose_in_cluster(v);
    if (parts.strip.h > 0) draw_step_foot(frame, *step, parts.strip, v.picked);
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
    return step && step->refusal.empty() ? counted(step->gpus(), "GPU") : "";
}

std::string cluster_sentence(const MachineFrame& frame) {
    const auto step = step_of(frame);
    if (!step) return "";
    const std::string below = kernel_below(frame, *step);
    const double now = cluster_time(frame.session, *step);
    const std::string followed = followed_sentence(*step, followed_way(frame, *step), now);
    return (followed.empty() ? what_happens(*step, now) : followed) + (below.empty() ? "" : " " + below);
}

std::string cluster_described(const MachineFrame& frame) {
    const auto step = step_of(frame);
    if (!step) return "no step of many GPUs yet\n";
    const double now = cluster_time(frame.session, *step);
    const ClusterCounts counts = counts_of(*step, now);
    std::string text = fmt::format("{}\n{} of {}; {} replicas x {} stages x {} GPUs, {}\n", step->title,
                                   step_time_text(*step, now), step_time_text(*step, step->end), step->replicas,
                                   step->stages, step->group, counted(step->nodes(), "node"));
    text += fmt::format("{} work, {} idle, {} late, {} wait for the late one\n", counted(counts.works, "GPU"),
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
    if (const std::string followed = followed_sentence(*step, followed_way(frame, *step), now); !followed.empty())
        text += "followed: " + followed + "\n";
    return text;
}

}  // namespace lockstep::gui
