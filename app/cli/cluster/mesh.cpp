// `lockstep mesh`: who holds what of a tensor laid out over a mesh, the layout of a product, and what it takes to come into
// another layout: planned, then really run on ranks as threads and held against the plain cut. See
// core/parallel/layout/layout.h.
#include "core/parallel/layout/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.h"
#include "core/comm/in_process.h"
#include "core/parallel/layout/layout.h"

namespace lockstep::cli {
namespace of_mesh {
namespace {

using namespace parallel;

constexpr int most_ranks = 64;  // that run as threads and are drawn
constexpr int64_t most_elements = int64_t{1} << 22;

struct MeshOptions {
    std::string mesh, shape, layout, to, matmul, json;
};

Extents extents_of(const std::string& text, size_t at_least) {
    Extents shape;
    std::istringstream words(text);
    int64_t elements = 1;
    for (std::string word; std::getline(words, word, ',');) {
        int64_t extent = 0;
        const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
        if (error != std::errc{} || rest != word.data() + word.size() || extent < 1 || extent > most_elements)
            throw Failure(fmt::format("--shape takes whole numbers from 1 to {}, as in 6,4, not '{}'", most_elements, text));
        if (elements > most_elements / extent)
            throw Failure(
                fmt::format("--shape {}: a tensor that really moves has at most {} elements", text, most_elements));
        elements *= extent;
        shape.push_back(extent);
    }
    if (shape.size() < at_least || shape.size() > 6)
        throw Failure(fmt::format(
            "--shape takes {}, not '{}'",
            at_least == 3 ? "M,K,N of a product [M,K] by [K,N], as in 4,6,4" : "one to six extents, as in 6,4", text));
    return shape;
}

// Small whole numbers, so that sums are exact in any order.
std::vector<float> values_of(int64_t count, int64_t step) {
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * step % 7 - 3));
    return values;
}

// The part of `whole` that lies in `region`, row by row.
std::vector<float> part_in(const std::vector<float>& whole, const Extents& shape, const TensorRegion& region) {
    std::vector<float> part(static_cast<size_t>(elements_in(region)));
    for (size_t i = 0; i < part.size(); ++i) {
        int64_t rest = static_cast<int64_t>(i), element = 0, stride = 1;
        for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
            element += (region[d].begin + rest % region[d].count) * stride;
            rest /= region[d].count;
        }
        part[i] = whole[static_cast<size_t>(element)];
    }
    return part;
}

std::vector<float> product_of(const std::vector<float>& a, const std::vector<float>& b, int64_t m, int64_t k, int64_t n) {
    std::vector<float> c(static_cast<size_t>(m * n));
    for (int64_t row = 0; row < m; ++row)
        for (int64_t i = 0; i < k; ++i)
            for (int64_t column = 0; column < n; ++column)
                c[static_cast<size_t>(row * n + column)] +=
                    a[static_cast<size_t>(row * k + i)] * b[static_cast<size_t>(i * n + column)];
    return c;
}

// Its own values where a rank is the first along every axis that holds summands, zeros elsewhere.
bool holds_values(const Mesh& mesh, const Layout& layout, int rank) {
    const std::vector<int> at = mesh.coordinates(rank);
    for (size_t axis = 0; axis < at.size(); ++axis)
        if (layout.along[axis] == partial() && at[axis] > 0) return false;
    return true;
}

struct MeshRun {
    Mesh mesh;
    LaidOut tensor;           // of a product: the result
    std::vector<LaidOut> of;  // of a product: A and B
    Redistribution plan;
    bool moves = false;
    std::vector<int64_t> sent;  // by rank, counted
    int64_t wrong = 0;          // elements that are not what a plain cut of the tensor has
};

