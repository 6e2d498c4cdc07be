#include "core/simt/apart/touch_watch.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/simt/memory/access.h"

namespace lockstep::simt {

WatchedMemory::WatchedMemory(std::vector<Region> regions, uint32_t granule)
    : regions_(std::move(regions)), granule_(granule) {
    std::sort(regions_.begin(), regions_.end(), [](const Region& a, const Region& b) { return a.begin < b.begin; });
    for (Region& region : regions_) {
        region.first_page = pages_;
        pages_ += (region.bytes + page_bytes - 1) / page_bytes;
    }
    kept_ = std::make_unique<Kept[]>(pages_);
}

const WatchedMemory::Region* WatchedMemory::find(uint64_t address) const {
    const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                        [](uint64_t at, const Region& region) { return at < region.begin; });
    if (after == regions_.begin()) return nullptr;
    const Region& region = *std::prev(after);
    return address - region.begin < region.bytes ? &region : nullptr;
}

void WatchedMemory::keep(const Region& region, size_t page) {
    Kept& kept = kept_[region.first_page + page];
    uint8_t state = kept.state.load(std::memory_order_acquire);
    if (state == 2) return;
    if (state == 0 && kept.state.compare_exchange_strong(state, 1, std::memory_order_acquire)) {
        const uint64_t begin = page * page_bytes, bytes = std::min(page_bytes, region.bytes - begin);
        kept.bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
        std::memcpy(kept.bytes.get(), region.data + begin, bytes);
        kept.state.store(2, std::memory_order_release);
        return;
    }
    while (kept.state.load(std::memory_order_acquire) != 2) std::this_thread::yield();
}

void WatchedMemory::put_back() {
    for (const Region& region : regions_)
        for (uint64_t begin = 0; begin < region.bytes; begin += page_bytes) {
            Kept& kept = kept_[region.first_page + begin / page_bytes];
            if (kept.state.load(std::memory_order_acquire) != 2) continue;
            std::memcpy(region.data + begin, kept.bytes.get(), std::min(page_bytes, region.bytes - begin));
        }
}

namespace {

size_t words_of_page(const WatchedMemory& memory) {
    return WatchedMemory::page_bytes / memory.granule() / 64;
}

// Sets bits [begin, end).
void set_bits(uint64_t* words, uint64_t begin, uint64_t end) {
    while (begin < end) {
        const uint64_t in_word = begin % 64, count = std::min(64 - in_word, end - begin);
        words[begin / 64] |= (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << in_word;
        begin += count;
    }
}

}  // namespace

void TouchWatch::note(uint8_t way, uint64_t address, uint64_t bytes) {
    if (!last_ || address - last_->begin >= last_->bytes) last_ = memory_.find(address);
    if (!last_) {  // it is going to fault, or is none that the launch writes
        strayed_ = strayed_ || way != read;
        return;
    }
    const WatchedMemory::Region& region = *last_;
    uint64_t at = address - region.begin;
    const uint64_t end = std::min(at + bytes, region.bytes), granule = memory_.granule();
    while (at < end) {
        const size_t number = at / WatchedMemory::page_bytes;
        const uint64_t page_begin = number * WatchedMemory::page_bytes;
        const uint64_t stop = std::min(end, page_begin + WatchedMemory::page_bytes);
        std::unique_ptr<Page>& page = pages_[region.first_page + number];
        if (!page) page = std::make_unique<Page>();
        std::unique_ptr<uint64_t[]>& bits = page->bits[way];
        if (!bits) {
            if (way != read) memory_.keep(region, number);
            bits = std::make_unique<uint64_t[]>(words_of_page(memory_));
        }
        set_bits(bits.get(), (at - page_begin) / granule, (stop - page_begin + granule - 1) / granule);
        at = stop;
    }
}

bool TouchWatch::collide(const WatchedMemory& memory, const std::vector<std::unique_ptr<TouchWatch>>& threads) {
    const size_t words = words_of_page(memory);
    for (const auto& thread : threads)
        if (thread->strayed()) return true;
    for (size_t number = 0; number < memory.pages(); ++number) {
        std::vector<const Page*> pages;
        for (const auto& thread : threads)
            if (thread->pages_[number]) pages.push_back(thread->pages_[number].get());
        if (pages.size() < 2) continue;
        for (size_t word = 0; word < words; ++word) {
            std::array<uint64_t, ways> all{};  // of the threads before
            for (const Page* const page : pages) {
                std::array<uint64_t, ways> own{};
                uint64_t any = 0, any_change = 0;
                for (size_t way = 0; way < ways; ++way) {
                    if (page->bits[way]) own[way] = page->bits[way][word];
                    any |= all[way];
                    if (way != read) any_change |= all[way];
                }
                if ((own[read] & any_change) != 0 || (own[write] & any) != 0) return true;
                for (size_t way = sum; way < ways; ++way) {
                    if (own[way] == 0) continue;
                    for (size_t other = 0; other < ways; ++other)
                        if (other != way && (own[way] & all[other]) != 0) return true;
                }
                for (size_t way = 0; way < ways; ++way) all[way] |= own[way];
            }
        }
    }
    return false;
}

void watch_access(const Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    TouchWatch& watch = *warp.block->grid->watch;
    const uint8_t way = watch.way_of(pc);
    if (way == TouchWatch::unwatched || mask == 0) return;
    Access access;
    const uint32_t bytes = p.access_bytes();
    if (locate(warp, p, mask, access)) {
        if (access.space == ptx::Space::shared || access.space == ptx::Space::local || access.space == ptx::Space::param)
            return;
        uint64_t differs = 0;
        for (uint32_t lane = 0; lane < warp_size; ++lane)
            differs |= access.addresses[lane] ^ (access.addresses[0] + uint64_t{lane} * bytes);
        if (mask == full_mask && differs == 0) return watch.note(way, access.addresses[0], uint64_t{warp_size} * bytes);
        for (uint32_t rest = mask; rest; rest &= rest - 1) watch.note(way, access.addresses[__builtin_ctz(rest)], bytes);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        ptx::Space space;
        const uint64_t address = lane_access(warp, p, static_cast<uint32_t>(__builtin_ctz(rest)), space);
        if (space == ptx::Space::global) watch.note(way, address, bytes);
    }
}

}  // namespace lockstep::simt
