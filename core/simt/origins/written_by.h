// Who wrote what stands in memory when a launch has ended: the launch runs again from the memory that it began with.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::simt {

struct MemoryRange {
    uint64_t address = 0, bytes = 0;  // of global memory
};

struct Written {
    bool written = false;
    Fault by;         // its place: kernel, file, lines, block and thread; of the last one who wrote any of these bytes
    std::string how;  // "2 * 3.5 + 1", "atomic"; "" where that cannot be told
};

// Who wrote to each of `ranges` last. Empty: the launch ended otherwise than the one that was asked about might have, or
// took more than `options.max_instructions`, or was stopped. Only the blocks that changed the ranges are looked at closely.
std::vector<Written> last_writers(const ptx::Program&, const LaunchConfig&, const Memory& before,
                                  const LaunchOptions& options, std::span<const MemoryRange> ranges);

// Of each byte of the ranges, in order, whether somebody wrote it; empty as above.
std::vector<bool> written_bytes(const ptx::Program&, const LaunchConfig&, const Memory& before, const LaunchOptions& options,
                                std::span<const MemoryRange> ranges);

// Where a NaN or an infinity that an element holds in the end was made.
struct NonFinite {
    enum class From : uint8_t {
        made,      // an operation gave it for numbers that were none: `by`, `how`
        constant,  // the program has it
        memory,    // it was there when the launch began
        unknown
    };
    From from = From::unknown;
    Fault by;
    std::string how;  // "0 / 0"
    std::string advice;
    size_t element = 0;  // which of those asked about
    uint64_t read = 0;   // unknown: the address of global memory that it was read from, or 0
};
// Of elements of `type` at these addresses, which are none before the launch: the first of which it can be told that the
// kernel made it. Nothing: none of them, as far as a few blocks tell.
std::optional<NonFinite> first_nonfinite(const ptx::Program&, const LaunchConfig&, const Memory& before,
                                         const LaunchOptions& options, std::span<const uint64_t> addresses, ptx::Type type);

}  // namespace lockstep::simt
