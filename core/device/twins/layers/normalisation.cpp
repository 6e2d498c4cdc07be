// Normalisations: layer and RMS norm (kernels/norm_layer.cu), batch norm (norm_batch.cu), group norm (norm_group.cu).
// A channel of a batch lies in pieces, one an image; sums over it take them in order.
#include <cmath>

#include "core/device/twins/rows.h"
#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class A>
A inverse_root(A x) {
    return 1 / std::sqrt(x);
}

// Of a channel or column, as the kernels' `affine` says.
template <class T>
Acc<T> weight_of(const T* weight, int affine, int i) {
    return affine > 0 ? Acc<T>(weight[i]) : Acc<T>(1);
}
template <class T>
Acc<T> bias_of(const T* bias, int affine, int i) {
    return affine > 1 ? Acc<T>(bias[i]) : Acc<T>(0);
}

// y = (x - centre) scale weight + bias along a row, with the weights of its columns.
template <class T>
void scaled_row(const T* x, const T* weight, const T* bias, T* y, int affine, int columns, Acc<T> centre, Acc<T> scale) {
    if (affine > 1)
        for (int i = 0; i < columns; ++i) y[i] = (Acc<T>(x[i]) - centre) * scale * Acc<T>(weight[i]) + Acc<T>(bias[i]);
    else if (affine > 0)
        for (int i = 0; i < columns; ++i) y[i] = (Acc<T>(x[i]) - centre) * scale * Acc<T>(weight[i]);
    else
        for (int i = 0; i < columns; ++i) y[i] = (Acc<T>(x[i]) - centre) * scale;
}

// Sums over the rows of each column, as a block of (32, 8) takes them: rows r, r + 8, ... together, then the eight in order.
template <class A, class T, class Term>
void column_sums(int rows, int columns, T* sums, const Term& term) {
    const auto width = static_cast<size_t>(columns);
    A* partial = scratch<A>(0, 8 * width);
    std::fill_n(partial, 8 * width, A(0));
    for (int row = 0; row < rows; ++row) {
        A* to = partial + static_cast<size_t>(row % 8) * width;
        term(row, to);
    }
    for (size_t i = 0; i < width; ++i) {
        A sum = partial[i];
        for (size_t j = 1; j < 8; ++j) sum += partial[j * width + i];
        sums[i] = sum;
    }
}

template <class T>
void layer_norm(ThreadPool& pool, const T* x, const T* weight, const T* bias, T* y, Acc<T>* mean, Acc<T>* inverse,
                int affine, int rows, int columns, Acc<T> epsilon) {
    using A = Acc<T>;
    each_row(pool, rows, columns * 4, [=](int row) {
        const T* from = x + int64_t{row} * columns;
        const A centre = sum_of_row<A>(columns, [=](int i) { return A(from[i]); }) / static_cast<A>(columns);
        const A squares = sum_of_row<A>(columns, [=](int i) { return (A(from[i]) - centre) * (A(from[i]) - centre); });
        const A scale = inverse_root(squares / static_cast<A>(columns) + epsilon);
        scaled_row(from, weight, bias, y + int64_t{row} * columns, affine, columns, centre, scale);
        mean[row] = centre, inverse[row] = scale;
    });
}
template <class T>
void layer_norm_backward(ThreadPool& pool, const T* x, const T* weight, const Acc<T>* mean, const Acc<T>* inverse,
                         const T* dy, T* dx, int affine, int rows, int columns) {
    using A = Acc<T>;
    each_row(pool, rows, columns * 4, [=](int row) {
        const T *from = x + int64_t{row} * columns, *d = dy + int64_t{row} * columns;
        T* to = dx + int64_t{row} * columns;
        const A centre = mean[row], scale = inverse[row];
        A* g = scratch<A>(0, static_cast<size_t>(columns));
        if (affine > 0)
            for (int i = 0; i < columns; ++i) g[i] = A(d[i]) * A(weight[i]);
        else
            std::copy_n(d, columns, g);
        const A sum = sum_of_row<A>(columns, [=](int i) { return g[i]; }) / static_cast<A>(columns);
        const A along =
            sum_of_row<A>(columns, [=](int i) { return g[i] * ((A(from[i]) - centre) * scale); }) / static_cast<A>(columns);
        for (int i = 0; i < columns; ++i) to[i] = scale * (g[i] - sum - (A(from[i]) - centre) * scale * along);
    });
}
template <class T>
void layer_norm_weight_grad(ThreadPool&, const T* x, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dbias,
                            T* dweight, int affine, int rows, int columns) {
    using A = Acc<T>;
    column_sums<A>(rows, columns, dweight, [=](int row, A* sum) {
        const T *from = x + int64_t{row} * columns, *d = dy + int64_t{row} * columns;
        const A centre = mean[row], scale = inverse[row];
        for (int i = 0; i < columns; ++i) sum[i] += A(d[i]) * ((A(from[i]) - centre) * scale);
    });
    if (affine > 1)
        column_sums<A>(rows, columns, dbias, [=](int row, A* sum) {
            const T* d = dy + int64_t{row} * columns;
            for (int i = 0; i < columns; ++i) sum[i] += A(d[i]);
        });
}

