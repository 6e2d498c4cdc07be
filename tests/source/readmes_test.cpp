// A stranger finds the way: every folder of core, and the larger ones beside it, has a README of one page that names its
// rooms and no file that does not exist; and no folder holds more files than one looks through.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.h"

namespace source_readmes_test {

namespace fs = std::filesystem;

namespace {
const fs::path root = LOCKSTEP_SOURCE_DIR;
constexpr size_t most_lines = 40, most_characters = 100;
constexpr size_t most_files = 26;  // more become rooms with names

std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

bool is_source(const fs::path& file) {
    return file.extension() == ".h" || file.extension() == ".cpp";
}

// The folder and all below it that hold sources, with how many.
std::vector<std::pair<fs::path, size_t>> folders_with_sources(const fs::path& top) {
    std::vector<fs::path> folders{top};
    for (const auto& entry : fs::recursive_directory_iterator(top))
        if (entry.is_directory()) folders.push_back(entry.path());
    std::vector<std::pair<fs::path, size_t>> found;
    for (const fs::path& folder : folders) {
        const auto count = std::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
                                         [](const auto& entry) { return is_source(entry.path()); });
        if (count > 0) found.emplace_back(folder, static_cast<size_t>(count));
    }
    return found;
}

std::vector<fs::path> readmes() {
    std::vector<fs::path> found{root / "tests/README.md"};
    for (const char* top : {"core", "app", "lessons/player", "kernels"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top))
            if (entry.path().filename() == "README.md") found.push_back(entry.path());
    return found;
}

// What is wrong with a README's size: "line 3 has 104 characters".
std::vector<std::string> too_large(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream in(text);
    size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        const auto characters = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
        if (static_cast<size_t>(characters) > most_characters)
            found.push_back("line " + std::to_string(number) + " has " + std::to_string(characters) + " characters");
    }
    if (number > most_lines) found.push_back(std::to_string(number) + " lines");
    return found;
}

// What stands in backticks in a text, outside of blocks of code.
std::set<std::string> quoted_in(const std::string& text) {
    std::set<std::string> found;
    std::istringstream in(text);
    bool code = false;
    std::string prose;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("```")) code = !code;
        if (!code && !line.starts_with("```")) prose += line + "\n";
    }
    for (size_t at = prose.find('`'); at != std::string::npos;) {
        const size_t end = prose.find('`', at + 1);
        if (end == std::string::npos) break;
        found.insert(prose.substr(at + 1, end - at - 1));
        at = prose.find('`', end + 1);
    }
    return found;
}

