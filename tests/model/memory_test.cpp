// The parts that memory instructions go through, each against counts that can be done by hand.
#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/rng.h"
#include "core/model/memory/load_store.h"
#include "tests/catch.h"

namespace model_memory_test {

using namespace lockstep;
using namespace lockstep::model;
using Access = LoadStore::Access;

namespace {
constexpr uint32_t all = 0xffffffffu;
struct Addresses {
    uint64_t at[32];
    Addresses(uint64_t base, uint64_t stride) {
        for (uint32_t lane = 0; lane < 32; ++lane) at[lane] = base + lane * stride;
    }
};
uint32_t sectors_of(const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
    GlobalRequest request;
    coalesce(addresses, mask, bytes, request);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < request.lines; ++i) sum += static_cast<uint32_t>(std::popcount(request.line[i].sectors));
    CHECK(sum == request.sectors);
    return request.sectors;
}
}  // namespace

TEST_CASE("32 consecutive floats are 4 sectors of one line, and a stride of 32 floats touches 32") {
    CHECK(sectors_of(Addresses(0x1000, 4).at, all, 4) == 4);
    CHECK(sectors_of(Addresses(0x1010, 4).at, all, 4) == 5);  // shifted by half a sector
    CHECK(sectors_of(Addresses(0x1000, 8).at, all, 4) == 8);
    CHECK(sectors_of(Addresses(0x1000, 128).at, all, 4) == 32);
    CHECK(sectors_of(Addresses(0x1000, 0).at, all, 4) == 1);
    CHECK(sectors_of(Addresses(0x1000, 16).at, all, 16) == 16);
    CHECK(sectors_of(Addresses(0x1000, 4).at, 0x1, 4) == 1);
    CHECK(sectors_of(Addresses(0x1000, 4).at, 0, 4) == 0);
}

TEST_CASE("wide accesses to local memory touch as many lines as they have words, all of them used") {
    const auto sectors = [](const Addresses& addresses, uint32_t mask, uint32_t bytes) {
        GlobalRequest request;
        coalesce_local(addresses.at, mask, bytes, request);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < request.lines; ++i) sum += static_cast<uint32_t>(std::popcount(request.line[i].sectors));
        CHECK(sum == request.sectors);
        return std::pair{request.lines, request.sectors};
    };
    const Addresses row(0x1000, 4);  // one word of every lane
    CHECK(sectors(row, all, 4) == std::pair{1u, 4u});
    CHECK(sectors(row, all, 8) == std::pair{2u, 8u});
    CHECK(sectors(row, all, 16) == std::pair{4u, 16u});
    CHECK(sectors(row, 0xff, 16) == std::pair{4u, 4u});
    CHECK(sectors(row, all, 2) == std::pair{1u, 4u});
    CHECK(sectors(Addresses(0x1000, 4 * 128 + 4), all, 16) == std::pair{128u, 128u});  // every lane at an index of its own
}

TEST_CASE("the coalescer finds exactly the sectors that the lanes' bytes lie in") {
    Rng rng(7);
    for (int round = 0; round < 2000; ++round) {
        uint64_t at[32];
        const uint32_t bytes = 1u << rng.below(5);
        const uint64_t span = uint64_t{64} << rng.below(10);
        for (auto& address : at) address = 0x7f0000000000ull + rng.below(span) / bytes * bytes;
        const uint32_t mask = static_cast<uint32_t>(rng.next());
        std::vector<uint64_t> expected;
        for (uint32_t lane = 0; lane < 32; ++lane)
            if (mask >> lane & 1) expected.push_back(at[lane] / 32);
        std::sort(expected.begin(), expected.end());
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        REQUIRE(sectors_of(at, mask, bytes) == expected.size());
    }
}

TEST_CASE("a stride of k words in shared memory takes k passes for the powers of two, one for odd strides") {
    for (const uint64_t stride : {1, 2, 4, 8, 16, 32}) CHECK(shared_passes(Addresses(0, stride * 4).at, all, 4) == stride);
    for (const uint64_t stride : {3, 5, 17, 33}) CHECK(shared_passes(Addresses(0, stride * 4).at, all, 4) == 1);
}

