// What lies behind L1: ports, halves of L2, translation, DRAM's rows, and the counters of the memory chart's links. Expected
// values are counts by hand or closed formulas over the GPU's row.
#include <algorithm>
#include <vector>

#include "core/base/rng.h"
#include "core/model/memory/load_store.h"
#include "tests/catch.h"

namespace model_traffic_test {

using namespace lockstep;
using namespace lockstep::model;
using Access = LoadStore::Access;

namespace {
constexpr uint32_t all = 0xffffffffu;
constexpr uint64_t base = 0x7f0000000000ull;
struct Addresses {
    uint64_t at[32];
    Addresses(uint64_t from, uint64_t stride) {
        for (uint32_t lane = 0; lane < 32; ++lane) at[lane] = from + lane * stride;
    }
};
LoadStore::Way past_l1() {
    LoadStore::Way way;
    way.cache = CacheUse::l2_only;
    return way;
}
// Latency of a lone load of one word by `sm`, past L1.
int64_t latency(LoadStore& sm, uint64_t address, int64_t now) {
    return sm.global(0, now, Access::load, Addresses(address, 0).at, all, 4, past_l1()).ready - now;
}
// That of a lone load from DRAM by an SM of the left half.
int64_t dram_latency(const GpuSpec& gpu, const MemorySystem& memory, uint64_t address) {
    const bool far = memory.half_of_line(address / 128) != 0;
    return far ? std::max(gpu.dram_latency.value, gpu.dram_far_latency.value) : gpu.dram_latency.value;
}
}  // namespace

TEST_CASE("DRAM behind the far half of an H200 takes longer, for SMs of either half") {
    const GpuSpec gpu = gpu_named("h200").value();
    REQUIRE(gpu.dram_far_latency > gpu.dram_latency);
    MemorySystem memory(gpu);
    LoadStore left(gpu, memory, 0, 0), right(gpu, memory, 0, gpu.sms - 1);
    uint32_t far = 0;
    int64_t now = 0;
    for (uint64_t line = 0; line < 1000; ++line) {
        const bool of_right = memory.half_of_line(base / 128 + 2 * line) == 1;
        CHECK(latency(left, base + line * 256, now += 10000) == (of_right ? gpu.dram_far_latency : gpu.dram_latency));
        const uint64_t other = base + (1 << 30) + line * 256;
        const bool near = memory.half_of_line(other / 128) == 1;
        CHECK(latency(right, other, now += 10000) == (near ? gpu.dram_latency : gpu.dram_far_latency));
        far += of_right ? 1 : 0;
    }
    CHECK(far > 400);
    CHECK(far < 600);
}

TEST_CASE("an access to the far half of L2 takes the row's longer latency until the near half has its copy") {
    for (const char* name : {"a100", "h100"}) {
        INFO(name);
        const GpuSpec gpu = gpu_named(name).value();
        MemorySystem memory(gpu);
        LoadStore left(gpu, memory, 0, 0), right(gpu, memory, 0, gpu.sms - 1);
        uint32_t near = 0, far = 0;
        int64_t now = 0;
        for (uint64_t line = 0; line < 1000; ++line) {
            const uint64_t at = base + line * 128;
            CHECK(latency(left, at, now += 10000) == gpu.dram_latency);
            CHECK(latency(left, at, now += 10000) == gpu.l2_latency);  // its own half has it now
            const int64_t other = latency(right, at, now += 10000);
            CHECK((other == gpu.l2_latency || other == gpu.l2_far_latency));
            CHECK((other == gpu.l2_latency) == (memory.half_of_line(at / 128) == 1));
            (other == gpu.l2_latency ? near : far) += 1;
            CHECK(latency(right, at, now += 10000) == gpu.l2_latency);
            left.global(0, now += 10000, Access::store, Addresses(at, 0).at, 1, 4);  // makes the copies void
            CHECK(latency(right, at, now += 10000) == other);
        }
        CHECK(near > 400);
        CHECK(far > 400);
    }
}

TEST_CASE("half of L2 is near to an SM: a chase over more finds lines in the far half") {
    GpuSpec gpu = gpu_named("a100").value();
    gpu.l2_bytes.value = 1 << 20;
    const auto mean = [&](uint64_t bytes) {
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0, 0);
        int64_t now = 0, sum = 0, count = 0;
        for (int round = 0; round < 3; ++round)
            for (uint64_t at = 0; at < bytes; at += 128) {
                const int64_t cycles = latency(sm, base + at, now += 10000);
                if (round > 0) sum += cycles, ++count;
            }
        return static_cast<double>(sum) / static_cast<double>(count);
    };
    CHECK(mean(gpu.l2_bytes / 4) == gpu.l2_latency);
    CHECK(mean(gpu.l2_bytes) == Approx((gpu.l2_latency + gpu.l2_far_latency) / 2.0).epsilon(0.02));
}

