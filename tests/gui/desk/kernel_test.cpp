// The Kernel workspace: documents, guesses, compiling, running, cancelling, reports that lead to their place, and what is
// kept across restarts. The whole interface in a bare ImGui context, with the worker behind it. PTX needs no compiler; what
// tries CUDA C++ is left out where no compiler is.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "app/gui/app.h"
#include "app/gui/desk/work_file.h"
#include "app/gui/views/kernel/file_panel.h"
#include "app/gui/views/kernel/kernel_values.h"
#include "app/gui/views/kernel/lines/variable_names.h"
#include "app/gui/widgets/text_buffer.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/device/kernels/kernel_library.h"
#include "core/ptx/ptx.h"
#include "core/simt/history/history_memory.h"
#include "tests/gui/own_desk.h"

namespace gui_kernel_test {

using namespace lockstep;
using namespace lockstep::gui;
namespace fs = std::filesystem;

namespace {

constexpr const char* header = ".version 7.0\n.target sm_70\n.address_size 64\n";

// x[i] = i through shared memory; thread `bad` writes far outside.
std::string fill_ptx(int bad = -1) {
    return std::string(header) + R"(.visible .entry fill(.param .u64 fill_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    .shared .align 4 .b8 part[1024];
    ld.param.u64 %rd1, [fill_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    shl.b32 %r5, %r3, 2;
    mov.u32 %r6, part;
    add.s32 %r6, %r6, %r5;
    st.shared.u32 [%r6], %r4;
    bar.sync 0;
    setp.eq.s32 %p1, %r4, )" +
           std::to_string(bad) + R"(;
    mul.wide.s32 %rd3, %r4, 4;
    @%p1 add.s64 %rd3, %rd3, 1000000;
    add.s64 %rd4, %rd2, %rd3;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd4], %r7;
    ret;
}
)";
}
// It counts: a loop that changes nothing is found to be endless at once.
const std::string endless_ptx = std::string(header) +
                                ".visible .entry endless()\n{\n    .reg .b32 %r<2>;\n    mov.u32 %r1, 0;\nagain:\n"
                                "    add.u32 %r1, %r1, 1;\n    bra.uni again;\n    ret;\n}\n";

using test::has_compiler;
using test::Scratch;
using Desk = test::OwnDesk;

KernelEntry entry_of(const std::string& ptx) {
    KernelEntry entry;
    entry.program = ptx::decode(ptx::parse(ptx, "t.ptx").value()).value();
    entry.name = entry.program->shown_name();
    for (const auto& p : entry.program->parameters) entry.parameters.push_back(p.name);
    return entry;
}

}  // namespace

TEST_CASE("a kernel that is opened runs, and its output is read back") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    const auto snapshot = desk.snapshot();
    REQUIRE(snapshot->own.result);
    INFO((snapshot->own.result->refused ? snapshot->own.result->refused->message : std::string()));
    REQUIRE(snapshot->own.result->run);
    CHECK(snapshot->kernel.run == snapshot->own.result->run);
    CHECK(snapshot->own.result->run->result.cycles > 0);
    REQUIRE(snapshot->own.result->bound.arguments.size() == 1);
    const Buffer buffer = buffer_of(snapshot->own.result->bound.arguments[0], *snapshot->own.result->run->before,
                                    *snapshot->own.result->after);
    REQUIRE(buffer.count() == 1024);
    for (int32_t i = 0; i < 1024; ++i) {
        int32_t value = 0;
        std::memcpy(&value, buffer.after.data() + i * 4, 4);
        REQUIRE(value == i);
    }
    for (const char* view : {"editor", "reports", "launch", "results", "watch", "bytes"}) {
        INFO(view);
        CHECK(desk.shell.describe(view).size() > 40);
    }
    CHECK(desk.shell.describe("results").find("0 to 1023, mean 511.5") != std::string::npos);
}

TEST_CASE("a kernel that is opened for another workspace runs there; one that does not compile is shown in its own") {
    const Scratch scratch;
    for (const bool sound : {true, false}) {
        INFO(sound);
        Desk desk;
        desk.session.workspace = Workspace::sm;
        REQUIRE(!desk.session.desk.open(scratch.write("one.ptx", sound ? fill_ptx() : fill_ptx() + "}")));
        desk.settle();
        CHECK(!desk.snapshot()->kernel.run);  // nobody asked for it
        desk.shell.run_own();
        desk.settle();
        CHECK(desk.session.workspace == (sound ? Workspace::sm : Workspace::kernel));
        CHECK(bool(desk.snapshot()->kernel.run) == sound);
        if (sound) CHECK(desk.shows("Warp 0 of block 0"));
    }
}

TEST_CASE("the variable that a line assigns to is found where there is no doubt") {
    CHECK(variable_assigned("    float sum = 0.0f;") == "sum");
    CHECK(variable_assigned("sum += x[i] * 2;  // i = 3") == "sum");
    CHECK(variable_assigned("for (int i = 0; i <= n; ++i) {") == "i");
    CHECK(variable_assigned("if (a == b && c != d) x <<= 2;") == "x");
    CHECK(variable_assigned("const char *s = \"=\";") == "s");
    for (const char* unclear : {"out[i] = sum;", "*p = 3;", "p->x = 3;", "v.x = 3;", "int a = 1, b = 2;", "a = b = c;",
                                "if (a <= b) return;", "x[i]++;", "auto f = [&](int k) { return k; };", "// a = b", ""})
        CHECK(variable_assigned(unclear).empty());
}

