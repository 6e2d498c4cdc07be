// A file that is not there, and what lies beside it under nearly the same name: another case or ending, a slip of the pen,
// words before or behind it.
#pragma once
#include <filesystem>
#include <string>

namespace lockstep {

// ", did you mean 'softmax.cu'?", or "" where nothing beside it is called nearly so.
std::string near_file(const std::filesystem::path& missing);

}  // namespace lockstep
