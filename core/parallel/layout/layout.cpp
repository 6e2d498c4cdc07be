// A layout's text both ways, and what of a tensor a rank holds under it.
#include "core/parallel/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::parallel {
namespace {

std::vector<std::string> layout_words(const std::string& text, char between) {
    std::vector<std::string> words(1);
    for (const char c : text)
        if (c == between)
            words.emplace_back();
        else if (c != ' ')
            words.back() += c;
    return words;
}

}  // namespace

Layout layout_named(const Mesh& mesh, const std::string& text, int dimensions) {
    Layout layout{dimensions, std::vector<Placement>(mesh.axes.size())};
    const auto place = [&](const std::string& name, Placement placement) {
        Placement& at = layout.along[static_cast<size_t>(mesh.axis(name))];  // throws with the names that there are
        const auto says = [](Placement p) {
            return p.kind == Placement::Kind::partial ? "holds summands" : fmt::format("cuts dimension {}", p.dimension);
        };
        if (at != replicate())
            throw Failure(
                fmt::format("layout '{}': axis {} {} and {}: one of them would do", text, name, says(at), says(placement)));
        at = placement;
    };
    int dimension = 0;
    for (const std::string& item : layout_words(text, ',')) {
        if (!item.empty() && item[0] == '+') {
            place(item.substr(1), partial());
            continue;
        }
        if (item.empty() && dimensions == 0) continue;
        if (item.empty())
            throw Failure(fmt::format("layout '{}': an item is empty; '-' is a dimension that is whole, as in x,-", text));
        if (item != "-" && dimension < dimensions) {
            const std::vector<std::string> names = layout_words(item, '*');
            for (const std::string& name : names) place(name, shard(dimension));
            std::vector<std::string> ordered = names;
            std::sort(ordered.begin(), ordered.end(),
                      [&](const std::string& a, const std::string& b) { return mesh.axis(a) < mesh.axis(b); });
            if (ordered != names)
                throw Failure(fmt::format("layout '{}': axes cut a dimension in the order of the mesh: {} would", text,
                                          fmt::join(ordered, "*")));
        }
        ++dimension;
    }
    if (dimension != dimensions)
        throw Failure(fmt::format("layout '{}' has {} dimension{}, the tensor {}: {} would", text, dimension,
                                  dimension == 1 ? "" : "s", dimensions,
                                  text_of(mesh, {dimensions, std::vector<Placement>(mesh.axes.size())})));
    return layout;
}

std::string text_of(const Mesh& mesh, const Layout& layout) {
    std::vector<std::string> items(static_cast<size_t>(layout.dimensions));
    for (size_t i = 0; i < layout.along.size(); ++i) {
        const std::string& name = mesh.axes[i].name;
        if (layout.along[i].kind == Placement::Kind::partial) items.push_back("+" + name);
        if (layout.along[i].kind != Placement::Kind::shard) continue;
        std::string& item = items[static_cast<size_t>(layout.along[i].dimension)];
        item += item.empty() ? name : "*" + name;
    }
    for (std::string& item : items)
        if (item.empty()) item = "-";
    return fmt::format("{}", fmt::join(items, ","));
}

TensorRegion region_of(const Mesh& mesh, const Extents& shape, const Layout& layout, int rank) {
    TensorRegion region;
    for (const int64_t extent : shape) region.push_back({0, extent});
    const std::vector<int> at = mesh.coordinates(rank);
    for (size_t i = 0; i < layout.along.size(); ++i) {
        if (layout.along[i].kind != Placement::Kind::shard) continue;
        comm::Piece& own = region[static_cast<size_t>(layout.along[i].dimension)];
        const comm::Piece piece = comm::piece_of(own.count, mesh.axes[i].size, at[i]);
        own = {own.begin + piece.begin, piece.count};
    }
    return region;
}

int64_t elements_in(const TensorRegion& region) {
    int64_t elements = 1;
    for (const comm::Piece& piece : region) elements *= piece.count;
    return elements;
}

}  // namespace lockstep::parallel
