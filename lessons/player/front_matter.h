// The TOML between the +++ lines, by toml++.
#pragma once
#include <string>

#include "lessons/player/lesson.h"

namespace lockstep::lessons {

// `first_line` is the file's line number of the text's first line, for the places in Diagnostics.
Result<Lesson> parse_front_matter(const std::string& toml, const std::string& file, int first_line);

}  // namespace lockstep::lessons
