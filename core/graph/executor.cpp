#include "core/graph/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"

namespace lockstep::graph {

Executor::Executor(tensor::Heap& heap, Graph graph)
    : heap_(heap), graph_(std::move(graph)), plan_(plan_memory(graph_)), address_(graph_.buffers.size()) {
    if (plan_.arena > 0) arena_ = heap_.allocate(plan_.arena, "graph arena", tensor::Purpose::activation);
    for (size_t b = 0; b < address_.size(); ++b) {
        const Buffer& buffer = graph_.buffers[b];
        if (buffer.role == Role::persistent) {
            address_[b] = buffer.address;
        } else if (buffer.role == Role::constant) {
            constants_.push_back(heap_.allocate(buffer.bytes, buffer.name, tensor::Purpose::data));
            address_[b] = constants_.back()->pointer();
            heap_.device().copy_in(address_[b], buffer.contents.data(), buffer.contents.size());
        } else if (plan_.place[b] >= 0) {
            address_[b] = {arena_->pointer().address + static_cast<uint64_t>(plan_.place[b])};
        }
    }
    size_t most = 0;
    for (const Feed& feed : graph_.feeds) {
        const Buffer& buffer = graph_.buffers[static_cast<size_t>(feed.buffer)];
        if (buffer.dtype != feed.from) most = std::max(most, static_cast<size_t>(buffer.bytes));
    }
    staging_.resize(most);
    requests_.reserve(graph_.launches.size());
    for (const Launch& launch : graph_.launches) {
        device::LaunchRequest& request = requests_.emplace_back();
        request.kernel = launch.generated ? std::string_view(launch.generated->name) : launch.kernel;
        request.grid = launch.grid;
        request.block = launch.block;
        request.dynamic_shared = launch.dynamic_shared;
        request.label = launch.label;
        request.phase = launch.phase;
        request.op = launch.op;
        request.where = launch.where;
        request.generated = launch.generated.get();
        for (const Operand& operand : launch.operands) {
            if (operand.kind == Operand::Kind::buffer) {
                const device::Pointer at = address_[static_cast<size_t>(operand.buffer)];
                request.arguments.emplace_back(device::Pointer{at.address + static_cast<uint64_t>(operand.offset)});
                continue;
            }
            if (operand.kind != Operand::Kind::scalar)
                changes_.push_back({requests_.size() - 1, request.arguments.size(),
                                    operand.kind == Operand::Kind::random_offset ? std::get<int64_t>(operand.value) : 0,
                                    operand.kind == Operand::Kind::learning_rate});
            request.arguments.push_back(operand.value);
        }
    }
}

int64_t Executor::bytes() const {
    int64_t sum = plan_.arena;
    for (const auto& constant : constants_) sum += constant->bytes();
    return sum;
}

device::Pointer Executor::address_of(int buffer) const {
    return address_[static_cast<size_t>(buffer)];
}

bool Executor::fits(const StepInputs& inputs) const {
    if (inputs.sources.size() != graph_.source_counts.size()) return false;
    for (size_t i = 0; i < inputs.sources.size(); ++i)
        if (inputs.sources[i].count != graph_.source_counts[i]) return false;
    return std::all_of(graph_.feeds.begin(), graph_.feeds.end(),
                       [&](const Feed& one) { return inputs.sources[one.source].dtype == one.from; });
}

// The smallest and the largest of a feed's labels; of values that nobody checks (largest -1): nothing.
static std::pair<int64_t, int64_t> range_of(const Feed& one, const Source& source) {
    std::pair<int64_t, int64_t> range = {0, -1};
    const auto look = [&](const auto* first) {
        for (size_t i = 0; i < one.count; ++i)
            range = {std::min<int64_t>(range.first, first[i]), std::max<int64_t>(range.second, first[i])};
    };
    if (one.largest < 0) return range;
    if (one.from == DType::i32) look(static_cast<const int32_t*>(source.data) + one.first);
    if (one.from == DType::i64) look(static_cast<const int64_t*>(source.data) + one.first);
    return range;
}

bool Executor::in_range(const StepInputs& inputs) const {
    return std::all_of(graph_.feeds.begin(), graph_.feeds.end(), [&](const Feed& one) {
        const auto [least, most] = range_of(one, inputs.sources[one.source]);
        return least >= 0 && most <= one.largest;
    });
}

void Executor::checked(const StepInputs& inputs) {
    for (Feed& feed : graph_.feeds)
        feed.largest = std::max(feed.largest, range_of(feed, inputs.sources[feed.source]).second);
}

void Executor::feed(const Feed& one, const Source& source) {
    const Buffer& buffer = graph_.buffers[static_cast<size_t>(one.buffer)];
    const auto* from = static_cast<const std::byte*>(source.data) + one.first * size_of(one.from);
    const device::Pointer to = address_[static_cast<size_t>(one.buffer)];
    if (to.address == 0) return;  // no launch reads it
    const size_t bytes = one.count * size_of(buffer.dtype);
    if (buffer.dtype != one.from) {
        tensor::convert_values(from, one.from, staging_.data(), buffer.dtype, one.count, buffer.name);
        from = staging_.data();
    }
    heap_.device().copy_in(to, from, bytes);
}

void Executor::replay(const StepInputs& inputs) {
    if (!fits(inputs) || !in_range(inputs))
        throw Failure("the graph was captured for a batch of another size, or for smaller labels");
    for (const Feed& source : graph_.feeds) feed(source, inputs.sources[source.source]);
    for (const Change& change : changes_) {
        device::Argument& argument = requests_[change.launch].arguments[change.argument];
        if (!change.rate)
            argument = static_cast<int64_t>(inputs.random_base + static_cast<uint64_t>(change.distance));
        else if (std::holds_alternative<double>(argument))
            argument = inputs.learning_rate;
        else
            argument = static_cast<float>(inputs.learning_rate);
    }
    heap_.device().launch_graph(requests_);
}

std::vector<double> Executor::values(size_t index) const {
    const Output& output = graph_.outputs.at(index);
    const device::Pointer at = address_of(output.buffer);
    return tensor::read_values(heap_.device(), {at.address + static_cast<uint64_t>(output.offset)}, output.shape,
                               output.strides, output.dtype);
}

void Executor::values(size_t index, std::vector<double>& into) {
    const Output& output = graph_.outputs.at(index);
    if (output.strides != tensor::strides_of(output.shape)) {
        into = values(index);
        return;
    }
    const auto count = static_cast<size_t>(tensor::count_of(output.shape));
    const device::Pointer at{address_of(output.buffer).address + static_cast<uint64_t>(output.offset)};
    read_.resize(count * size_of(output.dtype));
    into.resize(count);
    heap_.device().copy_out(read_.data(), at, read_.size());
    tensor::convert_values(read_.data(), output.dtype, reinterpret_cast<std::byte*>(into.data()), DType::f64, count,
                           output.name);
}

double Executor::scalar(size_t index) const {
    const Output& output = graph_.outputs.at(index);
    const device::Pointer at{address_of(output.buffer).address + static_cast<uint64_t>(output.offset)};
    std::byte bytes[8] = {}, wide[8] = {};
    heap_.device().copy_out(bytes, at, size_of(output.dtype));
    tensor::convert_values(bytes, output.dtype, wide, DType::f64, 1, output.name);
    return __builtin_bit_cast(double, wide);
}

}  // namespace lockstep::graph
