// Replay, memory plan and queue: the same bits as the direct path, in planned memory, without allocating; failures of queued
// launches with their op, layer and line.
#include <fmt/format.h>

#include "core/device/kernels/kernel_library.h"
#include "core/device/meta.h"
#include "core/graph/executor.h"
#include "core/graph/queue.h"
#include "core/model/gpus/gpu_spec.h"
#include "tests/allocation_counter.h"
#include "tests/catch.h"
#include "tests/graph/support.h"

namespace graph_execute_test {

using namespace lockstep;
using graph::Executor;
using graph::Role;

namespace {
void change(SmallStep& step, int64_t i) {  // other data in every step
    for (size_t k = 0; k < step.x.size(); ++k)
        step.x[k] = 0.1f * static_cast<float>((k * 7 + static_cast<size_t>(i) * 3) % 11);
    for (size_t k = 0; k < step.labels.size(); ++k) step.labels[k] = static_cast<int32_t>((k + static_cast<size_t>(i)) % 2);
}
}  // namespace

TEST_CASE("a replayed step has the bits of an eager one: batch, dropout and learning rate are each step's own") {
    for (const char* name : {"host", "sim:teaching:2"}) {
        SmallStep eager(device::open_device(name, {.functional = true}).value()),
            replayed(device::open_device(name, {.functional = true}).value());
        change(eager, 0), change(replayed, 0);
        eager.run();
        Executor executor(replayed.heap, replayed.run());
        for (int64_t i = 1; i < 20; ++i) {
            change(eager, i), change(replayed, i);
            eager.run();
            executor.replay(replayed.inputs());
            ++replayed.step;
            INFO(name << ", step " << i);
            CHECK(executor.scalar(0) == eager.last_loss);
            CHECK(executor.values(0) == std::vector<double>{eager.last_loss});
            CHECK(tensor::to_host(replayed.heap, replayed.w) == tensor::to_host(eager.heap, eager.w));
        }
    }
}

TEST_CASE("a replay on the host allocates nothing") {
    SmallStep step;
    change(step, 0);
    Executor executor(step.heap, step.run());
    graph::StepInputs inputs = step.inputs();
    executor.replay(inputs);  // scratch memory of the kernels is taken once
    double sum = 0;
    const int64_t before = allocations;
    for (uint64_t i = 2; i < 12; ++i) {
        inputs.random_base = i << 32;
        inputs.learning_rate = 0.01 * double(i);
        executor.replay(inputs);
        sum += executor.scalar(0);
    }
    const int64_t during = allocations - before;
    CHECK(during == 0);
    CHECK(sum > 0);
    step.run();
    CHECK(allocations - before > 10);  // the counter counts
}

TEST_CASE("a replay asks the device for its memory once, as much as its plan says") {
    SmallStep step;
    const Graph graph = step.run();
    step.tape.clear();
    step.heap.recycle();
    const int64_t eager = step.heap.device_bytes();
    step.heap.release_free();
    const int64_t parameters = step.heap.device_bytes();
    Executor executor(step.heap, graph);
    CHECK(step.heap.device_bytes() - parameters == executor.plan().arena);
    CHECK(executor.bytes() == executor.plan().arena);
    const uint64_t asked = step.heap.device_allocations();
    executor.replay(step.inputs());
    CHECK(step.heap.device_allocations() == asked);
    CHECK(executor.plan().unshared == eager - parameters);
}

TEST_CASE("a plan gives no byte to two buffers that live at the same launch") {
    SmallStep step;
    const Graph graph = step.run();
    const graph::Plan plan = graph::plan_memory(graph, 16);
    int64_t peak = 0;
    for (int launch = 0; launch < static_cast<int>(graph.launches.size()); ++launch) {
        std::vector<std::string> owner(static_cast<size_t>(plan.arena));
        int64_t live = 0;
        for (size_t b = 0; b < graph.buffers.size(); ++b) {
            const graph::Buffer& buffer = graph.buffers[b];
            if (plan.place[b] < 0) continue;
            // Alive by what the launches touch, found here without the plan's help.
            bool before = buffer.role == Role::feed, after = buffer.output;
            for (int i = 0; i < static_cast<int>(graph.launches.size()); ++i)
                for (const graph::Operand& operand : graph.launches[static_cast<size_t>(i)].operands)
                    if (operand.kind == graph::Operand::Kind::buffer && operand.buffer == static_cast<int>(b)) {
                        before = before || i <= launch;
                        after = after || i >= launch;
                    }
            if (!before || !after) continue;
            live += buffer.bytes;
            REQUIRE(plan.place[b] % 16 == 0);
            for (int64_t at = plan.place[b]; at < plan.place[b] + buffer.bytes; ++at) {
                std::string& who = owner[static_cast<size_t>(at)];
                if (!who.empty()) FAIL_CHECK(who << " and " << buffer.name << " share byte " << at);
                who = buffer.name;
            }
        }
        CHECK(plan.live[static_cast<size_t>(launch)] == live);
        peak = std::max(peak, live);
    }
    CHECK(plan.live_peak == peak);
    CHECK(plan.arena >= plan.live_peak);
    CHECK(plan.arena < plan.unshared);
}

TEST_CASE("a plan puts a chain of equal buffers into two places") {
    Graph graph;  // a -> b -> c -> d, each read by the next launch alone
    for (int b = 0; b < 6; ++b) {
        graph::Buffer buffer;
        buffer.bytes = 1000;
        graph.buffers.push_back(buffer);
    }
    for (int i = 0; i + 1 < 6; ++i) {
        graph::Launch launch;
        launch.operands = {{.kind = graph::Operand::Kind::buffer, .buffer = i, .access = {true, false}},
                           {.kind = graph::Operand::Kind::buffer, .buffer = i + 1, .access = {false, true}}};
        graph.launches.push_back(launch);
    }
    graph::touch(graph);
    const graph::Plan plan = graph::plan_memory(graph, 256);
    CHECK(plan.unshared == 6000);
    CHECK(plan.live_peak == 2000);
    CHECK(plan.arena == 2048);
}

TEST_CASE("a batch of another size does not fit a graph, and a larger label needs an eager step first") {
    SmallStep step;
    step.labels = {0, 0, 0, 0};
    Executor executor(step.heap, step.run());
    CHECK(executor.fits(step.inputs()));
    step.labels = {0, 1, 0, 0};
    CHECK(executor.fits(step.inputs()));
    CHECK_FALSE(executor.in_range(step.inputs()));
    CHECK_THROWS_AS(executor.replay(step.inputs()), Failure);
    step.run();  // its op looks at the labels
    executor.checked(step.inputs());
    CHECK(executor.in_range(step.inputs()));
    step.labels = {0, 1, 0};
    step.x.resize(9);
    CHECK_FALSE(executor.fits(step.inputs()));
    CHECK(Executor(step.heap, step.run()).fits(step.inputs()));
}

TEST_CASE("a step through the queue has the bits of a direct one, and its launches come in order") {
    SmallStep direct, queued(std::make_unique<graph::Queue>(device::make_host({}), 4));
    std::vector<std::string> launched, nodes;
    int deepest = 0;
    queued.device->on_launch = [&](const device::LaunchEvent& event) { launched.push_back(event.label); };
    dynamic_cast<graph::Queue&>(*queued.device).on_queue = [&](const graph::QueueEvent& event) {
        nodes.push_back(event.label);
        deepest = std::max(deepest, event.depth);
        CHECK(event.lookup_begin_us <= event.enqueue_begin_us);
        CHECK(event.enqueue_begin_us <= event.enqueue_end_us);
        CHECK(event.enqueue_begin_us <= event.dequeue_begin_us);
        CHECK(event.dequeue_begin_us <= event.dequeue_end_us);
    };
    for (int64_t i = 0; i < 5; ++i) {
        change(direct, i), change(queued, i);
        const Graph graph = direct.run();
        launched.clear(), nodes.clear();
        queued.run();
        queued.device->synchronize();
        std::vector<std::string> labels;
        for (const graph::Launch& launch : graph.launches) labels.push_back(launch.label);
        CHECK(launched == labels);
        CHECK(nodes == labels);
        CHECK(queued.last_loss == direct.last_loss);
        CHECK(tensor::to_host(queued.heap, queued.w) == tensor::to_host(direct.heap, direct.w));
    }
    CHECK(deepest >= 1);
    CHECK(deepest <= 4);
}

TEST_CASE("a queued launch that fails is told at the next synchronisation, with op, layer and line") {
    SmallStep step(std::make_unique<graph::Queue>(device::make_host({})));
    static const tensor::OpRow broken = {
        .name = "broken",
        .shape = [](tensor::Types in, const tensor::Attributes&) { return in[0].shape; },
        .forward =
            [](tensor::ForwardCall& call) {
                call.launch(tensor::elementwise("relu", 8, {device::Pointer{64}, call.output.pointer(), 8}));
            },
    };
    std::string line;
    const auto run = [&] {
        step.run([&](const Variable& h) {
            line = fmt::format("tests/graph/execute_test.cpp:{}", __LINE__ + 1);
            step.tape.apply(broken, {h}, "layer 3");
            CHECK_NOTHROW(tensor::relu(step.tape, h, "after"));  // asynchronous: nobody knows yet
        });
    };
    try {
        run();  // reads its loss at the end
        FAIL_CHECK("nothing was told");
    } catch (const Failure& failure) {
        CHECK(failure.diagnostic.message == "layer 3 (broken), recorded at " + line +
                                                ": relu_f32 failed in the queue: address 0x40 is in no buffer on host");
    }
    step.recorder.abandon();
    CHECK_NOTHROW(step.run());  // and it is told once
}

TEST_CASE("a queue of no nodes is impossible, a full one waits") {
    CHECK_THROWS_AS(graph::Queue(device::make_host({}), 0), Failure);
    SmallStep direct, queued(std::make_unique<graph::Queue>(device::make_host({}), 1));
    direct.run(), queued.run();
    CHECK(queued.last_loss == direct.last_loss);
}

TEST_CASE("a graph costs a simulated host one launch and next to nothing for each further node") {
    SmallStep step(device::open_device("sim:v100", {}).value());
    std::vector<device::LaunchEvent> events;
    step.device->on_launch = [&](const device::LaunchEvent& event) { events.push_back(event); };
    const Graph graph = step.run();
    const double launch_us = model::gpu_named("v100").value().launch_us;
    const auto host_us = [&] {
        double sum = 0;
        for (const device::LaunchEvent& event : events) sum += event.enqueue_end_us - event.enqueue_begin_us;
        return sum;
    };
    REQUIRE(events.size() == 10);
    CHECK(host_us() == Approx(10 * launch_us));
    step.device->synchronize();
    Executor executor(step.heap, graph);
    events.clear();
    executor.replay(step.inputs());
    REQUIRE(events.size() == 10);
    CHECK(host_us() == Approx(launch_us + 9 * 0.2));
    for (size_t i = 1; i < events.size(); ++i) CHECK(events[i].begin_us >= events[i - 1].end_us);
}

}  // namespace graph_execute_test
