// Why a kernel is slow, what one of its causes costs, and the last run beside the new one.
#include "core/model/advice/verdict.h"

#include "tests/gui/own_desk.h"

namespace gui_verdict_test {

using namespace lockstep;
using namespace lockstep::gui;
using Desk = test::OwnDesk;

namespace {

// Each thread reads its own row of `pitch` bytes: 256 wastes 28 of 32 sectors, 4 none.
std::string rows_ptx(int pitch) {
    return R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry rows(.param .u64 in, .param .u64 out) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r1, %r3, 128, %r4;
    mul.wide.u32 %rd3, %r1, )" +
           std::to_string(pitch) + R"(;
    add.s64 %rd4, %rd1, %rd3;
    mov.f32 %f1, 0f00000000;
    mov.u32 %r2, 0;
again:
    ld.global.f32 %f2, [%rd4];
    add.f32 %f1, %f1, %f2;
    add.s64 %rd4, %rd4, 128;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 16;
    @%p1 bra again;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd5, %rd2, %rd5;
    st.global.f32 [%rd5], %f1;
    ret;
}
)";
}

void run_rows(Desk& desk, const test::Scratch& scratch) {
    desk.open(scratch.write("rows.ptx", rows_ptx(2048)));
    LaunchSettings& launch = desk.session.desk.document().launch;
    launch.grid = "16", launch.block = "128", launch.grid_chosen = true;
    launch.arguments.at(0).text = "in:f32[1048576]", launch.arguments.at(0).chosen = true;
    launch.arguments.at(1).text = "out:f32[2048]", launch.arguments.at(1).chosen = true;
    launch.initcheck = launch.racecheck = false;
    desk.session.desk.run(desk.session);
    desk.settle();
    REQUIRE(desk.snapshot()->own.result->run);
    REQUIRE(desk.snapshot()->kernel.verdict);
}

}  // namespace

TEST_CASE("a finding says its line, leads there, and its what-if stands beside the run with the time that it takes") {
    const test::Scratch scratch;
    Desk desk;
    run_rows(desk, scratch);
    const auto& findings = desk.snapshot()->kernel.verdict->findings;
    const auto coalescing =
        std::find_if(findings.begin(), findings.end(), [](const auto& one) { return one.rule == "uncoalesced"; });
    REQUIRE(coalescing != findings.end());
    REQUIRE(coalescing->what_if == "coalesced");
    CHECK(desk.shell.describe("before_after").find("nothing to compare") != std::string::npos);
    desk.session.post(ask::TryWhatIf{"coalesced"});
    desk.settle();
    const auto snapshot = desk.snapshot();
    REQUIRE(snapshot->kernel.tried);
    CHECK(snapshot->kernel.tried->run->result.cycles < snapshot->kernel.run->result.cycles);
    CHECK(snapshot->kernel.tried->run->result.trace.warps.empty());
    for (const auto& finding : snapshot->kernel.verdict->findings)
        if (finding.what_if == "coalesced") {
            CHECK(finding.simulated);
            const double saved = 1 - static_cast<double>(snapshot->kernel.tried->run->result.cycles) /
                                         static_cast<double>(snapshot->kernel.run->result.cycles);
            CHECK(finding.gain == saved);
        }
    const std::string said = desk.shell.describe("before_after");
    CHECK(said.find("as few sectors as its bytes fill") != std::string::npos);
    CHECK(said.find("sectors a load: 32 and 4: 8.0× fewer, better") != std::string::npos);
    CHECK(said.find("faster, better") != std::string::npos);
    CHECK(said.find("not a run of an edited text") != std::string::npos);

    desk.frames(2);
    REQUIRE(desk.click_on("Why is it slow?"));  // the page
    desk.frames(2);
    CHECK(desk.shows("Try it"));
    CHECK(desk.shows("8.0× fewer"));
    CHECK(desk.clashes() == std::vector<std::string>());
    desk.key(static_cast<KeyCode>('X'));
    CHECK(desk.shows("8.0× more"));
    CHECK(desk.shell.describe("before_after").find("8.0× more, worse") != std::string::npos);
    desk.key(static_cast<KeyCode>('X'));
    desk.key(static_cast<KeyCode>('Y'));  // the next finding that can be tried, or the same where it is the only one
    desk.settle();
    CHECK(desk.snapshot()->kernel.tried != snapshot->kernel.tried);
}

TEST_CASE("after an edit and a run the last run stands beside the new one, with the lines that changed") {
    const test::Scratch scratch;
    Desk desk;
    run_rows(desk, scratch);
    CHECK_FALSE(desk.snapshot()->own.before);
    desk.session.desk.run(desk.session);  // the same once more is no before and after
    desk.settle();
    CHECK_FALSE(desk.snapshot()->own.before);
    desk.session.desk.set_text(rows_ptx(4));
    desk.settle();
    REQUIRE(desk.snapshot()->own.before);
    CHECK(desk.snapshot()->own.before->text == rows_ptx(2048));
    CHECK(desk.snapshot()->own.before->run->before == nullptr);  // its memory is not held
    const std::string said = desk.shell.describe("before_after");
    INFO(said);
    CHECK(said.find("Changed in the text: line 11.") != std::string::npos);
    CHECK(said.find("sectors a load: 32 and 4: 8.0× fewer, better") != std::string::npos);
    CHECK(said.find("A the run before, B this run") != std::string::npos);
    // Back again: worse, and said so.
    desk.session.desk.set_text(rows_ptx(2048));
    desk.settle();
    CHECK(desk.shell.describe("before_after").find("slower, worse") != std::string::npos);
    // Another file has no run before it.
    desk.open(scratch.write("other.ptx", rows_ptx(8)));
    CHECK_FALSE(desk.snapshot()->own.before);
}

}  // namespace gui_verdict_test
