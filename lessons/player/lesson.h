// A lesson as data. lesson.md is TOML front matter between +++ lines, prose in Markdown, and ::: directives; every `##`
// heading begins a step. FORMAT.md beside this file documents the format.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/scene/figures/expression.h"
#include "core/scene/scene.h"

namespace lockstep::lessons {

// Prose: blocks of inline runs, made by md4c, so that the app and the terminal draw the same thing.
struct TextRun {
    std::string text;
    bool bold = false, italic = false, code = false;
};
struct TextBlock {
    enum class Kind : uint8_t { paragraph, list_item, code, heading };
    Kind kind = Kind::paragraph;
    std::vector<TextRun> runs;
};

using Attributes = std::map<std::string, std::string>;

struct Answer {
    std::string text;    // what the learner picks: "4" or "16 even, then 16 odd"
    std::string detail;  // a few words under it, shown before the choice: "each side does its own store"
    double value = 0;    // the number at its front, when it has one
    bool has_value = false;
    std::string reply;  // what to tell whoever chose it
};
struct NamedExpression {  // "stride 1: sectors_per_request@line:3"
    std::string name;
    scene::Expression value;
};
struct SketchText {    // what a sketch's kind needs besides `of` (sketch/sketch.h), as it is written
    std::string base;  // id of the scene that is drawn as a ghost: the case before; "" none
    std::shared_ptr<const scene::Scene> first_row;  // of base="ID@first": that scene with its first row alone
    std::string label;                              // "offset 1": what is asked about, beside the cases that are known
    std::string unit;                               // "sectors"
    std::string finding;                            // what the headline adds to the figure: "the last lane crosses a line"
    std::vector<NamedExpression> known;             // drawn from the beginning
    std::vector<NamedExpression> asked;             // items=, parts=, points=; of a dot x and y
    double low = 0, high = 0;                       // of the axis; equal: it follows from what is known and from the answers
    bool log = false;
};
struct Predict {
    std::string id, type;  // type: number, choice, or a kind of sketch
    scene::Expression of;
    std::string question;
    std::vector<Answer> answers;
    double tolerance = 0.005;  // relative
    double points = 1;         // in an exam
    bool sure = true;          // whether the learner says how sure they are
    SketchText sketch;
    SourceLocation where;
    bool is_sketch() const { return !type.empty() && type != "number" && type != "choice"; }
};
struct Hint {
    int after = 1;  // wrong tries before it is offered
    std::string text;
};
struct InputKind {  // of inputs=
    bool edges = false;
    int random = 0;  // else so many random fillings, 1 to 100
};
struct Exercise {
    std::string id, file, kernel;  // the starter, in the lesson's folder; the solution is solution/<file>
    std::string reference;         // file with the reference kernel (same signature); default: solution/<file>
    std::string grid, block;
    std::vector<std::string> arguments;
    std::vector<std::string> shapes;  // "n=25 block=12": values for $n and $block in grid, block and arguments; one or more
    uint32_t dynamic_shared = 0;
    std::string gpu;          // empty: the lesson's
    scene::Expression check;  // "outputs == reference && sectors_per_request@line:9 <= 4"
    std::vector<InputKind> inputs = {{.random = 5}, {.edges = true}};  // "random:5, edges"
    std::string prompt;
    double points = 1;
    std::vector<double> clause_points;  // by clause of check=; none: those that the starter does not hold share them
    std::vector<std::string> allow;     // checkers whose findings cost nothing: racecheck, initcheck, synccheck
    std::vector<std::string> changes;   // what may differ from the starter (pinned.h); none: check= says all that counts
    std::vector<std::string> without;   // functions that a tensor program is to do without
    SourceLocation where;
};
struct Challenge {         // at the end of a lesson: medals for one of its exercises (challenge/challenge.h)
    std::string exercise;  // its id
    scene::Expression of;  // what counts, the less the better
    std::string shape;     // the size, as in shapes= of the exercise; "": its first
    std::string gold;      // the file that gold is measured by
    std::string prompt;
    SourceLocation where;
};
struct LineIssue {  // an issue of a source line's first instruction
    int line = 0;
    int time = 1;  // the first, or a later one
};
// Of "issue(line:7)" and "issue(line:7, time:3)"; none: it is neither.
std::optional<LineIssue> issue_named(std::string_view until);

struct Step {
    std::string title, verb;  // verb: read, predict, run, investigate, modify, make
    std::vector<TextBlock> prose;
    std::vector<scene::Scene> scenes;  // at most one in practice
    std::vector<Predict> predicts;
    std::vector<Hint> hints;
    std::vector<Exercise> exercises;
    std::vector<std::string> until;  // ::: step until="issue(line:7)"; issue_named reads it
    std::vector<TextBlock> presenter_notes;
    SourceLocation where;
};
struct Lesson : scene::SceneHome {
    std::string id, title, part;
    std::string question;  // that it answers, on its card; "": none is given
    std::vector<std::string> needs;
    int minutes = 0;
    bool exam = false;     // kind = "exam": no lesson of the course but the end of a part
    double pass_mark = 0;  // of an exam, in percent of its points
    std::vector<Step> steps;
    std::optional<Challenge> challenge;
    std::optional<Exercise> answers;  // of an exam: its predictions as a file that is handed in (exam/exam.h)
};

// The scene that a step shows: its own, or else the nearest one before it. Null before the first scene.
const scene::Scene* scene_at(const Lesson& lesson, size_t step);
const scene::Scene* scene_named(const Lesson& lesson, const std::string& id);  // null: none has the id, or it is ""
std::vector<std::string> compared_with(const std::string& compare);            // ids of Scene::compare
// Words of a step's prose, as the limit of 45 counts them (code blocks left out).
int word_count(const std::vector<TextBlock>& prose);

// Parses lesson.md. A Diagnostic has file, line, column and caret.
Result<Lesson> parse_lesson(const std::string& text, const std::filesystem::path& file);
Result<Lesson> load_lesson(const std::filesystem::path& folder);
// Folders of lessons/ that hold a lesson.md, by id.
std::vector<std::filesystem::path> lesson_folders();
// "A06", or a folder with a lesson of one's own; an unknown id's Diagnostic lists the known ones.
Result<Lesson> lesson_named(const std::string& id);

}  // namespace lockstep::lessons
