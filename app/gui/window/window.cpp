// The desktop window: GLFW events become Input; a frame is drawn when something happened or moves, else it sleeps.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/gui/window/gl.h"
#include "app/gui/window/input_queue.h"
#include "app/gui/window/notes_window.h"
#include "app/gui/window/panel_picture.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

namespace {

struct Events {
    InputQueue input;
    int wake = 3;         // frames still wanted
    bool covered = true;  // the window's own pixels are lost, or may be
};

Events& events_of(GLFWwindow* window) {
    return *static_cast<Events*>(glfwGetWindowUserPointer(window));
}

KeyCode key_of(int key) {
    if (key >= 32 && key < 127) return static_cast<KeyCode>(key);
    switch (key) {
        case GLFW_KEY_LEFT:
            return KeyCode::left;
        case GLFW_KEY_RIGHT:
            return KeyCode::right;
        case GLFW_KEY_UP:
            return KeyCode::up;
        case GLFW_KEY_DOWN:
            return KeyCode::down;
        case GLFW_KEY_HOME:
            return KeyCode::home;
        case GLFW_KEY_END:
            return KeyCode::end;
        case GLFW_KEY_PAGE_UP:
            return KeyCode::page_up;
        case GLFW_KEY_PAGE_DOWN:
            return KeyCode::page_down;
        case GLFW_KEY_ENTER:
        case GLFW_KEY_KP_ENTER:
            return KeyCode::enter;
        case GLFW_KEY_ESCAPE:
            return KeyCode::escape;
        case GLFW_KEY_TAB:
            return KeyCode::tab;
        case GLFW_KEY_F1:
            return KeyCode::f1;
        case GLFW_KEY_F11:
            return KeyCode::f11;
        case GLFW_KEY_BACKSPACE:
            return KeyCode::backspace;
        case GLFW_KEY_DELETE:
            return KeyCode::delete_;
        case GLFW_KEY_F5:
            return KeyCode::f5;
        case GLFW_KEY_F6:
            return KeyCode::f6;
        case GLFW_KEY_F7:
            return KeyCode::f7;
        case GLFW_KEY_F8:
            return KeyCode::f8;
        case GLFW_KEY_KP_ADD:
            return KeyCode::plus;
        case GLFW_KEY_KP_SUBTRACT:
            return KeyCode::minus;
        default:
            return KeyCode::none;
    }
}

// Letters and signs as the keyboard's own layout has them, not as an American one would.
KeyCode layout_code(int key, int scancode) {
    const char* name = key >= 32 && key < 127 && key != GLFW_KEY_SPACE ? glfwGetKeyName(key, scancode) : nullptr;
    if (name == nullptr || name[0] <= 32 || name[0] >= 127 || name[1] != 0) return key_of(key);
    const char c = name[0];
    return static_cast<KeyCode>(c >= 'a' && c <= 'z' ? c - 32 : c);
}

void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
    Events& events = events_of(window);
    events.wake = 3;
    if (action == GLFW_RELEASE) return;
    events.input.key(
        {layout_code(key, scancode), (mods & GLFW_MOD_SHIFT) != 0, (mods & (GLFW_MOD_CONTROL | GLFW_MOD_SUPER)) != 0});
}

void on_character(GLFWwindow* window, unsigned code) {
    Events& events = events_of(window);
    events.wake = 3;
    events.input.key({KeyCode::none, false, false, static_cast<char32_t>(code)});
}

void on_drop(GLFWwindow* window, int count, const char** paths) {
    Events& events = events_of(window);
    events.wake = 3;
    for (int i = 0; i < count; ++i) events.input.drop(paths[i]);
}

void on_button(GLFWwindow* window, int button, int action, int mods) {
    Events& events = events_of(window);
    events.wake = 3;
    if (button != GLFW_MOUSE_BUTTON_LEFT) return;
    if (action == GLFW_PRESS)
        events.input.press(glfwGetTime(), (mods & GLFW_MOD_SHIFT) != 0);
    else
        events.input.release();
}

void on_move(GLFWwindow* window, double x, double y) {
    Events& events = events_of(window);
    events.wake = std::max(events.wake, 2);
    // The pointer comes in screen coordinates, the frame is drawn in pixels.
    int w = 0, h = 0, pw = 0, ph = 0;
    glfwGetWindowSize(window, &w, &h);
    glfwGetFramebufferSize(window, &pw, &ph);
    events.input.move(static_cast<float>(x) * (w > 0 ? static_cast<float>(pw) / static_cast<float>(w) : 1),
                      static_cast<float>(y) * (h > 0 ? static_cast<float>(ph) / static_cast<float>(h) : 1));
}

}  // namespace

