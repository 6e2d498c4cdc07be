// A module printed and parsed again says the same.
#pragma once
#include <string>

#include "core/ptx/parse/printer.h"
#include "core/ptx/ptx.h"

namespace lockstep::ptx {

// Without what differs from one text to another that says the same.
inline Module without_spacing(Module module) {
    module.text = nullptr;
    for (std::vector<Entry>* list : {&module.entries, &module.functions})
        for (Entry& entry : *list)
            for (Statement& statement : entry.statements) statement.text = {};
    return module;
}

// "" where it does; else what parse says of the printed text, or that text.
inline std::string lost_in_print(const Module& module) {
    const std::string text = print(module);
    const auto again = parse(text, module.file);
    if (!again) return render(again.error());
    return without_spacing(module) == without_spacing(again.value()) ? std::string() : text;
}

}  // namespace lockstep::ptx
