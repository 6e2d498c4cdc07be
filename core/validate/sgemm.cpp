// A rung of the ladder at M = N = K = 4096. Its blocks come in waves: as many as the SMs hold, again and again, then a rest.
// One full wave and the rest are run, each with K cut to n and to 2 n (rows of A and B lie as far apart as in the whole
// product); the differences are what n of K cost without start-up. The whole product takes 4096 / n times as long:
//   cycles = (full waves * of one wave + of the rest) * 4096 / n
// (on a part of the GPU its part of the blocks) at the boost clock, as everywhere. At which clock the published rungs ran is
// not known: the slow ones cannot have run below 1.5 GHz (two loads in 3.8 cycles of the base clock, where the SM takes one
// in 2), the fast ones may have been held by the 300 W of the board.
#include <algorithm>

#include "core/validate/probe.h"

namespace lockstep::validate {

namespace {
constexpr int32_t size = 4096;

// `blocks` of them, in a rectangle as wide as the real grid allows.
int64_t cycles_of(const Case& row, const model::GpuSpec& gpu, const ptx::Program& program, uint32_t blocks, int32_t depth) {
    if (blocks == 0) return 0;
    const uint32_t down = size / row.tile_rows, across = size / row.tile_columns;
    uint32_t x = std::min(blocks, row.rows_first ? down : across);
    while (blocks % x != 0) --x;
    simt::Memory memory;
    const uint64_t words = uint64_t{size} * size;
    const uint64_t a = memory.allocate(words * 4, "A"), b = memory.allocate(uint64_t(depth) * size * 4, "B"),
                   c = memory.allocate(words * 4, "C");
    Arguments arguments(program);
    arguments.add(size);
    arguments.add(size);
    arguments.add(depth);
    arguments.add(1.0f);
    arguments.add(a);
    arguments.add(size);
    arguments.add(b);
    arguments.add(size);
    arguments.add(0.0f);
    arguments.add(c);
    arguments.add(size);
    simt::LaunchConfig config;
    config.grid = {x, blocks / x, 1};
    config.block = {row.threads, row.block_y, 1};
    config.parameters = std::move(arguments.block);
    return run_kernel(gpu, program, config, memory).cycles;
}
}  // namespace

double measure_sgemm(const Case& row, Programs& programs) {
    const model::GpuSpec gpu = gpu_of(row);
    const ptx::Program& program = programs.get("kernels/sgemm", row.file, row.kernel);
    const uint64_t shared = ptx::shared_bytes(program, 0);
    const uint32_t resident =
        gpu.sms *
        model::occupancy(gpu, row.threads * row.block_y, ptx::registers_on(program, gpu.compute.number), shared).blocks;
    const uint32_t blocks = size / row.tile_rows * (size / row.tile_columns);
    const auto slope = [&](uint32_t some) {
        return static_cast<double>(cycles_of(row, gpu, program, some, 2 * row.n) -
                                   cycles_of(row, gpu, program, some, row.n));
    };
    const uint32_t at_once = resident * row.share, waves = blocks / at_once, rest = blocks % at_once;
    const double cycles = (waves == 0 ? 0 : waves * slope(resident)) + slope((rest + row.share - 1) / row.share);
    return 2.0 * size * size * row.n / (cycles / gpu.boost_mhz) / 1000;
}

}  // namespace lockstep::validate
