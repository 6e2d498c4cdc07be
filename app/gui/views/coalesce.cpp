// D3, coalescing: the 32 addresses of one warp instruction, drawn to the 128-byte lines, sectors and words that they touch.
// Either an instruction of the run that the focused warp executed (its row in the table is clicked, or the focus is on its
// line), or a sandbox whose addresses follow from stride, offset and element size. The pinned pattern stays as a ghost.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/views/coalesce_picture.h"
#include "app/gui/views/lane_paths.h"
#include "app/gui/views/memory_views.h"
#include "app/gui/views/source_text.h"

namespace lockstep::gui {
namespace {

constexpr float row_height = 26, table_head = 20;
constexpr float tile_width = 124;
constexpr int sweep[] = {1, 2, 4, 8, 16, 32, 0};  // 0: random

std::string plural(uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", with_commas(static_cast<int64_t>(count)), what, count == 1 ? "" : "s");
}

std::string words_text(int count) {
    return fmt::format("{} word{}", count, count == 1 ? "" : "s");
}

// An element lies at a multiple of its size.
int whole_elements(int words, int element_bytes) {
    return words - words % (element_bytes / 4);
}

std::string efficiency_text(double share) {
    const double hundred = 100 * share;
    return hundred == std::round(hundred) ? fmt::format("{:.0f} %", hundred) : fmt::format("{:.1f} %", hundred);
}

struct Ghost {
    std::string name;
    RequestFacts facts;
    bool shown = true;
};

class CoalesceView final : public View {
  public:
    CoalesceView() { pin(name_of(StrideChoice{.stride = 1}), pattern_of(StrideChoice{.stride = 1})); }

    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Scene scene = scene_of(session, focus, *snapshot);
        note_seen(session, scene);
        const std::string sentence = caption_of(scene);
        const std::string right = scene.sandbox ? "sandbox, any kernel" : place_of(scene, *snapshot);
        const Rect body = ui.panel(area, {.title = "Coalescing",
                                          .right = right,
                                          .header_badge = scene.sandbox ? Provenance::derived : Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("coalesce");
        keys(ui, session, focus, *snapshot, scene, area);
        float y = body.y + draw_controls(ui, session, focus, *snapshot, scene, body);
        const bool tiles = body.w > 560;
        const float foot = table_height(scene, body.bottom() - y, ghost_.shown && !scene.hidden);
        const float high = std::min(body.bottom() - foot - y - 22, 320.0f);  // the table follows the picture
        const Rect picture{body.x, y + 22, body.w - (tiles ? tile_width + 8 : 0.0f), high};
        if (scene.nothing.empty()) {
            draw_picture(ui, focus, scene, picture);
            if (tiles) draw_tiles(ui, scene, {body.right() - tile_width, y + 18, tile_width, picture.bottom() - y - 18});
        } else {
            ui.say_nothing_yet({body.x, y, body.w, picture.h}, scene.nothing,
                               "The sandbox shows what any stride would cost.");
        }
        if (foot > 0)
            draw_foot(ui, session, focus, *snapshot, scene,
                      {body.x, picture.bottom(), body.w, body.bottom() - picture.bottom()});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const Scene scene = scene_of(session, focus, *snapshot);
        std::string text = fmt::format("Coalescing ({}), {}\n", scene.sandbox ? "derived" : "simulated",
                                       scene.sandbox ? "sandbox: " + name_of(choice_) : place_of(scene, *snapshot));
        if (!scene.nothing.empty()) text += "  " + scene.nothing + "\n";
        if (scene.nothing.empty() && !scene.hidden) {
            const RequestFacts& f = scene.facts;
            text += fmt::format("  {} in {}, {} B used, {} B moved, efficiency {}\n", plural(f.sectors, "sector"),
                                plural(f.lines.size(), "line"), f.used, f.moved, efficiency_text(f.efficiency()));
            uint32_t number = 0;
            for (size_t i = 0; i < std::min<size_t>(f.lines.size(), 8); ++i) {
                text += fmt::format("  line 0x{:X}:", f.lines[i].line * 128);
                for (uint32_t s = 0; s < 4; ++s)
                    if (f.lines[i].sectors >> s & 1)
                        text += fmt::format(" sector {} {} of 32 B,", number++, f.lines[i].used(s));
                text.back() = '\n';
            }
        }
        if (ghost_.shown)
            text += fmt::format("  pinned: {}, {}, efficiency {}\n", ghost_.name, plural(ghost_.facts.sectors, "sector"),
                                efficiency_text(ghost_.facts.efficiency()));
        for (const MemoryRow& row : scene.rows) {
            const bool hidden = is_hidden(row, session, scene.history.get());
            text += fmt::format("  line {} pc {} {}: {}\n", row.line, row.pc, row.text,
                                hidden ? std::string("hidden until you lock an answer")
                                       : fmt::format("{}, {:.4g} sector{} each, {} moved", plural(row.requests, "request"),
                                                     row.per_request(), row.per_request() == 1 ? "" : "s",
                                                     bytes_text(static_cast<double>(row.units) * 32)));
        }
        return text + "  " + caption_of(scene) + "\n";
    }

  private:
    struct Scene {
        bool sandbox = false, locked = false;  // locked: an open prediction keeps the sandbox shut
        std::shared_ptr<const simt::WarpHistory> history;
        std::vector<MemoryRow> rows;
        Picked picked;
        Pattern pattern;
        RequestFacts facts;
        bool hidden = false;
        std::string name;     // "stride 2", "line 7"
        std::string nothing;  // why there is no picture
        std::string stopped;  // "Stopped by memcheck at line 3"
        std::string busy;
    };
    bool sandbox_ = false;
    StrideChoice choice_;
    std::array<bool, std::size(sweep)> seen_ = {true};  // strides whose sectors were on show; the first is the ghost's
    bool asks_ = false;                                 // questions of the lesson are open: only those get a bar
    Ghost ghost_;
    bool ghost_fits_ = true;  // below the picture, in the last frame
    int32_t last_pc_ = -1;
    int seen_row_ = -1;  // the row that the table was scrolled to, and the height that it had then
    float seen_table_ = 0;
    mutable LineChoice line_choice_;
    mutable std::shared_ptr<const model::KernelRun> rows_run_;
    mutable std::shared_ptr<const simt::WarpHistory> rows_history_, known_history_;
    mutable std::vector<MemoryRow> rows_;

    void pin(std::string name, const Pattern& pattern) { ghost_ = {std::move(name), facts_of(pattern), true}; }

    // Rows are worked out once a kernel and warp.
    void update_rows(const Snapshot& snapshot) const {
        if (rows_run_ == snapshot.kernel && rows_history_ == snapshot.history) return;
        rows_run_ = snapshot.kernel;
        rows_history_ = snapshot.history;
        known_history_ = history_of(snapshot);
        rows_ = snapshot.kernel && snapshot.kernel->program ? memory_rows(*snapshot.kernel, known_history_.get(), false)
                                                            : std::vector<MemoryRow>();
    }

    Scene scene_of(const Session& session, const Focus& focus, const Snapshot& snapshot) const {
        update_rows(snapshot);
        Scene scene;
        scene.locked = session.reveal_steps >= 0;
        scene.sandbox = sandbox_ && !scene.locked;
        scene.history = known_history_;
        scene.rows = rows_;
        scene.busy = snapshot.busy;
        if (snapshot.kernel && !scene.locked) scene.stopped = stopped_text(*snapshot.kernel);
        line_choice_.update(session, focus, scene.history.get());
        scene.picked = pick(scene.rows, session, focus, scene.history.get(), last_pc_, line_choice_.chosen());
        if (scene.sandbox) {
            scene.pattern = pattern_of(choice_);
            scene.facts = facts_of(scene.pattern);
            scene.name = name_of(choice_);
            return scene;
        }
        if (scene.rows.empty()) {
            scene.nothing = !snapshot.kernel        ? "No kernel has run yet."
                            : scene.stopped.empty() ? "This kernel touches no global memory."
                                                    : scene.stopped + ", before it touched global memory.";
            if (!snapshot.kernel && !snapshot.busy.empty()) scene.nothing = snapshot.busy;
            return scene;
        }
        const MemoryRow& row = scene.rows[static_cast<size_t>(scene.picked.row)];
        scene.name = row.line > 0 ? fmt::format("line {}", row.line) : fmt::format("pc {}", row.pc);
        scene.hidden = scene.picked.hidden;
        if (scene.hidden) {
            scene.pattern.lanes = 0xffffffffu;
        } else if (scene.picked.access >= 0) {
            scene.pattern = pattern_of(scene.history->accesses[static_cast<size_t>(scene.picked.access)]);
            scene.facts = facts_of(scene.pattern);
        } else {
            scene.nothing = scene.history ? "This warp did not run that instruction: choose another row."
                                          : "The warp's addresses are being recorded.";
        }
        return scene;
    }

    // While a lesson still asks, the bars do not tell what nobody has looked at.
    void note_seen(const Session& session, const Scene& scene) {
        asks_ = std::any_of(session.lesson.predictions.begin(), session.lesson.predictions.end(), [](const auto& step) {
            return std::any_of(step.begin(), step.end(), [](const auto& one) { return !one.locked; });
        });
        if (scene.hidden || scene.pattern.lanes != 0xffffffffu) return;
        const auto& address = scene.pattern.address;
        for (size_t i = 0; i < std::size(sweep); ++i) {
            bool fits = sweep[i] > 0;
            for (size_t lane = 1; lane < address.size() && fits; ++lane)
                fits = address[lane] - address[0] == lane * static_cast<uint64_t>(sweep[i]) * scene.pattern.bytes;
            seen_[i] = seen_[i] || fits || (scene.sandbox && choice_.random && sweep[i] == 0);
        }
    }

    static std::string place_of(const Scene& scene, const Snapshot& snapshot) {
        if (!scene.history || !snapshot.kernel) return snapshot.kernel_label;
        return fmt::format("block {} · warp {}{}{}", with_commas(scene.history->block), scene.history->warp_in_block,
                           scene.name.empty() ? "" : " · ", scene.name);
    }

    std::string caption_of(const Scene& scene) const {
        if (scene.hidden) return "Its sectors stay hidden until you lock an answer.";
        if (!scene.nothing.empty()) return {};
        const RequestFacts& f = scene.facts;
        std::string what = "load touches";
        std::string subject = scene.name;
        if (!scene.sandbox) {
            const MemoryRow& row = scene.rows[static_cast<size_t>(scene.picked.row)];
            what = row.is_atomic ? "atomic touches" : row.is_store ? "store touches" : "load touches";
        }
        if (!subject.empty()) subject[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(subject[0])));
        std::string text = fmt::format("{}: one {} {} in {}: {} B move and {} B are used, so {} efficiency", subject, what,
                                       plural(f.sectors, "sector"), plural(f.lines.size(), "line"), with_commas(f.moved),
                                       f.used, efficiency_text(f.efficiency()));
        if (ghost_.shown)
            text += fmt::format(" ({}: {}, {})", ghost_.name, plural(ghost_.facts.sectors, "sector"),
                                efficiency_text(ghost_.facts.efficiency()));
        return text + "." + (scene.sandbox || scene.stopped.empty() ? "" : " " + scene.stopped + ".");
    }

