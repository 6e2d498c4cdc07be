// What the training views say, held against a real training step.
#include <algorithm>
#include <cmath>
#include <map>

#include "app/gui/view.h"
#include "app/gui/views/training/exhibit_data.h"
#include "app/gui/views/training/steps/step_ranks.h"
#include "app/gui/views/training/tape_data.h"
#include "app/gui/views/training/training_data.h"
#include "core/nn/models/models.h"
#include "core/nn/train/trainer.h"
#include "core/parallel/train/trainer.h"
#include "core/scene/cluster/cluster.h"
#include "tests/gui/desk.h"

namespace gui_training_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {
nn::StepRecord real_step() {
    nn::Trainer trainer({.model = "mlp", .device = "host", .batch = 16, .keep_graph = true, .keep_values = true});
    trainer.step();
    return trainer.step();
}
nn::StepRecord step_of(const nn::ModelRow& row, int64_t batch) {
    nn::TrainerOptions options{.model = std::string(row.name), .batch = batch};
    options.learning_rate = row.learning_rate;
    options.keep_graph = options.keep_values = true;
    nn::Trainer trainer(options);
    trainer.step();
    nn::StepRecord step = trainer.step();
    step.followed = std::make_shared<const nn::Followed>(nn::follow(step));
    return step;
}
}  // namespace

TEST_CASE("the tape's moments are its nodes forward, back in reverse, and updates; live bytes and pins follow them") {
    const nn::StepRecord step = real_step();
    const TapePlan tape = plan_tape(step);
    size_t ops = 0, back = 0, updates = 0;
    for (const nn::GraphNode& node : step.nodes) {
        ops += node.kind == nn::GraphNode::Kind::op || node.kind == nn::GraphNode::Kind::loss;
        back += node.went_back;
        updates += !node.update_launches.empty();
    }
    CHECK(tape.moments.size() == ops + back + updates);
    CHECK(back == ops);
    CHECK(updates == 4);  // two weights and two biases
    for (size_t i = 1; i < tape.moments.size(); ++i) {
        const Moment &before = tape.moments[i - 1], &now = tape.moments[i];
        CHECK(now.launch >= before.launch);
        if (now.kind == Moment::Kind::forward) CHECK(now.node > before.node);
        if (now.kind == Moment::Kind::backward && before.kind == now.kind) CHECK(now.node < before.node);
    }
    CHECK(tape.moments.back().launch == static_cast<int>(step.launches.size()) - 1);
    CHECK(step.live_bytes.size() == step.launches.size());
    for (const nn::GraphNode& node : step.nodes) {
        if (node.gradient && node.kind == nn::GraphNode::Kind::parameter) {
            CHECK(tape.gradient_known(node.id, tape.last()));
            CHECK_FALSE(tape.gradient_known(node.id, tape.last_forward()));
        }
        if (!node.saved.empty())
            CHECK(tape.back_at[static_cast<size_t>(node.id)] > tape.forward_at[static_cast<size_t>(node.id)]);
    }
    for (int launch = 0; launch < static_cast<int>(step.launches.size()); ++launch)
        CHECK(tape.moments[static_cast<size_t>(tape.of_launch(launch))].launch >= launch);
}

TEST_CASE("every op of every model's graph is in one box, left of what reads it, and folded graphs fit") {
    for (const nn::ModelRow& row : nn::models()) {
        INFO(row.name);
        nn::Trainer trainer({.model = std::string(row.name),
                             .batch = row.data == "stories" ? 1 : std::min<int64_t>(row.batch, 2),
                             .keep_graph = true});
        const nn::StepRecord step = trainer.step();
        for (int level = 0; level < 3; ++level) {
            const GraphPlan plan = arrange_graph(step, level, {});
            std::vector<int> seen(step.nodes.size(), 0);
            std::set<std::pair<int, int>> cells;
            for (const GraphBox& box : plan.boxes) {
                CHECK(cells.insert({box.column, box.row}).second);
                for (const int node : box.nodes) ++seen[static_cast<size_t>(node)];
            }
            for (const nn::GraphNode& node : step.nodes)
                if (node.kind == nn::GraphNode::Kind::op || node.kind == nn::GraphNode::Kind::loss)
                    CHECK(seen[static_cast<size_t>(node.id)] == 1);
            for (const GraphWire& wire : plan.wires) {
                const GraphBox &from = plan.boxes[static_cast<size_t>(wire.from)],
                               &to = plan.boxes[static_cast<size_t>(wire.to)];
                CHECK((from.leaf ? from.column == to.column : from.column < to.column));
            }
            if (level == 2) CHECK(plan.columns <= 16);
        }
    }
}

