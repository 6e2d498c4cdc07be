// See thread_index.h.
#include "core/simt/origins/thread_index.h"

#include <algorithm>

#include "core/base/units.h"
#include "core/ptx/ptx.h"

namespace lockstep::simt {

namespace {
using Is = ValueNode::Is;
}  // namespace

std::optional<IndexGuard> guard_of(const ValueTrees& trees, const ValueNode& index, uint32_t pc, int64_t value) {
    std::vector<int32_t> registers;
    for (const ValueNode* node = &index;; node = &node->of[0]) {
        if (node->reg >= 0) registers.push_back(node->reg);
        if (node->is != Is::widened) break;
    }
    const ptx::Program& program = trees.program();
    std::optional<IndexGuard> found;
    for (uint32_t at = 0; at < pc; ++at) {
        const ptx::DecodedInstruction& i = program.instructions[at];
        if (!ptx::text_of(program, at).starts_with("setp.")) continue;
        const auto size = static_cast<uint32_t>(ptx::size_of(i.type));
        if ((size != 4 && size != 8) || i.type == ptx::Type::f32 || i.type == ptx::Type::f64) continue;
        for (const int k : {0, 1}) {
            if (std::find(registers.begin(), registers.end(), i.source[k]) == registers.end()) continue;
            ValueNode limit = trees.of(i.source[1 - k], size);
            if (limit.as_signed() < value || limit.as_signed() <= 0) continue;  // it kept something else out
            if (!found || limit.as_signed() < found->limit.as_signed()) found = IndexGuard{at, std::move(limit)};
        }
    }
    return found;
}

int64_t most_in_block(const ValueNode& node, const Dim3& threads) {
    const auto most = [&](size_t k) { return most_in_block(node.of[k], threads); };
    const int64_t now = node.as_signed();
    switch (node.is) {
        case Is::special: {
            const uint32_t sides[] = {threads.x, threads.y, threads.z};  // threadIdx.x, .y, .z are the first three
            return node.index >= 0 && node.index < 3 ? int64_t{sides[node.index]} - 1 : now;
        }
        case Is::widened:
            return most(0);
        case Is::add:
            return most(0) + most(1);
        case Is::multiply:
            return most(0) * most(1);
        case Is::multiply_add:
            return most(0) * most(1) + most(2);
        case Is::shift_left:
            return node.of[1].bits < 31 ? most(0) * (int64_t{1} << node.of[1].bits) : now;
        default:
            return now;
    }
}

namespace {

// 'x', 'y' or 'z' where a value is made of the thread's place along that axis and numbers, 0 elsewhere.
char axis_of(const ValueNode& node) {
    if (node.is == Is::special && node.index >= 0 && node.index < 12) return static_cast<char>('x' + node.index % 3);
    char axis = 0;
    for (const ValueNode& below : node.of) {
        const char its = axis_of(below);
        if (its != 0 && axis != 0 && its != axis) return 0;
        if (its != 0) axis = its;
    }
    const bool made = node.is_operation() || node.is == Is::widened;
    return made || node.is == Is::number ? axis : char{0};
}

// What `index` is as row * pitch + column.
struct RowAndColumn {
    const ValueNode *row = nullptr, *pitch = nullptr, *column = nullptr;
};

std::optional<RowAndColumn> row_and_column(const ValueNode& index) {
    const ValueNode* node = &index;
    while (node->is == Is::widened) node = &node->of[0];
    const ValueNode *first = nullptr, *second = nullptr, *added = nullptr;
    if (node->is == Is::multiply_add) {
        first = &node->of[0], second = &node->of[1], added = &node->of[2];
    } else if (node->is == Is::add) {
        const bool left = node->of[0].is == Is::multiply;
        const ValueNode& product = node->of[left ? 0 : 1];
        if (product.is != Is::multiply) return std::nullopt;
        first = &product.of[0], second = &product.of[1], added = &node->of[left ? 1 : 0];
    } else {
        return std::nullopt;
    }
    const auto is_pitch = [](const ValueNode& n) { return n.is == Is::parameter || n.is == Is::number; };
    if (is_pitch(*first)) std::swap(first, second);
    if (!is_pitch(*second)) return std::nullopt;
    return RowAndColumn{first, second, added};
}

}  // namespace

std::string advice_for_swapped(const ValueTrees& trees, uint32_t pc, const ValueNode& index, int64_t count) {
    const auto parts = row_and_column(index);
    if (!parts) return {};
    const char row_axis = axis_of(*parts->row), column_axis = axis_of(*parts->column);
    if (row_axis == 0 || column_axis == 0 || row_axis == column_axis) return {};
    const std::string row = trees.text_of(*parts->row), column = trees.text_of(*parts->column),
                      pitch = trees.text_of(*parts->pitch);
    const auto limit = guard_of(trees, *parts->row, pc, parts->row->as_signed());
    const auto across = guard_of(trees, *parts->column, pc, parts->column->as_signed());
    const LaunchConfig& config = *trees.warp().block->grid->config;
    const auto threads_along = [&](char axis) {
        const Dim3 &grid = config.grid, &block = config.block;
        return axis == 'x' ? int64_t{grid.x} * block.x : axis == 'y' ? int64_t{grid.y} * block.y : int64_t{grid.z} * block.z;
    };
    const int64_t down = threads_along(row_axis), along = threads_along(column_axis);
    const bool compared = limit && trees.text_of(limit->limit) == pitch;
    const bool fits = !limit && !across && down == parts->pitch->as_signed() && down != along && down * along <= count;
    if (!(compared && across && trees.text_of(across->limit) != pitch) && !fits) return {};
    if (row_axis == 'x') {
        const bool plain = column.find(' ') == std::string::npos;
        const std::string right = (plain ? column : "(" + column + ")") + " * " + pitch + " + " + row;
        return "Look at which of the two is multiplied: " + pitch + " counts what goes along x, so the index is " + right +
               ".";
    }
    const std::string width =
        across ? trees.text_of(across->limit) : "the number of elements of a row, " + with_commas(along);
    return "Look at the pitch: " + pitch +
           " counts the rows, and the index goes on by a whole row for each of them: multiply by " + width + ".";
}

}  // namespace lockstep::simt
