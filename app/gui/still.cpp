#include "app/gui/still.h"

#include <imgui.h>

#include <algorithm>
#include <mutex>

#include "app/gui/shell/shell.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/window/canvas.h"
#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/model/advice/verdict.h"

namespace lockstep::gui {

namespace {

// Of the app, which a picture alone does not need.
constexpr int bar_above = 44;
int bar_below(const StillOptions& options) {
    constexpr float low = transport_height_in(0);
    return static_cast<int>(transport_height_in(static_cast<float>(options.height / options.scale) + bar_above + low));
}

struct OwnContext {  // ImGui's, put aside and back where somebody has one
    ImGuiContext* const before = ImGui::GetCurrentContext();
    ImGuiContext* const own = ImGui::CreateContext();
    OwnContext() {
        ImGui::SetCurrentContext(own);
        ImGui::GetIO().IniFilename = nullptr;
        ImGui::GetIO().LogFilename = nullptr;
    }
    ~OwnContext() {
        ImGui::DestroyContext(own);
        ImGui::SetCurrentContext(before);
    }
    OwnContext(const OwnContext&) = delete;
    OwnContext& operator=(const OwnContext&) = delete;
};

std::mutex& one_at_a_time() {
    static std::mutex mutex;
    return mutex;
}

// Of workspaces and views, those that show a run of a kernel by itself.
constexpr std::string_view of_kernels[] = {"warps",     "sm",      "warp",      "blocks",   "code",   "source", "divergence",
                                           "stack",     "threads", "memory",    "coalesce", "banks",  "chart",  "roofline",
                                           "occupancy", "ladder",  "fragments", "machine",  "verdict"};

// The app's state with one run on show, and what its worker would have found out about it.
class Shown {
  public:
    Shown(const std::shared_ptr<const model::KernelRun>& run, const std::shared_ptr<const model::Verdict>& verdict,
          const StillOptions& options)
        : options_(options),
          session_({.start = false}),
          shell_(session_, theme_named(options.theme), static_cast<float>(options.scale)),
          width_(options.width),
          height_(options.height + scaled(bar_above + bar_below(options))),
          canvas_(shell_, width_, height_, Drawing::cpu) {
        snapshot_.source = Source::own;
        snapshot_.kernel.run = run;
        snapshot_.kernel.verdict = verdict;
        snapshot_.kernel.label = options.label;
        publish();
        session_.grain = Grain::cycle;
        if (!shell_.show_alone(options.view)) session_.workspace = *workspace_named(options.view);
        canvas_.frame({}, 1);
        place();
        look_at_warp();
        for (int i = 0; i < 3; ++i) canvas_.frame({}, 2 + i);
    }

    std::string png() { return canvas_.png(scaled(bar_above), options_.height); }
    std::string words() { return shell_.describe(options_.view); }