TEST_CASE("an element's place is written by its tensor's axes") {
    CHECK(element_text({64, 128}, 128 + 17) == "[1,17]");
    CHECK(element_text({2, 3, 4}, 23) == "[1,2,3]");
    CHECK(element_text({1}, 0).empty());
    CHECK(layer_of("layers.3.attention.q matmul") == "layers.3");
    CHECK(layer_of("fc1.weight") == "fc1");
    CHECK(layer_of("lstm[7] cell") == "place 7");
}

TEST_CASE("values fill in launch order and gradients arrive after them") {
    const nn::StepRecord step = real_step();
    const int last = static_cast<int>(step.launches.size()) - 1;
    for (const nn::GraphNode& node : step.nodes) {
        CHECK(value_known(node, last));
        if (node.kind == nn::GraphNode::Kind::op) CHECK_FALSE(value_known(node, -1));
        if (node.kind == nn::GraphNode::Kind::parameter) CHECK(gradient_known(node, last));
        for (int launch = 0; launch < last; ++launch)
            if (gradient_known(node, launch)) CHECK(value_known(node, launch));
    }
    for (int launch = 0; launch <= last; ++launch) CHECK(node_of_launch(step, launch) >= 0);
}

TEST_CASE("a histogram counts every value once") {
    std::vector<float> values;
    for (int i = -500; i < 500; ++i) values.push_back(static_cast<float>(i) * 1e-4f);
    const Histogram h = histogram_of(values, 60);
    int64_t sum = 0;
    for (int64_t count : h.counts) sum += count;
    CHECK(sum == 1000);
    CHECK(h.total == 1000);
    CHECK(h.zeros == 1);
    CHECK(h.high == Approx(0.05));
}

TEST_CASE("numbers keep their sign and say when they are tiny") {
    CHECK(signed_text(0.0024) == "+0.0024");
    CHECK(signed_text(-0.15432) == "-0.1543");
    CHECK(signed_text(0) == "0");
    CHECK(signed_text(3e-7) == "+3.0e-07");
    CHECK(signed_text(std::nan("")) == "NaN");
    CHECK(shape_text({64, 784}) == "64×784");
}

TEST_CASE("while a prediction is open, the kernels and the graph tell neither counts nor times nor gradients") {
    auto step = std::make_shared<nn::StepRecord>(real_step());
    Session session({.start = false});
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->training.step = step;
    session.publish_for_test(snapshot);
    const std::string count = std::to_string(step->launches.size());
    for (const ViewRow& row : views()) {
        if (row.name != "kernels" && row.name != "graph") continue;
        INFO(row.name);
        const auto view = row.make();
        session.learn.reveal_steps = -1;
        const std::string open = view->describe(session, {});
        CHECK(open.find(step->launches.back().label) != std::string::npos);
        session.learn.reveal_steps = 0;
        const std::string hidden = view->describe(session, {});
        CHECK(hidden.find("until you lock an answer") != std::string::npos);
        for (const char* word : {"backward", ", grad ", "saves", " µs", "busy", "launch "}) {
            INFO(word);
            CHECK(hidden.find(word) == std::string::npos);
        }
        CHECK(hidden.find(" " + count) == std::string::npos);
    }
}

TEST_CASE("a simulated step without cycles says that it was not timed, and claims no microseconds") {
    auto step = std::make_shared<nn::StepRecord>(real_step());
    step->device = "sim:v100";
    Session session({.start = false});
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->training.step = step;
    session.publish_for_test(snapshot);
    for (const ViewRow& row : views()) {
        if (row.name != "kernels") continue;
        const std::string text = row.make()->describe(session, {});
        CHECK(text.find("ran without timing") != std::string::npos);
        CHECK(text.find(" µs") == std::string::npos);
        CHECK(text.find("busy") == std::string::npos);
        CHECK(text.find(step->launches.front().label) != std::string::npos);
    }
}

