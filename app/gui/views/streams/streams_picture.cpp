#include "app/gui/views/streams/streams_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/gui/widgets/axis.h"

namespace lockstep::gui {

using model::Engine;
using model::HostVerb;

namespace {

constexpr float head_height = 34, ruler = 20, band = 14, legend_band = 24;
constexpr float least_labelled = 9;  // high: a capital

Color color_of(const StreamBoard& board, int operation) {
    switch (board.program.operations[static_cast<size_t>(operation)].verb) {
        case HostVerb::launch:
            return data::green;
        case HostVerb::copy_in:
            return data::orange;
        case HostVerb::copy_out:
            return data::yellow;
        case HostVerb::copy_within:
            return data::purple;
        case HostVerb::work:
            return data::blue;
        default:
            return data::grey;
    }
}

std::string letter_of(HostVerb verb) {
    switch (verb) {
        case HostVerb::launch:
            return "K";
        case HostVerb::copy_in:
            return "I";
        case HostVerb::copy_out:
            return "O";
        case HostVerb::copy_within:
            return "D";
        case HostVerb::work:
            return "W";
        default:
            return "";
    }
}

std::string mark_text(double us, double step) {
    return step < 0.1 ? fmt::format("{:.2f}", us) : step < 1 ? fmt::format("{:.1f}", us) : with_commas(std::llround(us));
}

}  // namespace

float streams_head(const Rect& body) {
    return body.h < 160 ? 0 : head_height;
}

StreamPlaces StreamsPicture::place(const Ui& ui, const Rect& body) const {
    StreamPlaces p;
    float widest = 60;
    p.rows_list.push_back({StreamRow::Kind::host, 0, Engine::none, "host"});
    for (const uint32_t stream : board_.streams)
        p.rows_list.push_back({StreamRow::Kind::stream, stream, Engine::none, stream_label(stream)});
    if (dragged_ >= 0 && board_.streams.size() < 32) {  // somewhere to drop it where nothing else runs
        const uint32_t fresh = board_.streams.empty() ? 1 : board_.streams.back() + 1;
        p.rows_list.push_back({StreamRow::Kind::stream, fresh, Engine::none, "new stream"});
    }
    for (const Engine engine : board_.used)
        p.rows_list.push_back({StreamRow::Kind::engine, 0, engine, model::name_of(engine, board_.gpu)});
    for (const StreamRow& row : p.rows_list) widest = std::max(widest, ui.text_width(row.label, {.size = 12}));
    p.gutter = std::min(widest + 12, body.w * 0.25f);
    const auto count = static_cast<float>(p.rows_list.size());
    const float without = body.h - ruler - band - 6 - legend_band;  // for the rows, without controls
    p.head = streams_head(body);
    if (without - p.head < 12 * count + 4 && without >= 11 * count + 4) p.head = 0;
    const float top = body.y + p.head + ruler + band + 6, above_legend = body.bottom() - top - legend_band;
    // Rows closer together, so that engines and legend are not behind the edge.
    float least = 14, gap = 8;  // between host, streams and engines
    if (above_legend < least * count + 2 * gap) gap = 2;
    if (above_legend < least * count + 2 * gap && body.h < 280) least = body.h < 160 ? 11.f : 12.f;
    if (p.head == 0 && above_legend < least * count + 2 * gap && body.h < 280) least = 11;
    p.content = least * count + 2 * gap;
    // Rows that do not fit scroll: the legend stays beside four of them.
    p.legend = above_legend >= std::min(p.content, 4 * least + 2 * gap);
    const float foot = body.bottom() - (p.legend ? legend_band : 0);
    p.rows = {body.x, top, body.w, std::max(20.f, foot - top)};
    p.plot = {body.x + p.gutter, top, body.w - p.gutter - 6, p.rows.h};
    p.begin = begin_;
    p.end = end_;
    const float room = p.rows.h - 2 * gap;
    const float h = std::clamp(room / count, least, 44.f);
    float y = top - scrolled_;
    for (size_t i = 0; i < p.rows_list.size(); ++i) {
        if (i > 0 && p.rows_list[i].kind != p.rows_list[i - 1].kind) y += gap;
        p.rows_list[i].y = y;
        p.rows_list[i].h = h - 2;
        y += h;
    }
    return p;
}

Rect StreamsPicture::bar_in(const StreamPlaces& p, const StreamRow& row, int operation) const {
    const model::HostOperation& asked = board_.program.operations[static_cast<size_t>(operation)];
    const model::OperationTime& one = board_.schedule.operations[static_cast<size_t>(operation)];
    double from = one.begin_us, to = one.end_us;
    if (row.kind == StreamRow::Kind::host) {
        from = one.call_begin_us;
        to = one.busy_end_us;
    } else if (!one.on_device ||
               (row.kind == StreamRow::Kind::stream ? asked.stream != row.stream : one.engine != row.engine)) {
        return {};
    }
    if (to < p.begin || from > p.end) return {};
    const float x0 = std::max(p.at(from), p.plot.x), x1 = std::min(p.at(to), p.plot.right());
    Rect bar{x0, row.y, std::max(x1 - x0 - 0.5f, 1.f), row.h};
    if (row.kind == StreamRow::Kind::engine && row.engine == Engine::compute) {  // kernels beside each other
        const auto [lane, lanes] = lane_of(operation);
        bar.h = row.h / static_cast<float>(lanes);
        bar.y += bar.h * static_cast<float>(lane);
        bar.h = std::max(2.f, bar.h - (lanes > 1 ? 1 : 0));
    }
    return bar;
}

std::pair<int, int> StreamsPicture::lane_of(int operation) const {
    if (lanes_for_ != board_.schedule.total_us || lanes_.size() != board_.program.operations.size()) {
        lanes_for_ = board_.schedule.total_us;
        lanes_.assign(board_.program.operations.size(), 0);
        std::vector<int> order;
        for (size_t i = 0; i < lanes_.size(); ++i)
            if (board_.schedule.operations[i].engine == Engine::compute) order.push_back(static_cast<int>(i));
        const auto& times = board_.schedule.operations;
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return times[static_cast<size_t>(a)].begin_us < times[static_cast<size_t>(b)].begin_us;
        });
        std::vector<double> free;
        for (const int i : order) {
            size_t lane = 0;
            while (lane < free.size() && free[lane] > times[static_cast<size_t>(i)].begin_us + 1e-9) ++lane;
            if (lane == free.size()) free.push_back(0);
            free[lane] = times[static_cast<size_t>(i)].end_us;
            lanes_[static_cast<size_t>(i)] = static_cast<int>(lane);
        }
        lane_count_ = std::max<int>(1, static_cast<int>(free.size()));
    }
    return {std::min(lanes_[static_cast<size_t>(operation)], 7), std::min(lane_count_, 8)};
}

