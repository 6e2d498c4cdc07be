// Layouts on a mesh in a scene: tensors cut over real ranks, brought into another layout by real collectives; core's layouts
// (core/parallel/layout/layout.h) say who holds what and which collectives move it.
//
//   HEAD:     "tensor" (shape=ROWSxCOLUMNS layout=, and to= for another layout), or "product" (shape=MxKxN of A [M,K]
//             B [K,N], a= b= for their layouts, to= for the result's)
//   settings: mesh (x:6, or x:3,y:2: the last axis is the fastest); a layout is text as in layout.h: x,- cuts rows over x,
//             x*y,- over x and every piece again over y, "-" for neither; cuts need not be even
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <numeric>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/comm/in_process.h"
#include "core/parallel/layout/layout.h"
#include "core/scene/cluster/mesh_product.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {
namespace {

using parallel::LaidOut;
using parallel::TensorRegion;

struct LaidMatrix {  // one rank's region of a matrix, row by row
    TensorRegion region;
    std::vector<float> values;
    int64_t rows() const { return region[0].count; }
    int64_t columns() const { return region[1].count; }
};

// Where summands are to be added, the first rank along the axis holds the values and the others zeros.
bool holds_the_values(const parallel::Mesh& mesh, const parallel::Layout& layout, int rank) {
    const std::vector<int> at = mesh.coordinates(rank);
    for (size_t axis = 0; axis < at.size(); ++axis)
        if (layout.along[axis] == parallel::partial() && at[axis] > 0) return false;
    return true;
}

// A rank's part of the matrix whose element (r, c) is value(r, c).
template <class Value>
LaidMatrix matrix_on_rank(const parallel::Mesh& mesh, const LaidOut& matrix, int rank, const Value& value) {
    LaidMatrix part{parallel::region_of(mesh, matrix.shape, matrix.layout, rank), {}};
    const bool own = holds_the_values(mesh, matrix.layout, rank);
    for (int64_t r = 0; r < part.rows(); ++r)
        for (int64_t c = 0; c < part.columns(); ++c)
            part.values.push_back(own ? value(part.region[0].begin + r, part.region[1].begin + c) : 0.0f);
    return part;
}

std::vector<int64_t> extents_named(const std::string& text, size_t count) {
    std::vector<int64_t> extents;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, 'x');) {
        int64_t extent = 0;
        const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
        if (error != std::errc{} || rest != word.data() + word.size() || extent < 1 || extent > 256)
            throw Failure(fmt::format("shape={}: extents are whole numbers from 1 to 256", text));
        extents.push_back(extent);
    }
    if (extents.size() != count) throw Failure(fmt::format("shape={}: {} extents are needed, as in 6x4", text, count));
    return extents;
}

struct MeshRun {  // what every rank holds at the end
    const parallel::Mesh& mesh;
    const LaidOut& to;
    const std::vector<LaidMatrix>& parts;
    const parallel::Redistribution* plan;  // null: nothing was moved
    const std::vector<double>& wrong;      // by rank
    int64_t factors = 0;                   // of a product
    const comm::GroupResult& ended;
};

bool is_partial(const LaidOut& matrix) {
    return std::find(matrix.layout.along.begin(), matrix.layout.along.end(), parallel::partial()) !=
           matrix.layout.along.end();
}

std::optional<double> steps_of(const MeshRun& run, std::string_view collective) {
    if (!run.plan) return std::nullopt;
    return static_cast<double>(std::count_if(run.plan->steps.begin(), run.plan->steps.end(),
                                             [&](const auto& step) { return step.collective == collective; }));
}

