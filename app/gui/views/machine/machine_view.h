// The pictures of the machine's zoom, one row a stop (machine_stops.cpp). A picture draws into the area below the
// breadcrumbs, panels and all; `inside` says where in it the next stop's thing stands, which is where the zoom goes.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>

#include "app/gui/view.h"
#include "app/gui/views/machine/lane/warp_scene.h"
#include "app/gui/views/machine/machine_scene.h"

namespace lockstep::gui {

struct BankFacts;

struct MachineFrame {  // what a picture draws from, for one frame
    Ui& ui;
    Session& session;
    Focus& focus;
    const Snapshot& snapshot;
    const MachineScene* scene;  // null: no kernel has run
    double clock = 0;           // cycles of the kernel, with what has passed of the last one
    double speed = 0;           // cycles a second
    bool still = false;         // on its way between two stops: nothing is pressed
    // Draws another view of the app in a part of the picture ("warp", "code").
    std::function<void(std::string_view name, const Rect& area)> show;
    KeptLanes* kept = nullptr;  // values of the focused warp's registers
    std::string told = {};      // why a jump led nowhere, for a moment: the caption

    int64_t cycle() const { return static_cast<int64_t>(clock); }
};

struct StopRow {
    Stop stop;
    std::string_view key, name;  // "gpu": --zoom; "GPU"
    double speed;                // cycles a second that suit it
    void (*draw)(const MachineFrame& frame, const Rect& area);
    Rect (*inside)(const MachineFrame& frame, const Rect& area);
    std::string (*label)(const MachineFrame& frame);              // "SM 17"
    std::string (*detail)(const MachineFrame& frame);             // "4 sub-cores"
    std::string (*sentence)(const MachineFrame& frame);           // the caption: what is on show, in words, from data
    std::string (*describe)(const MachineFrame& frame);           // the same facts as the picture, as lines of text
    float (*needs)(const MachineFrame& frame, const Rect& room);  // the least height in which nothing is left out
};
std::span<const StopRow> stop_rows();  // in the enum's order, from the farthest to the nearest
const StopRow& row_of(Stop stop);
std::optional<Stop> stop_named(std::string_view key);

// Of each stop's file.
float needs_cluster(const MachineFrame&frame, const Rect&room), needs_gpu(const MachineFrame&frame, const Rect&room);
float needs_sm(const MachineFrame&frame, const Rect&room), needs_sub_core(const MachineFrame&frame, const Rect&room);
float needs_warp(const MachineFrame&frame, const Rect&room), needs_lane(const MachineFrame&frame, const Rect&room);
void draw_cluster(const MachineFrame& frame, const Rect& area);
Rect inside_cluster(const MachineFrame& frame, const Rect& area);
std::string cluster_sentence(const MachineFrame&frame), cluster_described(const MachineFrame&frame);
std::string cluster_label(const MachineFrame&frame), cluster_detail(const MachineFrame&frame);
void draw_node(const MachineFrame& frame, const Rect& area);
Rect inside_node(const MachineFrame& frame, const Rect& area);
std::string node_sentence(const MachineFrame&frame), node_described(const MachineFrame&frame);
std::string node_label(const MachineFrame&frame), node_detail(const MachineFrame&frame);
void draw_gpu(const MachineFrame& frame, const Rect& area);
Rect inside_gpu(const MachineFrame& frame, const Rect& area);
std::string gpu_sentence(const MachineFrame&frame), gpu_described(const MachineFrame&frame);
void draw_machine_sm(const MachineFrame& frame, const Rect& area);
Rect inside_sm(const MachineFrame& frame, const Rect& area);
std::string sm_sentence(const MachineFrame&frame), sm_described(const MachineFrame&frame);
void draw_sub_core(const MachineFrame& frame, const Rect& area);
Rect inside_sub_core(const MachineFrame& frame, const Rect& area);
std::string sub_core_sentence(const MachineFrame&frame), sub_core_described(const MachineFrame&frame);
void draw_machine_warp(const MachineFrame& frame, const Rect& area);
Rect inside_warp(const MachineFrame& frame, const Rect& area);
std::string warp_sentence(const MachineFrame&frame), warp_described(const MachineFrame&frame);
std::string warp_label(const MachineFrame&frame), warp_detail(const MachineFrame&frame);
void draw_lane(const MachineFrame& frame, const Rect& area);
std::string lane_sentence(const MachineFrame&frame), lane_described(const MachineFrame&frame);
std::string lane_label(const MachineFrame&frame), lane_detail(const MachineFrame&frame);

// Shared by the stops (machine_parts.cpp).
uint32_t focused_warp(const MachineFrame& frame);      // index into KernelTrace::warps; UINT32_MAX: none
uint32_t focused_sub_core(const MachineFrame& frame);  // that of the focused warp
// The picture's panel with its caption; returns the body.
Rect machine_panel(const MachineFrame& frame, const Rect& area, Stop stop, std::string_view right = {});
// Issue and memory rates over the whole launch with the cursor; drags set the clock.
void draw_time_strip(const MachineFrame& frame, const Rect& area);
// The followed request: its stations as a bar, how far it is; or what there is to follow.
void draw_followed(const MachineFrame& frame, const Rect& area);
// Lets the clock run until the followed request has arrived.
void bring_home(const MachineFrame& frame);
// Sets the clock (and the focus with it) to a cycle, and stops what plays at it.
void go_to(const MachineFrame& frame, double cycle);
void zoom_to(Session& session, Stop stop);
// How fast the clock runs at a zoom, where nobody has chosen a speed: powers of ten between the stops' own.
double speed_at(double zoom);
// What the host asks for, and the blocks that wait for an SM.
void draw_host(const MachineFrame& frame, const Rect& column);
void draw_block_queue(const MachineFrame& frame, const Rect& column);
// The chip's copy engines, and its links to other GPUs as the step above has them; the height that they take of `most`.
void draw_engines(const MachineFrame& frame, const Rect& column);
float engines_height(const MachineFrame& frame, float most);
// The colour and hatch of a block's wave; a request: load a circle, store a square, atomic a diamond, copy a triangle.
void fill_wave(Ui& ui, const Rect& box, int64_t wave, float opacity = 1);
void draw_mark(Ui& ui, Point at, RequestKind kind, bool back, float r);
// Requests of the traced SM that are on their way at the clock: indices into MachineTrace::requests.
std::vector<uint32_t> own_requests(const MachineFrame& frame);
// The memory side of an SM: L1 and shared memory, the shared memory pipe, waiting misses, the door to the crossbar.
void draw_sm_memory(const MachineFrame& frame, const std::array<Rect, 4>& boxes);
// The source with how many of the SM's warps stand at each line, and what the focused warp issues next.
void draw_warp_lines(const MachineFrame& frame, const Rect& area);
// What the focused warp's last instruction left in one lane, bit by bit; a click looks into the lane.
constexpr float lane_strip_height = 122;
void draw_lane_strip(const MachineFrame& frame, const Rect& area);
// A column a bank, as many rows as there is room for: the words that it delivers one after the other, with numbers below.
void draw_banks(Ui& ui, const Rect& area, const BankFacts& facts);
// Of the panels beside a picture: wider in a wide window, where lines of code are cut otherwise.
inline float side_width(const Rect& area) {
    return std::clamp(area.w * 0.25f, 424.0f, 640.0f);
}
// A letter in a filled box: an instruction that issues.
void letter_box(Ui& ui, const Rect& box, char letter, Color fill);

}  // namespace lockstep::gui
