// Every rank runs until it waits for a message; when all wait, messages are settled as in_process.cpp does it.
#include "core/comm/network/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/diagnostic.h"

namespace lockstep::comm {
namespace {

struct TimedBox {  // of one sender and receiver: transfers, first in, first out
    std::vector<int> transfers;
    size_t taken = 0;
};

struct TimedRank {
    double clock = 0;
    size_t next = 0;  // step
    int waits_for = -1;
    uint64_t messages = 0;
};

class CollectiveClock {
  public:
    CollectiveClock(CollectiveRun& run, bool detail) : run_(run), traffic_(*run.network), detail_(detail) {
        const int ranks = run.collective->ranks;
        ranks_.resize(static_cast<size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
            ranks_[size_t(rank)].clock = run.start_us[size_t(rank)];
            ready_.push_back(ranks - 1 - rank);  // rank 0 first
        }
        run.transfers.reserve(run.collective->steps.size() / 2);
        if (detail) traffic_.spans = &run.link_spans;
    }

    void go() {
        while (true) {
            while (!ready_.empty()) {
                const int rank = ready_.back();
                ready_.pop_back();
                advance(rank);
            }
            if (pending_.empty()) break;
            pending_.settle(traffic_, [&](const PendingMessage& message, const Traffic::Passage& passage) {
                const int index = static_cast<int>(message.place);
                settle(index, passage);
                TimedRank& receiver = ranks_[size_t(message.to)];
                TimedBox& box = box_of(message.from, message.to);
                if (receiver.waits_for != message.from || box.transfers[box.taken] != index)
                    return std::numeric_limits<double>::infinity();
                receiver.waits_for = -1;
                ready_.push_back(message.to);
                return std::max(receiver.clock, passage.arrival_us);
            });
        }
        for (size_t rank = 0; rank < ranks_.size(); ++rank) {
            if (ranks_[rank].waits_for >= 0)
                throw Failure(fmt::format("{} by {} does not end: rank {} waits for rank {}", run_.collective->operation,
                                          run_.collective->algorithm, rank, ranks_[rank].waits_for));
            run_.end_us[rank] = ranks_[rank].clock;
        }
        run_.use = traffic_.use();
    }

  private:
    TimedBox& box_of(int from, int to) {
        return boxes_[static_cast<uint64_t>(static_cast<uint32_t>(from)) << 32 | static_cast<uint32_t>(to)];
    }
    void settle(int index, const Traffic::Passage& passage) {
        Transfer& transfer = run_.transfers[size_t(index)];
        transfer.begin_us = passage.begin_us;
        transfer.arrival_us = passage.arrival_us;
    }

    void advance(int rank) {
        TimedRank& me = ranks_[size_t(rank)];
        const auto steps = run_.collective->of(rank);
        for (; me.next < steps.size(); ++me.next) {
            const CollectiveStep& step = steps[me.next];
            if (step.verb == Verb::send) {
                send(rank, step);
                continue;
            }
            TimedBox& box = box_of(step.peer, rank);
            if (box.taken == box.transfers.size() ||
                std::isnan(run_.transfers[size_t(box.transfers[box.taken])].arrival_us)) {
                me.waits_for = step.peer;
                return;
            }
            receive(rank, box.transfers[box.taken++], step);
        }
    }

    void send(int rank, const CollectiveStep& step) {
        TimedRank& me = ranks_[size_t(rank)];
        Transfer transfer{rank, step.peer, step.round, step.chunk, step.run};
        transfer.bytes = piece_of(run_.elements, *run_.collective, step.chunk, step.run).count * int64_t(size_of(run_.type));
        if (run_.collective->operation == "all_to_all") transfer.bytes = run_.bytes() / run_.collective->ranks;
        transfer.sent_us = me.clock;
        transfer.arrival_us = transfer.received_us = std::numeric_limits<double>::quiet_NaN();
        const int index = static_cast<int>(run_.transfers.size());
        run_.transfers.push_back(transfer);
        run_.bytes_sent[size_t(rank)] += transfer.bytes;
        run_.bytes_received[size_t(step.peer)] += transfer.bytes;
        TimedBox& box = box_of(rank, step.peer);
        box.transfers.push_back(index);
        ++me.messages;
        if (run_.network->shared) {
            pending_.push({me.clock, rank, me.messages, step.peer, transfer.bytes, nullptr, static_cast<uint64_t>(index)});
            return;
        }
        settle(index, traffic_.carry(rank, step.peer, transfer.bytes, me.clock, index));
        TimedRank& receiver = ranks_[size_t(step.peer)];
        if (receiver.waits_for == rank && box.transfers[box.taken] == index) {
            receiver.waits_for = -1;
            ready_.push_back(step.peer);
        }
    }

