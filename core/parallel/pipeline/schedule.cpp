// The list of schedules, with each one's formulas, and what a Schedule is asked for.
#include "core/parallel/pipeline/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/base/nearest.h"
#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {

std::string_view name_of(ActionKind kind) {
    switch (kind) {
        case ActionKind::forward:
            return "F";
        case ActionKind::backward:
            return "B";
        case ActionKind::backward_input:
            return "I";
        case ActionKind::backward_weight:
            return "W";
        case ActionKind::send_activation:
            return "send activation";
        case ActionKind::receive_activation:
            return "receive activation";
        case ActionKind::send_gradient:
            return "send gradient";
        case ActionKind::receive_gradient:
            return "receive gradient";
        case ActionKind::update:
            return "U";
        case ActionKind::recompute:
            return "R";
    }
    return "";
}

bool computes(ActionKind kind) {
    return kind < ActionKind::send_activation || kind > ActionKind::receive_gradient;
}

std::string text_of(const Action& action) {
    if (computes(action.kind)) return fmt::format("{}{}", name_of(action.kind), action.microbatch + 1);
    return fmt::format("{} {} of stage {}", name_of(action.kind), action.microbatch + 1, action.stage);
}

int Schedule::chunk_of(int stage, int microbatch) const {
    const std::vector<int>& held = stages_of[size_t(rank_of(stage, microbatch))];
    return static_cast<int>(std::find(held.begin(), held.end(), stage) - held.begin());
}

