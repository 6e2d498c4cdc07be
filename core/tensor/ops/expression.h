// Variables that add and multiply, for a row's `differentiate`: each operator records an op, named as the gradient is.
//     return d * (1 - y * y);
#pragma once
#include <string>

#include "core/tensor/tape.h"

namespace lockstep::tensor {

class Expression {
  public:
    Expression(Tape& tape, Variable variable, NodeName name)
        : tape_(&tape), variable_(std::move(variable)), name_(std::move(name)) {}

    const Variable& variable() const { return variable_; }
    Expression through(std::string_view op, const Attributes& attributes = {}) const;  // an op of one input, by its name
    Expression operator-() const { return through("neg"); }
    friend Expression operator+(const Expression& a, const Expression& b) { return a.with("add", b); }
    friend Expression operator-(const Expression& a, const Expression& b) { return a.with("sub", b); }
    friend Expression operator*(const Expression& a, const Expression& b) { return a.with("mul", b); }
    friend Expression operator/(const Expression& a, const Expression& b) { return a.with("div", b); }
    friend Expression operator+(double a, const Expression& b) { return b.scaled(1, a); }
    friend Expression operator-(double a, const Expression& b) { return b.scaled(-1, a); }
    friend Expression operator-(const Expression& a, double b) { return a.scaled(1, -b); }
    friend Expression operator*(double a, const Expression& b) { return b.scaled(a, 0); }
    Expression with(std::string_view op, const Expression& other) const;

  private:
    Expression scaled(double factor, double add) const { return through("affine", {.alpha = factor, .beta = add}); }

    Tape* tape_;
    Variable variable_;
    NodeName name_;
};

inline Expression inside(const Expression& x, double low, double high) {  // 1 in [low, high], else 0
    return x.through("inside", {.alpha = low, .beta = high});
}
inline Expression power(const Expression& x, double exponent) {
    return x.through("pow_scalar", {.alpha = exponent});
}

}  // namespace lockstep::tensor
