// GPUs by name, and what follows from a row: the limits of its launches, how it schedules threads, names of what it says.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/base/nearest.h"
#include "core/model/gpus/gpu_file.h"

namespace lockstep::model {
namespace {

constexpr uint32_t most_teaching_sms = 256;

struct PolicyNames {
    SchedulerPolicy policy;
    std::string_view name, title;
};
constexpr PolicyNames policies[] = {
    {SchedulerPolicy::greedy_then_oldest, "gto", "greedy then oldest"},
    {SchedulerPolicy::loose_round_robin, "lrr", "loose round robin"},
    {SchedulerPolicy::greedy_then_youngest, "gty", "greedy then youngest"},
};

}  // namespace

namespace {

// teaching, teaching:4
Result<GpuSpec> teaching_named(std::string_view name, size_t colon) {
    GpuSpec gpu;
    try {
        gpu = teaching_gpu();
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
    if (colon == std::string_view::npos) return gpu;
    const std::string_view digits = name.substr(colon + 1);
    uint32_t sms = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), sms);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() || sms < 1 || sms > most_teaching_sms)
        return Diagnostic{"'" + std::string(name) + "' needs a number of SMs from 1 to " +
                          std::to_string(most_teaching_sms) + ", as in teaching:4"};
    gpu.sms = {sms, "set by its name, teaching:N"};
    gpu.fp32_tflops = {0.128 * sms, "SMs x 64 lanes x 2 x 1 GHz"};
    gpu.fp64_tflops = {0.064 * sms, "SMs x 32 lanes x 2 x 1 GHz"};
    gpu.fp16_tflops = {0.256 * sms, "SMs x 64 lanes x 2 halves x 2 x 1 GHz"};
    return gpu;
}

}  // namespace

Result<GpuSpec> gpu_named(std::string_view name) {
    if (is_gpu_file(name)) return read_gpu_file(std::filesystem::path(name));
    const size_t colon = name.find(':');
    std::string base(name.substr(0, colon));
    for (char& letter : base) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (base == "teaching") return teaching_named(name, colon);
    std::string known;
    std::vector<std::string> names;
    for (const GpuSpec& row : real_gpus()) {
        names.emplace_back(row.name);
        known += (known.empty() ? "" : ", ") + std::string(row.name);
        if (row.name != base) continue;
        if (colon == std::string_view::npos) return row;
        return Diagnostic{"the number of SMs of " + base + " is fixed: only teaching:N can be set"};
    }
    names.emplace_back("teaching");
    known += ", teaching";
    const std::string hint = did_you_mean(base, names, "");
    return Diagnostic{"unknown GPU '" + std::string(name) + "'" + hint + (hint.empty() ? ": known are " : " Known are ") +
                      known + " (teaching:N has N SMs), or a file of your own, mine.toml"};
}

std::string_view name_of(SchedulerPolicy policy) {
    for (const PolicyNames& row : policies)
        if (row.policy == policy) return row.name;
    return "";
}

std::string_view title_of(SchedulerPolicy policy) {
    for (const PolicyNames& row : policies)
        if (row.policy == policy) return row.title;
    return "";
}

std::optional<SchedulerPolicy> scheduler_named(std::string_view name) {
    for (const PolicyNames& row : policies)
        if (row.name == name) return row.policy;
    return std::nullopt;
}

std::string ComputeCapability::text() const {
    return std::to_string(number / 10) + "." + std::to_string(number % 10);
}

std::string_view name_of(DramKind kind) {
    switch (kind) {
        case DramKind::ddr:
            return "DDR";
        case DramKind::lpddr:
            return "LPDDR";
        case DramKind::gddr:
            return "GDDR";
        case DramKind::hbm:
            return "HBM";
    }
    return "";
}

bool schedules_threads(const GpuSpec& gpu) {
    return gpu.compute.number >= 70;
}

simt::LaunchLimits limits_of(const GpuSpec& gpu) {
    simt::LaunchLimits limits;
    limits.threads_per_block = std::min<uint32_t>(1024, gpu.warps_per_sm * 32);
    limits.shared_per_block = gpu.shared_per_block;
    limits.registers_per_block = gpu.registers_per_block ? gpu.registers_per_block : gpu.registers_per_sm;
    limits.shared_granule = gpu.shared_granule;
    limits.register_unit = gpu.register_unit;
    limits.warp_granule = gpu.block_warp_granule;
    limits.compute = gpu.compute.number;
    return limits;
}

}  // namespace lockstep::model
