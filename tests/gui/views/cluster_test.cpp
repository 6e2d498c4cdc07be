// The Cluster workspace in the whole interface without a window: two schedules on one axis, edited and run again; who waits
// for whom; the transport; memory by ZeRO stage. Expected figures are those of the papers and of the closed formulas.
#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/cluster/workers_words.h"
#include "app/gui/views/collective/collective_data.h"
#include "app/gui/views/pipeline/pipeline_picture.h"
#include "core/base/diagnostic.h"
#include "core/scene/cluster/cluster_training.h"
#include "core/scene/cluster/parallel_picture.h"
#include "core/scene/figures/figure_table.h"
#include "tests/gui/rows_desk.h"

namespace gui_cluster_test {

using namespace lockstep;
using namespace lockstep::gui;
using Catch::Matchers::Contains;
using test::RowsDesk;

namespace {

std::shared_ptr<const Snapshot> cluster_snapshot(const scene::ClusterSetup& setup = {}) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->cluster = std::make_shared<const scene::ClusterScene>(scene::run_cluster(setup));
    return snapshot;
}

struct ClusterDesk : test::Desk {
    explicit ClusterDesk(const char* view, const scene::ClusterSetup& setup = {}, const char* theme = "dark")
        : test::Desk({.start = false}, theme) {
        session.workspace = Workspace::cluster;
        shell.show_alone(view);  // of the workspace's name there is none
        show(cluster_snapshot(setup));
    }
    std::string text(const char* view) { return shell.describe(view); }
    // What was asked for by hand, run as the worker would.
    void run_asked() {
        REQUIRE(session.cluster.asked);
        show(cluster_snapshot(*session.cluster.asked));
    }
};

}  // namespace

TEST_CASE("two schedules say their totals and both bubbles: 1F1B 33 units, ZB-H1 27") {
    ClusterDesk desk("pipeline");
    CHECK_THAT(desk.text("pipeline"),
               Contains("1F1B: 33 units, ideal 24, idle 9 a rank, bubble 27.3 % of total, 37.5 % over ideal") &&
                   Contains("ZB-H1: 27 units, ideal 24, idle 3 a rank, bubble 11.1 % of total, 12.5 % over ideal"));
    CHECK(desk.shows("33 units"));
    CHECK(desk.shows("6 units sooner"));
    CHECK(desk.shows("F5"));
    CHECK(desk.quads < 8000);
}

