// Keys first, then the pointer, then what is in view. Cells are one mono glyph wide; rows are 19 high.
#include "app/gui/widgets/text_editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

namespace {

constexpr float row_height = 19, text_size = 13, find_height = 36, replace_height = 32;
constexpr TextStyle mono{.size = text_size, .mono = true};

bool is(const KeyPress& key, char sign) {
    return key.code == static_cast<KeyCode>(sign);
}

// What moves the caret: by itself, and with Ctrl.
struct CaretKey {
    KeyCode code;
    Motion plain, with_control;
    bool between_lines = false;  // a field of one line has none
};
constexpr CaretKey caret_keys[] = {{KeyCode::left, Motion::left, Motion::word_left},
                                   {KeyCode::right, Motion::right, Motion::word_right},
                                   {KeyCode::home, Motion::line_begin, Motion::text_begin},
                                   {KeyCode::end, Motion::line_end, Motion::text_end},
                                   {KeyCode::up, Motion::up, Motion::up, true},
                                   {KeyCode::down, Motion::down, Motion::down, true},
                                   {KeyCode::page_up, Motion::page_up, Motion::page_up, true},
                                   {KeyCode::page_down, Motion::page_down, Motion::page_down, true}};

void copy_or_cut(TextBuffer& buffer, UiState& state, bool one_line, bool cut) {
    if (!buffer.has_selection() && !one_line) buffer.select_line(buffer.caret().line);  // nothing selected: the line
    if (buffer.has_selection() && state.set_clipboard) state.set_clipboard(buffer.selected_text());
    if (cut && buffer.has_selection()) buffer.insert("");
}

void paste(TextBuffer& buffer, const UiState& state, bool one_line) {
    std::string text = state.clipboard ? state.clipboard() : std::string();
    if (one_line) std::replace(text.begin(), text.end(), '\n', ' ');
    if (!text.empty()) buffer.insert(text);
}

bool control_key(TextBuffer& buffer, const KeyPress& key, UiState& state, bool one_line) {  // whether it was one
    if (is(key, 'A')) return buffer.select_all(), true;
    if (is(key, 'Z')) return key.shift ? buffer.redo() : buffer.undo(), true;
    if (is(key, 'Y')) return buffer.redo(), true;
    if (is(key, 'C') || is(key, 'X')) return copy_or_cut(buffer, state, one_line, is(key, 'X')), true;
    if (is(key, 'V')) return paste(buffer, state, one_line), true;
    return false;
}

// The keys that editor and field share. True: it was one of them.
bool edit_key(TextBuffer& buffer, const KeyPress& key, UiState& state, bool one_line, size_t page) {
    for (const CaretKey& row : caret_keys)
        if (key.code == row.code && !(one_line && row.between_lines)) {
            buffer.move(key.control ? row.with_control : row.plain, key.shift, page);
            return true;
        }
    if (key.code == KeyCode::backspace) return buffer.backspace(key.control), true;
    if (key.code == KeyCode::delete_) return buffer.erase(key.control), true;
    if (!key.control) return false;
    return control_key(buffer, key, state, one_line);
}

}  // namespace

void TextEditor::open(std::string_view text) {
    buffer.set_text(text);
    states_.clear();
    top_ = 0;
    left_ = 0;
    finding_ = false;
}

void TextEditor::go_to(int32_t line, int32_t column) {
    if (line < 1) return;
    buffer.place({static_cast<size_t>(line - 1), column > 0 ? static_cast<size_t>(column - 1) : 0});
    reveal(line);
}

void TextEditor::reveal(int32_t line) {
    if (line < 1) return;
    const auto at = static_cast<float>(line - 1), rows = static_cast<float>(rows_);
    if (at < top_ + 1 || at > top_ + rows - 3) top_ = std::max(0.0f, at - std::floor(rows / 3));
}

void TextEditor::open_find(bool replacing) {
    finding_ = find_keyboard_ = true;
    replacing_ = replacing;
    told_.clear();
    const std::string chosen = buffer.selected_text();
    if (!chosen.empty() && chosen.find('\n') == std::string::npos && chosen.size() < 100) needle_ = chosen;
    found_ = true;
}

