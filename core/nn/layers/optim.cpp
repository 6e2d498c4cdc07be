// The launches of a step, in order: sums of squares where a norm is needed, clipping and unscaling, the count of steps, one
// update a parameter, the loss scale. The order of the settings is that of kernels/include/optimizer.h, which is included.
#include "core/nn/layers/optim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "kernels/include/optimizer.h"

namespace lockstep::nn {

using tensor::elementwise;
using tensor::Launch;
using tensor::Purpose;
using tensor::size_argument;
using tensor::Tensor;

namespace {
OptimizerSettings settings_of(const Rule& rule) {
    OptimizerSettings s = {};
    s.power1 = s.power2 = s.loss_scale = s.factor = 1;
    std::visit(
        [&](const auto& r) {
            s.lr = r.lr;
            s.weight_decay = r.weight_decay;
            if constexpr (requires { r.momentum; }) s.momentum = r.momentum;
            if constexpr (requires { r.dampening; }) s.dampening = r.dampening, s.nesterov = r.nesterov;
            if constexpr (requires { r.trust; }) s.trust = r.trust;
            if constexpr (requires { r.beta1; }) s.beta1 = r.beta1, s.beta2 = r.beta2, s.epsilon = r.eps;
        },
        rule);
    return s;
}

bool has_layer_rate(const Rule& rule) {
    return row_of(rule).norms == OptimizerRow::Norms::weight_too;
}

int64_t parts_of(int64_t count) {
    return SQUARE_PARTS(count);
}

// Sums of squares of a tensor's parts, from place `first` of `sums` on.
Launch square_sum(const Tensor& x, const Tensor& sums, int64_t first) {
    return {"square_sum",
            {static_cast<uint32_t>(parts_of(x.count())), 1, 1},
            {256, 1, 1},
            {x.pointer(), device::Pointer{sums.pointer().address + static_cast<uint64_t>(first) * sizeof(double)},
             size_argument(x.count())}};
}
}  // namespace

std::span<const OptimizerRow> optimizers() {
    using Second = OptimizerRow::Second;
    using Norms = OptimizerRow::Norms;
    static const OptimizerRow table[] = {
        {"sgd", SGD{}, "momentum_buffer"},
        {"adam", Adam{}, "exp_avg", Second::element},
        {"adamw", AdamW{}, "exp_avg", Second::element},
        {"lars", LARS{}, "momentum_buffer", Second::none, Norms::weight_too},
        {"larc", LARC{}, "momentum_buffer", Second::none, Norms::weight_too},
        {"novograd", NovoGrad{}, "exp_avg", Second::layer, Norms::gradient},
    };
    return table;
}

const OptimizerRow& row_of(const Rule& rule) {
    const auto rows = optimizers();
    return *std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.rule.index() == rule.index(); });
}

std::string_view name_of(const Rule& rule) {
    return row_of(rule).name;
}

Rule rule_named(const std::string& name, double lr) {
    std::vector<std::string> known;
    for (const OptimizerRow& row : optimizers()) {
        if (name == row.name) {
            Rule rule = row.rule;
            std::visit([&](auto& r) { r.lr = lr; }, rule);
            return rule;
        }
        known.emplace_back(row.name);
    }
    throw Failure(fmt::format("unknown optimizer '{}'{}", name, did_you_mean(name, known)));
}

