// A kind of which the elements of a kernel's first output are painted: those that hold the value asked for, as in
// of="output_count[5]". Its first row is shown from the beginning.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "lessons/player/sketch/parts.h"

namespace lockstep::lessons {

namespace {

constexpr int64_t most_rows = 32, most_columns = 16;

Result<std::vector<double>> elements_of(SceneRuns& runs, size_t step) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    if (kernel.value()->outputs.empty()) return Diagnostic{"the scene has no out: or inout: buffer"};
    const Array& output = kernel.value()->outputs.front();
    std::vector<double> values;
    for (size_t i = 0; i < output.count(); ++i) values.push_back(scene::element_of(output, i));
    return values;
}

Result<SketchBoard> elements_board(SceneRuns& runs, size_t step, const Predict& predict) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    const Result<std::vector<double>> values = elements_of(runs, step);
    if (!values) return values.error();
    for (const scene::BoundArgument& one : kernel.value()->bound.arguments) {
        if (one.role != scene::KernelArgument::Role::out && one.role != scene::KernelArgument::Role::inout) continue;
        if (one.shape.size() != 2 || one.shape[0] > most_rows || one.shape[1] > most_columns)
            return Diagnostic{
                fmt::format("the elements of '{}' cannot be painted: they are those of a matrix of at most {} "
                            "rows and {} columns",
                            one.name, most_rows, most_columns)};
        board.rows = static_cast<int>(one.shape[0]);
        board.array = one.name;
        for (int64_t row = 0; row < one.shape[0]; ++row)
            for (int64_t column = 0; column < one.shape[1]; ++column) {
                board.places.push_back({fmt::format("row {}, column {}", row, column), ""});
                board.cells.push_back(row == 0 ? amount_text(values.value()[static_cast<size_t>(column)]) : "");
            }
        break;
    }
    board.text.clear();  // what the kernel does to find them out is not what is asked
    board.line = 0;
    board.axis.unit = "elements";
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    return made;
}

Result<SketchTruth> elements_truth(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board) {
    const Result<std::vector<double>> values = elements_of(runs, step);
    if (!values) return values.error();
    const std::string& of = predict.of.text();
    const size_t at = of.find('[');
    if (!of.starts_with("output_count[") || at == std::string::npos)
        return Diagnostic{"the elements that are painted are those of of=\"output_count[VALUE]\""};
    const double wanted = std::atoi(of.c_str() + at + 1);
    SketchTruth truth;
    for (size_t i = 0; i < board.places.size(); ++i) {
        const double value = i < values.value().size() ? values.value()[i] : nothing_put;
        truth.sketch.values.push_back(value == wanted);
        truth.notes.push_back(amount_text(value));
    }
    return truth;
}

// Which they are stands in the picture: the sentence counts them.
SketchScore elements_score(const Predict&, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    SketchScore score = score_cells(board, sketch, truth, "element", "elements", "painted");
    if (score.right) return score;
    const auto count = [&](Verdict one) { return std::count(score.verdicts.begin(), score.verdicts.end(), one); };
    const auto agree = count(Verdict::agrees), missed = count(Verdict::missed), spare = count(Verdict::spare);
    score.sentence =
        fmt::format("You painted {} of {}", agree, counted(static_cast<size_t>(agree + missed), "element", "elements"));
    if (spare > 0) score.sentence += fmt::format("; {} {} spare", spare, spare == 1 ? "is" : "are");
    score.sentence += ".";
    return score;
}

Sketch first_elements(const SketchBoard& board, double answer) {
    Sketch sketch = blank(board, 0);
    for (size_t i = 0; i < sketch.values.size() && static_cast<double>(i) < answer; ++i) sketch.values[i] = 1;
    return sketch;
}

}  // namespace

SketchKind elements_kind() {
    return {.name = "elements",
            .words = "Paint the elements in the picture",
            .help = "Click or drag over the elements. Arrows and Enter set them too, Backspace clears.",
            .counted = "elements painted",
            .needs = {},
            .may = {"known", "label", "finding"},
            .tolerance = 0.005,
            .board = elements_board,
            .truth = elements_truth,
            .score = elements_score,
            .measure = cells_painted,
            .pencilled = first_elements};
}

}  // namespace lockstep::lessons
