// Define-by-run differentiation that can be looked at. Ops run at once and leave a Node, in forward order; backward()
// walks the nodes in reverse, adds gradients where two meet (+=), and frees what it used. Model code holds Variables: an
// activation lives as long as a Variable or a node's saved list holds it. Every launch is counted from 0, so a node says
// which launches were its forward, backward and update.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/op.h"

namespace lockstep::tensor {

struct Variable {
    int node = -1;
    Tensor value;
};

struct Node {
    enum class Kind : uint8_t { input, parameter, label, op };
    Kind kind = Kind::op;
    const OpRow* op = nullptr;
    Attributes attributes;
    std::string name;
    std::vector<int> inputs;
    Shape shape;
    DType dtype = DType::f32;
    bool requires_grad = false;
    device::Pointer value;        // readable until the heap recycles
    device::Pointer gradient_at;  // likewise; set once has_gradient
    bool has_gradient = false;
    bool gradient_is_one = false;    // the root of backward()
    bool gradient_borrowed = false;  // the same memory as another node's gradient: never added into
    Tensor gradient;                 // alive: backward has reached it and not yet used it; of leaves: kept
    std::vector<Saved> saved;        // emptied when freed
    std::string saved_names;         // "x, fc1.weight": what was kept, for reading afterwards
    int64_t saved_bytes = 0;         // without parameters, which live anyway
    int freed_after = -1;            // launch after which the saved tensors were freed
    std::vector<int> forward_launches, backward_launches, update_launches;
    int gradient_after = -1;  // launch after which the gradient is complete
};

class Tape {
  public:
    explicit Tape(Heap& heap) : heap_(heap) {}

    Variable input(const Tensor& value, const std::string& name, bool requires_grad = false);
    Variable parameter(const Tensor& value, const std::string& name);
    Variable label(const Tensor& value, const std::string& name);
    Variable apply(const OpRow& op, const std::vector<Variable>& inputs, const std::string& name,
                   const Attributes& attributes = {});

    // Gradients of `root` (one element, seeded with 1; or any shape with a seed) for every node that needs one. Once only.
    void backward(const Variable& root, const Tensor& seed = {});

    // Launches through the tape are counted; phase "forward", "backward", "update".
    int launch(const Launch& launch, const std::string& label, const std::string& phase);

    const std::vector<Node>& nodes() const { return nodes_; }
    const Tensor& gradient_of(const Variable& variable) const { return nodes_[size_t(variable.node)].gradient; }
    Tensor take_gradient(int node) { return std::move(nodes_[size_t(node)].gradient); }
    void note_update(int node, int launch) { nodes_[size_t(node)].update_launches.push_back(launch); }
    int launches() const { return launches_; }
    const std::vector<int64_t>& live_bytes() const { return live_bytes_; }  // after each launch
    // Host copies, until the heap recycles; empty where there is none.
    std::vector<float> read_value(int node) const;
    std::vector<float> read_gradient(int node) const;
    Heap& heap() { return heap_; }

  private:
    Variable leaf(Node::Kind kind, const Tensor& value, const std::string& name, bool requires_grad);
    void backward_through(Node& node);
    void add_gradient(Node& node, Tensor gradient, bool borrowed, const std::string& from, std::vector<int>& launches);

    Heap& heap_;
    std::vector<Node> nodes_;
    std::vector<int64_t> live_bytes_;
    int launches_ = 0;
    bool ran_backward_ = false;
};

}  // namespace lockstep::tensor
