// The page that the app opens with. What is in its tiles is what is there: the kernel that ran last, the kernel on the desk,
// the training run. They play while somebody is here, and stop when the window is left alone.
#include "app/gui/views/home/home.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/scenes.h"
#include "app/gui/shell/palette.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/machine_tour.h"
#include "app/gui/widgets/ui_state.h"
#include "lessons/player/lesson.h"

namespace lockstep::gui {
namespace {

constexpr double idle_after = 45;  // seconds without the pointer or a key: nothing plays on
constexpr std::string_view
    headline = "See inside a GPU while it works",
    below_it = "Real CUDA kernels and really trained networks on a modelled GPU, every cycle shown. You need no GPU.";

struct Tile {
    Workspace opens;
    Provenance badge;
};
constexpr Tile tiles[] = {{Workspace::machine, Provenance::simulated},
                          {Workspace::kernel, Provenance::simulated},
                          {Workspace::training, Provenance::executed}};

class HomeView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        kernel_.adopt(session, *snapshot);
        play(ui, session);
        const HomePlan plan = plan_home(session, area, whole_);
        const Rect window = ui.state->scrolled.empty() ? area : ui.state->scrolled.back().view;
        const HomeFrame frame{ui, session, focus, *snapshot, window};
        ui.push_scope("home");
        draw_head(frame, plan.head);
        const TileText texts[] = {machine_text(*snapshot, kernel_), own_text_of(session, *snapshot),
                                  training_text(*snapshot)};
        for (size_t i = 0; i < 3; ++i) draw_tile(frame, i, plan.tiles[i], texts[i]);
        draw_go_on(frame, plan.go_on);
        for (size_t i = 0; i < plan.parts.size(); ++i) draw_part(frame, plan.parts[i], whole_[i]);
        ui.pop_scope();
    }

