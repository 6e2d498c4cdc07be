// Runs a row: see published.h.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/rng.h"
#include "core/model/streams/streams.h"
#include "core/validate/published/published.h"

namespace lockstep::validate {

Argument number(int64_t value) {
    return {Argument::Kind::i32, value, 0};
}
Argument wide(int64_t value) {
    return {Argument::Kind::i64, value, 0};
}
Argument real(double value) {
    return {Argument::Kind::f32, 0, value};
}
Argument real64(double value) {
    return {Argument::Kind::f64, 0, value};
}
Argument zeros(uint64_t bytes) {
    return {Argument::Kind::zeros, static_cast<int64_t>(bytes), 0};
}
Argument random_bytes(uint64_t bytes) {
    return {Argument::Kind::random, static_cast<int64_t>(bytes), 0};
}

std::string_view name_of(Unit unit) {
    constexpr std::string_view names[] = {"us", "GB/s", "GFLOP/s", "cycles"};
    return names[static_cast<size_t>(unit)];
}

namespace {

model::GpuSpec gpu_at_clock(const KernelCase& row) {
    model::GpuSpec gpu = model::gpu_named(row.gpu).value();
    return row.clock_mhz > 0 ? at_clock(gpu, row.clock_mhz) : gpu;
}

// A part with `sms` of its SMs and their share of what all have together.
model::GpuSpec part_of_gpu(model::GpuSpec gpu, uint32_t sms) {
    if (sms == 0 || sms >= gpu.sms) return gpu;
    const double share = static_cast<double>(sms) / gpu.sms;
    for (model::Count* const count : {&gpu.l2_bytes, &gpu.l2_slices, &gpu.dram_channels})
        count->value = std::max(1u, static_cast<uint32_t>(std::lround(count->value * share)));
    gpu.l2_bytes.value = gpu.l2_bytes / 1024 / gpu.l2_slices * gpu.l2_slices * 1024;  // whole lines a slice
    for (model::Figure* const figure :
         {&gpu.l2_bytes_per_cycle, &gpu.dram_gb_per_second, &gpu.fp16_tensor_tflops, &gpu.blocks_per_cycle})
        figure->value *= share;
    gpu.sms.value = sms;
    return gpu;
}

class Parameters {  // as the program has them, one behind the other
  public:
    explicit Parameters(const ptx::Program& program) : block(program) {}
    Arguments block;
    void add(const Argument& argument, simt::Memory& memory, std::vector<uint64_t>& buffers, size_t& next) {
        switch (argument.kind) {
            case Argument::Kind::i32:
                return block.add(static_cast<int32_t>(argument.whole));
            case Argument::Kind::i64:
                return block.add(argument.whole);
            case Argument::Kind::f32:
                return block.add(static_cast<float>(argument.real));
            case Argument::Kind::f64:
                return block.add(argument.real);
            default:
                if (next == buffers.size()) buffers.push_back(filled(argument, memory));
                return block.add(buffers[next++]);
        }
    }

