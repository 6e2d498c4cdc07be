// The grammar stands in kernel_arguments.h; here one function a production. Binding to a program is bind_arguments.cpp.
#include "core/scene/arguments/kernel_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/base/rng.h"
#include "core/scene/arguments/texture_arguments.h"

namespace lockstep::scene {
namespace {

constexpr int64_t most_elements = int64_t{1} << 30;
constexpr const char* type_names = "i8 u8 i16 u16 f16 bf16 i32 u32 f32 i64 u64 f64";

// One problem with an argument: the text itself is the source line, the caret stands at `column` (from 0).
Diagnostic bad(std::string_view text, size_t column, std::string message) {
    return {std::move(message), {"argument", 1, static_cast<int>(column) + 1}, std::string(text)};
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

bool is_float(DType type) {
    return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}
bool is_signed(DType type) {
    return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

void append_integer(std::vector<std::byte>& bytes, DType type, uint64_t bits) {
    const size_t at = bytes.size();
    bytes.resize(at + size_of(type));
    std::memcpy(bytes.data() + at, &bits, size_of(type));  // little-endian: the low bytes
}

void append_real(std::vector<std::byte>& bytes, DType type, double value) {
    switch (type) {
        case DType::f16:
            append(bytes, f32_to_f16(static_cast<float>(value)));
            break;
        case DType::bf16:
            append(bytes, f32_to_bf16(static_cast<float>(value)));
            break;
        case DType::f64:
            append(bytes, value);
            break;
        default:
            append(bytes, static_cast<float>(value));
            break;
    }
}

// number = [-] (decimal | 0x hexadecimal | real | inf | nan). False when it is none, or does not fit the type.
bool append_number(std::vector<std::byte>& bytes, DType type, std::string_view text) {
    const char* end = text.data() + text.size();
    if (is_float(type)) {
        double value = 0;
        const char* begin = text.data() + (text.size() > 1 && text[0] == '+' && text[1] != '-' ? 1 : 0);
        const auto [rest, error] = std::from_chars(begin, end, value);
        if (error != std::errc{} || rest != end) return false;
        append_real(bytes, type, value);
        const auto last = [&](size_t back) { return std::to_integer<unsigned>(bytes[bytes.size() - back]); };
        const unsigned exponent = type == DType::f16 ? last(1) & 0x7c : ((last(1) & 0x7f) << 8 | last(2)) & 0x7f80;
        const bool infinite = type != DType::f64 && exponent == (type == DType::f16 ? 0x7cu : 0x7f80u);
        return !infinite || !std::isfinite(value);  // 1e40 is no f32, as 128 is no i8
    }
    const bool negative = !text.empty() && text[0] == '-';
    if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
    int base = 10;
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text.remove_prefix(2);
    }
    uint64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc{} || rest != end) return false;
    const unsigned bits = static_cast<unsigned>(size_of(type)) * 8;
    const uint64_t largest = is_signed(type) ? (uint64_t{1} << (bits - 1)) - 1
                             : bits == 64    ? std::numeric_limits<uint64_t>::max()
                                             : (uint64_t{1} << bits) - 1;
    if (negative ? !is_signed(type) || value > largest + 1 : value > largest) return false;
    append_integer(bytes, type, negative ? ~value + 1 : value);
    return true;
}

// The type name at `at`, up to one of the characters in `ends`.
Result<DType> parse_type(std::string_view text, size_t at, std::string_view ends) {
    const std::string_view word = text.substr(at, text.find_first_of(ends, at) - at);
    if (const auto type = dtype_named(word)) return *type;
    std::vector<std::string> known;
    for (int i = 0; i <= static_cast<int>(DType::f64); ++i) known.emplace_back(name_of(static_cast<DType>(i)));
    return bad(
        text, at,
        fmt::format("unknown type '{}'{}", word, did_you_mean(word, known, fmt::format(": the types are {}", type_names))));
}

// "{" number { "," number } "}" that begins at `open`; returns the offset behind the closing brace.
Result<size_t> parse_values(std::string_view text, size_t open, KernelArgument& argument) {
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) return bad(text, text.size(), "the list of values is not closed: '}' is missing");
    for (size_t at = open + 1; at <= close;) {
        const size_t comma = std::min(text.find(',', at), close);
        const std::string_view number = trimmed(text.substr(at, comma - at));
        if (number.empty() && close == open + 1) break;
        if (!append_number(argument.values.bytes, argument.type, number))
            return bad(text, at, fmt::format("'{}' is not a value of type {}", number, name_of(argument.type)));
        at = comma + 1;
    }
    argument.values.shape = argument.shape = {static_cast<int64_t>(argument.values.count())};
    return close + 1;
}

// "[" extents [ fill ] "]" that begins at `open`; returns the offset behind the closing bracket.
Result<size_t> parse_extents(std::string_view text, size_t open, KernelArgument& argument) {
    const size_t close = text.find(']', open);
    if (close == std::string_view::npos) return bad(text, text.size(), "the extents are not closed: ']' is missing");
    int64_t count = 1;
    size_t at = open + 1;
    for (bool more = true; more;) {
        while (at < close && text[at] == ' ') ++at;
        int64_t extent = 0;
        const auto [rest, error] = std::from_chars(text.data() + at, text.data() + close, extent);
        if (error == std::errc::invalid_argument || extent < 0)
            return bad(text, at, "a count of elements is needed here, as in f32[1024]");
        if (error != std::errc{} || extent > most_elements || (extent && count > most_elements / extent))
            return bad(text, at, "the buffer is too large: at most 2^30 elements");
        count *= extent;
        argument.shape.push_back(extent);
        at = static_cast<size_t>(rest - text.data());
        while (at < close && text[at] == ' ') ++at;
        more = at < close && text[at] == ',';
        if (more) ++at;
    }
    if (at == close) return close + 1;
    const size_t word_end = std::min(text.find(' ', at), close);
    const std::string_view word = text.substr(at, word_end - at), rest = trimmed(text.substr(word_end, close - word_end));
    if (argument.role == KernelArgument::Role::out)
        return bad(text, at, fmt::format("an out: buffer takes no fill, but '{}' follows its extents", word));
    if (word == "random" && rest.empty())
        argument.fill = KernelArgument::Fill::random;
    else if (word == "ramp" && rest.empty())
        argument.fill = KernelArgument::Fill::ramp;
    else if (word == "zero" && rest.empty())
        argument.fill = KernelArgument::Fill::zero;
    else if (word == "below") {
        argument.fill = KernelArgument::Fill::below;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), argument.below);
        if (error != std::errc{} || end != rest.data() + rest.size() || argument.below == 0)
            return bad(text, at, "'below' needs a number from 1, as in i32[64 below 8]");
    } else {
        const std::string meant = did_you_mean(word, {"random", "below", "ramp", "zero"}, "");
        return bad(text, at,
                   fmt::format("unknown fill '{}'{}", text.substr(at, close - at),
                               meant.empty() ? ": a buffer is filled with zero, ramp, random or below N" : meant));
    }
    return close + 1;
}

