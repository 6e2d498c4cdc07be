// What an operation makes of its operands' layouts. One rule for all: every operand's dimensions carry labels (the result's
// dimensions, and one more that is summed over). Along a mesh axis, either one label is cut, in every operand that has it,
// the others whole; or summands pass through where the operation is linear. A product, an elementwise operation and a
// reduction only say their labels.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/parallel/layout/layout.h"

namespace lockstep::parallel {
namespace {

constexpr int no_label = -1;

struct LabelledOperand {
    const LaidOut* tensor = nullptr;
    std::vector<int> labels;  // by dimension; no_label: broadcasts

    int label_cut(size_t axis) const {
        const Placement at = tensor->layout.along[axis];
        return at.kind == Placement::Kind::shard ? labels[static_cast<size_t>(at.dimension)] : no_label;
    }
    int dimension_of(int label) const {  // -1: it has not
        const auto at = std::find(labels.begin(), labels.end(), label);
        return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
    }
    Placement cut_by(int label) const { return dimension_of(label) < 0 ? replicate() : shard(dimension_of(label)); }
};

struct LabelledOperation {
    std::vector<LabelledOperand> operands;
    std::vector<int> result;  // labels of its dimensions
    Elementwise linear = Elementwise::product;
    bool sums = true;  // a label that the result has not may be cut: what is left are summands
};

// The result's placement along an axis, or whether there is none.
bool placement_meets(const LabelledOperation& operation, size_t axis, Placement& result) {
    int cut = no_label;
    size_t summands = 0, cuts = 0;
    for (const LabelledOperand& operand : operation.operands) {
        const Placement at = operand.tensor->layout.along[axis];
        summands += at.kind == Placement::Kind::partial;
        if (at.kind == Placement::Kind::shard) ++cuts, cut = operand.label_cut(axis);
    }
    result = replicate();
    if (cuts > 0) {
        for (const LabelledOperand& operand : operation.operands)
            if (operand.tensor->layout.along[axis] != operand.cut_by(cut)) return false;
        const auto in = std::find(operation.result.begin(), operation.result.end(), cut);
        if (cut == no_label || (in == operation.result.end() && !operation.sums)) return false;
        result = in == operation.result.end() ? partial() : shard(static_cast<int>(in - operation.result.begin()));
    } else if (summands > 0) {
        result = partial();
        return operation.linear == Elementwise::sum       ? summands == operation.operands.size()
               : operation.linear == Elementwise::product ? summands == 1
                                                          : false;
    }
    return true;
}

// The first cut that is possible, for all; else whole.
void make_meet(const LabelledOperation& operation, size_t axis, std::vector<Layout>& layouts) {
    int cut = no_label;
    for (const LabelledOperand& operand : operation.operands) {
        if (cut == no_label) cut = operand.label_cut(axis);
        const bool kept = std::find(operation.result.begin(), operation.result.end(), cut) != operation.result.end();
        if (!kept && !operation.sums) cut = no_label;
    }
    for (size_t i = 0; i < layouts.size(); ++i)
        layouts[i].along[axis] = cut == no_label ? replicate() : operation.operands[i].cut_by(cut);
}

std::string operand_name(size_t i, size_t count) {
    return count == 1    ? "the tensor"
           : count <= 26 ? std::string(1, static_cast<char>('A' + i))
                         : fmt::format("operand {}", i);
}

Layout met_layout(const Mesh& mesh, const LabelledOperation& operation) {
    Layout result{static_cast<int>(operation.result.size()), std::vector<Placement>(mesh.axes.size())};
    std::vector<Layout> meeting;
    for (const LabelledOperand& operand : operation.operands) meeting.push_back(operand.tensor->layout);
    std::string trouble;
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
        if (placement_meets(operation, axis, result.along[axis])) continue;
        make_meet(operation, axis, meeting);
        if (!trouble.empty()) continue;
        std::vector<std::string> are;
        for (size_t i = 0; i < operation.operands.size(); ++i) {
            const Placement at = operation.operands[i].tensor->layout.along[axis];
            are.push_back(operand_name(i, operation.operands.size()) +
                          (at.kind == Placement::Kind::shard     ? fmt::format(" is cut along dimension {}", at.dimension)
                           : at.kind == Placement::Kind::partial ? " holds summands"
                                                                 : " is whole"));
        }
        trouble = fmt::format("over axis {} {}, which {}", mesh.axes[axis].name, fmt::join(are, " and "),
                              are.size() > 1 ? "do not meet" : "this operation cannot take");
    }
    if (trouble.empty()) return result;
    std::vector<std::string> would;
    for (size_t i = 0; i < meeting.size(); ++i)
        would.push_back(fmt::format("{} as '{}'", operand_name(i, operation.operands.size()), text_of(mesh, meeting[i])));
    throw Failure(fmt::format("{}: {} would", trouble, fmt::join(would, " with ")));
}

std::string extents_text(const Extents& shape) {
    return fmt::format("{}", fmt::join(shape, ","));
}

// Extents of leading dimensions, aligned from the right; 1 broadcasts. `skip`: dimensions at the end that are no part of it.
Extents broadcast_extents(std::span<const LaidOut* const> operands, size_t skip) {
    Extents all;
    for (const LaidOut* operand : operands) {
        const Extents shape(operand->shape.begin(), operand->shape.end() - static_cast<std::ptrdiff_t>(skip));
        if (shape.size() > all.size()) all.insert(all.begin(), shape.size() - all.size(), 1);
        for (size_t i = 0; i < shape.size(); ++i) {
            int64_t& extent = all[all.size() - shape.size() + i];
            if (extent == 1) extent = shape[i];
            if (shape[i] != extent && shape[i] != 1)
                throw Failure(fmt::format("shapes {} and {} do not meet: where one has {} the other needs {} or 1",
                                          extents_text(operands[0]->shape), extents_text(operand->shape), extent, extent));
        }
    }
    return all;
}

// Labels of a tensor's dimensions but the last `skip`: those of the result that they are aligned with.
std::vector<int> broadcast_labels(const Extents& shape, const Extents& all, size_t skip) {
    std::vector<int> labels;
    const size_t count = shape.size() - skip;
    for (size_t i = 0; i < count; ++i) {
        const size_t at = all.size() - count + i;
        labels.push_back(shape[i] == all[at] ? static_cast<int>(at) : no_label);
    }
    return labels;
}

}  // namespace