TEST_CASE("a chase over more pages than the TLB holds adds a walk to every access, one over fewer adds none") {
    for (const GpuSpec& gpu : gpus()) {
        if (gpu.tlb_bytes == 0) continue;
        INFO(gpu.name);
        const uint64_t pages = gpu.tlb_bytes / gpu.page_bytes;
        for (const uint64_t touched : {pages, 4 * pages}) {
            MemorySystem memory(gpu);
            LoadStore sm(gpu, memory, 0);
            int64_t now = 0;
            for (uint64_t round = 0; round < 3; ++round)  // each time another line of each page
                for (uint64_t page = 0; page < touched; ++page) {
                    const uint64_t at = base + page * gpu.page_bytes + round * 4096;
                    const int64_t cycles = latency(sm, at, now += 10000);
                    if (round > 0)
                        CHECK(cycles == dram_latency(gpu, memory, at) + (touched > pages ? gpu.tlb_miss_latency : 0));
                }
            CHECK(sm.counters().page_lookups == 3 * touched);
            CHECK((sm.counters().page_walks == 0) == (touched == pages));
        }
    }
}

TEST_CASE("one SM reads from L2 as fast as its port allows") {
    for (const char* name : {"p100", "v100", "a100", "h100"}) {
        INFO(name);
        const GpuSpec gpu = gpu_named(name).value();
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0);
        int64_t now = 0, end = 0;
        const auto read = [&] {
            for (uint64_t at = 0; at < 1 << 19; at += 128) {
                const auto s = static_cast<uint32_t>(at / 128 % gpu.sub_cores);
                now = std::max(now, sm.free_at(s, LoadStore::Queue::lg));
                end = std::max(end, sm.global(s, now, Access::load, Addresses(base + at, 4).at, all, 4, past_l1()).ready);
            }
        };
        read();
        now = end += 10000;
        const int64_t begin = now;
        read();
        const double rate = (1 << 19) / static_cast<double>(end - begin - gpu.l2_latency);
        CHECK(rate == Approx(gpu.sm_read_bytes_per_cycle.value).epsilon(0.03));
    }
}

TEST_CASE("single sectors from random places come as fast as DRAM opens rows") {
    for (const char* name : {"v100", "a100", "h100", "rtx3090"}) {
        INFO(name);
        const GpuSpec gpu = gpu_named(name).value();
        Dram dram(gpu);
        Rng rng(3);
        Ticks end = 0;
        const int requests = 200000;
        for (int i = 0; i < requests; ++i)
            end = std::max(end, dram.access((base + rng.below(uint64_t{8} << 30)) / 128, 0, 32));
        const double cycles_a_row = gpu.dram_activate_ns * gpu.boost_mhz / 1000;
        const double by_rows = 32 * gpu.dram_channels / cycles_a_row, by_bus = dram.bytes_per_cycle() * gpu.dram_efficiency;
        const double by_banks = 32.0 * gpu.dram_channels * gpu.dram_banks / (gpu.dram_row_cycle_ns * gpu.boost_mhz / 1000);
        const double rate = 32.0 * requests / (static_cast<double>(end) / ticks_a_cycle);
        CHECK(rate <= std::min({by_rows, by_bus, by_banks}) * 1.001);
        CHECK(rate >= std::min({by_rows, by_bus, by_banks}) * 0.6);
        CHECK(static_cast<double>(dram.row_hits) < 0.05 * requests);
    }
}

