// `lockstep tensors FILE`: what a safetensors, npz or npy file or a checkpoint's folder holds, each tensor with its range of
// values. A file that is cut off or lies about its offsets is refused with the offset and the reason.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/nn/data/files/checkpoint.h"
#include "core/nn/data/files/npz.h"
#include "core/nn/data/files/safetensors.h"
#include "lessons/player/predict.h"

namespace lockstep::cli {
namespace {

struct Range {
    double least = 0, most = 0, mean = 0;
    int64_t not_finite = 0;
};
Range range_of(const Array& array) {
    Range range{INFINITY, -INFINITY, 0, 0};
    double sum = 0;
    const size_t count = array.count();
    for (size_t i = 0; i < count; ++i) {
        const double value = scene::element_of(array, i);
        if (!std::isfinite(value)) {
            ++range.not_finite;
            continue;
        }
        range.least = std::min(range.least, value), range.most = std::max(range.most, value);
        sum += value;
    }
    const auto finite = static_cast<double>(count) - static_cast<double>(range.not_finite);
    range.mean = finite > 0 ? sum / finite : NAN;
    return range;
}

nn::SafeTensors read_any(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error) || path.filename() == "checkpoint.json") {
        const nn::Checkpoint checkpoint =
            nn::load_checkpoint(path.filename() == "checkpoint.json" ? path.parent_path() : path).value();
        return {{{"model", checkpoint.model}, {"step", std::to_string(checkpoint.step)}}, checkpoint.tensors};
    }
    if (path.extension() == ".npz") return {{}, nn::read_npz(path).value()};
    if (path.extension() == ".npy") return {{}, {{path.stem().string(), read_npy(path).value()}}};
    if (path.extension() == ".safetensors") return nn::read_safetensors(path).value();
    throw Failure(Diagnostic{"this is no file of tensors: .safetensors, .npz, .npy or the folder of a checkpoint are",
                             {path.string()}});
}

void list(const std::string& file, const std::string& json) {
    check_can_write(json);
    const nn::SafeTensors all = read_any(file);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    size_t wide = 4;
    for (const nn::NamedArray& array : all.tensors) wide = std::max(wide, array.name.size());
    if (json != "-")
        fmt::print("{:<{}}  {:<5} {:>18} {:>12} {:>12} {:>12} {:>12}\n", "name", wide, "type", "shape", "bytes", "least",
                   "mean", "most");
    int64_t bytes = 0;
    for (const nn::NamedArray& one : all.tensors) {
        const Range range = range_of(one.array);
        const auto size = static_cast<int64_t>(one.array.bytes.size());
        bytes += size;
        const std::vector<int64_t>& shape = one.array.shape;
        const bool any = std::isfinite(range.mean);
        if (json != "-")
            fmt::print("{:<{}}  {:<5} {:>18} {:>12} {:>12} {:>12} {:>12}{}\n", one.name, wide, name_of(one.array.dtype),
                       fmt::format("[{}]", fmt::join(shape, ", ")), size, any ? fmt::format("{:.4g}", range.least) : "-",
                       any ? fmt::format("{:.4g}", range.mean) : "-", any ? fmt::format("{:.4g}", range.most) : "-",
                       range.not_finite > 0 ? fmt::format("  {} not finite", range.not_finite) : "");
        rows.push_back({{"name", one.name},
                        {"type", name_of(one.array.dtype)},
                        {"shape", shape},
                        {"bytes", size},
                        {"least", json_number(range.least)},
                        {"mean", json_number(range.mean)},
                        {"most", json_number(range.most)},
                        {"not_finite", range.not_finite}});
    }
    if (json != "-") {
        fmt::print("{} tensor{}, {} bytes", all.tensors.size(), all.tensors.size() == 1 ? "" : "s", bytes);
        for (const auto& [key, value] : all.metadata) fmt::print("; {}: {}", key, value);
        fmt::print("\n");
    }
    if (!json.empty()) write_json({{"metadata", all.metadata}, {"tensors", rows}}, json);
}

}  // namespace

void add_tensors(const Command& app) {
    const Command command = app.add_subcommand("tensors", "what a safetensors, npz or npy file or a checkpoint holds");
    struct Options {
        std::string file, json;
    };
    auto options = std::make_shared<Options>();
    command.add_option("FILE", options->file, "the file, or a checkpoint's folder").required();
    command.add_option("--json", options->json, "write the list as JSON; '-' for stdout");
    command.callback([options] { list(options->file, options->json); });
}

}  // namespace lockstep::cli
