// Losses (kernels/softmax_cross_entropy.cu, mse.cu, loss.cu). A label outside of the classes is refused with its row.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/device/twins/rows.h"
#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void softmax_cross_entropy(ThreadPool& pool, const T* logits, const int* labels, T* loss, T* probabilities, int rows,
                           int classes) {
    each_row(pool, rows, classes * 8, [=](int row) {
        const T* x = logits + int64_t{row} * classes;
        T* p = probabilities + int64_t{row} * classes;
        if (labels[row] < 0 || labels[row] >= classes)
            throw Failure(fmt::format("label {} of row {} is outside of the {} classes", labels[row], row, classes));
        Acc<T> largest = x[0];
        for (int i = 1; i < classes; ++i) {
            const Acc<T> value = x[i];
            largest = value > largest || largest != largest ? value : largest;
        }
        Acc<T>* power = scratch<Acc<T>>(0, static_cast<size_t>(classes));
        for (int i = 0; i < classes; ++i) power[i] = exp_of(Acc<T>(x[i]) - largest);
        Acc<T> lanes[32] = {};
        for (int i = 0; i < classes; ++i) lanes[i % 32] += power[i];
        const Acc<T> sum = tree_sum(lanes, 32);
        for (int i = 0; i < classes; ++i) p[i] = power[i] / sum;
        loss[row] = log_of(sum) - (Acc<T>(x[labels[row]]) - largest);
    });
}
template <class T>
void softmax_cross_entropy_backward(ThreadPool& pool, const T* probabilities, const int* labels, T* dlogits, int rows,
                                    int classes, Acc<T> scale) {
    each_row(pool, rows, classes, [=](int row) {
        const T* p = probabilities + int64_t{row} * classes;
        T* d = dlogits + int64_t{row} * classes;
        for (int i = 0; i < classes; ++i) d[i] = (Acc<T>(p[i]) - Acc<T>(i == labels[row] ? 1 : 0)) * scale;
    });
}

template <class T>
void mse(ThreadPool& pool, const T* prediction, const T* target, T* squared, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> error = Acc<T>(prediction[i]) - Acc<T>(target[i]);
            squared[i] = error * error;
        }
    });
}
template <class T>
void mse_backward(ThreadPool& pool, const T* prediction, const T* target, T* dprediction, int n, Acc<T> scale) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) dprediction[i] = 2 * (Acc<T>(prediction[i]) - Acc<T>(target[i])) * scale;
    });
}

// `ignored`: a label that says nothing; INT32_MIN where there is no such label.
static void check_label(int label, int row, int classes, int ignored) {
    if (label != ignored && (label < 0 || label >= classes))
        throw Failure(fmt::format("label {} of row {} is outside of the {} classes", label, row, classes));
}
// `reach`: 0 the upstream gradient is 1, 1 it is one number, 2 each loss has its own.
template <class T>
static Acc<T> upstream_of(const T* upstream, int reach, int i) {
    return reach == 0 ? Acc<T>(1) : Acc<T>(upstream[reach == 2 ? i : 0]);
}
// loop(begin, end, factor of element i): a loop of its own where the factor is one number.
template <class T, class Loop>
static void with_factor(ThreadPool& pool, int n, const T* upstream, int reach, Acc<T> scale, const Loop& loop) {
    const Acc<T> factor = scale * (reach == 2 ? Acc<T>(1) : upstream_of(upstream, reach, 0));
    elements(pool, n, [=](int begin, int end) {
        if (reach == 2)
            loop(begin, end, [=](int i) { return scale * Acc<T>(upstream[i]); });
        else
            loop(begin, end, [=](int) { return factor; });
    });
}

template <class T>
void cross_entropy(ThreadPool& pool, const T* logits, const int* labels, T* loss, T* probabilities, int rows, int classes,
                   int ignored, Acc<T> smoothing) {
    using A = Acc<T>;
    each_row(pool, rows, classes * 8, [=](int row) {
        const T* x = logits + int64_t{row} * classes;
        T* p = probabilities + int64_t{row} * classes;
        const int label = labels[row];
        check_label(label, row, classes, ignored);
        const A largest = largest_of_row(x, classes);
        A* power = scratch<A>(0, static_cast<size_t>(classes));
        const A sum = powers_of_row(x, classes, largest, power), logarithm = log_of(sum);
        const A total = sum_of_row<A>(classes, [=](int i) { return A(x[i]) - largest; });
        for (int i = 0; i < classes; ++i) p[i] = power[i] / sum;
        loss[row] = label == ignored ? A(0)
                                     : (1 - smoothing) * (logarithm - (A(x[label]) - largest)) +
                                           smoothing * (logarithm - total / static_cast<A>(classes));
    });
}
template <class T>
void mean_of_labelled(ThreadPool&, const T* loss, const int* labels, T* mean, Acc<T>* counted, int rows, int ignored) {
    Acc<T> sum[256] = {}, count[256] = {};
    for (int i = 0; i < rows; ++i) {
        if (labels[i] == ignored) continue;
        sum[i % 256] += Acc<T>(loss[i]);
        count[i % 256] += 1;
    }
    const Acc<T> all = tree_sum(count, 256);
    mean[0] = tree_sum(sum, 256) / all;
    counted[0] = all;
}
template <class T>
void cross_entropy_backward(ThreadPool& pool, const T* probabilities, const int* labels, const Acc<T>* counted,
                            const T* upstream, T* dlogits, int reach, int by_count, int rows, int classes, int ignored,
                            Acc<T> smoothing) {
    using A = Acc<T>;
    const A part = smoothing / static_cast<A>(classes);
    each_row(pool, rows, classes, [=](int row) {
        const T* p = probabilities + int64_t{row} * classes;
        T* d = dlogits + int64_t{row} * classes;
        const int label = labels[row];
        check_label(label, row, classes, ignored);
        if (label == ignored) {
            std::fill_n(d, classes, static_cast<T>(A(0)));
            return;
        }
        const A upstream_here = upstream_of(upstream, reach, row),
                scale = by_count ? upstream_here / counted[0] : upstream_here;
        for (int i = 0; i < classes; ++i) d[i] = (A(p[i]) - ((i == label ? 1 - smoothing : A(0)) + part)) * scale;
    });
}

