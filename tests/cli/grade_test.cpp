// `lockstep grade`: points and reasons for submissions, in four formats, whatever a submission holds.
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/cli/support.h"
#include "tests/compilers_here.h"

namespace cli_grade_test {

namespace fs = std::filesystem;

namespace {
// A folder that answers A06: the first exercise by `by_warp`, the second by `sort_work`; "" leaves a file out.
std::string answers(const std::string& name, const std::string& by_warp, const std::string& sort_work) {
    const fs::path folder = scratch() / name;
    fs::create_directories(folder);
    if (!by_warp.empty()) std::ofstream(folder / "by_warp.cu") << by_warp;
    if (!sort_work.empty()) std::ofstream(folder / "sort_work.cu") << sort_work;
    return folder.string();
}
std::string lesson_text(const std::string& file) {
    return lockstep::read_file(fs::path(LOCKSTEP_SOURCE_DIR) / "lessons/A06_divergence" / file).value();
}
}  // namespace

TEST_CASE("A right submission has all points, a starter none, a missing file is named") {
    if (!compiler_here()) return;
    const std::string right = answers("right", lesson_text("solution/by_warp.cu"), lesson_text("solution/sort_work.cu"));
    const Outcome all = lockstep_command("grade --lesson A06 --submission " + right + " --format json");
    INFO(all.out << all.err);
    CHECK(all.status == 0);
    const auto json = nlohmann::json::parse(all.out);
    CHECK(json["submissions"][0]["points"] == json["submissions"][0]["of_points"]);
    CHECK(json["submissions"][0]["of_points"] == 4);
    CHECK(json["submissions"][0]["exercises"][1]["checks"].size() == 3);

    const std::string half = answers("half", lesson_text("by_warp.cu"), "");
    const Outcome none = lockstep_command("grade --lesson A06 --submission " + half);
    CHECK(none.status == 1);
    CHECK(none.out.find("0 of 4 points") != std::string::npos);
    CHECK(none.out.find("there is no file sort_work.cu in the submission") != std::string::npos);
}

TEST_CASE("Gradescope and JUnit get what they read") {
    if (!compiler_here()) return;
    const std::string mixed = answers("mixed", lesson_text("solution/by_warp.cu"), "this does not compile < & >");
    const auto results =
        nlohmann::json::parse(lockstep_command("grade --lesson A06 --submission " + mixed + " --format gradescope").out);
    CHECK(results["score"] == 1);
    REQUIRE(results["tests"].size() == 2);
    CHECK(results["tests"][0]["status"] == "passed");
    CHECK(results["tests"][1]["status"] == "failed");
    CHECK(results["tests"][1]["max_score"] == 3);
    CHECK(results["tests"][1]["output"].get<std::string>().find("sort_work.cu:1") != std::string::npos);

    const Outcome junit = lockstep_command("grade --lesson A06 --submission " + mixed + " --format junit");
    CHECK(junit.status == 1);
    CHECK(junit.out.find("tests=\"2\" failures=\"1\"") != std::string::npos);
    CHECK(junit.out.find("&lt; &amp; &gt;") != std::string::npos);
}

TEST_CASE("A kernel that never ends and one that faults cost a submission its points and nothing else") {
    if (!compiler_here()) return;
    const std::string endless =
        answers("endless", R"(extern "C" __global__ void by_warp(float* x) { while (x[0] < 1e30f) x[0] = 0; })",
                R"(extern "C" __global__ void sort_work(const int* a, float* x) { x[1 << 28] = a[0]; })");
    const std::string right = answers("after", lesson_text("solution/by_warp.cu"), lesson_text("solution/sort_work.cu"));
    const Outcome both = lockstep_command("grade --lesson A06 --max-seconds 3 --submission " + endless + " --submission " +
                                          right + " --format json");
    CHECK(both.status == 1);
    const auto json = nlohmann::json::parse(both.out);
    CHECK(json["submissions"][0]["points"] == 0);
    CHECK(json["submissions"][1]["points"] == 4);
    INFO(json["submissions"][0].dump(2));
    CHECK(json["submissions"][0]["exercises"][1]["reasons"].get<std::string>().find("sort_work") != std::string::npos);
}

TEST_CASE(
    "A byte-order mark costs nothing, UTF-16 and links out of the submission are named, and no file of the host is shown") {
    if (!compiler_here()) return;
    const std::string right = lesson_text("solution/by_warp.cu");
    const Outcome marked = lockstep_command("grade --lesson A06 --exercise by_warp --submission " +
                                            answers("marked", "\xef\xbb\xbf" + right, ""));
    CHECK(marked.status == 0);
    const Outcome wide =
        lockstep_command("grade --lesson A06 --exercise by_warp --submission " + answers("wide", "\xff\xfe_\x01", ""));
    CHECK(wide.status == 1);
    CHECK(wide.out.find("the file is UTF-16: save it as UTF-8") != std::string::npos);

    const Outcome empty =
        lockstep_command("grade --lesson A06 --exercise by_warp --submission " + answers("empty", "// nothing yet\n", ""));
    CHECK(empty.out.find("by_warp.cu: error: there is no kernel here: a kernel is a __global__ function") !=
          std::string::npos);

    const std::string secret = write("secret.h", "the exam is about warps\n");
    const fs::path linked = scratch() / "linked";
    fs::create_directories(linked);
    fs::create_symlink(secret, linked / "by_warp.cu");
    const Outcome link = lockstep_command("grade --lesson A06 --exercise by_warp --submission " + linked.string());
    CHECK(link.status == 1);
    CHECK(link.out.find("by_warp.cu is a link out of the submission: hand in the file itself") != std::string::npos);

    const Outcome reader = lockstep_command("grade --lesson A06 --exercise by_warp --submission " +
                                            answers("reader", "#include \"" + secret + "\"\n" + right, ""));
    CHECK(reader.status == 1);
    CHECK(reader.out.find("by_warp.cu:1:1: error: this file is outside of the submission") != std::string::npos);
    CHECK(reader.out.find("exam is about warps") == std::string::npos);
}

TEST_CASE("A solution is not to be had by #include, however it is written, and its lines are never shown") {
    if (!compiler_here()) return;
    const fs::path solution = fs::path(LOCKSTEP_SOURCE_DIR) / "lessons/A06_divergence/solution/by_warp.cu";
    const std::string path = solution.string(), up = "../../../../../../../.." + path;
    const fs::path linked = answers("linked_header", "#include \"own.h\"\n", "");
    fs::create_symlink(solution, linked / "own.h");
    const auto graded = [](const std::string& folder, const std::string& compiler = {}) {
        return lockstep_command("grade --lesson A06 --exercise by_warp --submission " + folder +
                                (compiler.empty() ? "" : " --compiler " + compiler));
    };
    const std::vector<std::string> folders = {answers("absolute", "#include \"" + path + "\"\n", ""),
                                              answers("angles", "#include <" + path + ">\n", ""),
                                              answers("upwards", "#include \"" + up + "\"\n", ""),
                                              answers("spliced", "#inc\\\nlude /* */ \"" + path + "\"\n", ""),
                                              answers("digraph", "%:include \"" + path + "\"\n", ""),
                                              answers("macro", "#define OWN \"" + path + "\"\n#include OWN\n", ""),
                                              answers("of_the_lesson", "#include \"solution/by_warp.cu\"\n", ""),
                                              linked.string()};
    for (const std::string& folder : folders) {
        const Outcome taken = graded(folder);
        INFO(folder << ": " << taken.out << taken.err);
        CHECK(taken.status == 1);
        CHECK(taken.out.find("0 of 1 points") != std::string::npos);
        CHECK(taken.out.find("by_warp.cu:") != std::string::npos);
        CHECK((taken.out.find("is outside of the submission") != std::string::npos ||
               taken.out.find("a solution is not included") != std::string::npos ||
               taken.out.find("is written out") != std::string::npos));
    }
    const std::string secret = lockstep::line_of(lesson_text("solution/by_warp.cu"), 5);
    REQUIRE(secret.size() > 5);
    const std::string line =
        answers("line", "__global__ void by_warp(float* b) {\n#line 5 \"" + path + "\"\n b[0] = foo; }\n", "");
    for (const std::string compiler : {"nvrtc", "nvcc", "clang"}) {
        if (!compiler_here(compiler)) continue;
        const Outcome told = graded(line, compiler);
        INFO(compiler << ": " << told.out);
        CHECK(told.status == 1);
        CHECK(told.out.find("foo") != std::string::npos);
        CHECK(told.out.find(secret) == std::string::npos);
    }
}

TEST_CASE("A header of the submission's own may be included, and one outside is refused with its line") {
    if (!compiler_here()) return;
    const std::string right = lesson_text("solution/by_warp.cu");
    const std::string folder = answers("headers", "#include \"parts/own.h\"\n#include <cmath>\n" + right, "");
    fs::create_directories(fs::path(folder) / "parts");
    std::ofstream(fs::path(folder) / "parts/own.h") << "#include \"../more.h\"\n";
    std::ofstream(fs::path(folder) / "more.h") << "#define MORE 1\n";
    const std::string grade = "grade --lesson A06 --exercise by_warp --submission " + folder;
    const Outcome own = lockstep_command(grade);
    INFO(own.out);
    CHECK(own.status == 0);
    write("beside.h", "#define BESIDE 1\n");
    std::ofstream(fs::path(folder) / "more.h") << "\n#include \"../beside.h\"\n";
    const Outcome outside = lockstep_command(grade);
    CHECK(outside.status == 1);
    CHECK(outside.out.find("more.h:2:1: error: this file is outside of the submission") != std::string::npos);
}

TEST_CASE("What a submission prints reaches the terminal and XML without control characters, as UTF-8") {
    if (!compiler_here()) return;
    const std::string noisy =
        answers("noisy", "",
                "#include <cassert>\n__global__ void sort_work(const int* a, float* b) { assert(a[0] > "
                "1000000 && \"red \x1b[31m \x01 \xff \xc3\xa9 \xed\xa0\x80 ]]>\"); }\n");
    for (const std::string compiler : {"nvrtc", "nvcc", "clang"}) {  // not every one takes such bytes
        if (!compiler_here(compiler)) continue;
        for (const std::string format : {"text", "junit"}) {
            const Outcome told = lockstep_command("grade --lesson A06 --exercise sort_work --submission " + noisy +
                                                  " --compiler " + compiler + " --format " + format);
            INFO(compiler << ": " << told.out);
            CHECK(told.status == 1);
            CHECK(told.out.find("red ") != std::string::npos);
            CHECK(told.out.find_first_of("\x1b\x01\xff") == std::string::npos);
            CHECK(told.out.find("\xed\xa0") == std::string::npos);
            if (compiler != "clang") continue;
            CHECK(told.out.find("red \\x1b[31m \\x01 \xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd") != std::string::npos);
        }
    }
}

TEST_CASE("The result is written over no file of a submission, and over a result from before") {
    const std::string folder = answers("kept", lesson_text("by_warp.cu"), lesson_text("sort_work.cu"));
    std::ofstream(folder + "/own.h") << "#pragma once\n";
    const std::string grade = "grade --lesson A06 --submission " + folder + " --format json --out " + folder;
    for (const std::string file : {"/by_warp.cu", "/own.h"}) {
        const std::string before = lockstep::read_file(folder + file).value();
        refuses(grade + file, "this is what --submission reads: --out would overwrite it");
        CHECK(lockstep::read_file(folder + file).value() == before);
    }
    refuses("grade --lesson A06 --exercise by_warp --submission " + folder + "/by_warp.cu --out " + folder +
                "/../kept/by_warp.cu",
            "--out would overwrite it");
    if (!compiler_here()) return;
    for (int i = 0; i < 2; ++i) CHECK(lockstep_command(grade + "/result.json").status == 1);
    CHECK(nlohmann::json::parse(lockstep::read_file(folder + "/result.json").value())["lesson"] == "A06");
}

TEST_CASE("The seconds that an exercise may take bound its compiler too") {
    if (!compiler_here()) return;
    const std::string long_one = answers("long", R"(template <int N, int M> struct F {
    static const long long v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v;
};
template <int M> struct F<0, M> { static const long long v = M; };
__global__ void by_warp(float* x) { x[0] = F<22, 1>::v; }
)",
                                         "");
    const auto begin = std::chrono::steady_clock::now();
    const Outcome told = lockstep_command("grade --lesson A06 --exercise by_warp --max-seconds 2 --submission " + long_one);
    INFO(told.out);
    CHECK(told.status == 1);
    CHECK(told.out.find("it took longer than the 2 seconds of processor time that --max-seconds allows") !=
          std::string::npos);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));  // on a busy computer, too
}

