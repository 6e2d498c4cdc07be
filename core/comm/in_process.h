// Ranks as threads of this process, with virtual clocks. A message carries the time it was sent; a receive completes at
// max(receiver's time, arrival), arrival = when the sender's link has carried it. So times do not depend on how the threads
// happen to run. Sending never waits for the receiver; a ring of receivers that wait for each other is a Deadlock: a value.
// A rank whose program throws has died: the others go on as far as they can without it, then the run ends with its name.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/communicator.h"

namespace lockstep::comm {

struct Link {
    double latency_us = 0;
    double bytes_per_us = 0;  // 0: a message takes the latency alone. 1 GB/s = 1000 bytes per microsecond
};

struct Wait {  // a rank that waits for a message; ranks are numbered as in the whole run
    int rank = 0, from = 0;
    bool finished = false;  // the one waited for has ended
    bool operator==(const Wait&) const = default;
};

struct Deadlock {
    std::vector<Wait> waits;   // in order of rank
    std::string text() const;  // "rank 0 waits for rank 1; rank 1 waits for rank 0"
};

struct Death {
    int rank = 0;
    std::string why;           // what its program threw
    std::string text() const;  // "rank 2 died: ..."
};

struct RankResult {
    double time_us = 0;  // the latest of its virtual clocks at the end
    uint64_t bytes_sent = 0, messages_sent = 0;
    std::string failure;  // what its program threw, or empty
};

struct GroupResult {
    std::vector<RankResult> ranks;
    std::optional<Deadlock> deadlock;  // none when a rank died: those that waited for it waited for a reason
    std::optional<Death> died;         // the first, in order of ranks
    std::string problem() const;       // what ended the run early, in one sentence; empty: nothing
};

inline constexpr int max_streams = 64;  // a rank

// Runs `program` once a rank, each on a thread of its own, over equal links. A receive of another size than was sent throws
// Failure in the receiver. Ranks in a deadlock are ended by an exception of their own; the result says who waited for whom.
GroupResult run_in_process(int ranks, const Link& link, const std::function<void(Communicator&)>& program);

}  // namespace lockstep::comm
