// Labelled pictures, by index. Training pictures go on for ever: which one stands at an index depends on the set, the seed
// and the index alone, so any step can be run again. The test set is the same for every seed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::nn {

struct DataSet {
    std::string name;
    int rows = 0, columns = 0, classes = 0;
    int64_t test_count = 0;
    // Writes rows * columns values 0..1 and returns the label.
    std::function<int32_t(uint64_t index, std::span<float> image)> train, test;
};

// "digits", or a folder with MNIST's four IDX files. Throws Failure.
DataSet open_data_set(const std::string& name, uint64_t seed);

// Digits of several font families, rotated, sheared, scaled, shifted, blurred and noisy: assets/data/digits.npy and .json.
// The test set draws only on two families that the training set never sees. This is not MNIST.
DataSet open_digits(uint64_t seed);
// MNIST's IDX files (plain or .gz), reshuffled every epoch.
DataSet open_mnist(const std::filesystem::path& folder, uint64_t seed);

struct Idx {  // one IDX file of unsigned bytes
    std::vector<int64_t> shape;
    std::string values;
};
// Big-endian: magic 0x0803 (images, 2051) or 0x0801 (labels, 2049), extents, bytes. Throws Failure that names the file.
Idx parse_idx(std::string_view bytes, const std::string& name);

// A gzip member's contents (RFC 1952, RFC 1951), at most `limit` bytes. Throws Failure that names the file.
std::string gunzip(std::string_view bytes, const std::string& name, size_t limit = size_t{1} << 28);

}  // namespace lockstep::nn
