// Kernels in the stream clock: what a block takes of its SM, and the block scheduler that several kernels share.
#include <algorithm>
#include <cmath>

#include "core/model/streams/streams.h"

namespace lockstep::model {
namespace {

uint32_t whole_units(uint32_t n, uint32_t unit) {
    return unit == 0 ? n : (n + unit - 1) / unit * unit;
}

}  // namespace

int64_t KernelTime::picoseconds(int64_t of) const {
    return std::llround(static_cast<double>(of) * 1e6 / mhz);
}

int64_t KernelTime::last_end() const {
    int64_t last = 0;
    for (const Block& block : blocks) last = std::max(last, block.end);
    return last;
}

KernelTime kernel_time(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                       const TimedResult& result) {
    KernelTime time;
    time.cycles = result.cycles;
    time.mhz = gpu.boost_mhz;
    const auto shared = static_cast<uint32_t>(ptx::shared_bytes(program, config.dynamic_shared));
    time.warps = std::max(1u, result.occupancy.warps_per_block);
    time.registers =
        time.warps * whole_units(std::max(1u, ptx::registers_on(program, gpu.compute.number)) * 32, gpu.register_unit);
    time.shared = whole_units(shared + gpu.shared_reserved, gpu.shared_granule);
    time.blocks_per_sm = std::max(1u, result.occupancy.blocks);
    if (result.trace.blocks.size() != config.grid.count()) return time;  // not all of them were kept
    for (const BlockRun& block : result.trace.blocks) time.blocks.push_back({block.sm, block.begin, block.end});
    return time;
}

// Whether its blocks can stand beside others': they are known, and one of them fits an SM by every limit.
bool StreamClock::shares(const Operation& operation) const {
    const KernelTime* kernel = operation.kernel.get();
    return kernel && !kernel->blocks.empty() && kernel->warps <= gpu_->warps_per_sm &&
           kernel->registers <= gpu_->registers_per_sm && kernel->shared <= gpu_->shared_per_sm && gpu_->blocks_per_sm > 0;
}

bool StreamClock::fits(const Running& running, size_t sm) const {
    const KernelTime& kernel = *at(running.operation).kernel;
    const Sm& taken = sms_[sm];
    return taken.blocks + 1 <= gpu_->blocks_per_sm && taken.warps + kernel.warps <= gpu_->warps_per_sm &&
           taken.registers + kernel.registers <= gpu_->registers_per_sm &&
           taken.shared + kernel.shared <= gpu_->shared_per_sm && running.on_sm[sm] < kernel.blocks_per_sm;
}

void StreamClock::take(const KernelTime& kernel, size_t sm, bool give_back) {
    Sm& taken = sms_[sm];
    const auto change = [&](uint32_t& what, uint32_t by) { what = give_back ? what - by : what + by; };
    change(taken.blocks, 1);
    change(taken.warps, kernel.warps);
    change(taken.registers, kernel.registers);
    change(taken.shared, kernel.shared);
}

void StreamClock::place(Running& running, size_t sm) {
    const KernelTime& kernel = *at(running.operation).kernel;
    const KernelTime::Block& block = kernel.blocks[running.next++];
    take(kernel, sm, false);
    ++running.on_sm[sm];
    ++running.live;
    next_.push({now_ + kernel.picoseconds(block.end) - kernel.picoseconds(block.begin), happenings_++, running.operation,
                static_cast<int32_t>(sm)});
}

// A kernel that had the GPU for itself gets company: from here on its blocks count one by one.
void StreamClock::expand(Running& running) {
    const Operation& one = at(running.operation);
    const KernelTime& kernel = *one.kernel;
    if (one.begin + kernel.picoseconds(kernel.last_end()) <= now_) return;  // its blocks are over
    running.whole = false;
    running.ends = -1;
    running.on_sm.assign(sms_.size(), 0);
    for (; running.next < kernel.blocks.size(); ++running.next) {
        const KernelTime::Block& block = kernel.blocks[running.next];
        if (one.begin + kernel.picoseconds(block.begin) > now_) break;
        const Time ends = one.begin + kernel.picoseconds(block.end);
        if (ends <= now_) continue;
        const size_t sm = std::min<size_t>(block.sm, sms_.size() - 1);
        take(kernel, sm, false);
        ++running.on_sm[sm];
        ++running.live;
        next_.push({ends, happenings_++, running.operation, static_cast<int32_t>(sm)});
    }
}

// Kernels leave their queues when their stream comes to them, and get SMs in that order: the blocks of one begin only
// when all blocks of those before it have begun.
bool StreamClock::start_kernels() {
    bool any = false;
    for (;;) {  // into the block scheduler
        Queue* first = nullptr;
        for (Queue& queue : queues_)
            if (queue.engine == Engine::compute && !queue.waiting.empty() && may_begin(at(queue.waiting.front())) &&
                (!first || queue.waiting.front() < first->waiting.front()))
                first = &queue;
        if (!first || running_.size() >= gpu_->concurrent_kernels) break;
        const size_t index = first->waiting.front();
        first->waiting.erase(first->waiting.begin());
        int cause = -1;
        for (const int i : at(index).told.after)
            if (static_cast<size_t>(i) >= forgotten_ && at(static_cast<size_t>(i)).end == now_) cause = i;
        at(index).told.cause = cause >= 0 ? cause : first->released == now_ && at(index).visible < now_ ? first->cause : -1;
        first->released = now_;
        first->cause = at(index).told.cause;
        Running running;
        running.operation = index;
        running.came = now_;
        running_.push_back(running);
        any = true;
    }
    for (size_t i = 0; i < running_.size(); ++i) {
        Running& running = running_[i];
        Operation& one = at(running.operation);
        const size_t blocks = shares(one) ? one.kernel->blocks.size() : 0;
        const auto begin_now = [&] {
            const int cause = running.came < now_ && room_since_ == now_ ? room_from_ : one.told.cause;
            running.begun = true;
            begin(running.operation, -1, nullptr);
            one.told.cause = cause;
        };
        if (running.begun && running.whole && running_.size() > i + 1 && blocks > 0) expand(running);
        if (!running.begun && i == 0) {  // the GPU is empty
            running.whole = true;
            begin_now();
            running.ends = now_ + one.duration;
            next_.push({running.ends, happenings_++, running.operation, Happening::whole_operation});
            any = true;
            if (running_.size() > 1 && blocks > 0) expand(running);
        }
        if (running.whole) break;                  // alone, or it takes all SMs
        if (!running.begun && blocks == 0) break;  // wants them all
        if (running.on_sm.empty()) running.on_sm.assign(sms_.size(), 0);
        while (running.next < blocks) {
            size_t best = sms_.size();
            for (size_t sm = 0; sm < sms_.size(); ++sm)
                if (fits(running, sm) && (best == sms_.size() || sms_[sm].blocks < sms_[best].blocks)) best = sm;
            if (best == sms_.size()) break;
            if (!running.begun) {
                begin_now();
                running.lead = one.kernel->picoseconds(one.kernel->blocks.front().begin);
            }
            place(running, best);
            any = true;
        }
        if (running.next < blocks) break;
    }
    return any;
}

}  // namespace lockstep::model
