// The lesson parser: what a small lesson becomes, and the exact words of its diagnostics.
#include <fmt/format.h>

#include <string>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "lessons/player/lesson.h"
#include "tests/catch.h"

namespace lessons_parse_test {

using namespace lockstep;
using namespace lockstep::lessons;
using namespace lockstep::scene;

namespace {

const std::string front =
    "+++\nid = \"X01\"\ntitle = \"A test\"\npart = \"A\"\nminutes = 5\ngpu = \"v100\"\nseed = 3\n+++\n";

std::string error_of(const std::string& text) {
    const Result<Lesson> lesson = parse_lesson(text, "x/lesson.md");
    return lesson ? "no error" : render(lesson.error());
}

const std::string small = front + R"lesson(## First look | predict
One **bold** word, `code` and *more*.

- an item
- another

```
## not a step
::: nor a directive
```

::: scene file="add.cu" kernel="add" grid="2" block="4,2" args="in:f32{1, 2} out:f32[2] i32:2" view="divergence" focus="warp:0"
::: predict id="q1" of="sectors_per_request@line:7" type="number"
How many
sectors?
| 1,004 | no
| 8 | yes |
::: hint after=2
Count them.
::: note presenter
Ask *why*.
:::

## Now do it | make
::: exercise id="e1" file="fix.cu" grid="$(ceil(n / 4))" block="4" args="out:f32[$n] i32:$n" shapes="n=3; n=8" check="outputs == reference && cycles < 9" points=3
Mend it.
:::
)lesson";

}  // namespace

TEST_CASE("a lesson becomes steps with prose, a scene, a prediction, a hint and an exercise") {
    const Result<Lesson> parsed = parse_lesson(small, "x/lesson.md");
    REQUIRE(error_of(small) == "no error");
    const Lesson& lesson = parsed.value();
    CHECK(lesson.id == "X01");
    CHECK(lesson.seed == 3);
    REQUIRE(lesson.steps.size() == 2);
    const Step& step = lesson.steps[0];
    CHECK(step.title == "First look");
    CHECK(step.verb == "predict");
    CHECK(step.where.line == 9);
    REQUIRE(step.prose.size() == 4);
    CHECK(step.prose[0].runs.size() == 7);
    CHECK(step.prose[0].runs[1].bold);
    CHECK(step.prose[0].runs[3].code);
    CHECK(step.prose[1].kind == TextBlock::Kind::list_item);
    CHECK(step.prose[3].kind == TextBlock::Kind::code);
    CHECK(step.prose[3].runs[0].text == "## not a step\n::: nor a directive");
    CHECK(word_count(step.prose) == 9);
    REQUIRE(step.scenes.size() == 1);
    CHECK(step.scenes[0].arguments == std::vector<std::string>{"in:f32{1, 2}", "out:f32[2]", "i32:2"});
    CHECK(step.scenes[0].block == "4,2");
    REQUIRE(step.predicts.size() == 1);
    CHECK(step.predicts[0].question == "How many sectors?");
    REQUIRE(step.predicts[0].answers.size() == 2);
    CHECK(step.predicts[0].answers[0].value == 1004);
    CHECK(step.predicts[0].answers[1].value == 8);
    CHECK(step.predicts[0].answers[1].reply == "yes");
    REQUIRE(step.hints.size() == 1);
    CHECK(step.hints[0].after == 2);
    CHECK(step.hints[0].text == "Count them.");
    REQUIRE(step.presenter_notes.size() == 1);
    REQUIRE(lesson.steps[1].exercises.size() == 1);
    const Exercise& exercise = lesson.steps[1].exercises[0];
    CHECK(exercise.reference == "solution/fix.cu");
    CHECK(exercise.shapes == std::vector<std::string>{"n=3", "n=8"});
    CHECK(exercise.points == 3);
    CHECK(exercise.prompt == "Mend it.");
    CHECK(scene_at(lesson, 1) == &step.scenes[0]);
}

TEST_CASE("a lesson with Windows line ends reads the same") {
    std::string text;
    for (const char c : small) text += c == '\n' ? "\r\n" : std::string(1, c);
    const Result<Lesson> lesson = parse_lesson(text, "x/lesson.md");
    REQUIRE(lesson.ok());
    CHECK(lesson.value().steps[0].predicts[0].question == "How many sectors?");
}

