// "What limits it": what the warps' time went to, and the findings of core/model/advice as cards, the largest gain first. A
// card leads to its line. Gains are simulated by themselves where that is short, else when they are asked for.
#include "core/model/advice/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/gui/view.h"
#include "app/gui/views/timeline/state_code.h"
#include "app/gui/widgets/labels.h"

namespace lockstep::gui {
namespace {

constexpr auto states = static_cast<size_t>(StallReason::count);

std::array<double, states> shares_of(const model::KernelRun& run) {
    std::array<double, states> shares{};
    double sum = 0;
    for (const model::InstructionCounters& counters : run.result.instructions)
        for (size_t s = 0; s < states; ++s)
            shares[s] += static_cast<double>(counters.stalls[s]), sum += static_cast<double>(counters.stalls[s]);
    for (double& share : shares) share = sum > 0 ? share / sum : 0;
    return shares;
}

std::string factor_text(double gain) {
    const double factor = 1 / std::max(0.01, 1 - gain);
    return factor < 10 ? fmt::format("{:.2f}×", factor) : fmt::format("{:.0f}×", factor);
}

bool is_told(const KernelState& kernel) {
    return kernel.run && kernel.verdict && !kernel.run->result.fault && !kernel.run->result.stopped &&
           kernel.run->result.cycles > 0;
}

std::string caption_of(const model::Verdict& verdict) {
    if (verdict.findings.empty()) return "No rule for slow kernels applies: what is left is the work itself.";
    const bool all = std::all_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const model::Finding& finding) { return finding.simulated || finding.what_if.empty(); });
    return all ? "A gain is what the launch saves at most when only this cause is gone: simulated where the model can, else "
                 "from "
                 "counters."
               : "Gains are derived from counters so far; simulate them to see what each cause alone costs.";
}

