// Looking into one kernel, and into one warp of it: its history and its registers are worked out when asked for.
#include <algorithm>

#include "app/gui/views/memory/chart_data.h"
#include "app/gui/widgets/draw.h"
#include "app/gui/work/worker.h"
#include "core/base/diagnostic.h"
#include "core/model/advice/verdict.h"

namespace lockstep::gui {

namespace {
constexpr uint64_t most_traced_again = 20'000'000;  // warp instructions: a longer launch shows a stretch of another SM
}

void Session::Worker::open_kernel(int64_t index, bool wish) {
    if (!draft.training.step || index < 0 || index >= static_cast<int64_t>(draft.training.step->launches.size())) return;
    if (!wish) shown_kernel = index;
    const device::LaunchEvent& launch = draft.training.step->launches[static_cast<size_t>(index)];
    if (wish) {
        const std::lock_guard lock(mutex);
        results.launch = static_cast<int32_t>(index);
    }
    if (!launch.run) {
        if (training && !draft.tape) wants_timing = true;  // it will be opened once it is timed
        return;
    }
    show_kernel(launch.run, launch.label + " (kernel " + std::to_string(index + 1) + " of " +
                                std::to_string(draft.training.step->launches.size()) + ")");
}

void Session::Worker::show_kernel(std::shared_ptr<const model::KernelRun> kernel, std::string label, const Focus& look_at) {
    if (draft.kernel.run == kernel) return;
    draft.kernel.run = std::move(kernel);
    draft.kernel.label = std::move(label);
    draft.kernel.look_at = look_at;
    forget_warp();
    const model::TimedResult& result = draft.kernel.run->result;
    if (result.fault)
        draft.problem = Diagnostic{simt::render(*result.fault)};
    else if (!result.reports.empty())
        draft.problem = Diagnostic{simt::render(result.reports.front())};
}

// What limits the run on show. Its gains are simulated where all of them take a moment, or where that is wished.
void Session::Worker::judge_kernel(bool wished) {
    constexpr uint64_t a_moment = 200'000;  // warp instructions
    const std::shared_ptr<const model::KernelRun> run = draft.kernel.run;
    if (!run || !run->program || run->result.fault || run->result.stopped || run->result.cycles == 0) return;
    model::VerdictOptions options;
    options.most_instructions = run->before ? a_moment : 0;
    options.what_if_all = wished;
    options.stop = job_token();
    options.progress = [&](double share) {
        if (wished) busy("simulating what each cause costs", share);
    };
    draft.kernel.verdict = std::make_shared<model::Verdict>(model::verdict_of(*run, options));
}

// The verdict is of the run on show. Of the same launch with another stretch traced it stays.
void Session::Worker::keep_judged() {
    const std::shared_ptr<const model::KernelRun> run = draft.kernel.run;
    if (run == judged) return;
    const bool same = run && judged && run->before == judged->before && run->program == judged->program &&
                      run->result.cycles == judged->result.cycles && run->gpu.name == judged->gpu.name;
    judged = run;
    if (same) return;
    draft.kernel.verdict.reset();
    draft.kernel.tried.reset();
    judge_kernel(false);
}

void Session::Worker::simulate_gains() {
    busy("simulating what each cause costs", 0);
    judge_kernel(true);
    busy("");
}

// The launch on show with one thing idealised, its counters beside the real one's; its finding knows the gain from then on.
void Session::Worker::try_what_if(const std::string& name) {
    const std::shared_ptr<const model::KernelRun> run = draft.kernel.run;
    if (!run || !run->before || run->result.fault || run->result.cycles == 0) return;
    const auto what_if = model::what_if_named(name);
    if (!what_if.ok()) throw Failure(what_if.error());
    busy("simulating: what if " + std::string(what_if.value().words), 0);
    const std::string said = draft.busy;
    auto ideal = model::launch_with(*run, what_if.value(), job_token(), [&](double share) { busy(said, share); });
    busy("");
    if (!ideal.ok()) {
        if (!job_token().stop_requested()) throw Failure(ideal.error());
        return;
    }
    auto tried = std::make_shared<TriedWhatIf>();
    tried->name = name;
    tried->words = what_if.value().words;
    model::KernelRun idealised;
    idealised.gpu = run->gpu;
    idealised.program = run->program;
    idealised.config = run->config;
    idealised.source = run->source;
    idealised.result = std::move(ideal.value());
    tried->run = without_trace(idealised);
    if (draft.kernel.verdict) {
        auto known = std::make_shared<model::Verdict>(*draft.kernel.verdict);
        const auto real = static_cast<double>(run->result.cycles);
        for (model::Finding& finding : known->findings)
            if (finding.what_if == name)
                finding.gain = 1 - static_cast<double>(tried->run->result.cycles) / real, finding.simulated = true;
        draft.kernel.verdict = known;
    }
    draft.kernel.tried = tried;
}

void Session::Worker::run_resident(int64_t most_blocks) {
    const std::shared_ptr<const model::KernelRun> shown = draft.kernel.run;
    const auto most = static_cast<uint32_t>(std::clamp<int64_t>(most_blocks, 0, 1 << 16));
    if (!shown || !shown->before || shown->result.occupancy.by_choice == most) return;
    run_again(shown->gpu, most,
              most == 0 ? std::string("with as many blocks an SM as fit")
                        : "with at most " + std::to_string(most) + (most == 1 ? " block" : " blocks") + " an SM");
}

void Session::Worker::run_carved(int64_t bytes) {
    const std::shared_ptr<const model::KernelRun> shown = draft.kernel.run;
    if (!shown || !shown->before || bytes > (int64_t{1} << 30)) return;
    const model::GpuSpec carved = with_carve_out(*shown, bytes);
    if (carved.shared_carveouts.value == shown->gpu.shared_carveouts.value &&
        carved.shared_per_sm == shown->gpu.shared_per_sm)
        return;
    run_again(carved, shown->result.occupancy.by_choice,
              bytes < 0 ? std::string("with the GPU's own choice of L1 and shared memory")
                        : "with " + std::to_string(bytes / 1024) + " KiB for shared memory");
}

// The launch on show, under other conditions.
void Session::Worker::run_again(const model::GpuSpec& on, uint32_t most, const std::string& what) {
    const std::shared_ptr<const model::KernelRun> shown = draft.kernel.run;
    busy("running it again " + what, 0);
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = on;
    run->program = shown->program;
    run->config = shown->config;
    run->before = std::make_shared<simt::Memory>(*shown->before);  // its own: another launch, not another part of it
    run->source = shown->source;
    run->l2 = shown->l2;
    simt::Memory memory = *shown->before;
    const std::shared_ptr<model::L2State> l2 = model::l2_of(*shown);
    model::TimedOptions timed = model::options_of(shown->result);
    timed.l2 = l2.get();
    timed.max_instructions = 50'000'000;
    timed.traced_sm = shown->result.trace.sm;
    timed.most_blocks_per_sm = most;
    timed.stop = job_token();
    timed.progress = [this](double share) {
        serve_light();
        busy(draft.busy, share);
    };
    run->result = model::launch(run->gpu, *run->program, run->config, memory, timed);
    if (run->result.stopped) return;  // a newer wish is waiting
    if (draft.own.run && draft.own.run->run == shown) {
        auto own_result = std::make_shared<KernelResult>(*draft.own.run);
        own_result->run = run;
        if (draft.own.result == draft.own.run) draft.own.result = own_result;
        draft.own.run = own_result;
    }
    if (draft.kernel.run == shown) show_kernel(run, draft.kernel.label, draft.kernel.look_at);
    if (draft.source == Source::training && training && draft.training.step && !draft.training.step->launches.empty() &&
        !draft.training.step->launches[0].run)
        wants_timing = true;  // it was stopped for this
    busy("");
}

void Session::Worker::forget_fault() {
    if (draft.problem && draft.problem->severity != Severity::warning) draft.problem.reset();
}

void Session::Worker::forget_warp() {
    draft.kernel.history.reset();
    draft.kernel.lanes.reset();
    draft.kernel.memory.reset();
    draft.kernel.stack.reset();
    draft.kernel.lanes_step = -1;
}

void Session::Worker::focus_warp(int64_t index) {
    if (!draft.kernel.run || !draft.kernel.run->before) return;
    const auto& warps = draft.kernel.run->result.trace.warps;
    if (index < 0 || index >= static_cast<int64_t>(warps.size())) return;
    const WarpTrack& warp = warps[static_cast<size_t>(index)];
    forget_warp();
    auto history = std::make_shared<simt::WarpHistory>(
        simt::record_warp(*draft.kernel.run->program, draft.kernel.run->config, *draft.kernel.run->before, warp.block,
                          warp.warp_in_block, simt::WarpHistory::most_steps, job_token()));
    if (history->stopped) {  // once what interrupts is done: the warp may still be looked at then
        const std::lock_guard lock(mutex);
        if (!waits<ask::FocusWarp>()) queue.push_back(ask::FocusWarp{index});
        return;
    }
    const KernelTrace& trace = draft.kernel.run->result.trace;
    if (!trace.truncated && warp.issued_before == 0) {  // so the picture and the clock stand on the same instruction
        std::vector<uint32_t> pcs;
        for (const uint32_t issue : warp.issues) pcs.push_back(trace.issues[issue].pc);
        simt::follow(*history, pcs);
    }
    draft.kernel.history = std::move(history);
    publish();
}

void Session::Worker::lanes_at(int64_t step, int64_t cycle) {
    if (!draft.kernel.run || !draft.kernel.run->before || !draft.kernel.history || step < 0) return;
    {  // only the newest wish counts
        const std::lock_guard lock(mutex);
        if (waits<ask::LanesAt>() || waits<ask::FocusWarp>()) return;
    }
    draft.kernel.stack.reset();
    draft.kernel.lanes_timed = values_at(step, cycle);
    if (!draft.kernel.lanes_timed) {
        const uint64_t replayed = draft.kernel.history->in_replay(static_cast<uint64_t>(step));
        draft.kernel.lanes = std::make_shared<std::vector<simt::LaneValues>>(simt::registers_at(
            *draft.kernel.run->program, draft.kernel.run->config, *draft.kernel.run->before, draft.kernel.history->block,
            draft.kernel.history->warp_in_block, replayed, draft.kernel.history->beside));
        draft.kernel.memory = own() ? std::make_shared<simt::MemoryAt>(simt::memory_at(
                                          *draft.kernel.run->program, draft.kernel.run->config, *draft.kernel.run->before,
                                          draft.kernel.history->block, draft.kernel.history->warp_in_block, replayed,
                                          draft.kernel.history->beside))
                                    : nullptr;
    }
    draft.kernel.lanes_step = step;
    publish();
}

// Registers and memory as they were at the beginning of the cycle, in the order of the timed run. False: the launch cannot
// be replayed, or the warp is not there at that cycle; then a replay of its block alone has to do.
bool Session::Worker::values_at(int64_t step, int64_t cycle) {
    if (cycle < 0 || !travels()) return false;
    if (!replay->seek(cycle, watch("replaying to cycle " + with_commas(cycle)))) return false;
    const uint32_t block = draft.kernel.history->block, warp = draft.kernel.history->warp_in_block;
    auto state = replay->warp(block, warp);
    if (!state || state->done || state->instructions != static_cast<uint64_t>(step)) return false;
    draft.kernel.lanes = std::make_shared<std::vector<simt::LaneValues>>(std::move(state->values));
    draft.kernel.stack = std::make_shared<std::vector<simt::StackEntry>>(std::move(state->stack));
    draft.kernel.memory = own() ? std::make_shared<simt::MemoryAt>(simt::memory_of(*replay->block(block), warp)) : nullptr;
    return true;
}

bool Session::Worker::travels() {
    const model::KernelRun& run = *draft.kernel.run;
    if (!run.before || run.result.max_instructions == 0 || run.result.cycles <= 0 || run.result.stopped) return false;
    if (launched && launched->before == run.before) return true;
    replay.reset();
    launched = draft.kernel.run;
    auto light = std::make_shared<model::KernelRun>(*launched);
    light->result.trace.warps = {};
    light->result.trace.issues = {};
    traceless = light;
    // A run that takes a moment to simulate needs few checkpoints to come back quickly.
    constexpr uint64_t short_run = 2'000'000, few = uint64_t{48} << 20;  // warp instructions, bytes
    const bool is_short = launched->result.warp_instructions < short_run;
    replay = std::make_unique<model::Replay>(traceless, is_short ? few : model::Replay::default_bytes);
    return true;
}

model::ReplayWatch Session::Worker::watch(const std::string& what) {
    model::ReplayWatch watch;
    {
        const std::lock_guard lock(mutex);
        watch.stop = looking.get_token();
    }
    const auto begin = std::chrono::steady_clock::now();
    watch.progress = [this, what, begin, told = begin](double share) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (now - begin < std::chrono::milliseconds(150) || now - told < std::chrono::milliseconds(100)) return;
        told = now;
        busy(what, share);
    };
    return watch;
}

