// Measured beside simulated, kernel by kernel: a GPU that somebody measured and the row that models it. A bar a kernel goes
// from the middle, to the left where the model is faster than the GPU and to the right where it is slower; both ends are a
// factor of two. Other pages: training steps and the best kernels against cuBLAS, as they were measured. The model's times
// are those that this program found before; a button runs the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/roofline/measured_data.h"
#include "app/gui/views/roofline/rungs.h"
#include "app/silicon/compare/compare.h"

namespace lockstep::gui {
namespace {

using device::MeasuredGpu;
using device::SiliconHalf;
using device::SiliconReport;

constexpr std::string_view nothing_measured =
    "Nothing was measured on a real GPU: assets/silicon holds no file, so every figure here is simulated.";
constexpr std::string_view how_to_measure = "On a machine with an NVIDIA GPU `lockstep silicon --out F.json` makes one.";

struct MeasuredLine {
    std::string name, note;          // note: the half, or how it was taken
    double measured = 0, other = 0;  // cycles
    double measured_us = 0;
    std::string measured_text, other_text;
    bool judge = false;
    double factor() const { return other / measured; }  // the model's time over the GPU's
};

const SiliconReport* report_of(const Snapshot& snapshot, const MeasuredGpu& gpu) {
    if (!snapshot.silicon) return nullptr;
    for (const SiliconReport& report : *snapshot.silicon)
        if (report.gpu == gpu.file.gpu) return &report;
    return nullptr;
}

// The rungs of the ladder of matrix products.
bool is_rung(const std::string& kernel) {
    return kernel.starts_with("sgemm_");
}

std::vector<MeasuredLine> kernel_lines(const MeasuredGpu& gpu, const SiliconReport* report, bool rungs) {
    std::vector<MeasuredLine> lines;
    if (!report) return lines;
    const device::SiliconPart* const part = gpu.file.part("kernels");
    const double mhz = part ? (part->clock_before_mhz + part->clock_after_mhz) / 2 : 1;
    for (const device::SiliconRow& row : report->rows) {
        if (rungs && !is_rung(row.name)) continue;
        MeasuredLine line{.name = row.name, .measured = row.measured, .other = row.modelled};
        line.judge = row.half == SiliconHalf::judge;
        line.note = line.judge ? "judges" : "fits";
        line.measured_us = row.measured / mhz;
        line.measured_text = time_text(line.measured_us);
        line.other_text = std::isfinite(row.modelled) ? time_text(row.modelled / mhz) : "not run";
        lines.push_back(std::move(line));
    }
    return lines;
}

// The mean error and correlation of both halves, as far as the model has run.
std::string totals_sentence(const std::vector<MeasuredLine>& lines) {
    std::vector<device::SiliconRow> rows;
    for (const MeasuredLine& line : lines)
        if (std::isfinite(line.other))
            rows.push_back({line.name, line.judge ? SiliconHalf::judge : SiliconHalf::fit, line.measured, line.other});
    if (rows.empty()) return fmt::format("{} kernels were measured; the model has run none of them yet.", lines.size());
    const auto half = [&](SiliconHalf which) {
        const device::SiliconTotal total = device::total_of(rows, which);
        if (total.rows == 0) return std::string();
        return fmt::format("{} {} kernels the mean error is {:.0f} %{}", which == SiliconHalf::judge ? "On the" : "on the",
                           fmt::format("{} {}", total.rows, which == SiliconHalf::judge ? "judging" : "fitting"),
                           100 * total.mean_error,
                           std::isnan(total.correlation) ? "" : fmt::format(", the correlation {:.3f}", total.correlation));
    };
    const std::string judge = half(SiliconHalf::judge), fit = half(SiliconHalf::fit);
    std::string text = judge + (judge.empty() || fit.empty() ? "" : "; ") + fit;
    if (judge.empty()) text.replace(0, 1, "O");
    text += fmt::format("; aimed at: below {:.0f} % and above {:.2f} where it judges.", 100 * device::silicon_error_aim,
                        device::silicon_correlation_aim);
    if (rows.size() < lines.size()) text += fmt::format(" {} kernels have not run here.", lines.size() - rows.size());
    return text;
}

class MeasuredView final : public View {
  public:
    explicit MeasuredView(bool rungs) : rungs_(rungs) {}

    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& gpus = session.measured->gpus;
        const std::string title = rungs_ ? "The ladder, published, measured and simulated" : "Measured and simulated";
        if (rungs_ && published_) return draw_published(ui, session, area);
        if (gpus.empty()) {
            const Rect body = ui.panel(area, {.title = title});
            return ui.say_nothing_yet(body, nothing_measured, how_to_measure);
        }
        if (!snapshot->silicon && !asked_ && snapshot->busy.empty()) {
            asked_ = true;
            session.post(ask::CompareMeasured{});
        }
        const MeasuredGpu& gpu = gpus[std::min(gpu_, gpus.size() - 1)];
        const SiliconReport* const report = report_of(*snapshot, gpu);
        const std::string badge = gpu.badge(), sentence = caption(session, *snapshot);
        const Rect body = ui.panel(area, {.title = title,
                                          .right = badge,
                                          .header_badge = gpu.real() ? Provenance::measured : Provenance::none,
                                          .badge = page_ == 0 ? Provenance::simulated : Provenance::none,
                                          .caption = sentence});
        ui.push_scope(rungs_ ? "measured ladder" : "measured");
        float x = body.x;
        if (rungs_)
            published_ = choose_page(ui, x, body.y);
        else
            page_ = ui.segmented(x, body.y, {"kernels", "training steps", "against a yardstick"}, page_);
        x += 8;
        if (gpus.size() > 1)
            for (size_t i = 0; i < gpus.size(); ++i)
                if (ui.chip(x, body.y, gpus[i].file.gpu, i == gpu_)) gpu_ = i;
        if (page_ == 0 && unrun(gpu, report) > 0) {
            const bool busy = !snapshot->busy.empty(), running = busy && snapshot->progress >= 0;
            const std::string label = running ? "Cancel" : fmt::format("run {} on the model", unrun(gpu, report));
            const float width = ui.chip_width(label) + 8;
            if (x + width < body.right()) {
                if (ui.button({x, body.y, width, 26}, label, !running, running || !busy))
                    session.post(running ? Request(ask::Cancel{}) : ask::CompareMeasured{true, rungs_ ? "sgemm_" : ""});
                x += width + 8;
            }
            if (busy && x + 60 < body.right())
                ui.text(x, body.y + 18, snapshot->busy, {.size = 13, .color = ui.theme->ink2, .width = body.right() - x});
        }
        Rect table{body.x, body.y + 36, body.w, body.h - 36};
        if (const std::string says = page_ == 0 ? headline(gpu.file.gpu, kernel_lines(gpu, report, rungs_)) : std::string();
            !says.empty() && table.h > 250) {
            const bool fits = ui.text_width(says, {.size = 20, .weight = 700}) <= table.w;
            ui.text(table.x, table.y + 18, says, {.size = fits ? 20.0f : 16.0f, .weight = 700, .width = table.w});
            table = {table.x, table.y + 34, table.w, table.h - 34};
        }
        if (page_ == 0)
            kernels(ui, kernel_lines(gpu, report, rungs_), table);
        else if (page_ == 1)
            trainings(ui, gpu, table);
        else
            ratios(ui, gpu, table);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const auto& gpus = session.measured->gpus;
        std::string text = rungs_ ? "The ladder, published, measured and simulated\n" : "Measured and simulated\n";
        if (rungs_)
            for (const Rung& rung : published_rungs())
                text += fmt::format("  published, RTX A6000: {}: {:.1f} GFLOP/s, {:.1f} % of cuBLAS, {} lines\n", rung.name,
                                    rung.gflops, 100 * rung.share, rung.lines);
        if (gpus.empty()) return text + fmt::format("  {}\n  {}\n", nothing_measured, how_to_measure);
        const MeasuredGpu& gpu = gpus[std::min(gpu_, gpus.size() - 1)];
        text += fmt::format("  {}\n", gpu.badge());
        for (const MeasuredLine& line : kernel_lines(gpu, report_of(*snapshot, gpu), rungs_))
            text += fmt::format("  {} ({}): measured {}, simulated {}\n", line.name, line.note, line.measured_text,
                                line.other_text);
        if (const auto* part = gpu.file.part("training"); part && !rungs_)
            for (const device::SiliconTraining& training : part->trainings)
                text += fmt::format("  training step {}, batch {}: {}, {} launches\n", training.name, training.batch,
                                    time_text(training.time_us), training.launches);
        if (const auto* part = gpu.file.part("ratios"))
            for (const device::SiliconRatio& ratio : part->ratios)
                text += fmt::format("  {}: {:.4g} {}, {:.0f} % of {}\n", ratio.name, ratio.value, ratio.unit,
                                    100 * ratio.ratio(), ratio.of);
        return text + "  " + caption(session, *snapshot) + "\n";
    }

