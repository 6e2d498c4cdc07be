// Kinds of which cells are painted, the truth from the focused warp's own history: the sectors of one request, the lanes of
// a line, the banks of one shared-memory request.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "core/device/compile/source_tokens.h"
#include "core/model/memory/coalescer.h"
#include "lessons/player/sketch/parts.h"

namespace lockstep::lessons {

namespace {

constexpr int64_t most_lines = 8;  // of 128 bytes, side by side

Result<std::shared_ptr<const WarpAtLine>> request_at(SceneRuns& runs, size_t step, const std::string& id, int line,
                                                     ptx::Space space) {
    const auto kernel = kernel_asked(runs, step, id);
    if (!kernel) return kernel.error();
    auto warp = warp_at(runs, step, id, line, *kernel.value(), space);
    if (!warp) return warp.error();
    if (!warp.value()->access || warp.value()->access->lanes == 0)
        return Diagnostic{fmt::format("the scene's warp asks for nothing in {} memory at line {}",
                                      space == ptx::Space::shared ? "shared" : "global", line)};
    return warp;
}

// Line numbers and sectors that a request touches.
std::set<uint64_t> sectors_of(const simt::WarpAccess& access) {
    auto request = std::make_unique<model::GlobalRequest>();
    model::coalesce(access.addresses, access.lanes, std::clamp(access.bytes, 1u, 32u), *request);
    std::set<uint64_t> sectors;
    for (uint32_t i = 0; i < request->lines; ++i)
        for (uint32_t s = 0; s < 4; ++s)
            if (request->line[i].sectors >> s & 1) sectors.insert(request->line[i].line * 4 + s);
    return sectors;
}

// The buffer that an address lies in; null: none.
const scene::BoundArgument* buffer_of(const scene::KernelResult& kernel, uint64_t address) {
    for (const scene::BoundArgument& one : kernel.bound.arguments)
        if (one.bytes > 0 && address >= one.address && address < one.address + one.bytes) return &one;
    return nullptr;
}

uint64_t first_address(const simt::WarpAccess& access) {
    return access.addresses[std::countr_zero(access.lanes)];
}

uint64_t first_sector(const simt::WarpAccess& access) {
    uint64_t least = UINT64_MAX;
    for (uint32_t left = access.lanes; left != 0; left &= left - 1)
        least = std::min(least, access.addresses[std::countr_zero(left)]);
    return least / model::line_bytes * 4;
}

std::vector<int> words_of(const simt::WarpAccess& access, uint64_t sector0, size_t sectors) {
    std::vector<int> words(32, -1);
    for (uint32_t left = access.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        const uint64_t word = (access.addresses[lane] - sector0 * 32) / 4;
        if (access.addresses[lane] >= sector0 * 32 && word < sectors * 8) words[lane] = static_cast<int>(word);
    }
    return words;
}

Sketch painted(const std::set<uint64_t>& sectors, uint64_t sector0, size_t count) {
    Sketch sketch{std::vector<double>(count, 0)};
    for (const uint64_t sector : sectors)
        if (sector >= sector0 && sector - sector0 < count) sketch.values[sector - sector0] = 1;
    return sketch;
}

// Whether the source has the parameter as a pointer to numbers of four bytes, or does not have it.
bool points_to_words(const std::string& source, const std::string& name) {
    static const std::set<std::string_view> words{"float", "int", "unsigned", "uint32_t", "int32_t"},
        qualifiers{"const", "__restrict__", "restrict"};
    std::vector<device::SourceToken> tokens = device::tokens_of(source);
    std::erase_if(tokens, [&](const device::SourceToken& token) { return qualifiers.contains(token.text); });
    for (size_t i = 2; i < tokens.size(); ++i)
        if (tokens[i].is(name) && tokens[i - 1].is("*") && tokens[i - 2].kind == device::SourceToken::Kind::name)
            return words.contains(tokens[i - 2].text);
    return true;
}

Result<SketchBoard> sectors_board(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    const auto warp = request_at(runs, step, "", board.line, ptx::Space::global);
    if (!warp) return warp.error();
    const simt::WarpAccess& access = *warp.value()->access;
    const std::set<uint64_t> truth = sectors_of(access);
    const uint64_t sector0 = first_sector(access);
    // Room for a third more than the answer, in pairs of lines: how much there is says little.
    const auto touched = static_cast<int64_t>((*truth.rbegin() - sector0) / 4 + 1);
    int64_t lines = 2;
    while (lines < touched || static_cast<double>(truth.size()) > 0.75 * static_cast<double>(4 * lines)) lines += 2;
    if (lines > most_lines)
        return Diagnostic{
            fmt::format("the request touches {} lines of 128 bytes, more than {} cannot be painted: ask for a "
                        "bar (type=\"bar\")",
                        touched, most_lines)};
    const auto kernel = kernel_asked(runs, step).value();
    const scene::BoundArgument* buffer = buffer_of(*kernel, first_address(access));
    board.array = buffer ? buffer->name : "memory";
    board.holds_records = buffer && !points_to_words(board.text, board.array);
    board.first_word = buffer ? (static_cast<int64_t>(sector0 * 32) - static_cast<int64_t>(buffer->address)) / 4 : 0;
    board.lane_word = (static_cast<int64_t>(first_address(access)) - static_cast<int64_t>(sector0 * 32)) / 4;
    board.axis.unit = "sectors";
    for (int64_t s = 0; s < 4 * lines; ++s)
        board.places.push_back({fmt::format("sector {}", s), word_name(board, board.first_word + 8 * s) + " ... " +
                                                                 word_name(board, board.first_word + 8 * s + 7)});
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    if (!predict.sketch.base.empty()) {
        const auto before = request_at(runs, step, predict.sketch.base, 0, ptx::Space::global);
        if (!before) return before.error();
        const simt::WarpAccess& earlier = *before.value()->access;
        const uint64_t zero = first_sector(earlier);
        board.ghost = painted(sectors_of(earlier), zero, board.places.size());
        board.ghost_words = words_of(earlier, zero, board.places.size());
        board.ghost_name = board.before.empty() ? "the case before" : board.before.front().name;
        if (!board.before.empty()) board.before.front().sketch = board.ghost;
    }
    return made;
}

Result<SketchTruth> sectors_truth(SceneRuns& runs, size_t step, const Predict&, const SketchBoard& board) {
    const auto warp = request_at(runs, step, "", board.line, ptx::Space::global);
    if (!warp) return warp.error();
    const simt::WarpAccess& access = *warp.value()->access;
    const uint64_t sector0 = first_sector(access);
    SketchTruth truth;
    truth.sketch = painted(sectors_of(access), sector0, board.places.size());
    truth.words = words_of(access, sector0, board.places.size());
    std::set<uint64_t> words;  // that some lane asks for, of all bytes
    for (uint32_t left = access.lanes; left != 0; left &= left - 1)
        for (uint32_t b = 0; b < access.bytes; b += 4)
            words.insert((access.addresses[std::countr_zero(left)] + b - sector0 * 32) / 4);
    for (size_t s = 0; s < board.places.size(); ++s) {
        const auto used = std::distance(words.lower_bound(8 * s), words.lower_bound(8 * s + 8));
        truth.notes.push_back(truth.sketch.values[s] > 0 ? fmt::format("{} of 8 used", used) : std::string());
    }
    return truth;
}

SketchScore sectors_score(const Predict&, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    return score_cells(board, sketch, truth, "sector", "sectors", "painted");
}

Sketch first_cells(const SketchBoard& board, double answer) {
    Sketch sketch = blank(board, 0);
    for (size_t i = 0; i < sketch.values.size() && static_cast<double>(i) < answer; ++i) sketch.values[i] = 1;
    return sketch;
}

// Lanes.

Result<SketchBoard> lanes_board(SceneRuns& runs, size_t step, const Predict& predict) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    board.axis.unit = "lanes";
    for (int lane = 0; lane < 32; ++lane) board.places.push_back({fmt::format("lane {}", lane), ""});
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    return made;
}

Result<SketchTruth> lanes_truth(SceneRuns& runs, size_t step, const Predict&, const SketchBoard& board) {
    const auto kernel = kernel_asked(runs, step);
    if (!kernel) return kernel.error();
    const auto warp = warp_at(runs, step, "", board.line, *kernel.value());
    if (!warp) return warp.error();
    const WarpAtLine& at = *warp.value();
    const uint32_t mask = at.access ? at.access->lanes : at.step ? at.step->executed : 0;
    const uint32_t gone = at.step ? at.step->exited : 0;
    SketchTruth truth;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        truth.sketch.values.push_back(mask >> lane & 1);
        truth.notes.push_back(mask >> lane & 1 ? "on" : gone >> lane & 1 ? "gone" : "off");
    }
    return truth;
}

