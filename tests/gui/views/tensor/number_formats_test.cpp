// Number formats: largest and least numbers are the published ones, rounding is that of the engine's own conversions, and
// the picture reads at any size and tells nothing while its question is open.
#include "app/gui/views/tensor/number_formats.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "core/base/dtype.h"
#include "tests/gui/desk.h"

namespace gui_number_formats_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

const NumberFormat& format_named(std::string_view name) {
    for (const NumberFormat& format : number_formats())
        if (format.name == name) return format;
    FAIL("no format " << name);
    return number_formats().front();
}

}  // namespace

TEST_CASE("each type ends and begins where its bits and its papers say") {
    CHECK(format_named("f32").largest() == static_cast<double>(std::numeric_limits<float>::max()));
    CHECK(format_named("f32").least() == static_cast<double>(std::numeric_limits<float>::denorm_min()));
    CHECK(format_named("bf16").largest() == Approx(3.3895314e38).epsilon(1e-7));
    CHECK(format_named("tf32").largest() == Approx(3.4011621e38).epsilon(1e-7));
    CHECK(format_named("f16").largest() == 65504);
    CHECK(format_named("f16").least_normal() == std::ldexp(1, -14));
    CHECK(format_named("f16").least() == std::ldexp(1, -24));
    CHECK(format_named("e4m3").largest() == 448);
    CHECK(format_named("e4m3").least() == std::ldexp(1, -9));
    CHECK(format_named("e5m2").largest() == 57344);
    CHECK(format_named("e5m2").least() == std::ldexp(1, -16));
}

TEST_CASE("a number becomes what the engine's conversions make of it") {
    std::mt19937 random(7);
    std::vector<float> values = {257, 2e-8f, 65504,    65519, 65520,    1e30f, -1.4f,
                                 0,   0.1f,  3.39e38f, 6e-8f, 2.98e-8f, 2049,  2051};
    for (int i = 0; i < 20'000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
        if (std::isfinite(value)) values.push_back(value);
        values.push_back(std::ldexp(static_cast<float>(random()) / 4e9f, static_cast<int>(random() % 40) - 25));
    }
    for (const float value : values) {
        INFO(value);
        CHECK(nearest_in(format_named("f16"), value) == static_cast<double>(f16_to_f32(f32_to_f16(value))));
        CHECK(nearest_in(format_named("bf16"), value) == static_cast<double>(bf16_to_f32(f32_to_bf16(value))));
        CHECK(nearest_in(format_named("f32"), value) == static_cast<double>(value));
    }
    CHECK(nearest_in(format_named("e4m3"), 1.4) == 1.375);
    CHECK(nearest_in(format_named("e5m2"), 1.4) == 1.5);
    CHECK(nearest_in(format_named("e4m3"), 257) == 256);
    CHECK(std::isinf(nearest_in(format_named("e4m3"), 1000)));
    CHECK(step_at(format_named("bf16"), 257) == 2);
    CHECK(step_at(format_named("f16"), 1e-9) == std::ldexp(1, -24));
}

TEST_CASE("the lesson's formats read at any size, go from number to number, and tell nothing while a question is open") {
    Desk desk({.lesson = "B12", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto said = [&] { return view_named("formats")->make()->describe(desk.session, desk.shell.focus); };
    CHECK(desk.shows("2e-8 becomes 0 in f16"));  // the launch's first lane has it
    CHECK(said().find("2e-8 becomes 0 in f16") != std::string::npos);
    for (const auto& [w, h, scale] :
         {std::tuple{1600.0f, 1000.0f, 1.0f}, {1280.0f, 720.0f, 1.0f}, {1600.0f, 1000.0f, 2.0f}}) {
        desk.size(w, h, scale);
        desk.frames(3);
        INFO(w << " x " << h << " at " << scale);
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
    desk.size(1600, 1000, 1);
    desk.frames(3);
    REQUIRE(desk.click_on("257"));
    CHECK(desk.shows("257 becomes 256 in bf16"));
    REQUIRE(desk.click_on("65,520"));
    CHECK(desk.shows("65,520 is too large for f16"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    desk.session.learn.reveal_steps = 0;
    CHECK(said().find("becomes") == said().find("becomes is hidden"));
}

TEST_CASE("above a sketch in a small window all formats stand, without numbers to pick") {
    Desk desk({.lesson = "B12", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.size(1280, 720, 1);
    desk.settle();
    for (const char* name : {"f32", "tf32", "bf16", "f16", "e4m3", "e5m2"}) {
        INFO(name);
        CHECK(desk.shows(name));
    }
    CHECK_FALSE(desk.shows("65,520"));
    CHECK(desk.shows("What becomes of 257?"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("a number that formats round to different ones is told of each") {
    Desk desk({.lesson = "BX", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    desk.shell.focus.lane = 1;
    desk.session.learn.reveal_steps = -1;
    CHECK(view_named("formats")
              ->make()
              ->describe(desk.session, desk.shell.focus)
              .find("2,051 becomes 2,048 in bf16, 2,052 in tf32 and f16") != std::string::npos);
}

TEST_CASE("a number that becomes the same in several formats is said to do so in all of them") {
    Desk desk({.lesson = "A13", .lesson_step = 12});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    desk.frames(3);
    CHECK(desk.shows("2,049 becomes 2,048 in tf32, bf16 and f16"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("a gradient that was scaled is said to come through") {
    Desk desk({.lesson = "B12", .lesson_step = 2});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    desk.frames(3);
    CHECK(desk.shows("1,024 × 2e-8 comes through in tf32, bf16 and f16, off 0.12 % at most"));
}

TEST_CASE("a number that all lanes have is shown whichever lane is looked at") {
    Desk desk({.lesson = "A13", .lesson_step = 10});
    desk.session.workspace = Workspace::learn;
    desk.shell.focus.lane = 5;  // as the picture of a tensor core's lanes leaves it
    desk.settle();
    desk.frames(3);
    CHECK(desk.shows("0.1 becomes"));
}

}  // namespace gui_number_formats_test
