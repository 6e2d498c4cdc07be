// A whole program on the learner's desk: built, run as a process of its own, and every launch of it opened with its own
// data.
#include "core/device/compile/program.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/gui/views/program/program_data.h"
#include "core/base/files.h"
#include "tests/gui/desk.h"

namespace gui_program_test {

using namespace lockstep;
using namespace lockstep::gui;
namespace fs = std::filesystem;

namespace {

// Doubles numbers five times, one array is never freed; says what it was told.
const char* const doubling = R"(#include <cstdio>
__global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
int main(int argc, char** argv) {
    const int n = 1000;
    float h[n], *d, *lost;
    for (int i = 0; i < n; ++i) h[i] = i;
    cudaMalloc(&d, sizeof h);
    cudaMalloc(&lost, 4096);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    for (int k = 0; k < 5; ++k)
        twice<<<4, 256>>>(d, n);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int given = 0;
    if (scanf("%d", &given) != 1) given = -1;
    printf("%s %d %g\n", argc > 1 ? argv[1] : "nothing", given, h[3]);
    cudaFree(d);
    return argc > 2 ? 3 : 0;
}
)";

struct Scratch {
    fs::path folder =
        fs::temp_directory_path() /
        ("lockstep-program-test-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    Scratch() {
        fs::create_directories(folder);
        setenv("XDG_STATE_HOME", folder.c_str(), 1);
        setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    }
    ~Scratch() { fs::remove_all(folder); }
};

struct Desk : Scratch, test::Desk {
    Desk() : test::Desk({.own_kernel = true}) {
        pace = 0.3;
        session.workspace = Workspace::kernel;
        session.grain = Grain::kernel;
    }
    std::shared_ptr<const Snapshot> snapshot() const { return session.snapshot(); }
    void open(const std::string& name, const std::string& text) {
        write_file(folder / name, text);
        REQUIRE(!session.desk.open(folder / name));
    }
    void run() {
        session.desk.run(session);
        settle();
    }
    std::string printed() const {
        std::string all;
        for (const PrintedText& piece : snapshot()->program.run->printed) all += piece.text;
        return all;
    }
};

bool can_build() {
    Scratch here;
    write_file(here.folder / "main.cu", "int main() { return 0; }\n");
    device::ProgramRequest request;
    request.sources = {(here.folder / "main.cu").string()};
    try {
        return device::build_program(request).ok();
    } catch (const Failure&) {
        return false;
    }
}

float element(const simt::Memory& memory, const scene::BoundArgument& argument, size_t index) {
    float value = 0;
    std::memcpy(&value, memory.read(argument.address + index * sizeof value, sizeof value), sizeof value);
    return value;
}

}  // namespace

#define NEEDS_A_COMPILER                                         \
    if (!can_build()) {                                          \
        WARN("skipped: no compiler for whole programs is here"); \
        return;                                                  \
    }

TEST_CASE("a program that is opened is built, and runs when somebody says so") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("doubling.cu", doubling);
    REQUIRE(desk.session.desk.document().is_program());
    desk.settle();
    REQUIRE(desk.snapshot()->own.compiled);
    CHECK(desk.snapshot()->own.compiled->ok);
    CHECK_FALSE(desk.snapshot()->program.run);  // its host part could do anything
    CHECK(desk.shell.describe("editor").find("Run (F5)") != std::string::npos);

    desk.session.desk.document().launch.words = "hello";
    desk.session.desk.document().launch.input = "42\n";
    desk.run();
    REQUIRE(desk.snapshot()->program.run);
    const ProgramRun& run = *desk.snapshot()->program.run;
    CHECK(run.status == 0);
    CHECK(desk.printed() == "hello 42 96\n");
    CHECK(run.report.launches.size() == 5);
    CHECK(desk.shows("hello 42 96"));
    CHECK(desk.shows("Program  doubling.cu"));
    CHECK(desk.shows("Leak: lost, 4 KiB"));
    CHECK(desk.shell.describe("editor").find("never freed") != std::string::npos);
    CHECK(desk.shell.describe("launches").find("twice: 5 launches of 4 x 256") != std::string::npos);
    CHECK(desk.shell.describe("allocations").find("d: 3.9 KiB, freed in line 19, allocated in line 10") !=
          std::string::npos);
    CHECK(desk.shell.describe("calls").find("cudaMemcpy") != std::string::npos);
    CHECK(desk.clashes() == std::vector<std::string>{});

    // From then on it runs when it changes.
    std::string text = doubling;
    text.replace(text.find("k < 5"), 5, "k < 3");
    desk.session.desk.set_text(text);
    desk.settle();
    CHECK(desk.printed() == "hello 42 24\n");
}

