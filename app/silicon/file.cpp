// The file of measurements, format 1:
//   {"format": 1, "gpu": "...", "driver": "13.0", "date": "2026-11-22", "made_up": false, "modelled": false,
//    "parts": {NAME: PART, ...}}
//   PART of kernels and published: {"clock_before_mhz": n, "clock_after_mhz": n, "rows": [{"name", "grid": [x,y,z], "block":
//   [x,y,z],
//                     "repeats", "time_us", "fastest_us", "slowest_us", "cycles", "half": "fit" | "judge"}, ...]}
//   of opcodes and checks: rows of {"name", "compared", "different", "apart": [8 numbers], "largest", "refused", "note"}
//   of training: {"name", "batch", "steps", "launches", "time_us", "fastest_us", "slowest_us", "loss", "host_loss",
//                 "host_difference"}
//   of ratios: {"name", "value", "yardstick", "unit", "of"}
//   other PARTs: {"name", "value", "unit"}
//   every PART has "complete" (false where measuring was cut off) and "failures": rows of {"name", "why"}.
// Every field is needed and none other is allowed. A reader knows where it is, so that each complaint names the place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "app/silicon/silicon.h"
#include "core/base/hash.h"

namespace lockstep::device {
namespace {

using Json = nlohmann::ordered_json;
constexpr SiliconPartRow part_rows[] = {{"properties", "what the driver says of the GPU", 1},
                                        {"launch", "launches, graphs and events", 2},
                                        {"copies", "copies, pinned and pageable, and two streams", 10},
                                        {"kernels", "the pack's kernels, one by one", 40},
                                        {"micro", "the micro-benchmarks of `lockstep validate`", 20},
                                        {"published", "the kernels of `lockstep validate kernels`, whole", 60},
                                        {"ratios", "the best kernels against cuBLAS and the copy bandwidth", 15},
                                        {"training", "training steps, eager, by CUDA graphs and fused", 90},
                                        {"nccl", "NCCL with one rank, where it is found", 5},
                                        {"checks", "every kernel of the library against our machine", 60},
                                        {"opcodes", "every operation against our machine, bit by bit", 80}};
constexpr size_t most_rows = 10'000, longest_text = 400;

struct SiliconPlace {  // a value and where it is
    const Json& json;
    std::string path;
    const std::string& file;

