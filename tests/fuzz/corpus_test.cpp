// Every file of tests/fuzz/corpus goes through the fuzzer's target that it is for, as it is and changed a little: what a
// fuzzer once found stays found without one. The targets throw when something is wrong; sanitizers see the rest.
#include <chrono>
#include <map>

#include "core/base/rng.h"
#include "tests/catch.h"
#include "tests/fuzz/change.h"
#include "tests/fuzz/data_target.h"
#include "tests/fuzz/host_target.h"
#include "tests/fuzz/lesson_target.h"
#include "tests/fuzz/npy_target.h"
#include "tests/fuzz/program_target.h"
#include "tests/fuzz/source_target.h"
#include "tests/fuzz/tape_target.h"

namespace fuzz_corpus_test {

using namespace lockstep;

namespace {

// By name, so that every machine tries them in the same order.
std::map<std::string, std::string> corpus(const std::string& target) {
    std::map<std::string, std::string> files;
    const auto folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests" / "fuzz" / "corpus" / target;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files[entry.path().filename().string()] = read_file(entry.path()).value();
    return files;
}

// Each file and `rounds` changed ones through `target`; gives how many seconds the slowest took.
template <class Target>
double try_all(const std::string& name, int rounds, Target target) {
    const auto files = corpus(name);
    REQUIRE(!files.empty());
    double slowest = 0;
    Rng rng(7);
    for (const auto& [file, text] : files) {
        INFO(name << "/" << file);
        const std::string* other = &std::next(files.begin(), static_cast<std::ptrdiff_t>(rng.below(files.size())))->second;
        for (int round = 0; round <= rounds; ++round) {
            INFO("round " << round);
            const auto start = std::chrono::steady_clock::now();
            const std::string input = round ? fuzz::changed(text, *other, rng) : text;
            REQUIRE_NOTHROW(target(file, input, round == 0));
            slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
    }
    return slowest;
}

}  // namespace

TEST_CASE("PTX of the fuzzers' corpus parses, decodes and runs within its bounds, whatever is changed in it") {
    size_t inputs = 0, programs = 0, launches = 0;
    uint64_t most = 0;
    const double slowest = try_all("ptx", 12, [&](const std::string&, const std::string& text, bool) {
        const fuzz::PtxCounts counts = fuzz::try_ptx(text);
        ++inputs;
        programs += counts.programs > 0;
        launches += counts.launches > 0;
        most = std::max(most, counts.warp_instructions);
    });
    CHECK(programs > inputs / 4);
    CHECK(launches > inputs / 4);
    CHECK(most >= 4'000);
    if (slowest > 5) WARN("the slowest input took " << slowest << " s");  // the test run has its own limit
}

TEST_CASE("every hand-written PTX file of the corpus runs, but for those that are meant to be refused") {
    for (const auto& [file, text] : corpus("ptx")) {
        if (file.starts_with("found_") || file.starts_with("huge_")) continue;
        const fuzz::PtxCounts counts = fuzz::try_ptx(text);
        INFO(file << ": " << counts.complaint);
        CHECK(counts.launches == 1);
    }
}

TEST_CASE("tensor programs of the fuzzers' corpus run within their bounds or are refused with a sentence") {
    size_t steps = 0, whole = 0;
    try_all("tape", 40, [&](const std::string& file, const std::string& text, bool unchanged) {
        const size_t ran = fuzz::try_tape(text);
        INFO(file);
        steps += ran;
        if (!unchanged) return;
        const bool refused = file == "huge.tape" || file == "long.tape";
        CHECK((ran == 0) == refused);
        ++whole;
    });
    CHECK(whole >= 9);
    CHECK(steps > 100);
}

TEST_CASE("arguments, lessons, npy and data files of the fuzzers' corpus are read or refused with a sentence") {
    size_t bound = 0, steps = 0, arrays = 0, data = 0;
    try_all("arguments", 100,
            [&](const std::string&, const std::string& text, bool) { bound += fuzz::try_arguments(text); });
    try_all("lesson", 100, [&](const std::string&, const std::string& text, bool) { steps += fuzz::try_lesson(text); });
    try_all("npy", 500, [&](const std::string&, const std::string& text, bool) { arrays += fuzz::try_npy(text); });
    try_all("data", 500, [&](const std::string&, const std::string& text, bool) { data += fuzz::try_data(text); });
    CHECK(bound > 100);
    CHECK(steps > 100);
    CHECK(arrays > 200);
    CHECK(data > 200);
}

TEST_CASE("host programs and CUDA texts of the fuzzers' corpus are read, whatever their loops and macros come to") {
    size_t operations = 0, parameters = 0;
    try_all("host", 50, [&](const std::string&, const std::string& text, bool) { operations += fuzz::try_host(text); });
    try_all("source", 10, [&](const std::string& file, const std::string& text, bool unchanged) {
        const size_t found = fuzz::try_source(text);
        INFO(file);
        if (unchanged) CHECK(found > 0);
        parameters += found;
    });
    CHECK(operations > 100);
    CHECK(parameters > 20);
}

TEST_CASE("CUDA programs of the fuzzers' corpus have their host's part set aside, and the rest stays in its place") {
    size_t aside = 0;
    const double slowest = try_all(
        "program", 500, [&](const std::string&, const std::string& text, bool) { aside += fuzz::try_program(text); });
    CHECK(aside > 1000);
    // What nests and never ends takes no time by the square of it.
    for (const char* piece :
         {"(", "{", "struct a{", "namespace a{", "k<", "f(){k<1>", "#if 0\n", "#if 1\n{", "template<", "x::"}) {
        std::string text = "int main() {";
        for (const bool in_body : {true, false}) {
            while (text.size() < 200'000) text += piece;
            INFO(piece << in_body);
            const auto start = std::chrono::steady_clock::now();
            REQUIRE_NOTHROW(fuzz::try_program(text));
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            if (seconds > 2) WARN(piece << " took " << seconds << " s");
            text.clear();
        }
    }
    if (slowest > 1) WARN("the slowest input took " << slowest << " s");
}

}  // namespace fuzz_corpus_test
