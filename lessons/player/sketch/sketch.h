// Predictions that are put into a picture: painted, dragged or typed in place of chosen. A prediction is one by its type
// alone: `type="sectors"`. A board says what is known before, a truth what the engine's run has in the same places, a score
// how near the learner came. One row a kind in sketch.cpp; the app draws each in views/sketch.
#pragma once
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/player/predict.h"

namespace lockstep::lessons {

constexpr double nothing_put = std::numeric_limits<double>::quiet_NaN();

struct Sketch {                  // what was put into the picture, or belongs there
    std::vector<double> values;  // by the board's places; not a number: nothing. Of cells 1 is painted, 0 is not
    bool empty() const;          // nothing was put anywhere
    bool operator==(const Sketch& other) const;
};

struct SketchPlace {              // a cell, a bar, an item
    std::string name, detail;     // "sector 4", "words 32 to 39"
    std::optional<double> known;  // drawn from the beginning, and not asked for
    double at = 0;                // along the other axis: of a curve's point
};
struct SketchAxis {
    double low = 0, high = 1;
    bool log = false, whole = false;  // whole: nothing but whole numbers can be put
    std::string unit;
};
struct SketchCase {  // a row of the table of what was seen before
    std::string name, what;
    double value = 0;
    Sketch sketch = {};  // of cells: which
};

// What is known before anything is told: nothing in it depends on the answer but how much room there is.
struct SketchBoard {
    std::string kind;
    std::string file, text;           // the kernel's source, or the program's
    int line = 0;                     // that is asked about; 0: none
    std::vector<std::string> values;  // "offset = 1"
    std::string where;                // "block 0, warp 0"
    std::vector<SketchCase> before;
    std::vector<SketchPlace> places;
    SketchAxis axis, across;
    Sketch ghost;                  // what the case before had in the same places
    std::string ghost_name;        // "step 1: stride 1"
    std::string array;             // of sectors: whose words they hold, "in"
    bool holds_records = false;    // its elements are no words
    int64_t first_word = 0;        // of sectors: the index of the first word drawn
    int64_t lane_word = -1;        // of sectors: the word that lane 0 reads
    std::vector<int> ghost_words;  // of sectors: the word drawn that each lane read in the case before; -1: none
    int rows = 1;                  // of a schedule's cells and of SMs: how many rows the places make
    std::vector<std::string> row_names;
    std::vector<std::string> cells;  // of a schedule: what the cell does where that is known, "F3"; "": nothing is said
    std::vector<std::pair<std::string, double>> limits;  // of a dot: bytes a second and operations a second of the roofs
};
std::string word_name(const SketchBoard& board, int64_t word);  // of sectors: "in[3]", "word 3 of particle"

struct SketchTruth {
    Sketch sketch;
    double figure = 0;               // `of`
    int right = -1;                  // index of the answer that agrees
    std::vector<std::string> notes;  // by place: "7 of 8 words used"; or none
    struct Span {
        int64_t begin = 0, end = 0;
    };
    std::vector<Span> spans;  // of blocks: their cycles, by place; or none
    std::vector<int> words;   // of sectors: the word drawn that each lane reads, -1 none
    std::string finding;      // the headline: "5 sectors: the last lane crosses a line"
};

enum class Verdict : uint8_t { none, agrees, missed, spare, low, high };

struct SketchScore {
    double near = 0;  // 0 .. 1
    bool right = false;
    std::string sentence;           // what differs: "You painted 4 of 5; sector 4 was missed."
    std::vector<Verdict> verdicts;  // by place
};

struct SketchKind {
    std::string_view name;
    std::string_view words;                    // on the lesson's card: "Paint them in the picture"
    std::string_view help;                     // "Click or drag over the sectors."
    std::string_view counted;                  // "sectors painted"
    std::vector<std::string_view> needs, may;  // attributes, besides those of every prediction
    double tolerance = 0.1;                    // relative, where the lesson says none
    Result<SketchBoard> (*board)(SceneRuns& runs, size_t step, const Predict& predict) = nullptr;
    Result<SketchTruth> (*truth)(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board) = nullptr;
    SketchScore (*score)(const Predict& predict, const SketchBoard& board, const Sketch& sketch,
                         const SketchTruth& truth) = nullptr;
    double (*measure)(const SketchBoard& board, const Sketch& sketch) = nullptr;  // what `of` is of a sketch
    // What an answer looks like in the picture, for a class that chose it; null: the kind cannot say.
    Sketch (*pencilled)(const SketchBoard& board, double answer) = nullptr;
};
std::span<const SketchKind> sketch_kinds();
const SketchKind* sketch_kind(std::string_view name);  // null: there is none
std::string sketch_kind_names();                       // "sectors, bar, typed ..."

Result<SketchBoard> board_of(SceneRuns& runs, size_t step, const Predict& predict);
// The truth; its count is held against `of`: where both differ, the prediction is refused.
Result<SketchTruth> sketch_truth_of(SceneRuns& runs, size_t step, const Predict& predict, const SketchBoard& board);
SketchScore score_of(const Predict& predict, const SketchBoard& board, const Sketch& sketch, const SketchTruth& truth);
Sketch unmarked(const SketchBoard& board);                          // nothing but what is known
double measure_of(const SketchBoard& board, const Sketch& sketch);  // not a number: too little was put
bool is_painted(const SketchBoard& board);                          // cells: what is not put is 0
bool complete(const SketchBoard& board, const Sketch& sketch);      // it can be locked
// The answer whose value is nearest to the sketch's; -1: too little was put.
int nearest_answer(const Predict& predict, const SketchBoard& board, const Sketch& sketch);
// What somebody puts who takes the first answer, or knows nothing: for pictures of a step that nobody answers.
Sketch first_guess(const Predict& predict, const SketchBoard& board);
std::string places_text(const SketchBoard& board, const Sketch& sketch);  // "sector 0, sector 1", "bank 4: 32", "nothing"
std::string amount_text(double value, std::string_view unit = {});        // "1,024 sectors", "0.55", "68.7 %"

}  // namespace lockstep::lessons
