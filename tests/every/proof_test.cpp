// Every exercise of every lesson has its proofs: two right ways besides the solution and three wrong ones. What they come to
// is `lesson check`'s to see (lesson_a_test.cpp and its like); here they are counted.
#include <algorithm>

#include "lessons/player/check.h"
#include "tests/catch.h"

namespace every_proof_test {

using namespace lockstep;
using namespace lockstep::lessons;

TEST_CASE("every exercise is proved by two other right ways and three wrong ones") {
    size_t exercises = 0;
    for (const std::filesystem::path& folder : lesson_folders()) {
        const Lesson lesson = load_lesson(folder).value();
        for (const Step& step : lesson.steps)
            for (const Exercise& exercise : step.exercises) {
                const std::vector<std::string> files = proofs_of(lesson, exercise);
                const auto right = std::count_if(files.begin(), files.end(), [](const std::string& file) {
                    return file.find("_right_") != std::string::npos;
                });
                INFO(lesson.id << " " << exercise.id);
                CHECK(right >= 2);
                CHECK(static_cast<ptrdiff_t>(files.size()) - right >= 3);
                ++exercises;
            }
    }
    CHECK(exercises >= 70);
}

}  // namespace every_proof_test
