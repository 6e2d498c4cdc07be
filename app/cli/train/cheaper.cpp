#include "app/cli/train/cheaper.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/long_work.h"
#include "core/base/tell.h"
#include "core/nn/cheaper/cheaper.h"
#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"

namespace lockstep::cli {

void add_cheaper(const Command& command, CheaperChoice& choice) {
    command.add_flag("--compare", choice.compare,
                     "with --dtype f16 or bf16: trains in f32 too, with --async in synchronous steps too; shows both");
    command.add_option("--quantize", choice.quantize,
                       "int8: trains, then shows weights and activations in 8 bits beside f32");
    command.add_option("--prune", choice.prune,
                       "magnitude:0.9 (or several shares, or layer:0.9 for each layer by itself), 2:4, or both with '+': a "
                       "table; with --resume one of them, for a run that begins with the checkpoint's weights");
    command.add_option("--distill", choice.distill, "a teacher, such as mlp512: the model alone and taught by it");
    command.add_option("--temperature", choice.temperature, "of --distill");
    command.add_option("--teacher-weight", choice.teacher_weight, "of --distill: the teacher's share of the loss");
    command.add_option("--seeds", choice.seeds, "of --distill: students of each kind").check(not_from_1);
    command
        .add_option("--lora", choice.lora,
                    "rank of adapters: the trained model tuned to --tune-data; with --resume a run that begins with the "
                    "checkpoint's weights, on --data")
        .check(not_from_1);
    command.add_option("--lora-alpha", choice.alpha, "of --lora: adapters count alpha / rank times");
    command.add_option("--tune-data", choice.tune_data,
                       "of --lora: what --data takes; 'pig latin' for text and mirrored digits for pictures unless said");
    command.add_option("--tune-steps", choice.tune_steps, "of --prune and --lora; a share of --steps unless said")
        .check(not_from_1);
}

namespace {
// Another set of the kind that the model knows.
std::string tune_data_of(const std::string& asked, const nn::CheaperRun& run) {
    if (!asked.empty()) return asked;
    const std::string own(nn::model_named(run.model).data);
    return own.starts_with("digits") ? "mirrored " + own : "pig latin";
}

double share_of(std::string_view text) {
    double share = -1;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), share);
    if (error != std::errc{} || rest != text.data() + text.size() || !(share >= 0) || !(share < 1))
        throw Failure(fmt::format("--prune: a share from 0 to below 1 is needed, not '{}'", text));
    return share;
}

// "magnitude:0.8,0.9+2:4"
nn::PruneOptions prune_options(std::string_view text) {
    nn::PruneOptions options{.shares = {}, .two_of_four = false};
    while (!text.empty()) {
        const size_t plus = std::min(text.find('+'), text.size());
        const std::string_view part = text.substr(0, plus);
        text.remove_prefix(std::min(plus + 1, text.size()));
        const size_t colon = std::min(part.find(':'), part.size());
        const std::string_view kind = part.substr(0, colon);
        if (part == "2:4") {
            options.two_of_four = true;
        } else if (kind == "magnitude" || kind == "layer") {
            options.by_layer = kind == "layer";
            std::string_view shares = colon < part.size() ? part.substr(colon + 1) : "0.5,0.8,0.9,0.95";
            while (!shares.empty()) {
                const size_t comma = std::min(shares.find(','), shares.size());
                options.shares.push_back(share_of(shares.substr(0, comma)));
                shares.remove_prefix(std::min(comma + 1, shares.size()));
            }
        } else {
            throw Failure(fmt::format("--prune {}: it is magnitude:SHARES, layer:SHARES or 2:4", part));
        }
    }
    return options;
}

nn::Form form_of(const CheaperChoice& choice) {
    nn::Form form{.prunes = !choice.prune.empty(), .rank = choice.lora, .alpha = choice.alpha};
    if (!form.prunes) return form;
    const nn::PruneOptions how = prune_options(choice.prune);
    const bool one_share = how.shares.size() == 1 && !how.two_of_four;
    if (!one_share && !(how.shares.empty() && how.two_of_four))
        throw Failure(fmt::format(
            "--prune {}: a run of its own is pruned in one way, such as magnitude:0.9, layer:0.9 or 2:4", choice.prune));
    form.by_layer = how.by_layer;
    form.two_of_four = how.two_of_four;
    if (one_share) form.share = how.shares[0];
    return form;
}

nlohmann::ordered_json comparison_json(const nn::Comparison& c) {
    nlohmann::ordered_json json{{"method", c.method},
                                {"model", c.model},
                                {"data", c.data},
                                {"measure", c.measure},
                                {"lower_is_better", c.lower_is_better},
                                {"moved_by", c.moves}};
    for (const nn::CheaperRow& row : c.rows) {
        const nn::CheaperRow& first = c.rows.front();
        nlohmann::ordered_json one{{"method", row.method},
                                   {"quality", json_number(row.quality)},
                                   {"test_loss", json_number(row.loss)},
                                   {"stored_bytes", json_number(row.bytes)},
                                   {"moved_bytes", json_number(row.moved)},
                                   {"operations", json_number(row.operations)},
                                   {"stored_ratio", json_number(row.bytes / first.bytes)},
                                   {"moved_ratio", json_number(row.moved / first.moved)},
                                   {"operations_ratio", json_number(row.operations / first.operations)}};
        if (row.trained > 0) one["trained"] = row.trained, one["optimizer_bytes"] = json_number(row.state_bytes);
        for (const nn::Measure& measure : row.more) one["measures"][measure.name] = json_number(measure.value);
        json["rows"].push_back(one);
    }
    return json;
}
}  // namespace

