// Contributions chunk by chunk, and D10's facts in words.
#include "app/gui/views/collective/collective_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::gui {

void CollectiveBoard::adopt(const scene::CollectiveShown& shown) {
    shown_ = &shown;
    const auto ranks = static_cast<size_t>(std::max(0, shown.ranks())),
               chunks = static_cast<size_t>(std::max(0, shown.chunks()));
    const auto bit = [](size_t rank) { return uint64_t{1} << (rank & 63); };
    start_.assign(ranks * chunks, 0);
    const bool gathers =
        shown.operation == "all_gather" || shown.operation == "broadcast" || shown.operation == "all_to_all";
    complete_ = gathers ? 0 : ranks >= 64 ? ~uint64_t{0} : bit(ranks) - 1;
    for (size_t rank = 0; rank < ranks; ++rank)
        for (size_t chunk = 0; chunk < chunks; ++chunk) {
            const bool own = shown.operation == "all_gather"   ? chunk == rank
                             : shown.operation == "broadcast"  ? rank == 0
                             : shown.operation == "all_to_all" ? chunk / ranks == rank
                                                               : true;
            if (own) start_[rank * chunks + chunk] = bit(rank);
        }
    links_.clear();
    carried_.clear();
    carried_at_.assign(shown.messages.size(), 0);
    // Everything in order of time, arrivals before sends.
    struct Event {
        double time;
        bool sends;
        size_t message;
    };
    std::vector<Event> events;
    events.reserve(2 * shown.messages.size());
    size_t total = 0;
    for (size_t i = 0; i < shown.messages.size(); ++i) {
        const comm::Transfer& one = shown.messages[i];
        events.push_back({one.begin_us, true, i});
        events.push_back({one.arrival_us, false, i});
        carried_at_[i] = total;
        total += static_cast<size_t>(std::max(1, one.run));
        links_.emplace_back(one.from, one.to);
    }
    std::sort(links_.begin(), links_.end());
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    carried_.assign(total, 0);
    std::stable_sort(events.begin(), events.end(), [&](const Event& a, const Event& b) {
        if (std::abs(a.time - b.time) > 1e-9) return a.time < b.time;
        if (a.sends != b.sends) return !a.sends;
        return shown.messages[a.message].round < shown.messages[b.message].round;
    });
    std::vector<uint64_t> state = start_;
    for (const Event& event : events) {
        const comm::Transfer& one = shown.messages[event.message];
        for (int k = 0; k < one.run; ++k) {
            const auto chunk = static_cast<size_t>(one.chunk + k);
            if (chunk >= chunks) break;
            uint64_t& carried = carried_[carried_at_[event.message] + static_cast<size_t>(k)];
            if (event.sends) {
                carried = state[static_cast<size_t>(one.from) * chunks + chunk];
            } else {
                uint64_t& there = state[static_cast<size_t>(one.to) * chunks + chunk];
                there = one.reduce ? there | carried : carried;
            }
        }
    }
}

std::vector<ChunkState> CollectiveBoard::at(double time) const {
    std::vector<ChunkState> state(start_.size());
    if (shown_ == nullptr) return state;
    for (size_t i = 0; i < start_.size(); ++i) state[i].here = start_[i];
    const auto chunks = static_cast<size_t>(shown_->chunks());
    std::vector<size_t> order;  // of arrival
    for (size_t i = 0; i < shown_->messages.size() && shown_->messages[i].begin_us <= time + 1e-9; ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return shown_->messages[a].arrival_us < shown_->messages[b].arrival_us; });
    for (const size_t i : order) {
        const comm::Transfer& one = shown_->messages[i];
        const bool arrived = one.arrival_us <= time + 1e-9;
        for (int k = 0; k < one.run; ++k) {
            const auto chunk = static_cast<size_t>(one.chunk + k);
            if (chunk >= chunks) break;
            ChunkState& there = state[static_cast<size_t>(one.to) * chunks + chunk];
            const uint64_t carried = carried_[carried_at_[i] + static_cast<size_t>(k)];
            if (arrived)
                there.here = one.reduce ? there.here | carried : carried;
            else
                there.coming |= carried;
        }
    }
    return state;
}