TEST_CASE("a launch of a program opens with the memory that it found, and the next one with what that left") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("doubling.cu", doubling);
    desk.run();
    for (const int64_t launch : {0, 3, 1}) {
        desk.session.post(ask::OpenLaunch{launch});
        desk.settle();
        const auto snapshot = desk.snapshot();
        REQUIRE(snapshot->program.launch == launch);
        REQUIRE(snapshot->kernel.run);
        CHECK(snapshot->kernel.label == "twice  (launch " + std::to_string(launch + 1) + " of 5)");
        const scene::BoundArgument& x = snapshot->own.run->bound.arguments.at(0);
        CHECK(x.name == "x = d");
        CHECK(element(*snapshot->kernel.run->before, x, 3) == static_cast<float>(3 << launch));
        CHECK(element(*snapshot->own.run->after, x, 3) == static_cast<float>(6 << launch));
        // The same launch takes the same time, in the program and alone.
        const runtime::LaunchRecord& record = snapshot->program.run->report.launches[static_cast<size_t>(launch)];
        CHECK(snapshot->kernel.run->result.cycles == record.cycles);
        CHECK(snapshot->kernel.run->result.warp_instructions == record.warp_instructions);
    }
    // Where nothing was kept of a launch the program runs again, up to there.
    fs::remove(desk.snapshot()->program.run->folder->path() / "launch-4");
    desk.session.post(ask::OpenLaunch{4});
    desk.settle();
    REQUIRE(desk.snapshot()->program.launch == 4);
    CHECK(element(*desk.snapshot()->kernel.run->before, desk.snapshot()->own.run->bound.arguments.at(0), 3) == 48);
    desk.session.post(ask::OpenLaunch{1});
    desk.settle();
    // The transport goes from launch to launch.
    desk.session.grain = Grain::kernel;
    move(desk.session, desk.shell.focus, *desk.snapshot(), Grain::kernel, +1, false);
    desk.settle();
    CHECK(desk.snapshot()->program.launch == 2);
    CHECK(position_of(desk.session, desk.shell.focus, *desk.snapshot()).title == "twice  (launch 3 of 5)");
    // Or from call to call, of which those that launch open what they launched.
    desk.session.grain = Grain::call;
    move(desk.session, desk.shell.focus, *desk.snapshot(), Grain::call, -1, true);
    desk.settle();
    CHECK(position_of(desk.session, desk.shell.focus, *desk.snapshot()).title.starts_with("cudaMalloc  (call 1 of "));
    CHECK(desk.session.program.line == 10);
    for (int calls = 0; calls < 3; ++calls) move(desk.session, desk.shell.focus, *desk.snapshot(), Grain::call, +1, false);
    desk.settle();
    CHECK(desk.session.program.line == 14);
    CHECK(desk.snapshot()->program.launch == 0);
    // All pictures are of it.
    desk.session.workspace = Workspace::sm;
    desk.settle();
    CHECK(desk.shows("twice"));
    CHECK(desk.shell.describe("warps").find("cycle") != std::string::npos);
}

TEST_CASE("a program that does not compile, fails, or makes no call says so in a sentence") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("wrong.cu", "#include <cstdio>\nint main() {\n    int x = nothing;\n    int y = nowhere;\n}\n");
    desk.run();
    REQUIRE(desk.snapshot()->own.compiled);
    CHECK_FALSE(desk.snapshot()->own.compiled->ok);
    CHECK(desk.shell.describe("reports").find("line 3") != std::string::npos);
    CHECK(desk.shell.describe("reports").find("line 4") != std::string::npos);
    CHECK(desk.shows("Line 3 does not compile"));
    CHECK(desk.shell.describe("output").find("! line 3: ") != std::string::npos);
    CHECK(desk.shows("The compiler refused the text. Click a message to see its line."));

    desk.open("ends.cu", "#include <cstdio>\nint main() { printf(\"bye\\n\"); return 7; }\n");
    desk.run();
    REQUIRE(desk.snapshot()->program.run);
    CHECK(desk.snapshot()->program.run->status == 7);
    CHECK(desk.shows("exit status 7"));
    CHECK(desk.shell.describe("launches").find("launched no kernel") != std::string::npos);
    CHECK(desk.shell.describe("calls").find("made no call of CUDA's runtime") != std::string::npos);

    desk.open("faults.cu", R"(#include <cstdio>
__global__ void past(int* x) {
    x[threadIdx.x + 200] = 1;
}
int main() {
    int* d;
    cudaMalloc(&d, 256 * sizeof(int));
    past<<<1, 256>>>(d);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 1;
}
)");
    desk.run();
    CHECK(desk.shell.describe("reports").find("memcheck: invalid global write") != std::string::npos);
    CHECK(desk.shell.describe("reports").find("(line 3)") != std::string::npos);
    CHECK(desk.snapshot()->program.run->status == 1);
}