// Behind the part that begins at `at`: a comma outside of brackets and braces, or the end.
size_t end_of_part(std::string_view text, size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '[' || text[at] == '{') ++depth;
        if (text[at] == ']' || text[at] == '}') --depth;
        if (text[at] == ',' && depth <= 0) return at;
    }
    return text.size();
}

bool is_null(std::string_view word) {
    return word == "null" || word == "nullptr";
}

// Whether a part is a pointer: "null", "@a", or a buffer.
bool is_pointer(std::string_view part) {
    const std::string_view head = part.substr(0, part.find(':'));
    return part.starts_with('@') || is_null(part) || head == "in" || head == "out" || head == "inout";
}

// pointer, between `at` and `end` of the text.
Result<KernelArgument> parse_pointer(std::string_view text, size_t at, size_t end) {
    Result<KernelArgument> part = parse_argument(text.substr(at, end - at));
    if (part) return part;
    Diagnostic problem = part.error();
    problem.where.column += static_cast<int>(at);
    problem.source_line = std::string(text);
    return problem;
}

// "struct:f32:2,i32:100": each member at the next multiple of its size, the whole at a multiple of the largest. Or, `array`,
// "pointers:in:f32[4],null".
Result<KernelArgument> parse_parts(std::string_view text, size_t at, KernelArgument argument, bool array) {
    std::vector<std::byte>& bytes = argument.values.bytes;
    size_t align = 1;
    const auto pad = [&](size_t to) {
        bytes.resize((bytes.size() + to - 1) / to * to);
        align = std::max(align, to);
    };
    int number = array ? 0 : 1;
    for (bool more = true; more; ++number) {
        const size_t end = end_of_part(text, at), colon = text.find(':', at);
        if (is_pointer(text.substr(at, end - at))) {
            Result<KernelArgument> part = parse_pointer(text, at, end);
            if (!part) return part;
            pad(sizeof(uint64_t));
            part.value().place = bytes.size();
            part.value().number = number;
            bytes.resize(bytes.size() + sizeof(uint64_t));
            argument.parts.push_back(std::move(part).value());
        } else if (array) {
            return bad(text, at, "a pointer is needed here, as in pointers:in:f32[16],out:f32[16],@a+8,null");
        } else if (colon == std::string_view::npos || colon > end) {
            return bad(text, at, "a member is needed here, as in struct:f32:1.5,i32:42 or struct:i32:4,in:f32[16]");
        } else {
            Result<DType> type = parse_type(text, at, ":");
            if (!type) return type.error();
            pad(size_of(type.value()));
            const std::string_view value = trimmed(text.substr(colon + 1, end - colon - 1));
            if (!append_number(bytes, type.value(), value))
                return bad(text, colon + 1, fmt::format("'{}' is not a value of type {}", value, name_of(type.value())));
        }
        more = end < text.size();
        at = end + 1;
    }
    pad(align);
    if (!argument.parts.empty()) argument.kind = array ? KernelArgument::Kind::pointers : KernelArgument::Kind::members;
    argument.type = argument.values.dtype = DType::u8;
    argument.values.shape = {static_cast<int64_t>(bytes.size())};
    return argument;
}