TEST_CASE("every mistake in a lesson has its sentence, its place and a caret") {
    struct Row {
        std::string text, message;
    };
    const std::string step = front + "## A | read\n";
    const Row rows[] = {
        {"hello", "x/lesson.md:1:1: error: a lesson begins with a line '+++' and its front matter\n    hello\n    ^"},
        {"+++\nid = \"X\"\n",
         "x/lesson.md:1:1: error: the front matter that begins here is not closed with '+++'\n    +++\n    ^"},
        {"+++\nid = \"X01\"\ntitel = \"A\"\n+++\n",
         "x/lesson.md:3:1: error: unknown key 'titel', did you mean 'title'?\n    titel = \"A\"\n    ^"},
        {"+++\nid = \"X01\"\ntitle = 3\n+++\n",
         "x/lesson.md:3:9: error: 'title' is a text in quotes\n    title = 3\n            ^"},
        {front, "x/lesson.md:9:1: error: the lesson has no step: a '## Title | verb' line is missing"},
        {front + "## A | ponder\n",
         "x/lesson.md:9:8: error: unknown verb 'ponder'; there are read, predict, run, investigate, modify, make\n    ## A "
         "| ponder\n "
         "          ^"},
        {front + "## A | raed\n",
         "x/lesson.md:9:8: error: unknown verb 'raed', did you mean 'read'?\n    ## A | raed\n           ^"},
        {step + "::: scen file=\"a.cu\"\n",
         "x/lesson.md:10:5: error: unknown directive 'scen', did you mean 'scene'?\n    ::: scen file=\"a.cu\"\n        ^"},
        {step + "::: scene fiel=\"a.cu\"\n",
         "x/lesson.md:10:11: error: 'scene' has no attribute 'fiel', did you mean 'file'?\n    ::: scene fiel=\"a.cu\"\n    "
         "     "
         "     ^"},
        {step + "::: scene file=\"a.cu\" file=\"b.cu\"\n",
         "x/lesson.md:10:23: error: the attribute 'file' stands here twice\n    ::: scene file=\"a.cu\" file=\"b.cu\"\n     "
         "           "
         "          ^"},
        {step + "::: scene file=\"a.cu\n",
         "x/lesson.md:10:16: error: the quote that begins here is not closed\n    ::: scene file=\"a.cu\n                   "
         "^"},
        {step + "::: scene file=\"../a.cu\"\n",
         "x/lesson.md:10:17: error: a file of the lesson's own folder is named here\n    ::: scene file=\"../a.cu\"\n       "
         "             ^"},
        {step + "::: scene file=\"a.cu\" args=\"i32:1 out:f23[4]\"\n",
         "x/lesson.md:10:39: error: unknown type 'f23', did you mean 'f32'?\n    ::: scene file=\"a.cu\" args=\"i32:1 "
         "out:f23[4]\"\n      "
         "                                    ^"},
        {step + "::: step until=\"issue(line:3, time:0)\"\n",
         "x/lesson.md:10:17: error: a step begins where a line is issued, as in issue(line:7)\n    ::: step "
         "until=\"issue(line:3, time:0)\"\n                    ^"},
        {step + "::: scene file=\"a.cu\" view=\"warps\" guess=\"yes\"\n",
         "x/lesson.md:10:43: error: guess=\"yes\" goes with view=\"roofline\", where a run is placed\n    ::: scene "
         "file=\"a.cu\" view=\"warps\" guess=\"yes\"\n" +
             std::string(46, ' ') + "^"},
        {step + "::: step until=\"issue(lin:3)\"\n",
         "x/lesson.md:10:17: error: a step begins where a line is issued, as in issue(line:7)\n    ::: step "
         "until=\"issue(lin:3)\"\n                    ^"},
        {step + "::: scene file=\"a.cu\" focus=\"warp:0@lin:3\"\n",
         "x/lesson.md:10:36: error: a scene looks at a place such as warp:0@line:7, launch:3 or step:0\n    ::: scene "
         "file=\"a.cu\" focus=\"warp:0@lin:3\"\n                                       ^"},
        {step + "::: scene file=\"a.cu\" grid=\"0\"\n",
         "x/lesson.md:10:29: error: grid needs one to three numbers from 1, as in 64 or 16,4\n    ::: scene file=\"a.cu\" "
         "grid=\"0\"\n                                ^"},
        {step + "::: predict id=q type=number\n",
         "x/lesson.md:10:5: error: this predict needs the attribute 'of'\n    ::: predict id=q type=number\n        ^"},
        {step + "::: predict id=q of=\"cycles *\" type=number\nQ\n| 1 | a\n| 2 | b\n:::\n",
         "x/lesson.md:10:30: error: a number or a name is missing at the end\n    ::: predict id=q of=\"cycles *\" "
         "type=number\n       "
         "                          ^"},
        {step + "::: scene file=\"a.cu\"\n::: predict id=q of=\"2 * cycels\" type=number\nQ\n| 1 | a\n| 2 | b\n:::\n",
         "x/lesson.md:11:26: error: unknown figure 'cycels' of a kernel's run, did you mean 'cycles'?\n    ::: predict id=q "
         "of=\"2 * cycels\" type=number\n                             ^"},
        {step + "::: predict id=q of=cycles type=number\nQ\n| 1 | a\n| 2 | b\n:::\n",
         "x/lesson.md:10:21: error: no scene stands before this prediction\n    ::: predict id=q of=cycles type=number\n"
         "                        ^"},
        {step + "::: exercise id=e file=a.host check=\"outputs == reference && hazard == 0\"\nDo.\n:::\n",
         "x/lesson.md:10:62: error: unknown figure 'hazard' of a host program, did you mean 'hazards'?\n    ::: exercise "
         "id=e "
         "file=a.host check=\"outputs == reference && hazard == 0\"\n" +
             std::string(65, ' ') + "^"},
        {step + "::: predict id=q of=cycles type=number\nQ\n| 1 | a\n| two | b\n:::\n",
         "x/lesson.md:13:3: error: 'two' is not a number\n    | two | b\n      ^"},
        {step + "::: predict id=q of=cycles type=number\nQ\n| -12,345,678 | a\n| 10,24 | b\n:::\n",
         "x/lesson.md:13:3: error: '10,24' is not a number\n    | 10,24 | b\n      ^"},
        {step + "::: predict id=q of=cycles type=number\nQ\n| 101,770 | a\n| 1024,000 | b\n:::\n",
         "x/lesson.md:13:3: error: '1024,000' is not a number\n    | 1024,000 | b\n      ^"},
        {step + "::: predict id=q of=cycles type=number\nQ\n| 1 | a\n:::\n",
         "x/lesson.md:10:1: error: a predict needs at least two answers, this has 1\n    ::: predict id=q of=cycles "
         "type=number\n    ^"},
        {step + "::: exercise id=e file=a.cu args=i32:1 check=\"outputs == reference\" inputs=\"edges, "
                "random:abc\"\nDo.\n:::\n",
         "x/lesson.md:10:84: error: 'random:abc' is neither random:N (N from 1 to 100) nor edges\n    ::: exercise id=e "
         "file=a.cu args=i32:1 check=\"outputs == reference\" inputs=\"edges, random:abc\"\n" +
             std::string(87, ' ') + "^"},
        {step + "::: exercise id=e file=a.cu args=i32:1 check=cycles\nDo.\n:::\n"
                "::: exercise id=f file=b.cu args=i32:1 check=cycles\nDo.\n:::\n",
         "x/lesson.md:13:1: error: this step has an exercise already: the next one begins another step\n    ::: exercise "
         "id=f file=b.cu args=i32:1 check=cycles\n    ^"},
        {step + "::: hint\nCount.\n## B | read\n",
         "x/lesson.md:10:1: error: the hint that begins here is not closed: a line ':::' is missing\n    ::: hint\n    ^"},
        {step + "Words.\n:::\n", "x/lesson.md:11:1: error: nothing is open here that ':::' could close\n    :::\n    ^"},
        {step + "```\ncode\n",
         "x/lesson.md:10:1: error: the code block that begins here is not closed with ```\n    ```\n    ^"},
    };
    for (const Row& row : rows) CHECK(error_of(row.text) == row.message);
}

