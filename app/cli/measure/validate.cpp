// `lockstep validate [TABLE] [--quick]`: published figures of real GPUs beside what the model gives, with the error of each
// and in total. See core/validate.
#include "core/validate/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/long_work.h"
#include "app/cli/measure/silicon.h"
#include "core/base/files.h"
#include "core/base/tell.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/parallel/plan/cluster_tables.h"
#include "core/validate/published/published.h"

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

// Whole kernels, by kind.
void print_kernels(std::span<const validate::KernelRow> rows) {
    using validate::total_of_kernels;
    for (const std::string_view kind : validate::kinds_of(rows)) {
        fmt::print("\n{:<42} {:>11} {:>11} {:>9}  {:<8} {:<11} {:<5} {:<10} {}\n", kind, "published", "simulated",
                   "time off", "unit", "figure", "for", "bound", "source");
        for (const validate::KernelRow& row : rows)
            if (row.of->kind == kind)
                fmt::print("{:<42} {:>11.6g} {:>11.6g} {:>+8.1f}%  {:<8} {:<11} {:<5} {:<10} {}\n", "  " + row.of->name,
                           row.of->expected, row.got, 100 * row.error, validate::name_of(row.of->unit),
                           validate::name_of(row.of->figure), validate::only_judges(*row.of) ? "judge" : "fit",
                           model::name_of(row.bound), row.of->source);
    }
    fmt::print("\n{:<14} {:>5} {:>8} {:>8} {:>9}  {}\n", "predicted", "rows", "mean", "median", "worst", "");
    const auto line = [](std::string_view name, const validate::KernelTotal& total) {
        if (total.rows > 0)
            fmt::print("{:<14} {:>5} {:>7.1f}% {:>7.1f}% {:>+8.1f}%  {}\n", name, total.rows, 100 * total.mean,
                       100 * total.median, 100 * total.worst, total.worst_row);
    };
    for (const std::string_view kind : validate::kinds_of(rows)) line(kind, total_of_kernels(rows, kind));
    line("all", total_of_kernels(rows, ""));
    const validate::KernelTotal judging = total_of_kernels(rows, "", true);
    line("only judging", judging);
    const validate::LadderOrder order = validate::order_of(rows);
    fmt::print("order in ladders: {} of {} pairs the other way round\n", order.wrong.size(), order.pairs);
    for (const std::string& wrong : order.wrong) fmt::print("  {}\n", wrong);
    size_t above = 0;
    for (const std::string_view kind : validate::kinds_of(rows))
        above += total_of_kernels(rows, kind, true).mean > validate::aim_kind;
    fmt::print(
        "aim, on kernels that only judge: mean at most {:.0f} %, median {:.0f} %, no kind above {:.0f} %: {}\n",
        100 * validate::aim_mean, 100 * validate::aim_median, 100 * validate::aim_kind,
        judging.rows == 0 ? std::string("none of them is here")
        : judging.mean <= validate::aim_mean && judging.median <= validate::aim_median && above == 0
            ? std::string("met")
            : fmt::format("not met ({:.1f} %, {:.1f} %, {} kinds above)", 100 * judging.mean, 100 * judging.median, above));
}

nlohmann::ordered_json json_of_kernels(std::span<const validate::KernelRow> rows) {
    const auto total_json = [](const validate::KernelTotal& total) -> nlohmann::ordered_json {
        return {{"rows", total.rows},
                {"mean_error", json_number(total.mean)},
                {"median_error", json_number(total.median)},
                {"worst_error", json_number(total.worst)},
                {"worst", total.worst_row}};
    };
    nlohmann::ordered_json json, kinds = nlohmann::ordered_json::object();
    json["rows"] = nlohmann::ordered_json::array();
    for (const validate::KernelRow& row : rows)
        json["rows"].push_back({{"name", row.of->name},
                                {"gpu", row.of->gpu},
                                {"kind", row.of->kind},
                                {"ladder", row.of->ladder},
                                {"kernel", validate::kernel_of(*row.of)},
                                {"published", json_number(row.of->expected)},
                                {"simulated", json_number(row.got)},
                                {"unit", validate::name_of(row.of->unit)},
                                {"time_error", json_number(row.error)},
                                {"figure", validate::name_of(row.of->figure)},
                                {"only_judges", validate::only_judges(*row.of)},
                                {"bound", model::name_of(row.bound)},
                                {"source", row.of->source}});
    for (const std::string_view kind : validate::kinds_of(rows))
        kinds[std::string(kind)] = total_json(validate::total_of_kernels(rows, kind));
    json["kinds"] = std::move(kinds);
    json["all"] = total_json(validate::total_of_kernels(rows, ""));
    json["only_judging"] = total_json(validate::total_of_kernels(rows, "", true));
    const validate::LadderOrder order = validate::order_of(rows);
    json["order"] = {{"pairs", order.pairs}, {"wrong", order.wrong}};
    return json;
}

