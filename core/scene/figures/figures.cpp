#include "core/scene/figures/figures.h"

#include <algorithm>
#include <cmath>

#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {

std::optional<Diagnostic> wrong_place(const FigureText& row, const FigureName& name) {
    for (const FigureName::Place& place : name.places) {
        const size_t at = (" " + std::string(row.places) + " ").find(" " + place.kind + " ");
        if (at != std::string::npos && !place.kind.empty()) continue;
        return Diagnostic{
            row.places.empty()
                ? fmt::format("'{}' stands alone: there is no {}@{}:", row.name, row.name, place.kind)
                : fmt::format("'{}' has no @{}: what may stand behind it is {}", row.name, place.kind, row.places)};
    }
    return std::nullopt;
}

Diagnostic unknown_figure(const FigureName& name, std::string_view of, const std::vector<FigureText>& rows,
                          const std::vector<std::string>& more) {
    std::vector<std::string> known = more;
    for (const FigureText& row : rows) known.emplace_back(row.name);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return Diagnostic{fmt::format("unknown figure '{}' of {}{}", name.text, of, did_you_mean(name.base, known))};
}

const std::vector<FigureKind>& figure_kinds() {
    static const std::vector<FigureKind> kinds = [] {
        std::vector<FigureKind> all = {{"kernel", kernel_figures()},   {"host", host_figures()},
                                       {"tape", tape_figures()},       {"training", training_figures()},
                                       {"cheaper", cheaper_figures()}, {"step", step_figures()},
                                       {"model", model_figures()},     {"rows", shared_row_figures()}};
        for (const ParallelKind& kind : parallel_kinds()) all.push_back({kind.name, kind.figures()});
        return all;
    }();
    return kinds;
}

Result<double> gpu_figure(const model::GpuSpec& gpu, std::string_view name) {
    std::vector<std::string> known;
    for (const model::SpecFigure& figure : model::figures_of(gpu)) {
        if (figure.name == name) return figure.value;
        known.emplace_back(figure.name);
    }
    return Diagnostic{fmt::format("a GPU's row has no figure '{}'{}", name, did_you_mean(name, known))};
}

std::optional<Result<double>> figure_without_scene(const FigureName& name) {
    if (!name.base.starts_with("gpu.") || name.place("gpu").empty()) return figure_of_named_model(name);
    const Result<model::GpuSpec> gpu = model::gpu_named(name.place("gpu"));
    if (!gpu) return gpu.error();
    return gpu_figure(gpu.value(), name.base.substr(4));
}

Result<double> figure_of(const SceneResult& result, const FigureName& name) {
    if (std::optional<Result<double>> known = figure_without_scene(name)) return *known;
    return std::visit([&](const auto& run) { return figure_of(*run, name); }, result.of);
}

double element_of(const Array& array, size_t i) {
    switch (array.dtype) {
        case DType::i8:
            return array.as<int8_t>()[i];
        case DType::u8:
            return array.as<uint8_t>()[i];
        case DType::i16:
            return array.as<int16_t>()[i];
        case DType::u16:
            return array.as<uint16_t>()[i];
        case DType::f16:
            return f16_to_f32(array.as<uint16_t>()[i]);
        case DType::bf16:
            return bf16_to_f32(array.as<uint16_t>()[i]);
        case DType::i32:
            return array.as<int32_t>()[i];
        case DType::u32:
            return array.as<uint32_t>()[i];
        case DType::f32:
            return array.as<float>()[i];
        case DType::i64:
            return static_cast<double>(array.as<int64_t>()[i]);
        case DType::u64:
            return static_cast<double>(array.as<uint64_t>()[i]);
        case DType::f64:
            return array.as<double>()[i];
    }
    return std::nan("");
}

}  // namespace lockstep::scene
