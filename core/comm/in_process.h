// Ranks as threads of this process, with virtual clocks. A message carries the time it was sent; a receive completes at
// max(receiver's time, arrival), arrival = when the network has carried it. So times do not depend on how the threads
// happen to run: where ranks share links, messages are settled when no rank can go on, in order of their time of sending.
// Sending never waits for the receiver; a ring of receivers that wait for each other is a Deadlock: a value. A rank whose
// program throws has died: the others go on as far as they can without it, then the run ends with its name.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/events.h"
#include "core/comm/network/link.h"
#include "core/comm/network/traffic.h"

namespace lockstep::comm {

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
    std::vector<RankEvent> events;
    uint64_t events_left_out = 0;  // after the first RunOptions::events
};

struct GroupResult {
    std::vector<RankResult> ranks;
    std::optional<Deadlock> deadlock;  // none when a rank died: those that waited for it waited for a reason
    std::optional<Death> died;         // the first, in order of ranks
    NetworkUse use;                    // of the network's links
    std::string problem() const;       // what ended the run early, in one sentence; empty: nothing
};

struct RunOptions {
    size_t events = 1 << 16;  // that a rank keeps; 0: none
};

// Runs `program` once a rank, each on a thread of its own. A receive of another size than was sent throws Failure in the
// receiver. Ranks in a deadlock are ended by an exception of their own; the result says who waited for whom. The work of a
// slow rank (Network::slowness) takes longer.
GroupResult run_in_process(const Network& network, const std::function<void(Communicator&)>& program,
                           const RunOptions& options = {});
GroupResult run_in_process(int ranks, const Link& link, const std::function<void(Communicator&)>& program,
                           const RunOptions& options = {});  // over the ideal network of such links

}  // namespace lockstep::comm
