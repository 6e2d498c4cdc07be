// The text of a lesson's host program or tensor program, a line a row. Marked is the line of the operation that is chosen in
// the timeline, or of the node whose kernel is in focus; a click on a line goes there. Beside a line of a tensor program
// stands what it has made at this moment of the tape, and the gradient once that is complete. Lines of a host program
// between which nothing keeps order, and what gradcheck found, are named below.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/training/tape_data.h"
#include "core/base/units.h"
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

constexpr float pitch = 19;
constexpr float mark_room = 20;  // of the mark before a value

// "22 28 / 49 64": a small tensor whole, rows apart; of a larger one its first numbers. Shorter forms follow, for less room.
std::vector<std::string> forms_of(const std::vector<float>& values, const std::vector<int64_t>& shape) {
    const size_t columns = shape.size() < 2 ? values.size() : static_cast<size_t>(shape.back());
    struct Form {
        size_t most;
        int digits;
    };
    std::vector<std::string> forms;
    for (const auto [most, digits] : {Form{16, 4}, {16, 3}, {16, 2}, {8, 3}, {4, 3}, {2, 3}, {1, 3}}) {
        std::string text;
        for (size_t i = 0; i < std::min(values.size(), most); ++i)
            text += fmt::format("{}{:.{}g}",
                                i == 0                            ? ""
                                : columns > 0 && i % columns == 0 ? " / "
                                                                  : " ",
                                values[i] + 0.0f, digits);
        forms.push_back(text + (values.size() > most ? " ..." : ""));
    }
    return forms;
}

// By line of a tensor program what stands beside it, the longest form first: what its name stands for, of a loop in the last
// round that has run, and its gradient.
struct LineValue {
    std::vector<std::string> value, gradient;
};
std::vector<LineValue> values_beside(const nn::StepRecord& step, const scene::TapeRun& run, int moment,
                                     const std::vector<std::string>& lines) {
    const TapePlan tape = plan_tape(step);
    std::vector<LineValue> beside(lines.size());
    for (size_t i = 0; i < std::min(step.nodes.size(), run.line_of_node.size()); ++i) {
        const nn::GraphNode& node = step.nodes[i];
        const auto line = static_cast<size_t>(std::max(0, run.line_of_node[i] - 1));
        if (line >= lines.size() || !node.value) continue;
        // "h[3]" is what "  h = ..." made in round 3.
        const std::string name = node.name.substr(0, node.name.find('['));
        const size_t at = lines[line].find(name);
        const bool leaf = node.kind != nn::GraphNode::Kind::op && node.kind != nn::GraphNode::Kind::loss;
        if (at == std::string::npos || (!leaf && lines[line].find_first_not_of(' ') != at)) continue;
        if (leaf || tape.value_known(node.id, moment)) beside[line].value = forms_of(*node.value, node.shape);
        if (node.gradient && tape.gradient_known(node.id, moment))
            beside[line].gradient = forms_of(*node.gradient, node.shape);
    }
    return beside;
}

// A value behind a green mark and a gradient behind a blue one, as in the graph; as much as fits left of `right`.
void draw_beside(Ui& ui, const LineValue& beside, float left, float right, float baseline) {
    const TextStyle style{.size = 12, .color = ui.theme->ink2, .align = Align::right, .mono = true};
    const bool both = !beside.value.empty() && !beside.gradient.empty();
    const std::pair<const std::vector<std::string>*, Color> parts[] = {{&beside.gradient, data::sky},
                                                                       {&beside.value, data::green}};
    for (const auto& [forms, color] : parts) {
        const float room = (right - left) / (both && forms == &beside.gradient ? 2 : 1);
        for (const std::string& form : *forms) {
            const float width = ui.text_width(form, {.size = 12, .mono = true}) + mark_room;
            if (width > room) continue;
            ui.text(right, baseline, form, style);
            ui.rect({right - width + 6, baseline - 9, 8, 8}, color, 1);
            right -= width + 10;
            break;
        }
    }
}

