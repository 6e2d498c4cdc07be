// The workspaces' trees, written out, and the arithmetic that places them.
#include "app/gui/layout.h"

#include <algorithm>

namespace lockstep::gui {

namespace {

using Kind = LayoutNode::Kind;
constexpr float gap = 8, strip = 32;

LayoutNode slot(std::string_view view, float share, float least_w, float least_h) {
    return {Kind::slot, view, share, least_w, least_h, {}};
}
LayoutNode row(float share, std::vector<LayoutNode> children) {
    return {Kind::row, {}, share, 0, 0, std::move(children)};
}
LayoutNode column(float share, std::vector<LayoutNode> children) {
    return {Kind::column, {}, share, 0, 0, std::move(children)};
}

// The least size below which a node cannot be drawn; tabs make it the largest child's.
Point least(const LayoutNode& node) {
    if (node.kind == Kind::slot) return {node.least_w, node.least_h};
    Point most;
    for (const LayoutNode& child : node.children) {
        const Point size = least(child);
        most = {std::max(most.x, size.x), std::max(most.y, size.y)};
    }
    return most;
}

std::string names(const LayoutNode& node) {
    if (node.kind == Kind::slot) return std::string(node.view);
    std::string all;
    for (const LayoutNode& child : node.children) all += (all.empty() ? "" : "+") + names(child);
    return all;
}

void place(const LayoutNode& node, const Rect& area, const std::function<int(const std::string&)>& chosen,
           Arrangement& out) {
    if (node.kind == Kind::slot) {
        out.panels.push_back({node.view, area});
        return;
    }
    const bool across = node.kind == Kind::row;
    const auto count = static_cast<float>(node.children.size());
    const float room = (across ? area.w : area.h) - gap * (count - 1);
    float shares = 0, need = 0;
    for (const LayoutNode& child : node.children) {
        shares += child.share;
        const Point size = least(child);
        need += across ? size.x : size.y;
    }
    if (need > room + 0.5f) {
        TabStrip tabs{names(node), {area.x, area.y, area.w, strip - 4}, {}, 0};
        for (const LayoutNode& child : node.children) tabs.titles.push_back(names(child));
        tabs.selected = std::clamp(chosen(tabs.id), 0, static_cast<int>(node.children.size()) - 1);
        const LayoutNode& shown = node.children[static_cast<size_t>(tabs.selected)];
        out.tabs.push_back(tabs);
        return place(shown, {area.x, area.y + strip, area.w, area.h - strip}, chosen, out);
    }
    // Shares first; whoever falls below its least size gets that, the others share the rest.
    std::vector<float> lengths(node.children.size(), -1.0f);
    float left = room, left_shares = shares;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < node.children.size(); ++i) {
            const Point size = least(node.children[i]);
            const float floor = across ? size.x : size.y;
            if (lengths[i] >= 0 || left * node.children[i].share / left_shares >= floor) continue;
            lengths[i] = floor;
            left -= floor;
            left_shares -= node.children[i].share;
            again = true;
            break;
        }
    }
    float at = across ? area.x : area.y;
    for (size_t i = 0; i < node.children.size(); ++i) {
        const float length = lengths[i] >= 0 ? lengths[i] : left * node.children[i].share / left_shares;
        place(node.children[i], across ? Rect{at, area.y, length, area.h} : Rect{area.x, at, area.w, length}, chosen, out);
        at += length + gap;
    }
}

}  // namespace

LayoutNode layout_of(std::string_view workspace, std::string_view scene_view) {
    const LayoutNode lesson = slot("lesson", 432, 380, 420);
    if (workspace == "sm")
        return row(1, {slot("warps", 1056, 560, 420), column(520, {slot("code", 256, 400, 180), slot("warp", 292, 400, 250),
                                                                   slot("blocks", 320, 400, 290)})});
    if (workspace == "training")
        return column(
            1, {row(372, {slot("curves", 528, 380, 300), slot("batch", 536, 380, 300), slot("weights", 504, 380, 300)}),
                slot("graph", 328, 760, 300), slot("kernels", 168, 640, 160)});
    if (scene_view == "warps")
        return row(1, {lesson, column(1144, {row(320, {slot("code", 560, 400, 200), slot("warp", 576, 400, 250)}),
                                             slot("warps", 556, 560, 420)})});
    if (scene_view == "blocks")
        return row(1, {lesson, column(1144, {row(440, {slot("source", 560, 400, 240), slot("blocks", 576, 400, 290)}),
                                             slot("warps", 436, 560, 420)})});
    if (scene_view == "training")
        return row(1, {lesson, column(1144, {row(400, {slot("curves", 560, 380, 300), slot("batch", 576, 380, 300)}),
                                             slot("graph", 328, 760, 300), slot("kernels", 168, 640, 160)})});
    if (scene_view == "graph")
        return row(1, {lesson, column(1144, {slot("graph", 440, 760, 300),
                                             row(300, {slot("code", 560, 400, 200), slot("batch", 576, 380, 300)}),
                                             slot("kernels", 168, 640, 160)})});
    return row(1, {lesson, column(1144, {row(440, {slot("source", 560, 400, 240), slot("stack", 576, 400, 240)}),
                                         slot("divergence", 436, 640, 300)})});
}

Arrangement arrange(const LayoutNode& root, const Rect& area, const std::function<int(const std::string&)>& chosen) {
    Arrangement out;
    place(root, area, chosen, out);
    return out;
}

}  // namespace lockstep::gui
