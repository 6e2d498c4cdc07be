// The MachineTrace against the trace and the counters of the same launch: no request arrives before it left, no warp goes on
// before its data is there, what the stations count is what the counters say, and recording changes no cycle.
#include <algorithm>
#include <map>
#include <numeric>

#include "core/model/launch/machine_log.h"
#include "core/model/launch/replay.h"
#include "core/trace/machine_trace.h"
#include "tests/catch.h"
#include "tests/model/cases.h"
#include "tests/model/support.h"
#include "tests/simt/text.h"

namespace model_machine_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;

namespace {

TimedResult run_case(uint64_t seed, std::string_view name, TimedOptions options) {
    Case c = make_case(seed);
    return launch(gpu(name), c.program, c.config, c.memory, options);
}

TimedOptions recording() {
    TimedOptions options;
    options.machine = true;
    return options;
}

uint32_t bits(uint32_t x) {
    return static_cast<uint32_t>(std::popcount(x));
}

double metric(const TimedResult& result, std::string_view name) {
    for (const Metric& m : result.metrics)
        if (m.name == name) return m.value;
    FAIL("no metric " << name);
    return 0;
}

}  // namespace

TEST_CASE("Requests keep their order of stations, and no warp goes on before its data is there", "[model]") {
    for (const std::string_view name : {"v100", "a100", "p100", "teaching:4"})
        for (uint64_t seed = 1; seed <= 12; ++seed) {
            INFO(name << " seed " << seed);
            const TimedResult result = run_case(seed, name, recording());
            REQUIRE(result.trace.machine);
            const MachineTrace& machine = *result.trace.machine;
            REQUIRE(!machine.requests.empty());
            size_t own = 0;
            std::map<int64_t, int64_t> home;  // by issue: when the last of its lines is there
            for (const RequestRecord& r : machine.requests) {
                REQUIRE(r.left <= r.taken);
                REQUIRE(r.taken <= r.sent);
                REQUIRE(r.sent <= r.ready);
                REQUIRE(r.wanted != 0);
                REQUIRE(r.hits <= bits(r.wanted));
                const Stations stations = stations_of(machine, r);
                REQUIRE(std::is_sorted(stations.at.begin(), stations.at.end()));
                REQUIRE(stations.begin() == r.begin);
                REQUIRE(stations.end() == r.end());
                // The waits are those that the model gave, whatever the convention does with the rest.
                if (r.level != MemoryLevel::l1) {
                    REQUIRE(stations.cycles(Station::sm_queue) == r.left);
                    REQUIRE(stations.cycles(Station::slice_queue) <= r.taken - r.left);
                }
                if (r.channel != RequestRecord::none) {
                    REQUIRE(r.channel < machine.channels);
                    REQUIRE(r.level == MemoryLevel::dram);
                    REQUIRE(stations.cycles(Station::channel_queue) == r.sent - r.taken);
                    REQUIRE(stations.cycles(Station::dram) > 0);
                }
                if (r.sm != result.trace.sm || r.issue < 0) continue;
                ++own;
                const IssueRecord& issue = result.trace.issues[static_cast<size_t>(r.issue)];
                REQUIRE(issue.pc == r.pc);
                REQUIRE(issue.sent() >= r.begin);  // what is there before the issue counts as sent no earlier
                const WarpTrack& track = result.trace.warps[issue.warp];
                REQUIRE(track.block == r.block);
                REQUIRE(track.warp_in_block == r.warp);
                if (r.kind == RequestKind::load) {
                    int64_t& last = home[r.issue];
                    last = std::max(last, r.end());
                }
            }
            REQUIRE(own > 0);
            for (const auto& [issue, last] : home) {
                const IssueRecord& i = result.trace.issues[static_cast<size_t>(issue)];
                INFO("issue " << issue << " at " << i.cycle << " ready " << i.ready << " home " << last);
                REQUIRE(i.ready >= last);
            }
        }
}

