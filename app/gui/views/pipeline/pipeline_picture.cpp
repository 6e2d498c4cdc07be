// D9's picture.
#include "app/gui/views/pipeline/pipeline_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/widgets/axis.h"

namespace lockstep::gui {

namespace {

using parallel::ActionKind;

constexpr float letter_size = 12;
constexpr Color dark_forward = rgb(0x005A8C), dark_input = rgb(0x00573F), dark_weight = rgb(0x8A3F6C);

TextStyle letter_style(Color fill) {
    return {.size = letter_size, .color = text_on(fill), .align = Align::center, .weight = 600};
}

// What twin code tells a fill where no letter fits.
Hatch hatch_of(ActionKind kind) {
    switch (kind) {
        case ActionKind::backward_input:
            return Hatch::horizontal;
        case ActionKind::backward_weight:
            return Hatch::diagonal;
        case ActionKind::recompute:
            return Hatch::dots;
        case ActionKind::update:
            return Hatch::cross;
        default:
            return Hatch::solid;
    }
}

void box(Ui& ui, const Rect& r, ActionKind kind, Color fill, bool lettered) {
    ui.rect(r, fill);
    if (!lettered && hatch_of(kind) != Hatch::solid) ui.hatch(r, faded(text_on(fill), 0.55f), hatch_of(kind));
}

float room_of(const Ui& ui, std::string_view letters) {
    return ui.text_width(letters, {.size = letter_size, .weight = 600}) + 5;
}

// Both gradients in one piece: two fills without a gap, up to `cut` the input's.
void draw_backward(Ui& ui, const Rect& whole, float cut, const std::string& label, bool fits, Color input, Color weight) {
    const float rest = whole.w - cut, baseline = whole.y + whole.h / 2 + 4.5f;
    const bool label_fits = fits && room_of(ui, label) <= cut + 2, weight_fits = room_of(ui, "+W") <= rest + 2;
    box(ui, {whole.x, whole.y, cut, whole.h}, ActionKind::backward_input, input, label_fits);
    box(ui, {whole.x + cut, whole.y, rest, whole.h}, ActionKind::backward_weight, weight, fits && weight_fits);
    if (label_fits) {
        ui.text(whole.x + cut / 2, baseline, label, letter_style(input));
        if (weight_fits) ui.text(whole.x + cut + (whole.w - cut) / 2, baseline, "+W", letter_style(weight));
    } else if (fits) {
        ui.text(whole.x + whole.w / 2, baseline, label, letter_style(input));
    }
}

void draw_action(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, const parallel::ActionRun& run, float y) {
    const parallel::Schedule& schedule = block.shown->run.schedule;
    const float x0 = p.x(run.begin), x1 = p.x(run.end), width = x1 - x0;
    if (!parallel::computes(run.action.kind)) {  // a message under way: thin
        if (width > 1) ui.rect({x0, y + block.bar - 3, width, 3}, ui.theme->ink3);
        return;
    }
    const float gap = width >= 6 ? 1.0f : 0.0f;
    const int chunk = schedule.chunks > 1 ? schedule.chunk_of(run.action.stage, run.action.microbatch) : 0;
    const Rect whole{x0 + gap, y, std::max(1.0f, width - 2 * gap), block.bar};
    std::string label = parallel::text_of(run.action);
    if (room_of(ui, label) > width && !label.empty()) label.resize(1);  // the letter alone
    const bool fits = block.bar >= 13 && room_of(ui, label) <= width;
    if (run.action.kind == ActionKind::backward)
        return draw_backward(ui, whole, whole.w * static_cast<float>(p.split), label, fits,
                             fill_of(ActionKind::backward_input, chunk, schedule.chunks),
                             fill_of(ActionKind::backward_weight, chunk, schedule.chunks));
    const Color fill = fill_of(run.action.kind, chunk, schedule.chunks);
    box(ui, whole, run.action.kind, fill, fits);
    if (run.action.kind == ActionKind::recompute && whole.w >= 24)
        ui.hatch(whole, faded(text_on(fill), 0.4f), Hatch::diagonal);
    if (fits) ui.text(whole.x + whole.w / 2, y + block.bar / 2 + 4.5f, label, letter_style(fill));
}

void draw_idle(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, const parallel::IdleRun& idle, float y) {
    const float x0 = p.x(idle.begin), x1 = p.x(idle.end);
    if (x1 - x0 < 1.5f) return;
    ui.hatch({x0 + 1, y, x1 - x0 - 2, block.bar}, ui.theme->ink3, Hatch::dots);
    if (block.bar < 14) return;
    const float words = ui.text_width(idle.reason, {.size = 12});
    const float left = std::max(x0, p.plot.x), right = std::min(x1, p.plot.right());
    if (words + 16 > right - left) return;
    const float middle = (left + right) / 2, h = std::min(16.0f, block.bar - 2);
    ui.rect({middle - words / 2 - 5, y + (block.bar - h) / 2, words + 10, h}, ui.theme->panel, 3);
    ui.text(middle, y + block.bar / 2 + 4.5f, idle.reason, {.size = 12, .color = ui.theme->ink2, .align = Align::center});
}

// Alive activations as a step curve over its fill, the limit dashed.
void draw_curve(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, int rank, float unit) {
    const parallel::ScheduleRun& run = block.shown->run;
    const auto& steps = run.activations[static_cast<size_t>(rank)];
    const float base = block.row_y(rank) + block.bar + 2 + block.curve;
    const auto share = static_cast<float>(run.schedule.share());
    std::vector<Point> line;
    line.reserve(2 * steps.size() + 4);
    const float from = p.x(std::max(p.begin, 0.0)), until = p.x(std::min(p.end, run.total));
    float before = 0;
    line.push_back({from, base});
    for (size_t i = 0; i < steps.size(); ++i) {
        const double end = i + 1 < steps.size() ? steps[i + 1].time : run.total;
        const float height = static_cast<float>(steps[i].alive) * share * unit;
        const float x0 = std::clamp(p.x(steps[i].time), from, until), x1 = std::clamp(p.x(end), from, until);
        if (height != before) line.push_back({x0, base - before}), line.push_back({x0, base - height});
        if (height > 0 && x1 > x0) ui.rect({x0, base - height, x1 - x0, height}, faded(data::orange, 0.22f));
        before = height;
    }
    line.push_back({until, base - before});
    if (before > 0) line.push_back({until, base});
    ui.polyline(line, ui.theme->dark ? data::orange : rgb(0xB36B00), 1.5f);
    const float limit = base - static_cast<float>(p.limit) * unit;
    if (limit >= base - block.curve - 1) ui.hatch({from, limit, until - from, 1.5f}, data::vermillion, Hatch::vertical);
}

constexpr ActionKind coarse_kinds[] = {ActionKind::forward, ActionKind::backward_input, ActionKind::backward_weight,
                                       ActionKind::update};  // and what is like it
using KindShares = std::array<float, std::size(coarse_kinds)>;

// How much of each of `w` columns of pixels an action of each kind takes.
std::vector<KindShares> shares_of(const PipelinePlaces& p, const std::vector<parallel::ActionRun>& actions, int w) {
    std::vector<KindShares> share(static_cast<size_t>(w));
    const double scale = w / (p.end - p.begin);
    const auto add = [&](double begin, double end, size_t kind) {
        const double x0 = std::max(0.0, (begin - p.begin) * scale), x1 = std::min<double>(w, (end - p.begin) * scale);
        for (auto x = static_cast<int>(x0); x < w && x < x1; ++x)
            share[static_cast<size_t>(x)][kind] += static_cast<float>(std::min<double>(x + 1, x1) - std::max<double>(x, x0));
    };
    for (const parallel::ActionRun& run : actions) {
        const double cut = run.begin + (run.end - run.begin) * p.split;
        switch (run.action.kind) {
            case ActionKind::forward:
                add(run.begin, run.end, 0);
                break;
            case ActionKind::backward:
                add(run.begin, cut, 1);
                add(cut, run.end, 2);
                break;
            case ActionKind::backward_input:
                add(run.begin, run.end, 1);
                break;
            case ActionKind::backward_weight:
                add(run.begin, run.end, 2);
                break;
            case ActionKind::update:
            case ActionKind::recompute:
                add(run.begin, run.end, 3);
                break;
            default:
                break;
        }
    }
    return share;
}

// A rank's rows of pixels, each column in the colour of what took most of its time.
void paint_rank(std::span<Color> pixels, const PipelinePlaces& p, const std::vector<parallel::ActionRun>& actions, int w,
                int rows) {
    const std::vector<KindShares> share = shares_of(p, actions, w);
    const int gap = rows >= 4 ? 1 : 0;
    for (int x = 0; x < w; ++x) {
        const KindShares& here = share[static_cast<size_t>(x)];
        const auto most = static_cast<size_t>(std::max_element(here.begin(), here.end()) - here.begin());
        if (here[0] + here[1] + here[2] + here[3] < 0.5f) continue;
        const Color fill = fill_of(coarse_kinds[most], 0, 1), ink = mix(fill, data::black, 0.45f);
        for (int y = 0; y < rows - gap; ++y) {
            const bool stroke = (most == 1 && y % 4 == 1) || (most == 2 && (x + y) % 6 == 0);
            pixels[static_cast<size_t>(y) * static_cast<size_t>(w) + static_cast<size_t>(x)] = stroke ? ink : fill;
        }
    }
}

// What most of each pixel's time went to, by rows of ranks: made once for a run and a window.
void draw_coarse(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, uint64_t version) {
    const parallel::ScheduleRun& run = block.shown->run;
    const int w = std::max(1, static_cast<int>(p.plot.w * ui.scale)),
              row = std::max(1, static_cast<int>(block.pitch * ui.scale));
    const int h = row * block.ranks;
    const Theme& theme = *ui.theme;
    const auto mark = [](uint64_t hash, double value) {
        return (hash ^ static_cast<uint64_t>(std::llround(value * 4096))) * 1099511628211ull;
    };
    version = mark(mark(mark(mark(version, p.begin), p.end), row), static_cast<double>(theme.panel));
    const Rect to{p.plot.x, block.rows.y - block.scrolled, p.plot.w, static_cast<float>(h) / ui.scale};
    ui.picture("coarse " + block.shown->kind, version, w, h, to, [&](std::span<Color> pixels) {
        std::fill(pixels.begin(), pixels.end(), theme.panel);
        for (int rank = 0; rank < block.ranks; ++rank)
            paint_rank(pixels.subspan(static_cast<size_t>(rank * row) * static_cast<size_t>(w)), p,
                       run.actions[static_cast<size_t>(rank)], w, row);
    });
}

// Where the picked micro-batch goes: forward by stage, then backward by stage from the last.
struct Stop {
    double begin = 0, end = 0;
    int rank = 0, order = 0;
};
std::vector<Stop> stops_of(const PipelinePlaces& p, const PipelineBlock& block) {
    const parallel::ScheduleRun& run = block.shown->run;
    const int stages = run.schedule.stages();
    std::vector<Stop> stops;
    for (int rank = 0; rank < block.ranks; ++rank)
        for (const parallel::ActionRun& ran : run.actions[static_cast<size_t>(rank)]) {
            if (ran.action.microbatch != p.microbatch) continue;
            const ActionKind kind = ran.action.kind;
            if (kind == ActionKind::forward)
                stops.push_back({ran.begin, ran.end, rank, ran.action.stage});
            else if (kind == ActionKind::backward || kind == ActionKind::backward_input)
                stops.push_back({ran.begin, ran.end, rank, 2 * stages - 1 - ran.action.stage});
        }
    std::stable_sort(stops.begin(), stops.end(), [](const Stop& a, const Stop& b) { return a.order < b.order; });
    return stops;
}

void outline_picked(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, int rank) {
    for (const parallel::ActionRun& ran : block.shown->run.actions[static_cast<size_t>(rank)]) {
        if (ran.action.microbatch != p.microbatch || !parallel::computes(ran.action.kind)) continue;
        if (ran.action.kind == ActionKind::update) continue;
        const float x0 = p.x(ran.begin), x1 = p.x(ran.end);
        if (x1 < p.plot.x || x0 > p.plot.right()) continue;
        ui.outline({x0, block.row_y(rank), std::max(2.0f, x1 - x0), block.bar}, block.bar >= 19 ? 2.0f : 0.8f);
    }
}

// The way of the picked micro-batch from rank to rank, and its actions outlined.
void draw_picked(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block) {
    const std::vector<Stop> stops = stops_of(p, block);
    const float top = block.rows.y, bottom = block.rows.bottom();
    const auto seen = [&](int rank) { return block.row_y(rank) >= top - 1 && block.row_y(rank) + block.bar <= bottom + 1; };
    for (size_t i = 1; i < stops.size(); ++i) {
        const Stop &a = stops[i - 1], &b = stops[i];
        if (a.rank == b.rank || b.begin < a.end - 1e-9 || std::abs(a.order - b.order) != 1) continue;
        if (!seen(a.rank) || !seen(b.rank)) continue;
        const bool down = b.rank > a.rank;
        ui.line({p.x(a.end), block.row_y(a.rank) + (down ? block.bar : 0)},
                {p.x(b.begin), block.row_y(b.rank) + (down ? 0 : block.bar)}, ui.theme->ink, 1);
    }
    for (int rank = 0; rank < block.ranks; ++rank)
        if (seen(rank) && (!p.coarse || rank == p.rank)) outline_picked(ui, p, block, rank);
}

}  // namespace

Color fill_of(ActionKind kind, int chunk, int chunks) {
    const float share = chunks > 1 ? static_cast<float>(chunk) / static_cast<float>(chunks - 1) : 0;
    switch (kind) {
        case ActionKind::forward:
        case ActionKind::recompute:
            return mix(data::sky, dark_forward, share);
        case ActionKind::backward_input:
        case ActionKind::backward:
            return mix(data::green, dark_input, share);
        case ActionKind::backward_weight:
            return mix(data::purple, dark_weight, share);
        case ActionKind::update:
            return data::yellow;
        default:
            return data::grey;
    }
}

namespace {

struct LegendRow {
    ActionKind kind;
    std::string_view letter, words;
};
constexpr LegendRow legend_rows[] = {{ActionKind::forward, "F", "forward"},
                                     {ActionKind::backward_input, "I", "input gradient"},
                                     {ActionKind::backward_weight, "W", "weight gradient"},
                                     {ActionKind::backward, "B", "both in one"}};
constexpr std::string_view legend_plain[] = {"idle", "activations alive", "limit"};

}  // namespace

std::string_view darker_words(const scene::ClusterScene& scene) {
    bool chunks = false, copies = false;
    for (const scene::ScheduleShown& shown : scene.schedules) {
        copies = copies || shown.run.schedule.copies > 1;
        chunks = chunks || (shown.run.schedule.copies == 1 && shown.run.schedule.chunks > 1);
    }
    if (copies) return chunks ? "darker: later chunk, or entered at the last rank" : "darker: entered at the last rank";
    return chunks ? "darker: later chunk" : "";
}

float legend_width(const Ui& ui, std::string_view darker) {
    float width = 0;
    for (const LegendRow& row : legend_rows) width += 26 + ui.text_width(row.words, {.size = 13}) + 12;
    for (const std::string_view words : legend_plain) width += 26 + ui.text_width(words, {.size = 13}) + 12;
    return width + (darker.empty() ? 0 : ui.text_width(darker, {.size = 13}) + 12);
}

void draw_pipeline_legend(Ui& ui, float x, float baseline, float right, const PipelinePlaces& places,
                          std::string_view darker) {
    const Theme& theme = *ui.theme;
    const auto words = [&](std::string_view text) {
        x = ui.text(x, baseline, text, {.size = 13, .color = theme.ink2}) + 12;
    };
    const auto fits = [&](std::string_view text) { return x + 26 + ui.text_width(text, {.size = 13}) <= right; };
    for (const LegendRow& row : legend_rows) {
        if (!fits(row.words)) return;
        const Color fill = fill_of(row.kind, 0, 1);
        const Rect swatch{x, baseline - 12, 20, 15};
        if (row.kind == ActionKind::backward) {
            ui.rect({swatch.x, swatch.y, 10, 15}, fill);
            ui.rect({swatch.x + 10, swatch.y, 10, 15}, fill_of(ActionKind::backward_weight, 0, 1));
        } else {
            ui.rect(swatch, fill);
        }
        if (places.coarse && hatch_of(row.kind) != Hatch::solid)
            ui.hatch(swatch, faded(text_on(fill), 0.55f), hatch_of(row.kind));
        else
            ui.text(x + 10, baseline, row.letter, letter_style(fill));
        x += 26;
        words(row.words);
    }
    if (!darker.empty() && x + ui.text_width(darker, {.size = 13}) <= right) words(darker);
    if (!fits(legend_plain[0])) return;
    ui.hatch({x, baseline - 12, 20, 15}, theme.ink3, Hatch::dots);
    x += 26;
    words(legend_plain[0]);
    if (!fits(legend_plain[1])) return;
    ui.rect({x, baseline - 6, 20, 8}, faded(data::orange, 0.25f));
    ui.rect({x, baseline - 7, 20, 1.5f}, theme.dark ? data::orange : rgb(0xB36B00));
    x += 26;
    words(legend_plain[1]);
    if (!fits(legend_plain[2])) return;
    ui.hatch({x, baseline - 6, 20, 1.5f}, data::vermillion, Hatch::vertical);
    x += 26;
    words(legend_plain[2]);
}

namespace {

// The schedule's time, its bubble and what else is known of it, as much as there is room for, from x on.
void draw_block_facts(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, float x) {
    const Theme& theme = *ui.theme;
    const scene::ScheduleShown& shown = *block.shown;
    const parallel::ScheduleRun& run = shown.run;
    const float base = block.head.y + 16;
    const Provenance provenance = provenance_of(shown);
    const float badge = ui.text_width(name_of(provenance), {.size = 12}) + 16;
    ui.badge(block.head.right() - badge, base, provenance);
    const float right = block.head.right() - badge - 10;
    x = std::max(x + 14, p.plot.x);
    const auto fact = [&](const std::string& words, const TextStyle& style) {
        if (x + ui.text_width(words, style) <= right) x = ui.text(x, base, words, style) + 20;
    };
    fact(fmt::format("{} {}", amount(run.total), run.shown_unit()), {.size = 16, .weight = 700});
    if (std::abs(run.cost - run.total) > 1e-6 * run.total)
        fact(fmt::format("{} where more follow", amount(run.cost)), {.size = 14, .color = theme.ink2});
    const std::string bubble = fmt::format("bubble {:.1f} % of total, {:.1f} % over ideal", 100 * run.bubble_of_total(),
                                           100 * run.bubble_over_ideal());
    const std::string ideal = fmt::format("ideal {}", amount(run.ideal)),
                      mean = fmt::format("idle {} a rank", amount(run.idle_a_rank()));
    const float before = ui.text_width(ideal, {.size = 14}) + ui.text_width(mean, {.size = 14}) + 40;
    if (x + before + ui.text_width(bubble, {.size = 14, .weight = 600}) <= right) {
        fact(ideal, {.size = 14, .color = theme.ink2});
        fact(mean, {.size = 14, .color = theme.ink2});
    }
    fact(bubble, {.size = 14, .weight = 600});
    if (right - x > 120 && ui.text_width(shown.summary, {.size = 13}) <= right - x)
        ui.text(x, base, shown.summary, {.size = 13, .color = theme.ink2});
}

bool row_in_view(const PipelineBlock& block, int rank) {
    const float y = block.row_y(rank);
    return y + block.pitch >= block.rows.y && y <= block.rows.bottom();
}

// A row's name with its layers, and the peak of its activations against the limit.
void draw_row_names(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, int rank) {
    const Theme& theme = *ui.theme;
    const scene::ScheduleShown& shown = *block.shown;
    const float y = block.row_y(rank), width = p.plot.x - block.head.x - 4;
    const bool on = rank == p.rank;
    const int every = std::max(1, static_cast<int>(std::ceil(15 / block.pitch)));
    std::string name = fmt::format("{} {}", shown.run.schedule.chunks > 1 ? "rank" : "stage", rank);
    if (shown.parts.size() > static_cast<size_t>(rank)) name += fmt::format(" · {}", shown.parts[static_cast<size_t>(rank)]);
    if (block.pitch >= 15 || on || (rank % every == 0 && std::abs(rank - p.rank) >= every))
        ui.text(block.head.x, y + std::min(block.bar, 20.0f) / 2 + 5, name,
                {.size = block.pitch >= 15 ? 13.0f : 12.0f,
                 .color = on ? theme.ink : theme.ink2,
                 .weight = on ? 600 : 400,
                 .width = width});
    if (block.curve < 13) return;
    const double peak = peak_of(shown.run, rank);
    const Color color = peak > p.limit + 1e-9 ? theme.wrong : on ? theme.ink2 : theme.quiet;
    ui.text(block.head.x, y + block.bar + 2 + block.curve - 3, fmt::format("peak {} of {}", amount(peak), p.limit),
            {.size = 12, .color = color, .width = width});
}

void draw_row(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, int rank, float unit) {
    const parallel::ScheduleRun& run = block.shown->run;
    const float y = block.row_y(rank);
    for (const parallel::IdleRun& idle : run.idle[static_cast<size_t>(rank)])
        if (idle.end > p.begin && idle.begin < p.end) draw_idle(ui, p, block, idle, y);
    if (block.curve >= 6) draw_curve(ui, p, block, rank, unit);
    for (const parallel::ActionRun& action : run.actions[static_cast<size_t>(rank)])
        if (action.end > p.begin && action.begin < p.end) draw_action(ui, p, block, action, y);
}

}  // namespace

void draw_pipeline_block(Ui& ui, const PipelinePlaces& p, const PipelineBlock& block, uint64_t version) {
    const Theme& theme = *ui.theme;
    const scene::ScheduleShown& shown = *block.shown;
    const float x = ui.text(block.head.x, block.head.y + 16, shown.title, {.size = 16, .weight = 700});
    if (!shown.refusal.empty()) {
        ui.paragraph({p.plot.x, block.head.y + 24, p.plot.w, 60}, shown.refusal,
                     {.size = 14, .color = shown.executed ? theme.ink2 : theme.wrong}, 22);
        return;
    }
    draw_block_facts(ui, p, block, x);
    const parallel::ScheduleRun& run = shown.run;
    ui.clip({block.head.x - 6, block.rows.y - 1, block.head.w + 12, block.rows.h + 2});
    double most = p.limit;
    for (int rank = 0; rank < block.ranks; ++rank) most = std::max(most, peak_of(run, rank));
    if (const float y = block.row_y(p.rank); p.rank < block.ranks)
        ui.rect({block.head.x - 6, y - 2, p.x(std::min(run.total, p.end)) - block.head.x + 10, block.pitch},
                faded(theme.selected, 0.55f));
    for (int rank = 0; rank < block.ranks; ++rank)
        if (row_in_view(block, rank)) draw_row_names(ui, p, block, rank);
    ui.unclip();
    ui.clip({p.plot.x, block.rows.y - 4, p.plot.w + 4, block.rows.h + 6});
    if (p.coarse) draw_coarse(ui, p, block, version);
    for (int rank = 0; rank < block.ranks && !p.coarse; ++rank)
        if (row_in_view(block, rank)) draw_row(ui, p, block, rank, block.curve / static_cast<float>(most));
    draw_picked(ui, p, block);
    ui.unclip();
}

namespace {

// A time on the axis, with its number where that lies on no other.
void draw_tick(Ui& ui, const PipelinePlaces& p, double time, bool strong, std::vector<std::pair<float, float>>& taken) {
    const Theme& theme = *ui.theme;
    const float x = p.x(time);
    if (x < p.plot.x - 1 || x > p.plot.right() + 1) return;
    ui.rect({x, p.axis_y, 1, 4}, strong ? theme.ink2 : theme.line);
    const std::string text = amount(time);
    const TextStyle style{
        .size = 12, .color = strong ? theme.ink : theme.quiet, .align = Align::center, .weight = strong ? 600 : 400};
    const float half = ui.text_width(text, style) / 2 + 3;
    for (const auto& [left, right] : taken)
        if (x + half > left && x - half < right) return;
    taken.emplace_back(x - half, x + half);
    ui.text(x, p.axis_y + 17, text, style);
}

// The shorter schedule's end, down to the axis.
void draw_earlier_end(Ui& ui, const PipelinePlaces& p, double end) {
    const float x = p.x(end);
    if (x <= p.plot.x || x >= p.plot.right()) return;
    for (size_t i = 0; i < p.blocks.size(); ++i) {  // not through words of a head
        const float from = p.blocks[i].rows.y, to = i + 1 < p.blocks.size() ? p.blocks[i].rows.bottom() : p.axis_y;
        ui.hatch({x - 0.5f, from, 1, to - from}, ui.theme->ink2, Hatch::horizontal);
    }
}

void draw_axis_cursor(Ui& ui, const PipelinePlaces& p, float cursor, const std::string& flag, float flag_width) {
    const float y = p.axis_y;
    for (const PipelineBlock& block : p.blocks)
        if (block.shown->refusal.empty()) ui.cursor_line(cursor, block.rows.y - 4, block.rows.bottom() + 2);
    ui.cursor_line(cursor, y - 4, y + 4);
    const float at = std::clamp(cursor, p.plot.x + flag_width / 2, p.plot.right() - flag_width / 2);
    ui.rect({at - flag_width / 2, y + 3, flag_width, 18}, ui.theme->ink, 3);
    ui.text(at, y + 16, flag, {.size = 12, .color = ui.theme->panel, .align = Align::center, .weight = 600});
}

}  // namespace

void draw_pipeline_axis(Ui& ui, const PipelinePlaces& p, const scene::ClusterScene& scene, double now) {
    const Theme& theme = *ui.theme;
    const float y = p.axis_y;
    std::string unit = "units";
    std::vector<double> ends;
    for (const PipelineBlock& block : p.blocks)
        if (block.shown->refusal.empty()) {
            unit = block.shown->run.shown_unit();
            ends.push_back(block.shown->run.total);
        }
    if (ends.empty() || schedule_end(scene) <= 0) return;
    ui.rect({p.plot.x, y, p.plot.w, 1}, theme.line);
    ui.text(p.label_x, y + 17, unit, {.size = 12, .color = theme.quiet});
    const float cursor = p.x(now);
    const bool in_view = now >= p.begin && now <= p.end;
    const std::string flag = amount(now);
    const float flag_width = ui.text_width(flag, {.size = 12, .weight = 600}) + 12;
    std::vector<std::pair<float, float>> taken;
    if (in_view) taken.emplace_back(cursor - flag_width / 2 - 4, cursor + flag_width / 2 + 4);
    for (const double end : ends) draw_tick(ui, p, end, true, taken);
    const double wanted = (p.end - p.begin) * 46 / static_cast<double>(std::max(1.0f, p.plot.w));
    const double step = rounded(std::max(wanted, 1e-9), {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {any_other, 10}});
    for (double time = std::ceil(p.begin / step) * step; time <= p.end + step * 1e-6; time += step)
        draw_tick(ui, p, time, false, taken);
    if (ends.size() == 2 && std::abs(ends[0] - ends[1]) > 1e-9) draw_earlier_end(ui, p, std::min(ends[0], ends[1]));
    if (in_view) draw_axis_cursor(ui, p, cursor, flag, flag_width);
}

void draw_saving(Ui& ui, const PipelinePlaces& p) {
    if (p.blocks.size() != 2 || !p.blocks[0].shown->refusal.empty() || !p.blocks[1].shown->refusal.empty()) return;
    for (const PipelineBlock& block : p.blocks)  // what staggers or never flushes costs less than it takes alone
        if (const parallel::ScheduleRun& run = block.shown->run; std::abs(run.cost - run.total) > 1e-6 * run.total) return;
    // Of unequal work neither is sooner.
    if (p.blocks[0].shown->run.schedule.microbatches != p.blocks[1].shown->run.schedule.microbatches) return;
    const double a = p.blocks[0].shown->run.total, b = p.blocks[1].shown->run.total;
    const double shorter = std::min(a, b), longer = std::max(a, b);
    if (longer - shorter < longer * 1e-6) return;
    const PipelineBlock& block = p.blocks[a < b ? 0 : 1];
    const float from = p.x(shorter) + 10, to = std::min(p.x(longer), p.plot.right());
    const std::string words = fmt::format("{} {} sooner", amount(longer - shorter), block.shown->run.shown_unit());
    const float width = ui.text_width(words, {.size = 16, .weight = 700});
    if (to - from < width + 8 || block.rows.h < 60 || p.x(shorter) < p.plot.x) return;
    const float y = block.rows.y + block.rows.h / 2, middle = (from + to) / 2;
    const Color ink = ui.theme->ink;
    ui.rect({from, y - 0.75f, to - from, 1.5f}, ink);
    ui.arrow_head({from - 6, y}, Way::left, ink, 5);
    ui.rect({to - 1.5f, y - 6, 1.5f, 12}, ink);
    ui.text(middle, y - 12, words, {.size = 16, .align = Align::center, .weight = 700});
    ui.text(middle, y + 22, fmt::format("{:.0f} % off the step", 100 * (longer - shorter) / longer),
            {.size = 13, .color = ui.theme->ink2, .align = Align::center});
}

void draw_why(Ui& ui, const PipelinePlaces& p, const Why& why) {
    if (why.block < 0 || why.block >= static_cast<int>(p.blocks.size())) return;
    const PipelineBlock& block = p.blocks[static_cast<size_t>(why.block)];
    std::vector<Point> path;
    for (const auto& [time, rank] : why.path) path.push_back({p.x(time), block.row_y(rank) + block.bar / 2});
    ui.clip({p.plot.x, block.rows.y - 4, p.plot.w + 4, block.rows.h + 6});
    if (path.size() > 1) ui.halo_line(path);
    for (const Point& point : path) ui.circle(point, 4, data::white), ui.ring(point, 4, data::black, 1.5f);
    ui.unclip();
    // The sentence stands over or under the row.
    const TextStyle style{.size = 13};
    const float most = std::min(p.plot.w - 8, 620.0f);
    const float high = ui.paragraph({0, 0, most - 20, 200}, why.text, style, 18, false);
    const float width = high <= 19 ? std::min(most, ui.text_width(why.text, style) + 20) : most;
    float x = path.empty() ? p.plot.x : std::clamp(path.front().x - width / 2, p.plot.x, p.plot.right() - width);
    const float row = block.row_y(why.rank);
    float y = row + block.bar + 4;
    if (y + high + 12 > p.axis_y) y = row - high - 16;
    ui.rect({x, y, width, high + 12}, ui.theme->panel2, 4);
    ui.frame({x, y, width, high + 12}, ui.theme->ink3, 1, 4);
    ui.paragraph({x + 10, y + 5, width - 20, high + 4}, why.text, style, 18);
}

}  // namespace lockstep::gui
