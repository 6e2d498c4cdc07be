// One frame: read the newest snapshot, take the keys, draw bars and panels, then menus on top. Layout units throughout.
#include "app/gui/shell.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "core/base/diagnostic.h"

namespace lockstep::gui {

namespace {

constexpr float top_height = 44, transport_height = 56, margin = 8;
constexpr int64_t first_stretch = 108;  // cycles of the first look: 8 wide each in the timeline at 1600

std::string scene_view_of(const Session& session) {
    const auto& lesson = session.lesson.lesson;
    if (!lesson) return "divergence";
    // The scene of this step, else of the nearest step before it.
    for (int i = std::min(session.lesson.step, static_cast<int>(lesson->steps.size()) - 1); i >= 0; --i)
        if (const auto& scenes = lesson->steps[static_cast<size_t>(i)].scenes;
            !scenes.empty() && !scenes.front().view.empty())
            return scenes.front().view;
    return "divergence";
}

// Number of the warp's first instruction that belongs to the source line; -1: it never gets there.
int64_t issue_of_line(const Snapshot& snapshot, int line) {
    const auto& steps = snapshot.history->steps;
    const auto& program = snapshot.kernel->program->instructions;
    for (size_t i = 0; i < steps.size(); ++i)
        if (steps[i].pc < program.size() && program[steps[i].pc].line == line) return static_cast<int64_t>(i);
    return -1;
}

}  // namespace

Shell::Shell(Session& owner, const Theme& chosen, float scale) : session(owner), theme(&chosen), text_scale(scale) {
    for (const ViewRow& row : views()) views_.push_back({&row, row.make()});
    for (const auto& folder : lessons::lesson_folders()) {
        if (auto lesson = lessons::load_lesson(folder)) {
            lesson_ids_.push_back(lesson.value().id);
            lesson_titles_.push_back(lesson.value().id + "  " + lesson.value().title);
        }
    }
}

Shell::Shown* Shell::shown(std::string_view name) {
    for (Shown& view : views_)
        if (view.row->name == name) return &view;
    return nullptr;
}

bool Shell::prepare(float screen_scale) {
    const float wanted = std::round(text_scale * screen_scale * 100) / 100;
    if (fonts.scale == wanted) return false;
    ImGui::GetStyle() = ImGuiStyle();  // pristine, then scaled: scaling twice would add up
    ImGui::GetStyle().ScaleAllSizes(wanted);
    ImGui::GetStyle().AntiAliasedLinesUseTex = true;
    build_fonts(fonts, *ImGui::GetIO().Fonts, wanted);
    return true;
}

void Shell::set_text_scale(float scale) {
    text_scale = std::clamp(std::round(scale * 20) / 20, 0.75f, 2.5f);
}

void Shell::choose_workspace(std::string_view name) {
    session.workspace = name;
    maximised_.clear();
    menu_ = Menu::none;
}

bool Shell::show_alone(std::string_view view) {
    const Shown* found = shown(view);
    if (found == nullptr) return false;
    session.workspace = found->row->workspace;
    maximised_ = view;
    return true;
}

void Shell::adopt(const std::shared_ptr<const Snapshot>& snapshot) {
    session.adopt_results(focus);
    if (snapshot->kernel && snapshot->kernel != kernel_) {
        const bool same_program = kernel_ && kernel_->program == snapshot->kernel->program;
        kernel_ = snapshot->kernel;
        const KernelTrace& trace = kernel_->result.trace;
        session.cycles_begin = session.cycles_end = 0;
        if (!same_program || focus.warp >= static_cast<int32_t>(trace.warps.size())) {
            focus.warp = trace.warps.empty() ? -1 : 0;
            session.history_step = 0;
            focus.pc = focus.line = -1;
            const int64_t begin = busiest(trace);
            if (begin >= 0 && !session.lesson.lesson)
                session.cycles_begin = begin, session.cycles_end = begin + first_stretch;
        }
        focus.time = std::clamp<int64_t>(focus.time, 0, std::max<int64_t>(0, trace.cycles - 1));
        asked_ = {};
        if (session.grain == Grain::instruction) move(session, focus, *snapshot, Grain::instruction, 0);
    }
    if (session.lesson.lesson && (grain_lesson_ != session.lesson.lesson || grain_step_ != session.lesson.step)) {
        grain_lesson_ = session.lesson.lesson;
        grain_step_ = session.lesson.step;
        const std::string view = scene_view_of(session);
        session.grain = view == "training" || view == "graph" ? Grain::kernel
                        : view == "divergence"                ? Grain::instruction
                                                              : Grain::cycle;
    }
    reveal(*snapshot);
    if (snapshot->step) {
        focus.step = static_cast<int32_t>(snapshot->step->step);
        const auto launches = static_cast<int32_t>(snapshot->step->launches.size());
        if (focus.launch >= launches) focus.launch = launches - 1;
    }
    if (snapshot->kernel && focus.warp >= 0 && (focus.warp != asked_.warp || !(asked_.sm == 1))) {
        asked_.warp = focus.warp;
        asked_.sm = 1;  // asked for this kernel
        asked_step_ = -1;
        session.post({Request::Kind::focus_warp, focus.warp, {}});
    }
    // The registers follow the clock: the instruction that the focused warp is at.
    if (snapshot->kernel && focus.warp >= 0 &&
        focus.warp < static_cast<int32_t>(snapshot->kernel->result.trace.warps.size())) {
        const KernelTrace& trace = snapshot->kernel->result.trace;
        const auto& issues = trace.warps[static_cast<size_t>(focus.warp)].issues;
        if (session.grain != Grain::instruction && focus.time >= 0 && session.workspace != "training") {
            const auto next = std::partition_point(issues.begin(), issues.end(),
                                                   [&](uint32_t i) { return trace.issues[i].cycle < focus.time; });
            if (!issues.empty())
                session.history_step = std::min<int64_t>(next - issues.begin(), static_cast<int64_t>(issues.size()) - 1);
        }
        if (snapshot->history && session.history_step != asked_step_ &&
            session.history_step < static_cast<int64_t>(snapshot->history->steps.size())) {
            asked_step_ = session.history_step;
            session.post({Request::Kind::lanes_at, session.history_step, {}});
        }
    }
}

// The first look at a kernel: the stretch of 108 cycles in which most happens, and there a warp whose long wait began in
// view.
int64_t Shell::busiest(const KernelTrace& trace) {
    constexpr int64_t half = first_stretch / 2;
    focus.time = 0;
    if (trace.warps.empty() || trace.cycles <= first_stretch) return -1;
    // Warp-cycles by reason in every half stretch; the most varied pair of neighbours wins.
    constexpr auto reasons = static_cast<size_t>(StallReason::count);
    std::vector<std::array<float, reasons>> counts(static_cast<size_t>(trace.cycles / half) + 2);
    for (const IssueRecord& issue : trace.issues)
        if (issue.cycle >= 0 && issue.cycle <= trace.cycles) counts[static_cast<size_t>(issue.cycle / half)][0] += 1;
    for (const WarpTrack& warp : trace.warps)
        for (const StallRun& run : warp.runs)
            for (int64_t at = std::max<int64_t>(0, run.begin); at < std::min(run.end, trace.cycles);
                 at = (at / half + 1) * half)
                counts[static_cast<size_t>(at / half)][static_cast<size_t>(run.reason)] +=
                    static_cast<float>(std::min(run.end, (at / half + 1) * half) - at);
    size_t best = 0;
    float most = -1;
    for (size_t i = 0; i + 1 < counts.size(); ++i) {
        float total = 0, variety = 0;
        for (size_t r = 0; r < reasons; ++r) total += counts[i][r] + counts[i + 1][r];
        for (size_t r = 0; r < reasons && total > 0; ++r) {
            const float share = (counts[i][r] + counts[i + 1][r]) / total;
            if (share > 0) variety -= share * std::log(share);
        }
        variety *= std::sqrt(total);  // many warps at work
        if (variety > most) most = variety, best = i;
    }
    const int64_t begin = static_cast<int64_t>(best) * half;
    focus.time = std::min(begin + half, std::max<int64_t>(0, trace.cycles - 1));
    int64_t best_wait = 0;
    for (size_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& run : trace.warps[w].runs) {
            if (run.cause < 0 || run.begin > focus.time || run.end <= focus.time) continue;
            const int64_t cause = trace.issues[static_cast<size_t>(run.cause)].cycle;
            if (cause < begin || cause >= run.begin + 1) continue;
            const int64_t wait = (run.end - run.begin) * (run.reason == StallReason::long_scoreboard ? 1000 : 1);
            if (wait > best_wait) best_wait = wait, focus.warp = static_cast<int32_t>(w);
        }
    return begin;
}

// While a prediction of this step is open, the warp's instructions after the step's `until="issue(line:N)"` stay hidden.
void Shell::reveal(const Snapshot& snapshot) {
    session.reveal_steps = -1;
    const LessonState& lesson = session.lesson;
    const auto at = static_cast<size_t>(std::max(0, lesson.step));
    if (!lesson.lesson || at >= lesson.lesson->steps.size()) return;
    const lessons::Step& step = lesson.lesson->steps[at];
    const bool open =
        at < lesson.predictions.size() &&
        std::any_of(lesson.predictions[at].begin(), lesson.predictions[at].end(), [](const auto& p) { return !p.locked; });
    int64_t until = -1;
    for (const std::string& wish : step.until) {
        const size_t line_at = wish.find("line:");
        const int line = line_at == std::string::npos ? 0 : std::atoi(wish.c_str() + line_at + 5);
        if (line <= 0 || !snapshot.history || !snapshot.kernel) continue;
        if (const int64_t at_line = issue_of_line(snapshot, line); at_line >= 0 && until < 0) until = at_line + 1;
    }
    // Without `until`, what comes before the line that is asked about may be seen.
    if (until < 0 && open && snapshot.history && snapshot.kernel)
        for (const lessons::Predict& predict : step.predicts) {
            const size_t line_at = predict.of.find("@line:");
            const int line = line_at == std::string::npos ? 0 : std::atoi(predict.of.c_str() + line_at + 6);
            if (line > 0) until = std::max<int64_t>(1, issue_of_line(snapshot, line));
        }
    if (open) session.reveal_steps = std::max<int64_t>(until, 0);
    // A step begins where its `until` says, once the warp's history is there.
    if (until >= 0 && (reveal_step_ != lesson.step || reveal_history_ != snapshot.history)) {
        reveal_step_ = lesson.step;
        reveal_history_ = snapshot.history;
        session.history_step = until - 1;
        move(session, focus, snapshot, Grain::instruction, 0);
    }
    if (session.reveal_steps > 0) session.history_step = std::min(session.history_step, session.reveal_steps - 1);
}

void Shell::play(double now) {
    if (!session.playing) return;
    const double rate = session.grain == Grain::cycle         ? 30
                        : session.grain == Grain::instruction ? 4
                                                              : 1.5;  // moves a second
    if (session.grain == Grain::training_step) {
        if (last_play_ == 0) session.post({Request::Kind::train, -1, {}});
        last_play_ = now;
        return;
    }
    if (last_play_ == 0) last_play_ = now;
    const auto moves = static_cast<int>((now - last_play_) * rate);
    if (moves <= 0) return;
    last_play_ += moves / rate;
    const Focus before = focus;
    const int64_t step = session.history_step;
    move(session, focus, *snapshot_, session.grain, std::min(moves, 8));
    if (before == focus && step == session.history_step) session.playing = false;  // the end
}

void Shell::frame(const Input& input, float width, float height, double now) {
    snapshot_ = session.snapshot();
    now_ = now;
    const float scale = fonts.scale;
    width_ = width / scale;
    height_ = height / scale;
    state.begin_frame();
    state.mouse_clicked = input.clicked;
    state.mouse_double = input.double_clicked;
    state.mouse_down = input.down;
    state.mouse_released = input.released;
    state.wheel = input.wheel;
    if (input.clicked) keyboard_ = false, state.focused = 0;
    const bool was_training = session.playing && session.grain == Grain::training_step;
    keys(input);
    adopt(snapshot_);
    play(now);

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
    // The window is cleared to the panels' colour; what shows between them is drawn here.
    const float body_bottom = height_ - transport_height;
    ui.rect({0, top_height, width_, margin}, theme->background);
    ui.rect({0, body_bottom - margin, width_, margin}, theme->background);
    ui.rect({0, top_height, margin, body_bottom - top_height}, theme->background);
    ui.rect({width_ - margin, top_height, margin, body_bottom - top_height}, theme->background);
    top_bar(ui, *snapshot_);
    const float strip = problem_strip(ui, *snapshot_, top_height + margin);
    const float top = top_height + margin + strip;
    body(ui, {margin, top, width_ - 2 * margin, height_ - transport_height - margin - top});
    transport(ui, *snapshot_, {0, height_ - transport_height, width_, transport_height});
    if (was_training && !(session.playing && session.grain == Grain::training_step))
        session.post({Request::Kind::pause, 0, {}});
    tooltip(ui);
    overlay(ui);
    state.end_frame();
}

void Shell::body(Ui& ui, const Rect& area) {
    const auto draw = [&](std::string_view name, const Rect& where) {
        Shown* view = shown(name);
        if (view == nullptr) return;
        ui.rect({where.right(), where.y, margin, where.h + margin}, theme->background);
        ui.rect({where.x, where.bottom(), where.w, margin}, theme->background);
        ui.push_scope(name);
        ui.clip(where);
        view->view->draw(ui, session, focus, where);
        ui.unclip();
        const Rect mark{where.right() - 30, where.y + 4, 24, 22};
        const bool whole = maximised_ == name;
        if (ui.area("maximise", mark)) maximised_ = whole ? std::string() : std::string(name);
        ui.icon(where.right() - 17, where.y + 20, whole ? Icon::restore : Icon::maximise,
                {.size = 11, .color = ui.hovered(mark) ? theme->ink : theme->ink3, .align = Align::center});
        if (ui.hovered(mark)) ui.tooltip(whole ? "back to the workspace" : "this picture alone");
        ui.pop_scope();
    };
    if (!maximised_.empty()) return draw(maximised_, area);
    const Arrangement plan = arrange(layout_of(session.workspace, scene_view_of(session)), area,
                                     [&](const std::string& id) { return tabs_[id]; });
    for (const TabStrip& strip : plan.tabs) {
        ui.rect({strip.area.x, strip.area.y - margin, strip.area.w + margin, strip.area.h + margin + 4}, theme->background);
        ui.push_scope(strip.id);
        float x = strip.area.x;
        for (size_t i = 0; i < strip.titles.size(); ++i) {
            std::string title;
            for (size_t at = 0; at < strip.titles[i].size();) {
                size_t end = strip.titles[i].find('+', at);
                if (end == std::string::npos) end = strip.titles[i].size();
                const Shown* view = shown(std::string_view(strip.titles[i]).substr(at, end - at));
                if (view != nullptr) title += (title.empty() ? "" : ", ") + std::string(view->row->title);
                at = end + 1;
            }
            const float most = strip.area.w / static_cast<float>(strip.titles.size()) - 4;
            while (title.size() > 4 && ui.chip_width(title) > most)
                title.resize(title.size() > 5 && title.find(',') != std::string::npos ? title.rfind(',') : title.size() - 1);
            if (ui.chip(x, strip.area.y, title, static_cast<int>(i) == strip.selected))
                tabs_[strip.id] = static_cast<int>(i);
        }
        ui.pop_scope();
    }
    for (const Placed& panel : plan.panels) draw(panel.view, panel.area);
}

void Shell::keys(const Input& input) {
    for (const KeyPress& key : input.keys) {
        const int way = key.code == KeyCode::left ? -1 : 1;
        const auto give = [&](Key which) { state.keys[static_cast<size_t>(which)] = true; };
        if (key.control) {
            if (key.code == KeyCode::plus || key.code == static_cast<KeyCode>('=')) set_text_scale(text_scale + 0.1f);
            if (key.code == KeyCode::minus) set_text_scale(text_scale - 0.1f);
            if (key.code == KeyCode::zero) set_text_scale(1);
            continue;
        }
        switch (key.code) {
            case KeyCode::escape:
                if (menu_ != Menu::none)
                    menu_ = Menu::none;
                else if (state.focused != 0)
                    state.focused = 0;
                else
                    maximised_.clear();
                continue;
            case KeyCode::f1:
                menu_ = menu_ == Menu::help ? Menu::none : Menu::help;
                continue;
            case KeyCode::f11:
                toggles_fullscreen = true;
                continue;
            case KeyCode::tab:
                keyboard_ = true;
                state.move_focus(key.shift ? -1 : 1);
                continue;
            case KeyCode::enter:
                if (state.focused != 0)
                    state.activate = true;
                else
                    give(Key::enter);
                continue;
            case KeyCode::space:
                if (keyboard_ && state.focused != 0)
                    state.activate = true;
                else
                    session.playing = !session.playing, last_play_ = 0;
                continue;
            case KeyCode::left:
            case KeyCode::right: {
                if (state.slider_was_focused) {
                    give(way < 0 ? Key::left : Key::right);
                    continue;
                }
                const std::vector<Grain> grains = grains_of(session, *snapshot_);
                auto at = std::find(grains.begin(), grains.end(), session.grain);
                if (key.shift && at != grains.end() && at + 1 != grains.end()) ++at;
                session.playing = false;
                move(session, focus, *snapshot_, at == grains.end() ? session.grain : *at, way);
                continue;
            }
            case KeyCode::home:
                give(Key::home);
                session.cycles_begin = session.cycles_end = 0;
                move(session, focus, *snapshot_, session.grain, -1, true);
                continue;
            case KeyCode::end:
                give(Key::end);
                move(session, focus, *snapshot_, session.grain, 1, true);
                continue;
            case KeyCode::up:
                give(Key::up);
                continue;
            case KeyCode::down:
                give(Key::down);
                continue;
            case KeyCode::page_up:
                give(Key::page_up);
                continue;
            case KeyCode::page_down:
                give(Key::page_down);
                continue;
            case KeyCode::w:
                give(Key::w);
                continue;
            case KeyCode::a:
                give(Key::a);
                continue;
            case KeyCode::s:
                give(Key::s);
                continue;
            case KeyCode::d:
                give(Key::d);
                continue;
            case KeyCode::plus:
                give(Key::plus);
                continue;
            case KeyCode::minus:
                give(Key::minus);
                continue;
            default:
                break;
        }
        const int digit = static_cast<int>(key.code) - '1';
        static constexpr std::string_view spaces[] = {"learn", "sm", "training"};
        if (digit >= 0 && digit < 3) choose_workspace(spaces[digit]);
        if (key.code == static_cast<KeyCode>('T')) theme = &next_theme(*theme);
    }
    if (menu_ != Menu::none) std::fill(std::begin(state.keys), std::end(state.keys), false);
}

std::string Shell::describe(std::string_view name) {
    snapshot_ = session.snapshot();
    adopt(snapshot_);
    if (const Shown* one = shown(name)) return one->view->describe(session, focus) + "\n";
    std::string all;
    for (const Placed& panel :
         arrange(layout_of(name, scene_view_of(session)), {0, 0, 4000, 4000}, [](const std::string&) { return 0; }).panels)
        if (const Shown* view = shown(panel.view))
            all += std::string(view->row->title) + "\n" + view->view->describe(session, focus) + "\n\n";
    return all;
}

}  // namespace lockstep::gui
