// What the ops on sequences and graphs refuse, in a sentence that names the node, and RoPE's worked values.
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/device/devices.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

namespace tensor_sequence_test {

using namespace lockstep;
using namespace lockstep::tensor;
using Catch::Matchers::Contains;

namespace {
struct Bench {
    std::unique_ptr<device::Device> device = device::open_device("host").value();
    Heap heap{*device};
    Tape tape{heap};

    Variable zeros(const Shape& shape, DType type = DType::f32) {
        return tape.input(tensor_from(heap, shape, std::vector<double>(size_t(count_of(shape))), "x", Purpose::data, type),
                          "x");
    }
    Variable integers(const std::vector<double>& values) {
        return tape.input(tensor_from(heap, {int64_t(values.size())}, values, "index", Purpose::data, DType::i32), "index");
    }
};
}  // namespace

TEST_CASE("ops on sequences refuse what does not fit, and say which node and which shapes") {
    Bench b;
    const auto layout = HeadLayout::heads_first;
    const Variable q = b.zeros({1, 4, 3, 8}), k = b.zeros({1, 2, 3, 8}), longer = b.zeros({1, 2, 9, 8});
    CHECK_THROWS_WITH(attention(b.tape, q, k, longer, false, layout, "layer 0 attention"),
                      Contains("layer 0 attention") && Contains("[1, 4, 3, 8]") && Contains("[1, 2, 9, 8]"));
    CHECK_THROWS_WITH(attention(b.tape, q, b.zeros({1, 3, 3, 8}), b.zeros({1, 3, 3, 8}), false, layout, "a"),
                      Contains("multiple of those of k"));
    CHECK_THROWS_WITH(attention(b.tape, b.zeros({1, 2, 10, 8}), longer, longer, true, layout, "a"),
                      Contains("no fewer keys than queries"));
    const Variable table = b.tape.input(rope_table(b.heap, 4, 8, 10000, DType::f32, "table"), "table");
    CHECK_THROWS_WITH(rope(b.tape, q, table, RopeLayout::interleaved, -2, 2, "turn"), Contains("positions 2 to 4"));
    CHECK_THROWS_WITH(swiglu(b.tape, q, k, "ffn"), Contains("ffn") && Contains("[1, 2, 3, 8]"));
    CHECK_THROWS_WITH(embedding(b.tape, b.zeros({5, 2}), b.integers({0, 5}), "tokens"), Contains("index 5"));
    CHECK_THROWS_WITH(embedding(b.tape, b.zeros({5, 2}), b.integers({-1}), "tokens"), Contains("index -1"));
    CHECK_THROWS_WITH(gather(b.tape, b.zeros({5, 2}), b.integers({1}), 0, "pick"), Contains("pick") && Contains("[5, 2]"));
    CHECK_THROWS_WITH(lstm_cell(b.tape, b.zeros({2, 12}), b.zeros({2, 12}), b.zeros({2, 4}), "cell"), Contains("4 gates"));
}

TEST_CASE("a sparse matrix whose rows or columns point outside is refused") {
    Bench b;
    const auto times = [&](const std::vector<double>& rows, const std::vector<double>& columns) {
        return sparse_dense(b.tape, b.zeros({int64_t(columns.size())}), b.integers(rows), b.integers(columns),
                            b.zeros({3, 2}), "graph");
    };
    CHECK(times({0, 2, 3}, {0, 2, 1}).shape() == Shape{2, 2});
    CHECK_THROWS_WITH(times({0, 2, 9}, {0, 2, 1}), Contains("3 entries begin at 0 and end at 9"));
    CHECK_THROWS_WITH(times({0, 7, 3}, {0, 2, 1}), Contains("begins at entry 7 and ends at 3"));
    CHECK_THROWS_WITH(times({0, 2, 3}, {0, 3, 1}), Contains("in column 3 of 3"));
}

TEST_CASE("rotary positions turn 1 2 3 4 at position 3 to the worked values, in both layouts") {
    Bench b;
    const Variable table = b.tape.input(rope_table(b.heap, 4, 4, 10000, DType::f64, "table"), "table");
    const Variable x =
        b.tape.input(tensor_from(b.heap, {1, 4}, std::vector<double>{1, 2, 3, 4}, "x", Purpose::data, DType::f64), "x");
    const auto check = [&](RopeLayout layout, const std::vector<double>& want) {
        const auto got = values_of(b.heap, rope(b.tape, x, table, layout, 0, 3, "turn").value);
        for (size_t i = 0; i < want.size(); ++i) CHECK(std::abs(got[i] - want[i]) < 1e-8);
    };
    check(RopeLayout::interleaved, {-1.27223251, -1.83886499, 2.87866810, 4.08818664});
    check(RopeLayout::half_split, {-1.41335252, 1.87911807, -2.82885748, 4.05819114});
}

TEST_CASE("dropout leaves x alone at probability 0, and its counter goes on by what it used") {
    Bench b;
    RandomCounter counter{.seed = 1, .offset = 10};
    const Variable x = b.zeros({3, 3});
    CHECK(dropout(b.tape, x, 0, counter, "drop").node == x.node);
    CHECK(counter.offset == 10);
    dropout(b.tape, x, 0.5, counter, "drop");
    CHECK(counter.offset == 13);  // four elements a counter
    CHECK_THROWS_WITH(dropout(b.tape, x, 1.5, counter, "drop"), Contains("between 0 and 1"));
}

}  // namespace tensor_sequence_test