  private:
    bool rungs_ = false, asked_ = false;
    bool published_ = true;  // of the rungs: the first page
    std::vector<Rung> ladder_;
    int page_ = 0;
    size_t gpu_ = 0;
    float height_ = 0;

    // Of the rungs: whether the published ones are chosen; else the page of measurements is set.
    bool choose_page(Ui& ui, float& x, float y) {
        const int chosen = ui.segmented(x, y, {"published", "kernels", "against cuBLAS"},
                                        published_   ? 0
                                        : page_ == 0 ? 1
                                                     : 2);
        if (chosen > 0) page_ = chosen == 1 ? 0 : 2;
        return chosen == 0;
    }

    void draw_published(Ui& ui, Session& session, const Rect& area) {
        const bool measured = !session.measured->gpus.empty();
        if (ladder_.empty()) ladder_ = published_rungs();  // once: it counts the lines of files
        const std::string sentence =
            std::string(
                "Published by S. Boehm, 2022 (siboehm.com/articles/22/CUDA-MMM); lines are those of kernels/sgemm and "
                "their headers, without comments. Rung 7 is rung 6 with its sizes tuned.") +
            (measured ? "" : " Nothing was measured on a real GPU here.");
        const Rect body = ui.panel(area, {.title = "The ladder, published, measured and simulated",
                                          .right = "RTX A6000, 4,096 x 4,096, FP32",
                                          .caption = sentence});
        ui.push_scope("measured ladder");
        float x = body.x;
        if (measured) published_ = choose_page(ui, x, body.y);
        draw_rungs(ui, ladder_, {body.x, body.y + (measured ? 36.0f : 4.0f), body.w, body.h - (measured ? 36 : 4)});
        ui.pop_scope();
    }

