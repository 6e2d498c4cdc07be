// `lockstep train`: a training run, one line a step; with `--json -` one JSON object a line on stdout and nothing else.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "app/cli/cli.h"
#include "app/cli/kernel/trace_file.h"
#include "app/cli/long_work.h"
#include "app/cli/train/cheaper.h"
#include "app/cli/train/train_modes.h"
#include "app/cli/train/train_parallel.h"
#include "core/base/dtype.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/nn/cheaper/kept_form.h"
#include "core/nn/models/models.h"
#include "core/nn/train/finite.h"
#include "core/nn/train/trainer.h"
#include "core/nn/train/training_options.h"
#include "core/system/system.h"

namespace lockstep::cli {
namespace {

struct TrainAsked {
    nn::TrainerOptions trainer;
    std::optional<int64_t> steps;  // none: the model's own
    int64_t evaluate_every = 0;
    std::string json, trace, prompt, save, resume;
    int64_t save_every = 0;
    std::string mode, l2 = "warm";
    CheaperChoice cheaper;
    ParallelChoice parallel;
    int64_t sample = 0;  // characters of text to write after the training
};

nlohmann::ordered_json step_json(const nn::StepRecord& step) {
    double busy = 0, begin = 0, end = 0;
    int64_t cycles = 0;
    uint64_t instructions = 0;
    for (const device::LaunchEvent& e : step.launches) {
        busy += e.end_us - e.begin_us;
        if (&e == &step.launches.front()) begin = std::min(e.enqueue_begin_us, e.begin_us);
        end = std::max(end, e.end_us);
        cycles += e.cycles;
        instructions += e.warp_instructions;
    }
    nlohmann::ordered_json json{{"step", step.step},
                                {"loss", json_number(step.loss)},
                                {"train_accuracy", json_number(step.train_accuracy)},
                                {"learning_rate", json_number(step.learning_rate)},
                                {"batch", step.batch},
                                {"device", step.device},
                                {"launches", step.launches.size()},
                                {"seconds", json_number(step.seconds)}};
    if (step.loss_scale > 0) {
        json["loss_scale"] = step.loss_scale;
        json["steps_left_out"] = step.left_out;
        json["scale_growths"] = step.grown;
    }
    if (step.device != "host") {
        json["cycles"] = cycles > 0 ? nlohmann::ordered_json(cycles) : nlohmann::ordered_json();
        json["step_us"] = cycles > 0 ? json_number(end - begin) : nlohmann::ordered_json();
        json["busy_us"] = cycles > 0 ? json_number(busy) : nlohmann::ordered_json();
        json["warp_instructions"] = instructions;
        json["l2"] = cycles > 0 ? nlohmann::ordered_json(step.warm_l2 ? "warm" : "cold") : nlohmann::ordered_json();
    }
    add_mode(json, step);
    if (step.batches_ahead >= 0)
        json["loader"] = {{"ahead", step.batches_ahead}, {"waited_seconds", json_number(step.loader_waited)}};
    if (step.noise_scale) {
        const nn::NoiseScale& n = *step.noise_scale;
        json["noise_scale"] = {{"batches", {n.small_batch, n.big_batch}},
                               {"gradient_square", json_number(n.gradient_square)},
                               {"noise", json_number(n.noise)},
                               {"simple", json_number(n.simple)}};
    }
    if (step.not_finite) {
        const nn::NotFinite& n = *step.not_finite;
        json["not_finite"] = {
            {"phase", n.phase}, {"op", n.op}, {"name", n.name}, {"where", n.where}, {"value", json_number(n.value)},
            {"message", n.text}};
    }
    return json;
}

// The kernels of the last step on the host's and the device's track.
Trace timeline_of(const nn::StepRecord& step) {
    if (!step.queue.empty()) return queue_timeline(step);
    Trace trace;
    trace.tracks = {{"host"}, {step.device}};
    for (size_t i = 0; i < step.launches.size(); ++i) {
        const device::LaunchEvent& e = step.launches[i];
        auto ns = [](double us) { return static_cast<int64_t>(us * 1000); };
        trace.spans.push_back(
            {0, ns(e.enqueue_begin_us), ns(e.enqueue_end_us), "enqueue " + e.label, static_cast<int64_t>(i)});
        trace.spans.push_back({1, ns(e.begin_us), ns(e.end_us), e.label, static_cast<int64_t>(i)});
        trace.arrows.push_back({static_cast<int>(2 * i), static_cast<int>(2 * i + 1)});
    }
    return trace;
}

// checkpoint.json names its folder too.
nn::Checkpoint open_checkpoint(std::filesystem::path path) {
    if (path.filename() == "checkpoint.json") path = path.has_parent_path() ? path.parent_path() : ".";
    return nn::load_checkpoint(path).value();
}

void check_can_save(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    const std::string why = error ? error.message() : system::why_unwritable(folder);
    if (!why.empty()) throw Failure(Diagnostic{fmt::format("no checkpoint can be saved there: {}", why), {folder.string()}});
}

bool is_given(const Command& command, std::string_view name) {  // some are no options of the command
    return command.given("--" + std::string(name));
}

// The options of the run: those given, then the checkpoint's, then the model's own.
nn::TrainerOptions trainer_options(const TrainAsked& options, const nn::Checkpoint* from, const Command& command) {
    nn::TrainerOptions trainer = options.trainer;
    const auto given = [&](std::string_view name) { return is_given(command, name); };
    if (!given("model") && !from) throw Failure("--model is needed, or --resume; 'lockstep train --help' lists the models");
    const nn::ModelRow& row = nn::model_named(given("model") ? trainer.model : from->model);
    trainer.model = row.name;
    trainer.keep_images = false;
    trainer.prefetch = true;
    if (options.l2 != "warm" && options.l2 != "cold")
        throw Failure(fmt::format("--l2 is warm or cold, not '{}'", options.l2));
    trainer.warm_l2 = options.l2 == "warm";
    if (!given("batch")) trainer.batch = row.batch;
    if (!given("lr")) trainer.learning_rate = row.learning_rate;
    if (!options.mode.empty() && options.mode != "each") trainer.mode = nn::mode_named(options.mode);
    if (trainer.planned_steps == 0) trainer.planned_steps = options.steps.value_or(row.steps);
    if (from) {
        try {
            nn::take_options(trainer, *from, given);
            if (!options.cheaper.any()) nn::check_goes_on(trainer, *from);
        } catch (const Failure& failure) {
            throw Failure(Diagnostic{failure.diagnostic.message, {options.resume}});
        }
    }
    return trainer;
}

// What a run on one rank says: a line a step, and where an evaluation follows, its figures join the step's line.
class StepLines {
  public:
    StepLines(const TrainAsked& options, int64_t steps, int64_t end, LongWork& work)
        : options_(options), as_json_(options.json == "-"), steps_(steps), end_(end), work_(work) {}