Optimizer::Optimizer(tensor::Heap& heap, const Rule& rule, std::vector<Parameter*> parameters, Clipping clipping,
                     std::optional<LossScaling> scaling)
    : heap_(heap), rule_(rule), parameters_(std::move(parameters)), clipping_(clipping), scaling_(scaling) {
    const OptimizerSettings s = begin();
    lr_ = s.lr;
    sent_lr_ = s.lr;
    if (!parameters_.empty()) dtype_ = parameters_.front()->value.dtype;
    int64_t parts = 1, most = 1;
    const auto zeros = [&](const Parameter& like, const tensor::Shape& shape, std::string_view what, DType type) {
        const std::string name = fmt::format("optimizer.{}.{}", like.name, what);
        const Tensor made = tensor::make_tensor(heap_, shape, name, Purpose::optimizer, type);
        if (heap_.device().name() != "meta")  // which holds no values
            tensor::write_values(heap_, made, std::vector<double>(static_cast<size_t>(made.count())), name);
        return made;
    };
    for (const Parameter* parameter : parameters_) {
        const Tensor& value = parameter->value;
        if (value.dtype != dtype_ || (dtype_ != DType::f32 && dtype_ != DType::f64))
            throw Failure(fmt::format("{} is {}: an optimizer takes parameters of one type, f32 or f64", parameter->name,
                                      lockstep::name_of(value.dtype)));
        parts += parts_of(value.count());
        most = std::max(most, parts_of(value.count()));
        Slot& slot = slots_.emplace_back();
        const OptimizerRow& row = row_of(rule_);
        if (!moments().empty()) slot.first = zeros(*parameter, value.shape, row.first_moment, dtype_);
        if (row.second == OptimizerRow::Second::element) slot.second = zeros(*parameter, value.shape, "exp_avg_sq", dtype_);
        if (row.second == OptimizerRow::Second::layer) slot.second = zeros(*parameter, {2}, "exp_avg_sq", DType::f64);
    }
    gradients_.resize(parameters_.size());
    places_.resize(parameters_.size());
    if (plain()) return;
    const auto numbers = [&](int64_t count, const char* name) {
        return tensor::make_tensor(heap_, {count}, name, Purpose::optimizer, DType::f64);
    };
    settings_ = numbers(sizeof s / sizeof(double), "optimizer.settings");
    heap_.device().copy_in(settings_.pointer(), &s, sizeof s);
    gradient_squares_ = numbers(parts, "gradient squares");
    if (has_layer_rate(rule_)) weight_squares_ = numbers(most, "weight squares");
    if (scaling_) seed_ = tensor::make_tensor(heap_, {}, "loss scale", Purpose::optimizer, dtype_);
}

OptimizerSettings Optimizer::begin() const {
    OptimizerSettings s = settings_of(rule_);
    s.max_norm = clipping_.max_norm;
    if (scaling_) {
        s.check = 1;
        s.loss_scale = scaling_->scale;
        s.growth = scaling_->growth;
        s.backoff = scaling_->backoff;
        s.growth_interval = double(scaling_->growth_interval);
    }
    return s;
}

bool Optimizer::plain() const {
    const SGD* sgd = std::get_if<SGD>(&rule_);
    return sgd && sgd->momentum == 0 && sgd->weight_decay == 0 && clipping_.max_norm == 0 && !scaling_;
}

bool Optimizer::takes_norms() const {
    return clipping_.max_norm > 0 || scaling_ || row_of(rule_).norms != OptimizerRow::Norms::none;
}

std::vector<std::string_view> Optimizer::moments() const {
    const OptimizerRow& row = row_of(rule_);
    const SGD* sgd = std::get_if<SGD>(&rule_);
    if (sgd && sgd->momentum == 0) return {};
    if (row.second == OptimizerRow::Second::none) return {row.first_moment};
    return {row.first_moment, "exp_avg_sq"};
}

void Optimizer::send_lr() {
    if (plain() || sent_lr_ == lr_) return;
    heap_.device().copy_in({settings_.pointer().address + offsetof(OptimizerSettings, lr)}, &lr_, sizeof lr_);
    sent_lr_ = lr_;
}

Tensor Optimizer::seed(tensor::Tape& tape) {
    if (!scaling_) return {};
    tape.launch({"loss_scale_seed", {1, 1, 1}, {1, 1, 1}, {settings_.pointer(), seed_.pointer()}}, "loss scale", "backward",
                dtype_);
    return seed_;
}

