// A Llama block as a diagram: its nine parts in order with their shapes, and beside each its parameters and its arithmetic,
// of this lesson's small block or of a Llama 3; how query heads share keys; and what the whole model is made of. What a
// question asks about waits for its answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/tensor/llama_block_data.h"
#include "app/gui/views/tensor/tensor_text.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view block_title = "A Llama block: shapes, parameters, arithmetic";
constexpr float parts_head = 26, parts_least = 19;  // of the list of parts in little room: above it, a part
constexpr std::string_view block_hidden = "Parameters and arithmetic are hidden until you lock an answer.";
constexpr std::string_view asked_halves = "model.ffn_parameters@model:llama3_8b";  // how a layer's halves share it

std::string count_text(double count) {  // "8.03 billion", "218 million", "4,096"
    if (count >= 1e9) return fmt::format("{:.3g} billion", count / 1e9);
    if (count >= 1e6) return fmt::format("{:.3g} million", count / 1e6);
    return readable_number(fmt::format("{:.0f}", count));
}
std::string operations_text(double operations) {
    constexpr std::pair<double, const char*> units[] = {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}};
    for (const auto& [size, name] : units)
        if (operations >= size) return fmt::format("{:.3g} {}", operations / size, name);
    return readable_number(fmt::format("{:.0f}", operations)) + " FLOP";
}

struct BlockChoice {
    std::string label;
    nn::ModelShape shape;
};

