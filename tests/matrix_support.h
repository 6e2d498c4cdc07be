// Matrices dealt out to the registers of a warp by the ISA's formulas (row and column as functions of lane and element,
// written out here), kernels of one matrix instruction around them, and the plain product that results are compared with.
// Values are small integers, so that every order of summing gives the same bits.
#pragma once
#include <cmath>
#include <functional>
#include <map>

#include "core/base/dtype.h"
#include "core/base/rng.h"
#include "core/ptx/ptx.h"
#include "tests/catch.h"
#include "tests/simt/support.h"

namespace lockstep::matrix_test {

struct At {
    int row, column;
};
using Formula = std::function<At(int lane, int i)>;

// --- elements as bits ---------------------------------------------------------------------------------------------

inline int bits_of(const std::string& type) {
    static const std::map<std::string, int> bits = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"s32", 32},
                                                    {"f64", 64}, {"e4m3", 8},  {"e5m2", 8},  {"s8", 8},   {"u8", 8},
                                                    {"s4", 4},   {"u4", 4},    {"b1", 1}};
    return bits.at(type);
}

inline double decode_small_float(uint32_t bits, int exponent_bits, int mantissa_bits, bool infinities) {
    const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    const int mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1));
    const int exponent = static_cast<int>(bits >> mantissa_bits & static_cast<uint32_t>(top));
    const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
    if (infinities && exponent == top) return mantissa ? NAN : sign * INFINITY;
    if (!infinities && exponent == top && mantissa == (1 << mantissa_bits) - 1) return NAN;
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

inline double value_of(const std::string& type, uint64_t bits) {
    const auto word = static_cast<uint32_t>(bits);
    if (type == "f16") return decode_small_float(word & 0xffff, 5, 10, true);
    if (type == "bf16") return decode_small_float(word & 0xffff, 8, 7, true);
    if (type == "tf32") return decode_small_float(word >> 13, 8, 10, true);
    if (type == "e4m3") return decode_small_float(word & 0xff, 4, 3, false);
    if (type == "e5m2") return decode_small_float(word & 0xff, 5, 2, true);
    if (type == "s8") return static_cast<int8_t>(word);
    if (type == "u8") return static_cast<uint8_t>(word);
    if (type == "s4") return static_cast<int>(word & 15) - (word & 8 ? 16 : 0);
    if (type == "u4") return word & 15;
    if (type == "b1") return word & 1;
    if (type == "s32") return static_cast<int32_t>(word);
    if (type == "f32") {
        float f;
        std::memcpy(&f, &word, 4);
        return f;
    }
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
}

// Random bits of a value that products can be summed of without rounding.
inline uint64_t small_value(const std::string& type, Rng& rng) {
    const int integer = static_cast<int>(rng.below(9)) - 4;
    const auto as_float = static_cast<float>(integer);
    uint32_t word;
    std::memcpy(&word, &as_float, 4);
    if (type == "f16") return f32_to_f16(as_float);
    if (type == "bf16") return f32_to_bf16(as_float);
    if (type == "tf32") return word | rng.below(1 << 13);  // what is not read
    if (type == "f32") return word;
    if (type == "s32") return static_cast<uint32_t>(static_cast<int>(rng.below(2000000)) - 1000000);
    if (type == "e5m2") return f32_to_f16(as_float) >> 8;
    if (type == "e4m3") {
        const uint32_t of[] = {0x00, 0x38, 0x40, 0x44, 0x48};  // 0 1 2 3 4
        return of[std::abs(integer)] | (integer < 0 ? 0x80u : 0u);
    }
    if (type == "f64") {
        const double d = integer;
        uint64_t bits;
        std::memcpy(&bits, &d, 8);
        return bits;
    }
    return rng.below(uint64_t{1} << bits_of(type));
}

// --- the formulas of the ISA --------------------------------------------------------------------------------------

struct Fragments {
    int of_a, of_b, of_c;  // elements a lane
    Formula a, b, c;
};

inline int group(int lane) {
    return lane >> 2;
}
inline int member(int lane) {
    return lane % 4;
}

// "Matrix fragments for mma.m16n8k...": rows change with i in the way that each shape's table says.
inline Fragments fragments_of(int m, int k, const std::string& type) {
    const int per_word = std::max(1, 32 / bits_of(type)), words = type == "f64" ? k : k / per_word;
    Fragments f;
    f.of_a = m * k / 32;
    f.of_b = 8 * k / 32;
    f.of_c = m * 8 / 32;
    f.c = [m](int lane, int i) { return At{m == 8 || i < 2 ? group(lane) : group(lane) + 8, member(lane) * 2 + (i & 1)}; };
    f.b = [per_word](int lane, int i) {
        return At{member(lane) * per_word + i % per_word + i / per_word * 4 * per_word, group(lane)};
    };
    if (m == 8) {
        f.a = [per_word](int lane, int i) { return At{group(lane), member(lane) * per_word + i % per_word}; };
    } else if (words == 4) {
        f.a = [per_word](int lane, int i) {
            return At{i < per_word ? group(lane) : group(lane) + 8, member(lane) * per_word + i % per_word};
        };
    } else if (words == 8) {
        f.a = [per_word](int lane, int i) {
            const bool upper = i < per_word || (i >= 2 * per_word && i < 3 * per_word);
            return At{upper ? group(lane) : group(lane) + 8,
                      member(lane) * per_word + i % per_word + (i >= 2 * per_word ? 4 * per_word : 0)};
        };
    } else {  // f64, k 16
        f.a = [](int lane, int i) {
            return At{i % 2 == 0 ? group(lane) : group(lane) + 8,
                      i % 2 == 0 ? i * 2 + member(lane) : i * 2 - 2 + member(lane)};
        };
    }
    return f;
}

