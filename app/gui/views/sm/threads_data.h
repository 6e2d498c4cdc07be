// The threads of a launch as plain data: where each one stands in its block, its warp and the grid, which element it
// computes, and what it does at one instruction of the recorded warp. Linear thread = x + bx*(y + by*z); 32 of them in
// that order are a warp, and a warp never spans blocks.
#pragma once
#include <string>
#include <vector>

#include "core/model/launch/launch.h"
#include "core/simt/history/history.h"

namespace lockstep::gui {

struct ThreadPlace {
    uint64_t block = 0, linear = 0;  // in the grid; in the block
    simt::Dim3 block_index, thread;  // blockIdx, threadIdx
    uint32_t warp = 0, lane = 0;     // of the block
    uint64_t row = 0, column = 0;    // blockIdx.y * blockDim.y + threadIdx.y, and the same of x
};
ThreadPlace thread_at(const simt::LaunchConfig& config, uint64_t block, uint64_t linear);

enum class LaunchShape { line, sheet, solid };  // one axis, two, three: what its threads are numbered by
LaunchShape shape_of(const simt::LaunchConfig& config);

uint64_t warps_in_block(const simt::LaunchConfig& config);
uint64_t threads_in_warp(const simt::LaunchConfig& config, uint64_t warp);  // of a block: 32, the last one may have fewer

// The cell of a thread in the drawing of its block: a line of threads breaks after every warp, layers stand below each
// other.
struct Cell {
    uint64_t column = 0, row = 0;
};
Cell cell_of(const simt::LaunchConfig& config, uint64_t linear);
Cell cells_of(const simt::LaunchConfig& config);  // how many columns and rows a block has

// "15" on a line, "1,3" (row, column) on a sheet, the linear number in a solid; `own`: within the block instead of the grid.
// `step`: of a line, what the kernel multiplies its block's number by in place of the block's size; 0: that size.
std::string label_of(const simt::LaunchConfig& config, const ThreadPlace& thread, bool own = false, uint64_t step = 0);

struct Formula {  // i = blockIdx.x * blockDim.x + threadIdx.x = 1 * 12 + 3 = 15
    std::string name, terms, numbers;
};
struct FormulaNames {
    bool rows = false;     // the kernel asks for its row although the launch has one axis
    bool index = true;     // it has this index of a line's thread: "i"; else it is the "thread" of the grid
    std::string own = {};  // or one with a number in place of the block's size: what it is called,
    uint64_t step = 0;     // and that number
};
std::vector<Formula> formulas_of(const simt::LaunchConfig& config, const ThreadPlace& thread, FormulaNames names = {});

enum class ThreadState { unknown, runs, waits, exited };
// At instruction `step` of the recorded warp; unknown for the threads of other warps.
ThreadState state_of(const ptx::Program& program, const simt::WarpHistory& history, size_t step, const ThreadPlace& thread);

// What one lane's load or store touches: "stores c[15]", "loads a[20], past its end (20 elements)"; empty when the
// instruction is none, the lane is off, or the address leads nowhere.
std::string touched_by(const model::KernelRun& run, const simt::WarpStep& step, const std::vector<simt::LaneValues>& lanes,
                       uint32_t lane);

// How many elements the longest array has that the launch was given; 0: it was given none, or of one nobody knows the type.
// A thread of a line whose index is not below it has no element of its own.
uint64_t longest_array(const model::KernelRun& run);

// "2 blocks of 12 threads: 24 threads in 2 warps, each with 12 of its 32 lanes in use."
std::string launch_sentence(const simt::LaunchConfig& config);
// "4 × 2", "12"
std::string extent_text(const simt::Dim3& extent);
// blockIdx as the source would write it: "blockIdx.x = 1", "blockIdx = (1, 0)"
std::string block_text(const simt::LaunchConfig& config, const ThreadPlace& thread);
int64_t track_of(const KernelTrace& trace, uint64_t block, uint32_t warp);  // index into KernelTrace::warps, -1: not traced

}  // namespace lockstep::gui
