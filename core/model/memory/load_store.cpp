// L1 writes through and does not allocate on a global store; local memory is allocated on a store as well. Loads that say
// so (.cg, .cv, .volatile, .relaxed and stronger beyond the block) go past it.
#include "core/model/memory/load_store.h"

#include <algorithm>
#include <bit>

#include "core/model/launch/machine_log.h"
#include "core/simt/execute/ahead.h"

namespace lockstep::model {
namespace {

// Passes over the banks that bytes take where no two lanes meet in a bank; never more than they take.
uint32_t full_passes(uint32_t passes, uint32_t bytes) {
    return std::min(passes, std::max(1u, (bytes + line_bytes - 1) / line_bytes));
}

uint32_t l1_size(const GpuSpec& gpu, uint32_t shared_bytes) {
    const auto& sizes = gpu.shared_carveouts.value;
    if (sizes[1] == 0) return gpu.l1_bytes;  // shared memory is apart
    for (const uint32_t size : sizes)
        if (size >= shared_bytes) return gpu.l1_bytes - size;
    return gpu.l1_bytes - *std::max_element(sizes.begin(), sizes.end());
}

constexpr uint32_t constant_line_bytes = 64;
constexpr uint32_t tags_a_cycle = 4;

// Of 32 bytes, of stores and atomics, that wait between L1 and the crossbar: the queue behind L1 in Accel-Sim's tuned
// configurations of V100, A100 and H100.
constexpr uint32_t store_sectors = 16;

// Dependent loads of 4 and of 16 bytes a lane take 32 and 38 cycles (published study of Ampere's core, MICRO 2025): six
// cycles for 384 bytes more. Measured on Ampere, taken for what came later; the teaching GPU's loads are all alike.
uint32_t result_bytes(const GpuSpec& gpu) {
    return gpu.folds_ptx != 0 && gpu.compute.number >= 80 ? 64 : 0;
}
}  // namespace

LoadStore::LoadStore(const GpuSpec& gpu, MemorySystem& memory, uint32_t shared_bytes, uint32_t sm)
    : memory_(&memory),
      ideal_(memory.ideal()),
      l1_latency_(gpu.l1_latency),
      shared_latency_(gpu.shared_latency),
      shuffle_latency_(gpu.shuffle_latency),
      constant_latency_(gpu.constant_latency),
      constant_l15_latency_(gpu.constant_l15_latency),
      texture_latency_(gpu.texture_latency),
      retry_latency_(int64_t{2} * gpu.shared_latency + gpu.fp32_latency + gpu.branch_latency),
      l1_ticks_(ticks_of(l1_latency_)),
      address_ticks_(ticks_of(32.0 / gpu.lsu_lanes)),
      interval_(ticks_of(gpu.lsu_interval)),
      sector_ticks_(ticks_of(32.0 / gpu.l1_bytes_per_cycle)),
      return_ticks_(ticks_of(32.0 / gpu.sm_read_bytes_per_cycle)),
      send_ticks_(ticks_of(32.0 / gpu.sm_write_bytes_per_cycle)),
      walk_ticks_(ticks_of(int64_t{gpu.tlb_miss_latency})),
      atomic_ticks_(ticks_of(int64_t{gpu.atomic_latency})),
      texture_ticks_(gpu.texture_lanes > 0 ? ticks_of(1.0 / gpu.texture_lanes) : 0),
      tag_overhead_(ticks_of(gpu.l1_tag_overhead)),
      constant_miss_ticks_(ticks_of(gpu.constant_miss_interval)),
      atomic_(gpu.atomic_cycles),
      half_atomic_(gpu.half_atomic_cycles),
      half2_atomic_(gpu.half2_atomic_cycles),
      queue_(std::clamp<uint32_t>(gpu.lsu_queue, 1, most_queue)),
      l1_bytes_(l1_size(gpu, shared_bytes)),
      half_(half_of_sm(sm, gpu.sms)),
      result_bytes_(result_bytes(gpu)),
      caches_loads_(gpu.l1_caches_loads != 0),
      shared_pipe_(gpu.shared_carveouts.value[1] == 0 ? 1 : 0),
      l1_(l1_bytes_, gpu.l1_ways),
      constant_l1_(gpu.constant_l1_bytes, 4, constant_line_bytes),
      constant_l15_(gpu.constant_l15_bytes, 8, constant_line_bytes),
      tlb_(gpu.tlb_bytes, gpu.page_bytes),
      outstanding_(std::max<uint32_t>(1, gpu.l1_mshrs), 0),
      stores_(store_sectors, 0) {
    for (auto& numbers : issues_) numbers.fill(-1);
}

Ticks LoadStore::enter(uint32_t s, int64_t now, Ticks takes, uint32_t pipe) {
    const Ticks time = ticks_of(now);
    const Ticks start = std::max(time, address_free_[s]);
    address_free_[s] = start + address_ticks_;
    const Ticks handed =
        std::max(time, front_free_[pipe]);  // other sub-cores may use what this one's address unit leaves idle
    front_free_[pipe] = handed + interval_;
    const Ticks slot = std::max(handed, pipe_free_[pipe]);
    pipe_free_[pipe] = slot + takes;
    return std::max(start, slot);
}

// What the tags hold back takes its cycles of the data pipe all the same, of those that the pipe would have had idle: the
// others go past it.
Ticks LoadStore::enter_tags(uint32_t s, int64_t now, Ticks takes, Ticks tags, Ticks& through) {
    const Ticks slot = std::max(ticks_of(now), tags_free_);
    tags_free_ = slot + tags;
    through = enter(s, now, takes, 0);
    return std::max(slot, through);
}

void LoadStore::leave(uint32_t s, Queue queue, Ticks when) {
    const uint32_t at = place_of(s, queue);
    last_leave_[at] = std::max(last_leave_[at], when);
    leaves_[at][next_[at]] = cycle_of(last_leave_[at]);
    issues_[at][next_[at]] = issue_;
    next_[at] = next_[at] + 1 == queue_ ? 0 : next_[at] + 1;
    free_at_[at] = leaves_[at][next_[at]];  // the oldest of the last `queue_` instructions
}

int64_t LoadStore::oldest_issue(int64_t now, int64_t none) const {
    int64_t oldest = none;
    for (uint32_t at = 0; at < queues; ++at)
        for (uint32_t k = 0; k < queue_; ++k)
            if (leaves_[at][k] > now) oldest = std::min(oldest, issues_[at][k]);
    return oldest;
}

Ticks LoadStore::store_place(uint32_t sectors, Ticks begin) const {
    size_t last = next_store_ + sectors - 1;  // the place that the last of them takes
    if (last >= stores_.size()) last -= stores_.size();
    return std::max(begin, stores_[last]);
}

void LoadStore::hold_store(uint32_t sectors, Ticks until) {
    const uint32_t newest = next_store_ == 0 ? static_cast<uint32_t>(stores_.size()) - 1 : next_store_ - 1;
    until = std::max(until, stores_[newest]);  // places are given back in order
    for (uint32_t k = 0; k < sectors; ++k) {
        stores_[next_store_] = until;
        next_store_ = next_store_ + 1 == stores_.size() ? 0 : next_store_ + 1;
    }
}

Ticks LoadStore::miss_slot(Ticks begin) const {
    return std::max(begin, outstanding_[next_miss_]);
}

Ticks LoadStore::translate(uint64_t line) {
    ++counters_.page_lookups;
    if (!tlb_.misses(line * line_bytes)) return 0;
    ++counters_.page_walks;
    return walk_ticks_;
}

void LoadStore::count(MemoryCost& cost, const Served& served, uint32_t sectors, Flow flow) {
    const uint32_t n = bits_in(sectors);
    cost.l2_sectors += n;
    cost.l2_hits += served.hits;
    cost.level = std::max(cost.level, served.level);
    counters_.l2_sectors += n;
    counters_.l2_hits += served.hits;
    counters_.add(flow, uint64_t{n} * sector_bytes);
    if (served.dram_read != 0) counters_.add(Flow::dram_read, served.dram_read);
    if (served.dram_written != 0) counters_.add(Flow::dram_write, served.dram_written);
}

void LoadStore::load_line(const LineRequest& part, Way way, bool cached, Ticks since, Ticks begin, MemoryCost& cost,
                          Ticks& ready, Ticks& sent, Ticks& held) {
    Cache::Line* entry = cached ? l1_.find(part.line) : nullptr;
    const uint32_t here = entry == nullptr ? 0 : part.sectors & entry->present, missing = part.sectors & ~here;
    if (cached) {
        cost.l1_sectors += bits_in(part.sectors);
        cost.l1_hits += bits_in(here);
    }
    if (here != 0) {
        const int64_t hit = (begin + l1_ticks_) >> tick_bits;
        if (const int64_t when = entry->here(here, hit); when > hit) {  // on its way for an earlier load
            ready = std::max(ready, ticks_of(when));
            const bool far = entry->here(here & entry->from_dram, hit) > hit;
            cost.level = std::max(cost.level, far ? MemoryLevel::dram : MemoryLevel::l2);
        }
    }
    MachineLog* const log = memory_->log();
    if (missing == 0) {
        if (log != nullptr && log->wants_hits(asker_.sm))
            log->hit(asker_, part.line, part.sectors, since - ticks_of(int64_t{way.early}), begin, ready);
        return;
    }
    sent = miss_slot(sent);
    held = std::max(held, sent);  // with an entry of its own it waits for the port and for L2 apart
    const Ticks early = ticks_of(int64_t{way.early});
    sent = std::max(sent, return_port_.take(since, bits_in(missing) * return_ticks_, early));
    Served served = memory_->read(part.line, missing, since, sent, half_, early);
    served.ready += translate(part.line);
    if (log != nullptr)
        log->request(asker_, part.line,
                     {since - early, sent, missing, way.to_shared ? RequestKind::copy : RequestKind::load}, served);
    count(cost, served, missing, Flow::l1_from_l2);
    ready = std::max(ready, served.ready);
    outstanding_[next_miss_] = served.ready;
    next_miss_ = next_miss_ + 1 == outstanding_.size() ? 0 : next_miss_ + 1;
    if (!cached) return;
    Cache::Victim victim;
    if (entry == nullptr) entry = &l1_.insert(part.line, victim, way.cache == CacheUse::evict_first);
    entry->arrive(missing, cycle_of(served.ready));
    entry->from_dram =
        static_cast<uint8_t>(served.level == MemoryLevel::dram ? entry->from_dram | missing : entry->from_dram & ~missing);
}

MemoryCost LoadStore::global(uint32_t s, int64_t now, Access access, const uint64_t* addresses, uint32_t mask,
                             uint32_t bytes, Way way) {
    if (way.local)
        coalesce_local(addresses, mask, bytes, request_);
    else
        coalesce(addresses, mask, bytes, request_);
    if (ideal_.coalesced && !way.local && !way.texture && mask != 0)
        make_coalesced(used_bytes(addresses, mask, bytes), addresses[std::countr_zero(mask)], bytes);
    return serve(s, now, access, bits_in(mask) * bytes, way, addresses, mask, bytes);
}

MemoryCost LoadStore::global_ahead(uint32_t s, int64_t now, uint32_t bytes, CacheUse cache, uint32_t early,
                                   const simt::AheadSteps& steps, simt::AheadEnds& ends) {
    const uint32_t used = kept_request(steps, ends, request_);
    counters_.add(Flow::global_load, bytes);
    Way way;
    way.cache = cache;
    way.early = early;
    MemoryCost cost = serve(s, now, Access::load, bytes, way);
    cost.bytes = bytes;
    cost.used_bytes = used;
    return cost;
}

// As few sectors as the used bytes fill, in whole lines, of the lines that the request touches. Which ones goes by the first
// address, so that requests for the other fields of the same records, or the next elements of the same rows, come to the
// other lines, and all together move as much as they use.
void LoadStore::make_coalesced(uint32_t used, uint64_t first, uint32_t lane_bytes) {
    constexpr uint32_t whole = line_bytes / sector_bytes;
    const uint32_t touched = request_.sectors, wanted = (used + sector_bytes - 1) / sector_bytes;
    if (wanted == 0 || wanted >= touched) return;
    const uint64_t element = first / std::max(1u, lane_bytes);
    const uint32_t of = request_.lines, kept = (wanted + whole - 1) / whole;
    const auto begin = static_cast<uint32_t>(element * kept % of);
    LineRequest lines[GlobalRequest::most_lines];
    for (uint32_t k = 0; k < kept; ++k) {
        lines[k] = request_.line[(begin + k) % of];
        const uint32_t sectors = std::min(whole, wanted - k * whole);
        if (sectors == whole) {
            lines[k].sectors = (1u << whole) - 1;
            continue;
        }
        lines[k].sectors = 0;  // fewer than a line: from the next sector on with each turn through the lines
        for (uint32_t n = 0; n < sectors; ++n) lines[k].sectors |= 1u << (element * kept / of + n) % whole;
    }
    std::copy_n(lines, kept, request_.line);
    request_.lines = kept;
    request_.sectors = wanted;
    request_.passes = (used + line_bytes - 1) / line_bytes;
}

MemoryCost LoadStore::serve(uint32_t s, int64_t now, Access access, uint32_t bytes, Way way, const uint64_t* addresses,
                            uint32_t mask, uint32_t lane_bytes) {
    for (uint32_t i = 0; i < request_.lines; ++i) {
        l1_.prefetch(request_.line[i].line);
        memory_->prefetch(request_.line[i].line);
    }
    MemoryCost cost;
    cost.sectors = request_.sectors;
    cost.level = MemoryLevel::l1;
    const Ticks by_sectors = std::max(ticks_a_cycle, request_.sectors * sector_ticks_);
    Ticks takes = by_sectors, tags = by_sectors, later = 0;
    // A result of 4 bytes a lane is in the latency; what is wider follows.
    const bool follows =
        access == Access::load && result_bytes_ != 0 && !way.to_shared && !way.texture && bytes > line_bytes;
    const Ticks wide = follows ? ticks_of(int64_t{(bytes - line_bytes) / result_bytes_}) : 0;
    const uint32_t lines = request_.lines;
    if (tag_overhead_ == 0) {
        if (lines > 1) takes = tags = std::max(takes, ticks_of(int64_t{tag_cycles(request_)}));
    } else {
        tags = interval_;
        if (lines > 2) tags = std::max(tags, lines * ticks_a_cycle / tags_a_cycle + tag_overhead_);
        if (access == Access::load && !way.to_shared && !way.texture) {
            if (request_.passes == 0) request_.passes = l1_passes(addresses, mask, lane_bytes);
            takes = ticks_of(int64_t{request_.passes});
            const Ticks least = std::max(interval_, ticks_of(int64_t{(bytes + line_bytes - 1) / line_bytes}));
            // The last lanes' data come so much later than without conflicts; meanwhile the first go to the registers.
            later = std::max(takes, tags) - least;
            if (wide != 0) later += least - ticks_a_cycle - wide;
            later = std::max<Ticks>(0, later);
        }
    }
    // The bytes of cp.async cross the data pipe once more, on their way into shared memory.
    if (way.to_shared) takes += by_sectors, tags = std::max(tags, tag_overhead_ == 0 ? takes : tags);
    Ticks through = 0;
    // A load that ptxas moves up takes the pipes when it issues, but has its turn at L2 and DRAM, and waits there, from
    // before.
    const Ticks entered = enter_tags(s, now, takes, tags, through), begin = entered - ticks_of(int64_t{way.early});
    const Ticks since = ticks_of(now);
    // Sent to L2, out of the way of those behind it, taken by L2.
    Ticks ready = begin + l1_ticks_ + later, sent = begin + ticks_of(int64_t{way.fence}), held = begin, accepted = begin;
    // Of a store that leaves parts of its sectors as they are: which words of each line it writes.
    const bool whole = access != Access::store || way.local || ideal_.coalesced || bytes >= request_.sectors * sector_bytes;
    uint32_t words[GlobalRequest::most_lines];
    if (!whole) written_words(addresses, mask, lane_bytes, request_, words);
    const bool cached = l1_.sets() != 0 && way.cache != CacheUse::l2_only &&
                        (caches_loads_ || way.local || way.texture || way.cache == CacheUse::looks_in_l1);
    for (uint32_t i = 0; i < request_.lines; ++i) {
        const LineRequest& part = request_.line[i];
        if (access == Access::load) {
            load_line(part, way, cached, since, begin, cost, ready, sent, held);
            continue;
        }
        held = store_place(bits_in(part.sectors), held);
        sent = std::max({sent, held, send_port_.take(since, bits_in(part.sectors) * send_ticks_)});
        if (access == Access::atomic) {
            const Ticks busy = atomics_take(part.line, addresses, mask, lane_bytes, way.atomic);
            Served served = memory_->atomic(part.line, part.sectors, busy, since, sent, half_);
            served.ready += translate(part.line) + atomic_ticks_;
            if (MachineLog* const log = memory_->log())
                log->request(asker_, part.line, {since, sent, part.sectors, RequestKind::atomic}, served);
            cost.queued = std::max(cost.queued, served.queued);
            count(cost, served, part.sectors, Flow::l2_atomic);
            ready = std::max(ready, served.ready);
            accepted = std::max(accepted, served.accepted);
            hold_store(bits_in(part.sectors), std::max(sent, served.accepted));
            continue;
        }
        const Served served =
            memory_->write(part.line, part.sectors, since, sent, half_, whole ? MemorySystem::all_words : words[i]);
        translate(part.line);
        if (MachineLog* const log = memory_->log())
            log->request(asker_, part.line, {since, sent, part.sectors, RequestKind::store}, served);
        count(cost, served, part.sectors, Flow::l1_to_l2);
        accepted = std::max({accepted, sent, served.accepted});
        hold_store(bits_in(part.sectors), std::max(sent, served.accepted));
        if (!way.local || l1_.sets() == 0) continue;
        Cache::Line* entry = l1_.find(part.line);
        Cache::Victim victim;
        if (entry == nullptr) entry = &l1_.insert(part.line, victim);
        if (const uint32_t fresh = part.sectors & ~uint32_t{entry->present}; fresh != 0)
            entry->arrive(fresh, cycle_of(begin));
    }
    counters_.l1_sectors += cost.l1_sectors;
    counters_.l1_hits += cost.l1_hits;
    cost.takes = takes;
    tags_free_ = std::max(tags_free_, held);
    leave(s, Queue::mio, through + takes);
    leave(s, Queue::lg, std::max(entered, held) + std::max(takes, tags));
    cost.ready = cycle_of(ready) + (wide >> tick_bits);
    cost.done = cycle_of(accepted + ticks_a_cycle);
    return cost;
}

Ticks LoadStore::atomics_take(uint64_t line, const uint64_t* addresses, uint32_t mask, uint32_t lane_bytes,
                              AtomicWay way) const {
    if (way == AtomicWay::of_the_warp || ideal_.spread_atomics) return ticks_of(atomic_);
    const uint32_t rounds = atomic_rounds(addresses, mask, line);
    if (way == AtomicWay::of_halves) return ticks_of(rounds * half_atomic_);
    if (way == AtomicWay::of_half_pairs) return ticks_of(rounds * half2_atomic_);
    return ticks_of(rounds * atomic_ * (lane_bytes > 4 ? 2 : 1));
}

MemoryCost LoadStore::shared(uint32_t s, int64_t now, Access access, const uint64_t* offsets, uint32_t mask, uint32_t bytes,
                             AtomicWay atomic) {
    if (access != Access::atomic || atomic == AtomicWay::of_the_warp) {
        const uint32_t passes = shared_passes(offsets, mask, bytes);
        return shared_passes_of(s, now, ideal_.no_conflicts ? full_passes(passes, bits_in(mask) * bytes) : passes);
    }
    if (ideal_.spread_atomics) return shared_passes_of(s, now, full_passes(32, bits_in(mask) * bytes));
    const uint32_t rounds = shared_atomic_passes(offsets, mask, bytes);
    if (atomic != AtomicWay::by_loop) return shared_passes_of(s, now, rounds);
    MemoryCost cost = shared_passes_of(s, now, 2 * rounds);  // of each round a read and a swap
    cost.ready = std::max(cost.ready, now + rounds * retry_latency_);
    return cost;
}

MemoryCost LoadStore::shared_ahead(uint32_t s, int64_t now, Access access, uint32_t passes, uint32_t bytes) {
    counters_.add(access == Access::load ? Flow::shared_load : Flow::shared_store, bytes);
    MemoryCost cost = shared_passes_of(s, now, ideal_.no_conflicts ? full_passes(passes, bytes) : passes);
    cost.bytes = bytes;
    return cost;
}

MemoryCost LoadStore::shared_passes_of(uint32_t s, int64_t now, uint32_t passes) {
    MemoryCost cost;
    cost.passes = passes;
    cost.level = MemoryLevel::shared;
    const Ticks last = ticks_of(int64_t{std::max(1u, passes)} - 1), takes = last + ticks_a_cycle;
    const Ticks begin = enter(s, now, takes, shared_pipe_);
    leave(s, Queue::mio, begin + takes);
    cost.ready = cycle_of(begin + last) + shared_latency_;
    cost.done = cycle_of(begin + takes);
    cost.takes = takes;
    counters_.shared_passes += passes;
    return cost;
}

MemoryCost LoadStore::shuffle(uint32_t s, int64_t now) {
    MemoryCost cost;
    const Ticks takes = ticks_a_cycle;
    const Ticks begin = enter(s, now, takes, shared_pipe_);
    leave(s, Queue::mio, begin + takes);
    cost.ready = cycle_of(begin + ticks_of(shuffle_latency_));
    cost.done = cycle_of(begin + takes);
    cost.takes = takes;
    return cost;
}

MemoryCost LoadStore::constant(int64_t now, const uint64_t* addresses, uint32_t mask, uint32_t bytes, bool parameters,
                               int64_t more) {
    MemoryCost cost;
    cost.level = MemoryLevel::constant;
    if (mask == 0) return cost;
    if (parameters) {  // most often one address for all lanes
        uint64_t apart = 0;
        const uint64_t leader = addresses[std::countr_zero(mask)];
        for (uint32_t lane = 0; lane < 32; ++lane) apart |= (mask >> lane & 1) != 0 ? addresses[lane] ^ leader : 0;
        cost.ready = now + constant_latency_ + more;
        if (apart == 0) return cost;
    }
    uint64_t seen[32];
    uint32_t distinct = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint64_t address = addresses[std::countr_zero(left)];
        if (std::find(seen, seen + distinct, address) == seen + distinct) seen[distinct++] = address;
    }
    cost.constants = distinct;
    if (ideal_.one_constant) distinct = 1;
    // Different addresses of a warp take their turn behind those of other warps; one for all lanes is a broadcast.
    const Ticks first = distinct > 1 ? std::max(ticks_of(now), constant_free_) : ticks_of(now);
    if (distinct > 1) constant_free_ = first + distinct * ticks_a_cycle;
    Ticks ready = 0;
    for (uint32_t k = 0; k < distinct; ++k) {
        const uint64_t address = seen[k];
        const Ticks begin = first + k * ticks_a_cycle;
        ready = std::max(ready, begin + ticks_of(constant_latency_));
        if (parameters) continue;
        const uint64_t line = address / constant_line_bytes;
        const int64_t cycle = begin >> tick_bits;
        ++counters_.constant_lookups;
        Cache::Victim victim;
        if (const Cache::Line* near = constant_l1_.find(line)) {
            ++counters_.constant_hits;
            ready = std::max(ready, ticks_of(near->here(1, cycle)));
            continue;
        }
        Ticks here = begin + ticks_of(constant_l15_latency_);
        if (const Cache::Line* far = constant_l15_.find(line)) {
            here = std::max(here, ticks_of(far->here(1, cycle)));
        } else {
            const Ticks turn = std::max(begin, constant_miss_free_);  // its misses come out one after the other
            constant_miss_free_ = turn + constant_miss_ticks_;
            const Ticks sent = std::max(turn, return_port_.take(ticks_of(now), 2 * return_ticks_));
            const uint32_t wanted = line % 2 == 0 ? 3 : 12;
            const Served served = memory_->read(address / line_bytes, wanted, ticks_of(now), sent, half_);
            if (MachineLog* const log = memory_->log())
                log->request(asker_, address / line_bytes, {ticks_of(now), sent, wanted, RequestKind::constant}, served);
            MemoryCost fetched;
            count(fetched, served, wanted, Flow::l1_from_l2);
            here = std::max(here, served.ready);
            if (constant_l15_.sets() != 0) constant_l15_.insert(line, victim).arrive(1, cycle_of(here));
        }
        if (constant_l1_.sets() != 0) constant_l1_.insert(line, victim).arrive(1, cycle_of(here));
        ready = std::max(ready, here);
    }
    if (!parameters) counters_.add(Flow::constant, uint64_t{bits_in(mask)} * bytes);
    cost.ready = cycle_of(ready) + more;
    return cost;
}

