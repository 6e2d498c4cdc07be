// The list of data sets, and what `--data` takes.
#include "core/nn/data/data_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"

namespace lockstep::nn {

std::span<const DataSetRow> data_sets() {
    static constexpr DataSetRow rows[] = {
        {"digits", "pictures", "drawn digits, 28 x 28, two font families held out for the test set"},
        {"digits32", "pictures", "the same digits drawn 32 x 32, as LeNet-5 takes them"},
        {"inverted digits", "pictures",
         "ink and paper exchanged, for tuning what knows the digits; inverted digits32 as well"},
        {"FOLDER", "pictures", "MNIST's four IDX files, plain or .gz, or CIFAR-10's six binary files"},
        {"line", "points", "y = w x + b with a little noise, w and b known"},
        {"FILE.csv", "points",
         "numbers, the last column y for linear_regression (.npy and .npz too) or the class for spirals"},
        {"spirals", "points", "three spirals of points around each other, one a class"},
        {"eight-gaussians", "points", "eight small clouds on a circle, for a generator to cover"},
        {"clusters", "points", "clouds of points, unlabelled, for k-means"},
        {"copy", "sequences", "symbols to be said again after a pause"},
        {"stories", "text", "short stories from a seeded grammar, a part held out"},
        {"pig latin", "text", "the stories with every word's beginning behind its end, for tuning what knows the stories"},
        {"FILE.txt", "text", "any UTF-8 text, its last tenth held out"},
        {"planted-graph", "graph", "four communities with noisy features, for graph convolution"},
        {"grid-world", "world", "a maze with a goal and pits, for a policy to learn"},
    };
    return rows;
}

namespace {
using Draw = std::function<int32_t(uint64_t index, std::span<float> image)>;

DataSet mirrored(DataSet set) {
    const auto mirror = [columns = set.columns](const Draw& draw) -> Draw {
        return [draw, columns](uint64_t index, std::span<float> image) {
            const int32_t label = draw(index, image);
            for (auto row = image.begin(); row != image.end(); row += columns) std::reverse(row, row + columns);
            return label;
        };
    };
    set.name = "mirrored " + set.name;
    set.train = mirror(set.train);
    set.test = mirror(set.test);
    return set;
}
}  // namespace

DataSet with_rim(DataSet set, int side) {
    if (set.rows > side || set.columns > side || (set.rows == side && set.columns == side)) return set;
    const int rows = set.rows, columns = set.columns, channels = set.channels;
    const auto put = [=](const Draw& draw) -> Draw {
        return [=](uint64_t index, std::span<float> image) {
            thread_local std::vector<float> inner;
            inner.resize(static_cast<size_t>(channels * rows * columns));
            const int32_t label = draw(index, inner);
            std::fill(image.begin(), image.end(), 0.0f);
            for (int plane = 0; plane < channels; ++plane)
                for (int row = 0; row < rows; ++row)
                    std::copy_n(inner.data() + (plane * rows + row) * columns, columns,
                                image.data() + (plane * side + row + (side - rows) / 2) * side + (side - columns) / 2);
            return label;
        };
    };
    set.train = put(set.train);
    set.test = put(set.test);
    set.rows = set.columns = side;
    return set;
}

DataSet open_data_set(const std::string& name, uint64_t seed) {
    if (name == "mirrored digits" || name == "mirrored digits32") return mirrored(open_data_set(name.substr(9), seed));
    if (name == "digits") return open_digits(seed, 28);
    if (name == "digits32") return open_digits(seed, 32);
    const std::filesystem::path folder = name;
    std::error_code ignored;
    if (std::filesystem::is_directory(folder, ignored)) {
        for (const char* file : {"cifar-10-batches-bin", "data_batch_1.bin", "test_batch.bin"})
            if (std::filesystem::exists(folder / file, ignored)) return open_cifar10(folder, seed);
        return open_mnist(folder, seed);
    }
    for (const DataSetRow& row : data_sets())
        if (name == row.name) throw Failure(fmt::format("data '{}' holds {}; pictures are wanted here", name, row.kind));
    throw Failure(fmt::format("unknown data '{}'{}", name,
                              did_you_mean(name, {"digits", "digits32"},
                                           ": it is 'digits', 'digits32' or a folder with the files of MNIST or CIFAR-10")));
}

}  // namespace lockstep::nn