    void look_at_row(Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene, int index) {
        const MemoryRow& row = scene.rows[static_cast<size_t>(index)];
        sandbox_ = false;
        last_pc_ = static_cast<int32_t>(row.pc);
        focus.pc = last_pc_;
        if (row.line > 0) focus.line = row.line;
        if (is_hidden(row, session, scene.history.get()) || row.accesses.empty()) return;
        look_at_execution(session, focus, snapshot, scene, row, 0);
    }

    static void look_at_execution(Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene,
                                  const MemoryRow& row, size_t execution) {
        const uint64_t step = scene.history->accesses[row.accesses[execution]].step;
        if (session.reveal_steps >= 0 && step >= static_cast<uint64_t>(session.reveal_steps)) return;
        look_at_step(session, focus, snapshot, step);
        focus.pc = static_cast<int32_t>(row.pc);
    }

    void keys(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene, const Rect& area) {
        const auto rows = static_cast<int>(scene.rows.size());
        for (const auto& [key, way] : {std::pair{Key::down, 1}, {Key::up, -1}, {Key::s, 1}, {Key::w, -1}})
            if (ui.pressed(key, area) && rows > 0)
                look_at_row(session, focus, snapshot, scene, std::clamp(scene.picked.row + way, 0, rows - 1));
        for (const auto& [key, way] : {std::pair{Key::d, 1}, {Key::a, -1}})
            if (ui.pressed(key, area)) focus.lane = std::clamp(focus.lane + way, 0, 31);
        if (ui.pressed(Key::enter, area) && scene.nothing.empty() && !scene.hidden) pin(scene.name, scene.pattern);
    }

