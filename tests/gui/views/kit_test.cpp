// What a player of the Build workspace looks for: the row that limits in a small window, the names of real chips, and the
// words on what to change next.
#include <algorithm>
#include <cmath>
#include <set>

#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/real_names.h"
#include "tests/gui/build_window.h"

namespace gui_kit_test {

using namespace lockstep;
using namespace lockstep::gui;
using namespace lockstep::gui::test;

TEST_CASE("that no change is faster is said only where none is, and little is proposed with a word on hints") {
    BuildWindow window("04");
    const auto fastest = [&] {  // of the changes that are run, within the budget
        const BuildTask& task = *window.session.build.task();
        double least = HUGE_VAL;
        for (const lessons::Figures& figures : changes_of(task, *window.state().newest()))
            if (const BuiltDesign change = built(task, figures); change.ran() && change.within(task))
                least = std::min(least, change.time_us);
        return least;
    };
    bool little = false;
    for (const lessons::Figures& figures : std::vector<lessons::Figures>{{{"l1_kb", 1}, {"l2_mb", 0.125}},
                                                                         {{"l1_kb", 8}, {"l2_mb", 0.125}},
                                                                         {{"sms", 3}, {"l1_kb", 16}, {"l2_mb", 0.25}}}) {
        window.session.build.take(window.session, figures);
        window.settle();
        const BuiltDesign& design = *window.state().newest();
        REQUIRE(design.within(*window.session.build.task()));
        REQUIRE(design.medal != lessons::Medal::gold);
        REQUIRE(window.state().next_of == design.number);
        const std::string words = window.words("puzzle");
        INFO(words);
        const bool none = words.find("No change that was run is faster within the budget") != std::string::npos;
        CHECK(none == (window.state().next == nullptr));
        CHECK(none == (fastest() >= design.time_us));
        if (none) continue;
        CHECK(window.state().next->time_us < design.time_us);
        const bool better = window.state().next->medal > design.medal;
        const bool small = design.time_us < 1.02 * window.state().next->time_us && !better;
        little = little || small;
        CHECK((words.find("A hint may lead further.") != std::string::npos) == small);
    }
    CHECK(little);
}

TEST_CASE("an attention chip with one special lane too few is led to one with more") {
    const auto task = task_of_puzzle("11");
    const lessons::Figures few = {{"sms", 4},        {"sub_cores", 4},     {"fp32_lanes", 16},
                                  {"fp64_lanes", 0}, {"dram_channels", 1}, {"sfu_lanes", 1}};
    const BuiltDesign design = built(*task, few);
    const std::vector<lessons::Figures> changes = changes_of(*task, design);
    const auto more = std::ranges::find_if(changes, [](const lessons::Figures& change) {
        return value_in(change, "sfu_lanes") == 2 && value_in(change, "sms") == 4 && value_in(change, "sub_cores") == 4;
    });
    REQUIRE(more != changes.end());
    CHECK(built(*task, *more).time_us < design.time_us);
}

namespace {

// Where words of the kit can be seen: below 0 they cannot. Long ones may be shortened.
float seen_at(const BuildWindow& window, const std::string& words, float share = 0.8f) {
    constexpr size_t enough = 12;
    for (const UiState::Written& text : window.written) {
        const float from = std::max(text.ink.y, text.clip.y), to = std::min(text.ink.bottom(), text.clip.bottom());
        const bool named = words.size() <= enough ? text.text == words : text.text.starts_with(words.substr(0, enough));
        if (named && text.ink.x < 400 && to - from > share * text.ink.h) return text.ink.y;
    }
    return -1;
}

}  // namespace

TEST_CASE("the row that limits can be seen in a small window, wherever the kit is scrolled") {
    BuildWindow window("03");
    window.size(1280, 720, 1);
    window.frames(3);
    REQUIRE(window.state().newest()->limits == "dram_channels");
    const std::string last = "host link, block scheduler, pads", first = "SMs";
    CHECK(seen_at(window, last) < 0);  // not because there is room for all
    const float edge = seen_at(window, "limits"), place = seen_at(window, first);
    REQUIRE(edge > 0);
    CHECK(seen_at(window, "memory channels") == Approx(edge).margin(1));
    CHECK(place > 0);  // nobody scrolled
    CHECK(window.clashes() == std::vector<std::string>{});
    window.input.mouse_x = 150, window.input.mouse_y = place + 150;  // in the middle of the kit, on no edge
    const auto turn = [&](float notches) {
        window.input.wheel = notches;
        window.frames(2);
        CHECK(seen_at(window, "limits") > 0);
        CHECK(window.clashes() == std::vector<std::string>{});
    };
    for (int i = 0; i < 24; ++i) turn(-0.5f);
    CHECK(seen_at(window, last) > 0);
    CHECK(seen_at(window, first) < 0);
    CHECK(seen_at(window, "limits") < edge);  // in its place, with what stands below it
    for (int i = 0; i < 24; ++i) turn(0.5f);
    CHECK(seen_at(window, first) == Approx(place).margin(0.5));
    CHECK(seen_at(window, "limits") == Approx(edge).margin(0.5));
    // With large text the kit stands in a page of its own, of which a part is in sight.
    window.size(1600, 1000, 2);
    window.frames(3);
    CHECK(seen_at(window, "limits") > 0);
    CHECK(seen_at(window, last) < 0);
    CHECK(window.clashes() == std::vector<std::string>{});
    window.size(1280, 720, 1);
    window.frames(3);
    // A row that limits above what is in sight stands at the upper edge.
    window.session.build.take(window.session, {{"sms", 1}});
    window.settle();
    REQUIRE(window.state().newest()->limits == "sms");
    for (int i = 0; i < 24; ++i) turn(-0.5f);
    CHECK(seen_at(window, last) > 0);
    CHECK(seen_at(window, "limits") == Approx(seen_at(window, first)).margin(1));
}

TEST_CASE("nothing in the kit changes below the pointer when a run ends, and a row at the edge has its handle") {
    BuildWindow window("03");
    window.size(1280, 720, 1);
    window.frames(3);
    const float edge = seen_at(window, "memory channels");
    REQUIRE(edge > 0);
    window.click(150, edge + 24);
    window.settle();
    CHECK(window.session.build.value_of("dram_channels") > 2);
    REQUIRE(window.state().newest()->limits != "dram_channels");
    CHECK(seen_at(window, "memory channels") == Approx(edge).margin(0.5));
    window.input.mouse_x = 640, window.input.mouse_y = 300;  // off it
    window.frames(2);
    CHECK(seen_at(window, "limits") > 0);
    // The other way round: what is at the edge's place, with the pointer on it, is not covered by the row that limits.
    window.session.build.take(window.session, {{"sms", 1}});
    window.settle();
    for (int i = 0; i < 12; ++i) {
        window.input.mouse_x = 150, window.input.mouse_y = 400, window.input.wheel = 1;
        window.frames(2);
    }
    window.input.mouse_y = edge + 24;
    window.frames(2);
    window.session.build.take(window.session, {});
    window.settle();
    REQUIRE(window.state().newest()->limits == "dram_channels");
    CHECK(seen_at(window, "limits") < 0);
    window.input.mouse_x = 640, window.input.mouse_y = 300;
    window.frames(2);
    CHECK(seen_at(window, "limits") == Approx(edge).margin(0.5));
}

TEST_CASE("a handle that has the keyboard is not hidden by the row at the edge") {
    BuildWindow window("03");
    window.size(1280, 720, 1);
    window.frames(3);
    UiState names;  // a handle's name lies in its view's scope, in the panel's
    for (int i = 0; i < 2; ++i) names.scopes.push_back(names.id_of("kit"));
    const BuildDesk& desk = window.session.build;
    std::set<std::string> came_to;
    for (int i = 0; i < 120 && came_to.size() < desk.task()->free.size(); ++i) {
        window.key(KeyCode::tab);
        window.frames(2);
        for (const KitGroup& group : kit_of(*desk.task(), desk.gpu(), desk.area()))
            for (const KitRow& row : group.rows) {
                if (row.free == nullptr || window.shell.state.focused != names.id_of(row.field)) continue;
                INFO(row.label);
                came_to.emplace(row.field);
                CHECK(seen_at(window, row.label, 0.98f) > 0);
            }
    }
    CHECK(came_to.size() == desk.task()->free.size());
    // And from the last to the first: what is above the view comes down with its name.
    came_to.clear();
    for (int i = 0; i < 120 && came_to.size() < desk.task()->free.size(); ++i) {
        window.key(KeyCode::tab, true);
        window.frames(2);
        for (const KitGroup& group : kit_of(*desk.task(), desk.gpu(), desk.area()))
            for (const KitRow& row : group.rows) {
                if (row.free == nullptr || window.shell.state.focused != names.id_of(row.field)) continue;
                INFO("back to " << row.label);
                came_to.emplace(row.field);
                CHECK(seen_at(window, row.label, 0.98f) > 0);
            }
    }
    CHECK(came_to.size() == desk.task()->free.size());
}

TEST_CASE("the die lives by itself; the lesson that one goes to from there does not") {
    BuildWindow window("01");
    CHECK(window.session.playing);
    window.session.workspace = Workspace::learn;
    window.frames(2);
    CHECK_FALSE(window.session.playing);
}

TEST_CASE("a row that limits says so, beside a long name and its value too") {
    BuildWindow window("05");
    window.session.build.take(window.session, {{"l2_slices", 16}, {"sm_read_bytes_per_cycle", 128}, {"l1_mshrs", 64}});
    window.settle();
    REQUIRE(window.state().newest()->limits == "l1_mshrs");
    CHECK(seen_at(window, "limits") > 0);
    CHECK(window.clashes() == std::vector<std::string>{});
}

TEST_CASE("a row of several parts says that it limits where one of them does") {
    BuildWindow window("04");
    window.session.build.take(window.session, {{"l2_mb", 0.125}});
    window.settle();
    REQUIRE(window.state().newest()->limits == "l2_slices");
    const std::string kit = window.words("kit");
    REQUIRE(kit.find("its slices: ") != std::string::npos);
    const std::string words = kit.substr(kit.find("its slices: "));
    CHECK(words.substr(0, words.find('\n')).find(", limits") != std::string::npos);
    CHECK(seen_at(window, "limits") > 0);
}

TEST_CASE("every real chip has its name, beside its square or at the end of a line, however many crowd one place") {
    // As a stream has them: dies of 815, 826 and 814 mm2 one above the other, and others at the same time beside them.
    const std::vector<NamedPoint> crowd = {{{250, 60}, 30}, {{252, 66}, 30}, {{249, 71}, 30}, {{236, 62}, 52},
                                           {{233, 69}, 52}, {{231, 58}, 30}, {{190, 75}, 52}, {{247, 78}, 56}};
    const std::vector<Rect> dots = {{90, 20, 20, 20}, {110, 50, 20, 20}};
    for (const Rect& plot : {Rect{40, 0, 260, 240}, Rect{40, 0, 260, 92}}) {
        INFO("a plot " << plot.h << " high");
        const auto places = places_of_names(crowd, dots, plot);
        REQUIRE(places.size() == crowd.size());
        size_t led = 0;
        for (size_t i = 0; i < places.size(); ++i) {
            INFO("name " << i);
            REQUIRE(places[i]);
            const Rect& label = places[i]->label;
            CHECK(label.w == crowd[i].width);
            CHECK((label.x >= plot.x && label.right() <= plot.right() && label.y >= plot.y &&
                   label.bottom() <= plot.bottom()));
            const auto free_of = [&](const Rect& other) {
                return label.x >= other.right() || other.x >= label.right() || label.y >= other.bottom() ||
                       other.y >= label.bottom();
            };
            for (const Rect& dot : dots) CHECK(free_of(dot));
            for (const NamedPoint& point : crowd) CHECK_FALSE(label.contains(point.at));
            for (size_t j = 0; j < i; ++j) CHECK(free_of(places[j]->label));
            if (!places[i]->led) {  // near enough to be read with its square
                const float x = std::clamp(crowd[i].at.x, label.x, label.right()),
                            y = std::clamp(crowd[i].at.y, label.y, label.bottom());
                CHECK(std::hypot(x - crowd[i].at.x, y - crowd[i].at.y) < 12);
                continue;
            }
            ++led;
            for (size_t j = 0; j < places.size(); ++j)  // a line that leads to a name runs over no other
                for (int step = 0; step <= 100 && j != i; ++step) {
                    const float share = static_cast<float>(step) / 100;
                    const Point from = crowd[i].at, to = places[i]->to;
                    const bool over =
                        places[j]->label.contains({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share});
                    if (over) FAIL_CHECK("the line of " << i << " runs over the name of " << j);
                    if (over) break;
                }
        }
        CHECK(led > 0);
    }
    // Alone it needs no line; where there is no room at all it has no name.
    CHECK_FALSE(places_of_names(std::vector<NamedPoint>{{{100, 50}, 30}}, {}, {40, 0, 260, 92}).front()->led);
    CHECK_FALSE(places_of_names(std::vector<NamedPoint>{{{20, 20}, 60}}, {}, {0, 0, 50, 40}).front().has_value());
}

}  // namespace gui_kit_test
