// The lessons on learning, each by its own proof.
#include "tests/lesson_proof.h"

namespace every_lesson_b_test {

TEST_CASE("every lesson on learning passes its check") {
    prove_lessons('B', 12);
}

}  // namespace every_lesson_b_test
