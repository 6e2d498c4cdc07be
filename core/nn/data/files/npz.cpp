// An npz file is a zip archive of npy files.
#include "core/nn/data/files/npz.h"

#include <set>

#include "core/base/files.h"
#include "core/nn/data/files/inflate.h"
#include "core/nn/data/files/zip.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
constexpr uint32_t local_header = 0x04034b50, directory_entry = 0x02014b50, end_record = 0x06054b50;

void append(std::string& out, uint64_t value, int count) {
    for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

Result<NamedArrays> parse_npz(std::string_view bytes, const std::string& name, uint64_t limit) {
    NamedArrays arrays;
    const auto objection = [](std::string_view member) -> std::string {
        return !member.ends_with(".npy") || member.size() == 4 ? "is not an npy file" : "";
    };
    const auto take = [&](std::string_view member, std::string_view contents) -> std::optional<Diagnostic> {
        auto array = parse_npy(contents, fmt::format("{}, {}", name, in_quotes(member)));
        if (!array) return array.error();
        arrays.push_back({std::string(member.substr(0, member.size() - 4)), std::move(array).value()});
        return std::nullopt;
    };
    const ZipReading how{.what = "npz file", .larger = "the arrays", .limit = limit, .objection = objection, .take = take};
    if (auto problem = read_zip(bytes, name, how)) return *problem;
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
