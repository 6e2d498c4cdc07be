// Fat binaries, and the kernels and variables that the compiler's start-up code registers of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

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
constexpr uint32_t linked_version = 2;  // of a wrapper whose `name` is a list of fat binaries, ended by a null pointer

Result<std::vector<FatBinary>> parts_of(const Wrapper& wrapper) {
    std::vector<FatBinary> parts;
    std::vector<const std::byte*> sources;
    if (wrapper.version == linked_version && wrapper.name)
        for (auto* part = static_cast<const std::byte* const*>(wrapper.name); *part; ++part) sources.push_back(*part);
    else
        sources.push_back(wrapper.data);
    for (const std::byte* const source : sources) {
        Result<FatBinary> images = read_fat_binary(source);
        if (!images) return images.error();
        parts.push_back(std::move(images).value());
    }
    return parts;
}

// Of libcudadevrt, which nvcc links to programs whose kernels launch kernels: here the system does that.
bool is_device_runtime(const PtxImage& image) {
    return image.text.find("cuda_device_runtime") != std::string::npos &&
           image.text.find("__cudaCDP2LaunchDeviceV2(") != std::string::npos;
}

// Functions that kernels call for the words of an error, as PTX: each takes the number and gives the address of a string.
constexpr std::string_view text_functions[] = {"cudaGetErrorString", "__cudaCDP2GetErrorString", "cudaGetErrorName",
                                               "__cudaCDP2GetErrorName"};

bool wants_error_texts(const ptx::Module& part) {
    return std::any_of(part.functions.begin(), part.functions.end(), [](const ptx::Entry& function) {
        return !function.defined && std::ranges::find(text_functions, function.name) != std::end(text_functions);
    });
}

std::string error_texts() {
    struct Error {
        int number;
        std::string_view name, text;
    };
#define LOCKSTEP_ROW(name, value, text) {value, #name, text},
    constexpr Error errors[] = {LOCKSTEP_CUDA_ERRORS(LOCKSTEP_ROW)};
#undef LOCKSTEP_ROW
    std::string out = ".version 6.4\n.target sm_30\n.address_size 64\n";
    const auto add = [&](std::string_view kind, std::string_view Error::*words, std::string_view unknown) {
        std::string bytes, choice;
        size_t at = 0;
        const auto append = [&](std::string_view text) {
            for (const char c : text) bytes += fmt::format("{}, ", static_cast<int>(c));
            bytes += "0, ";
            return std::exchange(at, at + text.size() + 1);
        };
        append(unknown);
        for (const Error& error : errors)
            choice += fmt::format("setp.eq.s32 %p, %r, {};\nadd.s64 %rd2, %rd0, {};\nselp.b64 %rd1, %rd2, %rd1, %p;\n",
                                  error.number, append(error.*words));
        bytes.resize(bytes.size() - 2);
        out += fmt::format(".global .b8 lockstep_{}[{}] = {{{}}};\n", kind, at, bytes);
        for (const std::string_view name : text_functions)
            if (name.ends_with(kind))
                out += fmt::format(
                    ".weak .func (.param .b64 address) {} (.param .b32 error) {{\n.reg .pred %p;\n"
                    ".reg .b32 %r;\n.reg .b64 %rd<3>;\nld.param.u32 %r, [error];\n"
                    "mov.u64 %rd0, lockstep_{};\ncvta.global.u64 %rd0, %rd0;\nmov.u64 %rd1, %rd0;\n{}"
                    "st.param.b64 [address], %rd1;\nret;\n}}\n",
                    name, kind, choice);
    };
    add("GetErrorString", &Error::text, "unrecognized error code");
    add("GetErrorName", &Error::name, "unrecognized error code");
    return out;
}

// The file that a part was compiled from, where the compiler said so.
std::string source_of(const ptx::Module& part, const std::string& otherwise) {
    return part.files.size() > 1 && !part.files[1].empty() ? part.files[1] : otherwise;
}

}  // namespace

Module* Runtime::add_module(const void* wrapper) {
    auto module = std::make_unique<Module>();
    module->name = fmt::format("module {}", modules_.size() + 1);
    module->linked.resize(settings_.gpus);
    Wrapper read;
    std::memcpy(&read, wrapper, sizeof read);
    if (read.magic != wrapper_magic) {
        module->problem = "the program registers a fat binary of an unknown kind";
    } else if (Result<std::vector<FatBinary>> parts = parts_of(read)) {
        module->parts = std::move(parts).value();
    } else {
        module->problem = parts.error().message;
    }
    modules_.push_back(std::move(module));
    return modules_.back().get();
}

Module* Runtime::load_module(const void* code) {
    uint32_t magic = 0;
    std::memcpy(&magic, code, sizeof magic);
    const Wrapper wrapped{wrapper_magic, 1, static_cast<const std::byte*>(code), nullptr};
    Module* const module = add_module(magic == wrapper_magic ? code : &wrapped);
    linked(*module);
    return module;
}

std::vector<std::string> Runtime::kernels_in(Module& module) {
    std::vector<std::string> names;
    for (const ptx::Entry& entry : linked(module).module.entries) names.emplace_back(entry.name);
    return names;
}

uint64_t Runtime::bytes_of_variable(Module& module, const std::string& name) {
    for (const ptx::Variable& variable : linked(module).module.variables)
        if (variable.name == name) return variable.bytes;
    throw CallFailure{cudaErrorSymbolNotFound, fmt::format("the library has no variable '{}'", name)};
}

