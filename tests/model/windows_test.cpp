// Counters by window of time: nothing is lost at the borders, memory stays bounded, and what crosses a link is what the
// kernel's addresses say.
#include "core/model/metrics/windows.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "core/model/memory/coalescer.h"
#include "core/model/metrics/doubling_windows.h"
#include "core/ptx/ptx.h"
#include "core/trace/machine_trace.h"
#include "tests/catch.h"
#include "tests/model/cases.h"

namespace model_windows_test {

using namespace lockstep;
using namespace lockstep::model;
using namespace lockstep::model::test;
using simt::test::config_of;

namespace {

std::vector<uint64_t> flat(const InstructionCounters& c) {
    std::vector<uint64_t> all = {
        c.issues,        c.lanes,        c.executed,          c.requests,           c.sectors,      c.bytes,
        c.used_bytes,    c.l1_sectors,   c.l1_hits,           c.l2_sectors,         c.l2_hits,      c.shared_requests,
        c.shared_passes, c.shared_bytes, c.branches,          c.divergent_branches, c.atomic_lanes, c.atomic_words,
        c.atomic_queue,  c.data_pipe,    c.constant_requests, c.constant_addresses};
    all.insert(all.end(), std::begin(c.stalls), std::end(c.stalls));
    return all;
}

KernelRun run_of(const Case& c, const GpuSpec& on, const TimedOptions& options = {}) {
    simt::Memory memory = c.memory;
    KernelRun run;
    run.gpu = on;
    run.program = std::make_shared<const Program>(c.program);
    run.config = c.config;
    run.result = launch(on, c.program, c.config, memory, options);
    return run;
}

const Link& link_of(const MemoryTraffic& traffic, std::string_view name) {
    const Link* const link = traffic.link(name);
    REQUIRE(link != nullptr);
    return *link;
}

}  // namespace

TEST_CASE("windows of a doubling series hold the sum of all that was ever counted, each at its place") {
    Rng rng(3);
    for (const uint32_t most : {1u, 2u, 7u, 256u}) {
        DoublingWindows<uint64_t> windows(2, most, 3);
        std::vector<std::pair<int64_t, uint64_t>> counted;
        for (int i = 0; i < 500; ++i) {
            const auto cycle = static_cast<int64_t>(rng.below(uint64_t{1} << (1 + i / 20)));
            const uint64_t value = rng.below(100);
            windows.at(cycle)[1] += value;
            counted.push_back({cycle, value});
            REQUIRE(windows.count() <= most);
            REQUIRE(windows.border(cycle) > cycle);
        }
        const uint32_t shift = windows.shift();
        const uint64_t count = windows.count();
        const std::vector<uint64_t> cells = windows.take();
        for (uint64_t w = 0; w < count; ++w) {
            uint64_t expected = 0;
            for (const auto& [cycle, value] : counted)
                if (static_cast<uint64_t>(cycle) >> shift == w) expected += value;
            CHECK(cells[2 * w + 1] == expected);
            CHECK(cells[2 * w] == 0);
        }
    }
}

TEST_CASE("packed counters give back every number, in a tenth of the room where most are zero") {
    std::mt19937_64 random(7);
    constexpr uint32_t instructions = 5, windows = 40;
    std::vector<InstructionCounters> cells(size_t{instructions} * windows);
    for (InstructionCounters& cell : cells) {
        if (random() % 3 == 0) cell.issues = random() % 1000;
        if (random() % 5 == 0) cell.data_pipe = random();
        if (random() % 4 == 0) cell.stalls[random() % std::size(cell.stalls)] = random() >> (random() % 64);
    }
    const PackedCounters packed(cells, instructions);
    REQUIRE(packed.windows() == windows);
    CHECK(packed.bytes() < cells.size() * sizeof(InstructionCounters) / 10);
    for (uint32_t w = 0; w < windows; ++w) {
        std::vector<InstructionCounters> twice(instructions);
        packed.add_to(twice, w);
        packed.add_to(twice, w);
        InstructionCounters total;
        for (uint32_t pc = 0; pc < instructions; ++pc) {
            InstructionCounters expected = cells[size_t{w} * instructions + pc];
            total += expected;
            expected += cells[size_t{w} * instructions + pc];
            CHECK(flat(twice[pc]) == flat(expected));
        }
        CHECK(flat(packed.total(w)) == flat(total));
    }
    CHECK(PackedCounters().windows() == 0);
}

TEST_CASE("the windows of a launch sum exactly to its counters, whatever the program and the GPU") {
    for (uint64_t seed = 0; seed < 30; ++seed) {
        INFO("seed " << seed);
        const Case c = make_case(seed);
        const KernelRun run = run_of(c, some_gpu(seed));
        TimedOptions plain;
        plain.trace = false;
        const KernelRun alone = run_of(c, some_gpu(seed), plain);  // counts without windows
        const TimedResult& result = run.result;
        const Windows& windows = result.windows;
        CHECK(alone.result.windows.totals.empty());
        CHECK(alone.result.cycles == result.cycles);
        const auto count = static_cast<int64_t>(windows.totals.size());
        REQUIRE(count >= 1);
        CHECK(count <= 256);
        CHECK(count * windows.length >= result.cycles);
        CHECK((count - 1) * windows.length < result.cycles);
        CHECK((windows.length & (windows.length - 1)) == 0);
        REQUIRE(windows.instructions == result.instructions.size());
        REQUIRE(static_cast<int64_t>(windows.counters.windows()) == count);
        std::vector<InstructionCounters> sums(windows.instructions);
        for (int64_t w = 0; w < count; ++w) windows.counters.add_to(sums, static_cast<size_t>(w));
        for (uint32_t pc = 0; pc < windows.instructions; ++pc) {
            CHECK(flat(sums[pc]) == flat(alone.result.instructions[pc]));
            CHECK(flat(sums[pc]) == flat(result.instructions[pc]));
        }
        CycleTotals sum;
        for (const CycleTotals& each : windows.totals) sum += each;
        CHECK(sum.active_cycles == result.totals.active_cycles);
        CHECK(sum.scheduler_cycles == result.totals.scheduler_cycles);
        CHECK(sum.issue_cycles == result.totals.issue_cycles);
        CHECK(sum.issued == result.totals.issued);
        CHECK(sum.dram_read == result.totals.dram_read);
        CHECK(sum.dram_written == result.totals.dram_written);
        const WindowMetrics whole = metrics_between(run, 0, result.cycles);
        REQUIRE(whole.metrics.size() == result.metrics.size());
        for (size_t i = 0; i < whole.metrics.size(); ++i) {
            INFO(whole.metrics[i].name);
            CHECK(whole.metrics[i].name == result.metrics[i].name);
            CHECK(whole.metrics[i].value == result.metrics[i].value);
        }
    }
}

TEST_CASE("nothing is busier than all of its time; of L2 no window and no slice is either") {
    const auto program = [](std::string_view what) {
        const std::string text = fmt::format(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .f64 %d<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
    .shared .align 4 .b8 words[32768];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r1, %r2, %r3, %r1;
    mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r4, 16; mov.u32 %r6, %tid.x; shl.b32 %r6, %r6, 7; and.b32 %r6, %r6, 32767; mov.u32 %r7, words; add.u32 %r6, %r6, %r7;
    cvt.rn.f64.u32 %d1, %r1;
again:
    {}
    add.u64 %rd3, %rd3, 131072;
    add.u32 %r4, %r4, 4294967295;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra again;
    st.global.u32 [%rd3], %r4;
    ret;
}}
)",
                                             what);
        return ptx::decode(ptx::parse(text, "busy.ptx").value(), "k").value();
    };
    for (const std::string_view what :
         {"st.global.u32 [%rd3], %r1;", "ld.global.u32 %r5, [%rd3];", "red.global.add.u32 [%rd3], %r1;",
          "st.global.u8 [%rd3], %r1;", "fma.rn.f64 %d1, %d1, %d1, %d1;", "st.shared.u32 [%r6], %r1;"}) {
        for (const char* on : {"v100", "rtx3090", "a100", "h100"}) {
            CAPTURE(what, on);
            KernelRun run;
            run.gpu = gpu(on);
            run.program = program(what);
            simt::Memory memory;
            const uint64_t words = memory.allocate(18 * 131072, "words");
            memory.write(words, 18 * 131072);
            run.config = config_of({128}, {256}, {});
            run.config.parameters.resize(8);
            std::memcpy(run.config.parameters.data(), &words, 8);
            TimedOptions options;
            options.machine = true;
            run.result = launch(run.gpu, *run.program, run.config, memory, options);
            REQUIRE_FALSE(run.result.fault);
            for (const Metric& metric : run.result.metrics) {
                CAPTURE(metric.name);
                if (metric.name.ends_with("_throughput")) CHECK(metric.value <= 100.0001);
            }
            const int64_t length = run.result.windows.length;
            REQUIRE(length > 0);
            REQUIRE(run.result.trace.machine != nullptr);
            for (int64_t begin = 0; begin < run.result.cycles; begin += length) {
                for (const Metric& metric : metrics_between(run, begin, begin + length).metrics) {
                    CAPTURE(begin);
                    if (metric.name == "l2_throughput") CHECK(metric.value <= 100.0001);
                }
                const MemoryTraffic traffic = traffic_between(run, begin, begin + length);
                for (const char* name : {"l1_from_l2", "l1_to_l2"}) CHECK(traffic.link(name)->percent_of_peak <= 100.0001);
            }
            for (const float busy : run.result.trace.machine->queues.busy) CHECK((busy >= 0 && busy <= 1.0f));
        }
    }
}

