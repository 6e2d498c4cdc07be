// Messages are given to the links again, by time of sending, rank and number, as the run itself did it
// (core/comm/network/traffic.h).
#include "core/scene/cluster/cluster_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/comm/network/traffic.h"

namespace lockstep::scene {

std::shared_ptr<const comm::Network> network_of_ranks(const NetworkSetup& setup, int ranks) {
    comm::TopologyShape shape;
    shape.ranks = ranks;
    shape.link = comm::link_named(setup.link).link();
    shape.inner = comm::link_named(setup.inner).link();
    shape.node_size = std::clamp(setup.node_size, 1, std::max(1, ranks / 2));
    return std::make_shared<const comm::Network>(comm::make_network(setup.topology, shape));
}

namespace {

int row_of_kind(std::vector<parallel::Traffic>& rows, const parallel::Traffic& one) {
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows[i].axis == one.axis && rows[i].purpose == one.purpose) return static_cast<int>(i);
    rows.push_back({one.axis, one.purpose, 0, 0});
    return static_cast<int>(rows.size()) - 1;
}

// The k-th collective of a group is the same one on all of its ranks.
void join_collectives(const parallel::ParallelStepRecord& record, std::vector<std::vector<int>>& message_at,
                      double origin_us, TrainingShown& shown) {
    std::map<std::tuple<std::vector<int>, std::string, size_t>, size_t> known;
    for (size_t rank = 0; rank < record.ranks.size(); ++rank) {
        std::map<std::pair<std::vector<int>, std::string>, size_t> counts;  // purposes have streams of their own
        const std::vector<parallel::RankCollective>& list = record.ranks[rank].collectives;
        std::vector<std::vector<int>> sent(list.size());
        for (size_t i = 0; i < record.ranks[rank].messages.size(); ++i)
            if (const int of = record.ranks[rank].messages[i].collective; of >= 0)
                sent[static_cast<size_t>(of)].push_back(message_at[rank][i]);
        for (size_t i = 0; i < list.size(); ++i) {
            const parallel::RankCollective& one = list[i];
            const size_t number = counts[{one.ranks, one.purpose}]++;
            const auto [at, fresh] = known.try_emplace({one.ranks, one.purpose, number}, shown.collectives.size());
            if (fresh) {
                RunCollective& made = shown.collectives.emplace_back();
                made = {one.operation, one.algorithm, one.axis, one.purpose, one.ranks, one.elements, one.type, {}, {}, {}};
                made.begin_us.resize(one.ranks.size());
                made.end_us.resize(one.ranks.size());
                made.messages.resize(one.ranks.size());
            }
            RunCollective& joined = shown.collectives[at->second];
            const auto member = static_cast<size_t>(std::find(one.ranks.begin(), one.ranks.end(), static_cast<int>(rank)) -
                                                    one.ranks.begin());
            if (member >= one.ranks.size() || joined.operation != one.operation) continue;
            joined.begin_us[member] = one.begin_us - origin_us;
            joined.end_us[member] = one.end_us - origin_us;
            joined.messages[member] = std::move(sent[i]);
        }
    }
    std::stable_sort(shown.collectives.begin(), shown.collectives.end(),
                     [](const RunCollective& a, const RunCollective& b) { return a.begin_us.front() < b.begin_us.front(); });
}

// What every member's list sends, matched with the messages that it sent; nothing where they are not the same.
std::optional<std::vector<comm::Transfer>> transfers_of(const RunCollective& one, const comm::Collective& steps,
                                                        const StepTraffic& traffic, double since) {
    std::vector<comm::Transfer> transfers;
    for (int member = 0; member < steps.ranks; ++member) {
        const std::vector<int>& sent = one.messages[static_cast<size_t>(member)];
        size_t next = 0;
        std::map<int, int> to_peer;  // messages so far
        for (const comm::CollectiveStep& step : steps.of(member)) {
            if (step.verb != comm::Verb::send) continue;
            if (next == sent.size()) return std::nullopt;
            const RunMessage& message = traffic.messages[static_cast<size_t>(sent[next++])];
            if (message.to != one.ranks[static_cast<size_t>(step.peer)]) return std::nullopt;
            comm::Transfer transfer{member, step.peer, step.round, step.chunk, step.run};
            int before = to_peer[step.peer]++;
            for (const comm::CollectiveStep& taken : steps.of(step.peer))
                if (taken.verb != comm::Verb::send && taken.peer == member && before-- == 0)
                    transfer.reduce = taken.verb == comm::Verb::receive_reduce;
            transfer.bytes = message.bytes;
            transfer.sent_us = message.sent_us - since;
            transfer.begin_us = message.begin_us - since;
            transfer.arrival_us = transfer.received_us = message.arrival_us - since;
            transfers.push_back(transfer);
        }
        if (next != sent.size()) return std::nullopt;
    }
    return transfers;
}

comm::Link slowest_link_between(const comm::Network& network, const std::vector<int>& ranks) {
    comm::Link slowest{0, 0};
    std::vector<int> way;
    for (size_t i = 0; i < ranks.size(); ++i) {
        network.route(ranks[i], ranks[(i + 1) % ranks.size()], way);
        comm::Link all{0, 1e30};
        for (const int at : way) {
            const comm::Link& link = network.links[static_cast<size_t>(at)].link;
            all.latency_us += link.latency_us;
            all.bytes_per_us = std::min(all.bytes_per_us, link.bytes_per_us);
        }
        if (slowest.bytes_per_us == 0 || all.bytes_per_us < slowest.bytes_per_us) slowest = all;
    }
    return slowest;
}

}  // namespace