class VerdictView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const KernelState& kernel = snapshot->kernel;
        const bool hidden = session.learn.reveal_steps >= 0, told = is_told(kernel) && !hidden;
        const std::string right =
            told ? fmt::format("{} cycles, {:.2f} µs", with_commas(kernel.run->result.cycles), kernel.run->result.time_us)
                 : std::string();
        const std::string sentence =
            told ? caption_of(*kernel.verdict) : std::string("What limits a kernel, and what a change would gain.");
        const Rect body = ui.panel(area, {.title = "What limits it",
                                          .right = right,
                                          .badge = told ? Provenance::simulated : Provenance::none,
                                          .caption = sentence});
        if (!told)
            return ui.say_nothing_yet(body,
                                      hidden ? "It is told when you lock an answer."
                                      : kernel.run && kernel.run->result.fault
                                          ? "The run was stopped by a fault: the reports say why."
                                          : "No kernel has been timed yet.",
                                      "Findings appear here: a cause, its line, what to change and what that would gain.");
        ui.push_scope("verdict");
        const model::Verdict& verdict = *kernel.verdict;
        const float offset = ui.scroll("all", {body.x, body.y - 4, body.w + 10, body.h + 4}, height_);
        ui.clip({body.x - 8, body.y - 4, body.w + 16, body.h + 8});
        float y = body.y - offset;
        y += ui.paragraph({body.x, y, body.w, 200}, verdict.limit, {.size = 16, .weight = 600}, 22) + 8;
        y = strip(ui, *kernel.run, {body.x, y, body.w, 20}) + 10;
        const bool can = kernel.run->before != nullptr &&
                         std::any_of(verdict.findings.begin(), verdict.findings.end(), [](const model::Finding& finding) {
                             return !finding.simulated && !finding.what_if.empty();
                         });
        if (can) {
            float x = body.x;
            const bool busy = !snapshot->busy.empty();
            if (ui.chip(x, y, "simulate the gains", false, !busy)) session.post(ask::SimulateGains{});
            y += 36;
        }
        size_t number = 0;
        for (const model::Finding& finding : verdict.findings)
            y = card(ui, session, finding, ++number, kernel.run->result.time_us, {body.x, y, body.w - 2, 0}, body) + 10;
        height_ = y + offset - body.y;
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (session.learn.reveal_steps >= 0) return "What limits it: it is told when you lock an answer.\n";
        if (!is_told(snapshot->kernel)) return "What limits it: no kernel has been timed yet.\n";
        const model::Verdict& verdict = *snapshot->kernel.verdict;
        std::string text = "What limits it (simulated)\n  " + verdict.limit + "\n";
        for (const model::Finding& finding : verdict.findings)
            text += fmt::format("  {}: {}{} Saves {}; {}. {}\n", model::title_of(finding.rule),
                                finding.line > 0 ? fmt::format("{}:{}: ", finding.file, finding.line) : "", finding.sentence,
                                model::gain_text(finding), finding.evidence, finding.change);
        return text + "  " + caption_of(verdict) + "\n";
    }

  private:
    float height_ = 0;

    // What the warps' cycles went to: a bar in parts, the largest named. Returns its lower end.
    static float strip(Ui& ui, const model::KernelRun& run, const Rect& r) {
        const auto shares = shares_of(run);
        std::array<size_t, states> order{};
        for (size_t s = 0; s < states; ++s) order[s] = s;
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return shares[a] > shares[b]; });
        float x = r.x;
        for (const size_t s : order) {
            const float width = r.w * static_cast<float>(shares[s]);
            if (width < 1) continue;
            const Rect part{x, r.y, width - 1, r.h};
            draw_state(ui, part, static_cast<StallReason>(s));
            if (ui.hovered(part))
                ui.tooltip(fmt::format("{}: {:.1f} % of the warps' cycles\n{}", row_of(static_cast<StallReason>(s)).label,
                                       100 * shares[s], row_of(static_cast<StallReason>(s)).explanation));
            x += width;
        }
        float at = r.x;
        const float line = r.bottom() + 18;
        for (size_t k = 0; k < 4; ++k) {
            const size_t s = order[k];
            if (shares[s] < 0.04) break;
            const StateCode& code = code_of(static_cast<StallReason>(s));
            const std::string label = fmt::format("{} {:.0f} %", row_of(static_cast<StallReason>(s)).label, 100 * shares[s]);
            if (at + ui.text_width(label, {.size = 12}) + 24 > r.right()) break;
            at = ui.legend(at, line, code.color, code.hatch, label);
        }
        return line + 4;
    }

    static float card(Ui& ui, Session& session, const model::Finding& finding, size_t number, double time_us, const Rect& at,
                      const Rect& view) {
        const Theme& theme = *ui.theme;
        constexpr float pad = 12, left = 46, right = 120;
        const float width = at.w - left - right - pad;
        const TextStyle words{.size = 13}, bold{.size = 13, .weight = 600}, small{.size = 12, .color = theme.ink2};
        const float sentence = ui.paragraph({0, 0, width, 400}, finding.sentence, words, 19, false),
                    change = ui.paragraph({0, 0, width, 400}, finding.change, bold, 19, false),
                    evidence = ui.paragraph({0, 0, width, 400}, finding.evidence, small, 17, false);
        const Rect box{at.x, at.y, at.w, 36 + sentence + 4 + evidence + 6 + change + pad};
        if (box.bottom() < view.y || box.y > view.bottom()) return box.bottom();
        const bool goes = finding.line > 0;
        ui.rect(box, goes && ui.hovered(box) ? theme.selected : theme.panel2, 5);
        ui.frame(box, number == 1 ? data::sky : theme.line, number == 1 ? 1.5f : 1, 5);
        ui.circle({box.x + 24, box.y + 22}, 12, number == 1 ? data::sky : theme.line);
        ui.text(box.x + 24, box.y + 27, std::to_string(number),
                {.size = 14, .color = number == 1 ? rgb(0x10161C) : theme.ink, .align = Align::center, .weight = 600});
        float x =
            ui.text(box.x + left, box.y + 27, model::title_of(finding.rule), {.size = 15, .weight = 600, .width = width});
        if (goes) {
            const std::string place = (finding.more_lines.empty() ? "line " : "lines ") + model::lines_text(finding);
            const float chip = ui.text_width(place, {.size = 12}) + 14;
            if (x + 10 + chip < box.x + left + width + right * 0.4f) {
                ui.frame({x + 10, box.y + 12, chip, 19}, theme.line, 1, 4);
                ui.text(x + 17, box.y + 26, place, {.size = 12, .color = theme.ink2});
            }
        }
        float y = box.y + 36;
        y += ui.paragraph({box.x + left, y, width, 400}, finding.sentence, words, 19) + 4;
        y += ui.paragraph({box.x + left, y, width, 400}, finding.evidence, small, 17) + 6;
        ui.paragraph({box.x + left, y, width, 400}, finding.change, bold, 19);
        ui.text(box.right() - pad, box.y + 32, factor_text(finding.gain),
                {.size = 24, .color = finding.gain >= 0.1 ? theme.right : theme.ink2, .align = Align::right, .weight = 600});
        ui.text(box.right() - pad, box.y + 52, fmt::format("{:.2f} → {:.2f} µs", time_us, time_us * (1 - finding.gain)),
                {.size = 12, .color = theme.ink2, .align = Align::right});
        ui.text(box.right() - pad, box.y + 69, finding.simulated ? "at most, simulated" : "at most, derived",
                {.size = 12, .color = theme.ink2, .align = Align::right});
        if (goes && ui.area(fmt::format("finding {}", number), box)) session.desk.go_to_line = finding.line;
        if (goes && ui.hovered(box)) ui.tooltip("go to this line");
        return box.bottom();
    }
};

}  // namespace

std::unique_ptr<View> make_verdict_view() {
    return std::make_unique<VerdictView>();
}

}  // namespace lockstep::gui
