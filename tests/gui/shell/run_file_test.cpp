// A run as one file: what is saved opens at the same place and comes to the same cycle; broken and hostile files are refused
// in one sentence.
#include "app/gui/run_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/gui/run_page.h"
#include "app/gui/scenes.h"
#include "app/gui/views/machine/machine_play.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/model/gpus/gpu_file.h"
#include "core/scene/cluster/cluster_plan.h"
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
    run.place.plan = scene::published_plans().back().name;
    run.place.rank = 9536;
    run.place.step_time = 2980.5;
    run.place.request = {.begin = 120, .sm = 3, .line = 88'000};
    run.place.packet = {FollowedPacket::Kind::chunk, 2, 1, 7};
    run.place.stops = true;
    const auto read = parse_run_file(text_of(run), "f.lockstep");
    REQUIRE(read.ok());
    CHECK(read.value().place == run.place);
    REQUIRE(plan_of(read.value().place));
    CHECK(plan_of(read.value().place)->plan == scene::within_limits(scene::published_plans().back().setup()));
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
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08"},"place":{"request":{"sm":-2}}})", "place.request.sm");
    refused(R"({"lockstep_run":1,"lesson":{"id":"A08"},"place":{"packet":{"kind":"parcel"}}})", "place.packet.kind");
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
    for (const char* line : {"#include \"/etc/passwd\"", "# include <../secret>", "#include </etc/passwd>",
                             "#inc\\\nlude \"../a\"", "#/**/include \"../a\"", "%:include \"../a\"", "#include \"a/.ssh/b\"",
                             "#include NAME", "#embed \"a\"", "#import \"a\""})
        refused(with_kernel(std::string("int a;\n") + line + "\n"), "reads a file");
    CHECK(why(with_kernel("#include <cuda_runtime.h>\n#include <cstdio>\nint a;")).empty());
    const auto carrying = [](const std::string& files) {
        return R"({"lockstep_run":1,"files":)" + files + R"(,"kernel":{"name":"k.cu","text":"x","launch":{}}})";
    };
    CHECK(why(carrying(R"([{"name":"x.npy","base64":"AAA="},{"name":"util/a.h","text":"int a;"}])")).empty());
    refused(carrying(R"([{"name":"../x.npy","text":"a"}])"), "may not be");
    refused(carrying(R"([{"name":"/etc/x.h","text":"a"}])"), "may not be");
    refused(carrying(R"([{"name":"a/../../x.h","text":"a"}])"), "may not be");
    refused(carrying(R"([{"name":".bashrc","text":"a"}])"), "may not be");
    refused(carrying(R"([{"name":"k.cu","text":"a"}])"), "the source's own name");
    refused(carrying(R"([{"name":"a.h","text":"a"},{"name":"a.h","text":"b"}])"), "twice");
    refused(carrying(R"([{"name":"a.h","text":"#include \"/etc/passwd\""}])"), "reads a file");
    refused(carrying(R"([{"name":"a.npy","base64":"A"}])"), "files.base64");
    refused(carrying(R"([{"name":"a.npy","base64":"*AAA"}])"), "files.base64");
    refused(carrying(R"({"a.h":"x"})"), "no list");
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

TEST_CASE("a run takes along its headers, its arrays and its GPU's file, and opens from them elsewhere") {
    const TemporaryFolder sender, receiver;
    const auto here = sender.path();
    write_durably(here / "util" / "scale.h", "#pragma once\n#include \"more.h\"\n#define SCALE MORE\n");
    write_durably(here / "util" / "more.h", "#define MORE 3\n");
    write_file(here / "big.toml", "inherits = \"a100\"\nsms = 4\n");
    write_file(here / "mine.toml", "inherits = \"big.toml\"\nl2_mb = 2\n");
    const std::string bytes("\x93NUMPY\0\xff\n", 9);
    write_file(here / "my data.npy", bytes);
    KernelDocument document;
    document.path = (here / "k.cu").string();
    document.name = "k.cu";
    document.text =
        "#include <cstdio>\n#include \"util/scale.h\"\n__global__ void k(float *x, float *y) { *y = *x * SCALE; }\n";
    document.launch.gpu = (here / "mine.toml").string();
    document.launch.arguments = {{"x", "in:my data.npy", true}, {"y", "out:f32[4]=result.npy", true}};
    RunFile run;
    run.kernel = document;
    run.files = carry(*run.kernel);
    CHECK(run.files.size() == 5);
    CHECK(run.kernel->launch.gpu == "mine.toml");
    CHECK(run.kernel->launch.arguments[0].text == "in:my_data.npy");
    CHECK(run.kernel->launch.arguments[1].text == "out:f32[4]");  // who opens it has nothing written
    auto read = parse_run_file(text_of(run), "f.lockstep");
    INFO((read.ok() ? std::string() : read.error().message));
    REQUIRE(read.ok());
    CHECK(read.value().files == run.files);
    setenv("XDG_STATE_HOME", receiver.path().c_str(), 1);
    RunFile opened = read.value();
    unpack(opened);
    unsetenv("XDG_STATE_HOME");
    const auto folder = std::filesystem::path(opened.kernel->path).parent_path();
    CHECK(folder.string().starts_with(receiver.path().string()));
    CHECK(read_file(folder / "my_data.npy").value() == bytes);
    CHECK(read_file(folder / "util" / "more.h").value() == "#define MORE 3\n");
    const auto gpu = model::gpu_named(opened.kernel->launch.gpu);
    REQUIRE(gpu.ok());
    CHECK(gpu.value().sms == 4);
    CHECK(gpu.value().l2_bytes == 2u << 20);
    // What is missing or lies elsewhere is said in one sentence.
    const auto why_not = [&](KernelDocument wrong) {
        try {
            carry(wrong);
        } catch (const Failure& failure) {
            return failure.diagnostic.message;
        }
        return std::string();
    };
    KernelDocument wrong = document;
    wrong.launch.arguments[0].text = "in:nowhere.npy";
    CHECK(why_not(wrong).find("nowhere.npy") != std::string::npos);
    wrong = document;
    wrong.path = (here / "util" / "k.cu").string();
    wrong.launch.arguments.clear();
    wrong.text = "#include \"../big.toml\"\n";
    CHECK(why_not(wrong) == "the source includes '../big.toml', which lies outside of its folder");
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

TEST_CASE("a run that is opened follows the request that its sender followed, in a window that had another run too") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "A08.lockstep";
    RunPlace::Request followed;
    const auto request_of = [](const test::Desk& desk) -> const RequestRecord* {
        const auto run = desk.session.snapshot()->kernel.run;
        const int64_t at = desk.session.machine.followed;
        if (!run || !run->result.trace.machine || at < 0) return nullptr;
        return &run->result.trace.machine->requests.at(static_cast<size_t>(at));
    };
    {
        test::Desk desk({.lesson = "A08"});
        desk.session.workspace = Workspace::machine;
        desk.settle();
        REQUIRE(desk.session.snapshot()->kernel.run);
        follow_request(desk.session, *desk.session.snapshot(), 100);
        const RequestRecord* const request = request_of(desk);
        REQUIRE(request != nullptr);
        followed = {request->begin, request->sm, static_cast<int64_t>(request->line)};
        write_file(file, text_of(run_on_show(desk.session, desk.shell.focus, "")));
    }
    test::Desk other({.lesson = "A06"});
    other.session.workspace = Workspace::machine;
    other.settle();
    other.input.dropped = {file.string()};
    other.frame();
    other.input.dropped.clear();
    for (int i = 0; i < 40 && other.session.lesson.lesson->id != "A08"; ++i) other.settle();
    for (int i = 0; i < 60 && request_of(other) == nullptr; ++i) other.settle();
    const RequestRecord* const request = request_of(other);
    REQUIRE(request != nullptr);
    CHECK(request->begin == followed.begin);
    CHECK(request->sm == followed.sm);
    CHECK(static_cast<int64_t>(request->line) == followed.line);
}

TEST_CASE("a lesson's run opens where its sender stood, not where the step begins") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "A06.lockstep";
    RunPlace left;
    for (const int step : {7, 8}) {  // one begins where its `until` says, one at a line
        {
            test::Desk desk({.lesson = "A06", .lesson_step = step});
            desk.session.workspace = Workspace::learn;
            desk.settle();
            REQUIRE(desk.session.snapshot()->kernel.run);
            const int64_t began = desk.shell.focus.time;
            desk.key(KeyCode::end);
            for (int i = 0; i < 5; ++i) desk.key(KeyCode::left);
            desk.settle();
            CHECK(desk.shell.focus.time != began);
            const RunFile run = run_on_show(desk.session, desk.shell.focus, "");
            left = run.place;
            write_file(file, text_of(run));
        }
        INFO("step " << step + 1);
        test::Desk other({.own_kernel = true});
        other.input.dropped = {file.string()};
        other.frame();
        other.input.dropped.clear();
        for (int i = 0; i < 40 && other.session.lesson.step != step; ++i) other.settle();
        for (int i = 0; i < 6; ++i) other.settle();
        CHECK(other.session.lesson.step == step);
        CHECK(other.shell.focus.time == left.cycle);
    }
}

TEST_CASE("a run as a page for a browser holds the run and the place, and answers no open question") {
    {
        test::Desk desk({.training_steps = 1});
        desk.session.workspace = Workspace::sm;
        desk.settle();
        const auto run = desk.session.snapshot()->kernel.run;
        REQUIRE(run);
        desk.shell.focus.warp = 2;
        desk.shell.focus.time = 321;
        const std::string page = page_of_run(desk.session, desk.shell.focus, "dark");
        CHECK(page.starts_with("<!doctype html>"));
        CHECK(page.find("\"at\":{\"cycle\":321,\"warp\":2}") != std::string::npos);
        CHECK(page.find("\"cycles\":" + std::to_string(run->result.trace.cycles)) != std::string::npos);
        CHECK(page.find("THEME = \"dark\"") != std::string::npos);
        CHECK(page.find("__DATA__") == std::string::npos);
        size_t issues = 0;
        for (const IssueRecord& issue : run->result.trace.issues) issues += issue.cycle >= 0;
        CHECK(page.find("\"i\":{\"n\":" + std::to_string(issues)) != std::string::npos);
    }
    {
        test::Desk asked({.lesson = "A06", .lesson_step = 2});
        asked.session.workspace = Workspace::learn;
        asked.settle();
        CHECK_THROWS_WITH(page_of_run(asked.session, asked.shell.focus, "light"),
                          Catch::Matchers::Contains("a question about this run is open"));
    }
    test::Desk empty;
    CHECK_THROWS_WITH(page_of_run(empty.session, empty.shell.focus, "light"), Catch::Matchers::Contains("run one first"));
}

}  // namespace gui_run_file_test
