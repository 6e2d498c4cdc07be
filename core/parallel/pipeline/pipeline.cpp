// The executor: one rank's list, action by action. What arrived and what is to leave lies in maps by stage and micro-batch;
// a stage that hands over to another of the same rank (the turn of a V) goes through the same map without a message.
#include "core/parallel/pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/diagnostic.h"
#include "core/parallel/blocks/comm_ops.h"
#include "core/parallel/pipeline/pipeline_stage.h"

namespace lockstep::parallel {
namespace {

using tensor::Purpose;
using tensor::Tensor;

struct HandOver {  // an activation or a gradient between two stages
    Tensor tensor;
    double at_us = 0;  // when it is there
    int from = -1;     // the rank that sent it; -1: this one
};

// What one stage's backwards make of a parameter, of the micro-batches of one copy. A tied weight has two of them.
struct ParameterSum {
    int stage = 0, copy = 0;
    int next = 0;                   // the micro-batch that is added next
    std::map<int, Tensor> waiting;  // later ones
};

class WeightsOfVersion;

struct PipelineRunner {
    const PipelineJob& job;
    const Schedule& schedule;
    const std::vector<Action>& list;
    PipelineResult& result;
    std::unique_ptr<comm::Communicator> line;  // the pipeline's group on its own stream
    int rank = 0;                              // in the pipeline
    bool counts_only = false;                  // meta: nothing has a value

    std::map<std::pair<int, int>, HandOver> activations, gradients;  // by the stage that takes them and micro-batch
    std::map<std::pair<int, int>, HandOver> leaving_activations, leaving_gradients;  // by the stage that made them
    std::map<std::pair<int, int>, StagePass> alive;
    std::vector<std::unique_ptr<tensor::Tape>> spare;
    tensor::Tape sums_tape;  // only launches
    std::map<int, MicroBatch> batches;
    std::vector<int> last_of_batch;                  // by micro-batch: the place of its last action in the list
    std::vector<int> last_of_version;                // by version
    std::vector<std::vector<ParameterSum>> sums;     // by parameter
    std::vector<std::vector<int>> uses;              // by parameter: this rank's stages that do, in order
    std::vector<char> run_ends;                      // ends_of_runs()
    std::map<int, std::vector<Tensor>> old_weights;  // by version: values of model.list, while a later action takes them
    int newest = 0;
    double idle_from = 0;
    bool began = false;
    Action waited = {};
    int last_batch = 0;

    PipelineRunner(const PipelineJob& j, PipelineResult& r)
        : job(j),
          schedule(j.schedule),
          list(j.schedule.actions[size_t(j.rank.pp ? j.rank.pp->rank() : 0)]),
          result(r),
          rank(j.rank.pp ? j.rank.pp->rank() : 0),
          counts_only(j.rank.device.name() == "meta"),
          sums_tape(j.rank.heap) {
        if (job.rank.pp) line = job.rank.pp->on(pipeline_stream);
        const size_t parameters = job.model.list.parameters().size();
        sums.resize(parameters);
        uses.resize(parameters);
        result.gradients.resize(parameters);
        result.losses.assign(size_t(schedule.microbatches), std::numeric_limits<double>::quiet_NaN());
        last_of_batch.assign(size_t(schedule.microbatches), -1);
        for (size_t i = 0; i < list.size(); ++i) {
            if (list[i].kind == ActionKind::update) continue;
            last_of_batch[size_t(list[i].microbatch)] = static_cast<int>(i);
            if (!computes(list[i].kind)) continue;
            if (size_t(list[i].version) >= last_of_version.size()) last_of_version.resize(size_t(list[i].version) + 1, -1);
            last_of_version[size_t(list[i].version)] = static_cast<int>(i);
        }
        if (job.by_runs) run_ends = ends_of_runs(schedule, rank);
        result.row.begin = job.rank.world.time_us();
    }

