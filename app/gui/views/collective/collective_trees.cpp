// Read in this order: trees_of(), which finds every rank's parent and where it stands; then the picture.
#include "app/gui/views/collective/collective_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/comm/collectives/collectives.h"

namespace lockstep::gui {
namespace {

// Leaves stand side by side, a parent between its first and its last child; children in the order of their numbers, with
// their parent's place among them where it has a number between theirs.
void place(RankTree& tree, int rank, int& next) {
    std::vector<int> below;
    for (size_t i = 0; i < tree.parent.size(); ++i)
        if (tree.parent[i] == rank) below.push_back(static_cast<int>(i));
    if (below.empty()) {
        tree.across[static_cast<size_t>(rank)] = static_cast<float>(next++);
        return;
    }
    for (const int one : below) {
        tree.depth[static_cast<size_t>(one)] = tree.depth[static_cast<size_t>(rank)] + 1;
        place(tree, one, next);
    }
    tree.across[static_cast<size_t>(rank)] =
        (tree.across[static_cast<size_t>(below.front())] + tree.across[static_cast<size_t>(below.back())]) / 2;
}

// False: some rank has two parents, or there is not one root from which all are reached.
bool find_tree(const scene::CollectiveShown& shown, RankTree& tree) {
    const auto ranks = static_cast<size_t>(shown.ranks());
    tree.parent.assign(ranks, -1);
    tree.depth.assign(ranks, 0);
    tree.across.assign(ranks, 0);
    const auto of_tree = [&](const comm::Transfer& message) {
        return message.chunk >= tree.first_chunk && message.chunk < tree.first_chunk + tree.chunks;
    };
    const bool adds = std::any_of(shown.messages.begin(), shown.messages.end(),
                                  [&](const comm::Transfer& message) { return message.reduce && of_tree(message); });
    for (const comm::Transfer& message : shown.messages) {
        if (!of_tree(message) || message.reduce != adds) continue;
        const int child = adds ? message.from : message.to, parent = adds ? message.to : message.from;
        int& known = tree.parent[static_cast<size_t>(child)];
        if (known >= 0 && known != parent) return false;
        known = parent;
    }
    if (std::count(tree.parent.begin(), tree.parent.end(), -1) != 1) return false;
    // What is handed down has to take the same ways.
    for (const comm::Transfer& message : shown.messages)
        if (of_tree(message) && !message.reduce && tree.parent[static_cast<size_t>(message.to)] != message.from)
            return false;
    for (size_t i = 0; i < ranks; ++i) {
        size_t steps = 0;
        for (int at = static_cast<int>(i); at >= 0; at = tree.parent[static_cast<size_t>(at)])
            if (++steps > ranks) return false;
    }
    int leaves = 0;
    place(tree, tree.root(), leaves);
    for (float& x : tree.across) x = leaves > 1 ? x / static_cast<float>(leaves - 1) : 0.5f;
    tree.levels = *std::max_element(tree.depth.begin(), tree.depth.end()) + 1;
    return tree.levels <= shown.ranks() / 2 + 1;  // a chain is no tree
}

struct TreePlace {
    const RankTree& tree;
    Rect area;
    float half_w, half_h;

