// Reading assets/reference: cases of ops with PyTorch's results. tests/reference/README.md has the format.
// Nothing here knows an engine: values are doubles, types are "f64", "f32", "i64", "u8".
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/rng.h"

namespace lockstep::reference {

using Json = nlohmann::json;
using Values = std::vector<double>;

inline std::filesystem::path folder() {
    return resource_root() / "assets/reference";
}

inline Json document(const std::string& name) {
    return Json::parse(read_file(folder() / (name + ".json")).value());
}

inline size_t count_of(const std::vector<int64_t>& shape) {
    size_t count = 1;
    for (int64_t extent : shape) count *= static_cast<size_t>(extent);
    return count;
}

inline Values draw(uint64_t seed, size_t count, double low, double high) {
    Rng rng(seed);
    Values values(count);
    for (double& value : values) value = double(float(rng.uniform(low, high)));
    return values;
}

inline Values draw_below(uint64_t seed, size_t count, uint64_t below) {
    Rng rng(seed);
    Values values(count);
    for (double& value : values) value = double(rng.below(below));
    return values;
}

struct Input {
    std::string name, type;  // type: empty where it is the case's
    std::vector<int64_t> shape;
    Values values;
    bool differentiable = false;
};
struct Output {
    std::string name;
    std::vector<int64_t> shape;
    Values values, upstream;  // upstream: empty where no gradient comes in
};
struct Gradient {
    std::string of;
    Values values;
};
struct Case {
    std::string op, note;
    std::vector<std::string> types;
    Json options;
    double slack = 1;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::vector<Gradient> gradients;

    std::string name() const { return op + ": " + note; }
};

inline double number(const Json& json) {
    if (!json.is_string()) return json.get<double>();
    const double infinity = std::numeric_limits<double>::infinity();
    const auto text = json.get<std::string>();
    return text == "inf" ? infinity : text == "-inf" ? -infinity : std::nan("");
}

inline Input input_of(const Json& row) {
    Input input{row["name"], row.value("type", ""), row["shape"], {}, false};
    const size_t count = count_of(input.shape);
    if (row.contains("values"))
        for (const Json& value : row["values"]) input.values.push_back(number(value));
    else if (row.contains("below"))
        input.values = draw_below(row["seed"], count, row["below"]);
    else
        input.values = draw(row["seed"], count, row["low"], row["high"]);
    return input;
}

// All cases of a family. Throws when a file is missing or a case points outside of the values.
inline std::vector<Case> cases_of(const std::string& family) {
    const Array array = read_npy(folder() / (family + ".npy")).value();
    const auto results = [&](const Json& at, size_t count) {
        const auto from = at.get<size_t>();
        if (array.dtype != DType::f64 || from > array.count() || count > array.count() - from)
            throw std::out_of_range(fmt::format("{}: values {} to {} of {}", family, from, from + count, array.count()));
        return Values(array.as<double>() + from, array.as<double>() + from + count);
    };
    const Json index = document(family);
    std::vector<Case> all;
    for (const Json& row : index.at("cases")) {
        Case one{row["op"], row["case"], row["types"], row.value("options", Json::object()), row.value("slack", 1.0), {},
                 {},        {}};
        for (const Json& input : row["inputs"]) one.inputs.push_back(input_of(input));
        for (const Json& output : row["outputs"]) {
            const std::vector<int64_t> shape = output["shape"];
            const size_t count = count_of(shape);
            Values upstream;
            if (output.contains("upstream")) upstream = draw(output["upstream"], count, -1, 1);
            one.outputs.push_back({output["name"], shape, results(output["at"], count), upstream});
        }
        for (const Json& gradient : row["gradients"]) {
            for (Input& input : one.inputs) {
                if (input.name != gradient["of"]) continue;
                input.differentiable = true;
                one.gradients.push_back({input.name, results(gradient["at"], input.values.size())});
            }
        }
        all.push_back(std::move(one));
    }
    if (all.empty()) throw std::out_of_range(family + " has no cases");
    return all;
}

// What `type` may be off by at this value: f64 1e-9; f32 slack x (1.3e-6 relative + 1e-5).
inline double tolerance(double value, const std::string& type, double slack) {
    return type == "f64" ? 1e-9 * std::max(1.0, std::abs(value)) : slack * (1.3e-6 * std::abs(value) + 1e-5);
}

// The worst element, in words; empty where all are within tolerance. NaN and infinities must be where they belong.
inline std::string difference(const Values& got, const Values& want, const std::string& type, double slack) {
    if (got.size() != want.size()) return fmt::format("{} elements, not {}", got.size(), want.size());
    double worst = 1;
    std::string text;
    for (size_t i = 0; i < got.size(); ++i) {
        if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
        const double off = std::abs(got[i] - want[i]) / tolerance(want[i], type, slack);
        if (off <= worst) continue;  // false for NaN
        if (!text.empty() && std::isnan(off)) continue;
        worst = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
        text = fmt::format("element {}: {:.17g}, not {:.17g} ({:.3g} times what is allowed)", i, got[i], want[i], off);
    }
    return text;
}

}  // namespace lockstep::reference