TEST_CASE("a stretch of time is snapped outwards to windows, and its parts add up to the whole traffic") {
    const Case c = make_case(6);
    const KernelRun run = run_of(c, gpu("teaching:2"));
    const int64_t length = run.result.windows.length, cycles = run.result.cycles;
    REQUIRE(cycles > 3 * length);
    const MemoryTraffic one = traffic_between(run, length + 1, 2 * length);
    CHECK(one.begin == length);
    CHECK(one.end == 2 * length);
    const MemoryTraffic two = traffic_between(run, length - 1, length + 1);
    CHECK(two.begin == 0);
    CHECK(two.end == 2 * length);
    CHECK(traffic_between(run, -5, 1).begin == 0);
    CHECK(traffic_between(run, cycles + 10 * length, cycles + 11 * length).end == cycles);
    const MemoryTraffic first = traffic_between(run, 0, 2 * length), rest = traffic_between(run, 2 * length, cycles);
    const MemoryTraffic whole = traffic_of(run);
    CHECK(rest.end == cycles);
    for (const Link& link : whole.links) {
        INFO(link.name);
        CHECK(link_of(first, link.name).bytes + link_of(rest, link.name).bytes == link.bytes);
        CHECK(link_of(first, link.name).requests + link_of(rest, link.name).requests == link.requests);
    }
    CHECK(first.l1_hits + rest.l1_hits == whole.l1_hits);
    CHECK(whole.l1_bytes == uint32_t{run.gpu.l1_bytes});  // this GPU's shared memory is apart
    CHECK(whole.shared_bytes == uint32_t{run.gpu.shared_per_sm});
}

