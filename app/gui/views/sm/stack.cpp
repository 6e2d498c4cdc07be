// The paths of a warp as cards, two ways (chips; at first as the GPU does it). Before Volta a reconvergence stack, the
// running path on top: its next instruction, where it meets the others again, and its lanes; the path that left last stays
// as a ghost above. Since Volta independent threads: paths that may run in any order, and the convergence barriers where
// lanes wait for the others. The stack of paths is the stack of calls too: a card whose frame is another one than that of
// the card below was called from there. Where the warp's history does not reach (a long run, time travel), the stack is
// that of the replay.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/sm/lane_paths.h"
#include "core/base/units.h"
#include "core/ptx/ptx.h"

namespace lockstep::gui {
namespace {

std::string pc_text(uint32_t pc) {
    return pc == ptx::no_pc ? "—" : std::to_string(pc);
}

std::string counted_lanes(uint32_t mask) {
    return counted(lanes_in(mask), "lane");
}

struct Card {
    simt::StackEntry entry;
    size_t place = 0, number = 0;  // in the stack; of the path, which colours it
    std::string name, state;
    std::string brief;  // the state where it does not fit
    bool ghost = false, running = false;
    uint32_t missing = 0;   // of a convergence barrier: lanes that have not come yet
    uint32_t returned = 0;  // lanes that only `ret` is left for
};

// What is on show: the stack at a step of the warp, from its history or from the replay.
struct StackShown {
    int64_t step = 0;
    const std::vector<simt::StackEntry>* stack = nullptr;  // null: not known (yet)
    const simt::WarpHistory* history = nullptr;            // where it has the step
    std::shared_ptr<const std::vector<simt::StackEntry>> replayed;
    const ptx::Program* program = nullptr;
    size_t number(size_t place) const { return history ? now()->number(place) : place; }
    const simt::WarpStep* now() const { return history ? &history->steps[static_cast<size_t>(step)] : nullptr; }
};

StackShown shown_of(const Session& session, const Snapshot& snapshot) {
    StackShown shown;
    shown.step = std::max<int64_t>(0, session.sm.history_step);
    if (snapshot.kernel.run) shown.program = snapshot.kernel.run->program.get();
    const auto& history = snapshot.kernel.history;
    if (!history || history->steps.empty()) return shown;
    if (session.learn.reveal_steps >= 0)
        shown.step = std::min(shown.step, std::max<int64_t>(1, session.learn.reveal_steps) - 1);
    const auto held = static_cast<int64_t>(history->steps.size());
    if (shown.step < held || !history->truncated) {
        shown.step = std::min(shown.step, held - 1);
        shown.history = history.get();
        shown.stack = &history->steps[static_cast<size_t>(shown.step)].stack;
    } else if (snapshot.kernel.stack && snapshot.kernel.lanes_step == shown.step && !snapshot.kernel.stack->empty()) {
        shown.replayed = snapshot.kernel.stack;
        shown.stack = shown.replayed.get();
    }
    return shown;
}

std::string function_at(const ptx::Program& program, uint32_t pc) {
    for (const ptx::Function& function : program.functions)
        if (pc >= function.begin && pc < function.end) return ptx::readable_name(function.name);
    return program.shown_name();
}

// "in leaf(), called on line 7"; empty for the kernel itself.
std::string call_of(const ptx::Program* program, const std::vector<simt::StackEntry>& stack, size_t place) {
    if (program == nullptr || stack[place].frame < 0 || stack[place].pc >= program->instructions.size()) return {};
    std::string text = "in " + function_at(*program, stack[place].pc) + "()";
    for (size_t below = place; below-- > 0;) {
        if (stack[below].frame == stack[place].frame) continue;
        const uint32_t call = stack[below].pc == 0 ? 0 : stack[below].pc - 1;  // it goes on behind the call
        if (call < program->instructions.size() && program->instructions[call].line > 0)
            text += fmt::format(", called on line {}", program->instructions[call].line);
        break;
    }
    return text;
}

// Lanes of an entry that are on paths above it: where there are any, the others wait for them.
uint32_t lanes_above(const std::vector<simt::StackEntry>& stack, size_t place) {
    uint32_t lanes = 0;
    for (size_t i = place + 1; i < stack.size(); ++i) lanes |= stack[i].mask;
    return lanes & stack[place].mask;
}

// Behind a call: it goes on when the function above it has returned.
bool is_caller(const std::vector<simt::StackEntry>& stack, size_t place) {
    return place + 1 < stack.size() && stack[place + 1].frame != stack[place].frame;
}

// Those of an entry's own lanes for which nothing but `ret` is left.
uint32_t returned_at(const StackShown& shown, size_t place) {
    const auto& stack = *shown.stack;
    if (shown.program == nullptr || place + 1 == stack.size()) return 0;
    return returned_lanes(*shown.program, stack) & stack[place].mask & ~lanes_above(stack, place);
}

std::string returned_text(uint32_t returned, uint32_t mask) {
    return fmt::format("{} of {} lanes {} returned", lanes_in(returned), lanes_in(mask),
                       lanes_in(returned) == 1 ? "has" : "have");
}

void say_returned(Card& card) {
    if (card.returned == 0) return;
    card.state = returned_text(card.returned, card.entry.mask);
    card.brief = fmt::format("{} of {} returned", lanes_in(card.returned), lanes_in(card.entry.mask));
}

std::string waiting_text(int waiting, int all) {
    return fmt::format("{} of {} wait{} here", waiting, counted(all, "lane"), waiting == 1 ? "s" : "");
}

std::string name_of_path(const simt::StackEntry& entry, size_t place, bool running) {
    if (place > 0) return lanes_text(entry.mask);
    return running ? "all together" : "where all meet";
}

std::vector<Card> cards_of(const StackShown& shown, bool independent) {
    std::vector<Card> cards;
    const auto& stack = *shown.stack;
    for (size_t i = stack.size(); independent && i-- > 0;) {
        const bool top = i + 1 == stack.size();
        Card card{.entry = stack[i],
                  .place = i,
                  .number = shown.number(i),
                  .name = name_of_path(stack[i], i, top),
                  .state = top ? "running" : "ready to run",
                  .brief = {},
                  .running = top};
        card.missing = lanes_above(stack, i);
        card.returned = returned_at(shown, i);
        const int all = lanes_in(stack[i].mask), missing = lanes_in(card.missing);
        if (is_caller(stack, i)) {
            card.name = "the caller, at pc " + pc_text(stack[i].pc);
            card.state = "waits for the call";
        } else if (missing > 0) {
            card.name = (card.returned != 0 ? "return at pc " : "barrier at pc ") + pc_text(stack[i].pc);
            card.state = waiting_text(all - missing, all);
            card.brief = fmt::format("{} of {} wait", all - missing, all);
            say_returned(card);
        }
        if (const std::string call = call_of(shown.program, stack, i); !call.empty()) card.state += " " + call;
        cards.push_back(std::move(card));
    }
    if (independent) return cards;
    if (shown.history != nullptr)
        if (const Popped popped = last_popped(*shown.history, static_cast<size_t>(shown.step)); popped.any)
            cards.push_back({.entry = popped.entry,
                             .place = popped.place,
                             .number = popped.number,
                             .name = name_of_path(popped.entry, popped.place, false),
                             .state = fmt::format("popped after issue {}", popped.after + 1),
                             .brief = "popped",
                             .ghost = true});
    for (size_t i = stack.size(); i-- > 0;) {
        const bool top = i + 1 == stack.size();
        std::string state = top ? (stack.size() == 1 ? "alone, running" : "top, running") : "waiting";
        if (const std::string call = call_of(shown.program, stack, i); !call.empty()) state += " " + call;
        cards.push_back({.entry = stack[i],
                         .place = i,
                         .number = shown.number(i),
                         .name = name_of_path(stack[i], i, top),
                         .state = state,
                         .brief = {},
                         .running = top,
                         .returned = returned_at(shown, i)});
        say_returned(cards.back());
    }
    return cards;
}

size_t calls_of(const std::vector<simt::StackEntry>& stack) {
    size_t calls = 0;
    for (size_t i = 1; i < stack.size(); ++i) calls += stack[i].frame != stack[i - 1].frame && stack[i].frame >= 0;
    return calls;
}

std::string caption_of(const Session& session, const StackShown& shown, bool independent) {
    if (session.learn.reveal_steps == 0) return "The paths of this warp stay hidden until you lock an answer.";
    const auto& stack = *shown.stack;
    std::string text;
    if (const size_t calls = calls_of(stack); calls > 0) text = fmt::format("{} deep. ", counted(calls, "call"));
    if (stack.size() <= 1) return text + "One path: the lanes of this warp are together.";
    for (size_t i = stack.size(); independent && i-- > 0;)
        if (const int missing = lanes_in(lanes_above(stack, i)), all = lanes_in(stack[i].mask);
            missing > 0 && !is_caller(stack, i) && returned_at(shown, i) != 0)
            return text + returned_text(returned_at(shown, i), stack[i].mask) + "; the others go on.";
        else if (missing > 0 && !is_caller(stack, i))
            return text + fmt::format("At pc {} lanes wait for each other: {} of {} have come. Paths run in any order.",
                                      pc_text(stack[i].pc), all - missing, all);
    if (independent) return text + "The caller goes on when its lanes have returned.";
    const uint32_t meet = stack.back().reconvergence;
    return text + (meet == ptx::no_pc ? "The top card decides what runs; it is popped when its lanes exit or return."
                                      : fmt::format("The top card decides what runs; at pc {} it is popped.", meet));
}

class StackView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const StackShown shown = shown_of(session, *snapshot);
        const bool independent = is_independent(*snapshot);
        if (shown.stack == nullptr) {
            const Rect body = ui.panel(area, {.title = title_of(independent)});
            const bool looked = snapshot->kernel.history && !snapshot->kernel.history->steps.empty();
            return ui.say_nothing_yet(body,
                                      !snapshot->busy.empty() ? snapshot->busy
                                      : looked                ? "The stack at this instruction is being replayed."
                                                              : "No warp has run yet.",
                                      "Each path that a branch opens becomes a card here, and each call.");
        }
        const std::string right = fmt::format("while issue {} runs", with_commas(shown.step + 1));
        const std::string sentence = caption_of(session, shown, independent);
        Rect body = ui.panel(area, {.title = title_of(independent),
                                    .right = right,
                                    .badge = independent ? Provenance::derived : Provenance::simulated,
                                    .caption = sentence});
        if (session.learn.reveal_steps == 0) {
            const Rect box{body.x, body.y, body.w, 44};
            ui.dashed(box, ui.theme->ink3);
            ui.text(box.x + box.w / 2, box.y + 27, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
            return;
        }
        ui.push_scope("stack");
        if (body.h > 170) {
            float x = body.x;
            const std::string_view ways[] = {"pre-Volta stack", "independent threads"}, brief[] = {"stack", "independent"};
            const bool fits = ui.segmented_width(ways) <= body.w;
            const int way = ui.segmented(x, body.y, fits ? ways : brief, independent ? 1 : 0);
            if (way != (independent ? 1 : 0)) wished_ = way == 1;
            body.y += 34;
            body.h -= 34;
        }
        slide(ui, *shown.stack, independent);
        const auto cards = cards_of(shown, independent);
        const float foot = 30;
        const Rect view{body.x, body.y - 2, body.w, body.h + 2};
        const float gap = 8;
        const float height = std::clamp((view.h - foot) / static_cast<float>(cards.size()) - gap, 58.0f, 88.0f);
        const float content = static_cast<float>(cards.size()) * (height + gap) + foot;
        const float offset = ui.scroll("cards", view, content);
        ui.clip({view.x - 4, view.y, view.w + 8, view.h});
        float y = view.y - offset;
        for (const Card& card : cards) {
            Rect place{body.x, y + 1, body.w - (content > view.h ? 10.0f : 0.0f), height};
            if (card.ghost) place.x += 10 * slid_, place.w -= 10 * slid_;                // it slid out
            if (!card.ghost && card.place >= slides_from_) place.x += 60 * (1 - slid_);  // it slides in
            const Faded faint(ui, card.ghost ? 1 - 0.35f * slid_ : 1.0f);
            draw_card(ui, card, shown.now(), place);
            y += height + gap;
        }
        if (!independent) {
            ui.line({body.x, y}, {body.right(), y}, ui.theme->ink3, 2);
            ui.hatch({body.x, y + 1, body.w, 6}, ui.theme->ink3, Hatch::diagonal);
        }
        ui.text(body.x, y + 22, foot_of(*snapshot, independent), {.size = 12, .color = ui.theme->quiet, .width = body.w});
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const StackShown shown = shown_of(session, *snapshot);
        const bool independent = is_independent(*snapshot);
        if (shown.stack == nullptr)
            return std::string(title_of(independent)) + ": no warp has run yet, or its stack is being replayed.";
        std::string text = fmt::format("{} ({}), while issue {} runs, top first\n", title_of(independent),
                                       independent ? "derived" : "simulated", shown.step + 1);
        if (session.learn.reveal_steps == 0) return text + "  " + caption_of(session, shown, independent) + "\n";
        for (const Card& card : cards_of(shown, independent)) {
            text += fmt::format("  {} ({}): pc {}, reconvergence pc {}, mask 0x{:08x}, {}", lanes_text(card.entry.mask),
                                card.state, pc_text(card.entry.pc), pc_text(card.entry.reconvergence), card.entry.mask,
                                counted_lanes(card.entry.mask));
            text += card.missing != 0 ? fmt::format(", {} still on their way\n", lanes_text(card.missing)) : "\n";
        }
        return text + "  " + caption_of(session, shown, independent) + "\n";
    }

