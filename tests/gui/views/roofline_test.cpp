// The roofline picture: the trail of runs, the guess that is placed first, and what is said of the run on show.
#include "app/gui/views/roofline/roofline.h"

#include <cmath>
#include <cstring>

#include "tests/gui/desk.h"
#include "tests/gui/sm_scene.h"

namespace gui_roofline_test {

using namespace lockstep;
using namespace lockstep::gui;
using model::RoofLevel;
using test::small_run;

namespace {

// A run of the small program: `lanes` executed fused multiply-adds, so many bytes of DRAM, so many microseconds.
std::shared_ptr<const model::KernelRun> run_with(uint64_t lanes, uint64_t bytes, double us) {
    auto run = std::make_shared<model::KernelRun>(*small_run());
    run->result.time_us = us;
    run->result.totals.dram_read = bytes;
    run->result.instructions.assign(run->program->instructions.size(), {});
    auto program = std::make_shared<ptx::Program>(*run->program);
    for (size_t pc = 0; pc < program->instructions.size(); ++pc) {
        program->instructions[pc].kind = program->instructions[pc].opcode->kind;
        if (program->instructions[pc].opcode->name == "fma") {
            program->instructions[pc].type = ptx::Type::f32;
            run->result.instructions[pc].executed = lanes;
            run->result.instructions[pc].issues = lanes / 32;
        }
    }
    run->program = program;
    return run;
}

struct Desk : test::Desk {
    explicit Desk(float text_scale = 1) : test::Desk({.start = false}, "light", text_scale) {
        REQUIRE(shell.show_alone("roofline"));
    }
    void show(const std::shared_ptr<const model::KernelRun>& run, const std::string& label) {
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->kernel.run = run;
        snapshot->kernel.label = label;
        test::Desk::show(snapshot);
    }
    std::string words() const { return view_named("roofline")->make()->describe(session, shell.focus); }
};

}  // namespace

TEST_CASE("each new run joins the trail once, and a run that is shown again is found again") {
    RoofTrail trail;
    const auto a = run_with(3200, 12800, 2), b = run_with(6400, 12800, 2), again = run_with(3200, 12800, 2);
    trail.adopt(a, "add  (kernel 1 of 1)", false);
    trail.adopt(a, "add  (kernel 1 of 1)", false);
    REQUIRE(trail.runs().size() == 1);
    CHECK(trail.current()->label == "add");
    CHECK(trail.current()->point.flop == 6400);
    trail.adopt(b, "add  (kernel 1 of 1)", false);
    REQUIRE(trail.runs().size() == 2);
    CHECK(trail.current()->number == 2);
    trail.adopt(again, "add  (kernel 1 of 1)", false);  // run again, nothing changed
    CHECK(trail.runs().size() == 2);
    CHECK(trail.current()->number == 1);
    trail.adopt(run_with(3200, 12800, 2), "other", false);
    CHECK(trail.runs().size() == 3);
    for (uint64_t i = 0; i < 40; ++i) trail.adopt(run_with(32 * (1000 + i), 12800, 2), "many", false);
    CHECK(trail.runs().size() == RoofTrail::most_runs);
    CHECK(trail.current()->number == 43);
    trail.forget_others();
    CHECK(trail.runs().size() == 1);
    trail.adopt(nullptr, "", false);
    CHECK(trail.runs().size() == 1);
    auto wide = std::make_shared<model::KernelRun>(*run_with(3200, 12800, 4));
    wide->config.grid = {8, 8, 1};
    trail.adopt(run_with(3200, 12800, 2), "naive", false);
    trail.adopt(wide, "naive", false);  // another launch of the same kernel
    CHECK(trail.current()->label == "naive, 64 blocks");
    const auto of_terms = [](uint32_t terms) {  // the same launch but for a number among its arguments
        auto run = std::make_shared<model::KernelRun>(*run_with(32 * terms, 12800, 2));
        auto program = run->program ? std::make_shared<ptx::Program>(*run->program) : std::make_shared<ptx::Program>();
        program->parameters = {{"n", ptx::Type::u32, 0, 4, 4}, {"terms", ptx::Type::u32, 4, 4, 4}};
        run->program = program;
        run->config.parameters.assign(8, std::byte{});
        std::memcpy(run->config.parameters.data() + 4, &terms, 4);
        return std::shared_ptr<const model::KernelRun>(run);
    };
    const auto few = of_terms(16), many = of_terms(64);
    trail.adopt(few, "polynomial", false);
    CHECK(trail.current()->label == "polynomial");
    trail.adopt(many, "polynomial", false);
    CHECK(trail.current()->label == "polynomial, 64");
}

TEST_CASE("the caption says what binds and how much is left: 2 us where the bytes need 1 us are half of the roof") {
    const auto run = run_with(1000 * 32, 900'000, 2);  // 900 GB/s: 1 us; 64,000 FLOP at 15.7 TFLOP/s: 4 ns
    RoofTrail trail;
    trail.adopt(run, "add", false);
    const model::Roofline roofline = model::roofline_of(run->gpu);
    const std::string sentence = roof_sentence(roofline, trail, RoofLevel::dram, false);
    CHECK(sentence.find("Run 1 reaches 32 GFLOP/s, 50 % of the HBM roof: x2 is left.") != std::string::npos);
    CHECK(sentence.find("Its bytes need 1 µs, its operations 0.00408 µs, it took 2 µs.") != std::string::npos);
    const RoofAxes axes = axes_of(roofline, trail, run->gpu.name, RoofLevel::dram);
    const double x = std::log10(64000.0 / 900000), y = std::log10(32e9);
    CHECK(axes.x_low < x);
    CHECK(axes.x_high > x);
    CHECK(axes.y_low < y);
    CHECK(axes.y_high > std::log10(125e12));
}

TEST_CASE("the distance of a guess is told in factors, each way") {
    const auto run = run_with(32000, 64000, 2);  // 1 FLOP/B, 32 GFLOP/s
    const model::RoofPoint point = model::point_of(*run);
    CHECK(distance_words({1, 32e9}, point, RoofLevel::dram) == "within 10 % in both directions");
    CHECK(distance_words({0.5, 96e9}, point, RoofLevel::dram) == "x2 too far left and x3 too high");
    CHECK(distance_words({4, 32e9}, point, RoofLevel::dram) == "x4 too far right, right in speed");
    CHECK(distance_words({1.02, 8e9}, point, RoofLevel::dram) == "x4 too low, right in intensity");
}

TEST_CASE("a guess comes first where it is wanted: the point and all that tells of it stay hidden until it is locked") {
    Desk desk;
    desk.show(run_with(32000, 64000, 2), "first");
    CHECK(desk.words().find("run 1 (on show): first, 1 FLOP/B") != std::string::npos);
    desk.session.roof.guess_first = true;
    desk.show(run_with(64000, 64000, 2), "second");
    REQUIRE(desk.session.roof.current()->guessing);
    CHECK(desk.words().find("second") == std::string::npos);
    CHECK(desk.words().find("first") != std::string::npos);
    CHECK(desk.words().find("Drag the diamond") != std::string::npos);
    const RoofGuess before = desk.session.roof.current()->guess;
    CHECK(desk.words().find("Above its roof") == std::string::npos);
    desk.session.roof.current()->guess = {1, 9e13};
    CHECK(desk.words().find("Above its roof no run of these units can") != std::string::npos);
    desk.session.roof.current()->guess = before;
    desk.key(KeyCode::d);  // right
    desk.key(KeyCode::w);  // up
    const RoofGuess moved = desk.session.roof.current()->guess;
    CHECK(moved.intensity > before.intensity * 1.05);
    CHECK(moved.flop_per_second > before.flop_per_second * 1.05);
    desk.input.mouse_x = 800;  // into the plot: the diamond jumps there and follows
    desk.input.mouse_y = 500;
    desk.input.clicked = desk.input.down = true;
    desk.frame();
    const RoofGuess there = desk.session.roof.current()->guess;
    CHECK(there.intensity != moved.intensity);
    desk.input.mouse_x = 900;
    desk.frame();
    CHECK(desk.session.roof.current()->guess.intensity > there.intensity);
    desk.input.down = false;
    desk.input.released = true;
    desk.frame();
    REQUIRE(desk.session.roof.current()->guessing);
    desk.key(KeyCode::enter);
    CHECK_FALSE(desk.session.roof.current()->guessing);
    CHECK(desk.session.roof.current()->guessed);
    CHECK(desk.words().find("run 2 (on show): second, 2 FLOP/B") != std::string::npos);
    CHECK(desk.words().find("Your guess was x") != std::string::npos);
}

TEST_CASE("an open prediction of a lesson hides the run on show, not the earlier ones") {
    Desk desk;
    desk.show(run_with(32000, 64000, 2), "first");
    desk.show(run_with(64000, 64000, 2), "second");
    desk.session.learn.reveal_steps = 3;
    CHECK(desk.words().find("first, 1 FLOP/B") != std::string::npos);
    CHECK(desk.words().find("second") == std::string::npos);
    CHECK(desk.words().find("headroom") == std::string::npos);
    CHECK(desk.words().find("stays hidden") != std::string::npos);
}

TEST_CASE("a kernel without arithmetic, or one that faulted, is told to have no place, and is drawn without harm") {
    Desk desk;
    desk.show(run_with(0, 64000, 2), "copy");
    CHECK(desk.words().find("no floating-point operation") != std::string::npos);
    auto faulted = std::make_shared<model::KernelRun>(*run_with(32000, 64000, 2));
    faulted->result.fault.emplace();
    desk.show(faulted, "broken");
    CHECK(desk.words().find("ended early") != std::string::npos);
    desk.show(run_with(32000, 0, 2), "cached");
    CHECK(desk.words().find("No byte crossed HBM") != std::string::npos);
    CHECK(desk.quads > 100);
    CHECK(desk.quads < 8000);
}

TEST_CASE("no text of the roofline lies on another, wherever the run stands, at every size of window and text") {
    for (const float scale : {0.75f, 1.0f, 1.5f, 2.0f, 2.5f}) {
        Desk desk(scale);
        for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}, {760.0f, 470.0f}}) {
            desk.width = w, desk.height = h;
            desk.session.roof.forget_others();
            // 64 to 64 M FLOP in 2 us; from far left under the memories' roofs to far right under the peaks
            for (const uint64_t lanes : {32u * 4000, 32u * 40'000, 32u * 500'000})
                for (const double per_byte : {0.02, 0.06, 0.2, 0.9, 4.0, 20.0, 150.0}) {
                    const auto bytes = static_cast<uint64_t>(2 * static_cast<double>(lanes) / per_byte);
                    const double least = static_cast<double>(bytes) / 800e9, math = 2 * static_cast<double>(lanes) / 14e12;
                    desk.show(run_with(lanes, bytes, 1e6 * std::max(least, math) * (per_byte > 1 ? 9 : 1.7)), "a run");
                    INFO(w << "x" << h << " at " << scale << ", " << per_byte << " FLOP/B");
                    CHECK(desk.clashes() == std::vector<std::string>{});
                    if (w / scale >= 800 && h / scale >= 450) CHECK(desk.shows("headroom"));  // in less there may be no room
                }
        }
    }
}

