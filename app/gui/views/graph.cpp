// D12, the autograd graph of one training step: operations in a row from left to right, each leaf under the operation that
// reads it. Values fill with the forward launches, gradients arrive with the backward ones; how far is the focused launch.
// One scalar is followed through all of it (training_data.h), so that the numbers on neighbouring nodes belong together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/training_data.h"
#include "app/gui/views/training_views.h"

namespace lockstep::gui {
namespace {

using nn::GraphNode;

struct Placed {
    int node = 0;
    int column = 0;
    bool below = false;  // a leaf under its consumer
};

// The input stands left of the first operation; parameters and labels stand under theirs.
std::vector<Placed> place(const nn::StepRecord& step) {
    std::vector<Placed> placed;
    std::vector<int> column(step.nodes.size(), -1);
    int next = 1;
    for (const GraphNode& node : step.nodes)
        if (node.kind == GraphNode::Kind::op || node.kind == GraphNode::Kind::loss)
            column[static_cast<size_t>(node.id)] = next++;
    for (const GraphNode& node : step.nodes) {
        if (column[static_cast<size_t>(node.id)] >= 0) {
            placed.push_back({node.id, column[static_cast<size_t>(node.id)], false});
            continue;
        }
        for (const GraphNode& consumer : step.nodes)
            if (std::find(consumer.inputs.begin(), consumer.inputs.end(), node.id) != consumer.inputs.end()) {
                const bool data = node.kind == GraphNode::Kind::input;
                placed.push_back({node.id, data ? 0 : column[static_cast<size_t>(consumer.id)], !data});
                break;
            }
    }
    return placed;
}

float thickness(int64_t bytes) {
    return 1 + std::max(0.f, std::log2(static_cast<float>(std::max<int64_t>(bytes, 1)) / 1024.f)) * 0.55f;
}

class GraphView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto step = session.snapshot()->step;
        if (!step || step->nodes.empty()) {
            const Rect body = ui.panel(
                area,
                {.title = "Autograd graph", .badge = Provenance::executed, .caption = "No graph has been recorded yet."});
            return ui.say_nothing_yet(body, "No graph has been recorded yet.", "It appears with the first training step.");
        }
        refresh(*step);
        const bool hidden = session.reveal_steps >= 0;
        const int launch = launch_of(*step, focus, hidden);
        const std::string sentence = hidden ? std::string(hidden_sentence) : caption(*step, launch);
        const std::string right =
            probe_.unit >= 0
                ? fmt::format("followed: image {}, pixel {}, unit {}, class {}", probe_.image, probe_.pixel, probe_.unit,
                              step->labels.empty() ? 0 : step->labels[static_cast<size_t>(probe_.image)])
                : std::string();
        const Rect body =
            ui.panel(area, {.title = "Autograd graph", .right = right, .badge = Provenance::executed, .caption = sentence});
        const bool memory_fits = body.w > 1100 && body.h > 150;
        const float memory_width = memory_fits ? 260.f : 0.f;
        nodes(ui, session, focus, *step, launch, hidden,
              {body.x, body.y, body.w - (memory_fits ? memory_width + 40 : 0), body.h});
        if (memory_fits) {
            const float x = body.right() - memory_width;
            ui.line({x - 20, body.y}, {x - 20, body.bottom()}, ui.theme->grid);
            const Rect plot{x, body.y, memory_width, body.h};
            if (hidden) {
                ui.text(plot.x, plot.y + 12, "saved tensors and gradients", {.size = 12, .color = ui.theme->ink2});
                ui.dashed({plot.x, plot.y + 24, plot.w, 44}, ui.theme->ink3);
                ui.text(plot.x + plot.w / 2, plot.y + 51, "Hidden until you lock an answer.",
                        {.size = 13, .color = ui.theme->ink2, .align = Align::center});
            } else {
                memory(ui, *step, launch, plot);
            }
        }
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto step = session.snapshot()->step;
        if (!step || step->nodes.empty()) return "Autograd graph: nothing recorded yet.\n";
        GraphView fresh;
        fresh.refresh(*step);
        const bool hidden = session.reveal_steps >= 0;
        const int launch = launch_of(*step, focus, hidden);
        std::string text = fmt::format("Autograd graph (executed), step {}", step->step);
        text += hidden ? "\n" : fmt::format(", after launch {} of {}\n", launch + 1, step->launches.size());
        for (const GraphNode& node : step->nodes) {
            text +=
                fmt::format("  {:<22} {:<10} value {}", node.name, shape_text(node.shape), fresh.value_text(node, launch));
            if (node.requires_grad && !hidden) text += ", grad " + fresh.gradient_text(node, launch);
            if (!node.saved.empty() && !hidden)
                text += fmt::format(", saves {} ({}){}", node.saved, bytes_text(static_cast<double>(node.saved_bytes)),
                                    launch >= node.freed_after ? ", freed" : "");
            text += "\n";
        }
        if (hidden) return text + fmt::format("  {}\n", hidden_sentence);
        if (const auto rule = fresh.rule_of(*step, launch))
            text += fmt::format("  {} = {:+.6g} times {} = {:+.6g} gives {:+.6g}, term {} of {} of {} = {:+.6g}\n",
                                rule->local_name, rule->local, rule->upstream_name, rule->upstream, rule->product,
                                rule->term + 1, rule->terms, rule->total_name, rule->total);
        return text + "  " + fresh.caption(*step, launch) + "\n";
    }