    [[noreturn]] void refuse(std::string_view what) const {
        throw Failure(Diagnostic{fmt::format("{}: {}", path.empty() ? "the file" : path, what), {file}});
    }
    void fields(std::initializer_list<std::string_view> names) const {
        if (!json.is_object()) refuse(fmt::format("an object is needed, not {}", article(json)));
        for (const auto& [key, value] : json.items())
            if (std::find(names.begin(), names.end(), key) == names.end())
                refuse(fmt::format("unknown field '{}'", key.substr(0, 60)));
    }
    SiliconPlace at(const std::string& key) const {
        const auto found = json.find(key);
        if (found == json.end()) refuse(fmt::format("the field '{}' is missing", key));
        return {*found, path.empty() ? key : path + "." + key, file};
    }
    SiliconPlace at(size_t index) const { return {json[index], fmt::format("{}[{}]", path, index), file}; }
    size_t rows() const {
        if (!json.is_array()) refuse(fmt::format("a list is needed, not {}", article(json)));
        if (json.size() > most_rows) refuse(fmt::format("{} rows, at most {} are read", json.size(), most_rows));
        return json.size();
    }
    std::string text(size_t least = 1) const {
        if (!json.is_string()) refuse(fmt::format("a text is needed, not {}", article(json)));
        const auto& value = json.get_ref<const std::string&>();
        if (value.size() < least || value.size() > longest_text)
            refuse(fmt::format("a text of {} to {} bytes is needed, not {}", least, longest_text, value.size()));
        for (const char c : value)
            if (static_cast<unsigned char>(c) < 32 || c == 127) refuse("control characters are not allowed in a text");
        return value;
    }
    std::string day() const {
        const std::string value = text(0);
        if (value.empty()) return value;  // not known
        constexpr std::string_view form = "0000-00-00";
        for (size_t i = 0; i < std::max(form.size(), value.size()); ++i)
            if (value.size() != form.size() || (form[i] == '-' ? value[i] != '-' : value[i] < '0' || value[i] > '9'))
                refuse(fmt::format("a day as in 2026-11-22 is needed, not '{}'", value.substr(0, 40)));
        return value;
    }
    bool flag() const {
        if (!json.is_boolean()) refuse(fmt::format("true or false is needed, not {}", article(json)));
        return json.get<bool>();
    }
    double number(double low, double high) const {
        if (!json.is_number()) refuse(fmt::format("a number is needed, not {}", article(json)));
        const double value = json.get<double>();
        if (!(value >= low && value <= high)) refuse(fmt::format("{} is not from {} to {}", value, low, high));
        return value;
    }
    double positive() const { return number(1e-9, 1e15); }
    uint32_t whole(double low, double high) const {
        const double value = number(low, high);
        if (value != std::floor(value)) refuse(fmt::format("a whole number is needed, not {}", value));
        return static_cast<uint32_t>(value);
    }
    uint64_t count() const {
        const double value = number(0, 1e15);
        if (value != std::floor(value)) refuse(fmt::format("a whole number is needed, not {}", value));
        return static_cast<uint64_t>(value);
    }
    simt::Dim3 extent() const {
        if (rows() != 3) refuse(fmt::format("three numbers x, y and z are needed, not {}", json.size()));
        return {at(size_t{0}).whole(1, 2147483647), at(1).whole(1, 65535), at(2).whole(1, 65535)};
    }
    static std::string article(const Json& json) {
        const std::string name = json.type_name();
        return name == "null" ? name : (name == "array" || name == "object" ? "an " : "a ") + name;
    }
};

template <class Row>
void times_at(const SiliconPlace& place, Row& row) {
    row.time_us = place.at("time_us").positive();
    row.fastest_us = place.at("fastest_us").positive();
    row.slowest_us = place.at("slowest_us").positive();
    if (row.fastest_us > row.time_us || row.time_us > row.slowest_us)
        place.refuse("the median does not lie between the fastest and the slowest");
}

SiliconCheck check_at(const SiliconPlace& row) {
    row.fields({"name", "compared", "different", "apart", "largest", "refused", "note"});
    SiliconCheck check;
    check.name = row.at("name").text();
    check.compared = row.at("compared").count();
    check.different = row.at("different").count();
    if (check.different > check.compared) row.refuse("more values differ than were compared");
    const SiliconPlace apart = row.at("apart");
    if (apart.rows() != check.apart.size())
        apart.refuse(fmt::format("{} numbers are needed, not {}", check.apart.size(), apart.rows()));
    uint64_t sum = 0;
    for (size_t i = 0; i < check.apart.size(); ++i) sum += check.apart[i] = apart.at(i).count();
    if (sum > check.compared) apart.refuse("more values than were compared");
    check.largest = row.at("largest").number(0, 1e300);
    check.refused = row.at("refused").count();
    check.note = row.at("note").text(0);
    return check;
}

SiliconTraining training_at(const SiliconPlace& row) {
    row.fields({"name", "batch", "steps", "launches", "time_us", "fastest_us", "slowest_us", "loss", "host_loss",
                "host_difference"});
    SiliconTraining training;
    training.name = row.at("name").text();
    training.batch = row.at("batch").whole(1, 1e9);
    training.steps = row.at("steps").whole(1, 1e9);
    training.launches = row.at("launches").whole(0, 1e9);
    times_at(row, training);
    training.loss = row.at("loss").number(-1e15, 1e15);
    training.host_loss = row.at("host_loss").number(-1e15, 1e15);
    training.host_difference = row.at("host_difference").number(0, 1e15);
    return training;
}

SiliconRatio ratio_at(const SiliconPlace& row) {
    row.fields({"name", "value", "yardstick", "unit", "of"});
    return {row.at("name").text(), row.at("value").positive(), row.at("yardstick").positive(), row.at("unit").text(),
            row.at("of").text()};
}

SiliconKernel kernel_at(const SiliconPlace& row) {
    row.fields({"name", "grid", "block", "repeats", "time_us", "fastest_us", "slowest_us", "cycles", "half"});
    SiliconKernel kernel;
    kernel.name = row.at("name").text();
    kernel.grid = row.at("grid").extent();
    kernel.block = row.at("block").extent();
    kernel.repeats = row.at("repeats").whole(1, 1e6);
    times_at(row, kernel);
    kernel.cycles = row.at("cycles").positive();
    const SiliconPlace half = row.at("half");
    if (half.text() != name_of(half_of(kernel.name)))
        half.refuse(fmt::format("'{}' is of the half '{}', by the hash of its name, not '{}'", kernel.name,
                                name_of(half_of(kernel.name)), half.text()));
    return kernel;
}

SiliconPart part_at(const SiliconPlace& place, std::string name) {
    place.fields({"complete", "clock_before_mhz", "clock_after_mhz", "failures", "rows"});
    SiliconPart part{.name = std::move(name)};
    part.complete = place.at("complete").flag();
    part.clock_before_mhz = place.at("clock_before_mhz").positive();
    part.clock_after_mhz = place.at("clock_after_mhz").positive();
    const SiliconPlace failures = place.at("failures");
    for (size_t i = 0, count = failures.rows(); i < count; ++i) {
        const SiliconPlace row = failures.at(i);
        row.fields({"name", "why"});
        part.failures.push_back({row.at("name").text(), row.at("why").text(0)});
    }
    const SiliconPlace rows = place.at("rows");
    std::set<std::string> names;
    for (size_t i = 0, count = rows.rows(); i < count; ++i) {
        const SiliconPlace row = rows.at(i);
        const auto add = [&](auto& to, auto value) -> const std::string& {
            to.push_back(std::move(value));
            return to.back().name;
        };
        const auto figure = [&]() -> SiliconFigure {
            row.fields({"name", "value", "unit"});
            return {row.at("name").text(), row.at("value").number(0, 1e18), row.at("unit").text()};
        };
        const std::string& added = part.name == "kernels" || part.name == "published" ? add(part.kernels, kernel_at(row))
                                   : part.name == "training"                          ? add(part.trainings, training_at(row))
                                   : part.name == "ratios"                            ? add(part.ratios, ratio_at(row))
                                   : part.name == "opcodes" || part.name == "checks"  ? add(part.checks, check_at(row))
                                                                                      : add(part.figures, figure());
        if (!names.insert(added).second) row.refuse(fmt::format("'{}' is there twice", added));
    }
    return part;
}

}  // namespace

SiliconHalf half_of(std::string_view kernel) {
    return fnv1a64(kernel) >> 32 & 1 ? SiliconHalf::judge : SiliconHalf::fit;
}
std::string_view name_of(SiliconHalf half) {
    return half == SiliconHalf::fit ? "fit" : "judge";
}
std::span<const SiliconPartRow> silicon_parts() {
    return part_rows;
}
const SiliconPart* SiliconFile::part(std::string_view name) const {
    for (const SiliconPart& part : parts)
        if (part.name == name) return &part;
    return nullptr;
}

Result<SiliconFile> parse_silicon(const std::string& text, const std::string& file) {
    Json json;
    try {
        json = Json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        const size_t end = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
        const auto line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '\n');
        const size_t newline = text.rfind('\n', end == 0 ? 0 : end - 1);
        const size_t column = newline == std::string::npos || newline >= end ? end : end - newline - 1;
        return Diagnostic{end >= text.size() ? "the JSON ends too early" : "this is no JSON",
                          {file, static_cast<int>(line) + 1, static_cast<int>(column) + 1}};
    } catch (const nlohmann::json::exception&) {
        return Diagnostic{"the JSON holds a number that is too large", {file}};
    }
    try {
        const SiliconPlace top{json, "", file};
        top.fields({"format", "gpu", "driver", "date", "made_up", "modelled", "parts"});
        if (top.at("format").whole(0, 1e9) != 1) top.at("format").refuse("this version reads format 1 alone");
        SiliconFile it{.gpu = top.at("gpu").text(),
                       .driver = top.at("driver").text(),
                       .date = top.at("date").day(),
                       .made_up = top.at("made_up").flag(),
                       .modelled = top.at("modelled").flag()};
        const SiliconPlace parts = top.at("parts");
        parts.fields({"properties", "launch", "copies", "kernels", "micro", "published", "ratios", "training", "nccl",
                      "checks", "opcodes"});
        for (const SiliconPartRow& row : part_rows)
            if (parts.json.contains(std::string(row.name)))
                it.parts.push_back(part_at(parts.at(std::string(row.name)), std::string(row.name)));
        return it;
    } catch (const Failure& failure) {
        return failure.diagnostic;
    }
}