void Optimizer::take_norms(tensor::Tape& tape) {
    const bool clips = clipping_.max_norm > 0 || scaling_;
    parts_ = 0;
    if (!takes_norms()) return;
    for (size_t i = 0; i < gradients_.size(); ++i) {
        if (!gradients_[i]) continue;
        places_[i] = parts_;
        parts_ += parts_of(gradients_[i].count());
        tape.launch(square_sum(gradients_[i], gradient_squares_, places_[i]), {parameters_[i]->name, "gradient norm"},
                    "update", dtype_);
    }
    device::Pointer sums = gradient_squares_.pointer();
    int64_t count = parts_;
    if (clips && sum_squares) {
        std::vector<double> parts(static_cast<size_t>(parts_)), squares(gradients_.size());
        device::Device& device = heap_.device();
        device.copy_out(parts.data(), gradient_squares_.pointer(), parts.size() * sizeof(double));
        for (size_t i = 0; i < gradients_.size(); ++i)
            for (int64_t part = 0; gradients_[i] && part < parts_of(gradients_[i].count()); ++part)
                squares[i] += parts[static_cast<size_t>(places_[i] + part)];
        const double sum = sum_squares(squares);  // goes behind the parts
        sums.address += static_cast<uint64_t>(parts_) * sizeof(double);
        device.copy_in(sums, &sum, sizeof sum);
        count = 1;
    }
    if (clips)
        tape.launch(
            {"optimizer_clip", {1, 1, 1}, {256, 1, 1}, {sums, settings_.pointer(), size_argument(count)}, DType::f64},
            "gradient clipping", "update", dtype_);
}

void Optimizer::update(tensor::Tape& tape, size_t i) {
    Parameter& parameter = *parameters_[i];
    const Tensor &w = parameter.value, &g = gradients_[i];
    const Slot& slot = slots_[i];
    const auto count = size_argument(g.count());
    const device::Pointer squares{
        gradient_squares_ ? gradient_squares_.pointer().address + static_cast<uint64_t>(places_[i]) * sizeof(double) : 0};
    tensor::Arguments arguments = {w.pointer(), g.pointer()};
    std::string_view kernel = name_of(rule_);
    if (plain()) {
        arguments.push_back(tensor::scalar_argument(lr_, dtype_));
    } else {
        if (kernel == "sgd") kernel = "sgd_momentum";
        arguments.push_back(slot.first ? slot.first.pointer() : g.pointer());  // without momentum: not touched
        if (slot.second) arguments.push_back(slot.second.pointer());
        if (has_layer_rate(rule_)) {
            tape.launch(square_sum(w, weight_squares_, 0), {parameter.name, "norm"}, "update", dtype_);
            arguments.push_back(weight_squares_.pointer());
        }
        if (row_of(rule_).norms != OptimizerRow::Norms::none) arguments.push_back(squares);
        arguments.push_back(settings_.pointer());
    }
    arguments.push_back(count);
    Launch one = elementwise(kernel, g.count(), arguments);
    if (plain()) one.learning_rate = 2;
    const int launch = tape.launch(one, {parameter.name, name_of(rule_)}, "update", dtype_);
    tape.note_update(parameter.node, launch);
}

