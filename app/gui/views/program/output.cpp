// What a whole program was given and what it printed: the words behind its name, its standard input, stdout and stderr as
// they came, and how it ended. Enter in a field runs it again.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/gui/view.h"
#include "app/gui/views/program/program_data.h"
#include "app/gui/widgets/text_editor.h"

namespace lockstep::gui {
namespace {

struct OutputLine {
    std::string text;
    bool of_errors = false;
};

std::vector<OutputLine> lines_of(const ProgramRun& run) {
    std::vector<OutputLine> lines;
    bool fresh = true;
    for (const PrintedText& piece : run.printed)
        for (size_t at = 0; at < piece.text.size();) {
            const size_t end = std::min(piece.text.find('\n', at), piece.text.size());
            if (fresh || lines.empty() || lines.back().of_errors != piece.of_errors) lines.push_back({"", piece.of_errors});
            lines.back().text += piece.text.substr(at, end - at);
            fresh = end < piece.text.size();
            at = end + 1;
        }
    return lines;
}

std::string end_of(const ProgramRun& run) {
    if (run.running) return "running";
    return run.ended +
           (run.printed_more ? fmt::format("; the first {} KiB of its output are shown", most_program_output / 1024) : "");
}

std::string caption_of(const ProgramRun* run, const std::vector<Diagnostic>* messages) {
    if (messages != nullptr)
        return std::ranges::any_of(*messages, [](const Diagnostic& message) { return message.where.line > 0; })
                   ? "The compiler refused the text. Click a message to see its line."
                   : "It could not be built.";  // which no line of it is to blame for
    if (!run) return "Run (F5) builds and runs it: its host part as any program of yours, its kernels on the modelled GPU.";
    if (run->running) return "It runs; Shift+F5 ends it.";
    return fmt::format("{}; built by {} in {}{}, run in {}.", run->ended, run->built.compiler,
                       wall_time_text(run->compile_seconds), run->built.from_cache ? " (kept from before)" : "",
                       wall_time_text(run->run_seconds));
}

std::string one_line(const Diagnostic& message) {
    const std::string place = message.where.line > 0 ? fmt::format("line {}: ", message.where.line) : "";
    return place + message.message;
}

std::string program_name(const KernelDocument& document) {
    return std::filesystem::path(document.shown_name()).stem().string();
}

// What the compiler said of the text that is on show, where it refused it.
const std::vector<Diagnostic>* refused_by(const KernelDesk& desk, const Snapshot& snapshot) {
    const CompiledKernel* const compiled = snapshot.own.compiled.get();
    const bool refused = compiled && !compiled->ok && compiled->version == desk.version() && !compiled->messages.empty();
    return refused ? &compiled->messages : nullptr;
}

class OutputView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const ProgramRun* const run = snapshot->program.run.get();
        const std::string sentence = caption_of(run, refused_by(session.desk, *snapshot));
        const Rect body = ui.panel(area, {.title = "Output",
                                          .right = run && !run->running ? run->ended : "",
                                          .badge = run ? Provenance::executed : Provenance::none,
                                          .caption = sentence});
        ui.push_scope("output");
        const float top = fields(ui, session, {body.x, body.y - 6, body.w, 30});
        const Rect lines{body.x, top, body.w, body.bottom() - top};
        if (const std::vector<Diagnostic>* const messages = refused_by(session.desk, *snapshot))
            compiler_text(ui, session, *messages, lines);
        else if (run)
            text(ui, *run, lines);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const ProgramRun* const run = snapshot->program.run.get();
        const KernelDocument& document = session.desk.document();
        std::string text = fmt::format("Output\n  $ {} {}\n", program_name(document), document.launch.words);
        if (!document.launch.input.empty()) text += "  stdin: " + document.launch.input + "\n";
        if (const std::vector<Diagnostic>* const messages = refused_by(session.desk, *snapshot)) {
            for (const Diagnostic& message : *messages) text += "  ! " + one_line(message) + "\n";
        } else if (run) {
            for (const OutputLine& line : lines_of(*run)) text += (line.of_errors ? "  ! " : "  | ") + line.text + "\n";
            text += "  " + end_of(*run) + "\n";
        }
        return text + "  " + caption_of(run, refused_by(session.desk, *snapshot)) + "\n";
    }

  private:
    float height_ = 0;
    bool follow_ = true;
    size_t seen_ = 0;

