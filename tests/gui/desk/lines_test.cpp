// What stands beside the lines of the learner's kernel: what each costs, what its variables hold at the play head, and which
// lines an edit changed.
#include "app/gui/views/kernel/lines/line_diff.h"
#include "app/gui/views/kernel/lines/line_heat.h"
#include "app/gui/views/kernel/lines/line_values.h"
#include "core/base/files.h"
#include "tests/gui/own_desk.h"

namespace gui_lines_test {

using namespace lockstep;
using namespace lockstep::gui;
using Desk = test::OwnDesk;

namespace {

// Every thread walks down its own row: neighbours read 256 bytes apart. Lines of walk.cu by .loc.
constexpr const char* walk_ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry walk(.param .u64 in, .param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 256;
    add.s64 %rd4, %rd1, %rd3;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r2, 0;
again:
    ld.global.f32 %f2, [%rd4];
    add.f32 %f1, %f1, %f2;
    add.s64 %rd4, %rd4, 4;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 64;
    @%p1 bra again;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd5, %rd2, %rd5;
    st.global.f32 [%rd5], %f1;
    ret;
}
)";
int line_with(const std::string& text, const std::string& words) {
    const size_t at = text.find(words);
    REQUIRE(at != std::string::npos);
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

void open_walk(Desk& desk, const test::Scratch& scratch) {
    desk.open(scratch.write("walk.ptx", walk_ptx));
    LaunchSettings& launch = desk.session.desk.document().launch;
    launch.grid = "2", launch.block = "64", launch.grid_chosen = true;
    launch.arguments.at(0).text = "in:f32[4096]", launch.arguments.at(0).chosen = true;
    launch.arguments.at(1).text = "out:f32[128]", launch.arguments.at(1).chosen = true;
    launch.initcheck = launch.racecheck = false;
    desk.session.desk.run(desk.session);
    desk.settle();
    REQUIRE(desk.snapshot()->own.result);
    REQUIRE(desk.snapshot()->own.result->run);
    REQUIRE(desk.snapshot()->kernel.run);
}

}  // namespace

TEST_CASE("the lines' shares of the time add up, and the load that waits is the hottest and wastes sectors") {
    const test::Scratch scratch;
    Desk desk;
    open_walk(desk, scratch);
    const HeatMap heat = heat_of(*desk.snapshot()->kernel.run, "walk.ptx");
    REQUIRE(heat.timed());
    double all = heat.elsewhere;
    for (const LineHeat& line : heat.lines) all += line.share;
    CHECK(std::abs(all - 1) < 1e-9);
    const LineHeat* const add = heat_at(heat, line_with(walk_ptx, "add.f32"));
    REQUIRE(add);
    CHECK(add->share == heat.hottest);
    CHECK(add->wait == StallReason::long_scoreboard);
    const LineHeat* const load = heat_at(heat, line_with(walk_ptx, "ld.global"));
    REQUIRE(load);
    CHECK(load->sectors == 32);
    CHECK(load->needed == 4);
    CHECK(load->wasteful());
    CHECK(sentence_of(*load).find("32.0 sectors a request where 4 would hold its bytes") != std::string::npos);
    CHECK(heat_at(heat, 1) == nullptr);  // ".version" costs nothing
    CHECK(!heat_of({}, "walk.ptx").timed());
}

TEST_CASE("the editor shows what lines cost, H takes it away, and an edit moves it with its line") {
    const test::Scratch scratch;
    Desk desk;
    open_walk(desk, scratch);
    const int hot = line_with(walk_ptx, "add.f32");
    const auto said_of = [&](int line) {
        const std::string text = desk.shell.describe("editor");
        const size_t at = text.find(fmt::format("{:3}  ", line) + "");
        return text.substr(at, text.find('\n', at) - at);
    };
    CHECK(said_of(hot).find("long scoreboard]") != std::string::npos);
    CHECK(desk.shows("long "));  // in the legend
    desk.frame();
    const std::string share = fmt::format("{:.1f} %", 100 * heat_of(*desk.snapshot()->kernel.run, "walk.ptx").hottest);
    CHECK(desk.shows(share));
    desk.key(static_cast<KeyCode>('H'));
    CHECK_FALSE(desk.shows(share));
    CHECK(desk.shell.describe("editor").find("long scoreboard]") == std::string::npos);
    desk.key(static_cast<KeyCode>('H'));
    CHECK(desk.shows(share));
    // Two lines more in front, and not run again: the figures stand beside the same words, and say whose they are.
    desk.session.desk.document().launch.run_on_change = false;
    desk.session.desk.set_text(std::string("// one\n// two\n") + walk_ptx);
    desk.settle();
    CHECK(said_of(hot + 2).find("long scoreboard]") != std::string::npos);
    CHECK(said_of(hot).find("long scoreboard]") == std::string::npos);
    desk.frames(2);
    CHECK(desk.shows("time before the edit"));
}

TEST_CASE("at the play head the lane's values stand beside the lines that wrote them") {
    const test::Scratch scratch;
    Desk desk;
    open_walk(desk, scratch);
    const auto step_to = [&](const char* words, int round) {  // behind its round-th run
        const auto snapshot = desk.snapshot();
        REQUIRE(snapshot->kernel.history);
        const auto& steps = snapshot->kernel.history->steps;
        const int line = line_with(walk_ptx, words);
        for (size_t i = 0; i < steps.size(); ++i)
            if (snapshot->kernel.run->program->instructions[steps[i].pc].ptx_line == line && round-- == 0) {
                desk.session.sm.history_step = static_cast<int64_t>(i) + 1;
                desk.session.grain = Grain::instruction;
                break;
            }
        desk.settle();
        REQUIRE(desk.snapshot()->kernel.lanes_step == desk.session.sm.history_step);
    };
    desk.shell.focus.lane = 5;
    step_to("add.u32 %r2", 2);
    LineValues known;
    const auto& values = known.at(desk.snapshot()->kernel, 5, "walk.ptx");
    const auto at_line = [&](const char* words) {
        for (const LineValue& value : values)
            if (value.line == line_with(walk_ptx, words)) return value;
        return LineValue{};
    };
    CHECK(at_line("add.u32 %r2").text == "%r2 = 3");  // PTX has no other names
    CHECK(at_line("add.u32 %r2").last);
    CHECK(at_line("mov.u32 %r1").text.empty());  // of the lines before only variables are named
    desk.frames(2);
    CHECK(desk.shows("%r2 = 3"));
    CHECK(desk.shows("lane 5, after issue"));
    desk.key(static_cast<KeyCode>('I'));
    CHECK_FALSE(desk.shows("%r2 = 3"));
    desk.key(static_cast<KeyCode>('I'));
    step_to("st.global", 0);
    CHECK(known.at(desk.snapshot()->kernel, 5, "walk.ptx").back().text.find("stored = ") == 0);
}

TEST_CASE("variables go by their names, and a lane that is off says so") {
    const test::Scratch scratch;
    Desk desk;
    if (!test::has_compiler()) return;
    desk.open(scratch.write("part.cu",
                            "__global__ void part(int *out, int n) {\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    int twice = 2 * i + n;\n"
                            "    if (i < 7)\n"
                            "        out[i] = twice;\n"
                            "}\n"));
    LaunchSettings& launch = desk.session.desk.document().launch;
    launch.grid = "1", launch.block = "32", launch.grid_chosen = true;
    launch.arguments.at(0).text = "inout:i32[32]", launch.arguments.at(0).chosen = true;
    launch.arguments.at(1).text = "i32:100", launch.arguments.at(1).chosen = true;
    desk.session.desk.run(desk.session);
    desk.settle();
    REQUIRE(desk.snapshot()->kernel.history);
    desk.session.grain = Grain::instruction;
    desk.session.sm.history_step = static_cast<int64_t>(desk.snapshot()->kernel.history->steps.size());
    const auto& instructions = desk.snapshot()->kernel.run->program->instructions;
    const auto& steps = desk.snapshot()->kernel.history->steps;
    for (size_t i = 0; i < steps.size(); ++i)
        if (instructions[steps[i].pc].line == 5) desk.session.sm.history_step = static_cast<int64_t>(i) + 1;
    desk.settle();
    for (const int lane : {3, 20}) {
        LineValues known;
        std::string all;
        for (const LineValue& value : known.at(desk.snapshot()->kernel, lane, "part.cu")) all += value.text + "\n";
        INFO(all);
        CHECK(all.find("lane 20 is off") == (lane == 20 ? all.find("lane") : std::string::npos));
        CHECK(all.find(fmt::format("i = {}", lane)) != std::string::npos);
    }
}

TEST_CASE("a line that moved is the same line, and what an edit changed is told in words") {
    CHECK(kept_lines("a\nb\nc", "a\nx\nb\nc") == std::vector<int32_t>{1, 0, 2, 3});
    CHECK(kept_lines("a\nb\nc", "a\nc") == std::vector<int32_t>{1, 3});
    CHECK(kept_lines("a\nb\nc\nd", "a\nd2\nc\nb2\nd") == std::vector<int32_t>{1, 0, 3, 0, 4});
    CHECK(kept_lines("a  \r\nb", "a\nb") == std::vector<int32_t>{1, 2});  // blanks at the end are none
    CHECK(text_of(changes_between("a\nb\nc", "a\nx\ny\nc\nz")) == "lines 2 to 3 and 5");
    CHECK(text_of(changes_between("a\nb\nc", "a\nc")) == "1 line removed");
    CHECK(text_of(changes_between("a\nb", "a\nc")) == "line 2");
    CHECK(text_of(changes_between("a\nb", "a\nb")) == "nothing");
}

}  // namespace gui_lines_test