void show_step_traffic(const parallel::ParallelStepRecord& record, std::shared_ptr<const comm::Network> network,
                       double origin_us, TrainingShown& shown) {
    StepTraffic& traffic = shown.traffic;
    traffic.network = std::move(network);
    traffic.title = traffic.network->topology;
    std::replace(traffic.title.begin(), traffic.title.end(), '_', ' ');
    struct Sent {
        double us;
        size_t rank, number;
    };
    std::vector<Sent> order;
    std::vector<std::vector<int>> message_at(record.ranks.size());
    for (size_t rank = 0; rank < record.ranks.size(); ++rank) {
        const parallel::RankStep& step = record.ranks[rank];
        message_at[rank].resize(step.messages.size());
        for (size_t i = 0; i < step.messages.size(); ++i) order.push_back({step.messages[i].sent_us, rank, i});
        for (const parallel::Traffic& row : step.sent) {
            parallel::Traffic& sum = shown.sent[static_cast<size_t>(row_of_kind(shown.sent, row))];
            sum.bytes += row.bytes;
            sum.messages += row.messages;
        }
    }
    std::sort(order.begin(), order.end(), [](const Sent& a, const Sent& b) {
        return std::tie(a.us, a.rank, a.number) < std::tie(b.us, b.rank, b.number);
    });
    comm::Traffic links(*traffic.network);
    links.spans = &traffic.spans;
    for (const Sent& sent : order) {
        const parallel::RankStep& rank = record.ranks[sent.rank];
        const parallel::RankMessage& message = rank.messages[sent.number];
        const auto number = static_cast<int64_t>(traffic.messages.size());
        const auto passage = links.carry(static_cast<int>(sent.rank), message.to, message.bytes, sent.us, number);
        message_at[sent.rank][sent.number] = static_cast<int>(number);
        traffic.messages.push_back({static_cast<int>(sent.rank), message.to,
                                    row_of_kind(shown.sent, rank.sent[static_cast<size_t>(message.row)]), message.bytes,
                                    sent.us - origin_us, passage.begin_us - origin_us, passage.arrival_us - origin_us});
    }
    for (comm::LinkSpan& span : traffic.spans) span.begin_us -= origin_us, span.end_us -= origin_us;
    traffic.use = links.use();
    join_collectives(record, message_at, origin_us, shown);
}

