// The lessons on many GPUs, each by its own proof.
#include "tests/lesson_proof.h"

namespace every_lesson_c_test {

TEST_CASE("every lesson on many GPUs passes its check") {
    prove_lessons('C', 12);
}

}  // namespace every_lesson_c_test
