// The made sets against what they are for: each can be learnt, and not by the simplest means.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/nn/data/data_set.h"
#include "core/nn/data/files/npz.h"
#include "core/nn/data/made/grid_world.h"
#include "core/nn/data/made/planted_graph.h"
#include "core/nn/data/made/points.h"
#include "core/nn/data/made/sequences.h"
#include "core/nn/data/text.h"
#include "core/nn/train/trainer.h"
#include "tests/nn/data_support.h"

namespace nn_data_made_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {
// Nats a character of `test` by tables of up to `reach` characters before, counted in `train`: Witten and Bell's mix of a
// table with the next shorter one.
double table_nats(const std::vector<int32_t>& train, const std::vector<int32_t>& test, int symbols, size_t reach) {
    std::vector<std::map<std::vector<int32_t>, std::map<int32_t, double>>> tables(reach + 1);
    for (size_t i = reach; i < train.size(); ++i)
        for (size_t back = 0; back <= reach; ++back)
            ++tables[back][{train.begin() + long(i - back), train.begin() + long(i)}][train[i]];
    double nats = 0;
    for (size_t i = reach; i < test.size(); ++i) {
        double p = 1.0 / symbols;
        for (size_t back = 0; back <= reach; ++back) {
            const auto row = tables[back].find({test.begin() + long(i - back), test.begin() + long(i)});
            if (row == tables[back].end()) break;
            double total = 0;
            for (const auto& [symbol, count] : row->second) total += count;
            const auto hit = row->second.find(test[i]);
            const double kinds = double(row->second.size());
            p = ((hit == row->second.end() ? 0 : hit->second) + kinds * p) / (total + kinds);
        }
        nats -= std::log(p);
    }
    return nats / double(test.size() - reach);
}
}  // namespace

