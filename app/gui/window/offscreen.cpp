// Pictures without a visible window: one framebuffer in a context of its own, written as a PNG, or shapes alone as an SVG.
#include <imgui.h>
#include <stb_image_write.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "app/gui/widgets/svg.h"
#include "app/gui/window/offscreen_context.h"
#include "app/gui/window/renderer.h"
#include "core/base/diagnostic.h"
#include "core/system/system.h"

namespace lockstep::gui {

struct Offscreen::State {
    OffscreenContext context;
    GlFunctions gl = load_gl(OffscreenContext::address_of);
    GLuint buffer = 0, colour = 0;
};

Offscreen::Offscreen(int width, int height) : width_(width), height_(height), state_(std::make_unique<State>()) {
    const GlFunctions& gl = state_->gl;
    gl.gen_framebuffers(1, &state_->buffer);
    gl.gen_renderbuffers(1, &state_->colour);
    gl.bind_renderbuffer(GL_RENDERBUFFER, state_->colour);
    gl.renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    gl.bind_framebuffer(GL_FRAMEBUFFER, state_->buffer);
    gl.framebuffer_renderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, state_->colour);
    if (gl.check_framebuffer_status(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        throw Failure("no framebuffer of " + std::to_string(width) + "x" + std::to_string(height) +
                      " pixels can be made here");
}

Offscreen::~Offscreen() {
    state_->gl.delete_renderbuffers(1, &state_->colour);
    state_->gl.delete_framebuffers(1, &state_->buffer);
}

void Offscreen::finish() {
    glFinish();
}

void Offscreen::write_png(const std::string& file) {
    std::vector<unsigned char> pixels(static_cast<size_t>(width_) * static_cast<size_t>(height_) * 4);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    for (size_t i = 3; i < pixels.size(); i += 4) pixels[i] = 255;
    const int stride = width_ * 4;  // GL's first row is the lowest
    const unsigned char* last = pixels.data() + static_cast<size_t>(height_ - 1) * static_cast<size_t>(stride);
    if (stbi_write_png(file.c_str(), width_, height_, 4, last, -stride) == 0)
        throw Failure("cannot write the picture to '" + file + "'");
}

void Offscreen::read(std::vector<Color>& pixels) {
    const auto width = static_cast<size_t>(width_), height = static_cast<size_t>(height_);
    pixels.resize(width * height);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    for (size_t low = 0, high = height - 1; low < high; ++low, --high)
        std::swap_ranges(pixels.data() + low * width, pixels.data() + (low + 1) * width, pixels.data() + high * width);
    for (Color& pixel : pixels) pixel |= 0xFF000000;
}

namespace {
void draw_settled(Shell& shell, int width, int height) {  // into the framebuffer that is bound
    Renderer renderer(shell);
    // Each frame may ask the worker for more (a warp's history, then its registers).
    for (int i = 0; i < 4; ++i) {
        renderer.frame({}, width, height, 1, 1 + i);
        shell.session.wait_until_idle(20);
    }
    renderer.frame({}, width, height, 1, 6);
}
}  // namespace

void render_to_png(Shell& shell, int width, int height, const std::string& file) {
    Offscreen screen(width, height);
    draw_settled(shell, width, height);
    screen.write_png(file);
}

void render_to_pixels(Shell& shell, int width, int height, std::vector<Color>& pixels) {
    Offscreen screen(width, height);
    draw_settled(shell, width, height);
    screen.read(pixels);
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