struct KernelsAsked {
    std::string only, errors;
};

int say_stopped(const LongWork& work, size_t rows) {
    if (work.interrupted()) tell("stopped by Ctrl-C after {} row{}\n", rows, rows == 1 ? "" : "s");
    return work.interrupted() ? interrupted_status : 0;
}

int validate_kernels(const KernelsAsked& asked, bool quick, const std::string& json) {
    LongWork work("kernels");
    work.keep_looking();
    validate::KernelOptions options;
    options.stop = work.token();
    options.quick = quick;
    options.only = asked.only;
    options.started = [](const validate::KernelCase& row) { tell("{} {} ...\n", row.kind, row.name); };
    const std::vector<validate::KernelRow> rows = validate::validate_kernels(options);
    if (json != "-") print_kernels(rows);
    if (!json.empty()) write_json(json_of_kernels(rows), json);
    if (!asked.errors.empty() && !work.interrupted()) write_file(asked.errors, validate::known_errors_text(rows));
    return say_stopped(work, rows.size());
}

}  // namespace

void add_validate(const Command& app, int& status) {
    const Command command = app.add_subcommand("validate", "published figures of real GPUs beside those of the model");
    struct Chosen {
        std::string table, json;
        bool quick = false;
        KernelsAsked kernels;
        SiliconChoice silicon;
    };
    auto chosen = std::make_shared<Chosen>();
    command.add_option(
        "TABLE", chosen->table,
        "one table: latency, rate, bandwidth, peak, sgemm, kernels, power, silicon or cluster; default: all but kernels and "
        "power");
    command.add_flag("--quick", chosen->quick, "the rows that take seconds");
    command.add_option("--json", chosen->json, "write the rows as JSON; '-' for stdout");
    std::vector<Option> of_kernels = {
        command.add_option("--only", chosen->kernels.only, "kernels: rows whose kind or name contains this"),
        command.add_option("--write-errors", chosen->kernels.errors,
                           "kernels: write each row's error as core/model/metrics/known_errors.cpp has it")};
    SiliconChoice& silicon = chosen->silicon;
    std::vector<Option> of_silicon = {
        command.add_option("--file", silicon.file, "silicon: these measurements instead of those in assets/silicon"),
        command.add_option("--gpu", silicon.gpu, "silicon: against this modelled GPU instead of the file's own"),
        command.add_flag("--fit", silicon.fit, "silicon: propose figures of the GPU's row that come nearer (takes long)"),
        command.add_option("--figure", silicon.figures, "silicon, --fit: only this figure of the row; may be given again"),
        command.add_option("--threads", silicon.threads, "silicon: kernels that run side by side; default: all cores")
            .between(1, 256),
        command.add_flag("--again", silicon.again, "silicon: run kernels again that this program has run before")};
    command.callback([chosen, of_silicon, of_kernels, &status] {
        std::vector<std::string> known = validate::tables();
        known.emplace_back("cluster");
        known.emplace_back("kernels");
        known.emplace_back("power");
        if (!chosen->table.empty() && std::find(known.begin(), known.end(), chosen->table) == known.end())
            throw Failure(fmt::format("unknown table '{}'; there are {}", chosen->table, fmt::join(known, ", ")));
        if (!chosen->silicon.gpu.empty()) model::gpu_named(chosen->silicon.gpu).value();
        if (chosen->table != "silicon")
            for (const Option& option : of_silicon)
                if (option.given()) throw Failure(option.name() + " is for the table silicon");
        if (chosen->table != "kernels")
            for (const Option& option : of_kernels)
                if (option.given()) throw Failure(option.name() + " is for the table kernels");
        if (!chosen->silicon.figures.empty() && !chosen->silicon.fit) throw Failure("--figure needs --fit");
        chosen->silicon.json = chosen->json;
        if (chosen->table == "silicon" && validate_silicon(chosen->silicon)) return;
        if (chosen->table == "kernels") {
            status = validate_kernels(chosen->kernels, chosen->quick, chosen->json);
            return;
        }
        LongWork work("validate");
        work.keep_looking();
        validate::Options options;
        options.stop = work.token();
        options.table = chosen->table;
        options.quick = chosen->quick;
        options.started = [](std::string_view row) { tell("{} ...\n", row); };
        validate::Report report;
        if (options.table == "power")
            report = validate::power_report();
        else if (options.table != "cluster")
            report = validate::validate(options).value();
        if (!work.interrupted() && (options.table.empty() || options.table == "cluster")) {
            const validate::Report cluster = parallel::cluster_report(options);
            report.rows.insert(report.rows.end(), cluster.rows.begin(), cluster.rows.end());
            report.remarks.insert(report.remarks.end(), cluster.remarks.begin(), cluster.remarks.end());
        }
        if (chosen->json != "-") print(report);
        if (!chosen->json.empty()) write_json(json_of(report), chosen->json);
        status = say_stopped(work, report.rows.size());
    });
}

}  // namespace lockstep::cli