template <class T>
void rms_norm(ThreadPool& pool, const T* x, const T* weight, T* y, Acc<T>* inverse, int affine, int rows, int columns,
              Acc<T> epsilon) {
    using A = Acc<T>;
    each_row(pool, rows, columns * 4, [=](int row) {
        const T* from = x + int64_t{row} * columns;
        const A squares = sum_of_row<A>(columns, [=](int i) { return A(from[i]) * A(from[i]); });
        const A scale = inverse_root(squares / static_cast<A>(columns) + epsilon);
        const T* no_bias = nullptr;
        scaled_row(from, weight, no_bias, y + int64_t{row} * columns, affine > 0 ? 1 : 0, columns, A(0), scale);
        inverse[row] = scale;
    });
}
template <class T>
void rms_norm_backward(ThreadPool& pool, const T* x, const T* weight, const Acc<T>* inverse, const T* dy, T* dx, int affine,
                       int rows, int columns) {
    using A = Acc<T>;
    each_row(pool, rows, columns * 4, [=](int row) {
        const T *from = x + int64_t{row} * columns, *d = dy + int64_t{row} * columns;
        T* to = dx + int64_t{row} * columns;
        const A scale = inverse[row];
        A* g = scratch<A>(0, static_cast<size_t>(columns));
        if (affine > 0)
            for (int i = 0; i < columns; ++i) g[i] = A(d[i]) * A(weight[i]);
        else
            std::copy_n(d, columns, g);
        const A along = sum_of_row<A>(columns, [=](int i) { return g[i] * (A(from[i]) * scale); }) / static_cast<A>(columns);
        for (int i = 0; i < columns; ++i) to[i] = scale * (g[i] - A(from[i]) * scale * along);
    });
}
template <class T>
void rms_norm_weight_grad(ThreadPool&, const T* x, const Acc<T>* inverse, const T* dy, T* dweight, int rows, int columns) {
    using A = Acc<T>;
    column_sums<A>(rows, columns, dweight, [=](int row, A* sum) {
        const T *from = x + int64_t{row} * columns, *d = dy + int64_t{row} * columns;
        const A scale = inverse[row];
        for (int i = 0; i < columns; ++i) sum[i] += A(d[i]) * (A(from[i]) * scale);
    });
}

