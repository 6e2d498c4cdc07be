// `lockstep sweep KERNEL|PUZZLE|step:mlp --vary sms=4..32 ...`: one launch, or a training step, on a grid of GPUs, over all
// cores. CSV and a picture of the front.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/kernel/area_text.h"
#include "app/cli/kernel/launch_input.h"
#include "app/cli/long_work.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/scene/designs/designs.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::cli {
namespace {

constexpr size_t most_printed = 24;

struct SweepAsked {
    KernelAsked launch;
    std::vector<std::string> vary;
    std::string csv, svg, json, process;
    int threads = 0;
};

nlohmann::ordered_json to_json(const scene::Sweep& sweep) {
    nlohmann::ordered_json json = {{"kernel", sweep.kernel},         {"gpu", sweep.gpu},
                                   {"process", sweep.process->name}, {"estimate", {"mm2", "watts", "joules"}},
                                   {"asked", sweep.asked},           {"designs", nlohmann::ordered_json::array()}};
    for (const scene::Design& design : sweep.designs) {
        nlohmann::ordered_json row;
        for (size_t k = 0; k < sweep.varied.size(); ++k) row["figures"][sweep.varied[k].field] = design.values[k];
        const scene::DesignRun& run = design.run;
        if (run.refused.empty())
            row.update({{"time_us", run.time_us},
                        {"cycles", run.cycles},
                        {"mm2", run.mm2},
                        {"watts", run.watts},
                        {"joules", run.joules},
                        {"front", design.on_front}});
        else
            row["refused"] = run.refused;
        json["designs"].push_back(std::move(row));
    }
    return json;
}

// The front, the smallest design first, and what was refused first.
std::string text_of(const scene::Sweep& sweep) {
    std::vector<const scene::Design*> front;
    const scene::Design* refused = nullptr;
    size_t refusals = 0;
    for (const scene::Design& design : sweep.designs) {
        if (design.on_front) front.push_back(&design);
        if (design.run.refused.empty()) continue;
        if (refused == nullptr) refused = &design;
        ++refusals;
    }
    std::ranges::sort(front, {}, [](const scene::Design* design) { return design->run.mm2; });
    std::string text = fmt::format("{} on {} of {} designs from {}: time simulated, area and power estimates ({})\n",
                                   sweep.kernel, sweep.designs.size(), sweep.asked, sweep.gpu, sweep.process->name);
    const auto figures = [&](const scene::Design& design) {
        std::string list;
        for (size_t k = 0; k < sweep.varied.size(); ++k)
            list += fmt::format("{}{} = {:g}", k ? ", " : "", sweep.varied[k].field, design.values[k]);
        return list;
    };
    if (refused != nullptr)
        text += fmt::format("  {} refused, such as {}: {}\n", refusals, figures(*refused), refused->run.refused);
    if (front.empty()) return text;
    text +=
        fmt::format("  {:>10} {:>10} {:>8}  the front: no other design is faster on as little area\n", "mm2", "time", "W");
    for (size_t i = 0; i < std::min(front.size(), most_printed); ++i)
        text += fmt::format("  {:>10.1f} {:>10} {:>8.1f}  {}\n", front[i]->run.mm2, time_text(front[i]->run.time_us),
                            front[i]->run.watts, figures(*front[i]));
    if (front.size() > most_printed) text += fmt::format("  and {} more: --csv has them all\n", front.size() - most_printed);
    return text;
}

struct Base {  // what all designs have in common
    model::GpuSpec gpu;
    scene::DesignLaunch launch;
};

// A kernel with its launch, or a puzzle or a training step, which have all of that.
Base base_of(const SweepAsked& asked) {
    const KernelAsked& launch = asked.launch;
    Base base;
    if (launch.file.starts_with(scene::step_prefix)) {
        if (!(launch.grid + launch.block).empty() || !launch.arguments.empty())
            throw Failure(fmt::format("'{}' is a training step: its kernels have grids, blocks and arguments", launch.file));
        base.gpu = model::gpu_named(launch.gpu).value();
        base.launch = scene::step_of_model(launch.file.substr(scene::step_prefix.size()), base.gpu);
    } else if (!launch.file.ends_with(".cu") && !launch.file.ends_with(".ptx")) {
        if (!(launch.grid + launch.block).empty() || !launch.arguments.empty())
            throw Failure(
                fmt::format("'{}' is no .cu or .ptx file, and a puzzle has its grid, block and arguments", launch.file));
        const lessons::Puzzle puzzle = lessons::puzzle_named(launch.file).value();
        base = {lessons::design_of(puzzle, {}), lessons::launch_of(puzzle)};
    } else {
        if (launch.grid.empty()) missing_option("--grid");
        if (launch.block.empty()) missing_option("--block");
        simt::Memory memory;
        LaunchInput input;
        input.gpu = model::gpu_named(launch.gpu).value();
        read_kernel(launch, input);
        bind_launch(launch, input, memory);
        base.gpu = input.gpu;
        base.launch.program = input.program;
        base.launch.config = input.config;
        base.launch.memory = std::make_shared<const simt::Memory>(std::move(memory));
    }
    base.launch.max_instructions = launch.max_instructions;
    if (!asked.process.empty()) base.launch.process = process_asked(asked.process);
    return base;
}

int run_sweep_asked(const SweepAsked& asked) {
    std::vector<scene::Vary> varied;
    for (const std::string& text : asked.vary) varied.push_back(scene::parse_vary(text).value());
    if ((asked.csv == "-") + (asked.svg == "-") + (asked.json == "-") > 1)
        throw Failure("only one of --csv, --svg and --json can go to stdout");
    for (const std::string* file : {&asked.csv, &asked.svg, &asked.json}) check_can_write(*file);
    const Base base = base_of(asked);
    bool interrupted = false;
    const scene::Sweep sweep = [&] {
        LongWork work("designs for " + base.launch.shown_name());
        scene::SweepOptions options;
        options.threads = asked.threads;
        options.stop = work.token();
        options.progress = [&](double share) { work(share); };
        scene::Sweep found = scene::run_sweep(base.gpu, varied, base.launch, options);
        interrupted = work.interrupted();
        return found;
    }();
    const auto write = [](const std::string& file, const std::string& text) {
        if (file == "-") return fmt::print("{}", text);
        if (!file.empty()) write_file(file, text);
    };
    write(asked.csv, scene::sweep_csv(sweep));
    write(asked.svg, scene::sweep_svg(sweep));
    if (!asked.json.empty()) write_json(to_json(sweep), asked.json);
    if (asked.csv != "-" && asked.svg != "-" && asked.json != "-") fmt::print("{}", text_of(sweep));
    if (interrupted) return interrupted_status;
    const bool any = std::ranges::any_of(sweep.designs, [](const scene::Design& d) { return d.run.refused.empty(); });
    return static_cast<int>(any ? ExitStatus::done : ExitStatus::faulted);
}

}  // namespace

