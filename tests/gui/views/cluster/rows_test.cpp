// Rows of many ranks as memory and as figures: a first row alone tells nothing of the others, each row says what it sends,
// and what is asked for comes first.
#include <cstdlib>
#include <cstring>

#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/figures/figure_table.h"
#include "tests/gui/rows_desk.h"

namespace gui_rows_test {

using namespace lockstep;
using namespace lockstep::gui;
using test::RowsDesk;

namespace {

constexpr const char* stages = "state parameters=7500000000 dp=64 zero=0; state name=os zero=1";
constexpr const char* llamas =
    "llama layers=1 width=32 heads=4 kv_heads=4 ffn=64 vocabulary=32 length=8 batch=4 steps=1 lr=0.001; llama name=two "
    "tp=2; "
    "llama name=halves dp=2";

std::string memory_of(const char* kind, const char* rows, const std::string& gpu = {}) {
    RowsDesk desk(kind, rows, "rank_memory", false);
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->cluster = scene::cluster_picture(desk.result, "C08, step 2", {}, gpu);
    desk.show(snapshot);
    return desk.shell.describe("rank_memory");
}
bool tells(const std::string& text, const char* what) {
    return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a model's state in one row is one stage alone, on the lesson's GPU") {
    const std::string one = memory_of("plan", "state parameters=7500000000 dp=64 zero=0", "h100");
    CHECK(tells(one, "plain: 120 GB"));
    CHECK(tells(one, "H100"));
    CHECK(!tells(one, "A100"));
    CHECK(!tells(one, "ZeRO"));
    CHECK(tells(memory_of("plan", "state parameters=7500000000 dp=64 zero=2"), "ZeRO-2: 16.6 GB"));
    const std::string all = memory_of("plan", stages);
    for (const char* stage : {"plain", "ZeRO-1", "ZeRO-2", "ZeRO-3"}) CHECK(tells(all, stage));
}

TEST_CASE("a row that cuts layers says how, and how many bytes it sends") {
    const std::string text = memory_of("parallel", llamas);
    const size_t two = text.find("  two: "), halves = text.find("  halves: ");
    REQUIRE(two != std::string::npos);
    REQUIRE(halves != std::string::npos);
    const std::string of_two = text.substr(two, text.find('\n', two) - two);
    CHECK(tells(of_two, "sharded: TP 2"));
    CHECK(tells(of_two, "; sends "));
    CHECK(tells(of_two, "a step"));
    CHECK(tells(text.substr(halves, text.find('\n', halves) - halves), "a rank sends 1 times the parameters a step"));
}

TEST_CASE("losses of runs with other batches are not held against each other") {
    const auto told = [](const char* rows) {
        RowsDesk desk("parallel", rows, "rows", false);
        return desk.shell.describe("rows");
    };
    CHECK(tells(told("mlp widths=16,32,8 name=one batch=32 steps=3 lr=0.1; name=two lr=0.2"), "losses off"));
    CHECK(!tells(told("mlp widths=16,32,8 name=small batch=8 steps=3 lr=0.1; name=large batch=32"), "losses off"));
}

TEST_CASE("a plan with tokens tells how long the whole run takes, and its energy") {
    const auto told = [](const char* rows) {
        RowsDesk desk("plan", rows, "rows", false);
        return desk.shell.describe("rows");
    };
    const std::string text = told("llama3-8b dp=8 tp=8 zero=1 sequence=8192 batch=64 tokens=15000");
    CHECK(tells(text, "whole run (days)"));
    CHECK(tells(text, "whole run (MWh)"));
    CHECK(tells(text, "the whole run takes "));
    CHECK(!tells(told("llama3-8b dp=8 tp=8 zero=1 sequence=8192 batch=64"), "whole run"));
}

TEST_CASE("of the bars below the rows those that are asked for come first") {
    RowsDesk desk("parallel", llamas, "rows", true);
    const auto first = [&](const char* of, const char* one, const char* other) {
        auto lesson = std::make_shared<lessons::Lesson>(*desk.session.lesson.lesson);
        lessons::Predict& predict = lesson->steps[0].predicts[0];
        predict.type = "bar";
        const auto parsed = scene::Expression::parse(of);
        REQUIRE(parsed.ok());
        predict.of = parsed.value();
        desk.session.lesson.lesson = lesson;
        const std::string text = view_named("rows")->make()->describe(desk.session, desk.shell.focus);
        REQUIRE(text.find(one) != std::string::npos);
        REQUIRE(text.find(other) != std::string::npos);
        CHECK(text.find(one) < text.find(other));
    };
    first("bytes_sent@row:two", "Sent by rank 0", "Memory of rank 0");
    first("weights@row:two", "Memory of rank 0", "Sent by rank 0");
    desk.session.learn.reveal_steps = -1;  // answered: the caption tells how far the rows are apart in it
    CHECK(tells(view_named("rows")->make()->describe(desk.session, desk.shell.focus), "  Memory of rank 0: two "));
}

TEST_CASE("what breaks adds up to the published stops, and a larger machine stops sooner in proportion") {
    const auto told = [](const char* plan) {
        RowsDesk desk("plan", plan, "breakdowns", false);
        CHECK(desk.clashes() == std::vector<std::string>{});
        return desk.shell.describe("breakdowns");
    };
    const std::string large = told("llama3-405b dp=128 tp=8 pp=16 zero=2 sequence=8192 batch=2048");
    CHECK(tells(large, "On 16,384 GPUs something breaks every 3.1 hours"));
    CHECK(tells(large, "table 5: 419 unplanned stops in 54 days"));
    CHECK(tells(told("llama3-8b dp=8 tp=8 zero=1 sequence=8192 batch=64"), "On 64 GPUs something breaks every 33 days"));
    int stops = 0;
    for (const char* cause : {"a GPU fails: ", "a GPU's memory: ", "software: ", "network switch, cable: ",
                              "a server's upkeep: ", "all else: "}) {
        const size_t at = large.find(cause);
        REQUIRE(at != std::string::npos);
        stops += std::atoi(large.c_str() + at + std::strlen(cause));
    }
    CHECK(stops == 419);
}

TEST_CASE("a headline tells how far rows are apart, and what is the same in every row is told once") {
    const auto told = [](const char* kind, const char* rows) {
        RowsDesk desk(kind, rows, "rows", false);
        return desk.shell.describe("rows");
    };
    const std::string networks =
        told("collective", "ring name=thin ranks=8 bytes=64000000 link=10gbe; ring name=wide link=nvlink4");
    CHECK(tells(networks, "  Bytes make the time, by bandwidth: thin takes 348 times as long as wide\n"));
    CHECK(tells(networks, "The same in every row: rounds 14 · sent a rank 112 MB · "));
    CHECK(!tells(told("collective", "ring ranks=8 bytes=64000000 link=10gbe; tree"), "rounds 14 ·"));
    CHECK(tells(told("plan", "llama3-8b dp=4 tp=16 sequence=8192 batch=64 link=10gbe"), " % of the memory of the fullest "));
    CHECK(tells(told("plan",
                     "llama3-8b name=whole dp=8 tp=8 zero=1 sequence_parallel=1 sequence=131072 batch=8; llama3-8b "
                     "name=cut dp=1 cp=8 context=balanced_ring"),
                "  whole does not fit by 4.518 GB; cut fits\n"));
}

TEST_CASE("the energy of a whole run is drawn by what the GPUs do meanwhile, and adds up to its figure") {
    const std::string plan = "llama3-8b name=8b dp=64 zero=3 link=ib-ndr sequence=8192 batch=64";
    {
        RowsDesk desk("plan", (plan + " tokens=15000").c_str(), "rows", false);
        const scene::FigureTable& table = desk.table();
        const auto energy =
            std::find_if(table.stacks.begin(), table.stacks.end(), [](const auto& one) { return one.unit == "MWh"; });
        REQUIRE(energy != table.stacks.end());
        CHECK(energy->provenance == "derived");
        const auto column =
            std::find_if(table.columns.begin(), table.columns.end(), [](const auto& one) { return one.unit == "MWh"; });
        REQUIRE(column != table.columns.end());
        CHECK(energy->total(0) ==
              Approx(table.rows[0].values[static_cast<size_t>(column - table.columns.begin())]).epsilon(1e-3));
    }
    RowsDesk none("plan", plan.c_str(), "rows", false);
    for (const auto& stack : none.table().stacks) CHECK(stack.unit != "MWh");
}

TEST_CASE("a chunk that is handed on as it is fills its box, and walls between nodes are drawn and told") {
    {
        RowsDesk copied("collective", "tree operation=broadcast ranks=8 bytes=400000000 link=nvlink4", "collective", false);
        const std::string said = copied.shell.describe("collective");
        CHECK(said.find("a there") != std::string::npos);
        CHECK(said.find("1/8") == std::string::npos);
        CHECK(copied.said().find("the chunk is there") != std::string::npos);
    }
    {
        RowsDesk walls("collective", "ring ranks=4 bytes=64000000 topology=two_level node_size=2 link=10gbe inner=nvlink4",
                       "collective", false);
        CHECK(walls.said().find("the wall between two nodes") != std::string::npos);
        CHECK(walls.session.snapshot()->cluster->collective.crosses(1, 2));
        CHECK_FALSE(walls.session.snapshot()->cluster->collective.crosses(0, 1));
    }
    RowsDesk plain("collective", "ring ranks=4 bytes=64000000 link=nvlink4", "collective", false);
    CHECK(plain.said().find("wall") == std::string::npos);
}

}  // namespace gui_rows_test