SketchScore lanes_score(const Predict&, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    return score_cells(board, sketch, truth, "lane", "lanes", "lit");
}

// Banks: how many different words each has to hand out. The most of them is how often the request passes.

Result<SketchBoard> banks_board(SceneRuns& runs, size_t step, const Predict& predict) {
    Result<SketchBoard> made = kernel_board(runs, step, predict);
    if (!made) return made;
    SketchBoard& board = made.value();
    board.axis = {0, 32, false, true, "passes"};
    for (int bank = 0; bank < 32; ++bank) board.places.push_back({fmt::format("bank {}", bank), ""});
    if (const auto problem = add_known(runs, step, predict, false, board)) return *problem;
    if (!predict.sketch.base.empty()) {
        const auto before = request_at(runs, step, predict.sketch.base, 0, ptx::Space::shared);
        if (!before) return before.error();
        board.ghost_name = board.before.empty() ? "the case before" : board.before.front().name;
        const simt::WarpAccess& earlier = *before.value()->access;
        std::set<uint64_t> words;
        board.ghost = blank(board, 0);
        for (uint32_t left = earlier.lanes; left != 0; left &= left - 1)
            if (const uint64_t word = earlier.addresses[std::countr_zero(left)] / 4; words.insert(word).second)
                board.ghost.values[word % 32] += 1;
    }
    return made;
}