bool TextEditor::draw(Ui& ui, const Rect& whole, const EditorLook& look) {
    ui.push_scope("text editor");
    const float bar = !finding_ ? 0 : replacing_ ? find_height + replace_height : find_height;
    const Rect area{whole.x, whole.y, whole.w, whole.h - bar};
    const float glyph = ui.text_width("0", mono);
    const size_t digits = std::max<size_t>(2, std::to_string(buffer.lines().size()).size());
    const float gutter = look.gutter + glyph * static_cast<float>(digits) + (look.gutter > 0 ? 26.0f : 34.0f);
    const Rect text{area.x + gutter, area.y + 4, area.w - gutter - 10, area.h - 8};
    rows_ = static_cast<size_t>(std::max(1.0f, std::floor(text.h / row_height)));
    cells_ = static_cast<size_t>(std::max(8.0f, std::floor(text.w / glyph)));

    const uint64_t before = buffer.version();
    react(ui, area, text, glyph);
    if (finding_) look_for_all();
    const auto lines = static_cast<float>(buffer.lines().size()), rows = static_cast<float>(rows_);

    if (ptx_ != look.ptx || program_ != look.program) states_.clear();
    ptx_ = look.ptx;
    program_ = look.program;
    ui.rect(area, ui.theme->code);
    ui.clip(area);
    const auto first = static_cast<size_t>(top_);
    colour(look, first + rows_ + 1);
    clicked_line = -1;
    for (size_t i = first; i < std::min(buffer.lines().size(), first + rows_ + 1); ++i) {
        const float y = text.y + static_cast<float>(i - first) * row_height;
        const auto number = static_cast<int32_t>(i) + 1;
        paint_band(ui, {area.x, y, area.w, row_height}, text.x, number, look);
        paint_number(ui, {area.x, y, area.w, row_height}, text.x - 12, number, look);
        const auto mark = std::find_if(look.marks.begin(), look.marks.end(),
                                       [&](const LineMark& candidate) { return candidate.line == number; });
        if (look.gutter > 0) look.paint_gutter(ui, {area.x + 8, y, look.gutter - 8, row_height}, number);
        if (mark != look.marks.end())
            paint_mark(ui, {area.x + look.gutter, y, area.w - look.gutter, row_height}, text.x, glyph, *mark);
        if (ui.clicked({area.x, y, gutter - 6, row_height})) clicked_line = number;
        const bool edited = has_keyboard_ && i == buffer.caret().line;  // then all of it is shown
        float noted = edited ? 0 : paint_note(ui, {area.x, y, area.w, row_height}, number, look);
        const float right = text.right() - noted;
        if (!edited && noted == 0) noted = room_for_inlay(ui, text, glyph, number, look);
        ui.clip({text.x - 2, area.y, text.w + 4, area.h});
        if (finding_) paint_found(ui, text, glyph, i, y);
        paint_selection(ui, text, glyph, i, y);
        paint_line(ui, text, glyph, i, y, look,
                   noted > 0 ? cells_ - std::min(cells_ - 4, static_cast<size_t>(noted / glyph) + 1) : cells_);
        if (!edited) paint_inlay(ui, text, glyph, y, right, number, look);
        ui.unclip();
    }
    if (clicked_line > 0) {  // what is typed next goes here
        buffer.place({static_cast<size_t>(clicked_line) - 1, 0});
        wants_keyboard_ = true;
    }
    ui.line({text.x - 6, area.y}, {text.x - 6, area.bottom()}, ui.theme->grid);
    const bool empty = buffer.lines().size() == 1 && buffer.lines()[0].empty();
    if (empty && !look.hint.empty())
        ui.text(text.x + 4, text.y + 14, look.hint, {.size = 13, .color = ui.theme->quiet, .width = text.w});
    ui.unclip();
    if (lines > rows) scroll_bar(ui, area, lines, rows);
    ui.frame(area, has_keyboard_ ? ui.theme->accent : ui.theme->line);
    if (finding_) find_bar(ui, {whole.x, area.bottom(), whole.w, bar});
    ui.pop_scope();
    return buffer.version() != before;
}

