// Launching: the servers, their processes with rank and local rank, the GPU that each takes, and either the ring's hops,
// those that cross the network marked, or the meeting at which rank 0 tells all who they are. A click on a process, or A
// and D, shows what it is told.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/launch/launch_places.h"
#include "core/base/units.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view processes_title = "Launching: who am I, and which GPU is mine";
constexpr std::string_view processes_hidden = "Local ranks beyond the first server stay hidden until you lock an answer.";

class ProcessesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const LaunchPlaces places = snapshot->cluster ? launch_places(snapshot->cluster->mesh.mesh) : LaunchPlaces();
        if (places.world() < 2) {
            const Rect body = ui.panel(area, {.title = processes_title});
            return ui.say_nothing_yet(body, "No processes have been started yet.", snapshot->busy);
        }
        const bool hidden = is_hidden(session);
        const std::string caption = hidden ? std::string(processes_hidden) : launch_caption(places);
        const Rect body = ui.panel(
            area, {.title = processes_title,
                   .right = fmt::format("{}, {} each", counted(places.servers, "server"), counted(places.slots, "GPU")),
                   .badge = hidden ? Provenance::none : Provenance::derived,
                   .caption = caption});
        ui.push_scope("processes");
        rank_ = std::clamp(rank_ < 0 ? places.world() - 2 : rank_, 0, places.world() - 1);
        if (ui.pressed(Key::d, area)) rank_ = std::min(rank_ + 1, places.world() - 1);
        if (ui.pressed(Key::a, area)) rank_ = std::max(rank_ - 1, 0);
        const bool low = body.h < whole_height;  // the command, and the servers with their processes alone
        float y = body.y;
        if (!low) {
            const Finding says = finding(session, places, snapshot->cluster->mesh);
            ui.text(body.x, y + 22, says.headline, {.size = 24, .weight = 700, .width = body.w});
            ui.text(body.x, y + 44, says.difference, {.size = 14, .color = ui.theme->ink2, .width = body.w});
            y += 56;
        }
        if (low && !hidden) {  // what it finds, in place of the command that started it
            const std::string says = finding(session, places, snapshot->cluster->mesh).headline;
            ui.text(body.x, y + 18, says, {.size = 18, .weight = 700, .width = body.w});
            y += 34;
        } else {
            y += draw_command(ui, places, {body.x, y, body.w, low ? 30.0f : 52.0f}) + 8;
        }
        if (!low) y += draw_ways(ui, body, y);
        constexpr float legend = 24, told = 136;
        const float below = low ? 0 : told;
        mesh_ = &snapshot->cluster->mesh;
        draw_servers(ui, places, hidden, {body.x, y, body.w, body.bottom() - legend - below - y});
        if (!low) draw_told(ui, places, hidden, {body.x, body.bottom() - legend - below + 8, body.w, below - 8});
        draw_legend(ui, meeting_, body.x, body.bottom() - 6, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const LaunchPlaces places = snapshot->cluster ? launch_places(snapshot->cluster->mesh.mesh) : LaunchPlaces();
        if (places.world() < 2) return std::string(processes_title) + ": nothing has been started yet.\n";
        const bool hidden = is_hidden(session);
        std::string text =
            fmt::format("{} (derived): {}; {}\n", processes_title, mpirun_words(places), torchrun_words(places));
        for (const ProcessPlace& process : places.processes) {
            if (hidden && process.server > 0)
                text += fmt::format("  rank {}: server {}\n", process.rank, process.server + 1);
            else
                text += "  " + process_words(places, process.rank) + "\n";
        }
        const Finding says = finding(session, places, snapshot->cluster->mesh);
        if (hidden) return text + "  " + says.headline + ". " + says.difference + " " + std::string(processes_hidden) + "\n";
        text += fmt::format("  {} of {} hops of the ring cross the network; dealt out turn by turn {} would\n",
                            places.hops_over_network(), places.world(), places.hops_turn_by_turn());
        return text + "  " + says.headline + ". " + says.difference + " " + launch_caption(places) + "\n";
    }

  private:
    struct Finding {
        std::string headline, difference;
    };

    static bool is_hidden(const Session& session) {
        return session.learn.reveal_steps >= 0 || asks_for(session, "coordinate");
    }
    // Before the local ranks are asked for, who was started; at the question, they; in a step that asks nothing, the hops.
    static Finding finding(const Session& session, const LaunchPlaces& places, const scene::MeshShown& mesh) {
        if (is_hidden(session)) return {started_headline(places), started_difference(places)};
        const LessonState& state = session.lesson;
        const auto step = static_cast<size_t>(std::max(0, state.step));
        if (state.lesson && step < state.lesson->steps.size() && !state.lesson->steps[step].exercises.empty())
            if (std::string says = rows_headline(mesh); !says.empty()) return {std::move(says), hops_difference(places)};
        const bool asks = !state.lesson || step >= state.lesson->steps.size() || !state.lesson->steps[step].predicts.empty();
        if (asks || places.hops_over_network() == 0) return {launch_headline(places), launch_difference(places)};
        return {hops_headline(places), hops_difference(places)};
    }

    static constexpr float whole_height = 440;
    int rank_ = -1;
    const scene::MeshShown* mesh_ = nullptr;  // of the frame that is drawn
    bool meeting_ = false;

    float draw_ways(Ui& ui, const Rect& body, float y) {
        float x = body.x;
        if (ui.chip(x, y, "the ring", !meeting_)) meeting_ = false;
        if (ui.chip(x, y, "the meeting", meeting_)) meeting_ = true;
        const std::string note = meeting_ ? "rank 0's server listens; all others say where they are and learn their numbers"
                                          : "each rank hands on to the next, the last one to rank 0";
        ui.text(x + 8, y + 18, note, {.size = 13, .color = ui.theme->ink2, .width = body.right() - x - 8});
        return 36;
    }

    static float draw_command(Ui& ui, const LaunchPlaces& places, const Rect& r) {
        const TextStyle mono{.size = 13, .mono = true};
        ui.rect(r, ui.theme->code, 4);
        const std::string mpi = "$ " + mpirun_words(places), torch = "$ " + torchrun_words(places);
        const float end = ui.text(r.x + 12, r.y + 20, mpi, {.size = 13, .mono = true, .width = r.w - 24});
        if (r.h < 50) return r.h;
        if (const std::string_view once = "starts all, from one server";
            end + ui.text_width(once, {.size = 13}) + 24 < r.right())
            ui.text(end + 16, r.y + 20, once, {.size = 13, .color = ui.theme->quiet});
        const bool fits = ui.text_width(torch, mono) < r.w - 24;
        const float next =
            ui.text(r.x + 12, r.y + 42, torch, {.size = fits ? 13.0f : 11.0f, .mono = true, .width = r.w - 24});
        const std::string_view each = places.servers > 1 ? "or this, on each server" : "or this";
        if (next + ui.text_width(each, {.size = 13}) + 24 < r.right())
            ui.text(next + 16, r.y + 42, each, {.size = 13, .color = ui.theme->quiet});
        return r.h;
    }

    struct Box {
        Rect process, gpu;
    };

    void draw_servers(Ui& ui, const LaunchPlaces& places, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float gap = std::min(96.0f, r.w * 0.08f), under = places.by_turns ? 66 : 34;
        const float wide = (r.w - gap * static_cast<float>(places.servers - 1)) / static_cast<float>(places.servers);
        const float high = r.h - under;
        std::vector<Box> boxes(places.processes.size());
        const auto box_of = [&](int server, int slot) -> Box& {
            const auto at = std::find_if(places.processes.begin(), places.processes.end(),
                                         [&](const ProcessPlace& one) { return one.server == server && one.local == slot; });
            return boxes[static_cast<size_t>(at - places.processes.begin())];
        };
        for (int server = 0; server < places.servers; ++server) {
            const Rect box{r.x + (wide + gap) * static_cast<float>(server), r.y, wide, high};
            ui.rect(box, theme.panel2, 6);
            ui.frame(box, theme.line, 1, 6);
            const float named =
                ui.text(box.x + 12, box.y + 20, fmt::format("server {}", server + 1), {.size = 14, .weight = 600});
            const bool unnamed =
                (wide - 16) / static_cast<float>(places.slots) - 6 <= 66;  // too narrow for words in its boxes
            const std::string_view rows = "rank / local";
            if (unnamed && named + 10 + ui.text_width(rows, {.size = 12}) + 8 < box.right())
                ui.text(named + 10, box.y + 20, rows, {.size = 12, .color = theme.ink2});
            const std::string address = server == 0 ? "MASTER_ADDR" : "";
            if (!address.empty() && !unnamed && ui.text_width(address, {.size = 12, .mono = true}) + 100 < box.w)
                ui.text(box.right() - 12, box.y + 20, address,
                        {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
            const float pitch = (wide - 16) / static_cast<float>(places.slots), top = box.y + 30, room = high - 38,
                        tall = std::min(92.0f, room * 0.56f);
            for (int slot = 0; slot < places.slots; ++slot) {
                const float x = box.x + 8 + pitch * static_cast<float>(slot);
                const float gpu = std::min(38.0f, room * 0.26f);
                box_of(server, slot) = {{x + 3, top, pitch - 6, tall}, {x + 3, box.bottom() - 8 - gpu, pitch - 6, gpu}};
            }
        }
        for (int rank = 0; rank < places.world(); ++rank)
            draw_process(ui, places.processes[static_cast<size_t>(rank)], hidden, boxes[static_cast<size_t>(rank)]);
        if (meeting_)
            draw_meeting(ui, places, boxes, r);
        else
            draw_ring(ui, places, boxes, r);
    }

    void draw_process(Ui& ui, const ProcessPlace& process, bool hidden, const Box& box) {
        const Theme& theme = *ui.theme;
        const bool here = process.rank == rank_, unknown = hidden && process.server > 0;
        ui.rect(box.process, theme.panel, 4);
        ui.frame(box.process, here ? theme.accent : theme.ink3, here ? 2.0f : 1.0f, 4);
        const float middle = box.process.y + box.process.h / 2;
        const bool names = box.process.w > 66;
        const auto line = [&](float y, std::string_view name, const std::string& number, bool strong) {
            if (names) ui.text(box.process.x + 8, y, name, {.size = 12, .color = theme.ink2});
            const float size = box.process.w > 30 ? 18 : 14, end = box.process.w > 40 ? 10 : 5;
            ui.text(box.process.right() - end, y + 2, number,
                    {.size = size, .color = strong ? theme.wrong : theme.ink, .align = Align::right, .weight = 700});
        };
        line(box.process.y + box.process.h * 0.36f, "rank", std::to_string(process.rank), false);
        ui.line({box.process.x + 6, middle}, {box.process.right() - 6, middle}, theme.line);
        line(box.process.y + box.process.h * 0.84f, box.process.w > 90 ? "local rank" : "local",
             unknown ? "?" : std::to_string(process.local), !unknown && process.local != process.rank);
        const float x = box.process.x + box.process.w / 2;
        ui.line({x, box.process.bottom()}, {x, box.gpu.y - 4}, data::sky, 1.5f);
        ui.arrow_head({x, box.gpu.y}, Way::down, data::sky, 5);
        ui.rect(box.gpu, mix(theme.panel, data::sky, 0.3f), 4);
        ui.frame(box.gpu, data::sky, 1, 4);
        const std::string name = unknown ? "GPU ?" : fmt::format("GPU {}", process.local);
        ui.text(x, box.gpu.y + box.gpu.h / 2 + 5, box.gpu.w > 46 ? name : name.substr(4),
                {.size = 13, .align = Align::center, .weight = 600});
        if (box.gpu.h >= 26) draw_rows(ui, process.rank, {box.gpu.x + 4, box.gpu.bottom() - 5, box.gpu.w - 8, 3});
        if (ui.area(fmt::format("process {}", process.rank), box.process)) rank_ = process.rank;
        if (ui.hovered(box.process))
            ui.tooltip(unknown ? fmt::format("rank {} on server {}", process.rank, process.server + 1)
                               : fmt::format("rank {} on server {}: local rank {}, GPU {}", process.rank, process.server + 1,
                                             process.local, process.local));
    }

    // Which of all rows it holds, as a part of a bar.
    void draw_rows(Ui& ui, int rank, const Rect& bar) const {
        if (mesh_->rows < 1 || static_cast<size_t>(rank) >= mesh_->before.size()) return;
        const comm::Piece& rows = mesh_->before[static_cast<size_t>(rank)].rows;
        const float unit = bar.w / static_cast<float>(mesh_->rows);
        ui.rect(bar, ui.theme->grid);
        ui.rect({bar.x + unit * static_cast<float>(rows.begin), bar.y, std::max(1.5f, unit * static_cast<float>(rows.count)),
                 bar.h},
                ui.theme->ink);
        if (ui.hovered({bar.x, bar.y - 6, bar.w, bar.h + 8}))
            ui.tooltip(fmt::format("rank {} holds rows {} to {} of {}", rank, rows.begin, rows.begin + rows.count - 1,
                                   mesh_->rows));
    }

    // From GPU to GPU; the last one's hop comes back below.
    static void draw_ring(Ui& ui, const LaunchPlaces& places, const std::vector<Box>& boxes, const Rect& r) {
        if (places.by_turns) return draw_crossing_ring(ui, places, boxes, r);
        for (int rank = 0; rank < places.world(); ++rank) {
            const Rect &from = boxes[static_cast<size_t>(rank)].gpu, &to = boxes[static_cast<size_t>(places.next(rank))].gpu;
            const bool leaves = places.leaves(rank);
            const Color color = leaves ? data::orange : data::green;
            const float thick = leaves ? 4.0f : 3.0f;
            if (places.next(rank) != 0) {
                const float y = from.y + from.h / 2;
                ui.line({from.right(), y}, {to.x - 5, y}, color, thick);
                ui.arrow_head({to.x, y}, Way::right, color, 6);
                const std::string words = fmt::format("{} → {}", rank, places.next(rank));
                if (leaves && to.x - from.right() > ui.text_width(words, {.size = 13, .weight = 600}) + 8)
                    ui.text((from.right() + to.x) / 2, y - 8, words, {.size = 13, .align = Align::center, .weight = 600});
                continue;
            }
            const float x = from.x + from.w / 2, back = to.x + to.w / 2, y = r.bottom() - 16;
            const Point way[] = {{x, from.bottom()}, {x, y}, {back, y}, {back, to.bottom() + 6}};
            ui.polyline(way, color, thick);
            ui.arrow_head({back, to.bottom()}, Way::up, color, 6);
            const std::string words = fmt::format("{} → {}{}", rank, 0, leaves ? " over the network" : "");
            const float width = ui.text_width(words, {.size = 13, .weight = 600}) + 16;
            ui.rect({(x + back) / 2 - width / 2, y - 11, width, 22}, ui.theme->panel);
            ui.text((x + back) / 2, y + 5, words, {.size = 13, .align = Align::center, .weight = 600});
        }
    }

    // Dealt out turn by turn every hop leaves its server: below the GPUs, each round of turns on a level of its own.
    static void draw_crossing_ring(Ui& ui, const LaunchPlaces& places, const std::vector<Box>& boxes, const Rect& r) {
        const float levels = static_cast<float>(2 * places.slots), top = boxes.front().gpu.bottom() + 8,
                    step = std::min(7.0f, (r.bottom() - top) / levels);
        for (int rank = 0; rank < places.world(); ++rank) {
            const int next = places.next(rank);
            const ProcessPlace &from = places.processes[static_cast<size_t>(rank)],
                               &to = places.processes[static_cast<size_t>(next)];
            const Rect &a = boxes[static_cast<size_t>(rank)].gpu, &b = boxes[static_cast<size_t>(next)].gpu;
            const float level = static_cast<float>(2 * from.local + (to.local != from.local || next == 0 ? 1 : 0));
            const float x = a.x + a.w * 0.62f, back = b.x + b.w * 0.38f, y = top + step * level;
            const Color color = places.leaves(rank) ? data::orange : data::green;
            const Point way[] = {{x, a.bottom()}, {x, y}, {back, y}, {back, b.bottom() + 5}};
            ui.polyline(way, color, 2);
            ui.arrow_head({back, b.bottom()}, Way::up, color, 5);
        }
    }

    // Everybody calls at rank 0's address.
    static void draw_meeting(Ui& ui, const LaunchPlaces& places, const std::vector<Box>& boxes, const Rect& r) {
        const Theme& theme = *ui.theme;
        const Rect& first = boxes.front().gpu;
        const float y = r.bottom() - 16;
        const std::string words = fmt::format("MASTER_ADDR:MASTER_PORT, rank 0 listens: {} call, all learn WORLD_SIZE {}",
                                              places.world() - 1, places.world());
        for (int rank = 1; rank < places.world(); ++rank) {
            const Rect& from = boxes[static_cast<size_t>(rank)].gpu;
            const float x = from.x + from.w / 2;
            const Point way[] = {{x, from.bottom()}, {x, y}};
            ui.polyline(way, data::purple, 1.5f, 4, 3);
        }
        const Rect& last = boxes.back().gpu;
        ui.line({first.x + first.w / 2, y}, {last.x + last.w / 2, y}, data::purple, 1.5f);
        ui.line({first.x + first.w / 2, y}, {first.x + first.w / 2, first.bottom() + 6}, data::purple, 2);
        ui.arrow_head({first.x + first.w / 2, first.bottom()}, Way::up, data::purple, 6);
        const float width = std::min(ui.text_width(words, {.size = 13}) + 16, r.w - 80);
        const float x = first.x + first.w / 2 + 30;
        ui.rect({x, y - 11, width, 22}, theme.panel);
        ui.text(x + 8, y + 5, words, {.size = 13, .width = width - 16});
    }

    void draw_told(Ui& ui, const LaunchPlaces& places, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y}, {r.right(), r.y}, theme.line);
        const ProcessPlace& process = places.processes[static_cast<size_t>(rank_)];
        const bool unknown = hidden && process.server > 0;
        const float half = r.w / 2;
        ui.text(r.x, r.y + 20, fmt::format("What rank {} is told, in torchrun's words", rank_), {.size = 14, .weight = 600});
        float y = r.y + 42;
        const auto line = [&](std::string_view name, const std::string& value, std::string_view words) {
            ui.text(r.x, y, name, {.size = 13, .color = theme.ink2, .mono = true});
            ui.text(r.x + 136, y, value, {.size = 14, .align = Align::right, .weight = 700, .mono = true});
            ui.text(r.x + 150, y, words, {.size = 13, .color = theme.ink2, .width = half - 166});
            y += 22;
        };
        line("RANK", std::to_string(rank_), rank_ == 0 ? "of all; begins and saves" : "of all");
        line("LOCAL_RANK", unknown ? "?" : std::to_string(process.local),
             unknown ? "takes the GPU with its number"
                     : fmt::format("takes GPU {} of server {}", process.local, process.server + 1));
        line("WORLD_SIZE", std::to_string(places.world()), fmt::format("averages over {}", places.world()));
        line("neighbours", fmt::format("{}, {}", places.before(rank_), places.next(rank_)),
             places.leaves(rank_) && places.leaves(places.before(rank_))   ? "both behind the network"
             : places.leaves(rank_) || places.leaves(places.before(rank_)) ? "one of them behind the network"
                                                                           : "both at home");
        if (hidden || places.servers < 2) return;
        const float x = r.x + half;
        ui.text(x, r.y + 20, "Hops over the network", {.size = 14, .weight = 600});
        const auto hops = [&](float at, std::string_view name, int count, bool by_turns) {
            const float end = ui.text(x, at, name, {.size = 13, .weight = by_turns ? 400 : 600});
            ui.text(end + 10, at, fmt::format("{} of {}", count, places.world()),
                    {.size = 14, .color = by_turns ? theme.wrong : theme.right, .weight = 700});
            float left = x;
            for (int server = 0; server < places.servers; ++server) {
                for (int rank = 0; rank < places.world(); ++rank) {
                    const int of = by_turns ? rank % places.servers : rank / places.slots;
                    if (of != server) continue;
                    const int next = places.next(rank), to = by_turns ? next % places.servers : next / places.slots;
                    const Color color = to != server ? data::orange : data::green;
                    if (left + 20 > r.right()) return;
                    ui.circle({left + 9, at + 16}, 9, color);
                    ui.text(left + 9, at + 20.5f, std::to_string(rank),
                            {.size = 12, .color = text_on(color), .align = Align::center, .weight = 700});
                    left += 21;
                }
                left += 14;
            }
        };
        hops(r.y + 44, "server by server", places.by_turns ? places.servers : places.hops_over_network(), false);
        hops(r.y + 92, "turn by turn", places.hops_turn_by_turn(), true);
    }

    static void draw_legend(Ui& ui, bool meeting, float x, float y, float right) {
        const auto next = [&](Color color, bool dash, std::string_view words) {
            if (x + ui.text_width(words, {.size = 13}) + 50 < right) x = ui.legend_line(x, y, color, dash, words);
        };
        next(data::sky, false, "process to its GPU");
        if (meeting) return next(data::purple, true, "to the meeting");
        next(data::green, false, "ring inside a server");
        next(data::orange, false, "ring over the network");
        next(ui.theme->ink, false, "bar: the rows that it holds, of all");
    }
};

}  // namespace

std::unique_ptr<View> make_processes_view() {
    return std::make_unique<ProcessesView>();
}

}  // namespace lockstep::gui