TEST_CASE("What the machine counts is what the counters say", "[model]") {
    for (const std::string_view name : {"v100", "h100", "teaching:4"})
        for (uint64_t seed = 20; seed < 28; ++seed) {
            INFO(name << " seed " << seed);
            const TimedResult result = run_case(seed, name, recording());
            const MachineTrace& machine = *result.trace.machine;
            REQUIRE(machine.sampled == 1);
            uint64_t l2 = 0, hits = 0, dram = 0;
            for (const RequestRecord& r : machine.requests) {
                if (r.level == MemoryLevel::l1) continue;
                l2 += bits(r.wanted);
                hits += r.hits;
            }
            for (size_t column = 0; column < machine.queues.columns; ++column)
                for (uint32_t c = 0; c < machine.channels; ++c) {
                    const int64_t begin = static_cast<int64_t>(column) * machine.queues.cycles_a_column;
                    const int64_t length = std::min(machine.queues.cycles_a_column, result.cycles - begin);
                    dram += static_cast<uint64_t>(std::llround(double{machine.queues.reads[column * machine.channels + c]} *
                                                               static_cast<double>(length)));
                }
            uint64_t counted = 0, counted_hits = 0;
            for (const InstructionCounters& c : result.instructions) counted += c.l2_sectors, counted_hits += c.l2_hits;
            REQUIRE(l2 == counted);
            REQUIRE(hits == counted_hits);
            REQUIRE(dram == result.totals.dram_read);
            // Every issue of every SM, once.
            uint64_t issues = 0;
            REQUIRE(machine.issues.size() == machine.sms);
            for (const auto& of_sm : machine.issues) {
                issues += of_sm.size();
                REQUIRE(std::is_sorted(of_sm.begin(), of_sm.end(),
                                       [](const TileIssue& a, const TileIssue& b) { return a.after < b.after; }));
            }
            REQUIRE(issues == static_cast<uint64_t>(result.totals.issued));
            std::vector<std::pair<int64_t, uint32_t>> traced, noted;
            for (const IssueRecord& i : result.trace.issues)
                if (!i.folded) traced.emplace_back(i.cycle, i.pc);
            for (const TileIssue& i : machine.issues[result.trace.sm])
                noted.emplace_back(machine.issues_from + i.after, uint32_t{i.pc});
            std::sort(traced.begin(), traced.end());
            std::sort(noted.begin(), noted.end());
            REQUIRE(traced == noted);
            REQUIRE(metric(result, "ipc") > 0);
        }
}

TEST_CASE("Atomics on one word keep their slice busy, three cycles a lane", "[model]") {
    simt::Memory memory;
    const uint64_t word = memory.allocate(128, "word");
    const auto program = simt::test::text_program(
        simt::test::text_kernel("ld.param.u64 %rd1, [p0];\nmov.u32 %r2, %tid.x;\natom.global.exch.b32 %r1, [%rd1], %r2;"));
    const simt::LaunchConfig config = simt::test::config_of({64, 1, 1}, {256, 1, 1}, {word});
    const TimedResult result = launch(gpu("v100"), *program, config, memory, recording());
    REQUIRE_FALSE(result.fault);
    const MachineTrace& machine = *result.trace.machine;
    std::vector<double> busy(machine.slices);
    for (uint32_t column = 0; column < machine.queues.columns; ++column)
        for (uint32_t slice = 0; slice < machine.slices; ++slice) {
            const float share = machine.queues.busy[size_t{column} * machine.slices + slice];
            REQUIRE(share <= 1.0f);
            const int64_t begin = int64_t{column} * machine.queues.cycles_a_column;
            busy[slice] +=
                double{share} * static_cast<double>(std::min(machine.queues.cycles_a_column, result.cycles - begin));
        }
    const auto most = std::max_element(busy.begin(), busy.end());
    CHECK(*most > 0.98 * 3 * 64 * 256);
    CHECK(std::accumulate(busy.begin(), busy.end(), 0.0) < 1.02 * 3 * 64 * 256);
}

TEST_CASE("Recording the machine changes no cycle and no other part of the trace", "[model]") {
    for (uint64_t seed = 40; seed < 50; ++seed) {
        const TimedResult plain = run_case(seed, "v100", TimedOptions{}), full = run_case(seed, "v100", recording());
        REQUIRE(plain.cycles == full.cycles);
        REQUIRE(!plain.trace.machine);
        REQUIRE(plain.trace.issues.size() == full.trace.issues.size());
        for (size_t i = 0; i < plain.trace.issues.size(); ++i)
            REQUIRE(plain.trace.issues[i].ready == full.trace.issues[i].ready);
    }
}

