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
    shell.state.upload = [this](TextureId old, int w, int h, const Color* pixels) {
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
        damage_.changed(texture);
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

bool Renderer::frame(const Input& input, int width, int height, float screen_scale, double now) {
    if (width <= 0 || height <= 0) return false;
    ImGuiIO& io = ImGui::GetIO();
    if (shell_.prepare(screen_scale)) {
#if IMGUI_VERSION_NUM < 19200
        if (begun_) {  // the first frame's texture is made by NewFrame; a second one would never be freed
            ImGui_ImplOpenGL3_DestroyFontsTexture();
            ImGui_ImplOpenGL3_CreateFontsTexture();
        }
#endif
        anew_ = true;
        damage_.forget();
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
    if (std::exchange(theme_, shell_.theme) != shell_.theme) damage_.forget();  // the ground has another colour
    const std::vector<PixelArea> boxes = damage_.of(*ImGui::GetDrawData(), width, height);
    draw_part(boxes, width, height);
    return !boxes.empty();
}

void Renderer::draw_whole(int width, int height) {
    draw_part({{0, 0, width, height}}, width, height);
}

void Renderer::clear(int x, int y, int width, int height) {
    const Color back = shell_.theme->panel;  // the shell draws the gaps: filling pixels twice is what software GL pays for
    glClearColor(static_cast<float>(back & 0xFF) / 255, static_cast<float>((back >> 8) & 0xFF) / 255,
                 static_cast<float>((back >> 16) & 0xFF) / 255, 1);
    glEnable(GL_SCISSOR_TEST);
    glScissor(x, y, width, height);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
}

void Renderer::draw_page(ImDrawList& list, int width, int height) {
    upload_letters();
    glViewport(0, 0, width, height);
    clear(0, 0, width, height);
    ImDrawData data;
    data.Valid = true;
#if IMGUI_VERSION_NUM >= 19200
    data.AddDrawList(&list);
    data.Textures = ImGui::GetDrawData()->Textures;
#else
    ImDrawList* lists[] = {&list};
    data.CmdLists = lists;
    data.CmdListsCount = 1;
    data.TotalIdxCount = list.IdxBuffer.Size;
    data.TotalVtxCount = list.VtxBuffer.Size;
#endif
    data.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
    data.FramebufferScale = ImVec2(1, 1);
    ImGui_ImplOpenGL3_RenderDrawData(&data);
}

void Renderer::draw_part(const std::vector<PixelArea>& boxes, int width, int height) {
    glViewport(0, 0, width, height);
    for (const PixelArea& box : boxes) clear(box.left, height - box.bottom, box.right - box.left, box.bottom - box.top);
    ImDrawData& data = *ImGui::GetDrawData();
    // The lists keep their corners and get, for this drawing, the shapes and commands that are needed.
    std::vector<PartOfList> parts(static_cast<size_t>(data.CmdListsCount));
    const auto exchange = [&] {
        for (int l = 0; l < data.CmdListsCount; ++l) {
            data.CmdLists[l]->IdxBuffer.swap(parts[static_cast<size_t>(l)].indices);
            data.CmdLists[l]->CmdBuffer.swap(parts[static_cast<size_t>(l)].commands);
        }
    };
    for (int l = 0; l < data.CmdListsCount; ++l) take_part(*data.CmdLists[l], boxes, parts[static_cast<size_t>(l)]);
    exchange();
    ImGui_ImplOpenGL3_RenderDrawData(&data);  // new textures are uploaded here too
    exchange();
}

}  // namespace lockstep::gui
