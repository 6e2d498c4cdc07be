// From a Term to nodes on a tape: the table of functions, and ops of one's own. Internal to core/scene.
#pragma once
#include <deque>
#include <functional>

#include "core/scene/tape/tape_program.h"
#include "core/tensor/ops.h"

namespace lockstep::scene {

// An elementwise op whose forward and backward are terms: it launches a kernel for every sign in them.
struct OwnOp : tensor::OpRow {
    explicit OwnOp(const TapeOp& definition);
    OwnOp(const OwnOp&) = delete;
    OwnOp& operator=(const OwnOp&) = delete;
    TapeOp definition;
};
using OwnOps = std::deque<OwnOp>;

using Names = std::map<std::string, tensor::Variable>;
// Records the term's nodes and gives the last, called `name`; all names end in `place`, "[3]" in round 3 of a loop. Throws
// Failure.
tensor::Variable record(tensor::Tape& tape, const Term& term, const Names& names, const OwnOps& own, const std::string& name,
                        const std::string& place = {});

// The term's value, element by element, with `up` for the gradient of the node `of`: for hooks. Throws Failure.
tensor::Tensor hooked(tensor::Tape& tape, const Term& term, const tensor::Tensor& up, const std::string& of);

// Whether a function of this name exists, or the nearest one that does.
void check_call(const Term& term, const std::vector<TapeOp>& own);

// The functions of one tensor that an op of one's own may be made of.
std::vector<std::string> elementwise_functions();

}  // namespace lockstep::scene