namespace {

using Shape = PipelineShape;
using Idle = std::optional<double>;
double whole_backward(const Durations& d) {
    return d.input + d.weight;
}

// Micro-batches that `full` whole ones' memory holds when all but one of them keep `kept` of theirs.
int searched_bound(const Shape& s, int full) {
    const double kept = std::clamp(s.kept, 1e-3, 1.0);
    return static_cast<int>(std::min<double>(s.microbatches, 1 + (full - 1) / kept + 1e-9));
}
Idle no_formula(const Shape&, const Durations&) {
    return std::nullopt;
}

std::vector<ScheduleRow> schedule_rows() {
    const auto flush_idle = [](const Shape& s, const Durations& d) -> Idle {
        return (s.ranks - 1) * (d.forward + whole_backward(d));
    };
    const auto no_idle = [](const Shape&, const Durations&) -> Idle { return 0.0; };
    const auto ahead = [](const Shape& s, int rank) { return std::min(s.microbatches, s.ranks - rank); };
    return {
        {.name = "gpipe",
         .title = "GPipe",
         .summary = "all forwards, then all backwards: simple, and every micro-batch's activations are kept",
         .source = "arXiv 1811.06965",
         .make = make_gpipe,
         .idle_text = "(p-1)(F+B)",
         .idle = flush_idle,
         .activations_text = "m",
         .activations = [](const Shape& s, int) { return s.microbatches; }},
        {.name = "1f1b",
         .title = "1F1B",
         .summary = "one forward, one backward in turn: GPipe's bubble with at most p micro-batches kept",
         .source = "arXiv 2104.04473",
         .make = make_1f1b,
         .idle_text = "(p-1)(F+B)",
         .idle = flush_idle,
         .activations_text = "min(m, p-r)",
         .activations = ahead},
        {.name = "interleaved",
         .title = "interleaved",
         .summary = "1F1B over v pieces of the model a rank: a v-th of the bubble for v times the messages",
         .source = "arXiv 2104.04473",
         .chunks = 0,
         .make = make_interleaved,
         .idle_text = "(p-1)(F+B)/v",
         .idle = [](const Shape& s, const Durations& d) -> Idle {
             return (s.ranks - 1) * (d.forward + whole_backward(d)) / s.chunks;
         },
         .activations_text = "min(v m, 2(p-r-1)+(v-1)p+1) chunks",
         .activations =
             [](const Shape& s, int rank) {
                 return std::min(s.chunks * s.microbatches, 2 * (s.ranks - rank - 1) + (s.chunks - 1) * s.ranks + 1);
             }},
        {.name = "pipedream",
         .title = "PipeDream",
         .summary = "1F1B without a flush: an update a micro-batch, and stashed weights for the backwards under way",
         .source = "arXiv 1806.03377",
         .make = make_pipedream,
         .idle_text = "0 in steady state",
         .idle = no_idle,
         .activations_text = "p-r",
         .activations = [](const Shape& s,
                           int rank) { return std::min(s.microbatches * (s.batches > 0 ? s.batches : 3), s.ranks - rank); },
         .versions = [](const Shape& s,
                        int rank) { return std::min(s.microbatches * (s.batches > 0 ? s.batches : 3), s.ranks - rank); }},
        {.name = "pipedream_2bw",
         .title = "PipeDream-2BW",
         .summary = "PipeDream with an update every m micro-batches: two versions of the weights, one batch stale",
         .source = "arXiv 2006.09503",
         .make = make_pipedream_2bw,
         .idle_text = "0 in steady state",
         .idle = no_idle,
         .activations_text = "p-r",
         .activations = ahead,
         .versions = [](const Shape& s, int) { return s.batches == 1 ? 1 : 2; }},
        {.name = "zb-h1",
         .title = "ZB-H1",
         .summary = "the backward cut in two: W fills what 1F1B leaves idle, at 1F1B's largest memory",
         .source = "arXiv 2401.10241",
         .two_parts = true,
         .make = make_zb_h1,
         .idle_text = "(p-1)(F+I-W)",
         .idle = [](const Shape& s, const Durations& d) -> Idle {
             return d.weight <= d.forward ? Idle((s.ranks - 1) * (d.forward + d.input - d.weight)) : std::nullopt;
         },
         .activations_text = "p",
         .activations = [](const Shape& s, int) { return std::min(s.microbatches, s.ranks); }},
        {.name = "zb-h2",
         .title = "ZB-H2",
         .summary = "twice the warm-up for no bubble: 2p-1 micro-batches kept, ranks end as staggered as they begin",
         .source = "arXiv 2401.10241",
         .two_parts = true,
         .make = make_zb_h2,
         .idle_text = "(p-1)(F+I-2W)",
         .idle = [](const Shape& s, const Durations& d) -> Idle {
             return d.weight <= d.forward && 2 * d.weight <= d.forward + d.input
                        ? Idle((s.ranks - 1) * (d.forward + d.input - 2 * d.weight))
                        : std::nullopt;
         },
         .activations_text = "2p-1",
         .activations = [](const Shape& s, int) { return std::min(s.microbatches, 2 * s.ranks - 1); }},
        {.name = "zb-1p",
         .title = "ZB-1p",
         .summary = "the order of F, I and W searched for their times, at 1F1B's largest memory",
         .source = "arXiv 2401.10241",
         .searched = true,
         .two_parts = true,
         .make = make_zb_1p,
         .idle_text = "searched",
         .idle = no_formula,
         .activations_text = "p, where W keeps as much as I",
         .activations = [](const Shape& s, int) { return searched_bound(s, s.ranks); }},
        {.name = "zb-2p",
         .title = "ZB-2p",
         .summary = "the order of F, I and W searched for their times, at twice 1F1B's memory: next to no bubble",
         .source = "arXiv 2401.10241",
         .searched = true,
         .two_parts = true,
         .make = make_zb_2p,
         .idle_text = "searched",
         .idle = no_formula,
         .activations_text = "2p, where W keeps as much as I",
         .activations = [](const Shape& s, int) { return searched_bound(s, 2 * s.ranks); }},
        {.name = "zb-v",
         .title = "ZB-V",
         .summary = "down all ranks and up again, two pieces a rank: no bubble where F = I = W, at 1F1B's largest memory",
         .source = "arXiv 2401.10241",
         .chunks = 2,
         .two_parts = true,
         .make = make_zb_v,
         .idle_text = "0 when F = I = W",
         .idle = [](const Shape&, const Durations& d) -> Idle {
             return d.forward == d.input && d.input == d.weight ? Idle(0.0) : std::nullopt;
         },
         .activations_text = "2p chunks",
         .activations = [](const Shape& s, int) { return std::min(2 * s.microbatches, 2 * s.ranks); }},
        {.name = "dualpipe",
         .title = "DualPipe",
         .summary = "micro-batches from both ends at once: two copies of the parameters, p+1 micro-batches kept",
         .source = "arXiv 2412.19437",
         .chunks = 2,
         .copies = 2,
         .two_parts = true,
         .make = make_dualpipe,
         .idle_text = "(p/2-1)(F&B+B-3W)",
         .idle = [](const Shape& s, const Durations& d) -> Idle {
             if (d.forward != d.input || d.weight > d.forward) return std::nullopt;  // published for equal ones
             return (s.ranks / 2 - 1) * (d.forward + whole_backward(d) + whole_backward(d) - 3 * d.weight);
         },
         .activations_text = "p+1",
         .activations = [](const Shape& s, int) { return std::min(s.microbatches, s.ranks + 1); }},
    };
}

}  // namespace

