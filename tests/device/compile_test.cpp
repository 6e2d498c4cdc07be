// Compiling strangers' CUDA C++: every compiler that is here, its errors with their place, and its bounds. What needs a
// compiler that is missing is skipped with a warning.
#include <chrono>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"
#include "core/device/kernels/kernel_library.h"
#include "tests/catch.h"
#include "tests/tasks.h"

namespace device_compile_test {

using namespace lockstep;
using namespace lockstep::device;
using Catch::Matchers::Contains;

namespace {
const std::string good = "extern \"C\" __global__ void twice(float* x) {\n    x[threadIdx.x] *= 2.0f;\n}\n";

std::vector<std::string> compilers_here() {
    std::vector<std::string> names;
    for (const DeviceListing& listing : list_compilers()) {
        if (listing.available)
            names.push_back(listing.name);
        else
            WARN(listing.name << " is not here, so it is not tested: " << listing.description);
    }
    return names;
}

std::mutex held_by_a_thread;
const TestTasks tasks = {
    {"test abort", +[](const std::vector<std::string>&) -> std::string { std::abort(); }},
    {"test print",
     +[](const std::vector<std::string>& words) {
         std::string text = std::filesystem::current_path().string();
         for (const std::string& word : words) text += "|" + word;
         return text + "|";
     }},
    {"test wait",
     +[](const std::vector<std::string>&) -> std::string {
         for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
     }},
    {"test lock",
     +[](const std::vector<std::string>&) -> std::string {
         const std::lock_guard lock(held_by_a_thread);
         return "locked";
     }},
    {"test say lock", nullptr,
     +[](const std::vector<std::string>&, const system::SayLine& say) {
         const std::lock_guard lock(held_by_a_thread);
         say("locked");
     }},
    {"test say", nullptr,
     +[](const std::vector<std::string>& words, const system::SayLine& say) {
         for (const std::string& word : words) say(word);
         if (words.back() == "crash") std::abort();
         if (words.back() == "throw") throw std::runtime_error("told to");
         while (words.back() == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
     }},
};
}  // namespace

TEST_CASE("every compiler makes PTX whose lines are the student's file's") {
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const Compiled compiled = compile(good, "lessons/own \"work\".cu", {.compiler = compiler}).value();
        CHECK_THAT(compiled.ptx,
                   Contains(".visible .entry twice(") && Contains("\"lessons/own work.cu\"") && Contains(".loc\t1 2 "));
        CHECK_THAT(compiled.ptx, !Contains("/tmp/"));
        CHECK(compiled.compiler.find_first_of("0123456789") != std::string::npos);
    }
}

TEST_CASE("a compile error has the file, line, column and text of the student's source") {
    const std::string source = "__global__ void f(float* x) {\n\tint i = threadIdx.x;\n    x[i] = yy + 1;\n}\n";
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const auto result = compile(source, "own.cu", {.compiler = compiler});
        REQUIRE(!result.ok());
        CHECK(result.error().where == SourceLocation{"own.cu", 3, 12});
        CHECK(result.error().source_line == "    x[i] = yy + 1;");
        CHECK_THAT(result.error().message, Contains("yy"));
        CHECK_THAT(render(result.error()), Contains("own.cu:3:12: error: ") && Contains("x[i] = yy + 1;\n               ^"));
    }
}

TEST_CASE("a helper without __device__ is told so at its own place, by every compiler") {
    const std::string source =
        "int square(int x) { return x * x; }\n__global__ void k(int* a) { a[0] = square(3) + square(4); }\n";
    const std::string in_template =
        "template <class T>\nT square(T x) { return x * x; }\n" + source.substr(source.find("__"));
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const auto result = compile(source, "own.cu", {.compiler = compiler});
        REQUIRE(!result.ok());
        CHECK(render(result.error()) ==
              "own.cu:1:5: error: 'square' is a host function: put __device__ in front of it\n"
              "    int square(int x) { return x * x; }\n"
              "        ^");
        const auto second = compile(in_template, "own.cu", {.compiler = compiler});
        REQUIRE(!second.ok());
        CHECK_THAT(render(second.error()), Contains("own.cu:2:3: error: 'square' is a host function"));
        const auto none = compile("__global__ void k(int* a) { a[0] = square(3); }\n", "own.cu", {.compiler = compiler});
        CHECK_THAT(render(none.error()),
                   Contains("own.cu:1:36: error: ") && Contains("square") && !Contains("host function"));
    }
}