  private:
    static constexpr std::string_view hidden_sentence =
        "Only forward values are shown; gradients, launches and memory stay hidden until you lock an answer.";

    const nn::StepRecord* seen_ = nullptr;
    int64_t seen_step_ = -1;
    Probe probe_;
    std::vector<Placed> placed_;
    int columns_ = 0;

    void refresh(const nn::StepRecord& step) {
        if (&step == seen_ && step.step == seen_step_) return;
        seen_ = &step;
        seen_step_ = step.step;
        probe_ = probe_of(step);
        placed_ = place(step);
        columns_ = 0;
        for (const Placed& p : placed_) columns_ = std::max(columns_, p.column + 1);
    }

    // The launch whose end the picture shows: the focused one, else the step's last; while a prediction is open, the last
    // one of the forward pass.
    static int launch_of(const nn::StepRecord& step, const Focus& focus, bool hidden) {
        const int last = static_cast<int>(step.launches.size()) - 1;
        if (hidden && step.model.ends_with(".tape")) return -1;  // a tensor program's values are what is asked for
        if (hidden) {
            int forward = -1;
            while (forward < last && step.launches[static_cast<size_t>(forward + 1)].phase == "forward") ++forward;
            return forward;
        }
        return focus.launch >= 0 ? std::min(focus.launch, last) : last;
    }
    static std::optional<ChainRule> none() { return std::nullopt; }
    std::optional<ChainRule> rule_of(const nn::StepRecord& step, int launch) const {
        if (launch < 0 || static_cast<size_t>(launch) >= step.launches.size() ||
            step.launches[static_cast<size_t>(launch)].phase != "backward")
            return none();
        return chain_rule(step, probe_, node_of_launch(step, launch), launch);
    }

    float value(const nn::Values& values, int id) const {
        const int64_t index = probe_.index[static_cast<size_t>(id)];
        return values && index >= 0 && index < static_cast<int64_t>(values->size()) ? (*values)[static_cast<size_t>(index)]
                                                                                    : NAN;
    }
    std::string value_text(const GraphNode& node, int launch) const {
        if (!value_known(node, launch)) return "not yet";
        if (node.kind == GraphNode::Kind::label)
            return node.value ? fmt::format("{:.0f}", value(node.value, node.id)) : "classes";
        const float v = value(node.value, node.id);
        return std::isnan(v) ? "not kept" : signed_text(v);
    }
    std::string gradient_text(const GraphNode& node, int launch) const {
        if (!node.requires_grad) return "none kept";
        if (!gradient_known(node, launch)) return node.gradient_after >= 0 ? "not yet" : "none kept";
        const float g = value(node.gradient, node.id);
        return std::isnan(g) ? "not kept" : signed_text(g);
    }