TEST_CASE("of schedules that do unequal work none is sooner: they are told by the micro-batch") {
    test::Desk desk({.lesson = "C06", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    LessonState::Prediction& given = desk.session.lesson.predictions[1][0];
    given.chosen = 0;
    given.locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    REQUIRE(desk.shows("33 units"));
    CHECK(desk.said().find("sooner") == std::string::npos);
    CHECK(desk.shell.describe("pipeline").find("a micro-batch, GPipe 5.25") != std::string::npos);
}

TEST_CASE("the dashed line at the shorter schedule's end passes no head: badges and figures stand clear of it") {
    ClusterDesk desk("pipeline");
    const UiState::Written *end = nullptr, *badge = nullptr;
    for (const UiState::Written& text : desk.written) {
        if (text.text == "27") end = &text;           // on the axis
        if (text.text == "simulated") badge = &text;  // of the lower schedule
    }
    REQUIRE(end);
    REQUIRE(badge);
    const float x = end->ink.x + end->ink.w / 2;
    int beside = 0, through = 0;
    const ImDrawData* drawn = ImGui::GetDrawData();
    for (int l = 0; l < drawn->CmdListsCount; ++l) {
        const ImDrawList& list = *drawn->CmdLists[l];
        for (int i = 0; i + 2 < list.IdxBuffer.Size; i += 3) {
            float left = 1e9f, right = -1e9f, top = 1e9f, bottom = -1e9f;
            for (int k = 0; k < 3; ++k) {
                const ImVec2 p = list.VtxBuffer[list.IdxBuffer[i + k]].pos;
                left = std::min(left, p.x), right = std::max(right, p.x);
                top = std::min(top, p.y), bottom = std::max(bottom, p.y);
            }
            if (left < x - 2.5f || right > x + 2.5f || bottom - top < 20) continue;
            ++beside;
            through += top < badge->ink.bottom() && bottom > badge->ink.y;
        }
    }
    CHECK(beside > 0);
    CHECK(through == 0);
}

TEST_CASE("a chip replaces the older of two schedules, and pressing one of two leaves the other alone") {
    ClusterDesk desk("pipeline");
    REQUIRE(desk.click_on("GPipe"));
    CHECK(desk.session.cluster.asked->pipeline.kinds == std::vector<std::string>{"zb-h1", "gpipe"});
    desk.run_asked();
    CHECK(!desk.session.cluster.asked);
    CHECK_THAT(desk.text("pipeline"), Contains("GPipe: 33 units") && Contains("peak 8 of 4"));
    REQUIRE(desk.click_on("GPipe"));
    CHECK(desk.session.cluster.asked->pipeline.kinds == std::vector<std::string>{"zb-h1"});
}

TEST_CASE("a number that cannot be says why in its schedule's place and leaves the other standing") {
    scene::ClusterSetup setup;
    setup.pipeline.kinds = {"interleaved", "1f1b"};
    setup.pipeline.microbatches = 7;
    ClusterDesk desk("pipeline", setup);
    CHECK_THAT(desk.text("pipeline"), Contains("Interleaved") || Contains("nterleaved"));
    CHECK_THAT(desk.text("pipeline"), Contains("1F1B: 30 units"));
    CHECK(!desk.session.snapshot()->cluster->schedules.front().refusal.empty());
}

TEST_CASE("Enter on an idle rank says whom it waits for, and again takes it away") {
    ClusterDesk desk("pipeline");
    desk.shell.focus.rank = 0;
    desk.session.cluster.time = 5;
    desk.frames(2);
    desk.key(KeyCode::enter);
    CHECK_THAT(desk.text("pipeline"), Contains("why: stage 0 waits for"));
    CHECK_THAT(desk.text("pipeline"), Contains("stage 3 runs"));
    desk.key(KeyCode::enter);
    CHECK_THAT(desk.text("pipeline"), !Contains("why:"));
}

TEST_CASE("Up and Down choose the rank, Page Down the micro-batch, and arrows step from beginning to beginning") {
    ClusterDesk desk("pipeline");
    CHECK_THAT(desk.text("pipeline"), Contains("stage 2 (picked)"));
    desk.key(KeyCode::up);
    CHECK(desk.shell.focus.rank == 1);
    desk.key(KeyCode::page_down);
    CHECK(desk.session.cluster.microbatch == 5);
    desk.session.grain = Grain::action;
    desk.key(KeyCode::home);
    CHECK(desk.session.cluster.time == 0);
    desk.key(KeyCode::right);
    CHECK(desk.session.cluster.time == 1);
    desk.key(KeyCode::end);
    CHECK(desk.session.cluster.time == 33);
    CHECK(position_in_cluster(desk.session, desk.shell.focus, *desk.session.snapshot()).last);
    desk.key(KeyCode::left);
    CHECK(desk.session.cluster.time < 33);
}

namespace {

// Where the lowest text of these words stands: of the last stage that says them.
Rect lowest(const test::Desk& desk, const std::string& words) {
    Rect found{-1, -1, 0, 0};
    for (const UiState::Written& text : desk.written)
        if (text.text == words && text.ink.y > found.y) found = text.ink;
    REQUIRE(found.x >= 0);
    return found;
}
float middle(const Rect& rect) {
    return rect.x + rect.w / 2;
}

}  // namespace

TEST_CASE("an action dragged, or moved by a key, goes elsewhere in its rank's order; what cannot be says why") {
    scene::ClusterSetup setup;
    setup.pipeline.kinds = {"1f1b"};
    const std::vector<scene::ScheduleMove> wanted = {{"1f1b", 3, 2, 1}};
    {
        ClusterDesk desk("pipeline", setup);  // stage 3: F1 from 3 on, B1 with its W until 6, F2 until 7
        const Rect f1 = lowest(desk, "F1"), f2 = lowest(desk, "F2");
        const float unit = (middle(f2) - middle(f1)) / 3;
        desk.drag(middle(f2), f2.y + 4, middle(f1) + 0.8f * unit, f2.y + 4);
        REQUIRE(desk.session.cluster.asked);
        CHECK(desk.session.cluster.asked->pipeline.moves == wanted);
        desk.run_asked();
        CHECK_THAT(desk.text("pipeline"), Contains("1F1B (1 moved)") && Contains("stage 3: idle"));
        CHECK(desk.session.snapshot()->cluster->schedules[0].run.peak_activations[3] == 2);
        REQUIRE(desk.click_on("undo move"));
        CHECK(desk.session.cluster.asked->pipeline.moves.empty());
    }
    {
        ClusterDesk keys("pipeline", setup);
        keys.shell.focus.rank = 3;
        keys.session.cluster.time = 6;
        keys.frames(2);
        keys.key(KeyCode::minus);
        REQUIRE(keys.session.cluster.asked);
        CHECK(keys.session.cluster.asked->pipeline.moves == wanted);
    }

    setup.pipeline.moves = {{"1f1b", 3, 1, 0}};  // a backward before its forward
    ClusterDesk refused("pipeline", setup);
    const scene::ScheduleShown& shown = refused.session.snapshot()->cluster->schedules[0];
    CHECK_THAT(shown.move_refusal, Contains("B1 cannot go there: "));
    CHECK(shown.run.total == 33);
    CHECK(shown.moved == 0);
    CHECK_THAT(refused.text("pipeline"), Contains("B1 cannot go there"));
    CHECK(refused.shows("B1 cannot go there"));
    setup.pipeline.moves.assign(100, {"1f1b", 0, -5, 900});
    CHECK(scene::run_cluster(setup).schedules[0].run.total == 33);
}

TEST_CASE("the end of a bar dragged changes how long such actions take, a number dragged what it counts") {
    scene::ClusterSetup setup;
    setup.pipeline.kinds = {"gpipe"};
    {
        ClusterDesk desk("pipeline", setup);
        const Rect f7 = lowest(desk, "F7"), f8 = lowest(desk, "F8");
        const float unit = middle(f8) - middle(f7);
        desk.drag(middle(f8) + unit / 2 - 2, f8.y + 4, middle(f8) + unit - 2, f8.y + 4);
        REQUIRE(desk.session.cluster.asked);
        CHECK(desk.session.cluster.asked->pipeline.forward == 1.5);
    }
    ClusterDesk desk("pipeline", setup);
    const Rect words = lowest(desk, "micro-batches");
    const float x = words.right() + 36;
    desk.drag(x, words.y + 4, x + 25, words.y + 4);
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->pipeline.microbatches == 10);
}

TEST_CASE(
    "the boundary between two stages gives a layer to the neighbour, by its number or by its grip, while one is left") {
    scene::ClusterSetup setup;
    setup.pipeline.kinds = {"1f1b"};
    ClusterDesk desk("pipeline", setup);
    const auto turn = [&](float by) {
        const Rect words = lowest(desk, "layers of stage 2");  // the picked one
        desk.drag(words.right() + 36, words.y + 4, words.right() + 36 + by, words.y + 4);
    };
    turn(22);
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->pipeline.layers == std::vector<int>{4, 4, 6, 2});
    desk.run_asked();
    const parallel::ScheduleRun& run = desk.session.snapshot()->cluster->schedules[0].run;
    CHECK(run.busy == std::vector<double>{24, 24, 36, 12});  // eight micro-batches of F, I and W, by a quarter a layer
    CHECK(desk.shows("stage 2 · 6"));
    CHECK_THAT(desk.text("pipeline"), Contains("layers by stage, as cut by hand: 4, 4, 6, 2"));
    turn(33);
    CHECK(desk.session.cluster.asked->pipeline.layers == std::vector<int>{4, 4, 7, 1});
    CHECK_THAT(desk.text("pipeline"), Contains("Stage 3 has one layer left and keeps it") && Contains("stage 2 can give"));
    CHECK(desk.shows("keeps"));  // word by word
    REQUIRE(desk.click_on("even stages"));
    CHECK(desk.session.cluster.asked->pipeline.layers.empty());
    desk.run_asked();

    const Rect label = lowest(desk, "stage 1");  // the boundary above it, between stages 0 and 1
    const float x = label.x + 78;
    for (float y = label.y; y > label.y - 40 && !desk.session.cluster.asked; y -= 3) desk.drag(x, y, x, y + 15);
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->pipeline.layers == std::vector<int>{5, 3, 4, 4});

    scene::ClusterSetup train;
    train.training.on = true;
    CHECK(scene::parts_of(train) == std::vector<int>{5, 5});  // ten blocks of the tiny llama
    CHECK(scene::move_boundary(train, 0, true).empty());
    CHECK(train.training.plan.cut == std::vector<int>{6, 4});
    CHECK_THAT(scene::move_boundary(train, 1, true), Contains("no boundary"));
    const scene::ClusterScene cut = scene::run_cluster(train);
    CHECK(cut.schedules[0].parts == std::vector<int>{6, 4});
    CHECK(cut.schedules[0].refusal.empty());
    CHECK(std::abs(cut.training->difference()) < 1e-5);
}

