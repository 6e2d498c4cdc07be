// conversion := "%" flag* [ width ] [ "." precision ] [ "hh" | "h" | "l" | "ll" | "z" | "j" | "t" ] letter
// width, precision := number | "*";   flag := "-" | "+" | " " | "#" | "0"
// Each conversion is handed on to the C library with its argument; what is no conversion is shown as it stands.
#include "core/simt/memory/device_printf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace lockstep::simt {

namespace {

constexpr int widest = 4096;  // of a width or precision: what is asked for beyond is cut

struct Conversion {
    std::string flags;
    std::optional<int> width, precision;
    int bytes = 4;    // of an integer argument
    int shorter = 0;  // 1: h, 2: hh
    char letter = 0;
};

class Formatter {
  public:
    Formatter(std::string_view format, const std::function<std::optional<uint64_t>(uint64_t, uint32_t)>& argument,
              const std::function<std::optional<std::string>(uint64_t)>& string)
        : format_(format), argument_(argument), string_(string) {}

    Formatted run() {
        while (at_ < format_.size() && out_.problem.empty()) {
            const size_t percent = std::min(format_.find('%', at_), format_.size());
            out_.text.append(format_.substr(at_, percent - at_));
            at_ = percent;
            if (at_ < format_.size()) convert();
        }
        return std::move(out_);
    }

  private:
    char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

    uint64_t take(uint32_t bytes) {
        if (!out_.problem.empty()) return 0;
        if (out_.arguments >= most_printf_arguments) {
            out_.problem = "printf takes at most 32 arguments besides its format";
            return 0;
        }
        offset_ = (offset_ + bytes - 1) / bytes * bytes;
        const std::optional<uint64_t> value = argument_(offset_, bytes);
        if (!value) {
            out_.problem = "printf cannot read argument " + std::to_string(out_.arguments + 1) + " that its format asks for";
            return 0;
        }
        offset_ += bytes;
        ++out_.arguments;
        return *value;
    }

    std::optional<int> number(bool& given) {
        given = false;
        if (peek() == '*') {
            ++at_;
            given = true;
            return static_cast<int32_t>(static_cast<uint32_t>(take(4)));
        }
        int value = 0;
        while (peek() >= '0' && peek() <= '9') {
            value = std::min(value * 10 + (peek() - '0'), widest);
            ++at_;
            given = true;
        }
        if (!given) return std::nullopt;
        return value;
    }

    void convert() {
        const size_t start = at_++;
        Conversion c;
        bool given = false;
        while (std::strchr("-+ #0", peek()) && peek()) {
            if (c.flags.find(peek()) == std::string::npos) c.flags += peek();
            ++at_;
        }
        c.width = number(given);
        if (c.width && *c.width < 0) {
            c.flags += '-';
            c.width = *c.width <= -widest ? widest : -*c.width;
        }
        if (c.width) c.width = std::min(*c.width, widest);
        bool unknown = false;  // what the device's printf does not know it prints as it stands (an H200 with CUDA 13.0)
        if (peek() == '.') {
            ++at_;
            unknown = peek() == '*';
            at_ += unknown ? 1 : 0;
            c.precision = number(given);
            if (!given) c.precision = 0;
            if (*c.precision < 0) c.precision.reset();
            if (c.precision) c.precision = std::min(*c.precision, widest);
        }
        for (; peek() == 'h' || peek() == 'l' || peek() == 'z' || peek() == 'j' || peek() == 't'; ++at_) {
            unknown |= peek() == 'z' || peek() == 'j' || peek() == 't';
            if (peek() == 'h')
                c.shorter = std::min(c.shorter + 1, 2);
            else
                c.bytes = 8;
        }
        c.letter = peek();
        if (at_ < format_.size()) ++at_;
        const std::string_view written = format_.substr(start, at_ - start);
        if (unknown)
            out_.text.append(written);
        else
            show(c, written);
    }

