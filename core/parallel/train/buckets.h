// Parameters in buckets of flat memory: what data parallelism and ZeRO reduce, cut and gather. A bucket holds parameters
// side by side, in the order in which backward comes to them; the bucket's piece_of() the data-parallel group is what a rank
// owns.
//
//     zero 0   weights whole     gradients whole, all-reduced          every rank updates all
//     zero 1   weights whole     gradients whole, reduce-scattered     own piece updated, then all-gathered
//     zero 2   weights whole     own piece of the gradients            "
//     zero 3   own piece; gathered for a block's forward and again for its backward; gradients as zero 2
//
// A bucket goes off on the gradient stream when its last gradient is there, while backward goes on. With zero 2 and 3 that
// is whenever a rank turns to other weights: once a micro-batch, so that no rank keeps more than a bucket of whole
// gradients; in a pipeline whose ranks hold several stages once a run of micro-batches through one of them (ends_of_runs()),
// so that it keeps one stage's.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/collectives/collectives.h"
#include "core/parallel/blocks/model.h"
#include "core/parallel/train/compression.h"
#include "core/parallel/train/traffic.h"

namespace lockstep::parallel {

struct BucketSlot {        // a parameter's place
    size_t parameter = 0;  // in ParallelModel::shards
    int64_t offset = 0, count = 0;
    int arrived = 0;    // gradients of micro-batches, in this step
    bool fresh = true;  // nothing of it is in the flat gradients yet
};

struct Bucket {
    std::string name;   // "bucket 3"
    std::string holds;  // "fc1.weight to fc2.bias"
    int block = 0;      // of its first parameter
    std::vector<BucketSlot> slots;
    int64_t count = 0;  // with the padding that puts every parameter at a multiple of 16 bytes
    bool padded = false;
    DType dtype = DType::f32;
    comm::Piece piece;   // this rank's: zero 0: all of it
    bool late = false;   // reduced after backward: its gradients are parts that other ranks of the model have too
    bool counts = true;  // in norms (ShardedParameter::counts)
    comm::Communicator* add_over = nullptr;
    int passes = 0;  // reductions in this step
    int comes = 1;   // gradients of each parameter in a step

    tensor::Tensor weights;         // flat and whole; zero 3: while gathered
    tensor::Tensor weight_piece;    // zero 3
    double weights_ready_us = 0;    // zero 3: on the parameter stream
    tensor::Tensor gradients;       // flat and whole, while they are collected
    tensor::Tensor gradient_piece;  // zero 2 and 3

    tensor::Tensor own_weights() const;    // what this rank updates, null where it owns nothing
    tensor::Tensor own_gradients() const;  // complete after finish()
};

struct BucketPlan {
    int zero = 0;
    int64_t bytes = 25 << 20;           // of a bucket; 0: all at the end
    std::vector<int> block_of, run_of;  // by parameter: its block; buckets stay within a run of blocks (a pipeline's stage)
    std::vector<int> passes = {1};      // by run of blocks: how often gradients come in a step
};

class Buckets {
  public:
    // `replicas`: the ranks that hold the same parameters, null where there are no others; on stream 0. Broadcasts the first
    // one's weights. `launches`: for copies.
    Buckets(const BucketPlan& plan, Rank& rank, ParallelModel& model, comm::Communicator* replicas, RankLog& log,
            tensor::Tape& launches);

    std::vector<Bucket>& all() { return buckets_; }
    const BucketPlan& plan() const { return plan_; }

    void begin_step();
    // A micro-batch's gradient of a parameter.
    void arrived(size_t parameter, tensor::Tensor gradient);
    void finish();             // everything is reduced, and the compute stream has waited for it
    void release_gradients();  // after the update
    void share_weights();      // after the update: zero 1 and 2
    tensor::Tensor gradient_of(const Bucket& bucket, const BucketSlot& slot) const;  // zero 0, after finish()

    // zero 3. Gathering begins on the parameter stream no earlier than `from_us`; wait() is where a block needs it.
    void gather(Bucket& bucket, double from_us);
    void wait(Bucket& bucket);
    void let_go(Bucket& bucket);

    // A flat tensor of this type that is cut as the weights are, whole, on the host: every replica gets it. `own`: this
    // rank's piece, null where that is empty.
    std::vector<std::byte> whole_of(const Bucket& bucket, const tensor::Tensor& own, DType type, device::Device& of);

    Compressor* compressor = nullptr;  // of gradients; zero 0 alone

  private:
    void lay_out();
    void place_weights();
    void reduce(Bucket& bucket);
    void add_in(const tensor::Tensor& from, const tensor::Tensor& to, bool first);
    void fill_zero(const tensor::Tensor& tensor);
    tensor::Tensor view(const tensor::Tensor& flat, int64_t offset, const tensor::Shape& shape) const;
    void point_parameters(Bucket& bucket);

    BucketPlan plan_;
    Rank& rank_;
    ParallelModel& model_;
    comm::Communicator* replicas_;
    RankLog& log_;
    tensor::Tape& launches_;
    std::unique_ptr<comm::Communicator> gradient_group_, parameter_group_;           // replicas_ on their streams
    std::map<comm::Communicator*, std::unique_ptr<comm::Communicator>> added_over_;  // add_over, on the gradient stream
    std::vector<Bucket> buckets_;
    struct Place {
        size_t bucket = 0, slot = 0;
    };
    std::vector<Place> place_of_;  // by parameter
};

}  // namespace lockstep::parallel