TEST_CASE("a cable turned slower makes all wait, and even cables are a button away") {
    ClusterDesk desk("collective");
    const double before = desk.session.snapshot()->cluster->collective.run.total_us;
    const Rect link = lowest(desk, "2 → 3");
    desk.input.mouse_x = middle(link), desk.input.mouse_y = link.y + 4;
    desk.frame();
    desk.input.wheel = -1;
    desk.frame();
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->collective.speeds == std::vector<double>{1, 1, 0.5, 1});
    desk.run_asked();
    const scene::CollectiveShown& shown = desk.session.snapshot()->cluster->collective;
    // Six rounds of 16 MB, each of which waits for the port of 12.5 GB/s; the late rank's half millisecond is hidden or not.
    CHECK(shown.run.total_us > before + 5 * 640 - 500);
    CHECK(desk.shows("1/2"));
    CHECK_THAT(desk.text("collective"), Contains("the port of rank 2 runs at 1/2 of the link's speed") &&
                                            Contains("The port of rank 2 runs at 1/2 of the speed, and all wait for it."));
    const Rect slow = lowest(desk, "2 → 3  1/2");
    desk.drag(middle(slow), slow.y + 4, middle(slow) + 20, slow.y + 4);
    REQUIRE(desk.session.cluster.asked);
    desk.run_asked();
    CHECK(desk.session.snapshot()->cluster->collective.speeds.empty());
    CHECK(desk.session.snapshot()->cluster->collective.run.total_us == before);
}

TEST_CASE("a plan whose step has no collective shows none, and says what would make one") {
    scene::ClusterSetup setup;
    setup.training.on = true;
    setup.training.plan = {.pp = 2, .microbatches = 4};
    ClusterDesk desk("collective", setup);
    CHECK_THAT(desk.text("collective"), Contains("hand activations and gradients from stage to stage alone") &&
                                            Contains("dp 2 would all-reduce gradients"));
    CHECK(desk.shows("collective:"));  // word by word
    CHECK(desk.session.snapshot()->cluster->collective.messages.empty());
    setup.training.plan = {};
    CHECK_THAT(scene::run_cluster(setup).collective.nothing, Contains("On one rank nothing is exchanged"));
    setup.training.plan = {.dp = 2};
    CHECK(scene::run_cluster(setup).collective.nothing.empty());
}

TEST_CASE("the memory wall: ten times as many operations a byte as in 2016, and how many tokens hide the gradients") {
    ClusterDesk desk("memory_wall");
    // P100: 21.2 TFLOP/s of FP16 and 732 GB/s; H100 SXM: 989 and 3,352.
    CHECK_THAT(desk.text("memory_wall"),
               Contains("2016") && Contains("29 operations a byte") && Contains("295 operations a byte"));
    // Gradients of 7.5 billion weights in 16 bits, 63/64 of twice 15 GB over 25 GB/s, against 45 GFLOP a token at 312
    // TFLOP/s.
    CHECK_THAT(desk.text("memory_wall"), Contains("1.18 s, as long as 8.19 k tokens"));
    CHECK(desk.shows("arithmetic x47"));
    CHECK(desk.clashes().empty());
    CHECK(desk.quads < 8000);
}

TEST_CASE("playing moves the clock to the end and stops there") {
    ClusterDesk desk("pipeline");
    desk.session.cluster.time = 30;
    desk.session.playing = true;
    for (int i = 0; i < 60 && desk.session.playing; ++i) desk.frame();
    CHECK(!desk.session.playing);
    CHECK(desk.session.cluster.time == 33);
}

TEST_CASE("the wheel zooms, the picture stays inside the budget with 64 ranks and 128 micro-batches") {
    scene::ClusterSetup setup;
    setup.pipeline.ranks = 64;
    setup.pipeline.microbatches = 128;
    {
        ClusterDesk whole("cluster", setup);
        CHECK(whole.quads < 8000);
    }
    ClusterDesk desk("pipeline", setup);
    CHECK(desk.quads < 8000);
    CHECK(desk.quads > 200);
    for (int i = 0; i < 12; ++i) {
        desk.input.mouse_x = 700;
        desk.input.mouse_y = 500;
        desk.input.wheel = 2;
        desk.frame();
        CHECK(desk.quads < 8000);
    }
}

TEST_CASE("an open prediction hides the schedules and the memory") {
    ClusterDesk desk("pipeline");
    desk.session.learn.reveal_steps = 0;
    CHECK_THAT(view_named("pipeline")->make()->describe(desk.session, desk.shell.focus),
               Contains("stays hidden until you lock an answer") && !Contains("33"));
    CHECK_THAT(view_named("rank_memory")->make()->describe(desk.session, desk.shell.focus),
               Contains("stays hidden") && !Contains("31.4"));
}

TEST_CASE("memory per rank follows ZeRO's formulas: 120, 31.4, 16.6 and 1.88 GB for 7.5 billion on 64") {
    ClusterDesk desk("rank_memory");
    const std::string text = desk.text("rank_memory");
    CHECK_THAT(text, Contains("plain: 120 GB") && Contains("ZeRO-1: 31.4 GB") && Contains("ZeRO-2: 16.6 GB"));
    CHECK_THAT(text, Contains("ZeRO-3: 1.88 GB") && Contains("out of memory by 40 GB"));
    CHECK(desk.shows("OOM by 40 GB"));
    CHECK(desk.shows("3P"));
    desk.key(KeyCode::down);
    CHECK(desk.session.cluster.asked->memory.zero == 0);
}

TEST_CASE("no text of the Cluster workspace clashes at any size or in any theme") {
    for (const auto& [width, height, scale] : {std::tuple{1600.f, 1000.f, 1.f},
                                               {1280.f, 720.f, 1.f},
                                               {1600.f, 1000.f, 2.f},
                                               {1600.f, 1000.f, 0.75f},
                                               {1280.f, 720.f, 2.5f}})
        for (const char* theme : {"dark", "print"}) {
            ClusterDesk desk("cluster", {}, theme);
            desk.size(width, height, scale);
            desk.frames(3);
            for (const std::string& clash : desk.clashes())
                FAIL_CHECK(width << " x " << height << " at " << scale << ": " << clash);
            CHECK(desk.quads < 8000);
        }
}

