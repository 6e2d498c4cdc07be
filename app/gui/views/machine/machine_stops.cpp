// The stops of the zoom, a row each, and the clock that suits each: from a second to a cycle by powers of ten.
#include <fmt/format.h>

#include <array>

#include "app/gui/views/machine/machine_view.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

std::string gpu_label(const MachineFrame& frame) {
    return frame.scene == nullptr ? "GPU" : std::string(frame.scene->run->gpu.title);
}
std::string gpu_detail(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "";
    const uint32_t sms = frame.scene->run->gpu.sms.value;
    return counted(sms, "SM");
}
std::string sm_label(const MachineFrame& frame) {
    return frame.scene == nullptr ? "SM" : fmt::format("SM {}", frame.scene->trace().sm);
}
std::string sm_detail(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "";
    const uint32_t schedulers = frame.scene->trace().schedulers;
    return counted(schedulers, "sub-core");
}

std::string sub_core_label(const MachineFrame& frame) {
    return fmt::format("sub-core {}", focused_sub_core(frame));
}
std::string sub_core_detail(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "";
    return counted(frame.scene->trace().warp_slots / std::max(1u, frame.scene->trace().schedulers), "warp");
}

}  // namespace

std::span<const StopRow> stop_rows() {
    static constexpr std::array<StopRow, 7> rows = {{
        {Stop::cluster, "cluster", "cluster", 10'000, draw_cluster, inside_cluster, cluster_label, cluster_detail,
         cluster_sentence, cluster_described, needs_cluster},
        {Stop::node, "node", "node", 1'000, draw_node, inside_node, node_label, node_detail, node_sentence, node_described,
         needs_cluster},
        {Stop::gpu, "gpu", "GPU", 100, draw_gpu, inside_gpu, gpu_label, gpu_detail, gpu_sentence, gpu_described, needs_gpu},
        {Stop::sm, "sm", "SM", 10, draw_machine_sm, inside_sm, sm_label, sm_detail, sm_sentence, sm_described, needs_sm},
        {Stop::sub_core, "sub-core", "sub-core", 3, draw_sub_core, inside_sub_core, sub_core_label, sub_core_detail,
         sub_core_sentence, sub_core_described, needs_sub_core},
        {Stop::warp, "warp", "warp", 1, draw_machine_warp, inside_warp, warp_label, warp_detail, warp_sentence,
         warp_described, needs_warp},
        {Stop::lane, "lane", "lane", 1, draw_lane, nullptr, lane_label, lane_detail, lane_sentence, lane_described,
         needs_lane},
    }};
    return rows;
}

const StopRow& row_of(Stop stop) {
    for (const StopRow& row : stop_rows())
        if (row.stop == stop) return row;
    return stop_rows().front();
}

std::optional<Stop> stop_named(std::string_view key) {
    for (const StopRow& row : stop_rows())
        if (row.key == key) return row.stop;
    return std::nullopt;
}

}  // namespace lockstep::gui
