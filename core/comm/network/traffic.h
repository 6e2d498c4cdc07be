// Who has a link when. Messages take every link of their route for bytes / bandwidth; the head goes on to the next link a
// latency after it entered the last (cut-through), the tail arrives last. Links are given out in order of carry() calls; a
// message takes the time that earlier ones have left free, from its own time on. PendingMessages settles that order for
// networks whose links ranks share: by the time of sending, then rank, then number.
#pragma once
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "core/comm/network/network.h"

namespace lockstep::comm {

struct LinkUse {
    int64_t bytes = 0, messages = 0;
    double busy_us = 0;
};
struct NetworkUse {
    std::vector<LinkUse> links;  // beside Network::links
};

struct LinkSpan {  // a link that carries (a part of) a message
    int link = 0;
    int64_t message = 0;  // as named in carry()
    double begin_us = 0, end_us = 0;
};

class Traffic {
  public:
    explicit Traffic(const Network& network) : network_(network), busy_(network.links.size()) {
        use_.links.resize(network.links.size());
    }

    struct Passage {
        double begin_us = 0, arrival_us = 0;  // the first byte enters the first link, the last is there
    };
    Passage carry(int from, int to, int64_t bytes, double sent_us, int64_t message = 0);
    const NetworkUse& use() const { return use_; }
    const Network& network() const { return network_; }
    std::vector<LinkSpan>* spans = nullptr;  // where set: every piece of busy time

  private:
    struct Busy {
        double begin = 0, end = 0;
    };
    Busy reserve(std::vector<Busy>& busy, double from, double duration, int link, int64_t message);

    const Network& network_;
    std::vector<std::vector<Busy>> busy_;  // by link, in order, apart from each other
    std::vector<int> way_;
    NetworkUse use_;
};

struct PendingMessage {
    double sent_us = 0;
    int from = 0;
    uint64_t number = 0;  // of the sender's messages
    int to = 0;
    int64_t bytes = 0;
    void* box = nullptr;  // whose it is, for whoever settles it
    uint64_t place = 0;

    bool operator>(const PendingMessage& other) const {
        if (sent_us != other.sent_us) return sent_us > other.sent_us;
        return from != other.from ? from > other.from : number > other.number;
    }
};

class PendingMessages {
  public:
    void push(const PendingMessage& message) { queue_.push(message); }
    bool empty() const { return queue_.empty(); }
    // For when nobody runs: settles messages in order until one of them lets somebody go on before the next was sent.
    // arrived(message, passage) returns when its receiver goes on, infinity when it still waits.
    template <class Arrived>
    void settle(Traffic& traffic, Arrived arrived) {
        double goes_on = std::numeric_limits<double>::infinity();
        while (!queue_.empty() && queue_.top().sent_us < goes_on) {
            const PendingMessage message = queue_.top();
            queue_.pop();
            const auto passage =
                traffic.carry(message.from, message.to, message.bytes, message.sent_us, static_cast<int64_t>(message.place));
            goes_on = std::min(goes_on, arrived(message, passage));
        }
    }

  private:
    std::priority_queue<PendingMessage, std::vector<PendingMessage>, std::greater<>> queue_;
};

}  // namespace lockstep::comm
