// Text that people have to read, in every view over a real run: none lies on other text, none is cut at the side, none is
// half hidden, at every size of window and text.
#include <functional>
#include <set>

#include "tests/gui/desk.h"

namespace gui_text_test {

using namespace lockstep;
using namespace lockstep::gui;
using test::Desk;

namespace {

struct Size {
    float w, h, scale;
};
constexpr Size sizes[] = {{1600, 1000, 1}, {1280, 720, 1}, {1280, 720, 2}};

struct Picture {
    std::string name;
    std::function<void()> show;
};

// Chips on a strip of tabs whose text lies at this height of a window of twice the text size, from left to right.
std::vector<std::string> tabs_at(const Desk& desk, float y) {
    std::vector<std::string> names;
    for (const UiState::Written& text : desk.written)
        if (std::abs(text.ink.y - y) < 8) names.push_back(text.text);
    return names;
}

// In a small window a lesson and its pictures take turns: the pictures' own pages, one after the other.
void look_behind_the_lesson(Desk& desk, const std::string& where, std::set<std::string>& found) {
    const std::vector<std::string> tabs = tabs_at(desk, 121);
    if (tabs.size() != 2 || tabs[0] != "Lesson") return;
    const auto note = [&] {
        desk.frames(2);
        desk.session.wait_until_idle(20);
        desk.frame();
        for (const std::string& clash : desk.clashes()) found.insert(where + ": " + clash);
    };
    REQUIRE(desk.click_on(tabs[1]));
    note();
    for (const std::string& page : tabs_at(desk, 185)) {
        if (tabs[1].find(page) == std::string::npos) continue;
        REQUIRE(desk.click_on(page));
        note();
    }
    REQUIRE(desk.click_on(tabs[0]));
}

// Looks at every picture at every size (fonts are built once a size) and notes what is wrong, and where.
void look(Desk& desk, const std::vector<Picture>& pictures, std::set<std::string>& found) {
    for (const Size& size : sizes) {
        if (sanitized && size.w > 1500) continue;  // the small windows clip and leave out more
        desk.size(size.w, size.h, size.scale);
        for (const Picture& picture : pictures) {
            picture.show();
            for (int i = 0; i < 3; ++i) {
                desk.frame();
                desk.session.wait_until_idle(20);
            }
            for (const std::string& clash : desk.clashes())
                found.insert(fmt::format("{}, {}x{} at {}: {}", picture.name, size.w, size.h, size.scale, clash));
            if (size.scale > 1.5f) look_behind_the_lesson(desk, picture.name + ", its pictures, 1280x720 at 2", found);
        }
    }
}

std::vector<std::string> list(const std::set<std::string>& found) {
    return {found.begin(), found.end()};
}

}  // namespace

TEST_CASE("in no view of a training step does text clash", "[long]") {
    Desk desk({.training_steps = 3});
    REQUIRE(desk.session.wait_until_idle(60));
    desk.frames(3);
    std::vector<Picture> pictures;
    for (const ViewRow& row : views())
        if (row.workspace != Workspace::kernel)
            pictures.push_back({std::string(row.name) + " alone", [&] { desk.shell.show_alone(row.name); }});
    for (const Workspace workspace : {Workspace::sm, Workspace::memory, Workspace::training})
        for (int page = 0; page < (workspace == Workspace::sm ? 3 : 1); ++page)
            pictures.push_back({fmt::format("{} page {}", row_of(workspace).name, page + 1), [&desk, workspace, page] {
                                    desk.shell.show_alone("lesson");
                                    desk.key(KeyCode::escape);
                                    desk.session.workspace = workspace;
                                    desk.shell.show_page(page);
                                }});
    std::set<std::string> found;
    look(desk, pictures, found);
    CHECK(list(found) == std::vector<std::string>{});
}

TEST_CASE("in no kind of scene of the lessons does text clash") {
    std::set<std::string> found, kinds;
    for (const auto& folder : lessons::lesson_folders()) {
        const auto lesson = lessons::load_lesson(folder);
        REQUIRE(lesson.ok());
        std::vector<size_t> steps;  // one for every view that scenes have
        for (size_t step = 0; step < lesson.value().steps.size(); ++step) {
            const auto& scenes = lesson.value().steps[step].scenes;
            if (!scenes.empty() && kinds.insert(scenes.front().view).second) steps.push_back(step);
        }
        if (steps.empty()) continue;
        Desk desk({.lesson = lesson.value().id});
        desk.session.workspace = Workspace::learn;
        std::vector<Picture> pictures;
        for (const size_t step : steps)
            pictures.push_back({fmt::format("{} step {}", lesson.value().id, step + 1), [&desk, step] {
                                    REQUIRE(desk.session.wait_until_idle(60));
                                    desk.frame();
                                    desk.session.lesson.step = static_cast<int>(step);
                                    desk.session.post(ask::ShowLessonStep{static_cast<int>(step)});
                                    REQUIRE(desk.session.wait_until_idle(60));
                                }});
        look(desk, pictures, found);
        std::vector<Picture> answered;  // the same steps once their questions are answered
        for (size_t i = 0; i < pictures.size(); ++i)
            if (!lesson.value().steps[steps[i]].predicts.empty())
                answered.push_back({pictures[i].name + " answered", [&desk, open = pictures[i].show, step = steps[i]] {
                                        open();
                                        auto& given = desk.session.lesson.predictions[step];
                                        for (size_t p = 0; p < given.size(); ++p) {
                                            if (given[p].locked) continue;
                                            given[p].chosen = 0;
                                            given[p].locked = true;
                                            desk.session.post(ask::LockPrediction{p});
                                        }
                                        REQUIRE(desk.session.wait_until_idle(60));
                                    }});
        look(desk, answered, found);
    }
    CHECK(kinds.size() > 8);
    CHECK(list(found) == std::vector<std::string>{});
}

TEST_CASE("once a step is answered, the way on and what the run says are in sight at 1280 x 720") {
    Desk desk({.lesson = "B06"});
    desk.session.workspace = Workspace::learn;
    const auto whole = [&](const std::string& begin) {
        return std::any_of(desk.written.begin(), desk.written.end(), [&](const UiState::Written& text) {
            return text.text.starts_with(begin) && text.ink.y >= text.clip.y && text.ink.bottom() <= text.clip.bottom();
        });
    };
    for (const float scale : {1.0f, 2.0f}) {
        desk.size(1280, 720, scale);
        desk.settle();
        desk.session.lesson.step = 7;  // a title of two lines, answers of two lines
        desk.session.post(ask::ShowLessonStep{7});
        desk.settle();
        CHECK_FALSE(whole("Next step"));
        REQUIRE(desk.session.lesson.predictions.size() > 7);
        for (size_t p = 0; p < desk.session.lesson.predictions[7].size(); ++p) {
            auto& given = desk.session.lesson.predictions[7][p];
            given = {};
            desk.frames(2);
            given.chosen = 0;
            given.locked = true;
            desk.session.post(ask::LockPrediction{p});
        }
        desk.settle();
        INFO("scale " << scale);
        CHECK(whole("you were"));
        CHECK(whole("Next step"));
        // At twice the text size the words to the right answer and to hers are more than fits: they follow by the wheel.
        for (int notch = 0; scale > 1 && notch < 20 && !whole("before."); ++notch) {
            Input down;
            down.mouse_x = 200, down.mouse_y = 300;
            down.wheel = -1;
            desk.frame(down);
        }
        CHECK(whole("before."));  // the end of what it says of this answer
        desk.session.lesson.predictions[7].assign(desk.session.lesson.predictions[7].size(), {});
        desk.session.lesson.step = 0;
        desk.session.post(ask::ShowLessonStep{0});
    }
    desk.size(1280, 720, 1);
    desk.settle();
}

TEST_CASE("in no page of the Kernel workspace does text clash") {
    Desk desk({.own_kernel = true});
    desk.session.workspace = Workspace::kernel;
    desk.session.desk.set_text(  // short lines: longer ones go on behind the edge
        "__global__ void k(float *x)\n{\n    x[threadIdx.x] += 1;\n}\n");
    desk.settle();
    std::vector<Picture> pictures;
    for (int page = 0; page < 3; ++page)
        pictures.push_back({fmt::format("kernel page {}", page + 1), [&desk, page] {
                                desk.shell.show_alone("editor");
                                desk.key(KeyCode::escape);
                                desk.shell.show_page(page);
                            }});
    for (const ViewRow& row : views())
        if (row.workspace == Workspace::kernel)
            pictures.push_back({std::string(row.name) + " alone", [&] { desk.shell.show_alone(row.name); }});
    std::set<std::string> found;
    look(desk, pictures, found);
    CHECK(list(found) == std::vector<std::string>{});
}

}  // namespace gui_text_test