bool has_display() {
    glfwSetErrorCallback([](int, const char*) {});
    return glfwInit() == GLFW_TRUE;
}

WindowPlace fitted(int width, int height, const WindowPlace& screen, const int frame[4]) {
    if (screen.width <= 0 || screen.height <= 0) return {0, 0, width, height};
    const int most_w = screen.width - frame[0] - frame[2], most_h = screen.height - frame[1] - frame[3];
    const int w = std::min(width, std::max(320, most_w)), h = std::min(height, std::max(240, most_h));
    return {screen.x + frame[0] + std::max(0, (most_w - w) / 2), screen.y + frame[1] + std::max(0, (most_h - h) / 2), w, h};
}

namespace {

// Why there is no window although there is a display: told at once, with the version that is there.
[[noreturn]] void refuse_display() {
    std::string there;
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    if (GLFWwindow* any = glfwCreateWindow(320, 240, "Lockstep", nullptr, nullptr)) {
        glfwMakeContextCurrent(any);
        if (const GLubyte* version = glGetString(GL_VERSION)) there = reinterpret_cast<const char*>(version);
        glfwDestroyWindow(any);
    }
    glfwTerminate();
    throw Failure(
        "the window needs OpenGL 3.3, and this display offers " + (there.empty() ? "none" : there) +
            ": set LIBGL_ALWAYS_SOFTWARE=1 to draw without its driver, or use --screenshot F.png, which needs no window",
        ExitStatus::missing);
}

// Hidden, as large as wanted, or as fits the screen with its bars.
GLFWwindow* make_window(int width, int height, bool exact) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_FALSE);  // done here: a size of the last time has it already
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    GLFWwindow* window = glfwCreateWindow(width, height, "Lockstep", nullptr, nullptr);
    if (window == nullptr) refuse_display();
    // Where screen coordinates are pixels, the screen's scale makes the window larger; elsewhere the system does that.
    float scale = 1;
    int pixels = 0, coordinates = 0, ignored = 0;
    glfwGetWindowContentScale(window, &scale, nullptr);
    glfwGetFramebufferSize(window, &pixels, &ignored);
    glfwGetWindowSize(window, &coordinates, &ignored);
    if (!exact && pixels == coordinates && scale > 1) {
        width = static_cast<int>(static_cast<float>(width) * std::min(scale, 3.0f));
        height = static_cast<int>(static_cast<float>(height) * std::min(scale, 3.0f));
    }
    WindowPlace screen;
    if (GLFWmonitor* const monitor = glfwGetPrimaryMonitor())
        glfwGetMonitorWorkarea(monitor, &screen.x, &screen.y, &screen.width, &screen.height);
    int frame[4] = {};
    glfwGetWindowFrameSize(window, &frame[0], &frame[1], &frame[2], &frame[3]);
    const WindowPlace place = fitted(width, height, screen, frame);
    glfwSetWindowSizeLimits(window, std::min(640, place.width), std::min(400, place.height), GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwSetWindowSize(window, place.width, place.height);
    if (screen.width > 0) glfwSetWindowPos(window, place.x, place.y);
    return window;
}

void show_cursor(GLFWwindow* window, UiState::Cursor wanted, UiState::Cursor& shown, GLFWcursor* (&cursors)[3]) {
    if (wanted == shown) return;
    shown = wanted;
    const auto at = static_cast<size_t>(wanted);
    constexpr int shapes[] = {GLFW_ARROW_CURSOR, GLFW_HRESIZE_CURSOR, GLFW_VRESIZE_CURSOR};
    if (cursors[at] == nullptr) cursors[at] = glfwCreateStandardCursor(shapes[at]);
    glfwSetCursor(window, cursors[at]);
}

}  // namespace

