#include "app/gui/views/build/die_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr double frames_a_second = 30;  // over which fast time is averaged

const Rect& box_of_channel(const DiePlaces& places, uint32_t channel, uint32_t channels) {
    const auto boxes = static_cast<uint32_t>(places.channels.size());
    return places.channels[std::min(boxes - 1, channel * boxes / std::max(1u, channels))].box;
}

Point middle_of(const Rect& box) {
    return {box.x + box.w / 2, box.y + box.h / 2};
}

// In the half of L2 that lies on the way to its channel, at a height of its own.
Point place_of_slice(const DiePlaces& places, uint32_t slice, uint32_t slices) {
    const size_t halves = places.l2.size();
    const size_t half = halves > 1 && slice * 2 >= slices ? 1 : 0;
    const Rect& box = places.l2[half].box;
    const uint32_t in_half = std::max(1u, halves > 1 ? (slices + 1) / 2 : slices), at = slice % in_half;
    return {box.x + box.w / 2, box.y + box.h * (static_cast<float>(at) + 0.5f) / static_cast<float>(in_half)};
}

// Along two lines with a corner: first up or down in the SM's column, then across.
Point along(Point from, Point to, double share) {
    const float across = std::fabs(to.x - from.x), down = std::fabs(to.y - from.y), all = across + down;
    if (all < 1) return to;
    const float gone = all * static_cast<float>(std::clamp(share, 0.0, 1.0));
    if (gone <= down) return {from.x, from.y + (to.y > from.y ? gone : -gone)};
    return {from.x + (to.x > from.x ? gone - down : down - gone), to.y};
}

Color color_of_mark(RequestKind kind) {
    return kind == RequestKind::store    ? data::yellow
           : kind == RequestKind::atomic ? data::purple
           : kind == RequestKind::copy   ? data::orange
                                         : data::sky;
}

}  // namespace

SubCoresNow sub_cores_now(const DieLife& life, uint32_t sm) {
    SubCoresNow now;
    if (!life.known() || life.scene->machine == nullptr || !issues_kept(*life.scene, life.cycle())) return now;
    now.known = true;
    const auto window = std::max<int64_t>(1, static_cast<int64_t>(life.speed / frames_a_second));
    const int64_t end = life.cycle() + 1;
    for (const TileIssue& issue : issues_of_sm(*life.scene, sm, std::max<int64_t>(0, end - window), end)) {
        if (issue.scheduler >= 16) continue;
        now.share[issue.scheduler] += 1.0f / static_cast<float>(window);
        now.letter[issue.scheduler] = letter_of(*life.scene->timeline, issue.pc);
    }
    return now;
}

WarpsNow warps_now(const DieLife& life, uint32_t sm) {
    WarpsNow now;
    if (!life.known()) return now;
    const KernelTrace& trace = life.scene->trace();
    const simt::Dim3& block = life.scene->run->config.block;
    const int warps_a_block = static_cast<int>((uint64_t{block.x} * block.y * block.z + 31) / 32);
    for (const uint32_t resident : blocks_on(*life.scene, sm, life.cycle()).resident)
        now.resident += resident == TileState::nobody ? 0 : warps_a_block;
    if (sm != trace.sm || !life.scene->timeline->kept(life.cycle())) return now;
    for (const SlotRow& row : life.scene->timeline->rows) {
        const int warp = warp_at(trace, row, life.cycle());
        if (warp < 0) continue;
        const WarpState state = state_at(trace, trace.warps[static_cast<size_t>(warp)], life.cycle());
        if (!state.resident) continue;
        now.states.push_back(state.issue != nullptr ? 'i' : state.reason() == StallReason::not_selected ? 'r' : 'w');
    }
    now.resident = std::max(now.resident, static_cast<int>(now.states.size()));
    return now;
}

// A cell a place: waits orange, ready hollow, issues green over the whole height; empty places stay dark.
void draw_warps(Ui& ui, const WarpsNow& now, int places, const Rect& box) {
    if (places <= 0 || box.w < 8 || box.h < 4) return;
    const int columns = std::clamp(static_cast<int>(box.w / 6), 1, places);
    const int rows = std::max(1, static_cast<int>(box.h / 5));
    const int shown = std::min(places, columns * rows);
    const float pitch_x = box.w / static_cast<float>(columns);
    const int used = (shown + columns - 1) / columns;
    const float pitch_y = box.h / static_cast<float>(used), w = std::max(1.5f, pitch_x - 2.5f);
    const float h = std::min(pitch_y - 1, 4.0f);
    const auto every = static_cast<float>(places) / static_cast<float>(shown);
    for (int i = 0; i < shown; ++i) {
        const auto place = static_cast<int>(static_cast<float>(i) * every);
        if (place >= now.resident) break;
        const Rect cell{box.x + 1 + pitch_x * static_cast<float>(i % columns),
                        box.y + pitch_y * static_cast<float>(i / columns) + (pitch_y - h) / 2, w, h};
        const char state = place < static_cast<int>(now.states.size()) ? now.states[static_cast<size_t>(place)] : 'w';
        if (state == 'i')
            ui.rect({cell.x, cell.y - 1, cell.w, cell.h + 2}, ui.theme->ink);
        else if (state == 'r')
            ui.frame(cell, ui.theme->ink, 1);
        else
            ui.rect(cell, now.states.empty() ? faded(data::orange, 0.55f) : data::orange);
    }
}

