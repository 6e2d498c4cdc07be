#include "core/base/nearest.h"

#include <algorithm>

namespace lockstep {

int edit_distance(std::string_view a, std::string_view b) {
    // Damerau-Levenshtein with adjacent swaps, three rows.
    std::vector<int> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
    for (size_t i = 1; i <= a.size(); ++i) {
        now[0] = static_cast<int>(i);
        for (size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(now);
    }
    return last[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
    const int limit = std::max(2, static_cast<int>(name.size() / 3));
    std::string best;
    int least = limit + 1;
    const auto small = [](std::string_view text) {
        std::string letters(text);
        for (char& c : letters) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
        return letters;
    };
    for (const std::string& candidate : known) {
        const int distance = edit_distance(small(name), small(candidate));
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known, std::string_view otherwise) {
    const std::string near = nearest_name(name, known);
    return near.empty() ? std::string(otherwise) : ", did you mean '" + near + "'?";
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "; there are " : ", ") + one;
    return did_you_mean(name, known, list);
}

}  // namespace lockstep
