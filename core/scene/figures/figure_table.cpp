#include "core/scene/figures/figure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "core/comm/network/timing.h"
#include "core/scene/cluster/parallel_scene.h"
#include "core/scene/run.h"
#include "core/scene/training/training_runs.h"

namespace lockstep::scene {
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
                                              {"time_us", "time", "µs"},
                                              {"bus_gigabytes", "bus bandwidth", "GB/s"}};
constexpr TableColumn training_columns[] = {{"steps", "steps", "done"},
                                            {"seen", "records seen", ""},
                                            {"repeated", "seen again", ""},
                                            {"loss", "loss", ""},
                                            {"losses_off", "losses off", "relative"},
                                            {"weights_off", "weights off", ""},
                                            {"step_us", "step time", "µs, derived"},
                                            {"bytes_sent", "sent a rank", "B"},
                                            {"weights", "weights", "B"},
                                            {"gradients", "gradients", "B"},
                                            {"optimizer", "optimiser", "B"},
                                            {"activations", "activations", "B"},
                                            {"bubble_of_total", "bubble", "% of total", 100}};
constexpr TableColumn server_columns[] = {  // where a row trains asynchronously
    {"steps", "batches", "a worker"},
    {"run_us", "whole run", "µs, derived"},
    {"waits", "waits", "% of the time", 100},
    {"updates", "updates", ""},
    {"stale_updates", "of them stale", ""},
    {"staleness", "staleness", "on average"},
    {"most_stale", "staleness", "at most"},
    {"loss", "last loss", ""},
    {"seen", "records seen", ""},
    {"bytes_sent", "sent a batch", "B"}};
constexpr TableColumn plan_columns[] = {{"gpus", "GPUs", ""},
                                        {"tflops", "a GPU", "TFLOP/s"},
                                        {"mfu", "MFU", "%", 100},
                                        {"step_us", "step", "s", 1e-6},
                                        {"run_days", "whole run", "days"},
                                        {"run_mwh", "whole run", "MWh"},
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
    std::string_view one;
};
const TableKind table_kinds[] = {
    {"schedule", "Pipeline schedules", "simulated", schedule_columns, "pipeline schedule"},
    {"collective", "Collectives", "simulated", collective_columns, "collective"},
    {"parallel", "Training on many ranks", "executed, times derived", training_columns, "training run"},
    {"plan", "Plans", "derived", plan_columns, "plan"},
    {"mesh", "Layouts on a mesh", "executed", mesh_columns, "layout"}};

struct StackPart {  // a figure, or a share of the step that is a figure
    std::string_view figure, name;
};
constexpr StackPart memory_parts[] = {{"weights", "weights"},
                                      {"gradients", "gradients"},
                                      {"optimizer", "optimiser"},
                                      {"activations", "activations"},
                                      {"buffers", "buffers"}};
constexpr StackPart plan_time_parts[] = {{"share.forward", "forward"},
                                         {"share.backward", "backward"},
                                         {"share.recompute", "recompute"},
                                         {"share.tensor", "tensor parallel"},
                                         {"share.context", "context parallel"},
                                         {"share.data", "data parallel"},
                                         {"share.update", "update"},
                                         {"share.bubble", "bubble"}};

double row_figure(const ParallelRow& row, std::string_view figure) {
    const auto found = row.figures.find(std::string(figure));
    return found == row.figures.end() || !(found->second > 1e-9) ? 0 : found->second;  // less is rounding
}

// Without parts of which no row has anything; no stack at all where nothing is left.
void add_stack(FigureTable& table, FigureStack stack) {
    for (size_t part = stack.parts.size(); part-- > 0;) {
        if (std::any_of(stack.rows.begin(), stack.rows.end(), [&](const auto& row) { return row[part] > 0; })) continue;
        stack.parts.erase(stack.parts.begin() + static_cast<std::ptrdiff_t>(part));
        for (auto& row : stack.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(part));
    }
    if (!stack.parts.empty()) table.stacks.push_back(std::move(stack));
}

