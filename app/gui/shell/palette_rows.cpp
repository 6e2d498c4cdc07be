// What the search knows: one row a kind of thing, with the function that lists it.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

#include "app/gui/shell/palette.h"
#include "app/gui/shell/shell.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/home/home.h"
#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/machine/machine_tour.h"
#include "app/gui/views/machine/machine_view.h"
#include "core/base/files.h"
#include "core/model/gpus/gpu_file.h"
#include "core/nn/models/models.h"
#include "lessons/player/glossary/glossary.h"
#include "lessons/player/puzzles/puzzle.h"

namespace lockstep::gui {

using Entries = std::vector<PaletteEntry>;

// May use what of the shell is its own.
struct PaletteLists {
    static void places(Shell& shell, const std::string&, Entries& entries) {
        const GoOn on = go_on_of(shell.session);
        entries.push_back({on.title, on.detail, [on](Shell& s) { go_on(s.session, on); }});
    }

    static void spaces(Shell&, const std::string&, Entries& entries) {
        for (const WorkspaceRow& row : workspaces) {
            const auto space = static_cast<Workspace>(&row - workspaces);
            entries.push_back({std::string(row.title), fmt::format("key {}", &row - workspaces + 1),
                               [space](Shell& s) { s.choose_workspace(space); }});
        }
    }

    static void pictures(Shell&, const std::string&, Entries& entries) {
        for (const ViewRow& row : views()) {
            if (row_of(row.workspace).page) continue;
            entries.push_back({std::string(row.title), fmt::format("{}, alone", row_of(row.workspace).title),
                               [name = row.name](Shell& s) { s.show_alone(name); }});
        }
    }

    static void stops(Shell&, const std::string&, Entries& entries) {
        for (const StopRow& row : stop_rows())
            entries.push_back({fmt::format("Zoom to {}", row.name), "in the machine", [stop = row.stop](Shell& s) {
                                   s.choose_workspace(Workspace::machine);
                                   zoom_to(s.session, stop);
                               }});
    }

    static void course(Shell& shell, const std::string&, Entries& entries) {
        for (const auto& lesson : shell.session.home.course)
            entries.push_back({lesson->id + " " + lesson->title, lesson->question, [id = lesson->id](Shell& s) {
                                   s.choose_workspace(Workspace::learn);
                                   s.session.post(ask::OpenLesson{id});
                               }});
    }

    static void steps(Shell& shell, const std::string&, Entries& entries) {
        for (const auto& lesson : shell.session.home.course)
            for (size_t i = 0; i < lesson->steps.size(); ++i) {
                lessons::Term place;
                place.lesson = lesson->id;
                place.step = static_cast<int>(i) + 1;
                entries.push_back({fmt::format("{}.{} {}", lesson->id, i + 1, lesson->steps[i].title), lesson->title,
                                   [place](Shell& s) { s.open_place(place); }});
            }
    }

    static void own_kernels(Shell& shell, const std::string&, Entries& entries) {
        const auto& documents = shell.session.desk.documents();
        for (size_t i = 0; i < documents.size(); ++i)
            entries.push_back({documents[i].shown_name(), documents[i].path, [i](Shell& s) {
                                   s.session.desk.show(i);
                                   s.choose_workspace(Workspace::kernel);
                               }});
    }

    static void templates(Shell&, const std::string&, Entries& entries) {
        for (const KernelTemplate& row : kernel_templates())
            entries.push_back({fmt::format("New: {}", row.title), std::string(row.file), [&row](Shell& s) {
                                   s.session.desk.open_template(row);
                                   s.choose_workspace(Workspace::kernel);
                               }});
    }

