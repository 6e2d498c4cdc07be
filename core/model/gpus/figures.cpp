// A GPU's figures one by one, each with its label, unit and source: the table behind `lockstep gpus NAME`, and what the test
// reads that no figure stands without its source.
#include "core/model/gpus/gpu_spec.h"

namespace lockstep::model {

std::vector<SpecFigure> figures_of(const GpuSpec& gpu) {
#define FIGURE(field, label, unit) SpecFigure{#field, label, unit, static_cast<double>(gpu.field.value), gpu.field.source}
    std::vector<SpecFigure> figures = {
        FIGURE(sms, "SMs", ""),
        FIGURE(sub_cores, "sub-cores an SM", ""),
        FIGURE(issue_width, "dispatches a sub-core", "per cycle"),
        FIGURE(warps_per_sm, "resident warps an SM", ""),
        FIGURE(blocks_per_sm, "resident blocks an SM", ""),
        FIGURE(registers_per_sm, "registers an SM", "32 bit"),
        FIGURE(register_unit, "register allocation unit", "per warp"),
        FIGURE(warp_granule, "warps rounded down to", ""),
        FIGURE(block_warp_granule, "warps of a block rounded up to", ""),
        FIGURE(shared_per_sm, "shared memory an SM", "bytes"),
        FIGURE(shared_per_block, "shared memory a block, at most", "bytes"),
        FIGURE(shared_granule, "shared memory granule", "bytes"),
        FIGURE(shared_reserved, "shared memory reserved a block", "bytes"),
        FIGURE(fp32_lanes, "FP32 lanes a sub-core", "per cycle"),
        FIGURE(int_lanes, "integer lanes a sub-core", "per cycle"),
        FIGURE(fp16x2_lanes, "FP16 pair lanes a sub-core", "per cycle"),
        FIGURE(fp64_lanes, "FP64 lanes a sub-core", "per cycle"),
        FIGURE(sfu_lanes, "special function lanes a sub-core", "per cycle"),
        FIGURE(lsu_lanes, "load/store lanes a sub-core", "per cycle"),
        FIGURE(register_reads, "register operands a sub-core", "per cycle"),
        FIGURE(int_shares_fp32, "integers share the FP32 lanes", "0 or 1"),
        FIGURE(imad_shares_fp32, "integer multiply-adds share the FP32 lanes", "0 or 1"),
        FIGURE(fp32_latency, "FP32 latency", "cycles"),
        FIGURE(int_latency, "integer latency", "cycles"),
        FIGURE(imad_latency, "integer multiply-add latency", "cycles"),
        FIGURE(folds_ptx, "PTX is folded as ptxas does", "0 or 1"),
        FIGURE(fp16_latency, "FP16 pair latency", "cycles"),
        FIGURE(fp64_latency, "FP64 latency", "cycles"),
        FIGURE(sfu_latency, "special function latency", "cycles"),
        FIGURE(branch_latency, "branch latency", "cycles"),
        FIGURE(barrier_latency, "barrier latency", "cycles"),
        FIGURE(shared_latency, "shared memory latency", "cycles"),
        FIGURE(shuffle_latency, "shuffle latency", "cycles"),
        FIGURE(constant_latency, "constant cache latency", "cycles"),
        FIGURE(l1_latency, "L1 hit latency", "cycles"),
        FIGURE(l2_latency, "L2 hit latency", "cycles"),
        FIGURE(dram_latency, "DRAM latency", "cycles"),
        FIGURE(fence_latency, "fence latency", "cycles"),
        FIGURE(atomic_latency, "an atomic's answer later than a load's", "cycles"),
        FIGURE(l1_bytes, "L1 and shared memory, together", "bytes"),
        FIGURE(l1_ways, "L1 ways", ""),
        FIGURE(l1_mshrs, "L1 misses under way", ""),
        FIGURE(l1_bytes_per_cycle, "L1 bandwidth an SM", "B/cycle"),
        FIGURE(lsu_interval, "memory instructions of an SM, one in", "cycles"),
        FIGURE(l1_tag_overhead, "L1's tags held beside the lines", "cycles"),
        FIGURE(l1_caches_loads, "L1 caches global loads by default", "0 or 1"),
        FIGURE(constant_l1_bytes, "constant cache", "bytes"),
        FIGURE(constant_l15_bytes, "constant cache, second level", "bytes"),
        FIGURE(constant_l15_latency, "constant cache latency, second level", "cycles"),
        FIGURE(constant_load_latency, "constant load latency, address in a register", "cycles"),
        FIGURE(constant_miss_interval, "misses of the second constant cache, one in", "cycles"),
        FIGURE(texture_latency, "texture fetch latency, L1 hit", "cycles"),
        FIGURE(texture_lanes, "texture fetches an SM", "per cycle"),
        FIGURE(sm_read_bytes_per_cycle, "an SM's port from L2", "B/cycle"),
        FIGURE(sm_write_bytes_per_cycle, "an SM's port to L2", "B/cycle"),
        FIGURE(tlb_bytes, "TLB of an SM covers", "bytes"),
        FIGURE(page_bytes, "page", "bytes"),
        FIGURE(tlb_miss_latency, "a TLB miss adds", "cycles"),
        FIGURE(l2_bytes, "L2", "bytes"),
        FIGURE(l2_ways, "L2 ways", ""),
        FIGURE(l2_slices, "L2 slices", ""),
        FIGURE(l2_bytes_per_cycle, "L2 bandwidth", "B/cycle"),
        FIGURE(atomic_cycles, "atomics on a sector at L2", "cycles"),
        FIGURE(half_atomic_cycles, "atomic sum of a half at L2", "cycles"),
        FIGURE(half2_atomic_cycles, "atomic sum of a pair of halves at L2", "cycles"),
        FIGURE(l2_dirty_share, "of L2 that may wait to be written to DRAM", "of 1"),
        FIGURE(dram_channels, "DRAM channels", ""),
        FIGURE(dram_gb_per_second, "DRAM bandwidth", "GB/s"),
        FIGURE(instruction_bytes, "machine instruction", "bytes"),
        FIGURE(l0_code_bytes, "instruction cache a sub-core", "bytes"),
        FIGURE(l1_code_bytes, "instruction cache an SM", "bytes"),
        FIGURE(l1_code_latency, "instructions from the SM's cache", "cycles"),
        FIGURE(code_prefetch, "lines of instructions fetched ahead", "of 128 bytes"),
        FIGURE(blocks_per_cycle, "blocks started", "per cycle"),
        FIGURE(block_start_latency, "start of a block", "cycles"),
        FIGURE(dram_efficiency, "DRAM bandwidth that reads in order reach", "of 1"),
        FIGURE(dram_banks, "DRAM banks a channel", ""),
        FIGURE(dram_row_bytes, "DRAM row", "bytes"),
        FIGURE(dram_row_cycle_ns, "DRAM row cycle of a bank", "ns"),
        FIGURE(dram_activate_ns, "DRAM rows opened a channel, one in", "ns"),
        FIGURE(dram_turnaround_ns, "DRAM bus turnaround for 2 KiB of writes", "ns"),
        FIGURE(dram_loaded_ns, "wait of a read at a DRAM channel half in use", "ns"),
        FIGURE(dram_partial_bytes, "DRAM bus for a part of a sector written", "bytes"),
        FIGURE(lsu_queue, "memory instructions buffered", "per sub-core"),
        FIGURE(boost_mhz, "boost clock", "MHz"),
        FIGURE(launch_us, "host time to enqueue a kernel", "us"),
        FIGURE(launch_latency_us, "launch latency after that", "us"),
        FIGURE(launch_gap_us, "between two kernels of a stream", "us"),
        FIGURE(pcie_gb_per_second, "host link", "GB/s"),
        FIGURE(pinned_gb_per_second, "copies from pinned host memory", "GB/s"),
        FIGURE(pageable_gb_per_second, "copies from pageable host memory", "GB/s"),
        FIGURE(nvlink_gb_per_second, "NVLink, both directions", "GB/s"),
        FIGURE(copy_latency_us, "start of a copy to the GPU", "us"),
        FIGURE(copy_back_latency_us, "start of a copy from the GPU", "us"),
        FIGURE(copy_within_latency_us, "start of a copy within the GPU", "us"),
        FIGURE(copy_beside_share, "a copy's speed while another goes the other way", "of 1"),
        FIGURE(call_us, "host time of a call that starts nothing", "us"),
        FIGURE(allocate_us, "host time of an allocation", "us"),
        FIGURE(copy_engines, "copy engines", ""),
        FIGURE(connections, "hardware queues from the host", ""),
        FIGURE(concurrent_kernels, "kernels at once", ""),
        FIGURE(memory_gb, "memory", "GB"),
        FIGURE(fp32_tflops, "FP32 peak", "TFLOP/s"),
        FIGURE(fp64_tflops, "FP64 peak", "TFLOP/s"),
        FIGURE(fp16_tflops, "FP16 peak without tensor cores", "TFLOP/s"),
        FIGURE(fp16_tensor_tflops, "FP16 tensor peak", "TFLOP/s"),
        FIGURE(tf32_tensor_tflops, "TF32 tensor peak", "TFLOP/s"),
        FIGURE(mma_sync_share, "of them by mma.sync", "of 1"),
        FIGURE(year, "year", ""),
    };
    if (gpu.l2_far_latency != 0) figures.push_back(FIGURE(l2_far_latency, "L2 hit latency, far half", "cycles"));
    if (gpu.dram_far_latency != 0) figures.push_back(FIGURE(dram_far_latency, "DRAM latency, far half", "cycles"));
    if (gpu.registers_per_block != 0) figures.push_back(FIGURE(registers_per_block, "registers a block, at most", "32 bit"));
    if (gpu.fp32_peak_mhz != 0) figures.push_back(FIGURE(fp32_peak_mhz, "clock of the FP32 peak", "MHz"));
    if (gpu.lecture_mhz != 0) figures.push_back(FIGURE(lecture_mhz, "clock that lectures count with", "MHz"));
#undef FIGURE
    static constexpr std::string_view schedulers[] = {"scheduler: greedy then oldest", "scheduler: loose round robin",
                                                      "scheduler: greedy then youngest"};
    figures.push_back({"scheduler", schedulers[static_cast<size_t>(gpu.scheduler.value)], "",
                       static_cast<double>(gpu.scheduler.value), gpu.scheduler.source});
    static constexpr std::string_view kinds[] = {"DRAM: DDR", "DRAM: LPDDR", "DRAM: GDDR", "DRAM: HBM"};
    figures.push_back({"dram_kind", kinds[static_cast<size_t>(gpu.dram_kind.value)], "",
                       static_cast<double>(gpu.dram_kind.value), gpu.dram_kind.source});
    if (gpu.shared_carveouts.value[0] != 0 || gpu.shared_carveouts.value[1] != 0)
        for (const uint32_t& bytes : gpu.shared_carveouts.value)
            if (bytes != 0 || &bytes == gpu.shared_carveouts.value.data())
                figures.push_back({"shared_carveouts", "shared memory may take", "bytes", static_cast<double>(bytes),
                                   gpu.shared_carveouts.source});
    return figures;
}

}  // namespace lockstep::model
