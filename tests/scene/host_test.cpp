// Host programs: what a text becomes, the words of its mistakes, that it really runs, and that no text harms.
#include <fmt/format.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/scene/figures/figures.h"
#include "core/scene/host/host_program.h"
#include "tests/catch.h"

namespace scene_host_test {

using namespace lockstep;
using namespace lockstep::scene;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string error_of(const std::string& text) {
    const Result<HostText> host = parse_host(text, "x.host");
    return host ? "no error" : render(host.error());
}

// y = a x + y of A03.
fs::path folder() {
    return resource_root() / "lessons" / "A03_host_and_device";
}

const std::string arrays = R"(kernels damp.cu
host   x  f32[1024 ramp] pinned
host   y  f32{1}
)";

std::shared_ptr<const HostRun> run(const std::string& text, const std::string& gpu = "teaching") {
    const Result<HostText> host = parse_host(text, "x.host");
    if (!host) FAIL(render(host.error()));
    const auto result = run_host(host.value(), model::gpu_named(gpu).value(), folder());
    if (!result) FAIL(render(result.error()));
    return result.value();
}

// Kernels of a test's own, as PTX, so that no compiler is needed; gone with it.
struct OwnKernels {
    fs::path folder = fs::temp_directory_path() / "lockstep_host_kernels";
    explicit OwnKernels(const std::string& source, const std::string& ptx) {
        fs::remove_all(folder);
        fs::create_directories(folder / "ptx");
        write_file(folder / "own.cu", source);
        write_file(folder / "ptx" / "own.ptx", fmt::format("// own.cu fnv1a64:{:016x} by hand\n.version 7.0\n.target sm_70\n"
                                                           ".address_size 64\n{}",
                                                           fnv1a64(source), ptx));
    }
    ~OwnKernels() { fs::remove_all(folder); }
    Result<std::shared_ptr<const HostRun>> run(const std::string& text, const std::string& gpu = "teaching") const {
        const Result<HostText> host = parse_host("kernels own.cu\n" + text, "x.host");
        if (!host) FAIL(render(host.error()));
        return run_host(host.value(), model::gpu_named(gpu).value(), folder);
    }
};

double figure(const std::shared_ptr<const HostRun>& run, const std::string& name) {
    return figure_of(*run, name).value();
}

}  // namespace

TEST_CASE("loops and names are unrolled into operations") {
    const Result<HostText> host = parse_host(R"(# a comment
host   x f32[64 ramp] pinned    # another
malloc d f32[64]
let n = 64 / 4
for i = 0 .. 3
  h2d d[$(i * n):$(i * n + n)] x[$(i * n):$(i * n + n)] stream=$(i + 1)
end
event e stream=4
wait  e stream=2
d2h   x d
d2d   d[2/4] d[48:64] stream=1
sync
free  d
)",
                                             "x.host");
    REQUIRE(host);
    const HostText& text = host.value();
    REQUIRE(text.arrays.size() == 2);
    CHECK(text.arrays[0].pinned);
    CHECK(!text.arrays[1].pinned);
    REQUIRE(text.statements.size() == 1 + 4 + 2 + 1 + 1 + 1 + 1);
    CHECK(text.statements[3].to.first == 32);
    CHECK(text.statements[3].to.past == 48);
    CHECK(text.statements[3].stream == 3);
    CHECK(text.statements[3].text == "h2d d[32:48]");
    CHECK(text.statements[3].line == 6);
    CHECK(!text.statements[7].has_stream);
    CHECK(text.statements[8].to.first == 16);
    CHECK(text.statements[8].to.past == 32);
}