    template <class... Values>
    void say(fmt::format_string<Values...> text, Values&&... values) const {  // to a person; nothing where JSON is asked for
        if (as_json_) return;
        work_.clear();
        fmt::print(text, std::forward<Values>(values)...);
        std::fflush(stdout);
    }

    // Heard before the step's own line is made: it stands in that line, and again in the last one.
    void cause(const nn::Cause& cause) {
        causes_.push_back(cause);
        std::fflush(stdout);
        work_.clear();
        complain(Diagnostic{.message = cause.text, .severity = Severity::warning});
        if (!cause.advice.empty()) fmt::print(stderr, "    advice: {}\n", cause.advice);
    }

    void step(const nn::StepRecord& step) {
        if (step.not_finite && !std::exchange(warned_, true))
            complain(Diagnostic{.message = step.not_finite->text, .severity = Severity::warning});
        line_ = step_json(step);
        add_causes();
        if (!is_evaluated(step.step)) emit(line_);
        if (is_printed(step.step))
            say("step {:>6}  loss {}  {}{:.1f} ms\n", step.step,
                std::abs(step.loss) < 1e6 ? fmt::format("{:.5f}", step.loss) : fmt::format("{:.4g}", step.loss),
                step.labels.empty() ? "" : fmt::format("batch accuracy {:5.1f} %  ", 100 * step.train_accuracy),
                1000 * step.seconds);
        last_ = step;
    }