TEST_CASE("headers beside the source and in folders asked for are found, and an error in one has its own place") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "course" / "more");
    write_file(folder.path() / "course" / "tile.cuh", "#define TILE 16\n#include \"helper.h\"\n");
    write_file(folder.path() / "course" / "more" / "helper.h", "__device__ float half_of(float x) { return x / WHOLE; }\n");
    const std::string source =
        "#include \"tile.cuh\"\n__global__ void f(float* x) { x[TILE + threadIdx.x] = half_of(x[0]); }\n";
    const std::string file = (folder.path() / "course" / "own.cu").string();
    write_file(file, source);
    const std::string more = (folder.path() / "course" / "more").string();
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const auto good_one = compile(source, file, {.compiler = compiler, .include = {more}, .define = {"WHOLE=2"}});
        if (!good_one.ok()) FAIL_CHECK(render(good_one.error()));
        const auto bad_one = compile(source, file, {.compiler = compiler, .include = {more}});
        REQUIRE(!bad_one.ok());
        CHECK(bad_one.error().where == SourceLocation{more + "/helper.h", 1, 48});
        CHECK_THAT(render(bad_one.error()), Contains("return x / WHOLE; }\n") && Contains("^"));
        const auto none = compile(source, file, {.compiler = compiler});
        REQUIRE(!none.ok());
        CHECK(none.error().where.file == (folder.path() / "course" / "tile.cuh").string());
        CHECK(none.error().where.line == 2);
    }
    if (!compilers_here().empty())
        CHECK_THROWS_WITH(compile(source, file, {.include = {"/no/such/folder"}}),
                          Contains("there is no folder '/no/such/folder' to look for headers in"));
}

TEST_CASE("a GPU's own target is taken where the source needs it, and a whole program's true error is shown") {
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const std::string source =
            "__global__ void f(int* x) {\n#if __CUDA_ARCH__ >= 800\n    x[0] = 1;\n#else\n    no;\n#endif\n}\n";
        CHECK(compile(source, "own.cu", {.compiler = compiler, .least_arch = 80}).ok());
        const auto hopper = compile(good, "own.cu", {.compiler = compiler, .least_arch = 90}).value();
        CHECK_THAT(hopper.ptx, Contains(compiler == "clang" ? ".target sm_80" : ".target sm_90a"));
    }
    if (compilers_here().size() < 3) return;
    const std::string program =
        "#include <vector>\n__global__ void f(float* x) {}\nint main() {\n    std::vector<int> v(2);\n"
        "    f<<<1, v.size()>>>(nothing);\n}\n";
    std::vector<Diagnostic> messages;  // its kernels alone go on, and nvcc's word on the rest is told
    const auto result = compile(program, "own.cu", {.messages = &messages});
    REQUIRE(result.ok());
    CHECK_THAT(result.value().compiler, Contains("kernels alone"));
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].severity == Severity::warning);
    CHECK(messages[0].where.line == 5);
    CHECK_THAT(messages[0].message, Contains("the host's part is refused: identifier \"nothing\""));
    const auto wrong = compile(program + "__global__ void g() { nor this; }\n", "own.cu");
    REQUIRE(!wrong.ok());
    CHECK(wrong.error().where.line == 5);
}

TEST_CASE("the integers' and limits' headers agree with the toolkit's own") {
    const std::string source = R"(#include <cstdint>
#include <climits>
#include <cfloat>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void f(long long* x, double* y) {
    cg::thread_block block = cg::this_thread_block();
    x[0] = INT64_MAX; x[1] = LLONG_MIN; x[2] = CHAR_BIT + SHRT_MAX + UCHAR_MAX; x[3] = (uintptr_t)x; x[4] = UINT32_MAX;
    y[0] = DBL_MAX + DBL_EPSILON + FLT_MAX;
    block.sync();
})";
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const auto result = compile(source, "own.cu", {.compiler = compiler});
        if (!result.ok()) FAIL_CHECK(render(result.error()));
        if (result.ok() && compiler != "clang") CHECK(result.value().log.find("redefinition") == std::string::npos);
    }
}

