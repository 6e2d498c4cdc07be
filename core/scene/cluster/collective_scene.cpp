// Collectives in a scene: the list of steps of an algorithm, timed on a network.
//
//   own      = "own ranks=3 chunks=3" newline { "round" N ":" { FROM ">" TO ":" CHUNK [ "+" ] } newline }: an all-reduce, or
//              with operation=broadcast, where nothing is added, rank 0's chunks to all
//   HEAD:     the algorithm (ring, tree, halving_doubling, parameter_server, hierarchical)
//   settings: operation (all_reduce) ranks bytes; link (nvlink4, ib-edr, 10gbe ...), its latency (us) and gigabytes (a
//             second); topology (ideal, ring, two_level ...) with inner (link), node_size, adapters; root pieces servers;
//             slow=RANK:FACTOR
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>

#include "core/base/diagnostic.h"
#include "core/comm/collectives/judge.h"
#include "core/comm/in_process.h"
#include "core/comm/network/network.h"
#include "core/comm/network/timing.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {
namespace {

using comm::CollectiveStep;
using comm::Verb;

struct OwnCollective {
    std::shared_ptr<comm::Collective> list = std::make_shared<comm::Collective>();
    struct Place {
        comm::ListedMessage message;
        const ParallelList* line = nullptr;
        size_t offset = 0;
    };
    std::vector<Place> places;
};

// "0>1:2+": rank 0 sends chunk 2 to rank 1, which adds it; "0>1:2": which takes it.
comm::ListedMessage message_of(const ParallelList& line, const ListWord& word, int round, int ranks, int chunks) {
    comm::ListedMessage message{.round = round, .from = -1, .to = -1, .chunk = -1};
    char arrow = 0, colon = 0, plus = 0, rest = 0;
    std::istringstream parts(word.text);
    if (!(parts >> message.from >> arrow >> message.to >> colon >> message.chunk) || arrow != '>' || colon != ':' ||
        ((parts >> plus) && plus != '+') || (parts >> rest) || message.from < 0 || message.from >= ranks || message.to < 0 ||
        message.to >= ranks || message.from == message.to || message.chunk < 0 || message.chunk >= chunks)
        line.refuse(fmt::format("'{}' is no message: FROM>TO:CHUNK, and + where it is added; ranks 0 to {}, chunks 0 to {}",
                                word.text, ranks - 1, chunks - 1),
                    word.offset);
    message.adds = plus == '+';
    return message;
}

OwnCollective own_collective(const ParallelText& row, const std::string& operation, int ranks, int chunks) {
    if (operation != "all_reduce" && operation != "broadcast")
        throw Failure(fmt::format("rounds of one's own make an all_reduce or a broadcast, not '{}'", operation));
    OwnCollective own;
    comm::Collective& made = *own.list;
    made.operation = operation;
    made.algorithm = "ring";  // for the list of formulas, which is not asked
    made.shape.ranks = made.ranks = ranks;
    made.chunks = chunks;
    for (const ParallelList& line : row.lists) {
        if (line.number != made.rounds + 1)
            line.refuse(fmt::format("round {} comes next, not {}", made.rounds + 1, line.number));
        for (const ListWord& word : words_of(line)) {
            const comm::ListedMessage message = message_of(line, word, made.rounds, ranks, chunks);
            if (message.adds && operation == "broadcast")
                line.refuse(fmt::format("'{}' adds, and a broadcast adds nothing: without the +", word.text), word.offset);
            made.steps.push_back({made.rounds, message.from, message.to, message.chunk, 1, Verb::send});
            made.steps.push_back({made.rounds, message.to, message.from, message.chunk, 1,
                                  message.adds ? Verb::receive_reduce : Verb::receive});
            own.places.push_back({message, &line, word.offset});
        }
        ++made.rounds;
    }
    std::stable_sort(made.steps.begin(), made.steps.end(), [](const CollectiveStep& a, const CollectiveStep& b) {
        return std::tuple(a.rank, a.round, a.verb != Verb::send) < std::tuple(b.rank, b.round, b.verb != Verb::send);
    });
    made.first.assign(size_t(ranks) + 1, 0);
    for (const CollectiveStep& step : made.steps) ++made.first[size_t(step.rank) + 1];
    for (size_t rank = 0; rank < size_t(ranks); ++rank) made.first[rank + 1] += made.first[rank];
    return own;
}

ListFault fault_at(const OwnCollective::Place& place, const ParallelText& row, const std::string& text,
                   const std::string& advice) {
    ListFault fault{.what = {text, row.where, row.line}, .advice = advice};
    fault.what.where = place.line->at(place.offset), fault.what.source_line = place.line->line;
    fault.round = place.message.round + 1;
    fault.chunk = place.message.chunk;
    fault.ranks = {place.message.to};
    return fault;
}

// Of a broadcast: who hands on what it has not yet got, else what a rank never gets. In a round all send what they had
// before it.
std::vector<ListFault> faults_of_broadcast(const OwnCollective& own, const ParallelText& row) {
    const auto ranks = size_t(own.list->ranks), chunks = size_t(own.list->chunks);
    std::vector<int> since(ranks * chunks, own.list->rounds);  // the round from whose end on a rank has it
    const auto had = [&](int rank, int chunk) -> int& { return since[size_t(rank) * chunks + size_t(chunk)]; };
    for (size_t chunk = 0; chunk < chunks; ++chunk) had(0, int(chunk)) = -1;
    std::vector<ListFault> faults;
    for (const OwnCollective::Place& place : own.places) {  // in order of rounds
        const comm::ListedMessage& message = place.message;
        if (had(message.from, message.chunk) >= message.round)
            faults.push_back(fault_at(
                place, row,
                fmt::format("rank {} sends chunk {} in round {} ({}), and has not got it before that round", message.from,
                            message.chunk, message.round + 1, comm::text_of(message)),
                fmt::format("Let rank {} send it in a later round than the one in which it arrives there.", message.from)));
        else
            had(message.to, message.chunk) = std::min(had(message.to, message.chunk), message.round);
    }
    for (int rank = 0; rank < own.list->ranks && faults.empty(); ++rank)
        for (int chunk = 0; chunk < own.list->chunks; ++chunk)
            if (had(rank, chunk) >= own.list->rounds) {
                ListFault fault{
                    .what = {fmt::format("chunk {} never reaches rank {}", chunk, rank), row.where, row.line},
                    .advice = fmt::format("Add a message of chunk {} to rank {}, from a rank that has it.", chunk, rank)};
                fault.ranks = {rank};
                fault.chunk = chunk;
                faults.push_back(std::move(fault));
            }
    return faults;
}

// What the list gets wrong, each with the message that is to blame.
std::vector<ListFault> faults_of(const OwnCollective& own, const ParallelText& row) {
    if (own.list->operation == "broadcast") return faults_of_broadcast(own, row);
    std::vector<ListFault> faults;
    for (const comm::WrongChunk& wrong : comm::wrong_chunks(*own.list)) {
        ListFault fault{.what = {wrong.text, row.where, row.line}, .advice = wrong.advice};
        fault.ranks = wrong.ranks;
        fault.lacks = wrong.lacks;
        fault.twice = wrong.twice;
        fault.chunk = wrong.chunk;
        if (wrong.round >= 0) {
            fault.round = wrong.round + 1;
            const auto place = std::find_if(own.places.begin(), own.places.end(),
                                            [&](const OwnCollective::Place& one) { return one.message == wrong.message; });
            if (place != own.places.end())
                fault.what.where = place->line->at(place->offset), fault.what.source_line = place->line->line;
        }
        faults.push_back(std::move(fault));
    }
    return faults;
}

// Of a broadcast, chunks that are not the root's in the end, of all ranks: in a round all send what they had before it.
double wrong_copies(const comm::Collective& list) {
    const auto chunks = size_t(list.chunks);
    std::vector<char> right(size_t(list.ranks) * chunks, 0);
    std::fill_n(right.begin() + std::ptrdiff_t(size_t(list.shape.root) * chunks), list.chunks, 1);
    std::vector<CollectiveStep> arrivals;
    for (const CollectiveStep& step : list.steps)
        if (step.verb != Verb::send) arrivals.push_back(step);
    std::stable_sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.round < b.round; });
    std::vector<char> before = right;
    for (size_t i = 0; i < arrivals.size(); ++i) {
        const CollectiveStep& step = arrivals[i];
        if (i == 0 || step.round != arrivals[i - 1].round) before = right;
        for (size_t chunk = size_t(step.chunk); chunk < size_t(step.chunk + step.run); ++chunk)
            right[size_t(step.rank) * chunks + chunk] = before[size_t(step.peer) * chunks + chunk];
    }
    return static_cast<double>(std::count(right.begin(), right.end(), 0));
}

