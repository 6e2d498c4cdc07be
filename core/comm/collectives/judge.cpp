// One chunk at a time, since chunks never mix: parts[rank][source] counts how often source's part is in the rank's sum. What
// a message carries is what its sender held before the round.
#include "core/comm/collectives/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace lockstep::comm {

namespace {

constexpr int most_repaired_ranks = 16;  // of lists in which every change is tried

using Parts = std::vector<int>;  // by source: how often

struct Arrival {  // a message that changed a rank's chunk
    ListedMessage message;
    Parts carried, before, after;
};

struct ChunkRun {
    std::vector<Parts> end;                      // by rank
    std::vector<std::vector<Arrival>> arrivals;  // by rank, in order
    int64_t wrong = 0;                           // parts that are not there exactly once
};

ChunkRun run_chunk(int ranks, const std::vector<ListedMessage>& messages, bool keep = true) {
    ChunkRun run;
    run.end.assign(size_t(ranks), Parts(size_t(ranks), 0));
    for (int rank = 0; rank < ranks; ++rank) run.end[size_t(rank)][size_t(rank)] = 1;
    run.arrivals.resize(size_t(ranks));
    for (size_t at = 0; at < messages.size();) {
        const std::vector<Parts> held = run.end;  // before the round
        for (const int round = messages[at].round; at < messages.size() && messages[at].round == round; ++at) {
            const ListedMessage& message = messages[at];
            Parts& parts = run.end[size_t(message.to)];
            Arrival arrival{message, held[size_t(message.from)], parts, {}};
            for (size_t source = 0; source < parts.size(); ++source)
                parts[source] = std::min(1000, (message.adds ? parts[source] : 0) + arrival.carried[source]);
            arrival.after = parts;
            if (keep) run.arrivals[size_t(message.to)].push_back(std::move(arrival));
        }
    }
    for (const Parts& parts : run.end) run.wrong += std::count_if(parts.begin(), parts.end(), [](int n) { return n != 1; });
    return run;
}

std::string listed(const std::vector<int>& numbers) {
    if (numbers.size() == 1) return std::to_string(numbers[0]);
    return fmt::format("{} and {}", fmt::join(numbers.begin(), numbers.end() - 1, ", "), numbers.back());
}
std::string ranks_text(const std::vector<int>& ranks) {
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", listed(ranks));
}

// Where a rank's chunk got what it holds before `round`: the rank whose sum it is a copy of, and when that one sent it on.
struct Origin {
    int rank = 0, round = 0;
    std::optional<ListedMessage> left_by;  // the message by which it left the origin; none: it never moved
};
Origin origin_of(const ChunkRun& run, int rank, int round) {
    Origin origin{rank, round, {}};
    for (bool moved = true; moved;) {
        moved = false;
        const auto& arrivals = run.arrivals[size_t(origin.rank)];
        for (auto arrival = arrivals.rbegin(); arrival != arrivals.rend() && !moved; ++arrival) {
            if (arrival->message.round >= origin.round || arrival->message.adds) continue;
            origin = {arrival->message.from, arrival->message.round, arrival->message};
            moved = true;
        }
    }
    return origin;
}

void explain_lack(const ChunkRun& run, int rounds, WrongChunk& wrong) {
    const auto part = size_t(wrong.lacks.front());
    const Origin origin = origin_of(run, wrong.ranks.front(), rounds);
    const std::string whose = wrong.lacks.size() == 1 ? fmt::format("rank {}'s part", part)
                                                      : fmt::format("the parts of {}", ranks_text(wrong.lacks));
    for (const Arrival& arrival : run.arrivals[size_t(origin.rank)])
        if (arrival.message.round >= origin.round && origin.left_by && arrival.carried[part] > 0) {
            wrong.round = origin.round;
            wrong.message = *origin.left_by;
            wrong.text += fmt::format(": rank {} passes it on in round {} ({}), before {} reaches it in round {} ({})",
                                      origin.rank, origin.round + 1, text_of(wrong.message), whose,
                                      arrival.message.round + 1, text_of(arrival.message));
            return;
        }
    // A sum that was begun without it: the first message into the origin's sum, whose sender had not got it either.
    if (!origin.left_by) {
        wrong.text += fmt::format(": no message brings {} to rank {}", whose, origin.rank);
        return;
    }
    wrong.round = origin.round;
    wrong.message = *origin.left_by;
    const Parts& carried = [&]() -> const Parts& {
        const auto& arrivals = run.arrivals[size_t(wrong.message.to)];
        return std::find_if(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return a.message == wrong.message; })
            ->carried;
    }();
    std::vector<int> held;
    for (size_t source = 0; source < carried.size(); ++source)
        if (carried[source] > 0) held.push_back(static_cast<int>(source));
    wrong.text += fmt::format(": rank {} passes it on in round {} ({}) when it holds the part{} of {} alone", origin.rank,
                              origin.round + 1, text_of(wrong.message), held.size() == 1 ? "" : "s", ranks_text(held));
}

