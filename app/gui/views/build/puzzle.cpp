// The puzzle, or the kernel that is built for: what is asked, the medal of this design on an axis of time, all designs by
// area and time with the front of those within the budget, and the next change that a run has shown to help.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/real_names.h"
#include "app/gui/widgets/axis.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {
namespace {

using lessons::Medal;

double threshold_of(const lessons::Thresholds& t, Medal medal) {
    return medal == Medal::gold ? t.gold_us : medal == Medal::silver ? t.silver_us : t.bronze_us;
}

constexpr Medal medals[] = {Medal::bronze, Medal::silver, Medal::gold};

// Designs that no other one beats in both, of those within the budget; by area.
std::vector<const BuiltDesign*> front_of(const BuildState& state) {
    std::vector<const BuiltDesign*> designs, front;
    for (const auto& design : state.designs)
        if (design->ran() && design->sampled == 0 && design->within(*state.task)) designs.push_back(design.get());
    std::ranges::stable_sort(designs, [](const BuiltDesign* a, const BuiltDesign* b) {
        return std::pair(a->area.mm2, a->time_us) < std::pair(b->area.mm2, b->time_us);
    });
    double best = HUGE_VAL;
    for (const BuiltDesign* design : designs)
        if (design->time_us < best) best = design->time_us, front.push_back(design);
    return front;
}

// Area is linear, and by logarithm where real chips, which are ten times as large, stand in it too.
struct Plot {
    Rect box;
    double least_mm2 = 0, most_mm2 = 1, least_us = 1, most_us = 10;
    bool wide = false, legend = true;
    float x(double mm2) const {
        const double share = wide ? std::log(std::max(mm2, 1e-3) / least_mm2) / std::log(most_mm2 / least_mm2)
                                  : (mm2 - least_mm2) / (most_mm2 - least_mm2);
        return box.x + box.w * static_cast<float>(share);
    }
    float y(double us) const {
        return box.y + box.h * static_cast<float>(std::log(most_us / us) / std::log(most_us / least_us));
    }
};

Plot plot_of(const BuildState& state, bool with_real, const Rect& box) {
    Plot plot{box};
    double low = HUGE_VAL, high = 0, fast = HUGE_VAL, slow = 0;
    const auto take = [&](double mm2, double us) {
        if (mm2 > 0) low = std::min(low, mm2), high = std::max(high, mm2);
        if (us > 0) fast = std::min(fast, us), slow = std::max(slow, us);
    };
    for (const auto& design : state.designs)
        if (design->sampled == 0 || design.get() == state.newest())
            take(design->area.mm2, design->ran() ? design->time_us : 0);
    if (state.next) take(state.next->area.mm2, state.next->time_us);
    if (state.task->most_mm2 > 0) take(state.task->most_mm2, 0);
    if (state.thresholds)
        for (const Medal medal : medals) take(0, threshold_of(*state.thresholds, medal));
    if (with_real)
        for (const auto& chip : state.real) {
            take(chip->mm2, chip->runs.ran() ? chip->runs.time_us : 0);
            plot.wide = true;
        }
    if (!(high > 0)) low = 0, high = 1;
    if (!(slow > 0)) fast = 1, slow = 10;
    const double room = std::max(2.0, (high - low) * 0.18);
    plot.least_mm2 = std::max(0.0, low - room), plot.most_mm2 = high + room;
    if (plot.wide) plot.least_mm2 = std::max(0.5, low / 1.25), plot.most_mm2 = high * 1.25;
    plot.least_us = fast / 1.3, plot.most_us = slow * 1.35;
    return plot;
}

// "1.2 ms" with two digits, for lines.
std::string short_time(double us) {
    return time_text(us, {.significant = 3});
}

// "1.5x as fast"; of little, "0.3 % faster".
std::string as_fast(double factor) {
    if (factor < 1 || factor >= 1.05) return fmt::format("{:.3g}\xC3\x97 as fast", factor);
    return fmt::format("{:.2g} % faster", 100 * (factor - 1));
}

// Cards are files of plain letters.
std::string with_squares(std::string text) {
    for (size_t at = text.find("mm2"); at != std::string::npos; at = text.find("mm2", at)) text.replace(at, 3, "mm\xC2\xB2");
    return text;
}

const std::vector<std::filesystem::path>& all_puzzles() {
    static const std::vector<std::filesystem::path> files = lessons::puzzle_files();
    return files;
}

// The best that a puzzle was solved to so far (puzzle_medals.h).
Medal medal_of(const Session& session, const std::filesystem::path& file) {
    const auto at = session.home.progress.find(file.stem().string());
    return at == session.home.progress.end() ? Medal::none : static_cast<Medal>(std::min<size_t>(at->second.done, 3));
}

void note_medal(Session& session, const std::string& puzzle, Medal medal) {
    if (medal == Medal::none) return;
    LessonProgress& kept = session.home.progress[puzzle];
    kept.done = std::max(kept.done, static_cast<size_t>(medal));
    kept.steps = static_cast<size_t>(Medal::gold);
}

std::string_view against_words(const BuildDesk& desk) {
    return desk.against == BuildDesk::Against::before  ? "vs before"
           : desk.against == BuildDesk::Against::first ? "vs first"
                                                       : "vs best";
}

class PuzzleView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        BuildDesk& desk = session.build;
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        const std::string sentence = !desk.note.empty() ? desk.note : "Times are simulated; areas are estimates.";
        const std::string number = number_of(desk);
        const Rect body = ui.panel(area, {.title = !desk.task() || desk.task()->puzzle ? std::string_view(number)
                                                   : desk.task()->step                 ? "A training step"
                                                                                       : "A kernel of yours",
                                          .right = medal_words(desk, shown, *snapshot),
                                          .badge = Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("puzzle");
        // Not of one that a handle went over on its way: it has no place among the designs.
        if (desk.task() && desk.task()->puzzle && shown != nullptr && shown->run != nullptr)
            note_medal(session, desk.task()->puzzle->id, shown->medal);
        float y = choose(ui, session, *snapshot, body);
        if (!desk.task()) {
            ui.pop_scope();
            return ui.say_nothing_yet({body.x, y, body.w, body.bottom() - y},
                                      snapshot->busy.empty() ? "Choose a puzzle." : snapshot->busy);
        }
        y = question(ui, *desk.task(), {body.x, y, body.w, body.bottom() - y});
        const BuildState& state = *snapshot->build;
        if (desk.task()->puzzle) y = medal_bar(ui, state, shown, {body.x, y, body.w, 62});
        const bool table = body.h >= 560;  // else the sentence says it, and the plot has the room
        const float foot = next_height(ui, session, *snapshot, body.w, table);
        const float plot = body.bottom() - foot - y - 12;
        if (plot >= 36) history(ui, session, state, {body.x, y, body.w, plot});
        next(ui, session, *snapshot, {body.x, body.bottom() - foot, body.w, foot}, table);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const BuildDesk& desk = session.build;
        if (!desk.task()) return "The puzzle: none is open\n";
        const auto snapshot = session.snapshot();
        const BuildTask& task = *desk.task();
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        std::string text = fmt::format("{}\n  {}\n", with_squares(task.title), with_squares(task.question));
        std::string medals_so_far;
        for (const std::filesystem::path& file : all_puzzles())
            if (const Medal medal = medal_of(session, file); medal != Medal::none)
                medals_so_far +=
                    fmt::format("{} {} {}", medals_so_far.empty() ? "" : ",", file.stem().string(), name_of(medal));
        if (!medals_so_far.empty()) text += "  medals so far:" + medals_so_far + "\n";
        if (!desk.note.empty()) text += "  " + desk.note + "\n";
        if (!snapshot->build || snapshot->build->task != desk.task()) return text;
        const BuildState& state = *snapshot->build;
        if (state.thresholds)
            text += fmt::format("  bronze {}, silver {}, gold {} (simulated)\n", time_text(state.thresholds->bronze_us),
                                time_text(state.thresholds->silver_us), time_text(state.thresholds->gold_us));
        const std::vector<const BuiltDesign*> front = front_of(state);
        for (const auto& design : state.designs) {
            text += fmt::format("  design {}{}: ", design->number, design.get() == shown ? " (on show)" : "");
            if (!design->ran()) {
                text += design->refused + "\n";
                continue;
            }
            text += fmt::format("{} (simulated), {:.2f} mm2, {:.2f} W (estimates){}{}\n", time_text(design->time_us),
                                design->area.mm2, design->watts,
                                std::ranges::find(front, design.get()) != front.end() ? ", on the front" : "",
                                !task.puzzle || !state.thresholds ? std::string()
                                : design->medal == Medal::none    ? ", no medal: " + design->why
                                                                  : fmt::format(", {}", name_of(design->medal)));
        }
        if (desk.shows_real)
            for (const auto& chip : state.real)
                text += fmt::format(
                    "  {}, a real GPU, {}: {:.0f} mm2 (published), {}\n", chip->name, chip->process, chip->mm2,
                    chip->runs.ran() ? time_text(chip->runs.time_us) + " (simulated on its row)" : chip->runs.refused);
        return text + "  " + next_words(session, *snapshot) + "\n";
    }

  private:
    // The file of the next one; empty: this is the last, or none of them.
    static std::string number_of(const BuildDesk& desk) {
        if (desk.task() && desk.task()->puzzle)
            for (size_t i = 0; i < all_puzzles().size(); ++i)
                if (all_puzzles()[i] == desk.task()->puzzle->file)
                    return fmt::format("Puzzle {} of {}", i + 1, all_puzzles().size());
        return "The puzzle";
    }

    static std::string medal_words(const BuildDesk& desk, const BuiltDesign* shown, const Snapshot& snapshot) {
        if (!desk.task() || !desk.task()->puzzle || shown == nullptr || !snapshot.build->thresholds) return "";
        if (shown->medal == Medal::gold) return "gold";
        if (shown->medal == Medal::none && shown->why.starts_with("it takes "))
            return with_squares(shown->why);  // there is no room for both
        return fmt::format("{}: {}", shown->medal == Medal::none ? "no medal" : name_of(shown->medal),
                           with_squares(shown->why));
    }

    // Chips: the puzzles by number, and the kernel on show.
    static float choose(Ui& ui, Session& session, const Snapshot& snapshot, const Rect& body) {
        BuildDesk& desk = session.build;
        float x = body.x, y = body.y;
        const auto make_room = [&](std::string_view label) {  // in the next row where this one is full
            if (x + ui.chip_width(label) > body.right() && x > body.x) x = body.x, y += 32;
        };
        const std::vector<std::filesystem::path>& files = all_puzzles();
        for (size_t i = 0; i < files.size(); ++i) {
            const bool on = desk.task() && desk.task()->puzzle && desk.task()->puzzle->file == files[i];
            const std::string number = std::to_string(i + 1);
            make_room(number);
            const Rect chip{x, y, ui.chip_width(number), 26};
            if (ui.chip(x, y, number, on) && !on) desk.open(session, files[i].string());
            medal_dots(ui, medal_of(session, files[i]), chip);
        }
        const bool able = snapshot.kernel.run && snapshot.kernel.run->before && snapshot.kernel.run->program;
        const bool on = desk.task() && !desk.task()->puzzle && !desk.task()->step;
        constexpr std::string_view kernel = "kernel on show", step = "training step";
        make_room(kernel);
        const bool hover = ui.hovered({x, y, ui.chip_width(kernel), 26});
        if (ui.chip(x, y, kernel, on, able) && able) desk.open(session, "");
        if (hover && !able) ui.tooltip("none has run yet: run one in Kernel, or open SM");
        make_room(step);
        const bool on_step = desk.task() && desk.task()->step;
        if (ui.hovered({x, y, ui.chip_width(step), 26})) ui.tooltip("all kernels of a training step; their times add up");
        if (ui.chip(x, y, step, on_step) && !on_step) desk.open_step(session);
        return y + 36;
    }

    // One dot below the number for bronze, two for silver, three for gold.
    static void medal_dots(Ui& ui, Medal medal, const Rect& chip) {
        const int dots = static_cast<int>(medal);
        if (dots == 0) return;
        for (int i = 0; i < dots; ++i)
            ui.circle(
                {chip.x + chip.w / 2 + 6 * (static_cast<float>(i) - static_cast<float>(dots - 1) / 2), chip.bottom() - 4}, 2,
                medal_color(medal, *ui.theme));
        if (ui.hovered(chip)) ui.tooltip(fmt::format("{}: its best so far", name_of(medal)));
    }

    static float question(Ui& ui, const BuildTask& task, const Rect& box) {
        std::string title = with_squares(task.title);
        if (task.step && !title.empty() && title[0] == 'a') title[0] = 'A';
        ui.text(box.x, box.y + 16, title, {.size = 20, .weight = 700, .width = box.w});
        const float used = ui.paragraph({box.x, box.y + 26, box.w, 120}, with_squares(task.question),
                                        {.size = 13, .color = ui.theme->ink2}, 19);
        return box.y + 26 + used + 10;
    }

    // From slow on the left to fast on the right, by logarithm.
    static float medal_bar(Ui& ui, const BuildState& state, const BuiltDesign* shown, const Rect& box) {
        const Theme& theme = *ui.theme;
        if (!state.thresholds) {
            ui.text(box.x, box.y + 34, "the medals' own designs are running", {.size = 13, .color = theme.ink2});
            return box.bottom() + 8;
        }
        const lessons::Thresholds& t = *state.thresholds;
        const bool ran = shown != nullptr && shown->ran();
        double slow = t.bronze_us * 1.5, fast = t.gold_us / 1.25;
        if (ran) slow = std::max(slow, shown->time_us * 1.1), fast = std::min(fast, shown->time_us / 1.1);
        const auto x_of = [&](double us) {
            return box.x + box.w * static_cast<float>(std::log(slow / us) / std::log(slow / fast));
        };
        const float top = box.y + 24;
        ui.rect({box.x, top, box.w, 16}, theme.grid);
        for (size_t i = 0; i < 3; ++i) {
            const Medal medal = medals[i];
            const float from = x_of(threshold_of(t, medal)), to = i < 2 ? x_of(threshold_of(t, medals[i + 1])) : box.right();
            const Color color = medal_color(medal, theme);
            const bool reached = ran && shown->medal >= medal;
            if (reached)
                ui.rect({from, top, std::max(0.0f, to - from - 2), 16}, color);
            else
                ui.frame({from, top, std::max(0.0f, to - from - 2), 16}, color, 2);
            const Align sides[] = {Align::left, Align::center, Align::right};
            const float places[] = {box.x, box.x + box.w / 2, box.right()};
            const double limit = threshold_of(t, medal);
            const std::string at = ran ? lessons::time_apart(limit, {shown->time_us}) : short_time(limit);
            ui.text(places[i], top + 31, fmt::format("{} {}", name_of(medal), at),
                    {.size = 12, .color = color, .align = sides[i], .weight = 600});
        }
        if (ran) {
            const float x = std::clamp(x_of(shown->time_us), box.x + 1, box.right() - 1);
            const std::string you = "you: " + lessons::time_apart(shown->time_us, {t.bronze_us, t.silver_us, t.gold_us});
            const float half = ui.text_width(you, {.size = 13, .weight = 700}) / 2 + 7;
            const float middle = std::clamp(x, box.x + half, box.right() - half);
            ui.rect({x - 1.5f, top - 4, 3, 24}, theme.ink);
            ui.rect({middle - half, box.y - 2, 2 * half, 20}, theme.ink, 3);
            ui.text(middle, box.y + 12, you, {.size = 13, .color = theme.panel, .align = Align::center, .weight = 700});
        }
        return box.bottom() + 8;
    }

    static void history(Ui& ui, Session& session, const BuildState& state, const Rect& box) {
        const Theme& theme = *ui.theme;
        ui.line({box.x - 8, box.y}, {box.right() + 8, box.y}, theme.line);
        const float title = ui.text(box.x, box.y + 20, "Your designs", {.size = 14, .weight = 600});
        BuildDesk& desk = session.build;
        constexpr std::string_view real = "real GPUs";
        float chip = box.right() - ui.chip_width(real);
        const float real_chip = chip;
        float beside = chip - 8;
        if (state.designs.size() > 1) {
            const std::string_view with = against_words(desk);
            chip -= ui.chip_width(with) + 6;
            beside = chip - 8;
            if (ui.hovered({chip, box.y + 4, ui.chip_width(with), 26}))
                ui.tooltip(
                    "what the design on show is compared with (C): the one before, the first, or the fastest other one");
            if (ui.chip(chip, box.y + 4, with)) {
                const bool by_keyboard = ui.state->focused == ui.state->id_of(with);
                compare_next(desk);
                if (by_keyboard)
                    ui.state->focused = ui.state->id_of(against_words(desk));  // the same chip, with other words
            }
        }
        chip = real_chip;
        if (ui.hovered({chip, box.y + 4, ui.chip_width(real), 26}))
            ui.tooltip("the same on the rows of real GPUs: times simulated, areas of their dies published");
        if (ui.chip(chip, box.y + 4, real, desk.shows_real)) desk.shows_real = !desk.shows_real;
        const std::string_view better = "left and down is better";
        if (title + ui.text_width(better, {.size = 13}) + 12 < beside)
            ui.text(beside, box.y + 20, better, {.size = 13, .color = theme.ink2, .align = Align::right});
        const bool all_real = state.real.size() >= real_chips().size();
        if (desk.shows_real && !all_real && session.snapshot()->busy.empty()) session.post(ask::RunReal{});
        // Where it is low it goes without its legend, and where no plot fits, its choices stand alone.
        const bool legend = box.h >= 120;
        const float below = legend ? 34.0f : 20.0f;
        if (box.h - 36 - below < 28) return;
        Plot plot = plot_of(state, desk.shows_real, {box.x + 46, box.y + 36, box.w - 50, box.h - 36 - below});
        plot.legend = legend;
        ui.rect(plot.box, theme.code);
        ui.clip(plot.box);
        const double budget = state.task->most_mm2;
        if (budget > 0) {
            const float x = plot.x(budget);
            for (float y = plot.box.y; y < plot.box.bottom(); y += 56)
                ui.hatch({x, y, std::min(439.0f, plot.box.right() - x), std::min(56.0f, plot.box.bottom() - y)},
                         faded(theme.wrong, 0.35f), Hatch::diagonal);
            ui.rect({x - 1, plot.box.y, 2, plot.box.h}, theme.ink);
        }
        ui.unclip();
        axes(ui, plot);
        std::optional<Rect> over_word;
        if (budget > 0 && plot.box.right() - plot.x(budget) > 54) {
            const float x = plot.x(budget) + 6;
            over_word = {x - 2, plot.box.y + 3, 40, 18};
            ui.rect(*over_word, theme.code);
            ui.text(x, plot.box.y + 16, "over", {.size = 12, .color = theme.wrong, .weight = 600});
        }
        float above = plot.box.y - 15;
        if (state.thresholds)
            for (const Medal medal : medals) {
                const float y = plot.y(threshold_of(*state.thresholds, medal));
                const Point line[] = {{plot.box.x, y}, {budget > 0 ? plot.x(budget) : plot.box.right(), y}};
                ui.polyline(line, medal_color(medal, theme), 1.5f, 5, 4);
                // The letter of a medal stands on its line, where the one before leaves room.
                if (y - above < 15) continue;
                above = y;
                const std::string_view letter = name_of(medal).substr(0, 1);
                ui.rect({plot.box.x + 3, y - 8, 15, 16}, theme.code, 2);
                ui.text(plot.box.x + 10.5f, y + 4.5f,
                        letter == "b"   ? "B"
                        : letter == "s" ? "S"
                                        : "G",
                        {.size = 12, .color = medal_color(medal, theme), .align = Align::center, .weight = 700});
            }
        if (desk.shows_real) real_dots(ui, state, plot, over_word);
        dots(ui, session, state, plot);
    }

    // Squares, with their names: what can be bought, or could.
    static void real_dots(Ui& ui, const BuildState& state, const Plot& plot, const std::optional<Rect>& over_word) {
        const Theme& theme = *ui.theme;
        std::vector<Rect> taken;
        const auto take = [&](const BuiltDesign& design) {
            if (design.ran()) taken.push_back({plot.x(design.area.mm2) - 10, plot.y(design.time_us) - 10, 20, 20});
        };
        for (const auto& design : state.designs) take(*design);
        if (state.next) take(*state.next);
        if (over_word) taken.push_back(*over_word);
        std::vector<const RealChip*> chips;
        std::vector<NamedPoint> points;
        for (const auto& chip : state.real) {
            if (!chip->runs.ran()) continue;
            chips.push_back(chip.get());
            points.push_back({{plot.x(chip->mm2), plot.y(chip->runs.time_us)}, ui.text_width(chip->name, {.size = 12})});
        }
        // The letters of the medals stand at the left.
        const Rect room{plot.box.x + 20, plot.box.y, plot.box.w - 22, plot.box.h};
        const auto names = places_of_names(points, taken, room);
        for (size_t i = 0; i < chips.size(); ++i)
            if (names[i] && names[i]->led) ui.line(points[i].at, names[i]->to, theme.ink2, 1);
        for (size_t i = 0; i < chips.size(); ++i) {
            const Point at = points[i].at;
            ui.rect({at.x - 5, at.y - 5, 10, 10}, theme.panel);
            ui.frame({at.x - 5, at.y - 5, 10, 10}, data::yellow, 2);
            if (names[i]) {
                const Rect& label = names[i]->label;
                ui.rect({label.x - 2, label.y, label.w + 4, label.h}, faded(theme.code, 0.8f));  // above a medal's line
                ui.text(label.x, label.y + 12, chips[i]->name, {.size = 12});
            }
            if (ui.hovered({at.x - 8, at.y - 8, 16, 16}))
                ui.tooltip(fmt::format("{}, real: {} (simulated on its row)\n{:.0f} mm2 in {} (published)", chips[i]->name,
                                       time_text(chips[i]->runs.time_us), chips[i]->mm2, chips[i]->process));
        }
    }

    // Round figures by logarithm, as few a decade as leave three that can be written.
    static std::vector<double> marks_between(double least, double most, const std::function<bool(double)>& written) {
        static const std::vector<double> decades[] = {
            {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}, {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}};
        std::vector<double> marks;
        for (const std::vector<double>& decade : decades) {
            marks.clear();
            int count = 0;
            for (double power = std::pow(10.0, std::floor(std::log10(least))); power < most; power *= 10)
                for (const double factor : decade) {
                    const double mark = power * factor;
                    if (mark < least || mark > most) continue;
                    marks.push_back(mark);
                    count += written(mark) ? 1 : 0;
                }
            if (count >= 3) break;
        }
        return marks;
    }

    static void axes(Ui& ui, const Plot& plot) {
        const Theme& theme = *ui.theme;
        const bool milli = plot.most_us >= 1500;
        float last = plot.box.bottom() + 30;
        const auto below_unit = [&](double us) { return plot.y(us) >= plot.box.y + 22; };
        for (const double us : marks_between(plot.least_us, plot.most_us, below_unit)) {
            const float y = plot.y(us);
            ui.rect({plot.box.x, y, plot.box.w, 1}, theme.grid);
            if (y > last - 16 || y < plot.box.y + 22) continue;
            ui.text(plot.box.x - 6, y + 4, fmt::format("{:g}", milli ? us / 1000 : us),
                    {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
            last = y;
        }
        ui.text(plot.box.x - 6, plot.box.y + 11, milli ? "ms" : "\xC2\xB5s",
                {.size = 12, .color = theme.ink2, .align = Align::right});
        const auto left_of_unit = [&](double mm2) { return plot.x(mm2) <= plot.box.right() - 40; };
        float end = plot.box.x - 40;  // of the mark before
        const auto mark = [&](double mm2) {
            const float x = plot.x(mm2), half = ui.text_width(fmt::format("{:g}", mm2), {.size = 12, .mono = true}) / 2;
            if (x < plot.box.x || !left_of_unit(mm2) || x - half < end + 8) return;
            end = x + half;
            ui.rect({x, plot.box.bottom(), 1, 4}, theme.ink3);
            ui.text(x, plot.box.bottom() + 17, fmt::format("{:g}", mm2),
                    {.size = 12, .color = theme.ink2, .align = Align::center, .mono = true});
        };
        const double step = rounded((plot.most_mm2 - plot.least_mm2) / 4);
        if (!plot.wide)
            for (double mm2 = std::ceil(plot.least_mm2 / step) * step; mm2 < plot.most_mm2; mm2 += step) mark(mm2);
        else
            for (const double mm2 : marks_between(plot.least_mm2, plot.most_mm2, left_of_unit)) mark(mm2);
        ui.text(plot.box.right(), plot.box.bottom() + 17, "mm\xC2\xB2",
                {.size = 12, .color = theme.ink2, .align = Align::right});
        if (!plot.legend) return;
        const float y = plot.box.bottom() + 32;
        float x = ui.legend_line(plot.box.x, y, theme.right, false, "best so far");
        x = ui.legend_line(x, y, theme.accent, true, "next?");
        if (!plot.wide) return;
        ui.frame({x, y - 9, 9, 9}, data::yellow, 2);
        ui.text(x + 14, y, "real", {.size = 13, .color = theme.ink2});
    }

    static void dots(Ui& ui, Session& session, const BuildState& state, const Plot& plot) {
        const Theme& theme = *ui.theme;
        const std::vector<const BuiltDesign*> front = front_of(state);
        std::vector<Point> steps;
        for (size_t i = 0; i < front.size(); ++i) {
            const Point at{plot.x(front[i]->area.mm2), plot.y(front[i]->time_us)};
            if (i > 0) steps.push_back({at.x, steps.back().y});
            steps.push_back(at);
        }
        if (steps.size() > 1) ui.polyline(steps, theme.right, 2.5f);
        const BuiltDesign* const now = state.numbered(session.build.number());
        if (state.next && now != nullptr && now->ran() && state.next_of == now->number) {
            const Point a{plot.x(now->area.mm2), plot.y(now->time_us)};
            const Point b{plot.x(state.next->area.mm2), plot.y(state.next->time_us)};
            const Point way[] = {a, b};
            ui.polyline(way, theme.accent, 1.6f, 4, 3);
            ui.polygon({{b.x, b.y - 7}, {b.x + 7, b.y}, {b.x, b.y + 7}, {b.x - 7, b.y}}, theme.accent);
        }
        // The newest takes its place first; those that another one covers are small, and lie below.
        struct Dot {
            const BuiltDesign* design;
            Point at;
            bool free;
        };
        std::vector<Dot> all;
        for (size_t k = state.designs.size(); k-- > 0;) {
            const BuiltDesign& design = *state.designs[k];
            if (!design.ran() || (design.sampled > 0 && &design != state.newest())) continue;  // its whole run is to come
            const Point at{plot.x(design.area.mm2), plot.y(design.time_us)};
            const bool free = std::ranges::none_of(
                all, [&](const Dot& other) { return other.free && std::hypot(other.at.x - at.x, other.at.y - at.y) < 19; });
            all.push_back({&design, at, free});
        }
        std::stable_partition(all.begin(), all.end(), [](const Dot& dot) { return !dot.free; });
        bool over_watts = false;
        for (const auto& [of, at, free] : all) {
            const BuiltDesign& design = *of;
            const bool shown = &design == now, over = !design.within(*state.task);
            const bool best = std::ranges::find(front, &design) != front.end();
            const Color color = best ? theme.right : over ? theme.wrong : theme.ink2;
            if (over && at.x < plot.x(state.task->most_mm2)) over_watts = true;
            const float radius = free ? 9.0f : 4.0f;
            ui.circle(at, radius, shown ? theme.ink : theme.panel);
            ui.ring(at, radius, color, 2);
            if (free) {
                ui.text(at.x, at.y + 4.5f, fmt::format("{}", design.number),
                        {.size = 12,
                         .color = shown  ? theme.panel
                                  : over ? theme.wrong
                                         : theme.ink,
                         .align = Align::center,
                         .weight = 700});
            }
            const Rect grip{at.x - 10, at.y - 10, 20, 20};
            if (ui.hovered(grip))
                ui.tooltip(fmt::format("design {}: {} (simulated), {:.1f} mm2 (estimate)\nclick: back to it", design.number,
                                       time_text(design.time_us), design.area.mm2));
            if (free && ui.area(fmt::format("design {}", design.number), grip) && !shown)
                session.build.take(session, design.figures);
        }
        if (!over_watts || plot.wide || !plot.legend) return;
        const float y = plot.box.bottom() + 32;
        ui.ring({plot.box.right() - 58, y - 4}, 5, theme.wrong, 2);
        ui.text(plot.box.right(), y, "over W", {.size = 13, .color = theme.ink2, .align = Align::right});
    }

    static std::string next_words(const Session& session, const Snapshot& snapshot) {
        const BuildDesk& desk = session.build;
        if (desk.shows_hint && desk.task()->puzzle) {
            const auto& hints = desk.task()->puzzle->hints;
            const size_t at = static_cast<size_t>(desk.hint) % hints.size();
            return fmt::format("Hint, {} of {}: {}", at + 1, hints.size(), with_squares(hints[at]));
        }
        if (!desk.impossible().empty()) return "No such GPU: " + desk.impossible();
        const BuiltDesign* const shown = shown_design(session, snapshot);
        if (shown == nullptr) return snapshot.busy.empty() ? "This design has not run yet." : "This design runs.";
        if (!shown->ran()) return "It does not run: " + shown->refused;
        const BuildTask& task = *desk.task();
        if (task.puzzle && shown->medal == Medal::gold) return "Gold. " + with_squares(task.puzzle->recap);
        if (task.puzzle && shown->why == "a latency is another one")
            return "What if: with this latency it takes " + time_text(shown->time_us) +
                   ". No area buys it, so there is no medal: put it back, or undo.";
        const BuiltDesign* const next = proposed_design(session, snapshot);
        if (next != nullptr && !shown->within(task)) {
            const bool watts = task.most_watts > 0 && shown->watts > task.most_watts;
            return fmt::format("It is over the budget. Next: {}, which takes {:.2f} {} instead of {:.2f} (estimates).",
                               change_words(task, shown->figures, next->figures, tells_values(desk)),
                               watts ? next->watts : next->area.mm2, watts ? "W" : "mm\xC2\xB2",
                               watts ? shown->watts : shown->area.mm2);
        }
        const bool hinted = task.puzzle && !task.puzzle->hints.empty();
        if (next != nullptr) {
            const double factor = shown->time_us / next->time_us;
            return fmt::format("Next: {}. {}, for {}{:.2f} mm\xC2\xB2 (estimate).{}",
                               change_words(task, shown->figures, next->figures, tells_values(desk)), as_fast(factor),
                               next->area.mm2 >= shown->area.mm2 ? "+" : "\xE2\x88\x92",
                               std::fabs(next->area.mm2 - shown->area.mm2),
                               hinted && factor < 1.02 && next->medal <= shown->medal ? " A hint may lead further." : "");
        }
        if (snapshot.build->next_of != shown->number) return "Changes are being run, to see which one gains most.";
        if (task.most_mm2 <= 0 && task.most_watts <= 0)
            return "No change that was run gains as much time as it adds area. There is no budget: any may be tried.";
        std::string words = shown->within(task) ? "No change that was run is faster within the budget."
                                                : "It is over the budget, and no change that was run leads nearer to it.";
        if (hinted) words += " A hint may help.";
        return words;
    }

    static float next_height(Ui& ui, const Session& session, const Snapshot& snapshot, float width, bool table) {
        const float words = ui.paragraph({0, 0, width, 200}, next_words(session, snapshot), {.size = 14}, 21, false);
        return 30 + words + 10 + (table && proposed_design(session, snapshot) != nullptr ? 62 : 0) + 36;
    }

    static void next(Ui& ui, Session& session, const Snapshot& snapshot, const Rect& box, bool tabled) {
        const Theme& theme = *ui.theme;
        BuildDesk& desk = session.build;
        ui.line({box.x - 8, box.y}, {box.right() + 8, box.y}, theme.line);
        ui.text(box.x, box.y + 21, "What to change next", {.size = 14, .weight = 600});
        float y = box.y + 30;
        y += ui.paragraph({box.x, y, box.w, 200}, next_words(session, snapshot), {.size = 14}, 21) + 8;
        const BuiltDesign* const shown = shown_design(session, snapshot);
        const BuiltDesign* const next = proposed_design(session, snapshot);
        if (tabled && next != nullptr && shown != nullptr) {
            const Rect table{box.x, y, box.w, 54};
            ui.rect(table, theme.panel2, 5);
            const auto line = [&](float baseline, const char* what, const std::string& before, const std::string& after) {
                ui.text(table.x + 12, baseline, what, {.size = 13, .color = theme.ink2});
                ui.text(table.x + 148, baseline, before, {.size = 13, .color = theme.ink2, .align = Align::right});
                ui.text(table.x + 164, baseline, "\xE2\x86\x92", {.size = 13, .color = theme.ink2, .align = Align::center});
                ui.text(table.x + 180, baseline, after, {.size = 14, .weight = 700});
            };
            std::vector<double> others = {shown->time_us, next->time_us};
            if (const auto& t = snapshot.build->thresholds) others.insert(others.end(), {t->silver_us, t->gold_us});
            line(y + 21, shown->medal == Medal::gold ? "faster still" : "time", time_text(shown->time_us),
                 lessons::time_apart(next->time_us, others));
            const double most_watts = desk.task()->most_watts;
            if (most_watts > 0 && shown->watts > most_watts)
                line(y + 43, "power, estimate", fmt::format("{:.2f}", shown->watts), fmt::format("{:.2f} W", next->watts));
            else
                line(y + 43, "area, estimate", fmt::format("{:.2f}", shown->area.mm2),
                     fmt::format("{:.2f} mm\xC2\xB2", next->area.mm2));
            if (next->medal != Medal::none)
                ui.text(table.right() - 12, y + 21, name_of(next->medal),
                        {.size = 14, .color = medal_color(next->medal, theme), .align = Align::right, .weight = 700});
        }
        const bool hinted = desk.task()->puzzle && !desk.task()->puzzle->hints.empty();
        const float top = box.bottom() - 30, gap = 8, others = hinted ? 4 : 3;
        const float small = std::min(78.0f, (box.w - others * gap) / (others + 1.65f));
        Rect at{box.x, top, box.w - others * (small + gap), 28};
        const std::string following = shown != nullptr && shown->medal == Medal::gold ? puzzle_after(desk) : std::string();
        if (!following.empty()) {
            if (ui.button(at, "Next puzzle", true)) take_next(session, snapshot);
        } else if (next != nullptr && !tells_values(desk)) {
            if (ui.hovered(at)) ui.tooltip("shows the values of it (Y); you may find them yourself, too");
            if (ui.button(at, "How much?", true)) take_next(session, snapshot);
        } else if (ui.button(at, "Try it", true, next != nullptr)) {
            take_next(session, snapshot);
        }
        at = {at.right() + gap, top, small, 28};
        if (!following.empty() && next != nullptr) {  // with gold no hint is needed, but there may be something faster still
            if (ui.button(at, "Try it")) desk.take(session, next->figures);
            at.x += small + gap;
        } else if (hinted) {
            if (ui.button(at, "Hint")) next_hint(desk);
            at.x += small + gap;
        }
        if (ui.button(at, "Undo", false, desk.can_undo())) desk.undo(session);
        at.x += small + gap;
        if (ui.button(at, "Reset", false, !desk.figures().empty())) desk.reset(session);
        at.x += small + gap;
        if (ui.button(at, "Save")) {
            desk.save(snapshot);
            constexpr std::string_view saved = "saved as ";
            const bool good = desk.note.starts_with(saved);
            session.post(ask::Tell{good && desk.task()->puzzle
                                       ? fmt::format("{}: 'lockstep puzzle check {} --gpu' takes it, as every --gpu does",
                                                     desk.note, desk.task()->puzzle->id)
                                       : desk.note,
                                   good, good ? desk.note.substr(saved.size()) : std::string()});
        }
    }
};

}  // namespace

std::string puzzle_after(const BuildDesk& desk) {
    if (!desk.task() || !desk.task()->puzzle) return "";
    const auto at = std::ranges::find(all_puzzles(), desk.task()->puzzle->file);
    return at == all_puzzles().end() || at + 1 == all_puzzles().end() ? "" : (at + 1)->string();
}

void take_next(Session& session, const Snapshot& snapshot) {
    BuildDesk& desk = session.build;
    if (!desk.task()) return;
    const BuiltDesign* const shown = shown_design(session, snapshot);
    const BuiltDesign* const next = proposed_design(session, snapshot);
    if (shown != nullptr && shown->medal == Medal::gold && !puzzle_after(desk).empty())
        desk.open(session, puzzle_after(desk));
    else if (next != nullptr && !tells_values(desk))
        desk.shows_values = true, desk.shows_hint = false;
    else if (next != nullptr)
        desk.take(session, next->figures);
}

void compare_next(BuildDesk& desk) {
    desk.against = static_cast<BuildDesk::Against>((static_cast<int>(desk.against) + 1) % 3);
}

void next_hint(BuildDesk& desk) {
    if (!desk.task() || !desk.task()->puzzle || desk.task()->puzzle->hints.empty()) return;
    desk.hint += desk.shows_hint ? 1 : 0;
    desk.shows_hint = true;
}

std::unique_ptr<View> make_puzzle_view() {
    return std::make_unique<PuzzleView>();
}

}  // namespace lockstep::gui