    // Returns the height used.
    float draw_controls(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene,
                        const Rect& body) {
        const Theme& theme = *ui.theme;
        float x = body.x, y = body.y;
        if (scene.locked) {
            ui.text(x, y + 18, "The sandbox opens once you lock an answer.", {.size = 13, .color = theme.ink2});
            return 26;
        }
        const int mode = ui.segmented(x, y, {"run", "sandbox"}, scene.sandbox ? 1 : 0);
        if (mode != (scene.sandbox ? 1 : 0)) sandbox_ = mode == 1;
        const float right = body.right();
        float pin_x = right - ui.chip_width("pin") - 4 - ui.chip_width("no ghost") - 4;
        const float room_end = pin_x - 8;
        if (ghost_fits_ && ui.chip(pin_x, y, "pin", false, scene.nothing.empty() && !scene.hidden))
            pin(scene.name, scene.pattern);
        if (ghost_fits_ && ui.chip(pin_x, y, "no ghost", !ghost_.shown)) ghost_.shown = !ghost_.shown;
        if (!scene.sandbox) {
            if (scene.picked.row < 0 || scene.hidden) return 26;
            const MemoryRow& row = scene.rows[static_cast<size_t>(scene.picked.row)];
            const std::string text = fmt::format("{} {}{}", scene.name, row.text,
                                                 has_twin(scene.rows, row) ? fmt::format(", pc {}", row.pc) : "");
            x = ui.text(x + 4, y + 18, text, {.size = 13, .weight = 600, .width = room_end - x - 200}) + 12;
            if (scene.picked.executions > 1 && x + 170 < room_end) {
                if (ui.chip(x, y, "<", false, scene.picked.execution > 0))
                    look_at_execution(session, focus, snapshot, scene, row, scene.picked.execution - 1);
                if (ui.chip(x, y, ">", false, scene.picked.execution + 1 < scene.picked.executions))
                    look_at_execution(session, focus, snapshot, scene, row, scene.picked.execution + 1);
                ui.text(x + 4, y + 18,
                        fmt::format("run {} of {} by this warp", scene.picked.execution + 1, scene.picked.executions),
                        {.size = 13, .color = theme.ink2, .width = room_end - x - 4});
            }
            return 26;
        }
        const float start = x;
        const auto wrap = [&](float width) {
            if (x + width <= room_end) return;
            x = x > start ? body.x : x;
            y += 30;
        };
        wrap(222);
        ui.text(x, y + 18, "stride", {.size = 13, .color = theme.ink2});
        const float stride = ui.slider("stride", {x + 46, y + 5, 88, 16}, static_cast<float>(choice_.stride - 1) / 31, 32);
        const int wanted = 1 + static_cast<int>(std::lround(stride * 31));
        if (wanted != choice_.stride) choice_.stride = wanted, choice_.random = false;
        const std::string steps = choice_.random         ? "random"
                                  : choice_.element == 4 ? words_text(choice_.stride)
                                                         : fmt::format("{} x {} B", choice_.stride, choice_.element);
        ui.text(x + 144, y + 18, steps, {.size = 13, .weight = 600});
        x += 216;
        wrap(186);
        ui.text(x, y + 18, "offset", {.size = 13, .color = theme.ink2});
        const float offset = ui.slider("offset", {x + 46, y + 5, 60, 16}, static_cast<float>(choice_.offset) / 31, 32);
        choice_.offset = whole_elements(static_cast<int>(std::lround(offset * 31)), choice_.element);
        ui.text(x + 116, y + 18, words_text(choice_.offset), {.size = 13, .weight = 600});
        x += 182;
        wrap(150);
        const int elements[] = {4, 8, 16};
        const int element =
            static_cast<int>(std::find(std::begin(elements), std::end(elements), choice_.element) - elements);
        choice_.element = elements[ui.segmented(x, y, {"4 B", "8 B", "16 B"}, element)];
        choice_.offset = whole_elements(choice_.offset, choice_.element);
        wrap(110);
        choice_.records = ui.segmented(x, y, {"AoS", "SoA"}, choice_.records ? 0 : 1) == 0;
        return y - body.y + 26;
    }

