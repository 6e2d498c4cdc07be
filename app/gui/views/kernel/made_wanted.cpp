// What an exercise's kernel makes beside what it should, as a picture of its subject: tokens behind an RMSNorm by their
// length, nodes of a graph by the mean of their neighbours, points by the centre that they are given to, a gradient's noise
// over its signal by step and over all of them. Inputs are the
// lists in the scene's arguments, what was made are the launch's outputs; what should be is worked out here in double.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/scene.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view made_title = "What the kernel makes, and what it should";

struct MadeRow {
    std::string name, from;  // "node 1", "7 and its neighbours 0, 2, 3"
    double wanted = 0, made = 0;
    bool right() const { return made == wanted || std::abs(made - wanted) <= 1e-3 * std::max(1.0, std::abs(wanted)); }
};
struct MadePoint {
    double x = 0, y = 0;
    int wanted = 0, made = 0;  // centres
    bool right() const { return wanted == made; }
};
struct Made {
    std::string quantity, rule;  // of a row: "mean of the node and its neighbours"
    std::vector<MadeRow> rows;
    std::vector<MadePoint> points;
    std::vector<std::pair<double, double>> centres;
    size_t all() const { return rows.size() + points.size(); }
    size_t wrong() const {
        return static_cast<size_t>(
            std::count_if(rows.begin(), rows.end(), [](const auto& one) { return !one.right(); }) +
            std::count_if(points.begin(), points.end(), [](const auto& one) { return !one.right(); }));
    }
};

std::vector<double> numbers_of(const Array& array) {
    std::vector<double> numbers;
    for (size_t i = 0; i < array.count(); ++i) {
        if (array.dtype == DType::f32) numbers.push_back(static_cast<double>(array.as<float>()[i]));
        if (array.dtype == DType::i32) numbers.push_back(static_cast<double>(array.as<int32_t>()[i]));
    }
    return numbers;
}

Made made_tokens(const std::vector<double>& x, const std::vector<double>& gain, const std::vector<double>& y) {
    Made it{.quantity = "root mean square of what comes out",
            .rule = "Whatever comes in, a token leaves with root mean square 1."};
    const size_t columns = gain.size();
    for (size_t row = 0; columns > 0 && (row + 1) * columns <= std::min(x.size(), y.size()); ++row) {
        MadeRow one{.name = fmt::format("token {}", row), .from = {}, .wanted = 0};
        double in = 0, out = 0;
        for (size_t j = 0; j < columns; ++j) {
            const double a = x[row * columns + j], b = y[row * columns + j] / gain[j];
            one.from += (j == 0 ? "(" : ", ") + element_number(a);
            in += a * a, out += b * b;
        }
        one.from += ")";
        one.wanted = in > 0 ? 1 : 0;
        one.made = std::sqrt(out / static_cast<double>(columns));
        it.rows.push_back(std::move(one));
    }
    return it;
}

Made made_means(const std::vector<double>& start, const std::vector<double>& column, const std::vector<double>& x,
                const std::vector<double>& y) {
    Made it{.quantity = "mean of the node and its neighbours",
            .rule = "A node's neighbours stand in the list from its start to the next node's."};
    for (size_t node = 0; node + 1 < start.size() && node < std::min(x.size(), y.size()); ++node) {
        double sum = x[node];
        std::string names;
        const auto begin = static_cast<size_t>(start[node]),
                   end = std::min(static_cast<size_t>(start[node + 1]), column.size());
        for (size_t e = begin; e < end; ++e) {
            const auto other = static_cast<size_t>(column[e]);
            if (other >= x.size()) continue;
            sum += x[other];
            names += (names.empty() ? "" : ", ") + std::to_string(other);
        }
        it.rows.push_back({fmt::format("node {}", node), names.empty() ? std::string("no neighbour") : "neighbours " + names,
                           sum / static_cast<double>(1 + end - begin), y[node]});
    }
    return it;
}

Made made_nearest(const std::vector<double>& points, const std::vector<double>& centres, const std::vector<double>& which) {
    Made it{.quantity = "the nearest centre", .rule = "A point belongs to the centre at the least distance."};
    for (size_t c = 0; c + 1 < centres.size(); c += 2) it.centres.emplace_back(centres[c], centres[c + 1]);
    for (size_t i = 0; 2 * i + 1 < points.size() && i < which.size(); ++i) {
        MadePoint one{points[2 * i], points[2 * i + 1], 0, static_cast<int>(which[i])};
        double least = INFINITY;
        for (size_t c = 0; c < it.centres.size(); ++c) {
            const double dx = one.x - it.centres[c].first, dy = one.y - it.centres[c].second;
            if (dx * dx + dy * dy < least) least = dx * dx + dy * dy, one.wanted = static_cast<int>(c);
        }
        it.points.push_back(one);
    }
    return it;
}

