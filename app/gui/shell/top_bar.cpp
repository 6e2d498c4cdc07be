// The bar on top (44 high): logo, workspaces, lesson, GPU, text size, theme, help, as much of it in words as fits; below it
// the strip of a problem.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "core/model/gpus/gpu_file.h"

namespace lockstep::gui {

// How the bar is laid out where it gets narrow: first what explains goes, then words become signs, then menus.
struct BarPlan {
    bool name = true;        // "Lockstep" beside its mark
    float tab_padding = 24;  // of a workspace's name, both sides
    bool words = true;       // "GPU  V100", not "V100"
    bool chips = true;       // one chip a setting; else one menu for all
    bool tabs = true;        // all workspaces side by side; else a menu
    float lesson = 130;      // the least that the lesson's title gets; 0: it is in the menu
};

namespace {

constexpr BarPlan plans[] = {{},
                             {.tab_padding = 22},
                             {.tab_padding = 16},
                             {.name = false, .tab_padding = 16},
                             {.name = false, .tab_padding = 16, .words = false, .lesson = 100},
                             {.name = false, .tab_padding = 16, .chips = false, .lesson = 90},
                             {.name = false, .tab_padding = 12, .chips = false, .lesson = 0},
                             {.name = false, .chips = false, .tabs = false, .lesson = 90},
                             {.name = false, .chips = false, .tabs = false, .lesson = 0}};

float begin_of(const BarPlan& plan) {  // of the tabs
    return plan.name ? 150.0f : 42.0f;
}

float width_of_tabs(const Ui& ui, const BarPlan& plan, Workspace current) {
    float width = 0;
    for (const WorkspaceRow& space : workspaces) {
        const float title = ui.text_width(space.title, {.size = 14, .weight = 600});
        if (plan.tabs)
            width += title + plan.tab_padding + 6;
        else if (&space == &row_of(current))
            width = title + 46;
    }
    return width;
}

// The learner's own run of the document on the desk, whose settings are of it.
bool shows_own(const Session& session, const Snapshot& snapshot) {
    return row_of(session.workspace).shows_kernel && session.workspace != Workspace::learn &&
           snapshot.source == Source::own && snapshot.whose == session.desk.document().shown_name();
}

// As gpu_named() takes it.
std::string name_of(const model::GpuSpec& gpu) {
    if (model::is_gpu_file(gpu.name)) return std::string(gpu.name);
    const auto row = model::gpu_named(gpu.name);
    const bool sized = row.ok() && row.value().sms.value != gpu.sms.value;
    return std::string(gpu.name) + (sized ? ":" + std::to_string(gpu.sms.value) : "");
}

}  // namespace

std::string Shell::gpu_on_show(const Snapshot& snapshot) const {
    if (session.workspace == Workspace::kernel) return session.desk.document().launch.gpu;
    if (session.workspace == Workspace::training && snapshot.source == Source::training && !snapshot.training.gpu.empty())
        return snapshot.training.gpu;  // a lesson's may be another one
    if (!row_of(session.workspace).shows_kernel) return session.gpu;
    // Rows of many ranks have no kernel on show: the one that is kept is of another step.
    if (const scene::Scene* scene = drawn_scene(session);
        scene != nullptr && snapshot.source == Source::lesson && !scene->parallel.empty())
        return session.gpu;
    return snapshot.kernel.run                              ? name_of(snapshot.kernel.run->gpu)
           : snapshot.host                                  ? name_of(snapshot.host->gpu)
           : !session.desk.refused_launch(snapshot).empty() ? session.desk.document().launch.gpu
                                                            : session.gpu;
}

void Shell::choose_gpu(const std::string& name) {
    const bool own = shows_own(session, *snapshot_);
    if (session.workspace != Workspace::kernel && !own) {
        session.gpu = name;
        if (!session.lesson.lesson) chosen_gpu_ = session.desk.new_gpu = name;
        return session.post(ask::SetGpu{name});
    }
    session.desk.document().launch.gpu = session.desk.new_gpu = chosen_gpu_ = name;
    session.desk.touch();
    // Of a text that does not compile the strip says so, in the workspace that one is in.
    if (own && session.workspace != Workspace::kernel) runs_own_ = true, stays_ = true, session.desk.run(session);
}

// What stands at the right, from there to the left.
std::vector<Shell::BarLabel> Shell::bar_labels(const BarPlan& plan, const Snapshot& snapshot) const {
    if (!plan.chips) return {{"Menu", Menu::all, {}}};
    std::string gpu = model::short_name(gpu_on_show(snapshot));
    const bool word = gpu.starts_with("teaching");  // no name of a product
    for (size_t i = 0; i < (word ? 1 : gpu.size()); ++i)
        gpu[i] = static_cast<char>(gpu[i] >= 'a' && gpu[i] <= 'z' ? gpu[i] - 32 : gpu[i]);
    if (session.workspace == Workspace::build && session.build.task()) gpu = "yours";
    const std::string percent = std::to_string(static_cast<int>(std::lround(text_scale * 100))) + " %";
    std::vector<BarLabel> labels{{plan.words ? "?  F1" : "?", Menu::help, "keyboard (F1)"},
                                 {plan.words ? "Theme" : "T", Menu::none, "theme (T)"},
                                 {plan.words ? "Aa " + percent : percent, Menu::size, "text size (Ctrl + and -), motion"},
                                 {plan.words ? "GPU  " + gpu : gpu, Menu::gpu, "the modelled GPU that kernels run on"},
                                 {plan.words ? "Search  Ctrl K" : "Search", Menu::palette, "search (Ctrl K)"}};
    // Nothing of Home is a run that another GPU would change.
    if (session.workspace == Workspace::home)
        std::erase_if(labels, [](const BarLabel& label) { return label.menu == Menu::gpu; });
    if (!came_from_.first.empty())
        labels.push_back({fmt::format("Back to {}, step {}", came_from_.first, came_from_.second + 1), Menu::back,
                          "to where the word led away from"});
    return labels;
}

// The first plan that the width has room for, else the narrowest.
const BarPlan& Shell::fitting_plan(Ui& ui, const Snapshot& snapshot) const {
    // The title is whole for as long as only space has to make room for it.
    const float title = 24 + std::min(340.0f, ui.text_width(shown_title(snapshot), {.size = 14}) + 58);
    for (const BarPlan& plan : plans) {
        const float least = plan.name ? std::max(plan.lesson, title) : plan.lesson;
        float need = begin_of(plan) + width_of_tabs(ui, plan, session.workspace) + least + 14;
        for (const BarLabel& label : bar_labels(plan, snapshot)) need += ui.chip_width(label.text) + 8;
        if (need <= width_) return plan;
    }
    return *(std::end(plans) - 1);
}

void Shell::top_bar(Ui& ui, const Snapshot& snapshot) {
    const Theme& t = *theme;
    ui.push_scope("top");
    ui.rect({0, 43, width_, 1}, t.line);
    const float strengths[] = {1, 0.65f, 0.65f, 0.3f};
    for (int i = 0; i < 4; ++i)
        ui.rect({14 + 10 * static_cast<float>(i % 2), 12 + 10 * static_cast<float>(i / 2), 8, 8},
                faded(t.accent, strengths[i]));
    const BarPlan& plan = fitting_plan(ui, snapshot);
    if (plan.name) ui.text(42, 28, "Lockstep", {.size = 16, .weight = 700});
    float x = begin_of(plan);
    for (const WorkspaceRow& space : workspaces)
        if (plan.tabs || &space == &row_of(session.workspace)) x = workspace_tab(ui, plan, space, x);
    float right = width_ - 14;
    for (const BarLabel& label : bar_labels(plan, snapshot)) right = bar_chip(ui, plan, label, right);
    if (plan.lesson > 0 && right - x - 24 > 60) lesson_title(ui, shown_title(snapshot), x + 24, right);
    ui.pop_scope();
}

float Shell::workspace_tab(Ui& ui, const BarPlan& plan, const WorkspaceRow& space,
                           float x) {  // returns where the next begins
    const Theme& t = *theme;
    const bool on = &space == &row_of(session.workspace);
    const float padding = plan.tabs ? plan.tab_padding : 40,
                w = ui.text_width(space.title, {.size = 14, .weight = 600}) + padding;
    const Rect box{x, 0, w, 43};
    if (ui.area(space.title, box)) {
        if (plan.tabs)
            choose_workspace(static_cast<Workspace>(&space - workspaces));
        else
            menu_ = Menu::workspace, menu_x_ = x;
    }
    if (!plan.tabs) ui.opens_menu(space.title);
    if (on) ui.rect({x, 41, w, 3}, t.accent);
    ui.text(x + w / 2 - (plan.tabs ? 0.0f : 8.0f), 28, space.title,
            {.size = 14, .color = on || ui.hovered(box) ? t.ink : t.ink2, .align = Align::center, .weight = on ? 600 : 400});
    if (!plan.tabs) ui.icon(x + w - 16, 28, Icon::caret_down, {.size = 13, .color = t.ink2, .align = Align::center});
    if (ui.hovered(box) && plan.tabs)
        ui.tooltip(std::string(space.title) + "  (key " + std::to_string(&space - workspaces + 1) + ")");
    return x + w + 6;
}

float Shell::bar_chip(Ui& ui, const BarPlan& plan, const BarLabel& label, float right) {  // returns where the next one ends
    const float left = right - ui.chip_width(label.text);
    float at = left;
    const bool pressed = ui.chip(at, 9, label.text, label.menu != Menu::none && menu_ == label.menu);
    if (label.menu != Menu::none && label.menu != Menu::back) ui.opens_menu(label.text);
    if (!plan.words && ui.hovered({left, 9, right - left, 26})) ui.tooltip(label.tip);
    if (pressed && label.menu == Menu::none) theme = &next_theme(*theme);
    if (pressed && label.menu == Menu::back) return go_back(), left - 8;
    if (pressed && label.menu == Menu::palette) return open_palette(), left - 8;
    if (pressed && label.menu != Menu::none) menu_ = menu_ == label.menu ? Menu::none : label.menu, menu_x_ = left;
    return left - 8;
}

void Shell::lesson_title(Ui& ui, const std::string& title, float left, float right) {
    const TextStyle style{.size = 14, .color = theme->ink2, .align = Align::center, .width = right - left - 34};
    const float width = std::min(ui.text_width(title, style), style.width);
    const float middle = std::clamp(width_ / 2 + 60, left + width / 2, std::max(left + width / 2, right - 24 - width / 2));
    const Rect box{middle - width / 2 - 10, 9, width + 38, 26};
    if (ui.area("lesson", box)) menu_ = Menu::lesson, menu_x_ = box.x;
    ui.opens_menu("lesson");
    if (ui.hovered(box)) ui.rect(box, theme->panel2, 4);
    ui.text(middle, 27, title, style);
    ui.icon(middle + width / 2 + 8, 27, Icon::caret_down, {.size = 13, .color = theme->ink3});
}

static bool runs_whole(std::string_view name) {  // a program, not one kernel
    return name.ends_with(".tape") || name.ends_with(".host");
}

std::string Shell::own_title(const Snapshot& snapshot) const {
    const KernelDocument& document = session.desk.document();
    const std::string name =
        snapshot.source == Source::own && !snapshot.whose.empty() ? snapshot.whose : document.shown_name();
    const bool program = runs_whole(name) || (name == document.shown_name() && document.is_program());
    return (program ? "Your program: " : "Your kernel: ") + name;
}

// What the pictures of the workspace show: a lesson, one's own, or a training run.
std::string Shell::shown_title(const Snapshot& snapshot) const {
    const auto& lesson = session.lesson.lesson;
    const std::string of_lesson = lesson ? lesson->id + "  " + lesson->title : "Lessons";
    if (row_of(session.workspace).page) return of_lesson;
    if (session.workspace == Workspace::kernel)
        return (session.desk.document().is_tape() || session.desk.document().is_program() ? "Your program: "
                                                                                          : "Your kernel: ") +
               session.desk.document().shown_name();
    if (session.workspace == Workspace::build) return session.build.title(snapshot);
    if (session.workspace == Workspace::cluster && !lesson) return cluster_title(session, snapshot);
    const bool of_run = session.workspace != Workspace::cluster && session.workspace != Workspace::learn;
    if (of_run && snapshot.source == Source::own && !snapshot.tape) return own_title(snapshot);
    if (of_run && snapshot.source == Source::design) return session.build.title(snapshot);
    if (lesson && !(of_run && (snapshot.source == Source::training || snapshot.source == Source::own))) return of_lesson;
    if (session.workspace == Workspace::learn && (lesson || snapshot.source != Source::training)) return of_lesson;
    if (!snapshot.training.step) return session.workspace == Workspace::training ? "A training run" : "Lessons";
    return (snapshot.tape ? "A tensor program: " : "A training step: ") + snapshot.training.step->model + " on " +
           snapshot.training.step->device;
}

float Shell::problem_strip(Ui& ui, const Snapshot& snapshot, float top) {
    if (!snapshot.problem) return 0;
    const Theme& t = *theme;
    const Diagnostic& problem = *snapshot.problem;
    const bool good = problem.severity == Severity::note;
    const Color ink = good ? t.right : t.wrong;
    const bool written = good && !problem.where.file.empty();  // the sentence says its path
    std::string place = written ? std::string() : problem.where.file;
    if (problem.where.line > 0) place += ":" + std::to_string(problem.where.line);
    if (problem.where.column > 0) place += ":" + std::to_string(problem.where.column);
    std::string sentence = (place.empty() ? "" : place + "  ") + problem.message;
    if (sentence.size() > 600) sentence = sentence.substr(0, 600) + " ...";
    const bool caret = !problem.source_line.empty() && height_ > 300;
    constexpr std::string_view copy = "copy the path";
    const bool copies = written && state.set_clipboard != nullptr;
    const Rect probe{44, 0, width_ - 120 - (copies ? ui.text_width(copy, {.size = 13}) + 24 : 0), 200};
    const float words = ui.paragraph(probe, sentence, {.size = 14}, 22, false);
    const Rect box{8, top, width_ - 16, words + 16 + (caret ? 40.0f : 0.0f)};
    ui.rect({0, top, width_, box.h + 8}, t.background);
    ui.rect(box, t.panel2, 5);
    ui.frame(box, ink, 1, 5);
    ui.rect({box.x, box.y, 4, box.h}, ink);
    ui.icon(24, box.y + 24, good ? Icon::check : Icon::warning, {.size = 13, .color = ink});
    ui.paragraph({44, box.y + 8, probe.w, 200}, sentence, {.size = 14}, 22);
    if (caret) {
        std::string line = problem.source_line;
        std::replace(line.begin(), line.end(), '\t', ' ');
        ui.text(44, box.y + words + 26, line, {.size = 13, .color = t.ink2, .mono = true, .width = width_ - 100});
        if (problem.where.column > 0)
            ui.text(44 + ui.text_width(std::string(static_cast<size_t>(problem.where.column - 1), ' '),
                                       {.size = 13, .mono = true}),
                    box.y + words + 42, "^", {.size = 13, .color = t.wrong, .weight = 700, .mono = true});
    }
    const Rect cross{box.right() - 34, box.y + 6, 26, 26};
    ui.push_scope("problem");
    if (copies && ui.link(cross.x - ui.text_width(copy, {.size = 13}) - 12, box.y + 24, copy))
        state.set_clipboard(problem.where.file);
    if (ui.area("dismiss", cross)) session.post(ask::Dismiss{});
    if (ui.hovered(cross)) ui.tooltip("dismiss (Escape)");
    ui.icon(cross.x + 13, box.y + 24, Icon::close,
            {.size = 13, .color = ui.hovered(cross) ? t.ink : t.ink2, .align = Align::center});
    ui.pop_scope();
    return box.h + 8;
}

// Whose run the pictures of the workspace are, where it is an older one than one would think; "": it is not.
std::string Shell::older_run(const Snapshot& snapshot) const {
    const bool kernel = session.workspace == Workspace::kernel;
    if (!kernel && (!row_of(session.workspace).shows_kernel || session.workspace == Workspace::learn)) return {};
    if (snapshot.source != Source::own) return {};
    return session.desk.stale_run(snapshot);
}

float Shell::stale_strip(Ui& ui, const Snapshot& snapshot, float top) {
    const std::string sentence = older_run(snapshot);
    // In Kernel the text's caption says so, or the launch's and its field: a strip that comes and goes would move what
    // somebody types in.
    if (sentence.empty() || session.workspace == Workspace::kernel) return 0;
    const float words = ui.paragraph({44, 0, width_ - 80, 200}, sentence, {.size = 13}, 20, false);
    const Rect box{8, top, width_ - 16, words + 12};
    ui.rect({0, top, width_, box.h + 8}, theme->background);
    ui.rect(box, theme->panel2, 5);
    ui.frame(box, theme->wrong, 1, 5);
    ui.icon(24, box.y + 20, Icon::warning, {.size = 13, .color = theme->wrong});
    ui.paragraph({44, box.y + 6, width_ - 80, 200}, sentence, {.size = 13}, 20);
    return box.h + 8;
}

namespace {

// Why the pictures of a workspace have no kernel to show, and what would run one.
struct NoKernel {
    std::string sentence;
    TrainingSetup setup;
};

// A step that this computer's processor made launches none; nor does a lesson whose runs are planned, or executed on the
// host. One sequence or picture a step is enough for a look, and larger models take minutes for more.
std::optional<NoKernel> why_no_kernel(const Session& session, const Snapshot& snapshot) {
    const Workspace at = session.workspace;
    if (!row_of(at).shows_kernel || at == Workspace::learn || at == Workspace::training || machine_at_cluster(session))
        return std::nullopt;
    if (snapshot.kernel.run || !snapshot.busy.empty()) return std::nullopt;
    if (snapshot.source == Source::lesson && session.lesson.lesson)
        return NoKernel{
            fmt::format("{} runs no kernel of its own. A training step on a modelled GPU has kernels to look at; "
                        "the lesson stays where it is.",
                        session.lesson.lesson->id),
            setup_of("mlp")};
    const auto& step = snapshot.training.step;
    if (snapshot.source != Source::training || !step || snapshot.tape || snapshot.training.setup.on_gpu) return std::nullopt;
    return NoKernel{
        fmt::format(
            "The step of {} ran on this computer's processor, which launches no kernel. On a modelled GPU its kernels "
            "can be looked at; the run then begins anew, with batch 1.",
            step->model),
        snapshot.training.setup};
}

}  // namespace

// Says so above them, with a button.
float Shell::no_kernel_strip(Ui& ui, const Snapshot& snapshot, float top) {
    const std::optional<NoKernel> why = why_no_kernel(session, snapshot);
    if (!why) return 0;
    std::string gpu = gpu_on_show(snapshot);
    if (gpu.find(' ') == std::string::npos)
        for (char& c : gpu) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);  // v100
    const std::string offer = "Run a step on the modelled " + gpu;
    const float wide = ui.text_width(offer, {.size = 14, .weight = 600}) + 32;
    const float room = width_ - 44 - wide - 40;
    const float words = ui.paragraph({24, 0, room, 200}, why->sentence, {.size = 13}, 20, false);
    const Rect box{8, top, width_ - 16, std::max(words + 12, 38.0f)};
    ui.rect({0, top, width_, box.h + 8}, theme->background);
    ui.rect(box, theme->panel2, 5);
    ui.frame(box, theme->accent, 1, 5);
    ui.paragraph({24, box.y + (box.h - words) / 2, room, 200}, why->sentence, {.size = 13}, 20);
    ui.push_scope("no kernel");
    if (ui.button({box.right() - wide - 6, box.y + (box.h - 28) / 2, wide, 28}, offer, true)) {
        TrainingSetup setup = why->setup;
        setup.on_gpu = true;
        setup.batch = 1;
        setup.ranks = 1;
        session.post(ask::SetUpTraining{std::make_shared<const TrainingSetup>(setup)});
    }
    ui.pop_scope();
    return box.h + 8;
}

