// The pointwise half of recurrent cells, one launch after the two matrix products x Wi' + bi and h Wh' + bh, here gi and gh.
// B rows, H hidden; gates lie side by side in PyTorch's order: [B, gates H].
// rnn_cell:   h' = tanh(gi + gh), or relu with mode 1
// gru_cell:   r, z = sigmoid(gi + gh), n = tanh(gi_n + r gh_n), h' = (1 - z) n + z h                       gates r z n
// lstm_cell:  i, f, o = sigmoid, g = tanh of (gi + gh); c' = f c + i g, h' = o tanh(c'); y[2,B,H] = h', c'   gates i f g o
// Forward keeps the activated gates; backward turns the gradient of the result into those of gi, gh and the old state.
// One thread a hidden unit; launch ceil(B H / 256) blocks of 256.

#include "include/element.h"

template <class T>
__device__ void rnn_cell(const T* gi, const T* gh, T* h, int mode, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> sum = Acc<T>(gi[i]) + Acc<T>(gh[i]);
    h[i] = mode == 0 ? tanh_of(sum) : sum < 0 ? Acc<T>(0) : sum;
}
FLOATS_WITH_MATH(rnn_cell, (const T* gi, const T* gh, T* h, int mode, int n), gi, gh, h, mode, n)

template <class T>
__device__ void rnn_cell_backward(const T* h, const T* dh, T* dgi, T* dgh, int mode, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> y = h[i], slope = mode == 0 ? 1 - y * y : y > 0 ? Acc<T>(1) : Acc<T>(0), d = Acc<T>(dh[i]) * slope;
    dgi[i] = d;
    dgh[i] = d;
}
FLOATS(rnn_cell_backward, (const T* h, const T* dh, T* dgi, T* dgh, int mode, int n), h, dh, dgi, dgh, mode, n)

template <class T>
__device__ void gru_cell(const T* gi, const T* gh, const T* h, T* y, T* gates, int rows, int hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * hidden) return;
    int at = i / hidden * 3 * hidden + i % hidden;                              // [B,3H]
    Acc<T> r = sigmoid_of(Acc<T>(gi[at]) + Acc<T>(gh[at]));
    Acc<T> z = sigmoid_of(Acc<T>(gi[at + hidden]) + Acc<T>(gh[at + hidden]));
    Acc<T> n = tanh_of(Acc<T>(gi[at + 2 * hidden]) + r * Acc<T>(gh[at + 2 * hidden]));
    gates[at] = r;
    gates[at + hidden] = z;
    gates[at + 2 * hidden] = n;
    y[i] = (1 - z) * n + z * Acc<T>(h[i]);
}
FLOATS_WITH_MATH(gru_cell, (const T* gi, const T* gh, const T* h, T* y, T* gates, int rows, int hidden), gi, gh, h, y, gates, rows,
                 hidden)

template <class T>
__device__ void gru_cell_backward(const T* gates, const T* gh, const T* h, const T* dy, T* dgi, T* dgh, T* dh, int rows, int hidden) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * hidden) return;
    int at = i / hidden * 3 * hidden + i % hidden;
    Acc<T> r = gates[at], z = gates[at + hidden], n = gates[at + 2 * hidden], d = dy[i];
    Acc<T> dn = d * (1 - z) * (1 - n * n), dz = d * (Acc<T>(h[i]) - n) * (z * (1 - z));
    Acc<T> dr = dn * Acc<T>(gh[at + 2 * hidden]) * (r * (1 - r));
    dgi[at] = dr;
    dgh[at] = dr;
    dgi[at + hidden] = dz;
    dgh[at + hidden] = dz;
    dgi[at + 2 * hidden] = dn;
    dgh[at + 2 * hidden] = dn * r;
    dh[i] = d * z;
}
FLOATS(gru_cell_backward, (const T* gates, const T* gh, const T* h, const T* dy, T* dgi, T* dgh, T* dh, int rows, int hidden), gates,
       gh, h, dy, dgi, dgh, dh, rows, hidden)

template <class T>
__device__ void lstm_cell(const T* gi, const T* gh, const T* c, T* y, T* gates, int rows, int hidden) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= rows * hidden) return;
    int first = at / hidden * 4 * hidden + at % hidden;                         // [B,4H]
    Acc<T> i = sigmoid_of(Acc<T>(gi[first]) + Acc<T>(gh[first]));
    Acc<T> f = sigmoid_of(Acc<T>(gi[first + hidden]) + Acc<T>(gh[first + hidden]));
    Acc<T> g = tanh_of(Acc<T>(gi[first + 2 * hidden]) + Acc<T>(gh[first + 2 * hidden]));
    Acc<T> o = sigmoid_of(Acc<T>(gi[first + 3 * hidden]) + Acc<T>(gh[first + 3 * hidden]));
    gates[first] = i;
    gates[first + hidden] = f;
    gates[first + 2 * hidden] = g;
    gates[first + 3 * hidden] = o;
    Acc<T> state = f * Acc<T>(c[at]) + i * g;
    y[at] = o * tanh_of(state);                                                 // [2,B,H]: h'
    y[rows * hidden + at] = state;                                              // c'
}
FLOATS_WITH_MATH(lstm_cell, (const T* gi, const T* gh, const T* c, T* y, T* gates, int rows, int hidden), gi, gh, c, y, gates, rows,
                 hidden)

template <class T>
__device__ void lstm_cell_backward(const T* gates, const T* c, const T* y, const T* dy, T* dgi, T* dgh, T* dc, int rows, int hidden) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= rows * hidden) return;
    int first = at / hidden * 4 * hidden + at % hidden;
    Acc<T> i = gates[first], f = gates[first + hidden], g = gates[first + 2 * hidden], o = gates[first + 3 * hidden];
    Acc<T> t = tanh_of(Acc<T>(y[rows * hidden + at])), dh = dy[at], d = Acc<T>(dy[rows * hidden + at]) + dh * o * (1 - t * t);
    Acc<T> di = d * g * (i * (1 - i)), df = d * Acc<T>(c[at]) * (f * (1 - f)), dg = d * i * (1 - g * g), dO = dh * t * (o * (1 - o));
    dgi[first] = di;
    dgh[first] = di;
    dgi[first + hidden] = df;
    dgh[first + hidden] = df;
    dgi[first + 2 * hidden] = dg;
    dgh[first + 2 * hidden] = dg;
    dgi[first + 3 * hidden] = dO;
    dgh[first + 3 * hidden] = dO;
    dc[at] = d * f;
}
FLOATS_WITH_MATH(lstm_cell_backward, (const T* gates, const T* c, const T* y, const T* dy, T* dgi, T* dgh, T* dc, int rows, int hidden),
                 gates, c, y, dy, dgi, dgh, dc, rows, hidden)