double StreamsPicture::tick_step(const StreamPlaces& p) const {
    const double least = (p.end - p.begin) * 70 / std::max(1.f, p.plot.w);
    return rounded(std::max(least, 1e-6));
}

void StreamsPicture::draw_ruler(Ui& ui, const StreamPlaces& p) const {
    const float baseline = p.plot.y - band - 10;
    ui.text(p.rows.x, baseline, "µs", {.size = 12, .color = ui.theme->quiet});
    const double step = tick_step(p);
    for (double us = std::ceil(p.begin / step) * step; us <= p.end + step * 1e-6; us += step) {
        const float x = p.at(us);
        ui.rect({x, p.plot.y, 1, p.plot.h}, ui.theme->grid);
        const std::string label = mark_text(us, step);
        const Rect here = cursor_box(ui, p);
        const float half = ui.text_width(label, {.size = 12, .mono = true}) / 2 + 6;
        const bool covered = x + half > here.x && x - half < here.right();
        if ((x < p.plot.right() - 14 || us == p.end) && !(covered && cursor_ > 0))  // the cursor's time stands there
            ui.text(x, baseline, label, {.size = 12, .color = ui.theme->quiet, .align = Align::center, .mono = true});
    }
}

void StreamsPicture::draw_band(Ui& ui, const StreamPlaces& p) const {
    const float y = p.plot.y - band - 4;
    // Without the host: of the GPU's engines.
    const bool wide = ui.text_width("GPU engines busy", {.size = 12}) <= p.gutter - 6;
    ui.text(p.rows.x, y + 11, wide ? "GPU engines busy" : "GPU engines",
            {.size = 12, .color = ui.theme->ink2, .width = p.gutter - 6});
    for (const model::BusySpan& span : board_.schedule.busy) {
        if (span.end_us < p.begin || span.begin_us > p.end) continue;
        const float x0 = std::max(p.at(span.begin_us), p.plot.x), x1 = std::min(p.at(span.end_us), p.plot.right());
        const Rect box{x0, y, std::max(0.5f, x1 - x0), band};
        if (span.engines > 0)
            ui.rect(box, mix(ui.theme->panel, data::blue, span.engines == 1 ? 0.28f : span.engines == 2 ? 0.65f : 1.0f));
        else
            ui.rect({box.x, box.bottom() - 1, box.w, 1}, ui.theme->line);
        if (box.w > 11 && span.engines > 0)
            ui.text(
                box.x + box.w / 2, y + 11, std::to_string(span.engines),
                {.size = 12,
                 .color = span.engines == 1 ? ui.theme->ink
                                            : text_on(mix(ui.theme->panel, data::blue, span.engines == 2 ? 0.65f : 1.0f)),
                 .align = Align::center,
                 .weight = 600,
                 .mono = true});
    }
}

