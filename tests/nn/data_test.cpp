#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/files.h"
#include "core/nn/data/data_set.h"
#include "core/nn/data/files/inflate.h"
#include "core/nn/data/sampler.h"
#include "tests/catch.h"
#include "tests/nn/data_support.h"

namespace nn_data_test {

using namespace lockstep;
using namespace lockstep::nn;

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
    const Idx images = parse_idx(idx({2051, 2, 1, 3}, "abcdef"), "images").value();
    CHECK(images.shape == std::vector<int64_t>{2, 1, 3});
    CHECK(images.values == "abcdef");
    CHECK(parse_idx(idx({2049, 2}, "\1\2"), "labels").value().shape == std::vector<int64_t>{2});
}

TEST_CASE("a malformed IDX file is refused with the byte and the reason") {
    CHECK(refused(parse_idx("", "a.idx"), "a.idx: error: at byte 0: not a readable IDX file: it is too short"));
    CHECK(refused(parse_idx(idx({2052, 1}, "x"), "a.idx"), "at byte 0: not a readable IDX file: it begins with 2052"));
    CHECK(refused(parse_idx(idx({2051, 1}, ""), "a.idx"), "at byte 8: not a readable IDX file: it ends within its header"));
    CHECK(refused(parse_idx(idx({2049, 5}, "ab"), "a.idx"), "at byte 10: "));
    CHECK(refused(parse_idx(idx({2049, 5}, "ab"), "a.idx"), "should hold 5 bytes after its header but holds 2"));
    CHECK(refused(parse_idx(idx({2051, 0xffffffff, 0xffffffff, 0xffffffff}, ""), "a.idx"), "it claims 4294967295 items"));
}

// printf 'digits digits digits digits\n' | gzip -9n
static const std::string zipped(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xc9\x4c\xcf\x2c\x29\x56\x48\xc1\x42\x71\x01\x00"
    "\xe3\xf3\x56\x97\x1c\x00\x00\x00",
    31);

// The text of `squares()` with a code table of its own and a file name; "hello" stored as it is.
static const std::string zipped_squares(
    "\x1f\x8b\x08\x08\x00\x00\x00\x00\x02\x03\x73\x71\x75\x61\x72\x65\x73\x00\x2d\x8d\xc7\x11\x00\x21\x0c\x03\x5b\x71"
    "\x01\x7e\x90\x1c\xe8\xbf\xb1\x5b\xcd\xf1\x60\x24\x2b\x31\xdc\xa6\xdb\x71\xbb\x90\x74\x5b\xe1\xb6\xc1\xc3\x9d\xc8"
    "\x8d\xbb\x91\xa1\xa7\xdc\x6a\xc1\x51\x50\x13\xbc\x4a\x63\xd7\xa0\xcd\x1d\xf0\xab\xb6\x06\xb5\xab\x1b\x1e\xf8\x4d"
    "\x85\xf8\x62\xa5\xe1\x81\xbc\xa8\xb4\x3e\xd2\x27\x78\x13\x6c\xea\xa9\x09\x32\x1b\x7f\xaa\xc7\x0a\x4b\x4d\xa4\x88"
    "\x97\x70\xbf\xf7\x34\x79\xca\xe4\xdf\x50\x53\x0b\x5a\xd2\xe2\x07\xfa\x96\xd0\x65\xe7\x00\x00\x00",
    136);
static const std::string stored_hello(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x01\x05\x00\xfa\xff\x68\x65\x6c\x6c\x6f\x86\xa6\x10\x36\x05\x00\x00\x00", 28);

static std::string squares() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += fmt::format("{}, ", i * i % 97);
    return text;
}

TEST_CASE("a gzip file is unpacked, and a broken one refused") {
    CHECK(gunzip(zipped, "a.gz").value() == "digits digits digits digits\n");
    CHECK(gunzip(zipped_squares, "a.gz").value() == squares());
    CHECK(gunzip(stored_hello, "a.gz").value() == "hello");
    CHECK(gunzip(stored_hello + zipped, "a.gz").value() == "hellodigits digits digits digits\n");
    CHECK(refused(gunzip(zipped, "a.gz", 10), "it grows beyond the 10 bytes"));
    CHECK(gunzip(zipped, "a.gz", 28).ok());
    CHECK(refused(gunzip(stored_hello + "x", "a.gz"), "at byte 28: something follows the end"));
    for (const std::string* whole : {&zipped, &zipped_squares, &stored_hello}) {
        for (size_t keep = 0; keep < whole->size(); ++keep)
            CHECK(refused(gunzip(std::string_view(*whole).substr(0, keep), "a.gz"), fmt::format("at byte {}: ", keep)));
        const std::string contents = gunzip(*whole, "a.gz").value();
        for (size_t at = 10; at < whole->size(); ++at)
            for (int bit = 0; bit < 8; ++bit) {  // any single flipped bit: the same contents or a refusal
                std::string broken = *whole;
                broken[at] = char(broken[at] ^ (1 << bit));
                const auto got = gunzip(broken, "a.gz", 1 << 16);
                CHECK((!got.ok() || got.value() == contents));
            }
    }
}