TEST_CASE("a ring all-reduce sends 2(N-1)/N of the buffer a rank in 2(N-1) steps, and a late rank delays all") {
    ClusterDesk desk("collective");
    const std::string text = desk.text("collective");
    CHECK_THAT(text, Contains("6 steps; the rank that sends most sends 96,000,000 bytes, 1.5 of the buffer"));
    // 6 steps of 16 MB at 25 GB/s and 1 us: 3.846 ms; rank 2 begins half a millisecond late.
    CHECK_THAT(text, Contains("4.35 ms in all, 3.85 ms without the late rank"));
    CHECK(desk.shows("6 steps"));
    CHECK(desk.shows("late"));
    const auto& shown = desk.session.snapshot()->cluster->collective;
    desk.session.cluster.collective_time = 0;
    CHECK_THAT(desk.text("collective"), Contains("a 1/4"));
    desk.session.cluster.collective_time = shown.run.total_us;
    CHECK_THAT(desk.text("collective"), Contains("rank 3: a 4/4 complete, b 4/4 complete, c 4/4 complete, d 4/4 complete"));
    desk.key(KeyCode::home);
    CHECK(desk.session.cluster.collective_time == 0);
    desk.key(KeyCode::right);
    CHECK(desk.session.cluster.collective_time > 0);
}

TEST_CASE("every algorithm ends with every chunk complete on every rank") {
    for (const char* algorithm : {"ring", "tree", "halving_doubling", "parameter_server", "hierarchical"})
        for (const int ranks : {2, 4, 7, 8}) {
            scene::ClusterSetup setup;
            setup.collective.algorithm = algorithm;
            setup.collective.ranks = ranks;
            const scene::ClusterScene scene = scene::run_cluster(setup);
            CAPTURE(algorithm, ranks, scene.collective.refusal);
            if (!scene.collective.refusal.empty()) continue;
            CollectiveBoard board;
            board.adopt(scene.collective);
            for (const ChunkState& one : board.at(scene.collective.run.total_us)) CHECK(one.here == board.complete());
        }
}

TEST_CASE(
    "a layout's change names its collective and its bytes: columns of 32 MB gathered over two ranks are 16 MB a rank") {
    ClusterDesk desk("mesh");
    CHECK_THAT(desk.text("mesh"), Contains("along tp: all-gather, 16,777,216 bytes sent a rank"));
    CHECK_THAT(desk.text("mesh"), Contains("rank 0: layers 1-18 of 36, to rank 2"));
    CHECK(desk.shows("tp: all-gather, 16.8 MB"));
    scene::ClusterSetup setup;
    setup.mesh.before[2] = parallel::partial();
    const scene::ClusterScene sum = scene::run_cluster(setup);
    REQUIRE(sum.mesh.plan.steps.size() == 1);
    CHECK(sum.mesh.plan.steps[0].collective == "all-reduce");
    CHECK(sum.mesh.plan.steps[0].bytes == 33'554'432);
    setup.mesh.after[2] = parallel::shard(0);
    CHECK(scene::run_cluster(setup).mesh.plan.steps[0].collective == "reduce-scatter");
    setup.mesh.before[2] = parallel::shard(1);
    CHECK(scene::run_cluster(setup).mesh.plan.steps[0].bytes ==
          8'388'608);  // all-to-all: half of the 16 MB that a rank holds
}

TEST_CASE("two axes on one dimension: the rows of 10 cut over x:2 and again over y:3 are 2, 2, 1, 2, 2 and 1 of them") {
    // By hand: over x 0-4 and 5-9; each five over three y as 2, 2, 1. Gathered: first over y, the innermost cut (a rank
    // passes on the pieces of its neighbours: 5 rows less the next one's piece, at most 5 - 1), then over x (5 rows each).
    scene::ClusterSetup setup;
    setup.mesh.axes = {{"x", 2}, {"y", 3}};
    setup.mesh.before = {parallel::shard(0), parallel::shard(0)};
    setup.mesh.after = {parallel::replicate(), parallel::replicate()};
    setup.mesh.rows = 10;
    setup.mesh.columns = 4;
    setup.mesh.type = DType::f32;
    const scene::ClusterScene scene = scene::run_cluster(setup);
    static constexpr int64_t begins[] = {0, 2, 4, 5, 7, 9}, counts[] = {2, 2, 1, 2, 2, 1};
    REQUIRE(scene.mesh.before.size() == 6);
    for (size_t rank = 0; rank < 6; ++rank) {
        CHECK(scene.mesh.before[rank].rows == comm::Piece{begins[rank], counts[rank]});
        CHECK(scene.mesh.before[rank].columns == comm::Piece{0, 4});
        CHECK(scene.mesh.after[rank].rows == comm::Piece{0, 10});
    }
    REQUIRE(scene.mesh.plan.steps.size() == 2);
    CHECK(scene.mesh.plan.steps[0].axis == 1);
    CHECK(scene.mesh.plan.steps[0].bytes == 4 * 4 * 4);
    CHECK(scene.mesh.plan.steps[1].axis == 0);
    CHECK(scene.mesh.plan.steps[1].bytes == 5 * 4 * 4);
    ClusterDesk desk("mesh", setup);
    CHECK_THAT(desk.text("mesh"), Contains("rank 2 (picked): its part of the matrix") &&
                                      Contains("before row 4, columns 0-3") &&
                                      Contains("along y: all-gather, 64 bytes sent a rank") &&
                                      Contains("along x: all-gather, 80 bytes sent a rank"));
}

TEST_CASE("a network shows what every algorithm takes on it and its busiest link") {
    ClusterDesk desk("network");
    const std::string text = desk.text("network");
    CHECK_THAT(text, Contains("ring all-reduce of 1 GB") && Contains("hierarchical:") && Contains("busy"));
    CHECK(desk.shows("what each algorithm takes"));
    CHECK(desk.quads < 8000);
}

namespace {

scene::ClusterSetup training_setup(const std::string& plan) {
    scene::ClusterSetup setup;
    setup.training = scene::training_named(plan);
    return setup;
}

}  // namespace

