// Tensor parallelism: every op that communicates against its definition, the layers and whole models against serial ones.
#include "core/nn/models/language.h"
#include "core/parallel/blocks/rank_sharding.h"
#include "core/parallel/blocks/tensor_parallel.h"
#include "core/tensor/ops.h"
#include "tests/parallel/support.h"

namespace parallel_tensor_test {

using namespace parallel_test;

namespace {
// Runs `op` on every rank with the inputs x[rank] and the upstream gradients dy[rank]: y and dx by rank.
struct Ran {
    std::vector<std::vector<double>> y, dx;
};
Ran run_op(int ranks, const tensor::Shape& shape, const std::vector<std::vector<double>>& x,
           const std::vector<std::vector<double>>& dy,
           const std::function<tensor::Variable(tensor::Tape&, const tensor::Variable&, const Crossing&)>& op) {
    Ran ran{std::vector<std::vector<double>>(size_t(ranks)), std::vector<std::vector<double>>(size_t(ranks))};
    const auto result = run_ranks({.tp = ranks}, [&](Rank& rank) {
        const auto me = size_t(rank.world.rank());
        const Crossing crossing{&rank, rank.tp.get()};
        tensor::Tape tape(rank.heap);
        const tensor::Variable in =
            tape.input(tensor::tensor_from(rank.heap, shape, std::span<const double>(x[me]), "x"), "x", true);
        const tensor::Variable out = op(tape, in, crossing);
        ran.y[me] = tensor::values_of(rank.heap, out.value);
        tape.backward(out, tensor::tensor_from(rank.heap, out.shape(), std::span<const double>(dy[me]), "dy"));
        ran.dx[me] = tape.gradient_values(in.node);
    });
    check_no_problem(result);
    return ran;
}

std::vector<std::vector<double>> drawn(int ranks, int64_t count, uint64_t seed) {
    std::vector<std::vector<double>> all(static_cast<size_t>(ranks));
    Rng rng(seed);
    for (auto& values : all)
        for (int64_t i = 0; i < count; ++i) values.push_back(rng.uniform(-1, 1));
    return all;
}

std::vector<double> sum_of(const std::vector<std::vector<double>>& all) {
    std::vector<double> sum(all[0].size(), 0);
    for (const auto& values : all)
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    return sum;
}
// [outer, extent, inner] of all ranks, joined along the middle; and part `part` of `parts` of it.
std::vector<double> joined(const std::vector<std::vector<double>>& all, int64_t outer) {
    std::vector<double> whole;
    const size_t run = all[0].size() / size_t(outer);
    for (size_t o = 0; o < size_t(outer); ++o)
        for (const auto& values : all)
            whole.insert(whole.end(), values.begin() + long(o * run), values.begin() + long((o + 1) * run));
    return whole;
}
std::vector<double> part(const std::vector<double>& whole, int64_t outer, int parts, int which) {
    std::vector<double> values;
    const size_t row = whole.size() / size_t(outer), run = row / size_t(parts);
    for (size_t o = 0; o < size_t(outer); ++o) {
        const auto first = whole.begin() + long(o * row + size_t(which) * run);
        values.insert(values.end(), first, first + long(run));
    }
    return values;
}
}  // namespace

TEST_CASE("Every op that communicates does what its definition says, and backward the opposite") {
    for (const int n : {2, 3}) {
        const int64_t outer = 2, extent = 3 * n, inner = 5, count = outer * extent * inner;
        const tensor::Shape shape = {outer, extent, inner};
        const auto x = drawn(n, count, 1), dy = drawn(n, count, 2), small = drawn(n, count / n, 3),
                   large = drawn(n, count * n, 4);
        const auto close = [](const std::vector<double>& a, const std::vector<double>& b) { return apart(a, b) < 1e-14; };
        const Ran f = run_op(n, shape, x, dy, [](auto& tape, auto& v, auto& c) { return spread_copy(tape, v, c, "f"); });
        const Ran g = run_op(n, shape, x, dy, [](auto& tape, auto& v, auto& c) { return sum_over(tape, v, c, "g"); });
        const Ran gather =
            run_op(n, shape, x, large, [](auto& tape, auto& v, auto& c) { return gather_parts(tape, v, 1, c, "gather"); });
        const Ran scatter =
            run_op(n, shape, x, small, [](auto& tape, auto& v, auto& c) { return sum_to_parts(tape, v, 1, c, "scatter"); });
        const Ran take =
            run_op(n, shape, x, small, [](auto& tape, auto& v, auto& c) { return take_part(tape, v, 1, c, "take"); });
        const Ran join =
            run_op(n, shape, x, large, [](auto& tape, auto& v, auto& c) { return join_parts(tape, v, 1, c, "join"); });
        const Ran next = run_op(n, shape, x, dy, [](auto& tape, auto& v, auto& c) { return shift(tape, v, 1, c, "shift"); });
        for (int r = 0; r < n; ++r) {
            CAPTURE(n, r);
            const auto me = size_t(r);
            CHECK(f.y[me] == x[me]);
            CHECK(close(f.dx[me], sum_of(dy)));
            CHECK(close(g.y[me], sum_of(x)));
            CHECK(g.dx[me] == dy[me]);
            CHECK(gather.y[me] == joined(x, outer));
            CHECK(close(gather.dx[me], part(sum_of(large), outer, n, r)));
            CHECK(close(scatter.y[me], part(sum_of(x), outer, n, r)));
            CHECK(scatter.dx[me] == joined(small, outer));
            CHECK(take.y[me] == part(x[me], outer, n, r));
            CHECK(take.dx[me] == joined(small, outer));
            CHECK(join.y[me] == joined(x, outer));
            CHECK(join.dx[me] == part(large[me], outer, n, r));
            CHECK(next.y[me] == x[size_t((r + n - 1) % n)]);
            CHECK(next.dx[me] == dy[size_t((r + 1) % n)]);
        }
    }
}

TEST_CASE("An exchange cuts one axis and joins another, and backward undoes it") {
    const int n = 2;
    const tensor::Shape shape = {2, 3, 4};  // places, rows, heads: axis 2 is cut, axis 0 joined
    const auto x = drawn(n, 24, 1), dy = drawn(n, 24, 2);
    const Ran ran = run_op(n, shape, x, dy, [](auto& tape, auto& v, auto& c) { return exchange(tape, v, 2, 0, c, "e"); });
    for (int r = 0; r < n; ++r)
        for (int64_t place = 0; place < 4; ++place)
            for (int64_t row = 0; row < 3; ++row)
                for (int64_t head = 0; head < 2; ++head) {
                    const auto from = size_t(place / 2);  // whose place it was
                    const auto there = size_t((place % 2 * 3 + row) * 4 + 2 * r + head),
                               here = size_t((place * 3 + row) * 2 + head);
                    CHECK(ran.y[size_t(r)][here] == x[from][there]);
                    CHECK(ran.dx[from][there] == dy[size_t(r)][here]);
                }
}

TEST_CASE("Two ranks multiply [1 2 3; 4 5 6] by [1 2; 3 4; 5 6], by columns and by rows") {
    const std::vector<double> x = {1, 2, 3, 4, 5, 6}, weight = {1, 3, 5, 2, 4, 6};  // W[outputs, inputs]
    for (const bool by_columns : {true, false}) {
        std::vector<std::vector<double>> local(2), product(2);
        const auto result = run_ranks({.tp = 2}, [&](Rank& rank) {
            const auto me = size_t(rank.world.rank());
            const Crossing tp{&rank, rank.tp.get()};
            tensor::Tape tape(rank.heap);
            const tensor::Variable in =
                tape.input(tensor::tensor_from(rank.heap, {2, 3}, std::span<const double>(x), "x"), "x");
            const tensor::Variable whole =
                tape.input(tensor::tensor_from(rank.heap, {2, 3}, std::span<const double>(weight), "w"), "w");
            if (by_columns) {
                const tensor::Variable y =
                    tensor::matmul(tape, in, take_part(tape, whole, 0, tp, "w part"), "y matmul", true);
                local[me] = tensor::values_of(rank.heap, y.value);
                product[me] = tensor::values_of(rank.heap, join_parts(tape, y, 1, tp, "y join").value);
            } else {  // three inputs: two on rank 0, one on rank 1
                const int64_t first = me == 0 ? 0 : 2, last = me == 0 ? 2 : 3;
                const tensor::Variable y =
                    tensor::matmul(tape, tensor::slice(tape, in, 1, first, last, 1, "x part"),
                                   tensor::slice(tape, whole, 1, first, last, 1, "w part"), "y matmul", true);
                local[me] = tensor::values_of(rank.heap, y.value);
                product[me] = tensor::values_of(rank.heap, sum_over(tape, y, tp, "y sum").value);
            }
        });
        check_no_problem(result);
        for (const auto& y : product) CHECK(y == std::vector<double>{22, 28, 49, 64});
        if (by_columns) {
            CHECK(local[0] == std::vector<double>{22, 49});
            CHECK(local[1] == std::vector<double>{28, 64});
        } else {
            CHECK(local[0] == std::vector<double>{7, 10, 19, 28});
            CHECK(local[1] == std::vector<double>{15, 18, 30, 36});
        }
    }
}

TEST_CASE("A column-parallel product is the whole one's columns") {
    const int64_t rows = 5, inputs = 96, outputs = 48;
    const std::vector<double> x = drawn(1, rows * inputs, 5)[0];
    std::vector<double> whole;
    // A processor's product of f32 may add a narrow matrix's terms in another order than a wide one's.
    for (const auto& [dtype, rounding] : {std::pair{DType::f32, 1e-6}, {DType::f64, 1e-15}})
        for (const int n : {1, 2, 3, 4})
            check_no_problem(run_ranks({.tp = n}, [&, dtype = dtype, rounding = rounding](Rank& rank) {
                nn::ParameterList list;
                Rng rng(3);
                const RankSharding sharding(rank, shape_named("mlp"), {true});
                nn::Build build{rank.heap, rng, list, dtype, {}, &sharding};
                const nn::Linear linear(build, "fc", inputs, outputs, true, nn::Cut::columns);
                tensor::Tape tape(rank.heap);
                nn::Pass pass{tape};
                const tensor::Tensor in = tensor::tensor_from(rank.heap, {rows, inputs}, std::span<const double>(x), "x",
                                                              tensor::Purpose::data, dtype);
                const auto y = tensor::values_of(rank.heap, linear(pass, tape.input(in, "x")).value);
                if (n == 1) whole = y;
                if (!(apart(y, part(whole, rows, n, rank.world.rank())) <= rounding)) throw Failure("other values");
            }));
}

TEST_CASE("On the modelled GPU what communicates is copied out and in, and gives the same values") {
    std::vector<std::vector<double>> sums(2), gathered(2);
    check_no_problem(run_ranks(
        {.tp = 2},
        [&](Rank& rank) {
            const auto me = size_t(rank.world.rank());
            const Crossing tp{&rank, rank.tp.get()};
            tensor::Tape tape(rank.heap);
            const std::vector<float> x = {1.0f + float(me), 2, 3, 4};
            const tensor::Variable in = tape.input(tensor::tensor_from(rank.heap, {2, 2}, x, "x"), "x");
            sums[me] = tensor::values_of(rank.heap, sum_over(tape, in, tp, "sum").value);
            gathered[me] = tensor::values_of(rank.heap, gather_parts(tape, in, 1, tp, "gather").value);
        },
        "sim:teaching"));
    for (const auto& sum : sums) CHECK(sum == std::vector<double>{3, 4, 6, 8});
    for (const auto& whole : gathered) CHECK(whole == std::vector<double>{1, 2, 2, 2, 3, 4, 3, 4});
}

TEST_CASE("Cross-entropy over a cut vocabulary is that of the whole one, and so is its gradient") {
    const int64_t rows = 6, classes = 12;
    const std::vector<double> logits = drawn(1, rows * classes, 7)[0];
    const std::vector<int32_t> labels = {0, 11, 5, 6, 3, 8};
    // Worked out here: the mean of log(sum exp x) - x[label], and (softmax - onehot) / rows.
    double expected = 0;
    std::vector<double> gradient;
    for (size_t r = 0; r < size_t(rows); ++r) {
        double sum = 0;
        for (size_t c = 0; c < size_t(classes); ++c) sum += std::exp(logits[r * 12 + c]);
        expected += (std::log(sum) - logits[r * 12 + size_t(labels[r])]) / double(rows);
        for (size_t c = 0; c < size_t(classes); ++c)
            gradient.push_back((std::exp(logits[r * 12 + c]) / sum - (c == size_t(labels[r]))) / double(rows));
    }
    for (const int n : {2, 3, 4}) {
        const auto result = run_ranks({.tp = n}, [&](Rank& rank) {
            const Crossing tp{&rank, rank.tp.get()};
            tensor::Tape tape(rank.heap);
            nn::Pass pass{tape};
            const std::vector<double> mine = part(logits, rows, n, rank.world.rank());
            const tensor::Variable x =
                tape.input(tensor::tensor_from(rank.heap, {rows, classes / n}, std::span<const double>(mine), "logits"),
                           "logits", true);
            const tensor::Variable loss =
                vocabulary_parallel_cross_entropy(pass, x, tensor::labels_from(rank.heap, labels, "labels"), tp, "loss");
            tape.backward(loss);
            if (std::abs(tensor::values_of(rank.heap, loss.value)[0] - expected) > 1e-14) throw Failure("another loss");
            if (!(apart(tape.gradient_values(x.node), part(gradient, rows, n, rank.world.rank())) < 1e-13))
                throw Failure("another gradient");
        });
        check_no_problem(result);
    }
}

}  // namespace parallel_tensor_test
