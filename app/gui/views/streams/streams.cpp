// D8, streams: the host, every stream and every engine by time; above them how many engines work at once. A thick frame is
// the critical path, a thin grey bar a wait with an arrow from the event that ends it. A bar can be dragged to another
// stream, or moved with Page Up and Page Down: the schedule is made anew at once. Up and Down choose the operation, W and S
// or the wheel zoom, A and D or dragging pan, Home shows everything, Enter opens the kernel's warps. The cursor and the
// clock of the kernel on show in the other pictures are one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/streams/streams_picture.h"

namespace lockstep::gui {
namespace {

using model::Engine;
using model::HostVerb;

class StreamsView final : public View, StreamsPicture {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        adopt(*snapshot);
        if (board_.empty()) {
            const Rect body = ui.panel(area, {.title = title});
            if (const std::string refused = refusal(session, *snapshot); !refused.empty())
                return ui.say_nothing_yet(body, refused, "It runs once that is put right.");
            return ui.say_nothing_yet(
                body,
                snapshot->training.step ? "This step ran without timing; pause to time it." : "No host program has run yet.",
                snapshot->busy.empty() ? "A lesson's host program, or a timed training step, shows here." : snapshot->busy);
        }
        if (session.learn.reveal_steps >= 0) {
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
        follow_clock(*snapshot, focus);
        StreamPlaces places = place(ui, body);
        react(ui, session, focus, places, area);
        // More rows than fit: the bar at the right end scrolls, and the chosen operation comes into view.
        const Rect strip{body.right() - 12, places.plot.y, 12, places.plot.h};
        scrolled_ = ui.scroll("rows", strip, places.content);
        scroll_to_wish(ui, places);
        places = place(ui, body);
        places.begin = begin_;
        places.end = end_;
        if (places.head > 0) controls(ui, body);
        draw_ruler(ui, places);
        draw_band(ui, places);
        ui.clip({places.rows.x, places.plot.y, places.rows.w, places.plot.h});
        draw_rows(ui, places);
        draw_arrows(ui, places);  // behind the bars and their names
        draw_bars(ui, places);
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
        if (board.empty()) {
            const std::string refused = refusal(session, *session.snapshot());
            return std::string(title) + ": " + (refused.empty() ? "no host program has run yet." : refused) + "\n";
        }
        std::string text = std::string(title) + " (simulated), " + title_of(board) + "\n";
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(hidden_sentence) + "\n";
        const model::Schedule& s = board.schedule;
        text += fmt::format("  {} in all, {} one after the other, overlap {:.0f} %\n",
                            lockstep::time_text(s.total_us, {.decimals = 1}),
                            lockstep::time_text(s.serial_us, {.decimals = 1}), 100 * s.overlap);
        for (size_t e = 1; e < model::engines; ++e)
            if (s.busy_us[e] > 0)
                text += fmt::format("  {}: works {}\n", model::name_of(static_cast<Engine>(e), board.gpu),
                                    lockstep::time_text(s.busy_us[e], {.decimals = 1}));
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

    bool panning_ = false;
    double pan_begin_ = 0;

    // Why the learner's own host program did not run: "bad.host:2: ..."
    static std::string refusal(const Session& session, const Snapshot& snapshot) {
        if (!session.desk.document().is_host()) return {};
        const auto told = [](const Diagnostic& why) {
            return (why.where.line > 0 ? fmt::format("{}:{}: ", why.where.file, why.where.line) : "") + why.message;
        };
        if (snapshot.own.compiled && !snapshot.own.compiled->ok && !snapshot.own.compiled->messages.empty())
            return told(snapshot.own.compiled->messages.front());
        return snapshot.own.result && snapshot.own.result->refused ? told(*snapshot.own.result->refused) : "";
    }

    void adopt(const Snapshot& snapshot) {
        const auto step = snapshot.host ? nullptr : snapshot.training.step;
        const bool same = board_.host == snapshot.host && (board_.host || seen_ == step);
        if (same) return;
        seen_ = step;
        board_ = make_board(snapshot);
        chosen_ = dragged_ = -1;
        cursor_ = -1;
        fit();
    }
    std::shared_ptr<const nn::StepRecord> seen_;

    int64_t seen_time_ = -1;

    // The operation whose cycles the clock counts: the kernel on show in the other pictures; -1: none of these.
    int timed_kernel(const Snapshot& snapshot, const Focus& focus) const {
        const auto& kernel = snapshot.kernel.run;
        if (!kernel || kernel->result.cycles <= 0) return -1;
        int found = -1, launch = 0;
        for (size_t i = 0; i < board_.program.operations.size(); ++i) {
            if (board_.program.operations[i].verb != HostVerb::launch) continue;
            const auto run = board_.run_of(static_cast<int>(i));
            const bool shown =
                board_.host ? run && (run == kernel || run->before == kernel->before) : launch == focus.launch;
            if (shown && (found < 0 || static_cast<int>(i) == chosen_)) found = static_cast<int>(i);
            ++launch;
        }
        return found;
    }

    // The cursor goes where the clock of the kernel goes, within that kernel's bar.
    void follow_clock(const Snapshot& snapshot, const Focus& focus) {
        if (focus.time == seen_time_) return;
        const bool first = seen_time_ < 0;
        seen_time_ = focus.time;
        const int kernel = timed_kernel(snapshot, focus);
        if (kernel < 0 || focus.time < 0 || (first && cursor_ < 0)) return;
        const model::OperationTime& one = board_.schedule.operations[static_cast<size_t>(kernel)];
        cursor_ = one.begin_us +
                  (one.end_us - one.begin_us) * std::min(1.0, static_cast<double>(focus.time) /
                                                                  static_cast<double>(snapshot.kernel.run->result.cycles));
    }

    // A moment within the bar of the kernel on show is a cycle of it.
    void set_clock(const Session& session, Focus& focus) {
        const auto snapshot = session.snapshot();
        const int kernel = timed_kernel(*snapshot, focus);
        if (kernel < 0) return;
        const model::OperationTime& one = board_.schedule.operations[static_cast<size_t>(kernel)];
        if (cursor_ < one.begin_us || cursor_ >= one.end_us) return;
        const int64_t cycles = snapshot->kernel.run->result.cycles;
        const double share = (cursor_ - one.begin_us) / (one.end_us - one.begin_us);
        seen_time_ = focus.time =
            std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(cycles)), 0, cycles - 1);
    }

