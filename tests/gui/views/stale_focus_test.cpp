// A focus outlives what it points at: it says -1, or stands past the end of the run that came after. Every view is drawn,
// pressed and told with such a focus over every kind of run; nothing may reach outside of what is there.
// LOCKSTEP_RANDOM_INPUTS=10000 asks for more.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "app/gui/views/machine/machine_view.h"
#include "core/base/files.h"
#include "tests/gui/desk.h"
#include "tests/gui/own_desk.h"
#include "tests/gui/sm_scene.h"

namespace gui_stale_focus_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

namespace {

const char* const counts = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry counts(.param .u64 counts_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [counts_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd2, %rd3;
    mov.u32 %r6, 0;
again:
    add.s32 %r6, %r6, 1;
    st.global.u32 [%rd4], %r6;
    setp.lt.s32 %p1, %r6, 150;
    @%p1 bra again;
    ret;
}
)";

struct Shown {
    std::string name;
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const lessons::Lesson> lesson;
};

std::shared_ptr<Snapshot> with_run(const std::shared_ptr<model::KernelRun>& run) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->kernel.run = run;
    return snapshot;
}

// Runs made by hand: none, one whose trace is empty, one without text, one that was cut, one of a single instruction.
std::vector<Shown> by_hand() {
    std::vector<Shown> all = {{"nothing", std::make_shared<Snapshot>(), nullptr}};
    const auto copy = [] { return std::make_shared<model::KernelRun>(*small_run()); };
    const auto whole = with_run(copy());
    whole->kernel.history = even_odd_history();
    all.push_back({"a run", whole, nullptr});
    auto run = copy();
    run->result.trace = {};
    all.push_back({"a run without a trace", with_run(run), nullptr});
    run = copy();
    run->source.clear();
    auto program = std::make_shared<ptx::Program>(*run->program);
    for (auto& instruction : program->instructions) instruction.line = 0;
    run->program = program;
    all.push_back({"a run without lines", with_run(run), nullptr});
    run = copy();
    program = std::make_shared<ptx::Program>(*run->program);
    for (auto& instruction : program->instructions) instruction.line += 1000;
    run->program = program;
    all.push_back({"a run of lines that its text does not have", with_run(run), nullptr});
    run = copy();
    run->result.trace = stretch_of(run->result.trace, 1000, 1200);
    run->result.trace.truncated = true;
    run->result.trace.kept_from = 1000;
    run->result.trace.kept_until = 1200;
    const auto cut = with_run(run);
    cut->kernel.history = even_odd_history();
    all.push_back({"a stretch of a run", cut, nullptr});
    SceneOptions tiny;
    tiny.schedulers = tiny.blocks_at_once = tiny.warps_per_block = tiny.sms = tiny.blocks = 1;
    tiny.cycles = 3;
    run = std::make_shared<model::KernelRun>(*small_run(tiny));
    const auto short_run = with_run(run);
    short_run->kernel.history = std::make_shared<simt::WarpHistory>();
    all.push_back({"a run of three cycles", short_run, nullptr});
    return all;
}

