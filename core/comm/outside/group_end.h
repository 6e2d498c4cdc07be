// What a rank's end of a group is whatever carries its messages: its place among the ranks, a virtual clock and the rank's
// log. Ranks as threads and as processes of MPI add how a message travels.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "core/comm/collectives/checks.h"
#include "core/comm/in_process.h"

namespace lockstep::comm {

class GroupEnd : public Communicator {
  public:
    int rank() const final { return rank_; }
    int size() const final { return static_cast<int>(ranks_.size()); }
    int world_rank(int member) const final { return ranks_.at(static_cast<size_t>(member)); }
    double time_us() const final { return clock_; }
    void advance(double us, std::string_view label) final {
        const double begin = clock_;
        clock_ += us * slowness_;
        log(RankEvent::Kind::work, -1, 0, begin, 0, label);
    }
    void wait_until(double us) final {
        const double begin = clock_;
        if (us <= begin) return;
        clock_ = us;
        log(RankEvent::Kind::wait, -1, 0, begin, 0, {});
    }

  protected:
    // `ranks`: of the world, by place in this group. `clock` and `result` outlive this, as do those who own them.
    GroupEnd(std::vector<int> ranks, int rank, int stream, double& clock, RankResult& result, size_t most_events,
             double slowness)
        : ranks_(std::move(ranks)),
          rank_(rank),
          stream_(stream),
          clock_(clock),
          result_(result),
          most_events_(most_events),
          slowness_(slowness) {}

    // What ends now; `peer` is a rank of the world, or -1.
    void log(RankEvent::Kind kind, int peer, int64_t bytes, double begin, uint64_t message, std::string_view label) {
        if (result_.events.size() < most_events_)
            result_.events.push_back({stream_, kind, peer, bytes, begin, clock_, message, std::string(label)});
        else
            ++result_.events_left_out;
    }
    // A message leaves now: the rank's number of it, from 1 on.
    uint64_t count_sent(int peer, int64_t bytes, std::string_view label) {
        result_.bytes_sent += static_cast<uint64_t>(bytes);
        const uint64_t number = ++result_.messages_sent;
        log(RankEvent::Kind::send, peer, bytes, clock_, number, label);
        return number;
    }
    // A message that arrives at `arrival_us` is there.
    void count_received(int peer, int64_t bytes, double arrival_us, uint64_t number, std::string_view label) {
        const double begin = clock_;
        clock_ = std::max(begin, arrival_us);
        log(RankEvent::Kind::receive, peer, bytes, begin, number, label);
    }

    const std::vector<int> ranks_;
    const int rank_, stream_;
    double& clock_;
    RankResult& result_;

  private:
    const size_t most_events_;
    const double slowness_;
};

}  // namespace lockstep::comm
