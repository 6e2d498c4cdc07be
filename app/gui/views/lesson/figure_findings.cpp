// One row's finding is its largest part; that of several is how far apart the two outermost are, unless one does not fit.
#include "app/gui/views/lesson/figure_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/gui/views/lesson/figure_stacks.h"

namespace lockstep::gui {
namespace {

using scene::FigureRow;
using scene::FigureStack;
using scene::FigureTable;

// "takes 3 times as long as": what is said of a stack's amounts.
std::string apart_words(const FigureStack& stack, double times) {
    const std::string factor = fmt::format("{:.3g} times", times);
    if (stack.unit == "us") return fmt::format("takes {} as long as", factor);
    if (stack.unit == "MWh") return fmt::format("uses {} the energy of", factor);
    const bool sent = stack.parts.front().starts_with("sent: ");
    return fmt::format("{} {} as much as", sent ? "sends" : "holds", factor);
}

std::string of_one(const FigureStack& stack) {
    const std::vector<double>& parts = stack.rows.front();
    const auto most = std::max_element(parts.begin(), parts.end());
    const double total = stack.total(0);
    if (most == parts.end() || !(total > 0)) return {};
    std::string part = stack.parts[static_cast<size_t>(most - parts.begin())],
                whole = stack.title.substr(0, stack.title.find(':'));
    if (part.starts_with("sent: ")) part.erase(0, 6);
    if (whole.starts_with("Sent")) return fmt::format("{:.0f} % of what is sent is {}", 100 * *most / total, part);
    whole.front() = static_cast<char>(std::tolower(whole.front()));
    return fmt::format("{:.0f} % of the {} is {}: {} of {}", 100 * *most / total, whole, part,
                       stack_amount(*most, stack.unit), stack_amount(total, stack.unit));
}

}  // namespace

std::string figures_headline(const FigureTable& table) {
    if (table.stacks.empty() || table.rows.empty() || !table.note.empty()) return {};
    const FigureStack& stack = table.stacks.front();
    if (table.rows.size() == 1)
        return table.over(0) > 0 ? fmt::format("{} {}", table.rows.front().name, over_text(table, 0)) : of_one(stack);
    if (stack.limits.front() > 0)  // of memory: what fits and what does not
        for (size_t row = 0; row < table.rows.size(); ++row)
            for (size_t other = 0; other < table.rows.size(); ++other)
                if (table.over(row) > 0 && !(table.over(other) > 0))
                    return fmt::format("{} {}; {} fits", table.rows[row].name, over_text(table, row),
                                       table.rows[other].name);
    size_t least = 0, most = 0;
    for (size_t row = 0; row < table.rows.size(); ++row) {
        if (stack.total(row) < stack.total(least)) least = row;
        if (stack.total(row) > stack.total(most)) most = row;
    }
    const double low = stack.total(least), high = stack.total(most);
    const std::string amount = stack_amount(high, stack.unit);
    if (!(high > 0)) return {};
    if (high - low < 0.005 * high) return fmt::format("{}: {} in every row", stack.title, amount);
    if (!(low > 0))
        return fmt::format("{}: {} of {}, nothing of {}", stack.title, amount, table.rows[most].name,
                           table.rows[least].name);
    return fmt::format("{} {} {}: {} against {}", table.rows[most].name, apart_words(stack, high / low),
                       table.rows[least].name, amount, stack_amount(low, stack.unit));
}

std::string take_equal_columns(FigureTable& table) {
    const auto read = [&](size_t row, size_t column) {
        return scene::figure_text(table.rows[row].values[column], table.columns[column].unit);
    };
    std::vector<size_t> equal;
    for (size_t c = 0; c < table.columns.size(); ++c) {
        bool alike = table.rows.size() > 1;
        for (size_t row = 1; row < table.rows.size(); ++row) alike = alike && read(row, c) == read(0, c);
        if (alike) equal.push_back(c);
    }
    if (equal.size() == table.columns.size()) return {};
    std::string said;
    for (const size_t c : equal) {
        const scene::FigureColumn& column = table.columns[c];
        const std::string figure = read(0, c);
        const std::string unit = column.unit == "messages" && figure == "1" ? "message" : column.unit;
        said += fmt::format("{}{} {}{}", said.empty() ? "" : " · ", column.title, figure,
                            unit.empty() || unit == "B" ? "" : " " + unit);
    }
    for (auto c = equal.rbegin(); c != equal.rend(); ++c) {
        const auto at = static_cast<std::ptrdiff_t>(*c);
        table.columns.erase(table.columns.begin() + at);
        for (FigureRow& row : table.rows) row.values.erase(row.values.begin() + at);
    }
    return said;
}

}  // namespace lockstep::gui
