// npz, CSV and safetensors: fixtures written by NumPy and by the safetensors package, and hostile ones.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "core/base/rng.h"
#include "core/nn/data/files/csv.h"
#include "core/nn/data/files/npz.h"
#include "core/nn/data/files/safetensors.h"
#include "tests/nn/data_support.h"

namespace nn_data_files_test {

using namespace lockstep;
using namespace lockstep::nn;

namespace {
template <class T>
std::vector<T> values(const NamedArrays& arrays, const std::string& name) {
    const Array* array = find(arrays, name);
    if (!array) return {};
    return {array->as<T>(), array->as<T>() + array->count()};
}

template <class T>
Array array_of(DType type, std::vector<int64_t> shape, const std::vector<T>& list) {
    Array array{.dtype = type, .shape = std::move(shape)};
    array.bytes.resize(list.size() * sizeof(T));
    if (!list.empty()) std::memcpy(array.bytes.data(), list.data(), array.bytes.size());
    return array;
}

// The arrays that every fixture of make-up "weight, steps, mask, scalar, empty" holds.
void check_fixture(const NamedArrays& arrays) {
    CHECK(values<float>(arrays, "weight") == std::vector<float>{0, 0.25, 0.5, 0.75, 1, 1.25});
    CHECK(find(arrays, "weight")->shape == std::vector<int64_t>{2, 3});
    CHECK(values<int64_t>(arrays, "steps") == std::vector<int64_t>{1, -2, 3});
    CHECK(values<uint8_t>(arrays, "mask") == std::vector<uint8_t>{1, 0});
    CHECK(values<double>(arrays, "scalar") == std::vector<double>{2.5});
    CHECK(find(arrays, "scalar")->shape.empty());
    CHECK(find(arrays, "empty")->shape == std::vector<int64_t>{0, 4});
    CHECK(find(arrays, "empty")->dtype == DType::f16);
}

bool same(const NamedArrays& a, const NamedArrays& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i].name != b[i].name || a[i].array.dtype != b[i].array.dtype || a[i].array.shape != b[i].array.shape ||
            a[i].array.bytes != b[i].array.bytes)
            return false;
    return true;
}

std::string safe(const std::string& header, const std::string& data = "") {
    const uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}
}  // namespace

TEST_CASE("npz files of np.savez and np.savez_compressed are read") {
    check_fixture(parse_npz(fixture("npz_stored"), "a.npz").value());
    const NamedArrays deflated = parse_npz(fixture("npz_deflated"), "a.npz").value();
    check_fixture(deflated);
    CHECK(values<int32_t>(deflated, "zeros") == std::vector<int32_t>(600, 0));
}

TEST_CASE("arrays survive the npz round trip bit for bit") {
    NamedArrays arrays = parse_npz(fixture("npz_deflated"), "a.npz").value();
    arrays.push_back({"nan", array_of<float>(DType::f32, {2}, {std::nanf("1"), -0.0f})});
    CHECK(same(parse_npz(format_npz(arrays), "b.npz").value(), arrays));
    CHECK(parse_npz(format_npz({}), "none.npz").value().empty());
    CHECK(fails_with("two arrays are named 'nan'", [&] { (void)format_npz({arrays.back(), arrays.back()}); }));
}

