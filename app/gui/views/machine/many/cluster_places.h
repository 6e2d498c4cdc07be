// Where the nodes of a cluster stand in the machine's picture: pure geometry. Stages go to the right and replicas down; of
// one stage alone the replicas fill the picture row by row.
#pragma once
#include <algorithm>
#include <vector>

#include "app/gui/views/machine/many/cluster_step.h"

namespace lockstep::gui {

enum class TileDetail : uint8_t { texture, cells, letters, packets };  // by a tile's size on screen

struct ClusterPlaces {
    Rect all;
    int replicas = 1, stages = 1, group = 1, columns = 1;  // columns: of cells in a tile
    int wide = 0;                                          // of one stage alone: replicas a row; 0: stages go to the right
    float left = 0;                                        // of the first tile
    float top = 0;
    float pitch_x = 0, pitch_y = 0, tile_w = 0, tile_h = 0, scale = 1;
    TileDetail detail = TileDetail::packets;
    bool headed = false;  // the tile's name and what it does stand over its cells

    // By how much a tile's margins and the line of words in it grow: less than a large tile does.
    float margin() const { return std::min(scale, 1.5f); }
    Rect tile(int replica, int stage) const;
    Rect cell(int replica, int stage, int gpu) const;
    int rows() const { return wide > 0 ? (replicas + wide - 1) / wide : replicas; }
    int across() const { return wide > 0 ? std::min(wide, replicas) : stages; }
    Rect grid() const;  // all tiles
    // The tile at a point, as rank / GPUs of a stage would number it; -1: there is none.
    int replica_at(Point at) const;
    int stage_at(Point at) const;
};
ClusterPlaces place_cluster(const Rect& area, int replicas, int stages, int group);

// The lane of packets from a stage to another, door to door; `forward`: activations, above the gradients.
std::vector<Point> packet_way(const ClusterPlaces& places, int replica, int from, int to, bool gradient);
// From a replica of a ring to the next one, of a stage.
std::vector<Point> ring_way(const ClusterPlaces& places, int stage, int replica);
Point along(const std::vector<Point>& way, double share);

struct NodePlaces {
    Rect all, bar;          // bar: the switch that joins them
    std::vector<Rect> gpu;  // by number in the node
    bool above(size_t number) const { return number < (gpu.size() + 1) / 2; }
};
NodePlaces place_node(const Rect& area, int gpus);

}  // namespace lockstep::gui
