// MNIST's files: train-images-idx3-ubyte, train-labels-idx1-ubyte and t10k-..., plain or with .gz.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/files.h"
#include "core/nn/data/data_set.h"
#include "core/nn/data/files/inflate.h"
#include "core/nn/data/refusal.h"
#include "core/nn/data/sampler.h"

namespace lockstep::nn {

namespace {
struct Half {  // images and labels of the training or the test files
    Idx images, labels;
};

uint32_t big_endian(std::string_view bytes, size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
}

Idx load_idx(const std::filesystem::path& folder, const std::string& stem, size_t dimensions) {
    for (const char* ending : {"", ".gz"}) {
        const auto path = folder / (stem + ending);
        if (!std::filesystem::exists(path)) continue;
        std::string bytes = read_file(path).value();
        if (*ending) bytes = gunzip(bytes, path.string()).value();
        Idx idx = parse_idx(bytes, path.string()).value();
        if (idx.shape.size() != dimensions)
            throw Failure(fmt::format("{} holds {}, {} are wanted there", path.string(),
                                      idx.shape.size() == 3 ? "images" : "labels", dimensions == 3 ? "images" : "labels"));
        return idx;
    }
    throw Failure(fmt::format("no {} or {}.gz in {}", stem, stem, folder.string()));
}

Half load_half(const std::filesystem::path& folder, const std::string& prefix) {
    Half half{load_idx(folder, prefix + "-images-idx3-ubyte", 3), load_idx(folder, prefix + "-labels-idx1-ubyte", 1)};
    if (half.images.shape[0] != half.labels.shape[0])
        throw Failure(fmt::format("{}: {} {} images but {} labels", folder.string(), half.images.shape[0], prefix,
                                  half.labels.shape[0]));
    if (half.images.shape[0] == 0) throw Failure(fmt::format("{}: no {} images", folder.string(), prefix));
    for (char label : half.labels.values)
        if (static_cast<uint8_t>(label) > 9)
            throw Failure(fmt::format("{}: a {} label is {}, labels are 0 to 9", folder.string(), prefix,
                                      static_cast<int>(static_cast<uint8_t>(label))));
    return half;
}

int32_t read_picture(const Half& half, uint64_t index, std::span<float> image) {
    const char* from = half.images.values.data() + index * image.size();
    for (float& value : image) value = static_cast<float>(static_cast<uint8_t>(*from++)) / 255.0f;
    return static_cast<uint8_t>(half.labels.values[index]);
}

}  // namespace

Result<Idx> parse_idx(std::string_view bytes, const std::string& name) {
    const auto bad = [&](uint64_t at, const std::string& what) {
        return refusal(name, at, "not a readable IDX file: " + what);
    };
    if (bytes.size() < 4) return bad(bytes.size(), "it is too short");
    const uint32_t magic = big_endian(bytes, 0);
    if (magic != 2051 && magic != 2049)
        return bad(0, fmt::format("it begins with {}, not with 2051 (images) or 2049 (labels)", magic));
    const size_t dimensions = magic & 0xff, header = 4 + 4 * dimensions;
    if (bytes.size() < header) return bad(bytes.size(), "it ends within its header");
    Idx idx;
    uint64_t count = 1;
    for (size_t i = 0; i < dimensions; ++i) {
        const uint32_t extent = big_endian(bytes, 4 + 4 * i);
        idx.shape.push_back(extent);
        if (extent != 0 && count > (uint64_t{1} << 40) / extent)
            return bad(4, fmt::format("it claims {} items of a size that no file has", idx.shape[0]));
        count *= extent;
    }
    if (bytes.size() - header != count)
        return bad(std::min<uint64_t>(bytes.size(), header + count),
                   fmt::format("it should hold {} bytes after its header but holds {}", count, bytes.size() - header));
    idx.values = bytes.substr(header);
    return idx;
}

DataSet open_mnist(const std::filesystem::path& folder, uint64_t seed) {
    const auto training = std::make_shared<const Half>(load_half(folder, "train"));
    const auto test = std::make_shared<const Half>(load_half(folder, "t10k"));
    const auto &shape = training->images.shape, &test_shape = test->images.shape;
    if (shape[1] != test_shape[1] || shape[2] != test_shape[2])
        throw Failure(fmt::format("{}: training images are {} x {} but test images {} x {}", folder.string(), shape[1],
                                  shape[2], test_shape[1], test_shape[2]));
    if (shape[1] < 1 || shape[2] < 1 || shape[1] > 4096 || shape[2] > 4096)
        throw Failure(fmt::format("{}: images of {} x {} pixels", folder.string(), shape[1], shape[2]));
    DataSet set{.name = "mnist",
                .rows = static_cast<int>(shape[1]),
                .columns = static_cast<int>(shape[2]),
                .classes = 10,
                .test_count = test_shape[0],
                .train_count = shape[0]};
    const auto count = static_cast<uint64_t>(shape[0]);
    set.train = [training, count, seed](uint64_t index, std::span<float> image) {
        return read_picture(*training, place_of(index, count, seed), image);
    };
    set.test = [test](uint64_t index, std::span<float> image) { return read_picture(*test, index, image); };
    return set;
}

}  // namespace lockstep::nn
