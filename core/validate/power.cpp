// Power under full load. The kernels of the table `peak` keep every lane, or every tensor core, busy from registers; the
// energy of a longer launch less that of a shorter one, over the difference of their times, is what a board draws for it.
// A board's own figure also pays for its memory's refresh, its regulators and its fan, which are not estimated.
#include <cmath>

#include "core/model/gpus/area.h"
#include "core/model/metrics/energy.h"
#include "core/validate/probe.h"

namespace lockstep::validate {
namespace {

struct Drawn {
    double joules = 0, seconds = 0;
};
Drawn drawn_by(const Case& row, const model::GpuSpec& gpu, const ptx::Program& program, int32_t n) {
    simt::Memory memory;
    uint64_t clocks = 0;
    const model::TimedResult result = run_row(row, gpu, program, n, memory, clocks);
    return {model::energy_of(gpu, program, result).joules, result.time_us * 1e-6};
}

}  // namespace

Report power_report(const Options& options) {
    Report report;
    Programs programs;
    for (const model::RealDie& die : model::real_dies()) {
        if (die.board_watts <= 0) continue;
        for (const Case& entry : cases()) {
            if (entry.table != "peak" || entry.gpu != die.board_gpu) continue;
            Row row{"power", entry.name, die.board_watts, 0, Kind::predicted, "W", "the board's power, data sheet"};
            if (options.started) options.started(row.table + " " + row.name);
            const Case run = options.quick ? part_of(entry) : entry;
            const model::GpuSpec gpu = gpu_of(run);
            const ptx::Program& program = programs.get("kernels/micro", run.file, run.kernel);
            const Drawn once = drawn_by(run, gpu, program, run.n), twice = drawn_by(run, gpu, program, 2 * run.n);
            row.got = run.share * (twice.joules - once.joules) / (twice.seconds - once.seconds);
            if (options.finished) options.finished(row);
            report.rows.push_back(std::move(row));
        }
    }
    return report;
}

}  // namespace lockstep::validate