TEST_CASE("hundreds of allocations are a row a line, as high as what they hold together") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("many.cu", R"(#include <vector>
int main() {
    std::vector<char*> kept;
    for (int k = 0; k < 90; ++k) {
        char *lost, *d;
        cudaMalloc(&lost, 1024);
        cudaMalloc(&d, 4096);
        kept.push_back(d);
        if (k % 3 == 2) while (kept.size() > 1) cudaFree(kept.back()), kept.pop_back();
    }
    cudaFree(kept[0]);
}
)");
    desk.run();
    REQUIRE(desk.snapshot()->program.run);
    const ProgramBoard board = make_board_of(desk.snapshot()->program.run);
    REQUIRE(board.allocations.size() == 180);
    REQUIRE(board.rows.size() == 2);
    CHECK(board.rows[0].leaked == 90);
    CHECK(board.rows[0].bytes == 90 * 1024);
    CHECK(board.rows[0].end == -1);
    CHECK(board.rows[1].leaked == 0);
    CHECK(board.rows[1].bytes == 4 * 4096);
    CHECK(board.rows[1].levels.back().bytes == 0);
    CHECK(desk.shell.describe("allocations").find("lost: 90 allocations, 90 KiB at most, never freed") != std::string::npos);
    CHECK(desk.shows("Leak: lost, 90 KiB"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    const auto leaks = runtime::leaks_by_line(desk.snapshot()->program.run->report);
    REQUIRE(leaks.size() == 1);
    CHECK(leaks[0].count == 90);
    CHECK(leaks[0].bytes == 90 * 1024);
    CHECK(runtime::words_of(desk.snapshot()->program.run->report).find("many.cu:6 by 90 calls\n") != std::string::npos);
}

TEST_CASE("calls and launches that were refused are marked at their lines, as a leak is") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("wrong_way.cu", R"(#include <cstdio>
__global__ void fill(int* x) { x[threadIdx.x] = 1; }
int main() {
    int h[32], *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(h, h, sizeof h, cudaMemcpyDeviceToHost);
    fill<<<1, 2048>>>(d);
}
)");
    desk.run();
    const std::string text = desk.shell.describe("editor");
    INFO(text);
    for (const char* const line :
         {"warning: leak: d", "cudaMemcpyDeviceToHost);\n       error: ", "fill<<<1, 2048>>>(d);\n       error: "})
        CHECK(text.find(line) != std::string::npos);
}

