// What the rows of the opcode table say beside what they compute, held against sources of their own: ptxas, the formula of
// the summary, and what the instruction does to numbers.
#include "core/ptx/analyse/generation.h"
#include "tests/ptx/opcode_support.h"

namespace ptx_every_opcode_test {

using namespace opcode_test;

namespace {

bool is_lane_wise(const Opcode& row) {
    return row.kind == Kind::lane_wise || row.kind == Kind::lane_wise_many;
}

std::shared_ptr<const Program> program_with(const std::string& statement) {
    const std::string text =
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .b16 %h<30>; .reg .b32 %r<30>; "
        ".reg .b64 %rd<30>; .reg .b128 %rq<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .pred %p<30>; .shared .align 16 .b8 "
        "tile[64];\n" +
        statement + ";\nret;\n}\n";
    const auto module = parse(text, "k.ptx");
    INFO(statement);
    REQUIRE(module.ok());
    const auto program = decode(module.value(), "k");
    REQUIRE(program.ok());
    return program.value();
}

// The first of the GPUs that take it: from 7.5 on the lowest --gpu-name with which ptxas of CUDA 13.0 assembles it, before
// that "Target ISA Notes" of the PTX ISA 9.0. 0: up to 5.3.
struct Taken {
    uint32_t compute = 0;
    const char* statement = "";
};
// clang-format off
constexpr Taken taken[] = {
    {0, "activemask.b32 %r1"},
    {0, "vote.sync.ballot.b32 %r1, %p1, -1"},
    {0, "shfl.sync.down.b32 %r1, %r2, 1, 31, -1"},
    {0, "prefetch.global.L2 [%rd1]"},
    {0, "fence.acq_rel.gpu"},
    {0, "membar.gl"},
    {0, "mov.u32 %r1, %total_smem_size"},
    {0, "mov.u64 %rd1, %current_graph_exec"},
    {53, "abs.f16 %h0, %h1"},
    {53, "add.f16 %h0, %h1, %h2"},
    {53, "fma.rn.f16 %h0, %h1, %h2, %h3"},
    {53, "mul.f16 %h0, %h1, %h2"},
    {53, "neg.f16 %h0, %h1"},
    {53, "set.eq.and.f16.s32 %h0, %r1, %r2, %p3"},
    {53, "setp.eq.f16 %p0, %h1, %h2"},
    {53, "sub.f16 %h0, %h1, %h2"},
    {60, "atom.global.add.f64 %d1, [%rd1], %d2"},
    {60, "atom.global.add.noftz.f16x2 %r1, [%rd1], %r2"},
    {60, "red.global.add.f64 [%rd1], %d2"},
    {61, "dp2a.lo.u32.s32 %r0, %r1, %r2, %r3"},
    {61, "dp4a.u32.s32 %r0, %r1, %r2, %r3"},
    {70, "bmsk.clamp.b32 %r0, %r1, %r2"},
    {70, "cvta.param.u32 %r0, %r1"},
    {70, "isspacep.param %p0, %rd1"},
    {70, "lop3.and.b32 %r0|%p9, %r1, %r2, %r3, 99, %p4"},
    {70, "mov.b128 %rq0, %rq1"},
    {70, "szext.clamp.u32 %r0, %r1, %r2"},
    {70, "ld.global.b128 %rq1, [%rd1]"},
    {70, "ld.global.L1::no_allocate.u32 %r1, [%rd1]"},
    {70, "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1]"},
    {70, "atom.global.add.noftz.f16 %h1, [%rd1], %h2"},
    {70, "atom.global.cas.b16 %h1, [%rd1], %h2, %h3"},
    {70, "match.any.sync.b32 %r1, %r2, -1"},
    {70, "match.all.sync.b64 %r1|%p1, %rd2, -1"},
    {70, "nanosleep.u32 20"},
    {70, "fence.proxy.alias"},
    {70, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}"},
    {72, "cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3"},
    {72, "cvt.pack.sat.s16.s32 %r0, %r1, %r2"},
    {75, "tanh.approx.f32 %f1, %f2"},
    {75, "ex2.approx.f16 %h0, %h1"},
    {75, "tanh.approx.f16 %h0, %h1"},
    {75, "ld.global.L2::128B.u32 %r1, [%rd1]"},
    {75, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1]"},
    {75, "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2"},
    {75, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4}"},
    {75, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}"},
    {75, "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}"},
    {75, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}"},
    {75, "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}"},
    {75, "wmma.load.a.sync.aligned.row.m8n8k128.shared.b1 {%r1}, [%r2]"},
    {80, "cvt.rn.f16x2.f32 %r0, %f1, %f2"},
    {80, "max.f16 %h0, %h1, %h2"},
    {80, "min.f16 %h0, %h1, %h2"},
    {80, "abs.bf16 %h0, %h1"},
    {80, "cvt.f32.bf16 %r0, %h1"},
    {80, "fma.rn.relu.f16 %h0, %h1, %h2, %h3"},
    {80, "max.NaN.f32 %r0, %r1, %r2"},
    {80, "min.NaN.f32 %r0, %r1, %r2"},
    {80, "neg.bf16 %h0, %h1"},
    {80, "ld.global.L2::256B.u32 %r1, [%rd1]"},
    {80, "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2"},
    {80, "redux.sync.add.u32 %r1, %r2, -1"},
    {80, "prefetch.global.L2::evict_last [%rd1]"},
    {80, "applypriority.global.L2::evict_normal [%rd1], 128"},
    {80, "discard.global.L2 [%rd1], 128"},
    {80, "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0"},
    {80, "cp.async.ca.shared.global [%r1], [%rd1], 4"},
    {80, "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16"},
    {80, "cp.async.commit_group"},
    {80, "cp.async.wait_all"},
    {80, "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]"},
    {80, "mbarrier.init.shared.b64 [%r1], 4"},
    {80, "mbarrier.inval.shared.b64 [%r1]"},
    {80, "mbarrier.arrive.shared.b64 %rd1, [%r1]"},
    {80, "mbarrier.arrive.noComplete.shared.b64 %rd1, [%r1], 2"},
    {80, "mbarrier.arrive_drop.shared.b64 %rd1, [%r1]"},
    {80, "mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1"},
    {80, "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0"},
    {80, "mbarrier.pending_count.b64 %r1, %rd1"},
    {80, "mov.u32 %r1, %reserved_smem_offset_begin"},
    {80, "mov.u32 %r1, %reserved_smem_offset_1"},
    {80, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4}"},
    {80, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}"},
    {80, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4}"},
    {80, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r7}, {%r1,%r2,%r3,%r4}"},
    {80, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}"},
    {80, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1,%d2}, {%d3}, {%d4}, {%d1,%d2}"},
    {80, "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3,%r4}, {%f1,%f2,%f3,%f4}, %r5, 0"},
    {80, "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%d1,%d2}, {%d3}, {%d4}, {%d1,%d2}"},
    {80, "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}"},
    {80, "wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%r1,%r2,%r3,%r4}, [%r5]"},
    {80, "wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {%r1,%r2,%r3,%r4}, [%r5]"},
    {80, "wmma.store.d.sync.aligned.row.m8n8k4.shared.f64 [%r5], {%d1,%d2}"},
    {86, "max.ftz.xorsign.abs.f32 %r0, %r1, %r2"},
    {86, "min.ftz.xorsign.abs.f32 %r0, %r1, %r2"},
    {89, "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1"},
    {89, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}"},
    {90, "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0"},
    {90, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, 1, 1, 0, 0"},
    {90, "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r1], [%r2], 64, [%r3]"},
    {90, "add.s16x2 %r0, %r1, %r2"},
    {90, "cvt.rn.relu.tf32.f32 %r0, %r1"},
    {90, "cvt.rn.tf32.f32 %r0, %r1"},
    {90, "cvta.shared::cluster.u64 %rd0, %rd1"},
    {90, "ex2.approx.ftz.bf16 %h0, %h1"},
    {90, "fma.rn.oob.f16 %h0, %h1, %h2, %h3"},
    {90, "isspacep.shared::cluster %p0, %rd1"},
    {90, "max.relu.s32 %r0, %r1, %r2"},
    {90, "min.relu.s32 %r0, %r1, %r2"},
    {90, "mul.bf16 %h0, %h1, %h2"},
    {90, "set.eq.and.bf16.s32 %h0, %r1, %r2, %p3"},
    {90, "setp.eq.bf16 %p0, %h1, %h2"},
    {90, "sub.bf16 %h0, %h1, %h2"},
    {90, "tanh.approx.bf16 %h0, %h1"},
    {90, "atom.global.add.noftz.bf16 %h1, [%rd1], %h2"},
    {90, "atom.global.add.noftz.bf16x2 %r1, [%rd1], %r2"},
    {90, "atom.global.cas.b128 %rq1, [%rd1], %rq2, %rq3"},
    {90, "atom.global.exch.b128 %rq1, [%rd1], %rq2"},
    {90, "atom.global.add.v2.f32 {%f1,%f2}, [%rd1], {%f3,%f4}"},
    {90, "red.global.add.v4.f32 [%rd1], {%f1,%f2,%f3,%f4}"},
    {90, "red.global.add.noftz.v2.f16x2 [%rd1], {%r1,%r2}"},
    {90, "red.global.add.noftz.v2.bf16x2 [%rd1], {%r1,%r2}"},
    {90, "elect.sync %r1|%p1, -1"},
    {90, "prefetch.tensormap [%rd1]"},
    {90, "fence.proxy.async"},
    {90, "fence.proxy.async.global"},
    {90, "fence.mbarrier_init.release.cluster"},
    {90, "fence.proxy.tensormap::generic.release.gpu"},
    {90, "cp.async.bulk.commit_group"},
    {90, "cp.async.bulk.wait_group.read 0"},
    {90, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r2]"},
    {90, "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64"},
    {90, "cp.async.bulk.prefetch.L2.global [%rd1], 64"},
    {90, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 64"},
    {90, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3]"},
    {90, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r1], %r2, [%r3]"},
    {90, "mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], 64"},
    {90, "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 64"},
    {90, "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], 64"},
    {90, "mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1"},
    {90, "barrier.cluster.arrive"},
    {90, "barrier.cluster.wait"},
    {90, "mapa.shared::cluster.u32 %r1, %r2, 1"},
    {90, "getctarank.shared::cluster.u32 %r1, %r2"},
    {90, "setmaxnreg.inc.sync.aligned.u32 64"},
    {90, "griddepcontrol.wait"},
    {90, "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2"},
    {90, "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1]"},
    {90, "multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1"},
    {90, "isspacep.shared::cluster %p1, %rd1"},
    {90, "mov.u32 %r1, %cluster_ctarank"},
    {90, "mov.u32 %r1, %clusterid.x"},
    {90, "mov.u32 %r1, %nclusterid.x"},
    {90, "mov.pred %p1, %is_explicit_cluster"},
    {90, "mov.u32 %r1, %aggr_smem_size"},
    {90, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2}"},
    {90, "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d1,%d2,%d3,%d4}, {%d5,%d6}, {%d7}, {%d1,%d2,%d3,%d4}"},
    {90, "wgmma.fence.sync.aligned"},
    {100, "ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1]"},
    {100, "st.global.v8.b32 [%rd1], {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}"},
};
// clang-format on

// How many floating-point operations the formula of a row has: "d = a * b + c, rounded once" has two, a root, a power or
// another function of the special function unit one.
uint32_t operations_in(std::string_view summary) {
    const std::string_view formula = summary.substr(summary.find("= ") + 2);
    for (const std::string_view word : {"square root", "power", "logarithm", "sine", "tangent", " / "})
        if (formula.find(word) != std::string_view::npos) return 1;
    uint32_t count = 0;
    for (const std::string_view sign : {" + ", " - ", " * "}) count += formula.find(sign) != std::string_view::npos;
    return count;
}

// What a lane-wise row does with words, told from its results alone.
using Words = std::array<std::array<uint32_t, 32>, 3>;
struct Known {
    Does does = Does::other;
    size_t sources = 0;
    uint32_t (*of)(uint32_t a, uint32_t b, uint32_t c) = nullptr;
};
constexpr Known algebra[] = {{Does::copy, 1, [](uint32_t a, uint32_t, uint32_t) { return a; }},
                             {Does::not_, 1, [](uint32_t a, uint32_t, uint32_t) { return ~a; }},
                             {Does::sum, 2, [](uint32_t a, uint32_t b, uint32_t) { return a + b; }},
                             {Does::difference, 2, [](uint32_t a, uint32_t b, uint32_t) { return a - b; }},
                             {Does::product, 2, [](uint32_t a, uint32_t b, uint32_t) { return a * b; }},
                             {Does::shift_left, 2, [](uint32_t a, uint32_t b, uint32_t) { return b < 32 ? a << b : 0; }},
                             {Does::and_, 2, [](uint32_t a, uint32_t b, uint32_t) { return a & b; }},
                             {Does::or_, 2, [](uint32_t a, uint32_t b, uint32_t) { return a | b; }},
                             {Does::xor_, 2, [](uint32_t a, uint32_t b, uint32_t) { return a ^ b; }},
                             {Does::multiply_add, 3, [](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; }}};

Does told_from_results(LaneFunction lanes, size_t sources) {
    Rng rng(3);
    for (const Known& known : algebra) {
        if (known.sources != sources) continue;
        bool same = true;
        for (int round = 0; round < 20 && same; ++round) {
            alignas(64) Words words{};
            alignas(64) std::array<uint32_t, 32> result{};
            for (auto& word : words)
                for (uint32_t& lane : word) lane = static_cast<uint32_t>(round % 2 ? rng.next() : rng.below(40));
            const auto at = [&](size_t k) { return reinterpret_cast<const std::byte*>(words[k].data()); };
            lanes(reinterpret_cast<std::byte*>(result.data()), at(0), at(1), at(2));
            for (size_t l = 0; l < 32; ++l) same = same && result[l] == known.of(words[0][l], words[1][l], words[2][l]);
        }
        if (same) return known.does;
    }
    return Does::other;
}

}  // namespace

TEST_CASE("every row and modifier that came later needs the GPU that ptxas and the PTX ISA ask for") {
    std::set<const Opcode*> seen;
    for (const Taken& each : taken) {
        const auto program = program_with(each.statement);
        INFO(each.statement);
        CHECK(needed_generation(*program).compute == each.compute);
        seen.insert(program->instructions[0].opcode);
    }
    for (const Opcode& row : opcodes()) {
        INFO(row.name << row.forms[0].pattern << " is in no statement of this test");
        CHECK((row.facts.since == 0 || seen.contains(&row)));
    }
}

TEST_CASE("every row counts as many floating-point operations as its formula has") {
    for (const Opcode& row : opcodes()) {
        const bool floats = is_lane_wise(row) && (row.group == "float" || row.group == "half" || row.group == "double" ||
                                                  row.group == "special function");
        INFO(row.name << ": " << row.summary);
        CHECK(flops_of(row.facts.counts) == (floats ? operations_in(row.summary) : 0));
        CHECK((row.facts.counts == Counts::multiply_add) == (flops_of(row.facts.counts) == 2));
    }
}

TEST_CASE("every row of words that copies, adds, multiplies or combines bits says so, and no other does") {
    size_t told = 0;
    for (const Opcode& row : opcodes()) {
        const size_t sources = row.operands.size() - std::min(row.operands.find('='), row.operands.size()) - 1;
        const bool of_words =
            row.kind == Kind::lane_wise && sources <= 3 &&
            (row.operands == "T=T" || row.operands == "T=TT" || row.operands == "T=TU" || row.operands == "T=TTT");
        if (!of_words) continue;
        for (const Form& form : row.forms)
            for (const std::string& spelling : spellings(form.pattern)) {
                if (!spelling.ends_with(".u32") && !spelling.ends_with(".b32")) continue;
                if (spelling.find(".hi") != std::string::npos || row.facts.does == Does::address) continue;
                INFO(row.name << spelling);
                CHECK(row.facts.does == told_from_results(form.lanes, sources));
                ++told;
            }
    }
    CHECK(told > 20);
}

TEST_CASE("every row's facts fit together") {
    for (const Opcode& row : opcodes()) {
        INFO(row.name << row.forms[0].pattern);
        const Facts& facts = row.facts;
        if (is_lane_wise(row)) {
            CHECK(facts.route == Route::math);
            CHECK(facts.seen == Seen::by_block);
            CHECK(facts.access == Access::none);
            CHECK(facts.writes == Writes::nothing);
        }
        CHECK((facts.access == Access::none || facts.route == Route::memory || facts.route == Route::mbarrier));
        CHECK((facts.route != Route::memory || row.unit == Unit::lsu || row.name == "istypep"));
        CHECK((facts.words == 1 || row.kind == Kind::lane_wise));
        CHECK((facts.sequences.empty() || row.unit == Unit::xu || row.unit == Unit::fp64));
        for (const Sequence& steps : facts.sequences) {
            CHECK((steps.bytes == 4 || steps.bytes == 8));
            CHECK(steps.latency >= steps.interval);
            CHECK(!steps.source.empty());
        }
        for (const Since& later : facts.later) {
            const bool written = std::any_of(row.forms.begin(), row.forms.end(), [&](const Form& form) {
                return form.pattern.find(later.modifier) != std::string_view::npos;
            });
            const bool of_name = std::any_of(opcodes().begin(), opcodes().end(), [&](const Opcode& other) {
                return other.facts.later.data() == facts.later.data() && &other != &row;
            });
            CHECK((written || of_name));
            CHECK(later.compute > facts.since);
        }
    }
}

}  // namespace ptx_every_opcode_test
