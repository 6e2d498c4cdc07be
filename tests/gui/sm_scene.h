// A kernel run made by hand for tests of the SM and Learn pictures: a small machine of `schedulers` sub-cores runs a loop
// of ten instructions and keeps a trace whose runs and issues are gap-free and disjoint, as the engine's are.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/gui/session.h"
#include "core/base/rng.h"

namespace lockstep::gui::test {

inline std::shared_ptr<const ptx::Program> small_program() {
    using ptx::Kind;
    using ptx::Type;
    using ptx::Unit;
    static const ptx::Opcode ld{"ld", Kind::load, Unit::lsu, 'L', "load", "d = [a]", "", {}};
    static const ptx::Opcode st{"st", Kind::store, Unit::lsu, 'S', "store", "[a] = b", "", {}};
    static const ptx::Opcode fma{"fma",
                                 Kind::lane_wise,
                                 Unit::fma,
                                 'F',
                                 "fma, add, mul .f32",
                                 "d = a * b + c",
                                 "",
                                 {},
                                 {.counts = ptx::Counts::multiply_add}};
    static const ptx::Opcode add{"add", Kind::lane_wise, Unit::alu, 'A', "integer add", "d = a + b", "", {}};
    static const ptx::Opcode set{"setp", Kind::lane_wise, Unit::alu, 'P', "setp", "p = a < b", "", {}};
    static const ptx::Opcode bra{"bra", Kind::branch, Unit::cbu, 'B', "bra", "goes on elsewhere", "", {}};
    static const ptx::Opcode bar{"bar", Kind::barrier, Unit::cbu, 'Y', "bar.sync", "waits for the block", "", {}};
    struct Row {
        const ptx::Opcode* opcode;
        int line;
        const char* text;
        Type type;
        int32_t write, read, read2;
    };
    constexpr int32_t none = ptx::no_operand;
    const Row rows[] = {
        {&add, 3, "mad.lo.s32 %r1, %r2, %r3, %r4;", Type::s32, 0, none, none},
        {&ld, 6, "ld.global.f32 %f1, [%rd1];", Type::f32, 128, 256, none},
        {&add, 5, "add.s64 %rd1, %rd1, 1024;", Type::s64, 256, 256, none},
        {&add, 5, "add.s32 %r1, %r1, 1024;", Type::s32, 0, 0, none},
        {&set, 5, "setp.lt.s32 %p1, %r1, 20480;", Type::s32, 512, 0, none},
        {&st, 7, "st.shared.f32 [%r1+-1024], %f1;", Type::f32, none, 0, 128},
        {&fma, 8, "fma.rn.f32 %f2, %f1, %f1, %f2;", Type::f32, 192, 128, 192},
        {&bra, 5, "@%p1 bra $L1;", Type::none, none, 512, none},
        {&bar, 12, "bar.sync 0;", Type::none, none, none, none},
        {&st, 13, "st.global.f32 [%rd1], %f2;", Type::f32, none, 256, 192},
    };
    auto program = std::make_shared<ptx::Program>();
    program->kernel = "rms_norm";
    program->source_file = "kernels/rms_norm.cu";
    program->registers_per_thread = 24;
    program->static_shared = 20736;
    program->registers = {{"%r1", Type::b32, 0},
                          {"%f1", Type::f32, 128},
                          {"%f2", Type::f32, 192},
                          {"%rd1", Type::b64, 256},
                          {"%p1", Type::pred, 512}};
    program->ptx = ".visible .entry rms_norm()\n{\n";
    int ptx_line = 3;
    for (const Row& row : rows) {
        ptx::DecodedInstruction i;
        i.opcode = row.opcode;
        i.kind = row.opcode->kind;
        i.type = i.destination_type = row.type;
        i.line = row.line;
        i.ptx_line = ptx_line++;
        if (row.write != none) i.destination[0] = row.write;
        const bool memory = i.kind == Kind::load || i.kind == Kind::store;
        if (memory) i.address = row.read;
        if (i.kind == Kind::branch) i.guard = row.read;
        size_t sources = 0;
        for (const int32_t read : {memory || i.kind == Kind::branch ? none : row.read, row.read2})
            if (read != none) i.source[sources++] = read;
        program->instructions.push_back(i);
        const std::string text = row.text;
        program->texts.push_back({static_cast<uint32_t>(program->ptx.size()) + 1, static_cast<uint32_t>(text.size()) - 1});
        program->ptx += "\t" + text + "\n";
    }
    program->ptx += "}\n";
    return program;
}

struct SceneOptions {
    uint32_t schedulers = 4, blocks_at_once = 4, warps_per_block = 8, sms = 80, blocks = 986;
    int64_t cycles = 3000;
    uint64_t seed = 7;
};

inline std::shared_ptr<const model::KernelRun> small_run(const SceneOptions& o = {}) {
    auto run = std::make_shared<model::KernelRun>();
    run->gpu = model::gpu_named("v100").value();
    run->gpu.sms.value = o.sms;
    run->program = small_program();
    run->config.grid = {o.blocks, 1, 1};
    run->config.block = {o.warps_per_block * 32, 1, 1};
    run->source =
        "__global__ void rms_norm(float *out, const float *A) {\n    extern __shared__ float s[];\n    int t = "
        "threadIdx.x;\n    float sum = 0;\n"
        "    for (int i = t; i < N; i += 256) {\n        float a = A[i];\n        s[i] = a;  // kept for the second pass\n  "
        "      sum = fmaf(a, a, sum);\n    }\n"
        "    sum = warp_sum(sum);\n    if (lane == 0) part[w] = sum;\n    __syncthreads();\n    out[t] = sum;\n}\n";
    run->result.cycles = o.cycles;
    run->result.occupancy = model::occupancy(run->gpu, o.warps_per_block * 32, 24, 20736);
    KernelTrace& trace = run->result.trace;
    trace.schedulers = o.schedulers;
    trace.cycles = o.cycles;
    trace.block_slots = o.blocks_at_once;
    Rng rng(o.seed);
    const auto draw = [&](int64_t n) { return static_cast<int64_t>(rng.next() % static_cast<uint64_t>(n)); };
    struct Live {
        uint32_t track = 0, pc = 0;
        int loops = 0;
        int64_t until = 0, load_ready = 0;
        StallReason reason = StallReason::wait;
        int32_t cause = -1, load = -1;
    };
    const uint32_t slots = o.blocks_at_once * o.warps_per_block;
    std::vector<Live> live(slots);
    std::vector<int64_t> reborn(slots, 0);
    std::vector<bool> alive(slots, false);
    uint32_t next_block = 0;
    std::vector<uint32_t> last(o.schedulers, 0);
    for (int64_t t = 0; t < o.cycles; ++t) {
        for (uint32_t b = 0; b < o.blocks_at_once; ++b) {
            bool empty = true;
            for (uint32_t k = 0; k < o.warps_per_block; ++k)
                empty = empty && !alive[b * o.warps_per_block + k] && reborn[b * o.warps_per_block + k] <= t;
            if (!empty) continue;
            for (uint32_t k = 0; k < o.warps_per_block; ++k) {
                const uint32_t s = b * o.warps_per_block + k;
                WarpTrack warp;
                warp.block = next_block * o.sms;
                warp.warp_in_block = k;
                warp.slot = static_cast<uint16_t>(s);
                warp.scheduler = static_cast<uint16_t>(s % o.schedulers);
                warp.begin = t;
                warp.end = o.cycles;
                live[s] = {static_cast<uint32_t>(trace.warps.size()),
                           0,
                           0,
                           t + 2 + draw(8),
                           0,
                           StallReason::no_instruction,
                           -1,
                           -1};
                alive[s] = true;
                trace.warps.push_back(warp);
            }
            trace.blocks.push_back({next_block++ * o.sms, 0, static_cast<uint16_t>(b), t, o.cycles});
        }
        for (uint32_t scheduler = 0; scheduler < o.schedulers; ++scheduler) {
            bool picked = false;
            const uint32_t first = last[scheduler] + 1;
            for (uint32_t n = 0; n < slots; ++n) {
                const uint32_t s = (first + n) % slots;
                if (s % o.schedulers != scheduler || !alive[s]) continue;
                Live& w = live[s];
                WarpTrack& track = trace.warps[w.track];
                StallReason reason = w.reason;
                int32_t cause = w.cause;
                bool ready = t >= w.until;
                if (ready && (w.pc == 5 || w.pc == 6) && t < w.load_ready) {
                    ready = false;
                    reason = StallReason::long_scoreboard;
                    cause = w.load;
                }
                if (ready && !picked) {
                    picked = true;
                    last[scheduler] = s;
                    IssueRecord issue{t, t + 4, w.pc, 0xffffffffu, w.track, MemoryLevel::none, 0, 0};
                    const auto index = static_cast<int32_t>(trace.issues.size());
                    w.until = t + 4;
                    w.reason = StallReason::wait;
                    w.cause = index;
                    if (w.pc == 1) {
                        const bool miss = draw(6) == 0;
                        issue.ready = t + (miss ? 425 : 60 + draw(20));
                        issue.level = miss ? MemoryLevel::dram : MemoryLevel::l2;
                        w.load = index;
                        w.load_ready = issue.ready;
                    }
                    if (w.pc == 5) w.until = t + 12, w.reason = StallReason::mio_throttle, w.cause = -1;
                    if (w.pc == 6) w.until = t + 20 + draw(12), w.reason = StallReason::short_scoreboard;
                    if (w.pc == 7) w.until = t + 6, w.reason = StallReason::branch_resolving;
                    if (w.pc == 8) w.until = t + 30 + draw(40), w.reason = StallReason::barrier, w.cause = -1;
                    track.issues.push_back(static_cast<uint32_t>(index));
                    trace.issues.push_back(issue);
                    if (w.pc == 9) {
                        track.end = t + 1;
                        alive[s] = false;
                        reborn[s] = t + 12;
                    }
                    w.pc = w.pc == 7 && ++w.loops < 5 ? 1 : w.pc + 1;
                    continue;
                }
                if (ready) reason = StallReason::not_selected, cause = -1;
                if (!track.runs.empty() && track.runs.back().end == t && track.runs.back().reason == reason &&
                    track.runs.back().pc == w.pc)
                    ++track.runs.back().end;
                else
                    track.runs.push_back({t, t + 1, reason, w.pc, cause});
            }
        }
        for (BlockRun& block : trace.blocks)
            if (block.end == o.cycles) {
                bool running = false;
                for (uint32_t k = 0; k < o.warps_per_block; ++k)
                    running = running || alive[block.slot * o.warps_per_block + k];
                if (!running && t > block.begin) block.end = t + 1;
            }
    }
    // The other SMs do the same a little later.
    const std::vector<BlockRun> own = trace.blocks;
    for (uint32_t sm = 1; sm < o.sms; ++sm)
        for (const BlockRun& block : own)
            if (block.block + sm < o.blocks) {
                const auto late = static_cast<int64_t>(sm % 7) * 9;
                trace.blocks.push_back(
                    {block.block + sm, static_cast<uint16_t>(sm), block.slot, block.begin + late, block.end + late});
            }
    return run;
}

// even_odd: lines 2 to 4 together, even lanes 6 to 8, odd lanes 9 to 11, together again from 13.
inline std::shared_ptr<const simt::WarpHistory> even_odd_history() {
    auto history = std::make_shared<simt::WarpHistory>();
    constexpr uint32_t all = 0xffffffffu, even = 0x55555555u, odd = 0xaaaaaaaau;
    const simt::StackEntry both{8, ptx::no_pc, all};
    const auto add = [&](uint32_t pc, std::vector<simt::StackEntry> stack) {
        history->steps.push_back({pc, stack.back().mask, stack.back().mask, 0, std::move(stack)});
    };
    for (uint32_t pc = 0; pc < 4; ++pc) add(pc, {{pc, ptx::no_pc, all}});
    for (uint32_t pc = 4; pc < 6; ++pc) add(pc, {both, {6, 8, odd}, {pc, 8, even}});
    for (uint32_t pc = 6; pc < 8; ++pc) add(pc, {both, {pc, 8, odd}});
    for (uint32_t pc = 8; pc < 10; ++pc) add(pc, {{pc, ptx::no_pc, all}});
    return history;
}

}  // namespace lockstep::gui::test
