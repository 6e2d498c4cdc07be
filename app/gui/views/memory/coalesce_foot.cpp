#include "app/gui/views/memory/coalesce_foot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/memory/coalesce_picture.h"

namespace lockstep::gui {

namespace {

constexpr float row_height = 26, table_head = 20;

}  // namespace

// The picture gets lower before the table has fewer than two rows: first by its wires, then by the pinned pattern.
float CoalesceFoot::height(const CoalesceScene& scene, float room, bool ghost) {
    constexpr float usual = 196, with_ghost = 22 + CoalescePicture::least_with_ghost, least = 132;
    constexpr float one_row = 6 + table_head + row_height, two_rows = one_row + row_height;
    const float picture = room >= usual + two_rows ? usual : ghost && room >= with_ghost + two_rows ? with_ghost : least;
    if (room < picture + one_row) return 0;
    const float wanted = 34 + row_height * std::max(2.0f, static_cast<float>(scene.rows.size()));
    return std::min({std::max(wanted, 104.0f), room - picture, 300.0f});
}

void CoalesceFoot::note_seen(const Session& session, const CoalesceScene& scene, const StrideChoice& choice) {
    asks_ = std::any_of(session.lesson.predictions.begin(), session.lesson.predictions.end(), [](const auto& step) {
        return std::any_of(step.begin(), step.end(), [](const auto& one) { return !one.locked; });
    });
    if (scene.hidden || scene.pattern.lanes != 0xffffffffu) return;
    const auto& address = scene.pattern.address;
    for (size_t i = 0; i < sweep.size(); ++i) {
        bool fits = sweep[i] > 0;
        for (size_t lane = 1; lane < address.size() && fits; ++lane)
            fits = address[lane] - address[0] == lane * static_cast<uint64_t>(sweep[i]) * scene.pattern.bytes;
        seen_[i] = seen_[i] || fits || (scene.sandbox && choice.random && sweep[i] == 0);
    }
}

CoalesceFoot::Clicked CoalesceFoot::draw(Ui& ui, const Session& session, const Snapshot& snapshot,
                                         const CoalesceScene& scene, const StrideChoice& choice, const Rect& area) {
    ui.line({area.x, area.y}, {area.right(), area.y}, ui.theme->grid);
    const bool bars = area.w > 740 && area.h > 70;  // high enough to be bars
    const float wide = area.w > 800 ? 280 : 216, table = bars ? area.w - wide - 26 : area.w;
    Clicked clicked;
    clicked.row = draw_table(ui, session, snapshot, scene, {area.x, area.y + 6, table, area.h - 6});
    if (bars)
        clicked.sandbox =
            draw_bars(ui, scene, choice, {area.right() - wide, area.y + 6, wide, std::min(area.h - 6, 100.0f)});
    return clicked;
}

int CoalesceFoot::draw_table(Ui& ui, const Session& session, const Snapshot& snapshot, const CoalesceScene& scene,
                             const Rect& r) {
    const Theme& theme = *ui.theme;
    const TextStyle head{.size = 12, .color = theme.ink2},
        head_right{.size = 12, .color = theme.ink2, .align = Align::right};
    const bool wide = r.w > 520;
    // What an unrolled loop does twice on one line is told apart by its pc.
    const bool twins =
        std::any_of(scene.rows.begin(), scene.rows.end(), [&](const MemoryRow& row) { return has_twin(scene.rows, row); });
    const float eff = r.right() - 92, pair = eff - 14, sectors = pair - (wide ? 84.0f : 0.0f), requests = sectors - 84,
                op = requests - (wide ? 184.0f : 140.0f), source = r.x + (twins ? 68.0f : 34.0f);
    const bool with_source = op - source > 66;
    ui.text(r.x + 22, r.y + 13, "line", head_right);
    if (twins) ui.text(r.x + 56, r.y + 13, "pc", head_right);
    if (with_source) ui.text(source, r.y + 13, "source", head);
    ui.text(op, r.y + 13, "instruction", head);
    ui.text(requests, r.y + 13, "requests", head_right);
    ui.text(sectors, r.y + 13, "mean sectors", head_right);
    if (wide) ui.text(pair, r.y + 13, "used/moved", head_right);
    ui.text(eff, r.y + 13, "efficiency", head);
    const float whole = std::max(1.0f, std::floor((r.h - table_head) / row_height)) * row_height;  // no half rows
    const Rect rows{r.x - 4, r.y + table_head, r.w + 4, std::min(whole, r.h - table_head)};
    float offset = ui.scroll("rows", rows, row_height * static_cast<float>(scene.rows.size()));
    if (const int row = scene.picked.row; row >= 0 && (row != seen_row_ || rows.h != seen_table_)) {
        seen_row_ = row, seen_table_ = rows.h;
        const float top = row_height * static_cast<float>(row),
                    in_sight = std::clamp(offset, top + row_height - rows.h, top);
        if (in_sight != offset) {
            ui.scroll_to("rows", offset = std::max(0.0f, in_sight));
            ui.animate();
        }
    }
    ui.clip(rows);
    int clicked = -1;
    const auto lines = snapshot.kernel.run ? lines_of(snapshot.kernel.run->source) : std::vector<std::string>();
    for (size_t i = 0; i < scene.rows.size(); ++i) {
        const MemoryRow& row = scene.rows[i];
        const float y = rows.y + row_height * static_cast<float>(i) - offset;
        if (y + row_height < rows.y || y > rows.bottom()) continue;
        const Rect box{rows.x, y, rows.w - 6, row_height};
        const bool on = !scene.sandbox && static_cast<int>(i) == scene.picked.row;
        if (on) {
            ui.rect(box, theme.selected, 3);
            ui.rect({box.x, box.y, 3, box.h}, theme.accent);
        } else if (ui.hovered(box)) {
            ui.rect(box, theme.panel2, 3);
        }
        if (ui.clicked(box)) clicked = static_cast<int>(i);
        const TextStyle mono{.size = 13, .mono = true}, mono_right{.size = 13, .align = Align::right, .mono = true};
        if (row.line > 0)
            ui.text(r.x + 22, y + 18, std::to_string(row.line),
                    {.size = 13, .color = theme.ink2, .align = Align::right, .mono = true});
        if (twins)
            ui.text(r.x + 56, y + 18, std::to_string(row.pc),
                    {.size = 13, .color = theme.quiet, .align = Align::right, .mono = true});
        if (with_source && row.line > 0 && static_cast<size_t>(row.line) <= lines.size()) {
            const std::string& line = lines[static_cast<size_t>(row.line) - 1];
            draw_code(ui, source, y + 18, std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size())),
                      13, op - source - 10);
        }
        const float count_w = ui.text_width(with_commas(static_cast<int64_t>(row.requests)), mono);
        ui.text(op, y + 18, row.text, {.size = 13, .mono = true, .width = requests - count_w - op - 8});
        if (is_hidden(row, session, scene.history.get())) {
            ui.text(sectors, y + 18, "?", mono_right);
            continue;
        }
        ui.text(requests, y + 18, with_commas(static_cast<int64_t>(row.requests)), mono_right);
        ui.text(sectors, y + 18, fmt::format("{:.4g}", row.per_request()), mono_right);
        if (row.accesses.empty()) {
            ui.text(eff, y + 18, "other warps", {.size = 12, .color = theme.quiet});
            continue;
        }
        const size_t execution = on ? scene.picked.execution : 0;
        const RequestFacts facts = facts_of(pattern_of(scene.history->accesses[row.accesses[execution]]));
        if (wide) ui.text(pair, y + 18, fmt::format("{}/{}", facts.used, with_commas(facts.moved)), mono_right);
        ui.rect({eff, y + 8, 40, 10}, theme.grid);
        ui.rect({eff, y + 8, 40 * static_cast<float>(facts.efficiency()), 10}, theme.accent);
        ui.text(r.right() - 6, y + 18, efficiency_text(facts.efficiency()), {.size = 13, .align = Align::right});
        if (ui.hovered(box))
            ui.tooltip(
                fmt::format("requests and sectors a request: whole run, all warps ({} moved)\n"
                            "used/moved and efficiency: this warp's request",
                            bytes_text(32 * static_cast<double>(row.units))));
    }
    ui.unclip();
    return clicked;
}

