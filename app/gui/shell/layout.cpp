// The workspaces' trees, written out, and the arithmetic that places them.
#include "app/gui/shell/layout.h"

#include <algorithm>
#include <span>

namespace lockstep::gui {

namespace {

using Kind = LayoutNode::Kind;
constexpr float gap = 8, strip = 32;

LayoutNode slot(std::string_view view, float share, float least_w, float least_h) {
    return {Kind::slot, view, share, least_w, least_h, {}, {}};
}
LayoutNode row(float share, std::vector<LayoutNode> children) {
    return {Kind::row, {}, share, 0, 0, std::move(children), {}};
}
LayoutNode column(float share, std::vector<LayoutNode> children) {
    return {Kind::column, {}, share, 0, 0, std::move(children), {}};
}
LayoutNode pages(float share, std::vector<LayoutNode> children) {
    return {Kind::pages, {}, share, 0, 0, std::move(children), {}};
}
LayoutNode titled(std::string_view title, LayoutNode node) {
    node.title = title;
    return node;
}

LayoutNode staying(LayoutNode node) {
    node.stays = true;
    return node;
}

// The least size below which a node cannot be drawn; tabs make it the largest child's.
Point least(const LayoutNode& node) {
    if (node.kind == Kind::slot) return {node.least_w, node.least_h};
    Point most;
    for (const LayoutNode& child : node.children) {
        const Point size = least(child);
        most = {std::max(most.x, size.x), std::max(most.y, size.y)};
    }
    if (node.kind == Kind::pages) most.y += strip;
    return most;
}

std::string names(const LayoutNode& node) {
    if (node.kind == Kind::slot) return std::string(node.view);
    std::string all;
    for (const LayoutNode& child : node.children) all += (all.empty() ? "" : "+") + names(child);
    return all;
}

float least_length(const LayoutNode& node, bool across) {
    const Point size = least(node);
    return across ? size.x : size.y;
}

bool holds(const LayoutNode& node, std::string_view view) {
    return node.kind == Kind::slot ? !view.empty() && node.view == view
                                   : std::any_of(node.children.begin(), node.children.end(),
                                                 [&](const LayoutNode& child) { return holds(child, view); });
}

float length_of(std::span<const LayoutNode> nodes, bool across) {  // side by side
    float need = -gap;
    for (const LayoutNode& one : nodes) need += least_length(one, across) + gap;
    return need;
}

// Neighbours in groups, as many together as fit.
std::vector<std::span<const LayoutNode>> fitting(std::span<const LayoutNode> nodes, bool across, float room) {
    std::vector<std::span<const LayoutNode>> groups;
    for (size_t begin = 0; begin < nodes.size();) {
        size_t end = begin + 1;
        while (end < nodes.size() && length_of(nodes.subspan(begin, end + 1 - begin), across) <= room) ++end;
        groups.push_back(nodes.subspan(begin, end - begin));
        begin = end;
    }
    return groups;
}

// What place() is to know besides the tree.
struct Wanted {
    const std::function<int(const std::string&)>& chosen;
    std::string_view main;
};

void place(const LayoutNode& node, const Rect& area, const Wanted& wanted, Arrangement& out);

// Children side by side. Shares first; whoever falls below its least length gets that, the others share the rest.
void place_all(std::span<const LayoutNode> children, bool across, const Rect& area, const Wanted& wanted, Arrangement& out) {
    float left = (across ? area.w : area.h) - gap * (static_cast<float>(children.size()) - 1), shares = 0;
    for (const LayoutNode& child : children) shares += child.share;
    std::vector<float> lengths(children.size(), -1.0f);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < children.size(); ++i) {
            const float floor = least_length(children[i], across);
            if (lengths[i] >= 0 || left * children[i].share / shares >= floor) continue;
            lengths[i] = children.size() == 1 ? left : floor;
            left -= floor;
            shares -= children[i].share;
            again = true;
            break;
        }
    }
    float at = across ? area.x : area.y;
    for (size_t i = 0; i < children.size(); ++i) {
        const float length = lengths[i] >= 0 ? lengths[i] : left * children[i].share / shares;
        place(children[i], across ? Rect{at, area.y, length, area.h} : Rect{area.x, at, area.w, length}, wanted, out);
        at += length + gap;
    }
}