TEST_CASE("a clause of check= that no text could fail, or none hold, is refused in a sentence") {
    const auto judged_by = [](const std::string& check) {
        std::string text = small;
        const std::string was = "outputs == reference && cycles < 9";
        return error_of(text.replace(text.find(was), was.size(), check));
    };
    CHECK(judged_by("outputs == reference && (cycles < 9 || 2 * issues < 8)") == "no error");
    CHECK(judged_by("!(cycles < cycles@run:starter)") == "no error");
    CHECK(judged_by("outputs == reference && cycles@run:starter")
              .find("'cycles@run:starter' compares nothing: the learner's own stands without @run, as in cycles <= 0.8 * "
                    "cycles@run:starter") != std::string::npos);
    CHECK(judged_by("2 * cycles").find("'2 * cycles' compares nothing: it needs a bound") != std::string::npos);
    CHECK(judged_by("cycles@run:reference < cycles@run:starter")
              .find("says nothing of the learner's own run: that is 'cycles', without @run") != std::string::npos);
}

TEST_CASE("until= names the first issue of a line, or a later one by its number") {
    CHECK(issue_named("issue(line:7)")->line == 7);
    CHECK(issue_named("issue(line:7)")->time == 1);
    CHECK(issue_named("issue(line:12, time:30)")->line == 12);
    CHECK(issue_named("issue(line:12, time:30)")->time == 30);
    for (const char* wrong : {"", "issue(line:7", "issue(line:7, time:)", "issue(line:7,time:2)", "issue(line:7, time:2) "})
        CHECK_FALSE(issue_named(wrong));
}

