// A training run that can be paused, scrubbed and timed. The fast trainer executes every kernel of a step from its PTX
// without timing; the step on show is run again on the timed model from the same parameters, bit for bit, with traces.
// Kept at most: 64 whole StepRecords (about 1 MB each for the 784-128-10 network) and 64 checkpoints; older steps
// are computed again from the checkpoint before them. Used by the session's worker thread alone.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "app/gui/session.h"
#include "core/nn/trainer.h"

namespace lockstep::gui {

using StepPointer = std::shared_ptr<const nn::StepRecord>;

class TrainingRun {
  public:
    TrainingRun(std::string gpu, std::stop_token stop);  // 784-128-10 on drawn digits, batch 64, learning rate 0.5

    StepPointer advance();         // the next step, untimed
    StepPointer at(int64_t step);  // a step that was run before; kept or computed again
    // The same step on the timed model, with a KernelRun for every launch. `each` hears of every launch.
    StepPointer timed(int64_t step, std::stop_token stop, const std::function<void(size_t launches)>& each);
    void set_gpu(const std::string& gpu);  // forgets what was timed, keeps what was learned
    void evaluate();                       // a point of the accuracy curve

    Curve comparison() const;  // 100 steps with twice the learning rate, on the host device: the same mathematics, fast

    int64_t next_step() const { return next_; }
    StepPointer first() const { return first_; }
    const Curve& curve() const { return curve_; }
    Curve& curve() { return curve_; }

  private:
    nn::TrainerOptions options(bool timed) const;
    void open_fast();
    void restore(nn::Trainer& trainer, int64_t step);  // all as it was before `step`
    void keep(StepPointer record);

    std::string gpu_;
    std::stop_token stop_;
    std::unique_ptr<nn::Trainer> fast_;
    int64_t next_ = 0;
    StepPointer first_;
    std::map<int64_t, StepPointer> records_, timed_;
    std::map<int64_t, nn::Checkpoint> checkpoints_;  // before the step
    int64_t checkpoint_every_ = 1;
    Curve curve_;
};

}  // namespace lockstep::gui