TEST_CASE("every mistake in a host program has its sentence, its place and a caret") {
    const std::pair<std::string, std::string> rows[] = {
        {"", "x.host:1:1: error: this host program does nothing: it has no operation"},
        {"h2b d x\n", "x.host:1:1: error: unknown operation 'h2b', did you mean 'h2d'?\n    h2b d x\n    ^"},
        {"malloc d f23[4]\n",
         "x.host:1:10: error: unknown type 'f23', did you mean 'f32'?\n    malloc d f23[4]\n             ^"},
        {"malloc d f32[4]\nmalloc d f32[4]\n", "x.host:2:8: error: 'd' is there already\n    malloc d f32[4]\n           ^"},
        {"malloc data f32[4]\nfree dat\n",
         "x.host:2:6: error: no array is called 'dat', did you mean 'data'?\n    free dat\n         ^"},
        {"host x f32[4]\nmalloc d f32[4]\nh2d x d\n",
         "x.host:3:5: error: 'x' is the host's, but an array of the GPU is needed here\n    h2d x d\n        ^"},
        {"host x f32[4]\nmalloc d f32[4]\nh2d d[0:2] x\n",
         "x.host:3:5: error: 16 bytes do not fit 8 bytes: both sides of a copy have the same size\n    h2d d[0:2] x\n       "
         " ^"},
        {"host x f32[4]\nmalloc d f32[4]\nh2d d[2:9] x\n",
         "x.host:3:7: error: 'd' has 4 elements: a slice goes from its first to behind its last\n    h2d d[2:9] x\n         "
         " ^"},
        {"malloc d f32[10]\nd2d d[3/4] d\n",
         "x.host:2:7: error: 'd' has 10 elements: its parts are equal, and counted from 1\n    d2d d[3/4] d\n          ^"},
        {"malloc d f32[8]\nd2d d[0/4] d\n",
         "x.host:2:7: error: 'd' has 8 elements: its parts are equal, and counted from 1\n    d2d d[0/4] d\n          ^"},
        {"malloc d f32[8]\nd2d d[0:4] d[2:6]\n",
         "x.host:2:5: error: the two sides of a copy overlap: what it would leave there is not defined\n    d2d d[0:4] "
         "d[2:6]\n        ^"},
        {"malloc d f32[8]\nd2d d d\n",
         "x.host:2:5: error: the two sides of a copy overlap: what it would leave there is not defined\n    d2d d d\n       "
         " ^"},
        {"wait e stream=1\n",
         "x.host:1:6: error: the event 'e' has not been recorded before\n    wait e stream=1\n         ^"},
        {"event e\n", "x.host:1:8: error: 'stream=' is missing: an event belongs to a stream\n    event e\n           ^"},
        {"sync stream=1 now\n",
         "x.host:1:15: error: nothing is expected here: the line could end\n    sync stream=1 now\n                  ^"},
        {"work 5ms\n", "x.host:1:7: error: 'us' is missing behind the time\n    work 5ms\n          ^"},
        {"launch k(1) grid=2\n",
         "x.host:1:19: error: 'block=' is missing: a kernel needs its grid and its block\n    launch k(1) grid=2\n          "
         "            ^"},
        {"for i = 0 .. 3\nsync\n",
         "x.host:1:1: error: the 'for' that begins here is not closed: a line 'end' is missing\n    for i = 0 .. 3\n    ^"},
        {"sync\nend\n", "x.host:2:1: error: no 'for' is open here that 'end' could close\n    end\n    ^"},
        {"work $(n)us\n", "x.host:1:6: error: 'n' has no value here\n    work $(n)us\n         ^"},
        {"kernels ../damp.cu\n",
         "x.host:1:9: error: a .cu file of the lesson's own folder is named here\n    kernels ../damp.cu\n            ^"},
        {"connections 0\n", "x.host:1:13: error: there is at least one connection\n    connections 0\n                ^"},
    };
    for (const auto& [text, message] : rows) CHECK(error_of(text) == message);
    CHECK_THAT(error_of("malloc d f32[100000000]\n"), Contains("256 MiB"));
    CHECK_THAT(error_of("for i = 0 .. 999999\nsync\nend\n"), Contains("too long") || Contains("at most 1000 operations"));
    CHECK_THAT(error_of("for i = 0 .. 999999\nfor j = 0 .. 999999\nend\nend\n"), Contains("too long"));
}

