// Values of a module's variables before a launch, as a person writes them: `--symbol NAME=in:f32{1,2,3}`,
// `--symbol weights=in:w.npy`, `--symbol scale=f32:2`, `--symbol p=struct:i32:4,f32:1`, and pointers, `float *d`, as one or
// more of `pointers:`: `--symbol d=pointers:inout:f32[64]=d.npy`, `--symbol d=pointers:@x+4`. NAME is the variable's name in
// CUDA C++ or, where several share it, in PTX.
#pragma once
#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::scene {

struct ModuleSymbol {
    std::string name;
    KernelArgument value;  // role in
};

// The Diagnostic quotes the text with a caret.
Result<ModuleSymbol> parse_symbol(std::string_view text);

// Several between semicolons, as a form has them: "taps=in:f32{1,2,1}; n=i32:7".
Result<std::vector<ModuleSymbol>> parse_symbols(std::string_view text);

// Places the program's variables in `memory` and writes these; a value shorter than its variable leaves the rest as it was.
// Buffers that they point to are noted in `bound`, which knows those of the arguments.
// The Diagnostic names the nearest variable, or the sizes that do not fit.
std::optional<Diagnostic> bind_symbols(const ptx::Program& program, const std::vector<ModuleSymbol>& symbols,
                                       simt::Memory& memory, uint64_t seed = 1, const std::filesystem::path& folder = {},
                                       BoundArguments* bound = nullptr);

}  // namespace lockstep::scene
