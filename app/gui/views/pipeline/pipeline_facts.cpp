// D9's facts in words: what a schedule took, how two compare, and whom an idle rank waited for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/pipeline/pipeline_picture.h"

namespace lockstep::gui {

namespace {

double mean_idle(const parallel::ScheduleRun& run) {
    return run.idle_a_rank();
}

double most_alive(const parallel::ScheduleRun& run) {
    double most = 0;
    for (size_t rank = 0; rank < run.peak_activations.size(); ++rank)
        most = std::max(most, peak_of(run, static_cast<int>(rank)));
    return most;
}

std::string peaks_text(const parallel::ScheduleRun& run) {
    return fmt::format("{} micro-batches' activations at most", amount(most_alive(run)));
}

}  // namespace

Provenance provenance_of(const scene::ScheduleShown& shown) {
    return shown.executed ? Provenance::times_derived : shown.planned ? Provenance::derived : Provenance::simulated;
}

double idle_of(const parallel::ScheduleRun& run, int rank) {
    double sum = 0;
    for (const parallel::IdleRun& idle : run.idle[static_cast<size_t>(rank)]) sum += idle.end - idle.begin;
    return sum;
}

double peak_of(const parallel::ScheduleRun& run, int rank) {
    return run.peak_activations[static_cast<size_t>(rank)] * run.schedule.share();
}

std::string schedule_facts(const scene::ScheduleShown& shown) {
    if (!shown.refusal.empty()) return shown.title + ": " + shown.refusal;
    const parallel::ScheduleRun& run = shown.run;
    return fmt::format("{}: {} {}, ideal {}, idle {} a rank, bubble {:.1f} % of total, {:.1f} % over ideal, {}{}",
                       shown.title, amount(run.total), run.shown_unit(), amount(run.ideal), amount(mean_idle(run)),
                       100 * run.bubble_of_total(), 100 * run.bubble_over_ideal(), peaks_text(run),
                       shown.move_refusal.empty() ? std::string() : "; " + shown.move_refusal);
}

std::string pipeline_caption(const scene::ClusterScene& scene) {
    std::vector<const scene::ScheduleShown*> ran;
    for (const scene::ScheduleShown& schedule : scene.schedules)
        if (schedule.refusal.empty()) ran.push_back(&schedule);
    if (scene.training && !trained(scene)) return "Nothing was trained: see why above.";
    if (scene.training) {
        const scene::TrainingShown& shown = *scene.training;
        const double off = std::abs(shown.difference());
        std::string text =
            fmt::format("{} ranks trained step {}: loss {:.4f}, ", shown.mesh.ranks(), shown.loss.size(), shown.loss.back());
        text += off == 0 ? std::string("equal to the serial run's") : fmt::format("the serial run's but for {:.0e}", off);
        if (!ran.empty())
            text += fmt::format("; a {} idles {:.0f} % of the pipeline's time",
                                ran.front()->run.schedule.chunks > 1 ? "rank" : "stage",
                                100 * ran.front()->run.bubble_of_total());
        if (!ran.empty() && ran.front()->run.schedule.copies > 1) text += ", and all weights are there twice";
        if (!shown.flushes && !ran.empty() && !ran.front()->run.weight_versions.empty())
            text += fmt::format(", stage 0 keeps {} versions of its weights", ran.front()->run.weight_versions.front());
        return text + ".";
    }
    if (ran.empty()) return "Neither schedule can be made of these numbers.";
    for (const scene::ScheduleShown* one : ran)
        if (!one->move_refusal.empty()) return one->move_refusal + ".";
    std::string text;
    if (ran.size() == 1) {
        const parallel::ScheduleRun& run = ran.front()->run;
        text = fmt::format("{}: every rank idles {} of {} {}; it keeps {}.", ran.front()->title, amount(mean_idle(run)),
                           amount(run.total), run.shown_unit(), peaks_text(run));
    } else {
        const parallel::ScheduleRun &a = ran[0]->run, &b = ran[1]->run;
        const double idle_a = mean_idle(a), idle_b = mean_idle(b), keep_a = most_alive(a), keep_b = most_alive(b);
        const int work_a = a.schedule.microbatches, work_b = b.schedule.microbatches;
        if (work_a != work_b && work_a > 0 && work_b > 0)  // unequal work: by the micro-batch
            text = fmt::format("{} takes {} {} a micro-batch, {} {}", ran[1]->title, amount(b.total / work_b),
                               b.shown_unit(), ran[0]->title, amount(a.total / work_a));
        else if (std::abs(a.bubble_of_total() - b.bubble_of_total()) < 1e-6)
            text = fmt::format("{} and {} have the same bubble, {:.1f} % of the total", ran[0]->title, ran[1]->title,
                               100 * a.bubble_of_total());
        else
            text = fmt::format("{} idles {} {} a rank, {} {}", ran[1]->title, amount(idle_b), b.shown_unit(), ran[0]->title,
                               amount(idle_a));
        if (std::abs(keep_a - keep_b) < 1e-9)
            text += fmt::format("; both keep {} micro-batches' activations at most.", amount(keep_a));
        else
            text += fmt::format("; {} keeps {} micro-batches' activations at most, {} {}.", ran[1]->title, amount(keep_b),
                                ran[0]->title, amount(keep_a));
    }
    const scene::PipelineSetup& setup = scene.setup.pipeline;
    if (setup.slow_rank >= 0)
        text += fmt::format(" Rank {} is {} times slower, and the others wait for it.", setup.slow_rank,
                            amount(setup.slow_factor));
    return text;
}

Why explain_idle(const scene::ScheduleShown& shown, int block, int rank, size_t idle) {
    Why why{block, rank, idle, {}, {}};
    const parallel::ScheduleRun& run = shown.run;
    const char* row = run.schedule.chunks > 1 ? "rank" : "stage";
    const parallel::IdleRun* span = &run.idle[static_cast<size_t>(rank)][idle];
    why.path.emplace_back(span->end, rank);
    const double until = span->end;
    why.text = fmt::format("{} {} {}, {} {}", row, rank, span->reason, amount(span->end - span->begin), run.shown_unit());
    // From rank to rank: whoever is waited for works, or waits itself.
    int at = rank;
    for (size_t hops = 0; hops < run.actions.size(); ++hops) {
        const int next = span->waits_for_rank;
        if (next < 0 || next == at || next >= static_cast<int>(run.actions.size())) break;
        at = next;
        const parallel::IdleRun* waits = nullptr;
        for (const parallel::IdleRun& other : run.idle[static_cast<size_t>(at)])
            if (other.begin <= span->begin + 1e-9 && other.end > span->begin + 1e-9) waits = &other;
        if (waits == nullptr || waits->waits_for_rank < 0 || waits->end > until + 1e-9) {
            const parallel::ActionRun* last = nullptr;  // that ends no later than the wait does
            for (const parallel::ActionRun& ran : run.actions[static_cast<size_t>(at)])
                if (parallel::computes(ran.action.kind) && ran.end <= until + 1e-9) last = &ran;
            if (last != nullptr) {
                why.text +=
                    fmt::format("; {} {} runs {} until {}", row, at, parallel::text_of(last->action), amount(last->end));
                why.path.emplace_back(last->end, at);
            }
            break;
        }
        why.text += fmt::format("; {} {} {}", row, at, waits->reason);
        why.path.emplace_back(std::min(waits->end, until), at);
        span = waits;
    }
    return why;
}

}  // namespace lockstep::gui
