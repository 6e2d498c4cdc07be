// D8, streams: the host, every stream and every engine by time; above them how many engines work at once. A thick frame is
// the critical path, a thin grey bar a wait with an arrow from the event that ends it. A bar can be dragged to another
// stream, or moved with Page Up and Page Down: the schedule is made anew at once. Up and Down choose the operation, W and S
// or the wheel zoom, A and D or dragging pan, Home shows everything, Enter opens the kernel's warps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/streams_data.h"
#include "app/gui/views/streams_views.h"

namespace lockstep::gui {
namespace {

using model::Engine;
using model::HostVerb;

constexpr float head_height = 34, ruler = 20, band = 14, legend_height = 24;

// Where there is little room, the timeline comes first.
float head_of(const Rect& body) {
    return body.h < 160 ? 0 : head_height;
}

struct Row {
    enum class Kind { host, stream, engine } kind = Kind::host;
    uint32_t stream = 0;
    Engine engine = Engine::none;
    std::string label;
    float y = 0, h = 0;
};

struct Places {
    Rect plot;                      // under the ruler, right of the gutter
    Rect rows;                      // the same with the gutter
    float gutter = 0, content = 0;  // height that the rows need at least
    bool legend = true;
    std::vector<Row> rows_list;
    double begin = 0, end = 1;  // us in view
    float at(double us) const { return plot.x + static_cast<float>((us - begin) / std::max(end - begin, 1e-9)) * plot.w; }
    double us(float x) const { return begin + static_cast<double>((x - plot.x) / std::max(1.f, plot.w)) * (end - begin); }
    const Row* stream_row(uint32_t stream) const {
        for (const Row& row : rows_list)
            if (row.kind == Row::Kind::stream && row.stream == stream) return &row;
        return nullptr;
    }
};

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

std::string time_text(double us, double step) {
    return step < 0.1 ? fmt::format("{:.2f}", us) : step < 1 ? fmt::format("{:.1f}", us) : with_commas(std::llround(us));
}

class StreamsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        adopt(*snapshot);
        if (board_.empty()) {
            const Rect body = ui.panel(area, {.title = title});
            return ui.say_nothing_yet(
                body, snapshot->step ? "This step ran without timing; pause to time it." : "No host program has run yet.",
                snapshot->busy.empty() ? "A lesson's host program, or a timed training step, shows here." : snapshot->busy);
        }
        if (session.reveal_steps >= 0) {
            const Rect body = ui.panel(area, {.title = title, .badge = Provenance::simulated, .caption = hidden_sentence});
            const Rect box{body.x, body.y, body.w, std::min(60.f, body.h)};
            ui.dashed(box, ui.theme->ink3);
            ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
            return;
        }
        const std::string right = title_of(board_), sentence = caption_of(board_);
        const Rect body =
            ui.panel(area, {.title = title, .right = right, .badge = Provenance::simulated, .caption = sentence});
        ui.push_scope("streams");
        Places places = place(ui, body);
        react(ui, session, focus, places, area);
        // More rows than fit: the bar at the right end scrolls, and the chosen operation comes into view.
        const Rect strip{body.right() - 12, places.plot.y, 12, places.plot.h};
        scrolled_ = ui.scroll("rows", strip, places.content);
        if (wish_ >= 0) {
            for (const Row& row : places.rows_list)
                if (const Rect bar = bar_in(places, row, wish_);
                    row.kind == Row::Kind::stream && bar.w > 0 &&
                    (bar.y < places.plot.y || bar.bottom() > places.plot.bottom()))
                    ui.scroll_to("rows", std::max(0.f, bar.y + scrolled_ - places.plot.y - places.plot.h / 2)), ui.animate();
            wish_ = -1;
        }
        places = place(ui, body);
        places.begin = begin_;
        places.end = end_;
        if (head_of(body) > 0) controls(ui, body);
        draw_ruler(ui, places);
        draw_band(ui, places);
        ui.clip({places.rows.x, places.plot.y, places.rows.w, places.plot.h});
        draw_rows(ui, places);
        draw_bars(ui, places, focus);
        draw_arrows(ui, places);
        draw_path(ui, places);
        draw_chosen(ui, places, session.host_line);
        ui.unclip();
        if (cursor_ >= begin_ && cursor_ <= end_) draw_cursor(ui, places);
        if (places.legend) legend(ui, body);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const StreamBoard fresh = make_board(*session.snapshot());
        const bool mine = board_.host == fresh.host && board_.step == fresh.step;
        const StreamBoard& board = mine ? board_ : fresh;
        if (board.empty()) return std::string(title) + ": no host program has run yet.\n";
        std::string text = std::string(title) + " (simulated), " + title_of(board) + "\n";
        if (session.reveal_steps >= 0) return text + "  " + std::string(hidden_sentence) + "\n";
        const model::Schedule& s = board.schedule;
        text += fmt::format("  {:.1f} us in all, {:.1f} one after the other, overlap {:.0f} %\n", s.total_us, s.work_us,
                            100 * s.overlap);
        for (size_t e = 1; e < model::engines; ++e)
            if (s.busy_us[e] > 0)
                text +=
                    fmt::format("  {}: works {:.1f} us\n", model::name_of(static_cast<Engine>(e), board.gpu), s.busy_us[e]);
        for (size_t i = 0; i < board.program.operations.size() && i < 200; ++i) {
            std::string facts = facts_of(board, static_cast<int>(i));
            for (size_t at = facts.find('\n'); at != std::string::npos; at = facts.find('\n')) facts.replace(at, 1, "; ");
            text += fmt::format("  {}{}\n", static_cast<int>(i) == chosen_ && mine ? "> " : "  ", facts);
        }
        for (const std::string& hazard : board.hazards) text += "  nothing orders this: " + hazard + "\n";
        return text + "  " + caption_of(board) + "\n";
    }