TEST_CASE(
    "the peak of tensor units keeps its name in a small picture, where the run's dotted line leaves its figure no room") {
    Desk desk;
    desk.width = 680, desk.height = 400;
    for (const double per_byte : {60.0, 140.0, 250.0, 410.0, 700.0}) {
        INFO(per_byte << " FLOP/B");
        const uint64_t products = 1000, flop = products * 2 * 16 * 16 * 16;
        const auto bytes = static_cast<uint64_t>(static_cast<double>(flop) / per_byte);
        auto run = std::make_shared<model::KernelRun>(*run_with(0, bytes, 1.65));
        auto program = std::make_shared<ptx::Program>(*run->program);
        program->instructions[0].kind = ptx::Kind::matrix;
        program->instructions[0].type = ptx::Type::f16;
        program->instructions[0].shape[0] = program->instructions[0].shape[1] = program->instructions[0].shape[2] = 16;
        run->result.instructions[0].issues = products;
        run->program = program;
        desk.session.roof.forget_others();
        desk.show(run, "products");
        REQUIRE(desk.session.roof.current()->point.peak == "tensor fp16");
        CHECK(desk.shows("tensor fp16"));
        CHECK(desk.shows("139"));  // the ridge with HBM
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("runs that lie all over the plot keep their table, beside it if need be, and every dot has its number") {
    test::Desk desk({.start = false}, "light");
    desk.session.workspace = Workspace::memory;
    const auto show = [&](uint64_t lanes, double per_byte, double us, const char* label) {
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->kernel.run = run_with(lanes, static_cast<uint64_t>(2 * static_cast<double>(lanes) / per_byte), us);
        snapshot->kernel.label = label;
        desk.show(snapshot);
    };
    show(32 * 40'000, 0.1, 40, "left");
    show(32 * 40'000, 1, 9, "middle");
    show(32 * 4000, 8, 20, "low");
    show(32 * 400'000, 64, 8, "right");
    show(32 * 400'000, 63, 8.1, "beside");  // on the one before
    show(32 * 4000, 300, 20, "far");
    for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}}) {
        desk.size(w, h, 1);
        desk.frames(3);
        INFO(w << " x " << h);
        CHECK(desk.shows("GFLOP/s"));
        for (const char* name : {"left", "far"}) CHECK(desk.shows(name));
        for (const char* number : {"1", "4", "5", "6"}) {
            const auto count = std::count_if(desk.written.begin(), desk.written.end(),
                                             [&](const UiState::Written& text) { return text.text == number; });
            INFO(number);
            CHECK(count >= 2);  // in the table, and at its dot
        }
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("runs without a place on the roofline have their names whole in the table") {
    Desk desk;
    desk.size(1280, 720, 1);
    desk.show(run_with(32000, 64000, 2), "first");
    desk.show(run_with(32000, 0, 2), "two_chains_of_products");
    desk.show(run_with(64000, 64000, 2), "third");
    CHECK(desk.shows("two_chains_of_products"));
    CHECK(desk.shows("no bytes"));
}

TEST_CASE("every roof has its name and its figure, in a low picture too") {
    Desk desk;
    for (const auto& [width, height] : {std::pair{1280.0f, 720.0f}, {720.0f, 500.0f}, {660.0f, 440.0f}, {600.0f, 400.0f}}) {
        desk.width = width, desk.height = height;
        desk.show(run_with(64000, 64000, 2), "run");
        INFO(width << " x " << height);
        for (const std::string_view level : {"HBM ", "L2 ", "L1"})
            CHECK(std::any_of(desk.written.begin(), desk.written.end(), [&](const UiState::Written& text) {
                return text.text.starts_with(level) && text.text.ends_with("B/s");
            }));
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("the name of the roof that counts and the guess's figures find room beside each other") {
    Desk desk(2);
    desk.width = 1280, desk.height = 720;
    desk.session.roof.guess_first = true;
    desk.show(run_with(64000, 64000, 2), "run");
    REQUIRE(desk.session.roof.current()->guessing);
    for (float x = 200; x < 1240; x += 130)
        for (float y = 280; y < 470; y += 60) {
            desk.drag(x, y, x + 4, y + 4);
            REQUIRE(desk.session.roof.current()->guessing);
            INFO(x << ", " << y);
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
}

TEST_CASE("while a guess is open nothing beside the roofline tells the run's time or its traffic") {
    test::Desk desk({.start = false}, "light");
    desk.session.workspace = Workspace::memory;
    desk.session.roof.guess_first = true;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run_with(32000, 64000, 2);
    snapshot->kernel.label = "guessed";
    for (const Grain grain : {Grain::cycle, Grain::instruction}) {
        desk.session.grain = grain;
        desk.show(snapshot);
        REQUIRE(desk.session.roof.guessing());
        CHECK(desk.shows("hidden until you lock your guess"));
        CHECK_FALSE(desk.shows(" of " + with_commas(snapshot->kernel.run->result.cycles)));
        CHECK_FALSE(desk.shows("of peak"));
        CHECK_FALSE(desk.shows("GB/s of"));
        CHECK(desk.shell.describe("chart").find("hidden until you lock your guess") != std::string::npos);
    }
    desk.session.roof.current()->guessing = false;
    desk.frames(2);
    CHECK(desk.shows("of peak"));
    CHECK(desk.shows("cycle "));
}

TEST_CASE("runs of one's own kernel are told apart by what was edited, and a run that faulted leaves no number behind") {
    const auto edited = [](uint64_t lanes, const char* source, bool faults = false) {
        auto run = std::make_shared<model::KernelRun>(*run_with(lanes, 12800, 2));
        run->source = source;
        if (faults) run->result.fault.emplace();
        return std::shared_ptr<const model::KernelRun>(run);
    };
    RoofTrail trail;
    const auto adopt = [&](const std::shared_ptr<const model::KernelRun>& run) {
        trail.adopt(run, "transpose  (your kernel)", false);
        return trail.current()->label;
    };
    CHECK(adopt(edited(3200, "a\nb\nc\n")) == "transpose");
    const auto broken = edited(6400, "a\nb + \nc\n", true);
    adopt(broken);
    CHECK(trail.current()->number == 0);
    CHECK(adopt(edited(6400, "a\nb + 1\nc\n")) == "transpose, line 2");
    CHECK(trail.current()->number == 2);
    CHECK(adopt(edited(9600, "a\nb + 2\nc\n")) == "transpose, edit 3");  // the same line again
    CHECK(adopt(edited(12800, "x\ny\nz\n")) == "transpose, edit 4");
    CHECK(trail.runs().size() == 4);
    auto wide = std::make_shared<model::KernelRun>(*edited(16000, "x\ny\nz\n"));
    wide->config.block = {64, 1, 1};
    CHECK(adopt(wide) == "transpose, blocks of 64");
}

TEST_CASE("large factors have their digits and small shares are not nothing") {
    CHECK(times_text(2.68) == "x2.68");
    CHECK(times_text(1118.2) == "x1,120");
    CHECK(times_text(2634) == "x2,630");
    CHECK(times_text(999.96) == "x1,000");
    CHECK(share_text(0.09) == "< 1 %");
    CHECK(share_text(49.7) == "50 %");
}

TEST_CASE("the table of runs leaves every ridge its number, in a low picture and beside any run") {
    Desk desk;
    desk.width = 680, desk.height = 440;
    for (const uint64_t lanes : {32u * 100, 32u * 4000, 32u * 40'000})
        for (const double per_byte : {0.2, 0.9, 5.0, 8.0, 32.0, 256.0}) {
            desk.session.roof.forget_others();
            desk.show(run_with(lanes, static_cast<uint64_t>(2 * static_cast<double>(lanes) / per_byte), 30), "a run");
            INFO(lanes << " lanes, " << per_byte << " FLOP/B");
            for (const char* ridge : {"ridge 1", "5.01", "17.4"}) CHECK(desk.shows(ridge));
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
}

}  // namespace gui_roofline_test
