// Layouts against their plain meaning: a tensor is a list of element numbers, a cut takes consecutive ones, and after any
// redistribution or operation everything gathered is the tensor that it should be, exactly.
#include "core/parallel/layout/layout.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "core/base/diagnostic.h"
#include "core/comm/in_process.h"
#include "tests/catch.h"

namespace parallel_layout_test {

using namespace lockstep;
using namespace lockstep::parallel;
using Catch::Matchers::Contains;

namespace {

// Every index along a dimension that a rank holds: the list is dealt out in consecutive runs, longer ones first.
std::vector<std::vector<int64_t>> plain_indices(const Mesh& mesh, const Extents& shape, const Layout& layout, int rank) {
    std::vector<std::vector<int64_t>> lists;
    for (size_t d = 0; d < shape.size(); ++d) {
        std::vector<int64_t> list(static_cast<size_t>(shape[d]));
        std::iota(list.begin(), list.end(), 0);
        for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
            if (layout.along[axis] != shard(static_cast<int>(d))) continue;
            const auto n = static_cast<size_t>(mesh.axes[axis].size);
            std::vector<std::vector<int64_t>> hands(n);
            size_t taken = 0;
            for (size_t hand = 0; hand < n; ++hand)
                for (size_t left = (list.size() - taken + n - hand - 1) / (n - hand); left > 0; --left)
                    hands[hand].push_back(list[taken++]);
            list = hands[static_cast<size_t>(mesh.coordinates(rank)[axis])];
        }
        lists.push_back(list);
    }
    return lists;
}

// The numbers of the elements that a rank holds, row by row.
std::vector<int64_t> plain_elements(const Mesh& mesh, const Extents& shape, const Layout& layout, int rank) {
    std::vector<int64_t> elements = {0};
    const auto lists = plain_indices(mesh, shape, layout, rank);
    for (size_t d = 0; d < shape.size(); ++d) {
        std::vector<int64_t> more;
        for (const int64_t before : elements)
            for (const int64_t index : lists[d]) more.push_back(before * shape[d] + index);
        elements = more;
    }
    return elements;
}

// Which of the ranks that share their elements and hold summands of them this is, and how many they are.
std::pair<int, int> summand_of(const Mesh& mesh, const Layout& layout, int rank) {
    std::pair<int, int> at = {0, 1};
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
        if (layout.along[axis] == partial()) {
            at.first = at.first * mesh.axes[axis].size + mesh.coordinates(rank)[axis];
            at.second *= mesh.axes[axis].size;
        }
    return at;
}

// A rank's part of `values`; summands are whole numbers that add up to them.
std::vector<double> plain_part(const Mesh& mesh, const Extents& shape, const Layout& layout, int rank,
                               const std::vector<double>& values) {
    const auto [which, count] = summand_of(mesh, layout, rank);
    std::vector<double> part;
    for (const int64_t element : plain_elements(mesh, shape, layout, rank)) {
        double value = values[static_cast<size_t>(element)];
        if (which + 1 < count)
            value = static_cast<double>((element * 5 + which * 3) % 11 - 4);
        else
            for (int other = 0; other + 1 < count; ++other) value -= static_cast<double>((element * 5 + other * 3) % 11 - 4);
        part.push_back(value);
    }
    return part;
}

// Elements that are not what they should be, everything gathered: summands added up, copies each by itself. A part of
// another size is wrong as a whole, an element that nobody has too.
int64_t wrong_elements(const Mesh& mesh, const Extents& shape, const Layout& layout,
                       const std::vector<std::vector<double>>& parts, const std::vector<double>& values) {
    std::map<std::vector<int>, std::map<int64_t, double>> copies;  // by the coordinates along the other axes
    int64_t wrong = 0;
    std::set<int64_t> held;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        const std::vector<int64_t> elements = plain_elements(mesh, shape, layout, rank);
        const std::vector<double>& part = parts[static_cast<size_t>(rank)];
        if (part.size() != elements.size()) return static_cast<int64_t>(values.size()) + 1;
        std::vector<int> at = mesh.coordinates(rank);
        for (size_t axis = 0; axis < at.size(); ++axis)
            if (layout.along[axis] == partial()) at[axis] = -1;
        for (size_t i = 0; i < part.size(); ++i) copies[at][elements[i]] += part[i], held.insert(elements[i]);
    }
    for (const auto& [at, sums] : copies)
        for (const auto& [element, sum] : sums) wrong += !(sum == values[static_cast<size_t>(element)]);
    return wrong + static_cast<int64_t>(values.size() - held.size());
}

