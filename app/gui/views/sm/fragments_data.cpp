// Blocks of 8 rows of 4 words: lane 4 r + c holds word c of row r. A: register = row block + row blocks * k block; B, by
// columns: k block + k blocks * column block; D: blocks of 8 x 8, two neighbours a lane.
#include "app/gui/views/sm/fragments_data.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "core/model/gpus/gpu_fields.h"
#include "core/ptx/decode/views.h"

namespace lockstep::gui {
namespace {

int fragment_bits(ptx::Type type) {
    switch (type) {
        case ptx::Type::b1:
            return 1;
        case ptx::Type::s4:
        case ptx::Type::u4:
            return 4;
        default:
            return static_cast<int>(8 * ptx::size_of(type));
    }
}

template <class Owner>
FragmentMatrix fragment_matrix(std::string name, std::string type, int rows, int columns, Owner owner) {
    FragmentMatrix matrix{std::move(name), std::move(type), rows, columns, {}};
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) matrix.owners.push_back(owner(row, column));
    return matrix;
}

}  // namespace

std::optional<FragmentMap> fragments_of(const ptx::Program& program, int32_t line) {
    const ptx::DecodedInstruction* found = nullptr;
    for (const ptx::DecodedInstruction& instruction : program.instructions) {
        if (instruction.kind != ptx::Kind::matrix || instruction.type == ptx::Type::f64) continue;
        const ptx::MatrixView view = ptx::as_matrix(instruction);
        if (view.sparse || view.m % 8 != 0 || view.n % 8 != 0 || view.k < 8) continue;
        if (!found) found = &instruction;
        if (instruction.line == line) {
            found = &instruction;
            break;
        }
    }
    if (!found) return std::nullopt;
    const int m = found->shape[0], n = found->shape[1], k = found->shape[2], bits = fragment_bits(found->type);
    const int in_word = 32 / bits, row_blocks = m / 8, k_blocks = k / in_word / 4;
    if (k_blocks < 1 || m > 32 || n > 32 || k > 64) return std::nullopt;
    const bool halves = found->list_destinations * 2 == m * n / 32;  // D in f16: both neighbours in one register
    const std::string type(ptx::name_of(found->type));
    FragmentMap map;
    map.instruction = fmt::format("{} m{}n{}k{}", found->opcode ? found->opcode->name : "mma", m, n, k);
    map.line = found->line;
    map.a = fragment_matrix("A", type, m, k, [&](int row, int column) {
        const int word = column / in_word;
        return FragmentOwner{4 * (row % 8) + word % 4, row / 8 + row_blocks * (word / 4), column % in_word};
    });
    map.b = fragment_matrix("B", type, k, n, [&](int row, int column) {
        const int word = row / in_word;
        return FragmentOwner{4 * (column % 8) + word % 4, word / 4 + k_blocks * (column / 8), row % in_word};
    });
    map.d = fragment_matrix("D", halves ? "f16" : "", m, n, [&](int row, int column) {
        const int block = row / 8 + row_blocks * (column / 8);
        return FragmentOwner{4 * (row % 8) + column % 8 / 2, halves ? block : 2 * block + column % 2,
                             halves ? column % 2 : 0};
    });
    return map;
}

PieceFacts piece_facts(const FragmentMap& map, const model::GpuSpec& gpu) {
    constexpr int each = piece_side * piece_side * piece_side;
    PieceFacts facts{.row_pieces = map.d.rows / piece_side,
                     .column_pieces = map.d.columns / piece_side,
                     .k_pieces = map.a.columns / piece_side};
    facts.pieces = facts.row_pieces * facts.column_pieces * facts.k_pieces;
    facts.multiply_adds = int64_t{facts.pieces} * each;
    if (map.a.type == "f16" && gpu.fp16_tensor_tflops > 0)
        facts.per_cycle = static_cast<int>(std::lround(model::tensor_fmas(gpu) / each));
    facts.gpu = gpu.title;
    return facts;
}

std::string FragmentMap::held_by(const FragmentMatrix& matrix, int lane) const {
    std::string text;
    for (int row = 0; row < matrix.rows; ++row) {
        std::string columns;
        for (int column = 0; column < matrix.columns; ++column)
            if (matrix.at(row, column).lane == lane) columns += fmt::format("{}{}", columns.empty() ? "" : ", ", column);
        if (!columns.empty()) text += fmt::format("{}row {}: columns {}", text.empty() ? "" : "; ", row, columns);
    }
    return text;
}

std::vector<std::pair<std::string, std::string>> FragmentMap::registers_of(const FragmentMatrix& matrix, int lane) const {
    std::map<int, std::map<int, std::string>> words;  // by register, then by place in it
    for (int row = 0; row < matrix.rows; ++row)
        for (int column = 0; column < matrix.columns; ++column)
            if (const FragmentOwner& owner = matrix.at(row, column); owner.lane == lane)
                words[owner.word][owner.part] = fmt::format("{}[{}][{}]", matrix.name, row, column);
    std::vector<std::pair<std::string, std::string>> registers;
    for (const auto& [word, parts] : words) {
        std::string text;
        for (const auto& [part, element] : parts) text += (text.empty() ? "" : " ") + element;
        registers.emplace_back(fmt::format("{:c}{}", matrix.name.front() - 'A' + 'a', word), text);
    }
    return registers;
}

std::vector<int> FragmentMap::lanes_of_row(int row) const {
    std::set<int> lanes;
    for (int k = 0; k < a.columns; ++k) lanes.insert(a.at(row, k).lane);
    return {lanes.begin(), lanes.end()};
}

std::vector<int> FragmentMap::lanes_of_column(int column) const {
    std::set<int> lanes;
    for (int k = 0; k < b.rows; ++k) lanes.insert(b.at(k, column).lane);
    return {lanes.begin(), lanes.end()};
}

}  // namespace lockstep::gui
