// `lockstep puzzle list | show NAME | new NAME FILE | check NAME --gpu mine.toml`: GPUs built for a kernel, within a budget.
#include "lessons/player/puzzles/puzzle.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/kernel/area_text.h"
#include "app/cli/long_work.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/model/gpus/gpu_file.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PuzzleAsked {
    std::string name, file, gpu, json;
    bool hints = false;
};

std::string budget_text(const lessons::Puzzle& puzzle) {
    std::string text;
    if (puzzle.most_mm2 > 0) text = fmt::format("{:g} mm2", puzzle.most_mm2);
    if (puzzle.most_watts > 0) text += fmt::format("{}{:g} W", text.empty() ? "" : ", ", puzzle.most_watts);
    return text;
}

// What the card says without a run.
Json puzzle_json(const lessons::Puzzle& puzzle) {
    Json json = {{"puzzle", puzzle.id},    {"title", puzzle.title},           {"question", puzzle.question},
                 {"gpu", puzzle.gpu},      {"kernel", puzzle.kernel},         {"grid", puzzle.grid},
                 {"block", puzzle.block},  {"process", puzzle.process->name}, {"budget", Json::object()},
                 {"free", Json::object()}, {"start", Json::object()},         {"hints", puzzle.hints}};
    if (puzzle.most_mm2 > 0) json["budget"]["mm2"] = puzzle.most_mm2;
    if (puzzle.most_watts > 0) json["budget"]["watts"] = puzzle.most_watts;
    for (const auto& free : puzzle.free) json["free"][free.field] = {free.least, free.most};
    for (const auto& [field, value] : puzzle.start) json["start"][field] = value;
    return json;
}

void list_puzzles(const PuzzleAsked& asked) {
    std::vector<lessons::Puzzle> puzzles;
    size_t names = 0, titles = 0;
    for (const std::filesystem::path& file : lessons::puzzle_files()) {
        puzzles.push_back(lessons::puzzle_named(file.string()).value());
        names = std::max(names, puzzles.back().id.size());
        titles = std::max(titles, puzzles.back().title.size());
    }
    if (!asked.json.empty()) {
        Json json = {{"puzzles", Json::array()}};
        for (const lessons::Puzzle& puzzle : puzzles) json["puzzles"].push_back(puzzle_json(puzzle));
        write_json(json, asked.json);
        if (asked.json == "-") return;
    }
    for (const lessons::Puzzle& puzzle : puzzles)
        fmt::print("{:<{}}  {:<{}}  {}\n", puzzle.id, names, puzzle.title, titles, budget_text(puzzle));
}

// In lines of at most 80 letters, each but the first behind `indent` blanks.
std::string wrapped(const std::string& text, size_t indent) {
    constexpr size_t widest = 80;
    std::string lines;
    size_t at = indent;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        const bool first = lines.empty(), fits = at + 1 + word.size() <= widest;
        const std::string between = first ? "" : fits ? " " : "\n" + std::string(indent, ' ');
        lines += between + word;
        at = (fits ? at + between.size() : indent) + word.size();
    }
    return lines;
}

// The card: the question, the launch, the budget, what the first design and the medals take, and what may change.
std::string card_of(const lessons::Puzzle& puzzle, const scene::DesignRun& start, const lessons::Thresholds& t, bool hints) {
    std::string text = fmt::format("{}\n\n{}\n\n", puzzle.title, wrapped(puzzle.question, 0));
    text += puzzle.grid.empty() ? fmt::format("  runs    a training step of {}, kernel after kernel\n",
                                              puzzle.kernel.substr(scene::step_prefix.size()))
                                : fmt::format("  kernel  {}, grid {}, block {}\n", puzzle.kernel, puzzle.grid, puzzle.block);
    text += fmt::format("  budget  {} ({}, estimates)\n\n", budget_text(puzzle), puzzle.process->name);
    text += fmt::format("  begins  {:>9}   {:.2f} mm2, {:.2f} W (time simulated; area and power estimates)\n",
                        time_text(start.time_us), start.mm2, start.watts);
    for (const auto& [name, time] : {std::pair{"bronze", t.bronze_us}, {"silver", t.silver_us}, {"gold", t.gold_us}})
        text += fmt::format("  {:<6}  {:>9}\n", name, time_text(time));
    text += fmt::format("\n  {:<24} {:>10} {:>8} {:>8}\n", "you may change", "begins at", "from", "to");
    const lessons::Figures figures = lessons::first_figures(puzzle);
    for (const lessons::Puzzle::Free& free : puzzle.free)
        for (const auto& [field, value] : figures)
            if (field == free.field)
                text += fmt::format("  {:<24} {:>10.6g} {:>8g} {:>8g}\n", field, value, free.least, free.most);
    text += '\n';
    for (size_t i = 0; hints && i < puzzle.hints.size(); ++i)
        text += fmt::format("  {}. {}\n", i + 1, wrapped(puzzle.hints[i], 5));
    if (hints) text += '\n';
    if (!hints) text += fmt::format("  lockstep puzzle show {} --hints    {} hints\n", puzzle.id, puzzle.hints.size());
    text += fmt::format("  lockstep puzzle new {0} mine.toml\n  lockstep puzzle check {0} --gpu mine.toml\n", puzzle.id);
    return text;
}