// Elements that are not the sum after the ranks have run the list on small whole numbers.
double wrong_sums(const comm::Collective& list) {
    const int64_t count = 3 * int64_t{list.chunks} + 1;
    std::vector<double> wrong(size_t(list.ranks), 0);
    const auto ended = comm::run_in_process(list.ranks, {}, [&](comm::Communicator& communicator) {
        std::vector<float> values(static_cast<size_t>(count));
        const auto rank = static_cast<size_t>(communicator.rank());
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i + 1) * (rank + 1));
        comm::run_collective(list, communicator, {values.data(), count, DType::f32});
        const auto n = static_cast<size_t>(list.ranks);
        for (size_t i = 0; i < values.size(); ++i) wrong[rank] += values[i] != static_cast<float>((i + 1) * n * (n + 1) / 2);
    });
    if (const std::string why = ended.problem(); !why.empty()) throw Failure("this list of messages cannot run: " + why);
    return std::accumulate(wrong.begin(), wrong.end(), 0.0);
}

struct TimedCollective {
    const comm::Collective& list;
    const comm::CollectiveRun& run;
    const comm::TopologyShape& place;
    double bytes = 0;  // of the buffer
    bool own = false;
};

double most(const std::vector<int64_t>& by_rank) {
    return by_rank.empty() ? 0 : static_cast<double>(*std::max_element(by_rank.begin(), by_rank.end()));
}

