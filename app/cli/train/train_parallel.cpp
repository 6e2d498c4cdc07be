#include "app/cli/train/train_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "app/cli/cli.h"
#include "app/cli/kernel/trace_file.h"
#include "app/cli/long_work.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/comm/collectives/collectives.h"
#include "core/comm/network/network.h"
#include "core/comm/outside/mpi.h"
#include "core/comm/outside/nccl.h"
#include "core/nn/train/training_options.h"
#include "core/parallel/train/trainer.h"

namespace lockstep::cli {
namespace {

nlohmann::ordered_json bytes_json(const parallel::MemoryBytes& bytes) {
    nlohmann::ordered_json json;
    for (size_t i = 0; i < bytes.size(); ++i) json[std::string(name_of(static_cast<parallel::MemoryKind>(i)))] = bytes[i];
    return json;
}

nlohmann::ordered_json record_json(const parallel::ParallelStepRecord& record, int64_t batch) {
    nlohmann::ordered_json json{{"step", record.step},
                                {"loss", json_number(record.loss)},
                                {"learning_rate", json_number(record.learning_rate)},
                                {"batch", batch},
                                {"step_us", json_number(record.end_us - record.begin_us)},
                                {"seconds", json_number(record.seconds)}};
    if (record.schedule) {
        json["bubble_of_total"] = json_number(record.schedule->bubble_of_total());
        json["bubble_over_ideal"] = json_number(record.schedule->bubble_over_ideal());
    }
    for (size_t rank = 0; rank < record.ranks.size(); ++rank) {
        const parallel::RankStep& r = record.ranks[rank];
        if (r.end_us <= 0) continue;  // of another process
        nlohmann::ordered_json sent = nlohmann::ordered_json::array();
        for (const parallel::Traffic& row : r.sent)
            sent.push_back({{"axis", row.axis}, {"purpose", row.purpose}, {"bytes", row.bytes}, {"messages", row.messages}});
        json["ranks"].push_back({{"rank", rank},
                                 {"begin_us", json_number(r.begin_us)},
                                 {"end_us", json_number(r.end_us)},
                                 {"compute_us", json_number(r.compute_us)},
                                 {"sent", sent},
                                 {"kept_bytes", bytes_json(r.kept)},
                                 {"peak_bytes", bytes_json(r.peak)},
                                 {"host_bytes", r.host_bytes},
                                 {"copied_bytes", r.copied_bytes}});
    }
    return json;
}

// Every rank's streams, in virtual time.
Trace trace_of_ranks(const parallel::ParallelTrainer& trainer, const parallel::ParallelStepRecord& record) {
    constexpr const char* streams[] = {"compute", "gradients", "parameters", "pipeline", "context"};
    Trace trace;
    for (size_t rank = 0; rank < record.ranks.size(); ++rank) {
        std::string place;
        for (const parallel::MeshAxis& axis : trainer.mesh().axes)
            if (axis.size > 1)
                place += fmt::format(" {} {}", axis.name, trainer.mesh().coordinate(static_cast<int>(rank), axis.name));
        const int parent = static_cast<int>(trace.tracks.size());
        trace.tracks.push_back({fmt::format("rank {}{}", rank, place.empty() ? "" : " (" + place.substr(1) + ")")});
        std::map<int, int> track_of;
        for (const parallel::RankSpan& span : record.ranks[rank].spans) {
            const auto [at, fresh] = track_of.try_emplace(span.stream, static_cast<int>(trace.tracks.size()));
            if (fresh)
                trace.tracks.push_back(
                    {span.stream >= 0 && span.stream < 5 ? streams[span.stream] : fmt::format("stream {}", span.stream),
                     parent});
            const auto ns = [](double us) { return static_cast<int64_t>(us * 1000); };
            trace.spans.push_back({at->second, ns(span.begin_us), ns(span.end_us), span.label, static_cast<int64_t>(rank)});
        }
    }
    return trace;
}

parallel::ParallelOptions options_of(const ParallelChoice& choice, const nn::TrainerOptions& training) {
    parallel::ParallelOptions options;
    options.training = training;
    options.plan = choice.plan;
    if (!options.plan.all_reduce.empty()) comm::collective_named("all_reduce", options.plan.all_reduce);
    options.plan.bucket_bytes = static_cast<int64_t>(choice.bucket_mb * (1 << 20));
    options.gpu = choice.gpu;
    options.keep_memory = false;
    options.set = choice.set;
    options.partition = choice.partition;
    options.batches_of_worker = choice.batches;
    options.compare_every = choice.compare_every;
    for (const std::string& text : choice.told)
        if (parallel::ToldRank told = parallel::told_rank(text); told.name != "slow")
            options.told.push_back(std::move(told));
    options.library_collectives = choice.comm == "mpi" && !choice.own_steps;
    if (!choice.link.empty()) options.link = comm::link_named(choice.link).link();
    return options;
}

void print_end(const parallel::ParallelTrainer& trainer, const parallel::ParallelStepRecord& last) {
    const parallel::RankStep& rank = last.ranks[0];
    if (rank.end_us <= 0) return;
    fmt::print("a step takes {:.1f} µs on {} rank{} of {} (derived), {:.1f} µs of them rank 0 computes\n",
               last.end_us - last.begin_us, trainer.mesh().ranks(), trainer.mesh().ranks() == 1 ? "" : "s",
               trainer.options().gpu, rank.compute_us);
    if (trainer.options().library_collectives)
        fmt::print("collectives are MPI's own, whose messages it keeps to itself: --own-steps counts them too\n");
    for (const parallel::Traffic& row : rank.sent)
        fmt::print("rank 0 sends {:>12} bytes of {} over {}, {} message{} (executed)\n", row.bytes, row.purpose, row.axis,
                   row.messages, row.messages == 1 ? "" : "s");
    fmt::print("rank 0 keeps");
    for (size_t i = 0; i < rank.kept.size(); ++i)
        fmt::print("{} {} {}", i ? "," : "", rank.kept[i], name_of(static_cast<parallel::MemoryKind>(i)));
    fmt::print(" bytes before the update, {} at most (executed)\n", parallel::sum_of(rank.peak));
    if (last.schedule)
        fmt::print("pipeline bubble: {:.1f} % of the total, {:.1f} % over ideal\n", 100 * last.schedule->bubble_of_total(),
                   100 * last.schedule->bubble_over_ideal());
}

}  // namespace

bool ParallelChoice::any() const {
    if (!command) return false;
    const auto given = [&](std::string_view name) { return command->given(fmt::format("--{}", name)); };
    for (const parallel::PlanOption& row : parallel::plan_options())
        if (!row.name.empty() && row.name != "keep" && row.name != "rank" && given(row.name)) return true;
    for (const char* name : {"bucket-mb", "comm", "link", "gpu", "own-steps", "set-examples", "partition", "batches",
                             "timeout", "compare-ranks", "on-rank", "async", "staleness"})
        if (given(name)) return true;
    return plan.schedule != parallel::ParallelPlan().schedule;
}

void take_pipeline_schedule(ParallelChoice& choice, std::string& schedule) {
    for (const parallel::ScheduleRow& row : parallel::schedules())
        if (schedule == row.name) {
            choice.plan.schedule = schedule;
            schedule.clear();
            return;
        }
    static constexpr std::string_view rates[] = {"", "constant", "step", "cosine", "warm_up", "warm_up_cosine"};
    if (choice.plan.pp > 1 && std::find(std::begin(rates), std::end(rates), schedule) == std::end(rates))
        parallel::schedule_named(schedule);  // refuses it, with the nearest
}

void refuse_single_rank_options(const Command& command) {
    for (const char* name :
         {"--mode", "--quantize", "--prune", "--distill", "--lora", "--compare", "--noise-scale", "--sample", "--nan"})
        if (command.given(name) && !(std::string_view(name) == "--compare" && command.given("--async")))
            throw Failure(fmt::format("{} works on one rank: leave it out, or the options that ask for many", name));
}

void add_plan_option(const Command& command, parallel::ParallelPlan& plan, const parallel::PlanOption& row) {
    if (row.name.empty()) return;
    const std::string flag = fmt::format("--{}", row.name), summary(row.summary);
    if (!row.names.empty()) {
        command.add_option_function(
            flag, [&plan, &row, flag](const std::string& name) { parallel::set_named(plan, row, flag, name); }, summary);
        return;
    }
    std::visit(
        [&](auto field) {
            auto& value = plan.*field;
            using Value = std::remove_reference_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, bool>)
                command.add_flag(flag, value, summary);
            else if constexpr (std::is_same_v<Value, std::vector<int>>)
                command.add_option(flag, value, summary).delimiter(',');
            else if constexpr (std::is_integral_v<Value>)
                command.add_option(flag, value, summary).check(row.least > 0 ? not_from_1 : not_from_0);
            else if constexpr (!std::is_enum_v<Value>)
                command.add_option(flag, value, summary);
        },
        row.field);
}

