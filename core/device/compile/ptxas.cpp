// Registers a thread as an installed ptxas gives them, asked for by name only: cycles never depend on what a machine has. It
// compiles the program's own PTX in a child process, for the GPU where it knows that GPU, else for the PTX's own target,
// else for a later one, and its "Used 40 registers" of the kernel is read.
#include "core/device/compile/ptxas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/base/files.h"
#include "core/device/compile/compilers.h"

namespace lockstep::device {
namespace {

// ptxas -v: "ptxas info    : Compiling entry function 'saxpy' for 'sm_75'", then lines of it, then "... Used 40 registers".
std::string_view part_of_kernel(std::string_view text, std::string_view kernel) {
    const size_t at = text.find(fmt::format("Compiling entry function '{}'", kernel));
    if (at == std::string_view::npos) return {};
    return text.substr(at, text.find("Compiling entry function", at + 1) - at);
}
// The number in front of `words`: "16 bytes spill stores"; 0: it is not there.
uint32_t number_before(std::string_view text, std::string_view words) {
    const size_t end = text.find(words);
    if (end == std::string_view::npos) return 0;
    size_t begin = end;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1]))) --begin;
    uint32_t number = 0;
    std::from_chars(text.data() + begin, text.data() + end, number);
    return number;
}

std::optional<uint32_t> registers_in(std::string_view text, std::string_view kernel) {
    size_t at = text.find(fmt::format("Compiling entry function '{}'", kernel));
    if (at == std::string_view::npos) return std::nullopt;
    const size_t next = text.find("Compiling entry function", at + 1);
    constexpr std::string_view used = "Used ";
    at = text.find(used, at);
    if (at == std::string_view::npos || at > next) return std::nullopt;
    uint32_t count = 0;
    const std::string_view rest = text.substr(at + used.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error != std::errc() || !rest.substr(static_cast<size_t>(end - rest.data())).starts_with(" registers") ||
        count < 1 || count > 255)
        return std::nullopt;
    return count;
}

std::string first_line_of(const std::string& text) {
    std::string line = text.substr(0, std::min<size_t>(text.find('\n'), 300));
    std::erase_if(line, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)); });
    return line;
}

}  // namespace

std::string local_memory_text(const PtxasRegisters& told) {
    if (told.spill_stores + told.spill_loads > 0)
        return fmt::format(
            "{} bytes of stores and {} of loads of local memory are spills: the kernel has more values at a time than {} "
            "registers hold{}",
            told.spill_stores, told.spill_loads, told.count,
            told.stack > std::max(told.spill_stores, told.spill_loads) ? "; the rest of its stack is for arrays" : "");
    if (told.stack > 0)
        return fmt::format(
            "{} bytes a thread of local memory are for an array or for what is passed by its address; nothing is spilled",
            told.stack);
    return {};
}

PtxasRegisters ptxas_registers(const ptx::Program& program, const std::string& compute) {
    const std::filesystem::path ptxas = system::find_program({"ptxas"}, {"/usr/local/cuda/bin"});
    if (ptxas.empty())
        throw Failure(
            "there is no ptxas on this machine: it comes with the CUDA toolkit (Debian package nvidia-cuda-toolkit)",
            ExitStatus::missing);
    const TemporaryFolder folder;
    write_file(folder.path() / "kernel.ptx", program.ptx);
    std::string gpu = "sm_" + compute;
    std::erase(gpu, '.');
    std::string refused;
    for (const std::string& target : {gpu, program.target, std::string("sm_75"), std::string("sm_90")}) {
        const system::ChildOutcome outcome =
            system::run_program(ptxas, {"-v", "-arch=" + target, "-o", "kernel.cubin", "kernel.ptx"}, folder.path());
        if (outcome.succeeded())
            if (const auto count = registers_in(outcome.output, program.kernel)) {
                const std::string_view part = part_of_kernel(outcome.output, program.kernel);
                return {*count, target, number_before(part, " bytes stack frame"),
                        number_before(part, " bytes spill stores"), number_before(part, " bytes spill loads")};
            }
        refused = outcome.end == system::ChildOutcome::End::timed_out ? "it took too long" : first_line_of(outcome.output);
    }
    throw Failure(fmt::format("ptxas tells no registers of {}: {}", program.shown_name(),
                              refused.empty() ? std::string("it says nothing") : refused));
}

}  // namespace lockstep::device
