// `lockstep collective`: one collective by one algorithm, timed round by round on a modelled network, beside the closed
// formula. With --file it is a list of one's own. With --comm it really runs, on threads or on the processes that mpirun
// started, and what it leaves is checked.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/cluster/own_lists.h"
#include "app/cli/kernel/own_files.h"
#include "core/base/nearest.h"
#include "core/comm/in_process.h"
#include "core/comm/network/timing.h"
#include "core/comm/outside/mpi.h"
#include "core/comm/outside/nccl.h"

namespace lockstep::cli {
namespace of_collective {
namespace {

using namespace comm;

struct CollectiveOptions {
    std::string operation = "all_reduce", algorithm = "ring", bytes = "100M", link = "nvlink4", inner = "nvlink4";
    std::string topology = "switch", json, comm, file;
    int ranks = 0, servers = 1, root = 0, pieces = 0, node_size = 8, adapters = 1;
    bool library = false;
    double timeout = 60;
    std::vector<std::string> late, slow;
};

int64_t bytes_of(const std::string& text) {
    int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string unit(rest, text.data() + text.size());
    const int64_t factor = unit.empty() ? 1 : unit == "K" ? 1000 : unit == "M" ? 1'000'000 : unit == "G" ? 1'000'000'000 : 0;
    if (error != std::errc{} || factor == 0 || value < 0 || value > (int64_t{1} << 40) / factor)
        throw Failure(fmt::format("--bytes takes a whole number up to 2^40, as it is or with K, M or G, not '{}'", text));
    return value * factor;
}

// "3:100" of an option that takes a rank and a number, which `form` shows.
std::pair<int, double> rank_and_number(const std::string& option, const char* form, const std::string& text, int ranks) {
    int rank = 0;
    const char* const end = text.data() + text.size();
    const auto [colon, error] = std::from_chars(text.data(), end, rank);
    double number = 0;
    if (error != std::errc{} || colon == end || *colon != ':')
        throw Failure(fmt::format("{} takes {}, not '{}'", option, form, text));
    const auto [rest, wrong] = std::from_chars(colon + 1, end, number);
    if (wrong != std::errc{} || rest != end || !std::isfinite(number))
        throw Failure(fmt::format("{} takes {}, not '{}'", option, form, text));
    if (rank < 0 || rank >= ranks)
        throw Failure(fmt::format("{} {}: the {} ranks are 0 to {}", option, text, ranks, ranks - 1));
    return {rank, number};
}

struct RoundRow {
    int64_t transfers = 0, bytes = 0;
    double begin_us = 0, end_us = 0;
};

std::vector<RoundRow> rounds_of(const CollectiveRun& run) {
    std::vector<RoundRow> rounds(static_cast<size_t>(run.collective->rounds));
    for (const Transfer& transfer : run.transfers) {
        RoundRow& row = rounds[static_cast<size_t>(transfer.round)];
        row.begin_us = row.transfers == 0 ? transfer.sent_us : std::min(row.begin_us, transfer.sent_us);
        row.end_us = std::max(row.end_us, transfer.received_us);
        row.bytes += transfer.bytes;
        ++row.transfers;
    }
    return rounds;
}

std::vector<double> waited_us(const CollectiveRun& run) {
    std::vector<double> waited(run.end_us.size());
    for (const RankWait& wait : run.waits) waited[static_cast<size_t>(wait.rank)] += wait.end_us - wait.begin_us;
    return waited;
}

nlohmann::ordered_json json_of(const CollectiveRun& run, const CollectiveOptions& options) {
    const bool own = !options.file.empty();
    const CollectiveRow& row = collective_named(options.operation, options.algorithm);
    nlohmann::ordered_json json = {{"op", options.operation},
                                   {"algorithm", own ? "own" : options.algorithm},
                                   {"ranks", options.ranks},
                                   {"bytes", run.bytes()},
                                   {"link", options.link},
                                   {"topology", options.topology},
                                   {"time_us", json_number(run.total_us)},
                                   {"formula", own ? std::string() : std::string(row.formula_text)},
                                   {"formula_us", nullptr},
                                   {"bus_gb_per_s", json_number(run.bus_gigabytes_per_s)},
                                   {"rounds", nlohmann::ordered_json::array()},
                                   {"per_rank", nlohmann::ordered_json::array()},
                                   {"links", nlohmann::ordered_json::array()}};
    if (!std::isnan(run.formula_us) && !own) json["formula_us"] = run.formula_us;
    for (const RoundRow& round : rounds_of(run))
        json["rounds"].push_back({{"transfers", round.transfers},
                                  {"bytes", round.bytes},
                                  {"begin_us", json_number(round.begin_us)},
                                  {"end_us", json_number(round.end_us)}});
    const auto waited = waited_us(run);
    for (size_t rank = 0; rank < run.end_us.size(); ++rank)
        json["per_rank"].push_back({{"bytes_sent", run.bytes_sent[rank]},
                                    {"bytes_received", run.bytes_received[rank]},
                                    {"start_us", json_number(run.start_us[rank])},
                                    {"end_us", json_number(run.end_us[rank])},
                                    {"waited_us", json_number(waited[rank])}});
    const auto name = [&](int node) {  // the ideal network's links lead nowhere in particular
        return node < 0 ? std::string("anywhere") : run.network->nodes[static_cast<size_t>(node)].name;
    };
    for (size_t link = 0; link < run.use.links.size(); ++link)
        if (const LinkUse& use = run.use.links[link]; use.messages > 0)
            json["links"].push_back({{"from", name(run.network->links[link].from)},
                                     {"to", name(run.network->links[link].to)},
                                     {"messages", use.messages},
                                     {"bytes", use.bytes},
                                     {"busy_us", json_number(use.busy_us)}});
    return json;
}

void print_rounds(const CollectiveRun& run) {
    fmt::print("{:>6} {:>10} {:>14} {:>14} {:>14}\n", "round", "transfers", "bytes", "begin µs", "end µs");
    const auto rounds = rounds_of(run);
    constexpr size_t shown_first = 24, shown_last = 4;
    for (size_t i = 0; i < rounds.size(); ++i) {
        if (rounds.size() > shown_first + shown_last + 1 && i == shown_first) {
            fmt::print("{:>6} {} more rounds; --json has all\n", "...", rounds.size() - shown_first - shown_last);
            i = rounds.size() - shown_last;
        }
        fmt::print("{:>6} {:>10} {:>14} {:>14.3f} {:>14.3f}\n", i + 1, rounds[i].transfers, rounds[i].bytes,
                   rounds[i].begin_us, rounds[i].end_us);
    }
    const auto [least, most] = std::minmax_element(run.bytes_sent.begin(), run.bytes_sent.end());
    int64_t all = 0;
    for (const int64_t bytes : run.bytes_sent) all += bytes;
    fmt::print("\nbytes sent by a rank   {}\n", *least == *most ? fmt::format("{} each, {} in all", *least, all)
                                                                : fmt::format("{} to {}, {} in all", *least, *most, all));
    const auto waited = waited_us(run);
    const auto longest = std::max_element(waited.begin(), waited.end());
    fmt::print("longest waiting        rank {}, {:.3f} µs\n", longest - waited.begin(), *longest);
    fmt::print("simulated time         {:.3f} µs\n", run.total_us);
}

void print_run(const CollectiveRun& run, const CollectiveOptions& options) {
    const CollectiveRow& row = collective_named(options.operation, options.algorithm);
    const LinkRow& link = link_named(options.link);
    fmt::print("{} by {}: {}\n{} ranks, {} bytes, {} ({:g} µs, {:g} GB/s), topology {}\n\n", options.operation,
               options.algorithm, row.summary, options.ranks, run.bytes(), link.title, link.latency_us, link.gigabytes_per_s,
               options.topology);
    print_rounds(run);
    if (std::isnan(run.formula_us))
        fmt::print("closed formula         {}\n",
                   row.formula_text.empty() ? std::string("none") : "none here: " + std::string(row.formula_text));
    else
        fmt::print("closed formula         {:.3f} µs: {}\n", run.formula_us, row.formula_text);
    if (run.bus_gigabytes_per_s > 0)
        fmt::print("bus bandwidth          {:.3f} GB/s, as nccl-tests counts it\n", run.bus_gigabytes_per_s);
}

// Rank r's element i before, and what is right after: small whole numbers, whose sums are the same in any order.
float value_of(int rank, int64_t i) {
    return static_cast<float>((rank * 13 + i * 7) % 64);
}

// Runs the collective for real on `world` and checks this rank's part; throws Failure where it is wrong. Virtual time.
double run_and_check(Communicator& world, const CollectiveOptions& options, const Collective& list, int64_t count) {
    const std::string& operation = options.operation;
    const int n = world.size(), rank = world.rank();
    std::vector<float> data(static_cast<size_t>(count)), out(operation == "all_to_all" ? data.size() : 0);
    for (int64_t i = 0; i < count; ++i) data[static_cast<size_t>(i)] = value_of(rank, i);
    const Buffer whole{data.data(), count, DType::f32};
    const Piece own = piece_of(count, n, rank);
    if (options.library) {
        if (operation == "all_reduce") world.all_reduce(whole);
        if (operation == "reduce") world.reduce(whole, options.root);
        if (operation == "broadcast") world.broadcast(whole, options.root);
        if (operation == "all_gather") world.all_gather(whole.part(own.begin, own.count), whole);
        if (operation == "reduce_scatter") world.reduce_scatter(whole, whole.part(own.begin, own.count));
        if (operation == "all_to_all") world.all_to_all(whole, {out.data(), count, DType::f32});
        if (operation == "barrier") world.barrier();
    } else if (operation == "all_to_all") {
        run_all_to_all(list, world, whole, {out.data(), count, DType::f32});
    } else {
        run_collective(list, world, operation == "barrier" ? Buffer{} : whole);
    }
    for (int64_t i = 0; i < count && operation != "barrier"; ++i) {
        float sum = 0;
        for (int other = 0; other < n; ++other) sum += value_of(other, i);
        const bool mine = i >= own.begin && i < own.begin + own.count;
        float expected = data[static_cast<size_t>(i)], is = expected;
        if (operation == "all_reduce" || (operation == "reduce_scatter" && mine) ||
            (operation == "reduce" && rank == options.root))
            expected = sum;
        if (operation == "broadcast") expected = value_of(options.root, i);
        if (operation == "all_gather")
            for (int other = 0; other < n; ++other)
                if (const Piece piece = piece_of(count, n, other); i >= piece.begin && i < piece.begin + piece.count)
                    expected = value_of(other, i);
        if (operation == "all_to_all") {
            const int64_t each = count / n;
            expected = value_of(static_cast<int>(i / each), rank * each + i % each);
            is = out[static_cast<size_t>(i)];
        }
        if (!(is == expected))
            throw Failure(fmt::format("element {} is {} on rank {} and should be {}", i, is, rank, expected),
                          ExitStatus::faulted);
    }
    return world.time_us();
}

void really_run(const CollectiveOptions& options, std::shared_ptr<const Collective> list,
                const std::shared_ptr<const Network>& on, const std::vector<double>& start_us, int64_t bytes) {
    const Network& network = *on;
    const int64_t count = bytes / 4;
    if (bytes % 4 != 0) throw Failure(fmt::format("--comm adds 4-byte floats: {} bytes are not a multiple of 4", bytes));
    const auto program = [&](Communicator& world) {
        world.wait_until(start_us[static_cast<size_t>(world.rank())]);
        run_and_check(world, options, *list, count);
    };
    if (options.comm == "in_process") {
        const GroupResult result = run_in_process(network, program);
        if (!result.problem().empty()) throw Failure(result.problem(), ExitStatus::faulted);
        double last = 0;
        for (const RankResult& rank : result.ranks) last = std::max(last, rank.time_us);
        fmt::print("\nran on {} threads: every value is right; virtual time {:.3f} µs\n", options.ranks, last);
        return;
    }
    const bool nccl = options.comm == "nccl";
    if (nccl)
        if (const std::string why = why_no_nccl(); !why.empty()) throw Failure(why, ExitStatus::missing);
    MpiOptions how;
    how.link = network.shape.link;
    how.network = on;
    how.own_steps = !options.library;
    how.timeout_s = options.timeout;
    run_mpi(how, [&](Communicator& world) {
        if (world.size() != options.ranks)
            throw Failure(fmt::format("mpirun started {} processes and --ranks says {}: mpirun -np {} would do",
                                      world.size(), options.ranks, options.ranks));
        if (nccl)
            program(*nccl_group(world, network.shape.link));
        else
            program(world);
        double last = world.time_us();
        world.all_reduce({&last, 1, DType::f64}, Reduction::max);  // after the time was read
        if (world.rank() == 0) {
            fmt::print("ran on {} processes, {}: every value is right; virtual time {:.3f} µs\n", world.size(),
                       mpi_version(), last);
            if (options.library)
                fmt::print("that is the ring's formula over {}: a library's own collective says nothing of its messages\n",
                           options.link);
            else if (network.shared)
                fmt::print(
                    "processes do not know of each other's messages: on this {} network links that ranks share cost "
                    "nobody a wait; --comm in_process counts those too\n",
                    options.topology);
            std::fflush(stdout);
        }
    });
}

// A list that somebody wrote (*.collective): timed, and judged chunk by chunk.
int run_file(CollectiveOptions options, const Command& command) {
    for (const Option& option : command.options())
        if (option.given() && option.name() != "--file" && option.name() != "--json")
            throw Failure(fmt::format("--file has its settings in the file: write {}=... in its first line in place of {}",
                                      option.name().substr(2), option.name()));
    keep_apart({{"--file", options.file}}, {{"--json", options.json}});
    const auto scene = read_lists("collective", options.file).value();
    auto all = nlohmann::ordered_json::array();
    bool right = true;
    for (const scene::ParallelRow& row : scene->rows) {
        const auto setting = [&](const char* key, const char* otherwise) {
            const auto found = row.settings.find(key);
            return found == row.settings.end() ? std::string(otherwise) : found->second;
        };
        options.algorithm = row.title == "own" ? "ring" : row.title;
        options.operation = setting("operation", "all_reduce");
        options.ranks = row.collective->collective->ranks;
        options.link = setting("link", "nvlink4");
        options.topology = setting("topology", "ideal");
        if (options.json != "-") {
            fmt::print("{} of {}: {} ranks, {} chunks, {} rounds, {} bytes, {}, topology {}\n\n", options.operation,
                       row.name, options.ranks, row.collective->collective->chunks, row.collective->collective->rounds,
                       row.collective->bytes(), options.link, options.topology);
            print_rounds(*row.collective);
            if (row.wrong.empty() && row.title == "own")
                fmt::print("{} (derived)\n", options.operation == "broadcast" ? "every rank has every chunk of rank 0"
                                                                              : "every chunk is the sum on every rank");
        }
        all.push_back(json_of(*row.collective, options));
        if (row.title != "own") all.back()["algorithm"] = row.title;
        add_faults(all.back(), row.wrong);
        right = complain_of(row.wrong) && right;
    }
    if (!options.json.empty()) write_json(all.size() == 1 ? all[0] : all, options.json);
    return static_cast<int>(right ? ExitStatus::done : ExitStatus::faulted);
}

int collective_command(const CollectiveOptions& options, const Command& command) {
    if (!options.file.empty()) return run_file(options, command);
    if (!command.given("--ranks")) throw Failure("--ranks is required, or --file");
    collective_named(options.operation, options.algorithm);
    if (options.ranks < 1) throw Failure(fmt::format("--ranks takes a number from 1, not {}", options.ranks));
    const Link link = link_named(options.link).link();
    TopologyShape shape{options.ranks, link, link_named(options.inner).link(), options.node_size, options.adapters};
    if (!options.comm.empty() && options.comm != "in_process" && options.comm != "mpi" && options.comm != "nccl") {
        throw Failure(fmt::format("there is no --comm '{}'{}", options.comm,
                                  did_you_mean(options.comm, {"in_process", "mpi", "nccl"})));
    }
    if (options.comm == "in_process" && options.ranks > 1024)
        throw Failure(fmt::format("--comm in_process runs 1 to 1024 ranks as threads, not {}", options.ranks));
    auto network = std::make_shared<Network>(options.topology == "ideal" ? ideal_network(options.ranks, link)
                                                                         : make_network(options.topology, shape));
    const int64_t bytes = options.operation == "barrier" ? 0 : bytes_of(options.bytes);
    if (options.operation == "all_to_all" && bytes % (4 * options.ranks) != 0)
        throw Failure(fmt::format("--bytes {} cannot be cut into {} equal parts of floats: {} can", bytes, options.ranks,
                                  (bytes / (4 * options.ranks) + 1) * 4 * options.ranks));
    TimingOptions timing;
    timing.start_us.assign(static_cast<size_t>(options.ranks), 0);
    for (const std::string& text : options.late) {
        const auto [rank, us] = rank_and_number("--late", "RANK:US, such as 2:100", text, options.ranks);
        if (us < 0) throw Failure(fmt::format("--late {}: nobody can come before 0 µs", text));
        if (us > 1e12) throw Failure(fmt::format("--late {}: 1e12 µs, eleven days, are the most", text));
        timing.start_us[static_cast<size_t>(rank)] = us;
    }
    for (const std::string& text : options.slow) {
        const auto [rank, factor] = rank_and_number("--slow", "RANK:FACTOR, such as 2:1.5", text, options.ranks);
        slow_rank(*network, rank, factor);
    }
    CollectiveShape what{options.ranks, options.root, options.pieces, options.servers, options.node_size};
    if (options.pieces == 0) {  // as many as pay: a piece's latency for the time that pipelining saves
        const double carried = static_cast<double>(bytes) / link.bytes_per_us;
        what.pieces = static_cast<int>(std::clamp(std::sqrt(carried / link.latency_us), 1.0, 64.0));
    }
    const auto list = collective(options.operation, options.algorithm, what);
    if (options.comm == "mpi" || options.comm == "nccl") {
        really_run(options, list, network, timing.start_us, bytes);
        return 0;
    }
    // Floats where they fit: a float never lies in two chunks.
    const bool floats = bytes % 4 == 0;
    const CollectiveRun run =
        time_collective(list, network, floats ? bytes / 4 : bytes, floats ? DType::f32 : DType::u8, timing);
    if (!options.json.empty()) write_json(json_of(run, options), options.json);
    if (options.json != "-") print_run(run, options);
    if (!options.comm.empty() && options.json != "-") really_run(options, list, network, timing.start_us, bytes);
    return 0;
}

}  // namespace
}  // namespace of_collective

void add_collective(const Command& app, int& status) {
    const Command command = app.add_subcommand("collective", "one collective, timed round by round on a modelled network");
    auto o = std::make_shared<of_collective::CollectiveOptions>();
    command.add_option("--op", o->operation,
                       "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, barrier");
    command.add_option("--algorithm", o->algorithm, "ring, tree, halving_doubling, parameter_server, hierarchical");
    command.add_option("--ranks", o->ranks, "how many ranks");
    command.add_option("--file", o->file,
                       "a list of messages of one's own (F.collective): timed, and told what is wrong with it");
    command.add_option("--bytes", o->bytes, "of the whole buffer; K, M and G are thousands, default 100M");
    command.add_option("--link", o->link, "such as nvlink4, pcie4, 10gbe, ib-hdr; default nvlink4");
    command.add_option("--topology", o->topology,
                       "switch (default), ring, fully_connected, two_level, fat_tree, torus2d, torus3d, dragonfly, ideal");
    command.add_option("--inner", o->inner, "two_level: the link inside a node, default nvlink4");
    command.add_option("--node-size", o->node_size, "ranks of a node: two_level, hierarchical; default 8");
    command.add_option("--adapters", o->adapters, "two_level: links that a node has to the spine, default 1");
    command.add_option("--servers", o->servers, "parameter_server: how many ranks serve, default 1");
    command.add_option("--root", o->root, "of a broadcast or reduce, default 0");
    command.add_option("--pieces", o->pieces, "of pipelined chains and trees; default: as many as pay");
    command.add_option("--late", o->late, "RANK:US: the rank begins so much later").one_value_each();
    command.add_option("--slow", o->slow, "RANK:FACTOR: the rank's links take so many times as long").one_value_each();
    command.add_option("--comm", o->comm, "also run it: on threads (in_process), or under mpirun alone (mpi, nccl)");
    command.add_flag("--library", o->library, "with --comm mpi or nccl: the library's own collective");
    command.add_option("--timeout", o->timeout, "with --comm mpi: seconds after which a wait is a deadlock, default 60")
        .check(number_within(0, 1e9, true));
    command.add_option("--json", o->json, "write rounds, ranks and links as JSON to this file, - for stdout");
    command.callback([o, command, &status] { status = of_collective::collective_command(*o, command); });
}

}  // namespace lockstep::cli
