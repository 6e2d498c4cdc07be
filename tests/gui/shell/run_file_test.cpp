// A run as one file: what is saved opens at the same place and comes to the same cycle; broken and hostile files are refused
// in one sentence.
#include "app/gui/run_file.h"

#include <fstream>

#include "app/gui/scenes.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/rng.h"
#include "tests/gui/desk.h"

namespace gui_run_file_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

std::string why(const std::string& text) {
    const auto read = parse_run_file(text, "f.lockstep");
    return read.ok() ? std::string() : read.error().message;
}
std::string with_kernel(const std::string& source, const std::string& launch = "{}", const std::string& name = "k.cu") {
    std::string quoted;
    for (const char c : source) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return R"({"lockstep_run":1,"kernel":{"name":")" + name + R"(","text":")" + quoted + R"(","launch":)" + launch + "}}";
}
const std::string good = with_kernel("__global__ void k(int *x) { x[0] = 1; }",
                                     R"({"grid":"1","block":"32","arguments":[{"parameter":"x","text":"out:i32[4]"}]})");

}  // namespace

TEST_CASE("a run that was saved reads back as it was") {
    RunFile run;
    run.kernel = kernel_templates()[2].make();
    run.kernel->launch.gpu = "h100";
    run.kernel->launch.seed = "9";
    run.place = {.workspace = "sm",
                 .view = "warps",
                 .cycle = 400,
                 .cycles = 1200,
                 .sm = 3,
                 .block = 7,
                 .warp = 1,
                 .lane = 5,
                 .line = 12};
    const auto read = parse_run_file(text_of(run), "f.lockstep");
    REQUIRE(read.ok());
    CHECK(read.value().place == run.place);
    CHECK(read.value().kernel->text == run.kernel->text);
    CHECK(read.value().kernel->launch.gpu == "h100");
    CHECK(read.value().kernel->launch.arguments.size() == run.kernel->launch.arguments.size());
    CHECK(text_of(read.value()) == text_of(run));
    RunFile lesson;
    lesson.lesson = "A08";
    lesson.step = 4;
    CHECK(parse_run_file(text_of(lesson), "f").value().step == 4);
    RunFile training;
    training.training = setup_of("lenet5");
    training.step = 3;
    CHECK(*parse_run_file(text_of(training), "f").value().training == *training.training);
    CHECK(is_run_file("a/b.lockstep"));
    CHECK_FALSE(is_run_file("a/b.cu"));
}

