// The rows of all families by name and element type, and what their extents say of a launch.
#include "core/device/kernels/kernel_library.h"

#include <fmt/format.h>

#include <stdexcept>
#include <type_traits>
#include <unordered_map>

#include "core/base/nearest.h"
#include "core/device/twins/twins.h"

namespace lockstep::device {

namespace {
constexpr std::pair<DType, Run Twins::*> types[] = {
    {DType::f32, &Twins::f32}, {DType::f64, &Twins::f64}, {DType::f16, &Twins::f16}, {DType::bf16, &Twins::bf16},
    {DType::i64, &Twins::i64}, {DType::i32, &Twins::i32}, {DType::u8, &Twins::u8}};

struct Library {
    std::vector<Kernel> kernels = twins::all_kernels();
    std::vector<std::string> names;
    std::vector<KernelRow> rows;
    std::unordered_map<std::string_view, const KernelRow*> by_name;

    Library() {
        names.reserve(kernels.size() * std::size(types)), rows.reserve(names.capacity());
        for (const Kernel& kernel : kernels)
            for (const auto& [type, twin] : types) {
                if (!(kernel.twins.*twin)) continue;
                const std::string& name = names.emplace_back(fmt::format("{}_{}", kernel.name, name_of(type)));
                rows.push_back({name, kernel.name, type, kernel.file, kernel.summary, &kernel, kernel.twins.*twin});
                if (!by_name.emplace(name, &rows.back()).second) throw std::logic_error("two rows for kernel " + name);
            }
    }
};
const Library& library() {
    static const Library it;
    return it;
}

double number_of(const Argument& argument) {
    return std::visit(
        [](auto value) {
            if constexpr (std::is_arithmetic_v<decltype(value)>)
                return static_cast<double>(value);
            else
                return 0.0;
        },
        argument);
}
}  // namespace

std::optional<int64_t> KernelRow::elements(size_t index, std::span<const Argument> arguments) const {
    const Signature signature = signature_of(*kernel);
    if (arguments.size() != signature.parameters.size()) return std::nullopt;
    std::vector<NamedNumber> numbers;
    for (size_t i = 0; i < arguments.size(); ++i)
        if (signature.parameters[i].kind == Parameter::Kind::number)
            numbers.push_back({signature.parameters[i].name, number_of(arguments[i])});
    const std::optional<double> count = product_of(signature.parameters.at(index).extents, numbers);
    return count ? std::optional(static_cast<int64_t>(*count)) : std::nullopt;
}

std::optional<int64_t> KernelRow::bytes(std::span<const Argument> arguments) const {
    const Signature signature = signature_of(*kernel);
    int64_t total = 0;
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
        const Parameter& parameter = signature.parameters[i];
        if (parameter.kind == Parameter::Kind::number) continue;
        const std::optional<int64_t> count = elements(i, arguments);
        if (!count) return std::nullopt;
        const int64_t ways = parameter.kind == Parameter::Kind::updated ? 2 : 1;
        total += ways * *count * static_cast<int64_t>(size_of(type_of(parameter, type)));
    }
    return total;
}

std::span<const KernelRow> kernels() {
    return library().rows;
}

const KernelRow& kernel_named(std::string_view name) {
    const auto found = library().by_name.find(name);
    if (found != library().by_name.end()) return *found->second;
    throw Failure(fmt::format("unknown kernel '{}'{}", name, did_you_mean(std::string(name), library().names)));
}

std::string_view typed_kernel(std::string_view base, DType type) {
    char name[96];
    const auto end = fmt::format_to_n(name, sizeof name, "{}_{}", base, name_of(type));
    const auto found = library().by_name.find({name, std::min(end.size, sizeof name)});
    if (found != library().by_name.end()) return found->second->name;
    std::vector<std::string_view> types;
    for (const KernelRow& row : library().rows)
        if (row.base == base) types.push_back(name_of(row.type));
    throw Failure(types.empty() ? fmt::format("there is no kernel '{}'", base)
                                : fmt::format("there is no kernel '{}' for {}: it takes {}", base, name_of(type),
                                              fmt::join(types, ", ")));
}

}  // namespace lockstep::device
