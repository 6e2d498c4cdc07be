// The stacked bars under a table of rows: what each row's memory or step is made of, against the board where there is one.
#pragma once
#include <string>

#include "app/gui/view.h"
#include "core/scene/figures/figure_table.h"

namespace lockstep::gui {

float figure_stack_least(const scene::FigureStack& stack);  // height below which nothing can be read
float figure_stack_most(const scene::FigureStack& stack);   // and beyond which nothing is gained
// `names`: width of the rows' names. `hidden`: an open prediction: the shape alone, without a bar or a number.
void draw_figure_stack(Ui& ui, const scene::FigureTable& table, const scene::FigureStack& stack, const Rect& area,
                       float names, bool hidden);
std::string stack_amount(double value, const std::string& unit);  // "79.51 GB", "6.281 s", "35.84 GWh"
std::string describe_figure_stack(const scene::FigureTable& table, const scene::FigureStack& stack);
std::string over_text(const scene::FigureTable& table, size_t row);  // "does not fit by 12.4 GB"; empty: it does

}  // namespace lockstep::gui
