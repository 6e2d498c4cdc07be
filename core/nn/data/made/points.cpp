#include "core/nn/data/made/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/rng.h"
#include "core/nn/data/files/csv.h"
#include "core/nn/data/files/npz.h"
#include "core/nn/data/refusal.h"
#include "core/nn/data/sampler.h"
#include "core/tensor/tensor.h"

namespace lockstep::nn {

namespace {
constexpr uint64_t point_test_seed = 0x7e57;
constexpr int64_t test_points = 1000;

// A generator for one index of one set: neighbours have nothing in common.
Rng at(uint64_t seed, uint64_t index) {
    return Rng(Rng(Rng(seed).next() + index).next());
}

template <class Draw>
void by_index(PointSet& set, uint64_t seed, uint64_t seed_of_tests, Draw draw) {
    set.test_count = test_points;
    set.train = [draw, seed](uint64_t index, std::span<float> x) {
        Rng rng = at(seed, index);
        return draw(rng, x);
    };
    set.test = [draw, seed_of_tests](uint64_t index, std::span<float> x) {
        Rng rng = at(seed_of_tests ^ point_test_seed, index);
        return draw(rng, x);
    };
}

void cloud(PointSet& set, uint64_t seed, uint64_t seed_of_tests) {
    const auto centres = std::make_shared<const std::vector<float>>(set.centres);
    by_index(set, seed, seed_of_tests, [centres, n = set.classes, d = set.deviation](Rng& rng, std::span<float> x) {
        const auto which = static_cast<int32_t>(rng.below(static_cast<uint64_t>(n)));
        const float* centre = centres->data() + static_cast<size_t>(which) * x.size();
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<double>(centre[i]) + d * rng.normal());
        return which;
    });
}

double squared_distance(std::span<const float> a, const float* b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        sum += d * d;
    }
    return sum;
}

void must_be(bool possible, const std::string& what) {
    if (!possible) throw Failure(what);
}
}  // namespace

std::vector<float> first_points(const PointSet& set, int64_t count, std::vector<int32_t>* classes) {
    const auto d = static_cast<size_t>(set.dimensions);
    std::vector<float> points(static_cast<size_t>(count) * d);
    if (classes) classes->resize(static_cast<size_t>(count));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const int32_t label = set.train(i, std::span(points).subspan(i * d, d));
        if (classes) (*classes)[i] = label;
    }
    return points;
}

PointSet spirals(uint64_t seed, int arms, double noise) {
    must_be(arms >= 1 && arms <= 100, fmt::format("{} spirals are impossible: 1 to 100", arms));
    PointSet set{.name = "spirals", .dimensions = 2, .classes = arms};
    by_index(set, seed, 0, [arms, noise](Rng& rng, std::span<float> x) {
        const auto arm = static_cast<int32_t>(rng.below(static_cast<uint64_t>(arms)));
        const double along = rng.uniform(), radius = 0.1 + 0.9 * along;
        const double angle = 2 * std::numbers::pi * (static_cast<double>(arm) / arms + 0.75 * along);
        x[0] = static_cast<float>(radius * std::cos(angle) + noise * rng.normal());
        x[1] = static_cast<float>(radius * std::sin(angle) + noise * rng.normal());
        return arm;
    });
    return set;
}

PointSet eight_gaussians(uint64_t seed, double radius, double deviation) {
    PointSet set{.name = "eight-gaussians", .dimensions = 2, .classes = 8, .deviation = deviation};
    for (int i = 0; i < 8; ++i) {
        set.centres.push_back(static_cast<float>(radius * std::cos(i * std::numbers::pi / 4)));
        set.centres.push_back(static_cast<float>(radius * std::sin(i * std::numbers::pi / 4)));
    }
    cloud(set, seed, 0);
    return set;
}

PointSet clusters(uint64_t seed, int count, int dimensions) {
    must_be(count >= 1 && count <= 1000, fmt::format("{} clusters are impossible: 1 to 1000", count));
    must_be(dimensions >= 1 && dimensions <= 1000, fmt::format("{} dimensions are impossible: 1 to 1000", dimensions));
    PointSet set{.name = "clusters", .dimensions = dimensions, .classes = count, .deviation = 1};
    const auto d = static_cast<size_t>(dimensions);
    Rng rng(Rng(seed).next());
    std::vector<float> centre(d);
    for (int i = 0, tries = 0; i < count;) {
        for (float& value : centre) value = static_cast<float>(rng.uniform(-6, 6));
        bool apart = true;
        for (size_t other = 0; other < static_cast<size_t>(i); ++other)
            apart = apart && squared_distance(centre, set.centres.data() + other * d) >= 9;
        if (!apart && ++tries < 1000) continue;
        set.centres.insert(set.centres.end(), centre.begin(), centre.end());
        ++i;
    }
    cloud(set, seed, seed);
    return set;
}