std::vector<Layout> all_layouts(const Mesh& mesh, int dimensions) {
    std::vector<Layout> all = {{dimensions, {}}};
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
        std::vector<Layout> longer;
        for (const Layout& one : all)
            for (int place = -2; place < dimensions; ++place) {
                longer.push_back(one);
                longer.back().along.push_back(place == -2 ? replicate() : place == -1 ? partial() : shard(place));
            }
        all = longer;
    }
    return all;
}

std::vector<double> some_values(const Extents& shape, int64_t seed) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>((i * 7 + seed) % 23 - 9));
    return values;
}

struct Moved {
    std::vector<std::vector<double>> parts;
    comm::GroupResult result;
};
Moved move_parts(const Redistribution& plan, const std::vector<double>& values, const comm::Link& link = {}) {
    Moved moved;
    moved.parts.resize(static_cast<size_t>(plan.mesh.ranks()));
    moved.result = comm::run_in_process(
        plan.mesh.ranks(), link,
        [&](comm::Communicator& world) {
            std::vector<double> local = plain_part(plan.mesh, plan.shape, plan.from, world.rank(), values);
            local.reserve(1);  // an empty part is a part
            const auto bytes = redistribute(world, plan, {local.data(), static_cast<int64_t>(local.size()), DType::f64});
            std::vector<double>& part = moved.parts[static_cast<size_t>(world.rank())];
            part.resize(bytes.size() / sizeof(double));
            if (!bytes.empty()) std::memcpy(part.data(), bytes.data(), bytes.size());
        },
        {.events = 0});
    return moved;
}

void check_move(const Mesh& mesh, const Extents& shape, const Layout& from, const Layout& to) {
    CAPTURE(text_of(mesh, from), text_of(mesh, to), shape);
    const std::vector<double> values = some_values(shape, 3);
    const Redistribution plan = plan_redistribution(mesh, shape, DType::f64, from, to);
    const Moved moved = move_parts(plan, values);
    CHECK(moved.result.problem() == "");
    CHECK(wrong_elements(mesh, shape, to, moved.parts, values) == 0);
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        int64_t planned = 0;
        for (const RedistributionStep& step : plan.steps) planned += bytes_sent(plan, step, rank);
        CHECK(static_cast<int64_t>(moved.result.ranks[static_cast<size_t>(rank)].bytes_sent) == planned);
    }
}

// Everything that is quoted in a refusal is a layout that would do.
std::vector<std::string> quoted(const std::string& text) {
    std::vector<std::string> found;
    for (size_t begin = 0; (begin = text.find('\'', begin)) != std::string::npos;) {
        const size_t end = text.find('\'', begin + 1);
        found.push_back(text.substr(begin + 1, end - begin - 1));
        begin = end + 1;
    }
    return found;
}

// An operation that meets is right when each rank's result of its own parts is its part of the whole result.
struct Judged {
    int met = 0, refused = 0;
};
using Plain =
    std::function<std::vector<double>(const std::vector<std::vector<double>>& parts, const std::vector<Extents>& extents)>;