// Of training on many ranks: what rank 0 sends in its last step, by purpose.
void add_sent(FigureTable& table, const ParallelScene& scene) {
    static constexpr std::string_view prefix = "bytes@purpose:";
    FigureStack sent{"Sent by rank 0 in its last step", "B", "executed", {}, {}, {}, {}};
    for (const ParallelRow& row : scene.rows)
        for (const auto& [figure, bytes] : row.figures)
            if (figure.starts_with(prefix) && figure.find('@', prefix.size()) == std::string::npos) {
                std::string part = "sent: " + figure.substr(prefix.size());
                if (std::find(sent.parts.begin(), sent.parts.end(), part) == sent.parts.end())
                    sent.parts.push_back(std::move(part));
            }
    for (const ParallelRow& row : scene.rows) {
        auto& bytes = sent.rows.emplace_back();
        for (const std::string& part : sent.parts)
            bytes.push_back(row_figure(row, std::string(prefix) + part.substr(std::string_view("sent: ").size())));
        sent.limits.push_back(0);
        sent.limits_of.emplace_back();
    }
    add_stack(table, std::move(sent));
}

// Of collectives whose rounds follow each other over links of their own: what the rounds cost before the first byte arrives,
// and what the bytes take.
void add_rounds(FigureTable& table, const ParallelScene& scene) {
    FigureStack time{"Time: the rounds' latency, and the bytes", "us", table.provenance, {"latency", "bytes"}, {}, {}, {}};
    for (const ParallelRow& row : scene.rows) {
        if (!row.collective || row.title == "own") return;
        const std::string& algorithm = row.collective->collective->algorithm;
        const auto topology = row.settings.find("topology");
        if (algorithm != "ring" && algorithm != "halving_doubling") return;
        if (topology != row.settings.end() && topology->second != "ideal") return;
        if (row.collective->collective->operation != "all_reduce") return;  // a broadcast's pieces overlap
        const double all = row_figure(row, "time_us");
        const double latency = std::min(all, row_figure(row, "rounds") * row_figure(row, "latency"));
        time.rows.push_back({latency, all - latency});
        time.limits.push_back(0);
        time.limits_of.emplace_back();
    }
    add_stack(table, std::move(time));
}

// Every row trains on one GPU: nobody has to be told from others by a rank.
bool trains_alone(const ParallelScene& scene) {
    return scene.kind == "parallel" && std::all_of(scene.rows.begin(), scene.rows.end(),
                                                   [](const ParallelRow& row) { return row_figure(row, "ranks") == 1; });
}

// Of plans of a whole run: what its energy goes into. A GPU that waits draws as much as one that computes, so that the
// step's shares are the energy's.
void add_energy(FigureTable& table, const ParallelScene& scene) {
    FigureStack energy{"Energy of the whole run", "MWh", "derived", {}, {}, {}, {}};
    for (const StackPart& part : plan_time_parts) energy.parts.emplace_back(part.name);
    for (const ParallelRow& row : scene.rows) {
        auto& parts = energy.rows.emplace_back();
        for (const StackPart& part : plan_time_parts)
            parts.push_back(row_figure(row, "run_mwh") * row_figure(row, part.figure));
        energy.limits.push_back(0);
        energy.limits_of.emplace_back();
    }
    add_stack(table, std::move(energy));
}