TEST_CASE("the watch says whose new value a register was given") {
    const std::filesystem::path folder = resource_root() / "lessons" / "A05_latency_hiding";
    const auto program = ptx::decode(ptx::parse(read_file(folder / "ptx" / "walk.ptx").value(), "walk.ptx").value()).value();
    const std::string source = read_file(folder / "walk.cu").value();
    const std::vector<std::string> names = variable_names(*program, source);
    std::map<std::string, std::set<int>> lines;
    for (size_t pc = 0; pc < names.size(); ++pc)
        if (!names[pc].empty()) lines[names[pc]].insert(program->instructions[pc].line);
    CHECK(lines["i"] == std::set<int>{2});
    CHECK(lines["stride"] == std::set<int>{3});
    CHECK(lines["v"] == std::set<int>{6});
    CHECK(lines["at"] == std::set<int>{7});
    CHECK(lines.size() == 4);  // the loop is unrolled: nothing is left of k
}

TEST_CASE("where registers stand in two rows of sixteen lanes, the ruler counts both") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    REQUIRE(desk.shell.show_alone("watch"));
    desk.settle();
    REQUIRE(desk.shows("31"));
    REQUIRE(desk.click_on("all lanes"));
    desk.frames(2);
    CHECK(desk.shows("0, 16"));
    CHECK(desk.shows("8, 24"));
    CHECK(desk.shows("15, 31"));
}

TEST_CASE("what is compiled a second time says that it comes from before") {
    if (!has_compiler()) return;
    const Scratch scratch;
    const std::string text = "__global__ void fresh" + std::to_string(::getpid()) + "(int *p) { p[threadIdx.x] = 1; }\n";
    for (const bool before : {false, true}) {
        Desk desk;
        desk.open(scratch.write(before ? "again.cu" : "fresh.cu", text));
        REQUIRE(desk.snapshot()->own.compiled);
        CHECK(desk.snapshot()->own.compiled->from_cache == before);
        CHECK_FALSE(desk.snapshot()->own.compiled->compiler.empty());
    }
}

TEST_CASE("variables of the file are set from the form, and a wrong one is refused at its field") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("symbol.ptx",
                            ".version 7.0\n.target sm_70\n.address_size 64\n.global .align 4 .u32 n;\n"
                            ".visible .entry k(.param .u64 p) {\n.reg .u64 a; .reg .u32 r;\nld.param.u64 a, [p];\n"
                            "ld.global.u32 r, [n];\nst.global.u32 [a], r;\nret;\n}\n"));
    LaunchSettings& launch = desk.session.desk.document().launch;
    launch.grid = launch.block = "1";
    launch.grid_chosen = true;
    launch.arguments.at(0) = {"p", "out:i32[1]", true};
    launch.symbols = "n=i32:41";
    desk.session.desk.run(desk.session);
    desk.settle();
    const auto snapshot = desk.snapshot();
    REQUIRE(snapshot->own.result);
    REQUIRE_FALSE(snapshot->own.result->refused);
    const Buffer buffer = buffer_of(snapshot->own.result->bound.arguments.at(0), *snapshot->own.result->run->before,
                                    *snapshot->own.result->after);
    int32_t value = 0;
    std::memcpy(&value, buffer.after.data(), 4);
    CHECK(value == 41);
    launch.symbols = "m=i32:41";
    desk.session.desk.run(desk.session);
    desk.settle();
    REQUIRE(desk.snapshot()->own.result->refused);
    CHECK(desk.snapshot()->own.result->field == "symbols");
}

TEST_CASE("a part of a sum that the compiler moved out of a loop is not taken for the loop's variable") {
    const std::string ptx = R"(.version 7.0
.target sm_70
.address_size 64
.file 1 "t.cu"
.visible .entry f(.param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<6>;
    .loc 1 1 1
    ld.param.u32 %r5, [n];
    mov.u32 %r1, %ntid.x;
    .loc 1 3 1
    mul.lo.s32 %r2, %r1, 3;
    .loc 1 2 1
    mov.u32 %r3, 0;
L:  .loc 1 3 1
    add.s32 %r3, %r3, %r2;
    setp.lt.s32 %p1, %r3, %r5;
    @%p1 bra L;
    ret;
}
)";
    const auto program = ptx::decode(ptx::parse(ptx, "t.ptx").value()).value();
    const auto names = variable_names(*program, "f(int n)\nint k = 0;\nwhile ((k += 3 * blockDim.x) < n);\n");
    REQUIRE(names.size() == 8);
    CHECK(names == std::vector<std::string>{"", "", "", "k", "k", "", "", ""});
}

TEST_CASE("a text that does not compile is said, loses nothing, and leaves the last good kernel to run") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    const auto good = desk.snapshot()->own.runnable;
    const std::string broken = "x" + fill_ptx();
    desk.session.desk.set_text(broken);
    desk.settle();
    auto snapshot = desk.snapshot();
    REQUIRE(snapshot->own.compiled);
    CHECK_FALSE(snapshot->own.compiled->ok);
    REQUIRE(!snapshot->own.compiled->messages.empty());
    CHECK(snapshot->own.compiled->messages[0].where.line == 1);
    CHECK(snapshot->own.runnable == good);
    CHECK(desk.session.desk.document().text == broken);
    const auto before = snapshot->own.result;
    desk.key(KeyCode::f5);
    desk.settle();
    CHECK(desk.snapshot()->own.result != before);
    CHECK(desk.snapshot()->own.result->run);
    desk.session.desk.set_text(fill_ptx());
    desk.settle();
    CHECK(desk.snapshot()->own.compiled->ok);
    CHECK(desk.snapshot()->own.result->version == desk.session.desk.version());
}

