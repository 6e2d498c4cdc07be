// What the command line asks of lessons: list them, run one, prove one. Each returns plain data; `sink` gets a line of text
// as soon as there is one.
#pragma once
#include <functional>
#include <optional>

#include "lessons/player/exercise.h"
#include "lessons/player/predict.h"

namespace lockstep::lessons {

using Sink = std::function<void(const std::string& line)>;

struct Listing {
    std::string id, title, part, gpu;
    int minutes = 0, steps = 0;
    std::filesystem::path folder;
    bool exam = false;
};
Result<std::vector<Listing>> list();

struct PredictRun {
    std::string id, question, of;
    double truth = 0;
    std::string answer;  // the right one's text
    std::string sketch;  // of a sketch: what belongs into the picture
};
struct StepRun {
    std::string title, verb;
    std::string scene;   // "even_odd<<<1, 32>>> on p100", "one training step of mlp, batch 16, on sim:v100"; "" none
    int64_t cycles = 0;  // of the scene
    std::string fault;
    std::vector<std::pair<std::string, double>> figures;  // metrics of a kernel, figures of a training step
    std::vector<PredictRun> predicts;
};
struct LessonRun {
    std::string id, title;
    std::vector<StepRun> steps;
};
// Runs every scene and computes every prediction. `id` as lesson_named takes it.
Result<LessonRun> run(const std::string& id, const Sink& sink = {}, const scene::RunOptions& options = {});

struct CheckItem {
    std::string what;  // "step 3, prediction q2"
    bool passed = false;
    std::string detail;
};
struct LessonCheck {
    std::string id, title;
    std::filesystem::path folder;
    std::vector<CheckItem> items;
    std::optional<Diagnostic> unreadable;  // lesson.md does not parse: nothing else was checked
    bool cut = false;                      // stopped on the way: the items so far
    bool passed() const;
};
// The files that prove an exercise, in order: proof/ID_right_WORDS passes, proof/ID_wrong_WORDS fails by the clause that its
// first line names.
std::vector<std::string> proofs_of(const Lesson& lesson, const Exercise& exercise);
// Proves one lesson's folder: it parses, every scene runs, every prediction has exactly one right answer, starters fail,
// solutions pass and proofs do what their names say, at most 45 words a step, no stray file, PTX as new as its source.
LessonCheck check_lesson(const std::filesystem::path& folder, const Sink& sink = {}, const std::stop_token& stop = {});
// A folder, a lesson's id, or "all".
Result<std::vector<LessonCheck>> check(const std::string& what, const Sink& sink = {}, const std::stop_token& stop = {});

// The same as JSON text.
std::string to_json(const std::vector<Listing>& lessons);
std::string to_json(const LessonRun& run);
std::string to_json(const std::vector<LessonCheck>& checks);

}  // namespace lockstep::lessons
