// Define-by-run differentiation that can be looked at. Ops run at once and leave a Node, in forward order; backward()
// walks the nodes in reverse, adds gradients where two meet (+=), and frees what it used. Model code holds Variables: an
// activation lives as long as a Variable or a node's saved list holds it. Every launch is counted from 0, so a node says
// which launches were its forward, backward and update.
//
//     Tape tape(heap);
//     Variable y = relu(tape, x, "relu1");
//     tape.backward(loss);                        // or begin_backward(), then step_backward() node by node
//     auto g = tape.gradients(z, {x, y}, {.create_graph = true});  // Variables: their gradients can be taken again
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor/op.h"

namespace lockstep::tensor {

struct Node {
    enum class Kind : uint8_t { input, parameter, label, op };
    Kind kind = Kind::op;
    const OpRow* op = nullptr;
    Attributes attributes;
    std::string name;
    std::source_location where;  // the model code's line
    std::vector<int> inputs;
    Shape shape, strides;
    DType dtype = DType::f32;
    bool requires_grad = false;
    bool weights_only = false;    // a parameter, or made of parameters alone: its gradient can wait (defer_weights)
    device::Pointer value;        // readable until the heap recycles
    device::Pointer gradient_at;  // likewise; set once has_gradient
    bool has_gradient = false;
    bool gradient_is_one = false;    // the root of backward()
    bool gradient_borrowed = false;  // the same memory as another node's gradient: never added into
    Tensor gradient;                 // alive: backward has reached it and not yet used it; of leaves: kept
    int gradient_node = -1;          // with create_graph: the gradient's own node
    std::vector<Saved> saved;        // tensors are null once freed
    bool freed = false;              // what it saved was used up
    bool deferred = false;           // its weights' gradients are still to come; saved tensors and upstream stay until then
    Tensor deferred_upstream;
    int64_t saved_bytes = 0;  // without parameters, which live anyway
    int freed_after = -1;     // launch after which the saved tensors were freed
    std::vector<int> forward_launches, backward_launches, update_launches;
    int gradient_after = -1;  // launch after which the gradient is complete

    int64_t bytes() const { return count_of(shape) * static_cast<int64_t>(size_of(dtype)); }
};

struct BackwardOptions {
    bool retain_graph = false;  // what was saved stays, for another backward
    bool create_graph = false;  // gradients are nodes themselves; implies retain_graph
    // Gradients of activations alone (I); those of parameters come with backward_weights() (W): the same values, bit by bit.
    bool defer_weights = false;
};

struct Root {  // where backward starts: with the gradient 1 (one element), or with a seed of the root's shape
    Variable variable;
    Tensor seed = {};
};

struct Anomaly {                  // the first value that is not finite
    std::string op, name, where;  // "matmul", "fc1 matmul", "core/nn/model.cpp:40"
    bool backward = false;
    Shape at;  // its place
    double value = 0;
    std::string text() const;  // one sentence
};

struct Edge {  // what one node's backward passed to one of its inputs: local derivative times upstream
    int node = -1;
    size_t input = 0;
    std::vector<double> gradient;  // host copy, in the input's shape
};

class Tape {
  public:
    explicit Tape(Heap& heap) : heap_(heap) {}

    Variable input(const Tensor& value, NodeName name, bool requires_grad = false);
    Variable parameter(const Tensor& value, NodeName name);
    Variable label(const Tensor& value, NodeName name);
    Variable apply(const OpRow& op, std::span<const Variable> inputs, NodeName name, const Attributes& attributes = {});
    Variable apply(const OpRow& op, std::initializer_list<Variable> inputs, NodeName name,
                   const Attributes& attributes = {}) {
        return apply(op, std::span<const Variable>(inputs.begin(), inputs.size()), std::move(name), attributes);
    }
    void clear();  // forgets all nodes, keeps its memory: for the next step

    // Gradients of the roots' weighted sum for every node that needs one; leaves add to what they had. A node's saved
    // tensors are freed when it has been used, unless retained.
    void backward(const Variable& root, const Tensor& seed = {}, BackwardOptions options = {});
    void backward(std::span<const Root> roots, BackwardOptions options = {});
    // The same, node by node: step_backward() runs one node and says which, none when all are done.
    void begin_backward(std::span<const Root> roots, BackwardOptions options = {});
    std::optional<int> step_backward();
    int next_backward() const;  // the node that the next step runs; -1: none
    // After a backward with defer_weights: the gradients of the parameters, whole, or node by node.
    void backward_weights();
    std::optional<int> step_backward_weights();

    // Gradients of `root` for `inputs`, as Variables; with create_graph they are on the tape and can be differentiated.
    // Leaves keep what they had. A gradient that does not depend on an input has node -1.
    std::vector<Variable> gradients(const Variable& root, std::span<const Variable> inputs, BackwardOptions options = {},
                                    const Variable* seed = nullptr);
    std::vector<Variable> gradients(const Variable& root, std::initializer_list<Variable> inputs,
                                    BackwardOptions options = {}) {
        return gradients(root, std::span<const Variable>(inputs.begin(), inputs.size()), options);
    }

    // Called when the gradient of `variable` is complete, before it is used; what it returns replaces it (null: it stays).
    using GradientHook = std::function<Tensor(const Tensor& gradient)>;
    void on_gradient(const Variable& variable, GradientHook hook) { hooks_.emplace_back(variable.node, std::move(hook)); }