TEST_CASE("the column is the source's where the compiler prints macros expanded") {
    const std::string source =
        "#define TWICE(x) ((x) + (x))\n__global__ void f(float* x) { x[0] = TWICE(x[1]) + yy; }\n"
        "__global__ void g(float* x) { x[0] = TWICE(zz) + 1; }\n";
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        std::vector<Diagnostic> messages;
        CHECK(!compile(source, "own.cu", {.compiler = compiler, .messages = &messages}).ok());
        REQUIRE(messages.size() >= 2);
        CHECK(messages[0].where == SourceLocation{"own.cu", 2, 52});
        CHECK(messages[1].where.line == 3);
        CHECK((messages[1].where.column == 44 || messages[1].where.column == 38));  // the argument, or the macro's name
    }
}

TEST_CASE("warnings come back under the student's file name") {
    for (const std::string& compiler : compilers_here()) {
        if (compiler == "clang") continue;  // warns of nothing by default
        const auto compiled = compile("__global__ void f() { int unused; }\n", "own.cu", {.compiler = compiler}).value();
        CHECK_THAT(compiled.log, Contains("own.cu(1): warning") && !Contains("source.cu"));
    }
}

TEST_CASE("headers that students include out of habit and the usual built-ins compile everywhere") {
    const std::string source = R"(#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <math.h>
#include <assert.h>
#include <limits.h>
static_assert(sizeof(CUtensorMap) == 128, "a tensor map, passed by value");
extern "C" __global__ void f(float* x, int* count, uint32_t n) {
    extern __shared__ float tile[];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n < INT_MAX);
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float y = expf(tile[threadIdx.x ^ 1]) + logf(2.0f) + sqrtf(fabsf(tile[0])) + fmaxf(tanhf(x[0]), powf(x[1], 1.5f)) + sinf(x[2]);
    y += __shfl_down_sync(0xffffffff, y, 4) + __shfl_xor_sync(0xffffffff, y, 1);
    unsigned votes = __ballot_sync(0xffffffff, y > 0.0f);
    if (threadIdx.x % warpSize == 0) atomicAdd(count, __popc(votes));
    atomicAdd(&x[3], 1.0f);
    float4 four = reinterpret_cast<float4*>(x)[i / 4];
    dim3 shape = blockDim;
    if (i < n) x[i] = y + four.w + shape.x + min((int)i, 3);
    if (i == 0) printf("%d\n", count[0]);
})";
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const auto result = compile(source, "own.cu", {.compiler = compiler});
        if (!result.ok()) FAIL_CHECK(render(result.error()));
    }
}

TEST_CASE("a source that would compile for ever or fill the memory ends in a sentence") {
    const std::string bomb =
        "template <int n, int m> struct Tree { static constexpr long long v = Tree<n - 1, 2 * m>::v + Tree<n - 1, 2 * m + "
        "1>::v; };\n"
        "template <int m> struct Tree<0, m> { static constexpr long long v = m; };\n"
        "__global__ void f(long long* x) { x[0] = Tree<26, 1>::v; }\n";
    for (const std::string& compiler : compilers_here()) {
        INFO(compiler);
        const auto start = std::chrono::steady_clock::now();
        const auto result = compile(bomb, "own.cu", {.compiler = compiler, .seconds = 0.5});
        REQUIRE(!result.ok());
        CHECK_THAT(result.error().message, Contains("took longer than 0.5 s and was ended"));
        CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 5.0);
    }
}

TEST_CASE("a child process is bounded in time and output, and a crash in it stays there") {
    const TemporaryFolder folder;
    using End = system::ChildOutcome::End;
    CHECK(system::run_program("/bin/sh", {"-c", "sleep 60"}, folder.path(), {.seconds = 0.2}).end == End::timed_out);
    CHECK(system::run_program("/bin/sh", {"-c", "sleep 60 & exit 0"}, folder.path(), {.seconds = 0.2}).end ==
          End::timed_out);
    CHECK(system::run_program("/bin/sh", {"-c", "yes"}, folder.path(), {.output_bytes = 10000}).end == End::too_much_output);
    CHECK(system::run_program("/bin/sh", {"-c", "kill -SEGV $$"}, folder.path()).end == End::killed);
    CHECK(system::run_program("/no/such/program", {}, folder.path()).succeeded() == false);
    const system::ChildOutcome said =
        system::run_program("/bin/sh", {"-c", "pwd; echo \"$0\"; exit 3", "$(touch x); `touch y`"}, folder.path());
    CHECK(said.status == 3);
    CHECK(said.output == folder.path().string() + "\n$(touch x); `touch y`\n");
    CHECK(std::filesystem::is_empty(folder.path()));
    CHECK(system::run_task("test abort", {}, folder.path()).end == End::killed);
    CHECK(system::run_task("test print", {"a", "b c", ""}, folder.path()).output == folder.path().string() + "|a|b c||");
    CHECK(system::run_task("test print", {std::string(100000, 'x')}, folder.path()).output.size() > 100000);
    CHECK(system::run_task("test wait", {}, folder.path(), {.seconds = 0.2}).end == End::timed_out);
    CHECK(system::run_task("no such task", {}, folder.path()).succeeded() == false);
}