TEST_CASE("a broken npz file is refused with the byte and the reason") {
    const std::string good = format_npz({{"w", array_of<float>(DType::f32, {2}, {1, 2})}});
    const size_t directory = good.find("PK\1\2"), end = good.find("PK\5\6");
    const auto with = [&](size_t at, const std::string& bytes) {
        std::string changed = good;
        return changed.replace(at, bytes.size(), bytes);
    };
    CHECK(refused(parse_npz("", "a.npz"), "a.npz: error: at byte 0: not a readable npz file: it ends too early"));
    CHECK(refused(parse_npz(good.substr(0, good.size() - 1), "a.npz"), "it has no end of a zip archive"));
    CHECK(refused(parse_npz(with(end + 16, "\xff\xff\xff\x0f"), "a.npz"), "its directory lies outside the file"));
    CHECK(refused(parse_npz(with(end + 8, std::string("\2\0\2", 3)), "a.npz"), "entry 2 of its directory is missing"));
    CHECK(refused(parse_npz(with(directory + 8, "\1"), "a.npz"), "member 'w.npy' is encrypted"));
    CHECK(refused(parse_npz(with(directory + 10, "\x0c"), "a.npz"), "is packed by method 12, not stored or deflated"));
    CHECK(refused(parse_npz(with(directory + 24, "\x40\x42\x0f"), "a.npz"), "is stored as 136 bytes but should be 1000000"));
    CHECK(refused(parse_npz(with(directory + 42, "\7"), "a.npz"),
                  "at byte 7: not a readable npz file: member 'w.npy' does not stand"));
    CHECK(refused(parse_npz(with(directory + 50, "x"), "a.npz"), "is not an npy file"));
    CHECK(refused(parse_npz(with(160, "x"), "a.npz"), "member 'w.npy' does not have its checksum"));
    CHECK(refused(parse_npz(good, "a.npz", 100), "makes the arrays larger than 100 bytes"));
    for (size_t keep = 0; keep < good.size(); ++keep) CHECK(!parse_npz(good.substr(0, keep), "a.npz").ok());
}

TEST_CASE("a deflated member that makes more or less than it says is refused") {
    std::string bytes = fixture("npz_deflated");
    const size_t entry = bytes.find("PK\1\2");
    for (const char size : {'\1', '\x7f'}) {
        std::string changed = bytes;
        changed[entry + 24] = size;
        CHECK(!parse_npz(changed, "a.npz").ok());
    }
    bytes[entry + 26] = '\x40';  // claims 4 MiB
    CHECK(refused(parse_npz(bytes, "a.npz"), "the packed part holds"));
}

TEST_CASE("CSV fields are read as RFC 4180 has them") {
    const Csv csv = parse_csv(fixture("csv_quoted"), "a.csv").value();
    CHECK(csv.names == std::vector<std::string>{"name", "x, metres", "note"});
    REQUIRE(csv.rows == 2);
    CHECK(csv.at(0, 0) == "rod");
    CHECK(csv.at(0, 2) == "say \"hi\"");
    CHECK(csv.at(1, 0) == "two\r\nlines");
    CHECK(csv.at(1, 2) == "");
    CHECK(csv.places == std::vector<uint64_t>{23, 45});
    const std::string names[] = {"x, metres"};
    const Array numbers = numbers_of(csv, names).value();
    CHECK(numbers.shape == std::vector<int64_t>{2, 1});
    CHECK(numbers.as<double>()[0] == 1.5);
    CHECK(numbers.as<double>()[1] == -2000);

    const Csv plain = parse_csv(fixture("csv_plain"), "b.csv", {.header = false}).value();
    CHECK(plain.names == std::vector<std::string>{"column 1", "column 2", "column 3"});
    CHECK(numbers_of(plain).value().as<double>()[5] == 6);
    CHECK(parse_csv("a;b\n1;2,5", "c.csv", {.separator = ';'}).value().at(0, 1) == "2,5");
    CHECK(parse_csv("\xef\xbb\xbfx\n1\n", "d.csv").value().names[0] == "x");
    CHECK(parse_csv("x\n\n\n", "e.csv").value().rows == 2);
}

TEST_CASE("a broken CSV file is refused with the byte and the reason") {
    CHECK(refused(parse_csv("", "a.csv"), "a.csv: error: at byte 0: it is empty"));
    CHECK(refused(parse_csv("a,b\n1\n", "a.csv"), "at byte 4: a record of 1 fields where the first has 2"));
    CHECK(refused(parse_csv("a\n\"open", "a.csv"), "at byte 2: a quotation mark that is never closed"));
    CHECK(refused(parse_csv("a\n\"x\"y\n", "a.csv"), "at byte 5: something follows the closing quotation mark"));
    CHECK(refused(parse_csv("a\nx\"y\n", "a.csv"), "at byte 3: a quotation mark within a field"));
    CHECK(refused(parse_csv("a\rb\n", "a.csv"), "at byte 1: a carriage return without a line feed"));
    CHECK(refused(parse_csv(std::string(100, ','), "a.csv", {.most_cells = 50}), "it has more than 50 cells"));
    const Csv csv = parse_csv("weight,b\n1,2\n3,four\n", "a.csv").value();
    CHECK(refused(numbers_of(csv), "at byte 13: row 2, 'b': 'four' is not a number"));
    const std::string names[] = {"wieght"};
    CHECK(refused(numbers_of(csv, names), "no column 'wieght', did you mean 'weight'?"));
    for (const std::string cell : {"", "1e999", "0x10", "1 2", "--1", "+-1", "1,5"}) {
        const Csv one = parse_csv("x\n\"" + cell + "\"\n", "a.csv").value();
        INFO(cell);
        CHECK(refused(numbers_of(one), "is not a number"));
    }
}

