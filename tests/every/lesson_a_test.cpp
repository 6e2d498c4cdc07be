// The lessons on one GPU, each by its own proof.
#include "tests/lesson_proof.h"

namespace every_lesson_a_test {

TEST_CASE("every lesson on one GPU passes its check") {
    prove_lessons('A', 16);
}

}  // namespace every_lesson_a_test
