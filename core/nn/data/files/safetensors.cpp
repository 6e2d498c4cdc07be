// The header is read by nlohmann's parser as a stream of events, so that a hostile one builds nothing: a name, a list or a
// level too many ends it. A counting iterator tells the byte.
#include "core/nn/data/files/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/nn/data/refusal.h"

namespace lockstep::nn {

namespace {
constexpr uint64_t largest_header = 100'000'000;  // the reference reader's limit
constexpr uint64_t largest_count = uint64_t{1} << 40;
constexpr size_t most_dimensions = 64;

struct TypeName {
    std::string_view name;
    DType type;
};
constexpr TypeName type_names[] = {{"F64", DType::f64}, {"I64", DType::i64}, {"U64", DType::u64}, {"F32", DType::f32},
                                   {"I32", DType::i32}, {"U32", DType::u32}, {"F16", DType::f16}, {"BF16", DType::bf16},
                                   {"I16", DType::i16}, {"U16", DType::u16}, {"I8", DType::i8},   {"U8", DType::u8},
                                   {"BOOL", DType::u8}};

struct Entry {
    std::string name;
    uint64_t place = 0;  // of its name in the file
    bool has_dtype = false, has_shape = false, has_offsets = false;
    DType dtype = DType::f32;
    std::vector<int64_t> shape;
    std::vector<uint64_t> offsets;
};

struct Counted {  // a character iterator that keeps count of where it is
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at = nullptr;
    const char** seen = nullptr;

    reference operator*() const { return *at; }
    Counted& operator++() {
        *seen = ++at;
        return *this;
    }
    Counted operator++(int) {
        Counted old = *this;
        ++*this;
        return old;
    }
    bool operator==(const Counted& other) const { return at == other.at; }
    bool operator!=(const Counted& other) const { return at != other.at; }
};

// Events of the JSON -> entries. `wrong` says why it stopped.
struct Header {
    using Number = nlohmann::json::number_integer_t;
    using Unsigned = nlohmann::json::number_unsigned_t;
    using Float = nlohmann::json::number_float_t;
    using String = nlohmann::json::string_t;
    using Binary = nlohmann::json::binary_t;

    enum class Level : uint8_t { outside, top, metadata, entry, shape, offsets };
    Level level = Level::outside;
    std::map<std::string, std::string> metadata;
    std::vector<Entry> entries;
    std::set<std::string> names;
    std::string field;  // the key last read in an entry or in the metadata
    std::string wrong;
    uint64_t place = 0;  // of what is wrong
    const char* begin = nullptr;
    const char* seen = nullptr;

    uint64_t here() const { return 8 + static_cast<uint64_t>(seen - begin); }
    bool refuse(std::string what) {
        wrong = std::move(what);
        place = here();
        return false;
    }
    std::string tensor() const { return entries.empty() ? "" : "tensor " + in_quotes(entries.back().name) + ": "; }
    bool unexpected(const char* what) {
        switch (level) {
            case Level::outside:
                return refuse(std::string("the header is ") + what + ", not an object");
            case Level::top:
                return refuse(fmt::format("{} is {}, not an object", in_quotes(field), what));
            case Level::metadata:
                return refuse(fmt::format("metadata {} is {}, not a text", in_quotes(field), what));
            case Level::entry:
                return refuse(fmt::format("{}{} is {}", tensor(), in_quotes(field), what));
            default:
                return refuse(
                    fmt::format("{}{} holds {}, whole numbers from 0 are wanted", tensor(), in_quotes(field), what));
        }
    }