  private:
    static constexpr std::string_view title = "Streams and copy engines";
    static constexpr std::string_view hidden_sentence = "The timeline stays hidden until you lock an answer.";

    StreamBoard board_;
    int chosen_ = -1, dragged_ = -1;
    bool panning_ = false;
    double begin_ = 0, end_ = 1, cursor_ = -1, pan_begin_ = 0;
    uint32_t drop_ = 0;

    void adopt(const Snapshot& snapshot) {
        const auto step = snapshot.host ? nullptr : snapshot.step;
        const bool same = board_.host == snapshot.host && (board_.host || seen_ == step);
        if (same) return;
        seen_ = step;
        board_ = make_board(snapshot);
        chosen_ = dragged_ = -1;
        cursor_ = -1;
        fit();
    }
    std::shared_ptr<const nn::StepRecord> seen_;

    void fit() {
        begin_ = 0;
        end_ = std::max(board_.schedule.total_us, 1e-3);
    }
    void show(double begin, double end) {
        const double all = std::max(board_.schedule.total_us, 1e-3), length = std::clamp(end - begin, all / 2000, all);
        begin_ = std::clamp(begin, 0.0, all - length);
        end_ = begin_ + length;
    }

    float scrolled_ = 0;

    Places place(const Ui& ui, const Rect& body) const {
        Places p;
        float widest = 60;
        p.rows_list.push_back({Row::Kind::host, 0, Engine::none, "host"});
        for (const uint32_t stream : board_.streams)
            p.rows_list.push_back({Row::Kind::stream, stream, Engine::none, stream_label(stream)});
        if (dragged_ >= 0 && board_.streams.size() < 32) {  // somewhere to drop it where nothing else runs
            const uint32_t fresh = board_.streams.empty() ? 1 : board_.streams.back() + 1;
            p.rows_list.push_back({Row::Kind::stream, fresh, Engine::none, "new stream"});
        }
        for (const Engine engine : board_.used)
            p.rows_list.push_back({Row::Kind::engine, 0, engine, model::name_of(engine, board_.gpu)});
        for (const Row& row : p.rows_list) widest = std::max(widest, ui.text_width(row.label, {.size = 12}));
        p.gutter = std::min(widest + 12, body.w * 0.25f);
        const float gap = body.h < 160 ? 2.f : 8.f, least = body.h < 160 ? 11.f : 14.f;  // gap: host, streams, engines
        const float top = body.y + head_of(body) + ruler + band + 6;
        p.content = least * static_cast<float>(p.rows_list.size()) + 2 * gap;
        p.legend = body.h > 200 && body.bottom() - top - legend_height >= p.content;
        const float foot = body.bottom() - (p.legend ? legend_height : 0);
        p.rows = {body.x, top, body.w, std::max(20.f, foot - top)};
        p.plot = {body.x + p.gutter, top, body.w - p.gutter - 6, p.rows.h};
        p.begin = begin_;
        p.end = end_;
        const float room = p.rows.h - 2 * gap;
        const float h = std::clamp(room / static_cast<float>(p.rows_list.size()), least, 44.f);
        float y = top - scrolled_;
        for (size_t i = 0; i < p.rows_list.size(); ++i) {
            if (i > 0 && p.rows_list[i].kind != p.rows_list[i - 1].kind) y += gap;
            p.rows_list[i].y = y;
            p.rows_list[i].h = h - 2;
            y += h;
        }
        return p;
    }