// --- the kernel ---------------------------------------------------------------------------------------------------

struct Operands {  // registers a lane, and their bytes
    int count = 0, bytes = 4;
    bool real = false;
};

inline std::string list(const std::string& name, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
    return text + "}";
}

// A kernel that loads registers a, b, c (and e) of every lane, runs one instruction and stores d.
inline std::string kernel_text(const std::string& instruction, const Operands& d, const std::vector<Operands>& sources,
                               const std::string& tail = "") {
    const char* names[] = {"a", "b", "c", "e"};
    std::string text = ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pd";
    for (size_t s = 0; s < sources.size(); ++s) text += std::string(", .param .u64 p") + names[s];
    text += ")\n{\n.reg .u32 %t; .reg .u64 %p, %o;\n";
    const auto declare = [&](const std::string& name, const Operands& o) {
        text += std::string(".reg .") + (o.real ? "f" : "b") + std::to_string(8 * o.bytes) + " %" + name + "<" +
                std::to_string(o.count + 1) + ">;\n";
    };
    const auto base = [&](const std::string& name, const Operands& o) {
        text += "ld.param.u64 %p, [p" + name + "];\nmul.wide.u32 %o, %t, " + std::to_string(o.bytes) +
                ";\nadd.u64 %p, %p, %o;\n";
    };
    const auto type = [](const Operands& o) { return std::string(o.real ? ".f" : ".b") + std::to_string(8 * o.bytes); };
    declare("d", d);
    for (size_t s = 0; s < sources.size(); ++s) declare(names[s], sources[s]);
    text += "mov.u32 %t, %tid.x;\n";
    for (size_t s = 0; s < sources.size(); ++s) {
        base(names[s], sources[s]);
        for (int i = 0; i < sources[s].count; ++i)
            text += "ld.global" + type(sources[s]) + " %" + names[s] + std::to_string(i) + ", [%p+" +
                    std::to_string(32 * sources[s].bytes * i) + "];\n";
    }
    text += instruction + " " + list("d", d.count);
    for (size_t s = 0; s < std::min<size_t>(3, sources.size()); ++s) text += ", " + list(names[s], sources[s].count);
    text += tail + ";\n";
    base("d", d);
    for (int i = 0; i < d.count; ++i)
        text += "st.global" + type(d) + " [%p+" + std::to_string(32 * d.bytes * i) + "], %d" + std::to_string(i) + ";\n";
    return text + "ret;\n}\n";
}

using Bytes = std::vector<uint8_t>;

inline Bytes run_kernel(const std::string& text, size_t result_bytes, const std::vector<Bytes>& sources,
                        uint32_t threads = 32) {
    const auto module = ptx::parse(text, "matrix.ptx");
    if (!module) throw std::runtime_error(module.error().message);
    const auto program = ptx::decode(module.value(), "k");
    if (!program) throw std::runtime_error(program.error().message);
    simt::Memory memory;
    simt::LaunchConfig config = simt::test::config_of({1}, {threads});
    const auto add = [&](uint64_t address) {
        const auto* bytes = reinterpret_cast<const std::byte*>(&address);
        config.parameters.insert(config.parameters.end(), bytes, bytes + 8);
    };
    const uint64_t d = memory.allocate(result_bytes, "d");
    add(d);
    for (const Bytes& source : sources) add(simt::test::put(memory, source, "source"));
    const simt::LaunchResult result = simt::launch(*program.value(), config, memory);
    if (result.fault) throw std::runtime_error(result.fault->message);
    return simt::test::read_back<uint8_t>(memory, d, result_bytes);
}

// --- a matrix and its fragment ------------------------------------------------------------------------------------

struct Matrix {
    std::string type;
    int rows = 0, columns = 0;
    std::vector<uint64_t> bits;  // by rows

    uint64_t& at(At p) { return bits.at(static_cast<size_t>(p.row * columns + p.column)); }
    double value(int row, int column) const { return value_of(type, bits.at(static_cast<size_t>(row * columns + column))); }
};

inline Matrix random_matrix(const std::string& type, int rows, int columns, Rng& rng) {
    Matrix x{type, rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) x.bits.push_back(small_value(type, rng));
    return x;
}

