// What the app costs: memory after a start and after a session, a training step beside the same step without the app, a key
// to the picture that follows it, and our own work in a frame of every workspace. Memory is that of a child process, which
// has done nothing else.
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "app/gui/window/bench.h"
#include "app/gui/window/canvas.h"
#include "core/base/files.h"
#include "core/nn/train/trainer.h"
#include "core/system/desktop.h"
#include "core/system/system.h"

namespace lockstep::gui {

namespace {

using BenchTime = std::chrono::steady_clock;
double seconds_from(BenchTime::time_point begin) {
    return std::chrono::duration<double>(BenchTime::now() - begin).count();
}

struct BenchContext {
    BenchContext() {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
    }
    ~BenchContext() { ImGui::DestroyContext(); }
    BenchContext(const BenchContext&) = delete;
    BenchContext& operator=(const BenchContext&) = delete;
};

// The app without a window: frames are drawn into a picture.
struct Drawn {
    Session session;
    Shell shell;
    Canvas canvas{shell, 1600, 1000};
    double now = 1;

    explicit Drawn(SessionOptions options) : session(std::move(options)), shell(session, theme_named("dark"), 1) {}
    void frame(const Input& input = {}) {
        canvas.frame(input, now += 0.02);
        canvas.finish();
    }
    void settle(int frames = 6) {
        for (int i = 0; i < frames; ++i) frame(), session.wait_until_idle(120);
    }
};

double resident_mb() {  // 0: this system does not say
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) * 1024 / 1e6;
    return 0;
}

bool begins_alike(std::string_view row, std::string_view wanted) {
    return row.substr(0, wanted.size()) == wanted || wanted.substr(0, row.size()) == row;
}

// A lesson step by step, a kernel of one's own, and fifty steps of a small language model.
void use_for_a_while(Drawn& app) {
    Session& session = app.session;
    session.workspace = Workspace::learn;
    session.post(ask::OpenLesson{"A05", 0});
    app.settle();
    const int steps = session.lesson.lesson ? static_cast<int>(session.lesson.lesson->steps.size()) : 0;
    for (int step = 1; step < steps; ++step) {
        session.lesson.step = step;
        session.post(ask::ShowLessonStep{step});
        app.settle(3);
    }
    session.workspace = Workspace::kernel;
    app.settle(12);
    session.workspace = Workspace::training;
    session.post(ask::SetUpTraining{std::make_shared<const TrainingSetup>(setup_of("gpt"))});
    app.settle(2);
    session.post(ask::Train{50});
    app.settle();
}

// From an arrow key to the frame that shows its step, in SM, in a run of many cycles.
AppRate step_key() {
    Drawn app({.training_steps = 1});
    app.session.workspace = Workspace::sm;
    app.session.grain = Grain::cycle;
    app.settle(8);
    std::vector<double> took;
    for (int i = 0; i < 40; ++i) {
        Input input;
        input.keys.push_back({KeyCode::right});
        const auto begin = BenchTime::now();
        app.frame(input);
        took.push_back(seconds_from(begin));
        app.session.wait_until_idle(10);
    }
    std::sort(took.begin(), took.end());
    return {
        "app/step_key", 1e3 * took[took.size() / 2], "ms",
        "an arrow key to the drawn frame, SM, 1600x1000; at most " + std::to_string(static_cast<int>(1e3 * took.back()))};
}

// Our own work in a frame of every workspace, without OpenGL.
std::vector<AppRate> own_work(std::string_view wanted) {
    std::vector<AppRate> rates;
    Drawn app({.training_steps = 3});
    app.session.wait_until_idle(120);
    for (const WorkspaceRow& row : workspaces) {
        const std::string name = "app/own/" + std::string(row.name);
        if (!begins_alike(name, wanted)) continue;
        app.session.workspace = *workspace_named(row.name);
        if (app.session.workspace == Workspace::learn) app.session.post(ask::OpenLesson{"A05", 0});
        app.settle(10);
        double spent = 0, most = 0;
        constexpr int frames = 60;
        for (int i = 0; i < frames; ++i) {
            app.shell.focus.time += 1;
            const auto begin = BenchTime::now();
            ImGui::NewFrame();
            app.shell.frame({}, 1600, 1000, app.now += 0.02);
            ImGui::Render();
            spent += seconds_from(begin);
            most = std::max(most, seconds_from(begin));
        }
        rates.push_back({name, 1e3 * spent / frames, "ms",
                         "our own work a frame, 1600x1000, at most " + std::to_string(static_cast<int>(1e3 * most + 0.5))});
    }
    return rates;
}

// Processor time of a step of gpt in the app while it runs, as a multiple of the same step without the app: slices of the
// two in turn, so that the computer's neighbours slow both alike. Frames are drawn as a window draws them: two for what is
// published.
AppRate training_step() {
    constexpr int64_t steps = 15;
    constexpr int pairs = 4;
    const TrainingSetup setup = setup_of("gpt");
    nn::TrainerOptions options;
    options.model = setup.model;
    options.device = "host";
    options.learning_rate = setup.learning_rate;
    options.batch = setup.batch;
    nn::Trainer trainer(options);
    Drawn app({.training_steps = 3, .setup = setup});
    app.session.workspace = Workspace::training;
    app.settle(3);
    const auto trained = [&app] {
        const auto snapshot = app.session.snapshot();
        return snapshot->training.curves.empty() ? 0 : static_cast<int64_t>(snapshot->training.curves.front().loss.size());
    };
    uint64_t version = 0;
    const auto run = [&](int64_t until) {
        const auto begin = BenchTime::now();
        while (trained() < until && seconds_from(begin) < 120) {
            const uint64_t newest = app.session.snapshot()->version;
            for (int frame = 0; newest != version && frame < 2; ++frame) app.frame();
            version = newest;
            std::this_thread::sleep_for(std::chrono::milliseconds(3));
        }
    };
    for (int i = 0; i < 3; ++i) trainer.step();
    std::vector<double> times;
    for (int pair = 0; pair < pairs; ++pair) {
        double begin = system::process_seconds();
        for (int64_t i = 0; i < steps; ++i) trainer.step();
        const double alone = system::process_seconds() - begin;
        app.session.post(ask::Train{-1});
        const int64_t from = trained() + 1;
        run(from);
        begin = system::process_seconds();
        run(from + steps);
        times.push_back((system::process_seconds() - begin) / alone);
        app.session.post(ask::Pause{});
        app.session.wait_until_idle(60);  // an element is followed through the graph now
    }
    std::sort(times.begin(), times.end());
    char range[40];
    std::snprintf(range, sizeof range, "%.2f to %.2f", times.front(), times.back());
    return {"app/train/gpt", times[times.size() / 2], "times as long",
            "processor time of a step of gpt while it runs in the app, its frames included, against the same step alone; " +
                std::to_string(pairs) + " pairs of slices in turn: " + range};
}

}  // namespace

