// Bookkeeping of records, checkpoints and the two trainers.
#include "app/gui/work/training_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/nn/models/models.h"
#include "core/nn/train/follow.h"
#include "core/parallel/train/trainer.h"

namespace lockstep::gui {

namespace {

constexpr int64_t record_bytes = int64_t{48} << 20, checkpoint_bytes = int64_t{64} << 20, quickly_followed = 4 << 20;
constexpr size_t most_records = 64, most_checkpoints = 64, most_looked_at = 1;

bool writes_text(const nn::ModelRow& row) {
    return row.data == "stories";
}

int64_t bytes_of_checkpoint(const nn::Checkpoint& checkpoint) {
    size_t bytes = 0;
    for (const auto& row : checkpoint.tensors) bytes += row.array.bytes.size();
    return static_cast<int64_t>(bytes);
}

StepPointer with_followed(nn::StepRecord record, const std::stop_token& stop = {}) {
    if (!record.nodes.empty()) record.followed = std::make_shared<const nn::Followed>(nn::follow(record, stop));
    return std::make_shared<const nn::StepRecord>(std::move(record));
}

// What "since step 0" is compared with: the parameters alone.
StepPointer parameters_of(const nn::StepRecord& record) {
    auto light = std::make_shared<nn::StepRecord>(record);
    light->images.reset();
    for (nn::GraphNode& node : light->nodes) {
        node.gradient.reset();
        if (node.kind != nn::GraphNode::Kind::parameter) node.value.reset();
    }
    return light;
}

}  // namespace

int64_t bytes_of(const nn::StepRecord& record) {
    size_t values = 0;
    for (const nn::GraphNode& node : record.nodes)
        values += (node.value ? node.value->size() : 0) + (node.gradient ? node.gradient->size() : 0);
    return static_cast<int64_t>(4 * (values + (record.images ? record.images->size() : 0)));
}

bool trains_on_ranks(const std::string& model) {
    try {
        parallel::shape_named(model);
        return true;
    } catch (const Failure&) {
        return false;
    }
}

TrainingSetup setup_of(const std::string& model) {
    TrainingSetup setup;
    setup.model = model;
    if (model == "mlp") return setup;  // learns in 40 steps what a person can watch
    const nn::ModelRow& row = nn::model_named(model);
    setup.on_gpu = false;
    setup.learning_rate = row.learning_rate;
    setup.batch = row.batch;
    return setup;
}

std::string text_of(const TrainingSetup& setup) {
    const TrainingSetup own = setup_of(setup.model);
    std::string text = setup.optimizer.empty() ? "" : setup.optimizer + ", ";
    text += fmt::format("lr {:g}", setup.learning_rate);
    if (setup.batch != own.batch) text += fmt::format(", batch {}", setup.batch);
    if (setup.ranks > 1) text += fmt::format(", {} ranks", setup.ranks);
    return text;
}

TrainingRun::TrainingRun(TrainingSetup setup, std::string gpu, std::stop_token stop)
    : setup_(std::move(setup)), gpu_(std::move(gpu)), stop_(std::move(stop)) {
    curve_.name = text_of(setup_);
    open_fast();
}

nn::TrainerOptions TrainingRun::options(bool timed, bool whole) const {
    nn::TrainerOptions o;
    o.model = setup_.model;
    o.device = setup_.on_gpu ? "sim:" + gpu_ : "host";
    o.optimizer = setup_.optimizer;
    o.learning_rate = setup_.learning_rate;
    o.batch = setup_.batch;
    o.functional = !timed;
    o.keep_graph = o.keep_values = o.keep_images = o.keep_launches = whole;
    o.keep_runs = timed;
    o.stop = stop_;
    return o;
}

void TrainingRun::open_fast() {
    fast_ = std::make_unique<nn::Trainer>(options(false, !large_));
    checkpoints_.try_emplace(0, fast_->checkpoint());
    if (next_ > 0) restore(*fast_, next_);
}

void TrainingRun::reopen(std::stop_token stop) {
    stop_ = std::move(stop);
    open_fast();
}

void TrainingRun::keep(StepPointer record) {
    const int64_t each = std::max<int64_t>(1, bytes_of(*record));
    const auto most = static_cast<size_t>(std::clamp<int64_t>(record_bytes / each, 1, most_records));
    records_[record->step] = std::move(record);
    while (records_.size() > most) {
        // The oldest goes, but the newest always stays.
        const bool newest = records_.size() > 1 && records_.begin()->first == next_ - 1;
        records_.erase(newest ? std::prev(records_.end()) : records_.begin());
    }
}

StepPointer TrainingRun::advance(bool whole, bool follows) {
    if (next_ % checkpoint_every_ == 0) {
        nn::Checkpoint now = fast_->checkpoint();
        const int64_t each = std::max<int64_t>(1, bytes_of_checkpoint(now));
        const auto most = static_cast<size_t>(std::clamp<int64_t>(checkpoint_bytes / each, 4, most_checkpoints));
        checkpoints_.insert_or_assign(next_, std::move(now));
        if (checkpoints_.size() > most) {
            checkpoint_every_ *= 2;
            std::erase_if(checkpoints_, [&](const auto& c) { return c.first % checkpoint_every_ != 0; });
        }
    }
    fast_->set_recording(!large_ || whole);
    if (large_) records_.clear(), looked_at_.clear();  // one at a time: what is drawn holds the one before
    nn::StepRecord made = fast_->step();
    note(made);
    if (large_ && !whole) return nullptr;
    const bool slow = bytes_of(made) > quickly_followed;
    const StepPointer record =
        slow || !follows ? std::make_shared<const nn::StepRecord>(std::move(made)) : with_followed(std::move(made));
    if (!first_) first_ = slow ? parameters_of(*record) : record;
    large_ = large_ || slow;  // from here on it trains without copies of all values
    keep(record);
    return record;
}

void TrainingRun::note(const nn::StepRecord& record) {
    next_ = fast_->next_step();
    curve_.loss.push_back(record.loss);
    for (nn::Cause& cause : diagnosis_.after(*fast_, record)) curve_.causes.push_back(std::move(cause));
    if (next_ > curve_.total_steps) curve_.total_steps = std::max<int64_t>(100, curve_.total_steps * 2);
}

void TrainingRun::diagnose() {
    constexpr int64_t between = 20;  // steps: whoever goes on step by step is not kept waiting at each
    if (large_ || next_ < diagnosed_ + between) return;
    diagnosed_ = next_;
    for (nn::Cause& cause : diagnosis_.at_end(*fast_)) curve_.causes.push_back(std::move(cause));
}

void TrainingRun::restore(nn::Trainer& trainer, int64_t step, const Progress& progress) {
    const auto checkpoint = std::prev(checkpoints_.upper_bound(step));
    trainer.restore(checkpoint->second);
    trainer.set_recording(false);
    const int64_t from = trainer.next_step();
    while (trainer.next_step() < step) {
        if (progress) progress(static_cast<double>(trainer.next_step() - from) / static_cast<double>(step - from + 1));
        trainer.step();
    }
}

StepPointer TrainingRun::at(int64_t step, const Progress& progress) {
    step = std::clamp<int64_t>(step, 0, std::max<int64_t>(0, next_ - 1));
    if (const auto found = looked_at_.find(step); found != looked_at_.end()) return found->second;
    if (const auto found = records_.find(step); found != records_.end()) return found->second;
    if (first_ && first_->step == step && !large_) return first_;
    const nn::Checkpoint now = fast_->checkpoint();
    if (progress) progress(0);
    restore(*fast_, step, progress);
    if (large_) records_.clear(), looked_at_.clear();
    fast_->set_recording(true);
    const auto record = std::make_shared<const nn::StepRecord>(fast_->step());
    fast_->restore(now);
    keep(record);
    return record;
}

StepPointer TrainingRun::looked_at(int64_t step, std::stop_token stop,
                                   const std::function<void(size_t, const device::LaunchEvent&)>& each) {
    if (const auto found = looked_at_.find(step); found != looked_at_.end()) return found->second;
    StepPointer record;
    if (setup_.on_gpu) {
        const nn::Checkpoint now = fast_->checkpoint();
        restore(*fast_, step);
        const nn::Checkpoint before = fast_->checkpoint();
        fast_->restore(now);
        nn::TrainerOptions wanted = options(true);
        wanted.stop = stop;
        nn::Trainer trainer(wanted);
        trainer.restore(before);
        size_t launches = 0;
        trainer.on_launch = [&](const device::LaunchEvent& launch) { each(++launches, launch); };
        record = with_followed(trainer.step());
    } else {
        record = at(step);
        if (!record->followed) record = with_followed(*record, stop);
    }
    looked_at_[step] = record;
    while (looked_at_.size() > most_looked_at)
        looked_at_.erase(looked_at_.begin()->first == step ? std::prev(looked_at_.end()) : looked_at_.begin());
    return record;
}

std::shared_ptr<const parallel::ParallelStepRecord> TrainingRun::on_ranks(int64_t step, std::stop_token stop) {
    if (setup_.ranks < 2) return nullptr;
    if (on_ranks_ && on_ranks_->step == step) return on_ranks_;
    const nn::Checkpoint now = fast_->checkpoint();
    restore(*fast_, step);
    const nn::Checkpoint before = fast_->checkpoint();
    fast_->restore(now);
    parallel::ParallelOptions wanted;
    wanted.training = options(false);
    wanted.training.device = "host";
    wanted.training.keep_graph = wanted.training.keep_values = false;
    wanted.training.stop = std::move(stop);
    wanted.plan.dp = setup_.ranks;
    wanted.gpu = gpu_;
    wanted.keep_memory = false;
    parallel::ParallelTrainer trainer(wanted);
    trainer.restore(before);
    on_ranks_ = std::make_shared<const parallel::ParallelStepRecord>(trainer.step());
    return on_ranks_;
}

void TrainingRun::set_gpu(const std::string& gpu) {
    if (gpu == gpu_) return;
    on_ranks_.reset();
    const nn::Checkpoint now = fast_->checkpoint();
    const std::string before = gpu_;
    gpu_ = gpu;
    try {
        auto other = std::make_unique<nn::Trainer>(options(false, !large_));
        other->restore(now);
        fast_ = std::move(other);
    } catch (...) {
        gpu_ = before;
        throw;
    }
    if (setup_.on_gpu) looked_at_.clear();
}

// Of a language model one costs as much as a step and a half.
bool TrainingRun::evaluates(int64_t step) const {
    return step % (writes_text(nn::model_named(setup_.model)) ? 40 : fast_->options().model == "mlp" ? 4 : 10) == 0;
}

void TrainingRun::evaluate() {
    const bool text = writes_text(nn::model_named(setup_.model));
    nn::Evaluation evaluation = fast_->evaluate(text ? 8 : 512);
    evaluation.step = next_ - 1;
    if (!evaluation.measures.empty()) {
        const nn::Measure& measure = evaluation.measures.front();
        curve_.measure = measure.unit.empty() ? measure.name : measure.name + ", " + measure.unit;
    }
    curve_.accuracy.push_back(evaluation);
}

std::string TrainingRun::write(int64_t characters) {
    return writes_text(nn::model_named(setup_.model)) ? fast_->sample("\n", characters) : std::string();
}

Curve TrainingRun::comparison() const {
    Curve curve;
    nn::TrainerOptions o;
    o.learning_rate = 2 * setup_.learning_rate;
    curve.name = fmt::format("lr {:.1f}, finished", o.learning_rate);
    curve.colour = 0;
    o.keep_images = false;
    o.stop = stop_;
    nn::Trainer trainer(o);
    for (int step = 0; step < 100; ++step) {
        curve.loss.push_back(trainer.step().loss);
        if (step % 4 != 0 && step != 99) continue;
        nn::Evaluation evaluation = trainer.evaluate(512);
        evaluation.step = step;
        curve.accuracy.push_back(evaluation);
    }
    curve.total_steps = 100;
    return curve;
}

}  // namespace lockstep::gui