void judge(Judged& judged, const Mesh& mesh, const std::vector<LaidOut>& operands,
           const std::function<LaidOut(const std::vector<LaidOut>&)>& rule, const Plain& plain) {
    std::string texts;
    for (const LaidOut& operand : operands) texts += text_of(mesh, operand.layout) + "; ";
    CAPTURE(texts);
    LaidOut made;
    try {
        made = rule(operands);
    } catch (const Failure& failure) {
        ++judged.refused;
        const std::vector<std::string> would = quoted(failure.diagnostic.message);
        CAPTURE(failure.diagnostic.message);
        REQUIRE(would.size() == operands.size());
        std::vector<LaidOut> better = operands;
        for (size_t i = 0; i < would.size(); ++i)
            better[i].layout = layout_named(mesh, would[i], static_cast<int>(operands[i].shape.size()));
        CHECK_NOTHROW(rule(better));
        return;
    }
    ++judged.met;
    std::vector<std::vector<double>> whole;
    std::vector<Extents> shapes;
    for (size_t i = 0; i < operands.size(); ++i)
        whole.push_back(some_values(operands[i].shape, static_cast<int64_t>(i) * 4 + 1)),
            shapes.push_back(operands[i].shape);
    std::vector<std::vector<double>> results;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        std::vector<std::vector<double>> parts;
        std::vector<Extents> extents;
        for (size_t i = 0; i < operands.size(); ++i) {
            parts.push_back(plain_part(mesh, operands[i].shape, operands[i].layout, rank, whole[i]));
            extents.emplace_back();
            for (const auto& list : plain_indices(mesh, operands[i].shape, operands[i].layout, rank))
                extents.back().push_back(static_cast<int64_t>(list.size()));
        }
        results.push_back(plain(parts, extents));
    }
    CHECK(wrong_elements(mesh, made.shape, made.layout, results, plain(whole, shapes)) == 0);
}

// [batch, M, K] by [batch or none, K, N]
std::vector<double> plain_matmul(const std::vector<std::vector<double>>& parts, const std::vector<Extents>& extents) {
    const Extents &a = extents[0], &b = extents[1];
    const int64_t m = a[a.size() - 2], k = a.back(), n = b.back(), batches = a.size() > 2 ? a[0] : 1;
    if (b[b.size() - 2] != k || (b.size() > 2 && b[0] != batches)) return {};
    std::vector<double> c;
    for (int64_t batch = 0; batch < batches; ++batch)
        for (int64_t row = 0; row < m; ++row)
            for (int64_t column = 0; column < n; ++column) {
                double sum = 0;
                for (int64_t i = 0; i < k; ++i)
                    sum += parts[0][static_cast<size_t>((batch * m + row) * k + i)] *
                           parts[1][static_cast<size_t>(((b.size() > 2 ? batch : 0) * k + i) * n + column)];
                c.push_back(sum);
            }
    return c;
}

LaidOut laid_out(const Mesh& mesh, const Extents& shape, const std::string& text) {
    return {shape, layout_named(mesh, text, static_cast<int>(shape.size()))};
}

}  // namespace

TEST_CASE("A layout's text leads back to it, and what is no layout is refused with one that is") {
    const Mesh mesh = mesh_named("x:3,y:2,z:2");
    for (const Layout& layout : all_layouts(mesh, 2)) CHECK(layout_named(mesh, text_of(mesh, layout), 2) == layout);
    CHECK(text_of(mesh, layout_named(mesh, "x*z,-,+y", 2)) == "x*z,-,+y");
    CHECK(layout_named(mesh, "+y, x , -", 2) == layout_named(mesh, "x,-,+y", 2));
    CHECK_THROWS_WITH(layout_named(mesh, "w,-", 2), Contains("no axis 'w'") && Contains("x, y, z"));
    CHECK_THROWS_WITH(layout_named(mesh, "x,x", 2), Contains("axis x cuts dimension 0 and cuts dimension 1"));
    CHECK_THROWS_WITH(layout_named(mesh, "x,-,+x", 2), Contains("cuts dimension 0 and holds summands"));
    CHECK_THROWS_WITH(layout_named(mesh, "y*x,-", 2), Contains("x*y would"));
    CHECK_THROWS_WITH(layout_named(mesh, "x", 2), Contains("has 1 dimension, the tensor 2: -,- would"));
    CHECK_THROWS_WITH(layout_named(mesh, "x,-,-", 2), Contains("has 3 dimensions"));
    CHECK_THROWS_WITH(layout_named(mesh, "x,", 2), Contains("an item is empty"));
}

TEST_CASE("A rank's region is what dealing out the indices gives it") {
    const Mesh mesh = mesh_named("x:3,y:2");
    for (const Extents& shape : {Extents{6, 4}, Extents{7, 5}, Extents{2, 1}, Extents{0, 3}})
        for (const Layout& layout : all_layouts(mesh, 2))
            for (int rank = 0; rank < mesh.ranks(); ++rank) {
                const auto plain = plain_indices(mesh, shape, layout, rank);
                const TensorRegion region = region_of(mesh, shape, layout, rank);
                for (size_t d = 0; d < 2; ++d) {
                    CHECK(region[d].count == static_cast<int64_t>(plain[d].size()));
                    if (!plain[d].empty()) CHECK(region[d].begin == plain[d].front());
                }
                CHECK(elements_in(region) == static_cast<int64_t>(plain[0].size() * plain[1].size()));
            }
}

