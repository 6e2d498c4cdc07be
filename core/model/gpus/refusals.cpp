#include "core/model/gpus/refusals.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/gpus/gpu_file.h"
#include "core/ptx/analyse/generation.h"
#include "core/ptx/ptx.h"

namespace lockstep::model {
namespace {

constexpr uint64_t most_static_shared = 48 * 1024, most_constants = 64 * 1024;
constexpr uint32_t most_early_parameters = 4096;  // bytes, in front of compute capability 7.0
constexpr uint64_t portable_cluster = 8;

std::string instruction_text(const ptx::Program& program, uint32_t pc) {
    std::string text = ptx::text_of(program, pc);
    if (!text.starts_with("mov"))  // a mov needs the generation for what it reads
        text.resize(std::min(text.find(' ', text.starts_with('@') ? text.find(' ') + 1 : 0), text.size()));
    const int32_t line = program.instructions[pc].line;
    return (line > 0 ? fmt::format("line {}: ", line) : "") + "'" + text + "'";
}

}  // namespace

std::vector<std::string> refusals(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config) {
    std::vector<std::string> found;
    if (gpu.name.starts_with("teaching") || is_gpu_file(gpu.name)) return found;  // there is no real one
    const uint32_t compute = gpu.compute.number;
    const auto later = [&](const std::string& what, uint32_t needed, const char* refused) {
        found.push_back(
            fmt::format("{} needs compute capability {}: a real {} ({}) would refuse this {}, the modelled one runs it",
                        what, ComputeCapability{needed}.text(), gpu.title, gpu.compute.text(), refused));
    };
    if (const ptx::Needed needed = ptx::needed_generation(program); needed.compute > compute)
        later(instruction_text(program, needed.pc), needed.compute, "kernel");

    const simt::Dim3 cluster = simt::cluster_of(program, config);
    const std::string blocks = fmt::format("a cluster of {} x {} x {} blocks", cluster.x, cluster.y, cluster.z);
    if (cluster.count() > 1 && compute < 90)
        later(blocks, 90, "launch");
    else if (cluster.count() > portable_cluster)
        found.push_back(blocks +
                        " is more than 8: on a real GPU the host has to allow it first, with "
                        "cudaFuncAttributeNonPortableClusterSizeAllowed");

    if (program.static_shared > most_static_shared)
        found.push_back(
            fmt::format("{} bytes of static shared memory: ptxas takes at most {} (48 KiB) for every GPU, more has to be "
                        "dynamic (extern __shared__); the modelled one runs it",
                        program.static_shared, most_static_shared));
    else if (const uint64_t all = uint64_t{program.dynamic_shared_offset} + config.dynamic_shared;
             config.dynamic_shared > 0 && all > most_static_shared)
        found.push_back(fmt::format(
            "{} bytes of shared memory a block are more than {} (48 KiB): on a real GPU the host has to ask for them first, "
            "with cudaFuncAttributeMaxDynamicSharedMemorySize",
            all, most_static_shared));

    uint64_t constants = 0;
    for (const ptx::GlobalVariable& variable : program.variables)
        if (variable.space == ptx::Space::constant) constants += variable.bytes;
    if (constants > most_constants)
        found.push_back(fmt::format(
            "{} bytes of __constant__ variables: ptxas takes at most {} (64 KiB) for every GPU; the modelled one runs it",
            constants, most_constants));
    if (program.parameter_bytes > most_early_parameters && compute < 70)
        found.push_back(fmt::format("{} bytes of parameters: a real {} ({}) takes at most {}; the modelled one runs it",
                                    program.parameter_bytes, gpu.title, gpu.compute.text(), most_early_parameters));
    return found;
}

std::optional<std::string> missing_part(const GpuSpec& gpu, const ptx::Program& program) {
    const auto lacks = [&](uint32_t pc, std::string_view part, std::string_view field) {
        return fmt::format("{} has no {} ({} = 0), which {} needs", gpu.title, part, field, instruction_text(program, pc));
    };
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& in = program.instructions[pc];
        if (in.opcode == nullptr) continue;
        const ptx::Facts& facts = ptx::facts_of(in);
        const bool math = facts.route == ptx::Route::math,
                   doubles = in.type == ptx::Type::f64 || in.destination_type == ptx::Type::f64;
        if (gpu.fp64_lanes == 0 && math &&
            (in.opcode->unit == ptx::Unit::fp64 || (doubles && facts.doubles != ptx::Doubles::as_others)))
            return lacks(pc, "FP64 lanes", "fp64_lanes");
        if (gpu.sfu_lanes == 0 && math && in.opcode->unit == ptx::Unit::xu)
            return lacks(pc, "special function lanes", "sfu_lanes");
        if (gpu.fp16x2_lanes == 0 && math && (in.type == ptx::Type::f16x2 || in.type == ptx::Type::bf16x2))
            return lacks(pc, "lanes for pairs of FP16", "fp16x2_lanes");
        if (gpu.texture_lanes == 0 && in.kind == ptx::Kind::texture) return lacks(pc, "texture units", "texture_lanes");
    }
    return std::nullopt;
}

}  // namespace lockstep::model
