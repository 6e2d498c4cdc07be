// Names of types and spaces, the GPUs that have them, the choice of the table's copy, and the matching of spellings.
#include "core/ptx/opcodes/opcode.h"

#include <algorithm>
#include <vector>

#include "core/ptx/opcodes/opcode_table.h"

namespace lockstep::ptx {
namespace {

struct TypeName {
    std::string_view name;
    size_t bytes;
    uint32_t since = 0;  // compute capability
};
constexpr TypeName types[] = {{"none", 0},       {"b8", 1},         {"b16", 2},        {"b32", 4},      {"b64", 8},
                              {"u8", 1},         {"u16", 2},        {"u32", 4},        {"u64", 8},      {"s8", 1},
                              {"s16", 2},        {"s32", 4},        {"s64", 8},        {"f16", 2},      {"f16x2", 4},
                              {"bf16", 2, 80},   {"f32", 4},        {"f64", 8},        {"pred", 0},     {"b128", 16, 70},
                              {"bf16x2", 4, 80}, {"u16x2", 4, 90},  {"s16x2", 4, 90},  {"tf32", 4, 80}, {"e4m3", 1, 89},
                              {"e5m2", 1, 89},   {"e4m3x2", 2, 89}, {"e5m2x2", 2, 89}, {"u4", 0},       {"s4", 0},
                              {"b1", 0}};
// Modifiers that any instruction may have.
constexpr Since modifiers[] = {{".shared::cluster", 90},
                               {".multicast::cluster", 90},
                               {".mmio", 70},
                               {".L1::evict_normal", 70},
                               {".L1::evict_unchanged", 70},
                               {".L1::evict_first", 70},
                               {".L1::evict_last", 70},
                               {".L1::no_allocate", 70},
                               {".L2::64B", 75},
                               {".L2::128B", 75},
                               {".L2::256B", 80},
                               {".L2::cache_hint", 80}};
constexpr std::string_view spaces[] = {"none", "param", "global", "shared", "local", "const", "generic"};

}  // namespace

size_t size_of(Type type) {
    return types[static_cast<size_t>(type)].bytes;
}
std::string_view name_of(Type type) {
    return types[static_cast<size_t>(type)].name;
}
std::string_view name_of(Space space) {
    return spaces[static_cast<size_t>(space)];
}

Type type_named(std::string_view modifier) {
    if (modifier.size() < 3 || modifier[0] != '.') return Type::none;
    for (size_t i = 1; i < std::size(types); ++i)
        if (types[i].name == modifier.substr(1)) return static_cast<Type>(i);
    return Type::none;
}

uint32_t since_of(std::string_view modifier) {
    for (const Since& each : modifiers)
        if (each.modifier == modifier) return each.compute;
    return types[static_cast<size_t>(type_named(modifier))].since;
}

Simd best_simd() {
#if defined(__x86_64__) && !defined(LOCKSTEP_PORTABLE_TABLE)
    static const Simd best = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
                                 ? Simd::avx512
                             : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Simd::avx2
                                                                                               : Simd::portable;
    return best;
#else
    return Simd::portable;
#endif
}

std::span<const Opcode> opcodes(Simd simd) {
    if (simd > best_simd()) return {};
#if defined(LOCKSTEP_PORTABLE_TABLE)
    const OpcodeTable& table = portable::table;
#else
    const OpcodeTable& table = simd == Simd::avx512 ? avx512::table : simd == Simd::avx2 ? avx2::table : portable::table;
#endif
    return {table.rows, table.count};
}

std::span<const Opcode> opcodes() {
    return opcodes(best_simd());
}

// Modifiers come in the pattern's order, so one pass suffices: a group takes what it can.
bool matches(std::string_view pattern, std::string_view modifiers) {
    while (!pattern.empty()) {
        const char open = pattern[0];
        if (open != '(' && open != '{') {  // literal text up to the next group
            const std::string_view literal = pattern.substr(0, pattern.find_first_of("({"));
            if (!modifiers.starts_with(literal)) return false;
            modifiers.remove_prefix(literal.size());
            pattern.remove_prefix(literal.size());
            if (!modifiers.empty() && modifiers[0] != '.' && !(pattern.starts_with("{::"))) return false;
            continue;
        }
        const size_t close = pattern.find(open == '(' ? ')' : '}');
        std::string_view choices = pattern.substr(1, close - 1);
        pattern.remove_prefix(close + 1);
        const size_t next = modifiers.size() > 1 ? modifiers.find('.', 1) : std::string_view::npos;
        const std::string_view word = modifiers.substr(0, next);  // the modifier in hand, with its dot
        bool taken = false;
        while (!choices.empty() && !taken) {
            const size_t bar = choices.find('|');
            const std::string_view choice = choices.substr(0, bar);
            choices = bar == std::string_view::npos ? std::string_view() : choices.substr(bar + 1);
            taken = !word.empty() &&
                    (choice.ends_with('*') ? word.starts_with(choice.substr(0, choice.size() - 1)) : word == choice);
        }
        if (taken)
            modifiers.remove_prefix(word.size());
        else if (open == '(')
            return false;
    }
    return modifiers.empty();
}

bool matches_in_any_order(std::string_view pattern, std::string_view modifiers, bool types_in_order) {
    std::vector<std::string_view> words;
    for (size_t at = modifiers.find('.'); at != std::string_view::npos && words.size() < 24;) {
        const size_t next = modifiers.find('.', at + 1);
        words.push_back(modifiers.substr(at, next == std::string_view::npos ? next : next - at));
        at = next;
    }
    const auto take = [&](std::string_view choice) {
        const bool open = choice.ends_with('*');
        bool type_before = false;
        for (size_t i = 0; i < words.size(); ++i) {
            const bool is_type = type_named(words[i]) != Type::none;
            if (types_in_order && is_type && type_before) continue;
            type_before |= is_type;
            if (open ? words[i].starts_with(choice.substr(0, choice.size() - 1)) : words[i] == choice) {
                words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
                return true;
            }
        }
        return false;
    };
    while (!pattern.empty()) {
        const char open = pattern[0];
        if (open != '(' && open != '{') {  // one modifier that must be there
            const size_t end = std::min(pattern.find_first_of("({"), pattern.find('.', 1));
            if (!take(pattern.substr(0, end))) return false;
            pattern.remove_prefix(std::min(pattern.size(), end));
            continue;
        }
        const size_t close = pattern.find(open == '(' ? ')' : '}');
        std::string_view choices = pattern.substr(1, close - 1);
        pattern.remove_prefix(close + 1);
        bool taken = false;
        while (!choices.empty() && !taken) {
            const size_t bar = choices.find('|');
            taken = take(choices.substr(0, bar));
            choices = bar == std::string_view::npos ? std::string_view() : choices.substr(bar + 1);
        }
        if (!taken && open == '(') return false;
    }
    return words.empty();
}

}  // namespace lockstep::ptx
