// Reads every #include "..." of the tree: modules include only those before them, core never sees the app or ImGui.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace source_include_order_test {

namespace fs = std::filesystem;

namespace {
const std::vector<std::string> order = {
    "core/system",   "core/base",   "core/trace", "core/ptx",    "core/simt",  "core/model", "core/runtime",
    "core/validate", "core/device", "core/comm",  "core/tensor", "core/graph", "core/nn",    "core/parallel",
    "core/scene",    "core/api",    "kernels",    "lessons",     "app"};

// What kernels and host share stands before everything: plain structs, kernels/include/optimizer.h, that include nothing,
// and the lists of elementwise functions, of which the host's twins are made.
int rank_of(const std::string& path) {
    if (path.rfind("kernels/include/", 0) == 0 || path == "kernels/unary.cu" || path == "kernels/binary.cu") return 0;
    for (size_t i = 0; i < order.size(); ++i)
        if (path.rfind(order[i] + "/", 0) == 0) return static_cast<int>(i);
    return -1;
}

// "file:line includes X" for each include that points down in `order`.
std::vector<std::string> violations_in(const std::string& name, std::istream& text) {
    std::vector<std::string> found;
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
        const bool quoted = line.rfind("#include \"", 0) == 0, angled = line.rfind("#include <", 0) == 0;
        if (!quoted && !angled) continue;
        const size_t begin = line.find_first_of("\"<") + 1;
        const std::string target = line.substr(begin, line.find_first_of("\">", begin) - begin);
        const std::string where = name + ":" + std::to_string(number) + " includes " + target;
        if (quoted && rank_of(target) > rank_of(name)) found.push_back(where);
        if (name.rfind("app/gui", 0) != 0 &&
            (target.find("imgui") != std::string::npos || target.find("GLFW") != std::string::npos))
            found.push_back(where);
    }
    return found;
}
}  // namespace

TEST_CASE("includes point upwards in the list of modules only, and core never includes the app or ImGui") {
    const fs::path root = LOCKSTEP_SOURCE_DIR;
    std::vector<std::string> violations;
    size_t files = 0;
    for (const char* top : {"core", "lessons", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const auto extension = entry.path().extension();
            if (extension != ".h" && extension != ".cpp" && extension != ".inc") continue;
            ++files;
            std::ifstream in(entry.path());
            const auto found = violations_in(fs::relative(entry.path(), root).generic_string(), in);
            violations.insert(violations.end(), found.begin(), found.end());
        }
    CHECK(files > 50);
    for (const auto& violation : violations) FAIL_CHECK(violation);
}

TEST_CASE("what kernels and host share includes nothing") {
    std::ifstream in(fs::path(LOCKSTEP_SOURCE_DIR) / "kernels/include/optimizer.h");
    REQUIRE(in);
    for (std::string line; std::getline(in, line);) CHECK(line.rfind("#include", 0) != 0);
}

TEST_CASE("the include order test finds a planted violation") {
    std::istringstream text("#include \"core/base/result.h\"\n#include \"core/nn/train/trainer.h\"\n#include <imgui.h>\n");
    const auto found = violations_in("core/ptx/parse/parser.cpp", text);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == "core/ptx/parse/parser.cpp:2 includes core/nn/train/trainer.h");
    CHECK(found[1] == "core/ptx/parse/parser.cpp:3 includes imgui.h");
}

}  // namespace source_include_order_test
