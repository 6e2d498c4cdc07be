#include "core/ptx/parse/spelling.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/ptx/parse/lexer.h"

namespace lockstep::ptx {
namespace {

// Instructions of the ISA that have no row, by what they would need.
struct Absent {
    std::string_view stems;  // between spaces
    std::string_view why;
};
constexpr Absent absent[] = {
    {" tcgen05 ", "the tensor cores of Blackwell are not modelled"},
    {" alloca "
     "stacksave "
     "stackrestore ",
     "it is not modelled"},
};

Type twice_as_wide(Type t) {
    switch (t) {
        case Type::u16:
            return Type::u32;
        case Type::s16:
            return Type::s32;
        case Type::u32:
            return Type::u64;
        case Type::s32:
            return Type::s64;
        default:
            return Type::b64;
    }
}

// The plain spellings of a pattern: every choice that must be made, none that may be left out.
std::vector<std::string> plain_spellings(std::string_view pattern) {
    std::vector<std::string> spellings{""};
    while (!pattern.empty() && spellings.size() < 400) {
        const char open = pattern[0];
        const size_t end = open == '(' ? pattern.find(')') : open == '{' ? pattern.find('}') : pattern.find_first_of("({");
        std::string_view group = pattern.substr(0, end);
        pattern.remove_prefix(std::min(pattern.size(), open == '(' || open == '{' ? end + 1 : group.size()));
        if (open == '{') continue;
        if (open == '(') group.remove_prefix(1);
        std::vector<std::string> longer;
        for (bool more = true; more;) {
            const size_t bar = open == '(' ? group.find('|') : std::string_view::npos;
            for (const std::string& s : spellings) longer.push_back(s + std::string(group.substr(0, bar)));
            more = bar != std::string_view::npos;
            if (more) group.remove_prefix(bar + 1);
        }
        spellings = std::move(longer);
    }
    return spellings;
}

}  // namespace

std::string_view stem_of(std::string_view spelling) {
    return spelling.substr(0, spelling.find('.'));
}

std::vector<std::string_view> modifiers_of(std::string_view spelling) {
    std::vector<std::string_view> modifiers;
    for (size_t at = spelling.find('.'); at != std::string_view::npos;) {
        const size_t next = spelling.find('.', at + 1);
        modifiers.push_back(spelling.substr(at, next == std::string_view::npos ? next : next - at));
        at = next;
    }
    return modifiers;
}

Rows::Rows(std::span<const Opcode> table) : table_(table) {
    for (const Opcode& row : table) by_name_.emplace(row.name, &row);
}

const Rows& all_rows() {
    static const Rows rows(opcodes());
    return rows;
}

std::vector<Candidate> Rows::candidates(std::string_view stem, std::string_view modifiers) const {
    std::vector<Candidate> found;
    auto [row, end] = by_name_.equal_range(stem);
    for (; row != end; ++row)
        for (const Form& form : row->second->forms)
            if (matches(form.pattern, modifiers)) {
                found.push_back({row->second, &form});
                break;
            }
    if (!found.empty()) return found;
    for (std::tie(row, end) = by_name_.equal_range(stem); row != end; ++row)
        for (const Form& form : row->second->forms)
            if (row->second->facts.any_order && matches_in_any_order(form.pattern, modifiers)) {
                found.push_back({row->second, &form});
                break;
            }
    return found;
}

Type operand_type(char letter, Type first, Type last) {
    switch (letter) {
        case 'D':
            return first;
        case 'W':
            return twice_as_wide(last);
        case 'P':
        case 'p':
            return Type::pred;
        case 'U':
        case 'S':
        case 's':
            return Type::u32;
        case 'A':
            return Type::u64;
        default:
            return last;
    }
}

std::string Rows::unknown_instruction(std::string_view spelling) const {
    const std::string_view stem = stem_of(spelling);
    const std::string_view modifiers = spelling.substr(stem.size());
    const std::string written = "'" + std::string(spelling.substr(0, 80)) + "'";
    for (const Absent& a : absent)
        if (a.stems.find(" " + std::string(stem) + " ") != std::string_view::npos)
            return "the instruction " + written + " cannot run here: " + std::string(a.why);
    std::vector<std::string> spellings;
    for (auto [row, end] = by_name_.equal_range(stem); row != end; ++row)
        for (const Form& form : row->second->forms)
            for (const std::string& s : plain_spellings(form.pattern)) spellings.push_back(std::string(stem) + s);
    const bool known = !spellings.empty();
    if (!known)
        for (const Opcode& row : table_)
            if (!candidates(row.name, modifiers).empty())
                spellings.push_back(std::string(row.name) + std::string(modifiers));
    std::string hint = did_you_mean(spelling, {spellings.begin(), spellings.end()});
    if (hint.empty() && !known) {
        std::vector<std::string_view> names;
        for (const Opcode& row : table_) names.push_back(row.name);
        hint = did_you_mean(stem, names);
    }
    return (known ? "unknown form " + written + " of '" + std::string(stem) + "'" : "unknown instruction " + written) + hint;
}

}  // namespace lockstep::ptx