TEST_CASE("a kernel finds the headers that lie beside its file, and the bundled kernels open") {
    if (!has_compiler()) return;
    const Scratch scratch;
    fs::create_directories(scratch.folder / "include");
    scratch.write("include/half.h", "#define HALF 0.5f\n");
    Desk desk;
    desk.open(
        scratch.write("one.cu", "#include \"include/half.h\"\n__global__ void one(float *x) { x[threadIdx.x] = HALF; }\n"));
    REQUIRE(desk.snapshot()->own.compiled);
    CHECK(desk.snapshot()->own.compiled->ok);
    CHECK(desk.snapshot()->own.compiled->messages.empty());
    scratch.write("ports.h", "#define PORTS float *left, int count\n");
    desk.open(
        scratch.write("ports.cu", "#include \"ports.h\"\n__global__ void ports(PORTS) { left[threadIdx.x] = count; }\n"));
    REQUIRE(desk.snapshot()->own.compiled->ok);
    CHECK(desk.snapshot()->own.compiled->entries[0].parameters == std::vector<std::string>{"left", "count"});
    scratch.write("body.h", "// a header\n\n__global__ void two(float *x) {\n    x[threadIdx.x + 5000000] = 1;\n}\n");
    desk.open(scratch.write("two.cu", "#include \"body.h\"\n"));
    REQUIRE(desk.snapshot()->own.result->run);
    CHECK(desk.snapshot()->own.result->run->source.find("// a header") == 0);  // beside its PTX
    CHECK(desk.shell.describe("reports").find("line 4 of body.h") != std::string::npos);
    CHECK(desk.shell.describe("editor").find("memcheck") == std::string::npos);  // no line of the editor's
    desk.open((resource_root() / "kernels" / "mse.cu").string());
    CHECK(desk.snapshot()->own.compiled->ok);
    CHECK(desk.snapshot()->own.compiled->entries.size() >= 2);
}

TEST_CASE("errors and warnings of CUDA C++ stand on the learner's lines, and several kernels can be chosen from") {
    if (!has_compiler()) return;
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("two.cu", "__global__ void one(float *x) {\n    x[threadIdx.x] = y;\n    int z = 3\n}\n"));
    auto snapshot = desk.snapshot();
    REQUIRE(snapshot->own.compiled);
    std::vector<int> lines;
    for (const Diagnostic& d : snapshot->own.compiled->messages)
        if (d.severity == Severity::error) lines.push_back(d.where.line);
    REQUIRE(lines.size() >= 2);
    CHECK(lines[0] == 2);
    CHECK((lines[1] == 3 || lines[1] == 4));
    CHECK(desk.shell.describe("reports").find("line 2") != std::string::npos);
    desk.session.desk.set_text(
        "__global__ void one(float *x) { x[threadIdx.x] = 1; }\n__global__ void two(const int *a, int *b, float s) { "
        "b[threadIdx.x] = "
        "a[threadIdx.x] * s; }\n");
    desk.settle();
    snapshot = desk.snapshot();
    REQUIRE(snapshot->own.compiled->ok);
    REQUIRE(snapshot->own.compiled->entries.size() == 2);
    CHECK(desk.session.desk.document().launch.kernel == "one");
    desk.session.desk.choose_entry("two");
    desk.settle();
    REQUIRE(desk.session.desk.document().launch.arguments.size() == 3);
    CHECK(desk.session.desk.document().launch.arguments[0].text == "in:i32[1024]");
    CHECK(desk.session.desk.document().launch.arguments[1].text == "out:i32[1024]");
    CHECK(desk.session.desk.document().launch.arguments[2].text == "f32:2");
    CHECK(desk.snapshot()->own.result->kernel == "two");
    CHECK(desk.session.desk.edit_to_result < 20);
}

TEST_CASE("a form is guessed from types and use, and what the learner typed stays") {
    const std::string source =
        "__global__ void f(const double *in, float4 *out, int *bins, unsigned n, half h) {\n  // in[0] = 1\n  "
        "out[threadIdx.x] = x;\n"
        "  atomicAdd(&bins[0], 1);\n}\n";
    CHECK(parameter_declarations(source, "f") ==
          std::vector<std::string>{"const double *in", "float4 *out", "int *bins", "unsigned n", "half h"});
    KernelEntry entry = entry_of(std::string(header) +
                                 ".visible .entry f(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3, .param "
                                 ".align 2 .b8 p4[2])\n{\n    ret;\n}\n");
    entry.parameters = {"in", "out", "bins", "n", "h"};
    LaunchSettings settings;
    fit_launch(settings, entry, source);
    REQUIRE(settings.arguments.size() == 5);
    CHECK(settings.arguments[0].text == "in:f64[1024]");
    CHECK(settings.arguments[1].text == "out:f32[4096]");
    CHECK(settings.arguments[2].text == "inout:i32[1024 zero]");
    CHECK(settings.arguments[3].text == "u32:1024");
    for (const ArgumentText& a : settings.arguments) CHECK(scene::parse_argument(a.text).ok());
    CHECK(settings.block == "256");
    LaunchSettings shared;
    fit_launch(shared, entry, "#define WIDTH 128\n" + source + "__shared__ float s[WIDTH];\n");
    CHECK(shared.block == "128");
    CHECK(shared.grid == "8");
    settings.arguments[3] = {.parameter = "n", .text = "u32:7", .chosen = true};
    entry.parameters = {"in", "out", "n", "extra", "h"};  // another text: n moved
    fit_launch(settings, entry, "");
    CHECK(settings.arguments[2].text == "u32:7");
}

TEST_CASE("a block is guessed from the numbers that the index counts with") {
    KernelEntry entry = entry_of(std::string(header) + ".visible .entry f(.param .u64 p0)\n{\n    ret;\n}\n");
    entry.parameters = {"out"};
    const auto launch = [&](const std::string& text) {
        LaunchSettings settings;
        fit_launch(settings, entry, "__global__ void f(float *out) {\n" + text + "\n}\n");
        return settings.grid + " x " + settings.block;
    };
    CHECK(launch("int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = 1;") == "4 x 256");
    CHECK(launch("int i = blockIdx.x * 32 + threadIdx.x; out[i] = 1;") == "32 x 32");
    CHECK(launch("int i = threadIdx.x + 128 * blockIdx.x; out[i] = 1;") == "8 x 128");
    CHECK(launch("int i = blockIdx.x * 512 + threadIdx.x * 4; out[i] = 1;") == "2 x 128");
    CHECK(launch("int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y; out[y * 64 + x] = 1;") ==
          "2,2 x 32,32");
    CHECK(launch("const int T = 32; int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;\n"
                 "for (int j = 0; j < T; j += 8) out[(y + j) * 64 + x] = 1;") == "2,2 x 32,8");
    CHECK(launch("__shared__ float tile[258]; out[blockIdx.x * blockDim.x + threadIdx.x] = 1;") == "4 x 256");
}