template <class T>
void batch_norm_statistics(ThreadPool& pool, const T* x, Acc<T>* mean, Acc<T>* variance, int batch, int channels, int inner,
                           int groups) {
    using A = Acc<T>;
    const int images = batch / groups;
    const auto count = static_cast<A>(images * inner);
    each_row(pool, groups * channels, images * inner, [=](int part) {
        const auto piece = [=](int image) {
            return x + ((int64_t{part / channels} * images + image) * channels + part % channels) * inner;
        };
        A sum = 0, squares = 0;
        for (int image = 0; image < images; ++image) {
            const T* from = piece(image);
            sum += sum_of_row<A>(inner, [=](int i) { return A(from[i]); });
        }
        const A centre = sum / count;
        for (int image = 0; image < images; ++image) {
            const T* from = piece(image);
            squares += sum_of_row<A>(inner, [=](int i) { return (A(from[i]) - centre) * (A(from[i]) - centre); });
        }
        mean[part] = centre, variance[part] = squares / count;
    });
}
template <class T>
void batch_norm(ThreadPool& pool, const T* x, const Acc<T>* mean, const Acc<T>* variance, const T* weight, const T* bias,
                T* y, int affine, int batch, int channels, int inner, int groups, Acc<T> epsilon) {
    const int images = batch / groups;
    each_row(pool, batch * channels, inner, [=](int plane) {
        const int channel = plane % channels, part = plane / channels / images * channels + channel;
        const T* from = x + int64_t{plane} * inner;
        T* to = y + int64_t{plane} * inner;
        const Acc<T> centre = mean[part], scale = inverse_root(variance[part] + epsilon);
        const Acc<T> factor = weight_of(weight, affine, channel), add = bias_of(bias, affine, channel);
        for (int i = 0; i < inner; ++i) to[i] = (Acc<T>(from[i]) - centre) * scale * factor + add;
    });
}
template <class T>
void batch_norm_running(ThreadPool&, const Acc<T>* mean, const Acc<T>* variance, T* running_mean, T* running_variance,
                        int channels, int groups, int count, Acc<T> momentum) {
    using A = Acc<T>;
    const A unbiased = count > 1 ? static_cast<A>(count) / static_cast<A>(count - 1) : A(1);
    for (int channel = 0; channel < channels; ++channel) {
        A centre = running_mean[channel], spread = running_variance[channel];
        for (int group = 0; group < groups; ++group) {
            const int i = group * channels + channel;
            centre = (1 - momentum) * centre + momentum * mean[i];
            spread = (1 - momentum) * spread + momentum * (variance[i] * unbiased);
        }
        running_mean[channel] = centre, running_variance[channel] = spread;
    }
}
template <class T>
void batch_norm_given(ThreadPool&, const T* running_mean, const T* running_variance, Acc<T>* mean, Acc<T>* variance,
                      int channels) {
    std::copy_n(running_mean, channels, mean);
    std::copy_n(running_variance, channels, variance);
}
template <class T>
void batch_norm_given_grad(ThreadPool&, const Acc<T>* variance, const T* weight, const Acc<T>* dy_sum, const Acc<T>* along,
                           T* dmean, T* dvariance, int affine, int channels, Acc<T> epsilon) {
    for (int channel = 0; channel < channels; ++channel) {
        const Acc<T> scale = inverse_root(variance[channel] + epsilon), factor = weight_of(weight, affine, channel);
        dmean[channel] = -factor * scale * dy_sum[channel];
        dvariance[channel] = Acc<T>(-0.5) * factor * scale * scale * along[channel];
    }
}
template <class T>
void batch_norm_sums(ThreadPool& pool, const T* x, const T* dy, const Acc<T>* mean, const Acc<T>* variance, Acc<T>* dy_sum,
                     Acc<T>* along, int batch, int channels, int inner, int groups, Acc<T> epsilon) {
    using A = Acc<T>;
    const int images = batch / groups;
    each_row(pool, groups * channels, images * inner, [=](int part) {
        const A centre = mean[part], scale = inverse_root(variance[part] + epsilon);
        A sum = 0, product = 0;
        for (int image = 0; image < images; ++image) {
            const int64_t at = ((int64_t{part / channels} * images + image) * channels + part % channels) * inner;
            const T *from = x + at, *d = dy + at;
            sum += sum_of_row<A>(inner, [=](int i) { return A(d[i]); });
            product += sum_of_row<A>(inner, [=](int i) { return A(d[i]) * ((A(from[i]) - centre) * scale); });
        }
        dy_sum[part] = sum, along[part] = product;
    });
}
template <class T>
void batch_norm_weight_grad(ThreadPool&, const Acc<T>* dy_sum, const Acc<T>* along, T* dweight, T* dbias, int channels,
                            int groups) {
    for (int channel = 0; channel < channels; ++channel) {
        Acc<T> weight = 0, bias = 0;
        for (int group = 0; group < groups; ++group) {
            weight += along[group * channels + channel];
            bias += dy_sum[group * channels + channel];
        }
        dweight[channel] = weight, dbias[channel] = bias;
    }
}
template <class T>
void batch_norm_backward(ThreadPool& pool, const T* x, const T* dy, const Acc<T>* mean, const Acc<T>* variance,
                         const T* weight, const Acc<T>* dy_sum, const Acc<T>* along, T* dx, int affine, int training,
                         int batch, int channels, int inner, int groups, Acc<T> epsilon) {
    using A = Acc<T>;
    const int images = batch / groups;
    const auto count = static_cast<A>(images * inner);
    each_row(pool, batch * channels, inner, [=](int plane) {
        const int channel = plane % channels, part = plane / channels / images * channels + channel;
        const T *from = x + int64_t{plane} * inner, *d = dy + int64_t{plane} * inner;
        T* to = dx + int64_t{plane} * inner;
        const A scale = inverse_root(variance[part] + epsilon), factor = weight_of(weight, affine, channel),
                centre = mean[part];
        const A sum = training ? dy_sum[part] / count : A(0), product = training ? along[part] / count : A(0);
        for (int i = 0; i < inner; ++i) to[i] = (A(d[i]) - sum - (A(from[i]) - centre) * scale * product) * scale * factor;
    });
}

