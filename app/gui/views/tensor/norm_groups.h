// Batch norm by groups of examples, as ranks that keep their statistics to themselves have it: what a tensor program's
// batch_norm made of one channel, and what it would make of the same values with another number of groups.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::scene {
struct TapeRun;
}

namespace lockstep::gui {

struct NormStatistics {
    double mean = 0, square = 0;  // square: mean square deviation
};
struct NormGroups {
    std::string of;            // "x"
    std::vector<double> x, y;  // of the first channel, by example; y: as it ran
    int groups = 1;            // neighbours belong together
    int channels = 1;
    double epsilon = 0, weight = 1, bias = 0;
    int examples() const { return static_cast<int>(x.size()); }
};
// Of the program's last batch_norm over [N, C]; none: it has no such line, or its values are too many to be kept.
std::optional<NormGroups> norm_groups(const scene::TapeRun& run);

std::vector<NormStatistics> norm_statistics(std::span<const double> x, int groups);
std::vector<double> normalised(const NormGroups& norm, int groups);
std::vector<int> possible_groups(int examples);  // 1, 2, 4 ... with two examples each at least

int furthest_moved(const NormGroups& norm, int other);  // the example whose place differs most with so many groups
std::string norm_headline(const NormGroups& norm, int other);
std::string norm_difference(const NormGroups& norm, int other);
std::string norm_caption(const NormGroups& norm);
std::string norm_words(const NormGroups& norm, int other, int example);
std::string groups_words(int groups, int examples);  // "all together", "each pair alone", "groups of 4"
std::string plain_number(double value);              // "13", "2.07", "−0.26"

}  // namespace lockstep::gui
