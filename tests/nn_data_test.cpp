#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/files.h"
#include "core/nn/data_set.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::nn;

// Whether `run` throws a Failure whose sentence has `part` in it.
template <class Run>
static bool fails_with(const std::string& part, Run run) {
    try {
        run();
    } catch (const Failure& failure) {
        UNSCOPED_INFO(failure.what());
        return std::string(failure.what()).find(part) != std::string::npos;
    }
    return false;
}
using namespace std::string_literals;

TEST_CASE("a drawn digit depends on seed and index alone") {
    const DataSet a = open_digits(5), b = open_digits(5), c = open_digits(6);
    std::vector<float> one(784), two(784), three(784);
    for (uint64_t index : {0ull, 7ull, 123456789ull}) {
        CHECK(a.train(index, one) == b.train(index, two));
        CHECK(one == two);
        c.train(index, three);
        CHECK(one != three);
        CHECK(a.test(index, one) == c.test(index, two));
        CHECK(one == two);
    }
}

TEST_CASE("drawn digits have ink in the middle, values from 0 to 1, and every label") {
    const DataSet set = open_digits(1);
    std::vector<int> labels(10, 0);
    std::vector<float> image(784);
    for (uint64_t i = 0; i < 500; ++i) {
        ++labels[size_t(set.train(i, image))];
        double ink = 0, x = 0, y = 0;
        for (size_t p = 0; p < 784; ++p) {
            REQUIRE((image[p] >= 0 && image[p] <= 1));
            const double v = double(image[p]) > 0.3 ? double(image[p]) : 0;
            ink += v, x += v * double(p % 28), y += v * double(p / 28);
        }
        INFO("picture " << i);
        CHECK((ink > 5 && ink < 300));
        CHECK(std::abs(x / ink - 13.5) < 7);
        CHECK(std::abs(y / ink - 13.5) < 7);
    }
    for (int count : labels) CHECK((count > 20 && count < 90));
}

static std::string idx(const std::vector<uint32_t>& header, const std::string& values) {
    std::string bytes;
    for (uint32_t word : header)
        for (int shift = 24; shift >= 0; shift -= 8) bytes += char(word >> shift & 255);
    return bytes + values;
}

TEST_CASE("an IDX file of images and one of labels are read") {
    const Idx images = parse_idx(idx({2051, 2, 1, 3}, "abcdef"), "images");
    CHECK(images.shape == std::vector<int64_t>{2, 1, 3});
    CHECK(images.values == "abcdef");
    CHECK(parse_idx(idx({2049, 2}, "\1\2"), "labels").shape == std::vector<int64_t>{2});
}

TEST_CASE("a malformed IDX file is one sentence that names it") {
    CHECK(fails_with("a.idx is too short", [&] { (void)parse_idx("", "a.idx"); }));
    CHECK(fails_with("a.idx begins with 2052", [&] { (void)parse_idx(idx({2052, 1}, "x"), "a.idx"); }));
    CHECK(fails_with("ends within its header", [&] { (void)parse_idx(idx({2051, 1}, ""), "a.idx"); }));
    CHECK(fails_with("should hold 5 bytes after its header but holds 2", [&] {
        (void)parse_idx(idx({2049, 5}, "ab"), "a.idx");
    }));
    CHECK(fails_with("a.idx claims", [&] {
        (void)parse_idx(idx({2051, 0xffffffff, 0xffffffff, 0xffffffff}, ""), "a.idx");
    }));
}

// printf 'digits digits digits digits\n' | gzip -9n
static const std::string zipped(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xc9\x4c\xcf\x2c\x29\x56\x48\xc1\x42\x71\x01\x00"
    "\xe3\xf3\x56\x97\x1c\x00\x00\x00",
    31);

TEST_CASE("a gzip file is unpacked, and a broken one refused") {
    CHECK(gunzip(zipped, "a.gz") == "digits digits digits digits\n");
    CHECK(fails_with("grows beyond", [&] { (void)gunzip(zipped, "a.gz", 10); }));
    for (size_t keep = 0; keep < zipped.size(); ++keep)
        CHECK_THROWS_AS(gunzip(std::string_view(zipped).substr(0, keep), "a.gz"), Failure);
    for (size_t at = 10; at < zipped.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {  // any single flipped bit: an answer or a Failure, never a crash
            std::string broken = zipped;
            broken[at] = char(broken[at] ^ (1 << bit));
            try {
                gunzip(broken, "a.gz", 1 << 16);
            } catch (const Failure&) {
            }
        }
}

TEST_CASE("a folder with MNIST's files is a data set, reshuffled every epoch") {
    const auto folder = std::filesystem::temp_directory_path() / "lockstep_nn_data_test";
    std::filesystem::create_directories(folder);
    std::string pixels, labels;
    for (int i = 0; i < 10; ++i) {
        pixels += std::string(4, char(i * 20));
        labels += char(i);
    }
    write_file(folder / "train-images-idx3-ubyte", idx({2051, 10, 2, 2}, pixels));
    write_file(folder / "train-labels-idx1-ubyte", idx({2049, 10}, labels));
    write_file(folder / "t10k-images-idx3-ubyte", idx({2051, 10, 2, 2}, pixels));
    CHECK(fails_with("no t10k-labels-idx1-ubyte", [&] { (void)open_data_set(folder.string(), 1); }));
    write_file(folder / "t10k-labels-idx1-ubyte", idx({2049, 10}, labels));
    const DataSet set = open_data_set(folder.string(), 1);
    CHECK(set.rows == 2);
    CHECK(set.test_count == 10);
    std::vector<float> image(4);
    std::vector<int> first, second;
    for (uint64_t i = 0; i < 20; ++i) {
        const int label = set.train(i, image);
        CHECK(image[3] == float(label * 20) / 255.0f);
        (i < 10 ? first : second).push_back(label);
    }
    CHECK(first != second);
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    CHECK(first == second);
    CHECK(first == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    write_file(folder / "train-labels-idx1-ubyte", idx({2049, 9}, labels.substr(0, 9)));
    CHECK(fails_with("10 train images but 9 labels", [&] { (void)open_data_set(folder.string(), 1); }));
    std::filesystem::remove_all(folder);
}
