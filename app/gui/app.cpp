// run_app: options to session and shell, then a window, a picture or text.
#include "app/gui/app.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>
#include <utility>

#include "app/gui/run_page.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/machine_tour.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/window/canvas.h"
#include "app/gui/window/contact_sheet.h"
#include "app/gui/window/record.h"
#include "app/gui/window/renderer.h"
#include "core/base/diagnostic.h"
#include "core/base/missing_file.h"
#include "core/model/gpus/gpu_file.h"
#include "core/scene/cluster/cluster_training.h"
#include "core/system/desktop.h"
#include "core/system/system.h"
#include "lessons/player/certificate/certificate.h"
#include "lessons/player/puzzles/design_file.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::gui {

namespace {

struct ImGuiScope {
    ImGuiScope() {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        ImGui::GetIO().LogFilename = nullptr;
    }
    ~ImGuiScope() { ImGui::DestroyContext(); }
    ImGuiScope(const ImGuiScope&) = delete;
    ImGuiScope& operator=(const ImGuiScope&) = delete;
};

// "kernel.2" is the second page of a workspace that has pages, "build.12" the twelfth puzzle.
std::pair<std::string, int> page_of(const std::string& view) {
    const size_t dot = view.rfind('.');
    const std::string page = dot == std::string::npos ? "" : view.substr(dot + 1);
    if (page.empty() || page.size() > 2 || page.find_first_not_of("0123456789") != std::string::npos || page[0] == '0')
        return {view, 1};
    return {view.substr(0, dot), std::stoi(page)};
}

// Of a workspace, of one of its pages, or of a view; none: there is no such.
std::optional<Workspace> workspace_of(const std::string& view) {
    const ViewRow* const row = view_named(view);
    return row != nullptr ? row->workspace : workspace_named(page_of(view).first);
}

// "pictures/", or a folder that is there.
bool is_folder(const std::string& path) {
    std::error_code error;
    return path.ends_with('/') || (!path.empty() && std::filesystem::is_directory(path, error));
}

bool is_vector(const std::string& file) {
    return std::filesystem::path(file).extension() == ".svg";
}

RecordOptions recording(const AppOptions& options) {
    return {.width = options.width,
            .height = options.height,
            .frames_a_second = options.film.frames_a_second,
            .drawing = drawing_named(options.renderer)};
}

void check_film(const AppOptions& options) {
    const AppOptions::Film& film = options.film;
    if (!film.file.empty()) return check_recording(film.file, recording(options));
    if (film.from >= 0 || film.to >= 0 || film.speed > 0 || film.frames_a_second != AppOptions::Film().frames_a_second)
        throw Failure("--from, --to, --speed and --fps are for --record F.gif or F.mp4");
}

void check_picture(const AppOptions& options) {
    if (!options.zoom.empty() && !stop_named(options.zoom)) {
        std::string known;
        for (const StopRow& row : stop_rows()) known += (known.empty() ? "" : ", ") + std::string(row.key);
        throw Failure("--zoom is one of " + known + ", not '" + options.zoom + "'");
    }
    const bool text_or_picture =
        !options.save_run.empty() || !options.screenshot.empty() || options.describe || !options.film.file.empty();
    if ((options.cycle >= 0 || options.sm >= 0) && !text_or_picture)
        throw Failure("--cycle and --sm are for --screenshot, --record and --describe");
    const bool folder = is_folder(options.screenshot);
    if (!options.screenshot.empty() && !folder && std::filesystem::path(options.screenshot).extension() != ".png" &&
        !is_vector(options.screenshot) && !std::filesystem::is_character_file(options.screenshot))
        throw Failure(
            "--screenshot takes a picture's name, F.png or F.svg, or a folder's with a slash at its end for every step of a "
            "lesson, not '" +
            std::string(options.screenshot) + "'");
    if (folder && (options.lesson.empty() || options.step != 0 || options.describe))
        throw Failure("a folder of pictures is of all steps of a --lesson: give a file, or leave --step out");
}

void check_ranks(const AppOptions& options) {
    const TrainingSetup setup = options.model.empty() ? TrainingSetup() : setup_of(options.model);
    if (options.ranks != 1 && (options.ranks < 1 || options.ranks > 8 || setup.batch % options.ranks != 0))
        throw Failure("--ranks is 1, 2, 4 or 8, each with an equal part of the batch of " + std::to_string(setup.batch) +
                      ", not " + std::to_string(options.ranks));
    if (options.ranks > 1 && !trains_on_ranks(setup.model))
        throw Failure("--ranks: model " + setup.model + " is not one that is split over ranks");
}

void check_view(const AppOptions& options) {
    if (const auto [place, page] = page_of(options.view); workspace_named(place) == Workspace::build)
        if (const size_t puzzles = lessons::puzzle_files().size(); static_cast<size_t>(page) > puzzles)
            throw Failure(fmt::format("there is no view '{}': the puzzles are build.1 to build.{}", options.view, puzzles));
    if (options.view.empty() || workspace_named(page_of(options.view).first)) return;
    std::string known;
    for (const WorkspaceRow& space : workspaces) known += (known.empty() ? "" : ", ") + std::string(space.name);
    for (const ViewRow& row : views()) {
        if (row.name == options.view) return;
        if (!workspace_named(row.name)) known += ", " + std::string(row.name);
    }
    throw Failure("unknown view '" + options.view + "', known are " + known);
}

void check(const AppOptions& options) {
    if (!(options.scale >= 0.75 && options.scale <= 2.5)) throw Failure("--scale is the text size, 0.75 to 2.5");
    if (options.width < 320 || options.height < 240 || options.width > 8192 || options.height > 8192)
        throw Failure("--size WxH is 320x240 to 8192x8192 pixels, not " + std::to_string(options.width) + "x" +
                      std::to_string(options.height));
    check_picture(options);
    check_film(options);
    check_ranks(options);
    if (!options.gpu.empty()) model::gpu_named(options.gpu).value();
    if (!options.save_run.empty() && !is_run_file(options.save_run) && !is_page_file(options.save_run))
        throw Failure("--save-run takes a name that ends in .lockstep, or in .html for a browser, not '" + options.save_run +
                      "'");
    if (options.step < 0) throw Failure("--step counts from 1");
    theme_named(options.theme);
    drawing_named(options.renderer);
    check_view(options);
}

// As a learner would who is sure enough of the first answer, or sketches what it says: locks it for every prediction of the
// step on show, and waits until the engine has told the truth. False: nothing is asked there.
bool answer_step(Shell& shell) {
    Session& session = shell.session;
    session.wait_until_idle(120);
    shell.describe("lesson");  // what the worker handed over is adopted
    const auto step = static_cast<size_t>(session.lesson.step);
    if (step >= session.lesson.predictions.size() || session.lesson.predictions[step].empty()) return false;
    auto& predictions = session.lesson.predictions[step];
    for (size_t i = 0; i < predictions.size(); ++i) {
        predictions[i].chosen = 0;
        if (predictions[i].board)
            predictions[i].sketch =
                lessons::first_guess(session.lesson.lesson->steps[step].predicts[i], *predictions[i].board);
        predictions[i].confidence = 70;
        if (session.lesson.holds_back() && !shell.presenter.paper) continue;
        predictions[i].locked = true;
        session.post(ask::LockPrediction{i});
    }
    session.wait_until_idle(120);
    shell.describe("lesson");
    return true;
}

// Every step of the lesson, and once more where it asks something, answered: `draw` hears of "A06-3" and "A06-3-answered".
int show_steps(Shell& shell, const AppOptions& options, const std::function<void(const std::string& name)>& draw) {
    Session& session = shell.session;
    session.wait_until_idle(120);
    shell.describe("lesson");
    if (!session.lesson.lesson) throw Failure("lesson " + options.lesson + " did not open");
    const auto steps = static_cast<int>(session.lesson.lesson->steps.size());
    const auto picture = [&](int step, const char* state) {
        session.wait_until_idle(120);
        draw(session.lesson.lesson->id + "-" + std::to_string(step + 1) + state);
    };
    for (int step = 0; step < steps; ++step) {
        session.lesson.step = step;
        session.post(ask::ShowLessonStep{step});
        picture(step, "");
        if (!answer_step(shell)) continue;
        if (options.paper) session.learn.run_shown = step;  // what the run shows, not what was put into a sketch
        picture(step, "-answered");
    }
    return steps;
}

void draw_steps(Shell& shell, const AppOptions& options) {
    const std::filesystem::path folder = options.screenshot;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const int steps = show_steps(shell, options, [&](const std::string& name) {
        render_to_png(shell, options.width, options.height, (folder / (name + ".png")).string(),
                      drawing_named(options.renderer));
    });
    if (!options.paper)
        std::printf("%d steps of lesson %s are in %s\n", steps, shell.session.lesson.lesson->id.c_str(),
                    folder.string().c_str());
}

void draw_sheet(Shell& shell, const AppOptions& options) {
    ContactSheet sheet;
    std::vector<Color> pixels;
    const int steps = show_steps(shell, options, [&](const std::string&) {
        render_to_pixels(shell, options.width, options.height, pixels, drawing_named(options.renderer));
        sheet.add(pixels, options.width, options.height);
    });
    sheet.write_png(options.screenshot);
    std::printf("%d steps of lesson %s in %zu pictures, row by row: %s\n", steps, shell.session.lesson.lesson->id.c_str(),
                sheet.count(), options.screenshot.c_str());
}

void print_summary(const Snapshot& snapshot) {
    if (snapshot.problem) std::printf("%s\n", render(*snapshot.problem).c_str());
    if (!snapshot.training.step) return;
    const nn::StepRecord& step = *snapshot.training.step;
    std::printf("step %lld of %s on %s: loss %.4f, %.1f %% of the batch right, %zu kernels\n",
                static_cast<long long>(step.step), step.model.c_str(), step.device.c_str(), step.loss,
                100 * step.train_accuracy, step.launches.size());
    for (const device::LaunchEvent& launch : step.launches) {
        if (launch.cycles > 0) {
            std::printf("  %-24s %-9s %9s cycles  %8.2f µs\n", launch.label.c_str(), launch.phase.c_str(),
                        with_commas(launch.cycles).c_str(), launch.end_us - launch.begin_us);
        } else {
            std::printf("  %-24s %-9s\n", launch.label.c_str(), launch.phase.c_str());
        }
    }
}

void check_step(const AppOptions& options) {
    if (options.lesson.empty()) return;
    const auto lesson = lessons::lesson_named(options.lesson);
    if (!lesson.ok()) throw Failure(lesson.error());
    const auto steps = static_cast<int>(lesson.value().steps.size());
    if (options.step > steps)
        throw Failure("lesson " + options.lesson + " has " + std::to_string(steps) + " steps, not " +
                      std::to_string(options.step));
}

// Nothing was asked for: the app opens at Home.
bool meets_people(const AppOptions& options) {
    const bool still =
        !options.save_run.empty() || !options.screenshot.empty() || options.describe || !options.film.file.empty();
    return !still && options.lesson.empty() && options.open.empty() && options.view.empty() && options.model.empty() &&
           options.plan.empty() && options.ranks == 1 && options.step == 0;
}

// What the command line leaves open: as it was the last time, else what the app comes with.
AppOptions completed(AppOptions options, const Remembered& kept) {
    const bool sized = options.width != 0 || options.height != 0;
    if (options.width == 0) options.width = !sized && kept.width > 0 ? kept.width : 1600;
    if (options.height == 0) options.height = !sized && kept.height > 0 ? kept.height : 1000;
    if (options.scale == 0) options.scale = kept.text_size > 0 ? kept.text_size : 1;
    if (options.theme.empty()) options.theme = kept.theme.empty() ? "dark" : kept.theme;
    return options;
}

// From 1: that of "build.12", else the one that the GPU's file is a design for, else the first.
int puzzle_of(const AppOptions& options) {
    if (const auto [place, page] = page_of(options.view); place != options.view) return page;
    if (!model::is_gpu_file(options.gpu)) return 1;
    const std::vector<std::filesystem::path> files = lessons::puzzle_files();
    const auto at = std::ranges::find(files, lessons::puzzle_of_design(options.gpu));
    return at == files.end() ? 1 : static_cast<int>(at - files.begin()) + 1;
}

// What the session begins with. `still`: for a picture or text, not for a window.
SessionOptions scene_of(const AppOptions& options, bool still, const Remembered& kept) {
    SessionOptions scene;
    scene.lesson = options.lesson;
    scene.lesson_step = options.lesson.empty() ? 0 : options.step - 1;
    if (!kept.gpu.empty()) scene.gpu = kept.gpu;
    if (still) scene.lesson_step = std::max(0, scene.lesson_step);
    scene.training_steps = options.lesson.empty() && options.step > 0 ? options.step : 42;
    if (meets_people(options)) scene.training_steps = 1, scene.steps_later = 41;
    if (!options.model.empty()) scene.setup = setup_of(options.model);
    scene.setup.ranks = options.ranks;
    if (!options.gpu.empty()) scene.gpu = options.gpu;
    if (!options.model.empty() && options.step == 0) scene.training_steps = 10;
    scene.paced = !still && has_display();
    if (scene.paced) {
        scene.progress_file = system::state_folder() / "progress.jsonl";
        scene.first_time = !std::filesystem::exists(scene.progress_file);
        scene.kernel_file = system::state_folder() / "kernels.json";
    }
    const std::optional<Workspace> asked = workspace_of(options.view);
    scene.own_kernel = scene.lesson.empty() && (!options.open.empty() || asked == Workspace::kernel);
    scene.build = scene.lesson.empty() && asked == Workspace::build;
    scene.puzzle = puzzle_of(options);
    scene.cluster = scene.lesson.empty() && (!options.plan.empty() || asked == Workspace::cluster);
    return scene;
}

void open_file(Shell& shell, const std::string& file) {
    if (std::error_code error; !std::filesystem::exists(file, error))
        throw Failure(Diagnostic{"no such file" + near_file(file), {file}});
    if (const auto problem = shell.session.desk.open(file)) throw Failure(*problem);
    shell.session.desk.trust();  // who names it on the command line means it
}

void set_zoom(Shell& shell, const AppOptions& options) {
    if (options.zoom.empty()) return;
    shell.session.machine.zoom = shell.session.machine.wanted = static_cast<double>(*stop_named(options.zoom));
}

// What the shell begins with: the workspace or the view that was asked for, and the learner's file.
void open(Shell& shell, const AppOptions& options) {
    Workspace& workspace = shell.session.workspace;
    workspace = !options.lesson.empty() ? Workspace::learn : options.plan.empty() ? Workspace::training : Workspace::cluster;
    if (meets_people(options)) {  // something moves at once
        workspace = Workspace::home;
        shell.session.playing = true;
    }
    if (is_run_file(options.open)) return shell.open_run(read_run_file(options.open).value());
    if (!options.open.empty()) open_file(shell, options.open);
    if (!options.gpu.empty()) {
        shell.session.desk.document().launch.gpu = options.gpu;
        shell.session.build.begin_with(model::gpu_named(options.gpu).value());
        // A lesson's kernels run on the GPU that it names, until another is chosen.
        if (!options.lesson.empty()) shell.session.post(ask::SetGpu{options.gpu});
    }
    const auto [place, page] = page_of(options.view);
    if (const auto named = workspace_named(place))
        workspace = *named, shell.show_page(page - 1);
    else
        shell.show_alone(options.view);
    // What a host or a tensor program shows stands beside its text.
    const bool program = scene::is_host_program(options.open) || scene::is_tensor_program(options.open) ||
                         (!options.open.empty() && shell.session.desk.document().is_program());
    if (program && workspace == Workspace::training) workspace = Workspace::kernel;
    if (!options.plan.empty()) {
        scene::ClusterSetup trained;
        trained.training = scene::training_named(options.plan);
        ask_cluster(shell.session, trained);
    }
    shell.presenter.on = options.present;
    if (!options.certificate.empty()) {
        shell.certificate =
            std::make_shared<const lessons::Certificate>(lessons::certificate_in(options.certificate).value());
        shell.certificate_name = options.certificate_name;
    }
    shell.presenter.paper = options.paper;
    if (system::errors_go_to_a_terminal() && options.screenshot.empty())
        shell.say_to_speaker = [](const std::string& text) { fmt::print(stderr, "{}", text); };
    if (options.less_motion) shell.motion = "reduced";
    if (!options.open.empty() && options.view.empty()) workspace = Workspace::kernel;
    if (options.tour) begin_tour(shell.session);
    set_zoom(shell, options);
    shell.session.grain = row_of(workspace).grain;
}

// What is described first asks for a warp's history, then for its registers; the desk first asks for its file to be run.
void settle(Shell& shell, std::string_view view, double seconds = 120, int times = 6) {
    for (int i = 0; i < times; ++i) {
        shell.session.wait_until_idle(seconds);
        shell.describe(view);
    }
}

// A picture of another workspace shows the learner's kernel too: it is compiled and run on its own desk first.
void run_own(Shell& shell, const AppOptions& options) {
    if (options.open.empty() || shell.session.workspace == Workspace::kernel) return;
    if (is_run_file(options.open) && !read_run_file(options.open).value().kernel) return;
    const Workspace wanted = std::exchange(shell.session.workspace, Workspace::kernel);
    settle(shell, "results", 60, 8);
    shell.session.wait_until_idle(60);
    shell.session.workspace = wanted;
}

void go_to_cycle(Shell& shell, const AppOptions& options) {  // stills only: once the kernel has run
    if (options.cycle < 0 && options.sm < 0) return;
    const std::string_view view = row_of(shell.session.workspace).name;
    settle(shell, view);
    const auto snapshot = shell.session.snapshot();
    const auto sms = snapshot->kernel.run ? static_cast<int>(snapshot->kernel.run->gpu.sms.value) : options.sm + 1;
    if (options.sm >= sms)
        throw Failure(fmt::format("--sm counts from 0: {} has {} SMs, so {} is its last", snapshot->kernel.run->gpu.title,
                                  sms, sms - 1));
    if (options.cycle >= 0 && snapshot->kernel.run && options.cycle > snapshot->kernel.run->result.cycles)
        throw Failure(fmt::format("--cycle {} is behind the end: this run has {} cycles", options.cycle,
                                  snapshot->kernel.run->result.cycles));
    if (options.sm >= 0) shell.focus.sm = options.sm;
    if (options.cycle >= 0) {
        shell.session.grain = Grain::cycle;
        shell.focus.time = options.cycle;
        shell.session.sm.cycles_begin = std::max<int64_t>(0, options.cycle - first_look / 2);
        shell.session.sm.cycles_end = shell.session.sm.cycles_begin + first_look;  // the timeline makes it fit its width
    }
    settle(shell, view);
}

void go_to_stop(Shell& shell, const AppOptions& options) {  // of the machine
    if (options.zoom.empty() && !options.follow) return;
    settle(shell, "machine");
    set_zoom(shell, options);  // a run that somebody saved has come with a zoom of its own
    settle(shell, "machine");  // a cluster's step is asked for there
    const auto snapshot = shell.session.snapshot();
    if (options.follow && machine_at_cluster(shell.session)) return follow_in_step(shell.session, *snapshot);
    if (!options.follow || !snapshot->kernel.run) return;
    follow_request(shell.session, *snapshot, std::max<int64_t>(0, shell.focus.time));
    const auto& machine = snapshot->kernel.run->result.trace.machine;
    const int64_t followed = shell.session.machine.followed;
    if (!machine || followed < 0) return;
    const RequestRecord& request = machine->requests[static_cast<size_t>(followed)];
    shell.focus.time = request.begin + request.ready / 3;
    settle(shell, "machine");
}

void go_to_moment(Shell& shell, const AppOptions& options) {
    if (options.moment < 1) return;
    settle(shell, "graph", 120, options.open.empty() ? 1 : 6);
    const auto snapshot = shell.session.snapshot();
    shell.session.grain = Grain::node;
    move(shell.session, shell.focus, *snapshot, Grain::node, -1, true);
    if (options.moment > 1) move(shell.session, shell.focus, *snapshot, Grain::node, options.moment - 1);
}

void draw(Shell& shell, const AppOptions& options, const std::string& file) {
    shell.session.wait_until_idle(120);
    if (is_vector(file)) return render_to_svg(shell, options.width, options.height, file);
    render_to_png(shell, options.width, options.height, file, drawing_named(options.renderer));
}

int record_film(Shell& shell, const AppOptions& options) {
    settle(shell, row_of(shell.session.workspace).name);
    const AppOptions::Film& film = options.film;
    const Stretch stretch{film.from, film.to, film.speed};
    const Moments moments = options.tour                        ? moments_of_tour(shell, film.frames_a_second)
                            : machine_at_cluster(shell.session) ? moments_of_step(shell, stretch, film.frames_a_second)
                                                                : moments_of_kernel(shell, stretch, film.frames_a_second);
    if (!record(shell, recording(options), moments, film.file, film.goes_on)) return interrupted;
    std::error_code error;
    std::printf("%d frames, %.1f seconds, %.1f MB: %s\n", moments.frames, moments.frames / film.frames_a_second,
                static_cast<double>(std::filesystem::file_size(film.file, error)) / 1e6, film.file.c_str());
    return static_cast<int>(ExitStatus::done);
}

int draw_still(Shell& shell, const AppOptions& options) {
    if (!options.sheet.empty()) return draw_sheet(shell, options), static_cast<int>(ExitStatus::done);
    if (is_folder(options.screenshot)) return draw_steps(shell, options), static_cast<int>(ExitStatus::done);
    run_own(shell, options);
    if (row_of(shell.session.workspace).page) settle(shell, row_of(shell.session.workspace).name, 120, 8);
    if (is_run_file(options.open)) settle(shell, row_of(shell.session.workspace).name, 120, 8);
    go_to_cycle(shell, options);
    go_to_moment(shell, options);
    go_to_stop(shell, options);
    const std::string_view workspace = row_of(shell.session.workspace).name;
    if (options.describe) {
        settle(shell, workspace);
        shell.session.wait_until_idle(20);
        const std::string place = page_of(options.view).first;
        std::fputs(shell.describe(place.empty() ? workspace : std::string_view(place)).c_str(), stdout);
    }
    if (!options.save_run.empty()) {
        settle(shell, workspace);
        write_file(options.save_run, is_page_file(options.save_run)
                                         ? page_of_run(shell.session, shell.focus, page_theme(*shell.theme))
                                         : text_of(shell.run_on_show()));
    }
    if (!options.screenshot.empty()) draw(shell, options, options.screenshot);
    return options.film.file.empty() ? static_cast<int>(ExitStatus::done) : record_film(shell, options);
}

}  // namespace

