// Device memory of the modelled GPU: allocations with guard gaps between them, every access checked. Copyable, so a
// checkpoint of it is a copy (contents are shared until written).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/simt/check/byte_set.h"
#include "core/simt/memory/contents.h"
#include "core/simt/memory/texture.h"

namespace lockstep::simt {

struct Fault;

// A multicast object of several pieces of this memory, one for each device that takes part: multimem instructions at
// `address` + n work on byte n of all of them.
struct Multicast {
    uint64_t address = 0, bytes = 0;
    std::vector<uint64_t> replicas;
    std::string name;
};
// The first object's address; nothing else lies there.
constexpr uint64_t multicast_window = 0x0600'0000'0000ull;

struct Allocation {
    uint64_t address = 0;
    uint64_t bytes = 0;
    std::string name;  // "W1", "argument 2": for reports
    bool freed = false;
    Contents contents;
    std::string module;                  // of a program's own variable: the PTX file that declares it; empty for all others
    std::shared_ptr<ByteSet> unwritten;  // bytes that nobody has written, for initcheck; null: all count as written
    bool heap = false;                   // from a malloc in a kernel
    std::shared_ptr<const Fault> maker;  // of the heap's: where that malloc stands, and whose it was
};

// A number that is new whenever host pointers into a Memory may have become stale: the executor keeps pointers only as
// long as it stays the same. Copying a Memory renews both sides, because their contents are shared from then on.
class Version {
  public:
    Version() : value_(fresh()) {}
    Version(const Version& other) : value_(fresh()) { other.value_ = fresh(); }
    Version& operator=(const Version& other) {
        value_ = fresh();
        other.value_ = fresh();
        return *this;
    }
    ~Version() = default;
    uint64_t value() const { return value_.load(std::memory_order_relaxed); }
    void renew() { value_ = fresh(); }

  private:
    static uint64_t fresh();
    mutable std::atomic<uint64_t> value_;
};

struct MemoryCheckpoint;

class Memory {
  public:
    // Limit on the sum of live allocations; beyond it allocate() throws Failure.
    explicit Memory(uint64_t limit = uint64_t{4} << 30) : limit_(limit) {}
    // A 256-byte aligned device address. Zero-filled.
    uint64_t allocate(uint64_t bytes, std::string name);
    void release(uint64_t address);
    // Makes memory of the host an allocation of its own at `address`: kernels and host see the same bytes. The host keeps it
    // until it is released. Throws Failure where something lies there already.
    void adopt(uint64_t address, std::byte* host, uint64_t bytes, std::string name, std::string module = {});
    // Where the next allocation may lie at the earliest: nothing may lie there yet.
    void begin_at(uint64_t address) { next_ = address; }
    std::string& name_of(uint64_t address) { return allocations_.at(address).name; }  // of what begins there

    // Host view of [address, address + bytes) for reading, or null when it is not inside one live allocation.
    const std::byte* read(uint64_t address, uint64_t bytes) const;
    // The same for writing: un-shares the contents first.
    std::byte* write(uint64_t address, uint64_t bytes);

    const Allocation* find(uint64_t address) const;     // the live allocation that holds the address
    const Allocation* nearest(uint64_t address) const;  // live or freed, the closest: for reports
    uint64_t live_bytes() const { return live_; }
    uint64_t version() const { return version_.value(); }

    // malloc of a kernel: as allocate, but 0 when the heap has no room, and marked as one of the heap's. `bytes` 0 gives 0.
    uint64_t heap_allocate(uint64_t bytes, std::string name);
    void set_heap_limit(uint64_t bytes) { heap_limit_ = bytes; }

    // A handle for a texture or surface whose texels lie in this memory: what a kernel takes as its argument. Throws Failure
    // when they are not all inside one allocation.
    uint64_t texture(Texture texture);
    const Texture* find_texture(uint64_t handle) const;  // null: it is none of this memory's

    // The address of a multicast object over pieces of `bytes` bytes at these addresses. Throws Failure when one of them is
    // not inside one live allocation, or there are none or more than 64.
    uint64_t multicast(std::vector<uint64_t> replicas, uint64_t bytes, std::string name);
    const Multicast* find_multicast(uint64_t address) const;               // that holds the address, or null
    void set_maker(uint64_t address, std::shared_ptr<const Fault> maker);  // of the heap's block that begins there
    std::vector<const Allocation*> heap_blocks() const;                    // that are not freed, by address

    // From here on all of the allocation at `address` counts as never written, until a launch with initcheck writes to it. A
    // launch without begins with assume_written: nobody keeps account of what it writes.
    void mark_unwritten(uint64_t address);
    ByteSet* unwritten(uint64_t address);  // of the live allocation that begins there; null: all is written
    void assume_written();

    // The address of a program's variable, allocated (and filled with `initial`) by the first launch that needs it.
    uint64_t variable(const std::string& module, const std::string& name, uint64_t bytes,
                      const std::vector<std::byte>& initial);

    // See checkpoint.h. `earlier`: the last checkpoint of this memory, or null; `count` counts the bytes of pages.
    MemoryCheckpoint save(const MemoryCheckpoint* earlier, const std::shared_ptr<std::atomic<uint64_t>>& count) const;
    void restore(const MemoryCheckpoint& from);

  private:
    std::vector<Texture> textures_;
    std::vector<Multicast> multicasts_;           // by address
    std::map<uint64_t, Allocation> allocations_;  // by address
    std::deque<uint64_t> freed_;                  // oldest first; only the latest are kept for reports
    uint64_t next_ = 0x7f0000000000ull;
    uint64_t live_ = 0;
    uint64_t heap_ = 0;                        // taken from heap_limit_
    uint64_t heap_limit_ = uint64_t{8} << 20;  // CUDA's default
    uint64_t limit_;
    bool any_unwritten_ = false;
    Version version_;
};

}  // namespace lockstep::simt