// Squared gradients of parts and of the whole batch, and how many examples are in each.
Made made_noise(const std::vector<double>& part, const std::vector<double>& whole, double b, double all, double made) {
    Made it{.quantity = "noise over signal",
            .rule = "A step's ratio jumps where its signal is near zero: the sums over all steps are divided once."};
    double signals = 0, noises = 0;
    for (size_t i = 0; i < std::min(part.size(), whole.size()) && all > b && b > 0; ++i) {
        const double signal = (all * whole[i] - b * part[i]) / (all - b), noise = (part[i] - whole[i]) / (1 / b - 1 / all);
        const double ratio = signal != 0 ? noise / signal : INFINITY;
        it.rows.push_back({fmt::format("step {}", i + 1),
                           fmt::format("{} over {}", element_number(noise), element_number(signal)), ratio, ratio});
        signals += signal, noises += noise;
    }
    if (it.rows.empty() || signals == 0) return {};
    it.rows.push_back(
        {"all steps", fmt::format("{} over {}", element_number(noises), element_number(signals)), noises / signals, made});
    return it;
}

// By the kernel's name; nothing: its arguments are no lists, or it has not run.
Made made_of(const Session& session) {
    const scene::Scene* const scene = drawn_scene(session);
    const auto outputs = session.snapshot()->kernel.outputs;
    if (scene == nullptr || !outputs || outputs->empty()) return {};
    std::vector<std::vector<double>> in;
    std::vector<double> numbers;  // arguments that are no arrays
    for (const std::string& text : scene->arguments) {
        const auto argument = scene::parse_argument(text);
        if (argument && argument.value().role == scene::KernelArgument::Role::in)
            in.push_back(numbers_of(argument.value().values));
        else if (argument && argument.value().role == scene::KernelArgument::Role::scalar)
            for (const double one : numbers_of(argument.value().values)) numbers.push_back(one);
    }
    const std::vector<double> made = numbers_of(outputs->front());
    if (scene->kernel == "rms_norm" && in.size() == 2) return made_tokens(in[0], in[1], made);
    if (scene->kernel == "neighbours" && in.size() == 3) return made_means(in[0], in[1], in[2], made);
    if (scene->kernel == "noise" && in.size() == 2 && numbers.size() == 3)
        return made_noise(in[0], in[1], numbers[1], numbers[2], made.front());
    if (scene->kernel == "nearest" && in.size() == 2) return made_nearest(in[0], in[1], made);
    return {};
}

std::string made_number(double value) {
    return std::isfinite(value) && std::abs(value) < 1e5 ? element_number(value) : "infinite";
}
std::string made_headline(const Made& it) {
    if (it.wrong() == 0) return fmt::format("All {} come out right", it.all());
    if (!it.points.empty())
        return fmt::format("{} of {} points are given to a centre that is not their nearest", it.wrong(), it.all());
    if (it.quantity == "noise over signal")
        return fmt::format("The mean of ratios is {}, the ratio of sums {}", made_number(it.rows.back().made),
                           made_number(it.rows.back().wanted));
    const auto off = [](const MadeRow& one) { return std::abs(one.made - one.wanted); };
    const auto worst = std::max_element(it.rows.begin(), it.rows.end(),
                                        [&](const MadeRow& a, const MadeRow& b) { return off(a) < off(b); });
    return fmt::format("{} of {} come out wrong: {} makes {}, not {}", it.wrong(), it.all(), worst->name,
                       made_number(worst->made), made_number(worst->wanted));
}