    double now() const { return job.rank.world.time_us() - result.row.begin; }
    const MicroBatch& batch_of(int microbatch) {
        const auto found = batches.find(microbatch);
        return found != batches.end() ? found->second : batches.emplace(microbatch, job.batch(microbatch)).first->second;
    }
    bool is_last(int stage) const { return stage + 1 == schedule.stages(); }
    tensor::TensorType output_of(int stage, int microbatch) {
        return job.model.blocks[size_t(job.stages[size_t(stage)].last - 1)].output(batch_of(microbatch));
    }

    void run();
    void receive(const Action& action);
    void send(const Action& action);
    HandOver take(const Action& action, bool gradient);
    void work(const Action& action);
    void forward(const Action& action, const HandOver& given);
    void backward(const Action& action, const HandOver& given);
    Tensor seed_of(const Action& action, const StagePass& pass, const HandOver& given);
    void note_uses(const StagePass& pass);
    void add_gradient(int stage, int microbatch, size_t parameter, Tensor gradient);
    void add_to_sum(size_t parameter, Tensor gradient);
    void update(const Action& action, int place);
    void exchange_copies();
    void note_alive(double time);
    std::unique_ptr<tensor::Tape> fresh_tape() {
        if (spare.empty()) return std::make_unique<tensor::Tape>(job.rank.heap);
        auto tape = std::move(spare.back());
        spare.pop_back();
        return tape;
    }
};

// While it lives, the model's parameters are those of a version.
class WeightsOfVersion {
  public:
    WeightsOfVersion(PipelineRunner& runner, int version) : runner_(runner), version_(version) { exchange(); }
    ~WeightsOfVersion() { exchange(); }
    WeightsOfVersion(const WeightsOfVersion&) = delete;
    WeightsOfVersion& operator=(const WeightsOfVersion&) = delete;

