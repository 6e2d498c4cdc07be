// Optimisers, norms and clipping (kernels/sgd.cu, adam.cu, lars.cu, novograd.cu, clip.cu).
#include "kernels/include/optimizer.h"

#include <cmath>

#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void sgd(ThreadPool& pool, T* w, const T* gradient, Acc<T> lr, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) w[i] = Acc<T>(w[i]) - lr * Acc<T>(gradient[i]);
    });
}

template <class T>
void sgd_momentum(ThreadPool& pool, T* w, const T* gradient, T* velocity, const OptimizerSettings* settings, int n) {
    const OptimizerSettings s = *settings;
    if (s.skip != 0) return;
    const T momentum = T(s.momentum), rest = T(1 - s.dampening), decay = T(s.weight_decay), lr = T(s.lr),
            factor = T(s.factor);
    const bool first = s.step == 1, nesterov = s.nesterov != 0;
    elements(pool, n, [=](int begin, int end) {
        if (momentum == 0) {
            for (int i = begin; i < end; ++i) w[i] = w[i] - lr * (gradient[i] * factor + decay * w[i]);
            return;
        }
        for (int i = begin; i < end; ++i) {
            const T d = gradient[i] * factor + decay * w[i], moved = momentum * velocity[i] + rest * d;
            const T v = first ? d : moved;
            velocity[i] = v;
            w[i] = w[i] - lr * (nesterov ? d + momentum * v : v);
        }
    });
}

template <class T>
void adam_update(ThreadPool& pool, T* w, const T* gradient, T* mean, T* square, const OptimizerSettings* settings, int n,
                 bool decoupled) {
    const OptimizerSettings s = *settings;
    if (s.skip != 0) return;
    const T beta1 = T(s.beta1), beta2 = T(s.beta2), rest1 = T(1 - s.beta1), rest2 = T(1 - s.beta2), factor = T(s.factor);
    const T rate = T(s.lr / s.correction1), correction = T(s.correction2), epsilon = T(s.epsilon);
    const T decay = decoupled ? T(0) : T(s.weight_decay), keep = decoupled ? T(1 - s.lr * s.weight_decay) : T(1);
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const T g = gradient[i] * factor + decay * w[i];
            const T m = beta1 * mean[i] + rest1 * g, v = beta2 * square[i] + rest2 * (g * g);
            mean[i] = m;
            square[i] = v;
            w[i] = w[i] * keep - rate * (m / (std::sqrt(v) / correction + epsilon));
        }
    });
}
template <class T>
void adam(ThreadPool& pool, T* w, const T* gradient, T* mean, T* square, const OptimizerSettings* settings, int n) {
    adam_update(pool, w, gradient, mean, square, settings, n, false);
}
template <class T>
void adamw(ThreadPool& pool, T* w, const T* gradient, T* mean, T* square, const OptimizerSettings* settings, int n) {
    adam_update(pool, w, gradient, mean, square, settings, n, true);
}

inline double total_of(const double* partial, int n) {
    double sum = 0;
    for (int i = 0; i < SQUARE_PARTS(n); ++i) sum += partial[i];
    return sum;
}
inline double layer_rate(const double* w_partial, const double* g_partial, const OptimizerSettings& s, int n) {
    const double w_norm = std::sqrt(total_of(w_partial, n)), g_norm = std::sqrt(total_of(g_partial, n)) * s.factor;
    return w_norm == 0 || g_norm == 0 ? 1 : s.trust * w_norm / (g_norm + s.weight_decay * w_norm);
}

