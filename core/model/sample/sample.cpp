// The launch on the machine, with gaps. Two kinds, and a launch may have both:
//
//   blocks   Blocks start in waves, as many as the GPU holds. Once their pace is steady and L2 is as full as it gets, whole
//            waves are left out, at the moment in which one has just started; the last wave and the rest run.
//   rounds   While all blocks that run are in one loop, the pace of its rounds is measured, and most of those that every
//            warp still has in front of it are left out.
//
// What is left out takes the time, and counts the counts, of what was measured, by its share of warp instructions.
#include "core/model/sample/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/gpus/refusals.h"
#include "core/model/launch/machine.h"
#include "core/model/metrics/metrics.h"
#include "core/model/sample/account.h"
#include "core/model/sample/rounds.h"
#include "core/simt/apart/apart.h"

namespace lockstep::model {
namespace {

constexpr uint64_t no_end = UINT64_MAX;
constexpr uint64_t least_waves = 4;     // a launch of fewer leaves out no blocks
constexpr uint64_t most_measured = 48;  // waves
constexpr double most_error = 0.02;     // beyond it half of the waves may be measured
constexpr double aim = 0.008;           // of the error of a gap of blocks, as a share of the launch
constexpr double filled = 0.97;         // L2 is as full as it gets
constexpr uint64_t warm_rounds = 2, measured_rounds = 4, rounds_behind = 3;
constexpr double least_error = 0.05;  // of rounds: blocks of an SM take turns at being the faster one
constexpr double seam_cycles = 500;   // by which a gap may be off: what is behind it finds other lines in the caches

double mean(const std::vector<double>& values, size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += values[i];
    return sum / static_cast<double>(end - begin);
}

// Leaves of trace and windows what lies in front of cycle `end`.
void cut(TimedResult& timed, int64_t end) {
    KernelTrace& trace = timed.trace;
    const bool was_full = !trace.truncated || trace.kept_until >= end;
    trace = stretch_of(trace, 0, end);
    trace.cycles = end;
    trace.truncated = !was_full;
    std::erase_if(trace.blocks, [&](const BlockRun& block) { return block.begin >= end; });
    for (BlockRun& block : trace.blocks) block.end = std::min(block.end, end);
    Windows& windows = timed.windows;
    if (windows.length <= 0) return;
    const auto count = static_cast<size_t>((end + windows.length - 1) / windows.length);
    if (count >= windows.totals.size()) return;
    windows.totals.resize(count);
    windows.counters.keep(count);
}

struct Mark {  // a moment just behind the start of the last block of a wave, the same on all SMs
    uint64_t started = 0;
    double time = 0;  // in cycles of the whole launch
    Account account;
};

class Sampler {
  public:
    Sampler(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config, simt::Memory& memory,
            const TimedOptions& options, const Work& work, const Evidence& evidence)
        : gpu_(gpu),
          program_(program),
          work_(work),
          rounds_(program, evidence, work.loop()),
          machine_(gpu, program, config, memory, options),
          blocks_(config.grid.count()),
          wave_(std::min<uint64_t>(blocks_, uint64_t{gpu.sms} * machine_.blocks_per_sm())) {}

    void run(uint64_t rounds_from) {
        if (rounds_.known() && work_.of(0, std::min(blocks_, least_waves * wave_)) < rounds_from) rounds_.give_up();
        leaves_blocks_out_ = blocks_ / wave_ >= least_waves;
        for (;;) {
            const uint64_t next = leaves_blocks_out_ ? (marks_.size() + 1) * wave_ : no_end;
            machine_.pause_at(next, rounds_.known() ? machine_.issues() + poll() : no_end);
            if (!machine_.run_until(never)) return;
            if (machine_.started() >= next) {
                if (!come_together()) return;
                take_mark();
            } else if (!leave_rounds_out()) {
                return;
            }
        }
    }

