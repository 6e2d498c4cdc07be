// Judging a learner's kernel against the reference: the same launches of both, on every shape and every kind of input,
// outputs compared element by element; then one timed launch for the counters that `check=` names.
//
// A learner's kernel runs with memcheck, racecheck, initcheck and synccheck, and its shared memory begins with bytes that
// are no zeros: what a checker finds is as wrong as a wrong output, unless the exercise has it in allow=. Findings of
// racecheck belong to the clause about `races`, where there is one.
//
// The clauses that the starter does not hold share the points. One that it holds is required: without it there are none.
//
// In `check=`: outputs == reference, and any figure of core/scene/figures/figures.h, of the learner's kernel, or with
// @run:reference or
// @run:starter of those. `inputs=`: "random:5, edges": five seeded random fillings; edges adds zeros, a ramp and extreme
// values.
#pragma once
#include <atomic>
#include <map>

#include "core/scene/run.h"
#include "lessons/player/challenge/medal.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {

struct Clause {        // one term of check=
    std::string text;  // "lanes_per_issue >= 31"
    bool holds = false;
    std::string detail;                // "17.1, 31 is needed"; for outputs: the first element that differs, on which input
    bool required = false;             // the starter holds it: it earns nothing, and without it nothing is earned
    double points = 0, of_points = 0;  // of the others, which share the exercise's points
};
struct ExerciseReport {
    std::string exercise;  // id
    bool passed = false;
    double points = 0, of_points = 0;
    int launches = 0;  // how many of the learner's kernel ran
    std::vector<Clause> clauses;
    std::optional<simt::Fault> fault;         // of the learner's kernel
    std::optional<scene::SceneResult> timed;  // what was measured
    std::optional<MedalWon> medal;            // of what passed, where the lesson's challenge is this exercise
    std::vector<std::string> lines;           // the report, ready to print
};

// Processor time of this process that goes into what is worked out once for all, and is no submission's own. Whoever times
// the submission asks on another thread.
class TimeForAll {
  public:
    double seconds() const;
    class Piece {  // what is done while it lives is for all; one inside of another counts once
      public:
        explicit Piece(TimeForAll& of);
        ~Piece();
        Piece(const Piece&) = delete;
        Piece& operator=(const Piece&) = delete;

      private:
        TimeForAll& of_;
        const bool outermost_;
    };

  private:
    std::atomic<double> spent_{0}, since_{-1};  // since: of the piece under way, by system::process_seconds
};

// What every submission to one exercise is held against, worked out when it is first needed. Of one lesson, one exercise and
// one compiler, for one thread at a time.
struct Yardstick {
    std::optional<std::vector<bool>> starter;  // which clauses of check= the starter holds; empty: it cannot be judged
    std::map<std::string, std::vector<Array>> outputs;                    // of the reference, by launch
    std::map<std::string, scene::SceneResult> runs;                       // of kernels: "reference", "starter"
    std::map<std::string, std::shared_ptr<const ptx::Program>> programs;  // the same
    std::optional<MedalLimits> medals;                                    // of the lesson's challenge
    TimeForAll time;                                                      // that all of this took
};

// Judges a decoded kernel; `source` is its CUDA text, for views. A Diagnostic is a mistake in the lesson, not in the
// learner's kernel. `compiled_here`: by this computer's compiler, and so are the runs that its counters are compared with:
// one compiler unrolls a loop that another leaves alone. `known`: null where nothing is kept from one call to the next.
Result<ExerciseReport> check_exercise(const Lesson& lesson, const Exercise& exercise,
                                      const std::shared_ptr<const ptx::Program>& kernel,
                                      const scene::RunOptions& options = {}, const std::string& source = {},
                                      bool compiled_here = false, Yardstick* known = nullptr);
// Judges a learner's text. One that does not compile fails with the compiler's diagnostic in the report.
Result<ExerciseReport> check_submission(const Lesson& lesson, const Exercise& exercise, const std::string& text,
                                        const std::string& file, const scene::RunOptions& options = {},
                                        Yardstick* known = nullptr);

}  // namespace lockstep::lessons