    void evaluation(const nn::Evaluation& evaluation) {
        add_causes();
        line_["test_loss"] = json_number(evaluation.loss);
        line_["test_accuracy"] = json_number(evaluation.accuracy);
        for (const nn::Measure& measure : evaluation.measures) line_["measures"][measure.name] = json_number(measure.value);
        emit(line_);
        if (evaluation.measures.empty())
            say("test set after step {}: loss {:.5f}, accuracy {:.2f} % (executed)\n", evaluation.step, evaluation.loss,
                100 * evaluation.accuracy);
        for (const nn::Measure& measure : evaluation.measures)
            say("after step {}: {} {:.5g}{}{} (executed)\n", evaluation.step, measure.name, measure.value,
                measure.unit.empty() ? "" : " ", measure.unit);
    }

    void sample(const std::string& text) {
        emit({{"sample", text}});
        say("{}{}\n", options_.prompt, text);
    }

    void stopped(const nn::NotFiniteFailure& failure) {
        line_ = step_json(*failure.record);
        add_causes();
        emit(line_);
        complain(failure.diagnostic);
        last_ = *failure.record;
    }

    void end() const {
        for (const nn::Cause& cause : causes_) say("why it fails: {}\n", cause.text);
        if (!as_json_) print_mode(last_);
        if (last_.noise_scale)
            say("gradient noise scale: {:.4g} examples, from batches of {:.4g} and {:.4g} (executed); this estimates the "
                "critical batch size\n",
                last_.noise_scale->simple, last_.noise_scale->small_batch, last_.noise_scale->big_batch);
        if (last_.batches_ahead >= 0)
            say("loader: {} batch{} ready at the end, {:.1f} ms waited for batches in all (measured)\n", last_.batches_ahead,
                last_.batches_ahead == 1 ? "" : "es", 1000 * last_.loader_waited);
        if (last_.loss_scale > 0)
            say("loss scale {} at the end: {} steps left out, {} growths (executed)\n", last_.loss_scale, last_.left_out,
                last_.grown);
        if (!options_.json.empty() && !as_json_) write_file(options_.json, collected_);
        if (!options_.trace.empty()) write_trace(timeline_of(last_), options_.trace);
    }

  private:
    bool is_evaluated(int64_t step) const {
        return step == end_ - 1 || work_.interrupted() ||
               (options_.evaluate_every > 0 && (step + 1) % options_.evaluate_every == 0);
    }
    bool is_printed(int64_t step) const {  // some twenty lines in all
        return steps_ <= 20 || step % (steps_ / 20) == 0 || step == end_ - 1 || work_.interrupted();
    }
    void emit(const nlohmann::ordered_json& json) {
        if (as_json_) {
            fmt::print("{}\n", json.dump());
            std::fflush(stdout);
        } else if (!options_.json.empty()) {
            collected_ += json.dump() + "\n";
        }
    }

    void add_causes() {
        if (causes_.empty()) return;
        line_["causes"] = nlohmann::ordered_json::array();
        for (const nn::Cause& cause : causes_)
            line_["causes"].push_back({{"name", cause.name},
                                       {"step", cause.step},
                                       {"layer", cause.layer},
                                       {"message", cause.text},
                                       {"advice", cause.advice}});
    }

