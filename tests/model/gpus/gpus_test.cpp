#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/model/gpus/gpu_spec.h"
#include "tests/catch.h"

namespace model_gpus_test {

using namespace lockstep;
using namespace lockstep::model;

TEST_CASE("every figure of every GPU has a value that makes sense and a source") {
    const std::set<std::string> may_be_zero = {
        "shared_reserved",        "int_shares_fp32",      "fp16_tensor_tflops", "scheduler",
        "shared_carveouts",       "nvlink_gb_per_second", "l1_caches_loads",    "tlb_bytes",
        "tlb_miss_latency",       "tf32_tensor_tflops",   "folds_ptx",          "dram_kind",
        "fence_latency",          "atomic_latency",       "l1_tag_overhead",    "launch_gap_us",
        "constant_miss_interval", "dram_loaded_ns"};
    for (const GpuSpec& gpu : gpus())
        for (const SpecFigure& figure : figures_of(gpu)) {
            INFO(gpu.name << " " << figure.name);
            CHECK_FALSE(figure.source.empty());
            CHECK(std::isfinite(figure.value));
            CHECK((figure.value > 0 || may_be_zero.count(std::string(figure.name)) == 1));
        }
}

TEST_CASE("a figure that was taken over from another GPU says so, and is not called that GPU's") {
    const std::pair<std::string, std::set<std::string_view>> own[] = {
        {"P100 white paper", {"p100"}},
        {"V100 white paper", {"v100"}},
        {"A100 white paper", {"a100", "a100-80"}},
        {"GA102 white paper", {"rtx3090", "a6000"}},
        {"Ada white paper", {"rtx4090"}},
        {"H100 white paper", {"h100", "h100-pcie", "h200"}},  // one die
        {"H200", {"h200", "h100", "h100-pcie"}},
        {"Jetson Nano", {"jetson-nano"}},
        {"SM80_A100", {"a100", "a100-80"}},
        {"SM7_QV100", {"v100"}},
        {"Jia et al.", {"p100", "v100"}},
        {"over 108 SMs", {"a100", "a100-80"}},
        {"GA10x", {"rtx3090", "a6000"}},
        {"GDDR6X", {"rtx3090", "rtx4090"}},
        {"GDDR6", {"rtx3090", "rtx4090", "a6000"}},
        {"HBM2e", {"a100-80"}},
        {"HBM2:", {"p100", "v100", "a100"}},
        {"HBM3:", {"h100"}},
        {"HBM3e", {"h200"}},
        {"32 load/store units", {"jetson-nano", "v100", "a100", "a100-80", "h100", "h100-pcie", "h200"}},
        {"of the same generation", {}},
    };
    // What was measured on the GPU of that name itself.
    const std::map<std::string_view, std::set<std::string_view>> measured = {
        {"jetson-nano", {"copy_engines"}},
        {"p100", {"copy_engines"}},
        {"v100", {"l1_latency", "l2_latency", "dram_latency", "copy_engines"}},
        {"a100",
         {"l1_latency", "l2_latency", "dram_latency", "l2_far_latency", "tlb_miss_latency", "l2_bytes_per_cycle",
          "copy_engines", "l1_tag_overhead", "dram_efficiency"}},
        {"a100-80", {"dram_efficiency"}},
        {"rtx3090", {"l1_latency", "l2_latency", "dram_latency", "copy_engines"}},
        {"rtx4090", {"l1_latency", "l2_latency", "dram_latency"}},
        {"h100", {"l1_latency", "l2_latency", "dram_latency", "l2_far_latency", "tlb_miss_latency", "shared_latency"}},
        {"h100-pcie", {"l2_bytes_per_cycle"}},
        {"h200",
         {"l1_latency", "l2_latency", "l2_far_latency", "dram_latency", "dram_far_latency", "tlb_miss_latency",
          "shared_latency", "barrier_latency", "sfu_latency", "blocks_per_cycle", "mma_sync_share", "l2_bytes",
          "l2_bytes_per_cycle", "dram_efficiency", "pinned_gb_per_second", "copy_latency_us", "copy_back_latency_us",
          "copy_within_latency_us", "copy_beside_share"}},
    };
    for (const GpuSpec& gpu : gpus())
        for (const SpecFigure& figure : figures_of(gpu)) {
            INFO(gpu.name << " " << figure.name << ": " << figure.source);
            const bool says = figure.source.starts_with("estimate") || figure.source.starts_with("taken from") ||
                              figure.source.find("new in Volta") != figure.source.npos;
            if (figure.source.find("on this GPU") != figure.source.npos)
                CHECK((measured.contains(gpu.name) && measured.at(gpu.name).contains(figure.name)));
            for (const auto& [source, names] : own)
                if (!says && figure.source.find(source) != figure.source.npos) CHECK(names.contains(gpu.name));
        }
}

TEST_CASE("every GPU's peak FP32 rate is its lanes times two times its clock") {
    for (const GpuSpec& gpu : gpus()) {
        const double tflops =
            gpu.sms * gpu.sub_cores * gpu.fp32_lanes * 2 * (gpu.fp32_peak_mhz > 0 ? gpu.fp32_peak_mhz : gpu.boost_mhz) / 1e6;
        INFO(gpu.name);
        CHECK(std::fabs(tflops - gpu.fp32_tflops) <= 0.01 * gpu.fp32_tflops);
    }
}

TEST_CASE("the V100's row carries the clock of the lectures too, and their peaks follow from it") {
    const GpuSpec v100 = gpu_named("v100").value();
    const double share = v100.lecture_mhz / v100.boost_mhz;
    CHECK(std::fabs(v100.fp32_tflops * share - 12.7) < 0.1);
    CHECK(std::fabs(v100.fp16_tensor_tflops * share - 102) < 0.5);
    for (const GpuSpec& gpu : gpus()) CHECK((gpu.lecture_mhz > 0) == (gpu.name == "v100"));
}

TEST_CASE("every GPU's kind of memory is a figure of its row, and its sources name no other") {
    const std::map<std::string_view, DramKind> other = {
        {"jetson-nano", DramKind::lpddr}, {"rtx3090", DramKind::gddr}, {"a6000", DramKind::gddr},
        {"rtx4090", DramKind::gddr},      {"teaching", DramKind::ddr},
    };
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        const DramKind kind = gpu.dram_kind;
        CHECK(kind == (other.contains(gpu.name) ? other.at(gpu.name) : DramKind::hbm));
        bool told = false;
        for (const SpecFigure& figure : figures_of(gpu)) {
            told |= figure.name == "dram_kind" && figure.label == "DRAM: " + std::string(name_of(kind));
            if (figure.source.starts_with("estimate") || figure.source.starts_with("taken from")) continue;
            for (const DramKind named : {DramKind::lpddr, DramKind::gddr, DramKind::hbm})
                if (figure.source.find(name_of(named)) != figure.source.npos) CHECK(named == kind);
        }
        CHECK(told);
    }
}