  private:
    std::optional<bool> wished_;  // chosen by hand; else as the GPU does it
    std::vector<simt::StackEntry> seen_;
    bool seen_independent_ = false;
    size_t slides_from_ = SIZE_MAX;  // place of the first new card
    double changed_ = -1;            // when it came
    float slid_ = 1;                 // 0..1

    bool is_independent(const Snapshot& snapshot) const {
        return wished_.value_or(snapshot.kernel.run && model::schedules_threads(snapshot.kernel.run->gpu));
    }
    static std::string_view title_of(bool independent) {
        return independent ? "Convergence barriers" : "Reconvergence stack";
    }
    static std::string foot_of(const Snapshot& snapshot, bool independent) {
        std::string text = independent ? "squares: lanes that wait; dots: lanes on their way" : "bottom of the stack";
        if (snapshot.kernel.run && model::schedules_threads(snapshot.kernel.run->gpu) != independent)
            text += fmt::format("; the {} itself has {}", snapshot.kernel.run->gpu.title,
                                independent ? "a stack" : "independent threads");
        return text;
    }

    // Cards that came since the last frame slide in, for a sixth of a second.
    void slide(Ui& ui, const std::vector<simt::StackEntry>& stack, bool independent) {
        if (stack != seen_ || independent != seen_independent_) {
            slides_from_ = 0;
            while (slides_from_ < stack.size() && slides_from_ < seen_.size() &&
                   stack[slides_from_].mask == seen_[slides_from_].mask)
                ++slides_from_;
            const bool changed = stack.size() != seen_.size() && !seen_.empty();
            if (changed) changed_ = ui.now;
            if (!changed) changed_ = -1;
            seen_ = stack;
            seen_independent_ = independent;
        }
        slid_ = changed_ < 0 || ui.calm() ? 1.0f : static_cast<float>(std::clamp((ui.now - changed_) * 6, 0.0, 1.0));
        if (slid_ < 1) ui.animate();
    }