    bool null() { return unexpected("null"); }
    bool boolean(bool) { return unexpected("true or false"); }
    bool number_integer(Number) { return unexpected("a negative number"); }
    bool number_float(Float, const String&) { return unexpected("a number with a fraction or too large"); }
    bool binary(Binary&) { return unexpected("binary"); }
    bool number_unsigned(Unsigned value) {
        if (level == Level::shape) {
            Entry& entry = entries.back();
            if (value > largest_count) return refuse(tensor() + "its shape is too large");
            if (entry.shape.size() == most_dimensions) return refuse(tensor() + "its shape has more than 64 dimensions");
            entry.shape.push_back(static_cast<int64_t>(value));
            return true;
        }
        if (level != Level::offsets) return unexpected("a number");
        if (entries.back().offsets.size() == 2) return refuse(tensor() + "more than two data_offsets");
        entries.back().offsets.push_back(value);
        return true;
    }
    bool string(String& text) {
        if (level == Level::metadata) {
            metadata[field] = text;
            return true;
        }
        if (level != Level::entry || field != "dtype") return unexpected("a text");
        for (const TypeName& row : type_names)
            if (row.name == text) {
                entries.back().dtype = row.type;
                return true;
            }
        return refuse(fmt::format("{}dtype {} is none of F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL", tensor(),
                                  in_quotes(text)));
    }
    bool start_object(size_t) {
        if (level == Level::outside) {
            level = Level::top;
        } else if (level == Level::top) {
            level = field == "__metadata__" ? Level::metadata : Level::entry;
        } else {
            return unexpected("an object");
        }
        return true;
    }
    bool key(String& text) {
        if (level == Level::top) {
            if (!names.insert(text).second) return refuse(in_quotes(text) + " is there twice");
            if (text != "__metadata__")
                entries.push_back({.name = text, .place = here() - std::min<uint64_t>(here(), text.size() + 2)});
        } else if (level == Level::metadata) {
            if (metadata.contains(text)) return refuse("metadata " + in_quotes(text) + " is there twice");
        } else {
            Entry& entry = entries.back();
            bool* has = text == "dtype"          ? &entry.has_dtype
                        : text == "shape"        ? &entry.has_shape
                        : text == "data_offsets" ? &entry.has_offsets
                                                 : nullptr;
            if (!has) return refuse(tensor() + "unknown field " + in_quotes(text));
            if (std::exchange(*has, true)) return refuse(tensor() + in_quotes(text) + " is there twice");
        }
        field = text;
        return true;
    }
    bool end_object() {
        if (level == Level::entry) {
            const Entry& entry = entries.back();
            if (!entry.has_dtype) return refuse(tensor() + "it has no dtype");
            if (!entry.has_shape) return refuse(tensor() + "it has no shape");
            if (entry.offsets.size() != 2) return refuse(tensor() + "it has no two data_offsets");
        }
        level = level == Level::top ? Level::outside : Level::top;
        return true;
    }
    bool start_array(size_t) {
        if (level != Level::entry || (field != "shape" && field != "data_offsets")) return unexpected("a list");
        level = field == "shape" ? Level::shape : Level::offsets;
        return true;
    }
    bool end_array() {
        level = Level::entry;
        return true;
    }
    bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) {
        return refuse("the header is not JSON from here on");
    }
};

// Whether shape and dtype fill the bytes between the offsets; no product overflows.
std::string size_complaint(const Entry& entry) {
    uint64_t bytes = size_of(entry.dtype);
    for (const int64_t extent : entry.shape) {
        const auto n = static_cast<uint64_t>(extent);
        if (n != 0 && bytes > (uint64_t{1} << 50) / n) return "its shape is too large";
        bytes *= n;
    }
    const uint64_t held = entry.offsets[1] - entry.offsets[0];
    if (bytes == held) return "";
    return fmt::format("its shape and dtype need {} bytes, but its offsets hold {}", bytes, held);
}
}  // namespace

