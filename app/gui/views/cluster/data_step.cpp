#include "app/gui/views/cluster/data_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/dtype.h"
#include "core/base/units.h"
#include "core/parallel/train/rank.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::gui {

namespace {

double overlap(const std::vector<DataWork>& work, double begin, double end) {
    double sum = 0;
    for (const DataWork& one : work) sum += std::max(0.0, std::min(end, one.end) - std::max(begin, one.begin));
    return sum;
}

DataRank data_rank(const parallel::RankStep& rank, double begin) {
    DataRank made;
    for (const parallel::RankSpan& span : rank.spans)
        if (span.stream == parallel::compute_stream)
            made.work.push_back({phase_of(span), span.begin_us - begin, span.end_us - begin});
    for (const parallel::RankCollective& one : rank.collectives)
        if (one.purpose == "gradients" && one.end_us > one.begin_us) {
            DataBucket bucket{one.elements * static_cast<int64_t>(size_of(one.type)), one.begin_us - begin,
                              one.end_us - begin, 0};
            bucket.hidden = overlap(made.work, bucket.begin, bucket.end);
            made.gradients_us += bucket.end - bucket.begin;
            made.hidden_us += bucket.hidden;
            made.buckets.push_back(bucket);
        }
    for (const DataWork& work : made.work)
        if (work.phase == StepPhase::backward) made.waits_from = std::max(made.waits_from, work.end);
    made.waits_to = made.waits_from;
    for (const DataBucket& bucket : made.buckets) made.waits_to = std::max(made.waits_to, bucket.end);
    return made;
}

std::string microseconds(double us) {
    return time_text(us, {.significant = us >= 1000 ? 4 : 3});
}

}  // namespace

DataStep data_step(const scene::ParallelRow& row) {
    DataStep step;
    step.name = row.name;
    std::replace(step.name.begin(), step.name.end(), '_', ' ');
    step.at_once =
        row.split.bucket_bytes > 0 ? "up to " + bytes_si(static_cast<double>(row.split.bucket_bytes)) : "all at the end";
    for (const parallel::RankStep& rank : row.step->ranks) step.ranks.push_back(data_rank(rank, row.step->begin_us));
    for (const DataBucket& bucket : step.ranks.front().buckets) step.gradient_bytes += bucket.bytes;
    for (const parallel::Traffic& sent : row.step->ranks.front().sent)
        if (sent.purpose == "gradients") step.sent_bytes += sent.bytes;
    for (const DataWork& work : step.ranks.front().work)  // on its stream it may wait for messages, too
        if (work.phase != StepPhase::communication) step.computing_us += work.end - work.begin;
    step.end_us = row.step->end_us - row.step->begin_us;
    return step;
}

std::vector<DataStep> data_steps(const scene::ClusterScene& scene) {
    std::vector<DataStep> steps;
    if (!scene.ran) return steps;
    for (const scene::ParallelRow& row : scene.ran->rows)
        if (row.step && row.split.dp == row.split.ranks()) steps.push_back(data_step(row));
    const bool parallel =
        std::any_of(steps.begin(), steps.end(), [](const DataStep& step) { return step.ranks.size() > 1; });
    return parallel ? steps : std::vector<DataStep>();
}

std::string buckets_words(size_t count) {
    return counted(count, "bucket");
}

std::string data_headline(const std::vector<DataStep>& steps, const DataStep& step) {
    const auto fewest = std::min_element(
        steps.begin(), steps.end(), [](const DataStep& a, const DataStep& b) { return a.ranks.size() < b.ranks.size(); });
    if (fewest != steps.end() && fewest->ranks.size() < step.ranks.size() && fewest->end_us > 0)
        return fmt::format("{} ranks take {} for a step, {} take{} {}", step.ranks.size(), microseconds(step.end_us),
                           fewest->ranks.size() == 1 ? std::string("one") : std::to_string(fewest->ranks.size()),
                           fewest->ranks.size() == 1 ? "s" : "", microseconds(fewest->end_us));
    const DataRank& rank = step.ranks.front();
    if (rank.gradients_us <= 0) return "No gradients are exchanged in this step";
    const double share = rank.exposed_us() / rank.gradients_us;
    if (share > 0.995) return "All of the all-reduce waits until backward has ended";
    return fmt::format("{:.0f} % of the all-reduce has nothing to hide behind", 100 * share);
}

std::string data_difference(const DataStep& step, const DataStep& first) {
    if (&step == &first || step.name == first.name)
        return fmt::format("Gradients leave in {}; the step takes {}.",
                           counted(step.ranks.front().buckets.size(), "all-reduce"), microseconds(step.end_us));
    if (step.ranks.size() != first.ranks.size())
        return fmt::format("Computing takes {}, the all-reduce {}, of which {} stick out.", microseconds(step.computing_us),
                           microseconds(step.ranks.front().gradients_us), microseconds(step.ranks.front().exposed_us()));
    return fmt::format("{}: {} in {}; {}: {}.", step.name, microseconds(step.end_us),
                       buckets_words(step.ranks.front().buckets.size()), first.name, microseconds(first.end_us));
}

std::string data_caption(const DataStep& step) {
    const DataRank& rank = step.ranks.front();
    const double ratio =
        step.gradient_bytes > 0 ? static_cast<double>(step.sent_bytes) / static_cast<double>(step.gradient_bytes) : 0;
    return fmt::format(
        "Real gradients, {}: each rank sends {}, {:.3g} times as much, whatever the buckets. {} of {} of all-reduce lie "
        "beside computing.",
        bytes_si(static_cast<double>(step.gradient_bytes)), bytes_si(static_cast<double>(step.sent_bytes)), ratio,
        microseconds(rank.hidden_us), microseconds(rank.gradients_us));
}

std::string bucket_words(const DataStep& step, size_t rank, size_t bucket) {
    const DataRank& of = step.ranks[rank];
    const DataBucket& one = of.buckets[bucket];
    std::string text =
        fmt::format("Rank {}, bucket {} of {}: {}, under way from {} to {}", rank, bucket + 1, of.buckets.size(),
                    bytes_si(static_cast<double>(one.bytes)), microseconds(one.begin), microseconds(one.end));
    const double length = one.end - one.begin;
    if (one.exposed() < 0.005 * length) return text + ", all of it while the rank computes.";
    if (one.hidden < 0.005 * length) return text + ", and the rank waits.";
    return text + fmt::format(", {:.0f} % of it while the rank computes.", 100 * one.hidden / length);
}

}  // namespace lockstep::gui
