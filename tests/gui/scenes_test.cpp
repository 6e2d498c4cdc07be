// The tables of views and scenes are whole, and nothing outside of them asks for a view, a scene or a workspace by its name.
#include "app/gui/scenes.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "app/gui/view.h"
#include "lessons/player/authors/authors.h"
#include "lessons/player/lesson.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::gui;

namespace gui_scenes_test {

namespace fs = std::filesystem;

namespace {

std::set<std::string> names_of_tables() {
    std::set<std::string> names;
    for (const ViewRow& row : views()) names.emplace(row.name);
    for (const SceneRow& row : scenes()) names.emplace(row.name);
    for (const WorkspaceRow& row : workspaces) names.emplace(row.name);
    names.erase("");
    return names;
}

// What stands between the quotation marks that begin behind `at`; empty: none do.
std::string literal_at(const std::string& line, size_t at) {
    at = line.find_first_not_of(' ', at);
    if (at == std::string::npos || line[at] != '"') return {};
    const size_t end = line.find('"', at + 1);
    return end == std::string::npos ? std::string() : line.substr(at + 1, end - at - 1);
}

// The names that the line compares something with: `view == "warps"` and `"warps" != view`.
std::vector<std::string> compared_in(const std::string& line, const std::set<std::string>& names) {
    std::vector<std::string> found;
    for (size_t at = 0; at + 1 < line.size(); ++at) {
        if (line[at + 1] != '=' || (line[at] != '=' && line[at] != '!')) continue;
        std::string before = line.substr(0, at);
        while (!before.empty() && before.back() == ' ') before.pop_back();
        const size_t quote = before.ends_with('"') && before.size() > 1 ? before.rfind('"', before.size() - 2) : before.npos;
        for (const std::string& literal :
             {literal_at(line, at + 2), quote == before.npos ? std::string() : literal_at(before, quote)})
            if (names.contains(literal)) found.push_back(literal);
    }
    return found;
}

void walk(const LayoutNode& node, const std::function<void(const LayoutNode&)>& each) {
    each(node);
    for (const LayoutNode& child : node.children) walk(child, each);
}

}  // namespace

TEST_CASE("no name of a view, a scene or a workspace is compared outside the tables") {
    const std::set<std::string> names = names_of_tables();
    REQUIRE(compared_in("if (view == \"warps\") return;", names).size() == 1);
    REQUIRE(compared_in("return \"memory\" != name;", names).size() == 1);
    REQUIRE(compared_in("if (line.name == \"memory bandwidth\") x = \"memory\";", names).empty());
    std::vector<std::string> found;
    size_t files = 0;
    const fs::path root = fs::path(LOCKSTEP_SOURCE_DIR);
    for (const auto& entry : fs::recursive_directory_iterator(root / "app/gui")) {
        const std::string name = fs::relative(entry.path(), root).generic_string();
        if (!entry.is_regular_file() || name == "app/gui/views.cpp" || name == "app/gui/scenes.cpp") continue;
        ++files;
        std::ifstream in(entry.path());
        std::string line;
        for (int number = 1; std::getline(in, line); ++number)
            for (const std::string& one : compared_in(line, names))
                found.push_back(name + ":" + std::to_string(number) + " compares " + one);
    }
    CHECK(files > 100);
    CHECK(found == std::vector<std::string>{});
}

TEST_CASE("every scene's tree and what presents it name views that there are, and every name is a row of its own") {
    std::set<std::pair<Workspace, std::string_view>> named;
    for (const SceneRow& row : scenes()) {
        INFO(row_of(row.workspace).name << " " << row.name);
        CHECK(named.emplace(row.workspace, row.name).second);
        CHECK(&scene_named(row.workspace, row.name) == &row);
        CHECK(view_named(row.presented) != nullptr);
        size_t slots = 0;
        walk(row.tree, [&](const LayoutNode& node) {
            if (node.kind != LayoutNode::Kind::slot) return;
            ++slots;
            INFO(node.view);
            CHECK(view_named(node.view) != nullptr);
        });
        CHECK(slots > 0);
    }
    std::set<std::string_view> views_named;
    for (const ViewRow& row : views()) CHECK(views_named.insert(row.name).second);
    for (const WorkspaceRow& row : workspaces) {
        CHECK(&row_of(*workspace_named(row.name)) == &row);
        if (!row.strip.empty()) CHECK(view_named(row.strip) != nullptr);
    }
}

TEST_CASE("every scene that a lesson names is a row") {
    size_t named = 0;
    for (const fs::path& folder : lessons::lesson_folders()) {
        const auto lesson = lessons::load_lesson(folder);
        REQUIRE(lesson.ok());
        for (const lessons::Step& step : lesson.value().steps)
            for (const scene::Scene& scene : step.scenes) {
                if (scene.view.empty()) continue;
                ++named;
                INFO(lesson.value().id << ": " << scene.view);
                CHECK(scene_named(Workspace::learn, scene.view).name == scene.view);
            }
    }
    CHECK(named > 100);
}

TEST_CASE("what a lesson may name as its view is what Learn has a page for") {
    std::set<std::string> pages, views;
    for (const SceneRow& row : scenes())
        if (row.workspace == Workspace::learn && !row.name.empty() &&
            !row.name.starts_with("sketch"))  // those by a prediction's type
            pages.emplace(row.name);
    for (const lessons::LessonView& view : lessons::lesson_views()) views.emplace(view.name);
    CHECK(pages == views);
}

}  // namespace gui_scenes_test
