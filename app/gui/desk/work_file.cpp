// The copy is made once; a learner's own text is never overwritten.
#include "app/gui/desk/work_file.h"

#include <charconv>
#include <map>
#include <sstream>

#include "app/gui/session.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
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

std::string exercise_lesson(const std::string& path) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(path).parent_path();
    if (path.empty() || folder.parent_path().filename() != "exercises") return {};
    std::error_code error;
    const fs::path ours = fs::weakly_canonical(system::state_folder() / "exercises", error);
    return fs::weakly_canonical(folder.parent_path(), error) == ours ? folder.filename().string() : std::string();
}

const ExerciseOnDesk& exercise_on_desk(const Session& session, ExerciseOnDesk& known) {
    const std::string& path = session.desk.document().path;
    const std::string id = exercise_lesson(path);
    const auto& open = session.lesson.lesson;
    const bool is_open = open && open->id == id;
    const std::string file = std::filesystem::path(path).filename().string();
    const bool same_file =
        known.exercise() != nullptr && std::filesystem::path(known.exercise()->file).filename().string() == file;
    if (known.lesson_id == id && (id.empty() || known.lesson == nullptr || same_file) &&
        (!is_open || known.lesson == open)) {
        known.open = is_open;
        return known;
    }
    known = {};
    known.lesson_id = id;
    if (id.empty()) return known;
    known.open = is_open;
    if (is_open)
        known.lesson = open;
    else if (auto read = lessons::lesson_named(id); read.ok())
        known.lesson = std::make_shared<const lessons::Lesson>(std::move(read.value()));
    for (size_t s = 0; known.lesson && s < known.lesson->steps.size(); ++s)
        for (size_t e = 0; e < known.lesson->steps[s].exercises.size(); ++e)
            if (std::filesystem::path(known.lesson->steps[s].exercises[e].file).filename().string() == file) {
                // Of two that share a starter, the one that the lesson stands at.
                if (known.step < 0 || (is_open && session.lesson.step == static_cast<int>(s)))
                    known.step = static_cast<int>(s), known.index = e;
            }
    if (known.step < 0) known.lesson.reset();
    return known;
}

void edit_exercise(Session& session, const lessons::Exercise& exercise) {
    std::string path;
    try {
        path = work_file(*session.lesson.lesson, exercise).string();
    } catch (const Failure& failure) {
        return session.post(ask::Tell{failure.what()});
    }
    if (const auto problem = session.desk.open(path)) return session.post(ask::Tell{*problem});
    KernelDocument& document = session.desk.document();
    if (document.is_host())
        document.launch.gpu = exercise.gpu.empty() ? session.gpu : exercise.gpu;
    else if (!document.launch.grid_chosen)
        document.launch = launch_of(*session.lesson.lesson, exercise, document.text);
    session.workspace = Workspace::kernel;
}

void begin_again(Session& session, const lessons::Lesson& lesson, const lessons::Exercise& exercise) {
    auto text = read_text(lesson.folder / exercise.file, size_t{1} << 20);
    if (!text.ok()) return session.post(ask::Tell{render(text.error())});
    KernelDocument& document = session.desk.document();
    if (document.text == text.value()) return session.post(ask::Tell{"This is the lesson's own text already.", true});
    if (!document.is_host()) document.launch = launch_of(lesson, exercise, text.value());
    session.desk.set_text_anew(std::move(text.value()));
    session.post(ask::Tell{"The lesson's own text again. Ctrl+Z in it brings back what you had written.", true});
}

void check_exercise(Session& session, int step, size_t exercise) {
    const lessons::Lesson& lesson = *session.lesson.lesson;
    std::string path;
    try {
        path = work_file(lesson, lesson.steps[static_cast<size_t>(step)].exercises[exercise]).string();
    } catch (const Failure& failure) {
        return session.post(ask::Tell{failure.what()});
    }
    std::string text;
    if (session.desk.holds(path)) {
        text = session.desk.document().text;
        if (!session.desk.document().saved())
            if (const auto problem = session.desk.save(path)) session.post(ask::Tell{*problem});
    } else {
        auto read = read_text(path, size_t{1} << 20);
        if (!read.ok()) return session.post(ask::Tell{render(read.error())});
        text = std::move(read.value());
    }
    ++session.lesson.checked[{step, exercise}].checks;
    if (session.lesson.holds_back()) return;  // an exam keeps it; all is judged once it is handed in
    session.post(ask::CheckExercise{step, exercise, std::move(text)});
}

void hand_in_exam(Session& session) {
    if (!session.lesson.holds_back()) return;
    session.hand_in();
    const auto& steps = session.lesson.lesson->steps;
    for (size_t s = 0; s < steps.size(); ++s)
        for (size_t e = 0; e < steps[s].exercises.size(); ++e) check_exercise(session, static_cast<int>(s), e);
}

}  // namespace lockstep::gui