TEST_CASE("the same word by many lanes is a broadcast, except for atomics") {
    CHECK(shared_passes(Addresses(64, 0).at, all, 4) == 1);
    CHECK(shared_atomic_passes(Addresses(64, 0).at, all, 4) == 32);
    CHECK(shared_atomic_passes(Addresses(64, 4).at, all, 4) == 1);
    uint64_t two_words[32];
    for (uint32_t lane = 0; lane < 32; ++lane) two_words[lane] = lane % 2 * 128;  // two words of one bank
    CHECK(shared_passes(two_words, all, 4) == 2);
    CHECK(shared_passes(two_words, 0x55555555u, 4) == 1);
}

TEST_CASE("8-byte accesses go in halves, 16-byte accesses in quarters, twice as many lanes where pairs read the same") {
    CHECK(shared_passes(Addresses(0, 8).at, all, 8) == 2);
    CHECK(shared_passes(Addresses(0, 16).at, all, 16) == 4);
    CHECK(shared_passes(Addresses(0, 1).at, all, 1) == 1);
    const auto passes = [](uint32_t bytes, auto place) {
        uint64_t at[32];
        for (uint32_t lane = 0; lane < 32; ++lane) at[lane] = uint64_t{bytes} * place(lane);
        return shared_passes(at, all, bytes);
    };
    // The three cases of the forum's answer, and that of its question: 16 bytes, lane % 4, takes four
    CHECK(passes(16, [](uint32_t) { return 0u; }) == 2);
    CHECK(passes(16, [](uint32_t lane) { return lane / 2; }) == 2);
    CHECK(passes(16, [](uint32_t lane) { return lane / 4 * 2 + lane % 2; }) == 2);
    CHECK(passes(16, [](uint32_t lane) { return lane % 4; }) == 4);
    CHECK(passes(8, [](uint32_t lane) { return lane / 2; }) == 1);
    CHECK(passes(8, [](uint32_t lane) { return lane / 4 * 2 + lane % 2; }) == 1);
    CHECK(passes(8, [](uint32_t lane) { return lane % 16; }) == 2);
    // Lanes that are off break no pair
    uint64_t alone[32];
    for (uint32_t lane = 0; lane < 32; ++lane) alone[lane] = uint64_t{8} * lane;
    CHECK(shared_passes(alone, 0x55555555u, 8) == 2);  // lanes 0, 2, ... 30: words 0 and 1 of rows that lie 128 bytes apart
}

TEST_CASE("a load's words meet in the banks of L1 as in shared memory, by halves and quarters of the warp without pairs") {
    for (const uint64_t stride : {1, 2, 4, 8, 16, 32, 64})
        CHECK(l1_passes(Addresses(0x1000, stride * 4).at, all, 4) == std::min<uint64_t>(stride, 32));
    for (const uint64_t stride : {0, 3, 5, 33, 63}) CHECK(l1_passes(Addresses(0x1000, stride * 4).at, all, 4) == 1);
    // 8 bytes a lane, the published data accesses of an A100 (gpu-benches, gpu-strides)
    const std::pair<uint64_t, uint32_t> published[] = {{0, 2},  {1, 2},   {2, 4},   {3, 2},   {4, 8},  {6, 4},
                                                       {8, 16}, {12, 8},  {16, 32}, {17, 2},  {20, 8}, {24, 16},
                                                       {31, 2}, {40, 16}, {48, 32}, {56, 16}, {64, 32}};
    for (const auto& [stride, passes] : published) CHECK(l1_passes(Addresses(0x1000, stride * 8).at, all, 8) == passes);
    CHECK(l1_passes(Addresses(0x1000, 16).at, all, 16) == 4);
    CHECK(l1_passes(Addresses(0x1000, 0).at, all, 16) == 4);
}