TEST_CASE("a training run shows the schedule that ran, memory as it was allocated, and the serial run's loss") {
    const scene::ClusterSetup setup = training_setup("dp=2 pp=2 zero=1 schedule=1f1b microbatches=4 steps=3");
    const auto snapshot = cluster_snapshot(setup);
    const scene::ClusterScene& scene = *snapshot->cluster;
    REQUIRE(scene.training);
    const scene::TrainingShown& shown = *scene.training;
    CAPTURE(shown.refusal);
    REQUIRE(trained(scene));

    REQUIRE(shown.loss.size() == 3);
    CHECK(shown.loss[2] < shown.loss[0]);
    for (size_t i = 0; i < 3; ++i) CHECK(std::abs(shown.loss[i] - shown.alone[i]) < 1e-4);

    REQUIRE(scene.schedules.size() == 1);
    CHECK(scene.schedules[0].executed);
    const parallel::ScheduleRun& run = scene.schedules[0].run;
    CHECK(run.unit == "us");
    REQUIRE(run.actions.size() == 2);
    for (int rank = 0; rank < 2; ++rank) {  // 1F1B on two stages: the first warms up with one micro-batch more
        std::string order;
        for (const parallel::ActionRun& one : run.actions[static_cast<size_t>(rank)])
            if (parallel::computes(one.action.kind) && one.action.kind != parallel::ActionKind::update)
                order += parallel::text_of(one.action) + " ";
        CHECK(order == (rank == 0 ? "F1 F2 B1 F3 B2 F4 B3 B4 " : "F1 B1 F2 B2 F3 B3 F4 B4 "));
        CHECK(run.peak_activations[static_cast<size_t>(rank)] == 2 - rank);
        int64_t bytes = 0;
        for (const parallel::ActivationStep& step : run.activations[static_cast<size_t>(rank)])
            bytes = std::max(bytes, step.bytes);
        CHECK(bytes > 0);
    }

    // Ranks 0 and 2 hold the model once, in f32; Adam's two moments are halved between two data-parallel ranks.
    REQUIRE(scene.memory.columns.size() == 4);
    CHECK(scene.memory.counted);
    const auto& columns = scene.memory.columns;
    const int64_t weights = columns[0].bytes[0] + columns[2].bytes[0];  // buckets are padded to whole pieces
    CHECK(weights >= 4 * shown.parameters);
    CHECK(weights < 4 * shown.parameters * 101 / 100);
    for (const scene::MemoryColumn& column : columns) {
        for (size_t kind = 0; kind < 3; ++kind)
            CHECK(std::abs(static_cast<double>(column.bytes[kind] - column.formula[kind])) <=
                  0.01 * static_cast<double>(column.formula[kind]));
        CHECK(column.bytes[2] <= column.bytes[0] + 1024);
        CHECK(column.peak > column.bytes[0]);
        CHECK(column.over_step.size() > 10);
    }
    int64_t data = 0;  // gradients and weights over dp: 2 (N - 1) / N of 4 bytes a parameter, both copies of the model
    for (const parallel::Traffic& row : shown.sent)
        if (row.axis == "dp") data += row.bytes;
    CHECK(std::abs(static_cast<double>(data) / (8.0 * static_cast<double>(shown.parameters)) - 1) < 0.02);

    for (const char* view : {"pipeline", "collective", "network"}) {  // one step, one word for its times
        ClusterDesk alone(view, setup);
        INFO(view);
        CHECK(alone.shows("executed, times derived"));
        CHECK_FALSE(alone.shows("simulated"));
    }
    ClusterDesk desk("cluster", setup);
    CHECK_THAT(desk.text("pipeline"), Contains("executed, times derived") && Contains("step 3: loss") &&
                                          Contains("dp gradients") && Contains("peak 2 of 2"));
    CHECK_THAT(desk.text("rank_memory"), Contains("rank 3") && Contains("by formula"));
    CHECK(desk.shows("4 ranks trained step 3"));
    CHECK(desk.quads < 8000);
    desk.shell.focus.rank = 3;  // dp rank 1 of the second stage
    CHECK_THAT(desk.text("pipeline"), Contains("stage 1 (picked)"));
    CHECK_THAT(desk.text("rank_memory"), Contains("rank 3 over one step"));
}

TEST_CASE("a step's messages, links and collectives are those that its ranks sent") {
    const scene::ClusterSetup setup = training_setup("dp=2 pp=2 zero=1 schedule=1f1b microbatches=4 steps=2");
    const auto snapshot = cluster_snapshot(setup);
    const scene::ClusterScene& scene = *snapshot->cluster;
    REQUIRE(trained(scene));
    const scene::TrainingShown& run = *scene.training;

    // Message by message what the ranks counted, kind by kind; nothing arrives before it is sent, or outside the step.
    REQUIRE(!run.traffic.messages.empty());
    std::vector<int64_t> bytes(run.sent.size());
    int64_t all = 0;
    for (const scene::RunMessage& one : run.traffic.messages) {
        bytes[static_cast<size_t>(one.kind)] += one.bytes;
        all += one.bytes;
        CHECK(one.begin_us >= one.sent_us);
        CHECK(one.arrival_us > one.begin_us);
        CHECK(one.sent_us >= run.begin_us - 1e-6);
        CHECK(one.arrival_us <= run.end_us + 1e-6);
    }
    for (size_t kind = 0; kind < bytes.size(); ++kind) CHECK(bytes[kind] == run.sent[kind].bytes);
    // Two nodes of two ranks under switches: every message leaves its rank by one link, so those add up to all bytes.
    int64_t left = 0;
    for (size_t i = 0; i < run.traffic.use.links.size(); ++i)
        if (run.traffic.network->links[i].from < 4) left += run.traffic.use.links[i].bytes;
    CHECK(left == all);

    // One collective chunk by chunk: a reduce-scatter of gradients over dp ends with both contributions in the own chunk,
    // and takes on the step's clock what the ranks' clocks say.
    const scene::CollectiveShown& shown = scene.collective;
    CHECK(shown.of_run == "gradients along dp");
    CHECK(shown.operation == "reduce_scatter");
    CHECK(shown.world == std::vector<int>{2, 3});  // the second stage is done first
    CollectiveBoard board;
    board.adopt(shown);
    const auto state = board.at(shown.run.total_us);
    CHECK(state[0].here == 3);
    CHECK(state[3].here == 3);
    for (const comm::Transfer& one : shown.run.transfers)
        CHECK(one.arrival_us <= shown.run.end_us[static_cast<size_t>(one.to)] + 1e-6);
    CHECK(shown.since_us > 0);
    CHECK(shown.since_us + shown.run.total_us <= run.end_us);

    // Every parameter: a stage's two ranks keep all of its weights and half of Adam's state each, the other stage none.
    REQUIRE(run.holdings.size() == 4);
    int64_t weights = 0, moments = 0;
    for (const auto& rank : run.holdings)
        for (const parallel::ParameterHolding& one : rank) weights += one.weights.count, moments += one.optimizer.count;
    CHECK(weights == 2 * run.parameters);
    CHECK(moments == run.parameters);
    CHECK(!scene.mesh.parameter.empty());
    CHECK(scene.mesh.moved.size() == 2);

    ClusterDesk desk("cluster", setup);
    CHECK_THAT(desk.text("network"),
               Contains("executed, times derived") && Contains("gradients along dp") && Contains("activations along pp"));
    CHECK_THAT(desk.text("mesh"), Contains("parameter") && Contains("All ranks together keep 2 copies of its weights"));
    CHECK_THAT(desk.text("collective"), Contains("of the training step: gradients along dp"));
    // One clock moves them all.
    desk.session.cluster.time = shown.since_us + shown.run.total_us / 2;
    desk.frames(2);
    CHECK_THAT(desk.text("network"), Contains("under way: gradients from rank"));
    CHECK(collective_time(desk.session, scene) == Approx(shown.run.total_us / 2));
    CHECK_THAT(desk.text("rank_memory"), Contains("rank 0 at"));
    desk.session.cluster.time = 0;
    desk.frames(2);
    CHECK_THAT(desk.text("network"), Contains("nothing is under way"));
    CHECK(collective_time(desk.session, scene) == 0);
    CHECK(desk.quads < 8000);
}

