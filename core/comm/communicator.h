// The seam between ranks. One of the three virtual interfaces: ranks as threads (in_process.h), MPI processes, NCCL, and the
// network model alone, where messages have sizes and no bytes. A Communicator is one rank's end of a group, bound to one of
// the rank's streams. Collectives are lists of steps over send and receive (collectives.h) unless a library's own serves.
//
// Every stream has a virtual clock in microseconds: 0 computes, others communicate beside it. A message carries the time it
// was sent, a receive completes at the later of the receiver's clock and the arrival: times depend on the program alone.
//
//     auto data = world.group(mesh.along("dp", rank));           // the ranks of this rank's data-parallel group
//     auto beside = data->on(1);                                 // the same ranks, on a communication stream
//     beside->wait_until(world.time_us());                       // begins when the gradient is there
//     beside->all_reduce(Buffer{gradient, count, DType::f32});
//     world.wait_until(beside->time_us());                       // before the update
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/base/dtype.h"

namespace lockstep::comm {

enum class Reduction : uint8_t { sum, max, min };

struct Buffer {  // elements in host memory; data null: a size alone (planning)
    void* data = nullptr;
    int64_t count = 0;
    DType type = DType::f32;

    int64_t bytes() const { return count * static_cast<int64_t>(size_of(type)); }
    // `n` elements from `first` on.
    Buffer part(int64_t first, int64_t n) const {
        void* begin = data ? static_cast<std::byte*>(data) + first * static_cast<int64_t>(size_of(type)) : nullptr;
        return {begin, n, type};
    }
};

class Communicator {
  public:
    virtual ~Communicator() = default;
    virtual int rank() const = 0;  // within this group
    virtual int size() const = 0;
    virtual int world_rank(int member) const = 0;  // of a member of this group

    // Sending never waits for the receiver. A receive of another size than was sent throws Failure in the receiver.
    // `label`: what the trace shows.
    virtual void send(int to, const Buffer& buffer, std::string_view label = {}) = 0;
    virtual void receive(int from, const Buffer& buffer, std::string_view label = {}) = 0;
    // Receives and reduces: buffer = buffer + what arrives.
    virtual void receive_reduce(int from, const Buffer& buffer, Reduction reduction, std::string_view label = {});
    // A send whose buffer stays as it is until take_back(), so that it need not be copied. It is copied after all when every
    // rank waits, so that a lent message never blocks a program that a sent one would not.
    virtual void lend(int to, const Buffer& buffer, std::string_view label = {}) { send(to, buffer, label); }
    virtual void take_back() {}  // returns when everything lent has been read; takes no virtual time

    // A subgroup, in the order given (ranks of this group; this one is among them): all its members ask for it.
    virtual std::unique_ptr<Communicator> group(std::span<const int> ranks) = 0;
    // The same group on another of the rank's streams, with messages of its own.
    virtual std::unique_ptr<Communicator> on(int stream) = 0;

    virtual double time_us() const = 0;                                // this stream's virtual clock
    virtual void advance(double us, std::string_view label = {}) = 0;  // work that took `us`
    virtual void wait_until(double us) = 0;                            // forward to a time of another stream; never back

    // Collectives, in place where sizes allow. Every member calls them with the same counts and types, in the same order.
    virtual void all_reduce(const Buffer& buffer, Reduction reduction = Reduction::sum);
    virtual void reduce(const Buffer& buffer, int root,
                        Reduction reduction = Reduction::sum);  // others' contents: unspecified
    virtual void broadcast(const Buffer& buffer, int root);
    // `whole` is cut into size() pieces by piece_of(); `piece` is this rank's, and may lie in `whole`.
    virtual void all_gather(const Buffer& piece, const Buffer& whole);
    virtual void reduce_scatter(const Buffer& whole, const Buffer& piece, Reduction reduction = Reduction::sum);
    // size() equal parts each: part i of `from` goes to rank i, whose part this rank() of `to` it becomes.
    virtual void all_to_all(const Buffer& from, const Buffer& to);
    virtual void barrier();
};

}  // namespace lockstep::comm
