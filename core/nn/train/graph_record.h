// A tape that has run, as plain data: the nodes of a StepRecord, with host copies of values and gradients. The trainer
// records its steps with it; a program of a few ops records itself:
//
//     Tape tape(heap);
//     ... ops, tape.backward(z) ...
//     StepRecord record = record_of(tape, z.node, launches);   // launches: what Device::on_launch heard
#pragma once
#include <span>
#include <vector>

#include "core/nn/train/step_record.h"
#include "core/tensor/tape.h"

namespace lockstep::nn {

// Gradients of one player's turn, as they lie on the device: the next turn's backward forgets where they are, their memory
// stays as it is until the heap recycles.
struct TurnGradients {
    struct Place {
        int node = -1, after = -1;  // after: launch that completed it
        device::Pointer at;
        bool is_one = false;
    };
    std::vector<Place> places;
    int end = 0;  // nodes of this turn come before this one
};
TurnGradients gradients_of_turn(tensor::Tape& tape);

// `loss` is the node that the model calls its loss. Values and gradients are copied where `values` says so, those of
// parameters are what the device holds now. `earlier`: the turns before the last one.
std::vector<GraphNode> record_nodes(tensor::Tape& tape, int loss, bool values, std::span<const TurnGradients> earlier = {});

// The record of a tape of one's own, values and the followed element (follow.h) with it: `launches` are those since the tape
// was empty. Ops that are not in the table of ops live as long as their tape: the record keeps no pointer to their rows.
StepRecord record_of(tensor::Tape& tape, int loss, std::vector<device::LaunchEvent> launches);

}  // namespace lockstep::nn
