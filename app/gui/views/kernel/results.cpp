// What came out of the run: time and counts with where they come from, what the kernel printed, and each output as a picture
// with its first values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/kernel/kernel_values.h"
#include "app/gui/views/roofline/measured_data.h"
#include "app/gui/views/timeline/compare_facts.h"
#include "core/base/units.h"
#include "core/model/metrics/bound.h"
#include "core/model/sample/sampling.h"

namespace lockstep::gui {
namespace {

constexpr size_t most_in_picture = size_t{1} << 22;

// How long it takes is what is guessed.
constexpr std::string_view hidden_text = "Its times and counts stay hidden until you lock your guess on the roofline.";

// The run waits for a guess, or will once it stands on the roofline.
bool is_guessed(const Session& session) {
    return session.roof.guessing() || (session.roof.guess_first && session.desk.typing);
}

std::string caption_of(const Snapshot& snapshot, uint64_t version, bool guessed) {
    const auto& result = snapshot.own.result;
    if (!result || (!result->run && !result->refused)) return "The kernel has not run yet.";  // a program has
    std::string text;
    if (result->refused)
        text = result->cancelled ? "The run was cancelled." : "The kernel did not run: the reports say why.";
    else if (result->run->result.fault)
        text = fmt::format("{} stopped the kernel: counts and outputs are those of half a run.",
                           result->run->result.fault->kind);
    else if (guessed)
        text = hidden_text;
    else if (result->timed)
        text = fmt::format("{} took {} on the modelled {}, worked out here in {}.", result->kernel,
                           counted(result->run->result.cycles, "cycle"), result->run->gpu.title,
                           wall_time_text(result->seconds));
    else
        text = fmt::format("{} ran without timing, warps in {} order, in {}.", result->kernel,
                           name_of(result->settings.order), wall_time_text(result->seconds));
    if (result->run && result->run->result.sampling && !guessed)
        text += " " + model::short_words_of(*result->run->result.sampling);
    if (result->version != version) text += " The text is another one now.";
    return text;
}

class ResultsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& result = snapshot->own.result;
        const bool guessed = is_guessed(session);
        const std::string sentence = caption_of(*snapshot, session.desk.version(), guessed);
        const bool ran = result && result->run;
        const Rect body = ui.panel(area, {.title = "Results",
                                          .right = ran ? result->run->gpu.title : std::string_view(),
                                          .badge = !ran                                          ? Provenance::none
                                                   : result->timed && !result->run->result.fault ? Provenance::simulated
                                                                                                 : Provenance::executed,
                                          .caption = sentence});
        if (!ran) {
            const std::string why = result && result->refused ? result->refused->message : "The kernel has not run yet.";
            return ui.say_nothing_yet(
                body, why, snapshot->busy.empty() ? "Its outputs, counts and printed lines appear here." : snapshot->busy);
        }
        adopt(result);
        ui.push_scope("results");
        const float offset = ui.scroll("page", {body.x, body.y - 4, body.w + 10, body.h + 4}, height_);
        ui.clip({body.x - 8, body.y - 4, body.w + 12, body.h + 4});
        const Rect r{body.x, body.y, body.w - 4, body.h};
        float y = r.y - offset;
        y = guessed ? ways_out(ui, session, r, y) : numbers(ui, *result, r, y);
        if (const auto measured = measured_beside(session, *result); measured && !guessed) {
            draw_measured(ui, r.x, y + 14, r.right(), *measured, result->run->result.time_us);
            y += 28;
        }
        y = printed(ui, *result, r, y);
        for (size_t i = 0; i < outputs_.size(); ++i) y = output(ui, outputs_[i], i, r, y);
        if (outputs_.empty()) {
            ui.text(r.x, y + 16, "No argument is an out: or inout: buffer, so nothing is read back.",
                    {.size = 13, .color = ui.theme->ink2, .width = r.w});
            y += 26;
        }
        height_ = y + offset - r.y;
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const auto& result = snapshot->own.result;
        if (!result || !result->run)
            return "Results: " +
                   (result && result->refused ? result->refused->message : std::string("the kernel has not run yet.")) +
                   "\n";
        const auto& run = result->run->result;
        std::string text = fmt::format("Results of {} on {}\n", result->kernel, result->run->gpu.title);
        const bool guessed = is_guessed(session);
        if (result->timed && !run.fault && !guessed)
            text += fmt::format("  {}, {:.2f} µs (simulated)\n  {}\n", counted(run.cycles, "cycle"), run.time_us,
                                model::trust_in(model::bound_of(run)));
        if (const auto measured = measured_beside(session, *result); measured && !guessed)
            text += fmt::format("  {}\n", measured_sentence(*measured, run.time_us));
        if (!guessed)
            text += fmt::format("  {} warp instructions, {} thread instructions (executed)\n",
                                with_commas(static_cast<int64_t>(run.warp_instructions)),
                                with_commas(static_cast<int64_t>(run.thread_instructions)));
        if (!result->printed.empty()) text += "  printed:\n" + result->printed + "\n";
        for (const scene::BoundArgument& bound : result->bound.arguments) {
            if (bound.role != scene::KernelArgument::Role::out && bound.role != scene::KernelArgument::Role::inout) continue;
            const Buffer buffer = buffer_of(bound, *result->run->before, *result->after);
            text += fmt::format("  {} {}: {}\n    {}\n", buffer.name, buffer.type_text, sentence_of(buffer),
                                first_values(buffer, 16));
        }
        return text + "  " + caption_of(*snapshot, session.desk.version(), guessed) + "\n";
    }

