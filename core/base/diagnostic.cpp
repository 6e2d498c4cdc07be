#include "core/base/diagnostic.h"

namespace lockstep {

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
    out += "\n    " + d.source_line;
    if (d.where.column > 0) {
        out += "\n    ";
        // Tabs stay tabs under the line, so the caret lands below its column whatever the tab width.
        for (int i = 1; i < d.where.column; ++i)
            out += static_cast<size_t>(i) <= d.source_line.size() && d.source_line[static_cast<size_t>(i) - 1] == '\t' ? '\t'
                                                                                                                       : ' ';
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