Json thresholds_json(const lessons::Thresholds& t) {
    return {{"bronze_us", t.bronze_us}, {"silver_us", t.silver_us}, {"gold_us", t.gold_us}};
}

void show_puzzle(const PuzzleAsked& asked) {
    const lessons::Puzzle puzzle = lessons::puzzle_named(asked.name).value();
    const scene::DesignLaunch launch = lessons::launch_of(puzzle);
    const lessons::Thresholds t = lessons::thresholds_of(puzzle, launch);
    const scene::DesignRun start = scene::run_design(lessons::design_of(puzzle, {}), launch);
    if (!asked.json.empty()) {
        Json json = puzzle_json(puzzle);
        json["begins"] = {{"time_us", start.time_us}, {"estimated_mm2", start.mm2}, {"estimated_watts", start.watts}};
        json["thresholds"] = thresholds_json(t);
        write_json(json, asked.json);
        if (asked.json == "-") return;
    }
    fmt::print("{}", card_of(puzzle, start, t, asked.hints));
}

void new_file(const PuzzleAsked& asked) {
    const lessons::Puzzle puzzle = lessons::puzzle_named(asked.name).value();
    if (!model::is_gpu_file(asked.file))
        throw Failure(fmt::format("a GPU's file ends in .toml, as mine.toml does, and '{}' does not", asked.file));
    if (std::error_code error; std::filesystem::exists(asked.file, error))
        throw Failure(Diagnostic{"there is such a file already, and it stays as it is", {asked.file}});
    write_file(asked.file, lessons::start_file(puzzle));
    fmt::print("{} is the design to begin with: change it, then\n  lockstep puzzle check {} --gpu {}\n", asked.file,
               puzzle.id, asked.file);
}

int check_puzzle(const PuzzleAsked& asked) {
    const lessons::Puzzle puzzle = lessons::puzzle_named(asked.name).value();
    const model::GpuSpec gpu = model::gpu_named(asked.gpu).value();
    check_can_write(asked.json);
    lessons::PuzzleResult result;
    try {
        const LongWork work(puzzle.title);
        result = lessons::judge(puzzle, gpu, work.token());
    } catch (const Cancelled&) {
        return interrupted_status;
    }
    const scene::DesignRun& run = result.run;
    const bool ran = run.refused.empty(), medal = result.medal != lessons::Medal::none;
    if (!asked.json.empty()) {
        Json json = {{"puzzle", puzzle.id}, {"gpu", gpu.name}, {"title", gpu.title}};
        json["time_us"] = ran ? Json(run.time_us) : Json();
        json["mm2"] = run.mm2;
        json["watts"] = ran ? Json(run.watts) : Json();
        const model::AreaEstimate area = model::area_of(lessons::as_design(gpu), puzzle.process);
        json["usd"] = area.usd;
        json["usd_low"] = area.usd_low;
        json["usd_high"] = area.usd_high;
        json["prices"] = price_json(area);
        json["estimate"] = {"mm2", "watts", "usd"};
        json["medal"] = medal ? Json(lessons::name_of(result.medal)) : Json();
        json["why"] = result.why;
        json["thresholds"] = thresholds_json(result.thresholds);
        write_json(json, asked.json);
    }
    if (asked.json != "-") {
        if (ran)
            fmt::print("{} on {}: {} (simulated), {:.2f} mm2, {:.2f} W (estimates)\n", puzzle.title, gpu.title,
                       time_text(run.time_us), run.mm2, run.watts);
        fmt::print("{}{}{}\n", medal ? lessons::name_of(result.medal) : "no medal", result.why.empty() ? "" : ": ",
                   result.why);
        if (result.medal == lessons::Medal::gold) fmt::print("{}\n", puzzle.recap);
    }
    return static_cast<int>(medal ? ExitStatus::done : ExitStatus::faulted);
}

}  // namespace

void add_puzzle(const Command& app, int& status) {
    const Command command = app.add_subcommand("puzzle", "build a GPU for a kernel, within a budget of area and power");
    command.require_subcommand();
    auto asked = std::make_shared<PuzzleAsked>();
    const Command list = command.add_subcommand("list", "the puzzles");
    list.add_option("--json", asked->json, "write them as JSON; '-' for stdout");
    list.callback([asked] { list_puzzles(*asked); });
    const Command show = command.add_subcommand("show", "the question, the budget, what may change, and the medals");
    show.add_option("NAME", asked->name, "a puzzle's name, or a file").required();
    show.add_option("--json", asked->json, "write it as JSON; '-' for stdout");
    show.add_flag("--hints", asked->hints, "the hints as well");
    show.callback([asked] { show_puzzle(*asked); });
    const Command fresh = command.add_subcommand("new", "write the design to begin with");
    fresh.add_option("NAME", asked->name, "a puzzle's name, or a file").required();
    fresh.add_option("FILE", asked->file, "the file, mine.toml").required();
    fresh.callback([asked] { new_file(*asked); });
    const Command check =
        command.add_subcommand("check", "run a design: time, area, power and medal; 1 where there is none");
    check.add_option("NAME", asked->name, "a puzzle's name, or a file").required();
    check.add_option("--gpu", asked->gpu, "the design, mine.toml").required();
    check.add_option("--json", asked->json, "write the result as JSON; '-' for stdout");
    check.callback([asked, &status] { status = check_puzzle(*asked); });
}

}  // namespace lockstep::cli
