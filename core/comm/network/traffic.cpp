#include "core/comm/network/traffic.h"

#include <algorithm>

namespace lockstep::comm {

Traffic::Passage Traffic::carry(int from, int to, int64_t bytes, double sent_us, int64_t message) {
    network_.route(from, to, way_);
    Passage passage{sent_us, sent_us};
    double head = sent_us, tail = sent_us;  // at the link's near end
    for (size_t i = 0; i < way_.size(); ++i) {
        const auto index = static_cast<size_t>(way_[i]);
        const Link& link = network_.links[index].link;
        const double duration = link.bytes_per_us > 0 ? static_cast<double>(bytes) / link.bytes_per_us : 0;
        const Busy taken = reserve(busy_[index], head, duration, way_[i], message);
        if (i == 0) passage.begin_us = taken.begin;
        head = taken.begin + link.latency_us;
        tail = std::max(taken.end, tail) + link.latency_us;
        LinkUse& use = use_.links[index];
        use.bytes += bytes;
        ++use.messages;
        use.busy_us += duration;
    }
    passage.arrival_us = tail;
    return passage;
}

Traffic::Busy Traffic::reserve(std::vector<Busy>& busy, double from, double duration, int link, int64_t message) {
    constexpr size_t most_kept = 4096;  // what lies before them counts as taken
    if (busy.size() >= most_kept) busy.erase(busy.begin(), busy.begin() + most_kept / 2);
    if (busy.size() >= most_kept / 2) from = std::max(from, busy.front().begin);
    const auto note = [&](double begin, double end) {
        if (spans) spans->push_back({link, message, begin, end});
    };
    auto next = busy.empty() || from >= busy.back().end  // the usual case: after all others
                    ? busy.end()
                    : std::upper_bound(busy.begin(), busy.end(), from, [](double t, const Busy& b) { return t < b.end; });
    double at = from;
    if (next != busy.end() && next->begin <= at) at = next++->end;
    Busy taken{at, at};
    if (duration <= 0) return taken;
    const auto first = next;
    double left = duration;
    for (;; ++next) {
        const double room = next == busy.end() ? left : next->begin - at;
        const double piece = std::min(left, room);
        note(at, at + piece);
        taken.end = at + piece;
        left -= piece;
        if (left <= 1e-12 * duration) break;
        at = next->end;
    }
    // Everything from `first` to before `next` has been run into one with what was taken; neighbours that it touches too.
    auto begin = first, end = next;
    if (begin != busy.begin() && std::prev(begin)->end >= taken.begin) --begin;
    Busy joined = taken;
    if (begin != first) joined.begin = begin->begin;
    if (end != busy.end() && end->begin <= joined.end) joined.end = end++->end;
    if (begin == end) {
        busy.insert(begin, joined);
    } else {
        *begin = joined;
        busy.erase(begin + 1, end);
    }
    return taken;
}

}  // namespace lockstep::comm
