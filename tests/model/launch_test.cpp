// Whole timed launches: the facts that no picture may break, the accounts of every cycle, and equality with the
// functional run. The kernels are generated: loops of different lengths, divergence, shared memory, barriers, atomics.
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "core/trace/perfetto.h"
#include "tests/catch.h"
#include "tests/model/cases.h"

namespace model_launch_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;
using simt::test::config_of;

namespace {

bool same(const KernelTrace& a, const KernelTrace& b) {
    const auto issue = [](const IssueRecord& x, const IssueRecord& y) {
        return x.cycle == y.cycle && x.ready == y.ready && x.pc == y.pc && x.active == y.active && x.warp == y.warp &&
               x.level == y.level && x.sectors == y.sectors && x.passes == y.passes;
    };
    const auto run = [](const StallRun& x, const StallRun& y) {
        return x.begin == y.begin && x.end == y.end && x.reason == y.reason && x.pc == y.pc && x.cause == y.cause;
    };
    const auto warp = [&](const WarpTrack& x, const WarpTrack& y) {
        return x.block == y.block && x.slot == y.slot && x.begin == y.begin && x.end == y.end && x.issues == y.issues &&
               std::equal(x.runs.begin(), x.runs.end(), y.runs.begin(), y.runs.end(), run);
    };
    const auto block = [](const BlockRun& x, const BlockRun& y) {
        return x.block == y.block && x.sm == y.sm && x.slot == y.slot && x.begin == y.begin && x.end == y.end;
    };
    return a.cycles == b.cycles && std::equal(a.issues.begin(), a.issues.end(), b.issues.begin(), b.issues.end(), issue) &&
           std::equal(a.warps.begin(), a.warps.end(), b.warps.begin(), b.warps.end(), warp) &&
           std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(), block);
}

}  // namespace

TEST_CASE("the timed run leaves the same memory as the functional run, instruction for instruction") {
    for (uint64_t seed = 0; seed < 30; ++seed) {
        INFO("seed " << seed);
        Case c = make_case(seed);
        simt::Memory functional = c.memory;
        const simt::LaunchResult expected = simt::launch(c.program, c.config, functional);
        if (expected.fault) FAIL(render(*expected.fault));
        const TimedResult got = launch(some_gpu(seed), c.program, c.config, c.memory);
        REQUIRE_FALSE(got.fault);
        CHECK(got.warp_instructions == expected.warp_instructions);
        CHECK(got.thread_instructions == expected.thread_instructions);
        CHECK(simt::test::read_back<uint32_t>(c.memory, c.address, c.words) ==
              simt::test::read_back<uint32_t>(functional, c.address, c.words));
    }
}

TEST_CASE("skipping idle cycles changes nothing, and neither does tracing") {
    for (uint64_t seed = 0; seed < 10; ++seed) {
        INFO("seed " << seed);
        Case c = make_case(seed);
        const GpuSpec on = some_gpu(seed);
        simt::Memory first = c.memory, second = c.memory, third = c.memory;
        TimedOptions every_cycle, untraced;
        every_cycle.skip_idle = false;
        untraced.trace = false;
        const TimedResult skipping = launch(on, c.program, c.config, first);
        const TimedResult stepping = launch(on, c.program, c.config, second, every_cycle);
        const TimedResult bare = launch(on, c.program, c.config, third, untraced);
        CHECK(same(skipping.trace, stepping.trace));
        CHECK(bare.cycles == skipping.cycles);
        CHECK(bare.trace.issues.empty());
        CHECK(bare.trace.blocks.empty());
        REQUIRE(skipping.metrics.size() == stepping.metrics.size());
        for (size_t i = 0; i < skipping.metrics.size(); ++i) {
            INFO(skipping.metrics[i].name);
            CHECK(skipping.metrics[i].value == stepping.metrics[i].value);
            CHECK(skipping.metrics[i].value == bare.metrics[i].value);
        }
    }
}

