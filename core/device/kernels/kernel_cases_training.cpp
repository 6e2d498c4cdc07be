// The cases of kernels for sequences and training: batched products, optimisers, embedding, rotary positions, attention,
// recurrent cells, random numbers, sparse products.
#include <algorithm>
#include <cmath>

#include "core/device/kernels/kernel_case_writer.h"

namespace lockstep::device::kernel_cases {

bool training_case(const KernelRow& row, Shape shape, Rng& rng, KernelCase& result) {
    const std::string_view kernel = row.base;
    CaseWriter w{row, rng, result};
    const auto cover = CaseWriter::cover;
    if (kernel.starts_with("bmm_")) {  // of A, the batch shares one matrix
        const int batch = 1 + shape.m % 5, m = std::min(shape.m, 20), n = std::min(shape.n, 37), k = std::min(shape.k, 40);
        w.given(m * k), w.given(batch * k * n), w.result_buffer(batch * m * n);
        w.numbers({batch, m, n, k, 0, k * n, m * n});
        w.grid(cover(n, 16), cover(m, 16), static_cast<uint32_t>(batch)), w.block(16, 16);
        w.approximate();
    } else if (kernel == "index_select" || kernel == "index_add" || kernel == "gather" || kernel == "gather_backward" ||
               kernel == "scatter_add") {
        const int outer = 1 + shape.k % 3, extent = shape.m, count = shape.n, inner = 1 + shape.k % 40;
        const bool whole = kernel == "gather" || kernel == "gather_backward" || kernel == "scatter_add";
        const int indices = whole ? outer * count * inner : count;
        if (kernel == "index_add") {
            w.given(outer * count * inner);
            const auto index = w.indices(count, extent);
            std::vector<double> next(index.size(), -1), first(index.size(), 1);
            for (size_t i = index.size(); i-- > 0;)
                for (size_t j = i + 1; j < index.size() && next[i] < 0; ++j)
                    if (index[j] == index[i]) next[i] = double(j), first[j] = 0;
            w.buffer(DType::i32, 0, [] { return 0.0; }) = next;
            w.buffer(DType::i32, 0, [] { return 0.0; }) = first;
            w.given(outer * extent * inner);
            w.numbers({outer, extent, count, inner, extent / 2});
            w.grid(static_cast<uint32_t>(count), static_cast<uint32_t>(outer)), w.block(128);
            return true;
        }
        if (kernel == "scatter_add" || !kernel.ends_with("backward")) w.given(outer * extent * inner);
        w.indices(indices, extent);
        if (kernel == "scatter_add" || kernel == "gather_backward") w.given(outer * count * inner);
        const bool into_x = kernel == "scatter_add" || kernel == "gather_backward";
        w.result_buffer(into_x ? outer * extent * inner : outer * count * inner);
        w.numbers({outer, extent, count, inner});
        w.grid(into_x ? cover(outer * inner, 256) : cover(outer * count * inner, 256));
    } else if (kernel == "index_order") {
        const int n = shape.m * shape.n;
        w.indices(n, 1 + shape.k), w.result_buffer(n), w.result_buffer(n), w.numbers({n});
    } else if (kernel == "one_hot") {
        w.indices(shape.m, shape.n), w.result_buffer(shape.m * shape.n), w.numbers({shape.m, shape.n});
    } else if (kernel == "masked_fill") {
        const int n = shape.m * shape.n;
        w.given(n), w.indices(shape.n, 2), w.result_buffer(n), w.numbers({w.scalar(-1e4), n, shape.n});
    } else if (kernel == "rope") {
        const int positions = std::min(shape.m, 20), columns = 2 * std::min(shape.n, 40), inner = 1 + shape.k % 3, start = 3;
        const int rows = 2 * positions * inner;
        w.given(rows * columns), w.given((positions + start) * columns), w.result_buffer(rows * columns);
        w.numbers({rows, columns, inner, positions, start, shape.k % 2, shape.m % 2 ? 1 : -1});
        w.grid(cover(rows * columns / 2, 256));
    } else if (kernel.starts_with("swiglu") || kernel.starts_with("glu")) {
        const int n = shape.m * shape.n;
        w.given(n, -6, 6), w.given(n);
        if (kernel.ends_with("backward")) w.given(n), w.result_buffer(n);
        w.result_buffer(n), w.numbers({n}), w.approximate();
    } else if (kernel.starts_with("attention")) {
        const int batch = 1 + shape.m % 2, kv_heads = 1 + shape.n % 2, heads = kv_heads * (1 + shape.k % 3);
        const int t = std::min(shape.m, 40), s = t + shape.k % 4 * 7, d = std::min(shape.n, 60), layout = shape.n % 2;
        const int queries = batch * heads * t * d, keys = batch * kv_heads * s * d, rows = batch * heads * t;
        const auto tiles = [](int length) { return CaseWriter::cover(length, 16); };
        const auto h = static_cast<uint32_t>(heads), b = static_cast<uint32_t>(batch);
        w.approximate();
        if (kernel == "attention_delta") {
            w.given(queries), w.given(queries), w.buffer(w.computed(), rows, [] { return 0.0; });
            w.numbers({batch, heads, t, d, layout});
            w.grid(cover(rows, 4)), w.block(128);
            return true;
        }
        w.given(queries), w.given(keys), w.given(keys);
        if (kernel == "attention") {
            w.result_buffer(queries), w.buffer(w.computed(), rows, [] { return 0.0; });
            w.grid(tiles(t), h, b);
        } else {
            w.given(queries), w.buffer(w.computed(), rows, [&] { return rng.uniform(4, 6); });
            w.buffer(w.computed(), rows, [&] { return rng.uniform(-1, 1); });
            w.result_buffer(queries), w.result_buffer(keys), w.result_buffer(keys);
            w.grid(tiles(t) + tiles(s), h, b);
        }
        w.numbers({batch, heads, kv_heads, t, s, d, layout, shape.m % 3 ? 1 : 0, w.scalar(0.3)});
        w.block(16, 16);
    } else if (kernel.starts_with("rnn_cell")) {
        const int n = shape.m * shape.n;
        w.given(n), w.given(n), w.result_buffer(n);
        if (kernel.ends_with("backward"))
            w.result_buffer(n);
        else
            w.approximate();
        w.numbers({shape.n % 2, n});
    } else if (kernel.starts_with("gru_cell") || kernel.starts_with("lstm_cell")) {
        const bool gru = kernel.starts_with("gru"), back = kernel.ends_with("backward");
        const int n = shape.m * shape.n, gates = gru ? 3 : 4;
        if (!back) {  // gi, gh, h or c -> y, gates
            w.given(gates * n), w.given(gates * n), w.given(n), w.result_buffer(gru ? n : 2 * n), w.result_buffer(gates * n);
        } else {
            w.given(gates * n, 0, 1);
            if (gru)
                w.given(gates * n), w.given(n), w.given(n);  // gh, h, dy
            else
                w.given(n), w.given(2 * n), w.given(2 * n);  // c, y, dy
            w.result_buffer(gates * n), w.result_buffer(gates * n), w.result_buffer(n);
        }
        w.numbers({shape.m, shape.n}), w.approximate();
    } else if (kernel.starts_with("sparse_matmul")) {
        const int rows = shape.m, inner = shape.n, columns = 1 + shape.k % 40;
        std::vector<double> start = {0}, column;
        for (int r = 0; r < rows; ++r) {
            for (int c = 0; c < inner; ++c)
                if (rng.below(4) == 0 && r != 1) column.push_back(c);
            if (r == 0 && column.empty()) column.push_back(0);
            start.push_back(double(column.size()));
        }
        const int entries = static_cast<int>(column.size());
        w.buffer(DType::i32, 0, [] { return 0.0; }) = start;
        w.buffer(DType::i32, 0, [] { return 0.0; }) = column;
        w.approximate();
        if (kernel == "sparse_matmul") {
            w.given(entries), w.given(inner * columns), w.result_buffer(rows * columns);
            w.numbers({rows, inner, columns, entries});
            w.grid(cover(rows * columns, 256));
        } else if (kernel == "sparse_matmul_values") {
            w.given(inner * columns), w.given(rows * columns), w.result_buffer(entries);
            w.numbers({rows, columns, entries});
            w.grid(cover(entries, 256));
        } else {
            std::vector<double> next(column.size(), -1), first(column.size(), 1);
            for (size_t i = 0; i < column.size(); ++i)
                for (size_t j = i + 1; j < column.size() && next[i] < 0; ++j)
                    if (column[j] == column[i]) next[i] = double(j), first[j] = 0;
            w.buffer(DType::i32, 0, [] { return 0.0; }) = next;
            w.buffer(DType::i32, 0, [] { return 0.0; }) = first;
            w.given(entries), w.given(rows * columns), w.given(inner * columns);
            w.numbers({rows, columns, entries});
            w.grid(static_cast<uint32_t>(entries)), w.block(128);
        }
    } else if (row.file == "int8.cu" || row.file == "sparse24.cu") {
        const int m = shape.m, n = shape.n, k = shape.k, words = (k + 3) / 4;
        const auto bits = [&](int count) {  // any 32
            w.buffer(DType::i32, count, [&] { return double(int64_t(rng.below(1ull << 32)) - (int64_t{1} << 31)); });
        };
        const auto sums = [&](int count) {
            w.buffer(DType::i32, count, [&] { return double(int64_t(rng.below(400000)) - 200000); });
        };
        const auto scales = [&](int count) { w.buffer(DType::f32, count, [&] { return rng.uniform(0.005, 0.02); }); };
        const int by_row = m % 2;
        if (kernel == "quantize_int8") {  // x[m,k,n]
            w.given(m * k * n), scales(m * n), w.buffer(DType::i32, m * n * words, [] { return 7.0; });
            if (m == 3) result.buffers[0].values[0] = NAN, result.buffers[0].values[1] = INFINITY;
            w.numbers({m * n, k, words, n, by_row, 0.01f}), w.grid(cover(m * n * words, 256));
        } else if (kernel == "int8_matmul") {
            bits(m * words), bits(n * words), w.buffer(DType::i32, m * n, [] { return 7.0; });
            w.numbers({m, n, words}), w.grid(cover(n, 16), cover(m, 16)), w.block(16, 16);
        } else if (kernel == "dequantize_int8") {  // y[m,k,n]
            sums(m * n * k), scales(k), w.result_buffer(m * n * k);
            w.numbers({m * n, k, n, by_row, 0.01f}), w.grid(cover(m * n * k, 256));
        } else if (kernel == "requantize_int8") {
            sums(m * k), scales(k), w.given(k), w.buffer(DType::i32, m * words, [] { return 7.0; });
            w.numbers({m, k, words, by_row, n % 2, 0.01f, 0.2f}), w.grid(cover(m * words, 256));
        } else if (kernel == "int8_linear") {
            w.given(m * k), bits(n * words), scales(n), w.result_buffer(m * n);
            if (m == 3) result.buffers[0].values[0] = NAN;
            w.numbers({m, n, k, words, by_row, 0.01f}), w.grid(cover(n, 16), cover(m, 16)), w.block(16, 16);
        } else if (kernel == "int8_weight_matmul") {
            w.given(m * k), w.buffer(DType::u8, n * 4 * words, [&] { return double(rng.below(256)); }), scales(n);
            w.result_buffer(m * n), w.numbers({m, n, k, 4 * words, by_row});
            w.grid(cover(n, 16), cover(m, 16)), w.block(16, 16), w.approximate();
        } else {
            const int inner = 4 * words;
            w.given(m * inner), w.given(n * inner / 2), bits(n * ((inner + 31) / 32)), w.result_buffer(m * n);
            w.numbers({m, n, inner}), w.grid(cover(n, 16), cover(m, 16)), w.block(16, 16), w.approximate();
        }
    } else if (kernel == "uniform" || kernel == "normal") {
        const int n = shape.m * shape.n;
        w.result_buffer(n);
        w.numbers({int64_t{0x1234567890abcdef}, int64_t{0xfffffffd}, w.scalar(0.5), w.scalar(1.25), n});
        w.grid(cover(n, 1024));
    } else if (kernel == "dropout" || kernel == "dropout_element") {
        const int n = shape.m * shape.n;
        w.given(n), w.result_buffer(n);
        w.numbers({int64_t{42}, int64_t{7}, uint32_t{1} << 30, w.scalar(4.0 / 3), n});
        w.grid(cover(n, kernel == "dropout" ? 1024 : 256));
    } else if (kernel == "sgd_momentum" || kernel == "adam" || kernel == "adamw" || kernel == "lars" || kernel == "larc" ||
               kernel == "novograd") {
        const int n = shape.m * shape.n, parts = static_cast<int>(cover(n, 2048));
        w.given(n), w.given(n), w.given(n);
        if (kernel.starts_with("adam")) w.given(n, 0, 1);
        if (kernel == "novograd") w.buffer(DType::f64, 2, [&] { return rng.uniform(0.1, 1); });
        if (kernel == "lars" || kernel == "larc") w.square_sums(parts, n);
        if (kernel == "lars" || kernel == "larc" || kernel == "novograd") w.square_sums(parts, n);
        w.settings(shape.k % 3 + 1), w.numbers({n});
    } else if (kernel == "square_sum") {
        const int n = shape.m * shape.n, parts = static_cast<int>(cover(n, 2048));
        w.given(n), w.square_sums(parts, n), w.numbers({n});
        w.grid(static_cast<uint32_t>(parts));
    } else if (kernel == "optimizer_clip") {
        w.square_sums(shape.m * shape.n, 10), w.settings(2), w.numbers({shape.m * shape.n});
        if (shape.m == 3) result.buffers[0].values[1] = INFINITY;
        w.grid(1);
    } else if (kernel == "optimizer_begin" || kernel == "loss_scale_update") {
        w.settings(shape.m);
        result.buffers[0].values[23] = shape.m % 2;  // skip
        result.buffers[0].values[20] = shape.n % 3;  // good_steps
        w.grid(1), w.block(1);
    } else if (kernel == "loss_scale_seed") {
        w.settings(1), w.result_buffer(1);
        w.grid(1), w.block(1);
    } else if (kernel == "gradient_scale") {
        w.given(shape.m * shape.n), w.settings(1), w.numbers({shape.m * shape.n});
    } else if (kernel == "clip_value") {
        w.given(shape.m * shape.n), w.numbers({w.scalar(0.75), shape.m * shape.n});
    } else {
        return false;
    }
    return true;
}

}  // namespace lockstep::device::kernel_cases
