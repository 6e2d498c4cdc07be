// What a table of rows finds: one sentence above its picture, and which figures are the same in every row.
#pragma once
#include <string>
#include <string_view>

#include "core/scene/figures/figure_table.h"

namespace lockstep::gui {

// "10gbe takes 349 times as long as nvlink: 89.66 ms against 257.3 µs", of the table's first stack. "": it has none.
// `asked`: the part of a stack that the step asks for, "context parallel"; "rate": what a GPU reaches; "": neither.
std::string figures_headline(const scene::FigureTable& table, std::string_view asked = {});
// "rounds 14 · sent a rank 112 MB": the columns that read alike in all rows go from the table. "": none does, or all do.
std::string take_equal_columns(scene::FigureTable& table);
// The columns that the first `stacks` stacks draw go from the table: bars and their totals say them already.
void take_drawn_columns(scene::FigureTable& table, size_t stacks);

}  // namespace lockstep::gui
