// The clock and the instruction that is stepped to are one moment, whatever was clicked; a step forward goes forward; keys
// belong to the panel that the pointer is in; what is typed into a launch runs when it is meant.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "app/gui/views/state_code.h"
#include "app/gui/views/timeline_data.h"
#include "tests/catch.h"
#include "tests/gui_sm_desk.h"

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;
namespace fs = std::filesystem;

namespace {

// x[i] = i through shared memory; thread `bad` writes far outside.
std::string fill_ptx(int bad = -1) {
    return R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 fill_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<5>;
    .shared .align 4 .b8 part[4096];
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
    ld.global.f32 %f1, [%rd4];
    add.f32 %f2, %f1, %f1;
    ld.shared.u32 %r7, [%r6];
    st.global.u32 [%rd4], %r7;
    ret;
}
)";
}

struct OwnDesk : Desk {
    fs::path folder = fs::temp_directory_path() /
                      ("lockstep-clock-test-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    explicit OwnDesk(const std::string& text) : Desk({.gpu = "teaching:4", .own_kernel = true}) {
        fs::create_directories(folder);
        std::ofstream(folder / "fill.ptx") << text;
        session.workspace = "kernel";
        pace = 0.4;
        REQUIRE(!session.desk.open(folder / "fill.ptx"));
        settle();
        REQUIRE(session.snapshot()->own_run);
    }
    ~OwnDesk() { fs::remove_all(folder); }
    LaunchSettings& launch() { return session.desk.document().launch; }
    void type(const std::string& text) {
        for (const char c : text) input.keys.push_back({KeyCode::none, false, false, static_cast<char32_t>(c)});
        frame();
    }
};

// Whether the clock is where the focused warp issues the instruction that is stepped to, or waits for it.
void check_one_moment(const Desk& desk) {
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->kernel);
    const KernelTrace& trace = snapshot->kernel->result.trace;
    const Focus& focus = desk.shell.focus;
    REQUIRE(focus.warp >= 0);
    REQUIRE(focus.warp < static_cast<int32_t>(trace.warps.size()));
    const WarpTrack& warp = trace.warps[static_cast<size_t>(focus.warp)];
    const int64_t step = desk.session.history_step, issues = static_cast<int64_t>(warp.issues.size());
    INFO("cycle " << focus.time << ", step " << step << " of " << issues << ", which issues at "
                  << cycle_of_step(trace, warp, step));
    if (cycle_of_step(trace, warp, step) == focus.time) return;
    CHECK(step == std::min(issues_before(trace, warp, focus.time), issues - 1));
}

}  // namespace

TEST_CASE("a state's short name is made of words of its full one") {
    for (const StallRow& row : stall_reasons()) {
        std::string rest(code_of(row.reason).brief);
        INFO(rest << " for " << row.label);
        CHECK(!rest.empty());
        while (!rest.empty()) {
            const size_t end = std::min(rest.find(' '), rest.size());
            std::string word = rest.substr(0, end);
            rest.erase(0, end + 1);
            if (word.ends_with('.')) word.pop_back();
            CHECK((" " + std::string(row.label)).find(" " + word) != std::string::npos);
        }
    }
}
