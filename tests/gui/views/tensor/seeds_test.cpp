// Runs that differ by their seed are one group, and the lesson's picture has a dot for each.
#include "app/gui/views/training/seed_groups.h"
#include "tests/gui/lesson_desk.h"

namespace gui_seeds_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("runs that differ by their seed are one group with their mean") {
    const auto curve = [](const char* name, double accuracy, std::vector<double> loss) {
        Curve one;
        one.name = name;
        one.loss = std::move(loss);
        one.accuracy = {nn::Evaluation{.accuracy = accuracy, .measures = {}}};
        return one;
    };
    const std::vector<Curve> curves = {curve("batch 64 1", 0.9, {3, 1}), curve("LARS", 0.5, {2}),
                                       curve("batch 64 2", 0.8, {1, 0, 7}), curve("batch 64 11", 0.7, {2, 2})};
    const auto groups = seed_groups(curves);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].name == "batch 64");
    CHECK(groups[0].runs == 3);
    CHECK(groups[0].mean() == Approx(0.8));
    CHECK(groups[0].low() == Approx(0.7));
    CHECK(groups[0].high() == Approx(0.9));
    REQUIRE(groups[0].losses.size() == 3);
    CHECK(groups[0].losses[1] == std::vector<double>{1, 0, 7});
    REQUIRE(groups[0].loss.size() == 2);
    CHECK(groups[0].loss[0] == Approx(2));
    CHECK(groups[0].loss[1] == Approx(1));
    CHECK(groups[1].name == "LARS");
}

}  // namespace gui_seeds_test
