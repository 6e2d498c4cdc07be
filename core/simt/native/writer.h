// Text in LLVM's language, line by line: let("add i32 %v1, 3") gives the name of the new value. A warp's values are written
// as two halves of 16 lanes, or as one number for a half whose lanes all hold it: `lanes` is 16 or 1, and type(lanes, "i32")
// is "<16 x i32>" or "i32". Internal to core/simt/native.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace lockstep::simt {

constexpr int half_lanes = 16;

class Writer {
  public:
    std::string fresh() { return fmt::format("%v{}", next_++); }
    std::string fresh_label() { return fmt::format("b{}", next_++); }
    template <class... Args>
    std::string let(fmt::format_string<Args...> text, Args&&... args) {
        const std::string name = fresh();
        *out_ += "  " + name + " = " + fmt::format(text, std::forward<Args>(args)...) + "\n";
        return name;
    }
    template <class... Args>
    void line(fmt::format_string<Args...> text, Args&&... args) {
        *out_ += "  " + fmt::format(text, std::forward<Args>(args)...) + "\n";
    }
    void label(const std::string& name) { *out_ += name + ":\n"; }
    // Where lines go from here on; the place before.
    std::string* to(std::string* out) { return std::exchange(out_, out); }

    static std::string type(int lanes, const std::string& lane) {
        return lanes == 1 ? lane : fmt::format("<{} x {}>", lanes, lane);
    }
    // The same number in all lanes; of floats by their bits, see from_bits.
    static std::string number(int lanes, const std::string& lane, uint64_t value) {
        const auto one = static_cast<int64_t>(value);
        if (lanes == 1) return std::to_string(one);
        std::string all = "<";
        for (int i = 0; i < lanes; ++i) all += fmt::format("{}{} {}", i ? ", " : "", lane, one);
        return all + ">";
    }
    // start, start + step ...
    static std::string ramp(int lanes, const std::string& lane, uint64_t step) {
        std::string all = "<";
        for (int i = 0; i < lanes; ++i)
            all += fmt::format("{}{} {}", i ? ", " : "", lane, static_cast<int64_t>(step * static_cast<uint64_t>(i)));
        return all + ">";
    }
    std::string splat(const std::string& lane, const std::string& value) {
        const std::string t = type(half_lanes, lane);
        const std::string one = let("insertelement {} undef, {} {}, i32 0", t, lane, value);
        return let("shufflevector {} {}, {} undef, <16 x i32> zeroinitializer", t, one, t);
    }
    std::string cast(const char* how, const std::string& from, const std::string& value, const std::string& to) {
        return let("{} {} {} to {}", how, from, value, to);
    }

  private:
    uint64_t next_ = 0;
    std::string* out_ = nullptr;
};

}  // namespace lockstep::simt
