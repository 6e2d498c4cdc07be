// The launch as it is: a box a block, a cell a thread with the number that tells it apart, the formula of that number with
// the picked thread's values. The cells of the recorded warp show what each thread does at the current instruction.
// Facts come from threads_data.h. While a prediction is open, cells show the thread's place in its block alone.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/sm/threads_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float pad = 6, title_height = 24, block_gap = 8;
constexpr uint64_t most_thread_cells = 1100, most_labels = 420;  // quads: a cell is one, a digit another

struct Seen {  // what may be seen of the recorded warp: nothing while a prediction is open
    const simt::WarpHistory* history = nullptr;
    size_t step = 0;
    bool hidden = false;  // a prediction is open
};

Seen seen_of(const Session& session, const Snapshot& snapshot) {
    Seen seen;
    seen.hidden = session.learn.reveal_steps >= 0;
    if (!snapshot.kernel.history || snapshot.kernel.history->steps.empty() || seen.hidden) return seen;
    seen.history = snapshot.kernel.history.get();
    seen.step = std::min(static_cast<size_t>(std::max<int64_t>(0, session.sm.history_step)), seen.history->steps.size() - 1);
    return seen;
}

const WarpTrack* focused_track(const KernelTrace& trace, const Focus& focus) {
    return focus.warp >= 0 && static_cast<size_t>(focus.warp) < trace.warps.size()
               ? &trace.warps[static_cast<size_t>(focus.warp)]
               : nullptr;
}

// The thread that the focus names: its lane of the focused warp, else the first.
ThreadPlace focused_thread(const model::KernelRun& run, const Focus& focus) {
    const WarpTrack* track = focused_track(run.result.trace, focus);
    const uint64_t block = track ? track->block : 0, warp = track ? track->warp_in_block : 0,
                   lanes = std::max<uint64_t>(1, threads_in_warp(run.config, warp)),
                   lane = std::min(lanes - 1, static_cast<uint64_t>(std::max(0, focus.lane)));
    return thread_at(run.config, block, warp * simt::warp_size + lane);
}

std::string_view word_of(ThreadState state) {
    switch (state) {
        case ThreadState::runs:
            return "runs";
        case ThreadState::waits:
            return "waits on another path";
        case ThreadState::exited:
            return "has left";
        case ThreadState::unknown:
            break;
    }
    return "";
}

std::string thread_sentence(const model::KernelRun& run, const Snapshot& snapshot, const Seen& seen,
                            const ThreadPlace& thread) {
    std::string text = fmt::format("thread {} of block {}, ", label_of(run.config, thread, true), thread.block);
    if (shape_of(run.config) == LaunchShape::sheet)
        text = fmt::format("thread (row {}, column {}) of block {}, ", thread.thread.y, thread.thread.x, thread.block);
    text += fmt::format("lane {} of warp {}", thread.lane, thread.warp);
    if (seen.hidden || !seen.history) return text;
    const ThreadState state = state_of(*run.program, *seen.history, seen.step, thread);
    if (state == ThreadState::unknown) {
        const bool traced = track_of(run.result.trace, thread.block, thread.warp) >= 0;
        return text + (traced ? "" : fmt::format(": not traced, only SM {} is", run.result.trace.sm));
    }
    text += fmt::format(": {}", word_of(state));
    if (snapshot.kernel.lanes && snapshot.kernel.lanes_step == static_cast<int64_t>(seen.step))
        if (const std::string touched = touched_by(run, seen.history->steps[seen.step], *snapshot.kernel.lanes, thread.lane);
            !touched.empty())
            text += ", " + touched;
    return text;
}

