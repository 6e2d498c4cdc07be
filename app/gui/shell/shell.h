// The frame of the app: top bar, problem strip, the workspace's panels, transport bar, menus and help. It knows no
// window: a backend calls frame() inside an ImGui frame and renders the draw data. shell.cpp: the frame; shell_keys.cpp,
// shell_body.cpp, shell_follow.cpp, shell_remembered.cpp, top_bar.cpp, transport.cpp, overlays.cpp, presenter.cpp: its
// parts.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/desk/remembered.h"
#include "app/gui/input.h"
#include "app/gui/run_file.h"
#include "app/gui/scenes.h"
#include "app/gui/shell/palette.h"
#include "app/gui/view.h"
#include "app/gui/widgets/fonts.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

inline constexpr float desk_margin = 8, transport_height = 56;  // around and between panels; of the bar below them
// In a low window, as with large text, the bar leaves the panels more.
constexpr float transport_height_in(float window) {
    return window < 420 ? 40 : transport_height;
}

struct BarPlan;
}  // namespace lockstep::gui

namespace lockstep::lessons {
struct Term;         // lessons/player/glossary/glossary.h
struct Certificate;  // lessons/player/certificate/certificate.h
}  // namespace lockstep::lessons

namespace lockstep::gui {

class Shell {
  public:
    Shell(Session& session, const Theme& theme, float text_scale);

    // Builds the fonts when the scale changed; true: the backend has to upload the atlas again. Outside an ImGui frame.
    bool prepare(float screen_scale);
    // One frame of `width` x `height` window pixels, between ImGui::NewFrame() and ImGui::Render().
    void frame(const Input& input, float width, float height, double now);
    // A frame is wanted although no event came: something moves.
    bool wants_frame() const { return state.animate || session.playing; }
    bool fullscreen = false;  // what the window should be; the backend follows
    bool still = false;       // the frame is a picture to take along: without tooltip and underlined words

    // Presenter mode: one step of the lesson and its picture, so large that the last row reads it, with keys of its own
    // on a strip below. No text is smaller than 20 pixels. What the class answers by hand is counted, not kept.
    struct Presenter {
        bool on = false, blank = false, notes = false;
        bool paper = false;                       // the picture alone, for a page that has the words
        bool words = false, one_of_both = false;  // which of words and picture, where a small window has room for one
        int notes_page = 0;                       // that is turned to, where they do not fit on one
        int noted_step = -1;                      // whose notes the terminal shows; -1: none
        struct Spot {
            Point at;
            double seconds = 0;
        };
        std::vector<Spot> trail;                                   // where the pointer moved, the newest last
        Point pointer{-1, -1};                                     // in the last frame
        std::shared_ptr<const lessons::Lesson> lesson;             // that the hands were counted in
        std::map<std::pair<int, size_t>, std::vector<int>> hands;  // by step and prediction: by answer
    } presenter;
    std::shared_ptr<const lessons::Certificate> certificate;  // instead of everything else: a page to be kept
    std::string certificate_name;
    std::function<void(const std::string&)> say_to_speaker;  // on a terminal or a second window; null: there is neither
    static constexpr float presenter_scale = 5.0f / 3;       // text size, at least

    std::string describe(std::string_view workspace_or_view);  // the views' facts as text; throws Failure
    bool show_alone(std::string_view view);                    // --view of one view; false: no such view
    void show_page(int page);                                  // of the workspace, from 0
    // What is remembered of this person, and taking over what was. `where`: with the workspace and the place in it.
    Remembered remembered() const;
    void recall(const Remembered& kept, bool where);
    std::unique_ptr<RememberedKeeper> keeper;  // null: nothing is kept (tests, pictures)
    // The desk's kernel is compiled and run at once, though another workspace shows it; one that does not compile is shown
    // in its own.
    void run_own();
    void open_palette(std::string begins_with = {});  // the search over everything
    // A run as one file: opened, and once it has run again one stands where its sender stood; saved, where one stands now.
    void open_run(const RunFile& run);
    RunFile run_on_show() const { return gui::run_on_show(session, focus, maximised_); }
    void save_run(const std::string& name);  // beside the document, else where the program was started; says where
    // The panel that has the keyboard as a picture, or the stretch in view as a film: asked for by a key, taken by whoever
    // draws frames (window/panel_picture.h).
    enum class PictureKind { none, png, svg, gif } wants_picture = PictureKind::none;
    struct PanelPlace {  // pixels; of a page and in presenter mode the whole window
        std::string name;
        float x = 0, y = 0, width = 0, height = 0;
    };
    PanelPlace panel_place() const;

