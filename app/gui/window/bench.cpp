// How long until the first picture, and frames a second of every workspace, drawn off screen at 1600 x 1000.
#include "app/gui/window/bench.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <thread>

#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/machine/many/cluster_step.h"
#include "app/gui/window/canvas.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/ptx/ptx.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/cluster/cluster_plan.h"

namespace lockstep::gui {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool starts(std::string_view row, std::string_view wanted) {
    return row.substr(0, wanted.size()) == wanted || wanted.substr(0, row.size()) == row;
}

// A tiled matrix product of n x n on a V100 with so many SMs.
std::shared_ptr<const model::KernelRun> matrix_product(uint32_t n, uint32_t sms, const model::TimedOptions& options) {
    const auto path = resource_root() / "kernels" / "ptx" / "matmul.ptx";
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named("v100").value();
    run->gpu.sms.value = sms;
    run->program = ptx::decode(ptx::parse(read_file(path).value(), path.string()).value(), "matmul_nn_f32").value();
    run->config.grid = {n / 16, n / 16, 1};
    run->config.block = {16, 16, 1};
    run->config.parameters.resize(run->program->parameter_bytes);
    simt::Memory memory;
    for (size_t i = 0; i < run->program->parameters.size(); ++i) {
        const ptx::Parameter& parameter = run->program->parameters[i];
        uint64_t value = n;
        if (parameter.bytes == 8) {
            value = memory.allocate(size_t{n} * n * 4, "matrix");
            std::memset(memory.write(value, size_t{n} * n * 4), 0, size_t{n} * n * 4);
        }
        std::memcpy(run->config.parameters.data() + parameter.offset, &value, parameter.bytes);
    }
    run->result = model::launch(run->gpu, *run->program, run->config, memory, options);
    return run;
}

// All of it traced: over a million issues and waits.
std::shared_ptr<const model::KernelRun> million_spans() {
    return matrix_product(128, 1, {});
}

// Our own work in a frame of the machine while its clock runs, at each stop of the zoom, over a run of some ten million
// cycles. The frames lie in the stretch that the trace keeps.
std::vector<AppRate> machine_frames(std::string_view wanted) {
    model::TimedOptions options;
    options.machine = true;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = matrix_product(704, 2, options);
    scene::ClusterSetup plan;  // the largest that is published: 16,384 GPUs
    plan.plan = scene::published_plans().back().setup();
    snapshot->cluster = std::make_shared<const scene::ClusterScene>(scene::run_cluster(plan));
    const model::KernelRun& run = *snapshot->kernel.run;
    Session session({.start = false});
    Shell shell(session, theme_named("dark"), 1);
    session.workspace = Workspace::machine;
    session.grain = Grain::cycle;
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {1600, 1000};
    io.DeltaTime = 0.02f;
    shell.state.upload = [](TextureId old, int, int, const Color*) { return old != 0 ? old : TextureId{1}; };
    double now = 1;
    const auto frame = [&] {
        shell.prepare(1);
        ImGui::NewFrame();
        shell.frame({}, 1600, 1000, now += 0.02);
        ImGui::Render();
    };
    session.publish_for_test(snapshot);
    for (int i = 0; i < 4; ++i) frame();
    std::vector<AppRate> rates;
    for (const StopRow& stop : stop_rows()) {
        const std::string row = "app/machine/" + std::string(stop.key);
        if (!starts(row, wanted)) continue;
        session.machine.zoom = session.machine.wanted = static_cast<double>(stop.stop);
        const bool many = stop.stop < Stop::gpu;
        double spent = 0, most = 0;
        int quads = 0;
        constexpr int frames = 60;
        for (int k = -4; k < frames; ++k) {
            shell.focus.time = run.result.trace.kept_until / 3 + 7 * k;
            const auto step = session.cluster_step(*snapshot);
            if (many) session.cluster.time = step->end * (0.3 + 0.005 * k);
            const std::clock_t begin = std::clock();  // our own work, whatever the computer's neighbours do
            frame();
            if (k < 0) continue;
            const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
            spent += took;
            most = std::max(most, took);
            quads = std::max(quads, ImGui::GetDrawData()->TotalVtxCount / 4);
        }
        rates.push_back({row, 1e3 * spent / frames, "ms",
                         (many ? std::to_string(session.cluster_step(*snapshot)->gpus()) + " GPUs, our"
                               : std::to_string(run.result.cycles) + " cycles, our") +
                             " own work a frame, at most " + std::to_string(static_cast<int>(1e3 * most + 0.5)) + "; " +
                             std::to_string(quads) + " quads"});
    }
    shell.state.upload = {};
    return rates;
}

// The first frame of the SM workspace after a run of that size came, and our own work in a frame of its warp timeline while
// it is dragged: no cell stays where it was.
std::vector<AppRate> warps_million() {
    Session session({.start = false});
    Shell shell(session, theme_named("dark"), 1);
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = million_spans();
    const KernelTrace& trace = snapshot->kernel.run->result.trace;
    size_t spans = trace.issues.size();
    for (const WarpTrack& warp : trace.warps) spans += warp.runs.size();
    session.workspace = Workspace::sm;
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {1600, 1000};
    io.DeltaTime = 0.02f;
    shell.state.upload = [](TextureId old, int, int, const Color*) { return old != 0 ? old : TextureId{1}; };
    const auto frame = [&](double now) {
        shell.prepare(1);
        ImGui::NewFrame();
        shell.frame({}, 1600, 1000, now);
        ImGui::Render();
    };
    for (int i = 0; i < 4; ++i) frame(1 + i);
    session.publish_for_test(snapshot);
    const auto came = Clock::now();
    frame(6);
    const double first = seconds_since(came);
    shell.show_alone("warps");
    for (int i = 0; i < 4; ++i) frame(7 + i);
    int frames = 0, quads = 0;
    const int64_t length = trace.cycles * 9 / 10;
    double spent = 0;
    while (frames < 40) {
        session.sm.cycles_begin = frames * (trace.cycles - length) / 40;
        session.sm.cycles_end = session.sm.cycles_begin + length;
        shell.focus.time = session.sm.cycles_begin + length / 2;
        const auto begin = Clock::now();
        frame(12 + 0.02 * frames++);
        spent += seconds_since(begin);
        quads = std::max(quads, ImGui::GetDrawData()->TotalVtxCount / 4);
    }
    shell.state.upload = {};
    return {{"app/frames/warps_million", 1e3 * spent / frames, "ms",
             std::to_string(spans) + " issues and waits, our own work a frame while dragging, " + std::to_string(quads) +
                 " quads"},
            {"app/frames/first_look", 1e3 * first, "ms", "the first frame of SM after such a run came, our own work"}};
}

// From the start to the machine with a kernel on it, as the app opens without arguments.
AppRate first_machine() {
    const auto begin = Clock::now();
    Session session({.training_steps = 1, .steps_later = 41});
    Shell shell(session, theme_named("dark"), 1);
    session.workspace = Workspace::machine;
    Canvas canvas(shell, 1600, 1000);
    double now = 0.1;
    while (!session.snapshot()->kernel.run && seconds_since(begin) < 30) {
        const auto drawn = Clock::now();
        canvas.frame({}, now += 0.02), canvas.finish();
        std::this_thread::sleep_until(drawn + std::chrono::milliseconds(33));  // as a screen would wait
    }
    canvas.frame({}, now += 0.02);
    canvas.finish();
    return {"app/first_machine", 1e3 * seconds_since(begin), "ms", "1600x1000, start to the machine with a kernel on it"};
}

// From the last key of an edit to the result in the picture, the pause before the text is compiled included.
std::optional<AppRate> edit_run() {
    Session session({.own_kernel = true});
    Shell shell(session, theme_named("dark"), 1);
    session.workspace = Workspace::kernel;
    Canvas canvas(shell, 1600, 1000);
    const auto begin = Clock::now();
    const auto draw = [&] {
        canvas.frame({}, 1 + seconds_since(begin));
        canvas.finish();
    };
    const auto settled = [&] {
        const auto snapshot = session.snapshot();
        return snapshot->own.result && snapshot->own.result->run &&
               snapshot->own.result->version == session.desk.version() && snapshot->kernel.run == snapshot->own.result->run;
    };
    std::vector<double> took;
    for (int edit = 0; edit < 6; ++edit) {
        std::string text = session.desk.document().text;
        session.desk.set_text(text + "// edit " + std::to_string(edit) + "\n");
        const auto from = Clock::now();
        while (!settled() && seconds_since(from) < 20) draw();
        if (!settled()) return std::nullopt;  // no compiler here
        draw();
        if (edit > 0) took.push_back(seconds_since(from));  // the first one loads the compiler
    }
    std::sort(took.begin(), took.end());
    return AppRate{"app/edit_run", 1e3 * took[took.size() / 2], "ms",
                   "last key to the result drawn, vector_add; 150 ms of it are the pause before it compiles; at most " +
                       std::to_string(static_cast<int>(1e3 * took.back()))};
}

// From a handle that is moved to the picture of the new design's run, of every puzzle: of three designs, the later two asked
// for while the one before is looked at in runs of its own, as when somebody moves one handle after the other.
AppRate first_design() {
    std::vector<std::pair<double, std::string>> took;
    for (const std::filesystem::path& file : lessons::puzzle_files()) {
        Session session({.own_kernel = true});
        Shell shell(session, theme_named("dark"), 1);
        session.workspace = Workspace::build;
        session.build.open(session, file.string());
        Canvas canvas(shell, 1600, 1000);
        double now = 0.1;
        // As the window does: what moves by itself takes half a core, and what is published wakes it.
        const auto draw = [&] {
            const auto from = Clock::now();
            canvas.frame({}, now += 0.02), canvas.finish();
            const uint64_t drawn = session.snapshot()->version;
            const double frame = std::clamp(seconds_since(from), 0.001, 0.1);
            while (seconds_since(from) < 2 * frame && session.snapshot()->version == drawn)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        };
        const auto has_run = [&] {
            const auto build = session.snapshot()->build;
            return build && build->task == session.build.task() && build->numbered(session.build.number()) != nullptr;
        };
        const auto opened = Clock::now();
        while (!has_run() && seconds_since(opened) < 60) draw();
        if (!has_run()) continue;
        for (const lessons::Medal medal : {lessons::Medal::silver, lessons::Medal::gold, lessons::Medal::bronze}) {
            for (const auto from = Clock::now(); seconds_since(from) < 0.5;) draw();
            const auto begin = Clock::now();
            session.build.take(session, session.build.task()->puzzle->reference.at(medal));
            while (!has_run() && seconds_since(begin) < 30) draw();
            canvas.frame({}, now += 0.02), canvas.finish();
            took.emplace_back(seconds_since(begin), file.stem().string());
        }
    }
    if (took.empty()) return {"app/first_design", 0, "ms", "there are no puzzles here"};
    std::sort(took.begin(), took.end());
    return {"app/first_design", 1e3 * took.back().first, "ms",
            fmt::format("a new design to its run drawn, worst of {} in all puzzles ({}); median {:.0f} ms", took.size(),
                        took.back().second, 1e3 * took[took.size() / 2].first)};
}

// One frame of a picture of a kernel's warps, drawn and read, by the processor alone and by OpenGL.
std::vector<AppRate> still_frames(std::string_view wanted) {
    std::vector<AppRate> rates;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = matrix_product(128, 1, {});
    for (const Drawing how : {Drawing::cpu, Drawing::opengl}) {
        const std::string row = how == Drawing::cpu ? "app/picture/cpu" : "app/picture/gl";
        if (!starts(row, wanted)) continue;
        Session session({.start = false});
        Shell shell(session, theme_named("light"), 1);
        session.publish_for_test(snapshot);
        shell.show_alone("warps");
        try {
            Canvas canvas(shell, 1160, 760, how);
            double now = 1;
            std::vector<Color> pixels;
            const auto draw = [&] { canvas.frame({}, now += 0.02), canvas.read(pixels); };
            for (int i = 0; i < 4; ++i) draw();
            const int frames = 20;
            const auto begin = Clock::now();
            for (int i = 0; i < frames; ++i) draw();
            rates.push_back({row, 1e3 * seconds_since(begin) / frames, "ms",
                             "1160x760, a frame of the warp timeline drawn and read, " +
                                 std::to_string(ImGui::GetDrawData()->TotalVtxCount / 4) + " quads"});
        } catch (const Failure& failure) {
            if (failure.status != ExitStatus::missing) throw;  // no OpenGL here: it has no row
        }
    }
    return rates;
}

}  // namespace

