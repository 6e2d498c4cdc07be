// What a rank's optimiser updates, between rank_trainer.cpp and rank_state.cpp.
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "core/parallel/train/rank_trainer.h"

namespace lockstep::parallel {

struct RankTrainer::Learning {
    struct Row {
        size_t bucket = 0;
        int slot = -1;  // of the bucket; -1: this rank's piece of it
    };
    std::deque<nn::Parameter> own;     // whole parameters (zero 0), or pieces; the optimiser's own copies of half weights
    std::vector<Row> rows;             // beside them
    std::vector<tensor::Tensor> full;  // f32 values while half weights are made
    std::optional<nn::Optimizer> optimizer;
    bool half_weights = false, clips = false;
    DType type = DType::f32;     // that the optimiser works in
    int64_t settings_bytes = 0;  // of the optimiser's numbers beside its moments
    int64_t copied_bytes = 0;    // offload: in the last step

    size_t at(const std::vector<Bucket>& all, const Bucket& bucket) const {  // the row of a piece
        for (size_t i = 0; i < rows.size(); ++i)
            if (&all[rows[i].bucket] == &bucket) return i;
        return rows.size();
    }
};

}  // namespace lockstep::parallel