TEST_CASE("a step's caption tells the wait for the host from the time that passes between two kernels that stand ready") {
    auto step = std::make_shared<nn::StepRecord>(real_step());
    step->device = "sim:v100";
    step->launches.resize(3);
    // The second was given long before the first had ended, the third two microseconds after the second had.
    const double given[] = {1, 2, 22}, begins[] = {3, 12, 24}, ends[] = {10, 20, 30};
    for (size_t i = 0; i < 3; ++i) {
        device::LaunchEvent& launch = step->launches[i];
        launch.cycles = 1000;
        launch.enqueue_begin_us = given[i] - 1, launch.enqueue_end_us = given[i];
        launch.begin_us = begins[i], launch.end_us = ends[i];
    }
    Session session({.start = false});
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->training.step = step;
    session.publish_for_test(snapshot);
    CHECK_THAT(
        view_named("kernels")->make()->describe(session, {}),
        Catch::Contains("busy 21.0 µs of 30.0 µs") && Catch::Contains("for 2.0 µs it waits for the host, and 4.0 µs pass"));
    step->launches[2].enqueue_end_us = 19;
    CHECK_THAT(view_named("kernels")->make()->describe(session, {}),
               Catch::Contains("it never waits for the host, and 6.0 µs pass from one kernel to the next"));
}

TEST_CASE("the tape is stepped node by node, on and back, by key and by the transport's buttons") {
    auto step = std::make_shared<nn::StepRecord>(real_step());
    step->followed = std::make_shared<const nn::Followed>(nn::follow(*step));
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->training.step = step;
    test::Desk desk;
    desk.session.workspace = Workspace::training;
    desk.show(snapshot);
    desk.session.grain = Grain::node;
    const TapePlan tape = plan_tape(*step);
    const auto graph = [&] { return desk.shell.describe("graph"); };
    desk.key(KeyCode::home);
    CHECK(desk.session.training.tape_at == 0);
    CHECK(graph().find(fmt::format("moment 1 of {}", tape.moments.size())) != std::string::npos);
    CHECK(graph().find("grad not yet") != std::string::npos);
    for (int i = 1; i <= tape.last(); ++i) {
        desk.key(KeyCode::right);
        REQUIRE(desk.session.training.tape_at == i);
        const Moment& now = tape.moments[static_cast<size_t>(i)];
        CHECK(desk.shell.focus.op == now.node);
        CHECK(desk.shell.focus.launch == now.launch);
        if (now.kind != Moment::Kind::backward) continue;
        // What is written on the edge multiplies to what the box holds.
        for (const nn::Passing& edge : step->followed->edges)
            if (edge.node == now.node)
                CHECK(graph().find(fmt::format("gives {:+.6g}", edge.local * edge.upstream)) != std::string::npos);
    }
    CHECK(graph().find("not yet") == std::string::npos);
    for (int i = tape.last() - 1; i >= 0; --i) {
        desk.key(KeyCode::left);
        REQUIRE(desk.session.training.tape_at == i);
    }
    desk.click(155, 1000 - 56 + 28);  // the transport's step button
    CHECK(desk.session.training.tape_at == 1);
    // The node itself: a click goes to its forward run, another to its backward run.
    const nn::GraphNode* relu = nullptr;
    for (const nn::GraphNode& node : step->nodes)
        if (node.op == "relu") relu = &node;
    REQUIRE(relu != nullptr);
    desk.session.workspace = Workspace::training;
    desk.frames(2);
    REQUIRE(desk.click_on("relu"));
    CHECK(desk.session.training.tape_at == tape.forward_at[static_cast<size_t>(relu->id)]);
    desk.frames(2);
    REQUIRE(desk.click_on("relu"));
    CHECK(desk.session.training.tape_at == tape.back_at[static_cast<size_t>(relu->id)]);
    // A bar of the bytes that live: its launch. The words stand below the middle of the bars.
    desk.frames(2);
    const auto below = std::find_if(desk.written.begin(), desk.written.end(),
                                    [](const UiState::Written& text) { return text.text == "launch of the step"; });
    REQUIRE(below != desk.written.end());
    const auto middle = static_cast<int>(step->live_bytes.size() / 2);
    desk.click(below->ink.x + below->ink.w / 2 + 2, below->ink.y - 40);
    CHECK(desk.shell.focus.launch == middle);
    CHECK(desk.session.training.tape_at == -1);
}

