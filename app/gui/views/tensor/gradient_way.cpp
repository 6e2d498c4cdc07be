// What a gradient becomes on its way back from the end of a tensor program to what it began with: a bar a tensor that has a
// name of its own, the end on top, as long as the largest magnitude in its gradient, on a log axis.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/tensor/tensor_text.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view way_title = "A gradient on its way back";
constexpr std::string_view way_hidden = "What becomes of the gradient stays hidden until you lock an answer.";

struct Station {
    std::string name;
    double gradient = 0;  // the largest magnitude
};

bool is_name(const std::string& name) {  // of a variable, "h[3]", and not of what stands in an expression
    return std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '[' || c == ']';
    });
}
double largest(const nn::GraphNode& node) {
    double most = 0;
    if (node.gradient)
        for (const float value : *node.gradient) most = std::max(most, std::abs(static_cast<double>(value)));
    return most;
}

// From the last node that has a gradient by the input with the largest one, until nothing goes on.
std::vector<Station> way_of(const nn::StepRecord& step) {
    std::vector<Station> way;
    int at = static_cast<int>(step.nodes.size()) - 1;
    while (at >= 0 && !step.nodes[static_cast<size_t>(at)].gradient) --at;
    while (at >= 0) {
        const nn::GraphNode& node = step.nodes[static_cast<size_t>(at)];
        if (is_name(node.name)) way.push_back({node.name, largest(node)});
        int next = -1;
        for (const int input : node.inputs) {
            const nn::GraphNode& from = step.nodes[static_cast<size_t>(input)];
            if (from.gradient && (next < 0 || largest(from) > largest(step.nodes[static_cast<size_t>(next)]))) next = input;
        }
        at = next;
    }
    return way;
}

std::string gradient_number(double value) {
    return value > 0 && value < 1e-3 ? fmt::format("{:.6f}", value) : element_number(value, 3, 0);
}
std::string way_headline(const std::vector<Station>& way) {
    if (way.size() < 2) return {};
    const Station &from = way.front(), &to = way.back();
    return fmt::format("Of the gradient of {} at {}, {} reaches {}", gradient_number(from.gradient), from.name,
                       gradient_number(to.gradient), to.name);
}

class GradientWayView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto& step = session.snapshot()->training.step;
        const std::vector<Station> way = step ? way_of(*step) : std::vector<Station>();
        if (way.size() < 2) {
            const Rect body = ui.panel(area, {.title = way_title});
            return ui.say_nothing_yet(body, "No gradient is on show.", "It appears where a tensor program runs backward.");
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const Rect body = ui.panel(area, {.title = way_title,
                                          .right = "from the end, on top, to the beginning",
                                          .badge = hidden ? Provenance::none : Provenance::executed,
                                          .caption = hidden ? way_hidden : way_caption});
        if (hidden) return ui.dashed({body.x, body.y, body.w, 44}, ui.theme->ink3, 4, 4);
        ui.text(body.x, body.y + 22, way_headline(way), {.size = 20, .weight = 700, .width = body.w});
        draw_way(ui, way, {body.x, body.y + 40, body.w, body.h - 40});
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto& step = session.snapshot()->training.step;
        const std::vector<Station> way = step ? way_of(*step) : std::vector<Station>();
        if (way.size() < 2) return std::string(way_title) + ": no gradient is on show.\n";
        std::string text = fmt::format("{} (executed)\n", way_title);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(way_hidden) + "\n";
        for (const Station& one : way) text += fmt::format("  {}: {}\n", one.name, gradient_number(one.gradient));
        return text + fmt::format("  {}. {}\n", way_headline(way), way_caption);
    }

  private:
    static constexpr std::string_view way_caption =
        "Of each tensor's gradient the largest magnitude; a grid line to the left is a tenth.";

    static void draw_way(Ui& ui, const std::vector<Station>& way, const Rect& r) {
        const Theme& theme = *ui.theme;
        double low = 1e300, high = 0;
        float names = 40;
        for (const Station& one : way) {
            if (one.gradient > 0) low = std::min(low, one.gradient);
            high = std::max(high, one.gradient);
            names = std::max(names, ui.text_width(one.name, {.size = 14, .mono = true}) + 16);
        }
        if (!(high > 0)) return;
        const double left = std::pow(10.0, std::floor(std::log10(low)) - (low < high ? 0 : 1)),
                     right = std::max(std::pow(10.0, std::ceil(std::log10(high) - 1e-9)), left * 10);
        const float numbers = 84, foot = 24;
        const Rect field{r.x + names, r.y, r.w - names - numbers, r.h - foot};
        if (field.w < 80) return;
        const auto at = [&](double value) {
            return field.x + field.w * static_cast<float>(std::log(std::max(value, left) / left) / std::log(right / left));
        };
        const float pitch = std::min(52.0f, field.h / static_cast<float>(way.size()));
        const float bottom = field.y + pitch * static_cast<float>(way.size());
        const int decades = static_cast<int>(std::lround(std::log10(right / left))), every = decades > 8 ? 2 : 1;
        for (int i = 0; i <= decades; i += every) {
            const double mark = left * std::pow(10.0, i);
            ui.line({at(mark), field.y}, {at(mark), bottom}, theme.grid);
            ui.text(at(mark), bottom + 17, fmt::format("{:g}", mark),
                    {.size = 12, .color = theme.ink2, .align = Align::center});
        }
        for (size_t i = 0; i < way.size(); ++i) {
            const float y = field.y + pitch * static_cast<float>(i), high_bar = std::max(8.0f, pitch - 12);
            const bool end = i + 1 == way.size();
            ui.text(r.x, y + pitch / 2 + 5, way[i].name, {.size = 14, .weight = end ? 700 : 400, .mono = true});
            ui.rect({field.x, y + (pitch - high_bar) / 2, std::max(2.0f, at(way[i].gradient) - field.x), high_bar},
                    end ? data::orange : data::sky);
            ui.text(r.right(), y + pitch / 2 + 5, gradient_number(way[i].gradient),
                    {.size = 14, .align = Align::right, .weight = end ? 700 : 400});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_gradient_way_view() {
    return std::make_unique<GradientWayView>();
}

}  // namespace lockstep::gui