// Element i of lane l sits in register i / (elements of a register), the lowest element in the lowest bits.
struct Place {
    size_t byte;
    int bit;
};
inline Place place_of(const std::string& type, int lane, int i) {
    const int bits = bits_of(type), register_bits = std::max(32, bits), in_register = register_bits / bits;
    const int at = (i / in_register * 32 + lane) * register_bits + i % in_register * bits;
    return {static_cast<size_t>(at / 8), at % 8};
}

inline Bytes deal(Matrix& x, int elements, const Formula& where) {
    Bytes bytes(static_cast<size_t>(elements * 32 * bits_of(x.type) / 8), 0);
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < elements; ++i) {
            const Place p = place_of(x.type, lane, i);
            const uint64_t value = x.at(where(lane, i));
            if (bits_of(x.type) < 8)
                bytes[p.byte] = static_cast<uint8_t>(bytes[p.byte] | value << p.bit);
            else
                std::memcpy(&bytes[p.byte], &value, static_cast<size_t>(bits_of(x.type) / 8));
        }
    return bytes;
}

inline Matrix collect(const std::string& type, int rows, int columns, const Bytes& bytes, int elements,
                      const Formula& where) {
    Matrix x{type, rows, columns, std::vector<uint64_t>(static_cast<size_t>(rows * columns), ~uint64_t{0})};
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < elements; ++i)
            std::memcpy(&(x.at(where(lane, i)) = 0), &bytes[place_of(type, lane, i).byte],
                        static_cast<size_t>(bits_of(type) / 8));
    return x;
}

inline Operands registers_of(const std::string& type, int elements) {
    const int bits = bits_of(type);
    return {elements * bits / std::max(32, bits), std::max(4, bits / 8), type == "f32" || type == "f64"};
}

struct Shape {
    int m, n, k;
    std::string text() const { return ".m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k); }
};

// Where the ISA's figures put the metadata of row `row`, group `q` of the elements that one pair of indices describes.
struct MetadataPlace {
    int lane, bit;
};
inline MetadataPlace metadata_place(int element_bits, int groups_a_row, int selector, int row, int q) {
    const int first = 4 * (row % 8);
    if (element_bits >= 16)  // halves of a register: rows g and g + 8; a second lane for the columns behind
        return {first + (groups_a_row == 4 ? selector : 2 * selector + q / 4), row / 8 * 16 + q % 4 * 4};
    if (groups_a_row == 8) return {first + 2 * selector + row / 8, q * 4};
    return {first + q / 8 * 2 + row / 8, q % 8 * 4};
}

// 16 rows of a sparse matrix: as it is stored, as it is meant, and the words that say which elements are stored, a lane
// each.
struct Sparse {
    Matrix packed, whole;
    Bytes metadata;
};
inline Sparse random_sparse(const std::string& type, int columns, int selector, Rng& rng) {
    Sparse s{random_matrix(type, 16, columns / 2, rng),
             {type, 16, columns, std::vector<uint64_t>(static_cast<size_t>(16 * columns), 0)},
             Bytes(128)};
    const int group_columns = type == "tf32" ? 2 : bits_of(type) == 4 ? 8 : 4, groups = columns / group_columns;
    std::vector<uint32_t> words(32, 0);
    for (int row = 0; row < 16; ++row)
        for (int q = 0; q < groups; ++q) {
            const int first = static_cast<int>(rng.below(3)),
                      second = first + 1 + static_cast<int>(rng.below(static_cast<uint64_t>(3 - first)));
            int indices[2] = {first, second};
            if (type == "tf32") {  // 0b0100 the first of the two, 0b1110 the second
                const int which = static_cast<int>(rng.below(2));
                indices[0] = which ? 2 : 0, indices[1] = which ? 3 : 1;
                s.whole.at({row, 2 * q + which}) = s.packed.at({row, q});
            } else if (bits_of(type) == 4) {
                for (int i = 0; i < 4; ++i)
                    s.whole.at({row, 8 * q + 2 * indices[i / 2] + i % 2}) = s.packed.at({row, 4 * q + i});
            } else {
                for (int i = 0; i < 2; ++i) s.whole.at({row, 4 * q + indices[i]}) = s.packed.at({row, 2 * q + i});
            }
            const MetadataPlace at = metadata_place(bits_of(type), groups, selector, row, q);
            words[static_cast<size_t>(at.lane)] |= static_cast<uint32_t>(indices[0] | indices[1] << 2) << at.bit;
        }
    std::memcpy(s.metadata.data(), words.data(), 128);
    return s;
}

// Compares a product's result with the plain one, which is exact.
inline void check_product(Matrix& a, Matrix& b, Matrix& c, const Matrix& d,
                          const std::function<double(double, double)>& times) {
    int wrong = 0;
    for (int row = 0; row < a.rows; ++row)
        for (int column = 0; column < b.columns; ++column) {
            double sum = c.value(row, column);
            for (int k = 0; k < a.columns; ++k) sum += times(a.value(row, k), b.value(k, column));
            wrong += !(d.value(row, column) == sum);
        }
    CHECK(wrong == 0);
}

}  // namespace lockstep::matrix_test