TEST_CASE("a host program really runs: the values are those of the kernel, the times those of the model") {
    const auto made = run(R"(kernels damp.cu
host   x  f32[1024 ramp] pinned
host   y  f32[1024 zero] pinned
malloc dx f32[1024]
malloc dy f32[1024]
h2d    dx x
h2d    dy y
launch damp(dy, dx, 2.5, 1024) grid=4 block=256
launch damp(dy, dx, 1, 1000) grid=4 block=256
d2h    y dy
free   dx
free   dy
)");
    REQUIRE(made->outputs.size() == 1);
    CHECK(made->output_names[0] == "y");
    for (int i = 0; i < 1024; ++i)
        CHECK(made->outputs[0].as<float>()[i] == 2.5f * static_cast<float>(i) + (i < 1000 ? static_cast<float>(i) : 0.0f));
    CHECK(figure(made, "launches") == 2);
    CHECK(figure(made, "copies") == 3);
    CHECK(figure(made, "copied_bytes") == 3 * 4096);
    CHECK(figure(made, "hazards") == 0);
    CHECK(figure(made, "y[3]") == 10.5);
    const model::GpuSpec gpu = model::gpu_named("teaching").value();
    CHECK(figure(made, "copy_us") == Approx(3 * (gpu.copy_latency_us + 4096.0 / (gpu.pinned_gb_per_second * 1e3))));
    CHECK(figure(made, "us@line:6") == Approx(gpu.copy_latency_us + 4096.0 / (gpu.pinned_gb_per_second * 1e3)));
    double cycles = 0;
    for (const auto& kernel : made->runs)
        if (kernel) cycles += static_cast<double>(kernel->result.cycles);
    CHECK(figure(made, "kernel_us") == Approx(cycles / gpu.boost_mhz));
    CHECK(figure(made, "overlap") == 0);
    CHECK_THAT(figure_of(*made, "totl_us").error().message, Contains("did you mean 'total_us'"));
}

TEST_CASE("what nothing orders is named, and its values are those of the timeline, not of the text") {
    const std::string head = R"(kernels damp.cu
host   x  f32[65536 ramp] pinned
host   y  f32[65536 zero] pinned
malloc dx f32[65536]
malloc dy f32[65536]
h2d    dx x stream=1
launch damp(dy, dx, 1, 65536) grid=256 block=256 stream=1
)";
    const auto wrong = run(head + "d2h y dy stream=2\nsync\n");
    REQUIRE(wrong->hazards.size() == 1);
    CHECK(wrong->hazards[0] == "line 8 (d2h dy) reads 'dy', which line 7 (damp(dy, dx)) writes, and nothing orders the two");
    CHECK(figure(wrong, "y[100]") == 0);  // it was copied before the kernel began
    for (const char* order : {"d2h y dy stream=1\nsync\n", "sync\nd2h y dy stream=2\nsync\n",
                              "event e stream=1\nwait e stream=2\nd2h y dy stream=2\nsync\n", "d2h y dy\n"}) {
        const auto right = run(head + order);
        CHECK(right->hazards.empty());
        CHECK(figure(right, "y[100]") == 100);
    }
    // The host reads what a copy under way is still writing.
    const auto early = run(head + "d2h y dy stream=1\nwork 1us damp(x, y, 1, 65536) grid=256 block=256\nsync\n");
    CHECK(early->hazards.size() == 2);  // y is still on its way home, x may be on its way out
    CHECK(figure(early, "x[100]") == 100);
}

TEST_CASE("what a kernel writes is told by its own parameters, and by what they point to") {
    const std::string scale = R"(.visible .entry scale(.param .u64 a, .param .u64 b) {
.reg .b64 %rd<3>; .reg .f32 %f<2>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
ld.global.f32 %f1, [%rd2]; add.f32 %f1, %f1, 0f3F800000; st.global.f32 [%rd1], %f1;
ret;
}
)";
    const std::string text = R"(host   x  f32{1}