TEST_CASE("of two sizes the second is small, and a file of many kernels offers all of them by name") {
    KernelEntry entry = entry_of(std::string(header) +
                                 ".visible .entry f(.param .u64 p0, .param .u32 p1, .param .u32 p2)\n{\n    ret;\n}\n");
    entry.parameters = {"m", "rows", "cols"};
    LaunchSettings settings;
    fit_launch(settings, entry, "__global__ void f(const float *m, int rows, int cols) { float v = m[rows]; }\n");
    CHECK(settings.arguments[1].text == "i32:1024");
    CHECK(settings.arguments[2].text == "i32:64");

    std::string many(header);
    for (int i = 0; i < 300; ++i) many += ".visible .entry k" + std::to_string(i) + "()\n{\n    ret;\n}\n";
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("many.ptx", many));
    REQUIRE(desk.snapshot()->own.runnable);
    CHECK(desk.snapshot()->own.runnable->entries.size() == 300);
    desk.frames(2);
    CHECK(desk.shows("kernel, 300 in this file"));
    CHECK(desk.said().find("and 276 more: type a part of the name") != std::string::npos);
    CHECK_FALSE(desk.shows("k299"));
    REQUIRE(desk.click_on("a part of its name"));
    for (const char c : std::string("k29"))
        desk.input.keys.push_back({KeyCode::none, false, false, static_cast<char32_t>(c)});
    desk.frames(3);
    REQUIRE(desk.click_on("k299"));
    desk.settle();
    CHECK(desk.session.desk.document().launch.kernel == "k299");
}

TEST_CASE("bad input is said about its field and runs nothing") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    const auto wrong = [&](const char* field, const std::function<void(LaunchSettings&)>& spoil) {
        const LaunchSettings before = desk.session.desk.document().launch;
        spoil(desk.session.desk.document().launch);
        desk.session.desk.touch();
        desk.settle();
        INFO(field);
        const auto& result = desk.snapshot()->own.result;
        CHECK(result->refused);
        CHECK(result->field == field);
        CHECK(desk.shell.describe("reports").find("launch:") != std::string::npos);
        desk.session.desk.document().launch = before;
        desk.session.desk.touch();
        desk.settle();
        CHECK(desk.snapshot()->own.result->run);
    };
    wrong("grid", [](LaunchSettings& s) { s.grid = "0"; });
    wrong("block", [](LaunchSettings& s) { s.block = "2000"; });
    wrong("block", [](LaunchSettings& s) { s.block = "many"; });
    wrong("shared", [](LaunchSettings& s) { s.shared = "-1"; });
    wrong("shared", [](LaunchSettings& s) { s.shared = "900000"; });
    wrong("seed", [](LaunchSettings& s) { s.seed = "x"; });
    wrong("argument 0", [](LaunchSettings& s) { s.arguments[0] = {"p", "out:f23[4]", true}; });
    wrong("argument 0", [](LaunchSettings& s) { s.arguments[0] = {"p", "i32:4", true}; });
}

TEST_CASE("a file that is no array is said beside the argument that names it") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    desk.session.desk.document().launch.arguments.at(0) = {"p", "in:/etc/passwd", true};
    desk.session.desk.touch();
    desk.settle();
    REQUIRE(desk.shell.show_alone("launch"));
    desk.frames(3);
    CHECK(desk.shows("/etc/passwd:"));
    CHECK(desk.shell.describe("launch").find("not run: /etc/passwd: ") != std::string::npos);
}

TEST_CASE("an index that is none is marked in the memory view, and a filter without a match says so") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    const auto type = [&](const char* hint, const char* words) {
        REQUIRE(desk.click_on(hint));
        for (const char* c = words; *c != 0; ++c) desk.input.keys.push_back({.character = static_cast<char32_t>(*c)});
        desk.frames(3);
    };
    REQUIRE(desk.shell.show_alone("bytes"));
    desk.settle();
    type("to index", "abc");
    CHECK(desk.shows("an index below "));
    CHECK(desk.clashes() == std::vector<std::string>{});
    REQUIRE(desk.shell.show_alone("watch"));
    desk.settle();
    type("filter: sum, %f", "zzz");
    CHECK(desk.shows("No register matches \"zzz\"."));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("an endless kernel is given up when nobody asked for it, and cancelled when somebody did") {
    const Scratch scratch;
    for (const bool timed : {true, false}) {
        Desk desk({.paced = true});
        REQUIRE(!desk.session.desk.open(scratch.write("endless.ptx", endless_ptx)));
        desk.session.desk.document().launch.timed = timed;
        desk.settle();
        REQUIRE(desk.snapshot()->own.result);
        REQUIRE(desk.snapshot()->own.result->refused);
        CHECK_FALSE(desk.snapshot()->own.result->cancelled);
        CHECK(desk.snapshot()->own.result->refused->message.find("given up") != std::string::npos);
        if (timed) {  // its trace up to there is shown, as what it is
            const auto& kernel = desk.snapshot()->kernel;
            REQUIRE(kernel.run);
            CHECK(kernel.run->result.stopped);
            CHECK(kernel.run->result.trace.cycles > 100);
            REQUIRE(!kernel.run->result.trace.warps.empty());
            CHECK(!kernel.run->result.trace.warps[0].issues.empty());
            CHECK(kernel.label.find("(your kernel, stopped)") != std::string::npos);
            const int64_t clock = desk.shell.focus.time;  // the time pictures open where the clock stands
            CHECK(desk.session.sm.cycles_begin <= clock);
            CHECK(clock < desk.session.sm.cycles_end);
        }
        desk.key(KeyCode::f5);
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 20; ++i) desk.frame();  // the frame never waits for it
        CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 5);
        CHECK_FALSE(desk.session.wait_until_idle(0.05));
        desk.key(KeyCode::f5, true);
        REQUIRE(desk.session.wait_until_idle(60));
        REQUIRE(desk.snapshot()->own.result->refused);
        CHECK(desk.snapshot()->own.result->cancelled);
    }
}