template <class T>
void nll(ThreadPool&, const T* x, const int* labels, T* loss, int rows, int classes, int ignored) {
    for (int row = 0; row < rows; ++row) {
        check_label(labels[row], row, classes, ignored);
        loss[row] = labels[row] == ignored ? Acc<T>(0) : -Acc<T>(x[int64_t{row} * classes + labels[row]]);
    }
}
template <class T>
void nll_backward(ThreadPool&, const int* labels, const Acc<T>* counted, const T* upstream, T* dx, int reach, int by_count,
                  int rows, int classes, int ignored) {
    for (int row = 0; row < rows; ++row, dx += classes) {
        check_label(labels[row], row, classes, ignored);
        std::fill_n(dx, classes, static_cast<T>(Acc<T>(0)));
        const Acc<T> scale = upstream_of(upstream, reach, row);
        if (labels[row] != ignored) dx[labels[row]] = -(by_count ? scale / counted[0] : scale);
    }
}

template <class T>
void bce_with_logits(ThreadPool& pool, const T* x, const T* target, T* loss, int n) {
    using A = Acc<T>;
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const A value = x[i], t = target[i], positive = value > 0 ? value : A(0);
            loss[i] = positive - value * t + log_of(1 + exp_of(-(value < 0 ? -value : value)));
        }
    });
}
template <class T>
void bce_with_logits_backward(ThreadPool& pool, const T* x, const T* target, const T* upstream, T* gradient, int reach,
                              int of_target, int n, Acc<T> scale) {
    using A = Acc<T>;
    with_factor(pool, n, upstream, reach, scale, [=](int begin, int end, auto factor) {
        if (of_target)
            for (int i = begin; i < end; ++i) gradient[i] = -A(x[i]) * factor(i);
        else
            for (int i = begin; i < end; ++i) gradient[i] = (1 / (1 + exp_of(-A(x[i]))) - A(target[i])) * factor(i);
    });
}

template <class T>
void smooth_l1(ThreadPool& pool, const T* prediction, const T* target, T* loss, int n, Acc<T> beta) {
    using A = Acc<T>;
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const A error = A(prediction[i]) - A(target[i]), apart = error < 0 ? -error : error;
            loss[i] = apart < beta ? apart * apart / (2 * beta) : apart - beta / 2;
        }
    });
}
template <class T>
void smooth_l1_backward(ThreadPool& pool, const T* prediction, const T* target, const T* upstream, T* dprediction, int reach,
                        int n, Acc<T> beta, Acc<T> scale) {
    using A = Acc<T>;
    with_factor(pool, n, upstream, reach, scale, [=](int begin, int end, auto factor) {
        for (int i = begin; i < end; ++i) {
            const A error = A(prediction[i]) - A(target[i]), apart = error < 0 ? -error : error;
            const A sign = error > 0 ? A(1) : error < 0 ? A(-1) : error;
            dprediction[i] = (apart < beta ? error / beta : sign) * factor(i);
        }
    });
}

template <class T>
void kl_div(ThreadPool& pool, const T* x, const T* target, T* loss, int n) {
    using A = Acc<T>;
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const A t = target[i];
            loss[i] = t == 0 ? A(0) : t * (log_of(t) - A(x[i]));
        }
    });
}
template <class T>
void kl_div_backward(ThreadPool& pool, const T* x, const T* target, const T* upstream, T* gradient, int reach, int of_target,
                     int n, Acc<T> scale) {
    using A = Acc<T>;
    with_factor(pool, n, upstream, reach, scale, [=](int begin, int end, auto factor) {
        for (int i = begin; i < end; ++i) {
            const A t = target[i];
            gradient[i] = (of_target ? (t == 0 ? A(0) : log_of(t) + 1 - A(x[i])) : -t) * factor(i);
        }
    });
}