// "int i = blockIdx.x * 12 + threadIdx.x": called i, with steps of 12.
void name_own_index(FormulaNames& names, const std::string& text) {
    const auto after_blanks = [&](size_t at) { return std::min(text.find_first_not_of(' ', at), text.size()); };
    constexpr std::string_view block = "blockIdx.x", thread = "threadIdx.x";
    for (size_t at = text.find(block); at != std::string::npos; at = text.find(block, at + 1)) {
        size_t next = after_blanks(at + block.size());
        if (next == text.size() || text[next] != '*') continue;
        next = after_blanks(next + 1);
        const size_t digits = next;
        uint64_t step = 0;
        for (; next < text.size() && text[next] >= '0' && text[next] <= '9' && next < digits + 6; ++next)
            step = step * 10 + static_cast<uint64_t>(text[next] - '0');
        next = after_blanks(next);
        if (step == 0 || next == text.size() || text[next] != '+') continue;
        if (text.compare(after_blanks(next + 1), thread.size(), thread) != 0) continue;
        const size_t equals = text.find_last_not_of(' ', at - 1);
        if (at == 0 || equals == std::string::npos || equals == 0 || text[equals] != '=') continue;
        const size_t last = text.find_last_not_of(' ', equals - 1);
        size_t first = last;
        while (first != std::string::npos && first > 0 &&
               (std::isalnum(static_cast<unsigned char>(text[first - 1])) != 0 || text[first - 1] == '_'))
            --first;
        if (last == std::string::npos) continue;
        names.own = text.substr(first, last - first + 1);
        names.step = step;
        return;
    }
}

// As the kernel's own text has it: another index than this one is not called i here.
FormulaNames names_in(const model::KernelRun& run) {
    std::string text;
    for (const char c : run.source)
        if (c != ' ') text += c;
    FormulaNames names{.rows = text.find("threadIdx.y") != std::string::npos,
                       .index = text.empty() || text.find("blockIdx.x*blockDim.x+threadIdx.x") != std::string::npos};
    if (!names.index) name_own_index(names, run.source);
    return names;
}

// From which index on threads are past the end of every array; none: no thread is, or its index is not that of an element.
std::optional<uint64_t> first_past(const model::KernelRun& run) {
    if (shape_of(run.config) != LaunchShape::line || !names_in(run).index || names_in(run).rows) return std::nullopt;
    const uint64_t elements = longest_array(run);
    const uint64_t threads = run.config.grid.count() * run.config.block.count();
    return elements > 0 && elements < threads ? std::optional(elements) : std::nullopt;
}

std::string caption_of(const model::KernelRun& run, const Seen& seen, std::optional<uint64_t> past) {
    if (seen.hidden) return "Cells show the place in the block; the rest stays hidden until you lock an answer.";
    std::string text = launch_sentence(run.config);
    if (past)
        text += fmt::format(" From {} on they are past the end of the arrays.", with_commas(static_cast<int64_t>(*past)));
    if (!seen.history) return text;
    const simt::WarpStep& step = seen.history->steps[seen.step];
    const auto threads = threads_in_warp(run.config, seen.history->warp_in_block);
    const uint32_t there = threads >= 32 ? simt::full_mask : (1u << threads) - 1;
    const int line = step.pc < run.program->instructions.size() ? run.program->instructions[step.pc].line : 0;
    const int run_now = lanes_in(step.active & there),
              left = lanes_in(gone_lanes(*run.program, step) & ~step.active & there),
              wait = static_cast<int>(threads) - run_now - left;
    text +=
        fmt::format(" {}, {} of {} threads of warp {} in block {} run", line > 0 ? fmt::format("On line {}", line) : "Now",
                    run_now, threads, seen.history->warp_in_block, seen.history->block);
    if (wait > 0) text += fmt::format(", {} wait", wait);
    if (left > 0) text += fmt::format(", {} {} left", left, left == 1 ? "has" : "have");
    return text + ".";
}

std::string title_right(const simt::LaunchConfig& config) {
    const uint64_t blocks = std::max<uint64_t>(1, config.grid.count());
    return fmt::format("{} {} of {} threads", extent_text(config.grid), blocks == 1 ? "block" : "blocks",
                       extent_text(config.block));
}

struct Plan {  // how cells and blocks are laid out
    float w = 3, h = 3, gap = 1;
    float text = 0;     // size of the labels, 0: none
    uint64_t step = 0;  // of the kernel's own index, see label_of
    bool labels() const { return text > 0; }
    uint64_t per_row = 1, shown = 1;
    float block_w = 0, block_h = 0;
};

class ThreadsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program) {
            const Rect body = ui.panel(area, {.title = "Grid, block, thread"});
            return ui.say_nothing_yet(body, snapshot->busy.empty() ? "No kernel has run yet." : snapshot->busy,
                                      "Every thread of the launch becomes a cell here.");
        }
        const model::KernelRun& run = *snapshot->kernel.run;
        if (run_ != snapshot->kernel.run)
            run_ = snapshot->kernel.run, elsewhere_.reset(), past_ = first_past(run), step_ = names_in(run).step;
        const Seen seen = seen_of(session, *snapshot);
        const std::string right = title_right(run.config), sentence = caption_of(run, seen, past_);
        const Rect body = ui.panel(
            area, {.title = "Grid, block, thread", .right = right, .badge = Provenance::derived, .caption = sentence});
        ui.push_scope("threads");
        const ThreadPlace focused = focused_thread(run, focus);
        const ThreadPlace picked = hovered_ ? *hovered_ : elsewhere_ ? *elsewhere_ : focused;
        const bool low = body.h < 150;
        const float top = low ? 0.0f : formula(ui, run, *snapshot, seen, picked, body) + 6;
        const float foot = body.h < 190 ? 0.0f : 26.0f;
        blocks(ui, focus, run, seen, focused, {body.x, body.y + top, body.w, body.h - top - foot});
        if (foot > 0) legend(ui, run.config, seen, past_, body.x, body.bottom() - 3, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run || !snapshot->kernel.run->program) return "Grid, block, thread: no kernel has run yet.";
        const model::KernelRun& run = *snapshot->kernel.run;
        const Seen seen = seen_of(session, *snapshot);
        std::string text = fmt::format("Grid, block, thread (derived): {}\n", title_right(run.config));
        const ThreadPlace thread = focused_thread(run, focus);
        text += "  " + thread_sentence(run, *snapshot, seen, thread) + "\n";
        for (const Formula& f : formulas_of(run.config, thread, names_in(run)))
            text += fmt::format("  {} = {}{}\n", f.name, f.terms, seen.hidden ? "" : " = " + f.numbers);
        if (seen.history) {
            const simt::WarpStep& step = seen.history->steps[seen.step];
            const uint64_t threads = threads_in_warp(run.config, seen.history->warp_in_block);
            const uint32_t there = threads >= 32 ? simt::full_mask : (1u << threads) - 1,
                           left = gone_lanes(*run.program, step) & ~step.active & there, wait = there & ~step.active & ~left;
            text += fmt::format("  warp {} of block {} at issue {}: {} run", seen.history->warp_in_block,
                                seen.history->block, seen.step + 1, lanes_text(step.active & there));
            if (wait != 0) text += fmt::format(", {} wait", lanes_text(wait));
            if (left != 0) text += fmt::format(", {} left", lanes_text(left));
            text += "\n";
        }
        return text + "  " + caption_of(run, seen, first_past(run)) + "\n";
    }

  private:
    std::shared_ptr<const model::KernelRun> run_;
    std::optional<ThreadPlace> elsewhere_;  // picked, but its warp was not traced: the focus cannot name it
    std::optional<ThreadPlace> hovered_;    // in the frame before
    uint64_t step_ = 0;                     // of run_: of its own index
    std::optional<uint64_t> past_;          // of run_: the first index that is past the end of its arrays

    // Returns the height used.
    static float formula(Ui& ui, const model::KernelRun& run, const Snapshot& snapshot, const Seen& seen,
                         const ThreadPlace& thread, const Rect& r) {
        const Theme& theme = *ui.theme;
        const auto formulas = formulas_of(run.config, thread, names_in(run));
        const TextStyle mono{.size = 13, .mono = true};
        float y = r.y + 12;
        float names = 0, widest = 0;
        for (const Formula& f : formulas) {
            names = std::max(names, ui.text_width(f.name, mono));
            widest = std::max(widest, ui.text_width(" = " + f.terms + " = " + f.numbers, mono));
        }
        const bool one_line = names + widest <= r.w;
        for (const Formula& f : formulas) {
            ui.text(r.x, y, f.name, {.size = 13, .weight = 700, .mono = true});
            const std::string numbers = seen.hidden ? "?" : f.numbers;
            const float x = ui.text(r.x + names, y, " = " + f.terms, {.size = 13, .color = theme.ink2, .mono = true});
            if (!one_line) y += 19;
            ui.text(one_line ? x : r.x + names, y, " = " + numbers, mono);
            y += 19;
        }
        ui.text(r.x, y, thread_sentence(run, snapshot, seen, thread), {.size = 13, .color = theme.ink2, .width = r.w});
        return y - r.y + 6;
    }

    // The largest cells with which all blocks fit, else the largest with which four do.
    static Plan plan_for(Ui& ui, const simt::LaunchConfig& config, bool own, uint64_t step, const Rect& r) {
        const Cell cells = cells_of(config);
        const uint64_t all = std::max<uint64_t>(1, config.grid.count()),
                       threads = std::max<uint64_t>(1, config.block.count());
        const std::string widest = label_of(config, thread_at(config, all - 1, threads - 1), own, step);
        const auto label = [&](float size) { return ui.text_width(widest, {.size = size, .mono = true}); };
        const bool few = std::min(all, uint64_t{4}) * threads <= most_labels;
        struct Size {
            float w, h, gap, text;  // text 0: no labels
        };
        const Size sizes[] = {{std::max(52.0f, label(15) + 14), 44, 4, 15},
                              {std::max(42.0f, label(14) + 12), 36, 4, 14},
                              {std::max(34.0f, label(13) + 10), 30, 4, 13},
                              {std::max(28.0f, label(12) + 8), 26, 3, 12},
                              {std::max(24.0f, label(12) + 6), 22, 3, 12},
                              {std::max(18.0f, label(12) + 4), 18, 2, 12},
                              {16, 16, 2, 0},
                              {12, 12, 2, 0},
                              {10, 10, 2, 0},
                              {8, 8, 2, 0},
                              {6, 6, 1, 0},
                              {5, 5, 1, 0},
                              {4, 4, 1, 0},
                              {3, 3, 1, 0}};
        Plan best;
        for (const bool whole : {true, false})
            for (const Size& size : sizes) {
                if (size.text > 0 && !few) continue;
                Plan plan{size.w, size.h, size.gap, size.text, step, 1, 1, 0, 0};
                plan.block_w = std::max(64.0f, static_cast<float>(cells.column) * (size.w + size.gap) - size.gap + 2 * pad);
                plan.block_h = title_height + static_cast<float>(cells.row) * (size.h + size.gap) - size.gap + pad;
                const auto across = static_cast<uint64_t>(std::max(0.0f, (r.w + block_gap) / (plan.block_w + block_gap)));
                const bool grid_rows = whole && config.grid.y > 1 && across >= config.grid.x;  // the grid's own columns
                plan.per_row = std::max<uint64_t>(1, grid_rows ? config.grid.x : across);
                const auto fit = [&](float height) {
                    const auto down =
                        static_cast<uint64_t>(std::max(0.0f, (height + block_gap) / (plan.block_h + block_gap)));
                    return std::min({all, plan.per_row * down, std::max<uint64_t>(1, most_thread_cells / threads)});
                };
                const bool rest = fit(r.h) < all;  // a line says how many more
                const uint64_t shown = across == 0 ? 0 : fit(r.h - (rest ? 20.0f : 0.0f));
                plan.shown = std::max<uint64_t>(1, shown);
                best = plan;
                if (whole ? shown == all
                          : shown >= std::min<uint64_t>({all, 4, std::max<uint64_t>(1, most_thread_cells / threads)}))
                    return plan;
            }
        return best;
    }

    void blocks(Ui& ui, Focus& focus, const model::KernelRun& run, const Seen& seen, const ThreadPlace& focused,
                const Rect& r) {
        const Theme& theme = *ui.theme;
        const uint64_t all = std::max<uint64_t>(1, run.config.grid.count());
        const Plan plan = plan_for(ui, run.config, seen.hidden, step_, r);
        // The page of blocks with the picked one.
        const uint64_t wanted = elsewhere_ ? elsewhere_->block : focused.block, first = wanted / plan.shown * plan.shown,
                       end = std::min(all, first + plan.shown);
        const uint64_t rows = (end - first + plan.per_row - 1) / plan.per_row;
        const float content =
            static_cast<float>(rows) * (plan.block_h + block_gap) - block_gap + (plan.shown < all ? 20 : 0);
        const float offset = content > r.h + 1 ? ui.scroll("blocks", r, content) : 0;
        ui.clip({r.x - 3, r.y - 3, r.w + 6, r.h + 6});
        hovered_.reset();
        for (uint64_t block = first; block < end; ++block) {
            const uint64_t at = block - first;
            const Rect box{r.x + static_cast<float>(at % plan.per_row) * (plan.block_w + block_gap),
                           r.y + static_cast<float>(at / plan.per_row) * (plan.block_h + block_gap) - offset, plan.block_w,
                           plan.block_h};
            if (box.bottom() < r.y || box.y > r.bottom()) continue;
            draw_block(ui, focus, run, seen, focused, plan, block, box);
        }
        if (plan.shown < all) {
            const std::string more =
                plan.shown == 1 && first > 0 ? fmt::format("block {} of {}", with_commas(static_cast<int64_t>(first)),
                                                           with_commas(static_cast<int64_t>(all)))
                : first == 0
                    ? fmt::format("and {} more blocks", with_commas(static_cast<int64_t>(all - end)))
                    : fmt::format("blocks {} to {} of {}", with_commas(static_cast<int64_t>(first)),
                                  with_commas(static_cast<int64_t>(end - 1)), with_commas(static_cast<int64_t>(all)));
            ui.text(r.x, r.y + content - offset - 4, more, {.size = 13, .color = theme.ink2});
        }
        ui.unclip();
    }

    void draw_block(Ui& ui, Focus& focus, const model::KernelRun& run, const Seen& seen, const ThreadPlace& focused,
                    const Plan& plan, uint64_t block, const Rect& box) {
        const Theme& theme = *ui.theme;
        const simt::LaunchConfig& config = run.config;
        ui.rect(box, theme.panel2);
        ui.frame(box, block == focused.block ? theme.ink3 : theme.line);
        titles(ui, config, seen, block, box);
        const uint64_t threads = std::max<uint64_t>(1, config.block.count());
        const float px = plan.w + plan.gap, py = plan.h + plan.gap;
        const auto cell_at = [&](uint64_t linear) {
            const Cell cell = cell_of(config, linear);
            return Rect{box.x + pad + px * static_cast<float>(cell.column),
                        box.y + title_height + py * static_cast<float>(cell.row), plan.w, plan.h};
        };
        for (uint64_t linear = 0; linear < threads; ++linear) {
            const ThreadPlace thread = thread_at(config, block, linear);
            const Rect cell = cell_at(linear);
            draw_cell(ui, *run.program, config, seen, plan, thread, cell);
            if (past_ && !seen.hidden && thread.column >= *past_) draw_past(ui, cell);
            const Rect reach{cell.x, cell.y, px, py};
            if (ui.hovered(reach)) hovered_ = thread;
            if (ui.clicked(reach)) pick(focus, run, thread);
        }
        if (block != focused.block) return;
        if (!seen.hidden) warp_edge(ui, config, focused, plan, cell_at);
        if (!elsewhere_) ui.outline(cell_at(focused.linear), 0);
    }

    // Every side of a cell of the focused warp behind which another warp, or nothing, lies.
    template <class CellAt>
    static void warp_edge(Ui& ui, const simt::LaunchConfig& config, const ThreadPlace& focused, const Plan& plan,
                          const CellAt& cell_at) {
        const Theme& theme = *ui.theme;
        const uint64_t threads = std::max<uint64_t>(1, config.block.count());
        const Cell extent = cells_of(config);
        const auto warp_at = [&](int64_t column, int64_t row) {
            if (column < 0 || row < 0 || column >= static_cast<int64_t>(extent.column)) return int64_t{-1};
            const auto linear = static_cast<uint64_t>(row) * extent.column + static_cast<uint64_t>(column);
            return linear < threads ? static_cast<int64_t>(linear / simt::warp_size) : int64_t{-1};
        };
        const float out = std::max(1.0f, plan.gap / 2);
        const uint64_t begin = uint64_t{focused.warp} * simt::warp_size;
        for (uint64_t linear = begin; linear < std::min(threads, begin + simt::warp_size); ++linear) {
            const Cell c = cell_of(config, linear);
            const auto column = static_cast<int64_t>(c.column), row = static_cast<int64_t>(c.row);
            const auto own = static_cast<int64_t>(focused.warp);
            const Rect cell = cell_at(linear);
            const float l = cell.x - out, t = cell.y - out, rt = cell.right() + out, b = cell.bottom() + out;
            if (warp_at(column, row - 1) != own) ui.rect({l - 1, t - 1, rt - l + 2, 1.5f}, theme.accent);
            if (warp_at(column, row + 1) != own) ui.rect({l - 1, b - 0.5f, rt - l + 2, 1.5f}, theme.accent);
            if (warp_at(column - 1, row) != own) ui.rect({l - 1, t - 1, 1.5f, b - t + 2}, theme.accent);
            if (warp_at(column + 1, row) != own) ui.rect({rt - 0.5f, t - 1, 1.5f, b - t + 2}, theme.accent);
        }
    }

    static void titles(Ui& ui, const simt::LaunchConfig& config, const Seen& seen, uint64_t block, const Rect& box) {
        const Theme& theme = *ui.theme;
        const ThreadPlace first = thread_at(config, block, 0);
        const std::string full = block_text(config, first), id = full.substr(full.find("= ") + 2);
        const TextStyle style{.size = 12, .weight = 600};
        float end = box.x;
        for (const std::string& title : {full, "block " + id, id})
            if (ui.text_width(title, style) <= box.w - 2 * pad || &title == &id) {
                end = ui.text(box.x + pad, box.y + 15, title, style);
                break;
            }
        if (seen.hidden) return;
        const uint64_t warps = warps_in_block(config), last = threads_in_warp(config, warps - 1);
        const std::string lanes = last == simt::warp_size ? "" : fmt::format("{} of 32 lanes", last);
        for (const std::string& note :
             {warps == 1 ? (lanes.empty() ? std::string("1 warp") : "1 warp, " + lanes)
                         : fmt::format("{} warps", warps) + (lanes.empty() ? "" : ", last " + lanes),
              counted(warps, "warp")})
            if (ui.text_width(note, {.size = 12}) + 12 <= box.right() - pad - end) {
                ui.text(box.right() - pad, box.y + 15, note, {.size = 12, .color = theme.ink2, .align = Align::right});
                break;
            }
    }

    static void draw_cell(Ui& ui, const ptx::Program& program, const simt::LaunchConfig& config, const Seen& seen,
                          const Plan& plan, const ThreadPlace& thread, const Rect& cell) {
        const Theme& theme = *ui.theme;
        const ThreadState state = seen.history ? state_of(program, *seen.history, seen.step, thread) : ThreadState::unknown;
        const Color plain = mix(theme.panel2, theme.ink2, thread.warp % 2 && !seen.hidden ? 0.34f : 0.18f);
        Color on = theme.ink;
        if (state == ThreadState::runs) {
            const PathCode code = path_code(running_path(seen.history->steps[seen.step]));
            on = text_on(code.color);
            if (code.hatch == Hatch::solid || plan.labels()) {
                ui.rect(cell, code.color);
                if (code.hatch != Hatch::solid) ui.hatch({cell.x, cell.bottom() - 5, cell.w, 5}, theme.panel, code.hatch);
            } else {
                ui.hatch(cell, code.color, code.hatch);
            }
        } else if (state == ThreadState::waits) {
            const int path = path_of_lane(seen.history->steps[seen.step], static_cast<int>(thread.lane));
            const Color waiting = path_code(static_cast<size_t>(std::max(0, path))).color;
            ui.frame(cell, faded(waiting, 0.6f));
            const float dot = cell.w < 8 ? 2.0f : 3.0f;
            ui.rect(plan.labels() ? Rect{cell.right() - 5, cell.y + 2, dot, dot}
                                  : Rect{cell.x + (cell.w - dot) / 2, cell.y + (cell.h - dot) / 2, dot, dot},
                    waiting);
            on = theme.ink2;
        } else if (state == ThreadState::exited) {
            const float arm = plan.labels() ? 5 : std::min(8.0f, cell.w - 1),
                        x = cell.right() - arm - (plan.labels() ? 2 : 1);
            const float y = cell.y + (plan.labels() ? 2 : 1);
            ui.line({x, y}, {x + arm, y + arm}, theme.ink3, 1.2f);
            ui.line({x, y + arm}, {x + arm, y}, theme.ink3, 1.2f);
            on = theme.quiet;
        } else {
            ui.rect(cell, plain);
        }
        if (plan.labels())
            ui.text(cell.x + cell.w / 2, cell.y + cell.h / 2 + plan.text * 0.37f,
                    label_of(config, thread, seen.hidden, plan.step),
                    {.size = plan.text, .color = on, .align = Align::center, .mono = true});
    }

    void pick(Focus& focus, const model::KernelRun& run, const ThreadPlace& thread) {
        focus.block = static_cast<int32_t>(std::min<uint64_t>(thread.block, INT32_MAX));
        focus.lane = static_cast<int32_t>(thread.lane);
        const int64_t track = track_of(run.result.trace, thread.block, thread.warp);
        elsewhere_.reset();
        if (track >= 0)
            focus.warp = static_cast<int32_t>(track);  // the shell asks for its history
        else
            elsewhere_ = thread;
    }

    // A bar over the cell, so that its colour and number stay.
    static void draw_past(Ui& ui, const Rect& cell) {
        const float high = cell.h < 12 ? std::max(1.0f, std::floor(cell.h / 3)) : 4.0f;
        ui.rect({cell.x, cell.y - (cell.h < 12 ? 0.0f : 1.0f), cell.w, high}, data::vermillion);
    }

    static void legend(Ui& ui, const simt::LaunchConfig& config, const Seen& seen, std::optional<uint64_t> past, float x,
                       float y, float right) {
        const Theme& theme = *ui.theme;
        const auto room = [&](std::string_view label) { return x + 20 + ui.text_width(label, {.size = 13}) <= right; };
        if (seen.history) {
            const PathCode code = path_code(running_path(seen.history->steps[seen.step]));
            if (room("runs")) x = ui.legend(x, y, code.color, code.hatch, "runs");
            if (room("waits")) {
                ui.frame({x, y - 11, 14, 14}, theme.ink3);
                ui.rect({x + 5.5f, y - 5.5f, 3, 3}, theme.ink3);
                x = ui.text(x + 20, y, "waits", {.size = 13, .color = theme.ink2}) + 24;
            }
            if (room("has left")) {
                ui.line({x + 3, y - 8}, {x + 11, y}, theme.ink3, 1.2f);
                ui.line({x + 3, y}, {x + 11, y - 8}, theme.ink3, 1.2f);
                x = ui.text(x + 20, y, "has left", {.size = 13, .color = theme.ink2}) + 24;
            }
        }
        if (past && !seen.hidden && room("past the end")) {
            ui.rect({x, y - 11, 14, 14}, theme.panel2);
            draw_past(ui, {x, y - 11, 14, 14});
            x = ui.text(x + 20, y, "past the end", {.size = 13, .color = theme.ink2}) + 24;
        }
        if (!seen.hidden && room("warp in focus")) {
            ui.frame({x, y - 11, 14, 14}, theme.accent, 1.5f);
            x = ui.text(x + 20, y, "warp in focus", {.size = 13, .color = theme.ink2}) + 24;
        }
        if (!seen.hidden && warps_in_block(config) > 1 && room("other warps, in turn")) {
            ui.rect({x, y - 11, 7, 14}, mix(theme.panel2, theme.ink2, 0.18f));
            ui.rect({x + 7, y - 11, 7, 14}, mix(theme.panel2, theme.ink2, 0.34f));
            ui.text(x + 20, y, "other warps, in turn", {.size = 13, .color = theme.ink2});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_threads_view() {
    return std::make_unique<ThreadsView>();
}

}  // namespace lockstep::gui
