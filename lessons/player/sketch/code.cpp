// A kind that is put into the source: the gap between two lines in which a barrier is missing. Where it belongs follows from
// racecheck's pairs: behind the earlier line of each, before the later one.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "lessons/player/sketch/parts.h"

namespace lockstep::lessons {

namespace {

Result<SketchBoard> barrier_board(SceneRuns& runs, size_t step, const Predict& predict) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    std::istringstream text(board.text);
    for (std::string line; std::getline(text, line);) board.cells.push_back(line);
    while (!board.cells.empty() && board.cells.back().empty()) board.cells.pop_back();
    if (board.cells.size() < 3) return Diagnostic{"the source has no lines between which a barrier could stand"};
    board.text.clear();  // it is the picture itself
    board.line = 0;      // which line matters is what is asked
    board.places.push_back({"the barrier", ""});
    board.axis = {1, static_cast<double>(board.cells.size() - 1), false, true, ""};
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    return made;
}

std::string what_it_does(const model::KernelRun& run, uint32_t pc, int32_t line) {
    const bool reads = pc < run.program->instructions.size() && run.program->instructions[pc].kind == ptx::Kind::load;
    return fmt::format("line {} {}", line, reads ? "reads" : "writes");
}

Result<SketchTruth> barrier_truth(SceneRuns& runs, size_t step, const Predict&, const SketchBoard& board) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    const model::KernelRun& run = *kernel.value()->run;
    SketchTruth truth;
    SketchTruth::Span gap{0, INT64_MAX};
    for (const simt::Fault& report : run.result.reports) {
        if (report.kind != "racecheck" || report.line == 0 || report.other_line == 0) continue;
        const bool first = report.line <= report.other_line;
        const int32_t from = first ? report.line : report.other_line, to = first ? report.other_line : report.line;
        if (from > gap.begin) gap.begin = from;
        if (to < gap.end) gap.end = to;
        if (!truth.notes.empty()) continue;
        truth.notes = {what_it_does(run, first ? report.pc : report.other_pc, from),
                       what_it_does(run, first ? report.other_pc : report.pc, to)};
    }
    if (gap.begin == 0)
        return Diagnostic{"racecheck found no pair of lines: the scene has to ask for it, expect=\"racecheck\""};
    if (gap.begin >= gap.end)
        return Diagnostic{
            fmt::format("no single gap orders all of racecheck's pairs: one reaches to line {}, another begins "
                        "at line {}",
                        gap.end, gap.begin)};
    truth.sketch = blank(board, static_cast<double>(gap.begin));
    truth.spans = {gap};
    return truth;
}

double line_before(const SketchBoard&, const Sketch& sketch) {
    return sketch.values.empty() ? nothing_put : sketch.values.front();
}

// Every gap between the two lines is right, not only the first.
SketchScore barrier_score(const Predict&, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    SketchScore score;
    score.verdicts.assign(board.places.size(), Verdict::missed);
    const double put = line_before(board, sketch), is = line_before(board, truth.sketch);
    if (!std::isfinite(put)) {
        score.sentence = "No barrier was put into the code.";
        return score;
    }
    const double end = truth.spans.empty() ? is + 1 : static_cast<double>(truth.spans.front().end);
    score.right = put >= is && put < end;
    if (!score.verdicts.empty())
        score.verdicts.front() = score.right ? Verdict::agrees : put < is ? Verdict::low : Verdict::high;
    const double off = put < is ? is - put : put - end + 1;
    score.near = score.right ? 1 : std::max(0.0, 1 - off / std::max(1.0, board.axis.high));
    const std::string first = truth.notes.empty() ? "the earlier line" : truth.notes.front(),
                      second = truth.notes.size() < 2 ? "the later line" : truth.notes[1];
    score.sentence = score.right
                         ? fmt::format("Behind line {:.0f} it stands between the two: {}, then {}.", put, first, second)
                     : put < is ? fmt::format("Behind line {:.0f} it is too early: {} only after it.", put, first)
                                : fmt::format("Behind line {:.0f} it is too late: {} before it.", put, second);
    return score;
}

Sketch at_line(const SketchBoard& board, double answer) {
    return blank(board, std::clamp(answer, board.axis.low, board.axis.high));
}

}  // namespace

SketchKind barrier_kind() {
    return {
        .name = "barrier",
        .words = "Put the barrier into the code",
        .help = "Drag the barrier to a gap between two lines, or click there. Up and down move it, Backspace takes it away.",
        .counted = "the line before it",
        .needs = {},
        .may = {"known", "label", "finding"},
        .tolerance = 0.005,
        .board = barrier_board,
        .truth = barrier_truth,
        .score = barrier_score,
        .measure = line_before,
        .pencilled = at_line};
}

}  // namespace lockstep::lessons