constexpr Figure<MeshRun> mesh_rows[] = {
    {"devices", "", "Of the mesh.", [](const auto& m) { return m.mesh.ranks(); }},
    {"partial", "", "1 where sums are left to be added, else 0.", [](const auto& m) { return is_partial(m.to); }},
    {"elements", "", "That a device holds, at most.",
     [](const auto& m) {
         size_t most = 0;
         for (const LaidMatrix& part : m.parts) most = std::max(most, part.values.size());
         return most;
     }},
    {"factors", "", "Of both factors of a product: elements that a device holds, at most.",
     [](const auto& m) { return m.factors > 0 ? double(m.factors) : std::optional<double>(); }},
    {"copies", "", "Devices that hold the first element.",
     [](const auto& m) {
         return std::count_if(m.parts.begin(), m.parts.end(), [](const LaidMatrix& part) {
             return part.region[0].begin == 0 && part.region[1].begin == 0 && !part.values.empty();
         });
     }},
    {"all_gathers", "", "That each device takes part in.", [](const auto& m) { return steps_of(m, "all-gather"); }},
    {"all_reduces", "", "That each device takes part in.", [](const auto& m) { return steps_of(m, "all-reduce"); }},
    {"reduce_scatters", "", "That each device takes part in.", [](const auto& m) { return steps_of(m, "reduce-scatter"); }},
    {"all_to_alls", "", "That each device takes part in.", [](const auto& m) { return steps_of(m, "all-to-all"); }},
    {"wrong", "", "Elements that are not what they should be, of all devices.",
     [](const auto& m) { return m.plan ? std::accumulate(m.wrong.begin(), m.wrong.end(), 0.0) : std::optional<double>(); }},
    {"bytes", "B", "The most that a device sends.",
     [](const auto& m) {
         double most = 0;
         for (const auto& rank : m.ended.ranks) most = std::max(most, static_cast<double>(rank.bytes_sent));
         return m.plan ? most : std::optional<double>();
     }},
    {"total_bytes", "B", "That all devices send.",
     [](const auto& m) {
         double sum = 0;
         for (const auto& rank : m.ended.ranks) sum += static_cast<double>(rank.bytes_sent);
         return m.plan ? sum : std::optional<double>();
     }},
};

constexpr FigureText device_rows[] = {
    {"coordinate", "", "Of a device along an axis: coordinate@axis:x@rank:1.", "axis rank"},
    {"rows", "", "Of a device's part.", "rank"},
    {"columns", "", "Of a device's part.", "rank"},
    {"first", "", "The element that a device's part begins with: of a tensor that counts 0, 1, 2 ...", "rank"},
};

struct MeshTask {
    parallel::Mesh mesh;
    bool product = false;
    LaidOut a, b;      // of a product
    LaidOut made, to;  // the tensor or the product as it comes out, and as it shall be
    int64_t inner = 0;

    float left(int64_t r, int64_t c) const { return static_cast<float>(product ? (r + 2 * c) % 5 : r * made.shape[1] + c); }
    static float right(int64_t r, int64_t c) { return static_cast<float>((3 * r + c) % 7); }
    float wanted(int64_t r, int64_t c) const {
        if (!product) return left(r, c);
        float sum = 0;
        for (int64_t i = 0; i < inner; ++i) sum += left(r, i) * right(i, c);
        return sum;
    }
};

MeshTask task_of_row(ParallelText& row, bool& moves) {
    MeshTask task{.mesh = parallel::mesh_named(row.word("mesh", "x:4"))};
    if (task.mesh.ranks() > 16) throw Failure("a lesson's mesh has at most 16 devices");
    task.product = row.head == "product";
    if (!task.product && row.head != "tensor") throw Failure(fmt::format("'{}' is neither tensor nor product", row.head));
    const std::vector<int64_t> shape =
        extents_named(row.word("shape", task.product ? "6x4x6" : "6x6"), task.product ? 3 : 2);
    const std::string to = row.word("to", "");
    const auto layout = [&](const char* key) { return parallel::layout_named(task.mesh, row.word(key, "-,-"), 2); };
    if (task.product) {
        task.a = {{shape[0], shape[1]}, layout("a")};
        task.b = {{shape[1], shape[2]}, layout("b")};
        task.made = parallel::matrix_product(task.mesh, task.a, task.b);
        task.inner = shape[1];
    } else {
        task.made = {{shape[0], shape[1]}, layout("layout")};
    }
    row.done();
    moves = !to.empty();
    task.to = {task.made.shape, moves ? parallel::layout_named(task.mesh, to, 2) : task.made.layout};
    return task;
}

int64_t elements_of_factors(const MeshTask& task) {  // on the device that holds most
    int64_t most = 0;
    for (int rank = 0; rank < task.mesh.ranks(); ++rank)
        most = std::max(most, parallel::elements_in(parallel::region_of(task.mesh, task.a.shape, task.a.layout, rank)) +
                                  parallel::elements_in(parallel::region_of(task.mesh, task.b.shape, task.b.layout, rank)));
    return most;
}