TEST_CASE("the machine that training ranks run on is the one in Network, and a slower one makes the step longer") {
    scene::ClusterSetup setup = training_setup("dp=2 zero=0 microbatches=1");
    const double fast = scene::run_cluster(setup).training->end_us;
    setup.network.link = "10gbe";
    const scene::ClusterScene slow = scene::run_cluster(setup);
    REQUIRE(trained(slow));
    CHECK(slow.training->end_us > fast);
    const double busy = slow.collective.run.total_us;
    // 2 (N - 1) / N of the buffer over 1.25 GB/s, at least
    CHECK(busy >= static_cast<double>(slow.collective.run.bytes()) / 1250);
}

TEST_CASE("PipeDream runs its updates in one go and steps through them: one a micro-batch, weights of several versions",
          "[long]") {
    const scene::ClusterSetup setup = training_setup("pp=4 schedule=pipedream steps=3");
    const auto snapshot = cluster_snapshot(setup);
    const scene::ClusterScene& scene = *snapshot->cluster;
    REQUIRE(scene.training);
    CAPTURE(scene.training->refusal);
    REQUIRE(trained(scene));
    CHECK(!scene.training->flushes);
    CHECK(scene.training->loss.size() == 3);
    CHECK(scene.setup.training.plan.microbatches == 1);
    const parallel::ScheduleRun& run = scene.schedules.front().run;
    CHECK(run.schedule.batches == 8);
    CHECK(run.weight_versions == std::vector<int>{4, 3, 2, 1});  // p - r of them
    CHECK(scene.training->end_us > scene.training->begin_us);
    ClusterDesk desk("cluster", setup);
    CHECK(desk.shows("keeps 4 versions"));
    const double third = schedule_time(desk.session, desk.shell.focus, scene);
    CHECK(third == scene.training->end_us);
    move_cluster(desk.session, desk.shell.focus, *desk.session.snapshot(), Grain::training_step, 1, false);
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->training.steps == 4);
    scene::ClusterTrainer trainer;
    const scene::ClusterScene fourth = scene::run_cluster(*desk.session.cluster.asked, &trainer);
    CHECK(fourth.training->end_us > third);
    CHECK(fourth.training->loss[2] == scene.training->loss[2]);
    CHECK(trained(scene::run_cluster(training_setup("pp=2 schedule=pipedream_2bw microbatches=4"))));
}

TEST_CASE("the switch asks for a training run, and a training step forward trains one more on the same ranks", "[long]") {
    ClusterDesk desk("pipeline");
    REQUIRE(desk.click_on("training run"));
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->training.on);
    desk.run_asked();
    desk.session.grain = Grain::training_step;
    move_cluster(desk.session, desk.shell.focus, *desk.session.snapshot(), Grain::training_step, 1, false);
    REQUIRE(desk.session.cluster.asked);
    CHECK(desk.session.cluster.asked->training.steps == 2);

    scene::ClusterTrainer trainer;  // the losses are those of a run from the beginning
    scene::ClusterSetup setup = *desk.session.cluster.asked;
    std::vector<double> last;
    for (const int64_t steps : {1, 2, 4, 2}) {
        setup.training.steps = steps;
        const scene::ClusterScene scene = scene::run_cluster(setup, &trainer);
        REQUIRE(trained(scene));
        CHECK(scene.training->record.step == steps - 1);
        if (steps == 4) last = scene.training->loss;
    }
    setup.training.steps = 4;
    CHECK(scene::run_cluster(setup).training->loss == last);
    trainer.stop = [] { return true; };
    setup.training.steps = 9;
    CHECK_THAT(scene::run_cluster(setup, &trainer).training->refusal, Contains("Stopped after 4 of 9 steps"));
}

TEST_CASE("DualPipe trains in the view: two stages a rank, twice the weights, both directions told apart") {
    const scene::ClusterScene scene = scene::run_cluster(training_setup("pp=2 schedule=dualpipe microbatches=4"));
    REQUIRE(scene.training->refusal.empty());
    const scene::ClusterScene plain = scene::run_cluster(training_setup("pp=2 microbatches=4"));
    CHECK(std::abs(scene.training->loss.back() - plain.training->loss.back()) < 1e-5);
    const parallel::Schedule& schedule = scene.schedules[0].run.schedule;
    CHECK(schedule.copies == 2);
    CHECK(darker_words(scene) == "darker: entered at the last rank");
    CHECK(darker_words(plain).empty());
    constexpr auto weights = size_t(parallel::MemoryKind::weights);
    int64_t kept = 0, formula = 0, plain_kept = 0;
    for (const scene::MemoryColumn& column : scene.memory.columns)
        kept += column.bytes[weights], formula += column.formula[weights];
    for (const scene::MemoryColumn& column : plain.memory.columns) plain_kept += column.bytes[weights];
    CHECK(double(kept) > 1.9 * double(plain_kept));
    CHECK(kept <= 2 * plain_kept);  // tables of turns are there once a rank
    CHECK(std::abs(double(formula) / double(kept) - 1) < 0.05);
}

