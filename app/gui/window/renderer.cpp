// The OpenGL3 half that the window and the offscreen renderer share.
#include "app/gui/window/renderer.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>
#if IMGUI_VERSION_NUM >= 19200
#include <imgui_internal.h>
#endif

#include <algorithm>
#include <utility>
#include <vector>

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

// The letters that were drawn first in this frame go into the atlas's texture.
void Renderer::upload_letters() {
    Fonts& fonts = shell_.fonts;
    if (!fonts.sheet) return;
    GlyphSheet& sheet = *fonts.sheet;
    if (std::exchange(anew_, false)) sheet.touch_all();
    const GlyphSheet::Part part = sheet.take_changed();
    if (part.w <= 0 || part.h <= 0) return;
#if IMGUI_VERSION_NUM >= 19200
    ImTextureData* const texture = ImGui::GetIO().Fonts->TexData;
    for (int y = 0; y < part.h; ++y)
        for (int x = 0; x < part.w; ++x) {
            auto* const texel =
                static_cast<unsigned char*>(texture->GetPixelsAt(fonts.sheet_x + part.x + x, fonts.sheet_y + part.y + y));
            for (int c = 0; c < texture->BytesPerPixel - 1; ++c) texel[c] = 255;
            texel[texture->BytesPerPixel - 1] =
                sheet.coverage()[static_cast<size_t>(part.y + y) * static_cast<size_t>(sheet.width()) +
                                 static_cast<size_t>(part.x + x)];
        }
    ImFontAtlasTextureBlockQueueUpload(ImGui::GetIO().Fonts, texture, fonts.sheet_x + part.x, fonts.sheet_y + part.y, part.w,
                                       part.h);
#else
    std::vector<Color> pixels;
    pixels.reserve(static_cast<size_t>(part.w) * static_cast<size_t>(part.h));
    for (int y = 0; y < part.h; ++y) {
        const uint8_t* const row =
            sheet.coverage().data() + static_cast<size_t>(part.y + y) * static_cast<size_t>(sheet.width()) + part.x;
        for (int x = 0; x < part.w; ++x) pixels.push_back((Color{row[x]} << 24) | 0x00FFFFFF);
    }
    GLint bound = 0;
    glGetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(reinterpret_cast<uintptr_t>(ImGui::GetIO().Fonts->TexID)));
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexSubImage2D(GL_TEXTURE_2D, 0, fonts.sheet_x + part.x, fonts.sheet_y + part.y, part.w, part.h, GL_RGBA,
                    GL_UNSIGNED_BYTE, pixels.data());
    glBindTexture(GL_TEXTURE_2D, static_cast<GLuint>(bound));
#endif
}

void Renderer::frame(const Input& input, int width, int height, float screen_scale, double now) {
    if (width <= 0 || height <= 0) return;
    ImGuiIO& io = ImGui::GetIO();
    if (shell_.prepare(screen_scale)) {
#if IMGUI_VERSION_NUM < 19200
        if (begun_) {  // the first frame's texture is made by NewFrame; a second one would never be freed
            ImGui_ImplOpenGL3_DestroyFontsTexture();
            ImGui_ImplOpenGL3_CreateFontsTexture();
        }
#endif
        anew_ = true;
    }
    io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
    io.DeltaTime = static_cast<float>(std::clamp(now - last_, 1e-4, 1.0));
    last_ = now;
    ImGui_ImplOpenGL3_NewFrame();
    begun_ = true;
#if IMGUI_VERSION_NUM < 19200
    if (io.Fonts->TexPixelsRGBA32 != nullptr) {  // the copy that was uploaded: another context makes it anew
        ImGui::MemFree(io.Fonts->TexPixelsRGBA32);
        io.Fonts->TexPixelsRGBA32 = nullptr;
    }
#endif
    ImGui::NewFrame();
    shell_.frame(input, static_cast<float>(width), static_cast<float>(height), now);
    ImGui::Render();
    upload_letters();
    glViewport(0, 0, width, height);
    const Color back = shell_.theme->panel;  // the shell draws the gaps: filling pixels twice is what software GL pays for
    glClearColor(static_cast<float>(back & 0xFF) / 255, static_cast<float>((back >> 8) & 0xFF) / 255,
                 static_cast<float>((back >> 16) & 0xFF) / 255, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace lockstep::gui
