#include "core/nn/data/made/sequences.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/rng.h"

namespace lockstep::nn {

namespace {
constexpr uint64_t sequence_test_seed = 0x7e57;

void copy_sequence(uint64_t seed, uint64_t index, size_t payload, uint64_t symbols, std::span<int64_t> tokens,
                   std::span<int32_t> targets) {
    Rng rng(Rng(Rng(seed).next() + index).next());
    std::fill(tokens.begin(), tokens.end(), 0);
    std::fill(targets.begin(), targets.end(), 0);
    for (size_t i = 0; i < payload; ++i) {
        targets[payload + 1 + i] = static_cast<int32_t>(2 + rng.below(symbols));
        tokens[i] = targets[payload + 1 + i];
    }
    tokens[payload] = 1;
}

void window(const std::vector<int32_t>& text, size_t at, std::span<int64_t> tokens, std::span<int32_t> targets) {
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at), tokens.size(), tokens.begin());
    std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, targets.size(), targets.begin());
}
}  // namespace

SequenceSet copy_task(uint64_t seed, int payload, int symbols) {
    if (payload < 1 || payload > 10000 || symbols < 1 || symbols > 10000)
        throw Failure(fmt::format("a copy task of {} out of {} symbols is impossible: 1 to 10000", payload, symbols));
    SequenceSet set{.name = "copy",
                    .vocabulary = symbols + 2,
                    .length = 2 * payload + 1,
                    .first_target = payload + 1,
                    .test_count = 1000};
    const auto n = static_cast<size_t>(payload);
    const auto s = static_cast<uint64_t>(symbols);
    set.train = [=](uint64_t index, std::span<int64_t> tokens, std::span<int32_t> targets) {
        copy_sequence(seed, index, n, s, tokens, targets);
    };
    set.test = [=](uint64_t index, std::span<int64_t> tokens, std::span<int32_t> targets) {
        copy_sequence(sequence_test_seed ^ ~uint64_t{0}, index, n, s, tokens, targets);
    };
    return set;
}

SequenceSet windows(std::shared_ptr<const TextSet> text, int length, uint64_t seed) {
    if (length < 1) throw Failure(fmt::format("windows of {} characters are impossible", length));
    const auto wanted = static_cast<size_t>(length) + 1;
    if (text->train.size() < wanted || text->held_out.size() < wanted)
        throw Failure(
            fmt::format("{}: windows of {} characters need {} in the training and the held-out text, which have {} and {}",
                        text->name, length, wanted, text->train.size(), text->held_out.size()));
    SequenceSet set{.name = text->name,
                    .vocabulary = text->vocabulary.size(),
                    .length = length,
                    .first_target = 0,
                    .test_count = static_cast<int64_t>((text->held_out.size() - 1) / static_cast<size_t>(length))};
    set.train = [text, seed, starts = text->train.size() - static_cast<size_t>(length)](
                    uint64_t index, std::span<int64_t> tokens, std::span<int32_t> targets) {
        Rng rng(Rng(Rng(seed).next() + index).next());
        window(text->train, rng.below(starts), tokens, targets);
    };
    set.test = [text, length](uint64_t index, std::span<int64_t> tokens, std::span<int32_t> targets) {
        window(text->held_out, index * static_cast<size_t>(length), tokens, targets);
    };
    return set;
}

}  // namespace lockstep::nn