    void draw_picture(Ui& ui, Focus& focus, const Scene& scene, const Rect& area) {
        const Theme& theme = *ui.theme;
        const bool ghost = ghost_.shown && area.h >= CoalescePicture::least_with_ghost && !scene.hidden;
        ghost_fits_ = area.h >= CoalescePicture::least_with_ghost;
        const CoalescePicture picture(area, scene.facts.lines.size(), ghost);
        const int hovered = ui.enabled ? picture.lane_at(ui.mouse) : -1;
        if (hovered >= 0 && ui.clicked(picture.lane_box(hovered))) focus.lane = hovered;
        const int lane = hovered >= 0 ? hovered : focus.lane;
        const float end = picture.lane_box(31).right();
        const float said =
            ui.text(area.x, area.y - 7,
                    lanes_in(scene.pattern.lanes) == 32 ? "32 lanes of the warp"
                                                        : fmt::format("{} of the warp", lanes_text(scene.pattern.lanes)),
                    {.size = 12, .color = theme.ink2});
        const std::string_view waste = "crossed out: fetched, but no lane asked";
        if (!scene.hidden && scene.facts.used < scene.facts.moved &&
            said + 40 + ui.text_width(waste, {.size = 12}) < end - 170) {
            const Rect swatch{said + 16, area.y - 17, 10, 12};
            ui.frame(swatch, theme.line);
            ui.line({swatch.x + 1, swatch.bottom() - 1}, {swatch.right() - 1, swatch.y + 1}, theme.wrong, 1.5f);
            ui.text(swatch.right() + 6, area.y - 7, waste, {.size = 12, .color = theme.ink2});
        }
        if (!scene.hidden && lane >= 0)
            ui.text(end, area.y - 7, lane_text(scene, lane),
                    {.size = 12, .align = Align::right, .width = end - area.x - 160});
        else if (!scene.hidden)
            ui.text(end, area.y - 7, "click a lane to follow it",
                    {.size = 12, .color = theme.quiet, .align = Align::right, .width = end - area.x - 160});
        picture.draw(ui, scene.pattern, scene.facts, lane, scene.hidden);
        if (ghost) picture.draw_ghost(ui, ghost_.facts, ghost_.name);
        if (scene.hidden) {
            const Rect box{area.x, area.y + 44, end - area.x, 40};
            ui.dashed(box, theme.ink3);
            ui.text(box.x + box.w / 2, box.y + 25, "Which sectors these lanes touch stays hidden until you lock an answer.",
                    {.size = 13, .color = theme.ink2, .align = Align::center, .width = box.w - 16});
        }
    }

