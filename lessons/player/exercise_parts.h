// What judging kernels (exercise.cpp), host programs, tensor programs, training runs and rows of many ranks share
// (judge.cpp). Internal to lessons/player.
#pragma once
#include <functional>
#include <map>

#include "core/scene/figures/figures.h"
#include "lessons/player/exercise.h"

namespace lockstep::lessons {

// The first element that differs, in words ("output 1, element 3: 2 where the reference has 4"), or empty. `names`: of the
// outputs; empty: they are numbered.
std::string difference(const std::vector<Array>& got, const std::vector<Array>& wanted,
                       const std::vector<std::string>& names = {});

// Who wrote that element last, as words that go on behind difference(): ", which thread (2,0,0) of block (0,0,0) wrote last
// at sum.cu:7, as 2 + 2". The kernel runs again on the same arguments; "" where that does not tell.
std::string who_wrote_it(const ptx::Program& kernel, simt::LaunchConfig config,
                         const std::vector<scene::KernelArgument>& arguments, const std::string& source,
                         const std::vector<Array>& got, const std::vector<Array>& wanted);

// The runs that check= may ask for, each made once: the learner's own "", "reference" and "starter".
class ExerciseRuns {
  public:
    using Make = std::function<Result<scene::SceneResult>(const std::string& run)>;
    explicit ExerciseRuns(Make make) : make_(std::move(make)) {}

    Result<scene::SceneResult> of(const std::string& run);
    bool has(const std::string& run) const { return results_.count(run) != 0; }
    Result<double> figure(const scene::FigureName& name);
    // The same; but what a learner's program lacks or does not reach is no mistake of the lesson where the reference has it:
    // it is NaN.
    Result<double> figure_or_nan(const scene::FigureName& name);

  private:
    Make make_;
    std::map<std::string, scene::SceneResult> results_;
};

struct Judging {
    scene::Expression::Lookup lookup;  // of figures
    std::string wrong, right;          // why the outputs are not the reference's; the words for when they are
    // Figures that are known however wrong the outputs are, each with the sentence that says where its number comes from:
    // races, hazards. An empty sentence says nothing.
    std::map<std::string, std::function<std::string()>> causes = {};
    // Of a starter, to see which clauses are left to do: its counters are read however wrong its outputs are.
    bool measure_anyway = false;
};
// Every clause of check= into the report, with its lines and points. A Diagnostic is a mistake in the lesson.
std::optional<Diagnostic> judge_clauses(ExerciseReport& report, const scene::Expression& check, const Judging& how);

// A mistake of the lesson without a place of its own stands at the exercise.
Diagnostic placed(const Exercise& exercise, Diagnostic problem);

// The number of inputs="random:3, edges", at most 20: of programs, to which edges means nothing.
int random_fillings(const Exercise& exercise);

ExerciseReport empty_report(const Exercise& exercise);
// A report with one clause that failed before anything could run.
ExerciseReport refused(const Exercise& exercise, const std::string& clause, const std::string& detail);

Result<ExerciseReport> check_host_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                           const std::string& file, const scene::RunOptions& options,
                                           bool is_starter = false);
Result<ExerciseReport> check_tape_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                           const std::string& file, const scene::RunOptions& options,
                                           bool is_starter = false);
Result<ExerciseReport> check_training_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                               const std::string& file, const scene::RunOptions& options);
Result<ExerciseReport> check_parallel_exercise(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                               const std::string& file, const scene::RunOptions& options);

}  // namespace lockstep::lessons
