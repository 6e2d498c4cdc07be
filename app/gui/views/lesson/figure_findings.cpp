// One row's finding is its largest part; that of several is how far apart the two outermost are, unless one does not fit.
#include "app/gui/views/lesson/figure_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

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

// Of collectives over several links: which of both makes their times, what a round waits or what the bytes take.
std::string of_latency(const FigureTable& table, const FigureStack& stack, size_t least, size_t most) {
    if (stack.parts.size() != 2 || stack.parts[0] != "latency" || table.rows.size() < 2) return {};
    double low = 1, high = 0;  // the latency's share, of all rows
    for (size_t row = 0; row < stack.rows.size(); ++row) {
        const double share = stack.rows[row][0] / std::max(1e-12, stack.total(row));
        low = std::min(low, share), high = std::max(high, share);
    }
    const std::string whole =
        fmt::format("{} {} {}", table.rows[most].name, apart_words(stack, stack.total(most) / stack.total(least)),
                    table.rows[least].name);
    if (low > 0.5) return fmt::format("Latency is at least {:.0f} % of the time; {}", std::floor(100 * low), whole);
    if (high < 0.05) return "Bytes make the time, by bandwidth: " + whole;
    return {};
}

// Of two steps whose bubbles take other shares: "; bubble 7 and 13 %".
std::string of_bubble(const FigureStack& stack, size_t one, size_t other) {
    const auto bubble = std::find(stack.parts.begin(), stack.parts.end(), "bubble");
    if (stack.unit != "us" || bubble == stack.parts.end()) return {};
    const auto share = [&](size_t row) {
        return 100 * stack.rows[row][static_cast<size_t>(bubble - stack.parts.begin())] / stack.total(row);
    };
    if (std::fabs(share(one) - share(other)) < 2) return {};
    return fmt::format("; bubble {:.0f} and {:.0f} %", share(one), share(other));
}

// NaN: the table has no such column, or its only row nothing in it.
double figure_of_one(const FigureTable& table, std::string_view title, std::string_view unit) {
    for (size_t c = 0; c < table.columns.size(); ++c)
        if (table.columns[c].title == title && table.columns[c].unit == unit && table.rows.front().values[c] > 0)
            return table.rows.front().values[c];
    return std::nan("");
}

// Of a step's time, or a run's energy, how much is computing: forward, backward and what is computed again.
double computing_of(const FigureStack& stack) {
    double sum = 0;
    for (size_t part = 0; part < stack.parts.size(); ++part)
        for (const std::string_view name : {"forward", "backward", "recompute"})
            if (stack.parts[part] == name) sum += stack.rows.front()[part];
    return sum;
}

// "The whole run takes 65 days and 35.84 GWh on 16,384 GPUs; 67 % is computing". Empty: no whole run was planned.
std::string of_whole_run(const FigureTable& table) {
    const FigureStack& stack = table.stacks.front();
    const double days = figure_of_one(table, "whole run", "days"), energy = figure_of_one(table, "whole run", "MWh"),
                 gpus = figure_of_one(table, "GPUs", "");
    if (std::isnan(days) || std::isnan(energy)) return {};
    const std::vector<double>& parts = stack.rows.front();
    const auto most = std::max_element(parts.begin(), parts.end());
    const double total = stack.total(0), computing = 100 * computing_of(stack) / total;
    const std::string took =
        fmt::format("The whole run takes {} days and {}", scene::figure_text(days, "days"), stack_amount(energy, "MWh"));
    if (*most > computing_of(stack))
        return fmt::format("{}: {:.0f} % for {}, {:.0f} % for computing", took, 100 * *most / total,
                           stack.parts[static_cast<size_t>(most - parts.begin())], computing);
    return fmt::format("{} on {} GPUs; {:.0f} % is computing", took, scene::figure_text(gpus, ""), computing);
}

// "Each GPU reaches 449 TFLOP/s, 45 % of its peak; it computes for 73 % of the step".
std::string of_rate(const FigureTable& table, const FigureStack& stack) {
    const double rate = figure_of_one(table, "a GPU", "TFLOP/s"), mfu = figure_of_one(table, "MFU", "%");
    if (std::isnan(rate) || std::isnan(mfu) || stack.unit != "us") return {};
    return fmt::format("Each GPU reaches {:.3g} TFLOP/s, {:.2g} % of its peak; it computes for {:.0f} % of the step", rate,
                       mfu, 100 * computing_of(stack) / stack.total(0));
}