TEST_CASE("A log with little room keeps all of its own SM and one in n of the others", "[model]") {
    const GpuSpec spec = gpu("v100");
    MachineLog log(spec, 3, 8, {.own = 50, .others = 64, .issues = 104});
    Served served;
    served.level = MemoryLevel::l2;
    for (uint32_t i = 0; i < 5000; ++i) {
        const Ticks since = ticks_of(int64_t{i});
        served.taken = served.sent = since + ticks_of(int64_t{5});
        served.ready = since + ticks_of(int64_t{200});
        Asker asker;
        asker.sm = static_cast<uint16_t>(i % 8);
        log.request(asker, i, {since, since, 1, RequestKind::load}, served);
        log.issue(i % 8, 0, i, 7);
    }
    const MachineTrace trace = log.finish(6000, 0, 0);
    const auto own = std::count_if(trace.requests.begin(), trace.requests.end(), [](const auto& r) { return r.sm == 3; });
    CHECK(own == 50);
    CHECK(trace.requests_until == 50 * 8 + 3);
    const auto others = static_cast<size_t>(static_cast<int64_t>(trace.requests.size()) - own);
    CHECK(others <= 64);
    CHECK(others >= 32);
    const uint64_t seen = 5000 - 625;
    CHECK(others == (seen + trace.sampled - 1) / trace.sampled);
    CHECK(trace.issues_until == 104);  // 13 of each of the eight SMs
    const size_t issues = std::accumulate(trace.issues.begin(), trace.issues.end(), size_t{0},
                                          [](size_t sum, const auto& of) { return sum + of.size(); });
    CHECK(issues == 104);
}

TEST_CASE("A stretch has the requests that are on their way in it, and a replay gives the same", "[model]") {
    Case c = make_case(7);
    auto before = std::make_shared<const simt::Memory>(c.memory);
    auto program = std::make_shared<const Program>(c.program);
    TimedOptions options = recording();
    options.checkpoint_bytes = uint64_t{1} << 24;
    TimedResult result = launch(gpu("v100"), *program, c.config, c.memory, options);
    const int64_t begin = result.cycles / 4, end = result.cycles / 2;
    const KernelTrace cut = stretch_of(result.trace, begin, end);
    REQUIRE(cut.machine);
    for (const RequestRecord& r : cut.machine->requests) {
        REQUIRE(r.begin < end);
        REQUIRE(r.end() >= begin);
        if (r.issue >= 0) REQUIRE(cut.issues[static_cast<size_t>(r.issue)].pc == r.pc);
    }
    auto run = std::make_shared<KernelRun>();
    run->gpu = gpu("v100");
    run->program = program;
    run->config = c.config;
    run->result = std::move(result);
    run->before = before;
    Replay replay(run);
    const std::optional<KernelTrace> again = replay.trace(run->result.trace.sm, begin, end);
    REQUIRE(again);
    REQUIRE(again->machine);
    // Of the requests that begin in the stretch, and are issued in it, both have the same; a load that is moved up may begin
    // in it and issue later, which the replay has not come to.
    const auto key = [&](const MachineTrace& m) {
        std::vector<std::array<uint64_t, 6>> keys;
        for (const RequestRecord& r : m.requests)
            if (r.begin >= begin && (r.sm != run->result.trace.sm || r.issue >= 0))
                keys.push_back({static_cast<uint64_t>(r.begin), r.sm, r.line, r.taken, r.sent, r.ready});
        std::sort(keys.begin(), keys.end());
        return keys;
    };
    const auto ours = key(*cut.machine), theirs = key(*again->machine);
    for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
        for (size_t k = 0; k < 6; ++k) {
            INFO("request " << i << " of " << ours.size() << ", field " << k);
            REQUIRE(ours[i][k] == theirs[i][k]);
        }
    REQUIRE(ours.size() == theirs.size());
    REQUIRE(again->machine->issues.size() == cut.machine->issues.size());
    for (size_t sm = 0; sm < cut.machine->issues.size(); ++sm)
        REQUIRE(again->machine->issues[sm].size() == cut.machine->issues[sm].size());
}

}  // namespace model_machine_test