    // How far off the model's times are; before it has run, between which the measured ones lie.
    static std::string headline(const std::string& gpu, const std::vector<MeasuredLine>& lines) {
        if (lines.size() < 2) return {};
        std::vector<double> off;
        size_t slower = 0;
        for (const MeasuredLine& line : lines)
            if (std::isfinite(line.other)) {
                off.push_back(std::abs(line.factor() - 1));
                slower += line.factor() > 1;
            }
        if (off.empty()) {
            const auto by_time = [](const MeasuredLine& a, const MeasuredLine& b) { return a.measured < b.measured; };
            const auto [least, most] = std::minmax_element(lines.begin(), lines.end(), by_time);
            return fmt::format("On the {}: {} ({}) to {} ({})", gpu, least->measured_text, least->name, most->measured_text,
                               most->name);
        }
        std::sort(off.begin(), off.end());
        return fmt::format("Half of {} kernels are off by {:.0f} % at most; of all, {} too slow in the model", off.size(),
                           100 * off[(off.size() - 1) / 2], slower);
    }

    size_t unrun(const MeasuredGpu& gpu, const SiliconReport* report) const {
        const auto lines = kernel_lines(gpu, report, rungs_);
        return static_cast<size_t>(
            std::count_if(lines.begin(), lines.end(), [](const MeasuredLine& line) { return !std::isfinite(line.other); }));
    }

    std::string caption(const Session& session, const Snapshot& snapshot) const {
        const auto& gpus = session.measured->gpus;
        const MeasuredGpu& gpu = gpus[std::min(gpu_, gpus.size() - 1)];
        if (page_ == 1) return "Median of many steps on the host's clock, data on the GPU.";
        if (page_ == 2) return "The yardstick did the same work on the same GPU, right before.";
        const SiliconReport* const report = report_of(snapshot, gpu);
        if (!report)
            return gpu.model.empty() ? fmt::format("No row of the GPU table models {}.", gpu.file.gpu) : "Looking it up.";
        return totals_sentence(kernel_lines(gpu, report, rungs_));
    }