void TextEditor::react(Ui& ui, const Rect& area, const Rect& text, float glyph) {
    if (wants_keyboard_) ui.state->focused = ui.state->id_of("text");
    wants_keyboard_ = false;
    has_keyboard_ = ui.takes_text("text", true);
    if (has_keyboard_ && keys(ui)) follow_ = true;
    mouse(ui, text, glyph);
    if (const float turned = ui.wheel(area); turned != 0) top_ -= turned * 3;
    if (follow_) show_caret(rows_, cells_);
    follow_ = false;
    const auto lines = static_cast<float>(buffer.lines().size()), rows = static_cast<float>(rows_);
    top_ = std::floor(std::clamp(top_, 0.0f, std::max(0.0f, lines - rows + 2)));
}

void TextEditor::scroll_bar(Ui& ui, const Rect& area, float lines, float rows) {
    const float length = std::max(24.0f, area.h * rows / (lines + 1)), room = area.h - length, most = lines - rows + 2;
    const Rect bar{area.right() - 6, area.y + room * std::min(1.0f, top_ / most), 4, length};
    const Drag pulled = ui.drag("bar", {bar.x - 5, area.y, 12, area.h});
    if (pulled.active && room > 0) top_ = std::clamp((pulled.at.y - area.y - length / 2) / room, 0.0f, 1.0f) * most;
    ui.rect(bar, pulled.active ? ui.theme->ink2 : ui.theme->ink3, 2);
}

// A line's number, and what lies behind the line: whether it is on show or faulty.
void TextEditor::paint_number(Ui& ui, const Rect& row, float right, int32_t number, const EditorLook& look) const {
    const Theme& theme = *ui.theme;
    if (number == look.line) {
        ui.rect(row, look.stale ? theme.panel2 : theme.selected);
        ui.rect({row.x, row.y, 3, row.h}, look.stale ? theme.ink3 : theme.accent);
    }
    if (number == look.faulty) ui.frame({row.x + 1, row.y, row.w - 2, row.h}, theme.wrong);
    const bool caret_here = number == static_cast<int32_t>(buffer.caret().line) + 1 && has_keyboard_;
    ui.text(right, row.y + 14, std::to_string(number),
            {.size = 13,
             .color = caret_here || number == look.line ? theme.ink : theme.quiet,
             .align = Align::right,
             .mono = true});
}

// Where a line runs: green and whole on the device, grey and hatched on the host.
void TextEditor::paint_band(Ui& ui, const Rect& row, float text_x, int32_t number, const EditorLook& look) const {
    const auto band = std::find_if(look.bands.begin(), look.bands.end(),
                                   [&](const CodeBand& b) { return b.first <= number && number <= b.last; });
    if (band == look.bands.end()) return;
    const Theme& theme = *ui.theme;
    const Rect edge{row.x + 1, row.y, 5, row.h};
    if (band->on_device) {
        ui.rect({text_x - 5, row.y, row.right() - text_x + 4, row.h},
                mix(theme.code, data::green, theme.dark ? 0.13f : 0.09f));
        ui.rect(edge, data::green);
    } else {
        ui.rect(edge, mix(theme.code, data::grey, 0.35f));
        ui.hatch(edge, data::grey, Hatch::diagonal);
    }
}

float TextEditor::paint_note(Ui& ui, const Rect& row, int32_t number, const EditorLook& look) const {
    const Theme& theme = *ui.theme;
    std::string text;
    bool warns = false, names_band = false, on_device = false;
    const auto note = std::lower_bound(look.notes.begin(), look.notes.end(), number,
                                       [](const LineNote& n, int32_t line) { return n.line < line; });
    if (note != look.notes.end() && note->line == number) {
        text = note->text;
        warns = note->warns;
    } else {
        for (const CodeBand& band : look.bands)
            if ((band.on_device ? band.last : band.first) == number && band.last > band.first)
                names_band = true, on_device = band.on_device,
                text = band.on_device ? "device: runs on the GPU" : "host: runs on the CPU";
    }
    if (text.empty()) return 0;
    const TextStyle style{.size = 12,
                          .color = warns        ? theme.wrong
                                   : names_band ? on_device ? theme.right : theme.quiet
                                                : theme.accent,
                          .align = Align::right,
                          .weight = names_band ? 600 : 400,
                          .mono = !names_band};
    const float width = std::min(ui.text_width(text, style), row.w * 0.45f);
    if (warns) ui.frame({row.x + 7, row.y + 0.5f, row.w - 9, row.h - 1}, theme.wrong);
    ui.text(row.right() - 12, row.y + 14, text,
            {.size = style.size,
             .color = style.color,
             .align = Align::right,
             .weight = style.weight,
             .mono = style.mono,
             .width = width + 2});
    if (ui.hovered({row.right() - 12 - width, row.y, width, row.h}) && !names_band) ui.tooltip(text);
    return width + 14;
}

