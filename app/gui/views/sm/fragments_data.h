// Who holds what of a product of matrices: for mma.sync and wmma, lane and register of each element of A, B and D, as our
// machine deals them out (core/ptx/opcodes/products.h). Tested without a window, against a kernel that finds it out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace lockstep::gui