TEST_CASE("what attention looks at, worked out from queries and keys, times the values is what attention gave") {
    const nn::StepRecord step = step_of(nn::model_named("llama"), 1);  // grouped: four heads, two of keys and values
    int looked = 0;
    for (const nn::GraphNode& node : step.nodes) {
        if (node.op != "attention") continue;
        const auto maps = attention_maps(step, node, 0);
        REQUIRE(maps.size() == 4);
        const nn::GraphNode& v = step.nodes[static_cast<size_t>(node.inputs[2])];
        const int64_t places = node.shape[1], heads = node.shape[2], size = node.shape[3], groups = v.shape[2];
        double worst = 0;
        for (int64_t head = 0; head < heads; ++head)
            for (int64_t t = 0; t < places; t += 17) {
                double all = 0;
                for (int64_t s = 0; s < places; ++s) {
                    const double weight = static_cast<double>(maps[size_t(head)][size_t(t * places + s)]);
                    CHECK((s <= t || weight == 0));
                    all += weight;
                }
                CHECK(all == Approx(1).epsilon(1e-5));
                for (int64_t e = 0; e < size; ++e) {
                    double mixed = 0;
                    for (int64_t s = 0; s < places; ++s)
                        mixed += static_cast<double>(maps[size_t(head)][size_t(t * places + s)]) *
                                 static_cast<double>(v.value->at(size_t((s * groups + head * groups / heads) * size + e)));
                    const double kept = static_cast<double>(node.value->at(size_t((t * heads + head) * size + e)));
                    worst = std::max(worst, std::abs(mixed - kept));
                }
            }
        CHECK(worst < 1e-5);
        ++looked;
    }
    CHECK(looked == 4);
}

TEST_CASE("every model has something to show of its step, and every view says so in words", "[long]") {
    for (const nn::ModelRow& row : nn::models()) {
        INFO(row.name);
        auto step = std::make_shared<const nn::StepRecord>(
            step_of(row, row.data == "stories" ? 1 : std::min<int64_t>(row.batch, 8)));
        const Exhibit exhibit = exhibit_of(*step, 0);
        CHECK(exhibit.kind != Exhibit::Kind::none);
        auto snapshot = std::make_shared<Snapshot>();
        snapshot->training.step = snapshot->training.first_step = step;
        snapshot->training.setup = setup_of(std::string(row.name));
        snapshot->training.open = true;
        snapshot->training.curves = {{.name = "one", .loss = {step->loss, step->loss}, .total_steps = 2}};
        test::Desk desk;
        desk.session.workspace = Workspace::training;
        desk.show(snapshot);
        desk.session.grain = Grain::node;
        desk.key(KeyCode::home);
        for (int i = 0; i < 6; ++i) desk.key(KeyCode::right);
        CHECK(desk.clashes() == std::vector<std::string>{});
        CHECK(desk.quads < 8000);
        for (const ViewRow& view : views()) {
            if (view.workspace != Workspace::training) continue;
            INFO(view.name);
            desk.shell.show_alone(view.name);
            desk.frames(2);
            CHECK(desk.clashes() == std::vector<std::string>{});
            CHECK(desk.shell.describe(view.name).size() > 30);
        }
    }
}

