// Which puzzle a GPU's file was made for: a comment of it says so, as start_file and design_file write it.
#pragma once
#include <filesystem>
#include <string>

namespace lockstep::lessons {

// The puzzle's file; empty: of none that is here. A file that cannot be read is of none.
std::filesystem::path puzzle_of_design(const std::string& gpu_file);

}  // namespace lockstep::lessons
