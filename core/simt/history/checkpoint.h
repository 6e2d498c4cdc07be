// The state of a launch put by and brought back: bytes in pages that are shared with the checkpoint before where nothing
// changed, and blocks. What else belongs to a checkpoint is the timed driver's (core/model/launch/machine.h).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/simt/warp.h"

namespace lockstep::simt {

// Counts the bytes of all pages that are alive: what checkpoints that share pages take together.
using PageCount = std::shared_ptr<std::atomic<uint64_t>>;

class Page {
  public:
    Page(const std::byte* data, size_t bytes, PageCount count);
    ~Page();
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    const std::byte* data() const { return data_.get(); }

  private:
    std::unique_ptr<std::byte[]> data_;
    size_t bytes_;
    PageCount count_;
};

// A buffer in pages. A page that holds nothing but zeros takes no room.
class Pages {
  public:
    Pages() = default;
    // `earlier`: of the same buffer, or null.
    Pages(const std::byte* data, size_t bytes, size_t page_bytes, const Pages* earlier, const PageCount& count);
    void copy_to(std::byte* data) const;  // size() bytes
    // Of pages that were put by elsewhere; a page but the last has `page_bytes` bytes.
    Pages(size_t bytes, size_t page_bytes, std::vector<std::shared_ptr<const Page>> pages)
        : bytes_(bytes), page_bytes_(page_bytes), pages_(std::move(pages)) {}
    const std::vector<std::shared_ptr<const Page>>& pages() const { return pages_; }  // null: zeros
    size_t page_bytes() const { return page_bytes_; }
    size_t size() const { return bytes_; }
    size_t table_bytes() const { return pages_.capacity() * sizeof pages_[0]; }

  private:
    size_t bytes_ = 0, page_bytes_ = 1;
    std::vector<std::shared_ptr<const Page>> pages_;  // null: zeros
};

struct BlockCheckpoint {
    uint32_t linear = 0, sm = 0, rank = 0, local_bytes = 0, warps_done = 0, warps_at_barrier = 0;
    Dim3 index;
    std::array<uint32_t, 16> arrived = {};
    int64_t clock = 0;
    Block::Ahead ahead;
    AsyncWork async;
    std::vector<Warp> warps;  // their pointers mean nothing
    Pages shared, registers, local;
};
BlockCheckpoint save(const Block& block, const BlockCheckpoint* earlier, const PageCount& count);
// Into a block of the same grid. Clusters are joined by the caller.
void restore(Block& block, const BlockCheckpoint& from);
// Bytes beside the pages.
uint64_t bytes_of(const BlockCheckpoint& checkpoint);

// Device memory: which allocations there are, and what is in them. The account of initcheck is not kept.
struct MemoryCheckpoint {
    struct Table {
        uint64_t version = 0;  // of the memory when it was made
        std::vector<Texture> textures;
        std::vector<Multicast> multicasts;
        std::map<uint64_t, Allocation> allocations;  // without contents
        std::deque<uint64_t> freed;
        uint64_t next = 0, live = 0, heap = 0, heap_limit = 0;
    };
    std::shared_ptr<const Table> table;
    std::map<uint64_t, Pages> contents;  // by address
};
uint64_t bytes_of(const MemoryCheckpoint& checkpoint);

}  // namespace lockstep::simt