// offset = "+" count, that begins at `at`; returns the offset behind it.
Result<size_t> parse_offset(std::string_view text, size_t at, KernelArgument& argument) {
    const auto [rest, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), argument.offset);
    if (error != std::errc{} || argument.offset < 0 || argument.offset > most_elements)
        return bad(text, at, "a count of elements stands behind '+', as in in:f32[1024]+3 or @a+16");
    return static_cast<size_t>(rest - text.data());
}

// "@" NAME [ offset ]
Result<KernelArgument> parse_same(std::string_view text) {
    KernelArgument argument;
    argument.text = text;
    argument.kind = KernelArgument::Kind::same;
    const size_t plus = std::min(text.find('+'), text.size());
    argument.same_as = text.substr(1, plus - 1);
    if (argument.same_as.empty())
        return bad(text, 1, "the name or the number of a parameter with a buffer is needed here, as in @a or @2+16");
    if (plus == text.size()) return argument;
    const Result<size_t> end = parse_offset(text, plus, argument);
    if (!end) return end.error();
    if (end.value() < text.size())
        return bad(text, end.value(), fmt::format("unexpected '{}' after the argument", text.substr(end.value())));
    return argument;
}

// "map:128x64,swizzle=128:in:f16[256,256]"; `at` behind "map:".
Result<KernelArgument> parse_map(std::string_view text, size_t at) {
    const size_t colon = text.find(':', at);
    const char* const end = text.data() + std::min(colon, text.size());
    std::vector<uint32_t> box;
    uint32_t swizzle = 0;
    const auto take = [&](uint32_t& number) {
        const auto [rest, error] = std::from_chars(text.data() + at, end, number);
        at = static_cast<size_t>(rest - text.data());
        return error == std::errc{};
    };
    for (bool more = true; more; at += more) {
        if (!take(box.emplace_back()) || box.back() == 0 || box.size() > 5)
            return bad(text, at, "a box of one to five numbers is needed here, as in map:128x64:in:f16[256,256]");
        more = text.data() + at < end && text[at] == 'x';
    }
    if (constexpr std::string_view word = ",swizzle="; text.substr(at).starts_with(word)) {
        at += word.size();
        if (!take(swizzle)) return bad(text, at, "a swizzle has 32, 64 or 128 bytes");
    }
    if (colon == std::string_view::npos || text.data() + at != end)
        return bad(text, at, "',swizzle=' or ':' and a buffer is needed here, as in map:128x64,swizzle=128:in:f16[256,256]");
    const std::string_view source = text.substr(colon + 1);
    if (!source.starts_with("in:") && !source.starts_with("inout:") && !source.starts_with("out:"))
        return bad(text, colon + 1, "a tensor map is of a buffer: in:, inout: or out:");
    Result<KernelArgument> buffer = parse_argument(source);
    if (!buffer) return buffer;
    KernelArgument& argument = buffer.value();
    argument.text = text;
    argument.box = std::move(box);
    argument.swizzle = swizzle;
    return buffer;
}

}  // namespace

