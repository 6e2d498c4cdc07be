// Pipeline schedules in a scene: a row of core/parallel's list, or a schedule of one's own as lists of actions.
//
//   settings: ranks microbatches chunks batches (PipelineShape); forward input weight hop update (Durations, any unit);
//             slow=RANK:FACTOR
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/schedules/schedules.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {
namespace {

using parallel::Action;
using parallel::ActionKind;

// "F1 F2 B1" of a rank that holds one stage.
std::vector<Action> actions_of(const std::string& text, int rank, int microbatches) {
    std::vector<Action> list;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        static constexpr std::pair<char, ActionKind> letters[] = {{'F', ActionKind::forward},
                                                                  {'B', ActionKind::backward},
                                                                  {'I', ActionKind::backward_input},
                                                                  {'W', ActionKind::backward_weight}};
        const auto letter =
            std::find_if(std::begin(letters), std::end(letters), [&](const auto& one) { return one.first == word.front(); });
        int microbatch = 0;
        const auto [rest, error] = std::from_chars(word.data() + 1, word.data() + word.size(), microbatch);
        if (letter == std::end(letters) || error != std::errc{} || rest != word.data() + word.size() || microbatch < 1 ||
            microbatch > microbatches)
            throw Failure(
                fmt::format("rank {}: '{}' is none of F1 to F{}, B, I or W with such a number", rank, word, microbatches));
        parallel::compute(list, letter->second, microbatch - 1, rank);
    }
    return list;
}

parallel::Schedule own_schedule(const ParallelText& row, const parallel::PipelineShape& shape) {
    parallel::Schedule schedule = parallel::empty_schedule("own", shape, 1, 1, parallel::one_stage);
    std::vector<bool> seen(size_t(shape.ranks), false);
    for (const auto& [rank, text] : row.lists) {
        if (rank < 0 || rank >= shape.ranks)
            throw Failure(fmt::format("there is no rank {}: they are 0 to {}", rank, shape.ranks - 1));
        if (seen[size_t(rank)]) throw Failure(fmt::format("rank {} has two lists", rank));
        seen[size_t(rank)] = true;
        schedule.actions[size_t(rank)] = actions_of(text, rank, shape.microbatches);
    }
    for (int rank = 0; rank < shape.ranks; ++rank)
        if (!seen[size_t(rank)]) throw Failure(fmt::format("rank {} has no list: 'rank {}: F1 ...'", rank, rank));
    parallel::repeat_batches(schedule, shape);
    parallel::place_messages(schedule);
    return schedule;
}

struct TimedSchedule {
    const parallel::ScheduleRun& run;
    const parallel::PipelineShape& shape;
    const parallel::Durations& durations;
    const parallel::ScheduleRow* kind;  // null: a schedule of one's own
};

bool sends(const parallel::ActionRun& one) {
    return one.action.kind == ActionKind::send_activation || one.action.kind == ActionKind::send_gradient;
}

constexpr Figure<TimedSchedule> schedule_rows[] = {
    {"total", "units", "From the first begin to the last end.", [](const auto& s) { return s.run.total; }},
    {"ideal", "units", "The busiest rank without a gap.", [](const auto& s) { return s.run.ideal; }},
    {"cost", "units", "What these batches cost when more follow.", [](const auto& s) { return s.run.cost; }},
    {"idle_a_rank", "units", "The cost less a rank's mean busy time.", [](const auto& s) { return s.run.idle_a_rank(); }},
    {"bubble_of_total", "", "Idle time over the cost.", [](const auto& s) { return s.run.bubble_of_total(); }},
    {"bubble_over_ideal", "", "Idle time over busy time.", [](const auto& s) { return s.run.bubble_over_ideal(); }},
    {"formula_idle", "units", "Idle time of a rank by the kind's formula, where it has one.",
     [](const auto& s) { return s.kind && s.kind->idle ? s.kind->idle(s.shape, s.durations) : std::optional<double>(); }},
    {"ranks", "", "Of the pipeline.", [](const auto& s) { return s.shape.ranks; }},
    {"microbatches", "", "Of a batch.", [](const auto& s) { return s.shape.microbatches; }},
    {"batches", "", "That the lists hold.", [](const auto& s) { return s.run.schedule.batches; }},
    {"stages", "", "Of the model.", [](const auto& s) { return s.run.schedule.stages(); }},
    {"forward", "units", "Of a micro-batch through a rank's part.", [](const auto& s) { return s.durations.forward; }},
    {"input", "units", "Of the input gradients.", [](const auto& s) { return s.durations.input; }},
    {"weight", "units", "Of the weight gradients.", [](const auto& s) { return s.durations.weight; }},
    {"hop", "units", "From rank to rank.", [](const auto& s) { return s.durations.hop; }},
    {"slow", "", "The factor of the slowest rank.",
     [](const auto& s) {
         const std::vector<double>& factors = s.durations.of_rank;
         return factors.empty() ? 1 : *std::max_element(factors.begin(), factors.end());
     }},
    {"messages", "", "That are sent.",
     [](const auto& s) {
         int64_t messages = 0;
         for (const auto& actions : s.run.actions) messages += std::count_if(actions.begin(), actions.end(), sends);
         return messages;
     }},
    {"peak_activations", "micro-batches", "Kept at most, by the rank with most or by one of them.",
     [](const auto& s) { return *std::max_element(s.run.peak_activations.begin(), s.run.peak_activations.end()); }, "rank"},
    {"weight_versions", "versions", "Kept at most, by the rank with most or by one of them.",
     [](const auto& s) { return *std::max_element(s.run.weight_versions.begin(), s.run.weight_versions.end()); }, "rank"},
};

constexpr FigureText place_rows[] = {
    {"busy", "units", "In which a rank computes.", "rank"},
    {"begin", "units", "Of an action where a rank holds one stage: begin@action:F3@rank:0.", "action rank"},
    {"end", "units", "Of such an action.", "action rank"},
};

}  // namespace

