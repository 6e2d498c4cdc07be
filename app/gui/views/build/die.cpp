// The die, drawn to scale from the rows of the area: memory on its edges, then L2, the SMs in the middle, the rest below, in
// an outline of the budget. Each part is filled by how busy the last run had it, over all of the run or at the moment that
// the clock stands at; then what die_life.h knows of that moment moves on it. A click on a part looks at its row of the kit,
// one on an SM goes into it: the machine shows it, with this run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/build_play.h"
#include "app/gui/views/build/die_life.h"
#include "app/gui/views/build/die_places.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float die_head = 44, die_words = 20, die_legend = 24;

double at_moment(const std::vector<float>& series, double at, double whole) {
    if (at < 0 || series.empty()) return whole;
    const auto i = static_cast<size_t>(at * static_cast<double>(series.size()));
    return static_cast<double>(series[std::min(i, series.size() - 1)]);
}

// What the parts show: of the whole run, or of a moment of it, as far as it is known by time.
DesignUse use_now(const BuiltDesign& design, double at) {
    DesignUse use = design.use;
    const double issue = at_moment(design.issue, at, use.issue);
    const double scale = use.issue > 0 ? issue / use.issue : 1;
    use.issue = issue;
    use.memory = at_moment(design.memory, at, use.memory);
    for (double* part : {&use.fp32, &use.tensor, &use.fp64}) *part = std::min(1.0, *part * scale);
    return use;
}

// Dark ground of a part and how busy it is, from its bottom.
void fill_part(Ui& ui, const Rect& box, Color color, double busy, Hatch hatch = Hatch::solid) {
    const Theme& theme = *ui.theme;
    ui.rect(box, mix(theme.panel, color, theme.dark ? 0.2f : 0.16f));
    const float h = box.h * static_cast<float>(std::clamp(busy, 0.0, 1.0));
    if (h < 0.5f) return;
    const Rect full{box.x, box.bottom() - h, box.w, h};
    if (hatch == Hatch::solid || box.w > 440 || h > 56)
        ui.rect(full, faded(color, 0.8f));
    else
        ui.hatch(full, color, hatch);
}

void glow(Ui& ui, const Rect& box) {
    for (int i = 0; i < 4; ++i) {
        const float out = 2.0f + 2 * static_cast<float>(i);
        ui.frame({box.x - out, box.y - out, box.w + 2 * out, box.h + 2 * out},
                 faded(data::orange, 0.5f - 0.11f * static_cast<float>(i)), 2);
    }
    ui.frame(box, data::orange, 2);
}

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

