// Training on many ranks in a scene: a row is a model and a plan, and every row runs for real, each rank a thread, on the
// same data from the same first weights.
//
//   HEAD:     mlp, mlp512, lenet5, resnet8, gpt, llama: with the model's own data. A shape of one's own has records that are
//             drawn from the seed: widths=16,32,8 of mlp; layers width heads kv_heads ffn vocabulary context of gpt and
//             llama
//   settings: those of plans (plan_settings.cpp): dp tp pp cp zero microbatches ...; steps batch (of all ranks) lr optimizer
//             momentum dtype (f32, f64) seed; gpu link (or latency, us, and gigabytes, a second) of the virtual clocks
//             records=N feed=parts|whole epochs reshuffle drop: a set of N records that is gone through, in parts that the
//             workers have for themselves or by drawing from all of it. A worker's last batch is filled up from the
//             beginning of its part, or with drop=1 left out. Without steps= each worker has the batches that its part gives
//             slow=RANK:FACTOR: its work and its messages take so many times as long. async=1: a server holds the weights,
//             and each worker pushes its gradients at its own pace; staleness=2: no more than so many batches ahead
//             batches=4,4,3: that the workers have. restart=2 before_dp=4: the first two steps are those of four workers,
//             whose checkpoint this row's ranks take up
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/rng.h"
#include "core/comm/network/network.h"
#include "core/nn/data/sampler.h"
#include "core/nn/models/models.h"
#include "core/nn/train/training_options.h"
#include "core/parallel/train/asynchronous.h"
#include "core/parallel/train/trainer.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/cluster/worker_lanes.h"

namespace lockstep::scene {
namespace {

using parallel::ModelShape;
using parallel::ParallelOptions;
using parallel::ParallelStepRecord;

constexpr double most_parallel_work = 2e10;
constexpr int64_t most_parallel_batch = 512, most_parallel_ranks = 16, most_parallel_steps = 200,
                  most_parallel_parameters = 500'000;

std::vector<int64_t> counts_of(const std::string& key, const std::string& text, int64_t most) {
    std::vector<int64_t> counts;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        int64_t value = -1;
        const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc{} || rest != part.data() + part.size() || value < 0 || value > most)
            throw Failure(
                fmt::format("{} are whole numbers from 0 to {} with commas between them, not '{}'", key, most, text));
        counts.push_back(value);
    }
    if (counts.size() > 16) throw Failure(fmt::format("{} are 16 numbers at most", key));
    return counts;
}

// The model of a row; true where the shape is the row's own, and its records are drawn.
bool shape_of_row(ParallelText& row, ModelShape& shape) {
    shape = parallel::shape_named(row.head);
    const ModelShape named = shape;
    if (shape.kind == ModelShape::Kind::perceptron) {
        const std::vector<int64_t> widths = counts_of("widths", row.word("widths", ""), 1024);
        if (widths.size() == 1 || std::count(widths.begin(), widths.end(), 0))
            throw Failure("widths= says the inputs, every layer's outputs and last the classes: widths=16,32,8");
        if (!widths.empty()) shape.widths = widths;
        return !widths.empty();
    }
    if (shape.kind == ModelShape::Kind::convolutional) return false;
    shape.layers = row.whole("layers", shape.layers, 1, 16);
    shape.width = row.whole("width", shape.width, 4, 512);
    shape.heads = row.whole("heads", shape.heads, 1, 32);
    shape.kv_heads = row.whole("kv_heads", std::min(shape.kv_heads, shape.heads), 1, 32);
    shape.ffn = row.whole("ffn", shape.ffn, 4, 2048);
    shape.vocabulary = row.whole("vocabulary", shape.vocabulary, 2, 1024);
    shape.context = row.whole("length", shape.context, 2, 512);
    if (shape.width % shape.heads || shape.heads % shape.kv_heads || shape.width / shape.heads % 2)
        throw Failure(
            "heads must divide width, into even parts, and kv_heads divide heads: width=32 heads=4 kv_heads=2 would do");
    return shape.layers != named.layers || shape.width != named.width || shape.heads != named.heads ||
           shape.kv_heads != named.kv_heads || shape.ffn != named.ffn || shape.vocabulary != named.vocabulary ||
           shape.context != named.context;
}