void add_stacks(FigureTable& table, const ParallelScene& scene) {
    if (scene.kind == "collective") return add_rounds(table, scene);
    const bool plans = scene.kind == "plan";
    if (!plans && scene.kind != "parallel") return;
    const bool alone = trains_alone(scene);
    const bool state = plans && std::all_of(scene.rows.begin(), scene.rows.end(),
                                            [](const ParallelRow& row) { return row.title == "state"; });
    const std::string_view whose = state   ? "State: weights, gradients, optimiser"
                                   : plans ? "Memory of the fullest GPU"
                                   : alone ? "Memory"
                                           : "Memory of rank 0",
                           when = plans   ? "Time of a step"
                                  : alone ? "Time of the last step"
                                          : "Time of rank 0's last step";
    FigureStack memory{std::string(whose), "B", plans ? table.provenance : std::string("executed"), {}, {}, {}, {}};
    FigureStack time{std::string(when), "us", "derived", {}, {}, {}, {}};
    for (const StackPart& part : memory_parts) memory.parts.emplace_back(part.name);
    if (plans)
        for (const StackPart& part : plan_time_parts) time.parts.emplace_back(part.name);
    else
        time.parts = {"computing", "gradients on their way", "everything else"};
    for (const ParallelRow& row : scene.rows) {
        const auto gpu = row.settings.find("gpu");
        std::string board = gpu == row.settings.end() ? "h100" : gpu->second;
        for (char& c : board)
            if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        auto& bytes = memory.rows.emplace_back();
        for (const StackPart& part : memory_parts) bytes.push_back(row_figure(row, part.figure));
        memory.limits.push_back(plans ? row_figure(row, "capacity") : 0);
        memory.limits_of.push_back(std::move(board));
        auto& phases = time.rows.emplace_back();
        const double step = row_figure(row, "step_us");
        if (plans) {
            for (const StackPart& part : plan_time_parts) phases.push_back(step * row_figure(row, part.figure));
        } else {
            const double computing = std::min(step, row_figure(row, "compute_us"));
            const double exposed = std::min(step - computing, row_figure(row, "exposed_us"));
            phases = {computing, exposed, step - computing - exposed};
        }
        time.limits.push_back(0);
        time.limits_of.emplace_back();
    }
    add_stack(table, std::move(memory));
    if (!plans) add_sent(table, scene);
    add_stack(table, std::move(time));
    if (plans) add_energy(table, scene);
    // What is the same in every row tells least.
    std::stable_partition(table.stacks.begin(), table.stacks.end(), [](const FigureStack& stack) {
        for (size_t row = 1; row < stack.rows.size(); ++row)
            if (std::fabs(stack.total(row) - stack.total(0)) > 1e-6 * std::fabs(stack.total(0))) return true;
        return false;
    });
}

void leave_out(FigureTable& table, size_t column) {
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (FigureRow& row : table.rows) row.values.erase(row.values.begin() + static_cast<std::ptrdiff_t>(column));
}

// Without the columns in which no row has anything but zeros.
void leave_out_empty(FigureTable& table) {
    for (size_t c = table.columns.size(); c-- > 0;)
        if (std::all_of(table.rows.begin(), table.rows.end(),
                        [&](const FigureRow& row) { return !(std::fabs(row.values[c]) > 0); }))
            leave_out(table, c);
}

// Of training: how far off losses and weights are says something of runs that train the same network on the same batches;
// and where there are many columns, that all took as many steps needs none.
void leave_out_alike(FigureTable& table, const ParallelScene& scene) {
    if (scene.rows.size() < 2) return;
    const auto batch = [](const ParallelRow& row) {
        const auto found = row.settings.find("batch");
        return found == row.settings.end() ? std::string() : found->second;
    };
    const ParallelRow& first = scene.rows.front();
    const bool same = std::all_of(scene.rows.begin(), scene.rows.end(), [&](const ParallelRow& row) {
        return batch(row) == batch(first) && (row.parameters.empty() || row.parameters.size() == first.parameters.size());
    });
    for (size_t c = table.columns.size(); c-- > 0;) {
        const std::string& title = table.columns[c].title;
        const bool compares = title == "losses off" || title == "weights off", steps = title == "steps";
        const bool equal = std::all_of(table.rows.begin(), table.rows.end(),
                                       [&](const FigureRow& row) { return row.values[c] == table.rows.front().values[c]; });
        if ((compares && !same) || (steps && equal && table.columns.size() > 6)) leave_out(table, c);
    }
}

