#include "app/gui/views/tensor/costs/op_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "app/gui/session.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "core/base/units.h"
#include "core/scene/tape/tape_program.h"
#include "core/tensor/op.h"

namespace lockstep::gui {
namespace {

double cost_of(const OpCostRow& row, bool of_bytes) {
    return of_bytes ? row.bytes : row.operations;
}
std::string cost_text(double cost, bool of_bytes) {
    return of_bytes ? bytes_si(cost) : whole_number(std::llround(cost)) + " operations";
}
std::string ratio_text(double ratio) {
    return ratio >= 9.95 ? fmt::format("{:.0f}", ratio) : fmt::format("{:.2g}", ratio);
}

}  // namespace

ProgramCosts op_costs(const scene::TapeRun& run) {
    ProgramCosts costs;
    costs.name = std::filesystem::path(run.text.file).stem().string();
    std::replace(costs.name.begin(), costs.name.end(), '_', ' ');
    const nn::StepRecord& step = *run.step;
    std::vector<bool> read(step.nodes.size(), false);
    for (const nn::GraphNode& node : step.nodes)
        for (const int input : node.inputs) read[static_cast<size_t>(input)] = true;
    const auto type_of = [](const nn::GraphNode& node) { return tensor::TensorType{node.shape, node.dtype}; };
    for (size_t at = 0; at < step.nodes.size(); ++at) {
        const nn::GraphNode& node = step.nodes[at];
        if (node.row == nullptr || node.row->cost == nullptr || !node.attributes) continue;
        OpCostRow row{.name = node.name};
        std::vector<tensor::TensorType> inputs;
        for (const int input : node.inputs) {
            const nn::GraphNode& from = step.nodes[static_cast<size_t>(input)];
            inputs.push_back(type_of(from));
            if (from.row != nullptr) row.between += inputs.back().bytes();
        }
        const tensor::Cost cost = node.row->cost(inputs, *node.attributes).forward;
        if (read[at]) row.between += type_of(node).bytes();
        row.operations = cost.operations;
        row.bytes = cost.bytes;
        row.between = std::min(row.between, row.bytes);
        for (const int64_t extent : node.shape)
            if (extent > 1 || node.shape.size() <= 2) row.shape += (row.shape.empty() ? "" : "×") + std::to_string(extent);
        costs.operations += row.operations;
        costs.bytes += row.bytes;
        costs.between += row.between;
        if (row.operations > 0 || row.bytes > 0) costs.rows.push_back(std::move(row));
    }
    for (const device::LaunchEvent& launch : step.launches)
        if (launch.phase == "forward") costs.kernels_us += launch.end_us - launch.begin_us, ++costs.kernels;
    return costs;
}

std::vector<ProgramCosts> op_costs_shown(const Snapshot& snapshot) {
    std::vector<ProgramCosts> programs;
    const auto add = [&](const std::shared_ptr<const scene::TapeRun>& run) {
        if (run && run->step && !run->step->nodes.empty()) programs.push_back(op_costs(*run));
    };
    add(snapshot.tape);
    for (const auto& run : snapshot.beside) add(run);
    return programs;
}

std::vector<size_t> costly_rows(const ProgramCosts& program, bool of_bytes) {
    std::vector<size_t> order(program.rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return cost_of(program.rows[a], of_bytes) > cost_of(program.rows[b], of_bytes);
    });
    double so_far = 0;
    for (size_t n = 0; n < order.size() && n < 3; ++n) {
        so_far += cost_of(program.rows[order[n]], of_bytes);
        if (so_far < 0.8 * program.cost(of_bytes)) continue;
        order.resize(n + 1);
        return order;
    }
    return {};
}

std::string op_costs_headline(const std::vector<ProgramCosts>& programs, bool of_bytes) {
    if (programs.empty()) return {};
    const ProgramCosts& first = programs.front();
    const std::string_view verb = of_bytes ? "moves" : "takes";
    if (programs.size() > 1) {
        const ProgramCosts& other = programs[1];
        const double ratio = other.cost(of_bytes) / std::max(first.cost(of_bytes), 1e-9);
        return fmt::format("{} {} {}, {} {}: {} times as {}", first.name, verb, cost_text(first.cost(of_bytes), of_bytes),
                           other.name, cost_text(other.cost(of_bytes), of_bytes), ratio_text(ratio >= 1 ? ratio : 1 / ratio),
                           ratio < 1  ? "few"
                           : of_bytes ? "much"
                                      : "many");
    }
    if (of_bytes && first.between > 0.5 * first.bytes)
        return fmt::format("{} of {} go from kernel to kernel through memory", bytes_si(first.between),
                           bytes_si(first.bytes));
    const std::vector<size_t> most = costly_rows(first, of_bytes);
    if (most.empty())
        return fmt::format("{} {} {} in {}", first.name, verb, cost_text(first.cost(of_bytes), of_bytes),
                           counted(first.rows.size(), "op"));
    std::string names;
    double sum = 0;
    for (size_t n = 0; n < most.size(); ++n) {
        names += (n == 0 ? "" : n + 1 == most.size() ? " and " : ", ") + first.rows[most[n]].name;
        sum += cost_of(first.rows[most[n]], of_bytes);
    }
    return fmt::format("{}: {:.0f} % of the {}", names, 100 * sum / first.cost(of_bytes),
                       cost_text(first.cost(of_bytes), of_bytes));
}

std::string op_costs_second(const std::vector<ProgramCosts>& programs, bool of_bytes) {
    if (programs.empty()) return {};
    const auto words = [](const ProgramCosts& one) {
        return fmt::format("{} in {}", time_text(one.kernels_us, {.significant = 3}), counted(one.kernels, "kernel"));
    };
    if (programs.size() > 1)
        return fmt::format("On the modelled GPU {} runs for {}, {} for {}.", programs[0].name, words(programs[0]),
                           programs[1].name, words(programs[1]));
    return fmt::format(
        "{}Its kernels run for {}.",
        of_bytes ? fmt::format("{} come from outside or are the result. ", bytes_si(programs[0].bytes - programs[0].between))
                 : std::string(),
        words(programs[0]));
}

std::vector<WeightBox> weight_boxes(const scene::TapeRun& run) {
    std::vector<WeightBox> boxes;
    for (const scene::TapeLeaf& leaf : run.text.leaves) {
        const bool trained = leaf.kind == scene::TapeLeaf::Kind::parameter;
        if (!trained && leaf.fill != scene::TapeLeaf::Fill::normal) continue;
        WeightBox box{.name = leaf.name, .trained = trained};
        if (!leaf.shape.empty()) box.columns = leaf.shape.back();
        for (size_t i = 0; i + 1 < leaf.shape.size(); ++i) box.rows *= leaf.shape[i];
        boxes.push_back(std::move(box));
    }
    return boxes;
}

std::string weights_headline(const std::vector<WeightBox>& boxes) {
    int64_t trained = 0, stays = 0;
    for (const WeightBox& box : boxes) (box.trained ? trained : stays) += box.count();
    if (boxes.empty()) return {};
    if (stays == 0) return fmt::format("All {} weights are trained", whole_number(trained));
    return fmt::format("{} weights are trained beside {} that stay: {:.3g} %", whole_number(trained), whole_number(stays),
                       100.0 * static_cast<double>(trained) / static_cast<double>(stays));
}

}  // namespace lockstep::gui
