// Who holds what of a product of matrices: for mma.sync and wmma, lane and register of each element of A, B and D, as our
// machine deals them out (core/ptx/opcodes/products.h). Tested without a window, against a kernel that finds it out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/ptx/decode/program.h"

namespace lockstep::gui {

struct FragmentOwner {
    int lane = 0, word = 0, part = 0;  // word: the lane's register; part: which element in it, 0 the lowest
};
struct FragmentMatrix {
    std::string name, type;             // "A", "f16"
    int rows = 0, columns = 0;          // columns of B: n
    std::vector<FragmentOwner> owners;  // by rows
    const FragmentOwner& at(int row, int column) const { return owners[static_cast<size_t>(row * columns + column)]; }
};
struct FragmentMap {
    std::string instruction;  // "mma m16n8k16"
    int32_t line = 0;         // of the source
    FragmentMatrix a, b, d;
    // "row 1: columns 2, 3; row 9: columns 2, 3"
    std::string held_by(const FragmentMatrix& matrix, int lane) const;
    // A register of the lane each, with its elements: "a1" and "A[9][2] A[9][3]".
    std::vector<std::pair<std::string, std::string>> registers_of(const FragmentMatrix& matrix, int lane) const;
    // The lanes whose words an element of D takes, the row of A first, then the column of B.
    std::vector<int> lanes_of_row(int row) const, lanes_of_column(int column) const;
};

// The matrix product at source line `line`, else the program's first; none where there is none, or one that is dealt out in
// another way (sparse, f64, m8n8k4, wgmma).
std::optional<FragmentMap> fragments_of(const ptx::Program& program, int32_t line);

// The product as pieces of 4 x 4 x 4 multiply-adds, what a Volta tensor core does in a cycle, and how many of them a
// sub-core of the GPU does in a cycle, from the vendor's peak; 0: it has no tensor cores.
constexpr int piece_side = 4;
struct PieceFacts {
    int row_pieces = 0, column_pieces = 0, k_pieces = 0, pieces = 0;
    int64_t multiply_adds = 0;
    int per_cycle = 0;
    std::string gpu;
    int cycles() const { return per_cycle > 0 ? (pieces + per_cycle - 1) / per_cycle : 0; }
};
PieceFacts piece_facts(const FragmentMap& map, const model::GpuSpec& gpu);

}  // namespace lockstep::gui