void add_parallel(const Command& command, ParallelChoice& choice) {
    choice.command = command;
    for (const parallel::PlanOption& row : parallel::plan_options()) add_plan_option(command, choice.plan, row);
    command.add_option("--bucket-mb", choice.bucket_mb, "of gradients that travel together; 0: all after backward")
        .check(number_within(0, 4096));
    command.add_option("--set-examples", choice.set, "that training draws from, reshuffled each time through; 0: all")
        .check(not_from_0);
    command.add_flag("--partition", choice.partition, "each worker draws from a part of --set-examples of its own");
    command
        .add_option("--batches", choice.batches,
                    "that each worker has, in place of --steps: 5,5,4; where they differ, the others wait for ever")
        .delimiter(',');
    command.add_option("--timeout", choice.timeout, "with mpi: seconds after which a wait is a deadlock, default 60")
        .check(number_within(0, 86400, true));
    command
        .add_option("--compare-ranks", choice.compare_every,
                    "steps after which it is compared whether ranks hold the same parameters alike; 0: never")
        .check(not_from_0);
    command.add_option("--on-rank", choice.told,
                       "one rank is told otherwise, to see what becomes of it: 1:lr=0.2, 1:slow=2 (its work and its "
                       "messages take twice as long), or 1:flip=PARAMETER@STEP, a bit of its memory; may be repeated");
    command.add_flag("--async", choice.async,
                     "a server holds the weights; each of the --dp workers fetches them and pushes its gradients without "
                     "waiting for the others; --compare trains synchronously beside it");
    command
        .add_option("--staleness", choice.staleness,
                    "with --async: how many batches a worker may be ahead of the slowest one; unless said, any number")
        .check(not_from_0);
    command.add_option("--comm", choice.comm, "in_process (ranks are threads), mpi or nccl");
    command.add_flag("--own-steps", choice.own_steps, "with mpi: our own lists of steps, not the library's collectives");
    command.add_option("--link", choice.link, "between ranks, for the virtual clocks");
    command.add_option("--gpu", choice.gpu, "whose times the virtual clocks take, see 'lockstep gpus'");
}