    template <class T>
    void hand_on(const Conversion& c, const char* length, T value) {
        std::string spec = "%" + c.flags;
        if (c.width) spec += std::to_string(*c.width);
        if (c.precision) spec += "." + std::to_string(*c.precision);
        spec += length;
        spec += c.letter;
        char small[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        const int needed = std::snprintf(small, sizeof small, spec.c_str(), value);
        if (needed < 0) return;
        if (static_cast<size_t>(needed) < sizeof small) {
            out_.text.append(small, static_cast<size_t>(needed));
            return;
        }
        std::string large(static_cast<size_t>(needed) + 1, '\0');
        std::snprintf(large.data(), large.size(), spec.c_str(), value);
#pragma GCC diagnostic pop
        large.pop_back();
        out_.text += large;
    }

    void show_text(const Conversion& c, std::string text) {
        if (c.precision) text.resize(std::min(text.size(), static_cast<size_t>(*c.precision)));
        const size_t width = c.width ? static_cast<size_t>(*c.width) : 0;
        const std::string padding(width > text.size() ? width - text.size() : 0, ' ');
        const bool left = c.flags.find('-') != std::string::npos;
        out_.text += left ? text + padding : padding + text;
    }

    void show(const Conversion& c, std::string_view written) {
        if (!out_.problem.empty()) return;
        switch (c.letter) {
            case '%':
                out_.text += '%';
                return;
            case 'd':
            case 'i': {
                const uint64_t raw = take(static_cast<uint32_t>(c.bytes));
                const auto word = static_cast<int32_t>(static_cast<uint32_t>(raw));
                const long long value = c.bytes == 8     ? static_cast<long long>(raw)
                                        : c.shorter == 2 ? static_cast<int8_t>(word)
                                        : c.shorter == 1 ? static_cast<int16_t>(word)
                                                         : word;
                if (out_.problem.empty()) hand_on(c, "ll", value);
                return;
            }
            case 'u':
            case 'x':
            case 'X':
            case 'o': {
                const uint64_t raw = take(static_cast<uint32_t>(c.bytes));
                const unsigned long long value = c.bytes == 8     ? raw
                                                 : c.shorter == 2 ? raw & 0xff
                                                 : c.shorter == 1 ? raw & 0xffff
                                                                  : raw & 0xffffffffu;
                if (out_.problem.empty()) hand_on(c, "ll", value);
                return;
            }
            case 'c': {
                const auto letter = static_cast<char>(take(4));
                if (out_.problem.empty()) show_text(c, std::string(1, letter));
                return;
            }
            case 'e':
            case 'E':
            case 'f':
            case 'F':
            case 'g':
            case 'G':
            case 'a':
            case 'A': {
                const uint64_t raw = take(8);
                double value;
                std::memcpy(&value, &raw, 8);
                if (out_.problem.empty()) hand_on(c, "", value);
                return;
            }
            case 'p': {
                const uint64_t raw = take(8);
                char text[24];
                std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(raw));
                if (out_.problem.empty()) show_text({c.flags, c.width, {}, 4, 0, 'p'}, raw ? text : "(nil)");
                return;
            }
            case 's': {
                const uint64_t address = take(8);
                if (!out_.problem.empty()) return;
                const std::optional<std::string> text = address ? string_(address) : "(null)";
                if (text)
                    show_text(c, *text);
                else
                    out_.problem = "printf cannot read the string of argument " + std::to_string(out_.arguments);
                return;
            }
            default:
                out_.text.append(written);
        }
    }

    std::string_view format_;
    const std::function<std::optional<uint64_t>(uint64_t, uint32_t)>& argument_;
    const std::function<std::optional<std::string>(uint64_t)>& string_;
    Formatted out_;
    size_t at_ = 0;
    uint64_t offset_ = 0;
};

}  // namespace

Formatted format_printf(std::string_view format, const std::function<std::optional<uint64_t>(uint64_t, uint32_t)>& argument,
                        const std::function<std::optional<std::string>(uint64_t)>& string) {
    return Formatter(format, argument, string).run();
}

}  // namespace lockstep::simt
