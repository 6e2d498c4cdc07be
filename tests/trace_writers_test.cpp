#include <nlohmann/json.hpp>
#include <sstream>

#include "core/trace/perfetto.h"
#include "core/trace/text.h"
#include "tests/catch.h"

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
