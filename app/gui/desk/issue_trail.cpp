#include "app/gui/desk/issue_trail.h"

#include <cmath>

#include "app/gui/views/sm/resident_warps.h"

namespace lockstep::gui {
namespace {

// The same program is loaded anew for every scene of a lesson, so its text decides.
bool launched_alike(const model::KernelRun& a, const model::KernelRun& b) {
    if (!a.program || !b.program) return false;
    const bool same_code = a.program == b.program || (a.program->kernel == b.program->kernel && a.source == b.source &&
                                                      a.program->instructions.size() == b.program->instructions.size());
    return same_code && a.config.grid == b.config.grid && a.config.block == b.config.block && a.gpu.name == b.gpu.name;
}

}  // namespace

void IssueTrail::adopt(const std::shared_ptr<const model::KernelRun>& run) {
    if (!run || run == last_) return;
    if (!last_ || !launched_alike(*last_, *run)) used_.clear();
    last_ = run;
    for (const model::Metric& metric : run->result.metrics)
        if (metric.name == "issue_slot_utilization" && std::isfinite(metric.value)) {
            const ResidentWarps resident = resident_of(*run);
            used_[resident.blocks * resident.warps_per_block] = metric.value;
        }
}

}  // namespace lockstep::gui