TEST_CASE("cells survive the CSV round trip, whatever is in them") {
    Rng rng(3);
    const std::string alphabet = "ab,\"\r\n \xc3\xa9;";
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> names(1 + rng.below(4)), cells(names.size() * rng.below(5));
        for (auto* list : {&names, &cells})
            for (std::string& text : *list)
                for (uint64_t n = rng.below(6); n > 0; --n) text += alphabet[rng.below(alphabet.size())];
        const Csv csv = parse_csv(format_csv(names, cells), "again.csv").value();
        REQUIRE(csv.names == names);
        REQUIRE(csv.rows == int64_t(cells.size() / names.size()));
        for (size_t i = 0; i < cells.size(); ++i)
            REQUIRE(csv.at(int64_t(i / names.size()), int64_t(i % names.size())) == cells[i]);
    }
}

TEST_CASE("a safetensors file of the reference writer is read, and written again to the same tensors") {
    const SafeTensors file = parse_safetensors(fixture("safetensors_reference"), "a.safetensors").value();
    check_fixture(file.tensors);
    CHECK(file.metadata.at("note") == "a \"quoted\" text");
    const std::string written = format_safetensors(file);
    const SafeTensors again = parse_safetensors(written, "b.safetensors").value();
    CHECK(same(again.tensors, file.tensors));
    CHECK(again.metadata == file.metadata);
    uint64_t length = 0;
    std::memcpy(&length, written.data(), 8);
    CHECK(length % 8 == 0);
}

TEST_CASE("every element type survives the safetensors round trip") {
    SafeTensors file;
    for (const DType type : {DType::f64, DType::i64, DType::u64, DType::f32, DType::i32, DType::u32, DType::f16, DType::bf16,
                             DType::i16, DType::u16, DType::i8, DType::u8}) {
        Array array{.dtype = type, .shape = {3}};
        for (size_t i = 0; i < 3 * size_of(type); ++i) array.bytes.push_back(std::byte(i * 37 + 200));
        file.tensors.push_back({std::string(name_of(type)) + " \xc3\xa9 \"\n", array});
    }
    CHECK(same(parse_safetensors(format_safetensors(file), "a").value().tensors, file.tensors));
    CHECK(parse_safetensors(format_safetensors({}), "a").value().tensors.empty());
    CHECK(fails_with("cannot be named '__metadata__'", [] { (void)format_safetensors({{}, {{"__metadata__", {}}}}); }));
    CHECK(fails_with("two tensors are named 'a'", [] { (void)format_safetensors({{}, {{"a", {}}, {"a", {}}}}); }));
    CHECK(fails_with("is not UTF-8", [] { (void)format_safetensors({{}, {{"\xff", {}}}}); }));
}