MemoryCost LoadStore::parameter_ahead(int64_t now, uint32_t mask, const Timing& timing) {
    static constexpr uint64_t one_for_all[32] = {};
    return constant(now, one_for_all, mask, timing.lane_bytes, true,
                    std::max<int64_t>(0, timing.latency - constant_latency_));
}

MemoryCost LoadStore::texture(uint32_t s, int64_t now, std::span<const uint64_t> sectors, uint32_t lanes, uint32_t bytes) {
    const Ticks start = std::max(ticks_of(now), texture_free_);
    texture_free_ = start + lanes * texture_ticks_;
    const int64_t later = (start >> tick_bits) - now;
    MemoryCost cost;
    Way way;
    way.texture = true;
    for (size_t at = 0; at == 0 || at < sectors.size(); at += 32) {
        const size_t n = std::min<size_t>(32, sectors.size() - at);
        const uint32_t mask = n == 32 ? 0xffffffffu : (1u << n) - 1;
        const MemoryCost part = global(s, now, Access::load, sectors.data() + at, mask, 1, way);
        cost.ready = std::max(cost.ready, part.ready);
        cost.done = std::max(cost.done, part.done);
        cost.level = std::max(cost.level, part.level);
        cost.sectors += part.sectors;
        cost.l1_sectors += part.l1_sectors, cost.l1_hits += part.l1_hits;
        cost.l2_sectors += part.l2_sectors, cost.l2_hits += part.l2_hits;
        cost.takes += part.takes;
    }
    cost.ready += later + std::max<int64_t>(0, texture_latency_ - l1_latency_);
    counters_.add(Flow::texture, uint64_t{lanes} * bytes);
    return cost;
}

