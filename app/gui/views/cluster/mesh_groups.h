// Whom one GPU of a planned machine talks to, axis by axis, and how much: its groups in the mesh, the nodes that they lie
// in, and the planner's bytes and times of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/widgets/draw.h"
#include "core/parallel/plan/planner.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::gui {

// How an axis of a plan is told apart in pictures; null: work is not shared out along it.
struct AxisLook {
    std::string_view axis, letter, title, when;  // "tp", "T", "tensor", "in every layer, for every micro-batch"
    Color fill;
    Hatch twin;
};
const AxisLook* look_of_axis(std::string_view axis);
void axis_fill(Ui& ui, const Rect& box, Color fill, Hatch twin);
void axis_letter(Ui& ui, float x, float y, std::string_view letter, Color fill, Hatch twin, float side = 17);

struct AxisTalk {
    std::string_view axis, letter, title, when;  // "tp", "T", "tensor", "in every layer, for every micro-batch"
    Color fill;
    Hatch twin;
    std::vector<int> with;  // whom it talks to, itself left out; of a pipeline its neighbours
    bool in_node = false;   // all of them
    double leaving = 0;     // share of its bytes that leave the node: of a ring's hops, of a pipeline's neighbours
    double bytes = 0, us = 0, exposed_us = 0;
};
struct GpuTalk {
    std::string name;  // of the row
    parallel::Mesh mesh;
    int gpu = 0, gpus_per_node = 8;
    std::string_view inside, between;  // links by title
    double inside_gigabytes = 0, between_gigabytes = 0;
    std::vector<AxisTalk> axes;  // those longer than 1, the one with most bytes first
    double step_us = 0;
    double link_share = 0;  // of its bandwidth, that the planner counts on

    int gpus() const { return mesh.ranks(); }
    int nodes() const { return (gpus() + gpus_per_node - 1) / gpus_per_node; }
    int node_of(int rank) const { return rank / gpus_per_node; }
    double bytes() const;
    double share_in_node() const;  // of the bytes
};
// `gpu` is brought into the machine.
GpuTalk gpu_talk(const parallel::PlanResult& plan, int gpu);
int middle_gpu(const parallel::PlanResult& plan);  // one that has neighbours on every side

std::string talk_headline(const GpuTalk& talk);
std::string talk_difference(const GpuTalk& talk);
std::string talk_caption(const GpuTalk& talk);
std::string talk_place(const GpuTalk& talk);   // "tp 5 of 8, dp 21 of 64, pp 5 of 16"
std::string talk_number(const GpuTalk& talk);  // "2733 = 5 + 8 · (21 + 64 · 5)"
std::string talk_words(const GpuTalk& talk, const AxisTalk& axis);
std::string talk_way(const AxisTalk& axis);                        // "in its node", "1 hop in 8 leaves its node"
std::string talk_with(const GpuTalk& talk, const AxisTalk& axis);  // "with 12, 14 and 15", "with 63 others"

}  // namespace lockstep::gui