double waiting_at_box(const DieLife& life, const DiePlaces& places, const DieBox& box) {
    if (!life.known() || life.scene->machine == nullptr) return 0;
    const QueueColumns& queues = life.scene->machine->queues;
    double sum = 0;
    for (uint32_t channel = 0; channel < queues.channels; ++channel)
        if (&box_of_channel(places, channel, queues.channels) == &box.box)
            sum += static_cast<double>(queues.waiting_at(life.cycle(), channel));
    return sum;
}

void draw_queue(Ui& ui, double waiting, const Rect& box) {
    const auto columns = static_cast<int>(box.w / 7), rows = static_cast<int>(box.h / 7);
    const int count = std::min(static_cast<int>(std::lround(waiting)), columns * rows);
    for (int i = 0; i < count; ++i)
        ui.rect({box.x + 7 * static_cast<float>(i % columns), box.y + 7 * static_cast<float>(i / columns), 5, 5}, data::sky);
}

std::vector<DieMark> marks_on_die(const DieLife& life, const DiePlaces& places) {
    std::vector<DieMark> marks;
    if (!life.single_requests() || places.l2.empty() || places.channels.empty()) return marks;
    const MachineTrace& machine = *life.scene->machine;
    for (const uint32_t i : requests_at(*life.scene, life.clock)) {
        const RequestRecord& request = machine.requests[i];
        if (!is_drawn(*life.scene, i) || request.level == MemoryLevel::l1 || request.sm >= places.sms.size()) continue;
        double way = 0;
        const Station station = stations_of(machine, request).station_at(life.clock, way);
        const Point sm = middle_of(places.sms[request.sm].box);
        const Point slice = place_of_slice(places, request.slice, machine.slices);
        const bool far = request.channel != RequestRecord::none;
        const Point channel = far ? middle_of(box_of_channel(places, request.channel, machine.channels)) : slice;
        DieMark mark{slice, request.kind, false, i};
        if (station == Station::crossbar)
            mark.at = along(sm, slice, way);
        else if (station == Station::l2 || station == Station::slice_queue)
            mark.at = slice;
        else if (station == Station::dram)
            mark.at = channel, mark.back = way > 0.5;
        else if (station == Station::back)
            mark.at = along(far ? channel : slice, sm, way), mark.back = true;
        else
            continue;
        marks.push_back(mark);
    }
    return marks;
}

void draw_marks(Ui& ui, const DieLife& life, const DiePlaces& places) {
    for (const DieMark& mark : marks_on_die(life, places)) {
        const Color color = color_of_mark(mark.kind);
        constexpr float r = 3.5f;
        const Rect square{mark.at.x - r, mark.at.y - r, 2 * r, 2 * r};
        if (mark.kind == RequestKind::store)
            ui.rect(square, color);
        else if (mark.kind == RequestKind::atomic)
            ui.polygon({{mark.at.x, mark.at.y - 5},
                        {mark.at.x + 5, mark.at.y},
                        {mark.at.x, mark.at.y + 5},
                        {mark.at.x - 5, mark.at.y}},
                       color);
        else
            ui.circle(mark.at, r + 1, ui.theme->panel),
                mark.back ? ui.ring(mark.at, r, color, 1.5f) : ui.circle(mark.at, r, color);
    }
}

std::string life_text(const DieLife& life) {
    if (!life.known()) return "";
    const KernelTrace& trace = life.scene->trace();
    const WaitingBlocks queue = blocks_waiting(*life.scene, life.cycle());
    std::string text = fmt::format("at cycle {}: {} of {} have begun", with_commas(life.cycle()), with_commas(queue.begun),
                                   counted(life.scene->blocks, "block"));
    const WarpsNow now = warps_now(life, trace.sm);
    if (!now.states.empty())
        text += fmt::format("; SM {}: {} warps wait, {} ready, {} issue", trace.sm, std::ranges::count(now.states, 'w'),
                            std::ranges::count(now.states, 'r'), std::ranges::count(now.states, 'i'));
    if (life.scene->machine != nullptr)
        text += fmt::format("; {} requests on the way", requests_at(*life.scene, life.clock).size());
    return text;
}

}  // namespace lockstep::gui
