// gzip (RFC 1952) around deflate (RFC 1951), decoding only. Codes are canonical Huffman codes, read bit by bit: a code of
// length n is found by counting how many codes are shorter. Everything is checked; nothing beyond `limit` is made.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/nn/data_set.h"

namespace lockstep::nn {

namespace {
struct Bits {
    std::string_view bytes;
    const std::string& name;
    size_t at = 0;
    uint32_t held = 0;
    int count = 0;

    [[noreturn]] void fail(const char* what) const {
        throw Failure(fmt::format("{} is not a whole gzip file: {}", name, what));
    }
    uint32_t byte() {
        if (at >= bytes.size()) fail("it ends too early");
        return static_cast<uint8_t>(bytes[at++]);
    }
    uint32_t take(int n) {  // n <= 16, least significant bit first
        while (count < n) {
            held |= byte() << count;
            count += 8;
        }
        const uint32_t value = held & ((1u << n) - 1);
        held >>= n;
        count -= n;
        return value;
    }
    void align() { held = 0, count = 0; }  // drops the rest of the byte
};

struct Huffman {
    std::array<uint16_t, 16> counts = {};  // codes of each length
    std::vector<uint16_t> symbols;         // in code order

    Huffman(const uint8_t* lengths, size_t n, const Bits& bits) : symbols(n) {
        for (size_t i = 0; i < n; ++i) ++counts[lengths[i]];
        counts[0] = 0;
        std::array<uint16_t, 16> offsets = {};
        int left = 1;
        for (size_t length = 1; length < 16; ++length) {
            left = 2 * left - counts[length];
            if (left < 0) bits.fail("a code table has too many codes");
            offsets[length] = static_cast<uint16_t>(offsets[length - 1] + counts[length - 1]);
        }
        for (size_t i = 0; i < n; ++i)
            if (lengths[i]) symbols[offsets[lengths[i]]++] = static_cast<uint16_t>(i);
    }
    uint32_t read(Bits& bits) const {
        int code = 0, first = 0, index = 0;
        for (size_t length = 1; length < 16; ++length) {
            code |= static_cast<int>(bits.take(1));
            const int here = counts[length];
            if (code - here < first) return symbols[static_cast<size_t>(index + code - first)];
            index += here;
            first = (first + here) << 1;
            code <<= 1;
        }
        bits.fail("a code is unknown");
    }
};

constexpr uint16_t length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr uint16_t distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                      33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                      1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr uint8_t distance_bits[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                     6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

void inflate_block(Bits& bits, const Huffman& literals, const Huffman& distances, std::string& out, size_t limit) {
    for (;;) {
        uint32_t symbol = literals.read(bits);
        if (symbol == 256) return;
        if (out.size() >= limit) bits.fail("it grows beyond what is read");
        if (symbol < 256) {
            out += static_cast<char>(symbol);
            continue;
        }
        symbol -= 257;
        if (symbol >= std::size(length_base)) bits.fail("a length is unknown");
        const size_t length = length_base[symbol] + bits.take(length_bits[symbol]);
        const uint32_t code = distances.read(bits);
        if (code >= std::size(distance_base)) bits.fail("a distance is unknown");
        const size_t distance = distance_base[code] + bits.take(distance_bits[code]);
        if (distance > out.size()) bits.fail("a distance reaches before its beginning");
        for (size_t i = 0; i < length; ++i) out += out[out.size() - distance];
    }
}

void fixed_block(Bits& bits, std::string& out, size_t limit) {
    std::array<uint8_t, 288> lengths;
    for (size_t i = 0; i < 288; ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::array<uint8_t, 30> five;
    five.fill(5);
    inflate_block(bits, Huffman(lengths.data(), 288, bits), Huffman(five.data(), 30, bits), out, limit);
}

void dynamic_block(Bits& bits, std::string& out, size_t limit) {
    static constexpr uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const size_t literals = bits.take(5) + 257, distances = bits.take(5) + 1, codes = bits.take(4) + 4;
    if (literals > 286 || distances > 30) bits.fail("a code table is too long");
    std::array<uint8_t, 19> code_lengths = {};
    for (size_t i = 0; i < codes; ++i) code_lengths[order[i]] = static_cast<uint8_t>(bits.take(3));
    const Huffman code(code_lengths.data(), 19, bits);
    std::vector<uint8_t> lengths;
    while (lengths.size() < literals + distances) {
        const uint32_t symbol = code.read(bits);
        if (symbol < 16) {
            lengths.push_back(static_cast<uint8_t>(symbol));
            continue;
        }
        if (symbol == 16 && lengths.empty()) bits.fail("a code table repeats nothing");
        const uint8_t value = symbol == 16 ? lengths.back() : uint8_t{0};
        const size_t times = symbol == 16 ? 3 + bits.take(2) : symbol == 17 ? 3 + bits.take(3) : 11 + bits.take(7);
        lengths.insert(lengths.end(), times, value);
    }
    if (lengths.size() > literals + distances) bits.fail("a code table is too long");
    inflate_block(bits, Huffman(lengths.data(), literals, bits), Huffman(lengths.data() + literals, distances, bits), out,
                  limit);
}

void stored_block(Bits& bits, std::string& out, size_t limit) {
    bits.align();
    const uint32_t low = bits.byte(), length = low | bits.byte() << 8;
    const uint32_t low_check = bits.byte(), check = low_check | bits.byte() << 8;
    if ((length ^ check) != 0xffff) bits.fail("a stored block contradicts itself");
    if (length > bits.bytes.size() - bits.at) bits.fail("it ends too early");
    if (out.size() + length > limit) bits.fail("it grows beyond what is read");
    out += bits.bytes.substr(bits.at, length);
    bits.at += length;
}

uint32_t crc32(std::string_view bytes) {  // RFC 1952, section 8
    std::array<uint32_t, 256> table;
    for (uint32_t i = 0; i < 256; ++i) {
        table[i] = i;
        for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0u);
    }
    uint32_t crc = 0xffffffffu;
    for (char byte : bytes) crc = table[(crc ^ static_cast<uint8_t>(byte)) & 255] ^ crc >> 8;
    return ~crc;
}
}  // namespace

std::string gunzip(std::string_view bytes, const std::string& name, size_t limit) {
    Bits bits{bytes, name};
    if (bits.byte() != 0x1f || bits.byte() != 0x8b || bits.byte() != 8) bits.fail("it does not begin like one");
    const uint32_t flags = bits.byte();
    for (int i = 0; i < 6; ++i) bits.byte();  // time, extra flags, system
    if (flags & 4) {
        const uint32_t low = bits.byte(), extra = low | bits.byte() << 8;
        for (uint32_t i = 0; i < extra; ++i) bits.byte();
    }
    for (uint32_t text : {8u, 16u})  // file name, comment
        if (flags & text)
            while (bits.byte() != 0) {
            }
    if (flags & 2) bits.byte(), bits.byte();

    std::string out;
    for (bool last = false; !last;) {
        last = bits.take(1) != 0;
        const uint32_t kind = bits.take(2);
        if (kind == 0)
            stored_block(bits, out, limit);
        else if (kind == 1)
            fixed_block(bits, out, limit);
        else if (kind == 2)
            dynamic_block(bits, out, limit);
        else
            bits.fail("a block is of no known kind");
    }
    bits.align();
    uint32_t checksum = 0, size = 0;
    for (int i = 0; i < 4; ++i) checksum |= bits.byte() << (8 * i);
    for (int i = 0; i < 4; ++i) size |= bits.byte() << (8 * i);
    if (checksum != crc32(out)) bits.fail("its checksum does not fit");
    if (size != static_cast<uint32_t>(out.size())) bits.fail("its length is not what it says");
    return out;
}

}  // namespace lockstep::nn