TEST_CASE("no rank of a training run keeps more than the limit that is drawn, its schedule's own") {
    const std::pair<const char*, int> limits[] = {{"gpipe", 4}, {"1f1b", 2}, {"zb-h1", 2},
                                                  {"zb-h2", 3}, {"zb-v", 2}, {"dualpipe", 3}};
    for (const auto& [schedule, limit] : limits) {
        const std::string plan = std::string("pp=2 microbatches=4 schedule=") + schedule;
        const scene::ClusterScene scene = scene::run_cluster(training_setup(plan));
        INFO(plan);
        REQUIRE(scene.training->refusal.empty());
        CHECK(activation_limit(scene) == limit);
        double most = 0;
        for (int rank = 0; rank < 2; ++rank) most = std::max(most, peak_of(scene.schedules[0].run, rank));
        CHECK(most > limit - 1);
        CHECK(most <= limit);
    }
}

TEST_CASE("a plan that cannot be says why in the schedule's place, as the core says it") {
    const auto refusal = [](const std::string& plan) { return scene::run_cluster(training_setup(plan)).training->refusal; };
    CHECK_THAT(refusal("dp=3 batch=16"), Contains("batch"));
    CHECK_THAT(refusal("pp=2 schedule=pipedream zero=1"), Contains("--zero 0"));
    CHECK_THAT(refusal("pp=2 schedule=pipedream steps=65"), Contains("never flushes") && Contains("64 at most"));
    CHECK_THAT(refusal("pp=3 schedule=dualpipe microbatches=8"), Contains("an even number of pipeline ranks"));
    CHECK_THAT(refusal("tp=3"), Contains("attention heads"));
    CHECK_THROWS_AS(scene::training_named("dp=2 colour=red"), Failure);
    CHECK_THROWS_AS(scene::training_named("schedule=none"), Failure);
    ClusterDesk desk("cluster", training_setup("tp=3"));
    CHECK_THAT(desk.text("pipeline"), Contains("--tp 3 does not divide"));
    CHECK_THAT(desk.text("rank_memory"), Contains("nothing has been counted"));
}