TEST_CASE("every resident warp has exactly one state in every cycle, and the counters agree with the trace") {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        INFO("seed " << seed);
        Case c = make_case(seed);
        const GpuSpec on = some_gpu(seed);
        std::vector<std::vector<uint64_t>> traced(c.program.instructions.size(),
                                                  std::vector<uint64_t>(static_cast<size_t>(StallReason::count)));
        TimedResult last;
        for (uint32_t sm = 0; sm < on.sms; ++sm) {
            if (on.sms > 10 && sm >= std::min<uint64_t>(on.sms, c.config.grid.count())) break;
            simt::Memory memory = c.memory;
            last = launch(on, c.program, c.config, memory, tracing(sm));
            for (const WarpTrack& warp : last.trace.warps) {
                std::map<int64_t, int64_t> covered;  // begin -> end
                for (const StallRun& run : warp.runs) {
                    REQUIRE(run.begin < run.end);
                    REQUIRE(run.reason != StallReason::selected);
                    REQUIRE(covered.emplace(run.begin, run.end).second);
                    traced[run.pc][static_cast<size_t>(run.reason)] += static_cast<uint64_t>(run.end - run.begin);
                    if (run.cause >= 0) REQUIRE(last.trace.issues[static_cast<size_t>(run.cause)].cycle < run.end);
                }
                for (const uint32_t index : warp.issues) {
                    const IssueRecord& issue = last.trace.issues[index];
                    if (covered.emplace(issue.cycle, issue.cycle + 1).second)
                        ++traced[issue.pc][static_cast<size_t>(StallReason::selected)];
                    else
                        REQUIRE((issue.folded || on.issue_width == 2));  // the second of a pair
                }
                int64_t at = warp.begin;
                for (const auto& [begin, end] : covered) {
                    REQUIRE(begin == at);  // no gap, no overlap
                    at = end;
                }
                REQUIRE(at == warp.end);
            }
        }
        for (size_t pc = 0; pc < traced.size(); ++pc)
            for (size_t reason = 0; reason < traced[pc].size(); ++reason)
                REQUIRE(traced[pc][reason] == last.instructions[pc].stalls[reason]);
    }
}

TEST_CASE("no launch breaks a fact: blocks stay, dispatches fit the width, lanes and sectors add up") {
    for (uint64_t seed = 0; seed < 30; ++seed) {
        INFO("seed " << seed);
        Case c = make_case(seed);
        const GpuSpec on = some_gpu(seed);
        const TimedResult result = launch(on, c.program, c.config, c.memory);
        const KernelTrace& trace = result.trace;
        REQUIRE(trace.blocks.size() == c.config.grid.count());
        std::set<uint32_t> blocks;
        std::map<std::pair<uint32_t, uint32_t>, std::vector<const BlockRun*>> places;
        for (const BlockRun& block : trace.blocks) {
            CHECK(blocks.insert(block.block).second);  // once, on one SM
            CHECK(block.begin < block.end);
            CHECK(block.end <= result.cycles);
            CHECK(block.sm < on.sms);
            CHECK(block.slot < trace.block_slots);
            places[{block.sm, block.slot}].push_back(&block);
        }
        for (const auto& [place, runs] : places)
            for (size_t i = 1; i < runs.size(); ++i) CHECK(runs[i - 1]->end <= runs[i]->begin);
        std::map<uint32_t, const BlockRun*> run_of;
        for (const BlockRun& block : trace.blocks) run_of[block.block] = &block;
        std::map<std::tuple<uint32_t, int64_t>, uint32_t> dispatched;
        for (const WarpTrack& warp : trace.warps) {
            const BlockRun& block = *run_of.at(warp.block);
            CHECK(block.sm == trace.sm);
            CHECK(warp.begin == block.begin);
            CHECK(warp.end <= block.end);
            CHECK(warp.slot < trace.warp_slots);
            CHECK(warp.scheduler == warp.slot % trace.schedulers);
            for (const uint32_t index : warp.issues)
                if (!trace.issues[index].folded) ++dispatched[{warp.scheduler, trace.issues[index].cycle}];
        }
        for (const auto& [cycle, count] : dispatched) CHECK(count <= trace.issue_width);
        for (const IssueRecord& issue : trace.issues) {
            CHECK(issue.ready > issue.cycle);
            const DecodedInstruction& in = c.program.instructions[issue.pc];
            if (in.space == Space::global) {
                CHECK(issue.sectors >= 1);
                CHECK(issue.sectors <= 32);
                CHECK(issue.sectors * 8u >= static_cast<uint32_t>(__builtin_popcount(issue.active)));
            }
        }
        for (size_t i = 1; i < trace.issues.size(); ++i) CHECK(trace.issues[i - 1].cycle <= trace.issues[i].cycle);
        uint64_t issues = 0, lanes = 0, stalls = 0;
        for (const InstructionCounters& counters : result.instructions) {
            issues += counters.issues, lanes += counters.executed;
            for (const uint64_t cycles : counters.stalls) stalls += cycles;
        }
        CHECK(issues == result.warp_instructions);
        CHECK(lanes == result.thread_instructions);
        CHECK(stalls > 0);
    }
}

