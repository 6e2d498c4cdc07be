// `lockstep tape FILE.tape`: a tensor program of one's own: values, gradients, what passes along every edge, saved memory,
// second derivatives, gradcheck, and the first value that is not finite. The language: core/scene/tape/tape_program.h.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/kernel/own_files.h"
#include "app/cli/long_work.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/nn/train/follow.h"
#include "core/scene/tape/tape_program.h"
#include "core/tensor/shape.h"

namespace lockstep::cli {
namespace {

using nlohmann::ordered_json;

struct TapeAsked {
    std::string file, device = "host", json, nan = "stop";
    uint64_t seed = 1;
};

std::string shown(const nn::Values& values) {
    if (!values || values->empty()) return "-";
    return fmt::format("{:.5g}{}", values->front(), values->size() > 1 ? " .." : "");
}

ordered_json list_of(const nn::Values& values) {
    if (!values) return nullptr;
    ordered_json list = ordered_json::array();
    for (const float value : *values) list.push_back(json_number(value));
    return list;
}

void print(const scene::TapeRun& run) {
    const nn::StepRecord& step = *run.step;
    size_t wide = 4;
    for (const nn::GraphNode& node : step.nodes) wide = std::max(wide, node.name.size());
    const std::string which =
        run.text.steps == 1 ? "its one step" : fmt::format("step {}, the last of 0 to {}", step.step, run.text.steps - 1);
    fmt::print("{} on {}, {}: forward, and backward from {} (executed)\n", step.model, step.device, which,
               run.loss.empty() ? "nothing" : fmt::format("{:.7g}", run.loss.back()));
    fmt::print("{:>4}  {:<{}}  {:<14} {:>12} {:>12} {:>12}  {}\n", "line", "name", wide, "op", "shape", "value", "gradient",
               "saved for backward");
    for (const nn::GraphNode& node : step.nodes) {
        const auto id = static_cast<size_t>(node.id);
        fmt::print("{:>4}  {:<{}}  {:<14} {:>12} {:>12} {:>12}  {}\n",
                   id < run.line_of_node.size() ? std::to_string(run.line_of_node[id]) : "", node.name, wide,
                   node.op.empty() ? node.kind == nn::GraphNode::Kind::parameter ? "(param)" : "(input)" : node.op,
                   tensor::text_of(node.shape), shown(node.value), shown(node.gradient),
                   node.saved.empty()      ? ""
                   : node.saved_bytes == 0 ? node.saved + " (params, which live anyway)"
                                           : fmt::format("{}, {} bytes", node.saved, node.saved_bytes));
    }
    if (!step.replayed && !run.anomaly) {
        const nn::Followed followed = nn::follow(step);
        if (!followed.edges.empty())
            fmt::print("backward, along every edge: local derivative x upstream = product (executed)\n");
        for (const nn::Passing& edge : followed.edges)
            fmt::print("  {} -> {}: {:.5g} x {:.5g} = {:.5g}{}\n", step.nodes[static_cast<size_t>(edge.node)].name,
                       step.nodes[static_cast<size_t>(edge.from)].name, edge.local, edge.upstream, edge.product,
                       edge.terms > 1
                           ? fmt::format(" (term {} of {}, their sum {:.5g})", edge.term + 1, edge.terms, edge.total)
                           : "");
    }
    int64_t most = 0;
    for (const int64_t bytes : step.live_bytes) most = std::max(most, bytes);
    fmt::print("{} launches, {} bytes of saved tensors, activations and gradients alive at most\n", step.launches.size(),
               most);
    for (const scene::TapeHook& hook : run.hooks)
        fmt::print("hook: the gradient of {} came as {:.5g} and went on as {:.5g}{} (executed)\n", hook.of, hook.came,
                   hook.went, hook.elements > 1 ? fmt::format(", the first of {} elements", hook.elements) : "");
    for (const scene::TapeHessian& hessian : run.hessians)
        fmt::print("second derivatives of {} (executed)\n{}\n", hessian.of, hessian.text());
    for (const tensor::GradcheckResult& check : run.checks) {
        fmt::print("gradcheck: {}\n", check.text());
        for (size_t i = 1; i < check.mismatches.size(); ++i) {
            const tensor::GradcheckMismatch& wrong = check.mismatches[i];
            fmt::print("  also {} {}: backward gave {:.6g}, differences {:.6g}\n", wrong.input, tensor::text_of(wrong.at),
                       wrong.backward, wrong.numeric);
        }
    }
}

// Of a run that was stopped: its losses, and what the last step that ended made.
void print_stopped(const scene::TapeRun& run) {
    const size_t steps = run.loss.size(), most = 10;
    fmt::print("{}: stopped in step {}, the last would have been {}; so far (executed)\n", run.text.file, steps,
               run.text.steps - 1);
    for (size_t i = 0; i < std::min(steps, most); ++i) {
        const size_t step = steps <= most ? i : i * (steps - 1) / (most - 1);
        fmt::print("  step {:>4}  loss {:.7g}\n", step, run.loss[step]);
    }
    fmt::print("values in step {}\n", steps - 1);
    const auto first = [](const std::vector<double>& values) {
        return values.empty() ? "-" : fmt::format("{:.5g}{}", values.front(), values.size() > 1 ? " .." : "");
    };
    for (const auto& [name, made] : run.history[steps - 1])
        fmt::print("  {:<12} value {:>12}  gradient {:>12}\n", name, first(made.value), first(made.gradient));
}

ordered_json json_of(const scene::TapeRun& run, const std::vector<scene::TapeCause>& causes, const std::string& device) {
    ordered_json all{{"program", run.text.file.substr(run.text.file.find_last_of('/') + 1)},
                     {"device", device},
                     {"steps", run.text.steps},
                     {"stopped", run.stopped}};
    all["loss"] = ordered_json::array();
    for (const double loss : run.loss) all["loss"].push_back(json_number(loss));
    if (run.stopped) return all;
    const nn::StepRecord& step = *run.step;
    all["nodes"] = ordered_json::array();
    for (const nn::GraphNode& node : step.nodes) {
        const auto id = static_cast<size_t>(node.id);
        all["nodes"].push_back({{"name", node.name},
                                {"op", node.op},
                                {"line", id < run.line_of_node.size() ? run.line_of_node[id] : 0},
                                {"shape", std::vector<int64_t>(node.shape)},
                                {"value", list_of(node.value)},
                                {"gradient", list_of(node.gradient)},
                                {"saved_bytes", node.saved_bytes}});
    }
    all["launches"] = step.launches.size();
    all["live_bytes"] = step.live_bytes;
    all["hessians"] = ordered_json::array();
    for (const scene::TapeHessian& hessian : run.hessians)
        all["hessians"].push_back({{"of", hessian.of}, {"in", hessian.in}, {"values", hessian.values}});
    all["hooks"] = ordered_json::array();
    for (const scene::TapeHook& hook : run.hooks)
        all["hooks"].push_back({{"of", hook.of}, {"came", json_number(hook.came)}, {"went", json_number(hook.went)}});
    all["gradchecks"] = ordered_json::array();
    for (const tensor::GradcheckResult& check : run.checks) {
        ordered_json wrong = ordered_json::array();
        for (const tensor::GradcheckMismatch& mismatch : check.mismatches)
            wrong.push_back({{"op", mismatch.op},
                             {"input", mismatch.input},
                             {"at", std::vector<int64_t>(mismatch.at)},
                             {"backward", json_number(mismatch.backward)},
                             {"numeric", json_number(mismatch.numeric)}});
        all["gradchecks"].push_back({{"compared", check.compared}, {"wrong", wrong}});
    }
    all["causes"] = ordered_json::array();
    for (const scene::TapeCause& found : causes)
        all["causes"].push_back({{"name", found.cause.name},
                                 {"step", found.cause.step},
                                 {"layer", found.cause.layer},
                                 {"line", found.line},
                                 {"message", found.cause.text},
                                 {"advice", found.cause.advice}});
    all["not_finite"] = nullptr;
    if (run.anomaly)
        all["not_finite"] = {{"line", run.anomaly_line},
                             {"op", run.anomaly->op},
                             {"name", run.anomaly->name},
                             {"message", scene::anomaly_text(run)}};
    return all;
}

int run_program(const TapeAsked& asked) {
    if (asked.nan != "stop" && asked.nan != "warn")
        throw Failure(fmt::format("--nan {} is neither stop nor warn", asked.nan));
    keep_apart({{"", asked.file}}, {{"--json", asked.json}});
    check_can_write(asked.json);
    const std::string text = read_text(asked.file, size_t{1} << 20).value();
    const scene::TapeText program = scene::parse_tape(text, asked.file).value();
    LongWork work(asked.file, LongWork::Interrupt::held);
    work.keep_looking();
    const scene::TapeRunOptions how{.device = asked.device,
                                    .seed = asked.seed,
                                    .watch = true,
                                    .stop = work.token(),
                                    .partial = true,
                                    .progress = [&](double share) { work(share); }};
    std::shared_ptr<const scene::TapeRun> run;
    std::vector<scene::TapeCause> causes;
    try {
        run = scene::run_tape(program, how).value();
        if (!run->stopped) causes = scene::causes_of(*run, how);
        work.clear();
    } catch (const Cancelled&) {
        if (!work.interrupted()) throw;
        if (!run) {
            tell("stopped by Ctrl-C before a step of the program came to its end\n");
            return interrupted_status;
        }
    }
    if (asked.json != "-") run->stopped ? print_stopped(*run) : print(*run);
    if (!asked.json.empty()) write_json(json_of(*run, causes, asked.device), asked.json);
    std::fflush(stdout);
    for (const scene::TapeCause& found : causes) {
        complain({.message = found.cause.text,
                  .where = {asked.file, found.line, 1},
                  .source_line = line_of(text, found.line),
                  .severity = Severity::warning});
        if (!found.cause.advice.empty()) fmt::print(stderr, "    advice: {}\n", found.cause.advice);
    }
    bool wrong = false;
    for (const tensor::GradcheckResult& check : run->checks) wrong = wrong || !check.ok();
    if (run->anomaly) {
        complain({.message = scene::anomaly_text(*run),
                  .where = {asked.file, run->anomaly_line, 1},
                  .source_line = line_of(text, run->anomaly_line),
                  .severity = asked.nan == "warn" ? Severity::warning : Severity::error});
        wrong = wrong || asked.nan == "stop";
    }
    if (run->stopped) return interrupted_status;
    if (work.interrupted()) {
        tell("stopped by Ctrl-C: the program ran to its end, and causes were not looked for\n");
        return interrupted_status;
    }
    return static_cast<int>(wrong ? ExitStatus::faulted : ExitStatus::done);
}

}  // namespace

void add_tape(const Command& app, int& status) {
    const Command command = app.add_subcommand(
        "tape", "run a tensor program (.tape): values, gradients along every edge, second derivatives, gradcheck, hooks");
    auto asked = std::make_shared<TapeAsked>();
    command.add_option("FILE", asked->file, "a program; lessons/B02_chain_rule/chain.tape is one").required();
    command.add_option("--device", asked->device, "host or sim:GPU, see 'lockstep devices'");
    command.add_option("--seed", asked->seed, "of random fills").check(not_from_0);
    command.add_option("--nan", asked->nan,
                       "what a value or gradient that is no finite number does: stop (exit status 1) or warn");
    command.add_option("--json", asked->json, "write the result as JSON; '-' for stdout");
    command.callback([asked, &status] { status = run_program(*asked); });
}

}  // namespace lockstep::cli
