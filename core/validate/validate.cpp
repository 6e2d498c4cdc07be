// Picks the rows, measures them one after the other, sums up.
#include "core/validate/validate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/nearest.h"
#include "core/validate/probe.h"

namespace lockstep::validate {
namespace {

// Measurements of real GPUs lie in assets/silicon, or where LOCKSTEP_SILICON says, one file a GPU.
std::string silicon_remark() {
    const char* const own = std::getenv("LOCKSTEP_SILICON");
    const auto folder = own && *own ? std::filesystem::path(own) : resource_root() / "assets" / "silicon";
    std::error_code error;
    std::vector<std::string> gpus;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".json") gpus.push_back(entry.path().stem().string());
    std::sort(gpus.begin(), gpus.end());
    if (gpus.empty()) return "silicon: nothing was measured on a real GPU; assets/silicon is empty";
    std::string names;
    for (const std::string& gpu : gpus) names += (names.empty() ? "" : ", ") + gpu;
    return "silicon: measured on " + names + "; `lockstep validate silicon` compares the model with it";
}

}  // namespace

std::string_view name_of(Kind kind) {
    return kind == Kind::calibrated ? "calibrated" : "predicted";
}

std::vector<std::string> tables() {
    std::vector<std::string> names;
    for (const Case& row : cases())
        if (std::find(names.begin(), names.end(), row.table) == names.end()) names.emplace_back(row.table);
    names.emplace_back("silicon");
    return names;
}

std::vector<Case> cases_on(const std::string& gpu) {
    const model::GpuSpec spec = model::gpu_named(gpu).value();
    std::vector<Case> chosen;
    std::vector<std::pair<std::string_view, std::string>> known;  // table and name without the GPU's
    const auto take = [&](const Case& row) {
        const std::string own = row.name.substr(row.name.find('/') + 1);
        const std::pair key(row.table, own);
        const bool here_alone = row.quantity == Quantity::sectors || row.quantity == Quantity::block_turn;
        if (here_alone || std::find(known.begin(), known.end(), key) != known.end()) return;
        known.push_back(key);
        Case it = row;
        if (row.gpu != gpu) {
            const uint32_t sms = model::gpu_named(row.gpu).value().sms.value;
            it.gpu = gpu;
            if (row.table != "sgemm") it.name = gpu + "/" + own;
            it.expected = 0;
            if (row.blocks >= sms) it.blocks = row.blocks / sms * spec.sms.value;
        }
        chosen.push_back(it);
    };
    // Its own, those of its generation, then any.
    for (const Case& row : cases())
        if (row.gpu == gpu) take(row);
    for (const Case& row : cases())
        if (model::gpu_named(row.gpu).value().compute == spec.compute) take(row);
    for (const Case& row : cases()) take(row);
    return chosen;
}

Result<Report> validate(const Options& options) {
    const std::vector<std::string> known = tables();
    if (!options.table.empty() && std::find(known.begin(), known.end(), options.table) == known.end()) {
        return Diagnostic{"unknown table '" + options.table + "'" + did_you_mean(options.table, known)};
    }
    Report report;
    Programs programs;
    for (const Case& entry : cases()) {
        if (!options.table.empty() && options.table != entry.table) continue;
        if (options.quick && !entry.quick) continue;
        if (options.stop.stop_requested()) break;
        Row row{std::string(entry.table), entry.name, entry.expected, 0, entry.kind, std::string(entry.unit),
                std::string(entry.source)};
        if (options.started) options.started(row.table + " " + row.name);
        row.got = measure(options.quick && entry.parts ? part_of(entry) : entry, programs);
        if (options.finished) options.finished(row);
        report.rows.push_back(std::move(row));
    }
    if (options.table.empty() || options.table == "silicon") report.remarks.push_back(silicon_remark());
    return report;
}

Total total_of(std::span<const Row> rows, std::string_view table) {
    Total total;
    for (const Row& row : rows) {
        if (row.kind != Kind::predicted || (!table.empty() && row.table != table)) continue;
        const double error = std::abs(row.error());
        total.mean_error += error;
        ++total.rows;
        if (std::isnan(total.worst_error)) continue;  // nothing is worse
        if (total.worst.empty() || !(error <= std::abs(total.worst_error))) {
            total.worst_error = row.error();
            total.worst = row.table + " " + row.name;
        }
    }
    if (total.rows != 0) total.mean_error /= static_cast<double>(total.rows);
    return total;
}

}  // namespace lockstep::validate