TEST_CASE("F8 leads from a fault to its line, block, warp and lane in all pictures") {
    const Scratch scratch;
    for (const int bad : {5, 256 + 3 * 32 + 17, 3 * 256 + 255}) {  // blocks on other SMs than the one traced first, too
        Desk desk;
        desk.open(scratch.write("fill.ptx", fill_ptx(bad)));
        REQUIRE(desk.snapshot()->own.result->run);
        REQUIRE(desk.snapshot()->own.result->run->result.fault);
        desk.key(KeyCode::f8);
        desk.settle();
        const auto snapshot = desk.snapshot();
        INFO(bad);
        REQUIRE(desk.shell.focus.warp >= 0);
        const WarpTrack& warp = snapshot->kernel.run->result.trace.warps[static_cast<size_t>(desk.shell.focus.warp)];
        CHECK(warp.block == static_cast<uint32_t>(bad / 256));
        CHECK(warp.warp_in_block == static_cast<uint32_t>(bad % 256 / 32));
        CHECK(desk.shell.focus.lane == bad % 32);
        REQUIRE(snapshot->kernel.history);
        const auto& step = snapshot->kernel.history->steps[static_cast<size_t>(desk.session.sm.history_step)];
        CHECK(ptx::text_of(*snapshot->kernel.run->program, step.pc).starts_with("st.global"));
        CHECK_FALSE(desk.session.desk.jump);
    }
}

TEST_CASE("a warp's memory is that before its instruction, and its access names every lane's address") {
    const KernelEntry entry = entry_of(fill_ptx());
    simt::Memory memory;
    simt::LaunchConfig config;
    config.grid = {2, 1, 1};
    config.block = {64, 1, 1};
    const uint64_t address = memory.allocate(512, "x");
    config.parameters.resize(8);
    std::memcpy(config.parameters.data(), &address, 8);
    const auto history = simt::record_warp(*entry.program, config, memory, 1, 1);
    bool saw_shared = false, saw_global = false;
    for (size_t step = 0; step <= history.steps.size(); ++step) {
        const simt::MemoryAt at = simt::memory_at(*entry.program, config, memory, 1, 1, step);
        REQUIRE(at.shared.size() == 1024);
        CHECK(simt::shared_at(*entry.program, config, memory, 1, 1, step) == at.shared);
        const std::string text = step < history.steps.size() ? ptx::text_of(*entry.program, history.steps[step].pc) : "";
        int32_t value = 0;
        std::memcpy(&value, at.shared.data() + 4 * 40, 4);
        if (text.starts_with("st.shared")) {
            saw_shared = true;
            CHECK(value == 0);  // of this warp's own lanes nothing is there yet
            REQUIRE(at.access.any);
            CHECK(at.access.is_store);
            CHECK(at.access.space == ptx::Space::shared);
            for (uint64_t lane = 0; lane < 32; ++lane) CHECK(at.access.addresses[lane] == 4 * (32 + lane));
        }
        if (text.starts_with("st.global")) {
            saw_global = true;
            CHECK(value == 64 + 40);  // block 1 of 64 threads, thread 40
            CHECK(at.access.addresses[3] == address + 4 * (64 + 32 + 3));
            CHECK(at.access.bytes == 4);
        }
    }
    CHECK(saw_shared);
    CHECK(saw_global);
    CHECK(simt::memory_at(*entry.program, config, memory, 9, 0, 0).shared.empty());
}

TEST_CASE("text, settings and the list of documents come back after a restart") {
    const Scratch scratch;
    const fs::path state = scratch.folder / "state" / "kernels.json";
    const std::string file = scratch.write("fill.ptx", fill_ptx());
    {
        KernelDesk desk(state);
        REQUIRE(!desk.open(file));
        desk.set_text("not saved yet \xC3\xA4");
        desk.document().launch.grid = "7";
        desk.document().launch.grid_chosen = true;
        desk.document().launch.racecheck = false;
        desk.document().launch.arguments = {{"fill_param_0", "out:i32[7]", true}};
        desk.touch();
    }  // what was not written yet is written now
    REQUIRE(fs::exists(state.parent_path() / "kernels"));
    {
        KernelDesk desk(state);
        CHECK(desk.document().text == "not saved yet \xC3\xA4");
        CHECK(desk.document().path == fs::canonical(file).string());
        CHECK_FALSE(desk.document().saved());
        CHECK(desk.document().launch.grid == "7");
        CHECK_FALSE(desk.document().launch.racecheck);
        REQUIRE(desk.document().launch.arguments.size() == 1);
        CHECK(desk.document().launch.arguments[0].text == "out:i32[7]");
        CHECK(desk.documents().size() == 2);
        // Opening the file again keeps what was not saved; saving writes it.
        REQUIRE(!desk.open(file));
        CHECK(desk.document().text == "not saved yet \xC3\xA4");
        REQUIRE(!desk.save(file));
        CHECK(desk.document().saved());
        CHECK(read_file(file).value() == "not saved yet \xC3\xA4");
    }
    std::ofstream(state, std::ios::trunc) << "{ half";
    KernelDesk desk(state);
    CHECK(!desk.document().text.empty());
    CHECK(fs::exists(state.string() + ".unreadable"));
}