PointSet open_points(const std::filesystem::path& path, const std::string& asked, uint64_t seed) {
    const Csv csv = read_csv(path).value();
    const std::string class_column = asked.empty() ? csv.names.back() : asked;
    const auto found = std::find(csv.names.begin(), csv.names.end(), class_column);
    if (found == csv.names.end()) {
        const std::string nearest = nearest_name(class_column, csv.names);
        throw Failure(Diagnostic{fmt::format("no column {}{}", in_quotes(class_column),
                                             nearest.empty() ? "" : fmt::format(", did you mean {}?", in_quotes(nearest))),
                                 {path.string()}});
    }
    const int64_t label_column = found - csv.names.begin();
    std::vector<std::string> others;
    for (const std::string& name : csv.names)
        if (name != class_column) others.push_back(name);
    must_be(!others.empty() && others.size() <= 100000,
            fmt::format("{}: 1 to 100000 columns of numbers are needed", path.string()));
    must_be(csv.rows >= 5, fmt::format("{}: {} rows, at least 5 are needed", path.string(), csv.rows));
    const auto numbers = std::make_shared<const Array>(numbers_of(csv, others).value());

    std::map<std::string, int32_t> classes;
    for (int64_t row = 0; row < csv.rows; ++row) classes.emplace(csv.at(row, label_column), 0);
    PointSet set{.name = path.filename().string(),
                 .dimensions = static_cast<int>(others.size()),
                 .classes = static_cast<int>(classes.size())};
    for (auto& [name, number] : classes) {
        number = static_cast<int32_t>(set.class_names.size());
        set.class_names.push_back(name);
    }
    const auto labels = std::make_shared<std::vector<int32_t>>();
    for (int64_t row = 0; row < csv.rows; ++row) labels->push_back(classes.at(std::string(csv.at(row, label_column))));
    const auto rows = static_cast<uint64_t>(csv.rows), tests = rows / 5;
    set.test_count = static_cast<int64_t>(tests);
    set.train_count = static_cast<int64_t>(rows - tests);
    const auto read = [numbers, labels](uint64_t row, std::span<float> x) {
        const double* from = numbers->as<double>() + row * x.size();
        for (float& value : x) value = static_cast<float>(*from++);
        return (*labels)[row];
    };
    set.test = [read, rows](uint64_t index, std::span<float> x) { return read(shuffled(index, rows, point_test_seed), x); };
    set.train = [read, rows, tests, seed](uint64_t index, std::span<float> x) {
        return read(shuffled(tests + place_of(index, rows - tests, seed), rows, point_test_seed), x);
    };
    return set;
}

Coverage coverage_of(const PointSet& set, std::span<const float> samples) {
    Coverage coverage;
    coverage.count.resize(static_cast<size_t>(set.classes));
    const auto d = static_cast<size_t>(set.dimensions), n = samples.size() / d;
    const double reach = 9 * set.deviation * set.deviation;
    int64_t near = 0;
    for (size_t i = 0; i < n; ++i)
        for (size_t c = 0; c < coverage.count.size(); ++c)
            if (squared_distance(samples.subspan(i * d, d), set.centres.data() + c * d) <= reach) {
                ++coverage.count[c];
                ++near;
                break;
            }
    coverage.near = n == 0 ? 0 : static_cast<double>(near) / static_cast<double>(n);
    const double share = static_cast<double>(n) / static_cast<double>(set.classes) / 4;
    for (const int64_t count : coverage.count) coverage.covered += count > 0 && static_cast<double>(count) >= share;
    return coverage;
}

LineSet line(uint64_t seed, int inputs, double noise) {
    must_be(inputs >= 1 && inputs <= 1000, fmt::format("{} inputs are impossible: 1 to 1000", inputs));
    LineSet set{.noise = noise};
    Rng rng(Rng(seed).next());
    for (int i = 0; i < inputs; ++i) set.w.push_back(static_cast<float>(rng.uniform(-2, 2)));
    set.b = static_cast<float>(rng.uniform(-1, 1));
    set.train = [w = set.w, b = set.b, noise, seed](uint64_t index, std::span<float> x) {
        Rng point = at(seed, index);
        double y = static_cast<double>(b);
        for (size_t i = 0; i < w.size(); ++i) {
            x[i] = static_cast<float>(point.uniform(-1, 1));
            y += static_cast<double>(w[i]) * static_cast<double>(x[i]);
        }
        return static_cast<float>(y + noise * point.normal());
    };
    return set;
}

