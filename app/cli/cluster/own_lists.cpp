#include "app/cli/cluster/own_lists.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/base/files.h"

namespace lockstep::cli {

Result<std::shared_ptr<const scene::ParallelScene>> read_lists(const std::string& kind, const std::string& file) {
    const Result<std::string> text = read_text(file, size_t{1} << 20);
    if (!text) return text.error();
    return scene::run_parallel_scene(kind, text.value(), {file, 1, 1}, {.keep_wrong = true});
}

bool complain_of(std::span<const scene::ListFault> faults) {
    std::fflush(stdout);
    for (const scene::ListFault& fault : faults) {
        complain(fault.what);
        if (!fault.advice.empty()) fmt::print(stderr, "    advice: {}\n", fault.advice);
    }
    return faults.empty();
}

void add_faults(nlohmann::ordered_json& json, std::span<const scene::ListFault> faults) {
    json["right"] = faults.empty();
    json["wrong"] = nlohmann::ordered_json::array();
    for (const scene::ListFault& fault : faults) {
        nlohmann::ordered_json row = {{"message", fault.what.message},
                                      {"advice", fault.advice},
                                      {"line", fault.what.where.line},
                                      {"column", fault.what.where.column},
                                      {"ranks", fault.ranks}};
        if (fault.chunk >= 0) row.update({{"chunk", fault.chunk}, {"lacks", fault.lacks}, {"twice", fault.twice}});
        if (fault.round >= 0) row["round"] = fault.round;
        json["wrong"].push_back(std::move(row));
    }
}

}  // namespace lockstep::cli