  private:
    std::shared_ptr<const KernelResult> result_;
    std::vector<Buffer> outputs_;
    uint64_t pictures_ = 0;
    float height_ = 0;

    // Where the guess is locked, and how to do without: both stand where the figures are missed.
    static float ways_out(Ui& ui, Session& session, const Rect& r, float y) {
        ui.text(r.x, y + 16, "You chose to guess first, on the roofline.", {.size = 13, .width = r.w});
        float x = r.x;
        y += 26;
        if (ui.button({x, y, ui.text_width("To the roofline", {.size = 14, .weight = 600}) + 28, 28}, "To the roofline",
                      true))
            session.workspace = Workspace::memory;
        x += ui.text_width("To the roofline", {.size = 14, .weight = 600}) + 40;
        if (ui.chip(x, y + 2, "show without") && session.roof.current() != nullptr) session.roof.current()->guessing = false;
        return y + 40;
    }

    static std::optional<device::MeasuredKernel> measured_beside(const Session& session, const KernelResult& result) {
        return result.timed ? measured_of(session, *result.run) : std::nullopt;
    }

    static std::string value_text(const Buffer& buffer, size_t i) {
        const std::byte* at = buffer.after.data() + i * size_of(buffer.type);
        return buffer.role == scene::KernelArgument::Role::out && is_unset(buffer.type, at) ? "unset"
                                                                                            : text_at(buffer.type, at);
    }

    static std::string first_values(const Buffer& buffer, size_t most) {
        std::string text;
        for (size_t i = 0; i < std::min(buffer.count(), most); ++i) text += (i ? "  " : "") + value_text(buffer, i);
        return text + (buffer.count() > most ? "  ..." : "");
    }