namespace {
struct LineRows {  // y behind its x
    int64_t rows = 0, columns = 0;
    std::vector<double> values;
    const double* row(int64_t i) const { return values.data() + i * columns; }
};

std::vector<double> doubles_of(const Array& array, const std::string& name) {
    std::vector<double> values(array.count());
    tensor::convert_values(array.bytes.data(), array.dtype, reinterpret_cast<std::byte*>(values.data()), DType::f64,
                           values.size(), name);
    return values;
}

LineRows line_rows(const std::filesystem::path& file) {
    const std::string name = file.string();
    LineRows all;
    if (file.extension() == ".npz") {
        const NamedArrays arrays = read_npz(file).value();
        const Array *x = find(arrays, "x"), *y = find(arrays, "y");
        must_be(x && y, name + ": it holds no x and y");
        const bool fits = (x->shape.size() == 1 || x->shape.size() == 2) && !y->shape.empty() &&
                          y->shape[0] == x->shape[0] && y->count() == static_cast<size_t>(y->shape[0]);
        must_be(fits, name + ": x is to be [rows] or [rows, inputs], y [rows] or [rows, 1]");
        const std::vector<double> inputs = doubles_of(*x, name), targets = doubles_of(*y, name);
        all.rows = x->shape[0];
        const int64_t width = x->shape.size() == 2 ? x->shape[1] : 1;
        all.columns = width + 1;
        for (int64_t i = 0; i < all.rows; ++i) {
            all.values.insert(all.values.end(), inputs.begin() + i * width, inputs.begin() + (i + 1) * width);
            all.values.push_back(targets[static_cast<size_t>(i)]);
        }
        return all;
    }
    const Array array = file.extension() == ".npy" ? read_npy(file).value() : numbers_of(read_csv(file).value()).value();
    must_be(array.shape.size() == 2, name + ": rows and columns are wanted, the last one y");
    all.rows = array.shape[0], all.columns = array.shape[1];
    all.values = doubles_of(array, name);
    return all;
}

// Gauss elimination with the largest pivot of a [n, n + 1] system; empty where it has no one solution.
std::vector<double> solution_of(std::vector<double> system, size_t n) {
    const size_t width = n + 1;
    for (size_t i = 0; i < n; ++i) {
        size_t best = i;
        for (size_t row = i + 1; row < n; ++row)
            if (std::abs(system[row * width + i]) > std::abs(system[best * width + i])) best = row;
        if (!(std::abs(system[best * width + i]) > 1e-12)) return {};
        for (size_t column = 0; column < width; ++column)
            std::swap(system[i * width + column], system[best * width + column]);
        for (size_t row = 0; row < n; ++row) {
            if (row == i) continue;
            const double factor = system[row * width + i] / system[i * width + i];
            for (size_t column = i; column < width; ++column)
                system[row * width + column] -= factor * system[i * width + column];
        }
    }
    std::vector<double> solution(n);
    for (size_t i = 0; i < n; ++i) solution[i] = system[i * width + n] / system[i * width + i];
    return solution;
}
}  // namespace

LineSet open_line(const std::filesystem::path& file, uint64_t seed) {
    const auto all = std::make_shared<const LineRows>(line_rows(file));
    must_be(all->columns >= 2 && all->columns <= 257,
            fmt::format("{}: {} columns, 2 to 257 are wanted, the last one y", file.string(), all->columns));
    for (int64_t i = 0; i < all->rows; ++i)
        for (int64_t column = 0; column < all->columns; ++column)
            must_be(std::isfinite(all->row(i)[column]),
                    fmt::format("{}: row {}, column {} is no finite number", file.string(), i + 1, column + 1));
    // Normal equations of the columns' distances from their means, in units of their deviations: sums lose little so.
    const auto n = static_cast<size_t>(all->columns - 1), width = n + 1;
    std::vector<double> mean(width), deviation(width);
    const double rows = static_cast<double>(std::max<int64_t>(all->rows, 1));
    for (size_t c = 0; c < width; ++c) {
        for (int64_t i = 0; i < all->rows; ++i) mean[c] += all->row(i)[c] / rows;
        for (int64_t i = 0; i < all->rows; ++i) deviation[c] += std::pow(all->row(i)[c] - mean[c], 2) / rows;
        deviation[c] = std::sqrt(deviation[c]);
    }
    std::vector<double> system(n * width);
    bool settled = all->rows > 0;
    for (size_t a = 0; a < n; ++a) settled = settled && deviation[a] > 0;
    if (settled)
        for (int64_t i = 0; i < all->rows; ++i)
            for (size_t a = 0; a < n; ++a)
                for (size_t b = 0; b < width; ++b)
                    system[a * width + b] += (all->row(i)[a] - mean[a]) / deviation[a] * (all->row(i)[b] - mean[b]) /
                                             (b < n ? deviation[b] : 1) / rows;
    const std::vector<double> scaled = settled ? solution_of(std::move(system), n) : std::vector<double>{};
    must_be(!scaled.empty(), fmt::format("{}: its {} rows do not settle w and b", file.string(), all->rows));
    LineSet set{.name = file.filename().string()};
    double b = mean[n];
    for (size_t a = 0; a < n; ++a) {
        set.w.push_back(static_cast<float>(scaled[a] / deviation[a]));
        b -= scaled[a] / deviation[a] * mean[a];
    }
    set.b = static_cast<float>(b);
    double squares = 0;
    for (int64_t i = 0; i < all->rows; ++i) {
        double off = all->row(i)[n] - b;
        for (size_t a = 0; a < n; ++a) off -= scaled[a] / deviation[a] * all->row(i)[a];
        squares += off * off;
    }
    set.noise = std::sqrt(squares / rows);
    set.train = [all, seed](uint64_t index, std::span<float> x) {
        const double* from = all->row(static_cast<int64_t>(place_of(index, static_cast<uint64_t>(all->rows), seed)));
        for (float& value : x) value = static_cast<float>(*from++);
        return static_cast<float>(*from);
    };
    return set;
}

}  // namespace lockstep::nn