// A child that was only forked would inherit the lock that another thread holds, and wait for ever.
TEST_CASE("a task runs while another thread of the parent holds every lock") {
    const TemporaryFolder folder;
    std::promise<void> held, done;
    std::thread holder([&] {
        const std::lock_guard lock(held_by_a_thread);
        held.set_value();
        done.get_future().wait();
    });
    held.get_future().wait();
    const system::ChildOutcome outcome = system::run_task("test lock", {}, folder.path(), {.seconds = 10});
    std::string heard;
    const system::ChildOutcome said = system::hear_task(
        "test say lock", {},
        [&](std::string_view line) {
            heard += line;
            return 10;
        },
        10);
    done.set_value();
    holder.join();
    CHECK(outcome.output == "locked");
    CHECK(said.succeeded());
    CHECK(heard == "locked");
}

TEST_CASE("a task that says lines is heard as it goes, and ended when it is silent for too long") {
    using End = system::ChildOutcome::End;
    const auto hear = [](const std::vector<std::string>& words, std::string& heard) {
        return system::hear_task(
            "test say", words,
            [&](std::string_view line) {
                heard += "|" + std::string(line);
                return line == "hang" ? 0.2 : 10;
            },
            10);
    };
    std::string all, crash, thrown, hang;
    CHECK(hear({"a", "b c", "", std::string(100000, 'x')}, all).succeeded());
    CHECK(all == "|a|b c|" + std::string(100000, 'x'));  // an empty line says nothing
    CHECK(hear({"a", "crash"}, crash).end == End::killed);
    CHECK(crash == "|a|crash");
    CHECK(hear({"throw"}, thrown).status == 126);
    CHECK(hear({"hang"}, hang).end == End::timed_out);
    CHECK(hang == "|hang");
    std::string none;
    CHECK_FALSE(system::hear_task(
                    "no such task", {}, [](std::string_view) { return 10; }, 10)
                    .succeeded());
}

TEST_CASE("impossible compile requests are one sentence each") {
    const auto message = [](const std::string& source, const CompileOptions& options) -> std::string {
        try {
            const auto result = compile(source, "own.cu", options);
            return result.ok() ? "compiled" : result.error().message;
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
    };
    CHECK(message(good, {.compiler = "clnag"}) ==
          "unknown compiler 'clnag', did you mean 'clang'?; known: nvrtc, nvcc, clang, ziglang");
    if (compilers_here().empty()) {
        CHECK_THAT(message(good, {}), Contains("the Debian packages clang-14"));
        return;
    }
    CHECK_THAT(message(good, {.arch = "sm_70; touch x"}), Contains("is no architecture"));
    CHECK_THAT(message(std::string("a\0b", 3), {}), Contains("no text file"));
    CHECK_THAT(message(std::string(5 << 20, ' '), {}), Contains("too large"));
}

TEST_CASE("the first error is found in each compiler's way of writing it") {
    const std::string source = "a\n\t  bad line\n";
    const auto edg =
        first_error("/tmp/q/source.cu(2): catastrophic error: something.\n      bad line\n          ^\n", source, "s.cu");
    REQUIRE(edg.has_value());
    CHECK(edg->where == SourceLocation{"s.cu", 2, 8});
    CHECK(edg->message == "something");
    const auto by_clang = first_error("source.cu:1:1: warning: x\nsource.cu:2:4: fatal error: no\n", source, "s.cu");
    REQUIRE(by_clang.has_value());
    CHECK(by_clang->where == SourceLocation{"s.cu", 2, 4});
    CHECK(!first_error("0 errors generated\n", source, "s.cu").has_value());
    // As Windows writes lines and paths.
    const auto there = first_error("C:\\q\\source.cu:2:4: error: no\r\n    bad line\r\n", source, "s.cu");
    REQUIRE(there.has_value());
    CHECK(there->message == "no");
    CHECK(there->where.file == "s.cu");
    CHECK(there->where.line == 2);
    CHECK(!first_error("source.cu(99999999999999999999): error: x\n", source, "s.cu").has_value());
}

}  // namespace device_compile_test
