// The copy is made once; a learner's own text is never overwritten.
#include "app/gui/work_file.h"

#include <cstdlib>

#include "core/base/diagnostic.h"

namespace lockstep::gui {

std::filesystem::path state_folder() {
    namespace fs = std::filesystem;
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    const fs::path base = state != nullptr && *state == '/' ? fs::path(state)  // a relative one is to be ignored
                          : home != nullptr && *home != 0   ? fs::path(home) / ".local/state"
                                                            : fs::temp_directory_path();
    return base / "lockstep";
}

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