host   y  f32{0}
malloc dx f32[1]
malloc dy f32[1]
h2d    dx x
h2d    dy y
launch scale(dy, dx) grid=1 block=1 stream=1
d2h    x dx stream=2
d2h    y dy stream=3
sync
)";
    for (const char* parameters : {"float *y, const float *x", "float *const y, float const *__restrict__ x",
                                   "float *constant, const float *const x", "float y[], const float x[1]",
                                   "const float **y, const float *const *x", "const float *y[2], const float *const x[2]"}) {
        INFO(parameters);
        const OwnKernels own(
            "// scale(const float *old, const float *x) was here\n__global__ void prescale(const float *x, const "
            "float *y) {}\n__global__ void scale(" +
                std::string(parameters) + ") {}\n",
            scale);
        const auto made = own.run(text);
        REQUIRE(made);
        REQUIRE(made.value()->hazards.size() == 1);
        CHECK(made.value()->hazards[0] ==
              "line 10 (d2h dy) reads 'dy', which line 8 (scale(dy, dx)) writes, and nothing orders the two");
    }
    // What the host's own work writes is among the outputs.
    const OwnKernels own(
        "__global__ void prescale(const float *y) {}\n__global__ void scale(float *const y, const float *x) {}\n", scale);
    const auto worked = own.run("host x f32{1}\nhost y f32{0}\nwork 1us scale(y, x) grid=1 block=1\n");
    REQUIRE(worked);
    REQUIRE(worked.value()->output_names == std::vector<std::string>{"y"});
    CHECK(worked.value()->outputs[0].as<float>()[0] == 2);
}

const std::string variables = R"(.global .align 4 .f32 acc;
.visible .entry set(.param .f32 v, .param .u32 n) {
.reg .f32 %f<2>; .reg .b32 %r<2>; .reg .pred %p<2>;
ld.param.f32 %f1, [v]; ld.param.u32 %r1, [n];
again:
sub.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
st.global.f32 [acc], %f1;
ret;
}
.visible .entry get(.param .u64 y) {
.reg .b64 %rd<2>; .reg .f32 %f<2>;
ld.param.u64 %rd1, [y];
ld.global.f32 %f1, [acc]; st.global.f32 [%rd1], %f1;
ret;
}
.visible .entry past(.param .u64 y) {
.reg .b64 %rd<2>; .reg .b32 %r<2>;
ld.param.u64 %rd1, [y];
mov.b32 %r1, 0f40E00000; st.global.b32 [%rd1+4], %r1;
ret;
}
)";
const std::string variables_source =
    "__device__ float acc;\n__global__ void set(float v, int n) {}\n__global__ void get(float *y) {}\n"
    "__global__ void past(float *y) {}\n";

TEST_CASE("what kernels write to variables and behind their slices is kept, whatever else nothing orders") {
    const OwnKernels own(variables_source, variables);
    const std::string head = R"(host   a f32[4096 ramp] pinned
host   y f32[2 zero] pinned
malloc da f32[4096]
malloc dy f32[2]
launch set(3, 20000) grid=1 block=1 stream=1
launch get(dy[0:1]) grid=1 block=1 stream=1
launch past(dy[0:1]) grid=1 block=1 stream=1
)";
    const std::string unordered = "h2d da a stream=2\nh2d da a stream=3\n";
    for (const std::string& beside : {std::string(), unordered}) {
        const auto made = own.run(head + beside + "sync\nd2h y dy\n");
        REQUIRE(made);
        CHECK(made.value()->hazards.size() == (beside.empty() ? 0 : 1));
        CHECK(figure(made.value(), "y[0]") == 3);
        CHECK(figure(made.value(), "y[1]") == 7);
    }
}

