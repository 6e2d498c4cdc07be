// One rank's part of training: its blocks, buckets, optimiser and clock, and one step after the other. trainer.h has the run
// of all ranks; on MPI each process holds one of these.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/nn/layers/optim.h"
#include "core/parallel/pipeline/pipeline.h"
#include "core/parallel/train/data_parallel.h"
#include "core/parallel/train/zero.h"

namespace lockstep::parallel {

struct RankPiece {     // of a whole array: what one rank holds of it over tp and pp
    std::string name;  // "layers.0.attention.q.weight", "optimizer.fc1.weight.exp_avg", "optimizer.settings"
    std::vector<int64_t> full;
    int axis = -1;
    int64_t parts = 1, part = 0;
    Array array;
};

bool never_flushes(const ParallelPlan& plan);
void check_parallel_options(const ParallelOptions& options, const ModelShape& shape);  // throws Failure
Schedule schedule_of(const ParallelOptions& options);                                  // for pp > 1

Array cut_from(const Array& whole, int axis, int64_t parts, int64_t part);
void paste_into(Array& whole, const RankPiece& piece);

class RankTrainer {
  public:
    // `calls`, where given, holds the collectives of the newest step, beyond the end of this too. `apart`: its gradients are
    // those of its own examples, added over no other rank (asynchronous.h).
    RankTrainer(const ParallelOptions& options, comm::Communicator& world, const OpTimes& times, const Examples& examples,
                std::shared_ptr<CollectiveCalls> calls = nullptr, bool apart = false);
    ~RankTrainer();

    struct Stepped {
        RankStep rank;
        double loss = 0;  // of the whole batch
        std::optional<PipelineRow> row;
    };
    Stepped step();
    // Of a schedule that never flushes: all of options.steps, one after another without a moment between them.
    std::vector<Stepped> steps_without_flush();
    bool has_batch() const;  // of the next step
    int64_t next_step() const { return next_; }

    std::vector<ParameterHolding> holdings() const;
    RankDigests digests() const;                        // of what it holds now
    Array replica(const std::string& parameter) const;  // its part of it; empty: it has none
    // The halves of a step (rank_halves.cpp), in buffers of weight_bytes().
    int64_t weight_bytes() const;
    bool keeps_statistics() const;              // which no gradient carries: of batch norm
    double gradients(std::span<std::byte> to);  // of the next batch; returns its loss
    void put_weights(std::span<const std::byte> from);
    void get_weights(std::span<std::byte> to) const;
    void update_with(std::span<const std::byte> gradients, int64_t step);  // at the rate of that step

    // What this rank contributes to a whole checkpoint; nothing where another one holds the same. All ranks call it.
    std::vector<RankPiece> pieces();
    // Takes its part of whole arrays; throws Failure before anything changes where one is missing or has another shape.
    void restore(const nn::NamedArrays& whole, int64_t next_step);

  private:
    struct Learning;  // the optimiser's parameters
    void build();
    void add_over_copies();
    void make_learning();
    void wrap_blocks();
    void train_alone(Stepped& stepped);
    void train_pipeline(Stepped& stepped);
    void update();
    void turn_bit();                                                             // told so: of this step
    void check_told() const;                                                     // throws Failure
    comm::Piece weights_of(const Bucket& bucket, const BucketSlot& slot) const;  // its part of the weights
    tensor::Tensor held_of(const Bucket& bucket, const BucketSlot& slot, const comm::Piece& piece) const;
    double sum_squares(std::span<const double> squares);
    bool is_first_replica() const { return !replicas_ || replicas_->rank() == 0; }
    bool keeps_copies() const;  // the optimizer, of weights: of half ones, or offloaded
    bool is_of_second_copy(std::string_view buffer) const;
    // Of one bucket, under the names that a checkpoint gives them; kind: "" the weights, "exp_avg", ...
    void add_whole_pieces(std::vector<RankPiece>& all, const Bucket& bucket, const std::string& kind);
    void add_cut_pieces(std::vector<RankPiece>& all, const Bucket& bucket, const std::string& kind);
    void check_whole(const nn::NamedArrays& whole) const;  // throws Failure
    void restore_weights(const Bucket& bucket, const std::vector<std::byte>& flat);
    MemoryBytes memory_now() const;
    void note_memory();
    double loss_over_all(double own);
    // Of two ranks with the same stage the first one's counts; of one alone always.
    bool first_copy(int stage) const { return schedule_.rank_of(stage, 0) == rank_.along("pp"); }

    double share_of(int part) const;  // of the loss, that a micro-batch's mean has

    ParallelOptions options_;
    const Examples& examples_;
    const bool apart_;
    RankLog log_;
    std::unique_ptr<comm::Communicator> world_;
    std::unique_ptr<device::Device> device_, host_;  // host_: with offload, where the optimiser lives
    tensor::HeapListener listener_;
    tensor::Heap heap_;
    std::optional<tensor::Heap> host_heap_;
    tensor::Tape tape_, launches_;
    std::optional<tensor::Tape> update_;  // where the optimiser lives
    Rank rank_;
    Schedule schedule_;
    std::vector<BlockRange> stages_, held_;
    std::vector<int> held_stages_;  // of a pipeline: those of held_
    std::unique_ptr<ParallelModel> model_;
    std::unique_ptr<comm::Communicator> replicas_;
    std::unique_ptr<Buckets> buckets_;
    std::unique_ptr<GatheredBlocks> gathered_;
    std::unique_ptr<Compressor> compressor_;
    std::unique_ptr<Learning> learning_;
    std::vector<uint64_t> hooked_;  // by parameter: the pass whose leaf tells of its gradient
    int64_t next_ = 0;
    RankStep* noting_ = nullptr;  // whose memory is being watched
    int64_t peak_ = 0;
};

}  // namespace lockstep::parallel
