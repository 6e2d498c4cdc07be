// The options of a plan, one row each: what `lockstep train` and `lockstep plan` call them, what scenes of lessons and the
// Cluster workspace call them, and which values go.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/parallel/plan.h"

namespace lockstep::parallel {

struct PlanOption {
    template <class T>
    using Of = T ParallelPlan::*;
    std::string_view name;      // of command lines, without its dashes: "sequence-parallel"; "": they have another for it
    std::string_view in_scene;  // "sequence_parallel"; "": scenes do not have it
    std::variant<Of<int>, Of<int64_t>, Of<double>, Of<bool>, Of<std::string>, Of<std::vector<int>>, Of<Recompute>,
                 Of<Context>, Of<Compression>>
        field;
    std::string_view summary;
    double least = 0, most_in_scene = 1;       // of numbers
    std::vector<std::string_view> names = {};  // of values that have names, in their order
};
std::span<const PlanOption> plan_options();

// The place of a name among those that there are. Throws Failure with them; `called` is what the option is called there.
size_t place_of_name(std::string_view called, std::span<const std::string_view> names, const std::string& name);
void set_named(ParallelPlan& plan, const PlanOption& row, std::string_view called, const std::string& name);

}  // namespace lockstep::parallel
