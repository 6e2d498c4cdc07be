// Bookkeeping of records, checkpoints and the two trainers.
#include "app/gui/training_run.h"

#include <algorithm>

namespace lockstep::gui {

namespace {

constexpr size_t most_records = 64, most_checkpoints = 64, most_timed = 2;
constexpr double learning_rate = 0.5;  // of the live run: learns in 40 steps what a person can watch

}  // namespace

TrainingRun::TrainingRun(std::string gpu, std::stop_token stop) : gpu_(std::move(gpu)), stop_(std::move(stop)) {
    curve_.name = "lr 0.5";
    open_fast();
}

nn::TrainerOptions TrainingRun::options(bool timed) const {
    nn::TrainerOptions o;
    o.device = "sim:" + gpu_;
    o.learning_rate = learning_rate;
    o.functional = !timed;
    o.keep_graph = o.keep_values = true;
    o.keep_runs = timed;
    o.stop = stop_;
    return o;
}

void TrainingRun::open_fast() {
    fast_ = std::make_unique<nn::Trainer>(options(false));
    checkpoints_.try_emplace(0, fast_->checkpoint());
    if (next_ > 0) restore(*fast_, next_);
}

void TrainingRun::keep(StepPointer record) {
    records_[record->step] = std::move(record);
    while (records_.size() > most_records) {
        // The oldest goes, but the newest always stays.
        records_.erase(records_.begin()->first == next_ - 1 ? std::prev(records_.end()) : records_.begin());
    }
}

StepPointer TrainingRun::advance() {
    if (next_ % checkpoint_every_ == 0) {
        checkpoints_[next_] = fast_->checkpoint();
        if (checkpoints_.size() > most_checkpoints) {
            checkpoint_every_ *= 2;
            std::erase_if(checkpoints_, [&](const auto& c) { return c.first % checkpoint_every_ != 0; });
        }
    }
    auto record = std::make_shared<nn::StepRecord>(fast_->step());
    next_ = fast_->next_step();
    curve_.loss.push_back(record->loss);
    if (next_ > curve_.total_steps) curve_.total_steps = std::max<int64_t>(100, curve_.total_steps * 2);
    if (!first_) first_ = record;
    keep(record);
    return record;
}

void TrainingRun::restore(nn::Trainer& trainer, int64_t step) {
    const auto checkpoint = std::prev(checkpoints_.upper_bound(step));
    trainer.restore(checkpoint->second);
    while (trainer.next_step() < step) trainer.step();
}

StepPointer TrainingRun::at(int64_t step) {
    step = std::clamp<int64_t>(step, 0, std::max<int64_t>(0, next_ - 1));
    if (const auto found = timed_.find(step); found != timed_.end()) return found->second;
    if (const auto found = records_.find(step); found != records_.end()) return found->second;
    const nn::Checkpoint now = fast_->checkpoint();
    restore(*fast_, step);
    auto record = std::make_shared<nn::StepRecord>(fast_->step());
    fast_->restore(now);
    keep(record);
    return record;
}

StepPointer TrainingRun::timed(int64_t step, std::stop_token stop, const std::function<void(size_t)>& each) {
    if (const auto found = timed_.find(step); found != timed_.end()) return found->second;
    const nn::Checkpoint now = fast_->checkpoint();
    restore(*fast_, step);
    const nn::Checkpoint before = fast_->checkpoint();
    fast_->restore(now);
    nn::TrainerOptions wanted = options(true);
    wanted.stop = std::move(stop);
    nn::Trainer trainer(wanted);
    trainer.restore(before);
    size_t launches = 0;
    trainer.on_launch = [&](const device::LaunchEvent&) { each(++launches); };
    auto record = std::make_shared<nn::StepRecord>(trainer.step());
    timed_[step] = record;
    while (timed_.size() > most_timed)
        timed_.erase(timed_.begin()->first == step ? std::prev(timed_.end()) : timed_.begin());
    return record;
}

void TrainingRun::set_gpu(const std::string& gpu) {
    if (gpu == gpu_) return;
    const nn::Checkpoint now = fast_->checkpoint();
    const std::string before = gpu_;
    gpu_ = gpu;
    try {
        auto other = std::make_unique<nn::Trainer>(options(false));
        other->restore(now);
        fast_ = std::move(other);
    } catch (...) {
        gpu_ = before;
        throw;
    }
    timed_.clear();
}

void TrainingRun::evaluate() {
    nn::Evaluation evaluation = fast_->evaluate(512);
    evaluation.step = next_ - 1;
    curve_.accuracy.push_back(evaluation);
}

Curve TrainingRun::comparison() const {
    Curve curve;
    curve.name = "lr 1.0, finished";
    nn::TrainerOptions o;
    o.learning_rate = 1.0;
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
