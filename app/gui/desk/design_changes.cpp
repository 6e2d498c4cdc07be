// What could be changed next in a design: figures up by about half or by one, and others down that pay for them.
#include <algorithm>
#include <cmath>
#include <map>

#include "app/gui/desk/build_desk.h"

namespace lockstep::gui {
namespace {

void put_figure(lessons::Figures& figures, std::string_view field, double value) {
    if (const auto at = std::ranges::find(figures, field, &lessons::Figures::value_type::first); at != figures.end())
        at->second = value;
    else
        figures.emplace_back(std::string(field), value);
}

struct Changes {
    const BuildTask& task;
    const BuiltDesign& design;
    std::vector<lessons::Figures> found = {};
    std::map<std::string, std::vector<double>, std::less<>> possible = {};

    const std::vector<double>& stops(const lessons::Puzzle::Free& free) {
        std::vector<double>& known = possible[free.field];
        if (known.empty()) known = possible_stops(task, design.figures, free);
        return known;
    }

    // About half as much again: the stop that lies there, or the next one.
    std::optional<double> larger(const lessons::Puzzle::Free& free, double factor) {
        const double now = figure_of(design.gpu, free.field);
        std::optional<double> best;
        for (const double stop : stops(free))
            if (stop > now && (!best || stop <= now * factor)) best = stop;
        return best;
    }
    bool bears(const lessons::Figures& figures) const {
        try {
            const double mm2 = model::area_of(task.design(figures), task.process).mm2;
            return task.most_mm2 <= 0 || mm2 <= task.most_mm2;
        } catch (const Failure&) {
            return false;
        }
    }
    void add(const lessons::Figures& figures) {
        if (std::ranges::find(found, figures) == found.end() && bears(figures)) found.push_back(figures);
    }
    // Over the budget, less of anything is worth a run: of many stops one less, half, and the least there may be.
    void add_less() {
        for (const lessons::Puzzle::Free& free : task.free) {
            if (free.field.ends_with("_latency")) continue;
            std::vector<double> less_of = stops(free);
            const double now = figure_of(design.gpu, free.field);
            std::erase_if(less_of, [&](double stop) { return stop >= now; });
            if (less_of.empty()) continue;
            if (constexpr size_t few = 6; less_of.size() > few) {
                size_t half = 0;
                while (half + 1 < less_of.size() && less_of[half] < now / 2) ++half;
                less_of = {less_of.back(), less_of[half], less_of.front()};
            }
            for (const double stop : less_of) {
                lessons::Figures less = design.figures;
                put_figure(less, free.field, stop);
                if (std::ranges::find(found, less) == found.end()) found.push_back(less);
            }
        }
    }
    // Too many watts: most of them are for bytes from DRAM, of which a larger L2 keeps some, with fewer channels that pay.
    void add_nearer() {
        const lessons::Puzzle::Free* const l2 = task.free_named("l2_bytes");
        const lessons::Puzzle::Free* const channels = task.free_named("dram_channels");
        if (l2 == nullptr) return;
        for (const double factor : {2.0, 4.0, 8.0}) {
            const auto value = larger(*l2, factor);
            if (!value) continue;
            lessons::Figures figures = design.figures;
            put_figure(figures, l2->field, *value);
            add(figures);
            if (channels == nullptr) continue;
            std::vector<double> fewer = stops(*channels);
            std::erase_if(fewer, [&](double stop) { return stop >= figure_of(design.gpu, channels->field); });
            if (fewer.empty()) continue;
            put_figure(figures, channels->field, fewer.back());
            add(figures);
        }
    }
    // Stops below the present one, the nearest last; none of what limits, nor of what costs no area.
    std::vector<double> lower(const lessons::Puzzle::Free& free, std::string_view raised) {
        if (free.field == raised || free.field == "boost_mhz" || free.field.ends_with("_latency")) return {};
        if (task.free_named(design.limits) == &free) return {};
        std::vector<double> below = stops(free);
        const double now = figure_of(design.gpu, free.field);
        std::erase_if(below, [&](double stop) { return stop >= now; });
        return below;
    }
    // Where the budget does not bear it, another figure that pays for it, by as few stops as it takes, and two of them,
    // stop by stop in turn.
    void add_paid(const lessons::Figures& figures, std::string_view raised) {
        if (bears(figures)) return add(figures);
        for (const lessons::Puzzle::Free& other : task.free) {
            const std::vector<double> below = lower(other, raised);
            for (size_t k = below.size(); k-- > 0;) {
                lessons::Figures paid = figures;
                put_figure(paid, other.field, below[k]);
                if (!bears(paid)) continue;
                add(paid);
                break;
            }
        }
        for (size_t a = 0; a < task.free.size(); ++a)
            for (size_t b = a + 1; b < task.free.size(); ++b) pay_by_two(figures, raised, task.free[a], task.free[b]);
    }
    void pay_by_two(const lessons::Figures& figures, std::string_view raised, const lessons::Puzzle::Free& first,
                    const lessons::Puzzle::Free& second) {
        std::vector<double> of_first = lower(first, raised), of_second = lower(second, raised);
        if (of_first.empty() || of_second.empty()) return;
        lessons::Figures paid = figures;
        while (!of_first.empty() || !of_second.empty()) {
            for (const auto& [free, stops] : {std::pair{&first, &of_first}, {&second, &of_second}}) {
                if (stops->empty()) continue;
                put_figure(paid, free->field, stops->back());
                stops->pop_back();
                if (bears(paid)) return add(paid);
            }
        }
    }
};

}  // namespace

std::vector<lessons::Figures> changes_of(const BuildTask& task, const BuiltDesign& design) {
    Changes changes{task, design};
    const lessons::Puzzle::Free* const limit = task.free_named(design.limits);
    std::vector<const lessons::Puzzle::Free*> order;
    if (limit != nullptr) order.push_back(limit);
    for (const lessons::Puzzle::Free& free : task.free)
        if (&free != limit && !free.field.ends_with("_latency") && free.field != "boost_mhz") order.push_back(&free);
    const auto try_row = [&](const lessons::Puzzle::Free& free) {
        for (const double factor : {2.0, 1.5, 1.0})  // the last: one stop further
            if (const auto value = changes.larger(free, factor)) {
                lessons::Figures figures = design.figures;
                put_figure(figures, free.field, *value);
                changes.add_paid(figures, free.field);
            }
    };
    if (!design.within(task)) changes.add_less();
    if (task.most_watts > 0 && design.watts > task.most_watts) changes.add_nearer();
    if (limit != nullptr) try_row(*limit);
    // Room for more warps is of three parts, whichever of them are free.
    for (const double factor : {2.0, 1.5}) {
        lessons::Figures roomy = design.figures;
        bool any = false;
        for (const std::string_view field : {"warps_per_sm", "blocks_per_sm", "registers_per_sm"})
            if (const auto* free = task.free_named(field))
                if (const auto value = changes.larger(*free, factor)) put_figure(roomy, free->field, *value), any = true;
        if (any) changes.add_paid(roomy, "warps_per_sm");
    }
    // What limits may only be of use together with another: a wider L2 with a wider port.
    if (limit != nullptr)
        for (const lessons::Puzzle::Free* other : order) {
            const auto first = changes.larger(*limit, 2), second = changes.larger(*other, 2);
            if (other == limit || !first || !second) continue;
            lessons::Figures both = design.figures;
            put_figure(both, limit->field, *first);
            put_figure(both, other->field, *second);
            changes.add_paid(both, limit->field);
        }
    for (const lessons::Puzzle::Free* free : order)
        if (free != limit) try_row(*free);
    constexpr size_t most = 44;
    if (changes.found.size() > most) changes.found.resize(most);
    return std::move(changes.found);
}

}  // namespace lockstep::gui
