// The trees along which a collective goes, read from its messages, and their picture: the root on top, a level a hop, the
// chunks under way on their edges. A buffer's two halves may go through a tree each.
#pragma once
#include <functional>
#include <vector>

#include "app/gui/view.h"
#include "app/gui/views/collective/collective_data.h"

namespace lockstep::gui {

struct RankTree {
    std::vector<int> parent, depth;  // by member; the root's parent is -1
    std::vector<float> across;       // by member: where it stands, 0 to 1
    int levels = 0;                  // one more than the deepest rank's depth
    int first_chunk = 0, chunks = 0;
    int root() const;
    int leaves() const;
};
// Empty: its messages do not go along trees.
std::vector<RankTree> trees_of(const scene::CollectiveShown& shown);
std::string trees_words(const scene::CollectiveShown& shown, const std::vector<RankTree>& trees);

struct MessageUnderWay {
    const comm::Transfer* message;
    float share;  // of its way
};
// `handle` is called for every cable with its sender, its receiver and a place in its middle.
void draw_rank_trees(Ui& ui, const scene::CollectiveShown& shown, const std::vector<RankTree>& trees,
                     const std::vector<MessageUnderWay>& moving, Focus& focus, const Rect& area,
                     const std::function<void(int, int, const Rect&)>& handle);

}  // namespace lockstep::gui
