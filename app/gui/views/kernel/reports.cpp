// Everything that was found wrong, one row a thing: the compiler's errors and warnings, a launch that was refused, the fault
// that stopped the run, and the checkers' reports. A row leads to its line, and to its block, warp and lane in all pictures.
#include "app/gui/views/kernel/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/desk/work_file.h"
#include "app/gui/view.h"
#include "app/gui/views/program/program_data.h"
#include "app/gui/widgets/ui_state.h"
#include "core/base/units.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

struct Row {
    std::string kind, message, place;
    bool warning = false, stale = false;
    bool fine = false;    // an answer, nothing wrong
    bool second = false;  // belongs to the row above
    int32_t line = 0, column = 0;
    std::optional<ReportPlace> where;
};

std::string indices(const simt::Dim3& d, const simt::Dim3& extent) {
    if (extent.z > 1) return fmt::format("({},{},{})", d.x, d.y, d.z);
    if (extent.y > 1) return fmt::format("({},{})", d.x, d.y);
    return std::to_string(d.x);
}

uint32_t linear(const simt::Dim3& d, const simt::Dim3& extent) {
    return d.x + extent.x * (d.y + extent.y * d.z);
}

Row row_of(const simt::Fault& fault, const model::KernelRun& run, const KernelDocument& document) {
    Row row;
    row.kind = fault.kind;
    row.message = fault.message + (fault.advice.empty() ? "" : ". " + fault.advice);
    row.warning = fault.warning;
    row.line = document.is_ptx() ? fault.ptx_line : fault.line;
    const bool placed = fault.kind != "runaway" || fault.line > 0 || fault.pc > 0;
    if (row.line > 0) row.place = fmt::format("line {}", row.line);
    if (row.line > 0 && !has_lines_of(run, document.shown_name())) {  // no place in the editor
        row.place += " of " + std::filesystem::path(run.program->source_file).filename().string();
        row.line = 0;
    }
    if (!placed) return row;
    row.place += fmt::format("{}block {} thread {}", row.place.empty() ? "" : ", ", indices(fault.block, run.config.grid),
                             indices(fault.thread, run.config.block));
    const uint32_t thread = linear(fault.thread, run.config.block);
    row.where = ReportPlace{
        linear(fault.block, run.config.grid), thread / 32, static_cast<int32_t>(thread % 32), fault.line, fault.pc, true};
    return row;
}

// What a tensor program was asked to find out, and what nobody asked: a value that is no number.
void add_tape_rows(std::vector<Row>& rows, const KernelDesk& desk, const scene::TapeRun& run) {
    const bool stale = run.text.text != desk.document().text;
    size_t hessian = 0, check = 0, hook = 0;
    for (const scene::TapeStatement& statement : run.text.statements) {
        Row row;
        row.line = statement.line;
        row.place = fmt::format("line {}", statement.line);
        row.stale = stale;
        row.fine = true;
        if (statement.kind == scene::TapeStatement::Kind::gradcheck && check < run.checks.size()) {
            const tensor::GradcheckResult& found = run.checks[check++];
            row.kind = "gradcheck";
            row.message = found.text();
            if (!found.ok()) continue;  // stands among what is wrong
        } else if (statement.kind == scene::TapeStatement::Kind::hessian && hessian < run.hessians.size()) {
            const scene::TapeHessian& found = run.hessians[hessian++];
            row.kind = "hessian";
            for (size_t i = 0; i < found.in.size(); ++i)
                for (size_t k = i; k < found.in.size(); ++k)
                    row.message += fmt::format("{} {}, {}: {:.5g}", row.message.empty() ? found.of + " twice by" : ";",
                                               found.in[i], found.in[k], found.at(i, k));
        } else if (statement.kind == scene::TapeStatement::Kind::hook && hook < run.hooks.size()) {
            const scene::TapeHook& seen = run.hooks[hook++];
            row.kind = "hook";
            row.message =
                fmt::format("the gradient of {} came as {:.5g} and went on as {:.5g}{}", seen.of, seen.came, seen.went,
                            seen.elements > 1 ? fmt::format(", the first of {} elements", seen.elements) : "");
        } else {
            continue;
        }
        rows.push_back(std::move(row));
    }
}

