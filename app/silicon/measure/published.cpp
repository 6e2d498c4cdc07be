// The part published: the kernels of `lockstep validate kernels` on this GPU, whole, in the sizes in which others measured
// them on theirs. A row that is many GPUs' is measured once. Its name is the case's without the GPU.
#include "core/validate/published/published.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/silicon/measure/parts.h"

namespace lockstep::device {
namespace {

using validate::KernelCase;

// Of the two blocks an SM that a case may ask for: so much dynamic shared memory lets no third one in.
constexpr uint32_t half_of_shared = 100 * 1024;

PackArgument pack_argument(const validate::Argument& argument) {
    using Kind = validate::Argument::Kind;
    switch (argument.kind) {
        case Kind::i32:
            return {PackArgument::Kind::whole, DType::i32, argument.whole};
        case Kind::i64:
            return {PackArgument::Kind::whole, DType::i64, argument.whole};
        case Kind::f32:
            return {PackArgument::Kind::real, DType::f32, 0, 0, argument.real};
        case Kind::f64:
            return {PackArgument::Kind::real, DType::f64, 0, 0, argument.real};
        case Kind::zeros:
            return {PackArgument::Kind::zeros, DType::i32, (argument.whole + 3) / 4};
        default:
            return {PackArgument::Kind::indices, DType::i32, (argument.whole + 3) / 4, 0, 4294967296.0};
    }
}

// The files outlive the rows, which hold views of their names.
std::string_view kept(std::string name) {
    static std::vector<std::unique_ptr<std::string>> names;
    for (const auto& it : names)
        if (*it == name) return *it;
    return *names.emplace_back(std::make_unique<std::string>(std::move(name)));
}

PackRow product_row(const validate::Product& product, bool small) {
    const uint32_t m = small ? product.tile_rows : product.m, n = small ? product.tile_columns : product.n,
                   k = small ? std::min(product.k, 32u) : product.k;
    const DType type = product.halves ? DType::f16 : DType::f32;
    const auto number = [](uint32_t value) { return PackArgument{PackArgument::Kind::whole, DType::i32, value}; };
    const auto matrix = [type](uint32_t rows, uint32_t columns) {
        return PackArgument{PackArgument::Kind::reals, type, int64_t{rows} * columns};
    };
    const PackArgument one{PackArgument::Kind::real, DType::f32, 0, 0, 1},
        none{PackArgument::Kind::real, DType::f32, 0, 0, 0};
    const uint32_t down = m / product.tile_rows, across = n / product.tile_columns;
    PackRow row{.file = kept(fmt::format("{}/ptx/{}.ptx", product.folder, product.file)),
                .kernel = product.kernel,
                .grid = product.rows_first ? simt::Dim3{down, across} : simt::Dim3{across, down},
                .block = product.block,
                .arguments = {number(m), number(n), number(k), one, matrix(m, k), number(k), matrix(k, n), number(n), none,
                              matrix(m, n), number(n)}};
    const size_t taken = pack_program(row.file, row.kernel)->program->parameters.size();
    row.arguments.resize(std::min(row.arguments.size(), taken));
    return row;
}

std::vector<PackRow> rows_of(const KernelCase& it, uint32_t sms, bool small) {
    if (it.product) return {product_row(*it.product, small)};
    std::vector<PackRow> rows;
    for (const validate::Launch& launch : it.launches(small ? std::min(it.length, it.at) : it.length, sms)) {
        PackRow row{.file = kept(fmt::format("kernels/published/ptx/{}.ptx", launch.file)),
                    .kernel = launch.kernel,
                    .grid = launch.grid,
                    .block = launch.block,
                    .dynamic_shared = launch.blocks_per_sm == 2 ? std::max(launch.shared, half_of_shared) : launch.shared};
        for (const validate::Argument& argument : launch.arguments) row.arguments.push_back(pack_argument(argument));
        const size_t taken = pack_program(row.file, row.kernel)->program->parameters.size();
        row.arguments.resize(std::min(row.arguments.size(), taken));
        rows.push_back(std::move(row));
    }
    return rows;
}

constexpr int64_t small_bytes = 48 << 20;  // of the buffers that a small row may have

int64_t bytes_of(const std::vector<PackRow>& rows) {
    int64_t bytes = 0;
    for (const PackRow& row : rows)
        for (const PackArgument& it : row.arguments)
            if (it.kind != PackArgument::Kind::whole && it.kind != PackArgument::Kind::real)
                bytes += it.count * static_cast<int64_t>(size_of(it.type));
    return bytes;
}

}  // namespace

std::vector<PackRow> published_pack(uint32_t sms, bool small) {
    std::vector<PackRow> pack;
    std::vector<std::string_view> kinds;
    for (const KernelCase& it : validate::kernel_cases()) {
        if (small && std::find(kinds.begin(), kinds.end(), it.kind) != kinds.end()) continue;
        const std::string plain = it.name.substr(it.name.find('/') + 1);
        std::vector<PackRow> rows = rows_of(it, sms, small);
        if (small && bytes_of(rows) > small_bytes) continue;
        kinds.push_back(it.kind);
        for (size_t i = 0; i < rows.size(); ++i) {
            rows[i].name = i == 0 ? plain : fmt::format("{} {}", plain, rows[i].kernel);
            const auto known =
                std::find_if(pack.begin(), pack.end(), [&](const PackRow& of) { return of.name == rows[i].name; });
            if (known == pack.end()) pack.push_back(std::move(rows[i]));
        }
    }
    return pack;
}

}  // namespace lockstep::device