void place(const LayoutNode& node, const Rect& area, const Wanted& wanted, Arrangement& out) {
    if (node.kind == Kind::slot) {
        out.panels.push_back({node.view, area});
        return;
    }
    if (node.kind == Kind::pages) {
        TabStrip tabs{names(node), {area.x, area.y, area.w, strip - 4}, {}, 0, true};
        for (const LayoutNode& child : node.children) tabs.titles.emplace_back(child.title);
        tabs.selected = std::clamp(wanted.chosen(tabs.id), 0, static_cast<int>(node.children.size()) - 1);
        out.tabs.push_back(tabs);
        return place(node.children[static_cast<size_t>(tabs.selected)], {area.x, area.y + strip, area.w, area.h - strip},
                     wanted, out);
    }
    const bool across = node.kind == Kind::row;
    const std::span<const LayoutNode> children = node.children;
    if (length_of(children, across) <= (across ? area.w : area.h) + 0.5f)
        return place_all(children, across, area, wanted, out);
    // Pages: as many neighbours together as fit; under each of them the last child, where it stays and fits.
    float room = (across ? area.w : area.h - strip) + 0.5f;
    std::span<const LayoutNode> turned = children;
    if (children.size() > 1 && children.back().stays) {
        float tallest = 0;
        for (const LayoutNode& child : children.first(children.size() - 1))
            tallest = std::max(tallest, least_length(child, across));
        if (const float kept = least_length(children.back(), across) + gap; tallest + kept <= room)
            room -= kept, turned = children.first(children.size() - 1);
    }
    std::vector<std::vector<LayoutNode>> pages;
    for (const auto& page : fitting(turned, across, room)) {
        const LayoutNode& only = page.front();
        if (!across && page.size() == 1 && only.kind == Kind::row && length_of(only.children, true) > area.w + 0.5f)
            for (const auto& inner :
                 fitting(only.children, true, area.w + 0.5f))  // one strip for both, not strip under strip
                pages.push_back({row(only.share, {inner.begin(), inner.end()})});
        else
            pages.emplace_back(page.begin(), page.end());
    }
    TabStrip tabs{names(node), {area.x, area.y, area.w, strip - 4}, {}, 0, false};
    for (const auto& page : pages) {
        std::string title;
        for (const LayoutNode& child : page) title += (title.empty() ? "" : "+") + names(child);
        tabs.titles.push_back(title);
    }
    int page_open = wanted.chosen(tabs.id);
    if (page_open < 0 && !across)  // of rows: the one that the scene is about
        for (size_t i = 0; i < pages.size(); ++i)
            for (const LayoutNode& child : pages[i])
                if (holds(child, wanted.main)) page_open = static_cast<int>(i);
    tabs.selected = std::clamp(page_open, 0, static_cast<int>(pages.size()) - 1);
    out.tabs.push_back(tabs);
    std::vector<LayoutNode> together = pages[static_cast<size_t>(tabs.selected)];
    if (turned.size() < children.size()) together.push_back(children.back());
    place_all(together, across, {area.x, area.y + strip, area.w, area.h - strip}, wanted, out);
}

}  // namespace

