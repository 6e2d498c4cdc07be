// The stacked bars under a table of rows: what each row's memory or step is made of, against the board where there is one.
#pragma once
#include <string>

#include "app/gui/view.h"
#include "lessons/player/figure_table.h"

namespace lockstep::gui {

float figure_stack_least(const lessons::FigureStack& stack);  // height below which nothing can be read
float figure_stack_most(const lessons::FigureStack& stack);   // and beyond which nothing is gained
// `names`: width of the rows' names. `hidden`: an open prediction: the shape alone, without a bar or a number.
void draw_figure_stack(Ui& ui, const lessons::FigureTable& table, const lessons::FigureStack& stack, const Rect& area,
                       float names, bool hidden);
std::string describe_figure_stack(const lessons::FigureTable& table, const lessons::FigureStack& stack);
std::string over_text(const lessons::FigureTable& table, size_t row);  // "does not fit by 12.4 GB"; empty: it does

}  // namespace lockstep::gui
