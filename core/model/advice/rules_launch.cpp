// Rules about the shape of a launch: how its blocks fill the GPU, and its warps an SM.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/advice/facts.h"

namespace lockstep::model::advice {
namespace {
constexpr double start_of_warps = 300;  // cycles for the first instructions to be fetched, and the last stores

struct Shape {
    uint64_t blocks, places;
    uint32_t sms, blocks_per_sm, threads;
};
Shape shape_of(const Facts& facts) {
    const LaunchTotals& totals = facts.result.totals;
    return {totals.blocks, uint64_t{facts.run.gpu.sms} * totals.blocks_per_sm, facts.run.gpu.sms, totals.blocks_per_sm,
            totals.threads_per_block};
}

// Pieces of work that a block of a persistent kernel takes, on average; 0 of other kernels.
double pieces_of(const Facts& facts) {
    const Shape shape = shape_of(facts);
    if (!facts.persistent || shape.blocks == 0) return 0;
    InstructionCounters steps;
    for (const uint32_t pc : facts.persistent->steps)
        if (pc < facts.result.instructions.size()) steps += facts.result.instructions[pc];
    const auto blocks = static_cast<double>(shape.blocks);
    if (facts.persistent->from_counter) return static_cast<double>(steps.executed) / blocks - 1;  // the last one gets none
    return static_cast<double>(steps.issues) / (blocks * ((shape.threads + 31) / 32));
}
// Rules about waves of blocks are not about kernels whose blocks go on to the next piece: find_persistent is.
bool takes_in_turn(const Facts& facts) {
    return pieces_of(facts) > 1.001;
}

// Whether more warps could help: no unit is busy, and warps wait for results or memory.
bool waits_for_latency(const Facts& facts) {
    const double waits = facts.share(StallReason::long_scoreboard) + facts.share(StallReason::short_scoreboard) +
                         facts.share(StallReason::wait);
    return facts.busiest() < 0.6 && waits >= 0.4;
}
}  // namespace

void find_small_grid(const Facts& facts, Findings& findings) {
    const Shape shape = shape_of(facts);
    if (takes_in_turn(facts)) return;
    if (shape.blocks >= shape.sms || shape.blocks == 0) return;
    Finding finding = finding_at(facts, "small-grid", {});
    finding.sentence = fmt::format("{} block{} keep{} {} of {} SMs busy; the others have nothing to do.", shape.blocks,
                                   shape.blocks == 1 ? "" : "s", shape.blocks == 1 ? "s" : "", shape.blocks, shape.sms);
    finding.evidence = fmt::format("blocks {}, normal at least {} (one an SM)", shape.blocks, shape.sms);
    finding.change =
        shape.threads >= 128
            ? "Cut the work finer: smaller blocks, a warp instead of a thread an item, or a part of each item a "
              "block with the parts added up at the end."
            : "Cut the work finer: a part of each item a block, the parts added up at the end; or give the GPU more "
              "items at once.";
    // What a block takes to start, and its first trip to memory, stay.
    const double fixed = double(facts.run.gpu.block_start_latency) + double(facts.run.gpu.dram_latency) + start_of_warps;
    const double rest = 1 - std::min(1.0, fixed / static_cast<double>(std::max<int64_t>(1, facts.result.cycles)));
    finding.gain = rest * (1 - static_cast<double>(shape.blocks) / shape.sms);
    findings.push_back(finding);
}

void find_uneven_wave(const Facts& facts, Findings& findings) {
    const Shape shape = shape_of(facts);
    if (takes_in_turn(facts)) return;
    if (shape.blocks < shape.sms || shape.blocks > shape.places) return;
    const uint64_t most = (shape.blocks + shape.sms - 1) / shape.sms;
    const double gain = 1 - static_cast<double>(shape.blocks) / static_cast<double>(most * shape.sms);
    if (gain < 0.1 || most > 8) return;
    Finding finding = finding_at(facts, "uneven-wave", {});
    finding.sentence = fmt::format(
        "{} blocks do not go evenly into {} SMs: some have {} of them, others {}, and the launch ends "
        "with the slowest.",
        shape.blocks, shape.sms, most, most - 1);
    finding.evidence =
        fmt::format("blocks an SM {:.3g}, normal a whole number", static_cast<double>(shape.blocks) / shape.sms);
    finding.change = fmt::format(
        "Launch a multiple of {} blocks (cudaGetDeviceProperties: multiProcessorCount) and let each take "
        "its share in a loop.",
        shape.sms);
    finding.gain = std::min(gain, facts.room());
    findings.push_back(finding);
}

namespace {
// The share of a wave's time in which its places stand empty.
double empty_places(const Facts& facts) {
    const double possible = std::max(0.01, 0.01 * facts.metric("theoretical_occupancy"));
    return std::max(0.0, 1 - 0.01 * facts.metric("achieved_occupancy") / possible);
}
}  // namespace

void find_tail(const Facts& facts, Findings& findings) {
    const Shape shape = shape_of(facts);
    if (takes_in_turn(facts)) return;
    if (shape.places == 0 || shape.blocks <= shape.places) return;
    const double waves = static_cast<double>(shape.blocks) / static_cast<double>(shape.places);
    const double lost = 1 - waves / std::ceil(waves);
    if (lost < 0.1) return;
    Finding finding = finding_at(facts, "tail", {});
    const double whole = std::floor(waves);  // 1281 blocks for 1280 places are not "1 waves"
    finding.sentence = fmt::format("The blocks make {}: in the last one {} of the GPU's {} places have a block.",
                                   fmt::format("{:.3g}", waves) == fmt::format("{:.3g}", whole)
                                       ? fmt::format("just over {:.0f} wave{}", whole, whole == 1 ? "" : "s")
                                       : fmt::format("{:.3g} waves", waves),
                                   shape.blocks % shape.places, shape.places);
    finding.evidence = fmt::format("tail_efficiency {:.3g} %, normal above 90 %", 100 * (1 - lost));
    finding.change =
        fmt::format("Let the number of blocks be a multiple of {} ({} SMs with {} blocks each), or {}.", shape.places,
                    shape.sms, shape.blocks_per_sm,
                    shape.threads > 128 ? "take smaller blocks, so that the last wave is a small part"
                                        : "launch only those that run at once and let each take its share in a loop");
    finding.gain = std::min({lost, empty_places(facts), facts.room()});
    findings.push_back(finding);
}

namespace {
// The share of the time in which SMs have no block, though all had some. Blocks of one SM may end at unlike times: while
// others keep it busy, that costs nothing.
double idle_sms(const Facts& facts, const Shape& shape) {
    const bool short_one = static_cast<double>(facts.result.cycles) < 10 * start_of_warps;
    return shape.blocks < shape.sms || short_one ? 0 : 1 - 0.01 * facts.metric("sm_efficiency");
}

void find_imbalance_in_a_wave(const Facts& facts, const Shape& shape, Findings& findings) {
    const double idle = idle_sms(facts, shape), most = std::ceil(double(shape.blocks) / shape.sms);
    const double uneven = 1 - static_cast<double>(shape.blocks) / (most * shape.sms);  // what find_uneven_wave tells
    if (idle - uneven < 0.15) return;
    Finding finding = finding_at(facts, "imbalance", {});
    finding.sentence = fmt::format(
        "All blocks run at once, and SMs are without one in {:.0f} % of the time: blocks have very different amounts to do.",
        100 * idle);
    finding.evidence = fmt::format("sm_efficiency {:.3g} %, normal above 85 %", 100 * (1 - idle));
    finding.change =
        "Cut the work of the longest blocks, pair long pieces with short ones, or let blocks fetch small pieces from a "
        "counter (atomicAdd) until there is none.";
    finding.gain = std::min(idle, facts.room());
    findings.push_back(finding);
}
}  // namespace

void find_imbalance(const Facts& facts, Findings& findings) {
    const Shape shape = shape_of(facts);
    if (shape.blocks > 1 && shape.blocks <= shape.places && !takes_in_turn(facts))
        return find_imbalance_in_a_wave(facts, shape, findings);
    const double idle = 1 - 0.01 * facts.metric("sm_efficiency");
    if (shape.blocks < 2 * shape.places || idle < 0.15) return;
    Finding finding = finding_at(facts, "imbalance", {});
    finding.sentence = fmt::format(
        "SMs are without a block in {:.0f} % of the time: the last blocks take much longer than the "
        "others.",
        100 * idle);
    finding.evidence = fmt::format("sm_efficiency {:.3g} %, normal above 85 %", 100 * (1 - idle));
    finding.change =
        "Begin with the blocks that have most to do, or let blocks fetch their next piece of work from a counter "
        "(atomicAdd) until there is none.";
    finding.gain = std::min(idle, facts.room());
    findings.push_back(finding);
}

namespace {
std::string how_it_goes_on(const Facts& facts) {
    return facts.persistent->from_counter ? "from a counter in memory" : "in steps of the grid";
}

void find_persistent_grid(const Facts& facts, const Shape& shape, double pieces, Findings& findings) {
    const auto blocks = static_cast<double>(shape.blocks), places = static_cast<double>(shape.places);
    const double waves = blocks / places, lost = 1 - waves / std::ceil(waves);
    const double all = std::floor(pieces * blocks + 0.5), fitting = std::min(places, all);
    const bool more = shape.blocks > shape.places;
    if (more ? lost < 0.1 : fitting < 1.25 * blocks || facts.busiest() > 0.85) return;
    const ptx::DecodedInstruction& step = facts.program.instructions[facts.persistent->steps.front()];
    Finding finding = finding_at(facts, "persistent-grid", {step.file, step.line});
    finding.sentence = fmt::format(
        "Blocks take one piece of work after another ({}), {:.3g} each, but {} blocks are launched where {} run at once{}.",
        how_it_goes_on(facts), pieces, shape.blocks, shape.places,
        more ? fmt::format(": {} of them begin when the others have ended", shape.blocks - shape.places) : std::string());
    finding.evidence = fmt::format("blocks {}, normal {} ({} SMs with {} each)", shape.blocks, shape.places, shape.sms,
                                   shape.blocks_per_sm);
    finding.change =
        !more && fitting < places
            ? fmt::format("Launch {:.0f} blocks, one for each piece; cut the pieces smaller to fill all {} places.", fitting,
                          shape.places)
            : fmt::format(
                  "Launch {} blocks: the SMs times what cudaOccupancyMaxActiveBlocksPerMultiprocessor says, and let the "
                  "loop "
                  "do the rest.",
                  shape.places);
    if (fitting_grid(facts.run)) finding.what_if = "fitting-grid";
    finding.gain = more ? std::min({lost, empty_places(facts), facts.room()}) : std::min(1 - blocks / fitting, facts.room());
    findings.push_back(finding);
}

// All blocks run at once, and some are done long before the others.
void find_persistent_waves(const Facts& facts, const Shape& shape, double pieces, Findings& findings) {
    if (shape.blocks > shape.places) return;
    const double idle = idle_sms(facts, shape);
    if (idle < 0.15) return;
    const double rounds = std::ceil(pieces - 0.001), uneven = 1 - pieces / rounds;
    const ptx::DecodedInstruction& step = facts.program.instructions[facts.persistent->steps.front()];
    Finding finding = finding_at(facts, "persistent-waves", {step.file, step.line});
    finding.evidence = fmt::format("sm_efficiency {:.3g} %, normal above 85 %", 100 * (1 - idle));
    if (rounds <= 8 && uneven > 0.5 * idle) {
        finding.sentence = fmt::format(
            "A block takes {:.3g} pieces of work on average ({}): some take {:.0f}, and those that take {:.0f} have nothing "
            "to "
            "do in the last round.",
            pieces, how_it_goes_on(facts), rounds, rounds - 1);
        finding.change = fmt::format(
            "Let the number of pieces be a multiple of the {} blocks, or cut them smaller, so that the last round is a "
            "small "
            "part.",
            shape.blocks);
    } else {
        finding.sentence = fmt::format(
            "Blocks take {:.3g} pieces of work each ({}), and the pieces take unlike long: SMs are without a block in "
            "{:.0f} % of "
            "the time.",
            pieces, how_it_goes_on(facts), 100 * idle);
        finding.change =
            facts.persistent->from_counter
                ? "Let the pieces that have most to do be taken first, or cut those into several."
                : "Let blocks fetch their next piece from a counter (atomicAdd) until there is none, the largest "
                  "first.";
    }
    finding.gain = std::min(idle, facts.room());
    findings.push_back(finding);
}
}  // namespace

void find_persistent(const Facts& facts, Findings& findings) {
    const Shape shape = shape_of(facts);
    if (!takes_in_turn(facts) || shape.places == 0) return;
    find_persistent_grid(facts, shape, pieces_of(facts), findings);
    find_persistent_waves(facts, shape, pieces_of(facts), findings);
}

void find_occupancy(const Facts& facts, Findings& findings) {
    const Occupancy& occupancy = facts.result.occupancy;
    const Shape shape = shape_of(facts);
    if (occupancy.fraction > 0.5 || !waits_for_latency(facts) || shape.blocks <= shape.sms * uint64_t{occupancy.blocks})
        return;
    const bool registers = occupancy.by_registers == occupancy.blocks, memory = occupancy.by_shared == occupancy.blocks;
    if (!registers && !memory) return;
    Finding finding = finding_at(facts, registers ? "occupancy-registers" : "occupancy-shared", {});
    const uint64_t warps = uint64_t{occupancy.blocks} * occupancy.warps_per_block;
    finding.sentence = registers
                           ? fmt::format(
                                 "{} registers a thread leave room for {} of {} warps on an SM, too few to fill the time "
                                 "that memory and arithmetic take.",
                                 ptx::registers_on(facts.program, facts.run.gpu.compute.number), warps,
                                 uint32_t{facts.run.gpu.warps_per_sm})
                           : fmt::format(
                                 "{} bytes of shared memory a block leave room for {} of {} warps on an SM, too few to "
                                 "fill the time that memory and arithmetic take.",
                                 ptx::shared_bytes(facts.program, facts.run.config.dynamic_shared), warps,
                                 uint32_t{facts.run.gpu.warps_per_sm});
    finding.evidence = fmt::format("theoretical occupancy {:.3g} %, a scheduler issues in {:.3g} % of its cycles",
                                   100 * occupancy.fraction, facts.metric("issue_slot_utilization"));
    finding.change = registers ? "Let a thread keep less at a time, or ask the compiler for fewer registers: "
                                 "__launch_bounds__(threads, blocks), at the price of spills."
                               : "Make the tile smaller, share it among more threads, or keep half precision in it.";
    finding.what_if = "all-warps";
    finding.gain = std::min(0.5, facts.share(StallReason::long_scoreboard)) * (1 - occupancy.fraction);
    findings.push_back(finding);
}

namespace {
// So many blocks that starting them one after the other is what the launch does.
void find_many_starts(const Facts& facts, Findings& findings) {
    const Shape shape = shape_of(facts);
    const GpuSpec& gpu = facts.run.gpu;
    const auto cycles = static_cast<double>(std::max<int64_t>(1, facts.result.cycles));
    const double share = static_cast<double>(shape.blocks) / double(gpu.blocks_per_cycle) / cycles;
    if (shape.threads > 128 || share < 0.4 || facts.busiest() >= 0.6) return;
    Finding finding = finding_at(facts, "small-blocks", {});
    finding.sentence = fmt::format(
        "{} blocks of {} threads: the GPU starts {:.3g} a cycle, which takes {:.0f} % of the time, and blocks end before "
        "the SMs are full.",
        shape.blocks, shape.threads, double(gpu.blocks_per_cycle), 100 * std::min(1.0, share));
    finding.evidence = fmt::format("achieved occupancy {:.3g} % of {:.3g} % possible", facts.metric("achieved_occupancy"),
                                   facts.metric("theoretical_occupancy"));
    finding.change =
        "Take blocks of 128 to 256 threads, or let each thread take several elements in a loop: the same work in fewer "
        "blocks.";
    // What stays: the busiest unit at 85 % of what it can do, a block's start and its first trip to memory.
    const double rest = cycles * facts.busiest() / 0.85 + double(gpu.block_start_latency) + double(gpu.dram_latency);
    finding.gain = std::clamp(1 - rest / cycles, 0.0, share);
    finding.what_if = "instant-starts";
    findings.push_back(finding);
}
}  // namespace

void find_small_blocks(const Facts& facts, Findings& findings) {
    const Occupancy& occupancy = facts.result.occupancy;
    const Shape shape = shape_of(facts);
    const size_t before = findings.size();
    find_many_starts(facts, findings);
    if (findings.size() > before) return;
    if (occupancy.fraction > 0.5 || occupancy.by_slots != occupancy.blocks || !waits_for_latency(facts)) return;
    if (shape.blocks <= shape.places) return;
    Finding finding = finding_at(facts, "small-blocks", {});
    finding.sentence =
        fmt::format("Blocks of {} threads: an SM holds {} blocks at most, which are {} of its {} warps.", shape.threads,
                    occupancy.blocks, occupancy.blocks * occupancy.warps_per_block, uint32_t{facts.run.gpu.warps_per_sm});
    finding.evidence = fmt::format("theoretical occupancy {:.3g} %, limited by block slots", 100 * occupancy.fraction);
    finding.change = "Take blocks of 128 to 256 threads.";
    finding.what_if = "all-warps";
    finding.gain = std::min(0.5, facts.share(StallReason::long_scoreboard)) * (1 - occupancy.fraction);
    findings.push_back(finding);
}

void find_partial_warps(const Facts& facts, Findings& findings) {
    const Shape shape = shape_of(facts);
    const uint32_t rest = shape.threads % 32;
    if (rest == 0 || shape.threads == 0) return;
    const double lost = 1 - static_cast<double>(shape.threads) / (32.0 * ((shape.threads + 31) / 32));
    if (lost < 0.03) return;
    Finding finding = finding_at(facts, "partial-warps", {});
    finding.sentence = fmt::format(
        "Blocks of {} threads are no whole number of warps: the last warp of each has {} of 32 lanes.", shape.threads, rest);
    finding.evidence = fmt::format("lanes without a thread {:.3g} %, normal 0", 100 * lost);
    finding.change = "Let a block have a multiple of 32 threads.";
    finding.gain = lost * std::max(0.3, facts.busiest());
    findings.push_back(finding);
}

void find_latency(const Facts& facts, Findings& findings) {
    const double waits = facts.share(StallReason::long_scoreboard);
    if (facts.busiest() >= 0.6 || waits < 0.3) return;
    Finding finding = finding_at(facts, "latency", facts.longest_wait(StallReason::long_scoreboard));
    const double warps = facts.metric("active_warps");
    finding.sentence = fmt::format(
        "Warps wait for memory in {:.0f} % of their cycles, and no unit is busier than {:.0f} %: {:.3g} warp{} a scheduler "
        "cannot fill the time.",
        100 * waits, 100 * facts.busiest(), warps, warps > 1.005 ? "s" : "");
    finding.evidence = fmt::format("stall_long_scoreboard {:.3g} %; issue slots used {:.3g} %", 100 * waits,
                                   facts.metric("issue_slot_utilization"));
    finding.change =
        "Have more under way: several independent loads a thread before the first use (unroll, several elements a "
        "thread), the next tile loaded while this one is computed, or more warps.";
    finding.what_if = "no-latency";
    finding.gain = waits * (1 - facts.busiest());
    findings.push_back(finding);
}

}  // namespace lockstep::model::advice
