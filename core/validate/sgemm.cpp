// A rung of the ladder: C[M,N] = A[M,K] B[K,N] with N = 4096 and rows of A that lie 4096 elements apart, as in the whole
// product, but with K cut to n and to 2 n. The difference of the two is what n more of K cost; the whole product costs
// 4096 / n times that. Where `rows` is less than 4096 only so many rows of C are computed, in whole waves of blocks.
#include "core/validate/probe.h"

namespace lockstep::validate {

namespace {
constexpr int32_t size = 4096;

int64_t cycles_of(const Case& row, const model::GpuSpec& gpu, const ptx::Program& program, int32_t depth) {
    simt::Memory memory;
    const uint64_t words = uint64_t{size} * size;
    const uint64_t a = memory.allocate(words * 4, "A"), b = memory.allocate(uint64_t(depth) * size * 4, "B"),
                   c = memory.allocate(words * 4, "C");
    Arguments arguments(program);
    arguments.add(static_cast<int32_t>(row.rows));
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
    const uint32_t down = row.rows / row.tile_rows, across = size / row.tile_columns;
    config.grid = row.rows_first ? simt::Dim3{down, across, 1} : simt::Dim3{across, down, 1};
    config.block = {row.threads, row.block_y, 1};
    config.parameters = std::move(arguments.block);
    return run_kernel(gpu, program, config, memory).cycles;
}
}  // namespace

double measure_sgemm(const Case& row, Programs& programs) {
    const model::GpuSpec gpu = model::gpu_named(row.gpu).value();
    const ptx::Program& program = programs.get("kernels/sgemm", row.file, row.kernel);
    const int64_t cycles = cycles_of(row, gpu, program, 2 * row.n) - cycles_of(row, gpu, program, row.n);
    const double operations = 2.0 * row.rows * size * row.n;
    return operations / (static_cast<double>(cycles) / gpu.boost_mhz) / 1000;
}

}  // namespace lockstep::validate
