// Optimisers: a rule (a plain struct with PyTorch's parameter names), and an Optimizer that runs it over parameters, one
// launch a parameter. Moments, the count of steps, clipping and the loss scale live on the device
// (kernels/include/optimizer.h): a step sends nothing but a learning rate that has changed, and reads nothing back.
//
//     Optimizer optimizer(heap, AdamW{.lr = 3e-4}, list.all(), {.max_norm = 1});
//     tape.backward(loss);                         // with loss scaling: tape.backward(loss, optimizer.seed(tape))
//     optimizer.set_lr(warm_up_cosine(3e-4, step, 100, 2000, 3e-5));
//     optimizer.step(tape);
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/nn/data/files/parameter_arrays.h"
#include "core/nn/layers/module.h"

struct OptimizerSettings;  // kernels/include/optimizer.h

namespace lockstep::nn {

struct SGD {
    double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
    bool nesterov = false;
};
struct Adam {  // weight decay is added to the gradient
    double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};
struct AdamW {  // weight decay beside the gradient
    double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
};
struct LARS {  // You, Gitman, Ginsburg 2017
    double lr = 0.1, momentum = 0.9, weight_decay = 0, trust = 0.001;
};
struct LARC {  // LARS whose layers' rates are at most lr
    double lr = 0.1, momentum = 0.9, weight_decay = 0, trust = 0.02;
};
struct NovoGrad {  // Ginsburg et al. 2019
    double lr = 0.01, beta1 = 0.95, beta2 = 0.98, eps = 1e-8, weight_decay = 0;
};
using Rule = std::variant<SGD, Adam, AdamW, LARS, LARC, NovoGrad>;

struct OptimizerRow {               // all that Optimizer knows of a rule, beside its numbers
    std::string_view name;          // "adamw"; its kernel's too
    Rule rule;                      // with its defaults
    std::string_view first_moment;  // as PyTorch calls it: "exp_avg", "momentum_buffer"; SGD has it with momentum alone
    // "exp_avg_sq": of each element, or one number a layer, in f64.
    enum class Second : uint8_t { none, element, layer } second = Second::none;
    enum class Norms : uint8_t { none, gradient, weight_too } norms = Norms::none;  // of whole layers, that the kernel takes
};
std::span<const OptimizerRow> optimizers();
const OptimizerRow& row_of(const Rule& rule);
std::string_view name_of(const Rule& rule);
Rule rule_named(const std::string& name, double lr);  // with its defaults; throws Failure with the nearest name

struct Clipping {          // 0: none
    double max_norm = 0;   // of all gradients together
    double max_value = 0;  // of each element, before the norm is taken
};
struct LossScaling {  // PyTorch's GradScaler: a step with an Inf or NaN gradient is left out and the scale falls
    double scale = 65536, growth = 2, backoff = 0.5;
    int64_t growth_interval = 2000;
};

class Optimizer {
  public:
    // Parameters: f32 or f64, all of one type. Throws Failure.
    Optimizer(tensor::Heap& heap, const Rule& rule, std::vector<Parameter*> parameters, Clipping clipping = {},
              std::optional<LossScaling> scaling = {});

    // Where the parameters are pieces of a larger set on other ranks: gets the sum of the squares of each parameter's
    // gradient (0: no gradient), in their order, and returns that of all gradients of all ranks. For clipping by norm and
    // loss scaling.
    std::function<double(std::span<const double> squares)> sum_squares;

    void set_lr(double lr) { lr_ = lr; }
    void send_lr();  // to the device, where it has changed: for a recorded step(), which does not send it
    double lr() const { return lr_; }
    const Rule& rule() const { return rule_; }

    // What backward starts from: the loss scale; a null tensor, which stands for 1, without scaling.
    tensor::Tensor seed(tensor::Tape& tape);
    // Takes the gradients from the tape and frees each once it is used. A parameter without one stays as it is.
    void step(tensor::Tape& tape);

    // Derived: bytes that a step's launches move, each buffer once a kernel: gradients, weights, moments, norms.
    double bytes_per_step() const;
    int64_t state_bytes() const;                    // of moments, kept from step to step
    std::vector<std::string_view> moments() const;  // that every parameter has: {"exp_avg", "exp_avg_sq"}

    // For checkpoints, all that a step leaves behind: "optimizer.fc1.weight.exp_avg", "optimizer.settings".
    std::vector<NamedTensor> state() const;
    void restored();  // after a checkpoint has written these tensors: what the rule says holds again

    struct Report {
        double steps = 0, norm = 0, loss_scale = 1;  // norm: of the last step's gradients, 0 where none was taken
        bool skipped = false;                        // the last step was left out
        double left_out = 0, grown = 0;              // steps left out, and how often the loss scale has grown, so far
    };
    Report report() const;  // reads from the device, which a step never does

  private:
    struct Slot {  // what one parameter keeps between steps
        tensor::Tensor first, second;
    };
    OptimizerSettings begin() const;  // before the first step
    bool plain() const;               // w -= lr g: the kernel that takes the rate as an argument
    bool takes_norms() const;         // of gradients
    void take_norms(tensor::Tape& tape);
    void update(tensor::Tape& tape, size_t parameter);

    tensor::Heap& heap_;
    Rule rule_;
    std::vector<Parameter*> parameters_;
    Clipping clipping_;
    std::optional<LossScaling> scaling_;
    DType dtype_ = DType::f32;
    double lr_ = 0;
    std::optional<double> sent_lr_;
    std::vector<Slot> slots_;
    tensor::Tensor settings_, seed_, gradient_squares_, weight_squares_;
    std::vector<tensor::Tensor> gradients_;  // of the step under way
    std::vector<int64_t> places_;            // of each parameter's part in gradient_squares_
    int64_t parts_ = 0;
};

// Learning rates as functions of the step, from 0. Names and values as in torch.optim.lr_scheduler.
double step_lr(double lr, int64_t step, int64_t step_size, double gamma);
double cosine(double lr, int64_t step, int64_t steps, double lowest = 0);       // half a cosine over `steps`
double warm_up(double lr, int64_t step, int64_t steps, double from = 1.0 / 3);  // linear, from `from` lr to lr
double warm_up_cosine(double lr, int64_t step, int64_t warm_up, int64_t steps,
                      double lowest = 0);  // (step + 1) / warm_up first
// The rate for another batch size (Goyal et al. 2017: linear; Krizhevsky 2014, Hoffer et al. 2017: square root).
double linear_scaling(double lr, double batch, double base_batch);
double square_root_scaling(double lr, double batch, double base_batch);

}  // namespace lockstep::nn
