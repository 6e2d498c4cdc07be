// `lockstep schedule`: a pipeline schedule drawn as text, timed, and beside the formulas of its paper. See
// core/parallel/pipeline/schedule.h.
#include "core/parallel/pipeline/schedule.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.h"
#include "app/cli/cluster/own_lists.h"
#include "app/cli/kernel/own_files.h"
#include "app/cli/kernel/trace_file.h"
#include "core/base/files.h"

namespace lockstep::cli {
namespace {

using namespace parallel;

struct ScheduleChoice {
    std::string kind = "1f1b", times = "1,1,1", json, trace, file;
    std::vector<std::string> slow;
    int chunks = 0;  // 0: the kind's own, or 2
    PipelineShape shape{.ranks = 4, .microbatches = 8};
    double hop = 0, kept = 1;
    int width = 200;
};

double number_in(std::string_view text, std::string_view whole, std::string_view option, std::string_view form) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
        throw Failure(fmt::format("{} takes {}, not '{}'", option, form, whole));
    return value;
}

Durations durations_of(const ScheduleChoice& chosen) {
    constexpr std::string_view form = "three times from 0 on, as in 1,1,1: forward, input's gradient, weights' gradient";
    Durations durations{.hop = chosen.hop};
    double* const into[] = {&durations.forward, &durations.input, &durations.weight};
    std::string_view rest = chosen.times;
    for (int i = 0; i < 3; ++i) {
        const size_t comma = rest.find(',');
        if ((comma == std::string_view::npos) != (i == 2))
            throw Failure(fmt::format("--times takes {}, not '{}'", form, chosen.times));
        *into[i] = number_in(rest.substr(0, comma), chosen.times, "--times", form);
        if (i < 2) rest.remove_prefix(comma + 1);
    }
    if (!std::isfinite(chosen.hop) || chosen.hop < 0)
        throw Failure(fmt::format("--hop takes a time from 0 on, not {}", chosen.hop));
    for (const std::string& slow : chosen.slow) {
        if (chosen.shape.ranks < 1 || chosen.shape.ranks > 4096) break;  // refused where the schedule is made
        const std::string form_of_slow =
            fmt::format("RANK:FACTOR with a rank from 0 to {}, as in 2:1.5", chosen.shape.ranks - 1);
        const size_t colon = slow.find(':');
        int rank = -1;
        std::from_chars(slow.data(), slow.data() + std::min(colon, slow.size()), rank);
        if (colon == std::string::npos || colon == 0 || rank < 0 || rank >= chosen.shape.ranks ||
            slow.find_first_not_of("0123456789") != colon)
            throw Failure(fmt::format("--slow takes {}, not '{}'", form_of_slow, slow));
        durations.of_rank.resize(size_t(chosen.shape.ranks), 1);
        durations.of_rank[size_t(rank)] = number_in(std::string_view(slow).substr(colon + 1), slow, "--slow", form_of_slow);
    }
    return durations;
}

std::string list_of(const std::vector<int>& numbers) {
    return fmt::format("{}", fmt::join(numbers, " "));
}

void print_schedule(const ScheduleRow& row, const PipelineShape& shape, const Durations& durations, const ScheduleRun& run,
                    int width) {
    const Schedule& schedule = run.schedule;
    fmt::print("{} ({}): {}\n", row.title, row.source, row.summary);
    fmt::print("{} ranks, {} stages, {} micro-batches{}; F {:g}, I {:g}, W {:g}{}; B is I and W in one, U an update\n\n",
               schedule.ranks, schedule.stages(), schedule.microbatches,
               schedule.batches > 1 ? fmt::format(" in {} batches", schedule.batches) : "", durations.forward,
               durations.input, durations.weight, durations.hop > 0 ? fmt::format(", hop {:g}", durations.hop) : "");
    fmt::print("{}\n", picture_of(run, width));
    fmt::print("total {:g} units, ideal {:g}, idle {:g} a rank\n", run.total, run.ideal, run.idle_a_rank());
    if (run.cost != run.total)
        fmt::print("a step costs {:g} when others follow: {}\n", run.cost,
                   schedule.flushes ? "ranks begin their next step each when its own is done"
                                    : "nothing flushes, so the pipeline stays full");
    fmt::print("bubble {:.1f} % of the total, {:.1f} % over the ideal (simulated)\n", 100 * run.bubble_of_total(),
               100 * run.bubble_over_ideal());
    const std::optional<double> formula = row.idle(shape, durations);
    const bool even = durations.of_rank.empty() && durations.hop == 0;
    if (row.searched)
        fmt::print("no formula: the order is searched for these times\n");
    else if (row.idle_text.empty())
        fmt::print("no formula: the order is your own\n");
    else if (formula)
        fmt::print("formula for equal stages: idle {} = {:g} a rank (derived)\n", row.idle_text, *formula);
    else
        fmt::print("formula for equal stages: idle {}, which does not hold for these times\n", row.idle_text);
    if (!even && !row.searched && !row.idle_text.empty()) fmt::print("the formula knows no hops and no slow ranks\n");
    fmt::print("\n{:<5} {:<14} {:>8} {:>8} {:>12} {:>6} {:>16}\n", "rank", "stages", "busy", "idle", "activations", "bound",
               "weight versions");
    for (int rank = 0; rank < schedule.ranks; ++rank) {
        const auto r = static_cast<size_t>(rank);
        fmt::print("{:<5} {:<14} {:>8g} {:>8g} {:>12} {:>6} {:>16}\n", rank, list_of(schedule.stages_of[r]), run.busy[r],
                   run.cost - run.busy[r], run.peak_activations[r], row.activations(shape, rank), run.weight_versions[r]);
    }
    fmt::print(
        "activations: micro-batches of one stage kept at once, the most; at most {}; a stage is 1/{} of the model{}\n",
        row.activations_text, schedule.stages(), schedule.copies > 1 ? ", held twice" : "");
}

nlohmann::ordered_json json_of_schedule(const ScheduleRow& row, const PipelineShape& shape, const Durations& durations,
                                        const ScheduleRun& run) {
    const Schedule& schedule = run.schedule;
    const std::optional<double> formula = row.idle(shape, durations);
    nlohmann::ordered_json json = {
        {"kind", row.name},
        {"title", row.title},
        {"source", row.source},
        {"ranks", schedule.ranks},
        {"stages", schedule.stages()},
        {"chunks", schedule.chunks},
        {"copies", schedule.copies},
        {"microbatches", schedule.microbatches},
        {"batches", schedule.batches},
        {"flushes", schedule.flushes},
        {"staggers", schedule.staggers},
        {"times",
         {{"forward", durations.forward}, {"input", durations.input}, {"weight", durations.weight}, {"hop", durations.hop}}},
        {"unit", run.unit},
        {"total", run.total},
        {"cost", run.cost},
        {"ideal", run.ideal},
        {"idle_a_rank", run.idle_a_rank()},
        {"bubble_of_total", run.bubble_of_total()},
        {"bubble_over_ideal", run.bubble_over_ideal()},
        {"formula",
         {{"idle", formula ? nlohmann::ordered_json(*formula) : nlohmann::ordered_json()},
          {"idle_text", row.idle_text},
          {"activations_text", row.activations_text}}},
        {"per_rank", nlohmann::ordered_json::array()}};
    for (int rank = 0; rank < schedule.ranks; ++rank) {
        const auto r = static_cast<size_t>(rank);
        nlohmann::ordered_json actions = nlohmann::ordered_json::array(), idle = nlohmann::ordered_json::array();
        for (const ActionRun& ran : run.actions[r]) {
            nlohmann::ordered_json action = {{"kind", name_of(ran.action.kind)},
                                             {"microbatch", ran.action.microbatch},
                                             {"stage", ran.action.stage},
                                             {"begin", ran.begin},
                                             {"end", ran.end}};
            if (ran.action.peer >= 0) action["peer"] = ran.action.peer;
            if (computes(ran.action.kind)) action["version"] = ran.action.version;
            actions.push_back(std::move(action));
        }
        for (const IdleRun& idle_run : run.idle[r])
            idle.push_back({{"begin", idle_run.begin}, {"end", idle_run.end}, {"reason", idle_run.reason}});
        json["per_rank"].push_back({{"rank", rank},
                                    {"stages", schedule.stages_of[r]},
                                    {"busy", run.busy[r]},
                                    {"peak_activations", run.peak_activations[r]},
                                    {"activations_formula", row.activations(shape, rank)},
                                    {"weight_versions", run.weight_versions[r]},
                                    {"actions", std::move(actions)},
                                    {"idle", std::move(idle)}});
    }
    return json;
}

// What a file's first line says of times, read before and found in order.
Durations durations_of_row(const scene::ParallelRow& row) {
    Durations durations;
    const auto take = [&](const char* key, double& into) {
        if (const auto found = row.settings.find(key); found != row.settings.end())
            std::from_chars(found->second.data(), found->second.data() + found->second.size(), into);
    };
    take("forward", durations.forward), take("input", durations.input), take("weight", durations.weight);
    take("hop", durations.hop), take("update", durations.update);
    if (row.settings.contains("slow")) durations.of_rank.assign(1, 1);  // no formula holds
    return durations;
}

ScheduleRow own_row() {
    return {.name = "own",
            .title = "Your schedule",
            .summary = "lists of actions from a file",
            .source = "your own",
            .idle = [](const PipelineShape&, const Durations&) { return std::optional<double>(); },
            .activations_text = "m",
            .activations = [](const PipelineShape& shape, int) { return shape.microbatches; }};
}

// Lists that somebody wrote (*.schedule): run, or who waits for whom.
int run_schedule_file(const ScheduleChoice& chosen, const Command& command) {
    for (const Option& option : command.options())
        for (const char* own :
             {"--kind", "--stages", "--microbatches", "--chunks", "--batches", "--times", "--hop", "--kept", "--slow"})
            if (option.name() == own && option.given())
                throw Failure(fmt::format("--file has its settings in the file, so {} goes without it", own));
    keep_apart({{"--file", chosen.file}}, {{"--json", chosen.json}, {"--trace", chosen.trace}});
    const auto scene = read_lists("schedule", chosen.file).value();
    auto all = nlohmann::ordered_json::array();
    bool right = true;
    for (const scene::ParallelRow& row : scene->rows) {
        all.push_back(nlohmann::ordered_json::object());
        if (row.schedule) {
            const Schedule& schedule = row.schedule->schedule;
            const ScheduleRow kind = schedule.kind == "own" ? own_row() : schedule_named(schedule.kind);
            const PipelineShape shape{
                .ranks = schedule.ranks,
                .microbatches = schedule.per_update == 1 ? schedule.microbatches / schedule.batches : schedule.per_update,
                .chunks = schedule.chunks,
                .batches = schedule.batches};
            const Durations durations = durations_of_row(row);
            if (!chosen.trace.empty() && &row == &scene->rows.front()) write_trace(trace_of(*row.schedule), chosen.trace);
            if (chosen.json != "-") print_schedule(kind, shape, durations, *row.schedule, std::max(chosen.width, 20));
            all.back() = json_of_schedule(kind, shape, durations, *row.schedule);
        }
        add_faults(all.back(), row.wrong);
        right = complain_of(row.wrong) && right;
    }
    if (!chosen.json.empty()) write_json(all.size() == 1 ? all[0] : all, chosen.json, chosen.json == "-" ? 1 : 2);
    return static_cast<int>(right ? ExitStatus::done : ExitStatus::faulted);
}

void check_given(const Command& command) {
    std::string missing;
    for (const char* needed : {"--kind", "--stages", "--microbatches"})
        if (!command.given(needed)) missing += (missing.empty() ? "" : ", ") + std::string(needed);
    if (!missing.empty()) throw Failure(missing + " required, or --file");
}

}  // namespace

