// Allocations lie one after the other, upwards, with a guard gap behind each, and no address is ever used twice: so an
// index that runs past its array, or a pointer kept after release, meets nothing valid and can be named.
#include "core/simt/memory.h"

#include <algorithm>
#include <cstring>

#include "core/base/diagnostic.h"

namespace lockstep::simt {

namespace {
constexpr uint64_t alignment = 256;          // what cudaMalloc promises
constexpr uint64_t guard_bytes = 64 * 1024;  // behind every allocation
constexpr size_t freed_kept = 1024;          // freed allocations remembered for reports
}  // namespace

uint64_t Version::fresh() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

uint64_t Memory::allocate(uint64_t bytes, std::string name) {
    if (bytes > limit_ - std::min(limit_, live_)) {
        throw Failure("out of device memory: " + std::to_string(bytes) + " bytes asked for '" + name + "' with " +
                      std::to_string(live_) + " of " + std::to_string(limit_) + " bytes in use");
    }
    const uint64_t address = next_;
    next_ += (bytes + alignment - 1) / alignment * alignment + guard_bytes;
    live_ += bytes;
    auto contents = std::make_shared<std::vector<std::byte>>(bytes);
    allocations_.emplace(address, Allocation{address, bytes, std::move(name), false, std::move(contents), {}});
    version_.renew();
    return address;
}

void Memory::release(uint64_t address) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || found->second.freed) {
        throw Failure("release of a device address that is not the start of a live allocation");
    }
    live_ -= found->second.bytes;
    found->second.freed = true;
    found->second.contents.reset();
    freed_.push_back(address);
    if (freed_.size() > freed_kept) {
        allocations_.erase(freed_.front());
        freed_.pop_front();
    }
    version_.renew();
}

const Allocation* Memory::find(uint64_t address) const {
    auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return nullptr;
    const Allocation& a = std::prev(after)->second;
    return !a.freed && address - a.address < a.bytes ? &a : nullptr;
}

const Allocation* Memory::nearest(uint64_t address) const {
    const auto after = allocations_.upper_bound(address);
    const Allocation* above = after == allocations_.end() ? nullptr : &after->second;
    const Allocation* below = after == allocations_.begin() ? nullptr : &std::prev(after)->second;
    if (!above || !below) return above ? above : below;
    const uint64_t end = below->address + below->bytes;
    const uint64_t past = address < end ? 0 : address - end;
    return past <= above->address - address ? below : above;
}

const std::byte* Memory::read(uint64_t address, uint64_t bytes) const {
    const Allocation* a = find(address);
    if (!a || bytes > a->bytes - (address - a->address)) return nullptr;
    return a->contents->data() + (address - a->address);
}

std::byte* Memory::write(uint64_t address, uint64_t bytes) {
    const Allocation* found = find(address);
    if (!found || bytes > found->bytes - (address - found->address)) return nullptr;
    Allocation& a = allocations_.find(found->address)->second;
    if (a.contents.use_count() > 1) {
        a.contents = std::make_shared<std::vector<std::byte>>(*a.contents);
        version_.renew();
    }
    return a.contents->data() + (address - a.address);
}

uint64_t Memory::variable(const std::string& module, const std::string& name, uint64_t bytes,
                          const std::vector<std::byte>& initial) {
    const std::string owner = module.empty() ? "?" : module;
    for (const auto& [address, a] : allocations_) {
        if (!a.freed && a.module == owner && a.name == name && a.bytes == bytes) return address;
    }
    const uint64_t address = allocate(bytes, name);
    Allocation& a = allocations_.find(address)->second;
    a.module = owner;
    if (!initial.empty()) std::memcpy(a.contents->data(), initial.data(), std::min<size_t>(initial.size(), bytes));
    return address;
}

}  // namespace lockstep::simt
