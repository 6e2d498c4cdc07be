// Edits are replacements of one stretch by another; movement works on code points, words on letters, digits and '_'.
#include "app/gui/widgets/text_buffer.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace lockstep::gui {

namespace {

constexpr size_t most_undo = size_t{32} << 20;  // bytes kept to undo with

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}
bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Bytes of the code point that begins with `first`; 0: none does.
size_t length_of(unsigned char first) {
    return first < 0x80                    ? 1
           : first >= 0xC2 && first < 0xE0 ? 2
           : first >= 0xE0 && first < 0xF0 ? 3
           : first >= 0xF0 && first < 0xF5 ? 4
                                           : 0;
}

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace

std::string utf8_of(char32_t character) {
    const auto code = static_cast<uint32_t>(character);
    std::string text;
    const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xC0 | code >> 6);
        add(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        add(0xE0 | code >> 12);
        add(0x80 | (code >> 6 & 0x3F));
        add(0x80 | (code & 0x3F));
    } else {
        add(0xF0 | code >> 18);
        add(0x80 | (code >> 12 & 0x3F));
        add(0x80 | (code >> 6 & 0x3F));
        add(0x80 | (code & 0x3F));
    }
    return text;
}

int cells_of(uint32_t code) {
    constexpr std::pair<uint32_t, uint32_t> wide[] = {
        {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xA960, 0xA97C}, {0xAC00, 0xD7A3},
        {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},   {0xFF01, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
        {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (code < wide[0].first) return 1;
    return std::ranges::any_of(wide, [&](const auto& range) { return code >= range.first && code <= range.second; }) ? 2 : 1;
}

size_t cells_at(std::string_view text, size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t bytes = length_of(first);
    if (bytes < 3 || at + bytes > text.size()) return 1;
    uint32_t code = first & (bytes == 3 ? 0x0Fu : 0x07u);
    for (size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
    return static_cast<size_t>(cells_of(code));
}

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (size_t i = 0; i < text.size();) {
        const size_t length = length_of(static_cast<unsigned char>(text[i]));
        bool good = length > 0 && i + length <= text.size();
        for (size_t k = 1; good && k < length; ++k) good = continues(text[i + k]);
        const bool control = length == 1 && static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\n' && text[i] != '\t';
        if (good && !control)
            out.append(text.substr(i, length));
        else if (text[i] != '\r')
            out += '?';
        i += good ? length : 1;
    }
    return out;
}

size_t make_utf8(std::string& text) {
    std::string out;
    size_t bad = 0;
    for (size_t i = 0; i < text.size();) {
        const size_t length = length_of(static_cast<unsigned char>(text[i]));
        bool good = length > 0 && i + length <= text.size();
        for (size_t k = 1; good && k < length; ++k) good = continues(text[i + k]);
        if (good) {
            out.append(text, i, length);
        } else {
            out += utf8_of(static_cast<unsigned char>(text[i]));
            ++bad;
        }
        i += good ? length : 1;
    }
    if (bad > 0) text = std::move(out);
    return bad;
}

void TextBuffer::set_text(std::string_view text) {
    const std::string clean = valid_utf8(text.substr(0, largest));
    lines_.assign(1, std::string());
    caret_ = anchor_ = {};
    undo_.clear();
    redo_.clear();
    undo_bytes_ = 0;
    bytes_ = 0;
    put({}, {}, clean);
    changed_ = 0;
    typing_ = false;
    wanted_cell_ = SIZE_MAX;
}

std::string TextBuffer::text() const {
    std::string all;
    all.reserve(bytes_);
    for (size_t i = 0; i < lines_.size(); ++i) {
        if (i > 0) all += '\n';
        all += lines_[i];
    }
    return all;
}

Place TextBuffer::clamped(Place at) const {
    at.line = std::min(at.line, lines_.size() - 1);
    const std::string& line = lines_[at.line];
    at.column = std::min(at.column, line.size());
    while (at.column > 0 && at.column < line.size() && continues(line[at.column])) --at.column;
    return at;
}

std::string TextBuffer::between(Place from, Place to) const {
    if (from.line == to.line) return lines_[from.line].substr(from.column, to.column - from.column);
    std::string all = lines_[from.line].substr(from.column) + '\n';
    for (size_t i = from.line + 1; i < to.line; ++i) all += lines_[i] + '\n';
    return all + lines_[to.line].substr(0, to.column);
}

std::string TextBuffer::selected_text() const {
    return between(selection_begin(), selection_end());
}

Place TextBuffer::put(Place from, Place to, std::string_view text) {
    ++version_;
    changed_ = std::min(changed_, from.line);
    size_t removed = 0;
    if (from.line == to.line) {
        removed = to.column - from.column;
    } else {
        removed = lines_[from.line].size() - from.column + 1 + to.column;
        for (size_t i = from.line + 1; i < to.line; ++i) removed += lines_[i].size() + 1;
    }
    bytes_ += text.size() - removed;
    const std::string tail = lines_[to.line].substr(to.column);
    lines_[from.line].resize(from.column);
    std::vector<std::string> more;
    size_t at = 0;
    for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', at)) {
        (more.empty() ? lines_[from.line] : more.back()).append(text.substr(at, end - at));
        more.emplace_back();
        at = end + 1;
    }
    std::string& last = more.empty() ? lines_[from.line] : more.back();
    last.append(text.substr(at));
    const Place end{from.line + more.size(), last.size()};
    last += tail;
    // The lines in between change places once, whatever their number.
    const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(from.line) + 1;
    const size_t old = to.line - from.line, shared = std::min(old, more.size());
    std::move(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(shared), begin);
    const auto behind = lines_.begin() + static_cast<std::ptrdiff_t>(from.line + 1 + shared);
    if (old > shared)
        lines_.erase(behind, behind + static_cast<std::ptrdiff_t>(old - shared));
    else
        lines_.insert(behind, std::make_move_iterator(more.begin() + static_cast<std::ptrdiff_t>(shared)),
                      std::make_move_iterator(more.end()));
    return end;
}

void TextBuffer::replace(Place from, Place to, std::string_view text, bool joins) {
    std::string removed = between(from, to);
    if (removed.empty() && text.empty()) return;
    if (bytes_ - removed.size() + text.size() > largest) return;
    Edit edit{from, std::move(removed), std::string(text), caret_, anchor_, {}, joins && !undo_.empty()};
    caret_ = anchor_ = edit.caret_after = put(from, to, text);
    wanted_cell_ = SIZE_MAX;
    redo_.clear();
    undo_bytes_ += edit.removed.size() + edit.inserted.size() + sizeof(Edit);
    undo_.push_back(std::move(edit));
    while (undo_bytes_ > most_undo && undo_.size() > 1) {
        do {
            undo_bytes_ -= undo_.front().removed.size() + undo_.front().inserted.size() + sizeof(Edit);
            undo_.pop_front();
        } while (!undo_.empty() && undo_.front().joins);
    }
}

void TextBuffer::insert(std::string_view text) {
    typing_ = false;
    replace(selection_begin(), selection_end(), valid_utf8(text));
}

void TextBuffer::type(std::string_view text) {
    const std::string clean = valid_utf8(text);
    // A closing brace as a line's first sign steps out of the block.
    const std::string& line = lines_[caret_.line];
    if (clean == "}" && !has_selection() && caret_.column > 0 && line.find_first_not_of(' ') >= caret_.column) {
        const size_t back = (caret_.column - 1) / tab_stop * tab_stop;
        replace({caret_.line, back}, caret_, clean);
        typing_ = true;
        return;
    }
    const bool joins = typing_ && !has_selection() && !undo_.empty() && undo_.back().caret_after == caret_ && clean != " ";
    replace(selection_begin(), selection_end(), clean, joins);
    typing_ = true;
}

void TextBuffer::new_line() {
    typing_ = false;
    const Place at = selection_begin();
    const std::string& line = lines_[at.line];
    const size_t indentation = std::min(std::min(line.find_first_not_of(" \t"), line.size()), at.column);
    std::string text = "\n" + line.substr(0, indentation);
    const size_t last = at.column == 0 ? std::string::npos : line.find_last_not_of(" \t", at.column - 1);
    const bool opens = last != std::string::npos && line[last] == '{';
    const Place end = selection_end();
    const bool closes = lines_[end.line].compare(end.column, 1, "}") == 0;
    if (opens) text += std::string(tab_stop, ' ');
    if (opens && closes) {  // the brace goes to a line of its own
        const size_t caret = text.size() - 1;
        replace(at, end, text + "\n" + line.substr(0, indentation));
        caret_ = anchor_ = {at.line + 1, caret};
        return;
    }
    replace(at, end, text);
}

Place TextBuffer::stepped(Place at, int way) const {
    if (way < 0) {
        if (at.column == 0) return at.line == 0 ? at : Place{at.line - 1, lines_[at.line - 1].size()};
        --at.column;
        while (at.column > 0 && continues(lines_[at.line][at.column])) --at.column;
        return at;
    }
    if (at.column >= lines_[at.line].size()) return at.line + 1 < lines_.size() ? Place{at.line + 1, 0} : at;
    ++at.column;
    while (at.column < lines_[at.line].size() && continues(lines_[at.line][at.column])) ++at.column;
    return at;
}

// Over blanks, then over one word or one run of signs.
Place TextBuffer::word_end(Place at, int way) const {
    const auto sign = [&](const Place& p) -> char {
        const std::string& line = lines_[p.line];
        return p.column < line.size() ? line[p.column] : '\n';
    };
    const auto next = [&](Place p) { return way < 0 ? stepped(p, -1) : p; };
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    const Place start = at;
    while (blank(sign(next(at))) && stepped(at, way) != at) at = stepped(at, way);
    if (stepped(at, way) == at) return at;
    if (sign(next(at)) == '\n') return at == start ? stepped(at, way) : at;
    const bool word = is_word(sign(next(at)));
    while (stepped(at, way) != at) {
        const char c = sign(next(at));
        if (c == '\n' || blank(c) || is_word(c) != word) break;
        at = stepped(at, way);
    }
    return at;
}

void TextBuffer::backspace(bool word) {
    typing_ = false;
    if (has_selection()) return replace(selection_begin(), selection_end(), "");
    Place from = word ? word_end(caret_, -1) : stepped(caret_, -1);
    const std::string& line = lines_[caret_.line];
    if (!word && caret_.column > 0 && line.find_first_not_of(' ') >= caret_.column)
        from = {caret_.line, (caret_.column - 1) / tab_stop * tab_stop};
    replace(from, caret_, "");
}

void TextBuffer::erase(bool word) {
    typing_ = false;
    if (has_selection()) return replace(selection_begin(), selection_end(), "");
    replace(caret_, word ? word_end(caret_, 1) : stepped(caret_, 1), "");
}

void TextBuffer::indent(bool back) {
    typing_ = false;
    const Place begin = selection_begin(), end = selection_end();
    if (!back && begin.line == end.line) {
        const size_t cells = cells_before(begin);
        return replace(begin, end, std::string(tab_stop - cells % tab_stop, ' '));
    }
    const size_t last = end.line > begin.line && end.column == 0 ? end.line - 1 : end.line;
    bool joins = false;
    const Place caret = caret_, anchor = anchor_;
    std::vector<std::pair<size_t, int>> moved;  // line, columns
    for (size_t line = begin.line; line <= last; ++line) {
        const std::string& text = lines_[line];
        if (back) {
            size_t spaces = 0;
            if (!text.empty() && text[0] == '\t')
                spaces = 1;
            else
                while (spaces < tab_stop && spaces < text.size() && text[spaces] == ' ') ++spaces;
            if (spaces == 0) continue;
            moved.emplace_back(line, -static_cast<int>(spaces));
            replace({line, 0}, {line, spaces}, "", joins);
        } else {
            if (text.empty()) continue;
            moved.emplace_back(line, tab_stop);
            replace({line, 0}, {line, 0}, std::string(tab_stop, ' '), joins);
        }
        joins = true;
    }
    const auto shifted = [&](Place at) {
        for (const auto& [line, by] : moved)
            if (line == at.line && at.column > 0)
                at.column = static_cast<size_t>(std::max(0, static_cast<int>(at.column) + by));
        return clamped(at);
    };
    caret_ = shifted(caret);
    anchor_ = shifted(anchor);
    if (!undo_.empty() && joins) undo_.back().caret_after = caret_;
}

bool TextBuffer::undo() {
    typing_ = false;
    if (undo_.empty()) return false;
    for (bool more = true; more && !undo_.empty();) {
        Edit edit = std::move(undo_.back());
        undo_.pop_back();
        undo_bytes_ -= edit.removed.size() + edit.inserted.size() + sizeof(Edit);
        const auto lines = static_cast<size_t>(std::count(edit.inserted.begin(), edit.inserted.end(), '\n'));
        const size_t newline = edit.inserted.rfind('\n');
        const Place end{edit.at.line + lines,
                        lines == 0 ? edit.at.column + edit.inserted.size() : edit.inserted.size() - newline - 1};
        put(edit.at, end, edit.removed);
        caret_ = edit.caret_before;
        anchor_ = edit.anchor_before;
        more = edit.joins;
        redo_.push_back(std::move(edit));
    }
    wanted_cell_ = SIZE_MAX;
    return true;
}

bool TextBuffer::redo() {
    typing_ = false;
    if (redo_.empty()) return false;
    do {
        Edit edit = std::move(redo_.back());
        redo_.pop_back();
        const auto lines = static_cast<size_t>(std::count(edit.removed.begin(), edit.removed.end(), '\n'));
        const size_t newline = edit.removed.rfind('\n');
        const Place end{edit.at.line + lines,
                        lines == 0 ? edit.at.column + edit.removed.size() : edit.removed.size() - newline - 1};
        put(edit.at, end, edit.inserted);
        caret_ = anchor_ = edit.caret_after;
        undo_bytes_ += edit.removed.size() + edit.inserted.size() + sizeof(Edit);
        undo_.push_back(std::move(edit));
    } while (!redo_.empty() && redo_.back().joins);
    wanted_cell_ = SIZE_MAX;
    return true;
}

void TextBuffer::place(Place at, bool select) {
    typing_ = false;
    caret_ = clamped(at);
    if (!select) anchor_ = caret_;
    wanted_cell_ = SIZE_MAX;
}

void TextBuffer::move(Motion motion, bool select, size_t page) {
    typing_ = false;
    Place to = caret_;
    const bool vertical =
        motion == Motion::up || motion == Motion::down || motion == Motion::page_up || motion == Motion::page_down;
    if (vertical && wanted_cell_ == SIZE_MAX) wanted_cell_ = cells_before(caret_);
    const size_t wanted = wanted_cell_;
    const size_t rows = motion == Motion::page_up || motion == Motion::page_down ? std::max<size_t>(1, page) : 1;
    switch (motion) {
        case Motion::left:
            to = has_selection() && !select ? selection_begin() : stepped(caret_, -1);
            break;
        case Motion::right:
            to = has_selection() && !select ? selection_end() : stepped(caret_, 1);
            break;
        case Motion::up:
        case Motion::page_up:
            to = caret_.line == 0 ? Place{} : Place{caret_.line - std::min(rows, caret_.line), 0};
            if (caret_.line > 0) to.column = column_of_cell(to.line, wanted);
            break;
        case Motion::down:
        case Motion::page_down:
            to.line = std::min(caret_.line + rows, lines_.size() - 1);
            to.column = caret_.line + 1 == lines_.size() ? lines_.back().size() : column_of_cell(to.line, wanted);
            break;
        case Motion::word_left:
            to = word_end(caret_, -1);
            break;
        case Motion::word_right:
            to = word_end(caret_, 1);
            break;
        case Motion::line_begin: {
            const std::string& line = lines_[caret_.line];
            const size_t indentation = std::min(line.find_first_not_of(" \t"), line.size());
            to.column = caret_.column == indentation ? 0 : indentation;
            break;
        }
        case Motion::line_end:
            to.column = lines_[caret_.line].size();
            break;
        case Motion::text_begin:
            to = {};
            break;
        case Motion::text_end:
            to = {lines_.size() - 1, lines_.back().size()};
            break;
    }
    place(to, select);
    if (vertical) wanted_cell_ = wanted;
}

void TextBuffer::select_all() {
    typing_ = false;
    anchor_ = {};
    caret_ = {lines_.size() - 1, lines_.back().size()};
}

void TextBuffer::select_word(Place at) {
    at = clamped(at);
    const std::string& line = lines_[at.line];
    size_t begin = at.column, end = at.column;
    if (begin < line.size() && !is_word(line[begin]) && begin > 0 && is_word(line[begin - 1])) --begin;
    while (begin > 0 && is_word(line[begin - 1])) --begin;
    while (end < line.size() && is_word(line[end])) ++end;
    if (begin >= end && end < line.size()) end = stepped({at.line, end}, 1).column;
    place({at.line, begin});
    place({at.line, std::max(begin, end)}, true);
}

void TextBuffer::select_line(size_t line) {
    place({line, 0});
    place(line + 1 < lines_.size() ? Place{line + 1, 0} : Place{line, SIZE_MAX}, true);
}

bool TextBuffer::find(std::string_view needle, bool back, bool whole_case) {
    if (needle.empty() || needle.find('\n') != std::string_view::npos) return false;
    const auto same = [&](char a, char b) { return whole_case ? a == b : lower(a) == lower(b); };
    const Place from = back ? selection_begin() : selection_end();
    const size_t count = lines_.size();
    for (size_t i = 0; i <= count; ++i) {
        const size_t line = back ? (from.line + count - i % count) % count : (from.line + i) % count;
        const std::string& text = lines_[line];
        size_t found = std::string::npos;
        if (!back) {
            const size_t begin = i == 0 ? std::min(from.column, text.size()) : 0;
            const auto at = std::search(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), needle.begin(),
                                        needle.end(), same);
            if (at != text.end()) found = static_cast<size_t>(at - text.begin());
        } else {
            const size_t end = i == 0 ? std::min(from.column, text.size()) : text.size();
            const auto last = text.begin() + static_cast<std::ptrdiff_t>(end);
            const auto at = std::find_end(text.begin(), last, needle.begin(), needle.end(), same);
            if (at != last) found = static_cast<size_t>(at - text.begin());
        }
        if (found == std::string::npos) continue;
        place({line, found});
        place({line, found + needle.size()}, true);
        return true;
    }
    return false;
}

std::vector<Place> TextBuffer::all_of(std::string_view needle, size_t most) const {
    std::vector<Place> found;
    if (needle.empty()) return found;
    const auto same = [](char a, char b) { return lower(a) == lower(b); };
    for (size_t line = 0; line < lines_.size(); ++line) {
        const std::string& text = lines_[line];
        for (auto at = text.begin(); found.size() < most; at += static_cast<std::ptrdiff_t>(needle.size())) {
            at = std::search(at, text.end(), needle.begin(), needle.end(), same);
            if (at == text.end()) break;
            found.push_back({line, static_cast<size_t>(at - text.begin())});
        }
    }
    return found;
}

bool TextBuffer::replace_found(std::string_view needle, std::string_view by) {
    const std::string chosen = selected_text();
    const bool is_it = !needle.empty() && std::equal(chosen.begin(), chosen.end(), needle.begin(), needle.end(),
                                                     [](char a, char b) { return lower(a) == lower(b); });
    if (is_it) {
        typing_ = false;
        replace(selection_begin(), selection_end(), valid_utf8(by));
    }
    return find(needle);
}

size_t TextBuffer::replace_all(std::string_view needle, std::string_view by) {
    const std::vector<Place> places = all_of(needle);
    const std::string clean = valid_utf8(by);
    typing_ = false;
    for (size_t i = places.size(); i-- > 0;)  // from behind: the places before stay where they are
        replace(places[i], {places[i].line, places[i].column + needle.size()}, clean, i + 1 < places.size());
    return places.size();
}

size_t TextBuffer::cells_before(Place at) const {
    at = clamped(at);
    const std::string& line = lines_[at.line];
    size_t cells = 0;
    for (size_t i = 0; i < at.column; ++i) {
        if (continues(line[i])) continue;
        cells = line[i] == '\t' ? (cells / tab_stop + 1) * tab_stop : cells + cells_at(line, i);
    }
    return cells;
}

size_t TextBuffer::column_of_cell(size_t line, size_t cell) const {
    const std::string& text = lines_[std::min(line, lines_.size() - 1)];
    size_t cells = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (continues(text[i])) continue;
        if (cells >= cell) return i;
        const size_t next = text[i] == '\t' ? (cells / tab_stop + 1) * tab_stop : cells + cells_at(text, i);
        if (next > cell && cell - cells < next - cell) return i;  // the nearer side of a tab or a wide letter
        cells = next;
    }
    return text.size();
}

size_t TextBuffer::take_changed() {
    const size_t changed = changed_;
    changed_ = SIZE_MAX;
    return changed;
}

}  // namespace lockstep::gui
