// Where the parts of a GPU stand in the machine's picture, and where a request is at a moment: pure geometry, from the GPU's
// row and the request's stations.
#pragma once
#include <vector>

#include "app/gui/views/machine/machine_scene.h"

namespace lockstep::gui {

struct GpuPlaces {
    Rect all, host, chip, crossbar;          // host, chip: no width where there is no room
    Rect bus[2];                             // left and right of the SMs
    std::vector<Rect> tile, slice, channel;  // by number
    Rect memory_side[2];                     // columns of slices and channels
    float tile_w = 0, tile_h = 0;
    int columns = 1;
    bool slice_at_left(uint32_t number) const { return number < (slice_count() + 1) / 2; }
    bool channel_at_left(uint32_t number) const { return number < (channel_count() + 1) / 2; }
    uint32_t slice_count() const { return static_cast<uint32_t>(slice.size()); }
    uint32_t channel_count() const { return static_cast<uint32_t>(channel.size()); }
};
GpuPlaces place_gpu(const Rect& area, uint32_t sms, uint32_t slices, uint32_t channels);

// The way of a request between SM and slice (or channel and back), corner by corner.
struct Route {
    std::vector<Point> points;
    float length = 0;
    Point at(float share) const;  // 0 the beginning, 1 the end
};
Route route_out(const GpuPlaces& places, const RequestRecord& request);      // SM to slice
Route route_to_dram(const GpuPlaces& places, const RequestRecord& request);  // slice to channel
Route route_back(const GpuPlaces& places, const RequestRecord& request);     // from where it was served to its SM

struct RequestPlace {
    Station station = Station::sm_queue;
    double share = 0;  // of the station's time that lies behind it
    Point at;
    bool moves = false;  // on a way: else it stands at a part
    bool comes_back = false;
};
RequestPlace place_of(const GpuPlaces& places, const MachineTrace& machine, const RequestRecord& request, double cycle);

}  // namespace lockstep::gui