static const LineNote* inlay_of(const EditorLook& look, int32_t number) {
    const auto inlay = std::lower_bound(look.inlays.begin(), look.inlays.end(), number,
                                        [](const LineNote& n, int32_t line) { return n.line < line; });
    return inlay != look.inlays.end() && inlay->line == number && !inlay->text.empty() ? &*inlay : nullptr;
}

constexpr TextStyle inlay_style{.size = 12, .mono = true};
constexpr float least_inlay = 64;

// Where the line's code ends, in units from the text's left edge.
static float code_end(const TextBuffer& buffer, size_t left, float glyph, int32_t number) {
    const auto cells = static_cast<float>(buffer.cells_before({static_cast<size_t>(number) - 1, SIZE_MAX}));
    return (cells - static_cast<float>(left) + 2) * glyph;
}

// What a line that is too long gives up of its end, so that the value where the run stands can be read; else 0.
float TextEditor::room_for_inlay(Ui& ui, const Rect& text, float glyph, int32_t number, const EditorLook& look) const {
    const LineNote* const inlay = inlay_of(look, number);
    if (inlay == nullptr || number != look.line) return 0;
    const float wanted = std::min(ui.text_width(inlay->text, inlay_style) + 14, text.w * 0.4f);
    return code_end(buffer, left_, glyph, number) + std::min(wanted, least_inlay) > text.w ? wanted : 0;
}

void TextEditor::paint_inlay(Ui& ui, const Rect& text, float glyph, float y, float right, int32_t number,
                             const EditorLook& look) const {
    const LineNote* const inlay = inlay_of(look, number);
    if (inlay == nullptr) return;
    const Theme& theme = *ui.theme;
    const float wanted = ui.text_width(inlay->text, inlay_style) + 14;
    float x = text.x + std::max(0.0f, code_end(buffer, left_, glyph, number));
    const bool tight = x + std::min(wanted, least_inlay) > right;
    if (tight && number != look.line) return;
    if (tight) x = right - std::min(wanted, text.w * 0.4f) + 2;
    const Rect box{x, y + 2, std::min(wanted, right - x), row_height - 4};
    ui.rect(box, theme.panel2, 3);
    ui.frame(box, number == look.line ? theme.accent : theme.line, 1, 3);
    ui.text(box.x + 6, y + 14, inlay->text,
            {.size = inlay_style.size, .color = theme.accent, .mono = true, .width = box.w - 10});
    if (ui.hovered(box)) ui.tooltip(inlay->tip.empty() ? inlay->text : inlay->tip);
}

// What a compiler says of a line: a sign in the gutter, a line under it, and a caret under the place.
void TextEditor::paint_mark(Ui& ui, const Rect& row, float text_x, float glyph, const LineMark& mark) const {
    const float gutter = text_x - row.x;
    const bool error = mark.severity == Severity::error;
    const Color color = error ? ui.theme->wrong : ui.theme->dark ? data::orange : rgb(0x8A5A00);
    ui.rect({row.x + gutter - 4, row.y + row.h - 2, row.w - gutter - 8, 1}, color);
    ui.icon(row.x + std::min(12.0f, gutter - 32), row.y + 14, error ? Icon::close : Icon::warning,
            {.size = 13, .color = color, .align = Align::center});
    if (ui.hovered({row.x, row.y, gutter, row.h})) ui.tooltip(mark.message);
    if (mark.column <= 1) return;
    const Place place{static_cast<size_t>(mark.line - 1), static_cast<size_t>(mark.column - 1)};
    const float cell = static_cast<float>(buffer.cells_before(place)) - static_cast<float>(left_);
    if (cell >= 0) ui.arrow_head({text_x + (cell + 0.5f) * glyph, row.y + row.h - 5}, Way::up, color, 4);
}