TEST_CASE("the maze's path follows the policy, and clusters hold every point once") {
    const Exhibit maze = exhibit_of(step_of(nn::model_named("policy"), 8), 0);
    REQUIRE_FALSE(maze.path.empty());
    CHECK(maze.cells[static_cast<size_t>(maze.path.front())] == 'S');
    for (size_t i = 1; i < maze.path.size(); ++i) {
        const int from = maze.path[i - 1], to = maze.path[i];
        const int way = std::abs(from - to);
        CHECK((way == 1 || way == maze.columns));
        CHECK(maze.cells[static_cast<size_t>(to)] != '#');
    }
    double all = 0;
    for (const float share : maze.visits) all += static_cast<double>(share);
    CHECK(all == Approx(1).epsilon(1e-4));
    const Exhibit clusters = exhibit_of(step_of(nn::model_named("kmeans"), 1), 0);
    size_t points = 0;
    for (const Exhibit::Cloud& cloud : clusters.clouds)
        if (!cloud.ring) points += cloud.dots.size();
    CHECK(points == 2000);
    CHECK(clusters.clouds.back().dots.size() == 10);
}

TEST_CASE("the widest plane of points keeps the distances of points that lie in a plane") {
    std::vector<float> values;
    for (int i = 0; i < 20; ++i) {  // a plane in four dimensions
        const float a = static_cast<float>(i % 5), b = 0.3f * static_cast<float>(i / 5);
        values.insert(values.end(), {a, b, a - b, 2 * b});
    }
    const auto plane = principal_plane(values, 4);
    REQUIRE(plane.size() == 20);
    for (size_t i = 0; i < 20; ++i)
        for (size_t j = 0; j < i; ++j) {
            double there = 0;
            for (size_t e = 0; e < 4; ++e)
                there += std::pow(static_cast<double>(values[4 * i + e]) - static_cast<double>(values[4 * j + e]), 2);
            const double here = std::pow(static_cast<double>(plane[i].first - plane[j].first), 2) +
                                std::pow(static_cast<double>(plane[i].second - plane[j].second), 2);
            CHECK(here == Approx(there).margin(1e-3));
        }
}

TEST_CASE("what a model wrote later is not shown at a step before it") {
    test::Desk desk({.training_steps = 1, .setup = setup_of("gpt")});
    desk.session.workspace = Workspace::training;
    desk.settle();
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    REQUIRE(snapshot->training.step);
    const int64_t step = snapshot->training.step->step;
    snapshot->training.written = {{step + 35, "too early to be read"}};
    ++snapshot->version;
    desk.show(snapshot);
    CHECK(desk.shell.describe("batch").find("written after") == std::string::npos);
    snapshot = std::make_shared<Snapshot>(*snapshot);
    snapshot->training.written.push_back({step, "just written"});
    ++snapshot->version;
    desk.show(snapshot);
    CHECK(desk.shell.describe("batch").find("just written") != std::string::npos);
}

TEST_CASE("pausing a large model shows its newest step at once: it records one more rather than compute old ones again") {
    SessionOptions options{.training_steps = 1};
    options.setup = setup_of("gpt");
    Session session(options);
    REQUIRE(session.wait_until_idle(60));
    const auto losses = [&] { return session.snapshot()->training.curves.front().loss.size(); };
    session.post(ask::Train{-1});
    for (int i = 0; i < 6000 && losses() < 4; ++i) session.wait_until_idle(0.01);
    REQUIRE(losses() >= 4);
    const size_t before = losses();
    session.post(ask::Pause{});
    bool again = false;
    for (int i = 0; i < 6000 && !session.wait_until_idle(0.01); ++i)
        again = again || session.snapshot()->busy.find("again") != std::string::npos;
    CHECK_FALSE(again);
    CHECK(losses() <= before + 3);  // the one under way, one more, and one that ended meanwhile
    REQUIRE(session.snapshot()->training.step);
    CHECK(session.snapshot()->training.step->step == static_cast<int64_t>(losses()) - 1);
    CHECK_FALSE(session.snapshot()->training.curves.front().running);
}

TEST_CASE("the curves' caption says why a training fails, and only then") {
    SessionOptions options{.training_steps = 3};
    options.setup = setup_of("spirals");
    Session session(options);
    REQUIRE(session.wait_until_idle(60));
    const std::string healthy = view_named("curves")->make()->describe(session, Focus{});
    CHECK(healthy.find("What to change") == std::string::npos);
    auto wild = std::make_shared<TrainingSetup>(options.setup);
    wild->learning_rate = 1000;
    session.post(ask::SetUpTraining{wild});
    session.post(ask::Train{40});
    REQUIRE(session.wait_until_idle(60));
    Focus at;
    at.step = 30;
    const std::string text = view_named("curves")->make()->describe(session, at);
    INFO(text);
    CHECK(text.find("What to change: ") != std::string::npos);
    CHECK(text.find("learning rate") != std::string::npos);
}

