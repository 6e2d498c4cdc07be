// The launch as a form: what the command line takes, one field a thing, and what is wrong said beside the field. Changing a
// field runs the kernel again when that is cheap; Run waits for it as long as it takes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/gui/view.h"
#include "app/gui/widgets/text_editor.h"
#include "app/gui/widgets/ui_state.h"
#include "core/base/units.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/module_symbols.h"

namespace lockstep::gui {
namespace {

std::string sentence_of(const Diagnostic& d) {
    return d.message;
}

// What can be said of a field before the kernel runs; empty when it is right.
std::string wrong_extent(const std::string& text, const char* what) {
    const auto extent = scene::parse_dim3(text, what);
    return extent.ok() ? "" : sentence_of(extent.error());
}
std::string wrong_argument(const std::string& text) {
    const auto argument = scene::parse_argument(text);
    return argument.ok() ? "" : sentence_of(argument.error());
}
bool is_number(const std::string& text) {
    return !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string type_of(const ptx::Parameter& p, const std::string& declaration, const std::string& name) {
    if (!declaration.empty()) {  // the declaration without the name
        std::string type = declaration.substr(0, declaration.rfind(name));
        for (const char* word : {"__restrict__", "__restrict"})
            if (const size_t at = type.find(word); at != std::string::npos) type.erase(at, std::string(word).size());
        while (!type.empty() && type.back() == ' ') type.pop_back();
        return type;
    }
    return p.pointer ? "pointer" : fmt::format("{} B", p.bytes);
}

std::string launch_caption(const KernelDesk& desk, const Snapshot& snapshot) {
    const LaunchSettings& s = desk.document().launch;
    const auto grid = scene::parse_dim3(s.grid, "grid"), block = scene::parse_dim3(s.block, "block");
    if (const auto& last = snapshot.own.result; last && last->refused && !desk.stale_run(snapshot).empty()) {
        const std::string with = desk.earlier_launch(snapshot);
        return fmt::format("It did not run: the pictures are of the run before{}.", with.empty() ? "" : ", " + with);
    }
    if (!desk.entry(snapshot))
        return desk.document().is_header() || desk.owner() > 0 ? "" : "The form fills itself once the text compiles.";
    if (!grid.ok() || !block.ok()) return "Grid and block are one to three numbers, as in 64 or 16,4.";
    const uint64_t blocks = grid.value().count(), threads = block.value().count();
    if (static_cast<double>(blocks) * static_cast<double>(threads) > 9e15)
        return "That is more threads than can be counted.";
    const auto per_block = static_cast<int64_t>((block.value().count() + 31) / 32);
    return fmt::format("{} of {}: {} a block, {} in all.", counted(blocks, "block"), counted(threads, "thread"),
                       counted(per_block, "warp"), counted(blocks * threads, "thread"));
}

class LaunchView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        KernelDesk& desk = session.desk;
        const std::string sentence = launch_caption(desk, *snapshot);
        const KernelEntry* entry = desk.entry(*snapshot);
        const Rect body = ui.panel(area, {.title = "Launch",
                                          .right = entry ? entry->name : "",
                                          .badge = entry ? Provenance::derived : Provenance::none,
                                          .caption = sentence});
        if (!entry && (desk.document().is_header() || desk.owner() > 0)) {
            const size_t whole = desk.owner();
            return ui.say_nothing_yet(
                body,
                whole > 0 ? "This file is a part of " + desk.documents()[whole].shown_name() + "."
                          : std::string("A header has no launch of its own."),
                whole > 0 ? "Run saves it and launches that one." : "Open a kernel of its folder that includes it.");
        }
        if (!entry) {
            const bool broken = snapshot->own.compiled && !snapshot->own.compiled->ok && !desk.compiling(*snapshot);
            return ui.say_nothing_yet(
                body, broken ? "The text does not compile yet." : "The text is being compiled.",
                broken ? "The reports say where; nothing that you wrote is lost." : "Its parameters become a form here.");
        }
        ui.push_scope("launch");
        buttons(ui, session, *snapshot, {body.x, body.bottom() - 34, body.w, 34});
        const Rect page{body.x - 8, body.y - 4, body.w + 16, body.h - 38};
        const float offset = ui.scroll("form", {page.x, page.y, page.w + 4, page.h}, height_);
        ui.clip(page);
        Rect r{body.x, page.y + 4, body.w - 4, page.h};
        float y = r.y - offset;
        y = entries(ui, desk, *snapshot, *entry, r, y);
        y = extents(ui, desk, *snapshot, r, y);
        y = arguments(ui, desk, *snapshot, *entry, r, y);
        y = machine(ui, desk, *snapshot, r, y);
        height_ = y + offset - r.y + 8;
        ui.unclip();
        ui.pop_scope();
        left(ui, desk);
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const LaunchSettings& s = session.desk.document().launch;
        const KernelEntry* entry = session.desk.entry(*snapshot);
        if (!entry) return "Launch: no text has compiled yet.";
        std::string text =
            fmt::format("Launch of {}\n  grid {}, block {}, {} B of dynamic shared memory, {}, {}\n", entry->name, s.grid,
                        s.block, s.shared, s.gpu, s.timed ? "timed" : "functional, warps " + std::string(name_of(s.order)));
        for (const ArgumentText& a : s.arguments) {
            text += fmt::format("  {} = {}{}\n", a.parameter, a.text, a.chosen ? "" : "  (a guess)");
            if (const std::string why = wrong_argument(a.text); !why.empty()) text += "    " + why + "\n";
        }
        if (const LearnedLaunch* const found = learned(session.desk, *snapshot)) {
            text += "  " + found->sentence + "\n";
            for (const LaunchOffer& offer : found->offers) text += "    " + offer.title + ": " + offer.detail + "\n";
        }
        if (snapshot->own.result && snapshot->own.result->refused) {
            const Diagnostic& why = *snapshot->own.result->refused;
            text += "  not run: " + (why.where.file.empty() ? "" : why.where.file + ": ") + why.message + "\n";
        }
        return text + "  " + launch_caption(session.desk, *snapshot) + "\n";
    }