// The most sends of one rank, or the most arrivals at one rank in one round.
double most_messages(const comm::Collective& list, bool sends, bool by_round) {
    std::map<std::pair<int, int>, double> counts;
    double most = 0;
    for (const CollectiveStep& step : list.steps)
        if ((step.verb == Verb::send) == sends) most = std::max(most, ++counts[{step.rank, by_round ? step.round : 0}]);
    return most;
}

constexpr Figure<TimedCollective> collective_rows[] = {
    {"rounds", "", "One after the other.", [](const auto& c) { return c.list.rounds; }},
    {"chunks", "", "Into which the buffer is cut.", [](const auto& c) { return c.list.chunks; }},
    {"messages", "", "Of all ranks.",
     [](const auto& c) {
         return std::count_if(c.list.steps.begin(), c.list.steps.end(),
                              [](const CollectiveStep& step) { return step.verb == Verb::send; });
     }},
    {"messages_per_rank", "", "Of the rank that sends most.",
     [](const auto& c) { return most_messages(c.list, true, false); }},
    {"fan_in", "messages", "The most that arrive at one rank in one round.",
     [](const auto& c) { return most_messages(c.list, false, true); }},
    {"bytes_per_rank", "B", "Of the rank that sends most.", [](const auto& c) { return most(c.run.bytes_sent); }},
    {"received_per_rank", "B", "Of the rank that receives most.", [](const auto& c) { return most(c.run.bytes_received); }},
    {"total_bytes", "B", "That all ranks send.",
     [](const auto& c) { return std::accumulate(c.run.bytes_sent.begin(), c.run.bytes_sent.end(), 0.0); }},
    {"share", "", "bytes_per_rank over the buffer.",
     [](const auto& c) { return c.bytes > 0 ? most(c.run.bytes_sent) / c.bytes : 0; }},
    {"time_us", "us", "From the first message to the last.", [](const auto& c) { return c.run.total_us; }},
    {"formula_us", "us", "By the algorithm's formula, where one holds.",
     [](const auto& c) { return !c.own && std::isfinite(c.run.formula_us) ? c.run.formula_us : std::optional<double>(); }},
    {"bus_gigabytes", "GB/s", "As nccl-tests count.", [](const auto& c) { return c.run.bus_gigabytes_per_s; }},
    {"wrong", "",
     "Of all ranks: elements that are not the sum (all-reduce, at most 16 ranks), chunks that are not the root's "
     "(broadcast).",
     [](const auto& c) {
         if (c.list.operation == "broadcast") return std::optional<double>(wrong_copies(c.list));
         return c.list.operation == "all_reduce" && c.list.ranks <= 16 ? wrong_sums(c.list) : std::optional<double>();
     }},
    {"node_size", "", "Ranks of a node.", [](const auto& c) { return c.place.node_size; }},
    {"adapters", "", "Of a node.", [](const auto& c) { return c.place.adapters; }},
    {"ranks", "", "That take part.", [](const auto& c) { return c.place.ranks; }},
    {"bytes", "B", "Of the buffer.", [](const auto& c) { return c.bytes; }},
    {"latency", "us", "Of the link.", [](const auto& c) { return c.place.link.latency_us; }},
    {"gigabytes", "GB/s", "Of the link.", [](const auto& c) { return c.place.link.bytes_per_us / 1000; }},
};

