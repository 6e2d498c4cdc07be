#include "lessons/player/figure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "lessons/player/parallel_scene.h"
#include "lessons/player/run.h"
#include "lessons/player/training_runs.h"

namespace lockstep::lessons {
namespace {

struct TableColumn {  // of a kind of scene: the figure, how it is called, its unit and factor
    std::string_view figure, title, unit;
    double factor = 1;
};
constexpr TableColumn schedule_columns[] = {{"total", "time", "units"},
                                            {"bubble_of_total", "bubble", "% of total", 100},
                                            {"bubble_over_ideal", "bubble", "% over ideal", 100},
                                            {"idle_a_rank", "idle a rank", "units"},
                                            {"peak_activations", "kept at most", "micro-batches"},
                                            {"weight_versions", "weights", "versions"},
                                            {"messages", "messages", ""}};
constexpr TableColumn collective_columns[] = {{"rounds", "rounds", ""},
                                              {"bytes_per_rank", "sent a rank", "B"},
                                              {"received_per_rank", "received a rank", "B"},
                                              {"total_bytes", "all ranks send", "B"},
                                              {"fan_in", "fan-in", "messages"},
                                              {"time_us", "time", "us"},
                                              {"bus_gigabytes", "bus bandwidth", "GB/s"}};
constexpr TableColumn training_columns[] = {{"steps", "steps", "done"},
                                            {"seen", "records seen", ""},
                                            {"repeated", "seen again", ""},
                                            {"loss", "loss", ""},
                                            {"losses_off", "losses off", "relative"},
                                            {"weights_off", "weights off", ""},
                                            {"step_us", "step time", "us, derived"},
                                            {"bytes_sent", "sent a rank", "B"},
                                            {"weights", "weights", "B"},
                                            {"gradients", "gradients", "B"},
                                            {"optimizer", "optimiser", "B"},
                                            {"activations", "activations", "B"},
                                            {"bubble_of_total", "bubble", "% of total", 100}};
constexpr TableColumn plan_columns[] = {{"gpus", "GPUs", ""},
                                        {"tflops", "a GPU", "TFLOP/s"},
                                        {"mfu", "MFU", "%", 100},
                                        {"step_us", "step", "s", 1e-6},
                                        {"weights", "weights", "B"},
                                        {"gradients", "gradients", "B"},
                                        {"optimizer", "optimiser", "B"},
                                        {"activations", "activations", "B"},
                                        {"memory", "all memory", "B"},
                                        {"share.bubble", "bubble", "% of step", 100},
                                        {"share.tensor", "TP waits", "% of step", 100},
                                        {"megawatts", "power", "MW"}};
constexpr TableColumn mesh_columns[] = {
    {"devices", "devices", ""}, {"elements", "elements a device", ""}, {"bytes", "moved a device", "B"}};

struct TableKind {
    std::string_view kind, title, provenance;
    std::span<const TableColumn> columns;
};
const TableKind table_kinds[] = {{"schedule", "Pipeline schedules", "simulated", schedule_columns},
                                 {"collective", "Collectives", "simulated", collective_columns},
                                 {"parallel", "Training on many ranks", "executed", training_columns},
                                 {"plan", "Plans", "derived", plan_columns},
                                 {"mesh", "Layouts on a mesh", "executed", mesh_columns}};

// Without the columns in which no row has anything but zeros.
void leave_out_empty(FigureTable& table) {
    for (size_t c = table.columns.size(); c-- > 0;) {
        const bool empty = std::all_of(table.rows.begin(), table.rows.end(),
                                       [&](const FigureRow& row) { return !(std::fabs(row.values[c]) > 0); });
        if (!empty) continue;
        table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
        for (FigureRow& row : table.rows) row.values.erase(row.values.begin() + static_cast<std::ptrdiff_t>(c));
    }
}

std::shared_ptr<const FigureTable> table_of(const nn::Comparison& comparison) {
    auto table = std::make_shared<FigureTable>();
    table->title = fmt::format("{} of {}", comparison.method, comparison.model);
    if (!table->title.empty() && table->title[0] >= 'a' && table->title[0] <= 'z')
        table->title[0] = static_cast<char>(table->title[0] - 'a' + 'A');
    table->provenance = "executed";
    const bool share = !comparison.lower_is_better;
    table->columns = {
        {comparison.measure, share ? "%" : ""}, {"stored", "B"}, {"moved, " + comparison.moves, "B"}, {"operations", ""}};
    for (const nn::CheaperRow& row : comparison.rows)
        table->rows.push_back({row.method, {(share ? 100 : 1) * row.quality, row.bytes, row.moved, row.operations}});
    return table;
}

}  // namespace

std::shared_ptr<const FigureTable> figure_table(const SceneResult& result) {
    if (result.training && result.training->comparison) return table_of(*result.training->comparison);
    if (!result.parallel) return nullptr;
    const auto kind = std::find_if(std::begin(table_kinds), std::end(table_kinds),
                                   [&](const TableKind& one) { return one.kind == result.parallel->kind; });
    if (kind == std::end(table_kinds)) return nullptr;
    auto table = std::make_shared<FigureTable>();
    table->title = kind->title;
    table->provenance = kind->provenance;
    for (const TableColumn& column : kind->columns)
        table->columns.push_back({std::string(column.title), std::string(column.unit)});
    for (const ParallelRow& row : result.parallel->rows) {
        FigureRow& shown = table->rows.emplace_back();
        shown.name = row.name;
        std::replace(shown.name.begin(), shown.name.end(), '_', ' ');
        for (const TableColumn& column : kind->columns) {
            const auto found = row.figures.find(std::string(column.figure));
            shown.values.push_back(found == row.figures.end() ? std::numeric_limits<double>::quiet_NaN()
                                                              : column.factor * found->second);
        }
        if (!row.problem.empty() && table->note.empty())
            table->note = fmt::format("{}: after {} steps, {}.", shown.name, row.losses.size(), row.problem);
    }
    leave_out_empty(*table);
    return table;
}

std::string figure_text(double value, const std::string& unit) {
    if (std::isnan(value)) return "-";
    if (unit == "B") {
        static constexpr std::pair<double, std::string_view> sizes[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
        for (const auto& [size, name] : sizes)
            if (std::fabs(value) >= size) return fmt::format("{:.4g} {}", value / size, name);
        return fmt::format("{:.0f} B", value);
    }
    if (value == std::floor(value) && std::fabs(value) < 1e15) {
        std::string digits = fmt::format("{:.0f}", std::fabs(value));
        for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
        return (value < 0 ? "-" : "") + digits;
    }
    return fmt::format("{:.4g}", value);
}

}  // namespace lockstep::lessons