TEST_CASE("a training that fails says so over its pictures: the step, the layer and what to change, in every window") {
    struct Fails {
        double rate;
        const char *words, *layer;
    };
    // Large steps make the loss grow, or leave a layer's units where no input reaches them.
    for (const Fails& fails : {Fails{100, "diverged: from step 1 on the loss grew", "fc"},
                               Fails{5, "no gradient reaches 5 of 6 parameters", "fc3.weight gets no gradient"}}) {
        INFO("rate " << fails.rate);
        SessionOptions options{.training_steps = 56};
        options.setup = setup_of("spirals");
        options.setup.learning_rate = fails.rate;
        test::Desk desk(options);
        desk.session.workspace = Workspace::training;
        desk.settle();
        struct Window {
            float width, height, scale;
        };
        for (const Window& window : {Window{1600, 1000, 1}, Window{1280, 720, 1}, Window{1280, 720, 2}}) {
            INFO(window.width << " x " << window.height << ", " << window.scale);
            desk.size(window.width, window.height, window.scale);
            desk.frames(4);
            const std::string said = desk.said();
            INFO(said);
            CHECK(said.find(fails.words) != std::string::npos);
            CHECK(said.find("What to change: ") != std::string::npos);
            CHECK(desk.clashes() == std::vector<std::string>{});
        }
        const std::string described = desk.shell.describe("training");
        CHECK(described.find("Step ") != std::string::npos);
        CHECK(described.find(fails.words) != std::string::npos);
        CHECK(described.find(fails.layer) != std::string::npos);
    }
    test::Desk healthy({.training_steps = 3});
    healthy.session.workspace = Workspace::training;
    healthy.settle();
    CHECK(healthy.said().find("What to change: ") == std::string::npos);
}

TEST_CASE("another setup begins another run and keeps the one before as a curve; a step under way can be cancelled") {
    SessionOptions options{.training_steps = 3};
    options.setup = setup_of("linear_regression");
    Session session(options);
    REQUIRE(session.wait_until_idle(60));
    auto snapshot = session.snapshot();
    CHECK(snapshot->training.step->step == 2);
    REQUIRE(snapshot->training.step->followed != nullptr);
    CHECK(snapshot->training.curves.size() == 1);
    auto faster = std::make_shared<TrainingSetup>(options.setup);
    faster->learning_rate = 0.2;
    session.post(ask::SetUpTraining{faster});
    session.post(ask::Train{4});
    REQUIRE(session.wait_until_idle(60));
    snapshot = session.snapshot();
    REQUIRE(snapshot->training.curves.size() == 2);
    CHECK(snapshot->training.curves[0].name == "lr 0.2");
    CHECK(snapshot->training.curves[1].name == "lr 0.05");
    CHECK(snapshot->training.curves[0].loss.size() >= 4);
    CHECK(snapshot->training.curves[1].loss.size() == 3);
    CHECK(snapshot->training.curves[0].loss.back() < snapshot->training.curves[0].loss.front());
    Focus at;
    at.step = 1;
    const std::string values = fmt::format("at step 1: lr 0.2 {:.3f} lr 0.05 {:.3f}\n", snapshot->training.curves[0].loss[1],
                                           snapshot->training.curves[1].loss[1]);
    CHECK_THAT(view_named("curves")->make()->describe(session, at), Catch::Contains(values));
    session.post(ask::ShowStep{1});  // rewound: the same step again
    REQUIRE(session.wait_until_idle(60));
    CHECK(session.snapshot()->training.step->step == 1);
    CHECK(session.snapshot()->training.step->loss == snapshot->training.curves[0].loss[1]);
    session.post(ask::Train{-1});
    session.post(ask::Cancel{});
    REQUIRE(session.wait_until_idle(60));
    CHECK_FALSE(session.snapshot()->problem);
    session.post(ask::Train{2});  // and it goes on
    REQUIRE(session.wait_until_idle(60));
    CHECK(session.snapshot()->training.curves[0].loss.size() > snapshot->training.curves[0].loss.size());
}

