#include "core/model/launch/machine_log.h"

#include <algorithm>
#include <tuple>

#include "core/model/memory/coalescer.h"

namespace lockstep::model {
namespace {
constexpr uint32_t most_columns = 2048, first_column_bits = 4;

// Adds the ticks of [begin, end) to the columns that they lie in.
void spread_over(DoublingWindows<uint64_t>& windows, uint32_t place, Ticks begin, Ticks end) {
    begin = std::max<Ticks>(begin, 0);
    while (begin < end) {
        const int64_t cycle = begin >> tick_bits;
        uint64_t* const row = windows.at(cycle);
        const Ticks next = std::min(end, ticks_of(windows.border(cycle)));
        row[place] += static_cast<uint64_t>(next - begin);
        begin = next;
    }
}

std::vector<float> columns_of(DoublingWindows<uint64_t> sums, uint32_t row, uint32_t shift, uint32_t columns, int64_t cycles,
                              double unit) {
    sums.coarsen(shift);
    std::vector<float> means(size_t{columns} * row);
    for (uint32_t column = 0; column < columns && column < sums.count(); ++column) {
        const int64_t begin = int64_t{column} << shift;
        const auto length = static_cast<double>(std::max<int64_t>(1, std::min(int64_t{1} << shift, cycles - begin)));
        for (uint32_t place = 0; place < row; ++place)
            means[size_t{column} * row + place] =
                static_cast<float>(static_cast<double>(sums.row(column)[place]) * unit / length);
    }
    return means;
}
}  // namespace

MachineLog::MachineLog(const GpuSpec& gpu, uint32_t traced_sm, uint64_t busy_sms, const Limits& limits)
    : limits_(limits),
      traced_(traced_sm),
      issues_a_sm_(std::max<uint64_t>(1, limits.issues / std::min<uint64_t>(gpu.sms, busy_sms == 0 ? gpu.sms : busy_sms))),
      issues_(gpu.sms),
      waiting_(gpu.dram_channels, most_columns, first_column_bits),
      busy_(gpu.l2_slices, most_columns, first_column_bits),
      reads_(gpu.dram_channels, most_columns, first_column_bits) {
    trace_.l1_latency = gpu.l1_latency;
    trace_.l2_latency = gpu.l2_latency;
    trace_.dram_latency = gpu.dram_latency;
    trace_.sms = gpu.sms;
    trace_.slices = gpu.l2_slices;
    trace_.channels = gpu.dram_channels;
}

void MachineLog::keep(const Asker& asker, const RequestRecord& request) {
    if (asker.sm == traced_) {
        if (own_.size() < limits_.own)
            own_.push_back(request);
        else
            own_until_ = std::min(own_until_, request.begin);
        return;
    }
    if (seen_++ % every_ != 0) return;
    if (others_.size() >= limits_.others) {
        for (size_t i = 0; 2 * i < others_.size(); ++i) others_[i] = others_[2 * i];
        others_.resize((others_.size() + 1) / 2);
        every_ *= 2;
        if ((seen_ - 1) % every_ != 0) return;
    }
    others_.push_back(request);
}

namespace {

// Whose a request is, what it wants, and when it counts as issued.
RequestRecord request_of(const Asker& asker, uint64_t line, uint32_t wanted, Ticks since) {
    RequestRecord request;
    request.begin = since >> tick_bits;
    request.line = line;
    request.issue = asker.issue;
    request.pc = asker.pc;
    request.block = asker.block;
    request.warp = asker.warp;
    request.sm = asker.sm;
    request.wanted = static_cast<uint8_t>(wanted);
    return request;
}

uint32_t after(const RequestRecord& request, Ticks time) {
    return static_cast<uint32_t>(std::max<int64_t>(0, cycle_of(time) - request.begin));
}

}  // namespace

void MachineLog::hit(const Asker& asker, uint64_t line, uint32_t wanted, Ticks since, Ticks left, Ticks ready) {
    RequestRecord request = request_of(asker, line, wanted, since);
    request.left = request.taken = request.sent = after(request, left);
    request.ready = std::max(request.left, after(request, ready));
    request.level = MemoryLevel::l1;
    keep(asker, request);
}

void MachineLog::request(const Asker& asker, uint64_t line, const RequestWay& way, const Served& served) {
    // Its turn, not when it comes: of several that come late the turns lie one behind the other.
    if (served.slice < trace_.slices) spread_over(busy_, served.slice, served.turn, served.turn + served.takes);
    const bool to_dram = served.dram_read != 0 && served.channel < trace_.channels;
    if (to_dram) {
        spread_over(waiting_, served.channel, served.taken, served.sent);
        reads_.at(std::max<Ticks>(0, served.sent) >> tick_bits)[served.channel] += served.dram_read;
    }
    RequestRecord request = request_of(asker, line, way.wanted, way.since);
    request.left = after(request, way.left);
    request.taken = std::max(request.left, after(request, served.taken));
    request.sent = to_dram ? std::max(request.taken, after(request, served.sent)) : request.taken;
    request.ready = std::max(request.sent, after(request, served.ready));
    request.slice = static_cast<uint16_t>(served.slice);
    request.channel = to_dram ? static_cast<uint16_t>(served.channel) : RequestRecord::none;
    request.hits = static_cast<uint8_t>(served.hits);
    request.kind = way.kind;
    request.level = served.level;
    keep(asker, request);
}

MachineTrace MachineLog::finish(int64_t cycles, int64_t first_issue, size_t issues_kept) const {
    MachineTrace trace = trace_;
    trace.sampled = static_cast<uint32_t>(every_);
    trace.requests.reserve(own_.size() + others_.size());
    trace.requests.assign(own_.begin(), own_.end());
    for (RequestRecord& request : trace.requests) {
        const int64_t index = request.issue - first_issue;
        request.issue = request.issue >= first_issue && index < static_cast<int64_t>(issues_kept) ? index : -1;
    }
    for (RequestRecord request : others_) {
        request.issue = -1;
        trace.requests.push_back(request);
    }
    std::erase_if(trace.requests, [&](const RequestRecord& request) { return request.begin >= cycles; });
    std::stable_sort(trace.requests.begin(), trace.requests.end(), [](const RequestRecord& a, const RequestRecord& b) {
        return std::tie(a.begin, a.sm) < std::tie(b.begin, b.sm);
    });
    trace.requests.shrink_to_fit();
    trace.requests_until = std::min(own_until_, cycles);
    int64_t from = INT64_MAX, until = cycles;
    for (const Issues& of_sm : issues_) {
        if (!of_sm.kept.empty()) from = std::min(from, of_sm.kept.front().cycle);
        until = std::min(until, of_sm.until);
    }
    trace.issues_from = from == INT64_MAX ? 0 : from;
    trace.issues_until = std::max(trace.issues_from, until);
    trace.issues.resize(issues_.size());
    for (size_t sm = 0; sm < issues_.size(); ++sm) {
        trace.issues[sm].reserve(issues_[sm].kept.size());
        for (const Issue& issue : issues_[sm].kept) {
            if (issue.cycle >= trace.issues_until) break;
            TileIssue kept;
            kept.after = static_cast<uint32_t>(issue.cycle - trace.issues_from);
            kept.pc = issue.pc & 0xfffffff;
            kept.scheduler = issue.scheduler & 0xf;
            trace.issues[sm].push_back(kept);
        }
        trace.issues[sm].shrink_to_fit();
    }
    QueueColumns& queues = trace.queues;
    const uint32_t shift = std::max({waiting_.shift(), busy_.shift(), reads_.shift()});
    queues.cycles_a_column = int64_t{1} << shift;
    queues.columns = static_cast<uint32_t>((cycles + queues.cycles_a_column - 1) >> shift);
    queues.channels = trace.channels;
    queues.slices = trace.slices;
    constexpr double a_tick = 1.0 / ticks_a_cycle;
    queues.waiting = columns_of(waiting_, queues.channels, shift, queues.columns, cycles, a_tick);
    queues.busy = columns_of(busy_, queues.slices, shift, queues.columns, cycles, a_tick);
    // A read that counts as issued earlier than it was has time in which its slice was idle, somewhere in front of it: what
    // is too much for a column belongs to the next one, and what comes behind the last cycle to none.
    for (uint32_t slice = 0; slice < queues.slices; ++slice) {
        float over = 0;  // cycles
        for (uint32_t column = 0; column < queues.columns; ++column) {
            float& busy = queues.busy[size_t{column} * queues.slices + slice];
            const auto length =
                static_cast<float>(std::min(queues.cycles_a_column, cycles - int64_t{column} * queues.cycles_a_column));
            busy += over / length;
            over = std::max(0.0f, busy - 1) * length;
            busy = std::min(busy, 1.0f);
        }
    }
    queues.reads = columns_of(reads_, queues.channels, shift, queues.columns, cycles, 1);
    return trace;
}

}  // namespace lockstep::model
