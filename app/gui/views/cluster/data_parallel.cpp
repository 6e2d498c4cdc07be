// Data parallelism, one step: every rank's computing above its gradients' way, bucket by bucket, on one axis; what is not
// hidden by computing is marked. Below, one bar for each row of the scene: computing, and what stands out beyond it. A click
// on such a bar shows its row above; Up and Down do, too. A and D go from bucket to bucket.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/cluster/data_step.h"
#include "app/gui/widgets/axis.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

using Steps = std::vector<DataStep>;

constexpr std::string_view data_title = "Data parallelism: one step of all ranks";
constexpr std::string_view data_hidden =
    "When gradients leave, and when the step ends, stays hidden until you lock an answer.";
constexpr float name_width = 62, lane_width = 66;

class DataParallelView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        adopt(snapshot->cluster);
        if (steps_.empty()) {
            const Rect body = ui.panel(area, {.title = data_title});
            return ui.say_nothing_yet(body, "No ranks have trained in data parallel yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const DataStep& step = steps_[shown_at(hidden)];
        const std::string caption = hidden ? std::string(data_hidden) : data_caption(step);
        const Rect body = ui.panel(area, {.title = data_title,
                                          .right = fmt::format("{}, {} of gradients", counted(step.ranks.size(), "rank"),
                                                               bytes_si(static_cast<double>(step.gradient_bytes))),
                                          .badge = hidden ? Provenance::none : Provenance::times_derived,
                                          .caption = caption});
        ui.push_scope("data parallel");
        if (!hidden) pick_by_keys(ui, area);
        float y = body.y;
        const bool one = bucket_ >= 0 && bucket_ < static_cast<int>(step.ranks[rank_of(step)].buckets.size());
        if (!hidden && body.h < low_body) {  // one line says it
            ui.text(body.x, y + 16,
                    one ? bucket_words(step, rank_of(step), static_cast<size_t>(bucket_)) : data_headline(steps_, step),
                    {.size = one ? 14.0f : 18.0f, .weight = one ? 400 : 700, .width = body.w});
            y += 28;
        } else if (!hidden) {
            ui.text(body.x, y + 22, data_headline(steps_, step), {.size = 24, .weight = 700, .width = body.w});
            ui.text(body.x, y + 44,
                    one ? bucket_words(step, rank_of(step), static_cast<size_t>(bucket_))
                        : data_difference(step, steps_.front()),
                    {.size = 14, .color = one ? ui.theme->ink : ui.theme->ink2, .width = body.w});
            y += 56;
        }
        constexpr float legend = 24;
        const bool low = body.h < low_body;
        const float bars = height_of_bars(low);
        const Rect lanes{body.x, y, body.w, body.bottom() - legend - bars - y};
        if (hidden && !known(0))
            draw_hidden_place(ui, {lanes.x, lanes.y, lanes.w, lanes.h + bars});
        else
            draw_lanes(ui, step, hidden, low, lanes);
        if (!hidden || known(0)) draw_bars(ui, hidden, low, {body.x, body.bottom() - legend - bars, body.w, bars});
        draw_legend(ui, step, body.x, body.bottom() - 6, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const Steps steps = snapshot->cluster ? data_steps(*snapshot->cluster) : Steps();
        if (steps.empty()) return std::string(data_title) + ": no ranks have trained yet.\n";
        std::string text = fmt::format("{} (executed, times derived): {} ranks\n", data_title, steps.back().ranks.size());
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(data_hidden) + "\n";
        for (const DataStep& step : steps) {
            const DataRank& rank = step.ranks.front();
            text +=
                fmt::format("  {} ({}): step {}, computing {}, all-reduce {} in {}, of it {} exposed\n", step.name,
                            step.at_once, time_text(step.end_us), time_text(step.computing_us), time_text(rank.gradients_us),
                            buckets_words(rank.buckets.size()), time_text(rank.exposed_us()));
        }
        const DataStep& step = steps[std::min(row_, steps.size() - 1)];
        text += "  " + data_headline(steps, step) + ". " + data_difference(step, steps.front()) + "\n";
        for (size_t bucket = 0; bucket < step.ranks.front().buckets.size() && bucket < 40; ++bucket)
            text += "    " + bucket_words(step, 0, bucket) + "\n";
        return text + "  " + data_caption(step) + "\n";
    }

  private:
    std::shared_ptr<const scene::ClusterScene> seen_;
    Steps steps_;
    size_t row_ = 0;
    int rank_ = 0, bucket_ = -1;

    void adopt(const std::shared_ptr<const scene::ClusterScene>& scene) {
        if (scene == seen_) return;
        seen_ = scene;
        steps_ = scene ? data_steps(*scene) : Steps();
        bucket_ = -1;
        row_ = 0;
        const bool by_ranks = ranks_differ();
        for (size_t i = 1; i < steps_.size(); ++i)
            if (by_ranks ? steps_[i].ranks.size() > steps_[row_].ranks.size() : steps_[i].end_us < steps_[row_].end_us)
                row_ = i;
        for (size_t i = 0; i < steps_.size(); ++i)
            if (asks_for(i)) row_ = i;
    }
    bool ranks_differ() const {
        return std::any_of(steps_.begin(), steps_.end(),
                           [&](const DataStep& step) { return step.ranks.size() != steps_.front().ranks.size(); });
    }
    bool asks_for(size_t row) const {
        std::string name = seen_->asked;
        std::replace(name.begin(), name.end(), '_', ' ');
        return !name.empty() && steps_[row].name == name;
    }
    // While a question about another row is open, the first one may be seen.
    bool known(size_t row) const { return row == 0 && !seen_->asked.empty() && !asks_for(0); }
    size_t shown_at(bool hidden) const { return hidden ? 0 : row_; }
    size_t rank_of(const DataStep& step) const { return std::min(static_cast<size_t>(rank_), step.ranks.size() - 1); }

    void pick_by_keys(Ui& ui, const Rect& area) {
        const int row = (ui.pressed(Key::down, area) ? 1 : 0) - (ui.pressed(Key::up, area) ? 1 : 0);
        const int bucket = (ui.pressed(Key::d, area) ? 1 : 0) - (ui.pressed(Key::a, area) ? 1 : 0);
        if (row != 0) {
            row_ = static_cast<size_t>(std::clamp(static_cast<int>(row_) + row, 0, static_cast<int>(steps_.size()) - 1));
            bucket_ = -1;
        }
        const auto count = static_cast<int>(steps_[row_].ranks[rank_of(steps_[row_])].buckets.size());
        if (bucket != 0) bucket_ = std::clamp(bucket_ + bucket, -1, count - 1);
    }

    // Below their title, which is left out where they have little room.
    static float head_of_bars(bool low) { return low ? 8.0f : 30.0f; }
    float height_of_bars(bool low) const { return head_of_bars(low) + 22 * static_cast<float>(steps_.size()) + 4; }

    double longest(bool hidden) const {
        double end = 1e-9;
        for (size_t i = 0; i < steps_.size(); ++i)
            if (!hidden || known(i)) end = std::max(end, steps_[i].end_us);
        return end;
    }

    struct Scale {
        float left = 0, width = 0;
        double end = 1;
        float x(double us) const { return left + width * static_cast<float>(us / end); }
    };
    Scale scale_of(const Rect& r, bool hidden) const {
        return {r.x + name_width + lane_width, r.w - name_width - lane_width - 128, longest(hidden)};
    }

    void draw_lanes(Ui& ui, const DataStep& step, bool hidden, bool low, const Rect& r) {
        const Theme& theme = *ui.theme;
        const Scale scale = scale_of(r, hidden);
        constexpr float head = 22, axis = 22;
        const float room = r.h - head - axis;
        const int rows = std::clamp(static_cast<int>(room / 30), 1, static_cast<int>(step.ranks.size()));
        const float pitch = std::clamp(room / static_cast<float>(rows), 24.0f, 76.0f);
        const float compute = std::min(32.0f, pitch * 0.48f), below = std::min(24.0f, pitch * 0.36f);
        float x = ui.text(r.x, r.y + 14, step.name, {.size = 14, .weight = 600});
        std::string note = fmt::format("{}, two streams a rank", step.at_once);
        if (rows < static_cast<int>(step.ranks.size())) note += fmt::format(", {} of {} ranks", rows, step.ranks.size());
        ui.text(x + 10, r.y + 14, note, {.size = 13, .color = theme.ink2, .width = r.right() - x - 10});
        const float top = r.y + head, bottom = top + pitch * static_cast<float>(rows);
        for (int i = 0; i < rows; ++i)
            draw_rank(ui, step, static_cast<size_t>(i), scale, top + pitch * static_cast<float>(i), compute, below);
        const float end = scale.x(step.end_us);
        const Point line[] = {{end, top - 6}, {end, bottom + 4}};
        ui.polyline(line, theme.ink, 2);
        if (!low) ui.text(end + 6, top + 10, "the step ends", {.size = 12, .color = theme.ink2});
        ui.text(end + 6, top + (low ? 16 : 28), time_text(step.end_us), {.size = 16, .weight = 700});
        double unit = step_of_time(scale.end);
        while (scale.x(unit) - scale.left < 58) unit *= 2;
        for (int i = 0; i * unit <= scale.end; ++i) {
            const float at = scale.x(i * unit);
            ui.line({at, bottom}, {at, bottom + 5}, theme.ink3);
            ui.text(at, bottom + 18, i == 0 ? "0" : fmt::format("{:g} µs", i * unit),
                    {.size = 12, .color = theme.quiet, .align = i == 0 ? Align::left : Align::center});
        }
    }

    void draw_rank(Ui& ui, const DataStep& step, size_t number, const Scale& scale, float y, float compute, float below) {
        const Theme& theme = *ui.theme;
        const DataRank& rank = step.ranks[number];
        const float left = scale.left;
        ui.text(left - lane_width - name_width, y + compute / 2 + 5, fmt::format("rank {}", number),
                {.size = 13, .weight = 600});
        ui.text(left - 8, y + compute / 2 + 4.5f, "computes", {.size = 12, .color = theme.quiet, .align = Align::right});
        if (below >= 11)
            ui.text(left - 8, y + compute + below / 2 + 4.5f, "gradients",
                    {.size = 12, .color = theme.quiet, .align = Align::right});
        const float lane = scale.x(step.end_us) - left;
        ui.rect({left, y, lane, compute}, theme.panel2);
        ui.rect({left, y + compute, lane, below}, theme.panel2);
        if (rank.waits_to > rank.waits_from) {
            const Rect waits{scale.x(rank.waits_from) + 1, y + 1, scale.x(rank.waits_to) - scale.x(rank.waits_from) - 2,
                             compute - 2};
            if (waits.w > 2) {
                ui.rect(waits, mix(theme.panel, data::vermillion, 0.25f));
                ui.dashed(waits, theme.wrong);
                std::string words = fmt::format("waits {}", time_text(rank.waits_to - rank.waits_from));
                if (ui.text_width(words, {.size = 12, .weight = 600}) + 8 > waits.w) words = "waits";
                if (compute >= 14 && ui.text_width(words, {.size = 12, .weight = 600}) + 8 <= waits.w)
                    ui.text(waits.x + waits.w / 2, y + compute / 2 + 4.5f, words,
                            {.size = 12, .color = theme.ink, .align = Align::center, .weight = 600});
                if (ui.hovered(waits))
                    ui.tooltip(fmt::format("rank {} waits from {} to {} for its last gradients", number,
                                           time_text(rank.waits_from), time_text(rank.waits_to)));
            }
        }
        for (const DataWork& work : rank.work) {
            const Rect box{scale.x(work.begin), y, std::max(1.0f, scale.x(work.end) - scale.x(work.begin) - 1), compute};
            const Color fill = step_phase_color(name_of(work.phase));
            ui.rect(box, fill);
            if (work.phase == StepPhase::update && box.w > 4) ui.hatch(box, faded(data::black, 0.4f), Hatch::cross);
            if (compute >= 14 && ui.text_width(name_of(work.phase), {.size = 12, .weight = 600}) + 8 < box.w)
                ui.text(box.x + box.w / 2, y + compute / 2 + 4.5f, name_of(work.phase),
                        {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600});
            if (ui.hovered(box))
                ui.tooltip(fmt::format("rank {}: {} from {} to {}", number, name_of(work.phase), time_text(work.begin),
                                       time_text(work.end)));
        }
        for (size_t i = 0; i < rank.buckets.size(); ++i) {
            const DataBucket& bucket = rank.buckets[i];
            const Rect box{scale.x(bucket.begin), y + compute,
                           std::max(1.0f, scale.x(bucket.end) - scale.x(bucket.begin) - 1), below};
            ui.rect(box, mix(theme.panel, data::orange, 0.8f));
            for (float x = box.x; x < box.right(); x += 440)
                ui.hatch({x, box.y, std::min(440.0f, box.right() - x), box.h}, faded(data::black, 0.4f), Hatch::diagonal);
            const std::string words = std::to_string(i + 1);
            const float width = ui.text_width(words, {.size = 12, .weight = 700}) + 6;
            if (below >= 13 && width + 2 < box.w) {
                ui.rect({box.x + box.w / 2 - width / 2, box.y + 1, width, below - 2}, data::orange);
                ui.text(box.x + box.w / 2, box.y + below / 2 + 4.5f, words,
                        {.size = 12, .color = text_on(data::orange), .align = Align::center, .weight = 700});
            }
            if (bucket.begin < rank.waits_from) {  // it leaves while backward goes on
                ui.line({box.x, y + compute * 0.35f}, {box.x, y + compute}, theme.ink, 1.5f);
                ui.arrow_head({box.x, y + compute + 1}, Way::down, theme.ink, 4);
            }
            if (ui.clicked(box)) rank_ = static_cast<int>(number), bucket_ = static_cast<int>(i);
            if (ui.hovered(box)) ui.tooltip(bucket_words(step, number, i));
            if (bucket_ == static_cast<int>(i) && rank_ == static_cast<int>(number)) ui.outline(box);
        }
    }

    // One bar a row: what rank 0 computes, and how much longer the step is.
    void draw_bars(Ui& ui, bool hidden, bool low, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y}, {r.right(), r.y}, theme.line);
        const bool by_bucket = !ranks_differ() && std::any_of(steps_.begin(), steps_.end(), [&](const DataStep& one) {
            return one.at_once != steps_.front().at_once;
        });
        if (!low) {
            const float x = ui.text(r.x, r.y + 20, by_bucket ? "A bucket holds" : "A step of", {.size = 14, .weight = 600});
            ui.text(x + 10, r.y + 20, "click a bar to see its step above", {.size = 13, .color = theme.ink2});
        }
        const Scale scale = scale_of(r, hidden);
        size_t shortest = 0;
        for (size_t i = 1; i < steps_.size(); ++i)
            if (steps_[i].end_us < steps_[shortest].end_us) shortest = i;
        for (size_t i = 0; i < steps_.size(); ++i) {
            const DataStep& step = steps_[i];
            const float y = r.y + head_of_bars(low) + 22 * static_cast<float>(i);
            const bool here = !hidden && i == row_;
            ui.text(scale.left - 8, y + 14, by_bucket ? step.at_once : step.name,
                    {.size = 13,
                     .color = here ? theme.ink : theme.ink2,
                     .align = Align::right,
                     .weight = here ? 700 : 400,
                     .width = name_width + lane_width - 8});
            if (hidden && !known(i)) {
                ui.dashed({scale.left, y + 1, scale.width, 16}, theme.ink3);
                continue;
            }
            const DataRank& rank = step.ranks.front();
            const Rect whole{scale.left, y, scale.x(step.end_us) - scale.left, 18};
            const float computed = whole.w * static_cast<float>(step.computing_us / step.end_us);
            ui.rect({whole.x, y, computed, 18}, mix(theme.panel, data::sky, here ? 0.9f : 0.55f));
            const Rect rest{whole.x + computed, y, whole.w - computed, 18};
            ui.rect(rest, mix(theme.panel, data::orange, here ? 0.8f : 0.5f));
            for (float at = rest.x; at < rest.right(); at += 440)
                ui.hatch({at, rest.y, std::min(440.0f, rest.right() - at), rest.h}, faded(data::black, 0.4f),
                         Hatch::diagonal);
            const std::string words = buckets_words(rank.buckets.size());
            if (!rank.buckets.empty() && ui.text_width(words, {.size = 12}) + 16 < computed)
                ui.text(whole.x + 8, y + 13, words,
                        {.size = 12, .color = text_on(mix(theme.panel, data::sky, here ? 0.9f : 0.55f))});
            float at = ui.text(whole.right() + 8, y + 14, time_text(step.end_us), {.size = 13, .weight = here ? 700 : 400});
            if (!hidden && i == shortest && steps_.size() > 1)
                ui.text(at + 8, y + 14, "shortest", {.size = 12, .color = theme.right, .width = r.right() - at - 8});
            if (here) ui.outline(whole);
            if (!hidden && ui.area(fmt::format("row {}", i), {r.x, y - 2, r.w, 22})) row_ = i, bucket_ = -1;
            if (ui.hovered(whole))
                ui.tooltip(fmt::format("{}: {} of computing, {} of all-reduce, {} of it exposed", step.name,
                                       time_text(step.computing_us), time_text(rank.gradients_us),
                                       time_text(rank.exposed_us())));
        }
    }

    static void draw_legend(Ui& ui, const DataStep& step, float x, float y, float right) {
        const auto next = [&](Color color, Hatch hatch, std::string_view words) {
            if (x + ui.text_width(words, {.size = 13}) + 40 < right) x = ui.legend(x, y, color, hatch, words);
        };
        next(step_phase_color("forward"), Hatch::solid, "forward");
        next(step_phase_color("backward"), Hatch::solid, "backward");
        next(data::orange, Hatch::diagonal, "all-reduce of a bucket");
        const std::vector<DataWork>& work = step.ranks.front().work;
        if (std::any_of(work.begin(), work.end(), [](const DataWork& one) { return one.phase == StepPhase::communication; }))
            next(step_phase_color("communication"), Hatch::solid, "other messages");
        next(step_phase_color("update"), Hatch::cross, "update");
        next(mix(ui.theme->panel, data::vermillion, 0.25f), Hatch::solid, "waits for the last gradients");
    }
};

}  // namespace

std::unique_ptr<View> make_data_parallel_view() {
    return std::make_unique<DataParallelView>();
}

}  // namespace lockstep::gui