    float needs(Ui&, Session& session, Focus&, const Rect& room) override { return plan_home(session, room, whole_).height; }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        HomeKernel kernel;
        kernel.adopt(session, *snapshot);
        std::string text = fmt::format("Home: {}\n", headline);
        const TileText texts[] = {machine_text(*snapshot, kernel), own_text_of(session, *snapshot),
                                  training_text(*snapshot)};
        for (size_t i = 0; i < 3; ++i)
            text += fmt::format("  {} (key {}, {}): {}\n", texts[i].title, static_cast<int>(tiles[i].opens) + 1,
                                name_of(tiles[i].badge), texts[i].sentence);
        const GoOn on = go_on_of(session);
        text += fmt::format("  {} (Enter). {}\n", on.title, on.detail);
        const bool whole[] = {true, true, true};
        for (const HomePlan::Part& part : plan_home(session, {0, 0, 1600, 1000}, whole).parts) {
            text += fmt::format("  {} {}: {}\n", part.letter, part.title, facts_of(session, part));
            for (const size_t i : part.lessons) {
                const lessons::Lesson& lesson = *session.home.course[i];
                const LessonProgress progress = progress_of(session, lesson);
                text += fmt::format("    {} {}, {} min, {} of {} steps done. {}\n", lesson.id, lesson.title, lesson.minutes,
                                    progress.done, lesson.steps.size(), lesson.question);
            }
        }
        return text;
    }

  private:
    // The tiles' clock, and when it stops: nobody is there, or less motion is wished.
    void play(Ui& ui, Session& session) {
        const UiState& state = *ui.state;
        const bool acts = ui.mouse.x != pointer_.x || ui.mouse.y != pointer_.y || state.mouse_clicked || state.wheel != 0 ||
                          state.focus_moved;
        pointer_ = ui.mouse;
        if (acts || acted_at_ < 0 || acted_at_ > ui.now) {
            acted_at_ = ui.now;
            if (std::exchange(rests_, false)) session.playing = !ui.calm();
        }
        const double passed = last_ < 0 ? 0 : std::clamp(ui.now - last_, 0.0, 0.1);
        last_ = ui.now;
        if (session.playing && ui.now - acted_at_ > idle_after) session.playing = false, rests_ = true;
        if (ui.calm()) session.playing = false;
        if (!session.playing || !kernel_.run) return;
        kernel_.play(passed);
        ui.animate();
    }

    static void draw_head(const HomeFrame& frame, const Rect& head) {
        Ui& ui = frame.ui;
        const Theme& t = *ui.theme;
        const float field = head.w > 1000 ? 360.0f : 0.0f;
        if (field > 0) draw_search(frame, {head.right() - field, head.y + 28, field, 40});
        if (!frame.shows(head)) return;
        const float words = head.w - (field > 0 ? field + 24 : 0);
        ui.text(head.x, head.y + 48, headline, {.size = head.w > 700 ? 32.0f : 24.0f, .weight = 700, .width = words});
        if (head.h > 96)
            ui.paragraph({head.x, head.y + 56, head.w, 44}, below_it, {.size = 14, .color = t.ink2}, 19);
        else
            ui.text(head.x, head.y + 74, below_it, {.size = 15, .color = t.ink2, .width = words});
    }

    static void draw_search(const HomeFrame& frame, const Rect& box) {
        Ui& ui = frame.ui;
        const Theme& t = *ui.theme;
        if (ui.area("search", box)) frame.session.home.asks_search = true;
        if (!frame.shows(box)) return;
        const bool over = ui.hovered(box);
        ui.rect(box, t.panel, 5);
        ui.frame(box, over ? t.accent : t.line, 1, 5);
        draw_search_glass(ui, {box.x + 18, box.y + 20}, t.ink2);
        const float w = ui.text_width("Ctrl K", {.size = 12, .weight = 600}) + 12;
        ui.frame({box.right() - 12 - w, box.y + 10, w, 20}, t.ink3, 1, 4);
        ui.text(box.right() - 12 - w / 2, box.y + 24, "Ctrl K",
                {.size = 12, .color = t.ink2, .align = Align::center, .weight = 600});
        ui.text(box.x + 36, box.y + 25, "A lesson, a word, a kernel",
                {.size = 14, .color = t.quiet, .width = box.w - 60 - w});
    }

    void draw_tile(const HomeFrame& frame, size_t index, const Rect& tile, const TileText& text) {
        Ui& ui = frame.ui;
        const Theme& t = *ui.theme;
        const Tile& row = tiles[index];
        const std::string name(row_of(row.opens).title);
        ui.push_scope(name);
        if (ui.area("open", tile)) open(frame, row.opens);
        ui.pop_scope();
        if (!frame.shows(tile)) return;
        const bool over = ui.hovered(tile);
        const Rect picture{tile.x + 1, tile.y + 1, tile.w - 2, 172};
        ui.rect(tile, over ? t.panel2 : t.panel, 6);
        ui.rect(picture, t.code, 5);
        ui.frame(tile, over ? t.accent : t.line, 1, 6);
        ui.line({tile.x, picture.bottom()}, {tile.right(), picture.bottom()}, t.line);
        ui.clip(picture);
        if (index == 0) draw_machine_tile(frame, kernel_, picture);
        if (index == 1) draw_own_tile(frame, picture);
        if (index == 2) draw_training_tile(frame, picture);
        ui.badge(picture.right() - 14 - ui.text_width(name_of(row.badge), {.size = 12}) - 16, picture.y + 20, row.badge);
        ui.unclip();
        const Point centre{tile.right() - 34, tile.y + 209};
        const std::string key = std::to_string(static_cast<int>(row.opens) + 1);
        const float words = tile.w - 16 - 100;
        fit_text(ui, tile.x + 16, tile.y + 205, text.title, {.size = 18, .weight = 600, .width = words});
        fit_text(ui, tile.x + 16, tile.y + 228, text.sentence, {.size = 13, .color = t.ink2, .width = words});
        ui.frame({centre.x - 50, centre.y - 10, 20, 20}, t.ink3, 1, 4);
        ui.text(centre.x - 40, centre.y + 5, key, {.size = 12, .color = t.ink2, .align = Align::center, .weight = 600});
        ui.circle(centre, 19, t.panel2);
        ui.ring(centre, 19, over ? t.accent : t.ink3, 1.5f);
        ui.polygon({{centre.x - 6, centre.y - 8}, {centre.x + 9, centre.y}, {centre.x - 6, centre.y + 8}}, t.ink);
        if (over) ui.tooltip(fmt::format("open {} (key {})", name, key));
    }

    void open(const HomeFrame& frame, Workspace workspace) {
        Session& session = frame.session;
        session.workspace = workspace;
        session.playing = workspace == Workspace::machine && !frame.ui.calm();
        if (workspace != Workspace::machine || !kernel_.run || kernel_.run != frame.snapshot.kernel.run) return;
        frame.focus.time = static_cast<int64_t>(kernel_.clock);  // it goes on where the tile stood
        session.machine.clock = -1;
        session.grain = Grain::cycle;
    }

    static void draw_go_on(const HomeFrame& frame, const Rect& box) {
        Ui& ui = frame.ui;
        const Theme& t = *ui.theme;
        const GoOn on = go_on_of(frame.session);
        const bool tour = frame.session.machine.offers_tour && box.w > 760;
        const std::string_view offer = "New here? A tour in 20 seconds";
        const float width = std::max(136.0f, ui.text_width(on.label, {.size = 14, .weight = 600}) + 40);
        const Rect button{box.right() - 16 - width, box.y + 11, width, 34};
        float right = button.x - 12;
        if (tour) {
            const float w = ui.text_width(offer, {.size = 14}) + 28;
            right -= w;
            if (ui.button({right, box.y + 11, w, 34}, offer)) {
                frame.session.machine.offers_tour = false;
                return begin_tour(frame.session);
            }
            right -= 12;
        }
        const bool pressed = ui.button(button, on.label, true);
        const bool enter = ui.pressed(Key::enter, frame.window);
        if (pressed || enter) go_on(frame.session, on);
        if (!frame.shows(box)) return;
        ui.frame(box, t.line, 1, 6);
        ui.rect({box.x, box.y, 4, box.h}, t.accent, 2);
        float x = box.x + 16;
        if (!on.lesson.empty() && box.w > 520) {
            const Rect thumb{x, box.y + 4, 84, 48};
            ui.rect(thumb, t.code, 4);
            draw_thumb(ui, on.lesson, thumb);
            x += 84 + 16;
            if (on.progress) {
                draw_progress(
                    ui, {x + 14, box.y + 28}, 13, 4,
                    static_cast<double>(on.progress->done) / static_cast<double>(std::max<size_t>(1, on.progress->steps)));
                x += 44;
            }
        }
        if (right - x > 560) {
            const float w = ui.text_width("Enter", {.size = 12, .weight = 600}) + 12;
            ui.frame({right - w, box.y + 18, w, 20}, t.ink3, 1, 4);
            ui.text(right - w / 2, box.y + 32, "Enter",
                    {.size = 12, .color = t.ink2, .align = Align::center, .weight = 600});
            right -= w + 16;
        }
        fit_text(ui, x, box.y + 24, on.title, {.size = 16, .weight = 600, .width = right - x});
        fit_text(ui, x, box.y + 45, on.detail, {.size = 13, .color = t.ink2, .width = right - x});
    }

    HomeKernel kernel_;
    bool whole_[3] = {};
    bool rests_ = false;
    double last_ = -1, acted_at_ = -1;
    Point pointer_{-1e6f, -1e6f};
};

}  // namespace

std::unique_ptr<View> make_home_view() {
    return std::make_unique<HomeView>();
}

}  // namespace lockstep::gui
