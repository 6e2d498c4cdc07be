// The lessons on one GPU, each by its own proof.
#include "tests/lesson_proof.h"

TEST_CASE("every lesson on one GPU passes its check") {
    prove_lessons('A', 16);
}