Result<simt::Dim3> parse_dim3(std::string_view text, std::string_view what) {
    uint32_t extent[3] = {1, 1, 1};
    size_t at = 0;
    for (int axis = 0;; ++axis) {
        const auto wrong = [&](std::string_view why = "needs one to three numbers from 1, as in 64 or 16,4") {
            Diagnostic d = bad(text, at, fmt::format("{} {}", what, why));
            d.where.file = what;
            return d;
        };
        if (axis == 3) return wrong();
        const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent[axis]);
        if (error == std::errc::result_out_of_range) return wrong("takes numbers up to 4294967295");
        if (error != std::errc{} || extent[axis] == 0) return wrong();
        at = static_cast<size_t>(rest - text.data());
        if (at == text.size()) break;
        if (text[at] != ',') return wrong();
        ++at;
    }
    return simt::Dim3{extent[0], extent[1], extent[2]};
}

namespace {

// ",expect=FILE.npy{,rtol=NUMBER}{,atol=NUMBER}" from `at` on.
std::optional<Diagnostic> parse_expected(std::string_view text, size_t at, ExpectedValues& expected) {
    while (at < text.size()) {
        const size_t begin = at + 1, end = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        const size_t equals = std::min(part.find('='), part.size());
        const std::string_view name = part.substr(0, equals), value = part.substr(std::min(part.size(), equals + 1));
        if (name == "expect" && expected.file.empty() && !value.empty()) {
            expected.file = value;
        } else if (name == "rtol" || name == "atol") {
            double number = 0;
            const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
            if (error != std::errc() || rest != value.data() + value.size() || !(number >= 0))
                return bad(text, begin, fmt::format("{} is a number from 0 on, as in {}=1e-5", name, name));
            (name == "rtol" ? expected.relative : expected.absolute) = number;
        } else {
            return bad(text, begin,
                       "expected values are a file and how far off they may be, as in "
                       "out:f32[64],expect=ref.npy,rtol=1e-5,atol=1e-6");
        }
        at = end;
    }
    return std::nullopt;
}

Result<KernelArgument> parse_plain_argument(std::string_view text);

}  // namespace