void add_schedule(const Command& app, int& status) {
    const Command command =
        app.add_subcommand("schedule", "a pipeline schedule: who works when, who waits for what, what is kept");
    auto chosen = std::make_shared<ScheduleChoice>();
    std::string kinds;
    for (const ScheduleRow& row : schedules()) kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", row.name);
    command.add_option("--kind", chosen->kind, kinds);
    command.add_option("--stages", chosen->shape.ranks, "ranks of the pipeline");
    command.add_option("--microbatches", chosen->shape.microbatches, "micro-batches of a batch");
    command.add_option("--file", chosen->file,
                       "lists of actions of one's own (F.schedule): run, or told who waits for whom");
    command.add_option("--chunks", chosen->chunks, "pieces of the model a rank holds (interleaved; default 2)");
    command.add_option("--batches", chosen->shape.batches, "batches one after another (default 1; 3 of what never flushes)");
    command.add_option("--times", chosen->times,
                       "F,I,W: of a micro-batch through a rank's part of the model; default 1,1,1");
    command.add_option("--hop", chosen->hop, "time of a message from rank to rank; default 0");
    command.add_option("--kept", chosen->kept,
                       "zb-1p, zb-2p: share of a micro-batch's memory that stays between I and W; default 1");
    command.add_option("--slow", chosen->slow, "RANK:FACTOR: a rank that takes FACTOR times as long");
    command.add_option("--width", chosen->width, "columns of the picture; default 200");
    command.add_option("--json", chosen->json, "write everything as JSON to this file, - for stdout");
    command.add_option("--trace", chosen->trace,
                       "write a trace: F.json for ui.perfetto.dev (one unit is shown as one microsecond), F.csv, or F.txt");
    command.callback([chosen, command, &status] {
        check_trace_name(chosen->trace);
        if (!chosen->file.empty()) {
            status = run_schedule_file(*chosen, command);
            return;
        }
        check_given(command);
        keep_apart({}, {{"--json", chosen->json}, {"--trace", chosen->trace}});
        const ScheduleRow& row = schedule_named(chosen->kind);
        PipelineShape shape = chosen->shape;
        shape.chunks = chosen->chunks != 0 ? chosen->chunks : row.chunks == 0 ? 2 : 1;
        if (shape.batches < 0) throw Failure(fmt::format("--batches takes a number from 1 on, not {}", shape.batches));
        const Durations durations = durations_of(*chosen);
        shape = timed_shape(shape, durations);
        shape.kept = chosen->kept;
        const Schedule schedule = make_schedule(chosen->kind, shape);
        const ScheduleRun run = time_schedule(schedule, durations);
        if (!chosen->trace.empty()) write_trace(trace_of(run), chosen->trace);
        if (!chosen->json.empty())
            write_json(json_of_schedule(row, shape, durations, run), chosen->json, chosen->json == "-" ? 1 : 2);
        if (chosen->json != "-") print_schedule(row, shape, durations, run, std::max(chosen->width, 20));
    });
}

}  // namespace lockstep::cli
