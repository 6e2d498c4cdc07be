// A whole CUDA program has kernels and a host's part: main(), the standard library, launches. clang without a toolkit and
// NVRTC compile the kernels alone; this sets the host's part aside.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace lockstep::device {

struct KernelsOnly {
    std::string
        text;  // the source with blanks for the host's part: what is left keeps its lines and columns; #includes the lines
    // Functions that name the instances of kernel templates which the host's part named, k<16> of k<16><<<4, 256>>>(x), so
    // that the compiler makes them; to stand behind the text. Empty: there are none.
    std::string instances;
};

// What "name" or <name> of an #include becomes: nothing for a header of the host, the name itself for one that stays, or the
// name of what stands for it, in quotes.
using FindHeader = std::function<std::optional<std::string>(std::string_view name, bool quoted)>;

struct KernelNames {  // of the headers seen so far, and of the source
    using Names = std::set<std::string, std::less<>>;
    Names templates;  // of kernels
    Names marks;      // macros that stand for __global__ or __device__
    Names calls;      // macros with arguments
};

// Of the headers first, in the order in which they are included, then of the source. Set aside are functions without
// __global__ or __device__ that are not constexpr; variables without a memory space or const; types, aliases and members
// that need the host's libraries.
KernelsOnly kernels_only(std::string_view source, const FindHeader& find, KernelNames& known);

}  // namespace lockstep::device
