// The front end: text -> parse -> Module -> decode -> Program. Parse keeps what was written; decode decides what it means.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/decode/program.h"
#include "core/ptx/parse/module.h"

namespace lockstep::ptx {

// PTX text of nvcc, NVRTC or clang. A Diagnostic has line, column and the nearest known name.
Result<Module> parse(std::string_view text, const std::string& file);

// Names of the module's entries, in order; those of CUDA's own header libraries only where there are no others.
std::vector<std::string> entries(const Module& module);

// The C++ name of an entry: matmul for _Z6matmulPKf, _ZN4math6matmulEPKf and _Z6matmulILi4EEvPf; the entry's own name when
// it is not mangled.
std::string readable_name(std::string_view entry);

// One entry, decoded. `kernel` may be empty when the module has exactly one entry; it may be the C++ name when the PTX
// has the mangled one (matmul for _Z6matmulPKf...). The program points into the table of opcodes.
Result<std::shared_ptr<const Program>> decode(const Module& module, const std::string& kernel = {},
                                              std::span<const Opcode> table = opcodes());

}  // namespace lockstep::ptx