TEST_CASE("a desk without a file keeps nothing, and odd files are refused in one sentence") {
    const Scratch scratch;
    KernelDesk desk{fs::path()};
    CHECK(desk.open(scratch.folder / "nowhere.cu")->find("no such file") != std::string::npos);
    CHECK(desk.open(scratch.write("a.txt", "x"))->find(".cu or .ptx") != std::string::npos);
    CHECK(desk.open(scratch.write("zero.cu", std::string("a\0b", 3)))->find("no text file") != std::string::npos);
    CHECK(desk.open(scratch.folder)->size() > 5);
    CHECK(desk.save(scratch.folder / "x.txt")->find(".cu or .ptx") != std::string::npos);
    CHECK(desk.save("/dev/null/x.cu"));
    const uint64_t version = desk.version();
    for (size_t i = 0; i < 40; ++i) desk.open_template(kernel_templates()[i % kernel_templates().size()]);
    CHECK(desk.documents().size() <= KernelDesk::most_documents);
    CHECK(desk.version() > version);
}

TEST_CASE("two kernels that began from one template are both there after a restart") {
    const Scratch scratch;
    const fs::path state = scratch.folder / "state.json";
    for (const char* const text : {"// AAA\n", "// BBB\n", "// CCC\n"}) {
        KernelDesk(state).open_template(kernel_templates().back());  // is kept before a letter is typed
        KernelDesk(state).set_text(text);
    }
    KernelDesk desk(state);
    for (const char* const text : {"// AAA\n", "// BBB\n", "// CCC\n"})
        CHECK(std::any_of(desk.documents().begin(), desk.documents().end(),
                          [&](const KernelDocument& d) { return d.text == text; }));
}

TEST_CASE("a compiler that takes long is not waited for when another file is opened") {
    if (!has_compiler()) return;
    const Scratch scratch;
    std::string slow = "#define A0 (1+1)\n";  // 2^26 terms
    for (int i = 1; i <= 26; ++i)
        slow += "#define A" + std::to_string(i) + " (A" + std::to_string(i - 1) + "+A" + std::to_string(i - 1) + ")\n";
    slow += "__global__ void slow(int *out) { out[0] = A26; }\n";
    const std::string bomb = scratch.write("slow.cu", slow), quick = scratch.write("quick.ptx", fill_ptx());
    Desk desk;
    REQUIRE(!desk.session.desk.open(bomb));
    desk.frames(4);
    const auto begin = std::chrono::steady_clock::now();
    while (desk.snapshot()->busy != "compiling slow.cu" &&
           std::chrono::steady_clock::now() - begin < std::chrono::seconds(5))
        desk.frame();
    REQUIRE(desk.snapshot()->busy == "compiling slow.cu");
    const auto opened = std::chrono::steady_clock::now();
    desk.open(quick);
    CHECK(std::chrono::steady_clock::now() - opened < std::chrono::seconds(8));  // the compiler has 15
    REQUIRE(desk.snapshot()->own.result);
    CHECK(desk.snapshot()->own.result->kernel == "fill");
}

TEST_CASE("a path is completed by folders and kernel files alone") {
    const Scratch scratch;
    scratch.write("one.cu", "");
    scratch.write("other.ptx", "");
    scratch.write("notes.txt", "");
    fs::create_directories(scratch.folder / "older");
    const std::string base = scratch.folder.string() + "/";
    CHECK(completions(base + "o") == std::vector<std::string>{base + "one.cu", base + "other.ptx", base + "older/"});
    CHECK(completions(base + "on") == std::vector<std::string>{base + "one.cu"});
    CHECK(completions(base + "x").empty());
    CHECK(completions("/no/such/folder/x").empty());
}

TEST_CASE("every ready-made kernel compiles, runs without a fault and leaves its output whole") {
    if (!has_compiler()) return;
    for (const KernelTemplate& one : kernel_templates()) {
        INFO(one.name);
        Desk desk;
        desk.session.desk.open_template(one);
        desk.settle();
        if (desk.session.desk.document().is_program()) {
            const auto& run = desk.snapshot()->program.run;
            if (!run) continue;  // no compiler for whole programs is here
            CHECK(run->status == 0);
            CHECK(run->report.launches.size() == 40);
            CHECK(run->report.leaks.empty());
            CHECK(run->printed.front().text == "hot spot: 106.961\n");
            continue;
        }
        const auto& result = desk.snapshot()->own.result;
        REQUIRE(result);
        if (desk.session.desk.document().is_tape()) {  // its outputs: gui_tape_test
            CHECK(!result->refused);
            CHECK(desk.snapshot()->tape);
            continue;
        }
        INFO((result->refused ? result->refused->message : std::string()));
        REQUIRE(result->run);
        CHECK(!result->run->result.fault);
        for (const auto& argument : result->bound.arguments)
            if (argument.role == scene::KernelArgument::Role::out) {
                const Buffer buffer = buffer_of(argument, *result->run->before, *result->after);
                CHECK(buffer.facts.untouched == 0);
                CHECK(buffer.facts.finite == buffer.facts.count);
            }
    }
}

TEST_CASE("every exercise's copy opens with the launch that it is checked with") {
    int exercises = 0;
    for (const fs::path& folder : lessons::lesson_folders()) {
        const auto lesson = lessons::load_lesson(folder);
        REQUIRE(lesson.ok());
        const std::string& id = lesson.value().id;
        for (const lessons::Step& step : lesson.value().steps)
            for (const lessons::Exercise& exercise : step.exercises) {
                if (!exercise.file.ends_with(".cu")) continue;
                INFO(id << ", " << exercise.id);
                const std::string source = read_file(lesson.value().folder / exercise.file, 1 << 20).value();
                const LaunchSettings launch = launch_of(lesson.value(), exercise, source);
                CHECK(launch.grid_chosen);
                CHECK(scene::parse_dim3(launch.grid, "grid").ok());
                CHECK(scene::parse_dim3(launch.block, "block").ok());
                REQUIRE(launch.arguments.size() == exercise.arguments.size());
                for (const ArgumentText& argument : launch.arguments) {
                    INFO(argument.parameter << " = " << argument.text);
                    CHECK_FALSE(argument.parameter.empty());
                    CHECK(scene::parse_argument(argument.text).ok());
                }
                ++exercises;
            }
    }
    CHECK(exercises > 20);
    if (!has_compiler()) return;
    // This starter reads eight numbers a thread: with one a thread, as is guessed elsewhere, it would read behind the end.
    const auto lesson = lessons::lesson_named("A08").value();
    const lessons::Exercise& exercise = lesson.steps[8].exercises.at(0);
    const Scratch scratch;
    const std::string source = read_file(lesson.folder / exercise.file, 1 << 20).value();
    Desk desk;
    desk.open(scratch.write("pieces.cu", source));
    desk.session.desk.document().launch = launch_of(lesson, exercise, source);
    desk.session.desk.run(desk.session);
    desk.settle();
    REQUIRE(desk.snapshot()->own.run);
    CHECK(desk.snapshot()->own.run->reports().empty());
    CHECK(desk.session.desk.document().launch.arguments.at(0).text ==
          launch_of(lesson, exercise, source).arguments.at(0).text);
}