TEST_CASE("Every layout becomes every other, value for value, with the bytes that the plan says") {
    for (const char* mesh_text : {"x:1", "x:3", "x:8", "x:2,y:2", "x:3,y:2"}) {
        const Mesh mesh = mesh_named(mesh_text);
        CAPTURE(mesh_text);
        for (const Extents& shape : {Extents{12, 24}, Extents{7, 5}, Extents{2, 1}})
            for (const Layout& from : all_layouts(mesh, 2))
                for (const Layout& to : all_layouts(mesh, 2)) check_move(mesh, shape, from, to);
    }
}

TEST_CASE("Three axes and three dimensions move alike, and so do one and none") {
    const Mesh mesh = mesh_named("x:2,y:2,z:2");
    const auto layouts = all_layouts(mesh, 3);
    for (size_t pair = 0; pair < layouts.size() * layouts.size(); pair += 131)
        check_move(mesh, pair % 2 ? Extents{4, 4, 8} : Extents{5, 3, 2}, layouts[pair / layouts.size()],
                   layouts[pair % layouts.size()]);
    for (const Layout& from : all_layouts(mesh, 1))
        for (const Layout& to : all_layouts(mesh, 1))
            if (from.along[0] != to.along[0]) check_move(mesh, {11}, from, to);
    check_move(mesh, {}, layout_named(mesh, "+x,+z", 0), layout_named(mesh, "", 0));
    check_move(mesh, {0, 4}, layout_named(mesh, "x,-", 2), layout_named(mesh, "-,x", 2));
}

TEST_CASE("Even cuts send what the formulas say") {
    struct Row {
        const char *from, *to, *collective;
        double share;  // of the whole tensor's bytes, a rank; n ranks
    };
    for (const int n : {2, 4, 8}) {
        const Mesh mesh = mesh_named(fmt::format("x:{}", n));
        const double k = n;
        for (const Row& row :
             {Row{"x,-", "-,-", "all-gather", (k - 1) / k}, Row{"-,x", "-,-", "all-gather", (k - 1) / k},
              Row{"x,-", "-,x", "all-to-all", (k - 1) / k / k}, Row{"-,-", "x,-", "local", 0},
              Row{"-,-,+x", "-,-", "all-reduce", 2 * (k - 1) / k}, Row{"-,-,+x", "-,x", "reduce-scatter", (k - 1) / k}}) {
            const Redistribution plan = plan_redistribution(mesh, {16, 24}, DType::f32, layout_named(mesh, row.from, 2),
                                                            layout_named(mesh, row.to, 2));
            CAPTURE(row.from, row.to, n);
            REQUIRE(plan.steps.size() == 1);
            CHECK(plan.steps[0].collective == row.collective);
            CHECK(static_cast<double>(plan.bytes()) == Approx(row.share * 16 * 24 * 4));
            CHECK(plan.steps[0].total == n * plan.bytes());
        }
    }
}

TEST_CASE("A plan cuts before it gathers, and inner cuts step aside for outer ones") {
    const Mesh mesh = mesh_named("x:3,y:2");
    const auto plan = [&](const char* from, const char* to) {
        return plan_redistribution(mesh, {12, 12}, DType::f32, layout_named(mesh, from, 2), layout_named(mesh, to, 2));
    };
    const Redistribution turned = plan("x,-", "-,y");
    REQUIRE(turned.steps.size() == 2);
    CHECK(turned.steps[0].collective == "local");
    CHECK(turned.bytes() == 12 * 6 * 4 * 2 / 3);  // 2/3 of a half of the tensor
    // Ranks of a group along x hold every second piece of rows: y's have to come together first.
    const Redistribution outer = plan("x*y,-", "y,-");
    REQUIRE(outer.steps.size() == 3);
    CHECK(text_of(mesh, outer.steps[0].after) == "x,-");
    CHECK(text_of(mesh, outer.steps[1].after) == "-,-");
    CHECK(outer.steps[2].collective == "local");
    CHECK(plan("x*y,-", "x,-").steps.size() == 1);
    CHECK(plan("x,y", "x,y").steps.empty());
    CHECK_THROWS_WITH(plan_redistribution(mesh, {int64_t{1} << 40, int64_t{1} << 40}, DType::f32,
                                          layout_named(mesh, "-,-", 2), layout_named(mesh, "x,-", 2)),
                      Contains("too large"));
}

