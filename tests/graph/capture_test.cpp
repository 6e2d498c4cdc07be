// A recorded step as data: what each launch reads and writes, which values are new in every step, and what is refused.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/device/devices.h"
#include "core/device/kernels/kernel_library.h"
#include "tests/catch.h"
#include "tests/graph/support.h"

namespace graph_capture_test {

using namespace lockstep;
using graph::Access;
using graph::Graph;
using graph::Role;
using tensor::Purpose;
using tensor::Variable;

TEST_CASE("a recorded step lists its launches in order, each with what it reads and writes") {
    SmallStep step;
    const Graph graph = step.run();
    CHECK(graph::text_of(graph) ==
          "matmul_nt_f32  fc matmul: x, fc.weight -> fc matmul\n"
          "relu_f32  relu: fc matmul -> relu\n"
          "dropout_f32  dropout: relu, random offset -> dropout\n"
          "softmax_cross_entropy_f32  loss: dropout, labels -> loss rows, loss probabilities\n"
          "reduce_mean_f32  loss mean: loss rows -> loss\n"
          "softmax_cross_entropy_backward_f32  loss dlogits: loss probabilities, labels -> loss dlogits\n"
          "dropout_f32  dropout dx: loss dlogits, random offset -> dropout dx\n"
          "relu_backward_f32  relu dx: relu, dropout dx -> relu dx\n"
          "matmul_tn_f32  fc dW: relu dx, x -> fc dW\n"
          "sgd_f32  fc.weight sgd: fc.weight, fc dW, learning rate -> fc.weight\n");
    CHECK(buffer_named(graph, "x").role == Role::feed);
    CHECK(buffer_named(graph, "labels").role == Role::feed);
    CHECK(buffer_named(graph, "fc.weight").role == Role::persistent);
    CHECK(buffer_named(graph, "relu").role == Role::intermediate);
    CHECK(buffer_named(graph, "loss").output);
    REQUIRE(graph.feeds.size() == 2);
    CHECK(graph.feeds[0].count == 12);
    CHECK(graph.feeds[1].largest == 1);
}

TEST_CASE("a buffer knows the launches that touch it first and last, and whether backward needed it") {
    SmallStep step;
    const Graph graph = step.run();
    const graph::Buffer& relu = buffer_named(graph, "relu");
    CHECK(relu.first == 1);
    CHECK(relu.last == 7);  // relu_backward
    CHECK(relu.saved);
    const graph::Buffer& product = buffer_named(graph, "fc matmul");
    CHECK(product.first == 0);
    CHECK(product.last == 1);
    CHECK_FALSE(product.saved);
    CHECK(buffer_named(graph, "x").saved);  // dW reads it
    CHECK(buffer_named(graph, "loss").node == static_cast<int>(graph.nodes.size()) - 1);
}

TEST_CASE("a launch names its op, its node and the model's line") {
    SmallStep step;
    const Graph graph = step.run();
    CHECK(graph.launches[1].op == "relu");
    CHECK(std::string_view(graph.launches[1].where.file_name()).ends_with("graph/support.h"));
    CHECK(graph.launches[7].where.line() == graph.launches[1].where.line());  // backward's is forward's
    CHECK(graph.launches[9].op.empty());
    CHECK(graph.nodes[static_cast<size_t>(graph.launches[9].node)].name == "fc.weight");
    CHECK(graph.launches[2].base == "dropout");
    CHECK(graph.launches[2].type == DType::f32);
}

TEST_CASE("two steps that differ in batch, random offset and learning rate alone are the same graph") {
    SmallStep step;
    const Graph first = step.run();
    step.x.assign(12, 0.75f);
    step.labels = {1, 0, 0, 1};
    CHECK(graph::difference(first, step.run()) == "");
}

TEST_CASE("a step that makes values on the host by itself is no graph, nor one that changes its launches") {
    SmallStep step;
    const auto constant = [&](float value) {
        return [&step, value](const Variable&) {
            const std::vector<float> made(8, value);
            const Variable noise =
                step.tape.input(tensor::tensor_from(step.heap, {4, 2}, std::span<const float>(made), "noise"), "noise");
            tensor::relu(step.tape, noise, "relu of noise");
        };
    };
    const Graph first = step.run(constant(1));
    CHECK(buffer_named(first, "noise").role == Role::constant);
    CHECK(graph::difference(first, step.run(constant(1))) == "");
    CHECK(graph::difference(first, step.run(constant(2))) ==
          "noise is made anew by the step itself on the host, not from its batch");
    CHECK(graph::difference(first, step.run()) == "one step has 11 launches, the next 10");
}

TEST_CASE("a step that reads a value or writes a parameter on the host is refused in one sentence") {
    SmallStep step;
    CHECK_THROWS_WITH(
        step.run([&](const Variable& h) { tensor::values_of(step.heap, h.value); }),
        "error: this step cannot be captured as a graph: relu is read on the host in the middle of the step, and what "
        "comes after may depend on its values");
    CHECK_THROWS_WITH(
        step.run([&](const Variable&) { tensor::write_values(step.heap, step.w, std::vector<double>(6, 1.0), "w"); }),
        "error: this step cannot be captured as a graph: the step writes fc.weight from the host, which a graph of launches "
        "does "
        "not repeat");
    CHECK(step.run().launches.size() == 10);  // and the next is recorded as if nothing had been
}

TEST_CASE("what a kernel reads and writes is found in its PTX") {
    const auto of = [](std::string_view kernel) { return graph::accesses_of(kernel); };
    const Access none, reads{true, false}, writes{false, true}, both{true, true};
    CHECK(of("relu_f32") == std::vector<Access>{reads, writes, none});
    CHECK(of("accumulate_f32") == std::vector<Access>{both, reads, none});
    CHECK(of("fill_f64") == std::vector<Access>{writes, none, none});
    CHECK(of("sgd_f32") == std::vector<Access>{both, reads, none, none});
    CHECK(of("matmul_nn_f32") == std::vector<Access>{reads, reads, writes, none, none, none});
    CHECK(of("dropout_bf16") == std::vector<Access>{reads, writes, none, none, none, none, none});
}

TEST_CASE("every bundled kernel is found to write through a pointer") {
    size_t kernels = 0;
    for (const device::KernelRow& row : device::kernels()) {
        bool writes = false;
        for (const Access& access : graph::accesses_of(row.name)) writes = writes || access.writes;
        INFO(row.name);
        CHECK(writes);
        ++kernels;
    }
    CHECK(kernels > 100);
}

}  // namespace graph_capture_test
