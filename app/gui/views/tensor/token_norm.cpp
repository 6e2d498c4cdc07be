// RMSNorm of tokens of two numbers, as arrows: before it, on one scale, and behind it, where each ends on one circle whose
// radius is the root of the width, in the direction that it had. Between them the arithmetic of each. Results wait for the
// question that asks for them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "app/gui/view.h"
#include "app/gui/views/tensor/tensor_text.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view token_norm_title = "RMSNorm: the direction stays, the size goes";

struct NormedToken {
    double a = 0, b = 0;                                   // as it came
    double after_a = 0, after_b = 0;                       // as it ran
    double square() const { return (a * a + b * b) / 2; }  // the mean
    double root() const { return std::sqrt(square()); }
};
// The step's first RMSNorm of a few tokens of width two.
std::vector<NormedToken> normed_tokens(const nn::StepRecord& step) {
    std::vector<NormedToken> tokens;
    for (const nn::GraphNode& node : step.nodes) {
        if (node.op != "rms_norm" || !node.value || node.inputs.empty() || node.shape.empty() || node.shape.back() != 2)
            continue;
        const nn::GraphNode& from = step.nodes[static_cast<size_t>(node.inputs[0])];
        if (!from.value || from.value->size() != node.value->size()) continue;
        for (size_t i = 0; i + 1 < node.value->size() && tokens.size() < 3; i += 2)
            tokens.push_back({static_cast<double>((*from.value)[i]), static_cast<double>((*from.value)[i + 1]),
                              static_cast<double>((*node.value)[i]), static_cast<double>((*node.value)[i + 1])});
        return tokens;
    }
    return tokens;
}
std::string pair_of(double a, double b) {
    return fmt::format("({}, {})", element_number(a), element_number(b));
}
Color token_color(size_t i) {
    constexpr Color colors[] = {data::orange, data::sky, data::green};
    return colors[i % std::size(colors)];
}

