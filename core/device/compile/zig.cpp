// The Python package ziglang as a compiler of the host's part: its clang has no headers of the machine's among its own, but
// the package carries those of C and C++, and what is linked.
#include <sstream>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"
#include "core/system/system.h"

namespace lockstep::device {
namespace {

// With the oldest C library that the package knows: the program runs with any that is newer.
#if defined __aarch64__ || defined _M_ARM64
constexpr const char* host_target = "aarch64-linux-gnu";
#else
constexpr const char* host_target = "x86_64-linux-gnu";
#endif

// "a b \"c d\"" -> a, b, c d
std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::string word;
    bool quoted = false, any = false;
    for (size_t k = 0; k < line.size(); ++k) {
        const char c = line[k];
        if (c == '"') {
            quoted = !quoted;
            any = true;
        } else if (c == '\\' && k + 1 < line.size() && quoted) {
            word += line[++k];
        } else if (c == ' ' && !quoted) {
            if (any || !word.empty()) words.push_back(std::move(word));
            word.clear();
            any = false;
        } else {
            word += c;
        }
    }
    if (any || !word.empty()) words.push_back(std::move(word));
    return words;
}

}  // namespace

std::vector<std::string> zig_host_options() {
    static const std::vector<std::string> options = [] {
        std::vector<std::string> found = {std::string("--target=") + host_target, "-nostdlibinc", "-nostdinc++"};
        const TemporaryFolder folder;
        write_file(folder.path() / "ask.cpp", "int ask;\n");
        const std::string said =
            system::run_program(zig_program(), {"c++", "-target", host_target, "-v", "-c", "-o", "ask.o", "ask.cpp"},
                                folder.path(), {.seconds = 60})
                .output;
        std::istringstream lines(said);
        for (std::string line; std::getline(lines, line);) {
            if (line.find(" -cc1 ") == std::string::npos) continue;
            const std::vector<std::string> words = words_of(line);
            for (size_t k = 0; k + 1 < words.size(); ++k)
                if (words[k] == "-isystem" || words[k] == "-D") found.insert(found.end(), {words[k], words[k + 1]});
            break;
        }
        return found;
    }();
    return options;
}

std::vector<std::string> zig_link_words(const std::filesystem::path& runtime, const std::filesystem::path& folder,
                                        bool cpp) {
    std::vector<std::string> words = {"-femit-bin=program",
                                      "-target",
                                      host_target,
                                      "-O",
                                      "ReleaseFast",
                                      "-lc",
                                      "-L" + runtime.string(),
                                      "-lcudart",
                                      "-rpath",
                                      runtime.string(),
                                      "-lpthread",
                                      "-ldl",
                                      "-lm",
                                      "-fallow-shlib-undefined",
                                      "--cache-dir",
                                      (folder / "zig").string()};
    if (cpp) words.emplace_back("-lc++");
    const std::filesystem::path cache = system::cache_folder();
    words.insert(words.end(), {"--global-cache-dir", ((cache.empty() ? folder : cache) / "zig").string()});
    return words;
}

}  // namespace lockstep::device
