// All ranks of a run: threads that wait for commands, or this process's one rank. A command is run by every rank at once;
// what they say comes back by rank.
#include "core/parallel/train/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/diagnostic.h"
#include "core/comm/outside/outside.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/nn/layers/rules.h"
#include "core/nn/models/models.h"
#include "core/nn/train/training_options.h"
#include "core/parallel/train/rank_trainer.h"

namespace lockstep::parallel {

std::string_view name_of(MemoryKind kind) {
    constexpr std::string_view names[] = {"weights", "gradients", "optimizer", "activations", "buffers"};
    return names[static_cast<size_t>(kind)];
}

int64_t sum_of(const MemoryBytes& bytes) {
    int64_t sum = 0;
    for (const int64_t one : bytes) sum += one;
    return sum;
}

namespace {
double seconds_from(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
}  // namespace

struct ParallelTrainer::State {
    ParallelOptions options;
    Mesh mesh;
    OpTimes times;
    Examples examples;
    comm::Communicator* world = nullptr;
    std::unique_ptr<RankTrainer> own;  // of a process that is one rank
    int64_t next = 0;
    std::deque<ParallelStepRecord> ready;  // of steps that ran in one go
    int64_t agreed = -1;                   // the last step after which the ranks did; and whether they no longer do
    bool disagrees = false;
    std::vector<std::shared_ptr<CollectiveCalls>> calls;  // by rank
    bool ran_all = false;
    std::unique_ptr<nn::Trainer> evaluator;

    using Command = std::function<void(RankTrainer& trainer, int rank)>;
    std::mutex mutex;
    std::condition_variable changed;
    Command command;
    uint64_t number = 0;  // of the command
    int left = 0;         // ranks that are still at it
    bool stop = false, ended = false;
    comm::GroupResult result;
    std::thread driver;

    State(ParallelOptions o, comm::Communicator* of)
        : options(std::move(o)),
          mesh(mesh_of(options.plan)),
          times(model::gpu_named(options.gpu).value()),
          examples(options),
          world(of) {
        check_parallel_options(options, examples.shape());
        if (options.network && options.network->ranks() != mesh.ranks())
            throw Failure(
                fmt::format("a plan of {} ranks cannot run on a network of {}", mesh.ranks(), options.network->ranks()));
        for (const ToldRank& told : options.told)
            check_parallel_options(options_of_rank(options, told.rank), examples.shape());
        for (int rank = 0; rank < mesh.ranks(); ++rank) calls.push_back(std::make_shared<CollectiveCalls>());
        if (world) {
            own = std::make_unique<RankTrainer>(options, *world, times, examples);
            return;
        }
        driver = std::thread([this] { drive(); });
        try {
            run([](RankTrainer&, int) {});
        } catch (...) {
            end();
            throw;
        }
    }
    ~State() { end(); }

    void drive() {
        const auto program = [this](comm::Communicator& communicator) { serve(communicator); };
        comm::GroupResult made = options.network ? comm::run_in_process(*options.network, program, {.events = 0})
                                                 : comm::run_in_process(mesh.ranks(), options.link, program);
        const std::lock_guard lock(mutex);
        result = std::move(made);
        ended = true;
        changed.notify_all();
    }

