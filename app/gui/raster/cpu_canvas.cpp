#include "app/gui/raster/cpu_canvas.h"

#include <imgui.h>

#include <algorithm>
#include <thread>

#include "core/base/cores.h"

namespace lockstep::gui {

namespace {
constexpr uint64_t atlas_id = 1;

int threads_here() {
    return static_cast<int>(std::clamp(cores(), 1u, 4u));
}
}  // namespace

CpuCanvas::CpuCanvas(Shell& shell, int width, int height) : shell_(shell), raster_(width, height) {
#if IMGUI_VERSION_NUM >= 19200
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
    shell.state.upload = [this](TextureId old, int w, int h, const Color* pixels) {
        const TextureId id = old != 0 ? old : next_++;
        RasterTexture& texture = textures_[id];
        texture.w = w;
        texture.h = h;
        texture.keeps_pixels = true;
        texture.pixels.assign(pixels, pixels + static_cast<size_t>(w) * static_cast<size_t>(h));
        return id;
    };
    shell.state.remove = [this](TextureId id) { textures_.erase(id); };
}

CpuCanvas::~CpuCanvas() {
    shell_.state.pictures.clear();
    shell_.state.upload = {};
    shell_.state.remove = {};
}

// What ImGui has built: white with a coverage, of which a copy is kept.
void CpuCanvas::take_atlas() {
#if IMGUI_VERSION_NUM >= 19200
    for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
        if (texture->Status == ImTextureStatus_OK && atlas_.w == texture->Width && atlas_.h == texture->Height) continue;
        if (texture->Status == ImTextureStatus_WantDestroy) {
            texture->SetTexID(ImTextureID_Invalid);
            texture->SetStatus(ImTextureStatus_Destroyed);
            continue;
        }
        atlas_.w = texture->Width;
        atlas_.h = texture->Height;
        atlas_.coverage.resize(static_cast<size_t>(atlas_.w) * static_cast<size_t>(atlas_.h));
        for (size_t i = 0; i < atlas_.coverage.size(); ++i) {
            const auto bytes = static_cast<size_t>(texture->BytesPerPixel);
            atlas_.coverage[i] = texture->Pixels[i * bytes + bytes - 1];
        }
        texture->SetTexID(static_cast<ImTextureID>(atlas_id));
        texture->SetStatus(ImTextureStatus_OK);
    }
#else
    ImFontAtlas& fonts = *ImGui::GetIO().Fonts;
    unsigned char* coverage = nullptr;
    fonts.GetTexDataAsAlpha8(&coverage, &atlas_.w, &atlas_.h);
    atlas_.coverage.assign(coverage, coverage + static_cast<size_t>(atlas_.w) * static_cast<size_t>(atlas_.h));
    fonts.SetTexID(reinterpret_cast<ImTextureID>(static_cast<uintptr_t>(atlas_id)));
#endif
    if (shell_.fonts.sheet) shell_.fonts.sheet->touch_all();
}

// The letters that were drawn first in this frame.
void CpuCanvas::take_letters() {
    const Fonts& fonts = shell_.fonts;
    if (!fonts.sheet) return;
    const GlyphSheet::Part part = fonts.sheet->take_changed();
    for (int y = part.y; y < part.y + part.h; ++y) {
        const uint8_t* const from =
            fonts.sheet->coverage().data() + static_cast<size_t>(y) * static_cast<size_t>(fonts.sheet->width()) + part.x;
        uint8_t* const to = atlas_.coverage.data() + static_cast<size_t>(fonts.sheet_y + y) * static_cast<size_t>(atlas_.w) +
                            fonts.sheet_x + part.x;
        std::copy(from, from + part.w, to);
    }
}

void CpuCanvas::frame(const Input& input, float screen_scale, double now) {
    ImGuiIO& io = ImGui::GetIO();
    const bool anew = shell_.prepare(screen_scale);
    const auto width = static_cast<float>(raster_.width()), height = static_cast<float>(raster_.height());
    io.DisplaySize = ImVec2(width, height);
    io.DeltaTime = static_cast<float>(std::clamp(now - last_, 1e-4, 1.0));
    last_ = now;
#if IMGUI_VERSION_NUM < 19200
    if (anew || atlas_.w == 0) take_atlas();
#endif
    ImGui::NewFrame();
    shell_.frame(input, width, height, now);
    ImGui::Render();
#if IMGUI_VERSION_NUM >= 19200
    if (anew) atlas_.w = 0;
    take_atlas();
#endif
    take_letters();
    raster_.clear(shell_.theme->panel);
    raster_.draw(
        *ImGui::GetDrawData(),
        [this](uint64_t id) -> const RasterTexture* {
            if (id == atlas_id) return &atlas_;
            const auto found = textures_.find(id);
            return found == textures_.end() ? nullptr : &found->second;
        },
        threads_here());
}

}  // namespace lockstep::gui