// Record number `id` of a set that the seed draws: a point whose class is that of the nearest of a few centres, or a
// sequence in which mostly each token follows from the one before.
void put_record(const ModelShape& shape, uint64_t seed, uint64_t id, nn::Batch& batch, size_t at, size_t count) {
    Rng rng(seed * 0x9e3779b97f4a7c15u + id + 1);
    if (shape.kind == ModelShape::Kind::perceptron) {
        const auto inputs = static_cast<size_t>(shape.widths.front());
        const auto classes = static_cast<uint64_t>(shape.widths.back());
        const uint64_t of = rng.next() % classes;
        Rng centre(seed * 0x9e3779b97f4a7c15u + 0x5bd1e995u * (of + 1));
        batch.labels[at] = static_cast<int32_t>(of);
        for (size_t j = 0; j < inputs; ++j)
            batch.values[at * inputs + j] = static_cast<float>(centre.uniform(-1, 1) + rng.uniform(-1, 1));
        return;
    }
    const auto context = static_cast<size_t>(shape.context), vocabulary = static_cast<size_t>(shape.vocabulary);
    size_t token = rng.next() % vocabulary;
    for (size_t t = 0; t < context; ++t) {
        batch.labels[at * context + t] = static_cast<int32_t>(token);
        token = rng.uniform(0, 1) < 0.1 ? rng.next() % vocabulary : (5 * token + 3) % vocabulary;
        batch.labels[(count + at) * context + t] = static_cast<int32_t>(token);
    }
}

struct Feed {                                         // of a set of records to workers; with none, every step has new ones
    int64_t records = 0, batch = 0, epoch_steps = 0;  // batch: of one worker; steps: of an epoch, of the longest part
    int workers = 1;
    bool whole = false, reshuffle = true, drop = false;
    uint64_t seed = 1;

    int64_t first_of(int worker) const {  // the first so many workers have one record more
        return worker * (records / workers) + std::min<int64_t>(worker, records % workers);
    }
    int64_t size_of_part(int worker) const { return first_of(worker + 1) - first_of(worker); }
    int64_t batches(int worker) const {
        if (whole) return drop ? records / (batch * workers) : (records + batch * workers - 1) / (batch * workers);
        return drop ? size_of_part(worker) / batch : (size_of_part(worker) + batch - 1) / batch;
    }
    // Which record is the i-th of a worker's in an epoch.
    uint64_t record(int worker, int64_t epoch, int64_t i) const {
        const auto of = static_cast<uint64_t>(records);
        if (whole) {
            Rng rng(seed * 0x2545f4914f6cdd1du + static_cast<uint64_t>((epoch * 1024 + worker) * 1'000'003 + i));
            return rng.next() % of;
        }
        const int64_t part = size_of_part(worker);
        return nn::shuffled(static_cast<uint64_t>(first_of(worker) + (part > 0 ? i % part : 0)), of,
                            seed + (reshuffle ? static_cast<uint64_t>(epoch) : 0));
    }
    std::set<uint64_t> seen_by(int worker, int64_t epoch) const {
        std::set<uint64_t> seen;
        for (int64_t i = 0; i < batches(worker) * batch; ++i) seen.insert(record(worker, epoch, i));
        return seen;
    }
};

