// Whose run the pictures show: a lesson's, one's own, a training run. Each keeps its own, and the title names it.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/files.h"
#include "core/model/gpus/gpu_file.h"
#include "tests/gui/desk.h"

namespace gui_sources_test {
using namespace lockstep;
using namespace lockstep::gui;
using test::Desk;
namespace fs = std::filesystem;

std::string scale_ptx(const char* opcode = "add.f32") {
    return std::string(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 scale_param_0)
{
    .reg .b32 %r<5>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [scale_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    )") + opcode +
           R"( %f2, %f1, %f1;
    st.global.f32 [%rd4], %f2;
    ret;
}
)";
}

TrainingSetup quick_setup() {  // one step, and no more by itself
    TrainingSetup setup = setup_of("mlp");
    setup.batch = 16;
    return setup;
}

struct Sources : Desk {
    TemporaryFolder folder;
    explicit Sources(SessionOptions options) : Desk(std::move(options)) {}
    std::string write(const std::string& name, const std::string& text) const {
        const fs::path file = folder.path() / name;
        std::ofstream(file, std::ios::binary) << text;
        return file.string();
    }
    void enter(Workspace workspace) {
        session.workspace = workspace;
        settle();
    }
    std::shared_ptr<const Snapshot> now() const { return session.snapshot(); }
};

TEST_CASE("Machine is watched cycle by cycle from wherever one comes, and keeps another step that was chosen there") {
    Sources desk({.lesson = "A02", .setup = quick_setup()});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    desk.session.grain = Grain::instruction;
    desk.frame();
    desk.enter(Workspace::machine);
    CHECK(desk.session.grain == Grain::cycle);
    desk.session.grain = Grain::instruction;
    desk.frame();
    desk.enter(Workspace::learn);
    desk.enter(Workspace::machine);
    CHECK(desk.session.grain == Grain::instruction);
}

TEST_CASE("after a lesson Training trains, and the lesson is as it was left") {
    Sources desk({.lesson = "A02", .setup = quick_setup()});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.now()->source == Source::lesson);
    const auto run = desk.now()->kernel.run;
    REQUIRE(run);
    desk.key(KeyCode::right);
    desk.key(KeyCode::right);
    const int64_t step = desk.session.sm.history_step;
    const Focus focus = desk.shell.focus;

    desk.enter(Workspace::training);
    desk.settle();
    CHECK(desk.now()->source == Source::training);
    REQUIRE(desk.now()->training.step);
    CHECK(desk.now()->training.step->model == "mlp");
    CHECK(desk.shows("Training run"));
    CHECK(desk.shows("A training step: mlp on sim:v100"));
    CHECK(desk.said().find("No training step has finished yet") == std::string::npos);
    CHECK(desk.session.lesson.lesson);
    desk.enter(Workspace::sm);
    CHECK(desk.shows("A training step: mlp on sim:v100"));  // the title names what is shown

    desk.enter(Workspace::learn);
    CHECK(desk.now()->source == Source::lesson);
    CHECK(desk.now()->kernel.run == run);
    CHECK(desk.session.sm.history_step == step);
    CHECK(desk.shell.focus.warp == focus.warp);
    CHECK(desk.shell.focus.time == focus.time);
    CHECK(desk.shows("A02  "));

    desk.enter(Workspace::training);  // and the training run goes on from where it was
    CHECK(desk.now()->training.step->step == 0);
    desk.session.post(ask::Train{1});
    desk.settle();
    CHECK(desk.now()->training.step->step == 1);
}

TEST_CASE("beside a lesson on another GPU Training names its own, and a run that was left is not said to be running") {
    Sources desk({.lesson = "A06", .setup = quick_setup()});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("GPU  P100"));
    desk.enter(Workspace::training);
    desk.settle();
    REQUIRE(desk.now()->training.step);
    CHECK(desk.shows("A training step: mlp on sim:v100"));
    CHECK(desk.shows("GPU  V100"));
    desk.session.post(ask::Train{-1});
    for (int i = 0; i < 2000 && desk.now()->training.curves.front().loss.size() < 3; ++i) {
        desk.frame();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(desk.now()->training.curves.front().running);
    desk.enter(Workspace::learn);
    desk.settle();
    desk.enter(Workspace::training);
    desk.settle();
    CHECK_FALSE(desk.now()->training.curves.front().running);
    CHECK(desk.now()->training.curves.front().name.find("running") == std::string::npos);
}