TEST_CASE("compute capabilities are in order as numbers, and written as NVIDIA does") {
    CHECK(ComputeCapability{100}.text() == "10.0");
    CHECK(ComputeCapability{86}.text() == "8.6");
    CHECK(ComputeCapability{100} > ComputeCapability{90});
    GpuSpec later = gpu_named("h100").value();
    later.compute = {100};
    CHECK(schedules_threads(later));
    CHECK_FALSE(schedules_threads(gpu_named("p100").value()));
    CHECK(gpu_named("jetson-nano").value().compute.text() == "5.3");
}

TEST_CASE("every GPU's memory levels lie further away one after the other") {
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        CHECK(gpu.l1_latency < gpu.l2_latency);
        CHECK(gpu.l2_latency < gpu.dram_latency);
        CHECK(gpu.warps_per_sm % gpu.sub_cores == 0);
        CHECK(gpu.warps_per_sm / gpu.sub_cores <= 32);
        CHECK(gpu.sub_cores <= 4);
        CHECK(gpu.issue_width <= 2);
        CHECK(limits_of(gpu).threads_per_block <= gpu.warps_per_sm * 32);
    }
}

TEST_CASE("a GPU is found by its name, a misspelt one is told the nearest") {
    CHECK(gpu_named("v100").value().title == "Tesla V100 SXM2");
    CHECK(gpu_named("teaching:4").value().sms == 4);
    CHECK(gpu_named("teaching").value().sms == 2);
    CHECK(gpu_named("v1000").error().message.find("did you mean 'v100'?") != std::string::npos);
    CHECK(gpu_named("RTX4090").value().name == "rtx4090");  // in any case
    CHECK(gpu_named("Teaching:3").value().sms == 3);
    CHECK(gpu_named("banana").error().message.find("p100, v100, a100, a100-80") != std::string::npos);
    CHECK_FALSE(gpu_named("teaching:0").ok());
    CHECK_FALSE(gpu_named("teaching:").ok());
    CHECK_FALSE(gpu_named("teaching:4x").ok());
    CHECK_FALSE(gpu_named("teaching:99999999999999999999").ok());
    CHECK_FALSE(gpu_named("v100:4").ok());
}

