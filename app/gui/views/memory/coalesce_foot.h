// The foot of D3: the run's instructions that touch global memory, a row each, and sectors a request by stride, a bar each.
#pragma once
#include <array>
#include <optional>

#include "app/gui/views/memory/coalesce_scene.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

class CoalesceFoot {
  public:
    struct Clicked {
        int row = -1;                         // of the table
        std::optional<StrideChoice> sandbox;  // a bar: the sandbox opens with it
    };

    // Of the room below the controls; 0: there is none. `ghost`: the pinned pattern is wanted.
    static float height(const CoalesceScene& scene, float room, bool ghost);
    // Once a frame, before draw(): while a lesson still asks, the bars do not tell what nobody has looked at.
    void note_seen(const Session& session, const CoalesceScene& scene, const StrideChoice& choice);
    Clicked draw(Ui& ui, const Session& session, const Snapshot& snapshot, const CoalesceScene& scene,
                 const StrideChoice& choice, const Rect& area);

  private:
    static constexpr std::array<int, 7> sweep = {1, 2, 4, 8, 16, 32, 0};  // 0: random
    std::array<bool, sweep.size()> seen_ = {true};  // strides whose sectors were on show; the first is the ghost's
    bool asks_ = false;                             // questions of the lesson are open: only those get a bar
    int seen_row_ = -1;                             // the row that the table was scrolled to, and its height then
    float seen_table_ = 0;

    int draw_table(Ui& ui, const Session& session, const Snapshot& snapshot, const CoalesceScene& scene, const Rect& r);
    std::optional<StrideChoice> draw_bars(Ui& ui, const CoalesceScene& scene, const StrideChoice& chosen,
                                          const Rect& r) const;
};

}  // namespace lockstep::gui
