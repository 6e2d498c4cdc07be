// The figures of a scene's rows as a table: of many ranks (parallel_scene.h), or of cheaper forms beside f32
// (cheaper_runs.h). What the view "rows" draws and reads out.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace lockstep::scene {

struct SceneResult;

struct FigureColumn {
    std::string title, unit;  // "bubble", "% of the whole"; unit "B": bytes
};
struct FigureRow {
    std::string name;            // "zb-h1"
    std::vector<double> values;  // by column; NaN: it has none
};
struct FigureStack {                      // what a row's memory or time is made of: a bar a row, parts on top of each other
    std::string title, unit, provenance;  // "Memory of the fullest GPU"; "B" or "us"
    std::vector<std::string> parts;       // "weights"
    std::vector<std::vector<double>> rows;  // by row and part
    std::vector<double> limits;             // by row: bytes of the board; 0: none is looked at
    std::vector<std::string> limits_of;     // by row: "H100"
    double total(size_t row) const;
};
struct FigureTable {
    std::string title, provenance;  // "Pipeline schedules"; "simulated", "derived", "executed", "executed, times derived"
    std::string one;                // what a row is: "plan"
    std::vector<FigureColumn> columns;
    std::vector<FigureRow> rows;
    std::string note;  // "all: after 8 steps rank 0 waits for rank 2, which has finished"; empty: every row ran to its end
    std::vector<FigureStack> stacks;  // of plans and training on many ranks
    double over(size_t row) const;    // bytes by which the row does not fit on its board; 0: it does, or nobody asked
};
std::shared_ptr<const FigureTable> figure_table(const SceneResult& result);  // null: the scene has no rows

// "12.8 MB", "27.3", "1,024", "1.2e-07"; "-" for what is not there.
std::string figure_text(double value, const std::string& unit);

}  // namespace lockstep::scene