TEST_CASE("advice on sizes that the app guessed says so, and none that was chosen does") {
    if (!test::has_compiler()) return;
    const test::Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.cu", "__global__ void fill(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }"));
    CHECK(desk.shell.describe("verdict").find("the app's guess: grid 4, block 256") != std::string::npos);
    LaunchSettings& launch = desk.session.desk.document().launch;
    launch.grid_chosen = true;
    for (ArgumentText& argument : launch.arguments) argument.chosen = true;
    desk.key(KeyCode::f5);
    desk.settle();
    CHECK(desk.shell.describe("verdict").find("the app's guess") == std::string::npos);
}

TEST_CASE("where a guess hides the results, they lead to the roofline and can be shown without") {
    if (!test::has_compiler()) return;
    const test::Scratch scratch;
    Desk desk;
    desk.session.roof.guess_first = true;
    desk.open(scratch.write("fill.cu", "__global__ void fill(float *x) { x[threadIdx.x] = 2 * x[threadIdx.x] + 1; }"));
    desk.session.workspace = Workspace::memory;
    desk.settle();
    desk.session.workspace = Workspace::kernel;
    desk.settle();
    REQUIRE(desk.session.roof.guessing());
    CHECK_FALSE(desk.shows("warp instructions"));
    CHECK(desk.clashes() == std::vector<std::string>{});
    REQUIRE(desk.click_on("To the roofline"));
    CHECK(desk.session.workspace == Workspace::memory);
    desk.session.workspace = Workspace::kernel;
    desk.settle();
    REQUIRE(desk.click_on("show without"));
    CHECK(desk.shows("warp instructions"));
}

TEST_CASE("what is wrong with the text before is not counted with what is wrong now") {
    if (!test::has_compiler()) return;
    const test::Scratch scratch;
    Desk desk;
    desk.open(scratch.write("past.cu", "__global__ void past(float *x) { x[threadIdx.x + 100000000] = 1; }"));
    CHECK(desk.shell.describe("reports").find("1 thing wrong") != std::string::npos);
    desk.session.desk.set_text("__global__ void past(float *x) { x[0] = nothing; y[0] = 1; }");
    desk.settle();
    CHECK(desk.shell.describe("reports").find("2 things wrong") != std::string::npos);
}

TEST_CASE("opening another kernel leaves each launch as it was chosen") {
    if (!test::has_compiler()) return;
    const test::Scratch scratch;
    Desk desk;
    desk.open(scratch.write(
        "four.cu", "__global__ void four(const float *m, float *x, int rows, int cols) { x[threadIdx.x] = m[cols]; }"));
    KernelDesk& on = desk.session.desk;
    on.document().launch.arguments[0] = {"m", "in:f32[32768]", true};
    on.document().launch.arguments[3] = {"cols", "i32:32", true};
    const auto texts = [&] {
        std::string all;
        for (const ArgumentText& a : on.document().launch.arguments) all += a.text + " ";
        return all;
    };
    const std::string chosen = texts();
    // The form is drawn, while the worker still compiles, with the parameters of no other document.
    REQUIRE(!on.open(scratch.write("two.cu", "__global__ void two(float *x, int n) { if (n > 7) x[threadIdx.x] = 1; }")));
    on.document().launch.arguments = {{"x", "out:f32[512]", true}, {"n", "i32:9", true}};
    on.document().launch.grid_chosen = true;
    CHECK(on.entry(*desk.snapshot()) == nullptr);
    desk.settle();
    CHECK(texts() == "out:f32[512] i32:9 ");
    on.show(1);
    CHECK(on.entry(*desk.snapshot()) == nullptr);
    desk.settle();
    CHECK(on.document().name == "four.cu");
    CHECK(texts() == chosen);
}

TEST_CASE("a functional run is stepped through like a timed one") {
    const Scratch scratch;
    Desk desk;
    REQUIRE(!desk.session.desk.open(scratch.write("fill.ptx", fill_ptx())));
    desk.session.desk.document().launch.timed = false;
    desk.session.desk.document().launch.order = simt::WarpOrder::reverse;
    desk.settle();
    REQUIRE(desk.snapshot()->own.result->run);
    CHECK(desk.snapshot()->own.result->run->result.trace.warps.size() == 32);
    for (int page = 0; page < 3; ++page) {
        desk.shell.show_page(page);
        desk.settle();
        CHECK(ImGui::GetDrawData()->TotalVtxCount > 4000);
        CHECK(ImGui::GetDrawData()->TotalVtxCount <= 8000 * 4);
    }
    desk.key(KeyCode::end);
    desk.settle();
    CHECK(desk.session.sm.history_step + 1 == static_cast<int64_t>(desk.snapshot()->kernel.history->steps.size()));
    desk.shell.show_page(3);                                   // Warps and PTX
    for (const float h : {1000.0f, 991.0f, 720.0f, 700.0f}) {  // the list goes on to its last line, whatever its height
        desk.size(1600, h, 1);
        for (const KeyCode key : {KeyCode::home, KeyCode::end}) {
            desk.key(key);
            desk.settle();
        }
        INFO(h << desk.said());
        CHECK(desk.shows("ret"));
    }
    desk.key(KeyCode::left);
    desk.settle();
    CHECK(desk.snapshot()->kernel.lanes_step == desk.session.sm.history_step);
}