bool TextEditor::keys(Ui& ui) {
    UiState& state = *ui.state;
    bool any = false;
    std::vector<KeyPress> left;
    for (const KeyPress& key : state.typed_keys) {
        any = true;
        if (key.character != 0) {
            buffer.type(utf8_of(key.character));
            continue;
        }
        if (edit_key(buffer, key, state, false, rows_ > 2 ? rows_ - 2 : 1)) continue;
        if (key.code == KeyCode::enter && !key.control) {
            buffer.new_line();
        } else if (key.code == KeyCode::tab && !key.control) {
            buffer.indent(key.shift);
        } else if (key.code == KeyCode::escape) {
            if (finding_)
                finding_ = false;
            else
                state.focused = 0;
        } else if (!key.control || !find_key(key)) {
            left.push_back(key);
        }
    }
    state.typed_keys = std::move(left);
    return any;
}

bool TextEditor::find_key(const KeyPress& key) {  // with Ctrl; whether it was one
    if (is(key, 'F')) return open_find(), true;
    if (is(key, 'H')) return open_find(true), true;
    if (is(key, 'D')) return buffer.select_word(buffer.caret()), true;
    if (!is(key, 'G')) return false;
    if (finding_) found_ = buffer.find(needle_, key.shift);
    return true;
}

void TextEditor::mouse(Ui& ui, const Rect& text, float glyph) {
    const bool twice = ui.double_clicked(text), again = ui.state->mouse_clicked && ui.hovered(text);
    const Drag drag = ui.drag("select", {text.x - 4, text.y - 4, text.w, text.h + 8});
    if (!drag.active) return;
    const float row = std::floor((drag.at.y - text.y) / row_height) + top_;
    const auto line = static_cast<size_t>(std::max(0.0f, row));
    const float cell = std::round((drag.at.x - text.x) / glyph) + static_cast<float>(left_);
    const size_t shown = std::min(line, buffer.lines().size() - 1);
    const Place at{line, line >= buffer.lines().size()
                             ? SIZE_MAX
                             : buffer.column_of_cell(shown, static_cast<size_t>(std::max(0.0f, cell)))};
    if (drag.started) return click(ui, at, twice && again);
    if (clicks_ != 1 || (drag.delta.x == 0 && drag.delta.y == 0 && ui.hovered(text))) return;
    if (std::abs(drag.at.x - drag.from.x) + std::abs(drag.at.y - drag.from.y) < 3) return;
    buffer.place(at, true);
    follow_ = drag.at.y < text.y || drag.at.y > text.bottom() || drag.at.x > text.right() || drag.at.x < text.x;
    if (follow_) ui.animate();
}

// Once: the caret; twice: the word; three times: the line.
void TextEditor::click(Ui& ui, Place at, bool again) {
    ui.state->focused = ui.state->id_of("text");
    clicks_ = again && ui.now - last_click_ < 0.4 && last_place_.line == at.line ? clicks_ % 3 + 1 : 1;
    last_click_ = ui.now;
    last_place_ = at;
    if (clicks_ == 2)
        buffer.select_word(at);
    else if (clicks_ == 3)
        buffer.select_line(at.line);
    else
        buffer.place(at, ui.state->mouse_shift);
}

void TextEditor::show_caret(size_t rows, size_t cells) {
    const auto line = static_cast<float>(buffer.caret().line);
    if (line < top_) top_ = line;
    if (line > top_ + static_cast<float>(rows) - 2) top_ = line - static_cast<float>(rows) + 2;
    const size_t cell = buffer.cells_before(buffer.caret());
    if (cell < left_ + 4) left_ = cell > 8 ? cell - 8 : 0;
    if (cell + 2 > left_ + cells) left_ = cell + 8 - std::min(cells, cell + 8);
    if (cell + 2 <= cells && left_ > 0 && cell < cells / 2) left_ = 0;
}

void TextEditor::colour(const EditorLook& look, size_t until) {
    const size_t changed = buffer.take_changed();
    if (changed + 1 < states_.size()) states_.resize(changed + 1);
    if (states_.empty()) states_.push_back(0);
    until = std::min(until, buffer.lines().size());
    while (states_.size() < until) {
        words_.clear();
        states_.push_back(colour_line(buffer.lines()[states_.size() - 1], look.ptx, states_.back(), words_, look.program));
    }
}

