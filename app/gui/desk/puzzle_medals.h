// Medals of the Build workspace's puzzles, in the learner's progress (progress.h):
//   {"puzzle":"03_feed_the_lanes","event":"medal","medal":"gold","on":"2026-11-27"}
// Of a puzzle the best counts. In HomeState::progress it stands under the puzzle's id, with so many of three steps done.
#pragma once
#include <filesystem>
#include <string>

#include "lessons/player/challenge/medal.h"

namespace lockstep::gui {

// Appends it; false: the file cannot be written. No file: nothing is kept.
bool keep_puzzle_medal(const std::filesystem::path& file, const std::string& puzzle, lessons::Medal medal);

}  // namespace lockstep::gui
