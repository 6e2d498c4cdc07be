// Streams against closed forms: overheads are set to nothing where a formula knows none, and the engines' times to round
// numbers. t is what one copy or kernel takes.
#include "core/model/streams/streams.h"

#include <algorithm>
#include <string>

#include "core/base/rng.h"
#include "tests/catch.h"

namespace model_streams_test {

using namespace lockstep;
using namespace lockstep::model;

namespace {

constexpr double t = 10;  // us

// The teaching GPU without overheads: 1 GB/s, so that a thousand bytes take a microsecond.
GpuSpec plain(uint32_t copy_engines = 2) {
    GpuSpec gpu = gpu_named("teaching").value();
    gpu.launch_us.value = gpu.launch_latency_us.value = gpu.call_us.value = 0;
    gpu.copy_latency_us.value = gpu.copy_back_latency_us.value = gpu.copy_within_latency_us.value = 0;
    gpu.allocate_us.value = 0;
    gpu.warps_per_sm.value = 64;
    gpu.blocks_per_sm.value = 32;
    gpu.pinned_gb_per_second.value = 1;
    gpu.pageable_gb_per_second.value = 0.5;
    gpu.copy_engines.value = copy_engines;
    gpu.copy_beside_share.value = 1;
    return gpu;
}

HostOperation copy(HostVerb verb, uint32_t stream, double us = t) {
    HostOperation one;
    one.verb = verb;
    one.stream = stream;
    one.bytes = static_cast<uint64_t>(us * 1000);
    return one;
}
HostOperation in(uint32_t stream, double us = t) {
    return copy(HostVerb::copy_in, stream, us);
}
HostOperation out(uint32_t stream, double us = t) {
    return copy(HostVerb::copy_out, stream, us);
}

// `blocks` blocks of `us` each that take `warps` of an SM's, as they would be placed alone on two SMs.
HostOperation kernel(uint32_t stream, double us = t, uint32_t blocks = 2, uint32_t warps = 64) {
    auto time = std::make_shared<KernelTime>();
    const GpuSpec gpu = plain();
    time->warps = warps;
    time->blocks_per_sm = std::max(1u, gpu.warps_per_sm / warps);
    const uint32_t at_once = gpu.sms * time->blocks_per_sm;
    const auto cycles = static_cast<int64_t>(us * 1000);
    for (uint32_t i = 0; i < blocks; ++i)
        time->blocks.push_back({i % gpu.sms.value, i / at_once * cycles, (i / at_once + 1) * cycles});
    time->cycles = (blocks + at_once - 1) / at_once * cycles;
    HostOperation one;
    one.verb = HostVerb::launch;
    one.stream = stream;
    one.kernel = time;
    return one;
}
HostOperation simple(HostVerb verb, uint32_t stream = 0, uint32_t event = 0) {
    HostOperation one;
    one.verb = verb;
    one.stream = stream;
    one.event = event;
    return one;
}

HostProgram program(std::vector<HostOperation> operations, uint32_t connections = usual_connections) {
    HostProgram made;
    made.operations = std::move(operations);
    made.connections = connections;
    return made;
}

// k chunks, each copied in, worked on, copied out. depth: chunk by chunk; else all copies in, all kernels, all copies out.
std::vector<HostOperation> chunks(uint32_t k, bool depth, double a = t, double b = t, double c = t, bool streams = true) {
    std::vector<HostOperation> all;
    if (depth)
        for (uint32_t i = 1; i <= k; ++i)
            for (const HostOperation& one : {in(streams ? i : 1, a), kernel(streams ? i : 1, b), out(streams ? i : 1, c)})
                all.push_back(one);
    else
        for (int stage = 0; stage < 3; ++stage)
            for (uint32_t i = 1; i <= k; ++i) all.push_back(stage == 0 ? in(i, a) : stage == 1 ? kernel(i, b) : out(i, c));
    return all;
}

}  // namespace

TEST_CASE("the next kernel of a stream begins a gap later, in a graph a shorter one; other streams do not wait") {
    GpuSpec gpu = plain();
    gpu.launch_gap_us.value = 2;
    const Schedule two = schedule(gpu, program({kernel(1), kernel(1), kernel(2, t, 1, 1)}));
    CHECK(two.operations[0].end_us == t);
    CHECK(two.operations[1].begin_us == t + 2);
    HostOperation second = kernel(1);
    second.in_graph = true;
    const Schedule graph = schedule(gpu, program({kernel(1), second}));
    CHECK(graph.operations[1].begin_us > t);
    CHECK(graph.operations[1].begin_us < t + 2);
    // A copy in between has its own start.
    const Schedule copied = schedule(gpu, program({kernel(1), out(1), kernel(1)}));
    CHECK(copied.operations[1].begin_us == t);
    CHECK(copied.operations[2].begin_us == 2 * t);
}

TEST_CASE("in one stream everything takes the sum of its parts") {
    for (const uint32_t k : {1u, 2u, 4u, 7u}) {
        const Schedule s = schedule(plain(), program(chunks(k, true, t, t, t, false)));
        CHECK(s.total_us == Approx(3 * t * k));
        CHECK(s.work_us == Approx(3 * t * k));
        CHECK(s.speedup() == Approx(1));
        CHECK(s.overlap == 0);
        CHECK(s.busy_us[static_cast<size_t>(Engine::compute)] == Approx(k * t));
    }
}

TEST_CASE("with k chunks in k streams and two copy engines the slowest stage is the pace") {
    for (const auto& [a, b, c] : {std::tuple{10.0, 10.0, 10.0}, {10.0, 20.0, 5.0}, {30.0, 7.0, 9.0}, {4.0, 6.0, 11.0}})
        for (const uint32_t k : {1u, 2u, 3u, 4u, 8u}) {
            INFO(a << " " << b << " " << c << ", " << k << " chunks");
            const Schedule s = schedule(plain(), program(chunks(k, true, a, b, c)));
            CHECK(s.total_us == Approx(a + b + c + (k - 1) * std::max({a, b, c})));
            CHECK(s.work_us == Approx(k * (a + b + c)));
        }
}

TEST_CASE("two engines at once give at most twice, three at most three times, and the host one more") {
    const uint32_t k = 16;
    std::vector<HostOperation> two = {in(1, k * t), simple(HostVerb::record, 1, 0)};  // all of it first
    for (uint32_t i = 1; i <= k; ++i) {                                               // then kernels beside copies out
        two.push_back(simple(HostVerb::wait, i, 0));
        two.push_back(kernel(i));
        two.push_back(out(i));
    }
    const Schedule second = schedule(plain(), program(two));
    CHECK(second.total_us == Approx(k * t + (k + 1) * t));
    CHECK(second.speedup() < 2);
    const Schedule third = schedule(plain(), program(chunks(k, true)));
    CHECK(third.total_us == Approx((k + 2) * t));
    CHECK(third.speedup() == Approx(3.0 * k / (k + 2)));
    std::vector<HostOperation> four = chunks(k, true);
    four.push_back(simple(HostVerb::work));
    four.back().us = k * t;
    const Schedule fourth = schedule(plain(), program(four));
    CHECK(fourth.total_us == Approx((k + 2) * t));
    CHECK(fourth.speedup() == Approx(4.0 * k / (k + 2)));
    CHECK(fourth.speedup() > 3);
    // Two of k + 2 stretches have one engine only, the first and the last; k have two or three.
    CHECK(third.overlap == Approx(static_cast<double>(k) / (k + 2)));
}

TEST_CASE("with one copy engine and one queue, chunk by chunk is serial and stage by stage is not") {
    const uint32_t k = 4;
    CHECK(schedule(plain(1), program(chunks(k, true), 1)).total_us == Approx(3 * k * t));
    CHECK(schedule(plain(1), program(chunks(k, false), 1)).total_us == Approx(2 * k * t));
    // A queue for every stream lets the engine take whatever is ready.
    CHECK(schedule(plain(1), program(chunks(k, true), 8)).total_us == Approx(2 * k * t));
    // With an engine for each direction the order does not matter.
    CHECK(schedule(plain(2), program(chunks(k, true), 1)).total_us == Approx((k + 2) * t));
    CHECK(schedule(plain(2), program(chunks(k, false), 1)).total_us == Approx((k + 2) * t));
}

TEST_CASE("with one compute queue, two streams of two small kernels overlap by one, or wholly when issued in turn") {
    const auto small = [](uint32_t stream) { return kernel(stream, t, 1, 8); };
    const std::vector<HostOperation> depth = {small(1), small(1), small(2), small(2)};
    const std::vector<HostOperation> breadth = {small(1), small(2), small(1), small(2)};
    CHECK(schedule(plain(), program(depth, 1)).total_us == Approx(3 * t));
    CHECK(schedule(plain(), program(breadth, 1)).total_us == Approx(2 * t));
    CHECK(schedule(plain(), program(depth, 8)).total_us == Approx(2 * t));
}

TEST_CASE("kernels share the SMs as far as their blocks fit beside each other") {
    // 64 warps an SM, two SMs. Four kernels of two blocks of 16 warps fill them; a fifth waits.
    std::vector<HostOperation> five;
    for (uint32_t i = 1; i <= 5; ++i) five.push_back(kernel(i, t, 2, 16));
    CHECK(schedule(plain(), program({five.begin(), five.begin() + 4})).total_us == Approx(t));
    CHECK(schedule(plain(), program(five)).total_us == Approx(2 * t));
    // Blocks that need a whole SM share nothing.
    CHECK(schedule(plain(), program({kernel(1), kernel(2)})).total_us == Approx(2 * t));
    // Three whole-SM blocks leave one SM free in their second round: the next kernel begins there.
    const Schedule tail = schedule(plain(), program({kernel(1, t, 3), kernel(2, t, 1)}));
    CHECK(tail.operations[1].begin_us == Approx(t));
    CHECK(tail.total_us == Approx(2 * t));
    // Registers and shared memory limit as well.
    for (const bool registers : {true, false}) {
        const GpuSpec gpu = plain();
        HostOperation a = kernel(1, t, 2, 8), b = kernel(2, t, 2, 8);
        for (HostOperation* one : {&a, &b}) {
            auto time = std::make_shared<KernelTime>(*one->kernel);
            (registers ? time->registers : time->shared) = (registers ? gpu.registers_per_sm : gpu.shared_per_sm) / 2 + 1;
            one->kernel = time;
        }
        CHECK(schedule(gpu, program({a, b})).total_us == Approx(2 * t));
    }
}

TEST_CASE("a kernel that gets company later keeps the blocks that it has and shares the rest") {
    // Alone: 4 blocks of whole SMs, two rounds. The second kernel is ready at t / 2 but finds room when the first one's last
    // blocks have begun and some have ended: at 2 t.
    HostOperation late = kernel(2);
    const Schedule s = schedule(plain(), program({kernel(1, t, 4), in(2, t / 2), late}));
    CHECK(s.operations[0].end_us == Approx(2 * t));
    CHECK(s.operations[2].begin_us == Approx(2 * t));
    CHECK(s.operations[2].cause == 0);
    // With half-SM blocks, 5 of them: 4 at once, then one; the second kernel's two blocks fit beside that one.
    const Schedule half = schedule(plain(), program({kernel(1, t, 5, 32), in(2, t / 2), kernel(2, t, 2, 32)}));
    CHECK(half.operations[0].end_us == Approx(2 * t));
    CHECK(half.operations[2].begin_us == Approx(t));
    CHECK(half.operations[2].end_us == Approx(2 * t));
}

TEST_CASE("a kernel alone takes exactly what its own run took, also once its blocks are counted one by one") {
    HostOperation odd = kernel(1, t, 7, 32);
    auto time = std::make_shared<KernelTime>(*odd.kernel);
    time->cycles += 37;  // what the last block leaves to do
    odd.kernel = time;
    CHECK(schedule(plain(), program({odd})).total_us == Approx(time->us()));
    HostOperation tiny = kernel(2, 1, 1, 1);
    const Schedule s = schedule(plain(), program({odd, in(2, 3), tiny, kernel(3)}));
    CHECK(s.operations[0].end_us == Approx(time->us()));
    CHECK(s.operations[3].end_us == Approx(time->us() + t));  // it needs both SMs whole, and gets them when the first ends
}

TEST_CASE("a kernel whose blocks are placed beside another's takes what it took alone, from its first cycle to its last") {
    HostOperation late = kernel(2, t, 1, 8);
    auto time = std::make_shared<KernelTime>(*late.kernel);
    for (KernelTime::Block& block : time->blocks) block.begin += 40, block.end += 40;
    time->cycles += 40 + 25;  // before the first block, and behind the last
    late.kernel = time;
    const Schedule s = schedule(plain(), program({kernel(1, 3 * t, 1, 8), late}));
    CHECK(s.operations[1].end_us - s.operations[1].begin_us == Approx(time->us()));
}

TEST_CASE("no more kernels run at once than the GPU has places for grids") {
    GpuSpec gpu = plain();
    gpu.concurrent_kernels.value = 2;
    std::vector<HostOperation> four;
    for (uint32_t i = 1; i <= 4; ++i) four.push_back(kernel(i, t, 1, 4));
    CHECK(schedule(gpu, program(four)).total_us == Approx(2 * t));
}

TEST_CASE("a stream waits for an event, and the wait says when it came and when it went on") {
    const Schedule s =
        schedule(plain(), program({in(1, 30), simple(HostVerb::record, 1, 7), in(1, 5), simple(HostVerb::wait, 2, 7), out(2),
                                   simple(HostVerb::wait, 3, 99), out(3)}));
    CHECK(s.operations[1].end_us == Approx(30));
    CHECK(s.operations[3].begin_us == Approx(0));
    CHECK(s.operations[3].end_us == Approx(30));
    CHECK(s.operations[4].begin_us == Approx(30));
    CHECK(s.operations[4].cause == 3);
    CHECK(s.operations[6].begin_us == Approx(0));  // an event that nobody recorded holds nobody up
}

TEST_CASE("the default stream waits for all others and makes them wait") {
    const Schedule s = schedule(plain(), program({in(1, 20), kernel(0), out(2)}));
    CHECK(s.operations[1].begin_us == Approx(20));
    CHECK(s.operations[2].begin_us == Approx(30));
}

TEST_CASE("the host waits for copies of pageable memory, for cudaMemcpy and where it is told to") {
    HostOperation pageable = in(1);
    pageable.pinned = false;
    HostOperation blocking = in(1);
    blocking.blocking = true;
    CHECK(schedule(plain(), program({pageable, in(2)})).operations[1].call_begin_us == Approx(2 * t));  // half as fast
    CHECK(schedule(plain(), program({blocking, in(2)})).operations[1].call_begin_us == Approx(t));
    CHECK(schedule(plain(), program({in(1), in(2)})).operations[1].call_begin_us == Approx(0));
    HostOperation device = simple(HostVerb::synchronize), stream = device, event = device;
    stream.with = SyncWith::stream;
    stream.stream = 2;
    event.with = SyncWith::event;
    event.event = 5;
    const std::vector<HostOperation> work = {in(2), simple(HostVerb::record, 2, 5), out(1, 3 * t)};
    const auto end_with = [&](const HostOperation& last) {
        std::vector<HostOperation> all = work;
        all.push_back(last);
        return schedule(plain(), program(all)).operations.back().call_end_us;
    };
    CHECK(end_with(device) == Approx(3 * t));
    CHECK(end_with(stream) == Approx(t));
    CHECK(end_with(event) == Approx(t));
    CHECK(end_with(simple(HostVerb::release)) == Approx(3 * t));
}

TEST_CASE("calls take the host's time, and a launch its latency, once") {
    GpuSpec gpu = plain();
    gpu.launch_us.value = 2;
    gpu.launch_latency_us.value = 3;
    const Schedule s = schedule(gpu, program({kernel(1), kernel(1), kernel(1)}));
    CHECK(s.operations[0].begin_us == Approx(5));
    CHECK(s.total_us == Approx(5 + 3 * t));  // the later ones were there in time
    const Schedule tiny = schedule(gpu, program({kernel(1, 0.5), kernel(1, 0.5)}));
    CHECK(tiny.operations[1].begin_us == Approx(7));  // these were not: the GPU waits for the host
    CHECK(tiny.operations[1].cause == -1);
}

TEST_CASE("NVLink carries half of its figure each way, PCI Express what its row says, less while both go") {
    GpuSpec gpu = gpu_named("v100").value();
    gpu.copy_latency_us.value = gpu.copy_back_latency_us.value = gpu.launch_us.value = 0;
    HostProgram one = program({in(1), out(2)});
    for (HostOperation& o : one.operations) o.bytes = 150'000'000;
    CHECK(schedule(gpu, one).total_us == Approx(150e6 / 12.5e3 / 0.91));
    one.link = HostLink::nvlink;
    CHECK(schedule(gpu, one).total_us == Approx(150e6 / 150e3));
}

TEST_CASE("copies of both directions slow each other as long as both are under way, and take turns at one engine") {
    GpuSpec gpu = plain();
    gpu.copy_beside_share.value = 0.8;
    const auto ends = [&](const std::vector<HostOperation>& operations) {
        const Schedule s = schedule(gpu, program(operations));
        std::vector<double> times;
        for (const OperationTime& one : s.operations) times.push_back(one.end_us);
        return times;
    };
    // 12 us alone beside 8 us: 10 us together, of which the longer one has done 8, and 4 more alone.
    CHECK(ends({in(1, 12), out(2, 8)})[1] == Approx(10));
    CHECK(ends({in(1, 12), out(2, 8)})[0] == Approx(14));
    // One that begins later slows the rest of the first: 2 us of the host's work, then 8 us at 0.8 for 6.4, and 3.6 alone.
    HostOperation work = simple(HostVerb::work, 0);
    work.us = 2;
    const std::vector<double> later = ends({in(1, 12), work, out(2, 6.4)});
    CHECK(later[2] == Approx(10));
    CHECK(later[0] == Approx(13.6));
    // Copies within the GPU take nothing of the link.
    gpu.copy_engines.value = 2;
    CHECK(ends({copy(HostVerb::copy_within, 1, 12), out(2, 8)})[1] == Approx(8));
    // With one engine there is nothing to share.
    gpu.copy_engines.value = 1;
    CHECK(ends({in(1, 12), out(2, 8)})[1] == Approx(20));
}

TEST_CASE("32 MiB each way on an H200 take what was measured") {
    const GpuSpec gpu = gpu_named("h200").value();
    HostProgram both = program({in(1), out(2)});
    for (HostOperation& o : both.operations) o.bytes = 32 << 20;
    for (const OperationTime& one : schedule(gpu, both).operations)
        CHECK(one.end_us - one.begin_us == Approx(672).epsilon(0.02));  // measured in assets/silicon, 10 % more than alone
    both.operations.pop_back();
    const OperationTime alone = schedule(gpu, both).operations[0];
    CHECK(alone.end_us - alone.begin_us == Approx(610.4).epsilon(0.02));
}

TEST_CASE("the critical path leads from the first call to what ends last, each step waiting for the one before") {
    const Schedule s = schedule(plain(), program(chunks(4, true, 10, 20, 5)));
    std::vector<int> on_device;
    for (const PathStep& step : s.critical)
        if (!step.on_host) on_device.push_back(step.operation);
    CHECK(on_device == std::vector<int>{0, 1, 4, 7, 10, 11});  // in, then the four kernels, then the last out
    for (size_t i = 1; i < on_device.size(); ++i)
        CHECK(s.operations[static_cast<size_t>(on_device[i])].begin_us ==
              Approx(s.operations[static_cast<size_t>(on_device[i - 1])].end_us));
}

TEST_CASE("accesses that nothing orders are found, and those that a stream, an event or the host orders are not") {
    const auto touch = [](HostOperation one, uint32_t buffer, bool writes, uint64_t begin = 0, uint64_t end = 100) {
        one.touches.push_back({buffer, begin, end, writes});
        return one;
    };
    const auto count = [&](std::vector<HostOperation> all) {
        const HostProgram made = program(std::move(all));
        return hazards(made, schedule(plain(), made)).size();
    };
    const HostOperation writes = touch(in(1), 1, true), reads = touch(out(2), 1, false), same = touch(out(1), 1, false);
    CHECK(count({writes, reads}) == 1);
    CHECK(count({writes, same}) == 0);
    CHECK(count({writes, touch(out(2), 1, false, 100, 200)}) == 0);
    CHECK(count({touch(in(1), 1, false), reads}) == 0);
    CHECK(count({writes, simple(HostVerb::record, 1, 3), simple(HostVerb::wait, 2, 3), reads}) == 0);
    CHECK(count({simple(HostVerb::record, 1, 3), writes, simple(HostVerb::wait, 2, 3), reads}) == 1);  // recorded too early
    CHECK(count({writes, simple(HostVerb::synchronize), reads}) == 0);
    CHECK(count({writes, touch(out(0), 1, false), reads}) == 0);
    HostOperation blocking = writes;
    blocking.blocking = true;
    CHECK(count({blocking, reads}) == 0);
    // What the host computes on while a copy out is under way.
    CHECK(count({touch(out(1), 9, true), touch(simple(HostVerb::work), 9, false)}) == 1);
}

TEST_CASE("whatever the program, streams keep their order, engines do one copy at a time, and time has its bounds") {
    Rng rng(11);
    for (int round = 0; round < 200; ++round) {
        GpuSpec gpu = plain(1 + static_cast<uint32_t>(rng.below(3)));
        gpu.launch_us.value = static_cast<double>(rng.below(4));
        gpu.launch_latency_us.value = static_cast<double>(rng.below(4));
        HostProgram made;
        made.connections = 1 + static_cast<uint32_t>(rng.below(9));
        const size_t length = 1 + rng.below(40);
        for (size_t i = 0; i < length; ++i) {
            const auto stream = static_cast<uint32_t>(rng.below(6));
            const double us = static_cast<double>(1 + rng.below(30));
            HostOperation one;
            switch (rng.below(9)) {
                case 0:
                case 1:
                    one = in(stream, us);
                    one.pinned = rng.below(4) > 0;
                    break;
                case 2:
                    one = out(stream, us);
                    one.blocking = rng.below(4) == 0;
                    break;
                case 3:
                    one = copy(HostVerb::copy_within, stream, us);
                    break;
                case 4:
                    one = simple(HostVerb::record, stream, static_cast<uint32_t>(rng.below(3)));
                    break;
                case 5:
                    one = simple(HostVerb::wait, stream, static_cast<uint32_t>(rng.below(3)));
                    break;
                case 6:
                    one = simple(rng.below(3) ? HostVerb::synchronize : HostVerb::release, stream);
                    one.with = static_cast<SyncWith>(rng.below(3));
                    break;
                default:
                    one = kernel(stream, us, 1 + static_cast<uint32_t>(rng.below(9)), 8 << rng.below(4));
                    if (rng.below(6) == 0) {  // without its blocks: all SMs for itself
                        auto time = std::make_shared<KernelTime>(*one.kernel);
                        time->blocks.clear();
                        one.kernel = time;
                    }
            }
            made.operations.push_back(one);
        }
        const Schedule s = schedule(gpu, made), again = schedule(gpu, made);
        CHECK(s.total_us == again.total_us);
        double host = 0;
        std::vector<std::pair<double, double>> by_engine[engines];
        for (size_t i = 0; i < s.operations.size(); ++i) {
            const OperationTime& one = s.operations[i];
            CHECK(one.call_begin_us == Approx(host));
            CHECK(one.call_end_us >= one.busy_end_us);
            host = one.call_end_us;
            if (!one.on_device) continue;
            CHECK(one.begin_us <= one.end_us);
            CHECK(one.end_us <= s.total_us);
            if (one.engine == Engine::none) continue;
            CHECK(one.begin_us >= one.busy_end_us - 1e-9);
            CHECK(one.end_us - one.begin_us >= one.alone_us * (one.engine == Engine::compute ? 0.5 : 1) - 1e-6);
            for (const int other : one.after) CHECK(s.operations[static_cast<size_t>(other)].end_us <= one.begin_us + 1e-9);
            if (one.engine != Engine::compute)
                by_engine[static_cast<size_t>(one.engine)].emplace_back(one.begin_us, one.end_us);
        }
        for (auto& spans : by_engine) {
            std::sort(spans.begin(), spans.end());
            for (size_t i = 1; i < spans.size(); ++i) CHECK(spans[i].first >= spans[i - 1].second - 1e-9);
        }
        double covered = 0;
        for (const BusySpan& span : s.busy) {
            CHECK(span.begin_us == Approx(covered).margin(1e-9));
            covered = span.end_us;
        }
        CHECK(covered == Approx(s.total_us));
        for (size_t e = 1; e < engines; ++e) CHECK(s.busy_us[e] <= s.total_us + 1e-9);
    }
}

TEST_CASE("the clock that is asked one operation at a time agrees with the whole schedule, and forgets") {
    const GpuSpec gpu = gpu_named("v100").value();
    StreamClock clock(gpu);
    std::vector<HostOperation> all = chunks(3, true);
    const Schedule s = schedule(gpu, program(all));
    for (size_t i = 0; i < all.size(); ++i) CHECK(clock.issue(all[i]) == i);
    clock.finish();
    REQUIRE(clock.idle());
    for (size_t i = 0; i < all.size(); ++i) CHECK(clock.time_of(i).end_us == s.operations[i].end_us);
    const size_t event = clock.issue(simple(HostVerb::record, 1, 4));
    clock.finish();
    clock.forget();
    clock.issue(simple(HostVerb::wait, 2, 4));
    const size_t next = clock.issue(in(2));
    clock.finish();
    CHECK(next == event + 2);
    CHECK(clock.time_of(next).begin_us >= s.total_us - 100);
}

TEST_CASE("one after the other counts the same host calls as the program itself: overlap never looks slower") {
    const GpuSpec gpu = gpu_named("v100").value();
    for (const bool streams : {true, false}) {
        std::vector<HostOperation> all = {simple(HostVerb::allocate), simple(HostVerb::allocate)};
        for (const HostOperation& one : chunks(4, true, t, t, t, streams)) all.push_back(one);
        const Schedule s = schedule(gpu, program(all));
        INFO(streams);
        CHECK(s.serial_us > s.work_us + 2 * gpu.allocate_us);
        CHECK(s.serial_us >= s.total_us);
        CHECK(s.speedup() >= 1);
        if (streams) CHECK(s.speedup() > 1.2);
    }
    // Where each call waits by itself, nothing is left to gain.
    std::vector<HostOperation> waiting;
    for (HostOperation one : {in(1), out(1), in(1)}) {
        one.blocking = true;
        waiting.push_back(one);
    }
    CHECK(schedule(gpu, program(waiting)).speedup() == Approx(1));
}

}  // namespace model_streams_test