    SampledResult finish(uint64_t looked_at) {
        SampledResult sampled;
        TimedResult& timed = sampled.timed;
        timed = machine_.finish();
        if (timed.fault || timed.stopped) {
            sampled.why = "a block fails";
            return sampled;
        }
        Sampling sampling;
        sampling.blocks = blocks_;
        sampling.timed_blocks = blocks_ - blocks_left_out_;
        sampling.blocks_at_once = wave_;
        sampling.timed_cycles = timed.cycles;
        sampling.timed_instructions = timed.warp_instructions;
        sampling.looked_at = looked_at;
        sampling.gaps = std::move(gaps_);
        if (sampling.gaps.empty()) {
            sampled.why = "it is too short, or its blocks never come to a steady pace";
            return sampled;
        }
        sampling.shown_cycles = sampling.gaps.front().at;
        cut(timed, sampling.shown_cycles);
        int64_t more = 0;
        double squares = 0, same_way = 0;
        for (const Gap& gap : sampling.gaps) {
            more += gap.cycles;
            sampling.blocks_only = sampling.blocks_only && gap.rounds == 0;
            // Rounds are measured alike each time, so their errors add up; that of blocks is apart from them.
            const double off = gap.error * static_cast<double>(gap.cycles) + seam_cycles;
            if (gap.rounds == 0)
                squares += off * off;
            else
                same_way += off;
        }
        timed.cycles += more;
        timed.time_us = static_cast<double>(timed.cycles) / gpu_.boost_mhz;
        sampling.error = std::sqrt(squares + same_way * same_way) / static_cast<double>(timed.cycles);
        timed.totals.cycles += more;
        timed.totals.active_cycles += active_cycles_;
        timed.totals.scheduler_cycles += scheduler_cycles_;
        timed.totals.warp_cycles += warp_cycles_;
        uint64_t looped = 0;  // blocks left out in gaps of rounds: what they do outside of the loop is what others did
        for (const Gap& gap : sampling.gaps) looped += gap.rounds != 0 ? gap.blocks : 0;
        const double others = static_cast<double>(blocks_ - looped);
        for (uint32_t pc = 0; looped != 0 && pc < timed.instructions.size(); ++pc)
            if (pc < work_.loop().begin || pc >= work_.loop().end)
                multiply(timed.instructions[pc], static_cast<double>(blocks_) / others);
        add_to(timed, extra_);
        timed.sampling = std::make_shared<const Sampling>(std::move(sampling));
        timed.metrics = compute_metrics(gpu_, program_, timed, timed.instructions, timed.totals);
        return sampled;
    }

  private:
    double gone() const { return static_cast<double>(gap_cycles_); }
    uint64_t poll() {  // warp instructions: half a round of all that run
        return std::max<uint64_t>(1 << 14, rounds_.instructions_of_round(machine_) / 2);
    }
    Account account() const {
        Account now(machine_.counted());
        now.add(extra_);
        return now;
    }

    // A gap of so many cycles here: who is resident stays so, but for what `rounds` says.
    void add_gap(Gap gap, const Account& from, const Account& to, double times, const Rounds::LeftOut* rounds = nullptr) {
        Account part = to;
        part.add(from, -1);
        if (rounds != nullptr) part.keep_loop(work_.loop().begin, work_.loop().end);  // finish() knows of the rest
        extra_.add(part, times);
        std::vector<uint32_t> warps(rounds == nullptr ? gpu_.sms.value : 0, 0);
        machine_.each_block([&](simt::Block& block) {
            if (rounds == nullptr)
                for (const simt::Warp& warp : block.warps) warps[block.sm] += warp.done ? 0 : 1;
        });
        if (rounds != nullptr) {
            const auto schedulers = std::min<uint64_t>(work_.loop().warps.size(), gpu_.sub_cores);
            active_cycles_ += std::llround(rounds->active_cycles);
            scheduler_cycles_ += std::llround(rounds->active_cycles * static_cast<double>(schedulers));
            warp_cycles_ += std::llround(rounds->warp_cycles);
        }
        for (const uint32_t resident : warps) {
            active_cycles_ += resident != 0 ? gap.cycles : 0;
            scheduler_cycles_ += std::min<uint32_t>(resident, gpu_.sub_cores) * gap.cycles;
        }
        gap.at = machine_.cycle();
        machine_.end_checkpoints();
        gap.instructions = static_cast<uint64_t>(std::llround(part.warp_instructions() * times));
        gap_cycles_ += gap.cycles;
        blocks_left_out_ += gap.blocks;
        gaps_.push_back(gap);
    }

