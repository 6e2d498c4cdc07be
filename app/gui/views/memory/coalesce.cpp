// D3, coalescing: the 32 addresses of one warp instruction, drawn to the 128-byte lines, sectors and words that they touch.
// Either an instruction of the run that the focused warp executed (its row in the table is clicked, or the focus is on its
// line), or a sandbox whose addresses follow from stride, offset and element size. The pinned pattern stays as a ghost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/memory/coalesce_foot.h"
#include "app/gui/views/memory/coalesce_picture.h"
#include "app/gui/views/sm/lane_paths.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float tile_width = 116;

std::string words_text(int count) {
    return counted(count, "word");
}

// An element lies at a multiple of its size.
int whole_elements(int words, int element_bytes) {
    return words - words % (element_bytes / 4);
}

class CoalesceView final : public View {
  public:
    CoalesceView() { pin(name_of(StrideChoice{.stride = 1}), pattern_of(StrideChoice{.stride = 1})); }

    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const CoalesceScene scene = scene_of(session, focus, *snapshot);
        foot_.note_seen(session, scene, choice_);
        const std::string sentence = caption_of(scene, ghost_);
        const std::string right = scene.sandbox ? "sandbox, any kernel" : place_of(scene, *snapshot);
        const Rect body = ui.panel(area, {.title = "Coalescing",
                                          .right = right,
                                          .header_badge = scene.sandbox ? Provenance::derived : Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("coalesce");
        keys(ui, session, focus, *snapshot, scene, area);
        float y = body.y + draw_controls(ui, session, focus, *snapshot, scene, body);
        const bool tiles = body.w > 560;
        const float foot = CoalesceFoot::height(scene, body.bottom() - y, ghost_.shown && !scene.hidden);
        const float high = std::min(body.bottom() - foot - y - 22, 320.0f);  // the table follows the picture
        const Rect picture{body.x, y + 22, body.w - (tiles ? tile_width + 4 : 0.0f), high};
        if (scene.nothing.empty()) {
            draw_picture(ui, focus, scene, picture);
            if (tiles) draw_tiles(ui, scene, {body.right() - tile_width, y + 18, tile_width, picture.bottom() - y - 18});
        } else {
            ui.say_nothing_yet({body.x, y, body.w, picture.h}, scene.nothing,
                               "The sandbox shows what any stride would cost.");
        }
        if (foot > 0)
            follow(session, focus, *snapshot, scene,
                   foot_.draw(ui, session, *snapshot, scene, choice_,
                              {body.x, picture.bottom(), body.w, body.bottom() - picture.bottom()}));
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const CoalesceScene scene = scene_of(session, focus, *snapshot);
        return facts_text(scene, ghost_, session,
                          scene.sandbox ? "sandbox: " + name_of(choice_) : place_of(scene, *snapshot));
    }

  private:
    bool sandbox_ = false;
    StrideChoice choice_;
    CoalesceFoot foot_;
    PinnedPattern ghost_;
    bool ghost_fits_ = true;  // below the picture, in the last frame
    int32_t last_pc_ = -1;
    mutable LineChoice line_choice_;
    mutable std::shared_ptr<const model::KernelRun> rows_run_;
    mutable std::shared_ptr<const simt::WarpHistory> rows_history_, known_history_;
    mutable std::vector<MemoryRow> rows_;

    void pin(std::string name, const Pattern& pattern) { ghost_ = {std::move(name), facts_of(pattern), true}; }

    // Rows are worked out once a kernel and warp.
    void update_rows(const Snapshot& snapshot) const {
        if (rows_run_ == snapshot.kernel.run && rows_history_ == snapshot.kernel.history) return;
        rows_run_ = snapshot.kernel.run;
        rows_history_ = snapshot.kernel.history;
        known_history_ = history_of(snapshot);
        rows_ = snapshot.kernel.run && snapshot.kernel.run->program
                    ? memory_rows(*snapshot.kernel.run, known_history_.get(), false)
                    : std::vector<MemoryRow>();
    }

    CoalesceScene scene_of(const Session& session, const Focus& focus, const Snapshot& snapshot) const {
        update_rows(snapshot);
        CoalesceScene scene;
        scene.locked = session.learn.reveal_steps >= 0;
        scene.sandbox = sandbox_ && !scene.locked;
        scene.history = known_history_;
        scene.rows = rows_;
        scene.busy = snapshot.busy;
        if (snapshot.kernel.run && !scene.locked) scene.stopped = stopped_text(*snapshot.kernel.run);
        line_choice_.update(session, focus, scene.history.get());
        scene.picked = pick(scene.rows, session, focus, scene.history.get(), last_pc_, line_choice_.chosen());
        if (scene.sandbox) {
            scene.pattern = pattern_of(choice_);
            scene.facts = facts_of(scene.pattern);
            scene.name = name_of(choice_);
            return scene;
        }
        if (scene.rows.empty()) {
            scene.nothing = !snapshot.kernel.run    ? "No kernel has run yet."
                            : scene.stopped.empty() ? "This kernel touches no global memory."
                                                    : scene.stopped + ", before it touched global memory.";
            if (!snapshot.kernel.run && !snapshot.busy.empty()) scene.nothing = snapshot.busy;
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

    void look_at_row(Session& session, Focus& focus, const Snapshot& snapshot, const CoalesceScene& scene, int index) {
        const MemoryRow& row = scene.rows[static_cast<size_t>(index)];
        sandbox_ = false;
        last_pc_ = static_cast<int32_t>(row.pc);
        focus.pc = last_pc_;
        if (row.line > 0) focus.line = row.line;
        if (is_hidden(row, session, scene.history.get()) || row.accesses.empty()) return;
        look_at_execution(session, focus, snapshot, scene, row, 0);
    }

    static void look_at_execution(Session& session, Focus& focus, const Snapshot& snapshot, const CoalesceScene& scene,
                                  const MemoryRow& row, size_t execution) {
        const uint64_t step = scene.history->accesses[row.accesses[execution]].step;
        if (session.learn.reveal_steps >= 0 && step >= static_cast<uint64_t>(session.learn.reveal_steps)) return;
        look_at_step(session, focus, snapshot, step);
        focus.pc = static_cast<int32_t>(row.pc);
    }

    void follow(Session& session, Focus& focus, const Snapshot& snapshot, const CoalesceScene& scene,
                const CoalesceFoot::Clicked& clicked) {
        if (clicked.row >= 0) look_at_row(session, focus, snapshot, scene, clicked.row);
        if (clicked.sandbox) sandbox_ = true, choice_ = *clicked.sandbox;
    }

    void keys(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const CoalesceScene& scene,
              const Rect& area) {
        const auto rows = static_cast<int>(scene.rows.size());
        for (const auto& [key, way] : {std::pair{Key::down, 1}, {Key::up, -1}, {Key::s, 1}, {Key::w, -1}})
            if (ui.pressed(key, area) && rows > 0)
                look_at_row(session, focus, snapshot, scene, std::clamp(scene.picked.row + way, 0, rows - 1));
        for (const auto& [key, way] : {std::pair{Key::d, 1}, {Key::a, -1}})
            if (ui.pressed(key, area)) focus.lane = std::clamp(focus.lane + way, 0, 31);
        if (ui.pressed(Key::enter, area) && scene.nothing.empty() && !scene.hidden) pin(scene.name, scene.pattern);
    }

    // Returns the height used.
    float draw_controls(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const CoalesceScene& scene,
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

    void draw_picture(Ui& ui, Focus& focus, const CoalesceScene& scene, const Rect& area) {
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

    void draw_tiles(Ui& ui, const CoalesceScene& scene, const Rect& area) const {
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
                ui.text(box.right() - 6, y, tiles[i].value,
                        {.size = 13, .color = tiles[i].color, .align = Align::right, .weight = 600});
                ui.text(box.x + 6, y, tiles[i].label, {.size = 12, .color = theme.ink2});
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
            const float w = ui.text_width(tiles[i].ghost, {.size = 12}) + 6;
            const Rect mark{box.right() - 5 - w, box.y + 4, w, 16};  // beside the name: there is room for any number
            ui.dashed(mark, theme.ink3, 3, 3);
            ui.text(mark.x + w / 2, mark.y + 12, tiles[i].ghost, {.size = 12, .color = theme.ink2, .align = Align::center});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_coalesce_view() {
    return std::make_unique<CoalesceView>();
}

}  // namespace lockstep::gui