    // Memory that backward will need, but not before it comes to these nodes (weights that are gathered again): nodes from
    // `first_node` on no longer hold it, and bring_back() hands them the same bytes in memory of the same layout.
    struct SavedPlace {
        int node = -1;
        size_t index = 0;
    };
    std::vector<SavedPlace> let_go(const Storage& storage, int first_node);
    void bring_back(std::span<const SavedPlace> places, const std::shared_ptr<Storage>& storage);

    // Looks at every value and gradient: `stop` throws Failure at the first NaN or infinity, `note` goes on.
    enum class Check : uint8_t { none, note, stop };
    void check_values(Check check) { check_ = check; }
    const std::optional<Anomaly>& anomaly() const { return anomaly_; }

    // Host copies of what passes along every edge in backward, in the order of passing; for looking, it reads back each one.
    void keep_edges(bool keep) { keep_edges_ = keep; }
    const std::vector<Edge>& edges() const { return edges_; }

    bool recording() const { return recording_; }  // false in a NoGrad scope

    // Called after every launch with what was asked for and what the device got.
    std::function<void(const Launch&, const device::LaunchRequest&)> on_launch;

    // Launches through the tape are counted; phase "forward", "backward", "update". Label: name and what, "fc1 dW".
    int launch(const Launch& launch, const Label& label, std::string_view phase, DType type = DType::f32);
    // The same values without gaps; itself where it has none. Otherwise a copy (one launch, added to `launches`).
    Tensor contiguous(const Tensor& tensor, const Label& name, std::string_view phase, std::vector<int>& launches);

    const std::vector<Node>& nodes() const { return nodes_; }
    const Tensor& gradient_of(const Variable& variable) const { return nodes_[size_t(variable.node)].gradient; }
    Tensor take_gradient(int node) { return std::move(nodes_[size_t(node)].gradient); }
    Variable gradient_variable(const Variable& variable) const;  // after create_graph
    void note_update(int node, int launch) { nodes_[size_t(node)].update_launches.push_back(launch); }
    int launches() const { return launches_; }
    const std::vector<int64_t>& live_bytes() const { return live_bytes_; }  // after each launch
    int64_t saved_bytes() const;              // pinned for backward now, parameters not counted
    std::string saved_names(int node) const;  // "x, fc1.weight": what was kept
    OpCost cost() const;                      // sums over the ops recorded, without running them again
    // Host copies, until the heap recycles; empty where there is none.
    std::vector<float> read_value(int node) const;
    std::vector<float> read_gradient(int node) const;
    std::vector<double> values(int node) const;
    std::vector<double> gradient_values(int node) const;
    Heap& heap() { return heap_; }

    // Whose forward or backward launches now; null: nobody's, as in an update.
    const Node* running() const { return running_; }

  private:
    friend class NoGrad;
    struct Running {  // while it lives, launches are this node's
        Tape& tape;
        const Node* before;
        Running(Tape& t, const Node& node) : tape(t), before(t.running_) { t.running_ = &node; }
        ~Running() { tape.running_ = before; }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;
    };

    Node fresh_node();  // with the memory of its place in the step before
    Variable leaf(Node::Kind kind, const Tensor& value, NodeName name, bool requires_grad);
    void check_inputs(const OpRow& op, std::span<const Variable> inputs, const std::string& name) const;
    void backward_through(int id, const std::vector<bool>* only);
    void add_gradient(int id, Tensor gradient, bool borrowed, std::string_view from, std::vector<int>& launches);
    Tensor ones(const Node& node, std::vector<int>& launches);
    void run_hooks(int id);
    void free_saved(Node& node);
    void look_at(const Node& node, const Tensor& tensor, bool backward);
    void check_roots(std::span<const Root> roots) const;
    std::vector<Variable> walk_back(std::span<const Root> roots, const Variable* seed, const std::vector<bool>* only,
                                    bool create_graph);
    void backward_recorded(std::span<const Root> roots);
    std::vector<TensorType> types_of(const Node& node) const;
    void types_of(const Node& node, std::vector<TensorType>& into) const;

    Heap& heap_;
    std::vector<Node> nodes_;
    // Kept for their memory: a step in steady state makes the same nodes as the one before.
    std::vector<Node> spare_;
    std::vector<TensorType> types_;
    std::vector<Tensor> values_, gradients_;
    std::vector<int> passed_, ready_;
    std::vector<int64_t> live_bytes_;
    std::vector<std::pair<int, GradientHook>> hooks_;
    device::LaunchRequest request_;  // kept for its memory
    const Node* running_ = nullptr;  // whose forward or backward launches
    int launches_ = 0;
    int position_ = -1;                        // of a backward under way: the highest node not yet looked at
    int weights_position_ = -1;                // of backward_weights()
    std::vector<bool> activations_, weights_;  // with defer_weights: nodes whose gradients come first, and then
    bool retain_ = false, recording_ = true, deferring_ = false;
    Check check_ = Check::none;
    bool keep_edges_ = false;
    std::vector<Edge> edges_;
    std::optional<Anomaly> anomaly_;
};

class NoGrad {  // while it lives, ops record no gradients and keep nothing for backward
  public:
    explicit NoGrad(Tape& tape) : tape_(tape), before_(tape.recording_) { tape.recording_ = false; }
    ~NoGrad() { tape_.recording_ = before_; }
    NoGrad(const NoGrad&) = delete;
    NoGrad& operator=(const NoGrad&) = delete;

  private:
    Tape& tape_;
    bool before_;
};

// "core/nn/layers/layers.cpp:24": the file from the project's folder on.
std::string place_of(const std::source_location& where);

// The type that an op computes in: of its first floating input; `otherwise` where it has none.
DType compute_type(Types inputs, DType otherwise);

}  // namespace lockstep::tensor
