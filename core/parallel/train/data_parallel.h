// The data of many ranks: which examples a rank's micro-batch holds, and what of each. Data-parallel workers take runs of
// the step's batch, so that together they see the serial run's batch in order; context-parallel ranks take their places of
// every sequence (places_of), and the ranks of a tp or pp group all see the same.
#pragma once
#include <functional>
#include <memory>

#include "core/nn/train/task.h"
#include "core/parallel/train/trainer.h"

namespace lockstep::parallel {

class Examples {  // one for all ranks of a process; thread-safe
  public:
    explicit Examples(const ParallelOptions& options);  // throws Failure: a model without batches, unknown data
    ~Examples();

    // Micro-batch `part` of a step as this rank sees it, on its heap.
    MicroBatch micro_batch(Rank& rank, int64_t step, int part, DType dtype) const;
    double share(const Rank& rank, int part) const;  // of the step's examples
    const ModelShape& shape() const { return shape_; }

  private:
    struct Made;
    bool language() const { return shape_.decodes(); }
    void draw_from_set(int worker, int workers, int64_t step, nn::Batch& batch) const;
    ParallelOptions options_;
    ModelShape shape_;
    std::unique_ptr<Made> made_;
    std::function<void(uint64_t step, nn::Batch& batch)> make_;
};

}  // namespace lockstep::parallel
