// A kernel's case is made from the texts of its row, as kernel.h says.
#include "core/device/kernels/kernel_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/base/rng.h"

namespace lockstep::device::kernel_cases {

std::vector<std::byte> bytes_of(const Buffer& buffer) {
    std::vector<std::byte> bytes(buffer.values.size() * size_of(buffer.type));
    for (size_t i = 0; i < buffer.values.size(); ++i) {
        const auto store = [&](auto value) { std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value); };
        const double value = buffer.values[i];
        switch (buffer.type) {
            case DType::f64:
                store(value);
                break;
            case DType::f32:
                store(static_cast<float>(value));
                break;
            case DType::f16:
                store(f32_to_f16(static_cast<float>(value)));
                break;
            case DType::bf16:
                store(f32_to_bf16(static_cast<float>(value)));
                break;
            case DType::i64:
                store(static_cast<int64_t>(value));
                break;
            case DType::i32:
                store(static_cast<int32_t>(value));
                break;
            case DType::u8:
                store(static_cast<uint8_t>(value));
                break;
            default:
                throw std::logic_error("no such buffer");
        }
    }
    return bytes;
}

std::vector<double> values_of(const std::vector<std::byte>& bytes, DType type) {
    std::vector<double> values(bytes.size() / size_of(type));
    for (size_t i = 0; i < values.size(); ++i) {
        const auto load = [&](auto value) {
            std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
            return value;
        };
        values[i] = type == DType::f64    ? load(double{})
                    : type == DType::f32  ? load(float{})
                    : type == DType::f16  ? f16_to_f32(load(uint16_t{}))
                    : type == DType::bf16 ? bf16_to_f32(load(uint16_t{}))
                    : type == DType::i64  ? static_cast<double>(load(int64_t{}))
                    : type == DType::i32  ? load(int32_t{})
                                          : load(uint8_t{});
    }
    return values;
}

namespace {
// Puts a case together from its row: first all numbers, then the buffers, whose extents and values are told by those.
class CaseMaker {
  public:
    CaseMaker(const KernelRow& row, Shape shape, uint64_t seed) : row_(row), rng_(seed) {
        numbers_ = {{"@m", double(shape.m)}, {"@n", double(shape.n)}, {"@k", double(shape.k)}};
    }

    KernelCase make() {
        KernelCase made{.kernel = std::string(row_.name)};
        const Signature signature = signature_of(*row_.kernel);
        find_numbers(signature);
        for (const Parameter& parameter : signature.parameters) {
            if (parameter.kind == Parameter::Kind::number) {
                made.arguments.push_back(argument_of(parameter));
                continue;
            }
            made.arguments.push_back(Pointer{buffers_.size()});
            buffers_.push_back({type_of(parameter, row_.type), {}});
            names_.push_back(parameter.name);
            buffers_.back().values.resize(
                size_t(std::max(1.0, value_of(parameter.extents))));  // a buffer that is not used is there
            fill(buffers_.back(), parameter);
        }
        made.buffers = std::move(buffers_);
        set_launch(made);
        made.exact = row_.kernel->agreement == Agreement::to_the_bit;
        if (!made.exact)
            made.tolerance = row_.type == DType::f64    ? 1e-13
                             : row_.type == DType::f16  ? 2e-3
                             : row_.type == DType::bf16 ? 1.6e-2
                                                        : 1e-5;
        return made;
    }

  private:
    [[noreturn]] void fail(std::string_view what, std::string_view text) const {
        throw std::logic_error(fmt::format("the row of {} has no {} '{}'", row_.base, what, text));
    }
    double value_of(std::string_view expression) const {
        const std::optional<double> value = product_of(expression, numbers_);
        if (!value) fail("numbers for", expression);
        return *value;
    }