std::shared_ptr<const FigureTable> table_of(const nn::Comparison& comparison) {
    auto table = std::make_shared<FigureTable>();
    table->title = fmt::format("{} of {}", comparison.method, comparison.model);
    if (!table->title.empty() && table->title[0] >= 'a' && table->title[0] <= 'z')
        table->title[0] = static_cast<char>(table->title[0] - 'a' + 'A');
    table->provenance = "executed";
    table->one = "training run";
    const bool share = !comparison.lower_is_better;
    table->columns = {
        {comparison.measure, share ? "%" : ""}, {"stored", "B"}, {"moved, " + comparison.moves, "B"}, {"operations", ""}};
    for (const nn::CheaperRow& row : comparison.rows)
        table->rows.push_back({row.method, {(share ? 100 : 1) * row.quality, row.bytes, row.moved, row.operations}});
    // How far seeds lie apart, where a row is the mean of several.
    for (const char* seed : {"worst seed", "best seed"}) {
        std::vector<double> values;
        for (const nn::CheaperRow& row : comparison.rows)
            for (const nn::Measure& measure : row.more)
                if (measure.name == seed) values.push_back(measure.value);
        if (values.size() != comparison.rows.size()) continue;
        table->columns.push_back({seed, share ? "%" : ""});
        for (size_t i = 0; i < values.size(); ++i) table->rows[i].values.push_back(values[i]);
    }
    return table;
}

}  // namespace

std::shared_ptr<const FigureTable> figure_table(const SceneResult& result) {
    if (const auto training = result.as<TrainingRuns>(); training && training->comparison)
        return table_of(*training->comparison);
    const auto scene = result.as<ParallelScene>();
    if (!scene) return nullptr;
    const auto kind = std::find_if(std::begin(table_kinds), std::end(table_kinds),
                                   [&](const TableKind& one) { return one.kind == scene->kind; });
    if (kind == std::end(table_kinds)) return nullptr;
    auto table = std::make_shared<FigureTable>();
    table->title = trains_alone(*scene) ? "Training runs" : std::string(kind->title);
    table->provenance = kind->provenance;
    table->one = kind->one;
    const bool server = std::any_of(scene->rows.begin(), scene->rows.end(),
                                    [](const ParallelRow& row) { return row.figures.count("most_stale") > 0; });
    const std::span<const TableColumn> columns = server ? std::span<const TableColumn>(server_columns) : kind->columns;
    for (const TableColumn& column : columns)
        table->columns.push_back({std::string(column.title), std::string(column.unit)});
    for (const ParallelRow& row : scene->rows) {
        FigureRow& shown = table->rows.emplace_back();
        shown.name = row.name;
        std::replace(shown.name.begin(), shown.name.end(), '_', ' ');
        for (const TableColumn& column : columns) {
            const auto found = row.figures.find(std::string(column.figure));
            double value =
                found == row.figures.end() ? std::numeric_limits<double>::quiet_NaN() : column.factor * found->second;
            if (column.figure == "rounds" && row.collective && row.collective->collective->operation == "broadcast" &&
                row.collective->collective->algorithm == "parameter_server")
                value = row_figure(row, "ranks") - 1;  // copies that go through one link, one after another
            shown.values.push_back(value);
        }
        if (!row.problem.empty() && table->note.empty())
            table->note = fmt::format("{}: after {} steps, {}.", shown.name, row.losses.size(), row.problem);
    }
    leave_out_empty(*table);
    if (scene->kind == "parallel") leave_out_alike(*table, *scene);
    add_stacks(*table, *scene);
    return table;
}

double FigureStack::total(size_t row) const {
    double sum = 0;
    if (row < rows.size())
        for (const double part : rows[row]) sum += part;
    return sum;
}

double FigureTable::over(size_t row) const {
    for (const FigureStack& stack : stacks)
        if (row < stack.limits.size() && stack.limits[row] > 0 && stack.total(row) > stack.limits[row])
            return stack.total(row) - stack.limits[row];
    return 0;
}

std::string figure_text(double value, const std::string& unit) {
    if (std::isnan(value)) return "-";
    if (unit == "B") {
        static constexpr std::pair<double, std::string_view> sizes[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
        for (const auto& [size, name] : sizes)
            if (std::fabs(value) >= size) return fmt::format("{:.4g} {}", value / size, name);
        return fmt::format("{:.0f} B", value);
    }
    if ((value == std::floor(value) || std::fabs(value) >= 1e4) && std::fabs(value) < 1e15) {
        std::string digits = fmt::format("{:.0f}", std::fabs(value));
        for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
        return (value < 0 ? "-" : "") + digits;
    }
    return fmt::format("{:.4g}", value);
}

}  // namespace lockstep::scene
