#include "core/base/files.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "core/base/rng.h"
#include "core/base/sizes.h"
#include "core/system/system.h"
#include "tests/catch.h"

namespace base_files_test {

using namespace lockstep;

namespace {
Array sample(DType dtype, std::vector<int64_t> shape) {
    Array array{dtype, shape, {}};
    size_t count = 1;
    for (int64_t extent : shape) count *= static_cast<size_t>(extent);
    array.bytes.resize(count * size_of(dtype));
    for (size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = static_cast<std::byte>(i * 37 + 11);
    return array;
}
}  // namespace

TEST_CASE("an array survives the npy round trip in every type and shape, bit for bit") {
    for (DType dtype : {DType::i8, DType::u8, DType::i16, DType::u16, DType::f16, DType::i32, DType::u32, DType::f32,
                        DType::i64, DType::u64, DType::f64})
        for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{}, {0}, {1}, {7}, {2, 3}, {4, 1, 5}}) {
            const Array before = sample(dtype, shape);
            const Result<Array> after = parse_npy(format_npy(before), "x.npy");
            REQUIRE(after.ok());
            CHECK(after.value().dtype == dtype);
            CHECK(after.value().shape == shape);
            CHECK(after.value().bytes == before.bytes);
        }
}

TEST_CASE("the npy header is padded to a multiple of 64 bytes as the format asks") {
    for (int64_t n : {1, 10, 1000, 123456})
        CHECK((format_npy(sample(DType::u8, {n})).size() - static_cast<size_t>(n)) % 64 == 0);
}

TEST_CASE("NumPy's bool is read as bytes of 0 and 1") {
    std::string mask = format_npy(sample(DType::u8, {3}));
    mask.replace(mask.find("|u1"), 3, "|b1");
    const Array array = parse_npy(mask, "mask.npy").value();
    CHECK(array.dtype == DType::u8);
    CHECK(array.bytes == sample(DType::u8, {3}).bytes);
}

TEST_CASE("malformed npy files are refused in one sentence that names the file") {
    std::string good = format_npy(sample(DType::f32, {2, 3}));
    auto message = [](std::string bytes) {
        const Result<Array> read = parse_npy(bytes, "bad.npy");
        REQUIRE_FALSE(read.ok());
        CHECK(read.error().where.file == "bad.npy");
        return read.error().message;
    };
    CHECK(message("hello").find("at byte 0: not a readable npy file: it does not begin") == 0);
    CHECK(message(good.substr(0, 20)).find("at byte 20: not a readable npy file: the header is cut off") == 0);
    CHECK(message(good.substr(0, good.size() - 1)).find("at byte 151: ") == 0);
    CHECK(message(good.substr(0, good.size() - 1)).find("only 23 bytes follow") != std::string::npos);
    std::string order = good;
    order.replace(order.find("False"), 5, "True ");
    CHECK(message(order).find("Fortran") != std::string::npos);
    std::string type = good;
    type.replace(type.find("<f4"), 3, ">f4");
    CHECK(message(type).find("at byte 20: ") == 0);
    CHECK(message(type).find("little-endian") != std::string::npos);
    std::string huge = good;
    huge.replace(huge.find("(2, 3)"), 6, "(9999999999999,)");
    CHECK(message(huge).find("too large") != std::string::npos);
}

TEST_CASE("every cut and every changed byte of an npy file is read or refused, never a crash") {
    const std::string good = format_npy(sample(DType::i16, {3, 2}));
    Rng rng(1);
    for (size_t n = 0; n < good.size(); ++n) (void)parse_npy(good.substr(0, n), "x").ok();
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = good;
        for (uint64_t k = rng.below(4); k-- > 0;) bytes[rng.below(bytes.size())] = static_cast<char>(rng.next());
        (void)parse_npy(bytes, "x").ok();
    }
}

TEST_CASE("half precision converts both ways without losing a bit, and rounds to nearest even") {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const float wide = f16_to_f32(static_cast<uint16_t>(bits));
        if (std::isnan(wide)) continue;
        CHECK(f32_to_f16(wide) == bits);
    }
    CHECK(f32_to_f16(65504.0f) == 0x7bff);
    CHECK(f32_to_f16(65520.0f) == 0x7c00);
    CHECK(f32_to_f16(1.0f + 0x1p-11f) == 0x3c00);  // a tie goes to even
    CHECK(f32_to_f16(1.0f + 3 * 0x1p-11f) == 0x3c02);
    CHECK(f32_to_f16(0x1p-25f) == 0x0000);
    CHECK(f32_to_f16(0x1.8p-25f) == 0x0001);
    CHECK(f32_to_bf16(1.00390625f) == 0x3f80);  // a tie goes to even
    CHECK(f32_to_bf16(std::numeric_limits<float>::quiet_NaN()) == 0x7fff);
}

TEST_CASE("a diagnostic puts the caret under its column, past tabs") {
    const Diagnostic d{"unknown instruction 'ad.f32'", {"a.ptx", 3, 2}, "\tad.f32 %f1, %f2, %f3;"};
    CHECK(render(d) == "a.ptx:3:2: error: unknown instruction 'ad.f32'\n    \tad.f32 %f1, %f2, %f3;\n    \t^");
    CHECK(line_of("a\nbc\r\nd", 2) == "bc");
    CHECK(line_of("a\nbc\nd", 9).empty());
}

