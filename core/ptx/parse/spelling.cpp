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
    {" clusterlaunchcontrol ", "what compute capability 10.0 brought is not modelled"},
    {" alloca "
     "stacksave "
     "stackrestore ",
     "it is not modelled"},
};

// Forms that compute capability 10.0 or 12.0 brought to instructions which have rows: the stem, and what only they have.
struct Later {
    std::string_view stems;  // between spaces
    std::vector<std::string_view> signs;
};
const std::vector<Later>& later_forms() {
    static const std::vector<Later> forms = {
        {" add sub mul fma ", {".f32x2", ".f32.f16", ".f32.bf16"}},
        {" redux ", {".f32", ".NaN", ".abs"}},
        {" cvt ",
         {"e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", ".rs", "e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4", ".s2f6x2"}},
        {" mma ", {".kind::", ".block_scale", "e2m1", "e2m3", "e3m2"}},
        {" ldmatrix ", {".m16n16", ".m8n16", ".b8"}},
        {" stmatrix ", {".m16n8", ".b8"}},
        {" st ", {".bulk"}},
        {" cp ", {".im2col::w", ".tile::gather4", ".tile::scatter4", ".cta_group"}},
        {" multimem ", {"e4m3", "e5m2"}},
        {" barrier mbarrier ", {".aligned.cta_group"}}};
    return forms;
}

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
    if (!found.empty()) return found;
    // div.ftz.rn.f32: assemblers take the modifiers of computations, loads, stores and atomics in any order but for types.
    for (std::tie(row, end) = by_name_.equal_range(stem); row != end; ++row) {
        const Kind kind = row->second->kind;
        if (row->second->operands.empty() && kind != Kind::load && kind != Kind::store && kind != Kind::atomic) continue;
        for (const Form& form : row->second->forms)
            if (matches_in_any_order(form.pattern, modifiers, true)) {
                found.push_back({row->second, &form});
                break;
            }
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
    for (const Later& later : later_forms())
        if (later.stems.find(" " + std::string(stem) + " ") != std::string_view::npos)
            for (const std::string_view sign : later.signs)
                if (modifiers.find(sign) != std::string_view::npos)
                    return "the form " + written + " is not modelled: it is of compute capability 10.0 and later";
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