    std::string caption(const nn::StepRecord& step, int launch) const {
        if (launch < 0) return "Nothing has been launched yet.";
        const device::LaunchEvent& event = step.launches[static_cast<size_t>(launch)];
        std::string held;
        for (const GraphNode& node : step.nodes)
            if (!node.saved.empty() && value_known(node, launch) && launch < node.freed_after)
                held += (held.empty() ? "" : ", ") + node.saved;
        const std::string pins =
            held.empty() ? "no saved tensor is left"
                         : held + " stay" + (held.find(',') == std::string::npos ? "s" : "") + " pinned for backward";
        return fmt::format("Launch {} of {}, {}, belongs to the {} pass; {}.", launch + 1, step.launches.size(), event.label,
                           event.phase, pins);
    }

    void nodes(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step, int launch, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float pitch = std::min(168.f, (r.w + 28) / static_cast<float>(std::max(1, columns_)));
        const float width = pitch - 28;
        const auto rule = rule_of(step, launch);
        // From the top: the product, the pins, a row of operations, edges, the row of leaves. The leaves go before the
        // product.
        constexpr float high = 64, edge = 8;
        const float product = hidden ? 0 : 48, pin = hidden ? 2 : 18;
        const bool leaves = r.h >= pin + 2 * high + edge, tall = leaves && r.h >= product + pin + 2 * high + edge,
                   box_fits = tall || (!leaves && r.h >= product + pin + high);
        const float top = r.y + pin + (box_fits && !hidden ? product + std::clamp(r.h - 226, 0.f, 8.f) : 0.f),
                    below = top + high + std::clamp(r.bottom() - top - 2 * high, edge, 32.f);
        const Color forward = data::green, backward = data::sky;
        auto box_of = [&](const Placed& p) {
            return Rect{r.x + pitch * static_cast<float>(p.column), p.below ? below : top, width, 64};
        };
        auto placed_of = [&](int id) {
            return std::find_if(placed_.begin(), placed_.end(), [&](const Placed& p) { return p.node == id; });
        };
        const int current = hidden ? -1 : node_of_launch(step, launch);

        for (const Placed& p : placed_) {
            const GraphNode& node = step.nodes[static_cast<size_t>(p.node)];
            const Rect to = box_of(p);
            for (int input : node.inputs) {
                const auto from_place = placed_of(input);
                if (from_place == placed_.end()) continue;
                const GraphNode& from = step.nodes[static_cast<size_t>(input)];
                const Rect source = box_of(*from_place);
                const bool back = !hidden && gradient_known(from, launch), ahead = value_known(node, launch);
                const Color color = back ? backward : ahead ? forward : theme.ink3;
                const float t = thickness(from.bytes);
                if (from_place->below && !leaves) continue;
                if (from_place->below) {
                    const float x = to.x + width / 2;
                    ui.rect({x - t / 2, to.bottom(), t, source.y - to.bottom()}, color);
                    back ? ui.arrow_head({x, source.y}, Way::down, color, std::max(5.f, t / 2 + 3))
                         : ui.arrow_head({x, to.bottom()}, Way::up, color, std::max(5.f, t / 2 + 3));
                } else if (from_place->column + 1 == p.column) {
                    ui.rect({source.right(), source.y + 32 - t / 2, to.x - source.right(), t}, color);
                    back ? ui.arrow_head({source.right(), source.y + 32}, Way::left, color, std::max(5.f, t / 2 + 3))
                         : ui.arrow_head({to.x, to.y + 32}, Way::right, color, std::max(5.f, t / 2 + 3));
                }
            }
        }
        for (const Placed& p : placed_) {
            const GraphNode& node = step.nodes[static_cast<size_t>(p.node)];
            const Rect box = box_of(p);
            if (!p.below || leaves) draw_node(ui, session, focus, step, node, box, launch, p.node == current, hidden);
            if (!p.below && !hidden && !node.saved.empty() && value_known(node, launch)) {
                const bool held = launch < node.freed_after;
                const float x = box.x + 12;
                ui.line({x, box.y}, {x, box.y - 10}, held ? data::yellow : theme.ink3, 2);
                held ? ui.circle({x, box.y - 12}, 5, data::yellow) : ui.ring({x, box.y - 12}, 5, theme.ink3, 1.5f);
                const float room = std::min(pitch - 32, r.right() - x - 11);  // up to the next pin
                ui.text(x + 11, box.y - 7, saved_text(ui, node, held, room),
                        {.size = 12, .color = held ? theme.ink : theme.quiet, .width = room});
            }
        }
        if (rule && box_fits)
            product_box(ui, *rule, r,
                        current >= 0 && placed_of(current) != placed_.end() ? box_of(*placed_of(current))
                                                                            : Rect{r.x, top, width, 64});
        if (leaves && ui.text_width("gradient arrived", {.size = 13}) + 24 <= pitch) {
            const float y = below + 20;
            ui.legend(r.x, y, mix(theme.panel2, data::green, 0.5f), Hatch::solid, "forward value");
            ui.legend(r.x, y + 20, mix(theme.panel2, data::sky, 0.5f), Hatch::solid, "gradient arrived");
            ui.legend(r.x, y + 40, theme.ink3, Hatch::solid, "edge: log bytes");
        }
    }

