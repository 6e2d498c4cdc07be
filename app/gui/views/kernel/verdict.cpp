// "Why is it slow?": what the warps' time went to, and the findings of core/model/advice as cards, the largest gain first. A
// card leads to its lines and to the picture of its cause, and tries its what-if: the launch simulated without that cause,
// whose counters then stand beside those of the run (before_after.cpp). Gains are simulated by themselves where that is
// short, else when they are asked for.
#include "core/model/advice/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/gui/view.h"
#include "app/gui/views/timeline/state_code.h"
#include "app/gui/widgets/labels.h"
#include "core/base/units.h"
#include "core/runtime/report/advice.h"

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

struct Card {  // of a finding in a kernel, or of advice on a whole program
    std::string_view title;
    std::string sentence, evidence, change;
    std::string lines;                 // "lines 5 and 7"
    int32_t line = 0;                  // of the document; 0: none of it
    std::vector<int32_t> places = {};  // all of them
    std::string_view rule = {}, what_if = {};
    bool tried = false;
    double gain = 0, time_us = 0;
    bool simulated = false, gain_unknown = false;
    std::string heading = {}, kernel = {};  // of a program: what begins with this card; whose launch it is about
};

Card card_of(const model::Finding& finding, const model::KernelRun& run) {
    Card card;
    card.title = model::title_of(finding.rule);
    card.sentence = finding.sentence;
    card.evidence = finding.evidence;
    card.change = finding.change;
    card.line = finding.line;
    card.gain = finding.gain;
    card.time_us = run.result.time_us;
    card.simulated = finding.simulated;
    card.gain_unknown = finding.gain_unknown;
    card.rule = finding.rule;
    if (run.before) card.what_if = finding.what_if;
    if (finding.line > 0) card.places = finding.more_lines, card.places.insert(card.places.begin(), finding.line);
    if (finding.line > 0) card.lines = (finding.more_lines.empty() ? "line " : "lines ") + model::lines_text(finding);
    return card;
}

// Of the program on the desk, once it has ended and told what it did.
std::vector<Card> cards_of_program(const Session& session, const Snapshot& snapshot) {
    std::vector<Card> cards;
    const auto& run = snapshot.program.run;
    if (!session.desk.document().is_program() || !run || run->running || !run->reported) return cards;
    for (const runtime::Advice& advice : runtime::advice_on(run->report)) {
        const bool own = advice.site.line > 0 && run->is_own_line(advice.site.file);
        Card& card = cards.emplace_back();
        card.title = runtime::title_of_program_rule(advice.rule);
        card.sentence = advice.sentence;
        card.evidence = advice.evidence;
        card.change = advice.change;
        card.lines = advice.site.line > 0 ? fmt::format("line {}", advice.site.line) : "";
        card.line = own ? advice.site.line : 0;
        if (own) card.places = {advice.site.line};
        card.gain = advice.gain;
        card.time_us = run->report.total_us;
        if (cards.size() == 1) card.heading = "The program";
    }
    for (const runtime::LimitedKernel& limited : runtime::limited_kernels(run->report)) {
        std::string heading = fmt::format("{}: {:.0f} % of the kernels' time", limited.kernel, 100 * limited.share);
        for (const runtime::LaunchFinding& finding : limited.launch->findings) {
            const bool own = finding.line > 0 && run->is_own_line(finding.file);
            Card& card = cards.emplace_back();
            card.title = model::title_of(finding.rule);
            card.sentence = finding.sentence;
            card.evidence = finding.evidence;
            card.change = finding.change;
            card.lines = finding.line > 0 ? fmt::format("line {}", finding.line) : "";
            card.line = own ? finding.line : 0;
            if (own) card.places = {finding.line};
            card.gain = finding.gain;
            card.time_us = limited.launch->time_us;
            card.heading = std::exchange(heading, {});
            card.kernel = limited.kernel;
        }
    }
    return cards;
}

bool is_told(const KernelState& kernel) {
    return kernel.run && kernel.verdict && !kernel.run->result.fault && !kernel.run->result.stopped &&
           kernel.run->result.cycles > 0;
}

// Whether a card of the program is about the kernel that is on show, whose own verdict knows more.
bool is_on_show(const Card& card, const KernelState& kernel, bool told) {
    return told && !card.kernel.empty() && kernel.run->program->shown_name() == card.kernel;
}

