// Kinds of which things are put into places: blocks onto SMs, items into an order.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lessons/player/sketch/parts.h"

namespace lockstep::lessons {

namespace {

constexpr size_t most_blocks = 12, most_turns = 8;
constexpr uint32_t most_sms = 8;

// A place of a block is an SM and a turn on it: sm * turns + turn.
size_t turns_of(const SketchBoard& board) {
    return static_cast<size_t>(board.axis.high);
}

Result<SketchBoard> blocks_board(SceneRuns& runs, size_t step, const Predict& predict) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    const model::KernelRun& run = *kernel.value()->run;
    const uint64_t blocks = uint64_t{run.config.grid.x} * run.config.grid.y * run.config.grid.z;
    if (blocks > most_blocks || run.gpu.sms > most_sms)
        return Diagnostic{fmt::format("{} blocks on {} SMs are too many to be dragged: at most {} and {}", blocks,
                                      run.gpu.sms, most_blocks, most_sms)};
    for (uint64_t b = 0; b < blocks; ++b) board.places.push_back({fmt::format("block {}", b), ""});
    for (uint32_t sm = 0; sm < run.gpu.sms; ++sm) board.row_names.push_back(fmt::format("SM {}", sm));
    board.rows = static_cast<int>(run.gpu.sms);
    board.axis = {0, static_cast<double>(std::min<size_t>(blocks, most_turns)), false, true, "SMs"};
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    return made;
}

Result<SketchTruth> blocks_truth(SceneRuns& runs, size_t step, const Predict&, const SketchBoard& board) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    SketchTruth truth;
    truth.sketch = blank(board, nothing_put);
    truth.notes.assign(board.places.size(), "");
    truth.spans.resize(board.places.size());
    std::map<std::pair<uint16_t, uint16_t>, size_t> turn;  // by SM and slot
    for (const BlockRun& block : kernel.value()->run->result.trace.blocks) {
        const size_t at = turn[{block.sm, block.slot}]++;
        if (block.block >= board.places.size() || at >= turns_of(board)) continue;
        truth.sketch.values[block.block] = static_cast<double>(block.sm * turns_of(board) + at);
        truth.spans[block.block] = {block.begin, block.end};
        truth.notes[block.block] = fmt::format("{} to {}", amount_text(static_cast<double>(block.begin)),
                                               amount_text(static_cast<double>(block.end), "cycles"));
    }
    return truth;
}

double sms_used(const SketchBoard& board, const Sketch& sketch) {
    std::set<size_t> sms;
    for (const double v : sketch.values)
        if (std::isfinite(v)) sms.insert(static_cast<size_t>(v) / turns_of(board));
    return sms.empty() ? nothing_put : static_cast<double>(sms.size());
}

// Which SM takes a block is nobody's promise: a block is right in its turn, on an SM that is not fuller than the run's.
SketchScore blocks_score(const Predict&, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    SketchScore score;
    const size_t turns = turns_of(board);
    std::map<double, int> held, room;
    int most = 1;
    for (const double v : truth.sketch.values) most = std::max(most, ++room[v]);
    size_t right = 0, late = 0, early = 0;
    for (size_t b = 0; b < board.places.size(); ++b) {
        const double put = b < sketch.values.size() ? sketch.values[b] : nothing_put, is = truth.sketch.values[b];
        if (!std::isfinite(put) || !std::isfinite(is)) {
            score.verdicts.push_back(Verdict::missed);
            continue;
        }
        const size_t mine = static_cast<size_t>(put) % turns, wanted = static_cast<size_t>(is) % turns;
        const bool fits = mine == wanted && ++held[put] <= most;
        score.verdicts.push_back(fits ? Verdict::agrees : mine < wanted ? Verdict::low : Verdict::high);
        right += fits;
        late += !fits && mine > wanted;
        early += !fits && mine <= wanted;
    }
    score.near = static_cast<double>(right) / static_cast<double>(std::max<size_t>(1, board.places.size()));
    score.right = right == board.places.size() && right > 0;
    score.sentence = score.right ? "Every block runs in the turn that you gave it; which SM takes it is not promised."
                                 : fmt::format("{} of {} blocks run in your turn: {} too late, {} too early or crowded.",
                                               right, board.places.size(), late, early);
    return score;
}

