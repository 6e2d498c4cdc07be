// Running a design: may it take part, what does it take, and which medal is that.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/model/gpus/area.h"
#include "core/model/gpus/gpu_fields.h"
#include "core/model/gpus/gpu_file.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::lessons {
namespace {

constexpr std::string_view not_played[] = {"fp32_tflops", "fp16_tflops", "memory_gb", "year"};

double value_in(const model::GpuSpec& gpu, std::string_view field) {
    if (field == "tensor_fmas") return model::tensor_fmas(gpu);
    const auto [row, unit] = model::field_named(field);
    return model::value_of(gpu, *row) / unit;
}

bool same(double a, double b) {
    return std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b));
}

model::GpuSpec changed(const Puzzle& puzzle, const Figures& figures) {
    model::GpuDesign design(model::gpu_named(puzzle.gpu).value());
    for (const Figures* list : {&puzzle.start, &figures})
        for (const auto& [field, value] : *list)
            if (const auto refused = design.set(field, value, "the puzzle"))
                throw Failure(Diagnostic{refused->message, {puzzle.file.string()}});
    if (const auto impossible = design.finish("follows from the puzzle's figures"))
        throw Failure(Diagnostic{impossible->message, {puzzle.file.string()}});
    design.gpu().name = "puzzle.toml";  // a design, as a player's is: no graphics in its area
    design.gpu().title = model::kept_text(puzzle.title);
    return design.gpu();
}

}  // namespace

model::GpuSpec as_design(model::GpuSpec gpu) {
    if (!model::is_gpu_file(gpu.name)) gpu.name = "puzzle.toml";
    return gpu;
}

std::string time_apart(double us, const std::vector<double>& others) {
    std::string text;
    for (int digits = 3; digits <= 7; ++digits) {
        text = time_text(us, {.significant = digits});
        const auto same_text = [&](double other) {
            return other != us && time_text(other, {.significant = digits}) == text;
        };
        if (std::ranges::none_of(others, same_text)) break;
    }
    return text;
}

model::GpuSpec design_of(const Puzzle& puzzle, const Figures& figures) {
    return changed(puzzle, figures);
}

Figures first_figures(const Puzzle& puzzle) {
    const model::GpuSpec start = changed(puzzle, {});
    Figures figures = puzzle.start;
    // A free figure stands there once, by the name that [free] has for it: l1_kb, not l1_bytes as well.
    std::erase_if(figures, [&](const auto& figure) {
        const auto other_name = [&](const Puzzle::Free& free) {
            return free.field != figure.first && model::field_named(free.field).first != nullptr &&
                   model::field_named(free.field).first == model::field_named(figure.first).first;
        };
        return std::ranges::any_of(puzzle.free, other_name);
    });
    for (const Puzzle::Free& free : puzzle.free)
        if (std::ranges::find(figures, free.field, &Figures::value_type::first) == figures.end())
            figures.emplace_back(free.field, value_in(start, free.field));
    return figures;
}

std::string start_file(const Puzzle& puzzle) {
    return design_file(puzzle, {});
}

std::string design_file(const Puzzle& puzzle, const Figures& chosen) {
    std::string text = fmt::format("# {}\n# {}\n#\n# Free, from and to:\n", puzzle.title, puzzle.question);
    for (const Puzzle::Free& free : puzzle.free)
        text += fmt::format("#   {} = {:g} to {:g}\n", free.field, free.least, free.most);
    if (puzzle.most_mm2 > 0)
        text += fmt::format("# At most {:g} mm2 in {} (estimate).\n", puzzle.most_mm2, puzzle.process->name);
    if (puzzle.most_watts > 0) text += fmt::format("# At most {:g} W on average (estimate).\n", puzzle.most_watts);
    text += fmt::format("# lockstep puzzle check {} --gpu THIS_FILE\ninherits = \"{}\"\n\n", puzzle.id, puzzle.gpu);
    Figures figures = first_figures(puzzle);
    for (const auto& [field, value] : chosen) {
        const auto at = std::ranges::find(figures, field, &Figures::value_type::first);
        if (at != figures.end())
            at->second = value;
        else
            figures.emplace_back(field, value);
    }
    for (const auto& [field, value] : figures) text += fmt::format("{} = {:.10g}\n", field, value);
    return text;
}

scene::DesignLaunch launch_of(const Puzzle& puzzle) {
    if (puzzle.kernel.starts_with(scene::step_prefix)) {
        scene::DesignLaunch step =
            scene::step_of_model(puzzle.kernel.substr(scene::step_prefix.size()), model::gpu_named(puzzle.gpu).value());
        step.process = puzzle.process;
        return step;
    }
    const std::filesystem::path file = puzzle.file.parent_path() / "ptx" / (puzzle.kernel + ".ptx");
    scene::DesignLaunch launch;
    const std::string text = read_text(file).value();
    launch.program = ptx::decode(ptx::parse(text, file.string()).value(), "").value();
    launch.config.grid = scene::parse_dim3(puzzle.grid, "grid").value();
    launch.config.block = scene::parse_dim3(puzzle.block, "block").value();
    launch.process = puzzle.process;
    if (const auto source = read_text(puzzle.file.parent_path() / (puzzle.kernel + ".cu"))) launch.source = source.value();
    simt::Memory memory;
    std::vector<scene::KernelArgument> arguments;
    for (const std::string& argument : puzzle.arguments) arguments.push_back(scene::parse_argument(argument).value());
    scene::bind_arguments(*launch.program, arguments, memory, launch.config, 1, {}, {}).value();
    launch.memory = std::make_shared<const simt::Memory>(std::move(memory));
    return launch;
}

