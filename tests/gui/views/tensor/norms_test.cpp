// Batch norm across ranks: what the picture works out is what the engine's kernels made, statistics are those of the
// numbers, and the picture reads at any size and hides what values become while that is asked.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/gui/views/tensor/norm_groups.h"
#include "core/scene/tape/tape_program.h"
#include "tests/gui/desk.h"

namespace gui_norms_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

NormGroups norm_of(const std::string& text) {
    const auto parsed = scene::parse_tape(text, "norm.tape");
    REQUIRE(parsed.ok());
    const auto run = scene::run_tape(parsed.value(), {});
    REQUIRE(run.ok());
    const auto norm = norm_groups(*run.value());
    REQUIRE(norm);
    return *norm;
}

}  // namespace

TEST_CASE("the picture's arithmetic is the engine's, for any groups, weights and channels") {
    for (const int groups : {1, 2, 4, 6})
        for (const int channels : {1, 3}) {
            INFO(groups << " groups, " << channels << " channels");
            const std::string list = channels == 1 ? "{2}" : "{2, 1, 1}", more = channels == 1 ? "{-0.5}" : "{-0.5, 0, 0}";
            const NormGroups norm = norm_of(fmt::format(
                "param x[12,{0}] = random\nparam g = {1}\nparam b = {2}\nz = x * 3 + 1\ny = batch_norm(z, g, b, {3})\n",
                channels, list, more, groups));
            CHECK(norm.groups == groups);
            CHECK(norm.channels == channels);
            REQUIRE(norm.examples() == 12);
            const std::vector<double> mine = normalised(norm, groups);
            for (size_t i = 0; i < mine.size(); ++i) CHECK(mine[i] == Approx(norm.y[i]).margin(1e-5));
        }
}

TEST_CASE("eight numbers in pairs become -1 and +1; together the 13 lies 2.07 deviations above the mean") {
    const NormGroups pairs = norm_of(
        "param x[8,1] = {1, 2, 3, 6, 2, 4, 9, 13}\nparam g = {1}\nparam b = {0}\n"
        "y = batch_norm(x, g, b, 4)\n");
    for (const double y : pairs.y) CHECK(std::abs(y) == Approx(1).margin(1e-3));
    CHECK(normalised(pairs, 1).back() == Approx(8 / std::sqrt(15.0)).epsilon(1e-5));
    const NormStatistics all = norm_statistics(pairs.x, 1).front();
    CHECK(all.mean == 5);
    CHECK(all.square == 15);
    double within = 0;
    for (const NormStatistics& one : norm_statistics(pairs.x, 4)) within += one.square / 4;
    CHECK(within == 1.875);
    CHECK(norm_headline(pairs, 1) == "Alone, every pair becomes −1 and +1");
    CHECK(norm_difference(pairs, 1) == "The 9 lies at −1.00 with each pair alone, at 1.03 with all together.");
    CHECK(possible_groups(8) == std::vector<int>{1, 2, 4});
}

TEST_CASE("the lesson's pairs stand beside all together, an example can be picked, and nothing is told while it is asked") {
    {
        Desk desk({.lesson = "C11", .lesson_step = 0});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        const std::string said = desk.shell.describe("norms");
        REQUIRE(desk.session.learn.reveal_steps >= 0);
        CHECK(said.find("2.07") == std::string::npos);
        CHECK(said.find("hidden until you lock") != std::string::npos);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    Desk open({.lesson = "C11", .lesson_step = 1});
    open.session.workspace = Workspace::learn;
    open.settle();
    CHECK(open.shows("Synchronised, order and distances stay"));
    CHECK(open.shows("mean 5"));
    open.shell.show_alone("norms");
    open.frames(3);
    CHECK(open.clashes() == std::vector<std::string>{});
    open.key(KeyCode::d);
    CHECK(open.shows("Example 0, 1. With all together: mean 5, deviation 3.87, so −1.03."));
    REQUIRE(open.click_on("2 ranks"));
    CHECK(open.shows("each 4 alone"));
    CHECK(open.clashes() == std::vector<std::string>{});
}

TEST_CASE("no text of batch norm across ranks clashes at any size", "[long]") {
    for (const auto& [width, height, scale] :
         {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
        Desk desk({.lesson = "C11", .lesson_step = 1});
        desk.session.workspace = Workspace::learn;
        desk.size(width, height, scale);
        desk.settle();
        INFO(width << " x " << height << " at " << scale);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("one GPU's batch norm goes in two steps and names no ranks; a mean stands clear of its picture's title") {
    Desk desk({.lesson = "B10", .lesson_step = 4});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("6 is 3 from the mean, which is 1.60 deviations"));
    for (const char* words : {"mean taken off", "divided by 1.87", "1.60"}) CHECK(desk.shows(words));
    CHECK_FALSE(desk.shows("2 ranks"));
    for (const int step : {4, 5}) {
        desk.session.lesson.step = step;
        desk.session.post(ask::ShowLessonStep{step});
        desk.settle();
        for (const auto& [width, height] : {std::pair{1600.f, 1000.f}, {1280.f, 720.f}}) {
            desk.size(width, height, 1);
            desk.frames(3);
            INFO("step " << step + 1 << " at " << width << " x " << height);
            CHECK(desk.shows("mean 3"));
            CHECK(desk.clashes() == std::vector<std::string>{});
            const auto mean = std::find_if(desk.written.begin(), desk.written.end(),
                                           [](const UiState::Written& text) { return text.text == "mean 3"; });
            for (const UiState::Written& text : desk.written)
                if (text.text.ends_with("together") || text.text.ends_with("pair alone"))
                    CHECK(mean->ink.y > text.ink.bottom() + 2);
        }
    }
}

}  // namespace gui_norms_test
