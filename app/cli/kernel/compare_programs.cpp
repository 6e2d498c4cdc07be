// Two reports of whole programs side by side, for `lockstep compare`: the times, each kernel by its name, and what limits
// them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/kernel/compare.h"
#include "core/base/units.h"

namespace lockstep::cli {
namespace {

using Json = nlohmann::ordered_json;

struct KernelTime {
    uint64_t launches = 0;
    double us = 0;
};

std::map<std::string, KernelTime> kernels_of(const Json& report) {
    std::map<std::string, KernelTime> kernels;
    for (const Json& launch : report["launches"]) {
        KernelTime& kernel = kernels[launch.value("kernel", "")];
        ++kernel.launches;
        kernel.us += launch.value("time_us", 0.0);
    }
    return kernels;
}

double copies_of(const Json& report) {
    double us = 0;
    if (const auto copies = report.find("copies"); copies != report.end())
        for (const Json& copy : *copies) us += copy.value("end_us", 0.0) - copy.value("begin_us", 0.0);
    return us;
}

// What is told of the program and of its kernels: by what it is known in the other report, and its sentence.
std::map<std::string, std::string> program_findings(const Json& report) {
    std::map<std::string, std::string> findings;
    const auto add = [&](const Json& finding, const std::string& of) {
        const std::string rule = finding.value("rule", "");
        findings.try_emplace(of + rule, fmt::format("{}{} ({})", of, finding.value("sentence", ""), rule));
    };
    if (const auto advice = report.find("advice"); advice != report.end())
        for (const Json& each : *advice) add(each, "");
    for (const Json& launch : report["launches"])
        if (const auto own = launch.find("findings"); own != launch.end())
            for (const Json& each : *own) add(each, launch.value("kernel", "") + ": ");
    return findings;
}

std::vector<std::string> only_in_report(const Json& report, const Json& other) {
    std::vector<std::string> only;
    const auto there = program_findings(other);
    for (const auto& [key, sentence] : program_findings(report))
        if (!there.contains(key)) only.push_back(sentence);
    return only;
}

std::string times_text(double before, double after) {
    if (before <= 0 || after <= 0) return "";
    return before >= after ? fmt::format("{:.3g} times as fast", before / after)
                           : fmt::format("{:.3g} times as long", after / before);
}

}  // namespace

bool is_program_report(const Json& json) {
    return json.is_object() && json.contains("launches") && json["launches"].is_array() && json.contains("total_us") &&
           json["total_us"].is_number();
}

Json compare_programs(const Json& before, const Json& after, std::string& text) {
    const auto row = [&](const std::string& name, double then, double now, const std::string& more = "") {
        text += fmt::format("  {:<40} {:>12.2f} {:>12.2f}  {}{}\n", name, then, now, times_text(then, now), more);
    };
    const auto number = [](const Json& json, const char* key) { return json.value(key, 0.0); };
    const std::string gpu = before.value("gpu", ""), later = after.value("gpu", "");
    text = fmt::format("a program{}\n  {:<40} {:>12} {:>12}\n", gpu == later ? " on " + gpu : "; on " + gpu + " -> " + later,
                       "µs", "before", "after");
    row("all, on the model's clock", number(before, "total_us"), number(after, "total_us"));
    row("of it the host (measured)", number(before, "host_us"), number(after, "host_us"));
    row("copies", copies_of(before), copies_of(after));
    Json json = {{"total_us", {number(before, "total_us"), number(after, "total_us")}},
                 {"host_us", {number(before, "host_us"), number(after, "host_us")}},
                 {"copies_us", {copies_of(before), copies_of(after)}},
                 {"kernels", Json::array()}};
    const auto old = kernels_of(before), fresh = kernels_of(after);
    std::vector<std::string> names;
    for (const auto& [name, kernel] : old) names.push_back(name);
    for (const auto& [name, kernel] : fresh)
        if (!old.contains(name)) names.push_back(name);
    const auto of = [](const std::map<std::string, KernelTime>& kernels, const std::string& name) {
        const auto found = kernels.find(name);
        return found == kernels.end() ? KernelTime{} : found->second;
    };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return std::max(of(old, a).us, of(fresh, a).us) > std::max(of(old, b).us, of(fresh, b).us);
    });
    for (const std::string& name : names) {
        const KernelTime a = of(old, name), b = of(fresh, name);
        const std::string launches =
            a.launches == b.launches
                ? fmt::format("{}{} launch{}", a.us > 0 && b.us > 0 ? ", " : "", a.launches, a.launches == 1 ? "" : "es")
                : fmt::format("{}{} -> {} launches", a.us > 0 && b.us > 0 ? ", " : "", a.launches, b.launches);
        row(name.size() > 40 ? name.substr(0, 37) + "..." : name, a.us, b.us, launches);
        json["kernels"].push_back(
            {{"kernel", name}, {"launches", {a.launches, b.launches}}, {"time_us", {json_number(a.us), json_number(b.us)}}});
    }
    const std::vector<std::string> gone = only_in_report(before, after), now = only_in_report(after, before);
    for (const auto& [title, list] : {std::pair("no longer so:", &gone), std::pair("now so:", &now)}) {
        if (list->empty()) continue;
        text += fmt::format("  {}\n", title);
        for (const std::string& sentence : *list) text += "    " + sentence + "\n";
    }
    json["findings_gone"] = gone;
    json["findings_new"] = now;
    return json;
}

}  // namespace lockstep::cli
