// Who works when: the workers of data parallelism over a whole run, a lane each. In steps that all take together they wait
// for the slowest before the ring adds up; with a parameter server each pushes its gradient when it is done, and a push is
// as stale as there were others' updates since its weights were fetched (the number in it). Two rows of a scene stand below
// each other on one axis. Up and Down pick a batch, as a click does: its times are told, its worker's pushes lead to the
// server.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/workers_words.h"
#include "app/gui/widgets/axis.h"
#include "core/scene/cluster/cluster.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view workers_title = "Workers: who waits for whom";
constexpr std::string_view workers_hidden = "Who works when stays hidden until you lock an answer.";
constexpr float label_width = 104, side_width = 168;

class WorkersView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene || scene->workers.empty()) {
            const Rect body = ui.panel(area, {.title = workers_title});
            return ui.say_nothing_yet(body, "No workers have trained in data parallel yet.", snapshot->busy);
        }
        const ShownLanes shown = shown_lanes(*scene);
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(workers_hidden) : workers_caption(shown);
        const WorkerLanes& one = *shown.front();
        const Rect body = ui.panel(area, {.title = workers_title,
                                          .right = fmt::format("{} on {} workers of {}", one.model, one.workers, one.gpu),
                                          .badge = hidden ? Provenance::none : Provenance::times_derived,
                                          .caption = caption});
        ui.push_scope("workers");
        pick_by_keys(ui, shown, hidden, area);
        float y = body.y;
        const WorkerBatch* picked = picked_batch(shown);
        if (!hidden && body.h < low_body) {  // one line says it
            ui.text(body.x, y + 16, picked ? batch_words(*shown[group_], *picked) : workers_headline(shown),
                    {.size = picked ? 14.0f : 18.0f, .weight = picked ? 400 : 700, .width = body.w});
            y += 26;
        } else if (!hidden) {
            ui.text(body.x, y + 22, workers_headline(shown), {.size = 24, .weight = 700, .width = body.w});
            ui.text(body.x, y + 44, picked ? batch_words(*shown[group_], *picked) : workers_difference(shown),
                    {.size = 14, .color = picked ? ui.theme->ink : ui.theme->ink2, .width = body.w});
            y += 56;
        }
        draw_groups(ui, shown, hidden, {body.x, y, body.w, body.bottom() - y});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->cluster || snapshot->cluster->workers.empty())
            return std::string(workers_title) + ": no workers have trained yet.\n";
        const ShownLanes shown = shown_lanes(*snapshot->cluster);
        std::string text = fmt::format("{} (executed, times derived): {} on {} workers of {}\n", workers_title,
                                       shown.front()->model, shown.front()->workers, shown.front()->gpu);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(workers_hidden) + "\n";
        text += "  " + workers_headline(shown) + ". " + workers_difference(shown) + "\n";
        for (const WorkerLanes* lanes : shown) {
            text += fmt::format("  {}: {} updates in {}, {} stale, {} of the workers' time waits\n", lanes->name,
                                lanes->updates(), time_text(lanes->end_us), lanes->stale_updates(),
                                share_words(lanes->waiting_share()));
            const std::vector<int64_t> counts = lanes->by_staleness();
            for (size_t i = 0; i < counts.size(); ++i) text += fmt::format("    staleness {}: {} updates\n", i, counts[i]);
            if (const auto curve = loss_curve(*lanes); !curve.empty())
                text += fmt::format("    loss {:.3f} at first, {:.3f} at the end\n", curve.front().loss, curve.back().loss);
            for (const auto& [who, whom] : lanes->waits)
                text += fmt::format("    worker {} waits for worker {} for ever\n", who, whom);
            size_t told = 0;
            for (const WorkerBatch& batch : lanes->batches)
                if (told++ < 60) text += "    " + batch_words(*lanes, batch) + "\n";
        }
        if (const WorkerBatch* picked = picked_batch(shown))
            text += "  picked: " + batch_words(*shown[group_], *picked) + "\n";
        return text + "  " + workers_caption(shown) + "\n";
    }

  private:
    size_t group_ = 0;
    int64_t picked_ = -1;  // batch of that group, in the order of ends; -1: none

    const WorkerBatch* picked_batch(const ShownLanes& shown) const {
        if (picked_ < 0 || group_ >= shown.size() || picked_ >= static_cast<int64_t>(shown[group_]->batches.size()))
            return nullptr;
        return &shown[group_]->batches[static_cast<size_t>(picked_)];
    }

    void pick_by_keys(Ui& ui, const ShownLanes& shown, bool hidden, const Rect& area) {
        if (hidden) {
            picked_ = -1;
            return;
        }
        if (group_ >= shown.size()) group_ = 0, picked_ = -1;
        const int by = (ui.pressed(Key::down, area) ? 1 : 0) - (ui.pressed(Key::up, area) ? 1 : 0);
        if (by == 0) return;
        picked_ += by;
        if (picked_ >= static_cast<int64_t>(shown[group_]->batches.size())) {
            if (group_ + 1 < shown.size())
                ++group_, picked_ = 0;
            else
                --picked_;
        } else if (picked_ < 0 && group_ > 0) {
            picked_ = static_cast<int64_t>(shown[--group_]->batches.size()) - 1;
        }
        picked_ = std::max<int64_t>(picked_, -1);
    }

    struct Place {  // of one group's lanes
        Rect plot;
        float pitch = 0, bar = 0;
        double begin_us = 0, end_us = 0;  // of what is shown
        bool records = false;
        float x_of(double us) const { return plot.x + plot.w * static_cast<float>((us - begin_us) / (end_us - begin_us)); }
        bool shows(double from_us, double to_us) const { return to_us >= begin_us && from_us <= end_us; }
        float top_of(int worker) const { return plot.y + pitch * static_cast<float>(worker); }
    };

    static float height_of(const WorkerLanes& lanes, float pitch) {
        return 26 + pitch * static_cast<float>(lanes.workers) + (lanes.asynchronous ? 24.0f : 0.0f) + 8;
    }

    // All of the run, or as much as leaves a batch 14 units: from the beginning, or around the batch that is picked.
    std::pair<double, double> window_of(const ShownLanes& shown, double end, float wide) const {
        int64_t most = 1;
        for (const WorkerLanes* one : shown)
            for (int worker = 0; worker < one->workers; ++worker) most = std::max(most, one->batches_of(worker));
        const double window = end * std::min(1.0, static_cast<double>(wide) / 14 / static_cast<double>(most));
        const WorkerBatch* picked = picked_batch(shown);
        const double begin = picked ? std::clamp(picked->begin_us - window / 2, 0.0, end - window) : 0;
        return {begin, begin + window};
    }

    void draw_groups(Ui& ui, const ShownLanes& shown, bool hidden, const Rect& r) {
        const float legend = 26, axis = 22;
        float fixed = legend + axis, lanes = 0;
        double end = 1e-9;
        bool records = false, had = false;
        for (const WorkerLanes* one : shown) {
            fixed += height_of(*one, 0);
            lanes += static_cast<float>(one->workers);
            end = std::max(end, one->end_us * (stuck_batch(*one) ? 1.3 : 1.0));
            for (const WorkerBatch& batch : one->batches) {
                records = records || !batch.records.empty();
                had = had || std::count(batch.had.begin(), batch.had.end(), 1) > 0;
            }
        }
        // Where records are shown, their squares come before the prices.
        const float price = 62, left = r.h - fixed - price;
        const float prices = !hidden && r.h > 330 && (!records || left / lanes >= 36) ? price : 0.0f;
        const float pitch = std::clamp((r.h - fixed - prices) / lanes, records ? 14.0f : 16.0f, 52.0f);
        const bool side = r.w > 640;
        const float wide = r.w - label_width - (side ? side_width : 0.0f) - 8;
        const auto [begin, until] = window_of(shown, end, wide);
        float y = r.y;
        for (size_t i = 0; i < shown.size(); ++i) {
            const WorkerLanes& one = *shown[i];
            Place place{.pitch = pitch, .begin_us = begin, .end_us = until, .records = records};
            place.bar = !records      ? std::min(26.0f, pitch - 4)
                        : pitch >= 36 ? std::min(24.0f, pitch - 14)
                                      : std::max(6.0f, pitch - 10);
            place.plot = {r.x + label_width, y + 26, wide, height_of(one, pitch) - 34};
            title(ui, one, name_among(one, shown), r.x, y, r.x + label_width + wide);
            if (hidden)
                draw_hidden_place(ui, place.plot);
            else
                draw_lanes(ui, one, i, place);
            labels(ui, one, r.x, place, hidden);
            if (side && !hidden) {
                const Rect beside{r.right() - side_width + 12, y, side_width - 12, height_of(one, pitch) - 8};
                if (one.asynchronous)
                    histogram(ui, one, beside);
                else if (!one.waits.empty() && beside.h > 96)
                    who_waits(ui, one, beside);
                else if (one.waits.empty() && shown.size() > 1 && shown.back()->asynchronous)
                    draw_losses(ui, shown, beside);
            }
            y += height_of(one, pitch);
        }
        if (hidden) return;
        time_axis(ui, {r.x + label_width, y, wide, axis}, begin, until, end);
        y += axis;
        if (prices > 0) draw_prices(ui, shown, {r.x, y, r.w, prices});
        draw_legend(ui, shown, records, had, r.x, r.bottom() - 8, r.right());
    }

    static void title(Ui& ui, const WorkerLanes& lanes, const std::string& name, float x, float y, float right) {
        const float end = ui.text(x, y + 14,
                                  name + (lanes.asynchronous ? ": a parameter server takes each gradient as it comes"
                                                             : ": a ring adds up the gradients, each step"),
                                  {.size = 14, .weight = 600, .width = right - x});
        std::string note;
        if (lanes.asynchronous && lanes.bound >= 0)
            note = fmt::format("nobody is more than {} ahead of the slowest", lanes.bound);
        else if (lanes.asynchronous)
            note = "the number: staleness, others' updates since the fetch";
        if (end + 12 + ui.text_width(note, {.size = 13}) < right)
            ui.text(end + 12, y + 14, note, {.size = 13, .color = ui.theme->ink2});
    }

    static void labels(Ui& ui, const WorkerLanes& lanes, float x, const Place& place, bool hidden) {
        for (int worker = 0; worker < lanes.workers; ++worker) {
            const float y = place.top_of(worker);
            const bool two = place.pitch >= 34;
            ui.text(x, y + (two ? 14 : place.bar / 2 + 5), fmt::format("worker {}", worker),
                    {.size = two ? 14.0f : 13.0f, .weight = 600});
            if (!two || hidden) continue;
            const int64_t batches = lanes.batches_of(worker);
            ui.text(x, y + 30, fmt::format("{} batches of {}", batches, lanes.share),
                    {.size = 12, .color = ui.theme->quiet});
        }
        if (lanes.asynchronous) ui.text(x, place.top_of(lanes.workers) + 14, "server", {.size = 13, .weight = 600});
    }

    void draw_lanes(Ui& ui, const WorkerLanes& lanes, size_t group, const Place& place) {
        const Theme& theme = *ui.theme;
        int64_t most = 0;
        for (const WorkerBatch& batch : lanes.batches) most = std::max(most, batch.staleness);
        if (lanes.asynchronous) {
            const Rect server{place.plot.x, place.top_of(lanes.workers), place.plot.w, 18};
            ui.rect(server, theme.panel2);
            const WorkerBatch* picked =
                group == group_ && picked_ >= 0 ? &lanes.batches[static_cast<size_t>(picked_)] : nullptr;
            int64_t number = 0;
            float told = server.x;
            for (const WorkerBatch& batch : lanes.batches) {
                ++number;
                if (!place.shows(batch.end_us, batch.end_us)) continue;
                const float x = place.x_of(batch.end_us);
                if (picked && picked->worker == batch.worker)
                    ui.line({x, place.top_of(batch.worker) + place.bar}, {x, server.y}, faded(theme.ink, 0.55f), 1.5f);
                ui.rect({x - 1, server.y, 2, server.h}, staleness_color(batch.staleness, most));
                if (number % 5 == 0 && x - 22 > told) {
                    ui.text(x - 4, server.y + 14, std::to_string(number), {.size = 12, .align = Align::right});
                    told = x;
                }
            }
        }
        std::vector<double> before(static_cast<size_t>(lanes.workers));
        ui.clip({place.plot.x - 1, place.plot.y - 1, place.plot.w + 2, place.plot.h + 9});
        for (size_t i = 0; i < lanes.batches.size(); ++i) {
            const WorkerBatch& batch = lanes.batches[i];
            const double held_from = std::exchange(before[static_cast<size_t>(batch.worker)], batch.end_us);
            if (!place.shows(held_from, batch.end_us)) continue;
            draw_batch(ui, lanes, batch, place, held_from, most);
            const float y = place.top_of(batch.worker), x = place.x_of(batch.begin_us);
            const Rect whole{x, y, std::max(3.0f, place.x_of(batch.end_us) - x), place.bar};
            if (ui.clicked(whole)) group_ = group, picked_ = static_cast<int64_t>(i);
            if (ui.hovered(whole)) ui.tooltip(batch_words(lanes, batch));
            if (group == group_ && picked_ == static_cast<int64_t>(i)) ui.outline(whole);
        }
        ui.unclip();
        if (!stuck_batch(lanes) && !lanes.asynchronous) return;
        for (int worker = 0; worker < lanes.workers; ++worker) {
            bool waits = false;
            for (const WorkerBatch& batch : lanes.batches) waits = waits || (batch.worker == worker && batch.stuck);
            const float x = place.x_of(before[static_cast<size_t>(worker)]) + 8;
            if (!waits && x > place.plot.x && x + 40 < place.plot.right())
                ui.text(x, place.top_of(worker) + place.bar / 2 + 5, "done", {.size = 13, .color = theme.quiet});
        }
    }

    // `before_us`: the end of the worker's last batch.
    static void draw_batch(Ui& ui, const WorkerLanes& lanes, const WorkerBatch& batch, const Place& place, double before_us,
                           int64_t most) {
        const Theme& theme = *ui.theme;
        const float y = place.top_of(batch.worker);
        const auto bar = [&](double from, double to) {
            const float a = place.x_of(from), b = place.x_of(to);
            return Rect{a, y, std::max(0.5f, b - a - (b - a > 4 ? 1.0f : 0.0f)), place.bar};
        };
        const Color fill = lanes.asynchronous ? staleness_color(batch.staleness, most) : data::sky;
        const Rect work = bar(batch.begin_us, batch.computed_us);
        const Color shade = mix(theme.panel, fill, 0.8f);
        const auto waiting = [&](const Rect& r) {
            ui.rect(r, mix(theme.panel, data::orange, 0.45f));
            if (r.w > 4) ui.hatch(r, data::orange, Hatch::diagonal);
        };
        if (lanes.asynchronous && batch.held_us > 0) waiting(bar(before_us, before_us + batch.held_us));
        ui.rect(work, shade);
        const std::string number = std::to_string(batch.batch + 1);
        const TextStyle style{.size = 12, .color = text_on(shade), .mono = true};
        const float width = ui.text_width(number, style);
        if (!lanes.asynchronous) {
            if (width + 6 < work.w && place.bar >= 14)
                ui.text(work.x + work.w / 2 - width / 2, work.y + work.h / 2 + 4.5f, number, style);
            if (batch.stuck) {
                const Rect rest{work.right() + 1, y, place.plot.right() - work.right() - 1, place.bar};
                waiting(rest);
                ui.outline(rest);
                const TextStyle words{.size = 12, .weight = 600};
                const float w = ui.text_width("waits, for ever", words);
                if (w + 16 < rest.w && place.bar >= 14) {
                    ui.rect({rest.x + rest.w / 2 - w / 2 - 6, y + 3, w + 12, place.bar - 6}, theme.panel);
                    ui.text(rest.x + rest.w / 2 - w / 2, y + place.bar / 2 + 4.5f, "waits, for ever", words);
                }
            } else {
                if (batch.ready_us > batch.computed_us) waiting(bar(batch.computed_us, batch.ready_us));
                const Rect ring = bar(batch.ready_us, batch.end_us);
                ui.rect(ring, mix(theme.panel, data::blue, 0.6f));
                if (ring.w > 4) ui.hatch(ring, faded(theme.panel, 0.6f), Hatch::horizontal);
            }
        } else {
            const std::string stale = std::to_string(batch.staleness);
            const TextStyle bold{.size = 12, .color = theme.ink, .align = Align::center, .weight = 700, .mono = true};
            const float digits = ui.text_width(stale, bold), chip = digits + 10;
            if (width + chip + 10 < work.w && place.bar >= 16)
                ui.text(work.x + 4, work.y + work.h / 2 + 4.5f, number, style);
            if (chip + 2 < work.w && place.bar >= 16) {
                const Rect box{work.right() - chip - 2, y + 2, chip, place.bar - 4};
                ui.rect(box, theme.panel, 2);
                ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, stale, bold);
            } else if (digits + 2 < work.w) {
                TextStyle plain = bold;
                plain.color = text_on(shade);
                ui.text(work.x + work.w / 2, work.y + work.h / 2 + 4.5f, stale, plain);
            }
        }
        if (!place.records) return;
        const float gap = place.pitch >= 36 ? 3.0f : 1.5f;
        const float size = std::min({7.0f, place.pitch - place.bar - gap - 1,
                                     (place.x_of(batch.computed_us) - work.x) / float(batch.records.size() + 1) - 1});
        if (size < 3) return;
        for (size_t i = 0; i < batch.records.size(); ++i) {
            const Rect cell{work.x + 1 + static_cast<float>(i) * (size + 1.5f), y + place.bar + gap, size, size};
            const bool had = i < batch.had.size() && batch.had[i];
            if (batch.records[i])
                ui.rect(cell, had ? theme.ink : fill);
            else
                ui.frame(cell, theme.ink2);
        }
    }

    static void time_axis(Ui& ui, const Rect& r, double begin, double until, double end) {
        const Theme& theme = *ui.theme;
        double unit = step_of_time(until - begin);
        while (until > begin && static_cast<double>(r.w) * unit / (until - begin) < 62) unit *= 2;  // its words have room
        const bool all = until - begin >= end;
        const float right = all ? r.right() : r.right() - 200;
        if (!all)
            ui.text(r.right(), r.y + 17, fmt::format("of {}; Up and Down go on", time_text(end)),
                    {.size = 12, .color = theme.quiet, .align = Align::right});
        for (auto i = static_cast<int64_t>(std::ceil(begin / unit)); static_cast<double>(i) * unit <= until; ++i) {
            const double us = static_cast<double>(i) * unit;
            const float x = r.x + r.w * static_cast<float>((us - begin) / (until - begin));
            ui.line({x, r.y}, {x, r.y + 4}, theme.ink3);
            if (x + 30 > right) continue;
            ui.text(x, r.y + 17, i == 0 ? "0" : fmt::format("{:g} µs", us),
                    {.size = 12, .color = theme.quiet, .align = i == 0 ? Align::left : Align::center});
        }
    }

    static void histogram(Ui& ui, const WorkerLanes& lanes, const Rect& r) {
        const Theme& theme = *ui.theme;
        const std::vector<int64_t> counts = lanes.by_staleness();
        if (counts.empty()) return;
        ui.text(r.x, r.y + 14, "updates by staleness", {.size = 13, .color = theme.ink2, .width = r.w});
        const auto bars = static_cast<float>(counts.size());
        const float pitch = std::min(38.0f, r.w / bars), bottom = r.bottom() - 20, height = bottom - r.y - 38;
        const int64_t most = *std::max_element(counts.begin(), counts.end());
        for (size_t i = 0; i < counts.size(); ++i) {
            const float h = height * static_cast<float>(counts[i]) / static_cast<float>(std::max<int64_t>(1, most));
            const Rect bar{r.x + pitch * static_cast<float>(i), bottom - h, std::max(2.0f, pitch - 6), h};
            ui.rect(bar, mix(theme.panel, staleness_color(static_cast<int64_t>(i), static_cast<int64_t>(counts.size()) - 1),
                             0.8f));
            if (ui.hovered({bar.x, r.y, bar.w, r.h}))
                ui.tooltip(fmt::format("{} updates were {} updates stale", counts[i], i));
            if (pitch < 16) continue;
            ui.text(bar.x + bar.w / 2, bar.y - 5, std::to_string(counts[i]), {.size = 12, .align = Align::center});
            ui.text(bar.x + bar.w / 2, bottom + 15, std::to_string(i),
                    {.size = 12, .align = Align::center, .weight = 700, .mono = true});
        }
        ui.line({r.x, bottom}, {r.x + pitch * bars, bottom}, theme.ink3);
    }

    static void draw_losses(Ui& ui, const ShownLanes& shown, const Rect& r) {
        const Theme& theme = *ui.theme;
        if (r.h < 90) return;
        ui.text(r.x, r.y + 14, "loss over time", {.size = 13, .color = theme.ink2, .width = r.w});
        const Rect plot{r.x, r.y + 24, r.w - 44, r.h - 50};
        double least = 1e300, most = -1e300, end = 1e-9;
        for (const WorkerLanes* lanes : shown)
            for (const LossPoint& point : loss_curve(*lanes))
                least = std::min(least, point.loss), most = std::max(most, point.loss), end = std::max(end, point.us);
        if (!(most > least)) return;
        ui.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, theme.ink3);
        float told = -1e9f;
        for (const WorkerLanes* lanes : shown) {
            std::vector<Point> line;
            const std::vector<LossPoint> curve = loss_curve(*lanes);
            for (const LossPoint& point : curve)
                line.push_back({plot.x + plot.w * static_cast<float>(point.us / end),
                                plot.bottom() - plot.h * static_cast<float>((point.loss - least) / (most - least))});
            if (line.empty()) continue;
            const Color color = lanes->asynchronous ? data::green : data::sky;
            ui.polyline(line, color, 2, lanes->asynchronous ? 5.0f : 0.0f, lanes->asynchronous ? 3.0f : 0.0f);
            float y = std::clamp(line.back().y + 4, plot.y + 8, plot.bottom() + 4);
            if (std::abs(y - told) < 15) y = told + (y < told ? -15.0f : 15.0f);
            told = y;
            ui.text(r.right(), y, fmt::format("{:.2f}", curve.back().loss),
                    {.size = 12, .align = Align::right, .weight = 600});
            if (ui.hovered(plot))
                ui.tooltip(fmt::format("{}: loss {:.3f} after {}; line: {}", lanes->name, curve.back().loss,
                                       time_text(curve.back().us), lanes->asynchronous ? "dashed" : "solid"));
        }
        ui.text(r.x, r.bottom() - 8, "dashed: with a server", {.size = 12, .color = theme.quiet, .width = r.w});
    }

    static bool waits_too(const WorkerLanes& lanes, int worker) {
        return std::any_of(lanes.waits.begin(), lanes.waits.end(), [&](const auto& wait) { return wait.first == worker; });
    }

    static void who_waits(Ui& ui, const WorkerLanes& lanes, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, "who waits for whom", {.size = 13, .color = theme.ink2});
        const float radius = 15, reach = std::max(20.0f, std::min(r.w / 2 - 24, (r.h - 40) / 2 - radius));
        const Point middle{r.x + r.w / 2, r.y + 28 + radius + reach};
        const auto place = [&](int worker) {
            const double turn = -1.5707963 + 6.2831853 * worker / lanes.workers;
            return Point{middle.x + reach * static_cast<float>(std::cos(turn)),
                         middle.y + reach * static_cast<float>(std::sin(turn))};
        };
        for (const auto& [who, whom] : lanes.waits) {
            const Point a = place(who), b = place(whom);
            const float length = std::hypot(b.x - a.x, b.y - a.y), dx = (b.x - a.x) / length, dy = (b.y - a.y) / length;
            const Point ends[] = {{a.x + dx * radius, a.y + dy * radius}, {b.x - dx * radius, b.y - dy * radius}};
            ui.polyline(ends, data::vermillion, 2.5f, 6, 4);
            const Point tip = ends[0], back{tip.x + 9 * dx, tip.y + 9 * dy};  // what would come to who waits
            ui.polygon({tip, {back.x - 5 * dy, back.y + 5 * dx}, {back.x + 5 * dy, back.y - 5 * dx}}, data::vermillion);
            if (waits_too(lanes, whom)) continue;
            // Beside the line, on the side where it stays in this panel: the lanes' own words stand at its left.
            const float half = (a.x + b.x) / 2, width = ui.text_width("never sends", {.size = 12});
            const bool behind = half + 12 + width <= r.right() && (dx >= 0 || half - 8 - width < r.x);
            ui.text(std::max(behind ? half + 12 : half - 8 - width, r.x), (a.y + b.y) / 2, "never sends",
                    {.size = 12, .color = theme.wrong});
        }
        for (int worker = 0; worker < lanes.workers; ++worker) {
            const Point at = place(worker);
            const bool waits = waits_too(lanes, worker);
            ui.circle(at, radius, theme.panel2);
            ui.ring(at, radius, waits ? data::vermillion : theme.ink3, waits ? 2.5f : 1.5f);
            ui.text(at.x, at.y + 5, std::to_string(worker), {.size = 14, .align = Align::center, .weight = 700});
        }
    }

    static void draw_prices(Ui& ui, const ShownLanes& shown, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y + 4}, {r.right(), r.y + 4}, theme.line);
        ui.text(r.x, r.y + 24, "The price", {.size = 14, .weight = 600});
        const float pitch = (r.w - label_width) / 2;
        for (size_t i = 0; i < shown.size(); ++i) {
            const WorkerLanes& one = *shown[i];
            const float x = r.x + label_width + pitch * static_cast<float>(i);
            const auto line = [&](float y, const std::string& value, bool much, std::string_view words) {
                const float end = ui.text(x, y, value, {.size = 16, .color = much ? theme.wrong : theme.ink, .weight = 700});
                ui.text(end + 8, y, words, {.size = 13, .color = theme.ink2, .width = x + pitch - end - 16});
            };
            line(
                r.y + 24, share_words(one.waiting_share()), one.waiting_share() > 0.02,
                one.asynchronous ? "of the time held back, asynchronous" : "of the time waits for the slowest, synchronous");
            line(r.y + 48, one.asynchronous ? updates_words(one) : fmt::format("0 of {}", one.updates()),
                 one.stale_updates() > 0, "updates by gradients of old weights");
        }
    }

    static void draw_legend(Ui& ui, const ShownLanes& shown, bool records, bool had, float x, float y, float right) {
        const bool steps = !shown.front()->asynchronous, server = shown.back()->asynchronous;
        const auto next = [&](Color color, Hatch hatch, std::string_view words) {
            if (x + ui.text_width(words, {.size = 13}) + 40 < right) x = ui.legend(x, y, color, hatch, words);
        };
        if (steps) next(data::sky, Hatch::solid, "a batch");
        next(data::orange, Hatch::diagonal, "waits");
        if (steps) next(data::blue, Hatch::horizontal, "ring all-reduce");
        if (server) next(data::green, Hatch::solid, "a batch, fresh weights");
        if (server) next(data::yellow, Hatch::solid, "1 update old");
        if (server) next(data::vermillion, Hatch::solid, "oldest");
        const bool again = std::any_of(shown.begin(), shown.end(), [](const auto* one) { return one->read_again() > 0; });
        if (records)
            next(steps ? data::sky : data::green, Hatch::solid,
                 again ? "squares: records; hollow: read again" : "squares: records");
        if (had) next(ui.theme->ink, Hatch::solid, "the worker had it in epoch 1");
    }
};

}  // namespace

std::unique_ptr<View> make_workers_view() {
    return std::make_unique<WorkersView>();
}

}  // namespace lockstep::gui