TEST_CASE("hits in L1 take their words' banks or, with many lines, the tags, whichever is longer") {
    const GpuSpec a100 = gpu_named("a100").value();
    const auto cycles = [&](uint64_t stride) {
        MemorySystem memory(a100);
        LoadStore sm(a100, memory, 0);
        const Addresses words(0x7f0000000000ull, stride * 4);
        for (int64_t warm = 0; warm < 2; ++warm) sm.global(0, warm * 10000, Access::load, words.at, all, 4);
        int64_t now = 100000, end = 0;
        const int64_t begin = now;
        for (uint32_t k = 0; k < 400; ++k) {
            now = std::max(now, sm.free_at(k % 4, LoadStore::Queue::lg));
            end = sm.global(k % 4, now, Access::load, words.at, all, 4).ready;
        }
        return static_cast<double>(end - begin - a100.l1_latency) / 400;
    };
    CHECK(cycles(1) == Approx(1).epsilon(0.02));
    CHECK(cycles(2) == Approx(2).epsilon(0.02));
    CHECK(cycles(32) == Approx(32).epsilon(0.02));              // one bank
    CHECK(cycles(33) == Approx(33 / 4.0 + 0.6).epsilon(0.03));  // 33 lines, every word in a bank of its own
    CHECK(cycles(64) == Approx(32).epsilon(0.02));
}

TEST_CASE("the interval between memory instructions is of their way to the data pipe, not of the pipe") {
    const GpuSpec gpu = gpu_named("rtx3090").value();
    REQUIRE(gpu.lsu_interval == 2);
    const auto cycles = [&](uint64_t stride, uint64_t other) {
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0);
        int64_t now = 0, end = 0;
        for (uint32_t k = 0; k < 400; ++k) {
            now = std::max(now, sm.free_at(k % 4, LoadStore::Queue::mio));
            end = sm.shared(k % 4, now, Access::load, Addresses(0, 4 * (k % 2 == 0 ? stride : other)).at, all, 4).ready;
        }
        return static_cast<double>(end) / 400;
    };
    CHECK(cycles(1, 1) == Approx(2).epsilon(0.05));
    CHECK(cycles(32, 32) == Approx(32).epsilon(0.01));
    CHECK(cycles(32, 1) == Approx(16.5).epsilon(0.01));
}

TEST_CASE("a lane's words are told from what of their sectors is left alone") {
    GlobalRequest request;
    uint32_t words[GlobalRequest::most_lines];
    const auto of = [&](const Addresses& addresses, uint32_t mask, uint32_t bytes) {
        coalesce(addresses.at, mask, bytes, request);
        written_words(addresses.at, mask, bytes, request, words);
    };
    of(Addresses(0x1000, 4), all, 4);
    CHECK(request.lines == 1);
    CHECK(words[0] == all);
    of(Addresses(0x1000, 8), all, 4);  // every other word of two lines
    CHECK(request.lines == 2);
    CHECK(words[0] == 0x55555555u);
    CHECK(words[1] == 0x55555555u);
    of(Addresses(0x1004, 4096), all, 8);
    CHECK(request.lines == 32);
    for (uint32_t i = 0; i < 32; ++i) CHECK(words[i] == 6u);
    of(Addresses(0x107c, 0), 1, 8);  // across a border of lines
    CHECK(request.lines == 2);
    CHECK(words[0] == 0x80000000u);
    CHECK(words[1] == 1u);
}

TEST_CASE("tags are looked up four a cycle, of different sets") {
    const auto cycles = [](uint64_t stride) {
        GlobalRequest request;
        coalesce(Addresses(0x1000, stride).at, all, 4, request);
        return tag_cycles(request);
    };
    CHECK(cycles(0) == 1);
    CHECK(cycles(4) == 1);
    CHECK(cycles(16) == 1);      // four lines
    CHECK(cycles(128) == 8);     // 32 lines one behind the other
    CHECK(cycles(256) == 16);    // every other: two sets of four
    CHECK(cycles(16384) == 32);  // a column of a matrix of 4096 floats: one set
    CHECK(cycles(16512) == 8);   // of 4128 floats
}

TEST_CASE("a cache holds as many consecutive lines as its size says, and loses the one unused longest") {
    for (const uint32_t kilobytes : {16u, 24u, 128u}) {
        Cache cache(kilobytes * 1024, 16);
        Cache::Victim victim;
        const uint64_t lines = kilobytes * 8;
        for (uint64_t line = 0; line < lines; ++line) {
            REQUIRE(cache.find(1000 * lines + line) == nullptr);
            cache.insert(1000 * lines + line, victim);
        }
        for (uint64_t line = 0; line < lines; ++line) REQUIRE(cache.find(1000 * lines + line) != nullptr);
    }
    Cache two(256, 2);
    Cache::Victim victim;
    two.insert(1, victim).dirty = 5;
    two.insert(2, victim);
    CHECK(two.find(2) != nullptr);
    two.insert(3, victim);
    CHECK(victim.line == 1);
    CHECK(victim.dirty == 5);
    CHECK(two.find(1) == nullptr);
}

