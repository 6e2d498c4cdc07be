// The focused warp's registers before its current instruction, one row each with 32 lanes. PTX has registers only: a C++
// variable may live in several, one after the other, so a row says which line wrote it last, and of which variable that was
// the new value where source and PTX leave no doubt (variable_names.h). Pinned rows stay on top and show every lane's
// number.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/gui/view.h"
#include "app/gui/views/kernel/lines/variable_names.h"
#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/widgets/text_editor.h"
#include "core/ptx/analyse/dataflow.h"

namespace lockstep::gui {
namespace {

struct Writer {
    uint32_t pc = 0;
    int64_t step = -1;  // of the history; -1: nobody wrote it yet
};

// By register offset: who wrote it last before `step`.
std::map<int32_t, Writer> writers(const ptx::Program& program, const simt::WarpHistory& history, int64_t step) {
    std::map<int32_t, Writer> last;
    const auto end = static_cast<int64_t>(history.steps.size());
    for (int64_t i = 0; i < std::min(step, end); ++i) {
        const uint32_t pc = history.steps[static_cast<size_t>(i)].pc;
        if (pc >= program.instructions.size()) continue;
        const auto& instruction = program.instructions[pc];
        ptx::each_written(program.lists, instruction, [&](int32_t reg) { last[reg] = {pc, i}; });
    }
    return last;
}

struct Watched {
    size_t index = 0;  // into Snapshot::lanes
    Writer writer;
    bool read = false, written = false;  // by the current instruction
};

class WatchView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!session.sm.register_wish.empty()) filter_ = std::exchange(session.sm.register_wish, {});
        if (!snapshot->kernel.run || !snapshot->kernel.lanes || !snapshot->kernel.history ||
            snapshot->kernel.lanes->empty()) {
            const Rect body = ui.panel(area, {.title = "Registers"});
            return ui.say_nothing_yet(
                body, snapshot->kernel.run ? "The registers of this warp are being read." : "The kernel has not run yet.",
                "Step with Left and Right: every register shows its 32 lanes.");
        }
        const ptx::Program& program = *snapshot->kernel.run->program;
        const std::vector<Watched> rows = rows_of(*snapshot);
        const int64_t step = snapshot->kernel.lanes_step;
        const std::string sentence = caption(*snapshot);
        const Rect body = ui.panel(
            area, {.title = "Registers",
                   .right = fmt::format("warp {} of block {}, before issue {}", snapshot->kernel.history->warp_in_block,
                                        snapshot->kernel.history->block, with_commas(step + 1)),
                   .badge = Provenance::executed,
                   .caption = area.h < 190 ? std::string_view() : sentence});
        ui.push_scope("watch");
        float x = body.x;
        text_field(ui, "filter", {x, body.y - 4, 150, 26}, filter_, {.hint = "filter: sum, %f"});
        x += 158;
        if (ui.chip(x, body.y - 4, "all lanes", wide_)) wide_ = !wide_;
        if (!pinned_.empty() && ui.chip(x, body.y - 4, fmt::format("unpin {}", pinned_.size()))) pinned_.clear();
        ui.text(body.right(), body.y + 14,
                fmt::format("bold: used next · {} of {} registers; click a row to pin it", rows.size(),
                            snapshot->kernel.lanes->size()),
                {.size = 12, .color = ui.theme->quiet, .align = Align::right, .width = body.right() - x - 8});
        paint(ui, *snapshot, program, rows, focus, {body.x, body.y + 28, body.w, body.h - 28});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.lanes || !snapshot->kernel.history)
            return "Registers: no warp has been looked into yet.";
        const ptx::Program& program = *snapshot->kernel.run->program;
        std::string text = fmt::format("Registers (executed), warp {} of block {}, before issue {}\n",
                                       snapshot->kernel.history->warp_in_block, snapshot->kernel.history->block,
                                       snapshot->kernel.lanes_step + 1);
        for (const Watched& row : rows_of(*snapshot)) {
            const simt::LaneValues& values = (*snapshot->kernel.lanes)[row.index];
            const ptx::Type type = type_of_use(program, values.reg);
            text += fmt::format("  {:6} {:22}", values.reg.name, written_by(program, row.writer));
            for (const int lane : row.writer.step < 0 ? std::vector<int>{} : std::vector<int>{0, 1, 2, 3, 31})
                text += fmt::format("  lane {} {}", lane, text_of(values.bits[lane], type));
            text += "\n";
        }
        return text + "  " + caption(*snapshot) + "\n";
    }

  private:
    std::string filter_;
    std::set<std::string> pinned_;
    bool wide_ = false;
    float height_ = 0;
    mutable std::shared_ptr<const simt::WarpHistory> known_;
    mutable int64_t known_step_ = -1;
    mutable std::map<int32_t, Writer> writers_;
    mutable std::shared_ptr<const model::KernelRun> named_;
    mutable std::vector<std::string> names_;  // by instruction

    const std::string& variable(const Writer& writer) const {
        static const std::string none;
        return writer.step < 0 || writer.pc >= names_.size() ? none : names_[writer.pc];
    }

    std::string written_by(const ptx::Program& program, const Writer& writer) const {
        if (writer.step < 0) return "not written yet";
        const int line = program.instructions[writer.pc].line;
        const std::string& name = variable(writer);
        return (name.empty() ? "" : name + ", ") +
               (line > 0 ? fmt::format("line {}", line) : fmt::format("issue {}", writer.step + 1));
    }

    std::string caption(const Snapshot& snapshot) const {
        const auto& steps = snapshot.kernel.history->steps;
        const ptx::Program& program = *snapshot.kernel.run->program;
        const int64_t step = snapshot.kernel.lanes_step;
        if (step < 0 || step >= static_cast<int64_t>(steps.size()))
            return "The warp has ended; these are the values it left.";
        const uint32_t pc = steps[static_cast<size_t>(step)].pc;
        return fmt::format(
            "Next: {}. A row says which line wrote the register last, and whose new value that was where it is plain.",
            short_text(program, pc));
    }

    // What the current instruction touches first, then what was written last, then the rest; pinned ones before all.
    std::vector<Watched> rows_of(const Snapshot& snapshot) const {
        const ptx::Program& program = *snapshot.kernel.run->program;
        if (known_ != snapshot.kernel.history || known_step_ != snapshot.kernel.lanes_step) {
            known_ = snapshot.kernel.history;
            known_step_ = snapshot.kernel.lanes_step;
            writers_ = writers(program, *snapshot.kernel.history, snapshot.kernel.lanes_step);
        }
        if (named_ != snapshot.kernel.run) {
            named_ = snapshot.kernel.run;
            names_ = variable_names(program, snapshot.kernel.run->source);
        }
        const auto& steps = snapshot.kernel.history->steps;
        const ptx::DecodedInstruction* next = nullptr;
        if (snapshot.kernel.lanes_step >= 0 && snapshot.kernel.lanes_step < static_cast<int64_t>(steps.size()))
            if (const uint32_t pc = steps[static_cast<size_t>(snapshot.kernel.lanes_step)].pc;
                pc < program.instructions.size())
                next = &program.instructions[pc];
        std::vector<Watched> rows;
        for (size_t i = 0; i < snapshot.kernel.lanes->size(); ++i) {
            const ptx::Register& reg = (*snapshot.kernel.lanes)[i].reg;
            Watched row{i, {}, false, false};
            if (const auto found = writers_.find(reg.offset); found != writers_.end()) row.writer = found->second;
            if (!filter_.empty() && reg.name.find(filter_) == std::string::npos &&
                variable(row.writer).find(filter_) == std::string::npos)
                continue;
            if (next != nullptr) {
                row.read = ptx::reads(program, *next, reg.offset);
                row.written = ptx::writes(program, *next, reg.offset);
            }
            rows.push_back(row);
        }
        const auto rank = [&](const Watched& row) {
            const bool pin = pinned_.contains((*snapshot.kernel.lanes)[row.index].reg.name);
            return std::make_tuple(!pin, !row.read && !row.written, -row.writer.step);
        };
        std::stable_sort(rows.begin(), rows.end(), [&](const Watched& a, const Watched& b) { return rank(a) < rank(b); });
        return rows;
    }

    static uint32_t lanes_on(const Snapshot& snapshot) {
        const auto& steps = snapshot.kernel.history->steps;
        const int64_t step = snapshot.kernel.lanes_step;
        return step >= 0 && step < static_cast<int64_t>(steps.size()) ? steps[static_cast<size_t>(step)].active
                                                                      : simt::full_mask;
    }

    void paint(Ui& ui, const Snapshot& snapshot, const ptx::Program& program, const std::vector<Watched>& rows, Focus& focus,
               const Rect& r) {
        const Theme& theme = *ui.theme;
        const float name_width = 64, from_width = 116, first = r.x + name_width + from_width;
        const float pitch = std::floor((r.right() - 14 - first - 12) / 32);
        const uint32_t on = lanes_on(snapshot);
        const auto lane_x = [&](int lane) {
            return first + pitch * static_cast<float>(lane) + 4 * static_cast<float>(lane / 8);
        };
        ui.text(r.x, r.y + 14, "register", {.size = 12, .color = theme.quiet});
        ui.text(r.x + name_width, r.y + 14, "written by", {.size = 12, .color = theme.quiet});
        const TextStyle lane_style{.size = 12, .color = theme.quiet, .align = Align::center, .mono = true};
        const float half = (r.right() - 14 - first) / 16;  // of a lane in two rows
        for (int lane = 0; lane < 16 && wide_; ++lane)
            if (lane % (half < 24 ? 8 : 4) == 0 || lane == 15)
                ui.text(first + half * (static_cast<float>(lane) + 0.5f), r.y + 14, fmt::format("{}, {}", lane, lane + 16),
                        lane_style);
        for (int lane = 0; lane < 32 && !wide_; ++lane)
            if (lane % 8 == 0 || lane == 31) ui.text(lane_x(lane) + pitch / 2, r.y + 14, std::to_string(lane), lane_style);
        const Rect list{r.x, r.y + 20, r.w, r.h - 20};
        const float offset = ui.scroll("registers", {list.x, list.y, list.w + 10, list.h}, height_);
        ui.clip({list.x - 8, list.y, list.w + 16, list.h});
        float y = list.y - offset;
        for (const Watched& row : rows) {
            const simt::LaneValues& values = (*snapshot.kernel.lanes)[row.index];
            const std::string& name = values.reg.name;
            const bool pin = pinned_.contains(name), full = pin || wide_;
            const float height = full ? 42.0f : 24.0f;
            const Rect box{r.x - 6, y, r.w - 4, height};
            y += height;
            if (box.bottom() < list.y || box.y > list.bottom()) continue;
            const ptx::Type type = type_of_use(program, values.reg);
            const bool hovered = ui.hovered(box);
            if (hovered) ui.rect(box, theme.panel2, 3);
            if (pin) ui.rect({box.x, box.y + 2, 3, height - 4}, theme.accent);
            ui.text(r.x, box.y + 17, name,
                    {.size = 13,
                     .color = row.read || row.written ? theme.ink : theme.ink2,
                     .weight = row.read || row.written ? 700 : 400,
                     .mono = true,
                     .width = name_width - 4});
            const float end = ui.text(r.x + name_width, box.y + 17, written_by(program, row.writer),
                                      {.size = 12,
                                       .color = row.writer.step < 0 ? theme.quiet : theme.ink2,
                                       .width = from_width - (full ? 28.0f : 6.0f)});
            if (full) {
                const char* role = row.read && row.written ? "read, then written"
                                   : row.read              ? "read next"
                                   : row.written           ? "written next"
                                                           : "";
                ui.text(r.x + name_width, box.y + 34, role, {.size = 12, .color = theme.accent, .width = from_width - 28});
                for (const int lane : {0, 16})  // the first of each row
                    ui.text(first - 5, box.y + (lane == 0 ? 16.0f : 34.0f), std::to_string(lane),
                            {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
            } else if (row.read || row.written) {
                ui.circle({std::min(end + 8, first - 8), box.y + 12}, 3, theme.accent);
            }
            if (row.writer.step < 0)  // nothing to show: no colour that could be taken for a value
                ui.dashed({lane_x(0), box.y + 4, lane_x(31) + pitch - 1.5f - lane_x(0), full ? 34.0f : 16.0f}, theme.line);
            else if (full)
                numbers(ui, values, type, on, focus, {first, box.y + 3, r.right() - 14 - first, 36});
            else
                strip(ui, values, type, on, focus, lane_x, pitch, box.y + 3);
            if (ui.area("pin " + name, {box.x, box.y, first - box.x - 4, height})) {
                if (pin)
                    pinned_.erase(name);
                else
                    pinned_.insert(name);
                ui.animate();
            }
            if (hovered && ui.mouse.x < first)
                ui.tooltip(fmt::format("{}, {}\n{}", name, pin ? "pinned: click to let it go" : "click to pin it",
                                       row.writer.step < 0 ? std::string("not written yet")
                                                           : fmt::format("written by issue {}: {}", row.writer.step + 1,
                                                                         ptx::text_of(program, row.writer.pc))));
        }
        if (rows.empty())
            ui.text(r.x, list.y + 16, fmt::format("No register matches \"{}\".", filter_),
                    {.size = 13, .color = theme.ink2, .width = r.w});
        height_ = y + offset - list.y;
        ui.unclip();
    }

    static double value_of(uint64_t bits, ptx::Type type) {
        return type == ptx::Type::b64 || type == ptx::Type::u64 ? static_cast<double>(bits) : number_of(bits, type);
    }

    // One cell a lane: colour by value, and the number where it fits.
    template <class LaneX>
    static void strip(Ui& ui, const simt::LaneValues& values, ptx::Type type, uint32_t on, Focus& focus, const LaneX& lane_x,
                      float pitch, float y) {
        const Theme& theme = *ui.theme;
        double low = INFINITY, high = -INFINITY;
        size_t longest = 0;
        std::string words[32];
        for (int lane = 0; lane < 32; ++lane) {
            const double v = value_of(values.bits[lane], type);
            if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
            words[lane] = text_of(values.bits[lane], type);
            longest = std::max(longest, words[lane].size());
        }
        const bool fits = static_cast<float>(longest) * 7.3f + 2 <= pitch - 1.5f;
        for (int lane = 0; lane < 32; ++lane) {
            const Rect cell{lane_x(lane), y, pitch - 1.5f, 18};
            const double v = value_of(values.bits[lane], type);
            const Color color = !std::isfinite(v)
                                    ? data::vermillion
                                    : sequential(high > low ? static_cast<float>((v - low) / (high - low)) : 0.3f, theme);
            const bool off = (on >> lane & 1) == 0;
            if (!std::isfinite(v))
                ui.hatch(cell, color, Hatch::cross);
            else
                ui.rect(cell, color);
            if (fits && std::isfinite(v))
                ui.text(cell.x + cell.w / 2, y + 13, words[lane],
                        {.size = 12, .color = text_on(color), .align = Align::center, .mono = true});
            if (off) {
                ui.rect(cell, faded(theme.panel, 0.55f));
                ui.rect({cell.x + cell.w / 2 - 1.5f, y + 16, 3, 3}, theme.ink2);
            }
            if (lane == focus.lane) ui.outline(cell, 1);
            if (ui.hovered(cell))
                ui.tooltip(fmt::format("{} lane {}: {}{}", values.reg.name, lane, words[lane], off ? "  (lane off)" : ""));
            if (ui.clicked(cell)) focus.lane = lane;
        }
    }

    // Two rows of sixteen numbers.
    static void numbers(Ui& ui, const simt::LaneValues& values, ptx::Type type, uint32_t on, Focus& focus, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float pitch = r.w / 16;
        for (int lane = 0; lane < 32; ++lane) {
            const Rect cell{r.x + pitch * static_cast<float>(lane % 16), r.y + (lane < 16 ? 0.0f : 18.0f), pitch - 2, 17};
            const bool off = (on >> lane & 1) == 0;
            std::string word = text_of(values.bits[lane], type);
            const auto most = static_cast<size_t>(std::max(3.0f, (cell.w - 2) / 7.3f));
            if (word.size() > most && (type == ptx::Type::b64 || type == ptx::Type::u64))
                word = "…" + word.substr(word.size() - most + 1);
            ui.rect(cell, theme.code);
            ui.text(cell.right() - 3, cell.y + 13, word,
                    {.size = 12,
                     .color = off ? theme.quiet : theme.ink,
                     .align = Align::right,
                     .mono = true,
                     .width = cell.w - 2});
            if (lane == focus.lane) ui.outline(cell, 1);
            if (ui.hovered(cell))
                ui.tooltip(fmt::format("{} lane {}: {}{}", values.reg.name, lane, text_of(values.bits[lane], type),
                                       off ? "  (lane off)" : ""));
            if (ui.clicked(cell)) focus.lane = lane;
        }
    }
};

}  // namespace

std::unique_ptr<View> make_watch_view() {
    return std::make_unique<WatchView>();
}

}  // namespace lockstep::gui
