// Records a step while it runs: listens to the heap (tensors made, host values that go in, values that come out) and to the
// tape (launches), and makes a Graph of what it heard. Nothing about the step changes: it runs eagerly.
//
//     Heap heap(device);
//     Recorder recorder(heap);                    // before the model: parameters are known by the names they are made with
//     ...
//     recorder.begin(tape, {.sources = {{batch.values.data(), batch.values.size(), DType::f32}}, .random_base = 1ull <<
//     32});
//     ... forward, backward, update ...
//     Graph graph = recorder.finish({{"loss", loss}});  // throws Failure: why this step cannot be replayed
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace lockstep::graph {

struct StepInputs {  // what is new in every step
    std::vector<Source> sources;
    uint64_t random_base = 0;
    double learning_rate = 0;
};

class Recorder {
  public:
    explicit Recorder(tensor::Heap& heap);  // listens from now on; the heap must outlive it
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // The tape must be empty: its nodes become the graph's. The sources' memory must stay until finish().
    void begin(tensor::Tape& tape, StepInputs inputs);
    bool recording() const { return tape_ != nullptr; }
    // For who knows better why a step cannot be replayed: the first reason counts, and finish() throws it.
    void refuse(std::string reason);
    struct Result {
        std::string name;
        int node = -1;  // of the tape
    };
    Graph finish(std::span<const Result> results);
    void abandon();  // without a graph: the step failed

  private:
    struct Known {  // persistent memory
        std::string name;
        tensor::Shape shape, strides;
        DType dtype;
        int64_t bytes;
    };
    void made(const tensor::Tensor& tensor, const tensor::Label& label);
    void filled(const tensor::Tensor& tensor, const void* values, DType type);
    void read(const tensor::Tensor& tensor);
    void launched(const tensor::Launch& launch, const device::LaunchRequest& request);
    std::pair<int, int64_t> place_of(device::Pointer pointer);  // buffer and offset; -1: no memory that is known

    tensor::Heap& heap_;
    tensor::HeapListener listener_;
    std::map<uint64_t, Known> persistent_;  // by address
    tensor::Tape* tape_ = nullptr;
    StepInputs inputs_;
    Graph graph_;
    std::map<uint64_t, int> at_;  // buffers by address
    std::optional<std::string> refusal_;
};

}  // namespace lockstep::graph