    void fit() {
        begin_ = 0;
        end_ = std::max(board_.schedule.total_us, 1e-3);
    }
    void show(double begin, double end) {
        const double all = std::max(board_.schedule.total_us, 1e-3), length = std::clamp(end - begin, all / 2000, all);
        begin_ = std::clamp(begin, 0.0, all - length);
        end_ = begin_ + length;
    }

    int operation_under(const StreamPlaces& p, Point at) const {
        if (!p.plot.contains(at)) return -1;
        int best = -1;
        for (const StreamRow& row : p.rows_list)
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
            session.post(ask::OpenKernel{launch});
        }
    }

    void open(Session& session, int operation) const {
        if (operation < 0) return;
        const auto run = board_.run_of(operation);
        if (run && run == session.snapshot()->kernel.run) session.workspace = Workspace::sm;
        if (board_.step && board_.program.operations[static_cast<size_t>(operation)].verb == HostVerb::launch)
            session.workspace = Workspace::sm;
    }

    void scroll_to_wish(Ui& ui, const StreamPlaces& p) {
        if (wish_ < 0) return;
        for (const StreamRow& row : p.rows_list) {
            const Rect bar = bar_in(p, row, wish_);
            const bool outside = bar.y < p.plot.y || bar.bottom() > p.plot.bottom();
            if (row.kind == StreamRow::Kind::stream && bar.w > 0 && outside)
                ui.scroll_to("rows", std::max(0.f, bar.y + scrolled_ - p.plot.y - p.plot.h / 2)), ui.animate();
        }
        wish_ = -1;
    }

    void zoom(double factor, double around) { show(around - (around - begin_) * factor, around + (end_ - around) * factor); }

    int neighbour(int by) const {  // of the chosen operation; without one the first or the last
        const int last = static_cast<int>(board_.program.operations.size()) - 1;
        if (chosen_ < 0) return by > 0 ? 0 : last;
        return std::clamp(chosen_ + by, 0, last);
    }

