// D4, shared-memory banks: the words that one warp instruction reads, in their 32 banks; the passes that its conflicts
// cost; and beside it the same request with padding or a swizzle. Either an instruction of the run that the focused warp
// executed, or a sandbox: a row, a column or a diagonal of a tile of 32 x 32 elements.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/memory/bank_picture.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

std::string_view word_of(Remedy remedy) {
    static constexpr std::string_view names[] = {"no remedy", "padding", "XOR swizzle"};
    return names[static_cast<size_t>(remedy)];
}

std::string element_name(int bytes) {
    return bytes == 4 ? "float" : bytes == 8 ? "double" : "float4";
}

// Whether this step of the lesson or a later one asks how many passes something takes: what a remedy does may be the answer.
bool asks_of_passes(const LessonState& state) {
    if (!state.lesson || state.step < 0) return false;
    for (auto s = static_cast<size_t>(state.step); s < std::min(state.lesson->steps.size(), state.predictions.size()); ++s) {
        const auto& asked = state.lesson->steps[s].predicts;
        for (size_t i = 0; i < std::min(asked.size(), state.predictions[s].size()); ++i)
            if (!state.predictions[s][i].locked && asked[i].of.text().find("shared_passes") != std::string::npos)
                return true;
    }
    return false;
}

class BanksView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Scene scene = scene_of(session, focus, *snapshot);
        const std::string sentence = caption_of(scene);
        const std::string right = scene.sandbox ? "sandbox, any kernel" : place_of(scene, *snapshot);
        const Rect body = ui.panel(area, {.title = "Shared-memory banks",
                                          .right = right,
                                          .header_badge = scene.sandbox ? Provenance::derived : Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("banks");
        keys(ui, session, focus, *snapshot, scene, area);
        const float used = draw_controls(ui, session, focus, *snapshot, scene, body);
        const Rect rest{body.x, body.y + used + 6, body.w, body.h - used - 6};
        if (!scene.nothing.empty()) {
            ui.say_nothing_yet(rest, scene.nothing, scene.hint);
        } else {
            const bool twin = scene.remedy != Remedy::none && rest.w > 420;
            const float half = twin ? (rest.w - 16) / 2 : rest.w;
            draw_half(ui, focus, scene, scene.left, Remedy::none, {rest.x, rest.y, half, rest.h});
            if (twin) draw_half(ui, focus, scene, scene.right, scene.remedy, {rest.x + half + 16, rest.y, half, rest.h});
            const BankPicture picture({rest.x, rest.y, half, rest.h}, scene.left.facts, scene.right.facts);
            if (picture.bottom() + 13 <= rest.bottom()) draw_legend(ui, scene, picture, twin, rest);
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const Scene scene = scene_of(session, focus, *snapshot);
        std::string text = fmt::format("Shared-memory banks ({}), {}\n", scene.sandbox ? "derived" : "simulated",
                                       scene.sandbox ? "sandbox" : place_of(scene, *snapshot));
        if (!scene.nothing.empty()) text += "  " + scene.nothing + "\n";
        for (const MemoryRow& row : scene.rows)
            text += fmt::format("  line {} pc {} {}: {}\n", row.line, row.pc, row.text,
                                is_hidden(row, session, scene.history.get())
                                    ? std::string("hidden until you lock an answer")
                                    : fmt::format("{}, {:.4g} pass{} each", counted(row.requests, "request"),
                                                  row.per_request(), row.per_request() == 1 ? "" : "es"));
        if (scene.nothing.empty())
            for (const Remedy remedy : {Remedy::none, scene.remedy}) {
                const Half& half = remedy == Remedy::none ? scene.left : scene.right;
                text += fmt::format("  {}: {}, {}, {} words, {} of them broadcast\n", title_of(scene, remedy),
                                    ways_text(half.facts), passes_text(half.facts), half.facts.words.size(),
                                    half.facts.broadcasts);
                if (scene.remedy == Remedy::none) break;
            }
        return text + "  " + caption_of(scene) + "\n";
    }

  private:
    struct Half {
        Pattern pattern;
        BankFacts facts;
    };
    struct Scene {
        bool sandbox = false, locked = false, store = false;
        Remedy remedy = Remedy::padding;
        std::shared_ptr<const simt::WarpHistory> history;
        std::vector<MemoryRow> rows;
        Picked picked;
        Half left, right;
        std::string name, nothing, hint;
    };
    bool sandbox_ = false;
    TileChoice choice_;
    // Until then padding; nothing beside a request of a run that has no conflict, or while the lesson asks of passes.
    std::optional<Remedy> chosen_;
    int32_t last_pc_ = -1;
    mutable LineChoice line_choice_;
    double played_from_ = -1;  // when the passes began to play; -1: they stand
    mutable std::shared_ptr<const model::KernelRun> rows_run_;
    mutable std::shared_ptr<const simt::WarpHistory> rows_history_, known_history_;
    mutable std::vector<MemoryRow> rows_;

    void update_rows(const Snapshot& snapshot) const {
        if (rows_run_ == snapshot.kernel.run && rows_history_ == snapshot.kernel.history) return;
        rows_run_ = snapshot.kernel.run;
        rows_history_ = snapshot.kernel.history;
        known_history_ = history_of(snapshot);
        rows_ = snapshot.kernel.run && snapshot.kernel.run->program
                    ? memory_rows(*snapshot.kernel.run, known_history_.get(), true)
                    : std::vector<MemoryRow>();
    }

    Scene scene_of(const Session& session, const Focus& focus, const Snapshot& snapshot) const {
        update_rows(snapshot);
        Scene scene;
        scene.locked = session.learn.reveal_steps >= 0;
        scene.history = known_history_;
        scene.rows = rows_;
        // Without a shared-memory instruction the sandbox is all there is.
        scene.sandbox = !scene.locked && (sandbox_ || scene.rows.empty());
        scene.remedy = chosen_.value_or(Remedy::padding);
        line_choice_.update(session, focus, scene.history.get());
        scene.picked = pick(scene.rows, session, focus, scene.history.get(), last_pc_, line_choice_.chosen());
        bool atomic = false;
        if (scene.sandbox) {
            scene.left.pattern = tile_pattern(choice_, Remedy::none);
            scene.right.pattern = tile_pattern(choice_, scene.remedy);
        } else if (scene.picked.row < 0) {
            scene.nothing = "This kernel touches no shared memory.";
            return scene;
        } else {
            const MemoryRow& row = scene.rows[static_cast<size_t>(scene.picked.row)];
            scene.name = row.line > 0 ? fmt::format("line {}", row.line) : fmt::format("pc {}", row.pc);
            if (scene.picked.hidden) {
                scene.nothing = "The banks stay hidden until you lock an answer.";
                return scene;
            }
            if (scene.picked.access < 0) {
                scene.nothing = scene.history ? "This warp did not run that instruction: choose another."
                                              : "The warp's addresses are being recorded.";
                scene.hint = "The sandbox shows rows, columns and diagonals of a tile.";
                return scene;
            }
            atomic = row.is_atomic;
            scene.store = row.is_store;
            scene.left.pattern = pattern_of(scene.history->accesses[static_cast<size_t>(scene.picked.access)]);
            if (!chosen_ && (asks_of_passes(session.lesson) || bank_facts(scene.left.pattern, atomic).ways <= 1))
                scene.remedy = Remedy::none;
            scene.right.pattern = what_if(scene.left.pattern, scene.remedy);
        }
        scene.left.facts = bank_facts(scene.left.pattern, atomic);
        scene.right.facts = bank_facts(scene.right.pattern, atomic);
        return scene;
    }

    static std::string place_of(const Scene& scene, const Snapshot& snapshot) {
        if (!scene.history || scene.picked.row < 0) return snapshot.kernel.label;
        return fmt::format("block {} · warp {} · {}", with_commas(scene.history->block), scene.history->warp_in_block,
                           scene.name);
    }

    std::string title_of(const Scene& scene, Remedy remedy) const {
        if (scene.sandbox)
            return fmt::format("{} tile[32][{}]{}", element_name(choice_.element), remedy == Remedy::padding ? 33 : 32,
                               remedy == Remedy::swizzle ? ", column ^ row" : "");
        if (remedy == Remedy::none)
            return fmt::format("{} {}", scene.name, scene.rows[static_cast<size_t>(scene.picked.row)].text);
        return remedy == Remedy::padding ? "what if: padded rows" : "what if: swizzled rows";
    }

    std::string formula_of(const Scene& scene, const Half& half, Remedy remedy, int lane) const {
        if (lane < 0 || !(half.pattern.lanes >> lane & 1)) lane = 0;
        const uint64_t address = half.pattern.address[static_cast<size_t>(lane)], bank = address / 4 % 32;
        if (scene.sandbox && choice_.element == 4) {
            const auto [row, column] = tile_place(choice_, lane);
            if (remedy == Remedy::swizzle)
                return fmt::format("lane {}: bank = ({} ^ {}) mod 32 = {}", lane, column, row, bank);
            return fmt::format("lane {}: bank = ({}*{} + {}) mod 32 = {}", lane, row, remedy == Remedy::padding ? 33 : 32,
                               column, bank);
        }
        return fmt::format("lane {}: bank = ({} / 4) mod 32 = {}", lane, address, bank);
    }

    std::string caption_of(const Scene& scene) const {
        if (!scene.nothing.empty()) return {};
        const BankFacts &left = scene.left.facts, &right = scene.right.facts;
        std::string text = scene.name;
        if (scene.sandbox)
            text = fmt::format("With 32 elements a row, lanes read a {}", choice_.pattern == TilePattern::row ? "row"
                                                                          : choice_.pattern == TilePattern::column
                                                                              ? "column"
                                                                              : "diagonal");
        if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
        const std::string_view act = scene.store ? "take" : "deliver";
        text += left.ways > 1 ? fmt::format(": bank {} has {} different words to {}, so one request takes {}.",
                                            left.worst_bank, left.ways, act, passes_text(left))
                : scene.store && left.broadcasts > 0
                    ? fmt::format(": several lanes write the same word, and no bank has a second word to take: {}.",
                                  passes_text(left))
                : left.broadcasts > 0 && left.words.size() == 1
                    ? fmt::format(
                          ": one word goes to {} lanes at once, a broadcast, and no bank has a second word to deliver: {}.",
                          std::popcount(left.words.front().lanes), passes_text(left))
                : left.broadcasts > 0
                    ? fmt::format(": {} words go to several lanes at once, and no bank has a second word to deliver: {}.",
                                  left.broadcasts, passes_text(left))
                    : fmt::format(": no bank has a second word to {}, {}.", act, passes_text(left));
        if (scene.remedy == Remedy::none) return text;
        std::string with(word_of(scene.remedy));
        with[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(with[0])));
        if (left.ways == right.ways && left.passes.size() == right.passes.size())
            return text + fmt::format(" {} changes nothing: still {}-way, {}.", with, right.ways, passes_text(right));
        return text + fmt::format(" {} makes it {}-way, {}.", with, right.ways, passes_text(right));
    }

    void look_at_row(Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene, int index,
                     size_t execution) {
        const MemoryRow& row = scene.rows[static_cast<size_t>(index)];
        sandbox_ = false;
        last_pc_ = static_cast<int32_t>(row.pc);
        focus.pc = last_pc_;
        if (row.line > 0) focus.line = row.line;
        if (is_hidden(row, session, scene.history.get()) || execution >= row.accesses.size()) return;
        const uint64_t step = scene.history->accesses[row.accesses[execution]].step;
        if (session.learn.reveal_steps >= 0 && step >= static_cast<uint64_t>(session.learn.reveal_steps)) return;
        look_at_step(session, focus, snapshot, step);
        focus.pc = last_pc_;
    }

    void keys(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene, const Rect& area) {
        for (const auto& [key, way] : {std::pair{Key::d, 1}, {Key::a, -1}})
            if (ui.pressed(key, area)) focus.lane = std::clamp(focus.lane + way, 0, 31);
        for (const auto& [key, way] : {std::pair{Key::down, 1}, {Key::up, -1}, {Key::s, 1}, {Key::w, -1}})
            if (ui.pressed(key, area)) {
                if (scene.sandbox)
                    choice_.index = std::clamp(choice_.index + way, 0, 31);
                else if (const int rows = static_cast<int>(scene.rows.size()); rows > 0)
                    look_at_row(session, focus, snapshot, scene, std::clamp(scene.picked.row + way, 0, rows - 1), 0);
            }
        if (ui.pressed(Key::enter, area)) played_from_ = ui.now;
    }

    float draw_controls(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Scene& scene,
                        const Rect& body) {
        const Theme& theme = *ui.theme;
        float x = body.x, y = body.y;
        const auto wrap = [&](float width) {
            if (x + width <= body.right()) return;
            x = body.x;
            y += 30;
        };
        if (scene.locked) {
            ui.text(x, y + 18, "The sandbox opens once you lock an answer.", {.size = 13, .color = theme.ink2});
            return 26;
        }
        if (!scene.rows.empty()) {
            const int mode = ui.segmented(x, y, {"run", "sandbox"}, scene.sandbox ? 1 : 0);
            sandbox_ = mode == 1;
        }
        if (scene.sandbox) {
            wrap(190);
            choice_.pattern = static_cast<TilePattern>(
                ui.segmented(x, y, {"row", "column", "diagonal"}, static_cast<int>(choice_.pattern)));
            const int elements[] = {4, 8, 16};
            wrap(130);
            choice_.element = elements[ui.segmented(x, y, {"4 B", "8 B", "16 B"},
                                                    choice_.element == 4   ? 0
                                                    : choice_.element == 8 ? 1
                                                                           : 2)];
        } else if (scene.picked.row >= 0) {
            const auto rows = static_cast<int>(scene.rows.size());
            wrap(180);
            if (ui.chip(x, y, "<", false, scene.picked.row > 0))
                look_at_row(session, focus, snapshot, scene, scene.picked.row - 1, 0);
            if (ui.chip(x, y, ">", false, scene.picked.row + 1 < rows))
                look_at_row(session, focus, snapshot, scene, scene.picked.row + 1, 0);
            const MemoryRow& row = scene.rows[static_cast<size_t>(scene.picked.row)];
            const TextStyle style{.size = 13, .color = theme.ink2, .width = body.right() - x - 8};
            std::string label = fmt::format("{}, {} of {}; {:.3g} pass{} each", scene.name, scene.picked.row + 1, rows,
                                            row.per_request(), row.per_request() == 1 ? "" : "es");
            if (const std::string longer = label + " in the whole run"; ui.text_width(longer, style) <= style.width)
                label = longer;
            x = ui.text(x + 4, y + 18, label, style) + 12;
        }
        wrap(270);
        const auto wanted = static_cast<Remedy>(
            ui.segmented(x, y, {"as it is", "a word of padding", "XOR swizzle"}, static_cast<int>(scene.remedy)));
        if (wanted != scene.remedy) chosen_ = wanted;
        if (x + 60 <= body.right() && ui.chip(x, y, "play", played_from_ >= 0)) played_from_ = ui.now;
        return y - body.y + 26;
    }

    BankText text_of(const Scene& scene, const Half& half, Remedy remedy, int lane) const {
        const bool padded = scene.sandbox && remedy == Remedy::padding;
        const auto element = static_cast<uint32_t>(choice_.element / 4);
        return {title_of(scene, remedy), formula_of(scene, half, remedy, lane), padded ? 32 * element : 0, element,
                scene.store};
    }

    void draw_legend(Ui& ui, const Scene& scene, const BankPicture& picture, bool twin, const Rect& r) const {
        const BankFacts &left = scene.left.facts, &right = scene.right.facts;
        const auto some = [&](auto&& has) { return has(left) || (twin && has(right)); };
        float x = r.x + 24;
        const float y = r.bottom() - 2;
        const auto entry = [&](std::string_view label, auto&& mark) {
            if (x + 16 + ui.text_width(label, {.size = 12}) > r.right()) return;
            mark(Rect{x, y - 9, 10, 9});
            x = ui.text(x + 16, y, label, {.size = 12, .color = ui.theme->ink2}) + 22;
        };
        const auto filled = [&](Color color) { return [&ui, color](const Rect& box) { ui.rect(box, color); }; };
        const bool calm = some([](const BankFacts& f) {
            return std::any_of(f.distinct.begin(), f.distinct.end(), [](uint32_t words) { return words == 1; });
        });
        if (calm) entry("a bank's only word", filled(data::green));
        if (some([](const BankFacts& f) { return f.ways > 1; }))
            entry(scene.store ? "word of a bank with several to take" : "word of a bank with several to deliver",
                  filled(data::vermillion));
        if (some([](const BankFacts& f) { return f.broadcasts > 0; }))
            entry("one word for several lanes", [&](const Rect& box) { ui.frame(box, data::sky, 1.5f); });
        const BankPicture other({r.x, r.y, (r.w - 16) / 2, r.h}, right, left);
        if (twin && other.shows_padding(text_of(scene, scene.right, scene.remedy, 0)))
            entry("padding, never read", [&](const Rect& box) { ui.frame(box, ui.theme->ink3); });
        entry(picture.numbered() ? "row: 128 bytes; in a box: its lane" : "row: 128 bytes, a word in each bank",
              [&](const Rect& box) {
                  ui.rect({box.x, box.y + 4, box.w, 1}, ui.theme->ink3);
              });
    }

    void draw_half(Ui& ui, Focus& focus, const Scene& scene, const Half& half, Remedy remedy, const Rect& area) {
        const BankText text = text_of(scene, half, remedy, focus.lane);
        const BankPicture picture(area, half.facts, remedy == Remedy::none ? scene.right.facts : scene.left.facts);
        const int hovered = ui.enabled ? picture.lane_at(ui.mouse, half.pattern) : -1;
        if (hovered >= 0 && ui.clicked(area)) focus.lane = hovered;
        size_t shown = half.facts.passes.size();
        if (played_from_ >= 0) {  // one pass a cycle, slowed down for the eye
            const auto at = static_cast<size_t>(std::max(0.0, (ui.now - played_from_) * 8));
            if (at < shown)
                shown = at, ui.animate();
            else if (at > std::max(scene.left.facts.passes.size(), scene.right.facts.passes.size()))
                played_from_ = -1;
            else
                ui.animate();
        }
        picture.draw(ui, half.pattern, half.facts, text, shown, hovered >= 0 ? hovered : focus.lane);
        if (hovered >= 0)
            ui.tooltip(fmt::format("lane {}: byte {}, word {} of bank {}", hovered,
                                   half.pattern.address[static_cast<size_t>(hovered)],
                                   half.pattern.address[static_cast<size_t>(hovered)] / 128,
                                   half.pattern.address[static_cast<size_t>(hovered)] / 4 % 32));
    }
};

}  // namespace

std::unique_ptr<View> make_banks_view() {
    return std::make_unique<BanksView>();
}

}  // namespace lockstep::gui
