// What else a new thing needs, by DESIGN.md's table: a view its file and a line, a scheduler its row and its choice on the
// plain and on the fast SM, a lesson a folder and no code. The tree is read for who names them; a lesson is planted.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "core/base/files.h"
#include "core/model/gpus/gpu_spec.h"
#include "lessons/player/check.h"
#include "tests/catch.h"

namespace every_new_row_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {
const fs::path root = LOCKSTEP_SOURCE_DIR;

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The sources of the program that hold this word.
std::set<std::string> files_with(const std::string& word) {
    static const std::vector<std::pair<std::string, std::string>> sources = [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const char* top : {"core", "lessons/player", "app"})
            for (const auto& entry : fs::recursive_directory_iterator(root / top))
                if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
                    all.emplace_back(fs::relative(entry.path(), root).generic_string(), text_of(entry.path()));
        return all;
    }();
    std::set<std::string> files;
    for (const auto& [file, text] : sources)
        if (text.find(word) != std::string::npos) files.insert(file);
    return files;
}
}  // namespace

TEST_CASE("a new view touches its own file and one line of the list") {
    const std::string list = text_of(root / "app/gui/views.cpp"), begin = "VIEW(make_";
    size_t views = 0;
    for (size_t at = list.find(begin); at != std::string::npos; at = list.find(begin, at + 1)) {
        const size_t name = at + std::string_view("VIEW(").size();
        const std::string make = list.substr(name, list.find(',', name) - name);
        INFO(make);
        CHECK(files_with(make + "(").size() == 1);  // its own file
        CHECK(files_with(make).size() == 2);
        ++views;
    }
    CHECK(views >= 60);
}

TEST_CASE("a new scheduler touches its row and its choice, on the plain SM and on the fast one") {
    // An order among the warps that are ready is the name, the row, and an if on either SM; a GPU may take it for its own.
    const std::set<std::string> known = {"core/model/gpus/gpu_spec.h", "core/model/gpus/gpu_lookup.cpp",
                                         "core/model/gpus/gpus.cpp", "core/model/issue/sm.cpp",
                                         "core/model/plain/plain_sm.cpp"};
    size_t policies = 0;
    for (const char* policy : {"loose_round_robin", "greedy_then_youngest"}) {
        const std::set<std::string> files = files_with(policy);
        for (const std::string& file : files) {
            INFO(file << " knows " << policy);
            CHECK(known.contains(file));
        }
        CHECK(files.contains("core/model/gpus/gpu_lookup.cpp"));
        policies += !files.empty();
    }
    CHECK(policies == 2);
    for (const char* name : {"lrr", "gty"}) {  // the command line, the app and GPU files take what the row says
        const auto policy = model::scheduler_named(name);
        REQUIRE(policy);
        CHECK(model::name_of(*policy) == name);
        const std::set<std::string> files = files_with(fmt::format("\"{}\"", name));
        CHECK(files == std::set<std::string>{"core/model/gpus/gpu_lookup.cpp", "core/model/gpus/gpu_spec.h"});
    }
}

TEST_CASE("a new lesson is a folder and no code: a planted one is found, run and proved") {
    const fs::path folder = fs::temp_directory_path() / "lockstep_new_row" / "A99_planted";
    fs::remove_all(folder.parent_path());
    fs::create_directories(folder.parent_path());
    fs::copy(resource_root() / "lessons" / "A06_divergence", folder, fs::copy_options::recursive);
    std::string text = text_of(folder / "lesson.md");
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"id = \"A06\"", "id = \"A99\""},
                                   {"title = \"Warp divergence\"", "title = \"A planted lesson\""}}) {
        REQUIRE(text.find(from) != std::string::npos);
        text.replace(text.find(from), from.size(), to);
    }
    write_file(folder / "lesson.md", text);
    const auto lesson = lessons::lesson_named(folder.string());
    REQUIRE(lesson.ok());
    CHECK(lesson.value().title == "A planted lesson");
    const lessons::LessonCheck check = lessons::check_lesson(folder);
    for (const lessons::CheckItem& item : check.items) {
        INFO(item.what << ": " << item.detail);
        CHECK(item.passed);
    }
    CHECK(check.passed());
    CHECK(files_with("A99").empty());
    fs::remove_all(folder.parent_path());
}

}  // namespace every_new_row_test
