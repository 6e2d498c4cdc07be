#include "core/nn/models/evaluate.h"

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::nn {

Evaluation judge(const Judging& judging, tensor::Heap& heap, const std::stop_token& stop) {
    Evaluation result;
    tensor::Tape tape(heap);
    for (int64_t first = 0; first < judging.count; first += judging.group) {
        throw_if_stopped(stop);
        const int64_t rows = std::min(judging.group, judging.count - first);
        tape.clear();
        heap.recycle();
        const tensor::NoGrad no_gradients(tape);
        Pass pass{tape, false};
        const Forward made = judging.forward(pass, first, rows);
        result.loss += tensor::values_of(heap, made.loss.value)[0] * double(rows) / double(judging.count);
        if (judging.right)
            result.accuracy += judging.right(tensor::values_of(heap, made.output.value), rows) / double(judging.count);
    }
    return result;
}

int32_t place_of_largest(std::span<const double> logits) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace lockstep::nn