TEST_CASE("a folder with MNIST's files is a data set, reshuffled every epoch") {
    const Scratch scratch("mnist");
    const auto& folder = scratch.folder;
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
    CHECK(set.train_count == 10);
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
}

TEST_CASE("a shuffled epoch holds every place once, and every epoch has an order of its own") {
    for (const uint64_t count : {1u, 2u, 3u, 10u, 64u, 1000u, 4097u}) {
        std::vector<std::vector<uint64_t>> epochs(3);
        for (uint64_t index = 0; index < 3 * count; ++index) epochs[index / count].push_back(place_of(index, count, 5));
        if (count > 3) CHECK((epochs[0] != epochs[1] && epochs[1] != epochs[2]));
        for (auto& epoch : epochs) {
            std::sort(epoch.begin(), epoch.end());
            for (uint64_t place = 0; place < count; ++place) REQUIRE(epoch[place] == place);
        }
    }
}

TEST_CASE("a shuffle sends the first example everywhere equally often") {
    std::vector<int> times(10, 0);
    for (uint64_t key = 0; key < 10000; ++key) ++times[shuffled(0, 10, key)];
    double chi_squared = 0;  // 9 degrees of freedom: above 27.9 once in a thousand
    for (const int n : times) chi_squared += (n - 1000.0) * (n - 1000.0) / 1000.0;
    CHECK(chi_squared < 27.9);
}

TEST_CASE("the batches of all ranks are the batch of one process, in order") {
    const Sampler whole{.batch = 12};
    for (const uint64_t step : {0u, 1u, 7u})
        for (int rank = 0; rank < 3; ++rank)
            for (int64_t i = 0; i < 4; ++i)
                CHECK(Sampler{.batch = 4, .rank = rank, .world = 3}.index(step, i) == whole.index(step, rank * 4 + i));
}

TEST_CASE("digits are also drawn 32 pixels wide, with all of the digit in the picture") {
    const DataSet set = open_data_set("digits32", 1);
    CHECK(set.rows == 32);
    CHECK(set.pixels() == 1024);
    std::vector<float> image(1024);
    for (uint64_t i = 0; i < 200; ++i) {
        set.train(i, image);
        double ink = 0, x = 0, y = 0;
        for (size_t p = 0; p < image.size(); ++p) {
            REQUIRE((image[p] >= 0 && image[p] <= 1));
            const double v = double(image[p]) > 0.3 ? double(image[p]) : 0;
            ink += v, x += v * double(p % 32), y += v * double(p / 32);
        }
        INFO("picture " << i);
        CHECK(ink > 5);
        CHECK(std::abs(x / ink - 15.5) < 8);
        CHECK(std::abs(y / ink - 15.5) < 8);
    }
    CHECK(fails_with("28 or 32 pixels wide, not 30", [] { (void)open_digits(1, 30); }));
}

static std::string cifar_records(std::initializer_list<int> labels) {
    std::string bytes;
    for (const int label : labels) {
        bytes += char(label);
        for (int plane = 0; plane < 3; ++plane) bytes += std::string(1024, char(label * 20 + plane));
    }
    return bytes;
}

TEST_CASE("a folder with CIFAR-10's files is a data set of three planes") {
    const Scratch scratch("cifar");
    const auto inner = scratch.folder / "cifar-10-batches-bin";
    for (int i = 1; i <= 5; ++i) write_file(inner / fmt::format("data_batch_{}.bin", i), cifar_records({i - 1, i + 4}));
    CHECK(fails_with("test_batch.bin", [&] { (void)open_data_set(scratch.folder.string(), 1); }));
    write_file(inner / "test_batch.bin", cifar_records({9, 3, 7}));
    const DataSet set = open_data_set(scratch.folder.string(), 1);
    CHECK(set.channels == 3);
    CHECK(set.train_count == 10);
    CHECK(set.test_count == 3);
    CHECK(set.class_names[7] == "horse");
    std::vector<float> image(set.pixels());
    CHECK(set.test(2, image) == 7);
    CHECK(image[0] == 140.0f / 255);
    CHECK(image[1024] == 141.0f / 255);
    CHECK(image[3071] == 142.0f / 255);
    std::vector<int> seen;
    for (uint64_t i = 0; i < 10; ++i) seen.push_back(set.train(i, image));
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("a malformed CIFAR-10 file is refused with the byte and the reason") {
    CHECK(refused(parse_cifar10("", "a.bin"), "at byte 0: not a readable CIFAR-10 file: it is empty"));
    const std::string good = cifar_records({1, 2});
    CHECK(refused(parse_cifar10(good.substr(0, 5000), "a.bin"),
                  "at byte 3073: not a readable CIFAR-10 file: its last record has 1927"));
    CHECK(refused(parse_cifar10(cifar_records({1, 10}), "a.bin"),
                  "at byte 3073: not a readable CIFAR-10 file: a label is 10"));
}

}  // namespace nn_data_test
