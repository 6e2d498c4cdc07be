#include "app/gui/views/cluster/mesh_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"

namespace lockstep::gui {

namespace {

constexpr AxisLook axis_looks[] = {
    {"tp", "T", "tensor", "in every layer, for every micro-batch", data::sky, Hatch::solid},
    {"cp", "C", "context", "keys and values, in every layer", data::orange, Hatch::dots},
    {"pp", "P", "pipeline", "activations on, gradients back, every micro-batch", data::purple, Hatch::horizontal},
    {"dp", "G", "gradients", "and weights, once a step", data::green, Hatch::diagonal},
};

// The ranks that differ from `gpu` along these axes alone, itself left out.
std::vector<int> group_along(const parallel::Mesh& mesh, int gpu, std::initializer_list<std::string_view> axes) {
    std::vector<int> ranks = {gpu};
    for (const std::string_view axis : axes) {
        std::vector<int> more;
        for (const int rank : ranks)
            for (const int other : mesh.group(rank, axis)) more.push_back(other);
        ranks = std::move(more);
    }
    std::erase(ranks, gpu);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

// Of a pipeline those before and behind it; with several stages a rank it goes round.
std::vector<int> beside_in_pipeline(const parallel::Mesh& mesh, int gpu, bool round) {
    const std::vector<int> stages = mesh.group(gpu, "pp");
    const auto count = static_cast<int>(stages.size()), here = mesh.coordinate(gpu, "pp");
    std::vector<int> with;
    for (const int by : {-1, 1}) {
        const int at = here + by;
        if (!round && (at < 0 || at >= count)) continue;
        const int rank = stages[static_cast<size_t>((at + count) % count)];
        if (rank != gpu && std::find(with.begin(), with.end(), rank) == with.end()) with.push_back(rank);
    }
    return with;
}

// In a ring over several nodes only the last rank's hop in each leaves it. There are as many rings as a node has members of
// the group, each with other ranks at the border: so every rank sends that share of its bytes out.
double hops_that_leave(const GpuTalk& talk, const std::vector<int>& with) {
    std::vector<int> ring = with;
    ring.push_back(talk.gpu);
    std::sort(ring.begin(), ring.end());
    int leave = 0;
    for (size_t i = 0; i < ring.size(); ++i)
        leave += talk.node_of(ring[i]) != talk.node_of(ring[(i + 1) % ring.size()]) ? 1 : 0;
    return static_cast<double>(leave) / static_cast<double>(ring.size());
}

std::string hops_words(const AxisTalk& axis) {  // "1 hop in 8"
    const double every = 1 / axis.leaving;
    return std::abs(every - std::round(every)) < 1e-6 ? fmt::format("1 hop in {:.0f}", every)
                                                      : fmt::format("{:.0f} % of the hops", 100 * axis.leaving);
}

}  // namespace

const AxisLook* look_of_axis(std::string_view axis) {
    for (const AxisLook& look : axis_looks)
        if (look.axis == axis) return &look;
    return nullptr;
}
void axis_fill(Ui& ui, const Rect& box, Color fill, Hatch twin) {
    ui.rect(box, fill);
    if (twin != Hatch::solid && box.w >= 4 && box.h >= 4) ui.hatch(box, faded(data::black, 0.42f), twin);
}
void axis_letter(Ui& ui, float x, float y, std::string_view letter, Color fill, Hatch twin, float side) {
    axis_fill(ui, {x, y, side, side}, fill, twin);
    ui.rect({x + side / 2 - 6, y + 2, 12, side - 4}, fill);
    ui.text(x + side / 2, y + side / 2 + 4.5f, letter,
            {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 700, .mono = true});
}

double GpuTalk::bytes() const {
    double sum = 0;
    for (const AxisTalk& axis : axes) sum += axis.bytes;
    return sum;
}
double GpuTalk::share_in_node() const {
    double inside_bytes = 0;
    for (const AxisTalk& axis : axes) inside_bytes += (1 - axis.leaving) * axis.bytes;
    return bytes() > 0 ? inside_bytes / bytes() : 0;
}

int middle_gpu(const parallel::PlanResult& plan) {
    const parallel::Mesh mesh = parallel::mesh_of(plan.request.plan);
    std::vector<int> at;
    for (const parallel::MeshAxis& axis : mesh.axes) at.push_back(axis.size / 3);
    return mesh.rank_at(at);
}

GpuTalk gpu_talk(const parallel::PlanResult& plan, int gpu) {
    const parallel::PlanRequest& asked = plan.request;
    GpuTalk talk;
    talk.mesh = parallel::mesh_of(asked.plan);
    talk.gpu = std::clamp(gpu, 0, talk.gpus() - 1);
    talk.gpus_per_node = std::max(1, asked.machine.gpus_per_node);
    talk.inside = asked.machine.inside.title;
    talk.between = asked.machine.between.title;
    talk.inside_gigabytes = asked.machine.inside.gigabytes_per_s;
    talk.between_gigabytes = asked.machine.between.gigabytes_per_s;
    talk.step_us = plan.step_us;
    talk.link_share = plan.request.efficiencies.network;
    for (const AxisLook& look : axis_looks) {
        const auto found = std::find_if(plan.axes.begin(), plan.axes.end(),
                                        [&](const parallel::PlanAxis& axis) { return axis.name == look.axis; });
        if (found == plan.axes.end()) continue;
        AxisTalk axis{look.axis, look.letter, look.title, look.when,    look.fill, look.twin,
                      {},        false,       0,          found->bytes, found->us, found->exposed_us};
        if (look.axis == "dp")
            axis.with = group_along(talk.mesh, talk.gpu, {"dp", "cp"});
        else if (look.axis == "pp")
            axis.with = beside_in_pipeline(talk.mesh, talk.gpu, asked.plan.chunks > 1);
        else
            axis.with = group_along(talk.mesh, talk.gpu, {look.axis});
        const auto outside = std::count_if(axis.with.begin(), axis.with.end(),
                                           [&](int other) { return talk.node_of(other) != talk.node_of(talk.gpu); });
        axis.in_node = outside == 0;
        axis.leaving = look.axis == "pp" ? static_cast<double>(outside) / static_cast<double>(axis.with.size())
                                         : hops_that_leave(talk, axis.with);
        talk.axes.push_back(std::move(axis));
    }
    std::stable_sort(talk.axes.begin(), talk.axes.end(),
                     [](const AxisTalk& a, const AxisTalk& b) { return a.bytes > b.bytes; });
    return talk;
}

std::string talk_headline(const GpuTalk& talk) {
    if (talk.axes.empty()) return fmt::format("GPU {} talks to nobody", talk.gpu);
    const double inside = talk.share_in_node();
    const AxisTalk& most = talk.axes.front();
    if (most.leaving > 0 && most.leaving < 1 && most.axis != "pp")
        return fmt::format("In its {} ring {} leaves the node, and all wait for it", most.title, hops_words(most));
    if (inside >= 0.5)
        return fmt::format("{:.0f} % of GPU {}'s bytes stay in its node", 100 * inside, with_commas(talk.gpu));
    return fmt::format("{:.0f} % of GPU {}'s bytes leave its node", 100 * (1 - inside), with_commas(talk.gpu));
}

std::string talk_difference(const GpuTalk& talk) {
    if (talk.axes.empty()) return "No axis of this plan is longer than 1.";
    const AxisTalk& most = talk.axes.front();
    if (talk.axes.size() == 1)
        return fmt::format("Its {} group is all it talks to: {} a step.", most.title, bytes_si(most.bytes));
    const AxisTalk& next = talk.axes[1];
    return fmt::format("Its {} group moves {:.3g} times as much as {}: {} against {} a step.", most.title,
                       next.bytes > 0 ? most.bytes / next.bytes : 0.0, next.title, bytes_si(most.bytes),
                       bytes_si(next.bytes));
}

std::string talk_caption(const GpuTalk& talk) {
    double exposed = 0;
    const AxisTalk* most = nullptr;
    for (const AxisTalk& axis : talk.axes) {
        exposed += axis.exposed_us;
        if (most == nullptr || axis.exposed_us > most->exposed_us) most = &axis;
    }
    if (most == nullptr) return "One GPU, one step.";
    return fmt::format(
        "A GPU waits {} of a step for messages, {} of that for {}: the planner's, of the busiest GPU, at {:.0f} % of each "
        "link.",
        time_text(exposed), time_text(most->exposed_us), most->title, 100 * talk.link_share);
}

std::string talk_place(const GpuTalk& talk) {
    std::string text;
    for (auto axis = talk.mesh.axes.rbegin(); axis != talk.mesh.axes.rend(); ++axis)
        if (axis->size > 1)
            text += fmt::format("{}{} {} of {}", text.empty() ? "" : ", ", axis->name,
                                talk.mesh.coordinate(talk.gpu, axis->name), axis->size);
    return text;
}

std::string talk_number(const GpuTalk& talk) {
    std::string text, close;
    const auto& axes = talk.mesh.axes;
    int left = 0;
    for (const parallel::MeshAxis& axis : axes) left += axis.size > 1 ? 1 : 0;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        if (axis->size == 1) continue;
        text += std::to_string(talk.mesh.coordinate(talk.gpu, axis->name));
        if (--left == 0) break;
        text += left == 1 ? fmt::format(" + {} · ", axis->size) : fmt::format(" + {} · (", axis->size);
        if (left > 1) close += ")";
    }
    return fmt::format("{} = {}", talk.gpu, text + close);
}

std::string talk_with(const GpuTalk&, const AxisTalk& axis) {
    if (axis.with.size() > 3) return fmt::format("with {} others", axis.with.size());
    std::string text = "with ";
    for (size_t i = 0; i < axis.with.size(); ++i)
        text += (i == 0 ? "" : i + 1 == axis.with.size() ? " and " : ", ") + with_commas(axis.with[i]);
    return text;
}

std::string talk_way(const AxisTalk& axis) {
    if (axis.in_node) return "in its node";
    if (axis.leaving >= 1 || axis.axis == "pp") return "in other nodes";
    return hops_words(axis) + " leaves its node";
}

std::string talk_words(const GpuTalk& talk, const AxisTalk& axis) {
    return fmt::format("{} {}: {} a step, {} over {}, {} of it exposed", axis.title, talk_with(talk, axis),
                       bytes_si(axis.bytes), time_text(axis.us), axis.in_node ? talk.inside : talk.between,
                       time_text(axis.exposed_us));
}

}  // namespace lockstep::gui
