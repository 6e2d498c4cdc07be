// {"program": "<hash of the running binary>", "cycles": {"<hash of kernel, launch and GPU>": n, ...}}
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/silicon/compare/compare.h"
#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/device/kernels/kernel_library.h"
#include "core/system/system.h"

namespace lockstep::device {
namespace {

constexpr size_t largest_cache = size_t{4} << 20, most_kept = 20'000;

const std::string& running_program() {
    static const std::string hash = [] {
        const auto bytes = read_file(system::own_executable());
        return bytes ? fmt::format("{:016x}", fnv1a64(bytes.value())) : std::string();
    }();
    return hash;
}

}  // namespace

std::filesystem::path silicon_cache_file() {
    return system::cache_folder() / "silicon.json";
}

std::string silicon_key(const model::GpuSpec& gpu, const PackRow& row) {
    std::string text = fmt::format("{} {} {} {},{},{} {},{},{}\n", row.name, row.file, row.kernel, row.grid.x, row.grid.y,
                                   row.grid.z, row.block.x, row.block.y, row.block.z);
    text += fmt::format("{}\n", row.dynamic_shared);
    for (const PackArgument& argument : row.arguments) {
        text += fmt::format("{} {} {} {} {}", static_cast<int>(argument.kind), static_cast<int>(argument.type),
                            argument.count, argument.low, argument.high);
        for (const uint64_t extent : argument.dims) text += fmt::format(" {}", extent);
        for (const uint32_t extent : argument.box) text += fmt::format(" {}", extent);
        text += '\n';
    }
    for (const model::SpecFigure& figure : model::figures_of(gpu)) text += fmt::format("{} {}\n", figure.name, figure.value);
    const GeneratedKernel* const own = pack_program(row.file, row.kernel);
    const auto program = own ? own->program : program_of(row.kernel);
    if (program) text += program->ptx;
    return fmt::format("{:016x}", fnv1a64(text));
}

SiliconCache::SiliconCache(std::filesystem::path file) : file_(std::move(file)) {
    const auto text = read_file(file_, largest_cache);
    if (!text) return;
    const auto json = nlohmann::json::parse(text.value(), nullptr, false);
    if (!json.is_object() || running_program().empty() || json.value("program", nlohmann::json()) != running_program())
        return;
    const auto cycles = json.find("cycles");
    if (cycles == json.end() || !cycles->is_object()) return;
    for (const auto& [key, value] : cycles->items())
        if (value.is_number_unsigned() && value.get<uint64_t>() > 0 && value.get<uint64_t>() < uint64_t{1} << 53)
            cycles_[key] = static_cast<int64_t>(value.get<uint64_t>());
}

std::optional<int64_t> SiliconCache::find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = cycles_.find(key);
    return found == cycles_.end() ? std::nullopt : std::optional(found->second);
}

void SiliconCache::keep(const std::string& key, int64_t cycles) {
    const std::lock_guard lock(mutex_);
    if (running_program().empty()) return;
    if (cycles_.size() >= most_kept) cycles_.clear();
    cycles_[key] = cycles;
    try {
        write_file(file_, nlohmann::json{{"program", running_program()}, {"cycles", cycles_}}.dump() + "\n");
    } catch (const Failure&) {  // a folder that cannot be written: the next run takes as long
    }
}

}  // namespace lockstep::device
