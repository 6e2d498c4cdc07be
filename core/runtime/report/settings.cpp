#include "core/runtime/report/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/base/files.h"
#include "core/model/gpus/gpu_file.h"

namespace lockstep::runtime {
namespace {

std::string variable(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? "" : text;
}

void read_number(const char* name, auto& number) {
    const std::string text = variable(name);
    if (text.empty()) return;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        throw Failure(fmt::format("{} is a number, not '{}'", name, text));
}

}  // namespace

Settings settings_of_environment() {
    Settings settings;
    if (const std::string gpu = variable("LOCKSTEP_GPU"); !gpu.empty()) settings.gpu = gpu;
    read_number("LOCKSTEP_GPUS", settings.gpus);
    if (settings.gpus < 1 || settings.gpus > 16) throw Failure("LOCKSTEP_GPUS is a number from 1 to 16");
    read_number("LOCKSTEP_TIMED_LAUNCHES", settings.timed_launches);
    read_number("LOCKSTEP_MAX_INSTRUCTIONS", settings.max_instructions);
    read_number("LOCKSTEP_THREADS", settings.threads);
    const std::string l2 = variable("LOCKSTEP_L2");
    settings.warm_l2 = l2 != "cold";
    if (!l2.empty() && l2 != "cold" && l2 != "warm") throw Failure(fmt::format("LOCKSTEP_L2 is cold or warm, not '{}'", l2));
    settings.report = variable("LOCKSTEP_REPORT");
    settings.snapshots = variable("LOCKSTEP_SNAPSHOTS");
    read_number("LOCKSTEP_ONLY_SNAPSHOT", settings.only_snapshot);
    settings.progress = variable("LOCKSTEP_PROGRESS");
    settings.by_lines = !variable("LOCKSTEP_BY_LINES").empty();
    std::istringstream list(variable("LOCKSTEP_CHECK"));
    for (std::string name; std::getline(list, name, ',');) {
        settings.synccheck |= name == "synccheck";
        settings.racecheck |= name == "racecheck";
        settings.initcheck |= name == "initcheck";
        settings.leakcheck |= name == "leakcheck";
    }
    return settings;
}

std::vector<std::string> environment_of(const Settings& settings) {
    std::string check = settings.synccheck ? "synccheck" : "none";
    if (settings.racecheck) check += ",racecheck";
    if (settings.initcheck) check += ",initcheck";
    if (settings.leakcheck) check += ",leakcheck";
    // The program may run elsewhere, and is no part of Lockstep's installation: it is told where a file lies.
    std::error_code error;
    const bool file = model::is_gpu_file(settings.gpu);
    const std::string gpu = file ? std::filesystem::absolute(settings.gpu, error).string() : settings.gpu;
    std::vector<std::string> all = {fmt::format("LOCKSTEP_GPU={}", gpu),
                                    fmt::format("LOCKSTEP_GPUS={}", settings.gpus),
                                    fmt::format("LOCKSTEP_TIMED_LAUNCHES={}", settings.timed_launches),
                                    fmt::format("LOCKSTEP_L2={}", settings.warm_l2 ? "warm" : "cold"),
                                    fmt::format("LOCKSTEP_MAX_INSTRUCTIONS={}", settings.max_instructions),
                                    fmt::format("LOCKSTEP_THREADS={}", settings.threads),
                                    fmt::format("LOCKSTEP_CHECK={}", check),
                                    fmt::format("LOCKSTEP_REPORT={}", settings.report)};
    if (file || settings.gpu.starts_with("teaching"))
        all.push_back(fmt::format("LOCKSTEP_HOME={}", resource_root().string()));
    if (!settings.snapshots.empty()) {
        all.push_back(fmt::format("LOCKSTEP_SNAPSHOTS={}", settings.snapshots));
        all.push_back(fmt::format("LOCKSTEP_ONLY_SNAPSHOT={}", settings.only_snapshot));
    }
    if (!settings.progress.empty()) all.push_back(fmt::format("LOCKSTEP_PROGRESS={}", settings.progress));
    if (settings.by_lines) all.emplace_back("LOCKSTEP_BY_LINES=1");
    return all;
}

}  // namespace lockstep::runtime