    Session& session;
    Focus focus;
    const Theme* theme;
    float text_scale;
    UiState state;
    Fonts fonts;
    PanelShares panel_shares;                   // where splitters were moved to
    std::string motion;                         // "full", "reduced"; "": as the desktop says
    std::atomic<bool> desktop_is_calm = false;  // the desktop asks for less motion
    struct Window {                             // in the screen's coordinates; 0: there is none
        int width = 0, height = 0;
        bool whole_screen = false;  // it is maximised
    } window;

  private:
    friend struct PaletteLists;  // what the search lists may do all that the shell may
    enum class Menu { none, gpu, lesson, size, help, workspace, all, setting, palette, back };
    struct Shown {
        const ViewRow* row;
        std::unique_ptr<View> view;
        float scrolled = 0;  // where it is higher than its panel
    };

    void keys(const Input& input);
    bool goes_to_text(const KeyPress& key) const;
    bool kernel_key(const KeyPress& key);
    bool splitter_key(const KeyPress& key);
    void control_key(const KeyPress& key);
    void menu_key(const KeyPress& key);
    void plain_key(const KeyPress& key);
    bool sketch_key(const KeyPress& key);
    void escape_key();
    void arrow_key(const KeyPress& key, int way);
    void far_key(Key which, int way);
    void letter_key(const KeyPress& key);
    void next_panel(int way);
    bool opener_key(const KeyPress& key);
    void give_key(Key which);  // to the view that the pointer is in
    struct BarLabel {
        std::string text;
        Menu menu;  // none: it changes the theme
        std::string_view tip;
    };
    std::vector<BarLabel> bar_labels(const BarPlan& plan, const Snapshot& snapshot) const;
    const BarPlan& fitting_plan(Ui& ui, const Snapshot& snapshot) const;
    void top_bar(Ui& ui, const Snapshot& snapshot);
    float workspace_tab(Ui& ui, const BarPlan& plan, const WorkspaceRow& space, float x);
    float bar_chip(Ui& ui, const BarPlan& plan, const BarLabel& label, float right);
    void lesson_title(Ui& ui, const std::string& title, float left, float right);
    std::string gpu_on_show(const Snapshot& snapshot) const;  // "v100": that of the run that the pictures show
    void choose_gpu(const std::string& name);                 // what is on show runs again, on that one
    std::string shown_title(const Snapshot&snapshot) const, own_title(const Snapshot&snapshot) const;
    std::string older_run(const Snapshot& snapshot) const;
    // Why the training run fails, a sentence each with the step, the layer and what to change; `whole`: all that is known.
    static std::vector<std::string> told_causes(const Snapshot& snapshot, Workspace workspace, bool whole = true);
    bool awaits_step(const Snapshot& snapshot);                        // the pictures are still those of the step before
    float problem_strip(Ui& ui, const Snapshot& snapshot, float top);  // returns its height
    void bring_reports();
    void bring_pages(const std::vector<TabStrip>& strips);
    float no_kernel_strip(Ui& ui, const Snapshot& snapshot,
                          float top);  // the same; a step or a lesson that launched no kernel
    void say_older(Ui& ui, const Rect& where) const;
    float cause_strip(Ui& ui, const Snapshot& snapshot, float top);  // the same; why the training run on show fails
    float stale_strip(Ui& ui, const Snapshot& snapshot, float top);  // the same; the learner's last launch did not run
    void body(Ui& ui, const Rect& area);
    void rest_pointer(const Input& input);
    void give_keys(const Ui& ui, const std::vector<Placed>& panels, const std::vector<ScrolledPage>& pages);
    void split(Ui& ui, const Splitter& splitter);
    void cycle_field(Ui& ui, const Snapshot& snapshot, const Rect& box);
    void keep_remembered();
    void return_to_play_head();
    void follow_place();
    void follow_request_wish();
    void go_to_cycle(int64_t cycle);
    std::vector<std::string> tab_titles(const Ui& ui, const TabStrip& strip);
    void transport(Ui& ui, const Snapshot& snapshot, const Rect& bar);
    float transport_buttons(Ui& ui, const Snapshot& snapshot, const Rect& bar);
    void panel(Ui& ui, std::string_view name, const Rect& where);
    void scrolled_page(Ui& ui, const ScrolledPage& page, int number, const std::vector<Placed>& panels);
    void present(Ui& ui, const Snapshot& snapshot);
    bool presenter_key(const KeyPress& key);
    // Each draws its part of the room and returns what is left of it.
    Rect present_head(Ui& ui, const lessons::Predict* asked, const Rect& room);
    Rect present_tally(Ui& ui, size_t index, const Rect& room);
    Rect present_line(Ui& ui, const Snapshot& snapshot, const lessons::Predict& asked, const Rect& room);
    Rect present_prose(Ui& ui, const Rect& room);
    void present_picture(Ui& ui, const Snapshot& snapshot, const lessons::Predict* asked, const Rect& room);
    void present_source(Ui& ui, const std::string& source, int32_t line, const Rect& room);
    const lessons::Step& question_step() const;
    const lessons::Predict* presented_question() const;
    void laser(Ui& ui);
    void show_notes();
    void say_notes();
    void notes_on_picture(Ui& ui, const Rect& room, float foot);
    void count_hand(size_t open, size_t row, int by);
    void present_strip(Ui& ui, const Rect& strip);
    std::string_view presented_view() const;
    size_t open_prediction() const;  // of the step on show, the first; npos: none
    void turn_page(int way);
    void overlay(Ui& ui);
    void tooltip(Ui& ui);
    bool term_card(Ui& ui);                      // what a term means that is pointed at; false: none is
    void open_place(const lessons::Term& term);  // where it is seen
    void go_to_step(const std::string& lesson, int step);
    void go_back();                          // to the step that a word led away from
    std::pair<std::string, int> came_from_;  // that step, from 0; "": none did
    int gpu_menu(Ui& ui);                    // each draws its menu: which row was pressed, -1 none, -2 it closes
    int lesson_menu(Ui& ui);
    int size_menu(Ui& ui);
    int workspace_menu(Ui& ui);
    int menu_of_menus(Ui& ui, Menu& next);
    int help(Ui& ui);
    int setting_menu(Ui& ui);
    int more_settings_menu(Ui& ui);
    int palette_menu(Ui& ui);
    bool palette_key(const KeyPress& key);
    void choose_found(size_t index);
    void choose_workspace(Workspace chosen);
    void open_files(const std::vector<std::string>& files);
    void enter_workspace();
    void drive_home();
    void note_place(Remembered& kept) const;
    bool page_key(const KeyPress& key);
    void set_text_scale(float scale);
    void adopt(const std::shared_ptr<const Snapshot>& snapshot);  // a new kernel or step arrived: set the focus
    void bring_source();
    void adopt_source(const Snapshot& snapshot);
    void adopt_trace(const std::shared_ptr<const Snapshot>& snapshot);
    void adopt_kernel(const Snapshot& snapshot);
    void adopt_lesson_step(const Snapshot& snapshot);
    void adopt_roof(const Snapshot& snapshot);
    void look_anew(const Snapshot& snapshot);
    void look_at_own(const WarpTrack* before);
    void open_machine(const Snapshot& snapshot);
    void follow_wishes(const Snapshot& snapshot);
    void follow_line_wish(const Snapshot& snapshot);
    void follow_time(const Snapshot& snapshot);
    void fetch_trace(const Snapshot& snapshot);
    void ask_lanes(const Snapshot& snapshot);
    void ask_warp(const Snapshot& snapshot);
    int64_t busiest(const KernelTrace& trace);  // sets the focus; returns the first cycle, -1: all fit
    void reveal(const Snapshot& snapshot);
    void follow_answer(const Snapshot& snapshot, const lessons::Step& step, bool open);
    void follow_share(const Snapshot& snapshot, const lessons::Step& step, bool open);
    bool has_open_question(const Snapshot& snapshot, const lessons::Step& step, size_t at) const;
    void follow_jump(const Snapshot& snapshot);  // to the place that a report names
    void play(double now);
    Shown* shown(std::string_view name);

