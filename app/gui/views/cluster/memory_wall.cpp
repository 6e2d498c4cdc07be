// The memory wall: how arithmetic, memory and links have grown from GPU to GPU (left), and from how many tokens a GPU and
// step on a step computes longer than it exchanges gradients (right). Everything is worked out from the tables of GPUs and
// links.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/collective/collective_data.h"
#include "core/comm/network/network.h"
#include "core/model/gpus/gpu_spec.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view wall_title = "Memory wall and network wall";
constexpr std::string_view wall_hidden = "Hidden until you lock an answer.";

double wall_flops(const model::GpuSpec& gpu) {  // TFLOP/s in 16 bits
    return std::max({gpu.fp16_tensor_tflops.value, gpu.fp16_tflops.value, gpu.fp32_tflops.value});
}

std::vector<const model::GpuSpec*> wall_gpus() {  // with NVLink, one a year of announcement: the first
    std::vector<const model::GpuSpec*> all;
    for (const model::GpuSpec& gpu : model::gpus())
        if (gpu.nvlink_gb_per_second.value > 150 && gpu.year.value > 0 && gpu.name != "teaching" &&
            std::none_of(all.begin(), all.end(), [&](const auto* one) { return one->year.value == gpu.year.value; }))
            all.push_back(&gpu);
    std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->year.value < b->year.value; });
    return all;
}

struct WallLine {
    std::string_view name;
    Color color;
    Hatch twin;
    double (*of)(const model::GpuSpec&);
};
constexpr WallLine wall_lines[] = {
    {"arithmetic", data::vermillion, Hatch::solid, wall_flops},
    {"memory bandwidth", data::sky, Hatch::horizontal, [](const model::GpuSpec& g) { return g.dram_gb_per_second.value; }},
    {"link bandwidth", data::green, Hatch::diagonal, [](const model::GpuSpec& g) { return g.nvlink_gb_per_second.value; }},
    {"memory size", data::purple, Hatch::dots, [](const model::GpuSpec& g) { return g.memory_gb.value; }}};

struct Exchange {  // of one step's gradients, in 16 bits
    double parameters = 0, flops = 0;
    std::string gpu;
    struct Over {
        std::string link;
        double us = 0, tokens = 0;  // from which on computing takes longer
    };
    std::vector<Over> over;
    double compute_us(double tokens) const { return 6 * parameters * tokens / (flops * 1e6); }
};

// The NVLink that the GPU has, and the InfiniBand of its years.
std::string inner_of(const model::GpuSpec& gpu, const scene::ClusterScene& scene) {
    for (const comm::LinkRow& row : comm::links())
        if (row.name.starts_with("nvlink") && std::fabs(2 * row.gigabytes_per_s - gpu.nvlink_gb_per_second.value) < 1)
            return std::string(row.name);
    return scene.setup.network.inner;
}
std::string between_of(const model::GpuSpec& gpu, const scene::ClusterScene& scene) {
    return gpu.year.value >= 2022 ? "ib-ndr" : scene.setup.network.link;
}

Exchange exchange_of(const scene::ClusterScene& scene) {
    Exchange made;
    made.parameters = scene.setup.memory.parameters;
    const auto gpu = model::gpu_named(scene.setup.memory.gpu);
    if (!gpu.ok()) return made;
    made.gpu = gpu.value().title;
    made.flops = wall_flops(gpu.value());
    const double n = std::max(2, scene.setup.memory.gpus);
    std::vector<std::string> names = {inner_of(gpu.value(), scene), between_of(gpu.value(), scene), "10gbe"};
    for (size_t i = 0; i < names.size(); ++i) {
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i))
            continue;
        for (const comm::LinkRow& row : comm::links())
            if (row.name == names[i]) {
                const double us = 2 * (n - 1) / n * 2 * made.parameters / (row.gigabytes_per_s * 1000);
                made.over.push_back({std::string(row.title), us, us / std::max(1e-12, made.compute_us(1))});
            }
    }
    return made;
}

std::string tokens_text(double tokens) {
    return tokens >= 1000 ? fmt::format("{:.3g} k", tokens / 1000) : fmt::format("{:.3g}", tokens);
}