    // ---- waves of blocks

    void take_mark() {
        const bool rounds_gone = std::any_of(gaps_.begin(), gaps_.end(), [](const Gap& gap) { return gap.rounds != 0; });
        marks_.push_back({machine_.started(), static_cast<double>(machine_.cycle()) + gone(), account()});
        const double before = l2_filled_;
        l2_filled_ = machine_.l2_filled();
        const uint64_t waves = blocks_ / wave_, full = (blocks_ - machine_.started()) / wave_;
        if (full == 0) leaves_blocks_out_ = false;
        if (marks_.size() < 2) return;
        const double grows = (l2_filled_ - before) * static_cast<double>(full);
        if (!rounds_gone && l2_filled_ < filled && l2_filled_ + grows > filled) {  // it will be full, and is not
            settled_ = marks_.size();
            return;
        }
        const uint64_t measured = marks_.size() - 1 - settled_;  // waves between marks, since L2 is as it stays
        const uint64_t wanted = std::clamp<uint64_t>(waves / 60, waves < 12 ? 1 : 3, most_measured);
        const uint64_t warm = std::max<uint64_t>(1, wanted / 3);
        if (marks_.size() < 1 + settled_ + warm + wanted) return;
        leave_blocks_out(std::max(wanted, measured / 2), full, waves);
    }

    void leave_blocks_out(uint64_t measured, uint64_t full, uint64_t waves) {
        const Mark& from = marks_[marks_.size() - 1 - measured];
        const Mark& to = marks_.back();
        // Cycles a warp instruction, of each wave, the one in front of those measured as well. Instructions that were
        // issued: blocks that began together and no longer do so start at another pace than that at which they run.
        std::vector<double> pace;
        for (size_t k = marks_.size() - 1 - measured - (from.started > wave_ ? 1 : 0); k + 1 < marks_.size(); ++k)
            pace.push_back((marks_[k + 1].time - marks_[k].time) /
                           (marks_[k + 1].account.warp_instructions() - marks_[k].account.warp_instructions()));
        const size_t n = pace.size(), first = n - measured;
        const double usual = mean(pace, first, n);
        double error = 0;
        if (measured < 3) {
            for (const double each : pace) error = std::max(error, std::abs(each - usual) / usual);
        } else {
            // A wave that starts late makes the next one short, so single waves differ more than their mean is off: four
            // parts.
            const size_t parts = measured < 8 ? measured : 4;
            std::vector<double> means;
            for (size_t k = 0; k < parts; ++k)
                means.push_back(mean(pace, first + k * measured / parts, first + (k + 1) * measured / parts));
            double squares = 0;
            for (const double each : means) squares += (each - usual) * (each - usual);
            const double deviation = std::sqrt(squares / static_cast<double>(parts - 1));
            const double drift = std::abs(mean(pace, first, first + measured / 2) - mean(pace, first + measured / 2, n));
            error = std::max(2 * deviation / std::sqrt(static_cast<double>(parts)), drift) / usual;
        }
        const uint64_t out = (full - (waves >= 40 ? 1 : 0)) * wave_;
        if (out == 0) return;
        const auto share = static_cast<double>(out) / static_cast<double>(blocks_);
        // Measures on as long as that is cheap, or the pace is all but steady.
        const uint64_t most = error * share > most_error ? waves / 2 : waves / 24;
        if (error * share > aim && marks_.size() < most) return;

        const auto skipped = static_cast<double>(work_.of(to.started, to.started + out));
        const auto seen = static_cast<double>(work_.of(from.started, to.started));
        const double alike = skipped / static_cast<double>(out) / (seen / static_cast<double>(to.started - from.started));
        leaves_blocks_out_ = false;
        if (alike < 0.9 || alike > 1.1) return;  // later blocks do more work, or less: they are run
        // Of what the measured waves counted, so much that the sum of warp instructions is that of all blocks.
        const double counted = to.account.warp_instructions() - from.account.warp_instructions();
        const double cycles = (to.time - from.time) * skipped / counted;
        Gap gap;
        gap.cycles = std::llround(cycles);
        gap.blocks = out;
        gap.error = error;
        add_gap(gap, from.account, to.account, skipped / counted);
        machine_.leave_out(out);
    }

