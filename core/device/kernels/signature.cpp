// Reads the texts of a kernel's row: its parameters, and the expressions in them. kernel.h has the grammar; each function
// below is one line of it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/device/kernels/kernel.h"

namespace lockstep::device {

namespace {

class ExpressionReader {
  public:
    ExpressionReader(std::string_view text, std::span<const NamedNumber> names) : text_(text), names_(names) {}

    // product = sum { "," sum }
    std::optional<double> product() {
        double value = sum();
        while (take(',')) value *= sum();
        if (at_ != text_.size()) fail();
        return known_ ? std::optional(value) : std::nullopt;
    }

  private:
    [[noreturn]] void fail() const {
        throw std::logic_error(fmt::format("'{}' in a kernel's row is no expression at column {}", text_, at_ + 1));
    }
    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    // sum = term { ( "+" | "-" ) term }
    double sum() {
        double value = term();
        while (true) {
            if (take('+'))
                value += term();
            else if (take('-'))
                value -= term();
            else
                return value;
        }
    }

    // term = factor { ( "*" | "/" | "%" ) factor }
    double term() {
        double value = factor();
        while (true) {
            if (take('*'))
                value *= factor();
            else if (take('/'))
                value = std::floor(value / factor());
            else if (take('%'))
                value = std::fmod(value, factor());
            else
                return value;
        }
    }

    // factor = "-" factor | "(" sum ")" | NUMBER | NAME [ "(" sum "," sum ")" ]
    double factor() {
        if (take('-')) return -factor();
        if (take('(')) {
            const double value = sum();
            if (!take(')')) fail();
            return value;
        }
        if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            double value = 0;
            at_ = static_cast<size_t>(std::from_chars(text_.data() + at_, text_.data() + text_.size(), value).ptr -
                                      text_.data());
            return value;
        }
        const std::string_view name = text_.substr(at_, text_.find_first_of("+-*/%(),", at_) - at_);
        if (name.empty()) fail();
        at_ += name.size();
        return take('(') ? call(name) : named(name);
    }

    double call(std::string_view name) {
        const double a = sum();
        if (!take(',')) fail();
        const double b = sum();
        if (!take(')') || (name != "min" && name != "cover")) fail();
        return name == "min" ? std::min(a, b) : std::ceil(a / b);
    }

    double named(std::string_view name) {
        for (const NamedNumber& number : names_)
            if (number.name == name) return number.value;
        known_ = false;
        return 1;
    }

    std::string_view text_;
    std::span<const NamedNumber> names_;
    size_t at_ = 0;
    bool known_ = true;
};

// The next word of `text`, which is taken off.
std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

Parameter parameter_of(std::string_view word) {
    Parameter parameter;
    if (word.front() == '>' || word.front() == '&') {
        parameter.kind = word.front() == '>' ? Parameter::Kind::written : Parameter::Kind::updated;
        word.remove_prefix(1);
    }
    const size_t name_end = std::min(word.find_first_of("[:={"), word.size());
    parameter.name = word.substr(0, name_end);
    word.remove_prefix(name_end);
    if (word.starts_with('[')) {
        if (parameter.kind == Parameter::Kind::number) parameter.kind = Parameter::Kind::read;
        const size_t close = word.find(']');
        parameter.extents = word.substr(1, close - 1);
        word.remove_prefix(std::min(close, word.size() - 1) + 1);
    }
    if (word.starts_with(':')) {
        parameter.type = word.substr(1, word.find_first_of("={") - 1);
        word.remove_prefix(parameter.type.size() + 1);
    }
    const bool buffer = parameter.kind != Parameter::Kind::number;
    if (word.size() > 2 && word.front() == '{' && word.back() == '}' && buffer)
        parameter.value = word.substr(1, word.size() - 2);
    else if (word.size() > 1 && word.front() == '=' && !buffer)
        parameter.value = word.substr(1);
    else if (!word.empty())
        throw std::logic_error(
            fmt::format("'{}' of parameter {} in a kernel's row is not understood", word, parameter.name));
    if (parameter.name.empty() || (buffer && parameter.extents.empty()))
        throw std::logic_error("a parameter in a kernel's row has no name, or a buffer no extents");
    return parameter;
}

}  // namespace

std::optional<double> product_of(std::string_view text, std::span<const NamedNumber> names) {
    return ExpressionReader(text, names).product();
}

DType type_of(const Parameter& parameter, DType row) {
    const bool number = parameter.kind == Parameter::Kind::number;
    if (parameter.type.empty()) return number ? DType::i32 : row;
    if (parameter.type == "sum") {
        if (row == DType::u8) return DType::u32;
        return row == DType::f16 || row == DType::bf16 ? DType::f32 : row;
    }
    const std::optional<DType> type = dtype_named(parameter.type);
    if (!type) throw std::logic_error(fmt::format("there is no type '{}' for {}", parameter.type, parameter.name));
    return *type;
}

Signature signature_of(const Kernel& kernel) {
    Signature signature;
    std::string_view text = kernel.parameters;
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        if (word == "|")
            signature.locals = std::exchange(signature.parameters, {});
        else
            signature.parameters.push_back(parameter_of(word));
    }
    return signature;
}

}  // namespace lockstep::device