  private:
    float height_ = 0;
    bool gpus_open_ = false;
    static constexpr size_t most_chips = 24;  // of the file's kernels: of more some are sought by name
    std::string entry_sought_;
    uint32_t typed_in_ = 0;   // the field that is being typed in; 0: none
    bool submitted_ = false;  // by Enter

    // A field of the form: what is typed in it runs when it is left, on Enter or after a pause.
    bool typed(Ui& ui, KernelDesk& desk, const std::string& id, const Rect& box, std::string& value, FieldLook look) {
        look.submitted = &submitted_;
        if (!text_field(ui, id, box, value, look)) return false;
        typed_in_ = ui.state->focused;
        desk.touch_soon();
        return true;
    }
    void left(const Ui& ui, KernelDesk& desk) {
        const bool entered = std::exchange(submitted_, false);
        if (typed_in_ == 0 || (ui.state->focused == typed_in_ && !entered)) return;
        if (desk.due()) desk.touch();
        typed_in_ = 0;
        desk.typing = false;
    }

    // What the last run said about a field, while the field still holds what it said it about.
    static std::string refused(const Snapshot& snapshot, const std::string& field, const std::string& text) {
        const auto& result = snapshot.own.result;
        if (!result || !result->refused) return {};
        // What is wrong with a file is said about the file: it belongs to the argument that names it.
        const Diagnostic& why = *result->refused;
        const bool in_file = result->field.empty() && !why.where.file.empty() && field.starts_with("argument ") &&
                             text.find(why.where.file.substr(why.where.file.find_last_of('/') + 1)) != std::string::npos;
        if (result->field != field && !in_file) return {};
        const LaunchSettings& s = result->settings;
        std::string was = field == "grid" ? s.grid : field == "block" ? s.block : field == "shared" ? s.shared : s.seed;
        if (field.starts_with("argument ")) {
            const auto i = static_cast<size_t>(std::stoi(field.substr(9)));
            was = i < s.arguments.size() ? s.arguments[i].text : "";
        }
        return was != text ? std::string() : in_file ? why.where.file + ": " + why.message : why.message;
    }

