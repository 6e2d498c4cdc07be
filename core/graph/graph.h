// A captured training step as plain data: what the step asked the device to do, in order, with names, shapes and roles, so
// that it can be run again without the model's code, planned and changed. recorder.h fills it while a step runs eagerly;
// plan.h gives its memory places; executor.h replays it; fusion.h turns its launches into fewer ones.
//
//   nodes     the tape's ops, leaves included, in forward order: op, attributes, inputs, shape; for people and for fusion
//   launches  every kernel in the order of issue, forward, backward and update: what runs is this list and nothing else
//   buffers   every piece of memory that a launch touches. An operand is {buffer, bytes from its first}
//   feeds     which parts of the step's batch go into which buffers before the first launch
//   outputs   what the host reads after the last launch: the loss, the predictions
//
// Who changes a graph (fusion) gives a new list of launches: an operand keeps its buffer number, a buffer that no launch
// touches any more takes no memory, new buffers go to the end with the role `intermediate`, and touch() at the end finds
// first and last anew. Buffers with the role `persistent` must end with the same bits, and so must outputs. A launch made
// by fusion holds `generated`, the Access of each operand, and in `replaces` the launches of the captured graph that it
// stands for.
//
// What is different in every step, and how a replay knows it:
//   feed             host values from the batch, converted to the buffer's type
//   random_offset    an argument of the kernels that draw: the step's base plus a distance, which is what is kept
//   learning_rate    an argument of plain SGD; other rules read it from persistent memory that the host writes
// Adam's count of steps and its corrections, norms, the loss scale: persistent memory that the kernels themselves count on.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/tensor/tape.h"

namespace lockstep::graph {

enum class Role : uint8_t {
    persistent,    // from step to step: parameters, optimiser state, running statistics, tables. Memory of its own
    constant,      // host values that are the same in every step
    feed,          // host values from the step's batch
    intermediate,  // made and used up within the step: activations, gradients, temporaries
};
std::string_view name_of(Role role);

struct Access {  // of a launch to one operand, by its PTX: loads, stores, atomics through that pointer
    bool reads = false, writes = false;
    bool operator==(const Access&) const = default;
};
// Of every parameter of a bundled kernel, in order; scalars have neither. What cannot be followed counts as both.
const std::vector<Access>& accesses_of(std::string_view kernel);
std::vector<Access> accesses_of(const ptx::Program& program);

struct Buffer {
    std::string name;  // "fc1 matmul", "relu1 dx", "loss probabilities", "fc1.weight"
    Role role = Role::intermediate;
    tensor::Shape shape, strides;  // of the tensor that the memory was made for
    DType dtype = DType::f32;
    int64_t bytes = 0;
    int node = -1;                    // whose value begins here; -1: a gradient, a temporary, optimiser state
    int gradient_of = -1;             // the node whose gradient it is
    bool saved = false;               // written in forward (or fed) and read in backward: what the tape keeps for it
    bool output = false;              // read on the host after the step: lives to its end
    int first = -1, last = -1;        // the launches that touch it first and last; -1: none does
    device::Pointer address;          // persistent: where it is. Otherwise where it was in the recorded step
    std::vector<std::byte> contents;  // of a constant
};

struct Operand {  // one argument of a launch
    enum class Kind : uint8_t { buffer, scalar, random_offset, learning_rate };
    Kind kind = Kind::scalar;
    int buffer = -1;
    int64_t offset = 0;      // bytes from the buffer's first
    Access access = {};      // of a buffer
    device::Argument value;  // scalar and learning_rate: as recorded; random_offset (int64_t): distance from the step's base
    bool operator==(const Operand&) const = default;
};

struct Launch {
    std::string_view kernel;  // "relu_f32", which lives as long as the program; of a generated one: generated->name
    std::string_view base;    // "relu"
    DType type = DType::f32;  // of its elements
    simt::Dim3 grid, block;
    uint32_t dynamic_shared = 0;
    std::vector<Operand> operands;                             // in the kernel's order
    std::string label, phase;                                  // "relu1 dx", "backward"
    std::string_view op;                                       // "relu"; "" of an update
    std::source_location where;                                // the model's line; line 0: none
    int node = -1;                                             // whose forward, backward or update it is; -1: nobody's
    std::shared_ptr<const device::GeneratedKernel> generated;  // null: of the library
    std::vector<int> replaces;                                 // launches of the captured graph, where it stands for several
};

struct Node {  // of the tape
    tensor::Node::Kind kind = tensor::Node::Kind::op;
    const tensor::OpRow* op = nullptr;  // null: a leaf. A row lives as long as the program
    tensor::Attributes attributes;      // random offsets are those of the recorded step
    std::string name;
    std::source_location where;
    std::vector<int> inputs;
    tensor::Shape shape, strides;
    DType dtype = DType::f32;
    bool requires_grad = false;
    int buffer = -1;         // of its value; a view's is that of what it shows
    int64_t offset = 0;      // bytes in there
    int gradient = -1;       // buffer of its gradient; -1: none, or the scalar 1
    std::vector<int> saved;  // nodes whose values its backward reads
    std::vector<int> forward_launches, backward_launches, update_launches;
};

// Where a replayed step's host values come from: the arrays of a batch, in an order that recording and replay share.
struct Source {
    const void* data = nullptr;
    size_t count = 0;
    DType dtype = DType::f32;
};

struct Feed {
    int buffer = -1;
    size_t source = 0, first = 0, count = 0;  // elements `first` .. of that source
    DType from = DType::f32;
    int64_t largest = -1;  // of integers: the largest that the recorded step's checks have seen
};

struct Output {
    std::string name;
    int buffer = -1;
    int64_t offset = 0;  // bytes
    tensor::Shape shape, strides;
    DType dtype = DType::f32;
};

struct Graph {
    std::string device;
    std::vector<Node> nodes;
    std::vector<Buffer> buffers;
    std::vector<Launch> launches;
    std::vector<Feed> feeds;
    std::vector<Output> outputs;
    std::vector<size_t> source_counts;  // elements of each source: another count is another graph
};

// Finds first, last and saved of every buffer from the launches. Whoever has changed the launches calls it.
void touch(Graph& graph);

// Why a replay of `first` would not do what the step recorded as `second` did, in one sentence; "" where it would. The two
// are recordings of steps that follow each other: what differs must be a feed, a random offset or the learning rate.
std::string difference(const Graph& first, const Graph& second);

struct Traffic {  // of a step
    int64_t launches = 0;
    double bytes = 0;  // every buffer that a launch reads, once, and every one that it writes, once
};
Traffic traffic_of(const Graph& graph);

// One line a launch: "relu_f32  relu1: fc1 add -> relu1". For people and golden tests.
std::string text_of(const Graph& graph);

}  // namespace lockstep::graph
