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

namespace lockstep::simt {

struct Allocation {
    uint64_t address = 0;
    uint64_t bytes = 0;
    std::string name;  // "W1", "argument 2": for reports
    bool freed = false;
    std::shared_ptr<std::vector<std::byte>> contents;
    std::string module;  // of a program's own variable: the PTX file that declares it; empty for all others
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

class Memory {
  public:
    // Limit on the sum of live allocations; beyond it allocate() throws Failure.
    explicit Memory(uint64_t limit = uint64_t{4} << 30) : limit_(limit) {}
    // A 256-byte aligned device address. Zero-filled.
    uint64_t allocate(uint64_t bytes, std::string name);
    void release(uint64_t address);

    // Host view of [address, address + bytes) for reading, or null when it is not inside one live allocation.
    const std::byte* read(uint64_t address, uint64_t bytes) const;
    // The same for writing: un-shares the contents first.
    std::byte* write(uint64_t address, uint64_t bytes);

    const Allocation* find(uint64_t address) const;     // the live allocation that holds the address
    const Allocation* nearest(uint64_t address) const;  // live or freed, the closest: for reports
    uint64_t live_bytes() const { return live_; }
    uint64_t version() const { return version_.value(); }

    // The address of a program's variable, allocated (and filled with `initial`) by the first launch that needs it.
    uint64_t variable(const std::string& module, const std::string& name, uint64_t bytes,
                      const std::vector<std::byte>& initial);

  private:
    std::map<uint64_t, Allocation> allocations_;  // by address
    std::deque<uint64_t> freed_;                  // oldest first; only the latest are kept for reports
    uint64_t next_ = 0x7f0000000000ull;
    uint64_t live_ = 0;
    uint64_t limit_;
    Version version_;
};

}  // namespace lockstep::simt
