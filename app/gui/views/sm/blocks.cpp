// D6, blocks on SMs: a tile an SM with its block slots, coloured by wave, at the focused cycle; the same over time, a row an
// SM (what is empty at the end of a row is the tail); how many waves there are and what the last one costs; and the limits
// on resident blocks, of which the least is the limiter. Where tiles and rows do not fit together a switch chooses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float least_tiles = 60;                       // high, before the limits that do not bind give way
constexpr size_t most_described = 8, most_columns = 6;  // waves
constexpr size_t most_cells = 1600;                     // more blocks than this: only the running ones are drawn

std::string share_text(double share) {  // percent, with two digits when it is tiny
    return share < 0.01 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share);
}

// The limit that is furthest from binding.
std::vector<LimiterRow>::iterator loosest(std::vector<LimiterRow>& rows) {
    return std::max_element(rows.begin(), rows.end(), [](const LimiterRow& a, const LimiterRow& b) {
        return a.limiter != b.limiter ? a.limiter : a.blocks < b.blocks;
    });
}

std::string waves_text(const WaveFacts& f) {
    if (f.exact < 0.01) return "a sliver of one wave: all blocks fit at once";
    if (f.waves <= 1) return fmt::format("{:.2f} waves: all blocks fit at once", f.exact);
    return fmt::format("{:.2f} waves, last wave {:.0f} % full", f.exact, 100 * f.last_share);
}

// Fewer than fit, though there were enough blocks: the short ones end before the SM is full.
std::string never_full(const model::KernelRun& run, int64_t most) {
    const auto fit = static_cast<int64_t>(run.result.occupancy.blocks);
    if (most <= 0 || most >= fit || static_cast<int64_t>(run.config.grid.count()) < fit * run.gpu.sms.value) return {};
    return fmt::format(" At most {} {} there at once: blocks start one a cycle.", most, most == 1 ? "was" : "were");
}

std::string caption_of(const model::KernelRun& run, const Focus& focus, bool hidden, int64_t most) {
    if (hidden) return "The limits stay hidden until you lock an answer.";
    if (focus.sm >= 0 && focus.sm != static_cast<int32_t>(run.result.trace.sm))
        return fmt::format("SM {} is summarised: only SM {} was traced warp by warp.", focus.sm, run.result.trace.sm);
    if (run.result.fault) return stop_sentence(run) + ": blocks that ran then did not end, and later ones never began.";
    const model::Occupancy& o = run.result.occupancy;
    std::string name = o.limiter.empty() ? "launch" : limiter_names(limiter_rows(run));
    const bool one = name == "shared memory" || name == "your limit" || o.limiter.empty();
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return fmt::format("{} {} at {}: {} of {} warps, occupancy {:.0f} %.{}", name, one ? "stops" : "stop",
                       counted(o.blocks, "block"), o.blocks * o.warps_per_block, run.gpu.warps_per_sm.value,
                       100 * o.fraction, never_full(run, most));
}

