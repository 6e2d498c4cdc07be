// k-means (Lloyd 1982) in tensor ops: the distances to all centres by one product of matrices, the nearest by argmin, new
// centres as means by another product. Starts by k-means++ (Arthur and Vassilvitskii 2007), 24 steps each; the best one
// stays. Judged by its inertia beside the best of 50 starts of the plain algorithm.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/nn/data/made/points.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/list.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
constexpr int64_t steps_a_start = 24, points = 2000;

struct Clusters {
    std::vector<double> x;  // [points, dimensions]
    int64_t dimensions = 2, count = 10;
    Parameter* centres = nullptr;
    Buffer *best = nullptr, *best_inertia = nullptr;
    DType dtype = DType::f32;
    uint64_t seed = 1;
    double reference = -1;
};

double squared_distance(const double* a, const double* b, int64_t dimensions) {
    double sum = 0;
    for (int64_t d = 0; d < dimensions; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

std::vector<double> plus_plus(const Clusters& it, uint64_t start) {
    Rng rng(it.seed * 0x9e3779b97f4a7c15u + start * 0x2545f4914f6cdd1du);
    const auto at = [&](uint64_t i) { return it.x.data() + static_cast<int64_t>(i) * it.dimensions; };
    std::vector<double> centres, nearest(static_cast<size_t>(points), std::numeric_limits<double>::infinity());
    uint64_t next = rng.below(points);
    for (int64_t c = 0; c < it.count; ++c) {
        centres.insert(centres.end(), at(next), at(next) + it.dimensions);
        double sum = 0;
        for (size_t i = 0; i < nearest.size(); ++i) {
            nearest[i] = std::min(nearest[i],
                                  squared_distance(at(i), &centres[static_cast<size_t>(c * it.dimensions)], it.dimensions));
            sum += nearest[i];
        }
        double left = rng.uniform() * sum;
        for (next = 0; next + 1 < nearest.size() && (left -= nearest[next]) >= 0; ++next) {
        }
    }
    return centres;
}

// The plain algorithm from one start, until nothing moves.
double plain_inertia(const Clusters& it, uint64_t start) {
    std::vector<double> centres = plus_plus(it, start);
    double before = std::numeric_limits<double>::infinity();
    while (true) {
        std::vector<double> sums(centres.size()), counts(static_cast<size_t>(it.count));
        double inertia = 0;
        for (int64_t i = 0; i < points; ++i) {
            const double* x = it.x.data() + i * it.dimensions;
            int64_t best = 0;
            double distance = std::numeric_limits<double>::infinity();
            for (int64_t c = 0; c < it.count; ++c) {
                const double d = squared_distance(x, &centres[static_cast<size_t>(c * it.dimensions)], it.dimensions);
                if (d < distance) distance = d, best = c;
            }
            inertia += distance;
            counts[static_cast<size_t>(best)] += 1;
            for (int64_t d = 0; d < it.dimensions; ++d) sums[static_cast<size_t>(best * it.dimensions + d)] += x[d];
        }
        for (size_t i = 0; i < centres.size(); ++i)
            if (counts[i / static_cast<size_t>(it.dimensions)] > 0)
                centres[i] = sums[i] / counts[i / static_cast<size_t>(it.dimensions)];
        if (!(inertia < before * (1 - 1e-12))) return inertia;
        before = inertia;
    }
}
}  // namespace

std::unique_ptr<Task> make_kmeans(const TaskOptions& options, tensor::Heap& heap) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Clusters>();
    const PointSet set = clusters(options.seed);
    const auto values = first_points(set, points);
    it->x.assign(values.begin(), values.end());
    it->dimensions = set.dimensions;
    it->count = set.classes;
    it->dtype = options.dtype;
    it->seed = options.seed;
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    it->centres = build.parameter("centres", {it->count, it->dimensions}, Init::constant(0));
    it->best = build.buffer("best centres", {it->count, it->dimensions}, 0);
    it->best_inertia = build.buffer("best inertia", {1}, 1e30);
    task->model = "kmeans";
    task->data = set.name;
    task->forward = [it](Pass& pass, const Batch&, size_t) {
        tensor::Tape& tape = pass.tape;
        tensor::Heap& on = tape.heap();
        if (pass.step % steps_a_start == 0)
            tensor::write_values(on, it->centres->value, plus_plus(*it, static_cast<uint64_t>(pass.step / steps_a_start)),
                                 "centres");
        const tensor::NoGrad no_gradients(tape);
        const Variable x = tape.input(
            tensor::tensor_from(on, {points, it->dimensions}, it->x, "points", tensor::Purpose::data, it->dtype), "points");
        const Variable centres = pass(it->centres);
        // |x - c|^2 = |x|^2 - 2 x c + |c|^2
        const Variable x2 = tensor::sum(tape, tensor::unary(tape, "square", x, "x^2"), "|x|^2", {1}, true);        // [N,1]
        const Variable c2 = tensor::sum(tape, tensor::unary(tape, "square", centres, "c^2"), "|c|^2", {1});        // [K]
        const Variable xc = tensor::affine(tape, tensor::matmul(tape, x, centres, "x c", true), -2, 0, "-2 x c");  // [N,K]
        const Variable distances = tensor::add(tape, tensor::add(tape, xc, x2, "distances 1"), c2, "distances");   // [N,K]
        const Variable nearest =
            tensor::cast(tape, tensor::argmin(tape, distances, "nearest", {1}), DType::i32, "nearest i32");
        const Variable member = tensor::one_hot(tape, nearest, it->count, "members", it->dtype);  // [N,K]
        const Variable sums =
            tensor::matmul(tape, tensor::transpose(tape, member, 0, 1, "members transposed"), x, "sums");  // [K,D]
        const Variable counts = tensor::sum(tape, member, "counts", {0}, true);                            // [1,K]
        const Variable sizes = tensor::reshape(tape, counts, {it->count, 1}, "sizes");
        const std::vector<double> one = {1.0};
        const Variable least = tape.input(tensor::tensor_from(on, {1}, one, "one", tensor::Purpose::data, it->dtype), "one");
        const Variable means = tensor::div(tape, sums, tensor::maximum(tape, sizes, least, "sizes, 1 at least"), "means");
        // A centre without points stays where it is.
        const Variable filled = tensor::compare(tape, "less_equal", least, sizes, "has points");
        Forward result;
        result.output = tensor::where(tape, filled, means, centres, "new centres");
        result.loss = tensor::sum(tape, tensor::amin(tape, distances, "smallest", {1}), "inertia");
        return result;
    };
    task->update = [it](Pass& pass, const Forward& made) {
        tensor::Heap& on = pass.tape.heap();
        const double inertia = tensor::values_of(on, made.loss.value)[0];
        if (inertia < tensor::values_of(on, it->best_inertia->value)[0]) {
            tensor::write_values(on, it->best->value, tensor::values_of(on, it->centres->value), "best centres");
            const std::vector<double> now = {inertia};
            tensor::write_values(on, it->best_inertia->value, now, "best inertia");
        }
        tensor::write_values(on, it->centres->value, tensor::values_of(on, made.output.value), "centres");
    };
    task->evaluate = [it](tensor::Heap& on, int64_t, const std::stop_token& stop) {
        if (it->reference < 0) {
            double least = std::numeric_limits<double>::infinity();
            for (uint64_t start = 0; start < 50; ++start) {
                throw_if_stopped(stop);
                least = std::min(least, plain_inertia(*it, 1000 + start));
            }
            it->reference = least;
        }
        const auto centres = tensor::values_of(on, it->best->value);
        double inertia = 0;
        for (int64_t i = 0; i < points; ++i) {
            double distance = std::numeric_limits<double>::infinity();
            for (int64_t c = 0; c < it->count; ++c)
                distance =
                    std::min(distance, squared_distance(it->x.data() + i * it->dimensions,
                                                        &centres[static_cast<size_t>(c * it->dimensions)], it->dimensions));
            inertia += distance;
        }
        Evaluation result;
        result.loss = inertia / double(points);
        result.accuracy = inertia <= 1.01 * it->reference ? 1 : 0;
        result.measures = {{"inertia", "", inertia},
                           {"the best of 50 plain starts", "", it->reference},
                           {"their ratio", "", inertia / it->reference}};
        return result;
    };
    return task;
}

}  // namespace lockstep::nn
