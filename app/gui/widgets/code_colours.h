// CUDA C++ or PTX text as coloured words: one line at a time, with the state that a block comment carries to the next.
#pragma once
#include <string_view>
#include <vector>

#include "app/gui/widgets/theme.h"

namespace lockstep::gui {

enum class WordKind : uint8_t { plain, keyword, type, qualifier, number, string, comment, directive };

struct ColouredWord {
    size_t begin = 0, end = 0;  // bytes of the line
    WordKind kind = WordKind::plain;
};

// `program`: a host or tensor program, whose comments begin with "#".
// Appends the line's words that are not plain, in order; returns the state behind the line. State 0: outside a comment.
uint8_t colour_line(std::string_view line, bool ptx, uint8_t state, std::vector<ColouredWord>& words, bool program = false);

Color color_of(WordKind kind, const Theme& theme);
bool is_bold(WordKind kind);

}  // namespace lockstep::gui
