// From top to bottom: what an SM holds, its cycle, why a warp waits, the scheduler's choice, the stages of an instruction,
// and the launch.
#include "core/model/plain/plain_sm.h"

#include <algorithm>
#include <bit>
#include <map>

#include "core/model/issue/instruction_cache.h"
#include "core/model/issue/timing.h"
#include "core/model/lowering/lowering.h"
#include "core/model/memory/load_store.h"
#include "core/simt/execute/ahead.h"

namespace lockstep::model {
namespace {

constexpr int64_t for_ever = INT64_MAX;
constexpr uint32_t code_line_bytes = 128;

struct PlainGpu {  // what the SMs of a launch share
    const GpuSpec& spec;
    const TimedOptions& options;
    MemorySystem memory;
    simt::Grid grid = {};
    std::vector<Timing> timing = {};       // by pc
    std::vector<uint8_t> wide_loads = {};  // Grid::wide_loads
    uint32_t blocks_per_sm = 1, warps_per_block = 1;
    uint32_t shared_in_use = 0;  // bytes, of all blocks that an SM holds
    uint64_t blocks = 0, next_block = 0, blocks_over = 0;
    double launcher_free = 0;  // the time at which the block scheduler can start the next block
    uint64_t issues = 0;
    bool goes_on = false;                // some warp waits for something that will come by itself
    const simt::Block* stuck = nullptr;  // a block with a warp that waits for other warps
    PlainResult result = {};
};

class PlainSm {
    struct Result {         // of an instruction
        int64_t ready = 0;  // the first cycle in which an instruction that needs it may issue
        StallReason wait = StallReason::wait;
        int64_t cause = -1;  // the number of the issue
    };
    struct Wait {  // that does not lie in a register: for a branch, a barrier, a fence, a nap, the last stores
        StallReason reason = StallReason::wait;
        int64_t cause = -1, until = 0;
    };
    struct Warp {
        simt::Warp* threads = nullptr;  // the warp of the functional machine
        int64_t begin = for_ever, end = for_ever;
        uint32_t pc = UINT32_MAX;  // of the next instruction
        int64_t fetched = 0;       // the cycle from which that instruction is in the sub-core
        Wait wait;
        std::map<uint32_t, Result> coming;  // by register: what is still to be written
        int64_t stores_done = 0, last_store = -1;
        std::array<int64_t, 3> marks{};  // when the instructions issued that ptxas moves loads up to (Lowered)
        uint32_t round = 0;              // of an unrolled loop, since its mark was set
        bool split = false;              // by the last branch that is a predicate (Predicated)
        uint32_t place = 0, age = 0;     // the place of its block; warps of an SM begin in the order of their ages
        size_t track = 0;                // in PlainResult::warps
        PlainCycle state;                // in this cycle

        bool is_here(int64_t now) const { return begin <= now && now < end; }
    };
    struct Pipe {
        int64_t free = 0;    // the first cycle in which it takes another instruction
        int64_t cause = -1;  // the issue that takes it until then
    };
    struct SubCore {
        uint32_t number = 0;
        std::vector<Warp*> warps;
        uint32_t last = 0;        // the place in `warps` that issued last
        int64_t taken_until = 0;  // before that its slots go to instructions that do nothing (skip_side) or to sequences
        int64_t busy_until = 0, owed = 0;
        std::array<Pipe, pipes> pipe{};
        InstructionCache code;
    };
    struct Place {  // of a block
        simt::Block block;
        std::vector<Warp*> warps;
        bool used = false;
    };
    struct Issued {  // an instruction on its way through the stages
        simt::WarpEvent event;
        int64_t number = 0;
        Result result;
        IssueRecord record;
    };

