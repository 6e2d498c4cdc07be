// Several modules become one, as a linker of object files does it: what one declares as .extern another defines, weak
// definitions of the same name are one, and what is a module's own keeps to itself.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/parse/module.h"

namespace lockstep::ptx {

struct Linked {
    Module module;  // with a text of its own
    // For each part: its own names (static ones) that another part has too, and what they are called in the module.
    std::vector<std::map<std::string, std::string>> renamed;

    // What the module calls a kernel or a variable of a part.
    std::string name_in(size_t part, const std::string& name) const;
};

// A Diagnostic has one sentence about a name that two files define, or that none does; the files are the parts' own
// (Module::file). Functions that the system provides (vprintf, cudaLaunchDeviceV2) need no definition.
Result<Linked> link(std::span<const Module> parts, const std::string& file);

}  // namespace lockstep::ptx
