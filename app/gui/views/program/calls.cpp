// A whole program on the model's clock: the host's calls, copies each way and kernels. Above all of it, where what is too
// narrow to be seen alone is drawn as one; below a lens on a few operations, with an arrow from each call to what it asked
// for. A click above moves the lens, the wheel changes its width, dragging moves it; a click on a kernel opens the launch,
// on a call its line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/gui/view.h"
#include "app/gui/views/program/program_data.h"
#include "app/gui/widgets/axis.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float gutter = 62, ruler = 18;

struct Scale {
    Rect plot;
    double begin = 0, end = 1;
    float at(double us) const { return plot.x + static_cast<float>((us - begin) / std::max(end - begin, 1e-9)) * plot.w; }
    double us(float x) const { return begin + static_cast<double>((x - plot.x) / std::max(1.f, plot.w)) * (end - begin); }
};

using Stream = std::pair<uint32_t, uint32_t>;  // device, its number there

struct Row {
    ProgramTrack track = ProgramTrack::host;
    std::string label;
    std::vector<Stream> streams = {};  // of kernels: usually one; those that have no room for a row each share one
    float y = 0;

    bool holds(uint32_t device, uint32_t stream) const {
        return track != ProgramTrack::kernels ||
               std::find(streams.begin(), streams.end(), Stream(device, stream)) != streams.end();
    }
};

struct Look {
    Color fill;
    Hatch hatch;
};

Look look_of(ProgramTrack track, const Theme& theme) {
    switch (track) {
        case ProgramTrack::copy_in:
            return {data::orange, Hatch::diagonal};
        case ProgramTrack::copy_out:
            return {data::yellow, Hatch::dots};
        case ProgramTrack::copy_within:
            return {data::sky, Hatch::horizontal};
        case ProgramTrack::kernels:
            return {data::green, Hatch::vertical};
        case ProgramTrack::host:
            break;
    }
    return {mix(theme.panel, theme.ink3, theme.dark ? 0.75f : 0.55f), Hatch::solid};
}

// "cudaMemcpy" is long beside a bar.
std::string_view short_name(std::string_view name) {
    if (name.starts_with("cuda")) name.remove_prefix(4);
    return name;
}

std::string facts_of(const ProgramBoard& board, const ProgramBar& bar) {
    const runtime::Report& report = board.run->report;
    const auto index = static_cast<size_t>(bar.index);
    const auto where = [&](const runtime::CallSite& site) {
        return site.line > 0
                   ? fmt::format("\nline {}{}", site.line, board.run->is_own_line(site.file) ? "" : " of " + site.file)
                   : std::string();
    };
    const std::string when =
        fmt::format("{}, from {} on", time_text(bar.end_us - bar.begin_us), time_text(bar.begin_us - board.begin_us));
    if (bar.track == ProgramTrack::host) return fmt::format("{}\n{}{}", bar.name, when, where(report.calls[index].site));
    if (bar.track == ProgramTrack::kernels) {
        const runtime::LaunchRecord& launch = report.launches[index];
        return fmt::format("{}, launch {} of {}, stream {}\n{} blocks of {}: {}{}", launch.kernel, index + 1,
                           report.launches.size(), launch.stream, shape_text(launch.grid), shape_text(launch.block), when,
                           where(launch.site));
    }
    const runtime::CopyRecord& copy = report.copies[index];
    const double us = copy.end_us - copy.begin_us;
    return fmt::format("{}, {}\n{}{}{}", copy.direction, counted(copy.bytes, "byte"), when,
                       us > 0 ? fmt::format(", {:.1f} GB/s", static_cast<double>(copy.bytes) / us / 1000) : "",
                       where(copy.site));
}

std::string why_empty(const ProgramBoard& board) {
    if (!board.run) return "The program has not run yet.";
    if (const std::string why = board.run->unreported(); !why.empty()) return why;
    return board.run->running ? "The program runs." : "The program made no call of CUDA's runtime.";
}

class CallsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const ProgramBoard& board = boards_.of(*snapshot);
        const std::string sentence = caption(board), right = heading(board);
        const Rect body = ui.panel(area, {.title = title,
                                          .right = right,
                                          .badge = board.bars.empty() ? Provenance::none : Provenance::simulated,
                                          .caption = sentence});
        if (board.bars.empty())
            return ui.say_nothing_yet(body, why_empty(board),
                                      board.run ? "" : "Its calls, copies and kernels will stand here on one clock.");
        ui.push_scope("calls");
        adopt(board, *snapshot);
        constexpr float least = 16;  // a row's height
        const auto room_for = static_cast<int>((body.h - 2 * ruler - 50) / (2 * least)) - 4;
        std::vector<Row> rows = rows_of(board, static_cast<size_t>(std::max(6, room_for)));
        const auto count = static_cast<float>(rows.size());
        const float each = (body.h - 2 * ruler - 50) / (2 * count);  // a row, where the lens has room too
        const bool with_lens = each >= least;
        row_pitch_ = std::clamp(std::floor(with_lens ? each : (body.h - ruler) / count), least, 30.f);
        const float whole = count * row_pitch_ + ruler;
        Scale all{{body.x + gutter, body.y + ruler - 4, body.w - gutter - 2, whole - ruler}, board.begin_us, board.end_us};
        const float room = with_lens ? all.plot.h : std::max(row_pitch_, body.h - ruler);
        all.plot.h = std::min(all.plot.h, room);
        place(rows, all.plot.y);
        axis(ui, all, 0);
        const Rect frame{body.x, all.plot.bottom() + 24, body.w, whole + 8};
        if (with_lens) draw_funnel(ui, all, frame);
        draw_rows(ui, session, board, rows, all, true);
        if (with_lens) {
            Scale lens{{frame.x + gutter, frame.y + ruler + 2, frame.w - gutter - 6, whole - ruler}, lens_begin_, lens_end_};
            react(ui, board, all, lens);
            lens.begin = lens_begin_, lens.end = lens_end_;
            place(rows, lens.plot.y);
            axis(ui, lens, board.begin_us);
            draw_arrows(ui, board, rows, lens, *snapshot);
            draw_rows(ui, session, board, rows, lens, false);
            legend(ui, {body.x, frame.bottom() + 4, body.w, body.bottom() - frame.bottom() - 4}, board);
        } else {
            react(ui, board, all, all);
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const ProgramBoard board = make_board_of(session.snapshot()->program.run);
        if (board.bars.empty()) return fmt::format("{}: {}\n", title, why_empty(board));
        std::string text = fmt::format("{} (simulated), {}\n", title, heading(board));
        size_t told = 0;
        for (const ProgramBar& bar : board.bars) {
            if (++told > 200) break;
            std::string facts = facts_of(board, bar);
            std::replace(facts.begin(), facts.end(), '\n', ';');
            text += fmt::format("  {}\n", facts);
        }
        if (board.bars.size() > 200) text += fmt::format("  and {} more\n", board.bars.size() - 200);
        return text + "  " + caption(board) + "\n";
    }

  private:
    static constexpr std::string_view title = "Streams";
    ProgramBoards boards_;
    std::shared_ptr<const ProgramRun> seen_run_;
    int64_t seen_launch_ = -2;
    float row_pitch_ = 24;
    double lens_begin_ = 0, lens_end_ = 1, drag_begin_ = 0;

    static std::string heading(const ProgramBoard& board) {
        return board.bars.empty() ? "" : fmt::format("{} in all", time_text(board.end_us - board.begin_us));
    }

    static std::string caption(const ProgramBoard& board) {
        if (board.bars.empty()) return "";
        if (board.busy_share <= 0) return "The GPU has nothing to do in this program.";
        return fmt::format("The GPU is busy {:.0f} % of the time: {:.0f} % it copies, {:.0f} % it computes.",
                           100 * board.busy_share, 100 * board.copy_share, 100 * board.kernel_share);
    }

    static std::vector<Row> rows_of(const ProgramBoard& board, size_t most_streams) {
        std::vector<Row> rows{{ProgramTrack::host, "host"}};
        const auto has = [&](ProgramTrack track) {
            return std::any_of(board.bars.begin(), board.bars.end(), [&](const ProgramBar& b) { return b.track == track; });
        };
        if (has(ProgramTrack::copy_in)) rows.push_back({ProgramTrack::copy_in, "to GPU"});
        std::set<Stream> streams;
        for (const ProgramBar& bar : board.bars)
            if (bar.track == ProgramTrack::kernels) streams.emplace(bar.device, bar.stream);
        const size_t alone = streams.size() > most_streams ? most_streams - 1 : streams.size();
        size_t number = 0;
        for (const auto& [device, stream] : streams) {
            if (number++ > alone) {
                rows.back().streams.emplace_back(device, stream);
                continue;
            }
            rows.push_back({ProgramTrack::kernels,
                            streams.size() == 1 ? "kernels"
                            : device > 0        ? fmt::format("GPU {} st.{}", device, stream)
                                                : fmt::format("stream {}", stream),
                            {{device, stream}}});
        }
        if (streams.size() > alone) rows.back().label = fmt::format("{} more", rows.back().streams.size());
        if (has(ProgramTrack::copy_within)) rows.push_back({ProgramTrack::copy_within, "in GPU"});
        if (has(ProgramTrack::copy_out)) rows.push_back({ProgramTrack::copy_out, "to host"});
        return rows;
    }

    void place(std::vector<Row>& rows, float top) const {
        for (Row& row : rows) row.y = top, top += row_pitch_;
    }

    // A lens on the launch that was opened, and a few operations around it.
    void adopt(const ProgramBoard& board, const Snapshot& snapshot) {
        if (seen_run_ == board.run && seen_launch_ == snapshot.program.launch) return;
        seen_run_ = board.run;
        seen_launch_ = snapshot.program.launch;
        const runtime::Report& report = board.run->report;
        const int64_t launch = std::max<int64_t>(0, seen_launch_);
        if (report.launches.empty()) {
            lens_begin_ = board.begin_us, lens_end_ = board.end_us;
            return;
        }
        const auto count = static_cast<int64_t>(report.launches.size());
        const runtime::LaunchRecord& first = report.launches[static_cast<size_t>(launch)];
        const runtime::LaunchRecord& last = report.launches[static_cast<size_t>(std::min(launch + 5, count - 1))];
        double begin = first.begin_us, end = last.end_us;
        if (first.call >= 0 && static_cast<size_t>(first.call) < report.calls.size())
            begin = std::min(begin, report.calls[static_cast<size_t>(first.call)].begin_us);
        const double most = std::max(first.end_us - first.begin_us, 1.0) * 12;
        end = std::min(std::max(end, first.end_us), begin + most);
        const double margin = (end - begin) * 0.06;
        show(board, begin - margin, end + margin);
    }

    void show(const ProgramBoard& board, double begin, double end) {
        const double all = std::max(board.end_us - board.begin_us, 1e-3),
                     length = std::clamp(end - begin, all / 200'000, all);
        lens_begin_ = std::clamp(begin, board.begin_us, board.begin_us + all - length);
        lens_end_ = lens_begin_ + length;
    }

    void react(Ui& ui, const ProgramBoard& board, const Scale& all, const Scale& lens) {
        const double length = lens_end_ - lens_begin_;
        const auto zoom = [&](double factor, double at) {
            const double share = (at - lens_begin_) / length;
            show(board, at - share * length * factor, at - share * length * factor + length * factor);
        };
        if (const float notches = ui.wheel(lens.plot); notches != 0) zoom(std::pow(0.8, notches), lens.us(ui.mouse.x));
        if (const float notches = ui.wheel(all.plot); notches != 0)
            zoom(std::pow(0.8, notches), (lens_begin_ + lens_end_) / 2);
        const Drag over = ui.drag("overview", all.plot);
        if (over.active && &all != &lens) {
            const double middle = all.us(over.at.x);
            show(board, middle - length / 2, middle + length / 2);
        }
        const Drag inside = ui.drag("lens", lens.plot);
        if (inside.started) drag_begin_ = lens_begin_;
        if (inside.active && std::abs(inside.at.x - inside.from.x) > 3) {
            const double begin = drag_begin_ - (lens.us(inside.at.x) - lens.us(inside.from.x));
            show(board, begin, begin + length);
        }
        const Rect part{all.plot.x, all.plot.y, all.plot.w, lens.plot.bottom() - all.plot.y};
        if (ui.pressed(Key::a, part)) show(board, lens_begin_ - length / 4, lens_end_ - length / 4);
        if (ui.pressed(Key::d, part)) show(board, lens_begin_ + length / 4, lens_end_ + length / 4);
        if (ui.pressed(Key::w, part)) zoom(0.7, (lens_begin_ + lens_end_) / 2);
        if (ui.pressed(Key::s, part)) zoom(1 / 0.7, (lens_begin_ + lens_end_) / 2);
        if (ui.pressed(Key::home, part)) show(board, board.begin_us, board.end_us);
    }

    static void axis(Ui& ui, const Scale& scale, double zero) {
        const Theme& theme = *ui.theme;
        const double from = scale.begin - (zero == 0 ? scale.begin : zero), length = scale.end - scale.begin;
        if (length <= 0) return;
        const double step = step_of_time(length) * (scale.plot.w < 420 ? 2 : 1);
        const int decimals = static_cast<int>(std::max(0.0, -std::floor(std::log10(step) + 1e-9)));
        const bool milli = from + length >= 1000;
        for (double tick = std::ceil(from / step) * step; tick <= from + length + 1e-9; tick += step) {
            const float x = scale.at(scale.begin + tick - from);
            ui.line({x, scale.plot.y - 3}, {x, scale.plot.bottom() - 4}, theme.grid);
            const std::string text = milli ? fmt::format("{:.{}f}", tick / 1000,
                                                         std::max(0, decimals + 3 -
                                                                         (step >= 1000  ? 3
                                                                          : step >= 100 ? 2
                                                                          : step >= 10  ? 1
                                                                                        : 0)))
                                           : fmt::format("{:.{}f}", tick, decimals);
            if (x + 44 < scale.plot.right())
                ui.text(x, scale.plot.y - 6, text, {.size = 12, .color = theme.quiet, .align = Align::center});
        }
        ui.text(scale.plot.right(), scale.plot.y - 6, milli ? "ms" : "µs",
                {.size = 12, .color = theme.ink2, .align = Align::right});
    }

    void draw_funnel(Ui& ui, const Scale& all, const Rect& frame) const {
        const Theme& theme = *ui.theme;
        const float left = std::clamp(all.at(lens_begin_), all.plot.x, all.plot.right()),
                    right = std::clamp(all.at(lens_end_), left + 1, all.plot.right() + 1);
        ui.rect({left, all.plot.y - 2, std::max(2.f, right - left), all.plot.h}, faded(theme.accent, 0.18f));
        ui.line({left, all.plot.y - 2}, {left, all.plot.bottom()}, theme.ink3);
        ui.line({right, all.plot.y - 2}, {right, all.plot.bottom()}, theme.ink3);
        ui.line({left, all.plot.bottom()}, {frame.x + gutter - 4, frame.y}, theme.ink3);
        ui.line({right, all.plot.bottom()}, {frame.right(), frame.y}, theme.ink3);
        ui.frame({frame.x + gutter - 4, frame.y, frame.w - gutter + 4, frame.h}, theme.ink3, 1, 3);
        ui.text(frame.x, frame.y + 13, "lens", {.size = 13, .weight = 600});
    }

    struct Lump {  // bars that are too narrow to be told apart
        float begin = 0, end = 0;
        int64_t count = 0;
        double us = 0;
        const ProgramBar* first = nullptr;
        bool same = true;  // all of one name
    };

    void draw_rows(Ui& ui, Session& session, const ProgramBoard& board, const std::vector<Row>& rows, const Scale& scale,
                   bool overview) {
        const Theme& theme = *ui.theme;
        for (const Row& row : rows) {
            if (row.y + row_pitch_ > scale.plot.bottom() + 2) break;
            ui.text(scale.plot.x - 8, row.y + row_pitch_ / 2 + 2, row.label,
                    {.size = 12, .color = theme.ink2, .align = Align::right, .width = gutter - 4});
            ui.line({scale.plot.x, row.y + row_pitch_ - 3}, {scale.plot.right(), row.y + row_pitch_ - 3}, theme.grid);
        }
        ui.clip({scale.plot.x, scale.plot.y - 2, scale.plot.w + 2, scale.plot.h + 4});
        for (const Row& row : rows) {
            if (row.y + row_pitch_ > scale.plot.bottom() + 2) break;
            Lump lump;
            const auto first = std::lower_bound(board.bars.begin(), board.bars.end(), row.track,
                                                [](const ProgramBar& bar, ProgramTrack track) { return bar.track < track; });
            for (auto bar = first; bar != board.bars.end() && bar->track == row.track; ++bar) {
                if (!row.holds(bar->device, bar->stream)) continue;
                if (bar->end_us < scale.begin || bar->begin_us > scale.end) continue;
                const float x0 = scale.at(bar->begin_us), x1 = std::max(scale.at(bar->end_us), x0 + 1);
                const bool narrow = x1 - x0 < 4 || lump.end - lump.begin < 4 || (lump.count > 1 && x1 - x0 < 12);
                if (lump.count > 0 && x0 <= lump.end + 1.5f && narrow) {
                    lump.end = std::max(lump.end, x1);
                    ++lump.count;
                    lump.us += bar->end_us - bar->begin_us;
                    lump.same &= bar->name == lump.first->name;
                    continue;
                }
                if (lump.count > 0) draw_lump(ui, session, board, row, lump, overview);
                lump = {x0, x1, 1, bar->end_us - bar->begin_us, &*bar, true};
            }
            if (lump.count > 0) draw_lump(ui, session, board, row, lump, overview);
        }
        ui.unclip();
    }

    void draw_lump(Ui& ui, Session& session, const ProgramBoard& board, const Row& row, const Lump& lump, bool overview) {
        const Theme& theme = *ui.theme;
        const Look look = look_of(row.track, theme);
        const Rect bar{lump.begin, row.y, std::max(1.f, lump.end - lump.begin - 1), (row_pitch_ - 5)};
        const bool kernel = row.track == ProgramTrack::kernels;
        const bool second =
            kernel && lump.count == 1 && !board.groups.empty() && lump.first->name != board.groups.front().kernel;
        const Color fill = second ? mix(look.fill, theme.panel, 0.35f) : look.fill;
        ui.rect(bar, fill);
        if (look.hatch != Hatch::solid && (lump.count > 1 || row.track != ProgramTrack::kernels) && bar.w > 3)
            ui.hatch(bar, faded(data::black, 0.45f), look.hatch);
        const bool open = kernel && lump.count == 1 && session.snapshot()->program.launch == lump.first->index;
        std::string text = words_of(board, row, lump, overview);
        const TextStyle style{.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600};
        if (ui.text_width(text, style) + 10 >= bar.w) text = text.substr(0, text.find(", "));  // without its time
        const float width = ui.text_width(text, style);
        if (width + 10 < bar.w) {
            if (look.hatch != Hatch::solid && (lump.count > 1 || row.track != ProgramTrack::kernels)) {
                const Rect ground{bar.x + (bar.w - width) / 2 - 6, bar.y + 1, width + 12, bar.h - 2};
                ui.rect(ground, theme.dark ? rgb(0x10161E) : rgb(0xFFFFFF), 3);
                ui.text(bar.x + bar.w / 2, bar.y + bar.h / 2 + 4.5f, text,
                        {.size = 12, .align = Align::center, .weight = 600});
            } else {
                ui.text(bar.x + bar.w / 2, bar.y + bar.h / 2 + 4.5f, text, style);
            }
        }
        if (open) ui.outline(bar);
        const bool chosen = row.track == ProgramTrack::host && lump.count == 1 && session.program.call == lump.first->index;
        if (chosen && !open) ui.frame(bar, theme.accent, 2);
        const Rect hit{bar.x - 1, bar.y, std::max(bar.w + 2, 4.f), bar.h};
        if (!ui.hovered(hit)) return;
        ui.tooltip(lump.count == 1 ? facts_of(board, *lump.first) : words_of(board, row, lump, true));
        if (ui.clicked(hit) && lump.count == 1) choose(session, board, *lump.first);
    }

    static std::string words_of(const ProgramBoard& board, const Row& row, const Lump& lump, bool with_time) {
        const std::string time = time_text(lump.us);
        if (row.track == ProgramTrack::host) {
            if (lump.count == 1) return std::string(short_name(lump.first->name));
            if (lump.same && lump.first->name.find("Launch") != std::string_view::npos)
                return counted(lump.count, "launch", "launches");
            return lump.same ? fmt::format("{} {}", with_commas(lump.count), short_name(lump.first->name))
                             : fmt::format("{} calls", with_commas(lump.count));
        }
        if (row.track == ProgramTrack::kernels) {
            if (lump.count > 1) return fmt::format("{}, {}", counted(lump.count, "kernel"), time);
            return with_time ? fmt::format("{}, {}", lump.first->name, time) : std::string(lump.first->name);
        }
        if (lump.count > 1) return fmt::format("{} copies, {}", with_commas(lump.count), time);
        const auto bytes = static_cast<double>(board.run->report.copies[static_cast<size_t>(lump.first->index)].bytes);
        return fmt::format("{}, {}", bytes_si(bytes), time);
    }

    static void choose(Session& session, const ProgramBoard& board, const ProgramBar& bar) {
        const runtime::Report& report = board.run->report;
        const auto index = static_cast<size_t>(bar.index);
        const runtime::CallSite* site = nullptr;
        if (bar.track == ProgramTrack::kernels) {
            session.post(ask::OpenLaunch{bar.index});
            session.program.call = report.launches[index].call;
            site = &report.launches[index].site;
        } else if (bar.track == ProgramTrack::host) {
            session.program.call = bar.index;
            site = &report.calls[index].site;
        } else {
            session.program.call = report.copies[index].call;
            site = &report.copies[index].site;
        }
        if (site->line > 0 && board.run->is_own_line(site->file))
            session.program.line = session.desk.go_to_line = site->line;
    }

    // From a call to the copy or kernel that it asked for.
    void draw_arrows(Ui& ui, const ProgramBoard& board, const std::vector<Row>& rows, const Scale& scale,
                     const Snapshot& snapshot) const {
        const Theme& theme = *ui.theme;
        const runtime::Report& report = board.run->report;
        const auto first = std::lower_bound(report.launches.begin(), report.launches.end(), scale.begin,
                                            [](const runtime::LaunchRecord& l, double us) { return l.end_us < us; });
        int drawn = 0;
        for (auto launch = first; launch != report.launches.end() && drawn < 24; ++launch) {
            if (launch->begin_us > scale.end) break;
            if (launch->call < 0 || static_cast<size_t>(launch->call) >= report.calls.size()) continue;
            const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) {
                return r.track == ProgramTrack::kernels && r.holds(launch->device, launch->stream);
            });
            if (row == rows.end()) continue;
            const runtime::CallRecord& call = report.calls[static_cast<size_t>(launch->call)];
            const float x0 = scale.at((call.begin_us + call.end_us) / 2), x1 = scale.at(launch->begin_us) + 2;
            if (x0 < scale.plot.x || x1 > scale.plot.right()) continue;
            const bool open = snapshot.program.launch == launch - report.launches.begin();
            const float top = rows.front().y + (row_pitch_ - 5), bottom = row->y,
                        middle = bottom - 4 - static_cast<float>(drawn % 3) * 4;
            const Point points[] = {{x0, top}, {x0, middle}, {x1, middle}, {x1, bottom}};
            ui.polyline(points, open ? theme.ink : theme.ink3, open ? 2.f : 1.f);
            ++drawn;
        }
    }

    static void legend(Ui& ui, const Rect& r, const ProgramBoard& board) {
        if (r.h < 16) return;
        float x = r.x + gutter;
        const auto has = [&](ProgramTrack track) {
            return std::any_of(board.bars.begin(), board.bars.end(), [&](const ProgramBar& b) { return b.track == track; });
        };
        static constexpr std::pair<ProgramTrack, std::string_view> names[] = {{ProgramTrack::host, "host's call"},
                                                                              {ProgramTrack::copy_in, "copy to GPU"},
                                                                              {ProgramTrack::kernels, "kernel"},
                                                                              {ProgramTrack::copy_within, "copy in GPU"},
                                                                              {ProgramTrack::copy_out, "copy to host"}};
        for (const auto& [track, name] : names) {
            if (!has(track) || x + ui.text_width(name, {.size = 12}) + 30 > r.right()) continue;
            const Look look = look_of(track, *ui.theme);
            x = ui.legend(x, r.y + 12, look.fill, look.hatch, name);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_calls_view() {
    return std::make_unique<CallsView>();
}

}  // namespace lockstep::gui