namespace {
// The timelines of all processes' ranks, on rank 0.
void gather_spans(parallel::ParallelStepRecord& record, int rank) {
    auto spans = nlohmann::ordered_json::array();
    for (const parallel::RankSpan& span : record.ranks[static_cast<size_t>(rank)].spans)
        spans.push_back({span.stream, span.begin_us, span.end_us, span.label});
    const std::vector<std::string> all = comm::gather_texts(spans.dump());
    for (size_t other = 0; other < all.size(); ++other) {
        std::vector<parallel::RankSpan>& to = record.ranks[other].spans;
        to.clear();
        for (const auto& span : nlohmann::ordered_json::parse(all[other]))
            to.push_back({span[0].get<int>(), span[1].get<double>(), span[2].get<double>(), span[3].get<std::string>()});
    }
}

// What makes a run what it is: with mpirun each process may have been started with words of its own.
std::string what_was_asked(const parallel::ParallelOptions& options) {
    std::string text =
        fmt::format("model {}\nseed {}\nbucket-mb {}\ncompare-ranks {}\n", options.training.model, options.training.seed,
                    double(options.plan.bucket_bytes) / (1 << 20), options.compare_every);
    for (const auto& [name, value] : nn::texts_of(options.training)) text += fmt::format("{} {}\n", name, value);
    for (const parallel::PlanOption& row : parallel::plan_options())
        if (!row.name.empty())
            std::visit(
                [&](auto field) {
                    using Value = std::remove_cvref_t<decltype(options.plan.*field)>;
                    if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>)
                        text += fmt::format("{} {}\n", row.name, options.plan.*field);
                    else if constexpr (std::is_enum_v<Value>)
                        text += fmt::format("{} {}\n", row.name, row.names[static_cast<size_t>(options.plan.*field)]);
                },
                row.field);
    return text;
}

}  // namespace