  public:
    PlainSm(PlainGpu& gpu, uint32_t number)
        : gpu_(gpu),
          number_(number),
          memory_side_(gpu.spec, gpu.memory, gpu.shared_in_use, number),
          code_(gpu.spec.l1_code_bytes / code_line_bytes, line_of(last_pc()) + 1),
          warps_(size_t{gpu.blocks_per_sm} * gpu.warps_per_block),
          places_(gpu.blocks_per_sm) {
        const InstructionCache code(gpu.spec.l0_code_bytes / code_line_bytes, line_of(last_pc()) + 1);
        for (uint32_t k = 0; k < gpu.spec.sub_cores; ++k) cores_.push_back({.number = k, .warps = {}, .code = code});
        for (uint32_t slot = 0; slot < warps_.size(); ++slot) {
            cores_[slot % cores_.size()].warps.push_back(&warps_[slot]);
            places_[slot / gpu.warps_per_block].warps.push_back(&warps_[slot]);
        }
    }

    void tick(int64_t now) {
        start_blocks(now);
        for (SubCore& core : cores_) {
            for (Warp* const w : core.warps)
                if (w->is_here(now)) w->state = state_of(core, *w, now);
            const std::optional<uint32_t> chosen = choose(core, now);
            if (chosen) core.warps[*chosen]->state.reason = StallReason::selected;
            for (const Warp* const w : core.warps)
                if (w->is_here(now)) note(*w);
            if (!chosen) continue;
            core.last = *chosen;
            Warp& w = *core.warps[*chosen];
            uint32_t first_pc = w.pc;
            issue(core, w, now);
            for (uint32_t more = 1; more < gpu_.spec.issue_width && can_issue_too(core, w, first_pc, now); ++more) {
                first_pc = w.pc;
                issue(core, w, now);
            }
            if (gpu_.result.fault) return;
        }
    }

    // Blocks leave when the stores of their last warp are on their way; the next ones of the grid take their places.
    void start_blocks(int64_t now) {
        for (uint32_t p = 0; p < places_.size(); ++p) {
            Place& place = places_[p];
            if (place.used && std::all_of(place.warps.begin(), place.warps.end(), [&](Warp* w) { return w->end <= now; })) {
                place.used = false;
                ++gpu_.blocks_over;
            }
            if (!place.used && gpu_.next_block < gpu_.blocks) start_block(p, now);
        }
    }

    void start_block(uint32_t p, int64_t now) {
        const double start = std::max(static_cast<double>(now), gpu_.launcher_free);
        gpu_.launcher_free = start + 1 / gpu_.spec.blocks_per_cycle;
        const int64_t begin = static_cast<int64_t>(start) + gpu_.spec.block_start_latency;
        Place& place = places_[p];
        place.used = true;
        const auto linear = static_cast<uint32_t>(gpu_.next_block++);
        simt::reset_block(place.block, gpu_.grid, linear);
        place.block.sm = number_;
        place.block.clock = begin;
        for (uint32_t k = 0; k < place.warps.size(); ++k) {
            Warp& w = *place.warps[k];
            const uint32_t slot = p * gpu_.warps_per_block + k;
            w = {.threads = &place.block.warps[k], .begin = begin, .marks = {begin, begin, begin}, .place = p};
            w.age = began_++;
            w.track = gpu_.result.warps.size();
            if (is_traced()) gpu_.result.warps.push_back({linear, k, slot, begin, {}});
            fetch(cores_[slot % cores_.size()], w, next_pc(w), begin);
        }
    }

    void note(const Warp& w) {
        gpu_.goes_on |= w.wait.until != for_ever;
        if (w.wait.until == for_ever) gpu_.stuck = w.threads->block;
        ++gpu_.result.states[w.state.pc][static_cast<size_t>(w.state.reason)];
        if (is_traced()) gpu_.result.warps[w.track].cycles.push_back(w.state);
    }