// Order: the items by what their expressions come to, the least first.

Result<SketchBoard> order_board(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    for (const NamedExpression& one : predict.sketch.asked) board.places.push_back({one.name, ""});
    board.axis = {0, static_cast<double>(board.places.size()), false, true, predict.sketch.unit};
    return made;
}

Result<SketchTruth> order_truth(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board) {
    std::vector<double> when;
    for (const NamedExpression& one : predict.sketch.asked) {
        const Result<double> value = value_of(runs, step, predict, one.value);
        if (!value) return value.error();
        if (!std::isfinite(value.value()))
            return Diagnostic{fmt::format("when '{}' comes is not a number", one.name), predict.where};
        when.push_back(value.value());
    }
    SketchTruth truth;
    for (size_t i = 0; i < board.places.size(); ++i) {
        double before = 0;  // equal ones keep the order in which they are written
        for (size_t j = 0; j < when.size(); ++j) before += when[j] < when[i] || (when[j] == when[i] && j < i);
        truth.sketch.values.push_back(before);
        truth.notes.push_back(amount_text(when[i], board.axis.unit));
    }
    return truth;
}

// Which item comes first, counted from 1.
double first_item(const SketchBoard&, const Sketch& sketch) {
    for (size_t i = 0; i < sketch.values.size(); ++i)
        if (sketch.values[i] == 0) return static_cast<double>(i + 1);
    return nothing_put;
}

SketchScore order_score(const Predict&, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    SketchScore score;
    size_t right = 0, worst = 0;
    double farthest = 0;
    for (size_t i = 0; i < board.places.size(); ++i) {
        const double put = i < sketch.values.size() ? sketch.values[i] : nothing_put, is = truth.sketch.values[i];
        // Items of one moment may stand in either order.
        const bool agrees = put == is || [&] {
            for (size_t j = 0; j < truth.sketch.values.size(); ++j)
                if (truth.sketch.values[j] == put) return truth.notes[j] == truth.notes[i];
            return false;
        }();
        right += agrees;
        score.verdicts.push_back(agrees                ? Verdict::agrees
                                 : !std::isfinite(put) ? Verdict::missed
                                 : put < is            ? Verdict::low
                                                       : Verdict::high);
        if (!agrees && std::isfinite(put) && std::fabs(put - is) > std::fabs(farthest)) farthest = put - is, worst = i;
    }
    score.near = static_cast<double>(right) / static_cast<double>(std::max<size_t>(1, board.places.size()));
    score.right = right == board.places.size() && right > 0;
    score.sentence = score.right
                         ? fmt::format("All {} stand in their places.", right)
                         : fmt::format("{} of {} stand in their places; \"{}\" comes {} than you put it.", right,
                                       board.places.size(), board.places[worst].name, farthest > 0 ? "earlier" : "later");
    return score;
}

}  // namespace

SketchKind blocks_kind() {
    return {.name = "blocks",
            .words = "Place the blocks on the SMs",
            .help = "Drag each block to an SM and a turn; a click puts the next one. Backspace clears.",
            .counted = "SMs used",
            .needs = {},
            .may = {"known", "label", "finding"},
            .tolerance = 0.005,
            .board = blocks_board,
            .truth = blocks_truth,
            .score = blocks_score,
            .measure = sms_used,
            .pencilled = nullptr};
}

SketchKind order_kind() {
    return {.name = "order",
            .words = "Put them in order",
            .help = "Drag the cards; a click puts one into the next free place. Backspace clears.",
            .counted = "the one that you put first",
            .needs = {"items"},
            .may = {"base", "known", "label", "unit", "finding"},
            .tolerance = 0.005,
            .board = order_board,
            .truth = order_truth,
            .score = order_score,
            .measure = first_item,
            .pencilled = nullptr};
}

}  // namespace lockstep::lessons