void TextEditor::paint_selection(Ui& ui, const Rect& text, float glyph, size_t line, float y) const {
    const auto x_of = [&](size_t cell) { return text.x + (static_cast<float>(cell) - static_cast<float>(left_)) * glyph; };
    const Place begin = buffer.selection_begin(), end = buffer.selection_end();
    if (begin != end && line >= begin.line && line <= end.line) {
        const float x0 = x_of(line == begin.line ? buffer.cells_before(begin) : 0);
        const float x1 =
            line == end.line ? x_of(buffer.cells_before(end)) : x_of(buffer.cells_before({line, SIZE_MAX})) + glyph / 2;
        ui.rect({x0, y, std::max(1.0f, x1 - x0), row_height},
                mix(ui.theme->code, ui.theme->accent, has_keyboard_ ? 0.38f : 0.2f));
    }
    if (line == buffer.caret().line && has_keyboard_)
        ui.rect({x_of(buffer.cells_before(buffer.caret())) - 1, y + 2, 2, row_height - 4}, ui.theme->ink);
}

void TextEditor::paint_line(Ui& ui, const Rect& text, float glyph, size_t number, float y, const EditorLook& look,
                            size_t cells) {
    const std::string& line = buffer.lines()[number];
    if (line.empty()) return;
    // What is in view, and a little more to the left, so that a word keeps its colour.
    const size_t from = left_ == 0 ? 0 : buffer.column_of_cell(number, left_);
    size_t to = buffer.column_of_cell(number, left_ + cells);
    to = std::min(to, line.size());
    words_.clear();
    colour_line(std::string_view(line).substr(0, std::max<size_t>(to, std::min<size_t>(line.size(), 4096))), look.ptx,
                number < states_.size() ? states_[number] : 0, words_, look.program);
    size_t cell = buffer.cells_before({number, from}), at = from;
    const auto draw = [&](size_t end, WordKind kind) {
        while (at < end) {  // a tab ends a piece
            const size_t tab = std::min(line.find('\t', at), end);
            const std::string_view piece = std::string_view(line).substr(at, tab - at);
            if (piece.find_first_not_of(' ') != std::string_view::npos)
                ui.text(text.x + (static_cast<float>(cell) - static_cast<float>(left_)) * glyph, y + 14, piece,
                        {.size = text_size,
                         .color = color_of(kind, *ui.theme),
                         .weight = is_bold(kind) ? 700 : 400,
                         .mono = true});
            for (size_t i = 0; i < piece.size(); ++i)
                if ((static_cast<unsigned char>(piece[i]) & 0xC0) != 0x80) cell += cells_at(piece, i);
            at = tab;
            while (at < end && line[at] == '\t') {
                cell = (cell / TextBuffer::tab_stop + 1) * TextBuffer::tab_stop;
                ++at;
            }
        }
    };
    for (const ColouredWord& word : words_) {
        if (word.end <= at) continue;
        if (word.begin >= to) break;
        if (word.begin > at) draw(word.begin, WordKind::plain);
        draw(std::min(word.end, to), word.kind);
    }
    draw(to, WordKind::plain);
    if (cell > left_ + cells_)  // more of the line stands to the right
        ui.rect({text.right() - 1, y + 3, 3, row_height - 6}, ui.theme->ink3);
}

void TextEditor::look_for_all() {
    if (all_of_ == needle_ && all_version_ == buffer.version()) return;
    all_of_ = needle_;
    all_version_ = buffer.version();
    all_ = buffer.all_of(needle_);
}

void TextEditor::paint_found(Ui& ui, const Rect& text, float glyph, size_t line, float y) const {
    auto at = std::lower_bound(all_.begin(), all_.end(), Place{line, 0});
    for (; at != all_.end() && at->line == line; ++at) {
        const auto x_of = [&](size_t column) {
            return text.x + (static_cast<float>(buffer.cells_before({line, column})) - static_cast<float>(left_)) * glyph;
        };
        const float x = x_of(at->column), end = x_of(at->column + all_of_.size());
        ui.rect({x, y + 1, end - x, row_height - 2}, mix(ui.theme->code, data::orange, 0.25f), 2);
        ui.frame({x, y + 1, end - x, row_height - 2}, mix(ui.theme->code, data::orange, 0.7f), 1, 2);
    }
}

