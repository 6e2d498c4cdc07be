// Allocations of every kind, copies and fills between them. Each range is checked against what the program asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/sizes.h"
#include "core/base/units.h"
#include "core/runtime/runtime.h"
#include "core/system/guard.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {
namespace {

constexpr std::align_val_t page{4096};

std::string place(const CallSite& site, const char* verb) {
    const std::string text = text_of(site);
    return text.empty() ? std::string() : fmt::format(" ({} at {})", verb, text);
}

// Of pinned and managed memory: whole pages, so that they can be closed (guards.h).
uint64_t host_bytes(uint64_t bytes) {
    return (bytes + system::guarded_page - 1) / system::guarded_page * system::guarded_page;
}

}  // namespace

std::string described(const Block& block) {
    return fmt::format("'{}'{}", block.name, place(block.site, "allocated"));
}

std::string_view name_of(MemoryKind kind) {
    constexpr std::string_view names[] = {"device", "managed", "pinned", "registered", "array"};
    return names[static_cast<size_t>(kind)];
}

Runtime::~Runtime() {
    guards_.open();
    for (const Block& block : freed_) ::operator delete(reinterpret_cast<void*>(block.address), page);
    for (const auto& [address, block] : blocks_)
        if (!block.freed && (block.kind == MemoryKind::managed || block.kind == MemoryKind::pinned))
            ::operator delete(reinterpret_cast<void*>(address), page);
}

uint64_t Runtime::memory_limit() const {
    return static_cast<uint64_t>(gpu_.memory_gb * 1e9);
}

namespace {
// A size below zero became one near the top of 64 bits.
std::string asked_text(uint64_t bytes) {
    const auto is = static_cast<int64_t>(bytes);
    return is < 0 ? fmt::format("{} bytes (as an unsigned size {})", with_commas(is), bytes) : size_text(bytes);
}
}  // namespace

uint64_t Runtime::allocate(uint64_t bytes, MemoryKind kind, const char* fallback_name) {
    const bool of_host = kind == MemoryKind::managed || kind == MemoryKind::pinned;
    if (!of_host && bytes > memory_limit() - std::min(memory_limit(), memory_.live_bytes()))
        throw CallFailure{cudaErrorMemoryAllocation,
                          fmt::format("{} were asked for with {} of {} in use on {}{}", asked_text(bytes),
                                      size_text(memory_.live_bytes()), size_text(memory_limit()), gpu_.title,
                                      static_cast<int64_t>(bytes) < 0 ? ": look at the number of elements" : "")};
    Block block{.bytes = bytes, .kind = kind, .device = device_, .site = site_};
    block.name = site_arguments_.empty() ? fmt::format("{} {}", fallback_name, blocks_.size() + 1) : site_arguments_;
    try {
        if (of_host) {
            auto* const host = static_cast<std::byte*>(::operator new(host_bytes(bytes), page));
            std::memset(host, 0, bytes);
            block.address = reinterpret_cast<uintptr_t>(host);
            memory_.adopt(block.address, host, bytes, block.name);
        } else {
            block.address = memory_.allocate(bytes, block.name);
            if (settings_.initcheck) memory_.mark_unwritten(block.address);
        }
    } catch (const std::exception&) {
        throw CallFailure{cudaErrorMemoryAllocation, fmt::format("this computer has no room for {}", size_text(bytes))};
    }
    model::HostOperation operation;
    operation.verb = model::HostVerb::allocate;
    clock_.issue(operation);
    keep(block);
    peak_bytes_ = std::max(peak_bytes_, memory_.live_bytes());
    return block.address;
}

void Runtime::adopt(void* host, uint64_t bytes) {
    const auto address = reinterpret_cast<uintptr_t>(host);
    try {
        memory_.adopt(address, static_cast<std::byte*>(host), bytes,
                      site_arguments_.empty() ? "registered" : site_arguments_);
    } catch (const Failure&) {
        throw CallFailure{cudaErrorHostMemoryAlreadyRegistered, "a part of this memory is registered already"};
    }
    keep({.address = address, .bytes = bytes, .kind = MemoryKind::registered, .name = site_arguments_, .site = site_});
}

void Runtime::keep(Block block) {
    if (allocations_.size() < most_records) {
        block.record = static_cast<int64_t>(allocations_.size());
        allocations_.push_back({.name = block.name,
                                .kind = std::string(name_of(block.kind)),
                                .address = block.address,
                                .bytes = block.bytes,
                                .site = block.site,
                                .call = call_number_,
                                .begin_us = clock_.host_us()});
    } else {
        ++dropped_;
    }
    blocks_[block.address] = std::move(block);
}

