// The autograd graph of one step as the picture needs it, without drawing: the moments of the tape (a node runs forward,
// runs back, a parameter is updated), what is known of each node after a moment, and where the boxes stand. Tested without a
// window.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/gui/session.h"
#include "core/nn/train/follow.h"
#include "core/nn/train/step_record.h"

namespace lockstep::gui {

struct Moment {
    enum class Kind : uint8_t { forward, backward, update } kind = Kind::forward;
    int node = -1;
    int launch = -1;  // the last one that has ended with it; -1: none yet
};

struct TapePlan {
    std::vector<Moment> moments;  // in the order of the tape: forward by node, then back in reverse, then updates
    // By node, moments: when it ran, when backward ran through it, when its gradient was complete, when it was updated; -1.
    std::vector<int> forward_at, back_at, complete_at, update_at;
    std::vector<int> parts;  // by node: how many edges bring it a gradient

    bool value_known(int node, int moment) const { return forward_at[size_t(node)] <= moment; }
    bool gradient_known(int node, int moment) const {
        return complete_at[size_t(node)] >= 0 && complete_at[size_t(node)] <= moment;
    }
    bool freed(int node, int moment) const { return back_at[size_t(node)] >= 0 && back_at[size_t(node)] <= moment; }
    int last() const { return static_cast<int>(moments.size()) - 1; }
    int of_launch(int launch) const;  // the first moment that ends with or after the launch; the last for -1
    int last_forward() const;         // of the first turn
};
TapePlan plan_tape(const nn::StepRecord& step);
// The moment that the session shows: the one stepped to, else the one that the focused launch belongs to.
int tape_position(const Session& session, const Focus& focus, const TapePlan& tape);

// Of a lesson's tensor program while a question about it is open: the moment up to which steps before have told it, and no
// further than what is asked for; -1: they told nothing.
int told_moment(const Session& session, const nn::StepRecord& step, const TapePlan& tape);

// The line of the tensor program on show that the moment belongs to; -1: none.
int32_t tape_line(const Session& session, const Snapshot& snapshot, const Focus& focus);
// To the moment in which that line's node runs forward; a second time, back.
void go_to_tape_line(Session& session, const Snapshot& snapshot, Focus& focus, int32_t line);

struct GraphBox {
    std::vector<int> nodes;  // one, or those of a folded layer in order
    std::string title;       // "matmul", "layer 0"
    std::string key;         // of the layer, for opening and folding; "" where it is a single op
    int shown = -1;          // the node whose numbers the box shows: the last one
    int column = 0, row = 0;
    bool leaf = false;  // stands under the op that reads it
    bool folded() const { return nodes.size() > 1; }
};
struct GraphWire {
    int from = 0, to = 0;  // boxes
    int64_t bytes = 0;
    int node = -1, input = 0;  // the tape's edge; of a folded layer the heaviest one
    bool many = false;
};
struct GraphPlan {
    std::vector<GraphBox> boxes;
    std::vector<GraphWire> wires;
    std::vector<int> box_of;  // by node
    int columns = 0, rows = 0;
};

// level 0: every op; 1: ops of one layer together; 2: with them what follows and has no parameters of its own. The layers in
// `open` are shown op by op.
GraphPlan arrange_graph(const nn::StepRecord& step, int level, const std::set<std::string>& open);
// The lowest level that needs no more columns than fit.
int level_that_fits(const nn::StepRecord& step, int columns);

std::string graph_op_title(const nn::GraphNode& node);  // "softmax CE"
std::string layer_of(const std::string& node_name);     // "layers.0", "fc1", "place 3"

// "[1,17]" for element 17 + 128 of 64x128; "" for a scalar.
std::string element_text(const std::vector<int64_t>& shape, int64_t element);
double root_mean_square(const std::vector<float>& values);

// Those of one step's tensors, each computed once however often it is drawn.
class RootMeanSquares {
  public:
    double of(const std::vector<float>& values);  // which must outlive what is known
    void forget() { known_.clear(); }

  private:
    std::unordered_map<const std::vector<float>*, double> known_;
};

}  // namespace lockstep::gui