void move_and_judge(MeshRun& run) {
    const Mesh& mesh = run.mesh;
    int64_t count = 1;
    for (const int64_t extent : run.tensor.shape) count *= extent;
    std::vector<float> a, b, whole;
    if (run.of.empty()) {
        whole = values_of(count, 5);
    } else {
        const Extents &left = run.of[0].shape, &right = run.of[1].shape;
        a = values_of(left[0] * left[1], 5), b = values_of(right[0] * right[1], 3);
        whole = product_of(a, b, left[0], left[1], right[1]);
    }
    std::vector<std::vector<float>> parts(static_cast<size_t>(mesh.ranks()));
    const auto ended = comm::run_in_process(
        mesh.ranks(), {},
        [&](comm::Communicator& world) {
            std::vector<float> local;
            if (run.of.empty()) {
                local = part_in(whole, run.tensor.shape, region_of(mesh, run.tensor.shape, run.tensor.layout, world.rank()));
                if (!holds_values(mesh, run.tensor.layout, world.rank())) std::fill(local.begin(), local.end(), 0.0F);
            } else {
                const TensorRegion in_a = region_of(mesh, run.of[0].shape, run.of[0].layout, world.rank());
                const TensorRegion in_b = region_of(mesh, run.of[1].shape, run.of[1].layout, world.rank());
                std::vector<float> own_a = part_in(a, run.of[0].shape, in_a), own_b = part_in(b, run.of[1].shape, in_b);
                if (!holds_values(mesh, run.of[0].layout, world.rank())) std::fill(own_a.begin(), own_a.end(), 0.0F);
                if (!holds_values(mesh, run.of[1].layout, world.rank())) std::fill(own_b.begin(), own_b.end(), 0.0F);
                local = product_of(own_a, own_b, in_a[0].count, in_a[1].count, in_b[1].count);
            }
            local.reserve(1);  // an empty part is a part
            const auto bytes = redistribute(world, run.plan, {local.data(), static_cast<int64_t>(local.size()), DType::f32});
            std::vector<float>& part = parts[static_cast<size_t>(world.rank())];
            part.resize(bytes.size() / sizeof(float));
            if (!bytes.empty()) std::memcpy(part.data(), bytes.data(), bytes.size());
        },
        {.events = 0});
    if (const std::string problem = ended.problem(); !problem.empty()) throw Failure(problem);
    // Summands are added up over the ranks that share a region.
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        run.sent.push_back(static_cast<int64_t>(ended.ranks[static_cast<size_t>(rank)].bytes_sent));
        if (!holds_values(mesh, run.plan.to, rank)) continue;
        std::vector<float> sum = parts[static_cast<size_t>(rank)];
        for (int other = 0; other < mesh.ranks(); ++other) {
            bool adds = other != rank;
            for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
                adds = adds && (run.plan.to.along[axis] == partial() ||
                                mesh.coordinates(other)[axis] == mesh.coordinates(rank)[axis]);
            for (size_t i = 0; adds && i < sum.size(); ++i) sum[i] += parts[static_cast<size_t>(other)].at(i);
        }
        const auto right = part_in(whole, run.tensor.shape, region_of(mesh, run.tensor.shape, run.plan.to, rank));
        if (sum.size() != right.size()) run.wrong += static_cast<int64_t>(right.size());
        for (size_t i = 0; i < std::min(sum.size(), right.size()); ++i) run.wrong += !(sum[i] == right[i]);
    }
}

MeshRun run_mesh(const MeshOptions& options) {
    MeshRun run;
    run.mesh = mesh_named(options.mesh);
    if (run.mesh.ranks() > most_ranks)
        throw Failure(fmt::format("--mesh {} has {} ranks: at most {} run here as threads", options.mesh, run.mesh.ranks(),
                                  most_ranks));
    if (options.matmul.empty() == options.layout.empty())
        throw Failure(
            "either --layout of a tensor is needed, as in \"x,-\", or --matmul with A's and B's, as in \"x,-;-,y\"");
    const Extents shape = extents_of(options.shape, options.matmul.empty() ? 1 : 3);
    if (options.matmul.empty()) {
        run.tensor = {shape, layout_named(run.mesh, options.layout, static_cast<int>(shape.size()))};
    } else {
        const size_t between = options.matmul.find(';');
        if (between == std::string::npos || options.matmul.find(';', between + 1) != std::string::npos || shape.size() != 3)
            throw Failure(
                fmt::format("--matmul takes the layouts of A [M,K] and B [K,N], as in \"x,-;-,y\", with --shape "
                            "M,K,N; not '{}' with '{}'",
                            options.matmul, options.shape));
        run.of = {{{shape[0], shape[1]}, layout_named(run.mesh, options.matmul.substr(0, between), 2)},
                  {{shape[1], shape[2]}, layout_named(run.mesh, options.matmul.substr(between + 1), 2)}};
        if (shape[0] > most_elements / shape[2] || shape[0] * shape[2] > (int64_t{1} << 30) / shape[1])
            throw Failure(
                fmt::format("--shape {}: a product that really runs takes at most 2^30 multiplications", options.shape));
        run.tensor = matrix_product(run.mesh, run.of[0], run.of[1]);
    }
    run.moves = !options.to.empty();
    const Layout to = run.moves ? layout_named(run.mesh, options.to, run.tensor.layout.dimensions) : run.tensor.layout;
    run.plan = plan_redistribution(run.mesh, run.tensor.shape, DType::f32, run.tensor.layout, to);
    move_and_judge(run);
    return run;
}

