// The learner's kernel as text. Typing goes to the desk; what the worker makes of it comes back as marks in the margin and
// one sentence below. Opening and saving take the place of the text for as long as they last.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "app/gui/shell/shell.h"
#include "app/gui/view.h"
#include "app/gui/views/kernel/file_panel.h"
#include "app/gui/views/kernel/lines/heat_margin.h"
#include "app/gui/views/kernel/lines/line_values.h"
#include "app/gui/views/program/program_data.h"
#include "app/gui/views/timeline/state_code.h"
#include "app/gui/views/training/tape_data.h"
#include "app/gui/widgets/text_editor.h"
#include "app/gui/widgets/ui_state.h"
#include "core/model/gpus/gpu_file.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

bool own_shown(const Snapshot& snapshot) {
    return snapshot.own.run && snapshot.own.run->run && snapshot.kernel.run == snapshot.own.run->run;
}

std::string how_it_ended(const ProgramRun& run) {
    if (run.ended.starts_with("exit status")) return "It ended with " + run.ended;
    if (run.ended.starts_with("it could not")) return "I" + run.ended.substr(1);
    return "It was " + run.ended;  // cancelled, given up, ended by a signal
}

std::string program_caption(const KernelDesk& desk, const Snapshot& snapshot) {
    if (desk.compiling(snapshot))
        return desk.trusts() ? "It is built and run when you pause." : "It is built when you pause.";
    const CompiledKernel& compiled = *snapshot.own.compiled;
    if (!compiled.ok) {
        const int line = compiled.messages.empty() ? 0 : compiled.messages.front().where.line;
        return (line > 0 ? fmt::format("Line {} does not compile", line) : std::string("It could not be built")) +
               (snapshot.program.run ? "; what ran last stays on show." : ".");
    }
    const ProgramRun* const run = snapshot.program.run.get();
    if (!run || run->version != desk.version())
        return fmt::format("Built by {} in {}. Run (F5) runs its host part too, as any program of yours.", compiled.compiler,
                           wall_time_text(compiled.seconds));
    if (run->running) return "It runs.";
    std::string text = run->good() ? "Every call and kernel ran; beside a line stands what it took" : how_it_ended(*run);
    if (desk.edit_to_result >= 0) text += fmt::format("; edit to result {}", wall_time_text(desk.edit_to_result));
    return text + ".";
}

std::string caption_of(const KernelDesk& desk, const Snapshot& snapshot) {
    const bool tape = desk.document().is_tape();
    if (desk.document().is_program()) return program_caption(desk, snapshot);
    if (desk.document().is_header() || desk.owner() > 0) {
        const size_t whole = desk.owner();
        return whole > 0
                   ? fmt::format("A part of {}: Run (F5) saves it and runs that.", desk.documents()[whole].shown_name())
                   : std::string("A header: it runs with a file of its folder that includes it.");
    }
    if (desk.document().is_lesson_text()) return "An answer to an exercise: Check it (F7) runs and judges it.";
    if (!snapshot.own.compiled) return tape ? "It runs when you pause." : "The text is compiled when you pause.";
    const CompiledKernel& compiled = *snapshot.own.compiled;
    if (desk.compiling(snapshot))
        return tape ? "Changed; it runs when you pause." : "Changed; it is compiled when you pause.";
    if (!compiled.ok && tape) {
        const int line = compiled.messages.empty() ? 0 : compiled.messages.front().where.line;
        return (line > 0 ? fmt::format("Line {} is wrong", line) : std::string("It cannot run")) +
               (snapshot.tape ? "; the last program that ran stays on show." : "; the reports say why.");
    }
    if (tape && snapshot.own.result && snapshot.own.result->version == desk.version() && snapshot.tape) {
        if (snapshot.own.result->refused) return "It was stopped; the reports say why.";
        return fmt::format(
            "Ran on {} in {}{}.", snapshot.tape->step->device == "host" ? "the host" : "the modelled GPU",
            wall_time_text(snapshot.own.result->seconds),
            desk.edit_to_result >= 0 ? fmt::format("; edit to result {}", wall_time_text(desk.edit_to_result)) : "");
    }
    if (!compiled.ok) {
        const auto error = std::find_if(compiled.messages.begin(), compiled.messages.end(),
                                        [](const Diagnostic& d) { return d.severity == Severity::error; });
        std::string what = "It does not compile";
        if (error != compiled.messages.end() && error->where.line > 0)
            what = fmt::format("Line {} does not compile", error->where.line);
        return what + (!desk.stale_run(snapshot).empty() ? "; the pictures are of its last run, before that change."
                       : snapshot.own.runnable           ? "; the last text that did can still be run."
                                                         : ".");
    }
    const bool host = desk.document().is_host();
    std::string text =
        compiled.compiler.empty() ? fmt::format("{} read in {}",
                                                tape   ? "Tensor program"
                                                : host ? "Host program"
                                                       : "PTX",
                                                wall_time_text(compiled.seconds))
        : compiled.from_cache
            ? fmt::format("Compiled before by {}, read in {}", compiled.compiler, wall_time_text(compiled.seconds))
            : fmt::format("Compiled by {} in {}", compiled.compiler, wall_time_text(compiled.seconds));
    if (snapshot.own.result && snapshot.own.result->version == desk.version() &&
        (snapshot.own.result->run || (host && !snapshot.own.result->refused))) {
        text += fmt::format(", run in {}", wall_time_text(snapshot.own.result->seconds));
        if (desk.edit_to_result >= 0) text += fmt::format("; edit to result {}", wall_time_text(desk.edit_to_result));
    }
    return text + ".";
}

