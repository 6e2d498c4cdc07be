// The reconvergence stack as cards, the running path on top: its next instruction, where it meets the others again, and
// its lanes. The path that left last stays as a ghost above. The stack of paths is the stack of calls too: a card whose
// frame is another one than that of the card below was called from there. Where the warp's history does not reach (a long
// run, time travel), the stack is that of the replay.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/lane_paths.h"
#include "app/gui/views/sm_views.h"
#include "core/ptx/ptx.h"

namespace lockstep::gui {
namespace {

std::string pc_text(uint32_t pc) {
    return pc == ptx::no_pc ? "—" : std::to_string(pc);
}

struct Card {
    simt::StackEntry entry;
    size_t place = 0;
    std::string state;
    bool ghost = false, running = false;
};

// What is on show: the stack at a step of the warp, from its history or from the replay.
struct Shown {
    int64_t step = 0;
    const std::vector<simt::StackEntry>* stack = nullptr;  // null: not known (yet)
    const simt::WarpHistory* history = nullptr;            // where it has the step
    std::shared_ptr<const std::vector<simt::StackEntry>> replayed;
    const ptx::Program* program = nullptr;
};

Shown shown_of(const Session& session, const Snapshot& snapshot) {
    Shown shown;
    shown.step = std::max<int64_t>(0, session.history_step);
    if (snapshot.kernel) shown.program = snapshot.kernel->program.get();
    const auto& history = snapshot.history;
    if (!history || history->steps.empty()) return shown;
    if (session.reveal_steps >= 0) shown.step = std::min(shown.step, std::max<int64_t>(1, session.reveal_steps) - 1);
    const auto held = static_cast<int64_t>(history->steps.size());
    if (shown.step < held || !history->truncated) {
        shown.step = std::min(shown.step, held - 1);
        shown.history = history.get();
        shown.stack = &history->steps[static_cast<size_t>(shown.step)].stack;
    } else if (snapshot.stack && snapshot.lanes_step == shown.step && !snapshot.stack->empty()) {
        shown.replayed = snapshot.stack;
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

std::vector<Card> cards_of(const Shown& shown) {
    std::vector<Card> cards;
    const auto& stack = *shown.stack;
    if (shown.history != nullptr)
        if (const Popped popped = last_popped(*shown.history, static_cast<size_t>(shown.step)); popped.any)
            cards.push_back(
                {popped.entry, popped.place, fmt::format("popped after issue {}", popped.after + 1), true, false});
    for (size_t i = stack.size(); i-- > 0;) {
        const bool top = i + 1 == stack.size();
        std::string state = top ? (stack.size() == 1 ? "alone, running" : "top, running") : "waiting";
        if (const std::string call = call_of(shown.program, stack, i); !call.empty()) state += " " + call;
        cards.push_back({stack[i], i, state, false, top});
    }
    return cards;
}

size_t calls_of(const std::vector<simt::StackEntry>& stack) {
    size_t calls = 0;
    for (size_t i = 1; i < stack.size(); ++i) calls += stack[i].frame != stack[i - 1].frame && stack[i].frame >= 0;
    return calls;
}

std::string caption_of(const Session& session, const Shown& shown) {
    if (session.reveal_steps == 0) return "The paths of this warp stay hidden until you lock an answer.";
    const auto& stack = *shown.stack;
    std::string text;
    if (const size_t calls = calls_of(stack); calls > 0)
        text = fmt::format("{} call{} deep. ", calls, calls == 1 ? "" : "s");
    if (stack.size() <= 1) return text + "One path: the lanes of this warp are together.";
    const uint32_t meet = stack.back().reconvergence;
    return text + (meet == ptx::no_pc ? "The top card decides what runs; it is popped when its lanes exit or return."
                                      : fmt::format("The top card decides what runs; at pc {} it is popped.", meet));
}

class StackView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Shown shown = shown_of(session, *snapshot);
        if (shown.stack == nullptr) {
            const Rect body = ui.panel(area, {.title = "Reconvergence stack"});
            const bool looked = snapshot->history && !snapshot->history->steps.empty();
            return ui.say_nothing_yet(body,
                                      !snapshot->busy.empty() ? snapshot->busy
                                      : looked                ? "The stack at this instruction is being replayed."
                                                              : "No warp has run yet.",
                                      "Each path that a branch opens becomes a card here, and each call.");
        }
        const std::string right = fmt::format("while issue {} runs", with_commas(shown.step + 1));
        const std::string sentence = caption_of(session, shown);
        const Rect body = ui.panel(
            area, {.title = "Reconvergence stack", .right = right, .badge = Provenance::simulated, .caption = sentence});
        if (session.reveal_steps == 0) {
            const Rect box{body.x, body.y, body.w, 44};
            ui.dashed(box, ui.theme->ink3);
            ui.text(box.x + box.w / 2, box.y + 27, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
            return;
        }
        ui.push_scope("stack");
        const auto cards = cards_of(shown);
        const float foot = 30;
        const Rect view{body.x, body.y - 2, body.w, body.h + 2};
        const float gap = 8;
        const float height = std::clamp((view.h - foot) / static_cast<float>(cards.size()) - gap, 58.0f, 88.0f);
        const float content = static_cast<float>(cards.size()) * (height + gap) + foot;
        const float offset = ui.scroll("cards", view, content);
        ui.clip({view.x - 4, view.y, view.w + 8, view.h});
        float y = view.y - offset;
        for (const Card& card : cards) {
            draw_card(ui, card, {body.x, y + 1, body.w - (content > view.h ? 10.0f : 0.0f), height});
            y += height + gap;
        }
        ui.line({body.x, y}, {body.right(), y}, ui.theme->ink3, 2);
        ui.hatch({body.x, y + 1, body.w, 6}, ui.theme->ink3, Hatch::diagonal);
        ui.text(body.x, y + 22, "bottom of the stack", {.size = 12, .color = ui.theme->quiet});
        ui.unclip();
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const Shown shown = shown_of(session, *snapshot);
        if (shown.stack == nullptr) return "Reconvergence stack: no warp has run yet, or its stack is being replayed.";
        std::string text = fmt::format("Reconvergence stack (simulated), while issue {} runs, top first\n", shown.step + 1);
        if (session.reveal_steps == 0) return text + "  " + caption_of(session, shown) + "\n";
        for (const Card& card : cards_of(shown))
            text += fmt::format("  {} ({}): pc {}, reconvergence pc {}, mask 0x{:08x}, {} lanes\n",
                                lanes_text(card.entry.mask), card.state, pc_text(card.entry.pc),
                                pc_text(card.entry.reconvergence), card.entry.mask, lanes_in(card.entry.mask));
        return text + "  " + caption_of(session, shown) + "\n";
    }

  private:
    static void draw_card(Ui& ui, const Card& card, const Rect& r) {
        const Theme& theme = *ui.theme;
        const Faded faint(ui, card.ghost ? 0.65f : 1.0f);
        if (card.ghost) {
            ui.dashed(r, theme.ink3);
        } else {
            ui.rect(r, theme.panel2, 4);
            ui.frame(r, card.running ? theme.accent : theme.line, card.running ? 1.5f : 1.0f, 4);
        }
        const PathCode code = path_code(card.place);
        ui.hatch({r.x, r.y, 6, r.h}, code.color, code.hatch);
        const float first = r.y + r.h / 2 - 10, second = first + 26;
        const float lane = r.w > 480   ? 7.0f
                           : r.w > 440 ? 5.0f
                                       : 4.0f,
                    mask_width = 32 * lane + 6, mask_x = r.right() - 12 - mask_width;
        const float columns = std::min(62.0f, (mask_x - r.x - 18 - 140) / 2);
        const float pc_x = mask_x - 16 - 2 * columns;
        std::string name = lanes_text(card.entry.mask);
        if (card.place == 0) name = "where all meet";
        if (card.place == 0 && card.running) name = "all together";
        ui.text(r.x + 18, first, name, {.size = 14, .weight = 600, .width = pc_x - r.x - 24});
        ui.text(r.x + 18, second, card.state, {.size = 13, .color = theme.ink2, .width = pc_x - r.x - 24});
        const bool room = columns >= 44;
        if (room) {
            ui.text(pc_x, first, "pc", {.size = 13, .color = theme.quiet});
            ui.text(pc_x, second, pc_text(card.entry.pc), {.size = 15, .weight = 700, .mono = true});
            ui.text(pc_x + columns, first, "meets at", {.size = 13, .color = theme.quiet});
            ui.text(pc_x + columns, second, pc_text(card.entry.reconvergence), {.size = 15, .mono = true});
        }
        const std::string count = fmt::format("{} lanes", lanes_in(card.entry.mask));
        const float left = ui.text(r.right() - 12, first, count, {.size = 13, .color = theme.ink2, .align = Align::right});
        const std::string mask = fmt::format("0x{:08x}", card.entry.mask);
        if (left - mask_x > 84) ui.text(mask_x, first, mask, {.size = 13, .color = theme.ink2, .mono = true});
        for (int i = 0; i < 32; ++i) {
            const Rect box{mask_x + lane * static_cast<float>(i) + 2 * static_cast<float>(i / 8), second - 12, lane - 1, 14};
            if (card.entry.mask >> i & 1)
                ui.rect(box, code.color);
            else
                ui.frame(box, theme.line);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_stack_view() {
    return std::make_unique<StackView>();
}

}  // namespace lockstep::gui