std::string caption_of(const model::Verdict& verdict) {
    if (verdict.findings.empty()) return "No rule for slow kernels applies: what is left is the work itself.";
    const bool all = std::all_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const model::Finding& finding) { return finding.simulated || finding.what_if.empty(); });
    return all ? "A gain is about what the launch saves when only this cause is gone: simulated where the model can, else "
                 "from "
                 "counters."
               : "Gains are derived from counters so far; simulate them to see what each cause alone costs.";
}

// What limits a launch of sizes that the app guessed may be the guess: said before the advice.
std::string words_on_guess(const Session& session, const Snapshot& snapshot) {
    const auto& own = snapshot.own.run;
    if (session.desk.document().is_program() || !own || !own->run || own->run != snapshot.kernel.run) return {};
    const std::string guessed = guessed_sizes(own->settings);
    if (guessed.empty()) return {};
    return fmt::format(
        "This holds for sizes that are the app's guess: {}. Where yours are others, set them under Launch first.", guessed);
}

// "Begin with 1: alone, the others hardly help." Empty where there is no such first one.
std::string begin_with(const std::vector<model::Finding>& findings) {
    if (findings.size() < 2 || findings[0].gain_unknown || findings[0].gain < 0.1) return {};
    double others = 0;
    for (size_t i = 1; i < findings.size(); ++i)
        if (!findings[i].gain_unknown) others = std::max(others, findings[i].gain);
    return others < 0.05 ? "Begin with 1: alone, the others hardly help." : "Begin with 1.";
}

// Where the cause of a rule can be seen.
Workspace picture_of(std::string_view rule) {
    static constexpr std::string_view of_memory[] = {"uncoalesced",   "misaligned",     "bank-conflicts", "local-memory",
                                                     "uniform-loads", "atomics",        "l2-thrash",      "full-queues",
                                                     "constants",     "register-spills"};
    const bool memory = std::find(std::begin(of_memory), std::end(of_memory), rule) != std::end(of_memory);
    return memory ? Workspace::memory : Workspace::sm;
}