class BlocksView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) {
            const Rect body = ui.panel(area, {.title = "Blocks on SMs"});
            return ui.say_nothing_yet(body, "No kernel has run yet.", "Its blocks land on the SMs here, wave by wave.");
        }
        const model::KernelRun& run = *snapshot->kernel.run;
        if (run_ != snapshot->kernel.run) adopt(snapshot->kernel.run);
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string right = header_text(hidden);
        seen_until_ = revealed_until(session, focus, run.result.trace);
        const std::string sentence = caption_of(run, focus, hidden, most_);
        const Rect body = ui.panel(area, {.title = "Blocks on SMs", .badge = Provenance::derived, .caption = sentence});
        ui.push_scope("blocks");
        const bool both = body.h > 400;
        draw_header(ui, session, area, right, both);
        // A low panel keeps the waves and the limiter; the tiles get what is left, the limits that do not bind go first.
        const bool whole = body.h > 184;
        const float waves = whole ? 56 : body.h > 120 ? 40 : 24;
        const auto fit = static_cast<size_t>(std::max(1.0f, (body.h - waves - 6 - least_tiles) / 16));
        const std::vector<LimiterRow> rows = tightest_rows(run, whole ? SIZE_MAX : fit);
        const float limits = 16 * static_cast<float>(rows.size()) + 6;
        const float open_height = body.h - limits - waves;
        const float top_height = both ? std::min(open_height * 0.45f, 260.0f) : open_height;
        const bool tiles = open_height >= 36;
        float used = !tiles || (!both && gantt_) ? 0 : draw_tiles(ui, focus, {body.x, body.y, body.w, top_height});
        if (tiles && (both || gantt_)) {
            draw_gantt(ui, session, focus, {body.x, body.y + used + 4, body.w, open_height - used - 8});
            used = open_height;
        }
        if (hidden) {
            draw_hidden_limits(ui, {body.x, body.y + used + (whole ? 10 : 4), body.w, std::min(60.0f, body.h - used - 6)});
        } else {
            draw_waves(ui, focus, {body.x, body.y + used, body.w, waves});
            draw_limits(ui, {body.x, body.bottom() - limits, body.w, limits}, rows, resident_);
        }
        ui.pop_scope();
    }

    static std::vector<LimiterRow> tightest_rows(const model::KernelRun& run, size_t most) {
        std::vector<LimiterRow> rows = limiter_rows(run);
        while (rows.size() > most) rows.erase(loosest(rows));
        return rows;
    }

    static void draw_hidden_limits(Ui& ui, const Rect& box) {
        ui.dashed(box, ui.theme->ink3);
        ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, "Waves and limits stay hidden until you lock an answer.",
                {.size = 13, .color = ui.theme->ink2, .align = Align::center, .width = box.w});
    }

    // "132 blocks on 80 SMs, room for 8 each"; the room is what a prediction asks for.
    std::string header_text(bool hidden) const {
        const std::string blocks = counted(facts_.blocks, "block");
        if (hidden) return blocks;
        return fmt::format("{} on {}, room for {} each", blocks, counted(sms_, "SM"), resident_);
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) return "Blocks on SMs: no kernel has run yet.";
        const model::KernelRun& run = *snapshot->kernel.run;
        const int64_t sms = run.gpu.sms.value, resident = std::max<int64_t>(1, run.result.occupancy.blocks);
        const WaveFacts facts = wave_facts(static_cast<int64_t>(run.config.grid.count()), sms, resident);
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text = fmt::format("Blocks on SMs (derived): {}", counted(facts.blocks, "block"));
        text += hidden ? "\n" : fmt::format(" on {}, room for {} each\n", counted(sms, "SM"), resident);
        if (!hidden) {
            text += waves_described(run, facts, focus.time);
            for (const LimiterRow& row : limiter_rows(run))
                text += fmt::format("  {}: {} ({}){}\n", row.name, counted(row.blocks, "block"), row.each,
                                    row.limiter ? ", the limiter" : "");
        }
        return text + "  " + caption_of(run, focus, hidden, most_at_once(run.result.trace)) + "\n";
    }

  private:
    static int64_t end_of_wave(const KernelTrace& trace, const WaveFacts& facts, size_t wave) {
        int64_t end = 0;
        for (const BlockRun& block : trace.blocks)
            if (block.block / std::max<int64_t>(1, facts.at_once) == static_cast<int64_t>(wave))
                end = std::max(end, block.end);
        return end;
    }

    static std::string waves_described(const model::KernelRun& run, const WaveFacts& facts, int64_t time) {
        const KernelTrace& trace = run.result.trace;
        std::string text = fmt::format("  {}, efficiency {} %\n", waves_text(facts), share_text(facts.efficiency));
        const auto counts = count_blocks(trace, facts, time);
        const std::vector<size_t> shown = waves_shown(counts, most_described);
        for (const size_t w : shown)
            if (time >= 0)
                text += fmt::format("  wave {} at cycle {}: {} done, {} running, {} to come\n", w + 1, time, counts[w].done,
                                    counts[w].running, counts[w].to_come);
        for (const size_t w : shown) {
            const int64_t end = end_of_wave(trace, facts, w);
            text += fmt::format("  wave {} {} at cycle {}\n", w + 1,
                                run.result.fault && end >= trace.cycles ? "is stopped" : "ends", end);
        }
        if (shown.size() < counts.size())
            text += fmt::format("  {} more waves\n", with_commas(static_cast<int64_t>(counts.size() - shown.size())));
        return text;
    }

    std::shared_ptr<const model::KernelRun> run_;
    uint64_t runs_ = 0;   // shown so far
    bool gantt_ = false;  // the rows over time instead of the tiles
    std::vector<int64_t> wave_ends_;
    WaveFacts facts_;
    int64_t seen_until_ = INT64_MAX;
    int64_t most_ = 0;                                 // blocks that any SM held at one time
    int64_t sms_ = 1, resident_ = 1, depth_ = 1;       // depth: blocks that one slot runs, one after the other
    std::vector<std::vector<const BlockRun*>> slots_;  // by SM * resident + slot, by begin

    void adopt(const std::shared_ptr<const model::KernelRun>& run) {
        run_ = run;
        ++runs_;
        const KernelTrace& trace = run->result.trace;
        sms_ = std::max<int64_t>(1, run->gpu.sms.value);
        resident_ = std::max<int64_t>(1, run->result.occupancy.blocks);
        for (const BlockRun& block : trace.blocks) resident_ = std::max<int64_t>(resident_, block.slot + 1);
        facts_ = wave_facts(static_cast<int64_t>(run->config.grid.count()), sms_,
                            std::max<int64_t>(1, run->result.occupancy.blocks));
        most_ = most_at_once(trace);
        slots_.assign(static_cast<size_t>(sms_ * resident_), {});
        depth_ = 1;
        for (const BlockRun& block : trace.blocks) {
            const auto at = static_cast<size_t>(block.sm * resident_ + block.slot);
            if (at >= slots_.size()) continue;
            slots_[at].push_back(&block);
            depth_ = std::max<int64_t>(depth_, static_cast<int64_t>(slots_[at].size()));
        }
        wave_ends_.assign(static_cast<size_t>(std::min<int64_t>(facts_.waves, 64)), 0);
        for (const BlockRun& block : trace.blocks)
            if (const auto wave = static_cast<size_t>(wave_of(block)); wave < wave_ends_.size())
                wave_ends_[wave] = std::max(wave_ends_[wave], block.end);
    }

    void draw_header(Ui& ui, Session& session, const Rect& area, std::string right, bool both) {
        float end = area.right() - 38;
        const float title = area.x + 12 + ui.text_width("Blocks on SMs", {.size = 14, .weight = 600}) + 20;
        const bool calculator = session.workspace == Workspace::sm && session.sm.page != SmPage::compare;
        const std::string_view label = "Occupancy";
        if (calculator && end - ui.chip_width(label) > title) {
            end -= ui.chip_width(label);
            float x = end;
            const bool open = session.sm.page == SmPage::occupancy;
            if (ui.chip(x, area.y + 2, label, open)) session.sm.page = open ? SmPage::one_run : SmPage::occupancy;
            end -= 8;
        }
        const std::string_view ways[] = {"tiles", "time"};
        if (!both && end - ui.segmented_width(ways) > title) {
            end -= ui.segmented_width(ways);
            float x = end;
            gantt_ = ui.segmented(x, area.y + 2, ways, gantt_ ? 1 : 0) == 1;
            end -= 8;
        }
        const std::string count = counted(facts_.blocks, "block");
        for (const std::string& shorter : {fmt::format("{}, room for {} an SM", count, resident_), count})
            if (ui.text_width(right, {.size = 13}) > end - 4 - title && session.learn.reveal_steps < 0) right = shorter;
        if (end - title > 90)
            ui.text(end - 4, area.y + 20, right,
                    {.size = 13, .color = ui.theme->ink2, .align = Align::right, .width = end - 4 - title});
    }

    // Rows of SMs over time as one picture.
    void draw_gantt(Ui& ui, Session& session, Focus& focus, const Rect& r) const {
        const Theme& theme = *ui.theme;
        const Rect plot{r.x + 30, r.y + 2, r.w - 30, r.h - 22};
        const int64_t cycles = std::max<int64_t>(1, run_->result.trace.cycles);
        const int width = static_cast<int>(plot.w), height = static_cast<int>(plot.h);
        const auto sms = static_cast<int>(sms_);
        if (width < 20 || height < 12 || sms == 0) return;
        const uint64_t version = runs_ * 1000003u + static_cast<uint64_t>(seen_until_) * 31u + (theme.dark ? 1u : 0u);
        ui.picture("gantt", version, width, height, plot, [&](std::span<Color> out) {
            std::fill(out.begin(), out.end(), theme.panel);
            for (int sm = 0; sm < sms; ++sm) {
                const int top = sm * height / sms, bottom = std::max(top + 1, (sm + 1) * height / sms);
                const int tall = bottom - top - (bottom - top > 2 ? 1 : 0);
                paint_sm(out.subspan(static_cast<size_t>(top * width)), theme, sm, width, tall);
            }
        });
        const int step = sms <= 8 ? 1 : sms <= 32 ? 8 : 16;
        for (int sm = 0; sm < sms; sm += step)
            ui.text(plot.x - 8, plot.y + plot.h * (static_cast<float>(sm) + 0.5f) / static_cast<float>(sms) + 5,
                    std::to_string(sm), {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        float free_from = plot.x;
        draw_wave_ends(ui, plot, cycles, free_from);
        draw_stop(ui, plot, free_from);
        if (free_from == plot.x) draw_cycles(ui, plot, std::min(cycles, seen_until_));
        if (focus.time >= 0 && focus.time <= cycles) ui.cursor_line(x_of(plot, focus.time), plot.y, plot.bottom());
        if (ui.hovered(plot)) point_at_gantt(ui, session, focus, plot);
    }

    float x_of(const Rect& plot, int64_t cycle) const {
        const int64_t cycles = std::max<int64_t>(1, run_->result.trace.cycles);
        return plot.x + plot.w * static_cast<float>(static_cast<double>(cycle) / static_cast<double>(cycles));
    }

    // An SM's rows of pixels: a lane a block slot where there is room, else how many of its slots are filled; grey from the
    // SM's last block to the end.
    void paint_sm(std::span<Color> out, const Theme& theme, int sm, int width, int tall) const {
        const auto lanes = static_cast<int>(resident_);
        const double pixel =
            static_cast<double>(width) / static_cast<double>(std::max<int64_t>(1, run_->result.trace.cycles));
        const auto pixel_of = [&](int64_t cycle, int least, int most) {
            return std::clamp(static_cast<int>(static_cast<double>(cycle) * pixel), least, most);
        };
        std::vector<int> filled(static_cast<size_t>(width));
        std::vector<Color> colors(static_cast<size_t>(width));
        const bool apart = tall >= 2 * lanes;
        int64_t last = 0;
        for (int slot = 0; slot < lanes; ++slot)
            for (const BlockRun* block : slots_[static_cast<size_t>(sm * lanes + slot)]) {
                if (block->begin >= seen_until_) continue;
                const int64_t end = std::min(block->end, seen_until_);
                last = std::max(last, end);
                const int x0 = pixel_of(block->begin, 0, width - 1), x1 = pixel_of(end, x0 + 1, width);
                const Color color = wave_color(wave_of(*block), theme);
                for (int x = x0; x < x1; ++x) {
                    ++filled[static_cast<size_t>(x)];
                    colors[static_cast<size_t>(x)] = color;
                }
                for (int y = slot * tall / lanes; apart && y < (slot + 1) * tall / lanes - (tall >= 3 * lanes); ++y)
                    for (int x = x0 + (x1 - x0 > 3); x < x1; ++x) out[static_cast<size_t>(y * width + x)] = color;
            }
        for (int y = 0; y < tall; ++y) {
            const auto row = out.subspan(static_cast<size_t>(y * width), static_cast<size_t>(width));
            if (!apart) paint_filled(row, theme, filled, colors);
            if (seen_until_ == INT64_MAX) paint_tail(row, theme, pixel_of(last, 0, width), y, last > 0);
        }
    }

    void paint_filled(std::span<Color> row, const Theme& theme, const std::vector<int>& filled,
                      const std::vector<Color>& colors) const {
        for (size_t x = 0; x < row.size(); ++x)
            if (filled[x] > 0)
                row[x] = mix(theme.panel, colors[x],
                             0.25f + 0.75f * static_cast<float>(filled[x]) / static_cast<float>(resident_));
    }

    static void paint_tail(std::span<Color> row, const Theme& theme, int from, int y, bool any) {
        for (size_t x = static_cast<size_t>(from); x < row.size(); ++x)
            row[x] = any ? mix(theme.panel, data::grey, (static_cast<int>(x) + y) % 6 < 2 ? 0.4f : 0.2f) : theme.panel;
    }

    void draw_wave_ends(Ui& ui, const Rect& plot, int64_t cycles, float& free_from) const {
        if (wave_ends_.size() > 12 || seen_until_ != INT64_MAX) return;
        for (size_t w = 0; w < wave_ends_.size(); ++w) {
            if (run_->result.fault && wave_ends_[w] >= cycles) continue;  // it did not
            const float x = x_of(plot, wave_ends_[w]) - 1;
            for (float y = plot.y; y < plot.bottom(); y += 7) ui.rect({x, y, 1, 4}, ui.theme->ink);
            const std::string text = fmt::format("wave {} ends {}", w + 1, with_commas(wave_ends_[w]));
            const float wide = ui.text_width(text, {.size = 12}), at = std::min(x - wide / 2, plot.right() - wide);
            if (at < free_from) continue;
            ui.text(at, plot.bottom() + 15, text, {.size = 12, .color = ui.theme->quiet});
            free_from = at + wide + 12;
        }
    }

    void point_at_gantt(Ui& ui, Session& session, Focus& focus, const Rect& plot) const {
        const auto sms = static_cast<int>(sms_);
        const int64_t cycles = std::max<int64_t>(1, run_->result.trace.cycles);
        const auto sm =
            std::clamp<int64_t>(static_cast<int64_t>((ui.mouse.y - plot.y) / plot.h * static_cast<float>(sms)), 0, sms - 1);
        const auto cycle = static_cast<int64_t>((ui.mouse.x - plot.x) / plot.w * static_cast<float>(cycles));
        if (cycle >= seen_until_) return;
        const float tall = plot.h / static_cast<float>(sms);
        if (tall >= 5) ui.outline({plot.x, plot.y + tall * static_cast<float>(sm), plot.w, tall});
        ui.tooltip(fmt::format("cycle {}\n", with_commas(cycle)) +
                   tile_text(sm, cycle, sm == static_cast<int64_t>(run_->result.trace.sm)));
        if (ui.clicked(plot)) {
            focus.sm = static_cast<int32_t>(sm);
            set_clock(session, focus, run_->result.trace, std::min(cycle, cycles - 1));
        }
    }

    // A fault ended the launch at the plot's right edge.
    void draw_stop(Ui& ui, const Rect& plot, float& free_from) const {
        const std::string text = stop_text(*run_);
        if (text.empty() || seen_until_ != INT64_MAX) return;
        ui.rect({plot.right() - 2, plot.y, 2, plot.h}, data::vermillion);
        const float at = plot.right() - ui.text_width(text, {.size = 12, .weight = 600});
        if (at < free_from) return;
        ui.text(at, plot.bottom() + 15, text, {.size = 12, .color = ui.theme->wrong, .weight = 600});
        free_from = plot.right();
    }

    // Where the ends of waves do not say when it is.
    void draw_cycles(Ui& ui, const Rect& plot, int64_t seen) const {
        const TextStyle style{.size = 12, .color = ui.theme->quiet, .align = Align::center, .mono = true};
        const float left = ui.text(plot.x, plot.bottom() + 15, "cycle", {.size = 12, .color = ui.theme->quiet}) + 6;
        const TimeAxis axis{0, std::max<int64_t>(1, run_->result.trace.cycles), plot.x, plot.w};
        const int64_t step = ruler_step(84 / axis.column());
        for (int64_t t = step; t <= seen; t += step) {
            const float x = axis.at(t), half = ui.text_width(with_commas(t), style) / 2;
            if (x - half < left || x + half > plot.right()) continue;
            ui.rect({x, plot.bottom(), 1, 4}, ui.theme->ink3);
            ui.text(x, plot.bottom() + 15, with_commas(t), style);
        }
    }

    Color wave_color(int64_t wave, const Theme& theme) const {
        const auto most = std::max<int64_t>(3, std::min<int64_t>(facts_.waves, 6) - 1);
        const float share = static_cast<float>(wave % (most + 1)) / static_cast<float>(most);
        return sequential(0.85f - 0.6f * share, theme);
    }
    int64_t wave_of(const BlockRun& block) const { return block.block / std::max<int64_t>(1, facts_.at_once); }

    // The blocks in an SM's tile: all of a slot under each other when they fit, else the running one alone; many slots stand
    // in rows.
    struct TileCells {
        bool all = false;
        int64_t across = 1;
        float w = 0, h = 0;
    };

    TileCells cells_of_tile(float w, float h) const {
        TileCells cells;
        cells.all = depth_ > 1 && seen_until_ == INT64_MAX && depth_ <= 8 &&
                    slots_.size() * static_cast<size_t>(depth_) <= most_cells && (h - 2) / static_cast<float>(depth_) >= 3 &&
                    (w - 2) / static_cast<float>(resident_) >= 3;
        const float square = std::ceil(std::sqrt(static_cast<float>(resident_) * w / std::max(h, 1.0f)));
        cells.across = cells.all ? resident_ : std::max<int64_t>(1, static_cast<int64_t>(square));
        const int64_t down = cells.all ? depth_ : (resident_ + cells.across - 1) / cells.across;
        cells.w = (w - 2) / static_cast<float>(cells.across);
        cells.h = (h - 2) / static_cast<float>(down);
        return cells;
    }

    int64_t tile_columns(float width, float height) const {
        int64_t columns = sms_ <= 8 ? sms_ : sms_ <= 24 ? (sms_ + 1) / 2 : 12;
        if (sms_ <= 60) return columns;
        // 12 x 11 where there is height, else wider; whichever gives the larger tiles.
        const auto side = [&](int64_t across) {
            return std::min(width / static_cast<float>(across), height / static_cast<float>((sms_ + across - 1) / across));
        };
        for (const int64_t across : {16, 18})
            if (side(across) > side(columns)) columns = across;
        return columns;
    }

    // Returns the height used.
    float draw_tiles(Ui& ui, Focus& focus, const Rect& r) {
        const Theme& theme = *ui.theme;
        // A few SMs share the width, each with its name above; of many each row has its first SM's number beside.
        const bool few = sms_ <= 8 && r.h >= 56;
        const float label = few ? 2.0f : 30.0f, names = few ? 18.0f : 0.0f;
        const int64_t columns = tile_columns(r.w - label, r.h - 4), rows = (sms_ + columns - 1) / columns;
        const float pitch_x = std::min(few ? 240.0f : 84.0f, (r.w - label) / static_cast<float>(columns));
        const float pitch_y = std::min(few ? 120.0f : 84.0f, (r.h - 4 - names) / static_cast<float>(rows));
        const float w = pitch_x - 3, h = pitch_y - 3;
        const TileCells cells = cells_of_tile(w, h);
        const int64_t labelled =
            pitch_y >= 16 ? 1 : static_cast<int64_t>(16 / std::max(1.0f, pitch_y)) + 1;  // each n-th row
        for (int64_t sm = 0; sm < sms_; ++sm) {
            const Rect tile{r.x + label + pitch_x * static_cast<float>(sm % columns),
                            r.y + 2 + names + pitch_y * static_cast<float>(sm / columns), w, h};
            if (few)
                ui.text(tile.x + tile.w / 2, tile.y - 7, fmt::format("SM {}", sm),
                        {.size = 12, .color = theme.ink2, .align = Align::center, .width = tile.w});
            else if (sm % columns == 0 && sm / columns % labelled == 0)
                ui.text(tile.x - 8, tile.y + h / 2 + 4, std::to_string(sm),
                        {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
            const bool traced = sm == static_cast<int64_t>(run_->result.trace.sm);
            ui.rect({tile.x - 1, tile.y - 1, tile.w + 2, tile.h + 2}, theme.line);
            ui.rect(tile, theme.panel);
            for (int64_t slot = 0; slot < resident_; ++slot) draw_slot(ui, focus, tile, cells, sm, slot);
            if (traced || sm == focus.sm)
                ui.frame({tile.x - 2, tile.y - 2, tile.w + 4, tile.h + 4}, traced ? theme.ink : theme.accent, 1.5f);
            if (ui.hovered(tile)) {
                ui.outline(tile);
                ui.tooltip(tile_text(sm, focus.time, traced));
            }
            if (ui.clicked(tile)) focus.sm = static_cast<int32_t>(sm);
        }
        return pitch_y * static_cast<float>(rows) + 2 + names;
    }

    void draw_slot(Ui& ui, const Focus& focus, const Rect& tile, const TileCells& cells, int64_t sm, int64_t slot) const {
        const Theme& theme = *ui.theme;
        const auto& runs = slots_[static_cast<size_t>(sm * resident_ + slot)];
        for (size_t i = 0; i < runs.size(); ++i) {
            const BlockRun& block = *runs[i];
            if (block.begin >= seen_until_) continue;  // an open prediction hides it
            const bool done = block.end <= focus.time, running = !done && block.begin <= focus.time;
            if (!cells.all && depth_ > 1 && !running) continue;
            const auto column = static_cast<float>(cells.all ? slot : slot % cells.across),
                       line = static_cast<float>(cells.all ? static_cast<int64_t>(i) : slot / cells.across);
            const Rect cell{tile.x + 1 + cells.w * column, tile.y + 1 + cells.h * line, cells.w - 1, cells.h - 1};
            const Color color = wave_color(wave_of(block), theme);
            if (running)
                ui.rect(cell, color);
            else if (done)
                ui.rect(cell, mix(theme.panel, color, 0.45f));
            else
                ui.rect({cell.x, cell.bottom() - 1, cell.w, 1}, mix(theme.panel, color, 0.6f));
            if (!running && !done) continue;
            const std::string name = fmt::format("{}{}", cell.w >= 64 ? "block " : "", block.block);
            if (cell.h >= 16 && ui.text_width(name, {.size = 12}) + 6 <= cell.w)
                ui.text(cell.x + cell.w / 2, cell.y + cell.h / 2 + 4.5f, name,
                        {.size = 12,
                         .color = text_on(running ? color : mix(theme.panel, color, 0.45f)),
                         .align = Align::center});
        }
    }

    std::string tile_text(int64_t sm, int64_t cycle, bool traced) const {
        std::string running;
        int64_t count = 0;
        for (int64_t slot = 0; slot < resident_; ++slot)
            for (const BlockRun* block : slots_[static_cast<size_t>(sm * resident_ + slot)])
                if (block->begin <= cycle && cycle < block->end) {
                    if (++count <= 6) running += fmt::format("{}{}", running.empty() ? "" : ", ", block->block);
                }
        if (count > 6) running += fmt::format(" and {} more", count - 6);
        return fmt::format("SM {}: {}\n{}", sm,
                           count == 0 ? std::string("no block") : fmt::format("block{} {}", count == 1 ? "" : "s", running),
                           traced ? "traced warp by warp" : "summarised only: when each block ran");
    }

    void draw_waves(Ui& ui, const Focus& focus, const Rect& r) const {
        const Theme& theme = *ui.theme;
        const float y = r.y + 17;
        ui.text(r.x, y, waves_text(facts_), {.size = 14, .weight = 600});
        ui.text(r.right(), y, fmt::format("efficiency {} %", share_text(facts_.efficiency)),
                {.size = 13, .color = theme.ink2, .align = Align::right});
        const auto counts = count_blocks(run_->result.trace, facts_, focus.time);
        if (counts.empty() || r.h < 40) return;
        const std::vector<size_t> shown = waves_shown(counts, most_columns);
        const float width = (r.w - 8 * static_cast<float>(shown.size() - 1)) / static_cast<float>(shown.size());
        for (size_t i = 0; i < shown.size(); ++i) {
            const size_t w = shown[i];
            const bool gap = w > (i > 0 ? shown[i - 1] + 1 : 0);  // some are left out before it
            const BlockCounts& c = counts[w];
            const int64_t all = c.done + c.running + c.to_come;
            const float x = r.x + (width + 8) * static_cast<float>(i),
                        full = width * static_cast<float>(all) / static_cast<float>(std::max<int64_t>(1, facts_.at_once));
            const Color color = wave_color(static_cast<int64_t>(w), theme);
            ui.rect({x, y + 8, width, 8}, theme.grid);
            const float done = all == 0 ? 0 : full * static_cast<float>(c.done) / static_cast<float>(all),
                        run = all == 0 ? 0 : full * static_cast<float>(c.running) / static_cast<float>(all);
            ui.rect({x, y + 8, done, 8}, mix(theme.panel, color, 0.45f));
            ui.rect({x + done, y + 8, run, 8}, color);
            ui.frame({x, y + 8, std::max(2.0f, full), 8}, color);
            const std::string state = all < facts_.at_once && c.running == 0
                                          ? fmt::format("{} of {}", with_commas(all), with_commas(facts_.at_once))
                                      : c.done == all    ? "done"
                                      : c.to_come == all ? "to come"
                                                         : "running";
            const std::string name = fmt::format("{}wave {}", gap ? "... " : "", with_commas(static_cast<int64_t>(w) + 1));
            if (r.h < 56) continue;
            ui.text(x, y + 31, name, {.size = 12, .color = theme.ink2, .width = width});
            if (ui.text_width(name, {.size = 12}) + ui.text_width(state, {.size = 12}) + 8 < width)
                ui.text(x + width, y + 31, state, {.size = 12, .color = theme.quiet, .align = Align::right});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_blocks_view() {
    return std::make_unique<BlocksView>();
}

}  // namespace lockstep::gui