    void keys(Ui& ui, Session& session, Focus& focus, const Rect& panel) {
        const double length = end_ - begin_;
        const double middle = cursor_ >= begin_ && cursor_ <= end_ ? cursor_ : (begin_ + end_) / 2;
        if (ui.pressed(Key::w, panel)) zoom(0.7, middle);
        if (ui.pressed(Key::s, panel)) zoom(1 / 0.7, middle);
        if (ui.pressed(Key::a, panel)) show(begin_ - length / 8, end_ - length / 8);
        if (ui.pressed(Key::d, panel)) show(begin_ + length / 8, end_ + length / 8);
        if (ui.pressed(Key::home, panel)) fit();
        if (ui.pressed(Key::enter, panel)) open(session, chosen_);
        if (const int by = (ui.pressed(Key::down, panel) ? 1 : 0) - (ui.pressed(Key::up, panel) ? 1 : 0); by != 0)
            choose(session, focus, wish_ = neighbour(by));
        if (ui.pressed(Key::page_down, panel)) shift(1);
        if (ui.pressed(Key::page_up, panel)) shift(-1);
    }

    // Up or down an operation goes to another stream; sideways the picture is panned.
    void go_on_dragging(const StreamPlaces& p, const Drag& drag, double length) {
        const bool up_down = std::abs(drag.at.y - drag.from.y) > 8;
        if (!panning_ && grabbed_ >= 0 && up_down && board_.movable(grabbed_)) dragged_ = grabbed_;
        if (dragged_ < 0 && std::abs(drag.at.x - drag.from.x) > 4) panning_ = true;
        if (panning_) {
            const double by = static_cast<double>((drag.from.x - drag.at.x) / std::max(1.f, p.plot.w)) * length;
            show(pan_begin_ + by, pan_begin_ + by + length);
        }
        if (dragged_ < 0) return;
        drop_ = board_.program.operations[static_cast<size_t>(dragged_)].stream;
        for (const StreamRow& row : p.rows_list)
            if (row.kind == StreamRow::Kind::stream && drag.at.y >= row.y && drag.at.y < row.y + row.h + 2)
                drop_ = row.stream;
    }

    void end_drag(Session& session, Focus& focus, const StreamPlaces& p, const Drag& drag) {
        if (dragged_ >= 0) {
            board_.move(dragged_, drop_);
            choose(session, focus, dragged_);
            keep_in_view();
        } else if (!panning_) {
            choose(session, focus, operation_under(p, drag.from));
            cursor_ = p.us(drag.from.x);
            set_clock(session, focus);
        }
        dragged_ = -1;
        panning_ = false;
    }

    void react(Ui& ui, Session& session, Focus& focus, const StreamPlaces& p, const Rect& panel) {
        const double length = end_ - begin_;
        if (const float notches = ui.wheel(p.plot); notches != 0) zoom(std::pow(0.8, notches), p.us(ui.mouse.x));
        keys(ui, session, focus, panel);
        hovered_ = -1;
        const Drag drag = ui.drag("bar", p.plot);
        if (drag.started) {
            dragged_ = -1;
            panning_ = false;
            pan_begin_ = begin_;
            grabbed_ = operation_under(p, drag.from);
        }
        if (drag.active) go_on_dragging(p, drag, length);
        if (drag.ended) end_drag(session, focus, p, drag);
        if (!drag.active && ui.hovered(p.plot))
            if (hovered_ = operation_under(p, ui.mouse); hovered_ >= 0) ui.tooltip(facts_of(board_, hovered_));
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
        figure(lockstep::time_text(s.total_us, {.decimals = 1}), "in all");
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
        std::string what = chosen_ >= 0 ? board_.program.operations[static_cast<size_t>(chosen_)].name
                                        : "Click an operation, or choose it with Up and Down";
        if (chosen_ < 0 && ui.text_width(what, {.size = 12}) > right - x - 16) what = "Click an operation";
        if (right - x > 90)
            ui.text(right - 8, body.y + 18, what,
                    {.size = 12,
                     .color = chosen_ >= 0 ? theme.ink : theme.quiet,
                     .align = Align::right,
                     .mono = chosen_ >= 0,
                     .width = right - x - 16});
    }
};

}  // namespace

std::unique_ptr<View> make_streams_view() {
    return std::make_unique<StreamsView>();
}

}  // namespace lockstep::gui
