#include "core/parallel/layout/mesh.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/parallel/plan.h"

namespace lockstep::parallel {

int Mesh::ranks() const {
    int count = 1;
    for (const MeshAxis& a : axes) count *= a.size;
    return count;
}

int Mesh::axis(std::string_view name) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].name == name) return static_cast<int>(i);
        names.push_back(axes[i].name);
    }
    const std::string all = fmt::format(": its axes are {}", fmt::join(names, ", "));
    throw Failure(fmt::format("the mesh has no axis '{}'{}", name, name.size() > 1 ? did_you_mean(name, names, all) : all));
}

int Mesh::size(std::string_view name) const {
    return axes[static_cast<size_t>(axis(name))].size;
}

std::vector<int> Mesh::coordinates(int rank) const {
    std::vector<int> at(axes.size());
    for (size_t i = axes.size(); i-- > 0; rank /= axes[i].size) at[i] = rank % axes[i].size;
    return at;
}

int Mesh::coordinate(int rank, std::string_view name) const {
    return coordinates(rank)[static_cast<size_t>(axis(name))];
}

int Mesh::rank_at(const std::vector<int>& coordinates) const {
    int rank = 0;
    for (size_t i = 0; i < axes.size(); ++i) rank = rank * axes[i].size + coordinates[i];
    return rank;
}

std::vector<int> Mesh::group(int rank, std::string_view name) const {
    const auto along = static_cast<size_t>(axis(name));
    std::vector<int> at = coordinates(rank), members;
    for (at[along] = 0; at[along] < axes[along].size; ++at[along]) members.push_back(rank_at(at));
    return members;
}

Mesh mesh_named(const std::string& text) {
    Mesh mesh;
    const auto refuse = [&](size_t at, const std::string& what) {
        throw Failure(fmt::format("{}\n  {}\n  {:>{}}", what, text, "^", at + 1));
    };
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size()), colon = text.find(':', begin);
        if (colon == std::string::npos || colon >= end || colon == begin)
            refuse(begin, "a mesh is a list of axes with their sizes, as in x:3,y:2");
        const std::string name = text.substr(begin, colon - begin), size = text.substr(colon + 1, end - colon - 1);
        if (size.empty() || size.size() > 5 || size.find_first_not_of("0123456789") != std::string::npos ||
            std::stoi(size) < 1)
            refuse(colon + 1, fmt::format("the size of axis {} is a whole number from 1 on, not '{}'", name, size));
        for (const MeshAxis& a : mesh.axes)
            if (a.name == name) refuse(begin, fmt::format("axis {} is there twice", name));
        mesh.axes.push_back({name, std::stoi(size)});
        if (int64_t ranks = mesh.ranks(); ranks > 65536 || ranks < 1) refuse(begin, "a mesh has at most 65,536 ranks");
        begin = end + 1;
    }
    return mesh;
}

Mesh mesh_of(const ParallelPlan& plan) {
    return {{{"pp", plan.pp}, {"dp", plan.dp}, {"cp", plan.cp}, {"tp", plan.tp}}};
}

}  // namespace lockstep::parallel