    // ---- rounds of a loop

    uint64_t waiting() const { return blocks_ - machine_.started(); }
    bool all_alike() const {  // the blocks that have not started do as much as most
        const uint64_t begin = machine_.started();
        if (begin >= blocks_) return true;
        const double each = static_cast<double>(work_.of(begin, blocks_)) / static_cast<double>(blocks_ - begin);
        return std::abs(each / static_cast<double>(work_.usual()) - 1) < 0.02;
    }

    bool run_for(uint64_t issues) {
        machine_.pause_at(no_end, machine_.issues() + issues);
        return machine_.run_until(never) && come_together();
    }
    bool come_together() {  // all SMs come to the same cycle
        machine_.pause_at(no_end, no_end);
        return machine_.run_until(machine_.cycle());
    }

    // False: nothing is left to run.
    bool leave_rounds_out() {
        const uint64_t total = work_.loop().warps.front().count;
        const uint64_t warm = std::max(warm_rounds, total / 100), measured = std::max(measured_rounds, total / 60);
        const Rounds::Waiting waits{waiting(), all_alike(), static_cast<double>(work_.usual())};
        if (rounds_.within_reach(machine_, waits) < 2 * (warm + measured) + rounds_behind) return true;
        const uint64_t round = rounds_.instructions_of_round(machine_);
        if (!run_for(warm * round)) return false;
        struct Cut {
            double time = 0;
            Account account;
            Rounds::ProgressOfBlocks progress;
        };
        std::vector<Cut> cuts;
        const auto add_cut = [&] {
            cuts.push_back({static_cast<double>(machine_.cycle()), account(), rounds_.progress(machine_)});
        };
        add_cut();
        for (int half = 0; half < 2; ++half) {
            if (!run_for(measured * round / 2)) return false;
            add_cut();
        }
        // Nothing may run ahead of its issue: what is patched is what the next instruction finds.
        machine_.let_run_ahead(false);
        while (!machine_.is_exact())
            if (!run_for(1 << 8)) return false;
        Rounds::Waiting now{waiting(), all_alike(), static_cast<double>(work_.usual())};
        if (gaps_.empty()) now.at_most = std::max<uint64_t>(1, now.blocks / 4);  // then blocks no longer go in step
        const auto stretch = [&](size_t a, size_t b) {
            return Rounds::Measured{cuts[a].progress, cuts[b].progress, cuts[b].time - cuts[a].time};
        };
        const Rounds::Measured stretches[] = {stretch(0, 2), stretch(1, 2)};
        const Rounds::LeftOut out = rounds_.leave_out(machine_, stretches, rounds_behind, now);
        if (out.instructions > 0) {
            const auto between = [&](size_t a, size_t b) {
                return cuts[b].account.warp_instructions() - cuts[a].account.warp_instructions();
            };
            const auto pace = [&](size_t a, size_t b) { return (cuts[b].time - cuts[a].time) / between(a, b); };
            Gap gap;
            gap.rounds = static_cast<uint64_t>(std::llround(out.rounds));
            gap.blocks = out.blocks;
            gap.cycles = std::llround(out.cycles);
            gap.error = std::max(least_error, std::abs(pace(0, 1) - pace(1, 2)) / pace(0, 2) / 2);
            add_gap(gap, cuts[0].account, cuts[2].account, out.instructions / between(0, 2), &out);
            machine_.leave_out(out.blocks);
            if (out.blocks != 0) leaves_blocks_out_ = false;
        }
        machine_.let_run_ahead(true);
        return true;
    }

