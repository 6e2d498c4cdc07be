// Only core/system knows the operating system: no other file of the project includes a header that one system alone has.
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.h"

namespace source_system_headers_test {

namespace fs = std::filesystem;

namespace {
constexpr std::array of_one_system = {
    "unistd.h", "dlfcn.h",  "fcntl.h",    "poll.h",   "pwd.h",   "dirent.h",   "spawn.h",  "termios.h",  "pthread.h",
    "sched.h",  "signal.h", "strings.h",  "link.h",   "elf.h",   "windows.h",  "io.h",     "direct.h",   "process.h",
    "malloc.h", "alloca.h", "execinfo.h", "syslog.h", "netdb.h", "winsock2.h", "shlobj.h", "semaphore.h"};

// The twin of the app: drawing without a display is done by EGL, which Windows does not have.
bool may_know_the_system(const std::string& file) {
    return file.starts_with("core/system/") || file == "app/gui/window/offscreen_context_egl.cpp";
}

// "file:line includes X" for each header of one system that a file includes.
std::vector<std::string> found_in(const std::string& name, std::istream& text) {
    std::vector<std::string> found;
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
        if (!line.starts_with("#include <")) continue;
        const std::string header = line.substr(10, line.find('>') - 10);
        bool wrong = header.starts_with("sys/") || header.starts_with("linux/") || header.starts_with("net") ||
                     header.starts_with("arpa/") || header.starts_with("mach") || header.starts_with("EGL/");
        for (const std::string_view one : of_one_system) wrong = wrong || header == one;
        if (wrong) found.push_back(name + ":" + std::to_string(number) + " includes " + header);
    }
    return found;
}
}  // namespace

TEST_CASE("no file but those of core/system includes a header that only one system has") {
    const fs::path root = LOCKSTEP_SOURCE_DIR;
    size_t files = 0;
    for (const char* top : {"core", "lessons", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const auto extension = entry.path().extension();
            const std::string name = fs::relative(entry.path(), root).generic_string();
            if ((extension != ".h" && extension != ".cpp") || may_know_the_system(name)) continue;
            ++files;
            std::ifstream in(entry.path());
            for (const std::string& one : found_in(name, in)) FAIL_CHECK(one);
        }
    CHECK(files > 500);
}

TEST_CASE("a planted header of one system is found") {
    std::istringstream text("#include <vector>\n#include <unistd.h>\n#include <sys/mman.h>\n#include <csignal>\n");
    const auto found = found_in("core/ptx/parser.cpp", text);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == "core/ptx/parser.cpp:2 includes unistd.h");
    CHECK(found[1] == "core/ptx/parser.cpp:3 includes sys/mman.h");
}

TEST_CASE("a function of core/system has a POSIX and a Windows twin") {
    const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "core" / "system";
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (const size_t at = name.find("_posix.cpp"); at != std::string::npos)
            CHECK(fs::exists(folder / (name.substr(0, at) + "_windows.cpp")));
        if (const size_t at = name.find("_windows.cpp"); at != std::string::npos)
            CHECK(fs::exists(folder / (name.substr(0, at) + "_posix.cpp")));
    }
}

namespace {
// The names of the functions that a header declares at its outermost level: "std::string signal_text(int status);".
std::set<std::string> functions_declared_in(std::istream& header) {
    std::set<std::string> names;
    const std::regex declaration(R"(^[A-Za-z\[].*?[ *&]([a-z_]+)\()");
    std::string line;
    for (std::smatch match; std::getline(header, line);)
        if (std::regex_search(line, match, declaration) && !line.starts_with("using ") && !line.starts_with("struct "))
            names.insert(match[1]);
    return names;
}
}  // namespace

TEST_CASE("what core/system declares is defined for POSIX and for Windows") {
    const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "core" / "system";
    std::ifstream header(folder / "system.h");
    const std::set<std::string> names = functions_declared_in(header);
    CHECK(names.size() > 20);
    for (const std::string end : {"_posix.cpp", "_windows.cpp"}) {
        std::string text;
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().filename().string().ends_with(end)) {
                std::ifstream in(entry.path());
                text.append(std::istreambuf_iterator<char>(in), {});
            }
        for (const std::string& name : names) {
            INFO(name << " is not defined in any *" << end);
            CHECK(std::regex_search(text, std::regex("\n[A-Za-z\\[][^\n;]*[ *&]" + name + "\\([^;{]*\\{")));
        }
    }
}

TEST_CASE("a function that a header declares is found by its name") {
    std::istringstream text(
        "using Say = std::function<void(int line)>;\nstruct Child { int status(); };\n"
        "void* symbol_of(int, const char* name);  // null\n    int member() const;\n[[noreturn]] void exit_now(int);\n");
    CHECK(functions_declared_in(text) == std::set<std::string>{"exit_now", "symbol_of"});
}

}  // namespace source_system_headers_test
