// Sizes that nobody has given are learned from a first run and offered, and never taken over unasked.
#include "core/ptx/ptx.h"
#include "core/scene/arguments/learned_extents.h"
#include "tests/gui/own_desk.h"

namespace gui_learn_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

// out[i] = in[i * cols], for i < rows.
constexpr const char* column_ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry column(.param .u64 in, .param .u64 out, .param .u32 rows, .param .u32 cols) {
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<2>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    ld.param.u32 %r1, [rows];
    ld.param.u32 %r2, [cols];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r6, %r1;
    @%p1 ret;
    mul.lo.u32 %r7, %r6, %r2;
    mul.wide.s32 %rd3, %r7, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd4];
    mul.wide.u32 %rd5, %r6, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f1;
    ret;
}
)";

scene::LearnedExtents learn(const std::vector<std::string>& texts, const scene::LearnLimits& limits = {},
                            const std::stop_token& stop = {}) {
    const auto program = ptx::decode(ptx::parse(column_ptx, "column.ptx").value()).value();
    std::vector<scene::KernelArgument> arguments;
    for (const std::string& text : texts) arguments.push_back(scene::parse_argument(text).value());
    simt::LaunchConfig config;
    config.grid = {4, 1, 1};
    config.block = {256, 1, 1};
    return scene::learn_extents(*program, config, arguments, {}, "", limits, stop);
}

}  // namespace

TEST_CASE("a first run finds how far each buffer is touched, whatever size it was given") {
    const auto found = learn({"in:f32[1024]", "out:f32[1024]", "i32:1000", "i32:64"});
    CHECK(found.stopped.empty());
    REQUIRE(found.arguments.size() == 4);
    CHECK(found.arguments[0].learned);
    CHECK(found.arguments[0].elements == 999 * 64 + 1);
    CHECK(found.arguments[0].read);
    CHECK_FALSE(found.arguments[0].written);
    CHECK(found.arguments[1].elements == 1000);
    CHECK(found.arguments[1].written);
    CHECK_FALSE(found.arguments[2].learned);
    CHECK(found.runs > 1);
    CHECK(learn({"in:f32[70000]", "out:f32[1024]", "i32:1000", "i32:64"}).runs == 1);
}

TEST_CASE("a first run is bounded in memory and time, and can be cancelled") {
    scene::LearnLimits low;
    low.bytes = 1 << 20;
    const auto large = learn({"in:f32[1024]", "out:f32[1024]", "i32:1024", "i32:1000000"}, low);
    INFO(large.stopped);
    CHECK(large.stopped.find("that are tried") != std::string::npos);
    CHECK_FALSE(large.arguments[0].learned);
    scene::LearnLimits few;
    few.instructions = 100;
    CHECK(learn({"in:f32[1024]", "out:f32[1024]", "i32:1000", "i32:64"}, few).stopped.find("takes longer") !=
          std::string::npos);
    std::stop_source stop;
    stop.request_stop();
    CHECK(learn({"in:f32[1024]", "out:f32[1024]", "i32:1000", "i32:64"}, {}, stop.get_token()).stopped.find("cancelled") !=
          std::string::npos);
    // In front of a buffer nothing can grow; what a list holds is not made larger.
    CHECK(learn({"in:f32[1024]", "out:f32[1024]", "i32:1000", "i32:-64"}).stopped.find("in front of its beginning") !=
          std::string::npos);
    CHECK(learn({"in:f32{1,2,3}", "null", "i32:1", "i32:1"}).stopped == "no buffer of it is generated");
}

TEST_CASE("an argument takes another number of elements") {
    CHECK(scene::with_elements("in:f32[1024]", 4096) == "in:f32[4096]");
    CHECK(scene::with_elements("inout:i32[1024 below 8]=out.npy", 9) == "inout:i32[9 below 8]=out.npy");
    CHECK(scene::with_elements("in:f32[64,64]", 128) == "in:f32[2,64]");
    CHECK(scene::with_elements("in:f32[64,64 ramp]", 100) == "in:f32[100 ramp]");
}

TEST_CASE("a right kernel whose sizes are rows times columns is right at its first launch, with what a first run told") {
    const test::Scratch scratch;
    test::OwnDesk desk;
    desk.open(scratch.write("column.ptx", column_ptx));
    const auto snapshot = desk.snapshot();
    REQUIRE(snapshot->own.result);
    REQUIRE(snapshot->own.result->run);
    CHECK(snapshot->own.result->reports().empty());
    const LaunchSettings& launch = desk.session.desk.document().launch;
    CHECK(launch.arguments.at(0).text.find("[65536]") !=
          std::string::npos);  // rows times columns: 1023 * 64 + 1 are touched
    CHECK_FALSE(launch.arguments.at(0).chosen);
    CHECK(launch.arguments.at(2).text.ends_with(":1024"));
    CHECK(launch.arguments.at(3).text.ends_with(":64"));
    CHECK(desk.shell.describe("reports").find("found nothing in this run") != std::string::npos);
    // Another text of the same kernel keeps them, and needs no first run for it.
    desk.session.desk.set_text(std::string(column_ptx) + "// changed\n");
    desk.settle();
    CHECK(launch.arguments.at(0).text.find("[65536]") != std::string::npos);
    CHECK(desk.snapshot()->own.result->reports().empty());
}

