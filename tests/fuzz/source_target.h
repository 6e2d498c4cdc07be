// What the fuzzer does with CUDA text: look for the parameters of a kernel `k`, through the text's macros.
#pragma once
#include "core/device/compile/source_tokens.h"
#include "core/scene/arguments/kernel_source.h"
#include "tests/fuzz/arguments_target.h"

namespace lockstep::fuzz {

inline size_t try_source(std::string_view input) {  // how many parameters there are
    const std::string text(input);
    must(device::without_comments(text).size() == text.size(), "a text without its comments has another length");
    must(scene::without_macros(text).size() < text.size() + (size_t{8} << 20), "macros grow without a bound");
    const std::vector<std::string> names = scene::parameter_names(text, "k");
    must(names.size() == scene::parameter_declarations(text, "k").size(), "a name without its declaration");
    for (const std::string& name : names) must(!name.empty(), "a parameter without a name");
    return names.size();
}

}  // namespace lockstep::fuzz