    // not_selected: nothing keeps the warp from issuing but its scheduler's choice.
    PlainCycle state_of(const SubCore& core, const Warp& w, int64_t now) const {
        if (w.wait.until > now) return {w.wait.reason, w.pc, w.wait.cause};
        if (w.fetched > now) return {StallReason::no_instruction, w.pc, -1};
        const Timing& t = decode(w.pc);
        if (const Result* const missing = missing_result(w, t, now)) return {missing->wait, w.pc, missing->cause};
        if (core.pipe[t.pipe].free > now) return {t.throttle, w.pc, core.pipe[t.pipe].cause};
        return {StallReason::not_selected, w.pc, -1};
    }

    // The scoreboard: of the registers that the instruction reads or writes the result that comes last, of several the one
    // that was issued first.
    const Result* missing_result(const Warp& w, const Timing& t, int64_t now) const {
        const Result* last = nullptr;
        for (const auto& [reg, result] : w.coming) {
            if (result.ready <= now || !t.names(reg)) continue;
            if (last == nullptr || result.ready > last->ready || (result.ready == last->ready && result.cause < last->cause))
                last = &result;
        }
        return last;
    }

    std::optional<uint32_t> choose(const SubCore& core, int64_t now) const {
        if (core.taken_until > now) return std::nullopt;
        const SchedulerPolicy policy = gpu_.options.scheduler.value_or(gpu_.spec.scheduler.value);
        const bool round_robin = policy == SchedulerPolicy::loose_round_robin;
        std::optional<uint32_t> best;
        const auto count = static_cast<uint32_t>(core.warps.size());
        for (uint32_t k = 0; k < count; ++k) {
            // Round robin looks behind the warp that issued last, the greedy policies look at that one first.
            const uint32_t at = (core.last + k + (round_robin ? 1 : 0)) % count;
            const Warp& w = *core.warps[at];
            if (!w.is_here(now) || w.state.reason != StallReason::not_selected) continue;
            if (round_robin || at == core.last) return at;
            const bool older = !best || w.age < core.warps[*best]->age;
            if (!best || older == (policy == SchedulerPolicy::greedy_then_oldest)) best = at;
        }
        return best;
    }

    // Where a scheduler dispatches two instructions a cycle: the one right behind the first, to another pipe.
    bool can_issue_too(const SubCore& core, const Warp& w, uint32_t first_pc, int64_t now) const {
        if (gpu_.result.fault || w.wait.until > now || w.fetched > now || w.pc <= first_pc) return false;
        for (uint32_t pc = first_pc + 1; pc < w.pc; ++pc)
            if (!decode(pc).folded) return false;
        const Timing& t = decode(w.pc);
        const bool control = t.route == Route::branch || t.route == Route::barrier || t.route == Route::exit ||
                             t.route == Route::fence || t.route == Route::sleep;
        return !control && unit_of(t.pipe) != unit_of(decode(first_pc).pipe) && core.pipe[t.pipe].free <= now &&
               missing_result(w, t, now) == nullptr;
    }

    const Timing& decode(uint32_t pc) const { return gpu_.timing[pc]; }

    void issue(SubCore& core, Warp& w, int64_t now) {
        Issued i;
        if (gpu_.issues >= gpu_.options.max_instructions) gpu_.result.fault = simt::runaway_fault(*w.threads, gpu_.issues);
        if (gpu_.result.fault || !execute(w, now, i)) return;
        const Timing& t = decode(i.record.pc);
        i.result = {now + t.latency, t.result_wait, i.number};
        if (t.route == Route::memory || t.route == Route::shuffle || t.route == Route::constant)
            access_memory(core, w, t, now, i);
        else
            read_operands(core, t, now, i);
        take_slots(core, t, now);
        write_back(w, t, now, i);
        if (t.route == Route::barrier) {  // which counts in one warp after the other
            arrived_ = std::max(now, barriers_free_);
            barriers_free_ = arrived_ + barrier_interval(gpu_.spec);
        }
        if (i.event.barrier_released) open_barrier(places_[w.place], std::max(now, arrived_), i.number);
        if (w.threads->done) return retire(w, now, i);
        uint32_t next = next_pc(w);
        int64_t skipped = skip_side(w, i, next, now);
        if (t.loop != UINT32_MAX && next != t.loop) w.round = 0;
        if (!w.threads->at_barrier && i.event.until <= now + 1 && !fold(w, now, next, skipped)) return;
        fetch(core, w, next, t.route == Route::branch ? now + std::max<int64_t>(1, gpu_.spec.branch_latency) : now + 1);
        find_wait(w, t, now, i);
        if (skipped == 0) return;
        core.taken_until = core.busy_until += skipped;
        if (w.wait.until <= now + skipped) w.wait = {StallReason::branch_resolving, i.number, now + 1 + skipped};
    }

