// Text that is being edited: lines of UTF-8, a caret and a selection, undo and redo. It knows no window and draws nothing
// (text_editor.h does). A Place is a line and a byte offset in it, always at the beginning of a code point; every function
// that takes one clamps it. All edits go through replace(), so that undo() is its mirror image.
#pragma once
#include <compare>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::gui {

struct Place {
    size_t line = 0, column = 0;
    auto operator<=>(const Place&) const = default;
};

enum class Motion : uint8_t {
    left,
    right,
    up,
    down,
    word_left,
    word_right,
    line_begin,  // first to the indentation's end, then to the line's
    line_end,
    page_up,
    page_down,
    text_begin,
    text_end
};

class TextBuffer {
  public:
    static constexpr size_t largest = size_t{4} << 20;  // bytes; what goes beyond is not inserted
    static constexpr int tab_stop = 4;

    // Replaces everything and forgets what could be undone. Line ends become \n; bytes that are no UTF-8 become '?'.
    void set_text(std::string_view text);
    std::string text() const;
    const std::vector<std::string>& lines() const { return lines_; }
    uint64_t version() const { return version_; }  // another one after every change

    Place caret() const { return caret_; }
    Place anchor() const { return anchor_; }  // the other end of the selection
    bool has_selection() const { return caret_ != anchor_; }
    Place selection_begin() const { return caret_ < anchor_ ? caret_ : anchor_; }
    Place selection_end() const { return caret_ < anchor_ ? anchor_ : caret_; }
    std::string selected_text() const;
    void place(Place at, bool select = false);
    void move(Motion motion, bool select = false, size_t page = 20);
    void select_all();
    void select_word(Place at);
    void select_line(size_t line);

    // Edits; each replaces the selection.
    void type(std::string_view text);  // what is typed in one go is undone in one go
    void insert(std::string_view text);
    void new_line();            // indented as the line above; deeper after an opening brace
    void backspace(bool word);  // in the indentation: to the last tab stop
    void erase(bool word);
    void indent(bool back);  // the selected lines, or spaces at the caret
    bool undo();
    bool redo();
    // Selects the next occurrence after the selection (before it when `back`), around the end. False: there is none.
    bool find(std::string_view needle, bool back = false, bool whole_case = false);
    // Where `needle` stands, in the order of the text, none within another. No more than the first `most`.
    std::vector<Place> all_of(std::string_view needle, size_t most = 10'000) const;
    bool replace_found(std::string_view needle,
                       std::string_view by);  // the selection, where it is the needle; then finds on
    size_t replace_all(std::string_view needle, std::string_view by);  // how many; undone in one go

    // Columns as they are drawn: a code point is one cell, a tab goes to the next stop.
    size_t cells_before(Place at) const;
    size_t column_of_cell(size_t line, size_t cell) const;  // byte offset of the code point nearest to the cell
    // The first line that changed since the last call; SIZE_MAX: none.
    size_t take_changed();

  private:
    struct Edit {
        Place at;
        std::string removed, inserted;
        Place caret_before, anchor_before, caret_after;
        bool joins = false;  // belongs to the edit before it
    };
    void replace(Place from, Place to, std::string_view text, bool joins = false);
    Place put(Place from, Place to, std::string_view text);  // the bare change; returns where the text ends
    std::string between(Place from, Place to) const;
    Place clamped(Place at) const;
    Place stepped(Place at, int way) const;
    Place word_end(Place at, int way) const;

    std::vector<std::string> lines_{std::string()};
    Place caret_, anchor_;
    size_t wanted_cell_ = SIZE_MAX;  // of up and down
    uint64_t version_ = 1;
    size_t changed_ = 0, bytes_ = 0;
    std::deque<Edit> undo_, redo_;
    size_t undo_bytes_ = 0;
    bool typing_ = false;
};

std::string utf8_of(char32_t character);
// How many cells a letter takes where all others have one width: those of East Asia and emoji two, as in a terminal.
int cells_of(uint32_t code);
size_t cells_at(std::string_view text, size_t at);  // of the letter that begins there
std::string valid_utf8(std::string_view text);      // bad bytes become '?'
size_t make_utf8(std::string& text);                // bytes that are not UTF-8 become Latin-1's letters; how many they were

}  // namespace lockstep::gui