void Runtime::remove_module(Module* module) {
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second.module == module; });
    std::erase_if(variables_, [&](const auto& entry) { return entry.second.module == module; });
}

void Runtime::add_kernel(Module* module, const void* host, const char* name) {
    Kernel kernel{.name = name, .module = module, .part = module->registering, .host = host};
    kernel.programs.resize(settings_.gpus);
    kernels_[host] = std::move(kernel);
}

void Runtime::add_variable(Module* module, const void* host, const char* name, uint64_t bytes, void** managed) {
    ModuleVariable variable{.name = name, .module = module, .part = module->registering, .bytes = bytes, .managed = managed};
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
    ModuleVariable variable{
        .name = name, .module = module, .part = module->registering, .bytes = sizeof(uint64_t), .is_texture = true};
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
    if (found != variables_.end()) return &found->second;
    for (auto& [of_host, variable] : variables_)  // of a __managed__ one programs have the memory itself
        if (variable.managed && *variable.managed == host && host) return &variable;
    return nullptr;
}

// The image of each part for the modelled GPU, parsed under a name of the module's own for each device, so that each has its
// own variables. The device runtime of CUDA's own, which programs with launches from kernels hold too, is the system's here.
const ptx::Linked& Runtime::linked(Module& module) {
    std::shared_ptr<const ptx::Linked>& linked = module.linked[device_];
    if (linked) return *linked;
    if (!module.problem.empty()) throw CallFailure{cudaErrorInvalidKernelImage, module.problem};
    const std::string file = fmt::format("{} of GPU {}", module.name, device_);
    const auto refuse = [&](const Diagnostic& why) -> CallFailure {
        module.problem = render(why);
        return {cudaErrorInvalidPtx, module.problem};
    };
    std::vector<ptx::Module> parts;
    for (const FatBinary& images : module.parts) {
        parts.emplace_back();
        const PtxImage* const best = best_image(images, static_cast<uint32_t>(gpu_.compute.number));
        if (!best || is_device_runtime(*best)) continue;
        Result<ptx::Module> read = ptx::parse(best->text, file);
        if (!read) throw refuse(read.error());
        parts.back() = std::move(read).value();
        if (module.parts.size() > 1)
            parts.back().file = source_of(parts.back(), fmt::format("file {} of the program", parts.size()));
    }
    if (std::none_of(parts.begin(), parts.end(), [](const ptx::Module& part) { return part.text != nullptr; }))
        throw CallFailure{cudaErrorNoKernelImageForDevice,
                          "the program holds machine code alone, and this GPU runs PTX: build it with -gencode "
                          "arch=compute_80,code=compute_80"};
    if (std::any_of(parts.begin(), parts.end(), wants_error_texts))
        parts.push_back(ptx::parse(error_texts(), "the words of errors").value());
    if (parts.size() == 1) {
        linked = std::make_shared<const ptx::Linked>(ptx::Linked{std::move(parts.front()), {}});
        return *linked;
    }
    Result<ptx::Linked> whole = ptx::link(parts, file);
    if (!whole) throw refuse(whole.error());
    linked = std::make_shared<const ptx::Linked>(std::move(whole).value());
    return *linked;
}

std::shared_ptr<const ptx::Program> Runtime::program_of(Kernel& kernel) {
    std::shared_ptr<const ptx::Program>& program = kernel.programs[device_];
    if (program) return program;
    const ptx::Linked& whole = linked(*kernel.module);
    Result<std::shared_ptr<const ptx::Program>> decoded = ptx::decode(whole.module, whole.name_in(kernel.part, kernel.name));
    if (!decoded) {
        Diagnostic why = decoded.error();
        if (why.message.find("its code is elsewhere") != std::string::npos && kernel.module->parts.size() == 1)
            why.message += " (--rdc links the device code of several files)";
        throw CallFailure{cudaErrorInvalidPtx, render(why)};
    }
    program = decoded.value();
    return program;
}

uint64_t Runtime::address_of(ModuleVariable& variable) {
    uint64_t& address = variable.addresses[device_];
    if (address != 0) return address;
    const ptx::Linked& whole = linked(*variable.module);
    const std::string name = whole.name_in(variable.part, variable.name);
    const ptx::Module& module = whole.module;
    const auto written = std::find_if(module.variables.begin(), module.variables.end(),
                                      [&](const ptx::Variable& v) { return v.name == name; });
    if (written == module.variables.end())
        throw CallFailure{cudaErrorInvalidSymbol, fmt::format("the GPU's part of the program has no variable '{}'",
                                                              ptx::readable_name(variable.name))};
    if (variable.managed || variable.in_place) {
        const uint64_t bytes = std::max<uint64_t>(1, written->bytes);
        auto* const host =
            variable.in_place ? variable.in_place : static_cast<std::byte*>(::operator new (bytes, std::align_val_t{4096}));
        std::memset(host, 0, bytes);
        if (!written->initial.empty()) std::memcpy(host, written->initial.data(), written->initial.size());
        address = reinterpret_cast<uintptr_t>(host);
        memory_.adopt(address, host, written->bytes, std::string(written->name), module.file);
        return address;
    }
    // Addresses among the initial values need a decoded kernel, which knows where each variable lies.
    if (!written->references.empty())
        for (auto& [host, kernel] : kernels_)
            if (kernel.module == variable.module) simt::place_variables(*program_of(kernel), memory_);
    address = memory_.variable(module.file, std::string(written->name), written->bytes, written->initial);
    return address;
}

}  // namespace lockstep::runtime
