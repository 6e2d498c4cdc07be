// D10, a collective chunk by chunk: whose contributions have arrived in every rank's chunks, the ranks with the messages
// under way, and the links by time with their waits. Chips choose the algorithm, numbers the ranks, the size, the link, and
// who is late by how much; the wheel, or dragging sideways, on a cable or on a link's name how fast its sender's port is.
// Dragging on the links or on their axis moves the clock; a click on a rank picks it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/collective/collective_data.h"
#include "app/gui/views/collective/collective_trees.h"
#include "app/gui/widgets/axis.h"
#include "core/base/units.h"
#include "core/comm/collectives/collectives.h"
#include "core/comm/network/network.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view collective_hidden =
    "Before the first message: each rank has its own numbers alone. The exchange stays hidden until you lock an answer.";
constexpr double before_all = -1;  // microseconds: before the first message
constexpr int digits_up_to = 8;    // ranks whose contributions are told one by one

class CollectiveView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene || scene->collective.algorithm.empty()) {
            const Rect body = ui.panel(area, {.title = "Collective"});
            if (scene && !scene->collective.nothing.empty())
                return static_cast<void>(ui.paragraph({body.x, body.y + 8, body.w, 90}, scene->collective.nothing,
                                                      {.size = 14, .color = ui.theme->ink2}, 22));
            return ui.say_nothing_yet(body, "No collective has run yet.", snapshot->busy);
        }
        adopt(scene);
        const scene::CollectiveShown& shown = scene->collective;
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string title = collective_title(shown),
                          caption = hidden ? std::string(collective_hidden) : collective_caption(*scene),
                          right = shown.of_run.empty()
                                      ? fmt::format("one {} buffer a rank, {}",
                                                    bytes_si(static_cast<double>(shown.run.bytes())), shown.link)
                                      : fmt::format("{} of the training step: {}, {}", shown.of_run,
                                                    bytes_si(static_cast<double>(shown.run.bytes())), shown.link);
        const Rect body = ui.panel(area, {.title = title, .right = right, .caption = caption});
        ui.push_scope("collective");
        float used = 0;
        if (!has_room_to_itself(session, body.h)) {
            controls(ui, session, focus, shown, body, false);
            used = controls(ui, session, focus, shown, body, true);
        }
        Rect rest{body.x, body.y + used, body.w, body.h - used};
        if (hidden && (!shown.refusal.empty() || rest.h < 120)) {
            draw_hidden_place(ui, rest);
            return ui.pop_scope();
        }
        if (!shown.refusal.empty()) {
            ui.paragraph(rest, shown.refusal, {.size = 14, .color = ui.theme->wrong}, 22);
            return ui.pop_scope();
        }
        bool told = false;
        if (const std::string says = hidden ? std::string() : collective_headline(board_); !says.empty() && rest.h > 220) {
            const float sizes[] = {20, 17, 15};
            const float* size = sizes;
            while (size < sizes + 2 && ui.text_width(says, {.size = *size, .weight = 700}) > rest.w) ++size;
            const float end = ui.text(rest.x, rest.y + 18, says, {.size = *size, .weight = 700, .width = rest.w});
            told = rest.h < 280;  // the caption has what is sent
            if (told && end + 110 < rest.right()) ui.badge(rest.right() - 82, rest.y + 17, provenance_of(shown));
            rest = {rest.x, rest.y + 28, rest.w, rest.h - 28};
        }
        if (!hidden && !told) facts(ui, shown, rest);
        if (!hidden && !told) rest = {rest.x, rest.y + 26, rest.w, rest.h - 26};
        const double now = hidden ? before_all : collective_time(session, *scene);
        const std::vector<ChunkState> state = board_.at(now);
        const bool wide = rest.w > 760;
        const float matrix = wide ? std::floor(rest.w * (trees_.empty() ? 0.37f : 0.33f)) : std::floor(rest.w * 0.5f);
        const float circle = wide ? std::floor(rest.w * (trees_.empty() ? 0.26f : 0.34f)) : 0;
        const float pitch = std::clamp((rest.h - 18 - 22) / static_cast<float>(std::max(1, shown.ranks())), 1.0f, 58.0f);
        draw_matrix(ui, session, focus, shown, state, {rest.x, rest.y, matrix - 12, rest.h}, pitch);
        const Rect round{rest.x + matrix + 4, rest.y, circle - 20, rest.h};
        if (circle > 0 && hidden)
            draw_ranks_alone(ui, shown, focus, round);
        else if (circle > 0)
            draw_ranks(ui, session, *scene, focus, now, round);
        const Rect links{rest.x + matrix + circle, rest.y, rest.w - matrix - circle, rest.h};
        if (hidden)
            draw_hidden_place(ui, links);
        else
            draw_links(ui, session, *scene, now, links);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (snapshot->cluster && !snapshot->cluster->collective.nothing.empty())
            return "Collective: " + snapshot->cluster->collective.nothing + "\n";
        if (!snapshot->cluster || snapshot->cluster->collective.algorithm.empty())
            return "Collective: nothing has run yet.\n";
        const scene::ClusterScene& scene = *snapshot->cluster;
        const scene::CollectiveShown& shown = scene.collective;
        std::string text = fmt::format("{} ({}): {} ranks, {} in {} chunks, {}\n", collective_title(shown),
                                       shown.of_run.empty() ? "simulated" : "executed, times derived", shown.ranks(),
                                       bytes_si(static_cast<double>(shown.run.bytes())), shown.chunks(), shown.link);
        if (!shown.of_run.empty())
            text += fmt::format("  collective {} of {} of the training step: {}, from {} on\n", shown.at + 1, shown.of,
                                shown.of_run, time_text(shown.since_us));
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(collective_hidden) + "\n";
        if (!shown.refusal.empty()) return text + "  " + shown.refusal + "\n";
        const double size = std::max<double>(1, static_cast<double>(shown.run.bytes()));
        text += fmt::format("  {} steps; the rank that sends most sends {}, {:.4g} of the buffer; all together {}\n",
                            shown.rounds(), counted(shown.most_sent, "byte"), static_cast<double>(shown.most_sent) / size,
                            with_commas(shown.all_sent));
        text += fmt::format("  {} in all, {} {}", time_text(shown.run.total_us), time_text(shown.on_time_us),
                            shown.of_run.empty() ? without_words(shown).substr(1)
                                                 : std::string_view("with all ranks on time and the links to itself"));
        if (const double closed = shown.run.formula_us; closed > 0)
            text += fmt::format("; the closed formula says {}", time_text(closed));
        text += "\n";
        text += ports_text(shown);
        if (const std::string trees = trees_words(shown, trees_of(shown)); !trees.empty()) text += "  " + trees + "\n";
        CollectiveBoard board;
        board.adopt(shown);
        const double now = collective_time(session, scene);
        const std::vector<ChunkState> state = board.at(now);
        text += fmt::format("  at {}, step {} of {}:\n", time_text(now), board.round_at(now), shown.rounds());
        for (int rank = 0; rank < shown.ranks() && rank < 16; ++rank)
            text +=
                fmt::format("    rank {}{}:{}\n", shown.rank_of(rank), shown.rank_of(rank) == focus.rank ? " (picked)" : "",
                            chunks_text(shown, board, state, rank));
        return text + "  " + collective_caption(scene) + "\n";
    }

  private:
    std::shared_ptr<const scene::ClusterScene> seen_;
    CollectiveBoard board_;
    std::vector<RankTree> trees_;  // empty: it does not go along trees

    static std::string ports_text(const scene::CollectiveShown& shown) {  // those that are not as fast as the link
        std::string text;
        for (size_t rank = 0; rank < shown.speeds.size(); ++rank)
            if (shown.speeds[rank] != 1)
                text += fmt::format("  the port of rank {} runs at {} of the link's speed\n", rank,
                                    speed_text(shown.speeds[rank]));
        return text;
    }

    static std::string chunks_text(const scene::CollectiveShown& shown, const CollectiveBoard& board,
                                   const std::vector<ChunkState>& state, int rank) {  // " A 3/4 (+1), B 4/4 complete"
        std::string text;
        for (int chunk = 0; chunk < shown.chunks() && chunk < 16; ++chunk) {
            const ChunkState& held = state[static_cast<size_t>(rank * shown.chunks() + chunk)];
            if (!board.summed()) {
                text += fmt::format(" {} {}", chunk_name(chunk, shown.chunks()),
                                    held.here != 0     ? "there"
                                    : held.coming != 0 ? "arriving"
                                                       : "not yet");
                text += chunk + 1 < shown.chunks() ? "," : "";
                continue;
            }
            text += fmt::format(" {} {}/{}", chunk_name(chunk, shown.chunks()), std::popcount(held.here), shown.ranks());
            if ((held.coming & ~held.here) != 0) text += fmt::format(" (+{})", std::popcount(held.coming & ~held.here));
            if (held.here == board.complete()) text += " complete";
            text += chunk + 1 < shown.chunks() ? "," : "";
        }
        return text;
    }

    void adopt(const std::shared_ptr<const scene::ClusterScene>& scene) {
        if (scene == seen_) return;
        seen_ = scene;
        board_.adopt(scene->collective);
        trees_ = trees_of(scene->collective);
    }

    static void choose_algorithm(ControlRow& row, scene::CollectiveSetup& setup) {
        for (const comm::CollectiveRow& collective : comm::collectives()) {
            if (collective.operation != setup.operation) continue;
            std::string label(collective.algorithm);
            std::replace(label.begin(), label.end(), '_', ' ');
            if (row.chip(label, collective.algorithm == setup.algorithm)) setup.algorithm = collective.algorithm;
        }
    }

    static void choose_link(ControlRow& row, scene::CollectiveSetup& setup) {
        const std::span<const comm::LinkRow> table = comm::links();
        int at = 0;
        for (size_t i = 0; i < table.size(); ++i)
            if (table[i].name == setup.link) at = static_cast<int>(i);
        const int count = static_cast<int>(table.size());
        at = std::clamp(at + row.number("link", setup.link, "between any two ranks"), 0, count - 1);
        setup.link = table[static_cast<size_t>(at)].name;
    }

    float controls(Ui& ui, Session& session, const Focus& focus, const scene::CollectiveShown& shown, const Rect& body,
                   bool draw) {
        scene::ClusterSetup wanted = cluster_setup(session);
        scene::CollectiveSetup& setup = wanted.collective;
        const scene::CollectiveSetup before = setup;
        ControlRow row(ui, body, draw);
        if (!shown.of_run.empty()) {
            const int by = row.number("collective", fmt::format("{} of {}", shown.at + 1, shown.of),
                                      "of the training step: its network is chosen in Network");
            row.words(shown.of_run, true);
            if (draw && by != 0) {
                setup.of_run = std::clamp(shown.at + by, 0, shown.of - 1);
                session.cluster.time = -1;
                ask_cluster(session, wanted);
            }
            return row.height();
        }
        choose_algorithm(row, setup);
        row.gap(6);
        setup.ranks += row.number("ranks", std::to_string(setup.ranks), "1 to 64");
        const int doublings = row.number("size", bytes_si(setup.bytes), "of the buffer, by doubling");
        setup.bytes *= std::pow(2.0, doublings);
        choose_link(row, setup);
        if (setup.algorithm.find("server") != std::string::npos)
            setup.servers += row.number("servers", std::to_string(setup.servers), "ranks that add and send back");
        setup.late_rank +=
            row.number("late", setup.late_rank < 0 ? "none" : std::to_string(setup.late_rank), "begins after the others");
        if (setup.late_rank >= 0)
            setup.late_us = std::max(0.0, setup.late_us + 100 * row.number("by", time_text(setup.late_us), "100 µs a step"));
        const int port = std::clamp(focus.rank, 0, std::max(0, setup.ranks - 1));
        turn_port(setup, port,
                  row.number(fmt::format("port of rank {}", port), speed_text(speed_of(setup.speeds, port)),
                             "the cables that leave the picked rank, as a share of the link's speed"));
        if (!setup.speeds.empty() && row.chip("even cables", false)) setup.speeds.clear();
        if (draw && !(setup == before)) {
            session.cluster.collective = true;
            ask_cluster(session, wanted);
        }
        return row.height();
    }

    static double speed_of(const std::vector<double>& speeds, int rank) {
        return rank >= 0 && static_cast<size_t>(rank) < speeds.size() ? speeds[static_cast<size_t>(rank)] : 1;
    }
    static std::string speed_text(double speed) {
        return speed >= 1 ? fmt::format("x{:g}", speed) : fmt::format("1/{:g}", 1 / speed);
    }
    // Twice as fast a step, or half.
    static void turn_port(scene::CollectiveSetup& setup, int rank, int by) {
        if (by == 0) return;
        setup.speeds.resize(static_cast<size_t>(std::max(1, setup.ranks)), 1);
        double& speed = setup.speeds[static_cast<size_t>(rank)];
        speed = std::clamp(speed * std::pow(2.0, by), 1.0 / 64, 4.0);
    }
    // A cable under the pointer: the wheel, or dragging sideways, sets how fast its sender's port is.
    static void handle_cable(Ui& ui, Session& session, const scene::CollectiveShown& shown, std::string_view id, int from,
                             int to, const Rect& place) {
        if (!shown.of_run.empty()) return;
        const Drag drag = ui.drag(id, place);
        const float turned = ui.wheel(place);
        int by = turned > 0 ? 1 : turned < 0 ? -1 : 0;
        constexpr float units_a_step = 18;
        if (drag.active) {
            const auto steps = [&](float at) { return static_cast<int>((at - drag.from.x) / units_a_step); };
            by += steps(drag.at.x) - steps(drag.at.x - drag.delta.x);
        }
        scene::ClusterSetup wanted = cluster_setup(session);
        if (drag.active || ui.hovered(place))
            ui.tooltip(
                fmt::format("cable from rank {} to {}: the port runs at {} of {}\nwheel, or drag sideways: faster or "
                            "slower",
                            from, to, speed_text(speed_of(wanted.collective.speeds, from)), shown.link));
        if (by == 0) return;
        turn_port(wanted.collective, from, by);
        session.cluster.collective = true;
        ask_cluster(session, wanted);
    }
    static bool uneven(const scene::CollectiveShown& shown) {
        return std::any_of(shown.speeds.begin(), shown.speeds.end(), [](double speed) { return speed != 1; });
    }

    static Provenance provenance_of(const scene::CollectiveShown& shown) {
        return shown.of_run.empty() ? Provenance::simulated : Provenance::times_derived;
    }

    static void facts(Ui& ui, const scene::CollectiveShown& shown, const Rect& area) {
        const Theme& theme = *ui.theme;
        const float y = area.y + 14;
        const Provenance provenance = provenance_of(shown);
        const float badge = ui.text_width(name_of(provenance), {.size = 12}) + 16;
        ui.badge(area.right() - badge, y, provenance);
        float x = area.x;
        const float right = area.right() - badge - 10;
        const auto fact = [&](const std::string& strong, const std::string& quiet) {
            const TextStyle big{.size = 16, .weight = 700}, small{.size = 13, .color = theme.ink2};
            const float width = ui.text_width(strong, big);
            if (x + width > right) return;
            x = ui.text(x, y, strong, big) + 8;
            if (!quiet.empty() && x + ui.text_width(quiet, small) <= right) x = ui.text(x, y, quiet, small);
            x += 26;
        };
        const double size = std::max<double>(1, static_cast<double>(shown.run.bytes()));
        const std::string formula = collective_formula(shown);
        const std::string whole = fmt::format("; S: the buffer, {}", bytes_si(size)),
                          sent = bytes_si(static_cast<double>(shown.most_sent));
        fact(counted(shown.rounds(), "step"), formula.empty() ? "" : "2(N-1)");
        if (formula.empty())
            fact(fmt::format("{:.3g} S", static_cast<double>(shown.most_sent) / size),
                 fmt::format("= {} by who sends most{}", sent, whole));
        else
            fact(fmt::format("{:.3g} S", static_cast<double>(shown.most_sent) / size),
                 fmt::format("= {} = {} by each rank{}", formula, sent, whole));
        const bool late = std::abs(shown.run.total_us - shown.on_time_us) > 1e-6;
        fact(time_text(shown.run.total_us), !late ? ""
                                            : shown.of_run.empty()
                                                ? time_text(shown.on_time_us) + std::string(without_words(shown))
                                                : time_text(shown.on_time_us) + " with all on time");
    }

    static std::string_view without_words(const scene::CollectiveShown& shown) {
        if (!uneven(shown)) return " without the late rank";
        return shown.late_rank >= 0 ? " with even cables and nobody late" : " with even cables";
    }

    // A cell of the matrix: a rank's chunk, and whose contributions are in it or on the way.
    struct ChunkCell {
        Rect box;
        uint64_t here = 0, coming = 0;
        bool full = false;
        int chunk = 0;
    };

    void draw_matrix(Ui& ui, Session& session, Focus& focus, const scene::CollectiveShown& shown,
                     const std::vector<ChunkState>& state, const Rect& area, float pitch) {
        const Theme& theme = *ui.theme;
        const float left = 50, top = area.y + 18, column = (area.w - left) / static_cast<float>(std::max(1, shown.chunks())),
                    width = column > 12 ? std::min(column - 6, shown.chunks() == 1 && !board_.summed() ? 200.0f : 96.0f)
                                        : column,
                    height = std::max(2.0f, pitch - (pitch > 12 ? 5.0f : 1.0f));
        draw_chunk_names(ui, shown, {area.x + left, area.y, width, 0}, column);
        const int every = std::max(1, static_cast<int>(std::ceil(14 / pitch)));
        for (int rank = 0; rank < shown.ranks(); ++rank) {
            const float y = top + pitch * static_cast<float>(rank);
            const bool on = shown.rank_of(rank) == focus.rank;
            if (rank % every == 0)
                ui.text(area.x, y + height / 2 + 5,
                        every > 1 ? std::to_string(shown.rank_of(rank)) : fmt::format("rank {}", shown.rank_of(rank)),
                        {.size = pitch >= 15 ? 13.0f : 12.0f,
                         .color = on ? theme.ink : theme.ink2,
                         .weight = on ? 600 : 400,
                         .width = left - 4});
            for (int chunk = 0; chunk < shown.chunks(); ++chunk) {
                const ChunkState& held = state[static_cast<size_t>(rank * shown.chunks() + chunk)];
                const ChunkCell cell{{area.x + left + column * static_cast<float>(chunk), y, width, height},
                                     held.here,
                                     held.coming & ~held.here,
                                     board_.summed() ? held.here == board_.complete() : held.here != 0,
                                     chunk};
                draw_cell(ui, shown, cell, column);
                if (ui.hovered(cell.box)) ui.tooltip(tip_of(shown, cell, rank, chunk));
            }
            const Rect line{area.x, y, area.w, pitch};
            if (ui.clicked(line)) focus.rank = shown.rank_of(rank), session.cluster.collective = true;
        }
    }

    static void draw_chunk_names(Ui& ui, const scene::CollectiveShown& shown, const Rect& first, float column) {
        const int every = std::max(1, static_cast<int>(std::ceil(22 / column)));
        for (int chunk = 0; chunk < shown.chunks(); chunk += every) {
            const std::string name = chunk_name(chunk, shown.chunks()), longer = "chunk " + name;
            ui.text(first.x + column * static_cast<float>(chunk) + first.w / 2, first.y + 12,
                    column > ui.text_width(longer, {.size = 12}) + 6 ? longer : name,
                    {.size = 12, .color = ui.theme->ink2, .align = Align::center});
        }
    }

    void draw_cell(Ui& ui, const scene::CollectiveShown& shown, const ChunkCell& cell, float column) const {
        const Theme& theme = *ui.theme;
        const Rect& box = cell.box;
        if (!board_.summed()) {
            const bool pieces = message_code(shown) == MessageCode::by_piece;
            return draw_copied(ui, cell, column, pieces ? piece_color(cell.chunk, shown.chunks()) : data::green);
        }
        const int ranks = std::max(1, shown.ranks());
        const float segment = (box.w - 4) / static_cast<float>(ranks);
        if (ranks <= digits_up_to && segment >= 3 && box.h >= 8) {
            ui.rect(box, theme.panel2);
            for (int source = 0; source < ranks; ++source) draw_contribution(ui, shown, cell, source, segment);
            return ui.frame(box, cell.full ? theme.ink : theme.line, cell.full ? 2.5f : 1.0f);
        }
        // How many, as a bar.
        const float unit = box.w / static_cast<float>(ranks), here = unit * static_cast<float>(std::popcount(cell.here)),
                    arrives = unit * static_cast<float>(std::popcount(cell.coming));
        ui.rect({box.x, box.y, here, box.h}, cell.full ? data::blue : data::green);
        if (arrives > 0) ui.hatch({box.x + here, box.y, arrives, box.h}, data::green, Hatch::diagonal);
        if (column > 8 && box.h > 6) ui.frame(box, cell.full ? theme.ink : theme.line, 1);
    }

    // A chunk that is handed on as it is: it is there, or not.
    static void draw_copied(Ui& ui, const ChunkCell& cell, float column, Color there) {
        const Theme& theme = *ui.theme;
        const Rect& box = cell.box;
        ui.rect(box, theme.panel2);
        const bool roomy = column > 8 && box.h > 6;
        const Rect inside = roomy ? Rect{box.x + 2, box.y + 2, box.w - 4, box.h - 4} : box;
        if (cell.full)
            ui.rect(inside, there);
        else if (cell.coming != 0)
            ui.hatch(inside, there, Hatch::diagonal);
        if (roomy) ui.frame(box, cell.full ? theme.ink : theme.line, cell.full ? 1.5f : 1.0f);
        if (box.w < 110 || box.h < 15) return;
        const std::string_view says = cell.full ? "there" : cell.coming != 0 ? "arriving" : "not yet";
        const float middle = box.x + box.w / 2, words = ui.text_width(says, {.size = 12, .weight = 600}) + 10;
        if (!cell.full) ui.rect({middle - words / 2, box.y + 2, words, box.h - 4}, theme.panel2);
        ui.text(middle, box.y + box.h / 2 + 4.5f, says,
                {.size = 12,
                 .color = cell.full          ? text_on(there)
                          : cell.coming != 0 ? theme.ink
                                             : theme.quiet,
                 .align = Align::center,
                 .weight = 600});
    }

    static void draw_contribution(Ui& ui, const scene::CollectiveShown& shown, const ChunkCell& cell, int source,
                                  float segment) {
        const Theme& theme = *ui.theme;
        const Rect& box = cell.box;
        const Rect part{box.x + 2 + segment * static_cast<float>(source), box.y + 3, segment - 1.5f, box.h - 6};
        const bool here = (cell.here >> source & 1) != 0, arrives = (cell.coming >> source & 1) != 0;
        if (here)
            ui.rect(part, data::green);
        else if (arrives)
            ui.hatch(part, data::green, Hatch::diagonal);
        if (segment < 11 || box.h < 18) return;
        const Color color = here ? text_on(data::green) : arrives ? theme.ink : theme.quiet;
        ui.text(part.x + part.w / 2, box.y + box.h / 2 + 4.5f, std::to_string(shown.rank_of(source)),
                {.size = 12, .color = color, .align = Align::center, .weight = here || arrives ? 600 : 400});
    }

    std::string tip_of(const scene::CollectiveShown& shown, const ChunkCell& cell, int rank, int chunk) const {
        if (!board_.summed())
            return fmt::format("rank {}, chunk {}: {}", shown.rank_of(rank), chunk_name(chunk, shown.chunks()),
                               cell.full          ? "there"
                               : cell.coming != 0 ? "arriving"
                                                  : "not there yet");
        return fmt::format("rank {}, chunk {}: {} of {} contributions{}{}", shown.rank_of(rank),
                           chunk_name(chunk, shown.chunks()), std::popcount(cell.here), shown.ranks(),
                           cell.coming != 0 ? fmt::format(", {} arriving", std::popcount(cell.coming)) : std::string(),
                           cell.full ? ", complete" : "");
    }

    static constexpr float message_half = 9;
    // The ranks round an ellipse: where each stands, and the ways between them.
    struct RankCircle {
        int ranks = 0;
        bool words = false, ring = false;  // ring: every link goes to the next rank
        Point centre;
        float half_w = 0, half_h = 0, rx = 0, ry = 0;

        static constexpr float pi = 3.14159265f;
        float angle(int rank) const { return -pi / 2 + 2 * pi * static_cast<float>(rank) / static_cast<float>(ranks); }
        Point at(float a) const { return {centre.x + rx * std::cos(a), centre.y + ry * std::sin(a)}; }
        // Between the boxes of two that follow each other, where they are nearest: what is under way has to pass there.
        float least_gap() const {
            float least = INFINITY;
            for (int rank = 0; rank < ranks; ++rank) {
                const Point a = at(angle(rank)), b = at(angle(rank + 1));
                least = std::min(least, std::max(std::abs(b.x - a.x) - 2 * half_w, std::abs(b.y - a.y) - 2 * half_h));
            }
            return least;
        }

        // A point on the way, 0 at the sender's edge and 1 at the receiver's.
        Point way(int from, int to, float share) const {
            const Point a = at(angle(from)), b = at(angle(to));
            const float length = std::max(1.0f, std::hypot(b.x - a.x, b.y - a.y));
            const float edge = std::min(
                0.42f, (half_w * std::abs(b.x - a.x) + half_h * std::abs(b.y - a.y)) / (length * length) + 4 / length);
            const float t = edge + (1 - 2 * edge) * share;
            if (ring) return at(angle(from) + 2 * pi / static_cast<float>(ranks) * t);
            // Beside the straight line, so that the two ways of a pair differ.
            const float dx = (b.x - a.x) / length, dy = (b.y - a.y) / length;
            return {a.x + (b.x - a.x) * t - dy * 4, a.y + (b.y - a.y) * t + dx * 4};
        }
    };

    RankCircle place_circle(int ranks, const Rect& area) const {
        RankCircle circle{.ranks = ranks, .words = ranks <= 8 && area.h >= (ranks <= 4 ? 140 : 190) && area.w >= 200};
        circle.centre = {area.x + area.w / 2, area.y + area.h / 2 - 4};
        const auto fill = [&] {
            circle.half_w = circle.words ? 28 : ranks <= 16 ? 12.0f : 4.0f;
            circle.half_h = circle.words ? 13 : ranks <= 16 ? 10.0f : 4.0f;
            circle.rx = std::max(20.0f, std::min(area.w / 2 - circle.half_w - 4, 130.0f));
            circle.ry = std::max(16.0f, std::min(area.h / 2 - circle.half_h - 8, 96.0f));
        };
        fill();
        if (circle.words && circle.least_gap() < 2 * message_half + 4) circle.words = false, fill();
        circle.ring = std::all_of(board_.links().begin(), board_.links().end(),
                                  [&](const auto& link) { return (link.first + 1) % ranks == link.second; });
        return circle;
    }

    static std::vector<MessageUnderWay> under_way(const scene::CollectiveShown& shown, double now) {
        std::vector<MessageUnderWay> moving;
        for (const comm::Transfer& message : shown.messages)
            if (message.begin_us <= now + 1e-9 && message.arrival_us > now + 1e-9 && moving.size() < 64)
                moving.push_back({&message, static_cast<float>((now - message.begin_us) /
                                                               std::max(1e-9, message.arrival_us - message.begin_us))});
        return moving;
    }

    // A message under way is a chunk that slides along its arrow. A ring's links are arcs.
    void draw_ranks(Ui& ui, Session& session, const scene::ClusterScene& scene, Focus& focus, double now,
                    const Rect& area) const {
        const scene::CollectiveShown& shown = scene.collective;
        const int n = shown.ranks();
        if (n < 2 || area.w < 90 || area.h < 80) return;
        const std::vector<MessageUnderWay> moving = under_way(shown, now);
        if (!trees_.empty() && area.h > 150) {
            ui.text(area.x, area.y + 12, fmt::format("step {} of {}", board_.round_at(now), shown.rounds()),
                    {.size = 13, .weight = 600, .width = area.w});
            draw_rank_trees(ui, shown, trees_, moving, focus, {area.x, area.y + 22, area.w, area.h - 22 - 24},
                            [&](int from, int to, const Rect& place) {
                                // An edge may be in both trees.
                                handle_cable(ui, session, shown, fmt::format("cable {} {} {:.0f}", from, to, place.y), from,
                                             to, place);
                            });
            return;
        }
        const RankCircle circle = place_circle(n, area);
        draw_walls(ui, shown, circle);
        draw_cables(ui, session, shown, circle, moving);
        for (int rank = 0; rank < n; ++rank) draw_rank(ui, shown, focus, circle, rank);
        for (const MessageUnderWay& message : moving)
            if (n <= 32) draw_message(ui, shown, circle, message);
        if (circle.rx > 60 && circle.ry > 40 && (circle.ring || n <= 2)) {
            const Point centre = circle.centre;
            ui.text(centre.x, centre.y, fmt::format("step {}", board_.round_at(now)),
                    {.size = 14, .align = Align::center, .weight = 600});
            ui.text(centre.x, centre.y + 17, fmt::format("of {}", shown.rounds()),
                    {.size = 12, .color = ui.theme->ink2, .align = Align::center});
        } else {
            ui.text(area.x, area.y + 12, fmt::format("step {} of {}", board_.round_at(now), shown.rounds()),
                    {.size = 13, .weight = 600, .width = area.w});
        }
    }

    // Between two that follow each other in different nodes.
    static void draw_walls(Ui& ui, const scene::CollectiveShown& shown, const RankCircle& circle) {
        if (shown.node_size <= 0 || circle.ranks > 16) return;
        const Color color = wall_color(*ui.theme);
        for (int rank = 0; rank < circle.ranks; ++rank) {
            if (!shown.crosses(rank, (rank + 1) % circle.ranks)) continue;
            const float a = circle.angle(rank) + RankCircle::pi / static_cast<float>(circle.ranks);
            const auto at = [&](float share) {
                return Point{circle.centre.x + share * circle.rx * std::cos(a),
                             circle.centre.y + share * circle.ry * std::sin(a)};
            };
            const Point wall[] = {at(0.5f), at(1.22f)};
            ui.polyline(wall, color, 3, 6, 4);
        }
    }
    static Color wall_color(const Theme& theme) { return theme.dark ? data::orange : rgb(0xB36B00); }

    // Who takes part, and nothing of the ways between them: an open question may be about these.
    void draw_ranks_alone(Ui& ui, const scene::CollectiveShown& shown, Focus& focus, const Rect& area) const {
        const int n = shown.ranks();
        if (n < 2 || area.w < 90 || area.h < 80) return;
        const RankCircle circle = place_circle(n, area);
        for (int rank = 0; rank < n; ++rank) draw_rank(ui, shown, focus, circle, rank);
        if (circle.rx > 60 && circle.ry > 40)
            ui.text(circle.centre.x, circle.centre.y + 5, fmt::format("{} ranks", n),
                    {.size = 14, .align = Align::center, .weight = 600});
    }

    void draw_cables(Ui& ui, Session& session, const scene::CollectiveShown& shown, const RankCircle& circle,
                     const std::vector<MessageUnderWay>& moving) const {
        const bool many = board_.links().size() > 160;
        for (const auto& [from, to] : board_.links()) {
            const bool active = std::any_of(moving.begin(), moving.end(), [from = from, to = to](const MessageUnderWay& m) {
                return m.message->from == from && m.message->to == to;
            });
            if (!active && many) continue;
            draw_cable(ui, circle, from, to, active, speed_of(shown.speeds, from));
            if (circle.ranks > 16) continue;
            const Point middle = circle.way(from, to, 0.5f);
            handle_cable(ui, session, shown, fmt::format("cable {} {}", from, to), from, to,
                         {middle.x - 9, middle.y - 9, 18, 18});
        }
    }

    static void draw_cable(Ui& ui, const RankCircle& circle, int from, int to, bool active, double speed) {
        const Color color = active ? data::green : speed < 1 ? data::vermillion : ui.theme->ink3;
        std::vector<Point> path;
        const int parts = circle.ring ? 6 : 1;
        for (int i = 0; i <= parts; ++i)
            path.push_back(circle.way(from, to, static_cast<float>(i) / static_cast<float>(parts)));
        ui.polyline(path, faded(color, active || speed < 1 ? 1.0f : 0.7f),
                    (active ? 2.0f : 1.0f) * static_cast<float>(std::clamp(speed, 0.5, 2.0)));
        if (circle.ranks > 16) return;
        const Point tip = path.back(), before = circle.way(from, to, 0.9f);
        const float length = std::max(0.5f, std::hypot(tip.x - before.x, tip.y - before.y)),
                    dx = (tip.x - before.x) / length, dy = (tip.y - before.y) / length, s = active ? 5.0f : 3.5f;
        ui.polygon({{tip.x + dx * s, tip.y + dy * s},
                    {tip.x - dx * s - dy * s, tip.y - dy * s + dx * s},
                    {tip.x - dx * s + dy * s, tip.y - dy * s - dx * s}},
                   color);
    }

    static void draw_rank(Ui& ui, const scene::CollectiveShown& shown, Focus& focus, const RankCircle& circle, int rank) {
        const Theme& theme = *ui.theme;
        const Point p = circle.at(circle.angle(rank));
        const int number = shown.rank_of(rank);
        const bool is_late = rank == shown.late_rank, picked = number == focus.rank, marked = is_late || picked;
        const std::string name = circle.words ? fmt::format("rank {}", number) : std::to_string(number);
        const Rect box{p.x - circle.half_w, p.y - circle.half_h, 2 * circle.half_w, 2 * circle.half_h};
        const float round = circle.words ? 4.0f : 0.0f;
        ui.rect(box, theme.panel2, round);
        ui.frame(box, is_late ? data::vermillion : picked ? theme.ink : theme.line, marked ? 2.0f : 1.0f, round);
        if (circle.ranks <= 16)
            ui.text(p.x, p.y + 4.5f, name,
                    {.size = circle.words ? 13.0f : 12.0f, .align = Align::center, .weight = marked ? 600 : 400});
        if (ui.hovered(box)) ui.tooltip(fmt::format("rank {}{}", number, is_late ? ", late" : ""));
        if (ui.clicked(box)) focus.rank = number;
    }

    static void draw_message(Ui& ui, const scene::CollectiveShown& shown, const RankCircle& circle,
                             const MessageUnderWay& moving) {
        const comm::Transfer& message = *moving.message;
        const float share = circle.words ? std::clamp(moving.share, 0.06f, 0.94f) : std::clamp(moving.share, 0.25f, 0.75f);
        const Point p = circle.way(message.from, message.to, share);
        const float half = circle.ranks <= 8 ? message_half : 7.0f;
        const auto [color, name] = message_look(shown, message);
        const Rect box{p.x - half, p.y - half, 2 * half, 2 * half};
        ui.rect(box, color);
        ui.frame(box, ui.theme->panel, 1.5f);
        if (circle.ranks <= 16 && name.size() < 3)
            ui.text(p.x, p.y + 4.5f, name, {.size = 12, .color = text_on(color), .align = Align::center, .weight = 600});
    }

    // The plot of the links, a row each.
    struct LinkRows {
        Rect plot;
        double total = 1;  // microseconds, as wide as the plot
        float pitch = 1, bar = 1;
        std::vector<std::vector<const comm::Transfer*>> messages;  // by link

        float x_of(double time) const { return plot.x + plot.w * static_cast<float>(time / total); }
        double time_at(float x) const { return static_cast<double>((x - plot.x) / plot.w) * total; }
        float y_of(size_t link) const { return plot.y + pitch * static_cast<float>(link); }
        float bottom() const { return std::min(plot.bottom(), y_of(messages.size())) + 3; }
    };

    LinkRows place_links(const scene::CollectiveShown& shown, const Rect& plot) const {
        LinkRows rows{.plot = plot, .total = shown.run.total_us};
        const auto& links = board_.links();
        rows.pitch = std::clamp(plot.h / static_cast<float>(links.size()), 0.3f, 58.0f);
        const float apart = rows.pitch > 12 ? 6.0f : rows.pitch > 4 ? 1.0f : 0.0f;
        rows.bar = std::max(1.0f, rows.pitch - apart);
        rows.messages.resize(links.size());
        for (const comm::Transfer& transfer : shown.messages) {
            const auto at = std::lower_bound(links.begin(), links.end(), std::pair{transfer.from, transfer.to});
            rows.messages[static_cast<size_t>(at - links.begin())].push_back(&transfer);
        }
        return rows;
    }

    void draw_links(Ui& ui, Session& session, const scene::ClusterScene& scene, double now, const Rect& area) const {
        const scene::CollectiveShown& shown = scene.collective;
        const auto& links = board_.links();
        if (links.empty() || shown.run.total_us <= 0 || area.w < 120) return;
        const float labels = uneven(shown) ? 84 : 54;  // where speeds differ, each link's is told
        const LinkRows rows = place_links(shown, {area.x + labels, area.y + 18, area.w - labels - 8, area.h - 18 - 24});
        draw_link_legend(ui, shown, area, rows.plot.x);
        const auto every = static_cast<size_t>(std::max(1, static_cast<int>(std::ceil(14 / rows.pitch))));
        for (size_t i = 0; i < links.size(); ++i) {
            const float y = rows.y_of(i);
            if (i % every == 0) draw_link_name(ui, shown, i, {area.x, y, labels, rows.bar}, rows.pitch);
            if (rows.pitch >= 10)
                handle_cable(ui, session, shown, fmt::format("link {}", i), links[i].first, links[i].second,
                             {area.x, y, labels - 6, rows.bar});
            draw_messages(ui, shown, rows, i);
        }
        draw_link_axis(ui, rows, now, area.x);
        const Rect time_area{rows.plot.x - 4, rows.plot.y, rows.plot.w + 8, rows.bottom() + 20 - rows.plot.y};
        const Drag drag = ui.drag("clock", time_area);
        if (drag.active)
            set_collective_time(session, shown, std::clamp(rows.time_at(drag.at.x), 0.0, shown.run.total_us));
        else if (ui.hovered(time_area))
            tell_message(ui, shown, rows);
    }

    static void draw_link_legend(Ui& ui, const scene::CollectiveShown& shown, const Rect& area, float x) {
        const Theme& theme = *ui.theme;
        ui.text(area.x, area.y + 12, "link", {.size = 12, .color = theme.ink2});
        const bool reduces =
            std::any_of(shown.messages.begin(), shown.messages.end(), [](const auto& m) { return m.reduce; });
        const auto legend = [&](Color color, Hatch twin, std::string_view words) {
            if (x + 18 + ui.text_width(words, {.size = 12}) > area.right()) return;
            ui.rect({x, area.y + 1, 12, 12}, color);
            if (twin != Hatch::solid) ui.hatch({x, area.y + 1, 12, 12}, faded(text_on(color), 0.6f), twin);
            x = ui.text(x + 18, area.y + 12, words, {.size = 12, .color = theme.ink2}) + 14;
        };
        const MessageCode code = message_code(shown);
        if (code == MessageCode::by_step)
            for (int step = 0; step < std::min(6, shown.rounds()); ++step)
                legend(step_color(step), Hatch::solid, step == 0 ? "step 1" : std::to_string(step + 1));
        if (code == MessageCode::by_piece) {
            ui.text(x, area.y + 12, "piece", {.size = 12, .color = theme.ink2});
            x += ui.text_width("piece", {.size = 12}) + 6;
            x = ui.text(x, area.y + 12, chunk_name(0, shown.chunks()), {.size = 12, .color = theme.ink2}) + 4;
            for (int i = 0; i < 8; ++i, x += 8) ui.rect({x, area.y + 1, 8, 12}, piece_color(i, 8));
            x = ui.text(x + 4, area.y + 12, chunk_name(shown.chunks() - 1, shown.chunks()),
                        {.size = 12, .color = theme.ink2}) +
                14;
        }
        if (reduces) legend(data::green, Hatch::solid, "added on arrival");
        if (code == MessageCode::by_sum) legend(data::blue, Hatch::horizontal, "kept as it is");
        if (x + 18 + ui.text_width("waits", {.size = 12}) <= area.right()) {
            ui.hatch({x, area.y + 1, 12, 12}, theme.ink3, Hatch::dots);
            ui.text(x + 18, area.y + 12, "waits", {.size = 12, .color = theme.ink2});
        }
    }

    void draw_link_name(Ui& ui, const scene::CollectiveShown& shown, size_t link, const Rect& box, float pitch) const {
        const auto [from, to] = board_.links()[link];
        const double speed = speed_of(shown.speeds, from);
        const bool differs = speed != 1, crosses = shown.crosses(from, to);
        ui.text(box.x, box.y + box.h / 2 + 4.5f,
                fmt::format("{} → {}{}", shown.rank_of(from), shown.rank_of(to),
                            differs ? "  " + speed_text(speed) : std::string()),
                {.size = pitch >= 15 ? 13.0f : 12.0f,
                 .color = crosses   ? wall_color(*ui.theme)
                          : differs ? ui.theme->ink
                                    : ui.theme->ink2,
                 .weight = differs || crosses ? 600 : 400,
                 .width = box.w - 2});
    }

    void draw_messages(Ui& ui, const scene::CollectiveShown& shown, const LinkRows& rows, size_t link) const {
        const float y = rows.y_of(link), bar = rows.bar;
        double before = 0;
        float filled = -1;  // what has been drawn up to: boxes under a pixel merge
        for (const comm::Transfer* one : rows.messages[link]) {
            const float x0 = rows.x_of(one->begin_us), x1 = rows.x_of(one->arrival_us);
            if (one->begin_us - before > shown.run.total_us * 0.004 && bar >= 6) {
                const float from = rows.x_of(before);
                const bool late = board_.links()[link].first == shown.late_rank && before == 0;
                draw_wait(ui, {from + 1, y, x0 - from - 2, bar}, late, before > 0);
            }
            before = std::max(before, one->arrival_us);
            if (x1 <= filled + 0.5f) continue;
            const bool wide = x1 - x0 > 4;
            const float left = std::max(x0, filled);
            draw_message(ui, message_look(shown, *one), message_code(shown) == MessageCode::by_sum && !one->reduce,
                         {left + (wide ? 1.0f : 0.0f), y, std::max(1.0f, x1 - left - (wide ? 2.0f : 0.0f)), bar});
            filled = x1;
        }
    }

    static void draw_wait(Ui& ui, const Rect& gap, bool late, bool between) {
        ui.hatch(gap, ui.theme->ink3, Hatch::dots);
        const std::string_view why = late ? "late" : between ? "waits" : "";
        if (late) ui.frame(gap, data::vermillion, 2);
        const float width = ui.text_width(why, {.size = 12});
        if (why.empty() || gap.w <= width + 8 || gap.h < 15) return;
        const float middle = gap.x + gap.w / 2;
        ui.rect({middle - width / 2 - 3, gap.y + gap.h / 2 - 8, width + 6, 16}, ui.theme->panel);
        ui.text(middle, gap.y + gap.h / 2 + 4.5f, why, {.size = 12, .align = Align::center});
    }

    static void draw_message(Ui& ui, const MessageLook& look, bool kept, const Rect& box) {
        const auto& [color, name] = look;
        ui.rect(box, color);
        if (box.h >= 14 && ui.text_width(name, {.size = 13, .weight = 700}) + 6 <= box.w)
            ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, name,
                    {.size = 13, .color = text_on(color), .align = Align::center, .weight = 700});
        else if (kept && box.h >= 6 && box.w > 3)
            ui.hatch(box, faded(text_on(color), 0.4f), Hatch::horizontal);
    }

    // The axis, and the clock as a flag on it.
    static void draw_link_axis(Ui& ui, const LinkRows& rows, double now, float x) {
        const Theme& theme = *ui.theme;
        const float bottom = rows.bottom();
        const Rect& plot = rows.plot;
        ui.rect({plot.x, bottom, plot.w, 1}, theme.line);
        const bool milli = rows.total >= 1000;
        const double unit = milli ? 1000 : 1, end = rows.total / unit;
        ui.text(x, bottom + 16, milli ? "ms" : "µs", {.size = 12, .color = theme.quiet});
        const std::string flag = fmt::format("{:.3g}", now / unit);
        const float flag_width = ui.text_width(flag, {.size = 12, .weight = 600}) + 12, cursor = rows.x_of(now);
        const float flag_at = std::clamp(cursor, plot.x + flag_width / 2, plot.right() - flag_width / 2);
        const double step = rounded(end, {{1.2, 0.2}, {below_three, 0.5}, {6, 1}, {any_other, 2}});
        for (double time = 0; time <= end; time += step) {
            const float at = rows.x_of(time * unit);
            ui.rect({at, bottom, 1, 4}, theme.line);
            if (std::abs(at - flag_at) > flag_width / 2 + 14)
                ui.text(at, bottom + 16, fmt::format("{:.3g}", time),
                        {.size = 12, .color = theme.quiet, .align = Align::center});
        }
        ui.cursor_line(cursor, plot.y - 4, bottom + 4);
        ui.rect({flag_at - flag_width / 2, bottom + 3, flag_width, 18}, theme.ink, 3);
        ui.text(flag_at, bottom + 16, flag, {.size = 12, .color = theme.panel, .align = Align::center, .weight = 600});
    }

    static void set_collective_time(Session& session, const scene::CollectiveShown& shown, double time) {
        if (shown.of_run.empty()) {
            session.cluster.collective = true;
            session.cluster.collective_time = time;
        } else {
            session.cluster.time = shown.since_us + time;
        }
    }

    static void tell_message(Ui& ui, const scene::CollectiveShown& shown, const LinkRows& rows) {
        const auto row = static_cast<size_t>(std::max(0.0f, (ui.mouse.y - rows.plot.y) / rows.pitch));
        const double time = rows.time_at(ui.mouse.x);
        if (row >= rows.messages.size()) return;
        for (const comm::Transfer* one : rows.messages[row])
            if (one->begin_us <= time && one->arrival_us > time)
                ui.tooltip(fmt::format("step {}: chunk {} from rank {} to {}, {}\n{} to {}", one->round + 1,
                                       chunk_name(one->chunk, shown.chunks()), shown.rank_of(one->from),
                                       shown.rank_of(one->to), bytes_si(static_cast<double>(one->bytes)),
                                       time_text(one->begin_us), time_text(one->arrival_us)));
    }
};

}  // namespace

std::unique_ptr<View> make_collective_view() {
    return std::make_unique<CollectiveView>();
}

}  // namespace lockstep::gui
