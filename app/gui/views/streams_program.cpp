// The text of a lesson's host program, a line a row; the line of the operation that is chosen in the timeline is marked, and
// lines between which nothing keeps order are named below.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/streams_views.h"
#include "lessons/player/host_program.h"

namespace lockstep::gui {
namespace {

constexpr float pitch = 19;

class HostProgramView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->host) {
            const Rect body = ui.panel(area, {.title = "Host program"});
            return ui.say_nothing_yet(body, "No host program has run yet.", snapshot->busy);
        }
        const lessons::HostRun& run = *snapshot->host;
        if (shown_ != snapshot->host) {
            shown_ = snapshot->host;
            session.host_line = -1;
            lines_ = lines_of(run.text.text);
        }
        const std::string name = run.text.file.substr(run.text.file.find_last_of('/') + 1), sentence = caption(run);
        const Rect body =
            ui.panel(area, {.title = "Host program", .right = name, .badge = Provenance::executed, .caption = sentence});
        ui.push_scope("program");
        // Lines that are too long go on in the next row.
        const float letter = ui.text_width("0", {.size = 13, .mono = true});
        const auto columns = static_cast<size_t>(std::max(12.f, (body.w - 46) / std::max(1.f, letter)));
        std::vector<std::vector<std::string>> rows;
        size_t count = 0;
        for (const std::string& line : lines_) count += rows.emplace_back(wrapped(line, columns)).size();
        const float offset = ui.scroll("lines", body, pitch * static_cast<float>(count));
        ui.clip(body);
        float y = body.y - offset;
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto number = static_cast<int32_t>(i) + 1;
            const Rect row{body.x, y, body.w - 8, pitch * static_cast<float>(rows[i].size())};
            y = row.bottom();
            if (row.bottom() < body.y || row.y > body.bottom()) continue;
            if (number == session.host_line) ui.rect(row, ui.theme->selected, 3);
            ui.text(body.x + 22, row.y + 14, std::to_string(number),
                    {.size = 12, .color = ui.theme->quiet, .align = Align::right, .mono = true});
            const bool comment = lines_[i].find_first_not_of(" \t") == lines_[i].find('#');
            for (size_t part = 0; part < rows[i].size(); ++part)
                ui.text(body.x + 34, row.y + 14 + pitch * static_cast<float>(part), rows[i][part],
                        {.size = 13, .color = comment ? ui.theme->quiet : ui.theme->ink, .mono = true});
            if (ui.clicked(row)) session.host_line = number;
        }
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->host) return "Host program: none has run yet.\n";
        const lessons::HostRun& run = *snapshot->host;
        std::string text =
            fmt::format("Host program (executed), {}\n", run.text.file.substr(run.text.file.find_last_of('/') + 1));
        int32_t number = 0;
        for (const std::string& line : lines_of(run.text.text))
            text += fmt::format("  {}{:>3} {}\n", ++number == session.host_line ? ">" : " ", number, line);
        for (const std::string& hazard : run.hazards) text += "  " + hazard + "\n";
        return text + "  " + caption(run) + "\n";
    }

  private:
    std::shared_ptr<const lessons::HostRun> shown_;
    std::vector<std::string> lines_;

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

    static std::string caption(const lessons::HostRun& run) {
        if (run.fault) return "A kernel was stopped: " + run.fault->message + ".";
        if (!run.hazards.empty()) {
            std::string text = run.hazards.front();
            if (!text.empty() && text.front() == 'l') text.front() = 'L';
            return text + ".";
        }
        size_t launches = 0, copies = 0;
        for (const model::OperationTime& one : run.schedule.operations) {
            launches += one.engine == model::Engine::compute;
            copies += one.engine != model::Engine::compute && one.engine != model::Engine::none;
        }
        std::string text = fmt::format("{} operations: {} {}, {} kernel{}.", run.program.operations.size(), copies,
                                       copies == 1 ? "copy" : "copies", launches, launches == 1 ? "" : "s");
        if (!run.outputs.empty() && run.outputs[0].dtype == DType::f32 && run.outputs[0].count() > 0)
            text += fmt::format(" {}[0] is {:g} in the end.", run.output_names[0],
                                static_cast<double>(run.outputs[0].as<float>()[0]));
        return text;
    }
};

}  // namespace

std::unique_ptr<View> make_host_program_view() {
    return std::make_unique<HostProgramView>();
}

}  // namespace lockstep::gui
