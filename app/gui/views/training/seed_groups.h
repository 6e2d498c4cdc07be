// Runs that differ by their seed alone, as groups: "SGD 1", "SGD 2" and "SGD 3" are one. Their accuracies and the mean of
// their losses. Tested without a window.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/gui/session.h"

namespace lockstep::gui {

struct SeedGroup {
    std::string name;                              // "SGD"
    std::vector<double> accuracies;                // 0..1, of unseen examples, a run each
    std::vector<double> loss;                      // by step, the mean over the runs; as long as the shortest
    std::vector<std::vector<double>> losses = {};  // of each run
    size_t runs = 0;
    bool kept_back = false;  // a question asks what it reads (given_curves.h)
    double mean() const;
    double low() const;
    double high() const;
};
std::vector<SeedGroup> seed_groups(std::span<const Curve> curves);

}  // namespace lockstep::gui
