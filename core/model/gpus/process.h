// What a transistor costs by the process that a chip is made in: area, energy and money, all against one of 7 nm. Estimates.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "core/model/gpus/gpu_spec.h"

namespace lockstep::model {

struct Process {
    std::string_view name;                 // "7nm", as the vendor calls it
    double logic = 1, sram = 1, pads = 1;  // area of the same part
    double energy = 1;                     // of the same operation
    double wafer_usd = 0;                  // 300 mm
    double defects = 0.09;                 // a cm2, once it is in volume
    std::string_view source;
    std::string_view price_source;
};

std::span<const Process> processes();
// That in which GPUs of this compute capability were made.
const Process& process_of(const GpuSpec&);
const Process* process_named(std::string_view name);  // null: there is none

// Energy of one operation at 7 nm and 1,410 MHz, in pJ, as a board draws it. DRAM's is its own in every process.
struct OperationEnergy {
    std::string_view name;  // "FP32 multiply-add"
    std::string_view unit;  // "a lane", "a byte"
    double pj = 0;
    std::string_view source;
};
struct Energies {
    OperationEnergy instruction, integer, fp32, fp64, half_pair, special, tensor, shared, l1, l2, dram;
};
const Energies& energies_of(DramKind);
// What the energies of the table, but DRAM's, are multiplied by in this process at this clock.
double energy_scale(const Process&, double mhz);
// L2's, on a die of that area: the way to an SM is as long as the die. `l2` of the table is that of 826 mm2.
OperationEnergy l2_energy(const Energies&, double mm2);
double static_watts_a_mm2(double mhz);  // clocks and leakage, of all of a die

}  // namespace lockstep::model