// What a contact sheet is of, and where it goes.
static AppOptions with_sheet(AppOptions options) {
    if (options.sheet.empty()) return options;
    if (!options.lesson.empty() && options.lesson != options.sheet)
        throw Failure(
            fmt::format("--contact-sheet {} is of that lesson: leave --lesson {} out", options.sheet, options.lesson));
    options.lesson = options.sheet;
    if (options.screenshot.empty()) options.screenshot = options.sheet + ".png";
    if (is_folder(options.screenshot) || is_vector(options.screenshot))
        throw Failure("--contact-sheet writes one picture: --screenshot F.png says where");
    return options;
}

// A GPU's file as what is opened: the GPU that all runs on, and the design of a puzzle opens there.
static AppOptions with_design(AppOptions options) {
    if (!model::is_gpu_file(options.open)) return options;
    options.gpu = std::exchange(options.open, {});
    if (options.view.empty() && !lessons::puzzle_of_design(options.gpu).empty()) options.view = "build";
    return options;
}

int run_app(const AppOptions& given) {
    system::give_memory_back();
    const AppOptions asked = with_design(with_sheet(given));
    const bool still = !asked.save_run.empty() || !asked.screenshot.empty() || asked.describe || !asked.film.file.empty();
    const std::filesystem::path remembered = system::state_folder() / "remembered.json";
    const RememberedRead before = still || !has_display() ? RememberedRead() : read_remembered(remembered);
    const AppOptions options = completed(asked, before.kept);
    check(options);
    check_step(options);
    SessionOptions scene = scene_of(options, still, before.kept);
    const ImGuiScope imgui;
    const Theme& theme = theme_named(options.theme);
    if (still || scene.paced) {
        Session session(scene);
        Shell shell(session, theme, static_cast<float>(options.scale));
        if (!still) shell.recall(before.kept, meets_people(options) && !options.tour);
        open(shell, options);
        if (still) return draw_still(shell, options);
        shell.keeper = std::make_unique<RememberedKeeper>(remembered, before.kept);
        const std::jthread asking([&shell] { shell.desktop_is_calm = system::prefers_less_motion(); });
        if (!before.problem.empty()) session.post(ask::Tell{before.problem});
        session.machine.offers_tour = scene.first_time && !options.tour;
        if (!options.open.empty() && !options.view.empty() && !is_run_file(options.open)) shell.run_own();
        const bool as_before = asked.width == 0 && asked.height == 0 && before.kept.width > 0;
        shell.window.whole_screen = as_before && before.kept.whole_screen;
        if (run_window(shell, options.width, options.height, as_before)) return static_cast<int>(ExitStatus::done);
    }
    // No display: the same scene as a picture.
    scene.paced = false;
    scene.progress_file.clear();
    scene.kernel_file.clear();
    scene.lesson_step = std::max(0, scene.lesson_step);
    Session session(scene);
    Shell shell(session, theme, static_cast<float>(options.scale));
    open(shell, options);
    const std::string file = (std::filesystem::current_path() / "lockstep.png").string();
    draw(shell, options, file);
    std::printf("no display here: the app's first scene is in %s\n", file.c_str());
    print_summary(*session.snapshot());
    return static_cast<int>(ExitStatus::done);
}

}  // namespace lockstep::gui
