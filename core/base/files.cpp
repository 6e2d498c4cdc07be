#include "core/base/files.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>

#include "core/base/missing_file.h"
#include "core/base/sizes.h"
#include "core/system/system.h"

namespace lockstep {

static_assert(std::endian::native == std::endian::little, "npy and kernel arguments are little-endian");

namespace {

// The file's bytes, if they begin with `first`: what does not is given back after its first chunk.
Result<std::string> read_file_that_begins(const std::filesystem::path& path, size_t limit, std::string_view first) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (error || !std::filesystem::exists(status)) return Diagnostic{"no such file" + near_file(path), {path.string()}};
    if (std::filesystem::is_directory(status)) return Diagnostic{"this is a folder, a file is needed", {path.string()}};
    if (const std::string name = path.string(); std::filesystem::is_fifo(status) && !name.starts_with("/dev/") &&
                                                !name.starts_with("/proc/"))  // but /dev/stdin, and /dev/fd/63 of <(command)
        return Diagnostic{"this is a pipe, which may never say anything: a file is needed", {name}};
    std::ifstream in(path, std::ios::binary);
    if (!in) return Diagnostic{"the file cannot be opened for reading", {path.string()}};
    std::string text;
    char chunk[1 << 16];
    while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {
        text.append(chunk, static_cast<size_t>(in.gcount()));
        if (text.size() > limit)
            return Diagnostic{"the file is larger than the limit of " + size_text(limit), {path.string()}};
        if (text.compare(0, first.size(), first) != 0) break;
    }
    return text;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, size_t limit) {
    return read_file_that_begins(path, limit, "");
}

Result<std::string> read_text(const std::filesystem::path& path, size_t limit) {
    Result<std::string> text = read_file(path, limit);
    if (!text) return text;
    if (text.value().starts_with("\xff\xfe") || text.value().starts_with("\xfe\xff"))
        return Diagnostic{"the file is UTF-16: save it as UTF-8", {path.string()}};
    if (text.value().starts_with("\xef\xbb\xbf")) text.value().erase(0, 3);
    return text;
}

void write_file(const std::filesystem::path& path, std::string_view contents) {
    write_file(path, [&](std::ostream& out) { out.write(contents.data(), static_cast<std::streamsize>(contents.size())); });
}

void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
    std::error_code error;
    const auto refuse = [&](const std::string& why) {
        throw Failure(Diagnostic{"the file cannot be written" + (why.empty() ? "" : ": " + why), {path.string()}});
    };
    const auto put = [&](const std::filesystem::path& file) {
        std::ofstream out(file, std::ios::binary | std::ios::trunc);
        write(out);
        out.flush();
        return static_cast<bool>(out);
    };
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status)) refuse("this is a folder");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {  // a device or a pipe stays one
        if (!put(path)) refuse("");
        return;
    }
    std::filesystem::path file = path;  // a link stays a link
    for (int i = 0; i < 40 && std::filesystem::is_symlink(file, error); ++i)
        file = file.parent_path() / std::filesystem::read_symlink(file, error);
    std::filesystem::path temporary = file;
    temporary += ".part";
    if (!put(temporary)) {
        std::filesystem::remove(temporary, error);
        refuse("");
    }
    std::filesystem::rename(temporary, file, error);
    if (error) {
        const std::string why = error.message();
        std::filesystem::remove(temporary, error);
        refuse(why);
    }
}

void write_durably(const std::filesystem::path& path, std::string_view contents) {
    if (const std::string problem = system::write_durably(path, contents); !problem.empty())
        throw Failure(Diagnostic{problem, {path.string()}});
}

TemporaryFolder::TemporaryFolder() : path_(system::make_temporary_folder()) {
    if (path_.empty()) throw Failure("no folder for temporary files can be made", ExitStatus::missing);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
}

const std::filesystem::path& resource_root() {
    namespace fs = std::filesystem;
    static const fs::path root = [] {
        auto is_root = [](const fs::path& p) {
            std::error_code e;
            return fs::is_directory(p / "kernels" / "ptx", e) && fs::is_directory(p / "lessons", e);
        };
        if (const char* home = std::getenv("LOCKSTEP_HOME")) {
            if (is_root(home)) return fs::path(home);
            throw Failure(fmt::format("LOCKSTEP_HOME is '{}', which holds no kernels/ptx and lessons folders", home),
                          ExitStatus::missing);
        }
        if (const fs::path binary = system::own_executable(); !binary.empty())
            for (fs::path p = binary.parent_path();; p = p.parent_path()) {
                if (is_root(p)) return p;
                if (is_root(p / "share" / "lockstep")) return p / "share" / "lockstep";
                if (p == p.parent_path()) break;
            }
        if (is_root(LOCKSTEP_SOURCE_DIR)) return fs::path(LOCKSTEP_SOURCE_DIR);
        throw Failure("the folders kernels/ptx and lessons are missing: set LOCKSTEP_HOME to the folder that holds them",
                      ExitStatus::missing);
    }();
    return root;
}

