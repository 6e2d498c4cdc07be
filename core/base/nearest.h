// "did you mean": the known name nearest to a misspelt one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Fewest single-character edits (insert, delete, change, swap of neighbours) between two names.
int edit_distance(std::string_view a, std::string_view b);

// The nearest known name, or empty when none is within a third of the name's length (at least 2 edits).
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// How a sentence ends that refuses a name: ", did you mean 'x'?" or, where none is near, "; there are x, y" or `otherwise`.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known, std::string_view otherwise);

}  // namespace lockstep