  private:
    static uint64_t filled(const Argument& argument, simt::Memory& memory) {
        const auto bytes = static_cast<uint64_t>(argument.whole);
        const uint64_t address = memory.allocate(bytes, "buffer");
        if (argument.kind == Argument::Kind::zeros) return address;
        std::byte* const to = memory.write(address, bytes);
        Rng rng(1);
        for (uint64_t i = 0; i < bytes; i += 4) {
            const uint32_t word = static_cast<uint32_t>(rng.next() >> 16);
            std::memcpy(to + i, &word, std::min<uint64_t>(4, bytes - i));
        }
        return address;
    }
};

struct Timed {
    double cycles = 0;
    model::Bound bound = model::Bound::latency;
    int64_t longest = -1;
    void add(const model::TimedResult& result) {
        cycles += static_cast<double>(result.cycles);
        if (result.cycles <= longest) return;
        longest = result.cycles;
        bound = model::bound_of(result);
    }
};

model::TimedResult run_once(const model::GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                            simt::Memory& memory, uint32_t blocks_per_sm) {
    if (const auto problem = simt::check_launch(program, config, model::limits_of(gpu))) throw Failure(*problem);
    model::TimedOptions options;
    options.trace = false;
    options.most_blocks_per_sm = blocks_per_sm;
    model::TimedResult result = model::launch(gpu, program, config, memory, options);
    if (result.fault) throw Failure(simt::render(*result.fault));
    return result;
}

// All launches of that length; buffers of the same place in their arguments are the same.
Timed run_length(const KernelCase& row, const model::GpuSpec& gpu, Programs& programs, uint64_t length) {
    simt::Memory memory;
    std::vector<uint64_t> buffers;
    Timed sum;
    for (const Launch& launch : row.launches(length, gpu.sms)) {
        const ptx::Program& program = programs.get("kernels/published", launch.file, launch.kernel);
        Parameters parameters(program);
        size_t next = 0;
        for (const Argument& argument : launch.arguments) parameters.add(argument, memory, buffers, next);
        simt::LaunchConfig config;
        config.grid = launch.grid;
        config.block = launch.block;
        config.dynamic_shared = launch.shared;
        config.parameters = std::move(parameters.block.block);
        sum.add(run_once(gpu, program, config, memory, launch.blocks_per_sm));
    }
    return sum;
}

// Cycles of the whole, which on a part of the GPU is that part of the work.
Timed time_of_lengths(const KernelCase& row, const model::GpuSpec& whole, Programs& programs) {
    const model::GpuSpec gpu = part_of_gpu(whole, row.sms);
    const double length = static_cast<double>(row.length) * (row.rounds ? 1.0 : static_cast<double>(gpu.sms) / whole.sms);
    const auto at = static_cast<double>(row.at);
    if (length <= 2 * at) return run_length(row, gpu, programs, static_cast<uint64_t>(std::llround(length)));
    const Timed once = run_length(row, gpu, programs, row.at);
    Timed twice = run_length(row, gpu, programs, 2 * row.at);
    twice.cycles = once.cycles + (length - at) / at * (twice.cycles - once.cycles);
    return twice;
}

// How blocks of a product lie: those of a whole GPU as the grid begins, those of a part of it near a square.
struct Blocks {
    uint32_t x = 1, y = 1;
    uint32_t count() const { return x * y; }
    double tiles_a_block() const { return static_cast<double>(x + y) / count(); }  // of A and B that only they read
};
Blocks first_blocks(const Product& product, uint32_t count, bool whole) {
    const uint32_t down = product.m / product.tile_rows, across = product.n / product.tile_columns;
    const uint32_t most_x = product.rows_first ? down : across, most_y = product.rows_first ? across : down;
    const auto side = static_cast<uint32_t>(std::lround(std::sqrt(count)));
    uint32_t x = std::min(std::max(1u, whole ? count : side), most_x);
    while (count % x != 0) --x;
    if (count / x > most_y) x = (count + most_y - 1) / most_y;
    return {x, count / x};
}

// Those blocks, K cut to `depth`.
model::TimedResult run_product(const Product& product, const model::GpuSpec& gpu, const ptx::Program& program,
                               const Blocks& blocks, uint32_t depth) {
    simt::Memory memory;
    const uint64_t size = product.halves ? 2 : 4;
    Arguments arguments(program);
    arguments.add(static_cast<int32_t>(product.m));
    arguments.add(static_cast<int32_t>(product.n));
    arguments.add(static_cast<int32_t>(depth));
    arguments.add(1.0f);
    arguments.add(memory.allocate(uint64_t{product.m} * product.k * size, "A"));
    arguments.add(static_cast<int32_t>(product.k));
    arguments.add(memory.allocate(uint64_t{depth} * product.n * size, "B"));
    arguments.add(static_cast<int32_t>(product.n));
    arguments.add(0.0f);
    arguments.add(memory.allocate(uint64_t{product.m} * product.n * size, "C"));
    arguments.add(static_cast<int32_t>(product.n));
    simt::LaunchConfig config;
    config.grid = {blocks.x, blocks.y, 1};
    config.block = product.block;
    config.parameters = std::move(arguments.block);
    return run_once(gpu, program, config, memory, 0);
}

// One full wave of blocks and the rest, each at two depths, as core/validate/sgemm.cpp. Fewer blocks share less of A and B:
// a part of the GPU has so much more of DRAM's bandwidth as its blocks read more there.
Timed time_of_product(const KernelCase& row, const model::GpuSpec& whole, Programs& programs) {
    const Product& product = *row.product;
    const model::GpuSpec part = part_of_gpu(whole, row.sms);
    const ptx::Program& program = programs.get(std::string(product.folder), product.file, product.kernel);
    const auto threads = static_cast<uint32_t>(product.block.count());
    const uint32_t an_sm = std::max(
        1u, model::occupancy(whole, threads, ptx::registers_on(program, whole.compute.number), ptx::shared_bytes(program, 0))
                .blocks);
    const uint32_t blocks = product.m / product.tile_rows * (product.n / product.tile_columns);
    const uint32_t waves = blocks / (an_sm * whole.sms), rest = blocks % (an_sm * whole.sms);
    const uint32_t depth = std::min(product.depth, product.k / 2);
    Timed sum;
    const auto cycles_of = [&](uint32_t of_whole, uint32_t of_part) {
        const Blocks all = first_blocks(product, of_whole, true), some = first_blocks(product, of_part, false);
        model::GpuSpec gpu = part;
        gpu.dram_gb_per_second.value *= std::max(1.0, some.tiles_a_block() / all.tiles_a_block());
        const model::TimedResult once = run_product(product, gpu, program, some, depth);
        const model::TimedResult twice = run_product(product, gpu, program, some, 2 * depth);
        Timed last;
        last.add(twice);
        if (last.longest > sum.longest) sum.bound = last.bound, sum.longest = last.longest;
        return static_cast<double>(twice.cycles - once.cycles) * product.k / depth;
    };
    if (waves > 0) sum.cycles += waves * cycles_of(an_sm * whole.sms, an_sm * part.sms);
    if (rest > 0)
        sum.cycles += cycles_of(rest, static_cast<uint32_t>(std::ceil(static_cast<double>(rest) * part.sms / whole.sms)));
    return sum;
}

}  // namespace

KernelRow measure_kernel(const KernelCase& row, Programs& programs) {
    const model::GpuSpec gpu = gpu_at_clock(row);
    const Timed timed = row.product ? time_of_product(row, gpu, programs) : time_of_lengths(row, gpu, programs);
    const double us =
        timed.cycles / gpu.boost_mhz + (row.behind == KernelCase::Behind::queue   ? gpu.launch_gap_us.value
                                        : row.behind == KernelCase::Behind::graph ? gpu.launch_gap_us * model::gap_in_graph
                                                                                  : 0.0);
    KernelRow out{.of = &row, .bound = timed.bound};
    switch (row.unit) {
        case Unit::microseconds:
            out.got = us;
            break;
        case Unit::cycles:
            out.got = timed.cycles / row.work;
            break;
        default:
            out.got = row.work / us / 1000;
    }
    const bool a_rate = row.unit == Unit::gigabytes || row.unit == Unit::gigaflops;
    out.error = a_rate ? row.expected / out.got - 1 : out.got / row.expected - 1;
    return out;
}

}  // namespace lockstep::validate