std::string memory_of_app(const std::vector<std::string>& words) {
    system::give_memory_back();
    const BenchContext context;
    Drawn app({.training_steps = 1, .steps_later = 41});
    app.session.workspace = Workspace::home;  // as it opens
    app.settle(10);
    if (!words.empty() && words.front() == "session") use_for_a_while(app);
    std::this_thread::sleep_for(std::chrono::seconds(1));  // what is free goes back in a quiet moment
    return std::to_string(resident_mb());
}

std::vector<AppRate> bench_manners(std::string_view name) {
    std::vector<AppRate> rates;
    constexpr std::pair<std::string_view, std::string_view> sessions[] = {
        {"start", "resident memory once Home has its pictures"},
        {"session", "and after a lesson, a kernel of one's own and 50 steps of gpt"}};
    for (const auto& [row, what] : sessions) {
        const std::string full = "app/memory/" + std::string(row);
        if (!begins_alike(full, name)) continue;
        const TemporaryFolder home;  // what it keeps of its user is gone with it
        const auto child = system::run_task(memory_task_name, {std::string(row)}, home.path(),
                                            {.seconds = 300, .memory_bytes = uint64_t{16} << 30});
        const double mb = child.succeeded() ? std::strtod(child.output.c_str(), nullptr) : 0;
        if (mb > 0) rates.push_back({full, mb, "MB", std::string(what)});
    }
    const BenchContext context;
    if (begins_alike("app/step_key", name)) rates.push_back(step_key());
    if (begins_alike("app/own/", name))
        for (AppRate& rate : own_work(name)) rates.push_back(std::move(rate));
    if (begins_alike("app/train/gpt", name)) rates.push_back(training_step());
    return rates;
}

}  // namespace lockstep::gui