std::function<void(uint64_t, nn::Batch&)> examples_of(const ModelShape& shape, const Feed& feed, uint64_t seed) {
    return [shape, feed, seed](uint64_t step, nn::Batch& batch) {
        const auto count = static_cast<size_t>(batch.count);
        if (shape.kind == ModelShape::Kind::perceptron) {
            batch.values.resize(count * static_cast<size_t>(shape.widths.front()));
            batch.labels.resize(count);
        } else {
            batch.labels.resize(2 * count * static_cast<size_t>(shape.context));
        }
        const auto at_step = static_cast<int64_t>(step);
        for (size_t i = 0; i < count; ++i) {
            const int64_t place = batch.first + static_cast<int64_t>(i);  // of the step's whole batch
            uint64_t id = step * 4096 + static_cast<uint64_t>(place);
            if (feed.records > 0)
                id = feed.record(static_cast<int>(place / feed.batch), at_step / feed.epoch_steps,
                                 at_step % feed.epoch_steps * feed.batch + place % feed.batch);
            put_record(shape, seed, id, batch, i, count);
        }
    };
}

Feed feed_of_row(ParallelText& row, const ParallelOptions& options, int64_t& epochs) {
    Feed feed;
    feed.records = row.whole("records", 0, 0, 100'000);
    feed.workers = options.plan.dp;
    feed.batch = options.training.batch / options.plan.dp;
    feed.seed = options.training.seed;
    const std::string how = row.word("feed", "parts");
    if (how != "parts" && how != "whole") throw Failure(fmt::format("feed is parts or whole, not '{}'", how));
    feed.whole = how == "whole";
    feed.reshuffle = row.whole("reshuffle", 1, 0, 1) == 1;
    feed.drop = row.whole("drop", 0, 0, 1) == 1;
    epochs = row.whole("epochs", 1, 1, 8);
    if (feed.records == 0) return feed;
    if (feed.batch < 1 || feed.records < feed.workers * feed.batch)
        throw Failure(
            fmt::format("{} records are too few for {} workers with {} each", feed.records, feed.workers, feed.batch));
    for (int worker = 0; worker < feed.workers; ++worker)
        feed.epoch_steps = std::max(feed.epoch_steps, feed.batches(worker));
    return feed;
}

double within_spans(const parallel::RankStep& rank, int stream, bool beside_compute) {
    double sum = 0;
    for (const parallel::RankSpan& span : rank.spans) {
        if (span.stream != stream) continue;
        if (!beside_compute) sum += span.end_us - span.begin_us;
        if (beside_compute)
            for (const parallel::RankSpan& other : rank.spans)
                if (other.stream == parallel::compute_stream)
                    sum += std::max(0.0, std::min(span.end_us, other.end_us) - std::max(span.begin_us, other.begin_us));
    }
    return sum;
}

double sent_by(const parallel::RankStep& rank, int64_t parallel::Traffic::*what) {
    double sum = 0;
    for (const parallel::Traffic& traffic : rank.sent) sum += static_cast<double>(traffic.*what);
    return sum;
}
double most_sent(const ParallelStepRecord& step, int64_t parallel::Traffic::*what) {
    double most = 0;
    for (const parallel::RankStep& rank : step.ranks) most = std::max(most, sent_by(rank, what));
    return most;
}
double gradients_us(const ParallelStepRecord& step, bool hidden) {
    return within_spans(step.ranks.front(), parallel::gradient_stream, hidden);
}

// Bytes of rank 0: weights, gradients and optimiser between backward and update, the other kinds at most at any time.
double bytes_of(const ParallelStepRecord& step, parallel::MemoryKind wanted) {
    const parallel::RankStep& first = step.ranks.front();
    const auto kind = static_cast<size_t>(wanted);
    if (kind < 3) return static_cast<double>(first.kept[kind]);
    int64_t most = first.peak[kind];
    for (const parallel::MemoryPoint& point : first.memory) most = std::max(most, point.bytes[kind]);
    return static_cast<double>(most);
}

constexpr Figure<ParallelStepRecord> step_rows[] = {
    {"step_us", "us", "Of the last step.", [](const auto& s) { return s.end_us - s.begin_us; }},
    {"bytes_sent", "B", "In the last step, by the rank with most or by one of them.",
     [](const auto& s) { return most_sent(s, &parallel::Traffic::bytes); }, "rank"},
    {"messages", "", "In the last step, of the rank with most or of one of them.",
     [](const auto& s) { return most_sent(s, &parallel::Traffic::messages); }, "rank"},
    {"compute_us", "us", "Of the last step, in which rank 0 computes.",
     [](const auto& s) { return s.ranks.front().compute_us; }},
    {"gradients_us", "us", "In which rank 0's gradients are on their way.",
     [](const auto& s) { return gradients_us(s, false); }},
    {"hidden_us", "us", "Of that, while rank 0 computes.", [](const auto& s) { return gradients_us(s, true); }},
    {"exposed_us", "us", "Of that, while it does not.",
     [](const auto& s) { return gradients_us(s, false) - gradients_us(s, true); }},
    {"weights", "B", "Of rank 0 between backward and update.",
     [](const auto& s) { return bytes_of(s, parallel::MemoryKind::weights); }},
    {"gradients", "B", "Of rank 0 between backward and update.",
     [](const auto& s) { return bytes_of(s, parallel::MemoryKind::gradients); }},
    {"optimizer", "B", "Of rank 0 between backward and update.",
     [](const auto& s) { return bytes_of(s, parallel::MemoryKind::optimizer); }},
    {"activations", "B", "Of rank 0, at most.",
     [](const auto& s) { return bytes_of(s, parallel::MemoryKind::activations); }},
    {"buffers", "B", "Of rank 0, at most.", [](const auto& s) { return bytes_of(s, parallel::MemoryKind::buffers); }},
    {"memory", "B", "Of rank 0 or of another, at most: all of these.",
     [](const auto& s) { return parallel::sum_of(s.ranks.front().peak); }, "rank"},
    {"host_bytes", "B", "That rank 0 keeps in the host's memory.", [](const auto& s) { return s.ranks.front().host_bytes; }},
    {"bubble_of_total", "", "Idle time of all ranks in a pipeline.",
     [](const auto& s) { return s.schedule ? s.schedule->bubble_of_total() : std::optional<double>(); }},
};

void put_step_figures(const ParallelStepRecord& step, std::map<std::string, double>& f) {
    leave_figures<ParallelStepRecord>(step_rows, step, f);
    for (size_t rank = 0; rank < step.ranks.size(); ++rank) {
        f[fmt::format("bytes_sent@rank:{}", rank)] = sent_by(step.ranks[rank], &parallel::Traffic::bytes);
        f[fmt::format("messages@rank:{}", rank)] = sent_by(step.ranks[rank], &parallel::Traffic::messages);
        f[fmt::format("memory@rank:{}", rank)] = static_cast<double>(parallel::sum_of(step.ranks[rank].peak));
    }
    for (const char* axis : {"dp", "tp", "pp", "cp"}) f[fmt::format("bytes@axis:{}", axis)] = 0;
    for (const char* what : {"gradients", "parameters", "activations"}) f[fmt::format("bytes@purpose:{}", what)] = 0;
    for (const parallel::Traffic& traffic : step.ranks.front().sent) {
        f["bytes@axis:" + traffic.axis] += static_cast<double>(traffic.bytes);
        f["bytes@purpose:" + traffic.purpose] += static_cast<double>(traffic.bytes);
    }
}

constexpr FigureText put_rows[] = {
    {"bytes", "B", "That rank 0 sends in the last step along an axis or for a purpose.", "axis purpose"},
    {"records", "", "Of the set that the workers share."},
    {"seen", "", "Different records of the first epoch."},
    {"repeated", "", "Draws of the first epoch beyond those."},
    {"kept_part", "", "Records that worker 0 has in the first two epochs."},
    {"batches", "", "Of a worker.", "rank"},
    {"waiting", "", "Ranks that wait in a dead-lock."},
    {"deadlock", "", "1 where the run ends in one, else 0."},
    {"waits_for", "", "The rank for which a rank waits in a dead-lock.", "rank"},
    {"loss", "", "Of the last step, or of one of them.", "step"},
    {"first_loss", "", "Of the first step."},
    {"updates", "", "Of the weights: steps, or with a server each push; of a staleness.", "staleness"},
    {"run_us", "us", "Of the whole run."},
    {"waits", "", "Share of the workers' time in which they wait for the slowest or are held back."},
    {"stale_updates", "", "By gradients of weights that others had replaced."},
    {"staleness", "", "Updates by others between fetch and push, on average."},
    {"most_stale", "", "The largest staleness."},
    {"losses_off", "", "How far the losses are from the first row's, relative."},
    {"weights_off", "", "How far the parameters are from the first row's."},
};

struct AskedRun {  // what a row asked for, and how far it came
    const ParallelOptions& options;
    const ModelShape& shape;
    const Feed& feed;
    size_t steps = 0;
};

constexpr Figure<AskedRun> asked_rows[] = {
    {"steps", "", "That were done.", [](const auto& a) { return a.steps; }},
    {"parameters", "", "Of the model.", [](const auto& a) { return nn::parameters_of(a.shape); }},
    {"ranks", "", "That train.", [](const auto& a) { return a.options.plan.ranks(); }},
    {"dp", "", "Data parallel ranks.", [](const auto& a) { return a.options.plan.dp; }},
    {"tp", "", "Tensor parallel ranks.", [](const auto& a) { return a.options.plan.tp; }},
    {"pp", "", "Pipeline stages.", [](const auto& a) { return a.options.plan.pp; }},
    {"cp", "", "Context parallel ranks.", [](const auto& a) { return a.options.plan.cp; }},
    {"zero", "", "The stage of ZeRO.", [](const auto& a) { return a.options.plan.zero; }},
    {"microbatches", "", "Of a batch.", [](const auto& a) { return a.options.plan.microbatches; }},
    {"sync_batch_norm", "", "1 where batch norm's sums are shared, else 0.",
     [](const auto& a) { return a.options.plan.sync_batch_norm; }},
    {"bucket_bytes", "B", "Of gradients that are reduced together.",
     [](const auto& a) { return a.options.plan.bucket_bytes; }},
    {"batch", "", "Examples of a step, of all ranks.", [](const auto& a) { return a.options.training.batch; }},
    {"share", "", "Examples of a worker.",
     [](const auto& a) { return static_cast<double>(a.options.training.batch) / a.options.plan.dp; }},
    {"lr", "", "The learning rate.", [](const auto& a) { return a.options.training.learning_rate; }},
    {"epoch_steps", "", "Of the longest part of the records.", [](const auto& a) { return a.feed.epoch_steps; }},
    {"latency", "us", "Of the link.", [](const auto& a) { return a.options.link.latency_us; }},
    {"gigabytes", "GB/s", "Of the link.", [](const auto& a) { return a.options.link.bytes_per_us / 1000; }},
};

void put_feed_figures(const Feed& feed, std::map<std::string, double>& f) {
    std::set<uint64_t> seen;
    double draws = 0, both = 0;
    for (int worker = 0; worker < feed.workers; ++worker) {
        f[fmt::format("batches@rank:{}", worker)] = static_cast<double>(feed.batches(worker));
        seen.merge(feed.seen_by(worker, 0));
        draws += static_cast<double>(feed.batches(worker) * feed.batch);
    }
    const std::set<uint64_t> later = feed.seen_by(0, 1);
    for (const uint64_t record : feed.seen_by(0, 0)) both += static_cast<double>(later.count(record));
    f["records"] = static_cast<double>(feed.records);
    f["seen"] = static_cast<double>(seen.size());
    f["repeated"] = draws - f["seen"];
    f["kept_part"] = both;
}

// "rank 1 waits for rank 0, which has finished; rank 2 waits ..." (comm::Deadlock::text).
void put_waits(const std::string& problem, std::map<std::string, double>& f) {
    double waiting = 0;
    for (size_t at = 0; (at = problem.find("rank ", at)) != std::string::npos; ++at) {
        int rank = -1, from = -1;
        if (std::sscanf(problem.c_str() + at, "rank %d waits for rank %d", &rank, &from) != 2) continue;
        f[fmt::format("waits_for@rank:{}", rank)] = from;
        ++waiting;
    }
    f["waiting"] = waiting;
    f["deadlock"] = waiting > 0;
}

ParallelOptions options_of_row(ParallelText& row, uint64_t scene_seed) {
    ParallelOptions options;
    options.plan = parallel_plan_of(row, most_parallel_ranks);
    nn::TrainerOptions& training = options.training;
    training.model = row.head;
    const nn::ModelRow& model = nn::model_named(row.head);
    training.batch = model.batch;
    training.learning_rate = model.learning_rate;
    training.schedule = "constant";
    training.seed = scene_seed;
    for (const char* key : {"batch", "lr", "optimizer", "momentum", "dtype", "seed"})
        if (const std::string text = row.word(key, ""); !text.empty()) {
            const std::string wrong = set_in_scene(training, *nn::training_option_of_scene(key), text);
            if (!wrong.empty()) throw Failure(wrong);
        }
    if (training.batch > most_parallel_batch)
        throw Failure(fmt::format("batch is a whole number from 1 to {}", most_parallel_batch));
    if (training.dtype != DType::f32 && training.dtype != DType::f64)
        throw Failure(fmt::format("dtype is f32 or f64, not '{}'", name_of(training.dtype)));
    training.nan = nn::NanPolicy::warn;
    options.keep_messages = true;
    options.gpu = row.word("gpu", options.gpu);
    if (const std::string link = row.word("link", ""); !link.empty()) options.link = comm::link_named(link).link();
    options.link.latency_us = row.real("latency", options.link.latency_us, 0, 1e6);
    options.link.bytes_per_us = 1000 * row.real("gigabytes", options.link.bytes_per_us / 1000, 1e-6, 1e5);
    return options;
}

std::shared_ptr<WorkerLanes> lanes_of(const std::string& name, const ParallelOptions& options) {
    auto lanes = std::make_shared<WorkerLanes>();
    lanes->name = name;
    lanes->model = options.training.model;
    lanes->gpu = options.gpu;
    lanes->workers = options.plan.dp;
    lanes->share = options.training.batch / options.plan.dp;
    lanes->learning_rate = options.training.learning_rate;
    return lanes;
}

// The first `restart` steps are those of `before`.
void train_in_steps(ParallelRow& made, const ParallelOptions& options, const ParallelOptions& before, int64_t steps,
                    int64_t restart, const ParallelSceneOptions& scene) {
    auto& f = made.figures;
    const auto lanes = made.lanes ? std::make_shared<WorkerLanes>(*made.lanes) : nullptr;
    parallel::ParallelTrainer trainer(restart > 0 ? before : options);
    for (int64_t step = 0; step < steps; ++step) {
        if (restart > 0 && step == restart) {
            const nn::Checkpoint saved = trainer.checkpoint();
            trainer = parallel::ParallelTrainer(options);
            trainer.restore(saved);
        }
        throw_if_stopped(scene.stop);
        try {
            made.step = std::make_shared<const ParallelStepRecord>(trainer.step());
        } catch (const Failure& failure) {
            if (options.batches_of_worker.empty() ||
                failure.diagnostic.message.find(" waits for rank ") == std::string::npos)
                throw;
            made.problem = failure.diagnostic.message;
            put_waits(made.problem, f);
            if (lanes) add_stuck(*lanes, options.batches_of_worker);
            break;
        }
        if (lanes) add_step(*lanes, *made.step);
        made.losses.push_back(made.step->loss);
        f[fmt::format("loss@step:{}", step)] = made.step->loss;
    }
    if (made.problem.empty() && options.batches_of_worker.empty())
        for (const nn::NamedArray& array : trainer.parameters())
            for (size_t i = 0; i < array.array.count(); ++i) {
                if (array.array.dtype == DType::f64) made.parameters.push_back(array.array.as<double>()[i]);
                if (array.array.dtype == DType::f32) made.parameters.push_back(double{array.array.as<float>()[i]});
            }
    made.lanes = lanes;
}

// Which records each batch read, who waits for whom, and the figures of both.
void finish_lanes(ParallelRow& made, const Feed& feed, std::map<std::string, double>& f) {
    const auto lanes = std::make_shared<WorkerLanes>(*made.lanes);
    std::map<int64_t, std::set<uint64_t>> seen;                  // by epoch
    std::map<std::pair<int, int64_t>, std::set<uint64_t>> read;  // by worker and epoch
    std::vector<WorkerBatch*> turns;                             // a batch of every worker, then the next
    for (WorkerBatch& batch : lanes->batches) turns.push_back(&batch);
    std::stable_sort(turns.begin(), turns.end(), [](const WorkerBatch* a, const WorkerBatch* b) {
        return std::pair(a->batch, a->worker) < std::pair(b->batch, b->worker);
    });
    if (feed.records > 0)
        for (WorkerBatch* batch : turns) {
            const int64_t epoch = batch->batch / feed.epoch_steps, first = batch->batch % feed.epoch_steps * feed.batch;
            for (int64_t i = first; i < first + feed.batch; ++i) {
                const auto record = static_cast<uint64_t>(feed.record(batch->worker, epoch, i));
                bool had = false;
                for (int64_t before = 0; before < epoch; ++before)
                    had = had || read[{batch->worker, before}].count(record) > 0;
                read[{batch->worker, epoch}].insert(record);
                batch->records.push_back(seen[epoch].insert(record).second);
                batch->had.push_back(had);
            }
        }
    for (int rank = 0; rank < lanes->workers; ++rank)
        if (const auto found = f.find(fmt::format("waits_for@rank:{}", rank)); found != f.end())
            lanes->waits.emplace_back(rank, static_cast<int>(found->second));
    f["updates"] = static_cast<double>(lanes->updates());
    f["run_us"] = lanes->end_us;
    f["waits"] = lanes->waiting_share();
    f["stale_updates"] = static_cast<double>(lanes->stale_updates());
    made.lanes = lanes;
}

// slow=2:1.5: the ideal network in which that rank's work and messages take longer; null without.
std::shared_ptr<const comm::Network> network_of_row(ParallelText& row, const ParallelOptions& options, int ranks) {
    const std::string slow = row.word("slow", "");
    if (slow.empty()) return nullptr;
    int rank = -1;
    double factor = 0;
    char colon = 0;
    std::istringstream words(slow);
    if (!(words >> rank >> colon >> factor) || colon != ':' || rank < 0 || rank >= options.plan.ranks() || !(factor >= 1) ||
        !(factor <= 1000))
        throw Failure(fmt::format("slow= is RANK:FACTOR, as in slow=1:1.5, not '{}'", slow));
    auto network = std::make_shared<comm::Network>(comm::ideal_network(ranks, options.link));
    comm::slow_rank(*network, rank, factor);
    return network;
}

}  // namespace

