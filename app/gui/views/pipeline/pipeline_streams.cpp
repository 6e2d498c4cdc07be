// Under a training run's schedule: every rank's streams over the step, above what it computed, below its messages and
// collectives by purpose. A click picks the rank.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/collective/collective_data.h"
#include "app/gui/views/pipeline/pipeline_picture.h"

namespace lockstep::gui {

namespace {

constexpr std::string_view computing[] = {"forward", "backward", "attention", "update", "offload"};

bool computes_span(const parallel::RankSpan& span) {
    return std::any_of(std::begin(computing), std::end(computing),
                       [&](std::string_view word) { return span.label.starts_with(word); });
}

Color compute_color(const std::string& label) {
    if (label.starts_with("backward of weights")) return data::purple;
    if (label.starts_with("backward")) return data::green;
    if (label.starts_with("update") || label.starts_with("offload")) return data::yellow;
    return data::sky;
}

std::string purpose_of_span(const std::string& label) {  // "all-gather parameters dp": its second word
    const size_t first = label.find(' ');
    if (first == std::string::npos) return {};
    const size_t second = label.find(' ', first + 1);
    return label.substr(first + 1, second == std::string::npos ? std::string::npos : second - first - 1);
}

std::string coordinates_in(const parallel::Mesh& mesh, int rank) {
    std::string text;
    for (const parallel::MeshAxis& axis : mesh.axes)
        if (axis.size > 1) text += fmt::format(" {}{}", axis.name, mesh.coordinate(rank, axis.name));
    return text;
}

}  // namespace

PurposeLook look_of_purpose(std::string_view purpose) {
    if (purpose == "gradients") return {data::green, Hatch::horizontal};
    if (purpose == "parameters") return {data::sky, Hatch::solid};
    if (purpose == "activations") return {data::orange, Hatch::dots};
    return {data::grey, Hatch::cross};
}

std::string step_share_words(const scene::TrainingShown& shown) {
    double compute = 0;
    for (const parallel::RankStep& rank : shown.record.ranks) compute += rank.compute_us;
    const double step = shown.end_us - shown.begin_us, ranks = static_cast<double>(shown.record.ranks.size());
    if (!(step > 0) || ranks < 1) return {};
    const double share = 100 * compute / (step * ranks);
    return fmt::format("a rank computes {:.0f} % of the step's {} and waits the rest", share, time_text(step));
}

namespace {

// The rows of the streams, one a rank: computing above, communicating below it.
struct StreamRows {
    float left = 0, top = 0;
    float pitch = 1, bar = 1, lane = 1;  // lane: of what computes

