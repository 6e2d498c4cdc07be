// Fat binaries, and the kernels and variables that the compiler's start-up code registers of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/ptx/ptx.h"
#include "core/runtime/runtime.h"
#include "core/simt/warp.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {
namespace {

struct Wrapper {  // what the compiler registers
    uint32_t magic, version;
    const std::byte* data;
    const void* name;
};
constexpr uint32_t wrapper_magic = 0x466243b1;

}  // namespace

Module* Runtime::add_module(const void* wrapper) {
    auto module = std::make_unique<Module>();
    module->name = fmt::format("module {}", modules_.size() + 1);
    module->parsed.resize(settings_.gpus);
    Wrapper read;
    std::memcpy(&read, wrapper, sizeof read);
    if (read.magic != wrapper_magic) {
        module->problem = "the program registers a fat binary of an unknown kind";
    } else if (Result<FatBinary> images = read_fat_binary(read.data)) {
        module->images = std::move(images).value();
    } else {
        module->problem = images.error().message;
    }
    modules_.push_back(std::move(module));
    return modules_.back().get();
}

Module* Runtime::load_module(const void* code) {
    uint32_t magic = 0;
    std::memcpy(&magic, code, sizeof magic);
    const Wrapper wrapped{wrapper_magic, 1, static_cast<const std::byte*>(code), nullptr};
    Module* const module = add_module(magic == wrapper_magic ? code : &wrapped);
    parsed(*module);
    return module;
}

std::vector<std::string> Runtime::kernels_in(Module& module) {
    std::vector<std::string> names;
    for (const ptx::Entry& entry : parsed(module)->entries) names.emplace_back(entry.name);
    return names;
}

uint64_t Runtime::bytes_of_variable(Module& module, const std::string& name) {
    for (const ptx::Variable& variable : parsed(module)->variables)
        if (variable.name == name) return variable.bytes;
    throw CallFailure{cudaErrorSymbolNotFound, fmt::format("the library has no variable '{}'", name)};
}

void Runtime::remove_module(Module* module) {
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second.module == module; });
    std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == module; });
}

void Runtime::add_kernel(Module* module, const void* host, const char* name) {
    Kernel kernel{.name = name, .module = module, .host = host};
    kernel.programs.resize(settings_.gpus);
    kernels_[host] = std::move(kernel);
}

void Runtime::add_variable(Module* module, const void* host, const char* name, uint64_t bytes, void** managed) {
    ModuleVariable variable{.name = name, .module = module, .bytes = bytes, .managed = managed};
    variable.addresses.resize(settings_.gpus);
    ModuleVariable& placed = variables_[host] = std::move(variable);
    const auto at = reinterpret_cast<uintptr_t>(host);
    for (const auto& [begin, end] : managed_ranges_)
        if (at >= begin && at < end) placed.in_place = reinterpret_cast<std::byte*>(at);
    if (placed.in_place) address_of(placed);
    if (managed) *managed = reinterpret_cast<void*>(address_of(placed));
}

void Runtime::add_managed_range(const char* begin, const char* end) {
    managed_ranges_.emplace_back(reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(end));
}

void Runtime::add_reference(Module* module, const void* host, const char* name, bool reads_normalized) {
    ModuleVariable variable{.name = name, .module = module, .bytes = sizeof(uint64_t), .is_texture = true};
    variable.reads_normalized = reads_normalized;
    variable.addresses.resize(settings_.gpus);
    variables_[host] = std::move(variable);
}

void Runtime::set_reference(ModuleVariable& reference, uint64_t texture) {
    std::memcpy(memory_.write(address_of(reference), sizeof texture), &texture, sizeof texture);
}

Kernel* Runtime::kernel_of(const void* host) {
    const auto found = kernels_.find(host);
    return found == kernels_.end() ? nullptr : &found->second;
}

ModuleVariable* Runtime::variable_of(const void* host) {
    const auto found = variables_.find(host);
    return found == variables_.end() ? nullptr : &found->second;
}

// The image for the modelled GPU: the latest that it can run, else the first of all; parsed under a name of its own for each
// device, so that each has its own variables.
std::shared_ptr<const ptx::Module> Runtime::parsed(Module& module) {
    std::shared_ptr<const ptx::Module>& parsed = module.parsed[device_];
    if (parsed) return parsed;
    if (!module.problem.empty()) throw CallFailure{cudaErrorInvalidKernelImage, module.problem};
    const PtxImage* best = nullptr;
    for (const PtxImage& image : module.images.ptx) {
        const bool fits = image.arch <= gpu_.compute.number, best_fits = best && best->arch <= gpu_.compute.number;
        if (!best || (fits && (!best_fits || image.arch > best->arch)) || (!fits && !best_fits && image.arch < best->arch))
            best = &image;
    }
    if (!best)
        throw CallFailure{cudaErrorNoKernelImageForDevice,
                          "the program holds machine code alone, and this GPU runs PTX: build it with -gencode "
                          "arch=compute_80,code=compute_80"};
    Result<ptx::Module> read = ptx::parse(best->text, fmt::format("{} of GPU {}", module.name, device_));
    if (!read) {
        module.problem = render(read.error());
        throw CallFailure{cudaErrorInvalidPtx, module.problem};
    }
    parsed = std::make_shared<const ptx::Module>(std::move(read).value());
    return parsed;
}

std::shared_ptr<const ptx::Program> Runtime::program_of(Kernel& kernel) {
    std::shared_ptr<const ptx::Program>& program = kernel.programs[device_];
    if (program) return program;
    Result<std::shared_ptr<const ptx::Program>> decoded = ptx::decode(*parsed(*kernel.module), kernel.name);
    if (!decoded) throw CallFailure{cudaErrorInvalidPtx, render(decoded.error())};
    program = decoded.value();
    return program;
}

uint64_t Runtime::address_of(ModuleVariable& variable) {
    uint64_t& address = variable.addresses[device_];
    if (address != 0) return address;
    const std::shared_ptr<const ptx::Module> module = parsed(*variable.module);
    const auto written = std::find_if(module->variables.begin(), module->variables.end(),
                                      [&](const ptx::Variable& v) { return v.name == variable.name; });
    if (written == module->variables.end())
        throw CallFailure{cudaErrorInvalidSymbol, fmt::format("the GPU's part of the program has no variable '{}'",
                                                              ptx::readable_name(variable.name))};
    if (variable.managed || variable.in_place) {
        const uint64_t bytes = std::max<uint64_t>(1, written->bytes);
        auto* const host =
            variable.in_place ? variable.in_place : static_cast<std::byte*>(::operator new (bytes, std::align_val_t{4096}));
        std::memset(host, 0, bytes);
        if (!written->initial.empty()) std::memcpy(host, written->initial.data(), written->initial.size());
        address = reinterpret_cast<uintptr_t>(host);
        memory_.adopt(address, host, written->bytes, std::string(written->name), module->file);
        return address;
    }
    // Addresses among the initial values need a decoded kernel, which knows where each variable lies.
    if (!written->references.empty())
        for (auto& [host, kernel] : kernels_)
            if (kernel.module == variable.module) simt::place_variables(*program_of(kernel), memory_);
    address = memory_.variable(module->file, std::string(written->name), written->bytes, written->initial);
    return address;
}

}  // namespace lockstep::runtime
