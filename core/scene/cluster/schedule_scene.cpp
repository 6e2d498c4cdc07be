// Pipeline schedules in a scene: a row of core/parallel's list, or a schedule of one's own as lists of actions.
//
//   settings: ranks microbatches chunks batches (PipelineShape); forward input weight hop update (Durations, any unit);
//             slow=RANK:FACTOR
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/schedule_waits.h"
#include "core/parallel/pipeline/schedules/schedules.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::scene {
namespace {

using parallel::Action;
using parallel::ActionKind;

struct OwnSchedule {
    parallel::Schedule schedule;
    std::vector<const ParallelList*> lists;    // by rank
    std::vector<std::vector<ListWord>> words;  // by rank: a word an action
    ListFault fault_at(const std::string& text, int rank, size_t place, const std::string& advice = {}) const {
        const ParallelList& list = *lists[size_t(rank)];
        const auto& row = words[size_t(rank)];
        return {.what = {text, list.at(row.empty() ? 0 : row[std::min(place, row.size() - 1)].offset), list.line},
                .advice = advice,
                .ranks = {rank}};
    }
};

// "F1 F2 B1" of a rank that holds one stage.
std::vector<Action> actions_of(const ParallelList& line, const std::vector<ListWord>& words, int microbatches) {
    std::vector<Action> list;
    for (const ListWord& word : words) {
        static constexpr std::pair<char, ActionKind> letters[] = {{'F', ActionKind::forward},
                                                                  {'B', ActionKind::backward},
                                                                  {'I', ActionKind::backward_input},
                                                                  {'W', ActionKind::backward_weight}};
        const auto letter = std::find_if(std::begin(letters), std::end(letters),
                                         [&](const auto& one) { return one.first == word.text.front(); });
        int microbatch = 0;
        const char* const end = word.text.data() + word.text.size();
        const auto [rest, error] = std::from_chars(word.text.data() + 1, end, microbatch);
        if (letter == std::end(letters) || error != std::errc{} || rest != end || microbatch < 1 ||
            microbatch > microbatches)
            line.refuse(fmt::format("rank {}: '{}' is none of F1 to F{}, B, I or W with such a number", line.number,
                                    word.text, microbatches),
                        word.offset);
        parallel::compute(list, letter->second, microbatch - 1, line.number);
    }
    return list;
}

OwnSchedule own_schedule(const ParallelText& row, const parallel::PipelineShape& shape) {
    OwnSchedule own{.schedule = parallel::empty_schedule("own", shape, 1, 1, parallel::one_stage)};
    own.lists.assign(size_t(shape.ranks), nullptr);
    own.words.resize(size_t(shape.ranks));
    for (const ParallelList& list : row.lists) {
        if (list.number < 0 || list.number >= shape.ranks)
            list.refuse(fmt::format("there is no rank {}: they are 0 to {}", list.number, shape.ranks - 1));
        const auto rank = size_t(list.number);
        if (own.lists[rank]) list.refuse(fmt::format("rank {} has two lists", rank));
        own.lists[rank] = &list;
        own.words[rank] = words_of(list);
        own.schedule.actions[rank] = actions_of(list, own.words[rank], shape.microbatches);
    }
    for (int rank = 0; rank < shape.ranks; ++rank)
        if (!own.lists[size_t(rank)]) throw Failure(fmt::format("rank {} has no list: 'rank {}: F1 ...'", rank, rank));
    return own;
}

// "let rank 0 run F2 before B1": a rank's action that another one waits for, and its own forward where that comes later
// too, in front of the one that it stands at; "" where the ranks then still wait for each other in a circle.
std::string change_that_ends(parallel::Schedule schedule, const parallel::ScheduleWait& wait,
                             const parallel::ScheduleWait& other) {
    std::vector<Action>& list = schedule.actions[size_t(wait.rank)];
    const auto stands = list.begin() + static_cast<std::ptrdiff_t>(wait.place);
    std::string moved;
    auto to = stands;
    for (const ActionKind kind : {ActionKind::forward, other.needs.kind}) {
        const auto from = std::find_if(to, list.end(), [&](const Action& action) {
            return action.kind == kind && action.microbatch == other.needs.microbatch;
        });
        if (from == list.end()) continue;
        moved += (moved.empty() ? "" : " and ") + text_of(*from);
        std::rotate(to, from, from + 1);
        ++to;
        if (kind == other.needs.kind) break;
    }
    if (moved.empty() || !parallel::circle_of_waits(schedule).empty()) return "";
    return fmt::format("let rank {} run {} before {}", wait.rank, moved, text_of(wait.stands_at));
}

// The first thing that is wrong with the lists of one rank each: an action twice or missing. Then who waits for whom.
std::optional<ListFault> fault_of_lists(const OwnSchedule& own, int microbatches) {
    using enum ActionKind;
    for (size_t rank = 0; rank < own.words.size(); ++rank) {
        const std::vector<Action>& list = own.schedule.actions[rank];
        const auto place = [&](ActionKind kind, int microbatch, size_t from = 0) {
            for (size_t i = from; i < list.size(); ++i)
                if (list[i].kind == kind && list[i].microbatch == microbatch) return i;
            return list.size();
        };
        for (size_t i = 0; i < list.size(); ++i)
            if (const size_t again = place(list[i].kind, list[i].microbatch, i + 1); again < list.size())
                return own.fault_at(fmt::format("rank {} runs {} twice", rank, text_of(list[i])), static_cast<int>(rank),
                                    again, fmt::format("leave out the second {}", text_of(list[i])));
        for (int i = 0; i < microbatches; ++i) {
            const size_t end = list.size();
            const bool whole = place(backward, i) < end, input = place(backward_input, i) < end,
                       weight = place(backward_weight, i) < end;
            std::string missing;
            if (place(forward, i) == end) missing = fmt::format("F{}", i + 1);
            if (missing.empty() && !whole && !input && !weight) missing = fmt::format("B{}", i + 1);
            if (missing.empty() && !whole && input != weight) missing = fmt::format("{}{}", input ? 'W' : 'I', i + 1);
            if (!missing.empty())
                return own.fault_at(fmt::format("rank {}'s list has no {}", rank, missing), static_cast<int>(rank), end,
                                    fmt::format("every micro-batch goes through every rank once forward and once back: put "
                                                "{} into rank {}'s list",
                                                missing, rank));
        }
    }
    const std::vector<parallel::ScheduleWait> circle = parallel::circle_of_waits(own.schedule);
    if (circle.empty()) return std::nullopt;
    std::string text;
    for (const parallel::ScheduleWait& wait : circle) text += (text.empty() ? "" : "; ") + wait.text();
    const parallel::ScheduleWait &first = circle.front(), &last = circle.back();
    if (circle.size() == 1) {
        const std::string advice = first.from == first.rank
                                       ? fmt::format("put {} before {} in rank {}'s list", text_of(first.needs),
                                                     text_of(first.stands_at), first.rank)
                                       : "";
        return own.fault_at(text, first.rank, first.place, advice);
    }
    ListFault fault = own.fault_at("the ranks wait for each other for ever: " + text, last.rank, last.place);
    fault.ranks.clear();
    for (const parallel::ScheduleWait& wait : circle) fault.ranks.push_back(wait.rank);
    for (size_t i = 0; i < circle.size(); ++i)
        if (const std::string change =
                change_that_ends(own.schedule, circle[i], circle[(i + circle.size() - 1) % circle.size()]);
            !change.empty())
            fault.advice += (fault.advice.empty() ? "" : ", or ") + change;
    return fault;
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
    {"bubble_over_ideal", "", "What it costs beyond the ideal, of the ideal.",
     [](const auto& s) { return s.run.bubble_over_ideal(); }},
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
    {"peak_activations", "micro-batches", "Kept at most, by the rank with most or by one of them; chunks count their share.",
     [](const auto& s) {
         return s.run.schedule.share() * *std::max_element(s.run.peak_activations.begin(), s.run.peak_activations.end());
     },
     "rank"},
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

ParallelRow run_schedule_row(ParallelText& row, const ParallelSceneOptions& options) {
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

    ParallelRow made;
    made.title = own ? "Your schedule" : std::string(kind->title);
    parallel::Schedule schedule = own ? parallel::Schedule{} : parallel::make_schedule(row.head, shape);
    if (own) {
        OwnSchedule mine = own_schedule(row, shape);
        std::optional<ListFault> fault = fault_of_lists(mine, shape.microbatches);
        parallel::repeat_batches(mine.schedule, shape);
        if (!fault) {
            parallel::place_messages(mine.schedule);
            if (const std::vector<std::string> problems = parallel::problems_of(mine.schedule); !problems.empty())
                fault = ListFault{.what = {problems.front(), row.where, row.line}};
        }
        if (fault) {
            fault->what.message = "this schedule cannot run: " + fault->what.message;
            if (!options.keep_wrong) throw Failure(fault->what);
            made.wrong.push_back(*std::move(fault));
            return made;
        }
        schedule = std::move(mine.schedule);
    }
    auto run = std::make_shared<const parallel::ScheduleRun>(parallel::time_schedule(schedule, durations));

    made.schedule = run;
    auto& f = made.figures;
    leave_figures<TimedSchedule>(schedule_rows, {*run, shape, durations, kind}, f);
    for (size_t rank = 0; rank < run->actions.size(); ++rank) {
        const std::string at = fmt::format("@rank:{}", rank);
        f["peak_activations" + at] = schedule.share() * run->peak_activations[rank];
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
