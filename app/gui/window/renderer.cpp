// The OpenGL3 half that the window and the offscreen renderer share.
#include "app/gui/window/renderer.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>

#include "app/gui/window/gl.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

Renderer::Renderer(Shell& shell) : shell_(shell) {
    if (!ImGui_ImplOpenGL3_Init("#version 330 core"))
        throw Failure("OpenGL 3.3 is needed to draw and is not there (package libgl1-mesa-dri)", ExitStatus::missing);
    shell.state.upload = [](TextureId old, int w, int h, const Color* pixels) {
        GLuint texture = static_cast<GLuint>(old);
        GLint bound = 0;
        glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
        if (texture == 0) glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(bound));
        return TextureId{texture};
    };
    shell.state.remove = [](TextureId old) {
        const auto texture = static_cast<GLuint>(old);
        glDeleteTextures(1, &texture);
    };
}

Renderer::~Renderer() {
    for (auto& [id, picture] : shell_.state.pictures)
        if (picture.texture != 0) shell_.state.remove(picture.texture);
    shell_.state.pictures.clear();
    shell_.state.upload = {};
    shell_.state.remove = {};
    ImGui_ImplOpenGL3_Shutdown();
}

void Renderer::frame(const Input& input, int width, int height, float screen_scale, double now) {
    if (width <= 0 || height <= 0) return;
    ImGuiIO& io = ImGui::GetIO();
    if (shell_.prepare(screen_scale)) {
#if IMGUI_VERSION_NUM < 19200
        ImGui_ImplOpenGL3_DestroyFontsTexture();
        ImGui_ImplOpenGL3_CreateFontsTexture();
#endif
    }
    io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
    io.DeltaTime = static_cast<float>(std::clamp(now - last_, 1e-4, 1.0));
    last_ = now;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    shell_.frame(input, static_cast<float>(width), static_cast<float>(height), now);
    ImGui::Render();
    glViewport(0, 0, width, height);
    const Color back = shell_.theme->panel;  // the shell draws the gaps: filling pixels twice is what software GL pays for
    glClearColor(static_cast<float>(back & 0xFF) / 255, static_cast<float>((back >> 8) & 0xFF) / 255,
                 static_cast<float>((back >> 16) & 0xFF) / 255, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace lockstep::gui
