// Threads of the host that run SMs between two of their meetings with others (Sm::run_alone), beside the launch's own
// thread, which runs what the SMs share, in the order of cycles. An SM that is given away comes back before its next
// meeting, so what a launch reports is the same for any number of threads, none of them included.
#pragma once
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "core/model/issue/sm.h"

namespace lockstep::model {

class Crew {
  public:
    // So many threads beside the caller's, whose own are `host`. The SMs have to outlive it.
    Crew(const std::vector<std::unique_ptr<Sm>>& sms, const Sm::Host& host, uint32_t threads);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    void give(uint32_t sm, int64_t end);  // it runs alone up to that cycle, now or when it is wanted back
    bool is_away(uint32_t sm) const { return seats_[sm].state.load(std::memory_order_acquire) != State::here; }
    void take_back(uint32_t sm) {
        if (is_away(sm)) wait_for(sm);
        if (seats_[sm].error) std::rethrow_exception(seats_[sm].error);
    }
    // A cycle before which the SM that is away meets no other, behind `known` unless it is back: waits for that.
    int64_t progress(uint32_t sm, int64_t known);
    void renew();  // the caller's grid and counters are other ones now. Nothing may be away
    // What its threads have counted. Nothing may be away.
    template <class Visit>
    void each_count(const Visit& visit) const {
        for (const Member& member : members_) visit(member.windows);
    }

  private:
    enum class State : uint8_t { here, given, begun };
    struct alignas(64) Seat {
        std::atomic<State> state{State::here};
        int64_t end = 0;
        std::atomic<int64_t> at{0};
        std::exception_ptr error;  // what it threw
    };
    struct alignas(64) Member {
        simt::Grid grid;
        WindowRecorder windows;
    };
    void wait_for(uint32_t sm);
    bool run_here(uint32_t sm);  // where nobody has begun
    void work(Member& member);
    bool take(uint32_t& sm);  // the SM that waits longest; false: none does

    const std::vector<std::unique_ptr<Sm>>& sms_;
    Sm::Host host_;
    std::deque<Member> members_;
    std::vector<Seat> seats_;
    std::vector<std::atomic<uint32_t>> waiting_;           // a ring of SMs, some of which were taken back
    std::atomic<uint64_t> first_{0}, end_{0};              // of the ring
    std::atomic<uint32_t> bell_{0}, asleep_{0}, idle_{0};  // idle: awake, with nothing to do
    std::atomic<bool> over_{false};
    std::vector<std::jthread> threads_;  // the last member: they use all others
};

}  // namespace lockstep::model