int CollectiveBoard::round_at(double time) const {
    int round = 0;
    if (shown_ == nullptr) return round;
    for (const comm::Transfer& message : shown_->messages)
        if (message.begin_us <= time + 1e-9) round = std::max(round, message.round + 1);
    return round;
}

double collective_time(const Session& session, const scene::ClusterScene& scene) {
    const double end = scene.collective.run.total_us;
    if (!scene.collective.of_run.empty())
        return std::clamp(schedule_time(session, Focus(), scene) - scene.collective.since_us, 0.0, end);
    return session.cluster.collective_time >= 0 ? std::min(session.cluster.collective_time, end) : 0.515 * end;
}

std::string chunk_name(int chunk, int chunks) {
    return chunks <= 26 ? std::string(1, static_cast<char>('a' + chunk)) : std::to_string(chunk);
}

std::string collective_title(const scene::CollectiveShown& shown) {
    if (shown.algorithm.empty()) return "Collective";
    std::string text = shown.algorithm + " " + shown.operation;
    if (const size_t at = text.find("all_"); at != std::string::npos) text[at + 3] = '-';
    std::replace(text.begin(), text.end(), '_', ' ');
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

namespace {

// The share of the whole time that the busiest link has messages on its way: across the wall between nodes, or within.
double busiest_share(const CollectiveBoard& board, bool across) {
    const scene::CollectiveShown& shown = *board.shown();
    double most = 0;
    for (const auto& [from, to] : board.links()) {
        if (shown.crosses(from, to) != across) continue;
        double busy = 0;
        for (const comm::Transfer& one : shown.messages)
            if (one.from == from && one.to == to) busy += one.arrival_us - one.begin_us;
        most = std::max(most, busy);
    }
    return shown.run.total_us > 0 ? std::min(1.0, most / shown.run.total_us) : 0;
}

// How many ranks have everything at the end.
int complete_ranks(const CollectiveBoard& board) {
    const scene::CollectiveShown& shown = *board.shown();
    const std::vector<ChunkState> end = board.at(2 * shown.run.total_us + 1);
    int count = 0;
    for (int rank = 0; rank < shown.ranks(); ++rank) {
        const auto first = end.begin() + static_cast<std::ptrdiff_t>(rank) * shown.chunks();
        count += std::all_of(first, first + shown.chunks(), [&](const ChunkState& chunk) {
            return board.summed() ? chunk.here == board.complete() : chunk.here != 0;
        });
    }
    return count;
}

}  // namespace

std::string collective_headline(const CollectiveBoard& board) {
    const scene::CollectiveShown& shown = *board.shown();
    if (shown.messages.empty()) return {};
    const std::string took = time_text(shown.run.total_us), bytes = bytes_si(static_cast<double>(shown.run.bytes()));
    const int ranks = shown.ranks();
    if (shown.late_rank >= 0 && shown.run.total_us > shown.on_time_us + 0.005)
        return fmt::format("Rank {} begins {} late, and all end {} later", shown.rank_of(shown.late_rank),
                           time_text(shown.late_us), time_text(shown.run.total_us - shown.on_time_us));
    if (shown.operation == "broadcast") {
        if (const int complete = complete_ranks(board); complete < ranks)
            return fmt::format("{} of {} ranks have the whole {} in the end", complete, ranks, bytes);
        const std::string done = fmt::format("all {} ranks have the {} after {}", ranks, bytes, took);
        if (shown.algorithm == "ring" && shown.chunks() > 1)
            return fmt::format("A chain, {} pieces close behind each other: {}", shown.chunks(), done);
        if (shown.algorithm == "tree") return fmt::format("A tree, {} copies one after another: {}", shown.rounds(), done);
        if (shown.algorithm == "parameter_server")
            return fmt::format("One link, {} copies one after another: {}", ranks - 1, done);
        const auto share = static_cast<double>(shown.most_sent) / std::max(1.0, static_cast<double>(shown.run.bytes()));
        return fmt::format("All {} ranks have the {} after {}; the busiest sends {:.3g} copies", ranks, bytes, took, share);
    }
    if (shown.operation == "all_reduce") {
        if (const int complete = complete_ranks(board); complete < ranks)
            return complete == 0 ? "No rank has the whole sum in the end"
                                 : fmt::format("{} of {} ranks have the whole sum in the end", complete, ranks);
        if (shown.node_size > 0)
            if (const double across = busiest_share(board, true), within = busiest_share(board, false); across > 0.5)
                return fmt::format("The sum takes {}: the wall is busy {:.0f} % of it, links in a node {:.2g} %", took,
                                   100 * across, 100 * within);
        const double share = static_cast<double>(shown.most_sent) / std::max(1.0, static_cast<double>(shown.run.bytes()));
        return fmt::format("All {} ranks have the sum of {} after {}: {}, the busiest sends {:.3g} buffers", ranks, bytes,
                           took, counted(shown.rounds(), "step"), share);
    }
    return {};
}

MessageCode message_code(const scene::CollectiveShown& shown) {
    if (std::any_of(shown.messages.begin(), shown.messages.end(), [](const auto& one) { return one.reduce; }))
        return MessageCode::by_sum;
    if (shown.operation != "broadcast") return MessageCode::by_sum;
    return shown.chunks() > 1 ? MessageCode::by_piece : MessageCode::by_step;
}

Color piece_color(int piece, int pieces) {
    const float share = pieces < 2 ? 0 : static_cast<float>(piece) / static_cast<float>(pieces - 1);
    return share < 0.5f ? mix(data::yellow, data::green, 2 * share) : mix(data::green, data::blue, 2 * share - 1);
}

Color step_color(int step) {
    constexpr Color colors[] = {data::blue, data::sky, data::orange, data::yellow, data::purple, data::vermillion};
    return colors[static_cast<size_t>(step) % std::size(colors)];
}

MessageLook message_look(const scene::CollectiveShown& shown, const comm::Transfer& message) {
    const std::string name = chunk_name(message.chunk, shown.chunks());
    switch (message_code(shown)) {
        case MessageCode::by_piece:
            return {piece_color(message.chunk, shown.chunks()), name};
        case MessageCode::by_step:
            return {step_color(message.round), std::to_string(message.round + 1)};
        default:
            return {message.reduce ? data::green : data::blue, name};
    }
}

std::string collective_formula(const scene::CollectiveShown& shown) {
    return shown.algorithm == "ring" && shown.operation == "all_reduce" ? "2(N-1)/N · S" : std::string();
}

std::string collective_caption(const scene::ClusterScene& scene) {
    const scene::CollectiveShown& shown = scene.collective;
    if (!shown.refusal.empty()) return "This collective cannot run on these numbers.";
    const bool copied = shown.operation == "all_gather" || shown.operation == "broadcast" || shown.operation == "all_to_all";
    std::string text = copied ? "Lit: the chunk is there; hatched: it is arriving."
                              : "Lit: that rank's part is in; hatched: arriving; framed: complete.";
    if (shown.node_size > 0) text += " Dashed: the wall between two nodes; in its colour the links that cross it.";
    const double late = shown.run.total_us - shown.on_time_us;
    if (shown.late_rank >= 0)
        text += fmt::format(" Rank {} is {} late; the last rank ends {} later.", shown.rank_of(shown.late_rank),
                            time_text(shown.late_us), late < 0.005 ? std::string("no") : time_text(late));
    const auto slowest = std::min_element(shown.speeds.begin(), shown.speeds.end());
    if (slowest != shown.speeds.end() && *slowest < 1)
        text += fmt::format(" The port of rank {} runs at 1/{:g} of the speed, and all wait for it.",
                            slowest - shown.speeds.begin(), 1 / *slowest);
    else if (shown.late_rank < 0 && shown.run.bytes() > 0)
        text += shown.most_sent == shown.run.bytes()
                    ? std::string(" No rank sends more than one whole buffer.")
                    : fmt::format(" The rank that sends most sends {:.3g} times the buffer.",
                                  static_cast<double>(shown.most_sent) / static_cast<double>(shown.run.bytes()));
    return text;
}

}  // namespace lockstep::gui