    static float complaint(Ui& ui, const Rect& r, float y, const std::string& why) {
        if (why.empty()) return y;
        return y + ui.paragraph({r.x, y, r.w, 120}, why, {.size = 13, .color = ui.theme->wrong}, 19) + 4;
    }

    float entries(Ui& ui, KernelDesk& desk, const Snapshot& snapshot, const KernelEntry& entry, const Rect& r, float y) {
        const auto& all = snapshot.own.runnable->entries;
        if (desk.compiling(snapshot) == false && snapshot.own.compiled && !snapshot.own.compiled->ok)
            y += ui.paragraph({r.x, y, r.w, 60}, "The text does not compile now: this is the last one that did.",
                              {.size = 13, .color = ui.theme->wrong}, 19) +
                 4;
        if (all.size() < 2) return y;
        ui.text(r.x, y + 14, fmt::format("kernel, {} in this file", all.size()), {.size = 13, .color = ui.theme->ink2});
        y += 22;
        const bool many = all.size() > most_chips;
        if (many) {
            text_field(ui, "entry", {r.x, y, std::min(240.0f, r.w), 26}, entry_sought_, {.hint = "a part of its name"});
            y += 32;
        }
        float x = r.x;
        size_t shown = 0, found = 0;
        for (const KernelEntry& candidate : all) {
            if (many && &candidate != &entry && candidate.name.find(entry_sought_) == std::string::npos) continue;
            if (++found; shown >= most_chips && &candidate != &entry) continue;
            ++shown;
            if (x > r.x && x + ui.chip_width(candidate.name) > r.right()) x = r.x, y += 30;
            if (ui.chip(x, y, candidate.name, &candidate == &entry, candidate.program != nullptr))
                desk.choose_entry(candidate.name);
        }
        if (found > shown) {
            y += 30;
            ui.text(r.x, y + 16, fmt::format("and {} more: type a part of the name", found - shown),
                    {.size = 13, .color = ui.theme->ink2, .width = r.w});
        }
        return y + 36;
    }

    float extents(Ui& ui, KernelDesk& desk, const Snapshot& snapshot, const Rect& r, float y) {
        LaunchSettings& s = desk.document().launch;
        const float w = std::floor((r.w - 24) / 3);
        const auto field = [&](int column, const char* label, const char* id, std::string& value, bool wrong,
                               const char* hint) {
            const float x = r.x + static_cast<float>(column) * (w + 12);
            ui.text(x, y + 13, label, {.size = 13, .color = ui.theme->ink2, .width = w});
            return typed(ui, desk, id, {x, y + 19, w, 26}, value, {.hint = hint, .wrong = wrong});
        };
        const std::string bad_grid = wrong_extent(s.grid, "the grid"), bad_block = wrong_extent(s.block, "the block");
        const std::string bad_shared = is_number(s.shared) ? "" : "shared memory is a whole number of bytes, from 0";
        const std::string no_grid = refused(snapshot, "grid", s.grid), no_block = refused(snapshot, "block", s.block),
                          no_shared = refused(snapshot, "shared", s.shared);
        bool changed = field(0, "grid, blocks", "grid", s.grid, !bad_grid.empty() || !no_grid.empty(), "64 or 8,8");
        changed |= field(1, "block, threads", "block", s.block, !bad_block.empty() || !no_block.empty(), "256 or 16,16");
        if (changed) s.grid_chosen = true;
        field(2, "shared, bytes", "shared", s.shared, !bad_shared.empty() || !no_shared.empty(), "0");
        y += 51;
        y = complaint(ui, r, y, bad_grid);
        y = complaint(ui, r, y, bad_block);
        y = complaint(ui, r, y, bad_shared);
        if (bad_grid.empty()) y = complaint(ui, r, y, no_grid);
        if (bad_block.empty()) y = complaint(ui, r, y, no_block);
        if (bad_shared.empty()) y = complaint(ui, r, y, no_shared);
        return y + 4;
    }

