// Home: three live tiles, where to go on, and the course as cards. home.cpp lays the page out; tile_machine.cpp,
// tile_own.cpp and tile_training.cpp draw what lives in the tiles; course.cpp the cards, thumbs.cpp their little pictures;
// home_facts.cpp says the same in words.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/gui/view.h"
#include "app/gui/views/machine/machine_scene.h"

namespace lockstep::gui {

struct HomeFrame {  // what a part of the page draws from, for one frame
    Ui& ui;
    Session& session;
    Focus& focus;
    const Snapshot& snapshot;
    Rect window;  // of the page: what lies outside is not drawn
    bool shows(const Rect& part) const { return part.bottom() > window.y && part.y < window.bottom(); }
};

// The kernel that runs in the first tile: a stretch of it, round and round.
struct HomeKernel {
    std::shared_ptr<const model::KernelRun> run;
    std::unique_ptr<MachineScene> scene;
    std::string label;
    int64_t begin = 0, end = 1;  // cycles that are played
    double clock = 0;            // cycle, with what has passed of it
    void adopt(const Session& session, const Snapshot& snapshot);
    void play(double seconds);
};
constexpr double home_cycles_a_second = 24;

void draw_machine_tile(const HomeFrame& frame, const HomeKernel& kernel, const Rect& area);
void draw_own_tile(const HomeFrame& frame, const Rect& area);
void draw_training_tile(const HomeFrame& frame, const Rect& area);

struct HomePlan {  // where everything stands
    int columns = 3;
    Rect head, tiles[3], go_on;
    struct Part {
        char letter = 'A';
        std::string_view title;
        std::vector<size_t> lessons = {};  // of the course
        size_t shown = 0;                  // of these, the first ones
        Rect head = {}, more = {};         // more: no height where all are shown
        std::vector<Rect> cards = {};
    };
    std::vector<Part> parts;
    float height = 0;
};
// `whole`: of part i all cards are shown. `area` has the page's width.
HomePlan plan_home(const Session& session, const Rect& area, const bool (&whole)[3]);
constexpr size_t cards_shown = 8;  // of a part, until more are asked for

// Text where there is room for a word of it at least.
inline void fit_text(Ui& ui, float x, float baseline, std::string_view text, const TextStyle& style) {
    if (style.width > 24) ui.text(x, baseline, text, style);
}
void draw_part(const HomeFrame& frame, const HomePlan::Part& part, bool& whole);
// An ornament for a lesson's card, 84 x 50.
void draw_thumb(Ui& ui, std::string_view lesson, const Rect& area);
void draw_progress(Ui& ui, Point centre, float radius, float width, double share);

// Where one goes on, and how it is said.
struct GoOn {
    Workspace workspace = Workspace::learn;
    std::string lesson = {};  // to be opened there; "": none
    int step = -1;            // from 0; -1: where it was left
    std::string label = "Continue", title = {}, detail = {};
    std::optional<LessonProgress> progress = {};
};
GoOn go_on_of(const Session& session);
void go_on(Session& session, const GoOn& where);
LessonProgress progress_of(const Session& session, const lessons::Lesson& lesson);  // of an open one as it stands now
std::string facts_of(const Session& session, const HomePlan::Part& part);           // "16 lessons, 4 h, 6 done"
std::string more_of(const Session& session, const HomePlan::Part& part);            // "8 more: A09 Shared memory ..."

// What each tile says below its picture.
struct TileText {
    std::string title, sentence;
};
TileText machine_text(const Snapshot& snapshot, const HomeKernel& kernel);
TileText own_text_of(const Session& session, const Snapshot& snapshot);
TileText training_text(const Snapshot& snapshot);

}  // namespace lockstep::gui