    // A sequence takes more slots than the one in which it issues: cycles in which nobody issues, and what it is still owed
    // when the next sequence comes at once.
    static void take_slots(SubCore& core, const Timing& t, int64_t now) {
        core.owed -= std::min(core.owed, std::max<int64_t>(0, now - core.busy_until));
        core.busy_until = std::max(core.busy_until, now + 1);
        if (t.more_slots == 0) return;
        core.busy_until += core.owed;
        core.taken_until = core.busy_until;
        core.owed = t.more_slots;
    }

    // A branch that is a predicate has gone to `next`: all warps issue the instructions that this one goes past, a slot
    // each. What loads are moved up to counts as issued.
    int64_t skip_side(Warp& w, const Issued& i, uint32_t next, int64_t now) const {
        const Timing& t = decode(i.record.pc);
        if (t.predicated == Predicated::no) return 0;
        if (t.predicated == Predicated::decides) w.split = i.event.diverged;
        if (w.split || next <= i.record.pc) return 0;
        for (uint32_t pc = i.record.pc + 1; pc < next; ++pc) set_mark(w, decode(pc), now);
        return decode(next).slots - decode(i.record.pc + 1).slots;
    }

    // The functional machine runs the instruction and says what it did. False after a fault.
    bool execute(Warp& w, int64_t now, Issued& i) {
        w.threads->block->clock = now;
        i.event = simt::step(*w.threads);
        if (i.event.kind == simt::WarpEvent::Kind::fault) {
            gpu_.result.fault = *i.event.fault;
            return false;
        }
        ++gpu_.issues;
        i.number = issued_++;
        i.record.cycle = now;
        i.record.pc = std::min(i.event.pc, last_pc());
        i.record.active = i.event.executed;
        i.record.warp = static_cast<uint32_t>(w.track);
        return true;
    }

    // Its operands go to the pipe for as many cycles as the pipe's lanes, or the banks of the register file, need.
    void read_operands(SubCore& core, const Timing& t, int64_t now, const Issued& i) {
        core.pipe[t.pipe].free = now + t.interval;
        if (t.route == Route::math) core.pipe[t.pipe].cause = i.number;
    }

