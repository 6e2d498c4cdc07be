// `lockstep train --dp N --async`: a parameter server and N workers, what each update was, how stale, and the same batches
// in synchronous steps beside it: a step of them for its time, all of them with --compare.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "app/cli/cli.h"
#include "app/cli/kernel/trace_file.h"
#include "app/cli/long_work.h"
#include "app/cli/train/train_parallel.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/base/units.h"
#include "core/comm/network/network.h"
#include "core/comm/outside/mpi.h"
#include "core/nn/data/files/checkpoint.h"
#include "core/nn/train/trainer.h"
#include "core/parallel/train/asynchronous.h"

namespace lockstep::cli {
namespace {

using parallel::AsyncOptions;
using parallel::AsyncRun;
using parallel::ServerUpdate;

struct Synchronous {  // the same batches in steps that all workers take together
    double step_us = 0, all_us = 0, waits = 0;
    int64_t steps = 0;
    double loss = 0;
    std::optional<nn::Evaluation> evaluation;  // with --compare
};

nlohmann::ordered_json update_json(const ServerUpdate& update, size_t number) {
    return {{"update", number},
            {"worker", update.worker},
            {"batch", update.batch},
            {"staleness", update.staleness},
            {"loss", json_number(update.loss)},
            {"learning_rate", json_number(update.learning_rate)},
            {"held_us", json_number(update.held_us)},
            {"fetched_us", json_number(update.fetched_us)},
            {"computed_us", json_number(update.computed_us)},
            {"arrived_us", json_number(update.arrived_us)},
            {"updated_us", json_number(update.updated_us)}};
}

std::string clock_text(double us) {  // digits enough to tell one update from the next
    return time_text(us, {.significant = 5});
}

nn::Evaluation evaluate(const nn::TrainerOptions& asked, const nn::Checkpoint& whole) {
    nn::TrainerOptions training = asked;
    training.device = "host";
    training.accumulate = 1;
    nn::Trainer trainer(training);
    trainer.restore(whole);
    return trainer.evaluate();
}

// As many steps as every worker has done batches.
Synchronous train_synchronously(parallel::ParallelOptions options, const ParallelChoice& choice, const ParallelRun& run,
                                int64_t steps, LongWork* work) {
    const bool all = choice.compare && !(work && work->interrupted());
    options.network = network_of(choice, options.plan.ranks());
    options.compare_every = 0;
    options.batches_of_worker.clear();
    Synchronous made{.steps = std::max<int64_t>(1, steps)};
    parallel::ParallelTrainer trainer(options);
    if (run.from) trainer.restore(*run.from);
    int64_t done = 0;  // the first one begins with the first weights' broadcast, so that not it tells how long a step takes
    while (done < (all ? made.steps : std::min<int64_t>(3, made.steps))) {
        const parallel::ParallelStepRecord record = trainer.step();
        ++done;
        made.step_us = record.end_us - record.begin_us;
        made.all_us = record.end_us + static_cast<double>(made.steps - done) * made.step_us;
        made.waits = parallel::waiting_share(record);
        made.loss = record.loss;
        if (!work || !work->asked_to_stop()) continue;
        made.steps = done;
        made.all_us = record.end_us;
        break;
    }
    if (all) made.evaluation = trainer.evaluate();
    return made;
}

// The workers' batches and the server's updates, in virtual time.
Trace trace_of_run(const AsyncRun& run, int workers) {
    Trace trace;
    const auto ns = [](double us) { return static_cast<int64_t>(us * 1000); };
    for (int worker = 0; worker < workers; ++worker) trace.tracks.push_back({fmt::format("worker {}", worker)});
    trace.tracks.push_back({"server"});
    for (size_t i = 0; i < run.updates.size(); ++i) {
        const ServerUpdate& u = run.updates[i];
        const auto detail = static_cast<int64_t>(i);
        const auto at = static_cast<int>(trace.spans.size());
        trace.spans.push_back({u.worker, ns(u.fetched_us), ns(u.computed_us), fmt::format("batch {}", u.batch), detail});
        trace.spans.push_back({workers, ns(u.begun_us), ns(u.updated_us),
                               fmt::format("update {} of worker {}, staleness {}", i, u.worker, u.staleness), detail});
        trace.arrows.push_back({at, at + 1});
    }
    return trace;
}

void print_run(const AsyncRun& run, const AsyncOptions& options, int workers) {
    const double rate = static_cast<double>(run.updates.size()) / run.end_us * 1e6;
    fmt::print("{} workers of {} and a server: {} updates in {}, {} a second (derived); a push takes {} bytes (executed)\n",
               workers, options.run.gpu, run.updates.size(), clock_text(run.end_us),
               rate < 100 ? fmt::format("{:.3g}", rate) : with_commas(static_cast<int64_t>(rate)),
               with_commas(run.push_bytes));
    const std::vector<int64_t> counts = run.by_staleness();
    const int64_t most = std::max<int64_t>(1, *std::max_element(counts.begin(), counts.end()));
    fmt::print("updates by staleness, others' updates between fetch and push (executed):\n");
    for (size_t staleness = 0; staleness < counts.size(); ++staleness)
        if (counts[staleness] > 0)
            fmt::print("  {:>3} {:>7}  {}\n", staleness, counts[staleness],
                       std::string(static_cast<size_t>(std::max<int64_t>(1, 40 * counts[staleness] / most)), '#'));
    fmt::print("  mean {:.2f}, {} at most", run.mean_staleness(), run.most_stale());
    if (options.bound >= 0)
        fmt::print("; --staleness {} held workers back for {:.1f} % of their time", options.bound,
                   100 * run.held_us() / (run.end_us * workers));
    fmt::print("; pushes take the server's port for {:.0f} % of the time (derived)\n", 100 * run.port_share());
}

void print_beside(const AsyncRun& run, const Synchronous& synchronous, int workers) {
    fmt::print(
        "synchronous steps of the same batches take {} each, {:.1f} % of them waiting for the slowest: {} in {} "
        "(derived)\n",
        clock_text(synchronous.step_us), 100 * synchronous.waits, synchronous.steps, clock_text(synchronous.all_us));
    fmt::print(
        "asynchronous takes {:.2f} times as long. Equal: batches, rate, first weights; it takes {} update{} of one "
        "worker's mean gradient where a step takes one of all\n",
        run.end_us / synchronous.all_us, workers, workers == 1 ? "" : "s");
}

nlohmann::ordered_json end_json(const AsyncRun& run, const AsyncOptions& options, const std::optional<nn::Evaluation>& end,
                                const Synchronous& beside) {
    nlohmann::ordered_json json{
        {"updates", run.updates.size()},
        {"end_us", json_number(run.end_us)},
        {"push_bytes", run.push_bytes},
        {"by_staleness", run.by_staleness()},
        {"mean_staleness", json_number(run.mean_staleness())},
        {"most_stale", run.most_stale()},
        {"bound", options.bound < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(options.bound)},
        {"held_us", json_number(run.held_us())},
        {"port_share", json_number(run.port_share())},
        {"seconds", json_number(run.seconds)}};
    if (end) {
        json["test_loss"] = json_number(end->loss);
        json["test_accuracy"] = json_number(end->accuracy);
    }
    nlohmann::ordered_json other{{"steps", beside.steps},
                                 {"step_us", json_number(beside.step_us)},
                                 {"end_us", json_number(beside.all_us)},
                                 {"waiting_share", json_number(beside.waits)}};
    if (beside.evaluation) {
        other["loss"] = json_number(beside.loss);
        other["test_loss"] = json_number(beside.evaluation->loss);
        other["test_accuracy"] = json_number(beside.evaluation->accuracy);
    }
    return {{"asynchronous", json}, {"synchronous", other}};
}

void check_async_asked(const ParallelChoice& choice, const ParallelRun& run) {
    const auto refuse = [&](const std::string& name, std::string_view why) {
        if (choice.command && choice.command->given(name)) throw Failure(fmt::format("{}: {}", name, why));
    };
    refuse("--compare-ranks", "with --async workers hold what they fetched, each another age of the weights");
    refuse("--own-steps", "there is no collective in a run with --async");
    if (choice.plan.schedule != parallel::ParallelPlan().schedule)
        throw Failure(fmt::format("with --async there is no pipeline: leave out --schedule {}", choice.plan.schedule));
    if (run.evaluate_every > 0 || run.save_every > 0)
        throw Failure(
            "--async has no moment at which all workers stand still: it evaluates and saves at its end, without "
            "--evaluate-every and --save-every");
}

// On threads, or in one of MPI's processes, of which the server's says what happens.
int serve(const ParallelChoice& choice, const parallel::ParallelOptions& of_steps, const ParallelRun& asked,
          comm::Communicator* world) {
    const int workers = of_steps.plan.dp;
    const bool speaks = !world || world->rank() == workers, lines = asked.json == "-", text = speaks && !lines;
    std::optional<LongWork> work;
    if (!world) work.emplace(asked.training.model, LongWork::Interrupt::held);
    AsyncOptions options{.run = of_steps, .bound = choice.staleness.value_or(-1), .from = asked.from};
    options.run.network = network_of(choice, workers + 1);
    int64_t expected = asked.steps * workers;
    if (!of_steps.batches_of_worker.empty())
        expected = std::accumulate(of_steps.batches_of_worker.begin(), of_steps.batches_of_worker.end(), int64_t{0});
    size_t done = 0;
    std::string collected;
    const auto emit = [&](const nlohmann::ordered_json& json) {
        if (lines) {
            fmt::print("{}\n", json.dump());
            std::fflush(stdout);
        } else if (!asked.json.empty()) {
            collected += json.dump() + "\n";
        }
    };
    options.on_update = [&](const ServerUpdate& update) {
        const size_t number = done++;
        if (work) (*work)(static_cast<double>(done) / static_cast<double>(expected));
        const bool end = static_cast<int64_t>(done) == expected;
        if (text && (expected <= 20 || number % static_cast<size_t>(expected / 20) == 0 || end)) {
            if (work) work->clear();
            fmt::print("update {:>6}  worker {:>2}  batch {:>5}  staleness {:>2}  loss {:.5f}  {:>12}\n", number,
                       update.worker, update.batch, update.staleness, update.loss, clock_text(update.updated_us));
        }
        emit(update_json(update, number));
        return !(work && work->interrupted());
    };
    const AsyncRun run = train_asynchronously(options, world);
    if (!speaks) return 0;
    if (run.updates.empty()) throw Failure("no worker has a batch: --steps or --batches gives them some");
    const int64_t steps = run.checkpoint.step - (asked.from ? asked.from->step : 0);
    const Synchronous beside = train_synchronously(of_steps, choice, asked, steps, work ? &*work : nullptr);
    const std::optional<nn::Evaluation> end = evaluate(asked.training, run.checkpoint);
    if (work) work->clear();
    if (text) {
        print_run(run, options, workers);
        print_beside(run, beside, workers);
        fmt::print("test set after {} updates: loss {:.5f}, accuracy {:.2f} % (executed)\n", run.updates.size(), end->loss,
                   100 * end->accuracy);
        if (beside.evaluation)
            fmt::print("test set after {} synchronous steps: loss {:.5f}, accuracy {:.2f} % (executed)\n", beside.steps,
                       beside.evaluation->loss, 100 * beside.evaluation->accuracy);
    }
    emit(end_json(run, options, end, beside));
    if (!asked.save.empty()) nn::save_checkpoint(asked.save, run.checkpoint);
    if (text && !asked.save.empty()) fmt::print("saved in {}\n", asked.save);
    if (!asked.json.empty() && !lines) write_file(asked.json, collected);
    if (!asked.trace.empty()) write_trace(trace_of_run(run, workers), asked.trace);
    if (!work || !work->interrupted()) return 0;
    tell("stopped by Ctrl-C after {} of {} updates\n", run.updates.size(), expected);
    return interrupted_status;
}

}  // namespace

int train_async(const ParallelChoice& choice, const parallel::ParallelOptions& options, const ParallelRun& run) {
    check_async_asked(choice, run);
    parallel::ParallelOptions of_steps = options;
    of_steps.library_collectives = false;
    if (choice.comm == "in_process") return serve(choice, of_steps, run, nullptr);
    int status = 0;
    const auto network = network_of(choice, of_steps.plan.dp + 1);
    comm::run_mpi({.link = of_steps.link, .network = network, .timeout_s = choice.timeout}, [&](comm::Communicator& world) {
        try {
            AsyncOptions checked{.run = of_steps, .bound = choice.staleness.value_or(-1)};
            checked.run.network = network;
            parallel::check_asynchronous(checked, world.size());
        } catch (const Failure& refusal) {  // on every rank the same: one says it
            if (world.rank() == 0) complain(refusal.diagnostic);
            status = static_cast<int>(refusal.status);
            return;
        }
        check_asked_alike(of_steps, fmt::format("staleness {}\n", choice.staleness.value_or(-1)));
        serve(choice, of_steps, run, &world);
    });
    return status;
}

}  // namespace lockstep::cli