class MadeWantedView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const Made it = made_of(session);
        if (it.all() == 0) {
            const Rect body = ui.panel(area, {.title = made_title});
            return ui.say_nothing_yet(body, "No such kernel has run yet.", session.snapshot()->busy);
        }
        const Rect body =
            ui.panel(area, {.title = made_title, .right = it.quantity, .badge = Provenance::executed, .caption = it.rule});
        ui.text(body.x, body.y + 20, made_headline(it), {.size = 20, .weight = 700, .width = body.w});
        const Rect room{body.x, body.y + 38, body.w, body.h - 38 - 26};
        if (it.points.empty())
            draw_rows(ui, it, room);
        else
            draw_points(ui, it, room);
        const float at = body.bottom() - 6;
        if (it.points.empty()) {
            const float x = ui.legend(body.x, at, data::sky, Hatch::solid, "as it should be");
            ui.legend(x, at, data::vermillion, Hatch::diagonal, "what the kernel makes instead");
        } else {
            const float x = ui.legend_line(body.x, at, data::sky, false, "to the nearest centre");
            ui.legend_line(x, at, data::vermillion, true, "where the kernel puts it instead");
        }
    }

    std::string describe(const Session& session, const Focus&) const override {
        const Made it = made_of(session);
        if (it.all() == 0) return std::string(made_title) + ": no such kernel has run yet.\n";
        std::string text = fmt::format("{} (executed), {}\n  {}\n", made_title, it.quantity, made_headline(it));
        for (const MadeRow& one : it.rows)
            text += fmt::format("  {}, {}: should be {}, is {}\n", one.name, one.from, made_number(one.wanted),
                                made_number(one.made));
        for (const MadePoint& one : it.points)
            text += fmt::format("  ({:g}, {:g}): nearest centre {}, given to {}\n", one.x, one.y, one.wanted, one.made);
        return text + "  " + it.rule + "\n";
    }

  private:
    static void draw_rows(Ui& ui, const Made& it, const Rect& r) {
        const Theme& theme = *ui.theme;
        double most = 1e-9, least = 0;
        float names = 60;
        for (const MadeRow& one : it.rows) {
            names = std::max({names, ui.text_width(one.name, {.size = 15, .weight = 700}) + 16,
                              ui.text_width(one.from, {.size = 13}) + 16});
            for (const double value : {one.wanted, one.made})
                if (std::isfinite(value) && std::abs(value) < 1e5)
                    most = std::max(most, value), least = std::min(least, value);
        }
        names = std::min(names, r.w * 0.36f);
        const Rect field{r.x + names, r.y, r.w - names - 110, r.h};
        const float pitch = std::min(110.0f, field.h / static_cast<float>(it.rows.size())),
                    thick = std::min(24.0f, pitch * 0.3f);
        if (pitch < 26 || field.w < 80) return;
        const auto at = [&](double value) {
            return field.x + field.w * static_cast<float>((std::clamp(value, least, most) - least) / (most - least));
        };
        for (size_t i = 0; i < it.rows.size(); ++i) {
            const MadeRow& one = it.rows[i];
            const float y = field.y + pitch * static_cast<float>(i), middle = y + pitch / 2;
            ui.text(r.x, middle - 2, one.name, {.size = 15, .weight = 700, .width = names - 10});
            ui.text(r.x, middle + 16, one.from, {.size = 13, .color = theme.ink2, .width = names - 10});
            const auto bar = [&](double value, float top, bool wanted) {
                const float end = std::isfinite(value) && std::abs(value) < 1e5 ? at(value) : field.right();
                const Rect box{std::min(at(0), end), top, std::max(2.0f, std::abs(end - at(0))), thick};
                if (wanted)
                    ui.rect(box, data::sky);
                else
                    for (float x = box.x; x < box.right(); x += 440)  // a hatched quad is that wide at most
                        ui.hatch({x, box.y, std::min(440.0f, box.right() - x), box.h}, data::vermillion, Hatch::diagonal);
                ui.text(std::max(at(0), end) + 8, top + thick / 2 + 5, made_number(value),
                        {.size = 14, .color = wanted ? theme.ink : theme.wrong, .weight = 700});
            };
            if (one.right()) {
                bar(one.wanted, middle - thick / 2, true);
                continue;
            }
            bar(one.wanted, middle - thick - 1, true);
            bar(one.made, middle + 1, false);
        }
        ui.line({at(0), field.y}, {at(0), field.y + pitch * static_cast<float>(it.rows.size())}, theme.ink3);
    }

    static void draw_points(Ui& ui, const Made& it, const Rect& r) {
        const Theme& theme = *ui.theme;
        double low_x = 1e18, high_x = -1e18, low_y = 1e18, high_y = -1e18;
        const auto hold = [&](double x, double y) {
            low_x = std::min(low_x, x), high_x = std::max(high_x, x), low_y = std::min(low_y, y),
            high_y = std::max(high_y, y);
        };
        for (const MadePoint& one : it.points) hold(one.x, one.y);
        for (const auto& [x, y] : it.centres) hold(x, y);
        const float unit = std::min((r.w - 60) / static_cast<float>(std::max(1e-6, high_x - low_x)),
                                    (r.h - 40) / static_cast<float>(std::max(1e-6, high_y - low_y)));
        const Point middle{r.x + r.w / 2, r.y + r.h / 2};
        const auto at = [&](double x, double y) {
            return Point{middle.x + unit * static_cast<float>(x - (low_x + high_x) / 2),
                         middle.y - unit * static_cast<float>(y - (low_y + high_y) / 2)};
        };
        for (const MadePoint& one : it.points) {
            const auto& nearest = it.centres[static_cast<size_t>(one.wanted)];
            ui.line(at(one.x, one.y), at(nearest.first, nearest.second), data::sky, 2.5f);
            if (one.right() || one.made < 0 || static_cast<size_t>(one.made) >= it.centres.size()) continue;
            const auto& given = it.centres[static_cast<size_t>(one.made)];
            const Point wrong[] = {at(one.x, one.y), at(given.first, given.second)};
            ui.polyline(wrong, faded(data::vermillion, 0.75f), 1.5f, 6, 5);
        }
        for (const MadePoint& one : it.points) ui.circle(at(one.x, one.y), 5, one.right() ? data::green : data::vermillion);
        for (size_t c = 0; c < it.centres.size(); ++c) {
            const Point p = at(it.centres[c].first, it.centres[c].second);
            ui.circle(p, 13, theme.panel);
            ui.ring(p, 13, theme.ink, 2);
            ui.text(p.x, p.y + 5, std::to_string(c), {.size = 14, .align = Align::center, .weight = 700});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_made_wanted_view() {
    return std::make_unique<MadeWantedView>();
}

}  // namespace lockstep::gui