class MemoryWallView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene) {
            const Rect body = ui.panel(area, {.title = wall_title});
            return ui.say_nothing_yet(body, "Nothing has been worked out yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(wall_hidden) : caption_of(*scene);
        const Rect body = ui.panel(
            area, {.title = wall_title, .right = "16-bit peaks, dense", .badge = Provenance::derived, .caption = caption});
        if (hidden) return ui.say_nothing_yet(body, wall_hidden);
        Rect rest = body;
        if (const std::string says = headline_of(); !says.empty() && body.h > 260) {
            const bool fits = ui.text_width(says, {.size = 22, .weight = 700}) <= body.w;
            ui.text(body.x, body.y + 22, says, {.size = fits ? 22.0f : 16.0f, .weight = 700, .width = body.w});
            rest = {body.x, body.y + 42, body.w, body.h - 42};
        }
        draw_both(ui, *scene, rest);
    }

    void draw_both(Ui& ui, const scene::ClusterScene& scene, const Rect& body) const {
        if (body.w > 400) {
            const float half = std::floor((body.w - 24) / 2);
            draw_growth(ui, {body.x, body.y, half, body.h});
            draw_exchange(ui, scene, {body.x + half + 24, body.y, body.w - half - 24, body.h});
        } else {
            const float half = std::floor((body.h - 12) / 2);
            draw_growth(ui, {body.x, body.y, body.w, half});
            draw_exchange(ui, scene, {body.x, body.y + half + 12, body.w, half});
        }
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->cluster) return std::string(wall_title) + ": nothing yet.\n";
        std::string text = fmt::format("{} (derived)\n", wall_title);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(wall_hidden) + "\n";
        for (const model::GpuSpec* gpu : wall_gpus()) {
            text += fmt::format("  {} {}:", gpu->year.value, gpu->title);
            for (const WallLine& line : wall_lines) text += fmt::format(" {} {:.4g},", line.name, line.of(*gpu));
            text += fmt::format(" {:.0f} operations a byte of memory\n",
                                wall_flops(*gpu) * 1000 / gpu->dram_gb_per_second.value);
        }
        const Exchange exchange = exchange_of(*snapshot->cluster);
        for (const Exchange::Over& one : exchange.over)
            text += fmt::format("  gradients of {:.3g} parameters over {}: {}, as long as {} tokens compute on one {}\n",
                                exchange.parameters, one.link, time_text(one.us), tokens_text(one.tokens), exchange.gpu);
        return text + "  " + headline_of() + ".\n  " + caption_of(*snapshot->cluster) + "\n";
    }

  private:
    // "In 7 years arithmetic grew 47 times, memory's rate 6.6, links' 5.6"
    static std::string headline_of() {
        const auto all = wall_gpus();
        if (all.size() < 2) return {};
        const auto times = [&](size_t line) { return wall_lines[line].of(*all.back()) / wall_lines[line].of(*all.front()); };
        return fmt::format("In {} years arithmetic grew {:.0f} times, memory's rate {:.1f}, a link's {:.1f}",
                           static_cast<int>(all.back()->year.value - all.front()->year.value), times(0), times(1), times(2));
    }

    static std::string caption_of(const scene::ClusterScene& scene) {
        const auto all = wall_gpus();
        if (all.size() < 2) return {};
        const auto times = [&](const WallLine& line) { return line.of(*all.back()) / line.of(*all.front()); };
        std::string text = fmt::format("From {} to {}: arithmetic x{:.0f}, memory's size x{:.1f}", all.front()->title,
                                       all.back()->title, times(wall_lines[0]), times(wall_lines[3]));
        const Exchange exchange = exchange_of(scene);
        if (!exchange.over.empty())
            text += fmt::format("; over {} gradients hide behind {} tokens a GPU", exchange.over.back().link,
                                tokens_text(exchange.over.back().tokens));
        return text + ".";
    }

    static void draw_growth(Ui& ui, const Rect& area) {
        const Theme& theme = *ui.theme;
        const auto all = wall_gpus();
        if (all.size() < 2 || area.h < 70) return;
        ui.text(area.x, area.y + 13, fmt::format("growth since {}", all.front()->title),
                {.size = 13, .weight = 600, .width = area.w});
        const float names = 118;
        const Rect plot{area.x + 30, area.y + 26, area.w - 30 - names, area.h - 26 - 20};
        double most = 2;
        for (const WallLine& line : wall_lines) most = std::max(most, line.of(*all.back()) / line.of(*all.front()));
        const double first = all.front()->year.value, last = all.back()->year.value;
        const auto x_of = [&](double year) { return plot.x + plot.w * static_cast<float>((year - first) / (last - first)); };
        const auto y_of = [&](double factor) {
            return plot.bottom() - plot.h * static_cast<float>(std::log(std::max(1.0, factor)) / std::log(most * 1.1));
        };
        for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0}) {
            if (factor > most * 1.1) break;
            ui.rect({plot.x, y_of(factor), plot.w, 1}, theme.grid);
            ui.text(plot.x - 6, y_of(factor) + 4, fmt::format("x{:.0f}", factor),
                    {.size = 12, .color = theme.quiet, .align = Align::right});
        }
        float taken = -1e9f;
        for (const model::GpuSpec* gpu : all) {
            const std::string year = std::to_string(gpu->year.value);
            const float x = x_of(gpu->year.value), half = ui.text_width(year, {.size = 12}) / 2;
            if (x - half < taken + 6) continue;
            taken = x + half;
            ui.text(x, plot.bottom() + 18, year, {.size = 12, .color = theme.quiet, .align = Align::center});
        }
        std::vector<float> labels;
        for (const WallLine& line : wall_lines) {
            std::vector<Point> path;
            for (const model::GpuSpec* gpu : all)
                path.push_back({x_of(gpu->year.value), y_of(line.of(*gpu) / line.of(*all.front()))});
            ui.polyline(path, line.color, 2,
                        line.twin == Hatch::solid  ? 0.0f
                        : line.twin == Hatch::dots ? 2.0f
                                                   : 6.0f,
                        line.twin == Hatch::solid ? 0.0f : 3.0f);
            for (size_t i = 0; i < path.size(); ++i) {
                const Rect dot{path[i].x - 4, path[i].y - 4, 8, 8};
                ui.rect(dot, line.color);
                if (ui.hovered({dot.x - 3, dot.y - 3, 14, 14}))
                    ui.tooltip(fmt::format("{}, {}: {} x{:.3g}", all[i]->title, all[i]->year.value, line.name,
                                           line.of(*all[i]) / line.of(*all.front())));
            }
            float y = path.back().y + 4;
            for (bool again = true; again;) {
                again = false;
                for (const float other : labels)
                    if (std::abs(other - y) < 15) y = other + 15, again = true;
            }
            labels.push_back(y);
            ui.text(plot.right() + 8, y,
                    fmt::format("{} x{:.0f}",
                                line.name == "memory bandwidth" ? "memory"
                                : line.name == "link bandwidth" ? "links"
                                                                : line.name,
                                line.of(*all.back()) / line.of(*all.front())),
                    {.size = 12, .color = theme.ink2, .width = names - 10});
        }
    }

    static void draw_exchange(Ui& ui, const scene::ClusterScene& scene, const Rect& area) {
        const Theme& theme = *ui.theme;
        const Exchange exchange = exchange_of(scene);
        if (exchange.over.empty() || exchange.flops <= 0 || area.h < 70) return;
        std::string whose;  // as much of it as there is room for
        for (const std::string& words : {fmt::format("computing against exchanging: {:.3g} billion parameters, {} x {}",
                                                     exchange.parameters / 1e9, scene.setup.memory.gpus, exchange.gpu),
                                         fmt::format("{:.3g} billion parameters, {} x {}", exchange.parameters / 1e9,
                                                     scene.setup.memory.gpus, exchange.gpu),
                                         fmt::format("{} x {}", scene.setup.memory.gpus, exchange.gpu)}) {
            whose = words;
            if (ui.text_width(whose, {.size = 13, .weight = 600}) <= area.w) break;
        }
        ui.text(area.x, area.y + 13, whose, {.size = 13, .weight = 600, .width = area.w});
        const Rect plot{area.x + 44, area.y + 26, area.w - 50, area.h - 26 - 20};
        double low = 1e300, high = 0;
        for (const Exchange::Over& one : exchange.over) low = std::min(low, one.tokens), high = std::max(high, one.tokens);
        const double from = std::pow(10, std::floor(std::log10(low)) - 0.3),
                     to = std::pow(10, std::ceil(std::log10(high)) + 0.3);
        const double bottom = exchange.compute_us(from), top = exchange.compute_us(to);
        const auto x_of = [&](double tokens) {
            return plot.x + plot.w * static_cast<float>(std::log(tokens / from) / std::log(to / from));
        };
        const auto y_of = [&](double us) {
            return plot.bottom() - plot.h * static_cast<float>(std::log(us / bottom) / std::log(top / bottom));
        };
        float taken = -1e9f;
        for (double tokens = std::pow(10, std::ceil(std::log10(from))); tokens <= to; tokens *= 10) {
            ui.rect({x_of(tokens), plot.y, 1, plot.h}, theme.grid);
            const std::string text = tokens_text(tokens);
            const float half = ui.text_width(text, {.size = 12}) / 2;
            if (x_of(tokens) - half < taken + 8 || x_of(tokens) + half > plot.right() - 44) continue;
            taken = x_of(tokens) + half;
            ui.text(x_of(tokens), plot.bottom() + 15, text, {.size = 12, .color = theme.quiet, .align = Align::center});
        }
        ui.text(plot.right(), plot.bottom() + 15, "tokens", {.size = 12, .color = theme.quiet, .align = Align::right});
        for (double us = std::pow(10, std::ceil(std::log10(bottom))); us <= top; us *= 10) {
            ui.rect({plot.x, y_of(us), plot.w, 1}, theme.grid);
            ui.text(plot.x - 6, y_of(us) + 4, time_text(us), {.size = 12, .color = theme.quiet, .align = Align::right});
        }
        const Point line[] = {{x_of(from), y_of(bottom)}, {x_of(to), y_of(top)}};
        ui.polyline(line, data::vermillion, 2);
        double longest = 0;
        for (const Exchange::Over& one : exchange.over) longest = std::max(longest, one.us);
        if (y_of(longest) - 20 > plot.y + 16)  // over the highest level's own words
            ui.text(plot.right() - 46, plot.y + 12, "a step computes", {.size = 12, .align = Align::right});
        static constexpr Color colors[] = {data::sky, data::green, data::purple};
        for (size_t i = 0; i < exchange.over.size(); ++i) {
            const Exchange::Over& one = exchange.over[i];
            const Point level[] = {{plot.x, y_of(one.us)}, {plot.right(), y_of(one.us)}};
            ui.polyline(level, colors[i % 3], 2, 6, 3);
            const Rect dot{x_of(one.tokens) - 4, y_of(one.us) - 4, 8, 8};
            ui.rect(dot, colors[i % 3]);
            ui.frame(dot, theme.ink, 1);
            const std::string words = fmt::format("{}: {} tokens", one.link, tokens_text(one.tokens));
            const float width = ui.text_width(words, {.size = 12});
            const bool left =
                dot.x - width - 6 > plot.x;  // the line of computing lies to the right below, to the left above
            if (left)
                ui.text(dot.x - 6, y_of(one.us) - 5, words, {.size = 12, .color = theme.ink2, .align = Align::right});
            else if (dot.right() + width + 10 < plot.right())
                ui.text(dot.right() + 8, y_of(one.us) + 15, words, {.size = 12, .color = theme.ink2});
            if (ui.hovered({dot.x - 4, dot.y - 4, 16, 16}))
                ui.tooltip(fmt::format("over {} the gradients take {}:\nas long as {} tokens compute", one.link,
                                       time_text(one.us), tokens_text(one.tokens)));
        }
    }
};

}  // namespace

std::unique_ptr<View> make_memory_wall_view() {
    return std::make_unique<MemoryWallView>();
}

}  // namespace lockstep::gui