std::string place_text(const Mesh& mesh, int rank) {
    std::string text;
    for (const MeshAxis& axis : mesh.axes)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, mesh.coordinate(rank, axis.name));
    return text;
}

std::string region_text(const TensorRegion& region, const Extents& shape) {
    std::vector<std::string> parts;
    for (size_t d = 0; d < region.size(); ++d)
        parts.push_back(region[d].count == shape[d] ? "all"
                        : region[d].count == 0      ? "none"
                        : region[d].count == 1
                            ? fmt::format("{}", region[d].begin)
                            : fmt::format("{}-{}", region[d].begin, region[d].begin + region[d].count - 1));
    return fmt::format("[{}]", fmt::join(parts, ", "));
}

// The tensor as a sheet once a rank, side by side: # what the rank holds, + summands of it. One character may be several
// elements of a large one: it shows the first.
void print_sheets(const MeshRun& run, const Layout& layout) {
    const Extents& shape = run.tensor.shape;
    const int64_t rows = shape.size() > 1 ? shape[0] : 1, columns = shape.back();
    const int64_t down = (rows + 11) / 12, right = (columns + 23) / 24;
    const bool drawn = shape.size() <= 2;
    const bool sums = std::find(layout.along.begin(), layout.along.end(), partial()) != layout.along.end();
    if (!drawn) {
        for (int rank = 0; rank < run.mesh.ranks(); ++rank)
            fmt::print("  rank {:<3} ({})  {}{}\n", rank, place_text(run.mesh, rank),
                       region_text(region_of(run.mesh, shape, layout, rank), shape), sums ? " summands" : "");
        return;
    }
    const int64_t width = std::max<int64_t>((columns + right - 1) / right, 22) + 3;
    const int a_line = static_cast<int>(std::max<int64_t>(1, 110 / width));
    for (int first = 0; first < run.mesh.ranks(); first += a_line) {
        const int last = std::min(first + a_line, run.mesh.ranks());
        std::vector<std::string> lines(2);
        for (int rank = first; rank < last; ++rank) {
            const TensorRegion region = region_of(run.mesh, shape, layout, rank);
            lines[0] += fmt::format("{:<{}}", fmt::format("rank {} ({})", rank, place_text(run.mesh, rank)), width);
            lines[1] += fmt::format("{:<{}}", region_text(region, shape), width);
            for (int64_t row = 0, line = 2; row < rows; row += down, ++line) {
                std::string sheet;
                for (int64_t column = 0; column < columns; column += right) {
                    const comm::Piece across = region.back(), along = shape.size() > 1 ? region[0] : comm::Piece{0, 1};
                    const bool held = row >= along.begin && row < along.begin + along.count && column >= across.begin &&
                                      column < across.begin + across.count;
                    sheet += !held ? '.' : sums ? '+' : '#';
                }
                if (lines.size() <= static_cast<size_t>(line)) lines.emplace_back();
                lines[static_cast<size_t>(line)] += fmt::format("{:<{}}", sheet, width);
            }
        }
        for (std::string& line : lines) {
            line.erase(line.find_last_not_of(' ') + 1);
            fmt::print("  {}\n", line);
        }
        fmt::print("\n");
    }
    if (down * right > 1) fmt::print("  one character is {} x {} elements\n\n", down, right);
}