TEST_CASE("between reads, writes cost the bus a turnaround for every two kilobytes; alone they cost none") {
    const GpuSpec gpu = gpu_named("teaching").value();
    for (const bool reads : {false, true}) {
        Dram dram(gpu);
        Ticks end = 0;
        const uint64_t bytes = 1 << 20;
        for (uint64_t at = 0; at < bytes; at += 128) {
            dram.write_behind(at / 128, 0, 128);
            if (reads) dram.access((bytes + at) / 128, 0, 128);
        }
        for (uint64_t channel = 0; channel < gpu.dram_channels; ++channel)
            end = std::max(end, dram.access(channel * 2, 0, 32));
        const double a_channel = static_cast<double>(bytes) / gpu.dram_channels;
        const double turns = reads ? a_channel / 2048 * 8 : 0;  // 8 ns at 1 GHz
        const double cycles = (reads ? 2 : 1) * a_channel / (dram.bytes_per_cycle() / gpu.dram_channels) + turns;
        CHECK(static_cast<double>(cycle_of(end)) == Approx(cycles).epsilon(0.002));
    }
}

TEST_CASE("reads wait longer the busier their channel is, each its own time, and a lone one does not wait") {
    GpuSpec gpu = gpu_named("h200").value();
    gpu.dram_loaded_ns.value = 35;
    const auto waits_at = [&](double load) {  // of reads of a line that come to one channel as evenly as the load says
        Dram dram(gpu);
        std::vector<double> waits;
        const double every = 128 / (dram.bytes_per_cycle() / gpu.dram_channels * gpu.dram_efficiency) / load;
        uint64_t line = 0;
        for (int i = 0; i < 20000; ++line) {
            if (dram.channel_of(line) != 0) continue;
            const Ticks now = ticks_of(every * i++);
            Ticks wait = -1;
            dram.access(line, now, now, 128, 0, &wait);
            waits.push_back(static_cast<double>(wait) / ticks_a_cycle / gpu.boost_mhz * 1000);
        }
        return waits;
    };
    const auto mean = [](const std::vector<double>& of) {
        double sum = 0;
        for (const double each : of) sum += each;
        return sum / static_cast<double>(of.size());
    };
    const double figure = gpu.dram_loaded_ns;
    CHECK(mean(waits_at(0.01)) == 0);
    CHECK(mean(waits_at(0.25)) == Approx(figure / 3).epsilon(0.05));
    CHECK(mean(waits_at(0.5)) == Approx(figure).epsilon(0.05));
    CHECK(mean(waits_at(0.75)) == Approx(figure * 3).epsilon(0.05));
    CHECK(mean(waits_at(0.99)) == Approx(figure * 0.85 / 0.15).epsilon(0.05));
    std::vector<double> half = waits_at(0.5);
    CHECK(half == waits_at(0.5));
    std::sort(half.begin(), half.end());  // as an exponential distribution: ln 2 in the middle, ln 10 at nine tenths
    CHECK(half[half.size() / 2] == Approx(figure * 0.693).epsilon(0.08));
    CHECK(half[half.size() * 9 / 10] == Approx(figure * 2.303).epsilon(0.08));
}

TEST_CASE("modifiers say which cache a load looks in") {
    CHECK(cache_use_of("ld.global.f32") == CacheUse::normal);
    CHECK(cache_use_of("ld.global.cg.f32") == CacheUse::l2_only);
    CHECK(cache_use_of("ld.global.cv.u32") == CacheUse::l2_only);
    CHECK(cache_use_of("ld.volatile.global.u32") == CacheUse::l2_only);
    CHECK(cache_use_of("ld.relaxed.gpu.global.u32") == CacheUse::l2_only);
    CHECK(cache_use_of("ld.acquire.cta.global.u32") == CacheUse::normal);
    CHECK(cache_use_of("ld.global.nc.f32") == CacheUse::looks_in_l1);
    CHECK(cache_use_of("ld.global.ca.v4.f32") == CacheUse::looks_in_l1);
    CHECK(cache_use_of("ld.global.cs.f32") == CacheUse::evict_first);
    CHECK(cache_use_of("ld.global.L1::evict_first.f32") == CacheUse::evict_first);
    CHECK(cache_use_of("ld.global.L1::no_allocate.f32") == CacheUse::l2_only);
    CHECK(spelling_in("\t@%p1 ld.global.cg.f32 \t%f1, [%rd1];", "ld") == "ld.global.cg.f32");
    CHECK(spelling_in("{ld.global.nc.u32 %r1,[%rd2];}", "ld") == "ld.global.nc.u32");
    CHECK(spelling_in("add.s32 %r1, %r1, 1;", "ld").empty());
}

