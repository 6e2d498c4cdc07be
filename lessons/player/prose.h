// Markdown -> TextBlocks, by md4c: paragraphs, list items, code and headings; bold, italic and code runs. Links keep their
// text.
#pragma once
#include <string>
#include <vector>

#include "lessons/player/lesson.h"

namespace lockstep::lessons {

std::vector<TextBlock> parse_prose(const std::string& markdown);

}  // namespace lockstep::lessons
