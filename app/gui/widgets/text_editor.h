// A code editor: line numbers, colours, a margin for messages, selection by mouse and keyboard, clipboard, undo and redo,
// find. Only the lines in view are drawn. Escape leaves it (Tab indents while it has the keyboard).
// The same machinery edits one line in Ui fields: text_field().
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/gui/widgets/code_colours.h"
#include "app/gui/widgets/draw.h"
#include "app/gui/widgets/text_buffer.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

struct LineMark {      // a message about a line
    int32_t line = 0;  // from 1
    Severity severity = Severity::error;
    std::string message;
    int32_t column = 0;  // from 1: what is meant begins there; 0: the line
};

struct LineNote {  // what a run says of a line, at its right end
    int32_t line = 0;
    std::string text;
    bool warns = false;
    std::string tip = {};  // more of it, for whoever points there
};

struct CodeBand {  // lines that belong together: where they run
    int32_t first = 0, last = 0;
    bool on_device = false;
};

struct EditorLook {
    bool ptx = false;
    bool program = false;  // a host or tensor program: "#" begins a comment
    std::span<const LineMark> marks = {};
    std::span<const LineNote> notes = {};   // by line
    std::span<const CodeBand> bands = {};   // by line
    int32_t line = -1;                      // from 1, highlighted: where the run stands
    int32_t faulty = -1;                    // from 1: a line that a report names
    bool stale = false;                     // the run's text was another one: its line is drawn faintly
    std::string_view hint = {};             // shown while there is no text
    std::span<const LineNote> inlays = {};  // by line: in a box behind the line's text
    float gutter = 0;                       // left of the numbers, for what this draws there
    std::function<void(Ui&, const Rect& row, int32_t line)> paint_gutter = {};
};

struct KeyPress;

class TextEditor {
  public:
    TextBuffer buffer;

    // Draws into `area` and takes the keyboard while it has it. True: the text is another one than before.
    bool draw(Ui& ui, const Rect& area, const EditorLook& look);
    void open(std::string_view text);                 // a new text, at its beginning
    void go_to(int32_t line, int32_t column = 0);     // from 1; in view, without taking the keyboard
    void reveal(int32_t line);                        // from 1; in view, the caret stays where it is
    void take_keyboard() { wants_keyboard_ = true; }  // in the next frame
    void open_find(bool replacing = false);
    bool has_keyboard() const { return has_keyboard_; }
    int32_t clicked_line = -1;  // from 1: whose number was clicked in this frame
    size_t lines_in_view() const { return rows_; }

  private:
    bool keys(Ui& ui);
    void mouse(Ui& ui, const Rect& text, float glyph);
    void paint_line(Ui& ui, const Rect& text, float glyph, size_t line, float y, const EditorLook& look, size_t cells);
    void paint_selection(Ui& ui, const Rect& text, float glyph, size_t line, float y) const;
    void find_bar(Ui& ui, const Rect& area);
    void replace_bar(Ui& ui, const Rect& area);
    void look_for_all();
    void paint_found(Ui& ui, const Rect& text, float glyph, size_t line, float y) const;
    void colour(const EditorLook& look, size_t until);
    void react(Ui& ui, const Rect& area, const Rect& text, float glyph);
    bool find_key(const KeyPress& key);
    void click(Ui& ui, Place at, bool again);
    void scroll_bar(Ui& ui, const Rect& area, float lines, float rows);
    void paint_number(Ui& ui, const Rect& row, float right, int32_t number, const EditorLook& look) const;
    void paint_band(Ui& ui, const Rect& row, float text_x, int32_t number, const EditorLook& look) const;
    float paint_note(Ui& ui, const Rect& row, int32_t number, const EditorLook& look) const;  // its width
    float room_for_inlay(Ui& ui, const Rect& text, float glyph, int32_t number, const EditorLook& look) const;
    void paint_inlay(Ui& ui, const Rect& text, float glyph, float y, float right, int32_t number,
                     const EditorLook& look) const;
    void paint_mark(Ui& ui, const Rect& row, float text_x, float glyph, const LineMark& mark) const;
    void show_caret(size_t rows, size_t cells);

    float top_ = 0;    // lines above the view, a fraction while the wheel turns
    size_t left_ = 0;  // cells left of the view
    size_t rows_ = 20, cells_ = 80;
    bool follow_ = false, wants_keyboard_ = false, has_keyboard_ = false, finding_ = false, find_keyboard_ = false;
    bool found_ = true, ptx_ = false, program_ = false, replacing_ = false;
    std::string needle_, by_, told_;  // looked for; put there instead; what a replacement did
    std::vector<Place> all_;          // where the needle stands, and of which text that is known
    std::string all_of_;
    uint64_t all_version_ = 0;
    std::vector<uint8_t> states_;  // comment state before each line, as far as known
    std::vector<ColouredWord> words_;
    int clicks_ = 0;
    double last_click_ = -1;
    Place last_place_;
};

// One line of text in a box 26 high. True: it changed. `wrong`: drawn in the colour of mistakes. `submitted` becomes true
// on Enter. A field that gets the keyboard selects all of its text.
struct FieldLook {
    std::string_view hint = {};
    bool wrong = false;
    bool mono = true;
    bool able = true;
    bool tab = false;  // Tab is left in typed_keys instead of going to the next control
    bool* submitted = nullptr;
    bool* has_keyboard = nullptr;
    bool* escaped = nullptr;  // becomes true on Escape
    bool take_keyboard = false;
};
bool text_field(Ui& ui, std::string_view id, const Rect& rect, std::string& value, const FieldLook& look = {});

}  // namespace lockstep::gui
