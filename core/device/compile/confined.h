// What a stranger's text may include where it is judged: files of some folders and what the compiler has, never a solution.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace lockstep::device {

// Whether the file lies in the folder `solution` or `proof` of a lesson.
bool is_solution(const std::filesystem::path& file);

// The first #include, of the text or of a header of `folders` that it includes, that leads out of `folders` and
// kernels/include: with line, column and reason. Names that are in none of the folders are the compiler's to find.
std::optional<Diagnostic> include_outside(const std::string& text, const std::string& file,
                                          const std::vector<std::filesystem::path>& folders);

// The same as the PTX tells it, of solutions alone: by whatever way code of one came in.
std::optional<Diagnostic> code_of_solution(const std::string& ptx, const std::string& file);

}  // namespace lockstep::device