    void access_memory(SubCore& core, Warp& w, const Timing& t, int64_t now, Issued& i) {
        simt::WarpEvent event = i.event;
        uint64_t aligned[32];
        if (t.wide_bytes != 0 && event.space == ptx::Space::shared && event.addresses != nullptr) {  // brings others along
            for (uint32_t lane = 0; lane < 32; ++lane) aligned[lane] = event.addresses[lane] & ~uint64_t{t.wide_bytes - 1u};
            event.addresses = aligned;
            event.bytes = t.wide_bytes;
        }
        // A load that ptxas moves up counts as issued when the instruction was to which it is moved.
        const int8_t mark = t.rounds > 1 && w.round != 0 ? global_marks : t.from_mark;
        const int64_t early = mark < 0 ? 0 : now - w.marks[static_cast<size_t>(mark)];
        memory_side_.name_next(i.number);
        const MemoryCost cost = memory_side_.access(core.number, now, event, t, static_cast<uint32_t>(early));
        const ptx::Kind kind = event.instruction != nullptr ? event.instruction->kind : ptx::Kind::nop;
        if (kind == ptx::Kind::async_copy || kind == ptx::Kind::bulk_copy)
            simt::set_ready(*w.threads, i.record.pc, cost.ready);
        const int64_t there = cost.done + (cost.level >= MemoryLevel::l1 ? store_way(gpu_.spec) : 0);
        if ((event.is_store || event.is_atomic) && there > w.stores_done) {
            w.stores_done = there;
            w.last_store = i.number;
        }
        using enum LoadStore::Queue;
        core.pipe[mio_queue] = {memory_side_.free_at(core.number, mio), memory_side_.holder(core.number, mio)};
        core.pipe[lg_queue] = {memory_side_.free_at(core.number, lg), memory_side_.holder(core.number, lg)};
        // What would be there before the issue counts as asked for no earlier than its latency needs.
        const int64_t latency = cost.ready - now + (cost.level >= MemoryLevel::l1 ? early : 0);
        const int64_t counted = std::clamp<int64_t>(latency - 1, 0, early);
        i.result.ready = std::max(now + 1, now - counted + latency);
        if (cost.level == MemoryLevel::shared) i.result.wait = StallReason::short_scoreboard;
        const bool far = cost.ready - now > int64_t{t.latency} + simt::warp_size;
        if (cost.level == MemoryLevel::constant && t.result_wait == StallReason::wait && far)
            i.result.wait = StallReason::imc_miss;
        i.record.early = static_cast<uint32_t>(counted);
        i.record.level = cost.level;
        i.record.sectors = static_cast<uint8_t>(std::min(255u, cost.sectors));
        i.record.passes = static_cast<uint8_t>(std::min(255u, cost.passes));
    }

    static void set_mark(Warp& w, const Timing& t, int64_t now) {
        if (t.sets_mark < 0) return;
        if (t.rounds == 1 || w.round == 0) w.marks[static_cast<size_t>(t.sets_mark)] = now;
        if (t.rounds > 1) w.round = (w.round + 1) % t.rounds;
    }

    // From now on the registers that the instruction writes have to be waited for.
    void write_back(Warp& w, const Timing& t, int64_t now, Issued& i) {
        set_mark(w, t, now);
        std::erase_if(w.coming, [&](const auto& entry) { return entry.second.ready <= now; });
        for (uint32_t k = 0; k < t.registers_written; ++k) w.coming[t.writes[k]] = i.result;
        for (uint32_t k = 0; k < t.list_written; ++k) w.coming[t.list[k]] = i.result;
        i.record.ready = t.registers_written + t.list_written != 0 ? std::max(now + 1, i.result.ready) : now + 1;
        if (is_traced()) gpu_.result.issues.push_back(i.record);
    }

    // The instructions behind one that issued which ptxas folds into others take no slot: what they write is there when what
    // they read is. `next` becomes the instruction behind them. False after a fault.
    bool fold(Warp& w, int64_t now, uint32_t& next, int64_t& skipped) {
        constexpr uint32_t most_folded = 64;  // of one issue
        for (uint32_t k = 0; k < most_folded && decode(next).folded && gpu_.issues < gpu_.options.max_instructions; ++k) {
            const Timing& t = decode(next);
            Issued i;
            if (!execute(w, now, i)) return false;
            i.record.folded = true;
            const Result* const missing = missing_result(w, t, now);
            i.result = missing != nullptr ? *missing : Result{now};
            write_back(w, t, now, i);
            next = next_pc(w);
            skipped += skip_side(w, i, next, now);
        }
        return true;
    }

    bool is_traced() const { return number_ == gpu_.options.traced_sm; }
    uint32_t last_pc() const { return static_cast<uint32_t>(gpu_.timing.size() - 1); }
    uint32_t next_pc(const Warp& w) const { return std::min(w.threads->pc(), last_pc()); }