FormedTraining formed_training(const CheaperChoice& choice, const nn::TrainerOptions& options, const nn::Checkpoint* from,
                               std::optional<int64_t> steps) {
    if (choice.compare || !choice.quantize.empty() || !choice.distill.empty())
        throw Failure("comparisons of cheaper forms are neither saved nor resumed: only what --prune or --lora make is");
    if (!from)
        throw Failure("--prune and --lora are saved with --resume alone: the folder whose weights the run begins with");
    const nn::Form form = form_of(choice);
    FormedTraining made{.run = nn::begin_in_form(options, *from, form), .text = {}, .steps = 0};
    const int64_t share = form.rank > 0 ? 4 : 5;  // as in the tables
    made.steps =
        steps.value_or(choice.tune_steps > 0 ? choice.tune_steps : std::max<int64_t>(1, options.planned_steps / share));
    if (form.prunes)
        made.text = fmt::format("pruned by {}: {} of {} weights stay\n", choice.prune, made.run.kept, made.run.weights);
    if (form.rank > 0) made.text += fmt::format("adapters of rank {}, which alone learn\n", form.rank);
    return made;
}

int train_cheaper(const CheaperChoice& choice, const nn::TrainerOptions& options, DType type, std::optional<int64_t> steps,
                  std::optional<int64_t> batch, std::optional<double> learning_rate, const std::string& json) {
    const bool text = json != "-";
    std::string phase;
    nn::CheaperRun run{.model = options.model,
                       .data = options.data,
                       .steps = steps.value_or(0),
                       .batch = batch.value_or(0),
                       .learning_rate = learning_rate.value_or(0),
                       .seed = options.seed,
                       .device = options.device,
                       .functional = options.functional,
                       .threads = options.threads};
    LongWork work(options.model + " in cheaper forms", LongWork::Interrupt::held);
    run.stop = work.token();
    nn::StepRecord reached;
    run.on_step = [&](const std::string& now, const nn::StepRecord& step) {
        work(0);
        if (work.interrupted()) throw Cancelled();
        if (phase != now || (text && step.step > 0 && step.step % 200 == 0)) work.clear();
        if (phase != now && text) tell("training: {}\n", now);
        phase = now;
        reached = step;
        if (text && step.step > 0 && step.step % 200 == 0) tell("  step {:>5}  loss {:.4f}\n", step.step, step.loss);
    };
    std::vector<nn::Comparison> made;
    nn::Comparison so_far;  // of the one under way
    run.on_row = [&](const nn::Comparison& one) { so_far = one; };
    try {
        if (!choice.quantize.empty()) {
            if (choice.quantize != "int8") throw Failure(fmt::format("--quantize {}: it is int8", choice.quantize));
            made.push_back(nn::compare_quantized(run));
        }
        if (!choice.prune.empty()) {
            nn::PruneOptions how = prune_options(choice.prune);
            how.fine_tune = choice.tune_steps;
            made.push_back(nn::compare_pruned(run, how));
        }
        if (!choice.distill.empty())
            made.push_back(nn::compare_distilled(run, {.teacher = choice.distill,
                                                       .temperature = choice.temperature,
                                                       .weight = choice.teacher_weight,
                                                       .seeds = choice.seeds}));
        if (choice.lora > 0)
            made.push_back(nn::compare_lora(run, {.rank = choice.lora,
                                                  .alpha = choice.alpha,
                                                  .data = tune_data_of(choice.tune_data, run),
                                                  .tune_steps = choice.tune_steps}));
        if (choice.compare) {
            const DType halves[] = {DType::f16, DType::bf16};
            const bool named = type == DType::f16 || type == DType::bf16;
            made.push_back(
                nn::compare_precision(run, named ? std::span<const DType>(&type, 1) : std::span<const DType>(halves)));
        }
    } catch (const Cancelled&) {
        if (!work.interrupted()) throw;
        work.clear();
        const bool new_rows = !so_far.rows.empty() && (made.empty() || so_far.method != made.back().method);
        if (new_rows) made.push_back(so_far);
        tell("stopped by Ctrl-C{}; {}\n",
             phase.empty() ? ""
                           : fmt::format(" while {} was being trained, after step {} of loss {:.4g}", phase, reached.step,
                                         reached.loss),
             made.empty() ? "nothing was made to be compared" : "what was made before follows");
    }
    work.clear();
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const nn::Comparison& comparison : made) {
        if (text) fmt::print("{}", text_of(comparison));
        all.push_back(comparison_json(comparison));
    }
    if (!json.empty() && !(work.interrupted() && made.empty())) write_json(made.size() == 1 ? all[0] : all, json);
    return work.interrupted() ? interrupted_status : 0;
}

}  // namespace lockstep::cli
