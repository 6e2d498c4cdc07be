// An n-dimensional mesh of ranks with named axes, last axis fastest: {{"pp", 2}, {"dp", 2}, {"tp", 2}} numbers 8 ranks, and
// ranks 0 and 1 differ in tp alone.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::parallel {

struct MeshAxis {
    std::string name;
    int size = 1;
    bool operator==(const MeshAxis&) const = default;
};

struct Mesh {
    std::vector<MeshAxis> axes;

    int ranks() const;
    int axis(std::string_view name) const;  // its index; throws Failure with the names that there are
    int size(std::string_view name) const;  // its extent
    int coordinate(int rank, std::string_view name) const;
    std::vector<int> coordinates(int rank) const;
    int rank_at(const std::vector<int>& coordinates) const;
    std::vector<int> group(int rank,
                           std::string_view name) const;  // ranks that differ from `rank` along this axis alone, itself too
    bool operator==(const Mesh&) const = default;
};
Mesh mesh_named(const std::string& text);  // "x:3,y:2"; throws Failure with a caret

struct ParallelPlan;
Mesh mesh_of(const ParallelPlan& plan);  // axes pp, dp, cp, tp: those of extent 1 too

}  // namespace lockstep::parallel