    static float numbers(Ui& ui, const KernelResult& result, const Rect& r, float y) {
        const Theme& theme = *ui.theme;
        const auto& run = result.run->result;
        struct Tile {
            std::string value, unit;
            Provenance from;
        };
        std::vector<Tile> tiles;
        if (result.timed && !run.fault) {
            tiles.push_back({with_commas(run.cycles), "cycles", Provenance::simulated});
            tiles.push_back(
                {run.time_us < 1000 ? fmt::format("{:.2f}", run.time_us) : fmt::format("{:.2f}", run.time_us / 1000),
                 run.time_us < 1000 ? "µs" : "ms", Provenance::simulated});
        }
        tiles.push_back(
            {with_commas(static_cast<int64_t>(run.warp_instructions)), "warp instructions", Provenance::executed});
        if (!result.timed || run.fault)
            tiles.push_back(
                {with_commas(static_cast<int64_t>(run.thread_instructions)), "thread instructions", Provenance::executed});
        const float w = (r.w - 8 * static_cast<float>(tiles.size() - 1)) / static_cast<float>(tiles.size());
        for (size_t i = 0; i < tiles.size(); ++i) {
            const Rect box{r.x + static_cast<float>(i) * (w + 8), y, w, 62};
            ui.rect(box, theme.panel2, 4);
            ui.frame(box, theme.line, 1, 4);
            ui.text(box.x + 10, box.y + 26, tiles[i].value, {.size = 18, .weight = 700, .width = w - 16});
            std::string unit = tiles[i].unit;
            if (const size_t at = unit.find("instructions");
                ui.text_width(unit, {.size = 12}) > w - 16 && at != std::string::npos)
                unit.replace(at, 12, "instr.");
            ui.text(box.x + 10, box.y + 46, unit, {.size = 12, .color = theme.ink2, .width = w - 16});
            if (tiles[i].from == Provenance::executed && result.timed && w > 170) {
                const float width = ui.text_width("executed", {.size = 12}) + 16;
                ui.badge(box.right() - width - 8, box.y + 22, Provenance::executed);
            }
            if (tiles[i].from == Provenance::simulated && ui.hovered(box))
                ui.tooltip("simulated; " + model::trust_in(model::bound_of(run)));
        }
        y += 72;
        if (!result.timed || run.fault) return y;
        // The metrics that explain most, each as the table of metrics computes it.
        static constexpr std::string_view wanted[] = {"ipc",
                                                      "issue_slot_utilization",
                                                      "achieved_occupancy",
                                                      "lanes_per_issue",
                                                      "sectors_per_request",
                                                      "dram_utilization",
                                                      "l1_hit_rate",
                                                      "shared_passes_per_request"};
        std::vector<const model::Metric*> shown;
        for (const std::string_view name : wanted)
            for (const model::Metric& metric : run.metrics)
                if (metric.name == name && std::isfinite(metric.value)) shown.push_back(&metric);
        const size_t across = r.w >= 420 ? 2 : 1, count = std::min<size_t>(shown.size(), 6);
        const float column = r.w / static_cast<float>(across);
        for (size_t i = 0; i < count; ++i) {
            const float x = r.x + (column + 8) * static_cast<float>(i % across),
                        line = y + 20 * static_cast<float>(i / across) + 13;
            const std::string name = metric_words(shown[i]->name);
            const std::string unit =
                shown[i]->unit.size() <= 6 ? " " + std::string(shown[i]->unit) : "";  // else the name has it
            const float end =
                ui.text(x + column - (across > 1 ? 12.0f : 0.0f), line, fmt::format("{:.4g}{}", shown[i]->value, unit),
                        {.size = 12, .align = Align::right, .mono = true});
            ui.text(x, line, name, {.size = 13, .color = theme.ink2, .width = end - x - 8});
            if (ui.hovered({x, line - 14, column, 20}))
                ui.tooltip(fmt::format("{}\n{:.6g} {}", shown[i]->nsight, shown[i]->value, shown[i]->unit));
        }
        return y + 20 * static_cast<float>((count + across - 1) / across) + 10;
    }

    static float printed(Ui& ui, const KernelResult& result, const Rect& r, float y) {
        if (result.printed.empty()) return y;
        const Theme& theme = *ui.theme;
        ui.text(r.x, y + 14, "printed by the kernel", {.size = 13, .color = theme.ink2});
        y += 22;
        std::vector<std::string_view> lines;
        const std::string_view all = result.printed;
        for (size_t at = 0; at < all.size() && lines.size() < 12;) {
            const size_t end = std::min(all.find('\n', at), all.size());
            lines.push_back(all.substr(at, end - at));
            at = end + 1;
        }
        const auto total = static_cast<size_t>(std::count(all.begin(), all.end(), '\n')) + (all.back() == '\n' ? 0 : 1);
        ui.rect({r.x, y, r.w, 18 * static_cast<float>(lines.size()) + 10}, theme.code, 4);
        for (size_t i = 0; i < lines.size(); ++i)
            ui.text(r.x + 10, y + 18 + 18 * static_cast<float>(i), lines[i], {.size = 13, .mono = true, .width = r.w - 20});
        y += 18 * static_cast<float>(lines.size()) + 16;
        if (total > lines.size() || result.printed_more) {
            ui.text(r.x, y + 8, fmt::format("{}{} in all", result.printed_more ? "more than " : "", counted(total, "line")),
                    {.size = 12, .color = theme.quiet});
            y += 20;
        }
        return y + 6;
    }

    void adopt(const std::shared_ptr<const KernelResult>& result) {
        if (result_ == result) return;
        result_ = result;
        ++pictures_;
        outputs_.clear();
        for (const scene::BoundArgument& argument : result->bound.arguments)
            if (argument.role == scene::KernelArgument::Role::out || argument.role == scene::KernelArgument::Role::inout)
                outputs_.push_back(buffer_of(argument, *result->run->before, *result->after));
    }