    float y_of(int rank) const { return top + pitch * static_cast<float>(rank); }
};

void draw_streams_head(Ui& ui, const scene::TrainingShown& shown, const Rect& area) {
    const Theme& theme = *ui.theme;
    const std::string title = shown.flushes ? "every rank's streams" : fmt::format("update {} by rank", shown.loss.size());
    float x = ui.text(area.x, area.y + 15, title, {.size = 13, .weight = 600}) + 18;
    const auto legend = [&](Color fill, Hatch twin, std::string_view words) {
        if (x + 22 + ui.text_width(words, {.size = 12}) > area.right()) return;
        ui.rect({x, area.y + 4, 12, 12}, fill);
        if (twin != Hatch::solid) ui.hatch({x, area.y + 4, 12, 12}, faded(text_on(fill), 0.6f), twin);
        x = ui.text(x + 17, area.y + 15, words, {.size = 12, .color = theme.ink2}) + 12;
    };
    legend(data::yellow, Hatch::solid, "update");
    for (const parallel::Traffic& row : shown.sent) {
        const PurposeLook look = look_of_purpose(row.purpose);
        if (row.bytes >= 1000) legend(look.fill, look.twin, fmt::format("{} along {}", row.purpose, row.axis));
    }
    const std::string words = step_share_words(shown);
    if (x + ui.text_width(words, {.size = 12}) + 8 <= area.right())
        ui.text(area.right() - 8, area.y + 15, words, {.size = 12, .color = theme.ink2, .align = Align::right});
}

void draw_stream_name(Ui& ui, const PipelinePlaces& p, const scene::TrainingShown& shown, const StreamRows& rows, int rank,
                      bool picked) {
    if (rows.pitch < 13) return;
    const Theme& theme = *ui.theme;
    const float y = rows.y_of(rank), width = p.plot.x - rows.left - 4;
    const std::string name = fmt::format("rank {}", rank), where = coordinates_in(shown.mesh, rank);
    ui.text(rows.left, y + std::min(rows.bar / 2 + 4.5f, 14.0f), name,
            {.size = rows.pitch >= 16 ? 13.0f : 12.0f,
             .color = picked ? theme.ink : theme.ink2,
             .weight = picked ? 600 : 400,
             .width = width});
    if (rows.pitch >= 30 && !where.empty())
        ui.text(rows.left, y + 27, where.substr(1), {.size = 12, .color = theme.quiet, .width = width});
}

void draw_sending(Ui& ui, const Rect& box, const PurposeLook& look) {
    ui.rect(box, look.fill);
    if (look.twin != Hatch::solid && box.w > 8 && box.h > 5) ui.hatch(box, faded(text_on(look.fill), 0.6f), look.twin);
}

void draw_stream_spans(Ui& ui, const PipelinePlaces& p, const scene::TrainingShown& shown, const StreamRows& rows,
                       int rank) {
    const float y = rows.y_of(rank);
    float drawn[2] = {-1e9f, -1e9f};  // up to where, of each of both
    for (const parallel::RankSpan& span : shown.record.ranks[static_cast<size_t>(rank)].spans) {
        const bool computed = computes_span(span);
        const float x0 = p.x(span.begin_us), x1 = p.x(span.end_us);
        float& last = drawn[computed ? 0 : 1];
        if (x1 < p.plot.x || x0 > p.plot.right() || (x1 - x0 < 1.5f && x1 < last + 1.5f)) continue;
        last = std::max(last, x1);
        const float width = std::max(1.0f, x1 - x0 - (x1 - x0 > 4 ? 1.0f : 0.0f));
        const Rect box =
            computed ? Rect{x0, y, width, rows.lane} : Rect{x0, y + rows.lane + 1, width, rows.bar - rows.lane - 1};
        if (computed)
            ui.rect(box, compute_color(span.label));
        else
            draw_sending(ui, box, look_of_purpose(purpose_of_span(span.label)));
        if (ui.hovered(box))
            ui.tooltip(
                fmt::format("rank {}: {}\n{} to {} µs", rank, span.label, amount(span.begin_us), amount(span.end_us)));
    }
}

void draw_streams_axis(Ui& ui, const PipelinePlaces& p, float left, float y) {
    const Theme& theme = *ui.theme;
    ui.rect({p.plot.x, y, p.plot.w, 1}, theme.line);
    ui.text(left, y + 16, "µs", {.size = 12, .color = theme.quiet});
    for (int i = 0; i <= 5; ++i) {
        const double time = p.begin + (p.end - p.begin) * i / 5;
        const Align align = i == 0 ? Align::left : i == 5 ? Align::right : Align::center;
        ui.text(std::clamp(p.x(time), p.plot.x, p.plot.right()), y + 16, fmt::format("{:.0f}", time),
                {.size = 12, .color = theme.quiet, .align = align});
    }
}

}  // namespace

void draw_rank_streams(Ui& ui, const PipelinePlaces& p, const scene::TrainingShown& shown, Focus& focus, const Rect& area,
                       double now) {
    const auto ranks = static_cast<int>(shown.record.ranks.size());
    const bool axis = std::all_of(p.blocks.begin(), p.blocks.end(),
                                  [](const PipelineBlock& block) { return block.shown->run.actions.empty(); });
    const float head = 24, foot = axis ? 22.0f : 2.0f;
    StreamRows rows{.left = area.x, .top = area.y + head};
    rows.pitch = std::min(34.0f, (area.h - head - foot) / static_cast<float>(std::max(1, ranks)));
    if (rows.pitch < 7) return;
    rows.bar = rows.pitch - (rows.pitch > 14 ? 6.0f : 2.0f);
    rows.lane = rows.bar * 0.62f;
    draw_streams_head(ui, shown, area);
    for (int rank = 0; rank < ranks; ++rank) {
        const float y = rows.y_of(rank);
        const bool on = rank == std::max(0, focus.rank);
        if (on) ui.rect({area.x - 6, y - 2, area.w + 4, rows.pitch}, faded(ui.theme->selected, 0.55f));
        draw_stream_name(ui, p, shown, rows, rank, on);
        ui.clip({p.plot.x, y - 2, p.plot.w + 2, rows.pitch});
        draw_stream_spans(ui, p, shown, rows, rank);
        ui.unclip();
        if (ui.clicked({area.x, y, area.w, rows.pitch})) focus.rank = rank;
    }
    const float bottom = rows.y_of(ranks);
    if (now >= p.begin && now <= p.end) ui.cursor_line(p.x(now), rows.top - 3, bottom);
    if (axis) draw_streams_axis(ui, p, area.x, bottom);
}

}  // namespace lockstep::gui