void TextEditor::find_bar(Ui& ui, const Rect& area) {
    const Theme& theme = *ui.theme;
    ui.text(area.x + 4, area.y + 24, "find", {.size = 13, .color = theme.ink2});
    bool submitted = false, escaped = false;
    const std::string before = needle_;
    const Rect box{area.x + 62, area.y + 6, std::max(80.0f, std::min(260.0f, area.w - 340)), 26};
    text_field(
        ui, "find", box, needle_,
        {.hint = "text", .wrong = !found_, .submitted = &submitted, .escaped = &escaped, .take_keyboard = find_keyboard_});
    find_keyboard_ = false;
    if (needle_ != before) {
        buffer.place(buffer.selection_begin());
        found_ = needle_.empty() || buffer.find(needle_);
        follow_ = true;
        told_.clear();
    }
    float x = box.right() + 8;
    if (ui.chip(x, area.y + 6, "next")) submitted = true;
    if (submitted) found_ = buffer.find(needle_), follow_ = true;
    if (ui.chip(x, area.y + 6, "before")) found_ = buffer.find(needle_, true), follow_ = true;
    if (ui.chip(x, area.y + 6, "replace", replacing_)) replacing_ = !replacing_;
    if (ui.chip(x, area.y + 6, "close") || escaped) finding_ = false, wants_keyboard_ = true;
    look_for_all();
    const auto at = std::find(all_.begin(), all_.end(), buffer.selection_begin());
    std::string count = told_;
    if (count.empty() && !found_)
        count = "not there";
    else if (count.empty() && !needle_.empty() && at != all_.end() && buffer.has_selection())
        count = fmt::format("{} of {}", at - all_.begin() + 1, all_.size());
    ui.text(x + 6, area.y + 24, count,
            {.size = 13, .color = found_ ? theme.ink2 : theme.wrong, .width = area.right() - x - 6});
    if (replacing_ && area.h > find_height) replace_bar(ui, {area.x, area.y + find_height, area.w, replace_height});
    if (follow_) ui.animate();
}

void TextEditor::replace_bar(Ui& ui, const Rect& area) {
    ui.text(area.x + 4, area.y + 18, "replace", {.size = 13, .color = ui.theme->ink2});
    bool submitted = false, escaped = false;
    const Rect box{area.x + 62, area.y, std::max(80.0f, std::min(260.0f, area.w - 340)), 26};
    text_field(ui, "replace", box, by_, {.hint = "by this", .submitted = &submitted, .escaped = &escaped});
    float x = box.right() + 8;
    if (ui.chip(x, area.y, "this one") || submitted)
        found_ = buffer.replace_found(needle_, by_), follow_ = true, told_.clear();
    if (ui.chip(x, area.y, "all")) {
        const size_t count = buffer.replace_all(needle_, by_);
        told_ = fmt::format("{} replaced", count);
        follow_ = true;
    }
    if (escaped) finding_ = false, wants_keyboard_ = true;
}

