// The arithmetic that places a tree of panels.
#include "app/gui/shell/layout.h"

#include <algorithm>
#include <span>

namespace lockstep::gui {

namespace {

using Kind = LayoutNode::Kind;
constexpr float gap = 8, strip = 32;

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
    for (const LayoutNode& node : nodes) need += least_length(node, across) + gap;
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
    const PanelShares* shares;
};

void place(const LayoutNode& node, const Rect& area, const Wanted& wanted, Arrangement& out);

std::string names_of(std::span<const LayoutNode> nodes) {
    std::string all;
    for (const LayoutNode& node : nodes) all += (all.empty() ? "" : "+") + names(node);
    return all;
}

// Shares first; whoever falls below its least length gets that, the others share the rest.
std::vector<float> lengths_by_share(const std::vector<float>& least, const std::vector<float>& shares, float left) {
    std::vector<float> lengths(least.size(), -1.0f);
    float all = 0;
    for (const float share : shares) all += share;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < least.size(); ++i) {
            if (lengths[i] >= 0 || left * shares[i] / all >= least[i]) continue;
            lengths[i] = least.size() == 1 ? left : least[i];
            left -= least[i];
            all -= shares[i];
            again = true;
            break;
        }
    }
    for (size_t i = 0; i < least.size(); ++i)
        if (lengths[i] < 0) lengths[i] = left * shares[i] / all;
    return lengths;
}

// Children side by side, with splitters between them.
void place_all(std::span<const LayoutNode> children, bool across, const Rect& area, const Wanted& wanted, Arrangement& out,
               std::string_view name = {}) {
    const float room = (across ? area.w : area.h) - gap * (static_cast<float>(children.size()) - 1);
    std::vector<float> least, shares;
    for (const LayoutNode& child : children) {
        least.push_back(least_length(child, across));
        shares.push_back(child.share);
    }
    // Rows of one name share their splitters: a lesson's text is as wide beside every scene.
    const std::string id = (across ? "row " : "column ") + (name.empty() ? names_of(children) : std::string(name));
    if (wanted.shares != nullptr)
        if (const auto chosen = wanted.shares->find(id);
            chosen != wanted.shares->end() && chosen->second.size() == children.size())
            for (size_t i = 0; i < children.size(); ++i) shares[i] = static_cast<float>(chosen->second[i]);
    const std::vector<float> lengths = lengths_by_share(least, shares, room);
    float at = across ? area.x : area.y;
    for (size_t i = 0; i < children.size(); ++i) {
        const float length = lengths[i];
        place(children[i], across ? Rect{at, area.y, length, area.h} : Rect{area.x, at, area.w, length}, wanted, out);
        at += length + gap;
        if (i + 1 < children.size())
            out.splitters.push_back({id, i, across,
                                     across ? Rect{at - gap, area.y, gap, area.h} : Rect{area.x, at - gap, area.w, gap},
                                     lengths, least});
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
        return place_all(children, across, area, wanted, out, node.title);
    if (node.scrolls && !across) {
        const auto page = static_cast<int>(out.scrolled.size());
        out.scrolled.push_back({names(node), area, length_of(children, false)});
        const size_t before = out.panels.size(), splitters = out.splitters.size();
        constexpr float bar = 8;
        place_all(children, false, {area.x, area.y, area.w - bar, out.scrolled.back().height}, wanted, out, node.title);
        for (size_t i = before; i < out.panels.size(); ++i) out.panels[i].page = page;
        out.splitters.resize(splitters);  // each has its least height: there is nothing to give
        return;
    }
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
        // Where what stands alone on a page would become pages too: one strip for both, not strip under strip.
        const LayoutNode& only = page.front();
        const bool row = only.kind == Kind::row, turns = row || only.kind == Kind::column;
        const float within = (row ? area.w : area.h - strip) + 0.5f;
        if (page.size() == 1 && turns && row != across && (row || !only.children.back().stays) &&
            length_of(only.children, row) > within)
            for (const auto& inner : fitting(only.children, row, within))
                pages.push_back({inner.size() == 1
                                     ? inner.front()
                                     : LayoutNode{only.kind, {}, only.share, 0, 0, {inner.begin(), inner.end()}}});
        else
            pages.emplace_back(page.begin(), page.end());
    }
    TabStrip tabs{names(node), {area.x, area.y, area.w, strip - 4}, {}, 0, false};
    // Pages of a page of its own join the strip: one for both, not strip under strip.
    std::vector<std::vector<LayoutNode>> all;
    for (auto& page : pages) {
        const bool joins = page.size() == 1 && page.front().kind == Kind::pages && tabs.inner.empty();
        if (!joins) {
            std::string title;
            for (const LayoutNode& child : page) title += (title.empty() ? "" : "+") + names(child);
            tabs.titles.push_back(title);
            all.push_back(std::move(page));
            continue;
        }
        tabs.inner = names(page.front());
        tabs.inner_begin = static_cast<int>(all.size());
        tabs.inner_count = static_cast<int>(page.front().children.size());
        for (const LayoutNode& child : page.front().children) tabs.titles.emplace_back(child.title), all.push_back({child});
    }
    pages = std::move(all);
    int page_open = wanted.chosen(tabs.id);
    if (page_open < 0 && !across)  // of rows: the one that the scene is about
        for (size_t i = 0; i < pages.size(); ++i)
            for (const LayoutNode& child : pages[i])
                if (holds(child, wanted.main)) page_open = static_cast<int>(i);
    tabs.selected = std::clamp(page_open, 0, static_cast<int>(pages.size()) - 1);
    const auto inside = [&](int page) { return page >= tabs.inner_begin && page < tabs.inner_begin + tabs.inner_count; };
    if (!tabs.inner.empty() && inside(tabs.selected))  // as they are turned where they have a strip of their own
        if (const int turned_to = wanted.chosen(tabs.inner); turned_to >= 0)
            tabs.selected = tabs.inner_begin + std::min(turned_to, tabs.inner_count - 1);
    out.tabs.push_back(tabs);
    std::vector<LayoutNode> together = pages[static_cast<size_t>(tabs.selected)];
    if (turned.size() < children.size()) together.push_back(children.back());
    place_all(together, across, {area.x, area.y + strip, area.w, area.h - strip}, wanted, out);
}

}  // namespace