TEST_CASE("a hostile safetensors file is refused with the byte and the reason") {
    const auto says = [](const std::string& bytes, const std::string& part) {
        return refused(parse_safetensors(bytes, "a.safetensors"), part);
    };
    const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
        return "{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
    };
    const std::string a = "{\"a\":", two = entry("\"U8\"", "[2]", "[0,2]");
    CHECK(says("", "at byte 0: not a readable safetensors file: it ends within the length of its header"));
    CHECK(says(fixture("safetensors_huge"),
               "at byte 0: not a readable safetensors file: its header is said to have 1152921504606846976"));
    CHECK(says(safe("{}").substr(0, 9), "2 bytes, but only 1 follow"));
    CHECK(says(safe(" {}"), "at byte 8: not a readable safetensors file: its header does not begin with '{'"));
    CHECK(says(safe("{\"a\""), "the header is not JSON from here on"));
    CHECK(says(safe("{}x"), "the header is not JSON from here on"));
    CHECK(says(safe("{\"a\":7}"), "'a' is a number, not an object"));
    CHECK(says(fixture("safetensors_deep"), "'a' is a list"));
    CHECK(says(safe(a + entry("\"F33\"", "[2]", "[0,2]") + "}", "xy"), "tensor 'a': dtype 'F33' is none of"));
    CHECK(says(safe(a + entry("7", "[2]", "[0,2]") + "}", "xy"), "tensor 'a': 'dtype' is a number"));
    CHECK(says(safe(a + entry("\"U8\"", "[-2]", "[0,2]") + "}", "xy"), "'shape' holds a negative number"));
    CHECK(says(safe(a + entry("\"U8\"", "[2.5]", "[0,2]") + "}", "xy"), "'shape' holds a number with a fraction"));
    CHECK(says(safe(a + entry("\"U8\"", "[[2]]", "[0,2]") + "}", "xy"), "'shape' holds a list"));
    CHECK(says(safe(a + entry("\"U8\"", "[2]", "[0,2,3]") + "}", "xy"), "more than two data_offsets"));
    CHECK(says(safe(a + entry("\"U8\"", "[2]", "[0]") + "}", "xy"), "it has no two data_offsets"));
    CHECK(says(safe(a + "{\"shape\":[2],\"data_offsets\":[0,2]}}", "xy"), "it has no dtype"));
    CHECK(says(safe(a + "{\"dtype\":\"U8\",\"data_offsets\":[0,2]}}", "xy"), "it has no shape"));
    CHECK(says(safe(a + "{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", "xy"), "'dtype' is there twice"));
    CHECK(says(safe(a + "{\"type\":\"U8\"}}", "xy"), "unknown field 'type'"));
    CHECK(says(safe(a + two + ",\"a\":" + two + "}", "xy"), "'a' is there twice"));
    CHECK(says(safe("{\"__metadata__\":{\"k\":1}}"), "metadata 'k' is a number, not a text"));
    CHECK(says(safe("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}"), "metadata 'k' is there twice"));
    CHECK(says(safe(a + entry("\"U8\"", "[2]", "[2,0]") + "}", "xy"),
               "at byte 9: not a readable safetensors file: tensor 'a': its offsets 2 to 0 run backwards"));
    CHECK(
        says(safe(a + entry("\"U8\"", "[9]", "[0,9]") + "}", "xy"), "its offsets 0 to 9 reach beyond the 2 bytes of data"));
    CHECK(says(safe(a + entry("\"U16\"", "[2]", "[0,2]") + "}", "xy"), "need 4 bytes, but its offsets hold 2"));
    CHECK(says(safe(a + entry("\"U8\"", "[1099511627776,1099511627776]", "[0,2]") + "}", "xy"), "its shape is too large"));
    CHECK(says(safe(a + entry("\"U8\"", "[18446744073709551615]", "[0,2]") + "}", "xy"), "its shape is too large"));
    CHECK(says(safe(a + two + "}", "xyz"), "1 bytes that belong to no tensor"));
    CHECK(says(fixture("safetensors_overlap"), "tensor 'b': its bytes from 2 overlap those of another tensor up to 4"));
    CHECK(says(fixture("safetensors_hole"), "tensor 'b': a hole of 2 bytes before its bytes"));
    const std::string good = fixture("safetensors_reference");
    for (size_t keep = 0; keep < good.size(); ++keep) CHECK(!parse_safetensors(good.substr(0, keep), "a").ok());
}

TEST_CASE("tensors may stand in the header in any order") {
    const std::string header =
        "{\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]},\"a\":{\"dtype\":\"U16\",\"shape\":[],\"data_"
        "offsets\":[0,2]}}";
    const SafeTensors file = parse_safetensors(safe(header, "\1\2\3"), "a").value();
    CHECK(file.tensors[0].name == "a");
    CHECK(values<uint8_t>(file.tensors, "b") == std::vector<uint8_t>{3});
}

}  // namespace nn_data_files_test