class DieView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        BuildDesk& desk = session.build;
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        const BuiltDesign* const earlier = earlier_design(session, *snapshot);
        const DieLife life = life_of(session, shown);
        const std::string sentence = caption(session, shown);
        const std::string right =
            desk.task() ? fmt::format("{:.1f} mm\xC2\xB2, {:.0f} USD, estimates", desk.area().mm2, desk.area().usd) : "";
        const Rect body = ui.panel(
            area, {.title = "The die, to scale", .right = right, .badge = Provenance::simulated, .caption = sentence});
        if (!desk.task()) return ui.say_nothing_yet(body, snapshot->busy.empty() ? "No puzzle is open." : snapshot->busy);
        ui.push_scope("die");
        head(ui, snapshot->busy, shown, earlier, body);
        const Rect room{body.x + 8, body.y + die_head + die_words, body.w - 16,
                        body.h - die_head - die_words - die_legend - 12};
        if (room.h > 60 && room.w > 100) {
            const DiePlaces places = places_of_die(desk.gpu(), desk.area(), desk.task()->most_mm2, room);
            const bool alive = shown != nullptr && shown->ran();
            into_ = -1;
            draw_parts(ui, session, places, alive ? shown : nullptr, life);
            draw_marks(ui, life, places);
            words(ui, desk, places, shown, life);
            legend(ui, places, life, desk.sm, {body.x, body.bottom() - die_legend, body.w, die_legend});
            if (life.scene != nullptr && ui.pressed(Key::enter, area)) into_ = desk.sm;
            if (into_ >= 0) desk.look_into(session, *snapshot, focus, into_);
        }
        ui.pop_scope();
        if (session.playing && life.known()) ui.animate();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const BuildDesk& desk = session.build;
        if (!desk.task()) return "The die: no puzzle is open\n";
        const auto snapshot = session.snapshot();
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        std::string text =
            fmt::format("The die of design {}, to scale: {:.2f} mm2 (estimate)\n", desk.number(), desk.area().mm2);
        for (const model::PartGroup group :
             {model::PartGroup::sms, model::PartGroup::l2, model::PartGroup::memory, model::PartGroup::rest})
            text += fmt::format("  {} {}: {:.2f} mm2\n", code_of(group).letter, title_of(group), desk.area().of(group));
        if (shown != nullptr && shown->ran()) {
            const DesignUse use = use_now(*shown, desk.at);
            text += fmt::format(
                "  {} (simulated), {}; limits: {}, {}\n  busy: schedulers {}, FP32 lanes {}, L1 {}, L2 {} ({} of "
                "reads hit), "
                "memory {}; warps {} of the places\n",
                time_text(shown->time_us), counted(shown->cycles, "cycle"), shown->part, percent(shown->busy),
                percent(use.issue), percent(use.fp32), percent(use.l1), percent(use.l2), percent(use.l2_hits),
                percent(use.memory), percent(use.warps));
        }
        DieView other;
        if (const std::string moving = life_text(other.life_of(session, shown)); !moving.empty())
            text += "  " + moving + "\n";
        return text + "  " + caption(session, shown) + "\n";
    }

  private:
    std::shared_ptr<const model::KernelRun> run_;
    std::unique_ptr<MachineScene> scene_;  // of it
    int32_t into_ = -1;                    // SM that was clicked in this frame

    DieLife life_of(const Session& session, const BuiltDesign* shown) {
        const std::shared_ptr<const model::KernelRun> run = shown != nullptr ? shown->run : nullptr;
        if (run != run_) {
            run_ = run;
            scene_ = run ? std::make_unique<MachineScene>(make_machine_scene(run, session.timeline(run))) : nullptr;
        }
        // While a handle moves, the die is that of a design that has not run yet.
        if (!scene_ || shown->figures != session.build.figures()) return {};
        const int64_t cycle = cycle_on_die(session.build, *shown);
        DieLife life{scene_.get(), cycle < 0 ? -1 : exact_cycle(session.build, *shown),
                     session.playing ? session.build.speed : 0};
        return life;
    }

    static std::string caption(const Session& session, const BuiltDesign* shown) {
        const BuildDesk& desk = session.build;
        if (!desk.task()) return "";
        if (!desk.impossible().empty()) return "No such GPU: " + desk.impossible();
        if (shown == nullptr) return "This design has not run yet: its parts are drawn, nothing in them is known.";
        if (shown->sampled > 0)
            return fmt::format("A sample: about {:.0f} % of its time has run; the figures are drawn out from that.",
                               100 * shown->sampled);
        return limit_sentence(*desk.task(), *shown);
    }

    static void head(Ui& ui, const std::string& busy, const BuiltDesign* shown, const BuiltDesign* earlier,
                     const Rect& body) {
        const Theme& theme = *ui.theme;
        const float line = body.y + 26;
        if (shown == nullptr || !shown->ran()) {
            ui.text(body.x, line,
                    shown != nullptr ? "it does not run"
                    : busy.empty()   ? "it has not run"
                                     : busy,
                    {.size = 18, .color = theme.ink2, .weight = 600, .width = body.w});
            return;
        }
        const std::string time = (shown->sampled > 0 ? "about " : "") + time_text(shown->time_us);
        float right = ui.text(body.right(), line + 2, time, {.size = 32, .align = Align::right, .weight = 700});
        if (earlier != nullptr && body.w > 560)
            right = ui.text(right - 14, line, fmt::format("design {}: {}", earlier->number, time_text(earlier->time_us)),
                            {.size = 13, .color = theme.ink2, .align = Align::right});
        float x = ui.text(body.x, line, "limits now:", {.size = 14, .color = theme.ink2}) + 10;
        const float size = body.w > 640 ? 24.f : 18.f;
        const TextStyle style{.size = size, .color = theme.dark ? rgb(0xF0913A) : theme.wrong, .weight = 700};
        x = ui.text(x, line, shown->part, style) + 14;
        const bool nothing = shown->part == "waiting" || shown->part == "latency" || shown->part == "barriers";
        const std::string busiest = fmt::format("{} {}", nothing ? "busiest part" : "busy", percent(shown->busy));
        const TextStyle small{.size = 13, .color = theme.ink2};
        for (const std::string& facts :
             {fmt::format("{}; schedulers issue in {} of cycles", busiest, percent(shown->use.issue)), busiest})
            if (ui.text_width(facts, small) <= right - x - 16) {
                ui.text(x, line, facts, small);
                break;
            }
    }

    static bool selected(const BuildDesk& desk, const TilePart& part) {
        return !desk.row.empty() && std::ranges::find(part.fields, desk.row) != part.fields.end();
    }

    // Looks at the row of what is clicked.
    static void touch(Ui& ui, BuildDesk& desk, const Rect& box, std::string_view field, const std::string& tip) {
        if (!ui.hovered(box)) return;
        ui.frame(box, ui.theme->ink, 1);
        ui.tooltip(tip);
        if (ui.clicked(box)) desk.row = desk.row == field ? "" : field;
    }

    static double busy_of(const DesignUse& use, std::string_view word) {
        if (word == "schedulers") return use.issue;
        if (word == "warp slots") return use.warps;
        if (word == "lanes") return std::max(use.fp32, use.fp64);
        if (word == "tensor cores") return use.tensor;
        if (word == "L1") return use.l1;
        return 0;
    }

    // Lanes of the sub-cores that issue, and the letter of what they do, as far as there is room.
    static void draw_sub_cores(Ui& ui, const SubCoresNow& now, int columns, const Rect& box) {
        for (int c = 0; c < columns && c < 16; ++c) {
            if (now.share[c] <= 0) continue;
            const float w = box.w / static_cast<float>(columns);
            const Rect lanes{box.x + w * static_cast<float>(c), box.y, w - 1, box.h};
            const float h = lanes.h * std::min(1.0f, now.share[c]);
            ui.rect({lanes.x, lanes.bottom() - h, lanes.w, h}, data::green);
            if (now.share[c] < 0.99f || lanes.w < 13 || lanes.h < 15) continue;
            ui.text(lanes.x + lanes.w / 2, lanes.y + lanes.h / 2 + 4.5f, std::string_view(&now.letter[c], 1),
                    {.size = 12, .color = text_on(data::green), .align = Align::center, .weight = 700});
        }
    }

    // Its number, and its places for blocks: full ones are taken.
    static void draw_sm_name(Ui& ui, const DieLife& life, uint32_t sm, const Rect& box) {
        if (box.h < 17 || box.w < 24) return;
        const std::string name = box.w >= 60 ? fmt::format("SM {}", sm) : std::to_string(sm);
        const float end = ui.text(box.x + 5, box.y + box.h / 2 + 4, name, {.size = 12, .color = ui.theme->ink}) + 8;
        if (!life.known()) return;
        const std::vector<uint32_t> places = blocks_on(*life.scene, sm, life.cycle()).resident;
        float x = box.right() - 10;
        for (size_t i = 0; i < places.size() && x > end; ++i, x -= 9) {
            const Rect cell{x, box.y + box.h / 2 - 3.5f, 7, 7};
            const size_t place = places.size() - 1 - i;
            if (places[place] == TileState::nobody)
                ui.frame(cell, ui.theme->ink3, 1);
            else
                ui.rect(cell, data::sky);
        }
    }

    // A click goes into the SM; while the pointer is on a part, its row of the kit is looked at.
    void touch_tile(Ui& ui, BuildDesk& desk, const DieBox& sm, const Rect& tile, std::string_view field,
                    const std::string& tip, bool able) {
        if (!ui.hovered(tile)) return;
        ui.frame(tile, ui.theme->ink, 2);
        desk.row = field;
        ui.tooltip(tip + (able ? "\nclick: into this SM, with this run" : ""));
        if (able && ui.clicked(tile)) into_ = sm.index;
    }

    void draw_tile(Ui& ui, BuildDesk& desk, const DiePlaces& places, const DieBox& sm, const DesignUse* use,
                   std::string_view limits, const DieLife& life) {
        const Theme& theme = *ui.theme;
        const Rect tile{sm.box.x + 1, sm.box.y + 1, sm.box.w - 2, sm.box.h - 2};
        if (tile.w < 3 || tile.h < 3) return ui.rect(sm.box, data::green);
        const auto number = static_cast<uint32_t>(sm.index);
        const SubCoresNow now = sub_cores_now(life, number);
        const bool parts = tile.w >= 24 && tile.h >= 40;
        if (!parts) {
            float sum = 0;
            for (int c = 0; c < places.columns && c < 16; ++c) sum += now.share[c] / static_cast<float>(places.columns);
            fill_part(ui, tile, data::green, now.known ? static_cast<double>(sum) : use != nullptr ? use->issue : 0);
        }
        std::string_view hovered = "sms";
        std::string tip = fmt::format("SM {}", sm.index);
        for (size_t i = 0; parts && i < places.tile.size(); ++i) {
            const TilePart& part = places.tile[i];
            const Rect box = part_of_tile(places, tile, i);
            const bool sram = part.word == "registers" || part.word == "L1", lanes = part.word == "lanes";
            const Color color = part.word == "the rest and ports" ? data::grey
                                : part.word == "L1"               ? data::sky
                                : part.word == "warp slots"       ? data::orange
                                                                  : data::green;
            const double busy = use != nullptr ? busy_of(*use, part.word) : 0;
            const bool lives = now.known && (lanes || part.word == "schedulers");
            ui.rect(box, mix(theme.panel, color, theme.dark ? 0.22f : 0.18f));
            if (sram) ui.hatch(box, faded(color, 0.35f), Hatch::horizontal);
            if (lives)
                draw_sub_cores(ui, now, places.columns, box);
            else if (busy > 0)
                ui.rect({box.x, box.y, box.w * static_cast<float>(busy), box.h}, faded(color, 0.85f));
            if (lanes || part.word == "schedulers" || part.word == "registers")
                for (int c = 1; c < places.columns; ++c)
                    ui.rect({box.x + box.w * static_cast<float>(c) / static_cast<float>(places.columns), box.y, 1, box.h},
                            theme.panel);
            if (part.word == "registers" && life.known())
                draw_warps(ui, warps_now(life, number), static_cast<int>(desk.gpu().warps_per_sm.value), box);
            ui.rect({box.x, box.bottom() - 1, box.w, 1}, theme.panel);
            if (!limits.empty() && std::ranges::find(part.fields, limits) != part.fields.end())
                ui.frame(box, data::orange, 2);
            if (selected(desk, part)) ui.outline(box);
            const bool covered = life.known() && (part.word == "registers" || lanes), rest = i + 1 == places.tile.size();
            if (rest) draw_sm_name(ui, life, number, box);
            if (!covered && !rest && box.h >= 17 && box.w >= ui.text_width(part.word, {.size = 12}) + 34) {
                const float width = ui.text_width(part.word, {.size = 12});
                ui.rect({box.x + 3, box.y + box.h / 2 - 7.5f, width + 6, 15}, theme.panel, 2);
                ui.text(box.x + 6, box.y + box.h / 2 + 4, part.word, {.size = 12});
            }
            if (!ui.hovered(box)) continue;
            ui.frame(box, theme.ink, 1);
            hovered = part.fields.front();
            tip = fmt::format("SM {}, {}: {:.2f} mm2 (estimate){}", sm.index, part.word, part.mm2,
                              busy > 0 ? fmt::format("\n{} {} (simulated)",
                                                     part.word == "warp slots" ? "places taken:" : "busy", percent(busy))
                                       : "");
        }
        ui.frame(tile, theme.line, 1);
        touch_tile(ui, desk, sm, tile, hovered, tip, life.scene != nullptr);
    }

    static void draw_channel(Ui& ui, BuildDesk& desk, const DiePlaces& places, const DieBox& channel, const DesignUse* use,
                             const BuiltDesign* shown, const DieLife& life) {
        const Theme& theme = *ui.theme;
        const Rect box{channel.box.x + 1, channel.box.y + 1, channel.box.w - 2, channel.box.h - 2};
        fill_part(ui, box, data::blue, use != nullptr ? use->memory : 0);
        ui.frame(box, theme.line, 1);
        if (desk.row == "dram_channels") ui.outline(box);
        const double waiting = waiting_at_box(life, places, channel);
        // Where the die stands at a moment, its figures are of that.
        const bool moment = life.known() && use != nullptr;
        const std::string word = use == nullptr ? "?" : percent(use->memory) + (moment ? " now" : "");
        const std::string queue = life.known() ? fmt::format("{:.0f} wait", waiting) : std::string();
        const float width = std::max(ui.text_width(word, {.size = 13, .weight = 700}), ui.text_width(queue, {.size = 12}));
        if (box.h >= 54 && box.w >= width + 12) {
            ui.rect({box.x + 4, box.y + 5, width + 6, queue.empty() ? 18.0f : 33.0f}, theme.panel, 3);
            ui.text(box.x + 7, box.y + 18, word, {.size = 13, .weight = 700});
            if (!queue.empty()) ui.text(box.x + 7, box.y + 33, queue, {.size = 12, .color = theme.ink2});
            if (waiting > 0) draw_queue(ui, waiting, {box.x + 6, box.y + 44, box.w - 12, box.h - 50});
        }
        touch(ui, desk, box, "dram_channels",
              fmt::format("memory, box {} of {}: all of it busy {} of the run{} (simulated)", channel.index + 1,
                          places.channels.size(), shown != nullptr ? percent(shown->use.memory) : "?",
                          moment ? fmt::format(", {} about this moment; {} here in this cycle", percent(use->memory), queue)
                                 : std::string()));
    }

    void draw_parts(Ui& ui, Session& session, const DiePlaces& places, const BuiltDesign* shown, const DieLife& life) {
        const Theme& theme = *ui.theme;
        BuildDesk& desk = session.build;
        const std::string_view limits = shown != nullptr ? shown->limits : std::string_view();
        const DesignUse now = shown != nullptr ? use_now(*shown, desk.at) : DesignUse();
        const DesignUse* const use = shown != nullptr ? &now : nullptr;
        ui.dashed(places.outline, theme.ink3);
        ui.rect(places.die, theme.panel2);
        if (places.rest.h > 1) {
            ui.rect(places.rest, mix(theme.panel, data::grey, 0.25f));
            for (float x = places.rest.x; x < places.rest.right(); x += 400)
                for (float y = places.rest.y; y < places.rest.bottom(); y += 50)
                    ui.hatch({x, y, std::min(400.0f, places.rest.right() - x), std::min(50.0f, places.rest.bottom() - y)},
                             faded(data::grey, 0.3f), Hatch::diagonal);
        }
        for (const DieBox& sm : places.sms) draw_tile(ui, desk, places, sm, use, limits, life);
        for (const DieBox& half : places.l2) {
            const Rect box{half.box.x + 1, half.box.y + 1, half.box.w - 2, half.box.h - 2};
            if (box.w <= 0) continue;
            fill_part(ui, box, data::sky, now.l2);
            for (float y = box.y + 5; y < box.bottom(); y += 6) ui.rect({box.x, y, box.w, 1}, faded(data::sky, 0.35f));
            ui.frame(box, theme.line, 1);
            if (desk.row == "l2_bytes") ui.outline(box);
            touch(ui, desk, box, "l2_bytes",
                  fmt::format("L2: busy {}, {} of what is read from it is there (simulated)", percent(now.l2),
                              percent(now.l2_hits)));
        }
        for (const DieBox& channel : places.channels) draw_channel(ui, desk, places, channel, use, shown, life);
        if (limits == "dram_channels")
            for (const DieBox& channel : places.channels)
                glow(ui, {channel.box.x + 1, channel.box.y + 1, channel.box.w - 2, channel.box.h - 2});
        if (limits == "l2_bytes" || limits == "l2_slices")
            for (const DieBox& half : places.l2) glow(ui, half.box);
    }

    // Over the die, and in what of it is empty.
    static void words(Ui& ui, const BuildDesk& desk, const DiePlaces& places, const BuiltDesign* shown,
                      const DieLife& life) {
        const Theme& theme = *ui.theme;
        const float y = places.die.y - 7;
        float end = places.die.x;
        const auto over = [&](float x, const std::string& text) {
            const float width = ui.text_width(text, {.size = 13, .weight = 600});
            x = std::max(x, end);
            if (x + width > places.outline.right()) return;
            end = ui.text(x, y, text, {.size = 13, .weight = 600}) + 12;
        };
        if (!places.channels.empty()) over(places.channels.front().box.x, "memory");
        if (!places.l2.empty())
            over(places.l2.front().box.x,
                 shown != nullptr && shown->ran() ? fmt::format("L2: {} of reads hit", percent(shown->use.l2_hits)) : "L2");
        if (!places.sms.empty()) over(places.sms.front().box.x, counted(places.sms.size(), "SM"));
        if (places.channels.size() > 1) over(places.channels.back().box.x, "memory");
        const Rect& rest = places.rest;
        const std::string host =
            fmt::format("host link, block scheduler, pads: {:.1f} mm\xC2\xB2", desk.area().of(model::PartGroup::rest));
        const float width = ui.text_width(host, {.size = 13});
        if (rest.h >= 26 && rest.w > width + 24) {
            ui.rect({rest.x + 8, rest.y + rest.h / 2 - 10, width + 12, 20}, theme.panel, 3);
            ui.text(rest.x + 14, rest.y + rest.h / 2 + 4.5f, host, {.size = 13});
        }
        if (life.known() && rest.h >= 110 && rest.w > 240) block_queue(ui, life, rest);
        const double free = desk.task()->most_mm2 - desk.area().mm2;
        const float gap = places.outline.right() - places.die.right();
        if (free > 0 && gap > 50) {
            const float x = places.die.right() + gap / 2, middle = places.outline.y + places.outline.h / 2;
            const TextStyle style{.size = 13, .color = theme.ink2, .align = Align::center};
            ui.text(x, middle - 10, fmt::format("{:.1f}", free), style);
            ui.text(x, middle + 7, "mm\xC2\xB2", style);
            ui.text(x, middle + 24, "free", style);
        }
        if (free < 0 && desk.task()->most_mm2 > 0) {  // where the budget ends
            const auto limit = static_cast<float>(desk.task()->most_mm2 / desk.area().mm2);
            const float x = places.die.x + places.die.w * limit;
            ui.hatch({x, places.die.bottom() + 2, places.die.right() - x, 6}, theme.wrong, Hatch::diagonal);
            ui.rect({x - 1, places.die.y, 2, places.die.h + 8}, theme.wrong);
        }
    }

    // The block scheduler stands in the rest: how many blocks have begun.
    static void block_queue(Ui& ui, const DieLife& life, const Rect& rest) {
        const Theme& theme = *ui.theme;
        const WaitingBlocks queue = blocks_waiting(*life.scene, life.cycle());
        const Rect bar{rest.x + 14, rest.bottom() - 24, std::min(360.0f, rest.w - 28), 8};
        const std::string words =
            fmt::format("blocks: {} of {} have begun", with_commas(queue.begun), with_commas(life.scene->blocks));
        const float width = ui.text_width(words, {.size = 12});
        ui.rect({bar.x - 6, bar.y - 20, std::max(bar.w, width) + 12, 34}, theme.panel, 3);
        ui.text(bar.x, bar.y - 6, words, {.size = 12});
        ui.rect(bar, theme.grid);
        const double share =
            static_cast<double>(queue.begun) / static_cast<double>(std::max<int64_t>(1, life.scene->blocks));
        ui.rect({bar.x, bar.y, bar.w * static_cast<float>(std::min(1.0, share)), bar.h}, data::sky);
    }

    void legend(Ui& ui, const DiePlaces& places, const DieLife& life, int32_t sm, const Rect& box) {
        float x = box.x, end = box.right() - 156;
        const float y = box.y + 18;
        if (life.scene != nullptr) {  // for the keyboard, as tiles are for the pointer
            const std::string into = fmt::format("into SM {}", sm);
            float chip = end = end - ui.chip_width(into) - 6;
            if (ui.hovered({chip, box.y - 1, ui.chip_width(into), 26}))
                ui.tooltip("the machine shows this SM, with this run (Enter; [ and ] choose the SM)");
            if (ui.chip(chip, box.y - 1, into)) into_ = sm;
        }
        const auto item = [&](Color color, Hatch hatch, std::string_view label) {
            if (x + ui.text_width(label, {.size = 13}) + 44 > end) return;
            x = ui.legend(x, y, color, hatch, label);
        };
        const auto sign = [&](std::string_view label, const auto& draw) {
            if (x + ui.text_width(label, {.size = 13}) + 34 > end) return;
            draw(Point{x + 5, y - 4.5f});
            x = ui.text(x + 15, y, label, {.size = 13, .color = ui.theme->ink2}) + 16;
        };
        if (life.single_requests()) {
            sign("load", [&](Point at) { ui.circle(at, 4, data::sky); });
            sign("back", [&](Point at) { ui.ring(at, 4, data::sky, 1.5f); });
            sign("store", [&](Point at) { ui.rect({at.x - 4, at.y - 4, 8, 8}, data::yellow); });
        }
        item(data::green, Hatch::solid, "S: busy");
        item(data::green, Hatch::horizontal, "registers");
        item(data::sky, Hatch::horizontal, "L: L2, L1");
        item(data::blue, Hatch::solid, "M: memory");
        item(data::orange, Hatch::solid, "warps; limits");
        item(data::grey, Hatch::diagonal, "R: rest");
        double mm = 1;
        while (mm * places.px_of_mm < 28) mm *= 2;
        while (mm > 0.3 && mm * places.px_of_mm > 90) mm /= 2;
        const auto length = static_cast<float>(mm * places.px_of_mm);
        const float right = box.right() - 4;
        ui.rect({right - length, y - 5, length, 2}, ui.theme->ink);
        ui.rect({right - length, y - 9, 2, 10}, ui.theme->ink);
        ui.rect({right - 2, y - 9, 2, 10}, ui.theme->ink);
        ui.text(right - length - 8, y, fmt::format("{:g} mm", mm), {.size = 12, .align = Align::right});
    }
};

}  // namespace

std::unique_ptr<View> make_die_view() {
    return std::make_unique<DieView>();
}

}  // namespace lockstep::gui
