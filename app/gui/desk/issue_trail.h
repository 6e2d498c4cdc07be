// What this session's runs of one launch made of their resident warps: how many issue slots they used. The occupancy
// calculator draws a dot for each. State of the interface, owned by the frame's thread.
#pragma once
#include <map>
#include <memory>

#include "core/model/launch/launch.h"

namespace lockstep::gui {

class IssueTrail {
  public:
    // Another kernel, source, grid, block or GPU begins anew; another limit on resident blocks is one more dot.
    void adopt(const std::shared_ptr<const model::KernelRun>& run);
    const std::map<uint32_t, double>& used() const { return used_; }  // percent, by resident warps an SM

  private:
    std::shared_ptr<const model::KernelRun> last_;
    std::map<uint32_t, double> used_;
};

}  // namespace lockstep::gui