namespace {

void draw_idle_field(Ui& ui, const Rect& box, const std::string& value, const FieldLook& look) {
    const Rect inner{box.x + 8, box.y, box.w - 16, box.h};
    const Faded faint(ui, look.able ? 1.0f : 0.5f);
    if (value.empty())
        ui.text(inner.x, box.y + 18, look.hint, {.size = 13, .color = ui.theme->quiet, .width = inner.w});
    else
        ui.text(inner.x, box.y + 18, value, {.size = 13, .mono = look.mono, .width = inner.w});
}

// The field that has the keyboard has the buffer; one that has just got it is selected as a whole.
void take_buffer(UiState& state, uint32_t key, const std::string& value) {
    if (state.field_id == key && state.field.lines()[0] == value) return;
    const bool fresh = state.field_id != key;
    state.field_id = key;
    state.field.set_text(value.substr(0, value.find('\n')));
    state.field.move(Motion::text_end);
    if (fresh && !state.field_to_end) state.field.select_all();
    if (fresh) state.field_to_end = false;
}

void field_keys(UiState& state, const FieldLook& look) {
    std::vector<KeyPress> left;
    for (const KeyPress& press : state.typed_keys) {
        if (press.character != 0) {
            state.field.type(utf8_of(press.character));
            continue;
        }
        if (edit_key(state.field, press, state, true, 1)) continue;
        if (press.code == KeyCode::enter && !press.control) {
            if (look.submitted != nullptr) *look.submitted = true;
        } else if (press.code == KeyCode::escape) {
            state.focused = 0;
            if (look.escaped != nullptr) *look.escaped = true;
        } else {
            left.push_back(press);
        }
    }
    state.typed_keys = std::move(left);
    if (state.field.lines().size() > 1) state.field.set_text(state.field.lines()[0]);
}

float width_to(Ui& ui, std::string_view text, size_t column, bool is_mono) {
    return ui.text_width(text.substr(0, column), {.size = 13, .mono = is_mono});
}

size_t column_at(Ui& ui, const std::string& value, float x, bool is_mono) {
    size_t best = 0;
    for (size_t i = 0; i <= value.size(); ++i) {
        if (i < value.size() && (static_cast<unsigned char>(value[i]) & 0xC0) == 0x80) continue;
        if (std::abs(width_to(ui, value, i, is_mono) - x) < std::abs(width_to(ui, value, best, is_mono) - x)) best = i;
    }
    return best;
}

// The text of the field that has the keyboard, its selection and its caret, which stays in view; what dragging selects.
void paint_field(Ui& ui, std::string_view id, uint32_t key, const Rect& box, const std::string& value,
                 const FieldLook& look) {
    UiState& state = *ui.state;
    TextBuffer& buffer = state.field;
    const Theme& theme = *ui.theme;
    const Rect inner{box.x + 8, box.y, box.w - 16, box.h};
    const auto x_of = [&](size_t column) { return width_to(ui, value, column, look.mono); };
    const float shift =
        std::clamp(x_of(buffer.caret().column) - inner.w + 12, 0.0f, std::max(0.0f, x_of(value.size()) - inner.w + 4));
    const Drag drag = ui.drag(id, box);
    if (drag.active) {
        if (drag.started) state.focused = key;
        const size_t column = column_at(ui, value, drag.at.x - inner.x + shift, look.mono);
        if (drag.started && state.mouse_double)
            buffer.select_all();
        else if (drag.started || std::abs(drag.at.x - drag.from.x) > 3)
            buffer.place({0, column}, !drag.started || state.mouse_shift);
    }
    ui.clip({inner.x - 2, box.y, inner.w + 4, box.h});
    const float begin = x_of(buffer.selection_begin().column), end = x_of(buffer.selection_end().column);
    if (end > begin)
        ui.rect({inner.x + begin - shift, box.y + 4, end - begin, box.h - 8}, mix(theme.code, theme.accent, 0.38f));
    ui.text(inner.x - shift, box.y + 18, value, {.size = 13, .mono = look.mono});
    if (value.empty()) ui.text(inner.x + 2, box.y + 18, look.hint, {.size = 13, .color = theme.quiet, .width = inner.w});
    ui.rect({inner.x + x_of(buffer.caret().column) - shift - 1, box.y + 5, 2, box.h - 10}, theme.ink);
    ui.unclip();
}

}  // namespace

bool text_field(Ui& ui, std::string_view id, const Rect& box, std::string& value, const FieldLook& look) {
    UiState& state = *ui.state;
    const Theme& theme = *ui.theme;
    const uint32_t key = state.id_of(id);
    if (look.take_keyboard) state.focused = key;
    const bool focused = look.able && ui.takes_text(id, look.tab);
    const bool hovered = look.able && ui.hovered(box);
    if (look.has_keyboard != nullptr) *look.has_keyboard = focused;
    ui.rect(box, theme.code, 4);
    ui.frame(box,
             look.wrong ? theme.wrong
             : focused  ? theme.accent
             : hovered  ? theme.ink3
                        : theme.line,
             focused ? 2.0f : 1.0f, 4);
    if (!focused) {
        if (state.field_id == key) state.field_id = 0;
        draw_idle_field(ui, box, value, look);
        if (ui.clicked(box)) state.focused = key;
        return false;
    }
    take_buffer(state, key, value);
    field_keys(state, look);
    const bool changed = state.field.lines()[0] != value;
    if (changed) value = state.field.lines()[0];
    paint_field(ui, id, key, box, value, look);
    return changed;
}

}  // namespace lockstep::gui
