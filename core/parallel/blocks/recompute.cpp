#include "core/parallel/blocks/recompute.h"

#include "core/base/diagnostic.h"

namespace lockstep::parallel {

using tensor::BackwardCall;
using tensor::ForwardCall;
using tensor::Tape;
using tensor::Variable;

struct RerunBackward {
    explicit RerunBackward(tensor::Heap& heap) : tape(heap) {}
    Tape tape;
    std::vector<int> leaves;  // by parameter: its node
};

namespace {
// While it lives, the parameters are leaves of another tape, and the rank counts that tape's ops.
class ElsewhereOnly {
  public:
    explicit ElsewhereOnly(const Rerun& what) : what_(what), counted_(what.rank->counted) {
        for (const nn::Parameter* parameter : what.parameters)
            places_.push_back({parameter->node, parameter->pass, parameter->seen, parameter->trainable});
    }
    ~ElsewhereOnly() {
        for (size_t i = 0; i < places_.size(); ++i) {
            nn::Parameter& parameter = *what_.parameters[i];
            parameter.node = places_[i].node, parameter.pass = places_[i].pass, parameter.seen = places_[i].seen;
            parameter.trainable = places_[i].trainable;
        }
        what_.rank->counted = counted_;
    }
    ElsewhereOnly(const ElsewhereOnly&) = delete;
    ElsewhereOnly& operator=(const ElsewhereOnly&) = delete;

  private:
    struct Place {
        int node;
        uint64_t pass;
        int seen;
        bool trainable;
    };
    const Rerun& what_;
    Rank::Counted counted_;
    std::vector<Place> places_;
};

const Rerun& rerun_of(const tensor::Attributes& attributes) {
    return *static_cast<const Rerun*>(attributes.context);
}

void rerun_forward(ForwardCall& call) {
    const Rerun& what = rerun_of(call.attributes);
    what.rank->forward_took(call.tape);
    call.output = {};  // what comes out inside takes its place
    const ElsewhereOnly elsewhere(what);
    Tape tape(call.tape.heap());
    const tensor::NoGrad no_gradients(tape);
    nn::Pass pass{tape, call.attributes.training, {call.attributes.seed, call.attributes.offset}};
    what.rank->forward_begins(tape);
    const size_t activations = call.inputs.size() - what.parameters.size();
    std::vector<Variable> inputs;
    for (size_t i = 0; i < activations; ++i) inputs.push_back(tape.input(call.inputs[i], "kept"));
    call.output = what.inside(pass, inputs).value;
    what.rank->forward_took(tape);
    what.cost = tape.cost();
    what.drawn = pass.random.offset - call.attributes.offset;
    if (!call.output.contiguous()) throw Failure("what a recomputed piece gives must have no gaps");
    for (size_t i = 0; i < activations; ++i) call.save_input(i);
}

void walk_back(const Rerun& what, Tape& tape, BackwardPart part) {
    while (const std::optional<int> node =
               part == BackwardPart::weights ? tape.step_backward_weights() : tape.step_backward())
        what.rank->backward_took(tape, *node, part);
}

void take_weights(const Rerun& what, BackwardCall& call, RerunBackward& inner) {
    const size_t activations = call.inputs.size() - what.parameters.size();
    for (size_t i = 0; i < what.parameters.size(); ++i)
        if (call.wants(activations + i) && inner.leaves[i] >= 0)
            call.gradients[activations + i] = inner.tape.take_gradient(inner.leaves[i]);
}

void rerun_backward(BackwardCall& call) {
    const Rerun& what = rerun_of(call.attributes);
    const size_t activations = call.inputs.size() - what.parameters.size();
    bool wants_inputs = false, wants_later = false;  // this time; of weights, in another part
    for (size_t i = 0; i < activations; ++i) wants_inputs = wants_inputs || call.wants(i);
    for (size_t i = activations; i < call.inputs.size(); ++i)
        wants_later = wants_later || (!call.wants(i) && call.tape.nodes()[size_t(call.nodes[i])].requires_grad);
    const ElsewhereOnly elsewhere(what);
    if (const auto found = what.to_come.find(call.nodes.data()); found != what.to_come.end()) {
        const std::shared_ptr<RerunBackward> inner = std::move(found->second);
        what.to_come.erase(found);
        if (!wants_inputs) {
            walk_back(what, inner->tape, BackwardPart::weights);
            return take_weights(what, call, *inner);
        }
    }
    auto inner = std::make_shared<RerunBackward>(call.tape.heap());
    Tape& tape = inner->tape;
    nn::Pass pass{tape, call.attributes.training, {call.attributes.seed, call.attributes.offset}};
    what.rank->forward_begins(tape);
    const bool two_parts = wants_inputs && wants_later;
    for (size_t i = 0; i < what.parameters.size(); ++i)  // no products for gradients that nobody asks for
        what.parameters[i]->trainable = call.wants(activations + i) ||
                                        (two_parts && call.tape.nodes()[size_t(call.nodes[activations + i])].requires_grad);
    std::vector<Variable> inputs;
    for (size_t i = 0; i < activations; ++i) inputs.push_back(tape.input(call.kept(i), "kept", call.wants(i)));
    tensor::Root root{what.inside(pass, inputs), call.upstream};
    what.rank->forward_took(tape);
    for (const nn::Parameter* parameter : what.parameters)  // -1: it took no part
        inner->leaves.push_back(parameter->pass == pass.number ? parameter->node : -1);
    for (Variable& input : inputs) input.value = {};
    tape.begin_backward(std::span(&root, 1), {.defer_weights = two_parts});
    root = {};
    walk_back(what, tape, two_parts ? BackwardPart::inputs : BackwardPart::whole);
    for (size_t i = 0; i < activations; ++i)
        if (call.wants(i)) call.gradients[i] = tape.take_gradient(inputs[i].node);
    if (two_parts)
        what.to_come[call.nodes.data()] = std::move(inner);
    else
        take_weights(what, call, *inner);
}

const tensor::OpRow rerun_row = {
    .name = "recompute",
    .inputs = 1,
    .variadic = true,
    .any_inputs = ~0u,
    .gradient_names = {"dx"},
    .kernels = {},
    .shape = [](tensor::Types, const tensor::Attributes& a) { return a.sizes; },
    .result = [](tensor::Types, const tensor::Attributes& a) { return a.dtype; },
    .forward = rerun_forward,
    .backward = rerun_backward,
    .cost =
        [](tensor::Types, const tensor::Attributes& a) {
            tensor::OpCost cost = rerun_of(a).cost;
            cost.backward += cost.forward;
            return cost;
        },
};
}  // namespace

Variable rerun(nn::Pass& pass, const Rerun& what, std::span<const Variable> given, const tensor::TensorType& result,
               tensor::NodeName name) {
    if (!pass.tape.recording() || !pass.training) return what.inside(pass, given);
    std::vector<Variable> inputs(given.begin(), given.end());
    for (nn::Parameter* parameter : what.parameters) inputs.push_back(pass.leaf(parameter));
    const Variable y = pass.tape.apply(rerun_row, inputs, std::move(name),
                                       {.training = pass.training,
                                        .sizes = result.shape,
                                        .seed = pass.random.seed,
                                        .offset = pass.random.offset,
                                        .dtype = result.dtype,
                                        .context = &what});
    pass.random.offset += what.drawn;
    return y;
}

}  // namespace lockstep::parallel