std::string pages_id(const LayoutNode& node) {
    if (node.kind == Kind::pages) return names(node);
    for (const LayoutNode& child : node.children)
        if (const std::string found = pages_id(child); !found.empty()) return found;
    return {};
}

std::string root_id(const LayoutNode& root) {
    return names(root);
}

Arrangement arrange(const LayoutNode& root, const Rect& area, const std::function<int(const std::string&)>& chosen,
                    std::string_view main, const PanelShares* shares) {
    Arrangement out;
    place(root, area, {chosen, main, shares}, out);
    return out;
}

std::vector<double> moved_shares(const Splitter& splitter, float by) {
    std::vector<float> lengths = splitter.lengths;
    const size_t before = splitter.index, behind = splitter.index + 1;
    if (behind >= lengths.size()) return {};
    // Neighbours further on give way once the nearest has its least.
    const auto spare = [&](size_t i) { return std::max(0.0f, lengths[i] - splitter.least[i]); };
    float wanted = std::abs(by), taken = 0;
    if (by > 0) {
        for (size_t i = behind; i < lengths.size() && taken < wanted; ++i) {
            const float part = std::min(spare(i), wanted - taken);
            lengths[i] -= part, taken += part;
        }
        lengths[before] += taken;
    } else {
        for (size_t i = before + 1; i-- > 0 && taken < wanted;) {
            const float part = std::min(spare(i), wanted - taken);
            lengths[i] -= part, taken += part;
        }
        lengths[behind] += taken;
    }
    float all = 0;
    for (const float length : lengths) all += length;
    std::vector<double> shares;
    for (const float length : lengths) shares.push_back(static_cast<double>(length / all));
    return shares;
}

}  // namespace lockstep::gui