MemoryCost LoadStore::bulk(uint32_t s, int64_t now, bool store, std::span<const uint64_t> sectors) {
    MemoryCost cost;
    cost.level = MemoryLevel::l2;
    cost.sectors = static_cast<uint32_t>(sectors.size());
    Ticks through = 0;
    const Ticks begin = enter_tags(s, now, ticks_a_cycle, ticks_a_cycle, through);
    leave(s, Queue::mio, through + ticks_a_cycle);
    leave(s, Queue::lg, begin + ticks_a_cycle);
    const Ticks since = ticks_of(now);
    Ticks ready = begin + l1_ticks_, accepted = begin;
    Turn& port = store ? send_port_ : return_port_;
    const Ticks sector = store ? send_ticks_ : return_ticks_;
    for (size_t at = 0; at < sectors.size();) {
        const uint64_t line = sectors[at] / line_bytes;
        uint32_t wanted = 0;
        for (; at < sectors.size() && sectors[at] / line_bytes == line; ++at)
            wanted |= 1u << sectors[at] % line_bytes / sector_bytes;
        const Ticks sent = std::max(begin, port.take(since, bits_in(wanted) * sector));
        Served served =
            store ? memory_->write(line, wanted, since, sent, half_) : memory_->read(line, wanted, since, sent, half_);
        served.ready += translate(line);
        if (MachineLog* const log = memory_->log())
            log->request(asker_, line, {since, sent, wanted, store ? RequestKind::store : RequestKind::copy}, served);
        count(cost, served, wanted, store ? Flow::l1_to_l2 : Flow::l1_from_l2);
        ready = std::max(ready, served.ready);
        accepted = std::max(accepted, std::max(sent, served.accepted));
    }
    counters_.add(Flow::async_copy, sectors.size() * sector_bytes);
    cost.takes = ticks_a_cycle;
    cost.ready = cycle_of(ready);
    cost.done = cycle_of(accepted + ticks_a_cycle);
    return cost;
}

}  // namespace lockstep::model
