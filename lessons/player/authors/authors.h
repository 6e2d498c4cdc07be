// What helps to write lessons: a skeleton to begin with, PTX by whatever compiler there is, the tables of views and figures.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace lockstep::lessons {

struct LessonView {
    std::string_view name, shows;
};
// What view= of a scene may be.
std::span<const LessonView> lesson_views();

// Every figure that of= and check= may ask for, and every view, as Markdown: what FIGURES.md holds.
std::string figures_page();

// The table of all lessons as Markdown: what lessons/README.md holds.
Result<std::string> lessons_page();

// A lesson that holds in `folder`, which is made; its id is the folder's name up to the first '_'. Returns the files.
// Refused where something is there already.
Result<std::vector<std::filesystem::path>> new_lesson(const std::filesystem::path& folder);

// PTX of every kernel of a lesson's folder that has none as new as itself, by the compiler of that name ("": the first
// found). Returns the files that were written.
Result<std::vector<std::filesystem::path>> write_missing_ptx(const std::filesystem::path& folder,
                                                             const std::string& compiler);

}  // namespace lockstep::lessons