    static std::string lane_text(const Scene& scene, int lane) {
        if (!(scene.pattern.lanes >> lane & 1)) return fmt::format("lane {} is off", lane);
        const uint64_t address = scene.pattern.address[static_cast<size_t>(lane)];
        uint32_t sector = 0;
        for (const TouchedLine& line : scene.facts.lines)
            for (uint32_t s = 0; s < 4; ++s)
                if ((line.sectors >> s & 1) && line.line * 4 + s < address / 32) ++sector;
        return fmt::format("lane {} asks for {} B at 0x{:X}: sector {}, word {}", lane, scene.pattern.bytes, address, sector,
                           address % 32 / 4);
    }

    void draw_tiles(Ui& ui, const Scene& scene, const Rect& area) const {
        const Theme& theme = *ui.theme;
        if (scene.hidden) return;
        const RequestFacts &f = scene.facts, &g = ghost_.facts;
        const bool wasteful = f.used < f.moved;
        const struct {
            std::string_view label;
            std::string value, ghost;
            Color color;
        } tiles[] = {{"sectors", std::to_string(f.sectors), std::to_string(g.sectors), theme.ink},
                     {"used", fmt::format("{} B", f.used), std::to_string(g.used), theme.ink},
                     {"moved", with_commas(f.moved) + " B", with_commas(g.moved), theme.ink},
                     {"efficiency", efficiency_text(f.efficiency()), efficiency_text(g.efficiency()),
                      wasteful ? theme.wrong : theme.right}};
        const float pitch = std::min(57.0f, (area.h - 2) / 4);
        if (pitch < 24) return;
        if (pitch < 52) {  // name and value on one line
            for (size_t i = 0; i < std::size(tiles); ++i) {
                const Rect box{area.x, area.y + pitch * static_cast<float>(i), area.w, std::min(pitch - 5, 32.0f)};
                ui.rect(box, theme.panel2, 4);
                ui.frame(box, theme.line, 1, 4);
                const float y = box.y + box.h / 2 + 5;
                ui.text(box.right() - 7, y, tiles[i].value,
                        {.size = 14, .color = tiles[i].color, .align = Align::right, .weight = 600});
                ui.text(box.x + 7, y, tiles[i].label, {.size = 12, .color = theme.ink2});
            }
            return;
        }
        for (size_t i = 0; i < std::size(tiles); ++i) {
            const Rect box{area.x, area.y + pitch * static_cast<float>(i), area.w, pitch - 7};
            ui.rect(box, theme.panel2, 4);
            ui.frame(box, theme.line, 1, 4);
            ui.text(box.x + 8, box.y + 16, tiles[i].label, {.size = 12, .color = theme.ink2});
            ui.text(box.x + 8, box.bottom() - 9, tiles[i].value, {.size = 18, .color = tiles[i].color, .weight = 600});
            if (!ghost_.shown) continue;
            const float w = ui.text_width(tiles[i].ghost, {.size = 12}) + 10;
            const Rect mark{box.right() - 5 - w, box.y + 4, w, 16};  // beside the name: there is room for any number
            ui.dashed(mark, theme.ink3, 3, 3);
            ui.text(mark.x + w / 2, mark.y + 12, tiles[i].ghost, {.size = 12, .color = theme.ink2, .align = Align::center});
        }
    }