Row row_of(const Diagnostic& message) {
    Row row;
    row.warning = message.severity != Severity::error;
    row.kind = row.warning ? "warning" : "error";
    row.message = message.message;
    row.line = message.where.line;
    row.column = message.where.column;
    if (row.line > 0) row.place = fmt::format("line {}", row.line);
    return row;
}

Row row_of_refusal(const KernelResult& result, bool tape) {
    Row row;
    row.kind = result.cancelled ? "cancelled" : result.given_up ? "given up" : tape ? "stopped" : "launch";
    row.warning = result.cancelled || result.given_up;
    row.message = result.refused->message;
    row.place = result.field.starts_with("argument ") ? fmt::format("argument {}", std::stoi(result.field.substr(9)) + 1)
                                                      : result.field;
    return row;
}

simt::Fault other_side_of(const simt::Fault& fault) {  // of a race
    simt::Fault other = fault;
    other.kind = "with";
    other.message = "the other access";
    other.line = fault.other_line;
    other.ptx_line = fault.other_ptx_line;
    other.pc = fault.other_pc;
    other.block = fault.other_block;
    other.thread = fault.other_thread;
    return other;
}

// What is blamed on sizes that the app guessed may be the guess's fault: said before the blame.
void add_guess_row(std::vector<Row>& rows, const KernelResult& result) {
    const std::vector<simt::Fault> all = result.reports();
    // An address in shared or local memory has nothing to do with what buffers hold.
    const bool of_own_memory = std::any_of(all.begin(), all.end(), [](const simt::Fault& fault) {
        return fault.message.starts_with("invalid shared") || fault.message.starts_with("invalid local");
    });
    const bool of_sizes = !of_own_memory && std::any_of(all.begin(), all.end(), [](const simt::Fault& fault) {
        return fault.kind == "memcheck" || fault.message.find("never written") != std::string::npos;
    });
    std::string guessed;
    for (const ArgumentText& argument : result.settings.arguments)
        if (!argument.chosen && (argument.text.find('[') != std::string::npos || argument.text.ends_with(":1024")))
            guessed += (guessed.empty() ? "" : ", ") + argument.parameter + " = " + argument.text;
    if (!of_sizes || guessed.empty()) return;
    Row row;
    row.kind = "guess";
    row.warning = row.second = true;
    row.message = fmt::format(
        "What follows holds for sizes that are the app's guess: {}. Where yours are others, set them "
        "under Launch first.",
        guessed);
    rows.push_back(std::move(row));
}

// Faults, what the checkers found, and what they did not look at.
void add_run_rows(std::vector<Row>& rows, const KernelDesk& desk, const KernelResult& result) {
    add_guess_row(rows, result);
    for (const simt::Fault& fault : result.reports()) {
        rows.push_back(row_of(fault, *result.run, desk.document()));
        if (fault.other_file.empty() && fault.other_line == 0) continue;
        rows.push_back(row_of(other_side_of(fault), *result.run, desk.document()));
        rows.back().second = true;
    }
    for (const std::string& note : result.run->result.notes) {
        Row row;
        row.kind = "note";
        row.warning = true;
        row.message = note;
        rows.push_back(std::move(row));
    }
}

std::vector<Row> rows_of(const Session& session, const Snapshot& snapshot) {
    std::vector<Row> rows;
    const KernelDesk& desk = session.desk;
    if (snapshot.own.compiled)
        for (const Diagnostic& message : snapshot.own.compiled->messages) {
            rows.push_back(row_of(message));
            rows.back().stale = snapshot.own.compiled->version != desk.version();
        }
    if (desk.document().is_tape() && snapshot.tape) add_tape_rows(rows, desk, *snapshot.tape);
    if (desk.document().is_program() && snapshot.program.run) {
        const ProgramRun& run = *snapshot.program.run;
        for (const ProgramFinding& finding : findings_of(run)) {
            Row row{.kind = finding.kind, .message = finding.message, .warning = finding.warning, .line = finding.line};
            if (row.line > 0) row.place = fmt::format("line {}", row.line);
            row.stale = run.version != desk.version();
            rows.push_back(std::move(row));
        }
        return rows;
    }
    if (const auto& result = snapshot.own.result) {
        const size_t first = rows.size();
        if (result->refused) rows.push_back(row_of_refusal(*result, desk.document().is_tape()));
        if (result->run) add_run_rows(rows, desk, *result);
        for (size_t i = first; i < rows.size(); ++i) rows[i].stale = result->version != desk.version();
    }
    return rows;
}