TEST_CASE("variables, and what a kernel writes behind its slice, are among what nothing orders") {
    const OwnKernels own(variables_source, variables);
    const std::string head = "host y f32[2 zero] pinned\nmalloc dy f32[2]\nmalloc dz f32[2]\n";
    const auto hazards = [&](const std::string& text) {
        const auto made = own.run(head + text);
        REQUIRE(made);
        return made.value()->hazards;
    };
    const std::string set = "launch set(3, 20) grid=1 block=1 stream=1\n";
    CHECK(hazards(set + "launch get(dy) grid=1 block=1 stream=2\nsync\n") ==
          std::vector<std::string>{"line 6 (get(dy)) reads 'acc', which line 5 (set()) writes, and nothing orders the two"});
    CHECK(hazards(set + "sync\nlaunch get(dy) grid=1 block=1 stream=2\nsync\n").empty());
    CHECK(hazards("launch get(dy) grid=1 block=1 stream=1\nlaunch get(dz) grid=1 block=1 stream=2\nsync\n").empty());
    CHECK(hazards("launch past(dy[0:1]) grid=1 block=1 stream=1\nd2h y[1:2] dy[1:2] stream=2\nsync\n") ==
          std::vector<std::string>{
              "line 6 (d2h dy[1:2]) reads 'dy', which line 5 (past(dy[0:1])) writes, and nothing orders the two"});
}

// s[0] += x[tid], by all threads at once.
const std::string adding_source = "__global__ void total(float *s, const float *x) {}\n";
const std::string adding = R"(.visible .entry total(.param .u64 s, .param .u64 x) {
.reg .b32 %r<3>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
ld.param.u64 %rd1, [s];
ld.param.u64 %rd2, [x];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
ld.global.f32 %f2, [%rd1];
add.f32 %f3, %f1, %f2;
st.global.f32 [%rd1], %f3;
ret;
}
)";

TEST_CASE("a host program's kernels are looked at by the checkers that are asked for") {
    const OwnKernels own(adding_source, adding);
    const std::string text =
        "kernels own.cu\nhost x f32[64 ramp]\nhost y f32{0}\nmalloc dx f32[64]\nmalloc ds f32[1]\nh2d dx x\n"
        "launch total(ds, dx) grid=1 block=64\nlaunch total(ds, dx) grid=1 block=64\nd2h y ds\n";
    const auto with = [&](const HostRunOptions& options) {
        return run_host(parse_host(text, "x.host").value(), model::gpu_named("teaching").value(), own.folder, options)
            .value();
    };
    CHECK(with({})->reports.empty());
    const auto races = with({.racecheck = true});
    REQUIRE(races->reports.size() == 2);  // by the load and by the store, which have no lines; once, though launched twice
    for (const auto& report : races->reports) {
        CHECK(report.fault.kind == "racecheck");
        CHECK(races->program.operations[report.statement].line == 7);
    }
    CHECK_THAT(races->reports[0].fault.message, Contains("'ds'"));
    // x was copied in, the sum was never set.
    const auto unset = with({.initcheck = true});
    REQUIRE(unset->reports.size() == 1);
    CHECK_THAT(unset->reports[0].fault.message, Contains("'ds'"));
}

TEST_CASE("what the host changes while a copy still reads it is told with what would order the two") {
    const std::string text =
        "kernels damp.cu\nhost x f32[65536 ramp] pinned\nhost y f32[65536 zero] pinned\nmalloc dx f32[65536]\n"
        "h2d dx x stream=1\nwork 2 us damp(x, y, 1, 65536) grid=256 block=256\nsync\n";
    const auto wrong = run(text);
    REQUIRE(wrong->hazards.size() == 1);
    CHECK_THAT(wrong->hazards[0], Contains("line 6 (damp(x, y)) writes 'x', which line 5 (h2d dx) reads"));
    REQUIRE(wrong->hazard_advice.size() == 1);
    CHECK(wrong->hazard_advice[0] == "Put 'sync stream=1' in front of line 6: then the host waits for line 5.");
    std::string mended = text;
    mended.insert(mended.find("work"), "sync stream=1\n");
    CHECK(run(mended)->hazards.empty());
}

