// What moves on the die: instructions that its SMs issue, warps in their registers, requests on their way to L2 and memory,
// reads that wait in front of the channels, blocks that wait for an SM. All of it from the recording of the design's run.
#pragma once
#include "app/gui/views/build/die_places.h"
#include "app/gui/views/machine/machine_scene.h"

namespace lockstep::gui {

struct DieLife {
    const MachineScene* scene = nullptr;  // null: nothing is recorded
    double clock = -1;                    // cycles, with what has passed of the last one; -1: outside of the recording
    double speed = 0;                     // cycles a second; 0: it stands

    bool known() const { return scene != nullptr && clock >= 0; }
    int64_t cycle() const { return static_cast<int64_t>(clock); }
    bool single_requests() const { return known() && scene->machine != nullptr && speed <= 3000; }
};

// How much of its issue slots each sub-core of an SM used just now, and the letter of what it issued last.
struct SubCoresNow {
    float share[16] = {};
    char letter[16] = {};
    bool known = false;
};
SubCoresNow sub_cores_now(const DieLife& life, uint32_t sm);

// Resident warps of an SM: of the traced one what each does, of the others how many there are.
struct WarpsNow {
    int resident = 0;
    std::vector<char> states;  // 'i' issues, 'r' is ready, 'w' waits; empty: not known
};
WarpsNow warps_now(const DieLife& life, uint32_t sm);
void draw_warps(Ui& ui, const WarpsNow& now, int places, const Rect& box);

// Reads that wait in front of the channels that one box of the die stands for.
double waiting_at_box(const DieLife& life, const DiePlaces& places, const DieBox& box);
void draw_queue(Ui& ui, double waiting, const Rect& box);

// Where a request is on the die; nothing: in an SM's or a channel's queue, which are counted there.
struct DieMark {
    Point at;
    RequestKind kind = RequestKind::load;
    bool back = false;
    uint32_t request = 0;
};
std::vector<DieMark> marks_on_die(const DieLife& life, const DiePlaces& places);
void draw_marks(Ui& ui, const DieLife& life, const DiePlaces& places);
std::string life_text(const DieLife& life);  // the same in words, for describe()

}  // namespace lockstep::gui
