// The contents of allocations as a launch found them: shared with the memory until it writes to them. For launches that may
// have to run again.
#pragma once
#include <utility>
#include <vector>

#include "core/simt/warp.h"

namespace lockstep::simt {

class Kept {
  public:
    // Of what the launch may write (find_written). False: that may be any memory, or the host's own, which cannot be kept.
    bool keep(const Grid& grid);
    void put_back(Memory& memory) const;
    uint64_t bytes() const { return bytes_; }

  private:
    std::vector<std::pair<uint64_t, Contents>> contents_;
    uint64_t bytes_ = 0;
};

}  // namespace lockstep::simt
