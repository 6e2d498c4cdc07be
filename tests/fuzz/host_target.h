// What the fuzzer does with host programs: parse them. What the parser let through must hold together; nothing runs.
#pragma once
#include "core/scene/host/host_program.h"
#include "tests/fuzz/arguments_target.h"

namespace lockstep::fuzz {

inline size_t try_host(std::string_view input) {  // how many operations it has
    const std::string text(input);
    const std::vector<scene::HostLine> lines = scene::host_lines(text);
    for (size_t i = 0; i < lines.size(); ++i) {
        must(lines[i].code.find_first_not_of(" \t") != std::string::npos, "a line that says nothing");
        must(lines[i].end == scene::HostLine::no_end || (lines[i].end > i && lines[i].end < lines.size()),
             "a loop that ends nowhere");
    }
    const auto host = scene::parse_host(text, "fuzz/program.host");
    if (!host) {
        must_be_a_sentence(host.error());
        return 0;
    }
    const auto& arrays = host.value().arrays;
    const auto check = [&](const scene::HostSlice& slice) {
        if (slice.array < 0) return;
        must(static_cast<size_t>(slice.array) < arrays.size(), "a slice of no array");
        must(slice.first <= slice.past && slice.past <= arrays[static_cast<size_t>(slice.array)].count,
             "a slice out of its array");
    };
    for (const scene::HostStatement& one : host.value().statements) {
        must(one.line >= 1 && !one.text.empty(), "an operation without its place or its words");
        check(one.to);
        check(one.from);
        for (const scene::HostArgument& argument : one.arguments)
            if (argument.is_slice) check(argument.slice);
    }
    return host.value().statements.size();
}

}  // namespace lockstep::fuzz
