// The rows of fields, with what one of them can be.
#include "core/model/gpus/gpu_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "core/base/nearest.h"
#include "core/base/units.h"

namespace lockstep::model {
namespace {

constexpr std::string_view a_cycle = "nothing is done in no time";
constexpr std::string_view tensor_field = "tensor_fmas";
constexpr double most_tensor_fmas = 65536;

const std::vector<GpuField> fields = {
    // clang-format off
    {"sms", &GpuSpec::sms, 1, 1024, "a GPU without an SM runs nothing", false},
    {"sub_cores", &GpuSpec::sub_cores, 1, 4, "an SM has one to four sub-cores in this model", false},
    {"issue_width", &GpuSpec::issue_width, 1, 2, "a sub-core dispatches one or two instructions a cycle in this model", false},
    {"warps_per_sm", &GpuSpec::warps_per_sm, 1, 128, "a sub-core holds up to 32 warps in this model", false},
    {"blocks_per_sm", &GpuSpec::blocks_per_sm, 1, 128, "an SM without room for a block runs nothing", false},
    {"registers_per_sm", &GpuSpec::registers_per_sm, 32, 4194304, "a warp has 32 lanes, each with a register at least", false},
    {"register_unit", &GpuSpec::register_unit, 1, 65536, "", false},
    {"warp_granule", &GpuSpec::warp_granule, 1, 64, "", false},
    {"block_warp_granule", &GpuSpec::block_warp_granule, 1, 64, "", false},
    {"registers_per_block", &GpuSpec::registers_per_block, 32, 4194304, "a warp has 32 lanes, each with a register at least", true},
    {"shared_per_sm", &GpuSpec::shared_per_sm, 0, 1073741824, "", false},
    {"shared_per_block", &GpuSpec::shared_per_block, 0, 1073741824, "", false},
    {"shared_granule", &GpuSpec::shared_granule, 0, 65536, "", false},
    {"shared_reserved", &GpuSpec::shared_reserved, 0, 65536, "", false},
    {"fp32_lanes", &GpuSpec::fp32_lanes, 0.125, 1024, "arithmetic needs a lane, if only every eighth cycle", false},
    {"int_lanes", &GpuSpec::int_lanes, 0.125, 1024, "addresses are integers: a kernel cannot do without their lanes", false},
    {"fp64_lanes", &GpuSpec::fp64_lanes, 0.03125, 1024, "", true},
    {"sfu_lanes", &GpuSpec::sfu_lanes, 0.03125, 1024, "", true},
    {"fp16x2_lanes", &GpuSpec::fp16x2_lanes, 0.03125, 1024, "", true},
    {"lsu_lanes", &GpuSpec::lsu_lanes, 0.125, 32, "memory is reached by way of these lanes, at most 32 of a warp at once", false},
    {"register_reads", &GpuSpec::register_reads, 1, 64, "an instruction has to read its operands", false},
    {"int_shares_fp32", &GpuSpec::int_shares_fp32, 0, 1, "it is yes or no", false},
    {"imad_shares_fp32", &GpuSpec::imad_shares_fp32, 0, 1, "it is yes or no", false},
    {"folds_ptx", &GpuSpec::folds_ptx, 0, 1, "it is yes or no", false},
    {"fp16_latency", &GpuSpec::fp16_latency, 1, 100000, a_cycle, false},
    {"fp32_latency", &GpuSpec::fp32_latency, 1, 100000, a_cycle, false},
    {"int_latency", &GpuSpec::int_latency, 1, 100000, a_cycle, false},
    {"imad_latency", &GpuSpec::imad_latency, 1, 100000, a_cycle, false},
    {"fp64_latency", &GpuSpec::fp64_latency, 1, 100000, a_cycle, false},
    {"sfu_latency", &GpuSpec::sfu_latency, 1, 100000, a_cycle, false},
    {"branch_latency", &GpuSpec::branch_latency, 1, 100000, a_cycle, false},
    {"barrier_latency", &GpuSpec::barrier_latency, 1, 100000, a_cycle, false},
    {"shared_latency", &GpuSpec::shared_latency, 1, 100000, a_cycle, false},
    {"shuffle_latency", &GpuSpec::shuffle_latency, 1, 100000, a_cycle, false},
    {"constant_latency", &GpuSpec::constant_latency, 1, 100000, a_cycle, false},
    {"l1_latency", &GpuSpec::l1_latency, 1, 100000, a_cycle, false},
    {"l2_latency", &GpuSpec::l2_latency, 1, 100000, a_cycle, false},
    {"dram_latency", &GpuSpec::dram_latency, 1, 100000, a_cycle, false},
    {"fence_latency", &GpuSpec::fence_latency, 0, 100000, "", false},
    {"atomic_latency", &GpuSpec::atomic_latency, 0, 100000, "", false},
    {"l1_bytes", &GpuSpec::l1_bytes, 0, 1073741824, "", false},
    {"l1_ways", &GpuSpec::l1_ways, 1, 256, "", false},
    {"l1_mshrs", &GpuSpec::l1_mshrs, 1, 65536, "a load that misses L1 has to be noted somewhere", false},
    {"l1_bytes_per_cycle", &GpuSpec::l1_bytes_per_cycle, 0.125, 65536, "nothing comes out of L1 else", false},
    {"lsu_interval", &GpuSpec::lsu_interval, 0, 1024, "", false},
    {"l1_tag_overhead", &GpuSpec::l1_tag_overhead, 0, 1024, "", false},
    {"l1_caches_loads", &GpuSpec::l1_caches_loads, 0, 1, "it is yes or no", false},
    {"constant_l1_bytes", &GpuSpec::constant_l1_bytes, 0, 1048576, "", false},
    {"constant_l15_bytes", &GpuSpec::constant_l15_bytes, 0, 1048576, "", false},
    {"constant_l15_latency", &GpuSpec::constant_l15_latency, 0, 100000, "", false},
    {"constant_load_latency", &GpuSpec::constant_load_latency, 0, 100000, "", false},
    {"constant_miss_interval", &GpuSpec::constant_miss_interval, 0, 100000, "", false},
    {"texture_latency", &GpuSpec::texture_latency, 0, 100000, "", false},
    {"texture_lanes", &GpuSpec::texture_lanes, 0.03125, 1024, "", true},
    {"sm_read_bytes_per_cycle", &GpuSpec::sm_read_bytes_per_cycle, 0.125, 65536, "an SM without a port from L2 gets no data", false},
    {"sm_write_bytes_per_cycle", &GpuSpec::sm_write_bytes_per_cycle, 0.125, 65536, "an SM without a port to L2 stores no data", false},
    {"tlb_bytes", &GpuSpec::tlb_bytes, 0, 4294967295, "", false},
    {"page_bytes", &GpuSpec::page_bytes, 4096, 1073741824, "", false},
    {"tlb_miss_latency", &GpuSpec::tlb_miss_latency, 0, 100000, "", false},
    {"l2_bytes", &GpuSpec::l2_bytes, 0, 1073741824, "", false},
    {"l2_ways", &GpuSpec::l2_ways, 1, 256, "", false},
    {"l2_slices", &GpuSpec::l2_slices, 1, 4096, "requests to DRAM pass a slice too, where it holds nothing", false},
    {"l2_bytes_per_cycle", &GpuSpec::l2_bytes_per_cycle, 0.125, 1048576, "nothing comes out of L2 else", false},
    {"l2_far_latency", &GpuSpec::l2_far_latency, 0, 100000, "", false},
    {"dram_far_latency", &GpuSpec::dram_far_latency, 0, 100000, "", false},
    {"atomic_cycles", &GpuSpec::atomic_cycles, 0, 10000, "", false},
    {"half_atomic_cycles", &GpuSpec::half_atomic_cycles, 0, 10000, "", false},
    {"half2_atomic_cycles", &GpuSpec::half2_atomic_cycles, 0, 10000, "", false},
    {"l2_dirty_share", &GpuSpec::l2_dirty_share, 0, 1, "it is a share", false},
    {"dram_channels", &GpuSpec::dram_channels, 1, 1024, "without a DRAM channel there is no memory", false},
    {"dram_gb_per_second", &GpuSpec::dram_gb_per_second, 0.001, 1000000, "without bandwidth there is no memory", false},
    {"instruction_bytes", &GpuSpec::instruction_bytes, 1, 128, "a line of code has 128 bytes", false},
    {"l0_code_bytes", &GpuSpec::l0_code_bytes, 0, 16777216, "", false},
    {"l1_code_bytes", &GpuSpec::l1_code_bytes, 0, 16777216, "", false},
    {"l1_code_latency", &GpuSpec::l1_code_latency, 0, 100000, "", false},
    {"code_prefetch", &GpuSpec::code_prefetch, 0, 1024, "", false},
    {"blocks_per_cycle", &GpuSpec::blocks_per_cycle, 0.0001, 1024, "blocks have to start some time", false},
    {"block_start_latency", &GpuSpec::block_start_latency, 0, 1000000, "", false},
    {"dram_efficiency", &GpuSpec::dram_efficiency, 0.01, 1, "it is a share of the vendor's bandwidth", false},
    {"dram_banks", &GpuSpec::dram_banks, 1, 256, "a channel has a bank at least", false},
    {"dram_row_bytes", &GpuSpec::dram_row_bytes, 32, 1048576, "", false},
    {"dram_row_cycle_ns", &GpuSpec::dram_row_cycle_ns, 0, 100000, "", false},
    {"dram_activate_ns", &GpuSpec::dram_activate_ns, 0, 100000, "", false},
    {"dram_turnaround_ns", &GpuSpec::dram_turnaround_ns, 0, 100000, "", false},
    {"dram_loaded_ns", &GpuSpec::dram_loaded_ns, 0, 100000, "", false},
    {"dram_partial_bytes", &GpuSpec::dram_partial_bytes, 32, 1024, "a sector has 32 bytes", false},
    {"lsu_queue", &GpuSpec::lsu_queue, 1, 8, "a sub-core buffers one to eight memory instructions in this model", false},
    {"boost_mhz", &GpuSpec::boost_mhz, 1, 10000, "", false},
    {"fp32_peak_mhz", &GpuSpec::fp32_peak_mhz, 1, 10000, "", true},
    {"lecture_mhz", &GpuSpec::lecture_mhz, 1, 10000, "", true},
    {"launch_us", &GpuSpec::launch_us, 0, 1000000, "", false},
    {"launch_latency_us", &GpuSpec::launch_latency_us, 0, 1000000, "", false},
    {"launch_gap_us", &GpuSpec::launch_gap_us, 0, 1000000, "", false},
    {"pcie_gb_per_second", &GpuSpec::pcie_gb_per_second, 0.001, 1000000, "the host reaches the GPU by this link", false},
    {"pinned_gb_per_second", &GpuSpec::pinned_gb_per_second, 0.001, 1000000, "the host reaches the GPU by this link", false},
    {"pageable_gb_per_second", &GpuSpec::pageable_gb_per_second, 0.001, 1000000, "the host reaches the GPU by this link", false},
    {"nvlink_gb_per_second", &GpuSpec::nvlink_gb_per_second, 0, 1000000, "", false},
    {"copy_latency_us", &GpuSpec::copy_latency_us, 0, 1000000, "", false},
    {"copy_back_latency_us", &GpuSpec::copy_back_latency_us, 0, 1000000, "", false},
    {"copy_within_latency_us", &GpuSpec::copy_within_latency_us, 0, 1000000, "", false},
    {"copy_beside_share", &GpuSpec::copy_beside_share, 0.01, 1, "a copy goes on beside one the other way", false},
    {"call_us", &GpuSpec::call_us, 0, 1000000, "", false},
    {"allocate_us", &GpuSpec::allocate_us, 0, 1000000, "", false},
    {"copy_engines", &GpuSpec::copy_engines, 1, 64, "copies need an engine", false},
    {"connections", &GpuSpec::connections, 1, 1024, "launches come through a queue", false},
    {"concurrent_kernels", &GpuSpec::concurrent_kernels, 1, 1024, "a kernel has to run", false},
    {"memory_gb", &GpuSpec::memory_gb, 0.001, 1000000, "without memory there is nothing to compute on", false},
    {"fp32_tflops", &GpuSpec::fp32_tflops, 0, 1000000, "", false},
    {"fp64_tflops", &GpuSpec::fp64_tflops, 0, 1000000, "", false},
    {"fp16_tflops", &GpuSpec::fp16_tflops, 0, 1000000, "", false},
    {"fp16_tensor_tflops", &GpuSpec::fp16_tensor_tflops, 0, 1000000, "", false},
    {"tf32_tensor_tflops", &GpuSpec::tf32_tensor_tflops, 0, 1000000, "", false},
    {"mma_sync_share", &GpuSpec::mma_sync_share, 0.001, 1, "it is a share of the tensor peak", false},
    {"year", &GpuSpec::year, 0, 9999, "", false},
    // clang-format on
};

// 1234567 -> "1,234,567", 0.125 -> "0.125".
std::string plain(double value) {
    return value == std::floor(value) && std::fabs(value) < 1e15 ? with_commas(static_cast<int64_t>(value))
                                                                 : fmt::format("{:.10g}", value);
}

}  // namespace

const std::vector<GpuField>& gpu_fields() {
    return fields;
}

std::vector<std::string> gpu_field_names() {
    std::vector<std::string> names;
    for (const GpuField& field : fields) names.emplace_back(field.name);
    for (const std::string_view word : {"scheduler", "dram_kind", "shared_carveouts", "compute"}) names.emplace_back(word);
    names.emplace_back(tensor_field);
    return names;
}

double value_of(const GpuSpec& gpu, const GpuField& field) {
    return std::visit([&](auto place) { return static_cast<double>((gpu.*place).value); }, field.place);
}

void set_value(GpuSpec& gpu, const GpuField& field, double value, std::string_view source) {
    if (const auto* const count = std::get_if<Count GpuSpec::*>(&field.place))
        gpu.** count = {static_cast<uint32_t>(value), source};
    else
        gpu.*std::get<Figure GpuSpec::*>(field.place) = {value, source};
}

std::pair<const GpuField*, double> field_named(std::string_view name) {
    const auto find = [](std::string_view wanted) -> const GpuField* {
        const auto at = std::ranges::find(fields, wanted, &GpuField::name);
        return at == fields.end() ? nullptr : &*at;
    };
    if (const GpuField* field = find(name)) return {field, 1};
    for (const auto& [unit, bytes] : {std::pair{"_kb", 1024.0}, std::pair{"_mb", 1048576.0}}) {
        if (!name.ends_with(unit)) continue;
        const std::string base(name.substr(0, name.size() - 3));
        for (const std::string& full : {base + "_bytes", base}) {
            const bool of_bytes = full.ends_with("_bytes") || full.starts_with("shared_");
            if (const GpuField* field = find(full); field != nullptr && of_bytes) return {field, bytes};
        }
    }
    return {nullptr, 0};
}

std::string refused_value(const GpuField& field, double value) {
    if (!std::isfinite(value)) return fmt::format("'{}' is a number, not {}", field.name, value);
    if (field.may_be_absent && value == 0) return "";
    if (value < field.least || value > field.most) {
        // The reasons are of the least; the most is as far as the model has been thought through.
        const std::string_view why = value > field.most ? "this model goes no further" : field.reason;
        return fmt::format("'{}' is {}from {} to {}, not {}{}{}", field.name, field.may_be_absent ? "0, or " : "",
                           plain(field.least), plain(field.most), plain(value), why.empty() ? "" : ": ", why);
    }
    if (field.whole() && value != std::floor(value))
        return fmt::format("'{}' is a whole number, not {}", field.name, plain(value));
    return "";
}

double tensor_fmas(const GpuSpec& gpu) {
    return gpu.fp16_tensor_tflops * 1e6 / (2 * gpu.boost_mhz * double(gpu.sms) * double(gpu.sub_cores));
}

std::string_view kept_text(std::string text) {
    static std::mutex mutex;
    static std::set<std::string> texts;  // whose nodes stay where they are
    const std::lock_guard lock(mutex);
    return *texts.insert(std::move(text)).first;
}

std::optional<Diagnostic> GpuDesign::set(std::string_view name, double value, std::string_view source) {
    if (name == tensor_field) {
        if (!(value >= 0 && value <= most_tensor_fmas))
            return Diagnostic{fmt::format("'{}' is from 0 to {}, not {}", name, plain(most_tensor_fmas), plain(value))};
        tensor_fmas_ = value;
        chosen_.emplace_back(name);
        return std::nullopt;
    }
    const auto [field, unit] = field_named(name);
    if (field == nullptr)
        return Diagnostic{
            fmt::format("unknown figure '{}' of a GPU{}", name,
                        did_you_mean(name, gpu_field_names(), "; 'lockstep gpus v100 --json -' names them all"))};
    if (std::string problem = refused_value(*field, value * unit); !problem.empty()) return Diagnostic{std::move(problem)};
    set_value(gpu_, *field, value * unit, source);
    chosen_.emplace_back(field->name);
    return std::nullopt;
}

std::optional<Diagnostic> GpuDesign::choose_carveouts(const std::vector<double>& bytes, std::string_view source) {
    gpu_.shared_carveouts = {{}, source};
    if (bytes.size() > gpu_.shared_carveouts.value.size())
        return Diagnostic{fmt::format("'shared_carveouts' lists at most {} sizes", gpu_.shared_carveouts.value.size())};
    for (size_t i = 0; i < bytes.size(); ++i) {
        const bool rises = i == 0 || bytes[i] > bytes[i - 1];
        if (!(bytes[i] >= 0 && bytes[i] <= 1073741824) || bytes[i] != std::floor(bytes[i]) || !rises)
            return Diagnostic{"'shared_carveouts' lists numbers of bytes, each more than the one before"};
        gpu_.shared_carveouts.value[i] = static_cast<uint32_t>(bytes[i]);
    }
    // One size alone would read as two memories apart.
    if (bytes.size() == 1 && bytes[0] > 0) gpu_.shared_carveouts.value = {0, static_cast<uint32_t>(bytes[0])};
    chosen_.emplace_back("shared_carveouts");
    return std::nullopt;
}

}  // namespace lockstep::model
