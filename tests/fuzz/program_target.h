// What the fuzzer does with CUDA programs: set the host's part aside; what is left stands where it stood.
#pragma once
#include <sstream>

#include "core/device/compile/kernels_only.h"
#include "core/device/compile/source_tokens.h"
#include "tests/fuzz/ptx_target.h"

namespace lockstep::fuzz {

inline bool try_program(std::string_view text) {  // whether something was set aside
    const std::string input = std::string(text) + "\n";
    device::KernelNames known;
    const auto find = [](std::string_view name, bool quoted) {
        return quoted ? std::optional<std::string>(name) : std::nullopt;
    };
    const device::KernelsOnly only = device::kernels_only(input, find, known);
    size_t last = 0;
    for (const device::SourceToken& token : device::tokens_of(input)) {
        must(token.begin >= last && token.end > token.begin && token.end <= input.size(), "tokens overlap");
        last = token.end;
    }
    std::istringstream before(input), after(only.text);
    bool aside = false;
    for (std::string line, left; std::getline(before, line);) {
        must(static_cast<bool>(std::getline(after, left)), "lines are missing");
        if (line == left) continue;
        aside = true;
        must(left.size() == line.size(), "a line has another length");
        for (size_t i = 0; i < line.size(); ++i) must(left[i] == ' ' || left[i] == line[i], "a character changed");
    }
    return aside;
}

}  // namespace lockstep::fuzz
