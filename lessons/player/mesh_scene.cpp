// Meshes and layouts in a scene: tensors cut over real ranks, brought into another layout by real collectives.
//
//   HEAD:     "tensor" (shape=ROWSxCOLUMNS layout=, and to= for another layout), or "product" (shape=MxKxN of A [M,K] B
//   [K,N],
//             a= b= for their layouts, to= for the result's)
//   settings: mesh (x:6, or x:3,y:2: the last axis is the fastest); a layout names a mesh axis for rows and one for columns,
//             "-" for neither: x,- cuts rows over x
//   figures:  devices, coordinate@axis:x@rank:N; elements (that a device holds, at most), rows@rank:N, columns@rank:N,
//             first@rank:N (element of the ramp 0, 1, 2 ... that a device's part begins with), copies (devices that hold the
//             first element); of a product those of its result. Where to= is given: all_gathers, all_reduces,
//             reduce_scatters, all_to_alls (that each device takes part in), bytes (the most that a device sends),
//             total_bytes, and wrong (elements that are not what they should be, of all devices). partial: 1 where a product
//             leaves sums to be added
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/comm/in_process.h"
#include "core/parallel/mesh.h"
#include "lessons/player/parallel_scene.h"

namespace lockstep::lessons {
namespace {

using Axes = std::array<std::string, 2>;  // of the mesh, by the tensor's dimension; "": not cut

struct Part {  // of a matrix, on one device
    std::array<int64_t, 2> extent = {};
    std::vector<float> values;
    std::vector<float> slice(int dimension, int64_t begin, int64_t count) const {
        std::vector<float> out;
        for (int64_t r = dimension == 0 ? begin : 0; r < (dimension == 0 ? begin + count : extent[0]); ++r)
            for (int64_t c = dimension == 1 ? begin : 0; c < (dimension == 1 ? begin + count : extent[1]); ++c)
                out.push_back(values[static_cast<size_t>(r * extent[1] + c)]);
        return out;
    }
};

Axes layout_named(const parallel::Mesh& mesh, const std::string& key, const std::string& text) {
    Axes axes;
    const size_t comma = text.find(',');
    if (comma == std::string::npos || text.find(',', comma + 1) != std::string::npos)
        throw Failure(fmt::format("{} names an axis for rows and one for columns, as in x,-, not '{}'", key, text));
    axes = {text.substr(0, comma), text.substr(comma + 1)};
    for (std::string& axis : axes) {
        if (axis == "-") axis.clear();
        if (!axis.empty()) mesh.axis(axis);  // throws with the names that there are
    }
    if (!axes[0].empty() && axes[0] == axes[1])
        throw Failure(fmt::format("{}={}: one axis cannot cut rows and columns both", key, text));
    return axes;
}

int64_t cut_extent(const parallel::Mesh& mesh, int64_t extent, const std::string& axis, const char* what) {
    if (axis.empty()) return extent;
    const int parts = mesh.size(axis);
    if (extent % parts != 0)
        throw Failure(
            fmt::format("{} {} do not divide over {}:{}: a multiple of {} would", extent, what, axis, parts, parts));
    return extent / parts;
}

// The device's part of the matrix whose element (r, c) is value(r, c).
template <class Value>
Part part_of(const parallel::Mesh& mesh, int rank, std::array<int64_t, 2> full, const Axes& axes, const Value& value) {
    Part part;
    std::array<int64_t, 2> begin = {};
    for (size_t d = 0; d < 2; ++d) {
        part.extent[d] = cut_extent(mesh, full[d], axes[d], d == 0 ? "rows" : "columns");
        begin[d] = axes[d].empty() ? 0 : mesh.coordinate(rank, axes[d]) * part.extent[d];
    }
    for (int64_t r = 0; r < part.extent[0]; ++r)
        for (int64_t c = 0; c < part.extent[1]; ++c) part.values.push_back(value(begin[0] + r, begin[1] + c));
    return part;
}

// Pieces of equal size, joined along a dimension.
Part joined(const std::vector<float>& pieces, int parts, std::array<int64_t, 2> extent, int dimension) {
    Part out{extent, std::vector<float>(static_cast<size_t>(extent[0] * extent[1]))};
    std::array<int64_t, 2> piece = extent;
    piece[static_cast<size_t>(dimension)] /= parts;
    size_t at = 0;
    for (int p = 0; p < parts; ++p)
        for (int64_t r = 0; r < piece[0]; ++r)
            for (int64_t c = 0; c < piece[1]; ++c, ++at) {
                const int64_t row = r + (dimension == 0 ? p * piece[0] : 0),
                              column = c + (dimension == 1 ? p * piece[1] : 0);
                out.values[static_cast<size_t>(row * extent[1] + column)] = pieces[at];
            }
    return out;
}

struct CollectiveCounts {
    double gathers = 0, reduces = 0, scatters = 0, exchanges = 0;
};

comm::Buffer buffer_of(std::vector<float>& values) {
    return {values.data(), static_cast<int64_t>(values.size()), DType::f32};
}

// One axis after the other: what is partial over it is added, what is cut along it is gathered, cut or exchanged.
void redistribute(comm::Communicator& world, const parallel::Mesh& mesh, Part& part, Axes from, const Axes& to,
                  std::string partial, CollectiveCounts& counts) {
    for (const parallel::MeshAxis& axis : mesh.axes) {
        if (axis.size == 1) continue;
        int was = -1, will = -1;
        for (int d = 0; d < 2; ++d) {
            if (from[size_t(d)] == axis.name) was = d;
            if (to[size_t(d)] == axis.name) will = d;
        }
        const bool adds = partial == axis.name;
        if (was == will && !adds) continue;
        const auto group = world.group(mesh.group(world.rank(), axis.name));
        const int n = group->size(), me = group->rank();
        std::array<int64_t, 2> whole = part.extent;
        if (adds && will < 0) {
            group->all_reduce(buffer_of(part.values));
            counts.reduces += 1;
        } else if (adds || (was < 0 && will >= 0)) {
            const auto d = static_cast<size_t>(will);
            const int64_t count = cut_extent(mesh, whole[d], axis.name, d == 0 ? "rows" : "columns");
            std::vector<float> mine;
            if (adds) {
                std::vector<float> packed;
                for (int p = 0; p < n; ++p)
                    for (const float value : part.slice(will, p * count, count)) packed.push_back(value);
                mine.resize(packed.size() / static_cast<size_t>(n));
                group->reduce_scatter(buffer_of(packed), buffer_of(mine));
                counts.scatters += 1;
            } else {
                mine = part.slice(will, me * count, count);
            }
            part.extent[d] = count;
            part.values = std::move(mine);
        } else if (will < 0) {
            std::vector<float> all(part.values.size() * static_cast<size_t>(n));
            group->all_gather(buffer_of(part.values), buffer_of(all));
            whole[static_cast<size_t>(was)] *= n;
            part = joined(all, n, whole, was);
            counts.gathers += 1;
        } else {
            const auto d = static_cast<size_t>(will);
            const int64_t count = cut_extent(mesh, whole[d], axis.name, d == 0 ? "rows" : "columns");
            std::vector<float> packed, got(part.values.size());
            for (int p = 0; p < n; ++p)
                for (const float value : part.slice(will, p * count, count)) packed.push_back(value);
            group->all_to_all(buffer_of(packed), buffer_of(got));
            whole[d] = count;
            whole[static_cast<size_t>(was)] *= n;
            part = joined(got, n, whole, was);
            counts.exchanges += 1;
        }
        for (int d = 0; d < 2; ++d)
            if (from[size_t(d)] == axis.name) from[size_t(d)].clear();
        if (will >= 0) from[size_t(will)] = axis.name;
    }
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
    Axes layout, b_layout;
    std::string partial;
    if (product) {
        layout = layout_named(mesh, "a", row.word("a", "-,-"));
        b_layout = layout_named(mesh, "b", row.word("b", "-,-"));
        const auto word = [](const std::string& axis) { return axis.empty() ? "not cut" : "cut over " + axis; };
        if (layout[1] != b_layout[0])
            throw Failure(fmt::format("A's columns are {}, B's rows {}: they meet only where both are cut alike",
                                      word(layout[1]), word(b_layout[0])));
        if (!layout[0].empty() && layout[0] == b_layout[1])
            throw Failure(fmt::format("rows and columns of the result would both be cut over {}", layout[0]));
    } else {
        layout = layout_named(mesh, "layout", row.word("layout", "-,-"));
    }
    row.done();
    const std::array<int64_t, 2> full = {shape[0], shape[product ? 2 : 1]};
    const int64_t k = product ? shape[1] : 0;
    const auto a_value = [&](int64_t r, int64_t c) {
        return static_cast<float>(product ? (r + 2 * c) % 5 : r * full[1] + c);
    };
    const auto b_value = [](int64_t r, int64_t c) { return static_cast<float>((3 * r + c) % 7); };
    const auto wanted_value = [&](int64_t r, int64_t c) {
        if (!product) return a_value(r, c);
        float sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += a_value(r, i) * b_value(i, c);
        return sum;
    };
    Axes made_layout = layout;
    if (product) partial = layout[1], made_layout = {layout[0], b_layout[1]};
    const Axes to = to_text.empty() ? made_layout : layout_named(mesh, "to", to_text);

    ParallelRow made;
    made.title = row.head;
    auto& f = made.figures;
    std::vector<Part> parts(size_t(mesh.ranks()));
    std::vector<CollectiveCounts> counts(size_t(mesh.ranks()));
    std::vector<double> wrong(size_t(mesh.ranks()), 0);
    const auto ended = comm::run_in_process(mesh.ranks(), {}, [&](comm::Communicator& world) {
        const int rank = world.rank();
        Part part;
        if (product) {
            const Part a = part_of(mesh, rank, {shape[0], k}, layout, a_value);
            const Part b = part_of(mesh, rank, {k, shape[2]}, b_layout, b_value);
            part.extent = {a.extent[0], b.extent[1]};
            part.values.assign(static_cast<size_t>(part.extent[0] * part.extent[1]), 0);
            for (int64_t r = 0; r < part.extent[0]; ++r)
                for (int64_t i = 0; i < a.extent[1]; ++i)
                    for (int64_t c = 0; c < part.extent[1]; ++c)
                        part.values[static_cast<size_t>(r * part.extent[1] + c)] +=
                            a.values[static_cast<size_t>(r * a.extent[1] + i)] *
                            b.values[static_cast<size_t>(i * b.extent[1] + c)];
        } else {
            part = part_of(mesh, rank, full, layout, a_value);
        }
        if (to_text.empty()) {
            parts[size_t(rank)] = std::move(part);
            return;
        }
        redistribute(world, mesh, part, made_layout, to, partial, counts[size_t(rank)]);
        const Part right = part_of(mesh, rank, full, to, wanted_value);
        for (size_t i = 0; i < right.values.size(); ++i)
            wrong[size_t(rank)] += i >= part.values.size() || part.values[i] != right.values[i];
        parts[size_t(rank)] = std::move(part);
    });
    if (const std::string why = ended.problem(); !why.empty()) throw Failure(why);

    const Axes& now = to_text.empty() ? made_layout : to;
    double copies = mesh.ranks();
    for (const std::string& axis : now)
        if (!axis.empty()) copies /= mesh.size(axis);
    f["devices"] = mesh.ranks();
    f["copies"] = copies;
    f["partial"] = !partial.empty() && to_text.empty();
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        const std::string at = fmt::format("@rank:{}", rank);
        const Part& part = parts[size_t(rank)];
        for (const parallel::MeshAxis& axis : mesh.axes)
            f[fmt::format("coordinate@axis:{}{}", axis.name, at)] = mesh.coordinate(rank, axis.name);
        f["rows" + at] = static_cast<double>(part.extent[0]);
        f["columns" + at] = static_cast<double>(part.extent[1]);
        f["first" + at] = part.values.empty() ? 0 : static_cast<double>(part.values.front());
        f["elements"] = std::max(f["elements"], static_cast<double>(part.values.size()));
    }
    if (to_text.empty()) return made;
    f["all_gathers"] = counts.front().gathers;
    f["all_reduces"] = counts.front().reduces;
    f["reduce_scatters"] = counts.front().scatters;
    f["all_to_alls"] = counts.front().exchanges;
    f["wrong"] = f["bytes"] = f["total_bytes"] = 0;
    for (size_t rank = 0; rank < parts.size(); ++rank) {
        f["wrong"] += wrong[rank];
        f["bytes"] = std::max(f["bytes"], static_cast<double>(ended.ranks[rank].bytes_sent));
        f["total_bytes"] += static_cast<double>(ended.ranks[rank].bytes_sent);
    }
    return made;
}

}  // namespace lockstep::lessons
