// What a launch left in its outputs, held against what it should have: elements that nobody wrote, the first NaN or
// infinity, and expected values. Where something is wrong, the launch runs again functionally to find who did it.
#pragma once
#include <memory>
#include <vector>

#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::scene {

// Whether an element of an `out:` buffer holds what it was filled with: nobody wrote it.
bool is_unset(DType type, const std::byte* bytes);

struct LaunchToLookAt {
    const ptx::Program& program;
    const simt::LaunchConfig& config;
    const BoundArguments& bound;
    const std::vector<Array>& outputs;                          // of read_outputs
    std::shared_ptr<const simt::Memory> before;                 // null: nobody runs it again, places stay unknown
    simt::LaunchOptions options;                                // how it runs again
    uint64_t warp_instructions = 0;                             // that it took
    static constexpr uint64_t most_instructions = 100'000'000;  // beyond so many it does not run again
};

// Of kind "outputs". Elements of `out:` buffers that still hold what they were filled with, and NaNs and infinities that the
// kernel made itself.
std::vector<simt::Fault> warnings_of_outputs(const LaunchToLookAt& launch);

// All warnings of a launch that ended, as `lockstep run` and the app say them: variables that nobody set (`symbols`: what
// was set, as --symbol takes it; `source`: the CUDA text), odd values, and outputs.
std::vector<simt::Fault> warnings_of_launch(const LaunchToLookAt& launch, const std::vector<std::string>& symbols,
                                            const std::string& source);

struct Comparison {  // of one output that has expected values
    std::string name;
    uint64_t elements = 0, wrong = 0, first_wrong = 0;
    double largest_error = 0;  // infinite where a number and a NaN meet
    uint64_t largest_at = 0;
};
// Faults of kind "expected", one for each output that is wrong; fills `comparisons` for all that have expected values.
std::vector<simt::Fault> compare_outputs(const LaunchToLookAt& launch, std::vector<Comparison>& comparisons);

// Who wrote an element of an output last, as a clause: "which thread (7,0,0) of block (0,0,0) wrote at x.cu:5 as 1 + 2"; "".
std::string last_writer_text(const LaunchToLookAt& launch, size_t output, uint64_t element, simt::Fault* place = nullptr);

}  // namespace lockstep::scene
