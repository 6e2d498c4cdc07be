#include "core/scene/arguments/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/units.h"
#include "core/scene/arguments/partial_outputs.h"
#include "core/scene/arguments/unset_symbols.h"
#include "core/simt/origins/lost_sums.h"
#include "core/simt/origins/odd_values.h"
#include "core/simt/origins/unset_registers.h"
#include "core/simt/origins/written_by.h"

namespace lockstep::scene {

static constexpr std::byte poison{0xCD};  // what out: buffers are filled with

bool is_unset(DType type, const std::byte* bytes) {
    return std::all_of(bytes, bytes + size_of(type), [](std::byte b) { return b == poison; });
}

namespace {

constexpr uint64_t most_looked_at = 3'000'000;  // warp instructions, one by one

bool is_fraction_type(DType type) {
    return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64;
}

double number_at(const Array& array, uint64_t i) {
    const auto as = [&](auto sample) {
        std::memcpy(&sample, array.bytes.data() + i * sizeof sample, sizeof sample);
        return sample;
    };
    switch (array.dtype) {
        case DType::i8:
            return as(int8_t{});
        case DType::u8:
            return as(uint8_t{});
        case DType::i16:
            return as(int16_t{});
        case DType::u16:
            return as(uint16_t{});
        case DType::f16:
            return static_cast<double>(f16_to_f32(as(uint16_t{})));
        case DType::bf16:
            return static_cast<double>(bf16_to_f32(as(uint16_t{})));
        case DType::i32:
            return as(int32_t{});
        case DType::u32:
            return as(uint32_t{});
        case DType::f32:
            return static_cast<double>(as(float{}));
        case DType::i64:
            return static_cast<double>(as(int64_t{}));
        case DType::u64:
            return static_cast<double>(as(uint64_t{}));
        case DType::f64:
            return as(double{});
    }
    return 0;
}

std::string value_at(const Array& array, uint64_t i) {
    const auto as = [&](auto sample) {
        std::memcpy(&sample, array.bytes.data() + i * sizeof sample, sizeof sample);
        return fmt::format("{}", sample);
    };
    if (array.dtype == DType::i64) return as(int64_t{});
    if (array.dtype == DType::u64) return as(uint64_t{});
    const double value = number_at(array, i);
    if (std::isnan(value)) return "nan";
    return is_fraction_type(array.dtype) ? fmt::format("{:.7g}", value) : fmt::format("{}", static_cast<int64_t>(value));
}

// "y[7]", "y[2,5]".
std::string element_name(const BoundArgument& argument, uint64_t i) {
    std::string place;
    uint64_t rest = i;
    for (size_t axis = argument.shape.size(); axis-- > 0;) {
        const auto extent = static_cast<uint64_t>(std::max<int64_t>(1, argument.shape[axis]));
        place = std::to_string(axis == 0 ? rest : rest % extent) + (place.empty() ? "" : "," + place);
        rest /= extent;
    }
    if (place.empty()) place = "0";
    return argument.name.find(' ') == std::string::npos ? argument.name + "[" + place + "]" : "element " + place;
}

std::string elements_text(uint64_t part, uint64_t all) {
    if (all == 1) return "the one element";
    if (part == all) return fmt::format("all {} elements", with_commas(static_cast<int64_t>(all)));
    return fmt::format("{} of {} elements", with_commas(static_cast<int64_t>(part)), with_commas(static_cast<int64_t>(all)));
}

std::string triple_text(const simt::Dim3& d) {
    return fmt::format("({},{},{})", d.x, d.y, d.z);
}
std::string place_text(const simt::Fault& place) {
    return fmt::format("{}:{}", place.file, place.line > 0 ? place.line : place.ptx_line);
}

std::vector<const BoundArgument*> outputs_of(const BoundArguments& bound) {
    std::vector<const BoundArgument*> found;
    for (const BoundArgument& argument : bound.arguments)
        if (argument.role == KernelArgument::Role::out || argument.role == KernelArgument::Role::inout)
            found.push_back(&argument);
    return found;
}

simt::Fault fault_about_outputs(const LaunchToLookAt& launch, const char* kind) {
    simt::Fault fault;
    fault.kind = kind;
    fault.kernel = launch.program.shown_name();
    fault.file = launch.program.source_file.empty() ? launch.program.ptx_file : launch.program.source_file;
    return fault;
}

bool can_run_again(const LaunchToLookAt& launch) {
    return launch.before && launch.warp_instructions <= LaunchToLookAt::most_instructions;
}

simt::LaunchOptions options_again(const LaunchToLookAt& launch) {
    simt::LaunchOptions options = launch.options;
    options.print = nullptr;
    options.progress = nullptr;
    options.max_instructions = 4 * LaunchToLookAt::most_instructions;
    return options;
}

bool looks_unwritten(const Array& array, uint64_t i) {
    const size_t size = size_of(array.dtype);
    const std::byte* const at = array.bytes.data() + i * size;
    return std::all_of(at, at + size, [](std::byte b) { return b == poison; });
}

// "232 of 1,000 elements of 'y' were never written, the first is y[768]: the grid has 768 threads".
std::optional<simt::Fault> never_written(const LaunchToLookAt& launch, const BoundArgument& argument, const Array& output) {
    const uint64_t count = output.count();
    std::vector<bool> unwritten(count, false);
    uint64_t left = 0;
    for (uint64_t i = 0; i < count; ++i)
        if (looks_unwritten(output, i)) unwritten[i] = true, ++left;
    if (left == 0) return std::nullopt;
    if (size_of(argument.type) < 4 || left < 4) {  // the values may be meant
        if (!launch.before || launch.warp_instructions > most_looked_at) return std::nullopt;
        const simt::MemoryRange range{argument.address, argument.bytes};
        const std::vector<bool> written =
            simt::written_bytes(launch.program, launch.config, *launch.before, options_again(launch), std::span(&range, 1));
        if (written.empty()) return std::nullopt;
        for (uint64_t i = 0; i < count; ++i)
            if (unwritten[i] && written[i * size_of(argument.type)]) unwritten[i] = false, --left;
        if (left == 0) return std::nullopt;
    }
    const auto first = static_cast<uint64_t>(std::find(unwritten.begin(), unwritten.end(), true) - unwritten.begin());
    const bool tail = left == count - first;
    if (left < count && tail && is_told_to_stop_at(launch.program, launch.config, first)) return std::nullopt;
    if (left < count && places_come_from_data(launch.program, launch.config, argument.address)) return std::nullopt;
    const uint64_t block = launch.config.block.count(), threads = launch.config.grid.count() * block;
    simt::Fault fault = fault_about_outputs(launch, "outputs");
    fault.warning = true;
    fault.allocation = argument.name;
    fault.offset = first * size_of(argument.type);
    fault.message = fmt::format("{} of '{}' {} never written", elements_text(left, count), argument.name,
                                left == 1 || count == 1 ? "was" : "were");
    if (left < count)
        fault.message += fmt::format(", {} {}", left == 1 ? "which is" : "the first is", element_name(argument, first));
    const uint64_t each = threads > 0 && first % threads == 0 ? first / threads : 0;  // elements that a thread writes
    if (tail && threads < count && each > 0) {
        fault.message += fmt::format(": the grid has {} threads{}", with_commas(static_cast<int64_t>(threads)),
                                     each > 1 ? fmt::format(", and each writes {}", each) : std::string());
        if (threads == first && launch.config.grid.y == 1 && launch.config.grid.z == 1)
            fault.advice = fmt::format("Launch {} blocks of {} threads: (n + {}) / {} for n elements.",
                                       (count + block - 1) / block, block, block - 1, block);
        else
            fault.advice = "Launch more threads, or let each thread take several elements in a loop.";
    } else if (left == count) {
        fault.advice = "Look whether any thread comes to a write of it, and whether it is the argument that was meant.";
    } else {
        uint64_t end = first;
        while (end < count && unwritten[end]) ++end;
        if (end - first > 1 && end < count)
            fault.message += fmt::format("; {} to {} are the first that are missing", element_name(argument, first),
                                         element_name(argument, end - 1));
        fault.advice = "Look at the index of the write, and at the condition in front of it.";
    }
    return fault;
}

constexpr size_t most_asked = 256;  // elements of an output

std::optional<simt::Fault> not_finite(const LaunchToLookAt& launch, const BoundArgument& argument, const Array& output) {
    std::vector<uint64_t> addresses, elements;
    uint64_t all = 0;
    const std::byte* const began = launch.before ? launch.before->read(argument.address, argument.bytes) : nullptr;
    const auto was_nonfinite = [&](uint64_t i) {
        const size_t size = size_of(argument.type);
        return began && !std::isfinite(number_at(
                            Array{argument.type, {}, std::vector<std::byte>(began + i * size, began + (i + 1) * size)}, 0));
    };
    for (uint64_t i = 0; i < output.count(); ++i) {
        if (std::isfinite(number_at(output, i))) continue;
        ++all;
        if (elements.size() == most_asked || was_nonfinite(i)) continue;
        elements.push_back(i);
        addresses.push_back(argument.address + i * size_of(argument.type));
    }
    if (elements.empty() || !can_run_again(launch)) return std::nullopt;  // it may have come from the inputs
    const ptx::Type type = argument.type == DType::f16    ? ptx::Type::f16
                           : argument.type == DType::bf16 ? ptx::Type::bf16
                           : argument.type == DType::f64  ? ptx::Type::f64
                                                          : ptx::Type::f32;
    const auto found =
        simt::first_nonfinite(launch.program, launch.config, *launch.before, options_again(launch), addresses, type);
    if (!found) return std::nullopt;
    const uint64_t element = elements[found->element];
    simt::Fault fault = found->by;
    fault.kind = "outputs";
    fault.warning = true;
    fault.allocation = argument.name;
    fault.offset = element * size_of(argument.type);
    fault.advice = found->advice;
    fault.message =
        fmt::format("{} of '{}' {} no finite number: {} is {}, made by thread {} of block {} at {}{}",
                    elements_text(all, output.count()), argument.name, all == 1 || output.count() == 1 ? "is" : "are",
                    element_name(argument, element), value_at(output, element), triple_text(fault.thread),
                    triple_text(fault.block), place_text(fault), found->how.empty() ? "" : " as " + found->how);
    return fault;
}

struct Tolerance {
    double relative = 0, absolute = 0;
};

// As what judges exercises has it: sums that are taken in another order are off by roundings of what they passed through.
Tolerance tolerance_of(const ExpectedValues& expected, DType type) {
    Tolerance tolerance;
    double of_largest = 1e-5;
    switch (type) {
        case DType::f32:
            tolerance.relative = 1e-5;
            break;
        case DType::f64:
            tolerance.relative = of_largest = 1e-12;
            break;
        case DType::f16:
            tolerance.relative = 2e-3;
            break;
        case DType::bf16:
            tolerance.relative = 2e-2;
            break;
        default:
            of_largest = 0;
    }
    double largest = 0;
    for (uint64_t i = 0; i < expected.values.count(); ++i)
        if (const double value = std::fabs(number_at(expected.values, i)); std::isfinite(value))
            largest = std::max(largest, value);
    tolerance.absolute = expected.relative ? 0 : of_largest * largest;
    if (expected.relative) tolerance.relative = *expected.relative;
    if (expected.absolute) tolerance.absolute = *expected.absolute;
    return tolerance;
}

// Infinite where one is a NaN, or an infinity of its own, and the other one is not.
double error_of(double got, double wanted) {
    if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return 0;
    return std::isfinite(got) && std::isfinite(wanted) ? std::fabs(got - wanted) : INFINITY;
}

}  // namespace

std::vector<simt::Fault> warnings_of_outputs(const LaunchToLookAt& launch) {
    std::vector<simt::Fault> found;
    const std::vector<const BoundArgument*> outputs = outputs_of(launch.bound);
    for (size_t k = 0; k < outputs.size() && k < launch.outputs.size(); ++k) {
        const Array& output = launch.outputs[k];
        if (output.bytes.size() != outputs[k]->bytes || output.count() == 0) continue;
        if (outputs[k]->role == KernelArgument::Role::out)
            if (auto fault = never_written(launch, *outputs[k], output)) found.push_back(std::move(*fault));
        if (is_fraction_type(output.dtype))
            if (auto fault = not_finite(launch, *outputs[k], output)) found.push_back(std::move(*fault));
    }
    return found;
}

namespace {
constexpr std::string_view nobody = "which nobody wrote";
}

std::string last_writer_text(const LaunchToLookAt& launch, size_t output, uint64_t element, simt::Fault* place) {
    const std::vector<const BoundArgument*> outputs = outputs_of(launch.bound);
    if (output >= outputs.size() || !can_run_again(launch)) return {};
    const size_t size = size_of(outputs[output]->type);
    const simt::MemoryRange range{outputs[output]->address + element * size, size};
    const std::vector<simt::Written> writers =
        simt::last_writers(launch.program, launch.config, *launch.before, options_again(launch), std::span(&range, 1));
    if (writers.empty()) return {};
    if (!writers[0].written) return std::string(nobody);
    if (place) *place = writers[0].by;
    return fmt::format("which thread {} of block {} wrote last at {}{}", triple_text(writers[0].by.thread),
                       triple_text(writers[0].by.block), place_text(writers[0].by),
                       writers[0].how.empty() ? "" : ", as " + writers[0].how);
}

std::vector<simt::Fault> compare_outputs(const LaunchToLookAt& launch, std::vector<Comparison>& comparisons) {
    constexpr size_t shown = 3;
    std::vector<simt::Fault> found;
    const std::vector<const BoundArgument*> outputs = outputs_of(launch.bound);
    for (size_t k = 0; k < outputs.size() && k < launch.outputs.size(); ++k) {
        const BoundArgument& argument = *outputs[k];
        if (!argument.expected) continue;
        const Array &got = launch.outputs[k], &wanted = argument.expected->values;
        const Tolerance tolerance = tolerance_of(*argument.expected, argument.type);
        Comparison comparison{argument.name, got.count(), 0, 0, 0, 0};
        std::vector<uint64_t> wrong;
        for (uint64_t i = 0; i < got.count() && i < wanted.count(); ++i) {
            const double b = number_at(wanted, i), error = error_of(number_at(got, i), b);
            if (error > comparison.largest_error) comparison.largest_error = error, comparison.largest_at = i;
            if (error <= tolerance.absolute + tolerance.relative * std::fabs(b)) continue;
            if (wrong.empty()) comparison.first_wrong = i;
            if (wrong.size() < shown) wrong.push_back(i);
            ++comparison.wrong;
        }
        comparisons.push_back(comparison);
        if (comparison.wrong == 0) continue;
        simt::Fault fault = fault_about_outputs(launch, "expected");
        std::string elements;
        for (const uint64_t i : wrong) {
            simt::Fault place = fault;
            const std::string writer = last_writer_text(launch, k, i, &place);
            if (i == wrong.front() && place.line + place.ptx_line > 0) fault = place;
            elements += elements.empty() ? ": " : "; ";
            elements += argument.role == KernelArgument::Role::out && writer == nobody
                            ? fmt::format("{}, {}, is {} there", element_name(argument, i), nobody, value_at(wanted, i))
                            : fmt::format("{} is {} and not {}{}", element_name(argument, i), value_at(got, i),
                                          value_at(wanted, i), writer.empty() ? "" : ", " + writer);
        }
        fault.kind = "expected";
        fault.allocation = argument.name;
        fault.offset = comparison.first_wrong * size_of(argument.type);
        const bool one = comparison.wrong == 1 || got.count() == 1;
        fault.message =
            fmt::format("{} of '{}' {} not as {} has {}{}", elements_text(comparison.wrong, got.count()), argument.name,
                        one ? "is" : "are", argument.expected->file, one ? "it" : "them", elements);
        const bool named = std::find(wrong.begin(), wrong.end(), comparison.largest_at) != wrong.end();
        if (comparison.wrong > wrong.size() && !(named && !std::isfinite(comparison.largest_error)))
            fault.message += std::isfinite(comparison.largest_error)
                                 ? fmt::format("; the largest error is {:.4g}, at {}", comparison.largest_error,
                                               element_name(argument, comparison.largest_at))
                                 : fmt::format("; {} is {}", element_name(argument, comparison.largest_at),
                                               value_at(got, comparison.largest_at));
        found.push_back(std::move(fault));
    }
    return found;
}

std::vector<simt::Fault> warnings_of_launch(const LaunchToLookAt& launch, const std::vector<std::string>& symbols,
                                            const std::string& source) {
    std::vector<std::string> set;
    for (const std::string& symbol : symbols) set.push_back(symbol.substr(0, symbol.find('=')));
    std::vector<simt::Fault> all = warnings_of_symbols(launch.program, set, source);
    const auto add = [&](std::vector<simt::Fault> found) {
        for (simt::Fault& warning : found) all.push_back(std::move(warning));
    };
    if (launch.before) {
        add(simt::odd_values(launch.program, launch.config, *launch.before, launch.options, launch.warp_instructions));
        add(simt::lost_sums(launch.program, launch.config, *launch.before, launch.options, launch.warp_instructions));
        add(simt::unset_registers(launch.program, launch.config, *launch.before, launch.options, launch.warp_instructions));
    }
    add(warnings_of_outputs(launch));
    return all;
}

}  // namespace lockstep::scene
