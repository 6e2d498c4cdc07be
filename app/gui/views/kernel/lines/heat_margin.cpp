#include "app/gui/views/kernel/lines/heat_margin.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/kernel/lines/line_diff.h"
#include "app/gui/views/timeline/state_code.h"

namespace lockstep::gui {
namespace {

uint64_t run_version(const Snapshot& snapshot) {
    if (snapshot.program.run) return snapshot.program.run->version;
    return snapshot.own.run ? snapshot.own.run->version : 0;
}

std::string_view text_that_ran(const Snapshot& snapshot) {
    const auto& own = snapshot.own.run;
    return own && own->compiled && !snapshot.program.run ? std::string_view(own->compiled->source)
                                                         : std::string_view(snapshot.kernel.run->source);
}

}  // namespace

const HeatMap* HeatMargin::of(const Session& session, const Snapshot& snapshot) {
    const KernelDocument& document = session.desk.document();
    const auto& run = snapshot.kernel.run;
    if (snapshot.source != Source::own || !run || run->result.fault || session.learn.reveal_steps >= 0 ||
        document.is_host() || document.is_tape())
        return nullptr;
    if (run_ != run || document_ != document.shown_name()) {
        // Another stretch of the same launch costs the same.
        if (!run_ || run_->program != run->program || run_->before != run->before || document_ != document.shown_name())
            heat_ = heat_of(*run, document.shown_name());
        run_ = run;
        document_ = document.shown_name();
        version_ = 0;
    }
    const bool part = document.is_header() || session.desk.owner() > 0;  // not the text whose version the run has
    stale_ = part ? !document.saved() : run_version(snapshot) != session.desk.version();
    if (stale_ && version_ != session.desk.version()) {
        version_ = session.desk.version();
        kept_ = part ? std::vector<int32_t>() : kept_lines(text_that_ran(snapshot), document.text);
    }
    return heat_.timed() ? &heat_ : nullptr;
}

int32_t HeatMargin::line_then(int32_t line) const {
    if (!stale_) return line;
    return line >= 1 && static_cast<size_t>(line) <= kept_.size() ? kept_[static_cast<size_t>(line) - 1] : 0;
}

void HeatMargin::draw(Ui& ui, const HeatMap& heat, const LineHeat& line, const Rect& row) const {
    constexpr float bar = 44;
    const Faded faded(ui, stale_ ? 0.45f : 1);
    const auto length = bar * static_cast<float>(line.share / std::max(0.2, heat.hottest));
    if (length >= 0.75f) draw_state(ui, {row.x, row.y + 4, std::max(2.0f, length), 11}, line.wait);
    if (line.share < 0.0005) return;
    ui.text(row.x + narrow - 14, row.y + 14, fmt::format("{:.1f} %", 100 * line.share),
            {.size = 12, .color = line.share >= 0.1 ? ui.theme->ink : ui.theme->ink2, .align = Align::right, .mono = true});
    if (row.w > narrow) {
        ui.text(row.x + narrow - 4, row.y + 14, code_of(line.wait).brief,
                {.size = 12, .color = ui.theme->ink2, .width = 62});
        const std::string waste = line.wasteful()                      ? fmt::format("{:.0f} sectors", line.sectors)
                                  : line.issues > 0 && line.lanes < 28 ? fmt::format("{:.0f} lanes", line.lanes)
                                                                       : std::string();
        ui.text(row.right() - 12, row.y + 14, waste,
                {.size = 12, .color = ui.theme->dark ? data::orange : rgb(0x8A5A00), .align = Align::right, .weight = 600});
    }
    if (ui.hovered({row.x, row.y, row.w - 12, row.h}))
        ui.tooltip(sentence_of(line) + (stale_ ? "\nof the run before the text changed" : ""));
}

}  // namespace lockstep::gui