    // Returns where the text begins.
    static float fields(Ui& ui, Session& session, const Rect& r) {
        LaunchSettings& launch = session.desk.document().launch;
        const Theme& theme = *ui.theme;
        const std::string name = "$ " + program_name(session.desk.document());
        const float after =
            ui.text(r.x, r.y + 18, name, {.size = 13, .color = theme.ink2, .mono = true, .width = r.w * 0.3f}) + 8;
        const bool both = r.w > 330;
        const float room = r.right() - after, words = both ? room * 0.5f - 24 : room;
        bool submitted = false;
        if (text_field(ui, "words", {after, r.y, words, 26}, launch.words, {.hint = "arguments", .submitted = &submitted}))
            session.desk.touch_soon();
        if (both) {
            const float label = after + words + 10;
            const float begin = ui.text(label, r.y + 18, "stdin", {.size = 12, .color = theme.ink2}) + 8;
            std::string shown;  // line breaks are written as \n in the one line that there is
            for (const char c : launch.input) shown += c == '\n' ? "\\n" : std::string(1, c);
            if (text_field(ui, "input", {begin, r.y, r.right() - begin, 26}, shown,
                           {.hint = "its lines, \\n between them", .submitted = &submitted})) {
                launch.input.clear();
                for (size_t k = 0; k < shown.size(); ++k) {
                    const bool line = shown[k] == '\\' && k + 1 < shown.size() && shown[k + 1] == 'n';
                    launch.input += line ? '\n' : shown[k];
                    if (line) ++k;
                }
                session.desk.touch_soon();
            }
        }
        if (submitted) session.desk.run(session);
        return r.y + 34;
    }

    void compiler_text(Ui& ui, Session& session, const std::vector<Diagnostic>& messages, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.rect(r, theme.code, 4);
        const Rect inner{r.x + 10, r.y + 4, r.w - 18, r.h - 6};
        const float offset = ui.scroll("messages", {inner.x, inner.y, inner.w + 8, inner.h}, height_);
        ui.clip(inner);
        float y = inner.y - offset + 2;
        for (size_t k = 0; k < messages.size(); ++k) {
            const Diagnostic& message = messages[k];
            const float begin = y;
            y += ui.paragraph(
                {inner.x, y, inner.w - 8, 1e4f}, one_line(message),
                {.size = 13, .color = message.severity == Severity::error ? theme.wrong : theme.ink, .mono = true});
            if (message.where.line > 0 && ui.area(fmt::format("message {}", k), {inner.x, begin, inner.w, y - begin}))
                session.program.line = session.desk.go_to_line = message.where.line;
            y += 4;
        }
        ui.unclip();
        height_ = y + offset - inner.y;
    }

    void text(Ui& ui, const ProgramRun& run, const Rect& r) {
        const Theme& theme = *ui.theme;
        constexpr float pitch = 19;
        const std::vector<OutputLine> lines = lines_of(run);
        ui.rect(r, theme.code, 4);
        const Rect inner{r.x + 10, r.y + 4, r.w - 18, r.h - 6};
        if (seen_ != lines.size() && run.running && follow_) ui.scroll_to("lines", 1e9f);  // what came last stays in view
        seen_ = lines.size();
        const float offset = ui.scroll("lines", {inner.x, inner.y, inner.w + 8, inner.h}, height_);
        follow_ = offset + inner.h + 2 * pitch > height_;
        ui.clip(inner);
        const auto first = static_cast<size_t>(std::max(0.f, offset / pitch));
        float y = inner.y - offset + static_cast<float>(first) * pitch;
        for (size_t k = first; k < lines.size() && y < inner.bottom(); ++k, y += pitch)
            ui.text(inner.x, y + 14, lines[k].text,
                    {.size = 13, .color = lines[k].of_errors ? theme.wrong : theme.ink, .mono = true});
        if (y < inner.bottom())
            ui.text(inner.x, y + 14, end_of(run),
                    {.size = 12, .color = run.running || run.status == 0 ? theme.quiet : theme.wrong, .mono = true});
        ui.unclip();
        height_ = static_cast<float>(lines.size() + 1) * pitch + 4;
    }
};

}  // namespace

std::unique_ptr<View> make_output_view() {
    return std::make_unique<OutputView>();
}

}  // namespace lockstep::gui
