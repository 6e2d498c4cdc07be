#include "app/cli/kernel/launch_input.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/device/compile/ptxas.h"
#include "core/scene/arguments/module_symbols.h"

namespace lockstep::cli {
namespace {

// The program with the registers a thread that --registers says.
std::shared_ptr<const ptx::Program> with_registers(std::shared_ptr<const ptx::Program> program, const std::string& count,
                                                   const model::GpuSpec& gpu) {
    if (count.empty()) return program;
    uint32_t registers = 0;
    if (count == "ptxas") {
        const device::PtxasRegisters told = device::ptxas_registers(*program, gpu.compute.text());
        tell("ptxas for {}: {} registers a thread; without it {}\n", told.target, told.count,
             ptx::registers_on(*program, gpu.compute.number));
        if (const std::string local = device::local_memory_text(told); !local.empty()) tell("    {}\n", local);
        auto changed = std::make_shared<ptx::Program>(*program);
        changed->registers_per_thread = told.count;
        changed->registers_for.clear();
        return changed;
    }
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), registers);
    if (error != std::errc() || end != count.data() + count.size() || registers < 1 || registers > 255)
        throw Failure(fmt::format("--registers needs a number from 1 to 255 or ptxas, not '{}'", count));
    auto changed = std::make_shared<ptx::Program>(*program);
    changed->registers_per_thread = registers;
    changed->registers_for.clear();
    return changed;
}

// The CUDA text that PTX was made of, for what people call its parameters: where its .file says, beside the PTX or one
// folder above it; "" where it is not found.
std::string source_of(const ptx::Program& program, const std::string& ptx_file) {
    if (program.source_file.empty()) return {};
    const std::filesystem::path named = program.source_file, folder = std::filesystem::path(ptx_file).parent_path();
    for (const std::filesystem::path& path : {named, folder / named.filename(), folder / ".." / named.filename()}) {
        std::error_code none;
        if (!std::filesystem::is_regular_file(path, none)) continue;
        if (Result<std::string> text = read_text(path, 64u << 20)) return std::move(text).value();
    }
    return {};
}

}  // namespace

void read_kernel(const KernelAsked& options, LaunchInput& input) {
    std::string text = read_text(options.file, 64u << 20).value();
    bool compiled_here = false;
    std::string ptx_name = options.file;
    const std::string extension = std::filesystem::path(options.file).extension().string();
    if (extension == ".cu" || extension == ".cuh" || extension == ".cpp") {
        device::CompileOptions how = options.compiler;
        how.least_arch = static_cast<int>(input.gpu.compute.number);
        device::Compiled compiled = compile_with_warnings(text, options.file, how);
        input.source = std::move(text);
        text = std::move(compiled.ptx);
        ptx_name += ".ptx";
        compiled_here = true;
    } else if (extension != ".ptx") {
        throw Failure(Diagnostic{"a kernel file ends in .cu or .ptx", {options.file}});
    }
    const auto decoded = ptx::decode(ptx::parse(text, ptx_name).value(), options.kernel);
    if (decoded && !compiled_here) input.source = source_of(*decoded.value(), options.file);
    if (!decoded)
        throw Failure(compiled_here ? device::in_source(decoded.error(), input.source, options.file) : decoded.error());
    input.program = with_registers(decoded.value(), options.registers, input.gpu);
    // The mangled name only where that was asked for.
    input.kernel = options.kernel == input.program->kernel ? input.program->kernel : input.program->shown_name();
}

void bind_launch(const KernelAsked& options, LaunchInput& input, simt::Memory& memory) {
    const ptx::Program& program = *input.program;
    simt::LaunchConfig& config = input.config;
    config.grid = scene::parse_dim3(options.grid, "--grid").value();
    config.block = scene::parse_dim3(options.block, "--block").value();
    config.dynamic_shared = options.shared;
    if (!options.cluster.empty()) config.cluster = scene::parse_dim3(options.cluster, "--cluster").value();
    std::vector<scene::KernelArgument> arguments;
    for (const std::string& argument : options.arguments) arguments.push_back(scene::parse_argument(argument).value());
    input.bound = scene::bind_arguments(program, arguments, memory, config, options.seed, {}, input.source).value();
    std::vector<scene::ModuleSymbol> symbols;
    for (const std::string& symbol : options.symbols) symbols.push_back(scene::parse_symbol(symbol).value());
    if (const auto problem = scene::bind_symbols(program, symbols, memory, options.seed, {}, &input.bound))
        throw Failure(*problem);
}

}  // namespace lockstep::cli