    // The bar of an operation in a row; width 0: it has none there.
    Rect bar_in(const Places& p, const Row& row, int operation) const {
        const model::HostOperation& asked = board_.program.operations[static_cast<size_t>(operation)];
        const model::OperationTime& one = board_.schedule.operations[static_cast<size_t>(operation)];
        double from = one.begin_us, to = one.end_us;
        if (row.kind == Row::Kind::host) {
            from = one.call_begin_us;
            to = one.busy_end_us;
        } else if (!one.on_device ||
                   (row.kind == Row::Kind::stream ? asked.stream != row.stream : one.engine != row.engine)) {
            return {};
        }
        if (to < p.begin || from > p.end) return {};
        const float x0 = std::max(p.at(from), p.plot.x), x1 = std::min(p.at(to), p.plot.right());
        Rect bar{x0, row.y, std::max(x1 - x0 - 0.5f, 1.f), row.h};
        if (row.kind == Row::Kind::engine && row.engine == Engine::compute) {  // kernels beside each other
            const auto [lane, lanes] = lane_of(operation);
            bar.h = row.h / static_cast<float>(lanes);
            bar.y += bar.h * static_cast<float>(lane);
            bar.h = std::max(2.f, bar.h - (lanes > 1 ? 1 : 0));
        }
        return bar;
    }

