// One element followed through the graph: the numbers on the edges multiply, and what arrives at an element over all edges
// is the gradient that the engine computed, for every model. A worked example against derivatives by hand.
#include "core/nn/train/follow.h"

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/nn/models/models.h"
#include "core/nn/train/graph_record.h"
#include "core/nn/train/trainer.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

namespace nn_follow_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {

// z = log(3 x^2 + 5 x y) at x = 2, y = 3, in double
StepRecord worked_example() {
    const auto host = device::open_device("host").value();
    tensor::Heap heap(*host);
    tensor::Tape tape(heap);
    const auto leaf = [&](double value, const char* name) {
        const double values[] = {value};
        return tape.input(tensor::tensor_from(heap, {1}, values, name), name, true);
    };
    std::vector<device::LaunchEvent> launches;
    host->on_launch = [&](const device::LaunchEvent& event) { launches.push_back(event); };
    const auto x = leaf(2, "x"), y = leaf(3, "y");
    const auto squares = tensor::affine(tape, tensor::pow_scalar(tape, x, 2, "x^2"), 3, 0, "3x^2");
    const auto products = tensor::affine(tape, tensor::mul(tape, x, y, "xy"), 5, 0, "5xy");
    const auto z = tensor::unary(tape, "log", tensor::add(tape, squares, products, "sum"), "z");
    tape.backward(z);
    StepRecord record = record_of(tape, z.node, launches);
    CHECK(record.nodes.size() == tape.nodes().size());
    CHECK(record.live_bytes == tape.live_bytes());
    CHECK(record.launches.size() == static_cast<size_t>(tape.launches()));
    return record;
}
const GraphNode& node_named(const StepRecord& record, const std::string& name) {
    const auto found =
        std::find_if(record.nodes.begin(), record.nodes.end(), [&](const GraphNode& n) { return n.name == name; });
    REQUIRE(found != record.nodes.end());
    return *found;
}
// Every followed element's gradient is the sum of what its edges bring. Returns how many edges were looked at.
int check_edges(const StepRecord& record, double relative) {
    const Followed followed = follow(record);
    REQUIRE(followed.element.size() == record.nodes.size());
    std::vector<double> arrived(record.nodes.size(), 0);
    std::vector<double> size(record.nodes.size(), 0);
    std::vector<int> parts(record.nodes.size(), 0);
    for (const Passing& edge : followed.edges) {
        CHECK(edge.product == edge.local * edge.upstream);
        CHECK(edge.from == record.nodes[static_cast<size_t>(edge.node)].inputs[static_cast<size_t>(edge.input)]);
        CHECK(edge.term < edge.terms);
        if (edge.terms == 1) CHECK(edge.total == Approx(edge.product).epsilon(1e-6).margin(1e-12));
        arrived[static_cast<size_t>(edge.from)] += edge.total;
        size[static_cast<size_t>(edge.from)] += std::abs(edge.total);
        ++parts[static_cast<size_t>(edge.from)];
    }
    for (const GraphNode& node : record.nodes) {
        const auto id = static_cast<size_t>(node.id);
        if (parts[id] == 0 || !node.gradient) continue;
        INFO(record.model << ": " << node.name << ", element " << followed.element[id]);
        double most = 0;
        for (const float g : *node.gradient) most = std::max(most, std::abs(static_cast<double>(g)));
        const double kept = static_cast<double>(node.gradient->at(static_cast<size_t>(followed.element[id])));
        CHECK(std::abs(arrived[id] - kept) <= relative * (size[id] + most) + 1e-8);  // a key's bias has none
    }
    return static_cast<int>(followed.edges.size());
}

}  // namespace

TEST_CASE("log(3x^2 + 5xy) at (2, 3) is 3.7377 with gradients 0.6429 and 0.2381, and its edges multiply") {
    const StepRecord record = worked_example();
    CHECK(record.loss == Approx(std::log(42.0)));
    CHECK(node_named(record, "z").value->at(0) == Approx(3.7377).epsilon(1e-4));
    CHECK(node_named(record, "x").gradient->at(0) == Approx(27.0 / 42));
    CHECK(node_named(record, "y").gradient->at(0) == Approx(10.0 / 42));
    CHECK(check_edges(record, 1e-6) == 8);
    REQUIRE(record.followed != nullptr);
    const Followed followed = follow(record);
    const GraphNode& z = node_named(record, "z");
    const Passing* last = followed.edge(z.id, 0);
    REQUIRE(last != nullptr);
    CHECK(last->local == Approx(1.0 / 42));
    CHECK(last->upstream == 1);
    // x is used twice: 6x / 42 over the square, 5y / 42 over the product
    std::vector<double> into_x;
    for (const Passing& edge : followed.edges)
        if (edge.from == node_named(record, "x").id) into_x.push_back(edge.total);
    std::sort(into_x.begin(), into_x.end());
    REQUIRE(into_x.size() == 2);
    CHECK(into_x[0] == Approx(12.0 / 42));
    CHECK(into_x[1] == Approx(15.0 / 42));
}

TEST_CASE("a recorded tape has all its nodes, the live bytes of its heap, and what accumulates") {
    const auto host = device::open_device("host").value();
    tensor::Heap heap(*host);
    tensor::Tape tape(heap);
    const std::vector<double> values = {1, -2, 3, 4};
    const auto x = tape.input(tensor::tensor_from(heap, {2, 2}, values, "x"), "x", true);
    const auto y = tensor::matmul(tape, tensor::relu(tape, x, "relu"), x, "product");
    const auto z = tensor::sum(tape, y, "z");
    std::vector<int64_t> live;
    std::vector<device::LaunchEvent> launches;
    tape.backward(z);
    const StepRecord record = record_of(tape, z.node, launches);
    CHECK(record.nodes.size() == tape.nodes().size());
    CHECK(record.live_bytes == tape.live_bytes());
    CHECK(record.live_bytes.size() == static_cast<size_t>(tape.launches()));
    CHECK(record.nodes[0].gradient != nullptr);
    CHECK(check_edges(record, 1e-9) == 4);
}

TEST_CASE("in every model what arrives at the followed elements is the engine's gradient") {
    for (const ModelRow& row : models()) {
        TrainerOptions options{.model = std::string(row.name),
                               .batch = row.data == "stories" ? 1 : std::min<int64_t>(row.batch, 3)};
        options.learning_rate = row.learning_rate;
        options.keep_graph = options.keep_values = true;
        Trainer trainer(options);
        trainer.step();
        const StepRecord record = trainer.step();
        INFO(row.name);
        const int edges = check_edges(record, 2e-3);
        if (row.name != "kmeans") CHECK(edges >= 3);  // k-means learns without gradients
        for (const GraphNode& node : record.nodes)
            if (node.kind == GraphNode::Kind::parameter) CHECK(node.value != nullptr);
    }
}

TEST_CASE("following ends where a stop is requested") {
    const StepRecord record = worked_example();
    std::stop_source source;
    CHECK(!follow(record, source.get_token()).edges.empty());
    source.request_stop();
    CHECK_THROWS_AS(follow(record, source.get_token()), Cancelled);
}

}  // namespace nn_follow_test