TEST_CASE("one's own kernel keeps its title, its run and its GPU beside a lesson") {
    Sources desk({.lesson = "A02"});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(!desk.session.desk.open(desk.write("scale.ptx", scale_ptx())));
    desk.enter(Workspace::kernel);
    REQUIRE(desk.now()->own.run);
    CHECK(desk.now()->source == Source::own);
    CHECK(desk.now()->whose == "scale.ptx");
    const auto run = desk.now()->kernel.run;
    desk.enter(Workspace::sm);
    CHECK(desk.shows("Your kernel: scale.ptx"));
    CHECK(desk.now()->kernel.run == run);
    desk.enter(Workspace::learn);
    CHECK(desk.now()->source == Source::lesson);
    CHECK(desk.shows("A02  "));
    CHECK(desk.now()->kernel.run != run);
    desk.enter(Workspace::memory);
    CHECK(desk.shows("A02  "));
    desk.enter(Workspace::kernel);
    CHECK(desk.now()->kernel.run == run);

    // Another GPU is chosen in SM: the run is on it, and one stays in SM, even if the text does not compile now.
    desk.enter(Workspace::sm);
    const std::string a100(model::gpu_named("a100").value().title);
    REQUIRE(desk.click_on("GPU  V100"));
    REQUIRE(desk.click_on(a100));
    desk.settle();
    CHECK(desk.session.workspace == Workspace::sm);
    CHECK(std::string(desk.now()->kernel.run->gpu.name) == "a100");
    desk.enter(Workspace::kernel);
    desk.session.desk.set_text("this is no PTX");
    desk.settle();
    desk.enter(Workspace::sm);
    CHECK(desk.said().find("'scale.ptx' does not compile as it is now") != std::string::npos);
    REQUIRE(desk.click_on("GPU  A100"));
    REQUIRE(desk.click_on(std::string(model::gpu_named("v100").value().title)));
    desk.settle();
    CHECK(desk.session.workspace == Workspace::sm);
}

TEST_CASE("what belongs to an older run is grey and says so, and another file's is not shown at all") {
    Sources desk({.own_kernel = true});
    REQUIRE(!desk.session.desk.open(desk.write("scale.ptx", scale_ptx())));
    desk.enter(Workspace::kernel);
    REQUIRE(desk.now()->kernel.run);
    const auto run = desk.now()->kernel.run;
    const auto faint = [&] {
        return std::count_if(desk.written.begin(), desk.written.end(),
                             [](const UiState::Written& text) { return text.opacity < 0.6f; });
    };
    const auto faint_before = faint();
    desk.session.desk.set_text("no PTX any more");
    desk.settle();
    CHECK(desk.now()->kernel.run == run);
    CHECK(desk.said().find("does not compile; the pictures are of its last run, before that change.") != std::string::npos);
    CHECK(desk.said().find("does not compile as it is now") == std::string::npos);  // no strip moves the text
    desk.enter(Workspace::sm);
    CHECK(desk.said().find("'scale.ptx' does not compile as it is now: these are pictures of its last run, before that "
                           "change.") != std::string::npos);
    desk.enter(Workspace::kernel);
    CHECK(faint() > faint_before + 10);
    desk.session.desk.set_text(scale_ptx("mul.f32"));
    CHECK(desk.session.desk.compiling(*desk.now()));  // meanwhile what is grey stays so
    CHECK_FALSE(desk.session.desk.stale_run(*desk.now()).empty());
    desk.settle();
    CHECK(desk.now()->kernel.run != run);
    CHECK(desk.said().find("does not compile as it is now") == std::string::npos);
    CHECK(faint() <= faint_before);

    REQUIRE(!desk.session.desk.open(desk.write("other.ptx", "nor is this")));
    desk.settle();
    CHECK_FALSE(desk.now()->kernel.run);
    CHECK_FALSE(desk.now()->own.run);
    desk.enter(Workspace::sm);
    CHECK(desk.shows("Your kernel: other.ptx"));
    CHECK_FALSE(desk.shows("scale"));
}

TEST_CASE("a tensor program that is stopped or broken shows nobody else's graph") {
    Sources desk({.training_steps = 1, .setup = quick_setup()});
    desk.session.workspace = Workspace::training;
    desk.settle();
    REQUIRE(desk.now()->training.step);
    REQUIRE(!desk.session.desk.open(desk.write("broken.tape", "x = nothing(1, 2)\n")));
    desk.enter(Workspace::kernel);
    CHECK(desk.now()->source == Source::own);
    CHECK_FALSE(desk.now()->training.step);
    CHECK_FALSE(desk.now()->kernel.run);
    desk.enter(Workspace::training);
    REQUIRE(desk.now()->training.step);
    CHECK(desk.now()->training.step->model == "mlp");
}

TEST_CASE("the bar names the GPU of the step that is on show, not of one before it") {
    Desk desk({.lesson = "C04", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    CHECK(desk.shows("GPU  Teaching"));
    desk.session.lesson.step = 2;
    desk.session.post(ask::ShowLessonStep{2});
    desk.settle();
    REQUIRE(desk.session.snapshot()->cluster);
    CHECK(desk.shows("GPU  H100"));
}

}  // namespace gui_sources_test
