// CIFAR-10's binary version: records of one label byte and 3072 picture bytes, the red plane, the green, the blue, each
// 32 x 32 by rows.
#include <fmt/format.h>

#include <memory>

#include "core/base/files.h"
#include "core/nn/data/data_set.h"
#include "core/nn/data/refusal.h"
#include "core/nn/data/sampler.h"

namespace lockstep::nn {

namespace {
constexpr size_t picture_bytes = 3 * 32 * 32, record_bytes = 1 + picture_bytes;

int32_t read_picture(const CifarBatch& batch, uint64_t index, std::span<float> image) {
    const char* from = batch.pictures.data() + index * picture_bytes;
    for (float& value : image) value = static_cast<float>(static_cast<uint8_t>(*from++)) / 255.0f;
    return batch.labels[index];
}

CifarBatch load(const std::filesystem::path& path) {
    return parse_cifar10(read_file(path).value(), path.string()).value();
}
}  // namespace

Result<CifarBatch> parse_cifar10(std::string_view bytes, const std::string& name) {
    const auto bad = [&](uint64_t at, const std::string& what) {
        return refusal(name, at, "not a readable CIFAR-10 file: " + what);
    };
    if (bytes.empty()) return bad(0, "it is empty");
    CifarBatch batch;
    batch.labels.reserve(bytes.size() / record_bytes);
    batch.pictures.reserve(bytes.size());
    for (size_t at = 0; at < bytes.size(); at += record_bytes) {
        if (bytes.size() - at < record_bytes)
            return bad(at, fmt::format("its last record has {} bytes, not {}", bytes.size() - at, record_bytes));
        const auto label = static_cast<uint8_t>(bytes[at]);
        if (label > 9) return bad(at, fmt::format("a label is {}, labels are 0 to 9", label));
        batch.labels.push_back(label);
        batch.pictures += bytes.substr(at + 1, picture_bytes);
    }
    return batch;
}

DataSet open_cifar10(const std::filesystem::path& folder, uint64_t seed) {
    std::error_code ignored;
    const auto inner = folder / "cifar-10-batches-bin";
    const auto& place = std::filesystem::is_directory(inner, ignored) ? inner : folder;
    auto training = std::make_shared<CifarBatch>();
    for (int i = 1; i <= 5; ++i) {
        const CifarBatch batch = load(place / fmt::format("data_batch_{}.bin", i));
        training->labels.insert(training->labels.end(), batch.labels.begin(), batch.labels.end());
        training->pictures += batch.pictures;
    }
    const auto test = std::make_shared<const CifarBatch>(load(place / "test_batch.bin"));
    DataSet set{.name = "cifar10",
                .rows = 32,
                .columns = 32,
                .classes = 10,
                .test_count = static_cast<int64_t>(test->labels.size()),
                .channels = 3,
                .train_count = static_cast<int64_t>(training->labels.size()),
                .class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}};
    set.train = [training = std::shared_ptr<const CifarBatch>(training), seed](uint64_t index, std::span<float> image) {
        return read_picture(*training, place_of(index, training->labels.size(), seed), image);
    };
    set.test = [test](uint64_t index, std::span<float> image) { return read_picture(*test, index, image); };
    return set;
}

}  // namespace lockstep::nn