    void draw_node(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step, const GraphNode& node,
                   const Rect& box, int launch, bool current, bool hidden) {
        const Theme& theme = *ui.theme;
        ui.rect(box, theme.panel2, 3);
        const bool leaf = node.kind == GraphNode::Kind::label || node.kind == GraphNode::Kind::input;
        const bool known = value_known(node, launch), arrived = !hidden && gradient_known(node, launch);
        if (known)
            ui.rect({box.x + 1, box.y + 22, box.w - 2, 20},
                    node.kind == GraphNode::Kind::label ? mix(theme.panel2, theme.ink2, 0.18f)
                                                        : mix(theme.panel2, data::green, theme.dark ? 0.38f : 0.28f));
        if (arrived)
            ui.rect({box.x + 1, box.y + 43, box.w - 2, 20}, mix(theme.panel2, data::sky, theme.dark ? 0.42f : 0.36f));
        ui.frame(box, current ? theme.accent : theme.line, current ? 2.f : 1.f, 3);
        const std::string shape = shape_text(node.shape);
        std::string title =
            node.kind == GraphNode::Kind::op || node.kind == GraphNode::Kind::loss ? op_title(node) : node.name;
        if (ui.text_width(title, {.size = 13, .weight = 600}) + 12 > box.w)
            title = node.kind == GraphNode::Kind::loss || node.op == "softmax_cross_entropy" ? "loss"
                    : node.op == "add_bias"                                                  ? "bias"
                                                                                             : title;
        float shape_width = ui.text_width(shape, {.size = 12});
        if (ui.text_width(title, {.size = 13, .weight = 600}) + shape_width + 20 > box.w) shape_width = 0;
        ui.text(box.x + 8, box.y + 16, title,
                {.size = 13, .weight = 600, .width = box.w - (shape_width > 0 ? shape_width + 20 : 12)});
        if (shape_width > 0)
            ui.text(box.right() - 8, box.y + 16, shape, {.size = 12, .color = theme.ink2, .align = Align::right});
        const Color on_value = known ? theme.ink : theme.quiet, on_gradient = arrived ? theme.ink : theme.quiet;
        if (box.w > 118) {
            ui.text(box.x + 8, box.y + 36, "value", {.size = 12, .color = known ? theme.ink : theme.ink2});
            ui.text(box.x + 8, box.y + 57, "grad", {.size = 12, .color = arrived ? theme.ink : theme.ink2});
        }
        ui.text(box.right() - 8, box.y + 37, value_text(node, launch),
                {.size = 12, .color = on_value, .align = Align::right, .mono = known});
        ui.text(box.right() - 8, box.y + 58,
                hidden ? "hidden"
                : leaf ? "none kept"
                       : gradient_text(node, launch),
                {.size = 12, .color = on_gradient, .align = Align::right, .mono = arrived});
        if (ui.area(fmt::format("node{}", node.id), box)) {
            focus.op = node.id;
            const auto& list = node.forward_launches;
            if (!list.empty() && !hidden) {
                // A second click on the same node goes from its forward kernel to its backward one.
                const bool there = std::find(list.begin(), list.end(), focus.launch) != list.end();
                focus.launch = there && !node.backward_launches.empty() ? node.backward_launches.front() : list.front();
                if (static_cast<size_t>(focus.launch) < step.launches.size() &&
                    step.launches[static_cast<size_t>(focus.launch)].run)
                    session.post({Request::Kind::open_kernel, focus.launch, {}});
            }
        }
        if (ui.hovered(box))
            ui.tooltip(fmt::format(
                "{}\n{}, {}{}", node.name, shape, bytes_text(static_cast<double>(node.bytes)),
                node.forward_launches.empty() || hidden ? "" : "\nclick: its forward kernel, again: its backward kernel"));
    }
    // "relu1, fc2.weight saved, 36 KiB", or as much of it as fits: "relu1 +1 saved".
    static std::string saved_text(Ui& ui, const GraphNode& node, bool held, float room) {
        const std::string state = held ? " saved" : " freed";
        const std::string bytes = ", " + bytes_text(static_cast<double>(node.saved_bytes));
        std::string few = node.saved.substr(0, node.saved.find(','));
        if (const auto more = std::count(node.saved.begin(), node.saved.end(), ','); more > 0)
            few += fmt::format(" +{}", more);
        for (const std::string& text : {node.saved + state + bytes, few + state + bytes, few + state})
            if (ui.text_width(text, {.size = 12}) <= room) return text;
        return few;
    }
    static std::string op_title(const GraphNode& node) {
        return node.op == "softmax_cross_entropy" ? "softmax CE" : node.op == "add_bias" ? "add bias" : node.op;
    }

