// Which pieces of work are ordered: by their stream, by events, by the default stream and by a host that waits. Two that
// touch the same bytes, one of them writing, with nothing that orders them, are a race between streams, however it went
// today.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/report/report.h"

namespace lockstep::runtime {

struct Touch {  // bytes [begin, end) of memory
    uint64_t begin = 0, end = 0;
    bool writes = false;
};

class WorkOrder {
  public:
    struct Piece {
        std::string name;  // "the kernel scale", "the copy from host to device"
        uint32_t stream = 0;
        CallSite site;
    };
    struct Race {
        Piece earlier;
        uint64_t address = 0;  // the first byte that both touch
        bool earlier_writes = false, later_writes = false;
    };

    void set_independent(uint32_t stream) { independent_[stream] = true; }  // of the default stream
    // A piece of work is given to its stream. A race with an earlier one, the first that is found.
    std::optional<Race> add(const Piece& piece, std::span<const Touch> touches);
    uint64_t count(uint32_t stream) { return count_[stream]; }                             // of its pieces so far
    bool host_knows(uint32_t stream, uint64_t number) { return host_[stream] >= number; }  // that it is over
    void record(uint32_t event, uint32_t stream);
    void wait(uint32_t stream, uint32_t event);
    void host_waits_for_stream(uint32_t stream);
    void host_waits_for_event(uint32_t event);
    void host_waits_for_all();

  private:
    using Clock = std::map<uint32_t, uint64_t>;  // stream -> how many of its pieces are known to be over
    static void join(Clock& clock, const Clock& other);
    void enter(uint32_t stream);  // what the stream's next piece waits for

    struct Seen {
        Touch touch;
        Piece piece;
        uint64_t number = 0;  // in its stream
    };
    std::map<uint32_t, bool> independent_;
    std::map<uint32_t, uint64_t> count_;
    std::map<uint32_t, Clock> streams_, events_;
    Clock host_;
    std::vector<Seen> seen_;  // whose end the host does not know of
};

}  // namespace lockstep::runtime