TEST_CASE("the trace file of any launch obeys the rules of trace events, and leaves nothing out") {
    using nlohmann::json;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        INFO("seed " << seed);
        Case c = make_case(seed);
        const TimedResult result = launch(some_gpu(seed), c.program, c.config, c.memory);
        const KernelTrace& trace = result.trace;
        std::ostringstream text;
        write_perfetto(trace, "a \"kernel\"\\\n\t\x01 of \xc3\xa9 and \xff", text, {});
        const json file = json::parse(text.str());
        bool twice = false;  // a key within one object; an event has a line of its own
        std::istringstream lines(text.str());
        for (std::string line; std::getline(lines, line);) {
            if (line.find("\"ph\"") == std::string::npos) continue;
            if (line.back() == ',') line.pop_back();
            std::vector<std::set<std::string>> keys;
            const json once = json::parse(line, [&](int, json::parse_event_t event, json& value) {
                if (event == json::parse_event_t::object_start) keys.emplace_back();
                if (event == json::parse_event_t::key) twice |= !keys.back().insert(value.get<std::string>()).second;
                if (event == json::parse_event_t::object_end) keys.pop_back();
                return true;
            });
            CHECK(once.is_object());
        }
        CHECK_FALSE(twice);
        using Thread = std::pair<int64_t, int64_t>;
        std::map<Thread, std::vector<std::pair<int64_t, int64_t>>> open;
        std::map<Thread, std::vector<bool>> covered;  // by a span, cycle by cycle
        std::set<Thread> named;
        std::set<int64_t> processes;
        std::map<int64_t, std::vector<std::pair<Thread, int64_t>>> arrows;  // start, then end
        size_t count = 0;
        for (const json& event : file["traceEvents"]) {
            const std::string phase = event["ph"];
            const Thread thread{event["pid"].get<int64_t>(), event.value("tid", int64_t{0})};
            if (phase == "M") {
                if (event["name"] == "process_name") CHECK(processes.insert(thread.first).second);
                if (event["name"] == "thread_name") CHECK(named.insert(thread).second);
                continue;
            }
            REQUIRE(processes.contains(thread.first));
            REQUIRE(event["ts"].is_number());
            const auto at = event["ts"].get<int64_t>();
            CHECK(at >= 0);
            CHECK(at <= result.cycles);
            if (phase == "X") {  // within the one around it, or behind it
                ++count;
                REQUIRE(named.contains(thread));
                const int64_t end = at + event["dur"].get<int64_t>();
                CHECK(end > at);
                CHECK(end <= result.cycles);
                auto& around = open[thread];
                while (!around.empty() && around.back().second <= at) around.pop_back();
                if (!around.empty()) REQUIRE((around.back().first <= at && end <= around.back().second));
                around.emplace_back(at, end);
                auto& cycles = covered[thread];
                cycles.resize(std::max(cycles.size(), static_cast<size_t>(end)));
                std::fill(cycles.begin() + at, cycles.begin() + end, true);
            } else if (phase != "C") {
                auto& ends = arrows[event["id"].get<int64_t>()];
                REQUIRE(phase == (ends.empty() ? "s" : "f"));
                ends.emplace_back(thread, at);
            }
        }
        size_t wanted = trace.blocks.size(), caused = 0;
        for (const WarpTrack& warp : trace.warps) {
            wanted += 1 + warp.runs.size();
            for (const uint32_t i : warp.issues) wanted += trace.issues[i].folded ? 0 : 1;
            for (const StallRun& run : warp.runs) caused += run.cause >= 0 ? 1 : 0;
        }
        CHECK(count == wanted);
        CHECK(arrows.size() == caused);
        for (const auto& [id, ends] : arrows) {
            REQUIRE(ends.size() == 2);
            CHECK(ends[0].second <= ends[1].second);
            for (const auto& [thread, at] : ends) {
                const auto& cycles = covered[thread];
                CHECK((at < static_cast<int64_t>(cycles.size()) && cycles[static_cast<size_t>(at)]));
            }
        }
    }
}