// A bar for each stride; a click opens the sandbox there.
std::optional<StrideChoice> CoalesceFoot::draw_bars(Ui& ui, const CoalesceScene& scene, const StrideChoice& chosen,
                                                    const Rect& r) const {
    const Theme& theme = *ui.theme;
    std::optional<StrideChoice> opened;
    ui.text(r.x, r.y + 13, fmt::format("sectors per request, by stride of {} B", chosen.element),
            {.size = 12, .color = theme.ink2});
    const float base = r.bottom() - 22, most = base - r.y - 34, pitch = r.w / static_cast<float>(sweep.size());
    for (size_t i = 0; i < sweep.size(); ++i) {
        StrideChoice choice{.stride = std::max(1, sweep[i]), .element = chosen.element, .random = sweep[i] == 0};
        const uint32_t sectors = facts_of(pattern_of(choice)).sectors;
        const bool here = scene.sandbox && choice.stride == chosen.stride && choice.random == chosen.random &&
                          chosen.records && chosen.offset == 0;
        const float x = r.x + pitch * static_cast<float>(i), w = pitch - 8;
        ui.line({x, base}, {x + w, base}, theme.line);
        const std::string name = sweep[i] == 0 ? "rand" : std::to_string(sweep[i]);
        ui.text(x + w / 2, base + 15, name,
                {.size = 12, .color = here ? theme.ink : theme.ink2, .align = Align::center, .weight = here ? 600 : 400});
        const bool told = !scene.locked && (!asks_ || seen_[i]);
        if (!told) ui.text(x + w / 2, base - 8, "?", {.size = 14, .color = theme.quiet, .align = Align::center});
        if (scene.locked) continue;
        if (!told) {
            if (ui.area("bar " + name, {x, r.y + 18, w, base - r.y})) opened = choice;
            continue;
        }
        const float h = most * static_cast<float>(sectors) / 32;
        ui.rect({x + 4, base - h, w - 8, h}, here ? theme.accent : mix(theme.panel, theme.accent, 0.45f));
        ui.text(x + w / 2, base - h - 4, std::to_string(sectors),
                {.size = 12, .align = Align::center, .weight = here ? 600 : 400});
        if (ui.area("bar " + name, {x, r.y + 18, w, base - r.y})) opened = choice;
    }
    return opened;
}

}  // namespace lockstep::gui
