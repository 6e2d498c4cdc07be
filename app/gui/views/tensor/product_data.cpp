#include "app/gui/views/tensor/product_data.h"

#include <algorithm>
#include <map>

#include "core/tensor/op.h"

namespace lockstep::gui {

using nn::GraphNode;
using scene::KernelArgument;

int64_t MatrixProduct::part_of(int64_t column, int64_t k) const {
    const int64_t at = cut == Cut::columns ? column : cut == Cut::rows ? k : 0;
    int64_t part = 0;
    while (part + 1 < static_cast<int64_t>(ends.size()) && at >= ends[static_cast<size_t>(part)]) ++part;
    return part;
}
double MatrixProduct::sum(int64_t row, int64_t column, int64_t from, int64_t to) const {
    double total = 0;
    for (int64_t k = from; k < to; ++k) total += term(row, column, k);
    return total;
}

namespace {

std::vector<float> turned(const std::vector<float>& from, int64_t rows, int64_t columns) {  // [rows, columns] over
    std::vector<float> to(from.size());
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            to[static_cast<size_t>(c * rows + r)] = from[static_cast<size_t>(r * columns + c)];
    return to;
}

void read_run(MatrixProduct& it, const nn::StepRecord& step, int index, bool back, int64_t rows, int64_t inner,
              int64_t columns) {
    if (index < 0 || static_cast<size_t>(index) >= step.launches.size()) return;
    const device::LaunchEvent& launch = step.launches[static_cast<size_t>(index)];
    ProductRun run{launch.label, back, rows, inner, columns, launch.grid.y, launch.grid.x};
    run.tile_rows = launch.block.y, run.tile_columns = launch.block.x;
    // Only where the launch is one of tiles, an element a thread.
    if (run.down != (rows + run.tile_rows - 1) / run.tile_rows ||
        run.across != (columns + run.tile_columns - 1) / run.tile_columns)
        return;
    run.us = launch.cycles > 0 ? launch.end_us - launch.begin_us : 0;
    if (launch.run) run.sms = static_cast<int>(launch.run->gpu.sms.value);
    it.runs.push_back(std::move(run));
}

std::optional<MatrixProduct> single(const nn::StepRecord& step, const GraphNode& node) {
    if (node.op != "matmul" || node.inputs.size() != 2 || node.shape.size() != 2 || !node.value) return std::nullopt;
    const GraphNode &x = step.nodes[static_cast<size_t>(node.inputs[0])],
                    &w = step.nodes[static_cast<size_t>(node.inputs[1])];
    if (x.shape.size() != 2 || w.shape.size() != 2 || !x.value || !w.value) return std::nullopt;
    MatrixProduct it{.x_name = x.name, .w_name = w.name, .y_name = node.name};
    it.rows = node.shape[0], it.columns = node.shape[1], it.inner = x.shape[1];
    it.stored_by_rows = node.attributes && node.attributes->transpose_b;
    it.x = *x.value;
    it.w = it.stored_by_rows ? turned(*w.value, it.columns, it.inner) : *w.value;
    it.y = *node.value;
    it.ran = true;
    it.nodes = {node.id};
    it.last_node = node.id;
    for (const int launch : node.forward_launches) read_run(it, step, launch, false, it.rows, it.inner, it.columns);
    for (const int launch : node.backward_launches) {
        const std::string& label = step.launches[static_cast<size_t>(launch)].label;
        if (label.ends_with("dW"))
            it.stored_by_rows ? read_run(it, step, launch, true, it.columns, it.rows, it.inner)
                              : read_run(it, step, launch, true, it.inner, it.rows, it.columns);
        else if (label.ends_with("dx"))
            read_run(it, step, launch, true, it.rows, it.columns, it.inner);
    }
    return it;
}

// "A2" is A and 2; "x": no number.
std::pair<std::string, int> stem_of(const std::string& name) {
    size_t at = name.size();
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
    if (at == 0 || at == name.size() || name.size() - at > 2) return {name, -1};
    return {name.substr(0, at), std::stoi(name.substr(at))};
}

// Side by side: [rows, a] and [rows, b] to [rows, a + b].
void append_columns(std::vector<float>& to, int64_t before, const std::vector<float>& from, int64_t columns, int64_t rows) {
    std::vector<float> both;
    for (int64_t r = 0; r < rows; ++r) {
        both.insert(both.end(), to.begin() + r * before, to.begin() + (r + 1) * before);
        both.insert(both.end(), from.begin() + r * columns, from.begin() + (r + 1) * columns);
    }
    to = std::move(both);
}

// The node that joins exactly these: a cat or a sum; null: none does.
const GraphNode* joint_of(const nn::StepRecord& step, const std::vector<MatrixProduct>& parts, std::string_view op) {
    for (const GraphNode& node : step.nodes) {
        if (node.op != op || node.inputs.size() != parts.size()) continue;
        bool all = true;
        for (size_t i = 0; i < parts.size(); ++i) all = all && node.inputs[i] == parts[i].last_node;
        if (all) return &node;
    }
    return nullptr;
}

MatrixProduct by_columns(const nn::StepRecord& step, const std::vector<MatrixProduct>& parts) {
    MatrixProduct whole = parts.front();
    whole.cut = MatrixProduct::Cut::columns;
    whole.ends = {whole.columns};
    for (size_t i = 1; i < parts.size(); ++i) {
        append_columns(whole.w, whole.columns, parts[i].w, parts[i].columns, whole.inner);
        append_columns(whole.y, whole.columns, parts[i].y, parts[i].columns, whole.rows);
        whole.columns += parts[i].columns;
        whole.ends.push_back(whole.columns);
        whole.nodes.push_back(parts[i].last_node);
        whole.last_node = parts[i].last_node;
    }
    whole.w_name = stem_of(whole.w_name).first;
    whole.y_name = whole.x_name + " · " + whole.w_name;
    if (const GraphNode* joint = joint_of(step, parts, "cat"))
        whole.joined = true, whole.y_name = joint->name, whole.last_node = joint->id;
    return whole;
}

MatrixProduct by_rows(const GraphNode& joint, const std::vector<MatrixProduct>& parts) {
    MatrixProduct whole = parts.front();
    whole.cut = MatrixProduct::Cut::rows;
    whole.ends = {whole.inner};
    whole.parts = {whole.y};
    for (size_t i = 1; i < parts.size(); ++i) {
        append_columns(whole.x, whole.inner, parts[i].x, parts[i].inner, whole.rows);
        whole.w.insert(whole.w.end(), parts[i].w.begin(), parts[i].w.end());
        whole.inner += parts[i].inner;
        whole.ends.push_back(whole.inner);
        whole.parts.push_back(parts[i].y);
        whole.nodes.push_back(parts[i].last_node);
    }
    whole.x_name = stem_of(whole.x_name).first;
    whole.w_name = stem_of(whole.w_name).first;
    whole.y_name = joint.name;
    whole.y = *joint.value;
    whole.joined = true;
    whole.last_node = joint.id;
    return whole;
}

}  // namespace

std::vector<MatrixProduct> products_of(const nn::StepRecord& step) {
    std::vector<MatrixProduct> found;
    std::map<std::string, size_t> group_of;  // by the stem of the weights' name
    std::vector<std::vector<MatrixProduct>> groups;
    for (const GraphNode& node : step.nodes) {
        auto one = single(step, node);
        if (!one) continue;
        const auto [stem, number] = stem_of(one->w_name);
        const auto known = group_of.find(stem);
        if (known != group_of.end() && number == static_cast<int>(groups[known->second].size()) + 1 &&
            groups[known->second].front().rows == one->rows) {
            groups[known->second].push_back(std::move(*one));
            continue;
        }
        if (number == 1) group_of[stem] = groups.size();
        groups.push_back({std::move(*one)});
    }
    for (const std::vector<MatrixProduct>& parts : groups) {
        const bool one_input = std::all_of(parts.begin(), parts.end(), [&](const MatrixProduct& part) {
            return part.x_name == parts.front().x_name && part.inner == parts.front().inner;
        });
        const GraphNode* sum = parts.size() > 1 ? joint_of(step, parts, "add") : nullptr;
        if (sum != nullptr && sum->value && !one_input && parts[0].columns == parts[1].columns)
            found.push_back(by_rows(*sum, parts));
        else if (parts.size() > 1 && one_input)
            found.push_back(by_columns(step, parts));
        else
            found.insert(found.end(), parts.begin(), parts.end());
    }
    return found;
}

std::vector<KernelArgument> arguments_of(const scene::Scene& scene) {
    std::vector<KernelArgument> arguments;
    for (const std::string& text : scene.arguments)
        if (auto argument = scene::parse_argument(text)) arguments.push_back(std::move(argument.value()));
    return arguments;
}

namespace {

bool is_float(DType type) {
    return type == DType::f32 || type == DType::f16 || type == DType::bf16;
}
std::vector<float> numbers_of(const Array& a) {
    std::vector<float> values(a.count());
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = a.dtype == DType::f16    ? f16_to_f32(a.as<uint16_t>()[i])
                    : a.dtype == DType::bf16 ? bf16_to_f32(a.as<uint16_t>()[i])
                                             : a.as<float>()[i];
    return values;
}
float rounded_to(DType type, double value) {
    const auto single = static_cast<float>(value);
    return type == DType::f16    ? f16_to_f32(f32_to_f16(single))
           : type == DType::bf16 ? bf16_to_f32(f32_to_bf16(single))
                                 : single;
}

// Elements as they are without rounding on the way: a kernel may add in another order.
void add_up(MatrixProduct& it, DType type) {
    for (int64_t r = 0; r < it.rows; ++r)
        for (int64_t c = 0; c < it.columns; ++c) {
            double sum = it.sum(r, c, 0, it.inner);
            if (!it.bias.empty()) sum += static_cast<double>(it.bias[static_cast<size_t>(c)]);
            if (!it.added.empty()) sum += static_cast<double>(it.added[static_cast<size_t>(r * it.columns + c)]);
            it.y.push_back(rounded_to(type, sum));
        }
}

}  // namespace

std::optional<MatrixProduct> product_of(std::span<const KernelArgument> arguments, uint64_t seed,
                                        std::span<const std::string> names) {
    std::vector<Array> given;
    std::vector<std::string> called;  // the inputs, then the output
    const KernelArgument* out = nullptr;
    std::string out_name = "y";
    for (size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument& one = arguments[i];
        if (one.kind != KernelArgument::Kind::plain || !is_float(one.type)) continue;
        if (one.role == KernelArgument::Role::out && out == nullptr) {
            out = &one;
            if (i < names.size()) out_name = names[i];
        }
        if (one.role != KernelArgument::Role::in) continue;
        auto contents = scene::initial_contents(one, seed * 1000003u + i);
        if (!contents) return std::nullopt;
        called.push_back(i < names.size() ? names[i] : given.empty() ? "x" : given.size() == 1 ? "W" : "c");
        given.push_back(std::move(contents.value()));
    }
    if (out == nullptr || given.size() < 2 || given.size() > 3) return std::nullopt;
    const std::vector<int64_t>&x = given[0].shape, &w = given[1].shape, &y = out->shape;
    if (x.size() != 2 || w.size() != 2 || y.size() != 2 || x[0] != y[0]) return std::nullopt;
    MatrixProduct it{.x_name = called[0], .w_name = called[1], .y_name = out_name};
    it.rows = y[0], it.columns = y[1], it.inner = x[1];
    const bool plain = w[0] == it.inner && w[1] == it.columns, layer = w[0] == it.columns && w[1] == it.inner,
               adds = given.size() == 3 && given[2].shape == y;
    if (!plain && !layer) return std::nullopt;
    it.stored_by_rows = layer && (!plain || (given.size() == 3 && !adds));
    it.x = numbers_of(given[0]);
    it.w = it.stored_by_rows ? turned(numbers_of(given[1]), it.columns, it.inner) : numbers_of(given[1]);
    if (given.size() == 3) {
        if (!adds && static_cast<int64_t>(given[2].count()) != it.columns) return std::nullopt;
        (adds ? it.added : it.bias) = numbers_of(given[2]);
        if (adds) it.added_name = called[2];
    }
    add_up(it, out->type);
    return it;
}

}  // namespace lockstep::gui