TEST_CASE("What cannot be graded is refused in one sentence") {
    const std::string file = write("answer.cu", lesson_text("solution/by_warp.cu"));
    refuses("grade --lesson A06 --submission " + file, "say which one this file answers with --exercise");
    refuses("grade --lesson A06 --exercise by_wrap --submission " + file, "did you mean 'by_warp'?");
    refuses("grade --lesson A06 --submission nowhere.cu", "there is no such submission");
    refuses("grade --lesson A06 --format junitt --submission " + file, "did you mean 'junit'?");
    refuses("grade --lesson A99 --submission " + file, "A99");
    refuses("grade --lesson A06 --format gradescope --submission " + file + " --submission " + file,
            "one submission, not 2");
    refuses("grade --lesson A06 --exercise by_warp --compiler clong --submission " + file, "did you mean 'clang'?");
    if (compiler_here()) CHECK(lockstep_command("grade --lesson A06 --exercise by_warp --submission " + file).status == 0);
}

TEST_CASE("A computer without the compiler costs nobody points") {
    const std::string file = write("answer.cu", lesson_text("solution/by_warp.cu"));
    for (const std::string compiler : {"nvrtc", "nvcc", "clang", ""}) {
        if (compiler_here(compiler)) continue;
        const Outcome none = lockstep_command("grade --lesson A06 --exercise by_warp --submission " + file +
                                              (compiler.empty() ? "" : " --compiler " + compiler));
        INFO(none.err);
        CHECK(none.status == 3);
        CHECK(none.out.empty());
        CHECK(none.err.find("Debian package") != std::string::npos);
    }
}