TEST_CASE("a launch without windows answers for the whole of it") {
    const Case c = make_case(4);
    TimedOptions plain;
    plain.trace = false;
    const KernelRun run = run_of(c, gpu("v100"), plain);
    CHECK(traffic_between(run, 5, 6).end == run.result.cycles);
    CHECK(metrics_between(run, 5, 6).metrics.size() == run.result.metrics.size());
}

TEST_CASE("reads of every second word ask for half of the bytes that move") {
    Builder b;
    const int32_t tid = b.r32(), value = b.r32();
    b.program.registers_per_thread = 32;
    b.special(SpecialRegister::tid_x, tid);
    b.lanes(simt::test::mul32, Type::u32, value, tid, b.word(2));
    const int32_t address = b.element_address(value);
    b.load(Space::global, Type::u32, value, address);
    b.store(Space::global, Type::u32, address, value);
    b.exit();
    Case c;
    c.program = finished(b.program);
    c.address = simt::test::put(c.memory, std::vector<uint32_t>(512), "data");
    c.config = config_of({1}, {256}, {c.address});
    const KernelRun run = run_of(c, gpu("v100"));
    REQUIRE_FALSE(run.result.fault);
    const MemoryTraffic traffic = traffic_of(run);
    CHECK(link_of(traffic, "global_load").requests == 8);
    CHECK(link_of(traffic, "global_load").bytes == 256 * 4);
    CHECK(link_of(traffic, "l1_global_load").bytes == 256 * 8);
    CHECK(link_of(traffic, "l1_from_l2").bytes == 256 * 8);
    CHECK(link_of(traffic, "dram_read").bytes == 256 * 8);
    CHECK(link_of(traffic, "global_store").bytes == 256 * 4);
    CHECK(link_of(traffic, "l1_global_store").bytes == 256 * 8);
    CHECK(link_of(traffic, "l1_to_l2").bytes == 256 * 8);
    CHECK(link_of(traffic, "shared_load").bytes == 0);
    CHECK(traffic.l1_bytes + traffic.shared_bytes == uint32_t{run.gpu.l1_bytes});
    const double seconds = static_cast<double>(run.result.cycles) / (1530 * 1e6);
    CHECK(std::abs(link_of(traffic, "dram_read").percent_of_peak - 100 * 256 * 8 / seconds / 900e9) < 1e-6);
    std::set<std::string_view> names;
    for (const Link& link : traffic.links) CHECK(names.insert(link.name).second);
    CHECK(traffic.link("no_such_link") == nullptr);
}

TEST_CASE("bytes asked for by several lanes count once as used, and as often as asked as wanted") {
    uint64_t addresses[32];
    for (uint64_t i = 0; i < 32; ++i) addresses[i] = 4096 + 4 * (i / 2);
    CHECK(used_bytes(addresses, 0xffffffffu, 4) == 64);
    for (uint64_t i = 0; i < 32; ++i) addresses[i] = 4096;
    CHECK(used_bytes(addresses, 0xffffffffu, 8) == 8);
    CHECK(used_bytes(addresses, 0, 8) == 0);
    Rng rng(9);
    for (int round = 0; round < 200; ++round) {
        const uint32_t bytes = 1u << rng.below(5), mask = static_cast<uint32_t>(rng.next());
        std::set<uint64_t> touched;
        for (uint32_t i = 0; i < 32; ++i) {
            addresses[i] = 1000 + rng.below(300);
            if ((mask >> i & 1) == 0) continue;
            for (uint32_t k = 0; k < bytes; ++k) touched.insert(addresses[i] + k);
        }
        CHECK(used_bytes(addresses, mask, bytes) == touched.size());
    }
}

}  // namespace model_windows_test
