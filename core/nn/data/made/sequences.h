// Sequences of symbols with a target for each place, for recurrent networks and character models, by index.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/nn/data/text.h"

namespace lockstep::nn {

struct SequenceSet {
    std::string name;
    int vocabulary = 0;    // symbols and targets are 0 .. vocabulary-1
    int length = 0;        // of every sequence
    int first_target = 0;  // the places before it ask for nothing; their targets are 0 and may be trained on or not
    int64_t test_count = 0;
    // Writes tokens (an embedding's indices) and targets (a loss's labels), [length] each: targets[t] is what to say having
    // seen tokens[0..t].
    std::function<void(uint64_t index, std::span<int64_t> tokens, std::span<int32_t> targets)> train, test;
};

// Say it again: `payload` symbols out of 2 .. symbols+1, the sign 1, and then as many blanks, 0, at which the symbols are to
// be repeated in order. With a payload of 3, first_target is 4:
//     tokens   5 3 9 1 0 0 0
//     targets  0 0 0 0 5 3 9
// Training sequences never repeat; 1000 test sequences. With 5 out of 8 a plain LSTM of 128 units repeats 99 % of new ones
// without a mistake after some 2000 steps of 64 sequences (Adam, 0.003, gradient clipped to norm 1; measured with NumPy).
SequenceSet copy_task(uint64_t seed, int payload = 5, int symbols = 8);

// Windows of `length` characters, each with its successor as target. Training: anywhere, by seed and index; test: the
// held-out text from end to end without overlap, so that every character counts once. Throws Failure where the text is too
// short.
SequenceSet windows(std::shared_ptr<const TextSet> text, int length, uint64_t seed);

}  // namespace lockstep::nn
