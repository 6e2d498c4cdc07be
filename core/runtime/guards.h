// Memory of the host that the device may still use: pinned and managed memory of copies and kernels that the host has not
// waited for, and what was freed. Between the calls of the runtime its pages are closed; who touches it then is told once
// for each piece of work, and goes on.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/runtime/report/report.h"
#include "core/system/guard.h"

namespace lockstep::runtime {

struct Guard {
    uint64_t begin = 0, end = 0;   // the bytes
    uint64_t first = 0, last = 0;  // the pages that may be closed for them: [first, last)
    bool reads_too = false;        // the device writes it: the host may not even read
    bool is_freed = false;         // for good
    uint32_t stream = 0;
    uint64_t number = 0;  // of the work in its stream (order.h)
    std::string memory;   // "'h_out' (allocated at main.cu:7)"
    std::string work;     // "the copy device to host in stream 1 (main.cu:9)"
};

class HostGuards {
  public:
    bool empty() const { return guards_.empty(); }
    void add(Guard guard);
    void forget(uint64_t begin);  // what begins there, for good: it is opened
    // While the runtime works all is open. Behind the call what is over is let go, and the rest is closed.
    void open();
    void close(const std::function<bool(const Guard&)>& is_over);
    // Who touched closed memory: the guards that say no, with a sentence; the pages are open until the next call.
    std::vector<std::string> touched(const system::RefusedAccess& access, const std::string& where);
    bool holds(uint64_t address) const;  // in a page that it may close

  private:
    void set(const Guard& guard, system::PageAccess access);
    std::vector<Guard> guards_;
    bool closed_ = false;
};

}  // namespace lockstep::runtime