TEST_CASE("A redistribution twice takes the same time and leaves the same values; sizes alone take as long") {
    const Mesh mesh = mesh_named("x:3,y:2");
    const Redistribution plan =
        plan_redistribution(mesh, {7, 5}, DType::f64, layout_named(mesh, "x,-,+y", 2), layout_named(mesh, "y,x", 2));
    const std::vector<double> values = some_values({7, 5}, 3);
    const comm::Link link = comm::link_named("ib-hdr").link();
    const Moved one = move_parts(plan, values, link), two = move_parts(plan, values, link);
    CHECK(one.parts == two.parts);
    std::array<bool, 6> nothing = {};
    const auto sizes = comm::run_in_process(6, link, [&](comm::Communicator& world) {
        const int64_t held = elements_in(region_of(mesh, plan.shape, plan.from, world.rank()));
        nothing[static_cast<size_t>(world.rank())] = redistribute(world, plan, {nullptr, held, DType::f64}).empty();
    });
    CHECK(sizes.problem() == "");
    for (size_t rank = 0; rank < 6; ++rank) {
        CHECK(nothing[rank]);
        CHECK(one.result.ranks[rank].time_us > 0);
        CHECK(one.result.ranks[rank].time_us == two.result.ranks[rank].time_us);
        CHECK(one.result.ranks[rank].time_us == sizes.ranks[rank].time_us);
        CHECK(one.result.ranks[rank].bytes_sent == sizes.ranks[rank].bytes_sent);
    }
}

TEST_CASE("A product of parts is the part of the product, for every pair of layouts that meet") {
    Judged judged;
    const Mesh mesh = mesh_named("x:3,y:2");
    const auto rule = [&](const std::vector<LaidOut>& o) { return matrix_product(mesh, o[0], o[1]); };
    for (const Layout& a : all_layouts(mesh, 2))
        for (const Layout& b : all_layouts(mesh, 2)) judge(judged, mesh, {{{5, 7}, a}, {{7, 4}, b}}, rule, plain_matmul);
    // Along each axis six pairs of sixteen meet: both whole, rows, columns, inner, summands of either.
    CHECK(judged.met == 36);
    CHECK(judged.refused == 256 - 36);
    const Mesh line = mesh_named("x:2");
    const auto in_line = [&](const std::vector<LaidOut>& o) { return matrix_product(line, o[0], o[1]); };
    for (const Layout& a : all_layouts(line, 3)) {
        for (const Layout& b : all_layouts(line, 3))
            judge(judged, line, {{{3, 4, 6}, a}, {{3, 6, 2}, b}}, in_line, plain_matmul);
        for (const Layout& b : all_layouts(line, 2))
            judge(judged, line, {{{3, 4, 6}, a}, {{6, 2}, b}}, in_line, plain_matmul);
    }
    CHECK(text_of(mesh, matrix_product(mesh, laid_out(mesh, {6, 4}, "y,x"), laid_out(mesh, {4, 6}, "x,-")).layout) ==
          "y,-,+x");
    CHECK_THROWS_WITH(
        matrix_product(mesh, laid_out(mesh, {6, 4}, "-,x"), laid_out(mesh, {4, 6}, "-,-")),
        Contains("over axis x A is cut along dimension 1 and B is whole") && Contains("A as '-,x' with B as 'x,-' would"));
    CHECK_THROWS_WITH(matrix_product(mesh, laid_out(mesh, {6, 4}, "-,-"), laid_out(mesh, {5, 6}, "-,-")),
                      Contains("a B of 4 rows"));
}

