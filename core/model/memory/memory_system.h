// What all SMs share behind their L1: the L2 slices and the DRAM channels. An L2 of no bytes holds nothing: each request
// goes on to DRAM. A request reserves its whole way when it is made: each queue says when it is served, and the answer is
// the time at which the data is back at the SM. Without other traffic that is exactly `sent` + the spec's latency, counted
// from the issue of the instruction. Copyable.
//
// Where L2 has two halves (A100, H100), a line lives in one of them; the other half keeps a copy for its own SMs as long as
// half the cache has room for it, and has to ask across the chip otherwise.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/model/issue/ticks.h"
#include "core/model/launch/ideal.h"
#include "core/model/memory/cache.h"
#include "core/model/memory/dram.h"
#include "core/model/memory/turn.h"
#include "core/model/metrics/doubling_windows.h"
#include "core/trace/kernel_trace.h"

namespace lockstep::model {

class MachineLog;  // launch/machine_log.h

struct Asker {           // of a memory instruction: whose it is
    int64_t issue = -1;  // number on its SM
    uint32_t pc = 0, block = 0;
    uint16_t warp = 0, sm = 0;
};

struct Served {
    Ticks ready = 0;     // the data is back at the SM
    Ticks accepted = 0;  // the request has left the SM: later ones may follow
    MemoryLevel level = MemoryLevel::l2;
    uint32_t hits = 0;                         // sectors that L2 had
    uint32_t dram_read = 0, dram_written = 0;  // bytes
    Ticks queued = 0;                          // of an atomic: behind others at its slice, its own lanes included
    Ticks taken = 0, sent = 0;                 // its slice takes it; where it goes to DRAM, its channel
    Ticks turn = 0, takes = 0;                 // the slice's time that is its own: from when, and for how long
    uint32_t slice = 0, channel = 0;
};

// What L2 holds between two launches, with what of it is not in DRAM yet. `lines` without sets: nothing.
struct L2State {
    Cache lines;
};
// The same as words, two a line, and back; of an L2 of this GPU.
std::vector<uint64_t> packed_from(const L2State& state);
L2State l2_from(const GpuSpec& gpu, std::span<const uint64_t> packed);

class MemorySystem {
  public:
    static constexpr uint32_t all_words = ~0u;
    explicit MemorySystem(const GpuSpec& gpu, const Idealised& ideal = {});
    const Idealised& ideal() const { return ideal_; }

    // `since`: when the instruction issued; `sent`, not before that: when the request leaves the SM. Requests come here in
    // the order of their issue. `half`: of the chip, in which the asking SM is (half_of_sm). `early`: the read counts as
    // issued so long before `since`, and may have been sent before it.
    Served read(uint64_t line, uint32_t sectors, Ticks since, Ticks sent, uint32_t half = 0, Ticks early = 0);
    // `words`: which 4-byte words of the line are written.
    Served write(uint64_t line, uint32_t sectors, Ticks since, Ticks sent, uint32_t half = 0, uint32_t words = all_words);
    // `busy`: how long the slice's atomic unit is with them.
    Served atomic(uint64_t line, uint32_t sectors, Ticks busy, Ticks since, Ticks sent, uint32_t half = 0);

    // L2 begins with what `state` holds, with nothing where that is of another L2; and leaves what it holds in the end.
    void take(L2State& state);
    void leave(L2State& state);

    // Who is told of every request; null: nobody. It has to stay.
    void tell(MachineLog* log) { log_ = log; }
    MachineLog* log() const { return log_; }

    void prefetch(uint64_t line) const { l2_.prefetch(line); }
    uint32_t half_of_line(uint64_t line) const { return far_ == 0 ? 0 : slice_of_(line) * 2 / slices_; }
    uint64_t sectors = 0, hits = 0;  // of L2, all kinds of request
    CycleTotals taken;               // for how long slices took sectors
    // The same by time, all slices: no window has more than its slices have time for, and nothing is behind `cycles`.
    DoublingWindows<CycleTotals> taken_until(int64_t cycles) const;
    uint64_t bytes() const { return l2_.bytes() + dram_.bytes() + slice_.size() * sizeof slice_[0]; }  // beside itself
    const Dram& dram() const { return dram_; }
    double l2_filled() const;  // share of its lines that hold something

  private:
    struct Entry {
        Ticks begin = 0, turn = 0, takes = 0;  // begin: when the slice takes the request, which may come behind its turn
    };
    Entry enter(uint64_t line, uint32_t sectors, uint64_t CycleTotals::*as, Ticks since, Ticks sent, Ticks takes,
                Ticks early = 0);
    Served fetch(uint64_t line, uint32_t sectors, Ticks since, Ticks sent, const Entry& entered, uint32_t half,
                 bool keeps_copy, Ticks early = 0);
    Cache::Line& line_for(uint64_t line, Ticks since, Ticks& begin, Served& served, uint32_t& used_since);
    // Where there is no L2: what is written goes on to DRAM at once.
    void write_through(uint64_t line, uint32_t written, Ticks since, Ticks& begin, uint32_t words, Served& served);
    // How much longer than the near half's latency the line takes to the SMs of `half`.
    Ticks across(Cache::Line& entry, uint32_t half, uint32_t used_since, bool keeps_copy);

    MachineLog* log_ = nullptr;
    Ticks l2_latency_, dram_latency_, far_, dram_far_, sector_ticks_;
    Idealised ideal_;
    uint64_t spread_ = 0;              // atomics so far, where these are to meet nobody
    uint32_t slices_, partial_bytes_;  // partial: of the bus, for a sector of which a part was written
    Spread slice_of_;
    std::vector<Turn> slice_;
    Cache l2_;
    Cache::Line nothing_;  // what a request finds where there is no L2
    Dram dram_;
    DoublingWindows<CycleTotals> windows_;
};

// Which half of the chip an SM is in.
constexpr uint32_t half_of_sm(uint32_t sm, uint32_t sms) {
    return sms == 0 ? 0 : sm * 2 / sms;
}

}  // namespace lockstep::model
