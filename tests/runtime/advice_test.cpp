// What limits a program, told from timelines that are made here: each rule speaks where it should and is silent beside it.
#include "core/runtime/report/advice.h"

#include <set>

#include "tests/catch.h"

namespace runtime_advice_test {

using namespace lockstep;
using namespace lockstep::runtime;

namespace {

Report report_of_time(double total_us) {
    Report report;
    report.gpu = "v100";
    report.total_us = total_us;
    return report;
}
void launch(Report& report, double begin, double end, uint32_t stream = 0, int line = 20) {
    LaunchRecord record;
    record.kernel = "step";
    record.begin_us = begin, record.end_us = end, record.time_us = end - begin;
    record.stream = stream;
    record.timed_by = TimedBy::simulation;
    record.site = {"main.cu", line};
    report.launches.push_back(record);
}
void copy(Report& report, double begin, double end, uint64_t bytes = 8 << 20, int line = 10) {
    report.copies.push_back({"host to device", bytes, begin, end, 0, {"main.cu", line}, -1});
}
std::set<std::string> rules_of(const Report& report) {
    std::set<std::string> rules;
    for (const Advice& advice : advice_on(report)) {
        rules.insert(advice.rule);
        CHECK(advice.gain > 0);
        CHECK(advice.gain < 1);
        CHECK(!advice.sentence.empty());
        CHECK(!advice.change.empty());
    }
    return rules;
}

}  // namespace

TEST_CASE("a program that copies most of its time is told so, with its longest copy") {
    Report report = report_of_time(1000);
    copy(report, 0, 500);
    copy(report, 500, 800, 4 << 20, 12);
    launch(report, 800, 900);
    const std::vector<Advice> advice = advice_on(report);
    REQUIRE(!advice.empty());
    CHECK(advice[0].rule == "copy-bound");
    CHECK(advice[0].site.line == 10);
    CHECK(advice[0].gain == Approx(0.8));
    Report busy = report_of_time(1000);
    copy(busy, 0, 100);
    launch(busy, 100, 1000);
    CHECK(rules_of(busy).empty());
}

TEST_CASE("copies and kernels that take turns are told, those that overlap are not") {
    Report turns = report_of_time(1000);
    for (int k = 0; k < 4; ++k) copy(turns, 250 * k, 250 * k + 100), launch(turns, 250 * k + 100, 250 * k + 250);
    CHECK(rules_of(turns) == std::set<std::string>{"no-overlap"});
    CHECK(advice_on(turns)[0].gain == Approx(0.8 * 0.4));
    Report beside = report_of_time(700);
    for (int k = 0; k < 4; ++k) copy(beside, 150 * k, 150 * k + 100), launch(beside, 150 * k + 100, 150 * k + 250, 1);
    CHECK(rules_of(beside).empty());
}

TEST_CASE("many launches of tiny kernels are told, whether the host waits for each or not") {
    Report tiny = report_of_time(1000);
    for (int k = 0; k < 100; ++k) launch(tiny, 10 * k, 10 * k + 2);
    CHECK(rules_of(tiny) == std::set<std::string>{"launch-bound"});
    CHECK(advice_on(tiny)[0].change.find("fuse") != std::string::npos);
    for (int k = 0; k < 100; ++k)
        tiny.calls.push_back({"cudaDeviceSynchronize", 10.0 * k, 10.0 * k + 9, 0, {"main.cu", 21}});
    CHECK(advice_on(tiny)[0].change.find("Leave out the waits") != std::string::npos);
    Report dense = report_of_time(1000);
    for (int k = 0; k < 100; ++k) launch(dense, 10 * k, 10 * k + 9.5);
    CHECK(rules_of(dense).empty());
}

TEST_CASE("small copies and allocations in a loop are told with their lines") {
    Report copies = report_of_time(1000);
    for (int k = 0; k < 40; ++k) copy(copies, 25 * k, 25 * k + 10, 4, 33);
    launch(copies, 990, 1000);
    REQUIRE(rules_of(copies).contains("small-copies"));
    for (const Advice& advice : advice_on(copies))
        if (advice.rule == "small-copies") CHECK(advice.site.line == 33);
    Report allocates = report_of_time(1000);
    for (int k = 0; k < 20; ++k) allocates.calls.push_back({"cudaMalloc", 40.0 * k, 40.0 * k + 20, 0, {"main.cu", 44}});
    launch(allocates, 900, 1000);
    REQUIRE(rules_of(allocates).contains("allocations"));
    CHECK(advice_on(allocates)[0].site.line == 44);
}

TEST_CASE("a program whose launches took no time on the clock gets no advice, and every rule has its words") {
    Report functional = report_of_time(1000);
    copy(functional, 0, 900);
    launch(functional, 900, 900);
    functional.launches[0].timed_by = TimedBy::nothing;
    CHECK(advice_on(functional).empty());
    CHECK(advice_words(functional).empty());
    std::set<std::string_view> names;
    for (const ProgramRule& rule : program_rules()) {
        CHECK(names.insert(rule.name).second);
        CHECK(!rule.title.empty());
        CHECK(!rule.threshold.empty());
    }
    CHECK(names.size() >= 6);
}

}  // namespace runtime_advice_test
