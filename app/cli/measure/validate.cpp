// `lockstep validate [TABLE] [--quick]`: published figures of real GPUs beside what the model gives, with the error of each
// and in total. See core/validate.
#include "core/validate/validate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/measure/silicon.h"
#include "core/base/tell.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/parallel/plan/cluster_tables.h"

namespace lockstep::cli {
namespace {

void print_total(const char* what, const validate::Total& total) {
    if (total.rows == 0) return;
    fmt::print("{}: {} predicted row{}, mean error {:.1f} %, worst {:+.1f} % ({})\n", what, total.rows,
               total.rows == 1 ? "" : "s", 100 * total.mean_error, 100 * total.worst_error, total.worst);
}

void print(const validate::Report& report) {
    std::string table;
    const auto end_table = [&] {
        if (!table.empty()) print_total(("= " + table).c_str(), validate::total_of(report.rows, table));
    };
    // A table's rows stand together, whatever the order in which they were measured.
    std::vector<std::string> tables;
    for (const validate::Row& row : report.rows)
        if (std::find(tables.begin(), tables.end(), row.table) == tables.end()) tables.push_back(row.table);
    std::vector<validate::Row> rows;
    for (const std::string& name : tables)
        std::copy_if(report.rows.begin(), report.rows.end(), std::back_inserter(rows),
                     [&](const validate::Row& row) { return row.table == name; });
    for (const validate::Row& row : rows) {
        if (row.table != table) {
            end_table();
            table = row.table;
            fmt::print("\n{:<34} {:>10} {:>10} {:>8}  {:<20} {:<11} {}\n", table, "expected", "got", "error", "unit", "kind",
                       "source");
        }
        fmt::print("{:<34} {:>10.5g} {:>10.5g} {:>+7.1f}%  {:<20} {:<11} {}\n", "  " + row.name, row.expected, row.got,
                   100 * row.error(), row.unit, validate::name_of(row.kind), row.source);
    }
    end_table();
    if (!report.rows.empty()) fmt::print("\n");
    print_total("in all", validate::total_of(report.rows, ""));
    for (const std::string& remark : report.remarks) fmt::print("{}\n", remark);
}

nlohmann::ordered_json json_of(const validate::Report& report) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const validate::Row& row : report.rows)
        rows.push_back({{"table", row.table},
                        {"name", row.name},
                        {"expected", json_number(row.expected)},
                        {"got", json_number(row.got)},
                        {"error", json_number(row.error())},
                        {"kind", validate::name_of(row.kind)},
                        {"unit", row.unit},
                        {"source", row.source}});
    return rows;
}

}  // namespace

void add_validate(CLI::App& app, int&) {
    CLI::App* command = app.add_subcommand("validate", "published figures of real GPUs beside those of the model");
    struct Chosen {
        std::string table, json;
        bool quick = false;
        SiliconChoice silicon;
    };
    auto chosen = std::make_shared<Chosen>();
    command->add_option("TABLE", chosen->table,
                        "one table: latency, rate, bandwidth, peak, sgemm, silicon or cluster; default: all");
    command->add_flag("--quick", chosen->quick, "the rows that take seconds");
    command->add_option("--json", chosen->json, "write the rows as JSON; '-' for stdout");
    SiliconChoice& silicon = chosen->silicon;
    std::vector<CLI::Option*> of_silicon = {
        command->add_option("--file", silicon.file, "silicon: these measurements instead of those in assets/silicon"),
        command->add_option("--gpu", silicon.gpu, "silicon: against this modelled GPU instead of the file's own"),
        command->add_flag("--fit", silicon.fit, "silicon: propose figures of the GPU's row that come nearer (takes long)"),
        command->add_option("--figure", silicon.figures, "silicon, --fit: only this figure of the row; may be given again"),
        command->add_option("--threads", silicon.threads, "silicon: kernels that run side by side; default: all cores")
            ->check(CLI::Range(1, 256)),
        command->add_flag("--again", silicon.again, "silicon: run kernels again that this program has run before")};
    command->callback([chosen, of_silicon] {
        std::vector<std::string> known = validate::tables();
        known.emplace_back("cluster");
        if (!chosen->table.empty() && std::find(known.begin(), known.end(), chosen->table) == known.end())
            throw Failure(fmt::format("unknown table '{}'; there are {}", chosen->table, fmt::join(known, ", ")));
        if (!chosen->silicon.gpu.empty()) model::gpu_named(chosen->silicon.gpu).value();
        if (chosen->table != "silicon")
            for (const CLI::Option* option : of_silicon)
                if (*option) throw Failure(option->get_name() + " is for the table silicon");
        if (!chosen->silicon.figures.empty() && !chosen->silicon.fit) throw Failure("--figure needs --fit");
        chosen->silicon.json = chosen->json;
        if (chosen->table == "silicon" && validate_silicon(chosen->silicon)) return;
        validate::Options options;
        options.table = chosen->table;
        options.quick = chosen->quick;
        options.started = [](std::string_view row) { tell("{} ...\n", row); };
        validate::Report report;
        if (options.table != "cluster") report = validate::validate(options).value();
        if (options.table.empty() || options.table == "cluster") {
            const validate::Report cluster = parallel::cluster_report(options);
            report.rows.insert(report.rows.end(), cluster.rows.begin(), cluster.rows.end());
            report.remarks.insert(report.remarks.end(), cluster.remarks.begin(), cluster.remarks.end());
        }
        if (chosen->json != "-") print(report);
        if (!chosen->json.empty()) write_json(json_of(report), chosen->json);
    });
}

}  // namespace lockstep::cli
