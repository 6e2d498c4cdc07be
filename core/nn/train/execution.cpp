#include "core/nn/train/execution.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/graph/fusion/fusion.h"

namespace lockstep::nn {

namespace {
constexpr std::string_view mode_names[] = {"direct", "eager", "graph", "fused"};
}

std::string_view name_of(Mode mode) {
    return mode_names[static_cast<size_t>(mode)];
}

Mode mode_named(const std::string& name) {
    for (const Mode mode : {Mode::direct, Mode::eager, Mode::graph, Mode::fused})
        if (name == name_of(mode)) return mode;
    throw Failure(fmt::format("unknown execution mode '{}': {}", name, fmt::join(mode_names, ", ")));
}

std::unique_ptr<device::Device> with_mode(std::unique_ptr<device::Device> device, Mode mode) {
    if (mode != Mode::eager) return device;
    return std::make_unique<graph::Queue>(std::move(device));
}

Execution::Execution(Mode mode, tensor::Heap& heap) : mode_(mode), heap_(heap) {
    if (mode != Mode::direct) recorder_ = std::make_unique<graph::Recorder>(heap);
}

graph::Executor* Execution::ready(const graph::StepInputs& inputs) {
    unchecked_.reset();
    if (mode_ != Mode::graph && mode_ != Mode::fused) return nullptr;
    if (captured_) {  // nobody reads the recorded step any more
        heap_.release_free();
        const bool fuses = mode_ == Mode::fused;
        captured_ =
            graph::fuse(*captured_, {.prologues = fuses, .epilogues = fuses, .on_host = heap_.device().name() == "host"})
                .graph;
        executors_.push_back(std::make_unique<graph::Executor>(heap_, std::move(*captured_)));
        captured_.reset();
        traffic_ = graph::traffic_of(executors_.back()->graph());
    }
    for (const auto& executor : executors_) {
        if (!executor->fits(inputs)) continue;
        if (executor->in_range(inputs)) return executor.get();
        unchecked_ = inputs;
        checks_ = executor.get();
        return nullptr;
    }
    return nullptr;
}

void Execution::begin(tensor::Tape& tape, const graph::StepInputs& inputs) {
    const bool counts = mode_ == Mode::eager && recorder_;
    if (unchecked_ || (mode_ != Mode::graph && mode_ != Mode::fused && !counts)) return;
    recorder_->begin(tape, inputs);
}

void Execution::end(int loss, int output) {
    if (unchecked_) {
        checks_->checked(*unchecked_);
        unchecked_.reset();
    }
    if (!recorder_ || !recorder_->recording()) return;
    const graph::Recorder::Result results[] = {{"loss", loss}, {"output", output}};
    if (mode_ == Mode::eager) {
        try {
            traffic_ = graph::traffic_of(recorder_->finish(results));
        } catch (const Failure&) {  // then nobody counts its bytes
            traffic_ = graph::Traffic{.bytes = -1};
        }
        recorder_.reset();  // once is enough
        return;
    }
    graph::Graph now = recorder_->finish(results);
    traffic_ = graph::traffic_of(now);
    const bool same_size = first_ && first_->source_counts == now.source_counts;
    if (!same_size) {
        first_ = std::move(now);
        return;
    }
    if (const std::string why = graph::difference(*first_, now); !why.empty())
        throw Failure("this step cannot be captured as a graph: " + why);
    for (size_t i = 0; i < now.feeds.size(); ++i)
        now.feeds[i].largest = std::max(now.feeds[i].largest, first_->feeds[i].largest);
    captured_ = std::move(now);
    first_.reset();
}

void Execution::abandon() {
    if (recorder_) recorder_->abandon();
    unchecked_.reset();
}

}  // namespace lockstep::nn
