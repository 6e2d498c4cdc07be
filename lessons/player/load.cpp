// Lessons on disk: a folder a lesson, its name beginning with the id: lessons/A06_divergence/lesson.md.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "lessons/player/lesson.h"

namespace lockstep::lessons {

namespace {
std::string id_of(const std::filesystem::path& folder) {
    const std::string name = folder.filename().string();
    return name.substr(0, name.find('_'));
}
}  // namespace

Result<Lesson> load_lesson(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "lesson.md";
    Result<std::string> text = read_text(file, size_t{1} << 20);
    if (!text) return text.error();
    Result<Lesson> lesson = parse_lesson(text.value(), file);
    if (lesson && lesson.value().id != id_of(std::filesystem::weakly_canonical(folder / "lesson.md").parent_path()))
        return Diagnostic{
            fmt::format("the lesson's id is '{}', but its folder is named '{}'", lesson.value().id,
                        std::filesystem::weakly_canonical(folder / "lesson.md").parent_path().filename().string()),
            {file.string()}};
    return lesson;
}

std::vector<std::filesystem::path> lesson_folders() {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "lessons"))
        if (std::filesystem::exists(entry.path() / "lesson.md")) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
}

Result<Lesson> lesson_named(const std::string& id) {
    std::vector<std::string> known;
    for (const std::filesystem::path& folder : lesson_folders()) {
        const auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
        const std::string own = id_of(folder);  // a06 finds A06
        if (std::equal(id.begin(), id.end(), own.begin(), own.end(), same) || folder.filename() == id)
            return load_lesson(folder);
        known.push_back(id_of(folder));
    }
    std::error_code error;  // a lesson of one's own, by its folder
    if (std::filesystem::exists(std::filesystem::path(id) / "lesson.md", error)) return load_lesson(id);
    return Diagnostic{fmt::format("unknown lesson '{}'; there are {}", id, fmt::join(known, ", "))};
}

}  // namespace lockstep::lessons