bool run_window(Shell& shell, int width, int height, bool exact) {
    if (!has_display()) return false;
    GLFWwindow* const window = make_window(width, height, exact);
    Events events;
    glfwSetWindowUserPointer(window, &events);
    glfwMakeContextCurrent(window);
    glfwSwapInterval(1);
    if (shell.window.whole_screen) glfwMaximizeWindow(window);
    glfwSetWindowAttrib(window, GLFW_AUTO_ICONIFY, GLFW_FALSE);  // who looks into the notes leaves the projected picture
    glfwShowWindow(window);
    glfwSetKeyCallback(window, on_key);
    glfwSetCharCallback(window, on_character);
    glfwSetDropCallback(window, on_drop);
    shell.state.clipboard = [window] {
        const char* text = glfwGetClipboardString(window);
        return std::string(text != nullptr ? text : "");
    };
    shell.state.set_clipboard = [window](const std::string& text) { glfwSetClipboardString(window, text.c_str()); };
    glfwSetMouseButtonCallback(window, on_button);
    glfwSetCursorPosCallback(window, on_move);
    glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int inside) {
        if (inside == GLFW_FALSE) events_of(w).input.move(-1, -1);
        events_of(w).wake = 2;
    });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double, double y) {
        events_of(w).input.turn(static_cast<float>(y));
        events_of(w).wake = 3;
    });
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { events_of(w).wake = 3; });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) { events_of(w).wake = 3; });
    glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) {
        events_of(w).wake = 2;
        events_of(w).covered = true;
    });
    shell.session.on_publish([] { glfwPostEmptyEvent(); });
    {
        Framebuffer pixels([](const char* name) { return static_cast<GlAddress>(glfwGetProcAddress(name)); });
        Renderer renderer(shell);
        FilmMaker films(shell);
        std::optional<NotesWindow> notes;
        if (!shell.say_to_speaker) notes.emplace(shell, window);
        uint64_t version = 0;
        double frame_took = 0.01;
        UiState::Cursor cursor = UiState::Cursor::arrow;
        GLFWcursor* cursors[3] = {};
        int x = 0, y = 0, w = width, h = height;  // to come back from the whole screen
        std::error_code error;
        while (glfwWindowShouldClose(window) == GLFW_FALSE) {
            // What moves by itself takes half a core at most: with software GL the rest is the engine's.
            if (events.wake > 0)
                glfwPollEvents();
            else
                glfwWaitEventsTimeout(shell.wants_frame() ? std::clamp(frame_took, 0.001, 0.1) : 1.0);
            const uint64_t newest = shell.session.snapshot()->version;
            if (newest != version) events.wake = std::max(events.wake, 2);
            version = newest;
            if (events.wake <= 0 && !shell.wants_frame()) continue;
            events.wake = std::max(0, events.wake - 1);
            int pixel_w = 0, pixel_h = 0;
            glfwGetFramebufferSize(window, &pixel_w, &pixel_h);
            if (pixel_w == 0 || pixel_h == 0) {  // iconified
                glfwWaitEventsTimeout(0.2);
                continue;
            }
            float screen_scale = 1;
            glfwGetWindowContentScale(window, &screen_scale, nullptr);
            const Input input = events.input.take();
            if (events.input.more()) events.wake = std::max(events.wake, 1);
            if (glfwGetWindowMonitor(window) == nullptr) {  // to come back with the same size
                shell.window.whole_screen = glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_TRUE;
                if (!shell.window.whole_screen) glfwGetWindowSize(window, &shell.window.width, &shell.window.height);
            }
            const double began = glfwGetTime();
            if (pixels.fit(pixel_w, pixel_h)) renderer.forget(), events.covered = true;
            if (renderer.frame(input, pixel_w, pixel_h, std::clamp(screen_scale, 1.0f, 3.0f), glfwGetTime()))
                events.covered = true;
            films.take(pixel_w, pixel_h, std::clamp(screen_scale, 1.0f, 3.0f), std::filesystem::current_path(error));
            if (shell.wants_picture != Shell::PictureKind::none) events.covered = true, events.wake = 2;
            take_panel_picture(shell, renderer, pixel_w, pixel_h, std::clamp(screen_scale, 1.0f, 3.0f), glfwGetTime(),
                               std::filesystem::current_path(error));
            const bool shows = std::exchange(events.covered, false);
            if (shows) pixels.show(), glfwSwapBuffers(window);
            if (notes) notes->frame(renderer);
            frame_took = glfwGetTime() - began;
            if (!shows) frame_took = std::max(frame_took, 0.012);  // nothing moved that can be seen
            show_cursor(window, shell.state.cursor, cursor, cursors);
            if (shell.fullscreen != (glfwGetWindowMonitor(window) != nullptr)) {
                events.wake = 3;
                if (shell.fullscreen) {
                    glfwGetWindowPos(window, &x, &y);
                    glfwGetWindowSize(window, &w, &h);
                    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
                    const GLFWvidmode* mode = monitor != nullptr ? glfwGetVideoMode(monitor) : nullptr;
                    if (mode != nullptr)
                        glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
                    else
                        shell.fullscreen = false;
                } else {
                    glfwSetWindowMonitor(window, nullptr, x, y, w, h, GLFW_DONT_CARE);
                }
            }
        }
    }
    shell.session.on_publish({});
    shell.keeper.reset();  // what is not written yet is written now
    shell.state.clipboard = {};
    shell.state.set_clipboard = {};
    glfwDestroyWindow(window);
    glfwTerminate();
    return true;
}

}  // namespace lockstep::gui
