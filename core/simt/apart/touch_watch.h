// Which bytes of global memory a thread's blocks have touched, and how. Memory is looked at in pages; of a page that
// somebody writes, the first who does keeps what stood there.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/simt/apart/apart.h"

namespace lockstep::simt {

// The memory that a launch may write, for all of its threads.
class WatchedMemory {
  public:
    static constexpr uint64_t page_bytes = 64 * 1024;
    struct Region {  // an allocation
        uint64_t begin = 0, bytes = 0;
        std::byte* data = nullptr;
        size_t first_page = 0;
    };

    WatchedMemory(std::vector<Region> regions, uint32_t granule);
    const Region* find(uint64_t address) const;
    size_t pages() const { return pages_; }
    uint32_t granule() const { return granule_; }
    void keep(const Region& region, size_t page);  // what stands there now; once, whoever comes first
    void put_back();                               // all that was kept

  private:
    struct Kept {
        std::atomic<uint8_t> state{0};  // 0: nobody has come yet; 1: somebody copies; 2: it is there
        std::unique_ptr<std::byte[]> bytes;
    };
    std::vector<Region> regions_;  // by begin
    size_t pages_ = 0;
    uint32_t granule_;
    std::unique_ptr<Kept[]> kept_;
};

class TouchWatch {
  public:
    enum Way : uint8_t { read, write, sum };  // sum + n: of kind n
    static constexpr size_t ways = sum + most_sums;

    // By instruction: how its access to global memory is to be noted; unwatched: not at all.
    static constexpr uint8_t unwatched = 0xff;
    TouchWatch(WatchedMemory& memory, const std::vector<uint8_t>& way_of)
        : memory_(memory), way_of_(way_of), pages_(memory.pages()) {}

    uint8_t way_of(uint32_t pc) const { return way_of_[pc]; }
    void note(uint8_t way, uint64_t address, uint64_t bytes);
    bool strayed() const { return strayed_; }  // something was written of which nobody keeps account

    // Whether the blocks of two of these threads touched the same bytes, and not both by reading or by the same sum.
    static bool collide(const WatchedMemory& memory, const std::vector<std::unique_ptr<TouchWatch>>& threads);

  private:
    struct Page {  // of each way, a bit for each granule
        std::array<std::unique_ptr<uint64_t[]>, ways> bits;
    };
    WatchedMemory& memory_;
    const std::vector<uint8_t>& way_of_;
    std::vector<std::unique_ptr<Page>> pages_;
    const WatchedMemory::Region* last_ = nullptr;
    bool strayed_ = false;
};

}  // namespace lockstep::simt
