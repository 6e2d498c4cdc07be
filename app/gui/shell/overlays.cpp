// What lies over everything: menus, the keyboard map, the tooltip. While one is open the rest takes no input.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/views/home/home.h"
#include "app/gui/views/training/training_data.h"
#include "core/nn/layers/optim.h"
#include "core/nn/models/models.h"
#include "lessons/player/glossary/glossary.h"

namespace lockstep::gui {

namespace {

struct MenuItem {
    std::string name, note;
    bool on = false;
};

// Draws a drop-down at (x, y), in several columns where the window is low, below what is said of all its items; returns the
// item pressed, -1 none, -2 pressed elsewhere. `in_use`: the first item that is on, where the keyboard begins; 0: none is.
int drop_down(Ui& ui, int& in_use, float x, float window_width, float window_height, const std::vector<MenuItem>& items,
              float y = 42, const std::string& heading = {}) {
    const Theme& t = *ui.theme;
    const float head = heading.empty() ? 0.0f : 30.0f;
    float width = heading.empty() ? 160.0f : std::max(160.0f, ui.text_width(heading, {.size = 13}) + 40);
    for (const MenuItem& item : items)
        width = std::max(
            width, ui.text_width(item.name, {.size = 14, .weight = 600}) + ui.text_width(item.note, {.size = 13}) + 60);
    const int count = static_cast<int>(items.size()),
              fit = std::max(1, static_cast<int>((window_height - y - head - 16) / 30)), columns = (count + fit - 1) / fit,
              rows = (count + columns - 1) / columns;
    width = std::min(width, (window_width - 16) / static_cast<float>(columns));
    const float whole = width * static_cast<float>(columns);
    const Rect box{std::clamp(x, 8.0f, std::max(8.0f, window_width - whole - 8)), y, whole,
                   static_cast<float>(rows) * 30 + 12 + head};
    ui.rect({box.x + 3, box.y + 4, box.w, box.h}, faded(data::black, 0.35f), 6);
    ui.rect(box, t.panel2, 6);
    ui.frame(box, t.line, 1, 6);
    if (!heading.empty()) ui.text(box.x + 16, box.y + 25, heading, {.size = 13, .color = t.ink2, .width = box.w - 24});
    int pressed = -1;
    in_use = 0;
    for (int i = count; i-- > 0;)
        if (items[static_cast<size_t>(i)].on) in_use = i;
    for (int i = 0; i < count; ++i) {
        const MenuItem& item = items[static_cast<size_t>(i)];
        const Rect row{box.x + 4 + width * static_cast<float>(i / rows),
                       box.y + head + 6 + 30 * static_cast<float>(i % rows), width - 8, 30};
        if (ui.hovered(row) || item.on) ui.rect(row, t.selected, 4);
        const float end = ui.text(row.x + 12, row.y + 20, item.name,
                                  {.size = 14, .weight = item.on ? 600 : 400, .width = row.w - 24}),
                    room = row.right() - 28 - end;
        if (room > 40)
            ui.text(row.right() - 12, row.y + 20, item.note,
                    {.size = 13, .color = t.ink2, .align = Align::right, .width = room});
        if (ui.area(item.name, row)) pressed = i;
    }
    if (pressed == -1 && ui.clicked({0, 0, 1e6f, 1e6f})) return -2;
    return pressed;
}

constexpr struct {
    std::string_view keys, does;
} key_rows[] = {{"Space", "play or pause"},
                {"Left  Right", "one step back or on"},
                {"Shift + Left  Right", "one step of the next bigger grain"},
                {"Home  End", "to the first, to the last"},
                {"[  ]", "look into the SM before, the next SM"},
                {"A  D", "move the time in view; in Memory the lane"},
                {"W  S", "zoom in, zoom out"},
                {"Up  Down", "warp, row or operation above, below"},
                {"Enter", "why? - go to what the warp waits for; open a kernel"},
                {"C", "compare: keep this run as A; again: end it"},
                {"V", "the whole kernel in view, or the cycles before"},
                {"Page Up  Page Down", "move to another stream; else scroll a low picture"},
                {"+  -", "Cluster: move an action in its rank's order"},
                {"Ctrl K", "search: lessons, words, kernels, lines, cycles, settings"},
                {"Ctrl R  Shift + Ctrl R", "save this run, with where you stand in it: one file; a page for a browser"},
                {"Ctrl P  Shift + Ctrl P", "save this panel as a picture: PNG, SVG"},
                {"Ctrl G", "save the cycles in view as a film (GIF)"},
                {"Tab  Shift + Tab", "next control, control before; Enter presses it"},
                {"F6  Shift + F6", "next panel, panel before"},
                {"1 to 9", "the workspaces, from Home to Build; with Ctrl in a text or a sketch"},
                {"Enter, Escape", "machine, Build's die: further in, out"},
                {"F5  Shift + F5", "Kernel: run, cancel"},
                {"F7  Shift + F7", "Kernel: check the exercise, cancel the check"},
                {"F8  Shift + F8", "Kernel: next report, report before"},
                {"Ctrl O  S  F  H", "Kernel: open, save, find, replace"},
                {"H  I", "Kernel: what each line costs; what it holds"},
                {"Y  X", "Kernel: try the first finding; swap the runs A and B"},
                {"Ctrl Page Up  Down", "Kernel: the program's file before, next file"},
                {"Y  H", "Build: how much, then try what to change next; a hint"},
                {"C  Ctrl Z", "Build: compare with another design; the design before"},
                {",  .", "play slower, faster"},
                {"G", "go to a cycle by its number"},
                {"T", "next theme"},
                {"Ctrl +  Ctrl -  Ctrl 0", "text larger, smaller, 100 %"},
                {"Escape", "close, back to the workspace"},
                {"F11", "present: the whole screen, large; F11 leaves it"},
                {"Space  Page Down", "presenting: answer the question or go on; Backspace and Page Up: back"},
                {"A to H  Shift", "presenting: a hand more for an answer, one less"},
                {"N  P  .", "presenting: the speaker's notes, words or picture, a blank screen"}};

}  // namespace

void Shell::overlay(Ui& ui) {
    if (menu_ == Menu::none) return;
    ui.enabled = true;
    state.ring.clear();  // only the menu is reachable
    ui.push_scope("menu");
    Menu next = Menu::none;
    const int pressed = [&] {
        switch (menu_) {
            case Menu::gpu:
                return gpu_menu(ui);
            case Menu::lesson:
                return lesson_menu(ui);
            case Menu::size:
                return size_menu(ui);
            case Menu::workspace:
                return workspace_menu(ui);
            case Menu::all:
                return menu_of_menus(ui, next);
            case Menu::help:
                return help(ui);
            case Menu::setting:
                return setting_menu(ui);
            case Menu::palette:
                return palette_menu(ui);
            case Menu::back:
            case Menu::none:
                break;
        }
        return -1;
    }();
    ui.pop_scope();
    if (pressed != -1) menu_ = next, state.animate = true;
}

int Shell::gpu_menu(Ui& ui) {
    std::vector<MenuItem> items;
    const std::vector<GpuChoice> choices = gpu_choices(gpu_on_show(*snapshot_));
    for (const GpuChoice& choice : choices)
        items.push_back({choice.title, choice.detail, choice.name == gpu_on_show(*snapshot_)});
    const int pressed = drop_down(ui, menu_row_, menu_x_, width_, height_, items);
    if (pressed >= 0) choose_gpu(choices[static_cast<size_t>(pressed)].name);
    return pressed;
}

int Shell::lesson_menu(Ui& ui) {
    const auto& open = session.lesson.lesson;
    const Source shown = snapshot_->source;
    std::vector<MenuItem> items;
    std::vector<Source> brings;  // of the first rows: whose run the pictures of this workspace are to show
    const auto bring = [&](Source source, std::string name, std::string note) {
        if (!row_of(session.workspace).shows_kernel || session.workspace == Workspace::learn) return;
        items.push_back({std::move(name), std::move(note), shown == source});
        brings.push_back(source);
    };
    if (open) bring(Source::lesson, open->id + "  " + open->title, "the open lesson's run");
    if (snapshot_->own.run || shown == Source::own) bring(Source::own, own_title(*snapshot_), "your own run");
    items.push_back({"Training step", "a network learns drawn digits", brings.empty() ? !open : shown == Source::training});
    for (const auto& lesson : session.home.course) {
        const LessonProgress progress = progress_of(session, *lesson);
        const std::string far = progress.whole()     ? "done, "
                                : progress.done == 0 ? ""
                                                     : fmt::format("{} of {} steps, ", progress.done, lesson->steps.size());
        items.push_back({lesson->id + "  " + lesson->title, fmt::format("{}{} min", far, lesson->minutes),
                         brings.empty() && open && open->id == lesson->id});
    }
    const int pressed = drop_down(ui, menu_row_, menu_x_, width_, height_, items);
    if (pressed < 0) return pressed;
    session.playing = false;
    const auto sources = static_cast<int>(brings.size());
    if (pressed < sources)
        session.post(ask::Bring{brings[static_cast<size_t>(pressed)]});
    else if (pressed == sources && row_of(session.workspace).shows_kernel && session.workspace != Workspace::learn)
        session.post(ask::Bring{Source::training});
    else if (pressed == sources)
        session.post(ask::CloseLesson{});
    else
        session.post(ask::OpenLesson{session.home.course[static_cast<size_t>(pressed - sources) - 1]->id});
    if (pressed > sources || session.workspace == Workspace::learn || !row_of(session.workspace).shows_kernel)
        choose_workspace(pressed <= sources ? Workspace::training : Workspace::learn);
    return pressed;
}

int Shell::size_menu(Ui& ui) {
    static constexpr int sizes[] = {75, 90, 100, 125, 150, 175, 200, 250};
    std::vector<MenuItem> items;
    for (const int size : sizes)
        items.push_back(
            {std::to_string(size) + " %", size == 100 ? "Ctrl 0" : "", static_cast<int>(text_scale * 100 + 0.5f) == size});
    constexpr int of_sizes = std::size(sizes);
    static constexpr std::string_view motions[] = {"", "full", "reduced"};
    items.push_back({"Motion: as the desktop says", desktop_is_calm ? "less" : "full", motion.empty()});
    items.push_back({"Motion: full", "", motion == "full"});
    items.push_back({"Motion: less", "nothing travels or flows by itself", motion == "reduced"});
    const int pressed = drop_down(ui, menu_row_, menu_x_, width_, height_, items);
    if (pressed >= of_sizes)
        motion = motions[pressed - of_sizes];
    else if (pressed >= 0)
        set_text_scale(static_cast<float>(sizes[pressed]) / 100);
    return pressed;
}

int Shell::workspace_menu(Ui& ui) {
    std::vector<MenuItem> items;
    for (const WorkspaceRow& space : workspaces)
        items.push_back(
            {std::string(space.title), "key " + std::to_string(items.size() + 1), &space == &row_of(session.workspace)});
    const int pressed = drop_down(ui, menu_row_, menu_x_, width_, height_, items);
    if (pressed >= 0) choose_workspace(static_cast<Workspace>(pressed));
    return pressed;
}

// Where the bar has no room for the others.
int Shell::menu_of_menus(Ui& ui, Menu& next) {
    std::vector<MenuItem> items = {{"Search", "Ctrl K"},
                                   {shown_title(*snapshot_), "lessons"},
                                   {"GPU", gpu_on_show(*snapshot_)},
                                   {"Text size", std::to_string(static_cast<int>(text_scale * 100 + 0.5f)) + " %"},
                                   {"Theme", std::string(theme->name)},
                                   {"Keyboard", "F1"}};
    std::vector<Menu> leads_to = {Menu::palette, Menu::lesson, Menu::gpu, Menu::size, Menu::none, Menu::help};
    constexpr std::ptrdiff_t gpu = 2;
    if (session.workspace == Workspace::home) {  // as in the bar
        items.erase(items.begin() + gpu);
        leads_to.erase(leads_to.begin() + gpu);
    }
    const int pressed = drop_down(ui, menu_row_, menu_x_, width_, height_, items);
    if (pressed >= 0) next = leads_to[static_cast<size_t>(pressed)];
    if (next == Menu::palette) palette_.open(*this);
    if (pressed >= 0 && next == Menu::none) theme = &next_theme(*theme);
    return pressed;
}

int Shell::help(Ui& ui) {
    const Theme& t = *theme;
    ui.rect({0, 0, width_, height_}, faded(data::black, 0.45f));
    // Where the window is low the list scrolls.
    constexpr float row_height = 30;
    float words = 0;
    for (const auto& row : key_rows) words = std::max(words, ui.text_width(row.does, {.size = 14}));
    const float width = std::min(232 + words + 36, width_ - 24), all = row_height * std::size(key_rows),
                list = std::min(all, height_ - 100), keys_end = std::min(232.0f, width * 0.42f);
    const Rect box{(width_ - width) / 2, std::max(8.0f, (height_ - 90 - list) / 2), width, 84 + list};
    ui.rect(box, t.panel, 6);
    ui.frame(box, t.line, 1, 6);
    ui.text(box.x + 24, box.y + 40, "Keyboard", {.size = 20, .weight = 700});
    const Rect view{box.x + 8, box.y + 62, box.w - 16, list};
    const float offset = ui.scroll("keys", view, all);
    if (menu_scroll_ != 0) ui.scroll_to("keys", offset + row_height * static_cast<float>(menu_scroll_)), ui.animate();
    menu_scroll_ = 0;
    ui.clip(view);
    float y = view.y - offset;
    for (const auto& row : key_rows) {
        ui.text(box.x + 24, y + 18, row.keys, {.size = 13, .weight = 700, .mono = true, .width = keys_end - 32});
        ui.text(box.x + keys_end, y + 18, row.does,
                {.size = 14, .color = t.ink2, .width = box.right() - 24 - box.x - keys_end});
        y += row_height;
    }
    ui.unclip();
    if (width > 400)
        ui.text(box.right() - 24, box.y + 40, "F1 or Escape closes", {.size = 13, .color = t.quiet, .align = Align::right});
    return ui.clicked({0, 0, width_, height_}) ? -2 : -1;
}

// Of those that a narrow strip has no room for one, whose own menu follows.
int Shell::more_settings_menu(Ui& ui) {
    TrainingLook::SettingMenu& menu = session.training.setting_menu;
    std::vector<MenuItem> items;
    for (const TrainingSetting& one : menu.others) items.push_back({one.name, one.value, false});
    const int pressed = drop_down(ui, menu_row_, menu.x, width_, height_, items, menu.y);
    if (pressed < 0) return pressed;
    menu.kind = menu.others[static_cast<size_t>(pressed)].kind;
    return state.animate = true, -1;
}

// One setting of the training run: what is chosen begins another run.
int Shell::setting_menu(Ui& ui) {
    using Kind = TrainingLook::SettingMenu::Kind;
    if (session.training.setting_menu.kind == Kind::more) return more_settings_menu(ui);
    TrainingSetup wanted = snapshot_->training.setup;
    std::vector<MenuItem> items;
    std::vector<TrainingSetup> leads_to;
    const auto add = [&](std::string name, std::string note, bool on, const TrainingSetup& setup) {
        items.push_back({std::move(name), std::move(note), on});
        leads_to.push_back(setup);
    };
    switch (session.training.setting_menu.kind) {
        case Kind::model:
            for (const nn::ModelRow& row : nn::models())
                add(std::string(row.name), std::string(row.summary), row.name == wanted.model,
                    setup_of(std::string(row.name)));
            break;
        case Kind::device:
            for (const bool on_gpu : {false, true}) {
                TrainingSetup setup = wanted;
                setup.on_gpu = on_gpu;
                const std::string& on = snapshot_->training.gpu;
                add(on_gpu ? "sim:" + (on.empty() ? session.gpu : on) : "host",
                    on_gpu ? "every kernel from its PTX, the step on show timed" : "this machine's processor",
                    on_gpu == wanted.on_gpu, setup);
            }
            break;
        case Kind::optimizer:
            for (size_t i = 0; i <= nn::optimizers().size(); ++i) {
                const std::string_view name = i == 0 ? "" : nn::optimizers()[i - 1].name;
                TrainingSetup setup = wanted;
                setup.optimizer = name;
                add(name.empty() ? "the model's own" : std::string(name),
                    name.empty() ? std::string(nn::model_named(wanted.model).optimizer) : "", name == wanted.optimizer,
                    setup);
            }
            break;
        case Kind::rate:
            for (const double factor : {0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0}) {
                TrainingSetup setup = wanted;
                setup.learning_rate = wanted.learning_rate * factor;
                add(fmt::format("{:.3g}", setup.learning_rate), factor == 1 ? "now" : fmt::format("{:g} times", factor),
                    factor == 1, setup);
            }
            break;
        case Kind::batch:
            for (const int64_t batch : {1, 4, 8, 16, 32, 64, 128, 256}) {
                TrainingSetup setup = wanted;
                setup.batch = batch;
                if (batch % setup.ranks != 0) setup.ranks = 1;
                add(std::to_string(batch), batch == wanted.batch ? "now" : "", batch == wanted.batch, setup);
            }
            break;
        case Kind::ranks:
            for (const int ranks : {1, 2, 4, 8}) {
                if (wanted.batch % ranks != 0) continue;
                TrainingSetup setup = wanted;
                setup.ranks = ranks;
                add(std::to_string(ranks),
                    ranks == 1 ? "no communication" : fmt::format("each takes {} of the batch", wanted.batch / ranks),
                    ranks == wanted.ranks, setup);
            }
            break;
        case Kind::more:
        case Kind::none:
            return -2;
    }
    // A run that has gone on is not thrown away without a word.
    const auto& curves = snapshot_->training.curves;
    const bool goes_on = snapshot_->source == Source::training && !curves.empty() && curves.front().loss.size() > 1;
    const bool stays = session.training.setting_menu.kind != Kind::model;
    const std::string heading = !goes_on ? ""
                                : stays  ? "Begins a new run at step 0; this one stays as a curve."
                                         : "Begins a new run at step 0, without the curves of this one.";
    const int pressed = drop_down(ui, menu_row_, session.training.setting_menu.x, width_, height_, items,
                                  session.training.setting_menu.y, heading);
    if (pressed >= 0 && !(leads_to[static_cast<size_t>(pressed)] == wanted)) {
        session.playing = false;
        if (goes_on)
            session.post(ask::Tell{stays ? "a new run stands at step 0, the one before is a curve beside it: Run trains on"
                                         : "a new run stands at step 0: Run trains on",
                                   true});
        session.post(ask::SetUpTraining{std::make_shared<const TrainingSetup>(leads_to[static_cast<size_t>(pressed)])});
    }
    return pressed;
}

// Where a term is seen, in words: "A04, step 3: Dealt out to four", "Warps by cycle".
std::string see_text(const Session& session, const lessons::Term& term) {
    if (const ViewRow* const row = view_named(term.view)) return std::string(row->title);
    for (const auto& lesson : session.home.course) {
        if (lesson->id != term.lesson) continue;
        if (term.step < 1 || static_cast<size_t>(term.step) > lesson->steps.size()) return lesson->id + ": " + lesson->title;
        return fmt::format("{}, step {}: {}", lesson->id, term.step,
                           lesson->steps[static_cast<size_t>(term.step) - 1].title);
    }
    return term.see();
}

bool Shell::term_card(Ui& ui) {
    const auto& terms = lessons::glossary().terms();
    const UiState::PointedTerm& on = state.term;
    if (on.term < 0 || static_cast<size_t>(on.term) >= terms.size() || menu_ != Menu::none) return false;
    const lessons::Term& term = terms[static_cast<size_t>(on.term)];
    if (on.pressed) return open_place(term), true;
    if (tip_away_ && !on.by_key) return false;
    const std::string leads = fmt::format("{}: {}", on.by_key ? "Enter" : "Click", see_text(session, term));
    const float width = std::min(360.0f, width_ - 28);
    const auto draw = [&](float x, float y, bool drawn) {
        const float top = y;
        if (drawn) ui.text(x, y + 18, term.name, {.size = 14, .weight = 700, .width = width});
        y += 26;
        y += ui.paragraph({x, y, width, 400}, term.says, {.size = 13}, 19, drawn) + 6;
        y += ui.paragraph({x, y, width, 60}, leads, {.size = 13, .color = theme->accent}, 19, drawn);
        return y - top;
    };
    Rect box{on.at.x - 10, on.at.bottom() + 6, width + 24, draw(0, 0, false) + 14};
    box.x = std::clamp(box.x, 4.0f, std::max(4.0f, width_ - box.w - 4));
    if (box.bottom() > height_ - 4) box.y = std::max(4.0f, on.at.y - box.h - 6);
    ui.rect(box, theme->panel2, 5);
    ui.frame(box, theme->ink3, 1, 5);
    draw(box.x + 12, box.y + 6, true);
    return true;
}

// The lesson's step, or the view alone.
void Shell::open_place(const lessons::Term& term) {
    session.playing = false;
    const auto& from = session.lesson.lesson;
    const bool stays = from && from->id == term.lesson && session.lesson.step == std::max(0, term.step - 1);
    if (from && session.workspace == Workspace::learn && !stays) came_from_ = {from->id, session.lesson.step};
    if (!term.view.empty()) {
        show_alone(term.view);
        return;
    }
    go_to_step(term.lesson, std::max(0, term.step - 1));
}

void Shell::go_to_step(const std::string& lesson, int step) {
    choose_workspace(Workspace::learn);
    const auto& open = session.lesson.lesson;
    if (!open || open->id != lesson) return session.post(ask::OpenLesson{lesson, step});
    if (static_cast<size_t>(step) >= open->steps.size()) return;
    session.lesson.step = step;
    session.post(ask::ShowLessonStep{step});
}

void Shell::go_back() {
    const auto [lesson, step] = std::exchange(came_from_, {});
    maximised_.clear(), alone_.clear();
    if (!lesson.empty()) go_to_step(lesson, step);
}

void Shell::tooltip(Ui& ui) {
    if (term_card(ui)) return;
    if (state.tooltip.empty() || menu_ != Menu::none || tip_away_ || still) return;
    std::vector<std::string_view> lines;
    const float most = std::min(620.0f, width_ - 28);  // longer lines wrap
    float width = 0, height = 11;
    for (size_t at = 0; at <= state.tooltip.size();) {
        size_t end = state.tooltip.find('\n', at);
        if (end == std::string::npos) end = state.tooltip.size();
        lines.push_back(std::string_view(state.tooltip).substr(at, end - at));
        width = std::max(width, std::min(most, ui.text_width(lines.back(), {.size = 13})));
        at = end + 1;
    }
    const auto wrap = [&](float x, float y, std::string_view line, bool draw) {
        return std::max(19.0f, ui.paragraph({x, y, width + 1, 600}, line, {.size = 13}, 19, draw));
    };
    for (const std::string_view line : lines) height += wrap(0, 0, line, false);
    Rect box{ui.mouse.x + 14, ui.mouse.y + 18, width + 20, height};
    box.x = std::max(4.0f, std::min(box.x, width_ - box.w - 4));
    if (box.bottom() > height_ - 4) box.y = ui.mouse.y - height - 8;
    ui.rect(box, theme->panel2, 4);
    ui.frame(box, theme->ink3, 1, 4);
    float y = box.y + 5;
    for (const std::string_view line : lines) y += wrap(box.x + 10, y, line, true);
}

}  // namespace lockstep::gui