    // Which of how many lanes of the SMs' row a kernel takes: the first that is free when it begins.
    std::pair<int, int> lane_of(int operation) const {
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
    mutable std::vector<int> lanes_;
    mutable int lane_count_ = 1;
    mutable double lanes_for_ = -1;

    int operation_under(const Places& p, Point at) const {
        if (!p.plot.contains(at)) return -1;
        int best = -1;
        for (const Row& row : p.rows_list)
            if (at.y >= row.y && at.y < row.y + row.h)
                for (size_t i = 0; i < board_.program.operations.size(); ++i) {
                    Rect bar = bar_in(p, row, static_cast<int>(i));
                    if (bar.w <= 0) continue;
                    bar.x -= 1.5f, bar.w += 3;  // thin ones can be hit as well
                    if (bar.contains(at)) best = static_cast<int>(i);
                }
        return best;
    }

    void choose(Session& session, Focus& focus, int operation) {
        chosen_ = operation;
        if (operation < 0) return;
        const model::HostOperation& asked = board_.program.operations[static_cast<size_t>(operation)];
        const model::OperationTime& one = board_.schedule.operations[static_cast<size_t>(operation)];
        cursor_ = one.on_device ? one.begin_us : one.call_begin_us;
        if (board_.host) {
            session.host_line = asked.line;
        } else if (asked.verb == HostVerb::launch) {  // which of the step's launches it is
            int launch = 0;
            for (int i = 0; i < operation; ++i)
                launch += board_.program.operations[static_cast<size_t>(i)].verb == HostVerb::launch;
            focus.launch = launch;
            session.post({Request::Kind::open_kernel, launch, {}});
        }
    }

    void open(Session& session, int operation) const {
        if (operation < 0) return;
        const auto run = board_.run_of(operation);
        if (run && run == session.snapshot()->kernel) session.workspace = "sm";
        if (board_.step && board_.program.operations[static_cast<size_t>(operation)].verb == HostVerb::launch)
            session.workspace = "sm";
    }

    void react(Ui& ui, Session& session, Focus& focus, const Places& p, const Rect& panel) {
        const double length = end_ - begin_;
        const auto zoom = [&](double factor, double around) {
            show(around - (around - begin_) * factor, around + (end_ - around) * factor);
        };
        const double middle = cursor_ >= begin_ && cursor_ <= end_ ? cursor_ : (begin_ + end_) / 2;
        if (const float notches = ui.wheel(p.plot); notches != 0) zoom(std::pow(0.8, notches), p.us(ui.mouse.x));
        if (ui.pressed(Key::w, panel)) zoom(0.7, middle);
        if (ui.pressed(Key::s, panel)) zoom(1 / 0.7, middle);
        if (ui.pressed(Key::a, panel)) show(begin_ - length / 8, end_ - length / 8);
        if (ui.pressed(Key::d, panel)) show(begin_ + length / 8, end_ + length / 8);
        if (ui.pressed(Key::home, panel)) fit();
        if (ui.pressed(Key::enter, panel)) open(session, chosen_);
        const auto count = static_cast<int>(board_.program.operations.size());
        if (const int by = (ui.pressed(Key::down, panel) ? 1 : 0) - (ui.pressed(Key::up, panel) ? 1 : 0); by != 0)
            choose(session, focus, wish_ = chosen_ < 0 ? (by > 0 ? 0 : count - 1) : std::clamp(chosen_ + by, 0, count - 1));
        if (ui.pressed(Key::page_down, panel)) shift(1);
        if (ui.pressed(Key::page_up, panel)) shift(-1);

        const Drag drag = ui.drag("bar", p.plot);
        if (drag.started) {
            dragged_ = -1;
            panning_ = false;
            pan_begin_ = begin_;
            grabbed_ = operation_under(p, drag.from);
        }
        if (drag.active) {
            const bool up_down = std::abs(drag.at.y - drag.from.y) > 8;
            if (!panning_ && grabbed_ >= 0 && up_down && board_.movable(grabbed_)) dragged_ = grabbed_;
            if (dragged_ < 0 && std::abs(drag.at.x - drag.from.x) > 4) panning_ = true;
            if (panning_) {
                const double by = static_cast<double>((drag.from.x - drag.at.x) / std::max(1.f, p.plot.w)) * length;
                show(pan_begin_ + by, pan_begin_ + by + length);
            }
            if (dragged_ >= 0) {
                drop_ = board_.program.operations[static_cast<size_t>(dragged_)].stream;
                for (const Row& row : p.rows_list)
                    if (row.kind == Row::Kind::stream && drag.at.y >= row.y && drag.at.y < row.y + row.h + 2)
                        drop_ = row.stream;
            }
        }
        if (drag.ended) {
            if (dragged_ >= 0) {
                board_.move(dragged_, drop_);
                choose(session, focus, dragged_);
                keep_in_view();
            } else if (!panning_) {
                const int under = operation_under(p, drag.from);
                choose(session, focus, under);
                cursor_ = p.us(drag.from.x);
            }
            dragged_ = -1;
            panning_ = false;
        }
        if (!drag.active && ui.hovered(p.plot))
            if (const int under = operation_under(p, ui.mouse); under >= 0) ui.tooltip(facts_of(board_, under));
    }
    int grabbed_ = -1, wish_ = -1;

    void keep_in_view() {
        if (end_ > board_.schedule.total_us || begin_ == 0) fit();
    }

    // The chosen operation to the stream before or behind its own; behind the last, to one of its own.
    void shift(int by) {
        if (!board_.movable(chosen_)) return;
        const uint32_t stream = board_.program.operations[static_cast<size_t>(chosen_)].stream;
        const int64_t wanted = static_cast<int64_t>(stream) + by;
        if (wanted < 0 || wanted > 63) return;
        board_.move(chosen_, static_cast<uint32_t>(wanted));
        keep_in_view();
    }

    void controls(Ui& ui, const Rect& body) {
        const Theme& theme = *ui.theme;
        const model::Schedule& s = board_.schedule;
        float x = body.x;
        const auto figure = [&](const std::string& number, std::string_view words) {
            const float end = ui.text(x, body.y + 18, number, {.size = 18, .weight = 600});
            x = ui.text(end + 6, body.y + 18, words, {.size = 12, .color = theme.ink2}) + 18;
        };
        figure(fmt::format("{:.1f} µs", s.total_us), "in all");
        if (body.w > 420) figure(fmt::format("{:.0f} %", 100 * s.overlap), "overlap");
        if (body.w > 560 && s.speedup() > 1.02) figure(fmt::format("{:.2f} x", s.speedup()), "against one after the other");
        if (!board_.host || body.w < 760) return;
        const bool able = board_.movable(chosen_);
        float right = body.right() - ui.chip_width("as written") - 4;
        float at = right;
        if (ui.chip(at, body.y, "as written", false, board_.moved())) board_.reset(), keep_in_view();
        right -= ui.chip_width("stream +") + 4;
        at = right;
        if (ui.chip(at, body.y, "stream +", false, able)) shift(1);
        right -= ui.chip_width("stream -") + 4;
        at = right;
        if (ui.chip(at, body.y, "stream -", false,
                    able && board_.program.operations[static_cast<size_t>(chosen_)].stream > 0))
            shift(-1);
        const std::string what = chosen_ >= 0 ? board_.program.operations[static_cast<size_t>(chosen_)].name
                                              : "Click an operation, or choose it with Up and Down";
        if (right - x > 90)
            ui.text(right - 8, body.y + 18, what,
                    {.size = 12,
                     .color = chosen_ >= 0 ? theme.ink : theme.quiet,
                     .align = Align::right,
                     .mono = chosen_ >= 0,
                     .width = right - x - 16});
    }

    double tick_step(const Places& p) const {
        const double least = (p.end - p.begin) * 70 / std::max(1.f, p.plot.w);
        double step = std::pow(10.0, std::floor(std::log10(std::max(least, 1e-6))));
        for (const double factor : {1.0, 2.0, 5.0, 10.0})
            if (step * factor >= least) return step * factor;
        return step * 10;
    }

    void draw_ruler(Ui& ui, const Places& p) const {
        const float baseline = p.plot.y - band - 10;
        ui.text(p.rows.x, baseline, "µs", {.size = 12, .color = ui.theme->quiet});
        const double step = tick_step(p);
        for (double us = std::ceil(p.begin / step) * step; us <= p.end + step * 1e-6; us += step) {
            const float x = p.at(us);
            ui.rect({x, p.plot.y, 1, p.plot.h}, ui.theme->grid);
            if (x < p.plot.right() - 14 || us == p.end)
                ui.text(x, baseline, time_text(us, step),
                        {.size = 12, .color = ui.theme->quiet, .align = Align::center, .mono = true});
        }
    }

    void draw_band(Ui& ui, const Places& p) const {
        const float y = p.plot.y - band - 4;
        ui.text(p.rows.x, y + 11, "engines busy", {.size = 12, .color = ui.theme->ink2, .width = p.gutter - 6});
        for (const model::BusySpan& span : board_.schedule.busy) {
            if (span.end_us < p.begin || span.begin_us > p.end) continue;
            const float x0 = std::max(p.at(span.begin_us), p.plot.x), x1 = std::min(p.at(span.end_us), p.plot.right());
            const Rect box{x0, y, std::max(0.5f, x1 - x0), band};
            if (span.engines > 0)
                ui.rect(box, mix(ui.theme->panel, data::blue, span.engines == 1 ? 0.28f : span.engines == 2 ? 0.65f : 1.0f));
            else
                ui.rect({box.x, box.bottom() - 1, box.w, 1}, ui.theme->line);
            if (box.w > 11 && span.engines > 0)
                ui.text(box.x + box.w / 2, y + 11, std::to_string(span.engines),
                        {.size = 12,
                         .color = span.engines == 1
                                      ? ui.theme->ink
                                      : text_on(mix(ui.theme->panel, data::blue, span.engines == 2 ? 0.65f : 1.0f)),
                         .align = Align::center,
                         .weight = 600,
                         .mono = true});
        }
    }

    void draw_rows(Ui& ui, const Places& p) const {
        for (const Row& row : p.rows_list) {
            const bool target = dragged_ >= 0 && row.kind == Row::Kind::stream && row.stream == drop_;
            ui.rect({p.plot.x, row.y, p.plot.w, row.h},
                    target ? ui.theme->selected : mix(ui.theme->panel, ui.theme->panel2, 0.7f));
            ui.text(p.rows.x, row.y + row.h / 2 + 4.5f, row.label,
                    {.size = 12,
                     .color = row.kind == Row::Kind::stream ? ui.theme->ink : ui.theme->ink2,
                     .weight = row.kind == Row::Kind::stream ? 600 : 400,
                     .width = p.gutter - 8});
        }
    }

    void draw_bars(Ui& ui, const Places& p, const Focus& focus) const {
        for (const Row& row : p.rows_list)
            for (size_t i = 0; i < board_.program.operations.size(); ++i) {
                const auto operation = static_cast<int>(i);
                const Rect bar = bar_in(p, row, operation);
                if (bar.w <= 0) continue;
                if (row.kind == Row::Kind::host)
                    draw_call(ui, p, row, operation, bar);
                else
                    draw_work(ui, row, operation, bar);
            }
        (void)focus;
    }

    void draw_call(Ui& ui, const Places& p, const Row& row, int operation, const Rect& bar) const {
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

    void draw_work(Ui& ui, const Row& row, int operation, const Rect& bar) const {
        const model::HostOperation& asked = board_.program.operations[static_cast<size_t>(operation)];
        if (asked.verb == HostVerb::record) {
            if (row.kind == Row::Kind::stream) ui.rect({bar.x - 1, row.y + 2, 2, row.h - 4}, ui.theme->ink2);
            return;
        }
        if (asked.verb == HostVerb::wait) {
            ui.rect({bar.x, row.y + row.h / 2 - 2, bar.w, 4}, data::grey);
            return;
        }
        const Color fill = mix(ui.theme->panel, color_of(board_, operation), row.kind == Row::Kind::engine ? 0.72f : 0.92f);
        const Faded faint(ui, operation == dragged_ ? 0.4f : 1.0f);
        ui.rect(bar, fill);
        if (bar.h >= 11) label(ui, bar, asked.name, letter_of(asked.verb), fill);
    }

    static void label(Ui& ui, const Rect& bar, const std::string& name, const std::string& letter, Color fill) {
        const TextStyle style{.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600};
        for (const std::string& text : {name, letter})
            if (!text.empty() && ui.text_width(text, style) + 6 < bar.w) {
                ui.text(bar.x + bar.w / 2, bar.y + bar.h / 2 + 4.5f, text, style);
                return;
            }
    }

    // From where an event was recorded to where a stream went on.
    void draw_arrows(Ui& ui, const Places& p) const {
        for (size_t i = 0; i < board_.program.operations.size(); ++i) {
            const model::HostOperation& wait = board_.program.operations[i];
            if (wait.verb != HostVerb::wait) continue;
            int record = -1;
            for (size_t j = 0; j < i; ++j)
                if (board_.program.operations[j].verb == HostVerb::record &&
                    board_.program.operations[j].event == wait.event)
                    record = static_cast<int>(j);
            if (record < 0) continue;
            const Row *from = p.stream_row(board_.program.operations[static_cast<size_t>(record)].stream),
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

    void draw_path(Ui& ui, const Places& p) const {
        const auto place_of = [&](const model::PathStep& step) -> Rect {
            const Row* row = step.on_host
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
            if (!step.on_host || bar.w > 3) ui.frame(bar, ui.theme->ink, step.on_host || bar.h < 18 ? 1.5f : 2.5f);
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

    // What the line that is looked at in the program does, and the operation that was chosen.
    void draw_chosen(Ui& ui, const Places& p, int32_t line) const {
        for (size_t i = 0; board_.host && line > 0 && i < board_.program.operations.size(); ++i)
            if (board_.program.operations[i].line == line && static_cast<int>(i) != chosen_)
                for (const Row& row : p.rows_list)
                    if (const Rect bar = bar_in(p, row, static_cast<int>(i)); bar.w > 0)
                        ui.frame({bar.x, bar.y, std::max(bar.w, 3.f), bar.h}, ui.theme->accent, 2);
        if (chosen_ < 0) return;
        for (const Row& row : p.rows_list)
            if (const Rect bar = bar_in(p, row, chosen_); bar.w > 0)
                ui.outline({bar.x, bar.y, std::max(bar.w, 3.f), bar.h}, 0);
    }

    void draw_cursor(Ui& ui, const Places& p) const {
        const float x = p.at(cursor_);
        ui.cursor_line(x, p.plot.y - band - 4, p.plot.bottom());
        const std::string text = fmt::format("{:.1f}", cursor_);
        const float width = ui.text_width(text, {.size = 12, .weight = 700, .mono = true}) + 12;
        const float left = std::clamp(x - width / 2, p.plot.x - 20, p.plot.right() - width);
        ui.rect({left, p.plot.y - band - 24, width, 18}, ui.theme->ink, 3);
        ui.text(left + width / 2, p.plot.y - band - 10, text,
                {.size = 12, .color = ui.theme->panel, .align = Align::center, .weight = 700, .mono = true});
    }

    void legend(Ui& ui, const Rect& body) const {
        const float baseline = body.bottom() - 5;
        float x = body.x;
        struct Entry {
            Color color;
            std::string_view words;
        };
        const Entry entries[] = {{data::green, "K kernel"},
                                 {data::orange, "I copy in"},
                                 {data::yellow, "O copy out"},
                                 {data::blue, "W host works"},
                                 {mix(ui.theme->panel, ui.theme->ink2, 0.42f), "a call"}};
        for (const Entry& entry : entries) {
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
};

}  // namespace

std::unique_ptr<View> make_streams_view() {
    return std::make_unique<StreamsView>();
}

}  // namespace lockstep::gui