TEST_CASE(
    "Elementwise operations keep equal layouts, broadcast whole ones, and let summands through where they are linear") {
    const Mesh mesh = mesh_named("x:2,y:2");
    Judged judged;
    struct Case {
        Elementwise kind;
        double (*value)(double, double);
    };
    for (const Case& one : {Case{Elementwise::sum, [](double a, double b) { return a + b; }},
                            Case{Elementwise::product, [](double a, double b) { return a * b; }},
                            Case{Elementwise::other, [](double a, double b) { return std::max(a, b); }}}) {
        const auto rule = [&](const std::vector<LaidOut>& o) { return elementwise(mesh, one.kind, o); };
        const Plain equal = [&](const auto& parts, const auto&) {
            std::vector<double> result;
            if (parts[0].size() == parts[1].size())
                for (size_t i = 0; i < parts[0].size(); ++i) result.push_back(one.value(parts[0][i], parts[1][i]));
            return result;
        };
        const Plain bias = [&](const auto& parts, const auto& extents) {
            std::vector<double> result;
            if (extents[0].back() == extents[1].back())
                for (size_t i = 0; i < parts[0].size(); ++i)
                    result.push_back(one.value(parts[0][i], parts[1][i % parts[1].size()]));
            return result;
        };
        for (const Layout& a : all_layouts(mesh, 2)) {
            for (const Layout& b : all_layouts(mesh, 2)) judge(judged, mesh, {{{5, 7}, a}, {{5, 7}, b}}, rule, equal);
            for (const Layout& b : all_layouts(mesh, 1)) judge(judged, mesh, {{{5, 7}, a}, {{7}, b}}, rule, bias);
            judge(judged, mesh, {{{5, 7}, a}}, rule, [&](const auto& parts, const auto&) {
                std::vector<double> result;
                for (const double v : parts[0])
                    result.push_back(one.kind == Elementwise::other ? std::max(v, 0.0)
                                                                    : one.value(v, one.kind == Elementwise::sum ? v : 3));
                return result;
            });
        }
    }
    CHECK(judged.met > 100);
    const std::array<LaidOut, 2> apart = {laid_out(mesh, {4, 3}, "x,-"), laid_out(mesh, {4, 2}, "x,-")};
    CHECK_THROWS_WITH(elementwise(mesh, Elementwise::sum, apart), Contains("shapes 4,3 and 4,2 do not meet"));
}

TEST_CASE("A sum along a cut dimension leaves summands, the largest along it is refused") {
    const Mesh mesh = mesh_named("x:3,y:2");
    Judged sums, largest;
    for (const bool keep : {false, true})
        for (const int dimension : {0, 1}) {
            const auto reduced = [&](bool sum) {
                return [&, sum](const std::vector<std::vector<double>>& parts, const std::vector<Extents>& extents) {
                    const int64_t rows = extents[0][0], columns = extents[0][1];
                    std::vector<double> result(static_cast<size_t>(dimension == 0 ? columns : rows), sum ? 0 : -1e9);
                    for (int64_t r = 0; r < rows; ++r)
                        for (int64_t c = 0; c < columns; ++c) {
                            double& to = result[static_cast<size_t>(dimension == 0 ? c : r)];
                            const double value = parts[0][static_cast<size_t>(r * columns + c)];
                            to = sum ? to + value : std::max(to, value);
                        }
                    return result;
                };
            };
            for (const Layout& a : all_layouts(mesh, 2)) {
                const auto rule = [&](Reduce kind) {
                    return [&, kind](const std::vector<LaidOut>& o) { return reduction(mesh, kind, o[0], dimension, keep); };
                };
                judge(sums, mesh, {{{5, 7}, a}}, rule(Reduce::sum), reduced(true));
                judge(largest, mesh, {{{5, 7}, a}}, rule(Reduce::largest), reduced(false));
            }
        }
    CHECK(sums.refused == 0);
    CHECK(largest.met == 4 * 4);  // along either axis: whole, or the other dimension cut
    CHECK(text_of(mesh, reduction(mesh, Reduce::sum, laid_out(mesh, {6, 4}, "x,y"), 0).layout) == "y,+x");
    CHECK_THROWS_WITH(reduction(mesh, Reduce::sum, laid_out(mesh, {6, 4}, "x,y"), 2), Contains("0 to 1"));
}

}  // namespace parallel_layout_test