std::string format_silicon(const SiliconFile& file) {
    Json parts = Json::object();
    for (const SiliconPart& part : file.parts) {
        Json rows = Json::array();
        for (const SiliconKernel& k : part.kernels)
            rows.push_back({{"name", k.name},
                            {"grid", {k.grid.x, k.grid.y, k.grid.z}},
                            {"block", {k.block.x, k.block.y, k.block.z}},
                            {"repeats", k.repeats},
                            {"time_us", k.time_us},
                            {"fastest_us", k.fastest_us},
                            {"slowest_us", k.slowest_us},
                            {"cycles", k.cycles},
                            {"half", name_of(half_of(k.name))}});
        for (const SiliconCheck& c : part.checks)
            rows.push_back({{"name", c.name},
                            {"compared", c.compared},
                            {"different", c.different},
                            {"apart", c.apart},
                            {"largest", c.largest},
                            {"refused", c.refused},
                            {"note", c.note}});
        for (const SiliconTraining& t : part.trainings)
            rows.push_back({{"name", t.name},
                            {"batch", t.batch},
                            {"steps", t.steps},
                            {"launches", t.launches},
                            {"time_us", t.time_us},
                            {"fastest_us", t.fastest_us},
                            {"slowest_us", t.slowest_us},
                            {"loss", t.loss},
                            {"host_loss", t.host_loss},
                            {"host_difference", t.host_difference}});
        for (const SiliconRatio& r : part.ratios)
            rows.push_back(
                {{"name", r.name}, {"value", r.value}, {"yardstick", r.yardstick}, {"unit", r.unit}, {"of", r.of}});
        for (const SiliconFigure& f : part.figures) rows.push_back({{"name", f.name}, {"value", f.value}, {"unit", f.unit}});
        Json failures = Json::array();
        for (const SiliconFailure& f : part.failures) failures.push_back({{"name", f.name}, {"why", f.why}});
        parts[part.name] = {{"complete", part.complete},
                            {"clock_before_mhz", part.clock_before_mhz},
                            {"clock_after_mhz", part.clock_after_mhz},
                            {"failures", std::move(failures)},
                            {"rows", std::move(rows)}};
    }
    const Json json = {{"format", 1},
                       {"gpu", file.gpu},
                       {"driver", file.driver},
                       {"date", file.date},
                       {"made_up", file.made_up},
                       {"modelled", file.modelled},
                       {"parts", std::move(parts)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::device
