// The copy is made once; a learner's own text is never overwritten.
#include "app/gui/desk/work_file.h"

#include <charconv>
#include <map>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/scene/figures/expression.h"
#include "core/system/system.h"

namespace lockstep::gui {

std::filesystem::path work_file(const lessons::Lesson& lesson, const lessons::Exercise& exercise) {
    namespace fs = std::filesystem;
    const fs::path file = system::state_folder() / "exercises" / lesson.id / fs::path(exercise.file).filename();
    std::error_code error;
    if (fs::exists(file, error)) return file;
    fs::create_directories(file.parent_path(), error);
    if (!error) fs::copy_file(lesson.folder / exercise.file, file, error);
    if (error) throw Failure("cannot copy the exercise to '" + file.string() + "': " + error.message());
    return file;
}

LaunchSettings launch_of(const lessons::Lesson& lesson, const lessons::Exercise& exercise, const std::string& source) {
    LaunchSettings launch;
    std::map<std::string, double> variables;
    std::istringstream shape(exercise.shapes.empty() ? std::string() : exercise.shapes.front());
    for (std::string word; shape >> word;)
        if (const size_t equals = word.find('='); equals != std::string::npos)
            std::from_chars(word.data() + equals + 1, word.data() + word.size(), variables[word.substr(0, equals)]);
    const auto filled = [&](const std::string& text) { return scene::fill_in(text, variables); };
    const auto grid = filled(exercise.grid), block = filled(exercise.block);
    launch.gpu = exercise.gpu.empty() ? lesson.gpu : exercise.gpu;
    launch.kernel = exercise.kernel;
    launch.shared = std::to_string(exercise.dynamic_shared);
    if (!grid.ok() || !block.ok() || grid.value().empty() || block.value().empty()) return launch;
    launch.grid = grid.value();
    launch.block = block.value();
    launch.grid_chosen = true;
    // "const float *__restrict__ in": the name is the last word.
    const std::vector<std::string> declared = parameter_declarations(source, exercise.kernel);
    for (size_t i = 0; i < declared.size() && declared.size() == exercise.arguments.size(); ++i) {
        const size_t last = declared[i].find_last_not_of(" []");
        const size_t first = last == std::string::npos ? last : declared[i].find_last_of(" *&", last);
        const auto text = filled(exercise.arguments[i]);
        if (first == std::string::npos || !text.ok()) continue;
        launch.arguments.push_back({declared[i].substr(first + 1, last - first), text.value(), true});
    }
    return launch;
}

}  // namespace lockstep::gui
