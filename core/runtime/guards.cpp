#include "core/runtime/guards.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::runtime {

using system::PageAccess;

// Later work of the same stream that takes as much stands for the earlier one too.
void HostGuards::add(Guard guard) {
    constexpr size_t most = 1024;
    if (guard.first >= guard.last) return;
    std::erase_if(guards_, [&](const Guard& other) {
        return !other.is_freed && !guard.is_freed && other.stream == guard.stream && other.begin >= guard.begin &&
               other.end <= guard.end && other.reads_too <= guard.reads_too;
    });
    if (guards_.size() >= most) {
        const auto oldest = std::find_if(guards_.begin(), guards_.end(), [](const Guard& other) { return !other.is_freed; });
        if (oldest == guards_.end()) return;
        guards_.erase(oldest);
    }
    guards_.push_back(std::move(guard));
}

void HostGuards::set(const Guard& guard, PageAccess access) {
    system::set_page_access(guard.first, guard.last - guard.first, access);
}

void HostGuards::forget(uint64_t begin) {
    std::erase_if(guards_, [&](const Guard& guard) {
        if (guard.begin == begin) set(guard, PageAccess::all);
        return guard.begin == begin;
    });
}

void HostGuards::open() {
    if (!closed_) return;
    closed_ = false;
    for (const Guard& guard : guards_) set(guard, PageAccess::all);
}

void HostGuards::close(const std::function<bool(const Guard&)>& is_over) {
    std::erase_if(guards_, is_over);
    // Those that forbid more come last.
    for (const bool reads_too : {false, true})
        for (const Guard& guard : guards_)
            if (guard.reads_too == reads_too) set(guard, reads_too ? PageAccess::none : PageAccess::read);
    closed_ = true;
}

bool HostGuards::holds(uint64_t address) const {
    return std::any_of(guards_.begin(), guards_.end(),
                       [&](const Guard& guard) { return address >= guard.first && address < guard.last; });
}

std::vector<std::string> HostGuards::touched(const system::RefusedAccess& access, const std::string& where) {
    std::vector<std::string> sentences;
    const char* const verb = access.writes ? "writes" : "reads";
    for (const Guard& guard : guards_) {
        if (access.address < guard.begin || access.address >= guard.end) continue;
        if (!guard.reads_too && !access.writes) continue;
        const std::string host = where.empty() ? "the host" : fmt::format("the host ({})", where);
        sentences.push_back(
            guard.is_freed ? fmt::format("{} {} {} after it was freed{}", host, verb, guard.memory, guard.work)
                           : fmt::format("{} {} {} while {} may still {} it: nothing waits for that; cudaStreamSynchronize "
                                         "or cudaDeviceSynchronize does",
                                         host, verb, guard.memory, guard.work, guard.reads_too ? "write" : "read"));
    }
    // What shares the page with it goes on too, unheard until the next call. A piece of work is told of once.
    std::vector<Guard> told;
    for (const Guard& guard : guards_)
        if (access.address >= guard.first && access.address < guard.last) told.push_back(guard);
    for (const Guard& guard : told) set(guard, PageAccess::all);
    std::erase_if(guards_, [&](const Guard& guard) {
        return access.address >= guard.begin && access.address < guard.end && (guard.reads_too || access.writes);
    });
    return sentences;
}

}  // namespace lockstep::runtime