    float arguments(Ui& ui, KernelDesk& desk, const Snapshot& snapshot, const KernelEntry& entry, const Rect& r, float y) {
        LaunchSettings& s = desk.document().launch;
        if (!entry.program) return complaint(ui, r, y, entry.refused ? entry.refused->message : "");
        if (s.arguments.size() != entry.program->parameters.size()) fit_launch(s, entry, snapshot.own.runnable->source);
        const auto declarations = parameter_declarations(snapshot.own.runnable->source, entry.program->kernel);
        ui.text(r.x, y + 13, s.arguments.empty() ? "no parameters" : "arguments",
                {.size = 13, .color = ui.theme->ink2, .width = r.w});
        if (std::any_of(s.arguments.begin(), s.arguments.end(), [](const ArgumentText& a) { return a.chosen; })) {
            const float width = ui.text_width("guess again", {.size = 13});
            if (ui.link(r.right() - width, y + 13, "guess again")) {
                for (ArgumentText& a : s.arguments) a.chosen = false;
                s.grid_chosen = false;
                fit_launch(s, entry, snapshot.own.runnable->source);
                desk.touch();
            }
        }
        y += 22;
        const float names = std::min(150.0f, r.w * 0.36f);
        for (size_t i = 0; i < s.arguments.size(); ++i) {
            ArgumentText& a = s.arguments[i];
            const std::string declaration =
                i < declarations.size() && declarations.size() == s.arguments.size() ? declarations[i] : "";
            const Rect box{r.x + names, y, r.w - names, 26};
            const std::string wrong = wrong_argument(a.text), no = refused(snapshot, fmt::format("argument {}", i), a.text);
            const float end =
                ui.text(r.x, y + 18, a.parameter, {.size = 13, .weight = 700, .mono = true, .width = names - 8});
            const std::string type = type_of(entry.program->parameters[i], declaration, a.parameter);
            if (names - (end - r.x) > 40)
                ui.text(end + 8, y + 18, type,
                        {.size = 12, .color = ui.theme->quiet, .mono = true, .width = names - (end - r.x) - 16});
            if (typed(ui, desk, fmt::format("argument {}", i), box, a.text,
                      {.hint = "in:f32[1024], out:f32[1024], i32:7", .wrong = !wrong.empty() || !no.empty()}))
                a.chosen = true;
            if (ui.hovered({r.x, y, names, 26}))
                ui.tooltip(fmt::format(
                    "{} {}\ni32:42  f32:1.5   a number\nin:f32[1024]  in:f32{{1,2,3}}  in:x.npy   a buffer to read\n"
                    "   [1024 ramp], [1024 zero], [1024 below 8] fill it; else random\nout:f32[1024]   a buffer to "
                    "write   inout:f32[1024 zero]   both\nnull   nullptr   @a+16   into the buffer of 'a'   in:f32[64]+3   "
                    "behind its first elements\nstruct:i32:4,in:f32[16],null   by value, with pointers\n"
                    "pointers:in:f32[8],out:f32[8]   an array of them, float **",
                    type, a.parameter));
            y += 30;
            y = complaint(ui, box, y, !wrong.empty() ? wrong : no);
        }
        y = variables(ui, desk, snapshot, *entry.program, r, y);
        return offers(ui, desk, snapshot, r, y) + 6;
    }