std::string of_one(const FigureTable& table, std::string_view asked) {
    const FigureStack& stack = table.stacks.front();
    if (const std::string run = stack.unit == "MWh" ? of_whole_run(table) : std::string(); !run.empty()) return run;
    if (const std::string rate = asked == "rate" ? of_rate(table, stack) : std::string(); !rate.empty()) return rate;
    const std::vector<double>& parts = stack.rows.front();
    const auto wanted = std::find(stack.parts.begin(), stack.parts.end(), asked);
    const auto most = wanted != stack.parts.end() ? parts.begin() + (wanted - stack.parts.begin())
                                                  : std::max_element(parts.begin(), parts.end());
    if (const double computing = computing_of(stack);
        wanted == stack.parts.end() && stack.unit == "us" && computing > 0 && computing >= *most)
        return fmt::format("A GPU computes for {:.0f} % of the step: {} of {}", 100 * computing / stack.total(0),
                           stack_amount(computing, stack.unit), stack_amount(stack.total(0), stack.unit));
    const double total = stack.total(0);
    if (most == parts.end() || !(total > 0)) return {};
    std::string part = stack.parts[static_cast<size_t>(most - parts.begin())],
                whole = stack.title.substr(0, stack.title.find(':'));
    if (part.starts_with("sent: ")) part.erase(0, 6);
    if (whole.starts_with("Sent")) return fmt::format("{:.0f} % of what is sent is {}", 100 * *most / total, part);
    whole.front() = static_cast<char>(std::tolower(whole.front()));
    const double percent = 100 * *most / total;
    return fmt::format("{} % of the {} is {}: {} of {}",
                       percent < 1 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent), whole, part,
                       stack_amount(*most, stack.unit), stack_amount(total, stack.unit));
}

}  // namespace

static std::string finding_of(const FigureTable& table, std::string_view asked) {
    if (table.stacks.empty() || table.rows.empty() || !table.note.empty()) return {};
    const FigureStack& stack = table.stacks.front();
    if (table.rows.size() == 1)
        return stack.limits.front() > 0 && table.over(0) > 0
                   ? fmt::format("{} {}", table.rows.front().name, over_text(table, 0))
                   : of_one(table, asked);
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
    if (const std::string says = of_latency(table, stack, least, most); !says.empty()) return says;
    if (high - low < 0.005 * high) return fmt::format("{}: {} in every row", stack.title, amount);
    if (!(low > 0))
        return fmt::format("{}: {} of {}, nothing of {}", stack.title, amount, table.rows[most].name,
                           table.rows[least].name);
    return fmt::format("{} {} {}: {} against {}{}", table.rows[most].name, apart_words(stack, high / low),
                       table.rows[least].name, amount, stack_amount(low, stack.unit), of_bubble(stack, most, least));
}

std::string figures_headline(const FigureTable& table, std::string_view asked) {
    std::string says = finding_of(table, asked);
    for (const std::string_view begin : {"the ", "one ", "on "})
        if (says.starts_with(begin))
            says.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(says.front())));
    return says;
}

void take_drawn_columns(FigureTable& table, size_t stacks) {
    const auto drawn = [&](const scene::FigureColumn& column) {
        for (size_t i = 0; i < std::min(stacks, table.stacks.size()); ++i) {
            const FigureStack& stack = table.stacks[i];
            const auto has = [&](std::string_view part) {
                return std::find(stack.parts.begin(), stack.parts.end(), part) != stack.parts.end();
            };
            if (has(column.title)) return true;
            if (column.title == "all memory" && has("weights") && stack.unit == "B") return true;
            if (column.title == "TP waits" && has("tensor parallel")) return true;
            if (column.title == "step" && stack.unit == "us" && has("forward")) return true;
            if (column.title == "time" && stack.unit == "us" && has("latency")) return true;
            if (column.unit == "MWh" && stack.unit == "MWh") return true;
        }
        return false;
    };
    for (size_t c = table.columns.size(); c-- > 0;) {
        if (!drawn(table.columns[c])) continue;
        const auto at = static_cast<std::ptrdiff_t>(c);
        table.columns.erase(table.columns.begin() + at);
        for (FigureRow& row : table.rows) row.values.erase(row.values.begin() + at);
    }
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