std::vector<AppRate> bench_app(std::string_view name) {
    std::vector<AppRate> rates;
    if (!starts("app/", name)) return rates;
    for (const std::string_view of_others : {"app/memory", "app/own", "app/train", "app/step_key"})
        if (name.substr(0, of_others.size()) == of_others) return rates;  // bench_manners
    constexpr int width = 1600, height = 1000;
    if (starts("app/frames/warps_million", name) || starts("app/frames/first_look", name)) {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        rates = warps_million();
        ImGui::DestroyContext();
    }
    if (name == "app/frames/warps_million" || name == "app/frames/first_look") return rates;
    if (starts("app/edit_run", name)) {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        if (const auto rate = edit_run()) rates.push_back(*rate);
        ImGui::DestroyContext();
    }
    if (name == "app/edit_run") return rates;
    if (starts("app/first_design", name)) {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        rates.push_back(first_design());
        ImGui::DestroyContext();
    }
    if (name == "app/first_design") return rates;
    if (starts("app/machine", name)) {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        for (const AppRate& rate : machine_frames(name)) rates.push_back(rate);
        ImGui::DestroyContext();
    }
    if (starts("app/first_machine", name)) {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        rates.push_back(first_machine());
        ImGui::DestroyContext();
    }
    if (starts("app/picture", name)) {
        ImGui::CreateContext();
        ImGui::GetIO().IniFilename = nullptr;
        for (const AppRate& rate : still_frames(name)) rates.push_back(rate);
        ImGui::DestroyContext();
    }
    if (name.substr(0, 11) == "app/picture") return rates;
    if (name.substr(0, 11) == "app/machine" || name == "app/first_machine") return rates;
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    {
        const auto begin = Clock::now();
        Session session({.training_steps = 12});
        Shell shell(session, theme_named("dark"), 1);
        session.workspace = Workspace::training;
        Canvas canvas(shell, width, height);
        canvas.frame({}, 0.1);
        canvas.finish();
        const double frame = seconds_since(begin);
        while (!session.snapshot()->training.step && !session.snapshot()->problem && seconds_since(begin) < 30)
            canvas.frame({}, 0.2), canvas.finish();
        if (starts("app/first_frame", name))
            rates.push_back({"app/first_frame", 1e3 * frame, "ms", "1600x1000, start to the drawn interface"});
        if (starts("app/first_picture", name))
            rates.push_back({"app/first_picture", 1e3 * seconds_since(begin), "ms",
                             "1600x1000, start to the first training step drawn"});
        session.wait_until_idle(120);
        for (const std::string_view shown : {"training", "sm", "warps"}) {
            const std::string row = "app/frames/" + std::string(shown);
            if (!starts(row, name)) continue;
            if (!shell.show_alone(shown)) session.workspace = *workspace_named(shown);
            for (int i = 0; i < 4; ++i) canvas.frame({}, 1 + i), session.wait_until_idle(20);
            canvas.finish();
            int frames = 0;
            const auto from = Clock::now();
            while (frames < 10 || seconds_since(from) < 1) {
                shell.focus.time += 1;  // the cursor moves, as while playing
                canvas.frame({}, 10 + 0.02 * frames++);
                canvas.finish();
            }
            const int quads = ImGui::GetDrawData() != nullptr ? ImGui::GetDrawData()->TotalVtxCount / 4 : 0;
            rates.push_back(
                {row, frames / seconds_since(from), "frames/s", "1600x1000, " + std::to_string(quads) + " quads"});
        }
    }
    ImGui::DestroyContext();
    return rates;
}

}  // namespace lockstep::gui