const Block* Runtime::find(uint64_t address) const {
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return nullptr;
    const Block& block = std::prev(after)->second;
    return address - block.address < std::max<uint64_t>(1, block.bytes) ? &block : nullptr;
}

void Runtime::release(uint64_t address, bool of_host) {
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) {
        for (const Block& block : freed_)
            if (block.address == address)
                throw CallFailure{cudaErrorInvalidValue,
                                  fmt::format("{} was freed before{}", described(block), place(block.freed_at, "freed"))};
        const Block* inside = find(address);
        throw CallFailure{cudaErrorInvalidValue, inside
                                                     ? fmt::format("the pointer lies {} bytes inside {}, not at its begin",
                                                                   address - inside->address, described(*inside))
                                                     : std::string("this pointer is none that the runtime gave out")};
    }
    Block& block = found->second;
    if (block.freed)
        throw CallFailure{cudaErrorInvalidValue,
                          fmt::format("{} was freed before{}", described(block), place(block.freed_at, "freed"))};
    if (of_host != (block.kind == MemoryKind::pinned || block.kind == MemoryKind::registered))
        throw CallFailure{cudaErrorInvalidValue, fmt::format("{} is {} memory: {} frees it", described(block),
                                                             name_of(block.kind), of_host ? "cudaFree" : "cudaFreeHost")};
    block.freed = true;
    block.freed_at = site_;
    if (block.record >= 0) {
        AllocationRecord& record = allocations_[static_cast<size_t>(block.record)];
        record.freed = true;
        record.freed_at = site_;
        record.freed_call = call_number_;
        record.end_us = clock_.host_us();
    }
    memory_.release(address);
    if (block.kind == MemoryKind::managed || block.kind == MemoryKind::pinned) {
        if (watches_host())
            keep_freed(block);
        else
            ::operator delete(reinterpret_cast<void*>(address), page);
        blocks_.erase(found);  // the host may hand out the address again
    } else if (block.kind == MemoryKind::registered) {
        blocks_.erase(found);
    }
    model::HostOperation operation;
    operation.verb = model::HostVerb::release;
    order_.host_waits_for_all();
    issue(operation);
}

// What was freed stays closed for a while instead of going back to the host.
void Runtime::keep_freed(const Block& block) {
    constexpr uint64_t most_kept = uint64_t{256} << 20;
    freed_.push_back(block);
    const std::string freed = place(block.freed_at, "freed");
    guards_.add({.begin = block.address,
                 .end = block.address + block.bytes,
                 .first = block.address,
                 .last = block.address + host_bytes(block.bytes),
                 .reads_too = true,
                 .is_freed = true,
                 .memory = described(block),
                 .work = freed});
    uint64_t sum = 0;
    for (const Block& kept : freed_) sum += kept.bytes;
    while (sum > most_kept && freed_.size() > 1) {
        sum -= freed_.front().bytes;
        guards_.forget(freed_.front().address);
        ::operator delete(reinterpret_cast<void*>(freed_.front().address), page);
        freed_.pop_front();
    }
}

// The host may not touch [begin, end) of the block before it knows that the work is over, the last of its stream so far.
void Runtime::guard(const Block* block, uint64_t begin, uint64_t end, bool device_writes, const std::string& work,
                    uint32_t stream) {
    if (!block || block->freed || !settings_.racecheck) return;
    const bool own = block->kind == MemoryKind::managed || block->kind == MemoryKind::pinned;
    if (!own && block->kind != MemoryKind::registered) return;
    constexpr uint64_t size = system::guarded_page;
    Guard guard{.begin = begin, .end = end, .reads_too = device_writes, .stream = stream, .number = order_.count(stream)};
    // Pages around registered memory are others' as well.
    guard.first = own ? begin / size * size : (begin + size - 1) / size * size;
    guard.last = own ? (end + size - 1) / size * size : end / size * size;
    guard.memory = described(*block);
    const std::string site = text_of(site_);
    guard.work = fmt::format("{} in stream {}{}", work, stream, site.empty() ? "" : " (" + site + ")");
    guards_.add(std::move(guard));
}

namespace {
bool only_on_device(const Block* block) {
    return block && (block->kind == MemoryKind::device || block->kind == MemoryKind::array);
}

// Host memory that nobody registered takes a staged copy, for which the host waits.
bool is_pageable(const Block* block) {
    return block == nullptr;
}
}  // namespace

