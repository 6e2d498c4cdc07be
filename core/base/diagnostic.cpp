#include "core/base/diagnostic.h"

#include <algorithm>

namespace lockstep {

namespace {

constexpr size_t widest_line = 160;

bool is_utf8(const std::string& text) {
    for (size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i++]);
        int more = lead < 0x80 ? 0 : lead >> 5 == 6 ? 1 : lead >> 4 == 14 ? 2 : lead >> 3 == 30 ? 3 : -1;
        if (more < 0) return false;
        for (; more > 0; --more, ++i)
            if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
    }
    return true;
}

// The line as a terminal can show it: bytes that are no text are shown as '?', and of a long line the part at the column.
std::string shown(std::string line, int& column) {
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = '?';
    const bool utf8 = is_utf8(line);
    for (char& c : line)
        if (!utf8 && static_cast<unsigned char>(c) >= 0x7f) c = '?';
    if (line.size() <= widest_line) return line;
    const auto at = static_cast<size_t>(std::max(column - 1, 0));
    size_t begin = at > widest_line / 2 ? std::min(at - widest_line / 2, line.size() - widest_line) : 0;
    while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xc0) == 0x80) --begin;
    size_t end = begin + widest_line;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) ++end;
    if (begin) column -= static_cast<int>(begin) - 4;
    return (begin ? "... " : "") + line.substr(begin, end - begin) + (end < line.size() ? " ..." : "");
}

}  // namespace

std::string render(const Diagnostic& d) {
    const char* word = d.severity == Severity::error ? "error" : d.severity == Severity::warning ? "warning" : "note";
    std::string out;
    if (!d.where.file.empty()) {
        out += d.where.file + ":";
        if (d.where.line > 0) out += std::to_string(d.where.line) + ":";
        if (d.where.line > 0 && d.where.column > 0) out += std::to_string(d.where.column) + ":";
        out += " ";
    }
    out += std::string(word) + ": " + d.message;
    if (d.source_line.empty()) return out;
    int column = d.where.column;
    const std::string line = shown(d.source_line, column);
    out += "\n    " + line;
    if (column > 0) {
        out += "\n    ";
        // Tabs stay tabs under the line, so the caret lands below its column whatever the tab width.
        for (int i = 1; i < column; ++i)
            out += static_cast<size_t>(i) <= line.size() && line[static_cast<size_t>(i) - 1] == '\t' ? '\t' : ' ';
        out += "^";
    }
    return out;
}

std::string line_of(const std::string& text, int line) {
    size_t begin = 0;
    for (int n = 1; n < line; ++n) {
        begin = text.find('\n', begin);
        if (begin == std::string::npos) return {};
        ++begin;
    }
    if (line < 1 || begin > text.size()) return {};
    std::string found = text.substr(begin, text.find('\n', begin) - begin);
    if (!found.empty() && found.back() == '\r') found.pop_back();
    return found;
}

}  // namespace lockstep
