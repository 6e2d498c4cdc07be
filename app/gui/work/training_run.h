// A training run that can be paused, scrubbed and timed. The fast trainer runs the steps one after another, on the host or
// with every kernel executed from its PTX without timing; the step on show is run again on the timed model from the same
// state, bit for bit, with traces. Kept at most: records of 48 MiB and state of 64 MiB before steps; older steps are
// computed again from the state before them. A model whose values take long to copy trains without them, and now and then,
// and where it is looked at, a step runs with them. Used by the session's worker thread alone.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "app/gui/session.h"
#include "core/nn/train/diagnose.h"
#include "core/nn/train/trainer.h"

namespace lockstep::gui {

using StepPointer = std::shared_ptr<const nn::StepRecord>;

class TrainingRun {
  public:
    TrainingRun(TrainingSetup setup, std::string gpu, std::stop_token stop);

    // The next step, untimed. Null: it was one of a large model that kept no values; `whole`: it keeps them. `follows`: the
    // graph of one element is told as well, where that is quick.
    StepPointer advance(bool whole = true, bool follows = true);
    // A step that was run before; kept or computed again, which `progress` hears of, a share from 0 to 1.
    using Progress = std::function<void(double share)>;
    StepPointer at(int64_t step, const Progress& progress = {});
    // The same step to be looked at: one element followed through its graph and, on a modelled GPU, on the timed model with
    // a KernelRun for every launch. `each` hears of every launch.
    StepPointer looked_at(int64_t step, std::stop_token stop,
                          const std::function<void(size_t launches, const device::LaunchEvent& last)>& each);
    // The same step on setup().ranks ranks, on virtual clocks of this GPU; null for one rank. Throws Failure: a batch that
    // does not divide.
    std::shared_ptr<const parallel::ParallelStepRecord> on_ranks(int64_t step, std::stop_token stop);
    void set_gpu(const std::string& gpu);   // forgets what was timed, keeps what was learned
    void reopen(std::stop_token stop);      // after a step that was stopped
    void evaluate();                        // a point of the second curve
    void diagnose();                        // what shows only at the end of a run: to be told where it rests
    bool evaluates(int64_t step) const;     // whether one is due after this step
    std::string write(int64_t characters);  // of a language model; "" of others

    Curve comparison() const;  // 100 steps with twice the learning rate, on the host device: the same mathematics, fast

    const TrainingSetup& setup() const { return setup_; }
    int64_t next_step() const { return next_; }
    StepPointer first() const { return first_; }
    const Curve& curve() const { return curve_; }
    Curve& curve() { return curve_; }

  private:
    nn::TrainerOptions options(bool timed, bool whole = true) const;
    void open_fast();
    void note(const nn::StepRecord& record);
    void restore(nn::Trainer& trainer, int64_t step, const Progress& progress = {});  // all as it was before `step`
    void keep(StepPointer record);

    TrainingSetup setup_;
    std::string gpu_;
    std::stop_token stop_;
    std::unique_ptr<nn::Trainer> fast_;
    bool large_ = false;  // its steps record their values only where they are wanted
    int64_t next_ = 0;
    StepPointer first_;
    std::map<int64_t, StepPointer> records_, looked_at_;
    std::shared_ptr<const parallel::ParallelStepRecord> on_ranks_;
    std::map<int64_t, nn::Checkpoint> checkpoints_;  // before the step
    int64_t checkpoint_every_ = 1;
    nn::Diagnosis diagnosis_;
    int64_t diagnosed_ = 0;  // the steps when diagnose() last looked
    Curve curve_;
};

int64_t bytes_of(const nn::StepRecord& record);  // of its host copies

}  // namespace lockstep::gui
