#include "app/gui/views/machine/gpu_places.h"

#include <algorithm>
#include <cmath>

namespace lockstep::gui {
namespace {

constexpr float head = 26;  // titles over the columns
constexpr float host_width = 92, chip_width = 150, channel_width = 76, slice_width = 36, bus_width = 24, gap = 16;

Route make_route(std::vector<Point> points) {
    Route route;
    route.points = std::move(points);
    for (size_t i = 1; i < route.points.size(); ++i)
        route.length += std::hypot(route.points[i].x - route.points[i - 1].x, route.points[i].y - route.points[i - 1].y);
    return route;
}

Point middle(const Rect& r) {
    return {r.x + r.w / 2, r.y + r.h / 2};
}

// A number of the request's own: the lane of the crossbar that it keeps to.
float lane_of(const RequestRecord& r, uint32_t lanes) {
    return static_cast<float>((r.line * 0x9e3779b97f4a7c15u >> 40) % lanes) / static_cast<float>(lanes);
}

// How many columns make the tiles largest, with as many rows above the crossbar as below.
int best_columns(uint32_t sms, float w, float h) {
    int best = 1;
    float size = 0;
    for (uint32_t c = 1; c <= sms; ++c) {
        const uint32_t rows = (sms + c - 1) / c, half = std::max(1u, (rows + 1) / 2);
        const float pitch_x = w / static_cast<float>(c), pitch_y = h / static_cast<float>(2 * half);
        const float fits = std::min(pitch_x / 91, pitch_y / 58);
        if (fits > size) size = fits, best = static_cast<int>(c);
    }
    return best;
}

std::vector<Rect> stack(const Rect& left, const Rect& right, uint32_t count, float most_pitch, float share) {
    std::vector<Rect> boxes;
    const uint32_t at_left = (count + 1) / 2;
    for (uint32_t i = 0; i < count; ++i) {
        const Rect& side = i < at_left ? left : right;
        const uint32_t k = i < at_left ? i : i - at_left, n = i < at_left ? at_left : count - at_left;
        const float pitch = std::min(side.h / static_cast<float>(std::max(1u, n)), most_pitch);
        const float top = side.y + (side.h - pitch * static_cast<float>(n)) / 2;
        boxes.push_back({side.x, top + pitch * static_cast<float>(k), side.w, std::max(1.0f, pitch * share)});
    }
    return boxes;
}

}  // namespace

Point Route::at(float share) const {
    if (points.empty()) return {};
    float left = std::clamp(share, 0.0f, 1.0f) * length;
    for (size_t i = 1; i < points.size(); ++i) {
        const Point a = points[i - 1], b = points[i];
        const float part = std::hypot(b.x - a.x, b.y - a.y);
        if (left <= part && part > 0) return {a.x + (b.x - a.x) * left / part, a.y + (b.y - a.y) * left / part};
        left -= part;
    }
    return points.back();
}

GpuPlaces place_gpu(const Rect& area, uint32_t sms, uint32_t slices, uint32_t channels) {
    GpuPlaces places;
    places.all = area;
    const float top = area.y + head, height = std::max(40.0f, area.h - head);
    float x = area.x;
    if (area.w >= 1300) {
        places.host = {x, area.y, host_width, area.h};
        x += host_width + 24;
    }
    if (area.w >= 1000) {
        places.chip = {x, area.y, chip_width, area.h};
        x += chip_width + 20;
    }
    const Rect left_channels{x, top, channel_width, height},
        right_channels{area.right() - channel_width, top, channel_width, height};
    const Rect left_slices{left_channels.right() + gap, top, slice_width, height},
        right_slices{right_channels.x - gap - slice_width, top, slice_width, height};
    places.memory_side[0] = {x, area.y, left_slices.right() - x, area.h};
    places.memory_side[1] = {right_slices.x, area.y, area.right() - right_slices.x, area.h};
    places.channel = stack(left_channels, right_channels, channels, 84, 0.88f);
    places.slice = stack(left_slices, right_slices, slices, 60, 0.8f);
    places.bus[0] = {left_slices.right() + 6, top, bus_width, height};
    places.bus[1] = {right_slices.x - 6 - bus_width, top, bus_width, height};
    const float grid_x = places.bus[0].right() + 10, grid_w = std::max(40.0f, places.bus[1].x - 10 - grid_x);
    const float aisle = std::clamp(height * 0.16f, 40.0f, 88.0f);
    const float tiles_h = std::max(20.0f, height - aisle);
    places.columns = best_columns(std::max(1u, sms), grid_w, tiles_h);
    const auto columns = static_cast<uint32_t>(places.columns);
    const uint32_t rows = (std::max(1u, sms) + columns - 1) / columns, half = std::max(1u, (rows + 1) / 2);
    const float pitch_x = std::min(grid_w / static_cast<float>(columns), 440.0f);
    const float pitch_y = std::min(tiles_h / static_cast<float>(2 * half), 280.0f);
    places.tile_w = pitch_x * 0.86f;
    places.tile_h = pitch_y * 0.9f;
    const float left = grid_x + (grid_w - pitch_x * static_cast<float>(columns)) / 2;
    const float aisle_y = top + tiles_h / 2;
    for (uint32_t i = 0; i < sms; ++i) {
        const uint32_t row = i / columns, column = i % columns;
        // Rows stand against the crossbar from both sides.
        const float y = row < half ? aisle_y - pitch_y * static_cast<float>(half - row)
                                   : aisle_y + aisle + pitch_y * static_cast<float>(row - half) + (pitch_y - places.tile_h);
        places.tile.push_back({left + pitch_x * static_cast<float>(column), y, places.tile_w, places.tile_h});
    }
    places.crossbar = {places.bus[0].x, aisle_y, places.bus[1].right() - places.bus[0].x, aisle};
    return places;
}

namespace {

struct Corners {
    Point tile;   // where it leaves its SM
    float lane;   // y within the crossbar
    float bus;    // x
    Point slice;  // where it comes to its slice
};

// Out goes through the upper half of the crossbar, back through the lower one; each side of the picture has its bus.
Corners corners_of(const GpuPlaces& p, const RequestRecord& r, bool back) {
    const Rect none{p.crossbar.x, p.crossbar.y, 1, 1};
    const Rect& tile = r.sm < p.tile.size() ? p.tile[r.sm] : none;
    const Rect& slice = r.slice < p.slice.size() ? p.slice[r.slice] : none;
    const bool left = p.slice_at_left(r.slice), above = tile.y < p.crossbar.y;
    const float margin = tile.x + tile.w + std::max(2.0f, p.tile_w * (back ? 0.11f : 0.06f));
    Corners c;
    c.tile = {margin, tile.y + tile.h * 0.7f};
    if (!above) c.tile.y = tile.y + tile.h * 0.3f;
    const float third = p.crossbar.h * 0.30f;
    c.lane = (back ? p.crossbar.bottom() - third : p.crossbar.y + 4) + lane_of(r, 7) * (third - 6);
    c.bus = p.bus[left ? 0 : 1].x + 4 + lane_of(r, 5) * (bus_width - 8);
    c.slice = {left ? slice.right() : slice.x, middle(slice).y};
    return c;
}

Point channel_door(const GpuPlaces& p, const RequestRecord& r) {
    if (r.channel >= p.channel.size()) return {};
    const Rect& channel = p.channel[r.channel];
    return {p.channel_at_left(r.channel) ? channel.right() : channel.x, middle(channel).y};
}

// While DRAM reads it: in the box's outer corner, which nothing else takes, on one of a few places.
Point in_channel(const GpuPlaces& p, const RequestRecord& r) {
    const Rect& box = p.channel[r.channel];
    const float along = 8 + 7 * std::floor(lane_of(r, 4) * 4), down = std::min(8.0f, box.h / 2);
    return {p.channel_at_left(r.channel) ? box.x + along : box.right() - along, box.y + down};
}

}  // namespace

Route route_out(const GpuPlaces& p, const RequestRecord& r) {
    const Corners c = corners_of(p, r, false);
    return make_route({c.tile, {c.tile.x, c.lane}, {c.bus, c.lane}, {c.bus, c.slice.y}, c.slice});
}

// A line's slice and its channel are chosen apart; where they stand on different sides, it crosses over in the middle.
Route route_to_dram(const GpuPlaces& p, const RequestRecord& r) {
    if (r.slice >= p.slice.size() || r.channel >= p.channel.size()) return {};
    const Rect& slice = p.slice[r.slice];
    const Point door = channel_door(p, r);
    const bool left = p.slice_at_left(r.slice), to_left = p.channel_at_left(r.channel);
    const Point from{left ? slice.x : slice.right(), middle(slice).y};
    const float side = to_left ? door.x + gap / 2 : door.x - gap / 2;
    if (left == to_left) return make_route({from, {side, from.y}, {side, door.y}, door});
    const float lane = p.crossbar.y + p.crossbar.h * (0.36f + 0.28f * lane_of(r, 5)),
                out = left ? from.x - gap / 2 : from.x + gap / 2;
    return make_route({from, {out, from.y}, {out, lane}, {side, lane}, {side, door.y}, door});
}

Route route_back(const GpuPlaces& p, const RequestRecord& r) {
    const Corners c = corners_of(p, r, true);
    std::vector<Point> points;
    if (r.channel != RequestRecord::none) {
        const Route out = route_to_dram(p, r);
        points.assign(out.points.rbegin(), out.points.rend());
    }
    points.insert(points.end(), {c.slice, {c.bus, c.slice.y}, {c.bus, c.lane}, {c.tile.x, c.lane}, c.tile});
    return make_route(std::move(points));
}

RequestPlace place_of(const GpuPlaces& p, const MachineTrace& machine, const RequestRecord& r, double cycle) {
    RequestPlace place;
    const Stations stations = stations_of(machine, r);
    place.station = stations.station_at(std::max(cycle, static_cast<double>(r.begin)), place.share);
    const auto share = static_cast<float>(place.share);
    switch (place.station) {
        case Station::sm_queue:
        case Station::l1:
            place.at = route_out(p, r).at(0);
            break;
        case Station::crossbar:
            place.moves = true;
            place.at = route_out(p, r).at(share);
            break;
        case Station::slice_queue:
            place.at = route_out(p, r).at(1);
            break;
        case Station::l2:  // what L2 has not goes on in the second half of its time there
            place.moves = r.channel != RequestRecord::none && share > 0.5f;
            if (place.moves)
                place.at = route_to_dram(p, r).at(share * 2 - 1);
            else if (r.slice < p.slice.size())
                place.at = middle(p.slice[r.slice]);
            break;
        case Station::channel_queue:
            place.at = route_to_dram(p, r).at(1);
            break;
        case Station::dram:
            if (r.channel < p.channel.size()) place.at = in_channel(p, r);
            break;
        case Station::back:
        case Station::count:
            place.moves = place.comes_back = true;
            place.at = route_back(p, r).at(share);
            break;
    }
    return place;
}

}  // namespace lockstep::gui
