// The model held against measurements, what is kept of it, what is proposed from it, and the store of files. No figure here
// was measured, but for the copies of a real H200: other files are typed, or made by the model itself, for these tests.
#include "app/silicon/measured.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "app/silicon/compare/compare.h"
#include "app/silicon/measure/parts.h"
#include "core/base/files.h"
#include "core/device/arguments.h"
#include "core/device/devices.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/model/streams/streams.h"
#include "core/validate/probe.h"
#include "tests/catch.h"

namespace silicon_measured_test {

using namespace lockstep;
using namespace lockstep::device;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;
using Kind = PackArgument::Kind;
constexpr std::string_view own = "kernels/silicon/ptx/pack.ptx";

PackArgument floats(int64_t count) {
    return {Kind::reals, DType::f32, count};
}
PackArgument whole(int64_t value) {
    return {Kind::whole, DType::i32, value};
}

// Sums of n floats by loops of one warp or several: `count` kernels, their names' hashes on both halves.
std::vector<PackRow> loops(size_t count) {
    std::vector<PackRow> rows;
    for (size_t i = 0; i < count; ++i) {
        const int64_t n = 4096 + 2048 * static_cast<int64_t>(i);
        rows.push_back({fmt::format("{} loops", i),
                        own,
                        i % 2 == 0 ? "reduce_shuffle" : "reduce_tree",
                        {1 + static_cast<uint32_t>(i % 3)},
                        {256},
                        {floats(n), floats(8), whole(n)}});
    }
    return rows;
}

// A file of those kernels as if measured: what the model gives, at 1000 MHz.
SiliconFile as_if_measured(const std::vector<PackRow>& rows, const model::GpuSpec& gpu) {
    SiliconFile file{.gpu = "Made-up V100", .driver = "0.0", .date = "2026-01-02", .made_up = true};
    SiliconPart part{.name = "kernels", .clock_before_mhz = 1000, .clock_after_mhz = 1000};
    for (const PackRow& row : rows) part.kernels.push_back({row.name, row.grid, row.block, 5, 1, 1, 1, 1});
    file.parts.push_back(part);
    const SiliconReport report = compare_silicon(file, gpu, {.pack = rows});
    for (size_t i = 0; i < rows.size(); ++i) {
        SiliconKernel& kernel = file.parts[0].kernels[i];
        kernel.cycles = report.rows.at(i).modelled;
        kernel.time_us = kernel.fastest_us = kernel.slowest_us = kernel.cycles / 1000;
    }
    return file;
}

model::GpuSpec v100() {
    return model::gpu_named("v100").value();
}

struct Folder {
    fs::path path = fs::temp_directory_path() / fmt::format("lockstep_measured_{}", static_cast<const void*>(this));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

template <class F>
std::string refusal_of(const F& f) {
    try {
        f();
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "nothing was refused";
}

}  // namespace

TEST_CASE("kernels that run side by side take the cycles that they take one after the other") {
    const std::vector<PackRow> rows = loops(6);
    const SiliconFile file = as_if_measured(rows, v100());
    size_t told = 0, last = 0;
    const SiliconReport several =
        compare_silicon(file, "", {.pack = rows, .threads = 3, .finished = [&](std::string_view, size_t done, size_t of) {
                                       ++told, last = done;
                                       CHECK(of == 6);
                                   }});
    CHECK(told == 6);
    CHECK(last == 6);
    REQUIRE(several.rows.size() == 6);
    for (const SiliconRow& row : several.rows) {
        CHECK(row.modelled == row.measured);  // measured: the same model, one thread
        CHECK(row.modelled > 100);
    }
    std::stop_source stopped;
    stopped.request_stop();
    CHECK_THAT(refusal_of([&] { compare_silicon(file, "", {.pack = rows, .stop = stopped.get_token()}); }),
               Contains("cancelled"));
}

TEST_CASE("what events add to every time is taken off, and a kernel of hardly anything else is left out") {
    const std::vector<PackRow> rows = loops(3);
    SiliconFile file = as_if_measured(rows, v100());
    const SiliconReport without = compare_silicon(file, "", {.pack = rows});
    CHECK(without.overhead == 0);
    CHECK_THAT(without.remarks.back(), Contains("does not say what events add"));
    file.parts.push_back({.name = "launch",
                          .clock_before_mhz = 1000,
                          .clock_after_mhz = 1200,
                          .figures = {{std::string(empty_kernel_figure), 0.5, "us"}}});
    file.parts[0].kernels[0].cycles += 550;  // 0.5 us at 1100 MHz
    // The model's cycles of the kernel that does nothing are in those of every other.
    double own_cycles = 0;
    const auto sim = open_device("sim:v100").value();
    sim->on_launch = [&](const LaunchEvent& event) { own_cycles = static_cast<double>(event.cycles); };
    const PackLaunch nothing(*sim, empty_row());
    sim->launch(nothing.request());
    file.parts[0].kernels[1].cycles = 1.1 * (550 - own_cycles);
    const SiliconReport report = compare_silicon(file, "", {.pack = rows});
    CHECK(own_cycles > 30);
    CHECK(report.overhead == Approx(550 - own_cycles));
    REQUIRE(report.rows.size() == 2);
    CHECK(report.rows[0].measured == Approx(without.rows[0].measured + own_cycles));
    CHECK_THAT(report.remarks.at(1), Contains("1 loops: mostly what the events add"));
}

TEST_CASE("the cache gives what this program got before, and a damaged one or another program's nothing") {
    const Folder folder;
    const fs::path at = folder.path / "deep" / "cache.json";
    const std::vector<PackRow> rows = loops(3);
    const SiliconFile file = as_if_measured(rows, v100());
    {
        SiliconCache cache(at);
        const SiliconReport none = compare_silicon(file, "", {.pack = rows, .cache = &cache, .kept_only = true});
        REQUIRE(none.rows.size() == 3);
        for (const SiliconRow& row : none.rows) CHECK(std::isnan(row.modelled));
        compare_silicon(file, "", {.pack = rows, .threads = 2, .cache = &cache});
    }
    SiliconCache again(at);
    const SiliconReport kept = compare_silicon(file, "", {.pack = rows, .cache = &again, .kept_only = true});
    for (const SiliconRow& row : kept.rows) CHECK(row.modelled == row.measured);

    // Each of these is another launch or another GPU.
    const std::string key = silicon_key(validate::at_clock(v100(), 1000), rows[0]);  // the clock of the file
    CHECK(again.find(key));
    PackRow other = rows[0];
    other.arguments[2].count -= 32;
    CHECK(silicon_key(v100(), other) != key);
    other = rows[0];
    other.grid.x = 5;
    CHECK(silicon_key(v100(), other) != key);
    model::GpuSpec gpu = v100();
    gpu.branch_latency.value += 1;
    CHECK(silicon_key(gpu, rows[0]) != key);

    const std::string text = read_file(at).value();
    for (const std::string& damaged :
         {text.substr(0, text.size() / 2), std::string("[]"), std::string("{\"program\": 3, \"cycles\": 4}"),
          std::string("{\"cycles\": {\"" + key + "\": 7}}"), std::string()}) {
        write_file(at, damaged);
        CHECK_FALSE(SiliconCache(at).find(key));
    }
    write_file(at, "{\"cycles\": {\"" + key + "\": 7}, \"program\": \"of another build\"}");
    CHECK_FALSE(SiliconCache(at).find(key));
    write_file(at, text);
    CHECK(SiliconCache(at).find(key));
    SiliconCache nowhere("/proc/no such folder/cache.json");
    nowhere.keep("a", 1);
    CHECK(nowhere.find("a") == 1);
}

TEST_CASE("a fit finds the figure that was changed, by one half, and the other half agrees") {
    const std::vector<PackRow> rows = loops(12);
    model::GpuSpec silicon = v100();
    silicon.branch_latency.value = 10;  // an estimate of 8 in the row
    REQUIRE(v100().branch_latency.value == 8);
    const SiliconFile file = as_if_measured(rows, silicon);
    size_t ran = 0;
    const SiliconFit fit =
        fit_silicon(file, v100(), {.pack = rows, .finished = [&](std::string_view, size_t, size_t) { ++ran; }},
                    {"branch_latency", "dram_row_cycle_ns"});
    CHECK(fit.tried == std::vector<std::string>{"branch_latency", "dram_row_cycle_ns"});
    CHECK(fit.fit_before.rows + fit.judge_before.rows == 12);
    // The judging half ran before and after alone; the figure that no kernel rests on was tried one way.
    CHECK(ran == 12 + 3 * fit.fit_before.rows + 12);
    REQUIRE(fit.proposals.size() == 1);
    CHECK(fit.proposals[0].figure == "branch_latency");
    CHECK(fit.proposals[0].from == 8);
    CHECK(fit.proposals[0].to == 10);
    CHECK_THAT(fit.proposals[0].source, Contains("estimate"));
    CHECK(fit.proposals[0].error_with < fit.proposals[0].error_without);
    CHECK(fit.fit_before.mean_error > 0.004);
    CHECK(fit.fit_after.mean_error < 1e-9);
    CHECK(fit.judge_before.mean_error > 0.004);
    CHECK(fit.judge_after.mean_error < 1e-9);
    CHECK(v100().branch_latency.value == 8);  // nothing is applied
}

TEST_CASE("a fit proposes nothing where the model is right, and refuses what was published or too few kernels") {
    const std::vector<PackRow> rows = loops(12);
    const SiliconFile file = as_if_measured(rows, v100());
    const SiliconFit fit = fit_silicon(file, v100(), {.pack = rows}, {"branch_latency"});
    CHECK(fit.proposals.empty());
    CHECK(fit.judge_after.mean_error == fit.judge_before.mean_error);
    for (const std::string& name : fitted_figures(v100())) {
        INFO(name);
        bool found = false;
        for (const model::SpecFigure& figure : model::figures_of(v100()))
            if (figure.name == name) {
                found = true;
                const bool open = figure.source.starts_with("estimate") || figure.source.starts_with("Accel-Sim") ||
                                  figure.source.find("calibrated") != std::string_view::npos;
                CHECK(open);
            }
        CHECK(found);
    }
    const auto refused = [&](const std::string& figure) {
        return refusal_of([&] { fit_silicon(file, v100(), {.pack = rows}, {figure}); });
    };
    CHECK_THAT(refused("fp32_lanes"), Contains("'fp32_lanes' is no figure of v100 that may be fitted"));
    CHECK_THAT(refused("branch_latenzy"), Contains("did you mean 'branch_latency'?"));
    const std::vector<PackRow> few = loops(3);
    CHECK_THAT(refusal_of([&] { fit_silicon(as_if_measured(few, v100()), v100(), {.pack = few}); }),
               Contains("at least 3 are needed"));
}

TEST_CASE("a folder's files are read, a damaged one is one sentence, and a folder that is not there is empty") {
    const Folder folder;
    CHECK(read_measured(folder.path / "none").gpus.empty());
    CHECK(read_measured(folder.path / "none").problems.empty());
    const SiliconFile file = as_if_measured(loops(3), v100());
    write_file(folder.path / "v100.json", format_silicon(file));
    write_file(folder.path / "broken.json", format_silicon(file).substr(0, 300));
    write_file(folder.path / "notes.txt", "no measurements");
    fs::create_directories(folder.path / "folder.json");
    const MeasuredStore store = read_measured(folder.path);
    REQUIRE(store.gpus.size() == 1);
    CHECK(store.gpus[0].model == "v100");
    CHECK_FALSE(store.gpus[0].real());
    CHECK_THAT(store.gpus[0].badge(), Contains("made up, not measured"));
    REQUIRE(store.problems.size() == 2);
    for (const Diagnostic& problem : store.problems) CHECK_THAT(render(problem), Contains(".json"));
    CHECK_THAT(store.problems[0].message, Contains("the JSON ends too early"));
    CHECK(store.of_model("v100") == &store.gpus[0]);
    CHECK(store.of_model("h200") == nullptr);
    CHECK(store.of_model("") == nullptr);
    setenv("LOCKSTEP_SILICON", folder.path.c_str(), 1);
    CHECK(measured_folder() == folder.path);
    unsetenv("LOCKSTEP_SILICON");
    CHECK(measured_folder() == resource_root() / "assets" / "silicon");

    MeasuredGpu real{.file = file};
    real.file.made_up = false;
    real.file.gpu = "NVIDIA H200";
    real.file.driver = "13.0";
    real.file.date = "2026-11-22";
    CHECK(real.badge() == "measured on NVIDIA H200, driver 13.0, 2026-11-22");
    real.file.modelled = true;
    CHECK_THAT(real.badge(), Contains("not measured, simulated"));
}

TEST_CASE("a launch finds its measurement: the same PTX, launch and numbers on the GPU of that row") {
    const auto& rows = silicon_pack();
    const auto relu = std::find_if(rows.begin(), rows.end(), [](const PackRow& row) { return row.name == "relu_f32"; });
    REQUIRE(relu != rows.end());
    MeasuredStore store;
    SiliconFile file{.gpu = "NVIDIA H200", .driver = "13.0", .made_up = true};
    file.parts.push_back({.name = "kernels", .kernels = {{"relu_f32", relu->grid, relu->block, 21, 40, 39, 44, 70000}}});
    file.parts.push_back({.name = "launch", .figures = {{std::string(empty_kernel_figure), 1.5, "us"}}});
    file.parts.push_back({.name = "training",
                          .trainings = {{"gpt eager", 8, 20, 300, 900, 890, 950, 2, 2, 0},
                                        {"gpt graph", 8, 20, 300, 700, 690, 750, 2, 2, 0},
                                        {"gpt2 graph", 8, 20, 300, 700, 690, 750, 2, 2, 0}}});
    store.gpus.push_back({"h200.json", file, "h200"});

    const auto program = program_of("relu_f32");
    const int64_t n = relu->arguments.at(2).count;
    const auto config = [&](int64_t count, uint32_t grid) {
        const std::vector<Argument> arguments = {Pointer{512}, Pointer{1024}, static_cast<int32_t>(count)};
        return simt::LaunchConfig{{grid}, relu->block, 0, pack(*program, arguments)};
    };
    const auto found = store.find(*program, config(n, relu->grid.x), "h200");
    REQUIRE(found);
    CHECK(found->time_us == Approx(38.5));
    CHECK(found->kernel->name == "relu_f32");
    CHECK_FALSE(store.find(*program, config(n, relu->grid.x), "v100"));
    CHECK_FALSE(store.find(*program, config(n - 1, relu->grid.x), "h200"));
    CHECK_FALSE(store.find(*program, config(n, relu->grid.x - 1), "h200"));
    ptx::Program other = *program;  // compiled again: other comments, a function of another number
    other.ptx += "// and so on";
    for (size_t at = 0; (at = other.ptx.find("$L__BB", at)) != std::string::npos; ++at)
        if (other.ptx[at + 6] >= '0' && other.ptx[at + 6] <= '8') ++other.ptx[at + 6];
    CHECK(store.find(other, config(n, relu->grid.x), "h200"));
    const size_t wide = other.ptx.find("mul.wide.s32", other.texts.front().begin);
    REQUIRE(wide != std::string::npos);
    other.ptx.replace(wide, 12, "mul.wide.u32");
    CHECK_FALSE(store.find(other, config(n, relu->grid.x), "h200"));
    CHECK_FALSE(MeasuredStore().find(*program, config(n, relu->grid.x), "h200"));

    CHECK(store.trainings("gpt", 8, "h200").size() == 2);
    CHECK(store.trainings("gpt", 16, "h200").empty());
    CHECK(store.trainings("gpt", 8, "v100").empty());
}

// A real H200's copies between two events, and pageable ones on the host's clock (assets/silicon).
TEST_CASE("copies of every size take what a real H200's take") {
    const std::string path = std::string(LOCKSTEP_SOURCE_DIR) + "/assets/silicon/h200.json";
    const SiliconFile file = parse_silicon(read_file(path).value(), path).value();
    REQUIRE_FALSE(file.made_up);
    const model::GpuSpec gpu = model::gpu_named("h200").value();
    const auto simulated = [&](model::HostVerb verb, uint64_t bytes, bool pinned) {
        model::HostProgram program;
        const auto add = [&](model::HostVerb what, uint32_t event = 0) {
            model::HostOperation one;
            one.verb = what;
            one.stream = 1;
            one.event = event;
            one.bytes = bytes;
            one.pinned = pinned;
            program.operations.push_back(one);
        };
        if (pinned) add(model::HostVerb::record, 1);
        add(verb);
        if (pinned) add(model::HostVerb::record, 2);
        const model::Schedule schedule = model::schedule(gpu, program);
        return pinned ? schedule.operations[2].end_us - schedule.operations[0].end_us
                      : schedule.operations[0].call_end_us - schedule.operations[0].call_begin_us;
    };
    size_t held = 0;
    for (const SiliconFigure& row : file.part("copies")->figures) {
        const bool in = row.name.starts_with("host to device"), out = row.name.starts_with("device to host"),
                   within = row.name.starts_with("device to device"),
                   pinned = row.name.find("pageable") == std::string::npos;
        if (!in && !out && !within) continue;
        const uint64_t bytes = std::stoull(row.name.substr(row.name.rfind(", ") + 2));
        const double us = simulated(in    ? model::HostVerb::copy_in
                                    : out ? model::HostVerb::copy_out
                                          : model::HostVerb::copy_within,
                                    bytes, pinned);
        INFO(row.name << ": measured " << row.value << ", simulated " << us);
        if (!pinned && bytes > (64 << 20)) continue;  // fresh pages took the host twice as long: no figure of a GPU
        CHECK(std::abs(us / row.value - 1) < (pinned ? 0.1 : 0.45));
        ++held;
    }
    CHECK(held == 23);
}

}  // namespace silicon_measured_test
