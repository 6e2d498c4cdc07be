// D11, memory per rank, by the formulas or, of a training run, as it was allocated (with the formulas' heights as marks at
// the bars' sides and the picked rank's step below): stacked bars of weights, gradients, Adam's state, activations and
// buffers against the GPU's memory; what is over it is hatched. The four stages of ZeRO side by side, or one of them rank by
// rank; heights move to their new place in 300 ms and leave a ghost. Below: one step of the stage that is looked at. Chips,
// the two sliders, Up and Down.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/widgets/axis.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view rank_memory_title = "Memory per rank";
constexpr std::string_view rank_memory_hidden = "Memory stays hidden until you lock an answer.";
constexpr double morph_seconds = 0.3;

struct KindLook {
    Color fill;
    Hatch twin;
    std::string_view name, inside;
};
constexpr KindLook kind_looks[] = {{data::sky, Hatch::solid, "weights", "weights"},
                                   {data::green, Hatch::horizontal, "gradients", "grads"},
                                   {data::purple, Hatch::diagonal, "Adam state", "Adam"},
                                   {data::orange, Hatch::dots, "activations", "activations"},
                                   {data::grey, Hatch::cross, "buffers", "buffers"}};
static_assert(std::size(kind_looks) == parallel::memory_kinds);

std::string gigabytes(double bytes) {
    const double gb = bytes / 1e9;
    if (gb >= 1000) return fmt::format("{:.3g} TB", gb / 1000);
    if (gb >= 0.9995) return fmt::format("{:.3g} GB", gb);
    if (gb >= 0.9995e-3) return fmt::format("{:.3g} MB", gb * 1000);
    return fmt::format("{:.3g} kB", gb * 1e6);
}
std::string parameters_text(double count) {
    if (count < 1e6) return with_commas(static_cast<int64_t>(count));
    return count >= 1e9 ? fmt::format("{:.3g} B", count / 1e9) : fmt::format("{:.3g} M", count / 1e6);
}
std::string narrow_bytes(std::string text) {  // "238 kB" as "238k", under narrow bars
    if (text.size() > 3 && text[text.size() - 3] == ' ') text.erase(text.size() - 3, 1), text.pop_back();
    return text;
}
double total_bytes(const parallel::MemoryBytes& bytes) {
    double sum = 0;
    for (const int64_t of_kind : bytes) sum += static_cast<double>(of_kind);
    return sum;
}
std::string sends_text(double sends) {  // in parameters: 2P for any number of ranks that is large
    if (sends <= 0) return "nothing";
    return std::abs(sends - std::round(sends)) < 0.1 ? fmt::format("{:.0f}P", sends) : fmt::format("{:.2g}P", sends);
}

using Heights = std::array<double, parallel::memory_kinds>;
Heights heights_of(const parallel::MemoryBytes& bytes) {
    Heights heights;
    for (size_t i = 0; i < heights.size(); ++i) heights[i] = static_cast<double>(bytes[i]);
    return heights;
}
double sum(const Heights& heights) {
    double all = 0;
    for (const double height : heights) all += height;
    return all;
}

struct Bar {
    std::string name, sharded, sends;
    Heights bytes{};
    Heights formula{};
};

