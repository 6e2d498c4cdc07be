// Layouts on a mesh in a scene: tensors cut over real ranks, brought into another layout by real collectives; core's layouts
// (core/parallel/layout/layout.h) say who holds what and which collectives move it.
//
//   HEAD:     "tensor" (shape=ROWSxCOLUMNS layout=, and to= for another layout), or "product" (shape=MxKxN of A [M,K] B
//   [K,N],
//             a= b= for their layouts, to= for the result's)
//   settings: mesh (x:6, or x:3,y:2: the last axis is the fastest); a layout is text as in layout.h: x,- cuts rows over x,
//             x*y,- over x and every piece again over y, "-" for neither; cuts need not be even
//   figures:  devices, coordinate@axis:x@rank:N; elements (that a device holds, at most), rows@rank:N, columns@rank:N,
//             first@rank:N (element of the ramp 0, 1, 2 ... that a device's part begins with), copies (devices that hold the
//             first element); of a product those of its result. Where to= is given: all_gathers, all_reduces,
//             reduce_scatters, all_to_alls (that each device takes part in), bytes (the most that a device sends),
//             total_bytes, and wrong (elements that are not what they should be, of all devices). partial: 1 where sums are
//             left to be added
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/comm/in_process.h"
#include "core/parallel/layout/layout.h"
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

}  // namespace

ParallelRow run_mesh_row(ParallelText& row, const ParallelSceneOptions&) {
    const parallel::Mesh mesh = parallel::mesh_named(row.word("mesh", "x:4"));
    if (mesh.ranks() > 16) throw Failure("a lesson's mesh has at most 16 devices");
    const bool product = row.head == "product";
    if (!product && row.head != "tensor") throw Failure(fmt::format("'{}' is neither tensor nor product", row.head));
    const std::vector<int64_t> shape = extents_named(row.word("shape", product ? "6x4x6" : "6x6"), product ? 3 : 2);
    const std::string to_text = row.word("to", "");
    LaidOut made_as, a, b;
    if (product) {
        a = {{shape[0], shape[1]}, parallel::layout_named(mesh, row.word("a", "-,-"), 2)};
        b = {{shape[1], shape[2]}, parallel::layout_named(mesh, row.word("b", "-,-"), 2)};
        made_as = parallel::matrix_product(mesh, a, b);
    } else {
        made_as = {{shape[0], shape[1]}, parallel::layout_named(mesh, row.word("layout", "-,-"), 2)};
    }
    row.done();
    const bool moves = !to_text.empty();
    const LaidOut to = {made_as.shape, moves ? parallel::layout_named(mesh, to_text, 2) : made_as.layout};
    const auto plan = parallel::plan_redistribution(mesh, made_as.shape, DType::f32, made_as.layout, to.layout);
    const int64_t k = product ? shape[1] : 0, columns = made_as.shape[1];
    const auto a_value = [&](int64_t r, int64_t c) {
        return static_cast<float>(product ? (r + 2 * c) % 5 : r * columns + c);
    };
    const auto b_value = [](int64_t r, int64_t c) { return static_cast<float>((3 * r + c) % 7); };
    const auto wanted_value = [&](int64_t r, int64_t c) {
        if (!product) return a_value(r, c);
        float sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += a_value(r, i) * b_value(i, c);
        return sum;
    };

    ParallelRow made;
    made.title = row.head;
    auto& f = made.figures;
    std::vector<LaidMatrix> parts(size_t(mesh.ranks()));
    std::vector<double> wrong(size_t(mesh.ranks()), 0);
    const auto ended = comm::run_in_process(mesh.ranks(), {}, [&](comm::Communicator& world) {
        const int rank = world.rank();
        LaidMatrix& part = parts[size_t(rank)];
        if (product) {
            const LaidMatrix left = matrix_on_rank(mesh, a, rank, a_value), right = matrix_on_rank(mesh, b, rank, b_value);
            part.region = parallel::region_of(mesh, made_as.shape, made_as.layout, rank);
            part.values.assign(static_cast<size_t>(part.rows() * part.columns()), 0);
            for (int64_t r = 0; r < part.rows(); ++r)
                for (int64_t i = 0; i < left.columns(); ++i)
                    for (int64_t c = 0; c < part.columns(); ++c)
                        part.values[static_cast<size_t>(r * part.columns() + c)] +=
                            left.values[static_cast<size_t>(r * left.columns() + i)] *
                            right.values[static_cast<size_t>(i * right.columns() + c)];
        } else {
            part = matrix_on_rank(mesh, made_as, rank, a_value);
        }
        if (!moves) return;
        const auto count = static_cast<int64_t>(part.values.size());
        const std::vector<std::byte> bytes = parallel::redistribute(world, plan, {part.values.data(), count, DType::f32});
        part.region = parallel::region_of(mesh, to.shape, to.layout, rank);
        part.values.resize(bytes.size() / sizeof(float));
        if (!bytes.empty()) std::memcpy(part.values.data(), bytes.data(), part.values.size() * sizeof(float));
        const LaidMatrix right = matrix_on_rank(mesh, to, rank, wanted_value);
        if (std::find(to.layout.along.begin(), to.layout.along.end(), parallel::partial()) != to.layout.along.end()) return;
        for (size_t i = 0; i < right.values.size(); ++i)
            wrong[size_t(rank)] += i >= part.values.size() || part.values[i] != right.values[i];
    });
    if (const std::string why = ended.problem(); !why.empty()) throw Failure(why);

    f["devices"] = mesh.ranks();
    f["copies"] = 0;
    f["partial"] = std::find(to.layout.along.begin(), to.layout.along.end(), parallel::partial()) != to.layout.along.end();
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        const std::string at = fmt::format("@rank:{}", rank);
        const LaidMatrix& part = parts[size_t(rank)];
        for (const parallel::MeshAxis& axis : mesh.axes)
            f[fmt::format("coordinate@axis:{}{}", axis.name, at)] = mesh.coordinate(rank, axis.name);
        f["rows" + at] = static_cast<double>(part.rows());
        f["columns" + at] = static_cast<double>(part.columns());
        f["first" + at] = part.values.empty() ? 0 : static_cast<double>(part.values.front());
        f["elements"] = std::max(f["elements"], static_cast<double>(part.values.size()));
        f["copies"] += part.region[0].begin == 0 && part.region[1].begin == 0 && !part.values.empty();
    }
    if (!moves) return made;
    f["wrong"] = f["bytes"] = f["total_bytes"] = 0;
    for (const auto& [name, verb] : {std::pair{"all_gathers", "all-gather"},
                                     {"all_reduces", "all-reduce"},
                                     {"reduce_scatters", "reduce-scatter"},
                                     {"all_to_alls", "all-to-all"}})
        f[name] = static_cast<double>(
            std::count_if(plan.steps.begin(), plan.steps.end(),
                          [&, &collective = verb](const auto& step) { return step.collective == collective; }));
    for (size_t rank = 0; rank < parts.size(); ++rank) {
        f["wrong"] += wrong[rank];
        f["bytes"] = std::max(f["bytes"], static_cast<double>(ended.ranks[rank].bytes_sent));
        f["total_bytes"] += static_cast<double>(ended.ranks[rank].bytes_sent);
    }
    return made;
}

}  // namespace lockstep::scene
