// Whom a GPU talks to: its groups are found again by taking every rank's number apart, bytes are the planner's figures and
// for tensor parallelism those of the formula, and the picture reads at any size and hides amounts while a question is open.
#include <set>
#include <tuple>

#include "app/gui/views/cluster/mesh_groups.h"
#include "core/scene/cluster/parallel_scene.h"
#include "tests/gui/rows_desk.h"

namespace gui_groups_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

constexpr const char* four_axes =
    "llama3-8b name=four dp=2 tp=4 cp=2 pp=2 zero=1 sequence_parallel=1 context=balanced_ring sequence=8192 batch=32";
constexpr const char* large =
    "llama3-405b name=tp_8 dp=64 tp=8 pp=16 zero=2 sequence_parallel=1 schedule=interleaved chunks=8 link=ib-ndr "
    "sequence=8192 batch=2048; llama3-405b name=tp_16 dp=32 tp=16";

const parallel::PlanResult& plan_of(const RowsDesk& desk, size_t row) {
    return *desk.result.as<scene::ParallelScene>()->rows[row].plan;
}
const AxisTalk& axis_of(const GpuTalk& talk, std::string_view axis) {
    for (const AxisTalk& one : talk.axes)
        if (one.axis == axis) return one;
    FAIL("no axis " << axis);
    return talk.axes.front();
}

}  // namespace

TEST_CASE("a GPU's groups are those whose numbers differ in one place: tensor innermost, then context, data, pipeline") {
    RowsDesk desk("plan", four_axes, "groups", false);
    struct Place {
        int tp, cp, dp, pp;
    };
    const auto place = [](int gpu) { return Place{gpu % 4, gpu / 4 % 2, gpu / 8 % 2, gpu / 16}; };
    for (int gpu = 0; gpu < 32; ++gpu) {
        const GpuTalk talk = gpu_talk(plan_of(desk, 0), gpu);
        REQUIRE(talk.axes.size() == 4);
        std::set<int> tensor, context, data, pipeline;
        const Place here = place(gpu);
        for (int other = 0; other < 32; ++other) {
            if (other == gpu) continue;
            const Place there = place(other);
            const bool tp = there.tp == here.tp, cp = there.cp == here.cp, dp = there.dp == here.dp,
                       pp = there.pp == here.pp;
            if (cp && dp && pp) tensor.insert(other);
            if (tp && dp && pp) context.insert(other);
            if (tp && pp) data.insert(other);  // gradients are summed over the batch's and the sequence's parts
            if (tp && cp && dp) pipeline.insert(other);
        }
        const auto same = [&](std::string_view axis, const std::set<int>& wanted) {
            const std::vector<int>& with = axis_of(talk, axis).with;
            CHECK(std::set<int>(with.begin(), with.end()) == wanted);
            bool inside = true;
            for (const int other : wanted) inside = inside && other / 8 == gpu / 8;
            CHECK(axis_of(talk, axis).in_node == inside);
        };
        same("tp", tensor);
        same("cp", context);
        same("dp", data);
        same("pp", pipeline);
    }
    CHECK(talk_number(gpu_talk(plan_of(desk, 0), 13)) == "13 = 1 + 4 · (1 + 2 · (1 + 2 · 0))");
}

TEST_CASE("bytes and times are the planner's figures, those that stay in the node add up") {
    RowsDesk desk("plan", large, "groups", false);
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    for (size_t row = 0; row < 2; ++row) {
        const GpuTalk talk = gpu_talk(*rows[row].plan, middle_gpu(*rows[row].plan));
        double all = 0, inside = 0;
        for (const AxisTalk& axis : talk.axes) {
            const std::string name(axis.axis);
            CHECK(axis.bytes == rows[row].figures.at("bytes@axis:" + name));
            CHECK(axis.us == rows[row].figures.at("us@axis:" + name));
            CHECK(axis.exposed_us == rows[row].figures.at("exposed_us@axis:" + name));
            all += axis.bytes;
            inside += (1 - axis.leaving) * axis.bytes;
        }
        CHECK(talk.share_in_node() == Approx(inside / all));
        CHECK(axis_of(talk, "dp").with.size() == (row == 0 ? 63u : 31u));
        CHECK(axis_of(talk, "pp").with.size() == 2);
        CHECK(axis_of(talk, "tp").in_node == (row == 0));  // sixteen GPUs share no node of eight
        CHECK(talk.nodes() == 1024);
    }
    CHECK_THAT(talk_headline(gpu_talk(plan_of(desk, 0), 0)), Catch::Matchers::Contains("stay in its node"));
}

TEST_CASE("of a tensor group of sixteen over nodes of eight, one hop in eight leaves the node") {
    RowsDesk desk("plan", large, "groups", false);
    const GpuTalk talk = gpu_talk(plan_of(desk, 1), 2725);
    CHECK(axis_of(talk, "tp").leaving == Approx(1.0 / 8));
    CHECK(axis_of(talk, "dp").leaving == 1);
    CHECK(axis_of(talk, "pp").leaving == 1);
    CHECK(talk.share_in_node() > 0.8);
    CHECK(talk_headline(talk) == "In its tensor ring 1 hop in 8 leaves the node, and all wait for it");
    desk.shell.show_alone("groups");
    desk.frames(3);
    REQUIRE(desk.click_on("tp 16"));
    CHECK(desk.shell.describe("groups").find("tensor (tp): with 15 others, 1 hop in 8 leaves its node") !=
          std::string::npos);
}

TEST_CASE("a click on a node looks from its GPU, and chips choose the plan") {
    RowsDesk desk("plan", large, "groups", false);
    desk.shell.show_alone("groups");
    desk.frames(3);
    CHECK(desk.shows("bytes stay in its node"));
    CHECK(desk.shows("1,024 nodes"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    CHECK(desk.quads < 8000);
    const std::string before = desk.shell.describe("groups");
    desk.key(KeyCode::d);
    CHECK(desk.shell.describe("groups") != before);
    REQUIRE(desk.shows("What GPU 2,731 sends in a step"));
    REQUIRE(desk.click_on("2,733"));
    CHECK(desk.shows("What GPU 2,733 sends in a step"));
    for (const UiState::Written& text : desk.written)
        if (text.text == "The machine") {  // its first node lies below
            desk.click(text.ink.x + 27, text.ink.bottom() + 14);
            break;
        }
    CHECK(desk.shows("What GPU 5 sends in a step"));
    REQUIRE(desk.click_on("tp 16"));
    CHECK(desk.shows("1 hop in 8 leaves the node"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("amounts of a GPU's groups are hidden while a question is open") {
    RowsDesk asked("plan", large, "groups", true);
    const std::string said = asked.shell.describe("groups");
    CHECK(said.find("hidden until you lock") != std::string::npos);
    CHECK(said.find("exposed") == std::string::npos);
    CHECK(said.find("stay") == said.find("stays hidden"));
    CHECK(!asked.shows("GB/s"));
    CHECK(!asked.shows("stay in its node"));
    CHECK(asked.clashes() == std::vector<std::string>{});
}

TEST_CASE("no text of a GPU's groups clashes at any size", "[long]") {
    for (const char* rows : {large, four_axes})
        for (const auto& [width, height, scale] :
             {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
            RowsDesk desk("plan", rows, "groups", false);
            desk.size(width, height, scale);
            desk.frames(6);
            INFO(width << " x " << height << " at " << scale);
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
}

}  // namespace gui_groups_test
