#include "app/gui/views/training/seed_groups.h"

#include <algorithm>
#include <numeric>

namespace lockstep::gui {

double SeedGroup::mean() const {
    return accuracies.empty()
               ? 0
               : std::accumulate(accuracies.begin(), accuracies.end(), 0.0) / static_cast<double>(accuracies.size());
}
double SeedGroup::low() const {
    return accuracies.empty() ? 0 : *std::min_element(accuracies.begin(), accuracies.end());
}
double SeedGroup::high() const {
    return accuracies.empty() ? 0 : *std::max_element(accuracies.begin(), accuracies.end());
}

// "SGD 3" without its last word, where that is a number of at most two digits.
static std::string without_seed(const std::string& name) {
    const size_t space = name.rfind(' ');
    if (space == std::string::npos || space == 0 || name.size() - space - 1 > 2 || space + 1 == name.size()) return name;
    const bool number =
        std::all_of(name.begin() + static_cast<int64_t>(space) + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
    return number ? name.substr(0, space) : name;
}

std::vector<SeedGroup> seed_groups(std::span<const Curve> curves) {
    std::vector<SeedGroup> groups;
    for (const Curve& curve : curves) {
        const std::string name = without_seed(curve.name);
        auto group = std::find_if(groups.begin(), groups.end(), [&](const SeedGroup& one) { return one.name == name; });
        if (group == groups.end())
            group = groups.insert(groups.end(), SeedGroup{.name = name, .accuracies = {}, .loss = curve.loss});
        group->losses.push_back(curve.loss);
        ++group->runs;
        group->loss.resize(std::min(group->loss.size(), curve.loss.size()));
        for (size_t i = 0; i < group->loss.size(); ++i)
            group->loss[i] += (curve.loss[i] - group->loss[i]) / static_cast<double>(group->runs);
        if (!curve.accuracy.empty()) group->accuracies.push_back(curve.accuracy.back().accuracy);
    }
    return groups;
}

}  // namespace lockstep::gui