    static bool is_plane(const Buffer& buffer) {  // that a heat map can show
        return buffer.shape.size() == 2 && buffer.shape[0] > 1 && buffer.shape[1] > 1 && buffer.shape[0] <= 2048 &&
               buffer.shape[1] <= 2048 && buffer.count() <= most_in_picture;
    }

    float output(Ui& ui, const Buffer& buffer, size_t index, const Rect& r, float y) const {
        const Theme& theme = *ui.theme;
        ui.line({r.x, y}, {r.right(), y}, theme.grid);
        const float end = ui.text(r.x, y + 22, buffer.name, {.size = 14, .weight = 700, .mono = true});
        ui.text(end + 10, y + 22, buffer.type_text,
                {.size = 13, .color = theme.ink2, .mono = true, .width = r.right() - end - 10});
        ui.text(r.x, y + 42, sentence_of(buffer), {.size = 13, .color = theme.ink2, .width = r.w});
        y += 52;
        if (buffer.facts.finite > 0 && buffer.count() > 1)
            y = is_plane(buffer) ? heat_map(ui, buffer, index, r, y) : plot(ui, buffer, r, y);
        size_t begin = 0;  // of what was written
        while (begin < buffer.count() && begin < size_t{1} << 20 && value_text(buffer, begin) == "unset") ++begin;
        if (begin >= buffer.count() || begin >= size_t{1} << 20) begin = 0;
        ui.text(r.x, y + 14, begin == 0 ? "first values" : fmt::format("values from index {} on", begin),
                {.size = 12, .color = theme.quiet});
        y += 20;
        const size_t most = 16;
        const float cell = std::max(72.0f, r.w / std::floor(std::max(1.0f, r.w / 76)));
        const auto columns = static_cast<size_t>(std::max(1.0f, std::floor(r.w / cell + 0.01f)));
        for (size_t i = 0; i < std::min(most, buffer.count() - begin); ++i) {
            const float x = r.x + cell * static_cast<float>(i % columns + 1) - 8,
                        line = y + 14 + 18 * static_cast<float>(i / columns);
            const std::string value = value_text(buffer, begin + i);
            ui.text(x, line, value,
                    {.size = 12,
                     .color = value == "unset" ? theme.quiet : theme.ink,
                     .align = Align::right,
                     .mono = true,
                     .width = cell - 8});
        }
        const size_t rows = (std::min(most, buffer.count() - begin) + columns - 1) / columns;
        return y + 18 * static_cast<float>(rows) + 14;
    }