TEST_CASE("a load past L1 leaves nothing there, one that is to leave first goes before older lines") {
    GpuSpec gpu = gpu_named("v100").value();
    gpu.l1_bytes.value = 512;  // one set of four lines
    gpu.l1_ways.value = 4;
    gpu.shared_carveouts.value = {};
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    int64_t now = 0;
    const auto load = [&](uint64_t line, CacheUse use) {
        LoadStore::Way way;
        way.cache = use;
        return sm.global(0, now += 10000, Access::load, Addresses(base + line * 128, 0).at, all, 4, way).l1_hits;
    };
    load(0, CacheUse::l2_only);
    CHECK(load(0, CacheUse::normal) == 0);
    CHECK(load(0, CacheUse::normal) == 1);
    for (const uint64_t line : {1, 2}) load(line, CacheUse::normal);
    load(3, CacheUse::evict_first);
    load(4, CacheUse::normal);  // takes the place of line 3
    for (const uint64_t line : {0, 1, 2, 4}) CHECK(load(line, CacheUse::normal) == 1);
    CHECK(load(3, CacheUse::normal) == 0);
}

TEST_CASE("the counters of the links say what went over each") {
    const GpuSpec gpu = gpu_named("v100").value();
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    const Addresses floats(base, 4);
    sm.global(0, 0, Access::load, floats.at, all, 4);
    sm.global(0, 5000, Access::load, floats.at, all, 4);
    sm.global(0, 6000, Access::store, floats.at, 0xff, 4);
    sm.global(0, 7000, Access::atomic, Addresses(base, 0).at, all, 4);
    const MemoryCounters& c = sm.counters();
    CHECK(c[Flow::l1_from_l2] == MemoryCounters::Link{1, 128});
    CHECK(c[Flow::l1_to_l2] == MemoryCounters::Link{1, 32});
    CHECK(c[Flow::l2_atomic] == MemoryCounters::Link{1, 32});
    CHECK(c[Flow::dram_read] == MemoryCounters::Link{1, 128});
    CHECK(c[Flow::dram_write] == MemoryCounters::Link{0, 0});
    CHECK(c.l1_sectors == 8);
    CHECK(c.l1_hits == 4);
    CHECK(c.l2_sectors == 4 + 1 + 1);
    CHECK(c.l2_hits == 2);
    MemoryCounters twice = c;
    twice += c;
    CHECK(twice[Flow::l1_from_l2].bytes == 256);
    twice -= c;
    CHECK(twice == c);
}

TEST_CASE("atomics on one word go one by one, on different words of a sector together") {
    const GpuSpec gpu = gpu_named("v100").value();
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    latency(sm, base, 0);
    const auto cycles = [&](int64_t now, uint64_t stride, uint32_t bytes) {
        return sm.global(0, now, Access::atomic, Addresses(base, stride).at, all, bytes).ready - now;
    };
    CHECK(cycles(10000, 0, 4) == gpu.l2_latency + 32 * 3 - 1);
    CHECK(cycles(20000, 0, 8) == gpu.l2_latency + 32 * 6 - 1);
    uint64_t pairs[32];
    for (uint32_t lane = 0; lane < 32; ++lane) pairs[lane] = base + lane / 4 * 4;
    CHECK(sm.global(0, 30000, Access::atomic, pairs, all, 4).ready - 30000 == gpu.l2_latency + 4 * 3 - 1);
}

TEST_CASE("constants hit the nearest cache, then the second, then L2, and different addresses go one by one") {
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0);
        int64_t now = 0;
        const auto cycles = [&](uint64_t at, uint64_t stride) {
            now += 10000;
            return sm.constant(now, Addresses(at, stride).at, all, 4, false).ready - now;
        };
        CHECK(cycles(base, 0) == dram_latency(gpu, memory, base));
        CHECK(cycles(base, 0) == gpu.constant_latency);
        CHECK(cycles(base, 2) == gpu.constant_latency + 31);  // 32 addresses of one line
        now += 10000;
        CHECK(sm.constant(now, Addresses(base, 0).at, all, 4, false, 23).ready - now == gpu.constant_latency + 23);
        const uint64_t lines = gpu.constant_l1_bytes / 64;
        for (uint64_t line = 1; line <= 2 * lines; ++line) cycles(base + line * 64, 0);
        CHECK(cycles(base, 0) == gpu.constant_l15_latency);
        for (uint64_t line = 0; line <= 2 * gpu.constant_l15_bytes / 64; ++line) cycles(base + (1 << 20) + line * 64, 0);
        CHECK(cycles(base, 0) == gpu.l2_latency);
        now += 10000;
        CHECK(sm.constant(now, Addresses(1 << 20, 0).at, all, 4, true).ready - now == gpu.constant_latency);
    }
}

