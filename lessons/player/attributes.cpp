// The table of directives, one row a directive: its attributes ("*" marks those that must be there) and whether it has a
// body.
#include "lessons/player/attributes.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"

namespace lockstep::lessons {
namespace {

struct DirectiveRow {
    std::string_view name;
    bool has_body;
    std::vector<std::string> attributes;
};

const std::vector<DirectiveRow>& rows() {
    static const std::vector<DirectiveRow> table = {
        {"scene", false, {"id",       "file",       "kernel",   "grid", "block", "args",    "shared", "gpu",
                          "gpus",     "train",      "tape",     "host", "view",  "compare", "focus",  "expect",
                          "schedule", "collective", "parallel", "plan", "mesh",  "guess"}},
        {"predict",
         true,
         {"id*", "of*", "type*", "tolerance", "sure", "base", "known", "label", "unit", "finding", "axis", "log", "items",
          "parts", "points", "x", "y", "worth"}},
        {"hint", true, {"after"}},
        {"step", false, {"until*"}},
        {"exercise",
         true,
         {"id*", "file*", "check*", "args", "kernel", "reference", "grid", "block", "shapes", "shared", "gpu", "inputs",
          "points", "allow", "changes", "without"}},
        {"challenge", true, {"of*", "exercise*", "shape", "gold"}},
        {"note", true, {"presenter*"}},
    };
    return table;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

const Attribute* Directive::find(std::string_view key) const {
    for (const Attribute& a : attributes)
        if (a.key == key) return &a;
    return nullptr;
}

std::string Directive::get(std::string_view key, std::string otherwise) const {
    const Attribute* found = find(key);
    return found ? found->value : otherwise;
}

Diagnostic Directive::problem(const Attribute& attribute, size_t offset, std::string message) const {
    return {std::move(message), {where.file, where.line, attribute.value_column + static_cast<int>(offset)}, source_line};
}

// directive = ":::" name { attribute };  attribute = key [ "=" ( '"' characters '"' | characters without spaces ) ]
Result<Directive> parse_directive(const std::string& line, const SourceLocation& where) {
    auto bad = [&](size_t at, std::string message) {
        return Diagnostic{std::move(message), {where.file, where.line, static_cast<int>(at) + 1}, line};
    };
    auto word_from = [&](size_t at) {
        size_t end = at;
        while (end < line.size() && is_word(line[end])) ++end;
        return line.substr(at, end - at);
    };
    Directive directive;
    directive.where = where;
    directive.source_line = line;
    size_t at = line.find_first_not_of(": \t");
    if (at == std::string::npos) return bad(0, "a directive's name is missing after ':::'");
    directive.name = word_from(at);
    const auto row =
        std::find_if(rows().begin(), rows().end(), [&](const DirectiveRow& r) { return r.name == directive.name; });
    if (row == rows().end()) {
        std::vector<std::string> names;
        for (const DirectiveRow& r : rows()) names.emplace_back(r.name);
        return bad(at, fmt::format("unknown directive '{}'{}", directive.name, did_you_mean(directive.name, names)));
    }
    directive.has_body = row->has_body;
    std::vector<std::string> known;
    for (const std::string& key : row->attributes) known.push_back(key.back() == '*' ? key.substr(0, key.size() - 1) : key);

    at += directive.name.size();
    for (;;) {
        while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
        if (at == line.size()) break;
        Attribute attribute;
        attribute.key = word_from(at);
        attribute.key_column = static_cast<int>(at) + 1;
        if (attribute.key.empty()) return bad(at, fmt::format("an attribute such as {}=... is needed here", known.front()));
        if (std::find(known.begin(), known.end(), attribute.key) == known.end())
            return bad(at, fmt::format("'{}' has no attribute '{}'{}", directive.name, attribute.key,
                                       did_you_mean(attribute.key, known)));
        if (directive.find(attribute.key))
            return bad(at, fmt::format("the attribute '{}' stands here twice", attribute.key));
        at += attribute.key.size();
        attribute.value_column = attribute.key_column;
        if (at < line.size() && line[at] == '=') {
            ++at;
            if (at < line.size() && line[at] == '"') {
                const size_t close = line.find('"', at + 1);
                if (close == std::string::npos) return bad(at, "the quote that begins here is not closed");
                attribute.value = line.substr(at + 1, close - at - 1);
                attribute.value_column = static_cast<int>(at) + 2;
                at = close + 1;
            } else {
                const size_t end = std::min(line.find_first_of(" \t", at), line.size());
                attribute.value = line.substr(at, end - at);
                attribute.value_column = static_cast<int>(at) + 1;
                at = end;
            }
            if (attribute.value.empty())
                return bad(static_cast<size_t>(attribute.value_column) - 1, fmt::format("'{}' has no value", attribute.key));
        } else if (attribute.key != "presenter") {
            return bad(at, fmt::format("'{}' needs a value: {}=...", attribute.key, attribute.key));
        }
        directive.attributes.push_back(std::move(attribute));
    }
    for (const std::string& key : row->attributes)
        if (key.back() == '*' && !directive.find(key.substr(0, key.size() - 1)))
            return bad(line.find(directive.name),
                       fmt::format("this {} needs the attribute '{}'", directive.name, key.substr(0, key.size() - 1)));
    return directive;
}

}  // namespace lockstep::lessons