void Optimizer::step(tensor::Tape& tape) {
    bool any = false;
    for (size_t i = 0; i < parameters_.size(); ++i) {
        gradients_[i] = parameters_[i]->node < 0 ? Tensor() : tape.take_gradient(parameters_[i]->node);
        any = any || gradients_[i];
    }
    if (!any) return;
    if (clipping_.max_value > 0)
        for (size_t i = 0; i < gradients_.size(); ++i)
            if (gradients_[i])
                tape.launch(elementwise("clip_value", gradients_[i].count(),
                                        {gradients_[i].pointer(), tensor::scalar_argument(clipping_.max_value, dtype_),
                                         size_argument(gradients_[i].count())}),
                            {parameters_[i]->name, "clipping"}, "update", dtype_);
    if (!plain()) {
        send_lr();
        take_norms(tape);
        tape.launch({"optimizer_begin", {1, 1, 1}, {1, 1, 1}, {settings_.pointer()}, DType::f64}, "step", "update", dtype_);
    }
    for (size_t i = 0; i < gradients_.size(); ++i) {
        if (gradients_[i]) update(tape, i);
        gradients_[i] = {};
    }
    if (scaling_)
        tape.launch({"loss_scale_update", {1, 1, 1}, {1, 1, 1}, {settings_.pointer()}, DType::f64}, "loss scale", "update",
                    dtype_);
}

void Optimizer::restored() {
    sent_lr_ = {};
    if (!settings_) return;
    const OptimizerSettings s = begin();
    heap_.device().copy_in(settings_.pointer(), &s, offsetof(OptimizerSettings, step));  // what the host sets, no more
}

std::vector<NamedTensor> Optimizer::state() const {
    std::vector<NamedTensor> all;
    if (settings_) all.push_back({"optimizer.settings", settings_});
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const auto named = [&](std::string_view what) { return fmt::format("optimizer.{}.{}", parameters_[i]->name, what); };
        if (slots_[i].first) all.push_back({named(row_of(rule_).first_moment), slots_[i].first});
        if (slots_[i].second) all.push_back({named("exp_avg_sq"), slots_[i].second});
    }
    return all;
}

double Optimizer::bytes_per_step() const {
    double bytes = 0;
    for (size_t i = 0; i < parameters_.size(); ++i) {
        if (!parameters_[i]->trainable) continue;
        double elements = 3;  // weight read and written, gradient read
        if (takes_norms()) elements += 1;
        if (has_layer_rate(rule_)) elements += 1;
        if (clipping_.max_value > 0) elements += 2;
        bytes += elements * double(parameters_[i]->value.bytes());
        if (slots_[i].first) bytes += 2 * double(slots_[i].first.bytes());
        if (slots_[i].second) bytes += 2 * double(slots_[i].second.bytes());
    }
    return bytes;
}

int64_t Optimizer::state_bytes() const {
    int64_t bytes = 0;
    for (const Slot& slot : slots_)
        for (const Tensor* tensor : {&slot.first, &slot.second})
            if (*tensor) bytes += tensor->bytes();
    return bytes;
}

Optimizer::Report Optimizer::report() const {
    if (!settings_) return {};
    OptimizerSettings s;
    heap_.device().copy_out(&s, settings_.pointer(), sizeof s);
    return {.steps = s.step,
            .norm = s.norm,
            .loss_scale = s.loss_scale,
            .skipped = s.skip != 0,
            .left_out = s.skipped,
            .grown = s.grown};
}

double step_lr(double lr, int64_t step, int64_t step_size, double gamma) {
    return lr * std::pow(gamma, double(step / std::max<int64_t>(step_size, 1)));
}
double cosine(double lr, int64_t step, int64_t steps, double lowest) {
    return lowest +
           (lr - lowest) * (1 + std::cos(std::numbers::pi * double(step) / double(std::max<int64_t>(steps, 1)))) / 2;
}
double warm_up(double lr, int64_t step, int64_t steps, double from) {
    return step >= steps ? lr : lr * (from + (1 - from) * double(step) / double(steps));
}
double warm_up_cosine(double lr, int64_t step, int64_t warm, int64_t steps, double lowest) {
    return step < warm ? lr * double(step + 1) / double(warm) : cosine(lr, step - warm, steps - warm, lowest);
}
double linear_scaling(double lr, double batch, double base_batch) {
    return lr * batch / base_batch;
}
double square_root_scaling(double lr, double batch, double base_batch) {
    return lr * std::sqrt(batch / base_batch);
}

}  // namespace lockstep::nn
