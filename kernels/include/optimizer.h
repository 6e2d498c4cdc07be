// What the optimisers' kernels read and keep between steps: one block of numbers in device memory, doubles whatever the
// parameters are. So a step needs nothing from the host but a new learning rate, and a recorded graph of launches can be
// replayed as it is. The names are PyTorch's. Host code includes this file too: it is a plain struct.
#pragma once

struct OptimizerSettings {
    // set by the host
    double lr, momentum, dampening, nesterov, weight_decay, beta1, beta2, epsilon, trust;
    double max_norm;             // gradients are scaled down to this norm of all together; 0: never
    double check;                // 1: a step whose gradients hold an Inf or a NaN is left out
    double growth, backoff, growth_interval;  // of the loss scale
    // kept by the kernels
    double step, power1, power2;              // steps made; beta1^step, beta2^step
    double correction1, correction2;          // 1 - beta1^step, sqrt(1 - beta2^step)
    double loss_scale, good_steps;            // good steps since the scale changed
    double norm;                              // of all gradients, unscaled, before clipping
    double factor;                            // that every gradient is multiplied by: clipping / loss scale
    double skip;                              // 1: this step is left out
    double skipped, grown;                    // steps left out, and how often the loss scale has grown, in all
};

// The sum of squares of n elements is taken in this many parts, each added up by a block of 256; the parts in order.
#define SQUARE_PARTS(n) ((n) <= 2048 ? 1 : (n) >= 64 * 2048 ? 64 : ((n) + 2047) / 2048)

// Optimisers work on float and double; half precision keeps its weights in float (mixed precision).
#define FLOAT_AND_DOUBLE(name, parameters, ...)  \
    KERNEL(name, f32, float, parameters, __VA_ARGS__) \
    KERNEL(name, f64, double, parameters, __VA_ARGS__)