  private:
    void exchange() {
        if (version_ == runner_.newest) return;
        std::vector<Tensor>& values = runner_.old_weights.at(version_);
        size_t i = 0;
        for (nn::Parameter& parameter : runner_.job.model.list.parameters()) std::swap(parameter.value, values[i++]);
    }
    PipelineRunner& runner_;
    int version_;
};

void PipelineRunner::receive(const Action& action) {
    const bool gradient = action.kind == ActionKind::receive_gradient;
    const tensor::TensorType type = output_of(gradient ? action.stage : action.stage - 1, action.microbatch);
    HandOver& there = (gradient ? gradients : activations)[{action.stage, action.microbatch}];
    there.tensor = tensor::make_tensor(job.rank.heap, type.shape, {"stage input", gradient ? "gradient" : ""},
                                       gradient ? Purpose::gradient : Purpose::activation, type.dtype);
    there.from = action.peer;
    parallel::receive(*line, job.rank.device, action.peer, there.tensor, "pipeline");
    there.at_us = line->time_us();
    const double at = there.at_us - result.row.begin;
    result.row.actions.push_back({action, at, at});
}

void PipelineRunner::send(const Action& action) {
    auto& leaving = action.kind == ActionKind::send_gradient ? leaving_gradients : leaving_activations;
    const auto found = leaving.find({action.stage, action.microbatch});
    if (found == leaving.end()) throw Failure(fmt::format("rank {} is to {} before it is made", rank, text_of(action)));
    line->wait_until(found->second.at_us);
    parallel::send(*line, job.rank.device, action.peer, found->second.tensor, "pipeline");
    const double at = found->second.at_us - result.row.begin;
    result.row.actions.push_back({action, at, at});
    leaving.erase(found);
}

// What this action needs from another stage: from a message, or from this rank's own other stage.
HandOver PipelineRunner::take(const Action& action, bool gradient) {
    auto& arrived = gradient ? gradients : activations;
    const auto found = arrived.find({action.stage, action.microbatch});
    if (found != arrived.end()) {
        HandOver given = std::move(found->second);
        arrived.erase(found);
        return given;
    }
    auto& own = gradient ? leaving_gradients : leaving_activations;
    const auto made = own.find({gradient ? action.stage + 1 : action.stage - 1, action.microbatch});
    if (made == own.end())
        throw Failure(fmt::format("{} of stage {} has nothing to work on", text_of(action), action.stage));
    HandOver given = std::move(made->second);
    own.erase(made);
    given.from = -1;
    return given;
}

void PipelineRunner::note_alive(double time) {
    const auto tapes = static_cast<int>(alive.size());  // or inputs that are kept for one
    PipelineRow& row = result.row;
    const int64_t bytes = counts_only ? 0 : job.rank.heap.live_by_purpose()[size_t(Purpose::activation)];
    row.activations.push_back({time, tapes, bytes});
    row.peak_activations = std::max(row.peak_activations, tapes);
    row.peak_activation_bytes = std::max(row.peak_activation_bytes, bytes);
}

void PipelineRunner::work(const Action& action) {
    HandOver given;
    const bool goes_back = action.kind == ActionKind::backward || action.kind == ActionKind::backward_input;
    if (action.kind == ActionKind::forward && action.stage > 0) given = take(action, false);
    if (goes_back && !is_last(action.stage)) given = take(action, true);
    const double ready = given.at_us - result.row.begin;
    job.rank.world.wait_until(given.at_us);
    const double begin = now();
    PipelineRow& row = result.row;
    const int batch = action.microbatch / schedule.per_update;
    if (begin > idle_from && ready >= begin) {
        const bool flush = schedule.flushes && !schedule.staggers && began && batch > last_batch;
        row.idle.push_back({idle_from, begin,
                            flush ? std::string("waits for the flush")
                                  : fmt::format("waits for {}{}", goes_back ? 'B' : 'F', action.microbatch + 1),
                            given.from, action.microbatch});
    } else if (begin > idle_from) {  // what the caller did in between: communication, an update
        row.idle.push_back({idle_from, begin, "communicates", -1, action.microbatch});
    }
    began = true;
    last_batch = batch;
    const size_t before = row.actions.size();
    if (action.kind == ActionKind::forward)
        forward(action, given);
    else
        backward(action, given);
    // A recompute has written its own row.
    const double from = row.actions.size() > before ? row.actions.back().end : begin, end = now();
    row.actions.push_back({action, from, end});
    row.busy += end - begin;
    idle_from = end;
    if (action.kind == ActionKind::backward || action.kind == ActionKind::backward_weight) note_alive(end);
}

void PipelineRunner::forward(const Action& action, const HandOver& given) {
    const double begin = now();
    StagePass pass{.stage = action.stage, .microbatch = action.microbatch, .tape = fresh_tape()};
    if (job.before) job.before(action, *pass.tape);
    if (job.keep_inputs_only) pass.kept_input = given.tensor;
    Tensor out;
    {
        const WeightsOfVersion weights(*this, action.version);
        out = forward_stage(job, pass, given.tensor, batch_of(action.microbatch), !job.keep_inputs_only);
    }
    note_uses(pass);
    if (is_last(action.stage)) {
        if (!counts_only) result.losses[size_t(action.microbatch)] = tensor::values_of(job.rank.heap, out)[0];
    } else {
        leaving_activations[{action.stage, action.microbatch}] = {std::move(out), job.rank.world.time_us(), -1};
    }
    if (job.keep_inputs_only) {
        pass.tape->clear();
        spare.push_back(std::move(pass.tape));
    }
    StagePass& kept = alive[{action.stage, action.microbatch}] = std::move(pass);
    note_alive(begin);
    if (job.after) job.after(action, kept.tape ? *kept.tape : sums_tape);
}

Tensor PipelineRunner::seed_of(const Action& action, const StagePass& pass, const HandOver& given) {
    if (!is_last(action.stage)) return given.tensor;
    if (!job.share) return {};
    const tensor::Node& root = pass.tape->nodes()[size_t(pass.root)];
    const double share[] = {job.share(action.microbatch)};
    return tensor::tensor_from(job.rank.heap, root.shape, share, "share", Purpose::data, root.dtype);
}

void PipelineRunner::backward(const Action& action, const HandOver& given) {
    const auto found = alive.find({action.stage, action.microbatch});
    if (found == alive.end()) throw Failure(fmt::format("{} of stage {} has no forward", text_of(action), action.stage));
    StagePass& pass = found->second;
    const bool again = !pass.tape;  // only its input was kept
    if (again) pass.tape = fresh_tape();
    if (job.before) job.before(action, *pass.tape);
    const WeightsOfVersion weights(*this, action.version);  // for what runs forward once more, here or in a block
    if (again) {
        const double begin = now();
        forward_stage(job, pass, pass.kept_input, batch_of(action.microbatch), true);
        note_uses(pass);
        result.row.actions.push_back(
            {{ActionKind::recompute, action.microbatch, action.stage, -1, action.version}, begin, now()});
    }
    const BackwardPart part = action.kind == ActionKind::backward         ? BackwardPart::whole
                              : action.kind == ActionKind::backward_input ? BackwardPart::inputs
                                                                          : BackwardPart::weights;
    const Tensor seed = part == BackwardPart::weights ? Tensor{} : seed_of(action, pass, given);
    Tensor out = backward_stage(job, pass, seed, part, [&](size_t parameter, Tensor gradient) {
        add_gradient(action.stage, action.microbatch, parameter, std::move(gradient));
    });
    if (out) leaving_gradients[{action.stage, action.microbatch}] = {std::move(out), job.rank.world.time_us(), -1};
    if (job.after) job.after(action, *pass.tape);
    if (part == BackwardPart::inputs) return;
    pass.tape->clear();
    spare.push_back(std::move(pass.tape));
    alive.erase(found);
}

void PipelineRunner::note_uses(const StagePass& pass) {
    for (const StagePass::Leaf& leaf : pass.leaves) {
        std::vector<int>& stages = uses[leaf.parameter];
        const auto at = std::lower_bound(stages.begin(), stages.end(), pass.stage);
        if (at == stages.end() || *at != pass.stage) stages.insert(at, pass.stage);
    }
}

// In order of micro-batches: those that come too early wait. A weight that two stages of this rank use is complete when both
// are through; its runs are those of the first.
void PipelineRunner::add_gradient(int stage, int microbatch, size_t parameter, Tensor gradient) {
    const int copy = schedule.copy_of(microbatch);
    std::vector<ParameterSum>& known = sums[parameter];
    const auto sum_of_stage = [&](int of) {
        return std::find_if(known.begin(), known.end(),
                            [&](const ParameterSum& one) { return one.stage == of && one.copy == copy; });
    };
    if (sum_of_stage(stage) == known.end()) known.push_back({.stage = stage, .copy = copy, .waiting = {}});
    ParameterSum& sum = *sum_of_stage(stage);
    const auto advance = [&] {
        while (sum.next < schedule.microbatches && schedule.copy_of(sum.next) != copy) ++sum.next;
    };
    advance();
    sum.waiting.emplace(microbatch, std::move(gradient));
    while (!sum.waiting.empty() && sum.waiting.begin()->first == sum.next) {
        if (Tensor next = std::move(sum.waiting.begin()->second)) add_to_sum(parameter, std::move(next));
        sum.waiting.erase(sum.waiting.begin());
        const int done = sum.next++;
        advance();
        if (schedule.copies > 1 || !job.gradient_done) continue;
        const std::vector<int>& stages = uses[parameter];
        const int end_of_batch = (done / schedule.per_update + 1) * schedule.per_update;
        const bool last = sum.next >= end_of_batch && std::all_of(stages.begin(), stages.end(), [&](int of) {
                              const auto other = sum_of_stage(of);
                              return other != known.end() && other->next >= end_of_batch;
                          });
        const bool turns = job.by_runs && sum.next < end_of_batch && stage == stages.front() &&
                           run_ends[size_t(stage) * size_t(schedule.microbatches) + size_t(done)];
        if (last || turns) job.gradient_done(result, parameter);
    }
}

void PipelineRunner::add_to_sum(size_t parameter, Tensor gradient) {
    Tensor& sum = result.gradients[parameter];
    if (!sum) {
        sum = std::move(gradient);
        return;
    }
    sums_tape.launch(tensor::elementwise("accumulate", sum.count(),
                                         {sum.pointer(), gradient.pointer(), tensor::size_argument(sum.count())}),
                     {"gradients", "+="}, "backward", sum.dtype);
}

// A stage that is held twice: its first half's sum and its second half's are added up on both ranks.
void PipelineRunner::exchange_copies() {
    const int other = schedule.ranks - 1 - rank;
    std::vector<int> stages = schedule.stages_of[size_t(rank)];
    std::sort(stages.begin(), stages.end());
    line->wait_until(job.rank.world.time_us());
    const auto each = [&](const auto& use) {
        for (const int stage : stages)
            for (size_t i = 0; i < uses.size(); ++i)
                if (!uses[i].empty() && uses[i].front() == stage && result.gradients[i]) use(result.gradients[i], i);
    };
    each([&](const Tensor& sum, size_t) { parallel::send(*line, job.rank.device, other, sum, "copies"); });
    each([&](const Tensor& sum, size_t i) {
        Tensor theirs =
            tensor::make_tensor(job.rank.heap, sum.shape, "gradient of the other copy", Purpose::buffer, sum.dtype);
        parallel::receive(*line, job.rank.device, other, theirs, "copies");
        add_to_sum(i, std::move(theirs));
    });
    job.rank.world.wait_until(line->time_us());
}

void PipelineRunner::update(const Action& action, int place) {
    if (schedule.copies > 1 && job.add_copies) exchange_copies();
    const double begin = now();
    if (job.update) {
        const bool still_used = size_t(newest) < last_of_version.size() && last_of_version[size_t(newest)] > place;
        if (still_used) {
            std::vector<Tensor>& old = old_weights[newest];
            for (nn::Parameter& parameter : job.model.list.parameters()) {
                old.push_back(parameter.value);
                parameter.value = copy_of_tensor(sums_tape, old.back(), parameter.name, Purpose::parameter);
            }
        }
        result.row.weight_versions = std::max(result.row.weight_versions, static_cast<int>(old_weights.size()) + 1);
        job.update(result, action.microbatch / schedule.per_update, action.version);
        for (Tensor& sum : result.gradients) sum = {};
        newest = action.version;
    }
    if (begin > idle_from) result.row.idle.push_back({idle_from, begin, "communicates", -1, action.microbatch});
    result.row.actions.push_back({action, begin, now()});
    result.row.busy += now() - begin;
    idle_from = now();
}

void PipelineRunner::run() {
    for (size_t i = 0; i < list.size(); ++i) {
        const Action& action = list[i];
        switch (action.kind) {
            case ActionKind::receive_activation:
            case ActionKind::receive_gradient:
                receive(action);
                break;
            case ActionKind::send_activation:
            case ActionKind::send_gradient:
                send(action);
                break;
            case ActionKind::update:
                update(action, static_cast<int>(i));
                break;
            case ActionKind::recompute:
                break;  // with the backward that it is for
            default:
                work(action);
        }
        for (auto old = old_weights.begin(); old != old_weights.end();)
            old = last_of_version[size_t(old->first)] <= static_cast<int>(i) ? old_weights.erase(old) : std::next(old);
        if (action.kind != ActionKind::update && last_of_batch[size_t(action.microbatch)] <= static_cast<int>(i))
            batches.erase(action.microbatch);
        if (!computes(action.kind)) continue;
        sums_tape.clear();
        job.rank.heap.recycle();
    }
    for (int i = 0; i < schedule.microbatches; ++i)
        if (!std::isnan(result.losses[size_t(i)]))
            result.loss += result.losses[size_t(i)] * (job.share ? job.share(i) : 1.0);
}

}  // namespace

PipelineResult run_pipeline(const PipelineJob& job) {
    check_pipeline_job(job);
    PipelineResult result;
    PipelineRunner(job, result).run();
    return result;
}

}  // namespace lockstep::parallel
