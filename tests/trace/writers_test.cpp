#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/trace/csv.h"
#include "core/trace/perfetto.h"
#include "core/trace/text.h"
#include "tests/catch.h"

namespace trace_writers_test {

using namespace lockstep;

namespace {

Trace sample() {
    Trace trace;
    trace.tracks = {{"rank 0", -1}, {"stream \"a\"\n", 0}, {"loss", -1}};
    trace.spans = {{1, 1500, 2500, "forward", -1}, {1, 3000, 3001, "back\\ward \xff \xc3\xa9", 4}};
    trace.counters = {{2, 2000, 0.5}};
    trace.arrows = {{0, 1}, {0, 7}};  // the second leads nowhere
    return trace;
}

KernelTrace kernel_sample() {
    KernelTrace trace;
    trace.sm = 3, trace.cycles = 40, trace.warp_slots = 2, trace.block_slots = 1, trace.schedulers = 1;
    WarpTrack warp;
    warp.block = 5, warp.slot = 1, warp.begin = 2, warp.end = 32;
    warp.runs = {{3, 31, StallReason::long_scoreboard, 1, 0}};
    warp.issues = {0, 1};
    trace.warps = {warp};
    IssueRecord load, use;
    load.cycle = 2, load.ready = 31, load.active = 0xff, load.level = MemoryLevel::l1, load.sectors = 4;
    use.cycle = 31, use.ready = 35, use.pc = 1, use.active = 0xffffffff;
    trace.issues = {load, use};
    trace.blocks = {{5, 3, 0, 2, 32}};
    return trace;
}

nlohmann::json written(const Trace& trace) {
    std::ostringstream out;
    write_perfetto(trace, out);
    return nlohmann::json::parse(out.str());
}
nlohmann::json written(const KernelTrace& trace, const std::function<std::string(uint32_t)>& name_of) {
    std::ostringstream out;
    write_perfetto(trace, "kernel", out, name_of);
    return nlohmann::json::parse(out.str());
}

}  // namespace

TEST_CASE("a Trace becomes valid JSON with spans in microseconds, counters and arrows") {
    const nlohmann::json json = written(sample());
    int spans = 0, counters = 0, arrows = 0;
    for (const auto& event : json["traceEvents"]) {
        const std::string phase = event["ph"];
        if (phase == "X" && event["name"] == "forward") {
            CHECK(event["ts"].get<double>() == 1.5);
            CHECK(event["dur"].get<double>() == 1.0);
            CHECK(event["pid"] == 1);
            CHECK(event["tid"] == 2);
        }
        if (phase == "X" && event["name"] != "forward") CHECK(event["name"] == "back\\ward ? \xc3\xa9");
        spans += phase == "X", counters += phase == "C", arrows += phase == "s" || phase == "f";
    }
    CHECK(spans == 2);
    CHECK(counters == 1);
    CHECK(arrows == 2);
}

TEST_CASE("spans of a track that overlap become threads side by side, and those within each other stay together") {
    Trace trace;
    trace.tracks = {{"SMs"}, {"host"}};
    trace.spans = {{0, 0, 100, "a"},   {0, 80, 200, "b"},    {0, 190, 300, "c"}, {0, 85, 90, "within a and b"},
                   {1, 0, 50, "call"}, {1, 10, 20, "inner"}, {1, 50, 60, "next"}};
    trace.arrows = {{0, 1}};
    const nlohmann::json json = written(trace);
    std::map<std::string, int> thread_of;
    std::map<int, std::string> name_of;
    for (const auto& event : json["traceEvents"]) {
        if (event["ph"] == "X") thread_of[event["name"]] = event["tid"];
        if (event["ph"] == "M" && event["name"] == "thread_name") name_of[event["tid"]] = event["args"]["name"];
    }
    CHECK(thread_of["a"] == thread_of["c"]);
    CHECK(thread_of["b"] != thread_of["a"]);
    CHECK(name_of[thread_of["b"]] == "SMs, at the same time 2");
    CHECK(thread_of["within a and b"] == thread_of["a"]);
    CHECK(thread_of["call"] == thread_of["inner"]);
    CHECK(thread_of["call"] == thread_of["next"]);
    for (const auto& event : json["traceEvents"])
        if (event["ph"] == "f") CHECK(event["tid"] == thread_of["b"]);
    std::ostringstream table;
    write_csv(trace, table);
    CHECK(table.str().starts_with("track,within,begin_ns,end_ns,name\n\"SMs\",,0,100,\"a\"\n"));
}

TEST_CASE("an empty Trace is an empty list of events, and parents that go in a circle end") {
    CHECK(written(Trace{})["traceEvents"].empty());
    Trace circle;
    circle.tracks = {{"a", 1}, {"b", 0}};
    CHECK(written(circle)["traceEvents"].size() >= 2);
}

TEST_CASE("a kernel's trace shows every issue, every wait with its cause, and every block") {
    const nlohmann::json json = written(kernel_sample(), [](uint32_t pc) { return pc == 0 ? "ld.global" : "add"; });
    bool load = false, wait = false, block = false;
    for (const auto& event : json["traceEvents"]) {
        if (event["ph"] != "X") continue;
        if (event["name"] == "ld.global") {
            load = true;
            CHECK(event["ts"] == 2);
            CHECK(event["args"]["lanes"] == 8);
            CHECK(event["args"]["sectors"] == 4);
            CHECK(event["args"]["level"] == "l1");
        }
        if (event["name"] == "long scoreboard") {
            wait = true;
            CHECK(event["dur"] == 28);
            CHECK(event["args"]["waits for"] == "ld.global");
        }
        if (event["name"] == "block 5") block = true;
    }
    CHECK(load);
    CHECK(wait);
    CHECK(block);
}

TEST_CASE("traces read as text, one event a line") {
    CHECK(format_text(kernel_sample()) ==
          "sm 3 cycles 40\n"
          "block 5 sm 3 slot 0 2..32\n"
          "warp 0 of block 5 slot 1 scheduler 0 2..32\n"
          "  2 issue pc 0 lanes 8 l1 sectors 4\n"
          "  3..31 long_scoreboard pc 1 <- pc 0\n"
          "  31 issue pc 1 lanes 32\n");
    Trace trace = sample();
    trace.tracks[1].name = "stream";
    trace.spans[1].name = "backward";
    CHECK(format_text(trace) ==
          "time ns\ntrack 0 rank 0\ntrack 1 stream in 0\ntrack 2 loss\nspan 1 1500..2500 forward\n"
          "span 1 3000..3001 backward\ncounter 2 2000 0.5\narrow 0 -> 1\narrow 0 -> 7\n");
}

TEST_CASE("what Perfetto gets obeys the rules of trace events: named tracks, in order, nested or apart, arrows in pairs") {
    KernelTrace trace = kernel_sample();
    WarpTrack other;  // waits at a barrier for the first, and is let go in the cycle after it
    other.block = 5, other.warp_in_block = 1, other.slot = 0, other.begin = 2, other.end = 33;
    other.runs = {{2, 32, StallReason::barrier, 0, 1}};
    other.issues = {2};
    IssueRecord last;
    last.cycle = 32, last.pc = 1, last.warp = 1;
    trace.issues.push_back(last);
    trace.warps.push_back(other);
    trace.blocks = {{4, 0, 0, 2, 32}, {7, 1, 0, 3, 30}, {5, 3, 0, 2, 32}};
    const nlohmann::json json = written(trace, {});
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> open;  // by process and thread: what is not over
    std::map<std::pair<int, int>, double> latest;
    std::set<std::pair<int, int>> named;
    std::map<int, std::vector<nlohmann::json>> arrows;
    std::map<std::string, std::vector<std::pair<double, double>>> counters;
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> spans;
    for (const auto& event : json["traceEvents"]) {
        const std::string phase = event["ph"];
        REQUIRE(event["pid"].is_number_integer());
        REQUIRE(event["name"].get<std::string>() != "");
        const std::pair<int, int> track{event["pid"], event.value("tid", 0)};
        if (phase == "M") {
            if (event["name"] == "thread_name") named.insert(track);
            continue;
        }
        const double ts = event["ts"];
        if (phase == "X") {
            CHECK(named.count(track) == 1);
            CHECK(ts >= latest[track]);
            latest[track] = ts;
            const double end = ts + event["dur"].get<double>();
            auto& around = open[track];
            while (!around.empty() && around.back().second <= ts) around.pop_back();
            if (!around.empty()) CHECK(end <= around.back().second);
            around.emplace_back(ts, end);
            spans[track].emplace_back(ts, end);
        } else if (phase == "C") {
            auto& values = counters[event["name"]];
            if (!values.empty()) CHECK(ts > values.back().first);
            values.emplace_back(ts, event["args"]["value"].get<double>());
        } else {
            REQUIRE((phase == "s" || phase == "f"));
            if (phase == "f") CHECK(event["bp"] == "e");
            arrows[event["id"].get<int>()].push_back(event);
        }
    }
    for (const auto& [process, thread] : named) {  // a thread numbered like its process is drawn first, so it is the first
        const auto first = named.lower_bound({process, 0});
        if (thread == process) CHECK(first->second == process);
    }
    REQUIRE(arrows.size() == 2);  // the load to the use, the use to the barrier's other side
    for (const auto& [id, ends] : arrows) {
        REQUIRE(ends.size() == 2);
        CHECK(ends[0]["ph"] == "s");
        CHECK(ends[1]["ph"] == "f");
        CHECK(ends[0]["ts"].get<double>() <= ends[1]["ts"].get<double>());
        for (const auto& end : ends) {  // each end lies in a span of its track
            bool within = false;
            for (const auto& [from, until] : spans[{end["pid"], end["tid"]}])
                within |= from <= end["ts"].get<double>() && end["ts"].get<double>() < until;
            CHECK(within);
        }
    }
    // Warp 0 waits in the cycles 3 to 30, warp 1 in 2 to 31.
    CHECK(counters["warps: long scoreboard"] == std::vector<std::pair<double, double>>{{0, 0}, {3, 1}, {31, 0}});
    CHECK(counters["warps: barrier"] == std::vector<std::pair<double, double>>{{0, 0}, {2, 1}, {32, 0}});
    CHECK(counters["warps: issued"] == std::vector<std::pair<double, double>>{{0, 0}, {2, 1}, {3, 0}, {31, 1}, {33, 0}});
}

TEST_CASE("a trace as CSV has a header with units and as many cells in every row") {
    std::ostringstream out;
    write_csv(kernel_sample(), out, [](uint32_t pc) { return pc == 0 ? std::string("ld [a, \"b\"]") : "add"; });
    CHECK(out.str() ==
          "event,sm,warp_slot,scheduler,block,warp_in_block,begin_cycle,end_cycle,state,pc,instruction,lanes,ready_cycle,"
          "memory_level,sectors_32_bytes,shared_passes,waits_for_pc,waits_for_cycle,sent_cycle\n"
          "issue,3,1,0,5,0,2,3,selected,0,\"ld [a, \"\"b\"\"]\",8,31,l1,4,,,,2\n"
          "wait,3,1,0,5,0,3,31,long_scoreboard,1,\"add\",,,,,,0,2,\n"
          "issue,3,1,0,5,0,31,32,selected,1,\"add\",32,35,,,,,,31\n");
}

TEST_CASE("in CSV what is folded into another instruction takes no time, so a slot's rows follow each other") {
    KernelTrace trace = kernel_sample();
    trace.issues[1].folded = true;
    std::ostringstream out;
    write_csv(trace, out);
    CHECK(out.str().find("issue,3,1,0,5,0,31,31,folded,1,\"instruction 1\",32,35,,,,,,31\n") != std::string::npos);
    CHECK(out.str().find("issue,3,1,0,5,0,2,3,selected,0,") != std::string::npos);
}

}  // namespace trace_writers_test