    // The warp goes to `pc`, as is known from cycle `known` on. A sub-core's small cache of instructions asks the SM's for a
    // line that is not there and for the lines behind it. Of a line that is there those have been asked for, but the last.
    void fetch(SubCore& core, Warp& w, uint32_t pc, int64_t known) {
        const uint32_t line = line_of(pc), last = line_of(last_pc());
        const bool same_line = line == line_of(w.pc);
        w.pc = pc;
        if (same_line) return;
        const int64_t* const here = core.code.find(line);
        const uint32_t ahead = gpu_.spec.code_prefetch, first = here == nullptr ? 1 : ahead;
        w.fetched = here != nullptr ? *here : line_from_l1(line, known);
        if (here == nullptr) core.code.put(line, w.fetched);
        for (uint32_t k = first; k <= ahead && line + k <= last; ++k)
            if (core.code.find(line + k) == nullptr) core.code.put(line + k, line_from_l1(line + k, known) + k);
    }

    int64_t line_from_l1(uint32_t line, int64_t now) {
        if (const int64_t* const arrives = code_.find(line)) return std::max(*arrives, now + gpu_.spec.l1_code_latency);
        const int64_t arrives = now + std::max<int64_t>(gpu_.spec.l2_latency, gpu_.spec.l1_code_latency);
        code_.put(line, arrives);
        return arrives;
    }

    uint32_t line_of(uint32_t pc) const {
        return pc / std::bit_floor(code_line_bytes / std::clamp<uint32_t>(gpu_.spec.instruction_bytes, 1, code_line_bytes));
    }

    // What the warp that has issued waits for before its next instruction is looked at.
    void find_wait(Warp& w, const Timing& t, int64_t now, const Issued& i) {
        const auto in = [&](int64_t cycles) { return now + std::max<int64_t>(1, cycles); };
        if (w.threads->at_barrier) {
            w.wait = {StallReason::barrier, i.number, for_ever};  // until open_barrier
        } else if (i.event.until > now + 1) {                     // for the bytes of asynchronous copies
            w.wait = {StallReason::long_scoreboard, i.number, i.event.until};
        } else if (i.event.kind == simt::WarpEvent::Kind::barrier && t.route == Route::barrier) {
            w.wait = {StallReason::barrier, i.number, arrived_ + std::max<int64_t>(1, gpu_.spec.barrier_latency)};
        } else if (t.route == Route::branch) {
            w.wait = {StallReason::branch_resolving, i.number, in(gpu_.spec.branch_latency)};
        } else if (t.route == Route::sleep && i.event.executed != 0) {
            const double nanoseconds = simt::longest_sleep(*w.threads, i.record.pc, i.event.executed);
            w.wait = {StallReason::sleeping, i.number, in(static_cast<int64_t>(nanoseconds * gpu_.spec.boost_mhz / 1000.0))};
        } else if (t.route == Route::fence) {  // until its stores are known to be there
            if (t.acquires) memory_side_.forget_l1();
            const int64_t home = w.stores_done != 0 ? w.stores_done + gpu_.spec.l2_latency - store_way(gpu_.spec) : 0;
            const int64_t least = now + t.latency;
            if (std::max(home, least) > now + 1)
                w.wait = {StallReason::membar, home >= least ? w.last_store : i.number, std::max(home, least)};
        }
    }

    // The last warp has come: the others go on a little later. What they waited for is known only now.
    void open_barrier(Place& place, int64_t arrived, int64_t cause) {
        for (Warp* const w : place.warps) {
            if (w->wait.until != for_ever || w->threads->at_barrier) continue;
            if (is_traced()) {
                std::vector<PlainCycle>& cycles = gpu_.result.warps[w->track].cycles;
                for (auto c = cycles.rbegin(); c != cycles.rend() && c->reason == StallReason::barrier; ++c)
                    if (c->cause == w->wait.cause) c->cause = cause;
            }
            w->wait = {StallReason::barrier, cause, arrived + std::max<int64_t>(1, gpu_.spec.barrier_latency)};
        }
    }

