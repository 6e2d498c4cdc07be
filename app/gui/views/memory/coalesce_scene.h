// What D3 (coalescing) shows, as plain data: the request that is looked at, the table's rows, the pinned pattern; and what
// is said about them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/gui/views/memory/request_data.h"

namespace lockstep::gui {

struct CoalesceScene {
    bool sandbox = false, locked = false;  // locked: an open prediction keeps the sandbox shut
    std::shared_ptr<const simt::WarpHistory> history;
    std::vector<MemoryRow> rows;
    Picked picked;
    Pattern pattern;
    RequestFacts facts;
    bool hidden = false;
    std::string name;     // "stride 2", "line 7"
    std::string nothing;  // why there is no picture
    std::string stopped;  // "Stopped by memcheck at line 3"
    std::string busy;
};

struct PinnedPattern {
    std::string name;
    RequestFacts facts;
    bool shown = true;
};

std::string efficiency_text(double share);  // "50 %", "23.5 %"
// "block 0 · warp 0 · line 7"
std::string place_of(const CoalesceScene& scene, const Snapshot& snapshot);
// One sentence on the request, and what the pinned pattern has instead.
std::string caption_of(const CoalesceScene& scene, const PinnedPattern& ghost);
// "lane 5 asks for 4 B at 0x7F0000000014: sector 0, word 5"
std::string lane_text(const CoalesceScene& scene, int lane);
// All of it as text; `what` names the run's request or the sandbox.
std::string facts_text(const CoalesceScene& scene, const PinnedPattern& ghost, const Session& session,
                       const std::string& what);

}  // namespace lockstep::gui