std::vector<FigureText> parallel_row_figures() {
    std::vector<FigureText> all = texts_of(asked_rows);
    for (const auto& more : {texts_of(step_rows), texts_of(put_rows)}) all.insert(all.end(), more.begin(), more.end());
    return all;
}

ParallelRow run_parallel_row(ParallelText& row, const ParallelSceneOptions& scene) {
    ParallelOptions options = options_of_row(row, scene.seed);
    ModelShape shape;
    const bool own = shape_of_row(row, shape);
    if (nn::parameters_of(shape) > most_parallel_parameters)
        throw Failure(fmt::format("{} has {} parameters: at most {} train in a scene", row.head, nn::parameters_of(shape),
                                  most_parallel_parameters));
    int64_t epochs = 1;
    const Feed feed = feed_of_row(row, options, epochs);
    if (feed.records > 0 && !own)
        throw Failure("records= goes with a shape of one's own (widths=16,32,8): other models bring their data");
    options.batches_of_worker = counts_of("batches", row.word("batches", ""), most_parallel_steps);
    const bool epoch = feed.records > 0 && options.batches_of_worker.empty() && !row.settings.count("steps");
    int64_t steps = row.whole("steps", 3, 1, most_parallel_steps);
    if (epoch) {
        steps = epochs * feed.epoch_steps;
        if (epochs == 1)
            for (int worker = 0; worker < feed.workers; ++worker) options.batches_of_worker.push_back(feed.batches(worker));
    } else if (!options.batches_of_worker.empty()) {
        if (static_cast<int>(options.batches_of_worker.size()) != options.plan.dp)
            throw Failure(fmt::format("batches= says how many each of the {} workers has", options.plan.dp));
        steps = *std::max_element(options.batches_of_worker.begin(), options.batches_of_worker.end());
    }
    if (steps < 1 || steps > most_parallel_steps)
        throw Failure(fmt::format("{} steps: from 1 to {} run in a scene", steps, most_parallel_steps));
    // Multiplications of a forward pass, about: a weight meets every token, or every place of a picture.
    const double places = shape.kind == ModelShape::Kind::perceptron      ? 1
                          : shape.kind == ModelShape::Kind::convolutional ? 200
                                                                          : static_cast<double>(shape.context);
    const double work = static_cast<double>(nn::parameters_of(shape)) * static_cast<double>(options.training.batch) *
                        places * static_cast<double>(steps);
    if (work > most_parallel_work)
        throw Failure(fmt::format("{} steps of this model are too long for a scene: about {} would do", steps,
                                  std::max<int64_t>(1, static_cast<int64_t>(most_parallel_work / work * double(steps)))));
    const int64_t restart = row.whole("restart", 0, 0, most_parallel_steps);
    ParallelOptions before = options;
    before.plan = {};
    before.plan.dp = static_cast<int>(row.whole("before_dp", 1, 1, most_parallel_ranks));
    const bool asynchronous = row.whole("async", 0, 0, 1) == 1;
    const int64_t bound = row.whole("staleness", -1, 0, most_parallel_steps);
    if (!asynchronous && bound >= 0) throw Failure("staleness bounds workers that do not wait for each other: async=1");
    if (asynchronous && restart > 0) throw Failure("restart goes with steps that all workers take together: async=0");
    options.network = network_of_row(row, options, options.plan.ranks() + (asynchronous ? 1 : 0));
    if (restart >= steps || (restart > 0 && !options.batches_of_worker.empty()))
        throw Failure(fmt::format("restart={} must leave steps to do, of {}, and goes with as many batches for all workers",
                                  restart, steps));
    row.done();
    if (!row.lists.empty()) throw Failure("'rank' and 'round' lines go with schedules and collectives");
    options.training.planned_steps = steps;
    before.training.planned_steps = steps;
    if (own) {
        before.shape = options.shape = shape;
        before.examples = options.examples = examples_of(shape, feed, options.training.seed);
    }

    ParallelRow made;
    made.title = row.head;
    made.split = options.plan;
    auto& f = made.figures;
    f["deadlock"] = f["waiting"] = 0;
    if (feed.records > 0) put_feed_figures(feed, f);
    for (size_t worker = 0; worker < options.batches_of_worker.size(); ++worker)
        f[fmt::format("batches@rank:{}", worker)] = static_cast<double>(options.batches_of_worker[worker]);
    const bool alone = options.plan.dp == options.plan.ranks() && options.plan.dp > 1 && restart == 0;
    if (alone || asynchronous) made.lanes = lanes_of(row.name, options);
    if (asynchronous) {
        options.steps = steps;
        train_with_server(made, {.run = options, .bound = bound}, scene);
    } else {
        train_in_steps(made, options, before, steps, restart, scene);
    }
    leave_figures<AskedRun>(asked_rows, {options, shape, feed, asynchronous ? size_t(steps) : made.losses.size()}, f);
    if (!made.losses.empty()) {
        f["loss"] = made.losses.back();
        f["first_loss"] = made.losses.front();
    }
    if (made.step) {
        put_step_figures(*made.step, f);
        if (made.step->schedule) made.schedule = {made.step, &*made.step->schedule};
    }
    if (made.lanes) finish_lanes(made, feed, f);
    return made;
}

}  // namespace lockstep::scene