void explain_twice(const ChunkRun& run, WrongChunk& wrong) {
    const auto part = size_t(wrong.twice.front());
    const Arrival* first = nullptr;  // that added a part to a sum that held it
    for (const auto& arrivals : run.arrivals)
        for (const Arrival& arrival : arrivals)
            if (arrival.message.adds && arrival.before[part] > 0 && arrival.carried[part] > 0 &&
                (!first || arrival.message.round < first->message.round))
                first = &arrival;
    if (!first) return;
    wrong.round = first->message.round;
    wrong.message = first->message;
    int since = -1;  // the round after which it was there
    for (const Arrival& arrival : run.arrivals[size_t(first->message.to)])
        if (arrival.message.round < first->message.round && arrival.before[part] == 0 && arrival.after[part] > 0)
            since = arrival.message.round;
    const std::string there = since < 0 ? "from the beginning" : fmt::format("since round {}", since + 1);
    wrong.text += fmt::format(": round {}'s {} adds rank {}'s part to rank {}'s sum, which holds it {}", wrong.round + 1,
                              text_of(wrong.message), part, wrong.message.to, there);
}

// Changes to a chunk's messages, the plainest first. The first that makes it right everywhere is the advice.
class Repair {
  public:
    Repair(const Collective& list, const std::vector<ListedMessage>& all, const std::vector<ListedMessage>& messages,
           int chunk)
        : list_(list), all_(all), messages_(messages), chunk_(chunk) {}

    std::string text() {
        if (list_.ranks > most_repaired_ranks) return "";
        for (size_t i = 0; i < messages_.size(); ++i) {
            auto changed = messages_;
            changed[i].adds = !changed[i].adds;
            if (right(changed))
                return fmt::format("write {} in place of {} in round {}: {}", text_of(changed[i]), text_of(messages_[i]),
                                   changed[i].round + 1,
                                   changed[i].adds ? "with + what arrives is added, without it replaces what was there"
                                                   : "without + what arrives, the whole sum, replaces what was there");
        }
        if (const auto missing = insertion()) {
            for (const ListedMessage& other : all_) {  // the right message with another chunk
                ListedMessage meant = *missing;
                meant.chunk = other.chunk;
                if (other.chunk != chunk_ && meant == other && list_of(other.chunk).size() > size_t(list_.ranks - 1) * 2)
                    return fmt::format("write {} in place of {} in round {}", text_of(*missing), text_of(other),
                                       other.round + 1);
            }
            return fmt::format("add the message {} to round {}", text_of(*missing), missing->round + 1);
        }
        for (size_t i = 0; i < messages_.size(); ++i) {
            auto changed = messages_;
            changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
            if (right(changed))
                return fmt::format("leave out {} in round {}", text_of(messages_[i]), messages_[i].round + 1);
            for (const ListedMessage& to : targets(messages_[i])) {
                auto with = changed;
                put(with, to);
                if (right(with))
                    return to.round == messages_[i].round ? fmt::format("write {} in place of {} in round {}", text_of(to),
                                                                        text_of(messages_[i]), to.round + 1)
                                                          : fmt::format("move {} from round {} to round {}", text_of(to),
                                                                        messages_[i].round + 1, to.round + 1);
            }
        }
        return "";
    }

