// One frame: read the newest snapshot, take the keys, draw bars and panels, then menus on top. Layout units throughout.
// shell_keys.cpp: keys; shell_body.cpp: panels; shell_follow.cpp: what follows the snapshot; shell_remembered.cpp: what is
// kept from start to start.
#include "app/gui/shell/shell.h"

#include <imgui.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/lesson/certificate.h"
#include "core/base/diagnostic.h"
#include "core/model/gpus/gpu_file.h"
#include "core/scene/tape/tape_program.h"
#include "lessons/player/glossary/glossary.h"
#include "lessons/player/puzzles/design_file.h"

namespace lockstep::gui {

namespace {

constexpr float top_height = 44;

std::vector<UiState::TermSpan> terms_in(std::string_view text) {
    std::vector<UiState::TermSpan> spans;
    for (const lessons::Glossary::Found& found : lessons::glossary().in(text))
        spans.push_back({found.begin, found.end, static_cast<int>(found.term)});
    return spans;
}

}  // namespace

Shell::Shell(Session& owner, const Theme& chosen, float scale) : session(owner), theme(&chosen), text_scale(scale) {
    for (const ViewRow& row : views()) views_.push_back({&row, row.make()});
    if (!lessons::glossary_problem().empty()) session.post(ask::Tell{lessons::glossary_problem()});
    for (const auto& folder : lessons::lesson_folders()) {
        if (auto lesson = lessons::load_lesson(folder)) {
            session.home.course.push_back(std::make_shared<const lessons::Lesson>(std::move(lesson.value())));
        } else {
            session.post(ask::Tell{"a lesson is left out: " + lesson.error().where.file + ":" +
                                   std::to_string(lesson.error().where.line) + ": " + lesson.error().message});
        }
    }
}

Shell::Shown* Shell::shown(std::string_view name) {
    for (Shown& view : views_)
        if (view.row->name == name) return &view;
    return nullptr;
}

bool Shell::prepare(float screen_scale) {
    // What nobody projects, a small window, gets smaller letters than a class is shown.
    constexpr float smallest_class = 853;  // layout units that are as wide as a window of the full size
    const float across = width_ * fonts.scale / screen_scale;
    const float large = across <= 0 || across >= smallest_class ? presenter_scale
                                                                : std::max(1.0f, presenter_scale * across / smallest_class);
    const float text = presenter.on && !presenter.paper ? std::max(text_scale, large) : text_scale;
    const float wanted = std::round(text * screen_scale * 100) / 100;
    if (fonts.scale == wanted && !(fonts.sheet && fonts.sheet->full())) return false;
    ImGui::GetStyle() = ImGuiStyle();  // pristine, then scaled: scaling twice would add up
    ImGui::GetStyle().ScaleAllSizes(wanted);
    ImGui::GetStyle().AntiAliasedLinesUseTex = true;
    build_fonts(fonts, *ImGui::GetIO().Fonts, wanted);
    if (!fonts.missing.empty() && !told_fonts_) {
        told_fonts_ = true;
        session.post(ask::Tell{"the text is drawn with a stand-in: this file of the program is missing: " + fonts.missing});
    }
    return true;
}

void Shell::set_text_scale(float scale) {
    text_scale = std::clamp(std::round(scale * 100) / 100, 0.75f, 2.5f);
}

// The Kernel workspace shows the learner's own run, Learn the lesson's, whatever was looked at before.
void Shell::enter_workspace() {
    bring_source();
    if (session.workspace == entered_) return;
    if (entered_ == Workspace::home && session.workspace != Workspace::machine) session.playing = false;   // its tiles did
    if (entered_ == Workspace::build && session.workspace != Workspace::machine) session.playing = false;  // its die did
    entered_ = session.workspace;
    if (entered_ == Workspace::home) {
        session.read_progress();
        session.playing = !state.calm;
    }
    const auto chosen = grains_.find(session.workspace);
    if (chosen != grains_.end())
        session.grain = chosen->second;
    else if (entered_ == Workspace::machine)  // it is watched cycle by cycle, from wherever one comes
        session.grain = row_of(Workspace::machine).grain;
    if (entered_ == Workspace::training && session.steps_later > 0)
        session.post(ask::Train{std::exchange(session.steps_later, 0)});
    if (entered_ == Workspace::cluster) {
        session.playing = false;
        session.grain = Grain::action;
        if (!snapshot_->cluster && !session.cluster.asked) ask_cluster(session, {});
    }
    if (entered_ != Workspace::machine) session.build.inside = false;
    if (entered_ == Workspace::build) {
        session.playing = !state.calm;  // the die lives
        if (!snapshot_->build) session.build.open_first(session);
        session.read_progress();
    }
    if (entered_ == Workspace::kernel) {
        session.playing = false;
        if (session.desk.document().is_tape())
            session.grain = Grain::node;
        else if (chosen == grains_.end() || session.grain == Grain::node)
            session.grain = Grain::instruction;
    }
}

// Learn, Kernel and Training show their own source's run, whatever came in between; the others show what came last.
void Shell::bring_source() {
    const Source shown = snapshot_->source;
    std::optional<Source> wanted;
    if (session.workspace == Workspace::kernel) wanted = Source::own;
    if (session.workspace == Workspace::learn && session.lesson.lesson) wanted = Source::lesson;
    // A lesson's is looked at here too.
    const bool of_lesson = shown == Source::lesson && (snapshot_->training.step || snapshot_->host);
    // Nor is a tensor program of one's own pushed away where no run is open.
    const bool of_tape = shown == Source::own && snapshot_->tape && !snapshot_->training.open;
    if (session.workspace == Workspace::training && !of_lesson && !of_tape) wanted = Source::training;
    if (shown == Source::none && (snapshot_->version == 0 || !snapshot_->busy.empty())) wanted.reset();  // it is on its way
    if (!maximised_.empty() && maximised_ == alone_) wanted.reset();
    if (!wanted || *wanted == shown)
        asked_source_.reset();
    else if (asked_source_ != wanted)
        session.post(ask::Bring{*wanted}), asked_source_ = wanted;
}

// Files that were dropped onto the window: kernels, runs, designs of a GPU. What is wrong with any of them is said together.
void Shell::open_files(const std::vector<std::string>& files) {
    session.post(ask::Dismiss{});  // what was wrong with earlier ones
    std::string told;
    const auto tell = [&](const std::string& sentence) { told += (told.empty() ? "" : "; ") + sentence; };
    for (const std::string& file : files) {
        if (is_run_file(file)) {
            if (const Result<RunFile> run = read_run_file(file); run.ok())
                open_run(run.value());
            else
                tell(render(run.error()));
            continue;
        }
        if (model::is_gpu_file(file)) {  // the design of a puzzle opens there, any other becomes the GPU of all workspaces
            const Result<model::GpuSpec> gpu = model::gpu_named(file);
            const std::filesystem::path puzzle = lessons::puzzle_of_design(file);
            if (!gpu) {
                tell(render(gpu.error()));
            } else if (puzzle.empty()) {
                session.post(ask::SetGpu{file});
            } else {
                choose_workspace(Workspace::build);
                session.build.begin_with(gpu.value());
                session.build.open(session, puzzle.string());
            }
            continue;
        }
        if (const auto problem = session.desk.open(file))
            tell(*problem);
        else
            choose_workspace(Workspace::kernel);
        if (!session.desk.note.empty()) tell(std::exchange(session.desk.note, {}));
    }
    if (!told.empty()) session.post(ask::Tell{told});
}

void Shell::choose_workspace(Workspace chosen) {
    session.workspace = chosen;
    maximised_.clear();
    menu_ = Menu::none;
}

void Shell::run_own() {
    runs_own_ = true;
    session.desk.run(session);  // however long it takes: it was asked for
}

bool Shell::show_alone(std::string_view view) {
    const ViewRow* const row = view_named(view);
    if (row == nullptr) return false;
    session.workspace = row->workspace;
    maximised_ = alone_ = view;
    session.cluster.collective = row->collective;
    return true;
}

void Shell::show_page(int page) {
    if (session.workspace == Workspace::sm) session.sm.page = page <= 2 ? static_cast<SmPage>(page) : SmPage::one_run;
    const bool kernel = session.workspace == Workspace::kernel;
    const LayoutNode& tree = (kernel ? scene_on_show(session) : scene_named(session.workspace, {})).tree;
    const std::string id = pages_id(tree);
    if (id.empty()) return;
    tabs_[id] = page;
    tabs_[root_id(tree)] = page > 0 ? INT_MAX : 0;  // it stands in the last
}

// A tooltip is for the pointer that came to rest: it goes with a key, a press or the wheel, and a while after what is below
// plays.
void Shell::rest_pointer(const Input& input) {
    constexpr double plays_under_it = 3;  // seconds
    const Point at{input.mouse_x, input.mouse_y};
    if (std::abs(at.x - tip_pointer_.x) + std::abs(at.y - tip_pointer_.y) > 2) {
        tip_pointer_ = at;
        tip_moved_at_ = now_;
        tip_away_ = false;
    }
    const bool acted = !input.keys.empty() || input.clicked || input.wheel != 0;
    if (acted || (session.playing && now_ - tip_moved_at_ > plays_under_it)) tip_away_ = true;
}

void Shell::frame(const Input& input, float width, float height, double now) {
    snapshot_ = session.snapshot();
    now_ = now;
    const float scale = fonts.scale;
    width_ = width / scale;
    height_ = height / scale;
    state.begin_frame();
    state.find_terms = {};
    if (!presenter.on && !still) state.find_terms = terms_in;
    state.mouse_clicked = input.clicked;
    state.mouse_double = input.double_clicked;
    state.mouse_down = input.down;
    state.mouse_released = input.released;
    state.wheel = input.wheel;
    state.mouse_shift = input.shift;
    if (input.clicked) keyboard_ = false, state.focused = 0;
    if (!input.dropped.empty()) open_files(input.dropped);
    if (!session.desk.note.empty()) session.post(ask::Tell{std::exchange(session.desk.note, {})});
    const bool was_training = session.playing && session.grain == Grain::training_step;
    const bool had_menu = menu_ != Menu::none;
    const uint32_t focused = keyboard_ ? state.focused : 0;
    rest_pointer(input);
    if (into_menu_ > 0) {  // its rows are known a frame after it was drawn
        state.animate = true;
        const auto row = static_cast<size_t>(menu_row_);
        if (--into_menu_ == 0 && menu_ != Menu::none && menu_ != Menu::palette && menu_ != Menu::help &&
            row < state.last_ring.size()) {
            state.focused = state.last_ring[row];
            state.focus_moved = true;
        }
    }
    keys(input);
    state.calm = motion == "reduced" || (motion.empty() && desktop_is_calm);
    session.less_motion = state.calm;
    adopt(snapshot_);
    return_to_play_head();
    follow_place();
    play(now);
    enter_workspace();
    const bool page = row_of(session.workspace).page;
    if (session.workspace == Workspace::home)
        drive_home();
    else
        note_place(session.home.left);
    if (session.workspace == Workspace::kernel || runs_own_ || session.desk.due())
        if (session.desk.update(session, *snapshot_, now)) state.animate = true;
    if (runs_own_ && !stays_ && snapshot_->own.compiled && !snapshot_->own.compiled->ok)
        session.workspace = Workspace::kernel;
    if (session.workspace == Workspace::kernel || snapshot_->own.result) runs_own_ = stays_ = false;

    refresh_hatches(fonts, *ImGui::GetIO().Fonts);
    Ui ui;
    ui.list = ImGui::GetBackgroundDrawList();
    ui.theme = theme;
    ui.fonts = &fonts;
    ui.state = &state;
    ui.scale = scale;
    ui.now = now;
    ui.mouse = {input.mouse_x < 0 ? -1e6f : input.mouse_x / scale, input.mouse_y < 0 ? -1e6f : input.mouse_y / scale};
    ui.enabled = menu_ == Menu::none;
    session.learn.presented = presenter.on;
    state.no_kernel_because = session.desk.refused_launch(*snapshot_);
    state.no_kernel_hint = session.workspace == Workspace::kernel ? "" : "Key 7 leads to its launch.";
    if (certificate) {
        draw_certificate(ui, *certificate, certificate_name, {0, 0, width_, height_});
        return state.end_frame();
    }
    if (presenter.on) {
        present(ui, *snapshot_);
        if (was_training && !session.playing) session.post(ask::Pause{});
        overlay(ui);
        return state.end_frame();
    }
    // The window is cleared to the panels' colour; what shows between them is drawn here.
    const float bar = transport_height_in(height_), body_bottom = height_ - (page ? 0 : bar);
    if (page) {
        ui.rect({0, top_height, width_, body_bottom - top_height}, theme->background);
    } else {
        ui.rect({0, top_height, width_, desk_margin}, theme->background);
        ui.rect({0, body_bottom - desk_margin, width_, desk_margin}, theme->background);
        ui.rect({0, top_height, desk_margin, body_bottom - top_height}, theme->background);
        ui.rect({width_ - desk_margin, top_height, desk_margin, body_bottom - top_height}, theme->background);
    }
    top_bar(ui, *snapshot_);
    const float margin = page ? 0 : desk_margin;
    float top = top_height + desk_margin;
    top += problem_strip(ui, *snapshot_, top);
    top += stale_strip(ui, *snapshot_, top);
    top += no_kernel_strip(ui, *snapshot_, top);
    top += cause_strip(ui, *snapshot_, top);
    if (page && top == top_height + desk_margin) top = top_height;
    body(ui, {margin, top, width_ - 2 * margin, body_bottom - margin - top});
    if (!page) transport(ui, *snapshot_, {0, body_bottom, width_, bar});
    if (was_training && !(session.playing && session.grain == Grain::training_step)) session.post(ask::Pause{});
    if (std::exchange(session.home.asks_search, false)) open_palette();
    grains_[*entered_] = session.grain;
    keep_remembered();
    tooltip(ui);
    overlay(ui);
    // The keyboard goes into a menu and comes back to where it was.
    if (!had_menu && menu_ != Menu::none) menu_from_ = focused;
    if (had_menu && menu_ == Menu::none) state.focused = menu_from_;
    state.end_frame();
}

std::string Shell::describe(std::string_view name) {
    snapshot_ = session.snapshot();
    adopt(snapshot_);
    follow_place();
    if (session.workspace == Workspace::kernel) session.desk.update(session, *snapshot_, now_ += 1);
    if (session.workspace == Workspace::home) now_ += 1, drive_home();
    if (const Shown* one = shown(name)) return one->view->describe(session, focus) + "\n";
    const std::optional<Workspace> workspace = workspace_named(name);
    if (!workspace) throw Failure("there is no view '" + std::string(name) + "'");
    std::string all;
    const std::string_view above_all = row_of(*workspace).strip;
    if (!above_all.empty()) all += shown(above_all)->view->describe(session, focus) + "\n";
    for (const std::string& cause : told_causes(*snapshot_, *workspace)) all += "  " + cause + "\n";
    const LayoutNode& tree = scene_on_show(session, *workspace).tree;
    const Arrangement plan = arrange(tree, {0, 0, 4000, 4000}, [](const std::string&) { return 0; });
    for (const Placed& panel : plan.panels)
        if (const Shown* view = shown(panel.view))
            all += std::string(view->row->title) + "\n" + view->view->describe(session, focus) + "\n\n";
    return all;
}

}  // namespace lockstep::gui