std::vector<std::string> Shell::told_causes(const Snapshot& snapshot, Workspace workspace, bool whole) {
    std::vector<std::string> told;
    if (workspace != Workspace::training || snapshot.source != Source::training || snapshot.tape) return told;
    if (snapshot.training.curves.empty()) return told;
    for (const nn::Cause& cause : snapshot.training.curves.front().causes) {
        std::string text = whole ? cause.text : cause.text.substr(0, cause.text.find(';'));
        if (text.empty()) continue;
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
        const std::string layer = cause.layer.empty() ? "" : ", " + cause.layer;
        told.push_back(fmt::format("Step {}{}: {}.", cause.step, layer, text));
        if (!cause.advice.empty())
            told.back() +=
                " What to change: " + (whole ? cause.advice : cause.advice.substr(0, cause.advice.find(','))) + ".";
    }
    return told;
}

float Shell::cause_strip(Ui& ui, const Snapshot& snapshot, float top) {
    const Theme& t = *theme;
    std::vector<std::string> causes = told_causes(snapshot, session.workspace);
    if (causes.empty()) return 0;
    const TextStyle style{.size = 14};
    const Rect words{44, 0, width_ - 80, 1000};
    const auto height_of = [&](const std::vector<std::string>& all) {
        float height = 0;
        for (const std::string& one : all) height += ui.paragraph(words, one, style, 21, false);
        return height;
    };
    // The pictures need the room more than the last detail: that is told where the pointer is.
    const std::vector<std::string> whole = causes;
    if (height_of(causes) > 0.14f * height_) causes = told_causes(snapshot, session.workspace, false);
    if (height_of(causes) > 0.2f * height_ && causes.size() > 1) {
        const size_t more = causes.size() - 1;
        causes.resize(1);
        causes.front() += fmt::format(" (and {} more)", more);
    }
    const Rect box{8, top, width_ - 16, height_of(causes) + 14};
    ui.rect({0, top, width_, box.h + 8}, t.background);
    ui.rect(box, t.panel2, 5);
    ui.frame(box, t.wrong, 1, 5);
    ui.rect({box.x, box.y, 4, box.h}, t.wrong);
    ui.icon(24, box.y + 22, Icon::warning, {.size = 13, .color = t.wrong});
    float y = box.y + 7;
    for (const std::string& one : causes) y += ui.paragraph({words.x, y, words.w, words.h}, one, style, 21);
    if (causes != whole && ui.hovered(box)) {
        std::string all;
        for (const std::string& one : whole) all += (all.empty() ? "" : "\n") + one;
        ui.tooltip(all);
    }
    return box.h + 8;
}

}  // namespace lockstep::gui
