// Figures as a table: one row a figure. The rows of each kind of run stand in the file that knows it (host/host_figures.cpp,
// cluster/plan_scene.cpp ...); figures.cpp lists the kinds.
#pragma once
#include <fmt/format.h>

#include <map>
#include <optional>
#include <span>
#include <type_traits>

#include "core/base/nearest.h"
#include "core/scene/figures/figure_name.h"

namespace lockstep::scene {

struct FigureText {
    std::string_view name, unit, sentence;
    std::string_view places = {};  // what may stand behind '@': "line", "rank step"
};

// How a figure is worked out: from any captureless lambda that takes the run, and the name where that matters. It may give
// no number (std::optional) or a sentence instead (Result).
template <class Run>
struct FigureValue {
    Result<double> (*of)(const Run& run, const FigureName& name) = nullptr;
    template <class Function>
    constexpr FigureValue(Function)
        : of([](const Run& run, const FigureName& name) -> Result<double> {
              const auto value = [&] {
                  if constexpr (std::is_invocable_v<Function, const Run&>)
                      return Function{}(run);
                  else
                      return Function{}(run, name);
              }();
              if constexpr (std::is_arithmetic_v<decltype(value)>)
                  return static_cast<double>(value);
              else if constexpr (std::is_same_v<decltype(value), const std::optional<double>>)
                  return value ? Result<double>(*value) : Diagnostic{fmt::format("there is no '{}' of this run", name.text)};
              else
                  return value;
          }) {}
};

template <class Run>
struct Figure : FigureText {
    FigureValue<Run> value;
    template <class Function>
    constexpr Figure(std::string_view n, std::string_view u, std::string_view s, Function f, std::string_view p = {})
        : FigureText{n, u, s, p}, value(f) {}
};

template <class Rows>
std::vector<FigureText> texts_of(const Rows& rows) {
    return {std::begin(rows), std::end(rows)};
}

// The row of that name; null: there is none.
template <class Rows>
auto row_named(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
    for (const auto& row : rows)
        if (row.name == name) return &row;
    return nullptr;
}

// Why the row's figure has no such place ("there is no @rank of total_us"); nothing: it has.
std::optional<Diagnostic> wrong_place(const FigureText& row, const FigureName& name);

// "unknown figure 'totl_us' of a host program, did you mean 'total_us'?"
Diagnostic unknown_figure(const FigureName& name, std::string_view of, const std::vector<FigureText>& rows,
                          const std::vector<std::string>& more = {});

// The figure of that name among these rows; `of`: "a host program", for messages.
template <class Run>
Result<double> figure_among(std::span<const Figure<Run>> rows, const Run& run, const FigureName& name, std::string_view of) {
    const Figure<Run>* row = name.indexed() ? nullptr : row_named(rows, name.base);
    if (!row) return unknown_figure(name, of, texts_of(rows));
    if (auto wrong = wrong_place(*row, name)) return *std::move(wrong);
    return row->value.of(run, name);
}

// All figures of a run that has them by name: those that it does not leave are left out.
template <class Run>
void leave_figures(std::span<const Figure<Run>> rows, const Run& run, std::map<std::string, double>& figures) {
    for (const Figure<Run>& row : rows)
        if (const Result<double> value = row.value.of(run, row.name)) figures[std::string(row.name)] = value.value();
}

}  // namespace lockstep::scene
