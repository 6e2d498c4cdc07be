// Which step of which lesson teaches what the lecture decks behind the course teach: lessons/coverage.toml.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace lockstep::lessons {

struct CoveredSlide {                // or slides in a row that build one picture up
    std::string about;               // in our own words
    std::vector<std::string> steps;  // "A01: Flynn's four boxes"
    std::string why;                 // why it needs no step: "the lecture itself"
    bool missing() const { return steps.empty() && why.empty(); }
};
struct CoveredDeck {
    std::string name, title;
    std::vector<CoveredSlide> slides;
    size_t missing() const;
};

// "A01: Flynn's four boxes" of every step of every lesson, in order.
Result<std::vector<std::string>> step_names();
// A file that is no such table, or names a step that is not among `steps`, is refused with line, column and caret.
Result<std::vector<CoveredDeck>> parse_coverage(const std::string& text, const std::filesystem::path& file,
                                                const std::vector<std::string>& steps);
Result<std::vector<CoveredDeck>> coverage();  // of the lessons that came along

std::string to_json(const std::vector<CoveredDeck>& decks);

}  // namespace lockstep::lessons
