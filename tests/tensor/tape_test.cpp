#include <cmath>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

namespace tensor_tape_test {

using namespace lockstep;
using namespace lockstep::tensor;

namespace {
struct Host {
    std::unique_ptr<device::Device> device = device::open_device("host").value();
    Heap heap{*device};

    Variable input(Tape& tape, const Shape& shape, const std::vector<float>& values, const std::string& name) {
        return tape.input(tensor_from(heap, shape, values, name), name, true);
    }
};

template <class Run>
std::string failure_of(Run run) {
    try {
        run();
    } catch (const Failure& failure) {
        return failure.diagnostic.message;
    }
    return "no failure";
}
}  // namespace

TEST_CASE("(2x3)(3x2) is 22 28 / 49 64") {
    Host host;
    Tape tape(host.heap);
    const auto a = host.input(tape, {2, 3}, {1, 2, 3, 4, 5, 6}, "a");
    const auto b = host.input(tape, {3, 2}, {1, 2, 3, 4, 5, 6}, "b");
    const auto c = matmul(tape, a, b, "product");
    CHECK(tape.read_value(c.node) == std::vector<float>{22, 28, 49, 64});
    tape.backward(sum(tape, c, "total"));
    CHECK(tape.read_gradient(a.node) == std::vector<float>{3, 7, 11, 3, 7, 11});
    CHECK(tape.read_gradient(b.node) == std::vector<float>{5, 5, 7, 7, 9, 9});
}

TEST_CASE("gradients that meet in one tensor are added") {
    Host host;
    Tape tape(host.heap);
    const auto x = host.input(tape, {1, 2}, {3, 4}, "x");
    const auto zero = host.input(tape, {2}, {0, 0}, "zero");
    SECTION("from two uses of a leaf") {  // sum(x xᵀ): d/dx = 2x
        const auto y = sum(tape, matmul(tape, x, x, "square", true), "total");
        tape.backward(y);
        CHECK(tape.read_value(y.node) == std::vector<float>{25});
        CHECK(tape.read_gradient(x.node) == std::vector<float>{6, 8});
    }
    SECTION("from ops that pass their gradient on: nobody's is changed behind his back") {
        const auto one = add_bias(tape, x, zero, "one");
        const auto two = add_bias(tape, x, zero, "two");
        const auto product = matmul(tape, one, two, "product", true);
        tape.backward(sum(tape, product, "total"));
        CHECK(tape.read_gradient(one.node) == std::vector<float>{3, 4});
        CHECK(tape.read_gradient(two.node) == std::vector<float>{3, 4});
        CHECK(tape.read_gradient(x.node) == std::vector<float>{6, 8});
        CHECK(tape.read_gradient(zero.node) == std::vector<float>{6, 8});
    }
    SECTION("three times") {
        auto y = mse(tape, x, host.input(tape, {1, 2}, {0, 0}, "t"), "mse");  // mean of x²: d = x
        (void)y;
        const auto s = matmul(tape, x, add_bias(tape, x, zero, "copy"), "square", true);
        tape.backward(sum(tape, s, "total"));
        CHECK(tape.read_gradient(x.node) == std::vector<float>{6, 8});
    }
}

TEST_CASE("an upstream gradient reaches a loss that is not the root") {
    Host host;
    Tape tape(host.heap);
    const auto p = host.input(tape, {2}, {1, 5}, "p"), t = host.input(tape, {2}, {0, 3}, "t");
    const auto loss = mse(tape, p, t, "mse");
    CHECK(tape.read_value(loss.node)[0] == 2.5f);
    tape.backward(loss, tensor_from(host.heap, {}, std::vector<float>{10}, "seed", Purpose::gradient));
    CHECK(tape.read_gradient(p.node) == std::vector<float>{10, 20});
    CHECK(tape.read_gradient(t.node) == std::vector<float>{-10, -20});
}

TEST_CASE("what backward kept is freed when it is used") {
    Host host;
    Tape tape(host.heap);
    auto x = host.input(tape, {4, 8}, std::vector<float>(32, 0.5f), "x");
    const auto w =
        tape.parameter(tensor_from(host.heap, {3, 8}, std::vector<float>(24, 0.1f), "w", Purpose::parameter), "w");
    CHECK(host.heap.live_bytes() == 32 * 4);  // parameters are not counted
    auto y = relu(tape, matmul(tape, x, w, "fc matmul", true), "relu");
    x.value = {};
    CHECK(host.heap.live_bytes() == (32 + 12) * 4);  // the product before relu is gone, x is held by the tape
    auto loss = mean(tape, y, "mean");
    y.value = {};
    CHECK(host.heap.live_bytes() == (32 + 12 + 1) * 4);
    CHECK(tape.saved_names(2) == "x, w");
    CHECK(tape.saved_bytes() == (32 + 12) * 4);
    CHECK(tape.nodes()[2].saved_bytes == 32 * 4);
    tape.backward(loss);
    CHECK(host.heap.live_bytes() == (32 + 24 + 1) * 4);  // gradients of x and w, and the loss
    for (const Node& node : tape.nodes())
        for (const Saved& saved : node.saved) CHECK(!saved.tensor);
    CHECK(tape.saved_bytes() == 0);
    CHECK(tape.nodes()[2].freed_after == tape.launches() - 1);
    CHECK(failure_of([&] { tape.backward(loss); }) ==
          "backward ran already through relu: what it saved is freed (retain_graph keeps it)");
}

TEST_CASE("addresses repeat from step to step") {
    Host host;
    const auto step = [&] {
        host.heap.recycle();
        Tape tape(host.heap);
        std::vector<uint64_t> addresses;
        auto x = host.input(tape, {4, 4}, std::vector<float>(16, 1), "x");
        for (int i = 0; i < 3; ++i) {
            x = relu(tape, x, "relu");
            addresses.push_back(x.value.pointer().address);
        }
        tape.backward(sum(tape, x, "sum"));
        addresses.push_back(tape.nodes()[0].gradient_at.address);
        return addresses;
    };
    const auto first = step();
    CHECK(step() == first);
    CHECK(step() == first);
}

TEST_CASE("a shape that does not fit names the layer, the op and both shapes") {
    Host host;
    Tape tape(host.heap);
    const auto a = host.input(tape, {2, 3}, std::vector<float>(6), "a"),
               b = host.input(tape, {2, 3}, std::vector<float>(6), "b");
    const auto row = host.input(tape, {3}, std::vector<float>(3), "row");
    const auto column = host.input(tape, {2, 1}, std::vector<float>(2), "column");
    CHECK(failure_of([&] { matmul(tape, a, b, "fc1 matmul"); }) ==
          "fc1 matmul: [2, 3] times [2, 3] does not fit: the inner extents must be equal");
    CHECK(failure_of([&] { matmul(tape, a, column, "fc1 matmul", true); }) ==
          "fc1 matmul: [2, 3] times [2, 1] transposed does not fit: the inner extents must be equal");
    CHECK(failure_of([&] { add_bias(tape, column, row, "fc1 add"); }) ==
          "fc1 add (add_bias): a bias of shape [3] does not fit [2, 1]: one element a column");
    CHECK(failure_of([&] { mse(tape, a, column, "loss"); }) ==
          "loss (mse): a prediction of shape [2, 3] and a target of shape [2, 1] differ: a loss does not broadcast");
    const auto labels = tape.label(labels_from(host.heap, std::vector<int32_t>{0, 3}, "y"), "y");
    CHECK(failure_of([&] { softmax_cross_entropy(tape, a, labels, "loss"); }) ==
          "loss: the label 3 is outside the 3 classes of logits of shape [2, 3]: example 1 of the batch has it, and labels "
          "count from 0 to 2");
    const auto three = tape.label(labels_from(host.heap, std::vector<int32_t>{0, 1, 2}, "y"), "y");
    CHECK(failure_of([&] { softmax_cross_entropy(tape, a, three, "loss"); }) ==
          "loss (softmax_cross_entropy): logits of shape [2, 3] need one label a row, but the labels have shape [3]");
    CHECK(failure_of([&] { softmax_cross_entropy(tape, a, row, "loss"); }) ==
          "loss: row holds f32 but softmax_cross_entropy takes integers there");
    CHECK(failure_of([&] { relu(tape, labels, "relu"); }) == "relu: y holds i32 but relu takes floating-point values there");
    CHECK(failure_of([&] { tape.backward(a); }) == "a has shape [2, 3]: backward starts at a loss of one element");
    CHECK(failure_of([&] {
              labels_from(host.heap, std::vector<int32_t>{0, -1}, "y");
          }) == "y holds the label -1: labels count from 0");
    CHECK(failure_of([&] {
              make_tensor(host.heap, {0, 3}, "x", Purpose::data);
          }) == "x of shape [0, 3] has an extent of 0: at least 1");
    CHECK(failure_of([&] {
              make_tensor(host.heap, {1 << 20, 1 << 20}, "x", Purpose::data);
          }) == "x of shape [1048576, 1048576] is too large: at most 2147483647 elements");
    CHECK(failure_of([&] { op_named("matmal"); }) == "unknown op 'matmal', did you mean 'matmul'?");
}

TEST_CASE("a heap says how many bytes of each purpose are alive, and tells when that changes") {
    Host host;
    int changes = 0;
    HeapListener listener{.on_bytes = [&] { ++changes; }};
    host.heap.listen(&listener);
    const auto of = [&](Purpose purpose) { return host.heap.live_by_purpose()[static_cast<size_t>(purpose)]; };
    {
        const Tensor weight = make_tensor(host.heap, {6}, "w", Purpose::parameter);
        const Tensor moment = make_tensor(host.heap, {6}, "m", Purpose::optimizer, DType::f64);
        const Tensor gathered = make_tensor(host.heap, {3}, "g", Purpose::buffer);
        CHECK(of(Purpose::parameter) == 24);
        CHECK(of(Purpose::optimizer) == 48);
        CHECK(of(Purpose::buffer) == 12);
        CHECK(host.heap.live_bytes() == 12);  // neither weights nor what an optimizer keeps
        CHECK(changes == 3);
    }
    CHECK(of(Purpose::parameter) == 0);
    CHECK(changes == 6);
    host.heap.listen(nullptr);
}

TEST_CASE("a weight can be let go between forward and backward, and brought back in other memory") {
    Host host;
    Tape tape(host.heap);
    const std::vector<float> values = {1, 2, 3, 4};
    Tensor weight = tensor_from(host.heap, {2, 2}, values, "w", Purpose::buffer);
    const auto x = host.input(tape, {1, 2}, {5, 6}, "x");
    const auto y = matmul(tape, x, tape.parameter(weight, "w"), "product");
    const auto loss = sum(tape, y, "total");
    const auto places = tape.let_go(*weight.storage, 0);
    REQUIRE(places.size() == 1);  // the product keeps it for the gradient of x
    weight = {};
    CHECK(host.heap.live_by_purpose()[static_cast<size_t>(Purpose::buffer)] == 0);
    tape.bring_back(places, tensor_from(host.heap, {2, 2}, values, "w again", Purpose::buffer).storage);
    tape.backward(loss);
    CHECK(tape.read_gradient(x.node) == std::vector<float>{3, 7});
    CHECK(host.heap.live_by_purpose()[static_cast<size_t>(Purpose::buffer)] == 0);  // backward was done with it
}

}  // namespace tensor_tape_test