TEST_CASE("a program that does not end is ended") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("loops.cu",
              "#include <cstdio>\nint main() { printf(\"still\\n\"); fflush(stdout); for (volatile int i = 0;; ++i) {} }\n");
    desk.session.desk.run(desk.session);
    for (int tries = 0; tries < 600; ++tries) {
        desk.frame();
        const auto run = desk.snapshot()->program.run;
        if (run && run->running && !run->printed.empty()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    REQUIRE(desk.snapshot()->program.run);
    CHECK(desk.printed() == "still\n");  // while it runs
    desk.session.desk.cancel(desk.session);
    desk.settle();
    CHECK(desk.snapshot()->program.run->cancelled);
    CHECK(desk.shows("cancelled after"));
}

TEST_CASE("of a program that was cancelled nothing is said to be in order, empty or refused") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("spins.cu", R"(#include <cstdio>
__global__ void one(int* x) { x[threadIdx.x] = 1; }
int main() {
    int* d;
    cudaMalloc(&d, 4096);
    one<<<1, 32>>>(d);
    cudaDeviceSynchronize();
    printf("on\n");
    fflush(stdout);
    for (volatile int i = 0;; ++i) {}
}
)");
    desk.session.desk.run(desk.session);
    for (int tries = 0; tries < 600; ++tries) {
        desk.frame();
        const auto run = desk.snapshot()->program.run;
        if (run && run->running && !run->printed.empty()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    desk.session.desk.cancel(desk.session);
    desk.settle();
    REQUIRE(desk.snapshot()->program.run->cancelled);
    const std::string reports = desk.shell.describe("reports");
    CHECK(reports.find("cancelled: cancelled after") != std::string::npos);
    CHECK(reports.find("It did not run to its end") != std::string::npos);
    CHECK(reports.find("found nothing") == std::string::npos);
    for (const char* const view : {"launches", "calls", "allocations"}) {
        INFO(view);
        const std::string said = desk.shell.describe(view);
        CHECK(said.find("what it did with the GPU is not known") != std::string::npos);
        CHECK(said.find("no call") == std::string::npos);
        CHECK(said.find("allocated nothing") == std::string::npos);
    }
    desk.frames(2);
    CHECK(desk.said().find("It was cancelled after") != std::string::npos);
    CHECK_FALSE(desk.shows("the launch was refused"));
    CHECK(desk.said().find("Key 7") == std::string::npos);
}

TEST_CASE("all chips of a program are there in a window of any width") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("doubling.cu", doubling);
    desk.run();
    for (const auto& [w, h] : {std::pair{1600.0f, 1000.0f}, {1280.0f, 720.0f}, {1920.0f, 1080.0f}}) {
        desk.size(w, h, 1);
        desk.frames(3);
        INFO(w << " x " << h);
        for (const char* const chip : {"time first 3", "check all", "kernels alone", "Heat", "Values"}) {
            INFO(chip);
            CHECK(desk.shows(chip));
        }
        CHECK(desk.clashes() == std::vector<std::string>{});
    }
}

TEST_CASE("what ended a program by a signal stands before the leaks that it left") {
    NEEDS_A_COMPILER
    Desk desk;
    desk.open("touches.cu", R"(int main() {
    int* d;
    cudaMalloc(&d, 4096);
    d[3] = 1;
    cudaFree(d);
}
)");
    desk.run();
    const std::string reports = desk.shell.describe("reports");
    const size_t crash = reports.find("crash: ended by"), leak = reports.find("leak: ");
    REQUIRE(crash != std::string::npos);
    CHECK(reports.find("the host followed a pointer of the device", crash) < leak);
    REQUIRE(leak != std::string::npos);
    CHECK(crash < leak);
    CHECK(reports.find("the crash came before", leak) != std::string::npos);
    CHECK(reports.find("1 thing wrong, 1 warning") != std::string::npos);
}

TEST_CASE("bands tell which lines of a program run on the device") {
    const auto bands = bands_of(
        "namespace a {\n__device__ int f(int x) {\n  return x;\n}\n}\n// }\n__global__ void k(int* p)\n{\n  if "
        "(*p) { *p = f(1); }\n}\nstruct S { int v; };\nint main() {\n  return 0;\n}\n");
    REQUIRE(bands.size() == 3);
    CHECK((bands[0].first == 2 && bands[0].last == 4 && bands[0].on_device));
    CHECK((bands[1].first == 7 && bands[1].last == 10 && bands[1].on_device));
    CHECK((bands[2].first == 12 && bands[2].last == 14 && !bands[2].on_device));
}

TEST_CASE("what limits the kernels of a program stands in Why is it slow?, beside the one that is open and knows more") {
    NEEDS_A_COMPILER
    Desk desk;
    std::string text = doubling;
    text.insert(text.find("int main"), "__global__ void thrice(float* x) { x[threadIdx.x] *= 3; }\n");
    text.replace(text.find("        twice<<<4, 256>>>(d, n);"), 32,
                 "        twice<<<4, 256>>>(d, n), thrice<<<1, 64>>>(d);");
    desk.open("doubling.cu", text);
    desk.run();
    REQUIRE(desk.snapshot()->program.run);
    REQUIRE(desk.snapshot()->program.run->report.launches.size() == 10);
    for (const int64_t launch : {0, 1}) {
        desk.session.post(ask::OpenLaunch{launch});
        desk.settle();
        REQUIRE(desk.snapshot()->kernel.verdict);
        const std::string told = desk.shell.describe("verdict");
        INFO(told);
        CHECK((told.find("  twice: ") != std::string::npos) == (launch == 1));
        CHECK((told.find("  thrice: ") != std::string::npos) == (launch == 0));
        CHECK(told.find("(derived from counters)") != std::string::npos);
    }
}

}  // namespace gui_program_test
