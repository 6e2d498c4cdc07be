// D6, blocks on SMs: a tile an SM with its block slots, coloured by wave, at the focused cycle; how many waves there are
// and what the last one costs; and the four limits on resident blocks, of which the least is the limiter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/block_facts.h"
#include "app/gui/views/sm_views.h"
#include "app/gui/views/timeline_data.h"

namespace lockstep::gui {
namespace {

constexpr size_t most_cells = 1600;  // more blocks than this: only the running ones are drawn

std::string share_text(double share) {  // percent, with two digits when it is tiny
    return share < 0.01 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share);
}

std::string waves_text(const WaveFacts& f) {
    if (f.exact < 0.01) return "a sliver of one wave: all blocks fit at once";
    if (f.waves <= 1) return fmt::format("{:.2f} waves: all blocks fit at once", f.exact);
    return fmt::format("{:.2f} waves, last wave {:.0f} % full", f.exact, 100 * f.last_share);
}

std::string caption_of(const model::KernelRun& run, const Focus& focus, bool hidden) {
    if (hidden) return "The limits stay hidden until you lock an answer.";
    if (focus.sm >= 0 && focus.sm != static_cast<int32_t>(run.result.trace.sm))
        return fmt::format("SM {} is summarised: only SM {} was traced warp by warp.", focus.sm, run.result.trace.sm);
    const model::Occupancy& o = run.result.occupancy;
    std::string name(o.limiter.empty() ? "launch" : o.limiter);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    const bool one = o.limiter == "shared memory" || o.limiter.empty();
    return fmt::format("{} {} at {} block{}: {} of {} warps, occupancy {:.0f} %.", name, one ? "stops" : "stop", o.blocks,
                       o.blocks == 1 ? "" : "s", o.blocks * o.warps_per_block, run.gpu.warps_per_sm.value, 100 * o.fraction);
}

class BlocksView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel) {
            const Rect body = ui.panel(area, {.title = "Blocks on SMs"});
            return ui.say_nothing_yet(body, "No kernel has run yet.", "Its blocks land on the SMs here, wave by wave.");
        }
        const model::KernelRun& run = *snapshot->kernel;
        if (run_ != snapshot->kernel) adopt(snapshot->kernel);
        const bool hidden = session.reveal_steps >= 0;
        const std::string right = hidden
                                      ? fmt::format("{} block{}", with_commas(facts_.blocks), facts_.blocks == 1 ? "" : "s")
                                      : fmt::format("{} block{} on {} SM{}, {} at a time", with_commas(facts_.blocks),
                                                    facts_.blocks == 1 ? "" : "s", sms_, sms_ == 1 ? "" : "s", resident_);
        seen_until_ = revealed_until(session, focus, run.result.trace);
        const std::string sentence = caption_of(run, focus, hidden);
        const Rect body =
            ui.panel(area, {.title = "Blocks on SMs", .right = right, .badge = Provenance::derived, .caption = sentence});
        ui.push_scope("blocks");
        const float limits = 4 * 16 + 6, waves = 56;
        const bool room = body.h > 190;
        const Rect tiles{body.x, body.y, body.w, body.h - (room ? limits + waves : 0)};
        const float used = draw_tiles(ui, focus, tiles);
        if (room && !hidden) {
            draw_waves(ui, focus, {body.x, body.y + used, body.w, waves});
            draw_limits(ui, {body.x, body.bottom() - limits, body.w, limits});
        } else if (room) {
            const Rect box{body.x, body.y + used + 10, body.w, 60};
            ui.dashed(box, ui.theme->ink3);
            ui.text(box.x + box.w / 2, box.y + 35, "Waves and limits stay hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel) return "Blocks on SMs: no kernel has run yet.";
        const model::KernelRun& run = *snapshot->kernel;
        const int64_t sms = run.gpu.sms.value, resident = std::max<int64_t>(1, run.result.occupancy.blocks);
        const WaveFacts facts = wave_facts(static_cast<int64_t>(run.config.grid.count()), sms, resident);
        const bool hidden = session.reveal_steps >= 0;
        std::string text = fmt::format("Blocks on SMs (derived): {} blocks", facts.blocks);
        text += hidden ? "\n" : fmt::format(" on {} SMs, {} at a time\n", sms, resident);
        if (!hidden) {
            text += fmt::format("  {}, efficiency {} %\n", waves_text(facts), share_text(facts.efficiency));
            if (focus.time >= 0 && facts.waves <= 8) {
                const auto counts = count_blocks(run.result.trace, facts, focus.time);
                for (size_t w = 0; w < counts.size(); ++w)
                    text += fmt::format("  wave {} at cycle {}: {} done, {} running, {} to come\n", w + 1, focus.time,
                                        counts[w].done, counts[w].running, counts[w].to_come);
            }
            for (const LimiterRow& row : limiter_rows(run))
                text += fmt::format("  {} allow {} blocks ({}){}\n", row.name, row.blocks, row.each,
                                    row.limiter ? ", the limiter" : "");
        }
        return text + "  " + caption_of(run, focus, hidden) + "\n";
    }

  private:
    std::shared_ptr<const model::KernelRun> run_;
    WaveFacts facts_;
    int64_t seen_until_ = INT64_MAX;
    int64_t sms_ = 1, resident_ = 1, depth_ = 1;       // depth: blocks that one slot runs, one after the other
    std::vector<std::vector<const BlockRun*>> slots_;  // by SM * resident + slot, by begin

    void adopt(const std::shared_ptr<const model::KernelRun>& run) {
        run_ = run;
        const KernelTrace& trace = run->result.trace;
        sms_ = std::max<int64_t>(1, run->gpu.sms.value);
        resident_ = std::max<int64_t>(1, run->result.occupancy.blocks);
        for (const BlockRun& block : trace.blocks) resident_ = std::max<int64_t>(resident_, block.slot + 1);
        facts_ = wave_facts(static_cast<int64_t>(run->config.grid.count()), sms_,
                            std::max<int64_t>(1, run->result.occupancy.blocks));
        slots_.assign(static_cast<size_t>(sms_ * resident_), {});
        depth_ = 1;
        for (const BlockRun& block : trace.blocks) {
            const auto at = static_cast<size_t>(block.sm * resident_ + block.slot);
            if (at >= slots_.size()) continue;
            slots_[at].push_back(&block);
            depth_ = std::max<int64_t>(depth_, static_cast<int64_t>(slots_[at].size()));
        }
    }

    Color wave_color(int64_t wave, const Theme& theme) const {
        const auto most = std::max<int64_t>(3, std::min<int64_t>(facts_.waves, 6) - 1);
        const float share = static_cast<float>(wave % (most + 1)) / static_cast<float>(most);
        return sequential(0.85f - 0.6f * share, theme);
    }
    int64_t wave_of(const BlockRun& block) const { return block.block / std::max<int64_t>(1, facts_.at_once); }

    // Returns the height used.
    float draw_tiles(Ui& ui, Focus& focus, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float label = 30;
        int64_t columns = sms_ <= 8 ? sms_ : sms_ <= 24 ? (sms_ + 1) / 2 : sms_ <= 60 ? 12 : sms_ <= 96 ? 16 : 18;
        const int64_t rows = (sms_ + columns - 1) / columns;
        const float pitch_x = std::min(84.0f, (r.w - label) / static_cast<float>(columns));
        const float pitch_y = std::min(84.0f, (r.h - 4) / static_cast<float>(rows));
        const float w = pitch_x - 3, h = pitch_y - 3;
        // All blocks of a slot under each other when they fit, else the running one alone; many slots stand in rows.
        const bool all = depth_ > 1 && seen_until_ == INT64_MAX && depth_ <= 8 &&
                         slots_.size() * static_cast<size_t>(depth_) <= most_cells &&
                         (h - 2) / static_cast<float>(depth_) >= 3 && (w - 2) / static_cast<float>(resident_) >= 3;
        const int64_t across =
            all ? resident_
                : std::max<int64_t>(
                      1, static_cast<int64_t>(std::ceil(std::sqrt(static_cast<float>(resident_) * w / std::max(h, 1.0f)))));
        const int64_t down = all ? depth_ : (resident_ + across - 1) / across;
        const float cw = (w - 2) / static_cast<float>(across), ch = (h - 2) / static_cast<float>(down);
        for (int64_t sm = 0; sm < sms_; ++sm) {
            const Rect tile{r.x + label + pitch_x * static_cast<float>(sm % columns),
                            r.y + 2 + pitch_y * static_cast<float>(sm / columns), w, h};
            if (sm % columns == 0)
                ui.text(tile.x - 8, tile.y + h / 2 + 4, std::to_string(sm),
                        {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
            const bool traced = sm == static_cast<int64_t>(run_->result.trace.sm);
            ui.rect({tile.x - 1, tile.y - 1, tile.w + 2, tile.h + 2}, theme.line);
            ui.rect(tile, theme.panel);
            for (int64_t slot = 0; slot < resident_; ++slot) {
                const auto& runs = slots_[static_cast<size_t>(sm * resident_ + slot)];
                for (size_t i = 0; i < runs.size(); ++i) {
                    const BlockRun& block = *runs[i];
                    if (block.begin >= seen_until_) continue;  // an open prediction hides it
                    const bool done = block.end <= focus.time, running = !done && block.begin <= focus.time;
                    if (!all && depth_ > 1 && !running) continue;
                    const auto column = static_cast<float>(all ? slot : slot % across),
                               line = static_cast<float>(all ? static_cast<int64_t>(i) : slot / across);
                    const Rect cell{tile.x + 1 + cw * column, tile.y + 1 + ch * line, cw - 1, ch - 1};
                    const Color color = wave_color(wave_of(block), theme);
                    if (running)
                        ui.rect(cell, color);
                    else if (done)
                        ui.rect(cell, mix(theme.panel, color, 0.45f));
                    else
                        ui.rect({cell.x, cell.bottom() - 1, cell.w, 1}, mix(theme.panel, color, 0.6f));
                }
            }
            if (traced)
                ui.frame({tile.x - 2, tile.y - 2, tile.w + 4, tile.h + 4}, theme.ink, 1.5f);
            else if (sm == focus.sm)
                ui.frame({tile.x - 2, tile.y - 2, tile.w + 4, tile.h + 4}, theme.accent, 1.5f);
            if (ui.hovered(tile)) ui.tooltip(tile_text(sm, focus.time, traced));
            if (ui.clicked(tile)) focus.sm = static_cast<int32_t>(sm);
        }
        return pitch_y * static_cast<float>(rows) + 2;
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
        const auto shown = static_cast<size_t>(std::min<int64_t>(facts_.waves, 6));
        if (shown == 0) return;
        const float width = (r.w - 8 * static_cast<float>(shown - 1)) / static_cast<float>(shown);
        for (size_t i = 0; i < shown; ++i) {  // the last column is the last wave
            const size_t w = i + 1 == shown ? static_cast<size_t>(facts_.waves) - 1 : i;
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
            const std::string state = all < facts_.at_once
                                          ? fmt::format("{} of {}", with_commas(all), with_commas(facts_.at_once))
                                      : c.done == all    ? "done"
                                      : c.to_come == all ? "to come"
                                                         : "running";
            const std::string name = fmt::format("wave {}", w + 1);
            ui.text(x, y + 31, name, {.size = 12, .color = theme.ink2, .width = width});
            if (ui.text_width(name, {.size = 12}) + ui.text_width(state, {.size = 12}) + 8 < width)
                ui.text(x + width, y + 31, state, {.size = 12, .color = theme.quiet, .align = Align::right});
        }
    }

    void draw_limits(Ui& ui, const Rect& r) const {
        const Theme& theme = *ui.theme;
        const Color used = sequential(0.65f, theme);
        float y = r.y + 14;
        for (const LimiterRow& row : limiter_rows(*run_)) {
            ui.text(r.x, y, row.name,
                    {.size = 13, .color = row.limiter ? theme.ink : theme.ink2, .weight = row.limiter ? 600 : 400});
            const float x = r.x + 108;
            const auto boxes = std::min<int64_t>(row.blocks, 32);
            const float pitch = std::min(8.0f, (r.w - 108 - 76) / 32);
            for (int64_t i = 0; i < boxes; ++i) {
                const Rect box{x + pitch * static_cast<float>(i), y - 10, pitch - 1, 11};
                if (i < resident_)
                    ui.rect(box, used);
                else
                    ui.frame(box, theme.ink3);
            }
            const std::string count = fmt::format("{} block{}", row.blocks, row.blocks == 1 ? "" : "s");
            const float right =
                ui.text(r.right(), y, count,
                        {.size = 12, .color = row.limiter ? theme.ink : theme.quiet, .align = Align::right, .mono = true});
            const float after = x + pitch * static_cast<float>(boxes) + 10;
            if (row.limiter) ui.frame({x - 3, y - 13, pitch * static_cast<float>(boxes) + 5, 17}, theme.ink, 1.5f);
            const std::string words = row.limiter ? "limiter: " + row.each : row.each;
            if (after + 60 < right)
                ui.text(after, y, words,
                        {.size = row.limiter ? 13.0f : 12.0f,
                         .color = row.limiter ? theme.ink : theme.quiet,
                         .weight = row.limiter ? 600 : 400,
                         .width = right - after - 10});
            y += 16;
        }
    }
};

}  // namespace

std::unique_ptr<View> make_blocks_view() {
    return std::make_unique<BlocksView>();
}

}  // namespace lockstep::gui
