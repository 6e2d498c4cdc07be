// A kernel's arguments: where its warps note their clocks (two of 64 bits a warp), data, n, and one more where it takes it.
#include "core/validate/probe.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/files.h"
#include "core/ptx/ptx.h"

namespace lockstep::validate {

model::TimedResult run_row(const Case& row, const model::GpuSpec& gpu, const ptx::Program& program, int32_t n,
                           simt::Memory& memory, uint64_t& clocks) {
    clocks = memory.allocate(warps_of(row) * 16, "clocks");
    const uint64_t data = memory.allocate(row.bytes + 65536, "data");
    if (!row.constants.empty()) {
        const auto variable = std::find_if(program.variables.begin(), program.variables.end(),
                                           [&](const ptx::GlobalVariable& v) { return v.name == row.constants; });
        if (variable == program.variables.end()) throw Failure("no variable " + std::string(row.constants));
        const uint64_t address = memory.variable(program.ptx_file, variable->name, variable->bytes, variable->initial);
        make_ring(row, memory.write(address, row.bytes), address);
    } else if (row.stride != 0) {
        make_ring(row, memory.write(data, row.bytes), data);
    }
    Arguments arguments(program);
    arguments.add(clocks);
    arguments.add(data);
    arguments.add(n);
    arguments.add(row.more);
    simt::LaunchConfig config;
    config.grid = {row.blocks, 1, 1};
    config.block = {row.threads, 1, 1};
    config.dynamic_shared = row.shared;
    config.parameters = std::move(arguments.block);
    return run_kernel(gpu, program, config, memory);
}

namespace {

Noted run(const Case& row, const model::GpuSpec& gpu, const ptx::Program& program, int32_t n) {
    simt::Memory memory;
    uint64_t clocks = 0;
    const model::TimedResult result = run_row(row, gpu, program, n, memory, clocks);
    const uint64_t bytes = warps_of(row) * 16;
    Noted noted = noted_by({memory.read(clocks, bytes), bytes});
    noted.seconds = static_cast<double>(result.cycles) / (gpu.boost_mhz * 1e6);
    if (row.quantity == Quantity::sectors) noted.sectors = model::metric_of(program, result, "sectors_per_request").value();
    return noted;
}

}  // namespace

uint64_t warps_of(const Case& row) {
    return uint64_t{row.blocks} * ((row.threads + 31) / 32);
}

Noted noted_by(std::span<const std::byte> clocks) {
    Noted noted{.first_begin = std::numeric_limits<int64_t>::max()};
    for (size_t at = 0; at + 16 <= clocks.size(); at += 16) {
        int64_t pair[2];
        std::memcpy(pair, clocks.data() + at, sizeof pair);
        noted.first_begin = std::min(noted.first_begin, pair[0]);
        noted.last_end = std::max(noted.last_end, pair[1]);
    }
    return noted;
}

// Links row.stride apart, each to the one row.hop behind it, round and round.
void make_ring(const Case& row, std::byte* at, uint64_t address) {
    const uint64_t links = row.bytes / row.stride;
    for (uint64_t i = 0; i < links; ++i) {
        const uint64_t to = address + (i + row.hop) % links * row.stride;
        std::memcpy(at + i * row.stride, &to, sizeof to);
    }
}

const ptx::Program& Programs::get(const std::string& folder, std::string_view file, std::string_view kernel) {
    const std::string path = folder + "/ptx/" + std::string(file) + ".ptx";
    std::shared_ptr<const ptx::Program>& entry = programs_[path + " " + std::string(kernel)];
    if (entry == nullptr)
        entry =
            ptx::decode(ptx::parse(read_file(resource_root() / path).value(), path).value(), std::string(kernel)).value();
    return *entry;
}

model::TimedResult run_kernel(const model::GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                              simt::Memory& memory) {
    if (const auto problem = simt::check_launch(program, config, model::limits_of(gpu))) throw Failure(*problem);
    model::TimedOptions options;
    options.trace = false;
    model::TimedResult result = model::launch(gpu, program, config, memory, options);
    if (result.fault) throw Failure(simt::render(*result.fault));
    return result;
}

Case part_of(const Case& row) {
    Case part = row;
    const uint32_t sms = gpu_of(row).sms;
    part.share = std::max(1u, sms % 4 == 0 ? sms / 4 : sms / 2);
    part.blocks = std::max(1u, row.blocks / part.share);
    if (row.quantity == Quantity::gigaflops) {
        part.share = 12;  // its channels of DRAM and slices of L2 divide, too
    } else if (row.quantity == Quantity::gigabytes) {
        part.bytes = row.bytes / 8;  // more than L1 and less than that share of L2
        part.more = static_cast<int32_t>(part.bytes / 16);
    }
    return part;
}

model::GpuSpec at_clock(model::GpuSpec gpu, double mhz) {
    gpu.fp16_tensor_tflops.value *= mhz / gpu.boost_mhz;
    gpu.boost_mhz.value = mhz;
    return gpu;
}

model::GpuSpec gpu_of(const Case& row) {
    model::GpuSpec gpu = model::gpu_named(row.gpu).value();
    if (row.share <= 1) return gpu;
    for (model::Count* const count : {&gpu.sms, &gpu.l2_bytes, &gpu.l2_slices, &gpu.dram_channels})
        count->value = std::max(1u, count->value / row.share);
    for (model::Figure* const figure : {&gpu.l2_bytes_per_cycle, &gpu.dram_gb_per_second, &gpu.fp16_tensor_tflops})
        figure->value /= row.share;
    return gpu;
}

double measure(const Case& row, Programs& programs) {
    if (row.quantity == Quantity::gigaflops) return measure_sgemm(row, programs);
    const model::GpuSpec gpu = gpu_of(row);
    const ptx::Program& program = programs.get("kernels/micro", row.file, row.kernel);
    return figure_of(row, gpu, run(row, gpu, program, row.n), [&] {
        if (row.quantity != Quantity::block_turn) return run(row, gpu, program, 2 * row.n);
        Case twice = row;
        twice.blocks *= 2;
        return run(twice, gpu, program, row.n);
    });
}

double figure_of(const Case& row, const model::GpuSpec& gpu, const Noted& once, const std::function<Noted()>& twice) {
    const auto warps = static_cast<double>(warps_of(row));
    const double steps = row.steps;
    const auto span = static_cast<double>(once.last_end - once.first_begin);
    // Between a launch of n and one of 2 n: without what it takes to start.
    const auto seconds_between = [&] { return twice().seconds - once.seconds; };
    switch (row.quantity) {
        case Quantity::cycles_a_step:
            return span / steps;
        case Quantity::cycles_a_warp:
            return span / (warps * steps);
        case Quantity::results_a_cycle:
            return 32 * warps * steps / span;
        case Quantity::bytes_a_cycle:
            return row.work * warps * steps / span;
        case Quantity::sectors:
            return once.sectors;
        case Quantity::nanoseconds:
            return 1e9 * seconds_between() / row.n;
        case Quantity::block_turn:  // `steps` blocks in each place
            return 1e9 * seconds_between() / steps;
        case Quantity::gigabytes:
            return row.share * row.work * warps * steps / seconds_between() / 1e9;
        case Quantity::share_of_peak:
            return 100 * row.work * warps * steps / seconds_between() / 1e9 / gpu.dram_gb_per_second;
        default: {
            // The vendor's peaks without tensor cores, and of f64 with them, may hold at another clock than the rest.
            const bool other_clock = gpu.fp32_peak_mhz != 0 && (row.file == "peak" || row.kernel == "rate_mma_f64");
            return row.share * row.work * warps * steps * row.n / seconds_between() / 1e12 *
                   (other_clock ? gpu.fp32_peak_mhz / gpu.boost_mhz : 1);
        }
    }
}

}  // namespace lockstep::validate