void StreamsPicture::draw_rows(Ui& ui, const StreamPlaces& p) const {
    for (const StreamRow& row : p.rows_list) {
        const bool target = dragged_ >= 0 && row.kind == StreamRow::Kind::stream && row.stream == drop_;
        ui.rect({p.plot.x, row.y, p.plot.w, row.h},
                target ? ui.theme->selected : mix(ui.theme->panel, ui.theme->panel2, 0.7f));
        ui.text(p.rows.x, row.y + row.h / 2 + 4.5f, row.label,
                {.size = 12,
                 .color = row.kind == StreamRow::Kind::stream ? ui.theme->ink : ui.theme->ink2,
                 .weight = row.kind == StreamRow::Kind::stream ? 600 : 400,
                 .width = p.gutter - 8});
    }
}

void StreamsPicture::draw_bars(Ui& ui, const StreamPlaces& p) const {
    for (const StreamRow& row : p.rows_list)
        for (size_t i = 0; i < board_.program.operations.size(); ++i) {
            const auto operation = static_cast<int>(i);
            const Rect bar = bar_in(p, row, operation);
            if (bar.w <= 0) continue;
            if (row.kind == StreamRow::Kind::host)
                draw_call(ui, p, row, operation, bar);
            else
                draw_work(ui, row, operation, bar);
        }
}

void StreamsPicture::draw_call(Ui& ui, const StreamPlaces& p, const StreamRow& row, int operation, const Rect& bar) const {
    const model::OperationTime& one = board_.schedule.operations[static_cast<size_t>(operation)];
    const model::HostOperation& asked = board_.program.operations[static_cast<size_t>(operation)];
    const Color fill = asked.verb == HostVerb::work ? data::blue : mix(ui.theme->panel, ui.theme->ink2, 0.42f);
    if (one.busy_end_us >= p.begin) {
        ui.rect({bar.x, bar.y, std::max(1.f, bar.w - 0.5f), bar.h}, fill);
        label(ui, bar,
              asked.verb == HostVerb::work       ? asked.name
              : asked.verb == HostVerb::allocate ? "malloc"
                                                 : "",
              letter_of(asked.verb == HostVerb::work ? asked.verb : HostVerb::wait), fill);
    }
    if (one.call_end_us > one.busy_end_us && one.call_end_us >= p.begin) {  // it waits
        const float x0 = std::max(p.at(one.busy_end_us), p.plot.x), x1 = std::min(p.at(one.call_end_us), p.plot.right());
        ui.rect({x0, row.y + row.h / 2 - 1.5f, std::max(1.f, x1 - x0), 3}, data::grey);
    }
}