TEST_CASE("a file dropped onto the window opens in the Kernel workspace, and what cannot be opened is said once") {
    const Scratch scratch;
    Desk desk;
    desk.session.workspace = Workspace::sm;
    const auto drop = [&](std::vector<std::string> files) {
        Input input;
        input.dropped = std::move(files);
        desk.frame(input);
        desk.settle();
    };
    drop({scratch.write("fill.ptx", fill_ptx())});
    CHECK(desk.session.workspace == Workspace::kernel);
    CHECK(desk.session.desk.document().name == "fill.ptx");
    REQUIRE(desk.snapshot()->own.result);
    fs::create_directories(scratch.folder / "pictures.cu");
    drop({(scratch.folder / "pictures.cu").string()});
    REQUIRE(desk.snapshot()->problem);
    CHECK(desk.snapshot()->problem->message == "'pictures.cu' is a folder: open one of its .cu, .ptx, .host or .tape files");
    fs::create_symlink("/dev/zero", scratch.folder / "endless.cu");  // a pipe would be waited for as long
    drop({(scratch.folder / "endless.cu").string()});
    REQUIRE(desk.snapshot()->problem);
    CHECK(desk.snapshot()->problem->message == "'endless.cu' is a pipe or a device: a file is needed");
    drop({scratch.write("noise.cu", std::string("\x7f\0\1\2", 4))});
    REQUIRE(desk.snapshot()->problem);
    CHECK(desk.snapshot()->problem->message == "'noise.cu' is no text file");
    CHECK(desk.session.desk.document().name == "fill.ptx");
    drop({scratch.write("other.ptx", fill_ptx())});
    CHECK(!desk.snapshot()->problem);  // it was another file's
    CHECK(desk.session.desk.document().name == "other.ptx");
    drop({scratch.write("letter.txt", "Dear")});
    REQUIRE(desk.snapshot()->problem);
    CHECK(desk.snapshot()->problem->message.find("'letter.txt' does not") != std::string::npos);
    drop({scratch.write("letter.ptx", "Dear\n")});  // a text that does not compile: it is the report's to say
    CHECK(!desk.snapshot()->problem);
    drop({scratch.write("letter.txt", "Dear"), scratch.write("third.ptx", fill_ptx())});
    CHECK(desk.session.desk.document().name == "third.ptx");
    REQUIRE(desk.snapshot()->problem);  // what was wrong with the first is still said, though the last one runs
    CHECK(desk.snapshot()->problem->message.find("'letter.txt' does not") != std::string::npos);
    CHECK(desk.snapshot()->own.result);
}

TEST_CASE("a file that is not UTF-8 opens as Latin-1, and that is said") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("old.ptx",
                            "// gr\xfc\xdf"
                            "e\n" +
                                fill_ptx()));
    CHECK(
        desk.session.desk.document().text.starts_with("// gr\u00fc\u00df"
                                                      "e\n"));
    REQUIRE(desk.snapshot()->problem);
    CHECK_THAT(desk.snapshot()->problem->message,
               Catch::Matchers::Contains("'old.ptx' is not UTF-8: 2 bytes were read as Latin-1"));
    CHECK(desk.snapshot()->own.result);
    std::string good = "a \u00fc \u20ac";
    CHECK(make_utf8(good) == 0);
    CHECK(good == "a \u00fc \u20ac");
}

TEST_CASE("one's own kernel opens at its first instruction, not in the cycles that the launch takes") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    REQUIRE(desk.snapshot()->kernel.run);
    const KernelTrace& trace = desk.snapshot()->kernel.run->result.trace;
    REQUIRE(desk.shell.focus.warp == 0);
    const int64_t first = trace.issues[trace.warps[0].issues.front()].cycle;
    REQUIRE(first > 0);
    CHECK(desk.shell.focus.time == first);
    CHECK(desk.session.sm.cycles_begin < first);
    CHECK(desk.session.sm.cycles_end > first);
    desk.shell.focus.time = 0;  // and the launch can be seen all the same
    desk.settle();
    CHECK(desk.shell.focus.time == 0);
    if (!has_compiler()) return;
    desk.open(scratch.write("one.cu", "__global__ void one(float *x) { x[threadIdx.x] = 1; }\n"));
    desk.session.grain = Grain::cycle;
    desk.settle();
    CHECK_THAT(desk.shell.describe("source"), Catch::Matchers::Contains("The one issue so far"));
    desk.shell.focus.time = 0;
    desk.settle();
    CHECK_THAT(desk.shell.describe("source"), Catch::Matchers::Contains("No instruction of this warp has issued yet"));
}

TEST_CASE("a file whose text does not compile shows nothing of the file before it") {
    const Scratch scratch;
    Desk desk;
    desk.open(scratch.write("fill.ptx", fill_ptx()));
    REQUIRE(desk.snapshot()->own.result);
    desk.open(scratch.write("letter.ptx", "hello there\n"));
    CHECK(!desk.snapshot()->own.runnable);
    CHECK(!desk.snapshot()->own.result);
    CHECK_THAT(desk.shell.describe("reports"),
               Catch::Matchers::Contains("expected a directive such as .visible .entry, found 'hello'"));
    CHECK_THAT(desk.shell.describe("results"), !Catch::Matchers::Contains("fill"));
    CHECK_FALSE(desk.shows("this is the last one that did"));
    desk.open(scratch.write("good.ptx", fill_ptx()));
    CHECK(desk.snapshot()->own.runnable);
    CHECK(desk.snapshot()->own.result);
}

}  // namespace gui_kernel_test
