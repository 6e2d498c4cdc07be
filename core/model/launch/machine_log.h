// Writes the MachineTrace while the SMs run. Memory is bounded: the requests of the traced SM are kept up to a number; of
// the others' one in n, and n doubles when there are too many; the issues of all SMs end with a stretch; queues are sums
// over windows that double.
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/model/issue/ticks.h"
#include "core/model/memory/memory_system.h"
#include "core/model/metrics/doubling_windows.h"
#include "core/trace/machine_trace.h"

namespace lockstep::model {

struct RequestWay {  // of one line's request, in Ticks
    Ticks since = 0, left = 0;
    uint32_t wanted = 0;
    RequestKind kind = RequestKind::load;
};

class MachineLog {
  public:
    struct Limits {
        uint64_t own = 400'000;       // requests of the traced SM
        uint64_t others = 100'000;    // requests of the others
        uint64_t issues = 2'000'000;  // of all SMs together, each with its share
    };
    // `busy_sms`: those that any block comes to; they share the issues. 0: all.
    MachineLog(const GpuSpec& gpu, uint32_t traced_sm, uint64_t busy_sms, const Limits& limits);
    MachineLog(const GpuSpec& gpu, uint32_t traced_sm, uint64_t busy_sms) : MachineLog(gpu, traced_sm, busy_sms, Limits{}) {}

    bool wants_hits(uint32_t sm) const { return sm == traced_; }
    void hit(const Asker& asker, uint64_t line, uint32_t wanted, Ticks since, Ticks left, Ticks ready);
    void request(const Asker& asker, uint64_t line, const RequestWay& way, const Served& served);
    // Threads may call this side by side, each for SMs of its own; all else is the launch's own thread's.
    void issue(uint32_t sm, uint32_t scheduler, int64_t cycle, uint32_t pc) {
        Issues& own = issues_[sm];
        if (cycle >= own.until) return;
        if (own.kept.size() == issues_a_sm_)
            own.until = cycle;
        else
            own.kept.push_back({cycle, pc, scheduler});
    }

    // `first_issue`: number of the traced SM's first issue that the trace keeps, and how many those are.
    MachineTrace finish(int64_t cycles, int64_t first_issue, size_t issues_kept) const;

  private:
    struct Issue {
        int64_t cycle;
        uint32_t pc, scheduler;
    };
    void keep(const Asker& asker, const RequestRecord& request);

    Limits limits_;
    uint32_t traced_;
    MachineTrace trace_;  // what is known from the beginning
    std::vector<RequestRecord> own_, others_;
    uint64_t every_ = 1, seen_ = 0;
    int64_t own_until_ = INT64_MAX;
    struct alignas(64) Issues {
        std::vector<Issue> kept;
        int64_t until = INT64_MAX;  // the cycle of the first one for which there was no room
    };
    uint64_t issues_a_sm_;
    std::vector<Issues> issues_;                // by SM
    DoublingWindows<uint64_t> waiting_, busy_;  // Ticks: by channel; by slice
    DoublingWindows<uint64_t> reads_;           // bytes by channel
};

}  // namespace lockstep::model
