#include "app/gui/views/sm/resident_warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::gui {

std::string ResidentWarps::number(uint32_t of_blocks) const {
    return fmt::format("{:g} of {}", static_cast<double>(of_blocks * warps_per_block) / schedulers, slots);
}

ResidentWarps resident_of(const model::KernelRun& run) {
    const model::Occupancy& o = run.result.occupancy;
    const uint64_t sms = std::max<uint64_t>(1, run.gpu.sms.value);
    const uint64_t offered = (run.config.grid.count() + sms - 1) / sms;  // blocks an SM, by the grid's size
    const uint32_t fit = std::min({o.by_warps, o.by_registers, o.by_shared, o.by_slots});
    ResidentWarps r;
    r.warps_per_block = std::max<uint32_t>(1, o.warps_per_block);
    r.schedulers = std::max<uint32_t>(1, run.result.trace.schedulers);
    r.slots = run.result.trace.warp_slots / r.schedulers;
    r.blocks = static_cast<uint32_t>(std::min<uint64_t>(o.blocks, offered));
    r.most = static_cast<uint32_t>(std::min<uint64_t>(fit, offered));
    if (o.limiter == "your limit" && r.blocks < r.most)
        r.why = fmt::format("(your limit: {:g} would fit)", static_cast<double>(r.most * r.warps_per_block) / r.schedulers);
    else if (offered < o.blocks)
        r.why = "(the grid has no more)";
    else if (r.blocks * r.warps_per_block < run.result.trace.warp_slots)
        r.why = fmt::format("({} {} no more)", o.limiter, o.limiter == "shared memory" ? "allows" : "allow");
    return r;
}

void resident_slider(Ui& ui, Session& session, const model::KernelRun& run, uint32_t& wished, const Rect& box) {
    const ResidentWarps resident = resident_of(run);
    if (resident.most < 2) return;
    const uint32_t now = std::clamp<uint32_t>(wished != 0 ? wished : resident.blocks, 1, resident.most);
    const auto most = static_cast<float>(resident.most - 1);
    const auto steps = static_cast<int>(std::min<uint32_t>(resident.most, 64));
    const float at = ui.slider("resident", box, static_cast<float>(now - 1) / most, steps);
    const auto wanted = 1 + static_cast<uint32_t>(std::lround(at * most));
    if (wanted == now) return;
    wished = wanted;
    session.post(ask::LimitBlocks{wanted >= resident.most ? 0 : wanted});
}

}  // namespace lockstep::gui
