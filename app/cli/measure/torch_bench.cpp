// The script prints JSON: {"torch": version, "settings": {...}, "rows": [{"model", "threads", "steps_per_second"}, ...]}.
// Each thread count runs in a process of its own, one after the other, so that nothing else of ours is running while it
// measures.
#include "app/cli/measure/torch_bench.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/system/system.h"

namespace lockstep::cli {

namespace {
constexpr const char* models[] = {"mlp512", "lenet5", "gpt", "llama"};
constexpr int thread_counts[] = {1, 2};

std::string row_name(const std::string& model, int threads) {
    return fmt::format("train/{}/{}/torch", model, threads);
}

std::string joined(const std::set<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ","));
}
}  // namespace

std::vector<BenchRow> torch_bench(std::string_view wanted) {
    if (!wanted.starts_with("train")) return {};
    std::set<std::string> chosen, threads;
    for (const std::string model : models) {
        for (const int count : thread_counts) {
            if (!row_name(model, count).starts_with(wanted)) continue;
            chosen.insert(model);
            threads.insert(fmt::format("{}", count));
        }
    }
    if (chosen.empty()) return {};
    const auto script = resource_root() / "tests/reference/torch_bench.py";
    const std::vector<std::string> arguments = {script.string(), "--models", joined(chosen), "--threads", joined(threads),
                                                "--seconds",     "1"};
    system::ChildLimits limits;
    limits.seconds = 240;
    limits.memory_bytes = uint64_t{64} << 30;  // address space: PyTorch maps far more than it uses
    const TemporaryFolder folder;
    std::set<std::filesystem::path> pythons = {system::find_program({"python3"}), "/usr/bin/python3"};
    for (const auto& python : pythons) {
        if (python.empty() || !std::filesystem::exists(python) || !std::filesystem::exists(script)) continue;
        const system::ChildOutcome outcome = system::run_program(python, arguments, folder.path(), limits);
        if (!outcome.succeeded()) continue;  // 3: no PyTorch here
        const auto json = nlohmann::json::parse(outcome.output, nullptr, false);
        if (json.is_discarded() || !json.contains("rows")) continue;
        std::string settings;
        for (const auto& [key, value] : json["settings"].items())
            settings += fmt::format(", {}={}", key, value.get<std::string>());
        std::vector<BenchRow> rows;
        for (const auto& row : json["rows"]) {
            const std::string name = row_name(row["model"], row["threads"]);
            if (!name.starts_with(wanted)) continue;
            rows.push_back({name, row["steps_per_second"], "steps/s",
                            fmt::format("PyTorch {}{}, the batch in memory, best of {}", json["torch"].get<std::string>(),
                                        settings, json["best_of"].get<int>())});
        }
        return rows;
    }
    tell("no rows of PyTorch: no python3 here has it (packages python3-torch, libopenblas0-openmp)\n");
    return {};
}

}  // namespace lockstep::cli
