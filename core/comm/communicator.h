// The seam between ranks. One of the three virtual interfaces. Collectives are lists of steps over send and receive.
#pragma once
#include <cstddef>
#include <span>

namespace lockstep::comm {

class Communicator {
  public:
    virtual ~Communicator() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual void send(int to, std::span<const std::byte> bytes) = 0;
    virtual void receive(int from, std::span<std::byte> bytes) = 0;
    virtual double time_us() const = 0;   // this rank's virtual clock
    virtual void compute(double us) = 0;  // advances it: work that took `us`
};

}  // namespace lockstep::comm