TEST_CASE("a texture fetch takes the texture unit's latency and rate, and counts as a texture request") {
    for (const GpuSpec& gpu : gpus()) {
        INFO(gpu.name);
        MemorySystem memory(gpu);
        LoadStore sm(gpu, memory, 0);
        std::vector<uint64_t> sectors;
        for (uint64_t k = 0; k < 4; ++k) sectors.push_back(base + 32 * k);
        const int64_t beside = std::max<int64_t>(0, int64_t{gpu.texture_latency} - int64_t{gpu.l1_latency});
        CHECK(sm.texture(0, 0, sectors, 32, 4).ready == dram_latency(gpu, memory, base) + beside);
        CHECK(sm.texture(0, 10000, sectors, 32, 4).ready - 10000 == gpu.l1_latency + beside);
        int64_t last = 0;
        for (int i = 0; i < 100; ++i) last = sm.texture(0, 20000, sectors, 32, 4).ready;
        const double cycles = 99 * 32 / gpu.texture_lanes;
        CHECK(static_cast<double>(last - 20000 - gpu.l1_latency - beside) >= cycles - 1);
        CHECK(sm.counters()[Flow::texture] == MemoryCounters::Link{102, 102 * 32 * 4});
        CHECK(sm.counters()[Flow::global_load].requests == 0);
        CHECK(sm.counters().l1_hits == 101 * 4);
    }
}

TEST_CASE("a bulk copy comes through the SM's port and leaves L1 alone") {
    const GpuSpec gpu = gpu_named("h100").value();
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    std::vector<uint64_t> sectors;
    for (uint64_t k = 0; k < 512; ++k) sectors.push_back(base + 32 * k);
    sm.bulk(0, 0, false, sectors);
    const int64_t again = sm.bulk(0, 100000, false, sectors).ready - 100000;
    const double port = 512 * 32 / gpu.sm_read_bytes_per_cycle;  // half of the lines are far, their copies near by now
    CHECK(static_cast<double>(again) >= gpu.l2_latency + port - 4);
    CHECK(static_cast<double>(again) <= gpu.l2_latency + port + 40);
    CHECK(sm.counters()[Flow::async_copy] == MemoryCounters::Link{2, 2 * 512 * 32});
    CHECK(sm.counters()[Flow::l1_from_l2].bytes == 2 * 512 * 32);
    CHECK(sm.counters().l1_sectors == 0);
    CHECK(sm.global(0, 200000, Access::load, Addresses(base, 4).at, all, 4).l1_hits == 0);
}

TEST_CASE("a copy of a memory system and an SM's side goes on alike") {
    const GpuSpec gpu = gpu_named("a100").value();
    MemorySystem memory(gpu);
    LoadStore sm(gpu, memory, 0);
    Rng rng(5);
    int64_t now = 0;
    const auto step = [&](LoadStore& on, Rng& numbers, int64_t at) {
        return on
            .global(0, at, numbers.below(3) == 0 ? Access::store : Access::load,
                    Addresses(base + numbers.below(1 << 24) / 4 * 4, 4 << numbers.below(4)).at, all, 4)
            .ready;
    };
    for (int i = 0; i < 1000; ++i) step(sm, rng, now += 3);
    MemorySystem other_memory = memory;
    LoadStore other = sm;
    other.attach(other_memory);
    Rng other_rng = rng;
    for (int i = 0; i < 1000; ++i) {
        now += 3;
        REQUIRE(step(sm, rng, now) == step(other, other_rng, now));
    }
    CHECK(sm.counters() == other.counters());
}

}  // namespace model_traffic_test