template <class T>
void lars(ThreadPool& pool, T* w, const T* gradient, T* velocity, const double* w_partial, const double* g_partial,
          const OptimizerSettings* settings, int n) {
    const OptimizerSettings s = *settings;
    if (s.skip != 0) return;
    const T rate = T(s.lr * layer_rate(w_partial, g_partial, s, n));
    const T momentum = T(s.momentum), decay = T(s.weight_decay), factor = T(s.factor);
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const T v = momentum * velocity[i] + rate * (gradient[i] * factor + decay * w[i]);
            velocity[i] = v;
            w[i] = w[i] - v;
        }
    });
}
template <class T>
void larc(ThreadPool& pool, T* w, const T* gradient, T* velocity, const double* w_partial, const double* g_partial,
          const OptimizerSettings* settings, int n) {
    const OptimizerSettings s = *settings;
    if (s.skip != 0) return;
    const double slowed = layer_rate(w_partial, g_partial, s, n) / s.lr;
    const T scale = T(slowed < 1 ? slowed : 1);
    const T momentum = T(s.momentum), decay = T(s.weight_decay), factor = T(s.factor), lr = T(s.lr);
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const T v = momentum * velocity[i] + scale * (gradient[i] * factor + decay * w[i]);
            velocity[i] = v;
            w[i] = w[i] - lr * v;
        }
    });
}

template <class T>
void novograd(ThreadPool& pool, T* w, const T* gradient, T* mean, double* second, const double* g_partial,
              const OptimizerSettings* settings, int n) {
    const OptimizerSettings s = *settings;
    if (s.skip != 0) return;
    const double square = total_of(g_partial, n) * (s.factor * s.factor);
    const auto now = static_cast<size_t>(static_cast<int64_t>(s.step) % 2 != 0);
    const double v = s.step == 1 ? square : s.beta2 * second[1 - now] + (1 - s.beta2) * square;
    second[now] = v;
    const T scale = T(s.factor / (std::sqrt(v) + s.epsilon)), beta1 = T(s.beta1), decay = T(s.weight_decay), lr = T(s.lr);
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const T m = beta1 * mean[i] + (gradient[i] * scale + decay * w[i]);
            mean[i] = m;
            w[i] = w[i] - lr * m;
        }
    });
}

template <class T>
void square_sum(ThreadPool& pool, const T* x, double* partial, int n) {
    const int parts = SQUARE_PARTS(n), length = (n + parts - 1) / parts;
    each_row(pool, parts, length, [=](int part) {
        double sum[256] = {};
        const int begin = std::min(n, part * length), end = std::min(n, begin + length);
        int i = begin;
        for (; i + 256 <= end; i += 256)
            for (int j = 0; j < 256; ++j) {
                const double value = Acc<T>(x[i + j]);
                sum[j] += value * value;
            }
        for (int j = 0; i + j < end; ++j) {
            const double value = Acc<T>(x[i + j]);
            sum[j] += value * value;
        }
        partial[part] = tree_sum(sum, 256);
    });
}

void optimizer_clip(ThreadPool&, const double* partial, OptimizerSettings* settings, int parts) {
    double lanes[256] = {};
    for (int i = 0; i < parts; ++i) lanes[i % 256] += partial[i];
    const double sum = tree_sum(lanes, 256), unscale = 1 / settings->loss_scale, norm = std::sqrt(sum) * unscale;
    const double clip = settings->max_norm / (norm + 1e-6);
    settings->norm = norm;
    settings->factor = settings->max_norm > 0 && !(clip > 1) ? unscale * clip : unscale;
    settings->skip = settings->check != 0 && !std::isfinite(sum) ? 1 : 0;
}

void optimizer_begin(ThreadPool&, OptimizerSettings* settings) {
    if (settings->skip != 0) return;
    settings->step += 1;
    settings->power1 *= settings->beta1;
    settings->power2 *= settings->beta2;
    settings->correction1 = 1 - settings->power1;
    settings->correction2 = std::sqrt(1 - settings->power2);
}

void loss_scale_update(ThreadPool&, OptimizerSettings* settings) {
    OptimizerSettings& s = *settings;
    const bool grow = s.skip == 0 && s.good_steps + 1 >= s.growth_interval;
    s.loss_scale *= s.skip != 0 ? s.backoff : grow ? s.growth : 1;
    s.good_steps = s.skip != 0 || grow ? 0 : s.good_steps + 1;
    s.skipped += s.skip != 0 ? 1 : 0;
    s.grown += grow ? 1 : 0;
}

