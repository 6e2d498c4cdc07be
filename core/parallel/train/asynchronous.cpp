// The server's loop and a worker's. Worker w and the server talk on stream 1 + w of each, so that a push's arrival is that
// stream's clock and the server may look at the pushes of all workers before it takes the earliest.
#include "core/parallel/train/asynchronous.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "core/base/diagnostic.h"
#include "core/comm/collectives/checks.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/nn/layers/rules.h"
#include "core/nn/models/models.h"
#include "core/nn/train/training_options.h"
#include "core/parallel/train/rank_trainer.h"

namespace lockstep::parallel {

namespace {

struct Header {  // before the weights of a fetch and the gradients of a push
    double loss = 0, fetched_us = 0, computed_us = 0;
    int64_t goes_on = 1;  // of a fetch: 0 ends the worker
};

Header header_of(std::span<const std::byte> message) {
    Header header;
    std::memcpy(&header, message.data(), sizeof header);
    return header;
}
std::span<std::byte> behind_header(std::vector<std::byte>& message) {
    return std::span(message).subspan(sizeof(Header));
}
comm::Buffer buffer_of(std::vector<std::byte>& message, const Header& header) {
    std::memcpy(message.data(), &header, sizeof header);
    return {message.data(), static_cast<int64_t>(message.size()), DType::u8};
}

// The first batch that a worker does not have.
int64_t end_of_batches(const AsyncOptions& options, int worker, int64_t first) {
    const std::vector<int64_t>& of = options.run.batches_of_worker;
    return of.empty() ? first + options.run.steps : std::max(first, of[static_cast<size_t>(worker)]);
}

int64_t first_batch(const AsyncOptions& options) {
    return options.from ? options.from->step : 0;
}

void work(const AsyncOptions& options, comm::Communicator& world, const OpTimes& times, const Examples& examples) {
    const int server = options.run.plan.dp, own = world.rank();
    std::vector<int> workers(static_cast<size_t>(server));
    std::iota(workers.begin(), workers.end(), 0);
    const auto group = world.group(workers);
    const auto link = world.on(1 + own);
    RankTrainer trainer(options.run, *group, times, examples, nullptr, true);
    if (options.from) trainer.restore(options.from->tensors, options.from->step);
    std::vector<std::byte> message(sizeof(Header) + static_cast<size_t>(trainer.weight_bytes()));
    const int64_t first = first_batch(options), end = end_of_batches(options, own, first);
    for (int64_t batch = first; batch < end; ++batch) {
        link->receive(server, {message.data(), static_cast<int64_t>(message.size()), DType::u8}, "fetch");
        Header header = header_of(message);
        if (header.goes_on == 0) return;
        group->wait_until(link->time_us());
        trainer.put_weights(behind_header(message));
        header.fetched_us = group->time_us();
        header.loss = trainer.gradients(behind_header(message));
        header.computed_us = group->time_us();
        link->wait_until(header.computed_us);
        link->send(server, buffer_of(message, header), "push");
    }
}

// The plan of the server's own trainer: it holds the whole model alone.
ParallelOptions options_of_server(const AsyncOptions& options) {
    ParallelOptions own = options.run;
    own.plan = {};
    own.plan.bucket_bytes = options.run.plan.bucket_bytes;  // gradients lie as the workers' do
    own.batches_of_worker.clear();
    own.network = nullptr;
    return own;
}

class Server {
  public:
    Server(const AsyncOptions& options, comm::Communicator& world, const OpTimes& times, const Examples& examples)
        : options_(options),
          run_(options_of_server(options)),
          group_(world.group(std::vector<int>{options.run.plan.dp})),
          trainer_(run_, *group_, times, examples),
          workers_(static_cast<size_t>(options.run.plan.dp)) {
        if (trainer_.keeps_statistics())
            throw Failure(
                fmt::format("{} keeps statistics of batch norm, which no gradient carries to a server: mlp, lenet5, "
                            "gpt and llama train with --async",
                            examples.shape().name));
        if (options.from) trainer_.restore(options.from->tensors, options.from->step);
        const int64_t first = first_batch(options);
        bytes_ = sizeof(Header) + static_cast<size_t>(trainer_.weight_bytes());
        const bool shared = options.run.network && options.run.network->shared;
        const double rate = options.run.link.bytes_per_us;
        if (!shared && rate > 0) port_us_ = static_cast<double>(bytes_) / rate;
        for (size_t w = 0; w < workers_.size(); ++w) {
            workers_[w].link = world.on(1 + static_cast<int>(w));
            workers_[w].done = first;
            workers_[w].end = end_of_batches(options, static_cast<int>(w), first);
        }
    }