    // Rows below the head of a table (20 high), each under a hairline; they scroll. `row` draws one at y.
    template <class Rows, class Row>
    void scrolled_rows(Ui& ui, std::string_view name, const Rect& r, float pitch, const Rows& rows, Row&& row) {
        const Rect page{r.x, r.y + 20, r.w + 8, r.h - 20};
        float y = page.y - ui.scroll(name, page, height_);
        ui.clip(page);
        for (const auto& one : rows) {
            if (y + pitch >= page.y && y <= page.bottom()) {
                ui.line({r.x, y}, {r.right(), y}, ui.theme->grid);
                row(one, y);
            }
            y += pitch;
        }
        ui.unclip();
        height_ = pitch * static_cast<float>(rows.size()) + 4;
    }

    // Where a time stands among the measured ones, on powers of ten with some room at both ends.
    static double share_of(double us, double least, double most) {
        return std::log(us / least * 1.3) / std::log(most / least * 1.3 * 1.3);
    }
    static void draw_decades(Ui& ui, const Rect& plot, double least, double most) {
        for (double mark = 1; mark < 1e7; mark *= 10) {
            const double share = share_of(mark, least, most);
            if (share < 0 || share > 1) continue;
            const float x = plot.x + plot.w * static_cast<float>(share);
            ui.rect({x, plot.y + 18, 1, plot.h - 18}, ui.theme->grid);
            ui.text(x, plot.y + 12, time_text(mark), {.size = 12, .color = ui.theme->ink2, .align = Align::center});
        }
    }

    void kernels(Ui& ui, const std::vector<MeasuredLine>& lines, const Rect& r) {
        const Theme& theme = *ui.theme;
        if (lines.empty()) return ui.say_nothing_yet(r, "No kernel of the pack is in this file.");
        const float pitch = 24, note = r.w > 620 ? 64.f : 0.f, time = 84;
        const float name = std::clamp(r.w * 0.28f, 120.f, 250.f);
        const Rect plot{r.x + name + note + 2 * time + 16, r.y, r.w - name - note - 2 * time - 118, r.h};
        const float middle = plot.x + plot.w / 2;
        const TextStyle head{.size = 12, .color = theme.ink2},
            head_right{.size = 12, .color = theme.ink2, .align = Align::right};
        ui.text(r.x, r.y + 12, "kernel", head);
        if (note > 0) ui.text(r.x + name, r.y + 12, "half", head);
        ui.text(r.x + name + note + time, r.y + 12, "measured", head_right);
        ui.text(r.x + name + note + 2 * time, r.y + 12, "simulated", head_right);
        const bool scale = plot.w > 190, none = std::none_of(lines.begin(), lines.end(), [](const MeasuredLine&line) {
                                             return std::isfinite(line.other);
                                         });
        double least = 1e300, most = 0;  // of the measured times, which are drawn as long as the model's are not there
        for (const MeasuredLine& line : lines)
            least = std::min(least, line.measured_us), most = std::max(most, line.measured_us);
        if (scale && none) {
            draw_decades(ui, plot, least, most);
        } else if (scale) {
            ui.text(plot.x, r.y + 12, "x0.5", head);
            ui.text(middle, r.y + 12, "equal", {.size = 12, .color = theme.ink2, .align = Align::center});
            ui.text(plot.right(), r.y + 12, "x2", head_right);
        }
        if (r.w - name - note - 2 * time > 96)
            ui.text(r.right(), r.y + 12, "of measured", {.size = 12, .color = theme.ink2, .align = Align::right});
        scrolled_rows(ui, "kernels", r, pitch, lines, [&](const MeasuredLine& line, float y) {
            ui.text(r.x, y + 17, line.name, {.size = 13, .mono = true, .width = name - 8});
            if (note > 0)
                ui.text(r.x + name, y + 17, line.note, {.size = 12, .color = theme.quiet, .weight = line.judge ? 600 : 400});
            ui.text(r.x + name + note + time, y + 17, line.measured_text, {.size = 13, .align = Align::right, .mono = true});
            ui.text(r.x + name + note + 2 * time, y + 17, line.other_text,
                    {.size = 13,
                     .color = std::isfinite(line.other) ? theme.ink : theme.quiet,
                     .align = Align::right,
                     .mono = true});
            if (none && scale && most > least) {
                const double share = share_of(line.measured_us, least, most);
                ui.rect({plot.x, y + 12, plot.w, 1}, theme.grid);
                ui.circle({plot.x + plot.w * static_cast<float>(share), y + 12.5f}, 5,
                          color_of(Provenance::measured, theme));
            }
            if (!std::isfinite(line.other)) return;
            if (plot.w > 60) {
                const double share = std::clamp(std::log2(line.factor()), -1.0, 1.0);
                const float end = middle + static_cast<float>(share) * plot.w / 2;
                const Rect bar{std::min(middle, end), y + 7, std::max(1.f, std::abs(end - middle)), 11};
                ui.rect({plot.x, y + 7, plot.w, 11}, theme.grid);
                // Twin code: a model that is slower than the GPU is hatched too.
                ui.rect(bar, line.factor() < 1 ? data::sky : data::orange);
                if (line.factor() >= 1) ui.hatch(bar, data::orange, Hatch::diagonal);
                ui.line({middle, y + 4}, {middle, y + 21}, theme.ink);
            }
            ui.text(r.right(), y + 17, fmt::format("{:.0f} %", 100 * line.factor()),
                    {.size = 13, .align = Align::right, .mono = true});
        });
    }

