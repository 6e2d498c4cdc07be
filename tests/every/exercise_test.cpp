// Every exercise with a kernel, by every compiler that this computer has: nobody's points hang on which one that is.
#include "core/base/files.h"
#include "lessons/player/check.h"
#include "tests/catch.h"
#include "tests/compilers_here.h"

namespace every_exercise_test {

using namespace lockstep;
using namespace lockstep::lessons;
using namespace lockstep::scene;

namespace {

// Every third exercise from `first` on, or each where all is asked for. Returns how many there are.
size_t judge_all(const std::string& compiler, size_t first) {
    size_t exercises = 0;
    for (const std::filesystem::path& folder : lesson_folders()) {
        const Lesson lesson = load_lesson(folder).value();
        for (const Step& step : lesson.steps)
            for (const Exercise& exercise : step.exercises) {
                if (std::filesystem::path(exercise.file).extension() != ".cu") continue;
                if (!sampled(first + exercises++, 3)) continue;
                for (const bool right : {true, false}) {
                    const std::filesystem::path file = right ? folder / "solution" / exercise.file : folder / exercise.file;
                    const auto report =
                        check_submission(lesson, exercise, read_file(file).value(), exercise.file, {.compiler = compiler});
                    REQUIRE(report.ok());
                    INFO(lesson.id << " " << exercise.id << (right ? ", the solution" : ", the starter") << " by "
                                   << compiler);
                    for (const std::string& line : report.value().lines) UNSCOPED_INFO(line);
                    CHECK(report.value().passed == right);
                }
            }
    }
    return exercises;
}

}  // namespace

TEST_CASE("every exercise passes its solution and fails its starter when clang compiles them") {
    if (compiler_here("clang")) CHECK(judge_all("clang", 0) >= 38);
}

TEST_CASE("every exercise passes its solution and fails its starter when NVRTC compiles them") {
    if (compiler_here("nvrtc")) CHECK(judge_all("nvrtc", 1) >= 38);
}

}  // namespace every_exercise_test