    void receive(int rank, int index, const CollectiveStep& step) {
        TimedRank& me = ranks_[size_t(rank)];
        Transfer& transfer = run_.transfers[size_t(index)];
        transfer.reduce = step.verb == Verb::receive_reduce;
        double from = me.clock;
        const auto wait = [&](double until, WaitCause cause) {
            if (until <= from) return;
            if (detail_) run_.waits.push_back({rank, index, from, until, cause});
            from = until;
        };
        wait(std::min(transfer.sent_us, transfer.arrival_us), WaitCause::late_sender);
        wait(std::min(transfer.begin_us, transfer.arrival_us), WaitCause::busy_link);
        wait(transfer.arrival_us, WaitCause::on_the_way);
        me.clock = std::max(me.clock, transfer.arrival_us);
        transfer.received_us = me.clock;
    }

    CollectiveRun& run_;
    Traffic traffic_;
    PendingMessages pending_;
    bool detail_;
    std::vector<TimedRank> ranks_;
    std::vector<int> ready_;
    std::unordered_map<uint64_t, TimedBox> boxes_;
};

}  // namespace

std::string_view name_of(WaitCause cause) {
    return cause == WaitCause::late_sender ? "late sender" : cause == WaitCause::busy_link ? "busy link" : "on the way";
}

CollectiveRun time_collective(std::shared_ptr<const Collective> collective, std::shared_ptr<const Network> network,
                              int64_t elements, DType type, const TimingOptions& options) {
    const auto ranks = static_cast<size_t>(collective->ranks);
    if (collective->ranks != network->ranks())
        throw Failure(fmt::format("a collective of {} ranks cannot run on a network of {}", ranks, network->ranks()));
    if (elements < 0) throw Failure("a buffer of fewer than 0 elements is impossible");
    if (!options.start_us.empty() && options.start_us.size() != ranks)
        throw Failure(fmt::format("{} starting times for {} ranks", options.start_us.size(), ranks));
    CollectiveRun run;
    run.collective = std::move(collective);
    run.network = std::move(network);
    run.elements = run.collective->operation == "barrier" ? 0 : elements;
    run.type = type;
    run.start_us = options.start_us.empty() ? std::vector<double>(ranks) : options.start_us;
    run.end_us.resize(ranks);
    run.bytes_sent.resize(ranks);
    run.bytes_received.resize(ranks);
    CollectiveClock(run, options.detail).go();
    std::stable_sort(run.waits.begin(), run.waits.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
    run.total_us = *std::max_element(run.end_us.begin(), run.end_us.end()) -
                   *std::min_element(run.start_us.begin(), run.start_us.end());
    const CollectiveRow& row = collective_named(run.collective->operation, run.collective->algorithm);
    if (row.formula) run.formula_us = row.formula(run.collective->shape, double(run.bytes()), run.network->shape.link);
    run.bus_gigabytes_per_s = bus_bandwidth(row.operation, run.collective->ranks, run.bytes(), run.total_us);
    if (!options.detail) run.transfers = {};
    return run;
}

double bus_bandwidth(std::string_view operation, int ranks, int64_t bytes, double us) {
    if (!(us > 0) || operation == "barrier") return 0;
    const double once = (ranks - 1.0) / ranks;
    const double factor = operation == "all_reduce"                           ? 2 * once
                          : operation == "broadcast" || operation == "reduce" ? 1
                                                                              : once;
    return static_cast<double>(bytes) / us / 1000 * factor;
}

std::vector<std::vector<uint64_t>> contributions(const Collective& list) {
    if (list.ranks > 64) return {};
    const auto chunks = static_cast<size_t>(list.chunks);
    const auto cell = [&](int rank, size_t chunk) { return static_cast<size_t>(rank) * chunks + chunk; };
    std::vector<uint64_t> now(static_cast<size_t>(list.ranks) * chunks, 0);
    const bool reduces = list.operation == "all_reduce" || list.operation == "reduce_scatter" || list.operation == "reduce";
    for (int rank = 0; rank < list.ranks; ++rank)
        for (size_t chunk = 0; chunk < chunks; ++chunk) {
            const int c = static_cast<int>(chunk);
            const bool holds = reduces || (list.operation == "all_gather" && c == rank) ||
                               (list.operation == "broadcast" && rank == list.shape.root) ||
                               (list.operation == "all_to_all" && c / list.ranks == rank);
            if (holds) now[cell(rank, chunk)] = uint64_t{1} << rank;
        }
    std::vector<std::vector<uint64_t>> all{now};
    std::vector<std::vector<const CollectiveStep*>> by_round(static_cast<size_t>(list.rounds));
    for (const CollectiveStep& step : list.steps)
        if (step.verb != Verb::send) by_round[static_cast<size_t>(step.round)].push_back(&step);
    for (const auto& steps : by_round) {  // what is sent in a round was there before it
        const std::vector<uint64_t> before = now;
        for (const CollectiveStep* step : steps)
            for (int chunk = step->chunk; chunk < step->chunk + step->run; ++chunk) {
                uint64_t& here = now[cell(step->rank, size_t(chunk))];
                const uint64_t arrives = before[cell(step->peer, size_t(chunk))];
                here = step->verb == Verb::receive_reduce ? here | arrives : arrives;
            }
        all.push_back(now);
    }
    return all;
}

}  // namespace lockstep::comm