void show_step_collective(const TrainingShown& shown, ClusterScene& scene) {
    std::vector<const RunCollective*> list;
    for (const RunCollective& one : shown.collectives)
        if (one.purpose != "losses" && one.purpose != "norms" && one.operation != "broadcast") list.push_back(&one);
    scene.collective = {};  // never the simulated one beside a run
    if (list.empty()) {
        const bool one_rank = shown.mesh.ranks() == 1;
        scene.collective.nothing =
            fmt::format("{}, so this step has no collective: dp 2 would all-reduce gradients, tp 2 activations.",
                        one_rank ? "On one rank nothing is exchanged"
                                 : "Ranks of this plan hand activations and gradients from stage to stage alone");
        return;
    }
    int at = scene.setup.collective.of_run;
    if (at < 0) {
        const auto gradients =
            std::find_if(list.begin(), list.end(), [](const RunCollective* one) { return one->purpose == "gradients"; });
        at = gradients == list.end() ? 0 : static_cast<int>(gradients - list.begin());
    }
    at = std::min(at, static_cast<int>(list.size()) - 1);
    const RunCollective& one = *list[static_cast<size_t>(at)];
    const auto n = static_cast<int>(one.ranks.size());
    const auto steps = comm::collective(one.operation, one.algorithm, {.ranks = n});
    const double since = *std::min_element(one.begin_us.begin(), one.begin_us.end());
    const auto transfers = transfers_of(one, *steps, shown.traffic, since);
    if (!transfers) {
        scene.collective.nothing = "The messages of this step's collectives were not kept.";
        return;
    }
    CollectiveShown made;
    made.operation = one.operation;
    made.algorithm = one.algorithm;
    comm::CollectiveRun& run = made.run;
    run.collective = steps;
    run.network = shown.traffic.network;
    run.elements = one.elements;
    run.type = one.type;
    run.transfers = *transfers;
    run.bytes_sent.assign(static_cast<size_t>(n), 0);
    run.bytes_received.assign(static_cast<size_t>(n), 0);
    for (const comm::Transfer& transfer : run.transfers) {
        run.bytes_sent[static_cast<size_t>(transfer.from)] += transfer.bytes;
        run.bytes_received[static_cast<size_t>(transfer.to)] += transfer.bytes;
    }
    for (size_t member = 0; member < one.ranks.size(); ++member) {
        run.start_us.push_back(one.begin_us[member] - since);
        run.end_us.push_back(one.end_us[member] - since);
    }
    run.total_us = *std::max_element(run.end_us.begin(), run.end_us.end());
    const comm::Link link = slowest_link_between(*shown.traffic.network, one.ranks);
    const comm::CollectiveRow& row = comm::collective_named(one.operation, one.algorithm);
    if (row.formula) run.formula_us = row.formula(steps->shape, static_cast<double>(run.bytes()), link);
    const auto alone = std::make_shared<const comm::Network>(comm::ideal_network(n, link));
    made.on_time_us = comm::time_collective(steps, alone, one.elements, one.type, {.detail = false}).total_us;
    made.summary = row.summary;
    made.link = fmt::format("{:.3g} GB/s, {:.3g} µs", link.bytes_per_us / 1000, link.latency_us);
    made.messages = run.transfers;
    std::stable_sort(made.messages.begin(), made.messages.end(),
                     [](const comm::Transfer& a, const comm::Transfer& b) { return a.begin_us < b.begin_us; });
    for (const int64_t sent : run.bytes_sent) {
        made.most_sent = std::max(made.most_sent, sent);
        made.all_sent += sent;
    }
    const auto latest = std::max_element(run.start_us.begin(), run.start_us.end());
    if (*latest > 0.02 * run.total_us) {
        made.late_rank = static_cast<int>(latest - run.start_us.begin());
        made.late_us = *latest;
    }
    made.world = one.ranks;
    made.since_us = since;
    made.at = at;
    made.of = static_cast<int>(list.size());
    made.of_run = fmt::format("{} along {}", one.purpose, one.axis);
    scene.collective = std::move(made);
}

