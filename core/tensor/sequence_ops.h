// Ops for sequences and graphs, as model code calls them: rows by number, masks, attention, rotary positions, gated units,
// recurrent cells, dropout, sparse products. Each records one node on the tape; shapes are in the rows' files.
#pragma once
#include <cstdint>
#include <string>

#include "core/tensor/op.h"
#include "core/tensor/tape.h"

namespace lockstep::tensor {

// weight[V,C], indices i32 [...] -> [..., C]. The padding index's row gets no gradient; -1: none.
Variable embedding(Tape&, const Variable& weight, const Variable& indices, NodeName name, int padding_index = -1);
Variable index_select(Tape&, const Variable& x, const Variable& index, int64_t axis, NodeName name);  // index[n]
// PyTorch's: the index has x's shape but for the axis.
Variable gather(Tape&, const Variable& x, const Variable& index, int64_t axis, NodeName name);
Variable scatter_add(Tape&, const Variable& x, const Variable& index, const Variable& source, int64_t axis, NodeName name);
Variable one_hot(Tape&, const Variable& indices, int64_t classes, NodeName name, DType dtype = DType::f32);
// value where the i32 mask is not 0; the mask's shape is the last extents of x.
Variable masked_fill(Tape&, const Variable& x, const Variable& mask, double value, NodeName name);

enum class HeadLayout : uint8_t { heads_first, positions_first };  // [B,H,T,D], [B,T,H,D]
// q [B,H,T,D], k and v [B,G,S,D] (or the other layout) -> q's shape; H a multiple of G. causal: query i sees keys up to
// i + S - T. scale 0: 1 / sqrt(D). D at most 128 (f64: 64).
Variable attention(Tape&, const Variable& q, const Variable& k, const Variable& v, bool causal, HeadLayout layout,
                   NodeName name, double scale = 0);

enum class RopeLayout : uint8_t { interleaved, half_split };  // pairs (2i, 2i+1); (i, i + D/2)
// Cosines and sines of p theta^(-2i/D) for p below `positions`, [positions, D]; made once, for all layers.
Tensor rope_table(Heap&, int64_t positions, int64_t head_size, double theta, DType dtype, const std::string& name);
// x[..., D]; `axis` counts positions, from `start` on (the length of a cache).
Variable rope(Tape&, const Variable& x, const Variable& table, RopeLayout layout, int64_t axis, int64_t start,
              NodeName name);

Variable swiglu(Tape&, const Variable& gate, const Variable& up, NodeName name);  // silu(gate) up
Variable glu(Tape&, const Variable& gate, const Variable& up, NodeName name);     // sigmoid(gate) up

// gi = x Wiᵀ + bi, gh = h Whᵀ + bh: [B, gates H]. Gate orders are PyTorch's.
Variable rnn_cell(Tape&, const Variable& gi, const Variable& gh, NodeName name, bool use_relu = false);  // -> h' [B,H]
Variable gru_cell(Tape&, const Variable& gi, const Variable& gh, const Variable& h, NodeName name);      // -> h' [B,H]
Variable lstm_cell(Tape&, const Variable& gi, const Variable& gh, const Variable& c, NodeName name);     // -> h', c' [2,B,H]

// Compressed rows: values[E], row_start[R+1], columns[E]; dense[K,C] -> [R,C].
Variable sparse_dense(Tape&, const Variable& values, const Variable& row_start, const Variable& columns,
                      const Variable& dense, NodeName name);

struct RandomCounter {  // of the counter-based generator: the same two numbers give the same bits on every device
    uint64_t seed = 0, offset = 0;
};
// Advances the counter. Probability 0: x itself.
Variable dropout(Tape&, const Variable& x, double probability, RandomCounter& counter, NodeName name);
void fill_uniform(Tape&, const Tensor& tensor, double low, double high, RandomCounter& counter, const Label& label);
void fill_normal(Tape&, const Tensor& tensor, double mean, double deviation, RandomCounter& counter, const Label& label);

}  // namespace lockstep::tensor