// A path is written with a slash or as a file of sources. Placeholders (`views/ROOM/NAME.cpp`) are none.
bool is_path(std::string_view word) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./*-";
    if (word.empty() || word.find_first_not_of(letters) != word.npos) return false;
    if (word.front() == '-' || word.front() == '.' || word.front() == '/' || word.front() == '*') return false;
    for (const std::string_view placeholder : {"NAME", "ROOM", "FILE", "FOLDER"})
        if (word.find(placeholder) != word.npos) return false;
    if (word.find('/') != word.npos) return true;
    for (const std::string_view ending : {".h", ".cpp", ".cu", ".md", ".cmake", ".py", ".*"})
        if (word.ends_with(ending)) return true;
    return false;
}

// Whether a file's name is the one written, in which a star stands for anything, or has it before its ending (`sm`: sm.h).
bool names(std::string_view pattern, std::string_view name) {
    if (const size_t star = pattern.find('*'); star != pattern.npos)
        return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
               name.ends_with(pattern.substr(star + 1));
    return name == pattern || name.substr(0, name.find('.')) == pattern;
}

// A path begins in the README's folder or in the project's; a file's name alone may be in any room below the README.
bool exists(const fs::path& folder, std::string word) {
    while (word.ends_with('/')) word.pop_back();
    const std::string name = fs::path(word).filename().string();
    const auto holds = [&](const fs::path& where) {
        if (!fs::is_directory(where)) return false;
        return std::any_of(fs::directory_iterator(where), fs::directory_iterator(),
                           [&](const auto& entry) { return names(name, entry.path().filename().string()); });
    };
    const fs::path above = fs::path(word).parent_path();
    if (holds(folder / above) || holds(root / above)) return true;
    if (!above.empty()) return false;
    return std::any_of(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator(),
                       [&](const auto& entry) { return names(name, entry.path().filename().string()); });
}

// Whether one of the words names the room: by its path from the README, by its name, or by a path into it.
bool names_room(const std::set<std::string>& words, const fs::path& room) {
    const std::string path = room.generic_string(), name = room.filename().string();
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word == path || word == name || word == name + "/" || word.starts_with(path + "/");
    });
}

fs::path readme_above(const fs::path& room) {
    for (fs::path folder = room.parent_path(); folder != root; folder = folder.parent_path())
        if (fs::exists(folder / "README.md")) return folder / "README.md";
    return {};
}

std::string short_name(const fs::path& path) {
    return fs::relative(path, root).generic_string();
}
}  // namespace

TEST_CASE("every folder of core has a README, and a README is a page that can be read at once") {
    size_t folders = 0;
    for (const auto& entry : fs::directory_iterator(root / "core")) {
        if (!entry.is_directory()) continue;
        ++folders;
        INFO(short_name(entry.path()));
        CHECK(fs::exists(entry.path() / "README.md"));
    }
    CHECK(folders >= 14);
    for (const fs::path& file : readmes())
        for (const std::string& wrong : too_large(text_of(file))) FAIL_CHECK(short_name(file) << ": " << wrong);
}

TEST_CASE("the files and folders that a README names exist") {
    size_t paths = 0;
    for (const fs::path& file : readmes())
        for (const std::string& word : quoted_in(text_of(file))) {
            if (!is_path(word)) continue;
            ++paths;
            if (!exists(file.parent_path(), word)) FAIL_CHECK(short_name(file) << " names " << word);
        }
    CHECK(paths > 200);
}

TEST_CASE("every room is named in the README above it") {
    size_t rooms = 0;
    for (const char* top : {"core", "app", "lessons/player", "tests"})
        for (const auto& [room, count] : folders_with_sources(root / top)) {
            const fs::path readme = readme_above(room);
            if (readme.empty()) continue;  // one of core's folders itself, whose README the first test asks for
            ++rooms;
            if (!names_room(quoted_in(text_of(readme)), fs::relative(room, readme.parent_path())))
                FAIL_CHECK(short_name(readme) << " does not name " << short_name(room));
        }
    CHECK(rooms > 80);
}

TEST_CASE("no folder holds more sources than one looks through") {
    for (const char* top : {"core", "app", "lessons/player", "tests"})
        for (const auto& [folder, count] : folders_with_sources(root / top)) {
            INFO(short_name(folder) << " has " << count);
            CHECK(count <= most_files);
        }
}

TEST_CASE("a planted README that is wrong is found") {
    CHECK(too_large("short\n" + std::string(101, 'x') + "\n").size() == 1);
    std::string accents;
    for (int i = 0; i < 100; ++i) accents += "é";
    CHECK(too_large(accents + "\n").empty());
    std::string lines;
    for (int i = 0; i < 41; ++i) lines += "\n";
    CHECK(too_large(lines) == std::vector<std::string>{"41 lines"});

    CHECK(quoted_in("a `b.h` and `c d`\n```\n`e.h`\n```\n") == std::set<std::string>{"b.h", "c d"});
    for (const char* path : {"warp.h", "core/simt", "check/", "opcodes*.cpp", "tape_terms.*", "issue/sm"})
        CHECK(is_path(path));
    for (const char* other : {"relu_f32", "views/ROOM/NAME.cpp", "--view", "std::any", ".ptx", "y = a / b"})
        CHECK_FALSE(is_path(other));

    const fs::path simt = root / "core/simt";
    for (const char* there : {"warp.h", "checker.h", "check/", "execute*.cpp", "paths/spin", "core/ptx", "tests/simt"})
        CHECK(exists(simt, there));
    for (const char* gone : {"executor.h", "check/warp.h", "checks/", "exec_*.cpp", "core/pty"})
        CHECK_FALSE(exists(simt, gone));
    CHECK(names_room({"check/checker.h"}, "check"));
    CHECK(names_room({"algorithms/"}, "collectives/algorithms"));
    CHECK_FALSE(names_room({"checks/", "checker.h"}, "check"));
}

}  // namespace source_readmes_test