class VerdictView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const KernelState& kernel = snapshot->kernel;
        const bool hidden = session.learn.reveal_steps >= 0, of_kernel = is_told(kernel) && !hidden;
        const std::vector<Card>& of_program = cards(session, *snapshot);
        const bool told = of_kernel || !of_program.empty();
        const std::string right =
            of_kernel ? fmt::format("{}: {}, {}", kernel.run->program->shown_name(),
                                    counted(kernel.run->result.cycles, "cycle"), time_text(kernel.run->result.time_us))
                      : std::string();
        const std::string sentence =
            of_kernel ? caption_of(*kernel.verdict) : std::string("What limits a kernel, and what a change would gain.");
        const Rect body = ui.panel(area, {.title = "Why is it slow?",
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
        const float offset = ui.scroll("all", {body.x, body.y - 4, body.w + 10, body.h + 4}, height_);
        ui.clip({body.x - 8, body.y - 4, body.w + 16, body.h + 8});
        float y = body.y - offset;
        size_t number = 0;
        const auto draw_card = [&](const Card& card) {
            y = paint(ui, session, focus, card, ++number, {body.x, y, body.w - 2, 0}, body) + 10;
        };
        const TextStyle heading{.size = 16, .weight = 600};
        for (const Card& card : of_program) {
            if (is_on_show(card, kernel, of_kernel)) continue;
            if (!card.heading.empty()) y += ui.paragraph({body.x, y, body.w, 200}, card.heading, heading, 22) + 8;
            draw_card(card);
        }
        if (of_kernel) {
            const model::Verdict& verdict = *kernel.verdict;
            const std::string launch = of_program.empty() ? "" : kernel.label + ": ";
            const std::string begin = begin_with(verdict.findings);
            y += ui.paragraph({body.x, y, body.w, 200}, launch + verdict.limit + (begin.empty() ? "" : " " + begin), heading,
                              22) +
                 8;
            if (const std::string guess = words_on_guess(session, *snapshot); !guess.empty())
                y += ui.paragraph({body.x, y, body.w, 200}, guess, {.size = 13, .color = ui.theme->ink2}, 19) + 8;
            y = strip(ui, *kernel.run, {body.x, y, body.w, 20}) + 10;
            y = wish_for_gains(ui, session, *snapshot, {body.x, y, body.w, 26});
            for (const model::Finding& finding : verdict.findings) {
                Card card = card_of(finding, *kernel.run);
                card.tried = kernel.tried && kernel.tried->name == finding.what_if;
                draw_card(card);
            }
        }
        height_ = y + offset - body.y;
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (session.learn.reveal_steps >= 0) return "Why is it slow? It is told when you lock an answer.\n";
        std::string text = "Why is it slow? (simulated)\n";
        for (const Card& card : cards_of_program(session, *snapshot)) {
            if (is_on_show(card, snapshot->kernel, is_told(snapshot->kernel))) continue;
            const std::string of = card.kernel.empty() ? "program" : card.kernel;
            text += fmt::format("  {}: {}: {}{}{} Saves about {:.0f} % (derived from {}); {}. {}\n", of, card.title,
                                card.lines, card.lines.empty() ? "" : ": ", card.sentence, 100 * card.gain,
                                card.kernel.empty() ? "the timeline" : "counters", card.evidence, card.change);
        }
        if (!is_told(snapshot->kernel)) return text + "  no kernel has been timed yet.\n";
        const model::Verdict& verdict = *snapshot->kernel.verdict;
        const std::string begin = begin_with(verdict.findings);
        text += "  " + verdict.limit + (begin.empty() ? "" : " " + begin) + "\n";
        if (const std::string guess = words_on_guess(session, *snapshot); !guess.empty()) text += "  " + guess + "\n";
        for (const model::Finding& finding : verdict.findings)
            text += fmt::format("  {}: {}{} Saves {}; {}. {}\n", model::title_of(finding.rule),
                                finding.line > 0 ? fmt::format("{}:{}: ", finding.file, finding.line) : "", finding.sentence,
                                model::gain_text(finding), finding.evidence, finding.change);
        return text + "  " + caption_of(verdict) + "\n";
    }

  private:
    float height_ = 0;
    std::shared_ptr<const ProgramRun> run_;  // that program_ is of
    std::vector<Card> program_;

    const std::vector<Card>& cards(const Session& session, const Snapshot& snapshot) {
        if (!session.desk.document().is_program()) program_.clear(), run_.reset();
        if (snapshot.program.run != run_ && session.desk.document().is_program()) {
            run_ = snapshot.program.run;
            program_ = cards_of_program(session, snapshot);
        }
        return program_;
    }

    // A chip, where gains are derived that could be simulated. Returns what comes next.
    static float wish_for_gains(Ui& ui, Session& session, const Snapshot& snapshot, const Rect& r) {
        const KernelState& kernel = snapshot.kernel;
        const auto derived = [](const model::Finding& finding) { return !finding.simulated && !finding.what_if.empty(); };
        const std::vector<model::Finding>& findings = kernel.verdict->findings;
        if (kernel.run->before == nullptr || std::none_of(findings.begin(), findings.end(), derived)) return r.y;
        float x = r.x;
        if (ui.chip(x, r.y, "simulate the gains", false, snapshot.busy.empty())) session.post(ask::SimulateGains{});
        return r.y + 36;
    }

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

    static float paint(Ui& ui, Session& session, Focus& focus, const Card& card, size_t number, const Rect& at,
                       const Rect& view) {
        const Theme& theme = *ui.theme;
        constexpr float pad = 12, left = 46, right = 150;
        const float width = at.w - left - right - pad;
        const TextStyle words{.size = 13}, bold{.size = 13, .weight = 600}, small{.size = 12, .color = theme.ink2};
        const float sentence = ui.paragraph({0, 0, width, 400}, card.sentence, words, 19, false),
                    change = ui.paragraph({0, 0, width, 400}, card.change, bold, 19, false),
                    evidence = ui.paragraph({0, 0, width, 400}, card.evidence, small, 17, false);
        const bool buttons = !card.rule.empty();
        // Figures and buttons stand at the top: where the panel is low, they are what is in sight.
        const float words_h = 36 + sentence + 4 + evidence + 6 + change + pad;
        const Rect box{at.x, at.y, at.w, std::max(words_h, buttons ? 112.0f : 0.0f)};
        if (box.bottom() < view.y || box.y > view.bottom()) return box.bottom();
        const bool goes = card.line > 0;
        ui.rect(box, goes && ui.hovered(box) ? theme.selected : theme.panel2, 5);
        ui.frame(box, number == 1 ? data::sky : theme.line, number == 1 ? 1.5f : 1, 5);
        ui.circle({box.x + 24, box.y + 22}, 12, number == 1 ? data::sky : theme.line);
        ui.text(box.x + 24, box.y + 27, std::to_string(number),
                {.size = 14, .color = number == 1 ? rgb(0x10161C) : theme.ink, .align = Align::center, .weight = 600});
        float x = ui.text(box.x + left, box.y + 27, card.title, {.size = 15, .weight = 600, .width = width});
        const float end = box.x + left + width + right * 0.4f;
        if (buttons)
            x = line_chips(ui, session, card, number, {x + 10, box.y + 9, end - x - 10, 26});
        else if (const float chip = ui.text_width(card.lines, {.size = 12}) + 14;
                 !card.lines.empty() && x + 10 + chip < end) {
            ui.frame({x + 10, box.y + 12, chip, 19}, theme.line, 1, 4);
            ui.text(x + 17, box.y + 26, card.lines, {.size = 12, .color = theme.ink2});
        }
        float y = box.y + 36;
        y += ui.paragraph({box.x + left, y, width, 400}, card.sentence, words, 19) + 4;
        y += ui.paragraph({box.x + left, y, width, 400}, card.evidence, small, 17) + 6;
        ui.paragraph({box.x + left, y, width, 400}, card.change, bold, 19);
        if (buttons)
            ways_on(ui, session, focus, card, number,
                    {box.right() - pad - right, box.y + (card.gain_unknown ? 42.0f : 78.0f), right, 26});
        if (card.gain_unknown) {
            ui.text(box.right() - pad, box.y + 32, "gain not known",
                    {.size = 12, .color = theme.ink2, .align = Align::right});
        } else {
            ui.text(
                box.right() - pad, box.y + 32, factor_text(card.gain),
                {.size = 24, .color = card.gain >= 0.1 ? theme.right : theme.ink2, .align = Align::right, .weight = 600});
            ui.text(box.right() - pad, box.y + 52,
                    time_text(card.time_us) + " → " + time_text(card.time_us * (1 - card.gain)),
                    {.size = 12, .color = theme.ink2, .align = Align::right});
            ui.text(box.right() - pad, box.y + 69, card.simulated ? "about, simulated" : "about, derived",
                    {.size = 12, .color = theme.ink2, .align = Align::right});
        }
        const Rect leads{box.x, box.y + 36, box.w - right - pad, box.h - 36};
        if (goes && ui.area(fmt::format("finding {}", number), leads)) session.desk.go_to_line = card.line;
        if (goes && ui.hovered(leads)) ui.tooltip("go to this line");
        return box.bottom();
    }

    // Of a finding each line; returns where they end.
    static float line_chips(Ui& ui, Session& session, const Card& card, size_t number, const Rect& r) {
        ui.push_scope(fmt::format("lines {}", number));
        float x = r.x;
        for (const int32_t line : card.places) {
            const std::string label = fmt::format("line {}", line);
            if (x + ui.chip_width(label) > r.right()) break;
            if (ui.chip(x, r.y, label)) session.desk.go_to_line = line;
        }
        ui.pop_scope();
        return x;
    }

    // To the picture of the cause, and its what-if.
    static void ways_on(Ui& ui, Session& session, Focus& focus, const Card& card, size_t number, const Rect& r) {
        ui.push_scope(fmt::format("card {}", number));
        const bool tries = !card.what_if.empty();
        float x = r.right() - ui.chip_width("Picture") - (tries ? ui.chip_width("Try it") + 4 : 0);
        if (ui.chip(x, r.y, "Picture")) {
            session.workspace = picture_of(card.rule);
            if (card.line > 0) focus.line = card.line;
        }
        if (tries && ui.chip(x, r.y, "Try it", card.tried)) session.post(ask::TryWhatIf{std::string(card.what_if)});
        ui.pop_scope();
    }
};

}  // namespace

std::unique_ptr<View> make_verdict_view() {
    return std::make_unique<VerdictView>();
}

}  // namespace lockstep::gui