TEST_CASE("the legend names the current run first, and a run of before keeps its colour when others come") {
    SessionOptions options{.training_steps = 3};
    options.setup = setup_of("linear_regression");
    test::Desk desk(options);
    desk.session.workspace = Workspace::training;
    desk.settle();
    std::map<std::string, int> colours;
    for (const double rate : {0.2, 0.02, 0.01, 0.03}) {
        auto other = std::make_shared<TrainingSetup>(options.setup);
        other->learning_rate = rate;
        desk.session.post(ask::SetUpTraining{other});
        desk.session.post(ask::Train{3});
        desk.settle();
        const auto& curves = desk.session.snapshot()->training.curves;
        for (size_t i = 1; i < curves.size(); ++i) {
            INFO(curves[i].name);
            REQUIRE(curves[i].colour >= 0);
            if (colours.contains(curves[i].name)) CHECK(colours[curves[i].name] == curves[i].colour);
            colours[curves[i].name] = curves[i].colour;
            for (size_t k = 1; k < i; ++k) CHECK(curves[k].colour != curves[i].colour);
        }
    }
    desk.size(1300, 800, 1.1f);
    desk.settle();
    CHECK(desk.shows(desk.session.snapshot()->training.curves.front().name));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("where a loss is 0 the curves say that there is no logarithm, and the axis is lit as it is") {
    test::Desk desk;
    desk.session.workspace = Workspace::training;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->training.curves.push_back({.name = "lr 2", .loss = {1, 0.5, 0.25, 0}, .total_steps = 4});
    desk.show(snapshot);
    CHECK(desk.shows("no log"));
    auto positive = std::make_shared<Snapshot>(*snapshot);
    positive->training.curves[0].loss.back() = 0.1;
    desk.show(positive);
    CHECK_FALSE(desk.shows("no log"));
}

TEST_CASE("the menus of a run that has gone on say that a choice begins another one at step 0") {
    SessionOptions options{.training_steps = 3};
    options.setup = setup_of("linear_regression");
    test::Desk desk(options);
    desk.session.workspace = Workspace::training;
    desk.settle();
    REQUIRE(desk.click_on("rate  0.05"));
    desk.frames(2);
    CHECK(desk.shows("Begins a new run at step 0; this one stays as a curve."));
    REQUIRE(desk.click_on("0.1"));
    desk.settle();
    CHECK(desk.said().find("a new run stands at step 0") != std::string::npos);
}

TEST_CASE("a step on many ranks has communication beside forward, backward and update, which opens in Cluster") {
    parallel::RankStep made{.begin_us = 0, .end_us = 20};
    made.spans = {{0, 0, 4, "forward"},
                  {0, 4, 12, "backward"},
                  {1, 9, 14, "all-reduce gradients dp"},
                  {1, 13, 16, "all-reduce losses dp"},
                  {0, 16, 20, "update"}};
    const PhaseTimes times = phase_times(made);
    CHECK(times.us == std::array<double, 4>{4, 8, 8, 4});
    CHECK(times.alone_us == 4);  // 12 to 16
    CHECK(times.step_us == 20);

    SessionOptions options{.training_steps = 2};
    options.setup = setup_of("mlp");
    options.setup.on_gpu = false;
    options.setup.batch = 16;
    options.setup.ranks = 4;
    test::Desk desk(options);
    desk.settle();
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->training.on_ranks);
    CHECK(snapshot->training.on_ranks->step == snapshot->training.step->step);
    CHECK(std::abs(snapshot->training.on_ranks->loss - snapshot->training.step->loss) <
          1e-5 * snapshot->training.step->loss);
    REQUIRE(snapshot->training.on_ranks->ranks.size() == 4);
    const double gradients = 4 * (784 * 128 + 128 + 128 * 10 + 10);  // bytes; a ring sends 2 (N - 1) / N of them
    for (const parallel::RankStep& rank : snapshot->training.on_ranks->ranks) {
        const PhaseTimes its = phase_times(rank);
        for (const double us : its.us) CHECK(us > 0);
        CHECK(its.alone_us > 0);
        CHECK(double(its.sent_bytes) >= 1.5 * gradients);
        CHECK(double(its.sent_bytes) < 1.51 * gradients);
    }
    desk.session.workspace = Workspace::training;
    for (const auto& [w, h, text] : {std::tuple{1600.f, 1000.f, 1.f}, std::tuple{1280.f, 720.f, 1.f}}) {
        desk.size(w, h, text);
        desk.frames(3);
        INFO(w << " x " << h << ", text " << text << ": " << fmt::format("{}", fmt::join(desk.clashes(), "\n")));
        CHECK(desk.clashes().empty());
    }
    const Focus nowhere;
    CHECK_THAT(view_named("kernels")->make()->describe(desk.session, nowhere),
               Catch::Contains("rank 3 communication") && Catch::Contains("rank by rank (executed, times derived)"));
    desk.size(1600, 1000, 1);
    desk.frames(2);
    for (const char* words : {"communication", "rank 0", "backward", "4 ranks take 4 of 16 examples each"})
        CHECK(desk.shows(words));
    REQUIRE(desk.click_on("kernels"));
    CHECK(desk.shows("Kernels of one training step"));
    REQUIRE(desk.click_on("ranks"));
    float x = 0, y = 1e9f;  // under the word over all phases, in the lane below the first rank's backward
    for (const UiState::Written& text : desk.written)
        if (text.text == "communication" && x == 0) x = text.ink.x + text.ink.w / 2, y = text.ink.bottom();
    float lane = 0;
    for (const UiState::Written& text : desk.written)
        if (text.text == "backward" && text.ink.y > y && lane == 0) lane = text.ink.y + text.ink.h / 2 + 15;
    REQUIRE(lane > 0);
    for (int tries = 0; tries < 6 && !desk.shows("bytes sent in the step"); ++tries)  // an update may stand in between
        desk.click(x - 40 * static_cast<float>(tries), lane);
    CHECK(desk.shows("bytes sent in the step"));
    REQUIRE(desk.click_on("open in Cluster"));
    desk.settle();
    CHECK(desk.session.workspace == Workspace::cluster);
    REQUIRE(desk.session.snapshot()->cluster);
    CHECK(desk.session.snapshot()->cluster->setup.training.on);
    CHECK(desk.session.snapshot()->cluster->setup.training.plan.dp == 4);
}

