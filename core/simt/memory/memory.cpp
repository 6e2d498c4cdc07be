// Allocations lie one after the other, upwards, with a guard gap behind each, and no address is ever used twice: so an
// index that runs past its array, or a pointer kept after release, meets nothing valid and can be named.
#include "core/simt/memory/memory.h"

#include <algorithm>
#include <cstring>

#include "core/base/diagnostic.h"
#include "core/base/sizes.h"

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
        throw Failure("out of device memory: " + size_text(bytes) + " asked for '" + name + "' with " + size_text(live_) +
                      " of " + size_text(limit_) + " in use");
    }
    const uint64_t address = next_;
    next_ += (bytes + alignment - 1) / alignment * alignment + guard_bytes;
    live_ += bytes;
    allocations_.emplace(address, Allocation{address, bytes, std::move(name), false, Contents(bytes), {}, {}, false});
    version_.renew();
    return address;
}

void Memory::adopt(uint64_t address, std::byte* host, uint64_t bytes, std::string name, std::string module) {
    const auto after = allocations_.lower_bound(address);
    const bool before_next = after == allocations_.end() || bytes <= after->first - address || after->second.freed;
    const Allocation* before = after == allocations_.begin() ? nullptr : &std::prev(after)->second;
    if (!before_next || (before && !before->freed && address - before->address < before->bytes))
        throw Failure("the host's memory '" + name + "' overlaps an allocation");
    live_ += bytes;
    std::erase(freed_, address);
    allocations_.insert_or_assign(
        address, Allocation{address, bytes, std::move(name), false, Contents(host, bytes), std::move(module)});
    version_.renew();
}

namespace {
uint64_t heap_cost(uint64_t bytes) {  // a block's header and rounding count too
    return (bytes + 15) / 16 * 16 + 64;
}
}  // namespace

uint64_t Memory::heap_allocate(uint64_t bytes, std::string name) {
    const uint64_t room = heap_limit_ - std::min(heap_limit_, heap_);
    if (!bytes || bytes > room || heap_cost(bytes) > room || bytes > limit_ - std::min(limit_, live_)) return 0;
    const uint64_t address = allocate(bytes, std::move(name));
    allocations_.find(address)->second.heap = true;
    heap_ += heap_cost(bytes);
    return address;
}

void Memory::release(uint64_t address) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || found->second.freed) {
        throw Failure("release of a device address that is not the start of a live allocation");
    }
    live_ -= found->second.bytes;
    if (found->second.heap) heap_ -= heap_cost(found->second.bytes);
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
    return a->contents.data() + (address - a->address);
}

std::byte* Memory::write(uint64_t address, uint64_t bytes) {
    const Allocation* found = find(address);
    if (!found || bytes > found->bytes - (address - found->address)) return nullptr;
    Allocation& a = allocations_.find(found->address)->second;
    if (a.contents.shared()) {
        a.contents.unshare();
        version_.renew();
    }
    return a.contents.data() + (address - a.address);
}

void Memory::mark_unwritten(uint64_t address) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || found->second.freed) return;
    found->second.unwritten = std::make_shared<ByteSet>(found->second.bytes, true);
    any_unwritten_ = true;
}

ByteSet* Memory::unwritten(uint64_t address) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || !found->second.unwritten) return nullptr;
    auto& set = found->second.unwritten;
    if (set.use_count() > 1) set = std::make_shared<ByteSet>(*set);
    return set.get();
}

void Memory::assume_written() {
    if (!any_unwritten_) return;
    for (auto& [address, a] : allocations_) a.unwritten.reset();
    any_unwritten_ = false;
}

uint64_t Memory::texture(Texture texture) {
    const bool plain = (texture.channels == 1 || texture.channels == 2 || texture.channels == 4) && texture.samples >= 1 &&
                       texture.samples <= 64 && texture.levels >= 1 && texture.levels <= 32;
    const bool sampler_only = texture.address == 0;
    const double most = 1ull << 50;  // far below where the products of the extents wrap
    if (static_cast<double>(texture.width) * texture.samples > most / 16 ||
        static_cast<double>(texture.row_step()) * texture.height * static_cast<double>(texture.slices()) > most ||
        static_cast<double>(texture.depth) * texture.layers > most)
        throw Failure("the texture '" + texture.name + "' is too large");
    if (!plain || !texture.width || !texture.height || !texture.depth || !texture.layers ||
        texture.row_step() < texture.row_bytes() || (!sampler_only && !read(texture.address, texture.bytes()))) {
        throw Failure("the texels of '" + texture.name + "' do not lie inside one live allocation");
    }
    textures_.push_back(std::move(texture));
    return texture_handles + textures_.size();
}

uint64_t Memory::multicast(std::vector<uint64_t> replicas, uint64_t bytes, std::string name) {
    const bool inside = std::all_of(replicas.begin(), replicas.end(), [&](uint64_t r) { return read(r, bytes) != nullptr; });
    if (replicas.empty() || replicas.size() > 64 || bytes == 0 || !inside)
        throw Failure("the multicast object '" + name + "' needs 1 to 64 replicas, each inside one live allocation");
    constexpr uint64_t gap = 1 << 16;
    const uint64_t end = multicasts_.empty() ? multicast_window : multicasts_.back().address + multicasts_.back().bytes;
    const uint64_t address = multicasts_.empty() ? end : (end + 2 * gap - 1) / gap * gap;
    multicasts_.push_back({address, bytes, std::move(replicas), std::move(name)});
    return address;
}

const Multicast* Memory::find_multicast(uint64_t address) const {
    for (const Multicast& m : multicasts_)
        if (address - m.address < m.bytes) return &m;
    return nullptr;
}

void Memory::set_maker(uint64_t address, std::shared_ptr<const Fault> maker) {
    const auto found = allocations_.find(address);
    if (found != allocations_.end() && found->second.heap) found->second.maker = std::move(maker);
}

std::vector<const Allocation*> Memory::heap_blocks() const {
    std::vector<const Allocation*> blocks;
    for (const auto& [address, a] : allocations_)
        if (a.heap && !a.freed) blocks.push_back(&a);
    return blocks;
}

const Texture* Memory::find_texture(uint64_t handle) const {
    const uint64_t number = handle - texture_handles - 1;
    return number < textures_.size() ? &textures_[number] : nullptr;
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
    if (!initial.empty()) std::memcpy(a.contents.data(), initial.data(), std::min<size_t>(initial.size(), bytes));
    return address;
}

}  // namespace lockstep::simt
