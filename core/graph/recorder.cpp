#include "core/graph/recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/device/kernels/kernel_library.h"

namespace lockstep::graph {

using tensor::Purpose;
using tensor::Tensor;

Recorder::Recorder(tensor::Heap& heap) : heap_(heap) {
    listener_.on_tensor = [this](const Tensor& tensor, const tensor::Label& label) { made(tensor, label); };
    listener_.on_fill = [this](const Tensor& tensor, const void* values, DType type) { filled(tensor, values, type); };
    listener_.on_read = [this](const Tensor& tensor) { read(tensor); };
    heap_.listen(&listener_);
}

Recorder::~Recorder() {
    if (tape_) tape_->on_launch = nullptr;
    heap_.listen(nullptr);
}

void Recorder::refuse(std::string reason) {
    if (!refusal_) refusal_ = std::move(reason);
}

void Recorder::begin(tensor::Tape& tape, StepInputs inputs) {
    tape_ = &tape;
    inputs_ = std::move(inputs);
    graph_ = {};
    graph_.device = heap_.device().name();
    for (const Source& source : inputs_.sources) graph_.source_counts.push_back(source.count);
    at_.clear();
    refusal_.reset();
    tape.on_launch = [this](const tensor::Launch& launch, const device::LaunchRequest& request) {
        launched(launch, request);
    };
}

void Recorder::abandon() {
    if (tape_) tape_->on_launch = nullptr;
    tape_ = nullptr;
}

void Recorder::made(const Tensor& tensor, const tensor::Label& label) {
    const uint64_t address = tensor.storage->pointer().address;
    const int64_t bytes = tensor.storage->bytes();
    if (tensor::kept_from_step_to_step(tensor.storage->purpose())) {
        if (tape_) refuse(fmt::format("{} is made in the middle of the step, to stay", label.text()));
        persistent_.insert_or_assign(address, Known{label.text(), tensor.shape, tensor.strides, tensor.dtype, bytes});
        return;
    }
    persistent_.erase(address);
    if (!tape_) return;
    Buffer buffer;
    buffer.name = label.text();
    buffer.shape = tensor.shape;
    buffer.strides = tensor.strides;
    buffer.dtype = tensor.dtype;
    buffer.bytes = bytes;
    buffer.address = {address};
    at_.insert_or_assign(address, static_cast<int>(graph_.buffers.size()));
    graph_.buffers.push_back(std::move(buffer));
}

void Recorder::filled(const Tensor& tensor, const void* values, DType type) {
    if (!tape_) return;
    const auto [index, offset] = place_of(tensor.pointer());
    if (index < 0) return refuse("values of the host go to memory that the step did not make");
    Buffer& buffer = graph_.buffers[static_cast<size_t>(index)];
    if (buffer.role != Role::intermediate)
        return refuse(
            fmt::format("the step writes {} from the host, which a graph of launches does not repeat", buffer.name));
    const auto count = static_cast<size_t>(tensor.count());
    for (size_t s = 0; s < inputs_.sources.size(); ++s) {
        const Source& source = inputs_.sources[s];
        const auto begin = reinterpret_cast<uintptr_t>(source.data), at = reinterpret_cast<uintptr_t>(values);
        if (source.dtype != type || at < begin || at >= begin + source.count * size_of(type)) continue;
        buffer.role = Role::feed;
        graph_.feeds.push_back({index, s, (at - begin) / size_of(type), count, type, tensor.largest});
        return;
    }
    buffer.role = Role::constant;
    buffer.contents.resize(count * size_of(tensor.dtype));
    tensor::convert_values(values, type, buffer.contents.data(), tensor.dtype, count, buffer.name);
}

void Recorder::read(const Tensor& tensor) {
    if (!tape_) return;
    const auto [index, offset] = place_of(tensor.pointer());
    refuse(fmt::format("{} is read on the host in the middle of the step, and what comes after may depend on its values",
                       index < 0 ? "a tensor" : graph_.buffers[static_cast<size_t>(index)].name));
}

std::pair<int, int64_t> Recorder::place_of(device::Pointer pointer) {
    const auto inside = [&](uint64_t first, int64_t bytes) {
        return pointer.address >= first && pointer.address - first < static_cast<uint64_t>(std::max<int64_t>(bytes, 1));
    };
    const auto after = at_.upper_bound(pointer.address);
    if (after != at_.begin()) {
        const auto& [address, index] = *std::prev(after);
        if (inside(address, graph_.buffers[static_cast<size_t>(index)].bytes))
            return {index, static_cast<int64_t>(pointer.address - address)};
    }
    const auto next = persistent_.upper_bound(pointer.address);
    if (next == persistent_.begin()) return {-1, 0};
    const auto& [address, known] = *std::prev(next);
    if (!inside(address, known.bytes)) return {-1, 0};
    Buffer buffer;
    buffer.name = known.name;
    buffer.role = Role::persistent;
    buffer.shape = known.shape;
    buffer.strides = known.strides;
    buffer.dtype = known.dtype;
    buffer.bytes = known.bytes;
    buffer.address = {address};
    const auto index = static_cast<int>(graph_.buffers.size());
    graph_.buffers.push_back(std::move(buffer));
    at_.emplace(address, index);
    return {index, static_cast<int64_t>(pointer.address - address)};
}

void Recorder::launched(const tensor::Launch& asked, const device::LaunchRequest& request) {
    Launch launch;
    if (request.generated) return refuse(fmt::format("{} was generated outside of the graph", request.kernel));
    const device::KernelRow& row = device::kernel_named(request.kernel);
    launch.kernel = row.name;
    launch.base = row.base;
    launch.type = row.type;
    launch.grid = request.grid;
    launch.block = request.block;
    launch.dynamic_shared = request.dynamic_shared;
    launch.label = request.label;
    launch.phase = request.phase;
    launch.op = request.op;
    launch.where = request.where;
    const std::vector<Access>& accesses = accesses_of(row.name);
    for (size_t i = 0; i < request.arguments.size(); ++i) {
        const device::Argument& argument = request.arguments[i];
        Operand operand{.value = argument};
        if (const auto* pointer = std::get_if<device::Pointer>(&argument)) {
            operand.kind = Operand::Kind::buffer;
            operand.value = int32_t{0};
            std::tie(operand.buffer, operand.offset) = place_of(*pointer);
            if (operand.buffer < 0)
                return refuse(fmt::format("argument {} of {} ({}) is memory that the step did not make", i + 1,
                                          request.kernel, request.label));
            operand.access = i < accesses.size() ? accesses[i] : Access{true, true};
        } else if (static_cast<int>(i) == asked.random_offset) {
            operand.kind = Operand::Kind::random_offset;
            const auto* offset = std::get_if<int64_t>(&argument);
            if (!offset) return refuse(fmt::format("the generator's offset of {} is no i64", request.kernel));
            operand.value = static_cast<int64_t>(static_cast<uint64_t>(*offset) - inputs_.random_base);
        } else if (static_cast<int>(i) == asked.learning_rate) {
            operand.kind = Operand::Kind::learning_rate;
        }
        launch.operands.push_back(operand);
    }
    graph_.launches.push_back(std::move(launch));
}

Graph Recorder::finish(std::span<const Result> results) {
    tensor::Tape& tape = *tape_;
    if (tape.launches() != static_cast<int>(graph_.launches.size()))
        refuse("the step forgot its tape in the middle, so its launches belong to no graph");
    for (const tensor::Node& from : tape.nodes()) {
        Node node;
        node.kind = from.kind;
        node.op = from.op;
        node.attributes = from.attributes;
        node.name = from.name;
        node.where = from.where;
        node.inputs = from.inputs;
        node.shape = from.shape;
        node.strides = from.strides;
        node.dtype = from.dtype;
        node.requires_grad = from.requires_grad;
        node.forward_launches = from.forward_launches;
        node.backward_launches = from.backward_launches;
        node.update_launches = from.update_launches;
        const auto id = static_cast<int>(graph_.nodes.size());
        for (const tensor::Saved& saved : from.saved)
            if (saved.node >= 0) node.saved.push_back(saved.node);
        std::tie(node.buffer, node.offset) = place_of(from.value);
        if (node.buffer >= 0 && node.offset == 0 && graph_.buffers[static_cast<size_t>(node.buffer)].node < 0)
            graph_.buffers[static_cast<size_t>(node.buffer)].node = id;
        if (from.has_gradient && !from.gradient_is_one) {
            node.gradient = place_of(from.gradient_at).first;
            if (node.gradient >= 0 && graph_.buffers[static_cast<size_t>(node.gradient)].gradient_of < 0)
                graph_.buffers[static_cast<size_t>(node.gradient)].gradient_of = id;
        }
        for (const auto* list : {&from.forward_launches, &from.backward_launches, &from.update_launches})
            for (const int launch : *list)
                if (launch >= 0 && launch < static_cast<int>(graph_.launches.size()))
                    graph_.launches[static_cast<size_t>(launch)].node = id;
        graph_.nodes.push_back(std::move(node));
    }
    for (const Result& result : results) {
        if (result.node < 0) continue;
        const Node& node = graph_.nodes[static_cast<size_t>(result.node)];
        graph_.outputs.push_back({result.name, node.buffer, node.offset, node.shape, node.strides, node.dtype});
        if (node.buffer >= 0) graph_.buffers[static_cast<size_t>(node.buffer)].output = true;
    }
    abandon();
    if (refusal_) throw Failure(fmt::format("this step cannot be captured as a graph: {}", *refusal_));
    touch(graph_);
    return std::move(graph_);
}

}  // namespace lockstep::graph
