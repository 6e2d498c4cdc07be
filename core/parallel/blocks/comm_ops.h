// Collectives as ops on the tape. Each names its own opposite for backward: what one rank's gradient is follows from how
// the values were spread. A group of one, or none, is the caller's case: there it records nothing.
//
//     on the way in:   spread_copy       forward x itself,       backward all-reduce      (Megatron's f)
//     on the way out:  sum_over          forward all-reduce,     backward the gradient    (Megatron's g)
//     sequence parts:  gather_parts      forward all-gather,     backward reduce-scatter
//                      sum_to_parts      forward reduce-scatter, backward all-gather
//     the same values everywhere:
//                      take_part         forward one's own part, backward all-gather
//                      join_parts        forward all-gather,     backward one's own part
//     exchange         all-to-all: axis `split` is cut, axis `join` put together; backward the other way
//     shift            to the rank `by` places on; backward home again
//
// A host tensor is sent from where it lies, a simulated GPU's is copied out and in, on `meta` messages have sizes alone.
// What computes before them is first counted on the rank's clock; they take no time of their own but the messages'.
#pragma once
#include "core/comm/communicator.h"
#include "core/parallel/train/rank.h"
#include "core/tensor/tape.h"

namespace lockstep::parallel {

struct Crossing {  // a group, as the ops' context: outlives the tapes
    Rank* rank = nullptr;
    comm::Communicator* group = nullptr;
};

tensor::Variable spread_copy(tensor::Tape&, const tensor::Variable& x, const Crossing&, tensor::NodeName name);
tensor::Variable sum_over(tensor::Tape&, const tensor::Variable& x, const Crossing&, tensor::NodeName name);
tensor::Variable gather_parts(tensor::Tape&, const tensor::Variable& x, int64_t axis, const Crossing&,
                              tensor::NodeName name);
tensor::Variable sum_to_parts(tensor::Tape&, const tensor::Variable& x, int64_t axis, const Crossing&,
                              tensor::NodeName name);
tensor::Variable take_part(tensor::Tape&, const tensor::Variable& x, int64_t axis, const Crossing&, tensor::NodeName name);
tensor::Variable join_parts(tensor::Tape&, const tensor::Variable& x, int64_t axis, const Crossing&, tensor::NodeName name);
tensor::Variable exchange(tensor::Tape&, const tensor::Variable& x, int64_t split, int64_t join, const Crossing&,
                          tensor::NodeName name);
tensor::Variable shift(tensor::Tape&, const tensor::Variable& x, int by, const Crossing&, tensor::NodeName name);

// What gather_parts gives, in memory of its own and without a node: for backward.
tensor::Tensor gathered_again(tensor::Tape&, const tensor::Tensor& part, int64_t axis, const Crossing&,
                              const std::string& name);

// A contiguous tensor's memory as a message: in place on `host`, through a copy on a simulated GPU, a size alone on `meta`.
class Message {
  public:
    enum class Way : uint8_t { out, in, both };
    Message(device::Device& device, const tensor::Tensor& tensor, Way way);
    const comm::Buffer& buffer() const { return buffer_; }
    void done();  // what came in is in the tensor from here on

  private:
    device::Device& device_;
    device::Pointer at_;
    Way way_;
    comm::Buffer buffer_;
    std::vector<std::byte> copy_;
};
void all_reduce(comm::Communicator& group, device::Device& device, const tensor::Tensor& tensor,
                comm::Reduction reduction = comm::Reduction::sum);  // in place
void send(comm::Communicator& group, device::Device& device, int to, const tensor::Tensor& tensor, std::string_view label);
void receive(comm::Communicator& group, device::Device& device, int from, const tensor::Tensor& tensor,
             std::string_view label);

}  // namespace lockstep::parallel