    // A rank's thread. When one ends early, those without anything to do end too; the others' receives end by themselves.
    void serve(comm::Communicator& communicator) {
        try {
            RankTrainer trainer(options, communicator, times, examples, calls[static_cast<size_t>(communicator.rank())]);
            for (uint64_t seen = 0;;) {
                Command now;
                {
                    std::unique_lock lock(mutex);
                    const auto called = [&] { return stop || number > seen; };
                    if (!called()) {
                        comm::leave_run(communicator);
                        changed.wait(lock, called);
                    }
                    comm::come_back_to_run(communicator, stop ? 0 : number);
                    if (stop) return;
                    seen = number;
                    now = command;
                }
                now(trainer, communicator.rank());
                const std::lock_guard lock(mutex);
                if (--left == 0) changed.notify_all();
                if (!trainer.has_batch()) return;
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            stop = true;
            changed.notify_all();
            throw;
        }
    }

    void end() {
        if (!driver.joinable()) return;
        {
            const std::lock_guard lock(mutex);
            stop = true;
            changed.notify_all();
        }
        driver.join();
    }

    void run(Command what) {
        if (own) return what(*own, world->rank());
        std::unique_lock lock(mutex);
        if (ended) throw Failure(problem());
        command = std::move(what);
        ++number;
        left = mesh.ranks();
        changed.notify_all();
        changed.wait(lock, [&] { return left == 0 || ended; });
        if (left == 0) return;
        throw Failure(problem());
    }

    // Once all ranks have ended: why, and which collective they did not call alike.
    std::string problem() const {
        const std::string why = result.problem().empty() ? "the ranks have ended" : result.problem();
        std::vector<CollectiveCalls> of_rank;
        for (const auto& list : calls) of_rank.push_back(*list);
        const std::string unlike = collectives_disagree(of_rank);
        if (unlike.empty()) return why;
        return fmt::format("{}; in step {} {}", why, next, unlike);
    }

    bool compares(int64_t step) const {
        return options.compare_every > 0 && !disagrees &&
               ((step + 1) % options.compare_every == 0 || step + 1 == options.steps);
    }
    // After a step, of which these are the digests by rank.
    std::optional<nn::Cause> compare(const std::vector<RankDigests>& digests, int64_t step) {
        std::optional<nn::Cause> cause =
            disagreement(digests, options, step, agreed, [&](int rank, const std::string& name) {
                Array array;
                run([&](RankTrainer& trainer, int here) {
                    if (here == rank) array = trainer.replica(name);
                });
                return array;
            });
        disagrees = cause.has_value();
        if (!disagrees) agreed = step;
        return cause;
    }

    // Whole arrays, in no particular order.
    std::map<std::string, Array> whole() {
        if (!ready.empty())
            throw Failure(
                fmt::format("{} runs all steps in one go: its weights are there after the last one, so save and "
                            "evaluate then",
                            options.plan.schedule));
        std::vector<std::vector<RankPiece>> pieces(static_cast<size_t>(mesh.ranks()));
        run([&](RankTrainer& trainer, int rank) { pieces[static_cast<size_t>(rank)] = trainer.pieces(); });
        if (own) gather_pieces(*world, pieces);
        std::map<std::string, Array> arrays;
        for (const auto& of_rank : pieces)
            for (const RankPiece& piece : of_rank) paste_into(arrays[piece.name], piece);
        return arrays;
    }

    // Names in nn::Trainer's order, where it has them.
    nn::Trainer& serial() {
        if (!evaluator) {
            nn::TrainerOptions training = options.training;
            training.device = "host";
            training.accumulate = 1;
            evaluator = std::make_unique<nn::Trainer>(training);
        }
        return *evaluator;
    }

    void run_all_steps();
    ScheduleRun pipeline_of_rank_0(std::vector<PipelineRow>& rows) const {
        std::vector<PipelineRow> column;
        for (const int rank : mesh.group(0, "pp")) column.push_back(std::move(rows[static_cast<size_t>(rank)]));
        return joined_run(schedule_of(options), column);
    }
    static void gather_pieces(comm::Communicator& world, std::vector<std::vector<RankPiece>>& pieces);
};

// To rank 0, a piece as a line of text and its bytes.
void ParallelTrainer::State::gather_pieces(comm::Communicator& world, std::vector<std::vector<RankPiece>>& pieces) {
    const auto rank = static_cast<size_t>(world.rank());
    const auto send_bytes = [&](std::vector<std::byte> bytes) {
        auto size = static_cast<int64_t>(bytes.size());
        world.send(0, {&size, 1, DType::i64}, "checkpoint");
        if (size > 0) world.send(0, {bytes.data(), size, DType::u8}, "checkpoint");
    };
    const auto receive_bytes = [&](int from) {
        int64_t size = 0;
        world.receive(from, {&size, 1, DType::i64}, "checkpoint");
        std::vector<std::byte> bytes(static_cast<size_t>(size));
        if (size > 0) world.receive(from, {bytes.data(), size, DType::u8}, "checkpoint");
        return bytes;
    };
    const auto bytes_of_numbers = [](std::vector<int64_t> numbers) {
        std::vector<std::byte> bytes(numbers.size() * sizeof(int64_t));
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
        return bytes;
    };
    const auto numbers_of_bytes = [](const std::vector<std::byte>& bytes) {
        std::vector<int64_t> numbers(bytes.size() / sizeof(int64_t));
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
        return numbers;
    };
    if (rank != 0) {
        send_bytes(bytes_of_numbers({static_cast<int64_t>(pieces[rank].size())}));
        for (const RankPiece& piece : pieces[rank]) {
            std::vector<int64_t> head = {piece.axis, piece.parts, piece.part, static_cast<int64_t>(piece.array.dtype),
                                         static_cast<int64_t>(piece.full.size())};
            head.insert(head.end(), piece.full.begin(), piece.full.end());
            send_bytes(bytes_of_numbers(head));
            const auto* name = reinterpret_cast<const std::byte*>(piece.name.data());
            send_bytes({name, name + piece.name.size()});
            send_bytes(piece.array.bytes);
        }
        pieces[rank].clear();
        return;
    }
    for (int from = 1; from < world.size(); ++from) {
        const int64_t count = numbers_of_bytes(receive_bytes(from)).at(0);
        for (int64_t i = 0; i < count; ++i) {
            const std::vector<int64_t> head = numbers_of_bytes(receive_bytes(from));
            RankPiece piece{.axis = static_cast<int>(head.at(0)), .parts = head.at(1), .part = head.at(2)};
            piece.full.assign(head.begin() + 5, head.end());
            const std::vector<std::byte> name = receive_bytes(from);
            piece.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
            piece.array = {static_cast<DType>(head.at(3)), piece.full, receive_bytes(from)};
            pieces[static_cast<size_t>(from)].push_back(std::move(piece));
        }
    }
}

void check_can_train(const ParallelOptions& options, int ranks) {
    const Examples examples(options);
    check_parallel_options(options, examples.shape());
    const ParallelPlan& plan = options.plan;
    if (plan.ranks() != ranks)
        throw Failure(
            fmt::format("dp {} x tp {} x pp {} x cp {} are {} ranks, but {} run: mpirun -np {} would do, or another plan",
                        plan.dp, plan.tp, plan.pp, plan.cp, plan.ranks(), ranks, plan.ranks()));
    model::gpu_named(options.gpu).value();
}

ParallelTrainer::ParallelTrainer(ParallelOptions options, comm::Communicator* world)
    : state_(std::make_unique<State>(std::move(options), world)) {}
ParallelTrainer::~ParallelTrainer() = default;
ParallelTrainer::ParallelTrainer(ParallelTrainer&&) noexcept = default;
ParallelTrainer& ParallelTrainer::operator=(ParallelTrainer&&) noexcept = default;

// Steps overlap: each one's time is from the end of the one before it, by the latest rank, to its own.
void ParallelTrainer::State::run_all_steps() {
    if (ran_all)
        throw Failure(
            fmt::format("{} has run its {} steps: a run goes on from its checkpoint", options.plan.schedule, options.steps));
    const auto started = std::chrono::steady_clock::now();
    std::vector<std::vector<RankTrainer::Stepped>> of_rank(static_cast<size_t>(mesh.ranks()));
    run([&](RankTrainer& trainer, int rank) { of_rank[static_cast<size_t>(rank)] = trainer.steps_without_flush(); });
    ran_all = true;
    const double seconds = seconds_from(started) / double(options.steps);
    for (int64_t i = 0; i < options.steps; ++i) {
        ParallelStepRecord record{.step = next + i, .learning_rate = nn::rate_at(options.training, next + i)};
        record.seconds = seconds;
        for (std::vector<RankTrainer::Stepped>& steps : of_rank) {
            RankStep& rank = record.ranks.emplace_back();
            if (steps.empty()) continue;  // of another process
            record.loss = steps[static_cast<size_t>(i)].loss;
            rank = std::move(steps[static_cast<size_t>(i)].rank);
            record.end_us = std::max(record.end_us, rank.end_us);
            record.begin_us = !ready.empty()            ? ready.back().end_us
                              : record.ranks.size() > 1 ? std::min(record.begin_us, rank.begin_us)
                                                        : rank.begin_us;
        }
        ready.push_back(std::move(record));
    }
    if (own) return;
    if (options.compare_every > 0 && mesh.ranks() > 1) {
        std::vector<RankDigests> digests(of_rank.size());
        run([&](RankTrainer& trainer, int rank) { digests[static_cast<size_t>(rank)] = trainer.digests(); });
        ready.back().disagreement = compare(digests, ready.back().step);
    }
    std::vector<PipelineRow> rows(of_rank.size());
    for (size_t rank = 0; rank < rows.size(); ++rank)
        if (of_rank[rank].back().row) rows[rank] = std::move(*of_rank[rank].back().row);
    ready.back().schedule = pipeline_of_rank_0(rows);
}

ParallelStepRecord ParallelTrainer::step() {
    State& s = *state_;
    if (never_flushes(s.options.plan)) {
        if (s.ready.empty()) s.run_all_steps();
        ParallelStepRecord one = std::move(s.ready.front());
        s.ready.pop_front();
        ++s.next;
        return one;
    }
    const auto started = std::chrono::steady_clock::now();
    ParallelStepRecord record;
    record.step = s.next;
    record.learning_rate = nn::rate_at(s.options.training, s.next);
    record.ranks.resize(static_cast<size_t>(s.mesh.ranks()));
    std::vector<PipelineRow> rows(record.ranks.size());
    const bool compares = s.compares(s.next) && record.ranks.size() > 1;
    std::vector<RankDigests> digests(record.ranks.size());
    s.run([&](RankTrainer& trainer, int rank) {
        RankTrainer::Stepped stepped = trainer.step();
        record.ranks[static_cast<size_t>(rank)] = std::move(stepped.rank);
        if (stepped.row) rows[static_cast<size_t>(rank)] = std::move(*stepped.row);
        if (rank == 0 || s.own) record.loss = stepped.loss;
        if (compares) digests[static_cast<size_t>(rank)] = trainer.digests();
    });
    if (compares && s.own)
        record.digests = std::move(digests[static_cast<size_t>(s.world->rank())]);
    else if (compares)
        record.disagreement = s.compare(digests, s.next);
    ++s.next;
    bool any = false;
    for (const RankStep& rank : record.ranks) {
        if (rank.end_us <= 0) continue;
        record.begin_us = any ? std::min(record.begin_us, rank.begin_us) : rank.begin_us;
        record.end_us = std::max(record.end_us, rank.end_us);
        any = true;
    }
    const ParallelPlan& plan = s.options.plan;
    if (plan.pp > 1 && !s.own) record.schedule = s.pipeline_of_rank_0(rows);
    record.seconds = seconds_from(started);
    return record;
}

bool ParallelTrainer::has_batch() const {
    return !state_->own || state_->own->has_batch();
}
int64_t ParallelTrainer::next_step() const {
    return state_->next;
}
const Mesh& ParallelTrainer::mesh() const {
    return state_->mesh;
}
const ParallelOptions& ParallelTrainer::options() const {
    return state_->options;
}

std::vector<std::vector<ParameterHolding>> ParallelTrainer::holdings() {
    std::vector<std::vector<ParameterHolding>> all(static_cast<size_t>(state_->mesh.ranks()));
    state_->run([&](RankTrainer& trainer, int rank) { all[static_cast<size_t>(rank)] = trainer.holdings(); });
    return all;
}

nn::NamedArrays ParallelTrainer::parameters() {
    nn::NamedArrays all;
    for (auto& [name, array] : state_->whole())
        if (!name.starts_with("optimizer.")) all.push_back({name, std::move(array)});
    return all;
}

nn::Checkpoint ParallelTrainer::checkpoint() {
    State& s = *state_;
    nn::TrainerOptions training = s.options.training;
    if (training.planned_steps == 0) training.planned_steps = nn::model_named(training.model).steps;
    nn::Checkpoint made{.model = training.model, .step = s.next, .seed = training.seed, .options = nn::texts_of(training)};
    for (auto& [name, array] : s.whole()) made.tensors.push_back({name, std::move(array)});
    return made;
}

void ParallelTrainer::restore(const nn::Checkpoint& checkpoint) {
    State& s = *state_;
    nn::check_goes_on(s.options.training, checkpoint);
    if (checkpoint.step < 0) throw Failure(fmt::format("there is no step {}", checkpoint.step));
    s.run([&](RankTrainer& trainer, int) { trainer.restore(checkpoint.tensors, checkpoint.step); });
    s.next = checkpoint.step;
    s.agreed = s.next - 1;
}

nn::Evaluation ParallelTrainer::evaluate(int64_t examples) {
    State& s = *state_;
    nn::Checkpoint whole = checkpoint();  // with the running statistics of batch norm, of worker 0
    if (s.own && s.world->rank() != 0) return {};
    nn::Trainer& serial = s.serial();
    for (const nn::Trainer::ParameterInfo& info : serial.parameters()) {
        const Array* array = nn::find(whole.tensors, info.name);
        if (!array || array->shape != info.shape)
            throw Failure(fmt::format("{} is not what model {} has", info.name, serial.options().model));
    }
    serial.restore(whole);
    return serial.evaluate(examples);
}

}  // namespace lockstep::parallel