class TokenNormView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& step = snapshot->training.step;
        const std::vector<NormedToken> tokens = step ? normed_tokens(*step) : std::vector<NormedToken>();
        if (tokens.empty()) {
            const Rect body = ui.panel(area, {.title = token_norm_title});
            return ui.say_nothing_yet(body, "No RMSNorm of tokens of two numbers has run yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = caption_of(hidden);
        const Rect body = ui.panel(area, {.title = hidden ? std::string_view("RMSNorm of two tokens") : token_norm_title,
                                          .right = counted(tokens.size(), "token") + " of two numbers, gain 1",
                                          .badge = Provenance::executed,
                                          .caption = caption});
        float y = body.y;
        const bool low = body.h < 250;
        ui.text(body.x, y + (low ? 16.0f : 20.0f), headline_of(tokens, hidden),
                {.size = low ? 16.0f : 20.0f, .weight = 700, .width = body.w});
        y += low ? 28 : 40;
        const Rect room{body.x, y, body.w, body.bottom() - y};
        const float side = std::min(room.h - 24, std::max(150.0f, (room.w - 330) / 2));
        if (side < 60 || room.w < 2 * side + 60) return;
        draw_plane(ui, tokens, false, false, {room.x, room.y + 22, side, side});
        draw_plane(ui, tokens, true, hidden, {room.right() - side, room.y + 22, side, side});
        const Rect middle{room.x + side + 28, room.y, room.w - 2 * side - 56, room.h};
        if (middle.w > 150) draw_words(ui, tokens, hidden, middle);
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto& step = session.snapshot()->training.step;
        const std::vector<NormedToken> tokens = step ? normed_tokens(*step) : std::vector<NormedToken>();
        if (tokens.empty()) return "RMSNorm: none of tokens of two numbers has run yet.\n";
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text = fmt::format("{} (executed)\n  {}\n", "RMSNorm of tokens", headline_of(tokens, hidden));
        for (const NormedToken& one : tokens) {
            text += fmt::format("  {}: mean of the squares {}", pair_of(one.a, one.b), element_number(one.square(), 4));
            if (!hidden)
                text +=
                    fmt::format(", its root {}, becomes {}", element_number(one.root()), pair_of(one.after_a, one.after_b));
            text += "\n";
        }
        return text + "  " + caption_of(hidden) + "\n";
    }

  private:
    static std::string headline_of(const std::vector<NormedToken>& tokens, bool hidden) {
        if (hidden) return "What is left of a token's length?";
        const NormedToken &first = tokens.front(), &last = tokens.back();
        const bool alike = std::abs(first.after_a - last.after_a) < 1e-3 && std::abs(first.after_b - last.after_b) < 1e-3;
        if (alike && tokens.size() > 1)
            return fmt::format("{} and {} both become {}", pair_of(first.a, first.b), pair_of(last.a, last.b),
                               pair_of(first.after_a, first.after_b));
        return fmt::format("{} becomes {}", pair_of(first.a, first.b), pair_of(first.after_a, first.after_b));
    }
    static std::string caption_of(bool hidden) {
        if (hidden) return "The roots, and what the tokens become, stay hidden until you lock an answer.";
        return "Divided by its root mean square, every token ends on one circle: its radius is the root of its width, here "
               "1.41.";
    }

    static void draw_plane(Ui& ui, const std::vector<NormedToken>& tokens, bool after, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y - 8, after ? "behind the norm" : "as they came in", {.size = 14, .weight = 600, .width = r.w});
        ui.frame(r, theme.line, 1);
        double most = 1e-9;
        for (const NormedToken& one : tokens)
            for (const double value : {one.a, one.b}) most = std::max(most, std::abs(value));
        if (after) most = std::sqrt(2.0) * 1.02;
        const float origin_x = r.x + 30, origin_y = r.bottom() - 26,
                    unit = std::min(r.w - 46, r.h - 46) / static_cast<float>(most);
        const auto at = [&](double a, double b) {
            return Point{origin_x + unit * static_cast<float>(a), origin_y - unit * static_cast<float>(b)};
        };
        ui.line({origin_x, r.y + 8}, {origin_x, origin_y}, theme.ink3);
        ui.line({origin_x, origin_y}, {r.right() - 8, origin_y}, theme.ink3);
        for (int i = 1; i <= 2; ++i) {
            const double mark = after ? 0.5 * i : std::floor(most / 2 / 5) * 5 * i;
            if (mark <= 0 || mark > most) continue;
            const std::string text = element_number(mark, 2);
            ui.text(at(mark, 0).x, origin_y + 16, text,
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
            ui.text(origin_x - 6, at(0, mark).y + 4, text,
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        if (after) {
            std::vector<Point> arc;
            for (int i = 0; i <= 24; ++i) {
                const double turn = 1.5707963 * i / 24;
                arc.push_back(at(std::sqrt(2.0) * std::cos(turn), std::sqrt(2.0) * std::sin(turn)));
            }
            if (!hidden) ui.polyline(arc, theme.ink3, 1.5f, 6, 4);
        }
        if (after && hidden) {
            ui.text(r.x + r.w / 2, r.y + r.h / 2, "?",
                    {.size = 32, .color = theme.ink2, .align = Align::center, .weight = 700});
            return;
        }
        for (size_t n = tokens.size(); n-- > 0;) {  // the first, shorter one on top
            const NormedToken& one = tokens[n];
            const Point tip = after ? at(one.after_a, one.after_b) : at(one.a, one.b);
            const float thick = after ? 2.5f + 4.0f * static_cast<float>(n) : 3.0f;  // one within the other
            ui.line({origin_x, origin_y}, tip, token_color(n), thick);
            ui.circle(tip, after ? 4.5f + 3.0f * static_cast<float>(n) : 5.0f, token_color(n));
            if (!after)
                ui.text(tip.x + (n == 0 ? 12.0f : -10.0f), tip.y + (n == 0 ? 6.0f : 5.0f), pair_of(one.a, one.b),
                        {.size = 13, .align = n == 0 ? Align::left : Align::right, .weight = 600});
        }
        if (after)
            ui.text(at(tokens[0].after_a, tokens[0].after_b).x - 12, at(tokens[0].after_a, tokens[0].after_b).y + 2,
                    pair_of(tokens[0].after_a, tokens[0].after_b), {.size = 13, .align = Align::right, .weight = 700});
    }

    static void draw_words(Ui& ui, const std::vector<NormedToken>& tokens, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const auto count = static_cast<float>(tokens.size());
        const float pitch = std::min(24.0f, (r.h - 10) / (count * 4.5f)), each = pitch * 4 + std::min(30.0f, pitch);
        if (pitch < 15) return;
        float y = r.y + std::max(10.0f, (r.h - each * count) / 2);
        for (size_t i = 0; i < tokens.size(); ++i, y += each) {
            const NormedToken& one = tokens[i];
            ui.rect({r.x, y + 2, 4, pitch * 4 - 6}, token_color(i));
            const std::string lines[] = {
                pair_of(one.a, one.b),
                fmt::format("squares {} and {}: mean {}", readable_number(element_number(one.a * one.a, 4)),
                            readable_number(element_number(one.b * one.b, 4)),
                            readable_number(element_number(one.square(), 4))),
                hidden ? std::string("its root: ?") : fmt::format("its root: {}", element_number(one.root())),
                hidden ? std::string("divided by it: ?")
                       : fmt::format("divided by it: {}", pair_of(one.after_a, one.after_b))};
            for (size_t line = 0; line < 4; ++line)
                ui.text(r.x + 16, y + pitch * (static_cast<float>(line) + 0.7f), lines[line],
                        {.size = line == 0 ? 16.0f : 14.0f,
                         .color = line == 0 || line == 3 ? theme.ink : theme.ink2,
                         .weight = line == 0 || line == 3 ? 700 : 400,
                         .width = r.w - 16});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_token_norm_view() {
    return std::make_unique<TokenNormView>();
}

}  // namespace lockstep::gui