    const TrainAsked& options_;
    bool as_json_;
    int64_t steps_, end_;
    LongWork& work_;
    std::string collected_;
    nlohmann::ordered_json line_;
    nn::StepRecord last_;
    std::vector<nn::Cause> causes_;
    bool warned_ = false;
};

// `formed`: the run begins with the weights that the checkpoint's were pruned, quantized or adapted to.
int train_on_one_rank(const TrainAsked& options, nn::TrainRequest& request, int64_t begin, const FormedTraining* formed,
                      int64_t checkpoint_step) {
    for (const std::string& file : {options.json, options.trace}) check_can_write(file);
    LongWork work(request.options.model, LongWork::Interrupt::held);
    StepLines lines(options, request.steps, begin + request.steps, work);
    if (formed) lines.say("begins with {}'s weights after step {}; {}", options.resume, checkpoint_step, formed->text);
    if (request.from) lines.say("{} goes on after step {} of {}\n", options.resume, begin, request.options.model);
    request.on_save = [&](int64_t step) { lines.say("after step {}: saved in {}\n", step, options.save); };
    // On the host a step is short, and Ctrl-C lets it end; on a modelled GPU it is given up.
    if (request.options.device != "host") request.options.stop = work.token();
    size_t launched = 0, launches = 0;  // in the step under way, in the one before
    int64_t steps = 0;
    const auto tell_progress = [&] {
        const double part = launches == 0 ? 0 : std::min(1.0, double(launched) / double(launches));
        work((double(steps) + part) / double(request.steps));
    };
    request.on_step = [&](const nn::StepRecord& step) {
        ++steps;
        launches = std::exchange(launched, 0);
        tell_progress();
        lines.step(step);
        return !work.interrupted();
    };
    request.on_cause = [&](const nn::Cause& cause) { lines.cause(cause); };
    request.on_evaluation = [&](const nn::Evaluation& evaluation) { lines.evaluation(evaluation); };
    request.on_begin = [&](nn::Trainer& fresh) {  // what cannot be written at the end is better known now
        if (request.options.device != "host")
            fresh.on_launch = [&](const device::LaunchEvent&) { ++launched, tell_progress(); };
        if (options.sample > 0) fresh.sample(options.prompt, 1);
    };
    request.on_end = [&](nn::Trainer& trainer) {
        if (options.sample > 0) lines.sample(trainer.sample(options.prompt, options.sample));
    };
    int status = 0;
    try {
        nn::train(request);
    } catch (const nn::NotFiniteFailure& failure) {
        lines.stopped(failure);
        status = static_cast<int>(failure.status);
    } catch (const Cancelled&) {
        if (!work.interrupted()) throw;
    }
    if (steps > 0 || status != 0) lines.end();
    if (!work.interrupted()) return status;
    work.clear();
    tell("stopped by Ctrl-C after {} of {} steps\n", steps, request.steps);
    return interrupted_status;
}

void check_steps(int64_t steps, int64_t begin) {
    if (steps >= 1) return;
    throw Failure(begin == 0
                      ? fmt::format("--steps is at least 1, not {}", steps)
                      : fmt::format("the checkpoint is after step {}, the end of its plan: --steps N trains N more", begin));
}

int train(const TrainAsked& options, const Command& command) {
    std::optional<nn::Checkpoint> from;
    if (!options.resume.empty()) from = open_checkpoint(options.resume);
    if (!options.save.empty()) check_can_save(options.save);
    if (options.save.empty() && options.save_every > 0) throw Failure("--save-every needs --save, the folder to save in");
    nn::TrainRequest request;
    request.options = trainer_options(options, from ? &*from : nullptr, command);
    request.from = from ? &*from : nullptr;
    if (options.cheaper.any() && !from && options.save.empty())
        return train_cheaper(options.cheaper, request.options, request.options.dtype, options.steps,
                             is_given(command, "batch") ? std::optional(request.options.batch) : std::nullopt,
                             is_given(command, "lr") ? std::optional(request.options.learning_rate) : std::nullopt,
                             options.json);
    std::optional<FormedTraining> formed;
    if (options.cheaper.any()) {
        formed = formed_training(options.cheaper, request.options, request.from, options.steps);
        request.options.alter = formed->run.alter;
        request.options.planned_steps = options.trainer.planned_steps > 0 ? options.trainer.planned_steps : formed->steps;
        request.from = nullptr;  // a run of its own: what the checkpoint says of its optimizer is not gone on from
    }
    const int64_t begin = request.from ? from->step : 0;
    request.steps = formed ? formed->steps : options.steps.value_or(request.options.planned_steps - begin);
    check_steps(request.steps, begin);
    if (options.mode == "each") {
        if (from || !options.save.empty() || !options.trace.empty() || options.sample > 0)
            throw Failure("--mode each shows modes beside each other: it saves, resumes, traces and samples nothing");
        return train_in_each_mode(request.options, options.steps.value_or(8), options.json);
    }
    if (options.parallel.any() && from && nn::alter_of(*from))
        throw Failure(Diagnostic{"its weights are pruned or have adapters, which train on one rank", {options.resume}});
    check_trace_name(options.trace);
    if (options.parallel.any())
        return train_parallel(options.parallel, {.training = request.options,
                                                 .from = request.from,
                                                 .steps = request.steps,
                                                 .evaluate_every = options.evaluate_every,
                                                 .save_every = options.save_every,
                                                 .save = options.save,
                                                 .json = options.json,
                                                 .trace = options.trace});
    request.evaluate_every = options.evaluate_every;
    request.save = options.save;
    request.save_every = options.save_every;
    return train_on_one_rank(options, request, begin, formed ? &*formed : nullptr, from ? from->step : 0);
}

void add_training_option(const Command& command, nn::TrainerOptions& options, const nn::TrainingOption& row) {
    if (row.summary.empty()) return;
    const std::string flag = fmt::format("--{}", row.name), summary(row.summary);
    if (!names_of(row).empty()) {
        command.add_option_function(
            flag,
            [&options, &row](const std::string& name) {
                if (!set_named(options, row, name))
                    throw Failure(fmt::format("--{} {} is not one of {}", row.name, name, names_of(row)));
            },
            summary);
        return;
    }
    std::visit(
        [&](auto field) {
            auto& value = options.*field;
            using Value = std::remove_reference_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, bool>) {
                command.add_flag(flag, value, summary);
            } else if constexpr (!std::is_enum_v<Value>) {
                const Option option = command.add_option(flag, value, summary);
                if (row.name == "lr")
                    option.check([wrong = number_within(row.least, row.most)](const std::string& text) {
                        const std::string why = wrong(text);
                        return why.empty() ? why : why + ", such as 0.1; without --lr the model's own rate is taken";
                    });
                else if (std::is_same_v<Value, double> && row.least > -1e300)
                    option.check(number_within(row.least, row.most));
                else if (std::is_integral_v<Value> && row.least >= 0)
                    option.check(row.least > 0 ? not_from_1 : not_from_0);
            }
        },
        row.field);
}

}  // namespace