class RankMemoryView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene || scene->memory.columns.empty()) {
            const Rect body = ui.panel(area, {.title = rank_memory_title});
            if (scene && scene->training) return ui.say_nothing_yet(body, "Nothing was trained.", scene->training->refusal);
            return ui.say_nothing_yet(body, "No memory has been counted yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(rank_memory_hidden) : caption_of(*scene);
        const Rect body =
            ui.panel(area, {.title = rank_memory_title,
                            .right = scene->memory.counted ? "counted allocations" : "model state, Adam, mixed precision",
                            .badge = scene->memory.counted ? Provenance::executed : Provenance::derived,
                            .caption = caption});
        ui.push_scope("rank_memory");
        float used = has_room_to_itself(session, body.h) ? 0 : controls(ui, session, *scene, body);
        if (hidden) {
            draw_hidden_place(ui, {body.x, body.y + used, body.w, body.h - used});
            return ui.pop_scope();
        }
        std::vector<Bar> bars = bars_of(*scene);
        if (const std::string says = headline_of(bars); !says.empty() && session.workspace == Workspace::learn) {
            const bool fits = ui.text_width(says, {.size = 18, .weight = 700}) <= body.w;
            ui.text(body.x, body.y + used + 16, says, {.size = fits ? 18.0f : 15.0f, .weight = 700, .width = body.w});
            used += 28;
        }
        follow(ui, bars);
        const bool strip = body.h - used > 300 && !scene->memory.over_step.empty();
        const float below = strip ? 118.0f : 0.0f;
        draw_legend(ui, *scene, body.x, body.y + used + 14, body.right());
        draw_bars(ui, session, focus, *scene, bars, {body.x, body.y + used + 24, body.w, body.h - used - 24 - below}, area);
        if (strip) draw_step(ui, session, *scene, focus, {body.x, body.bottom() - below + 8, body.w, below - 8});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->cluster || snapshot->cluster->memory.columns.empty())
            return std::string(rank_memory_title) + ": nothing has been counted yet.\n";
        const scene::ClusterScene& scene = *snapshot->cluster;
        const scene::MemorySetup& setup = scene.setup.memory;
        std::string text = fmt::format("{} ({}): {} parameters on {} GPUs, {} of {}\n", rank_memory_title,
                                       scene.memory.counted ? "executed" : "derived", parameters_text(setup.parameters),
                                       setup.gpus, gigabytes(scene.memory.capacity), scene.memory.gpu);
        if (scene.training)
            text = fmt::format("{} (executed): {}, {} parameters, between backward and update\n", rank_memory_title,
                               scene.training->title, parameters_text(static_cast<double>(scene.training->parameters)));
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(rank_memory_hidden) + "\n";
        for (const scene::MemoryColumn& column : scene.memory.columns)
            text += "  " + column_text(column, scene.memory.capacity) + "\n";
        if (const Looked looked = looked_at(scene, focus); !looked.points->empty())
            text += fmt::format("  {} over one step: peak {}\n", looked.name, gigabytes(looked.peak));
        if (const Looked looked = looked_at(scene, focus); trained(scene) && !looked.points->empty())
            text += fmt::format("  {} at {} µs: {}\n", looked.name, amount(schedule_time(session, focus, scene)),
                                memory_words(heights_at(*looked.points, share_of_step(session, focus, scene))));
        if (const std::string says = headline_of(bars_of(scene)); !says.empty()) text += "  " + says + "\n";
        return text + "  " + caption_of(scene) + "\n";
    }

  private:
    static std::string column_text(const scene::MemoryColumn& column, double capacity) {
        std::string text = fmt::format("{}: {}", column.name, gigabytes(total_bytes(column.bytes)));
        for (size_t kind = 0; kind < parallel::memory_kinds; ++kind)
            if (column.bytes[kind] > 0)
                text += fmt::format(", {} {}", kind_looks[kind].name, gigabytes(static_cast<double>(column.bytes[kind])));
        if (column.formula[0] > 0)
            text += fmt::format("; by formula {}; peak {}; sent {}", gigabytes(total_bytes(column.formula)),
                                gigabytes(static_cast<double>(column.peak)), gigabytes(static_cast<double>(column.sent)));
        if (!column.sharded.empty()) text += fmt::format("; sharded: {}", column.sharded);
        if (column.sent > 0 && column.formula[0] <= 0)
            text += fmt::format("; sends {} a step", gigabytes(static_cast<double>(column.sent)));
        if (column.sends > 0) text += fmt::format("; a rank sends {:.3g} times the parameters a step", column.sends);
        if (const double over = total_bytes(column.bytes) - capacity; over > 0 && capacity > 0)
            text += fmt::format("; out of memory by {}", gigabytes(over));
        return text;
    }

    struct Looked {  // whose step stands below the bars
        std::string name;
        const std::vector<parallel::MemoryPoint>* points = nullptr;
        double peak = 0;
    };
    static Looked looked_at(const scene::ClusterScene& scene, const Focus& focus) {
        const scene::MemoryShown& memory = scene.memory;
        Looked looked{memory.step_of, &memory.over_step, static_cast<double>(memory.peak())};
        const auto rank = static_cast<size_t>(std::max(0, focus.rank));
        if (!memory.counted || rank >= memory.columns.size() || memory.columns[rank].over_step.empty()) return looked;
        const scene::MemoryColumn& column = memory.columns[rank];
        return {column.name, &column.over_step, static_cast<double>(column.peak)};
    }

    std::vector<Heights> from_, shown_, to_;  // of the bars: where they move from, stand, and move to
    std::vector<Heights> ghosts_;
    std::vector<std::string> names_;
    double since_ = -1;

    static std::string told(const scene::MemoryColumn& column) {
        return column.zero == 0 ? std::string("Plain data parallelism") : column.name;
    }

    static std::string caption_of(const scene::ClusterScene& scene) {
        const scene::MemoryShown& memory = scene.memory;
        const auto fits = [&](const scene::MemoryColumn& column) {
            return memory.capacity <= 0 || total_bytes(column.bytes) <= memory.capacity;
        };
        if (memory.counted) {
            const auto most =
                std::max_element(memory.columns.begin(), memory.columns.end(),
                                 [](const auto& a, const auto& b) { return total_bytes(a.bytes) < total_bytes(b.bytes); });
            if (!scene.training || most->formula[0] <= 0)
                return fmt::format("{} holds the most: {}.", most->name, gigabytes(total_bytes(most->bytes)));
            const double state = static_cast<double>(most->bytes[0] + most->bytes[1] + most->bytes[2]);
            return fmt::format("{} holds the most: {} of weights, gradients and Adam; ZeRO's formula says {}.", most->name,
                               gigabytes(state), gigabytes(total_bytes(most->formula)));
        }
        const scene::MemoryColumn& plain = memory.columns.front();
        if (scene.setup.memory.only >= 0)
            return fits(plain) ? fmt::format("{} needs {} a GPU and fits.", told(plain), gigabytes(total_bytes(plain.bytes)))
                               : fmt::format("{} needs {} a GPU and does not fit: {} are there.", told(plain),
                                             gigabytes(total_bytes(plain.bytes)), gigabytes(memory.capacity));
        if (fits(plain))
            return fmt::format("Plain data parallelism needs {} a GPU and fits; ZeRO-3 would leave {}.",
                               gigabytes(total_bytes(plain.bytes)), gigabytes(total_bytes(memory.columns.back().bytes)));
        for (const scene::MemoryColumn& column : memory.columns)
            if (fits(column))
                return fmt::format("Plain needs {} and does not fit; {} fits{}.", gigabytes(total_bytes(plain.bytes)),
                                   column.name, column.zero == 3 ? " and sends half as much again" : " and sends no more");
        return fmt::format("No stage fits {} GPUs: ZeRO-3 still needs {}.", scene.setup.memory.gpus,
                           gigabytes(total_bytes(memory.columns.back().bytes)));
    }

    static float stages_of_run(Ui& ui, Session& session, const Rect& body) {  // which stage of ZeRO trains
        static constexpr std::string_view stages[] = {"plain", "ZeRO-1", "ZeRO-2", "ZeRO-3"};
        scene::ClusterSetup wanted = cluster_setup(session);
        float x = body.x;
        for (int i = 0; i < 4; ++i)
            if (x + ui.chip_width(stages[i]) <= body.right() &&
                ui.chip(x, body.y, stages[i], wanted.training.plan.zero == i)) {
                wanted.training.plan.zero = i;
                ask_cluster(session, wanted);
            }
        return 36;
    }

    float controls(Ui& ui, Session& session, const scene::ClusterScene& scene, const Rect& body) {
        if (scene.training && session.workspace == Workspace::cluster) return stages_of_run(ui, session, body);
        if (scene.memory.counted) return 0;
        scene::ClusterSetup wanted = cluster_setup(session);
        scene::MemorySetup& setup = wanted.memory;
        const scene::MemorySetup before = setup;
        const bool two = body.w > 420;
        const float half = two ? body.w / 2 - 10 : body.w;
        const auto slider = [&](float x, float y, std::string_view label, const std::string& value, double share,
                                int steps) {
            const float left = ui.text(x, y + 18, label, {.size = 13, .color = ui.theme->ink2}) + 12;
            const float right = x + half - ui.text_width("16384", {.size = 13, .weight = 600}) - 12;
            ui.text(x + half, y + 18, value, {.size = 13, .align = Align::right, .weight = 600});
            return static_cast<double>(
                ui.slider(label, {left, y + 4, std::max(20.0f, right - left), 18}, static_cast<float>(share), steps));
        };
        // 100 million to 1 trillion parameters, half decades by twentieths; 1 to 1,024 GPUs by doubling.
        const double at = std::log10(setup.parameters / 1e8) / 4;
        const double share = slider(body.x, body.y, "parameters", parameters_text(setup.parameters), at, 0);
        if (std::abs(share - at) > 1e-4) {
            const double value = 1e8 * std::pow(10, 4 * share), unit = std::pow(10, std::floor(std::log10(value)) - 1);
            setup.parameters = std::round(value / unit / 5) * 5 * unit;
        }
        const double doublings = std::log2(static_cast<double>(setup.gpus)) / 10;
        const double moved = slider(two ? body.x + half + 20 : body.x, two ? body.y : body.y + 28, "GPUs",
                                    std::to_string(setup.gpus), doublings, 11);
        if (std::abs(moved - std::round(doublings * 10) / 10) > 1e-3)
            setup.gpus = 1 << std::clamp(static_cast<int>(std::lround(moved * 10)), 0, 10);
        float x = body.x;
        const float y = body.y + (two ? 32.0f : 60.0f);
        static constexpr std::string_view labels[] = {"all four", "plain", "ZeRO-1", "ZeRO-2", "ZeRO-3"};
        for (int i = 0; i < 5 && setup.only < 0; ++i)
            if (x + ui.chip_width(labels[i]) <= body.right() && ui.chip(x, y, labels[i], setup.zero == i - 1))
                setup.zero = i - 1;
        if (!(setup == before)) ask_cluster(session, wanted);
        return y + (setup.only < 0 ? 36.0f : 4.0f) - body.y;
    }

    static std::vector<Bar> bars_of(const scene::ClusterScene& scene) {
        std::vector<Bar> bars;
        const scene::MemorySetup& setup = scene.setup.memory;
        if (scene.memory.counted || setup.zero < 0 || setup.only >= 0) {
            for (const scene::MemoryColumn& column : scene.memory.columns)
                if (bars.size() < 16)
                    bars.push_back({column.name,
                                    column.peak > 0 ? gigabytes(static_cast<double>(column.peak)) : column.sharded,
                                    column.sent > 0 || column.peak > 0 ? gigabytes(static_cast<double>(column.sent))
                                                                       : sends_text(column.sends),
                                    heights_of(column.bytes), heights_of(column.formula)});
        } else {
            const scene::MemoryColumn& column = scene.memory.columns[static_cast<size_t>(setup.zero)];
            for (int rank = 0; rank < std::min(setup.gpus, 8); ++rank)
                bars.push_back({fmt::format("rank {}", rank), {}, {}, heights_of(column.bytes), {}});
        }
        return bars;
    }

    // "A rank holds 120 GB with plain, 31.4 GB with ZeRO-1, ..."; empty: one bar, ranks of one run, or all alike.
    static std::string headline_of(const std::vector<Bar>& bars) {
        if (bars.size() < 2 || bars.size() > 4) return {};
        std::string text;
        for (const Bar& bar : bars) {
            if (bar.name.starts_with("rank ")) return {};
            text += fmt::format("{} {} with {}", text.empty() ? "A rank holds" : ",", gigabytes(sum(bar.bytes)), bar.name);
        }
        return sum(bars.front().bytes) > 1.01 * sum(bars.back().bytes) ? text : std::string();
    }

    // Where bars change they move, and leave a ghost of what they were.
    void follow(Ui& ui, std::vector<Bar>& bars) {
        std::vector<Heights> wanted;
        std::vector<std::string> names;
        for (const Bar& bar : bars) wanted.push_back(bar.bytes), names.push_back(bar.name);
        if (wanted != to_) {
            if (names == names_) {
                from_ = shown_;
                if (since_ < 0) ghosts_ = shown_;  // a drag keeps the ghost that it began with
                since_ = ui.now;
            } else {  // other bars: all grow from the first one's height
                from_.assign(wanted.size(), shown_.empty() ? Heights{} : shown_.front());
                ghosts_.clear();
                since_ = shown_.empty() ? -1 : ui.now;
            }
            to_ = wanted;
            names_ = names;
        }
        const double t = since_ < 0 || ui.calm() ? 1 : std::clamp((ui.now - since_) / morph_seconds, 0.0, 1.0);
        const double eased = t * t * (3 - 2 * t);
        shown_ = to_;
        if (t < 1 && from_.size() == to_.size()) {
            for (size_t i = 0; i < to_.size(); ++i)
                for (size_t k = 0; k < to_[i].size(); ++k) shown_[i][k] = from_[i][k] + (to_[i][k] - from_[i][k]) * eased;
            ui.animate();
        } else {
            since_ = -1;
        }
        for (size_t i = 0; i < bars.size(); ++i) bars[i].bytes = shown_[i];
    }

    static void draw_legend(Ui& ui, const scene::ClusterScene& scene, float x, float y, float right) {
        static constexpr int bytes[] = {2, 2, 12};
        for (size_t kind = 0; kind < parallel::memory_kinds; ++kind) {
            bool any = false;
            for (const scene::MemoryColumn& column : scene.memory.columns) any = any || column.bytes[kind] > 0;
            for (const parallel::MemoryPoint& point : scene.memory.over_step) any = any || point.bytes[kind] > 0;
            if (!any) continue;
            std::string words(kind_looks[kind].name);
            if (kind < 3 && !scene.memory.counted) words += fmt::format(" {}", bytes[kind]);
            if (x + 20 + ui.text_width(words, {.size = 13}) > right) return;
            ui.rect({x, y - 11, 14, 13}, kind_looks[kind].fill);
            if (kind_looks[kind].twin != Hatch::solid)
                ui.hatch({x, y - 11, 14, 13}, faded(data::black, 0.5f), kind_looks[kind].twin);
            x = ui.text(x + 20, y, words, {.size = 13, .color = ui.theme->ink2}) + 16;
        }
        if (scene.training && x + 20 + ui.text_width("formula", {.size = 13}) <= right) {
            ui.rect({x, y - 6, 14, 2}, ui.theme->ink);
            ui.text(x + 20, y, "formula", {.size = 13, .color = ui.theme->ink2});
        }
        if (!scene.memory.counted && x + ui.text_width("bytes a parameter", {.size = 13}) <= right)
            ui.text(x - 6, y, "bytes a parameter", {.size = 13, .color = ui.theme->ink2});
    }

    // Where the bars stand: `most` bytes are as high as the plot.
    struct BarPlot {
        Rect plot;
        double most = 1, capacity = 0;
        float slot = 0, width = 0;
        bool words = false;  // a line of what is sharded and of what is sent under each bar

        float y_of(double bytes) const { return plot.bottom() - plot.h * static_cast<float>(bytes / most); }
        float left_of(size_t bar) const { return plot.x + slot * (static_cast<float>(bar) + 0.5f) - width / 2; }
        bool is_over(double bytes) const { return capacity > 0 && bytes > capacity; }
    };

    BarPlot place_bars(const scene::ClusterScene& scene, const std::vector<Bar>& bars, const Rect& area) const {
        BarPlot at;
        at.words = !bars.empty() && !bars.front().sends.empty() && area.h > 190;
        const float left = 58, foot = at.words ? 66.0f : 26.0f, head = 26;
        at.plot = {area.x + left, area.y + head, area.w - left, area.h - head - foot};
        // Where all is far below the capacity, the axis ends there all the same: that is the point.
        at.capacity = scene.memory.capacity;
        at.most = at.capacity > 0 ? at.capacity * 1.02 : 1;
        for (const Heights& heights : to_) at.most = std::max(at.most, sum(heights));
        for (const Bar& bar : bars) at.most = std::max(at.most, sum(bar.bytes));
        at.slot = at.plot.w / static_cast<float>(std::max<size_t>(1, bars.size()));
        at.width = std::min(76.0f, at.slot * 0.72f);
        return at;
    }

    static void draw_axis(Ui& ui, const BarPlot& at) {
        const double step = rounded(at.most, {{1, 0.2}, {1.25, 0.25}, {2.5, 0.5}, {any_other, 1}});
        for (double value = 0; value <= at.most * 1.0001; value += step) {
            const float y = at.y_of(value);
            ui.rect({at.plot.x, y, at.plot.w, 1}, ui.theme->grid);
            ui.text(at.plot.x - 8, y + 4, value == 0 ? "0" : gigabytes(value),
                    {.size = 12, .color = ui.theme->quiet, .align = Align::right});
        }
    }

    // A part of a bar with its name and bytes, its name alone, or the hatch that stands for it.
    static void draw_part(Ui& ui, const KindLook& look, double bytes, const Rect& box, float free_from) {
        ui.rect(box, look.fill);
        const float middle = (free_from + box.bottom()) / 2;
        for (const std::string& name : {fmt::format("{} {}", look.inside, gigabytes(bytes)), std::string(look.inside)})
            if (box.bottom() - free_from >= 16 && ui.text_width(name, {.size = 12, .weight = 600}) + 4 <= box.w) {
                ui.text(box.x + box.w / 2, middle + 4.5f, name,
                        {.size = 12, .color = text_on(look.fill), .align = Align::center, .weight = 600});
                return;
            }
        if (look.twin != Hatch::solid) ui.hatch(box, faded(data::black, 0.45f), look.twin);
    }

    static void draw_parts(Ui& ui, const BarPlot& at, const Bar& bar, float x) {
        // Where the hatch of what does not fit will lie, no name stands.
        const float over = at.is_over(sum(bar.bytes)) ? at.y_of(at.capacity) : -1e9f;
        float y = at.plot.bottom();
        for (size_t kind = 0; kind < parallel::memory_kinds; ++kind) {
            const float top = y - at.plot.h * static_cast<float>(bar.bytes[kind] / at.most);
            if (y - top < 0.5f) continue;
            draw_part(ui, kind_looks[kind], bar.bytes[kind], {x, top, at.width, y - top}, std::max(top, over));
            y = top;
        }
    }

    static void draw_formula(Ui& ui, const BarPlot& at, const Bar& bar, float x) {  // marks at both sides
        double formula = 0;
        for (size_t kind = 0; kind < 3; ++kind) {
            formula += bar.formula[kind];
            if (bar.formula[kind] <= 0) continue;
            ui.rect({x - 6, at.y_of(formula) - 1, 6, 2}, ui.theme->ink);
            ui.rect({x + at.width, at.y_of(formula) - 1, 6, 2}, ui.theme->ink);
        }
    }

    void draw_ghost(Ui& ui, const BarPlot& at, const std::vector<Bar>& bars, size_t i) const {
        if (i >= ghosts_.size() || ghosts_.size() != bars.size()) return;
        if (std::abs(sum(ghosts_[i]) - sum(bars[i].bytes)) <= at.most * 0.004) return;
        const float top = at.y_of(std::min(sum(ghosts_[i]), at.most));
        ui.dashed({at.left_of(i) - 3, top, at.width + 6, at.plot.bottom() - top}, ui.theme->ink3);
    }

    static void draw_bar_words(Ui& ui, const BarPlot& at, const Bar& bar, float middle, bool trained_run, bool picked) {
        const bool small = at.slot < 64;
        const auto fitting = [&](const std::string& text) { return small && trained_run ? narrow_bytes(text) : text; };
        const double total = sum(bar.bytes);
        const TextStyle bold{.size = small ? 12.0f : 16.0f, .align = Align::center, .weight = 700, .width = at.slot - 4};
        std::string words = fitting(gigabytes(total));
        if (ui.text_width(words, bold) > bold.width)
            words.resize(std::min(words.size(), words.find(' ')));  // the axis has it
        ui.text(middle, at.y_of(total) - 8, words, bold);
        ui.text(middle, at.plot.bottom() + 18, bar.name,
                {.size = small ? 12.0f : 14.0f,
                 .color = picked ? ui.theme->ink : ui.theme->ink2,
                 .align = Align::center,
                 .weight = picked ? 700 : 400,
                 .width = at.slot - 2});
        if (!at.words) return;
        ui.text(middle, at.plot.bottom() + 38, fitting(bar.sharded),
                {.size = 13, .color = ui.theme->ink2, .align = Align::center, .width = at.slot - 4});
        ui.text(middle, at.plot.bottom() + 57, fitting(bar.sends),
                {.size = 13, .align = Align::center, .weight = 600, .width = at.slot - 4});
    }

    // A bar is a rank, or a stage of ZeRO for all ranks alike.
    static bool bars_are_ranks(const scene::ClusterScene& scene) {
        return scene.setup.memory.zero >= 0 || scene.memory.counted;
    }
    static int picked_bar(const scene::ClusterScene& scene, const Focus& focus) {
        if (bars_are_ranks(scene)) return std::max(scene.training ? 0 : -1, focus.rank);
        if (scene.setup.memory.only >= 0) return 0;
        return scene.setup.memory.zero < 0 ? 3 : scene.setup.memory.zero;
    }

    void draw_capacity(Ui& ui, const BarPlot& at, const scene::ClusterScene& scene, const std::vector<Bar>& bars) const {
        const float y = at.y_of(at.capacity);
        ui.rect({at.plot.x, y - 1, at.plot.w, 2}, data::vermillion);
        // The label stands where no bar is: at the right end over low bars.
        const double last = bars.empty() ? 0 : sum(bars.back().bytes);
        const std::string bytes = gigabytes(at.capacity), &name = scene.memory.gpu;
        const std::string label = name.find(bytes) != std::string::npos ? name + " capacity" : name + ", " + bytes;
        const float room = at.slot * static_cast<float>(count_low(bars, at.capacity));
        const float length = ui.text_width(label, {.size = 13, .weight = 600});
        if (last < at.capacity * 0.9 && length + 8 <= room)
            ui.text(at.plot.right(), y - 7, label, {.size = 13, .align = Align::right, .weight = 600});
        if (bars.size() > 1 && sum(bars.front().bytes) > at.capacity && sum(bars[1].bytes) < at.capacity)
            draw_out_of_memory(ui, at, sum(bars.front().bytes));
    }

    static void draw_out_of_memory(Ui& ui, const BarPlot& at, double first_bar) {  // beside the first bar
        const float x = at.plot.x + at.slot / 2 + at.width / 2 + 12, y = at.y_of(at.capacity);
        const std::string oom = fmt::format("OOM by {}", gigabytes(first_bar - at.capacity));
        const float middle = (at.y_of(first_bar) + y) / 2 + 5;
        if (x + ui.text_width(oom, {.size = 15, .weight = 700}) < at.plot.right() && y - middle > 24)
            ui.text(x, middle, oom, {.size = 15, .color = ui.theme->wrong, .weight = 700});
    }

    static void move_by_key(Ui& ui, Session& session, Focus& focus, const scene::ClusterScene& scene, int bars,
                            const Rect& panel) {
        const int by = (ui.pressed(Key::down, panel) ? 1 : 0) - (ui.pressed(Key::up, panel) ? 1 : 0);
        if (by != 0 && scene.training)
            focus.rank = std::clamp(std::max(0, focus.rank) + by, 0, std::max(0, bars - 1));
        else if (by != 0 && !scene.memory.counted && scene.setup.memory.only < 0)
            look_at(session, std::clamp(scene.setup.memory.zero + by, -1, 3));
    }

    void draw_bars(Ui& ui, Session& session, Focus& focus, const scene::ClusterScene& scene, const std::vector<Bar>& bars,
                   const Rect& area, const Rect& panel) {
        const BarPlot at = place_bars(scene, bars, area);
        const Rect& plot = at.plot;
        if (plot.h < 40) return;
        draw_axis(ui, at);
        for (size_t i = 0; i < bars.size(); ++i) {
            const float x = at.left_of(i);
            const double total = sum(bars[i].bytes);
            draw_parts(ui, at, bars[i], x);
            draw_formula(ui, at, bars[i], x);
            if (at.is_over(total)) {
                const Rect over{x, at.y_of(total), at.width, at.y_of(at.capacity) - at.y_of(total)};
                ui.rect(over, data::black);
                ui.hatch(over, data::vermillion, Hatch::diagonal);
            }
            draw_ghost(ui, at, bars, i);
            const bool picked = picked_bar(scene, focus) == static_cast<int>(i);
            draw_bar_words(ui, at, bars[i], x + at.width / 2, scene.training != nullptr, picked);
            const Rect whole{plot.x + at.slot * static_cast<float>(i), plot.y, at.slot, area.bottom() - plot.y};
            if (ui.hovered(whole)) ui.tooltip(tip(bars[i]));
            if (!ui.clicked(whole)) continue;
            if (bars_are_ranks(scene))
                focus.rank = static_cast<int32_t>(i);
            else if (scene.setup.memory.only < 0)
                look_at(session, static_cast<int>(i));
        }
        if (at.words) {
            const TextStyle quiet{.size = 12, .color = ui.theme->quiet};
            ui.text(area.x, plot.bottom() + 38, scene.training ? "peak" : "sharded", quiet);
            ui.text(area.x, plot.bottom() + 57, "sends", quiet);
        }
        if (at.capacity > 0) draw_capacity(ui, at, scene, bars);
        ui.rect({plot.x, plot.bottom(), plot.w, 1}, ui.theme->line);
        move_by_key(ui, session, focus, scene, static_cast<int>(bars.size()), panel);
    }

    // Bars from the right end on that stay well under the capacity.
    static int count_low(const std::vector<Bar>& bars, double capacity) {
        int low = 0;
        for (auto bar = bars.rbegin(); bar != bars.rend() && sum(bar->bytes) < capacity * 0.85; ++bar) ++low;
        return low;
    }

    static void look_at(Session& session, int zero) {
        scene::ClusterSetup wanted = cluster_setup(session);
        wanted.memory.zero = zero;
        ask_cluster(session, wanted);
    }

    static std::string tip(const Bar& bar) {
        std::string text = bar.name + ": " + gigabytes(sum(bar.bytes));
        for (size_t kind = 0; kind < parallel::memory_kinds; ++kind)
            if (bar.bytes[kind] > 0) text += fmt::format("\n{} {}", kind_looks[kind].name, gigabytes(bar.bytes[kind]));
        return text;
    }

    // One step: the state that stays, and what comes and goes on top of it.
    static double share_of_step(const Session& session, const Focus& focus, const scene::ClusterScene& scene) {
        const scene::TrainingShown& run = *scene.training;
        const double length = run.end_us - run.begin_us;
        return length > 0 ? std::clamp((schedule_time(session, focus, scene) - run.begin_us) / length, 0.0, 1.0) : 0;
    }

    static Heights heights_at(const std::vector<parallel::MemoryPoint>& points, double share) {
        Heights heights{};
        for (const parallel::MemoryPoint& point : points)
            if (point.time_us <= share + 1e-12) heights = heights_of(point.bytes);
        return heights;
    }

    static std::string memory_words(const Heights& heights) {  // "weights 178 kB, Adam state 177 kB"
        std::string text;
        for (size_t kind = 0; kind < heights.size(); ++kind)
            if (heights[kind] > 0)
                text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind_looks[kind].name, gigabytes(heights[kind]));
        return text;
    }

    // Where the step below the bars is drawn: its time is a share of it, 0 to 1.
    struct StepPlot {
        Rect plot;
        double most = 1;

        float x_of(double share) const { return plot.x + plot.w * static_cast<float>(share); }
        double share_at(float x) const { return std::clamp(static_cast<double>((x - plot.x) / plot.w), 0.0, 1.0); }
    };

    static void draw_step(Ui& ui, Session& session, const scene::ClusterScene& scene, const Focus& focus, const Rect& area) {
        const Theme& theme = *ui.theme;
        const scene::MemoryShown& memory = scene.memory;
        const Looked looked = looked_at(scene, focus);
        ui.rect({area.x, area.y, area.w, 1}, theme.line);
        const float base = area.y + 20;
        const float left = ui.text(area.x, base, looked.name + " over one step", {.size = 13, .weight = 600});
        const bool ran = trained(scene) && !looked.points->empty();
        const double share = ran ? share_of_step(session, focus, scene) : 0;
        std::string words = fmt::format("peak {}", gigabytes(looked.peak));
        if (ran)
            words =
                fmt::format("{} now, peak {}", gigabytes(sum(heights_at(*looked.points, share))), gigabytes(looked.peak));
        if (memory.step_of == "ZeRO-3") {
            const std::string longer =
                words + fmt::format(": one of {} layers gathered at a time", scene.setup.memory.layers);
            if (ui.text_width(longer, {.size = 13}) + 16 < area.right() - left) words = longer;
        }
        ui.text(area.right(), base, words, {.size = 13, .color = theme.ink2, .align = Align::right});
        const StepPlot at{{area.x + 58, area.y + 30, area.w - 58, area.h - 30 - 20}, std::max(1.0, looked.peak * 1.05)};
        const Rect& plot = at.plot;
        ui.text(plot.x - 8, plot.bottom() + 4, "0", {.size = 12, .color = theme.quiet, .align = Align::right});
        ui.text(plot.x - 8, plot.y + 8, gigabytes(at.most / 1.05),
                {.size = 12, .color = theme.quiet, .align = Align::right});
        for (size_t kind = 0; kind < parallel::memory_kinds; ++kind) draw_kind_over_step(ui, at, *looked.points, kind);
        ui.rect({plot.x, plot.bottom(), plot.w, 1}, theme.line);
        if (ran) draw_step_clock(ui, session, scene, at, *looked.points, share);
        if (!memory.counted) draw_phases(ui, at, scene.setup.memory.layers);
    }

    static void draw_kind_over_step(Ui& ui, const StepPlot& at, const std::vector<parallel::MemoryPoint>& points,
                                    size_t kind) {
        const bool stays = kind < 3;                  // what stays the whole step; buffers and activations come and go
        for (size_t i = 0; i + 1 < points.size();) {  // runs of equal heights are one box
            double under = 0;
            for (size_t k = 0; k < kind; ++k) under += static_cast<double>(points[i].bytes[k]);
            size_t end = i + 1;
            while (end + 1 < points.size() && points[end].bytes == points[i].bytes && stays) ++end;
            const double height = static_cast<double>(points[i].bytes[kind]);
            const float x0 = at.x_of(points[i].time_us), x1 = at.x_of(points[end].time_us);
            const float gap = !stays && x1 - x0 > 3 ? 1.0f : 0.0f;
            i = end;
            if (height <= 0 || x1 <= x0) continue;
            const Rect box{x0, at.plot.bottom() - at.plot.h * static_cast<float>((under + height) / at.most),
                           std::max(1.0f, x1 - x0 - gap), at.plot.h * static_cast<float>(height / at.most)};
            ui.rect(box, faded(kind_looks[kind].fill, stays ? 0.65f : 1.0f));
            if (kind > 0 && stays) ui.hatch(box, faded(data::black, 0.35f), kind_looks[kind].twin);
        }
    }

    // The step's clock, with the pipeline's cursor, which can be dragged.
    static void draw_step_clock(Ui& ui, Session& session, const scene::ClusterScene& scene, const StepPlot& at,
                                const std::vector<parallel::MemoryPoint>& points, double share) {
        const Rect& plot = at.plot;
        const double step = scene.training->end_us - scene.training->begin_us;
        ui.text(plot.x, plot.bottom() + 15, "begin of the step", {.size = 12, .color = ui.theme->quiet});
        ui.text(plot.right(), plot.bottom() + 15, fmt::format("{:.0f} µs", step),
                {.size = 12, .color = ui.theme->quiet, .align = Align::right});
        ui.cursor_line(at.x_of(share), plot.y - 4, plot.bottom() + 4);
        const Rect whole{plot.x - 4, plot.y - 6, plot.w + 8, plot.h + 24};
        if (const Drag drag = ui.drag("step", whole); drag.active) {
            session.cluster.time = scene.training->begin_us + at.share_at(drag.at.x) * step;
            session.cluster.collective = false;
        } else if (ui.hovered(whole)) {
            const double to = at.share_at(ui.mouse.x);
            ui.tooltip(fmt::format("{:.0f} µs: {}", to * step, memory_words(heights_at(points, to))));
        }
    }

    static void draw_phases(Ui& ui, const StepPlot& at, int layers) {
        const Rect& plot = at.plot;
        const double all = 3.0 * layers + 2;
        const double ends[] = {0, layers / all, 3.0 * layers / all, 1};
        static constexpr std::string_view phases[] = {"forward", "backward", "update"};
        for (int i = 0; i < 3; ++i) {
            const float x0 = at.x_of(ends[i]), x1 = at.x_of(ends[i + 1]);
            if (i > 0) ui.rect({x0, plot.y - 4, 1, plot.h + 8}, ui.theme->ink3);
            const float width = ui.text_width(phases[i], {.size = 12});
            if (x1 - x0 >= width + 4)
                ui.text((x0 + x1) / 2, plot.bottom() + 15, phases[i],
                        {.size = 12, .color = ui.theme->ink2, .align = Align::center});
            else
                ui.text(x1, plot.bottom() + 15, phases[i], {.size = 12, .color = ui.theme->ink2, .align = Align::right});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_rank_memory_view() {
    return std::make_unique<RankMemoryView>();
}

}  // namespace lockstep::gui