void check_asked_alike(const parallel::ParallelOptions& options, const std::string& more) {
    const std::vector<std::string> asked = comm::gather_texts(what_was_asked(options) + more);
    for (size_t rank = 1; rank < asked.size(); ++rank) {
        std::istringstream first(asked[0]), other(asked[rank]);
        for (std::string a, b; std::getline(first, a) && std::getline(other, b);)
            if (a != b)
                throw Failure(
                    fmt::format("ranks disagree before the first step: rank {} was started with --{} and rank 0 "
                                "with --{}; start all with the same options",
                                rank, b, a));
    }
}

std::shared_ptr<const comm::Network> network_of(const ParallelChoice& choice, int ranks) {
    std::shared_ptr<comm::Network> network;
    for (const std::string& text : choice.told) {
        const parallel::ToldRank told = parallel::told_rank(text);
        if (told.name != "slow") continue;
        const auto refuse = [&](const std::string& why) { throw Failure(fmt::format("--on-rank {}: {}", text, why)); };
        double factor = 0;
        const char* end = told.value.data() + told.value.size();
        if (const auto [rest, error] = std::from_chars(told.value.data(), end, factor); error != std::errc() || rest != end)
            refuse("slow is how many times as long its work takes, as in 1:slow=2");
        if (told.rank >= choice.plan.ranks()) refuse(fmt::format("there are ranks 0 to {}", choice.plan.ranks() - 1));
        if (!network)
            network = std::make_shared<comm::Network>(comm::ideal_network(
                ranks, choice.link.empty() ? parallel::ParallelOptions().link : comm::link_named(choice.link).link()));
        comm::slow_rank(*network, told.rank, factor);
    }
    return network;
}

namespace {
// On all ranks as threads, or on one of MPI's processes, of which the first one alone says what happens.
int train_ranks(const parallel::ParallelOptions& options, const ParallelRun& run, comm::Communicator* world) {
    const bool speaks = !world || world->rank() == 0;
    if (world && world->size() > 1) check_asked_alike(options);
    std::optional<LongWork> work;  // before the ranks' threads; of processes, mpirun hears Ctrl-C
    if (!world || world->size() == 1) work.emplace(options.training.model, LongWork::Interrupt::held);
    parallel::ParallelTrainer trainer(options, world);
    if (run.from) trainer.restore(*run.from);
    const bool lines = run.json == "-", text = speaks && !lines, processes = world && world->size() > 1;
    std::string collected;
    const auto emit = [&](const nlohmann::ordered_json& json) {
        if (!speaks) return;
        if (lines) {
            fmt::print("{}\n", json.dump());
            std::fflush(stdout);
        } else if (!run.json.empty()) {
            collected += json.dump() + "\n";
        }
    };
    parallel::ParallelStepRecord last;
    std::optional<nn::Cause> why;
    int64_t agreed = trainer.next_step() - 1;
    // Once, in the step in which it shows.
    const auto compare = [&] {
        if (processes) {  // rank 0 alone is told
            const std::vector<std::string> texts = comm::gather_texts(parallel::text_of(last.digests));
            std::vector<parallel::RankDigests> digests;
            for (const std::string& own : texts) digests.push_back(parallel::digests_of_text(own));
            last.disagreement = parallel::disagreement(digests, options, last.step, agreed);
            if (!last.disagreement) agreed = last.step;
        }
        if (!last.disagreement || why) return;
        why = last.disagreement;
        if (!speaks) return;
        std::fflush(stdout);
        complain(Diagnostic{.message = why->text, .severity = Severity::warning});
        fmt::print(stderr, "    advice: {}\n", why->advice);
    };
    int64_t done = 0;
    for (bool end = false; !end && done < run.steps; ++done) {
        const int64_t i = done;
        if (!trainer.has_batch()) return 0;
        last = trainer.step();
        if (work) (*work)(static_cast<double>(i + 1) / static_cast<double>(run.steps));
        end = i + 1 == run.steps || (work && work->interrupted());
        const bool told = text && (run.steps <= 20 || i % (run.steps / 20) == 0 || end);
        if (work && told) work->clear();
        if (!processes || (options.compare_every > 0 && ((last.step + 1) % options.compare_every == 0 || end))) compare();
        if (told) fmt::print("step {:>6}  loss {:.5f}  {:.1f} ms\n", last.step, last.loss, 1000 * last.seconds);
        nlohmann::ordered_json line = record_json(last, run.training.batch);
        if (why)
            line["causes"] = nlohmann::ordered_json::array({{{"name", why->name},
                                                             {"step", why->step},
                                                             {"layer", why->layer},
                                                             {"message", why->text},
                                                             {"advice", why->advice}}});
        if (end || (run.evaluate_every > 0 && (last.step + 1) % run.evaluate_every == 0)) {
            const nn::Evaluation e = trainer.evaluate();
            line["test_loss"] = json_number(e.loss);
            line["test_accuracy"] = json_number(e.accuracy);
            if (text)
                fmt::print("test set after step {}: loss {:.5f}, accuracy {:.2f} % (executed)\n", last.step + 1, e.loss,
                           100 * e.accuracy);
        }
        if (processes && !run.json.empty()) {  // each process knows its own rank
            const std::vector<std::string> own = comm::gather_texts(line["ranks"].dump());
            line["ranks"] = nlohmann::ordered_json::array();
            for (const std::string& of_rank : own)
                for (nlohmann::ordered_json& rank : nlohmann::ordered_json::parse(of_rank)) line["ranks"].push_back(rank);
        }
        emit(line);
        if (!run.save.empty() && (end || (run.save_every > 0 && (i + 1) % run.save_every == 0))) {
            const nn::Checkpoint whole = trainer.checkpoint();
            if (speaks) nn::save_checkpoint(run.save, whole);
            if (text) fmt::print("after step {}: saved in {}\n", trainer.next_step(), run.save);
        }
    }
    if (text && why) fmt::print("why it fails: {}\n", why->text);
    if (text) print_end(trainer, last);
    if (processes && !run.trace.empty()) gather_spans(last, world->rank());
    if (!run.json.empty() && text) write_file(run.json, collected);
    if (!run.trace.empty() && speaks) write_trace(trace_of_ranks(trainer, last), run.trace);
    if (!work || !work->interrupted()) return 0;
    tell("stopped by Ctrl-C after {} of {} steps\n", done, run.steps);
    return interrupted_status;
}
}  // namespace

