// Who called this library: the frames above it, for reports that name the line of a call which says nothing of itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lockstep::system {

struct CallerFrame {
    uint64_t address = 0;   // within the instruction of the call
    uint64_t function = 0;  // the begin of the function that it lies in
};
// The frames that called into the library which this function lies in, the innermost first; how many there are, at most as
// many as `frames` has room for. 0 where the system cannot tell, and where all is one program.
size_t callers(std::span<CallerFrame> frames);

struct ModulePlace {       // of an address in this process
    std::string file;      // the program or library; "": unknown
    uint64_t address = 0;  // as its own symbols count
};
ModulePlace module_place(uint64_t address);

}  // namespace lockstep::system
