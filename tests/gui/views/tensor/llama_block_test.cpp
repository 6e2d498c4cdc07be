// A Llama block's counts are those of the model's modules and of the tape, rotary positions turn as the engine turns them,
// and the lesson's pictures read at any size and keep counts to themselves until they are asked.
#include <cmath>

#include "app/gui/views/tensor/llama_block_data.h"
#include "tests/gui/lesson_desk.h"

namespace gui_llama_block_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("a Llama block's parts hold all of its parameters, and its products do what their shapes say") {
    for (const char* name : {"llama3-8b", "llama3-70b", "llama3-405b"}) {
        INFO(name);
        const nn::ModelShape& shape = *nn::find_shape(name);
        const LlamaBlock block = llama_block(shape, 8192);
        REQUIRE(block.parts.size() == 9);
        int64_t parameters = 0;
        for (const BlockPart& part : block.parts) parameters += part.parameters;
        CHECK(parameters == block.block_parameters);
        CHECK(block.parameters(true) + block.parameters(false) == block.block_parameters);
        CHECK(block.all_parameters() == nn::parameters_of(shape));
    }
    const LlamaBlock block = llama_block(*nn::find_shape("llama3-8b"), 8192);
    CHECK(block.parts[6].parameters == 2 * int64_t{4096} * 14336);
    CHECK(block.parts[6].operations == Approx(4.0 * 8192 * 4096 * 14336));
    CHECK(block.parts[3].operations == Approx(0.55e12).epsilon(0.01));
    CHECK(block.operations() == Approx(4.12e12).epsilon(0.01));
    CHECK(block.cache_bytes() == 131072);
}

TEST_CASE("the lesson's own block has the parameters of its tape, and its products' arithmetic") {
    const auto lesson = lessons::lesson_named("B07");
    REQUIRE(lesson.ok());
    const auto ran = scene::run_scene(lesson.value(), lesson.value().steps.front().scenes.front(), {});
    REQUIRE(ran.ok());
    const auto tape = ran.value().as<scene::TapeRun>();
    const auto own = recorded_block(*tape->step);
    REQUIRE(own);
    CHECK(own->places == 8);
    const LlamaBlock block = llama_block(own->shape, own->places);
    CHECK(block.block_parameters == tape->parameters);
    CHECK(block.table_parameters == 0);
    double products = 0, derived = 0;
    for (const nn::GraphNode& node : tape->step->nodes)
        if (node.op == "matmul")
            products += 2.0 * static_cast<double>(node.value->size()) *
                        static_cast<double>(tape->step->nodes[static_cast<size_t>(node.inputs[0])].shape.back());
    for (const BlockPart& part : block.parts)
        if (part.kind == BlockPart::Kind::product) derived += part.operations;
    CHECK(derived == products);
}

TEST_CASE("rotary positions turn as the engine turns them, and a product depends on the distance") {
    const auto step = step_of(R"(
input q[1,8] = random
input k[1,8] = random
at5 = rope(q, 5)
near = sum(rope(q, 9) * rope(k, 4))
far = sum(rope(q, 60) * rope(k, 55))
)");
    const auto turns = rope_turns(*step);
    REQUIRE(turns.size() == 5);
    const double base = rope_base(*step, turns.front());
    CHECK(base == Approx(10000).epsilon(1e-4));
    for (const RopeTurn& turn : turns)
        for (int64_t pair = 0; pair < turn.pairs(); ++pair) {
            const double angle = turn_of(pair, 8, base, static_cast<double>(turn.place));
            const double a = static_cast<double>(turn.in[turn.first(pair)]),
                         b = static_cast<double>(turn.in[turn.second(pair)]);
            CHECK(static_cast<double>(turn.out[turn.first(pair)]) ==
                  Approx(a * std::cos(angle) - b * std::sin(angle)).margin(1e-4));
            CHECK(static_cast<double>(turn.out[turn.second(pair)]) ==
                  Approx(a * std::sin(angle) + b * std::cos(angle)).margin(1e-4));
        }
    const auto meetings = rope_meetings(*step);
    REQUIRE(meetings.size() == 2);
    CHECK(meetings[0].name == "near");
    CHECK(meetings[0].query.place == 9);
    CHECK(meetings[0].product == Approx(meetings[1].product).margin(1e-4));
}

