// Reading begins at the end: the end record says where the central directory stands, whose entries say where the members
// stand. Sizes come from the directory; a member's own header is only skipped, after a look that it is one.
#include "core/nn/data/files/zip.h"

#include <set>

#include "core/base/sizes.h"
#include "core/nn/data/files/inflate.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
constexpr uint32_t zip_local_header = 0x04034b50, zip_directory_entry = 0x02014b50, zip_end_record = 0x06054b50;
constexpr size_t local_bytes = 30, entry_bytes = 46, end_bytes = 22;

uint32_t little_endian(std::string_view bytes, size_t at, size_t count) {
    uint32_t value = 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
}

struct ZipEntry {
    uint32_t flags, method, crc, packed, size, name, extra, comment, local;
};

ZipEntry entry_at(std::string_view bytes, size_t at) {
    const auto field = [&](size_t offset, size_t count) { return little_endian(bytes, at + offset, count); };
    return {field(8, 2),  field(10, 2), field(16, 4), field(20, 4), field(24, 4),
            field(28, 2), field(30, 2), field(32, 2), field(42, 4)};
}
class ZipReader {
  public:
    ZipReader(std::string_view bytes, const std::string& name, const ZipReading& how)
        : bytes_(bytes), name_(name), how_(how) {}

    std::optional<Diagnostic> read() {
        if (auto problem = find_directory()) return problem;
        std::set<std::string_view> names;
        uint64_t at = begin_, total = 0;
        for (uint32_t i = 0; i < entries_; ++i) {
            if (at + entry_bytes > end_ || little_endian(bytes_, at, 4) != zip_directory_entry)
                return bad(at, fmt::format("entry {} of its directory is missing", i + 1));
            const ZipEntry entry = entry_at(bytes_, at);
            if (at + entry_bytes + entry.name + entry.extra + entry.comment > end_)
                return bad(at, "its directory is cut off");
            const std::string_view member = bytes_.substr(at + entry_bytes, entry.name);
            if (const std::string why = how_.objection ? how_.objection(member) : ""; !why.empty())
                return wrong(member, at, why);
            if (!names.insert(member).second) return wrong(member, at, "is there twice");
            if (!how_.wanted || how_.wanted(member))
                if (auto problem = read_member(member, entry, at, total)) return problem;
            at += entry_bytes + entry.name + entry.extra + entry.comment;
        }
        if (at != begin_ + length_) return bad(at, "its directory is longer than its entries");
        return std::nullopt;
    }

  private:
    Diagnostic bad(uint64_t at, const std::string& what) const {
        return refusal(name_, at, fmt::format("not a readable {}: {}", how_.what, what));
    }
    Diagnostic wrong(std::string_view member, uint64_t where, const std::string& what) const {
        return bad(where, fmt::format("member {} {}", in_quotes(member), what));
    }

    std::optional<Diagnostic> find_directory() {
        if (bytes_.size() < end_bytes) return bad(bytes_.size(), "it ends too early");
        end_ = bytes_.size() - end_bytes;  // the end record, before a comment of up to 65535 bytes
        for (size_t tries = 0;; --end_, ++tries) {
            if (little_endian(bytes_, end_, 4) == zip_end_record &&
                end_ + end_bytes + little_endian(bytes_, end_ + 20, 2) == bytes_.size())
                break;
            if (end_ == 0 || tries == 65535) return bad(bytes_.size(), "it has no end of a zip archive");
        }
        entries_ = little_endian(bytes_, end_ + 10, 2);
        length_ = little_endian(bytes_, end_ + 12, 4);
        begin_ = little_endian(bytes_, end_ + 16, 4);
        if (little_endian(bytes_, end_ + 4, 4) != 0 || little_endian(bytes_, end_ + 8, 2) != entries_)
            return bad(end_, "it is one part of a split archive");
        if (entries_ == 0xffff || length_ == 0xffffffff || begin_ == 0xffffffff)
            return bad(end_, "zip64 archives are not read");
        if (begin_ + length_ > end_) return bad(end_, "its directory lies outside the file");
        if (entries_ > how_.most_members) return bad(end_, fmt::format("it has more than {} members", how_.most_members));
        return std::nullopt;
    }

    std::optional<Diagnostic> read_member(std::string_view member, const ZipEntry& entry, uint64_t at, uint64_t& total) {
        if (entry.flags & 1) return wrong(member, at, "is encrypted");
        if (entry.method != 0 && entry.method != 8)
            return wrong(member, at, fmt::format("is packed by method {}, not stored or deflated", entry.method));
        if (entry.packed == 0xffffffff || entry.size == 0xffffffff || entry.local == 0xffffffff)
            return wrong(member, at, "needs zip64, which is not read");
        total += entry.size;
        if (total > how_.limit)
            return wrong(member, at, fmt::format("makes {} larger than {}", how_.larger, size_text(how_.limit)));
        if (entry.local + local_bytes > begin_ || little_endian(bytes_, entry.local, 4) != zip_local_header)
            return wrong(member, entry.local, "does not stand where the directory says");
        const uint64_t data = entry.local + local_bytes + little_endian(bytes_, entry.local + 26, 2) +
                              little_endian(bytes_, entry.local + 28, 2);
        if (data + entry.packed > begin_) return wrong(member, entry.local, "reaches beyond its place");
        const std::string_view packed = bytes_.substr(data, entry.packed);
        std::string unpacked;
        std::string_view contents = packed;
        if (entry.method == 8) {
            auto inflated = inflate_raw(packed, name_, data, entry.size);
            if (!inflated) return inflated.error();
            unpacked = std::move(inflated).value();
            contents = unpacked;
        } else if (entry.packed != entry.size) {
            return wrong(member, at, fmt::format("is stored as {} bytes but should be {}", entry.packed, entry.size));
        }
        if (crc32_of(contents) != entry.crc) return wrong(member, data, "does not have its checksum");
        return how_.take(member, contents);
    }

    std::string_view bytes_;
    const std::string& name_;
    const ZipReading& how_;
    size_t end_ = 0;
    uint32_t entries_ = 0;
    uint64_t length_ = 0, begin_ = 0;
};
}  // namespace

std::optional<Diagnostic> read_zip(std::string_view bytes, const std::string& name, const ZipReading& how) {
    return ZipReader(bytes, name, how).read();
}

}  // namespace lockstep::nn
