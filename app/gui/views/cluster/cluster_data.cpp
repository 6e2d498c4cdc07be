// The Cluster workspace's setup, picks and clock.
#include "app/gui/views/cluster/cluster_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/collective/collective_data.h"
#include "core/scene/cluster/cluster_plan.h"
#include "core/scene/cluster/cluster_training.h"

namespace lockstep::gui {

namespace {

constexpr double cluster_seconds = 14;  // that a whole schedule plays

// All times at which a rank begins to work, of both schedules, sorted, and the end.
std::vector<double> beginnings(const scene::ClusterScene& scene) {
    std::vector<double> times = {0};
    for (const scene::ScheduleShown& shown : scene.schedules)
        for (const auto& rank : shown.run.actions)
            for (const parallel::ActionRun& run : rank)
                if (parallel::computes(run.action.kind)) times.push_back(run.begin);
    times.push_back(schedule_end(scene));
    if (trained(scene))
        for (const scene::RunCollective& collective : scene.training->collectives)
            times.insert(times.end(), collective.begin_us.begin(), collective.begin_us.end());
    std::sort(times.begin(), times.end());
    const auto same = [](double a, double b) { return std::abs(a - b) < 1e-9; };
    times.erase(std::unique(times.begin(), times.end(), same), times.end());
    return times;
}

// Where batches end, for schedules that hold several.
std::vector<double> step_ends(const scene::ClusterScene& scene) {
    std::vector<double> times = {0, schedule_end(scene)};
    for (const scene::ScheduleShown& shown : scene.schedules) {
        if (shown.run.schedule.batches < 2) continue;
        for (const auto& rank : shown.run.actions)
            for (const parallel::ActionRun& run : rank)
                if (run.action.kind == parallel::ActionKind::update) times.push_back(run.end);
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

double next_of(const std::vector<double>& times, double now, int way) {
    if (way > 0) {
        for (const double time : times)
            if (time > now + 1e-9) return time;
        return times.back();
    }
    for (auto time = times.rbegin(); time != times.rend(); ++time)
        if (*time < now - 1e-9) return *time;
    return times.front();
}

const scene::ClusterScene* scene_of(const Snapshot& snapshot) {
    return snapshot.cluster.get();
}

}  // namespace

bool shows_cluster(const Session& session) {
    return scene_on_show(session).grain == Grain::action;
}

scene::ClusterSetup cluster_setup(const Session& session) {
    if (session.cluster.asked) return *session.cluster.asked;
    const auto snapshot = session.snapshot();
    return snapshot->cluster ? snapshot->cluster->setup : scene::ClusterSetup();
}

void ask_cluster(Session& session, const scene::ClusterSetup& setup) {
    session.cluster.asked = std::make_shared<const scene::ClusterSetup>(scene::within_limits(setup));
    session.post(ask::RunCluster{session.cluster.asked});
}

void adopt_cluster(Session& session, const Snapshot& snapshot) {
    if (!snapshot.cluster || !session.cluster.asked) return;
    if (snapshot.cluster->setup == *session.cluster.asked || !snapshot.cluster->source.empty())
        session.cluster.asked.reset();
}

std::string cluster_title(const Session& session, const Snapshot& snapshot) {
    if (snapshot.cluster && snapshot.cluster->training) return snapshot.cluster->training->title;
    if (snapshot.cluster && snapshot.cluster->planned && snapshot.cluster->planned->refusal.empty())
        return snapshot.cluster->planned->title;
    const scene::PipelineSetup setup = cluster_setup(session).pipeline;
    return fmt::format("{} pipeline ranks × {} micro-batches", setup.ranks, setup.microbatches);
}

bool trained(const scene::ClusterScene& scene) {
    return scene.training && scene.training->refusal.empty() && !scene.training->loss.empty();
}

int picked_rank(const Focus& focus, int ranks) {
    return focus.rank >= 0 && focus.rank < ranks ? focus.rank : std::min(2, ranks - 1);
}

int picked_rank(const Focus& focus, const scene::ClusterScene& scene, int rows) {
    if (trained(scene)) {
        const parallel::Mesh& mesh = scene.training->mesh;
        return focus.rank >= 0 && focus.rank < mesh.ranks() ? mesh.coordinate(focus.rank, "pp") : 0;
    }
    return picked_rank(focus, rows);
}

int rank_of_row(const scene::ClusterScene& scene, int row) {
    if (!trained(scene)) return row;
    const std::vector<int> column = scene.training->mesh.group(0, "pp");
    return row >= 0 && row < static_cast<int>(column.size()) ? column[static_cast<size_t>(row)] : 0;
}

int activation_limit(const scene::ClusterScene& scene) {
    if (!scene.training) return scene.setup.pipeline.activation_limit();
    const parallel::ParallelPlan& plan = scene.setup.training.plan;
    const parallel::ScheduleRow& row = parallel::schedule_named(plan.schedule);
    const parallel::PipelineShape shape = {.ranks = plan.pp, .microbatches = plan.microbatches, .chunks = plan.chunks};
    int stages = 1;
    for (int rank = 0; rank < plan.pp; ++rank) stages = std::max(stages, row.activations(shape, rank));
    const double share = scene.schedules.empty() ? 1 : scene.schedules.front().run.schedule.share();
    return static_cast<int>(std::ceil(stages * share - 1e-9));
}

std::string training_words(const scene::TrainingShown& shown) {
    if (shown.loss.empty()) return {};
    const double off = std::abs(shown.difference());
    return fmt::format("step {}: loss {:.5f}, {}", shown.loss.size(), shown.loss.back(),
                       off == 0 ? std::string("the serial run's to the last bit")
                                : fmt::format("{:.1e} from the serial run's {:.5f}", off, shown.alone.back()));
}

std::string sent_words(const scene::TrainingShown& shown) {
    std::string words;
    for (const parallel::Traffic& row : shown.sent)
        if (row.bytes >= 1000)
            words += fmt::format("{}{} {} {}", words.empty() ? "" : ", ", row.axis, row.purpose,
                                 bytes_si(static_cast<double>(row.bytes)));
    return words.empty() ? "less than 1 kB" : words;
}

int picked_microbatch(const Session& session, const scene::ClusterScene& scene) {
    int microbatches = scene.training ? 1 : scene.setup.pipeline.microbatches;
    const int middle = scene.training ? scene.setup.training.plan.microbatches / 2 : microbatches / 2;
    for (const scene::ScheduleShown& shown : scene.schedules)
        microbatches = std::max(microbatches, shown.run.schedule.microbatches);
    const int picked = session.cluster.microbatch;
    return picked >= 0 && picked < microbatches ? picked : std::min(middle, microbatches - 1);
}

double schedule_end(const scene::ClusterScene& scene) {
    double end = 0;
    for (const scene::ScheduleShown& shown : scene.schedules) end = std::max(end, shown.run.total);
    if (scene.planned) end = std::max(end, scene.planned->end);
    return trained(scene) ? std::max(end, scene.training->end_us) : end;
}

double schedule_time(const Session& session, const Focus& focus, const scene::ClusterScene& scene) {
    const double end = schedule_end(scene);
    if (session.cluster.time >= 0) return std::min(session.cluster.time, end);
    if (trained(scene) && !scene.training->flushes) return scene.training->end_us;  // where the step's update is made
    if (scene.schedules.empty() || scene.schedules.front().run.actions.empty()) return trained(scene) ? end / 2 : 0;
    const parallel::ScheduleRun& run = scene.schedules.front().run;
    const int rank = trained(scene) ? 0 : picked_rank(focus, scene, static_cast<int>(run.actions.size()));
    const int microbatch = picked_microbatch(session, scene);
    for (const parallel::ActionRun& ran : run.actions[static_cast<size_t>(rank)])
        if (ran.action.kind == parallel::ActionKind::forward && ran.action.microbatch == microbatch) return ran.begin;
    return end / 2;
}

std::string amount(double value) {
    if (std::abs(value - std::round(value)) < 5e-4 && std::abs(value) < 1e9)
        return with_commas(static_cast<int64_t>(std::llround(value)));
    std::string text = std::abs(value) < 10 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

// The transport moves the collective: it was touched last, or it alone is on show.
bool moves_collective(const Session& session, const scene::ClusterScene& scene) {
    if (!scene.collective.of_run.empty()) return false;  // it lies on the step's clock
    std::string_view on_show = scene_on_show(session).presented;
    if (const scene::Scene* above = shows_sketch(session) ? picture_above(session.lesson) : nullptr)
        on_show = scene_named(Workspace::learn, above->view).presented;  // the picture, not the sketch below it
    const bool wished = session.workspace == Workspace::learn ? view_named(on_show)->collective : session.cluster.collective;
    return wished && !scene.collective.messages.empty();
}

namespace {

std::vector<double> message_times(const scene::CollectiveShown& shown) {
    std::vector<double> times = {0, shown.run.total_us};
    for (const comm::Transfer& message : shown.messages) times.push_back(message.begin_us);
    std::sort(times.begin(), times.end());
    const auto same = [](double a, double b) { return std::abs(a - b) < 1e-6; };
    times.erase(std::unique(times.begin(), times.end(), same), times.end());
    return times;
}

// By one of the times, or to the first or last of them.
double moved(const std::vector<double>& times, double now, int way, bool far) {
    if (far) return way < 0 ? times.front() : times.back();
    return way == 0 ? now : next_of(times, now, way);
}

}  // namespace

void move_cluster(Session& session, Focus& focus, const Snapshot& snapshot, Grain grain, int way, bool far) {
    const scene::ClusterScene* scene = scene_of(snapshot);
    if (scene == nullptr || session.learn.reveal_steps >= 0) return;
    if (moves_collective(session, *scene)) {
        const std::vector<double> times = grain == Grain::training_step
                                              ? std::vector<double>{0, scene->collective.run.total_us}
                                              : message_times(scene->collective);
        session.cluster.collective_time = moved(times, collective_time(session, *scene), way, far);
        return;
    }
    if (grain == Grain::training_step && scene->training) {  // trains one step more, or shows one before
        scene::ClusterSetup wanted = cluster_setup(session);
        if (far && way > 0) return;
        wanted.training.steps = far ? 1 : wanted.training.steps + way;
        if (way != 0) ask_cluster(session, wanted);
        if (way != 0 && !scene->training->flushes) session.cluster.time = -1;  // to the update that is shown
        return;
    }
    const std::vector<double> times = grain == Grain::training_step ? step_ends(*scene) : beginnings(*scene);
    const double now = schedule_time(session, focus, *scene);
    session.cluster.time = moved(times, now, way, far);
}

namespace {

Position position_in_collective(const Session& session, const scene::ClusterScene& scene) {
    Position at;
    const scene::CollectiveShown& shown = scene.collective;
    const double now = collective_time(session, scene);
    at.share = shown.run.total_us > 0 ? now / shown.run.total_us : 0;
    at.last = now >= shown.run.total_us - 1e-9;
    int round = 0;
    for (const comm::Transfer& message : shown.messages)
        if (message.begin_us <= now + 1e-9) round = std::max(round, message.round + 1);
    at.title = at.last ? collective_title(shown) + " is done"
                       : fmt::format("{}: step {} of {}", collective_title(shown), round, shown.rounds());
    at.text = fmt::format("time {} of {}", time_text(now), time_text(shown.run.total_us));
    return at;
}

Position position_in_training(const Snapshot& snapshot, const scene::ClusterScene& scene) {
    Position at;
    const scene::TrainingShown& shown = *scene.training;
    at.title = shown.loss.empty() ? "no step has been trained"
                                  : fmt::format("{} {}", shown.flushes ? "training step" : "update", shown.loss.size());
    at.text = shown.loss.empty() ? snapshot.busy : fmt::format("loss {:.4f}", shown.loss.back());
    at.share =
        static_cast<double>(shown.loss.size()) / static_cast<double>(std::max<int64_t>(20, scene.setup.training.steps));
    return at;
}

struct Beginning {
    std::string text;
    int count = 0;  // of what begins at the same time
};

// What begins now: on the picked rank rather than elsewhere, in the first schedule rather than in the second.
Beginning action_that_begins(const Focus& focus, const scene::ClusterScene& scene, double now) {
    Beginning found;
    bool mine_found = false;
    for (const scene::ScheduleShown& shown : scene.schedules) {
        const auto& actions = shown.run.actions;
        const int picked = picked_rank(focus, scene, static_cast<int>(actions.size()));
        for (size_t rank = 0; rank < actions.size(); ++rank)
            for (const parallel::ActionRun& run : actions[rank]) {
                if (!parallel::computes(run.action.kind) || std::abs(run.begin - now) > 1e-9) continue;
                const bool mine = static_cast<int>(rank) == picked;
                if (++found.count > 1 && (mine_found || !mine)) continue;
                mine_found = mine;
                found.text = fmt::format("{} starts on {} {}", parallel::text_of(run.action),
                                         shown.run.schedule.chunks > 1 ? "rank" : "stage", rank);
            }
    }
    return found;
}

Beginning collective_that_begins(const scene::ClusterScene& scene, double now) {
    for (const scene::RunCollective& collective : scene.training->collectives)
        for (size_t member = 0; member < collective.ranks.size(); ++member) {
            if (std::abs(collective.begin_us[member] - now) > 1e-9) continue;
            std::string operation = collective.operation;
            std::replace(operation.begin(), operation.end(), '_', '-');
            return {fmt::format("{} of {} begins on rank {}", operation, collective.purpose, collective.ranks[member]), 1};
        }
    return {};
}

}  // namespace

Position position_in_cluster(const Session& session, const Focus& focus, const Snapshot& snapshot) {
    Position at;
    const scene::ClusterScene* scene = scene_of(snapshot);
    if (scene == nullptr) {
        at.title = "nothing has run yet";
        at.text = snapshot.busy;
        return at;
    }
    if (session.learn.reveal_steps >= 0) {
        at.title = "hidden";
        at.text = "until you lock an answer";
        return at;
    }
    if (moves_collective(session, *scene)) return position_in_collective(session, *scene);
    if (session.grain == Grain::training_step && scene->training) return position_in_training(snapshot, *scene);
    const double end = schedule_end(*scene), now = schedule_time(session, focus, *scene);
    at.share = end > 0 ? now / end : 0;
    at.last = now >= end - 1e-9;
    std::string unit = trained(*scene) ? "µs" : "units";
    for (const scene::ScheduleShown& shown : scene->schedules)
        if (!shown.run.shown_unit().empty()) unit = shown.run.shown_unit();
    at.text = fmt::format("time {} of {} {}", amount(now), amount(end), unit);
    Beginning begins = action_that_begins(focus, *scene, now);
    if (begins.count == 0 && trained(*scene)) begins = collective_that_begins(*scene, now);
    if (at.last)
        at.title = "the end of the step";
    else if (begins.count == 0)
        at.title = "between two actions";
    else
        at.title = begins.text + (begins.count > 1 ? fmt::format(", {} more", begins.count - 1) : "");
    return at;
}

void scrub_cluster(Session& session, const Snapshot& snapshot, double share) {
    if (snapshot.cluster == nullptr || session.learn.reveal_steps >= 0) return;
    if (moves_collective(session, *snapshot.cluster)) {
        session.cluster.collective_time = snapshot.cluster->collective.run.total_us * std::clamp(share, 0.0, 1.0);
        return;
    }
    if (session.grain == Grain::training_step && snapshot.cluster->training) return;
    session.cluster.time = schedule_end(*snapshot.cluster) * std::clamp(share, 0.0, 1.0);
}

bool play_cluster(Session& session, const Focus& focus, const Snapshot& snapshot, double seconds) {
    if (snapshot.cluster == nullptr || session.learn.reveal_steps >= 0) return false;
    if (moves_collective(session, *snapshot.cluster)) {
        const double end = snapshot.cluster->collective.run.total_us;
        const double at = collective_time(session, *snapshot.cluster) + seconds * end / cluster_seconds;
        session.cluster.collective_time = std::min(at, end);
        return at < end;
    }
    if (session.grain == Grain::training_step && snapshot.cluster->training) {  // one step after the other
        if (session.cluster.asked) return true;
        scene::ClusterSetup wanted = cluster_setup(session);
        if (++wanted.training.steps > scene::most_cluster_steps || !trained(*snapshot.cluster)) return false;
        ask_cluster(session, wanted);
        return true;
    }
    const double end = schedule_end(*snapshot.cluster);
    const double speed = session.grain == Grain::training_step ? 3 : 1;
    const double now = schedule_time(session, focus, *snapshot.cluster) + speed * seconds * end / cluster_seconds;
    session.cluster.time = std::min(now, end);
    return now < end;
}

}  // namespace lockstep::gui