void add_sweep(const Command& app, int& status) {
    const Command command =
        app.add_subcommand("sweep", "run a kernel on a grid of GPUs: which designs are fastest for their area");
    auto asked = std::make_shared<SweepAsked>();
    KernelAsked& launch = asked->launch;
    command
        .add_option("FILE", launch.file,
                    "kernel.cu or kernel.ptx, the name of a puzzle, or step:mlp, a training step of a model")
        .required();
    command
        .add_option("--vary", asked->vary,
                    "a figure and its values, as often as there are figures: sms=4..32 (doubling), sms=4..32:4 (in steps "
                    "of 4), l2_mb=1,2,4; names as 'lockstep gpus NAME --json -' prints them")
        .required()
        .one_value_each();
    command.add_option("--gpu", launch.gpu, "the GPU that the others begin with: a name, or a file of your own");
    command.add_option("--kernel", launch.kernel, "entry name, when the file has several");
    command.add_option("--grid", launch.grid, "blocks: X[,Y[,Z]]");
    command.add_option("--block", launch.block, "threads a block: X[,Y[,Z]]");
    command.add_option("--shared", launch.shared, "bytes of dynamic shared memory").check(not_from_0);
    command.add_option("--arg", launch.arguments, "an argument, as 'lockstep run' takes it").one_value_each();
    command.add_option("--symbol", launch.symbols, "a module variable's value, as 'lockstep run' takes it").one_value_each();
    command.add_option("--seed", launch.seed, "of random arguments").check(not_from_0);
    command.add_option("--registers", launch.registers, "registers a thread, 1 to 255; default: as 'lockstep run'");
    command.add_option("--max-instructions", launch.max_instructions, "warp instructions before a run counts as a run-away")
        .check(not_from_1);
    add_compiler_options(command, launch.compiler);
    command.add_option("--process", asked->process, "of the estimates: 16nm, 12nm, 8nm, 7nm, 4nm; else that of --gpu");
    command.add_option("--threads", asked->threads, "designs at once; else one a core").check(not_from_1);
    command.add_option("--csv", asked->csv, "write a line a design; '-' for stdout");
    command.add_option("--svg", asked->svg, "write a picture: area against time, and the front; '-' for stdout");
    command.add_option("--json", asked->json, "write the same as JSON; '-' for stdout");
    command.callback([asked, &status] { status = run_sweep_asked(*asked); });
}

}  // namespace lockstep::cli
