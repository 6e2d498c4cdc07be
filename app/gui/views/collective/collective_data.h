// What D10 draws, worked out from the messages of a collective: which ranks' contributions have arrived where by a time.
#pragma once
#include <string>
#include <vector>

#include "app/gui/views/cluster/cluster_data.h"

namespace lockstep::gui {

struct ChunkState {
    uint64_t here = 0, coming = 0;  // one bit a rank whose contribution is in, or under way
};

class CollectiveBoard {
  public:
    void adopt(const scene::CollectiveShown& shown);  // works out what every message carries
    // By rank, then chunk.
    std::vector<ChunkState> at(double time) const;
    const std::vector<std::pair<int, int>>& links() const { return links_; }  // from, to: those that are used
    uint64_t complete() const { return complete_; }  // all bits of a finished chunk; 0: chunks are not summed
    bool summed() const { return complete_ != 0; }   // else chunks are handed on as they are
    int round_at(double time) const;                 // rounds begun, from 1; 0: none yet
    const scene::CollectiveShown* shown() const { return shown_; }

  private:
    const scene::CollectiveShown* shown_ = nullptr;
    std::vector<uint64_t> start_, carried_;
    std::vector<size_t> carried_at_;  // by message
    std::vector<std::pair<int, int>> links_;
    uint64_t complete_ = 0;
};

std::string chunk_name(int chunk, int chunks);  // "a", or its number where there are many
std::string collective_title(const scene::CollectiveShown& shown);
std::string collective_caption(const scene::ClusterScene& scene);
std::string collective_formula(const scene::CollectiveShown& shown);  // of a ring: "2(N-1)/N · S"; empty: there is none
double collective_time(const Session& session, const scene::ClusterScene& scene);  // the clock, microseconds
// What the run came to, in one line: "A tree: all 8 ranks have the 400 MB after 2.67 ms, in 3 steps".
std::string collective_headline(const CollectiveBoard& board);

// How a message is drawn. Where nothing is added up on its way the colour is the piece, or of a buffer that is handed on
// whole the step, and the name says it again.
struct MessageLook {
    Color fill;
    std::string name;
};
enum class MessageCode { by_sum, by_piece, by_step };
MessageCode message_code(const scene::CollectiveShown& shown);
MessageLook message_look(const scene::CollectiveShown& shown, const comm::Transfer& message);
Color piece_color(int piece, int pieces);  // from light to dark, the first to the last
Color step_color(int step);                // from 0

}  // namespace lockstep::gui
