// `lockstep compare A.json B.json`: two results of `run --json`, side by side: times, the counters that differ, and the
// findings that are gone or new. Whole programs are compare_programs.cpp.
#include "app/cli/kernel/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/model/launch/launch.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CompareAsked {
    std::string before, after, json;
    bool all = false;
};

Json read_result(const std::string& file) {
    const std::string text = read_text(file, 256u << 20).value();
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        throw Failure(Diagnostic{"it is no JSON: give what 'lockstep run ... --json FILE' wrote", {file}});
    if (is_program_report(json)) return json;
    if (!json.is_object() || !json.contains("kernel") || !json["kernel"].is_string() || !json.contains("metrics") ||
        !json["metrics"].is_object())
        throw Failure(
            Diagnostic{"it has no 'kernel' and 'metrics', as the result of 'lockstep run ... --json FILE' has", {file}});
    if (!json.contains("cycles") || !json["cycles"].is_number())
        throw Failure(Diagnostic{"it has no cycles: the run was functional or was stopped", {file}});
    return json;
}

double number(const Json& json, std::string_view key) {
    const auto found = json.find(std::string(key));
    return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

struct Difference {
    model::MetricRow row;
    double before = 0, after = 0;
    double size() const {  // by how much it differs, of the larger: 0..1, and more where the sign changes
        const double most = std::max(std::abs(before), std::abs(after));
        return most > 0 ? std::abs(after - before) / most : 0;
    }
};

std::vector<Difference> differences(const Json& before, const Json& after) {
    std::vector<Difference> all;
    for (const model::MetricRow& row : model::metric_rows()) {
        const std::string key(row.nsight);
        if (!before["metrics"].contains(key) || !after["metrics"].contains(key)) continue;
        all.push_back({row, number(before["metrics"], key), number(after["metrics"], key)});
    }
    return all;
}

// "rule (file:line)", by which a finding of one run is known in the other; the line may have moved, so the rule alone
// counts.
std::vector<std::string> findings_of(const Json& result, const Json& other) {
    std::vector<std::string> only;
    const auto list = [](const Json& json) {
        const auto verdict = json.find("verdict");
        return verdict != json.end() && verdict->is_object() && verdict->contains("findings") ? (*verdict)["findings"]
                                                                                              : Json(Json::array());
    };
    const Json others = list(other);
    for (const Json& finding : list(result)) {
        const std::string rule = finding.value("rule", "");
        const bool there =
            std::any_of(others.begin(), others.end(), [&](const Json& each) { return each.value("rule", "") == rule; });
        if (there) continue;
        const std::string place =
            finding.value("line", 0) > 0 ? fmt::format("{}:{}: ", finding.value("file", ""), finding.value("line", 0)) : "";
        only.push_back(fmt::format("{}{} ({})", place, finding.value("sentence", ""), rule));
    }
    return only;
}

std::string value_text(double value) {
    return value == std::floor(value) && std::abs(value) < 1e9 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

int compare(const CompareAsked& asked) {
    const Json before = read_result(asked.before), after = read_result(asked.after);
    if (is_program_report(before) != is_program_report(after)) {
        const bool first = is_program_report(before);
        throw Failure(
            Diagnostic{fmt::format("this is the report of a whole program, and '{}' is of one kernel: compare takes "
                                   "two of a kind",
                                   first ? asked.after : asked.before),
                       {first ? asked.before : asked.after}});
    }
    if (is_program_report(before)) {
        std::string text;
        Json json = compare_programs(before, after, text);
        json["before"] = asked.before, json["after"] = asked.after;
        if (!asked.json.empty()) write_json(json, asked.json);
        if (asked.json != "-") fmt::print("{}", text);
        return static_cast<int>(ExitStatus::done);
    }
    const double cycles = number(before, "cycles"), then = number(after, "cycles");
    const double time = number(before, "time_us"), later = number(after, "time_us");
    const auto gone = findings_of(before, after), fresh = findings_of(after, before);
    std::vector<Difference> all = differences(before, after);
    std::stable_sort(all.begin(), all.end(), [](const Difference& a, const Difference& b) { return a.size() > b.size(); });
    if (!asked.json.empty()) {
        Json json = {{"before", asked.before},
                     {"after", asked.after},
                     {"cycles", {cycles, then}},
                     {"time_us", {json_number(time), json_number(later)}},
                     {"speedup", later > 0 ? json_number(time / later) : Json()},
                     {"metrics", Json::object()},
                     {"findings_gone", gone},
                     {"findings_new", fresh}};
        for (const Difference& each : all)
            json["metrics"][std::string(each.row.nsight)] = {json_number(each.before), json_number(each.after)};
        write_json(json, asked.json);
        if (asked.json == "-") return static_cast<int>(ExitStatus::done);
    }
    const auto same = [&](const char* key) { return before.value(key, "") == after.value(key, ""); };
    fmt::print("{} -> {}{}\n", before.value("kernel", ""), after.value("kernel", ""),
               same("gpu") ? " on " + before.value("gpu", "")
                           : "; on " + before.value("gpu", "") + " -> " + after.value("gpu", ""));
    const double speed = later > 0 ? time / later : 0;
    fmt::print("  {:.0f} -> {:.0f} cycles, {:.2f} -> {:.2f} µs: {}\n", cycles, then, time, later,
               speed >= 1 ? fmt::format("{:.3g} times as fast", speed)
                          : fmt::format("{:.3g} times as long", speed > 0 ? 1 / speed : 0));
    const auto told = [](const char* title, const std::vector<std::string>& list) {
        if (list.empty()) return;
        fmt::print("  {}\n", title);
        for (const std::string& sentence : list) fmt::print("    {}\n", sentence);
    };
    told("no longer so:", gone);
    told("now so:", fresh);
    constexpr size_t most = 20;
    constexpr double least = 0.05;
    size_t shown = 0;
    fmt::print("  {:<30} {:>14} {:>14} {:>9}  {}\n", "counter", "before", "after", "change", "unit");
    for (const Difference& each : all) {
        if (!asked.all && (each.size() < least || shown == most)) break;
        ++shown;
        const std::string change =
            each.before != 0 ? fmt::format("{:+.1f} %", 100 * (each.after - each.before) / std::abs(each.before)) : "new";
        fmt::print("  {:<30} {:>14} {:>14} {:>9}  {}\n", each.row.name, value_text(each.before), value_text(each.after),
                   each.size() > 0 ? change : "-", each.row.unit);
    }
    const auto differ = std::count_if(all.begin(), all.end(), [&](const Difference& each) { return each.size() >= least; });
    if (!asked.all && static_cast<size_t>(differ) > shown)
        fmt::print("  {} more differ by 5 % or more: --all\n", static_cast<size_t>(differ) - shown);
    return static_cast<int>(ExitStatus::done);
}

}  // namespace

void add_compare(const Command& app, int& status) {
    const Command command =
        app.add_subcommand("compare", "two results of 'lockstep run --json' side by side: times, counters, findings");
    auto asked = std::make_shared<CompareAsked>();
    command.add_option("BEFORE", asked->before, "the JSON of the first run").required();
    command.add_option("AFTER", asked->after, "the JSON of the second one").required();
    command.add_flag("--all", asked->all, "every counter, not only those that differ by 5 % or more");
    command.add_option("--json", asked->json, "write the comparison as JSON; '-' for stdout");
    command.callback([asked, &status] { status = compare(*asked); });
}

}  // namespace lockstep::cli