// What the engine shows: training, lessons of each kind, one's own kernel, a program, many GPUs, a design.
std::vector<Shown> by_the_engine(const TemporaryFolder& folder) {
    std::vector<Shown> all;
    Desk desk({.training_steps = 1, .trace_limit = 20'000});
    const auto take = [&](const std::string& name) {
        desk.settle();
        all.push_back({name, desk.session.snapshot(), desk.session.lesson.lesson});
    };
    take("training");
    for (const auto& [lesson, step] :
         {std::pair{"A02", 0}, {"A06", 3}, {"A14", 1}, {"B02", 1}, {"B09", 1}, {"C02", 1}, {"C06", 2}}) {
        desk.session.workspace = Workspace::learn;
        desk.session.post(ask::OpenLesson{lesson, step});
        take(lesson);
    }
    const auto open = [&](const std::string& file, const std::string& text) {
        const auto path = folder.path() / file;
        std::ofstream(path, std::ios::binary) << text;
        REQUIRE(!desk.session.desk.open(path.string()));
        desk.session.workspace = Workspace::kernel;
        take(file);
    };
    open("counts.ptx", counts);
    std::string faulting = counts;
    faulting.replace(faulting.find("mov.u32 %r6, 0"), 14, "mov.u64 %rd4, 4");
    open("faults.ptx", faulting);
    if (has_compiler())
        open("program.cu",
             "#include <cstdio>\n__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\nint main() {\n    float *x;\n"
             "    cudaMalloc(&x, 256);\n    cudaMemset(x, 0, 256);\n    for (int i = 0; i < 3; ++i) twice<<<1, 64>>>(x);\n"
             "    cudaDeviceSynchronize();\n    puts(\"done\");\n    return 0;\n}\n");
    desk.session.post(ask::OpenLaunch{1});
    take("a launch of a program");
    for (const Workspace workspace : {Workspace::cluster, Workspace::build}) {
        desk.session.workspace = workspace;
        take(workspace == Workspace::cluster ? "many GPUs" : "a design");
    }
    return all;
}

struct Hostile {
    std::mt19937 random;
    int64_t index() {  // none, a likely one, one past the end of most that there is
        static constexpr int64_t some[] = {-1, -1, 0, 1, 2, 7, 31, 32, 63, 64, 300, 5000, 2'000'000};
        return some[random() % std::size(some)];
    }
    int32_t small() { return static_cast<int32_t>(index()); }
    Focus focus() {
        Focus f;
        f.time = index(), f.step = small(), f.launch = small(), f.rank = small(), f.sm = small(), f.block = small();
        f.warp = small(), f.lane = static_cast<int32_t>(random() % 33) - 1, f.pc = small(), f.line = small(),
        f.address = index(), f.op = small();
        return f;
    }
    void unsettle(Session& session) {
        session.sm.history_step = std::max<int64_t>(0, index());
        session.sm.cycles_begin = std::max<int64_t>(0, index());
        session.sm.cycles_end = session.sm.cycles_begin + std::max<int64_t>(0, index());
        session.training.tape_at = small();
        session.cluster.microbatch = small();
        session.cluster.time = session.cluster.collective_time = static_cast<double>(index());
        session.host_line = session.program.line = small();
        session.program.call = index();
        session.machine.followed = index();
        session.machine.rank = small();
        session.machine.clock = static_cast<double>(index());
        session.machine.zoom = session.machine.wanted = static_cast<double>(random() % 61) / 10;
        session.machine.packet = {static_cast<FollowedPacket::Kind>(random() % 4), small(), small(), small()};
        session.machine.loop_from = index(), session.machine.loop_to = index();
    }
};

// One frame of one view, with the pointer somewhere, perhaps a press, a turn of the wheel or a key.
void draw(Desk& desk, View& view, float least, Focus& focus, std::mt19937& random) {
    static constexpr float sizes[][2] = {{1580, 900}, {760, 420}, {620, 260}};
    const auto& [w, low] = sizes[random() % std::size(sizes)];
    const float h = std::max(low, least);  // a lower panel scrolls it
    Shell& shell = desk.shell;
    shell.prepare(1);
    ImGui::GetIO().DisplaySize = {1600, 1000};
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    shell.state.begin_frame();
    shell.state.mouse_clicked = random() % 2 == 0;
    shell.state.mouse_double = random() % 8 == 0;
    shell.state.mouse_down = random() % 3 == 0;
    shell.state.wheel = random() % 4 == 0 ? 1.0f : 0.0f;
    if (random() % 2 == 0) shell.state.keys[random() % static_cast<size_t>(Key::count)] = true;
    Ui ui;
    ui.list = ImGui::GetBackgroundDrawList();
    ui.theme = shell.theme;
    ui.fonts = &shell.fonts;
    ui.state = &shell.state;
    ui.scale = shell.fonts.scale;
    ui.now = desk.now += 0.1;
    ui.mouse = {8 + static_cast<float>(random() % static_cast<uint32_t>(w)),
                60 + static_cast<float>(random() % static_cast<uint32_t>(h))};
    ui.clip({8, 60, w, h});
    view.needs(ui, desk.session, focus, {8, 60, w, h});
    view.draw(ui, desk.session, focus, {8, 60, w, h});
    ui.unclip();
    shell.state.end_frame();
    ImGui::Render();
}

}  // namespace

TEST_CASE("no view reaches outside of a run that its focus was not made for") {
    const TemporaryFolder folder;
    std::vector<Shown> all = by_hand();
    for (Shown& one : by_the_engine(folder)) all.push_back(std::move(one));
    const char* const asked = std::getenv("LOCKSTEP_RANDOM_INPUTS");
    const char* const seed = std::getenv("LOCKSTEP_RANDOM_SEED");
    const auto inputs = static_cast<size_t>(asked != nullptr ? std::atoi(asked) : 2500);
    Hostile hostile{std::mt19937(seed != nullptr ? static_cast<uint32_t>(std::atoi(seed)) : 20261128)};
    const bool tells = std::getenv("LOCKSTEP_RANDOM_TELLS") != nullptr;  // what is drawn, for whoever looks for a crash
    Desk desk;
    std::vector<std::unique_ptr<View>> drawn;
    for (const ViewRow& row : views()) drawn.push_back(row.make());
    for (size_t i = 0; i < inputs; ++i) {
        const Shown& shown = all[hostile.random() % all.size()];
        const Shown& other = all[hostile.random() % all.size()];  // whose lesson is open beside it
        const size_t v = hostile.random() % views().size();
        desk.session.publish_for_test(std::make_shared<Snapshot>(*shown.snapshot));
        const auto lesson = other.lesson ? other.lesson : shown.lesson;
        if (lesson != desk.session.lesson.lesson) desk.session.lesson = lesson ? state_of(lesson) : LessonState();
        if (lesson) desk.session.lesson.step = static_cast<int>(hostile.random() % lesson->steps.size());
        desk.session.workspace = views()[v].workspace;
        desk.session.grain = static_cast<Grain>(hostile.random() % 7);
        hostile.unsettle(desk.session);
        Focus focus = hostile.focus();
        if (tells) fmt::print(stderr, "{}: {} over {}\n", i, views()[v].name, shown.name);
        INFO(views()[v].name << " over " << shown.name);
        CHECK_NOTHROW(drawn[v]->describe(desk.session, focus));
        CHECK_NOTHROW(draw(desk, *drawn[v], views()[v].least, focus, hostile.random));
        CHECK_NOTHROW(draw(desk, *drawn[v], views()[v].least, focus, hostile.random));
    }
}

}  // namespace gui_stale_focus_test
