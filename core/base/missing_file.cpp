#include "core/base/missing_file.h"

#include <algorithm>
#include <optional>

#include "core/base/nearest.h"

namespace lockstep {

namespace {
constexpr size_t most_beside = 10'000;  // files of a folder that are looked at

std::string in_small_letters(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    return text;
}

// The smaller, the nearer; none: it is another file.
std::optional<int> distance_of(const std::filesystem::path& wanted, const std::filesystem::path& there) {
    const std::string stem = in_small_letters(wanted.stem().string()), other = in_small_letters(there.stem().string());
    const bool same_ending = in_small_letters(wanted.extension().string()) == in_small_letters(there.extension().string());
    if (stem == other) return same_ending ? 0 : 2;
    if (!same_ending) return std::nullopt;
    const int edits = edit_distance(stem, other);
    if (edits <= std::max(1, static_cast<int>(std::min(stem.size(), other.size())) / 4)) return edits;
    const std::string &shorter = stem.size() < other.size() ? stem : other,
                      &longer = stem.size() < other.size() ? other : stem;
    if (shorter.size() > 3 && longer.find(shorter) != std::string::npos) return 4;
    return std::nullopt;
}
}  // namespace

std::string near_file(const std::filesystem::path& missing) {
    if (missing.filename().empty()) return {};
    const std::filesystem::path folder = missing.has_parent_path() ? missing.parent_path() : std::filesystem::path(".");
    std::error_code error;
    std::string best;
    int least = 5;
    size_t looked = 0;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end && looked < most_beside;
         at.increment(error), ++looked) {
        const std::filesystem::path name = at->path().filename();
        const std::optional<int> distance = distance_of(missing.filename(), name);
        if (!distance || *distance > least || (*distance == least && !best.empty() && name.string() >= best)) continue;
        least = *distance;
        best = name.string();
    }
    if (best.empty()) return {};
    return ", did you mean '" + (missing.has_parent_path() ? (missing.parent_path() / best).string() : best) + "'?";
}

}  // namespace lockstep