    static void product_box(Ui& ui, const ChainRule& rule, const Rect& r, const Rect& node) {
        const Theme& theme = *ui.theme;
        const std::string local = fmt::format("{} = {:+.5g}", rule.local_name, rule.local),
                          up = fmt::format("{} = {:+.5g}", rule.upstream_name, rule.upstream),
                          product = fmt::format("{:+.5g}", rule.product);
        const TextStyle mono{.size = 13, .align = Align::center, .mono = true},
            small{.size = 12, .color = theme.ink2, .align = Align::center};
        const float widths[] = {std::max(ui.text_width(local, mono), 110.f) + 20, 24,
                                std::max(ui.text_width(up, mono), 70.f) + 20, 24,
                                std::max(ui.text_width(product, mono), 60.f) + 20};
        float total = 0;
        for (float w : widths) total += w;
        const float after = 260, edge = node.x - 14;  // the edge along which the product travels
        const float x = std::clamp(edge - total / 2, r.x, std::max(r.x, r.right() - total - after));
        const float tip = std::clamp(edge, x + 8, x + total - 8);
        const Rect box{x, r.y, total, 44};
        ui.rect(box, theme.code, 4);
        ui.frame(box, theme.accent, 1.5f, 4);
        ui.line({tip, box.bottom()}, {tip, node.y + 22}, theme.accent, 1.5f);
        ui.arrow_head({tip, node.y + 26}, Way::down, theme.accent, 5);
        float at = x;
        const std::string_view heads[] = {"local derivative", "", "upstream", "", "product"};
        const std::string bodies[] = {local, "×", up, "=", product};
        for (int i = 0; i < 5; ++i) {
            if (i % 2 == 0) ui.text(at + widths[i] / 2, r.y + 17, heads[i], small);
            TextStyle style = mono;
            if (i % 2) {
                style.mono = false;
                style.weight = 700;
                style.color = theme.accent;
            }
            ui.text(at + widths[i] / 2, r.y + 35, bodies[i], style);
            at += widths[i];
        }
        if (rule.terms > 1 && r.right() - at > after - 10) {
            ui.text(at + 14, r.y + 17, fmt::format("term {} of {}; their sum is", rule.term + 1, rule.terms),
                    {.size = 12, .color = theme.ink2});
            ui.text(at + 14, r.y + 35, fmt::format("{} = {:+.5g}", rule.total_name, rule.total), {.size = 13, .mono = true});
        }
    }