    AsyncRun serve() {
        AsyncRun run;
        run.push_bytes = static_cast<int64_t>(bytes_);
        run.port_us = port_us_;
        hand_out(0);
        while (Worker* next = earliest()) {
            run.updates.push_back(take(*next));
            const ServerUpdate& update = run.updates.back();
            run.end_us = update.updated_us;
            if (options_.on_update && !options_.on_update(update)) stopped_ = true;
            hand_out(update.updated_us);
        }
        const nn::TrainerOptions& training = options_.run.training;
        nn::Checkpoint& whole = run.checkpoint;
        whole.model = training.model;
        whole.seed = training.seed;
        whole.step = workers_.front().done;
        for (const Worker& worker : workers_) whole.step = std::min(whole.step, worker.done);
        nn::TrainerOptions kept = training;
        if (kept.planned_steps == 0) kept.planned_steps = nn::model_named(training.model).steps;
        whole.options = nn::texts_of(kept);
        for (RankPiece& piece : trainer_.pieces()) {
            Array array;
            paste_into(array, piece);
            whole.tensors.push_back({piece.name, std::move(array)});
        }
        return run;
    }

  private:
    struct Worker {
        std::unique_ptr<comm::Communicator> link;
        int64_t done = 0, end = 0;  // batches
        bool at_work = false;       // it has fetched weights, and its push has not been taken
        int64_t version = 0;        // updates that had been made when it fetched
        double asked_us = 0;        // since when it could have fetched
        double sent_us = 0, held_us = 0;
        double shortest_us = 0;          // from weights to a gradient: batches of equal shapes take equal times
        std::vector<std::byte> message;  // its push, once that is here
        double arrived_us = 0;
    };

    bool under_way(const Worker& worker) const { return worker.at_work && worker.message.empty(); }
    // The clocks are sums of the same numbers from different beginnings.
    static double soonest(const Worker& worker) { return worker.sent_us + 0.999 * worker.shortest_us; }

    // Sends weights to every worker that may begin, now that it is `now_us`.
    void hand_out(double now_us) {
        int64_t slowest = std::numeric_limits<int64_t>::max();
        for (const Worker& worker : workers_)
            if (worker.done < worker.end) slowest = std::min(slowest, worker.done);
        for (Worker& worker : workers_) {
            if (worker.at_work || worker.done >= worker.end) continue;
            if (!stopped_ && options_.bound >= 0 && worker.done - slowest > options_.bound) continue;
            std::vector<std::byte> message(bytes_);
            trainer_.get_weights(behind_header(message));
            worker.link->wait_until(now_us);
            worker.sent_us = worker.link->time_us();
            worker.held_us = worker.sent_us - worker.asked_us;
            worker.version = version_;
            worker.link->send(static_cast<int>(&worker - workers_.data()), buffer_of(message, {.goes_on = stopped_ ? 0 : 1}),
                              "fetch");
            if (stopped_)
                worker.end = worker.done;
            else
                worker.at_work = true;
        }
    }

    // The worker whose push is taken next; pushes that may still come before it are waited for. Null: nobody is at work.
    Worker* earliest() {
        for (;;) {
            Worker *here = nullptr, *coming = nullptr;
            for (Worker& worker : workers_) {
                if (under_way(worker) && (!coming || soonest(worker) < soonest(*coming))) coming = &worker;
                if (!worker.message.empty() && (!here || worker.arrived_us < here->arrived_us)) here = &worker;
            }
            if (!coming || (here && here->arrived_us < soonest(*coming))) return here;
            coming->message.resize(bytes_);
            coming->link->receive(static_cast<int>(coming - workers_.data()),
                                  {coming->message.data(), static_cast<int64_t>(bytes_), DType::u8}, "push");
            coming->arrived_us = coming->link->time_us();
            const Header header = header_of(coming->message);
            const double took = header.computed_us - header.fetched_us;
            if (took < 0.999 * coming->shortest_us) throw Failure("a batch took less time than one of the same shapes");
            coming->shortest_us = coming->shortest_us > 0 ? std::min(coming->shortest_us, took) : took;
        }
    }

    // The update of a push.
    ServerUpdate take(Worker& worker) {
        const Header header = header_of(worker.message);
        port_free_us_ = std::max(worker.arrived_us, port_free_us_ + port_us_);
        group_->wait_until(port_free_us_);
        ServerUpdate update{.worker = static_cast<int>(&worker - workers_.data()),
                            .batch = worker.done,
                            .staleness = version_ - worker.version,
                            .loss = header.loss,
                            .learning_rate = nn::rate_at(options_.run.training, worker.done),
                            .held_us = worker.held_us,
                            .fetched_us = header.fetched_us,
                            .computed_us = header.computed_us,
                            .arrived_us = port_free_us_,
                            .begun_us = group_->time_us()};
        trainer_.update_with(behind_header(worker.message), worker.done);
        update.updated_us = worker.asked_us = group_->time_us();
        worker.message.clear();
        worker.at_work = false;
        ++worker.done;
        ++version_;
        return update;
    }

