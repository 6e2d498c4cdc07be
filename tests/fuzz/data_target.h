// What the fuzzer does with data files. The first byte names the reader: c CSV, g gzip, i IDX, k a checkpoint's JSON,
// m a maze, r CIFAR-10, s safetensors, t text, z npz. What can be read is written and read again, and is the same; what
// cannot is refused in a sentence.
#pragma once
#include "core/nn/data/data_set.h"
#include "core/nn/data/files/checkpoint.h"
#include "core/nn/data/files/csv.h"
#include "core/nn/data/files/inflate.h"
#include "core/nn/data/files/npz.h"
#include "core/nn/data/files/safetensors.h"
#include "core/nn/data/made/grid_world.h"
#include "core/nn/data/text.h"
#include "tests/fuzz/ptx_target.h"

namespace lockstep::fuzz {

template <class T>
bool read_or_refused(const Result<T>& result) {
    if (!result)
        must(result.error().where.file.find("fuzz") != std::string::npos && result.error().message.size() > 10,
             "a complaint without words");
    return result.ok();
}

inline void must_be_same(const nn::NamedArrays& a, const nn::NamedArrays& b) {
    must(a.size() == b.size(), "arrays get lost when they are written and read");
    for (size_t i = 0; i < a.size(); ++i) {
        uint64_t bytes = size_of(a[i].array.dtype);
        for (const int64_t extent : a[i].array.shape) bytes *= static_cast<uint64_t>(extent);
        must(bytes == a[i].array.bytes.size(), "the shape does not say how many bytes there are");
        must(a[i].name == b[i].name && a[i].array.dtype == b[i].array.dtype && a[i].array.shape == b[i].array.shape &&
                 a[i].array.bytes == b[i].array.bytes,
             "an array changes when it is written and read");
    }
}

inline bool try_csv(std::string_view bytes) {
    const auto csv = nn::parse_csv(bytes, "fuzz", {.most_cells = 1 << 16});
    if (!read_or_refused(csv)) return false;
    const nn::Csv& table = csv.value();
    must(table.ends.size() == static_cast<size_t>(table.rows * table.columns()), "a table that is not rectangular");
    std::vector<std::string> cells;
    for (int64_t row = 0; row < table.rows; ++row)
        for (int64_t column = 0; column < table.columns(); ++column) cells.emplace_back(table.at(row, column));
    const nn::Csv again = nn::parse_csv(nn::format_csv(table.names, cells), "again").value();
    must(again.names == table.names && again.text == table.text && again.ends == table.ends, "a table changes");
    const auto numbers = nn::numbers_of(table);
    must(!read_or_refused(numbers) || numbers.value().count() == cells.size(), "numbers get lost");
    return true;
}

inline bool try_safetensors(std::string_view bytes) {
    const auto file = nn::parse_safetensors(bytes, "fuzz");
    if (!read_or_refused(file)) return false;
    for (const nn::NamedArray& row : file.value().tensors)
        if (row.name.empty()) return true;  // can be read, and is not written
    const auto again = nn::parse_safetensors(nn::format_safetensors(file.value()), "again").value();
    must(again.metadata == file.value().metadata, "metadata change when they are written and read");
    must_be_same(file.value().tensors, again.tensors);
    return true;
}

inline bool try_npz(std::string_view bytes) {
    const auto arrays = nn::parse_npz(bytes, "fuzz", 1 << 24);
    if (!read_or_refused(arrays)) return false;
    for (const nn::NamedArray& row : arrays.value())
        if (row.name.size() > 1000) return true;
    must_be_same(arrays.value(), nn::parse_npz(nn::format_npz(arrays.value()), "again").value());
    return true;
}

inline bool try_data(std::string_view input) {  // whether it is one
    if (input.empty()) return false;
    const std::string_view bytes = input.substr(1);
    switch (input[0]) {
        case 'c':
            return try_csv(bytes);
        case 'g':
            return read_or_refused(nn::gunzip(bytes, "fuzz", 1 << 20));
        case 'i': {
            const auto idx = nn::parse_idx(bytes, "fuzz");
            if (!read_or_refused(idx)) return false;
            int64_t count = 1;
            for (const int64_t extent : idx.value().shape) count *= extent;
            must(count == static_cast<int64_t>(idx.value().values.size()),
                 "the extents do not say how many bytes there are");
            return true;
        }
        case 'k':
            return read_or_refused(nn::parse_checkpoint_head(bytes, "fuzz"));
        case 'm': {
            const auto world = nn::parse_grid_world(bytes, "fuzz");
            if (!read_or_refused(world)) return false;
            must(world.value().cells.size() == static_cast<size_t>(world.value().states()),
                 "a maze that is not rectangular");
            if (world.value().states() < 200)
                must(nn::best_return(world.value()) >= nn::random_return(world.value()) - 1e-9,
                     "chance beats the best policy");
            return true;
        }
        case 'r': {
            const auto batch = nn::parse_cifar10(bytes, "fuzz");
            if (!read_or_refused(batch)) return false;
            must(batch.value().pictures.size() == batch.value().labels.size() * 3072, "pictures and labels differ");
            return true;
        }
        case 's':
            return try_safetensors(bytes);
        case 'z':
            return try_npz(bytes);
        default:
            return false;
    }
}

}  // namespace lockstep::fuzz