LaidOut matrix_product(const Mesh& mesh, const LaidOut& a, const LaidOut& b) {
    if (a.shape.size() < 2 || b.shape.size() < 2)
        throw Failure(fmt::format("a matrix product takes tensors of two dimensions or more, not {} and {}",
                                  extents_text(a.shape), extents_text(b.shape)));
    const int64_t inner = a.shape.back(), rows = b.shape[b.shape.size() - 2];
    if (inner != rows)
        throw Failure(fmt::format("A has {} columns and B {} rows: a B of {} rows would do", inner, rows, inner));
    const LaidOut* const both[] = {&a, &b};
    LaidOut result{broadcast_extents(both, 2), {}};
    const int batch = static_cast<int>(result.shape.size()), row = batch, column = batch + 1, summed = batch + 2;
    LabelledOperation operation;
    operation.operands = {{&a, broadcast_labels(a.shape, result.shape, 2)},
                          {&b, broadcast_labels(b.shape, result.shape, 2)}};
    for (const int label : {row, summed}) operation.operands[0].labels.push_back(label);
    for (const int label : {summed, column}) operation.operands[1].labels.push_back(label);
    for (int i = 0; i <= column; ++i) operation.result.push_back(i);
    result.layout = met_layout(mesh, operation);
    result.shape.push_back(a.shape[a.shape.size() - 2]);
    result.shape.push_back(b.shape.back());
    return result;
}

LaidOut elementwise(const Mesh& mesh, Elementwise kind, std::span<const LaidOut> operands) {
    if (operands.empty()) throw Failure("an elementwise operation takes one tensor or more");
    std::vector<const LaidOut*> all;
    for (const LaidOut& operand : operands) all.push_back(&operand);
    LaidOut result{broadcast_extents(all, 0), {}};
    LabelledOperation operation;
    operation.linear = kind;
    for (const LaidOut* operand : all)
        operation.operands.push_back({operand, broadcast_labels(operand->shape, result.shape, 0)});
    for (size_t i = 0; i < result.shape.size(); ++i) operation.result.push_back(static_cast<int>(i));
    result.layout = met_layout(mesh, operation);
    return result;
}

LaidOut reduction(const Mesh& mesh, Reduce kind, const LaidOut& operand, int dimension, bool keep) {
    const auto dimensions = static_cast<int>(operand.shape.size());
    if (dimension < 0 || dimension >= dimensions)
        throw Failure(fmt::format("a tensor of {} has no dimension {}: 0 to {} are there", extents_text(operand.shape),
                                  dimension, dimensions - 1));
    LabelledOperation operation{{{&operand, {}}}, {}, Elementwise::sum, kind == Reduce::sum};
    if (kind != Reduce::sum) operation.linear = Elementwise::other;
    LaidOut result;
    for (int i = 0; i < dimensions; ++i) {
        operation.operands[0].labels.push_back(i);
        if (i == dimension && !keep) continue;
        operation.result.push_back(i == dimension ? dimensions : i);
        result.shape.push_back(i == dimension ? 1 : operand.shape[static_cast<size_t>(i)]);
    }
    result.layout = met_layout(mesh, operation);
    return result;
}

}  // namespace lockstep::parallel
