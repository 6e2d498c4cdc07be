// The pointwise half of recurrent cells (kernels/rnn.cu).
#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void rnn_cell(ThreadPool& pool, const T* gi, const T* gh, T* h, int mode, int n) {
    elements(pool, n, [=](int begin, int end) {
        if (mode == 0)
            for (int i = begin; i < end; ++i) h[i] = tanh_of(Acc<T>(gi[i]) + Acc<T>(gh[i]));
        else
            for (int i = begin; i < end; ++i) {
                const Acc<T> sum = Acc<T>(gi[i]) + Acc<T>(gh[i]);
                h[i] = sum < 0 ? Acc<T>(0) : sum;
            }
    });
}
template <class T>
void rnn_cell_backward(ThreadPool& pool, const T* h, const T* dh, T* dgi, T* dgh, int mode, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> y = h[i], curve = 1 - y * y, step = y > 0 ? Acc<T>(1) : Acc<T>(0);
            const Acc<T> d = Acc<T>(dh[i]) * (mode == 0 ? curve : step);
            dgi[i] = d;
            dgh[i] = d;
        }
    });
}

template <class T>
void gru_cell(ThreadPool& pool, const T* gi, const T* gh, const T* h, T* y, T* gates, int rows, int hidden) {
    each_row(pool, rows, hidden * 12, [=](int row) {
        const int64_t first = int64_t{row} * 3 * hidden, state = int64_t{row} * hidden;
        const T *ri = gi + first, *zi = ri + hidden, *ni = zi + hidden, *rh = gh + first, *zh = rh + hidden,
                *nh = zh + hidden;
        T *r_kept = gates + first, *z_kept = r_kept + hidden, *n_kept = z_kept + hidden;
        for (int i = 0; i < hidden; ++i) {
            const Acc<T> r = sigmoid_of(Acc<T>(ri[i]) + Acc<T>(rh[i])), z = sigmoid_of(Acc<T>(zi[i]) + Acc<T>(zh[i]));
            const Acc<T> n = tanh_of(Acc<T>(ni[i]) + r * Acc<T>(nh[i]));
            r_kept[i] = r;
            z_kept[i] = z;
            n_kept[i] = n;
            y[state + i] = (1 - z) * n + z * Acc<T>(h[state + i]);
        }
    });
}
template <class T>
void gru_cell_backward(ThreadPool& pool, const T* gates, const T* gh, const T* h, const T* dy, T* dgi, T* dgh, T* dh,
                       int rows, int hidden) {
    each_row(pool, rows, hidden * 8, [=](int row) {
        const int64_t first = int64_t{row} * 3 * hidden, state = int64_t{row} * hidden;
        for (int64_t i = 0; i < hidden; ++i) {
            const int64_t at = first + i;
            const Acc<T> r = gates[at], z = gates[at + hidden], n = gates[at + 2 * hidden], d = dy[state + i];
            const Acc<T> dn = d * (1 - z) * (1 - n * n), dz = d * (Acc<T>(h[state + i]) - n) * (z * (1 - z));
            const Acc<T> dr = dn * Acc<T>(gh[at + 2 * hidden]) * (r * (1 - r));
            dgi[at] = dgh[at] = dr;
            dgi[at + hidden] = dgh[at + hidden] = dz;
            dgi[at + 2 * hidden] = dn;
            dgh[at + 2 * hidden] = dn * r;
            dh[state + i] = d * z;
        }
    });
}