    static void draw_card(Ui& ui, const Card& card, const simt::WarpStep* now, const Rect& r) {
        const Theme& theme = *ui.theme;
        if (card.ghost) {
            ui.dashed(r, theme.ink3);
        } else {
            ui.rect(r, theme.panel2, 4);
            ui.frame(r, card.running ? theme.accent : theme.line, card.running ? 1.5f : 1.0f, 4);
        }
        const PathCode code = path_code(card.number);
        ui.hatch({r.x, r.y, 6, r.h}, code.color, code.hatch);
        const float first = r.y + r.h / 2 - 10, second = first + 26;
        const float lane = r.w > 480   ? 7.0f
                           : r.w > 440 ? 5.0f
                                       : 4.0f,
                    mask_width = 32 * lane + 6, mask_x = r.right() - 12 - mask_width;
        const float columns = std::min(62.0f, (mask_x - r.x - 18 - 140) / 2);
        const float pc_x = mask_x - 16 - 2 * columns;
        ui.text(r.x + 18, first, card.name, {.size = 14, .weight = 600, .width = pc_x - r.x - 24});
        const bool fits = card.brief.empty() || ui.text_width(card.state, {.size = 13}) <= pc_x - r.x - 24;
        ui.text(r.x + 18, second, fits ? card.state : card.brief,
                {.size = 13, .color = theme.ink2, .width = pc_x - r.x - 24});
        const bool room = columns >= 44;
        if (room) {
            ui.text(pc_x, first, "pc", {.size = 13, .color = theme.quiet});
            ui.text(pc_x, second, pc_text(card.entry.pc), {.size = 15, .weight = 700, .mono = true});
            ui.text(pc_x + columns, first, "meets at", {.size = 13, .color = theme.quiet});
            ui.text(pc_x + columns, second, pc_text(card.entry.reconvergence), {.size = 15, .mono = true});
        }
        const std::string count = counted_lanes(card.entry.mask);
        const float left = ui.text(r.right() - 12, first, count, {.size = 13, .color = theme.ink2, .align = Align::right});
        const std::string mask = fmt::format("0x{:08x}", card.entry.mask);
        if (left - mask_x > 84) ui.text(mask_x, first, mask, {.size = 13, .color = theme.ink2, .mono = true});
        for (int i = 0; i < 32; ++i) {
            const Rect box{mask_x + lane * static_cast<float>(i) + 2 * static_cast<float>(i / 8), second - 12, lane - 1, 14};
            if (card.returned >> i & 1) {
                ui.line({box.x, box.y + 3}, {box.right(), box.bottom() - 3}, theme.ink2, 1.2f);
                ui.line({box.x, box.bottom() - 3}, {box.right(), box.y + 3}, theme.ink2, 1.2f);
                continue;
            }
            if ((card.entry.mask & ~card.missing) >> i & 1) {
                ui.rect(box, code.color);
                continue;
            }
            ui.frame(box, theme.line);
            if (!(card.missing >> i & 1)) continue;
            const int path = now ? path_of_lane(*now, i) : -1;
            ui.rect({box.x + box.w / 2 - 1.5f, box.y + box.h / 2 - 1.5f, 3, 3},
                    path < 0 ? code.color : path_code(static_cast<size_t>(path)).color);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_stack_view() {
    return std::make_unique<StackView>();
}

}  // namespace lockstep::gui