namespace {

// Whether this machine has what a program is graded with; else why not, in one sentence.
std::string no_sandbox() {
    const std::string file = write("probe.cu", "int main() { return 0; }\n");
    const Outcome outcome = lockstep_command("grade --program --submission " + file);
    return outcome.status == 3 ? outcome.err : "";
}

std::string program(const std::string& name, const std::string& body, const std::string& before = "") {
    return write(name + ".cu", "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n" + before +
                                   "__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
                                   "if (i < n) x[i] *= 2; }\n"
                                   "int main(int argc, char** argv) {\n" +
                                   body + "    return 0;\n}\n");
}

Outcome graded(const std::string& file, const std::string& options = "") {
    return lockstep_command("grade --program --format json --submission " + file + " " + options);
}

bool says(const Outcome& outcome, const std::string& words) {
    return outcome.out.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("A whole program is graded by what it prints, how it ends and what the checks find") {
    if (!compiler_here("nvcc") && !compiler_here("clang")) return;
    if (const std::string why = no_sandbox(); !why.empty()) {
        CHECK(why.find("a program is graded in a sandbox alone, and there is none here: ") != std::string::npos);
        CHECK(why.rfind('\n') == why.size() - 1);
        WARN("skipped: " << why);
        return;
    }
    const std::string body =
        "    float first = 0; if (scanf(\"%f\", &first) != 1) return 3;\n"
        "    float h[4] = {first, 1, 2, (float)atoi(argv[1])}, *d; cudaMalloc(&d, sizeof h);\n"
        "    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice); twice<<<1, 32>>>(d, COUNT);\n"
        "    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); cudaFree(d);\n"
        "    for (float x : h) printf(\"%g \\n\", x);\n";
    const std::string input = write("input.txt", "5\n"), expected = write("expected.txt", "10\n2\n4\n14\n");
    const std::string test = "--stdin " + input + " --expect " + expected + " --points 4 -- 7";
    const Outcome right = graded(program("right", body, "#define COUNT 4\n"), test);
    INFO(right.out << right.err);
    CHECK(right.status == 0);
    const auto json = nlohmann::json::parse(right.out);
    CHECK(json["submissions"][0]["points"] == 4);
    CHECK(json["submissions"][0]["exercises"][0]["checks"].size() == 4);

    const Outcome wrong = graded(program("wrong", body, "#define COUNT 3\n"), test);
    CHECK(wrong.status == 1);
    CHECK(says(wrong, "line 4 is '7' and not '14'"));
    const Outcome beyond = graded(program("beyond", body, "#define COUNT 5\n"), test);
    CHECK(beyond.status == 1);
    CHECK(says(beyond, "no findings of --check all"));
    CHECK(says(beyond, "\"points\": 0"));
    const Outcome broken = graded(write("broken.cu", "int main() { retrun 0; }\n"));
    CHECK(broken.status == 1);
    CHECK(says(broken, "broken.cu:1"));
    CHECK_FALSE(says(broken, "/tmp/work"));
    const Outcome ended = graded(program("ended", "    if (argc < 9) return 7;\n"), "--status 7");
    INFO(ended.out << ended.err);
    CHECK(ended.status == 0);
}

TEST_CASE("A program in the sandbox reaches no home, no network, no other file, and its tries are told") {
    if ((!compiler_here("nvcc") && !compiler_here("clang")) || !no_sandbox().empty()) return;
    // Somebody's home: /tmp inside is the program's own.
    const fs::path home = fs::path(LOCKSTEP_BINARY).parent_path() / ("sandbox-test-" + std::to_string(::getpid()));
    fs::create_directories(home);
    const std::string secret = (home / "secret.txt").string(), target = (home / "written.txt").string();
    std::ofstream(secret) << "the secret of this home";
    const Outcome reads = graded(program(
        "reads", "    char text[99] = \"\"; if (FILE* f = fopen(\"" + secret +
                     "\", \"r\")) fgets(text, 99, f);\n    printf(\"%s\\n\", text); system(\"ls / ~ /home /root\");\n"));
    INFO(reads.out << reads.err);
    CHECK(reads.status == 1);
    CHECK(says(reads, "it tried to read " + secret));
    CHECK_FALSE(says(reads, "the secret of this home"));
    // Neither does the compiler put it into the program.
    const Outcome embeds =
        graded(program("embeds", "    extern char inside[]; puts(inside);\n",
                       "asm(\".data\\n.global inside\\ninside: .incbin \\\"" + secret + "\\\"\\n.byte 0\\n\");\n"));
    CHECK(embeds.status == 1);
    CHECK_FALSE(says(embeds, "the secret of this home"));
    const Outcome writes = graded(
        program("writes", "    FILE* f = fopen(\"" + target +
                              "\", \"w\"); FILE* g = fopen(\"/usr/lockstep_was_here\", \"w\");\n"
                              "    FILE* own = fopen(\"own.txt\", \"w\"); printf(\"%d %d %d\\n\", !!f, !!g, !!own);\n"));
    CHECK(writes.status == 1);
    CHECK(says(writes, "it tried to write " + target + ", and it tried to write /usr/lockstep_was_here"));
    CHECK_FALSE(fs::exists(target));
    CHECK_FALSE(fs::exists("/usr/lockstep_was_here"));
    const Outcome connects =
        graded(program("connects", "    return socket(AF_INET, SOCK_STREAM, 0) >= 0;\n", "#include <sys/socket.h>\n"));
    INFO(connects.out);
    CHECK(connects.status == 1);
    CHECK(says(connects, "it tried to open a network connection"));
    CHECK_FALSE(says(connects, "it is 1"));  // socket() failed
    std::error_code error;
    fs::remove_all(home, error);
}

TEST_CASE("A program in the sandbox is ended when it multiplies, eats memory, computes or prints without end") {
    if ((!compiler_here("nvcc") && !compiler_here("clang")) || !no_sandbox().empty()) return;
    const auto end = [](const std::string& name, const std::string& body, const std::string& options,
                        const std::string& sentence) {
        const Outcome outcome = graded(program(name, body), options);
        INFO(outcome.out << outcome.err);
        CHECK(outcome.status == 1);
        CHECK(says(outcome, sentence));
        CHECK(says(outcome, "\"points\": 0"));
    };
    end("forks", "    for (;;) fork();\n", "--processes 100", "it started more than 100 processes and threads");
    end("fills",
        "    for (;;) { volatile char* p = (volatile char*)malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) p[i] = "
        "1; }\n",
        "--memory 2", "it took more than 2048 MiB of memory");
    end("prints", "    for (;;) puts(\"more\");\n", "--output 100000", "it printed more than 100000 bytes");
    end("spins", "    for (volatile int i = 0;; ++i) {}\n", "--cpu-seconds 8", "it took more than 8 s of processor time");
}

TEST_CASE("What cannot be graded as a program is one sentence") {
    refuses("grade --submission x.cu",
            "grade needs --lesson, such as A06, --puzzle, such as waits, or --program for a whole program");
    refuses("grade --program --submission nowhere.cu", "there is no such submission");
    const std::string file = write("some.cu", "int main() {}\n");
    refuses("grade --program --expect nowhere.txt --submission " + file, "there is no such file");
    refuses("grade --program --gpu v99 --submission " + file, "v99");
    refuses("grade --program --check everything --submission " + file, "everything");
    refuses("grade --lesson A06 --submission " + file + " -- 7", "say --program");
}

}  // namespace cli_grade_test
