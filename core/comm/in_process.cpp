// One lock for all ranks: they are few and messages large. A rank that waits sleeps on a condition of its own. `running`
// counts the ranks that can go on; when none can, stalled() looks for what to do: turn loans into copies, settle messages on
// shared links, end the run.
#include "core/comm/in_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "core/base/diagnostic.h"
#include "core/comm/collectives/reduce.h"
#include "core/comm/outside/group_end.h"
#include "core/comm/outside/outside.h"

namespace lockstep::comm {

namespace {

struct MailMessage {
    const void* data = nullptr;  // in `copy`, or in the sender's buffer while `lent`
    std::vector<std::byte> copy;
    int64_t bytes = 0;
    bool lent = false, settled = false;
    uint64_t number = 0;  // of the sender's messages, from 1 on
    double arrival_us = 0;
};

struct Mailbox {  // of one sender, receiver, group and stream: first in, first out
    std::vector<MailMessage> messages;
    size_t first = 0, count = 0;                // in a circle
    uint64_t taken = 0;                         // messages so far
    std::vector<std::vector<std::byte>> spare;  // of copies that have been read

    bool ready() { return count > 0 && at(0).settled; }

    MailMessage& at(size_t i) { return messages[(first + i) % messages.size()]; }
    MailMessage& push() {
        if (count == messages.size()) {
            std::rotate(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(first), messages.end());
            first = 0;
            messages.resize(std::max<size_t>(2, 2 * count));
        }
        return at(count++);
    }
    void pop() { first = (first + 1) % messages.size(), --count, ++taken; }
};

struct RunEnded {};  // ends a rank's program

struct RankState {
    std::condition_variable wake;
    const Mailbox* waits = nullptr;  // a box whose first message is not there or not settled; or null
    double waits_since_us = 0;
    int waits_for = -1;        // the rank that would fill it
    bool taking_back = false;  // waits until `lent` is empty
    bool finished = false;
    bool outside = false;                        // outside.h
    std::vector<std::pair<Mailbox*, int>> lent;  // one a loan that has not been read
    // Touched by the rank's own thread alone.
    std::array<double, max_streams> clock{};
};

struct World {
    std::mutex mutex;
    const Network& network;
    Traffic traffic;
    PendingMessages pending;
    size_t most_events = 0;
    std::vector<RankState> ranks;
    int running = 0;  // ranks that neither wait nor have finished, nor are outside
    bool ended = false;
    uint64_t round = 0;  // outside.h: the newest that a rank has come back for
    std::optional<Deadlock> deadlock;
    std::vector<RankResult>* results = nullptr;
    struct Channel {
        std::unordered_map<uint64_t, Mailbox> boxes;  // by from and to
    };
    std::map<std::pair<std::vector<int>, int>, Channel> channels;  // by group and stream; addresses stay

    explicit World(const Network& n) : network(n), traffic(n), ranks(static_cast<size_t>(n.ranks())), running(n.ranks()) {}

    // With the lock held, when no rank runs.
    void stalled() {
        bool freed = false;
        for (RankState& rank : ranks) {
            if (!rank.taking_back) continue;
            for (auto& [box, to] : rank.lent)
                for (size_t i = 0; i < box->count; ++i) keep_copy(box->at(i));
            rank.lent.clear();
            resume(rank);
            freed = true;
        }
        if (freed) return;
        pending.settle(traffic, [&](const PendingMessage& message, const Traffic::Passage& passage) {
            auto& box = *static_cast<Mailbox*>(message.box);
            MailMessage& sent = box.at(static_cast<size_t>(message.place - box.taken));
            sent.arrival_us = passage.arrival_us;
            sent.settled = true;
            RankState& receiver = ranks[static_cast<size_t>(message.to)];
            if (receiver.waits != &box || !box.ready()) return std::numeric_limits<double>::infinity();
            const double goes_on = std::max(receiver.waits_since_us, sent.arrival_us);
            resume(receiver);
            return goes_on;
        });
        if (running > 0) return;
        Deadlock found;
        bool died = false;
        for (size_t i = 0; i < ranks.size(); ++i) {
            died |= !(*results)[i].failure.empty();
            if (ranks[i].finished || ranks[i].outside) continue;
            const RankState& other = ranks[static_cast<size_t>(ranks[i].waits_for)];
            found.waits.push_back({static_cast<int>(i), ranks[i].waits_for, other.finished || other.outside});
        }
        if (found.waits.empty()) return;
        if (!died) deadlock = std::move(found);
        ended = true;
        for (RankState& rank : ranks) rank.wake.notify_one();
    }
    static void keep_copy(MailMessage& message) {
        if (!message.lent) return;
        message.copy.resize(static_cast<size_t>(message.bytes));
        std::memcpy(message.copy.data(), message.data, message.copy.size());
        message.data = message.copy.data();
        message.lent = false;
    }
    void resume(RankState& rank) {
        rank.waits = nullptr;
        rank.taking_back = false;
        ++running;
        rank.wake.notify_one();
    }
    void stops_running() {
        if (--running == 0) stalled();
    }
};

class InProcess final : public GroupEnd {
  public:
    InProcess(World& world, const std::vector<int>& ranks, int rank, int stream)
        : InProcess(world, ranks, rank, stream, static_cast<size_t>(ranks[static_cast<size_t>(rank)])) {}