// This rank's part of the product, from its parts of the factors.
LaidMatrix multiplied(const MeshTask& task, int rank) {
    const LaidMatrix left = matrix_on_rank(task.mesh, task.a, rank, [&](int64_t r, int64_t c) { return task.left(r, c); }),
                     right = matrix_on_rank(task.mesh, task.b, rank, MeshTask::right);
    LaidMatrix part{parallel::region_of(task.mesh, task.made.shape, task.made.layout, rank), {}};
    part.values.assign(static_cast<size_t>(part.rows() * part.columns()), 0);
    for (int64_t r = 0; r < part.rows(); ++r)
        for (int64_t i = 0; i < left.columns(); ++i)
            for (int64_t c = 0; c < part.columns(); ++c)
                part.values[static_cast<size_t>(r * part.columns() + c)] +=
                    left.values[static_cast<size_t>(r * left.columns() + i)] *
                    right.values[static_cast<size_t>(i * right.columns() + c)];
    return part;
}

// Brings the part into the layout that is asked for; returns how many of its elements are wrong then.
double moved(const MeshTask& task, const parallel::Redistribution& plan, comm::Communicator& world, LaidMatrix& part) {
    const auto count = static_cast<int64_t>(part.values.size());
    const std::vector<std::byte> bytes = parallel::redistribute(world, plan, {part.values.data(), count, DType::f32});
    part.region = parallel::region_of(task.mesh, task.to.shape, task.to.layout, world.rank());
    part.values.resize(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(part.values.data(), bytes.data(), part.values.size() * sizeof(float));
    if (is_partial(task.to)) return 0;
    const LaidMatrix right =
        matrix_on_rank(task.mesh, task.to, world.rank(), [&](int64_t r, int64_t c) { return task.wanted(r, c); });
    double wrong = 0;
    for (size_t i = 0; i < right.values.size(); ++i) wrong += i >= part.values.size() || part.values[i] != right.values[i];
    return wrong;
}

}  // namespace

std::vector<FigureText> mesh_row_figures() {
    std::vector<FigureText> all = texts_of(mesh_rows);
    all.insert(all.end(), std::begin(device_rows), std::end(device_rows));
    return all;
}

ParallelRow run_mesh_row(ParallelText& row, const ParallelSceneOptions&) {
    bool moves = false;
    const MeshTask task = task_of_row(row, moves);
    const auto plan =
        parallel::plan_redistribution(task.mesh, task.made.shape, DType::f32, task.made.layout, task.to.layout);
    std::vector<LaidMatrix> parts(size_t(task.mesh.ranks()));
    std::vector<double> wrong(size_t(task.mesh.ranks()), 0);
    const auto ended = comm::run_in_process(task.mesh.ranks(), {}, [&](comm::Communicator& world) {
        LaidMatrix& part = parts[size_t(world.rank())];
        part = task.product ? multiplied(task, world.rank())
                            : matrix_on_rank(task.mesh, task.made, world.rank(),
                                             [&](int64_t r, int64_t c) { return task.left(r, c); });
        if (moves) wrong[size_t(world.rank())] = moved(task, plan, world, part);
    });
    if (const std::string why = ended.problem(); !why.empty()) throw Failure(why);

    ParallelRow made;
    made.title = row.head;
    auto& f = made.figures;
    const int64_t factors = task.product ? elements_of_factors(task) : 0;
    leave_figures<MeshRun>(mesh_rows, {task.mesh, task.to, parts, moves ? &plan : nullptr, wrong, factors, ended}, f);
    if (task.product) {
        MeshProduct product{task.mesh, task.a, task.b, task.made, task.to, plan, moves, {}, 0};
        for (const auto& rank : ended.ranks) product.sent.push_back(rank.bytes_sent);
        product.wrong = std::accumulate(wrong.begin(), wrong.end(), 0.0);
        made.product = std::make_shared<const MeshProduct>(std::move(product));
    }
    for (int rank = 0; rank < task.mesh.ranks(); ++rank) {
        const std::string at = fmt::format("@rank:{}", rank);
        const LaidMatrix& part = parts[size_t(rank)];
        for (const parallel::MeshAxis& axis : task.mesh.axes)
            f[fmt::format("coordinate@axis:{}{}", axis.name, at)] = task.mesh.coordinate(rank, axis.name);
        f["rows" + at] = static_cast<double>(part.rows());
        f["columns" + at] = static_cast<double>(part.columns());
        f["first" + at] = part.values.empty() ? 0 : static_cast<double>(part.values.front());
    }
    return made;
}

}  // namespace lockstep::scene