    const GpuSpec& gpu_;
    const ptx::Program& program_;
    const Work& work_;
    Rounds rounds_;
    Machine machine_;
    uint64_t blocks_, wave_;
    bool leaves_blocks_out_ = false;
    double l2_filled_ = 0;
    uint64_t settled_ = 0;  // marks before that are of an L2 that is not full yet
    std::vector<Mark> marks_;
    std::vector<Gap> gaps_;
    uint64_t blocks_left_out_ = 0;
    int64_t gap_cycles_ = 0, active_cycles_ = 0, scheduler_cycles_ = 0, warp_cycles_ = 0;
    Account extra_;
};

}  // namespace

SampledResult sampled_launch(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                             simt::Memory& memory, const TimedOptions& options, const SampleOptions& how) {
    const auto whole = [&](std::string why) {
        SampledResult result;
        result.timed = launch(gpu, program, config, memory, options);
        result.why = std::move(why);
        return result;
    };
    if (options.l2 != nullptr) return whole("what L2 holds behind it is wanted");
    if (missing_part(gpu, program)) return whole("the GPU lacks a part");
    const Evidence evidence = evidence_of(program, config);
    if (!evidence.refusal.empty()) return whole(evidence.refusal);
    const simt::LaunchOptions functional = functional_options(gpu, program, config);
    const ptx::Program light = steering_of(program, evidence, false);
    const Work work(light, config, memory, functional);
    if (!work.refusal().empty()) return whole(work.refusal());
    const uint64_t all = work.of(0, config.grid.count());

    // Where rounds are left out the machine's values are wrong, so it has a memory of its own. Whoever wants the time alone
    // does without: copying what it writes would take longer than to time it.
    const bool asks_more = options.racecheck || options.initcheck || !(options.ideal == Idealised{});
    const bool in_place = how.time_only && !asks_more;
    simt::Memory apart = in_place ? simt::Memory() : memory;
    simt::Memory& timing = in_place ? memory : apart;
    TimedOptions on_machine = options;
    on_machine.racecheck = on_machine.initcheck = false;
    on_machine.print = nullptr;
    on_machine.max_instructions = no_end;  // its blocks end
    Sampler sampler(gpu, program, config, timing, on_machine, work, evidence);
    sampler.run(how.rounds_from);
    SampledResult sampled = sampler.finish(work.looked_at());
    if (in_place || sampled.timed.stopped) return sampled;
    if (!sampled.why.empty()) {
        if (sampled.timed.fault || asks_more) return whole(sampled.why);
        memory = std::move(apart);  // nothing was left out: it is the whole run
        return sampled;
    }
    if (how.time_only) {
        memory = std::move(apart);
        return sampled;
    }
    // All outputs, from the memory that the launch found.
    simt::LaunchOptions asked = options;
    asked.independent = functional.independent;
    asked.resident_blocks = functional.resident_blocks;
    asked.max_instructions = std::max(options.max_instructions, 2 * all);
    const simt::ApartResult ran =
        simt::launch_apart(program, *simt::apart_facts(program), config, memory, asked, how.threads);
    static_cast<simt::LaunchResult&>(sampled.timed) = ran.launch;
    return sampled;
}

bool is_long(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config, const simt::Memory& memory,
             uint64_t from) {
    if (config.grid.count() <= gpu.sms || simt::cluster_of(program, config).count() > 1) return false;
    return Work::is_more_than(from, program, config, memory, functional_options(gpu, program, config));
}

}  // namespace lockstep::model
