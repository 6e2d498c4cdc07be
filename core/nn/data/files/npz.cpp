// Reading begins at the end: the end record says where the central directory stands, whose entries say where the members
// stand. Sizes come from the directory; a member's own header is only skipped, after a look that it is one.
#include "core/nn/data/files/npz.h"

#include <set>

#include "core/base/files.h"
#include "core/base/sizes.h"
#include "core/nn/data/files/inflate.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
constexpr uint32_t local_header = 0x04034b50, directory_entry = 0x02014b50, end_record = 0x06054b50;
constexpr size_t local_bytes = 30, entry_bytes = 46, end_bytes = 22;

uint32_t little_endian(std::string_view bytes, size_t at, size_t count) {
    uint32_t value = 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
}

void append(std::string& out, uint64_t value, int count) {
    for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

struct ZipEntry {
    uint32_t flags, method, crc, packed, size, name, extra, comment, local;
};

ZipEntry entry_at(std::string_view bytes, size_t at) {
    const auto field = [&](size_t offset, size_t count) { return little_endian(bytes, at + offset, count); };
    return {field(8, 2),  field(10, 2), field(16, 4), field(20, 4), field(24, 4),
            field(28, 2), field(30, 2), field(32, 2), field(42, 4)};
}
}  // namespace

Result<NamedArrays> parse_npz(std::string_view bytes, const std::string& name, uint64_t limit) {
    const auto bad = [&](uint64_t at, const std::string& what) {
        return refusal(name, at, "not a readable npz file: " + what);
    };
    if (bytes.size() < end_bytes) return bad(bytes.size(), "it ends too early");
    size_t end = bytes.size() - end_bytes;  // the end record, before a comment of up to 65535 bytes
    for (size_t tries = 0;; --end, ++tries) {
        if (little_endian(bytes, end, 4) == end_record &&
            end + end_bytes + little_endian(bytes, end + 20, 2) == bytes.size())
            break;
        if (end == 0 || tries == 65535) return bad(bytes.size(), "it has no end of a zip archive");
    }
    const uint32_t entries = little_endian(bytes, end + 10, 2);
    const uint64_t length = little_endian(bytes, end + 12, 4), begin = little_endian(bytes, end + 16, 4);
    if (little_endian(bytes, end + 4, 4) != 0 || little_endian(bytes, end + 8, 2) != entries)
        return bad(end, "it is one part of a split archive");
    if (entries == 0xffff || length == 0xffffffff || begin == 0xffffffff) return bad(end, "zip64 archives are not read");
    if (begin + length > end) return bad(end, "its directory lies outside the file");

    NamedArrays arrays;
    std::set<std::string_view> names;
    uint64_t at = begin, total = 0;
    for (uint32_t i = 0; i < entries; ++i) {
        if (at + entry_bytes > end || little_endian(bytes, at, 4) != directory_entry)
            return bad(at, fmt::format("entry {} of its directory is missing", i + 1));
        const ZipEntry entry = entry_at(bytes, at);
        if (at + entry_bytes + entry.name + entry.extra + entry.comment > end) return bad(at, "its directory is cut off");
        const std::string_view member = bytes.substr(at + entry_bytes, entry.name);
        const auto wrong = [&](uint64_t where, const std::string& what) {
            return bad(where, fmt::format("member {} {}", in_quotes(member), what));
        };
        if (!member.ends_with(".npy") || member.size() == 4) return wrong(at, "is not an npy file");
        if (!names.insert(member).second) return wrong(at, "is there twice");
        if (entry.flags & 1) return wrong(at, "is encrypted");
        if (entry.method != 0 && entry.method != 8)
            return wrong(at, fmt::format("is packed by method {}, not stored or deflated", entry.method));
        if (entry.packed == 0xffffffff || entry.size == 0xffffffff || entry.local == 0xffffffff)
            return wrong(at, "needs zip64, which is not read");
        total += entry.size;
        if (total > limit) return wrong(at, "makes the arrays larger than " + size_text(limit));

        if (entry.local + local_bytes > begin || little_endian(bytes, entry.local, 4) != local_header)
            return wrong(entry.local, "does not stand where the directory says");
        const uint64_t data = entry.local + local_bytes + little_endian(bytes, entry.local + 26, 2) +
                              little_endian(bytes, entry.local + 28, 2);
        if (data + entry.packed > begin) return wrong(entry.local, "reaches beyond its place");
        const std::string_view packed = bytes.substr(data, entry.packed);
        std::string unpacked;
        std::string_view contents = packed;
        if (entry.method == 8) {
            auto inflated = inflate_raw(packed, name, data, entry.size);
            if (!inflated) return inflated.error();
            unpacked = std::move(inflated).value();
            contents = unpacked;
        } else if (entry.packed != entry.size) {
            return wrong(at, fmt::format("is stored as {} bytes but should be {}", entry.packed, entry.size));
        }
        if (crc32_of(contents) != entry.crc) return wrong(data, "does not have its checksum");
        auto array = parse_npy(contents, fmt::format("{}, {}", name, in_quotes(member)));
        if (!array) return array.error();
        arrays.push_back({std::string(member.substr(0, member.size() - 4)), std::move(array).value()});
        at += entry_bytes + entry.name + entry.extra + entry.comment;
    }
    if (at != begin + length) return bad(at, "its directory is longer than its entries");
    return arrays;
}

Result<NamedArrays> read_npz(const std::filesystem::path& path) {
    const auto bytes = read_file(path, size_t{4} << 30);
    if (!bytes) return bytes.error();
    return parse_npz(bytes.value(), path.string());
}

std::string format_npz(const NamedArrays& arrays) {
    std::string out, directory;
    std::set<std::string> names;
    if (arrays.size() >= 0xffff) throw Failure("an npz file takes at most 65534 arrays");
    for (const NamedArray& row : arrays) {
        if (row.name.empty() || row.name.size() > 1000) throw Failure("an npz file's arrays need names of 1 to 1000 bytes");
        if (!names.insert(row.name).second) throw Failure(fmt::format("two arrays are named {}", in_quotes(row.name)));
        const std::string member = row.name + ".npy", contents = format_npy(row.array);
        const uint64_t local = out.size();
        if (local + contents.size() >= 0xf0000000u) throw Failure("an npz file takes at most 4 GiB");
        std::string common;  // of both headers: version 2.0, flag UTF-8, stored, 1 January 1980
        append(common, 20, 2), append(common, 0x0800, 2), append(common, 0, 2), append(common, 0x00210000, 4);
        append(common, crc32_of(contents), 4), append(common, contents.size(), 4), append(common, contents.size(), 4);
        append(common, member.size(), 2), append(common, 0, 2);
        append(out, local_header, 4);
        out += common + member + contents;
        append(directory, directory_entry, 4), append(directory, 20, 2);
        directory += common;
        directory.append(10, '\0');  // no comment, first disk, plain file
        append(directory, local, 4);
        directory += member;
    }
    const uint64_t begin = out.size();
    out += directory;
    append(out, end_record, 4), append(out, 0, 4), append(out, arrays.size(), 2), append(out, arrays.size(), 2);
    append(out, directory.size(), 4), append(out, begin, 4), append(out, 0, 2);
    return out;
}

}  // namespace lockstep::nn