    // The warp has ended, and leaves when its stores are on their way.
    void retire(Warp& w, int64_t now, const Issued& i) {
        w.pc = i.record.pc;
        w.end = std::max(now + 1, w.stores_done);
        w.wait = {StallReason::drain, w.stores_done > now + 1 ? w.last_store : i.number, w.end};
        gpu_.result.cycles = std::max(gpu_.result.cycles, w.end);
    }

  private:
    PlainGpu& gpu_;
    uint32_t number_;
    int64_t issued_ = 0;                       // instructions, which are numbered from 0 on
    uint32_t began_ = 0;                       // warps
    int64_t barriers_free_ = 0, arrived_ = 0;  // when a barrier counts in the next warp; when it did the last one
    LoadStore memory_side_;
    InstructionCache code_;
    std::vector<SubCore> cores_;
    std::vector<Warp> warps_;  // by slot: those of the first place come first; the slot modulo sub-cores is the sub-core
    std::vector<Place> places_;
};

void prepare(PlainGpu& gpu, const ptx::Program& program, const simt::LaunchConfig& config, simt::Memory& device_memory) {
    const auto threads = static_cast<uint32_t>(config.block.count());
    const uint64_t shared = ptx::shared_bytes(program, config.dynamic_shared);
    const Occupancy fits = occupancy(gpu.spec, threads, ptx::registers_on(program, gpu.spec.compute.number), shared,
                                     gpu.options.most_blocks_per_sm);
    gpu.blocks_per_sm = std::max(1u, fits.blocks);
    gpu.warps_per_block = fits.warps_per_block;
    gpu.shared_in_use = static_cast<uint32_t>(shared_of_a_block(gpu.spec, shared) * gpu.blocks_per_sm);
    gpu.blocks = config.grid.count();
    gpu.grid = simt::make_grid(program, config, device_memory);
    gpu.timing = make_timing(
        gpu.spec, program,
        {.lowering = gpu.options.lowering && gpu.spec.folds_ptx != 0, .clusters = simt::cluster_size(gpu.grid) > 1});
    gpu.result.states.resize(gpu.timing.size());
    gpu.grid.sm_count = gpu.spec.sms;
    simt::set_blocks_at_once(gpu.grid, uint64_t{gpu.spec.sms} * gpu.blocks_per_sm);
    gpu.grid.synccheck = gpu.options.synccheck;
    gpu.grid.independent = gpu.options.independent && schedules_threads(gpu.spec);
    for (const Timing& t : gpu.timing) gpu.wide_loads.push_back(t.wide_bytes);
    gpu.grid.wide_loads = gpu.wide_loads.data();
}

}  // namespace

PlainResult plain_launch(const GpuSpec& spec, const ptx::Program& program, const simt::LaunchConfig& config,
                         simt::Memory& device_memory, const TimedOptions& options) {
    PlainGpu gpu{.spec = spec, .options = options, .memory = MemorySystem(spec)};
    prepare(gpu, program, config, device_memory);
    std::vector<PlainSm> sms;
    for (uint32_t i = 0; i < std::min<uint64_t>(spec.sms, gpu.blocks); ++i) sms.emplace_back(gpu, i);
    for (uint32_t place = 0; place < gpu.blocks_per_sm; ++place)  // block i goes to SM i % SMs as long as there is room
        for (PlainSm& sm : sms)
            if (gpu.next_block < gpu.blocks) sm.start_block(place, 0);
    for (int64_t now = 0; gpu.blocks_over < gpu.blocks && !gpu.result.fault; ++now) {
        gpu.goes_on = false;
        gpu.stuck = nullptr;
        for (PlainSm& sm : sms)
            if (!gpu.result.fault) sm.tick(now);
        if (gpu.stuck != nullptr && !gpu.goes_on) gpu.result.fault = simt::deadlock_fault(*gpu.stuck);
        if (gpu.result.fault) gpu.result.cycles = now + 1;
    }
    return std::move(gpu.result);
}

}  // namespace lockstep::model
