// A function is an op of the table of ops by its name; what is spelled otherwise here, or is more than one op, has a row of
// its own. Signs become ops as well; a number beside a tensor becomes a scale or an offset, not a tensor.
#include "core/scene/tape/tape_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"

namespace lockstep::scene {

namespace {

using Tensors = std::span<const tensor::Variable>;
using Numbers = std::span<const double>;

// What a function of a lesson does where it is not one call of the op that has its name.
struct FunctionRow {
    std::string_view name, op;
    void (*attributes)(tensor::Attributes& a) = nullptr;  // that the name says: causal_softmax
    // For several nodes, or other checks than the op's.
    tensor::Variable (*record)(tensor::Tape& tape, Tensors x, Numbers n, const std::string& name) = nullptr;
    size_t tensors = 0, most_tensors = 0, numbers = 0, most_numbers = 0;  // with `record`
};

// The product of matrices may take long on the modelled GPU: a lesson's are small.
void check_product(const tensor::Variable& a, const tensor::Variable& b, bool transposed) {
    if (a.shape().size() < 2 || b.shape().size() < 2) return;  // the op says what is wrong
    const double n = static_cast<double>(b.shape()[b.shape().size() - (transposed ? 2 : 1)]);
    if (static_cast<double>(a.value.count()) * n > 16e6) throw Failure("this product is larger than a lesson's may be");
}
template <bool transposed>
tensor::Variable product(tensor::Tape& tape, Tensors x, Numbers, const std::string& name) {
    check_product(x[0], x[1], transposed);
    return tensor::matmul(tape, x[0], x[1], name, transposed);
}
tensor::Variable linear(tensor::Tape& tape, Tensors x, Numbers n, const std::string& name) {  // x Wᵀ + b
    if (x.size() == 2) return product<true>(tape, x, n, name);
    return tensor::add_bias(tape, product<true>(tape, x, n, name + ".product"), x[2], name);
}
tensor::Variable transpose(tensor::Tape& tape, Tensors x, Numbers n, const std::string& name) {
    const bool given = n.size() == 2;
    return tensor::transpose(tape, x[0], given ? tensor::whole(n[0]) : -2, given ? tensor::whole(n[1]) : -1, name);
}
tensor::Variable row(tensor::Tape& tape, Tensors x, Numbers n, const std::string& name) {  // [T,N] -> [1,N]
    return tensor::slice(tape, x[0], 0, tensor::whole(n[0]), tensor::whole(n[0]) + 1, 1, name);
}
// x[N,C,...] in training; the number: how many parts of the batch are normalised by themselves.
tensor::Variable batch_norm(tensor::Tape& tape, Tensors x, Numbers n, const std::string& name) {
    const std::vector<double> zeros(static_cast<size_t>(x[1].value.count()), 0.0), ones(zeros.size(), 1.0);
    const auto running = [&](const std::vector<double>& values, const char* what) {
        return tape.input(tensor::tensor_from(tape.heap(), x[1].shape(), values, what, tensor::Purpose::data, x[0].dtype()),
                          what);
    };
    return tensor::batch_norm(tape, x[0], x[1], x[2], running(zeros, "running mean"), running(ones, "running variance"),
                              true, name, n.empty() ? 1 : tensor::whole(n[0]));
}
// x[..., T, D], pairs (i, i + D/2); the number is where it starts.
tensor::Variable rope(tensor::Tape& tape, Tensors x, Numbers n, const std::string& name) {
    const tensor::Shape& shape = x[0].shape();
    const int64_t start = n.empty() ? 0 : tensor::whole(n[0]);
    if (shape.size() < 2 || start < 0 || start > 4096) throw Failure("rope takes [..., T, D] and a start below 4096");
    const tensor::Tensor table =
        tensor::rope_table(tape.heap(), start + shape[shape.size() - 2], shape.back(), 10000, x[0].dtype(), "rope table");
    return tensor::rope(tape, x[0], tape.input(table, "rope table"), tensor::RopeLayout::half_split, -2, start, name);
}

constexpr FunctionRow function_rows[] = {
    {.name = "matmul", .record = product<false>, .tensors = 2, .most_tensors = 2},
    {.name = "matmul_t", .record = product<true>, .tensors = 2, .most_tensors = 2},  // a bᵀ
    {.name = "linear", .record = linear, .tensors = 2, .most_tensors = 3},
    {.name = "transpose", .record = transpose, .tensors = 1, .most_tensors = 1, .most_numbers = 2},
    {.name = "row", .record = row, .tensors = 1, .most_tensors = 1, .numbers = 1, .most_numbers = 1},
    {.name = "batch_norm", .record = batch_norm, .tensors = 3, .most_tensors = 3, .most_numbers = 1},
    {.name = "rope", .record = rope, .tensors = 1, .most_tensors = 1, .most_numbers = 1},
    {.name = "cross_entropy", .op = "softmax_cross_entropy"},
    {.name = "causal_softmax", .op = "softmax", .attributes = [](tensor::Attributes& a) { a.causal = true; }},
    {.name = "causal_attention", .op = "attention", .attributes = [](tensor::Attributes& a) { a.causal = true; }},
    {.name = "conv2d_im2col", .op = "conv2d", .attributes = [](tensor::Attributes& a) { a.mode = 1; }},
    {.name = "avg_pool", .op = "avg_pool2d"},
    {.name = "max_pool", .op = "max_pool2d"},
};

const FunctionRow* function_named(const std::string& name) {
    const auto* const found = std::find_if(std::begin(function_rows), std::end(function_rows),
                                           [&](const FunctionRow& row) { return row.name == name; });
    return found == std::end(function_rows) ? nullptr : found;
}
// The op that a function is a call of: by the table of functions or by its own name; null: there is none.
const tensor::OpRow* op_of(const std::string& name) {
    const FunctionRow* const function = function_named(name);
    const std::string_view op = function ? function->op : std::string_view(name);
    for (const tensor::OpRow& row : tensor::ops())
        if (row.name == op && row.numbers != tensor::not_from_text) return &row;
    return nullptr;
}

std::string times_text(size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

struct Operand {  // a number, or a tensor
    std::optional<double> number;
    tensor::Variable variable;
};

std::string short_name(const std::string& text) {
    return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

struct Recorder {
    tensor::Tape& tape;
    const Names& names;
    const OwnOps& own;
    std::string place = {};

    std::string named(const Term& part) const { return short_name(part.text) + place; }
    static double sign(Term::Kind kind, double a, double b) {
        switch (kind) {
            case Term::Kind::add:
                return a + b;
            case Term::Kind::subtract:
                return a - b;
            case Term::Kind::multiply:
                return a * b;
            case Term::Kind::divide:
                return a / b;
            default:
                return std::pow(a, b);
        }
    }

    tensor::Variable with_number(Term::Kind kind, const tensor::Variable& x, double number, bool number_first,
                                 const std::string& name) const {
        switch (kind) {
            case Term::Kind::add:
                return tensor::affine(tape, x, 1, number, name);
            case Term::Kind::subtract:
                return tensor::affine(tape, x, number_first ? -1 : 1, number_first ? number : -number, name);
            case Term::Kind::multiply:
                return tensor::affine(tape, x, number, 0, name);
            case Term::Kind::divide:
                if (!number_first) return tensor::affine(tape, x, 1 / number, 0, name);
                return tensor::affine(tape, tensor::unary(tape, "reciprocal", x, "1/" + name), number, 0, name);
            default:
                if (number_first) throw Failure("a power of a tensor has a number above: x^2");
                return number == 2 ? tensor::unary(tape, "square", x, name) : tensor::pow_scalar(tape, x, number, name);
        }
    }

    Operand term(const Term& t, const std::string& name) const {
        switch (t.kind) {
            case Term::Kind::number:
                return {t.number, {}};
            case Term::Kind::name: {
                const auto found = names.find(t.name);
                if (found != names.end()) return {{}, found->second};
                std::vector<std::string> known;
                for (const auto& [key, unused] : names) known.push_back(key);
                throw Failure(fmt::format("nothing is called '{}' here{}", t.name, did_you_mean(t.name, known, "")));
            }
            case Term::Kind::negate: {
                const Operand x = term(t.parts[0], named(t.parts[0]));
                if (x.number) return {-*x.number, {}};
                return {{}, tensor::unary(tape, "neg", x.variable, name)};
            }
            case Term::Kind::call:
                return {{}, call(t, name)};
            default:
                break;
        }
        const Operand a = term(t.parts[0], named(t.parts[0])), b = term(t.parts[1], named(t.parts[1]));
        if (a.number && b.number) return {sign(t.kind, *a.number, *b.number), {}};
        if (a.number) return {{}, with_number(t.kind, b.variable, *a.number, true, name)};
        if (b.number) return {{}, with_number(t.kind, a.variable, *b.number, false, name)};
        if (t.kind == Term::Kind::power) throw Failure("a power of a tensor has a number above: x^2");
        const auto op = t.kind == Term::Kind::add        ? tensor::add
                        : t.kind == Term::Kind::subtract ? tensor::sub
                        : t.kind == Term::Kind::multiply ? tensor::mul
                                                         : tensor::div;
        return {{}, op(tape, a.variable, b.variable, name)};
    }

    tensor::Variable call(const Term& t, const std::string& name) const {
        std::vector<tensor::Variable> tensors;
        std::vector<double> numbers;
        for (const Term& part : t.parts) {
            const Operand operand = term(part, named(part));
            if (operand.number)
                numbers.push_back(*operand.number);
            else
                tensors.push_back(operand.variable);
        }
        for (const OwnOp& op : own)
            if (op.definition.name == t.name) return tape.apply(op, std::span<const tensor::Variable>(tensors), name);
        const FunctionRow* const function = function_named(t.name);
        if (function && function->record) {
            if (tensors.size() < function->tensors || tensors.size() > function->most_tensors ||
                numbers.size() < function->numbers || numbers.size() > function->most_numbers)
                throw Failure(fmt::format("{} takes {} and {}, not {} and {}", t.name,
                                          times_text(function->tensors, "tensor"), times_text(function->numbers, "number"),
                                          tensors.size(), numbers.size()));
            return function->record(tape, tensors, numbers, name);
        }
        const tensor::OpRow& op = *op_of(t.name);  // check_call has looked
        tensor::Attributes attributes = tensor::attributes_of(op, numbers);
        if (function && function->attributes) function->attributes(attributes);
        return tape.apply(op, std::span<const tensor::Variable>(tensors), name, attributes);
    }
};

// Terms of an op of one's own, run elementwise: a kernel a sign. `launch` is the call's.
struct Elementwise {
    std::map<std::string, tensor::Tensor> names;
    std::function<void(const tensor::Launch&)> launch;
    std::function<tensor::Tensor()> temporary;
    DType dtype;

    struct Value {
        std::optional<double> number;
        tensor::Tensor tensor;
    };
    void one(std::string_view op, const tensor::Tensor& x, const tensor::Tensor& y,
             std::initializer_list<double> numbers) const {
        tensor::Arguments arguments = {x.pointer(), y.pointer(), tensor::size_argument(x.count())};
        for (const double number : numbers) arguments.push_back(tensor::scalar_argument(number, dtype));
        launch(tensor::elementwise(tensor::op_named(op).kernels.front(), x.count(), arguments));
    }
    // Into `into` where it is given.
    Value value(const Term& t, const tensor::Tensor* into) const {
        const auto room = [&] { return into ? *into : temporary(); };
        switch (t.kind) {
            case Term::Kind::number:
                return {t.number, {}};
            case Term::Kind::name: {
                const auto found = names.find(t.name);
                if (found == names.end())
                    throw Failure(
                        fmt::format("'{}' is not at hand here: backward reads `up` and what `save` names", t.name));
                return {{}, found->second};
            }
            case Term::Kind::negate:
            case Term::Kind::call: {
                const Value x = value(t.parts[0], nullptr);
                if (x.number) {
                    if (t.kind == Term::Kind::negate) return {-*x.number, {}};
                    throw Failure(fmt::format("{} takes a tensor here", t.name));
                }
                const tensor::Tensor y = room();
                one(t.kind == Term::Kind::negate ? "neg" : t.name, x.tensor, y, {});
                return {{}, y};
            }
            default:
                break;
        }
        const Value a = value(t.parts[0], nullptr), b = value(t.parts[1], nullptr);
        if (a.number && b.number) return {Recorder::sign(t.kind, *a.number, *b.number), {}};
        const tensor::Tensor y = room();
        if (a.number || b.number) {
            const tensor::Tensor& x = a.number ? b.tensor : a.tensor;
            const double number = a.number ? *a.number : *b.number;
            if (t.kind == Term::Kind::multiply)
                one("affine", x, y, {number, 0});
            else if (t.kind == Term::Kind::add)
                one("affine", x, y, {1, number});
            else if (t.kind == Term::Kind::subtract)
                a.number ? one("affine", x, y, {-1, number}) : one("affine", x, y, {1, -number});
            else if (t.kind == Term::Kind::divide && b.number)
                one("affine", x, y, {1 / number, 0});
            else if (t.kind == Term::Kind::power && b.number && number == 2)
                one("square", x, y, {});
            else
                throw Failure("an op of one's own divides by tensors alone and knows no power but ^2");
            return {{}, y};
        }
        if (t.kind == Term::Kind::power) throw Failure("a power of a tensor has a number above: x^2");
        const std::string_view kernel = t.kind == Term::Kind::add        ? "add"
                                        : t.kind == Term::Kind::subtract ? "sub"
                                        : t.kind == Term::Kind::multiply ? "mul"
                                                                         : "div";
        launch(tensor::elementwise(kernel, y.count(),
                                   {a.tensor.pointer(), b.tensor.pointer(), y.pointer(), tensor::size_argument(y.count())}));
        return {{}, y};
    }
    void into(const Term& t, const tensor::Tensor& y, const tensor::Tensor& like) const {
        const Value made = value(t, &y);
        if (made.number)  // a constant: 0 x + number
            one("affine", like, y, {0, *made.number});
        else if (made.tensor.storage != y.storage)  // a plain name
            one("affine", made.tensor, y, {1, 0});
    }
};

void own_forward(tensor::ForwardCall& call) {
    const TapeOp& op = static_cast<const OwnOp&>(call.op).definition;
    Elementwise run{{},
                    [&](const tensor::Launch& launch) { call.launch(launch); },
                    [&] { return call.temporary(call.output.shape, "part"); },
                    call.dtype};
    for (size_t i = 0; i < op.inputs.size(); ++i) run.names[op.inputs[i]] = call.inputs[i];
    run.into(op.forward, call.output, call.inputs[0]);
    for (const std::string& name : op.saved)
        for (size_t i = 0; i < op.inputs.size(); ++i)
            if (op.inputs[i] == name) call.save_input(i);
}

void own_backward(tensor::BackwardCall& call) {
    const TapeOp& op = static_cast<const OwnOp&>(call.op).definition;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
        if (!call.wants(i)) continue;
        Elementwise run{{{"up", call.upstream}},
                        [&](const tensor::Launch& launch) { call.launch(i, launch); },
                        [&] { return call.temporary(call.output.shape, "part", call.dtype); },
                        call.dtype};
        for (size_t k = 0; k < op.saved.size(); ++k) run.names[op.saved[k]] = call.kept(k);
        const auto found = op.backward.find(op.inputs[i]);
        if (found == op.backward.end()) continue;  // no gradient: gradcheck will say so
        run.into(found->second, call.allocate(i), call.upstream);
    }
}

}  // namespace

OwnOp::OwnOp(const TapeOp& from) : definition(from) {
    name = definition.name;
    inputs = definition.inputs.size();
    gradient_names = {"d1", "d2", "d3"};
    shape = [](tensor::Types in, const tensor::Attributes&) {
        for (const tensor::TensorType& type : in)
            if (type.shape != in[0].shape)
                throw Failure(fmt::format("inputs of shapes {} and {} differ: an op of one's own works element by element",
                                          tensor::text_of(in[0].shape), tensor::text_of(type.shape)));
        return in[0].shape;
    };
    forward = own_forward;
    backward = own_backward;
    cost = [](tensor::Types in, const tensor::Attributes&) {
        const double n = static_cast<double>(in[0].count()), bytes = in[0].bytes();
        return tensor::OpCost{{n, 3 * bytes}, {2 * n, 6 * bytes}};
    };
}

tensor::Variable record(tensor::Tape& tape, const Term& term, const Names& names, const OwnOps& own, const std::string& name,
                        const std::string& place) {
    const Operand made = Recorder{tape, names, own, place}.term(term, name + place);
    if (made.number) throw Failure(fmt::format("'{}' is a number, not a tensor: let names numbers", term.text));
    return made.variable;
}

tensor::Tensor hooked(tensor::Tape& tape, const Term& term, const tensor::Tensor& up, const std::string& of) {
    const auto room = [&] {
        return tensor::make_tensor(tape.heap(), up.shape, "d" + of, tensor::Purpose::gradient, up.dtype);
    };
    const Elementwise run{{{"up", up}},
                          [&](const tensor::Launch& launch) {
                              tape.launch(launch, {of, "hook"}, "backward", up.dtype);
                          },
                          room,
                          up.dtype};
    const tensor::Tensor made = room();
    run.into(term, made, up);
    return made;
}

void check_call(const Term& term, const std::vector<TapeOp>& own) {
    for (const Term& part : term.parts) check_call(part, own);
    if (term.kind != Term::Kind::call || function_named(term.name) || op_of(term.name)) return;
    std::vector<std::string> known = tape_functions();
    for (const TapeOp& op : own) {
        if (op.name == term.name) {
            if (op.inputs.size() == term.parts.size()) return;
            throw Failure(fmt::format("{} takes {} tensors, not {}", op.name, op.inputs.size(), term.parts.size()));
        }
        known.push_back(op.name);
    }
    throw Failure(fmt::format("unknown function '{}'{}", term.name, did_you_mean(term.name, known)));
}

std::vector<std::string> tape_functions() {
    std::vector<std::string> names;
    for (const FunctionRow& row : function_rows) names.emplace_back(row.name);
    for (const tensor::OpRow& row : tensor::ops())
        if (row.numbers != tensor::not_from_text && !function_named(std::string(row.name))) names.emplace_back(row.name);
    return names;
}

std::vector<std::string> elementwise_functions() {
    std::vector<std::string> names;
    for (const tensor::OpRow& row : tensor::ops())
        if (row.elementwise && row.numbers.empty()) names.emplace_back(row.name);
    return names;
}

}  // namespace lockstep::scene
