// Memory of this process that is closed for a while, so that who touches it too early is heard of.
#pragma once
#include <cstdint>

namespace lockstep::system {

constexpr uint64_t guarded_page = 4096;  // ranges begin and end at multiples of it

enum class PageAccess : uint8_t { none, read, all };
// False where the system cannot.
bool set_page_access(uint64_t begin, uint64_t bytes, PageAccess access);

struct RefusedAccess {
    uint64_t address = 0;  // that was touched
    uint64_t code = 0;     // the instruction that did
    bool writes = false;   // where the processor says it
};
// Calls `handler` for every access that pages refuse. True: it has opened them, and the access is tried again. False: the
// access is a crash as any other.
void on_refused_access(bool (*handler)(const RefusedAccess& access));

}  // namespace lockstep::system