void print_mesh(const MeshRun& run) {
    const std::string shape = fmt::format("{}", fmt::join(run.tensor.shape, ","));
    fmt::print("mesh");
    for (const MeshAxis& axis : run.mesh.axes) fmt::print(" {}:{}", axis.name, axis.size);
    fmt::print(", {} ranks, the last axis fastest; a tensor of {} float32\n", run.mesh.ranks(), shape);
    if (!run.of.empty())
        fmt::print("A '{}' by B '{}': the product is '{}', without a message (executed)\n",
                   text_of(run.mesh, run.of[0].layout), text_of(run.mesh, run.of[1].layout),
                   text_of(run.mesh, run.tensor.layout));
    fmt::print("\nlayout {}   # held, . not, + summands of what is held\n", text_of(run.mesh, run.tensor.layout));
    print_sheets(run, run.tensor.layout);
    if (run.moves) {
        fmt::print("to {}\n", text_of(run.mesh, run.plan.to));
        print_sheets(run, run.plan.to);
        if (run.plan.steps.empty()) fmt::print("the two are the same: nothing to do\n");
        for (const RedistributionStep& step : run.plan.steps)
            fmt::print("  along {:<6} {:<15} {:>10} -> {:<10} {:>12} bytes a rank at most, {:>12} in all   {}\n",
                       run.mesh.axes[static_cast<size_t>(step.axis)].name, step.collective, text_of(run.mesh, step.before),
                       text_of(run.mesh, step.after), step.bytes, step.total,
                       step.collective == "local" ? "nothing is sent" : step.formula + " for even cuts");
        int64_t all = 0;
        for (const int64_t sent : run.sent) all += sent;
        fmt::print("sent: {} bytes by the rank that sends most, {} in all (executed)\n",
                   *std::max_element(run.sent.begin(), run.sent.end()), all);
    }
    fmt::print("{}\n", run.wrong == 0 ? "gathered, every element is what it should be (executed)"
                                      : fmt::format("{} elements are not what they should be", run.wrong));
}

nlohmann::ordered_json json_of_mesh(const MeshRun& run) {
    const auto held = [&](const Layout& layout) {
        nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
        for (int rank = 0; rank < run.mesh.ranks(); ++rank) {
            nlohmann::ordered_json begin = nlohmann::ordered_json::array(), count = begin;
            for (const comm::Piece& piece : region_of(run.mesh, run.tensor.shape, layout, rank))
                begin.push_back(piece.begin), count.push_back(piece.count);
            ranks.push_back({{"rank", rank}, {"at", run.mesh.coordinates(rank)}, {"begin", begin}, {"count", count}});
        }
        return nlohmann::ordered_json{{"layout", text_of(run.mesh, layout)}, {"ranks", std::move(ranks)}};
    };
    nlohmann::ordered_json json;
    for (const MeshAxis& axis : run.mesh.axes) json["mesh"].push_back({{"axis", axis.name}, {"size", axis.size}});
    json["shape"] = run.tensor.shape;
    json["dtype"] = "f32";
    for (size_t i = 0; i < run.of.size(); ++i)
        json[i == 0 ? "a" : "b"] = {{"shape", run.of[i].shape}, {"layout", text_of(run.mesh, run.of[i].layout)}};
    json["before"] = held(run.tensor.layout);
    if (run.moves) {
        json["after"] = held(run.plan.to);
        json["steps"] = nlohmann::ordered_json::array();
        for (const RedistributionStep& step : run.plan.steps)
            json["steps"].push_back({{"axis", run.mesh.axes[static_cast<size_t>(step.axis)].name},
                                     {"collective", step.collective},
                                     {"before", text_of(run.mesh, step.before)},
                                     {"after", text_of(run.mesh, step.after)},
                                     {"bytes", step.bytes},
                                     {"total_bytes", step.total},
                                     {"formula", step.formula}});
        json["bytes_sent"] = run.sent;
    }
    json["wrong"] = run.wrong;
    return json;
}

}  // namespace
}  // namespace of_mesh

void add_mesh(const Command& app, int& status) {
    const Command command =
        app.add_subcommand("mesh", "a tensor laid out over named axes of ranks, and moved between layouts");
    auto o = std::make_shared<of_mesh::MeshOptions>();
    command.add_option("--mesh", o->mesh, "named axes with their sizes, the last fastest: x:3,y:2").required();
    command.add_option("--shape", o->shape, "the tensor's extents: 6,4; with --matmul M,K,N").required();
    command.add_option("--layout", o->layout,
                       "an item a dimension: an axis that cuts it, - for whole, x*y for two; +y: y's ranks hold summands");
    command.add_option("--to", o->to, "the layout to bring it into, with real values on ranks as threads");
    command.add_option("--matmul", o->matmul, "A's and B's layouts, \"x,-;-,y\": the product's layout follows");
    command.add_option("--json", o->json, "write everything as JSON to this file, - for stdout");
    command.callback([o, &status] {
        const of_mesh::MeshRun run = of_mesh::run_mesh(*o);
        if (!o->json.empty()) write_json(of_mesh::json_of_mesh(run), o->json, o->json == "-" ? 1 : 2);
        if (o->json != "-") of_mesh::print_mesh(run);
        status = run.wrong == 0 ? 0 : 1;
    });
}

}  // namespace lockstep::cli
