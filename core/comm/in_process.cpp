#include "core/comm/in_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/diagnostic.h"

namespace lockstep::comm {

namespace {
struct Message {
    std::vector<std::byte> bytes;
    double arrival_us = 0;
};

struct Deadlocked {};  // ends a rank's program

// What all ranks share. One lock: ranks are few and messages large.
struct Group {
    std::mutex mutex;
    std::condition_variable changed;
    Link link;
    std::map<std::pair<int, int>, std::deque<Message>> mail;  // by (from, to)
    std::vector<int> waits_for;                               // by rank: -1 when it runs
    std::vector<bool> finished;
    std::optional<Deadlock> deadlock;

    // With the lock held: a deadlock when every rank that has not finished waits for a message that is not there.
    void look_for_deadlock() {
        Deadlock found;
        for (size_t rank = 0; rank < waits_for.size(); ++rank) {
            if (finished[rank]) continue;
            const int from = waits_for[rank];
            if (from < 0 || !mail[{from, static_cast<int>(rank)}].empty()) return;
            found.waits.push_back({static_cast<int>(rank), from, finished[static_cast<size_t>(from)]});
        }
        if (found.waits.empty() || deadlock) return;
        deadlock = std::move(found);
        changed.notify_all();
    }
};

class InProcess final : public Communicator {
  public:
    InProcess(Group& group, int rank, RankResult& result) : group_(group), rank_(rank), result_(result) {}

    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(group_.finished.size()); }
    double time_us() const override { return result_.time_us; }
    void compute(double us) override { result_.time_us += us; }

    // The link carries one message after the other; the sender goes on at once.
    void send(int to, std::span<const std::byte> bytes) override {
        check(to, "send to");
        const double carry = group_.link.bytes_per_us > 0 ? double(bytes.size()) / group_.link.bytes_per_us : 0;
        link_free_us_ = std::max(link_free_us_, result_.time_us) + carry;
        Message message{{bytes.begin(), bytes.end()}, link_free_us_ + group_.link.latency_us};
        result_.bytes_sent += bytes.size();
        ++result_.messages_sent;
        const std::lock_guard lock(group_.mutex);
        group_.mail[{rank_, to}].push_back(std::move(message));
        group_.changed.notify_all();
    }

    void receive(int from, std::span<std::byte> bytes) override {
        check(from, "receive from");
        std::unique_lock lock(group_.mutex);
        auto& box = group_.mail[{from, rank_}];
        group_.waits_for[static_cast<size_t>(rank_)] = from;
        if (box.empty()) group_.look_for_deadlock();
        group_.changed.wait(lock, [&] { return !box.empty() || group_.deadlock; });
        if (box.empty()) throw Deadlocked{};
        group_.waits_for[static_cast<size_t>(rank_)] = -1;
        const Message message = std::move(box.front());
        box.pop_front();
        if (message.bytes.size() != bytes.size())
            throw Failure(fmt::format("rank {} expects {} bytes from rank {}, which sent {}", rank_, bytes.size(), from,
                                      message.bytes.size()));
        std::copy(message.bytes.begin(), message.bytes.end(), bytes.begin());
        result_.time_us = std::max(result_.time_us, message.arrival_us);
    }

  private:
    void check(int peer, const char* verb) const {
        if (peer < 0 || peer >= size() || peer == rank_)
            throw Failure(fmt::format("rank {} cannot {} rank {} in a group of {}", rank_, verb, peer, size()));
    }

    Group& group_;
    int rank_;
    RankResult& result_;
    double link_free_us_ = 0;
};
}  // namespace

std::string Deadlock::text() const {
    std::vector<std::string> parts;
    for (const Wait& wait : waits)
        parts.push_back(
            fmt::format("rank {} waits for rank {}{}", wait.rank, wait.from, wait.finished ? ", which has finished" : ""));
    return fmt::format("{}", fmt::join(parts, "; "));
}

GroupResult run_in_process(int ranks, const Link& link, const std::function<void(Communicator&)>& program) {
    if (ranks < 1 || ranks > 1024) throw Failure(fmt::format("a group of {} ranks is impossible: 1 to 1024", ranks));
    const auto count = static_cast<size_t>(ranks);
    Group group;
    group.link = link;
    group.waits_for.assign(count, -1);
    group.finished.assign(count, false);
    GroupResult result;
    result.ranks.resize(count);
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < count; ++rank)
        threads.emplace_back([&, rank] {
            InProcess communicator(group, static_cast<int>(rank), result.ranks[rank]);
            try {
                program(communicator);
            } catch (const Deadlocked&) {
            } catch (const std::exception& failure) {
                result.ranks[rank].failure = failure.what();
            }
            const std::lock_guard lock(group.mutex);
            group.finished[rank] = true;
            group.look_for_deadlock();
        });
    for (std::thread& thread : threads) thread.join();
    result.deadlock = std::move(group.deadlock);
    return result;
}

}  // namespace lockstep::comm
