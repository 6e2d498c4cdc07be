// Either a value or the one Diagnostic that says why there is none.
#pragma once
#include <utility>
#include <variant>

#include "core/base/diagnostic.h"

namespace lockstep {

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : either_(std::in_place_index<0>, std::move(value)) {}
    Result(Diagnostic diagnostic) : either_(std::in_place_index<1>, std::move(diagnostic)) {}

    bool ok() const { return either_.index() == 0; }
    explicit operator bool() const { return ok(); }

    // The value; throws Failure with the diagnostic where there is none.
    T& value() & {
        if (!ok()) throw Failure(std::get<1>(either_));
        return std::get<0>(either_);
    }
    const T& value() const& {
        if (!ok()) throw Failure(std::get<1>(either_));
        return std::get<0>(either_);
    }
    // By value, so that `for (x : f().value())` does not outlive what it walks over.
    T value() && {
        if (!ok()) throw Failure(std::get<1>(either_));
        return std::move(std::get<0>(either_));
    }
    const Diagnostic& error() const { return std::get<1>(either_); }

  private:
    std::variant<T, Diagnostic> either_;
};

}  // namespace lockstep
