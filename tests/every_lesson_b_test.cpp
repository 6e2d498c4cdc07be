// The lessons on learning, each by its own proof.
#include "tests/lesson_proof.h"

TEST_CASE("every lesson on learning passes its check") {
    prove_lessons('B', 12);
}