Result<SketchTruth> banks_truth(SceneRuns& runs, size_t step, const Predict&, const SketchBoard& board) {
    const auto warp = request_at(runs, step, "", board.line, ptx::Space::shared);
    if (!warp) return warp.error();
    const simt::WarpAccess& access = *warp.value()->access;
    if (access.bytes > 4) return Diagnostic{"the banks of a request are painted where each lane takes at most 4 bytes"};
    SketchTruth truth;
    truth.sketch = blank(board, 0);
    std::map<uint64_t, int> readers;
    for (uint32_t left = access.lanes; left != 0; left &= left - 1) ++readers[access.addresses[std::countr_zero(left)] / 4];
    std::vector<int> lanes(32, 0);
    for (const auto& [word, many] : readers) {
        truth.sketch.values[word % 32] += 1;
        lanes[word % 32] += many;
    }
    for (size_t bank = 0; bank < 32; ++bank) truth.notes.push_back(lanes[bank] > 0 ? std::to_string(lanes[bank]) : "");
    return truth;
}

double most_words(const SketchBoard&, const Sketch& sketch) {
    double most = 0;
    for (const double v : sketch.values)
        if (std::isfinite(v)) most = std::max(most, v);
    return most > 0 ? most : nothing_put;
}

SketchScore banks_score(const Predict&, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth) {
    SketchScore score;
    score.verdicts.assign(board.places.size(), Verdict::none);
    double off = 0, all = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < board.places.size(); ++i) {
        const double put = i < sketch.values.size() && std::isfinite(sketch.values[i]) ? sketch.values[i] : 0,
                     is = truth.sketch.values[i];
        off += std::fabs(put - is);
        all += std::max(put, is);
        wrong += put != is;
        if (put > 0 || is > 0)
            score.verdicts[i] = put == is  ? Verdict::agrees
                                : put == 0 ? Verdict::missed
                                : is == 0  ? Verdict::spare
                                : put < is ? Verdict::low
                                           : Verdict::high;
    }
    score.near = all > 0 ? 1 - off / all : 0;
    score.right = wrong == 0;
    const double passes = most_words(board, sketch);
    score.sentence =
        score.right ? fmt::format("Every bank has what you drew: {}.", amount_text(truth.figure, "passes"))
        : passes == most_words(board, truth.sketch)
            ? fmt::format("{} of 32 banks differ, though yours come to {} as well.", wrong, amount_text(passes, "passes"))
            : fmt::format("{} of 32 banks differ: your tallest makes {}, the run's {}.", wrong,
                          amount_text(passes, "passes"), amount_text(most_words(board, truth.sketch), "passes"));
    return score;
}

}  // namespace

SketchKind sectors_kind() {
    return {.name = "sectors",
            .words = "Paint them in the picture",
            .help = "Click or drag over the sectors. Keys 0 to 9 paint too, Backspace clears.",
            .counted = "sectors painted",
            .needs = {},
            .may = {"base", "known", "label", "finding"},
            .tolerance = 0.005,
            .board = sectors_board,
            .truth = sectors_truth,
            .score = sectors_score,
            .measure = cells_painted,
            .pencilled = first_cells};
}

SketchKind lanes_kind() {
    return {.name = "lanes",
            .words = "Light the lanes in the picture",
            .help = "Click or drag over the lanes. Arrows and Enter set them too, Backspace clears.",
            .counted = "lanes lit",
            .needs = {},
            .may = {"base", "known", "label", "finding"},
            .tolerance = 0.005,
            .board = lanes_board,
            .truth = lanes_truth,
            .score = lanes_score,
            .measure = cells_painted,
            .pencilled = first_cells};
}

SketchKind banks_kind() {
    return {.name = "banks",
            .words = "Stack the words on their banks",
            .help = "Drag a bank up to as many words as it has to hand out; drag sideways for many. Backspace clears.",
            .counted = "passes: the tallest bank",
            .needs = {},
            .may = {"base", "known", "label", "finding"},
            .tolerance = 0.005,
            .board = banks_board,
            .truth = banks_truth,
            .score = banks_score,
            .measure = most_words,
            .pencilled = nullptr};
}

std::string word_name(const SketchBoard& board, int64_t word) {
    return board.holds_records ? fmt::format("word {} of {}", word, board.array) : fmt::format("{}[{}]", board.array, word);
}

}  // namespace lockstep::lessons
