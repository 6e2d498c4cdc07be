// What the controls remember from frame to frame, and this frame's input. The shell fills it; Ui's functions use it.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/input.h"
#include "app/gui/widgets/draw.h"
#include "app/gui/widgets/text_buffer.h"

namespace lockstep::gui {

using TextureId = uint64_t;
class Svg;

struct UiState {
    // This frame's input, in layout units. A control that uses a press takes it.
    bool mouse_clicked = false, mouse_double = false, mouse_down = false, mouse_released = false;
    float wheel = 0;
    bool keys[static_cast<size_t>(Key::count)] = {};
    bool activate = false;  // Enter or Space for the control that has the keyboard

    // Keyboard focus: every focusable control of the frame in drawing order.
    std::vector<uint32_t> ring, last_ring;
    std::vector<uint32_t> words_in_ring;  // of them those that are terms of the glossary, and no controls
    uint32_t focused = 0;
    bool focus_moved = false;  // by Tab, in this frame: what scrolls brings the control into view
    struct Scrolled {
        uint32_t id = 0;
        Rect view;
        float offset = 0;
        size_t depth = 0;  // of the scope that it is of
    };
    std::vector<Scrolled> scrolled;                               // what is drawn now stands in these, the innermost last
    bool slider_focused = false, slider_was_focused = false;      // arrows belong to it
    bool opener_focused = false, opener_was_focused = false;      // Down opens its menu
    bool splitter_focused = false, splitter_was_focused = false;  // likewise, and go into splitter_push
    Point splitter_push;                                          // by this frame's arrows, layout units
    enum class Cursor : uint8_t { arrow, resize_x, resize_y } cursor = Cursor::arrow;  // what the pointer looks like
    bool calm = false;  // reduced motion was asked for: what only decorates does not move, what travels arrives at once
    std::vector<uint32_t> scopes;

    // Typing: while a text control has the keyboard, the shell hands it keys and characters instead of taking them as
    // commands; what the control does not know stays in typed_keys. All but F-keys and the text size go there.
    bool text_focused = false, text_was_focused = false, text_takes_tab = false;
    std::vector<KeyPress> typed_keys;
    std::vector<KeyPress> sketch_keys;  // of this frame, for the sketch that is open: digits, arrows, Enter, Backspace
    bool mouse_shift = false;
    uint32_t field_id = 0;  // the one-line field that has the keyboard, and its text
    TextBuffer field;
    bool field_to_end = false;               // the field's caret goes behind its text instead of selecting it
    std::function<std::string()> clipboard;  // empty: there is none (tests, pictures)
    std::function<void(const std::string&)> set_clipboard;

    uint32_t dragging = 0;
    Point drag_from, drag_last;
    std::map<uint32_t, float> scroll, scroll_wish;
    // Room that a panel keeps for its caption: what it needed most since the scene began, so that stepping moves nothing.
    struct CaptionRoom {
        float width = 0, height = 0;
        uint64_t scene = 0;
    };
    std::map<uint32_t, CaptionRoom> caption_rooms;
    uint64_t scene = 0;                   // counts kernels and lesson steps that came into view
    std::string no_kernel_because;        // why no kernel is on show, where its launch was refused; "": none has run
    std::string_view no_kernel_hint;      // where its launch is
    std::string active_view, drawn_view;  // whose panel the keys go to; whose is being drawn
    bool large_steps = false;             // Shift is held with this frame's arrow: sliders go further
    std::string tooltip;
    // Terms of the glossary in prose and captions: who finds them (empty: nobody does), and which one the pointer is on or
    // has the keyboard.
    struct TermSpan {
        size_t begin = 0, end = 0;  // bytes of the text
        int term = -1;
    };
    std::function<std::vector<TermSpan>(std::string_view text)> find_terms;
    struct PointedTerm {
        int term = -1;
        Rect at;               // where it stands
        bool pressed = false;  // it is to be opened
        bool by_key = false;   // it has the keyboard
    } term;
    bool animate = false;
    uint64_t frame = 0;

    // Pictures. Without a renderer (tests) `upload` is empty and nothing is drawn.
    struct Picture {
        uint64_t version = ~uint64_t{0};
        int w = 0, h = 0;
        TextureId texture = 0;
        uint64_t used = 0;  // frame
    };
    std::map<uint32_t, Picture> pictures;
    std::function<TextureId(TextureId old, int w, int h, const Color* pixels)> upload;
    std::function<void(TextureId)> remove;

    // What is written in a frame and what is painted over it, in pixels: tests look for text that clashes or is cut.
    struct Written {
        Rect ink, clip;
        std::string text;
        float size = 0;             // em, pixels
        float opacity = 1;          // below 1: it was made fainter
        bool shortened = false;     // by an ellipsis
        bool painted_over = false;  // in part: what is wholly painted over is taken back
    };
    std::vector<Written>* written = nullptr;  // null: nothing is noted

    Svg* svg = nullptr;  // draws what Ui draws; null: nobody does (svg.h)

    uint32_t id_of(std::string_view name) const;  // within the open scopes
    void begin_frame();
    void end_frame();         // forgets pictures unused for 600 frames
    void move_focus(int by);  // Tab, Shift+Tab

  private:
    int left_at_ = -1;  // where in the ring the focused control stood that is gone; -1: none is
};

// What is drawn from here on, before its scroll() is called, stands in this view.
void scrolls(Ui& ui, std::string_view id, const Rect& view, float offset);
// The control that Tab came to may stand outside what its list shows: the list scrolls until all of `rect` is seen.
void bring_into_view(Ui& ui, const Rect& rect);

}  // namespace lockstep::gui
