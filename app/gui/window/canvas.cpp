#include "app/gui/window/canvas.h"

#include <imgui.h>
#include <stb_image_write.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "app/gui/raster/cpu_canvas.h"
#include "app/gui/widgets/svg.h"
#include "app/gui/window/renderer.h"
#include "core/base/diagnostic.h"
#include "core/system/system.h"

namespace lockstep::gui {

namespace {
struct GlCanvas {
    Offscreen screen;
    Renderer renderer;
    GlCanvas(Shell& shell, int width, int height) : screen(width, height), renderer(shell) {}
};
}  // namespace

struct Canvas::State {
    std::optional<GlCanvas> gl;  // one of the two
    std::optional<CpuCanvas> cpu;
};

Drawing drawing_named(std::string_view name) {
    if (name.empty() || name == "auto") return Drawing::whichever;
    if (name == "gl") return Drawing::opengl;
    if (name == "cpu") return Drawing::cpu;
    throw Failure("--renderer is auto, gl (OpenGL) or cpu (the processor alone), not '" + std::string(name) + "'");
}

Canvas::Canvas(Shell& shell, int width, int height, Drawing how)
    : width_(width), height_(height), state_(std::make_unique<State>()) {
    if (how != Drawing::cpu) try {
            state_->gl.emplace(shell, width, height);
            return;
        } catch (const Failure& failure) {
            if (how == Drawing::opengl || failure.status != ExitStatus::missing) throw;
        }
    state_->cpu.emplace(shell, width, height);
}

Canvas::~Canvas() = default;

bool Canvas::by_opengl() const {
    return state_->gl.has_value();
}

void Canvas::frame(const Input& input, double now) {
    if (state_->gl)
        state_->gl->renderer.frame(input, width_, height_, 1, now);
    else
        state_->cpu->frame(input, 1, now);
}

void Canvas::draw_whole() {
    if (state_->gl) state_->gl->renderer.draw_whole(width_, height_);
}

void Canvas::finish() {
    if (state_->gl) state_->gl->screen.finish();
}

void Canvas::read(std::vector<Color>& pixels) {
    if (state_->gl)
        state_->gl->screen.read(pixels);
    else
        pixels = state_->cpu->pixels();
}

std::string Canvas::png(int top, int rows) {
    std::vector<Color> pixels;
    read(pixels);
    std::string bytes;
    const auto take = [](void* to, void* data, int size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
    };
    const Color* const first = pixels.data() + static_cast<size_t>(top) * static_cast<size_t>(width_);
    stbi_write_png_to_func(take, &bytes, width_, rows > 0 ? rows : height_, 4, first, width_ * 4);
    return bytes;
}

void Canvas::write_png(const std::string& file) {
    std::vector<Color> pixels;
    read(pixels);
    if (stbi_write_png(file.c_str(), width_, height_, 4, pixels.data(), width_ * 4) == 0)
        throw Failure("cannot write the picture to '" + file + "'");
}

namespace {
void draw_settled(Canvas& canvas, Shell& shell) {
    // Each frame may ask the worker for more (a warp's history, then its registers).
    for (int i = 0; i < 4; ++i) {
        canvas.frame({}, 1 + i);
        shell.session.wait_until_idle(20);
    }
    canvas.frame({}, 6);
}
}  // namespace

void render_to_png(Shell& shell, int width, int height, const std::string& file, Drawing how) {
    Canvas canvas(shell, width, height, how);
    draw_settled(canvas, shell);
    canvas.write_png(file);
}

void render_to_pixels(Shell& shell, int width, int height, std::vector<Color>& pixels, Drawing how) {
    Canvas canvas(shell, width, height, how);
    draw_settled(canvas, shell);
    canvas.read(pixels);
}

void render_to_svg(Shell& shell, int width, int height, const std::string& file) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    if (std::error_code error; !folder.empty() && !std::filesystem::is_directory(folder, error))
        throw Failure("cannot write the picture to '" + file + "': there is no such folder");
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    const auto frame = [&](double now) {
        shell.prepare(1);
        ImGui::GetIO().DisplaySize = ImVec2(w, h);
        ImGui::GetIO().DeltaTime = 1.0f / 60;
        ImGui::NewFrame();
        shell.frame({}, w, h, now);
        ImGui::Render();
    };
    for (int i = 0; i < 4; ++i) {  // as for a PNG
        frame(1 + i);
        shell.session.wait_until_idle(20);
    }
    Svg svg(w, h, shell.theme->panel, static_cast<float>(shell.fonts.hatch_period));
    shell.state.svg = &svg;
    frame(6);
    shell.state.svg = nullptr;
    if (const std::string why = system::write_durably(file, svg.finish()); !why.empty())
        throw Failure("cannot write the picture to '" + file + "': " + why);
}

}  // namespace lockstep::gui
