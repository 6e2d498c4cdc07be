// The one job of part A: every version runs, gives what the first gives, and is no slower than the one before.
#include "lessons/player/story/story.h"

#include "core/scene/host/host_program.h"
#include "lessons/player/exercise_parts.h"
#include "tests/catch.h"

namespace lessons_story_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {

const Array& output(const scene::HostRun& run, const std::string& name) {
    for (size_t i = 0; i < run.output_names.size(); ++i)
        if (run.output_names[i] == name) return run.outputs[i];
    FAIL("no output " << name);
    return run.outputs.front();
}

}  // namespace

TEST_CASE("all versions of the story give the same classes and scores, none slower than the one before") {
    const Story told = story().value();
    REQUIRE(told.versions.size() >= 8);
    std::vector<Array> first;
    double before = 0;
    for (const Story::Version& version : told.versions) {
        INFO(version.lesson << " " << version.file);
        CHECK(lesson_named(version.lesson).ok());
        const auto run = run_version(told, version).value().as<scene::HostRun>();
        REQUIRE(run);
        CHECK_FALSE(run->fault);
        CHECK(run->hazards.empty());
        const std::vector<Array> got = {output(*run, "scores"), output(*run, "best")};
        if (first.empty()) first = got;
        CHECK(difference(got, first) == "");
        if (before > 0)
            CHECK(run->schedule.total_us <= before * 1.003);  // A09's tile gains nothing by itself where L1 serves the rest
        before = run->schedule.total_us;
    }
}

TEST_CASE("a lesson knows the versions up to its own, and no other part's lesson knows any") {
    const Story told = story().value();
    CHECK(versions_until(told, "A01").size() == 1);
    CHECK(versions_until(told, "A04").back().lesson == "A03");
    CHECK(versions_until(told, "A16").size() == told.versions.size());
    CHECK(versions_until(told, "B01").empty());
    CHECK(versions_until(told, "").empty());
}

TEST_CASE("versions out of order, and words that are none, are refused with their line") {
    const auto refused = [](const std::string& text) {
        const auto read = parse_story(text, "story.toml");
        return read.ok() ? std::string() : render(read.error()).substr(0, render(read.error()).find('\n'));
    };
    const std::string head = "title = \"t\"\ngpu = \"v100\"\n";
    const std::string a08 = "[[version]]\nlesson = \"A08\"\nfile = \"a.host\"\nwhat = \"w\"\n";
    CHECK(refused(head + a08).empty());
    CHECK(refused(head + a08 + a08).find("story.toml:7:1: error: versions stand in the order of their lessons") == 0);
    CHECK(refused(head + "x = 1\n" + a08).find("unknown key 'x'") != std::string::npos);
    CHECK(refused(head).find("'version' is missing") != std::string::npos);
}

TEST_CASE("the last page of A02 says how much faster the job has become") {
    const Ending ending = ending_of(lesson_named("A02").value());
    REQUIRE(ending.problem.empty());
    REQUIRE(ending.bars.size() == 2);
    CHECK(ending.times() > 4);
    CHECK(ending.words().find(" in A01, ") != std::string::npos);
    REQUIRE(ending.limits);
    CHECK(ending.limits->unit == "requests");
}

}  // namespace lessons_story_test
