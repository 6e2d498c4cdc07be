// Lane operations by the unit that takes them, products of matrices by their multiply-adds, bytes by the level that gives
// them, and the static power of the whole die for as long as the launch takes.
#include "core/model/metrics/energy.h"

#include <algorithm>

#include "core/model/issue/timing.h"
#include "core/model/metrics/operations.h"
#include "core/ptx/ptx.h"

namespace lockstep::model {
namespace {

constexpr double sector = 32;

struct Counts {
    double instruction = 0, integer = 0, fp32 = 0, fp64 = 0, half_pair = 0, special = 0, tensor = 0;
    double shared = 0, l1 = 0, l2 = 0;
};

void count_math(const ptx::DecodedInstruction& in, double lanes, Counts& counts) {
    using ptx::Type;
    const auto& facts = ptx::facts_of(in);
    if (facts.route != ptx::Route::math || in.opcode == nullptr) return;
    const bool doubles = in.type == Type::f64;
    switch (in.opcode->unit) {
        case ptx::Unit::tensor:
            counts.tensor += lanes / 32 * static_cast<double>(multiply_adds(in));
            return;
        case ptx::Unit::xu:
            counts.special += lanes;
            return;
        case ptx::Unit::fp64:
            counts.fp64 += lanes;
            return;
        default:
            break;
    }
    if (doubles)
        counts.fp64 += lanes;
    else if (in.type == Type::f16x2 || in.type == Type::bf16x2)
        counts.half_pair += lanes;
    else if (in.type == Type::f32 || in.type == Type::f16 || in.type == Type::bf16)
        counts.fp32 += lanes;
    else
        counts.integer += lanes;
}

}  // namespace

LaunchEnergy energy_of(const GpuSpec& gpu, const ptx::Program& program, const TimedResult& result, const Process* process) {
    LaunchEnergy energy;
    energy.process = process != nullptr ? process : &process_of(gpu);
    const Energies& each = energies_of(gpu.dram_kind);
    Counts counts;
    for (size_t pc = 0; pc < result.instructions.size() && pc < program.instructions.size(); ++pc) {
        const InstructionCounters& c = result.instructions[pc];
        // What ptxas folds away is no instruction of the machine.
        const bool folded = result.timing != nullptr && pc < result.timing->size() && (*result.timing)[pc].folded;
        if (!folded) counts.instruction += static_cast<double>(c.lanes);
        if (!folded) count_math(program.instructions[pc], static_cast<double>(c.executed), counts);
        counts.shared += static_cast<double>(c.shared_bytes);
        counts.l1 += static_cast<double>(c.sectors) * sector;
        counts.l2 += static_cast<double>(c.l2_sectors) * sector;
    }
    const auto add = [&](const OperationEnergy& of, double count, std::string_view unit, double scale,
                         std::string_view field) {
        const double pj = of.pj * scale;
        energy.rows.push_back({of.name, count, unit, pj, count * pj * 1e-12, of.source, field});
    };
    const double scale = energy_scale(*energy.process, gpu.boost_mhz);
    add(each.instruction, counts.instruction, "lanes", scale, "sub_cores");
    add(each.integer, counts.integer, "lanes", scale, "int_lanes");
    add(each.fp32, counts.fp32, "lanes", scale, "fp32_lanes");
    add(each.fp64, counts.fp64, "lanes", scale, "fp64_lanes");
    add(each.half_pair, counts.half_pair, "lanes", scale, "fp32_lanes");
    add(each.special, counts.special, "lanes", scale, "sfu_lanes");
    add(each.tensor, counts.tensor, "products", scale, "tensor_fmas");
    add(each.shared, counts.shared, "bytes", scale, "l1_bytes");
    add(each.l1, counts.l1, "bytes", scale, "l1_bytes");
    const double mm2 = area_of(gpu, energy.process).mm2;
    add(l2_energy(each, mm2), counts.l2, "bytes", scale, "l2_bytes");
    add(each.dram, static_cast<double>(result.totals.dram_read + result.totals.dram_written), "bytes", 1, "dram_channels");
    const double seconds = result.time_us * 1e-6;
    const double watts = mm2 * static_watts_a_mm2(gpu.boost_mhz);
    energy.rows.push_back(
        {"static power", result.time_us, "us", watts * 1e6, watts * seconds,
         "0.096 W a mm2 at 1,410 MHz: what an A100 draws where nothing moves (gpu-benches); GV100 0.087 (AccelWattch)"});
    for (const EnergyRow& row : energy.rows) energy.joules += row.joules;
    energy.watts = seconds > 0 ? energy.joules / seconds : 0;
    return energy;
}

std::vector<double> joules_by_part(const LaunchEnergy& energy, const AreaEstimate& area) {
    std::vector<double> joules(area.rows.size());
    const auto row_of = [&](std::string_view field) {  // that takes ground; integers may have no lanes of their own
        return static_cast<size_t>(
            std::ranges::find_if(area.rows, [&](const PartArea& part) { return part.field == field && part.mm2 > 0; }) -
            area.rows.begin());
    };
    for (const EnergyRow& row : energy.rows) {
        if (row.field.empty()) {
            for (size_t i = 0; i < joules.size(); ++i) joules[i] += row.joules * area.rows[i].mm2 / std::max(1e-9, area.mm2);
            continue;
        }
        size_t at = row_of(row.field);
        if (at == joules.size() && row.field == "int_lanes") at = row_of("fp32_lanes");
        // What has no ground of its own, such as an L2 of no bytes, is on the way: its slices or the sub-cores.
        if (at == joules.size()) at = row_of(row.field == "l2_bytes" ? "l2_slices" : "sub_cores");
        if (at < joules.size()) joules[at] += row.joules;
    }
    return joules;
}

double watts_at(const GpuSpec& gpu, double multiply_adds, double dram_bytes, const Process* process) {
    const Process& made = process != nullptr ? *process : process_of(gpu);
    const Energies& each = energies_of(gpu.dram_kind);
    const double scale = energy_scale(made, gpu.boost_mhz), loads = dram_bytes / 4, mm2 = area_of(gpu, &made).mm2;
    const double core = (multiply_adds + loads) * each.instruction.pj + multiply_adds * each.fp32.pj +
                        dram_bytes * (l2_energy(each, mm2).pj + each.l1.pj);
    return (core * scale + dram_bytes * each.dram.pj) * 1e-12 + mm2 * static_watts_a_mm2(gpu.boost_mhz);
}

}  // namespace lockstep::model
