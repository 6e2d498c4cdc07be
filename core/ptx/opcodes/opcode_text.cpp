// Pieces: spellings of a pattern, an instruction by its row's shape, values.
#include "core/ptx/opcodes/opcode_text.h"

#include <algorithm>
#include <cmath>

#include "core/ptx/parse/spelling.h"

namespace lockstep::ptx::opcode_text {

size_t lane_bytes(Type t) {
    return t == Type::pred ? 0 : std::max<size_t>(size_of(t), 2);
}
uint64_t low(uint64_t bits, size_t bytes) {
    return bytes >= 8 ? bits : bits & ((1ull << 8 * bytes) - 1);
}
std::vector<std::string> spellings(std::string_view pattern) {
    std::vector<std::string> all{""};
    while (!pattern.empty()) {
        const char open = pattern[0];
        const size_t end = open == '(' ? pattern.find(')') : open == '{' ? pattern.find('}') : pattern.find_first_of("({");
        std::string group(pattern.substr(0, end));
        pattern.remove_prefix(std::min(pattern.size(), open == '(' || open == '{' ? end + 1 : group.size()));
        std::vector<std::string> choices;
        if (open == '{') choices.push_back("");
        if (open == '(' || open == '{') {
            group.erase(0, 1);
            for (size_t at = 0; at <= group.size();) {
                const size_t bar = std::min(group.find('|', at), group.size());
                choices.push_back(group.substr(at, bar - at));
                at = bar + 1;
            }
        } else {
            choices.push_back(group);
        }
        std::vector<std::string> longer;
        for (const auto& a : all)
            for (const auto& b : choices) longer.push_back(a + b);
        all = std::move(longer);
    }
    return all;
}

std::string register_name(size_t bytes, size_t k) {
    const char* prefix = bytes == 0 ? "%p" : bytes == 2 ? "%h" : bytes == 4 ? "%r" : bytes == 8 ? "%rd" : "%rq";
    return prefix + std::to_string(k);
}

Instruction write_down(const Opcode& row, const std::string& modifiers, size_t variant, Rng& rng) {
    Instruction i{.name = std::string(row.name), .modifiers = modifiers, .text = {}};
    for (std::string_view m : modifiers_of(modifiers))
        if (const Type t = type_named(m); t != Type::none) i.types.push_back(t);
    if (!i.types.empty()) i.first = i.types.front(), i.last = i.types.back();
    const std::string_view shape = row.operands;
    const size_t equals = shape.find('=');
    const bool video = shape[0] == 'S', simd = video && (i.name.back() == '2' || i.name.back() == '4');
    const bool combines = i.has(".add") || i.has(".min") || i.has(".max");
    const size_t parts = i.name.back() == '2' ? 2 : 4;
    std::string text = i.name + modifiers + " ";
    const auto part = [&](bool destination) -> std::string {
        if (!simd) {
            const uint64_t n = rng.below(9);
            return n < 4 ? "b" + std::to_string(n) : n < 6 ? "h" + std::to_string(n - 4) : "";
        }
        if (rng.below(4) == 0) return "";
        std::string s = parts == 2 ? "h" : "b";
        if (destination) {
            const uint64_t mask = 1 + rng.below((1u << parts) - 1);
            for (size_t k = parts; k-- > 0;)
                if (mask >> k & 1) s += static_cast<char>('0' + k);
        } else {
            for (size_t k = 0; k < parts; ++k) s += static_cast<char>('0' + rng.below(2 * parts));
        }
        return s;
    };
    const auto add = [&](char c, size_t k) {
        Operand o{.type = operand_type(c, i.first, i.last)};
        size_t bytes = lane_bytes(o.type);
        if (shape == "D=TX" && ((variant >> (k ? 1 : 0)) & 1)) bytes *= variant > 4 && bytes < 4 ? 4 : 2;
        if (shape == "D=TX")
            bytes = std::min<size_t>(bytes, 8), o.type = bytes == 8 ? Type::u64 : bytes == 4 ? Type::u32 : Type::u16;
        o.reg = register_name(bytes, k);
        i.operands.push_back(o);
    };
    add(shape[0], 0);
    const bool pair = shape.starts_with("TP") ||
                      (shape.starts_with("Pp") && (i.last == Type::f16x2 || i.last == Type::bf16x2 || variant % 2));
    if (pair) i.second = {.type = Type::pred, .reg = "%p9"};
    size_t k = 0;
    for (const char c : shape.substr(equals + 1)) {
        if (c == 'C' || c == 'X') continue;
        if (c == 'p' && !i.combined()) continue;
        if (c == 's' && !combines && !(variant & 1)) continue;
        if (c == 'I') {
            i.table = rng.below(256);
            i.operands.push_back({});
        } else {
            add(c, ++k);
            const bool may_be = c == 'p' || (c == 'P' && (shape.find('I') != std::string_view::npos || shape == "T=TTP"));
            if (may_be && variant % 3 == 1) i.operands.back().negated = true;
            if (shape == "T=TTX" && ((variant + 1) % 4 >> (k - 1) & 1)) i.operands.back().negated = true;
        }
    }
    if (video) {
        const bool whole = combines && !simd;
        if (!whole && i.name != "vmad" && (simd || i.operands.size() > 3)) i.operands[0].part = part(true);
        if (i.name == "vmad" && !i.has(".po")) {
            i.operands[1].negated = rng.below(2), i.operands[2].negated = rng.below(2);
            i.operands[3].negated = i.operands[1].negated == i.operands[2].negated && rng.below(2);
        }
        i.operands[1].part = part(false), i.operands[2].part = part(false);
    }
    for (size_t n = 0; n < i.operands.size(); ++n) {
        const Operand& o = i.operands[n];
        text += n ? ", " : "";
        text += o.negated ? (o.type == Type::pred ? "!" : "-") : "";
        text += o.reg.empty() ? std::to_string(i.table) : o.reg;
        text += o.part.empty() ? "" : "." + o.part;
        if (n == 0 && pair) text += "|" + i.second.reg;
    }
    i.text = text;
    return i;
}

std::vector<uint64_t> edges(Type t) {
    const auto floats = [](int width, int fraction) {
        const uint64_t sign = 1ull << (width - 1), infinity = ((1ull << (width - 1 - fraction)) - 1) << fraction;
        const uint64_t one = ((1ull << (width - 2 - fraction)) - 1) << fraction, unit = 1ull << fraction;
        std::vector<uint64_t> all;
        for (const uint64_t magnitude : {uint64_t{0},
                                         uint64_t{1},
                                         uint64_t{2},
                                         unit / 2,
                                         unit - 1,
                                         unit,
                                         unit + 1,
                                         one,
                                         one + 1,
                                         one - 1,
                                         one - unit,
                                         one + unit / 2,
                                         one + unit + unit / 4,
                                         one + unit,
                                         infinity - 1,
                                         infinity,
                                         infinity + 1,
                                         infinity + unit / 2,
                                         2 * unit - 1,
                                         one + 4 * unit + unit / 8,
                                         one + static_cast<uint64_t>(fraction) * unit,
                                         one + static_cast<uint64_t>(fraction + 1) * unit + 1})
            all.push_back(magnitude), all.push_back(sign | magnitude);
        return all;
    };
    switch (t) {
        case Type::pred:
            return {0, 1};
        case Type::f32:
        case Type::tf32:
            return floats(32, 23);
        case Type::f64:
            return floats(64, 52);
        case Type::f16:
            return floats(16, 10);
        case Type::bf16:
            return floats(16, 7);
        case Type::f16x2:
        case Type::bf16x2:
        case Type::u16x2:
        case Type::s16x2: {
            std::vector<uint64_t> both;
            const auto one = edges(t == Type::f16x2 ? Type::f16 : t == Type::bf16x2 ? Type::bf16 : Type::s16);
            for (size_t k = 0; k < one.size(); ++k)
                both.push_back((one[k] & 0xffff) | (one[(k * 7 + 3) % one.size()] & 0xffff) << 16);
            return both;
        }
        default: {
            std::vector<uint64_t> all = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256};
            for (int bits : {15, 16, 24, 31, 32, 33, 63}) all.push_back(1ull << bits), all.push_back((1ull << bits) - 1);
            all.insert(all.end(),
                       {~0ull, ~1ull, ~31ull, 0x8000000000000001ull, 0xffffffff80000000ull, 0xffffffffffff8000ull});
            return all;
        }
    }
}
uint64_t random_value(Rng& rng, Type t) {
    const auto scaled = [&](double span) { return rng.uniform(-1, 1) * std::exp2(rng.uniform(-span, span)); };
    const uint64_t kind = rng.below(3);
    if (kind == 0) return rng.next();
    switch (t) {
        case Type::f32:
            return __builtin_bit_cast(uint32_t, static_cast<float>(scaled(30)));
        case Type::f64:
            return __builtin_bit_cast(uint64_t, scaled(kind == 1 ? 4 : 70));
        case Type::bf16:
            return __builtin_bit_cast(uint32_t, static_cast<float>(scaled(8))) >> 16;
        case Type::bf16x2:
            return (__builtin_bit_cast(uint32_t, static_cast<float>(scaled(8))) & 0xffff0000u) |
                   __builtin_bit_cast(uint32_t, static_cast<float>(scaled(8))) >> 16;
        case Type::f16:
        case Type::f16x2:
        case Type::u16x2:
        case Type::s16x2:
            return rng.next();
        default:
            return kind == 1 ? rng.below(70) : rng.next() >> rng.below(60);
    }
}

}  // namespace lockstep::ptx::opcode_text
