// The table of lecture decks names steps that there are, and what is wrong with a table is said at its place.
#include "lessons/player/authors/coverage.h"

#include <algorithm>

#include "tests/catch.h"

namespace lessons_coverage_test {

using namespace lockstep;
using namespace lockstep::lessons;

TEST_CASE("every slide of the five decks has a step that there is, a reason for none, or is counted as missing") {
    const std::vector<CoveredDeck> decks = coverage().value();
    REQUIRE(decks.size() == 5);
    const std::vector<std::string> steps = step_names().value();
    std::vector<std::string> lessons;  // that teach something of a deck
    for (const CoveredDeck& deck : decks) {
        INFO(deck.name);
        CHECK(deck.slides.size() >= 26);
        size_t missing = 0;
        for (const CoveredSlide& slide : deck.slides) {
            INFO(slide.about);
            missing += slide.steps.empty() && slide.why.empty();
            for (const std::string& step : slide.steps) {
                CHECK(std::ranges::find(steps, step) != steps.end());
                lessons.push_back(step.substr(0, 3));
            }
        }
        CHECK(deck.missing() == missing);
        CHECK(missing == 0);
    }
    std::ranges::sort(lessons);
    lessons.erase(std::unique(lessons.begin(), lessons.end()), lessons.end());
    CHECK(lessons.size() == 40);
}

TEST_CASE("a table of decks that names no step, or is none, is refused with its place") {
    const std::vector<std::string> steps = {"A01: One worker or many", "A02: Threads to spare"};
    const auto refused = [&](const std::string& text) { return parse_coverage(text, "coverage.toml", steps).error(); };
    const std::string head = "[[deck]]\nname = \"D\"\ntitle = \"T\"\n";
    const Diagnostic misspelt = refused(head + "slides = [\n    {about = \"x\", steps = [\"A02: Threads to spar\"]},\n]\n");
    CHECK(misspelt.message == "no lesson has the step 'A02: Threads to spar', did you mean 'A02: Threads to spare'?");
    CHECK(misspelt.where.line == 5);
    CHECK(misspelt.where.column == 28);
    CHECK(refused(head + "slide = []\n").message == "unknown key 'slide', did you mean 'slides'?");
    CHECK(refused(head).message == "'slides' is a list of slides");
    CHECK(refused(head + "slides = [{steps = [\"A02: Threads to spare\"]}]\n").message == "'about' is missing here");
    CHECK(refused(head + "slides = [{about = \"x\", steps = []}]\n").message.starts_with("'steps' is a list of steps"));
    CHECK(refused("").message == "the file has no [[deck]]");
    CHECK(refused("deck = 3\n").message == "the file has no [[deck]]");
    CHECK(refused("[[deck]\n").message.starts_with("the file is not valid TOML"));
    const auto held =
        parse_coverage(head + "slides = [{about = \"x\", why = \"news\"}, {about = \"y\"}]\n", "c", steps).value();
    CHECK(held.front().missing() == 1);
}

}  // namespace lessons_coverage_test