template <class T>
void lstm_cell(ThreadPool& pool, const T* gi, const T* gh, const T* c, T* y, T* gates, int rows, int hidden) {
    each_row(pool, rows, hidden * 16, [=](int row) {
        const int64_t first = int64_t{row} * 4 * hidden, state = int64_t{row} * hidden;
        const T *xi = gi + first, *hi = gh + first;
        T *kept = gates + first, *to = y + state, *cell = to + int64_t{rows} * hidden;
        for (int at = 0; at < hidden; ++at) {
            const auto sum = [&](int gate) { return Acc<T>(xi[gate * hidden + at]) + Acc<T>(hi[gate * hidden + at]); };
            const Acc<T> i = sigmoid_of(sum(0)), f = sigmoid_of(sum(1)), g = tanh_of(sum(2)), o = sigmoid_of(sum(3));
            kept[at] = i;
            kept[hidden + at] = f;
            kept[2 * hidden + at] = g;
            kept[3 * hidden + at] = o;
            const Acc<T> now = f * Acc<T>(c[state + at]) + i * g;
            to[at] = o * tanh_of(now);
            cell[at] = now;
        }
    });
}
template <class T>
void lstm_cell_backward(ThreadPool& pool, const T* gates, const T* c, const T* y, const T* dy, T* dgi, T* dgh, T* dc,
                        int rows, int hidden) {
    each_row(pool, rows, hidden * 12, [=](int row) {
        const int64_t state = int64_t{row} * hidden, second = (int64_t{rows} + row) * hidden;
        for (int64_t at = 0; at < hidden; ++at) {
            const int64_t first = int64_t{row} * 4 * hidden + at;
            const Acc<T> i = gates[first], f = gates[first + hidden], g = gates[first + 2 * hidden],
                         o = gates[first + 3 * hidden];
            const Acc<T> t = tanh_of(Acc<T>(y[second + at])), dh = dy[state + at];
            const Acc<T> d = Acc<T>(dy[second + at]) + dh * o * (1 - t * t);
            dgi[first] = dgh[first] = d * g * (i * (1 - i));
            dgi[first + hidden] = dgh[first + hidden] = d * Acc<T>(c[state + at]) * (f * (1 - f));
            dgi[first + 2 * hidden] = dgh[first + 2 * hidden] = d * i * (1 - g * g);
            dgi[first + 3 * hidden] = dgh[first + 3 * hidden] = dh * t * (o * (1 - o));
            dc[state + at] = d * f;
        }
    });
}

std::span<const Kernel> rnn() {
    static constexpr Kernel rows[] = {
        {"rnn_cell", "rnn.cu", "h' = tanh(gi + gh)", "gi[n] gh[n] >h[n] mode=@n%2 n", FLOATS(rnn_cell), "threads(n)",
         Agreement::nearly},
        {"rnn_cell_backward", "rnn.cu", "gradients of tanh(gi + gh)", "h[n] dh[n] >dgi[n] >dgh[n] mode=@n%2 n",
         FLOATS(rnn_cell_backward)},
        {"gru_cell", "rnn.cu", "h' = (1 - z) n + z h",
         "gi[3,rows,hidden] gh[3,rows,hidden] h[rows,hidden] >y[rows,hidden] >gates[3,rows,hidden] rows hidden=@n",
         FLOATS(gru_cell), "threads(rows*hidden)", Agreement::nearly},
        {"gru_cell_backward", "rnn.cu", "gradients of a GRU cell",
         "gates[3,rows,hidden]{0..1} gh[3,rows,hidden] h[rows,hidden] dy[rows,hidden] >dgi[3,rows,hidden] "
         ">dgh[3,rows,hidden] "
         ">dh[rows,hidden] rows hidden=@n",
         FLOATS(gru_cell_backward), "threads(rows*hidden)", Agreement::nearly},
        {"lstm_cell", "rnn.cu", "c' = f c + i g, h' = o tanh(c')",
         "gi[4,rows,hidden] gh[4,rows,hidden] c[rows,hidden] >y[2,rows,hidden] >gates[4,rows,hidden] rows hidden=@n",
         FLOATS(lstm_cell), "threads(rows*hidden)", Agreement::nearly},
        {"lstm_cell_backward", "rnn.cu", "gradients of an LSTM cell",
         "gates[4,rows,hidden]{0..1} c[rows,hidden] y[2,rows,hidden] dy[2,rows,hidden] >dgi[4,rows,hidden] "
         ">dgh[4,rows,hidden] "
         ">dc[rows,hidden] rows hidden=@n",
         FLOATS(lstm_cell_backward), "threads(rows*hidden)", Agreement::nearly},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