TEST_CASE("lines leave in the order of their last use, those that are to leave first before all others") {
    constexpr uint32_t ways = 16;
    Rng rng(5);
    Cache cache(ways * 128, ways);      // one set
    std::vector<uint64_t> used, first;  // the latest in front
    const auto erase = [](std::vector<uint64_t>& from, uint64_t line) { return std::erase(from, line) != 0; };
    for (int turn = 0; turn < 20'000; ++turn) {
        // Lines that agree in their low 16 bits, and all in one set.
        const uint64_t line = rng.below(24) % 3 + (rng.below(8) << 16) + (uint64_t{rng.below(2)} << 40);
        uint32_t since = 0;
        const bool here = cache.find(line, &since) != nullptr;
        std::vector<uint64_t> both = used;
        both.insert(both.end(), first.begin(), first.end());
        const auto at = std::find(both.begin(), both.end(), line);
        REQUIRE(here == (at != both.end()));
        if (here) {
            REQUIRE(since == at - both.begin());
            if (!erase(used, line)) erase(first, line);
            used.insert(used.begin(), line);
            continue;
        }
        const bool leaves_first = rng.below(4) == 0;
        Cache::Victim victim;
        cache.insert(line, victim, leaves_first).dirty = 1;
        REQUIRE(victim.dirty == (both.size() == ways ? 1 : 0));
        if (both.size() == ways) {
            REQUIRE(victim.line == both.back());
            (first.empty() ? used : first).pop_back();
        }
        std::vector<uint64_t>& to = leaves_first ? first : used;
        to.insert(to.begin(), line);
    }
}

TEST_CASE("any n aligned lines in a row fall into n different places") {
    for (const uint32_t n : {1u, 12u, 40u, 64u, 80u, 1000u}) {
        const Spread spread(n);
        for (const uint64_t group : {uint64_t{0}, uint64_t{77}, uint64_t{123456789}}) {
            std::vector<int> hit(n, 0);
            for (uint64_t i = 0; i < n; ++i) ++hit.at(spread(group * n + i));
            CHECK(std::count(hit.begin(), hit.end(), 1) == n);
        }
    }
}

TEST_CASE("a lone load takes the spec's latency of the level that has the data, on every GPU") {
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        MemorySystem memory(gpu);
        LoadStore first(gpu, memory, 0), second(gpu, memory, 0);
        const Addresses one(0x7f0000000000ull, 0);
        const int64_t t = 1000, later = 100000;
        const MemoryCost miss = first.global(0, t, Access::load, one.at, all, 4);
        const bool far = memory.half_of_line(0x7f0000000000ull / 128) != 0 && gpu.dram_far_latency != 0;
        CHECK(miss.ready - t == (far ? gpu.dram_far_latency : gpu.dram_latency));
        CHECK(miss.level == MemoryLevel::dram);
        LoadStore::Way cached;  // where L1 holds loads only when they say so
        cached.cache = CacheUse::looks_in_l1;
        first.global(0, later - 1000, Access::load, one.at, all, 4, cached);
        const MemoryCost hit = first.global(0, later, Access::load, one.at, all, 4, cached);
        CHECK(hit.ready - later == gpu.l1_latency);
        CHECK(hit.level == MemoryLevel::l1);
        const MemoryCost l2 = second.global(0, 2 * later, Access::load, one.at, all, 4);
        CHECK(l2.ready - 2 * later == gpu.l2_latency);
        CHECK(l2.level == MemoryLevel::l2);
        const MemoryCost shared = first.shared(0, 3 * later, Access::load, Addresses(0, 8).at, all, 4);
        CHECK(shared.ready - 3 * later == gpu.shared_latency + 1);
        CHECK(shared.passes == 2);
    }
}