    static void memory(Ui& ui, const nn::StepRecord& step, int launch, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 12, "saved tensors and gradients", {.size = 12, .color = theme.ink2});
        ui.text(r.x, r.y + 30, "KiB", {.size = 12, .color = theme.ink2});
        if (step.live_bytes.empty()) return;
        const double most = static_cast<double>(*std::max_element(step.live_bytes.begin(), step.live_bytes.end())) / 1024.0;
        double unit = std::pow(10.0, std::floor(std::log10(std::max(most, 1.0))));
        if (most / unit < 2) unit /= 2;
        const double high = std::ceil(most / unit) * unit * 1.08;
        const Rect plot{r.x + 44, r.y + 36, r.w - 44, r.h - 36 - 38};
        auto y_of = [&](double kib) { return plot.bottom() - plot.h * static_cast<float>(kib / high); };
        for (int i = 0; i * unit < high; ++i) {
            if (high / unit > 5 && i % 2) continue;
            ui.line({plot.x, y_of(i * unit)}, {plot.right(), y_of(i * unit)}, theme.grid);
            ui.text(plot.x - 8, y_of(i * unit) + 4, fmt::format("{:g}", i * unit),
                    {.size = 12, .color = theme.ink2, .align = Align::right});
        }
        const float bar = plot.w / static_cast<float>(step.live_bytes.size());
        for (size_t i = 0; i < step.live_bytes.size(); ++i) {
            const double kib = static_cast<double>(step.live_bytes[i]) / 1024.0;
            const float x = plot.x + bar * static_cast<float>(i), y = y_of(kib);
            const bool forward = i < step.launches.size() && step.launches[i].phase == "forward";
            if (static_cast<int>(i) <= launch)
                ui.rect({x + 0.5f, y, bar - 1, plot.bottom() - y},
                        mix(theme.panel, forward ? data::green : data::sky, 0.55f));
            else
                ui.dashed({x + 1.5f, y, bar - 3, plot.bottom() - y}, theme.ink3, 3, 3);
            const bool here = static_cast<int>(i) == launch;
            const size_t every = step.live_bytes.size() > 14 ? 3 : 1;
            if (here || (i % every == 0 && std::abs(static_cast<int>(i) - launch) >= static_cast<int>(every)))
                ui.text(x + bar / 2, plot.bottom() + 15, std::to_string(i + 1),
                        {.size = 12,
                         .color = here ? theme.ink : theme.ink2,
                         .align = Align::center,
                         .weight = here ? 600 : 400});
            if (here) {
                const bool left = i > step.live_bytes.size() / 2;
                ui.text(left ? x + bar : x, y - 6, fmt::format("{:.0f} now", kib),
                        {.size = 12, .align = left ? Align::right : Align::left, .weight = 600});
            }
        }
        ui.text(plot.x + plot.w / 2, r.bottom() - 4, "launch of the step",
                {.size = 12, .color = theme.ink2, .align = Align::center});
    }
};

}  // namespace

std::unique_ptr<View> make_graph_view() {
    return std::make_unique<GraphView>();
}

}  // namespace lockstep::gui