std::vector<FigureText> schedule_row_figures() {
    std::vector<FigureText> all = texts_of(schedule_rows);
    all.insert(all.end(), std::begin(place_rows), std::end(place_rows));
    return all;
}

ParallelRow run_schedule_row(ParallelText& row, const ParallelSceneOptions&) {
    parallel::PipelineShape shape;
    shape.ranks = static_cast<int>(row.whole("ranks", 4, 1, 64));
    shape.microbatches = static_cast<int>(row.whole("microbatches", 8, 1, 256));
    const bool own = row.head == "own";
    const parallel::ScheduleRow* kind = own ? nullptr : &parallel::schedule_named(row.head);
    const auto chunks = static_cast<int>(row.whole("chunks", kind && kind->chunks == 0 ? 2 : 1, 1, 16));
    shape.chunks = kind && kind->chunks == 0 ? chunks : 1;
    shape.batches = static_cast<int>(row.whole("batches", 0, 0, 8));
    parallel::Durations durations;
    durations.forward = row.real("forward", 1, 0.001, 1e6);
    durations.input = row.real("input", 1, 0, 1e6);
    durations.weight = row.real("weight", 1, 0, 1e6);
    durations.hop = row.real("hop", 0, 0, 1e6);
    durations.update = row.real("update", 0, 0, 1e6);
    if (const std::string slow = row.word("slow", ""); !slow.empty()) {
        int rank = -1;
        double factor = 0;
        char colon = 0;
        std::istringstream words(slow);
        if (!(words >> rank >> colon >> factor) || colon != ':' || rank < 0 || rank >= shape.ranks || !(factor > 0) ||
            !(factor <= 100))
            throw Failure(fmt::format("slow= is RANK:FACTOR, as in slow=1:1.5, not '{}'", slow));
        durations.of_rank.assign(size_t(shape.ranks), 1.0);
        durations.of_rank[size_t(rank)] = factor;
    }
    row.done();
    if (!own && !row.lists.empty()) throw Failure("'rank' lines go with 'own', not with a schedule of the list");

    parallel::Schedule schedule = own ? own_schedule(row, shape) : parallel::make_schedule(row.head, shape);
    if (own)
        if (const std::vector<std::string> problems = parallel::problems_of(schedule); !problems.empty())
            throw Failure("this schedule cannot run: " + problems.front());
    auto run = std::make_shared<const parallel::ScheduleRun>(parallel::time_schedule(schedule, durations));

    ParallelRow made;
    made.title = own ? "Your schedule" : std::string(kind->title);
    made.schedule = run;
    auto& f = made.figures;
    leave_figures<TimedSchedule>(schedule_rows, {*run, shape, durations, kind}, f);
    for (size_t rank = 0; rank < run->actions.size(); ++rank) {
        const std::string at = fmt::format("@rank:{}", rank);
        f["peak_activations" + at] = run->peak_activations[rank];
        f["weight_versions" + at] = run->weight_versions[rank];
        f["busy" + at] = run->busy[rank];
        for (const parallel::ActionRun& ran : run->actions[rank]) {
            if (!parallel::computes(ran.action.kind) || ran.action.kind == ActionKind::update || schedule.chunks > 1)
                continue;
            const std::string action = parallel::text_of(ran.action);
            f[fmt::format("begin@action:{}{}", action, at)] = ran.begin;
            f[fmt::format("end@action:{}{}", action, at)] = ran.end;
        }
    }
    return made;
}

}  // namespace lockstep::scene
