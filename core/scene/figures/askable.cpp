#include "core/scene/figures/askable.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/scene/host/host_program.h"
#include "core/scene/tape/tape_program.h"
#include "core/scene/training/cheaper_runs.h"

namespace lockstep::scene {
namespace {

bool is_metric(std::string_view name) {
    static const std::vector<model::MetricRow> rows = model::metric_rows();
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name || row.nsight == name; });
}

bool has_kind(const AskableFigures& askable, std::string_view kind) {
    return std::find(askable.kinds.begin(), askable.kinds.end(), kind) != askable.kinds.end();
}

AskableFigures of_host(const SceneHome& home, const Scene& scene) {
    AskableFigures askable{"a host program", {"host"}};
    const Result<std::string> text = read_text(home.folder / scene.host, 1 << 20);
    const Result<HostText> program = text ? parse_host(text.value(), scene.host) : Result<HostText>(text.error());
    askable.any_name = !program.ok();
    if (program)
        for (const HostArray& array : program.value().arrays) askable.names.push_back(array.name);
    return askable;
}

AskableFigures of_tape(const SceneHome& home, const Scene& scene) {
    AskableFigures askable{"a tensor program", {"tape", "step"}, true};
    const Result<std::string> text = read_text(home.folder / scene.tape, 1 << 20);
    const Result<TapeText> program = text ? parse_tape(text.value(), scene.tape) : Result<TapeText>(text.error());
    askable.any_name = !program.ok();
    if (!program) return askable;
    for (const TapeLeaf& leaf : program.value().leaves) askable.names.push_back(leaf.name);
    for (const TapeStatement& statement : program.value().statements) askable.names.push_back(statement.name);
    return askable;
}

AskableFigures of_training(const SceneHome& home, const Scene& scene) {
    AskableFigures askable{"training", {"training", "step"}, true};
    const bool file = is_engine_program(scene.train);
    const Result<std::string> text = file ? read_text(home.folder / scene.train, 1 << 20) : Result<std::string>(scene.train);
    if (!text || is_cheaper(text.value())) askable.kinds.insert(askable.kinds.begin(), "cheaper");
    return askable;
}

}  // namespace

AskableFigures askable_figures(const SceneHome& home, const Scene& scene) {
    if (!scene.host.empty()) return of_host(home, scene);
    if (!scene.tape.empty()) return of_tape(home, scene);
    if (!scene.train.empty()) return of_training(home, scene);
    if (!scene.parallel_kind.empty()) return {"rows of many ranks", {scene.parallel_kind, "rows"}};
    return {"a kernel's run", {"kernel"}, true};
}

std::optional<Diagnostic> refusal_of(const AskableFigures& askable, const FigureName& asked) {
    const FigureName name = has_kind(askable, "rows") ? asked.without("row") : asked;
    if (name.base.starts_with("gpu.") && (!name.place("gpu").empty() || has_kind(askable, "kernel"))) {
        const Result<model::GpuSpec> gpu = model::gpu_named(name.place("gpu").empty() ? "v100" : name.place("gpu"));
        if (!gpu) return gpu.error();
        const Result<double> figure = gpu_figure(gpu.value(), name.base.substr(4));
        return figure ? std::optional<Diagnostic>() : figure.error();
    }
    if (name.base.starts_with("model.") && !name.place("model").empty()) {
        const std::vector<FigureText> known = model_figures();
        return row_named(known, name.base) ? std::optional<Diagnostic>() : unknown_figure(name, "a model", known);
    }
    const bool of_launch = has_kind(askable, "step") && !name.place("launch").empty();
    std::vector<FigureText> rows;
    for (const FigureKind& kind : figure_kinds())
        if (has_kind(askable, kind.name)) rows.insert(rows.end(), kind.rows.begin(), kind.rows.end());
    const bool element = name.indexed() && (!has_kind(askable, "kernel") || !name.base.starts_with("output"));
    const FigureText* row = element ? nullptr : row_named(rows, name.base);
    if (row && !of_launch && name.place("gpu").empty() && !(askable.metrics && is_metric(name.base)))
        return wrong_place(*row, name);
    if (row || (askable.metrics && !name.indexed() && is_metric(name.base))) return std::nullopt;
    const std::string own = name.base.substr(name.base.starts_with("d.") ? 2 : 0);
    const bool tape = has_kind(askable, "tape");
    if (tape && name.base.starts_with("hessian.")) return std::nullopt;
    if ((tape || element) &&
        (askable.any_name || std::find(askable.names.begin(), askable.names.end(), own) != askable.names.end()))
        return std::nullopt;
    std::vector<std::string> more = askable.names;
    if (askable.metrics)
        for (const model::MetricRow& metric : model::metric_rows()) more.emplace_back(metric.name);
    return unknown_figure(name, askable.of, rows, more);
}

}  // namespace lockstep::scene
