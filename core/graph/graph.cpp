#include "core/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::graph {

std::string_view name_of(Role role) {
    constexpr std::string_view names[] = {"persistent", "constant", "feed", "intermediate"};
    return names[static_cast<size_t>(role)];
}

void touch(Graph& graph) {
    for (Buffer& buffer : graph.buffers) {
        buffer.first = buffer.last = -1;
        buffer.saved = false;
    }
    std::vector<char> forward(graph.buffers.size());  // was there before backward began
    for (size_t b = 0; b < forward.size(); ++b) forward[b] = graph.buffers[b].role == Role::feed;
    for (size_t i = 0; i < graph.launches.size(); ++i) {
        const Launch& launch = graph.launches[i];
        for (const Operand& operand : launch.operands) {
            if (operand.kind != Operand::Kind::buffer) continue;
            const auto b = static_cast<size_t>(operand.buffer);
            Buffer& buffer = graph.buffers[b];
            if (buffer.first < 0) buffer.first = static_cast<int>(i);
            buffer.last = static_cast<int>(i);
            if (launch.phase == "forward")
                forward[b] = forward[b] || buffer.role == Role::intermediate;
            else if (launch.phase == "backward" && forward[b] && operand.access.reads)
                buffer.saved = true;
        }
    }
}

namespace {
std::string differing_buffer(const Buffer& a, const Buffer& b) {
    if (a.role != b.role || a.bytes != b.bytes || a.dtype != b.dtype || a.shape != b.shape)
        return fmt::format("{} [{}] of one step is {} [{}] in the next", a.name, tensor::text_of(a.shape), b.name,
                           tensor::text_of(b.shape));
    if (a.role == Role::persistent && a.address != b.address) return fmt::format("{} has moved in memory", a.name);
    if (a.contents != b.contents)
        return fmt::format("{} is made anew by the step itself on the host, not from its batch", a.name);
    return "";
}

std::string differing_launch(const Launch& a, const Launch& b, const Graph& graph) {
    if (a.kernel != b.kernel) return fmt::format("{} ({}) of one step is {} in the next", a.kernel, a.label, b.kernel);
    if (a.grid != b.grid || a.block != b.block || a.dynamic_shared != b.dynamic_shared)
        return fmt::format("{} ({}) has another launch shape in the next step", a.kernel, a.label);
    if (a.operands.size() != b.operands.size())
        return fmt::format("{} ({}) has another number of arguments in the next step", a.kernel, a.label);
    for (size_t i = 0; i < a.operands.size(); ++i) {
        const Operand &x = a.operands[i], &y = b.operands[i];
        if (x == y || (x.kind == y.kind && x.kind == Operand::Kind::learning_rate)) continue;
        if (x.kind == Operand::Kind::buffer && y.kind == Operand::Kind::buffer)
            return fmt::format("argument {} of {} ({}) is {} in one step and other memory in the next", i + 1, a.kernel,
                               a.label, graph.buffers[static_cast<size_t>(x.buffer)].name);
        return fmt::format("argument {} of {} ({}) is a number that changes from step to step, and nothing says how", i + 1,
                           a.kernel, a.label);
    }
    return "";
}
}  // namespace

std::string difference(const Graph& first, const Graph& second) {
    if (first.launches.size() != second.launches.size())
        return fmt::format("one step has {} launches, the next {}", first.launches.size(), second.launches.size());
    for (size_t i = 0; i < first.launches.size(); ++i)
        if (const std::string why = differing_launch(first.launches[i], second.launches[i], first); !why.empty()) return why;
    if (first.buffers.size() != second.buffers.size()) return "one step makes more tensors than the next";
    for (size_t i = 0; i < first.buffers.size(); ++i)
        if (const std::string why = differing_buffer(first.buffers[i], second.buffers[i]); !why.empty()) return why;
    if (first.feeds.size() != second.feeds.size()) return "one step takes more of its batch than the next";
    for (size_t i = 0; i < first.feeds.size(); ++i) {
        const Feed &a = first.feeds[i], &b = second.feeds[i];
        if (a.buffer != b.buffer || a.source != b.source || a.first != b.first || a.count != b.count)
            return fmt::format("{} is another part of the batch in the next step",
                               first.buffers[static_cast<size_t>(a.buffer)].name);
    }
    return "";
}

Traffic traffic_of(const Graph& graph) {
    Traffic traffic;
    traffic.launches = static_cast<int64_t>(graph.launches.size());
    for (const Launch& launch : graph.launches)
        for (size_t i = 0; i < launch.operands.size(); ++i) {
            const Operand& operand = launch.operands[i];
            if (operand.kind != Operand::Kind::buffer) continue;
            const auto same = [&](const Operand& other) {
                return other.kind == Operand::Kind::buffer && other.buffer == operand.buffer &&
                       other.access == operand.access;
            };
            if (std::any_of(launch.operands.begin(), launch.operands.begin() + static_cast<int64_t>(i), same)) continue;
            const auto bytes = static_cast<double>(graph.buffers[static_cast<size_t>(operand.buffer)].bytes);
            traffic.bytes += bytes * (operand.access.reads + operand.access.writes);
        }
    return traffic;
}

std::string text_of(const Graph& graph) {
    std::string text;
    for (const Launch& launch : graph.launches) {
        std::string from, to, numbers;
        const auto add = [](std::string& list, std::string_view what) {
            if (!list.empty()) list += ", ";
            list += what;
        };
        for (const Operand& operand : launch.operands) {
            if (operand.kind == Operand::Kind::random_offset) add(from, "random offset");
            if (operand.kind == Operand::Kind::learning_rate) add(from, "learning rate");
            if (operand.kind != Operand::Kind::buffer) continue;
            const std::string& name = graph.buffers[static_cast<size_t>(operand.buffer)].name;
            if (operand.access.reads) add(from, name);
            if (operand.access.writes) add(to, name);
        }
        text += fmt::format("{}  {}: {} -> {}\n", launch.kernel, launch.label, from, to);
    }
    return text;
}

}  // namespace lockstep::graph