TEST_CASE("what a run file may not hold is refused in one sentence that names it") {
    REQUIRE(why(good).empty());
    const auto refused = [&](const std::string& text, const std::string& part) {
        INFO(text.substr(0, 200));
        const std::string said = why(text);
        CHECK(said.starts_with("the run cannot be opened: "));
        CHECK(said.find(part) != std::string::npos);
        CHECK(said.find('\n') == std::string::npos);
        CHECK(said.size() < 300);
    };
    refused("", "is no run");
    refused("{}", "is no run");
    refused("[1]", "is no run");
    refused(std::string("\0\0\0", 3), "is no run");
    refused(R"({"lockstep_run":2})", "later version");
    refused(R"({"lockstep_run":1})", "one of 'kernel', 'lesson' and 'training'");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08"},"training":{"model":"mlp"}})", "one of");
    refused(R"({"lockstep_run":1,"lesson":{"id":"../../etc"}})", "lesson.id");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08","step":99}})", "lesson.step");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08","step":1.5}})", "no whole number");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08"},"run":"rm -rf"})", "a key that this version does not know: 'run'");
    refused(R"({"lockstep_run":1,"training":{"model":"nothing"}})", "training.model");
    refused(R"({"lockstep_run":1,"training":{"model":"mlp","batch":1e300}})", "training.batch");
    refused(R"({"lockstep_run":1,"training":{"model":"mlp","learning_rate":"x"}})", "no number");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08"},"place":{"cycle":-5}})", "place.cycle");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08"},"place":{"workspace":"nowhere"}})", "place.workspace");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08"},"place":{"view":"nothing"}})", "place.view");
    refused(with_kernel("x", "{}", "../../.bashrc"), "kernel.name");
    refused(with_kernel("x", "{}", "/etc/k.cu"), "kernel.name");
    refused(with_kernel("x", "{}", "k.exe"), "kernel.name");
    refused(with_kernel("", "{}"), "kernel.text");
    refused(with_kernel("x", R"({"gpu":"/etc/passwd.toml"})"), "names a file");
    refused(with_kernel("x", R"({"gpu":"v9000"})"), "no GPU");
    refused(with_kernel("x", R"({"build":"-include /etc/passwd"})"), "does not know: 'build'");
    refused(with_kernel("x", R"({"arguments":[{"parameter":"x","text":"in:/etc/shadow.npy"}]})"), "names a file");
    refused(with_kernel("x", R"({"arguments":[{"parameter":"x","text":"out:f32[4]=/tmp/pwned.npy"}]})"), "names a file");
    refused(with_kernel("x", R"({"arguments":3})"), "kernel.launch.arguments");
    refused(with_kernel("x", R"({"order":9})"), "kernel.launch.order");
    refused(with_kernel("x", R"({"timed":"yes"})"), "neither true nor false");
    for (const char* line :
         {"#include \"/etc/passwd\"", "# include <../secret>", "#include </etc/passwd>", "#inc\\\nlude \"a\"",
          "#/**/include \"a\"", "%:include \"a\"", "#include NAME", "#embed \"a\"", "#import \"a\""})
        refused(with_kernel(std::string("int a;\n") + line + "\n"), "reads a file");
    CHECK(why(with_kernel("#include <cuda_runtime.h>\n#include <cstdio>\nint a;")).empty());
    refused(std::string(largest_run_file + 1, ' '), "larger");
    refused(with_kernel(std::string((1 << 20) + 1, 'x')), "longer");
    refused(std::string(100'000, '['), "is no run");
    std::string deep = R"({"lockstep_run":1,"kernel":)";
    for (int i = 0; i < 50'000; ++i) deep += R"({"a":)";
    refused(deep + "1" + std::string(50'001, '}'), "kernel");
}

TEST_CASE("files that are broken anywhere do no harm") {
    RunFile run;
    run.kernel = kernel_templates()[1].make();
    run.place = {.workspace = "machine", .cycle = 12, .cycles = 100, .zoom = 3};
    const std::string whole = text_of(run);
    Rng rng(5);
    size_t refused = 0;
    for (int i = 0; i < 4000; ++i) {
        std::string broken = whole;
        const auto changes = 1 + rng.next() % 4;
        for (uint64_t k = 0; k < changes && !broken.empty(); ++k) {
            const size_t at = rng.next() % broken.size();
            switch (rng.next() % 5) {
                case 0:
                    broken[at] = static_cast<char>(rng.next());
                    break;
                case 1:
                    broken.resize(std::max<size_t>(1, at));
                    break;
                case 2:
                    broken.insert(at, broken.substr(at, rng.next() % 200));
                    break;
                case 3:
                    broken.erase(at, rng.next() % 40);
                    break;
                default:
                    broken.insert(at, std::vector<std::string>{"-1", "1e999", "null", "\"", "{", "]", "\\u0000",
                                                               "9007199254740993"}[rng.next() % 8]);
            }
        }
        const auto read = parse_run_file(broken, "f.lockstep");
        if (read.ok()) {
            CHECK(parse_run_file(text_of(read.value()), "f").ok());
        } else {
            ++refused;
            CHECK_FALSE(read.error().message.empty());
        }
    }
    CHECK(refused > 1000);
}

TEST_CASE("a run opens where its sender stood, at the same cycle, warp and line") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "sum.lockstep";
    RunPlace left;
    {
        test::Desk desk({.own_kernel = true});
        desk.session.workspace = Workspace::kernel;
        for (int i = 0; i < 10 && !desk.session.snapshot()->own.run; ++i) desk.settle();
        if (!desk.session.snapshot()->own.run) return;  // this machine has no compiler
        desk.session.workspace = Workspace::sm;
        desk.settle();
        const KernelTrace& trace = desk.session.snapshot()->kernel.run->result.trace;
        desk.shell.focus.warp = static_cast<int32_t>(trace.warps.size()) - 1;
        desk.shell.focus.time = trace.cycles / 2;
        desk.settle();
        const RunFile run = run_on_show(desk.session, desk.shell.focus, "");
        left = run.place;
        write_file(file, text_of(run));
    }
    CHECK(left.cycle >= 0);
    test::Desk other({.own_kernel = true});
    other.input.dropped = {file.string()};  // as onto the window
    other.frame();
    other.input.dropped.clear();
    for (int i = 0; i < 6; ++i) other.settle();
    const auto snapshot = other.session.snapshot();
    REQUIRE(snapshot->kernel.run);
    CHECK(other.session.workspace == Workspace::sm);
    CHECK(snapshot->kernel.run->result.trace.cycles == left.cycles);
    CHECK(other.shell.focus.time == left.cycle);
    const WarpTrack& warp = snapshot->kernel.run->result.trace.warps[static_cast<size_t>(other.shell.focus.warp)];
    CHECK(warp.block == static_cast<uint32_t>(left.block));
    CHECK(warp.warp_in_block == static_cast<uint32_t>(left.warp));
}

}  // namespace gui_run_file_test
