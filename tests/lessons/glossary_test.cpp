// The glossary's file is read whole or refused in one sentence; words are found by name, by spelling and in texts.
#include "lessons/player/glossary/glossary.h"

#include <set>

#include "core/base/diagnostic.h"
#include "lessons/player/lesson.h"
#include "tests/catch.h"

namespace glossary_test {

using namespace lockstep;
using namespace lockstep::lessons;

namespace {

const std::string warp = "[[term]]\nname = \"warp\"\nalso = [\"warps\"]\nsays = \"32 threads.\"\nsee = \"A04.1\"\n";

std::string refused(const std::string& text) {
    const auto read = parse_glossary(text, "terms.toml");
    return read.ok() ? std::string() : render(read.error()).substr(0, render(read.error()).find('\n'));
}

}  // namespace

TEST_CASE(
    "the glossary that comes with the program is whole: short sentences, no name twice, lessons and steps that exist") {
    REQUIRE(glossary_problem().empty());
    CHECK(glossary().terms().size() >= 150);
    std::set<std::string> lesson_ids;
    for (const auto& folder : lesson_folders()) lesson_ids.insert(load_lesson(folder).value().id);
    for (const Term& term : glossary().terms()) {
        INFO(term.name << ", line " << term.where.line);
        CHECK(words_of(term.says) <= most_words_of_a_term);
        CHECK(words_of(term.says) >= 4);
        CHECK(term.says.ends_with('.'));
        CHECK(glossary().find(term.name) == &term);
        for (const std::string& other : term.also) CHECK(glossary().find(other) == &term);
        if (term.lesson.empty()) continue;
        REQUIRE(lesson_ids.contains(term.lesson));
        CHECK(static_cast<size_t>(term.step) <= lesson_named(term.lesson).value().steps.size());
    }
}

TEST_CASE("mistakes in a glossary are told with their line") {
    CHECK(refused(warp).empty());
    CHECK(refused(warp + warp) == "terms.toml:7:8: error: 'warp' stands in line 2 already");
    CHECK(refused("[[term]]\nname = \"warp\"\nsays = \"32 threads.\"\n") == "terms.toml:1:1: error: 'see' is missing here");
    CHECK(refused("[[term]]\nname = 3\nsays = \"x\"\nsee = \"A04\"\n") ==
          "terms.toml:2:8: error: 'name' is a text in quotes");
    CHECK(refused("[[term]]\nnam = 3\n") == "terms.toml:2:1: error: unknown key 'nam', did you mean 'name'?");
    CHECK(refused("x = 1\n").find("unknown key 'x'") != std::string::npos);
    CHECK(refused("").find("no [[term]]") != std::string::npos);
    CHECK(refused("[[term]\n").find("not valid TOML") != std::string::npos);
    CHECK(refused("term = [1]\n").find("a term is a table") != std::string::npos);
    std::string longer = warp;
    longer.replace(
        longer.find("32 threads"), 10, std::string(62, 'a').replace(1, 1, " ") + [] {
            std::string words;
            for (int i = 0; i < 31; ++i) words += " word";
            return words;
        }());
    CHECK(refused(longer).find("a sentence has at most 30 words, not 33") != std::string::npos);
    for (const char* see : {"A04.0", "A04.x", "view:", "", "A04.1234", "a lesson"}) {
        std::string wrong = warp;
        wrong.replace(wrong.find("A04.1"), 5, see);
        INFO(see);
        CHECK_FALSE(refused(wrong).empty());
    }
}

TEST_CASE("a term is found whatever its case, and near names are offered for others") {
    CHECK(glossary().find("WARP") == glossary().find("warp"));
    CHECK(glossary().find("warps") == glossary().find("warp"));
    CHECK(glossary().find("warpx") == nullptr);
    CHECK(glossary().find("") == nullptr);
    CHECK(glossary().find(std::string(100'000, 'w')) == nullptr);
    const auto near = glossary().near("warpp");
    REQUIRE_FALSE(near.empty());
    CHECK(near.front() == "warp");
    CHECK(glossary().near("qqqqqqqqqqqqqqq").empty());
    CHECK(glossary().near("a").size() <= 5);
}

TEST_CASE("in a text the longest term counts, at the borders of words") {
    const Glossary few =
        parse_glossary(warp +
                           "[[term]]\nname = \"warp scheduler\"\nsays = \"It picks a warp.\"\nsee = \"view:warps\"\n"
                           "[[term]]\nname = \"ZeRO\"\nsays = \"Each rank keeps a part.\"\nsee = \"C08\"\n"
                           "[[term]]\nname = \"FP16\"\nsays = \"Half precision.\"\nsee = \"A13\"\n",
                       "t")
            .value();
    const auto found = [&](const std::string& text) {
        std::string all;
        for (const Glossary::Found& one : few.in(text)) all += "[" + text.substr(one.begin, one.end - one.begin) + "]";
        return all;
    };
    CHECK(found("The Warp scheduler issues; warps wait.") == "[Warp scheduler][warps]");
    CHECK(found("A warp\nscheduler, and fp16s, fp16.") == "[warp\nscheduler][fp16]");
    CHECK(found("warped, unwarp, warp_size, warp-wide") == "[warp]");
    CHECK(found("ünwarp warpé") == "");
    CHECK(found("5 % is exactly zero; ZeRO, ZERO-1") == "[ZeRO][ZERO]");  // what has capitals is no other word
    CHECK(found("").empty());
}

}  // namespace glossary_test
