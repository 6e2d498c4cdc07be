// What the fuzzer does with kernel arguments, one a line: "--grid ..." and "--block ..." are extents, "--symbol ..." a
// variable's value, all others an argument, which is bound to a kernel's parameter when it is not too large for 16 KiB.
// Files are not opened: which ones there are is not the fuzzer's to say.
#pragma once
#include "core/base/files.h"
#include "core/scene/arguments/module_symbols.h"
#include "tests/fuzz/ptx_target.h"

namespace lockstep::fuzz {

inline const ptx::Program& program_of_arguments() {  // k(buffer, 4 bytes, a struct of 24 bytes, 2 bytes), two variables
    static const std::shared_ptr<const ptx::Program> program =
        ptx::decode(ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 table[64];\n"
                               ".const .f32 factor;\n.global .texref picture;\n.visible .entry k(.param .u64 buffer, "
                               ".param .u32 n, .param .align 8 .b8 s[24], .param .u16 h) { ret; }",
                               "k.ptx")
                        .value(),
                    "k")
            .value();
    return *program;
}

inline void must_be_a_sentence(const Diagnostic& problem) {
    must(!problem.message.empty() && !render(problem).empty(), "a complaint without words");
}

inline bool is_small(const scene::KernelArgument& argument) {
    uint64_t bytes = size_of(argument.type);
    for (const int64_t extent : argument.shape) {
        must(extent >= 0, "an extent below zero");
        if (extent > 0 && bytes > (uint64_t{1} << 62) / static_cast<uint64_t>(extent)) return false;
        bytes *= static_cast<uint64_t>(extent);
    }
    return bytes <= 16'384 && argument.fill != scene::KernelArgument::Fill::file;
}

// The argument at each parameter in turn, with zeros at the others.
inline size_t bind(const scene::KernelArgument& argument) {
    const char* const zeros[] = {"u64:0", "u32:0", "struct:u64:0,u64:0,u64:0", "u16:0"};
    size_t bound = 0;
    for (size_t at = 0; at < 4; ++at) {
        std::vector<scene::KernelArgument> all;
        for (const char* zero : zeros) all.push_back(scene::parse_argument(zero).value());
        all[at] = argument;
        simt::Memory memory(uint64_t{8} << 20);
        simt::LaunchConfig config;
        try {
            const auto result = scene::bind_arguments(program_of_arguments(), all, memory, config);
            if (!result) {
                must_be_a_sentence(result.error());
                continue;
            }
            ++bound;
            must(config.parameters.size() == program_of_arguments().parameter_bytes, "parameters of another size");
            for (const Array& array : scene::read_outputs(result.value(), memory)) {
                uint64_t bytes = size_of(array.dtype);
                for (const int64_t extent : array.shape) bytes *= static_cast<uint64_t>(extent);
                must(bytes == array.bytes.size(), "an output of another size");
                must(parse_npy(format_npy(array), "out.npy").value().bytes == array.bytes, "an output changes in its file");
            }
        } catch (const Failure& failure) {
            must_be_a_sentence(failure.diagnostic);
        }
    }
    return bound;
}

inline size_t try_arguments(std::string_view input) {  // how many were bound
    size_t bound = 0;
    int lines = 0;
    for (size_t begin = 0; begin <= input.size() && lines < 16; ++lines) {
        const size_t end = std::min(input.find('\n', begin), input.size());
        const std::string_view line = input.substr(begin, end - begin);
        begin = end + 1;
        if (line.starts_with("--grid ") || line.starts_with("--block ")) {
            const auto extents = scene::parse_dim3(line.substr(line.find(' ') + 1), "grid");
            if (extents)
                must(extents.value().x && extents.value().y && extents.value().z, "an extent of zero");
            else
                must_be_a_sentence(extents.error());
        } else if (line.starts_with("--symbol ")) {
            const auto symbol = scene::parse_symbol(line.substr(9));
            if (!symbol) {
                must_be_a_sentence(symbol.error());
            } else if (is_small(symbol.value().value)) {
                simt::Memory memory(uint64_t{8} << 20);
                try {
                    const auto problem = scene::bind_symbols(program_of_arguments(), {symbol.value()}, memory);
                    if (problem)
                        must_be_a_sentence(*problem);
                    else
                        ++bound;
                } catch (const Failure& failure) {
                    must_be_a_sentence(failure.diagnostic);
                }
            }
        } else {
            const auto argument = scene::parse_argument(line);
            if (!argument)
                must_be_a_sentence(argument.error());
            else if (is_small(argument.value()))
                bound += bind(argument.value());
        }
    }
    return bound;
}

}  // namespace lockstep::fuzz