    // What a first run told of sizes that were guessed, while the form still has those guesses.
    static const LearnedLaunch* learned(const KernelDesk& desk, const Snapshot& snapshot) {
        const LearnedLaunch* const found = snapshot.own.learned.get();
        const bool fits =
            found != nullptr && found->version == desk.version() && same_sizes(found->settings, desk.document().launch);
        return fits ? found : nullptr;
    }

    static float offers(Ui& ui, KernelDesk& desk, const Snapshot& snapshot, const Rect& r, float y) {
        const LearnedLaunch* const found = learned(desk, snapshot);
        if (found == nullptr) return y;
        y += 4 + ui.paragraph({r.x, y + 4, r.w, 120}, found->sentence, {.size = 13, .color = ui.theme->ink2}, 19);
        LaunchSettings& s = desk.document().launch;
        for (const LaunchOffer& offer : found->offers) {
            float x = r.x;
            if (ui.chip(x, y + 4, "Use " + offer.title)) {
                for (const auto& [index, text] : offer.arguments)
                    if (index < s.arguments.size()) s.arguments[index].text = text, s.arguments[index].chosen = true;
                desk.touch();
                return y + 34;
            }
            y += 34;
            for (const auto& [index, text] : offer.arguments) {
                const std::string name = index < s.arguments.size() ? s.arguments[index].parameter : std::string();
                ui.text(r.x + 8, y + 14, name + " = " + text,
                        {.size = 12, .color = ui.theme->ink2, .mono = true, .width = r.w - 8});
                y += 18;
            }
            y += 2;
        }
        return y;
    }

    // Values of the file's __constant__ and __device__ variables.
    float variables(Ui& ui, KernelDesk& desk, const Snapshot& snapshot, const ptx::Program& program, const Rect& r,
                    float y) {
        if (program.variables.empty()) return y;
        LaunchSettings& s = desk.document().launch;
        const float names = std::min(150.0f, r.w * 0.36f);
        const auto parsed = scene::parse_symbols(s.symbols);
        const std::string wrong = parsed.ok() ? "" : sentence_of(parsed.error()),
                          no = refused(snapshot, "symbols", s.symbols);
        ui.text(r.x, y + 18, "variables", {.size = 13, .color = ui.theme->ink2, .width = names - 8});
        const Rect box{r.x + names, y, r.w - names, 26};
        typed(ui, desk, "symbols", box, s.symbols,
              {.hint = "taps=in:f32{1,2,1}; n=i32:7", .wrong = !wrong.empty() || !no.empty()});
        if (ui.hovered({r.x, y, names, 26})) {
            std::string list;
            for (size_t i = 0; i < program.variables.size() && i < 12; ++i)
                list += fmt::format("\n{}   {} bytes", ptx::readable_name(program.variables[i].name),
                                    program.variables[i].bytes);
            ui.tooltip(
                "values of the file's variables before the launch, between semicolons; of a pointer "
                "d=pointers:inout:f32[64]" +
                list);
        }
        return complaint(ui, box, y + 30, !wrong.empty() ? wrong : no);
    }

