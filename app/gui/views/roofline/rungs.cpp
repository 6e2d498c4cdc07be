#include "app/gui/views/roofline/rungs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/gui/views/kernel/source_text.h"
#include "core/base/files.h"
#include "core/validate/validate.h"

namespace lockstep::gui {
namespace {

// Of the same source as the rungs: S. Boehm, "How to optimize a CUDA matmul kernel for cuBLAS-like performance", 2022.
constexpr double cublas_gflops = 23249.6;

// With those of the headers beside it that it includes.
int lines_of_code(const std::string& file) {
    constexpr std::string_view include = "#include \"";
    const auto text = read_file(resource_root() / "kernels" / "sgemm" / file);
    if (!text) return 0;
    int count = 0;
    for (const std::string& line : lines_of(text.value())) {
        const size_t at = line.find_first_not_of(' ');
        if (at == std::string::npos || line.compare(at, 2, "//") == 0) continue;
        ++count;
        if (line.starts_with(include))
            count += lines_of_code(line.substr(include.size(), line.find('"', include.size()) - include.size()));
    }
    return count;
}

}  // namespace

std::vector<Rung> published_rungs() {
    std::vector<Rung> rungs;
    for (const validate::Case& row : validate::cases()) {
        if (row.table != "sgemm") continue;
        Rung rung;
        rung.name = row.name.substr(row.name.find('_') + 1);
        std::replace(rung.name.begin(), rung.name.end(), '_', ' ');
        rung.gflops = row.expected;
        rung.share = row.expected / cublas_gflops;
        rung.against = rungs.empty() ? 0 : row.expected / rungs.back().gflops;
        rung.lines = lines_of_code(std::string(row.file) + ".cu");
        rungs.push_back(std::move(rung));
    }
    return rungs;
}

void draw_rungs(Ui& ui, const std::vector<Rung>& rungs, const Rect& r) {
    const Theme& theme = *ui.theme;
    if (rungs.empty()) return;
    const bool wide = r.w > 720;
    const float names = wide ? 150.0f : 124.0f, strokes = wide ? 170.0f : 62.0f, right = wide ? 150.0f : 76.0f;
    const Rect plot{r.x + names + strokes, r.y + 24, r.w - names - strokes - right, r.h - 24 - 46};
    const float pitch = plot.h / static_cast<float>(rungs.size()), bar = std::clamp(pitch * 0.56f, 12.0f, 34.0f);
    const auto x_of = [&](double share) { return plot.x + plot.w * static_cast<float>(share); };
    const TextStyle head{.size = 12, .color = theme.ink2};
    ui.text(r.x, r.y + 12, "rung", head);
    ui.text(r.x + names, r.y + 12, "lines", head);
    ui.text(r.right(), r.y + 12, wide ? "GFLOP/s, against the rung above" : "GFLOP/s",
            {.size = 12, .color = theme.ink2, .align = Align::right, .width = right + plot.w * 0.3f});
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const float x = x_of(share);
        ui.line({x, plot.y - 4}, {x, plot.bottom()}, share == 1 ? data::yellow : theme.grid, share == 1 ? 2.5f : 1.0f);
        ui.text(x, plot.bottom() + 16, fmt::format("{:.0f} %", 100 * share),
                {.size = 12, .color = theme.ink2, .align = Align::center, .mono = true});
    }
    int most = 1;
    for (const Rung& rung : rungs) most = std::max(most, rung.lines);
    for (size_t i = 0; i < rungs.size(); ++i) {
        const Rung& rung = rungs[i];
        const float y = plot.y + pitch * static_cast<float>(i), middle = y + pitch / 2;
        ui.text(r.x, middle + 5, fmt::format("{}  {}", i + 1, rung.name),
                {.size = std::min(14.0f, 0.75f * pitch), .weight = 600, .width = names - 8});
        if (rung.lines > 0) {
            float x = r.x + names;
            if (wide) {
                const float step = (strokes - 44) / static_cast<float>(most);
                for (int line = 0; line < rung.lines; ++line, x += step)
                    ui.rect({x, middle - bar / 2 + 3, std::max(1.0f, step * 0.6f), bar - 6}, theme.ink3);
                x += 6;
            }
            ui.text(x, middle + 5, std::to_string(rung.lines), {.size = 12, .color = theme.ink2, .mono = true});
        }
        const Rect box{plot.x, middle - bar / 2, std::max(2.0f, x_of(rung.share) - plot.x), bar};
        ui.rect(box, data::blue);
        if (i + 1 < rungs.size()) {  // where the next one begins to gain
            const Point down[] = {{box.right(), box.bottom()}, {box.right(), middle + pitch - bar / 2}};
            ui.polyline(down, theme.ink3, 1, 2, 3);
        }
        const std::string says = fmt::format("{:.1f} %", 100 * rung.share);
        const float w = ui.text_width(says, {.size = 14, .weight = 700});
        if (box.right() + w + 10 < plot.right() - 2)
            ui.text(box.right() + 8, middle + 5, says, {.size = 14, .weight = 700});
        else
            ui.text(box.right() - 8, middle + 5, says,
                    {.size = 14, .color = text_on(data::blue), .align = Align::right, .weight = 700});
        ui.text(r.right() - (wide ? 56.0f : 0.0f), middle + 5, with_commas(std::llround(rung.gflops)),
                {.size = 13, .align = Align::right, .mono = true});
        if (wide && rung.against > 0)
            ui.text(r.right(), middle + 5, fmt::format("x {:.{}f}", rung.against, rung.against < 2 ? 2 : 1),
                    {.size = 13, .color = theme.ink2, .align = Align::right});
    }
    ui.text(plot.right(), plot.bottom() + 34, fmt::format("cuBLAS: {} GFLOP/s", with_commas(std::llround(cublas_gflops))),
            {.size = 12, .color = theme.ink2, .align = Align::right, .weight = 600});
}

}  // namespace lockstep::gui