Thresholds thresholds_of(const Puzzle& puzzle, const scene::DesignLaunch& launch, const std::stop_token& stop) {
    Thresholds found;
    for (const auto& [medal, figures] : puzzle.reference) {
        const scene::DesignRun run = scene::run_design(changed(puzzle, figures), launch, stop);
        if (run.stopped) throw Cancelled();
        if (!run.refused.empty())
            throw Failure(Diagnostic{fmt::format("the design for {} does not run: {}", name_of(medal), run.refused),
                                     {puzzle.file.string()}});
        (medal == Medal::gold ? found.gold_us : medal == Medal::silver ? found.silver_us : found.bronze_us) = run.time_us;
    }
    return found;
}

std::string against_the_rules(const Puzzle& puzzle, const model::GpuSpec& gpu) {
    Figures chosen;
    for (const Puzzle::Free& free : puzzle.free) {
        const double value = value_in(gpu, free.field);
        if (!(value >= free.least && value <= free.most))
            return fmt::format("{} is {:g}, and may be {:g} to {:g} here", free.field, value, free.least, free.most);
        chosen.emplace_back(free.field, value);
    }
    const model::GpuSpec expected = changed(puzzle, chosen);
    std::string free;
    for (const Puzzle::Free& each : puzzle.free) free += (free.empty() ? "" : ", ") + each.field;
    for (const model::GpuField& field : model::gpu_fields()) {
        if (std::ranges::find(not_played, field.name) != std::end(not_played)) continue;
        const double has = model::value_of(gpu, field), should = model::value_of(expected, field);
        if (!same(has, should))
            return fmt::format("{} is {:g}, and {:g} in this puzzle, where only {} may change", field.name, has, should,
                               free);
    }
    if (gpu.scheduler.value != expected.scheduler.value || gpu.dram_kind.value != expected.dram_kind.value ||
        gpu.compute != expected.compute || gpu.shared_carveouts.value != expected.shared_carveouts.value)
        return fmt::format(
            "its scheduler, its kind of DRAM, its compute capability or its carve-outs are not those of the "
            "puzzle, where only {} may change",
            free);
    return "";
}

namespace {

scene::DesignRun run_of(const scene::DesignLaunch& launch, const model::GpuSpec& gpu, const std::stop_token& stop) {
    scene::DesignRun run = scene::run_design(as_design(gpu), launch, stop);
    if (run.stopped) throw Cancelled();
    return run;
}

// The medal of a run that keeps to the rules, or why there is none.
void award(const Puzzle& puzzle, PuzzleResult& result) {
    const scene::DesignRun& run = result.run;
    if (!run.refused.empty()) {
        result.why = "it does not run: " + run.refused;
        return;
    }
    if (puzzle.most_mm2 > 0 && run.mm2 > puzzle.most_mm2) {
        result.why = fmt::format("it takes {:.2f} mm2 of {:g}", run.mm2, puzzle.most_mm2);
        return;
    }
    if (puzzle.most_watts > 0 && run.watts > puzzle.most_watts) {
        result.why = fmt::format("it takes {:.2f} W of {:g}", run.watts, puzzle.most_watts);
        return;
    }
    const Thresholds& t = result.thresholds;
    result.medal = run.time_us <= t.gold_us     ? Medal::gold
                   : run.time_us <= t.silver_us ? Medal::silver
                   : run.time_us <= t.bronze_us ? Medal::bronze
                                                : Medal::none;
    const double next = result.medal == Medal::none ? t.bronze_us : result.medal == Medal::bronze ? t.silver_us : t.gold_us;
    const Medal better = static_cast<Medal>(static_cast<int>(result.medal) + 1);
    if (result.medal != Medal::gold)
        result.why = fmt::format("{} takes {}", name_of(better), time_apart(next, {run.time_us}));
}

}  // namespace

PuzzleResult judge(const Puzzle& puzzle, const model::GpuSpec& gpu, const std::stop_token& stop) {
    PuzzleResult result;
    const scene::DesignLaunch launch = launch_of(puzzle);
    result.run = run_of(launch, gpu, stop);
    result.thresholds = thresholds_of(puzzle, launch, stop);
    result.why = against_the_rules(puzzle, gpu);
    if (result.why.empty()) award(puzzle, result);
    return result;
}

PuzzleResult judge_for(const Puzzle& puzzle, const scene::DesignLaunch& launch, const Thresholds& thresholds,
                       const model::GpuSpec& gpu, const std::stop_token& stop) {
    PuzzleResult result;
    result.thresholds = thresholds;
    result.why = against_the_rules(puzzle, gpu);
    if (!result.why.empty()) return result;
    result.run = run_of(launch, gpu, stop);
    award(puzzle, result);
    return result;
}

PuzzleResult judge_run(const Puzzle& puzzle, const model::GpuSpec& gpu, scene::DesignRun run, const Thresholds& thresholds) {
    PuzzleResult result;
    result.run = std::move(run);
    result.thresholds = thresholds;
    result.why = against_the_rules(puzzle, gpu);
    if (result.why.empty()) award(puzzle, result);
    return result;
}

}  // namespace lockstep::lessons
