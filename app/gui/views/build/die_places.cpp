#include "app/gui/views/build/die_places.h"

#include <algorithm>
#include <cmath>

namespace lockstep::gui {
namespace {

constexpr uint32_t most_channels = 16;  // drawn one by one; more of them share boxes

// Boxes of equal area below each other.
void stack_boxes(std::vector<DieBox>& to, model::PartGroup group, int first, int count, const Rect& box) {
    for (int i = 0; i < count; ++i) {
        const float h = box.h / static_cast<float>(count);
        to.push_back({group, first + i, {box.x, box.y + h * static_cast<float>(i), box.w, h}});
    }
}

// As many rows as make tiles a little higher than wide; a row with fewer tiles is lower, so that all have one area.
void place_tiles(DiePlaces& places, int count, const Rect& box) {
    if (count <= 0 || box.w <= 0 || box.h <= 0) return;
    int rows = 1;
    double best = HUGE_VAL;
    for (int r = 1; r <= count; ++r) {
        const double columns = std::ceil(static_cast<double>(count) / r);
        const double ratio = (static_cast<double>(box.w) / columns) / (static_cast<double>(box.h) / r);
        if (const double off = std::fabs(std::log(ratio / 0.9)); off < best) best = off, rows = r;
    }
    float y = box.y;
    int placed = 0;
    for (int r = 0; r < rows; ++r) {
        const int in_row = count / rows + (r < count % rows ? 1 : 0);
        const float h = box.h * static_cast<float>(in_row) / static_cast<float>(count);
        const float w = box.w / static_cast<float>(in_row);
        for (int i = 0; i < in_row; ++i)
            places.sms.push_back({model::PartGroup::sms, placed++, {box.x + w * static_cast<float>(i), y, w, h}});
        y += h;
    }
}

std::vector<TilePart> parts_of_sm(const model::GpuSpec& gpu, const model::AreaEstimate& area) {
    std::vector<TilePart> parts = {
        {"schedulers", {"sub_cores"}},
        {"warp slots", {"warps_per_sm"}},
        {"registers", {"registers_per_sm"}},
        {"lanes", {"fp32_lanes", "int_lanes", "fp64_lanes", "sfu_lanes", "lsu_lanes"}},
        {"tensor cores", {"tensor_fmas"}},
        {"L1", {"l1_bytes", "l1_bytes_per_cycle", "l1_mshrs"}},
        {"the rest and ports", {"sms", "sm_read_bytes_per_cycle", "texture_lanes"}},
    };
    for (const model::PartArea& row : area.rows) {
        if (row.group != model::PartGroup::sms) continue;
        TilePart* home = &parts.back();
        for (TilePart& part : parts)
            if (std::ranges::find(part.fields, row.field) != part.fields.end()) home = &part;
        home->mm2 += row.mm2 / std::max(1.0, static_cast<double>(gpu.sms));
    }
    std::erase_if(parts, [](const TilePart& part) { return part.mm2 <= 0; });
    return parts;
}

}  // namespace

DiePlaces places_of_die(const model::GpuSpec& gpu, const model::AreaEstimate& area, double budget, const Rect& room) {
    DiePlaces places;
    const double whole = std::max({area.mm2, budget, 1e-6});
    constexpr double widest = 3.2;  // of a die, times its height
    const double w = std::min<double>(room.w, room.h * widest);
    places.outline = {room.x + static_cast<float>((room.w - w) / 2), room.y, static_cast<float>(w), room.h};
    places.px_of_mm = std::sqrt(w * room.h / whole);
    const auto share = [&](double mm2) { return static_cast<float>(mm2 / std::max(1e-9, area.mm2)); };
    places.die = places.outline;
    places.die.w = static_cast<float>(w * area.mm2 / whole);
    const Rect& die = places.die;
    const float rest = die.h * share(area.of(model::PartGroup::rest));
    places.rest = {die.x, die.bottom() - rest, die.w, rest};
    const float h = die.h - rest, above = die.w * die.h;  // of the area
    const auto width = [&](double mm2) { return h > 0 ? above * share(mm2) / h : 0; };
    const auto channels = static_cast<int>(std::min<uint32_t>(gpu.dram_channels, most_channels));
    const int left = (channels + 1) / 2, right = channels - left;
    const double memory = area.of(model::PartGroup::memory), l2 = area.of(model::PartGroup::l2);
    const float memory_left = width(memory * left / std::max(1, channels)), memory_right = width(memory) - memory_left;
    const float l2_left = width(l2 * (right > 0 ? 0.5 : 1)), l2_right = width(l2) - l2_left;
    stack_boxes(places.channels, model::PartGroup::memory, 0, left, {die.x, die.y, memory_left, h});
    if (right > 0)
        stack_boxes(places.channels, model::PartGroup::memory, left, right,
                    {die.right() - memory_right, die.y, memory_right, h});
    const float begin = die.x + memory_left + l2_left, end = die.right() - (right > 0 ? memory_right : 0) - l2_right;
    if (l2_left > 0) places.l2.push_back({model::PartGroup::l2, 0, {die.x + memory_left, die.y, l2_left, h}});
    if (l2_right > 0.01f) places.l2.push_back({model::PartGroup::l2, 1, {end, die.y, l2_right, h}});
    place_tiles(places, static_cast<int>(gpu.sms.value), {begin, die.y, end - begin, h});
    places.tile = parts_of_sm(gpu, area);
    places.columns = static_cast<int>(std::max<uint32_t>(1, gpu.sub_cores));
    return places;
}

Rect part_of_tile(const DiePlaces& places, const Rect& tile, size_t part) {
    double all = 0, before = 0;
    for (size_t i = 0; i < places.tile.size(); ++i) {
        all += places.tile[i].mm2;
        if (i < part) before += places.tile[i].mm2;
    }
    if (all <= 0) return tile;
    return {tile.x, tile.y + tile.h * static_cast<float>(before / all), tile.w,
            tile.h * static_cast<float>(places.tile[part].mm2 / all)};
}

}  // namespace lockstep::gui