    // The picture gets lower before the table has fewer than two rows: first by its wires, then by the pinned pattern.
    static float table_height(const Scene& scene, float room, bool ghost) {
        constexpr float usual = 196, with_ghost = 22 + CoalescePicture::least_with_ghost, least = 132;
        constexpr float one_row = 6 + table_head + row_height, two_rows = one_row + row_height;
        const float picture = room >= usual + two_rows ? usual : ghost && room >= with_ghost + two_rows ? with_ghost : least;
        if (room < picture + one_row) return 0;
        const float wanted = 34 + row_height * std::max(2.0f, static_cast<float>(scene.rows.size()));
        return std::min({std::max(wanted, 104.0f), room - picture, 300.0f});
    }

    void draw_foot(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene, const Rect& area) {
        ui.line({area.x, area.y}, {area.right(), area.y}, ui.theme->grid);
        const bool bars = area.w > 740 && area.h > 70;  // high enough to be bars
        const float wide = area.w > 800 ? 280 : 216, table = bars ? area.w - wide - 26 : area.w;
        draw_table(ui, session, focus, snapshot, scene, {area.x, area.y + 6, table, area.h - 6});
        if (bars) draw_bars(ui, scene, {area.right() - wide, area.y + 6, wide, std::min(area.h - 6, 100.0f)});
    }

