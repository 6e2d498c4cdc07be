// Kernels that are wrong in one way each, and kernels that look odd and are right: what Lockstep says of them. The comment
// at the head of each .cu says how it is run and what has to be said; README.md has the table of them. Its PTX is kept in
// ptx/, so that no compiler is needed.
//
//   // run: --grid 1 --block 64 --arg out:f32[64] --check all     a run; where there are several, all are tried
//   // run timed: ...   // run functional: ...                    one that only the timed, or the functional, run takes
//   // says: WORDS      must be in what is printed      // never: WORDS   must not be
//   // exit: N          the exit status, 0 where it is not said
//   // quiet            nothing at all is said on stderr, and the exit status is 0
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/cli/support.h"

namespace findings_findings_test {

namespace fs = std::filesystem;

namespace {

const fs::path room = fs::path(LOCKSTEP_SOURCE_DIR) / "tests/findings";

struct Kernel {
    std::string name;
    std::vector<std::string> runs;  // with --functional where they are
    std::vector<std::string> says, never;
    int exit = 0;
    bool quiet = false;
    std::vector<std::string> unknown;  // lines at the head that are none of these
};

Kernel read_kernel(const fs::path& file) {
    Kernel kernel{file.stem().string(), {}, {}, {}, 0, false, {}};
    std::istringstream in(lockstep::read_text(file.string()).value());
    for (std::string line; std::getline(in, line) && line.starts_with("//");) {
        const auto after = [&](const std::string& key, std::string& rest) {
            if (!line.starts_with(key)) return false;
            rest = line.substr(key.size());
            return true;
        };
        std::string rest;
        if (after("// run: ", rest)) {
            kernel.runs.push_back(rest);
            kernel.runs.push_back(rest + " --functional");
        } else if (after("// run timed: ", rest)) {
            kernel.runs.push_back(rest);
        } else if (after("// run functional: ", rest)) {
            kernel.runs.push_back(rest + " --functional");
        } else if (after("// says: ", rest)) {
            kernel.says.push_back(rest);
        } else if (after("// never: ", rest)) {
            kernel.never.push_back(rest);
        } else if (after("// exit: ", rest)) {
            kernel.exit = std::stoi(rest);
        } else if (after("// arch: ", rest)) {  // for compile.sh
        } else if (line == "// quiet") {
            kernel.quiet = true;
        } else if (line.find(": ") < 16) {
            kernel.unknown.push_back(line);
        }
    }
    return kernel;
}

std::vector<Kernel> kernels() {
    std::vector<Kernel> found;
    for (const auto& entry : fs::directory_iterator(room))
        if (entry.path().extension() == ".cu") found.push_back(read_kernel(entry.path()));
    std::sort(found.begin(), found.end(), [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
    return found;
}

// The PTX of a kernel: NAME.ptx is nvcc's, NAME.clang.ptx is clang's.
std::vector<fs::path> programs_of(const Kernel& kernel) {
    std::vector<fs::path> found;
    for (const char* const by : {".ptx", ".clang.ptx"})
        if (fs::exists(room / "ptx" / (kernel.name + by))) found.push_back(room / "ptx" / (kernel.name + by));
    return found;
}

bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

// A finding is cut into lines: the same with one blank for each end of a line.
std::string in_one_line(const std::string& text) {
    std::string line;
    for (const char c : text)
        if (const bool blank = c == ' ' || c == '\n'; !blank || line.empty() || line.back() != ' ') line += blank ? ' ' : c;
    return line;
}

void try_run(const Kernel& kernel, const fs::path& program, const std::string& run) {
    const std::string command = "run " + program.string() + " " + run;
    INFO("lockstep " << command);
    const Outcome outcome = lockstep_command(command);
    INFO(outcome.err << outcome.out);
    CHECK(outcome.status == kernel.exit);
    if (kernel.quiet) CHECK(outcome.err.empty());
    const std::string all = outcome.err + outcome.out;
    for (const std::string& words : kernel.says) {
        INFO("says: " << words);
        CHECK((has(all, words) || has(in_one_line(all), words)));
    }
    for (const std::string& words : kernel.never) {
        INFO("never: " << words);
        CHECK_FALSE((has(all, words) || has(in_one_line(all), words)));
    }
}

}  // namespace

TEST_CASE("each wrong kernel is told as its head says") {
    for (const Kernel& kernel : kernels())
        if (!kernel.quiet)
            for (const fs::path& program : programs_of(kernel))
                for (const std::string& run : kernel.runs) try_run(kernel, program, run);
}

TEST_CASE("of the odd kernels that are right nothing is said") {
    for (const Kernel& kernel : kernels())
        if (kernel.quiet)
            for (const fs::path& program : programs_of(kernel))
                for (const std::string& run : kernel.runs) try_run(kernel, program, run);
}

TEST_CASE("each kernel of the room has a run, an expectation, its PTX and a row in the table") {
    const std::string table = lockstep::read_text((room / "README.md").string()).value();
    for (const Kernel& kernel : kernels()) {
        INFO(kernel.name);
        CHECK(kernel.unknown.empty());
        CHECK_FALSE(kernel.runs.empty());
        CHECK((kernel.quiet || !kernel.says.empty()));
        CHECK_FALSE(programs_of(kernel).empty());
        CHECK(has(table, "`" + kernel.name + "`"));
    }
}

TEST_CASE("the page of all that a kernel can be told names every wrong kernel of the room, and no other") {
    const std::string page = lockstep::read_text(std::string(LOCKSTEP_SOURCE_DIR) + "/core/simt/check/FAULTS.md").value();
    const std::string advice = lockstep::read_text(std::string(LOCKSTEP_SOURCE_DIR) + "/core/model/ADVICE.md").value();
    for (const Kernel& kernel : kernels()) {
        INFO(kernel.name);
        if (!kernel.quiet) CHECK((has(page, "`" + kernel.name + "`") || has(advice, "`" + kernel.name + "`")));
    }
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ") || line.find('|', line.find('|', 2) + 1) == std::string::npos) continue;
        const size_t cell = line.rfind('|', line.size() - 2);
        for (size_t at = cell; (at = line.find('`', at)) != std::string::npos;) {
            const std::string name = line.substr(at + 1, line.find('`', at + 1) - at - 1);
            INFO(name);
            CHECK(fs::exists(room / (name + ".cu")));
            at = line.find('`', at + 1) + 1;
        }
    }
}

TEST_CASE("no PTX of the room is without its kernel") {
    for (const auto& entry : fs::directory_iterator(room / "ptx")) {
        const std::string name = entry.path().filename().string();
        INFO(name);
        CHECK(fs::exists(room / (name.substr(0, name.find('.')) + ".cu")));
    }
}

}  // namespace findings_findings_test
