// The stream clock: a discrete-event simulation in picoseconds. Reading order: issue() is the host's side of a call;
// start_what_can() lets everything begin that may (kernels: streams_kernels.cpp); step() goes to the next end of a copy, a
// block or a kernel.
#include "core/model/streams/streams.h"

#include <algorithm>
#include <cmath>

namespace lockstep::model {
namespace {

int64_t picoseconds(double us) {
    return std::llround(us * 1e6);
}

double microseconds(int64_t picoseconds) {
    return static_cast<double>(picoseconds) * 1e-6;
}

bool is_copy(HostVerb verb) {
    return verb == HostVerb::copy_in || verb == HostVerb::copy_out || verb == HostVerb::copy_within;
}

// The entry of a small list of pairs; null when there is none.
size_t* find(std::vector<std::pair<uint32_t, size_t>>& list, uint32_t key) {
    for (auto& [k, value] : list)
        if (k == key) return &value;
    return nullptr;
}

void set(std::vector<std::pair<uint32_t, size_t>>& list, uint32_t key, size_t value) {
    if (size_t* found = find(list, key))
        *found = value;
    else
        list.emplace_back(key, value);
}

}  // namespace

double copy_us(const GpuSpec& gpu, HostVerb verb, uint64_t bytes, bool pinned, HostLink link) {
    // Of an H200's bandwidths, what its copies of 256 and of 16 MiB from memory to memory reach (assets/silicon), each byte
    // read and written: DRAM is read at 97 % of its peak, so the turns between reads and writes cost 8 % more.
    constexpr double share_of_dram = 0.92, share_of_l2 = 0.76;
    const double size = static_cast<double>(bytes);
    if (verb == HostVerb::copy_within) {
        const double dram = gpu.dram_gb_per_second * gpu.dram_efficiency * share_of_dram / 2,
                     l2 = gpu.l2_bytes_per_cycle * gpu.boost_mhz * 1e-3 * share_of_l2 / 2;
        const bool fits =
            2 * size <= double(gpu.l2_bytes);  // what is written stays there; what is read comes at DRAM's rate
        const double rate = fits ? std::max(dram, std::min(l2, 2 * dram)) : dram;
        return gpu.copy_within_latency_us + size / (rate * 1e3);
    }
    const bool over_nvlink = link == HostLink::nvlink && gpu.nvlink_gb_per_second > 0;
    const double gb = !pinned       ? gpu.pageable_gb_per_second.value
                      : over_nvlink ? gpu.nvlink_gb_per_second / 2
                                    : gpu.pinned_gb_per_second.value;
    const double start = verb == HostVerb::copy_out ? gpu.copy_back_latency_us : gpu.copy_latency_us;
    return start + size / (gb * 1e3);
}

std::string name_of(Engine engine, const GpuSpec& gpu) {
    switch (engine) {
        case Engine::copy_in:
            return gpu.copy_engines == 1 ? "copy engine" : "copy engine H2D";
        case Engine::copy_out:
            return "copy engine D2H";
        case Engine::copy_within:
            return "copy engine D2D";
        case Engine::compute:
            return "SMs";
        case Engine::none:
            break;
    }
    return "";
}

StreamClock::StreamClock(const GpuSpec& gpu, HostLink link, uint32_t connections)
    : gpu_(std::make_shared<const GpuSpec>(gpu)),
      link_(link),
      connections_(std::clamp<uint32_t>(connections, 1, std::max(1u, gpu.connections.value))),
      sms_(gpu.sms) {}

double StreamClock::host_us() const {
    return microseconds(host_);
}

OperationTime StreamClock::time_of(size_t operation) const {
    const Operation& one = at(operation);
    OperationTime told = one.told;
    told.begin_us = microseconds(one.begin);
    told.end_us = microseconds(one.end);
    told.alone_us = microseconds(one.duration);
    return told;
}

Engine StreamClock::engine_of(HostVerb verb) const {
    if (verb == HostVerb::launch) return Engine::compute;
    if (verb == HostVerb::copy_in || gpu_->copy_engines == 1) return Engine::copy_in;
    if (verb == HostVerb::copy_out) return Engine::copy_out;
    return gpu_->copy_engines >= 3 ? Engine::copy_within : Engine::copy_in;
}

// A copy within the device reads and writes its memory.
StreamClock::Time StreamClock::copy_time(const HostOperation& operation) const {
    return picoseconds(copy_us(*gpu_, operation.verb, operation.bytes, operation.pinned, link_));
}

StreamClock::Queue& StreamClock::queue_of(uint32_t connection, Engine engine) {
    for (Queue& queue : queues_)
        if (queue.connection == connection && queue.engine == engine) return queue;
    queues_.push_back({connection, engine, {}, -1, -1});
    return queues_.back();
}

// Each stream waits for itself; the default stream and the others for each other, but for independent ones.
bool StreamClock::waits_for(uint32_t stream, uint32_t other) const {
    if (stream == other) return true;
    if (stream != 0 && other != 0) return false;
    return std::find(independent_.begin(), independent_.end(), std::max(stream, other)) == independent_.end();
}

// What must have ended before: the last operation of each stream that it waits for; for a wait the recorded event.
void StreamClock::follow(Operation& operation, size_t index, HostVerb verb, uint32_t event) {
    const auto after = [&](size_t i) {
        if (i >= forgotten_) operation.told.after.push_back(static_cast<int>(i));
    };
    for (const auto& [stream, last] : last_in_stream_)
        if (waits_for(operation.stream, stream)) after(last);
    if (verb == HostVerb::wait)
        if (const size_t* recorded = find(recorded_, event)) after(*recorded);
    if (verb == HostVerb::record) set(recorded_, event, index);
    set(last_in_stream_, operation.stream, index);
}

size_t StreamClock::issue(const HostOperation& asked) {
    const size_t index = forgotten_ + operations_.size();
    operations_.emplace_back();
    Operation& one = operations_.back();
    one.stream = asked.stream;
    one.in_graph = asked.in_graph;
    one.told.call_begin_us = microseconds(host_);
    const auto spend = [&](double us) {
        host_ += picoseconds(us);
        one.told.busy_end_us = microseconds(host_);
    };
    const bool to_device = is_copy(asked.verb) || asked.verb == HostVerb::launch || asked.verb == HostVerb::record ||
                           asked.verb == HostVerb::wait;
    while (to_device && unfinished_ >= queue_depth && step()) host_ = std::max(host_, now_);
    switch (asked.in_graph ? HostVerb::work : asked.verb) {
        case HostVerb::allocate:
            spend(gpu_->allocate_us);
            break;
        case HostVerb::work:
            spend(asked.us);
            if (asked.verb == HostVerb::work) one.duration = picoseconds(asked.us);
            break;
        case HostVerb::launch:
            spend(asked.us > 0 ? asked.us : double(gpu_->launch_us));
            break;
        case HostVerb::copy_in:
        case HostVerb::copy_out:
        case HostVerb::copy_within:
            spend(gpu_->launch_us);
            break;
        default:
            spend(gpu_->call_us);
    }
    if (to_device) {
        one.told.on_device = true;
        one.visible = host_;
        one.marker = asked.verb == HostVerb::record || asked.verb == HostVerb::wait;
        follow(one, index, asked.verb, asked.event);
        ++unfinished_;
        if (one.marker) {
            markers_.push_back(index);
        } else {
            one.told.engine = engine_of(asked.verb);
            one.kernel = asked.kernel;
            if (asked.verb == HostVerb::launch) {
                one.visible += picoseconds(gpu_->launch_latency_us);
                one.duration = asked.kernel ? asked.kernel->picoseconds(asked.kernel->cycles) : 0;
            } else {
                one.duration = copy_time(asked);
                one.within = asked.verb == HostVerb::copy_within;
            }
            queue_of(asked.stream % connections_, one.told.engine).waiting.push_back(index);
        }
        next_.push({one.visible, happenings_++, index, Happening::has_come});
        if (is_copy(asked.verb) && asked.verb != HostVerb::copy_within && (asked.blocking || !asked.pinned) &&
            !asked.in_graph)
            wait_for(index, one);
    } else if (asked.verb == HostVerb::release || asked.verb == HostVerb::synchronize) {
        const bool all = asked.verb == HostVerb::release || asked.with == SyncWith::device;
        if (asked.verb == HostVerb::synchronize && asked.with == SyncWith::event) {
            if (const size_t* recorded = find(recorded_, asked.event)) wait_for(*recorded, one);
        } else {
            for (const auto& [stream, last] : last_in_stream_)
                if (all || stream == asked.stream) wait_for(last, one);
        }
    }
    at(index).told.call_end_us = microseconds(host_);
    if (!to_device) at(index).done = true;
    return index;
}

void StreamClock::spend(double us) {
    host_ += picoseconds(us);
}

void StreamClock::wait_for(size_t operation, Operation& caller) {
    if (operation < forgotten_) return;
    while (!ended(operation) && step()) {
    }
    caller.told.seen.push_back(static_cast<int>(operation));
    if (at(operation).end <= host_) return;
    host_ = at(operation).end;
    caller.told.awaited = static_cast<int>(operation);
}

void StreamClock::finish() {
    while (unfinished_ > 0 && step()) {
    }
}

void StreamClock::catch_up() {
    finish();
    host_ = std::max(host_, now_);
}

void StreamClock::advance() {
    // What became possible by the last happening begins too, though nothing is left to happen.
    while ((now_ <= host_ && start_what_can()) || (!next_.empty() && next_.top().time <= host_ && step())) {
    }
}

void StreamClock::forget() {
    advance();
    while (over_ < operations_.size() && operations_[over_].done) ++over_;
    if (2 * over_ >= operations_.size()) {  // not one by one: each time all that are left move up
        operations_.erase(operations_.begin(), operations_.begin() + static_cast<std::ptrdiff_t>(over_));
        forgotten_ += over_;
        over_ = 0;
    }
    std::erase_if(queues_, [](const Queue& queue) { return queue.waiting.empty(); });
}

bool StreamClock::may_begin(const Operation& operation) const {
    return operation.visible <= now_ && std::all_of(operation.told.after.begin(), operation.told.after.end(),
                                                    [&](int i) { return ended(static_cast<size_t>(i)); });
}

// Whatever came about just now is what it waited for: an operation before it, else its engine, else its queue, else its
// own call.
void StreamClock::begin(size_t index, int engine_cause, const Queue* queue) {
    Operation& one = at(index);
    one.started = true;
    one.begin = now_;
    for (const int i : one.told.after)
        if (static_cast<size_t>(i) >= forgotten_ && at(static_cast<size_t>(i)).end == now_) one.told.cause = i;
    if (one.told.cause < 0) one.told.cause = engine_cause;
    if (one.told.cause < 0 && queue && queue->released == now_ && one.visible < now_) one.told.cause = queue->cause;
}

void StreamClock::end(size_t index) {
    Operation& one = at(index);
    one.done = true;
    one.end = now_;
    --unfinished_;
    if (one.told.engine == Engine::compute) hold_next(index);
}

// The next kernel of a stream that waits for this one begins a little later.
void StreamClock::hold_next(size_t index) {
    const auto follows = [&](size_t i) {
        const std::vector<int>& after = at(i).told.after;
        return std::find(after.begin(), after.end(), static_cast<int>(index)) != after.end();
    };
    for (const Queue& queue : queues_) {
        if (queue.engine != Engine::compute) continue;
        const auto next = std::find_if(queue.waiting.begin(), queue.waiting.end(), follows);
        if (next == queue.waiting.end()) continue;
        Operation& held = at(*next);
        const double gap = held.in_graph ? gpu_->launch_gap_us * gap_in_graph : gpu_->launch_gap_us.value;
        const Time begins = now_ + picoseconds(gap);
        if (begins <= held.visible) continue;
        held.visible = begins;
        next_.push({begins, happenings_++, *next, Happening::has_come});
    }
}

StreamClock::Running* StreamClock::running_at(size_t operation) {
    for (Running& running : running_)
        if (running.operation == operation) return &running;
    return nullptr;
}

bool StreamClock::step() {
    if (start_what_can()) return true;
    if (next_.empty()) return false;
    now_ = std::max(now_, next_.top().time);
    while (!next_.empty() && next_.top().time <= now_) {
        const Happening it = next_.top();
        next_.pop();
        if (it.sm == Happening::has_come || ended(it.operation)) continue;
        Operation& one = at(it.operation);
        Running* const running = running_at(it.operation);
        if (it.sm >= 0) {  // a block has ended; the last keeps its place until the kernel has
            const bool last = running->live == 1 && running->next == one.kernel->blocks.size();
            if (last && running->ends < 0) {
                const Time behind = one.duration + running->lead - one.kernel->picoseconds(one.kernel->last_end());
                running->ends = now_ + std::max<Time>(0, behind);
                next_.push({running->ends, happenings_++, it.operation, it.sm});
                continue;
            }
            take(*one.kernel, static_cast<size_t>(it.sm), true);
            --running->on_sm[static_cast<size_t>(it.sm)];
            --running->live;
            room_since_ = now_;
            room_from_ = static_cast<int>(it.operation);
            if (!last) continue;
        }
        if (running) {
            if (it.sm < 0 && (!running->whole || running->ends != it.time)) continue;  // planned before it was shared
            running_.erase(running_.begin() + (running - running_.data()));
            room_since_ = now_;
            room_from_ = static_cast<int>(it.operation);
        } else {
            CopyEngine& engine = copy_engines_[static_cast<size_t>(one.told.engine)];
            if (engine.ends != it.time) continue;  // planned before its speed changed
            engine.busy = false;
            engine.ended = now_;
            engine.last = static_cast<int>(it.operation);
            share_link();
        }
        end(it.operation);
    }
    return true;
}

bool StreamClock::start_what_can() {
    const bool markers = start_markers(), copies = start_copies(), kernels = start_kernels();
    return markers || copies || kernels;
}

bool StreamClock::start_markers() {
    bool any = false;
    for (size_t i = 0; i < markers_.size();) {
        Operation& one = at(markers_[i]);
        if (!may_begin(one)) {
            ++i;
            continue;
        }
        begin(markers_[i], -1, nullptr);
        end(markers_[i]);
        Time came = one.visible;  // when its stream came to it: the operation before it in its own stream had ended
        for (const int j : one.told.after)
            if (static_cast<size_t>(j) >= forgotten_ && at(static_cast<size_t>(j)).stream == one.stream)
                came = std::max(came, at(static_cast<size_t>(j)).end);
        one.begin = std::min(came, one.end);
        markers_.erase(markers_.begin() + static_cast<std::ptrdiff_t>(i));
        any = true;
    }
    return any;
}

// A free copy engine takes, of the heads of its queues that may begin, the one issued first.
bool StreamClock::start_copies() {
    bool any = false;
    for (size_t e = 0; e < engines; ++e) {
        CopyEngine& engine = copy_engines_[e];
        if (engine.busy) continue;
        Queue* first = nullptr;
        for (Queue& queue : queues_)
            if (static_cast<size_t>(queue.engine) == e && queue.engine != Engine::compute && !queue.waiting.empty() &&
                may_begin(at(queue.waiting.front())) && (!first || queue.waiting.front() < first->waiting.front()))
                first = &queue;
        if (!first) continue;
        const size_t index = first->waiting.front();
        begin(index, engine.ended == now_ ? engine.last : -1, first);
        first->waiting.erase(first->waiting.begin());
        first->released = now_;
        first->cause = at(index).told.cause;
        engine.busy = true;
        engine.over_link = !at(index).within && !(link_ == HostLink::nvlink && gpu_->nvlink_gb_per_second > 0);
        engine.operation = index;
        engine.since = now_;
        engine.left = at(index).duration;
        engine.speed = 1;
        engine.ends = now_ + engine.left;
        next_.push({engine.ends, happenings_++, index, Happening::whole_operation});
        share_link();
        any = true;
    }
    return any;
}

// PCI Express carries both directions at once, but what one of them asks for and acknowledges goes with the other's data:
// copies go slower from when both are under way until one of them is not.
void StreamClock::share_link() {
    CopyEngine* const ways[] = {&copy_engines_[static_cast<size_t>(Engine::copy_in)],
                                &copy_engines_[static_cast<size_t>(Engine::copy_out)]};
    const bool both = ways[0]->busy && ways[0]->over_link && ways[1]->busy && ways[1]->over_link;
    const double speed = both ? gpu_->copy_beside_share : 1.0;
    for (CopyEngine* const way : ways) {
        if (!way->busy || way->speed == speed || way->ends <= now_) continue;
        way->left -= std::llround(static_cast<double>(now_ - way->since) * way->speed);
        way->since = now_;
        way->speed = speed;
        way->ends = now_ + std::llround(static_cast<double>(std::max<Time>(0, way->left)) / speed);
        next_.push({way->ends, happenings_++, way->operation, Happening::whole_operation});
    }
}

}  // namespace lockstep::model
