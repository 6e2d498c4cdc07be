// Looking into one kernel, and into one warp of it: its history and its registers are worked out when asked for.
#include "app/gui/worker.h"
#include "core/base/diagnostic.h"

namespace lockstep::gui {

void Session::Worker::open_kernel(int64_t index, bool wish) {
    if (!draft.step || index < 0 || index >= static_cast<int64_t>(draft.step->launches.size())) return;
    own = false;
    if (!wish) shown_kernel = index;
    const device::LaunchEvent& launch = draft.step->launches[static_cast<size_t>(index)];
    if (wish) {
        const std::lock_guard lock(mutex);
        results.launch = static_cast<int32_t>(index);
    }
    if (!launch.run) {
        if (training) wants_timing = true;  // it will be opened once it is timed
        return;
    }
    show_kernel(launch.run, launch.label + " (kernel " + std::to_string(index + 1) + " of " +
                                std::to_string(draft.step->launches.size()) + ")");
}

void Session::Worker::show_kernel(std::shared_ptr<const model::KernelRun> kernel, std::string label, const Focus& look_at) {
    if (draft.kernel == kernel) return;
    draft.kernel = std::move(kernel);
    draft.kernel_label = std::move(label);
    draft.look_at = look_at;
    forget_warp();
    const model::TimedResult& result = draft.kernel->result;
    if (result.fault)
        draft.problem = Diagnostic{simt::render(*result.fault)};
    else if (!result.reports.empty())
        draft.problem = Diagnostic{simt::render(result.reports.front())};
}

void Session::Worker::forget_warp() {
    draft.history.reset();
    draft.lanes.reset();
    draft.memory.reset();
    draft.lanes_step = -1;
}

void Session::Worker::focus_warp(int64_t index) {
    if (!draft.kernel || !draft.kernel->before) return;
    const auto& warps = draft.kernel->result.trace.warps;
    if (index < 0 || index >= static_cast<int64_t>(warps.size())) return;
    const WarpTrack& warp = warps[static_cast<size_t>(index)];
    forget_warp();
    draft.history = std::make_shared<simt::WarpHistory>(simt::record_warp(
        *draft.kernel->program, draft.kernel->config, *draft.kernel->before, warp.block, warp.warp_in_block));
    publish();
}

void Session::Worker::lanes_at(int64_t step) {
    if (!draft.kernel || !draft.kernel->before || !draft.history || step < 0) return;
    {  // only the newest wish counts
        const std::lock_guard lock(mutex);
        for (const Request& later : queue)
            if (later.kind == Request::Kind::lanes_at || later.kind == Request::Kind::focus_warp) return;
    }
    draft.lanes = std::make_shared<std::vector<simt::LaneValues>>(
        simt::registers_at(*draft.kernel->program, draft.kernel->config, *draft.kernel->before, draft.history->block,
                           draft.history->warp_in_block, static_cast<uint64_t>(step)));
    draft.memory = own ? std::make_shared<simt::MemoryAt>(simt::memory_at(
                             *draft.kernel->program, draft.kernel->config, *draft.kernel->before, draft.history->block,
                             draft.history->warp_in_block, static_cast<uint64_t>(step)))
                       : nullptr;
    draft.lanes_step = step;
    publish();
}

}  // namespace lockstep::gui