TEST_CASE("a missing file and a folder are refused by name") {
    CHECK(read_file("/no/such/file").error().where.file == "/no/such/file");
    CHECK(read_file("/").error().message.find("folder") != std::string::npos);
}

TEST_CASE("a file that is too large is refused with the limit in the unit that people know") {
    const auto path = std::filesystem::temp_directory_path() / "lockstep_too_large";
    write_file(path, std::string(4097, 'x'));
    CHECK(read_file(path, 4096).error().message == "the file is larger than the limit of 4 KiB");
    CHECK(read_file(path, 4097).ok());
    std::filesystem::remove(path);
    for (const auto& [bytes, text] : {std::pair<uint64_t, const char*>{0, "0 bytes"},
                                      {1, "1 byte"},
                                      {1023, "1023 bytes"},
                                      {1024, "1 KiB"},
                                      {1536, "1.5 KiB"},
                                      {4194304, "4 MiB"},
                                      {4194305, "4194305 bytes"},
                                      {uint64_t{5} << 29, "2.5 GiB"},
                                      {UINT64_MAX, "18446744073709551615 bytes"}})
        CHECK(size_text(bytes) == text);
}

TEST_CASE("SplitMix64 gives the published first values for seed 1234567") {
    Rng rng(1234567);
    CHECK(rng.next() == 6457827717110365317ull);
    CHECK(rng.next() == 3203168211198807973ull);
}

TEST_CASE("what a user keeps lies where XDG says, below the home folder without it, and a relative setting is ignored") {
    struct Setting {  // set for this test, put back after it
        const char* name;
        std::optional<std::string> before;
        explicit Setting(const char* variable) : name(variable) {
            if (const char* was = std::getenv(variable)) before = was;
        }
        ~Setting() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }
    } const kept[] = {Setting("HOME"), Setting("XDG_STATE_HOME"), Setting("XDG_CACHE_HOME")};
    setenv("HOME", "/home/ada", 1);
    setenv("XDG_STATE_HOME", "/data/state", 1);
    setenv("XDG_CACHE_HOME", "/data/cache", 1);
    CHECK(system::state_folder() == "/data/state/lockstep");
    CHECK(system::cache_folder() == "/data/cache/lockstep");
    setenv("XDG_STATE_HOME", "state", 1);
    unsetenv("XDG_CACHE_HOME");
    CHECK(system::state_folder() == "/home/ada/.local/state/lockstep");
    CHECK(system::cache_folder() == "/home/ada/.cache/lockstep");
    unsetenv("HOME");
    CHECK(system::cache_folder() == std::filesystem::temp_directory_path() / "lockstep");
}

TEST_CASE("a text is read without its byte-order mark, and UTF-16 is refused by name") {
    const auto file = std::filesystem::temp_directory_path() / ("lockstep-text-" + std::to_string(::getpid()));
    for (const char* text : {"\xef\xbb\xbf"
                             "a\xef\xbb\xbf"
                             "b",
                             "a\xef\xbb\xbf"
                             "b"}) {
        write_file(file, text);
        CHECK(read_text(file).value() ==
              "a\xef\xbb\xbf"
              "b");
    }
    for (const char* text : {"\xff\xfe"
                             "a",
                             "\xfe\xff"
                             "a"}) {
        write_file(file, text);
        CHECK(read_text(file).error().message == "the file is UTF-16: save it as UTF-8");
    }
    std::filesystem::remove(file);
    CHECK(read_text(file).error().message.starts_with("no such file"));
}

TEST_CASE("a file that is not there is told with what is called nearly so beside it") {
    const TemporaryFolder folder;
    for (const char* name : {"softmax.cu", "saxpy.cu", "my_window.cu", "README"}) write_file(folder.path() / name, "");
    const auto said = [&](const std::string& name) { return read_text(folder.path() / name).error().message; };
    const auto near = [&](const std::string& name) {
        return "no such file, did you mean '" + (folder.path() / name).string() + "'?";
    };
    CHECK(said("sofmax.cu") == near("softmax.cu"));
    CHECK(said("Softmax.CU") == near("softmax.cu"));
    CHECK(said("saxpy.cpp") == near("saxpy.cu"));
    CHECK(said("window.cu") == near("my_window.cu"));
    CHECK(said("readme") == near("README"));
    CHECK(said("reduce.cu") == "no such file");
    CHECK(said("saxpy_other/softmax.cu") == "no such file");
}

TEST_CASE("a file that is written piece by piece is there as a whole, or not at all") {
    const auto file = std::filesystem::temp_directory_path() / ("lockstep-pieces-" + std::to_string(::getpid()));
    write_file(file, [](std::ostream& out) {
        for (int i = 0; i < 1000; ++i) out << i << ' ';
    });
    const std::string all = read_file(file).value();
    CHECK(all.starts_with("0 1 2 "));
    CHECK(all.ends_with("998 999 "));
    CHECK_THROWS_AS(write_file(file, [](std::ostream& out) { out.setstate(std::ios::failbit); }), Failure);
    CHECK(read_file(file).value() == all);
    std::filesystem::remove(file);
}

}  // namespace base_files_test
