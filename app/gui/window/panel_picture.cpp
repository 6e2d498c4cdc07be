#include "app/gui/window/panel_picture.h"

#include <fmt/format.h>
#include <stb_image_write.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "app/gui/run_file.h"
#include "app/gui/widgets/svg.h"
#include "app/gui/window/gl.h"
#include "core/base/diagnostic.h"
#include "core/system/system.h"

namespace lockstep::gui {

namespace {

struct PixelBox {
    int x = 0, y = 0, w = 0, h = 0;  // from the top
};

PixelBox pixels_of(const Shell::PanelPlace& place, int width, int height) {
    PixelBox box;
    box.x = std::clamp(static_cast<int>(place.x), 0, width - 1);
    box.y = std::clamp(static_cast<int>(place.y), 0, height - 1);
    box.w = std::clamp(static_cast<int>(place.width + 0.5f), 1, width - box.x);
    box.h = std::clamp(static_cast<int>(place.height + 0.5f), 1, height - box.y);
    return box;
}

void write_pixels(const PixelBox& box, int height, const std::filesystem::path& file) {
    std::vector<Color> pixels(static_cast<size_t>(box.w) * static_cast<size_t>(box.h));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(box.x, height - box.y - box.h, box.w, box.h, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    for (Color& pixel : pixels) pixel |= 0xFF000000;
    const Color* const last = pixels.data() + static_cast<size_t>(box.h - 1) * static_cast<size_t>(box.w);
    if (stbi_write_png(file.string().c_str(), box.w, box.h, 4, last, -box.w * 4) == 0)
        throw Failure(fmt::format("'{}' cannot be written", file.string()));
}

}  // namespace

void take_panel_picture(Shell& shell, Renderer& renderer, int width, int height, float screen_scale, double now,
                        const std::filesystem::path& folder) {
    const Shell::PictureKind kind = std::exchange(shell.wants_picture, Shell::PictureKind::none);
    if (kind == Shell::PictureKind::none) return;
    try {
        Svg svg(static_cast<float>(width), static_cast<float>(height), shell.theme->panel,
                static_cast<float>(shell.fonts.hatch_period));
        if (kind == Shell::PictureKind::svg) shell.state.svg = &svg;
        renderer.frame({}, width, height, screen_scale, now);  // the pointer is outside: nothing is lit by it
        shell.state.svg = nullptr;
        const Shell::PanelPlace place = shell.panel_place();
        const PixelBox box = pixels_of(place, width, height);
        const std::filesystem::path file = free_name(folder, place.name, kind == Shell::PictureKind::svg ? ".svg" : ".png");
        if (kind == Shell::PictureKind::png) {
            write_pixels(box, height, file);
        } else {
            const auto x = static_cast<float>(box.x), y = static_cast<float>(box.y);
            const std::string text = svg.finish({x, y, x + static_cast<float>(box.w), y + static_cast<float>(box.h)});
            if (const std::string why = system::write_durably(file, text); !why.empty())
                throw Failure(fmt::format("'{}' cannot be written: {}", file.string(), why));
        }
        shell.session.post(ask::Tell{fmt::format("this panel is saved as {}, {} x {}", file.string(), box.w, box.h), true});
    } catch (const Failure& failure) {
        shell.state.svg = nullptr;
        shell.session.post(ask::Tell{"this panel cannot be saved: " + failure.diagnostic.message});
    }
}

}  // namespace lockstep::gui