  private:
    bool right(const std::vector<ListedMessage>& messages) const {
        return run_chunk(list_.ranks, messages, false).wrong == 0;
    }
    static void put(std::vector<ListedMessage>& messages, const ListedMessage& message) {
        messages.insert(std::upper_bound(messages.begin(), messages.end(), message,
                                         [](const auto& a, const auto& b) { return a.round < b.round; }),
                        message);
    }
    std::vector<ListedMessage> list_of(int chunk) const {
        std::vector<ListedMessage> of_chunk;
        std::copy_if(all_.begin(), all_.end(), std::back_inserter(of_chunk),
                     [&](const ListedMessage& message) { return message.chunk == chunk; });
        return of_chunk;
    }
    // The same message in another round, or to or from another rank.
    std::vector<ListedMessage> targets(const ListedMessage& message) const {
        std::vector<ListedMessage> all;
        const auto add = [&](auto change) {
            ListedMessage other = message;
            change(other);
            if (other.from != other.to && !(other == message)) all.push_back(other);
        };
        for (int round = 0; round < list_.rounds; ++round) add([&](ListedMessage& other) { other.round = round; });
        for (int rank = 0; rank < list_.ranks; ++rank) {
            add([&](ListedMessage& other) { other.to = rank; });
            add([&](ListedMessage& other) { other.from = rank; });
        }
        return all;
    }
    // One more message. Of several that would do, one between ranks that exchange messages anyway, from a rank that sends
    // nothing and to one that receives nothing in that round, early.
    std::optional<ListedMessage> insertion() const {
        std::optional<ListedMessage> best;
        int best_score = -1;
        for (int round = 0; round < list_.rounds; ++round)
            for (int from = 0; from < list_.ranks; ++from)
                for (int to = 0; to < list_.ranks; ++to)
                    for (const bool adds : {true, false}) {
                        if (from == to) continue;
                        const ListedMessage message{round, from, to, chunk_, adds};
                        auto with = messages_;
                        put(with, message);
                        if (!right(with)) continue;
                        bool pair = false, sends = false, receives = false;
                        for (const ListedMessage& other : all_) {
                            pair = pair || (other.from == from && other.to == to);
                            sends = sends || (other.from == from && other.round == round);
                            receives = receives || (other.to == to && other.round == round);
                        }
                        const int score = 4 * pair + 2 * !sends + !receives;
                        if (score > best_score) best = message, best_score = score;
                    }
        return best;
    }

    const Collective& list_;
    const std::vector<ListedMessage>&all_, &messages_;
    int chunk_;
};

std::vector<ListedMessage> messages_of(const Collective& list) {
    std::vector<ListedMessage> messages;
    for (const CollectiveStep& step : list.steps)
        for (int chunk = step.chunk; chunk < step.chunk + step.run && step.verb != Verb::send; ++chunk)
            messages.push_back({step.round, step.peer, step.rank, chunk, step.verb == Verb::receive_reduce});
    std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) { return a.round < b.round; });
    return messages;
}

}  // namespace

std::string text_of(const ListedMessage& message) {
    return fmt::format("{}>{}:{}{}", message.from, message.to, message.chunk, message.adds ? "+" : "");
}

std::vector<WrongChunk> wrong_chunks(const Collective& list) {
    std::vector<WrongChunk> all;
    const std::vector<ListedMessage> messages = messages_of(list);
    for (int chunk = 0; chunk < list.chunks; ++chunk) {
        std::vector<ListedMessage> of_chunk;
        std::copy_if(messages.begin(), messages.end(), std::back_inserter(of_chunk),
                     [&](const ListedMessage& message) { return message.chunk == chunk; });
        const ChunkRun run = run_chunk(list.ranks, of_chunk);
        if (run.wrong == 0) continue;
        std::map<std::pair<std::vector<int>, std::vector<int>>, std::vector<int>> alike;  // lacks and twice -> ranks
        for (int rank = 0; rank < list.ranks; ++rank) {
            std::vector<int> lacks, twice;
            for (int source = 0; source < list.ranks; ++source) {
                const int times = run.end[size_t(rank)][size_t(source)];
                if (times != 1) (times == 0 ? lacks : twice).push_back(source);
            }
            if (!lacks.empty() || !twice.empty()) alike[{lacks, twice}].push_back(rank);
        }
        const std::string advice = Repair(list, messages, of_chunk, chunk).text();
        for (const auto& [what, ranks] : alike) {
            WrongChunk wrong{.chunk = chunk, .ranks = ranks, .lacks = what.first, .twice = what.second};
            wrong.text = ranks.size() == 1 ? fmt::format("rank {}'s chunk {}", ranks[0], chunk)
                                           : fmt::format("chunk {} of {}", chunk, ranks_text(ranks));
            const auto parts = [](const std::vector<int>& of) {
                return of.size() == 1 ? fmt::format("rank {}'s part", of[0])
                                      : fmt::format("the parts of {}", ranks_text(of));
            };
            if (!wrong.twice.empty()) wrong.text += fmt::format(" counts {} more than once", parts(wrong.twice));
            if (!wrong.lacks.empty())
                wrong.text += fmt::format("{} lacks {}", wrong.twice.empty() ? "" : " and", parts(wrong.lacks));
            if (!wrong.twice.empty())
                explain_twice(run, wrong);
            else
                explain_lack(run, list.rounds, wrong);
            wrong.advice = advice;
            all.push_back(std::move(wrong));
        }
    }
    return all;
}

}  // namespace lockstep::comm
