// The watch for NaN and Inf: after every step the loss and the parameters, and so the gradients that went into them. What it
// finds it traces on the step's tape to the op where the first such value came up.
//
// Looking costs a memcpy: parameters of up to 4,096 elements (every bias, which a bad gradient of its layer always reaches)
// are read each step, larger ones 8,192 elements a step in turn. A parameter that went bad stays bad, so none is missed.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/nn/layers/module.h"
#include "core/nn/train/step_record.h"

namespace lockstep::nn {

struct Step {  // what the watch looks at
    const tensor::Heap& heap;
    const tensor::Tape& tape;
    const ParameterList& list;
    std::string_view rule;  // of the update: "adamw"
    int64_t number = 0;
    double loss = 0;
    int first_node = 0;  // earlier nodes' values are overwritten (of earlier parts of an accumulated batch)
};

class FiniteWatch {
  public:
    std::optional<NotFinite> look(const Step& step);

  private:
    bool finite(device::Device& device, device::Pointer at, int64_t count, DType type);
    bool parameters_finite(const Step& step);

    bool told_ = false;  // the cause is traced once
    size_t turn_ = 0;    // the large parameter being read, and how far
    int64_t place_ = 0;
    std::vector<std::byte> bytes_;
};

// Training stops: Trainer::step() throws it with the step's record.
struct NotFiniteFailure : Failure {
    std::shared_ptr<const StepRecord> record;
    explicit NotFiniteFailure(std::shared_ptr<const StepRecord> of);
};

}  // namespace lockstep::nn