    Point at(int rank) const {
        const auto i = static_cast<size_t>(rank);
        const float inner_w = area.w - 2 * half_w - 4, inner_h = area.h - 2 * half_h - 2;
        return {area.x + half_w + 2 + inner_w * tree.across[i],
                area.y + half_h + 1 +
                    inner_h * static_cast<float>(tree.depth[i]) / static_cast<float>(std::max(1, tree.levels - 1))};
    }
    // Beside the straight line, so that up and down differ.
    Point way(int from, int to, float share) const {
        const Point a = at(from), b = at(to);
        const float length = std::max(1.0f, std::hypot(b.x - a.x, b.y - a.y));
        const float edge = std::min(0.4f, (half_h + 3) / std::max(1.0f, std::abs(b.y - a.y)));
        const float t = edge + (1 - 2 * edge) * share, dx = (b.x - a.x) / length, dy = (b.y - a.y) / length;
        return {a.x + (b.x - a.x) * t - dy * 3.5f, a.y + (b.y - a.y) * t + dx * 3.5f};
    }
};

void draw_edge(Ui& ui, const TreePlace& place, int from, int to, bool active, bool adds) {
    const Color color = active ? adds ? data::green : data::blue : ui.theme->ink3;
    const Point ends[] = {place.way(from, to, 0), place.way(from, to, 1)};
    ui.polyline(ends, color, active ? 2.0f : 1.0f);
    const float length = std::max(0.5f, std::hypot(ends[1].x - ends[0].x, ends[1].y - ends[0].y)),
                dx = (ends[1].x - ends[0].x) / length, dy = (ends[1].y - ends[0].y) / length, s = active ? 4.5f : 3.5f;
    ui.polygon({{ends[1].x + dx * s, ends[1].y + dy * s},
                {ends[1].x - dx * s - dy * s, ends[1].y - dy * s + dx * s},
                {ends[1].x - dx * s + dy * s, ends[1].y - dy * s - dx * s}},
               color);
}

void draw_tree(Ui& ui, const scene::CollectiveShown& shown, const RankTree& tree, const std::vector<MessageUnderWay>& moving,
               Focus& focus, const Rect& area, const std::function<void(int, int, const Rect&)>& handle) {
    const Theme& theme = *ui.theme;
    const auto leaves = static_cast<float>(std::max(1, tree.leaves()));
    const TreePlace place{tree, area, std::clamp(area.w / leaves / 2 - 3, 4.0f, 15.0f), 9.5f};
    const auto mine = [&](const comm::Transfer& message) {
        return message.chunk >= tree.first_chunk && message.chunk < tree.first_chunk + tree.chunks;
    };
    bool up = false, down = false;  // both, or one alone, as of a broadcast
    for (const comm::Transfer& message : shown.messages) (message.reduce ? up : down) = true;
    for (size_t i = 0; i < tree.parent.size(); ++i) {
        if (tree.parent[i] < 0) continue;
        const auto rank = static_cast<int>(i);
        for (const bool rises : {true, false}) {
            if (rises ? !up : !down) continue;
            const int from = rises ? rank : tree.parent[i], to = rises ? tree.parent[i] : rank;
            const bool active = std::any_of(moving.begin(), moving.end(), [&](const MessageUnderWay& one) {
                return one.message->from == from && one.message->to == to && mine(*one.message);
            });
            draw_edge(ui, place, from, to, active, rises);
            const Point middle = place.way(from, to, 0.5f);
            handle(from, to, {middle.x - 5, middle.y - 7, 10, 14});
        }
    }
    for (size_t i = 0; i < tree.parent.size(); ++i) {
        const Point p = place.at(static_cast<int>(i));
        const int number = shown.rank_of(static_cast<int>(i));
        const bool is_late = static_cast<int>(i) == shown.late_rank, picked = number == focus.rank;
        const Rect box{p.x - place.half_w, p.y - place.half_h, 2 * place.half_w, 2 * place.half_h};
        ui.rect(box, tree.parent[i] < 0 ? theme.selected : theme.panel2, 4);
        ui.frame(box,
                 is_late                        ? data::vermillion
                 : picked || tree.parent[i] < 0 ? theme.ink
                                                : theme.line,
                 is_late || picked ? 2.0f : 1.0f, 4);
        const std::string name = std::to_string(number);
        if (ui.text_width(name, {.size = 13}) <= box.w - 2)
            ui.text(p.x, p.y + 4.5f, name, {.size = 13, .align = Align::center, .weight = picked ? 600 : 400});
        if (ui.hovered(box))
            ui.tooltip(fmt::format("rank {}: {}{}", number,
                                   tree.parent[i] < 0 ? std::string("the root")
                                                      : fmt::format("{} below the root", counted(tree.depth[i], "hop")),
                                   is_late ? ", late" : ""));
        if (ui.clicked(box)) focus.rank = number;
    }
    std::vector<Rect> taken;  // by what is written
    for (size_t i = 0; i < tree.parent.size(); ++i) {
        const Point p = place.at(static_cast<int>(i));
        taken.push_back({p.x - place.half_w, p.y - place.half_h, 2 * place.half_w, 2 * place.half_h});
    }
    for (const MessageUnderWay& one : moving) {
        if (!mine(*one.message)) continue;
        const Point p = place.way(one.message->from, one.message->to, std::clamp(one.share, 0.15f, 0.85f));
        const auto [color, name] = message_look(shown, *one.message);
        const float half = std::min(9.0f, std::max(6.0f, place.half_w));
        const Rect box{p.x - half, p.y - 7, 2 * half, 14};
        const bool is_free = std::none_of(taken.begin(), taken.end(), [&](const Rect& other) {
            return box.x < other.right() && other.x < box.right() && box.y < other.bottom() && other.y < box.bottom();
        });
        if (!is_free) {  // no room for its number: a mark
            const Rect mark{p.x - 2, p.y - 2, 4, 4};
            ui.rect(mark, color);
            continue;
        }
        taken.push_back(box);
        ui.rect(box, color);
        ui.frame(box, theme.panel, 1);
        if (ui.text_width(name, {.size = 12, .weight = 600}) <= box.w)
            ui.text(p.x, p.y + 4.5f, name, {.size = 12, .color = text_on(color), .align = Align::center, .weight = 600});
    }
}

}  // namespace

int RankTree::root() const {
    return static_cast<int>(std::find(parent.begin(), parent.end(), -1) - parent.begin());
}
int RankTree::leaves() const {
    int count = 0;
    for (size_t i = 0; i < parent.size(); ++i)
        count += std::find(parent.begin(), parent.end(), static_cast<int>(i)) == parent.end();
    return count;
}

std::vector<RankTree> trees_of(const scene::CollectiveShown& shown) {
    const int chunks = shown.chunks();
    if (shown.ranks() < 3 || shown.messages.empty()) return {};
    RankTree one{.first_chunk = 0, .chunks = std::max(1, chunks)};
    if (find_tree(shown, one)) return {one};
    if (chunks < 2 || chunks % 2 != 0) return {};
    RankTree first{.first_chunk = 0, .chunks = chunks / 2}, second{.first_chunk = chunks / 2, .chunks = chunks / 2};
    if (!find_tree(shown, first) || !find_tree(shown, second)) return {};
    return {first, second};
}

std::string trees_words(const scene::CollectiveShown& shown, const std::vector<RankTree>& trees) {
    if (trees.empty()) return {};
    std::string text =
        trees.size() == 1 ? std::string("one tree") : fmt::format("{} trees, half of the buffer each", trees.size());
    for (const RankTree& tree : trees)
        text += fmt::format("; root {}, {} hops, {} leaves", shown.rank_of(tree.root()), tree.levels - 1, tree.leaves());
    return text;
}

void draw_rank_trees(Ui& ui, const scene::CollectiveShown& shown, const std::vector<RankTree>& trees,
                     const std::vector<MessageUnderWay>& moving, Focus& focus, const Rect& area,
                     const std::function<void(int, int, const Rect&)>& handle) {
    static constexpr std::string_view names[] = {"First tree", "Second tree"};
    const float gap = 12, head = 20, least_level = 27;  // a level: a rank's box, and the way to the next
    const auto count = static_cast<float>(trees.size());
    int levels = 2;
    for (const RankTree& tree : trees) levels = std::max(levels, tree.levels);
    const float stacked = (area.h - gap * (count - 1)) / count;
    const bool beside = stacked - head < least_level * static_cast<float>(levels - 1);
    const float wide = beside ? (area.w - gap * (count - 1)) / count : area.w,
                high = std::min(230.0f, beside ? area.h : stacked);
    if (high < head + 50) return;
    Rect room{area.x, area.y, wide, high};
    for (size_t i = 0; i < trees.size(); ++i) {
        float x = room.x;
        if (trees.size() > 1) x = ui.text(x, room.y + 13, names[i % 2], {.size = 13, .weight = 600}) + 8;
        const std::string hops = fmt::format("{} hop{}", trees[i].levels - 1, trees[i].levels == 2 ? "" : "s");
        const std::string words = trees.size() > 1 && !beside ? "half of the buffer, " + hops : hops;
        ui.text(x, room.y + 13, words, {.size = 12, .color = ui.theme->ink2, .width = room.right() - x});
        draw_tree(ui, shown, trees[i], moving, focus, {room.x, room.y + head, wide, high - head}, handle);
        if (beside)
            room.x += wide + gap;
        else
            room.y += high + gap;
    }
}

}  // namespace lockstep::gui