template <class T>
void loss_scale_seed(ThreadPool&, const OptimizerSettings* settings, T* seed) {
    seed[0] = static_cast<T>(static_cast<Acc<T>>(settings->loss_scale));
}
template <class T>
void clip_value(ThreadPool& pool, T* gradient, Acc<T> limit, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> g = gradient[i];
            gradient[i] = g > limit ? limit : (g < -limit ? -limit : g);
        }
    });
}

#define PARTS "min(cover(n,2048),64)"  // SQUARE_PARTS of kernels/include/optimizer.h
std::span<const Kernel> optimizer() {
    static constexpr Kernel rows[] = {
        {"sgd", "sgd.cu", "w = w - lr gradient", "&w[n] gradient[n] lr:sum=0.1 n", FLOATS(sgd)},
        {"sgd_momentum", "sgd.cu", "SGD with momentum, dampening, Nesterov and weight decay",
         "&w[n] gradient[n] &velocity[n] settings[26]:f64{settings:@k%3+1} n", F32_AND_F64(sgd_momentum)},
        {"adam", "adam.cu", "Adam, weight decay added to the gradient",
         "&w[n] gradient[n] &mean[n] &square[n]{0..1} settings[26]:f64{settings:@k%3+1} n", F32_AND_F64(adam)},
        {"adamw", "adam.cu", "AdamW, weight decay beside the gradient",
         "&w[n] gradient[n] &mean[n] &square[n]{0..1} settings[26]:f64{settings:@k%3+1} n", F32_AND_F64(adamw)},
        {"lars", "lars.cu", "v = momentum v + lr rate (g + decay w), w -= v",
         "&w[n] gradient[n] &velocity[n] w_partial[" PARTS "]:f64{squares:n} g_partial[" PARTS
         "]:f64{squares:n} settings[26]:f64{settings:@k%3+1} n",
         F32_AND_F64(lars)},
        {"larc", "lars.cu", "v = momentum v + min(rate / lr, 1) (g + decay w), w -= lr v",
         "&w[n] gradient[n] &velocity[n] w_partial[" PARTS "]:f64{squares:n} g_partial[" PARTS
         "]:f64{squares:n} settings[26]:f64{settings:@k%3+1} n",
         F32_AND_F64(larc)},
        {"novograd", "novograd.cu", "NovoGrad: the second moment is one number a layer",
         "&w[n] gradient[n] &mean[n] &second[2]:f64{0.1..1} g_partial[" PARTS
         "]:f64{squares:n} settings[26]:f64{settings:@k%3+1} n",
         F32_AND_F64(novograd)},
        {"square_sum", "clip.cu", "sums of squares of up to 64 parts of x", "x[n] >partial[" PARTS "]:f64 n",
         FLOATS(square_sum), "blocks(" PARTS ")"},
        {"loss_scale_seed", "clip.cu", "seed[1] = the loss scale", "settings[26]:f64{settings:1} >seed[1]",
         FLOATS(loss_scale_seed), "grid(1,1,1,1,1)"},
        {"clip_value", "clip.cu", "g = g within -limit .. limit", "&gradient[n] limit:sum=0.75 n", FLOATS(clip_value)},
        {"optimizer_clip",
         "clip.cu",
         "norm of all gradients, and the factor that clips and unscales them",
         "partial[parts]{5..15,infinite} &settings[26]{settings:2} parts=@m*@n",
         {.f64 = run<optimizer_clip>},
         "blocks(1)"},
        {"optimizer_begin",
         "clip.cu",
         "counts a step and its bias corrections",
         "&settings[26]{settings:@m,@m%2,@n%3}",
         {.f64 = run<optimizer_begin>},
         "grid(1,1,1,1,1)"},
        {"loss_scale_update",
         "clip.cu",
         "the loss scale after a step",
         "&settings[26]{settings:@m,@m%2,@n%3}",
         {.f64 = run<loss_scale_update>},
         "grid(1,1,1,1,1)"},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