ReportCount count_of(const std::vector<Row>& rows, bool stale) {
    ReportCount count;
    for (const Row& row : rows) {
        if (row.fine || row.second || row.stale != stale) continue;
        ++(row.warning ? count.warnings : count.errors);
    }
    return count;
}

std::string checked_text(const LaunchSettings& s) {
    std::string text = "memcheck";
    if (s.synccheck) text += ", synccheck";
    if (s.racecheck) text += ", racecheck";
    if (s.initcheck) text += ", initcheck";
    return text;
}

std::string caption_of_none(const KernelResult* result) {       // nothing is wrong; null: nothing has run
    if (result != nullptr && !result->run && !result->refused)  // a host program
        return "It ran to its end, and no two operations touch the same data without an order.";
    if (result == nullptr || !result->run) return "Nothing to report yet.";
    return fmt::format("No error, and {} found nothing in this run.", checked_text(result->settings));
}

std::string caption_of(const KernelDesk& desk, const Snapshot& snapshot, const std::vector<Row>& rows) {
    if (desk.document().is_program() && rows.empty())
        return snapshot.program.run && !snapshot.program.run->running
                   ? fmt::format("It ran to its end, and {} found nothing.", checked_text(snapshot.program.run->settings))
                   : "Nothing to report yet.";
    const bool fine = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.fine; });
    if (fine && desk.document().is_tape())
        return snapshot.tape && snapshot.own.result && snapshot.own.result->version == desk.version()
                   ? "It ran to its end, and every value and gradient is a finite number."
                   : "Nothing to report yet.";
    if (rows.empty()) return caption_of_none(snapshot.own.result.get());
    if (desk.document().is_program() && snapshot.program.run && snapshot.program.run->cancelled)
        return "It did not run to its end: what would have been found is not known.";
    const bool stale = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.stale; });
    const auto [errors, warnings] = count_of(rows, stale);
    std::string text = stale ? "Of the text before: " : "";
    const size_t begin = text.size();
    if (errors > 0) text += fmt::format("{} wrong", counted(errors, "thing"));
    if (warnings > 0) text += fmt::format("{}{}", text.size() == begin ? "" : ", ", counted(warnings, "warning"));
    return text + ". A row leads to its place; F8 goes to the next one.";
}

class ReportsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const std::vector<Row> rows = rows_of(session, *snapshot);
        const std::string sentence = caption_of(session.desk, *snapshot, rows);
        const bool ran =
            snapshot->own.result && (snapshot->own.result->run || (session.desk.document().is_tape() && snapshot->tape) ||
                                     (session.desk.document().is_program() && snapshot->program.run));
        const Rect body = ui.panel(area, {.title = "Reports",
                                          .right = rows.empty() ? "" : counted(rows.size(), "row"),
                                          .badge = ran ? Provenance::executed : Provenance::none,
                                          .caption = sentence});
        ui.push_scope("reports");
        take_wish(session, rows);
        if (picked_ >= static_cast<int>(rows.size())) picked_ = -1;
        if (rows.empty()) {
            ui.text(body.x, body.y + 12,
                    ran && !exercise_lesson(session.desk.document().path).empty()
                        ? "No fault in this run; whether it solves the exercise is told by its check (F7)."
                    : ran ? "Nothing was found wrong."
                    : session.desk.document().is_tape()
                        ? "What is wrong in a line, gradcheck's answer, hooks and the first NaN stand here."
                        : "Errors, faults and what the checkers find stand here.",
                    {.size = 13, .color = ui.theme->quiet, .width = body.w});
            ui.pop_scope();
            return;
        }
        paint(ui, session, rows, {body.x, body.y - 4, body.w, body.h + 4});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const std::vector<Row> rows = rows_of(session, *snapshot);
        std::string text = "Reports\n";
        for (const Row& row : rows)
            text += fmt::format("  {}: {}{}\n", row.kind, row.message, row.place.empty() ? "" : " (" + row.place + ")");
        return text + "  " + caption_of(session.desk, *snapshot, rows) + "\n";
    }

  private:
    int picked_ = -1;
    float height_ = 0;

    void take_wish(Session& session, const std::vector<Row>& rows) {  // to the next report, or the one before
        DeskWish& wish = session.desk.wish;
        if (wish != DeskWish::next_report && wish != DeskWish::previous_report) return;
        const int count = static_cast<int>(rows.size()), way = wish == DeskWish::next_report ? 1 : -1;
        wish = DeskWish::none;
        if (count == 0) return;
        for (int tries = 0; tries < 2; ++tries) {  // a word about guesses leads nowhere
            picked_ = picked_ < 0 ? (way > 0 ? 0 : count - 1) : ((picked_ + way) % count + count) % count;
            if (rows[static_cast<size_t>(picked_)].kind != "guess") break;
        }
        follow(session, rows[static_cast<size_t>(picked_)]);
    }

    static void follow(Session& session, const Row& row) {
        if (row.line > 0) session.desk.go_to_line = row.line, session.desk.go_to_column = row.column;
        if (row.where) session.desk.look_at(*row.where);
    }

    static Color color_of(const Row& row, const Theme& theme) {
        if (row.stale) return theme.quiet;
        if (row.fine) return theme.right;
        if (row.warning) return theme.dark ? data::orange : rgb(0x8A5A00);
        return theme.wrong;
    }

    void paint(Ui& ui, Session& session, const std::vector<Row>& rows, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float offset = ui.scroll("rows", {r.x, r.y, r.w + 10, r.h}, height_);
        ui.clip({r.x - 8, r.y, r.w + 16, r.h});
        float y = r.y - offset;
        constexpr float kind_width = 86;
        const bool threads = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.where.has_value(); });
        const float place_width = threads ? std::min(190.0f, r.w * 0.32f) : 92, words = r.w - kind_width - place_width - 20;
        for (size_t i = 0; i < rows.size(); ++i) {
            const Row& row = rows[i];
            const TextStyle style{.size = 13, .color = row.stale ? theme.quiet : theme.ink};
            const float height = ui.paragraph({0, 0, words, 2000}, row.message, style, 19, false) + 9;
            const Rect box{r.x - 6, y, r.w + 4, height};
            y += height;
            if (box.bottom() < r.y || box.y > r.bottom()) continue;
            const bool on = static_cast<int>(i) == picked_;
            if (on || ui.hovered(box)) ui.rect(box, on ? theme.selected : theme.panel2, 3);
            if (ui.hovered(box))
                ui.tooltip(row.where      ? "go to this line, block, warp and lane"
                           : row.line > 0 ? "go to this line"
                                          : row.message);
            const Color color = color_of(row, theme);
            const float chip = ui.text_width(row.kind, {.size = 12, .weight = 600}) + 14;
            ui.frame({r.x, box.y + 5, chip, 18}, color, 1, 4);
            ui.text(r.x + 7, box.y + 18, row.kind, {.size = 12, .color = color, .weight = 600});
            ui.paragraph({r.x + kind_width, box.y + 4, words, height}, row.message, style, 19);
            ui.paragraph({r.right() - place_width, box.y + 4, place_width - 6, height}, row.place,
                         {.size = 13, .color = theme.ink2}, 19);
            if (ui.area(fmt::format("row {}", i), box)) {
                picked_ = static_cast<int>(i);
                follow(session, row);
                ui.animate();
            }
        }
        height_ = y + offset - r.y;
        ui.unclip();
    }
};

}  // namespace

ReportCount count_reports(const Session& session, const Snapshot& snapshot) {
    return count_of(rows_of(session, snapshot), false);
}

std::unique_ptr<View> make_reports_view() {
    return std::make_unique<ReportsView>();
}

}  // namespace lockstep::gui