    static void bundled(Shell&, const std::string&, Entries& entries) {
        std::error_code error;
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "kernels", error))
            if (entry.path().extension() == ".cu") files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const std::filesystem::path& file : files)
            entries.push_back({file.filename().string(), "of the training steps; comes with the program",
                               [file](Shell& s) { s.open_files({file.string()}); }});
    }

    static void models(Shell&, const std::string&, Entries& entries) {
        for (const nn::ModelRow& row : nn::models())
            entries.push_back(
                {fmt::format("Train {}", row.name), std::string(row.summary), [name = row.name](Shell& s) {
                     s.choose_workspace(Workspace::training);
                     s.session.playing = false;
                     s.session.post(ask::SetUpTraining{std::make_shared<const TrainingSetup>(setup_of(std::string(name)))});
                 }});
    }

    static void puzzles(Shell&, const std::string&, Entries& entries) {
        for (const std::filesystem::path& file : lessons::puzzle_files())
            entries.push_back({"Puzzle: " + file.stem().string(), "build a GPU for it", [file](Shell& s) {
                                   s.choose_workspace(Workspace::build);
                                   s.session.post(ask::OpenBuild{.puzzle = file.string()});
                               }});
    }

    static void gpus(Shell& shell, const std::string&, Entries& entries) {
        for (const GpuChoice& choice : gpu_choices(shell.gpu_on_show(*shell.snapshot_)))
            entries.push_back({fmt::format("{}: {}", choice.name, choice.title), "run on it: " + choice.detail,
                               [name = choice.name](Shell& s) { s.choose_gpu(name); }});
    }

    static void settings(Shell& shell, const std::string&, Entries& entries) {
        const auto add = [&](std::string text, std::string note, std::function<void(Shell&)> act) {
            entries.push_back({std::move(text), std::move(note), std::move(act)});
        };
        for (const char* name : {"dark", "light", "high-contrast", "print"})
            add(fmt::format("Theme: {}", name), "T: the next one", [name](Shell& s) { s.theme = &theme_named(name); });
        for (const int size : {75, 100, 125, 150, 200, 250})
            add(fmt::format("Text size {} %", size), "Ctrl + and -",
                [size](Shell& s) { s.set_text_scale(static_cast<float>(size) / 100); });
        add("Reduced motion: on", "nothing travels or flows by itself", [](Shell& s) { s.motion = "reduced"; });
        add("Reduced motion: off", "", [](Shell& s) { s.motion = "full"; });
        add("Reduced motion: as the desktop says", "", [](Shell& s) { s.motion.clear(); });
        add("Present to a class", "F11", [](Shell& s) { s.presenter.on = s.fullscreen = true; });
        add("Keyboard", "F1: every key", [](Shell& s) { s.menu_ = Shell::Menu::help; });
        add("Tour of the machine", "twenty seconds", [](Shell& s) { begin_tour(s.session); });
        add("Play or pause", "Space", [](Shell& s) { s.session.playing = !s.session.playing; });
        add("Put the panels back", "where the layout has them", [](Shell& s) { s.panel_shares.clear(); });
        if (shell.session.lesson.lesson)
            add("Close the lesson", shell.session.lesson.lesson->title, [](Shell& s) {
                s.choose_workspace(Workspace::training);
                s.session.post(ask::CloseLesson{});
            });
        if (shell.snapshot_->kernel.run) {
            add("Keep this run as A", "to compare it with the next",
                [run = shell.snapshot_->kernel.run](Shell& s) { s.session.sm.pinned = run; });
            if (shell.session.sm.pinned)
                add("End the comparison", "run A is let go", [](Shell& s) { s.session.sm.pinned.reset(); });
        }
        if (shell.session.workspace == Workspace::kernel) {
            add("Run", "F5", [](Shell& s) { s.session.desk.run(s.session); });
            add("Save", "Ctrl S", [](Shell& s) { s.session.desk.wish = DeskWish::save; });
            add("Open a file", "Ctrl O", [](Shell& s) { s.session.desk.wish = DeskWish::open; });
        }
    }

    static void glossary(Shell&, const std::string&, Entries& entries) {
        for (const lessons::Term& term : lessons::glossary().terms())
            entries.push_back({term.name, term.says, [&term](Shell& s) { s.open_place(term); }});
    }

    // Of the file on show: the editor's in Kernel, else that of the kernel that ran.
    static void lines(Shell& shell, const std::string&, Entries& entries) {
        const bool own = shell.session.workspace == Workspace::kernel;
        const auto& run = shell.snapshot_->kernel.run;
        if (!own && !run) return;
        const std::vector<std::string> all = lines_of(own ? shell.session.desk.document().text : run->source);
        constexpr size_t most = 4000;
        for (size_t i = 0; i < std::min(all.size(), most); ++i) {
            const size_t text = all[i].find_first_not_of(' ');
            if (text == std::string::npos) continue;
            const auto line = static_cast<int32_t>(i) + 1;
            entries.push_back({fmt::format("line {}  {}", line, all[i].substr(text, 80)), "", [line, own](Shell& s) {
                                   if (own) s.session.desk.go_to_line = line;
                                   if (!own) s.focus.line = line, s.line_wish_ = line;
                               }});
        }
    }

    // "line 4000", of a text that has fewer: that is said, and Enter goes to its last line.
    static void no_line(Shell& shell, const std::string& query, Entries& entries) {
        if (!query.starts_with("line")) return;
        std::string number = query.substr(4);
        number.erase(0, std::min(number.find_first_not_of(' '), number.size()));
        int64_t wanted = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), wanted);
        if (number.empty() || error != std::errc() || end != number.data() + number.size()) return;
        const bool own = shell.session.workspace == Workspace::kernel;
        const auto& run = shell.snapshot_->kernel.run;
        if (!own && (!run || run->source.empty())) {
            entries.push_back({"No source is on show here: open a kernel, or a lesson that has one", "", {}});
            return;
        }
        const std::string file = own ? shell.session.desk.document().shown_name() : run->program->shown_name();
        const std::vector<std::string> all = lines_of(own ? shell.session.desk.document().text : run->source);
        const auto count = static_cast<int64_t>(all.size());
        if (count == 0 || (wanted >= 1 && wanted <= count)) return;
        entries.push_back({fmt::format("There is no line {}: {} has {}", with_commas(wanted), file, counted(count, "line")),
                           "Enter goes to the last", [line = static_cast<int32_t>(count), own](Shell& s) {
                               if (own) s.session.desk.go_to_line = line;
                               if (!own) s.focus.line = line, s.line_wish_ = line;
                           }});
    }

    static void registers(Shell& shell, const std::string&, Entries& entries) {
        const auto& run = shell.snapshot_->kernel.run;
        if (!run || !run->program) return;
        constexpr size_t most = 2000;
        const auto& all = run->program->registers;
        for (size_t i = 0; i < std::min(all.size(), most); ++i)
            entries.push_back({all[i].name, "its value in every lane", [name = all[i].name](Shell& s) {
                                   s.session.sm.register_wish = name;
                                   s.show_alone("watch");
                               }});
    }

    // "save this run as NAME"
    static void run_files(Shell&, const std::string& query, Entries& entries) {
        static constexpr std::string_view says = "save this run as";
        const std::string_view typed = query;
        if (typed.size() < 4 || !(says.starts_with(typed) || typed.starts_with(says))) return;
        std::string name(typed.size() > says.size() ? typed.substr(says.size()) : std::string_view());
        name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
        entries.push_back({name.empty() ? "Save this run as ..." : fmt::format("Save this run as {}.lockstep", name),
                           "Ctrl R: source, launch and where you stand, in one file",
                           [name](Shell& s) { s.save_run(name); }});
        entries.push_back(
            {name.empty() ? "Save this run as a page for a browser" : fmt::format("Save this run as {}.html", name),
             "Shift + Ctrl R: its warps with hover, zoom and a clock, in one file",
             [name](Shell& s) { s.save_run(name + ".html"); }});
    }

    static void panel_pictures(Shell&, const std::string&, Entries& entries) {
        entries.push_back(
            {"Save this panel as a picture (PNG)", "Ctrl P", [](Shell& s) { s.wants_picture = Shell::PictureKind::png; }});
        entries.push_back({"Save this panel as a picture (SVG)", "Shift + Ctrl P: lines and letters at any size",
                           [](Shell& s) { s.wants_picture = Shell::PictureKind::svg; }});
        entries.push_back({"Save this stretch as a film (GIF)", "Ctrl G: the cycles in view, as they play",
                           [](Shell& s) { s.wants_picture = Shell::PictureKind::gif; }});
    }

    // "cycle 1200", "1200" or "50 %", of the kernel on show.
    static void cycles(Shell& shell, const std::string& query, Entries& entries) {
        const KernelTrace* const trace = trace_of(*shell.snapshot_);
        std::string number = query.starts_with("cycle") ? query.substr(5) : query;
        number.erase(0, std::min(number.find_first_not_of(' '), number.size()));
        if (trace == nullptr || trace->cycles <= 0 || number.empty() || number[0] < '0' || number[0] > '9') return;
        std::string wrong;
        const auto cycle =
            cycle_typed(number, trace->cycles, cycles_shown(shell.session, shell.focus, *shell.snapshot_), wrong);
        if (!cycle) {  // one sentence says why there is none
            if (!wrong.empty()) wrong[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(wrong[0])));
            return entries.push_back({wrong, "", {}});
        }
        entries.push_back({fmt::format("cycle {}", with_commas(*cycle)),
                           fmt::format("of {}, {}", with_commas(trace->cycles), shell.snapshot_->kernel.label),
                           [at = *cycle](Shell& s) { s.go_to_cycle(at); }});
    }
};

std::span<const PaletteRow> palette_rows() {
    static constexpr PaletteRow rows[] = {
        {"run", 0, PaletteLists::run_files, true},
        {"picture", 0, PaletteLists::panel_pictures},
        {"go on", 30, PaletteLists::places},
        {"workspace", 28, PaletteLists::spaces},
        {"lesson", 26, PaletteLists::course},
        {"cycle", 0, PaletteLists::cycles, true},
        {"line", 0, PaletteLists::no_line, true},
        {"word", 22, PaletteLists::glossary},
        {"your kernel", 20, PaletteLists::own_kernels},
        {"setting", 18, PaletteLists::settings},
        {"picture", 16, PaletteLists::pictures},
        {"GPU", 14, PaletteLists::gpus},
        {"model", 12, PaletteLists::models},
        {"new kernel", 10, PaletteLists::templates},
        {"zoom", 9, PaletteLists::stops},
        {"puzzle", 8, PaletteLists::puzzles},
        {"register", 7, PaletteLists::registers},
        {"kernel", 6, PaletteLists::bundled},
        {"step", 4, PaletteLists::steps},
        {"line", 2, PaletteLists::lines},
    };
    return rows;
}

}  // namespace lockstep::gui
