// A thread that is a member of a class is its last one: members go in reverse order, and it may use all the others to its
// end.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace source_threads_test {

namespace fs = std::filesystem;

namespace {
// "file:line: NAME goes before the thread above it ends" for each member that is declared after a thread of its class.
std::vector<std::string> found_in(const std::string& name, std::istream& text) {
    static const std::regex thread(R"(^(\s+)std::(jthread|thread|vector<std::j?thread>) [\w, ]+;.*)");
    static const std::regex member(
        R"(^(\s+)(?!using |static |friend |return |constexpr |struct \w+;|class \w+;|enum )[\w:<>,\*& \[\]]+ [\w, ]+( = [^(;]*|\{[^(;]*\})?;.*)");
    std::vector<std::string> found;
    std::string line, indent;
    for (int number = 1; std::getline(text, line); ++number) {
        std::smatch at;
        if (!indent.empty() && line.find_first_not_of(' ') != std::string::npos &&
            line.find_first_not_of(' ') < indent.size() && line.find("};") != std::string::npos)
            indent.clear();  // the class ends
        if (std::regex_match(line, at, thread))
            indent = at[1];
        else if (!indent.empty() && std::regex_match(line, at, member) && at[1] == indent)
            found.push_back(name + ":" + std::to_string(number) + ": this is gone before the thread above it ends: " + line);
    }
    return found;
}
}  // namespace

TEST_CASE("no member of a class stands after its threads") {
    const fs::path root = LOCKSTEP_SOURCE_DIR;
    size_t files = 0;
    for (const char* top : {"core", "lessons", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            if (entry.path().extension() != ".h") continue;
            ++files;
            std::ifstream in(entry.path());
            for (const std::string& one : found_in(fs::relative(entry.path(), root).generic_string(), in)) FAIL_CHECK(one);
        }
    CHECK(files > 300);
}

TEST_CASE("a planted member after a thread is found") {
    std::istringstream planted(
        "struct A {\n    std::jthread thread;\n    void f(int x);\n    std::map<std::string, int> kept;  // late\n};\n"
        "struct B {\n    int early = 0;\n    std::jthread one, two;  // last\n    void g();\n};\nint other = 0;\n");
    CHECK(found_in("planted.h", planted) ==
          std::vector<std::string>{"planted.h:4: this is gone before the thread above it ends:     "
                                   "std::map<std::string, int> kept;  // late"});
}

}  // namespace source_threads_test
