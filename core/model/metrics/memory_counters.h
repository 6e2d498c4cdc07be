// What went over each link of the memory chart, counted by the SM whose instruction caused it: plain numbers that only grow,
// so the traffic of a stretch of time is the difference of two copies. L2 and DRAM traffic is counted where its cause is: an
// SM that makes L2 write a line back has those bytes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lockstep::model {

enum class Flow : uint8_t {
    global_load,  // kernel <- L1: warp instructions, and the bytes that their lanes asked for
    global_store,
    global_atomic,  // atom and red
    local_load,
    local_store,
    shared_load,
    shared_store,
    shared_atomic,
    texture,  // tex, tld4 and surface reads; bytes of all texels of a filter
    surface_store,
    constant,    // ld.const; kernel parameters are not counted
    async_copy,  // global -> shared memory: cp.async and bulk copies
    l1_from_l2,  // line requests, and bytes of whole sectors
    l1_to_l2,    // stores
    l2_atomic,   // atomics, which L2 executes: bytes of their sectors
    dram_read,
    dram_write,
    count
};
constexpr size_t flows = static_cast<size_t>(Flow::count);
constexpr std::string_view flow_names[flows] = {
    "global_load",  "global_store",  "global_atomic", "local_load",    "local_store", "shared_load",
    "shared_store", "shared_atomic", "texture",       "surface_store", "constant",    "async_copy",
    "l1_from_l2",   "l1_to_l2",      "l2_atomic",     "dram_read",     "dram_write"};

struct MemoryCounters {
    struct Link {
        uint64_t requests = 0, bytes = 0;
        bool operator==(const Link&) const = default;
    };
    std::array<Link, flows> link{};
    uint64_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;  // looked up, and found
    uint64_t constant_lookups = 0, constant_hits = 0;                   // of the nearest constant cache, 64-byte lines
    uint64_t shared_passes = 0;                                         // over the banks
    uint64_t page_lookups = 0, page_walks = 0;                          // of the TLB

    void add(Flow flow, uint64_t bytes, uint64_t requests = 1) {
        Link& to = link[static_cast<size_t>(flow)];
        to.requests += requests;
        to.bytes += bytes;
    }
    const Link& operator[](Flow flow) const { return link[static_cast<size_t>(flow)]; }

    MemoryCounters& operator+=(const MemoryCounters& other) {
        for (size_t i = 0; i < flows; ++i) link[i].requests += other.link[i].requests, link[i].bytes += other.link[i].bytes;
        l1_sectors += other.l1_sectors, l1_hits += other.l1_hits;
        l2_sectors += other.l2_sectors, l2_hits += other.l2_hits;
        constant_lookups += other.constant_lookups, constant_hits += other.constant_hits;
        shared_passes += other.shared_passes;
        page_lookups += other.page_lookups, page_walks += other.page_walks;
        return *this;
    }
    MemoryCounters& operator-=(const MemoryCounters& other) {
        for (size_t i = 0; i < flows; ++i) link[i].requests -= other.link[i].requests, link[i].bytes -= other.link[i].bytes;
        l1_sectors -= other.l1_sectors, l1_hits -= other.l1_hits;
        l2_sectors -= other.l2_sectors, l2_hits -= other.l2_hits;
        constant_lookups -= other.constant_lookups, constant_hits -= other.constant_hits;
        shared_passes -= other.shared_passes;
        page_lookups -= other.page_lookups, page_walks -= other.page_walks;
        return *this;
    }
    bool operator==(const MemoryCounters&) const = default;
};

}  // namespace lockstep::model