void Runtime::check_range(uint64_t address, uint64_t bytes, const char* what, bool writes) const {
    const Block* block = find(address);
    const char* verb = writes ? "written" : "read";
    if (block == nullptr) {
        const simt::Allocation* variable = memory_.find(address);
        if (variable && bytes <= variable->bytes - (address - variable->address)) return;
        throw CallFailure{
            cudaErrorInvalidValue,
            fmt::format("{} bytes are to be {} at {:#x}, which is no memory of the device", bytes, verb, address)};
    }
    if (block->freed)
        throw CallFailure{cudaErrorInvalidValue, fmt::format("{} is {} after it was freed{}", described(*block), verb,
                                                             place(block->freed_at, "freed"))};
    const uint64_t offset = address - block->address;
    if (bytes > block->bytes - offset)
        throw CallFailure{cudaErrorInvalidValue,
                          fmt::format("{} {} bytes to be {} of {} reach {} past its end: it has {} bytes{}", what, bytes,
                                      verb, described(*block), bytes - (block->bytes - offset), block->bytes,
                                      offset == 0 ? "" : fmt::format(", and the copy begins at {}", offset))};
}

void Runtime::check_copy(const CopyWork& asked) const {
    const Block *to = find(asked.to), *from = find(asked.from);
    const bool to_variable = !to && memory_.find(asked.to), from_variable = !from && memory_.find(asked.from);
    const bool to_device = only_on_device(to) || to_variable, from_device = only_on_device(from) || from_variable;
    const auto wrong_way = [&](const char* side, const Block* block, bool is_device) {
        return CallFailure{cudaErrorInvalidValue,
                           fmt::format("the {} is {} memory{}, and the direction says otherwise", side,
                                       is_device ? "device" : "host", block ? ", " + described(*block) : "")};
    };
    const int kind = asked.kind;
    if (kind < 0 || kind > 4) throw CallFailure{cudaErrorInvalidMemcpyDirection, "there is no such direction"};
    // Host to host goes wherever the pointers point, as on a real GPU: addresses say what they are.
    if (to_device && kind == cudaMemcpyDeviceToHost) throw wrong_way("destination", to, true);
    if (from_device && kind == cudaMemcpyHostToDevice) throw wrong_way("source", from, true);
    if (!to && !to_variable && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice))
        throw wrong_way("destination", nullptr, false);
    if (!from && !from_variable && (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice))
        throw wrong_way("source", nullptr, false);
    if (asked.rows > 1 && (asked.bytes > asked.to_pitch || asked.bytes > asked.from_pitch))
        throw CallFailure{cudaErrorInvalidPitchValue, fmt::format("a row has {} bytes, and rows lie only {} and {} apart",
                                                                  asked.bytes, asked.to_pitch, asked.from_pitch)};
    const auto span_of = [&](uint64_t pitch, uint64_t slice) {
        return (asked.slices - 1) * slice + (asked.rows - 1) * pitch + asked.bytes;
    };
    if (to || to_variable) check_range(asked.to, span_of(asked.to_pitch, asked.to_slice), "the", true);
    if (from || from_variable) check_range(asked.from, span_of(asked.from_pitch, asked.from_slice), "the", false);
}

void Runtime::copy(const CopyWork& asked, uint32_t stream, bool asynchronous) {
    if (asked.bytes == 0 || asked.rows == 0 || asked.slices == 0) return;
    check_copy(asked);
    const Block *to = find(asked.to), *from = find(asked.from);
    const bool device_takes_part =
        only_on_device(to) || only_on_device(from) || memory_.find(asked.to) || memory_.find(asked.from);
    submit(stream, asked, !asynchronous && device_takes_part);
}

