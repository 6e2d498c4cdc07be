#include "app/gui/window/panel_picture.h"

#include <fmt/format.h>
#include <stb_image_write.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "app/gui/run_file.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/widgets/svg.h"
#include "app/gui/window/gl.h"
#include "core/base/diagnostic.h"
#include "core/base/files.h"
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
    if (shell.wants_picture == Shell::PictureKind::gif) return;  // FilmMaker's
    const Shell::PictureKind kind = std::exchange(shell.wants_picture, Shell::PictureKind::none);
    if (kind == Shell::PictureKind::none) return;
    try {
        Svg svg(static_cast<float>(width), static_cast<float>(height), shell.theme->panel,
                static_cast<float>(shell.fonts.hatch_period));
        if (kind == Shell::PictureKind::svg) shell.state.svg = &svg;
        const uint32_t focused = std::exchange(shell.state.focused, 0);
        shell.still = true;
        renderer.frame({}, width, height, screen_scale, now);  // the pointer is outside: nothing is lit by it
        shell.still = false;
        shell.state.focused = focused;
        shell.state.svg = nullptr;
        const Shell::PanelPlace place = shell.panel_place();
        const PixelBox box = pixels_of(place, width, height);
        const std::filesystem::path file =
            free_name(std::filesystem::absolute(folder), place.name, kind == Shell::PictureKind::svg ? ".svg" : ".png");
        if (kind == Shell::PictureKind::png) {
            write_pixels(box, height, file);
        } else {
            const auto x = static_cast<float>(box.x), y = static_cast<float>(box.y);
            const std::string text = svg.finish({x, y, x + static_cast<float>(box.w), y + static_cast<float>(box.h)});
            if (const std::string why = system::write_durably(file, text); !why.empty())
                throw Failure(fmt::format("'{}' cannot be written: {}", file.string(), why));
        }
        shell.session.post(
            ask::Tell{fmt::format("this panel is saved as {}, {} x {}", file.string(), box.w, box.h), true, file.string()});
    } catch (const Failure& failure) {
        shell.state.svg = nullptr;
        shell.session.post(ask::Tell{"this panel cannot be saved: " + failure.diagnostic.message});
    }
}

std::vector<std::string> film_command(const Shell& shell, const std::string& run, const std::string& film, int width,
                                      int height, float screen_scale) {
    std::vector<std::string> words = {"app",
                                      "--open",
                                      run,
                                      "--record",
                                      film,
                                      "--size",
                                      fmt::format("{}x{}", width, height),
                                      "--theme",
                                      std::string(shell.theme->name),
                                      "--scale",
                                      fmt::format("{:.2f}", std::clamp(shell.text_scale * screen_scale, 0.75f, 2.5f))};
    const auto kernel = shell.session.snapshot()->kernel.run;
    const bool of_kernel = kernel && !machine_at_cluster(shell.session) &&
                           (row_of(shell.session.workspace).shows_kernel || shell.session.workspace == Workspace::kernel);
    int64_t from = shell.session.sm.cycles_begin, to = shell.session.sm.cycles_end;
    if (of_kernel && shell.session.workspace != Workspace::machine && to > from) {
        to = std::min(to, kernel->result.trace.cycles);
        from = std::clamp<int64_t>(from, 0, to);
        if (to > from) words.insert(words.end(), {"--from", std::to_string(from), "--to", std::to_string(to)});
    }
    return words;
}

FilmMaker::~FilmMaker() {
    thread_.request_stop();
}

bool FilmMaker::take(int width, int height, float screen_scale, const std::filesystem::path& folder) {
    if (shell_.wants_picture != Shell::PictureKind::gif) return false;
    shell_.wants_picture = Shell::PictureKind::none;
    Session& session = shell_.session;
    if (busy_) return session.post(ask::Tell{"a film is being made: the next one can be asked for when it is there"}), true;
    try {
        const RunFile run = shell_.run_on_show();
        const std::string text = text_of(run);
        std::string stem = run.kernel ? std::filesystem::path(run.kernel->shown_name()).stem().string() : run.lesson;
        if (stem.empty()) stem = "training";
        const std::filesystem::path film = free_name(std::filesystem::absolute(folder), stem, ".gif");
        const auto kept = std::make_shared<TemporaryFolder>();
        const std::filesystem::path file = kept->path() / (stem + ".lockstep");
        write_file(file, text);
        system::Foreground how{.program = system::own_executable(),
                               .name = "lockstep",
                               .arguments = film_command(shell_, file.string(), film.string(), width, height, screen_scale),
                               .settings = {},
                               .folder = folder};
        busy_ = true;
        session.post(ask::Tell{fmt::format("the film {} is being made, beside your work", film.string()), true});
        thread_ = std::jthread([this, &session, how, film, kept](const std::stop_token& stop) {
            std::string said;
            const auto heard = [&](std::string_view words, bool) {
                said += words;
                return !stop.stop_requested();
            };
            const system::ChildOutcome outcome = system::run_watched(how, "", heard);
            busy_ = false;
            if (stop.stop_requested()) return;
            if (outcome.succeeded())
                return session.post(ask::Tell{fmt::format("the film is saved as {}", film.string()), true, film.string()});
            while (said.ends_with('\n')) said.pop_back();
            said.erase(0, said.rfind('\n') + 1);
            session.post(ask::Tell{"the film cannot be made: " + said});
        });
    } catch (const Failure& failure) {
        session.post(ask::Tell{"the film cannot be made: " + failure.diagnostic.message});
    }
    return true;
}

}  // namespace lockstep::gui