TEST_CASE("a load of a sector on its way waits for the one fetch") {
    const GpuSpec gpu = gpu_named("v100").value();
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    const Addresses one(0x7f0000000000ull, 4);
    const MemoryCost first = sm.global(0, 0, Access::load, one.at, all, 4);
    const MemoryCost second = sm.global(1, 50, Access::load, one.at, all, 4);
    CHECK(second.ready == first.ready);
    CHECK(memory.dram().bytes_read == 128);
    // Both waited for DRAM; when the line is here, a load hits L1.
    CHECK(first.level == MemoryLevel::dram);
    CHECK(second.level == MemoryLevel::dram);
    CHECK(sm.global(2, first.ready + 1, Access::load, one.at, all, 4).level == MemoryLevel::l1);
    // What another SM's L2 has by now is on its way from there.
    LoadStore other(gpu, memory, 1);
    const int64_t later = first.ready + 1000;
    CHECK(other.global(0, later, Access::load, one.at, all, 4).level == MemoryLevel::l2);
    CHECK(other.global(1, later + 50, Access::load, one.at, all, 4).level == MemoryLevel::l2);
}

TEST_CASE("streaming reads reach the share of DRAM's peak that the row says, and never pass it") {
    for (GpuSpec gpu : gpus()) {
        INFO(gpu.name);
        gpu.dram_loaded_ns.value =
            0;  // the buses alone: what the last reads wait for others would count in so short a stream
        MemorySystem memory(gpu);
        std::vector<LoadStore> sms;
        for (uint32_t i = 0; i < gpu.sms; ++i) sms.emplace_back(gpu, memory, 0);
        int64_t end = 0;
        std::vector<int64_t> next(gpu.sms, 0);
        uint64_t address = 0x7f0000000000ull;
        const uint64_t bytes = 8 << 20;
        for (uint64_t done = 0; done < bytes;)
            for (uint32_t i = 0; i < gpu.sms; ++i) {
                const uint32_t s = static_cast<uint32_t>(done / 128 % gpu.sub_cores);
                next[i] = std::max(next[i] + 1, sms[i].free_at(s, LoadStore::Queue::lg));
                end = std::max(end, sms[i].global(s, next[i], Access::load, Addresses(address, 4).at, all, 4).ready);
                address += 128, done += 128;
            }
        const int64_t last = std::max(gpu.dram_latency.value, gpu.dram_far_latency.value);
        const double rate = static_cast<double>(bytes) / static_cast<double>(end - last);
        CHECK(rate <= memory.dram().bytes_per_cycle() * gpu.dram_efficiency * 1.001);
        CHECK(rate >= memory.dram().bytes_per_cycle() * gpu.dram_efficiency * 0.95);
    }
}

TEST_CASE("stores that only fill L2 leave DRAM alone, more than L2 holds is written back") {
    const GpuSpec gpu = gpu_named("teaching").value();
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    int64_t now = 0;
    const auto fill = [&](uint64_t from, uint64_t bytes) {
        for (uint64_t at = from; at < from + bytes; at += 128)
            now = std::max(now + 1, sm.global(0, now, Access::store, Addresses(at, 4).at, all, 4).done);
    };
    fill(0x7f0000000000ull, gpu.l2_bytes);
    CHECK(memory.dram().bytes_written == 0);
    CHECK(memory.dram().bytes_read == 0);
    fill(0x7f0000000000ull + gpu.l2_bytes, gpu.l2_bytes);
    CHECK(memory.dram().bytes_written == gpu.l2_bytes);
}

TEST_CASE("a sector of which a part was written takes the bus longer than one that is whole, or was fetched before") {
    GpuSpec gpu = gpu_named("teaching").value();
    gpu.dram_partial_bytes.value = 96;
    gpu.sm_write_bytes_per_cycle.value = 128;  // DRAM takes 64
    gpu.dram_turnaround_ns.value = 0;
    const auto cycles = [&](uint64_t stride, bool read_first) {
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0);
        int64_t now = 0;
        const auto each = [&](Access access, uint64_t from, uint64_t bytes, uint64_t step) {
            for (uint64_t at = from; at < from + bytes; at += 32 * step)
                now = std::max(now + 1, sm.global(0, now, access, Addresses(0x7f0000000000ull + at, step).at, all, 4).done);
        };
        if (read_first) each(Access::load, 0, gpu.l2_bytes, 4);
        each(Access::store, 0, gpu.l2_bytes, stride);
        const int64_t begin = now += 100000;
        each(Access::store, gpu.l2_bytes, uint64_t{4} * gpu.l2_bytes, 4);  // drives the others out, and most of itself
        CHECK(memory.dram().bytes_written == uint64_t{4} * gpu.l2_bytes);
        return now - begin;
    };
    const int64_t whole = cycles(4, false), partly = cycles(8, false);
    // The sectors of all of L2 once: 64 bytes more at 64 bytes a cycle
    CHECK(static_cast<double>(partly - whole) == Approx(2.0 * gpu.l2_bytes / 64).epsilon(0.1));
    CHECK(static_cast<double>(cycles(8, true) - cycles(4, true)) == Approx(0.0).margin(0.02 * static_cast<double>(whole)));
}

