// The picture that a prediction is put into: what is known stands there from the beginning, the learner's pencil is drawn
// where it was put, and after the lock the truth fades in beside it; nothing moves. A row of sketch_pictures() is a kind,
// in a file of its own; sketch.cpp draws what all kinds share.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/input.h"
#include "app/gui/session.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct SketchScene {  // what a kind draws from
    const lessons::Predict& predict;
    const lessons::SketchBoard& board;
    const lessons::SketchTruth* truth = nullptr;  // null before the answer
    const lessons::SketchScore* score = nullptr;
    float shown = 0;      // of the truth, 0..1
    bool open = true;     // the pencil can be moved
    bool by_hand = true;  // by somebody at the keys: not in front of a class, nor on paper
    lessons::Verdict verdict(size_t place) const {
        return score && place < score->verdicts.size() ? score->verdicts[place] : lessons::Verdict::none;
    }
};

struct SketchHand {          // what the picture remembers between frames
    int cursor = -1;         // place that the keys move at; -1: they were not used
    int grabbed = -1;        // that is dragged
    double paint = 1;        // what dragging over cells puts there
    int shift = -1;          // of a request that is moved along its words for play; -1: it stands where the run had it
    std::vector<int> found;  // sectors by that shift, so far as they were tried; -1: not yet
    std::string typed;       // of a number
};

struct SketchPicture {
    std::string_view kind;
    void (*draw)(Ui& ui, const SketchScene& scene, lessons::Sketch& pencil, SketchHand& hand, const Rect& area);
    // True: the key was the picture's.
    bool (*key)(const SketchScene& scene, lessons::Sketch& pencil, SketchHand& hand, const KeyPress& key);
    bool high = false;  // it uses what height there is; else the source gets more
    // What follows from what was put, under its count; null: which places are open still.
    std::string (*follows)(const lessons::SketchBoard& board, const lessons::Sketch& pencil, double put) = nullptr;
    bool bare = false;  // no source and no table stand above it: it is the source itself, or needs all the room
};
std::span<const SketchPicture> sketch_pictures();
const SketchPicture* sketch_picture(std::string_view kind);

// A file each.
SketchPicture sectors_picture();
SketchPicture lanes_picture();
SketchPicture banks_picture();
SketchPicture bar_picture();
SketchPicture typed_picture();
SketchPicture curve_picture();
SketchPicture dot_picture();
SketchPicture shares_picture();
SketchPicture blocks_picture();
SketchPicture order_picture();
SketchPicture barrier_picture();
SketchPicture elements_picture();

// Where the sectors of a request stand, and the words and lanes above them.
struct SectorPlaces {
    SectorPlaces(const Rect& area, size_t sectors, bool ghost);
    Rect lane(int lane) const;
    Rect word(size_t word) const;
    Rect sector(size_t sector) const;
    Rect ghost(size_t sector) const;
    float pitch, line_gap, lane_pitch, x, lanes_y, words_y, sectors_y, sector_h, ghost_y;
};
// A request of neighbouring words, moved so that it begins at that word: its lanes' words and the sectors that it touches.
// Nothing: its words are no neighbours, so that moving it is another question.
std::optional<lessons::SketchTruth> moved_request(const lessons::SketchTruth& truth, int first_word);
constexpr int most_shift = 8;
Rect lane_cell(const Rect& area, int lane);
Rect bank_column(const Rect& area, int bank);  // of the chart of words on banks
Rect bar_row(const Rect& area, size_t rows, size_t row);
float bar_end(const Rect& row, const lessons::SketchAxis& axis, double value);  // x of a value
double bar_value(const Rect& row, const lessons::SketchAxis& axis, float x);    // snapped
double snapped(const lessons::SketchAxis& axis, double value);
Rect order_slot(const Rect& area, size_t count, size_t place);
Rect code_line(const Rect& area, size_t lines, size_t line);  // of the source that takes a barrier
Rect element_cell(const Rect& area, const lessons::SketchBoard& board, size_t place);
Rect block_cell(const Rect& area, const lessons::SketchBoard& board, double place);

struct ArrowStep {
    int across = 0, up = 0;  // 1: right, up; -1: left, down
};
ArrowStep arrow_step(const KeyPress& key);  // zeros: it is no arrow

// The pencil: strokes with a jitter that hangs on `seed` alone, so that a stroke stays as it was drawn.
std::vector<std::pair<Point, Point>> pencil_strokes(const Rect& box, uint32_t seed, float pitch = 8);
void draw_pencil(Ui& ui, const Rect& box, uint32_t seed, float pitch = 8);
// The edge of what differs, and its word in a box; a tick where both agree. `shown` fades them in.
void draw_verdict(Ui& ui, const Rect& box, lessons::Verdict verdict, float shown, std::string_view note = {});
void draw_word(Ui& ui, Point centre, std::string_view word, Color ink, Color ground, float size = 14);
std::string_view word_of(lessons::Verdict verdict);  // "missed", "spare", "too little"

// What its truth is: a run's numbers, a model's of a machine, or a formula's.
Provenance sketch_badge(const LessonState& state);
// All that is said of it as text: the board, the pencil, and after the lock the difference.
std::string sketch_text(const LessonState& state);
// What follows from the pencil, under its count: "4 x 32 B = 128 B would move".
std::string follows_text(const lessons::SketchBoard& board, const lessons::Sketch& pencil);
std::string put_text(const lessons::SketchBoard& board, const lessons::Sketch& pencil);  // "4", "?"

// The lesson panel's card of a sketch; returns where it ends. `hint`: whether a hint was asked for.
float draw_sketch_card(Ui& ui, Session& session, const lessons::Predict& predict, LessonState::Prediction& given,
                       size_t index, float x, float w, float y);

}  // namespace lockstep::gui