namespace {

struct NpyType {
    DType type;
    const char* code;
};
constexpr NpyType npy_types[] = {{DType::i8, "|i1"},  {DType::u8, "|u1"},  {DType::i16, "<i2"}, {DType::u16, "<u2"},
                                 {DType::f16, "<f2"}, {DType::i32, "<i4"}, {DType::u32, "<u4"}, {DType::f32, "<f4"},
                                 {DType::i64, "<i8"}, {DType::u64, "<u8"}, {DType::f64, "<f8"}};

// The value that follows 'key': in the header's Python dictionary, up to the given end characters.
std::string_view field(std::string_view header, std::string_view key) {
    const size_t at = header.find(key);
    if (at == std::string_view::npos) return {};
    size_t begin = header.find(':', at);
    if (begin == std::string_view::npos) return {};
    ++begin;
    while (begin < header.size() && header[begin] == ' ') ++begin;
    return header.substr(begin);
}

}  // namespace

Result<Array> parse_npy(std::string_view bytes, const std::string& name) {
    auto bad = [&](size_t at, const std::string& what) {
        return Diagnostic{fmt::format("at byte {}: not a readable npy file: {}", at, what), {name}};
    };
    if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY") return bad(0, "it does not begin with \\x93NUMPY");
    const auto version = static_cast<unsigned char>(bytes[6]);
    if (version < 1 || version > 3) return bad(6, fmt::format("format version {} is not 1, 2 or 3", version));
    size_t length = 0, begin = version == 1 ? 10 : 12;
    if (bytes.size() < begin) return bad(bytes.size(), "the header is cut off");
    for (size_t i = 0; i < begin - 8; ++i)
        length |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
    if (length > bytes.size() - begin) return bad(bytes.size(), "the header is cut off");
    const std::string_view header = bytes.substr(begin, length), data = bytes.substr(begin + length);
    // Where a field's value stands; the header's beginning where it is missing.
    auto place = [&](std::string_view value) {
        return value.empty() ? begin : static_cast<size_t>(value.data() - bytes.data());
    };

    Array array;
    std::string_view descr = field(header, "'descr'");
    const NpyType* type = nullptr;
    for (const NpyType& row : npy_types)
        if (descr.size() > 5 && descr.substr(1, 3) == row.code) type = &row;
    constexpr NpyType boolean = {DType::u8, "|b1"};  // as bool* of a kernel takes it: 0 or 1
    if (descr.size() > 5 && descr.substr(1, 3) == boolean.code) type = &boolean;
    if (!type)
        return bad(place(descr),
                   fmt::format("its type {} is none of i8 u8 i16 u16 f16 i32 u32 f32 i64 u64 f64 in little-endian order",
                               descr.substr(0, std::min<size_t>(descr.find(','), 20))));
    array.dtype = type->type;
    const std::string_view order = field(header, "'fortran_order'");
    if (order.substr(0, 4) == "True") return bad(place(order), "it is in Fortran order; save it with np.ascontiguousarray");
    std::string_view shape = field(header, "'shape'");
    if (shape.empty() || shape[0] != '(') return bad(place(shape), "its header has no shape");
    uint64_t count = 1;
    for (size_t i = 1; i < shape.size() && shape[i] != ')';) {
        if (shape[i] < '0' || shape[i] > '9') {
            ++i;
            continue;
        }
        uint64_t extent = 0;
        for (; i < shape.size() && shape[i] >= '0' && shape[i] <= '9'; ++i) {
            extent = extent * 10 + static_cast<uint64_t>(shape[i] - '0');
            if (extent > (uint64_t{1} << 40)) return bad(place(shape) + i, "its shape is too large");
        }
        if (extent && count > (uint64_t{1} << 40) / extent) return bad(place(shape) + i, "its shape is too large");
        count *= extent;
        array.shape.push_back(static_cast<int64_t>(extent));
    }
    if (count * size_of(array.dtype) > data.size())
        return bad(bytes.size(), fmt::format("its header promises {} values of {}, but only {} bytes follow", count,
                                             name_of(array.dtype), data.size()));
    array.bytes.resize(count * size_of(array.dtype));
    if (!array.bytes.empty()) std::memcpy(array.bytes.data(), data.data(), array.bytes.size());
    return array;
}

Result<Array> read_npy(const std::filesystem::path& path) {
    Result<std::string> bytes = read_file_that_begins(path, size_t{4} << 30, "\x93NUMPY");
    if (!bytes) return bytes.error();
    return parse_npy(bytes.value(), path.string());
}

std::string format_npy(const Array& array) {
    const DType stored = array.dtype == DType::bf16 ? DType::u16 : array.dtype;
    const char* code = "<f4";
    for (const NpyType& row : npy_types)
        if (row.type == stored) code = row.code;
    std::string shape;
    for (int64_t extent : array.shape) shape += fmt::format("{}, ", extent);
    if (array.shape.size() > 1) shape.resize(shape.size() - 2);
    if (array.shape.size() == 1) shape.resize(shape.size() - 1);
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, shape);
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string out = "\x93NUMPY";
    out += '\x01';
    out += '\0';
    out += static_cast<char>(header.size() & 0xff);
    out += static_cast<char>(header.size() >> 8);
    out += header;
    out.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
    return out;
}

}  // namespace lockstep