constexpr FigureText rank_sends[] = {
    {"bytes_sent", "B", "By a rank.", "rank"},
    {"received", "B", "By a rank.", "rank"},
};

}  // namespace

std::vector<FigureText> collective_row_figures() {
    std::vector<FigureText> all = texts_of(collective_rows);
    all.insert(all.end(), std::begin(rank_sends), std::end(rank_sends));
    return all;
}

ParallelRow run_collective_row(ParallelText& row, const ParallelSceneOptions&) {
    const std::string operation = row.word("operation", "all_reduce");
    comm::CollectiveShape shape;
    shape.ranks = static_cast<int>(row.whole("ranks", 8, 1, 64));
    shape.root = static_cast<int>(row.whole("root", 0, 0, shape.ranks - 1));
    shape.servers = static_cast<int>(row.whole("servers", 1, 1, shape.ranks));
    shape.node_size = static_cast<int>(row.whole("node_size", std::min(8, shape.ranks), 1, shape.ranks));
    const int64_t bytes = row.whole("bytes", 64'000'000, 0, int64_t{1} << 40), count = bytes / 4;
    shape.pieces = static_cast<int>(row.whole("pieces", comm::pipeline_pieces(bytes), 1, 4096));
    const auto link_of = [&](const char* key, const char* otherwise) {
        return comm::link_named(row.word(key, otherwise)).link();
    };
    comm::TopologyShape place{.ranks = shape.ranks, .node_size = shape.node_size};
    place.link = link_of("link", "nvlink4");
    place.inner = link_of("inner", "nvlink4");
    place.link.latency_us = row.real("latency", place.link.latency_us, 0, 1e6);
    place.link.bytes_per_us = 1000 * row.real("gigabytes", place.link.bytes_per_us / 1000, 1e-6, 1e5);
    place.adapters = static_cast<int>(row.whole("adapters", 1, 1, 64));
    const std::string topology = row.word("topology", "ideal");
    comm::Network network =
        topology == "ideal" ? comm::ideal_network(shape.ranks, place.link) : comm::make_network(topology, place);
    if (const std::string slow = row.word("slow", ""); !slow.empty()) {
        int rank = -1;
        double factor = 0;
        char colon = 0;
        std::istringstream words(slow);
        if (!(words >> rank >> colon >> factor) || colon != ':' || rank < 0 || rank >= shape.ranks || !(factor >= 1) ||
            !(factor <= 1000))
            throw Failure(fmt::format("slow= is RANK:FACTOR, as in slow=1:4, not '{}'", slow));
        comm::slow_rank(network, rank, factor);
    }
    const bool own = row.head == "own";
    const auto chunks = static_cast<int>(row.whole("chunks", own ? shape.ranks : 1, 1, 64));
    row.done();
    if (!own && !row.lists.empty()) throw Failure("'round' lines go with 'own', not with an algorithm of the list");

    const OwnCollective mine = own ? own_collective(row, operation, shape.ranks, chunks) : OwnCollective{};
    const std::shared_ptr<const comm::Collective> list = own ? mine.list : comm::collective(operation, row.head, shape);
    auto run = std::make_shared<const comm::CollectiveRun>(
        comm::time_collective(list, std::make_shared<const comm::Network>(std::move(network)), count));
    ParallelRow made;
    made.title = row.head;
    made.collective = run;
    if (own) made.wrong = faults_of(mine, row);
    leave_figures<TimedCollective>(collective_rows, {*list, *run, place, static_cast<double>(4 * count), own}, made.figures);
    for (size_t rank = 0; rank < size_t(shape.ranks); ++rank) {
        made.figures[fmt::format("bytes_sent@rank:{}", rank)] = static_cast<double>(run->bytes_sent[rank]);
        made.figures[fmt::format("received@rank:{}", rank)] = static_cast<double>(run->bytes_received[rank]);
    }
    return made;
}

}  // namespace lockstep::scene