    void draw_table(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene, const Rect& r) {
        const Theme& theme = *ui.theme;
        const TextStyle head{.size = 12, .color = theme.ink2},
            head_right{.size = 12, .color = theme.ink2, .align = Align::right};
        const bool wide = r.w > 520;
        // What an unrolled loop does twice on one line is told apart by its pc.
        const bool twins = std::any_of(scene.rows.begin(), scene.rows.end(),
                                       [&](const MemoryRow& row) { return has_twin(scene.rows, row); });
        const float eff = r.right() - 92, pair = eff - 14, sectors = pair - (wide ? 84.0f : 0.0f), requests = sectors - 84,
                    op = requests - (wide ? 184.0f : 140.0f), source = r.x + (twins ? 68.0f : 34.0f);
        const bool with_source = op - source > 66;
        ui.text(r.x + 22, r.y + 13, "line", head_right);
        if (twins) ui.text(r.x + 56, r.y + 13, "pc", head_right);
        if (with_source) ui.text(source, r.y + 13, "source", head);
        ui.text(op, r.y + 13, "instruction", head);
        ui.text(requests, r.y + 13, "requests", head_right);
        ui.text(sectors, r.y + 13, "mean sectors", head_right);
        if (wide) ui.text(pair, r.y + 13, "used/moved", head_right);
        ui.text(eff, r.y + 13, "efficiency", head);
        const float whole = std::max(1.0f, std::floor((r.h - table_head) / row_height)) * row_height;  // no half rows
        const Rect rows{r.x - 4, r.y + table_head, r.w + 4, std::min(whole, r.h - table_head)};
        float offset = ui.scroll("rows", rows, row_height * static_cast<float>(scene.rows.size()));
        if (const int row = scene.picked.row; row >= 0 && (row != seen_row_ || rows.h != seen_table_)) {
            seen_row_ = row, seen_table_ = rows.h;
            const float top = row_height * static_cast<float>(row),
                        in_sight = std::clamp(offset, top + row_height - rows.h, top);
            if (in_sight != offset) {
                ui.scroll_to("rows", offset = std::max(0.0f, in_sight));
                ui.animate();
            }
        }
        ui.clip(rows);
        const auto lines = snapshot.kernel ? lines_of(snapshot.kernel->source) : std::vector<std::string>();
        for (size_t i = 0; i < scene.rows.size(); ++i) {
            const MemoryRow& row = scene.rows[i];
            const float y = rows.y + row_height * static_cast<float>(i) - offset;
            if (y + row_height < rows.y || y > rows.bottom()) continue;
            const Rect box{rows.x, y, rows.w - 6, row_height};
            const bool on = !scene.sandbox && static_cast<int>(i) == scene.picked.row;
            if (on) {
                ui.rect(box, theme.selected, 3);
                ui.rect({box.x, box.y, 3, box.h}, theme.accent);
            } else if (ui.hovered(box)) {
                ui.rect(box, theme.panel2, 3);
            }
            if (ui.clicked(box)) look_at_row(session, focus, snapshot, scene, static_cast<int>(i));
            const TextStyle mono{.size = 13, .mono = true}, mono_right{.size = 13, .align = Align::right, .mono = true};
            if (row.line > 0)
                ui.text(r.x + 22, y + 18, std::to_string(row.line),
                        {.size = 13, .color = theme.ink2, .align = Align::right, .mono = true});
            if (twins)
                ui.text(r.x + 56, y + 18, std::to_string(row.pc),
                        {.size = 13, .color = theme.quiet, .align = Align::right, .mono = true});
            if (with_source && row.line > 0 && static_cast<size_t>(row.line) <= lines.size()) {
                const std::string& line = lines[static_cast<size_t>(row.line) - 1];
                draw_code(ui, source, y + 18,
                          std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size())), 13,
                          op - source - 10);
            }
            const float count_w = ui.text_width(with_commas(static_cast<int64_t>(row.requests)), mono);
            ui.text(op, y + 18, row.text, {.size = 13, .mono = true, .width = requests - count_w - op - 8});
            if (is_hidden(row, session, scene.history.get())) {
                ui.text(sectors, y + 18, "?", mono_right);
                continue;
            }
            ui.text(requests, y + 18, with_commas(static_cast<int64_t>(row.requests)), mono_right);
            ui.text(sectors, y + 18, fmt::format("{:.4g}", row.per_request()), mono_right);
            if (row.accesses.empty()) {
                ui.text(eff, y + 18, "other warps", {.size = 12, .color = theme.quiet});
                continue;
            }
            const size_t execution = on ? scene.picked.execution : 0;
            const RequestFacts facts = facts_of(pattern_of(scene.history->accesses[row.accesses[execution]]));
            if (wide) ui.text(pair, y + 18, fmt::format("{}/{}", facts.used, with_commas(facts.moved)), mono_right);
            ui.rect({eff, y + 8, 40, 10}, theme.grid);
            ui.rect({eff, y + 8, 40 * static_cast<float>(facts.efficiency()), 10}, theme.accent);
            ui.text(r.right() - 6, y + 18, efficiency_text(facts.efficiency()), {.size = 13, .align = Align::right});
            if (ui.hovered(box))
                ui.tooltip(
                    fmt::format("requests and sectors a request: whole run, all warps ({} moved)\n"
                                "used/moved and efficiency: this warp's request",
                                bytes_text(32 * static_cast<double>(row.units))));
        }
        ui.unclip();
    }