Result<KernelArgument> parse_argument(std::string_view text) {
    const size_t expects = text.starts_with("out:") || text.starts_with("inout:") ? text.find(",expect=") : text.npos;
    if (expects == text.npos) return parse_plain_argument(text);
    Result<KernelArgument> argument = parse_plain_argument(text.substr(0, expects));
    if (!argument) return argument;
    ExpectedValues expected;
    if (auto problem = parse_expected(text, expects, expected)) return *problem;
    argument.value().expected = std::move(expected);
    argument.value().text = text;
    return argument;
}

namespace {

Result<KernelArgument> parse_plain_argument(std::string_view text) {
    if (std::optional<Result<KernelArgument>> texture = parse_texture_argument(text)) return std::move(*texture);
    KernelArgument argument;
    argument.text = text;
    if (text.starts_with('@')) return parse_same(text);
    if (is_null(text)) {
        argument.kind = KernelArgument::Kind::null;
        return argument;
    }
    const size_t colon = text.find(':');
    const std::string_view head = text.substr(0, colon);
    if (colon == std::string_view::npos)
        return bad(text, 0, "an argument begins with a type or with in:, out:, inout:, as in i32:42 or out:f32[1024]");
    if (head == "in")
        argument.role = KernelArgument::Role::in;
    else if (head == "out")
        argument.role = KernelArgument::Role::out;
    else if (head == "inout")
        argument.role = KernelArgument::Role::inout;
    else if (head == "struct")
        return parse_parts(text, colon + 1, std::move(argument), false);
    else if (head == "pointers")
        return parse_parts(text, colon + 1, std::move(argument), true);
    else if (head == "map")
        return parse_map(text, colon + 1);
    else {  // scalar
        const auto type = dtype_named(head);
        if (!type) {
            const Result<DType> why = parse_type(text, 0, ":");
            const std::string near = nearest_name(head, {"in", "out", "inout"});
            if (!near.empty() && head.size() > 1 && (head[0] == 'i' || head[0] == 'o') &&
                head.find_first_of("0123456789") == head.npos)
                return bad(text, 0, fmt::format("unknown argument kind '{}', did you mean '{}'?", head, near));
            return why.error();
        }
        argument.type = *type;
        if (!append_number(argument.values.bytes, *type, trimmed(text.substr(colon + 1))))
            return bad(text, colon + 1, fmt::format("'{}' is not a value of type {}", text.substr(colon + 1), head));
        argument.values.dtype = *type;
        return argument;
    }

    const size_t body = colon + 1;
    const size_t open = text.find_first_of("[{", body);
    size_t end = 0;
    // A literal buffer is TYPE[ or TYPE{ ; anything else is a file's name.
    const bool literal = open != std::string_view::npos && open > body &&
                         (dtype_named(text.substr(body, open - body)) || argument.role == KernelArgument::Role::out ||
                          text.find(".npy") == std::string_view::npos);
    if (literal) {
        Result<DType> type = parse_type(text, body, "[{");
        if (!type) return type.error();
        argument.type = argument.values.dtype = type.value();
        if (text[open] == '{' && argument.role == KernelArgument::Role::out)
            return bad(text, open, "an out: buffer has extents, not values, as in out:f32[1024]");
        if (text[open] == '[')
            argument.fill =
                argument.role == KernelArgument::Role::out ? KernelArgument::Fill::poison : KernelArgument::Fill::random;
        Result<size_t> after = text[open] == '{' ? parse_values(text, open, argument) : parse_extents(text, open, argument);
        if (!after) return after.error();
        end = after.value();
        if (text[open] == '[' && end < text.size() && text[end] == '{' && argument.role != KernelArgument::Role::out &&
            text[end - 2] != ' ') {  // extents and all values
            const std::vector<int64_t> shape = argument.shape;
            after = parse_values(text, end, argument);
            if (!after) return after.error();
            int64_t count = 1;
            for (const int64_t extent : shape) count *= extent;
            if (count != argument.shape[0])
                return bad(text, end, fmt::format("there are {} values here for {} elements", argument.shape[0], count));
            argument.values.shape = argument.shape = shape;
            argument.fill = KernelArgument::Fill::values;
            end = after.value();
        }
    } else {
        if (argument.role == KernelArgument::Role::out)
            return bad(text, body, "an out: buffer needs its type and extents, as in out:f32[1024] or out:f32[1024]=y.npy");
        argument.fill = KernelArgument::Fill::file;
        end = argument.role == KernelArgument::Role::inout ? std::min(text.find('=', body), text.size()) : text.size();
        argument.file = text.substr(body, end - body);
        if (argument.file.empty())
            return bad(text, body, "a file or a buffer is needed here, as in in:x.npy or in:f32{1,2,3}");
        if (const size_t equals = text.find('=', body); equals != text.npos && dtype_named(text.substr(body, equals - body)))
            return bad(
                text, body,
                fmt::format("a file says itself what type its values have: write {}:{}", head, text.substr(equals + 1)));
    }
    if (end < text.size() && text[end] == '+') {
        const Result<size_t> behind = parse_offset(text, end, argument);
        if (!behind) return behind.error();
        end = behind.value();
    }
    if (end < text.size()) {
        if (text[end] != '=' || argument.role == KernelArgument::Role::in) {
            const bool in = argument.role == KernelArgument::Role::in;
            if (text[end] == ',') {
                const std::string option(text.substr(end + 1, text.find_first_of("=,", end + 1) - end - 1));
                return bad(text, end + 1,
                           in ? "expected values are of out: and inout: buffers, as in out:f32[64],expect=ref.npy"
                              : fmt::format("unknown option '{}'{}", option,
                                            did_you_mean(option, {"expect", "rtol", "atol"},
                                                         ": expected values are given as in "
                                                         "out:f32[64],expect=ref.npy,rtol=1e-5,atol=1e-6")));
            }
            return bad(text, end,
                       fmt::format("unexpected '{}' after the argument: {}", text.substr(end),
                                   text[end] == '=' && text.find(".npy", end) != std::string_view::npos
                                       ? fmt::format("values that come from a file are in:{}, which says their type and "
                                                     "number; a buffer that is written to a file is inout: or out:",
                                                     text.substr(end + 1))
                                       : fmt::format("what a buffer holds stands in brackets, as in {}:f32[1024 zero] or "
                                                     "{}:f32{{1,2,3}}",
                                                     in ? "in" : "inout", in ? "in" : "inout")));
        }
        argument.output_file = text.substr(end + 1);
        if (argument.output_file.empty()) return bad(text, end + 1, "a file name is needed after '='");
    }
    return argument;
}

}  // namespace

