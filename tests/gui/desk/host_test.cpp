// Host programs on the learner's desk: edited, run on every change, told what is wrong, and a lesson's exercise among them.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/files.h"
#include "tests/gui/desk.h"

namespace gui_host_test {

using namespace lockstep;
using namespace lockstep::gui;
namespace fs = std::filesystem;

namespace {

struct Scratch {  // a state folder of this test's own
    fs::path folder = fs::temp_directory_path() /
                      ("lockstep-host-test-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    Scratch() {
        fs::create_directories(folder);
        setenv("XDG_STATE_HOME", folder.c_str(), 1);
    }
    ~Scratch() { fs::remove_all(folder); }
};

struct Desk : Scratch, test::Desk {
    explicit Desk(SessionOptions options) : test::Desk(std::move(options)) { pace = 0.3; }
    std::shared_ptr<const Snapshot> snapshot() const { return session.snapshot(); }
    void write(const std::string& text) {
        session.desk.set_text(text);
        settle();
    }
};

const fs::path lesson = resource_root() / "lessons" / "A14_streams";

}  // namespace

TEST_CASE("a host program runs when it is opened and whenever it changes, with its streams beside it") {
    Desk desk({.own_kernel = true});
    desk.session.workspace = Workspace::kernel;
    REQUIRE(!desk.session.desk.open(lesson / "order.host"));
    desk.settle();
    REQUIRE(desk.session.desk.document().is_host());
    REQUIRE(desk.snapshot()->host);
    const double before = desk.snapshot()->host->schedule.total_us;
    CHECK(before > 0);
    CHECK(desk.shows("copy engine H2D"));
    CHECK(desk.shows("Host program  order.host"));
    CHECK(desk.clashes() == std::vector<std::string>{});

    std::string text = desk.session.desk.document().text;
    std::string half = text;  // half as much work is done sooner
    for (size_t at = 0; (at = half.find("131072", at)) != std::string::npos;) half.replace(at, 6, "65536");
    for (size_t at = 0; (at = half.find("32768", at)) != std::string::npos;) half.replace(at, 5, "16384");
    half.replace(half.find("grid=128"), 8, "grid=64");
    desk.write(half);
    CHECK(desk.snapshot()->host->schedule.total_us < before);

    desk.write(text + "nonsense here\n");
    REQUIRE(desk.snapshot()->own.compiled);
    CHECK_FALSE(desk.snapshot()->own.compiled->ok);
    REQUIRE(!desk.snapshot()->own.compiled->messages.empty());
    CHECK(desk.snapshot()->own.compiled->messages.front().where.line == 15);
    CHECK(desk.shell.describe("reports").find("line 15") != std::string::npos);
    REQUIRE(desk.snapshot()->host);  // the last good run stays

    std::string torn = text;  // the copy back in a stream of its own: nothing orders it behind the kernel
    const size_t back = torn.find("dy[$i/4] stream=$i", torn.find("d2h"));
    torn.replace(back, 18, "dy[$i/4] stream=9");
    desk.write(torn);
    CHECK(!desk.snapshot()->host->hazards.empty());
    CHECK(desk.snapshot()->own.compiled->ok);
    CHECK(desk.shell.describe("reports").find("warning") != std::string::npos);
}

TEST_CASE("a click on an operation marks its line in the text, and a click on a line its operations") {
    Desk desk({.own_kernel = true});
    desk.session.workspace = Workspace::kernel;
    REQUIRE(!desk.session.desk.open(lesson / "order.host"));
    desk.settle();
    desk.session.host_line = -1;
    REQUIRE(desk.click_on("I"));  // a copy to the GPU
    CHECK(desk.session.host_line == 10);
    REQUIRE(desk.click_on("O"));
    CHECK(desk.session.host_line == 12);
}

TEST_CASE("the host program of an exercise is edited in the app, with the lesson's kernels and GPU") {
    Desk desk({.lesson = "A14", .lesson_step = 8});
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.session.lesson.lesson);
    REQUIRE(desk.session.lesson.lesson->steps[8].exercises.size() == 1);
    REQUIRE(desk.click_on("Edit it here"));
    desk.settle();
    CHECK(desk.session.workspace == Workspace::kernel);
    REQUIRE(desk.session.desk.document().is_host());
    CHECK(desk.session.desk.document().path.find(desk.folder.string()) == 0);  // the learner's copy
    REQUIRE(desk.snapshot()->host);
    CHECK(desk.snapshot()->host->gpu.name == "jetson-nano");
    const double before = desk.snapshot()->host->schedule.total_us;

    // The solution, typed in: three loops instead of one; then the lesson checks what is in the editor.
    const auto solution = read_file(lesson / "solution" / "order.host");
    REQUIRE(solution.ok());
    desk.write(solution.value());
    REQUIRE(desk.snapshot()->host);
    CHECK(desk.snapshot()->host->schedule.total_us < 0.85 * before);
    desk.session.workspace = Workspace::learn;
    desk.settle();
    REQUIRE(desk.click_on("Check it"));
    desk.settle();
    CHECK(desk.session.lesson.done[8]);
}

}  // namespace gui_host_test