TEST_CASE("no text of a training run's pictures clashes at any size", "[long]") {
    const auto snapshot = cluster_snapshot(training_setup("dp=2 pp=4 zero=2 microbatches=8"));
    for (const auto& [width, height, scale] :
         {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
        ClusterDesk desk("cluster");
        desk.size(width, height, scale);
        desk.show(snapshot);
        desk.frames(6);
        for (const std::string& clash : desk.clashes())
            FAIL_CHECK(width << " x " << height << " at " << scale << ": " << clash);
        CHECK(desk.quads < 8000);
    }
}

namespace {

constexpr const char* two_plans = "llama3-8b name=one dp=1 sequence=8192 batch=8; llama3-8b name=many dp=8 tp=8 zero=1";

}  // namespace

namespace {
constexpr const char* steps_and_server =
    "mlp widths=16,32,8 name=steps dp=3 batch=12 records=97 slow=2:1.4; name=server async=1";
}

TEST_CASE("workers show a dead-lock in steps above a server's pushes with their staleness, and a batch by key") {
    RowsDesk desk("parallel", steps_and_server, "workers", false);
    CHECK_THAT(desk.shell.describe("workers"), Contains("Nobody waits, and 23 of 25 updates are stale") &&
                                                   Contains("worker 0 waits for worker 2 for ever") &&
                                                   Contains("server: 25 updates in ") && Contains("staleness 2: ") &&
                                                   Contains("Equal: model, batches of 4"));
    desk.shell.show_alone("workers");
    desk.frames(3);
    CHECK(desk.shows("Nobody waits, and 23 of 25 updates are stale"));
    CHECK(desk.shows("waits, for ever"));
    CHECK(desk.shows("updates by staleness"));
    CHECK(desk.quads < 8000);
    for (const std::string& clash : desk.clashes()) FAIL_CHECK(clash);
    desk.key(KeyCode::down);
    CHECK_THAT(desk.shell.describe("workers"), Contains("picked: Worker 0, batch 1: weights at "));
    for (int i = 0; i < 25; ++i) desk.key(KeyCode::down);  // 24 batches in steps and the one that waits; then the server's
    const std::string picked = desk.shell.describe("workers");
    CHECK(picked.substr(picked.find("picked")).find("; staleness 0; loss") != std::string::npos);
    desk.key(KeyCode::up);
    CHECK_THAT(desk.shell.describe("workers"), Contains("picked: Worker 0, batch 9: weights at"));
}

TEST_CASE("of workers that wait in a chain the one that has ended is told to send nothing") {
    RowsDesk desk("parallel", "mlp widths=16,32,8 dp=4 batch=32 records=130", "workers", false);
    desk.shell.show_alone("workers");
    desk.frames(3);
    CHECK_THAT(desk.shell.describe("workers"),
               Contains("worker 0 waits for worker 3 for ever") && Contains("worker 1 waits for worker 0 for ever"));
    CHECK(std::count_if(desk.written.begin(), desk.written.end(),
                        [](const UiState::Written& text) { return text.text == "never sends"; }) == 1);
    for (const std::string& clash : desk.clashes()) FAIL_CHECK(clash);
}

TEST_CASE("both rows' losses stand beside workers that end: of steps each one's, of a server means of as many examples") {
    RowsDesk desk("parallel", "mlp widths=16,32,8 name=steps dp=3 batch=12 steps=6 slow=2:1.4; name=server async=1",
                  "workers", false);
    const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
    const auto steps = loss_curve(*rows[0].lanes), server = loss_curve(*rows[1].lanes);
    REQUIRE(steps.size() == rows[0].losses.size());
    for (size_t i = 0; i < steps.size(); ++i) CHECK(steps[i].loss == rows[0].losses[i]);
    const auto& pushes = rows[1].lanes->batches;
    REQUIRE(pushes.size() == 18);                 // three workers of six batches each
    REQUIRE(server.size() == pushes.size() - 2);  // the first two are not three
    double mean = 0;
    for (size_t i = 15; i < 18; ++i) mean += pushes[i].loss / 3;
    CHECK(server.back().loss == Approx(mean));
    CHECK(desk.shows("loss over time"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("who works when stays hidden while the question about it is open") {
    RowsDesk desk("parallel", steps_and_server, "workers", true);
    desk.shell.show_alone("workers");
    desk.frames(3);
    CHECK_THAT(desk.shell.describe("workers"), Contains("stays hidden until you lock an answer"));
    CHECK(desk.shell.describe("workers").find("updates") == std::string::npos);
    CHECK_FALSE(desk.shows("updates by staleness"));
    CHECK_FALSE(desk.shows("waits, for ever"));
    CHECK(desk.shows("worker 2"));
}

TEST_CASE("no text of the workers' picture clashes at any size", "[long]") {
    for (const auto& [width, height, scale] :
         {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1600.f, 1000.f, 2.f}}) {
        RowsDesk desk("parallel", steps_and_server, "workers", false);
        desk.size(width, height, scale);
        desk.frames(6);
        for (const std::string& clash : desk.clashes())
            FAIL_CHECK(width << " x " << height << " at " << scale << ": " << clash);
    }
}

TEST_CASE("plans show their memory and their step as stacked bars, and one that does not fit says by how much") {
    RowsDesk desk("plan", two_plans, "rows", false);
    REQUIRE(desk.table().stacks.size() == 2);
    const auto& memory = desk.table().stacks[0];
    const auto& figures = desk.result.as<scene::ParallelScene>()->rows;
    const double board = 80.0 * 1024 * 1024 * 1024;  // an H100's
    for (size_t row = 0; row < 2; ++row) {
        CHECK(memory.total(row) == Approx(figures[row].figures.at("memory")));
        CHECK(desk.table().stacks[1].total(row) == Approx(figures[row].figures.at("step_us")));
        CHECK(memory.limits[row] == board);
    }
    // Eight billion weights in 16 bits, Adam's three f32 copies: 14 bytes each are 112 GB already.
    CHECK(desk.table().over(0) > 112e9 - board);
    CHECK(desk.table().over(1) == 0);
    const std::string over = "does not fit by " + scene::figure_text(memory.total(0) - board, "B");
    CHECK_THAT(desk.shell.describe("rows"), Contains("one") && Contains(over) && Contains("H100 holds 85.9 GB") &&
                                                Contains("many fits") && Contains("Time of a step (derived)"));
    CHECK(desk.shows(over));
    CHECK(desk.shows("H100 holds 85.9 GB (80 GiB)"));  // as which the board is sold
    CHECK(desk.quads < 8000);
}

TEST_CASE("collectives whose rounds follow each other say how much of their time is latency") {
    {
        RowsDesk desk("collective", "ring name=slow ranks=8 bytes=4096 link=10gbe; ring name=fast link=ib-edr", "rows",
                      false);
        REQUIRE(desk.table().stacks.size() == 1);
        const auto table = desk.table();
        const auto& time = table.stacks[0];
        const auto& rows = desk.result.as<scene::ParallelScene>()->rows;
        for (size_t row = 0; row < 2; ++row) {
            CHECK(time.total(row) == Approx(rows[row].figures.at("time_us")));
            CHECK(time.rows[row][0] == Approx(14 * rows[row].figures.at("latency")));  // 2 (N - 1) rounds
        }
        CHECK(time.rows[0][0] > 0.9 * time.total(0));  // few bytes take little of it
        CHECK(desk.shows("latency"));
    }
    RowsDesk tree("collective", "ring ranks=8 bytes=4096; tree", "rows",
                  false);  // a tree's pieces follow each other closely
    CHECK(tree.table().stacks.empty());
}

TEST_CASE("an open question hides bars and what does not fit, and leaves their axes standing") {
    RowsDesk desk("plan", two_plans, "rows", true);
    REQUIRE(desk.session.learn.reveal_steps >= 0);
    CHECK_THAT(desk.shell.describe("rows"), !Contains("does not fit") && !Contains("GB") && Contains("hidden"));
    CHECK(!desk.shows("does not fit by"));
    CHECK(!desk.shows("GB"));
    CHECK(desk.shows("Memory of the fullest GPU"));
    CHECK(desk.shows("activations"));
    desk.session.lesson.predictions[0][0].locked = true;
    desk.frames(3);
    CHECK(desk.shows("does not fit by"));
}

TEST_CASE("where nothing moves the transport says what is shown, and offers no steps") {
    const std::tuple<const char*, const char*, const char*, const char*> scenes[] = {
        {"plan", two_plans, "rows", "2 plans, derived"},
        {"parallel", "mlp widths=16,32,8 name=one batch=16 steps=1; name=four dp=4", "rows", "2 training runs, executed"},
        {"mesh", "tensor name=world mesh=host:2,slot:4 shape=8x1 layout=-,-", "mesh", "1 layout, executed"}};
    for (const auto& [kind, rows, view, words] : scenes) {
        RowsDesk desk(kind, rows, view, false);
        CAPTURE(view, rows);
        CHECK(desk.shows(words));
        for (const char* wrong : {"no kernel yet", "instruction", "training step", "starts on stage"})
            CHECK(!desk.shows(wrong));
        desk.session.playing = true;
        desk.frames(2);
        CHECK(!desk.session.playing);
        desk.key(KeyCode::right);
        CHECK(grains_of(desk.session, *desk.session.snapshot()).empty());
    }
}

TEST_CASE("no text of rows and their bars clashes at any size", "[long]") {
    for (const bool asks : {true, false})
        for (const auto& [width, height, scale] :
             {std::tuple{1600.f, 1000.f, 1.f}, {1280.f, 720.f, 1.f}, {1280.f, 720.f, 2.f}, {1600.f, 1000.f, 2.f}}) {
            RowsDesk desk("plan", two_plans, "rows", asks);
            desk.size(width, height, scale);
            desk.frames(3);
            for (const std::string& clash : desk.clashes())
                FAIL_CHECK(width << " x " << height << " at " << scale << ": " << clash);
            desk.shell.show_alone("rows");
            desk.frames(3);
            for (const std::string& clash : desk.clashes())
                FAIL_CHECK("alone, " << width << " x " << height << " at " << scale << ": " << clash);
        }
}

TEST_CASE("a single row stands as cards, and no figure of twelve columns is cut at twice the text size") {
    for (const char* rows : {two_plans, "llama3-8b name=one dp=8 tp=8 zero=1 sequence=8192 batch=64"}) {
        RowsDesk desk("plan", rows, "rows", false);
        const auto& first = desk.table().rows.front();
        for (const float scale : {1.0f, 2.0f}) {
            desk.size(1280, 720, scale);
            desk.shell.show_alone("rows");
            desk.frames(3);
            CHECK(desk.shows(scene::figure_text(first.values[1], desk.table().columns[1].unit)));
            for (const UiState::Written& text : desk.written)
                if (!text.text.empty() && text.text[0] >= '0' && text.text[0] <= '9')
                    CHECK(text.text.find("\u2026") == std::string::npos);
            for (const std::string& clash : desk.clashes()) FAIL_CHECK(scale << ": " << clash);
        }
    }
}

TEST_CASE("presenter mode shows the cluster's own picture") {
    ClusterDesk desk("cluster");
    desk.shell.presenter.on = true;
    desk.frames(3);
    CHECK(desk.shows("Pipeline schedule"));
    CHECK(desk.shows("6 units sooner"));
}

}  // namespace gui_cluster_test
