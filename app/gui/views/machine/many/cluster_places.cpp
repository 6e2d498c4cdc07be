#include "app/gui/views/machine/many/cluster_places.h"

#include <algorithm>
#include <cmath>

namespace lockstep::gui {
namespace {

constexpr float tile_width = 136, tile_height = 84, pitch_width = 184, pitch_height = 118;
constexpr float label_width = 84, ring_width = 52, head_height = 32;
constexpr float most_scale = 4;

}  // namespace

Rect ClusterPlaces::tile(int replica, int stage) const {
    const int column = wide > 0 ? replica % wide : stage, row = wide > 0 ? replica / wide : replica;
    return {left + pitch_x * static_cast<float>(column), top + pitch_y * static_cast<float>(row), tile_w, tile_h};
}

Rect ClusterPlaces::grid() const {
    return {left, top, pitch_x * static_cast<float>(across() - 1) + tile_w,
            pitch_y * static_cast<float>(rows() - 1) + tile_h};
}

Rect ClusterPlaces::cell(int replica, int stage, int gpu) const {
    const Rect t = tile(replica, stage);
    const int lines = (group + columns - 1) / columns;
    const float m = margin(), inset = headed ? 8 * m : std::min(3.0f, tile_w * 0.06f), head = headed ? 22 * m : inset,
                foot = headed ? 9 * m : inset, gap = headed ? 4 * m : std::min(2.0f, tile_w * 0.03f);
    const float w = (t.w - 2 * inset + gap) / static_cast<float>(columns),
                h = (t.h - head - foot + gap) / static_cast<float>(lines);
    return {t.x + inset + w * static_cast<float>(gpu % columns), t.y + head + h * static_cast<float>(gpu / columns),
            std::max(1.0f, w - gap), std::max(1.0f, h - gap)};
}

int ClusterPlaces::replica_at(Point at) const {
    const Rect g = grid();
    if (!g.contains(at)) return -1;
    const auto column = static_cast<int>((at.x - left) / pitch_x), row = static_cast<int>((at.y - top) / pitch_y);
    const int replica = wide > 0 ? row * wide + column : row;
    if (replica >= replicas) return -1;
    const Rect t = tile(replica, wide > 0 ? 0 : column);
    return t.contains(at) || detail == TileDetail::texture ? replica : -1;
}

int ClusterPlaces::stage_at(Point at) const {
    if (replica_at(at) < 0) return -1;
    return wide > 0 ? 0 : std::min(stages - 1, static_cast<int>((at.x - left) / pitch_x));
}

ClusterPlaces place_cluster(const Rect& area, int replicas, int stages, int group) {
    ClusterPlaces p;
    p.all = area;
    p.replicas = std::max(1, replicas);
    p.stages = std::max(1, stages);
    p.group = std::max(1, group);
    const bool flat = p.stages == 1;
    const float label = flat ? 14 : label_width, beside = flat ? 34 : ring_width;
    p.left = area.x + label;
    p.top = area.y + (flat ? 12 : head_height);
    const float w = std::max(20.0f, area.w - label - beside), h = std::max(20.0f, area.bottom() - p.top - 4);
    if (flat) {
        const float shape = (w / pitch_width) / std::max(0.1f, h / pitch_height);
        p.wide = std::clamp(static_cast<int>(std::ceil(std::sqrt(static_cast<float>(p.replicas) * shape) - 1e-3f)), 1,
                            p.replicas);
        const int rows = (p.replicas + p.wide - 1) / p.wide;
        p.wide = (p.replicas + rows - 1) / rows;  // rows of one length, where that is possible
    }
    // The last tile needs no gap behind it.
    const auto across = static_cast<float>(p.across()), down = static_cast<float>(p.rows());
    const float per_x = across * pitch_width - (pitch_width - tile_width),
                per_y = down * pitch_height - (pitch_height - tile_height);
    p.scale = std::clamp(std::min(w / per_x, h / per_y), 0.0f, most_scale);
    // What is spare in one direction goes into the gaps, within bounds.
    p.tile_w = tile_width * p.scale;
    p.tile_h = tile_height * p.scale;
    const float most_x = across > 1 ? (w - p.tile_w) / (across - 1) : pitch_width,
                most_y = down > 1 ? (h - p.tile_h) / (down - 1) : pitch_height;
    p.pitch_x = std::min(most_x, p.tile_w * (across <= 3 && !flat ? 2.4f : 1.6f));
    p.pitch_y = std::min(most_y, p.tile_h * 1.9f);
    p.pitch_x = std::max(p.pitch_x, p.tile_w);
    p.pitch_y = std::max(p.pitch_y, p.tile_h);
    if (p.scale < 0.62f) {  // small tiles fill their place instead of keeping their shape
        p.pitch_x = across > 1 ? std::min(pitch_width, (w + 4) / across) : std::min(w, pitch_width);
        p.pitch_y = down > 1 ? std::min(pitch_height, (h + 2) / down) : std::min(h, pitch_height);
        const float gap_x = p.pitch_x >= 120  ? 38.0f
                            : p.pitch_x >= 24 ? 5.0f
                                              : std::min(1.0f, p.pitch_x * 0.1f),
                    gap_y = p.pitch_y >= 24  ? 6.0f
                            : p.pitch_y >= 5 ? 1.0f
                                             : 0.0f;
        p.tile_w = p.pitch_x - gap_x;
        p.tile_h = p.pitch_y - gap_y;
        p.scale = std::min(p.tile_w / tile_width, p.tile_h / tile_height);
    }
    if (flat) {
        p.left += std::max(0.0f, (w - p.grid().w) / 2);
        p.top += std::max(0.0f, (h - p.grid().h) / 2);
    }
    const float least = std::min(p.tile_w, p.tile_h);
    p.headed = p.tile_w >= 90 && p.tile_h >= 56;
    p.detail = p.tile_w < 24 || p.tile_h < 14                          ? TileDetail::texture
               : p.pitch_x - p.tile_w >= 32 && p.tile_h >= 38 && !flat ? TileDetail::packets
               : least >= 30                                           ? TileDetail::letters
                                                                       : TileDetail::cells;
    if (p.headed) p.scale = std::max(p.scale, 0.8f);
    const float shape = std::max(0.2f, p.tile_w / std::max(1.0f, p.tile_h));
    p.columns = std::clamp(static_cast<int>(std::ceil(std::sqrt(static_cast<float>(p.group) * shape * 0.9f))), 1, p.group);
    if (p.group == 8 && shape < 4) p.columns = 4;
    return p;
}

std::vector<Point> packet_way(const ClusterPlaces& p, int replica, int from, int to, bool gradient) {
    const Rect a = p.tile(replica, from), b = p.tile(replica, to);
    const bool high = a.h >= 70;  // below, both lanes need all of its height
    const float y = a.y + a.h * (high ? (gradient ? 0.74f : 0.4f) : (gradient ? 0.77f : 0.25f));
    if (to == from + 1) return {{a.right(), y}, {b.x, y}};
    if (to == from - 1) return {{a.x, y}, {b.right(), y}};
    // Round below the row: between the last stage and the first.
    const float below = a.bottom() + std::min(14.0f, (p.pitch_y - p.tile_h) * (gradient ? 0.7f : 0.4f));
    const bool right = from > to;
    const float ax = right ? a.right() : a.x, bx = right ? b.x : b.right(), out = right ? 8.0f : -8.0f;
    return {{ax, y}, {ax + out, y}, {ax + out, below}, {bx - out, below}, {bx - out, y}, {bx, y}};
}

std::vector<Point> ring_way(const ClusterPlaces& p, int stage, int replica) {
    const int next = (replica + 1) % p.replicas;
    const Rect a = p.tile(replica, stage), b = p.tile(next, stage);
    if (p.wide > 0) {  // row by row, and back along the foot
        const float y = a.y + a.h * 0.5f;
        if (next == replica + 1 && next % p.wide != 0) return {{a.right(), y}, {b.x, y}};
        const float gap = std::max(4.0f, (p.pitch_y - p.tile_h) / 2), out = std::min(12.0f, (p.pitch_x - p.tile_w) / 2);
        const float below = next == 0 ? std::min(p.all.bottom() - 2, a.bottom() + gap) : b.y - gap;
        const float bx = b.x - std::max(5.0f, out);
        return {{a.right(), y},
                {a.right() + std::max(5.0f, out), y},
                {a.right() + std::max(5.0f, out), below},
                {bx, below},
                {bx, b.y + b.h * 0.5f},
                {b.x, b.y + b.h * 0.5f}};
    }
    if (next == replica + 1) return {{a.x + a.w / 2, a.bottom()}, {b.x + b.w / 2, b.y}};
    const float out = std::min(34.0f, std::max(5.0f, (p.pitch_x - p.tile_w) * 0.72f));
    return {{a.right(), a.y + a.h / 2},
            {a.right() + out, a.y + a.h / 2},
            {b.right() + out, b.y + b.h / 2},
            {b.right(), b.y + b.h / 2}};
}

Point along(const std::vector<Point>& way, double share) {
    if (way.empty()) return {};
    float length = 0;
    const auto between = [](Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); };
    for (size_t i = 1; i < way.size(); ++i) length += between(way[i - 1], way[i]);
    auto rest = static_cast<float>(std::clamp(share, 0.0, 1.0)) * length;
    for (size_t i = 1; i < way.size(); ++i) {
        const float part = between(way[i - 1], way[i]);
        if (rest <= part && part > 0) {
            const float f = rest / part;
            return {way[i - 1].x + (way[i].x - way[i - 1].x) * f, way[i - 1].y + (way[i].y - way[i - 1].y) * f};
        }
        rest -= part;
    }
    return way.back();
}

NodePlaces place_node(const Rect& area, int gpus) {
    NodePlaces p;
    p.all = area;
    const int n = std::max(1, gpus);
    const int above = (n + 1) / 2;
    const float pitch = std::min(area.w / static_cast<float>(above), 560.0f);
    const float gap = std::clamp(pitch * 0.1f, 4.0f, 28.0f), bar_h = std::clamp(area.h * 0.11f, 24.0f, 46.0f),
                link = std::clamp(area.h * 0.11f, 16.0f, 90.0f);
    const float h = std::clamp((area.h - bar_h - 2 * link) / 2, 20.0f, 340.0f), w = pitch - gap;
    const float used = pitch * static_cast<float>(above) - gap, x = area.x + (area.w - used) / 2,
                y = area.y + std::max(0.0f, (area.h - 2 * h - 2 * link - bar_h) / 2);
    for (int i = 0; i < n; ++i) {
        const bool up = i < above;
        p.gpu.push_back({x + pitch * static_cast<float>(up ? i : i - above), up ? y : y + h + 2 * link + bar_h, w, h});
    }
    p.bar = {x, y + h + link, used, bar_h};
    return p;
}

}  // namespace lockstep::gui