TEST_CASE("a copy home that nobody waits for is told, and what nobody freed is counted") {
    const std::string head = R"(kernels damp.cu
host   x  f32[1024 ramp] pinned
host   y  f32[1024 zero] pinned
malloc dx f32[1024]
malloc dy f32[1024]
h2d    dx x stream=1
launch damp(dy, dx, 1, 1024) grid=4 block=256 stream=1
)";
    const auto left = run(head + "d2h y dy stream=1\nfree dx\nd2h x dy stream=1\n");
    REQUIRE(left->hazards.size() == 1);
    CHECK(left->hazards[0] ==
          "the host may read 'x', which line 10 (d2h dy) may still be writing: nothing waits for that copy");
    CHECK(figure(left, "hazards") == 1);
    CHECK(figure(left, "y[100]") == 100);
    CHECK(figure(left, "still_allocated") == 1);
    CHECK(figure(left, "still_allocated_bytes") == 4096);
    for (const char* waited :
         {"sync\n", "sync stream=1\n", "event e stream=1\nsync e\n", "free dx\n",
          "event e stream=1\nwait e stream=2\nd2h x[0:1] dy[0:1] stream=2\nsync stream=2\n", "d2h x dx\n"})
        CHECK(run(head + "d2h y dy stream=1\n" + waited)->hazards.empty());
    CHECK(run(head + "event e stream=1\nd2h y dy stream=1\nsync e\n")->hazards.size() == 1);
    const auto freed = run(head + "d2h y dy\nfree dx\nfree dy\n");
    CHECK(figure(freed, "still_allocated") == 0);
    CHECK(figure(freed, "still_allocated_bytes") == 0);
}

TEST_CASE("an element or a line that is no number is refused, not taken for the first") {
    const auto made = run(arrays + "malloc d f32[1]\nd2h y d\n");
    CHECK(figure(made, "y[0]") == 0);
    for (const char* wrong :
         {"y[99999999999999999999999]", "y[-1]", "y[]", "y[0x]", "us@line:4x", "us@line:99999999999999999999"})
        CHECK_FALSE(figure_of(*made, wrong).ok());
    CHECK_THAT(figure_of(*made, "y[99999999999999999999999]").error().message,
               Contains("'99999999999999999999999' is no whole number that could be meant here"));
}

TEST_CASE("blank lines and comments of a loop are not gone through again and again") {
    const std::string blank(65'300, '\n');
    const std::vector<HostLine> lines = host_lines("for i = 0 .. 19000\n" + blank + "# a comment\nend\n");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].end == 1);
    CHECK(lines[1].number == 65'303);
    const std::vector<HostLine> nested = host_lines("end\nfor a\n for b # twice\n\n x\n end\nfor c\nend");
    REQUIRE(nested.size() == 7);
    CHECK(nested[1].end == HostLine::no_end);
    CHECK(nested[2].end == 4);
    CHECK(nested[2].code == " for b ");
    CHECK(nested[5].end == 6);
    CHECK_THAT(error_of("for i = 0 .. 19000\n" + blank + "end\n"), Contains("does nothing"));
    CHECK_THAT(error_of("for i = 0 .. 9000\n" + std::string(2000, ' ') + "let a = 1\nend\n"), Contains("4 MiB"));
}

const std::string touch = R"(.visible .entry touch(.param .u64 a, .param .u32 n) {
.reg .b64 %rd<4>; .reg .b32 %r<5>; .reg .pred %p<2>;
ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mov.u32 %r3, 7;
mul.wide.u32 %rd2, %r2, 64; add.s64 %rd1, %rd1, %rd2;
again:
st.global.u8 [%rd1], %r3;
add.s64 %rd1, %rd1, 65536; sub.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
ret;
}
.visible .entry spin(.param .u64 a, .param .u32 n) {
.reg .b32 %r<2>; .reg .pred %p<2>;
ld.param.u32 %r1, [n];
again:
sub.u32 %r1, %r1, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
ret;
}
)";

TEST_CASE("kernels under way at once keep only the bytes that they change, and more than 1 GiB of those is refused",
          "[long]") {
    const OwnKernels own("__global__ void touch(char *a, int n) {}\n", touch);
    // A byte in 64 of an array of 128 MiB, or of its first 64 KiB, by kernels that all run at once.
    const auto many = [&](int launches, int rounds) {
        std::string text = "connections 32\nmalloc d u8[134217728]\nhost y u8[65536] pinned\n";
        for (int i = 1; i <= launches; ++i)
            text += fmt::format("launch touch(d, {}) grid=1 block=1024 stream={}\n", rounds, i);
        return own.run(text + "sync\nd2h y d[0:65536]\n", "v100");
    };
    const auto few = many(30, 64);
    REQUIRE(few);
    CHECK(few.value()->hazards.size() == 100);
    CHECK(figure(few.value(), "kernels_at_once") > 1);
    CHECK(figure(few.value(), "y[64]") == 7);
    CHECK(figure(few.value(), "y[65]") == 0);
    const auto all = many(7, 2048);
    REQUIRE(!all);
    CHECK(render(all.error()) ==
          "x.host:11:1: error: what is under way at once here would write more than 1 GiB, which is too much to keep: order "
          "the operations, or take smaller arrays\n    launch touch(d, 2048) grid=1 block=1024 stream=7\n    ^");
}

