// What the training views say, held against a real training step.
#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/training_data.h"
#include "core/nn/trainer.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::gui;

namespace {
nn::StepRecord real_step() {
    nn::Trainer trainer({.model = "mlp", .device = "host", .batch = 16, .keep_graph = true, .keep_values = true});
    trainer.step();
    return trainer.step();
}
float at(const nn::Values& values, int64_t index) {
    return values->at(static_cast<size_t>(index));
}
}  // namespace

TEST_CASE("one scalar is followed through every node of the graph") {
    const nn::StepRecord step = real_step();
    const Probe probe = probe_of(step);
    CHECK(probe.unit >= 0);
    CHECK(probe.pixel >= 0);
    for (const nn::GraphNode& node : step.nodes) {
        INFO(node.name);
        if (node.kind == nn::GraphNode::Kind::label) continue;
        REQUIRE(probe.index[static_cast<size_t>(node.id)] >= 0);
        if (node.value) CHECK(probe.index[static_cast<size_t>(node.id)] < static_cast<int64_t>(node.value->size()));
    }
}

TEST_CASE("local derivative times upstream, summed over its terms, is the gradient that the engine computed") {
    const nn::StepRecord step = real_step();
    const Probe probe = probe_of(step);
    int checked = 0;
    for (const nn::GraphNode& node : step.nodes) {
        if (node.kind != nn::GraphNode::Kind::op) continue;
        for (int input : node.inputs) {
            const nn::GraphNode& x = step.nodes[static_cast<size_t>(input)];
            if (!x.gradient || x.kind == nn::GraphNode::Kind::input) continue;
            const auto rule = chain_rule(step, probe, node.id, x.gradient_after);
            if (!rule) continue;
            CHECK(rule->product == Approx(rule->local * rule->upstream).margin(1e-12));
            INFO(node.name << " to " << x.name);
            CHECK(rule->total == Approx(at(x.gradient, probe.index[static_cast<size_t>(x.id)])).epsilon(1e-4).margin(1e-7));
            ++checked;
        }
    }
    CHECK(checked >= 7);  // two weights, two biases, and the three values between them
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
    snapshot->step = step;
    session.publish_for_test(snapshot);
    const std::string count = std::to_string(step->launches.size());
    for (const ViewRow& row : views()) {
        if (row.name != "kernels" && row.name != "graph") continue;
        INFO(row.name);
        const auto view = row.make();
        session.reveal_steps = -1;
        const std::string open = view->describe(session, {});
        CHECK(open.find(step->launches.back().label) != std::string::npos);
        session.reveal_steps = 0;
        const std::string hidden = view->describe(session, {});
        CHECK(hidden.find("until you lock an answer") != std::string::npos);
        for (const char* word : {"backward", ", grad ", "saves", " us", "busy", "launch "}) {
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
    snapshot->step = step;
    session.publish_for_test(snapshot);
    for (const ViewRow& row : views()) {
        if (row.name != "kernels") continue;
        const std::string text = row.make()->describe(session, {});
        CHECK(text.find("ran without timing") != std::string::npos);
        CHECK(text.find(" us") == std::string::npos);
        CHECK(text.find("busy") == std::string::npos);
        CHECK(text.find(step->launches.front().label) != std::string::npos);
    }
}