class HostProgramView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Program program = program_of(*snapshot);
        if (!program.text) {
            const Rect body = ui.panel(area, {.title = "Program"});
            return ui.say_nothing_yet(body, "No program has run yet.", snapshot->busy);
        }
        if (shown_ != program.owner) {
            shown_ = program.owner;
            session.host_line = -1;
            in_view_ = -2;
            scrolled_ = 0;
            lines_ = lines_of(*program.text);
        }
        const int32_t marked = snapshot->host ? session.host_line : line_of_focus(*snapshot, focus);
        const std::vector<LineValue> beside = beside_of(session, *snapshot, focus);
        const bool marks = std::any_of(beside.begin(), beside.end(),
                                       [](const LineValue& one) { return !one.value.empty() || !one.gradient.empty(); });
        const std::string right = (marks ? "green: value, blue: gradient · " : "") + program.name;
        const Rect body = ui.panel(area, {.title = program.title,
                                          .right = right,
                                          .badge = Provenance::executed,
                                          .caption = session.learn.reveal_steps >= 0 ? program.hidden : program.caption});
        ui.push_scope("program");
        // Lines that are too long go on in the next row.
        const float letter = ui.text_width("0", {.size = 13, .mono = true});
        const auto columns = static_cast<size_t>(std::max(12.f, (body.w - 46) / std::max(1.f, letter)));
        std::vector<std::vector<std::string>> rows;
        size_t count = 0;
        for (const std::string& line : lines_) count += rows.emplace_back(wrapped(line, columns)).size();
        // A short program takes the room that it has.
        const float high = std::clamp(body.h / static_cast<float>(count + 1), pitch, 1.4f * pitch);
        // What is looked at comes into view: the line that runs, else that of the first value that is no finite number.
        const bool anomaly = snapshot->tape && !snapshot->host && session.learn.reveal_steps < 0 && snapshot->tape->anomaly;
        const int32_t wanted = anomaly ? snapshot->tape->anomaly_line : marked;
        // Where the work begins; text that fits is not moved, and in a panel of another height it begins there again, unless
        // somebody has moved it.
        const bool begins = in_view_ == -2 || (wanted <= 0 && body.h != height_ && scrolled_ == begun_);
        if (begins) {
            size_t above = 0;
            const auto begin = static_cast<size_t>(std::max(0, first_work(*snapshot) - 1));
            for (size_t i = 0; i < std::min(begin, rows.size()); ++i) above += rows[i].size();
            ui.scroll_to("lines", high * static_cast<float>(above));
        }
        if (wanted != in_view_ && wanted > 0 && static_cast<size_t>(wanted) <= rows.size()) {
            size_t above = 0;
            for (size_t i = 0; i + 1 < static_cast<size_t>(wanted); ++i) above += rows[i].size();
            const float at = high * static_cast<float>(above);
            if (at < scrolled_ || at + 2 * high > scrolled_ + body.h) ui.scroll_to("lines", std::max(0.f, at - body.h / 2));
        }
        in_view_ = wanted;
        const Rect whole{body.x, body.y, body.w, std::max(1.f, std::floor(body.h / high)) * high};  // rows
        const float offset = scrolled_ = ui.scroll_lines("lines", whole, static_cast<size_t>(count), high);
        if (begins) begun_ = offset;
        height_ = body.h;
        ui.clip(whole);
        float y = body.y - offset;
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto number = static_cast<int32_t>(i) + 1;
            const Rect row{body.x, y, body.w - 8, high * static_cast<float>(rows[i].size())};
            y = row.bottom();
            if (row.bottom() <= whole.y || row.y >= whole.bottom()) continue;
            if (number == marked) ui.rect(row, ui.theme->selected, 3);
            if (snapshot->tape && !snapshot->host && session.learn.reveal_steps < 0 && snapshot->tape->anomaly &&
                number == snapshot->tape->anomaly_line) {
                ui.frame(row, ui.theme->wrong, 1.5f, 3);
                ui.icon(row.right() - 14, row.y + 14, Icon::warning,
                        {.size = 13, .color = ui.theme->wrong, .align = Align::center});
            }
            ui.text(body.x + 22, row.y + 14, std::to_string(number),
                    {.size = 12, .color = ui.theme->quiet, .align = Align::right, .mono = true});
            const bool comment = lines_[i].find_first_not_of(" \t") == lines_[i].find('#');
            for (size_t part = 0; part < rows[i].size(); ++part)
                ui.text(body.x + 34, row.y + 14 + high * static_cast<float>(part), rows[i][part],
                        {.size = 13, .color = comment ? ui.theme->quiet : ui.theme->ink, .mono = true});
            if (i < beside.size())
                draw_beside(ui, beside[i], body.x + 44 + letter * static_cast<float>(letters_in(rows[i].front())),
                            row.right() - 8, row.y + 14);
            if (!ui.clicked(row)) continue;
            if (snapshot->host)
                session.host_line = number;
            else
                go_to_line(session, *snapshot, focus, number);
        }
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const Program program = program_of(*snapshot);
        if (!program.text) return "Program: none has run yet.\n";
        const int32_t marked = snapshot->host ? session.host_line : line_of_focus(*snapshot, focus);
        std::string text = fmt::format("{} (executed), {}\n", program.title, program.name);
        int32_t number = 0;
        HostProgramView fresh;
        fresh.lines_ = lines_of(*program.text);
        const std::vector<LineValue> beside = fresh.beside_of(session, *snapshot, focus);
        for (const std::string& line : fresh.lines_) {
            text += fmt::format("  {}{:>3} {}", ++number == marked ? ">" : " ", number, line);
            const auto at = static_cast<size_t>(number) - 1;
            if (at < beside.size() && !beside[at].value.empty()) text += "   value " + beside[at].value.front();
            if (at < beside.size() && !beside[at].gradient.empty()) text += ", grad " + beside[at].gradient.front();
            text += "\n";
        }
        if (snapshot->host)
            for (const std::string& hazard : snapshot->host->hazards) text += "  " + hazard + "\n";
        return text + "  " + (session.learn.reveal_steps >= 0 ? program.hidden : program.caption) + "\n";
    }

  private:
    const void* shown_ = nullptr;
    std::vector<std::string> lines_;
    int32_t in_view_ = -2;  // the line that was wanted; -2: another text
    float scrolled_ = 0;
    float begun_ = 0, height_ = 0;  // how far down the text was begun, and how high the panel was last

    struct Program {  // what is shown
        const std::string* text = nullptr;
        const void* owner = nullptr;
        std::string title, name, caption, hidden;
    };
    static Program program_of(const Snapshot& snapshot) {
        Program program;
        const auto base = [](const std::string& file) { return file.substr(file.find_last_of('/') + 1); };
        if (snapshot.host) {
            const scene::HostRun& run = *snapshot.host;
            program = {&run.text.text, &run, "Host program", base(run.text.file), caption(run), caption(run)};
        } else if (snapshot.tape) {
            const scene::TapeRun& run = *snapshot.tape;
            program = {&run.text.text,      &run,         "Tensor program",
                       base(run.text.file), caption(run), "The program ran; its numbers wait for your answer."};
        }
        return program;
    }

    // The line of the node that the focused launch, or the picked node, belongs to.
    static int32_t line_of_focus(const Snapshot& snapshot, const Focus& focus) {
        if (!snapshot.tape || !snapshot.training.step) return -1;
        const auto& nodes = snapshot.training.step->nodes;
        const auto& lines = snapshot.tape->line_of_node;
        for (size_t i = 0; i < nodes.size() && i < lines.size(); ++i)
            for (const auto* launches : {&nodes[i].forward_launches, &nodes[i].backward_launches, &nodes[i].update_launches})
                if (std::find(launches->begin(), launches->end(), focus.launch) != launches->end()) return lines[i];
        return -1;
    }
    static void go_to_line(Session& session, const Snapshot& snapshot, Focus& focus, int32_t line) {
        if (session.learn.reveal_steps >= 0 || !snapshot.training.step) return;
        const auto& nodes = snapshot.training.step->nodes;
        const auto& lines = snapshot.tape->line_of_node;
        for (size_t i = std::min(nodes.size(), lines.size()); i-- > 0;)
            if (lines[i] == line && !nodes[i].forward_launches.empty()) {
                focus.launch = nodes[i].forward_launches.back();
                session.post(ask::OpenKernel{focus.launch});
                return;
            }
    }

    // The first line of a host program that copies or launches, with the loop around it; 0: of other programs.
    int32_t first_work(const Snapshot& snapshot) const {
        if (!snapshot.host) return 0;
        int32_t first = 0;
        for (const model::HostOperation& operation : snapshot.host->program.operations)
            if (operation.verb != model::HostVerb::allocate && operation.verb != model::HostVerb::release &&
                operation.line > 0 && (first == 0 || operation.line < first))
                first = operation.line;
        while (first > 1 && static_cast<size_t>(first) <= lines_.size() &&
               lines_[static_cast<size_t>(first) - 2].find("for ") ==
                   lines_[static_cast<size_t>(first) - 2].find_first_not_of(' '))
            --first;
        return first;
    }

    // Nothing while a question about it is open.
    std::vector<LineValue> beside_of(const Session& session, const Snapshot& snapshot, const Focus& focus) const {
        if (!snapshot.tape || snapshot.host || session.learn.reveal_steps >= 0) return {};
        const auto step = snapshot.training.step;
        if (!step || step->nodes.empty()) return {};
        return values_beside(*step, *snapshot.tape, tape_position(session, focus, plan_tape(*step)), lines_);
    }

    static size_t letters_in(const std::string& text) {  // of UTF-8
        return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    }

    static std::vector<std::string> lines_of(const std::string& text) {
        std::vector<std::string> lines;
        for (size_t begin = 0; begin < text.size();) {
            const size_t end = std::min(text.find('\n', begin), text.size());
            lines.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        return lines;
    }

    // Pieces of at most `columns` letters, broken at a space where there is one; what follows is set in.
    static std::vector<std::string> wrapped(const std::string& line, size_t columns) {
        std::vector<std::string> pieces;
        std::string rest = line;
        while (rest.size() > columns) {
            const size_t space = rest.rfind(' ', columns);
            const size_t cut = space == std::string::npos || space < columns / 2 ? columns : space;
            pieces.push_back(rest.substr(0, cut));
            rest = "    " + rest.substr(cut + (rest[cut] == ' ' ? 1 : 0));
        }
        pieces.push_back(rest);
        return pieces;
    }

    static std::string caption(const scene::TapeRun& run) {
        if (!run.hessians.empty()) {
            const scene::TapeHessian& hessian = run.hessians.front();
            std::string text = fmt::format("Second derivatives of {}:", hessian.of);
            for (size_t row = 0; row < std::min<size_t>(hessian.in.size(), 2); ++row)
                for (size_t column = row; column < std::min<size_t>(hessian.in.size(), 2); ++column)
                    text += fmt::format("{} {} {} {:.4g}", row + column == 0 ? "" : ",", hessian.in[row], hessian.in[column],
                                        hessian.at(row, column));
            return text + ".";
        }
        if (!run.checks.empty()) {
            const std::string text = run.checks.front().text();
            return "gradcheck: " + text + ".";
        }
        if (run.anomaly) {
            std::string text = scene::anomaly_text(run) + fmt::format(", line {}.", run.anomaly_line);
            text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
            return text;
        }
        if (!run.hooks.empty())
            return fmt::format("Hook: the gradient of {} came as {:.5g} and went on as {:.5g}.", run.hooks.front().of,
                               run.hooks.front().came, run.hooks.front().went);
        const double loss = run.loss.empty() ? NAN : run.loss.back();
        std::string text = fmt::format("{}, {}", counted(run.step->nodes.size() - run.text.leaves.size(), "op"),
                                       counted(run.step->launches.size(), "launch", "launches"));
        if (run.text.steps > 1) text += fmt::format(" a step, {} steps", run.text.steps);
        if (std::isfinite(loss)) text += fmt::format("; backward started from {:.5g}", loss);
        return text + ".";
    }

    static std::string caption(const scene::HostRun& run) {
        if (run.fault) return "A kernel was stopped: " + run.fault->message + ".";
        if (!run.hazards.empty()) {
            std::string text = run.hazards.front();
            if (!text.empty() && text.front() == 'l') text.front() = 'L';
            return text + ".";
        }
        size_t launches = 0, copies = 0;
        for (const model::OperationTime& time : run.schedule.operations) {
            launches += time.engine == model::Engine::compute;
            copies += time.engine != model::Engine::compute && time.engine != model::Engine::none;
        }
        std::string text = fmt::format("{} operations: {} {}, {}.", run.program.operations.size(), copies,
                                       copies == 1 ? "copy" : "copies", counted(launches, "kernel"));
        if (!run.outputs.empty() && run.outputs[0].dtype == DType::f32 && run.outputs[0].count() > 0)
            text += fmt::format(" {}[0] = {:g}.", run.output_names[0], static_cast<double>(run.outputs[0].as<float>()[0]));
        return text;
    }
};

}  // namespace

std::unique_ptr<View> make_host_program_view() {
    return std::make_unique<HostProgramView>();
}

}  // namespace lockstep::gui