    std::unique_ptr<Communicator> group(std::span<const int> members) override {
        std::vector<int> ranks;
        const int place = group_members(*this, members, ranks);
        return std::make_unique<InProcess>(world_, std::move(ranks), place, stream_);
    }
    std::unique_ptr<Communicator> on(int stream) override {
        expect_stream(stream);
        return std::make_unique<InProcess>(world_, ranks_, rank_, stream);
    }

    void leave() {
        const std::lock_guard lock(world_.mutex);
        state_.outside = true;
        world_.stops_running();
    }
    void come_back(uint64_t round) {
        const std::lock_guard lock(world_.mutex);
        const bool all = round > world_.round;
        world_.round = std::max(world_.round, round);
        for (RankState& rank : world_.ranks)
            if (rank.outside && (all || &rank == &state_)) rank.outside = false, ++world_.running;
    }

    void send(int to, const Buffer& buffer, std::string_view label) override { post(to, buffer, false, label); }
    void lend(int to, const Buffer& buffer, std::string_view label) override { post(to, buffer, true, label); }
    void take_back() override {
        std::unique_lock lock(world_.mutex);
        RankState& me = state_;
        if (world_.ended) throw RunEnded{};
        if (me.lent.empty()) return;
        me.taking_back = true;
        world_.stops_running();
        me.wake.wait(lock, [&] { return !me.taking_back || world_.ended; });
        if (me.taking_back) throw RunEnded{};
    }
    void receive(int from, const Buffer& buffer, std::string_view label) override {
        take(from, buffer, label, [&](const void* data) {
            if (buffer.count > 0) std::memcpy(buffer.data, data, static_cast<size_t>(buffer.bytes()));
        });
    }
    void receive_reduce(int from, const Buffer& buffer, Reduction reduction, std::string_view label) override {
        take(from, buffer, label, [&](const void* data) { reduce_into(buffer, data, reduction); });
    }

  private:
    InProcess(World& world, const std::vector<int>& ranks, int rank, int stream, size_t here)
        : GroupEnd(ranks, rank, stream, world.ranks[here].clock[static_cast<size_t>(stream)], (*world.results)[here],
                   world.most_events, world.network.slowness[here]),
          world_(world),
          state_(world.ranks[here]),
          boxes_(ranks.size()) {
        const std::lock_guard lock(world_.mutex);
        channel_ = &world_.channels[{ranks, stream}];
    }

    struct Boxes {
        Mailbox *to = nullptr, *from = nullptr;
    };
    Boxes& boxes(int peer) {  // with the lock held
        Boxes& found = boxes_[static_cast<size_t>(peer)];
        if (!found.to) {
            const auto key = [](int from, int to) { return static_cast<uint64_t>(from) << 32 | static_cast<uint64_t>(to); };
            found.to = &channel_->boxes[key(rank_, peer)];
            found.from = &channel_->boxes[key(peer, rank_)];
        }
        return found;
    }
    // The sender goes on at once.
    void post(int to, const Buffer& buffer, bool lent, std::string_view label) {
        expect_peer(*this, to, "send to");
        RankState& me = state_;
        const int64_t bytes = buffer.bytes();
        MailMessage message;
        message.bytes = bytes;
        message.number = count_sent(world_rank(to), bytes, label);
        message.data = buffer.data;
        message.lent = buffer.data != nullptr && lent && bytes > 0;
        std::unique_lock lock(world_.mutex);
        if (world_.ended) throw RunEnded{};
        Mailbox& box = *boxes(to).to;
        if (message.lent) {
            me.lent.emplace_back(&box, to);
        } else if (buffer.data && bytes > 0) {
            if (!box.spare.empty()) {
                message.copy = std::move(box.spare.back());
                box.spare.pop_back();
            }
            lock.unlock();
            const auto* begin = static_cast<const std::byte*>(buffer.data);
            message.copy.assign(begin, begin + bytes);
            message.data = message.copy.data();
            lock.lock();
            if (world_.ended) throw RunEnded{};
        }
        const int here = world_rank(rank_), there = world_rank(to);
        if (world_.network.shared) {
            world_.pending.push({clock_, here, message.number, there, bytes, &box, box.taken + box.count});
        } else {  // nobody else uses these links
            message.arrival_us = world_.traffic.carry(here, there, bytes, clock_).arrival_us;
            message.settled = true;
        }
        box.push() = std::move(message);
        RankState& receiver = world_.ranks[static_cast<size_t>(there)];
        if (receiver.waits == &box && box.ready()) world_.resume(receiver);
    }