TEST_CASE("the instructions of all a host program's kernels are counted together, the host's own with them", "[long]") {
    const OwnKernels own("__global__ void spin(char *a, int n) {}\n", touch);
    const std::string work = "work 1us spin(x, 10000000) grid=1 block=32\n";
    const auto once = own.run("host x u8[1]\n" + work);
    REQUIRE(once);
    CHECK(!once.value()->fault);
    const auto twice = own.run("host x u8[1]\n" + work + work);
    REQUIRE(twice);
    REQUIRE(twice.value()->fault);
    CHECK(twice.value()->fault->kind == "runaway");
}

TEST_CASE("a kernel that goes too far, is unknown, or gets what it does not take is said in one sentence") {
    const auto error = [&](const std::string& text) {
        const Result<HostText> host = parse_host(arrays + "malloc d f32[64]\n" + text, "x.host");
        REQUIRE(host);
        const auto result = run_host(host.value(), model::gpu_named("teaching").value(), folder());
        return result ? result.value()->fault ? result.value()->fault->kind : "no error" : result.error().message;
    };
    CHECK(error("launch damp(d, d, 1, 64) grid=2 block=32\n") == "no error");
    CHECK(error("launch damp(d, d, 1, 128) grid=4 block=32\n") == "memcheck");
    CHECK_THAT(error("launch dump(d, d, 1, 64) grid=2 block=32\n"), Contains("dump"));
    CHECK_THAT(error("launch damp(d, d, 1) grid=2 block=32\n"), Contains("takes 4 arguments, but 3 are given"));
    CHECK_THAT(error("launch damp(d, d, d, 64) grid=2 block=32\n"), Contains("argument 3 of 'damp' is a number"));
    CHECK_THAT(error("launch damp(d, d, 1, 6.5) grid=2 block=32\n"), Contains("whole number"));
    CHECK_THAT(error("launch damp(d, d, 1, 64) grid=2 block=4096\n"), Contains("4096 threads"));
    CHECK_THAT(error("free d\nlaunch damp(d, d, 1, 64) grid=2 block=32\n"), Contains("'d' has been freed"));
    const Result<HostText> link = parse_host(arrays + "link nvlink\nsync\n", "x.host");
    CHECK_THAT(run_host(link.value(), model::gpu_named("teaching").value(), folder()).error().message,
               Contains("no NVLink"));
}

TEST_CASE("no text makes the parser of host programs fail in another way than with a sentence") {
    const std::string good = read_file(resource_root() / "lessons" / "A14_streams" / "three.host").value();
    REQUIRE(error_of(good) == "no error");
    Rng rng(5);
    const std::string signs = "0123456789[]():=,. $#\n-*/abdehlnux_";
    for (int round = 0; round < 3000; ++round) {
        std::string text = good;
        for (uint64_t i = 0, count = 1 + rng.below(6); i < count; ++i) {
            const size_t at = rng.below(text.size());
            const uint64_t what = rng.below(3);
            if (what == 0)
                text[at] = signs[rng.below(signs.size())];
            else if (what == 1)
                text.erase(at, 1 + rng.below(9));
            else
                text.insert(at, 1, signs[rng.below(signs.size())]);
            if (text.empty()) text = "\n";
        }
        const Result<HostText> host = parse_host(text, "x.host");
        if (!host) CHECK(!host.error().message.empty());
    }
}

}  // namespace scene_host_test