    std::vector<Shown> views_;
    Rect active_area_;  // of the panel that has the keyboard, layout units
    std::shared_ptr<const Snapshot> snapshot_;
    std::shared_ptr<const model::KernelRun> kernel_;
    std::map<std::string, float> page_scrolls_;  // of pages that scroll, by their ids
    std::map<std::string, int> tabs_;
    std::string maximised_;
    std::string alone_;  // the view that was asked for alone: it shows whatever run is there
    Menu menu_ = Menu::none;
    PaletteSearch palette_;
    float menu_x_ = 0, menu_y_ = 42;
    int menu_scroll_ = 0;                 // rows that the help is to be moved by
    int into_menu_ = 0;                   // frames until the row in use of the menu that Down opened has the keyboard
    int menu_row_ = 0;                    // that row
    uint32_t menu_from_ = 0;              // control that had the keyboard before
    float width_ = 1600, height_ = 1000;  // layout units
    double last_play_ = 0, now_ = 0;
    Focus asked_;  // the focus whose history was asked for
    struct {       // where clock, warp and step stood in the last frame
        std::shared_ptr<const model::KernelRun> run;
        int64_t time = -1, step = -1;
        int32_t warp = -1;
    } stood_;
    int64_t asked_step_ = -1;
    int64_t asked_cycle_ = -1;  // of the values; asked_time_: of the stretch
    int64_t asked_time_ = -1;
    int32_t asked_sm_ = -1;
    int reveal_step_ = -1, grain_step_ = -1;
    bool own_ = false;         // the kernel on show is the learner's own
    int32_t own_line_ = -1;    // where it was looked at last
    int64_t own_opened_ = -1;  // the cycle that one's own kernel opened at, until something moves the clock
    std::pair<int, const model::KernelRun*> shown_whole_;  // the step and the run whose shares were shown
    int open_step_ = -1;                                   // whose question is open, and the line that it is about
    int32_t asked_line_ = -1;
    int32_t line_wish_ = -1;              // where the scene opens, until the warp's history is there
    bool begin_wish_ = false;             // else it opens where its warp begins to work
    std::optional<Workspace> workspace_;  // of the last frame
    std::optional<Workspace> entered_;
    std::string_view brought_page_;                    // title of a tab that is to come to the front; empty: none
    std::shared_ptr<const KernelResult> reported_of_;  // whose reports were counted last, and what there was
    bool reported_errors_ = false;
    std::map<Workspace, Grain> grains_;  // what a step is there
    std::shared_ptr<const lessons::Lesson> grain_lesson_;
    std::shared_ptr<const simt::WarpHistory> reveal_history_;
    bool setting_open_ = false;
    struct PanelStop {  // where F6 comes to
        std::string view;
        size_t begin = 0;      // of its controls, in the ring
        uint32_t control = 0;  // the first of them; 0: it has none, and its view's own keys are what is left
    };
    std::vector<PanelStop> panel_stops_;                   // as drawn last
    std::shared_ptr<const model::KernelRun> before_step_;  // on show when the lesson went to a step of another scene
    double went_on_ = 0;                                   // when it did
    bool older_ = false;                                   // the run on show is older than what is on the desk
    bool asks_cycle_ = false, cycle_open_ = false;         // a cycle is typed in the transport
    std::string typed_cycle_, cycle_wrong_;
    std::string chosen_gpu_;  // by hand, for what no lesson and no document says
    struct PlaceWish {        // of a run that was opened
        RunPlace place;
        std::shared_ptr<const model::KernelRun> before = {};  // on show when it was opened
        Source source = Source::none;
        int64_t step = -1, launch = -1;  // of a training run
        bool asked_sm = false;
        int waited = 0;  // frames, for the warp's history
    };
    std::optional<PlaceWish> place_wish_;
    struct RequestWish {  // to be followed again, once the trace has it
        RunPlace::Request request;
        int waited = 0;  // frames
    };
    std::optional<RequestWish> request_wish_;
    std::optional<Remembered> play_head_;  // to go back to, once its kernel is there
    bool told_fonts_ = false;
    bool runs_own_ = false, stays_ = false;  // stays_: in the workspace that one is in, even if it does not compile
    struct Looked {                          // where the run of a source was looked at when another one came
        std::shared_ptr<const model::KernelRun> run;
        Focus focus;
        int64_t cycles_begin = 0, cycles_end = 0, history_step = 0;
        bool by_time = false;
        int tape_at = -1;
    };
    std::map<Source, Looked> looked_;
    Source source_ = Source::none;
    std::optional<Source> asked_source_;  // to be brought, and not there yet
    bool keyboard_ = false;               // the last input was Tab: show the keyboard focus
    Point pointer_{-1e6f, -1e6f};         // in the last frame
    Point tip_pointer_{-1e6f, -1e6f};     // where the pointer was when it moved last, and when
    double tip_moved_at_ = 0;
    bool tip_away_ = false;  // a key, a click or the wheel took the tooltip away, until the pointer moves
};

// One move of the transport. `way` is -1 or +1; far: to the first or last.
void move(Session& session, Focus& focus, const Snapshot& snapshot, Grain grain, int way, bool far = false);
// The next power of ten of the speed that it plays at: 1 to 10^9 cycles a second, or instructions.
void change_speed(Session& session, int way);
// Cycles of the kernel that may be seen: all, unless a prediction is open.
int64_t cycles_shown(const Session& session, const Focus& focus, const Snapshot& snapshot);
// The line of the scene's kernel that a question is about; 0: none.
int line_asked(const lessons::Predict& predict);
// Where the transport stands, 0..1, and its two lines of text.
struct Position {
    double share = 0;
    std::string title, text;
    bool last = false;  // nothing comes after it
};
Position position_of(const Session& session, const Focus& focus, const Snapshot& snapshot);
// The grains that the workspace has.
std::vector<Grain> grains_of(const Session& session, const Snapshot& snapshot);
std::string_view name_of(Grain grain);

}  // namespace lockstep::gui