LayoutNode layout_of(std::string_view workspace, std::string_view scene_view) {
    const LayoutNode lesson = slot("lesson", 432, 380, 420);
    if (workspace == "sm" && scene_view == "compare")
        return row(
            1, {slot("compare", 1056, 560, 420), column(520, {slot("code", 576, 400, 180), slot("blocks", 320, 400, 290)})});
    if (workspace == "sm" && scene_view == "occupancy")
        return row(1, {slot("warps", 1056, 560, 420),
                       column(520, {slot("occupancy", 556, 400, 400), slot("blocks", 320, 400, 290)})});
    if (workspace == "sm")
        return row(1, {slot("warps", 1056, 560, 420), column(520, {slot("code", 256, 400, 180), slot("warp", 292, 400, 250),
                                                                   slot("blocks", 320, 400, 290)})});
    if (workspace == "memory")
        return row(1, {column(912, {slot("coalesce", 456, 560, 340), slot("chart", 420, 560, 346)}),
                       column(664, {slot("roofline", 376, 440, 300), slot("banks", 500, 440, 330)})});
    if (workspace == "cluster")
        return row(1, {column(1064, {slot("pipeline", 556, 620, 440), slot("collective", 320, 620, 270)}),
                       column(512, {slot("rank_memory", 556, 400, 340),
                                    pages(320, {titled("Devices", slot("mesh", 288, 400, 260)),
                                                titled("Network", slot("network", 288, 400, 260)),
                                                titled("Walls", slot("memory_wall", 288, 400, 260))})})});
    if (workspace == "training")
        return column(
            1, {row(356, {slot("curves", 528, 380, 290), slot("batch", 536, 380, 290), slot("weights", 504, 380, 290)}),
                slot("graph", 312, 760, 290),
                staying(pages(200, {titled("Kernels", slot("kernels", 168, 640, 180)),
                                    titled("Copies and streams", slot("streams", 168, 640, 180))}))});
    if (workspace == "kernel" && scene_view == "host")
        return row(1, {column(664, {slot("editor", 636, 380, 250), slot("reports", 240, 380, 110)}),
                       column(912, {slot("streams", 470, 560, 300),
                                    row(406, {slot("code", 480, 400, 180), slot("blocks", 424, 400, 290)})})});
    if (workspace == "kernel" && scene_view.starts_with("tape")) {  // and its tensors, and its steps, where it has such
        std::vector<LayoutNode> beside;
        const bool tensors = scene_view.find("tensors") != std::string_view::npos;
        if (scene_view.find("steps") != std::string_view::npos) beside.push_back(slot("curves", 548, 370, 290));
        if (beside.empty() || !tensors) beside.push_back(slot("code", 548, 370, 180));
        if (tensors) beside.push_back(slot("weights", 548, 370, 250));
        return row(1, {column(480, {slot("editor", 600, 380, 250), slot("reports", 276, 380, 110)}),
                       column(1096, {slot("graph", 404, 760, 290), row(296, std::move(beside)),
                                     staying(slot("kernels", 180, 640, 180))})});
    }
    if (workspace == "kernel")
        return row(
            1,
            {column(664, {slot("editor", 636, 380, 250), slot("reports", 240, 380, 110)}),
             pages(912,
                   {titled("Launch and results", row(1, {slot("launch", 440, 350, 300), slot("results", 504, 350, 300)})),
                    titled("Registers and memory", column(1, {slot("watch", 330, 560, 190), slot("bytes", 330, 560, 200),
                                                              slot("divergence", 260, 640, 220)})),
                    titled("Warps and PTX", column(1, {row(360, {slot("code", 520, 400, 180), slot("stack", 424, 300, 180)}),
                                                       slot("warps", 480, 560, 300)}))})});
    if (scene_view == "warps")
        return row(1, {lesson, column(1144, {row(320, {slot("code", 640, 400, 200), slot("warp", 496, 400, 250)}),
                                             slot("warps", 556, 560, 420)})});
    if (scene_view == "blocks")
        return row(1, {lesson, column(1144, {row(440, {slot("source", 560, 400, 240), slot("blocks", 576, 400, 290)}),
                                             slot("warps", 436, 560, 420)})});
    if (scene_view == "coalesce")
        return row(1, {lesson, column(1144, {row(380, {slot("source", 560, 400, 240), slot("warp", 576, 400, 250)}),
                                             slot("coalesce", 496, 560, 340)})});
    if (scene_view == "fragments")
        return row(1,
                   {lesson, column(560, {slot("source", 876, 400, 240)}), column(584, {slot("fragments", 876, 400, 330)})});
    if (scene_view == "chart")
        return row(1, {lesson, column(1144, {row(380, {slot("source", 560, 400, 240), slot("warp", 576, 400, 250)}),
                                             slot("chart", 496, 560, 346)})});
    if (scene_view == "banks")
        return row(1, {lesson, column(1144, {row(340, {slot("source", 560, 400, 240), slot("warp", 576, 400, 250)}),
                                             slot("banks", 536, 560, 340)})});
    if (scene_view == "streams")
        return row(1, {lesson, column(1144, {row(360, {slot("program", 560, 400, 220), slot("source", 576, 400, 220)}),
                                             slot("streams", 516, 640, 376)})});
    if (scene_view == "compare")
        return row(1, {lesson, column(1144, {row(300, {slot("code", 560, 400, 180), slot("blocks", 576, 400, 290)}),
                                             slot("compare", 576, 560, 400)})});
    if (scene_view == "occupancy")
        return row(1, {lesson, column(1144, {row(504, {slot("occupancy", 640, 400, 400), slot("blocks", 496, 400, 290)}),
                                             slot("warps", 372, 560, 360)})});
    if (scene_view == "ladder")
        return row(1, {lesson, column(1144, {row(440, {slot("source", 560, 400, 240), slot("ladder", 576, 400, 290)}),
                                             slot("warps", 436, 560, 420)})});
    if (scene_view == "roofline")
        return row(1, {lesson, column(1144, {slot("roofline", 560, 560, 330),
                                             row(316, {slot("source", 560, 400, 240), slot("blocks", 576, 400, 290)})})});
    if (scene_view == "training")
        return row(1, {lesson, column(1144, {row(400, {slot("curves", 560, 380, 300), slot("batch", 576, 380, 300)}),
                                             slot("graph", 328, 760, 300), slot("kernels", 180, 640, 180)})});
    if (scene_view == "tape")  // a tensor program
        return row(1, {lesson, column(1144, {row(300, {slot("program", 560, 400, 220), slot("code", 576, 400, 200)}),
                                             slot("graph", 440, 760, 300), slot("kernels", 170, 640, 180)})});
    if (scene_view == "descent")  // a tensor program of several steps
        return row(1, {lesson, column(1144, {row(340, {slot("program", 560, 400, 220), slot("curves", 576, 380, 290)}),
                                             slot("graph", 400, 760, 300), slot("kernels", 170, 640, 180)})});
    if (scene_view == "rows")  // of many ranks
        return row(1, {lesson, column(1144, {slot("rows", 560, 560, 260)})});
    if (scene_view == "ranks")  // training on many ranks
        return row(1, {lesson, column(1144, {slot("curves", 480, 560, 300), slot("rows", 360, 560, 220)})});
    if (scene_view == "cheaper")  // training runs, and what each form costs
        return row(1, {lesson, column(1144, {slot("curves", 500, 560, 300), slot("rows", 360, 560, 240)})});
    if (scene_view == "exhibit")  // a training run, and what its model shows
        return row(1, {lesson, column(1144, {row(480, {slot("curves", 520, 380, 300), slot("batch", 616, 380, 290)}),
                                             slot("graph", 400, 760, 290)})});
    if (scene_view == "curves")  // several training runs
        return row(1, {lesson, column(1144, {slot("curves", 560, 560, 330), slot("graph", 360, 760, 300)})});
    if (scene_view == "pipeline" || scene_view == "collective" || scene_view == "rank_memory" || scene_view == "mesh" ||
        scene_view == "network")
        return row(1, {lesson, column(1144, {slot(scene_view, 580, 560, 330), slot("rows", 260, 560, 200)})});
    if (scene_view == "cluster")
        return row(
            1, {lesson, column(1144, {slot("pipeline", 520, 560, 330),
                                      row(416, {slot("collective", 660, 480, 250), slot("rank_memory", 476, 400, 300)})})});
    if (scene_view == "measured" || scene_view == "measured_ladder")
        return row(1, {lesson, column(1144, {slot(scene_view, 880, 560, 330)})});
    if (scene_view == "generations")
        return row(1, {lesson, column(1144, {slot("generations", 420, 760, 304),
                                             row(460, {slot("source", 560, 400, 240), slot("blocks", 576, 400, 290)})})});
    if (scene_view == "kernels")  // a training step, launch by launch
        return row(1, {lesson, column(1144, {slot("kernels", 340, 640, 220),
                                             row(400, {slot("curves", 560, 400, 280), slot("batch", 576, 380, 250)})})});
    if (scene_view == "graph")
        return row(1, {lesson, column(1144, {slot("graph", 440, 760, 300),
                                             row(300, {slot("code", 560, 400, 200), slot("batch", 576, 380, 300)}),
                                             slot("kernels", 180, 640, 180)})});
    const std::string_view beside = scene_view == "threads" ? "threads" : "stack";
    return row(1, {lesson, column(1144, {row(440, {slot("source", 560, 400, 240), slot(beside, 576, 400, 240)}),
                                         slot("divergence", 436, 640, 300)})});
}

std::string pages_id(std::string_view workspace) {
    const std::function<std::string(const LayoutNode&)> within = [&](const LayoutNode& node) -> std::string {
        if (node.kind == Kind::pages) return names(node);
        for (const LayoutNode& child : node.children)
            if (const std::string found = within(child); !found.empty()) return found;
        return {};
    };
    return within(layout_of(workspace, {}));
}

std::string root_id(std::string_view workspace) {
    return names(layout_of(workspace, {}));
}

Arrangement arrange(const LayoutNode& root, const Rect& area, const std::function<int(const std::string&)>& chosen,
                    std::string_view main) {
    Arrangement out;
    place(root, area, {chosen, main}, out);
    return out;
}

}  // namespace lockstep::gui
