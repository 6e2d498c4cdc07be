// `lockstep silicon --out F.json`: measures a real GPU once and keeps the figures; parts that the file holds are kept as
// they are. `lockstep validate silicon` then sets the model against them, wherever it runs. See core/device/silicon.h.
#include "core/device/silicon.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/silicon.h"
#include "core/base/files.h"

namespace lockstep::cli {
namespace {

constexpr size_t largest_silicon_file = size_t{16} << 20;

device::SiliconFile read_silicon(const std::string& path) {
    return device::parse_silicon(read_file(path, largest_silicon_file).value(), path).value();
}

void print_silicon(const device::SiliconReport& report) {
    fmt::print("\n{} measured, {} modelled, in cycles of the SM\n", report.gpu, report.model);
    fmt::print("{:<36} {:<6} {:>12} {:>12} {:>8}\n", "kernel", "half", "measured", "modelled", "error");
    for (const device::SiliconRow& row : report.rows)
        fmt::print("{:<36} {:<6} {:>12.0f} {:>12.0f} {:>+7.1f}%\n", row.name, device::name_of(row.half), row.measured,
                   row.modelled, 100 * row.error());
    for (const auto half : {device::SiliconHalf::fit, device::SiliconHalf::judge}) {
        const device::SiliconTotal total = device::total_of(report.rows, half);
        if (total.rows == 0) continue;
        fmt::print("= {}: {} kernels, mean error {:.1f} %, ", device::name_of(half), total.rows, 100 * total.mean_error);
        if (std::isnan(total.correlation))
            fmt::print("too few or too equal for a correlation\n");
        else
            fmt::print("correlation of the logarithms {:.3f}\n", total.correlation);
    }
}

nlohmann::ordered_json json_of_silicon(const device::SiliconReport& report) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array(), halves = nlohmann::ordered_json::object();
    for (const device::SiliconRow& row : report.rows)
        rows.push_back({{"name", row.name},
                        {"half", device::name_of(row.half)},
                        {"measured", json_number(row.measured)},
                        {"modelled", json_number(row.modelled)},
                        {"error", json_number(row.error())}});
    for (const auto half : {device::SiliconHalf::fit, device::SiliconHalf::judge}) {
        const device::SiliconTotal total = device::total_of(report.rows, half);
        halves[std::string(device::name_of(half))] = {{"kernels", total.rows},
                                                      {"mean_error", json_number(total.mean_error)},
                                                      {"correlation", json_number(total.correlation)}};
    }
    return {{"gpu", report.gpu},
            {"model", report.model},
            {"rows", std::move(rows)},
            {"halves", std::move(halves)},
            {"remarks", report.remarks}};
}

}  // namespace

std::vector<std::string> stored_silicon() {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(resource_root() / "assets" / "silicon", error))
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

void validate_silicon(const std::vector<std::string>& files, const std::string& gpu, const std::string& json) {
    nlohmann::ordered_json reports = nlohmann::ordered_json::array();
    for (const std::string& file : files) {
        const auto report =
            device::compare_silicon(read_silicon(file), gpu, device::silicon_pack(),
                                    [](std::string_view kernel) { fmt::print(stderr, "silicon {} ...\n", kernel); });
        if (json != "-") print_silicon(report);
        for (const std::string& remark : report.remarks) fmt::print(json == "-" ? stderr : stdout, "{}\n", remark);
        if (!json.empty()) reports.push_back(json_of_silicon(report));
    }
    if (!json.empty()) write_json(reports, json);
}

void add_silicon(CLI::App& app, int&) {
    CLI::App* command = app.add_subcommand("silicon", "measure a real GPU once and keep the figures");
    struct Chosen {
        std::string out, device = "cuda:0";
        std::vector<std::string> parts;
        bool quick = false;
    };
    auto chosen = std::make_shared<Chosen>();
    command->add_option("--out", chosen->out, "the file; parts that it holds are not measured again")->required();
    command->add_option("--device", chosen->device, "cuda:0, cuda:1; sim:v100 gives a file that says it is modelled");
    command->add_flag("--quick", chosen->quick, "few repeats and small sizes: to try out the way, not to keep");
    std::string parts;
    double seconds = 0;
    for (const device::SiliconPartRow& part : device::silicon_parts()) {
        parts += fmt::format("{}{} ({}; about {:.0f} s)", parts.empty() ? "" : ", ", part.name, part.what, part.seconds);
        seconds += part.seconds;
    }
    command->add_option("--part", chosen->parts,
                        fmt::format("may be given again; all unless said, about {:.0f} min: {}", seconds / 60, parts));
    command->callback([chosen] {
        device::SiliconFile file;
        if (std::filesystem::exists(chosen->out)) file = read_silicon(chosen->out);
        device::SiliconOptions options;
        options.parts = chosen->parts;
        if (chosen->quick) {
            options.quick = true;
            options.repeats = 5;
            options.seconds = 0;
            options.clock_rounds = 1 << 12;
            options.flushed = size_t{1} << 20;
        }
        const auto begin = std::chrono::steady_clock::now();
        const auto seconds_so_far = [begin] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        options.started = [&](std::string_view what) { fmt::print(stderr, "{:6.1f} s  {} ...\n", seconds_so_far(), what); };
        options.failed = [](const device::SiliconFailure& row) {
            fmt::print(stderr, "not measured: {}: {}\n", row.name, row.why);
        };
        options.finished = [&](const device::SiliconFile& so_far) {
            write_file(chosen->out, device::format_silicon(so_far));
        };
        device::measure_silicon(file, chosen->device, options);
        fmt::print("{}: {}, driver {}{}\n", chosen->out, file.gpu, file.driver,
                   file.modelled ? "; a modelled GPU: nothing was measured on silicon" : "");
        for (const device::SiliconPart& part : file.parts)
            fmt::print("  {:<12} {:>4} rows{}, SM clock {:.0f} MHz before, {:.0f} MHz after\n", part.name, part.rows(),
                       part.failures.empty() ? "" : fmt::format(" and {} that failed", part.failures.size()),
                       part.clock_before_mhz, part.clock_after_mhz);
    });
}

}  // namespace lockstep::cli
