// The table of kinds, and what is the same for all of them.
#include "lessons/player/sketch/sketch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "core/base/close_enough.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/scene/figures/figures.h"
#include "lessons/player/sketch/parts.h"
#include "lessons/player/sketch/picture.h"

namespace lockstep::lessons {

bool Sketch::empty() const {
    return std::none_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v != 0; });
}

bool Sketch::operator==(const Sketch& other) const {
    return std::equal(values.begin(), values.end(), other.values.begin(), other.values.end(),
                      [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

std::span<const SketchKind> sketch_kinds() {
    static const std::array rows = {sectors_kind(), bar_kind(),    typed_kind(),   lanes_kind(),
                                    banks_kind(),   blocks_kind(), order_kind(),   curve_kind(),
                                    dot_kind(),     shares_kind(), barrier_kind(), elements_kind()};
    return rows;
}

const SketchKind* sketch_kind(std::string_view name) {
    for (const SketchKind& kind : sketch_kinds())
        if (kind.name == name) return &kind;
    return nullptr;
}

std::string sketch_kind_names() {
    std::string names;
    for (const SketchKind& kind : sketch_kinds()) names += (names.empty() ? "" : ", ") + std::string(kind.name);
    return names;
}

Result<SketchBoard> board_of(SceneRuns& runs, size_t step, const Predict& predict) {
    const SketchKind* kind = sketch_kind(predict.type);
    if (!kind) return Diagnostic{fmt::format("'{}' is no kind of sketch", predict.type), predict.where};
    Result<SketchBoard> board = kind->board(runs, step, predict);
    if (!board) {
        Diagnostic d = board.error();
        if (d.where.file.empty()) d.where = predict.where;
        return d;
    }
    board.value().kind = predict.type;
    return board;
}

Result<SketchTruth> sketch_truth_of(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board) {
    const SketchKind* kind = sketch_kind(predict.type);
    const Result<double> figure = truth_of(runs, step, predict);
    if (!figure) return figure.error();
    Result<SketchTruth> truth = kind->truth(runs, step, predict, board);
    if (!truth) {
        Diagnostic d = truth.error();
        if (d.where.file.empty()) d.where = predict.where;
        return d;
    }
    SketchTruth& t = truth.value();
    t.figure = figure.value();
    t.right = right_answer(predict, t.figure);
    const double counted = measure_of(board, t.sketch);
    if (!close_enough(counted, t.figure, std::max(predict.tolerance, 1e-6)))
        return Diagnostic{fmt::format("the picture's truth comes to {:.6g}, and of=\"{}\" is {:.6g}: ask for the same thing",
                                      counted, predict.of.text(), t.figure),
                          predict.where};
    // Of an order the figure is the place of the card that comes first: its name says more.
    const auto first = static_cast<size_t>(t.figure) - 1;
    const std::string says = board.kind == "order" && t.figure >= 1 && first < board.places.size()
                                 ? board.places[first].name + " first"
                             : board.kind == "barrier" ? "Behind line " + amount_text(t.figure)
                                                       : amount_text(t.figure, board.axis.unit);
    t.finding = predict.sketch.finding.empty() ? "The run says " + says : says + ": " + predict.sketch.finding;
    return truth;
}

SketchScore score_of(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    return sketch_kind(board.kind)->score(predict, board, sketch, truth);
}

double measure_of(const SketchBoard& board, const Sketch& sketch) {
    const SketchKind* kind = sketch_kind(board.kind);
    return kind && sketch.values.size() == board.places.size() ? kind->measure(board, sketch) : nothing_put;
}

const scene::Scene* picture_before(const Lesson& lesson, size_t step, const Predict& predict) {
    const std::string& base = predict.sketch.base;
    if (step >= lesson.steps.size() || base == alone) return nullptr;
    static constexpr std::string_view below[] = {"bar", "typed", "shares", "order", "curve", "lanes"};
    static constexpr size_t by_itself = 4;  // the others need their room, or show the case before themselves
    const auto kind = static_cast<size_t>(std::find(std::begin(below), std::end(below), predict.type) - std::begin(below));
    if (kind == std::size(below) && predict.is_sketch()) return nullptr;
    if (predict.sketch.first_row) return predict.sketch.first_row.get();
    if (!base.empty()) return scene_named(lesson, base);
    const auto& own = lesson.steps[step].scenes;
    if (kind >= by_itself || lesson.exam || own.empty() || own.back().view.empty()) return nullptr;
    for (size_t i = step; i-- > 0;)
        if (const auto& earlier = lesson.steps[i].scenes; !earlier.empty() && earlier.back().view == own.back().view)
            return &earlier.back();
    return nullptr;
}

bool is_painted(const SketchBoard& board) {
    return board.kind == "sectors" || board.kind == "lanes" || board.kind == "banks" || board.kind == "elements";
}

Sketch unmarked(const SketchBoard& board) {
    Sketch sketch;
    for (const SketchPlace& place : board.places)
        sketch.values.push_back(place.known ? *place.known : is_painted(board) ? 0 : nothing_put);
    return sketch;
}

bool complete(const SketchBoard& board, const Sketch& sketch) {
    if (sketch.values.size() != board.places.size()) return false;
    bool cells = false;
    for (const double v : sketch.values) cells = cells || (std::isfinite(v) && v != 0);
    if (is_painted(board)) return cells;
    for (size_t i = 0; i < board.places.size(); ++i)
        if (!board.places[i].known && !std::isfinite(sketch.values[i])) return false;
    return true;
}

int nearest_answer(const Predict& predict, const SketchBoard& board, const Sketch& sketch) {
    const double put = measure_of(board, sketch);
    int nearest = -1;
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < predict.answers.size() && std::isfinite(put); ++i)
        if (const double off = std::fabs(predict.answers[i].value - put); off < best)
            best = off, nearest = static_cast<int>(i);
    return nearest;
}

namespace {
// "sector a load" of "sectors a load": the first word is what is counted, but for symbols ("µs", "TFLOP/s") and factors
// ("times the bytes").
std::string of_one(std::string_view unit) {
    std::string word(unit.substr(0, unit.find(' ')));
    const std::string rest(unit.substr(word.size()));
    const bool counted = word.size() > 2 && std::all_of(word.begin(), word.end(),
                                                        [](unsigned char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
    if (!counted || word == "times" || word.ends_with("ss") || !word.ends_with("s")) return word + rest;
    word.resize(word.size() - (word.ends_with("sses") || word.ends_with("ches") ? 2 : 1));
    return word + rest;
}
}  // namespace

std::string amount_text(double value, std::string_view unit) {
    std::string text;
    if (!std::isfinite(value))
        text = "?";
    else if (value == std::floor(value) && std::fabs(value) < 1e15)
        text = with_commas(static_cast<int64_t>(value));
    else if (std::fabs(value) >= 1000)
        text = with_commas(static_cast<int64_t>(std::llround(value)));
    else
        text = fmt::format("{:.3g}", value);
    const std::string word = value == 1 ? of_one(unit) : std::string(unit);
    return word.empty() ? text : text + " " + word;
}

std::string places_text(const SketchBoard& board, const Sketch& sketch) {
    std::string text;
    const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
    for (size_t i = 0; i < board.places.size() && i < sketch.values.size(); ++i) {
        const double v = sketch.values[i];
        if (board.kind == "sectors" || board.kind == "lanes" || board.kind == "elements") {
            if (v > 0) add(board.places[i].name);
        } else if (board.kind == "banks") {
            if (v > 0) add(fmt::format("{}: {:.0f}", board.places[i].name, v));
        } else if (board.kind == "barrier") {
            if (std::isfinite(v)) add(fmt::format("behind line {:.0f}", v));
        } else if (board.kind == "blocks") {
            const double turns = std::max(1.0, board.axis.high);
            if (std::isfinite(v))
                add(fmt::format("{} on SM {:.0f} in turn {:.0f}", board.places[i].name, std::floor(v / turns),
                                std::fmod(v, turns) + 1));
        } else if (board.kind == "order") {
            if (std::isfinite(v)) add(fmt::format("{} in place {:.0f}", board.places[i].name, v + 1));
        } else if (!board.places[i].known) {
            add(fmt::format("{} {}", board.places[i].name, amount_text(v)));
        }
    }
    return text.empty() ? "nothing" : text;
}

Sketch first_guess(const Predict& predict, const SketchBoard& board) {
    const SketchKind& kind = *sketch_kind(board.kind);
    if (!board.ghost.empty()) return board.ghost;
    if (kind.pencilled && !predict.answers.empty()) {
        Sketch sketch = kind.pencilled(board, predict.answers.front().value);
        for (size_t i = 0; i < board.places.size(); ++i)
            if (board.places[i].known) sketch.values[i] = *board.places[i].known;
        return sketch;
    }
    Sketch sketch = unmarked(board);
    for (size_t i = 0; i < sketch.values.size(); ++i) {
        double& value = sketch.values[i];
        if (board.places[i].known) continue;
        const SketchAxis& axis = board.kind == "dot" && i == 0 ? board.across : board.axis;
        value = board.kind == "banks"                             ? 1
                : board.kind == "blocks" || board.kind == "order" ? static_cast<double>(i)
                : board.kind == "shares"                          ? 100.0 / static_cast<double>(sketch.values.size())
                : axis.log                                        ? std::sqrt(axis.low * axis.high)
                                                                  : (axis.low + axis.high) / 2;
        if (board.kind == "blocks") value = std::fmod(value, board.axis.high);
    }
    return sketch;
}

// What the kinds share.

std::string counted(size_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string listed(const std::vector<std::string>& words, size_t most) {
    std::string text;
    const size_t shown = words.size() > most ? most - 1 : words.size();
    for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    if (shown < words.size()) text += fmt::format(" and {} more", words.size() - shown);
    return text;
}

Sketch blank(const SketchBoard& board, double value) {
    return {std::vector<double>(board.places.size(), value)};
}

Result<double> value_of(SceneRuns& runs, size_t step, const Predict& predict, const scene::Expression& expression) {
    Predict asked;
    asked.of = expression;
    asked.where = predict.where;
    return truth_of(runs, step, asked);
}

std::optional<Diagnostic> add_known(SceneRuns& runs, size_t step, const Predict& predict, bool as_places,
                                    SketchBoard& board) {
    for (const NamedExpression& one : predict.sketch.known) {
        const Result<double> value = value_of(runs, step, predict, one.value);
        if (!value) return value.error();
        if (as_places) board.places.push_back({one.name, "", value.value(), std::atof(one.name.c_str())});
        board.before.push_back({one.name, "", value.value()});
    }
    return std::nullopt;
}

void fit_axis(const Predict& predict, SketchBoard& board) {
    board.axis.log = predict.sketch.log;
    board.axis.low = predict.sketch.low;
    board.axis.high = predict.sketch.high;
    if (board.axis.unit.empty()) board.axis.unit = predict.sketch.unit;
    bool whole = true;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    const auto look = [&](double v) {
        if (!std::isfinite(v)) return;
        whole = whole && v == std::floor(v);
        most = std::max(most, v);
        if (v > 0) least = std::min(least, v);
    };
    for (const SketchPlace& place : board.places)
        if (place.known) look(*place.known);
    for (const Answer& answer : predict.answers) look(answer.value);
    board.axis.whole = whole && most >= 4;
    if (board.axis.low < board.axis.high) return;
    if (board.axis.log) {
        board.axis.low = std::pow(10, std::floor(std::log10(std::max(least, 1e-9)) - 0.5));
        board.axis.high = std::pow(10, std::ceil(std::log10(std::max(most, 1e-9)) + 0.5));
        return;
    }
    const double wanted = 1.25 * std::max(most, 1e-9), decade = std::pow(10, std::floor(std::log10(wanted)));
    for (const double nice : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
        if (nice * decade >= wanted) return void(board.axis.high = nice * decade);
}

Result<std::shared_ptr<const scene::KernelResult>> kernel_asked(SceneRuns& runs, size_t step, const std::string& id) {
    const scene::Scene* scene = id.empty() ? scene_at(runs.lesson(), step) : scene_named(runs.lesson(), id);
    if (!scene)
        return Diagnostic{id.empty() ? "no scene stands before this sketch" : fmt::format("no scene has the id '{}'", id)};
    const Result<scene::SceneResult> result = runs.of(*scene);
    if (!result) return result.error();
    if (const auto kernel = result.value().as<scene::KernelResult>()) return kernel;
    return Diagnostic{"this kind of sketch is of a kernel's run, and the scene is another"};
}

int line_asked(const Predict& predict) {
    const std::string& of = predict.of.text();
    const size_t at = of.find("@line:");
    return at == std::string::npos ? 0 : std::atoi(of.c_str() + at + 6);
}

namespace {

int32_t number_behind(const std::string& text, std::string_view key) {
    const size_t at = text.find(key);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + key.size());
}

std::string name_of_file(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1);
}

// A question about GPUs' data sheets asks nothing of the scene.
bool asks_of_scene(const Predict& predict) {
    const auto names = predict.of.names();
    return names.empty() || std::any_of(names.begin(), names.end(),
                                        [](const scene::FigureName& name) { return !name.base.starts_with("gpu."); });
}

// Rows as a program: each begins a line, and a long one goes on in the next, further in.
std::string rows_by_line(const std::string& rows) {
    constexpr size_t widest = 46;
    std::string text;
    for (size_t at = 0; at < rows.size();) {
        const size_t end = std::min(rows.find(';', at), rows.size());
        std::istringstream words(rows.substr(at, end - at));
        std::string line, word;
        while (words >> word) {
            if (!line.empty() && line.size() + 1 + word.size() > widest) text += line + "\n", line = "   ";
            line += (line.empty() ? "" : " ") + word;
        }
        if (!line.empty()) text += line + "\n";
        at = end + 1;
    }
    if (!text.empty()) text.pop_back();
    return text;
}

}  // namespace

Result<SketchBoard> kernel_board(SceneRuns& runs, size_t step, const Predict& predict) {
    SketchBoard board;
    const scene::Scene* scene = scene_at(runs.lesson(), step);
    board.line = line_asked(predict);
    if (scene == nullptr) return board;
    for (const std::string& file : {scene->host, scene->tape, scene->parallel}) {  // a program's text is its set-up
        if (file.empty()) continue;
        board.file = file;
        const Result<std::string> text = read_text(runs.lesson().folder / file, size_t{1} << 18);
        if (text)
            board.text = text.value();
        else if (asks_of_scene(predict))  // rows are written in the lesson itself
            board.text = rows_by_line(file);
        if (text) board.where = file;
        return board;
    }
    const Result<scene::SceneResult> result = runs.of(*scene);
    if (!result) return result.error();
    const auto kernel = result.value().as<scene::KernelResult>();
    if (!kernel) return board;
    const model::KernelRun& run = *kernel->run;
    if (board.line == 0) board.line = number_behind(scene->focus, "line:");
    board.file = name_of_file(run.program->source_file);
    board.text = run.source;
    for (size_t i = 0; i < kernel->bound.arguments.size() && i < scene->arguments.size(); ++i) {
        const std::string& text = scene->arguments[i];
        const size_t colon = text.find(':');
        if (kernel->bound.arguments[i].role == scene::KernelArgument::Role::scalar && colon != std::string::npos &&
            !text.starts_with("struct") && !kernel->bound.arguments[i].name.starts_with("argument"))
            board.values.push_back(kernel->bound.arguments[i].name + " = " + text.substr(colon + 1));
    }
    const auto threads = run.config.block.x * run.config.block.y * run.config.block.z;
    const uint32_t warps = std::max<uint32_t>(1, (threads + 31) / 32);
    const auto warp = static_cast<uint32_t>(std::max(0, number_behind(scene->focus, "warp:")));
    board.where = fmt::format("{}<<<{}, {}>>>, block {}, warp {}",
                              scene->kernel.empty() ? std::string(run.program->kernel) : scene->kernel, scene->grid,
                              scene->block, warp / warps, warp % warps);
    return board;
}

Result<std::shared_ptr<const WarpAtLine>> warp_at(SceneRuns& runs, size_t step, const std::string& scene_id, int line,
                                                  const scene::KernelResult& kernel, ptx::Space space) {
    const scene::Scene* scene = scene_id.empty() ? scene_at(runs.lesson(), step) : scene_named(runs.lesson(), scene_id);
    const model::KernelRun& run = *kernel.run;
    if (!run.before) return Diagnostic{"the run kept no memory to replay its warp from"};
    const auto threads = run.config.block.x * run.config.block.y * run.config.block.z;
    const uint32_t warps = std::max<uint32_t>(1, (threads + 31) / 32);
    const auto warp = static_cast<uint32_t>(std::max(0, number_behind(scene->focus, "warp:")));
    if (!scene_id.empty() && line == 0) line = number_behind(scene->focus, "line:");
    auto found = std::make_shared<WarpAtLine>();
    found->history = simt::record_warp(*run.program, run.config, *run.before, warp / warps, warp % warps);
    const auto line_of = [&](uint32_t pc) {
        return pc < run.program->instructions.size() ? run.program->instructions[pc].line : 0;
    };
    for (const simt::WarpAccess& access : found->history.accesses)
        if (!found->access && line_of(access.pc) == line && (space == ptx::Space::none || access.space == space))
            found->access = &access;
    for (const simt::WarpStep& one : found->history.steps)
        if (!found->step && line_of(one.pc) == line) found->step = &one;
    if (found->access && found->access->step < found->history.steps.size())
        found->step = &found->history.steps[found->access->step];
    return std::shared_ptr<const WarpAtLine>(found);
}

double cells_painted(const SketchBoard&, const Sketch& sketch) {
    return static_cast<double>(std::count_if(sketch.values.begin(), sketch.values.end(), [](double v) { return v > 0; }));
}

SketchScore score_cells(const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth, std::string_view cell,
                        std::string_view cells, std::string_view done) {
    SketchScore score;
    const size_t count = board.places.size();
    score.verdicts.assign(count, Verdict::none);
    std::vector<std::string> missed, spare;
    size_t both = 0, wanted = 0, painted = 0;
    for (size_t i = 0; i < count; ++i) {
        const bool is = i < truth.sketch.values.size() && truth.sketch.values[i] > 0,
                   put = i < sketch.values.size() && sketch.values[i] > 0;
        wanted += is, painted += put, both += is && put;
        if (is || put) score.verdicts[i] = is && put ? Verdict::agrees : is ? Verdict::missed : Verdict::spare;
        if (is && !put) missed.push_back(board.places[i].name);
        if (put && !is) spare.push_back(board.places[i].name);
    }
    const size_t any = wanted + painted - both;
    score.near = any == 0 ? 1 : static_cast<double>(both) / static_cast<double>(any);
    score.right = any == both;
    const std::string whole = wanted == 1 ? fmt::format("the one {}", cell) : "all " + counted(wanted, cell, cells);
    if (score.right) {
        score.sentence = fmt::format("You {} {}, and nothing else.", done, whole);
        return score;
    }
    score.sentence = missed.empty() ? fmt::format("You {} {}", done, whole)
                                    : fmt::format("You {} {} of {}", done, both, counted(wanted, cell, cells));
    if (!missed.empty())
        score.sentence += fmt::format("; {} {} missed", listed(missed), missed.size() == 1 ? "was" : "were");
    if (!spare.empty()) score.sentence += fmt::format("; {} {} spare", listed(spare), spare.size() == 1 ? "is" : "are");
    score.sentence += ".";
    return score;
}

SketchScore score_amounts(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth,
                          std::string_view did) {
    SketchScore score;
    score.verdicts.assign(board.places.size(), Verdict::none);
    std::vector<std::string> off;
    size_t asked = 0;
    double near = 0;
    bool right = true;
    for (size_t i = 0; i < board.places.size(); ++i) {
        if (board.places[i].known) continue;
        ++asked;
        const double put = i < sketch.values.size() ? sketch.values[i] : nothing_put,
                     is = i < truth.sketch.values.size() ? truth.sketch.values[i] : nothing_put;
        const double most = predict.tolerance * std::max(std::fabs(is), 1e-12);
        const bool agrees = within(put, is, most);
        right = right && agrees;
        if (agrees) {
            score.verdicts[i] = Verdict::agrees;
            near += 1;
            continue;
        }
        if (!std::isfinite(put) || !std::isfinite(is)) {
            score.verdicts[i] = Verdict::missed;
            continue;
        }
        score.verdicts[i] = put < is ? Verdict::low : Verdict::high;
        near += std::max(0.0, 1 - std::fabs(put - is) / std::max({std::fabs(put), std::fabs(is), 1e-12}));
        // No unit: "times as fast" is none of a difference, and beside it stands what the run says with its own.
        const bool several = board.places.size() > board.before.size() + 1;
        const double apart = std::fabs(put - is);
        off.push_back(fmt::format(
            "{} {} too {}", several ? board.places[i].name + ":" : amount_text(put) + ", it is " + amount_text(is) + ":",
            apart >= 100 || apart == std::floor(apart) ? amount_text(apart) : fmt::format("{:.2g}", apart),
            put < is ? "little" : "much"));
    }
    score.near = asked == 0 ? 0 : near / static_cast<double>(asked);
    score.right = asked > 0 && right;
    score.sentence = score.right   ? fmt::format("You {} it right.", did)
                     : off.empty() ? std::string("Nothing was put into the picture.")
                                   : fmt::format("You {} {}.", did, listed(off, 3));
    return score;
}

}  // namespace lockstep::lessons