    // A bar for each stride; a click opens the sandbox there.
    void draw_bars(Ui& ui, const Scene& scene, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 13, fmt::format("sectors per request, by stride of {} B", choice_.element),
                {.size = 12, .color = theme.ink2});
        const float base = r.bottom() - 22, most = base - r.y - 34, pitch = r.w / static_cast<float>(std::size(sweep));
        for (size_t i = 0; i < std::size(sweep); ++i) {
            StrideChoice choice{.stride = std::max(1, sweep[i]), .element = choice_.element, .random = sweep[i] == 0};
            const uint32_t sectors = facts_of(pattern_of(choice)).sectors;
            const bool here = scene.sandbox && choice.stride == choice_.stride && choice.random == choice_.random &&
                              choice_.records && choice_.offset == 0;
            const float x = r.x + pitch * static_cast<float>(i), w = pitch - 8;
            ui.line({x, base}, {x + w, base}, theme.line);
            const std::string name = sweep[i] == 0 ? "rand" : std::to_string(sweep[i]);
            ui.text(
                x + w / 2, base + 15, name,
                {.size = 12, .color = here ? theme.ink : theme.ink2, .align = Align::center, .weight = here ? 600 : 400});
            const bool told = !scene.locked && (!asks_ || seen_[i]);
            if (!told) ui.text(x + w / 2, base - 8, "?", {.size = 14, .color = theme.quiet, .align = Align::center});
            if (scene.locked) continue;
            if (!told) {
                if (ui.area("bar " + name, {x, r.y + 18, w, base - r.y})) sandbox_ = true, choice_ = choice;
                continue;
            }
            const float h = most * static_cast<float>(sectors) / 32;
            ui.rect({x + 4, base - h, w - 8, h}, here ? theme.accent : mix(theme.panel, theme.accent, 0.45f));
            ui.text(x + w / 2, base - h - 4, std::to_string(sectors),
                    {.size = 12, .align = Align::center, .weight = here ? 600 : 400});
            if (ui.area("bar " + name, {x, r.y + 18, w, base - r.y})) {
                sandbox_ = true;
                choice_ = choice;
            }
        }
    }
};

}  // namespace

std::unique_ptr<View> make_coalesce_view() {
    return std::make_unique<CoalesceView>();
}

}  // namespace lockstep::gui
