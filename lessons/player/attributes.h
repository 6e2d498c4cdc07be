// One directive line: "::: name key="value" key=value flag". What may stand there is the table in attributes.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace lockstep::lessons {

struct Attribute {
    std::string key, value;
    int key_column = 0, value_column = 0;  // from 1; of the value's first character
};
struct Directive {
    std::string name;
    bool has_body = false;  // lines follow, up to the next line that begins with ":::"
    std::vector<Attribute> attributes;
    SourceLocation where;
    std::string source_line;

    const Attribute* find(std::string_view key) const;
    std::string get(std::string_view key, std::string otherwise = {}) const;
    // A Diagnostic at an attribute's value, `offset` characters into it.
    Diagnostic problem(const Attribute& attribute, size_t offset, std::string message) const;
};

// Unknown names, missing and repeated attributes are Diagnostics.
Result<Directive> parse_directive(const std::string& line, const SourceLocation& where);

}  // namespace lockstep::lessons
