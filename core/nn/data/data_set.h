// Labelled pictures, by index: drawn digits, MNIST, CIFAR-10. Training pictures go on for ever: which one stands at an
// index depends on the set, the seed and the index alone, so any step can be run again, and any number of threads may ask
// at once. The test set is the same for every seed. Other kinds of data are plain structs of their own: points.h,
// sequences.h and text.h, planted_graph.h, grid_world.h. data_sets() lists them all.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace lockstep::nn {

struct DataSet {
    std::string name;
    int rows = 0, columns = 0, classes = 0;
    int64_t test_count = 0;
    // Writes a picture, [channels, rows, columns] values 0..1, and returns its label, 0..classes-1.
    std::function<int32_t(uint64_t index, std::span<float> image)> train, test;
    int channels = 1;                      // 3: red, green, blue, a plane each
    int64_t train_count = 0;               // pictures an epoch; 0: they never repeat
    std::vector<std::string> class_names;  // empty: the label's number is the name

    size_t pixels() const {
        return static_cast<size_t>(channels) * static_cast<size_t>(rows) * static_cast<size_t>(columns);
    }
};

struct DataSetRow {
    std::string_view name;   // as open_data_set and its like take it
    std::string_view kind;   // "pictures", "points", "sequences", "text", "graph", "world"
    std::string_view about;  // one sentence for a list
};
std::span<const DataSetRow> data_sets();

// "digits", "digits32", either behind "mirrored " (left and right exchanged), or a folder with MNIST's four IDX files or
// CIFAR-10's six binary ones. Throws Failure.
DataSet open_data_set(const std::string& name, uint64_t seed);

// Digits of several font families, rotated, sheared, scaled, shifted, blurred and noisy: assets/data/digits.npy and .json.
// side: 28, or 32 (LeNet-5's input; everything is drawn larger by as much). The test set draws only on two families that
// the training set never sees. This is not MNIST.
DataSet open_digits(uint64_t seed, int side = 28);
// MNIST's IDX files (plain or .gz), reshuffled every epoch.
DataSet open_mnist(const std::filesystem::path& folder, uint64_t seed);
// CIFAR-10's "binary version": data_batch_1.bin ... data_batch_5.bin and test_batch.bin in `folder` or in its
// cifar-10-batches-bin; [3, 32, 32], reshuffled every epoch.
DataSet open_cifar10(const std::filesystem::path& folder, uint64_t seed);

// The same pictures in the middle of `side` x `side`, empty around them; the set itself where they do not fit so.
DataSet with_rim(DataSet set, int side);

struct Idx {  // one IDX file of unsigned bytes
    std::vector<int64_t> shape;
    std::string values;
};
// Big-endian: magic 0x0803 (images, 2051) or 0x0801 (labels, 2049), extents, bytes.
Result<Idx> parse_idx(std::string_view bytes, const std::string& name);

// One of CIFAR-10's files: records of a label byte, 0..9, and 3072 bytes of picture, planar.
struct CifarBatch {
    std::vector<uint8_t> labels;
    std::string pictures;  // labels.size() * 3072
};
Result<CifarBatch> parse_cifar10(std::string_view bytes, const std::string& name);

}  // namespace lockstep::nn