TEST_CASE("every GPU that the command line names has its row, and its figures agree with the vendors' table") {
    struct Vendor {
        const char* name;
        uint32_t sms, warps, blocks, shared_kb, l2_kb;
        double mhz, gb_per_second;
    };
    for (const Vendor& v :
         {Vendor{"jetson-nano", 1, 64, 32, 64, 256, 921.6, 25.6}, Vendor{"p100", 56, 64, 32, 64, 4096, 1480, 732},
          Vendor{"v100", 80, 64, 32, 96, 6144, 1530, 900}, Vendor{"a100", 108, 64, 32, 164, 40960, 1410, 1555},
          Vendor{"a100-80", 108, 64, 32, 164, 40960, 1410, 2039}, Vendor{"h100", 132, 64, 32, 228, 51200, 1830, 3350},
          Vendor{"h100-pcie", 114, 64, 32, 228, 51200, 1755, 2039}, Vendor{"h200", 132, 64, 32, 228, 61440, 1830, 4800},
          Vendor{"rtx3090", 82, 48, 16, 100, 6144, 1695, 936}, Vendor{"a6000", 84, 48, 16, 100, 6144, 1800, 768},
          Vendor{"rtx4090", 128, 48, 24, 100, 73728, 2520, 1008}}) {
        INFO(v.name);
        const GpuSpec gpu = gpu_named(v.name).value();
        CHECK(gpu.sms == v.sms);
        CHECK(gpu.warps_per_sm == v.warps);
        CHECK(gpu.blocks_per_sm == v.blocks);
        CHECK(gpu.shared_per_sm == v.shared_kb * 1024);
        CHECK(gpu.l2_bytes == v.l2_kb * 1024);
        CHECK(gpu.boost_mhz == v.mhz);
        CHECK(gpu.dram_gb_per_second == v.gb_per_second);
    }
}

TEST_CASE("96 registers a thread leave 20 warps on V100, not 21") {
    const GpuSpec gpu = gpu_named("v100").value();
    const Occupancy o = occupancy(gpu, 32, 96, 0);
    CHECK(o.blocks == 20);
    CHECK(o.limiter == "registers");
    CHECK(occupancy(gpu_named("p100").value(), 32, 96, 0).blocks == 20);
}

TEST_CASE("the occupancy calculator's cases come out with the right limiter") {
    const GpuSpec v100 = gpu_named("v100").value(), a100 = gpu_named("a100").value();
    CHECK(occupancy(v100, 256, 32, 0).blocks == 8);
    CHECK(occupancy(v100, 256, 32, 0).limiter == "warps");
    CHECK(occupancy(v100, 256, 32, 0).fraction == 1.0);
    CHECK(occupancy(v100, 32, 16, 0).blocks == 32);
    CHECK(occupancy(v100, 32, 16, 0).limiter == "block slots");
    CHECK(occupancy(v100, 256, 64, 0).blocks == 4);
    CHECK(occupancy(v100, 256, 32, 48 * 1024).blocks == 2);
    CHECK(occupancy(v100, 256, 32, 48 * 1024).limiter == "shared memory");
    CHECK(occupancy(a100, 256, 32, 48 * 1024).blocks == 3);  // 49 KB each with the reserved one
    CHECK(occupancy(a100, 1024, 32, 0).blocks == 2);
    CHECK(occupancy(v100, 1024, 255, 0).blocks == 0);  // 8 warps' worth of registers for 32 warps
}

TEST_CASE("every GPU's copies take less than their link carries, and pageable memory is slower than pinned") {
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        CHECK(gpu.pinned_gb_per_second <= gpu.pcie_gb_per_second);
        CHECK(gpu.pageable_gb_per_second < gpu.pinned_gb_per_second);
        CHECK(gpu.copy_engines >= 1);
        CHECK(gpu.connections == 32);
    }
    // Both directions of NVLink, from the vendors' sheets.
    CHECK(gpu_named("p100").value().nvlink_gb_per_second == 160);
    CHECK(gpu_named("v100").value().nvlink_gb_per_second == 300);
    CHECK(gpu_named("a100-80").value().nvlink_gb_per_second == 600);
    CHECK(gpu_named("h200").value().nvlink_gb_per_second == 900);
    CHECK(gpu_named("a6000").value().nvlink_gb_per_second == 112.5);
    CHECK(gpu_named("rtx4090").value().nvlink_gb_per_second == 0);
}

}  // namespace model_gpus_test
