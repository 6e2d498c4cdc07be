// A place in a text that a person wrote: line and column count from 1; 0 means unknown.
#pragma once
#include <string>

namespace lockstep {

struct SourceLocation {
    std::string file;
    int line = 0;
    int column = 0;

    bool operator==(const SourceLocation&) const = default;
};

}  // namespace lockstep
