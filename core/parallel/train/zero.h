// ZeRO's formulas, and its third stage at work: weights that are gathered for a block's forward, let go, and gathered again
// for its backward. What backward saved of them is handed over to the new memory (Tape::let_go, bring_back); nothing is
// computed twice. An op that changes nothing at the end of every block tells when backward comes to it.
#pragma once
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "core/parallel/train/buckets.h"

namespace lockstep::parallel {

// Bytes a parameter of a rank's weights, gradients and Adam's state, over `ranks`. Mixed precision (half weights and
// gradients, f32 master weights and two moments: 2 + 2 + 12): 16, 4 + 12/N, 2 + 14/N, 16/N. With f32 or f64 throughout, of
// e bytes, the optimiser keeps two moments and no master weights: 4e, 2e + 2e/N, e + 3e/N, 4e/N.
struct ModelState {
    double weights = 0, gradients = 0, optimizer = 0;
    double sum() const { return weights + gradients + optimizer; }
};
ModelState zero_bytes(int zero, int ranks, DType dtype);
// Elements that a rank sends in a step over `ranks` with a ring, in parameters: 2P, 2P, 2P, 3P times (N - 1)/N; with
// zero 2 and 3 the gradients' share once a micro-batch, or as often as a pipeline's rank reduces them (`reductions`), and
// with zero 3 the weights' twice a micro-batch.
double zero_traffic(int zero, int ranks, int microbatches = 1, int reductions = 0);

class GatheredBlocks {  // zero 3
  public:
    // `buckets_of`: by block, those that it uses; `neighbours`: whether a block and the next are in one run.
    GatheredBlocks(Buckets& buckets, Rank& rank, std::vector<std::vector<size_t>> buckets_of, std::vector<int> run_of);
    void begin_step() { blocks_away_.clear(); }

    using Inside = std::function<tensor::Variable()>;
    tensor::Variable forward(tensor::Tape& tape, int block, const Inside& inside);
    void let_go_all();

    struct Away {  // a block whose forward is over, on one tape
        GatheredBlocks* owner = nullptr;
        int block = 0;
        struct Kept {
            size_t bucket = 0;
            std::vector<tensor::Tape::SavedPlace> places;
        };
        std::vector<Kept> kept;
    };
    void backward_begins(const Away& away, tensor::Tape& tape);

  private:
    void need(int block, double from_us);
    void ahead(int block, int of);  // `of` begins now: gathers `block` beside it, if they are in one run
    void let_go_but(int block, int other);
    bool has(int block) const { return block >= 0 && static_cast<size_t>(block) < buckets_of_.size(); }

    Buckets& buckets_;
    Rank& rank_;
    std::vector<std::vector<size_t>> buckets_of_;
    std::vector<int> run_of_;
    std::deque<Away> blocks_away_;
};

}  // namespace lockstep::parallel
