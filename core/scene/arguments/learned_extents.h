// How much of its buffers a kernel touches, learned by running it: functionally, in buffers that are made larger whenever an
// access lies behind their end. What a form offers where nobody has said how large the buffers are. Only buffers that are
// generated, and are the kernel's own parameters, are learned; what a file or a list holds stays as it is.
#pragma once
#include <stop_token>

#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::scene {

struct LearnLimits {
    uint64_t bytes = uint64_t{256} << 20;  // of one buffer
    uint64_t instructions = 100'000'000;   // warp instructions, of all runs together
    double seconds = 1;                    // of this thread's time on the processor, of all runs together
};

struct LearnedExtent {
    bool learned = false;   // a generated buffer of a parameter
    uint64_t elements = 0;  // from the first to the last that is touched; 0: none is
    uint64_t asked = 0;     // elements that the argument has
    bool read = false, written = false;
};

struct LearnedExtents {
    std::vector<LearnedExtent> arguments;  // by parameter
    std::string stopped;                   // why the run did not come to its end: then nothing is learned. "": it did
    int runs = 0;                          // until no access lay outside
    double seconds = 0;                    // on the processor
};

LearnedExtents learn_extents(const ptx::Program& program, const simt::LaunchConfig& config,
                             const std::vector<KernelArgument>& arguments, const simt::LaunchOptions& options,
                             const std::string& source, const LearnLimits& limits = {}, const std::stop_token& stop = {});

// The argument's text with that many elements: "in:f32[1024 ramp]" with 4096 is "in:f32[4096 ramp]". Of several extents the
// slowest grows where the rows stay whole, else they become one.
std::string with_elements(const std::string& argument, uint64_t elements);

}  // namespace lockstep::scene