    // Lowest and highest value of each pixel column.
    static float plot(Ui& ui, const Buffer& buffer, const Rect& r, float y) {
        const Theme& theme = *ui.theme;
        const float left = 62, height = 84;
        const Rect box{r.x + left, y + 4, r.w - left, height};
        double low = std::min(0.0, buffer.facts.low), high = std::max(0.0, buffer.facts.high);
        if (low == high) high = low + 1;
        const auto y_of = [&](double v) { return box.bottom() - static_cast<float>((v - low) / (high - low)) * box.h; };
        ui.rect(box, theme.code);
        const size_t count = buffer.count(), size = size_of(buffer.type);
        const auto columns = std::min<size_t>(count, static_cast<size_t>(std::max(8.0f, box.w / 2)));
        const float pitch = box.w / static_cast<float>(columns);
        for (size_t c = 0; c < columns; ++c) {
            const size_t from = c * count / columns, to = std::max(from + 1, (c + 1) * count / columns);
            double a = INFINITY, b = -INFINITY;
            const size_t step = std::max<size_t>(1, (to - from) / 64);
            for (size_t i = from; i < to; i += step) {
                const double v = number_at(buffer.type, buffer.after.data() + i * size);
                if (std::isfinite(v) && !(buffer.role == scene::KernelArgument::Role::out &&
                                          is_unset(buffer.type, buffer.after.data() + i * size)))
                    a = std::min(a, v), b = std::max(b, v);
            }
            const float x = box.x + pitch * static_cast<float>(c), w = std::max(1.0f, pitch - (pitch > 4 ? 1.0f : 0.0f));
            if (!(a <= b)) continue;
            const double clipped_a = std::clamp(a, low, high), clipped_b = std::clamp(b, low, high);
            const float top = std::min(y_of(clipped_b), y_of(0)), bottom = std::max(y_of(clipped_a), y_of(0));
            ui.rect({x, top, w, std::max(1.0f, bottom - top)}, faded(theme.accent, 0.85f));
        }
        ui.line({box.x, y_of(0)}, {box.right(), y_of(0)}, theme.ink3);
        const auto label = [&](double v, float at) {
            const double value = v;
            std::string text = fmt::format("{:.3g}", value);
            ui.text(box.x - 6, at, text, {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        };
        label(high, box.y + 10);
        label(low, box.bottom());
        ui.text(box.x, box.bottom() + 15, "index 0", {.size = 12, .color = theme.quiet});
        ui.text(box.right(), box.bottom() + 15, with_commas(static_cast<int64_t>(count) - 1),
                {.size = 12, .color = theme.quiet, .align = Align::right});
        return box.bottom() + 24;
    }

    float heat_map(Ui& ui, const Buffer& buffer, size_t index, const Rect& r, float y) const {
        const Theme& theme = *ui.theme;
        const auto rows = static_cast<int>(buffer.shape[0]), columns = static_cast<int>(buffer.shape[1]);
        const float scale = std::min((r.w - 150) / static_cast<float>(columns), 190.0f / static_cast<float>(rows));
        const Rect box{r.x, y + 4, std::max(4.0f, scale * static_cast<float>(columns)),
                       std::max(4.0f, scale * static_cast<float>(rows))};
        const bool both = buffer.facts.low < 0 && buffer.facts.high > 0;
        const double most = std::max(std::abs(buffer.facts.low), std::abs(buffer.facts.high)),
                     range = buffer.facts.high - buffer.facts.low;
        const auto share = [&](double v) {
            return static_cast<float>(both ? 0.5 + v / (2 * most) : range > 0 ? (v - buffer.facts.low) / range : 0.5);
        };
        ui.push_scope(fmt::format("output {}", index));
        ui.picture("map", pictures_ * 2 + (theme.dark ? 1 : 0), columns, rows, box, [&](std::span<Color> pixels) {
            for (size_t i = 0; i < pixels.size() && i < buffer.count(); ++i) {
                const std::byte* const at = buffer.after.data() + i * size_of(buffer.type);
                const double v = number_at(buffer.type, at);
                const bool unset = buffer.role == scene::KernelArgument::Role::out && is_unset(buffer.type, at);
                const auto row = i / static_cast<size_t>(columns), column = i % static_cast<size_t>(columns);
                pixels[i] = unset ? ((row / 2 + column / 2) % 2 == 0 ? theme.code : mix(theme.code, theme.ink3, 0.5f))
                            : !std::isfinite(v) ? data::vermillion
                            : both              ? diverging(share(v), theme)
                                                : sequential(share(v), theme);
            }
        });
        ui.pop_scope();
        ui.frame(box, theme.line);
        if (ui.hovered(box)) {
            const auto row = static_cast<size_t>((ui.mouse.y - box.y) / scale),
                       column = static_cast<size_t>((ui.mouse.x - box.x) / scale);
            const size_t i = row * static_cast<size_t>(columns) + column;
            if (i < buffer.count())
                ui.tooltip(fmt::format("{}[{}][{}] = {}", buffer.name, row, column,
                                       text_at(buffer.type, buffer.after.data() + i * size_of(buffer.type))));
        }
        // the colour scale
        const float x = box.right() + 14;
        const float high = std::min(120.0f, box.h - 12);
        for (int i = 0; i < 12; ++i) {
            const float t = static_cast<float>(i) / 11;
            ui.rect({x, box.y + high - high * static_cast<float>(i + 1) / 12, 14, high / 12 + 1},
                    both ? diverging(t, theme) : sequential(t, theme));
        }
        ui.text(x + 20, box.y + 10, fmt::format("{:.3g}", both ? most : buffer.facts.high),
                {.size = 12, .color = theme.ink2, .mono = true});
        ui.text(x + 20, box.y + high, fmt::format("{:.3g}", both ? -most : buffer.facts.low),
                {.size = 12, .color = theme.ink2, .mono = true});
        ui.text(r.x, box.bottom() + 15,
                fmt::format("{}, {}{}", counted(rows, "row"), counted(columns, "column"),
                            buffer.facts.untouched > 0 ? "; chequered: never written" : ""),
                {.size = 12, .color = theme.quiet});
        return box.bottom() + 24;
    }
};

}  // namespace

std::unique_ptr<View> make_results_view() {
    return std::make_unique<ResultsView>();
}

}  // namespace lockstep::gui
