// Batches as a Loader makes them: plain buffers that keep their memory from one to the next.
//
//     Loader<PictureBatch> loader({.first = step}, [&](uint64_t s, PictureBatch& batch) { fill(batch, set, sampler, s); });
#pragma once
#include <cstdint>
#include <vector>

#include "core/nn/data/data_set.h"
#include "core/nn/data/made/points.h"
#include "core/nn/data/made/sequences.h"
#include "core/nn/data/sampler.h"

namespace lockstep::nn {

struct PictureBatch {
    std::vector<float> images;    // [batch, channels, rows, columns]
    std::vector<int32_t> labels;  // [batch]
};
struct PointBatch {
    std::vector<float> x;         // [batch, dimensions]
    std::vector<int32_t> labels;  // [batch]
};
struct SequenceBatch {
    std::vector<int64_t> tokens;   // [batch, length]
    std::vector<int32_t> targets;  // [batch, length]
};
struct LineBatch {
    std::vector<float> x, y;  // [batch, inputs], [batch]
};

// The training examples of a step, of the sampler's rank.
void fill(PictureBatch& batch, const DataSet& set, const Sampler& sampler, uint64_t step);
void fill(PointBatch& batch, const PointSet& set, const Sampler& sampler, uint64_t step);
void fill(SequenceBatch& batch, const SequenceSet& set, const Sampler& sampler, uint64_t step);
void fill(LineBatch& batch, const LineSet& set, const Sampler& sampler, uint64_t step);

// Test examples first .. first + count - 1; throws Failure where the set has no such.
void fill_test(PictureBatch& batch, const DataSet& set, int64_t first, int64_t count);
void fill_test(PointBatch& batch, const PointSet& set, int64_t first, int64_t count);
void fill_test(SequenceBatch& batch, const SequenceSet& set, int64_t first, int64_t count);

}  // namespace lockstep::nn