template <class T>
void group_norm(ThreadPool& pool, const T* x, const T* weight, const T* bias, T* y, Acc<T>* mean, Acc<T>* inverse,
                int affine, int batch, int channels, int inner, int groups, Acc<T> epsilon) {
    using A = Acc<T>;
    const int together = channels / groups, count = together * inner;
    each_row(pool, batch * groups, count * 4, [=](int part) {
        const T* from = x + int64_t{part} * count;
        const A centre = sum_of_row<A>(count, [=](int i) { return A(from[i]); }) / static_cast<A>(count);
        const A squares = sum_of_row<A>(count, [=](int i) { return (A(from[i]) - centre) * (A(from[i]) - centre); });
        const A scale = inverse_root(squares / static_cast<A>(count) + epsilon);
        T* to = y + int64_t{part} * count;
        for (int c = 0; c < together; ++c, from += inner, to += inner) {
            const int channel = part % groups * together + c;
            const A factor = weight_of(weight, affine, channel), add = bias_of(bias, affine, channel);
            for (int i = 0; i < inner; ++i) to[i] = (A(from[i]) - centre) * scale * factor + add;
        }
        mean[part] = centre, inverse[part] = scale;
    });
}
template <class T>
void group_norm_backward(ThreadPool& pool, const T* x, const T* weight, const Acc<T>* mean, const Acc<T>* inverse,
                         const T* dy, T* dx, int affine, int batch, int channels, int inner, int groups) {
    using A = Acc<T>;
    const int together = channels / groups, count = together * inner;
    each_row(pool, batch * groups, count * 4, [=](int part) {
        const A centre = mean[part], scale = inverse[part];
        const T *from = x + int64_t{part} * count, *d = dy + int64_t{part} * count;
        A sum = 0, along = 0;
        for (int c = 0; c < together; ++c) {
            const A factor = weight_of(weight, affine, part % groups * together + c);
            const T *row = from + int64_t{c} * inner, *of = d + int64_t{c} * inner;
            sum += factor * sum_of_row<A>(inner, [=](int i) { return A(of[i]); });
            along += factor * sum_of_row<A>(inner, [=](int i) { return A(of[i]) * ((A(row[i]) - centre) * scale); });
        }
        sum /= static_cast<A>(count), along /= static_cast<A>(count);
        T* to = dx + int64_t{part} * count;
        for (int c = 0; c < together; ++c, from += inner, d += inner, to += inner) {
            const A factor = weight_of(weight, affine, part % groups * together + c);
            for (int i = 0; i < inner; ++i) to[i] = scale * (A(d[i]) * factor - sum - (A(from[i]) - centre) * scale * along);
        }
    });
}
template <class T>
void group_norm_weight_grad(ThreadPool& pool, const T* x, const Acc<T>* mean, const Acc<T>* inverse, const T* dy, T* dweight,
                            T* dbias, int batch, int channels, int inner, int groups) {
    using A = Acc<T>;
    each_row(pool, channels, batch * inner, [=](int channel) {
        A along = 0, sum = 0;
        for (int image = 0; image < batch; ++image) {
            const int64_t at = (int64_t{image} * channels + channel) * inner;
            const int part = image * groups + channel / (channels / groups);
            const T *from = x + at, *d = dy + at;
            const A centre = mean[part], scale = inverse[part];
            along += sum_of_row<A>(inner, [=](int i) { return A(d[i]) * ((A(from[i]) - centre) * scale); });
            sum += sum_of_row<A>(inner, [=](int i) { return A(d[i]); });
        }
        dweight[channel] = along, dbias[channel] = sum;
    });
}