TEST_CASE("misses of the second constant cache come out of it one after the other") {
    GpuSpec gpu = gpu_named("v100").value();
    const auto last = [&](double interval) {
        gpu.constant_miss_interval.value = interval;
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0);
        const Addresses apart(0x7f0000000000ull, 64);  // a line of the constant cache each
        const int64_t first = sm.constant(0, apart.at, all, 4, false).ready;
        const int64_t again = sm.constant(100000, apart.at, all, 4, false).ready - 100000;
        return std::pair{first, again};
    };
    const auto [together, near] = last(0);
    const auto [apart, same] = last(14);
    CHECK(apart - together > 31 * 14 - 80);  // 31 behind the first
    CHECK(apart >= gpu.dram_latency + 31 * 14);
    CHECK(near == same);
}

TEST_CASE("atomics on a sector keep L2 busy for the GPU's figure, those on one word each for itself, halves longer") {
    GpuSpec gpu = gpu_named("v100").value();
    const auto cycles = [&](AtomicWay atomic, uint64_t stride, uint32_t lanes = all, uint32_t bytes = 4) {
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0);
        LoadStore::Way way;
        way.atomic = atomic;
        const Addresses words(0x7f0000000000ull, stride);
        sm.global(0, 0, Access::atomic, words.at, lanes, bytes, way);
        return sm.global(0, 100000, Access::atomic, words.at, lanes, bytes, way).ready - 100000;
    };
    constexpr auto each = AtomicWay::lane_by_lane;
    REQUIRE(gpu.atomic_cycles == 3);
    const int64_t one = cycles(each, 0, 1);  // a lane's, on one word
    CHECK(cycles(each, 0) - one == 31 * 3);
    CHECK(cycles(each, 4) - one == (4 - 1) * 3);         // a line of words: four sectors
    CHECK(cycles(each, 4, 0xff) == one);                 // the eight words of a sector
    CHECK(cycles(each, 0, all, 8) - one == 31 * 6 + 3);  // 8 bytes take twice as long
    CHECK(cycles(AtomicWay::of_half_pairs, 0) - one == 31 * 3);
    CHECK(cycles(AtomicWay::of_halves, 0) - one == 32 * 10 - 3);
    gpu.atomic_cycles.value = 1;
    CHECK(cycles(each, 0) - cycles(each, 0, 1) == 31);
}

TEST_CASE("L2 begins with what an earlier launch left there, and packs it in few words") {
    const GpuSpec gpu = gpu_named("teaching").value();
    const auto sweep = [&](MemorySystem& memory, Access access, uint64_t bytes) {
        LoadStore sm(gpu, memory, 0);
        int64_t now = 0;
        for (uint64_t at = 0; at < bytes; at += 128)
            now = std::max(now + 1, sm.global(0, now, access, Addresses(0x7f0000000000ull + at, 4).at, all, 4).done);
    };
    L2State state;
    MemorySystem first(gpu);
    first.take(state);  // nothing
    sweep(first, Access::store, gpu.l2_bytes);
    CHECK(first.dram().bytes_written == 0);
    first.leave(state);
    const std::vector<uint64_t> packed = packed_from(state);
    CHECK(packed.size() == 2 * gpu.l2_bytes / 128);
    L2State unpacked = l2_from(gpu, packed);
    CHECK(packed_from(unpacked) == packed);
    for (L2State* const found : {&state, &unpacked}) {
        MemorySystem second(gpu);
        second.take(*found);
        CHECK(found->lines.sets() == 0);
        sweep(second, Access::load, gpu.l2_bytes);
        CHECK(second.dram().bytes_read == 0);
        sweep(second, Access::load, 3 * gpu.l2_bytes);
        CHECK(second.dram().bytes_written == gpu.l2_bytes);  // what the first launch had not written to DRAM
    }
    L2State of_another = l2_from(gpu_named("v100").value(), packed);
    MemorySystem third(gpu);
    third.take(of_another);
    sweep(third, Access::load, 1024);
    CHECK(third.dram().bytes_read == 1024);
}