    float machine(Ui& ui, KernelDesk& desk, const Snapshot& snapshot, const Rect& r, float y) {
        LaunchSettings& s = desk.document().launch;
        constexpr float label = 68;
        const auto head = [&](const char* text) { ui.text(r.x, y + 18, text, {.size = 13, .color = ui.theme->ink2}); };
        head("GPU");
        float x = r.x + label;
        const std::vector<GpuChoice> choices = gpu_choices(s.gpu);
        std::string title = s.gpu;
        for (const GpuChoice& choice : choices)
            if (choice.name == s.gpu) title = choice.title;
        if (ui.chip(x, y, title + (gpus_open_ ? "  -" : "  ..."), gpus_open_)) gpus_open_ = !gpus_open_;
        if (gpus_open_) {
            x = r.x + label;
            y += 30;
            for (const GpuChoice& one : choices) {
                if (x > r.x + label && x + ui.chip_width(one.title) > r.right()) x = r.x + label, y += 30;
                if (ui.chip(x, y, one.title, one.name == s.gpu)) {
                    s.gpu = one.name;
                    gpus_open_ = false;
                    desk.touch();
                }
            }
        }
        y += 34;
        head("mode");
        x = r.x + label;
        const int mode = ui.segmented(x, y, {"timed", "functional"}, s.timed ? 0 : 1);
        if ((mode == 0) != s.timed) s.timed = mode == 0, desk.touch();
        const std::string why = s.timed ? "cycles, stalls" : "values only, fast";
        if (x + ui.text_width(why, {.size = 12}) < r.right())
            ui.text(x + 4, y + 18, why, {.size = 12, .color = ui.theme->quiet});
        y += 34;
        if (!s.timed) {
            head("warps");
            x = r.x + label;
            for (int i = 0; i < 4; ++i) {
                const auto order = static_cast<simt::WarpOrder>(i);
                if (x > r.x + label && x + ui.chip_width(name_of(order)) > r.right()) x = r.x + label, y += 30;
                if (ui.chip(x, y, name_of(order), s.order == order) && s.order != order) s.order = order, desk.touch();
            }
            y += 34;
        }
        head("seed");
        const std::string no_seed = refused(snapshot, "seed", s.seed);
        typed(ui, desk, "seed", {r.x + label, y, 92, 26}, s.seed,
              {.hint = "1", .wrong = !is_number(s.seed) || !no_seed.empty()});
        ui.text(r.x + label + 102, y + 18, s.timed ? "of random values" : "of random values and order",
                {.size = 12, .color = ui.theme->quiet, .width = r.w - label - 102});
        y += 34;
        y = complaint(ui, {r.x + label, y, r.w - label, 30}, y,
                      is_number(s.seed) ? no_seed : "the seed is a whole number from 0");
        head("check");
        x = r.x + label;
        ui.chip(x, y, "memcheck", true, false);
        const auto checker = [&](const char* name, bool& on) {
            if (x > r.x + label && x + ui.chip_width(name) > r.right()) x = r.x + label, y += 30;
            if (ui.chip(x, y, name, on)) on = !on, desk.touch();
        };
        checker("synccheck", s.synccheck);
        checker("racecheck", s.racecheck);
        checker("initcheck", s.initcheck);
        return y + 30;
    }

    static void buttons(Ui& ui, Session& session, const Snapshot& snapshot, const Rect& r) {
        KernelDesk& desk = session.desk;
        LaunchSettings& s = desk.document().launch;
        const bool running = snapshot.busy.starts_with("running ");
        ui.line({r.x - 11, r.y - 4}, {r.right() + 11, r.y - 4}, ui.theme->grid);
        if (running) {
            if (ui.button({r.x, r.y + 2, 104, 30}, "Cancel", true)) desk.cancel(session);
            const Rect bar{r.x + 120, r.y + 22, std::max(20.0f, r.w - 124), 4};
            ui.text(bar.x, r.y + 15, snapshot.busy, {.size = 13, .color = ui.theme->ink2, .width = bar.w});
            ui.rect(bar, ui.theme->grid, 2);
            if (snapshot.progress > 0)
                ui.rect({bar.x, bar.y, bar.w * static_cast<float>(std::clamp(snapshot.progress, 0.0, 1.0)), bar.h},
                        ui.theme->accent, 2);
            return;
        }
        if (ui.button({r.x, r.y + 2, 104, 30}, "Run", true)) desk.run(session);
        float x = r.x + 116;
        if (ui.chip(x, r.y + 4, "run on change", s.run_on_change)) s.run_on_change = !s.run_on_change, desk.touch();
        ui.text(x + 6, r.y + 22, "F5 runs", {.size = 12, .color = ui.theme->quiet, .width = r.right() - x - 6});
    }
};

}  // namespace

std::unique_ptr<View> make_launch_view() {
    return std::make_unique<LaunchView>();
}

}  // namespace lockstep::gui