Result<Array> initial_contents(const KernelArgument& argument, uint64_t seed, const std::filesystem::path& folder) {
    using Fill = KernelArgument::Fill;
    if (argument.fill == Fill::values) return argument.values;
    if (argument.fill == Fill::file)
        return read_npy(folder.empty() ? std::filesystem::path(argument.file) : folder / argument.file);
    Array array;
    array.dtype = argument.type;
    array.shape = argument.shape;
    size_t count = 1;
    for (const int64_t extent : argument.shape) count *= static_cast<size_t>(extent);
    if (argument.fill == Fill::poison || argument.fill == Fill::zero) {
        array.bytes.assign(count * size_of(argument.type), argument.fill == Fill::zero ? std::byte{0} : std::byte{0xCD});
        return array;
    }
    array.bytes.reserve(count * size_of(argument.type));
    Rng rng(seed);
    for (size_t i = 0; i < count; ++i) {
        if (argument.fill == Fill::random && is_float(argument.type)) {
            append_real(array.bytes, argument.type, rng.uniform(-1, 1));
            continue;
        }
        const uint64_t value =
            argument.fill == Fill::ramp ? i : rng.below(argument.fill == Fill::below ? argument.below : 100);
        if (is_float(argument.type))
            append_real(array.bytes, argument.type, static_cast<double>(value));
        else
            append_integer(array.bytes, argument.type, value);
    }
    return array;
}

}  // namespace lockstep::scene
