// The copy is made once; a learner's own text is never overwritten.
#include "app/gui/work_file.h"

#include "core/base/diagnostic.h"
#include "core/base/user_folders.h"

namespace lockstep::gui {

std::filesystem::path work_file(const lessons::Lesson& lesson, const lessons::Exercise& exercise) {
    namespace fs = std::filesystem;
    const fs::path file = state_folder() / "exercises" / lesson.id / fs::path(exercise.file).filename();
    std::error_code error;
    if (fs::exists(file, error)) return file;
    fs::create_directories(file.parent_path(), error);
    if (!error) fs::copy_file(lesson.folder / exercise.file, file, error);
    if (error) throw Failure("cannot copy the exercise to '" + file.string() + "': " + error.message());
    return file;
}

}  // namespace lockstep::gui