void show_step_parameter(const TrainingShown& shown, ClusterScene& scene) {
    struct Named {
        const parallel::ParameterHolding* one;
        int64_t elements;
    };
    std::vector<Named> names;  // in the model's order: stage by stage
    for (const auto& rank : shown.holdings)
        for (const parallel::ParameterHolding& holding : rank) {
            if (std::any_of(names.begin(), names.end(), [&](const Named& known) { return known.one->name == holding.name; }))
                continue;
            int64_t elements = 1;
            for (const int64_t extent : holding.full) elements *= extent;
            names.push_back({&holding, elements});
        }
    if (names.empty()) return;
    const MeshSetup& setup = scene.setup.mesh;
    size_t at = 0;
    if (setup.parameter >= 0)
        at = std::min(static_cast<size_t>(setup.parameter), names.size() - 1);
    else
        for (size_t i = 0; i < names.size(); ++i)
            if (names[i].one->full.size() > 1 && names[i].elements > names[at].elements) at = i;
    const parallel::ParameterHolding& chosen = *names[at].one;
    MeshShown made;
    for (const parallel::MeshAxis& axis : shown.mesh.axes)
        if (axis.size > 1) made.mesh.axes.push_back(axis);
    if (made.mesh.axes.empty()) made.mesh.axes.push_back({"dp", 1});
    made.plan.mesh = made.mesh;
    made.parameter = chosen.name;
    made.beside = setup.gradients ? "gradients" : "Adam";
    made.at = static_cast<int>(at);
    made.of = static_cast<int>(names.size());
    made.rows = chosen.full.empty() ? 1 : chosen.full.front();
    made.columns = made.rows > 0 ? names[at].elements / made.rows : 1;
    for (const auto& rank : shown.holdings) {
        const auto mine = std::find_if(rank.begin(), rank.end(), [&](const auto& one) { return one.name == chosen.name; });
        ShardShown weights;
        if (mine == rank.end()) {
            made.before.push_back(weights);
            made.after.push_back(weights);
            continue;
        }
        weights.rows = {0, made.rows};
        weights.columns = {0, made.columns};
        comm::Piece& cut = mine->axis > 0 ? weights.columns : weights.rows;
        if (mine->axis >= 0) cut = {cut.count / mine->parts * mine->part, cut.count / mine->parts};
        ShardShown beside = weights;
        if (mine->weights.count != mine->count) weights.flat = mine->weights;
        const comm::Piece& piece = setup.gradients ? mine->gradients : mine->optimizer;
        if (piece.count != mine->count) beside.flat = piece;
        made.before.push_back(weights);
        made.after.push_back(beside);
    }
    // What the step's collectives moved, all parameters together.
    std::map<std::tuple<std::string, std::string, std::string>, std::pair<int, int64_t>> moved;
    for (const RunCollective& collective : shown.collectives) {
        if (collective.purpose != "gradients" && collective.purpose != "parameters") continue;
        std::string operation = collective.operation;
        std::replace(operation.begin(), operation.end(), '_', '-');
        auto& [times, bytes] = moved[{collective.axis, operation, collective.purpose}];
        ++times;
        for (const auto& member : collective.messages)
            for (const int message : member) bytes += shown.traffic.messages[static_cast<size_t>(message)].bytes;
    }
    for (const auto& [what, how] : moved)
        made.moved.push_back(fmt::format("{}: {} {}, {} times, {} sent", std::get<0>(what), std::get<1>(what),
                                         std::get<2>(what), how.first, bytes_si(static_cast<double>(how.second))));
    scene.mesh = std::move(made);
}

}  // namespace lockstep::scene