class LlamaBlockView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        refresh(session);
        const bool hidden = waits(session);
        chosen_ = std::min(chosen_, choices_.size() - 1);
        const LlamaBlock& block = block_now();
        const std::string caption = hidden ? hidden_caption(session) : caption_of(block);
        const Rect body = ui.panel(
            area,
            {.title = hidden ? std::string_view("A Llama block: shapes and products") : block_title,
             .right = hidden ? fmt::format("{} tokens", whole_number(block.places))
                             : fmt::format("forward, one sequence of {} tokens in 16 bits", whole_number(block.places)),
             .badge = Provenance::derived,
             .caption = caption});
        ui.push_scope("llama block");
        float y = body.y;
        if (!has_room_to_itself(session, body.h)) {
            draw_choices(ui, {body.x, body.y, body.w, 26});
            y += 34;
        }
        const bool low = body.h <= 300;  // above a sketch
        ui.text(body.x, y + (low ? 12.0f : 20.0f), headline_of(block, hidden, asks_shares(session)),
                {.size = low ? 16.0f : 20.0f, .weight = 700, .width = body.w});
        y += low ? 20 : 36;
        // In little room the parts need it more than the words for their letters.
        const auto parts = static_cast<float>(block.parts.size());
        const bool legend = body.bottom() - 26 - y >= parts_head + parts_least * parts;
        const Rect room{body.x, y, body.w, body.bottom() - (legend ? 26 : 0) - y};
        const bool heads = room.w > (hidden ? 640.0f : 860.0f);  // the shapes are given, the counts' room is free
        const Rect left{room.x, room.y, heads ? room.w - 270 : room.w, room.h};
        draw_parts(ui, block, hidden, left);
        if (heads) {
            const bool shares = session.learn.reveal_steps < 0 && (is_own() || !waits_for(session, "kv_heads"));
            draw_heads(ui, block, shares, !hidden, {room.right() - 236, room.y, 236, room.h});
        }
        ui.pop_scope();
        if (!legend) return;
        const float at = body.bottom() - 6;
        float x = ui.legend(body.x, at, data::sky, Hatch::solid, "P product");
        x = ui.legend(x, at, data::purple, Hatch::cross, "A attention");
        x = ui.legend(x, at, data::grey, Hatch::diagonal, "E element by element");
        if (x + 150 < body.right()) ui.legend_line(x, at, data::yellow, false, "added around");
    }

    std::string describe(const Session& session, const Focus&) const override {
        LlamaBlockView fresh;
        fresh.chosen_ = chosen_;
        fresh.places_ = places_;
        fresh.refresh(session);
        if (seen_step_ == session.lesson.step) fresh.chosen_ = std::min(chosen_, fresh.choices_.size() - 1);
        const bool hidden = fresh.waits(session);
        const LlamaBlock& block = fresh.block_now();
        std::string text =
            fmt::format("{} (derived), {}, {} tokens\n  {}\n", block_title, fresh.choices_[fresh.chosen_].label,
                        block.places, fresh.headline_of(block, hidden, asks_shares(session)));
        for (const BlockPart& part : block.parts) {
            text += fmt::format("  {}: {}", part.title, part.shapes);
            if (!hidden)
                text += fmt::format("; {} parameters, {}, {}", count_text(static_cast<double>(part.parameters)),
                                    operations_text(part.operations), bytes_text(part.bytes));
            text += "\n";
        }
        return text + "  " + (hidden ? fresh.hidden_caption(session) : fresh.caption_of(block)) + "\n";
    }

  private:
    // What this step or a later one asks about is not told before it either, of whichever scene that is: the models are the
    // same in all of them, and what one's layer has tells of the others, as the lesson's own small block does.
    bool waits(const Session& session) const {
        return session.learn.reveal_steps >= 0 || asks_for(session, asked_halves) || waits_for(session, asked_halves) ||
               (!is_own() && waits_for(session, model_words()));
    }
    int asking_later(const Session& session) const {  // its step, from 1; 0: none
        if (const int step = step_waiting_for(session, asked_halves); step > 0 || is_own()) return step;
        return step_waiting_for(session, model_words());
    }
    std::string model_words() const { return "parameters@model:" + figure_name(choices_[chosen_].shape); }
    std::string hidden_caption(const Session& session) const {
        const int later = asking_later(session);
        if (later == 0 || later == session.lesson.step + 1) return std::string(block_hidden);
        return fmt::format(
            "Each linear layer makes a product forward and two back. Parameters and arithmetic come with "
            "the question of step {}.",
            later);
    }
    static std::string figure_name(const nn::ModelShape& shape) {  // as questions have it
        std::string name(shape.name);
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    }
    // The model that the step's question is about, else the one that its title ends with, else that of the scene's next
    // question.
    size_t asked_model(const Session& session) const {
        const LessonState& state = session.lesson;
        if (!state.lesson || session.workspace != Workspace::learn) return 0;
        const auto now = static_cast<size_t>(std::max(0, state.step));
        const scene::Scene* const scene = lessons::scene_at(*state.lesson, now);
        for (size_t s = now; s < state.lesson->steps.size() && lessons::scene_at(*state.lesson, s) == scene; ++s) {
            for (const lessons::Predict& predict : state.lesson->steps[s].predicts)
                for (size_t i = 0; i < choices_.size(); ++i) {
                    const std::string name = figure_name(choices_[i].shape);
                    if (name.starts_with("llama") && predict.of.text().find(name) != std::string::npos) return i;
                }
            for (size_t i = 0; s == now && i < choices_.size(); ++i)
                if (state.lesson->steps[s].title.ends_with(choices_[i].label)) return i;
        }
        return 0;
    }
    void refresh(const Session& session) {
        const auto snapshot = session.snapshot();
        const auto& step = snapshot->training.step;
        if (!choices_.empty() && step == seen_ && session.lesson.step == seen_step_) return;
        seen_ = step;
        seen_step_ = session.lesson.step;
        choices_.clear();
        made_.reset();
        own_places_ = 0;
        if (step)
            if (auto own = recorded_block(*step)) {
                own_places_ = own->places;
                choices_.push_back({"this block", own->shape});
            }
        for (const char* name : {"8b", "70b", "405b"}) {
            std::string label = name;
            label.back() = 'B';
            choices_.push_back({label, *nn::find_shape(fmt::format("llama3-{}", name))});
        }
        chosen_ = asked_model(session);
    }
    bool is_own() const { return own_places_ > 0 && chosen_ == 0; }
    const LlamaBlock& block_now() const {
        const int64_t places = is_own() ? own_places_ : places_;
        if (!made_ || made_of_ != chosen_ || made_->places != places) {
            made_ = llama_block(choices_[chosen_].shape, places);
            made_of_ = chosen_;
        }
        return *made_;
    }

    void draw_choices(Ui& ui, const Rect& r) {
        float x = ui.text(r.x, r.y + 18, "model", {.size = 13, .color = ui.theme->ink2}) + 8;
        for (size_t i = 0; i < choices_.size(); ++i) {
            if (x + ui.chip_width(choices_[i].label) > r.right()) break;
            if (ui.chip(x, r.y, choices_[i].label, i == chosen_)) chosen_ = i;
        }
        if (is_own() || x + 330 > r.right()) return;
        x = ui.text(x + 14, r.y + 18, "tokens", {.size = 13, .color = ui.theme->ink2}) + 8;
        for (const int64_t places : {1'024, 8'192, 65'536}) {
            const std::string label = whole_number(places);
            if (x + ui.chip_width(label) > r.right()) break;
            if (ui.chip(x, r.y, label, places == places_)) places_ = places;
        }
    }

    // The step's question is how a layer's halves share it; where nothing is asked a whole model is counted.
    static bool asks_shares(const Session& session) {
        const LessonState& state = session.lesson;
        if (session.workspace != Workspace::learn || !state.lesson || state.step < 0 ||
            static_cast<size_t>(state.step) >= state.lesson->steps.size())
            return true;
        return !state.lesson->steps[static_cast<size_t>(state.step)].predicts.empty();
    }
    static std::string headline_of(const LlamaBlock& block, bool hidden, bool shares) {
        if (hidden) {
            int products = 0;
            for (const BlockPart& part : block.parts) products += part.products;
            return block.shape.layers == 1
                       ? fmt::format("{} linear layers, {} products: {} forward, {} back", products, 3 * products, products,
                                     2 * products)
                       : fmt::format("The same block, {} times; {} query heads share {} of keys and values",
                                     block.shape.layers, block.shape.heads, block.shape.kv_heads);
        }
        if (!shares && block.table_parameters > 0)
            return fmt::format("{} layers of {} and tables of {}: {}", block.shape.layers,
                               count_text(static_cast<double>(block.block_parameters)),
                               count_text(static_cast<double>(block.table_parameters)),
                               count_text(static_cast<double>(block.all_parameters())));
        const double share =
            100.0 * static_cast<double>(block.parameters(true)) / static_cast<double>(block.block_parameters);
        return fmt::format("Gate, up and down hold {:.0f} % of a block's parameters", share);
    }
    static double ffn_share(const LlamaBlock& block) {
        double sum = 0;
        for (const BlockPart& part : block.parts) sum += part.feeds_forward ? part.operations : 0;
        return sum / block.operations();
    }
    static std::string caption_of(const LlamaBlock& block) {
        std::string text = fmt::format(
            "{} parameters a block, {} in its feed-forward half; the same half does {:.0f} % of "
            "the arithmetic over {} tokens.",
            count_text(static_cast<double>(block.block_parameters)), count_text(static_cast<double>(block.parameters(true))),
            100 * ffn_share(block), whole_number(block.places));
        if (block.table_parameters > 0)
            text += fmt::format(" {} blocks and the tables of tokens: {} in all.", block.shape.layers,
                                count_text(static_cast<double>(block.all_parameters())));
        return text;
    }

    void draw_parts(Ui& ui, const LlamaBlock& block, bool hidden, const Rect& r) const {
        const Theme& theme = *ui.theme;
        const auto count = static_cast<float>(block.parts.size());
        const bool low = r.h < 300;
        const float head = low ? parts_head - 6 : 30, pitch = std::min(56.0f, (r.h - head - (low ? 0 : 6)) / count);
        if (pitch < 16) return;
        const float high = pitch - (pitch > 36 ? 11 : pitch > 24 ? 5 : 3), rail = 26, box = std::min(236.0f, r.w * 0.42f);
        const Rect boxes{r.x + rail, r.y + head, box, pitch * count};
        const float rest = r.w - rail - box - 24;
        const bool arithmetic = rest > 360;
        const float column = arithmetic ? (rest - 20) / 2 : rest;
        const Rect first{boxes.right() + 24, boxes.y, column, boxes.h}, second{first.right() + 20, boxes.y, column, boxes.h};
        ui.text(boxes.x, r.y + 14, "The block", {.size = 14, .weight = 600});
        if (hidden) {
            draw_products(ui, block, {first.x, r.y, rest, r.h}, first.y, pitch, high);
            draw_way(ui, block, r, boxes, pitch, high);
            return;
        }
        const float words = ui.text(first.x, r.y + 14, "Parameters", {.size = 14, .weight = 600});
        ui.text(words + 8, r.y + 14, "of one block", {.size = 13, .color = theme.quiet, .width = first.right() - words - 8});
        if (arithmetic) {
            const float more = ui.text(second.x, r.y + 14, "Arithmetic", {.size = 14, .weight = 600});
            ui.text(more + 8, r.y + 14, "forward", {.size = 13, .color = theme.quiet, .width = second.right() - more - 8});
        }
        double most_parameters = 1, most_operations = 1;
        for (const BlockPart& part : block.parts) {
            most_parameters = std::max(most_parameters, static_cast<double>(part.parameters));
            most_operations = std::max(most_operations, part.operations);
        }
        for (size_t i = 0; i < block.parts.size(); ++i) {
            const BlockPart& part = block.parts[i];
            const Rect at{boxes.x, boxes.y + pitch * static_cast<float>(i), box, high};
            if (ui.hovered({r.x, at.y, r.w, high}))
                ui.tooltip(fmt::format("{}: {} parameters, {}, {} read and written", part.title,
                                       whole_number(part.parameters), operations_text(part.operations),
                                       bytes_text(part.bytes)));
            const double all = static_cast<double>(block.block_parameters);
            bar(ui, part, {first.x, at.y, first.w, high}, static_cast<double>(part.parameters), most_parameters,
                part.parameters == 0 ? std::string("none") : count_text(static_cast<double>(part.parameters)),
                static_cast<double>(part.parameters) / all);
            if (arithmetic)
                bar(ui, part, {second.x, at.y, second.w, high}, part.operations, most_operations,
                    operations_text(part.operations), part.operations / block.operations());
        }
        draw_way(ui, block, r, boxes, pitch, high);
    }
    // The parts' boxes, one behind the other, and what goes around each half.
    static void draw_way(Ui& ui, const LlamaBlock& block, const Rect& r, const Rect& boxes, float pitch, float high) {
        const Theme& theme = *ui.theme;
        const float box = boxes.w;
        for (size_t i = 0; i < block.parts.size(); ++i) {
            const Rect at{boxes.x, boxes.y + pitch * static_cast<float>(i), box, high};
            draw_box(ui, block.parts[i], at);
            if (i + 1 < block.parts.size()) {
                const float middle = at.x + at.w / 2;
                ui.line({middle, at.bottom()}, {middle, at.y + pitch}, theme.ink3);
            }
        }
        // what came in goes around each half
        const auto around = [&](size_t from, size_t to, std::string_view name) {
            const float top = boxes.y + pitch * static_cast<float>(from) - 4,
                        end = boxes.y + pitch * static_cast<float>(to) + high / 2, x = r.x + 14;
            const Point way[] = {{boxes.x + box / 2, top}, {x, top}, {x, end}, {boxes.x - 7, end}};
            ui.polyline(way, data::yellow, 2);
            ui.arrow_head({boxes.x - 2, end}, Way::right, data::yellow);
            ui.rect({x - 11, (top + end) / 2 - 9, 24, 17}, theme.panel);
            ui.text(x, (top + end) / 2 + 4, name, {.size = 12, .color = theme.ink2, .align = Align::center, .weight = 600});
        };
        around(0, 4, "+x");
        around(5, 8, "+h");
    }
    // The products that a step makes of each part, a square each: what no question asks about.
    static void draw_products(Ui& ui, const LlamaBlock& block, const Rect& r, float top, float pitch, float high) {
        const Theme& theme = *ui.theme;
        const float half = std::min(170.0f, (r.w - 16) / 2), size = std::min(18.0f, high - 2);
        ui.text(r.x, r.y + 14, "Products forward", {.size = 14, .weight = 600, .width = half - 4});
        ui.text(r.x + half, r.y + 14, "back", {.size = 14, .weight = 600, .width = half});
        for (size_t i = 0; i < block.parts.size(); ++i) {
            const BlockPart& part = block.parts[i];
            const float y = top + pitch * static_cast<float>(i) + (high - size) / 2;
            if (part.kind == BlockPart::Kind::attention)
                ui.text(r.x, y + size - 4, "two of its own, in its kernel", {.size = 13, .color = theme.ink2, .width = r.w});
            if (part.products == 0 && part.kind == BlockPart::Kind::elementwise)
                ui.text(r.x, y + size - 4, "none", {.size = 13, .color = theme.quiet});
            const float step = std::min(size + 4, half / static_cast<float>(2 * part.products + 1));
            for (int n = 0; n < 3 * part.products; ++n) {
                const bool back = n >= part.products;
                const float x = r.x + (back ? half : 0) + step * static_cast<float>(back ? n - part.products : n);
                const Rect at{x, y, step - 4, size};
                if (back)
                    ui.hatch(at, data::sky, Hatch::horizontal);
                else
                    ui.rect(at, data::sky);
            }
        }
    }
    static void draw_box(Ui& ui, const BlockPart& part, const Rect& at) {
        const Theme& theme = *ui.theme;
        ui.rect(at, theme.panel2, 4);
        const Rect strip{at.x, at.y, 24, at.h};
        const bool product = part.kind == BlockPart::Kind::product, attention = part.kind == BlockPart::Kind::attention;
        ui.hatch(strip,
                 product     ? data::sky
                 : attention ? data::purple
                             : data::grey,
                 product     ? Hatch::solid
                 : attention ? Hatch::cross
                             : Hatch::diagonal);
        const float ground = std::min(18.0f, at.h - 1);
        ui.rect({strip.x + 4, at.y + (at.h - ground) / 2, 16, ground}, theme.panel, 2);
        ui.text(strip.x + 12, at.y + at.h / 2 + 4.5f,
                product     ? "P"
                : attention ? "A"
                            : "E",
                {.size = 12, .align = Align::center, .weight = 700});
        const bool two = at.h >= 38;
        ui.text(at.x + 34, at.y + (two ? at.h / 2 - 3 : at.h / 2 + 5), part.title,
                {.size = 14, .weight = 600, .width = at.w - 38});
        if (two)
            ui.text(at.x + 34, at.y + at.h / 2 + 14, part.shapes, {.size = 12, .color = theme.ink2, .width = at.w - 38});
    }
    static void bar(Ui& ui, const BlockPart& part, const Rect& r, double value, double most, const std::string& text,
                    double share) {
        const Theme& theme = *ui.theme;
        const std::string words = share >= 0.005 ? fmt::format("{}, {:.0f} %", text, 100 * share) : text;
        const float room = ui.text_width(words, {.size = 13}) + 10, wide = std::max(20.0f, r.w - room);
        const float w = std::max(2.0f, wide * static_cast<float>(value / most));
        const Rect at{r.x, r.y + r.h / 2 - 9, w, 18};
        if (value <= 0)
            ui.line({r.x, at.y}, {r.x, at.bottom()}, theme.ink3, 2);
        else if (part.kind == BlockPart::Kind::product)
            ui.rect(at, data::sky);
        else if (part.kind == BlockPart::Kind::attention)
            ui.hatch(at, data::purple, Hatch::cross);
        else
            ui.hatch(at, data::grey, Hatch::diagonal);
        ui.text(at.x + w + 8, r.y + r.h / 2 + 5, words,
                {.size = 13, .color = share > 0.2 ? theme.ink : theme.ink2, .weight = share > 0.2 ? 600 : 400});
    }

    // Which query heads share a head of keys and values.
    // What is to be remembered, and what the whole model is made of, as far as no question waits for it.
    static void draw_heads(Ui& ui, const LlamaBlock& block, bool tells_cache, bool tells_counts, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, "Queries share keys", {.size = 14, .weight = 600});
        const int64_t groups = block.shape.kv_heads, each = block.shape.heads / groups;
        const float pitch = std::clamp((r.h - 210) / static_cast<float>(groups), 12.0f, 30.0f),
                    size = std::min(pitch - 4, 20.0f);
        const float step = std::min(size + 3, (r.w - 92) / static_cast<float>(each));
        float y = r.y + 32;
        for (int64_t g = 0; g < groups && y + pitch < r.bottom(); ++g, y += pitch) {
            for (int64_t h = 0; h < each; ++h)
                ui.rect({r.x + step * static_cast<float>(h), y, std::max(2.0f, step - 3), size}, data::sky);
            const float end = r.x + step * static_cast<float>(each);
            ui.line({end + 3, y + size / 2}, {end + 26, y + size / 2}, theme.ink3, 1.5f);
            ui.hatch({end + 30, y, size * 1.6f, size}, data::orange, Hatch::diagonal);
        }
        y += 6;
        float x = ui.legend(r.x, y + 12, data::sky, Hatch::solid, fmt::format("{} of q", block.shape.heads));
        ui.legend(x, y + 12, data::orange, Hatch::diagonal, fmt::format("{} of k, v", groups));
        y += 36;
        if (!tells_cache || y + 60 > r.bottom()) return;
        ui.text(r.x, y, fmt::format("{} a token to remember", bytes_text(block.cache_bytes())), {.size = 13, .width = r.w});
        ui.text(r.x, y + 19,
                fmt::format("{:.3g} % of one pair a query head",
                            100.0 * static_cast<double>(groups) / static_cast<double>(block.shape.heads)),
                {.size = 13, .color = theme.ink2, .width = r.w});
        y += 50;
        if (!tells_counts || block.table_parameters == 0 || y + 84 > r.bottom()) return;
        const double all = static_cast<double>(block.all_parameters());
        ui.text(r.x, y, count_text(all) + " in all", {.size = 14, .weight = 600, .width = r.w});
        const std::pair<std::string_view, double> shares[] = {
            {"feed forward", static_cast<double>(block.shape.layers * block.parameters(true)) / all},
            {"attention", static_cast<double>(block.shape.layers * block.parameters(false)) / all},
            {"tables of tokens", static_cast<double>(block.table_parameters) / all}};
        const PartFill fills[] = {{data::sky, Hatch::solid}, {data::purple, Hatch::cross}, {data::green, Hatch::horizontal}};
        float from = r.x;
        for (size_t i = 0; i < 3; ++i) {
            const float w = r.w * static_cast<float>(shares[i].second);
            ui.hatch({from, y + 10, std::max(1.0f, w - 1), 18}, fills[i].color, fills[i].hatch);
            from += w;
            ui.legend(r.x, y + 46 + 19 * static_cast<float>(i), fills[i].color, fills[i].hatch,
                      fmt::format("{} {:.0f} %", shares[i].first, 100 * shares[i].second));
        }
    }
    struct PartFill {
        Color color;
        Hatch hatch;
    };

    std::shared_ptr<const nn::StepRecord> seen_;
    std::vector<BlockChoice> choices_;
    int seen_step_ = -1;
    size_t chosen_ = 0;
    int64_t places_ = 8192, own_places_ = 0;
    mutable std::optional<LlamaBlock> made_;
    mutable size_t made_of_ = 0;
};

}  // namespace

std::unique_ptr<View> make_llama_block_view() {
    return std::make_unique<LlamaBlockView>();
}

}  // namespace lockstep::gui
