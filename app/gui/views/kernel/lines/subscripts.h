// Which array element the loads and stores of a source line touch, as far as its text says so without doubt.
#pragma once
#include <string>

#include "core/ptx/decode/program.h"

namespace lockstep::gui {

// The source line's text, without its indentation.
std::string line_of(const std::string& source, int line);
// "A[i]" when the source line reads exactly one element (a load) or assigns to one (a store); empty otherwise.
std::string subscript_of(const std::string& source, int line, bool store);
// The same of one load: of several elements on its line, the one that can lie in its memory, or that has its place in a
// chain: idx[i] of a[idx[i]] is loaded first. Empty when that is not certain.
std::string loaded_by(const ptx::Program& program, const std::string& source, uint32_t pc);

}  // namespace lockstep::gui
