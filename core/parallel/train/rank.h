// One rank of a parallel run: its place in the mesh, its device and memory, its groups, and how long its ops take on the
// virtual clock. The same struct serves a thread of this process, an MPI process, and a rank that is only planned (`meta`).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/communicator.h"
#include "core/parallel/layout/mesh.h"
#include "core/parallel/plan.h"
#include "core/parallel/plan/op_time.h"
#include "core/tensor/tape.h"

namespace lockstep::parallel {

// Of a backward: all of it (B), or the gradients of activations (I) and of weights (W) on their own.
enum class BackwardPart : uint8_t { whole, inputs, weights };

struct Rank {
    const ParallelPlan& plan;
    Mesh mesh;                  // axes pp, dp, cp, tp; tp fastest
    comm::Communicator& world;  // all ranks, on stream 0, which computes
    device::Device& device;
    tensor::Heap& heap;
    const OpTimes& times;

    // This rank's group along an axis ("tp": those that differ in tp alone), on stream 0; null where the axis has extent 1.
    std::unique_ptr<comm::Communicator> tp, dp, cp, pp;

    int along(std::string_view axis) const { return mesh.coordinate(world.rank(), axis); }  // its coordinate
    // Adds what the ops recorded since `from_node` took to the compute stream's clock, forward, none of them twice; backward
    // of one node, or the part of it that ran. Blocks (model.h) do the former themselves, and ops that communicate before
    // they do. Ops without kernels take no time: those that communicate or run others look after the clock themselves.
    void forward_took(const tensor::Tape& tape, int from_node = 0);
    void backward_took(const tensor::Tape& tape, int node, BackwardPart part = BackwardPart::whole);
    void forward_begins(const tensor::Tape& tape);  // what is recorded from here on has not been counted

    struct Counted {  // how far forward_took() has come
        const tensor::Tape* tape = nullptr;
        int nodes = 0;
    } counted = {};
};

// The rank of `world` that this thread or process is: its groups are made, which all ranks do together. What it refers to
// must outlive it.
Rank make_rank(const ParallelPlan& plan, comm::Communicator& world, device::Device& device, tensor::Heap& heap,
               const OpTimes& times);

// Communication streams: messages of one never wait behind another's.
inline constexpr int compute_stream = 0, gradient_stream = 1, parameter_stream = 2, pipeline_stream = 3, context_stream = 4;

}  // namespace lockstep::parallel
