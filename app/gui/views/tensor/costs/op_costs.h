// What each op of a tensor program costs going forward, by its row's own formula: arithmetic, and bytes when every buffer is
// moved once a kernel. Of the bytes, those of tensors that one kernel writes for a later one to read stand apart. And which
// weights a program trains. Tested without a window.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::scene {
struct TapeRun;
}

namespace lockstep::gui {

struct Snapshot;

struct OpCostRow {
    std::string name;   // of the node: "K", "matmul_t(q,K)"
    std::string shape;  // of what it makes: "32×32"
    double operations = 0, bytes = 0;
    double between = 0;   // of the bytes: what lies between two kernels
    bool costly = false;  // in a picture: among costly_rows()
};
struct ProgramCosts {
    std::string name;             // its file, without folder and ending: "cached"
    std::vector<OpCostRow> rows;  // ops that cost anything, in their order
    double operations = 0, bytes = 0, between = 0;
    double kernels_us = 0;  // of the forward pass, on the modelled GPU
    int kernels = 0;
    double cost(bool of_bytes) const { return of_bytes ? bytes : operations; }
};
ProgramCosts op_costs(const scene::TapeRun& run);
// Of the program on show, the first, and of those that stand beside it.
std::vector<ProgramCosts> op_costs_shown(const Snapshot& snapshot);

// The finding: of two programs what the one saves, of one program its costliest ops.
std::string op_costs_headline(const std::vector<ProgramCosts>& programs, bool of_bytes);
// What the headline leaves open: how long both take, of one program how often a tensor passes memory.
std::string op_costs_second(const std::vector<ProgramCosts>& programs, bool of_bytes);
// The ops, costliest first, that together make four fifths of the program's cost: at most three; none where it takes more.
std::vector<size_t> costly_rows(const ProgramCosts& program, bool of_bytes);

struct WeightBox {  // a matrix that a program multiplies by
    std::string name;
    int64_t rows = 1, columns = 1;
    bool trained = false;
    int64_t count() const { return rows * columns; }
};
// Params, and of the inputs those that are drawn as weights are (`normal`): these stay as they are.
std::vector<WeightBox> weight_boxes(const scene::TapeRun& run);
std::string weights_headline(const std::vector<WeightBox>& boxes);

}  // namespace lockstep::gui