Result<SafeTensors> parse_safetensors(std::string_view bytes, const std::string& name) {
    const auto bad = [&](uint64_t at, const std::string& what) {
        return refusal(name, at, "not a readable safetensors file: " + what);
    };
    if (bytes.size() < 8) return bad(bytes.size(), "it ends within the length of its header");
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    if (length > largest_header) return bad(0, fmt::format("its header is said to have {} bytes, over 100 MB", length));
    if (length > bytes.size() - 8)
        return bad(0, fmt::format("its header is said to have {} bytes, but only {} follow", length, bytes.size() - 8));
    const std::string_view json = bytes.substr(8, length), data = bytes.substr(8 + length);
    if (!json.starts_with('{')) return bad(8, "its header does not begin with '{'");

    Header header;
    header.begin = header.seen = json.data();
    const Counted first{json.data(), &header.seen}, last{json.data() + json.size(), &header.seen};
    if (!nlohmann::json::sax_parse(first, last, &header)) return bad(header.place, header.wrong);

    std::vector<Entry>& entries = header.entries;
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
    uint64_t end = 0;
    for (const Entry& entry : entries) {
        const auto wrong = [&](const std::string& what) {
            return bad(entry.place, fmt::format("tensor {}: {}", in_quotes(entry.name), what));
        };
        const uint64_t from = entry.offsets[0], to = entry.offsets[1];
        if (from > to) return wrong(fmt::format("its offsets {} to {} run backwards", from, to));
        if (to > data.size())
            return wrong(fmt::format("its offsets {} to {} reach beyond the {} bytes of data", from, to, data.size()));
        if (from < end) return wrong(fmt::format("its bytes from {} overlap those of another tensor up to {}", from, end));
        if (from > end) return wrong(fmt::format("a hole of {} bytes before its bytes", from - end));
        if (const std::string what = size_complaint(entry); !what.empty()) return wrong(what);
        end = to;
    }
    if (end != data.size())
        return bad(8 + length + end, fmt::format("{} bytes that belong to no tensor", data.size() - end));

    SafeTensors file{.metadata = std::move(header.metadata)};
    for (Entry& entry : entries) {
        Array array{.dtype = entry.dtype, .shape = std::move(entry.shape)};
        array.bytes.resize(entry.offsets[1] - entry.offsets[0]);
        if (!array.bytes.empty()) std::memcpy(array.bytes.data(), data.data() + entry.offsets[0], array.bytes.size());
        file.tensors.push_back({std::move(entry.name), std::move(array)});
    }
    return file;
}

Result<SafeTensors> read_safetensors(const std::filesystem::path& path) {
    const auto bytes = read_file(path, size_t{16} << 30);
    if (!bytes) return bytes.error();
    return parse_safetensors(bytes.value(), path.string());
}

static std::string header_of(const SafeTensors& file) {
    std::set<std::string> names;
    std::string json = "{";
    const auto text = [](const std::string& raw) { return nlohmann::json(raw).dump(); };  // throws on what is not UTF-8
    if (!file.metadata.empty()) {
        json += "\"__metadata__\":{";
        for (const auto& [key, value] : file.metadata)
            json += (json.back() == '{' ? "" : ",") + text(key) + ":" + text(value);
        json += '}';
    }
    uint64_t at = 0;
    for (const NamedArray& row : file.tensors) {
        if (row.name.empty() || row.name == "__metadata__")
            throw Failure(fmt::format("a tensor of a safetensors file cannot be named {}", in_quotes(row.name)));
        if (!names.insert(row.name).second) throw Failure(fmt::format("two tensors are named {}", in_quotes(row.name)));
        const auto type = std::find_if(std::begin(type_names), std::end(type_names),
                                       [&](const TypeName& t) { return t.type == row.array.dtype; });
        json += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", json.size() > 1 ? "," : "",
                            text(row.name), type->name, fmt::join(row.array.shape, ","), at, at + row.array.bytes.size());
        at += row.array.bytes.size();
    }
    json += '}';
    json.append((8 - json.size() % 8) % 8, ' ');
    if (json.size() > largest_header) throw Failure("the header of a safetensors file would be larger than 100 MB");
    const uint64_t length = json.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + json;
}

std::string format_safetensors(const SafeTensors& file) {
    std::string out;
    try {
        out = header_of(file);
    } catch (const nlohmann::json::exception&) {
        throw Failure("a name or a metadata text of a safetensors file is not UTF-8");
    }
    for (const NamedArray& row : file.tensors)
        out.append(reinterpret_cast<const char*>(row.array.bytes.data()), row.array.bytes.size());
    return out;
}

void write_safetensors(const std::filesystem::path& path, const SafeTensors& file) {
    write_durably(path, format_safetensors(file));
}

}  // namespace lockstep::nn