void Session::Worker::show_trace(std::shared_ptr<const model::KernelRun> run) {
    if (draft.own.run && draft.own.run->run == draft.kernel.run) {  // it stays the learner's own
        auto copy = std::make_shared<KernelResult>(*draft.own.run);
        copy->run = run;
        if (draft.own.result == draft.own.run) draft.own.result = copy;
        draft.own.run = std::move(copy);
    }
    draft.kernel.run = std::move(run);
    busy("");
}

// Half as many cycles as hold some hundred thousand issues of one SM.
static int64_t half_stretch(const model::TimedResult& result, const model::GpuSpec& gpu) {
    const double rate = static_cast<double>(result.warp_instructions) /
                        static_cast<double>(std::max<int64_t>(1, result.cycles)) / std::max<uint32_t>(1, gpu.sms);
    return static_cast<int64_t>(std::clamp(100'000 / std::max(rate, 1e-6), 1024.0, 1e6));
}

void Session::Worker::fetch_stretch(int64_t cycle) {
    if (!draft.kernel.run || !travels()) return;
    const KernelTrace& shown = draft.kernel.run->result.trace;
    cycle = std::clamp<int64_t>(cycle, 0, std::max<int64_t>(0, shown.cycles - 1));
    if (!shown.truncated || (cycle >= shown.kept_from && cycle < shown.kept_until)) return;
    const KernelTrace& first = launched->result.trace;
    if (first.sm == shown.sm && cycle >= first.kept_from && cycle < first.kept_until) return show_trace(launched);
    const int64_t half = half_stretch(launched->result, launched->gpu);
    auto trace = replay->trace(shown.sm, cycle - half, cycle + half, watch("replaying around cycle " + with_commas(cycle)));
    if (!trace || cycle < trace->kept_from || cycle >= trace->kept_until) return busy("");
    auto run = std::make_shared<model::KernelRun>(*traceless);
    run->result.trace = std::move(*trace);
    show_trace(std::move(run));
}

void Session::Worker::trace_sm(int64_t sm, int64_t cycle) {
    if (!draft.kernel.run || !travels() || sm < 0 || sm >= int64_t{launched->gpu.sms}) return;
    const auto wanted = static_cast<uint32_t>(sm);
    if (wanted == draft.kernel.run->result.trace.sm) return;
    if (wanted == launched->result.trace.sm && !launched->result.trace.truncated) return show_trace(launched);
    auto run = std::make_shared<model::KernelRun>(*traceless);
    const std::string what = "tracing SM " + std::to_string(sm);
    if (launched->result.warp_instructions > most_traced_again) {
        const int64_t half = half_stretch(launched->result, launched->gpu);
        auto trace = replay->trace(wanted, cycle - half, cycle + half, watch(what));
        if (!trace) return busy("");
        run->result.trace = std::move(*trace);
        return show_trace(std::move(run));
    }
    const model::ReplayWatch along = watch(what);
    const std::shared_ptr<model::L2State> l2 = model::l2_of(*launched);
    model::TimedOptions again = model::options_of(launched->result);
    again.l2 = l2.get();
    again.traced_sm = wanted;
    again.machine = true;
    again.stop = along.stop;
    again.progress = along.progress;
    simt::Memory memory = *launched->before;
    model::TimedResult result = model::launch(run->gpu, *run->program, run->config, memory, again);
    if (result.stopped) return busy("");
    run->result.trace = std::move(result.trace);
    show_trace(std::move(run));
}

}  // namespace lockstep::gui