TEST_CASE("blocks go to the SMs in turn, and the next one follows where a place gets free") {
    Builder b;
    b.program.registers_per_thread = 32;
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    const GpuSpec on = gpu("teaching:4");
    const TimedResult result = launch(on, program, config_of({40}, {1024}), memory);
    REQUIRE(result.trace.blocks.size() == 40);
    for (const BlockRun& block : result.trace.blocks) CHECK(block.sm == block.block % 4);
    CHECK(result.trace.block_slots == 1);
    for (const Metric& metric : result.metrics) {
        if (metric.name == "waves") CHECK(metric.value == 10);
        if (metric.name == "tail_efficiency") CHECK(metric.value == 100);
    }
}

TEST_CASE("a trace that meets its bound ends cleanly there, and the cycles are the same") {
    Case c = make_case(3);
    const GpuSpec on = gpu("teaching:1");
    simt::Memory memory = c.memory;
    const TimedResult whole = launch(on, c.program, c.config, memory);
    TimedOptions options;
    options.trace_limit = whole.trace.issues.size() / 2;
    const TimedResult cut = launch(on, c.program, c.config, c.memory, options);
    CHECK(cut.cycles == whole.cycles);
    CHECK(cut.trace.truncated);
    CHECK(cut.trace.kept_until < whole.cycles);
    for (const IssueRecord& issue : cut.trace.issues) CHECK(issue.cycle < cut.trace.kept_until);
    for (const WarpTrack& warp : cut.trace.warps) {
        CHECK(warp.end <= cut.trace.kept_until);
        int64_t states = 0;
        for (const StallRun& run : warp.runs) {
            CHECK(run.end <= warp.end);
            states += run.end - run.begin;
        }
        for (const uint32_t index : warp.issues) states += cut.trace.issues[index].folded ? 0 : 1;
        CHECK(states == warp.end - warp.begin);
    }
}

