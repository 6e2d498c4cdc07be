// L2: sectored, write-back, written sectors need no fetch. A dirty line that leaves writes its dirty sectors to DRAM.
#include "core/model/memory/memory_system.h"

#include <algorithm>
#include <bit>

#include "core/model/memory/coalescer.h"

namespace lockstep::model {
namespace {
// A slice reads a sector of which a part is written and writes it back, a cycle each: its check bits are of the whole sector
// (NVIDIA patent 9,110,809 says so of DRAM; published transposes by single words agree). Not where DRAM writes parts as they
// are.
constexpr Ticks merge_ticks = ticks_of(int64_t{2});
constexpr Ticks requests_a_slice = 64;  // sectors that wait at a slice before the SMs are held back

// Four bits of sectors as the 32 bits of their words, and the sectors all of whose words are there.
constexpr uint32_t words_of(uint32_t sectors) {
    return (sectors & 1) * 0xffu | (sectors >> 1 & 1) * 0xff00u | (sectors >> 2 & 1) * 0xff0000u |
           (sectors >> 3 & 1) * 0xff000000u;
}
constexpr uint32_t whole_sectors(uint32_t words) {
    uint32_t sectors = 0;
    for (uint32_t sector = 0; sector < 4; ++sector) sectors |= (words >> 8 * sector & 0xff) == 0xff ? 1u << sector : 0;
    return sectors;
}
}  // namespace

MemorySystem::MemorySystem(const GpuSpec& gpu, const Idealised& ideal)
    : l2_latency_(ticks_of(int64_t{gpu.l2_latency})),
      dram_latency_(ticks_of(int64_t{gpu.dram_latency})),
      far_(gpu.l2_far_latency > gpu.l2_latency ? ticks_of(int64_t{gpu.l2_far_latency}) - l2_latency_ : 0),
      dram_far_(gpu.dram_far_latency > gpu.dram_latency ? ticks_of(int64_t{gpu.dram_far_latency}) - dram_latency_ : 0),
      sector_ticks_(ticks_of(32.0 * gpu.l2_slices / gpu.l2_bytes_per_cycle)),
      ideal_(ideal),
      slices_(std::max<uint32_t>(1, gpu.l2_slices)),
      partial_bytes_(std::max<uint32_t>(32, gpu.dram_partial_bytes)),
      slice_of_(slices_),
      slice_(slices_),
      l2_(gpu.l2_bytes, gpu.l2_ways),
      dram_(gpu) {}

void MemorySystem::take(L2State& state) {
    if (state.lines.is_like(l2_)) std::swap(l2_, state.lines);
    state.lines = Cache();
}

void MemorySystem::leave(L2State& state) {
    state.lines = std::move(l2_);
    state.lines.settle();
    l2_ = Cache();
}

double MemorySystem::l2_filled() const {
    uint64_t lines = 0;
    l2_.each_line([&](const Cache::Line&) { ++lines; });
    const double room = static_cast<double>(l2_.sets()) * l2_.ways();
    return room == 0 ? 1 : static_cast<double>(lines) / room;
}

std::vector<uint64_t> packed_from(const L2State& state) {
    std::vector<uint64_t> packed;
    state.lines.each_line([&](const Cache::Line& line) {
        packed.push_back(line.line);
        packed.push_back(uint64_t{line.words} | uint64_t{line.present} << 32 | uint64_t{line.dirty} << 40 |
                         uint64_t{line.copies} << 48);
    });
    return packed;
}

L2State l2_from(const GpuSpec& gpu, std::span<const uint64_t> packed) {
    L2State state{Cache(gpu.l2_bytes, gpu.l2_ways)};
    for (size_t at = 0; at + 1 < packed.size() && state.lines.sets() != 0; at += 2) {
        Cache::Victim victim;
        Cache::Line& line = state.lines.insert(packed[at], victim);
        line.words = static_cast<uint32_t>(packed[at + 1]);
        line.present = packed[at + 1] >> 32 & 0xff;
        line.dirty = packed[at + 1] >> 40 & 0xff;
        line.copies = packed[at + 1] >> 48 & 0xff;
    }
    return state;
}

MemorySystem::Entry MemorySystem::enter(uint64_t line, uint32_t wanted, uint64_t CycleTotals::*as, Ticks since, Ticks sent,
                                        Ticks takes, Ticks early) {
    const Ticks turn = slice_[slice_of_(line)].take(since, takes, early);
    const Ticks end = turn + bits_in(wanted) * sector_ticks_;
    taken.*as += static_cast<uint64_t>(end - turn);
    for (Ticks from = std::max<Ticks>(turn, 0); from < end;) {
        CycleTotals* const window = windows_.at(from >> tick_bits);
        const Ticks to = std::min(end, ticks_of(windows_.border(from >> tick_bits)));
        window->*as += static_cast<uint64_t>(to - from);
        from = to;
    }
    return {std::max(sent, turn), turn, takes};
}

DoublingWindows<CycleTotals> MemorySystem::taken_until(int64_t cycles) const {
    DoublingWindows<CycleTotals> windows = windows_;
    windows.at(std::max<int64_t>(0, cycles - 1));
    const int64_t length = windows.border(0);
    windows.fit(static_cast<uint64_t>(std::max<int64_t>(1, (cycles + length - 1) / length)));
    // Reads that count as issued earlier than they were lie in time that was idle somewhere in front of them: what is too
    // much for a window belongs to the next one.
    CycleTotals over;
    for (int64_t begin = 0; begin < cycles; begin += length) {
        CycleTotals& window = *windows.at(begin);
        window += over;
        const auto room = static_cast<uint64_t>(ticks_of(std::min(length, cycles - begin)) * slices_);
        over = {};
        over.l2_reads = window.l2_reads - std::min(window.l2_reads, room);
        window.l2_reads -= over.l2_reads;
        over.l2_writes = window.l2_writes - std::min(window.l2_writes, room - window.l2_reads);
        window.l2_writes -= over.l2_writes;
    }
    return windows;
}

Cache::Line& MemorySystem::line_for(uint64_t line, Ticks since, Ticks& begin, Served& served, uint32_t& used_since) {
    if (l2_.sets() == 0) {
        nothing_ = Cache::Line{};
        nothing_.line = line;
        return nothing_;
    }
    if (Cache::Line* found = l2_.find(line, &used_since)) return *found;
    Cache::Victim victim;
    Cache::Line& fresh = l2_.insert(line, victim);
    if (victim.dirty != 0 && !ideal_.l2_hits) {
        served.dram_written = 32u * bits_in(victim.dirty);
        const uint32_t partly = victim.words == all_words ? 0 : bits_in(victim.dirty & ~whole_sectors(victim.words));
        begin = dram_.write_behind(victim.line, since, begin, served.dram_written, partly * (partial_bytes_ - 32));
    }
    return fresh;
}

void MemorySystem::write_through(uint64_t line, uint32_t written, Ticks since, Ticks& begin, uint32_t words,
                                 Served& served) {
    if (ideal_.l2_hits) return;
    const uint32_t bytes = 32u * bits_in(written);
    const uint32_t partly = words == all_words ? 0 : bits_in(written & ~whole_sectors(words));
    begin = dram_.write_behind(line, since, begin, bytes, partly * (partial_bytes_ - 32));
    served.dram_written += bytes;
}

Ticks MemorySystem::across(Cache::Line& entry, uint32_t half, uint32_t used_since, bool keeps_copy) {
    if (far_ == 0 || half_of_line(entry.line) == half) return 0;
    const auto copy = static_cast<uint8_t>(1u << half);
    const bool here = (entry.copies & copy) != 0 && used_since < l2_.ways() / 2;
    if (keeps_copy) entry.copies = static_cast<uint8_t>(entry.copies | copy);
    return here ? 0 : far_;
}

Served MemorySystem::fetch(uint64_t line, uint32_t wanted, Ticks since, Ticks sent, const Entry& entered, uint32_t half,
                           bool keeps_copy, Ticks early) {
    Ticks begin = entered.begin;
    Served served{.turn = entered.turn, .takes = entered.takes};
    uint32_t used_since = 0;
    Cache::Line& entry = line_for(line, since, begin, served, used_since);
    if (ideal_.l2_hits && (wanted & ~uint32_t{entry.present}) != 0) entry.arrive(wanted & ~uint32_t{entry.present}, 0);
    const uint32_t missing = wanted & ~uint32_t{entry.present};
    const uint32_t here = wanted & entry.present;
    const Ticks far = across(entry, half, used_since, keeps_copy);
    served.taken = served.sent = begin;
    served.slice = slice_of_(line);
    served.ready = begin + l2_latency_ + (here == 0 ? 0 : far);
    served.accepted = std::max(sent, begin - requests_a_slice * sector_ticks_);
    served.hits = bits_in(here);
    if (here != 0) {
        const int64_t now = served.ready >> tick_bits;
        if (const int64_t when = entry.here(here, now); when > now) {  // another request is already fetching it
            served.ready = std::max(served.ready, ticks_of(when));
            served.level = MemoryLevel::dram;
        }
    }
    if (missing != 0) {
        served.dram_read = 32u * bits_in(missing);
        Ticks waits = 0;
        const Ticks sends = dram_.access(line, since, begin, served.dram_read, early, &waits);
        const Ticks arrives = sends + waits + dram_latency_ + (far_ != 0 && half_of_line(line) != half ? dram_far_ : 0);
        served.sent = sends;
        served.channel = dram_.channel_of(line);
        served.accepted = std::max(served.accepted, sends - requests_a_slice * sector_ticks_);
        served.ready = std::max(served.ready, arrives);
        served.level = MemoryLevel::dram;
        entry.arrive(missing, cycle_of(arrives));
        entry.words |= words_of(missing);
    }
    sectors += bits_in(wanted);
    hits += served.hits;
    return served;
}

Served MemorySystem::read(uint64_t line, uint32_t wanted, Ticks since, Ticks sent, uint32_t half, Ticks early) {
    const Ticks takes = bits_in(wanted) * sector_ticks_;
    return fetch(line, wanted, since, sent, enter(line, wanted, &CycleTotals::l2_reads, since, sent, takes, early), half,
                 true, early);
}

Served MemorySystem::write(uint64_t line, uint32_t written, Ticks since, Ticks sent, uint32_t half, uint32_t words) {
    const uint32_t partly = partial_bytes_ == 32 || words == all_words ? 0 : bits_in(written & ~whole_sectors(words));
    const Ticks takes = (bits_in(written) - partly) * sector_ticks_ + partly * std::max(sector_ticks_, merge_ticks);
    const Entry entered = enter(line, written, &CycleTotals::l2_writes, since, sent, takes);
    Ticks begin = entered.begin;
    Served served{.turn = entered.turn, .takes = entered.takes};
    uint32_t used_since = 0;
    Cache::Line& entry = line_for(line, since, begin, served, used_since);
    served.taken = served.sent = begin;
    served.slice = slice_of_(line);
    if (l2_.sets() == 0)
        write_through(line, written, since, begin, words, served);
    else
        served.hits = bits_in(written);  // as L2 counts them: nothing is fetched for a store (NVIDIA's developer forum)
    served.ready = begin + l2_latency_ + across(entry, half, l2_.ways(), false);
    served.accepted = std::max(sent, begin - requests_a_slice * sector_ticks_);
    if (const uint32_t fresh = written & ~uint32_t{entry.present}; fresh != 0) entry.arrive(fresh, cycle_of(begin));
    entry.dirty = static_cast<uint8_t>(entry.dirty | written);
    entry.words |= words == all_words ? words_of(written) : words;
    entry.copies = 0;  // of the other half are void
    sectors += bits_in(written);
    hits += served.hits;
    return served;
}

Served MemorySystem::atomic(uint64_t line, uint32_t touched, Ticks busy, Ticks since, Ticks sent, uint32_t half) {
    const Ticks takes = std::max(busy, bits_in(touched) * sector_ticks_);
    const Entry entered =
        enter(ideal_.spread_atomics ? spread_++ : line, touched, &CycleTotals::l2_writes, since, sent, takes);
    const Ticks begin = entered.begin;
    Served served = fetch(line, touched, since, sent, entered, half, false);
    served.queued = begin - sent + takes - std::min(takes, ticks_a_cycle);
    if (Cache::Line* entry = l2_.find(line)) {
        entry->dirty = static_cast<uint8_t>(entry->dirty | touched);
        entry->copies = 0;
    } else if (l2_.sets() == 0) {
        Ticks behind = begin;
        write_through(line, touched, since, behind, all_words, served);
    }
    served.ready += takes - std::min(takes, ticks_a_cycle);
    return served;
}

}  // namespace lockstep::model