std::string upper_case(std::string text) {
    for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return text;
}

std::string_view title_of(const KernelDocument& document) {
    return document.is_program() ? "Program"
           : document.is_tape()  ? "Tensor program"
           : document.is_host()  ? "Host program"
                                 : "Kernel";
}

constexpr float legend_height = 22;

class EditorView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        KernelDesk& desk = session.desk;
        if (opened_ != desk.opened()) {
            opened_ = desk.opened();
            first_version_ = desk.version();
            take_over(desk.document());
        }
        take_wish(session);
        const KernelDocument& document = desk.document();
        const bool low = area.h < 230;  // the text needs the room more than the sentence
        const bool broken = snapshot->own.compiled && !snapshot->own.compiled->ok && !desk.compiling(*snapshot) &&
                            !document.is_lesson_text() && !document.is_header() && desk.owner() == 0;
        const std::string right = document.path.empty() ? "not in a file yet" : document.saved() ? "saved" : "not saved";
        const std::string sentence = caption_of(desk, *snapshot);
        const Rect whole = ui.panel(area, {.title = std::string(title_of(document)) + "  " + document.shown_name(),
                                           .right = right,
                                           .badge = broken || !snapshot->own.compiled             ? Provenance::none
                                                    : document.is_tape() || document.is_program() ? Provenance::executed
                                                                                                  : Provenance::measured,
                                           .caption = low ? std::string_view() : sentence});
        if (!low && (broken || !snapshot->own.compiled))
            ui.line({area.x + 1, whole.bottom() + 8}, {area.right() - 1, whole.bottom() + 8}, ui.theme->grid);
        ui.push_scope("editor");
        const float tabs_h = panel_.open() ? 0 : tabs(ui, desk, {whole.x, whole.y - 4, whole.w, 28});
        const Rect body{whole.x, whole.y + tabs_h, whole.w, whole.h - tabs_h};
        if (panel_.open()) {
            if (const auto chosen = panel_.draw(ui, session, body)) finish(session, *chosen);
            ui.pop_scope();
            return;
        }
        float x = body.x;
        float y = body.y - 4;
        const auto wrap = [&](std::string_view label) {  // into a row of its own rather than out of sight
            if (!low && x > body.x && x + ui.chip_width(label) > body.right()) x = body.x, y += 30;
            return x + ui.chip_width(label) <= body.right();
        };
        const bool running = snapshot->busy.starts_with("running ");
        if (ui.chip(x, y, running ? "Cancel" : "Run", running)) running ? desk.cancel(session) : desk.run(session);
        if (ui.chip(x, y, "New, open")) panel_.show(FilePanel::Mode::open, document.path);
        if (ui.chip(x, y, "Save", false, !document.saved())) desk.wish = DeskWish::save;
        if (wrap("Find") && ui.chip(x, y, "Find")) editor_.open_find();
        if (document.is_tape()) {
            bool& timed = desk.document().launch.timed;
            if (ui.chip(x, y, timed ? "on " + upper_case(model::short_name(document.launch.gpu)) : "on the host"))
                timed = !timed, desk.touch();
        }
        program_chips(ui, desk, x, y, wrap);
        const bool busy = !snapshot->busy.empty() && desk.compiling(*snapshot);
        std::string state = busy  ? snapshot->busy
                            : low ? sentence
                                  : fmt::format("line {}, column {}", editor_.buffer.caret().line + 1,
                                                editor_.buffer.cells_before(editor_.buffer.caret()) + 1);
        if (heat_.of(session, *snapshot) != nullptr) {
            if (wrap("Heat") && ui.chip(x, y, "Heat", desk.shows_heat)) desk.shows_heat = !desk.shows_heat;
            if (wrap("Values") && ui.chip(x, y, "Values", desk.shows_values)) desk.shows_values = !desk.shows_values;
        }
        if (!busy && !low && ui.text_width(state, {.size = 12}) > body.right() - x - 8)  // no room for the words
            state = fmt::format("{}:{}", editor_.buffer.caret().line + 1,
                                editor_.buffer.cells_before(editor_.buffer.caret()) + 1);
        if (const float room = body.right() - x - 8; room > 30)
            ui.text(body.right(), y + 18, state,
                    {.size = 12, .color = ui.theme->quiet, .align = Align::right, .width = room});
        follow(session, focus, *snapshot);
        const float top = y + 32;  // below the chips
        paint(ui, session, focus, *snapshot, {body.x, top, body.w, body.bottom() - top});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const KernelDocument& document = session.desk.document();
        std::string text = fmt::format("{} {}, {}\n", title_of(document), document.shown_name(),
                                       document.path.empty() ? "not in a file yet"
                                       : document.saved()    ? "saved in " + document.path
                                                             : "not saved, file " + document.path);
        TextBuffer lines;
        lines.set_text(document.text);
        const auto marks = marks_of(session, *snapshot);
        const ProgramBoard board = document.is_program() ? make_board_of(snapshot->program.run) : ProgramBoard();
        const bool fresh = board.run && board.run->version == session.desk.version();
        HeatMargin shown;
        LineValues known;
        const HeatMap* const heat = session.desk.shows_heat ? shown.of(session, *snapshot) : nullptr;
        const std::vector<LineValue> values = shows_values(session, *snapshot, shown)
                                                  ? known.at(snapshot->kernel, focus.lane, document.shown_name())
                                                  : std::vector<LineValue>();
        for (size_t i = 0; i < lines.lines().size() && i < 400; ++i) {
            const auto number = static_cast<int32_t>(i) + 1;
            const bool here = document.is_tape() ? number == tape_line(session, *snapshot, focus)
                                                 : number == focus.line && own_shown(*snapshot) &&
                                                       has_lines_of(*snapshot->kernel.run, document.shown_name());
            const auto note = std::find_if(board.notes.begin(), board.notes.end(),
                                           [&](const LineNote& n) { return fresh && n.line == number; });
            text += fmt::format("  {}{:3}  {}{}{}\n", here ? '>' : ' ', number, lines.lines()[i],
                                note == board.notes.end() ? "" : "   <- " + note->text, beside(heat, shown, values, number));
            for (const LineMark& mark : marks) {
                if (mark.line != number) continue;
                if (mark.column > 1) text += std::string(static_cast<size_t>(mark.column) + 7, ' ') + "^\n";
                text += fmt::format("       {}: {}\n", mark.severity == Severity::error ? "error" : "warning", mark.message);
            }
        }
        if (!values.empty()) text += "  Values of " + moment_of(snapshot->kernel, focus.lane) + ".\n";
        return text + "  " + caption_of(session.desk, *snapshot) + "\n";
    }

  private:
    HeatMargin heat_;
    LineValues values_;
    std::vector<LineNote> inlays_;
    std::string shown_key_;
    std::map<std::string, TextEditor> parked_;  // of documents that are not shown, by path and name
    TextEditor editor_;
    FilePanel panel_;
    uint64_t opened_ = 0, first_version_ = 0;
    int64_t seen_step_ = -1;
    std::shared_ptr<const simt::WarpHistory> seen_history_;
    int32_t seen_line_ = -1;

    ProgramBoards boards_;
    std::vector<CodeBand> bands_;
    uint64_t banded_version_ = 0;

    // Another document: the one before keeps its place, its selection and what can be undone.
    void take_over(const KernelDocument& document) {
        const auto key = [](const KernelDocument& one) { return one.path + '\n' + one.name; };
        if (key(document) == shown_key_) {  // the same one was given another text, which can be undone
            if (editor_.buffer.text() == document.text) return;
            editor_.buffer.select_all();
            editor_.buffer.insert(document.text);
            editor_.buffer.move(Motion::text_begin);
            return;
        }
        if (!shown_key_.empty()) parked_[shown_key_] = std::move(editor_);
        editor_ = {};
        shown_key_ = key(document);
        const auto known = parked_.find(shown_key_);
        if (known != parked_.end() && known->second.buffer.text() == document.text)
            editor_ = std::move(known->second);
        else
            editor_.open(document.text);
        if (known != parked_.end()) parked_.erase(known);
        if (parked_.size() > KernelDesk::most_documents) parked_.clear();
    }

    // The files of the program; returns the height of their strip.
    static float tabs(Ui& ui, KernelDesk& desk, const Rect& r) {
        const std::vector<size_t> all = desk.tabs();
        if (all.size() < 2) return 0;
        ui.push_scope("tabs");
        float x = r.x;
        for (const size_t index : all) {
            const KernelDocument& one = desk.documents()[index];
            const std::string label = one.shown_name() + (one.saved() ? "" : " *");
            if (x + ui.chip_width(label) > r.right() - 30) break;
            if (ui.chip(x, r.y, label, index == 0) && index != 0) {
                desk.show(index);
                break;  // the others stand elsewhere now
            }
        }
        if (ui.chip(x, r.y, "×")) desk.close_tab(0);
        ui.pop_scope();
        return 32;
    }

    // Of a text with main(): whether it is a program or kernels alone; how launches are timed, and what is checked.
    template <class Wrap>
    static void program_chips(Ui& ui, KernelDesk& desk, float& x, float& y, const Wrap& wrap) {
        LaunchSettings& launch = desk.document().launch;
        if (!desk.document().is_program()) {
            if (!launch.kernels_alone) return;
            if (wrap("kernels alone") && ui.chip(x, y, "kernels alone", true))
                launch.kernels_alone = false, desk.changed_kind();
            return;
        }
        const std::string timed = launch.time == "first" ? "time first 3" : launch.time == "all" ? "time all" : "untimed";
        if (wrap(timed) && ui.chip(x, y, timed)) {
            launch.time = launch.time == "first" ? "all" : launch.time == "all" ? "none" : "first";
            desk.touch();
        }
        const bool checks = launch.racecheck && launch.initcheck;
        if (wrap("check all") && ui.chip(x, y, "check all", checks)) {
            launch.racecheck = launch.initcheck = launch.synccheck = !checks;
            desk.touch();
        }
        if (wrap("kernels alone") && ui.chip(x, y, "kernels alone")) launch.kernels_alone = true, desk.changed_kind();
    }

    // Values are of the text that ran: once it is another one, they would stand beside the wrong lines.
    static bool shows_values(const Session& session, const Snapshot& snapshot, HeatMargin& heat) {
        heat.of(session, snapshot);
        return session.desk.shows_values && snapshot.source == Source::own && snapshot.kernel.run &&
               session.learn.reveal_steps < 0 && !heat.stale() && !session.desk.document().is_host() &&
               !session.desk.document().is_tape();
    }

    static std::string beside(const HeatMap* heat, const HeatMargin& shown, const std::vector<LineValue>& values,
                              int32_t line) {
        std::string text;
        if (const LineHeat* const found = heat == nullptr ? nullptr : heat_at(*heat, shown.line_then(line)))
            text += fmt::format("   [{:.1f} % {}{}]", 100 * found->share, row_of(found->wait).label,
                                found->wasteful() ? fmt::format(", {:.1f} sectors a request", found->sectors) : "");
        for (const LineValue& value : values)
            if (value.line == line) text += "   {" + value.text + "}";
        return text;
    }

    // Whose figures stand beside the lines: the waits that most of the time went to, and the moment of the values.
    void legend(Ui& ui, const HeatMap* heat, const Snapshot& snapshot, const Focus& focus, const Rect& r) {
        const Theme& theme = *ui.theme;
        float x = r.x, right = r.right();
        if (!inlays_.empty()) {
            const std::string moment = moment_of(snapshot.kernel, std::clamp(focus.lane, 0, 31));
            const float width = std::min(ui.text_width(moment, {.size = 12}), r.w * 0.5f);
            ui.text(right, r.y + 15, moment, {.size = 12, .color = theme.ink2, .align = Align::right, .width = width + 2});
            right -= width + 12;
        }
        if (heat == nullptr) return;
        x = ui.text(x, r.y + 15, heat_.stale() ? "simulated time before the edit" : "simulated time",
                    {.size = 12, .color = theme.ink2}) +
            10;
        std::vector<size_t> order(state_count);
        for (size_t s = 0; s < state_count; ++s) order[s] = s;
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return heat->by_state[a] > heat->by_state[b]; });
        for (const size_t s : order) {
            if (heat->by_state[s] < 0.01) break;
            const StateCode& code = code_of(static_cast<StallReason>(s));
            const std::string label = fmt::format("{} {:.0f} %", code.brief, 100 * heat->by_state[s]);
            if (x + ui.text_width(label, {.size = 12}) + 26 > right) break;
            x = ui.legend(x, r.y + 15, code.color, code.hatch, label);
        }
    }

    void take_wish(Session& session) {
        KernelDesk& desk = session.desk;
        const DeskWish wish = desk.wish;
        if (desk.go_to_line > 0) {
            panel_.close();
            editor_.go_to(desk.go_to_line, desk.go_to_column);
            desk.go_to_line = desk.go_to_column = 0;
        }
        if (wish == DeskWish::none || wish == DeskWish::next_report || wish == DeskWish::previous_report) return;
        desk.wish = DeskWish::none;
        if (wish == DeskWish::find) editor_.open_find();
        if (wish == DeskWish::open) panel_.show(FilePanel::Mode::open, desk.document().path);
        if (wish == DeskWish::save && !desk.document().path.empty()) {
            if (const auto problem = desk.save(desk.document().path))
                session.post(ask::Tell{*problem});
            else if (session.snapshot()->problem)
                session.post(ask::Dismiss{});  // what kept it from being saved does so no more
        } else if (wish == DeskWish::save || wish == DeskWish::save_as) {
            desk.withdraw();
            panel_.show(FilePanel::Mode::save,
                        desk.document().path.empty() ? desk.document().shown_name() : desk.document().path);
        }
    }

    void finish(Session& session, const FileChoice& chosen) {
        KernelDesk& desk = session.desk;
        std::optional<std::string> problem;
        switch (chosen.kind) {
            case FileChoice::Kind::open:
                problem = desk.open(chosen.path);
                break;
            case FileChoice::Kind::save:
                problem = desk.save(chosen.path);
                break;
            case FileChoice::Kind::document:
                desk.show(chosen.index);
                break;
            case FileChoice::Kind::made:
                desk.open_template(kernel_templates()[chosen.index]);
                break;
            case FileChoice::Kind::none:
                break;
        }
        if (problem) return panel_.say(*problem);
        panel_.close();
        editor_.take_keyboard();
    }

    std::vector<LineMark> marks_of(const Session& session, const Snapshot& snapshot) const {
        std::vector<LineMark> marks;
        if (snapshot.own.compiled && (opened_ == 0 || snapshot.own.compiled->version >= first_version_))
            for (const Diagnostic& message : snapshot.own.compiled->messages)
                if (message.where.line > 0)
                    marks.push_back({message.where.line, message.severity, message.message, message.where.column});
        if (snapshot.own.result && snapshot.own.result->version == session.desk.version() && snapshot.own.result->run &&
            has_lines_of(*snapshot.own.result->run, session.desk.document().shown_name()))
            for (const simt::Fault& fault : snapshot.own.result->reports())
                if (const int32_t line = session.desk.document().is_ptx() ? fault.ptx_line : fault.line; line > 0)
                    marks.push_back({line, Severity::error, fault.kind + ": " + fault.message});
        if (const auto& program = snapshot.program.run;  // its refused calls and launches, what it leaks
            program && session.desk.document().is_program() && program->version == session.desk.version())
            for (const ProgramFinding& finding : findings_of(*program))
                if (const auto known = [&](const LineMark& mark) { return mark.line == finding.line; };
                    finding.line > 0 && std::none_of(marks.begin(), marks.end(), known))
                    marks.push_back({finding.line, finding.warning ? Severity::warning : Severity::error,
                                     finding.kind + ": " + finding.message});
        return marks;
    }

    // A new instruction moves the focused line.
    void follow(const Session& session, Focus& focus, const Snapshot& snapshot) {
        if (!own_shown(snapshot) || !snapshot.kernel.history ||
            (session.sm.history_step == seen_step_ && seen_history_ == snapshot.kernel.history))
            return;
        if (session.sm.history_step < 0 ||
            session.sm.history_step >= static_cast<int64_t>(snapshot.kernel.history->steps.size()))
            return;
        seen_step_ = session.sm.history_step;
        seen_history_ = snapshot.kernel.history;
        const uint32_t pc = snapshot.kernel.history->steps[static_cast<size_t>(seen_step_)].pc;
        const auto& instructions = snapshot.kernel.run->program->instructions;
        if (pc >= instructions.size()) return;
        focus.pc = static_cast<int32_t>(pc);
        if (instructions[pc].line > 0) focus.line = instructions[pc].line;
    }

    // The first launch of the line, else its first call.
    void go_to_program_line(Session& session, const Snapshot& snapshot, int32_t line) {
        session.program.line = line;
        const ProgramBoard& board = boards_.of(snapshot);
        if (!board.run || board.run->version != session.desk.version()) return;
        const runtime::Report& report = board.run->report;
        const auto here = [&](const runtime::CallSite& site) {
            return site.line == line && board.run->is_own_line(site.file);
        };
        const auto launch = std::find_if(report.launches.begin(), report.launches.end(),
                                         [&](const runtime::LaunchRecord& l) { return here(l.site); });
        if (launch != report.launches.end()) {
            session.program.call = launch->call;
            return session.post(ask::OpenLaunch{launch - report.launches.begin()});
        }
        const auto call = std::find_if(report.calls.begin(), report.calls.end(),
                                       [&](const runtime::CallRecord& c) { return here(c.site); });
        if (call != report.calls.end()) session.program.call = call - report.calls.begin();
    }

    void paint(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Rect& r) {
        KernelDesk& desk = session.desk;
        const bool host = desk.document().is_host(), tape = desk.document().is_tape();
        const bool ptx = desk.document().is_ptx(), own = own_shown(snapshot) && !host && !tape;
        const auto line_of_pc = [&](size_t pc) {
            const auto& i = snapshot.kernel.run->program->instructions[pc];
            return ptx ? i.ptx_line : i.line;
        };
        const std::vector<LineMark> marks = marks_of(session, snapshot);
        EditorLook look{.ptx = ptx,
                        .program = host || tape,
                        .marks = marks,
                        .hint = tape ? std::string_view("Write param x = 2, z = x^2, backward z; or open a file (Ctrl O).")
                                     : "Write a __global__ function, open a file (Ctrl O), or drop one here."};
        if (own) {
            look.line =
                ptx && focus.pc >= 0 && static_cast<size_t>(focus.pc) < snapshot.kernel.run->program->instructions.size()
                    ? line_of_pc(static_cast<size_t>(focus.pc))
                : has_lines_of(*snapshot.kernel.run, desk.document().shown_name()) ? focus.line
                                                                                   : 0;
            look.stale = snapshot.own.run->version != desk.version();
        }
        const bool program = desk.document().is_program();
        if (program) {
            if (banded_version_ != desk.version()) bands_ = bands_of(desk.document().text), banded_version_ = desk.version();
            look.bands = bands_;
            const ProgramBoard& board = boards_.of(snapshot);
            const bool fresh = board.run && board.run->version == desk.version();
            if (fresh) look.notes = board.notes;
            if (look.line <= 0 || session.program.line > 0) look.line = session.program.line;
            look.stale = !fresh;
        }
        if (host) look.line = session.host_line;
        if (tape) {
            look.line = tape_line(session, snapshot, focus);
            look.stale = snapshot.tape && snapshot.tape->text.text != desk.document().text;
        }
        const HeatMap* const heat = r.w >= 380 && desk.shows_heat ? heat_.of(session, snapshot) : nullptr;
        if (heat != nullptr) {
            look.gutter = HeatMargin::width(r.w);
            look.paint_gutter = [&](Ui& drawn, const Rect& row, int32_t line) {
                if (const LineHeat* const found = heat_at(*heat, heat_.line_then(line)))
                    heat_.draw(drawn, *heat, *found, row);
            };
        }
        inlays_.clear();
        if (shows_values(session, snapshot, heat_))
            for (const LineValue& value : values_.at(snapshot.kernel, focus.lane, desk.document().shown_name()))
                inlays_.push_back({value.line, value.text, false, value.from});
        look.inlays = inlays_;
        const bool has_legend = (heat != nullptr || !inlays_.empty()) && r.h > 150;
        const Rect code{r.x, r.y, r.w, r.h - (has_legend ? legend_height : 0)};
        if (has_legend) legend(ui, heat, snapshot, focus, {r.x, code.bottom() + 2, r.w, legend_height - 2});
        if (look.line != seen_line_ && !editor_.has_keyboard()) editor_.reveal(look.line);
        seen_line_ = look.line;
        if (editor_.draw(ui, code, look)) desk.set_text(editor_.buffer.text());
        if (host && editor_.clicked_line > 0) session.host_line = editor_.clicked_line;
        if (program && editor_.clicked_line > 0) go_to_program_line(session, snapshot, editor_.clicked_line);
        if (tape && editor_.clicked_line > 0) go_to_tape_line(session, snapshot, focus, editor_.clicked_line);
        if (editor_.clicked_line > 0 && own && snapshot.kernel.history) {  // to the first time that the warp runs that line
            const auto& steps = snapshot.kernel.history->steps;
            for (size_t i = 0; i < steps.size(); ++i) {
                if (steps[i].pc >= snapshot.kernel.run->program->instructions.size() ||
                    line_of_pc(steps[i].pc) != editor_.clicked_line)
                    continue;
                session.playing = false;
                session.grain = Grain::instruction;
                session.sm.history_step = static_cast<int64_t>(i);
                move(session, focus, snapshot, Grain::instruction, 0);
                ui.animate();
                break;
            }
        }
    }
};

}  // namespace

std::unique_ptr<View> make_editor_view() {
    return std::make_unique<EditorView>();
}

}  // namespace lockstep::gui
