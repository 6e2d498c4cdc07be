#include "app/gui/views/cluster/workers_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.h"

namespace lockstep::gui {

ShownLanes shown_lanes(const scene::ClusterScene& scene) {
    ShownLanes shown;
    if (!scene.workers.empty()) shown.push_back(scene.workers.front().get());
    if (scene.workers.size() > 1) shown.push_back(scene.workers.back().get());
    return shown;
}

const WorkerBatch* stuck_batch(const WorkerLanes& lanes) {
    for (const WorkerBatch& batch : lanes.batches)
        if (batch.stuck) return &batch;
    return nullptr;
}

std::string updates_words(const WorkerLanes& lanes) {
    return fmt::format("{} of {}", lanes.stale_updates(), lanes.updates());
}

std::string share_words(double share) {
    return share > 0 && share < 0.1 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

static int64_t most_stale(const WorkerLanes& lanes) {
    return std::max<int64_t>(0, static_cast<int64_t>(lanes.by_staleness().size()) - 1);
}

std::string name_among(const WorkerLanes& lanes, const ShownLanes& shown) {
    if (shown.size() > 1 && shown.front()->asynchronous == shown.back()->asynchronous) return lanes.name;
    return lanes.asynchronous ? "Asynchronous" : "Synchronous";
}

std::string workers_headline(const ShownLanes& shown) {
    const WorkerLanes &first = *shown.front(), &last = *shown.back();
    if (last.asynchronous && last.bound >= 0)
        return fmt::format("{} ahead at most: {} waiting, {} updates stale", last.bound, share_words(last.waiting_share()),
                           updates_words(last));
    if (last.asynchronous) return fmt::format("Nobody waits, and {} updates are stale", updates_words(last));
    if (const WorkerBatch* stuck = stuck_batch(first))
        return fmt::format("Step {}: worker {} waits for ever", stuck->batch + 1, stuck->worker);
    const auto had = [](const WorkerLanes& lanes) {  // by worker 0
        int64_t count = 0;
        for (const WorkerBatch& batch : lanes.batches)
            if (batch.worker == 0) count += std::count(batch.had.begin(), batch.had.end(), 1);
        return count;
    };
    if (had(first) > 0 || had(last) > 0) {
        std::string text = fmt::format("In epoch 2 worker 0 has {} of its records again", had(first));
        return shown.size() > 1 ? text + fmt::format(", {} in {}", had(last), last.name) : text;
    }
    for (const WorkerLanes* lanes : shown)
        if (const int64_t again = lanes->read_again(); again > 0)
            return fmt::format("{}: {} of {} draws are records read before", lanes->name, again,
                               lanes->share * static_cast<int64_t>(lanes->batches.size()));
    return fmt::format("{} of the workers' time waits for the slowest", share_words(first.waiting_share()));
}

std::string workers_difference(const ShownLanes& shown) {
    const WorkerLanes &first = *shown.front(), &last = *shown.back();
    if (shown.size() > 1 && last.asynchronous && !first.asynchronous && first.updates() > 0 && !stuck_batch(first))
        return fmt::format("The same batches take {} with a server, {} in steps: {:.2f} times as long.",
                           time_text(last.end_us), time_text(first.end_us), last.end_us / first.end_us);
    if (stuck_batch(first) && last.asynchronous)
        return fmt::format("In steps {} batches, then a dead-lock. With a server all {} in {}.",
                           first.updates() * first.workers, last.updates(), time_text(last.end_us));
    if (stuck_batch(first)) return "Who has read all of its records has left, and sends no gradients any more.";
    if (shown.size() > 1 && last.asynchronous)
        return fmt::format("The largest staleness is {} in {} and {} in {}, which take {} and {}.", most_stale(first),
                           first.name, most_stale(last), last.name, time_text(first.end_us), time_text(last.end_us));
    return fmt::format("{} steps in {}.", first.updates(), time_text(first.end_us));
}

std::string workers_caption(const ShownLanes& shown) {
    std::string text;
    for (const WorkerLanes* lanes : shown) {
        text += text.empty() ? "" : " ";
        const std::string name = name_among(*lanes, shown);
        if (lanes->asynchronous)
            text += fmt::format("{}: {} updates in {}, on weights {:.1f} updates old on average.", name, lanes->updates(),
                                time_text(lanes->end_us), lanes->mean_staleness());
        else
            text += fmt::format("{}: {} steps in {}{}.", name, lanes->updates(), time_text(lanes->end_us),
                                stuck_batch(*lanes) ? ", then a dead-lock" : "");
    }
    const WorkerLanes& one = *shown.front();
    return text + fmt::format(" Equal: model, batches of {}, rate {:g}, first weights.", one.share, one.learning_rate);
}

std::vector<LossPoint> loss_curve(const WorkerLanes& lanes) {
    std::vector<LossPoint> curve;
    std::vector<double> last;  // losses of the last pushes
    for (const WorkerBatch& batch : lanes.batches) {
        if (batch.stuck) continue;
        if (!lanes.asynchronous) {
            if (batch.worker == 0) curve.push_back({batch.end_us, batch.loss});
            continue;
        }
        last.push_back(batch.loss);
        if (static_cast<int>(last.size()) > lanes.workers) last.erase(last.begin());
        if (static_cast<int>(last.size()) < lanes.workers) continue;
        double sum = 0;
        for (const double loss : last) sum += loss;
        curve.push_back({batch.end_us, sum / static_cast<double>(last.size())});
    }
    return curve;
}

std::string batch_words(const WorkerLanes& lanes, const WorkerBatch& batch) {
    std::string text = fmt::format("Worker {}, batch {}: weights at {}, gradient at {}", batch.worker, batch.batch + 1,
                                   time_text(batch.begin_us), time_text(batch.computed_us));
    if (batch.stuck) return text + ", then it waits for ever.";
    if (lanes.asynchronous)
        text += fmt::format(", update at {}; staleness {}", time_text(batch.end_us), batch.staleness);
    else
        text +=
            fmt::format(", the slowest one's at {}, step ends at {}", time_text(batch.ready_us), time_text(batch.end_us));
    return text + fmt::format("; loss {:.3f}.", batch.loss);
}

Color staleness_color(int64_t staleness, int64_t most) {
    if (staleness <= 0) return data::green;
    return mix(data::yellow, data::vermillion, most <= 1 ? 0.5f : static_cast<float>(staleness - 1) / float(most - 1));
}

}  // namespace lockstep::gui
