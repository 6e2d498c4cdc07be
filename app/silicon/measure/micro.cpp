// The part micro: the micro-benchmarks of core/validate on the GPU, each figure the median of a few launches. The SM's own
// clock counts cycles; rates of the whole GPU take the time between a launch of n rounds and one of 2 n. Rows are those of
// validate::cases_on() for the modelled GPU of the same name.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/silicon/compare/compare.h"
#include "app/silicon/measure/parts.h"
#include "core/device/cuda/cuda.h"
#include "core/validate/probe.h"

namespace lockstep::device {
namespace {

using validate::Case;

struct MicroBuffer {
    MicroBuffer(Device& device, size_t bytes, std::string_view name)
        : device_(device), pointer(device.allocate(bytes, name)) {}
    ~MicroBuffer() {
        try {
            device_.release(pointer);
        } catch (const Failure&) {  // a device that failed keeps its memory
        }
    }
    MicroBuffer(const MicroBuffer&) = delete;
    MicroBuffer& operator=(const MicroBuffer&) = delete;

  private:
    Device& device_;

  public:
    const Pointer pointer;
};

double measure_case(Cuda& cuda, const Case& row, const model::GpuSpec& gpu, const CudaLaunch& before, int repeats) {
    const GeneratedKernel* const kernel = pack_program(fmt::format("kernels/micro/ptx/{}.ptx", row.file), row.kernel);
    const size_t noted_bytes = validate::warps_of(row) * 16;
    const MicroBuffer clocks(cuda, noted_bytes, "clocks"), data(cuda, row.bytes + 65536, "data");
    LaunchRequest request{.kernel = row.kernel,
                          .grid = {row.blocks},
                          .block = {row.threads},
                          .arguments = {clocks.pointer, data.pointer, row.n, row.more},
                          .generated = kernel};
    request.arguments.resize(std::min(request.arguments.size(), kernel->program->parameters.size()));
    if (row.stride != 0) {
        Pointer ring = data.pointer;
        size_t room = row.bytes;
        if (!row.constants.empty()) ring = cuda.variable(request, std::string(row.constants), room);
        if (ring.address == 0 || room < row.bytes) throw Failure(fmt::format("no room for the ring of {}", row.name));
        std::vector<std::byte> links(row.bytes);
        validate::make_ring(row, links.data(), ring.address);
        cuda.copy_in(ring, links.data(), links.size(), 0);
    }
    std::vector<std::byte> noted(noted_bytes);
    const auto run = [&](int32_t n) {
        if (request.arguments.size() > 2) request.arguments[2] = n;
        const CudaLaunch launch = cuda.prepare(request);
        const double us = cuda.between_events_us(&before, [&](void* stream) { cuda.enqueue(launch, stream); });
        cuda.copy_out(noted.data(), clocks.pointer, noted.size(), 0);
        validate::Noted it = validate::noted_by(noted);
        it.seconds = us / 1e6;
        return it;
    };
    std::vector<double> figures;
    run(row.n);
    for (int i = 0; i < repeats; ++i)
        figures.push_back(validate::figure_of(row, gpu, run(row.n), [&] { return run(2 * row.n); }));
    return median_of(std::move(figures));
}

// What is told from the time between two launches takes long enough here for the resolution of events, half a microsecond.
void lengthen(Case& row) {
    constexpr int32_t times = 64;
    switch (row.quantity) {
        case validate::Quantity::share_of_peak:  // of DRAM: from more memory, so that L2 holds less of it than before
            row.bytes *= times;
            row.more *= times;
            [[fallthrough]];
        case validate::Quantity::gigabytes:
            row.steps *= times;  // n of them
            [[fallthrough]];
        case validate::Quantity::teraflops:
        case validate::Quantity::nanoseconds:
            row.n *= times;
            break;
        default:
            break;
    }
}

// A rung of the ladder: the whole product of 4096 x 4096 matrices.
double measure_rung(Cuda& cuda, const Case& row, const CudaLaunch& before, int repeats, int32_t size) {
    const GeneratedKernel* const kernel = pack_program(fmt::format("kernels/sgemm/ptx/{}.ptx", row.file), row.kernel);
    const size_t bytes = static_cast<size_t>(size) * static_cast<size_t>(size) * 4;
    const MicroBuffer a(cuda, bytes, "A"), b(cuda, bytes, "B"), c(cuda, bytes, "C");
    const auto down = static_cast<uint32_t>(size) / row.tile_rows, across = static_cast<uint32_t>(size) / row.tile_columns;
    const LaunchRequest request{
        .kernel = row.kernel,
        .grid = row.rows_first ? simt::Dim3{down, across} : simt::Dim3{across, down},
        .block = {row.threads, row.block_y},
        .arguments = {size, size, size, 1.0f, a.pointer, size, b.pointer, size, 0.0f, c.pointer, size},
        .generated = kernel};
    std::vector<float> values(bytes / 4);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761u % 1024) / 512 - 1;
    for (const Pointer to : {a.pointer, b.pointer}) cuda.copy_in(to, values.data(), bytes, 0);
    const CudaLaunch launch = cuda.prepare(request);
    std::vector<double> times;
    for (int i = 0; i <= repeats; ++i) {
        const double us = cuda.between_events_us(&before, [&](void* stream) { cuda.enqueue(launch, stream); });
        if (i > 0) times.push_back(us);
    }
    return 2.0 * size * size * size / median_of(std::move(times)) / 1e3;
}

}  // namespace

void measure_micro(SiliconRun& run) {
    auto& cuda = dynamic_cast<Cuda&>(run.device);
    const std::string words = cuda.description();
    const std::string model = model_of(words.substr(0, words.find(','))).value_or("h200");
    model::GpuSpec gpu = model::gpu_named(model).value();
    gpu.fp32_peak_mhz.value = 0;  // time is time here
    const PackLaunch flush(cuda, flush_row(run.options.flushed));
    const CudaLaunch before = cuda.prepare(flush.request());
    for (Case row : validate::cases_on(model)) {
        const std::string name = fmt::format("{} {}", row.table, row.name);
        if (run.options.quick) {
            if (row.quantity == validate::Quantity::gigaflops && row.name != "1_naive") continue;
            row.blocks = std::min(row.blocks, 2u);
            row.bytes = std::min<uint64_t>(row.bytes, 1 << 20);
            row.more = std::min(row.more, static_cast<int32_t>(row.bytes / 16));  // of streams: where they begin again
        }
        if (!run.options.quick) lengthen(row);
        run.row(name, [&] {
            const double value =
                row.quantity == validate::Quantity::gigaflops
                    ? measure_rung(cuda, row, before, run.options.quick ? 1 : 5, run.options.quick ? 64 : 4096)
                    : measure_case(cuda, row, gpu, before, run.options.quick ? 1 : 7);
            if (!(value > 0) || !std::isfinite(value)) throw Failure("the clock did not go on while the benchmark ran");
            run.add(SiliconFigure{name, value, std::string(row.unit)});
        });
    }
}

}  // namespace lockstep::device
