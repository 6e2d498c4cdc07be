// Keys: what the shell answers itself, and what it hands to the view that has the pointer or was used last.
#include <algorithm>
#include <cmath>

#include "app/gui/desk/work_file.h"
#include "app/gui/shell/shell.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/build/build_data.h"

namespace lockstep::gui {

namespace {

constexpr struct {
    KeyCode code;
    Key key;
} for_views[] = {{KeyCode::up, Key::up},
                 {KeyCode::down, Key::down},
                 {KeyCode::page_up, Key::page_up},
                 {KeyCode::page_down, Key::page_down},
                 {KeyCode::w, Key::w},
                 {KeyCode::a, Key::a},
                 {KeyCode::s, Key::s},
                 {KeyCode::d, Key::d},
                 {static_cast<KeyCode>('C'), Key::c},
                 {static_cast<KeyCode>('V'), Key::v},
                 {KeyCode::plus, Key::plus},
                 {static_cast<KeyCode>('='), Key::plus},  // the same key on many keyboards
                 {KeyCode::minus, Key::minus}};

bool is(const KeyPress& key, char sign) {
    return key.code == static_cast<KeyCode>(sign);
}

}  // namespace

void Shell::keys(const Input& input) {
    for (const KeyPress& key : input.keys) {
        if (menu_ == Menu::palette && palette_key(key))
            continue;
        else if (menu_ == Menu::none && goes_to_text(key))
            state.typed_keys.push_back(key);
        else if (key.character != 0)
            continue;
        else if (menu_ == Menu::none && presenter.on && presenter_key(key))
            continue;
        else if (menu_ == Menu::none && kernel_key(key))
            continue;
        else if (key.control)
            control_key(key);
        else if (menu_ != Menu::none)
            menu_key(key);
        else
            plain_key(key);
    }
    if (menu_ != Menu::none) std::fill(std::begin(state.keys), std::end(state.keys), false);
}

// While a text has the keyboard, all but F-keys, the text size and what leads out of a one-line field are its own.
bool Shell::goes_to_text(const KeyPress& key) const {
    if (!state.text_was_focused) return false;
    if (key.code == KeyCode::f1 || key.code == KeyCode::f11 || key.code == KeyCode::f5 || key.code == KeyCode::f6 ||
        key.code == KeyCode::f7 || key.code == KeyCode::f8)
        return false;
    if (key.code == KeyCode::tab && !state.text_takes_tab) return false;
    if (!key.control) return true;
    if (key.code == KeyCode::enter || is(key, 'S') || is(key, 'O') || is(key, 'K') || is(key, 'P')) return false;
    if (key.code == KeyCode::page_up || key.code == KeyCode::page_down) return session.desk.tabs().size() < 2;
    const bool digit = key.code >= KeyCode::zero && key.code <= static_cast<KeyCode>('9');
    return !is(key, '+') && !is(key, '=') && !is(key, '-') && !digit;
}

// The Kernel workspace's own commands.
bool Shell::kernel_key(const KeyPress& key) {
    if (session.workspace != Workspace::kernel) return false;
    if (key.code == KeyCode::f5 || (key.control && key.code == KeyCode::enter)) {
        if (key.shift)
            session.desk.cancel(session);
        else
            session.desk.run(session);
        return true;
    }
    if (key.code == KeyCode::f7) {
        ExerciseOnDesk known;
        const ExerciseOnDesk& found = exercise_on_desk(session, known);
        if (key.shift)
            session.post(ask::CancelCheck{});
        else if (found.open && found.exercise() != nullptr && snapshot_->checking.empty())
            check_exercise(session, found.step, found.index), brought_page_ = "Exercise";
        return true;
    }
    if (key.code == KeyCode::f8)
        return brought_page_ = "Reports", session.desk.wish = key.shift ? DeskWish::previous_report : DeskWish::next_report,
               true;
    if (!key.control) return false;
    if (key.code == KeyCode::page_up) return session.desk.next_tab(-1), true;
    if (key.code == KeyCode::page_down) return session.desk.next_tab(1), true;
    if (is(key, 'S')) return session.desk.wish = key.shift ? DeskWish::save_as : DeskWish::save, true;
    if (is(key, 'O')) return session.desk.wish = DeskWish::open, true;
    if (is(key, 'F') && !state.text_was_focused) return session.desk.wish = DeskWish::find, true;
    return false;
}

// Text size in steps of ten, and the rest that Ctrl does.
void Shell::control_key(const KeyPress& key) {
    if (is(key, 'K')) open_palette();
    if (is(key, 'R')) save_run(key.shift ? ".html" : "");
    if (is(key, 'G')) wants_picture = PictureKind::gif;
    if (is(key, 'P')) wants_picture = key.shift ? PictureKind::svg : PictureKind::png;
    if (is(key, '+') || is(key, '=')) set_text_scale(std::floor(text_scale * 10 + 1.01f) / 10);
    if (is(key, '-')) set_text_scale(std::ceil(text_scale * 10 - 1.01f) / 10);
    if (is(key, '0')) set_text_scale(1);
    // In text fields and open sketches, which take digits for themselves, too.
    for (size_t i = 0; i < std::size(workspaces); ++i)
        if (is(key, static_cast<char>('1' + i))) choose_workspace(static_cast<Workspace>(i));
    if (is(key, 'Z') && session.workspace == Workspace::build) session.build.undo(session);
}

static int rows_moved(KeyCode code) {  // by a key in a menu
    switch (code) {
        case KeyCode::down:
            return 1;
        case KeyCode::page_down:
            return 8;
        case KeyCode::up:
            return -1;
        case KeyCode::page_up:
            return -8;
        default:
            return 0;
    }
}

void Shell::menu_key(const KeyPress& key) {
    keyboard_ = true;
    if (key.code == KeyCode::escape || key.code == KeyCode::f1) menu_ = Menu::none;
    if (key.code == KeyCode::tab) state.move_focus(key.shift ? -1 : 1);
    const int rows = rows_moved(key.code);
    if (rows != 0 && menu_ == Menu::help) menu_scroll_ += rows;
    if (rows != 0 && menu_ != Menu::help) state.move_focus(rows < 0 ? -1 : 1);
    if (key.code == KeyCode::enter || key.code == KeyCode::space) {
        if (menu_ == Menu::help) menu_ = Menu::none;
        state.activate = menu_ != Menu::none;
    }
    if (key.code == KeyCode::f11) fullscreen = !fullscreen;
}

void Shell::escape_key() {
    if (state.focused != 0)
        state.focused = 0;
    else if (!came_from_.first.empty() && (session.workspace == Workspace::learn || !alone_.empty()))
        go_back();
    else if (!maximised_.empty())
        maximised_.clear();
    else if (snapshot_->problem)
        session.post(ask::Dismiss{});
    else if (session.workspace == Workspace::machine && session.machine.tour >= 0)
        session.machine.tour = -1;
    else if (session.workspace == Workspace::machine && session.build.inside && session.machine.wanted <= 3)
        choose_workspace(Workspace::build);  // from where it was entered
    else if (session.workspace == Workspace::machine)
        session.machine.wanted = std::ceil(session.machine.wanted) - 1;
}

// A splitter that has the keyboard moves by arrows, with Shift further.
bool Shell::splitter_key(const KeyPress& key) {
    if (!state.splitter_was_focused) return false;
    const float far = key.shift ? 96 : 16;
    switch (key.code) {
        case KeyCode::left:
            return state.splitter_push.x -= far, true;
        case KeyCode::right:
            return state.splitter_push.x += far, true;
        case KeyCode::up:
            return state.splitter_push.y -= far, true;
        case KeyCode::down:
            return state.splitter_push.y += far, true;
        default:
            return false;
    }
}

// A step back or forward; with Shift by the next larger grain. Where no clock can be stepped (rows of plans, a picture
// without a run) the arrows are the view's, as A and D are.
void Shell::arrow_key(const KeyPress& key, int way) {
    if (state.slider_was_focused) {
        state.large_steps = key.shift;
        return give_key(way < 0 ? Key::left : Key::right);
    }
    const std::vector<Grain> grains = grains_of(session, *snapshot_);
    const bool of_kernel = session.grain == Grain::cycle || session.grain == Grain::instruction;
    const bool no_kernel = session.workspace == Workspace::learn && of_kernel && trace_of(*snapshot_) == nullptr;
    if (grains.empty() || no_kernel) return give_key(way < 0 ? Key::a : Key::d);
    auto at = std::find(grains.begin(), grains.end(), session.grain);
    if (key.shift && at != grains.end() && at + 1 != grains.end()) ++at;
    session.playing = false;
    move(session, focus, *snapshot_, at == grains.end() ? session.grain : *at, way);
}

// To the beginning or the end.
void Shell::far_key(Key which, int way) {
    give_key(which);
    if (state.slider_was_focused) return;
    if (way < 0) session.sm.cycles_begin = session.sm.cycles_end = 0;
    move(session, focus, *snapshot_, session.grain, way, true);
}

void Shell::give_key(Key which) {
    state.keys[static_cast<size_t>(which)] = true;
}

// While a sketch is open it takes the keys that paint and move in it; Enter and the arrows not while a control has the
// focus.
bool Shell::sketch_key(const KeyPress& key) {
    if (session.workspace != Workspace::learn || presenter.on || !sketch_is_open(session.lesson)) return false;
    const bool sign = (key.code >= KeyCode::zero && key.code <= static_cast<KeyCode>('9')) || is(key, '.') ||
                      key.code == KeyCode::backspace || key.code == KeyCode::delete_;
    const bool move = key.code == KeyCode::left || key.code == KeyCode::right || key.code == KeyCode::up ||
                      key.code == KeyCode::down || key.code == KeyCode::enter;
    if (!sign && !(move && state.focused == 0)) return false;
    state.sketch_keys.push_back(key);
    return true;
}

// On a page, which has no clock to be stepped, the arrows go from one thing to the next.
bool Shell::page_key(const KeyPress& key) {
    if (!row_of(session.workspace).page) return false;
    if (is(key, 'G')) return true;
    switch (key.code) {
        case KeyCode::left:
        case KeyCode::up:
            return keyboard_ = true, state.move_focus(-1), true;
        case KeyCode::right:
        case KeyCode::down:
            return keyboard_ = true, state.move_focus(1), true;
        case KeyCode::home:
        case KeyCode::end:
            return true;
        default:
            return false;
    }
}

// As in any form: Down on what has a menu opens it, and goes to its row in use.
bool Shell::opener_key(const KeyPress& key) {
    if (key.code != KeyCode::down || !state.opener_was_focused) return false;
    keyboard_ = state.activate = true;
    into_menu_ = 2;
    return true;
}

void Shell::plain_key(const KeyPress& key) {
    if (splitter_key(key) || opener_key(key)) return;
    if (sketch_key(key)) return;
    if (page_key(key)) return;
    switch (key.code) {
        case KeyCode::escape:
            return escape_key();
        case KeyCode::f1:
            menu_ = Menu::help;
            return;
        case KeyCode::f11:
            presenter.on = fullscreen = true;
            return;
        case KeyCode::tab:
            keyboard_ = true;
            state.move_focus(key.shift ? -1 : 1);
            return;
        case KeyCode::f6:
            return next_panel(key.shift ? -1 : 1);
        case KeyCode::enter:
            if (state.focused == 0) return give_key(Key::enter);
            state.activate = true;
            return;
        case KeyCode::space:
            if (keyboard_ && state.focused != 0)
                state.activate = true;
            else
                session.playing = !session.playing, last_play_ = 0;
            return;
        case KeyCode::left:
            return arrow_key(key, -1);
        case KeyCode::right:
            return arrow_key(key, 1);
        case KeyCode::home:
            return far_key(Key::home, -1);
        case KeyCode::end:
            return far_key(Key::end, 1);
        default:
            return letter_key(key);
    }
}

// To the first control of the next panel, or of the one before; into one without controls as its keys go there.
void Shell::next_panel(int way) {
    const auto& ring = state.last_ring;
    const auto count = static_cast<int>(panel_stops_.size());
    if (count == 0) return;
    int here = -1;  // none yet
    if (state.focused == 0 && keyboard_) {
        const auto on = std::ranges::find(panel_stops_, state.active_view, &PanelStop::view);
        here = on == panel_stops_.end() ? -1 : static_cast<int>(on - panel_stops_.begin());
    } else if (const auto found = std::ranges::find(ring, state.focused); state.focused != 0 && found != ring.end()) {
        const auto at = static_cast<size_t>(found - ring.begin());
        for (int i = 0; i < count; ++i) {
            const PanelStop& stop = panel_stops_[static_cast<size_t>(i)];
            if (stop.control != 0 && stop.begin <= at) here = i;
        }
    }
    const int wanted = here < 0 ? (way > 0 ? 0 : count - 1) : (here + way + count) % count;
    const PanelStop& stop = panel_stops_[static_cast<size_t>(wanted)];
    keyboard_ = true;
    state.focused = stop.control;
    state.focus_moved = stop.control != 0;
    state.active_view = stop.view;
}

void Shell::letter_key(const KeyPress& key) {
    if (session.workspace == Workspace::build && is(key, 'C')) return compare_next(session.build);
    for (const auto& row : for_views)
        if (row.code == key.code) return give_key(row.key);
    for (size_t i = 0; i < std::size(workspaces); ++i)
        if (is(key, static_cast<char>('1' + i))) choose_workspace(static_cast<Workspace>(i));
    const int other_sm = is(key, ']') ? 1 : is(key, '[') ? -1 : 0;
    if (session.workspace == Workspace::build) {
        if (is(key, 'Y')) take_next(session, *snapshot_);
        if (is(key, 'H')) next_hint(session.build);
        const auto sms = static_cast<int32_t>(std::max<uint32_t>(1, session.build.gpu().sms));
        session.build.sm = std::clamp(session.build.sm + other_sm, 0, sms - 1);
    } else if (other_sm != 0 && snapshot_->kernel.run && session.workspace != Workspace::training) {
        const auto sms = static_cast<int32_t>(std::max<uint32_t>(1, snapshot_->kernel.run->gpu.sms));
        focus.sm = std::clamp(focus.sm + other_sm, 0, sms - 1);  // its trace follows
    }
    if (session.workspace == Workspace::kernel && is(key, 'H')) session.desk.shows_heat = !session.desk.shows_heat;
    if (session.workspace == Workspace::kernel && is(key, 'I')) session.desk.shows_values = !session.desk.shows_values;
    if (session.workspace == Workspace::kernel && is(key, 'X')) session.desk.swaps_runs = !session.desk.swaps_runs;
    if (session.workspace == Workspace::kernel && is(key, 'Y'))
        if (const std::string what_if = what_to_try(snapshot_->kernel); !what_if.empty())
            session.post(ask::TryWhatIf{what_if});
    if (is(key, 'T')) theme = &next_theme(*theme);
    if (is(key, ',')) change_speed(session, -1);
    if (is(key, '.')) change_speed(session, 1);
    if (is(key, 'G')) asks_cycle_ = true;
}

}  // namespace lockstep::gui
