// Device memory of the modelled GPU: allocations with guard gaps between them, every access checked. Copyable, so a
// checkpoint of it is a copy (contents are shared until written).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::simt {

struct Allocation {
    uint64_t address = 0;
    uint64_t bytes = 0;
    std::string name;                // "W1", "argument 2": for reports
    bool freed = false;
    std::shared_ptr<std::vector<std::byte>> contents;
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

  private:
    std::map<uint64_t, Allocation> allocations_;  // by address
    uint64_t next_ = 0x7f0000000000ull;
    uint64_t live_ = 0;
    uint64_t limit_;
};

}  // namespace lockstep::simt