TEST_CASE("a full memory queue holds its own sub-core back, not the others") {
    const GpuSpec gpu = gpu_named("v100").value();
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    for (uint32_t i = 0; i < gpu.lsu_queue; ++i) {
        CHECK(sm.free_at(0, LoadStore::Queue::mio) <= 0);
        sm.shared(0, 0, Access::load, Addresses(0, 128).at, all, 4);
    }
    CHECK(sm.free_at(0, LoadStore::Queue::mio) == 32);  // the first conflict of 32 passes has to leave
    CHECK(sm.free_at(1, LoadStore::Queue::mio) == 0);
}

TEST_CASE("stores that wait for the crossbar hold back local and global memory, not shared memory and shuffles") {
    GpuSpec gpu = gpu_named("v100").value();
    gpu.sm_write_bytes_per_cycle.value = 1;  // a line takes 128 cycles; 16 sectors, four lines, wait
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    const uint64_t base = 0x7f0000000000ull;
    MemoryCost last;
    for (uint64_t k = 0; k < 12; ++k)
        last = sm.global(static_cast<uint32_t>(k % 4), 0, Access::store, Addresses(base + k * 128, 4).at, all, 4);
    CHECK(last.done == 11 * 128 + 1);  // when the port has sent those before
    // Shared memory and shuffles find the data pipe after twelve cycles and the address unit after its three stores.
    const int64_t behind = std::max<int64_t>(12, 3 * static_cast<int64_t>(32 / gpu.lsu_lanes));
    CHECK(sm.shared(0, 0, Access::load, Addresses(0, 4).at, all, 4).ready == behind + gpu.shared_latency);
    CHECK(sm.shuffle(1, 0).ready == behind + 1 + gpu.shuffle_latency);
    // A load goes behind the twelfth store, which has a place when the eighth is being sent.
    CHECK(sm.global(2, 0, Access::load, Addresses(base + (1 << 20), 0).at, all, 4).ready == 7 * 128 + gpu.dram_latency);
    for (uint32_t s = 0; s < 4; ++s) {
        CHECK(sm.free_at(s, LoadStore::Queue::mio) == 0);
        CHECK(sm.free_at(s, LoadStore::Queue::lg) == 0);  // three or four of five
    }
}

TEST_CASE("atomics wait for the crossbar as stores do") {
    GpuSpec gpu = gpu_named("v100").value();
    gpu.sm_write_bytes_per_cycle.value = 1;
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    MemoryCost last;
    for (uint64_t k = 0; k < 40; ++k)  // one sector each, 32 cycles
        last =
            sm.global(static_cast<uint32_t>(k % 4), 0, Access::atomic, Addresses(0x7f0000000000ull + k * 128, 0).at, 1, 4);
    CHECK(last.ready == 39 * 32 + gpu.dram_latency + 3 - 1);  // L2 is three cycles with it
    CHECK(sm.shuffle(0, 100).ready == 100 + gpu.shuffle_latency);
    // Of the last sub-core: ten, of which the sixth waits for its place among sixteen.
    CHECK(sm.free_at(3, LoadStore::Queue::lg) == (4 * 5 + 3 - 16) * 32 + 1);
}

TEST_CASE("what shared memory takes is missing from L1") {
    const GpuSpec v100 = gpu_named("v100").value(), p100 = gpu_named("p100").value();
    MemorySystem memory(v100);
    CHECK(LoadStore(v100, memory, 0).l1_bytes() == 128 * 1024);
    CHECK(LoadStore(v100, memory, 20 * 1024).l1_bytes() == 96 * 1024);
    CHECK(LoadStore(v100, memory, 96 * 1024).l1_bytes() == 32 * 1024);
    CHECK(LoadStore(p100, memory, 64 * 1024).l1_bytes() == 24 * 1024);
}

}  // namespace model_memory_test
