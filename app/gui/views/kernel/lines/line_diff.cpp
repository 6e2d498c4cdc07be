// What both texts begin and end with is set aside; the longest common sequence of the rest is kept.
#include "app/gui/views/kernel/lines/line_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr size_t most_diff_cells = size_t{4} << 20;  // of the table of two middles; beyond, all of the middle is new

std::vector<std::string_view> text_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = text.substr(at, end - at);
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
        lines.push_back(line);
        at = end + 1;
    }
    return lines;
}

}  // namespace

std::vector<int32_t> kept_lines(std::string_view before, std::string_view now) {
    const auto a = text_lines(before), b = text_lines(now);
    std::vector<int32_t> kept(b.size(), 0);
    size_t head = 0, tail = 0;
    while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
    while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
    for (size_t i = 0; i < head; ++i) kept[i] = static_cast<int32_t>(i) + 1;
    for (size_t i = 0; i < tail; ++i) kept[b.size() - 1 - i] = static_cast<int32_t>(a.size() - i);
    const size_t n = a.size() - head - tail, m = b.size() - head - tail;
    if (n == 0 || m == 0 || n * m > most_diff_cells) return kept;
    std::vector<uint32_t> longest((n + 1) * (m + 1), 0);  // of what begins at row i of `a` and row k of `b`
    const auto at = [&](size_t i, size_t k) -> uint32_t& { return longest[i * (m + 1) + k]; };
    for (size_t i = n; i-- > 0;)
        for (size_t k = m; k-- > 0;)
            at(i, k) = a[head + i] == b[head + k] ? at(i + 1, k + 1) + 1 : std::max(at(i + 1, k), at(i, k + 1));
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (a[head + i] == b[head + k])
            kept[head + k++] = static_cast<int32_t>(head + ++i);
        else if (at(i + 1, k) >= at(i, k + 1))
            ++i;
        else
            ++k;
    }
    return kept;
}

LineChanges changes_between(std::string_view before, std::string_view now) {
    const std::vector<int32_t> kept = kept_lines(before, now);
    LineChanges changes;
    for (size_t i = 0; i < kept.size(); ++i)
        if (kept[i] == 0) changes.changed.push_back(static_cast<int32_t>(i) + 1);
    const size_t same = kept.size() - changes.changed.size(), gone = text_lines(before).size() - same;
    changes.removed = static_cast<int>(gone - std::min(gone, changes.changed.size()));
    return changes;
}

std::string text_of(const LineChanges& changes) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < changes.changed.size();) {
        size_t end = i;
        while (end + 1 < changes.changed.size() && changes.changed[end + 1] == changes.changed[end] + 1) ++end;
        parts.push_back(end == i ? fmt::format("{}", changes.changed[i])
                                 : fmt::format("{} to {}", changes.changed[i], changes.changed[end]));
        i = end + 1;
    }
    std::string text;
    const size_t most = 4, shown = std::min(most, parts.size());
    for (size_t i = 0; i < shown; ++i)
        text += (i == 0 ? "" : i + 1 == shown && parts.size() <= most ? " and " : ", ") + parts[i];
    if (parts.size() > most) text += fmt::format(" and {} more places", parts.size() - most);
    if (!text.empty()) text = (changes.changed.size() == 1 ? "line " : "lines ") + text;
    if (changes.removed > 0) text += fmt::format("{}{} removed", text.empty() ? "" : "; ", counted(changes.removed, "line"));
    return text.empty() ? "nothing" : text;
}

}  // namespace lockstep::gui