    // In any order: a number's expression may name those behind it.
    void find_numbers(const Signature& signature) {
        std::vector<const Parameter*> unknown;
        for (const std::vector<Parameter>* part : {&signature.locals, &signature.parameters})
            for (const Parameter& parameter : *part)
                if (parameter.kind == Parameter::Kind::number) unknown.push_back(&parameter);
        while (!unknown.empty()) {
            const size_t found = std::erase_if(unknown, [&](const Parameter* parameter) {
                const std::optional<double> value = product_of(text_of_number(*parameter), numbers_);
                if (value) numbers_.push_back({parameter->name, *value});
                return value.has_value();
            });
            if (found == 0) fail("number", unknown.front()->name);
        }
    }
    static std::string_view text_of_number(const Parameter& parameter) {
        if (!parameter.value.empty()) return parameter.value;
        constexpr std::pair<std::string_view, std::string_view> usual[] = {
            {"rows", "@m"}, {"columns", "@n"}, {"n", "@m*@n"}};
        for (const auto& [name, text] : usual)
            if (name == parameter.name) return text;
        return parameter.name;  // which is no number yet, and so the mistake that is told
    }
    Argument argument_of(const Parameter& parameter) const {
        const std::string_view text = text_of_number(parameter);
        const double value = value_of(text);
        switch (type_of(parameter, row_.type)) {
            case DType::f64:
                return value;
            case DType::f32:
                return static_cast<float>(value);
            case DType::i64: {
                int64_t whole = 0;  // a double holds no seed of 64 bits
                std::from_chars(text.data(), text.data() + text.size(), whole);
                return whole;
            }
            case DType::u32:
                return static_cast<uint32_t>(value);
            default:
                return static_cast<int32_t>(value);
        }
    }

    void fill(Buffer& buffer, const Parameter& parameter) {
        const bool whole = buffer.type == DType::i64 || buffer.type == DType::i32 || buffer.type == DType::u8;
        if (parameter.kind == Parameter::Kind::written)
            return buffer.values.assign(buffer.values.size(), 77);  // what the kernel must overwrite
        if (parameter.value.empty()) return draw(buffer, whole ? 0 : -2, whole ? 100 : 2, whole);
        const std::string_view text = parameter.value;
        if (text.front() == '=') return buffer.values.assign(buffer.values.size(), value_of(text.substr(1)));
        const size_t colon = text.find(':'), dots = text.find("..");
        if (dots == std::string_view::npos) return fill_by_name(buffer, text.substr(0, colon), text.substr(colon + 1));
        const size_t comma = std::min(text.find(',', dots), text.size());
        const std::string_view plant = text.substr(std::min(comma + 1, text.size()));
        draw(buffer, value_of(text.substr(0, dots)), value_of(text.substr(dots + 2, comma - dots - 2)),
             whole || plant == "whole");
        // What is planted is not in every case: kernels that look for it are seen without it, too.
        std::vector<double>& values = buffer.values;
        if (plant == "zero")
            values[0] = 0;
        else if ((plant == "nan" || plant == "infinite") && values.size() > 5 && values.size() % 2 == 1)
            values[5] = plant == "nan" ? NAN : INFINITY;
    }
    void draw(Buffer& buffer, double low, double high, bool whole) {
        for (double& value : buffer.values)
            value = whole ? low + double(rng_.below(static_cast<uint64_t>(high - low))) : rng_.uniform(low, high);
    }

    void fill_by_name(Buffer& buffer, std::string_view kind, std::string_view text) {
        std::vector<double>& values = buffer.values;
        if (kind == "next" || kind == "first") {  // chains of equal numbers in another buffer
            const auto other = std::find(names_.begin(), names_.end(), text);
            if (other == names_.end()) fail("buffer", text);
            const std::vector<double>& index = buffers_[size_t(other - names_.begin())].values;
            std::fill(values.begin(), values.end(), kind == "next" ? -1 : 1);
            for (size_t i = 0; i < index.size(); ++i) {
                const auto next = std::find(index.begin() + std::ptrdiff_t(i) + 1, index.end(), index[i]);
                if (next == index.end()) continue;
                const auto place = size_t(next - index.begin());
                kind == "next" ? values[i] = double(place) : values[place] = 0;
            }
        } else if (kind == "starts") {  // of compressed rows, of which the second is empty
            const double count = value_of(text), rows = double(values.size()) - 1;
            for (size_t i = 0; i < values.size(); ++i) values[i] = std::floor(count * double(i) / rows);
            if (values.size() > 3) values[2] = values[1];
        } else if (kind == "squares") {  // sums of squares of so many numbers between -2 and 2, in parts
            draw(buffer, 0.5 * value_of(text), 1.5 * value_of(text), false);
        } else if (kind == "settings") {  // OptimizerSettings (kernels/include/optimizer.h) in the middle of a training run
            const size_t first = std::min(text.find(','), text.size()),
                         second = std::min(text.find(',', first + 1), text.size());
            const auto part = [&](size_t from, size_t to) {
                return from >= text.size() ? 0.0 : value_of(text.substr(from, to - from));
            };
            const double clip = rng_.uniform(0.1, 1), step = part(0, first), skip = part(first + 1, second),
                         good_steps = text.size() > second ? part(second + 1, text.size()) : 2;
            values = {0.1, 0.9,  0.1,  1,    0.05, 0.9,  0.99, 1e-8,       0.02, clip, 1,    2, 0.5,
                      3,   step, 0.81, 0.98, 0.19, 0.14, 1024, good_steps, 5,    0.01, skip, 3, 1};
        } else {
            fail("way to draw", kind);
        }
    }