void Runtime::run_copy(uint32_t stream, const CopyWork& asked, bool blocking) {
    if (sticky_error_ != 0) throw CallFailure{sticky_error_, "an earlier kernel ended in a fault"};
    check_copy(asked);
    const Block *to = find(asked.to), *from = find(asked.from);
    const bool to_variable = !to && memory_.find(asked.to), from_variable = !from && memory_.find(asked.from);
    const bool to_device = only_on_device(to) || to_variable, from_device = only_on_device(from) || from_variable;
    if (to_variable) set_variables_.insert(memory_.find(asked.to)->address);
    for (uint64_t slice = 0; slice < asked.slices; ++slice)
        for (uint64_t row = 0; row < asked.rows; ++row) {
            const uint64_t target = asked.to + slice * asked.to_slice + row * asked.to_pitch;
            const uint64_t source = asked.from + slice * asked.from_slice + row * asked.from_pitch;
            void* const into = to || to_variable ? memory_.write(target, asked.bytes) : reinterpret_cast<void*>(target);
            const void* const out_of =
                from || from_variable ? memory_.read(source, asked.bytes) : reinterpret_cast<void*>(source);
            std::memmove(into, out_of, asked.bytes);
            if (to_device && settings_.initcheck) mark_written(target, asked.bytes);
        }

    const char* direction = to_device     ? from_device ? "device to device" : "host to device"
                            : from_device ? "device to host"
                                          : "host to host";
    if (!to_device && !from_device) return;
    if (settings_.racecheck) {
        const auto span_of = [&](uint64_t begin, uint64_t pitch, uint64_t slice, bool writes) {
            return Touch{begin, begin + (asked.slices - 1) * slice + (asked.rows - 1) * pitch + asked.bytes, writes};
        };
        const Touch touches[] = {span_of(asked.to, asked.to_pitch, asked.to_slice, true),
                                 span_of(asked.from, asked.from_pitch, asked.from_slice, false)};
        watch_order(fmt::format("the copy {}", direction), stream, touches);
        const bool waits = blocking || (from_device && is_pageable(to));
        if (waits) order_.host_waits_for_stream(stream);
        const std::string work = fmt::format("the copy {}", direction);
        if (!waits) guard(to, touches[0].begin, touches[0].end, true, work, stream);
        if (!waits) guard(from, touches[1].begin, touches[1].end, false, work, stream);
    }
    const uint64_t bytes = asked.bytes * asked.rows * asked.slices;
    model::HostOperation operation;
    operation.verb =
        to_device ? from_device ? model::HostVerb::copy_within : model::HostVerb::copy_in : model::HostVerb::copy_out;
    operation.stream = stream;
    operation.bytes = bytes;
    operation.pinned = !is_pageable(to_device ? from : to) || (to_device && from_device);
    operation.blocking = blocking;
    operation.name = direction;
    const size_t index = issue(operation);
    if (copies_.size() >= most_records) {
        ++dropped_;
        return;
    }
    copies_.push_back({direction, bytes, 0, 0, stream, site_, call_number_});
    pending_.push_back({index, &copies_.back().begin_us, &copies_.back().end_us});
    resolve();
}

void Runtime::mark_written(uint64_t address, uint64_t bytes) {
    const simt::Allocation* allocation = memory_.find(address);
    if (!allocation) return;
    if (simt::ByteSet* unwritten = memory_.unwritten(allocation->address))
        unwritten->set(address - allocation->address, bytes, false);
}

void Runtime::check_fill(const FillWork& asked) const {
    const uint64_t bytes = asked.width * asked.element_bytes;
    if (asked.rows > 1 && bytes > asked.pitch)
        throw CallFailure{cudaErrorInvalidValue,
                          fmt::format("a row has {} bytes, and rows lie only {} apart", bytes, asked.pitch)};
    check_range(asked.to, (asked.rows - 1) * asked.pitch + bytes, "the", true);
}

void Runtime::fill(const FillWork& asked, uint32_t stream, bool asynchronous) {
    if (asked.width == 0 || asked.rows == 0) return;
    check_fill(asked);
    submit(stream, asked, !asynchronous);
}

void Runtime::run_fill(uint32_t stream, const FillWork& asked, bool blocking) {
    if (sticky_error_ != 0) throw CallFailure{sticky_error_, "an earlier kernel ended in a fault"};
    check_fill(asked);
    const uint64_t bytes = asked.width * asked.element_bytes;
    if (const simt::Allocation* variable = find(asked.to) ? nullptr : memory_.find(asked.to))
        set_variables_.insert(variable->address);
    for (uint64_t row = 0; row < asked.rows; ++row) {
        std::byte* const into = memory_.write(asked.to + row * asked.pitch, bytes);
        if (asked.element_bytes == 1)
            std::memset(into, static_cast<int>(asked.value), bytes);
        else
            for (uint64_t k = 0; k < asked.width; ++k)
                std::memcpy(into + k * asked.element_bytes, &asked.value, asked.element_bytes);
        if (settings_.initcheck) mark_written(asked.to + row * asked.pitch, bytes);
    }
    if (settings_.racecheck) {
        const Touch touch{asked.to, asked.to + (asked.rows - 1) * asked.pitch + bytes, true};
        watch_order("the memset", stream, std::span(&touch, 1));
        if (blocking) order_.host_waits_for_stream(stream);
        if (!blocking) guard(find(asked.to), touch.begin, touch.end, true, "the memset", stream);
    }
    model::HostOperation operation;
    operation.verb = model::HostVerb::copy_within;
    operation.stream = stream;
    operation.bytes =
        (bytes * asked.rows + 1) / 2;  // it only writes, and a copy within the device reads as much as it writes
    operation.blocking = blocking;
    operation.name = "memset";
    issue(operation);
}

}  // namespace lockstep::runtime