TEST_CASE("where an update lies between two exchanges the names of both phases can be read") {
    SessionOptions options{.training_steps = 1};
    options.setup = setup_of("mlp");
    options.setup.on_gpu = true;
    options.setup.ranks = 2;
    test::Desk desk(options);
    desk.session.workspace = Workspace::training;
    desk.settle();
    REQUIRE(desk.session.snapshot()->training.on_ranks);
    for (const float w : {1280.0f, 1440.0f, 1600.0f, 2200.0f}) {
        desk.size(w, 800, 1);
        desk.frames(3);
        INFO(w << ": " << fmt::format("{}", fmt::join(desk.clashes(), "\n")));
        CHECK(desk.shows("rank 0"));
        CHECK(desk.clashes().empty());
    }
}

TEST_CASE("a lesson's training step stands below the same step on another GPU, on one clock") {
    test::Desk desk({.lesson = "A15", .lesson_step = 8});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->training.beside.size() == 1);
    CHECK(snapshot->training.beside.front().gpu == "A100");
    CHECK(desk.said().find("A100: 92.8") != std::string::npos);
    CHECK(desk.said().find("P100: 106.5") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});
    CHECK(view_named("kernels")->make()->describe(desk.session, {}).find("beside it on A100: 92.8") != std::string::npos);
}

TEST_CASE("a tensor's root mean square is computed once for each step, however often it is drawn") {
    std::vector<float> values = {3, 4};
    RootMeanSquares squares;
    CHECK(squares.of(values) == Approx(std::sqrt(12.5)));
    values = {30, 40};  // no step's values change: what was computed stands
    CHECK(squares.of(values) == Approx(std::sqrt(12.5)));
    squares.forget();
    CHECK(squares.of(values) == Approx(std::sqrt(1250.0)));
}

}  // namespace gui_training_test