int train_parallel(const ParallelChoice& choice, const ParallelRun& asked) {
    constexpr std::string_view comms[] = {"in_process", "mpi", "nccl"};
    parallel::place_of_name("--comm", comms, choice.comm);
    if (choice.comm == "nccl") {
        const std::string why = comm::why_no_nccl();
        throw Failure(why.empty() ? "--comm nccl runs collectives; training takes in_process or mpi" : why,
                      ExitStatus::missing);
    }
    parallel::ParallelOptions options = options_of(choice, asked.training);
    ParallelRun run = asked;
    if (!choice.batches.empty())
        run.steps = std::max<int64_t>(1, *std::max_element(choice.batches.begin(), choice.batches.end()));
    const bool alike =
        std::adjacent_find(choice.batches.begin(), choice.batches.end(), std::not_equal_to<>()) == choice.batches.end();
    if (alike && static_cast<int>(choice.batches.size()) == options.plan.dp) options.batches_of_worker.clear();
    options.steps = run.steps;
    if (choice.comm == "in_process" && comm::started_by_mpirun())
        throw Failure("mpirun started this process: --comm mpi trains on its ranks");
    if (choice.async) return train_async(choice, options, run);
    if (choice.staleness) throw Failure("--staleness bounds workers that do not wait for each other: add --async");
    options.network = network_of(choice, options.plan.ranks());
    if (choice.comm == "in_process") {
        return train_ranks(options, run, nullptr);
    }
    int status = 0;
    comm::run_mpi(
        {.link = options.link, .network = options.network, .own_steps = choice.own_steps, .timeout_s = choice.timeout},
        [&](comm::Communicator& world) {
            try {
                parallel::check_can_train(options, world.size());
            } catch (const Failure& refusal) {  // on every rank the same: one says it
                if (world.rank() == 0) complain(refusal.diagnostic);
                status = static_cast<int>(refusal.status);
                return;
            }
            train_ranks(options, run, &world);
        });
    return status;
}

}  // namespace lockstep::cli