    template <class Use>
    void take(int from, const Buffer& buffer, std::string_view label, Use use) {
        expect_peer(*this, from, "receive from");
        RankState& me = state_;
        std::unique_lock lock(world_.mutex);
        if (world_.ended) throw RunEnded{};
        Mailbox& box = *boxes(from).from;
        if (!box.ready()) {
            me.waits = &box;
            me.waits_since_us = clock_;
            me.waits_for = world_rank(from);
            world_.stops_running();
            me.wake.wait(lock, [&] { return me.waits == nullptr || world_.ended; });
            if (me.waits) throw RunEnded{};
        }
        MailMessage message = std::move(box.at(0));
        box.pop();
        lock.unlock();
        const bool has_data = message.data != nullptr;
        if (has_data && buffer.data && message.bytes == buffer.bytes()) use(message.data);
        count_received(world_rank(from), message.bytes, message.arrival_us, message.number, label);
        lock.lock();
        if (message.lent) {
            RankState& lender = world_.ranks[static_cast<size_t>(world_rank(from))];
            const auto loan = std::find(lender.lent.begin(), lender.lent.end(), std::pair{&box, rank_});
            if (loan != lender.lent.end()) lender.lent.erase(loan);
            if (lender.taking_back && lender.lent.empty()) world_.resume(lender);
        }
        if (message.copy.capacity() > 0) box.spare.push_back(std::move(message.copy));
        lock.unlock();
        expect_message(world_rank(rank_), world_rank(from), buffer, message.bytes, has_data);
    }

    World& world_;
    RankState& state_;
    World::Channel* channel_ = nullptr;
    std::vector<Boxes> boxes_;  // by peer
};
}  // namespace

void leave_run(Communicator& rank) {
    if (auto* own = dynamic_cast<InProcess*>(&rank)) own->leave();
}
void come_back_to_run(Communicator& rank, uint64_t round) {
    if (auto* own = dynamic_cast<InProcess*>(&rank)) own->come_back(round);
}

std::string Deadlock::text() const {
    std::vector<std::string> parts;
    for (const Wait& wait : waits)
        parts.push_back(
            fmt::format("rank {} waits for rank {}{}", wait.rank, wait.from, wait.finished ? ", which has finished" : ""));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string Death::text() const {
    constexpr std::string_view prefix = "error: ";
    return fmt::format("rank {} died: {}", rank, why.substr(why.rfind(prefix, 0) == 0 ? prefix.size() : 0));
}

std::string GroupResult::problem() const {
    return died ? died->text() : deadlock ? "deadlock: " + deadlock->text() : std::string();
}

GroupResult run_in_process(int ranks, const Link& link, const std::function<void(Communicator&)>& program,
                           const RunOptions& options) {
    return run_in_process(ideal_network(std::max(0, ranks), link), program, options);
}

GroupResult run_in_process(const Network& network, const std::function<void(Communicator&)>& program,
                           const RunOptions& options) {
    const int ranks = network.ranks();
    if (ranks < 1 || ranks > 1024) throw Failure(fmt::format("a group of {} ranks is impossible: 1 to 1024", ranks));
    World world(network);
    world.most_events = options.events;
    GroupResult result;
    result.ranks.resize(static_cast<size_t>(ranks));
    world.results = &result.ranks;
    std::vector<int> everyone;
    for (int rank = 0; rank < ranks; ++rank) everyone.push_back(rank);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            RankState& state = world.ranks[static_cast<size_t>(rank)];
            RankResult& own = result.ranks[static_cast<size_t>(rank)];
            std::string failure;
            try {
                InProcess communicator(world, everyone, rank, 0);
                program(communicator);
            } catch (const RunEnded&) {
            } catch (const std::exception& thrown) {
                failure = *thrown.what() ? thrown.what() : "an exception without words";
            }
            own.time_us = *std::max_element(state.clock.begin(), state.clock.end());
            const std::lock_guard lock(world.mutex);
            own.failure = std::move(failure);
            state.finished = true;
            state.waits = nullptr;
            if (!world.ended) world.stops_running();
        });
    for (std::thread& thread : threads) thread.join();
    result.deadlock = std::move(world.deadlock);
    result.use = world.traffic.use();
    for (size_t rank = result.ranks.size(); rank-- > 0;)
        if (!result.ranks[rank].failure.empty()) result.died = Death{static_cast<int>(rank), result.ranks[rank].failure};
    return result;
}

}  // namespace lockstep::comm