void StreamsPicture::draw_work(Ui& ui, const StreamRow& row, int operation, const Rect& bar) const {
    const model::HostOperation& asked = board_.program.operations[static_cast<size_t>(operation)];
    if (asked.verb == HostVerb::record) {
        if (row.kind == StreamRow::Kind::stream) ui.rect({bar.x - 1, row.y + 2, 2, row.h - 4}, ui.theme->ink2);
        return;
    }
    if (asked.verb == HostVerb::wait) {
        ui.rect({bar.x, row.y + row.h / 2 - 2, bar.w, 4}, data::grey);
        return;
    }
    const Color fill =
        mix(ui.theme->panel, color_of(board_, operation), row.kind == StreamRow::Kind::engine ? 0.72f : 0.92f);
    const Faded faint(ui, operation == dragged_ ? 0.4f : 1.0f);
    ui.rect(bar, fill);
    if (bar.h >= least_labelled) label(ui, bar, asked.name, letter_of(asked.verb), fill);
}

void StreamsPicture::label(Ui& ui, const Rect& bar, const std::string& name, const std::string& letter, Color fill) {
    const TextStyle style{.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600};
    for (const std::string& text : {bar.h < 12 ? std::string() : name, letter})  // a low bar holds a capital, no more
        if (!text.empty() && ui.text_width(text, style) + 6 < bar.w) {
            // In a low bar a little higher: what hangs below the line stays inside.
            ui.text(bar.x + bar.w / 2, bar.y + bar.h / 2 + (bar.h < 16 && text.size() > 1 ? 3.5f : 4.5f), text, style);
            return;
        }
}

void StreamsPicture::draw_arrows(Ui& ui, const StreamPlaces& p) const {
    for (size_t i = 0; i < board_.program.operations.size(); ++i) {
        const model::HostOperation& wait = board_.program.operations[i];
        if (wait.verb != HostVerb::wait) continue;
        int record = -1;
        for (size_t j = 0; j < i; ++j)
            if (board_.program.operations[j].verb == HostVerb::record && board_.program.operations[j].event == wait.event)
                record = static_cast<int>(j);
        if (record < 0) continue;
        const StreamRow *from = p.stream_row(board_.program.operations[static_cast<size_t>(record)].stream),
                        *to = p.stream_row(wait.stream);
        const double recorded = board_.schedule.operations[static_cast<size_t>(record)].end_us,
                     went_on = board_.schedule.operations[i].end_us;
        if (!from || !to || from == to || went_on < p.begin || recorded > p.end) continue;
        const bool down = to->y > from->y;
        const Point a{p.at(recorded), down ? from->y + from->h - 2 : from->y + 2},
            b{p.at(went_on), down ? to->y + to->h / 2 - 3 : to->y + to->h / 2 + 3};
        ui.line(a, b, ui.theme->ink2, 1.25f);
        ui.arrow_head(b, down ? Way::down : Way::up, ui.theme->ink2, 4);
    }
}

void StreamsPicture::draw_path(Ui& ui, const StreamPlaces& p) const {
    const auto place_of = [&](const model::PathStep& step) -> Rect {
        const StreamRow* row = step.on_host
                                   ? &p.rows_list.front()
                                   : p.stream_row(board_.program.operations[static_cast<size_t>(step.operation)].stream);
        return row ? bar_in(p, *row, step.operation) : Rect{};
    };
    Rect before;
    for (const model::PathStep& step : board_.schedule.critical) {
        const Rect bar = place_of(step);
        if (bar.w <= 0) {
            before = bar;
            continue;
        }
        const float stroke = bar.h < 14 ? 1.0f : step.on_host || bar.h < 18 ? 1.5f : 2.5f;
        if (bar.w > 4 * stroke) {
            ui.frame(bar, ui.theme->ink, stroke);
        } else if (!step.on_host || bar.w > 3) {  // the sides would hide a thin bar's colour
            ui.rect({bar.x, bar.y - stroke, bar.w, stroke}, ui.theme->ink);
            ui.rect({bar.x, bar.bottom(), bar.w, stroke}, ui.theme->ink);
        }
        if (before.w > 0 && std::abs(before.y - bar.y) > 1) {
            const float x = std::min(before.right(), bar.x + 1);
            const bool down = bar.y > before.y;
            ui.rect({x - 1.25f, down ? before.bottom() : bar.bottom(), 2.5f,
                     down ? bar.y - before.bottom() : before.y - bar.bottom()},
                    ui.theme->ink);
        }
        before = bar;
    }
}