    void set_launch(KernelCase& made) const {
        const std::string_view text = row_.kernel->launch;
        const size_t open = text.find('(');
        const std::string_view form = text.substr(0, open);
        std::vector<uint32_t> numbers;
        std::string_view rest = text.substr(open + 1, text.size() - open - 2);
        for (size_t depth = 0, begin = 0, i = 0; i <= rest.size(); ++i) {
            const char c = i < rest.size() ? rest[i] : ',';
            depth += (c == '(') - (c == ')');
            if (c != ',' || depth > 0) continue;
            numbers.push_back(static_cast<uint32_t>(value_of(rest.substr(begin, i - begin))));
            begin = i + 1;
        }
        const auto cover = [](uint32_t count, uint32_t size) { return (count + size - 1) / size; };
        const size_t given = numbers.size();
        if (form == "threads" && given == 1)
            made.grid = {cover(numbers[0], 256)}, made.block = {256};
        else if (form == "warps" && given == 1)
            made.grid = {cover(numbers[0], 4)}, made.block = {128};
        else if (form == "blocks" && given == 1)
            made.grid = {numbers[0]}, made.block = {256};
        else if (form == "tiles" && (given == 2 || given == 3))
            made.grid = {cover(numbers[0], 16), cover(numbers[1], 16), given == 3 ? numbers[2] : 1}, made.block = {16, 16};
        else if (form == "grid" && given == 5)
            made.grid = {numbers[0], numbers[1], numbers[2]}, made.block = {numbers[3], numbers[4]};
        else
            fail("launch", text);
    }

    const KernelRow& row_;
    Rng rng_;
    std::vector<NamedNumber> numbers_;
    std::vector<std::string_view> names_;  // of the buffers so far
    std::vector<Buffer> buffers_;
};
}  // namespace

KernelCase case_of(const KernelRow& row, Shape shape, uint64_t seed) {
    return CaseMaker(row, shape, seed).make();
}

std::vector<std::vector<std::byte>> run_bytes(Device& device, const KernelCase& kernel_case) {
    std::vector<Pointer> pointers;
    std::vector<std::vector<std::byte>> after;
    try {
        for (const Buffer& buffer : kernel_case.buffers) {
            const auto bytes = bytes_of(buffer);
            pointers.push_back(device.allocate(bytes.size(), "buffer " + std::to_string(pointers.size())));
            device.copy_in(pointers.back(), bytes.data(), bytes.size());
        }
        LaunchRequest request{.kernel = kernel_case.kernel,
                              .grid = kernel_case.grid,
                              .block = kernel_case.block,
                              .arguments = kernel_case.arguments};
        for (Argument& argument : request.arguments)
            if (const auto* index = std::get_if<Pointer>(&argument)) argument = pointers[index->address];
        device.launch(request);
        for (size_t i = 0; i < pointers.size(); ++i) {
            const Buffer& buffer = kernel_case.buffers[i];
            after.emplace_back(buffer.values.size() * size_of(buffer.type));
            device.copy_out(after.back().data(), pointers[i], after.back().size());
        }
    } catch (...) {
        for (const Pointer pointer : pointers) try {
                device.release(pointer);
            } catch (const Failure&) {  // a device that failed keeps its memory
            }
        throw;
    }
    for (const Pointer pointer : pointers) device.release(pointer);
    return after;
}
Values run_case(Device& device, const KernelCase& kernel_case) {
    const auto bytes = run_bytes(device, kernel_case);
    Values after;
    for (size_t i = 0; i < bytes.size(); ++i) after.push_back(values_of(bytes[i], kernel_case.buffers[i].type));
    return after;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0, largest = 1e-300;
    for (size_t i = 0; i < a.size(); ++i) {
        if (std::abs(a[i]) > largest && std::isfinite(a[i])) largest = std::abs(a[i]);
        if (std::bit_cast<uint64_t>(a[i]) == std::bit_cast<uint64_t>(b[i])) continue;
        const double apart = std::abs(a[i] - b[i]);
        if (!(apart <= worst)) worst = apart;
    }
    return std::isnan(worst) ? INFINITY : worst / largest;
}

}  // namespace lockstep::device::kernel_cases
