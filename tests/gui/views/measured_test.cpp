// Measured beside simulated. The file is tests/golden/measured/made_up_h200.json: typed for these tests and for pictures of
// the views (LOCKSTEP_SILICON names its folder), nothing in it was measured.
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "app/gui/view.h"
#include "app/gui/views/roofline/measured_data.h"
#include "app/silicon/compare/compare.h"
#include "core/base/files.h"
#include "core/device/arguments.h"
#include "tests/gui/desk.h"
#include "tests/gui/sm_scene.h"

namespace gui_measured_test {

using namespace lockstep;
using namespace lockstep::gui;
using device::MeasuredStore;

namespace {

std::shared_ptr<const MeasuredStore> made_up_store() {
    return std::make_shared<const MeasuredStore>(
        device::read_measured(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests" / "golden" / "measured"));
}

// A launch of the pack as if it had run on the modelled H200 in so many microseconds.
std::shared_ptr<const model::KernelRun> run_of(std::string_view name, double us, std::string_view gpu = "h200") {
    for (const device::PackRow& row : device::silicon_pack()) {
        if (row.name != name) continue;
        auto run = std::make_shared<model::KernelRun>(*gui::test::small_run());
        run->gpu = model::gpu_named(gpu).value();
        run->program = device::pack_program(row.file, row.kernel)->program;
        std::vector<device::Argument> arguments;
        for (const device::PackArgument& it : row.arguments)
            if (it.kind == device::PackArgument::Kind::whole)
                arguments.emplace_back(static_cast<int32_t>(it.count));
            else if (it.kind == device::PackArgument::Kind::real)
                arguments.emplace_back(static_cast<float>(it.high));
            else
                arguments.emplace_back(device::Pointer{4096});
        run->config = {row.grid, row.block, 0, device::pack(*run->program, arguments)};
        run->result.time_us = us;
        run->result.instructions.assign(run->program->instructions.size(), {});
        for (size_t pc = 0; pc < run->program->instructions.size(); ++pc)
            if (run->program->instructions[pc].opcode->name == "fma") run->result.instructions[pc].executed = 132 * 1024;
        run->result.totals.dram_read = 1 << 20;
        return run;
    }
    return nullptr;
}

// The reports as the worker makes them, with typed cycles: the model is a quarter slower than the first half of the rows
// say, and has not run the others.
std::shared_ptr<const std::vector<device::SiliconReport>> reports_of(const MeasuredStore& store) {
    auto reports = std::make_shared<std::vector<device::SiliconReport>>();
    device::SiliconReport report{.gpu = store.gpus.at(0).file.gpu, .model = "h200"};
    const auto& kernels = store.gpus[0].file.part("kernels")->kernels;
    for (size_t i = 0; i < kernels.size(); ++i)
        report.rows.push_back({kernels[i].name, device::half_of(kernels[i].name), kernels[i].cycles,
                               i < kernels.size() / 2 ? 1.25 * kernels[i].cycles : NAN});
    reports->push_back(std::move(report));
    return reports;
}

struct Desk : gui::test::Desk {
    explicit Desk(const char* view, const char* theme = "dark", float scale = 1)
        : gui::test::Desk({.start = false}, theme, scale), name(view) {
        REQUIRE(shell.show_alone(view));
    }
    std::string words() {
        for (const ViewRow& row : views())
            if (row.name == name) return row.make()->describe(session, shell.focus);
        return {};
    }
    std::string name;
};

}  // namespace

TEST_CASE("the made-up file is read whole and says that it is made up") {
    const auto store = made_up_store();
    REQUIRE(store->problems.empty());
    REQUIRE(store->gpus.size() == 1);
    CHECK(store->gpus[0].file.made_up);
    CHECK(store->gpus[0].model == "h200");
    CHECK(store->gpus[0].badge().find("made up, not measured") != std::string::npos);
}

TEST_CASE("a damaged file of measurements is one sentence in the strip, and the app goes on") {
    const auto folder = std::filesystem::temp_directory_path() / "lockstep_gui_measured_test";
    std::filesystem::create_directories(folder);
    write_file(folder / "broken.json", "{\"format\": 1, \"gpu\": ");
    setenv("LOCKSTEP_SILICON", folder.c_str(), 1);
    {
        Session session({.own_kernel = true});
        REQUIRE(session.wait_until_idle(60));
        const auto snapshot = session.snapshot();
        REQUIRE(snapshot->problem);
        CHECK(snapshot->problem->message.find("broken.json") != std::string::npos);
        CHECK(snapshot->problem->message.find("the JSON ends too early") != std::string::npos);
        CHECK(session.measured->gpus.empty());
    }
    unsetenv("LOCKSTEP_SILICON");
    std::filesystem::remove_all(folder);
}

TEST_CASE("the worker looks up what ran before, and runs the rest when it is asked to") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / "lockstep_gui_measured_worker";
    fs::remove_all(folder);
    device::SiliconFile file = made_up_store()->gpus.at(0).file;
    for (device::SiliconPart& part : file.parts)
        std::erase_if(part.kernels, [](const auto& kernel) { return !kernel.name.starts_with("A15 "); });
    write_file(folder / "h200.json", device::format_silicon(file));
    setenv("LOCKSTEP_SILICON", folder.c_str(), 1);
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    {
        Session session({.own_kernel = true});
        const auto rows_that_ran = [&](Request request) {
            session.post(std::move(request));
            REQUIRE(session.wait_until_idle(120));
            const auto reports = session.snapshot()->silicon;
            REQUIRE(reports);
            REQUIRE(reports->size() == 1);
            REQUIRE(reports->at(0).rows.size() == 3);
            return std::count_if(reports->at(0).rows.begin(), reports->at(0).rows.end(),
                                 [](const auto& row) { return row.modelled > 100; });
        };
        CHECK(rows_that_ran(ask::CompareMeasured{}) == 0);
        CHECK(rows_that_ran(ask::CompareMeasured{true, "A15 fma"}) == 1);
        CHECK(rows_that_ran(ask::CompareMeasured{true}) == 3);
    }
    {
        Session session({.own_kernel = true});  // another window: nothing runs again
        session.post(ask::CompareMeasured{});
        REQUIRE(session.wait_until_idle(120));
        REQUIRE(session.snapshot()->silicon);
        for (const auto& row : session.snapshot()->silicon->at(0).rows) CHECK(std::isfinite(row.modelled));
    }
    unsetenv("XDG_CACHE_HOME");
    unsetenv("LOCKSTEP_SILICON");
    fs::remove_all(folder);
}

TEST_CASE("what stands beside a measured time is told in percent, and in factors beyond a factor of two") {
    CHECK(beside(110, 100) == "the model is 10 % slower");
    CHECK(beside(92, 100) == "the model is 8 % faster");
    CHECK(beside(100.1, 100) == "the model agrees");
    CHECK(beside(300, 100) == "the model is x3 as slow");
    CHECK(beside(25, 100) == "the model is x4 as fast");
    CHECK(beside(0, 100).empty());
    CHECK(beside(NAN, 100).empty());
}

TEST_CASE("where model and measurement are far apart it is said what each of them ran") {
    const device::MeasuredGpu gpu;
    const device::MeasuredKernel kernel{&gpu, nullptr, 100};
    CHECK(
        measured_sentence(kernel, 178)
            .ends_with("the model is 78 % slower: it runs the PTX as it stands, the GPU what its driver compiled from it"));
    CHECK(measured_sentence(kernel, 110).ends_with("the model is 10 % slower"));
}

TEST_CASE("without a file the view of measurements says plainly that nothing was measured, and no other view shows any") {
    Desk desk("measured");
    desk.frames(2);
    CHECK(desk.words().find("Nothing was measured on a real GPU") != std::string::npos);
    CHECK(desk.words().find("every figure here is simulated") != std::string::npos);
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run_of("A15 fma32", 4);
    desk.show(snapshot);
    for (const ViewRow& row : views()) {
        INFO(row.name);
        if (row.name.starts_with("measured")) continue;
        CHECK(row.make()->describe(desk.session, desk.shell.focus).find("made up") == std::string::npos);
    }
}

TEST_CASE("the view of measurements sets both times beside each other, sums up the halves, and asks for what has not run") {
    const auto store = made_up_store();
    auto snapshot = std::make_shared<Snapshot>();
    {
        Desk desk("measured");
        desk.session.measured = store;
        desk.show(snapshot);
        CHECK(desk.words().find("Looking it up") != std::string::npos);
        snapshot = std::make_shared<Snapshot>();
        snapshot->silicon = reports_of(*desk.session.measured);
        desk.show(snapshot);
        const std::string words = desk.words();
        CHECK(words.find("made up, not measured") != std::string::npos);
        CHECK(words.find("sgemm_naive") != std::string::npos);
        CHECK(words.find("simulated not run") != std::string::npos);
        CHECK(words.find("judging kernels the mean error is 25 %") != std::string::npos);
        CHECK(words.find("aimed at: below 20 % and above 0.98") != std::string::npos);
        CHECK(words.find("training step gpt fused, batch 8") != std::string::npos);
        CHECK(words.find("% of cuBLAS 0.0 SGEMM") != std::string::npos);
        CHECK(desk.shows("on the model"));  // the button
        CHECK(desk.click_on("training steps"));
        CHECK(desk.shows("llama graph"));
        CHECK(desk.click_on("against a yardstick"));
        CHECK(desk.shows("of a copy of 1 GiB"));
    }

    Desk ladder("measured_ladder");
    ladder.session.measured = store;
    ladder.show(snapshot);
    CHECK(ladder.words().find("sgemm_warp_tile") != std::string::npos);
    CHECK(ladder.words().find("softmax_f32 (") == std::string::npos);
    CHECK(ladder.words().find("coalesced: 1986.5 GFLOP/s, 8.5 % of cuBLAS") != std::string::npos);
    CHECK(ladder.shows("93.7 %"));  // the published ones stand there first
    CHECK(ladder.click_on("kernels"));
    CHECK_FALSE(ladder.shows("93.7 %"));
}

TEST_CASE("generations are compared by the peak of the kernel's own arithmetic, in figures without an exponent") {
    auto snapshot = std::make_shared<Snapshot>();
    auto runs = std::make_shared<std::vector<scene::GpuRun>>();
    for (const char* gpu : {"jetson-nano", "h200"}) runs->push_back({model::gpu_named(gpu).value(), 7000, 4, {}});
    snapshot->kernel.generations = runs;
    for (const auto& [type, peak] :
         {std::pair{ptx::Type::f32, "the FP32 peak grew 28"}, {ptx::Type::f64, "the FP64 peak grew 4,59"}}) {
        auto run = std::make_shared<model::KernelRun>(*run_of("A15 fma32", 4));
        auto program = std::make_shared<ptx::Program>(*run->program);
        for (ptx::DecodedInstruction& instruction : program->instructions)
            if (instruction.opcode->name == "fma") instruction.type = type;
        run->program = program;
        snapshot->kernel.run = run;
        Desk desk("generations");
        desk.show(snapshot);
        INFO(desk.words());
        CHECK(desk.words().find(peak) != std::string::npos);
    }
}

TEST_CASE("roofline, generations and training show what was measured of the same launch on the same GPU, and of no other") {
    const auto store = made_up_store();
    const auto run = run_of("A15 fma32", 4);
    REQUIRE(run);
    REQUIRE(store->find(*run));
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    snapshot->kernel.label = "fma32";
    {
        Desk desk("roofline", "light");
        desk.session.measured = store;
        desk.show(snapshot);
        CHECK(desk.words().find("made up, not measured: as if on Made-up H200") != std::string::npos);
        CHECK(desk.words().find("; the model is ") != std::string::npos);
        desk.session.learn.reveal_steps = 0;  // an open prediction hides both
        CHECK(desk.words().find("Made-up") == std::string::npos);
    }
    {
        auto other = std::make_shared<Snapshot>(*snapshot);
        other->kernel.run = run_of("A15 fma32", 4, "v100");
        Desk desk("roofline");
        desk.session.measured = store;
        desk.show(other);
        CHECK(desk.words().find("Made-up") == std::string::npos);
    }
    {
        auto several = std::make_shared<Snapshot>(*snapshot);
        auto runs = std::make_shared<std::vector<scene::GpuRun>>();
        for (const char* gpu : {"v100", "h100", "h200"}) runs->push_back({model::gpu_named(gpu).value(), 7000, 4, {}});
        several->kernel.generations = runs;
        Desk desk("generations");
        desk.session.measured = store;
        desk.show(several);
        const std::string words = desk.words();
        const size_t at = words.find("Made-up H200");
        CHECK(at != std::string::npos);
        CHECK(words.find("H200 SXM") < at);
        CHECK(desk.shows("made up"));
        desk.session.learn.reveal_steps = 0;
        CHECK(desk.words().find("Made-up") == std::string::npos);
    }
    {
        auto training = std::make_shared<Snapshot>();
        auto step = std::make_shared<nn::StepRecord>();
        step->device = "sim:h200";
        step->model = "mlp";
        step->batch = 64;
        device::LaunchEvent launch;
        launch.kernel = launch.label = "relu_f32";
        launch.end_us = 5;
        launch.cycles = 9000;
        step->launches = {launch, launch};
        training->training.step = step;
        Desk desk("kernels");
        desk.session.measured = store;
        desk.show(training);
        CHECK(desk.words().find("The whole step made up, not measured: as if on Made-up H200") != std::string::npos);
        CHECK(desk.words().find("eager 62 µs, graph 34.1 µs, fused 23.6 µs") != std::string::npos);
        auto larger = std::make_shared<nn::StepRecord>(*step);
        larger->batch = 65;
        training = std::make_shared<Snapshot>();
        training->training.step = larger;
        desk.show(training);
        CHECK(desk.words().find("Made-up") == std::string::npos);
    }
}

TEST_CASE("no text of the view of measurements lies on another, on any page, at every size of window and text") {
    const auto store = made_up_store();
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->silicon = reports_of(*store);
    for (const float scale : {1.0f, 1.5f, 2.0f}) {
        for (const char* view : {"measured", "measured_ladder"}) {
            Desk desk(view, "light", scale);
            desk.session.measured = store;
            for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}, {760.0f, 470.0f}}) {
                desk.width = w, desk.height = h;
                desk.show(snapshot);
                for (const char* page :
                     {"published", "kernels", "training steps", "against a yardstick", "against cuBLAS"}) {
                    desk.click_on(page);
                    INFO(view << " " << page << " " << w << "x" << h << " at " << scale);
                    CHECK(desk.clashes() == std::vector<std::string>{});
                }
            }
        }
    }
}

}  // namespace gui_measured_test
