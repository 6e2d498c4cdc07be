// The layout of a fat binary, as observed in programs of nvcc 11 to 13: a header, then entries, each with a header of its
// own.
#include "core/runtime/fatbin.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace lockstep::runtime {
namespace {

constexpr uint32_t fat_magic = 0xba55ed50;
constexpr uint16_t ptx_kind = 1, machine_code_kind = 2;
constexpr uint64_t packed_lz4 = 0x2000, packed_zstd = 0x8000;  // of an entry's flags
constexpr size_t largest_text = size_t{256} << 20;

struct FatHeader {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;  // behind the header
};
struct EntryHeader {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;  // of what follows the header, padding included
    uint32_t packed_bytes, options_offset;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name_offset, name_bytes;
    uint64_t flags, reserved, text_bytes;
};
static_assert(sizeof(FatHeader) == 16 && sizeof(EntryHeader) == 64);

template <class T>
T read_at(std::span<const std::byte> bytes, size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

Result<std::string> text_of(const EntryHeader& entry, std::span<const std::byte> payload) {
    if ((entry.flags & (packed_lz4 | packed_zstd)) == 0)
        return std::string(reinterpret_cast<const char*>(payload.data()), payload.size());
    const std::span<const std::byte> packed = payload.first(std::min<size_t>(payload.size(), entry.packed_bytes));
    if (entry.text_bytes > largest_text) return Diagnostic{"the PTX in the program is larger than 256 MB"};
    return entry.flags & packed_zstd ? expand_zstd(packed, entry.text_bytes) : expand_lz4(packed, entry.text_bytes);
}

}  // namespace

Result<std::string> expand_zstd(std::span<const std::byte> packed, size_t bytes) {
    std::string text(bytes, '\0');
    const size_t written = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    if (ZSTD_isError(written))
        return Diagnostic{fmt::format("the PTX in the program cannot be unpacked: {}", ZSTD_getErrorName(written))};
    text.resize(written);
    return text;
}

Result<std::string> expand_lz4(std::span<const std::byte> packed, size_t bytes) {
    const Diagnostic broken{"the PTX in the program cannot be unpacked: its LZ4 block is damaged"};
    std::string text;
    text.reserve(bytes);
    size_t at = 0;
    const auto length = [&](size_t four_bits) -> size_t {  // 15 goes on in bytes, up to the first that is not 255
        size_t total = four_bits;
        if (four_bits != 15) return total;
        for (uint8_t more = 255; more == 255 && at < packed.size(); total += more) more = static_cast<uint8_t>(packed[at++]);
        return total;
    };
    while (at < packed.size()) {
        const auto token = static_cast<uint8_t>(packed[at++]);
        const size_t literals = length(token >> 4);
        if (literals > packed.size() - at || literals > bytes - text.size()) return broken;
        text.append(reinterpret_cast<const char*>(packed.data() + at), literals);
        at += literals;
        if (at == packed.size()) break;  // the last sequence has literals alone
        if (packed.size() - at < 2) return broken;
        const size_t back = static_cast<size_t>(packed[at]) | static_cast<size_t>(packed[at + 1]) << 8;
        at += 2;
        const size_t match = length(token & 15) + 4;
        if (back == 0 || back > text.size() || match > bytes - text.size()) return broken;
        for (size_t k = 0; k < match; ++k) text += text[text.size() - back];  // may overlap what it writes
    }
    return text;
}

Result<FatBinary> read_fat_binary(std::span<const std::byte> bytes) {
    FatBinary result;
    if (bytes.size() < sizeof(FatHeader) || read_at<uint32_t>(bytes, 0) != fat_magic) {
        std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (const size_t end = text.find('\0'); end != std::string::npos) text.resize(end);
        const size_t target = text.find(".target sm_");
        if (target == std::string::npos) return Diagnostic{"the program holds neither a fat binary nor PTX for the GPU"};
        result.ptx.push_back({static_cast<uint32_t>(std::atoi(text.c_str() + target + 11)), std::move(text)});
        return result;
    }
    const auto header = read_at<FatHeader>(bytes, 0);
    if (header.header_bytes < sizeof(FatHeader) || header.header_bytes > bytes.size())
        return Diagnostic{"the program's fat binary is damaged: its header is longer than the whole"};
    const size_t end = header.header_bytes + std::min<uint64_t>(header.bytes, bytes.size() - header.header_bytes);
    for (size_t at = header.header_bytes; at + sizeof(EntryHeader) <= end;) {
        const auto entry = read_at<EntryHeader>(bytes, at);
        if (entry.header_bytes < sizeof(EntryHeader) || entry.header_bytes > end - at ||
            entry.bytes > end - at - entry.header_bytes)
            return Diagnostic{"the program's fat binary is damaged: an entry is longer than the whole"};
        const auto payload = bytes.subspan(at + entry.header_bytes, entry.bytes);
        if (entry.kind == ptx_kind) {
            Result<std::string> text = text_of(entry, payload);
            if (!text) return text.error();
            if (const size_t zero = text.value().find('\0'); zero != std::string::npos) text.value().resize(zero);
            result.ptx.push_back({entry.arch, std::move(text).value()});
        } else if (entry.kind == machine_code_kind) {
            result.machine_code.push_back(entry.arch);
        }
        at += entry.header_bytes + entry.bytes;
    }
    return result;
}

Result<FatBinary> read_fat_binary(const std::byte* data) {
    FatHeader header;
    std::memcpy(&header, data, sizeof header);
    const size_t bytes = header.magic == fat_magic ? header.header_bytes + header.bytes
                                                   : std::strlen(reinterpret_cast<const char*>(data)) + 1;
    return read_fat_binary(std::span(data, bytes));
}

const PtxImage* best_image(const FatBinary& images, uint32_t compute) {
    const PtxImage* best = nullptr;
    for (const PtxImage& image : images.ptx) {
        const bool fits = image.arch <= compute, best_fits = best && best->arch <= compute;
        if (!best || (fits && (!best_fits || image.arch > best->arch)) || (!fits && !best_fits && image.arch < best->arch))
            best = &image;
    }
    return best;
}

std::vector<FatBinary> fat_binaries_in(std::span<const std::byte> object) {
    std::vector<FatBinary> found;
    for (size_t at = 0; at + sizeof(FatHeader) <= object.size(); at += 8) {  // its section is aligned to 8
        const auto header = read_at<FatHeader>(object, at);
        if (header.magic != fat_magic || header.version != 1 || header.header_bytes != sizeof(FatHeader)) continue;
        if (Result<FatBinary> images = read_fat_binary(object.subspan(at))) found.push_back(std::move(images).value());
    }
    return found;
}

}  // namespace lockstep::runtime
