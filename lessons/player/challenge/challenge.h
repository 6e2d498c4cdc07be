// The challenge at a lesson's end: one of its exercises, a kernel at a size where the better code is faster, or a program, a
// schedule, a collective, a plan as it is; one figure of it, and three medals. Bronze is what the lesson's solution takes,
// gold what a better file takes (solution/gold_*), silver the geometric mean of the two; two percent of grace for the same
// idea written another way. A medal needs every clause of the exercise, and right outputs at the challenge's size.
#pragma once
#include <functional>

#include "lessons/player/exercise.h"

namespace lockstep::lessons {

// The exercise of the lesson's challenge; null: the lesson has none.
const Exercise* challenged(const Lesson& lesson);
// Where the challenge's figure comes from: "simulated", of a plan "derived", of training "executed".
std::string_view provenance_of_challenge(const Lesson& lesson);

// The medals' limits, each reference run on the challenge's size. `compiled_here`: by this computer's compiler, else as
// their checked-in PTX is. A Diagnostic is a mistake in the lesson.
Result<MedalLimits> medal_limits(const Lesson& lesson, const scene::RunOptions& options = {}, bool compiled_here = false);

// What one file takes at the challenge's size, and why its outputs are wrong there; `judge` judges that file.
struct AtSize {
    double figure = 0;
    std::string wrong;
};
using JudgeAtSize = std::function<Result<ExerciseReport>(const Exercise& at_size)>;
Result<AtSize> at_challenge_size(const Lesson& lesson, const JudgeAtSize& judge);
// The same of a file of the lesson's folder, such as its starter.
Result<AtSize> at_challenge_size(const Lesson& lesson, const std::string& file, const scene::RunOptions& options,
                                 bool compiled_here);

// The medal of what passed the exercise, which is not judged again where the challenge has no size of its own. The limits
// are kept in `known`.
Result<MedalWon> medal_of(const Lesson& lesson, const ExerciseReport& passed, const JudgeAtSize& judge,
                          const scene::RunOptions& options, bool compiled_here, Yardstick& known);

}  // namespace lockstep::lessons