void add_train(const Command& app, int& status) {
    const Command command = app.add_subcommand("train", "train a model, on the host or on the modelled GPU");
    auto options = std::make_shared<TrainAsked>();
    nn::TrainerOptions& t = options->trainer;
    std::string names;
    for (const nn::ModelRow& row : nn::models())
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", row.name, row.summary);
    command.add_option("--model", t.model, names);
    for (const nn::TrainingOption& row : nn::training_options()) add_training_option(command, t, row);
    command.add_option("--steps", options->steps, "training steps; unless said, as many as the model needs")
        .check(not_from_1);
    command.add_option("--save", options->save, "folder for a checkpoint after the last step");
    command.add_option("--save-every", options->save_every, "steps between checkpoints in that folder").check(not_from_1);
    command.add_option("--resume", options->resume,
                       "folder of a checkpoint to go on from, with its options unless said; --steps counts from there");
    command.add_option("--sample", options->sample, "characters of text that a language model writes at the end")
        .check(not_from_0);
    command.add_option("--prompt", options->prompt, "what that text goes on from");
    command.add_option("--mode", options->mode, modes_text());
    command.add_option("--l2", options->l2,
                       "on a modelled GPU, warm: L2 holds at a launch what earlier ones have left there; cold: nothing. "
                       "Warm unless told");
    add_cheaper(command, options->cheaper);
    add_parallel(command, options->parallel);
    command
        .add_option("--evaluate-every", options->evaluate_every,
                    "steps between evaluations on the test set; 0: once at the end")
        .check(not_from_0);
    command.add_option("--json", options->json, "one JSON object a step; '-' for stdout");
    command.add_option("--trace", options->trace,
                       "write the last step's timeline: F.json for ui.perfetto.dev, F.csv, or F.txt");
    command.callback([options, command, &status] {
        take_pipeline_schedule(options->parallel, options->trainer.schedule);
        if (options->parallel.async) options->parallel.compare = std::exchange(options->cheaper.compare, false);
        if (options->parallel.any()) refuse_single_rank_options(command);
        status = train(*options, command);
    });
}

}  // namespace lockstep::cli
