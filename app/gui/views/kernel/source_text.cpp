#include "app/gui/views/kernel/source_text.h"

#include <algorithm>
#include <array>

#include "core/device/compile/source_tokens.h"

namespace lockstep::gui {
namespace {

constexpr std::array<std::string_view, 30> keywords = {
    "__global__", "__device__", "__shared__", "__restrict__", "__syncthreads", "__launch_bounds__",
    "extern",     "void",       "float",      "double",       "int",           "unsigned",
    "bool",       "char",       "const",      "if",           "else",          "for",
    "while",      "do",         "return",     "break",        "continue",      "struct",
    "template",   "constexpr",  "static",     "auto",         "size_t",        "half"};

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::string line;
    for (const char c : text) {
        if (c == '\n') {
            lines.push_back(std::move(line));
            line.clear();
        } else if (c == '\t') {
            line += "    ";
        } else if (c != '\r') {
            line += c;
        }
    }
    if (!line.empty()) lines.push_back(std::move(line));
    return lines;
}

void draw_code(Ui& ui, float x, float baseline, std::string_view line, float size, float width, Color color) {
    const float glyph = ui.text_width("0", {.size = size, .mono = true});
    const auto most = static_cast<size_t>(std::max(0.0f, width / glyph));
    const bool cut = line.size() > most;
    if (cut && ui.hovered({x, baseline - size - 2, width, size + 8})) {
        const size_t begin = std::min(line.find_first_not_of(' '), line.size());
        ui.tooltip(line.substr(begin));
    }
    if (cut) line = line.substr(0, most > 1 ? most - 1 : 0);
    for (size_t i = 0; i < line.size();) {
        if (line[i] == ' ') {
            ++i;
            continue;
        }
        size_t end = i + 1;
        const bool comment = line.substr(i, 2) == "//";
        if (comment)
            end = line.size();
        else if (device::in_name(line[i]))
            end = device::end_of_name(line, i);
        else
            while (end < line.size() && !device::in_name(line[end]) && line[end] != ' ' && line.substr(end, 2) != "//")
                ++end;
        const std::string_view word = line.substr(i, end - i);
        const bool keyword = std::find(keywords.begin(), keywords.end(), word) != keywords.end();
        ui.text(x + glyph * static_cast<float>(i), baseline, word,
                {.size = size,
                 .color = comment   ? ui.theme->quiet
                          : keyword ? ui.theme->keyword
                                    : color,
                 .mono = true});
        i = end;
    }
    if (cut)
        ui.text(x + glyph * static_cast<float>(line.size()), baseline, "…",
                {.size = size, .color = ui.theme->quiet, .mono = true});
}

}  // namespace lockstep::gui
