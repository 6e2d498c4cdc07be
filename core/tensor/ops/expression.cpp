#include "core/tensor/ops/expression.h"

#include "core/tensor/ops.h"

namespace lockstep::tensor {

Expression Expression::through(std::string_view op, const Attributes& attributes) const {
    return {*tape_, tape_->apply(op_named(op), {variable_}, name_, attributes), name_};
}

Expression Expression::with(std::string_view op, const Expression& other) const {
    return {*tape_, tape_->apply(op_named(op), {variable_, other.variable_}, name_), name_};
}

}  // namespace lockstep::tensor