std::span<const ScheduleRow> schedules() {
    static const std::vector<ScheduleRow> rows = schedule_rows();
    return rows;
}

const ScheduleRow& schedule_named(const std::string& name) {
    std::vector<std::string> known;
    for (const ScheduleRow& row : schedules()) {
        if (row.name == name) return row;
        known.emplace_back(row.name);
    }
    throw Failure(fmt::format("there is no pipeline schedule '{}'{}", name, did_you_mean(name, known)));
}

Schedule make_schedule(const std::string& kind, const PipelineShape& asked) {
    const ScheduleRow& row = schedule_named(kind);
    PipelineShape shape = asked;
    constexpr int most_ranks = 4096;
    constexpr int64_t most_actions = 4 << 20;
    if (shape.ranks < 1 || shape.ranks > most_ranks)
        throw Failure(fmt::format("a pipeline has 1 to {} stages, not {}", most_ranks, shape.ranks));
    if (shape.microbatches < 1) throw Failure(fmt::format("a batch has 1 micro-batch or more, not {}", shape.microbatches));
    if (shape.chunks < 1) throw Failure(fmt::format("a rank holds 1 chunk or more, not {}", shape.chunks));
    if (row.chunks != 0 && shape.chunks != 1 && shape.chunks != row.chunks)
        throw Failure(fmt::format("{} holds {} of the model a rank, not {} chunks: interleaved takes any number", row.name,
                                  row.chunks == 1 ? "one piece" : fmt::format("{} pieces", row.chunks), shape.chunks));
    if (row.chunks != 0) shape.chunks = row.chunks;
    for (const double time : {shape.forward, shape.input, shape.weight, shape.hop})
        if (!(time >= 0) || !std::isfinite(time))
            throw Failure("the order of a schedule is searched for finite times from 0 on");
    if (!(shape.kept >= 0 && shape.kept <= 1))
        throw Failure(
            fmt::format("between I and W a micro-batch keeps a share of its memory from 0 to 1, not {}", shape.kept));
    const int64_t each = int64_t{shape.ranks} * shape.chunks * std::max(1, shape.batches);
    const int64_t most = row.searched ? most_actions / 8 : most_actions;  // played nine times
    if (each > most || shape.microbatches > most / each)
        throw Failure(fmt::format("{} stages x {} micro-batches are more than the {} that are worth writing down", each,
                                  shape.microbatches, most));
    return row.make(shape);
}

PipelineShape timed_shape(PipelineShape shape, const Durations& durations) {
    shape.forward = durations.forward, shape.input = durations.input, shape.weight = durations.weight;
    shape.hop = durations.hop;
    return shape;
}

std::vector<char> ends_of_runs(const Schedule& schedule, int rank) {
    std::vector<char> ends(size_t(schedule.stages()) * size_t(schedule.microbatches), 0);
    if (schedule.copies > 1) return ends;
    const Action* last = nullptr;
    const auto end_run = [&] { ends[size_t(last->stage) * size_t(schedule.microbatches) + size_t(last->microbatch)] = 1; };
    for (const Action& action : schedule.actions[size_t(rank)]) {
        if (action.kind != ActionKind::backward && action.kind != ActionKind::backward_weight) continue;
        if (last && (schedule.chunks == 1 || action.stage != last->stage)) end_run();
        last = &action;
    }
    if (last) end_run();
    return ends;
}

}  // namespace lockstep::parallel
