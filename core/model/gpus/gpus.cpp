// The modelled GPUs: one row a GPU, every figure with its source. To add one, write a row and its line in `gpu_rows`; the
// tests walk the table. Sources in short:
//   white paper    the vendor's architecture white paper of that GPU; "guide": CUDA C++ Programming Guide, its tables of
//                  compute capabilities and of arithmetic throughput
//   micro-benchmark   a published measurement on the silicon; "recalled" when quoted from memory, to be checked
//   Accel-Sim      the configuration that the Accel-Sim project tuned for that GPU
//   estimate       no published figure; DEVIATIONS.md names what hangs on it
// The teaching GPU is a file, as one's own are: assets/gpus/teaching.toml (gpu_file.h).
#include "core/model/gpus/gpu_file.h"

namespace lockstep::model {
namespace {

constexpr std::string_view guide = "CUDA C++ Programming Guide, compute capabilities";
constexpr std::string_view throughput = "CUDA C++ Programming Guide, arithmetic throughput, divided by sub-cores";
constexpr std::string_view occupancy_rules = "CUDA occupancy calculator, allocation granularity";
constexpr std::string_view volta_paper = "NVIDIA V100 white paper, 2017";
constexpr std::string_view pascal_paper = "NVIDIA P100 white paper, 2016";
constexpr std::string_view ampere_paper = "NVIDIA A100 white paper, 2020";
constexpr std::string_view jia = "Jia et al. 2018, Volta by micro-benchmarks (recalled)";
constexpr std::string_view chase = "published pointer-chase micro-benchmark on this GPU";
constexpr std::string_view accel_sim_volta = "Accel-Sim, configuration SM7_QV100";
constexpr std::string_view accel_sim_ampere = "Accel-Sim, configuration SM80_A100";
constexpr std::string_view ptxas = "machine code that ptxas of CUDA 13 makes of our kernels";
constexpr std::string_view register_banks =
    "published study of Ampere's core (MICRO 2025, recalled): two banks, a read each a cycle";
constexpr std::string_view disassembly = "disassembly: 16 bytes, control bits in them";
constexpr std::string_view tiny_kernels = "gpu-benches, gpu-small-kernels: kernels back to back, less the kernel itself";
constexpr std::string_view tiny_as_v100 = "estimate: as measured on V100";
constexpr std::string_view empty_kernels = "published: 225 empty kernels on RTX 3090 take 347.5 us, with a graph 186.9";
constexpr std::string_view meeting =
    "gpu-benches, gpu-small-kernels: 4096 numbers and a barrier of the grid take 1.34 us, less their other parts";
constexpr std::string_view answer = "estimate: none, as no figure was published";
constexpr std::string_view block_start =
    "taken from V100, A100 and H200: gpu-benches, gpu-stream, 270, 270 and 230 ns from a block that stores a number to the "
    "next";
constexpr std::string_view estimate = "estimate, no published figure";
constexpr std::string_view strides_of_a100 = "taken from A100: published strides of L1 (gpu-benches, gpu-strides)";
constexpr std::string_view constant_misses =
    "from random reads of 64 KiB of constants, ten times what misses side by side would take (published; the figure is "
    "ours)";
constexpr std::string_view sums_of_3090 =
    "published sum of floats into one word on the RTX 3090, 9.9 GB/s: 2.7 cycles a lane at the boost clock";
constexpr std::string_view sums_of_h200 =
    "an H200's sums of blocks into one word (assets/silicon): 131,072 in 465 thousand cycles, of three kernels";
constexpr std::string_view half_sums =
    "from published sums of all lanes into one word: some 10 cycles a half, a loop of compare and swap, 3 a pair";
constexpr std::string_view partial_writes =
    "NVIDIA patent 9,110,809: a sector of which a part was written is read before it is written";
constexpr std::string_view crowded =
    "estimate: from published streams with a part of their warps (gpu-benches, gpu-stream), one figure for all";
constexpr std::string_view fma_heavy =
    "Nsight Compute's documentation: integer multiply-adds run on FMAHeavy, 16 of the 32 FP32 lanes";
constexpr std::string_view warp_products = "no wgmma here: the vendor's peaks are those of mma.sync";

constexpr std::string_view grids = "CUDA C++ Programming Guide, compute capabilities: resident grids a device";
constexpr std::string_view hyper_q = "CUDA C++ Programming Guide: CUDA_DEVICE_MAX_CONNECTIONS, 1 to 32 since 3.5";
constexpr std::string_view query = "deviceQuery on this GPU (recalled)";
constexpr std::string_view gen3_copy = "bandwidthTest over PCI Express 3.0, published many times (recalled)";
constexpr std::string_view gen4_copy = "bandwidthTest over PCI Express 4.0, published many times (recalled)";
constexpr std::string_view both_ways_of_h200 =
    "taken from an H200 (assets/silicon): 32 MiB each way at once take 672 us, one alone 610 or 613";
constexpr std::string_view copies_of_h200 = "taken from an H200 (assets/silicon): copies of 4 KiB between two events";
constexpr std::string_view staged = "estimate: the processor copies it to a pinned buffer first, half as fast or less";
constexpr std::string_view nvlink = "vendor's data sheet, both directions, all links";

constexpr uint32_t KiB = 1024, MiB = 1024 * 1024;
constexpr auto greedy = SchedulerPolicy::greedy_then_oldest;

constexpr GpuSpec p100 = {
    .name = "p100",
    .title = "Tesla P100 SXM2",
    .compute = {60},
    .sms = {56, pascal_paper},
    .sub_cores = {2, pascal_paper},
    .issue_width = {2, "NVIDIA P100 white paper, 2016: two dispatch units a warp scheduler"},
    .scheduler = {greedy, "estimate: the policy found on later GPUs"},
    .warps_per_sm = {64, guide},
    .blocks_per_sm = {32, guide},
    .registers_per_sm = {65536, guide},
    .register_unit = {256, occupancy_rules},
    .warp_granule = {2, occupancy_rules},
    .block_warp_granule = {4, "CUDA occupancy calculator: what other GPUs of the generation would refuse, P100 refuses too"},
    .shared_per_sm = {64 * KiB, guide},
    .shared_per_block = {48 * KiB, guide},
    .shared_granule = {256, occupancy_rules},
    .shared_reserved = {0, guide},
    .fp32_lanes = {32, pascal_paper},
    .int_lanes = {32, "CUDA C++ Programming Guide, arithmetic throughput: the FP32 lanes"},
    .fp64_lanes = {16, pascal_paper},
    .sfu_lanes = {8, throughput},
    .fp16x2_lanes = {32, throughput},
    .lsu_lanes = {8, pascal_paper},
    .register_reads = {4, "maxas, SGEMM on Maxwell: four banks"},
    .int_shares_fp32 = {1, "NVIDIA V100 white paper, 2017: separate integer lanes are new in Volta"},
    .imad_shares_fp32 = {1, estimate},
    .folds_ptx = {1, ptxas},
    .fp16_latency = {6, "estimate: as FP32, on whose lanes it runs"},
    .fp32_latency = {6, "published micro-benchmark: 6 cycles for dependent FP32 and simple integer"},
    .int_latency = {6, "published micro-benchmark: 6 cycles for dependent FP32 and simple integer"},
    .imad_latency = {18, "estimate: three dependent XMADs of 6 cycles"},
    .fp64_latency = {8, jia},
    .sfu_latency = {18, "estimate within the published 14 to 23 cycles"},
    .branch_latency = {12, estimate},
    .barrier_latency = {24, estimate},
    .shared_latency = {24, jia},
    .shuffle_latency = {24, "estimate: as a shared-memory load"},
    .constant_latency = {6, "estimate: as an operand of an arithmetic instruction"},
    .l1_latency = {82, jia},
    .l2_latency = {234, jia},
    .dram_latency = {492, "estimate: L2 latency plus the DRAM part of V100 scaled to this clock"},
    .fence_latency = {1084, "estimate: as on A100"},
    .atomic_latency = {0, answer},
    .l1_bytes = {24 * KiB, "NVIDIA P100 white paper, 2016: L1/texture cache apart from shared memory"},
    .l1_mshrs = {256, "estimate: half of Volta's"},
    .l2_bytes = {4 * MiB, pascal_paper},
    .l2_slices = {32, "estimate: one slice a DRAM channel"},
    .dram_channels = {32, "HBM2: 4 stacks of 8 channels"},
    .dram_kind = {DramKind::hbm, pascal_paper},
    .l1_ways = {16, estimate},
    .l2_ways = {16, estimate},
    .shared_carveouts = {{}, "NVIDIA P100 white paper, 2016: 64 KB of shared memory of its own"},
    .l1_bytes_per_cycle = {64, "estimate: half of Volta's"},
    .lsu_interval = {1, "estimate: no bound of its own; the SM's 16 load/store units are lsu_lanes of its sub-cores"},
    .l1_tag_overhead = {0, "estimate: no figure; four tags of different sets a cycle, a cycle for four sectors"},
    .l1_caches_loads = {1, "CUDA Pascal tuning guide: GP100 caches global loads in L1 by default"},
    .constant_l1_bytes = {2 * KiB, jia},
    .constant_l15_bytes = {32 * KiB, jia},
    .constant_l15_latency = {78, "96 for a load (Jia et al. 2018, recalled), less what a load takes longer than an operand"},
    .constant_load_latency = {24, jia},
    .constant_miss_interval = {14, constant_misses},
    .texture_latency = {100, estimate},
    .texture_lanes = {4, guide},
    .sm_read_bytes_per_cycle = {32, estimate},
    .sm_write_bytes_per_cycle = {32, estimate},
    .l2_far_latency = {0, "one L2"},
    .dram_far_latency = {0, "one L2"},
    .atomic_cycles = {3, "taken from A100: sums of pairs of halves into one word, published"},
    .half_atomic_cycles = {10, half_sums},
    .half2_atomic_cycles = {3, half_sums},
    .l2_dirty_share = {1, estimate},
    .tlb_bytes = {32 * MiB, jia},
    .page_bytes = {2 * MiB, "micro-benchmarks: pages of cudaMalloc"},
    .tlb_miss_latency = {150, estimate},
    .dram_efficiency =
        {0.78, "69 to 74 % of the peak measured on PCIe boards where a part is writes (Jia et al. 2019 among them)"},
    .dram_banks = {32, "HBM2: two pseudo-channels of 16 banks"},
    .dram_row_bytes = {1024, "HBM2: row of a pseudo-channel"},
    .dram_row_cycle_ns = {45, "estimate within JEDEC's HBM2 figures"},
    .dram_activate_ns = {2, "estimate: four rows in 16 ns, two pseudo-channels"},
    .dram_turnaround_ns = {12, "estimate: as on V100"},
    .dram_loaded_ns = {35, crowded},
    .dram_partial_bytes = {64, partial_writes},
    .l2_bytes_per_cycle = {1024, "estimate: 32 bytes a slice and cycle"},
    .dram_gb_per_second = {732, pascal_paper},
    .instruction_bytes = {8, "disassembly: 8 bytes; the control words between them are left out"},
    .l0_code_bytes = {8 * KiB, jia},
    .l1_code_bytes = {128 * KiB, jia},
    .l1_code_latency = {32, "estimate: as a hit in L1"},
    .code_prefetch = {16,
                      "estimate from a published study of Ampere's core (MICRO 2025, recalled): a stream of 16 lines comes "
                      "close to perfect"},
    .blocks_per_cycle = {1, estimate},
    .block_start_latency = {250, block_start},
    .lsu_queue = {5, "estimate: as measured on Ampere"},
    .boost_mhz = {1480, pascal_paper},
    .launch_us = {1.5, empty_kernels},
    .launch_latency_us = {3.0, estimate},
    .launch_gap_us = {1.8, tiny_as_v100},
    .pcie_gb_per_second = {15.75, "PCI Express 3.0, 16 lanes"},
    .pinned_gb_per_second = {12.5, gen3_copy},
    .pageable_gb_per_second = {6, staged},
    .nvlink_gb_per_second = {160, nvlink},
    .copy_latency_us = {5.4, copies_of_h200},
    .copy_back_latency_us = {4.1, copies_of_h200},
    .copy_within_latency_us = {1.6, copies_of_h200},
    .copy_beside_share = {0.91, both_ways_of_h200},
    .call_us = {1, estimate},
    .allocate_us = {20, "estimate: small blocks take less, large ones up to a few hundred"},
    .copy_engines = {2, query},
    .connections = {32, hyper_q},
    .concurrent_kernels = {128, grids},
    .fp32_tflops = {10.6, pascal_paper},
    .fp64_tflops = {5.3, pascal_paper},
    .fp16_tensor_tflops = {0, "no tensor cores; 21.2 TFLOP/s of FP16 on the FP32 lanes"},
    .memory_gb = {16, pascal_paper},
    .fp16_tflops = {21.2, pascal_paper},
    .tf32_tensor_tflops = {0, "no tensor cores"},
    .mma_sync_share = {1, "no tensor cores"},
    .year = {2016, pascal_paper},
};

constexpr GpuSpec v100 = {
    .name = "v100",
    .title = "Tesla V100 SXM2",
    .compute = {70},
    .sms = {80, volta_paper},
    .sub_cores = {4, volta_paper},
    .issue_width = {1, "NVIDIA V100 white paper, 2017: one warp instruction a clock and sub-core"},
    .scheduler = {greedy, "estimate: the policy found on later GPUs"},
    .warps_per_sm = {64, guide},
    .blocks_per_sm = {32, guide},
    .registers_per_sm = {65536, guide},
    .register_unit = {256, occupancy_rules},
    .warp_granule = {4, occupancy_rules},
    .block_warp_granule = {4, occupancy_rules},
    .shared_per_sm = {96 * KiB, guide},
    .shared_per_block = {96 * KiB, guide},
    .shared_granule = {256, occupancy_rules},
    .shared_reserved = {0, guide},
    .fp32_lanes = {16, volta_paper},
    .int_lanes = {16, volta_paper},
    .fp64_lanes = {8, volta_paper},
    .sfu_lanes = {4, volta_paper},
    .fp16x2_lanes = {16, throughput},
    .lsu_lanes = {8, volta_paper},
    .register_reads = {2, register_banks},
    .int_shares_fp32 = {0, volta_paper},
    .imad_shares_fp32 = {1, estimate},
    .folds_ptx = {1, ptxas},
    .fp16_latency = {6, "Jia et al. 2018, Volta by micro-benchmarks (recalled): HFMA2"},
    .fp32_latency = {4, "published micro-benchmark: 4 cycles for dependent FP32 and simple integer"},
    .int_latency = {4, "published micro-benchmark: 4 cycles for dependent FP32 and simple integer"},
    .imad_latency = {5, "published micro-benchmark: 5 cycles for dependent IMAD on Volta and Turing"},
    .fp64_latency = {8, "published micro-benchmark: 8 cycles for dependent DFMA"},
    .sfu_latency = {14, "Jia et al. 2018, Volta by micro-benchmarks (recalled): MUFU"},
    .branch_latency = {8, estimate},
    .barrier_latency = {22, "published synchronisation micro-benchmark (recalled)"},
    .shared_latency = {19, jia},
    .shuffle_latency = {23, "published micro-benchmarks: 23 to 26 cycles"},
    .constant_latency = {4, "published micro-benchmark on Turing: a hit in the nearest constant cache"},
    .l1_latency = {28, chase},
    .l2_latency = {212, chase},
    .dram_latency = {425, chase},
    .fence_latency = {1084, "estimate: as on A100"},
    .atomic_latency = {0, answer},
    .l1_bytes = {128 * KiB, volta_paper},
    .l1_mshrs = {512, accel_sim_volta},
    .l2_bytes = {6 * MiB, volta_paper},
    .l2_slices = {64, accel_sim_volta},
    .dram_channels = {32, "HBM2: 4 stacks of 8 channels"},
    .dram_kind = {DramKind::hbm, volta_paper},
    .l1_ways = {16, "estimate: 64 ways in Accel-Sim act alike on these set hashes"},
    .l2_ways = {24, accel_sim_volta},
    .shared_carveouts = {{0, 8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 96 * KiB}, guide},
    .l1_bytes_per_cycle = {128, volta_paper},
    .lsu_interval = {1, "CUDA C++ Programming Guide: 32 load/store units an SM"},
    .l1_tag_overhead = {0.6, strides_of_a100},
    .l1_caches_loads = {1, volta_paper},
    .constant_l1_bytes = {2 * KiB, jia},
    .constant_l15_bytes = {64 * KiB, jia},
    .constant_l15_latency = {66, "89 for a load (Jia et al. 2018, recalled), less what a load takes longer than an operand"},
    .constant_load_latency = {27, jia},
    .constant_miss_interval = {14, constant_misses},
    .texture_latency = {86, estimate},
    .texture_lanes = {4, guide},
    .sm_read_bytes_per_cycle = {64, accel_sim_volta},
    .sm_write_bytes_per_cycle = {32, accel_sim_volta},
    .l2_far_latency = {0, "one L2"},
    .dram_far_latency = {0, "one L2"},
    .atomic_cycles = {3, "taken from A100: sums of pairs of halves into one word, published"},
    .half_atomic_cycles = {10, half_sums},
    .half2_atomic_cycles = {3, half_sums},
    .l2_dirty_share = {1, estimate},
    .tlb_bytes = {32 * MiB, jia},
    .page_bytes = {2 * MiB, "micro-benchmarks: pages of cudaMalloc"},
    .tlb_miss_latency = {140, "estimate: the walk measured on A100 at this clock"},
    .dram_efficiency = {0.97, "867 of 900 GB/s measured: what reads in order reach; the rest is refresh"},
    .dram_banks = {32, "HBM2: two pseudo-channels of 16 banks"},
    .dram_row_bytes = {1024, "HBM2: row of a pseudo-channel"},
    .dram_row_cycle_ns = {45, "estimate within JEDEC's HBM2 figures"},
    .dram_activate_ns = {2, "estimate: four rows in 16 ns, two pseudo-channels"},
    .dram_turnaround_ns = {12,
                           "from published streams of this GPU (gpu-benches): 866 GB/s read, 802 copied, 814 of a triad"},
    .dram_loaded_ns = {35, crowded},
    .dram_partial_bytes = {64, partial_writes},
    .l2_bytes_per_cycle = {2048, "64 slices of 32 bytes a cycle"},
    .dram_gb_per_second = {900, volta_paper},
    .instruction_bytes = {16, jia},
    .l0_code_bytes = {12 * KiB, jia},
    .l1_code_bytes = {128 * KiB, jia},
    .l1_code_latency = {28, "estimate: as a hit in L1"},
    .code_prefetch = {16,
                      "estimate from a published study of Ampere's core (MICRO 2025, recalled): a stream of 16 lines comes "
                      "close to perfect"},
    .blocks_per_cycle = {1, estimate},
    .block_start_latency = {250, block_start},
    .lsu_queue = {5, "estimate: as measured on Ampere"},
    .boost_mhz = {1530, volta_paper},
    .lecture_mhz = {1245, "university lectures on the V100: 12.7 TFLOP/s FP32 and 102 TFLOP/s tensor at 1.245 GHz"},
    .launch_us = {1.5, empty_kernels},
    .launch_latency_us = {3.0, estimate},
    .launch_gap_us = {1.8, tiny_kernels},
    .pcie_gb_per_second = {15.75, "PCI Express 3.0, 16 lanes"},
    .pinned_gb_per_second = {12.5, gen3_copy},
    .pageable_gb_per_second = {6, staged},
    .nvlink_gb_per_second = {300, nvlink},
    .copy_latency_us = {5.4, copies_of_h200},
    .copy_back_latency_us = {4.1, copies_of_h200},
    .copy_within_latency_us = {1.6, copies_of_h200},
    .copy_beside_share = {0.91, both_ways_of_h200},
    .call_us = {1, estimate},
    .allocate_us = {20, "estimate: small blocks take less, large ones up to a few hundred"},
    .copy_engines = {5, query},
    .connections = {32, hyper_q},
    .concurrent_kernels = {128, grids},
    .fp32_tflops = {15.7, volta_paper},
    .fp64_tflops = {7.8, volta_paper},
    .fp16_tensor_tflops = {125, volta_paper},
    .memory_gb = {16, volta_paper},
    .fp16_tflops = {31.4, volta_paper},
    .tf32_tensor_tflops = {0, "no TF32 before Ampere"},
    .mma_sync_share = {1, warp_products},
    .year = {2017, volta_paper},
};

constexpr GpuSpec a100 = {
    .name = "a100",
    .title = "A100 SXM4 40 GB",
    .compute = {80},
    .sms = {108, ampere_paper},
    .sub_cores = {4, ampere_paper},
    .issue_width = {1, ampere_paper},
    .scheduler = {SchedulerPolicy::greedy_then_youngest,
                  "published study of Ampere's core (MICRO 2025): greedy, then the youngest"},
    .warps_per_sm = {64, guide},
    .blocks_per_sm = {32, guide},
    .registers_per_sm = {65536, guide},
    .register_unit = {256, occupancy_rules},
    .warp_granule = {4, occupancy_rules},
    .block_warp_granule = {4, occupancy_rules},
    .shared_per_sm = {164 * KiB, guide},
    .shared_per_block = {163 * KiB, guide},
    .shared_granule = {128, occupancy_rules},
    .shared_reserved = {1024, guide},
    .fp32_lanes = {16, ampere_paper},
    .int_lanes = {16, ampere_paper},
    .fp64_lanes = {8, ampere_paper},
    .sfu_lanes = {4, ampere_paper},
    .fp16x2_lanes = {32, throughput},
    .lsu_lanes = {8, ampere_paper},
    .register_reads = {2, register_banks},
    .int_shares_fp32 = {0, ampere_paper},
    .imad_shares_fp32 = {1, estimate},
    .folds_ptx = {1, ptxas},
    .fp16_latency = {4, "taken from GA10x, of the same generation: measured, quoted in a public repository"},
    .fp32_latency = {4, "published micro-benchmark: 4 cycles for dependent FP32 and simple integer"},
    .int_latency = {4, "published micro-benchmark: 4 cycles for dependent FP32 and simple integer"},
    .imad_latency = {4, "published micro-benchmark: 4 cycles for dependent IMAD"},
    .fp64_latency = {8, "estimate: as measured on V100"},
    .sfu_latency = {23, accel_sim_ampere},
    .branch_latency = {8, estimate},
    .barrier_latency = {22, "estimate: as on V100"},
    .shared_latency = {23, "measured, quoted in a public repository"},
    .shuffle_latency = {23, "published micro-benchmarks: 23 to 26 cycles"},
    .constant_latency = {4, "published micro-benchmark on Turing: a hit in the nearest constant cache"},
    .l1_latency = {33, chase},
    .l2_latency = {206, "published pointer-chase micro-benchmark on this GPU: the near half of L2 (247 in the far half)"},
    .dram_latency = {406, "published pointer-chase micro-benchmark on this GPU: without misses of the TLB (536 with)"},
    .fence_latency = {1084, meeting},
    .atomic_latency = {0, answer},
    .l1_bytes = {192 * KiB, ampere_paper},
    .l1_mshrs = {512, accel_sim_ampere},
    .l2_bytes = {40 * MiB, ampere_paper},
    .l2_slices = {80, ampere_paper},
    .dram_channels = {40, "HBM2: 5 stacks of 8 channels"},
    .dram_kind = {DramKind::hbm, ampere_paper},
    .l1_ways = {16, "estimate: 64 ways in Accel-Sim act alike on these set hashes"},
    .l2_ways = {16, accel_sim_ampere},
    .shared_carveouts = {{0, 8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 100 * KiB, 132 * KiB, 164 * KiB}, guide},
    .l1_bytes_per_cycle = {128, "19.1 TB/s measured over 108 SMs at 1410 MHz are 125 bytes a cycle"},
    .lsu_interval = {1, "CUDA C++ Programming Guide: 32 load/store units an SM"},
    .l1_tag_overhead = {0.6, "published strides of L1 on this GPU (gpu-benches, gpu-strides): lines / 4 + 0.6"},
    .l1_caches_loads = {1, ampere_paper},
    .constant_l1_bytes = {2 * KiB, "estimate: as on V100"},
    .constant_l15_bytes = {64 * KiB, "estimate: as on V100"},
    .constant_l15_latency = {62, "published micro-benchmark on Turing: a hit in the second constant cache"},
    .constant_load_latency = {29, "published study of Ampere's core: LDC, address in a register (26 where it is uniform)"},
    .constant_miss_interval = {14, constant_misses},
    .texture_latency = {90, estimate},
    .texture_lanes = {4, guide},
    .sm_read_bytes_per_cycle = {64, accel_sim_ampere},
    .sm_write_bytes_per_cycle = {32, accel_sim_ampere},
    .l2_far_latency = {247, "published pointer-chase micro-benchmark on this GPU: the far half of L2"},
    .dram_far_latency = {0, "estimate: no figure is known that tells the halves apart"},
    .atomic_cycles = {3, "published sums of pairs of halves into one word, 3 cycles each"},
    .half_atomic_cycles = {10, half_sums},
    .half2_atomic_cycles = {3, half_sums},
    .l2_dirty_share = {1, estimate},
    .tlb_bytes = {128 * MiB, "estimate: where published pointer chases begin to rise"},
    .page_bytes = {2 * MiB, "micro-benchmarks: pages of cudaMalloc"},
    .tlb_miss_latency =
        {130, "published pointer-chase micro-benchmark on this GPU: 536 cycles with misses of the TLB, 406 without"},
    .dram_efficiency =
        {0.965, "1503 of 1555 GB/s measured on this GPU (gpu-benches: initialising; 1490 still rising where reading)"},
    .dram_banks = {32, "HBM2: two pseudo-channels of 16 banks"},
    .dram_row_bytes = {1024, "HBM2: row of a pseudo-channel"},
    .dram_row_cycle_ns = {45, "estimate within JEDEC's HBM2 figures"},
    .dram_activate_ns = {2, "estimate: four rows in 16 ns, two pseudo-channels"},
    .dram_turnaround_ns = {12,
                           "from published streams of this GPU (gpu-benches): 1490 GB/s read, 1381 copied, 1360 of a triad"},
    .dram_loaded_ns = {35, crowded},
    .dram_partial_bytes = {64, partial_writes},
    .l2_bytes_per_cycle =
        {3870, "5.4 TB/s measured on this GPU at 1410 MHz, reached here with 99 % of this; 5120 in the white paper"},
    .dram_gb_per_second = {1555, ampere_paper},
    .instruction_bytes = {16, disassembly},
    .l0_code_bytes = {32 * KiB, "published study of Ampere's core (MICRO 2025, recalled)"},
    .l1_code_bytes = {128 * KiB, "published study of Ampere's core (MICRO 2025, recalled)"},
    .l1_code_latency = {33, "estimate: as a hit in L1"},
    .code_prefetch = {16,
                      "estimate from a published study of Ampere's core (MICRO 2025, recalled): a stream of 16 lines comes "
                      "close to perfect"},
    .blocks_per_cycle = {1, estimate},
    .block_start_latency = {250, block_start},
    .lsu_queue = {5, "published study of Ampere's core: 5 memory instructions buffered a sub-core"},
    .boost_mhz = {1410, ampere_paper},
    .launch_us = {1.5, empty_kernels},
    .launch_latency_us = {3.0, estimate},
    .launch_gap_us = {2.2, tiny_kernels},
    .pcie_gb_per_second = {31.5, "PCI Express 4.0, 16 lanes"},
    .pinned_gb_per_second = {25, gen4_copy},
    .pageable_gb_per_second = {10, staged},
    .nvlink_gb_per_second = {600, nvlink},
    .copy_latency_us = {5.4, copies_of_h200},
    .copy_back_latency_us = {4.1, copies_of_h200},
    .copy_within_latency_us = {1.6, copies_of_h200},
    .copy_beside_share = {0.91, both_ways_of_h200},
    .call_us = {1, estimate},
    .allocate_us = {20, "estimate: small blocks take less, large ones up to a few hundred"},
    .copy_engines = {3, query},
    .connections = {32, hyper_q},
    .concurrent_kernels = {128, grids},
    .fp32_tflops = {19.5, ampere_paper},
    .fp64_tflops = {9.7, ampere_paper},
    .fp16_tensor_tflops = {312, ampere_paper},
    .memory_gb = {40, ampere_paper},
    .fp16_tflops = {78, ampere_paper},
    .tf32_tensor_tflops = {156, ampere_paper},
    .mma_sync_share = {1, warp_products},
    .year = {2020, ampere_paper},
};

// The rows below say only where they differ from the row that they begin with; the rest keeps that row's figure and source.
constexpr std::string_view maxwell_data = "NVIDIA Jetson Nano data sheet; GM20B is a Maxwell SM";
constexpr std::string_view ga102_paper = "NVIDIA GA102 white paper, 2020";
constexpr std::string_view ada_paper = "NVIDIA Ada white paper, 2022";
constexpr std::string_view hopper_paper = "NVIDIA H100 white paper, 2022";
constexpr std::string_view h200_data = "NVIDIA H200 data sheet, 2023";
constexpr std::string_view recalled_sheet = "vendor's data sheet (recalled)";
constexpr std::string_view as_a100 = "estimate: as on A100";
constexpr std::string_view as_a100_simulated = "estimate: as in Accel-Sim's configuration of A100";
constexpr std::string_view as_p100 = "estimate: as on P100";
constexpr std::string_view chase_of_a100 = "taken from A100 40 GB, of the same die: published pointer-chase micro-benchmark";
constexpr std::string_view chase_of_ga102 = "taken from RTX 3090, of the same die: published pointer-chase micro-benchmark";
constexpr std::string_view chase_of_h100 = "taken from H100, of the same die: published pointer-chase micro-benchmark";
constexpr std::string_view ga10x = "measured on GA10x, quoted in a public repository";
constexpr std::string_view of_ga10x = "taken from GA10x, of the generation before: measured, quoted in a public repository";
constexpr std::string_view of_hbm2 = "taken from HBM2: two pseudo-channels of 16 banks";
constexpr std::string_view row_of_hbm2 = "taken from HBM2: row of a pseudo-channel";

// The copy engines that another board's deviceQuery shows, where this one's was not at hand.
constexpr std::string_view engines_of_a100 = "taken from A100 40 GB: deviceQuery (recalled)";
constexpr std::string_view engines_of_ga102 = "taken from RTX 3090: deviceQuery (recalled)";

constexpr GpuSpec jetson_nano = [] {
    GpuSpec g = p100;
    g.name = "jetson-nano";
    g.title = "Jetson Nano (GM20B)";
    g.compute = {53};
    g.sms = {1, maxwell_data};
    g.sub_cores = {4, "NVIDIA GTX 980 white paper, 2014: four sub-cores an SM"};
    g.issue_width = {2, "NVIDIA GTX 980 white paper, 2014: two dispatch units a warp scheduler"};
    g.registers_per_block = {32768, guide};
    g.warp_granule = {4, occupancy_rules};
    g.block_warp_granule = {4, occupancy_rules};
    g.shared_per_sm = {64 * KiB, guide};
    g.fp32_lanes = {32, maxwell_data};
    g.fp64_lanes = {1, "CUDA C++ Programming Guide, arithmetic throughput: 4 results an SM and cycle"};
    g.l1_bytes = {24 * KiB, as_p100};
    g.lsu_lanes.source = maxwell_data;
    g.lsu_interval.source = "CUDA C++ Programming Guide: 32 load/store units an SM";
    g.int_shares_fp32.source = "CUDA C++ Programming Guide, arithmetic throughput: the FP32 lanes";
    g.fp64_latency.source = g.shared_latency.source = g.l1_latency.source = g.l2_latency.source = as_p100;
    g.constant_l1_bytes.source = g.constant_l15_bytes.source = g.constant_load_latency.source = as_p100;
    g.constant_l15_latency.source = g.tlb_bytes.source = g.l0_code_bytes.source = g.l1_code_bytes.source = as_p100;
    g.l2_bytes = {256 * KiB, maxwell_data};
    g.l2_slices = {2, estimate};
    g.dram_channels = {1, "64 bits of LPDDR4"};
    g.dram_kind = {DramKind::lpddr, maxwell_data};
    g.l2_bytes_per_cycle = {64, "estimate: 32 bytes a slice and cycle"};
    g.dram_latency = {360, "estimate: L2 latency plus about 140 ns at this clock"};
    g.dram_gb_per_second = {25.6, maxwell_data};
    g.boost_mhz = {921.6, maxwell_data};
    g.pcie_gb_per_second = {25.6, "estimate: host and GPU share one memory, a copy runs at most at its bandwidth"};
    g.pinned_gb_per_second = {10.2, "estimate: a copy reads and writes the one memory, at 80 % of its bandwidth"};
    g.pageable_gb_per_second = {5, staged};
    g.nvlink_gb_per_second = {0, "no NVLink"};
    g.copy_engines = {1, query};
    g.concurrent_kernels = {16, grids};
    g.fp32_tflops = {0.236, maxwell_data};
    g.fp64_tflops = {0.0074, "4 results x 2 x 921.6 MHz"};
    g.fp16_tensor_tflops = {0, "no tensor cores"};
    g.memory_gb = {4, "vendor's data sheet (recalled): shared with the processor"};
    g.l1_caches_loads = {0, "CUDA Maxwell tuning guide: global loads are cached in L2 only, unless asked"};
    g.dram_banks = {8, "LPDDR4: 8 banks a channel"};
    g.dram_row_bytes = {2048, "LPDDR4"};
    g.dram_row_cycle_ns = {60, "LPDDR4"};
    g.dram_activate_ns = {10, "LPDDR4"};
    g.dram_efficiency = {0.9, estimate};
    g.fp16_tflops = {0.472, maxwell_data};
    g.tf32_tensor_tflops = {0, "no tensor cores"};
    g.mma_sync_share.source = "no tensor cores";
    g.year = {2019, maxwell_data};
    return g;
}();

constexpr GpuSpec a100_80 = [] {
    GpuSpec g = a100;
    g.name = "a100-80";
    g.title = "A100 SXM4 80 GB";
    g.l1_tag_overhead.source = strides_of_a100;
    g.l1_latency.source = chase_of_a100;
    g.l2_latency.source = "taken from A100 40 GB, of the same die: pointer chase, the near half of L2 (247 in the far half)";
    g.dram_latency.source = "taken from A100 40 GB: pointer chase, without misses of the TLB (536 with)";
    g.l2_far_latency.source = "taken from A100 40 GB, of the same die: pointer chase, the far half of L2";
    g.tlb_miss_latency.source =
        "taken from A100 40 GB, of the same die: pointer chase, 536 cycles with misses of the TLB, 406 without";
    g.l2_bytes_per_cycle.source =
        "taken from A100 40 GB, of the same die: 5.4 TB/s measured at 1410 MHz; 5120 in the white paper";
    g.dram_channels.source = "HBM2e: 5 stacks of 8 channels";
    g.dram_kind.source = "NVIDIA A100 80 GB data sheet";
    g.dram_banks.source = of_hbm2;
    g.dram_row_bytes.source = row_of_hbm2;
    g.dram_row_cycle_ns.source = "estimate within JEDEC's figures for HBM2 and HBM2e";
    g.copy_engines.source = engines_of_a100;
    g.dram_efficiency = {0.92,
                         "1870 of 2039 GB/s measured on this GPU (gpu-benches: reads of 76 to 160 MB; 1890 initialising)"};
    g.dram_turnaround_ns = {
        8, "from published streams of this GPU (gpu-benches): 1880 GB/s written, 1732 copied, 1759 of a triad"};
    g.dram_gb_per_second = {2039, "NVIDIA A100 80 GB data sheet"};
    g.memory_gb = {80, "NVIDIA A100 80 GB data sheet"};
    return g;
}();

constexpr GpuSpec rtx3090 = [] {
    GpuSpec g = a100;
    g.name = "rtx3090";
    g.atomic_cycles = {2.7, sums_of_3090};
    g.title = "GeForce RTX 3090";
    g.l1_tag_overhead.source = "taken from A40, of the same die: published strides of L1 (gpu-benches, gpu-strides)";
    g.fp16_latency.source = ga10x;
    g.compute = {86};
    g.sub_cores.source = g.issue_width.source = g.sfu_lanes.source = g.lsu_lanes.source = ga102_paper;
    g.int_shares_fp32.source =
        "NVIDIA GA102 white paper, 2020: 16 of 32 lanes take either; one dispatch a cycle bounds both as well";
    g.l1_caches_loads.source = g.l1_bytes_per_cycle.source = as_a100;
    g.l1_mshrs.source = g.l2_ways.source = as_a100_simulated;
    g.sm_read_bytes_per_cycle.source = g.sm_write_bytes_per_cycle.source = as_a100_simulated;
    g.instruction_bytes.source = disassembly;
    g.dram_row_cycle_ns.source = "estimate within GDDR6X's figures";
    g.sms = {82, ga102_paper};
    g.warps_per_sm = {48, guide};
    g.blocks_per_sm = {16, guide};
    g.shared_per_sm = {100 * KiB, guide};
    g.shared_per_block = {99 * KiB, guide};
    g.fp32_lanes = {32, ga102_paper};
    g.imad_shares_fp32 = {1, fma_heavy};
    g.int_lanes = {16, "NVIDIA GA102 white paper, 2020: 16 of the 32 FP32 lanes, modelled as lanes of their own"};
    g.fp64_lanes = {0.5, "NVIDIA GA102 white paper, 2020: two FP64 lanes an SM"};
    g.fp16x2_lanes = {16, "NVIDIA GA102 white paper, 2020: FP16 at the rate of FP32"};
    g.sfu_latency = {18, "estimate within the published 14 to 23 cycles"};
    g.l1_latency = {33, chase};
    g.l2_latency = {250, chase};
    g.dram_latency = {547, chase};
    g.l1_bytes = {128 * KiB, ga102_paper};
    g.l2_bytes = {6 * MiB, ga102_paper};
    g.l2_slices = {48, "estimate: 12 memory controllers of 32 bits with 4 slices each"};
    g.dram_channels = {24, "12 GDDR6X controllers of two 16-bit channels"};
    g.dram_kind = {DramKind::gddr, ga102_paper};
    g.shared_carveouts = {{0, 8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 100 * KiB}, guide};
    g.l2_bytes_per_cycle = {1536, "estimate: 32 bytes a slice and cycle"};
    g.dram_gb_per_second = {936, ga102_paper};
    g.boost_mhz = {1695, ga102_paper};
    g.fp32_tflops = {35.6, ga102_paper};
    g.fp64_tflops = {0.56, recalled_sheet};
    g.fp16_tensor_tflops = {71, "NVIDIA GA102 white paper, 2020: FP32 accumulation; 142 with FP16 accumulation"};
    g.memory_gb = {24, ga102_paper};
    g.nvlink_gb_per_second = {112.5, ga102_paper};
    g.copy_engines = {2, query};
    g.l2_far_latency = {0, "one L2"};
    g.lsu_interval = {2, "published study of Ampere's core (GA102): the SM takes one memory instruction in 2 cycles"};
    g.tlb_miss_latency = {160, "estimate: the walk measured on A100 at this clock"};
    g.dram_efficiency = {0.93, estimate};
    g.dram_turnaround_ns = {
        8, "from published streams of A40 and L40 (gpu-benches): 679 and 844 GB/s read, 653 and 775 copied"};
    g.dram_banks = {16, "GDDR6X: 16 banks a channel"};
    g.dram_row_bytes = {2048, "GDDR6X: row of a channel"};
    g.dram_activate_ns = {4, "estimate within GDDR6X's figures"};
    g.fp16_tflops = {35.6, ga102_paper};
    g.tf32_tensor_tflops = {35.6, ga102_paper};
    g.fence_latency = {653, "published for RTX 3090: 225 grid.sync() of 82 blocks take 167.3 us, less their other parts"};
    g.launch_gap_us = {1.4, empty_kernels};
    g.year = {2020, ga102_paper};
    return g;
}();

constexpr GpuSpec a6000 = [] {
    GpuSpec g = rtx3090;
    g.name = "a6000";
    g.title = "RTX A6000";
    g.l1_latency.source = g.l2_latency.source = g.dram_latency.source = chase_of_ga102;
    g.dram_channels.source = "12 GDDR6 controllers of two 16-bit channels";
    g.dram_kind.source = "NVIDIA RTX A6000 data sheet";
    g.dram_banks.source = "GDDR6: 16 banks a channel";
    g.dram_row_bytes.source = "GDDR6: row of a channel";
    g.dram_row_cycle_ns.source = g.dram_activate_ns.source = "estimate within GDDR6's figures";
    g.dram_efficiency = {0.975, "taken from A40, of the same die and kind of DRAM: 679 of 696 GB/s (gpu-benches)"};
    g.copy_engines.source = engines_of_ga102;
    g.sms = {84, ga102_paper};
    g.boost_mhz = {1800, "NVIDIA RTX A6000 data sheet"};
    g.dram_gb_per_second = {768, "NVIDIA RTX A6000 data sheet"};
    g.fp32_tflops = {38.7, "NVIDIA RTX A6000 data sheet"};
    g.fp64_tflops = {0.6, recalled_sheet};
    g.fp16_tensor_tflops = {154.8, "NVIDIA RTX A6000 data sheet"};
    g.memory_gb = {48, recalled_sheet};
    g.fp16_tflops = {38.7, "NVIDIA RTX A6000 data sheet"};
    g.tf32_tensor_tflops = {77.4, "NVIDIA RTX A6000 data sheet"};
    return g;
}();

constexpr GpuSpec rtx4090 = [] {
    GpuSpec g = rtx3090;
    g.name = "rtx4090";
    g.scheduler.source = "estimate: greedy then youngest, as found on Ampere";
    g.title = "GeForce RTX 4090";
    g.l1_tag_overhead.source = strides_of_a100;
    g.fp16_latency.source = of_ga10x;
    g.copy_engines.source = engines_of_ga102;
    g.compute = {89};
    g.sub_cores.source = g.issue_width.source = g.sfu_lanes.source = g.lsu_lanes.source = ada_paper;
    g.fp32_lanes.source = g.l1_bytes.source = g.memory_gb.source = ada_paper;
    g.int_lanes.source = "NVIDIA Ada white paper, 2022: 16 of the 32 FP32 lanes, modelled as lanes of their own";
    g.int_shares_fp32.source =
        "NVIDIA Ada white paper, 2022: 16 of 32 lanes take either; one dispatch a cycle bounds both as well";
    g.fp64_lanes.source = "NVIDIA Ada white paper, 2022: two FP64 lanes an SM";
    g.fp16x2_lanes.source = ada_paper;
    g.sms = {128, ada_paper};
    g.blocks_per_sm = {24, guide};
    g.shared_latency = {30, "measured, quoted in a public repository"};
    g.l1_latency = {34, chase};
    g.l2_latency = {274, chase};
    g.dram_latency = {613, chase};
    g.l2_bytes = {72 * MiB, ada_paper};
    g.l2_bytes_per_cycle = {2560, "estimate: 5.2 TB/s measured on the L40 of this generation at 2.0 to 2.5 GHz"};
    g.dram_gb_per_second = {1008, ada_paper};
    g.dram_kind.source = ada_paper;
    g.boost_mhz = {2520, ada_paper};
    g.fp32_tflops = {82.6, ada_paper};
    g.fp64_tflops = {1.3, recalled_sheet};
    g.nvlink_gb_per_second = {0, "no NVLink"};
    g.fp16_tensor_tflops = {165, "NVIDIA Ada white paper, 2022: FP32 accumulation; 330 with FP16 accumulation"};
    g.fp16_tflops = {82.6, ada_paper};
    g.tf32_tensor_tflops = {82.6, ada_paper};
    g.fence_latency = {
        1057, "taken from L40, of the same generation: gpu-benches, 4096 numbers and a barrier of the grid take 0.82 us"};
    g.launch_gap_us = {1.4, "taken from L40, of the same generation: gpu-benches, gpu-small-kernels"};
    g.year = {2022, ada_paper};
    return g;
}();

constexpr GpuSpec h100 = [] {
    GpuSpec g = a100;
    g.name = "h100";
    g.atomic_cycles = {3.5, sums_of_h200};
    g.scheduler.source = "estimate: greedy then youngest, as found on Ampere";
    g.title = "H100 SXM5";
    g.l1_tag_overhead.source = "taken from H200, of the same die: published strides of L1 (gpu-benches, gpu-strides)";
    g.fp16_latency.source = of_ga10x;
    g.dram_banks.source = of_hbm2;
    g.dram_row_bytes.source = row_of_hbm2;
    g.dram_row_cycle_ns.source = "estimate: as HBM2";
    g.copy_engines.source = engines_of_a100;
    g.compute = {90};
    g.sub_cores.source = g.issue_width.source = g.int_lanes.source = g.sfu_lanes.source = hopper_paper;
    g.lsu_lanes.source = g.int_shares_fp32.source = hopper_paper;
    g.sfu_latency.source = "estimate within the published 14 to 23 cycles";
    g.l1_caches_loads.source = g.l1_bytes_per_cycle.source = as_a100;
    g.l1_mshrs.source = g.l2_ways.source = as_a100_simulated;
    g.sm_read_bytes_per_cycle.source = g.sm_write_bytes_per_cycle.source = as_a100_simulated;
    g.instruction_bytes.source = disassembly;
    g.sms = {132, hopper_paper};
    g.shared_per_sm = {228 * KiB, guide};
    g.shared_per_block = {227 * KiB, guide};
    g.fp32_lanes = {32, hopper_paper};
    g.imad_shares_fp32 = {1, fma_heavy};
    g.fp64_lanes = {16, hopper_paper};
    g.imad_latency = {4, "taken from A100, of the generation before: published micro-benchmark"};
    g.shared_latency = {29, "published micro-benchmark on this GPU (recalled)"};
    g.l1_latency = {32, chase};
    g.l2_latency = {280, "published pointer-chase micro-benchmark on this GPU: the near half of L2 (296 in the far half)"};
    g.dram_latency = {515, "published pointer-chase micro-benchmark on this GPU: the least (670 the most)"};
    g.l1_bytes = {256 * KiB, hopper_paper};
    g.l2_bytes = {50 * MiB, hopper_paper};
    g.l2_slices = {96, estimate};
    g.dram_channels = {80, "HBM3: 5 stacks of 16 channels"};
    g.dram_kind.source = hopper_paper;
    g.shared_carveouts = {{0, 8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 100 * KiB, 132 * KiB, 164 * KiB, 196 * KiB, 228 * KiB},
                          "NVIDIA Hopper Tuning Guide"};
    g.l2_bytes_per_cycle = {5410,
                            "9.8 TB/s measured on the H200, of the same die, at 1830 MHz, reached here with 99 % of this"};
    g.dram_gb_per_second = {3350, hopper_paper};
    g.boost_mhz = {1830, "NVIDIA H100 white paper, 2022: the clock of the tensor peak"};
    g.fp32_peak_mhz = {1980, "NVIDIA H100 data sheet: the clock of the FP32 peak"};
    g.pcie_gb_per_second = {63, "PCI Express 5.0, 16 lanes"};
    g.pinned_gb_per_second = {52, "bandwidthTest over PCI Express 5.0, published (recalled)"};
    g.pageable_gb_per_second = {13, staged};
    g.nvlink_gb_per_second = {900, hopper_paper};
    g.fp32_tflops = {66.9, hopper_paper};
    g.fp64_tflops = {34, recalled_sheet};
    g.fp16_tensor_tflops = {989, hopper_paper};
    g.memory_gb = {80, recalled_sheet};
    g.l2_far_latency = {296, "published pointer-chase micro-benchmark on this GPU: the far half of L2"};
    g.tlb_miss_latency = {155, "published pointer-chase micro-benchmark on this GPU: 670 cycles at most, 515 at least"};
    g.dram_efficiency = {0.96, "1942 of 2039 GB/s measured on the PCIe part"};
    g.dram_turnaround_ns = {8, "estimate: as on A100 80 GB"};
    g.fp16_tflops = {133.8, hopper_paper};
    g.tf32_tensor_tflops = {495, hopper_paper};
    g.mma_sync_share = {0.629, "published micro-benchmarks of Hopper, arXiv 2402.13499 (quoted): the mean"};
    g.fence_latency = {1295, "gpu-benches, gpu-small-kernels on H200: 4096 numbers and a barrier of the grid take 1.26 us"};
    g.launch_gap_us = {2.1, "gpu-benches, gpu-small-kernels on H200"};
    g.year = {2022, hopper_paper};
    return g;
}();

// What was measured on one board with this die stands in the rows of the others too.
constexpr void as_measured_on_h100(GpuSpec& g) {
    g.l1_latency.source = g.dram_latency.source = chase_of_h100;
    g.l2_latency.source = "taken from H100, of the same die: pointer chase, the near half of L2 (296 in the far half)";
    g.l2_far_latency.source = "taken from H100, of the same die: pointer chase, the far half of L2";
    g.tlb_miss_latency.source = "taken from H100, of the same die: pointer chase, 670 cycles at most, 515 at least";
    g.shared_latency.source = "taken from H100, of the same die: published micro-benchmark (recalled)";
}

constexpr GpuSpec h100_pcie = [] {
    GpuSpec g = h100;
    g.name = "h100-pcie";
    g.title = "H100 PCIe";
    as_measured_on_h100(g);
    g.dram_channels.source = "estimate: as on H100 SXM5, whose stacks are HBM3; here they are HBM2e";
    g.dram_kind.source = recalled_sheet;
    g.sms = {114, hopper_paper};
    g.boost_mhz = {1755, hopper_paper};
    g.fp32_peak_mhz = {1755, hopper_paper};
    g.l2_bytes_per_cycle = {4040, "7.0 TB/s measured on this GPU at 1755 MHz, reached here with 99 % of this"};
    g.dram_gb_per_second = {2039, recalled_sheet};
    g.nvlink_gb_per_second = {600, recalled_sheet};
    g.fp32_tflops = {51.2, "114 SMs x 128 lanes x 2 x 1755 MHz"};
    g.fp64_tflops = {25.6, "114 SMs x 64 lanes x 2 x 1755 MHz"};
    g.fp16_tensor_tflops = {756, recalled_sheet};
    g.fp16_tflops = {102.4, "twice the FP32 peak, as on the SXM5 board"};
    g.tf32_tensor_tflops = {378, recalled_sheet};
    return g;
}();

constexpr std::string_view of_h200 = "measured on this GPU (assets/silicon)";

constexpr GpuSpec h200 = [] {
    GpuSpec g = h100;
    g.name = "h200";
    g.title = "H200 SXM";
    g.l1_latency = {32, of_h200};
    g.shared_latency = {23, of_h200};
    g.l2_latency = {264, "measured on this GPU (assets/silicon): 278 cycles over both halves, which lie as on H100"};
    g.l2_far_latency = {291, "measured on this GPU (assets/silicon): 278 cycles over both halves, which lie as on H100"};
    g.dram_latency = {605, "measured on this GPU: lines that nobody has touched come after about 605 cycles or about 785"};
    g.dram_far_latency = {785,
                          "measured on this GPU: lines that nobody has touched come after about 605 cycles or about 785"};
    g.tlb_miss_latency = {0, "measured on this GPU: a chain through 16 GB takes no longer than one through 16 MB"};
    g.barrier_latency = {14, of_h200};
    g.sfu_latency = {17, of_h200};
    g.blocks_per_cycle = {0.837, "measured on this GPU: a million blocks that do nothing in 638 us, at 1977 MHz"};
    g.mma_sync_share = {0.91, "measured on this GPU (assets/silicon): 973 TFLOP/s at 1977 MHz, of zeros"};
    g.l2_bytes = {60 * MiB, "what the driver says of this GPU (assets/silicon)"};
    g.l2_bytes_per_cycle = {4930, "measured on this GPU (assets/silicon): 9.65 TB/s at 1977 MHz, 99 % of this"};
    g.dram_channels = {96, "HBM3e: 6 stacks of 16 channels"};
    g.dram_kind.source = h200_data;
    g.dram_efficiency = {0.972, "measured on this GPU (assets/silicon): 4665 of 4800 GB/s read; a copy moves 4320"};
    g.dram_gb_per_second = {4800, h200_data};
    g.pinned_gb_per_second = {55.4, "measured on this GPU (assets/silicon): 256 MiB to it and from it"};
    g.pageable_gb_per_second = {11.5,
                                "measured beside this GPU (assets/silicon): 16 MiB to it at 12.8, from it at 10.3 GB/s"};
    g.copy_latency_us.source = g.copy_back_latency_us.source = g.copy_within_latency_us.source =
        "measured on this GPU (assets/silicon): copies of 4 KiB between two events";
    g.copy_beside_share.source =
        "measured on this GPU (assets/silicon): 32 MiB each way at once take 672 us, one alone 610 or 613";
    g.memory_gb = {141, h200_data};
    g.year = {2023, h200_data};
    return g;
}();

constexpr GpuSpec gpu_rows[] = {jetson_nano, p100, v100, a100, a100_80, rtx3090, a6000, rtx4090, h100, h100_pcie, h200};

}  // namespace

std::span<const GpuSpec> real_gpus() {
    return gpu_rows;
}

std::span<const GpuSpec> gpus() {
    static const std::vector<GpuSpec> all = [] {
        std::vector<GpuSpec> rows(std::begin(gpu_rows), std::end(gpu_rows));
        rows.push_back(teaching_gpu());
        return rows;
    }();
    return all;
}

}  // namespace lockstep::model
