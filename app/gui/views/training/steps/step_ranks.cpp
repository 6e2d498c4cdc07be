// A rank is two lanes: what it computes above, what it exchanges below; the phases of the picked rank stand over all.
#include "app/gui/views/training/steps/step_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/axis.h"
#include "core/base/units.h"

namespace lockstep::gui {

namespace {
constexpr StepPhase all_phases[] = {StepPhase::forward, StepPhase::backward, StepPhase::communication, StepPhase::update};

struct StepEnds {
    double begin = 0, end = 0;
};
StepEnds ends_of(const parallel::ParallelStepRecord& record) {
    StepEnds ends{1e300, 0};
    for (const parallel::RankStep& rank : record.ranks)
        for (const parallel::RankSpan& span : rank.spans)
            ends = {std::min(ends.begin, span.begin_us), std::max(ends.end, span.end_us)};
    return ends.end > 0 ? ends : StepEnds{};
}
}  // namespace

std::string_view name_of(StepPhase phase) {
    constexpr std::string_view names[] = {"forward", "backward", "communication", "update"};
    return names[static_cast<size_t>(phase)];
}

StepPhase phase_of(const parallel::RankSpan& span) {
    for (const StepPhase phase : {StepPhase::forward, StepPhase::backward, StepPhase::update})
        if (span.label.starts_with(name_of(phase))) return phase;
    if (span.label.starts_with("attention")) return StepPhase::forward;
    if (span.label.starts_with("offload")) return StepPhase::update;
    return StepPhase::communication;
}

Color step_phase_color(std::string_view phase) {
    if (phase == "forward") return data::green;
    if (phase == "backward") return data::sky;
    if (phase == "update") return data::purple;
    if (phase == "communication") return data::orange;
    return data::grey;
}

PhaseTimes phase_times(const parallel::RankStep& rank) {
    PhaseTimes times{.step_us = rank.end_us - rank.begin_us};
    std::vector<parallel::RankSpan> exchanged, computed;
    for (const parallel::RankSpan& span : rank.spans) {
        const StepPhase phase = phase_of(span);
        times.us[static_cast<size_t>(phase)] += span.end_us - span.begin_us;
        (phase == StepPhase::communication ? exchanged : computed).push_back(span);
    }
    const auto by_begin = [](const auto& a, const auto& b) { return a.begin_us < b.begin_us; };
    std::sort(exchanged.begin(), exchanged.end(), by_begin);
    double reached = -1e300;  // streams overlap: each moment counts once
    for (const parallel::RankSpan& span : exchanged) {
        const double begin = std::max(span.begin_us, reached);
        double alone = std::max(0.0, span.end_us - begin);
        for (const parallel::RankSpan& work : computed)
            alone -= std::max(0.0, std::min(work.end_us, span.end_us) - std::max(work.begin_us, begin));
        times.alone_us += std::max(0.0, alone);
        reached = std::max(reached, span.end_us);
    }
    for (const parallel::Traffic& row : rank.sent) times.sent_bytes += row.bytes, times.messages += row.messages;
    return times;
}

std::string ranks_sentence(const parallel::ParallelStepRecord& record, int64_t batch, double alone) {
    const PhaseTimes times = phase_times(record.ranks.front());
    const auto count = static_cast<int64_t>(record.ranks.size());
    const double off = std::abs(record.loss - alone);
    return fmt::format(
        "{} ranks take {} of {} examples each. Rank 0 sends {} of gradients and more in {} messages: {:.1f} of {:.1f} "
        "µs "
        "go to communication alone, {:.0f} %. Loss {:.4f}; one device's is {}.",
        count, batch / count, batch, counted(times.sent_bytes, "byte"), times.messages, times.alone_us, times.step_us,
        times.step_us > 0 ? 100 * times.alone_us / times.step_us : 0, record.loss,
        off == 0 ? std::string("the same to the bit") : fmt::format("{:.4f}, {:.0e} off", alone, off));
}

std::string ranks_text(const parallel::ParallelStepRecord& record) {
    std::string text;
    const double begin = ends_of(record).begin;
    for (size_t rank = 0; rank < record.ranks.size(); ++rank)
        for (const parallel::RankSpan& span : record.ranks[rank].spans)
            text += fmt::format("  rank {} {:<13} {:<28} {:>9.2f} to {:>9.2f} µs\n", rank, name_of(phase_of(span)),
                                span.label, span.begin_us - begin, span.end_us - begin);
    return text;
}

namespace {

// A rank's phases: from where one begins to where it ends; communication where it is not hidden by work. Updates may lie
// between two exchanges: a name stands in the widest part that its phase has for itself.
template <class X>
void draw_phases(Ui& ui, const parallel::RankStep& rank, float y, const X& x_of) {
    struct Part {
        StepPhase phase;
        float a, b;
    };
    std::vector<Part> parts;
    for (const StepPhase phase : all_phases) {
        double begin = 1e300, end = -1e300;
        for (const parallel::RankSpan& span : rank.spans)
            if (phase_of(span) == phase) begin = std::min(begin, span.begin_us), end = std::max(end, span.end_us);
        if (phase == StepPhase::communication)
            for (const parallel::RankSpan& span : rank.spans)
                if (phase_of(span) == StepPhase::backward) begin = std::max(begin, span.end_us);
        if (end > begin) parts.push_back({phase, x_of(begin), x_of(end)});
    }
    // What lies within another comes after it.
    std::stable_sort(parts.begin(), parts.end(), [](const Part& p, const Part& q) { return p.b - p.a > q.b - q.a; });
    for (size_t i = 0; i < parts.size(); ++i) {
        const auto& [phase, a, b] = parts[i];
        ui.rect({a + 1, y + 11, std::max(1.f, b - a - 2), 3}, step_phase_color(name_of(phase)));
        float left = a, right = b;
        for (size_t j = i + 1; j < parts.size(); ++j) {
            const float from = std::max(left, parts[j].a), to = std::min(right, parts[j].b);
            if (from >= to) continue;
            if (from - left >= right - to)
                right = from;
            else
                left = to;
        }
        if (ui.text_width(name_of(phase), {.size = 12}) + 6 < right - left)
            ui.text((left + right) / 2, y + 8, std::string(name_of(phase)),
                    {.size = 12, .color = ui.theme->ink2, .align = Align::center});
    }
}

}  // namespace

void draw_step_ranks(Ui& ui, const parallel::ParallelStepRecord& record, PickedSpan& picked, const Rect& r) {
    const Theme& theme = *ui.theme;
    const StepEnds ends = ends_of(record);
    const double total = std::max(ends.end - ends.begin, 1e-6), unit = step_of_time(total);
    const Rect plot{r.x + 54, r.y, r.w - 62, r.h};
    const auto x_of = [&](double us) { return plot.x + plot.w * static_cast<float>((us - ends.begin) / total); };
    const auto ranks = static_cast<int>(record.ranks.size());
    const float top = r.y + 16, axis_room = r.h > 70 ? 16.0f : 0.0f, room = r.h - 16 - axis_room;
    const int rows = std::clamp(static_cast<int>(room / 26), 1, ranks);
    const float pitch = std::min(room / static_cast<float>(rows), 46.0f), lane = (pitch - 4) * 0.6f;
    const int here = std::clamp(picked.rank, 0, ranks - 1), first = std::clamp(here - rows + 1, 0, ranks - rows);
    const float bottom = top + pitch * static_cast<float>(rows);
    for (int i = 0; i * unit <= total; ++i) {
        const float x = x_of(ends.begin + i * unit);
        ui.line({x, top}, {x, bottom}, theme.grid);
        if (axis_room > 0)
            ui.text(x, bottom + 13, i == 0 ? "0" : fmt::format("{:g} µs", i * unit),
                    {.size = 12, .color = theme.ink2, .align = i == 0 ? Align::left : Align::center});
    }
    draw_phases(ui, record.ranks[static_cast<size_t>(here)], r.y, x_of);
    for (int row = 0; row < rows; ++row) {
        const int rank = first + row;
        const float y = top + 2 + pitch * static_cast<float>(row);
        ui.text(r.x, y + std::min(lane, 16.f) - 2, fmt::format("rank {}", rank),
                {.size = 13, .color = rank == here ? theme.ink : theme.ink2, .weight = rank == here ? 600 : 400});
        const auto& spans = record.ranks[static_cast<size_t>(rank)].spans;
        for (size_t i = 0; i < spans.size(); ++i) {
            const parallel::RankSpan& span = spans[i];
            const StepPhase phase = phase_of(span);
            const bool exchanges = phase == StepPhase::communication;
            const float a = x_of(span.begin_us), b = std::max(x_of(span.end_us), a + 2);
            const Rect bar{a + 0.5f, exchanges ? y + lane + 1 : y, b - a - 1, exchanges ? pitch - lane - 5 : lane};
            const bool on = picked.rank == rank && picked.span == static_cast<int>(i);
            const Color fill = mix(theme.panel, step_phase_color(name_of(phase)), on ? 0.85f : 0.62f);
            ui.rect(bar, fill);
            if (exchanges && bar.w > 8 && bar.h > 5) ui.hatch(bar, faded(text_on(fill), 0.35f), Hatch::horizontal);
            if (bar.h >= 13 && ui.text_width(span.label, {.size = 12, .weight = 600}) + 6 < bar.w)
                ui.text(bar.x + bar.w / 2, bar.y + bar.h / 2 + 4.5f, span.label,
                        {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600});
            if (on) ui.outline(bar, 0);
            const bool twice = ui.double_clicked(bar);
            if (ui.area(fmt::format("rank {} span {}", rank, i), bar))
                picked = {rank, static_cast<int>(i), twice || (on && ui.pressed(Key::enter, r))};
            if (ui.hovered(bar))
                ui.tooltip(fmt::format("rank {}: {} ({})\n{}", rank, span.label, name_of(phase),
                                       lockstep::time_text(span.end_us - span.begin_us, {.decimals = 2})));
        }
    }
    if (rows < ranks)
        ui.text(r.right(), r.y + 8, fmt::format("{} of {} ranks", rows, ranks),
                {.size = 12, .color = theme.quiet, .align = Align::right});
}

}  // namespace lockstep::gui