void StreamsPicture::draw_chosen(Ui& ui, const StreamPlaces& p, int32_t line) const {
    for (size_t i = 0; board_.host && line > 0 && i < board_.program.operations.size(); ++i)
        if (board_.program.operations[i].line == line && static_cast<int>(i) != chosen_)
            for (const StreamRow& row : p.rows_list)
                if (const Rect bar = bar_in(p, row, static_cast<int>(i)); bar.w > 0)
                    ui.frame({bar.x, bar.y, std::max(bar.w, 3.f), bar.h}, ui.theme->accent, 2);
    for (const int outlined : {hovered_, chosen_})
        for (const StreamRow& row : p.rows_list)
            if (const Rect bar = outlined < 0 ? Rect{} : bar_in(p, row, outlined); bar.w > 0)
                ui.outline({bar.x, bar.y, std::max(bar.w, 3.f), bar.h}, 0);
}

std::string StreamsPicture::cursor_text() const {
    return fmt::format("{:.1f}", cursor_);
}

Rect StreamsPicture::cursor_box(Ui& ui, const StreamPlaces& p) const {
    const float width = ui.text_width(cursor_text(), {.size = 12, .weight = 700, .mono = true}) + 12;
    const float left = std::clamp(p.at(cursor_) - width / 2, p.plot.x - 20, p.plot.right() - width);
    return {left, p.plot.y - band - 24, width, 18};
}

void StreamsPicture::draw_cursor(Ui& ui, const StreamPlaces& p) const {
    ui.cursor_line(p.at(cursor_), p.plot.y - band - 4, p.plot.bottom());
    const Rect box = cursor_box(ui, p);
    ui.rect(box, ui.theme->ink, 3);
    ui.text(box.x + box.w / 2, p.plot.y - band - 10, cursor_text(),
            {.size = 12, .color = ui.theme->panel, .align = Align::center, .weight = 700, .mono = true});
}

void StreamsPicture::legend(Ui& ui, const Rect& body) const {
    const float baseline = body.bottom() - 5;
    float x = body.x;
    struct Entry {
        std::optional<HostVerb> verb;  // none: any of them
        Color color;
        std::string_view words;
    };
    const Entry entries[] = {{HostVerb::launch, data::green, "K kernel"},
                             {HostVerb::copy_in, data::orange, "I copy in"},
                             {HostVerb::copy_out, data::yellow, "O copy out"},
                             {HostVerb::copy_within, data::purple, "D copy within"},
                             {HostVerb::work, data::blue, "W host works"},
                             {std::nullopt, mix(ui.theme->panel, ui.theme->ink2, 0.42f), "a call"}};
    const auto& operations = board_.program.operations;
    const auto has = [&](HostVerb verb) {
        return std::any_of(operations.begin(), operations.end(),
                           [&](const model::HostOperation& one) { return one.verb == verb; });
    };
    for (const Entry& entry : entries) {  // of what is in the picture
        if (entry.verb ? !has(*entry.verb) : operations.empty()) continue;
        if (x + 30 + ui.text_width(entry.words, {.size = 13}) > body.right()) return;
        x = ui.legend(x, baseline, entry.color, Hatch::solid, entry.words);
    }
    if (x + 90 < body.right()) {
        ui.rect({x, baseline - 6, 20, 3}, data::grey);
        x = ui.text(x + 26, baseline, "waits", {.size = 13, .color = ui.theme->ink2}) + 18;
    }
    if (x + 130 < body.right()) {
        ui.frame({x, baseline - 11, 18, 13}, ui.theme->ink, 2.5f);
        ui.text(x + 24, baseline, "critical path", {.size = 13, .color = ui.theme->ink2});
    }
}

}  // namespace lockstep::gui