TEST_CASE("a pair table needs about 2.4 nats for the stories, three characters back far less than 2") {
    const TextSet text = stories(1, 400'000);
    REQUIRE(text.train.size() >= 400'000);
    REQUIRE(text.held_out.size() >= 50'000);
    const int symbols = text.vocabulary.size();
    const double pairs = bigram_nats(text), plain = table_nats(text.train, text.held_out, symbols, 1);
    const std::vector<int32_t> less(text.train.begin(), text.train.begin() + 200'000);
    const double three = table_nats(less, text.held_out, symbols, 3);
    INFO(fmt::format("pairs {:.4f}, {:.4f} by the other formula; three back {:.4f}; the source {:.4f}", pairs, plain, three,
                     text.source_nats));
    CHECK(std::abs(pairs - 2.4) < 0.05);
    CHECK(std::abs(pairs - plain) < 0.01);
    CHECK((three > text.source_nats && three < 1.5));
    CHECK((text.source_nats > 0.3 && text.source_nats < 0.6));
}

TEST_CASE("no held-out story is trained on, and the held-out ones are the same for every seed") {
    const TextSet one = stories(1, 300'000), other = stories(2, 300'000), again = stories(1, 300'000);
    CHECK(one.train == again.train);
    CHECK(one.train != other.train);
    CHECK(one.held_out == other.held_out);
    CHECK(one.vocabulary.symbols == other.vocabulary.symbols);
    const auto sentences = [](const std::string& text) {
        std::set<std::string> all;
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find_first_of(".\n", at), text.size() - 1);
            if (end - at > 40) all.insert(text.substr(at, end - at));
            at = end + 1;
        }
        return all;
    };
    const auto trained = sentences(one.vocabulary.decode(one.train)), held = sentences(one.vocabulary.decode(one.held_out));
    CHECK(held.size() > 500);
    int shared = 0;
    for (const std::string& sentence : held) shared += trained.count(sentence) > 0;
    INFO(shared << " of " << held.size() << " long sentences are in both");
    CHECK(shared == 0);
}

TEST_CASE("a story keeps to its people: whom the first sentence names is 'she' or 'he' throughout") {
    const TextSet text = stories(4, 60'000);
    const std::string all = text.vocabulary.decode(text.train);
    int stories_seen = 0;
    for (size_t at = 0; at < all.size();) {
        const size_t end = all.find('\n', at);
        const std::string story = " " + all.substr(at, end - at);
        const bool she = story.find(" she ") != std::string::npos || story.find(" She ") != std::string::npos;
        const bool he = story.find(" he ") != std::string::npos || story.find(" He ") != std::string::npos;
        CHECK(she != he);
        ++stories_seen;
        at = end + 1;
    }
    CHECK(stories_seen > 100);
    for (const std::string wrong : {" an useless ", " a iron ", " a ancient "}) CHECK(all.find(wrong) == std::string::npos);
    CHECK(all.find(" an iron ") != std::string::npos);
}

TEST_CASE("text is taken apart into characters, not bytes, and put together again") {
    const std::string bytes = fixture("text_utf8");
    const TextSet set = parse_text(bytes, "a.txt", 0.25).value();
    CHECK(set.train.size() == 17);  // of 23 characters
    CHECK(set.vocabulary.decode(set.train) + set.vocabulary.decode(set.held_out) == bytes);
    CHECK(set.vocabulary.numbers.contains("\xe6\x97\xa5"));
    CHECK(set.vocabulary.symbols.front() == "\n");
    CHECK(std::is_sorted(set.vocabulary.symbols.begin(), set.vocabulary.symbols.end()));
    CHECK(refused(set.vocabulary.encode("na\xc3\xafvex"),
                  "text: error: at byte 6: the character 'x' is not in the vocabulary"));
    const int32_t wrong[] = {-1, set.vocabulary.size()};
    CHECK(set.vocabulary.decode(wrong) == "\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(parse_text("\xef\xbb\xbfx", "a").value().vocabulary.size() == 1);
}

TEST_CASE("bytes that are not UTF-8 are refused where they stand") {
    for (const std::string good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                                   "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        CHECK(!first_bad_utf8(good));
    // A lone continuation, overlong forms, a surrogate, beyond U+10FFFF, cut off.
    for (const std::string bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                  "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe6\x97", "\xf0\x9f\x9a"}) {
        CHECK(first_bad_utf8("ab" + bad) == 2u);
        CHECK(refused(parse_text("ab" + bad, "a.txt"), "a.txt: error: at byte 2: this is not UTF-8"));
    }
    CHECK(refused(parse_text("", "a.txt"), "at byte 0: it is empty"));
    std::string many;
    for (unsigned c = 0x4e00; c < 0x4e00 + 4097; ++c) {
        many += char(0xe0 | c >> 12);
        many += char(0x80 | (c >> 6 & 63));
        many += char(0x80 | (c & 63));
    }
    CHECK(refused(parse_text(many, "a.txt"), "at byte 12288: more than 4096 different characters"));
    CHECK(fails_with("no text 'storys', did you mean 'stories'?", [] { (void)open_text("storys", 1); }));
}

TEST_CASE("windows of a text are shifted by one against their targets and cover the held-out text once") {
    const auto text = std::make_shared<TextSet>(stories(1, 5000, 3000));
    const SequenceSet set = windows(text, 32, 7);
    CHECK(set.vocabulary == text->vocabulary.size());
    std::vector<int64_t> tokens(32), more(32);
    std::vector<int32_t> targets(32);
    std::set<std::vector<int64_t>> different;
    for (uint64_t i = 0; i < 50; ++i) {
        set.train(i, tokens, targets);
        CHECK(std::equal(tokens.begin() + 1, tokens.end(), targets.begin()));
        CHECK(std::search(text->train.begin(), text->train.end(), tokens.begin(), tokens.end()) != text->train.end());
        different.insert(tokens);
        set.train(i, more, targets);
        CHECK(more == tokens);
    }
    CHECK(different.size() > 45);
    std::vector<int32_t> covered;
    for (int64_t i = 0; i < set.test_count; ++i) {
        set.test(uint64_t(i), tokens, targets);
        covered.insert(covered.end(), targets.begin(), targets.end());
    }
    CHECK(text->held_out.size() - 1 - covered.size() < 32);
    CHECK(std::equal(covered.begin(), covered.end(), text->held_out.begin() + 1));
    CHECK(fails_with("windows of 9000 characters need 9001", [&] { (void)windows(text, 9000, 1); }));
}

TEST_CASE("the copy task asks for the payload after the sign, in order") {
    const SequenceSet set = copy_task(3, 5, 6);
    CHECK(set.length == 11);
    CHECK(set.vocabulary == 8);
    std::vector<int64_t> tokens(11);
    std::vector<int32_t> targets(11);
    std::set<int64_t> seen;
    for (uint64_t i = 0; i < 200; ++i) {
        (i % 2 ? set.test : set.train)(i, tokens, targets);
        for (size_t t = 0; t < 11; ++t) {
            CHECK(targets[t] == (t < 6 ? 0 : tokens[t - 6]));
            CHECK((t < 5 ? tokens[t] >= 2 && tokens[t] < 8 : tokens[t] == (t == 5)));
        }
        seen.insert(tokens.begin(), tokens.begin() + 5);
    }
    CHECK(seen.size() == 6);
}

TEST_CASE("points of the spirals lie on their arm: a straight line cannot part them, an angle by radius can") {
    const PointSet set = spirals(1);
    std::vector<float> x(2);
    int right = 0;
    std::array<int, 3> count = {};
    for (uint64_t i = 0; i < 3000; ++i) {
        const int arm = set.train(i, x);
        ++count[size_t(arm)];
        const double radius = std::hypot(double(x[0]), double(x[1])), along = (radius - 0.1) / 0.9;
        const double turn = std::atan2(double(x[1]), double(x[0])) / (2 * 3.14159265358979) - 0.75 * along;
        right += int(std::lround(3 * (turn + 2))) % 3 == arm;
    }
    for (const int n : count) CHECK(std::abs(n - 1000) < 120);
    CHECK(right > 2900);
}

TEST_CASE("the eight clouds are where they should be, and coverage sees a collapsed generator") {
    const PointSet set = eight_gaussians(1);
    std::vector<int32_t> classes;
    const std::vector<float> points = first_points(set, 8000, &classes);
    std::array<double, 8> x = {}, y = {}, n = {};
    double square = 0;
    for (size_t i = 0; i < 8000; ++i) {
        const auto c = size_t(classes[i]);
        x[c] += double(points[2 * i]), y[c] += double(points[2 * i + 1]), ++n[c];
        square += std::pow(double(points[2 * i] - set.centres[2 * c]), 2) +
                  std::pow(double(points[2 * i + 1] - set.centres[2 * c + 1]), 2);
    }
    for (size_t c = 0; c < 8; ++c) {
        CHECK(std::abs(n[c] - 1000) < 120);
        CHECK(std::abs(x[c] / n[c] - 2 * std::cos(double(c) * 0.78539816)) < 0.02);
        CHECK(std::abs(y[c] / n[c] - 2 * std::sin(double(c) * 0.78539816)) < 0.02);
    }
    CHECK(std::abs(std::sqrt(square / 16000) - 0.1) < 0.003);
    const Coverage all = coverage_of(set, points);
    CHECK(all.covered == 8);
    CHECK(std::abs(all.near - (1 - std::exp(-4.5))) < 0.005);  // within 3 deviations in a plane
    std::vector<float> one;
    for (size_t i = 0; i < 8000; ++i)
        if (classes[i] == 3 || i % 100 == 0)
            one.insert(one.end(), points.begin() + long(2 * i), points.begin() + long(2 * i) + 2);
    CHECK(coverage_of(set, one).covered == 1);
    const std::vector<float> nan(200, std::nanf(""));
    CHECK(coverage_of(set, nan).near == 0);
    CHECK(coverage_of(set, {}).covered == 0);
}

TEST_CASE("clusters stand apart, the same for the same seed only") {
    const PointSet a = clusters(1), b = clusters(1), c = clusters(2);
    CHECK(a.centres == b.centres);
    CHECK(a.centres != c.centres);
    CHECK(first_points(a, 500) == first_points(b, 500));
    for (size_t i = 0; i < 10; ++i)
        for (size_t j = 0; j < i; ++j)
            CHECK(std::hypot(double(a.centres[2 * i] - a.centres[2 * j]),
                             double(a.centres[2 * i + 1] - a.centres[2 * j + 1])) > 2.999);
    CHECK(clusters(1, 200, 2).centres.size() == 400);  // where there is no room they touch
}

TEST_CASE("least squares finds the line's w and b") {
    for (const uint64_t seed : {1u, 2u}) {
        const LineSet set = line(seed);
        double sx = 0, sy = 0, sxx = 0, sxy = 0, residual = 0;
        constexpr int n = 4000;
        std::vector<float> x(1);
        for (uint64_t i = 0; i < n; ++i) {
            const double y = double(set.train(i, x)), at = double(x[0]);
            CHECK(std::abs(at) <= 1);
            sx += at, sy += y, sxx += at * at, sxy += at * y;
            residual += std::pow(y - double(set.w[0]) * at - double(set.b), 2);
        }
        const double w = (n * sxy - sx * sy) / (n * sxx - sx * sx);
        CHECK(std::abs(w - double(set.w[0])) < 0.003);
        CHECK(std::abs((sy - w * sx) / n - double(set.b)) < 0.002);
        CHECK(std::abs(std::sqrt(residual / n) - 0.02) < 0.001);
    }
    CHECK(line(1).w != line(2).w);
}

TEST_CASE("points of a CSV file: every row once an epoch, a fifth of them held out") {
    const Scratch scratch("points");
    std::string csv = "a,kind,b\n";
    for (int i = 0; i < 23; ++i) csv += fmt::format("{},{},{}\n", i, i % 2 ? "odd" : "even", -i);
    write_file(scratch.folder / "p.csv", csv);
    const PointSet set = open_points(scratch.folder / "p.csv", "kind", 1);
    CHECK(set.dimensions == 2);
    CHECK(set.class_names == std::vector<std::string>{"even", "odd"});
    CHECK(set.test_count == 4);
    CHECK(set.train_count == 19);
    std::vector<float> x(2);
    std::multiset<int> seen;
    for (uint64_t i = 0; i < 23; ++i) {
        const int label = i < 19 ? set.train(i, x) : set.test(i - 19, x);
        CHECK(label == int(x[0]) % 2);
        CHECK(x[1] == -x[0]);
        seen.insert(int(x[0]));
    }
    CHECK(seen.size() == 23);
    CHECK(std::set<int>(seen.begin(), seen.end()).size() == 23);
    CHECK(fails_with("no column 'kinds', did you mean 'kind'?",
                     [&] { (void)open_points(scratch.folder / "p.csv", "kinds", 1); }));
}

TEST_CASE("a file's line: the same rows as CSV, npy and npz, and least squares over all of them") {
    const Scratch scratch("line");
    // y = 3 a - 2 b + 0.5 and noise that neither column nor the mean sees: its products with them sum to 0.
    Array table{DType::f64, {8, 3}, {}}, x{DType::f32, {8, 2}, {}}, y{DType::f32, {8}, {}};
    const double noise[] = {1, -1, -1, 1, -1, 1, 1, -1};
    std::string csv = "a,b,y\n";
    std::vector<double> rows;
    std::vector<float> inputs, targets;
    for (int i = 0; i < 8; ++i) {
        const double a = 10 + i % 2, b = 0.25 * (i / 2 % 2), at = 3 * a - 2 * b + 0.5 + 0.125 * noise[i];
        csv += fmt::format("{},{},{}\n", a, b, at);
        rows.insert(rows.end(), {a, b, at});
        inputs.insert(inputs.end(), {float(a), float(b)});
        targets.push_back(float(at));
    }
    const auto bytes = [](const auto& values) {
        const auto* from = reinterpret_cast<const std::byte*>(values.data());
        return std::vector<std::byte>(from, from + values.size() * sizeof(values[0]));
    };
    table.bytes = bytes(rows), x.bytes = bytes(inputs), y.bytes = bytes(targets);
    write_file(scratch.folder / "l.csv", csv);
    write_file(scratch.folder / "l.npy", format_npy(table));
    write_file(scratch.folder / "l.npz", format_npz({{"x", x}, {"y", y}}));
    for (const char* name : {"l.csv", "l.npy", "l.npz"}) {
        INFO(name);
        const LineSet set = open_line(scratch.folder / name, 1);
        CHECK(set.name == name);
        REQUIRE(set.w.size() == 2);
        CHECK(std::abs(set.w[0] - 3) < 1e-5f);
        CHECK(std::abs(set.w[1] + 2) < 1e-5f);
        CHECK(std::abs(set.b - 0.5f) < 1e-4f);
        CHECK(std::abs(set.noise - 0.125) < 1e-6);
        std::multiset<float> seen, all(targets.begin(), targets.end());
        std::vector<float> point(2);
        for (uint64_t i = 0; i < 8; ++i) {
            const float value = set.train(i, point);
            CHECK(std::abs(double(value) - (3 * double(point[0]) - 2 * double(point[1]) + 0.5)) < 0.126);
            seen.insert(value);
        }
        CHECK(seen == all);
    }
    write_file(scratch.folder / "text.csv", "a,y\n1,2\n1,x\n");
    CHECK(fails_with("text.csv", [&] { (void)open_line(scratch.folder / "text.csv", 1); }));
    write_file(scratch.folder / "flat.csv", "a,y\n1,2\n1,3\n");
    CHECK(fails_with("its 2 rows do not settle w and b", [&] { (void)open_line(scratch.folder / "flat.csv", 1); }));
    write_file(scratch.folder / "nan.csv", "a,y\n1,2\n2,nan\n");
    CHECK(fails_with("row 2, column 2 is no finite number", [&] { (void)open_line(scratch.folder / "nan.csv", 1); }));
    write_file(scratch.folder / "other.npz", format_npz({{"z", x}}));
    CHECK(fails_with("it holds no x and y", [&] { (void)open_line(scratch.folder / "other.npz", 1); }));
}

TEST_CASE("a rim goes around smaller pictures, and mirrored digits are the digits with left and right exchanged") {
    const DataSet digits = open_digits(3), wide = with_rim(digits, 32), mirrored = open_data_set("mirrored digits", 3);
    REQUIRE(wide.pixels() == 32 * 32);
    std::vector<float> image(784), rimmed(1024), other(784);
    for (uint64_t i = 0; i < 3; ++i) {
        const int label = digits.train(i, image);
        CHECK(wide.train(i, rimmed) == label);
        CHECK(mirrored.train(i, other) == label);
        for (size_t row = 0; row < 32; ++row)
            for (size_t column = 0; column < 32; ++column) {
                const bool inside = row >= 2 && row < 30 && column >= 2 && column < 30;
                CHECK(rimmed[row * 32 + column] == (inside ? image[(row - 2) * 28 + column - 2] : 0.0f));
            }
        for (size_t p = 0; p < 784; ++p) CHECK(other[p] == image[p / 28 * 28 + 27 - p % 28]);
    }
    CHECK(with_rim(digits, 28).pixels() == 784);
    CHECK(with_rim(digits, 20).pixels() == 784);
}

TEST_CASE("models take the data that they can, and say so where they cannot") {
    const Scratch scratch("takes");
    std::string records;
    for (int i = 0; i < 20; ++i) records += char(i % 10) + std::string(3072, char(i * 10));
    for (int i = 1; i <= 5; ++i) write_file(scratch.folder / fmt::format("data_batch_{}.bin", i), records);
    write_file(scratch.folder / "test_batch.bin", records);
    write_file(scratch.folder / "p.csv", "a,b,c,kind\n1,2,3,x\n4,5,6,y\n7,8,9,x\n1,0,1,y\n2,2,2,x\n");
    const auto loss = [&](const std::string& model, const std::string& data) {
        TrainerOptions options;
        options.model = model, options.data = data, options.batch = 4;
        return Trainer(options).step().loss;
    };
    CHECK(std::isfinite(loss("resnet8", scratch.folder.string())));  // three planes of 32 x 32
    CHECK(std::isfinite(loss("resnet8", "digits32")));
    CHECK(std::isfinite(loss("lenet5", "digits")));
    CHECK(std::isfinite(loss("spirals", (scratch.folder / "p.csv").string())));
    CHECK(fails_with("model lenet5 takes pictures of [1, 32, 32]", [&] { loss("lenet5", scratch.folder.string()); }));
    CHECK(fails_with("model gcn has its own data, 'planted_graph': it reads no 'digits'", [&] { loss("gcn", "digits"); }));
    CHECK(fails_with("nowhere.csv", [&] { loss("linear_regression", "nowhere.csv"); }));
}

TEST_CASE("the planted graph is symmetric, as dense as asked for, and its labels are hidden well") {
    const Graph graph = planted_graph(1);
    REQUIRE(graph.nodes == 400);
    CHECK(graph.train.size() == 40);
    CHECK(graph.test.size() == 360);
    std::set<std::pair<int, int>> edges;
    int64_t within = 0;
    for (int a = 0; a < 400; ++a)
        for (int i = graph.adjacency.row_start[size_t(a)]; i < graph.adjacency.row_start[size_t(a) + 1]; ++i) {
            const int b = graph.adjacency.column[size_t(i)];
            edges.insert({a, b});
            within += graph.label[size_t(a)] == graph.label[size_t(b)];
        }
    CHECK(edges.size() == graph.adjacency.column.size());
    for (const auto& [a, b] : edges) CHECK((a != b && edges.contains({b, a})));
    CHECK(std::abs(double(within) / 400 - 8) < 0.6);
    CHECK(std::abs(double(edges.size() - size_t(within)) / 400 - 3) < 0.4);

    const Csr n = normalised_adjacency(graph);
    for (size_t row = 0; row < 400; ++row) {  // against the definition
        const double degree = graph.adjacency.row_start[row + 1] - graph.adjacency.row_start[row] + 1;
        REQUIRE(n.row_start[row + 1] - n.row_start[row] == int(degree));
        for (int i = n.row_start[row]; i < n.row_start[row + 1]; ++i) {
            const auto column = size_t(n.column[size_t(i)]);
            if (i > n.row_start[row]) CHECK(n.column[size_t(i)] > n.column[size_t(i) - 1]);
            const double other = graph.adjacency.row_start[column + 1] - graph.adjacency.row_start[column] + 1;
            CHECK(std::abs(double(n.value[size_t(i)]) - 1 / std::sqrt(degree * other)) < 1e-6);
        }
    }
}

TEST_CASE("features alone tell the communities badly, features gathered along the edges tell them well") {
    for (const uint64_t seed : {1u, 2u, 3u}) {
        const Graph graph = planted_graph(seed);
        const Csr n = normalised_adjacency(graph);
        const auto f = size_t(graph.features);
        const auto accuracy = [&](const std::vector<float>& x) {  // nearest mean of the labelled nodes
            std::vector<double> mean(4 * f, 0);
            for (const int node : graph.train)
                for (size_t i = 0; i < f; ++i)
                    mean[size_t(graph.label[size_t(node)]) * f + i] += double(x[size_t(node) * f + i]) / 10;
            int right = 0;
            for (const int node : graph.test) {
                std::array<double, 4> distance = {};
                for (size_t c = 0; c < 4; ++c)
                    for (size_t i = 0; i < f; ++i)
                        distance[c] += std::pow(double(x[size_t(node) * f + i]) - mean[c * f + i], 2);
                right += std::min_element(distance.begin(), distance.end()) - distance.begin() == graph.label[size_t(node)];
            }
            return double(right) / double(graph.test.size());
        };
        std::vector<float> x = graph.x;
        const double alone = accuracy(x);
        for (int hop = 0; hop < 2; ++hop) {
            std::vector<float> next(x.size(), 0.0f);
            for (size_t row = 0; row < 400; ++row)
                for (int i = n.row_start[row]; i < n.row_start[row + 1]; ++i)
                    for (size_t c = 0; c < f; ++c)
                        next[row * f + c] += n.value[size_t(i)] * x[size_t(n.column[size_t(i)]) * f + c];
            x = next;
        }
        const double gathered = accuracy(x);
        INFO(fmt::format("seed {}: alone {:.3f}, gathered {:.3f}", seed, alone, gathered));
        CHECK(alone < 0.75);
        CHECK(gathered > 0.92);
    }
    CHECK(planted_graph(1).x == planted_graph(1).x);
    CHECK(planted_graph(1).adjacency.column != planted_graph(2).adjacency.column);
    CHECK(fails_with("at most 20000 nodes", [] { (void)planted_graph(1, {.communities = 1 << 30}); }));
}

TEST_CASE("the best return of a maze is what its best policy gets when it is played") {
    const GridWorld world = grid_world();
    // Values by repeated improvement without a horizon, as another way to the same policy.
    std::vector<double> value(size_t(world.states()), 0);
    std::vector<int> best(size_t(world.states()), 0);
    const auto moved = [&](int state, int direction) {  // an independent reading of the map
        const int row = state / world.columns, column = state % world.columns;
        const int r = row + (direction == 2) - (direction == 0), c = column + (direction == 1) - (direction == 3);
        const bool free =
            r >= 0 && c >= 0 && r < world.rows && c < world.columns && world.cells[size_t(r * world.columns + c)] != '#';
        return free ? r * world.columns + c : state;
    };
    const auto worth = [&](int state) {
        const char cell = world.cells[size_t(state)];
        return -0.02 + (cell == 'G' ? 1 : cell == 'X' ? -1 : value[size_t(state)]);
    };
    for (int sweep = 0; sweep < 1000; ++sweep)
        for (int state = 0; state < world.states(); ++state) {
            double most = -1e9;
            for (int action = 0; action < 4; ++action) {
                const double got = 0.9 * worth(moved(state, action)) + 0.05 * worth(moved(state, (action + 1) % 4)) +
                                   0.05 * worth(moved(state, (action + 3) % 4));
                if (got > most) most = got, best[size_t(state)] = action;
            }
            value[size_t(state)] = most;
        }
    Rng rng(1);
    const auto play = [&](auto policy) {
        double total = 0;
        constexpr int episodes = 20000;
        for (int episode = 0; episode < episodes; ++episode) {
            int state = world.start;
            for (int t = 0; t < world.horizon; ++t) {
                const auto outcome = world.step(state, policy(state), rng);
                total += outcome.reward;
                state = outcome.state;
                if (outcome.done) break;
            }
        }
        return total / episodes;
    };
    const double played = play([&](int state) { return best[size_t(state)]; });
    const double drawn = play([&](int) { return int(rng.below(4)); });
    INFO(fmt::format("best {:.4f}, played {:.4f}; drawn {:.4f}, played {:.4f}", best_return(world), played,
                     random_return(world), drawn));
    CHECK(std::abs(best_return(world) - value[size_t(world.start)]) < 0.002);
    CHECK(std::abs(best_return(world) - played) < 0.01);
    CHECK(std::abs(random_return(world) - drawn) < 0.03);
    CHECK(random_return(world) < 0);
    CHECK(best_return(world) > 0.5);
    std::vector<float> seen(size_t(world.states()));
    world.observe(14, seen);
    CHECK(std::accumulate(seen.begin(), seen.end(), 0.0f) == 1);
    CHECK(seen[14] == 1);
}

TEST_CASE("a maze that cannot be played is refused with the byte and the reason") {
    CHECK(refused(parse_grid_world("S.\nG", "a"), "at byte 3: its lines are not equally long"));
    CHECK(refused(parse_grid_world("S?\nG.", "a"), "at byte 1: a cell is none of"));
    CHECK(refused(parse_grid_world("SS\nG.", "a"), "2 S and 1 G: one S and a G are needed"));
    CHECK(refused(parse_grid_world("", "a"), "0 S and 0 G"));
    CHECK(refused(parse_grid_world(std::string(5000, '.'), "a"), "more than 4096 cells"));
    CHECK(refused(parse_grid_world("\n\n", "a"), "0 S"));
}

TEST_CASE("every made set is in the list, and the wrong kind is refused by name") {
    std::set<std::string_view> names;
    for (const DataSetRow& row : data_sets()) {
        CHECK(names.insert(row.name).second);
        CHECK(row.about.size() > 10);
    }
    for (const std::string& name : {spirals(1).name, eight_gaussians(1).name, clusters(1).name, copy_task(1).name,
                                    stories(1, 10, 10).name, open_digits(1).name, open_digits(1, 32).name})
        CHECK(names.contains(name));
    CHECK(fails_with("data 'spirals' holds points; pictures are wanted here", [] { (void)open_data_set("spirals", 1); }));
    CHECK(fails_with("did you mean 'digits'?", [] { (void)open_data_set("digit", 1); }));
}

}  // namespace nn_data_made_test
