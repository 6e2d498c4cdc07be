// What the autograd graph's parts show at one moment of the tape, and the parts' drawing: boxes, wires, the product on an
// edge, the curve of live bytes. graph.cpp puts them together.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "app/gui/session.h"
#include "app/gui/views/training/tape_data.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

inline constexpr float box_with_numbers = 84;             // a box that is narrower has its name alone
inline constexpr std::string_view loop_place = "place ";  // how the boxes of a loop's rounds begin

struct GraphScene {
    const nn::StepRecord& step;
    const TapePlan& tape;
    const GraphPlan& plan;
    int moment = 0;
    bool hidden = false;                     // a prediction is open: nothing but what was told before it
    const nn::Followed* followed = nullptr;  // null: root mean squares are shown
    RootMeanSquares* squares = nullptr;      // of this step; null: each is computed anew

    double square_of(const std::vector<float>& values) const {
        return squares ? squares->of(values) : root_mean_square(values);
    }

    const nn::GraphNode& node(int id) const { return step.nodes[static_cast<size_t>(id)]; }
    const nn::GraphNode& shown(const GraphBox& box) const { return node(box.shown); }
    int current() const { return moment >= 0 && !hidden ? tape.moments[static_cast<size_t>(moment)].node : -1; }
    bool goes_back() const {
        return moment >= 0 && !hidden && tape.moments[static_cast<size_t>(moment)].kind == Moment::Kind::backward;
    }
    bool value_known(const nn::GraphNode& of) const { return tape.value_known(of.id, moment); }
    bool gradient_known(const nn::GraphNode& of) const { return tape.gradient_known(of.id, moment); }
    bool went_back() const {  // any node: else no box has a gradient to tell
        return std::any_of(step.nodes.begin(), step.nodes.end(), [](const nn::GraphNode& n) { return n.went_back; });
    }
    bool tells_gradients() const {  // or may once one arrives
        if (!went_back()) return false;
        return !hidden || (moment >= 0 && tape.moments[static_cast<size_t>(moment)].kind != Moment::Kind::forward);
    }
    bool pinned(const nn::GraphNode& of) const {
        return !hidden && !of.saved.empty() && value_known(of) && !tape.freed(of.id, moment);
    }
    int launch() const { return moment >= 0 ? tape.moments[static_cast<size_t>(moment)].launch : -1; }
};

std::string value_text(const GraphScene& scene, const nn::GraphNode& node);     // "+0.7002", "not yet", "rms 0.31"
std::string gradient_text(const GraphScene& scene, const nn::GraphNode& node);  // "+0.0024", "1 of 2: +0.2857"
// "W[17,519]"; the followed element of a node, by its name.
std::string element_name(const GraphScene& scene, int node);
// The edges over which the node that runs back passes its gradient, and of them the one to show.
std::vector<const nn::Passing*> edges_now(const GraphScene& scene);

void draw_box(Ui& ui, const GraphScene& scene, const GraphBox& box, const Rect& at, bool words);
void draw_pin(Ui& ui, const GraphScene& scene, const GraphBox& box, const Rect& at, float room);
// `taken`: where numbers stand already; null: none are written.
void draw_wire(Ui& ui, const GraphScene& scene, const GraphWire& wire, const Rect& from, const Rect& to, float lane,
               std::vector<Rect>* taken);
// "local derivative x upstream = product", with its top left at (x, y) or further right beside `target`; 44 high. Returns
// the right end.
float draw_product(Ui& ui, const GraphScene& scene, const nn::Passing& edge, float x, float y, float right,
                   const Rect* target);
// Bytes that live on the device behind each launch. The launch whose bar is clicked, or -1.
int draw_live_bytes(Ui& ui, const GraphScene& scene, const Rect& area);

}  // namespace lockstep::gui