#define UPSTREAM(n) "upstream[reach/2*(" #n "-1)+min(reach,1)]"  // none, one number, or one a loss
#define IGNORED "ignored=-2+min(@m/3,1)*2"                       // the label 0, where there are three rows
std::span<const Kernel> loss() {
    static constexpr Kernel rows[] = {
        {"softmax_cross_entropy", "softmax_cross_entropy.cu", "p[R,C] = softmax(logits), loss[R] = -log p[label]",
         "logits[rows,classes]{-40..40} labels[rows]:i32{0..classes} >loss[rows] >probabilities[rows,classes] rows "
         "classes=@n",
         FLOATS(softmax_cross_entropy), "warps(rows)", Agreement::nearly},
        {"softmax_cross_entropy_backward", "softmax_cross_entropy.cu", "dlogits[R,C] = (p - onehot(label)) scale",
         "probabilities[rows,classes] labels[rows]:i32{0..classes} >dlogits[rows,classes] rows classes=@n scale:sum=0.0123",
         FLOATS(softmax_cross_entropy_backward), "threads(rows*classes)"},
        {"mse", "mse.cu", "squared = (prediction - target)^2", "prediction[n] target[n] >squared[n] n", FLOATS(mse)},
        {"mse_backward", "mse.cu", "dprediction = 2 (prediction - target) scale",
         "prediction[n] target[n] >dprediction[n] n scale:sum=0.0123", FLOATS(mse_backward)},
        {"cross_entropy", "loss.cu", "loss[R] = -log softmax[label], labels smoothed; 0 where ignored",
         "logits[rows,classes] labels[rows]:i32{0..classes} >loss[rows] >probabilities[rows,classes] rows "
         "classes=@n " IGNORED " smoothing:sum=@k%3*0.1",
         FLOATS(cross_entropy), "warps(rows)", Agreement::nearly},
        {"mean_of_labelled", "loss.cu", "mean[1] and count of the rows whose label is not ignored",
         "loss[rows] labels[rows]:i32{0..@n+1} >mean[1] >counted[1]:sum rows ignored=-1", FLOATS(mean_of_labelled),
         "blocks(1)", Agreement::nearly},
        {"cross_entropy_backward", "loss.cu", "dlogits = (p - smoothed label) upstream / count",
         "probabilities[rows,classes] labels[rows]:i32{0..classes} counted[by_count]:sum{1..9} " UPSTREAM(
             rows) " >dlogits[rows,classes] reach=@k%3 by_count=@m%2 rows classes=@n " IGNORED " smoothing:sum=@k%3*0.1",
         FLOATS(cross_entropy_backward), "threads(rows*classes)", Agreement::nearly},
        {"nll", "loss.cu", "loss[R] = -x[label]; 0 where ignored",
         "x[rows,classes] labels[rows]:i32{0..classes} >loss[rows] rows classes=@n " IGNORED, FLOATS(nll), "threads(rows)",
         Agreement::nearly},
        {"nll_backward", "loss.cu", "dx = -upstream / count at the label",
         "labels[rows]:i32{0..classes} counted[by_count]:sum{1..9} " UPSTREAM(
             rows) " >dx[rows,classes] reach=@k%3 by_count=@m%2 rows classes=@n " IGNORED,
         FLOATS(nll_backward), "threads(rows*classes)", Agreement::nearly},
        {"bce_with_logits", "loss.cu", "loss = binary cross-entropy of sigmoid(x) with target",
         "x[n]{-6..6} target[n]{0..1,zero} >loss[n] n", FLOATS(bce_with_logits), "threads(n)", Agreement::nearly},
        {"bce_with_logits_backward", "loss.cu", "dx = (sigmoid(x) - target) scale",
         "x[n]{-6..6} target[n]{0..1,zero} " UPSTREAM(n) " >gradient[n] reach=@k%3 of_target=@m%2 n scale:sum=0.0123",
         FLOATS(bce_with_logits_backward), "threads(n)", Agreement::nearly},
        {"smooth_l1", "loss.cu", "loss = |p - t|, quadratic below beta",
         "prediction[n] target[n] >loss[n] n beta:sum=@k%3*0.5", FLOATS(smooth_l1), "threads(n)", Agreement::nearly},
        {"smooth_l1_backward", "loss.cu", "dp = sign of p - t, linear below beta, times scale",
         "prediction[n] target[n] " UPSTREAM(n) " >dprediction[n] reach=@k%3 n beta:sum=@k%3*0.5 scale:sum=0.0123",
         FLOATS(smooth_l1_backward), "threads(n)", Agreement::nearly},
        {"kl_div", "loss.cu", "loss = t (log t - x)", "x[n]{-6..6} target[n]{0..1,zero} >loss[n] n", FLOATS(kl_div),
         "threads(n)", Agreement::nearly},
        {"kl_div_backward", "loss.cu", "dx = -t scale",
         "x[n]{-6..6} target[n]{0..1,zero} " UPSTREAM(n) " >gradient[n] reach=@k%3 of_target=@m%2 n scale:sum=0.0123",
         FLOATS(kl_div_backward), "threads(n)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