  private:
    int scaled(int units) const { return static_cast<int>(units * options_.scale + 0.5); }
    void publish() {
        ++snapshot_.version;
        session_.publish_for_test(std::make_shared<const Snapshot>(snapshot_));
    }
    // Where one was asked to look.
    void place() {
        const KernelTrace& trace = snapshot_.kernel.run->result.trace;
        if (options_.warp >= 0)
            shell_.focus.warp = std::min<int32_t>(options_.warp, static_cast<int32_t>(trace.warps.size()) - 1);
        if (options_.cycle < 0) return;
        shell_.focus.time = std::min(options_.cycle, std::max<int64_t>(0, trace.cycles - 1));
        const int64_t length = std::max<int64_t>(1, session_.sm.cycles_end - session_.sm.cycles_begin);
        session_.sm.cycles_begin =
            std::clamp<int64_t>(shell_.focus.time - length / 2, 0, std::max<int64_t>(0, trace.cycles - length));
        session_.sm.cycles_end = session_.sm.cycles_begin + length;
    }
    // The warp's history, and its registers where the clock stands.
    void look_at_warp() {
        const model::KernelRun& run = *snapshot_.kernel.run;
        const auto& warps = run.result.trace.warps;
        const int32_t focused = shell_.focus.warp;
        if (!run.before || focused < 0 || focused >= static_cast<int32_t>(warps.size())) return;
        const WarpTrack& warp = warps[static_cast<size_t>(focused)];
        auto history = std::make_shared<simt::WarpHistory>(
            simt::record_warp(*run.program, run.config, *run.before, warp.block, warp.warp_in_block));
        std::vector<uint32_t> pcs;
        for (const uint32_t issue : warp.issues) pcs.push_back(run.result.trace.issues[issue].pc);
        if (!run.result.trace.truncated && warp.issued_before == 0) simt::follow(*history, pcs);
        snapshot_.kernel.history = history;
        publish();
        if (options_.cycle < 0) {  // where most of its instructions lie behind it: registers have values
            const auto steps = static_cast<int64_t>(history->steps.size());
            session_.sm.history_step = std::clamp<int64_t>(session_.sm.history_step, 0, std::max<int64_t>(0, steps - 1));
        } else {
            set_clock(session_, shell_.focus, run.result.trace, shell_.focus.time);
        }
        canvas_.frame({}, 1.5);
        const auto step = static_cast<uint64_t>(std::max<int64_t>(0, session_.sm.history_step));
        const uint64_t replayed = history->in_replay(step);
        snapshot_.kernel.lanes = std::make_shared<std::vector<simt::LaneValues>>(simt::registers_at(
            *run.program, run.config, *run.before, warp.block, warp.warp_in_block, replayed, history->beside));
        snapshot_.kernel.memory = std::make_shared<simt::MemoryAt>(simt::memory_at(
            *run.program, run.config, *run.before, warp.block, warp.warp_in_block, replayed, history->beside));
        snapshot_.kernel.lanes_step = static_cast<int64_t>(step);
        publish();
    }

    const StillOptions& options_;
    Snapshot snapshot_;
    Session session_;
    Shell shell_;
    int width_, height_;
    Canvas canvas_;
};

void check(const std::shared_ptr<const model::KernelRun>& run, const StillOptions& options) {
    if (!run) throw Failure("there is no run to show");
    std::vector<std::string> known;
    for (const auto& [name, title] : stills()) known.push_back(name);
    if (std::find(known.begin(), known.end(), options.view) == known.end()) {
        std::string all;
        for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
        const std::string near = nearest_name(options.view, known);
        throw Failure("there is no picture '" + options.view + "' of a kernel" +
                      (near.empty() ? ": there are " + all : ", did you mean '" + near + "'?"));
    }
    if (options.width < 320 || options.height < 240 || options.width > 8192 || options.height > 8192)
        throw Failure("a picture is 320x240 to 8192x8192 pixels, not " + std::to_string(options.width) + "x" +
                      std::to_string(options.height));
    if (!(options.scale >= 0.75 && options.scale <= 2.5)) throw Failure("the scale of text is 0.75 to 2.5");
    theme_named(options.theme);
}

}  // namespace

std::string png_of(const std::shared_ptr<const model::KernelRun>& run, const std::shared_ptr<const model::Verdict>& verdict,
                   const StillOptions& options) {
    check(run, options);
    const std::lock_guard lock(one_at_a_time());
    const OwnContext context;
    return Shown(run, verdict, options).png();
}

std::string words_of(const std::shared_ptr<const model::KernelRun>& run,
                     const std::shared_ptr<const model::Verdict>& verdict, const StillOptions& options) {
    check(run, options);
    const std::lock_guard lock(one_at_a_time());
    const OwnContext context;
    return Shown(run, verdict, options).words();
}

std::vector<std::pair<std::string, std::string>> stills() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const std::string_view name : of_kernels) {
        const ViewRow* const row = view_named(name);
        all.emplace_back(name, row ? row->title : row_of(*workspace_named(name)).title);
    }
    return all;
}

}  // namespace lockstep::gui