    void trainings(Ui& ui, const MeasuredGpu& gpu, const Rect& r) {
        const Theme& theme = *ui.theme;
        const device::SiliconPart* const part = gpu.file.part("training");
        if (!part || part->trainings.empty()) return ui.say_nothing_yet(r, "No training step was measured on this GPU.");
        const bool wide = r.w > 560;  // else without launches and loss
        const float columns[] = {r.x, r.x + r.w * (wide ? 0.42f : 0.6f), r.x + r.w * 0.6f,
                                 wide ? r.x + r.w * 0.8f : r.right(), r.right()};
        static constexpr std::string_view heads[] = {"model and mode", "batch", "launches a step", "time a step",
                                                     "loss off host"};
        const auto shown = [&](size_t c) { return wide || (c != 2 && c != 4); };
        for (size_t c = 0; c < std::size(heads); ++c)
            if (shown(c))
                ui.text(columns[c], r.y + 12, heads[c],
                        {.size = 12, .color = theme.ink2, .align = c == 0 ? Align::left : Align::right});
        scrolled_rows(ui, "trainings", r, 24, part->trainings, [&](const device::SiliconTraining& it, float y) {
            const std::string cells[] = {it.name, std::to_string(it.batch), std::to_string(it.launches),
                                         time_text(it.time_us), fmt::format("{:.1e}", it.host_difference)};
            for (size_t c = 0; c < std::size(cells); ++c)
                if (shown(c))
                    ui.text(columns[c], y + 17, cells[c],
                            {.size = 13, .align = c == 0 ? Align::left : Align::right, .mono = c > 0});
        });
    }

    void ratios(Ui& ui, const MeasuredGpu& gpu, const Rect& r) {
        const Theme& theme = *ui.theme;
        const device::SiliconPart* const part = gpu.file.part("ratios");
        if (!part || part->ratios.empty()) return ui.say_nothing_yet(r, "No yardstick was measured on this GPU.");
        const float name = std::clamp(r.w * 0.26f, 110.f, 240.f), figure = 130;
        ui.text(r.x, r.y + 12, "kernel", {.size = 12, .color = theme.ink2});
        ui.text(r.x + name + figure, r.y + 12, "reaches", {.size = 12, .color = theme.ink2, .align = Align::right});
        if (r.w - name - figure > 170)
            ui.text(r.x + name + figure + 16, r.y + 12, "share of the yardstick", {.size = 12, .color = theme.ink2});
        scrolled_rows(ui, "ratios", r, 36, part->ratios, [&](const device::SiliconRatio& it, float y) {
            ui.text(r.x, y + 17, it.name, {.size = 13, .mono = true, .width = name - 8});
            ui.text(r.x + name + figure, y + 17, fmt::format("{:.4g} {}", it.value, it.unit),
                    {.size = 13, .align = Align::right, .mono = true});
            const Rect track{r.x + name + figure + 16, y + 22, r.w - name - figure - 16, 6};
            ui.text(track.x, y + 17,
                    fmt::format("{:.0f} % of {}: {:.4g} {}", 100 * it.ratio(), it.of, it.yardstick, it.unit),
                    {.size = 13, .width = track.w});
            ui.rect(track, theme.grid);
            ui.rect({track.x, track.y, track.w * static_cast<float>(std::clamp(it.ratio(), 0.0, 1.0)), track.h},
                    data::green);
        });
    }
};

}  // namespace

std::unique_ptr<View> make_measured_view() {
    return std::make_unique<MeasuredView>(false);
}
std::unique_ptr<View> make_measured_ladder_view() {
    return std::make_unique<MeasuredView>(true);
}

}  // namespace lockstep::gui
