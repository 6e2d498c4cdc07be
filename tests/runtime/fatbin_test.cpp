// Fat binaries as nvcc writes them, plain and packed; and damaged ones, of which nothing may be read beyond the end.
#include "core/runtime/fatbin.h"

#include <zstd.h>

#include <cstring>

#include "tests/catch.h"

namespace runtime_fatbin_test {

using namespace lockstep;

namespace {

using runtime::read_fat_binary;

const std::string ptx = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

std::vector<std::byte> bytes_of(const std::string& text) {
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

// One header and one entry of the given kind, flags and content.
std::vector<std::byte> fat_binary(uint16_t kind, uint32_t arch, uint64_t flags, const std::vector<std::byte>& content,
                                  uint64_t text_bytes) {
    std::vector<std::byte> all(16 + 64 + content.size());
    const auto put = [&](size_t at, auto value) { std::memcpy(all.data() + at, &value, sizeof value); };
    put(0, uint32_t{0xba55ed50});
    put(4, uint16_t{1});
    put(6, uint16_t{16});
    put(8, uint64_t{64 + content.size()});
    put(16, kind);
    put(20, uint32_t{64});
    put(24, uint64_t{content.size()});
    put(32, static_cast<uint32_t>(content.size()));
    put(16 + 28, arch);
    put(16 + 40, flags);
    put(16 + 56, text_bytes);
    std::memcpy(all.data() + 80, content.data(), content.size());
    return all;
}

TEST_CASE("a plain fat binary's PTX is read with its architecture") {
    const auto read = read_fat_binary(fat_binary(1, 75, 0x11, bytes_of(ptx), 0));
    REQUIRE(read);
    REQUIRE(read.value().ptx.size() == 1);
    CHECK(read.value().ptx[0].arch == 75);
    CHECK(read.value().ptx[0].text == ptx);
}

TEST_CASE("PTX packed by Zstandard is unpacked") {
    std::vector<std::byte> packed(ZSTD_compressBound(ptx.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), ptx.data(), ptx.size(), 3));
    const auto read = read_fat_binary(fat_binary(1, 80, 0x8011, packed, ptx.size()));
    REQUIRE(read);
    CHECK(read.value().ptx.at(0).text == ptx);
}

TEST_CASE("PTX packed by LZ4 is unpacked, matches that overlap themselves too") {
    // "abc" as literals, then 9 bytes from 3 bytes back, then "." as the last literal
    const std::vector<std::byte> block = {std::byte{0x35}, std::byte{'a'}, std::byte{'b'},  std::byte{'c'},
                                          std::byte{3},    std::byte{0},   std::byte{0x10}, std::byte{'.'}};
    const auto text = runtime::expand_lz4(block, 13);
    REQUIRE(text);
    CHECK(text.value() == "abcabcabcabc.");
    SECTION("a match from before the beginning is refused") {
        std::vector<std::byte> wrong = block;
        wrong[4] = std::byte{4};
        CHECK_FALSE(runtime::expand_lz4(wrong, 13).ok());
    }
    SECTION("a text longer than announced is refused") {
        CHECK_FALSE(runtime::expand_lz4(block, 12).ok());
    }
}

TEST_CASE("machine code alone is noted and gives no PTX") {
    const auto read = read_fat_binary(fat_binary(2, 90, 0x11, bytes_of("ELF"), 0));
    REQUIRE(read);
    CHECK(read.value().ptx.empty());
    CHECK(read.value().machine_code == std::vector<uint32_t>{90});
}

TEST_CASE("plain PTX in place of a fat binary is taken as it is") {
    const auto read = read_fat_binary(bytes_of(ptx + '\0'));
    REQUIRE(read);
    CHECK(read.value().ptx.at(0).arch == 75);
    CHECK(read.value().ptx.at(0).text == ptx);
}

TEST_CASE("no cut or changed byte of a fat binary is read beyond its end") {
    const std::vector<std::byte> whole = fat_binary(1, 75, 0x2011, bytes_of(ptx), 4096);
    for (size_t length = 0; length < whole.size(); ++length) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        (void)read_fat_binary(cut);
    }
    for (size_t at = 0; at < 80; ++at)
        for (const int value : {0, 1, 0x7f, 0xff}) {
            std::vector<std::byte> changed = whole;
            changed[at] = static_cast<std::byte>(value);
            (void)read_fat_binary(changed);
        }
    CHECK_FALSE(read_fat_binary(std::vector<std::byte>(8)).ok());
}

}  // namespace
}  // namespace runtime_fatbin_test