TEST_CASE("a kernel that reaches one element too far is told so, behind a word that the sizes are guesses") {
    std::string too_far = column_ptx;
    const std::string from = "mul.lo.u32 %r7, %r6, %r2;";
    too_far.replace(too_far.find(from), from.size(), "add.u32 %r7, %r6, 1;");
    const test::Scratch scratch;
    test::OwnDesk desk;
    desk.open(scratch.write("neighbour.ptx", too_far));
    const auto snapshot = desk.snapshot();
    REQUIRE(snapshot->own.result);
    REQUIRE(snapshot->own.result->run);
    REQUIRE(snapshot->own.result->run->result.fault);
    CHECK(desk.session.desk.document().launch.arguments.at(0).text.find("[1024]") != std::string::npos);
    const std::string said = desk.shell.describe("reports");
    INFO(said);
    CHECK(said.find("sizes that are the app's guess: ") != std::string::npos);
    CHECK(said.find("app's guess") < said.find("memcheck"));
    CHECK(said.find("1 thing wrong") != std::string::npos);
    // With the learner's own sizes nothing is a guess.
    for (ArgumentText& argument : desk.session.desk.document().launch.arguments) argument.chosen = true;
    desk.session.desk.touch();
    desk.settle();
    CHECK(desk.shell.describe("reports").find("app's guess") == std::string::npos);
}

TEST_CASE("a wrong address in shared memory is not laid on guessed sizes") {
    const test::Scratch scratch;
    test::OwnDesk desk;
    desk.open(scratch.write("tile.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry tile(.param .u64 out)
{
    .reg .u32 %r<4>;
    .reg .u64 %rd<4>;
    .shared .align 4 .b8 values[128];
    ld.param.u64 %rd1, [out];
    ld.shared.u32 %r1, [values+512];
    st.global.u32 [%rd1], %r1;
    ret;
}
)"));
    REQUIRE(desk.snapshot()->own.result);
    REQUIRE(desk.snapshot()->own.result->run);
    REQUIRE(desk.snapshot()->own.result->run->result.fault);
    const std::string said = desk.shell.describe("reports");
    INFO(said);
    CHECK(said.find("invalid shared read") != std::string::npos);
    CHECK(said.find("app's guess") == std::string::npos);
}

TEST_CASE("a wild index keeps the guesses, and is told") {
    std::string wild = column_ptx;
    const std::string from = "mul.lo.u32 %r7, %r6, %r2;";
    wild.replace(wild.find(from), from.size(), "mul.lo.u32 %r7, %r6, 1001;");
    const test::Scratch scratch;
    test::OwnDesk desk;
    desk.open(scratch.write("wild.ptx", wild));
    REQUIRE(desk.snapshot()->own.result);
    REQUIRE(desk.snapshot()->own.result->run);
    CHECK(desk.snapshot()->own.result->run->result.fault);
    CHECK(desk.session.desk.document().launch.arguments.at(0).text.find("[1024]") != std::string::npos);
}

TEST_CASE("a size that is no multiple of the block comes with buffers of that size, so that a missing guard shows") {
    std::string unguarded = column_ptx;
    const std::string from = "mul.lo.u32 %r7, %r6, %r2;";
    unguarded.replace(unguarded.find(from), from.size(), "mov.u32 %r7, %r6;");
    unguarded.replace(unguarded.find("setp.ge.u32"), 11, "setp.gt.u32");  // i <= n
    const test::Scratch scratch;
    test::OwnDesk desk;
    desk.open(scratch.write("guard.ptx", unguarded));
    REQUIRE(desk.snapshot()->own.learned);
    CHECK(desk.snapshot()->own.result->reports().empty());
    desk.frames(2);
    REQUIRE(desk.click_on("Use no multiple of the block"));
    desk.settle();
    CHECK(desk.session.desk.document().launch.arguments.at(0).text.find("[1000]") != std::string::npos);
    REQUIRE(desk.snapshot()->own.result->run);
    CHECK(desk.snapshot()->own.result->run->result.fault);
}

}  // namespace gui_learn_test
