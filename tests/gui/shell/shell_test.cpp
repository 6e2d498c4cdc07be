// The whole interface in a bare ImGui context: no window, no GL, input by hand, an empty or a small snapshot.
#include <algorithm>
#include <climits>
#include <map>
#include <set>

#include "core/base/diagnostic.h"
#include "tests/gui/desk.h"

namespace gui_shell_test {

using namespace lockstep;
using namespace lockstep::gui;

namespace {

struct Desk : test::Desk {
    explicit Desk(float text_scale = 1, const SessionOptions& scene = {.start = false})
        : test::Desk(scene, "dark", text_scale) {
        if (!scene.lesson.empty()) session.workspace = Workspace::learn;  // where the app opens one
        frame();
    }
};

// A training step of three kernels, no traces.
std::shared_ptr<Snapshot> small_snapshot() {
    auto step = std::make_shared<nn::StepRecord>();
    step->step = 4;
    step->model = "mlp";
    step->device = "sim:v100";
    for (const char* label : {"fc1 matmul", "fc1 add_bias", "relu"}) {
        device::LaunchEvent launch;
        launch.label = label;
        launch.phase = "forward";
        step->launches.push_back(launch);
    }
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->training.step = step;
    return snapshot;
}

}  // namespace

TEST_CASE("every workspace draws an empty session, at every text size and in every theme") {
    for (const float scale : {0.75f, 1.0f, 2.0f, 2.5f}) {
        Desk desk(scale);
        for (const char* theme : {"dark", "light", "high-contrast", "print"}) {
            desk.shell.theme = &theme_named(theme);
            for (const WorkspaceRow& row : workspaces) {
                const Workspace workspace = *workspace_named(row.name);
                desk.session.workspace = workspace;
                desk.frame();
                INFO(row.name << " " << theme << " " << scale);
                CHECK(desk.quads > 100);
                CHECK(desk.quads <= 8000);
            }
        }
    }
}

TEST_CASE("every view draws alone on an empty session and says so in words") {
    Desk desk;
    std::set<std::string_view> names;
    for (const ViewRow& row : views()) {
        INFO(row.name);
        CHECK(names.insert(row.name).second);
        REQUIRE(desk.shell.show_alone(row.name));
        desk.frame();
        CHECK(desk.quads > 50);
        CHECK(desk.shell.describe(row.name).size() > 10);
    }
    CHECK_FALSE(desk.shell.show_alone("no such view"));
}

TEST_CASE("a click on a workspace's name opens it") {
    Desk desk;
    desk.session.workspace = Workspace::training;
    desk.click(180, 22);
    CHECK(desk.session.workspace == Workspace::home);
    REQUIRE(desk.click_on("Learn"));
    CHECK(desk.session.workspace == Workspace::learn);
    REQUIRE(desk.click_on("SM"));
    CHECK(desk.session.workspace == Workspace::sm);
    REQUIRE(desk.click_on("Machine"));
    CHECK(desk.session.workspace == Workspace::machine);
}

TEST_CASE("digits open the workspaces") {
    Desk desk;
    for (const WorkspaceRow& row : workspaces) {
        desk.key(static_cast<KeyCode>('1' + (&row - workspaces)));
        CHECK(row_of(desk.session.workspace).name == row.name);
    }
    desk.key(KeyCode::one);
    CHECK(desk.session.workspace == Workspace::home);
}

TEST_CASE("arrow keys step through the kernels of the step and stop at its ends") {
    Desk desk;
    desk.session.publish_for_test(small_snapshot());
    desk.session.workspace = Workspace::training;
    desk.session.grain = Grain::kernel;
    desk.shell.focus.launch = 0;
    desk.key(KeyCode::right);
    CHECK(desk.shell.focus.launch == 1);
    desk.key(KeyCode::right);
    desk.key(KeyCode::right);
    CHECK(desk.shell.focus.launch == 2);
    desk.key(KeyCode::home);
    CHECK(desk.shell.focus.launch == 0);
    desk.key(KeyCode::left);
    CHECK(desk.shell.focus.launch == 0);
}

TEST_CASE("Ctrl plus and minus change the text size live, within bounds", "[long]") {
    Desk desk;
    desk.key(KeyCode::plus, false, true);
    CHECK(desk.shell.text_scale == Approx(1.1f));
    desk.frame();
    CHECK(desk.shell.fonts.scale == Approx(1.1f));
    for (int i = 0; i < 40; ++i) desk.key(KeyCode::plus, false, true);
    CHECK(desk.shell.text_scale == Approx(2.5f));
    for (int i = 0; i < 40; ++i) desk.key(KeyCode::minus, false, true);
    CHECK(desk.shell.text_scale == Approx(0.75f));
    desk.key(KeyCode::zero, false, true);
    CHECK(desk.shell.text_scale == Approx(1.0f));
}

TEST_CASE("Tab walks through the controls and Enter presses the one it is on") {
    Desk desk;
    desk.session.workspace = Workspace::training;
    desk.frame();
    desk.key(KeyCode::tab);  // the first control: Home
    desk.key(KeyCode::tab);
    desk.key(KeyCode::enter);
    CHECK(desk.session.workspace == Workspace::learn);
    for (int i = 0; i < 200; ++i) desk.key(KeyCode::tab);
    CHECK(desk.shell.state.focused != 0);
    desk.key(KeyCode::escape);
    CHECK(desk.shell.state.focused == 0);
}

TEST_CASE("Space plays and pauses") {
    Desk desk;
    desk.session.publish_for_test(small_snapshot());
    desk.session.grain = Grain::kernel;
    desk.key(KeyCode::space);
    CHECK(desk.session.playing);
    desk.key(KeyCode::space);
    CHECK_FALSE(desk.session.playing);
}

TEST_CASE("playing stops by itself at the last kernel") {
    Desk desk;
    desk.session.publish_for_test(small_snapshot());
    desk.session.workspace = Workspace::training;
    desk.session.grain = Grain::kernel;
    desk.shell.focus.launch = 0;
    desk.key(KeyCode::space);
    for (int i = 0; i < 60; ++i) desk.frame();
    CHECK(desk.shell.focus.launch == 2);
    CHECK_FALSE(desk.session.playing);
}

TEST_CASE("a problem is shown with its caret and takes nothing away") {
    Desk desk;
    const int before = desk.quads;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->problem =
        Diagnostic{"unknown opcode 'ad.f32', did you mean 'add.f32'?", {"even_odd.ptx", 14, 5}, "    ad.f32 %f1, %f2, %f3;"};
    desk.session.publish_for_test(snapshot);
    desk.frame();
    CHECK(desk.quads > before);
}

TEST_CASE("menus and help open, take the input, and close") {
    Desk desk;
    desk.key(KeyCode::f1);
    desk.frame();
    const int open = desk.quads;
    desk.click(180, 22);  // over the Home tab: closes the help, does not switch
    desk.frame();
    CHECK(desk.quads < open);
    CHECK(desk.session.workspace == Workspace::training);
    desk.click(1320, 22);  // the GPU chip
    desk.key(KeyCode::escape);
}

TEST_CASE("windows of every size are laid out without overlap") {
    for (const SceneRow& scene : scenes())
        for (const auto& [w, h] : {std::pair{1584.0f, 884.0f}, {1264.0f, 604.0f}, {784.0f, 384.0f}, {420.0f, 240.0f}}) {
            const Arrangement plan = arrange(scene.tree, {8, 52, w, h}, [](const std::string&) { return 0; });
            REQUIRE(!plan.panels.empty());
            for (const Placed& a : plan.panels) {
                INFO(row_of(scene.workspace).name << " " << scene.name << " " << w << "x" << h << " " << a.view);
                CHECK(a.area.x >= 7.9f);
                CHECK(a.area.right() <= 8.1f + w);
                CHECK(a.area.bottom() <= 52.1f + h);
                CHECK(a.area.w > 100);
                CHECK(a.area.h > 60);
                for (const Placed& b : plan.panels) {
                    if (&a == &b) continue;
                    const bool apart = a.area.right() <= b.area.x + 0.1f || b.area.right() <= a.area.x + 0.1f ||
                                       a.area.bottom() <= b.area.y + 0.1f || b.area.bottom() <= a.area.y + 0.1f;
                    CHECK(apart);
                }
            }
        }
}

TEST_CASE("where a lesson's pictures do not fit under each other, the one that the step is about is open") {
    const auto opens = [](const char* scene, float w, float h, int chosen) {
        std::string shown;
        for (const Placed& one :
             arrange(
                 scene_named(Workspace::learn, scene).tree, {8, 52, w, h}, [&](const std::string&) { return chosen; }, scene)
                 .panels)
            shown += std::string(one.view) + " ";
        return shown;
    };
    CHECK(opens("warps", 1264, 604, -1) == "lesson warps ");
    CHECK(opens("warps", 1264, 604, 0) == "lesson code warp ");  // what was chosen stays
    CHECK(opens("compare", 1264, 604, -1) == "lesson compare ");
    CHECK(opens("occupancy", 1264, 604, -1) == "lesson occupancy blocks ");
    CHECK(opens("warps", 1584, 884, -1) == "lesson code warp warps ");
    CHECK(opens("warps", 620, 300, -1) == "lesson ");  // beside each other: the text comes first
}

TEST_CASE("in a small window a workspace's pages stand in one strip with its columns, not strip under strip") {
    const LayoutNode& tree = scene_named(Workspace::kernel, {}).tree;
    std::map<std::string, int> tabs;
    const auto placed = [&] {
        return arrange(tree, {8, 52, 624, 250}, [&](const std::string& id) {
            const auto tab = tabs.find(id);
            return tab == tabs.end() ? -1 : tab->second;
        });
    };
    const auto shows = [&](std::string_view view) {
        const Arrangement plan = placed();
        return std::any_of(plan.panels.begin(), plan.panels.end(), [&](const Placed& one) { return one.view == view; });
    };
    const Arrangement first = placed();
    REQUIRE(!first.tabs.empty());
    const TabStrip strip = first.tabs.front();
    REQUIRE(strip.inner == pages_id(tree));
    CHECK(strip.inner_begin == 2);  // behind the text and its reports, which do not fit under each other
    CHECK(strip.titles.size() == 6);
    CHECK(strip.titles[0] == "editor");
    CHECK(strip.titles[1] == "reports");
    CHECK(strip.titles[3] == "Why is it slow?");
    CHECK(first.tabs.size() == 1);
    CHECK(shows("editor"));
    tabs = {{strip.id, 1}};
    CHECK(placed().tabs.size() == 1);
    CHECK(shows("reports"));
    tabs = {{strip.id, 3}, {strip.inner, 1}};  // as a click on it leaves them
    CHECK(placed().tabs.size() == 1);          // its two panels scroll together, with no strip of their own
    CHECK(shows("verdict"));
    CHECK(shows("before_after"));
    REQUIRE(placed().scrolled.size() == 1);
    CHECK(placed().scrolled.front().height > placed().scrolled.front().area.h);
    tabs = {{strip.id, INT_MAX}, {strip.inner, 2}};  // as `--view kernel.3` asks
    CHECK(placed().tabs.front().selected == 4);
    CHECK(shows("watch"));
}

TEST_CASE("a step about a fault that the checker finds opens on what is not in order, and names the lines") {
    const auto opened = [](int step, auto&& look) {
        Desk desk(1, {.lesson = "A09", .lesson_step = step - 1});
        desk.size(1280, 720, 1);
        desk.session.workspace = Workspace::learn;
        desk.settle();
        look(desk);
    };
    opened(4, [](Desk& desk) {
        CHECK(desk.shows("Nothing orders lines 4 and 5: a race"));
        CHECK(desk.shows("no barrier stands here"));
        CHECK_FALSE(desk.shows("one SRAM, two uses"));
    });
    opened(8, [](Desk& desk) { CHECK(desk.shows("one SRAM, two uses")); });  // of what flows where
}

TEST_CASE("a lone warp's lesson opens on the whole of its long wait, and on the next trip of its loop") {
    for (const float width : {1280.0f, 1600.0f}) {
        Desk desk(1, {.lesson = "A01", .lesson_step = 6});
        desk.size(width, width == 1280 ? 720.0f : 1000.0f, 1);
        desk.session.workspace = Workspace::learn;
        desk.settle();
        const auto snapshot = desk.session.snapshot();
        const KernelTrace& trace = snapshot->kernel.run->result.trace;
        std::vector<const IssueRecord*> loads, stores;  // in view
        for (const IssueRecord& issue : trace.issues) {
            if (issue.cycle < desk.session.sm.cycles_begin || issue.cycle >= desk.session.sm.cycles_end) continue;
            const auto& instruction = snapshot->kernel.run->program->instructions[issue.pc];
            if (instruction.space != ptx::Space::global) continue;
            if (instruction.kind == ptx::Kind::load) loads.push_back(&issue);
            if (instruction.kind == ptx::Kind::store) stores.push_back(&issue);
        }
        INFO(width << ": " << desk.session.sm.cycles_begin << " to " << desk.session.sm.cycles_end);
        REQUIRE(loads.size() >= 3);  // of two trips
        REQUIRE(!stores.empty());
        CHECK(stores[0]->cycle - loads[1]->cycle > 300);
        CHECK(loads[2]->cycle > stores[0]->cycle);
        CHECK(desk.shell.focus.time >= desk.session.sm.cycles_begin);
    }
}

TEST_CASE("a low Warp panel keeps four registers in its table, and a line of it chooses as a chip does") {
    Desk desk(1, {.lesson = "A08", .lesson_step = 2});
    desk.size(1280, 720, 1);
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto lines = std::count_if(desk.written.begin(), desk.written.end(), [](const UiState::Written& text) {
        return text.text.find(", line ") != std::string::npos && text.ink.y > 200 && text.ink.y < 275;
    });
    CHECK(lines >= 4);
    CHECK(desk.shows("%r5 (mad, line 2): 0 to 31 over 32 lanes."));
    REQUIRE(desk.click_on("%r1"));
    CHECK(desk.shows("%r1 (ld, line 1) holds 2 in all 32 lanes."));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("a page whose title is one word has it in a strip that it shares") {
    Desk desk(1);
    desk.session.workspace = Workspace::training;
    desk.size(1280, 720, 2);
    desk.frames(3);
    CHECK(desk.shows("Learning curves"));
    CHECK(desk.shows("Autograd graph"));
    CHECK(desk.shows("Kernels"));  // no view's name
}

TEST_CASE("the largest text in the smallest window leaves panels no room, and that does no harm") {
    Desk desk(1, {.own_kernel = true});
    desk.settle();
    auto snapshot = std::make_shared<Snapshot>(*desk.session.snapshot());
    snapshot->problem = Diagnostic{"something went wrong whose words take more than a line of such a window, and then some"};
    desk.session.publish_for_test(snapshot);
    for (const float height : {400.0f, 330.0f, 260.0f, 120.0f})
        for (const WorkspaceRow& row : workspaces) {
            desk.size(640, height, 2.5f);
            desk.session.workspace = static_cast<Workspace>(&row - workspaces);
            INFO(row.name << " in a window " << height << " high");
            CHECK_NOTHROW(desk.frames(4));
        }
}

TEST_CASE("at twice the text size the panels of Training stand behind one strip of tabs, and as high as they need") {
    for (const int chosen : {0, 1, 2, 3, 4}) {
        const Arrangement plan = arrange(scene_named(Workspace::training, "").tree, {8, 100, 784, 336},
                                         [&](const std::string&) { return chosen; });
        size_t strips = 0;
        for (const TabStrip& one : plan.tabs) strips += !one.plain;
        REQUIRE(strips == 1);
        CHECK(plan.tabs.size() == 1);  // the two pages of the kernels stand in it too
        CHECK(plan.tabs[0].titles ==
              std::vector<std::string>{"curves+batch", "weights", "graph", "Kernels", "Copies and streams"});
        for (const Placed& one : plan.panels)
            for (const ViewRow& row : views())
                if (row.name == one.view) {
                    INFO(one.view);
                    CHECK(one.area.h >= row.least - 0.5f);
                }
    }
    Desk desk(2);
    desk.session.workspace = Workspace::training;
    desk.show(small_snapshot());
    desk.size(1280, 720, 2);
    desk.frames(2);
    CHECK(desk.shows("Learning curves"));
    REQUIRE(desk.click_on("Weights"));
    CHECK_FALSE(desk.shows("No run yet"));
    CHECK(desk.shell.describe("weights").size() > 4);
    const auto titles = std::count_if(desk.written.begin(), desk.written.end(),
                                      [](const UiState::Written& text) { return text.text.starts_with("Weights"); });
    CHECK(titles >= 2);  // the tab and the panel
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("the rungs of the latency ladder have their whole names at 1280 x 720") {
    {
        Desk desk(1, {.lesson = "A07", .lesson_step = 0});
        desk.size(1280, 720, 1);
        desk.session.workspace = Workspace::learn;
        desk.settle();
        CHECK(desk.shows("wide[(32 * k + lane) * 32]"));
    }
    Desk desk(1, {.lesson = "A07", .lesson_step = 9});
    desk.size(1280, 720, 1);
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->kernel.run);
    for (const char* name : {"kept[(round + k) % 4]", "a[4 * i + k]", "arithmetic"}) {
        INFO(name);
        CHECK(std::any_of(desk.written.begin(), desk.written.end(),
                          [&](const UiState::Written& text) { return text.text == name; }));
    }
    CHECK(desk.shows("local, L1 hit"));
    CHECK(desk.clashes() == std::vector<std::string>{});
}

TEST_CASE("in a window of 1280 x 720 the pictures of part A get the height that they need") {
    for (const char* scene : {"warps", "blocks", "coalesce", "chart", "banks", "streams", "compare", "occupancy", "ladder",
                              "roofline", "generations", "threads", "divergence"})
        for (const Placed& one :
             arrange(
                 scene_named(Workspace::learn, scene).tree, {8, 52, 1264, 604}, [](const std::string&) { return -1; }, scene)
                 .panels)
            for (const ViewRow& row : views())
                if (row.name == one.view) {
                    INFO(scene << ": " << one.view << " is " << one.area.h << " high and needs " << row.least);
                    CHECK(one.area.h >= row.least - 0.5f);
                }
}

TEST_CASE("pictures of part A say their numbers and limits whole at 1280 x 720") {
    const auto opened = [](const char* lesson, int step, auto&& look) {
        Desk desk(1, {.lesson = lesson, .lesson_step = step - 1});
        desk.size(1280, 720, 1);
        desk.session.workspace = Workspace::learn;
        desk.settle();
        auto& given = desk.session.lesson.predictions[static_cast<size_t>(step - 1)];
        for (size_t p = 0; p < given.size(); ++p) {
            given[p].chosen = 0, given[p].locked = true;
            desk.session.post(ask::LockPrediction{p});
        }
        desk.settle();
        desk.session.learn.run_shown = step - 1;  // of a sketch: the run's own views
        desk.settle();
        look(desk);
    };
    opened("A03", 1, [](Desk& desk) {  // the program begins where it works, so that its calls are in sight
        CHECK(desk.shows("launch damp("));
        CHECK(desk.shows("d2h"));
        desk.size(1600, 2000, 1);  // all of it fits
        desk.frames(3);
        desk.size(1280, 720, 1);
        desk.frames(3);
        CHECK(desk.shows("launch damp("));
    });
    opened("A04", 3, [](Desk& desk) { CHECK(desk.shows("sched 0")); });  // the strip that the text speaks of
    opened("A08", 7, [](Desk& desk) {
        CHECK(desk.shows("594 to 130,363 over 32 lanes"));
        CHECK_FALSE(desk.shows("e+05"));
    });
    opened("A10", 7, [](Desk& desk) {
        CHECK(
            desk.shows("one word goes to 32 lanes at once, a broadcast, and no bank has a second word to deliver: 1 pass"));
        CHECK(desk.shows("lane 0: bank = "));
        CHECK(desk.shows("one word for several lanes"));  // its legend
    });
    opened("A15", 4, [](Desk& desk) {
        CHECK(desk.shows("Jetson Nano (GM20B)"));
        CHECK(desk.shows("16.70 µs"));
        CHECK(desk.shows("grew"));  // the caption is in sight
    });
}

TEST_CASE("a real training step stays within the quad budget in every workspace") {
    Desk desk(1, {.training_steps = 2});
    REQUIRE(desk.session.wait_until_idle(60));
    for (const char* workspace : {"training", "sm", "learn"}) {
        desk.session.workspace = *workspace_named(workspace);
        for (int i = 0; i < 3; ++i) desk.frame(), desk.session.wait_until_idle(20);
        INFO(workspace);
        CHECK(desk.quads > 1000);
        CHECK(desk.quads <= 8000);
        CHECK(desk.shell.describe(workspace).size() > 200);
    }
}

TEST_CASE(
    "what a prediction asks for stands nowhere before it is locked, and the picture is of the line that it asks about") {
    Desk desk(1, {.lesson = "A01", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    const auto shows = [&](const std::string& words) {
        desk.settle();
        return desk.shows(words);
    };
    CHECK_FALSE(shows("of 32 lanes on"));  // it asks which lanes work
    CHECK(desk.shell.describe("learn").find("Which of the 32 lanes work when line 5 issues?") != std::string::npos);
    CHECK_FALSE(shows("in all 32 lanes"));
    CHECK(shows("stays unknown, here and everywhere, until you run it"));
    desk.session.lesson.predictions[1][0].chosen = 0;
    desk.session.lesson.predictions[1][0].locked = true;
    desk.session.post(ask::LockPrediction{0});
    shows("");
    desk.session.learn.run_shown = 1;
    CHECK(shows("1 of 32 lanes on"));
    std::string said;  // a caption of two lines is written word by word
    for (const UiState::Written& text : desk.written) said += text.text + " ";
    CHECK(said.find("in the warp's one lane; the others have no thread") != std::string::npos);
    desk.session.post(ask::OpenLesson{"A12", 0});
    shows("");
    desk.session.lesson.step = 1;
    desk.session.post(ask::ShowLessonStep{1});
    CHECK(shows("warp 0 · line 6"));  // line 7 is the first that loads
}

TEST_CASE("once it is answered, a question's picture moves to the line that was asked about, else to the scene's") {
    const auto line_after = [](const char* lesson, int step, bool lock) {
        Desk desk(1, {.lesson = lesson, .lesson_step = step});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        if (lock) {
            for (size_t p = 0; p < desk.session.lesson.predictions[static_cast<size_t>(step)].size(); ++p) {
                auto& given = desk.session.lesson.predictions[static_cast<size_t>(step)][p];
                given.chosen = 0, given.locked = true;
                desk.session.post(ask::LockPrediction{p});
            }
            desk.settle();
        }
        const auto snapshot = desk.session.snapshot();
        REQUIRE(snapshot->kernel.history);
        const auto& at = snapshot->kernel.history->steps[static_cast<size_t>(desk.session.sm.history_step)];
        INFO(lesson << " step " << step << ": issue " << desk.session.sm.history_step);
        return std::pair{snapshot->kernel.run->program->instructions[at.pc].line, desk.shell.focus.time};
    };
    CHECK(line_after("A08", 1, false).first == 2);
    CHECK(line_after("A08", 1, true).first == 3);
    CHECK(line_after("A08", 6, true).first == 4);  // the scene names line 3, the question line 4
    CHECK(line_after("A15", 1, false).second == 0);
    CHECK(line_after("A04", 3, false).first == 5);  // the step says so itself
    const auto chain = line_after("A04", 3, true);  // where the chain runs
    CHECK(chain.first == 5);
    CHECK(chain.second > 0);
}

TEST_CASE("an answer that is too long to stand beside the confidence is written below it, whole") {
    Desk desk(1, {.lesson = "A05", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    auto& given = desk.session.lesson.predictions[0][0];
    given.chosen = 0, given.locked = true;
    desk.session.post(ask::LockPrediction{0});
    desk.settle();
    std::string all;
    for (const auto& text : desk.written) all += text.text + " ";
    CHECK(all.find("The run says They wait for global memory.") != std::string::npos);
}

TEST_CASE(
    "the bars over all strides tell only what was on show while the lesson still asks, and a followed lane is listed") {
    Desk desk(1, {.lesson = "A08", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto unknown = [&] {
        desk.frames(2);
        return std::count_if(desk.written.begin(), desk.written.end(), [](const auto& text) { return text.text == "?"; });
    };
    CHECK(unknown() == 6);  // stride 1 is this scene's own; the next step asks for stride 2
    for (auto& step : desk.session.lesson.predictions)
        for (auto& one : step) one.locked = true, one.chosen = 0, one.truth = 1;
    CHECK(unknown() == 0);
    CHECK_FALSE(desk.shows("lane 5"));
    desk.shell.focus.lane = 5;
    desk.frames(2);
    CHECK(desk.shows("lane 5"));
}

TEST_CASE("a step without a question keeps to itself what the next step asks about the same scene") {
    const auto open = [](const char* lesson, const auto& look) {
        Desk desk(1, {.lesson = lesson, .lesson_step = 0});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        const auto unknown = [&] {
            desk.frames(2);
            return std::count_if(desk.written.begin(), desk.written.end(),
                                 [](const auto& text) { return text.text == "?"; });
        };
        INFO(lesson);
        look(desk, unknown);
    };
    open("A01", [](Desk& desk, const auto&) { CHECK_FALSE(desk.shows("of 32 lanes on")); });
    open("A07", [](Desk& desk, const auto& unknown) {
        CHECK(unknown() == 3);  // the lines that L2 and DRAM serve
        CHECK(desk.shows("local, L1 hit"));
        CHECK(desk.shell.describe("learn").find("hidden until a question") != std::string::npos);
        desk.session.lesson.predictions[2][0].locked = true;  // how long L2 takes
        CHECK(unknown() == 2);                                // that line is told, those of DRAM are not
    });
    open("A15", [](Desk& desk, const auto& unknown) {
        CHECK(unknown() == 12);  // the kernel's times, and how fast FP64 is, which step 4 asks about
        desk.session.lesson.predictions[1][0].locked = true;
        CHECK(unknown() == 6);
        desk.session.lesson.predictions[3][0].locked = true;
        CHECK(unknown() == 0);
        CHECK_FALSE(desk.shell.describe("learn").find("hidden until") != std::string::npos);
    });
}

TEST_CASE("a scene opens on the warp and the line that it names") {
    Desk desk(1, {.lesson = "A02", .lesson_step = 1});
    desk.session.workspace = Workspace::learn;
    const auto settle = [&] {
        for (int i = 0; i < 4; ++i) {
            REQUIRE(desk.session.wait_until_idle(60));
            desk.frame();
        }
    };
    const auto check_block_1 = [&](int line) {
        const auto snapshot = desk.session.snapshot();
        REQUIRE(snapshot->kernel.run);
        REQUIRE(desk.shell.focus.warp >= 0);
        CHECK(snapshot->kernel.run->result.trace.warps[static_cast<size_t>(desk.shell.focus.warp)].block == 1);
        REQUIRE(snapshot->kernel.history);
        CHECK(snapshot->kernel.history->block == 1);
        const auto& step = snapshot->kernel.history->steps[static_cast<size_t>(desk.session.sm.history_step)];
        CHECK(snapshot->kernel.run->program->instructions[step.pc].line == line);
    };
    settle();
    check_block_1(3);
    desk.session.lesson.step = 5;
    desk.session.post(ask::ShowLessonStep{5});
    settle();
    REQUIRE(desk.session.snapshot()->problem);  // this step shows what a missing guard does
    check_block_1(3);
    desk.session.lesson.step = 0;
    desk.session.post(ask::ShowLessonStep{0});
    settle();
    CHECK(!desk.session.snapshot()->problem);
    CHECK(desk.session.snapshot()->kernel.history->block == 0);
}

TEST_CASE("an open question about another GPU's row leaves the pictures of the run open, one about a column hides it") {
    const auto shown = [](Desk& desk) {
        desk.session.workspace = Workspace::learn;
        for (int i = 0; i < 4; ++i) {
            REQUIRE(desk.session.wait_until_idle(60));
            desk.frame();
        }
    };
    {
        Desk desk(1, {.lesson = "C12", .lesson_step = 5});
        shown(desk);
        REQUIRE_FALSE(desk.session.lesson.predictions.at(5).at(0).locked);
        CHECK(desk.session.learn.reveal_steps < 0);
    }
    Desk desk(1, {.lesson = "A15", .lesson_step = 3});
    shown(desk);
    REQUIRE(desk.session.learn.reveal_steps >= 0);
    const std::string text = desk.shell.describe("learn");
    CHECK(text.find("FP64 hidden") != std::string::npos);
    CHECK(text.find("0.0074") == std::string::npos);
}

TEST_CASE("an open prediction hides the lanes that it asks for, wherever their code stands") {
    Desk desk(1, {.lesson = "A02", .lesson_step = 4});
    desk.session.workspace = Workspace::learn;
    for (int i = 0; i < 4; ++i) {
        REQUIRE(desk.session.wait_until_idle(60));
        desk.frame();
    }
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->kernel.history);
    REQUIRE(desk.session.learn.reveal_steps > 0);
    for (int64_t i = 0; i < desk.session.learn.reveal_steps; ++i)
        CHECK(snapshot->kernel.history->steps[static_cast<size_t>(i)].active ==
              snapshot->kernel.history->steps.front().active);
    CHECK(desk.session.sm.history_step < desk.session.learn.reveal_steps);
    desk.key(KeyCode::end);
    CHECK(desk.session.sm.history_step < desk.session.learn.reveal_steps);
}

TEST_CASE("arrows and Enter work a menu, and the transport stands still meanwhile") {
    Desk desk;
    desk.session.publish_for_test(small_snapshot());
    desk.session.workspace = Workspace::training;
    desk.session.grain = Grain::kernel;
    desk.shell.focus.launch = 0;
    desk.frame();
    // Tab to the text size: Home, Learn, Machine, SM, Memory, Training, Kernel, Cluster, Build, help, theme, size.
    for (int i = 0; i < 12; ++i) desk.key(KeyCode::tab);
    desk.key(KeyCode::enter);
    desk.key(KeyCode::right);
    CHECK(desk.shell.focus.launch == 0);
    desk.key(KeyCode::down);
    desk.key(KeyCode::enter);
    CHECK(desk.shell.text_scale == Approx(0.75f));
    desk.key(KeyCode::plus, false, true);
    CHECK(desk.shell.text_scale == Approx(0.8f));
}

TEST_CASE("play at the end begins anew") {
    Desk desk;
    desk.session.publish_for_test(small_snapshot());
    desk.session.workspace = Workspace::training;
    desk.session.grain = Grain::kernel;
    desk.shell.focus.launch = 2;
    desk.key(KeyCode::space);
    CHECK(desk.session.playing);
    CHECK(desk.shell.focus.launch == 0);
}

TEST_CASE("a step that names an instruction opens there, whatever line its scene names") {
    Desk desk(1, {.lesson = "A06", .lesson_step = 2});
    desk.session.workspace = Workspace::learn;
    for (int i = 0; i < 4; ++i) {
        REQUIRE(desk.session.wait_until_idle(60));
        desk.frame();
    }
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->kernel.history);
    REQUIRE(desk.session.lesson.lesson);
    REQUIRE(desk.session.lesson.lesson->steps[2].until.size() == 1);
    const std::string until = desk.session.lesson.lesson->steps[2].until.front();
    const auto& step = snapshot->kernel.history->steps[static_cast<size_t>(desk.session.sm.history_step)];
    CHECK(until == "issue(line:" + std::to_string(snapshot->kernel.run->program->instructions[step.pc].line) + ")");
    CHECK(desk.session.learn.reveal_steps == desk.session.sm.history_step + 1);
}

TEST_CASE("what an answer uncovers fills the picture; a scene that hid everything opens where its line stands") {
    const auto answer = [](Desk& desk, size_t step) {
        desk.session.lesson.predictions[step][0].chosen = 0;
        desk.session.lesson.predictions[step][0].locked = true;
        desk.session.post(ask::LockPrediction{0});
        desk.settle();
        REQUIRE(desk.session.learn.reveal_steps < 0);
    };
    {
        Desk desk(1, {.lesson = "A05", .lesson_step = 0});
        desk.session.workspace = Workspace::learn;
        desk.settle();
        REQUIRE(desk.session.learn.reveal_steps > 0);
        const int64_t time = desk.shell.focus.time;
        CHECK((time - desk.session.sm.cycles_begin) * 3 > desk.session.sm.cycles_end - desk.session.sm.cycles_begin);
        answer(desk, 0);
        CHECK(desk.shell.focus.time == time);
        CHECK((time - desk.session.sm.cycles_begin) * 7 < desk.session.sm.cycles_end - desk.session.sm.cycles_begin);
    }
    Desk desk(1, {.lesson = "A15", .lesson_step = 1});  // no `until`: the clock was at 0
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.session.learn.reveal_steps == 0);
    answer(desk, 1);
    CHECK(desk.shell.focus.line == 4);
    CHECK(desk.shell.focus.time > 200);
}

TEST_CASE("a host program's kernel opens where its warp begins to work, not while it is launched") {
    Desk desk(1, {.lesson = "A03", .lesson_step = 0});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->kernel.run);
    const KernelTrace& trace = snapshot->kernel.run->result.trace;
    REQUIRE(desk.shell.focus.warp >= 0);
    const WarpTrack& warp = trace.warps[static_cast<size_t>(desk.shell.focus.warp)];
    CHECK(desk.shell.focus.time >= trace.issues[warp.issues.front()].cycle);
}

TEST_CASE("the top bar gets shorter where it is narrow, and everything on it stays within reach") {
    for (const float scale : {0.75f, 1.0f, 1.25f, 1.5f, 2.0f, 2.5f}) {
        Desk desk(scale);
        for (const float width : {640.0f, 900.0f, 1280.0f, 1600.0f}) {
            desk.width = width, desk.height = 400;
            for (const char* workspace : {"sm", "training", "kernel"}) {
                desk.session.workspace = *workspace_named(workspace);
                desk.frame();
                INFO(workspace << ", " << width << " wide at " << scale);
                std::erase_if(desk.written, [&](const auto& text) { return text.ink.y > 43 * scale; });
                CHECK(desk.clashes() == std::vector<std::string>{});
                for (const auto& text : desk.written) CHECK(text.ink.right() <= width);
                const bool one_menu = desk.shows("Menu");
                CHECK((one_menu || (desk.shows("V100") && desk.shows(" %") && desk.shows("?"))));
            }
        }
    }
}

TEST_CASE("what no longer fits on the top bar is in its menus") {
    Desk desk(2.5f);
    desk.width = 700, desk.height = 720;
    desk.frames(2);
    desk.session.workspace = Workspace::training;
    desk.frames(2);
    REQUIRE(desk.click_on("Training"));  // the only name there: a menu
    REQUIRE(desk.shows("key 4"));
    REQUIRE(desk.click_on("Memory"));
    CHECK(desk.session.workspace == Workspace::memory);
    std::string open = "Memory";
    for (const WorkspaceRow& space : workspaces) {
        REQUIRE(desk.click_on(open));
        REQUIRE(desk.click_on(std::string(space.title)));
        CHECK(row_of(desk.session.workspace).name == space.name);
        open = space.title;
    }
    REQUIRE(desk.click_on("Menu"));
    REQUIRE(desk.click_on("Text size"));
    REQUIRE(desk.click_on("100 %"));
    CHECK(desk.shell.text_scale == Approx(1));
    desk.size(700, 720, 2.5f);
    desk.frames(2);
    const auto theme = desk.shell.theme;
    REQUIRE(desk.click_on("Menu"));
    REQUIRE(desk.click_on("Theme"));
    CHECK(desk.shell.theme != theme);
    desk.key(KeyCode::f1);  // more keys than fit: the list scrolls
    CHECK_FALSE(desk.shows("F11"));
    for (int i = 0; i < 6 && !desk.shows("F11"); ++i) desk.key(KeyCode::page_down);
    CHECK(desk.shows("F11"));
    desk.key(KeyCode::escape);
}

TEST_CASE("a small window's Training workspace keeps the step's kernels under every page") {
    int page = 0;
    const auto shown = [&](float w, float h) {
        std::string all;
        for (const Placed& one :
             arrange(scene_named(Workspace::training, "").tree, {8, 100, w, h}, [&](const std::string& id) {
                 return id == "curves+batch+weights+graph+kernels+streams" ? page : 0;
             }).panels)
            all += std::string(one.view) + " ";
        return all;
    };
    CHECK(shown(1264, 556) == "curves batch weights kernels ");
    page = 1;
    CHECK(shown(1264, 556) == "graph kernels ");
    page = 0;
    CHECK(shown(1584, 836) == "curves batch weights graph kernels ");
    CHECK(shown(784, 336).find("kernels") == std::string::npos);  // no room: a page of its own
}

TEST_CASE("picture and clock stand on one instruction where warps wait in loops: a kernel of clusters and mbarriers") {
    Desk desk(1, {.lesson = "A13", .lesson_step = 9});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    desk.session.lesson.predictions[9][0].locked = true;  // until then the case before stands there
    desk.session.post(ask::LockPrediction{0});
    for (int i = 0; i < 4; ++i) {
        REQUIRE(desk.session.wait_until_idle(60));
        desk.frame();
    }
    const auto snapshot = desk.session.snapshot();
    REQUIRE(snapshot->kernel.run);
    REQUIRE(snapshot->kernel.history);
    const KernelTrace& trace = snapshot->kernel.run->result.trace;
    const WarpTrack& warp = trace.warps[static_cast<size_t>(desk.shell.focus.warp)];
    REQUIRE(warp.warp_in_block == 4);
    REQUIRE(snapshot->kernel.history->steps.size() == warp.issues.size());
    CHECK(!snapshot->kernel.history->replayed.empty());  // it does not wait as often as in the replay
    for (size_t i = 0; i < warp.issues.size(); ++i)
        CHECK(snapshot->kernel.history->steps[i].pc == trace.issues[warp.issues[i]].pc);
}

}  // namespace gui_shell_test