TEST_CASE("inputs= is read once, in its order, and is five random fillings and the edges unless said") {
    const auto inputs = [](const std::string& written) {
        const Result<Lesson> lesson = parse_lesson(
            front + "## A | make\n::: exercise id=e file=a.cu args=i32:1 check=cycles<9" + written + "\nDo.\n:::\n",
            "x/lesson.md");
        if (!lesson) return render(lesson.error());
        std::string told;
        for (const InputKind& kind : lesson.value().steps[0].exercises[0].inputs)
            told += kind.edges ? "edges " : std::to_string(kind.random) + " ";
        return told;
    };
    CHECK(inputs("") == "5 edges ");
    CHECK(inputs(" inputs=\"edges,random:3\"") == "edges 3 ");
    CHECK(inputs(" inputs=\"random:1\"") == "1 ");
    for (const char* wrong : {"random", "random:", "random:0", "random:101", "random:3x", "random:2,", "edge", "3"})
        CHECK(inputs(fmt::format(" inputs=\"{}\"", wrong)).find("is neither random:N") != std::string::npos);
}

TEST_CASE("mutilated lessons give a lesson or a diagnostic, never a crash") {
    Rng rng(11);
    const std::string pieces[] = {
        ":::", "```",   "## ", "|", "\"", "+++\n", "=", "$(", "\n", "\xff", std::string(1, '\0'), "args=\"in:f32[",
        "{",   "@line:"};
    const std::string real = read_file(resource_root() / "lessons" / "A06_divergence" / "lesson.md").value();
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string text = round % 3 == 0 ? real : small;
        for (uint64_t edits = 1 + rng.below(6); edits > 0; --edits) {
            const size_t at = rng.below(text.size());
            switch (rng.below(4)) {
                case 0:
                    text.erase(at, 1 + rng.below(12));
                    break;
                case 1:
                    text.insert(at, pieces[rng.below(std::size(pieces))]);
                    break;
                case 2:
                    text[at] = static_cast<char>(rng.below(256));
                    break;
                default:
                    text.insert(at, text.substr(rng.below(text.size()), rng.below(60)));
            }
            if (text.empty()) text = "x";
        }
        const Result<Lesson> lesson = parse_lesson(text, "x/lesson.md");
        if (!lesson) {
            ++refused;
            CHECK(!lesson.error().message.empty());
        }
    }
    CHECK(refused > 500);
}

}  // namespace lessons_parse_test
