// Where a statement of CUDA source ends: what decides whether a branch went past an if or was an early return.
#include "core/simt/check/source_text.h"

#include "tests/catch.h"

namespace simt_source_text_test {

using namespace lockstep::simt;

namespace {

const std::string text = R"(__global__ void k(float *x, int n) {
    int t = threadIdx.x;   // if (t) in a comment
    if (t >= n) return;
    if (t < n &&
        x[t] > 0) {
        x[t] = 0;  /* } */
        __syncthreads();
    } else if (t == 5)
        x[t] = ')';
    else {
        const char *s = "}{";
    }
    for (int i = 0; i < n; ++i)
        if (x[i] > 2) break;
    while (x[t] < 3) { x[t] += 1; }
    x[t] = 1;
    if (
)";

}  // namespace

TEST_CASE("a statement ends where its else ends, whatever stands in comments and strings") {
    const auto early = statement_in(text, 3);
    REQUIRE(early);
    CHECK((early->keyword == "if" && early->last == 3 && early->returns && !early->breaks));
    const auto chain = statement_in(text, 4);
    REQUIRE(chain);
    CHECK((chain->first == 4 && chain->last == 12 && !chain->returns));
    const auto loop = statement_in(text, 13);
    REQUIRE(loop);
    CHECK((loop->keyword == "for" && loop->last == 14 && loop->breaks));
    CHECK(statement_in(text, 15)->last == 15);
}

TEST_CASE("a line without a condition has no statement, nor has one that does not end, or that is not there") {
    CHECK_FALSE(statement_in(text, 2));
    CHECK_FALSE(statement_in(text, 16));
    CHECK_FALSE(statement_in(text, 17));
    CHECK_FALSE(statement_in(text, 100));
    CHECK_FALSE(statement_in("", 1));
}

}  // namespace simt_source_text_test
