// Attention in parts: the sums of both halves of the keys are those of all keys, in the data and in the picture.
#include <cmath>

#include "app/gui/views/tensor/attention/joined_parts.h"
#include "tests/gui/lesson_desk.h"

namespace gui_joined_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("the sums over parts of the keys add up, and their quotient is the output") {
    const auto step = step_of(
        "input q[3,4] = random\nparam K1[5,4] = random\nparam K2[5,4] = random\nparam V1[5,2] = random\n"
        "param V2[5,2] = random\ninput ones[5,1] = 1\ne1 = exp(matmul_t(q, K1))\ne2 = exp(matmul_t(q, K2))\n"
        "n = matmul(e1, V1) + matmul(e2, V2)\nd = matmul(e1, ones) + matmul(e2, ones)\no = n / d\nz = sum(o * o)\n"
        "backward z\n");
    const JoinedParts joined = joined_parts(*step);
    REQUIRE(!joined.empty());
    REQUIRE(joined.parts.size() == 2);
    for (int64_t q = 0; q < 3; ++q) {
        double sum = 0;
        for (const KeysPart& part : joined.parts) {
            double of_part = 0;
            for (int64_t k = 0; k < 5; ++k) of_part += static_cast<double>(part.powers.at(q, k));
            CHECK(static_cast<double>(part.denominator.at(q, 0)) == Approx(of_part).epsilon(1e-5));
            sum += of_part;
        }
        CHECK(static_cast<double>(joined.denominator.at(q, 0)) == Approx(sum).epsilon(1e-5));
        for (int64_t c = 0; c < 2; ++c)
            CHECK(joined.output.at(q, c) == Approx(joined.numerator.at(q, c) / joined.denominator.at(q, 0)).epsilon(1e-5));
    }
    CHECK(joined_parts(*step_of("input x[2,2] = random\nz = sum(x * x)\n")).empty());
}

TEST_CASE("parts that are already divided stand beside what they should come to") {
    Desk desk({.lesson = "C07", .lesson_step = 9});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("o is off the attention over all keys by up to "));
    CHECK(desk.shows("all keys at once"));
    CHECK(said_by(desk, "joined").find("GPU 3, o3:") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("the two halves of the keys are a picture, query by query") {
    Desk desk({.lesson = "C07", .lesson_step = 2});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("d of query 1: 4.238 + 9.506 = 13.74"));
    CHECK(said_by(desk, "joined").find("GPU 2, d2:") != std::string::npos);
    reads_at_any_size(desk);
    REQUIRE(desk.click_on("0.537"));  // of e1's second row
    CHECK(desk.shows("d of query 2: "));
}

}  // namespace gui_joined_test