    const AsyncOptions& options_;
    ParallelOptions run_;
    std::unique_ptr<comm::Communicator> group_;  // itself
    RankTrainer trainer_;
    std::vector<Worker> workers_;
    size_t bytes_ = 0;
    int64_t version_ = 0;  // updates so far
    bool stopped_ = false;
    // Its port takes one push at a time; where links are shared the network sees to that.
    double port_us_ = 0, port_free_us_ = 0;
};

}  // namespace

std::vector<int64_t> AsyncRun::by_staleness() const {
    std::vector<int64_t> counts;
    for (const ServerUpdate& update : updates) {
        const auto at = static_cast<size_t>(update.staleness);
        if (at >= counts.size()) counts.resize(at + 1);
        ++counts[at];
    }
    return counts;
}

double AsyncRun::mean_staleness() const {
    double sum = 0;
    for (const ServerUpdate& update : updates) sum += static_cast<double>(update.staleness);
    return updates.empty() ? 0 : sum / static_cast<double>(updates.size());
}

int64_t AsyncRun::most_stale() const {
    int64_t most = 0;
    for (const ServerUpdate& update : updates) most = std::max(most, update.staleness);
    return most;
}

double AsyncRun::held_us() const {
    double sum = 0;
    for (const ServerUpdate& update : updates) sum += update.held_us;
    return sum;
}

double AsyncRun::port_share() const {
    return end_us > 0 ? port_us * static_cast<double>(updates.size()) / end_us : 0;
}

void check_asynchronous(const AsyncOptions& options, int ranks) {
    const ParallelOptions& run = options.run;
    const ParallelPlan& plan = run.plan;
    const nn::TrainerOptions& training = run.training;
    const Examples examples(run);
    check_parallel_options(run, examples.shape());
    if (plan.tp * plan.pp * plan.cp > 1)
        throw Failure("--async is of whole models on data-parallel workers: leave out --tp, --pp and --cp");
    if (plan.zero > 0 || plan.offload)
        throw Failure("with --async the server keeps the optimizer's state: leave out --zero and --offload");
    if (plan.compression != Compression::none) throw Failure("--async pushes whole gradients: leave out --compression");
    if (plan.all_reduce != ParallelPlan().all_reduce)
        throw Failure("with --async there is no all-reduce, each gradient goes to the server: leave out --all-reduce");
    if (training.dtype != DType::f32 && training.dtype != DType::f64)
        throw Failure("--async trains in f32 or f64: half gradients need a loss scale that all workers share");
    if (plan.dp + 1 >= comm::max_streams)
        throw Failure(fmt::format("a server serves {} workers at most, not {}", comm::max_streams - 2, plan.dp));
    if (run.network && run.network->ranks() != plan.dp + 1)
        throw Failure(
            fmt::format("{} workers and a server cannot run on a network of {} ranks", plan.dp, run.network->ranks()));
    if (run.batches_of_worker.empty() && run.steps < 1) throw Failure("say how many batches each worker has (--steps)");
    if (!run.told.empty())
        throw Failure(
            fmt::format("--on-rank {}:{}={}: with --async the server alone updates, so a worker is told slow=FACTOR "
                        "and nothing else",
                        run.told.front().rank, run.told.front().name, run.told.front().value));
    if (ranks > 0 && ranks != plan.dp + 1)
        throw Failure(fmt::format("{} workers and their server are {} ranks, but {} run: mpirun -np {} would do", plan.dp,
                                  plan.dp + 1, ranks, plan.dp + 1));
    model::gpu_named(run.gpu).value();
}

AsyncRun train_asynchronously(const AsyncOptions& options, comm::Communicator* world) {
    check_asynchronous(options, world ? world->size() : 0);
    if (options.from) nn::check_goes_on(options.run.training, *options.from);
    const auto started = std::chrono::steady_clock::now();
    const OpTimes times(model::gpu_named(options.run.gpu).value());
    const Examples examples(options.run);
    const int ranks = options.run.plan.dp + 1;
    AsyncRun run;
    std::mutex mutex;
    std::optional<Failure> refused;  // by the server, in its own words
    const auto program = [&](comm::Communicator& all) {
        if (all.rank() + 1 < ranks) return work(options, all, times, examples);
        try {
            run = Server(options, all, times, examples).serve();
        } catch (const Failure& failure) {
            const std::lock_guard lock(mutex);
            refused = failure;
            throw;
        }
    };
    if (world) {
        program(*world);
    } else {
        const comm::GroupResult result = options.run.network
                                             ? comm::run_in_process(*options.run.network, program, {.events = 0})
                                             : comm::run_in_process(ranks, options.run.link, program, {.events = 0});
        if (refused) throw *refused;
        if (const std::string problem = result.problem(); !problem.empty()) throw Failure(problem);
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return run;
}

double gradient_us(const RankStep& rank) {
    double end = rank.begin_us;
    for (const RankSpan& span : rank.spans)
        if (span.stream == compute_stream && span.label == "backward") end = std::max(end, span.end_us);
    return end;
}

double waiting_share(const ParallelStepRecord& record) {
    double waits = 0, all = 0, last = 0;
    for (const RankStep& rank : record.ranks) last = std::max(last, gradient_us(rank));
    for (const RankStep& rank : record.ranks) {
        waits += last - gradient_us(rank);
        all += record.end_us - record.begin_us;
    }
    return all > 0 ? waits / all : 0;
}

}  // namespace lockstep::parallel
