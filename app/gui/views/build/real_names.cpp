#include "app/gui/views/build/real_names.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lockstep::gui {
namespace {

bool meet(const Rect& a, const Rect& b) {
    return a.x < b.right() + 2 && b.x < a.right() + 2 && a.y < b.bottom() && b.y < a.bottom();
}

// Whether the line runs over the box: looked at every two units.
bool crosses(const Point& from, const Point& to, const Rect& box) {
    const int steps = static_cast<int>(std::hypot(to.x - from.x, to.y - from.y) / 2) + 1;
    for (int i = 0; i <= steps; ++i) {
        const float share = static_cast<float>(i) / static_cast<float>(steps);
        if (box.contains({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share})) return true;
    }
    return false;
}

Point nearest_on(const Rect& box, const Point& at) {
    return {std::clamp(at.x, box.x, box.right()), std::clamp(at.y, box.y, box.bottom())};
}

Rect square_of(const NamedPoint& point) {
    return {point.at.x - real_square / 2, point.at.y - real_square / 2, real_square, real_square};
}

class Names {
  public:
    Names(std::span<const NamedPoint> points, std::span<const Rect> taken, const Rect& plot)
        : points_(points), taken_(taken.begin(), taken.end()), plot_(plot), places_(points.size()) {
        for (const NamedPoint& point : points) taken_.push_back(square_of(point));
    }

    std::vector<std::optional<NamePlace>> place() {
        for (size_t i = 0; i < points_.size(); ++i) beside(i);
        for (const bool over_squares : {false, true})  // a line over another's square is better than no name
            for (size_t i = 0; i < points_.size(); ++i)
                if (!places_[i]) led(i, over_squares);
        return places_;
    }

  private:
    bool fits(const Rect& label) const {
        return label.x >= plot_.x && label.right() <= plot_.right() && label.y >= plot_.y &&
               label.bottom() <= plot_.bottom() &&
               std::ranges::none_of(taken_, [&](const Rect& other) { return meet(label, other); }) &&
               std::ranges::none_of(places_, [&](const auto& other) {
                   return other && (meet(label, other->label) ||
                                    (other->led && crosses(points_[&other - places_.data()].at, other->to, label)));
               });
    }

    void beside(size_t i) {  // left of it, right, above, below
        const auto& [at, width] = points_[i];
        const Point corners[] = {{at.x - width - 9, at.y - 8},
                                 {at.x + 9, at.y - 8},
                                 {at.x - width / 2, at.y - 22},
                                 {at.x - width / 2, at.y + 7},
                                 {at.x - width, at.y - 22},
                                 {at.x - width, at.y + 7},
                                 {at.x, at.y - 22},
                                 {at.x, at.y + 7}};
        for (const Point& corner : corners) {
            const Rect label{corner.x, corner.y, width, name_height};
            if (!fits(label)) continue;
            places_[i] = {label, false, {}};
            return;
        }
    }

    // The nearest free room, by rings that grow.
    void led(size_t i, bool over_squares) {
        const auto& [at, width] = points_[i];
        const float most = std::hypot(plot_.w, plot_.h);
        for (float gap = 14; gap < most; gap += 6)
            for (int turn = 0; turn < 32; ++turn) {
                const float angle = static_cast<float>(turn) / 32 * 2 * std::numbers::pi_v<float>;
                const Point middle{at.x + std::cos(angle) * (gap + width / 2),
                                   at.y + std::sin(angle) * (gap + name_height / 2)};
                const Rect label{middle.x - width / 2, middle.y - name_height / 2, width, name_height};
                const Point to = nearest_on(label, at);
                if (!fits(label) || line_crosses(i, to, over_squares)) continue;
                places_[i] = {label, true, to};
                return;
            }
    }

    bool line_crosses(size_t own, const Point& to, bool over_squares) const {
        for (size_t i = 0; i < points_.size(); ++i) {
            if (i == own) continue;
            if (places_[i] && crosses(points_[own].at, to, places_[i]->label)) return true;
            if (!over_squares && crosses(points_[own].at, to, square_of(points_[i]))) return true;
        }
        return false;
    }

    std::span<const NamedPoint> points_;
    std::vector<Rect> taken_;
    Rect plot_;
    std::vector<std::optional<NamePlace>> places_;
};

}  // namespace

std::vector<std::optional<NamePlace>> places_of_names(std::span<const NamedPoint> points, std::span<const Rect> taken,
                                                      const Rect& plot) {
    return Names(points, taken, plot).place();
}

}  // namespace lockstep::gui