TEST_CASE("a run-away ends at its budget, a stopped launch says so, and progress reaches the end") {
    Builder b;
    const int32_t r = b.r32();
    b.lanes(simt::test::add32, Type::u32, r, r, b.word(1));
    b.branch(0, no_pc);
    b.exit();
    const Program spin = finished(b.program);
    simt::Memory memory;
    TimedOptions options;
    options.max_instructions = 10'000;
    const TimedResult result = launch(gpu("v100"), spin, config_of({4}, {64}), memory, options);
    REQUIRE(result.fault);
    CHECK(result.fault->kind == "runaway");
    CHECK(result.warp_instructions == 10'000);
    for (const WarpTrack& warp : result.trace.warps) CHECK(warp.end > warp.begin);

    std::stop_source source;
    source.request_stop();
    TimedOptions stopping;
    stopping.stop = source.get_token();
    CHECK(launch(gpu("v100"), spin, config_of({4}, {64}), memory, stopping).stopped);

    Case c = make_case(1);
    double progress = -1;
    TimedOptions watching;
    watching.progress = [&](double done) { progress = done; };
    CHECK_FALSE(launch(gpu("v100"), c.program, c.config, c.memory, watching).stopped);
    CHECK(progress == 1.0);
}

TEST_CASE("a barrier that waits for threads which never come is a deadlock, and says who waits") {
    Builder b;
    b.barrier(b.word(0), b.word(96));
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    const auto config = config_of({3}, {64});
    const simt::LaunchResult functional = simt::launch(program, config, memory);
    const TimedResult timed = launch(gpu("v100"), program, config, memory);
    REQUIRE(functional.fault);
    REQUIRE(timed.fault);
    CHECK(timed.fault->kind == "deadlock");
    CHECK(render(*timed.fault) == render(*functional.fault));
}

TEST_CASE("a warp that leaves releases those that wait for it at a barrier") {
    Builder b;
    const int32_t tid = b.r32(), first = b.predicate(), r = b.r32();
    b.special(SpecialRegister::tid_x, tid);
    b.lanes(simt::test::less32, Type::u32, first, tid, b.word(32)).destination_type = Type::pred;
    b.branch(b.at() + 2, b.at() + 2, first);
    b.exit();
    b.barrier();
    for (int i = 0; i < 50; ++i) b.lanes(simt::test::add32, Type::u32, r, r, b.word(1));
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    const TimedResult result = launch(gpu("v100"), program, config_of({1}, {96}), memory);
    CHECK_FALSE(result.fault);
    REQUIRE(result.trace.warps.size() == 3);
    CHECK(result.trace.warps[0].end > result.trace.warps[2].end + 50 * 4);
}

TEST_CASE("a grid of more blocks than the trace may hold runs to its end") {
    Builder b;
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    TimedOptions options;
    options.trace_limit = 100;
    const TimedResult result = launch(gpu("teaching"), program, config_of({5000}, {32}), memory, options);
    CHECK(result.warp_instructions == 5000);
    CHECK(result.trace.truncated);
    CHECK(result.trace.blocks.size() == 100);
}

TEST_CASE("a fault of the kernel is the fault of the timed launch") {
    Builder b;
    const int32_t tid = b.r32(), value = b.r32();
    b.special(SpecialRegister::tid_x, tid);
    const int32_t address = b.element_address(tid);
    b.load(Space::global, Type::u32, value, address);
    b.exit();
    const Program program = finished(b.program);
    simt::Memory memory;
    const uint64_t data = memory.allocate(16 * 4, "data");
    const auto config = config_of({1}, {32}, {data});
    const simt::LaunchResult functional = simt::launch(program, config, memory);
    const TimedResult timed = launch(gpu("v100"), program, config, memory);
    REQUIRE(functional.fault);
    REQUIRE(timed.fault);
    CHECK(render(*timed.fault) == render(*functional.fault));
}

TEST_CASE("a metric is found by either name, for the launch, a line or an instruction") {
    Case c = make_case(5);
    const TimedResult result = launch(gpu("v100"), c.program, c.config, c.memory);
    CHECK(metric_of(c.program, result, "cycles").value() == static_cast<double>(result.cycles));
    CHECK(metric_of(c.program, result, "smsp__inst_executed.sum").value() == static_cast<double>(result.warp_instructions));
    double sum = 0;
    for (uint32_t pc = 0; pc < c.program.instructions.size(); ++pc) {  // one instruction a line
        const std::string at = std::to_string(pc + 1);
        const double line = metric_of(c.program, result, "warp_instructions@line:" + at).value();
        CHECK(line == metric_of(c.program, result, "warp_instructions@pc:" + std::to_string(pc)).value());
        sum += line;
    }
    CHECK(sum == static_cast<double>(result.warp_instructions));
    CHECK(metric_of(c.program, result, "warp_instructions@line:1..999").value() == sum);
    CHECK(metric_of(c.program, result, "cycels").error().message.find("did you mean 'cycles'?") != std::string::npos);
    CHECK(metric_of(c.program, result, "zzz").error().message ==
          "unknown metric 'zzz': --metrics all shows every one with its name");
    CHECK(metric_of(c.program, result, "@line:3").error().message ==
          "a metric's name is missing, as in sectors_per_request@line:7");
    CHECK_FALSE(metric_of(c.program, result, "cycles@line:3").ok());
    CHECK_FALSE(metric_of(c.program, result, "branches@line:").ok());
    CHECK_FALSE(metric_of(c.program, result, "branches@line:12345").ok());
    double shares = 0;
    for (const Metric& metric : result.metrics)
        if (metric.nsight.rfind("lockstep__warp_cycles_", 0) == 0) shares += metric.value;
    CHECK(std::fabs(shares - 100) < 1e-9);
    std::set<std::string_view> names;
    for (const MetricRow& row : metric_rows()) {
        CHECK(names.insert(row.name).second);
        CHECK(names.insert(row.nsight).second);
        CHECK_FALSE(row.summary.empty());
    }
}

}  // namespace model_launch_test
