// A script prints JSON: {NAME: version, "settings": {...}, "best_of", "rows": [{"model", "mode", "threads",
// "steps_per_second"}, ...]}. Each thread count runs in a process of its own, one after the other, so that nothing else of
// ours is running while it measures.
#include "app/cli/measure/torch_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/system/system.h"

namespace lockstep::cli {

namespace {
constexpr const char* models[] = {"mlp512", "lenet5", "gpt", "llama"};
constexpr int thread_counts[] = {1, 2};

struct Framework {
    const char *name, *title, *script, *packages;
};
constexpr Framework frameworks[] = {
    {"torch", "PyTorch", "torch_bench.py", "python3-torch and libopenblas0-openmp, or pip install torch"},
    {"jax", "JAX", "jax_bench.py", "pip install jax"},
};

std::string joined(const std::set<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ","));
}

std::string name_of_model(const std::string& model, int threads) {
    return fmt::format("train/{}/{}", model, threads);
}

std::vector<BenchRow> rows_of(const Framework& framework, const nlohmann::json& json) {
    std::string settings;
    for (const auto& [key, value] : json["settings"].items())
        settings += fmt::format(", {}={}", key, value.get<std::string>());
    std::vector<BenchRow> rows;
    for (const auto& row : json["rows"]) {
        const bool compiled = row.value("mode", "eager") == "compiled";
        rows.push_back({fmt::format("{}/{}{}", name_of_model(row["model"], row["threads"]), framework.name,
                                    compiled ? "-compiled" : ""),
                        row["steps_per_second"], "steps/s",
                        fmt::format("{} {}{}{}, the batch in memory, best of {}", framework.title,
                                    json[framework.name].get<std::string>(), compiled ? ", torch.compile" : "", settings,
                                    json["best_of"].get<int>())});
    }
    return rows;
}

// By the first python3 here that has the framework; without one, none.
std::vector<BenchRow> measured(const Framework& framework, const std::set<std::string>& chosen,
                               const std::set<std::string>& threads) {
    const auto script = resource_root() / "tests/reference" / framework.script;
    const std::vector<std::string> arguments = {script.string(), "--models", joined(chosen), "--threads", joined(threads),
                                                "--seconds",     "1"};
    system::ChildLimits limits;
    limits.seconds = 900;                      // eight models to compile are minutes
    limits.memory_bytes = uint64_t{64} << 30;  // address space: PyTorch maps far more than it uses
    const TemporaryFolder folder;
    std::set<std::filesystem::path> pythons = {system::find_program({"python3"}), "/usr/bin/python3"};
    for (const auto& python : pythons) {
        if (python.empty() || !std::filesystem::exists(python) || !std::filesystem::exists(script)) continue;
        const system::ChildOutcome outcome = system::run_program(python, arguments, folder.path(), limits);
        if (!outcome.succeeded()) continue;  // 3: it is not installed
        const auto json = nlohmann::json::parse(outcome.output, nullptr, false);
        if (!json.is_discarded() && json.contains("rows")) return rows_of(framework, json);
    }
    tell("no rows of {}: no python3 here has it ({})\n", framework.title, framework.packages);
    return {};
}
}  // namespace

std::vector<BenchRow> torch_bench(std::string_view wanted) {
    if (!wanted.starts_with("train")) return {};
    std::set<std::string> chosen, threads;
    for (const std::string model : models) {
        for (const int count : thread_counts) {
            const std::string name = name_of_model(model, count);
            if (!name.starts_with(wanted) && !wanted.starts_with(name)) continue;
            chosen.insert(model);
            threads.insert(fmt::format("{}", count));
        }
    }
    std::vector<BenchRow> rows;
    if (chosen.empty()) return rows;
    for (const Framework& framework : frameworks)
        for (BenchRow& row : measured(framework, chosen, threads))
            if (row.name.starts_with(wanted)) rows.push_back(std::move(row));
    return rows;
}

std::vector<BenchRow> training_leads(const std::vector<BenchRow>& rows) {
    std::vector<BenchRow> leads;
    for (const std::string model : models)
        for (const int count : thread_counts) {
            const std::string name = name_of_model(model, count);
            const BenchRow *ours = nullptr, *others = nullptr;
            for (const BenchRow& row : rows) {
                const std::string_view whole = row.name;
                const std::string_view last = whole.substr(whole.rfind('/') + 1);
                const bool theirs = whole.starts_with(name + "/") && (last.starts_with("torch") || last.starts_with("jax"));
                const bool mine = whole.starts_with(fmt::format("train/{}/", model)) && last == std::to_string(count);
                const BenchRow*& best = theirs ? others : ours;
                if ((theirs || mine) && (best == nullptr || row.value > best->value)) best = &row;
            }
            if (ours == nullptr || others == nullptr) continue;
            leads.push_back({name + "/lead", ours->value / others->value, "times as fast",
                             fmt::format("{}, against the best of the others, {}", ours->name, others->name)});
        }
    return leads;
}

}  // namespace lockstep::cli