#define BATCH "batch=groups*(2+@m%3) channels=1+@n%13 inner=1+@k%37 groups=1+@k%3"
#define GROUPED "batch=1+@k%4 channels=groups*(1+@n%4) inner=1+@n%30 groups=1+@m%3"
std::span<const Kernel> normalisation() {
    static constexpr Kernel rows[] = {
        {"layer_norm",
         "norm_layer.cu",
         "y[R,C] = each row with mean 0 and variance 1, times weight, plus bias",
         "x[rows,columns] weight[columns,min(affine,1)] bias[columns,affine/2] >y[rows,columns] >mean[rows]:sum "
         ">inverse[rows]:sum affine=@k%3 rows columns epsilon:sum=0.001",
         FLOATS(layer_norm),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {3, {7, 8}}}},
        {"layer_norm_backward",
         "norm_layer.cu",
         "dx of layer_norm",
         "x[rows,columns] weight[columns,min(affine,1)] mean[rows]:sum{-0.5..0.5} inverse[rows]:sum{0.5..1.5} "
         "dy[rows,columns] "
         ">dx[rows,columns] affine=@k%3 rows columns",
         FLOATS(layer_norm_backward),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {5, {7, 8}}}},
        {"layer_norm_weight_grad", "norm_layer.cu", "dweight[C], dbias[C] of layer_norm",
         "x[rows,columns] mean[rows]:sum{-0.5..0.5} inverse[rows]:sum{0.5..1.5} dy[rows,columns] &dbias[columns,affine/2] "
         "&dweight[columns] affine=@k%3 rows columns",
         FLOATS(layer_norm_weight_grad), "grid(cover(columns,32),1,1,32,8)", Agreement::nearly},
        {"rms_norm",
         "norm_layer.cu",
         "y[R,C] = each row over its root mean square, times weight",
         "x[rows,columns] weight[columns,min(affine,1)] >y[rows,columns] >inverse[rows]:sum affine=@k%3 rows columns "
         "epsilon:sum=0.001",
         FLOATS(rms_norm),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {2, {5, 6}}}},
        {"rms_norm_backward",
         "norm_layer.cu",
         "dx of rms_norm",
         "x[rows,columns] weight[columns,min(affine,1)] inverse[rows]:sum{0.5..1.5} dy[rows,columns] >dx[rows,columns] "
         "affine=@k%3 rows columns",
         FLOATS(rms_norm_backward),
         "warps(rows)",
         Agreement::nearly,
         {.stored_once = {4, {6, 7}}}},
        {"rms_norm_weight_grad", "norm_layer.cu", "dweight[C] of rms_norm",
         "x[rows,columns] inverse[rows]:sum{0.5..1.5} dy[rows,columns] >dweight[columns] rows columns",
         FLOATS(rms_norm_weight_grad), "grid(cover(columns,32),1,1,32,8)", Agreement::nearly},
        {"batch_norm_statistics", "norm_batch.cu", "mean[G,C], variance[G,C] of x[N,C,S] in G groups of the batch",
         "x[batch,channels,inner] >mean[groups,channels]:sum >variance[groups,channels]:sum " BATCH,
         FLOATS(batch_norm_statistics), "blocks(groups*channels)", Agreement::nearly},
        {"batch_norm", "norm_batch.cu", "y[N,C,S] = (x - mean) / sqrt(variance + epsilon) weight + bias",
         "x[batch,channels,inner] mean[groups,channels]:sum{-1..1} variance[groups,channels]:sum{0.5..2} "
         "weight[channels,min(affine,1)] bias[channels,affine/2] >y[batch,channels,inner] affine=@k%3 " BATCH
         " epsilon:sum=0.00001",
         FLOATS(batch_norm), "threads(batch*channels*inner)", Agreement::nearly},
        {"batch_norm_running", "norm_batch.cu", "running statistics take a step towards the batch's",
         "mean[groups,channels]:sum{-1..1} variance[groups,channels]:sum{0.5..2} &running_mean[channels]{-1..1} "
         "&running_variance[channels]{0.5..2} channels=1+@n%13 groups=1+@k%3 count=1+@m momentum:sum=0.1",
         FLOATS(batch_norm_running), "threads(channels)", Agreement::nearly},
        {"batch_norm_given", "norm_batch.cu", "mean[C], variance[C] = the running statistics",
         "running_mean[channels] running_variance[channels] >mean[channels]:sum >variance[channels]:sum channels=1+@n%13",
         FLOATS(batch_norm_given), "threads(channels)", Agreement::nearly},
        {"batch_norm_given_grad", "norm_batch.cu", "dmean[C], dvariance[C] of the statistics given",
         "variance[channels]:sum{0.5..2} weight[channels,min(affine,1)] dy_sum[channels]:sum{-9..9} "
         "along[channels]:sum{-9..9} "
         ">dmean[channels] >dvariance[channels] affine=@k%3 channels=1+@n%13 epsilon:sum=0.00001",
         FLOATS(batch_norm_given_grad), "threads(channels)", Agreement::nearly},
        {"batch_norm_sums", "norm_batch.cu", "sums[G,C] of dy and of dy times the normalised x",
         "x[batch,channels,inner] dy[batch,channels,inner] mean[groups,channels]:sum{-1..1} "
         "variance[groups,channels]:sum{0.5..2} >dy_sum[groups,channels]:sum >along[groups,channels]:sum " BATCH
         " epsilon:sum=0.00001",
         FLOATS(batch_norm_sums), "blocks(groups*channels)", Agreement::nearly},
        {"batch_norm_weight_grad", "norm_batch.cu", "dweight[C], dbias[C] of batch_norm, over its groups",
         "dy_sum[groups,channels]:sum{-1..1} along[groups,channels]:sum{-1..1} >dweight[channels] >dbias[channels] "
         "channels=1+@n%13 groups=1+@k%3",
         FLOATS(batch_norm_weight_grad), "threads(channels)", Agreement::nearly},
        {"batch_norm_backward", "norm_batch.cu", "dx of batch_norm",
         "x[batch,channels,inner] dy[batch,channels,inner] mean[groups,channels]:sum{-1..1} "
         "variance[groups,channels]:sum{0.5..2} weight[channels,min(affine,1)] dy_sum[groups,channels]:sum{-9..9} "
         "along[groups,channels]:sum{-9..9} >dx[batch,channels,inner] affine=@k%3 training=@m%2 " BATCH
         " epsilon:sum=0.00001",
         FLOATS(batch_norm_backward), "threads(batch*channels*inner)", Agreement::nearly},
        {"group_norm", "norm_group.cu", "y[N,C,S] = each group of channels with mean 0 and variance 1",
         "x[batch,channels,inner] weight[channels,min(affine,1)] bias[channels,affine/2] >y[batch,channels,inner] "
         ">mean[batch,groups]:sum >inverse[batch,groups]:sum affine=@k%3 " GROUPED " epsilon:sum=0.001",
         FLOATS(group_norm), "blocks(batch*groups)", Agreement::nearly},
        {"group_norm_backward", "norm_group.cu", "dx of group_norm",
         "x[batch,channels,inner] weight[channels,min(affine,1)] mean[batch,groups]:sum{-0.5..0.5} "
         "inverse[batch,groups]:sum{0.5..1.5} dy[batch,channels,inner] >dx[batch,channels,inner] affine=@k%3 " GROUPED,
         FLOATS(group_norm_backward), "blocks(batch*groups)", Agreement::nearly},
        {"group_norm_weight_grad", "norm_group.cu", "dweight[C], dbias[C] of group_norm",
         "x[batch,channels,inner] mean[batch,groups]:sum{-0.5..0.5} inverse[batch,groups]:sum{0.5..1.5} "
         "dy[batch,channels,inner] >dweight[channels] >dbias[channels] " GROUPED,
         FLOATS(group_norm_weight_grad), "blocks(channels)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
