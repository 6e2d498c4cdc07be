// What a run on many ranks is refused for before it begins, and what would run instead, in a sentence each.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/nn/layers/rules.h"
#include "core/parallel/train/rank_trainer.h"

namespace lockstep::parallel {

namespace {
// Stages update at different times and while micro-batches are under way, so nothing that all stages do together goes.
void check_stale_options(const ParallelOptions& options, const ModelShape& shape) {
    const ParallelPlan& plan = options.plan;
    const nn::TrainerOptions& training = options.training;
    const std::string& kind = plan.schedule;
    if (options.steps < 1) throw Failure(fmt::format("{} runs all steps in one go: say how many (steps)", kind));
    if (options.steps * plan.microbatches > 100'000)
        throw Failure(fmt::format("{} keeps the list of all micro-batches: --steps x --microbatches at most 100000", kind));
    if (kind == "pipedream" && plan.microbatches > 1)
        throw Failure("pipedream updates after every micro-batch: --microbatches 1, or --schedule pipedream_2bw");
    if (plan.zero > 0 || plan.offload || (training.dtype != DType::f32 && training.dtype != DType::f64))
        throw Failure(
            fmt::format("{} keeps versions of whole weights in the type that is learnt: train with --zero 0, "
                        "without --offload, in f32 or f64",
                        kind));
    if (nn::clipping_of(training).max_norm > 0 || nn::scaling_of(training))
        throw Failure(
            fmt::format("the stages of {} update at different times, so that gradients have no common norm: train "
                        "with --clip-norm 0 and without a loss scale",
                        kind));
    if (shape.tied_head)
        throw Failure(
            fmt::format("the first and last stage of {} share a weight, and those of {} update at different times: "
                        "llama goes",
                        shape.name, kind));
}

}  // namespace

void check_parallel_options(const ParallelOptions& options, const ModelShape& shape) {
    const ParallelPlan& plan = options.plan;
    const nn::TrainerOptions& training = options.training;
    if (plan.zero < 0 || plan.zero > 3) throw Failure(fmt::format("--zero {} is not one of 0, 1, 2 and 3", plan.zero));
    for (const auto& [name, value] : {std::pair{"dp", plan.dp},
                                      {"tp", plan.tp},
                                      {"pp", plan.pp},
                                      {"cp", plan.cp},
                                      {"microbatches", plan.microbatches},
                                      {"chunks", plan.chunks}})
        if (value < 1 || value > 1024) throw Failure(fmt::format("--{} {} is impossible: 1 to 1024", name, value));
    if (plan.ranks() > 256) throw Failure(fmt::format("{} ranks are too many to run here: 256 at most", plan.ranks()));
    if (plan.compression != Compression::none && plan.zero > 0)
        throw Failure("compressed gradients are all-reduced whole: --compression works with --zero 0");
    if (plan.compression != Compression::none && training.dtype != DType::f32 && training.dtype != DType::f64)
        throw Failure("gradients are compressed from f32 or f64: --compression works with --dtype f32");
    if (plan.compression == Compression::top_k && !(plan.keep > 0 && plan.keep <= 1))
        throw Failure(fmt::format("top-k keeps a share of {}: more than 0, 1 at most", plan.keep));
    if (plan.compression == Compression::power_sgd && plan.rank < 1)
        throw Failure(fmt::format("PowerSGD's rank of {} is impossible: 1 or more", plan.rank));
    const nn::OptimizerRow& rule = row_of(nn::rule_of(training));
    if (rule.norms != nn::OptimizerRow::Norms::none && (plan.zero > 0 || plan.tp > 1))
        throw Failure(
            fmt::format("{} takes the norm of whole layers, which --zero and --tp cut: sgd, adam and adamw go", rule.name));
    if (plan.sync_batch_norm && shape.name != "resnet8")
        throw Failure(fmt::format("--sync-batch-norm works on batch norm, and {} has none: resnet8 has", shape.name));
    if (!options.batches_of_worker.empty()) {
        if (static_cast<int64_t>(options.batches_of_worker.size()) != plan.dp)
            throw Failure(fmt::format("batches of {} workers are not those of --dp {}: one number a worker",
                                      options.batches_of_worker.size(), plan.dp));
        for (const int64_t batches : options.batches_of_worker)
            if (batches < 0) throw Failure(fmt::format("a worker has 0 batches or more, not {}", batches));
        if (plan.pp > 1 && schedule_named(plan.schedule).versions)
            throw Failure(fmt::format("{} runs all batches in one go: workers have as many each", plan.schedule));
    }
    if (training.dropout > 0) throw Failure("ranks drop no values while they learn: --dropout works on one rank");
    if (training.accumulate > 1) throw Failure("parts of a batch are micro-batches here: --microbatches, not --accumulate");
    if (const std::optional<std::string> why = refusal(plan, shape, training.batch)) throw Failure(*why);
    if (training.batch % (int64_t{plan.dp} * plan.microbatches))
        throw Failure(fmt::format(
            "a batch of {} does not divide into {} workers x {} micro-batches: {} would", training.batch, plan.dp,
            plan.microbatches, (training.batch / (int64_t{plan.dp} * plan.microbatches) + 1) * plan.dp * plan.microbatches));
    if (plan.pp > 1) {
        if (never_flushes(plan)) check_stale_options(options, shape);
        schedule_of(options);  // refuses numbers of ranks and micro-batches that it has no lists for
        cut_of_plan(shape, plan, pipeline_stages(plan));
    } else if (!plan.cut.empty()) {
        throw Failure("a cut moves blocks between the stages of a pipeline: --pp 2 makes two of them");
    }
}

}  // namespace lockstep::parallel
