// Which rows are measured, and what the report sums up.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/validate/published/published.h"

namespace lockstep::validate {

namespace {

// These kernels only judge: no figure of the model was or will be chosen by them. The other half may speak for a mechanism.
constexpr std::string_view judging_kernels[] = {"stencil_5",
                                                "read_tiles",
                                                "climb_f32_40",
                                                "climb_f32_128",
                                                "climb_f64_8",
                                                "root_f64",
                                                "add_2",
                                                "add_4",
                                                "multiply_f16",
                                                "multiply_packs_f32",
                                                "multiply_packs_f16",
                                                "copy_4",
                                                "copy_8",
                                                "gather_four",
                                                "sum_strided",
                                                "sum_sequential",
                                                "sum_last_warp",
                                                "sum_shuffles",
                                                "sum_packs",
                                                "sum_strided_atomic",
                                                "sum_one_load_last_warp_atomic",
                                                "sum_last_warp_atomic",
                                                "gemv_16",
                                                "gemv_128",
                                                "softmax_warp_128",
                                                "softmax_warp_512",
                                                "softmax_shuffles",
                                                "scan_tiles_shuffles",
                                                "transpose_writes_together",
                                                "dot_half_pair",
                                                "histogram_shared_packs",
                                                "guarded_tile",
                                                "guarded_squares",
                                                "guarded_squares_vectors",
                                                "guarded_wmma_vectors",
                                                "squares_4",
                                                "squares_8_rows_first",
                                                "sgemm_shared_tile",
                                                "sgemm_square_tile",
                                                "sgemm_warp_tile",
                                                "gemv_32",
                                                "transpose_reads_together",
                                                "sum_divergent",
                                                "scan_tiles_shared",
                                                "softmax_thread"};

}  // namespace

std::string_view kernel_of(const KernelCase& row) {
    return row.product ? row.product->kernel : row.launches(row.at, 1).front().kernel;
}

bool only_judges(const KernelCase& row) {
    return std::find(std::begin(judging_kernels), std::end(judging_kernels), kernel_of(row)) != std::end(judging_kernels);
}

std::span<const KernelCase> kernel_cases() {
    static const std::vector<KernelCase> all = [] {
        std::vector<KernelCase> rows;
        for (const auto& part : {stream_cases(), cache_cases(), reduction_cases(), product_cases()})
            rows.insert(rows.end(), part.begin(), part.end());
        return rows;
    }();
    return all;
}

std::vector<KernelRow> validate_kernels(const KernelOptions& options) {
    std::vector<KernelRow> rows;
    Programs programs;
    for (const KernelCase& row : kernel_cases()) {
        if (options.quick && !row.quick) continue;
        if (row.kind.find(options.only) == std::string_view::npos && row.name.find(options.only) == std::string::npos)
            continue;
        if (options.stop.stop_requested()) break;
        if (options.started) options.started(row);
        rows.push_back(measure_kernel(row, programs));
    }
    return rows;
}

std::vector<std::string_view> kinds_of(std::span<const KernelRow> rows) {
    std::vector<std::string_view> kinds;
    for (const KernelRow& row : rows)
        if (std::find(kinds.begin(), kinds.end(), row.of->kind) == kinds.end()) kinds.push_back(row.of->kind);
    return kinds;
}

KernelTotal total_of_kernels(std::span<const KernelRow> rows, std::string_view kind, bool judging) {
    KernelTotal total;
    std::vector<double> sizes;
    for (const KernelRow& row : rows) {
        if (row.of->figure != Kind::predicted || (judging && !only_judges(*row.of)) ||
            (!kind.empty() && row.of->kind != kind))
            continue;
        const double size = std::abs(row.error);
        sizes.push_back(size);
        total.mean += size;
        if (!total.worst_row.empty() && size <= std::abs(total.worst)) continue;  // a NaN is the worst
        if (std::isnan(total.worst)) continue;
        total.worst = row.error;
        total.worst_row = row.of->name;
    }
    total.rows = sizes.size();
    if (sizes.empty()) return total;
    total.mean /= static_cast<double>(sizes.size());
    std::sort(sizes.begin(), sizes.end());
    const size_t half = sizes.size() / 2;
    total.median = sizes.size() % 2 == 1 ? sizes[half] : (sizes[half - 1] + sizes[half]) / 2;
    return total;
}

LadderOrder order_of(std::span<const KernelRow> rows) {
    LadderOrder order;
    for (size_t i = 0; i < rows.size(); ++i)
        for (size_t j = i + 1; j < rows.size(); ++j) {
            const KernelCase &a = *rows[i].of, &b = *rows[j].of;
            if (a.ladder.empty() || a.ladder != b.ladder || a.expected == b.expected) continue;
            ++order.pairs;
            if ((a.expected < b.expected) == (rows[i].got < rows[j].got)) continue;
            order.wrong.push_back(fmt::format("{}: {} and {}", a.ladder, a.name, b.name));
        }
    return order;
}

std::string known_errors_text(std::span<const KernelRow> rows) {
    std::string text =
        "// Written by `lockstep validate kernels --write-errors`: how far each kernel's simulated time was from the "
        "measured one.\n"
        "#include \"core/model/metrics/bound.h\"\n\nnamespace lockstep::model {\n\n"
        "std::span<const KnownError> known_errors() {\n    static constexpr KnownError errors[] = {\n";
    for (const KernelRow& row : rows)
        text += fmt::format("        {{\"{}\", Bound::{}, {:.3f}, {}}},\n", row.of->name, model::name_of(row.bound),
                            row.error, row.of->figure == Kind::predicted);
    return text + "    };\n    return errors;\n}\n\n}  // namespace lockstep::model\n";
}

}  // namespace lockstep::validate