TEST_CASE("the lesson on the Llama block reads at any size and keeps counts to itself until they are asked") {
    Desk desk({.lesson = "B07", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto says = [&](const char* view, const char* words) {
        return said_by(desk, view).find(words) != std::string::npos;
    };
    CHECK(says("llama_block", "7 linear layers, 21 products: 7 forward, 14 back"));
    CHECK_FALSE(says("llama_block", "Gate, up and down hold"));  // step 8 asks how a layer's halves share it
    CHECK(says("llama_block", "the question of step 8"));
    reads_at_any_size(desk);
    for (const int step : {2, 3, 4}) {
        go_to(desk, step);
        INFO("step " << step + 1);
        reads_at_any_size(desk);
    }
    CHECK_FALSE(desk.shows("25 % of one pair"));
    desk.size(1280, 720, 2);  // with letters twice as large a lesson's head is one line, the rest is text
    desk.frames(3);
    CHECK(desk.shows("Lesson B07: A Llama-3 block"));
    CHECK(desk.shows("SKETCH"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    desk.size(1280, 720, 1);  // above a sketch in a small window all parts stand
    desk.frames(3);
    for (const char* part :
         {"Wq, Wk, Wv", "Attention, causal half", "Gate and up", "Down, then + h", "Queries share keys"}) {
        INFO(part);
        CHECK(desk.shows(part));
    }
    desk.size(1600, 1000, 1);
    answer(desk, 4);
    CHECK(desk.shows("25 % of one pair"));
    go_to(desk, 7);  // it asks for the halves' shares
    CHECK_FALSE(desk.shows("81 %"));
    reads_at_any_size(desk);
    answer(desk, 7);
    CHECK(desk.shows("Gate, up and down hold 81 %"));
    go_to(desk, 8);  // its title names the model
    CHECK(says("llama_block", "32 layers of 218 million and tables of 1.05 billion: 8.03 billion"));
    REQUIRE(desk.click_on("405B"));
    CHECK_FALSE(said_by(desk, "llama_block").find("406 billion") != std::string::npos);  // the next question
    reads_at_any_size(desk);
}

TEST_CASE("the layers of the three models stand to scale, once both questions about them are answered") {
    Desk desk({.lesson = "B07", .lesson_step = 12});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "layer_sizes").find("3.73 times") != std::string::npos);  // steps before this one were left out
    reads_at_any_size(desk);
    go_to(desk, 9);
    CHECK_FALSE(desk.shows("One layer of each Llama 3, to scale"));  // the case before stands there
    answer(desk, 9);
    CHECK(desk.shows("One layer of each Llama 3, to scale"));
    CHECK(said_by(desk, "layer_sizes")
              .find("405B: 3.19 billion a layer, 16,384 wide, 53,248 inside, 126 layers, 406 billion "
                    "in all") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("tokens go through an RMSNorm as arrows onto one circle, whose end waits for the answer") {
    Desk desk({.lesson = "B07", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "token_norm").find("(3, 4): mean of the squares 12.5") != std::string::npos);
    CHECK(said_by(desk, "token_norm").find("0.849") == std::string::npos);
    CHECK_FALSE(desk.shows("(0.849, 1.13)"));
    reads_at_any_size(desk);
    answer(desk, 1);
    CHECK(said_by(desk, "token_norm").find("(3, 4) and (30, 40) both become (0.849, 1.13)") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("an exercise's kernel is shown by what it makes beside what it should") {
    Desk desk({.lesson = "B07", .lesson_step = 11});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "made_wanted").find("4 of 4 come out wrong: token 2 makes 7.07, not 1") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("a graph's means and a point's nearest centre are shown beside what the kernel makes of them") {
    Desk desk({.lesson = "B08", .lesson_step = 10});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(said_by(desk, "made_wanted").find("node 1, neighbours 0, 2, 3: should be 4.5, is 6") != std::string::npos);
    CHECK(said_by(desk, "made_wanted").find("2 of 4 come out wrong") != std::string::npos);
    reads_at_any_size(desk);
    go_to(desk, 11);
    CHECK(said_by(desk, "made_wanted").find("12 of 16 points are given to a centre") != std::string::npos);
    reads_at_any_size(desk);
}

TEST_CASE("a count that no run tells is derived where it is asked on the picture, a run's value executed") {
    for (const auto& [step, badge] : {std::pair{1, "executed"}, std::pair{4, "derived"}, std::pair{9, "derived"}}) {
        INFO(step);
        Desk desk({.lesson = "B07", .lesson_step = step});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        CHECK(said_by(desk, "sketch").find(fmt::format("on the picture ({})", badge)) != std::string::npos);
    }
}

}  // namespace gui_llama_block_test
