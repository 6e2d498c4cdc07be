// The memory of the host device's buffers, in large pieces that the system may back with large pages: with pages of 4 KiB
// every pass over a tensor waits for address translations, a tenth of a training step (measured on a virtual machine).
#pragma once
#include <cstddef>
#include <map>
#include <memory>

namespace lockstep::device {

class HostMemory {
  public:
    static constexpr size_t alignment = 64;
    // `bytes` of unset memory, aligned; null where the system has none left.
    std::byte* allocate(size_t bytes);
    // What allocate() gave. A piece without buffers goes back to the system.
    void release(std::byte* memory);
    size_t pieces() const { return pieces_.size(); }

  private:
    struct Release {
        void operator()(std::byte* memory) const;
    };
    struct Piece {
        std::unique_ptr<std::byte[], Release> memory;
        size_t bytes = 0;
        std::map<size_t, size_t> free;  // begin -> bytes, no two of them adjacent
        std::map<size_t, size_t> used;
    };
    std::map<std::byte*, Piece> pieces_;
};

}  // namespace lockstep::device
